/* --time of `smempipe kernel`, and --fail-on slower=. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/dashes.h"
#include "commands/lab/kernel.h"
#include "lab/report/lab.h"
#include "lab/time/time.h"
#include "report/json_read.h"

static const char USUAL[] = "h100"; /* --time without a GPU */

static bool is_gpu(const char *word)
{
    smp_time_gpu gpu;
    return !smp_kernel_is_file(word) && smp_time_gpu_find(word, &gpu);
}

smp_code smp_kernel_check_time(const smp_kernel_settings *settings, smp_error *err)
{
    const bool more = settings->program_args.count && smp_options_before_dashes() > 1;
    const char *word = is_gpu(settings->file) ? settings->file : more ? settings->program_args.items[0] : "";
    if (!settings->time || settings->time[0] || !is_gpu(word))
        return SMP_OK;
    smp_fail(err, SMP_E_USAGE, "'%s' stands apart from --time", word);
    return smp_hint(err, "--time=%s", word);
}

static smp_code check_slower(const smp_kernel_settings *settings, smp_error *err);

smp_code smp_kernel_choose_time(smp_kernel_settings *settings, smp_error *err)
{
    static char arch[12];
    smp_time_gpu gpu;
    if (settings->slower)
        SMP_TRY(check_slower(settings, err));
    if (!settings->time)
        return SMP_OK;
    const char *name = settings->time[0] ? settings->time : USUAL;
    if (!smp_time_gpu_find(name, &gpu))
        return smp_fail(err, SMP_E_USAGE, "--time %s is not a GPU that is known", name),
               smp_hint(err, "%s", smp_time_gpu_names());
    if (settings->code && !strcmp(settings->code, "ptx"))
        return smp_fail(err, SMP_E_USAGE, "--time is predicted from SASS, and --code ptx asks for PTX"),
               smp_hint(err, "leave --code ptx out");
    snprintf(settings->time_text, sizeof settings->time_text, "%s,tips%s%s%s", name, settings->each ? ",each" : "",
             settings->html ? ",listing" : "", settings->what_if ? ",what-if" : "");
    settings->time_wanted = settings->time_text;
    if (!settings->arch) {
        snprintf(arch, sizeof arch, "sm_%d", gpu.arch);
        settings->arch = arch;
    } else if (atoi(smp_compile_arch(settings->arch)) != gpu.arch) {
        smp_fail(err, SMP_E_USAGE, "--time %s is predicted from its own SASS, and --arch is %s", name, settings->arch);
        return smp_hint(err, "--arch sm_%d, or leave --arch out", gpu.arch);
    }
    return SMP_OK;
}

/* What --json wrote before. */
typedef struct base {
    smp_json_tree tree;
    char *path, *json;
} base;

/* The sum of a kernel's predicted times. *there: it was launched. False: no time of it is known. */
static bool base_of(const base *b, const char *kernel, double *us, bool *there)
{
    bool any = false;
    *us = 0;
    *there = false;
    const smp_json_node *launches = smp_json_member(&b->tree, b->tree.nodes, "launches");
    for (const smp_json_node *at = smp_json_first(&b->tree, launches); at; at = smp_json_next(&b->tree, at)) {
        const smp_json_node *told = smp_json_member(&b->tree, at, "predicted");
        if (strcmp(smp_json_text(&b->tree, at, "kernel"), kernel) != 0)
            continue;
        *there = true;
        any = any || smp_json_member(&b->tree, told, "us");
        *us += smp_json_value(&b->tree, told, "us");
    }
    return any;
}

/* Times of two GPUs say nothing of a kernel. */
static smp_code refuse_other_gpu(const base *b, const char *gpu, smp_error *err)
{
    const char *of = smp_json_text(&b->tree, smp_json_member(&b->tree, b->tree.nodes, "time_model"), "gpu");
    if (!of[0] || !strcmp(of, gpu))
        return SMP_OK;
    smp_fail(err, SMP_E_USAGE, "--fail-on slower=: %.200s has times of %.12s, and --time predicts those of %s", b->path,
             of, gpu);
    return smp_hint(err, "--time=%.12s, or a BASE.json of %s", of, gpu);
}

