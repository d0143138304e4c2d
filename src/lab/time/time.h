/* Predicts how long a launch takes on a GPU: an H100's SM is simulated from what the launch did in the lab. */
#pragma once

#include "lab/machine/predicted.h"
#include "lab/machine/warp.h"
#include "lab/time/gpu.h"

typedef struct smp_time_recorder smp_time_recorder;

/* Records one launch of SASS, whose launch.observer it becomes. */
smp_code smp_time_record(const smp_time_gpu *gpu, smp_time_recorder **out, smp_error *err);
struct warp_observer *smp_time_observer(smp_time_recorder *recorder);
void smp_time_record_free(smp_time_recorder *recorder); /* null is allowed */

typedef struct smp_time_wish {
    bool each;                /* lines are instructions */
    bool listing;             /* instructions beside lines, too */
    bool what_if;             /* prices, too */
    double deadline;          /* by smp_now(), after which it is SMP_E_LIMIT; 0: none */
    const smp_warp_row *rows; /* what the launch cost by line: the dearest are priced, with what_if several */
    size_t row_count;
} smp_time_wish;

/* The time of the launch that was recorded, which ran `kernel`. A launch that is not modelled has a refusal. Owner of
 * out: the caller, by smp_predictions_free. */
smp_code smp_time_predict(smp_time_recorder *recorder, const smp_warp_kernel *kernel, const smp_time_wish *wish,
                          smp_predicted *out, smp_error *err);

/* The pipe that an operation of SASS ("LDS") takes: "memory". */
const char *smp_time_pipe(const char *operation);

/* Runs a launch (by smp_warp_run_both, or where launch->kernel is `sass` itself by smp_warp_run) and adds its time to
 * the result. wanted: the GPU, then what else is wished: "h100,tips,each,listing,what-if"; null or an
 * unknown GPU: no time. order: among the program's launches. */
smp_code smp_time_run(const char *wanted, uint32_t order, const smp_warp_launch *launch, const smp_warp_kernel *sass,
                      smp_warp_result *result, smp_error *err);
