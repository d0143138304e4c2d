/* Plans of many pictures at once on a GPU: where pictures are small, a launch takes longer than its work. Each launch
 * runs one kernel for all pictures that have come to it (kernels/lib/many.h). Pictures may have different shapes and
 * steps; each is whole in the device's memory, and its result goes to a place in a batch
 * (kernels/elementwise/tensor.h). */
#pragma once

#include "device/device.h"
#include "elementwise/tensor.h"
#include "pipe/plan/plan.h"

typedef struct smp_together smp_together;

/* Bytes of the device, of what is sent to it, and of what comes back. */
typedef struct smp_together_need {
    size_t memory, sent, back;
} smp_together_need;

typedef struct smp_together_picture {
    smp_plan *plan; /* the caller's; reductions change it */
    smp_together_need need;
    const void *rows; /* of the plan's source, in memory of the host, smp_row_stride apart */
    void *place;      /* device memory */
    smp_tensor tensor;
    bool doubtful; /* afterwards: the kernels cannot decide, and the place holds nothing */
} smp_together_picture;

/* Whether the plan's kernels are among those of many pictures; fills in *need. Asks about the device, and uses it not:
 * from any thread. A picture that needs more than `most` is not served. */
bool smp_together_serves(const smp_device_info *device, const smp_plan *plan, const smp_together_need *most,
                         smp_together_need *need);

/* usual: of pictures that run together, as far as one alone does not need more. table: of all `tensor` launches; may be
 * null. */
smp_code smp_together_open(smp_device *device, const smp_together_need *usual, const void *table, size_t table_size,
                           smp_together **out, smp_error *err);

/* Runs them, and waits for it. Keeps the memory that they need for the next ones. They are no more than
 * SMP_MANY_MOST. */
smp_code smp_together_run(smp_together *runner, smp_together_picture *const *pictures, size_t count, smp_error *err);

void smp_together_close(smp_together *runner);
