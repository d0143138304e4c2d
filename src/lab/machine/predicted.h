/* Predicted cost of a launch on a GPU (lab/time), as results carry it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reasons why warps do not issue, by Nsight Compute's names. */
#define SMP_TIME_REASON_LIST(X)                                                                                        \
    X(SELECTED, "selected")                                                                                            \
    X(WAIT, "wait")                                                                                                    \
    X(LONG, "long_scoreboard")                                                                                         \
    X(SHORT, "short_scoreboard")                                                                                       \
    X(BARRIER, "barrier")                                                                                              \
    X(MATH, "math_pipe_throttle")                                                                                      \
    X(MIO, "mio_throttle")                                                                                             \
    X(LG, "lg_throttle")                                                                                               \
    X(NOT_SELECTED, "not_selected")                                                                                    \
    X(NO_INSTRUCTION, "no_instruction")                                                                                \
    X(CONSTANT, "imc_miss")                                                                                            \
    X(BRANCH, "branch_resolving")                                                                                      \
    X(DRAIN, "drain")                                                                                                  \
    X(DISPATCH, "dispatch_stall")
typedef enum smp_time_reason {
#define X(name, text) SMP_TIME_##name,
    SMP_TIME_REASON_LIST(X)
#undef X
        SMP_TIME_REASONS
} smp_time_reason;
extern const char *const smp_time_reason_names[];

/* Resources that can bound a launch. Use is a share of its peak, 0..1. */
#define SMP_TIME_RESOURCE_LIST(X)                                                                                      \
    X(ISSUE, "issue")                                                                                                  \
    X(FMA_PIPE, "FMA pipe")                                                                                            \
    X(HEAVY_PIPE, "FMA heavy pipe")                                                                                    \
    X(ALU_PIPE, "ALU pipe")                                                                                            \
    X(FP64_PIPE, "FP64 pipe")                                                                                          \
    X(SPECIAL_PIPE, "special function pipe")                                                                           \
    X(TENSOR_PIPE, "tensor pipe")                                                                                      \
    X(SHARED_MEMORY, "shared memory and L1")                                                                           \
    X(L2, "L2")                                                                                                        \
    X(ATOMICS, "atomics in one place")                                                                                 \
    X(CONSTANTS, "replays of constants")                                                                               \
    X(DRAM, "DRAM")                                                                                                    \
    X(BLOCKS, "launch of blocks")
typedef enum smp_time_resource {
#define X(name, text) SMP_TIME_##name,
    SMP_TIME_RESOURCE_LIST(X)
#undef X
        SMP_TIME_RESOURCES
} smp_time_resource;
extern const char *const smp_time_resource_names[];

/* A source line or an instruction. */
enum { SMP_PREDICTED_TEXT = 80 };
typedef struct smp_predicted_line {
    uint32_t file, line, place;       /* place: the instruction's number, or UINT32_MAX */
    uint32_t for_file, for_line;      /* of the stores that ended warps drain; line 0: none do */
    double share;                     /* of the warps' time */
    double reasons[SMP_TIME_REASONS]; /* of the line's time; sums to 1 */
    char text[SMP_PREDICTED_TEXT];    /* an instruction's SASS; else "" */
} smp_predicted_line;

/* Times of the launch with one thing made free. */
enum { SMP_PREDICTED_PRICES = 12 };
typedef struct smp_predicted_price {
    char what[24];
    double us;
} smp_predicted_price;

/* Time that the launch would save if a row of the lab's table (smp_warp_row) cost what it needs alone, or, of a bank
 * conflict, what the lab's advice leaves of it. */
enum { SMP_PREDICTED_MENDS = 8 };
typedef struct smp_predicted_mend {
    uint32_t file, line, place, width;
    uint8_t space, op;
    double us;
} smp_predicted_mend;

/* Time of the same instructions with so many blocks on an SM at a time: then a thread has so many registers at most, a
 * block so many bytes of shared memory. */
enum { SMP_PREDICTED_FITS = 8 };
typedef struct smp_predicted_fit {
    uint32_t blocks, registers, shared;
    double us;
} smp_predicted_fit;

typedef struct smp_predicted {
    uint32_t order;                                /* among the program's launches */
    char gpu[12];                                  /* "h100" */
    char refusal[160];                             /* why it is not modelled; then nothing else is told */
    char left_out[120];                            /* what its time does not have: "what printf takes"; "": nothing */
    double clock_ghz, cycles, us, low_us, high_us; /* low and high: nine of ten measured times lie between */
    char bound[24];
    double use[SMP_TIME_RESOURCES];
    uint32_t resident, simulated;                    /* blocks on an SM at a time; that were simulated */
    double occupancy, waves, tail;                   /* tail: the part of the time in which the last wave runs alone */
    double launch_share;                             /* of the time */
    double dram_read, dram_write, l2_read, l2_write; /* bytes */
    double l1_read;                                  /* bytes of sectors that are looked for in L1 */
    double l1_hit, l2_hit;                           /* of sectors, 0..1 */
    double imbalance;                                /* the busiest SM beside the one simulated, by instructions */
    double reasons[SMP_TIME_REASONS];
    smp_predicted_line *lines, *instructions; /* lines: with --each instructions, too */
    size_t line_count, line_capacity, instruction_count, instruction_capacity;
    smp_predicted_price prices[SMP_PREDICTED_PRICES];
    size_t price_count;
    smp_predicted_mend mends[SMP_PREDICTED_MENDS];
    size_t mend_count;
    smp_predicted_fit fits[SMP_PREDICTED_FITS]; /* by blocks */
    size_t fit_count;
} smp_predicted;

/* The first launches of one kernel and shape. */
typedef struct smp_predictions {
    smp_predicted *items;
    size_t count, capacity;
} smp_predictions;

void smp_predictions_free(smp_predictions *predictions); /* null is allowed */
/* Moves what `more` has. False: no memory. */
bool smp_predictions_add(smp_predictions *sum, smp_predictions *more);
