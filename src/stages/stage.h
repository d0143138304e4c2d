/* A stage is declared once: src/stages/NAME.c holds one const smp_stage, stage_list.def has one line naming it, and
 * kernels/FAMILY.{h,c,cu} hold its arithmetic. Help, validation, reference, completion, tests and benchmarks are all
 * made from the descriptor. */
#ifndef SMP_STAGES_STAGE_H
#define SMP_STAGES_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/pack.h"
#include "lib/cpu_kernel.h"
#include "lib/sample_op.h"
#include "lib/view.h"

struct smp_foreign;

/* ------------------------------------------------------------------------------------------------ parameters */

typedef enum smp_type {
    SMP_T_FLOAT,  /* field: double, in the default unit */
    SMP_T_INT,    /* field: int64_t */
    SMP_T_BOOL,   /* field: bool; yes or no */
    SMP_T_ENUM,   /* field: int, the index into choices */
    SMP_T_STRING, /* field: const char *, owned by the program */
    SMP_T_MATRIX, /* field: smp_matrix, `[a b; c d]`; a list is a matrix of one row */
    SMP_T_OPERAND /* field: smp_operand: a picture, `@tap` or "file.png", or a number */
} smp_type;

/* What a number measures. A bare number has the default unit, which is the first of each list. */
typedef enum smp_unit {
    SMP_UNIT_NONE,     /* plain number */
    SMP_UNIT_FRACTION, /* 0..1 of full scale, or % */
    SMP_UNIT_PX,       /* px */
    SMP_UNIT_HZ,       /* Hz, kHz */
    SMP_UNIT_S,        /* s, ms */
    SMP_UNIT_DB,       /* dB, dBFS, dBTP, LUFS, LU */
    SMP_UNIT_DEG,      /* deg */
    SMP_UNIT_BIT,      /* bit */
    SMP_UNIT_CODE      /* cv: code values, 0..255 of 8 bits; only where a fraction of full scale is wanted */
} smp_unit;

typedef struct smp_matrix {
    int rows, cols;
    const double *values; /* row by row; owned by the program */
} smp_matrix;

typedef struct smp_operand {
    bool is_tap;      /* the picture is the node's second input */
    const char *file; /* of a picture that comes from a file: as it was written; owned by the program */
    double value;     /* else this number, as a fraction of full scale */
} smp_operand;

enum {
    SMP_P_MAIN = 1,         /* may be given without its name; at most one a stage */
    SMP_P_REQUIRED = 2,     /* has no default */
    SMP_P_AUTO = 4,         /* a number that also takes the word `auto`, stored as NaN (INT: INT64_MIN) */
    SMP_P_ODD = 8,          /* INT: must be odd */
    SMP_P_POSITIVE = 16,    /* the minimum itself is excluded */
    SMP_P_LEVEL = 64,       /* a level of full scale: a bare number beyond 2 is a code value by mistake */
    SMP_P_PICTURE = 32,     /* OPERAND: no number */
    SMP_P_WEIGHTS = 128,    /* OPERAND: weights or alpha, which `light linear` leaves as they are */
    SMP_P_FACTOR = 512,     /* FLOAT: a factor; a bare number of 10 or more is a percentage or a size by mistake */
    SMP_P_OF_WIDTH = 1024,  /* INT, px: also a percentage of the input's width */
    SMP_P_OF_HEIGHT = 2048, /* and of its height */
    SMP_P_RATE = 8192,      /* FLOAT, Hz: of samples; a bare number below 1000 is meant in kHz */
    SMP_P_SOUND = 16384,    /* OPERAND, with SMP_P_PICTURE: it is a sound */
    SMP_P_FILE = 4096,      /* STRING: a file, relative to the text that names it */
    SMP_P_LOUDNESS = 32768, /* FLOAT, dB: a loudness, the only one that is in LUFS */
    SMP_P_ANYSIZE = 256     /* OPERAND: a picture of any size; all of it is there when the stage begins */
};

typedef struct smp_param {
    const char *name;
    size_t offset; /* of the field in the stage's parameter struct */
    smp_type type;
    smp_unit unit;
    double min, max;      /* inclusive; for matrices, of each element; equal: unbounded */
    const char *fallback; /* the default, as it would be written in a pipe file; null: required, or a null string */
    const char *help;     /* one line */
    const char *const *choices; /* SMP_T_ENUM: null-terminated words */
    unsigned flags;
} smp_param;

/* ------------------------------------------------------------------------------------------------ planning */

