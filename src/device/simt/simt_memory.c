/* Memory accesses of emulated threads through the shim: shared memory and its declarations, atomics, asynchronous
 * copies. Between two switches a fiber runs alone in its block. Blocks run in parallel, so atomics use the host's
 * atomics. */
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "device/simt/simt_internal.h"

/* The bytes of a new block's shared memory: they make reads of uninitialised memory show in plain runs. */
enum { STALE = 0xa5, SHARED_ALIGN = 128, DECLARATION_GAP = 16 };

static void open_shared(simt_worker *worker, size_t from, size_t size)
{
    ASAN_UNPOISON_MEMORY_REGION(worker->arena + from, size);
    memset(worker->arena + from, STALE, size);
}

void simt_memory_begin(simt_worker *worker)
{
    ASAN_POISON_MEMORY_REGION(worker->arena, SIMT_ARENA);
    worker->declared = 0;
    worker->shared_used = worker->launch->dynamic_shared;
    open_shared(worker, 0, worker->shared_used);
    worker->copy_count = 0;
    memset(worker->copy_first, 0, sizeof worker->copy_first);
    memset(worker->copy_last, 0, sizeof worker->copy_last);
    memset(worker->copy_group, 0, sizeof worker->copy_group);
}

void simt_memory_close(simt_worker *worker)
{
    ASAN_UNPOISON_MEMORY_REGION(worker->arena, SIMT_ARENA); /* whatever is mapped there next is not poisoned */
    munmap(worker->arena, SIMT_ARENA);
}

void *smp_simt_shared_dynamic(void)
{
    return simt_me->arena;
}

void *smp_simt_shared(const void *tag, size_t size, size_t align)
{
    simt_worker *worker = simt_me;
    for (int i = 0; i < worker->declared; i++)
        if (worker->declarations[i].tag == tag)
            return worker->arena + worker->declarations[i].offset;
    simt_launch *launch = worker->launch;
    size_t unit = align > SHARED_ALIGN ? align : SHARED_ALIGN;
    size_t at = (worker->shared_used + (worker->shared_used ? DECLARATION_GAP : 0) + unit - 1) & ~(unit - 1);
    size_t fixed = size;
    for (int i = 0; i < worker->declared; i++)
        fixed += worker->declarations[i].size;
    if (worker->declared == SIMT_DECLARATIONS || at + size > SIMT_ARENA || fixed > SIMT_STATIC_SHARED ||
        fixed + launch->dynamic_shared > SIMT_SHARED) {
        simt_fault(launch, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
                   "%zu bytes of declared and %zu of dynamic shared memory are more than a block has", fixed,
                   launch->dynamic_shared);
        simt_abandon(worker);
    }
    worker->declarations[worker->declared].tag = tag;
    worker->declarations[worker->declared].size = size;
    worker->declarations[worker->declared++].offset = at;
    worker->shared_used = at + size;
    open_shared(worker, at, size);
    size_t seen = atomic_load(&launch->static_shared);
    while (fixed > seen && !atomic_compare_exchange_weak(&launch->static_shared, &seen, fixed))
        ;
    return worker->arena + at;
}

#define ATOMIC_FUNCTION(name, type, signed_type)                                                                       \
    static type name(int op, type *at, type value, type expected)                                                      \
    {                                                                                                                  \
        type old = __atomic_load_n(at, __ATOMIC_SEQ_CST), wanted;                                                      \
        switch (op) {                                                                                                  \
        case SMP_SIMT_ATOMIC_ADD:                                                                                      \
            return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST);                                                    \
        case SMP_SIMT_ATOMIC_AND:                                                                                      \
            return __atomic_fetch_and(at, value, __ATOMIC_SEQ_CST);                                                    \
        case SMP_SIMT_ATOMIC_OR:                                                                                       \
            return __atomic_fetch_or(at, value, __ATOMIC_SEQ_CST);                                                     \
        case SMP_SIMT_ATOMIC_XOR:                                                                                      \
            return __atomic_fetch_xor(at, value, __ATOMIC_SEQ_CST);                                                    \
        case SMP_SIMT_ATOMIC_EXCHANGE:                                                                                 \
            return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);                                                   \
        case SMP_SIMT_ATOMIC_COMPARE:                                                                                  \
            __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);              \
            return expected;                                                                                           \
        default:                                                                                                       \
            break;                                                                                                     \
        }                                                                                                              \
        do {                                                                                                           \
            wanted = old;                                                                                              \
            if (op == SMP_SIMT_ATOMIC_MIN          ? value < old                                                       \
                : op == SMP_SIMT_ATOMIC_MAX        ? value > old                                                       \
                : op == SMP_SIMT_ATOMIC_MIN_SIGNED ? (signed_type)value < (signed_type)old                             \
                                                   : (signed_type)value > (signed_type)old)                            \
                wanted = value;                                                                                        \
            if (op == SMP_SIMT_ATOMIC_ADD_FLOAT)                                                                       \
                wanted = add_float(old, value);                                                                        \
        } while (!__atomic_compare_exchange_n(at, &old, wanted, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));           \
        return old;                                                                                                    \
    }

