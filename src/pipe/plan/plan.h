/* The typed plan: a program bound to an input's shape and the outputs' shapes. Pure. Decides
 *   insertions    conversions, premultiplication around neighbourhood stages, light, orientation;
 *   storage       integers between steps where that cannot change the result (smp_exactness), else f32;
 *   phases        a step comes in the phase after every step whose whole output it needs; a step whose output a later
 *                 phase needs keeps a full frame, every other step a window of rows;
 *   windows       the rows above and below that consumers need;
 *   joined steps  on request, neighbours that compute each sample from that sample alone become one step. */
#pragma once

#include "pipe/program.h"
#include "stages/row_map.h"

enum { SMP_STEP_NONE = -1 };

typedef enum smp_step_job {
    SMP_JOB_SOURCE, /* rows of the input, or of a file that the program names */
    SMP_JOB_STAGE,  /* stage->variants compute output rows */
    SMP_JOB_REDUCE  /* stage->variants (REDUCE) or ->reducers (ADJUST) add to the result; the output is the input */
} smp_step_job;

/* One of several steps that were joined. */
typedef struct smp_part {
    const smp_stage *stage;
    void *params; /* owned */
    int node;     /* as of a step */
    char label[96];
} smp_part;

typedef struct smp_step {
    smp_step_job job;
    const smp_stage *stage;       /* null: a source */
    const smp_operand_file *file; /* SOURCE: the program's; null: the pipeline's input */
    int node;                     /* of the program, or SMP_NODE_NONE when the planner inserted it */
    int input, second;            /* first and second input: earlier steps, or SMP_STEP_NONE */
    int reduced_by;               /* ADJUST apply: its JOB_REDUCE step; else SMP_STEP_NONE */
    char label[96];
    void *params; /* stage parameter struct; owned */
    smp_node_plan work;
    smp_shape in, out;
    smp_format storage; /* of the output samples in memory: out.format or SMP_F32 */
    int phase;
    bool frame;         /* the whole output is kept */
    bool whole_input;   /* needs all of its input before it starts */
    bool whole_second;  /* the same of its second input */
    double strip_share; /* rows of its output for each row of a strip, which counts rows of what the phase ends in */
    smp_row_map reads;  /* the rows of its input that an output row wants; unless whole_input */
    smp_row_map reads_second;   /* the same of its second input; unless whole_second */
    bool premultiplied, linear; /* the state of the output's values */
    smp_part *parts;            /* of a joined step: the steps it replaces, in order; owned */
    size_t part_count;
} smp_step;

typedef struct smp_sink {
    int step;         /* the step whose picture goes to this file, stored in out.format */
    int save;         /* index into program->saves, or -1: the pipeline's output */
    const char *path; /* owned by the caller or program */
    smp_shape shape;  /* as smp_writer_shape gave it */
    smp_shape rows;   /* of the rows that the writer gets: the shape, or bytes of a coded scan */
    bool coded;       /* the latter */
    bool drops_bits;  /* it holds 8 bits a sample, and the picture came and would leave with 16 */
    double dpi;       /* its resolution; 0: as the input says */
    double was_rate;  /* a sound's, Hz, which the file cannot have: it is resampled; 0: it is not */
    /* It holds 8 bits a sample, and code values of 16 number something: components. */
    bool drops_numbers;
    bool drops_alpha; /* the file cannot hold the alpha of the step: colour is laid on black */
} smp_sink;

typedef struct smp_plan {
    smp_step *steps; /* in topological order; [0] is the source */
    size_t step_count, step_capacity;
    smp_sink *sinks;
    size_t sink_count, sink_capacity;
    int phases;
    char *drawn; /* what random values came to, a line a stage: "warp angle=-9.63deg"; null: nothing is drawn */
    int prepass; /* the node that must see its input before the plan can go on: nothing is written; or SMP_NODE_NONE */
    int64_t row_multiple; /* strips begin at multiples of this many rows (a power of two) */
} smp_plan;

/* Returns the shape that a file of that name can hold: smp_writer_shape, or a test's own. Null path: memory, which
 * holds any shape. */
typedef smp_code smp_accepts(void *context, const char *path, const smp_shape *shape, smp_shape *out, smp_error *err);

/* Whether the plan's last step should code what goes to a file of that name, and how: smp_jpeg_scan_serves. */
struct smp_jpeg_params;
typedef bool smp_codes(void *context, const char *path, const smp_shape *shape, struct smp_jpeg_params *params);

/* The shape and EXIF orientation of a file that the program names, from its header. shape->icc is from smp_alloc, and
 * the planner frees it. */
typedef smp_code smp_probe(void *context, const smp_operand_file *file, smp_shape *shape, int *orientation,
                           smp_error *err);

/* Findings of a prepass for a node (smp_measurements.found). */
typedef struct smp_seen {
    int node;
    void *data;
    size_t size; /* bytes */
} smp_seen;

typedef struct smp_plan_request {
    const smp_program *program;
    smp_shape input;
    smp_shape scan;     /* the input's rows, where they are a coded scan (smp_media.scan); else its kind is none */
    int across, down;   /* the same: pixels that share a sample of chroma */
    int orientation;    /* EXIF, applied first */
    double dpi;         /* the input's resolution; 0: unknown */
    smp_draw draw;      /* what random values are drawn for */
    const char *output; /* path of the main output; null: none is written (measure, explain) */
    smp_accepts *accepts;
    void *accepts_context;
    smp_codes *codes; /* null: writers code */
    void *codes_context;
    smp_probe *probe; /* null: programs that name files cannot be planned */
    void *probe_context;
    bool plain_storage;    /* keep every edge in f32 (tests) */
    bool fuse;             /* join neighbouring steps where that does not change the result */
    bool open_end;         /* the input's height is more than any, and will be set: see length.h */
    bool shapes;           /* the plan is made to see shapes, and not run: stages make no tables */
    const smp_seen *found; /* by plans that were made before; the caller's */
    size_t found_count;
} smp_plan_request;

/* *out is null on failure. Mistakes that belong to a place in the text also become diagnostics. */
smp_code smp_plan_make(const smp_plan_request *request, smp_diags *diags, smp_plan **out, smp_error *err);
void smp_plan_free(smp_plan *plan);

/* Arithmetic operations that the stages take for a picture of that shape, as smp_node_plan.ops counts them; 0: it
 * cannot be planned alone. output: a path, or null. */
double smp_program_operations(const smp_program *program, const smp_shape *shape, const char *output);

/* Whether two plans of one program, for a sound and for a longer one, compute the same rows as far as the shorter
 * reaches, and each from rows that precede its end by no more than a reach: then rows may be computed before the length
 * is known. The plans have one phase. */
bool smp_plans_agree(const smp_plan *shorter, const smp_plan *longer);

/* Gives all steps and sinks the heights that follow from so many frames of the input. *failed: the step that cannot
 * have them, of which nothing may be left; else SMP_STEP_NONE. *differs: the first step that would compute its rows in
 * another way had the length been known, or SMP_STEP_NONE. */
smp_code smp_plan_set_length(smp_plan *plan, int64_t frames, int *differs, int *failed, smp_error *err);
