/* What run and batch confine themselves to before they touch an input: see io/jail.h. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/paths.h"
#include "cli/team.h"
#include "commands/outputs.h"
#include "io/jail.h"
#include "io/library.h"

/* A GPU's driver opens what it likes, when it likes. */
static bool may_use_gpu(const char *device)
{
    if (!device || !strcmp(device, "auto"))
        return smp_device_likely_gpus() > 0;
    return strstr(device, "cuda") != NULL;
}

static smp_jail *begin(const smp_common *common, const smp_program *program)
{
    char own[PATH_MAX], libraries[PATH_MAX + 32];
    smp_jail *jail = common->no_sandbox || may_use_gpu(common->device) ? NULL : smp_jail_begin();
    for (size_t i = 0; jail && i < program->file_count; i++)
        smp_jail_allow(jail, program->files[i].path, false);
    if (jail && smp_program_folder(own)) { /* which may have its libraries beside it, for decoders that begin later */
        snprintf(libraries, sizeof libraries, "%s/../lib/smempipe", own);
        smp_jail_allow(jail, libraries, false);
    }
    for (size_t i = 0; jail && i < program->save_count; i++) /* now, since they may lie elsewhere */
        smp_libraries_open(smp_libraries_of_name(program->saves[i].path));
    return jail;
}

void smp_cli_confine_run(const smp_run_settings *settings, const smp_program *program)
{
    smp_jail *jail = settings->counters ? NULL : begin(&settings->plan.base.common, program); /* they open a library */
    if (!jail)
        return;
    struct stat status;
    if (strcmp(settings->in, "-") != 0)
        smp_jail_allow(jail, settings->in, false);
    if (!strcmp(settings->in, "-") || (stat(settings->in, &status) == 0 && !S_ISREG(status.st_mode)))
        smp_jail_allow_temporary(jail); /* for what a pipe's reader must keep */
    smp_jail_allow_output(jail, settings->out);
    if (program->save_count && !strcmp(settings->out, "-")) /* they lie where the command runs */
        smp_jail_allow(jail, ".", true);
    if (settings->report && settings->report[0])
        smp_jail_allow_output(jail, settings->report);
    smp_jail_close(jail);
}

void smp_cli_confine_folder(const smp_common *common, const smp_program *program, const char *in, const char *folder)
{
    smp_jail *jail = begin(common, program);
    if (!jail)
        return;
    if (strcmp(in, "-") != 0)
        smp_jail_allow(jail, in, false);
    smp_jail_allow_temporary(jail);
    smp_jail_allow(jail, folder, true);
    smp_jail_close(jail);
}

/* Folders given are allowed as a whole, and what links in them lead to; so are folders of files given, once for those
 * that follow each other. */
static void allow_inputs(smp_jail *jail, const smp_many_settings *many, const smp_found_list *found)
{
    char folder[PATH_MAX] = "";
    for (size_t i = 0; i < many->inputs.count; i++) {
        const char *path = many->inputs.items[i], *slash = strrchr(path, '/');
        const size_t length = slash ? (size_t)(slash - path) + 1 : 0;
        if (smp_is_folder(path))
            smp_jail_allow(jail, path, false);
        else if (length >= sizeof folder || strlen(folder) != length || strncmp(folder, path, length) != 0 || !i) {
            snprintf(folder, sizeof folder, "%.*s", (int)length, path);
            smp_jail_allow(jail, length ? folder : ".", false);
        }
    }
    bool pipes = false;
    for (size_t i = 0; i < found->count; i++) {
        const smp_found *file = smp_found_at(found, i);
        pipes |= !file->regular;
        if (file->link)
            smp_jail_allow(jail, file->path, false);
    }
    if (pipes)
        smp_jail_allow_temporary(jail);
}

void smp_cli_confine_many(const smp_many_settings *many, const smp_program *program, const smp_found_list *found,
                          const char *output)
{
    smp_jail *jail = begin(&many->plan.base.common, program);
    if (!jail)
        return;
    allow_inputs(jail, many, found);
    if (output)
        smp_jail_allow_output(jail, output);
    smp_jail_close(jail);
}

/* Folders in the output folder may be links, and so may outputs that are there. */
static void allow_outputs(smp_jail *jail, const smp_todo *todo)
{
    smp_jail_allow(jail, todo->request->folder, true);
    for (size_t i = 0; i < todo->link_count; i++) {
        const char *path = todo->links[i];
        if (path[strlen(path) - 1] == '/')
            smp_jail_allow(jail, path, true);
        else
            smp_jail_allow_output(jail, path);
    }
}

void smp_cli_confine_batch(const smp_batch_settings *settings, const smp_program *program, const smp_todo *todo)
{
    if (smp_cli_team) /* whose messages take files and connections of their own */
        return;
    if (todo->list && smp_work_list_links(todo->list)) /* which lead anywhere; they are read when their time comes */
        return;
    smp_jail *jail = begin(&settings->many.plan.base.common, program);
    if (!jail)
        return;
    if (todo->list)
        smp_jail_allow(jail, smp_work_list_root(todo->list), false);
    else
        allow_inputs(jail, &settings->many, &todo->found);
    allow_outputs(jail, todo);
    smp_jail_close(jail);
}
