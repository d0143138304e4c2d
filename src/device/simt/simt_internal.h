/* Shared by the emulator's files: a launch, a worker, and its state of each thread of the block that it runs.
 *   simt_driver.c  the driver table: context, modules, streams, events
 *   simt_buffers.c its memory: buffers with guards, copies
 *   simt_run.c     launches: workers, blocks, warps, barriers, exchanges
 *   simt_memory.c  what kernels do to memory: shared memory, atomics, asynchronous copies
 *   simt_trace.c   the traced kernels' callbacks: bank conflicts, races, uninitialised reads
 *   simt_traced.c  the library that has the traced kernels
 *   simt_fiber.c   stacks and the switch between them */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sanitized.h"
#include "device/kernel_table.h"
#include "device/simt/simt.h"
#include "lib/emulator_shim.h"

#if SMP_SANITIZED
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, size)   ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#endif

enum {
    SIMT_THREADS = 1024, /* the largest block */
    SIMT_LANES = 32,
    SIMT_WARPS = SIMT_THREADS / SIMT_LANES,
    SIMT_STATIC_SHARED = 48 * 1024, /* bytes of a block without opting in */
    SIMT_SHARED = 227 * 1024,       /* bytes with opting in: an H100's */
    SIMT_ARENA = 256 * 1024,        /* the address range that counts as shared memory, in bytes */
    SIMT_STACK = 128 * 1024,        /* bytes of each fiber */
    SIMT_WORKERS = 16,
    SIMT_DECLARATIONS = 16 /* SMP_SHARED declarations in one kernel */
};

/* ------------------------------------------------------------------------------------------------ fibers */

typedef struct simt_fiber simt_fiber;
typedef struct simt_fibers simt_fibers;

/* SIMT_THREADS fibers with lazily committed stacks; null: out of memory. main(context, n) runs on the nth. */
simt_fibers *simt_fibers_new(void (*main)(void *context, int n), void *context);
void simt_fibers_free(simt_fibers *fibers);
/* Switches from the scheduler to fiber n (from its beginning after a reset), and back. */
void simt_fiber_enter(simt_fibers *fibers, int n);
void simt_fiber_leave(simt_fibers *fibers, int n);
/* Resets fiber n: it forgets where it was. */
void simt_fiber_reset(simt_fibers *fibers, int n);

/* ------------------------------------------------------------------------------------------------ launches */

typedef struct simt_launch {
    const smp_simt_kernel *kernel;
    void *const *args;
    unsigned grid[3], block[3];
    size_t dynamic_shared;
    int order;
    smp_trace_launch *trace; /* null: plain kernels */
    bool counts_only;        /* as in smp_trace */
    uint64_t blocks;
    atomic_uint_fast64_t next_block;
    atomic_int fault; /* a CUresult */
    atomic_size_t static_shared;
} simt_launch;

typedef enum simt_state { SIMT_READY, SIMT_AT_BARRIER, SIMT_AT_EXCHANGE, SIMT_EXITED } simt_state;

/* A thread's contribution to a warp exchange. */
typedef struct simt_exchange {
    int op, argument;
    uint32_t mask;
    uint64_t value, result;
} simt_exchange;

/* An instruction of a traced kernel. Others call no instrumentation: their path is 0. */
typedef struct simt_place {
    uintptr_t pc;  /* return address of the call that tells of it */
    uint64_t path; /* names the calls that lead there */
} simt_place;

/* An asynchronous copy in flight: from a worker's pool, chained for each thread. */
typedef struct simt_copy {
    void *to;
    const void *from;           /* null: zeros */
    uint32_t size, group, next; /* next: index + 1 */
    simt_place place;
} simt_copy;

typedef struct simt_recorder simt_recorder;
typedef struct simt_calls simt_calls;

typedef struct simt_worker {
    simt_launch *launch;
    simt_fibers *fibers;
    simt_recorder *recorder; /* made at the first traced launch */
    simt_calls *calls;       /* so is this; SIMT_THREADS of them */
    int threads, current;    /* of the block; the one that runs */
    bool abandoned;          /* the block cannot continue */
    simt_state state[SIMT_THREADS];
    smp_simt_index place[SIMT_THREADS];
    simt_exchange exchange[SIMT_THREADS];
    simt_place barrier[SIMT_THREADS];
    /* Shared memory: the dynamic part first, then one place for each declaration. */
    char *arena;
    size_t shared_used;
    int declared;
    struct {
        const void *tag;
        size_t offset, size;
    } declarations[SIMT_DECLARATIONS];
    /* Asynchronous copies. */
    simt_copy *copies;
    size_t copy_count, copy_capacity;
    uint32_t copy_first[SIMT_THREADS], copy_last[SIMT_THREADS], copy_group[SIMT_THREADS];
} simt_worker;

/* The worker whose fiber runs on this host thread. */
extern __thread simt_worker *simt_me;

/* Makes and joins the workers; false: out of memory. threads 0: all cores. */
bool simt_pool_open(int threads);
void simt_pool_close(void);
int simt_pool_threads(void);
/* Runs all blocks; a fault is left in launch->fault. */
void simt_pool_run(simt_launch *launch);

