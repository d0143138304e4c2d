/* The plan of a stage for one input, made before any sample is read: shape, rows, values, kernel parameters, result. */
#pragma once

#include <string.h>

#include "lib/sample_op.h"
#include "media/shape.h"
#include "stages/launch.h"

typedef enum smp_access {
    SMP_POINT,   /* reads the same pixel */
    SMP_STENCIL, /* reads `reach` rows above and below */
    SMP_WHOLE,   /* reads anything: its input is materialised */
    SMP_REDUCE,  /* reads everything, passes data on unchanged, keeps results */
    SMP_ADJUST   /* reduces its input first, then works point by point with what was found (equalize, auto levels) */
} smp_access;

/* How a stage's output values relate to its input values: decides where the planner may keep integers between stages.
 */
typedef enum smp_exactness {
    SMP_REAL,    /* computes: integer storage only where the last rounding happens */
    SMP_INTEGER, /* integer code values in range in, integer code values in range out */
    SMP_MOVE     /* only moves samples: rounding may happen before or after it */
} smp_exactness;

typedef enum smp_result_kind {
    SMP_RESULT_NONE,
    SMP_RESULT_COUNTS,       /* an array of uint64_t that kernels add to; threads have their own, added at the end */
    SMP_RESULT_CHUNKS,       /* an array of records, one (per channel) a chunk; each is written whole, by one thread */
    SMP_RESULT_CHUNKS_COUNTS /* both: records, and from reduction.counts_at on, counts. A launch works on one:
                                smp_result_part */
} smp_result_kind;

enum { SMP_KERNEL_PARAMS = 2048 }; /* bytes: the largest kernel parameter struct */
enum { SMP_ROW_MAP_MOST = 1 << 30 };

/* The rows of its input that a stencil's output rows want, and in which units rows are made. */
typedef struct smp_row_need {
    int64_t up, down;      /* rows needed above and below the input row of an output row */
    int64_t num, den, add; /* that row is floor((2r + 1) * num / (2 * den)) + add for output row r, where the height
                              changes; den 0: 1/1. See row_map.h */
    int32_t spans;         /* the table has so many smp_row_span, which say the input row instead of num; 0: none */
    int64_t unit; /* output rows that are computed together: whatever reads them, every launch begins at a multiple of
                     it, and ends at one or with the picture. A power of two; 0: any. Kept by run/strips/schedule.c,
                     checked by smp_step_launch() */
    bool whole;   /* needs its whole input all the same (a wrapping border, say) */
    bool needs_height;  /* kernels look at the picture's height for rows that are no reach from its end */
    bool second_own;    /* the second input has rows of its own: output row r reads its row */
    int64_t second_add; /* r + second_add, and nothing where that is outside */
} smp_row_need;

/* How the output's values relate to the input's. */
typedef struct smp_value_rule {
    smp_exactness exactness; /* preset to SMP_REAL */
    bool linear;             /* preset: the samples are in linear light */
    bool stored;             /* reads and writes samples as files hold them: integers are never kept as floats */
    bool no_light;           /* the result is no light (alpha as a picture): `light linear` does not encode it again */
    bool clips;              /* results can lie outside 0..white, so that clamping them is worth counting */
    bool undecided;          /* kernels count in io->clipped what they cannot decide: the result is then not used, and
                                the input read in another way */
    smp_sample_op op; /* of a kind where a sample's result depends on that sample alone, and this operation makes it */
} smp_value_rule;

/* Whether the stage does anything with these parameters and this input. */
typedef struct smp_effect {
    bool none;        /* it changes nothing: the planner leaves it out and warns */
    bool already;     /* with `none`: because this input already is what the stage makes; no warning then */
    char remark[120]; /* what the user must be told of the parameters, with this input; empty: nothing */
} smp_effect;

/* Changes to what a file says of its picture. */
typedef struct smp_file_change {
    bool swaps_axes; /* rows become columns */
    bool makes_srgb; /* the colours come out as sRGB, whatever profile the input had */
    double dpi;      /* pixels an inch that the file says; preset to what it was; 0: unknown */
} smp_file_change;

enum { SMP_FIT_INSIDE, SMP_FIT_COVER, SMP_FIT_STRETCH };

/* The size of a picture, as SMP_ROLE_SIZE takes it. */
typedef struct smp_size_params {
    int64_t width, height; /* INT64_MIN: as the other and the picture's ratio say */
    int fit;               /* with both, one of SMP_FIT_ */
} smp_size_params;

