/* The calls that traced threads are in: instrumented functions tell when they begin and end. On a GPU all are inlined,
 * so an instruction is a place and the calls that lead there; these have a name, which is a hash. */
#include "base/alloc.h"
#include "device/simt/simt_internal.h"

enum { DEPTH = 64 };

struct simt_calls {
    uint64_t *last; /* of the paths, while the thread is stopped */
    uint64_t paths[DEPTH];
};

/* Calls of the thread that runs; null: none is traced. */
static __thread struct {
    uint64_t *last, *end;
} now;

bool simt_calls_prepare(simt_worker *worker)
{
    if (!worker->calls)
        worker->calls = smp_alloc(SIMT_THREADS * sizeof *worker->calls);
    return worker->calls != NULL;
}

void simt_calls_block(simt_worker *worker)
{
    for (int n = 0; n < worker->threads; n++) /* an abandoned block's threads were in some */
        worker->calls[n].last = worker->calls[n].paths;
}

void simt_calls_resume(simt_worker *worker)
{
    simt_calls *of = &worker->calls[worker->current];
    now.last = of->last;
    now.end = of->paths + DEPTH - 1;
}

void simt_calls_stop(simt_worker *worker)
{
    worker->calls[worker->current].last = now.last;
    now.last = now.end = NULL;
}

uint64_t simt_calls_path(void)
{
    return now.last ? *now.last : 0;
}

simt_place simt_calls_place(const void *pc)
{
    return (simt_place){(uintptr_t)pc, simt_calls_path()};
}

/* pc: where the function returns to. */
void __tsan_func_entry(void *pc);
void __tsan_func_entry(void *pc)
{
    uint64_t *last = now.last;
    if (last != now.end) {
        last[1] = (*last ^ (uintptr_t)pc) * SIMT_MIX;
        now.last = last + 1;
    } else if (last) {
        simt_fault(simt_me->launch, CUDA_ERROR_LAUNCH_FAILED, "calls nest more than %d deep", DEPTH - 1);
        simt_abandon(simt_me);
    }
}

/* Instrumented code passes no argument; gcc's own declaration has one. */
void __tsan_func_exit(void *unused);
void __tsan_func_exit(void *)
{
    if (now.last)
        now.last--;
}
