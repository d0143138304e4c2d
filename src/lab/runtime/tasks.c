/* What kernels launch, copy and fill on the device. It is done once the kernel has ended, in the order of its calls,
 * each launch with what it launches itself before the next, and what is for the tail last: so does the hardware where
 * all is in one stream, and other streams promise no order. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "lab/runtime/runtime.h"

/* The tasks of a kernel come before all that waits, of which the last is the next. False: no memory. */
static bool push_all(smp_warp_tasks *waiting, smp_warp_tasks *tasks)
{
    const bool room =
        smp_grow(&waiting->items, &waiting->capacity, waiting->count + tasks->count + 1, sizeof *waiting->items);
    for (int tail = 1; tail >= 0 && room; tail--)
        for (size_t i = tasks->count; i--;) {
            smp_warp_task *t = &tasks->items[i];
            if (t->prepared || t->tail != tail)
                continue;
            waiting->items[waiting->count] = *t;
            waiting->items[waiting->count++].depth = tasks->depth + !t->tail;
            t->params = NULL; /* they are kept with what waits */
        }
    smp_warp_tasks_free(tasks, lab_memory());
    return room;
}

static int copy_or_fill(const smp_warp_task *t)
{
    void *to = (void *)(uintptr_t)t->to;
    const void *from = (const void *)(uintptr_t)t->from;
    if (!lab_reaches(from ? "cudaMemcpyAsync on the device" : "cudaMemsetAsync on the device", to, t->size) ||
        (from && !lab_reaches("cudaMemcpyAsync on the device", from, t->size)))
        return lab_error(LAB_ILLEGAL_ADDRESS);
    if (from)
        smp_warp_memory_know_copy(lab_memory(), to, from, t->size);
    else
        smp_warp_memory_know(lab_memory(), to, t->size);
    if (from)
        memmove(to, from, t->size);
    else
        memset(to, t->value, t->size);
    return LAB_SUCCESS;
}

static int run_task(const smp_warp_task *t, smp_warp_tasks *more)
{
    const smp_warp_param *params;
    if (!t->kernel)
        return copy_or_fill(t);
    const size_t count = smp_warp_kernel_params(t->kernel, &params);
    void **arguments = smp_alloc_array(count + 1, sizeof *arguments);
    if (!arguments)
        return lab_error(LAB_OUT_OF_MEMORY);
    for (size_t i = 0; i < count; i++)
        arguments[i] = t->params + params[i].offset;
    const lab_dim3 grid = {t->grid[0], t->grid[1], t->grid[2]}, block = {t->block[0], t->block[1], t->block[2]};
    const lab_dim3 no_cluster = {0, 0, 0};
    const int error = lab_run(lab_function_of(t->kernel), grid, block, arguments, t->shared, false, &no_cluster, more);
    smp_free(arguments);
    return error;
}

int lab_run_all(const void *function, lab_dim3 grid, lab_dim3 block, void **arguments, size_t shared, bool together,
                const lab_dim3 *cluster)
{
    const char *limit = getenv("SMEMPIPE_LAB_SECONDS");
    const double seconds = limit ? strtod(limit, NULL) : 0, deadline = seconds > 0 ? smp_now() + seconds : 0;
    smp_warp_tasks waiting = {.count = 0}, tasks = {.deadline = deadline};
    int error = lab_run(function, grid, block, arguments, shared, together, cluster, &tasks);
    bool room = push_all(&waiting, &tasks);
    while (waiting.count && room && !lab_broken()) {
        const smp_warp_task next = waiting.items[--waiting.count];
        tasks = (smp_warp_tasks){.depth = next.depth, .deadline = deadline};
        const int own = run_task(&next, &tasks);
        error = error ? error : own;
        smp_free(next.params);
        room = push_all(&waiting, &tasks);
    }
    smp_warp_tasks_free(&waiting, lab_memory());
    return room ? error : lab_error(LAB_OUT_OF_MEMORY);
}
