/* --time of `smempipe kernel`, and --fail-on slower=. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "commands/lab/kernel.h"
#include "lab/report/lab.h"
#include "lab/time/time.h"

static const char USUAL[] = "h100"; /* --time without a GPU */

smp_code smp_kernel_choose_time(smp_kernel_settings *settings, smp_error *err)
{
    static char arch[12];
    smp_time_gpu gpu;
    if (!settings->time)
        return SMP_OK;
    const char *name = settings->time[0] ? settings->time : USUAL;
    if (!smp_time_gpu_find(name, &gpu)) {
        smp_fail(err, SMP_E_USAGE, "--time %s is not a GPU that is known", name);
        return smp_hint(err, "%s", smp_time_gpu_names());
    }
    if (settings->code && !strcmp(settings->code, "ptx")) {
        smp_fail(err, SMP_E_USAGE, "--time is predicted from SASS, and --code ptx asks for PTX");
        return smp_hint(err, "leave --code ptx out");
    }
    snprintf(settings->time_text, sizeof settings->time_text, "%s%s%s%s", name, settings->each ? ",each" : "",
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

/* ------------------------------------------------------------------------------------------------ slower */

/* The name of the next launch in what --json wrote, from `at` on; null: there is none. */
static const char *next_launch(const char *at, size_t *size)
{
    static const char key[] = "\"kernel\": \"";
    at = at ? strstr(at, key) : NULL;
    if (!at)
        return NULL;
    at += strlen(key);
    *size = strcspn(at, "\"");
    return at;
}

static const char *launches_of(const char *json)
{
    return strstr(json, "\"launches\": [");
}

/* The sum of a kernel's predicted times in what --json wrote. *there: it was launched. False: no time of it is known.
 */
static bool base_of(const char *json, const char *kernel, double *us, bool *there)
{
    static const char time[] = "\"us\": ";
    bool any = false;
    size_t size;
    *us = 0;
    *there = false;
    for (const char *at = launches_of(json); (at = next_launch(at, &size));) {
        size_t next_size;
        const char *next = next_launch(at, &next_size), *value = strstr(at, time);
        if (strlen(kernel) != size || memcmp(at, kernel, size) != 0)
            continue;
        *there = true;
        if (!value || (next && value > next))
            continue;
        *us += strtod(value + strlen(time), NULL);
        any = true;
    }
    return any;
}

/* Times of two GPUs say nothing of a kernel. */
static smp_code refuse_other_gpu(const char *json, const char *path, const char *gpu, smp_error *err)
{
    static const char key[] = "\"gpu\": \"";
    const char *at = launches_of(json) ? strstr(json, "\"time_model\": {") : NULL;
    at = at ? strstr(at, key) : NULL;
    const size_t size = at ? strcspn(at + strlen(key), "\"") : 0;
    if (!at || (strlen(gpu) == size && !memcmp(at + strlen(key), gpu, size)))
        return SMP_OK;
    smp_fail(err, SMP_E_USAGE, "--fail-on slower=: %.200s has times of %.*s, and --time predicts those of %s", path,
             (int)(size < 16 ? size : 16), at + strlen(key), gpu);
    return smp_hint(err, "--time=%.*s, or a BASE.json of %s", (int)(size < 16 ? size : 16), at + strlen(key), gpu);
}

/* "slower=BASE.json:10%" among the words of --fail-on. */
static smp_code read_base(const char *text, char **path, double *share, smp_error *err)
{
    const double percent = 100;
    const char *at = strstr(text, "slower=") + strlen("slower=");
    const size_t size = strcspn(at, ",");
    char *word = smp_asprintf("%.*s", (int)size, at), *colon = word ? strrchr(word, ':') : NULL, *end = NULL;
    *path = word;
    if (!word)
        return smp_fail_memory(err, "--fail-on", size);
    *share = colon ? strtod(colon + 1, &end) / percent : 0;
    if (!colon || end == colon + 1 || *share < 0 || (*end && strcmp(end, "%") != 0)) {
        smp_fail(err, SMP_E_USAGE, "--fail-on slower=%.80s is not a file and a percentage", word);
        return smp_hint(err, "slower=BASE.json:10%%, where BASE.json is what --time --json wrote");
    }
    *colon = 0;
    return SMP_OK;
}

static bool is_among(const smp_kernel_results *all, size_t count, const char *name, size_t size)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(all->results[i].kernel) == size && !memcmp(all->results[i].kernel, name, size))
            return true;
    return false;
}

/* Kernels of the base that are launched no more, each once. */
static void tell_gone(const smp_kernel_results *all, const char *json, const char *path)
{
    size_t size;
    for (const char *at = launches_of(json); (at = next_launch(at, &size));) {
        bool had = false;
        size_t earlier_size;
        for (const char *earlier = next_launch(launches_of(json), &earlier_size); earlier < at;
             earlier = next_launch(earlier, &earlier_size))
            had = had || (earlier_size == size && !memcmp(earlier, at, size));
        if (!had && !is_among(all, all->count, at, size))
            fprintf(stderr, "not compared: %.*s is launched in %s alone\n", (int)size, at, path);
    }
}

/* Compares each kernel, or tells why not. Returns how many were. */
static size_t compare_times(const smp_kernel_results *all, const char *json, const char *path, double share,
                            bool *slower)
{
    const smp_lab_report report = {.results = all->results, .count = all->count};
    size_t compared = 0;
    for (size_t i = 0; i < all->count; i++) {
        const char *kernel = all->results[i].kernel;
        double now = 0, before = 0;
        bool there;
        if (is_among(all, i, kernel, strlen(kernel)))
            continue;
        const bool known = smp_lab_time_sum(&report, kernel, &now), knew = base_of(json, kernel, &before, &there);
        if (!known || !knew)
            fprintf(stderr, "not compared: %s %s%s\n", kernel,
                    !there   ? "is not in "
                    : !known ? "has no predicted time here"
                             : "has no predicted time in ",
                    !there || known ? path : "");
        else if (now > before * (1 + share)) {
            fprintf(stderr, "slower: %s takes %.4g us, %.1f %% more than the %.4g us in %s\n", kernel, now,
                    100 * (now / before - 1), before, path);
            *slower = true;
        }
        compared += known && knew;
    }
    return compared;
}

smp_code smp_kernel_find_slower(const smp_kernel_settings *settings, const smp_kernel_results *all, bool *slower,
                                smp_error *err)
{
    char *path = NULL, *json = NULL;
    double share = 0;
    size_t size;
    smp_code code = settings->time ? SMP_OK : smp_fail(err, SMP_E_USAGE, "--fail-on slower= needs --time");
    if (!code)
        code = read_base(settings->fail_on, &path, &share, err);
    if (!code)
        code = smp_kernel_read(path, &json, &size, err);
    if (!code)
        code = refuse_other_gpu(json, path, settings->time[0] ? settings->time : USUAL, err);
    if (!code && !compare_times(all, json, path, share, slower)) {
        smp_fail(err, SMP_E_USAGE, "--fail-on slower=: no kernel has a predicted time both here and in %.200s", path);
        code = smp_hint(err, "BASE.json is what --time --json wrote of the same kernels");
    } else if (!code)
        tell_gone(all, json, path);
    smp_free(json);
    smp_free(path);
    return code;
}