typedef enum smp_kind { SMP_KIND_NONE = 0, SMP_IMAGE = 1, SMP_AUDIO = 2, SMP_BOTH = 3 } smp_kind;

/* What flows between two stages. */
typedef struct smp_shape {
    smp_kind kind;
    int64_t width, height; /* px; sound: width 1, height frames */
    int channels;
    bool alpha;        /* the last channel is alpha (never with sound) */
    smp_format format; /* the nominal format: what a file of this data would hold */
    double rate;       /* Hz; 0 for pictures */
    uint32_t speakers; /* sound: the channels' places, as bits of WAV's dwChannelMask; 0: the usual ones */
    const void *icc;   /* its colour profile; null: none is known. Lives while plans are made, and no longer */
    size_t icc_size;   /* bytes */
    double curve;      /* of a picture's values: linear light is value^curve; or SMP_CURVE_SRGB, SMP_CURVE_OTHER */
} smp_shape;

#define SMP_CURVE_SRGB  0.0  /* IEC 61966-2-1, also where nothing is known */
#define SMP_CURVE_OTHER -1.0 /* one that is neither; taken for sRGB, with a warning */

/* Full scale in code values: 255, 65535 or 1. */
static inline float smp_white(smp_format format)
{
    return format == SMP_U8 ? 255.f : format == SMP_U16 ? 65535.f : 1.f;
}

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
    SMP_RESULT_CHUNKS_COUNTS /* both: records, and from plan.counts_at on, counts. A launch works on one:
                                smp_result_part */
} smp_result_kind;

enum { SMP_KERNEL_PARAMS = 2048 }; /* bytes: the largest kernel parameter struct */
enum { SMP_MAX_LAUNCHES = 9 };     /* of a variant */
enum { SMP_ROW_MAP_MOST = 1 << 30 };

/* What plan() works out for one node; zeroed before the call. */
typedef struct smp_node_plan {
    smp_shape out;                        /* preset to the input's shape */
    int64_t reach_up, reach_down;         /* stencil: rows needed above and below the input row of an output row */
    int64_t rows_num, rows_den, rows_add; /* stencil: that row is floor((2r + 1) * num / (2 * den)) + add for output row
                                             r, where the height changes; den 0: 1/1. See row_map.h */
    int64_t row_unit; /* output rows that are computed together: whatever reads them, every launch begins at a multiple
                         of it, and ends at one or with the picture. A power of two; 0: any. Kept by run/schedule.c,
                         checked by smp_step_launch() */
    bool whole;       /* needs its whole input all the same (a wrapping border, say) */
    bool nothing;     /* with these parameters the stage changes nothing: the planner leaves it out and warns */
    bool probing;     /* preset: the call only asks about shapes and exactness: no table is needed */
    char remark[120]; /* what the user must be told of the parameters, with this input; empty: nothing */
    bool already;     /* with `nothing`: because this input already is what the stage makes; no warning then */
    smp_access
        access; /* preset to the stage's; may be lowered to SMP_POINT when parameters make the reduction needless */
    smp_exactness exactness; /* preset to SMP_REAL */
    bool needs_height;       /* kernels look at the picture's height for rows that are no reach from its end */
    bool linear;             /* preset: the samples are in linear light */
    bool swaps_axes;         /* rows become columns */
    bool makes_srgb;         /* the colours come out as sRGB, whatever profile the input had */
    double dpi;              /* pixels an inch that the file says; 0: as before */
    bool stored;             /* reads and writes samples as files hold them: integers are never kept as floats */
    bool no_light;           /* the result is no light (alpha as a picture): `light linear` does not encode it again */
    bool clips;              /* results can lie outside 0..white, so that clamping them is worth counting */
    bool doubts;             /* kernels count in io->clipped what they cannot decide: the result is then not used, and
                                the input read in another way */
    smp_sample_op op; /* of a kind where a sample's result depends on that sample alone, and this operation makes it */
    _Alignas(16) unsigned char kernel[SMP_KERNEL_PARAMS]; /* the kernel parameter struct */
    size_t kernel_size;
    void *table;       /* device constants, from smp_alloc; the plan's. Null: finish() gets it, zeroed, to fill in */
    size_t table_size; /* bytes */
    const struct smp_variant *variants; /* instead of the stage's, where it works in two ways; null: the stage's */
    bool second_own;                    /* the second input has rows of its own: output row r reads its row */
    int64_t second_add;                 /* r + second_add, and nothing where that is outside */
    const struct smp_variant *reducers; /* preset to the stage's; ADJUST may measure in another way by its parameters */
    smp_shape between; /* the scratch picture (smp_place) where it is not the usual one: width, height, channels,
                          format; height 0: the usual one */
    smp_result_kind result;
    size_t result_size; /* bytes */
    size_t counts_at;   /* SMP_RESULT_CHUNKS_COUNTS: where the counts begin, bytes, a multiple of 64 */
    size_t second_at;   /* where that of launches from SMP_SECOND begins, bytes, a multiple of 64 */
    size_t more_at;     /* SMP_RESULT_CHUNKS: where a uint64_t says how many bytes from the beginning of the scratch
                           picture finish() and partial() find behind the result: what has no size that is known
                           before. Then nothing else of the result is there. 0: there is none. Where a device has no
                           memory for the scratch picture, launches get it with null data, and do without */
    size_t table_at;    /* with more_at: where in the scratch picture the table is then, which finish() does not make.
                           0: finish() makes it */
    double ops;         /* arithmetic operations an output sample, for the roofline (an fma counts 2) */
    int threads;        /* preset for finish() and partial(): that they may take; 0 is 1 */
    char outside[160];  /* by finish(): why samples outside the bins make its outcome wrong; empty: it is right */
    int32_t row_pieces; /* stencil: the table has so many smp_row_piece, which say the input row instead of rows_num */
    /* The shape of the output depends on what the input holds. plan() then sets `looks` and access SMP_ADJUST: the plan
     * ends with the reduction, whose finish() fills in findings->found, and is made again with that. */
    bool looks;
    const void *found; /* preset; null: nothing is known yet */
    size_t found_size; /* bytes */
} smp_node_plan;

