/* A stage is declared once: src/stages/NAME.c holds one const smp_stage, stage_list.def has one line naming it, and
 * kernels/FAMILY.{h,c,cu} hold its arithmetic. Help, validation, reference, completion, tests and benchmarks are all
 * made from the descriptor. */
#pragma once

#include <string.h>

#include "base/error.h"
#include "base/pack.h"
#include "stages/measurements.h"
#include "stages/node_plan.h"
#include "stages/param.h"

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
    SMP_ROLE_JPEG_ENCODE, /* a picture to a JPEG's scan: smp_jpeg_params (media/jpeg_params.h) */
    SMP_ROLE_RATE,        /* another sample rate: smp_rate_params */
    SMP_ROLE_SIZE,        /* another size: smp_size_params (node_plan.h) */
    SMP_ROLE_CHANNELS,    /* another number of channels: smp_channels_params */
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

typedef struct smp_channels_params {
    int mode; /* 0: one channel, 1: two */
} smp_channels_params;

typedef struct smp_jpeg_source {
    int64_t width, height, channels; /* of the picture */
    int64_t across, down;            /* pixels that share a sample of chroma */
} smp_jpeg_source;

/* Traits of a stage: bits of smp_stage.traits. */
enum {
    SMP_TRAIT_INTERNAL = 1,      /* the planner inserts it; hidden from listings but allowed */
    SMP_TRAIT_RESCALES = 2,      /* gives about the same picture from a smaller copy of its input, where it gives that
                                    size */
    SMP_TRAIT_NEIGHBOURHOOD = 4, /* colour must be premultiplied where there is alpha */
    SMP_TRAIT_ENCODED = 8,       /* works on encoded values alone: an error under `light linear` */
    SMP_TRAIT_SAME_LEVEL = 16,   /* a sound is as loud as before, though its samples have other values */
    SMP_TRAIT_KEEPS_ALPHA = 32,  /* point stages: alpha passes through untouched (the kernel does that; see
                                    smp_view.alpha) */
    SMP_TRAIT_GIVES_IMAGE = 64,  /* makes a picture of a sound (a spectrogram) */
    SMP_TRAIT_GIVES_SOUND = 128, /* and back */
    SMP_TRAIT_PIXELS = 256,      /* image stages: what it gives for a smaller copy of its input, its lengths in px made
                                    smaller alike, is no smaller copy of what it gives for the input */
    SMP_TRAIT_CUTS = 512         /* gives rows of its input from rows.add on, as they are; unless it has rows.spans */
};

/* REDUCE: what finish() reads off a result, in a form that adds up over files. A partial is one block from smp_alloc
 * that stands by itself. report(make(result)) adds the measurements that finish(result) does. Merging partials in any
 * order and grouping gives the same: equal bytes of pack(). */
typedef struct smp_partial_ops {
    smp_code (*make)(const void *params, const smp_shape *in, const smp_node_plan *plan, const void *result, void **out,
                     smp_error *err);
    /* Adds `more` to *total, which it may replace. *alike false, and nothing done: they do not measure the same. */
    smp_code (*merge)(void **total, const void *more, bool *alike, smp_error *err);
    smp_code (*report)(const void *partial, smp_measurements *measurements, smp_error *err);
    /* A partial as bytes that every machine reads, and back. Kind, format, channels and alpha are the caller's to keep,
     * and are in `in`. The bytes may be anybody's: what cannot be marks `from` as failed (base/pack.h); *out is then to
     * be freed all the same, and not used. An error is one of memory alone. */
    void (*pack)(const void *partial, smp_packer *to);
    smp_code (*unpack)(const smp_shape *in, smp_unpacker *from, void **out, smp_error *err);
} smp_partial_ops;
#define SMP_PARTIALS(...)                                                                                              \
    &(const smp_partial_ops)                                                                                           \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

/* Operations of stages that measure: REDUCE, ADJUST, and those whose plan() may make them such. */
typedef struct smp_reduction_ops {
    /* Turns the merged result into measurements (REDUCE) and, for ADJUST, into the table for the apply pass: may write
     * plan->table (allocated by plan() with its final size) and plan->kernel. result: plan->reduction.size bytes. */
    smp_code (*finish)(const void *params, const smp_shape *in, const void *result, smp_node_plan *plan,
                       smp_measurements *measurements, smp_error *err);
    const smp_variant *reducers; /* ADJUST: the variants of its reduction, which plan() may replace; null otherwise.
                                    REDUCE uses variants */
    /* Whether plan() may want a prepass with these parameters; null: never. A pipe is then kept, to be read twice. */
    bool (*prepass)(const void *params);
    const smp_partial_ops *partials; /* null: its measurements do not add up over files */
    const char *level;               /* the measurement that says how loud a sound is, in LUFS; may be null */
} smp_reduction_ops;
#define SMP_REDUCTION(...)                                                                                             \
    &(const smp_reduction_ops)                                                                                         \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

enum { SMP_INSTEAD = 120 }; /* bytes: the text of smp_hints.instead */

