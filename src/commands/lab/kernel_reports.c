/* Files that `smempipe kernel` writes (--html, --sarif, --junit), and the one that it compares with (--baseline). */
#include <string.h>

#include "base/alloc.h"
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

static smp_code read_base(const smp_kernel_settings *settings, char **text, smp_error *err)
{
    size_t size;
    return smp_kernel_read(settings->baseline, text, &size, err);
}

static smp_code name_base(const smp_kernel_settings *settings, smp_error *err)
{
    smp_hint(err, "smempipe kernel ... --json > base.json makes one");
    return smp_at(err, "--baseline %s", settings->baseline);
}

static smp_code check_base(const smp_kernel_settings *settings, smp_error *err)
{
    char *text = NULL;
    smp_json_tree tree = {.count = 0};
    smp_code code = read_base(settings, &text, err);
    if (!code && (smp_json_read(text, &tree, err) || !smp_json_member(&tree, tree.nodes, "kernels"))) {
        if (!err->code)
            smp_fail(err, SMP_E_DECODE, "it has no \"kernels\", as --json writes them");
        code = name_base(settings, err);
    }
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
    smp_code code = SMP_OK;
    list_files(settings, files);
    for (int i = 0; i < REPORTS && !code; i++)
        if (files[i].path)
            code = smp_cli_write_file(files[i].path, settings->common.force, files[i].render, report, err);
    return code;
}

smp_code smp_kernel_compare_base(const smp_kernel_settings *settings, const smp_lab_report *report,
                                 smp_lab_issues *issues, smp_error *err)
{
    char *text = NULL;
    smp_code code = read_base(settings, &text, err);
    if (!code && smp_lab_compare_baseline(stderr, text, report, issues, err))
        code = name_base(settings, err);
    smp_free(text);
    return code;
}
