/* Runs a launch and predicts its time. */
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "lab/ptx/execute.h"
#include "lab/time/record.h"

/* "h100", "h100,each", "h100,listing,what-if" */
static bool read_wish(const char *text, smp_time_gpu *gpu, smp_time_wish *wish)
{
    wish->each = strstr(text, ",each") != NULL;
    wish->listing = strstr(text, ",listing") != NULL;
    wish->what_if = strstr(text, ",what-if") != NULL;
    char name[16];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, ","), text);
    return smp_time_gpu_find(name, gpu);
}

/* Whether a launch has no time, before it ran, and why. */
static bool is_refused(const smp_warp_launch *launch, const smp_warp_kernel *sass, const char *gpu, char *why,
                       size_t size)
{
    const uint32_t *cluster = launch->cluster;
    const char *reason = launch->together                                     ? "its blocks wait for each other"
                         : cluster[0] > 1 || cluster[1] > 1 || cluster[2] > 1 ? "clusters"
                         : !sass                                              ? "it is counted from PTX"
                         : smp_warp_kernel_problem(sass)                      ? "its SASS cannot be executed here"
                         : launch->blocks                                     ? "not all of its blocks run (--blocks)"
                                                                              : NULL;
    snprintf(why, size, "%s", reason ? reason : "");
    return reason || time_refuses_code(&sass->code, gpu, why, size);
}

/* What the time of a launch leaves out: calls of the system, whose work no instruction of the kernel does. */
static void set_left_out(uint32_t served, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < ptx_service_count; i++) {
        const char *one = ptx_services[i].untimed;
        if (served >> i & 1 && one && !strstr(text, one))
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "what ", one);
    }
    if (used)
        snprintf(text + used, size - used, " take%s on a GPU", strchr(text, ',') ? "" : "s");
}

static smp_code run(const smp_warp_launch *launch, const smp_warp_kernel *sass, smp_warp_result *result, smp_error *err)
{
    return !sass || sass == launch->kernel ? smp_warp_run(launch, result, err)
                                           : smp_warp_run_both(launch, sass, result, err);
}

static smp_code add(smp_warp_result *result, smp_predicted *one, smp_error *err)
{
    smp_predictions *p = smp_alloc(sizeof *p);
    if (!p || !smp_grow(&p->items, &p->capacity, 1, sizeof *p->items)) {
        smp_free(p);
        return smp_fail_memory(err, "a prediction", sizeof *one);
    }
    p->items[p->count++] = *one;
    result->predictions = p;
    return SMP_OK;
}

smp_code smp_time_run(const char *wanted, uint32_t order, const smp_warp_launch *launch, const smp_warp_kernel *sass,
                      smp_warp_result *result, smp_error *err)
{
    smp_time_gpu gpu;
    smp_time_wish wish = {.deadline = 0};
    smp_time_recorder *recorder = NULL;
    smp_warp_launch own = *launch;
    smp_predicted one = {.order = order};
    if (!wanted || !read_wish(wanted, &gpu, &wish))
        return run(launch, sass, result, err);
    char refusal[sizeof one.refusal] = "";
    if (launch->seconds > 0)
        wish.deadline = smp_now() + launch->seconds;
    if (!is_refused(launch, sass, gpu.title, refusal, sizeof refusal) && smp_time_record(&gpu, &recorder, err))
        return err->code;
    own.observer = recorder ? smp_time_observer(recorder) : NULL;
    smp_code code = run(&own, sass, result, err);
    if (!code && recorder && strcmp(result->code, "sass") != 0)
        snprintf(refusal, sizeof refusal, "it is counted from PTX");
    smp_error why;
    wish.rows = result->rows;
    wish.row_count = strstr(wanted, ",tips") ? result->row_count : 0;
    if (!code && !refusal[0] && smp_time_predict(recorder, sass, &wish, &one, &why)) /* the counts stand */
        snprintf(refusal, sizeof refusal, "%.*s", (int)sizeof refusal - 1, why.message);
    set_left_out(recorder ? own.observer->served : 0, one.left_out, sizeof one.left_out);
    smp_time_record_free(recorder);
    one.order = order;
    snprintf(one.gpu, sizeof one.gpu, "%s", gpu.name);
    if (refusal[0])
        memcpy(one.refusal, refusal, sizeof one.refusal);
    code = code ? code : add(result, &one, err);
    if (code) {
        smp_free_all(one.lines, one.instructions);
    }
    return code;
}