/* Ends the running block with a fault. Does not return when called in a fiber. text: printf style. */
void simt_fault(simt_launch *launch, CUresult result, const char *format, ...) SMP_PRINTF(3, 4);
/* The text of the last fault; "" before any. */
const char *simt_fault_text(void);
_Noreturn void simt_abandon(simt_worker *worker);
/* For kernels: see lib/words.cuh. */
void smp_simt_word_tell(unsigned long long *at, unsigned long long word);
unsigned long long smp_simt_word_ask(const unsigned long long *at);

/* ------------------------------------------------------------------------------------------------ memory */

void simt_memory_begin(simt_worker *worker);
void simt_memory_close(simt_worker *worker);
/* Addresses first .. end-1. */
typedef struct simt_range {
    uintptr_t first, end;
} simt_range;

/* Whether [at, at+size) touches a guard of a buffer. If not, *clean is the largest range around it that touches none,
 * valid until buffers are allocated or freed. */
bool simt_guard_hit(uintptr_t at, size_t size, simt_range *clean);
/* Checks the guards: this finds writes past a buffer even in kernels that are not traced. */
bool simt_guards_hold(void);
void simt_buffers_close(void);

/* CUDA_SUCCESS, or why calls fail: no context, or a kernel's fault, which stays. */
CUresult simt_usable(void);
#define NEED_CONTEXT()                                                                                                 \
    do {                                                                                                               \
        CUresult why_ = simt_usable();                                                                                 \
        if (why_)                                                                                                      \
            return why_;                                                                                               \
    } while (0)

/* The memory that a context reports; the host's memory is the limit. */
#define SIMT_MEMORY ((size_t)1 << 40)

/* The driver's entry points for memory. */
CUresult simt_memory_info(size_t *available, size_t *total);
CUresult simt_alloc(CUdeviceptr *memory, size_t size);
CUresult simt_free(CUdeviceptr memory);
CUresult simt_host_alloc(void **memory, size_t size, unsigned flags);
CUresult simt_host_free(void *memory);
CUresult simt_host_register(void *memory, size_t size, unsigned flags);
CUresult simt_host_unregister(void *memory);
CUresult simt_to_device(CUdeviceptr to, const void *from, size_t size, CUstream stream);
CUresult simt_from_device(void *to, CUdeviceptr from, size_t size, CUstream stream);
CUresult simt_in_device(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream);
CUresult simt_copy_2d(const CUDA_MEMCPY2D *copy, CUstream stream);
CUresult simt_fill(CUdeviceptr to, unsigned char value, size_t size, CUstream stream);

/* ------------------------------------------------------------------------------------------------ tracing */

/* The traced kernel `name` of a file, whose library is opened where needed. Null: none. */
const smp_simt_kernel *simt_traced_find(const smp_kernel_file *file, const char *name);
/* Returns why there are no traced kernels; "" if there are, and before any was wanted. */
const char *simt_traced_problem(void);

bool simt_observer_counts_all(void);

/* The calls that traced threads are in (simt_calls.c). */
#define SIMT_MIX UINT64_C(0x9e3779b97f4a7c15) /* odd; spreads what it multiplies */
bool simt_calls_prepare(simt_worker *worker); /* before the first traced launch; false: out of memory */
void simt_calls_block(simt_worker *worker);   /* a block begins: its threads are in none */
void simt_calls_resume(simt_worker *worker);  /* the current thread goes on */
void simt_calls_stop(simt_worker *worker);    /* and stops */
uint64_t simt_calls_path(void);               /* of the running thread */
simt_place simt_calls_place(const void *pc);  /* the same, where it returns to pc */

typedef enum simt_access { SIMT_READ, SIMT_WRITE, SIMT_ATOMIC, SIMT_ASYNC } simt_access;

/* False: out of memory. */
bool simt_trace_prepare(simt_worker *worker);
void simt_trace_free(simt_worker *worker);
void simt_trace_block(simt_worker *worker);    /* a block begins */
void simt_trace_barrier(simt_worker *worker);  /* all threads pass a barrier */
void simt_trace_exchange(simt_worker *worker); /* lanes of a warp have exchanged something, or waited for it */
void simt_trace_warp_end(simt_worker *worker); /* the warp's lanes have all stopped: count its instructions */
void simt_trace_warp_sync(simt_worker *worker, int warp); /* all lanes of a warp passed a warp barrier */
void simt_trace_together(simt_worker *worker);            /* the running lane reached a convergence point of its warp */
void simt_trace_divergent(simt_worker *worker, const simt_place *place);
/* unit: an integer atomic that adds 1. real: an atomic on floats. */
void simt_trace_atomic(simt_worker *worker, const void *at, size_t size, const simt_place *place, bool unit, bool real);
void simt_trace_atomic_read(simt_worker *worker);
/* An asynchronous copy is issued (its instruction is counted) and completes (its bytes are written). from: null for
 * zeros. */
void simt_trace_copy_issue(simt_worker *worker, const void *to, size_t size, const void *from, bool fills,
                           const simt_place *place);
void simt_trace_copy_land(simt_worker *worker, const void *to, size_t size, const simt_place *place);
/* Adds the worker's counts to the launch; false: out of memory. */
bool simt_trace_merge(simt_worker *worker, smp_trace_launch *launch);
