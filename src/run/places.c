/* Where the outputs of a run lie: see places.h. */
#include "run/places.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/paths.h"

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
    const char *slash = strcmp(main_output, "-") ? strrchr(main_output, '/') : NULL;
    char *folder = slash ? smp_strndup(main_output, (size_t)(slash - main_output) + 1) : smp_strdup(".");
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
smp_code smp_check_places(const smp_run_request *request, const smp_plan *plan, const smp_run_output *outputs,
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
            code = check_beneath(request->output, at, err);
    }
    if (!code)
        qsort(places, plan->sink_count, sizeof *places, by_real);
    for (size_t i = 1; !code && i < plan->sink_count; i++)
        if (!strcmp(places[i - 1].real, places[i].real))
            code = smp_fail(err, SMP_E_USAGE, "two outputs have the same name: %s", places[i].path);
    for (size_t i = 0; places && i < plan->sink_count; i++)
        smp_free(places[i].real);
    smp_free(places);
    return code;
}
