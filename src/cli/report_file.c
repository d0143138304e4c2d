/* Reports that go to files. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/paths.h"
#include "cli/cli.h"
#include "io/files/output.h"

/* Whether a file made at `path` would be `other`. report: what is at path, or null. */
static bool is_same(const char *path, const struct stat *report, const char *other)
{
    struct stat status;
    if (report && stat(other, &status) == 0 && status.st_dev == report->st_dev && status.st_ino == report->st_ino)
        return true;
    if (strcmp(smp_base_name(path), smp_base_name(other)) != 0)
        return false;
    char *real = smp_real_path(path), *real_other = smp_real_path(other);
    bool same = !real || !real_other || !strcmp(real, real_other); /* without memory rather not written */
    smp_free_all(real, real_other);
    return same;
}

smp_code smp_cli_refuse_report(const char *path, const char *used, smp_error *err)
{
    struct stat status;
    if (!path || !used || !strcmp(path, "-") || !strcmp(used, "-"))
        return SMP_OK;
    bool there = stat(path, &status) == 0;
    if ((there && !S_ISREG(status.st_mode)) || !is_same(path, there ? &status : NULL, used))
        return SMP_OK;
    smp_fail(err, SMP_E_WRITE, "the report would overwrite '%s', which this run uses", used);
    return smp_hint(err, "give the report another name; --force does not change this");
}

smp_code smp_cli_keep_other(const char *path, const char *begins, const char *what, smp_error *err)
{
    char head[64] = "";
    struct stat status;
    FILE *file = stat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size ? fopen(path, "re") : NULL;
    const size_t got = file ? fread(head, 1, strlen(begins), file) : 0;
    if (!file)
        return SMP_OK;
    fclose(file);
    if (got == strlen(begins) && !memcmp(head, begins, got))
        return SMP_OK;
    smp_fail(err, SMP_E_WRITE, "what is there is not a %s, and would be lost", what);
    smp_hint(err, "give it another name; --force does not change this");
    return smp_at(err, "%s", path);
}

smp_code smp_cli_check_report(const char *path, bool force, smp_error *err)
{
    struct stat status;
    smp_output *output = NULL;
    if (!path || !strcmp(path, "-"))
        return SMP_OK;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
        return SMP_OK; /* who reads a pipe would see its end */
    smp_code code = smp_output_open(path, force, NULL, &output, err);
    smp_output_abort(output);
    return code ? smp_at(err, "%s", path) : SMP_OK;
}

smp_code smp_cli_write_file(const char *path, bool force, smp_cli_render *render, const void *data, smp_error *err)
{
    char *text = NULL;
    size_t size = 0;
    smp_output *output = NULL;
    FILE *to = open_memstream(&text, &size);
    if (to)
        render(to, data);
    smp_code code = !to || fclose(to) ? smp_fail_memory(err, "a report", size) : SMP_OK;
    code = code ? code : smp_output_open(path, force, NULL, &output, err);
    code = code ? code : smp_output_write(output, text, size, err);
    if (!code)
        code = smp_output_commit(output, err);
    else
        smp_output_abort(output);
    free(text);
    return code ? smp_at(err, "%s", path) : SMP_OK;
}