/* For plan(): the kernel parameters are a copy of these, or are this zeroed struct, to be filled in. */
static inline void smp_plan_kernel(smp_node_plan *plan, const void *params, size_t size)
{
    memcpy(plan->kernel, params, size);
    plan->kernel_size = size;
}
#define SMP_PLAN_KERNEL(plan, type) ((plan)->kernel_size = sizeof(type), (type *)(void *)(plan)->kernel)
enum { SMP_FINDING_TEXT = 24 /* bytes, with the end */ };

/* One measured value of a reduction, for the report. */
typedef struct smp_finding {
    char name[48];               /* "mean", "p95" */
    int channel;                 /* -1: of the whole picture */
    double value;                /* when list is null; NaN where there is a text */
    char text[SMP_FINDING_TEXT]; /* what no number can say (64 bits as hexadecimal digits); empty: a number */
    double *list;                /* a histogram's counts, say; from smp_alloc, owned by the findings */
    size_t list_len;
    bool values; /* the list is no histogram: each of its values counts by itself */
} smp_finding;

typedef struct smp_findings {
    smp_finding *items;
    size_t count, capacity;
    char warning[400]; /* what the user must be told of the result; empty: nothing */
    void *found;       /* smp_node_plan.looks: for the second plan(); from smp_alloc, owned by the findings */
    size_t found_size; /* bytes */
} smp_findings;

smp_code smp_findings_add(smp_findings *findings, const char *name, int channel, double value, smp_error *err);
smp_code smp_findings_add_list(smp_findings *findings, const char *name, int channel, const double *list, size_t length,
                               smp_error *err);
/* The same for values that are no counts of bins. */
smp_code smp_findings_add_values(smp_findings *findings, const char *name, const double *list, size_t length,
                                 smp_error *err);
/* A text of printable characters, shorter than SMP_FINDING_TEXT, of the whole picture. */
smp_code smp_findings_add_text(smp_findings *findings, const char *name, const char *text, smp_error *err);
void smp_findings_free(smp_findings *findings);

/* ------------------------------------------------------------------------------------------------ variants */

/* Where a launch reads and writes. The scratch picture has the input's rows, the output's width and channels, and f32
 * samples; or the shape that the plan says (smp_node_plan.between), all rows of it for every launch. SMP_SECOND: a
 * reduction's second picture, SMP_P_ANYSIZE, in place of the input; such a launch is `once`. From SMP_OUT: a launch
 * over the scratch picture that asks what of the output is made. */
typedef enum smp_place { SMP_IN, SMP_OUT, SMP_SCRATCH, SMP_SECOND } smp_place;

typedef struct smp_grid {
    unsigned grid[3], block[3];
    unsigned shared_bytes; /* dynamic shared memory */
    unsigned units;        /* set before a geometry is asked, 0 where no device is known: the device's SMs */
    unsigned shared_most;  /* the same: bytes of shared memory that a block may have */
    unsigned blocks_most;  /* the same: blocks that a grid may have in y and z; 0: SMP_GRID_MOST */
    smp_strips strips;     /* for smp_io, from geometries whose kernels read it */
} smp_grid;

