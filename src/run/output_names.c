/* Names of a run's outputs: where files that a pipeline saves go, and what two outputs may not share. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/paths.h"
#include "run/run_internal.h"

smp_code smp_save_path(const char *beside, const char *prefix, const char *name, char **out, smp_error *err)
{
    const char *slash = strcmp(beside, "-") ? strrchr(beside, '/') : NULL, *last = strrchr(name, '/');
    int folders = last ? (int)(last + 1 - name) : 0;
    *out = smp_asprintf("%.*s%.*s%s%s", slash ? (int)(slash + 1 - beside) : 0, beside, folders, name,
                        prefix ? prefix : "", name + folders);
    return *out ? SMP_OK : smp_fail_memory(err, "a path", strlen(name));
}

/* The path of an output, with links resolved. */
typedef struct place {
    char *real;
    const char *path; /* as it is written */
    bool saved;       /* by a statement of the pipeline */
} place;

static int by_real(const void *a_, const void *b_)
{
    const place *a = a_, *b = b_;
    return strcmp(a->real, b->real);
}

static smp_code fail_folder(int number, const char *path, smp_error *err)
{
    if (number == ELOOP) {
        smp_fail(err, SMP_E_WRITE, "a link leads out of the folder of the output");
        smp_hint(err, "'save' writes below that folder alone: remove the link, or give the output another folder");
    } else {
        smp_fail(err, SMP_E_WRITE, "cannot make the folder: %s", strerror(number));
        smp_hint(err, "give one in a folder that you may write to");
    }
    return smp_at(err, "%s", path);
}

/* Files that a pipeline saves must stay below the folder of the output, also through links: its folder is opened, and
 * made where it is missing. */
static smp_code open_folder(const char *main_output, const place *at, smp_run_output *out, smp_error *err)
{
    smp_roots roots = {.count = 0};
    smp_beneath found = {.name = NULL};
    char *folder = smp_folder_part(main_output);
    smp_code code = SMP_OK;
    if (!folder || !smp_roots_add(&roots, folder) || !smp_beneath_find(&roots, at->real, &found))
        code = smp_fail_memory(err, "a path", strlen(main_output));
    else if (!found.name)
        code = fail_folder(ELOOP, at->path, err);
    else if (found.folder >= 0) { /* else it does not exist, which the main output is told */
        out->beneath.folder = smp_beneath_folder(found.folder, found.name, &out->made);
        if (out->beneath.folder < 0)
            code = fail_folder(errno, at->path, err);
        else if (!(out->beneath.name = smp_strdup(smp_base_name(found.name))))
            code = smp_fail_memory(err, "a path", strlen(found.name));
    }
    smp_free(found.name);
    smp_roots_free(&roots);
    smp_free(folder);
    return code;
}

void smp_run_outputs_close(smp_run_output *outputs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        smp_writer_abort(outputs[i].writer);
    for (size_t i = count; i-- > 0;) { /* the last made first */
        if (outputs[i].path && outputs[i].beneath.folder > 0)
            smp_beneath_leave(outputs[i].beneath.folder, outputs[i].path, outputs[i].made);
        smp_free_all(outputs[i].beneath.name, outputs[i].path);
    }
    smp_free(outputs);
}

/* Two outputs with one name would overwrite each other. Saved ones must stay in the folder. */
static smp_code check_places(const smp_run_request *request, const smp_plan *plan, smp_run_output *outputs,
                             smp_error *err)
{
    if (plan->sink_count < 2 && !(plan->sink_count && outputs[0].path))
        return SMP_OK;
    place *places = smp_alloc_array(plan->sink_count, sizeof *places);
    smp_code code = places ? SMP_OK : smp_fail_memory(err, "outputs", plan->sink_count * sizeof *places);
    for (size_t i = 0; !code && i < plan->sink_count; i++) {
        place *at = &places[i];
        *at = (place){.path = outputs[i].path ? outputs[i].path : request->output, .saved = outputs[i].path != NULL};
        at->real = !at->saved && !strcmp(at->path, "-") ? smp_strdup("-") : smp_real_path(at->path);
        if (!at->real)
            code = smp_fail_memory(err, "a path", strlen(at->path));
        else if (at->saved)
            code = open_folder(request->output, at, &outputs[i], err);
        if (request->save_prefix) /* another file of a batch may be about to write there */
            outputs[i].made = 0;
    }
    if (!code)
        qsort(places, plan->sink_count, sizeof *places, by_real);
    for (size_t i = 1; !code && i < plan->sink_count; i++)
        if (!strcmp(places[i - 1].real, places[i].real)) {
            smp_fail(err, SMP_E_USAGE, "two outputs have the same name: %s", places[i].path);
            code = smp_hint(err, "give a `save` of the pipeline another name, or OUT");
        }
    for (size_t i = 0; places && i < plan->sink_count; i++)
        smp_free(places[i].real);
    smp_free(places);
    return code;
}

smp_code smp_run_name_outputs(const smp_run_request *request, const smp_plan *plan, smp_run_output *outputs,
                              smp_error *err)
{
    for (size_t i = 0; i < plan->sink_count; i++)
        if (plan->sinks[i].save >= 0)
            SMP_TRY(smp_save_path(request->output, request->save_prefix, plan->sinks[i].path, &outputs[i].path, err));
    return check_places(request, plan, outputs, err);
}
