/* Confines run and batch before they touch an input: see io/sandbox_program.h. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/paths.h"
#include "cli/team.h"
#include "commands/outputs.h"
#include "io/library.h"
#include "io/sandbox_program.h"

/* A GPU's driver opens what it likes, when it likes. */
static bool may_use_gpu(const char *device)
{
    if (!device || !strcmp(device, "auto"))
        return smp_device_likely_gpus() > 0;
    return strstr(device, "cuda") != NULL;
}

static smp_sandbox *begin(const smp_common *common, const smp_program *program)
{
    char own[PATH_MAX], libraries[PATH_MAX + 32];
    smp_sandbox *sandbox = common->no_sandbox || may_use_gpu(common->device) ? NULL : smp_sandbox_begin();
    for (size_t i = 0; sandbox && i < program->file_count; i++)
        smp_sandbox_allow(sandbox, program->files[i].path, false);
    if (sandbox && smp_program_folder(own)) { /* decoders that begin later load libraries from it */
        snprintf(libraries, sizeof libraries, "%s/../lib/smempipe", own);
        smp_sandbox_allow(sandbox, libraries, false);
    }
    for (size_t i = 0; sandbox && i < program->save_count; i++) /* now, since they may lie elsewhere */
        smp_libraries_open(smp_libraries_of_name(program->saves[i].path));
    return sandbox;
}

void smp_cli_confine_run(const smp_run_settings *settings, const smp_program *program)
{
    /* counters open a library */
    smp_sandbox *sandbox = settings->counters ? NULL : begin(&settings->plan.base.common, program);
    if (!sandbox)
        return;
    struct stat status;
    if (strcmp(settings->in, "-") != 0)
        smp_sandbox_allow(sandbox, settings->in, false);
    if (!strcmp(settings->in, "-") || (stat(settings->in, &status) == 0 && !S_ISREG(status.st_mode)))
        smp_sandbox_allow_temporary(sandbox); /* for what a pipe's reader must keep */
    smp_sandbox_allow_output(sandbox, settings->out);
    if (program->save_count && !strcmp(settings->out, "-")) /* they lie where the command runs */
        smp_sandbox_allow(sandbox, ".", true);
    if (settings->report && settings->report[0])
        smp_sandbox_allow_output(sandbox, settings->report);
    smp_sandbox_close(sandbox);
}

void smp_cli_confine_folder(const smp_common *common, const smp_program *program, const char *in, const char *folder)
{
    smp_sandbox *sandbox = begin(common, program);
    if (!sandbox)
        return;
    if (strcmp(in, "-") != 0)
        smp_sandbox_allow(sandbox, in, false);
    smp_sandbox_allow_temporary(sandbox);
    smp_sandbox_allow(sandbox, folder, true);
    smp_sandbox_close(sandbox);
}

/* Where fontconfig finds fonts, beside the system's folders. */
static void allow_fonts(smp_sandbox *sandbox)
{
    static const char *const own[] = {".fonts", ".local/share/fonts", ".config/fontconfig", ".cache/fontconfig"};
    const char *home = getenv("HOME");
    char path[PATH_MAX];
    smp_sandbox_allow(sandbox, "/var/cache/fontconfig", false);
    for (size_t i = 0; home && i < sizeof own / sizeof own[0]; i++)
        if ((size_t)snprintf(path, sizeof path, "%s/%s", home, own[i]) < sizeof path)
            smp_sandbox_allow(sandbox, path, false);
}

smp_code smp_cli_confine_edit(const smp_common *common, const char *in, const char *pipe, const char *save_to,
                              smp_error *err)
{
    char *folder = smp_folder_part(pipe);
    SMP_NEED(folder, "a path", strlen(pipe), err);
    smp_sandbox *sandbox = begin(common, &(smp_program){0});
    if (sandbox) {
        smp_sandbox_allow(sandbox, in, false);
        smp_sandbox_allow(sandbox, folder, false);
        smp_sandbox_allow_output(sandbox, save_to);
        allow_fonts(sandbox);
        smp_sandbox_close(sandbox);
    }
    smp_free(folder);
    return SMP_OK;
}

