/* Files that `smempipe kernel` writes (--html, --sarif, --junit, --save), and the one that it compares with
 * (--baseline). */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/paths.h"
#include "commands/lab/kernel.h"
#include "report/json_read.h"

static void render_html(FILE *to, const void *given)
{
    smp_lab_report page = *(const smp_lab_report *)given;
    page.entries = page.files;
    smp_lab_html(to, &page);
}

static void render_sarif(FILE *to, const void *report)
{
    smp_lab_sarif(to, report);
}

static void render_junit(FILE *to, const void *report)
{
    smp_lab_junit(to, report);
}

enum { REPORTS = 3 };
typedef struct report_file {
    const char *path; /* null: not wanted */
    const char *begins, *what;
    smp_cli_render *render;
} report_file;

static void list_files(const smp_kernel_settings *settings, report_file files[REPORTS])
{
    files[0] = (report_file){settings->html, "<!doctype html>", "a page", render_html};
    files[1] = (report_file){settings->sarif, "{\n  \"$schema\": ", "SARIF", render_sarif};
    files[2] = (report_file){settings->junit, "<?xml", "XML", render_junit};
}

static smp_code name_base(const char *option, const char *path, smp_error *err)
{
    smp_hint(err, "smempipe kernel ... --json > base.json makes one");
    return smp_at(err, "%s %s", option, path);
}

static bool is_list(const smp_json_node *node)
{
    return node && node->type == '[';
}

/* Whether it has "kernels", each with a name, findings and rows. */
static bool is_base(const smp_json_tree *tree)
{
    const smp_json_node *kernels = smp_json_member(tree, tree->nodes, "kernels");
    bool good = is_list(kernels);
    for (const smp_json_node *at = good ? smp_json_first(tree, kernels) : NULL; at && good;
         at = smp_json_next(tree, at))
        good = smp_json_text(tree, at, "kernel")[0] && is_list(smp_json_member(tree, at, "findings")) &&
               is_list(smp_json_member(tree, at, "rows"));
    return good;
}

smp_code smp_kernel_open_base(const char *path, const char *option, char **text, smp_json_tree *tree, smp_error *err)
{
    size_t size;
    *tree = (smp_json_tree){.count = 0};
    SMP_TRY(smp_kernel_read(path, text, &size, err));
    if (smp_json_read(*text, tree, err))
        return name_base(option, path, err);
    if (is_base(tree))
        return SMP_OK;
    smp_fail(err, SMP_E_DECODE, "it has no \"kernels\", as --json writes them");
    return name_base(option, path, err);
}

static smp_code check_base(const smp_kernel_settings *settings, smp_error *err)
{
    char *text = NULL;
    smp_json_tree tree;
    const smp_code code = smp_kernel_open_base(settings->baseline, "--baseline", &text, &tree, err);
    smp_json_tree_free(&tree);
    smp_free(text);
    return code;
}

smp_code smp_kernel_check_reports(const smp_kernel_settings *settings, smp_error *err)
{
    report_file files[REPORTS];
    if (settings->baseline)
        SMP_TRY(check_base(settings, err));
    list_files(settings, files);
    for (int i = 0; i < REPORTS; i++) {
        const char *path = files[i].path;
        if (!path)
            continue;
        SMP_TRY(smp_cli_refuse_report(path, settings->file, err));
        for (size_t k = 0; k < settings->program_args.count; k++)
            if (smp_kernel_is_file(settings->program_args.items[k]))
                SMP_TRY(smp_cli_refuse_report(path, settings->program_args.items[k], err));
        if (settings->baseline)
            SMP_TRY(smp_cli_refuse_report(path, settings->baseline, err));
        for (int k = 0; k < i; k++)
            if (files[k].path)
                SMP_TRY(smp_cli_refuse_report(path, files[k].path, err));
        SMP_TRY(smp_cli_keep_other(path, files[i].begins, files[i].what, err));
        SMP_TRY(smp_cli_check_report(path, settings->common.force, err));
    }
    return SMP_OK;
}

smp_code smp_kernel_write_reports(const smp_kernel_settings *settings, const smp_lab_report *report, smp_error *err)
{
    report_file files[REPORTS];
    list_files(settings, files);
    struct stat old;
    for (int i = 0; i < REPORTS; i++)
        if (files[i].path && !report && lstat(files[i].path, &old) == 0 && S_ISREG(old.st_mode))
            unlink(files[i].path);
        else if (files[i].path && report)
            SMP_TRY(smp_cli_write_file(files[i].path, settings->common.force, files[i].render, report, err));
    return SMP_OK;
}

smp_code smp_kernel_compare_base(const smp_kernel_settings *settings, const smp_lab_report *report,
                                 smp_lab_issues *issues, smp_error *err)
{
    char *text = NULL;
    size_t size;
    smp_code code = smp_kernel_read(settings->baseline, &text, &size, err);
    if (!code && smp_lab_compare_baseline(stderr, text, report, issues, err))
        code = name_base("--baseline", settings->baseline, err);
    smp_free(text);
    return code;
}

smp_code smp_kernel_check_save(const smp_kernel_settings *settings, smp_error *err)
{
    if (!settings->save)
        return SMP_OK;
    if (settings->only && settings->only[smp_warp_name_span(settings->only)])
        return smp_fail(err, SMP_E_USAGE, "--save is of one kernel, and --only names several");
    return smp_is_folder(settings->save) ? SMP_OK
                                         : smp_fail(err, SMP_E_WRITE, "--save %s is not a folder", settings->save);
}

static void render_array(FILE *to, const void *given)
{
    const smp_kernel_array *array = given;
    fwrite(array->bytes, 1, (size_t)array->size, to);
}

smp_code smp_kernel_save(const smp_kernel_settings *settings, const smp_kernel_results *all, smp_error *err)
{
    const smp_kernel_left *left = all->count ? &all->lefts[0] : NULL;
    for (size_t i = 0; left && i < left->count; i++) {
        const char *name = left->arrays[i].name;
        bool twice = false;
        for (size_t k = 0; k < i; k++)
            twice = twice || !strcmp(left->arrays[k].name, name);
        if (twice || strchr(name, '/') || name[0] == '.')
            return smp_fail(err, SMP_E_USAGE, "--save: '%s' is not a name of one array", name),
                   smp_hint(err, "give each array of --args a name of its own: x=f32[64]");
    }
    for (size_t i = 0; left && i < left->count; i++) {
        char *path = smp_asprintf("%s/%s.raw", settings->save, left->arrays[i].name);
        SMP_NEED(path, "a path", 0, err);
        const smp_code code = smp_cli_write_file(path, settings->common.force, render_array, &left->arrays[i], err);
        smp_free(path);
        SMP_TRY(code);
    }
    return SMP_OK;
}