/* The commonest grid: blocks over tiles of the output. Kernels stride by the grid where it has fewer blocks than there
 * are tiles (GPUs count to 65535 in y). */
typedef struct smp_tiles {
    int across, down;     /* of a tile: samples (pixels times channels), rows; across 0: there are no tiles */
    int block_x, block_y; /* threads of a block */
} smp_tiles;

/* Grid, block and dynamic shared memory for these views; params is the kernel parameter struct. */
typedef void smp_geometry_fn(const smp_io *io, const void *params, smp_grid *grid);

/* For a launch whose GPU kernel depends on the work: fills the grid and returns the kernel's name, without formats.
 * Null: this variant does not serve the work, and the one before it in the list runs instead. Looks at formats,
 * channels, parameters and where rows begin, so that all strips of a run, which begin alike, have the same kernel. */
typedef const char *smp_decide_fn(const smp_io *io, const void *params, smp_grid *grid);
#define SMP_NO_KERNEL "" /* in place of a name: the work needs no such launch, and none is made */

/* How a launch says which GPU kernel it is, and over which grid: with `decide`; or with the name `cuda` and one of
 * `tiles`, `geometry`, and neither, which is smp_geometry_samples (stages/shared/launch_shapes.h). */
typedef struct smp_launch {
    smp_place from, to;
    smp_cpu_kernel cpu;
    const char *cuda; /* name of the GPU kernel; formats are appended: NAME_u8_f32 (in, out) */
    smp_geometry_fn *geometry;
    bool counts; /* of a variant with launches for both kinds of result: this one adds to the counts */
    smp_tiles tiles;
    smp_decide_fn *decide;
    bool once; /* of a stage that needs its whole input and has `between`, or from SMP_SECOND: runs before the first
                  strip alone */
    bool last; /* of a reduction with `between`: runs once all rows are through the launches before it, from the first
                  on, and not where only some of a picture's rows are launched */
    /* CPU: how many things threads share out, where it is not the rows that the launch writes; the kernel gets numbers
     * of things in place of rows. May be null. */
    int64_t (*items)(const smp_io *io, const void *params);
    const struct smp_foreign *foreign; /* a kernel that is not this program's, instead of all that (foreign.h) */
} smp_launch;

/* The commonest launches, from the input to the output by the kernels NAME of a CPU and of GPUs: a thread a sample;
 * over the grid that follows the name; and, where the GPU's kernel has another name, with .cuda or .decide behind it.
 */
#define SMP_LAUNCH_SAMPLES(name)                                                                                       \
    {                                                                                                                  \
        .from = SMP_IN, .to = SMP_OUT, .cpu = SMP_CPU(name), .cuda = #name                                             \
    }
#define SMP_LAUNCH(name, ...)                                                                                          \
    {                                                                                                                  \
        .from = SMP_IN, .to = SMP_OUT, .cpu = SMP_CPU(name), .cuda = #name, __VA_ARGS__                                \
    }
#define SMP_LAUNCH_AS(name, ...)                                                                                       \
    {                                                                                                                  \
        .from = SMP_IN, .to = SMP_OUT, .cpu = SMP_CPU(name), __VA_ARGS__                                               \
    }

/* Whether a launch runs on this kind of device: one that has a kernel for one kind only is passed over on the other, so
 * that a variant may be one launch on a CPU and two on a GPU. */
static inline bool smp_launch_runs(const smp_launch *launch, bool gpu)
{
    return launch->foreign || (gpu ? launch->cuda || launch->decide : launch->cpu.fn[0] != NULL);
}

/* The part of a reduction's result that a launch works on: bytes `at` .. `at + size` of the whole, where io->result
 * points; *counts says that it is added to (SMP_RESULT_COUNTS). False: the launch is left out, its part was not asked
 * for. */
static inline bool smp_result_part(const smp_node_plan *plan, const smp_launch *launch, size_t *at, size_t *size,
                                   bool *counts)
{
    bool both = plan->result == SMP_RESULT_CHUNKS_COUNTS;
    *at = launch->from == SMP_SECOND ? plan->second_at : both && launch->counts ? plan->counts_at : 0;
    *size = both && !launch->counts ? plan->counts_at : plan->result_size - *at;
    *counts = launch->counts;
    return !(plan->result == (launch->counts ? SMP_RESULT_CHUNKS : SMP_RESULT_COUNTS));
}

