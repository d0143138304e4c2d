/* What the emulator's traced kernels did to shared memory: for every launch the warp instructions on shared memory and
 * what they cost in wavefronts (counters/bank.h), in sum and for each access site, and every mistake that was seen.
 * Filled by the emulator while smp_simt_set_trace() (device/simt.h) names a trace. */
#ifndef SMP_COUNTERS_TRACE_H
#define SMP_COUNTERS_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "counters/bank.h"

typedef enum smp_shared_op {
    SMP_SHARED_LOAD,
    SMP_SHARED_STORE,
    SMP_SHARED_ATOMIC,
    SMP_SHARED_ASYNC, /* asynchronous copies from global memory, counted as stores would be */
    SMP_SHARED_OPS
} smp_shared_op;

/* Warp instructions, the wavefronts that they take, and those that their width needs. Conflicts are the difference. */
typedef struct smp_shared_count {
    uint64_t instructions, wavefronts, ideal;
} smp_shared_count;

/* Mistakes, each counted once an access. */
typedef struct smp_trace_faults {
    uint64_t races;         /* two threads, same byte, one of them writes, no barrier between */
    uint64_t uninitialised; /* reads of shared bytes that nobody wrote */
    uint64_t outside;       /* accesses past the block's shared memory, or in the guards round a buffer */
    uint64_t divergent;     /* barriers that some threads of the block did not reach, or reached at another place */
} smp_trace_faults;

/* One place in a kernel that accesses shared memory (or, with faults only, global memory). */
typedef struct smp_trace_site {
    uintptr_t pc; /* return address of the access; smp_trace_where() makes a source line of it */
    smp_shared_op op;
    int width; /* bytes a lane */
    smp_shared_count count;
    uint64_t conflicts; /* by bank.h: no more than wavefronts - ideal, which counts missing lanes' room too */
    smp_trace_faults faults;
    smp_bank_access example; /* the instruction with most conflicts, of those the one with most lanes; active 0: none */
    int example_conflicts;
} smp_trace_site;

typedef struct smp_trace_launch {
    char kernel[96];
    unsigned grid[3], block[3];
    size_t static_shared, dynamic_shared; /* bytes */
    smp_shared_count ops[SMP_SHARED_OPS];
    smp_trace_faults faults;
    smp_trace_site *sites;
    size_t site_count, site_capacity;
} smp_trace_launch;

/* Zero it before use. */
typedef struct smp_trace {
    smp_trace_launch *launches;
    size_t count, capacity;
    _Bool counts_only; /* accesses in the guards round buffers are not looked for: up to twice as fast */
} smp_trace;

void smp_trace_free(smp_trace *trace);

/* Sum over all launches and operations; and of all faults. */
smp_shared_count smp_trace_total(const smp_trace *trace);
smp_trace_faults smp_trace_all_faults(const smp_trace *trace);
uint64_t smp_trace_fault_count(const smp_trace_faults *faults);

/* "transpose.cu:41" into text, found with binutils' addr2line when it is installed and the program keeps its line
 * table; else "pc 0x1234" relative to the program's start, and false. */
_Bool smp_trace_where(const smp_trace_site *site, char *text, size_t size);

const char *smp_shared_op_name(smp_shared_op op);

/* Makes `access` the site's example if it is the better one; the order of calls does not matter. */
void smp_trace_example(smp_trace_site *site, const smp_bank_access *access, int conflicts);

#endif
