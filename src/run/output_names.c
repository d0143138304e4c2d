/* Names of a run's outputs: where files that a pipeline saves go, and what two outputs may not share. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/paths.h"
#include "io/output.h"
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

/* Files that a pipeline saves must stay below the folder of the output, also through links. */
static smp_code check_beneath(const char *main_output, const place *at, smp_error *err)
{
    char *folder = smp_folder_part(main_output);
    char *real = folder ? smp_real_path(folder) : NULL;
    smp_code code = SMP_OK;
    if (!real)
        code = smp_fail_memory(err, "a path", strlen(main_output));
    else if (!smp_path_within(at->real, real)) {
        smp_fail(err, SMP_E_WRITE, "a link leads out of the folder of the output");
        smp_hint(err, "'save' writes below that folder alone: remove the link, or give the output another folder");
        code = smp_at(err, "%s", at->path);
    }
    smp_free(folder);
    smp_free(real);
    return code;
}

/* Two outputs with one name would overwrite each other. Saved ones must stay in the folder. */
static smp_code check_places(const smp_run_request *request, const smp_plan *plan, const smp_run_output *outputs,
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
        else if (at->saved && !(code = check_beneath(request->output, at, err)) && strchr(plan->sinks[i].path, '/'))
            code = smp_make_folders(at->real, err); /* without links, and below the output's folder */
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
    smp_code code = SMP_OK;
    for (size_t i = 0; !code && i < plan->sink_count; i++)
        if (plan->sinks[i].save >= 0)
            code = smp_save_path(request->output, request->save_prefix, plan->sinks[i].path, &outputs[i].path, err);
    return code ? code : check_places(request, plan, outputs, err);
}
