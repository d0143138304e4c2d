/* Reading texts of pipelines and what they include: see pipe_text.h. */
#include "api/pipe_text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/paths.h"
#include "stages/foreign.h"

enum { PIPE_FILE_MAX = 1 << 20 }; /* bytes: a pipeline is written by hand */

smp_code smp_pipe_read_open(int fd, bool regular, char **out, size_t *length, smp_error *err)
{
    struct stat status;
    char *text = NULL;
    size_t used = 0, capacity = 0;
    smp_code code = SMP_OK;
    if (fstat(fd, &status) != 0)
        return smp_fail(err, SMP_E_READ, "cannot read: %s", strerror(errno));
    if (S_ISDIR(status.st_mode))
        return smp_fail(err, SMP_E_READ, "is a directory, not a pipeline");
    if (regular && !S_ISREG(status.st_mode))
        return smp_fail(err, SMP_E_READ, "is not a regular file");
    for (;;) {
        if (!smp_grow(&text, &capacity, used + 4096, 1)) {
            code = smp_fail_memory(err, "pipeline text", used + 4096);
            break;
        }
        ssize_t n = read(fd, text + used, capacity - used - 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            code = smp_fail(err, SMP_E_READ, "cannot read: %s", strerror(errno));
            break;
        }
        if (n == 0)
            break;
        used += (size_t)n;
        if (used > PIPE_FILE_MAX) {
            code = smp_fail(err, SMP_E_LIMIT, "is larger than a pipeline may be (%d bytes)", PIPE_FILE_MAX);
            break;
        }
    }
    if (code) {
        smp_free(text);
        return code;
    }
    text[used] = '\0';
    *out = text;
    *length = used;
    return SMP_OK;
}

smp_code smp_pipe_read(const char *path, bool regular, char **out, size_t *length, smp_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (regular ? O_NONBLOCK : 0));
    if (fd < 0)
        return smp_fail(err, SMP_E_READ, "cannot open: %s", strerror(errno)); /* errno stays for the caller */
    smp_code code = smp_pipe_read_open(fd, regular, out, length, err);
    close(fd);
    return code;
}

smp_code smp_readable_add(smp_readable *may, const char *folder, smp_error *err)
{
    return smp_roots_add(&may->roots, folder) ? SMP_OK : smp_fail_memory(err, "a path", strlen(folder));
}

smp_code smp_readable_add_folder_of(smp_readable *may, const char *path, smp_error *err)
{
    char *folder = smp_folder_part(path);
    smp_code code = folder ? smp_readable_add(may, folder, err) : smp_fail_memory(err, "a path", strlen(path));
    smp_free(folder);
    return code;
}

void smp_readable_free(smp_readable *may)
{
    smp_roots_free(&may->roots);
}

/* Whether a text is the user's own, from the command line or a program: it may name any file. */
static bool users_own(const smp_readable *may, const char *source)
{
    return !strcmp(source, "-e") || !strcmp(source, "--set") || (may->own && !strcmp(source, may->own));
}

/* Kernels of files are compiled now, before a run shuts itself off. They include what the pipeline may read; one that
 * the user named includes what lies below its folder, too. */
static smp_code open_foreign(const smp_readable *may, const smp_program *program, const smp_diags *diags,
                             smp_error *err)
{
    for (size_t i = 0; i < program->file_count; i++) {
        const smp_operand_file *file = &program->files[i];
        size_t count = 0;
        if (!file->foreign)
            continue;
        const bool own = users_own(may, diags->sources[file->source].name);
        char *folder = own ? smp_real_path(file->path) : NULL, *slash = folder ? strrchr(folder, '/') : NULL;
        if (slash)
            *slash = '\0';
        const char **folders = smp_alloc_array(program->roots.count + 2, sizeof *folders);
        if (folders && (folder || !own)) {
            for (; count < program->roots.count; count++)
                folders[count] = program->roots.items[count].real;
            folders[count] = folder;
            smp_foreign_prepare(file->path, &(smp_kernel_reach){folders, may->tool_seconds, may->trust});
            count++;
        }
        smp_free_all(folders, folder);
        SMP_NEED(count, "a path", strlen(file->path), err);
    }
    return SMP_OK;
}

smp_code smp_readable_check(smp_readable *may, smp_program *program, smp_diags *diags, smp_error *err)
{
    smp_code code = SMP_OK;
    for (size_t i = 0; i < program->file_count; i++) {
        smp_operand_file *file = &program->files[i];
        if (users_own(may, diags->sources[file->source].name))
            continue;
        SMP_NEED(smp_beneath_find(&may->roots, file->path, &file->beneath), "a path", strlen(file->path), err);
        if (file->beneath.name)
            continue;
        smp_diag *diag =
            smp_diags_add(diags, SMP_ERROR, file->span, "'%.200s' lies outside the pipe file's folder", file->path);
        const char *text = diags->sources[file->span.source].text + file->span.start;
        if (*text == '$' && !file->setting)
            smp_diag_note(diags, diag, "behind the include write %.*s=\"FILE\", or --allow-read DIR",
                          (int)file->span.length - 1, text + 1);
        else
            smp_diag_note(diags, diag, "--allow-read DIR lets the pipeline read below DIR");
        code = smp_fail(err, SMP_E_PIPE, "the pipeline names files that it may not read");
    }
    if (code)
        return code;
    program->roots = may->roots; /* where its files are opened from */
    may->roots = (smp_roots){.count = 0};
    SMP_TRY(open_foreign(may, program, diags, err));
    return smp_program_examine(program, may->lenient, diags, err);
}

/* A file that a text from somebody else includes. */
static smp_code include_beneath(const smp_readable *may, const char *path, char **text, size_t *length, smp_error *err)
{
    int fd;
    smp_beneath at;
    SMP_NEED(smp_beneath_find(&may->roots, path, &at), "path", strlen(path), err);
    smp_code code = at.name ? smp_beneath_open(&at, &fd, err)
                            : smp_fail(err, SMP_E_READ,
                                       "it lies outside the pipe file's folder; --allow-read DIR lets the pipeline "
                                       "read below DIR");
    if (!code) {
        code = smp_pipe_read_open(fd, true, text, length, err);
        close(fd);
    }
    smp_free(at.name);
    return code;
}

smp_code smp_pipe_include(void *context, const char *including, const char *path, char **text, size_t *length,
                          smp_error *err)
{
    smp_readable *may = context;
    const bool own = !including || users_own(may, including);
    *text = NULL;
    *length = 0;
    const char *slash = including ? strrchr(including, '/') : NULL;
    char *full = path[0] == '/' || !slash ? smp_strdup(path)
                                          : smp_asprintf("%.*s%s", (int)(slash + 1 - including), including, path);
    SMP_NEED(full, "path", strlen(path), err);
    smp_code code = SMP_OK;
    if (own) /* what that file names lies beside it */
        code = smp_readable_add_folder_of(may, full, err);
    if (!code)
        code = own ? smp_pipe_read(full, true, text, length, err) : include_beneath(may, full, text, length, err);
    if (code)
        smp_at(err, "%s", full);
    smp_free(full);
    return code;
}