void smp_cli_confine_page(const smp_common *common)
{
    smp_sandbox *sandbox = begin(common, &(smp_program){0});
    if (sandbox)
        smp_sandbox_close(sandbox);
}

/* Folders given are allowed as a whole, and what links in them lead to; so are folders of files given, once for those
 * that follow each other. */
static void allow_inputs(smp_sandbox *sandbox, const smp_many_settings *many, const smp_found_list *found)
{
    char folder[PATH_MAX];
    size_t last = SIZE_MAX; /* the length of that; nothing is there yet */
    for (size_t i = 0; i < many->inputs.count; i++) {
        const char *path = many->inputs.items[i], *slash = strrchr(path, '/');
        const size_t length = slash ? (size_t)(slash - path) + 1 : 0;
        if (smp_is_folder(path))
            smp_sandbox_allow(sandbox, path, false);
        else if (length >= sizeof folder || last != length || strncmp(folder, path, length) != 0) {
            last = length;
            snprintf(folder, sizeof folder, "%.*s", (int)length, path);
            smp_sandbox_allow(sandbox, length ? folder : ".", false);
        }
    }
    bool pipes = false;
    for (size_t i = 0; i < found->count; i++) {
        const smp_found *file = smp_found_at(found, i);
        pipes |= !file->regular;
        if (file->link)
            smp_sandbox_allow(sandbox, file->path, false);
    }
    if (pipes)
        smp_sandbox_allow_temporary(sandbox);
}

void smp_cli_confine_many(const smp_many_settings *many, const smp_program *program, const smp_found_list *found,
                          const char *output)
{
    smp_sandbox *sandbox = begin(&many->plan.base.common, program);
    if (!sandbox)
        return;
    allow_inputs(sandbox, many, found);
    if (output)
        smp_sandbox_allow_output(sandbox, output);
    smp_sandbox_close(sandbox);
}

void smp_cli_confine_in_place(const smp_many_settings *many, const smp_program *program, const smp_found_list *found,
                              const smp_batch_file *files, size_t count)
{
    char last[PATH_MAX] = "", folder[PATH_MAX];
    smp_sandbox *sandbox = begin(&many->plan.base.common, program);
    if (!sandbox)
        return;
    allow_inputs(sandbox, many, found);
    for (size_t i = 0; i < count; i++) {
        snprintf(folder, sizeof folder, "%.*s", (int)(smp_base_name(files[i].output) - files[i].output),
                 files[i].output);
        if (strcmp(folder, last) != 0)
            smp_sandbox_allow(sandbox, folder, true);
        memcpy(last, folder, sizeof last);
    }
    smp_sandbox_close(sandbox);
}

/* Folders in the output folder may be links, and so may outputs that are there. */
static void allow_outputs(smp_sandbox *sandbox, const smp_todo *todo)
{
    smp_sandbox_allow(sandbox, todo->request->folder, true);
    for (size_t i = 0; i < todo->link_count; i++) {
        const char *path = todo->links[i];
        if (path[strlen(path) - 1] == '/')
            smp_sandbox_allow(sandbox, path, true);
        else
            smp_sandbox_allow_output(sandbox, path);
    }
}

void smp_cli_confine_batch(const smp_batch_settings *settings, const smp_program *program, const smp_todo *todo)
{
    if (smp_cli_team) /* whose messages take files and connections of their own */
        return;
    if (todo->list && smp_work_list_links(todo->list)) /* which lead anywhere; they are read when their time comes */
        return;
    smp_sandbox *sandbox = begin(&settings->many.plan.base.common, program);
    if (!sandbox)
        return;
    if (todo->list)
        smp_sandbox_allow(sandbox, smp_work_list_root(todo->list), false);
    else
        allow_inputs(sandbox, &settings->many, &todo->found);
    allow_outputs(sandbox, todo);
    smp_sandbox_close(sandbox);
}