/* Values that stand without names, as other programs write them: `800x600`. */
typedef struct smp_form {
    /* The values, with blanks between them. $A is a number, with a unit if it ends its value, @A a word or #rrggbb, *A
     * all that is left of its value, any other text itself. */
    const char *values;
    const char *means; /* the same by names, "width=$A height=$B"; null: it could be read in two ways, or is wrong, */
    const char *say;   /* and this is what to write instead, "write longest=$A" */
    smp_kind given;    /* only of this; none: of whatever the stage is given */
} smp_form;

/* For those who write what another program calls something. */
typedef struct smp_hints {
    const smp_alias *aliases; /* ends with null names; may be null */
    const smp_form *forms;    /* the first that fits counts; ends with null values; may be null */
    /* Suggests what to write instead of a value that the main parameter refuses, "write 270". False: no suggestion. May
     * be null. */
    bool (*instead)(const char *value, char *text, size_t size);
} smp_hints;
#define SMP_HINTS(...)                                                                                                 \
    &(const smp_hints)                                                                                                 \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }
#define SMP_ALIASES(...) ((const smp_alias[]){__VA_ARGS__, {0}})
#define SMP_MEANS(how, names)                                                                                          \
    {                                                                                                                  \
        .values = how, .means = names                                                                                  \
    }
#define SMP_FORMS(...) ((const smp_form[]){__VA_ARGS__, {0}})

/* The fields of a table of parameters and of the struct that it describes. */
#define SMP_PARAMS(table, type) .params = (table), .params_size = sizeof(type)

/* Fields of smp_stage that most stages fill in alike: what they work on, how they read it, their parameters, variants,
 * and a function `plan` above; and hints that are names of other programs alone. */
#define SMP_PLANNED(kind, reads, table, type, rungs)                                                                   \
    .domain = (kind), .access = (reads), SMP_PARAMS(table, type), .plan = plan, .variants = (rungs)
#define SMP_ALSO(...) .hints = SMP_HINTS(.aliases = SMP_ALIASES(__VA_ARGS__))

typedef struct smp_stage {
    const char *name;
    const char *help;    /* one line */
    const char *about;   /* paragraphs for the reference: definition, formula, source; may be null */
    const char *example; /* one statement that works, for help and tests: "gaussian 2px edge=mirror" */
    smp_kind domain;
    unsigned traits; /* SMP_TRAIT_* */
    smp_role role;
    smp_access access;
    const smp_param *params; /* ends with a null name; may be null */
    size_t params_size;      /* bytes of the parameter struct */
    /* Checks parameters against each other, whatever the input ("the band ends below its beginning"). Called when a
     * pipeline is read, and again if parameters depended on the input. Null: all combinations are valid. */
    smp_code (*check)(const void *params, smp_error *err);
    /* Works out shape, reach and kernel parameters for an input (and `by`, null without a tap). Also checks what
     * depends on it. params: the struct described by the table. Null: shape unchanged, no kernel parameters. */
    smp_code (*plan)(const void *params, const smp_shape *in, const smp_shape *by, smp_node_plan *plan, smp_error *err);
    const smp_variant *variants; /* ends with a null name; [0] is naive, the definition; the last is the default */
    const smp_reduction_ops *reduction; /* null: it measures nothing */
    const smp_hints *hints;             /* may be null */
    /* The kernels are those of a file that the pipeline names (foreign.h), and nothing of what they compute is known
     * here: what that file says of the parameters, before there is an input. SMP_E_DEVICE: a compiler is missing. Null:
     * the kernels are the program's own. */
    smp_code (*examine)(const void *params, smp_error *err);
    /* Opens what plan() needs besides the input, while the program can still open files; parameters that depend on the
     * input are zero. May be null. */
    smp_code (*prepare)(const void *params, smp_error *err);
} smp_stage;

static inline bool smp_stage_is(const smp_stage *stage, unsigned trait)
{
    return stage->traits & trait;
}

/* The output's kind where it is another than the input's; else none. */
static inline smp_kind smp_stage_gives(const smp_stage *stage)
{
    return smp_stage_is(stage, SMP_TRAIT_GIVES_IMAGE)   ? SMP_IMAGE
           : smp_stage_is(stage, SMP_TRAIT_GIVES_SOUND) ? SMP_AUDIO
                                                        : SMP_KIND_NONE;
}

/* smp_hints.instead, where there is one. */
bool smp_stage_instead(const smp_stage *stage, const char *value, char *text, size_t size);

/* These may be null, as in smp_reduction_ops. */
static inline const smp_variant *smp_stage_reducers(const smp_stage *stage)
{
    return stage->reduction ? stage->reduction->reducers : NULL;
}

static inline const smp_partial_ops *smp_stage_partials(const smp_stage *stage)
{
    return stage->reduction ? stage->reduction->partials : NULL;
}

/* ------------------------------------------------------------------------------------------------ the list */

size_t smp_stage_count(void);
const smp_stage *smp_stage_at(size_t index);
const smp_stage *smp_stage_find(const char *name, size_t length);
const smp_stage *smp_stage_with_role(smp_role role);