size_t smp_kernel_slower_length(const char *text)
{
    const char *end = strstr(text, "%,"); /* a file's name may have commas */
    const size_t all = strlen(text);
    return end ? (size_t)(end - text) + 1 : all && text[all - 1] == '%' ? all : strcspn(text, ",");
}

static smp_code read_base(const char *text, char **path, double *share, smp_error *err)
{
    const double percent = 100;
    const size_t size = smp_kernel_slower_length(text);
    char *word = smp_strndup(text, size), *colon = word ? strrchr(word, ':') : NULL, *end = NULL;
    *path = word;
    SMP_NEED(word, "--fail-on", size, err);
    *share = colon ? strtod(colon + 1, &end) / percent : 0;
    if (!colon || end == colon + 1 || !isfinite(*share) || *share < 0 || (*end && strcmp(end, "%") != 0))
        return smp_fail(err, SMP_E_USAGE, "--fail-on slower=%.80s is not a file and a percentage of 0 or more", word),
               smp_hint(err, "slower=BASE.json:10%%, where BASE.json is what --time --json wrote");
    *colon = 0;
    return SMP_OK;
}

static bool is_among(const smp_kernel_results *all, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(all->results[i].kernel, name))
            return true;
    return false;
}

/* Compares each kernel, or tells why not. Returns how many were. */
static size_t compare_times(const smp_kernel_results *all, const base *b, double share, const char *state,
                            smp_lab_issues *issues)
{
    const smp_lab_report report = {.results = all->results, .count = all->count};
    char text[SMP_LAB_ADVICE];
    size_t compared = 0;
    for (size_t i = 0; i < all->count; i++) {
        const char *kernel = all->results[i].kernel;
        double now = 0, before = 0;
        bool there;
        if (is_among(all, i, kernel))
            continue;
        const bool known = smp_lab_time_sum(&report, kernel, &now), knew = base_of(b, kernel, &before, &there);
        if (!known || !knew)
            fprintf(stderr, "not compared: %s %s%s\n", kernel,
                    !there   ? "is not in "
                    : !known ? "has no predicted time here"
                             : "has no predicted time in ",
                    !there || known ? b->path : "");
        else if (now > before * (1 + share)) {
            snprintf(text, sizeof text, "takes %.4g us, %.1f %% more than the %.4g us in %.200s", now,
                     100 * (now / before - 1), before, b->path);
            fprintf(stderr, "slower: %s %s\n", kernel, text);
            smp_lab_issues_tell(issues, &(smp_lab_issue){.rule = "slower", .first = &all->results[i], .state = state},
                                text);
        }
        compared += known && knew;
    }
    return compared;
}

static void close_base(base *b)
{
    smp_json_tree_free(&b->tree);
    smp_free_all(b->json, b->path);
}

/* Closed by the caller, whatever it returns. */
static smp_code open_base(const smp_kernel_settings *settings, base *b, double *share, smp_error *err)
{
    *b = (base){.path = NULL};
    if (!settings->time)
        return smp_fail(err, SMP_E_USAGE, "--fail-on slower= needs --time");
    SMP_TRY(read_base(settings->slower, &b->path, share, err));
    SMP_TRY(smp_kernel_open_base(b->path, "--fail-on slower=", &b->json, &b->tree, err));
    return refuse_other_gpu(b, settings->time[0] ? settings->time : USUAL, err);
}

static smp_code check_slower(const smp_kernel_settings *settings, smp_error *err)
{
    base b;
    double share;
    const smp_code code = open_base(settings, &b, &share, err);
    close_base(&b);
    return code;
}

smp_code smp_kernel_find_slower(const smp_kernel_settings *settings, const smp_kernel_results *all,
                                smp_lab_issues *issues, smp_error *err)
{
    base b;
    double share;
    smp_code code = open_base(settings, &b, &share, err);
    if (!code && !compare_times(all, &b, share, settings->baseline ? "updated" : NULL, issues)) {
        smp_fail(err, SMP_E_USAGE, "--fail-on slower=: no kernel has a predicted time both here and in %.200s", b.path);
        code = smp_hint(err, "BASE.json is what --time --json wrote of the same kernels");
    } else if (!code)
        smp_lab_tell_gone(stderr, &b.tree, "launches", &(smp_lab_report){.results = all->results, .count = all->count},
                          b.path);
    close_base(&b);
    return code;
}