/* A rung of a stage's ladder. One name means the same in every stage: kernels/README.md has the list.
 * On a CPU, rungs for GPUs are the same as tiled. A GPU runs the rung below where one does not serve the work: see
 * smp_decide_fn. */
typedef struct smp_variant {
    const char *name;
    const char *help;                      /* one line: what it changes and what that costs */
    smp_launch launches[SMP_MAX_LAUNCHES]; /* in order; see smp_launch_runs */
    /* Bytes of scratch memory a CPU thread needs for one call; null: none. */
    size_t (*scratch)(const smp_io *io, const void *params);
    int64_t band; /* CPU: rows a thread takes are a multiple of this (0: any) */
} smp_variant;

/* ------------------------------------------------------------------------------------------------ the stage */

/* Stages that the planner inserts by what they do, never by name. */
typedef enum smp_role {
    SMP_ROLE_NONE,
    SMP_ROLE_CONVERT,     /* changes storage and full scale: smp_convert_params */
    SMP_ROLE_PREMULTIPLY, /* colour times alpha */
    SMP_ROLE_STRAIGHT,    /* colour divided by alpha */
    SMP_ROLE_LINEAR,      /* encoded values to linear light: smp_light_params */
    SMP_ROLE_ENCODED,     /* back */
    SMP_ROLE_ORIENT,      /* EXIF orientation 1..8: smp_orient_params */
    SMP_ROLE_JPEG,        /* the coded scan of a JPEG to its picture: smp_jpeg_source */
    SMP_ROLE_OP_CHAIN,    /* several operations on single samples: the planner gives it an smp_op_chain as kernel
                             parameters */
    SMP_ROLE_JPEG_ENCODE, /* a picture to a JPEG's scan: smp_jpeg_params (stages/shared/jpeg_params.h) */
    SMP_ROLE_RATE,        /* another sample rate: smp_rate_params */
    SMP_ROLES
} smp_role;

/* The first field of the parameter structs of stages with these roles, so that the planner can fill them. */
typedef struct smp_convert_params {
    int format; /* an smp_format */
} smp_convert_params;
typedef struct smp_orient_params {
    int64_t orientation; /* as EXIF: 1..8 */
} smp_orient_params;
typedef struct smp_light_params { /* SMP_ROLE_LINEAR, SMP_ROLE_ENCODED */
    double curve;                 /* as in smp_shape; 0: sRGB */
} smp_light_params;

typedef struct smp_rate_params {
    double rate; /* Hz */
} smp_rate_params;

typedef struct smp_jpeg_source {
    int64_t width, height, channels; /* of the picture */
    int64_t across, down;            /* pixels that share a sample of chroma */
} smp_jpeg_source;

enum { SMP_INSTEAD = 120 }; /* bytes: the text of smp_stage.instead */

/* What other tools call something: for did-you-mean. Names have blanks between them; `say` is the text to suggest. Rows
 * end with one of zeros. */
typedef struct smp_alias {
    const char *names, *say;
} smp_alias;

/* One name after the other: for (smp_other_name other = smp_other_names(stage); smp_next_name(&other);) */
typedef struct smp_other_name {
    const smp_alias *row;
    const char *rest, *say;
    char name[48];
} smp_other_name;