/* What becomes of the second input before the stage gets it; zeros: nothing. A plan() that sets any is called again
 * with the second input so. */
typedef struct smp_second_wish {
    smp_size_params size; /* of a picture */
    double rate;          /* of a sound, Hz */
    int channels;         /* of a sound: 1 or 2 */
} smp_second_wish;

typedef struct smp_kernel_params {
    _Alignas(16) unsigned char bytes[SMP_KERNEL_PARAMS]; /* the kernel parameter struct */
    size_t size;
} smp_kernel_params;

typedef struct smp_table {
    void *data;  /* device constants, from smp_alloc; the plan's. Null: finish() gets it, zeroed, to fill in */
    size_t size; /* bytes */
} smp_table;

/* Layout of a reduction's result, in bytes. */
typedef struct smp_reduction_layout {
    const struct smp_variant *reducers; /* preset to the stage's; ADJUST may measure in another way by its parameters */
    smp_result_kind kind;
    size_t size;
    size_t counts_at;  /* SMP_RESULT_CHUNKS_COUNTS: where the counts begin, a multiple of 64 */
    size_t second_at;  /* where that of launches from SMP_SECOND begins, a multiple of 64 */
    size_t more_at;    /* SMP_RESULT_CHUNKS: where a uint64_t says how many bytes from the beginning of the scratch
                          picture finish() and make() find behind the result: what has no size that is known before.
                          Then nothing else of the result is there. 0: there is none. Where a device has no memory for
                          the scratch picture, launches get it with null data, and do without */
    size_t table_at;   /* with more_at: where in the scratch picture the table is then, which finish() does not make.
                          0: finish() makes it */
    int threads;       /* preset for finish() and make(): that they may take; 0 is 1 */
    char outside[160]; /* by finish(): why samples outside the bins make its outcome wrong; empty: it is right */
} smp_reduction_layout;

/* The shape of the output depends on what the input holds. plan() then sets `wanted` and access SMP_ADJUST: the plan
 * ends with the reduction, whose finish() fills in measurements->found, and is made again with that. */
typedef struct smp_prepass {
    bool wanted;
    const void *found; /* preset; null: nothing is known yet */
    size_t found_size; /* bytes */
} smp_prepass;

/* Result of plan() for one node; zeroed before the call. */
typedef struct smp_node_plan {
    smp_shape out;     /* preset to the input's shape */
    smp_access access; /* preset to the stage's; may be lowered to SMP_POINT when parameters make the reduction
                          needless */
    bool probing;      /* preset: the call only asks about shapes and exactness: no table is needed */
    smp_effect effect;
    smp_second_wish second;
    smp_row_need rows;
    smp_value_rule values;
    smp_file_change change;
    const struct smp_variant *variants; /* instead of the stage's, where it works in two ways; null: the stage's */
    smp_kernel_params kernel;
    smp_table table;
    smp_shape between; /* the scratch picture (smp_place) where it is not the usual one: width, height, channels,
                          format; height 0: the usual one */
    double ops;        /* arithmetic operations an output sample, for the roofline (an fma counts 2) */
    smp_reduction_layout reduction;
    smp_prepass prepass;
    char drawn[96]; /* what it drew by its seed, as its parameters would say it: "x=3px y=7px"; empty: nothing */
} smp_node_plan;

/* For plan(): the kernel parameters are a copy of these, or are this zeroed struct, to be filled in. */
static inline void smp_plan_kernel(smp_node_plan *plan, const void *params, size_t size)
{
    memcpy(plan->kernel.bytes, params, size);
    plan->kernel.size = size;
}
#define SMP_PLAN_KERNEL(plan, type) ((plan)->kernel.size = sizeof(type), (type *)(void *)(plan)->kernel.bytes)

/* The part of a reduction's result that a launch works on: bytes `at` .. `at + size` of the whole, where io->result
 * points; *counts says that it is added to (SMP_RESULT_COUNTS). False: the launch is left out, its part was not asked
 * for. */
static inline bool smp_result_part(const smp_reduction_layout *of, const smp_launch *launch, size_t *at, size_t *size,
                                   bool *counts)
{
    bool both = of->kind == SMP_RESULT_CHUNKS_COUNTS;
    *at = launch->from == SMP_SECOND ? of->second_at : both && launch->counts ? of->counts_at : 0;
    *size = both && !launch->counts ? of->counts_at : of->size - *at;
    *counts = launch->counts;
    return !(of->kind == (launch->counts ? SMP_RESULT_CHUNKS : SMP_RESULT_COUNTS));
}
