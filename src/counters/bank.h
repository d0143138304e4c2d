/* The cost of one warp instruction on shared memory: how many wavefronts its 32 addresses need, and how many of those
 * are bank conflicts. Pure arithmetic. Rules for compute capability 5.x and newer were measured on an H100 (576 cases
 * in tests/data/h100_bank_patterns.csv, every one exact); those of older devices follow the CUDA C++ Programming Guide,
 * "Compute Capabilities". */
#ifndef SMP_COUNTERS_BANK_H
#define SMP_COUNTERS_BANK_H

#include <stdint.h>

enum { SMP_WARP = 32, SMP_BANKS = 32, SMP_BANK_BYTES = 4 };

typedef enum smp_bank_op {
    SMP_BANK_LOAD,
    SMP_BANK_STORE,
    SMP_BANK_COUNT,       /* atomicAdd(p, 1) whose result is unused: equal addresses merge */
    SMP_BANK_ATOMIC,      /* any other integer atomic: equal addresses serialise */
    SMP_BANK_ATOMIC_FLOAT /* a compare-and-swap loop */
} smp_bank_op;

typedef enum smp_bank_rules {
    SMP_BANKS_CC1,   /* 16 banks, a half-warp at a time, one broadcast word */
    SMP_BANKS_CC2,   /* 32 banks of 4 bytes, multicast */
    SMP_BANKS_CC3,   /* 3.x, 4-byte mode */
    SMP_BANKS_CC3_8, /* 3.x, 8-byte mode */
    SMP_BANKS_CC5    /* 5.x and newer */
} smp_bank_rules;

typedef struct smp_bank_access {
    smp_bank_op op;
    int width;                 /* bytes a lane: 1, 2, 4, 8 or 16 */
    uint32_t active;           /* bit n: lane n takes part */
    uint32_t offset[SMP_WARP]; /* byte address of each lane inside shared memory; a multiple of width */
} smp_bank_access;

typedef struct smp_bank_cost {
    int wavefronts;
    int ideal;     /* the least that this width and these lanes need: phases with an active lane */
    int conflicts; /* wavefronts - ideal */
} smp_bank_cost;

/* An access without active lanes costs nothing. */
smp_bank_cost smp_bank_cost_of(const smp_bank_access *access, smp_bank_rules rules);

/* The rules of a compute capability: 1..9 and newer. */
smp_bank_rules smp_bank_rules_for(int compute_major);

#endif