/* Both of 32 bits; the 64-bit function never asks. */
static uint32_t add_float(uint64_t a, uint64_t b)
{
    uint32_t bits[2] = {(uint32_t)a, (uint32_t)b};
    float values[2];
    memcpy(values, bits, sizeof values);
    values[0] += values[1];
    memcpy(bits, values, sizeof values);
    return bits[0];
}

ATOMIC_FUNCTION(atomic32, uint32_t, int32_t)
ATOMIC_FUNCTION(atomic64, uint64_t, int64_t)

uint32_t smp_simt_atomic32(int op, void *at, uint32_t value, uint32_t expected)
{
    if (simt_me->launch->trace) {
        const simt_place place = simt_calls_place(__builtin_return_address(0));
        simt_trace_atomic(simt_me, at, sizeof value, &place, op == SMP_SIMT_ATOMIC_ADD && value == 1,
                          op == SMP_SIMT_ATOMIC_ADD_FLOAT);
    }
    return atomic32(op, at, value, expected);
}

uint64_t smp_simt_atomic64(int op, void *at, uint64_t value, uint64_t expected)
{
    if (simt_me->launch->trace) {
        const simt_place place = simt_calls_place(__builtin_return_address(0));
        simt_trace_atomic(simt_me, at, sizeof value, &place, false, false);
    }
    return atomic64(op, at, value, expected);
}

void smp_simt_atomic_read(void)
{
    if (simt_me->launch->trace)
        simt_trace_atomic_read(simt_me);
}

void smp_simt_copy_async(void *to, const void *from, size_t size, int fills)
{
    simt_worker *worker = simt_me;
    int n = worker->current;
    const simt_place place = simt_calls_place(__builtin_return_address(0));
    if (((uintptr_t)to | (uintptr_t)from) & (size - 1)) {
        simt_fault(worker->launch, CUDA_ERROR_LAUNCH_FAILED, "a misaligned asynchronous copy of %zu bytes", size);
        simt_abandon(worker);
    }
    if (!smp_grow(&worker->copies, &worker->copy_capacity, worker->copy_count + 1, sizeof *worker->copies)) {
        simt_fault(worker->launch, CUDA_ERROR_OUT_OF_MEMORY, "no memory for asynchronous copies");
        simt_abandon(worker);
    }
    if (worker->launch->trace)
        simt_trace_copy_issue(worker, to, size, from, fills != 0, &place);
    worker->copies[worker->copy_count++] =
        (simt_copy){.to = to, .from = from, .size = (uint32_t)size, .group = worker->copy_group[n], .place = place};
    uint32_t index = (uint32_t)worker->copy_count; /* plus 1 */
    if (worker->copy_last[n])
        worker->copies[worker->copy_last[n] - 1].next = index;
    else
        worker->copy_first[n] = index;
    worker->copy_last[n] = index;
}

void smp_simt_together(void)
{
    if (simt_me->launch->trace)
        simt_trace_together(simt_me);
}

void smp_simt_copy_commit(void)
{
    simt_me->copy_group[simt_me->current]++;
}

void smp_simt_copy_wait(int pending)
{
    simt_worker *worker = simt_me;
    int n = worker->current;
    while (worker->copy_first[n]) {
        simt_copy *copy = &worker->copies[worker->copy_first[n] - 1];
        if (copy->group + (uint32_t)pending >= worker->copy_group[n])
            break; /* a group that may stay in flight, or was not committed */
        if (copy->from)
            memcpy(copy->to, copy->from, copy->size);
        else
            memset(copy->to, 0, copy->size);
        if (worker->launch->trace)
            simt_trace_copy_land(worker, copy->to, copy->size, &copy->place);
        worker->copy_first[n] = copy->next;
        if (!copy->next)
            worker->copy_last[n] = 0;
    }
}
