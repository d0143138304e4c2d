/* The cost of one warp instruction on shared memory: how many wavefronts its 32 addresses need, how many of them are
 * bank conflicts, and which lanes each wavefront serves. Pure arithmetic. The rules are those of compute capability 5.x
 * and newer. They were measured on an H100: all 576 cases in tests/data/h100_bank_patterns.csv match exactly.
 * Asynchronous copies and `packed` follow CUPTI's SASS metrics (tests/data/h100_async_patterns.csv, whose head lists
 * the patterns that the rules miss; no kernel here has them). */
#pragma once

#include <stdint.h>

/* bank = address / SMP_BANK_BYTES % SMP_BANKS, row = address / SMP_BANK_ROW. In a wavefront a bank serves one row, to
 * all lanes that want it. */
enum { SMP_WARP = 32, SMP_BANKS = 32, SMP_BANK_BYTES = 4, SMP_BANK_ROW = SMP_BANKS * SMP_BANK_BYTES };

typedef enum smp_bank_op {
    SMP_BANK_LOAD,
    SMP_BANK_STORE,
    SMP_BANK_COUNT,        /* atomicAdd(p, 1) whose result is unused: equal addresses merge */
    SMP_BANK_ATOMIC,       /* any other integer atomic: equal addresses serialise */
    SMP_BANK_ATOMIC_FLOAT, /* a compare-and-swap loop */
    SMP_BANK_ASYNC,   /* cp.async, 4, 8 or 16 bytes a lane: through the first-level cache (.ca), or filling zeros */
    SMP_BANK_ASYNC_L2 /* cp.async, 16 bytes a lane straight from the second-level cache (.cg), no lane zeros */
} smp_bank_op;

typedef struct smp_bank_access {
    smp_bank_op op;
    int width;                 /* bytes a lane: 1, 2, 4, 8 or 16 */
    uint32_t active;           /* bit n: lane n is active */
    uint32_t offset[SMP_WARP]; /* byte address of each lane in shared memory; a multiple of width */
    /* SMP_BANK_ASYNC: a copy through the L1 cache also reads that cache's banks, which are the same 32. */
    uint32_t through_l1;       /* bit n: lane n copies through L1 (.ca) and does not fill zeros */
    uint32_t source[SMP_WARP]; /* asynchronous copies: byte address in global memory, modulo 2^32 */
} smp_bank_access;

typedef struct smp_bank_cost {
    int wavefronts;
    int ideal;     /* the least for this width and these lanes: phases with an active lane */
    int conflicts; /* wavefronts - ideal */
    int packed;    /* what CUPTI's SASS metrics call ideal: as if the active lanes were side by side, 128 bytes a
                      wavefront. Less than ideal where lanes of several phases are missing, and never more than
                      wavefronts */
} smp_bank_cost;

/* An access without active lanes costs nothing. */
smp_bank_cost smp_bank_cost_of(const smp_bank_access *access);

/* One bank in one wavefront; idle when lanes is 0. */
typedef struct smp_bank_cell {
    uint32_t lanes; /* bit n: lane n is served here; several banks serve a wide access */
    uint32_t row;
} smp_bank_cell;

typedef struct smp_bank_wavefront {
    int phase; /* 0, 1, ...: lanes of different phases never conflict */
    int turn;  /* 0: the first of its phase; all others are conflicts */
    smp_bank_cell cells[SMP_BANKS];
} smp_bank_wavefront;

enum { SMP_BANK_MAX_WAVEFRONTS = 2 * SMP_WARP }; /* atomics of floats on one address */

typedef struct smp_bank_schedule {
    smp_bank_cost cost;
    int phases;                         /* with an active lane */
    uint32_t phase_lanes[SMP_WARP / 4]; /* the active lanes of each phase */
    int count;                          /* = cost.wavefronts */
    smp_bank_wavefront wavefronts[SMP_BANK_MAX_WAVEFRONTS];
} smp_bank_schedule;

/* One order in which the wavefronts can be served. The hardware's order is not documented; their number is. A float
 * atomic shows each iteration of its loop twice, as load and swap. */
void smp_bank_schedule_of(const smp_bank_access *access, smp_bank_schedule *schedule);
