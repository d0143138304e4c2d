/* A pipeline text, parsed and bound to stages: a list of nodes in the order written. Pure: it reads files only through
 * the loader, and knows pictures only by their shapes. */
#pragma once

#include "base/error.h"
#include "base/os/beneath.h"
#include "base/text/diag.h"
#include "pipe/draw.h"
#include "stages/origins/origin.h"

enum {
    SMP_NODE_INPUT = -1, /* the pipeline's input */
    SMP_NODE_NONE = -2,  /* no second input */
    SMP_NODE_FILE = -3   /* of files: SMP_NODE_FILE - index into smp_program.files */
};

typedef enum smp_light { SMP_LIGHT_ENCODED, SMP_LIGHT_LINEAR } smp_light;

typedef struct smp_argument smp_argument; /* a parameter's value: constant, or an expression of the input's shape */

typedef struct smp_node {
    const smp_stage *stage;
    int input;  /* an earlier node, SMP_NODE_INPUT, or a file (see SMP_NODE_FILE) */
    int second; /* the second input: an earlier node, SMP_NODE_INPUT, a file (see SMP_NODE_FILE), or SMP_NODE_NONE */
    smp_light light; /* the `light` in force */
    smp_span span;   /* the stage's name in the source */
    bool prepass;    /* it may have to see its input before the plan is complete (smp_reduction_ops.prepass) */
    char *label;     /* the statement as written, white space folded: for reports */
    char *name;      /* of a REDUCE stage: its name= parameter, which names its measurements, or null */
    smp_argument *arguments;
    size_t argument_count;
    smp_argument *chance; /* of its probability=, or null; */
    uint32_t chance_draw; /* the place of the draw that decides */
} smp_node;

typedef struct smp_save { /* save "thumb.png" */
    int node;
    char *path;
    smp_span span;
} smp_save;

typedef struct smp_operand_file { /* with="weights.npy" */
    const char *path; /* relative to the working directory; the text's own paths are relative to its folder */
    smp_span span;
    int source;          /* the text that the path was written in: of a parameter's value, where that was given */
    bool foreign;        /* of kernels (stages/foreign.h), no picture */
    const char *setting; /* the parameter whose default it is, which --set would give; null: none */
    smp_beneath beneath; /* where it must lie; no name: anywhere, and path leads there */
} smp_operand_file;

typedef struct smp_public_param { /* a `param` statement, for help */
    char *name, *text, *help;     /* text: the value in force, as written */
    smp_span span;
} smp_public_param;

typedef struct smp_program {
    smp_kind kind;            /* as declared; SMP_KIND_NONE: the input decides */
    const smp_origin *origin; /* that makes the input; null: it is read */
    void *made_params;        /* of the origin, */
    const char *made_label;   /* and its statement as written */
    smp_node *nodes;
    size_t node_count, node_capacity;
    int output; /* the node whose picture is the result, or SMP_NODE_INPUT for an empty pipeline */
    smp_save *saves;
    size_t save_count, save_capacity;
    smp_operand_file *files; /* second inputs that are files; each path once */
    size_t file_count, file_capacity;
    smp_roots roots; /* what files lie beneath */
    smp_public_param *params;
    size_t param_count, param_capacity;
    uint32_t draws; /* places of draws (draw.h); 0: all files are done alike */
    void *owned;    /* everything else that the program owns */
} smp_program;

/* Reads a file for `include`, a path relative to the including file: *text from smp_alloc, null-terminated. */
typedef smp_code smp_loader(void *context, const char *including, const char *path, char **text, size_t *length,
                            smp_error *err);

typedef struct smp_setting {
    const char *name, *value;
} smp_setting; /* --set name=value */

/* Context of a pipeline's text (smp_diags.around), for suggestions. */
typedef struct smp_surroundings {
    const char *const *pipelines; /* names of those that are installed; may be null */
    size_t pipeline_count;
    bool (*is_option)(const char *name);  /* whether the command line has it; may be null */
    bool (*is_command)(const char *name); /* the same for commands */
    smp_kind input;                       /* what is read, by its name; none: not known */
    const char *lines_name;               /* the source of smp_program_parse_lines; null: "-e" */
} smp_surroundings;

/* Parses text. Every mistake becomes a diagnostic. On an error *out is null and the result is SMP_E_PIPE. diags keeps
 * the sources, so that failures of a run can point at them. Without a loader (null), include is an error. */
smp_code smp_program_parse(const char *name, const char *text, size_t length, const smp_setting *settings,
                           size_t setting_count, smp_loader *loader, void *context, smp_diags *diags, smp_program **out,
                           smp_error *err);

/* The same for `-e STAGE`, each on a line of its own (source name: smp_surroundings.lines_name). */
smp_code smp_program_parse_lines(const char *const *lines, size_t count, const smp_setting *settings,
                                 size_t setting_count, smp_loader *loader, void *context, smp_diags *diags,
                                 smp_program **out, smp_error *err);

/* A pipeline in which nothing is measured is a mistake (SMP_E_PIPE) where measurements alone are wanted. */
smp_code smp_program_measures(const smp_program *program, smp_error *err);

void smp_program_free(smp_program *program);

/* Lets stages open what they need (smp_stage.prepare), and asks the files of kernels that they name whether they have
 * what is written there (smp_stage.examine). Mistakes become diagnostics; with `lenient`, a compiler that is missing is
 * a warning. Parameters that depend on the input wait for the plan. */
smp_code smp_program_examine(const smp_program *program, bool lenient, smp_diags *diags, smp_error *err);

/* Whether the language has a statement of this name that is no stage: param, include, save. */
bool smp_is_statement(const char *name);

/* Fills params (stage->params_size bytes) for an input of this shape: defaults, constants, expressions of width,
 * height, channels and rate, what is drawn for `draw` (null: for its zeros). Mistakes (a value out of range, for
 * example) become diagnostics too. The program owns what pointers in params point at. */
smp_code smp_node_params(const smp_program *program, const smp_node *node, const smp_shape *in, const smp_draw *draw,
                         smp_diags *diags, void *params, smp_error *err);

/* Whether one of its parameters is drawn. */
bool smp_node_draws(const smp_node *node);
/* "angle=-9.63deg": those of them, as params_text.c shows values. From smp_alloc. */
char *smp_node_drawn_text(const smp_node *node, const void *params);

/* Whether the node's probability= leaves it out for this draw (null: its zeros). */
smp_code smp_node_is_left_out(const smp_node *node, const smp_shape *in, const smp_draw *draw, smp_diags *diags,
                              bool *left, smp_error *err);

/* The same from defaults alone, for stages that the planner inserts. Required fields stay zero. */
smp_code smp_default_params(const smp_stage *stage, void *params, smp_error *err);

/* Makes lengths in px smaller by a factor, for an input that was made so: what the program gives for it is about a
 * smaller copy of what it gave. False: a stage looks at pixels as such, at another file, or at sizes by arithmetic. */
bool smp_program_shrink(smp_program *program, double by);

/* "sigma=2px edge=clamp truncate=4": the parameters as explain shows them. From smp_alloc. */
char *smp_params_text(const smp_stage *stage, const void *params);

/* Finds errors that hold for every input: types of known kinds, ranges. Also warns of unused taps. Called by parse. */