typedef struct smp_stage {
    const char *name;
    const char *help;    /* one line */
    const char *about;   /* paragraphs for the reference: definition, formula, source; may be null */
    const char *example; /* one statement that works, for help and tests: "gaussian 2px edge=mirror" */
    smp_kind domain;
    bool internal; /* the planner inserts it; hidden from listings but allowed */
    smp_role role;
    smp_access access;
    bool foreign;       /* its kernels are those of a file that the pipeline names (foreign.h): nothing of what it
                           computes is known here */
    bool rescales;      /* gives about the same picture from a smaller copy of its input, where it gives that size */
    bool neighbourhood; /* colour must be premultiplied where there is alpha */
    bool encoded;       /* works on encoded values alone: an error under `light linear` */
    bool same_level;    /* a sound is as loud as before, though its samples have other values */
    bool keeps_alpha;   /* point stages: alpha passes through untouched (the kernel does that; see smp_view.alpha) */
    const smp_param *params; /* ends with a null name; may be null */
    size_t params_size;      /* bytes of the parameter struct */
    /* What single parameters cannot say and no input changes ("the band ends below its beginning"): asked when a
     * pipeline is read, and again when parameters depended on the input. Null: any parameters will do. */
    smp_code (*check)(const void *params, smp_error *err);
    /* Works out shape, reach and kernel parameters for an input (and `by`, null without a tap). Also checks what
     * depends on it. params: the struct described by the table. Null: shape unchanged, no kernel parameters. */
    smp_code (*plan)(const void *params, const smp_shape *in, const smp_shape *by, smp_node_plan *plan, smp_error *err);
    /* Reductions: turns the merged result into findings (REDUCE) and, for ADJUST, into the table for the apply pass:
     * may write plan->table (allocated by plan() with its final size) and plan->kernel. result: plan->result_size
     * bytes. */
    smp_code (*finish)(const void *params, const smp_shape *in, const void *result, smp_node_plan *plan,
                       smp_findings *findings, smp_error *err);
    const smp_variant *variants; /* ends with a null name; [0] is naive, the definition; the last is the default */
    const smp_variant *reducers; /* ADJUST: the variants of its reduction, which plan() may replace; null otherwise.
                                    REDUCE uses variants */
    const smp_alias *aliases;    /* ends with null names; may be null */
    /* What to write instead of a value that the main parameter refuses, "write 270". False: nothing comes to mind. May
     * be null. */
    bool (*instead)(const char *value, char *text, size_t size);
    const char *order; /* names of parameters in the order in which other tools write their values; may be null */
    /* What the files of kernels that it names say of its parameters, before there is an input. SMP_E_DEVICE: a compiler
     * is missing. Null: nothing. */
    smp_code (*examine)(const void *params, smp_error *err);
    /* Whether plan() may set `looks` with these parameters; null: never. A pipe is then kept, to be read twice. */
    bool (*looks)(const void *params);
    /* For a picture of bytes whose end may be empty: the rows to copy from a device, at least one, by the first of
     * them. Null: all. */
    int64_t (*filled_rows)(const void *first, const smp_shape *out);
    const char *tells_level; /* the finding that says how loud a sound is, in LUFS; may be null */
    smp_kind gives;          /* the output's kind where it is another than the input's (a spectrogram); else none */
    /* REDUCE: what finish() reads off a result, in a form that adds up over files: null where it cannot. A partial is
     * one block from smp_alloc that stands by itself. report(partial(result)) adds the findings that finish(result)
     * does. Merging partials in any order and grouping gives the same: equal bytes of pack().
     */
    smp_code (*partial)(const void *params, const smp_shape *in, const smp_node_plan *plan, const void *result,
                        void **out, smp_error *err);
    /* Adds `more` to *total, which it may replace. *alike false, and nothing done: they do not measure the same. */
    smp_code (*merge)(void **total, const void *more, bool *alike, smp_error *err);
    smp_code (*report)(const void *partial, smp_findings *findings, smp_error *err);
    /* A partial as bytes that every machine reads, and back; needed where there is a partial. Kind, format, channels
     * and alpha are the caller's to keep, and are in `in`. The bytes may be anybody's: what cannot be marks `from` as
     * failed (base/pack.h); *out is then to be freed all the same, and not used. An error is one of memory alone. */
    void (*pack)(const void *partial, smp_packer *to);
    smp_code (*unpack)(const smp_shape *in, smp_unpacker *from, void **out, smp_error *err);
} smp_stage;

/* ------------------------------------------------------------------------------------------------ the list */

size_t smp_stage_count(void);
const smp_stage *smp_stage_at(size_t index);
const smp_stage *smp_stage_find(const char *name, size_t length);
const smp_stage *smp_stage_with_role(smp_role role);
/* What to write for a name of another program's; null: the rows have it not. */
const char *smp_alias_of(const smp_alias *rows, const char *name, size_t length);
smp_other_name smp_other_names(const smp_stage *stage);
bool smp_next_name(smp_other_name *other); /* false: there is none left */
size_t smp_variant_count(const smp_variant *variants);
const smp_variant *smp_variant_find(const smp_variant *variants, const char *name);

/* "2 to 1000 px", "yes or no": what a parameter accepts, into text. */
void smp_param_domain(const smp_param *param, char *text, size_t size);
const char *smp_unit_name(smp_unit unit);
const char *smp_format_name(smp_format format);

/* "u8x3 451x300", with " in f32" when storage differs from the shape's format. */
void smp_shape_text(const smp_shape *shape, smp_format storage, char *text, size_t size);

/* Shared by stages with an edge parameter: the words in the order of smp_edge. */
extern const char *const smp_edge_names[];

#endif
