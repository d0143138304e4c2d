/* What kernels launch, copy and fill on the device. It is done once the kernel has ended, in the order of its calls,
 * each launch with what it launches itself before the next, and what is for the tail last: so does the hardware where
 * all is in one stream, and other streams promise no order. */
#include <string.h>

#include "base/alloc.h"
#include "lab/runtime/runtime.h"

typedef struct waiting {
    smp_warp_task task;
    uint32_t depth;
} waiting;

typedef struct stack {
    waiting *items; /* the last is the next */
    size_t count, capacity;
} stack;

static bool push(stack *s, const smp_warp_task *task, uint32_t depth)
{
    if (!smp_grow(&s->items, &s->capacity, s->count + 1, sizeof *s->items))
        return false;
    s->items[s->count++] = (waiting){*task, depth + !task->tail};
    return true;
}

/* The tasks of a kernel come before all that waits. False: no memory. */
static bool push_all(stack *s, smp_warp_tasks *tasks)
{
    bool pushed = true;
    for (int tail = 1; tail >= 0; tail--)
        for (size_t i = tasks->count; i--;) {
            smp_warp_task *t = &tasks->items[i];
            if (t->prepared || t->tail != tail)
                continue;
            if (pushed && (pushed = push(s, t, tasks->depth)))
                t->params = NULL; /* the stack has them */
        }
    smp_warp_tasks_free(tasks, lab_memory());
    return pushed;
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
    stack s = {.count = 0};
    smp_warp_tasks tasks = {.count = 0};
    int error = lab_run(function, grid, block, arguments, shared, together, cluster, &tasks);
    bool room = push_all(&s, &tasks);
    while (s.count && room && !lab_broken()) {
        waiting next = s.items[--s.count];
        tasks = (smp_warp_tasks){.depth = next.depth};
        const int own = run_task(&next.task, &tasks);
        error = error ? error : own;
        smp_free(next.task.params);
        room = push_all(&s, &tasks);
    }
    while (s.count)
        smp_free(s.items[--s.count].task.params);
    smp_free(s.items);
    return room ? error : lab_error(LAB_OUT_OF_MEMORY);
}
