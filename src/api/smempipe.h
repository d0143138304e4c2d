/* libsmempipe: pipelines of stages (blur, resize, levels, loudness, ...) over pictures and sound. C11, C++ and every
 * language that can call C. Programs include <smempipe.h> and link by `pkg-config --cflags --libs smempipe`.
 *
 *     smempipe_pipeline *pipeline;
 *     smempipe_error *error;
 *     if (smempipe_compile("gaussian 2px", NULL, &pipeline, &error))
 *         puts(smempipe_error_text(error));
 *
 * Shapes and units. A picture is rows of pixels, the first row at the top; a pixel is 1 to 8 channels, one after
 * another (interleaved); rows are `stride` bytes apart. A sound is a picture one pixel wide: a row is a frame, a
 * channel a loudspeaker. Samples are in the machine's byte order: 0..255 (u8), 0..65535 (u16), or float where a
 * picture's full scale is 0..1 and a sound's -1..1. Sizes are in pixels and frames, strides in bytes, times in seconds,
 * rates in Hz.
 *
 * Errors. A function that can fail returns 0 (SMEMPIPE_OK) or a code, and then sets *error, which the caller frees with
 * smempipe_error_free; `error` may be null. On success *error is null. On failure every other out-parameter is null or
 * zero, no file is left behind, and what a buffer for results holds is undefined.
 *
 * Ownership. What a function makes is the caller's to free with the function of its type. Texts of const char * belong
 * to the object that they were asked of and live as long; texts of char * are freed with smempipe_free. Arguments are
 * copied, or used during the call only. All free functions take null.
 *
 * Threads. The library has no state of its own but what is made once and not changed: threads may call it at the same
 * time. A pipeline, a plan and a result may be used by several threads at once. A device does one run at a time: a
 * second thread waits, so threads that are to run side by side have a device each. An object is freed by one thread
 * when no other uses it. Results are the same bytes for any number of threads, any device and any height of strips.
 *
 * Safety. Files are decoded in the caller's process. The command `smempipe` decodes in processes that may open and
 * write nothing; where files come from strangers, that is the better way. Texts that are compiled with smempipe_compile
 * may name any file (include, with="file.png"); those that smempipe_compile_file reads, files below their own folder.
 *
 * Versions. Functions and fields are added and not changed: a program runs with every later library of the same
 * SOVERSION. Reserved fields are zero. */
#ifndef SMEMPIPE_H
#define SMEMPIPE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SMEMPIPE_MOST_CHANNELS 8

typedef enum smempipe_code {
    SMEMPIPE_OK = 0,
    SMEMPIPE_E_PROCESS = 1,       /* something failed that should not have */
    SMEMPIPE_E_MEMORY = 2,        /* out of memory */
    SMEMPIPE_E_ARGUMENT = 3,      /* the caller's mistake: a shape that does not fit, an unknown device, a null */
    SMEMPIPE_E_PIPELINE = 4,      /* a mistake in a pipeline's text; the problems have its places */
    SMEMPIPE_E_READ = 5,          /* an input cannot be opened or read */
    SMEMPIPE_E_DECODE = 6,        /* an input is damaged, truncated or in no known format */
    SMEMPIPE_E_WRITE = 7,         /* an output cannot be written */
    SMEMPIPE_E_DEVICE = 8,        /* there is no such device, or it failed */
    SMEMPIPE_E_DEVICE_MEMORY = 9, /* the device has too little memory */
    SMEMPIPE_E_LIMIT = 10,        /* a limit refused the input */
    SMEMPIPE_E_STOPPED = 11       /* a callback said so */
} smempipe_code;

typedef struct smempipe_error smempipe_error;
typedef struct smempipe_pipeline smempipe_pipeline;
typedef struct smempipe_plan smempipe_plan;
typedef struct smempipe_device smempipe_device;
typedef struct smempipe_result smempipe_result;

/* "1.2.3" */
const char *smempipe_version(void);

/* Frees texts (char *) and pictures (smempipe_buffer.data) that the library made. */
void smempipe_free(void *memory);

/* ------------------------------------------------------------------------------------------------ errors */

/* One mistake and its place. Texts are the error's. */
typedef struct smempipe_problem {
    const char *message; /* "unknown parameter 'sigam' for stage 'gaussian'" */
    const char *hint;    /* what to do: "did you mean 'sigma'?"; null: nothing is known */
    const char *note;    /* what else helps: "gaussian takes: sigma, edge, truncate"; may be null */
    const char *file;    /* what it is in: a path, "<text>" (smempipe_compile), "<settings>", or null */
    int line, column;    /* from 1, the column in characters; 0: there is no place */
    int warning;         /* 1: the pipeline can be used all the same */
    void *reserved[4];
} smempipe_problem;

smempipe_code smempipe_error_code(const smempipe_error *error);

/* Everything, as the command smempipe shows it: lines that end with a newline, the mistakes with their places, the
 * lines of the text, carets. */
const char *smempipe_error_text(const smempipe_error *error);

/* The mistakes one by one; at least one. index counts from 0. Returns 0, or SMEMPIPE_E_ARGUMENT past the last. */
size_t smempipe_error_count(const smempipe_error *error);
smempipe_code smempipe_error_get(const smempipe_error *error, size_t index, smempipe_problem *problem);
void smempipe_error_free(smempipe_error *error);

/* ------------------------------------------------------------------------------------------------ pipelines */

/* Compiles a text: a statement a line, as in pipe files (`smempipe help language`). settings: names and values of the
 * text's parameters in turn, ended by a null ("paper", "50px", NULL); may be null. Relative paths in the text are
 * relative to the working directory. Errors: E_PIPELINE with all mistakes, E_MEMORY. */
smempipe_code smempipe_compile(const char *text, const char *const *settings, smempipe_pipeline **pipeline,
                               smempipe_error **error);

/* The same for a pipe file. Paths in it are relative to its folder, and may not lead out of that. */
smempipe_code smempipe_compile_file(const char *path, const char *const *settings, smempipe_pipeline **pipeline,
                                    smempipe_error **error);

/* Warnings of the compilation, as smempipe_error_text has them; "" where there are none. */
const char *smempipe_pipeline_warnings(const smempipe_pipeline *pipeline);
void smempipe_pipeline_free(smempipe_pipeline *pipeline);

/* ------------------------------------------------------------------------------------------------ devices */

/* name: "cpu", "cuda", "cuda:1", "auto" (a GPU where one can be used, else the CPU), or "simt" (an emulator of a GPU,
 * slow, for tests). threads: of the CPU, with the caller's; 0: one a core. A device starts threads that sleep between
 * runs. Errors: E_ARGUMENT, E_DEVICE, E_DEVICE_MEMORY, E_MEMORY. */
smempipe_code smempipe_device_open(const char *name, int threads, smempipe_device **device, smempipe_error **error);

/* "AMD EPYC ..., x86-64-v4" */
const char *smempipe_device_name(const smempipe_device *device);
void smempipe_device_close(smempipe_device *device);

/* Memory of a device, for buffers with on_device = 1; zeroed. Errors: E_ARGUMENT (the CPU has none of its own),
 * E_DEVICE_MEMORY, E_DEVICE. It is released before the device is closed, by the same device. */
smempipe_code smempipe_device_alloc(smempipe_device *device, size_t bytes, void **memory, smempipe_error **error);
void smempipe_device_release(smempipe_device *device, void *memory);

/* ------------------------------------------------------------------------------------------------ buffers */

typedef enum smempipe_kind { SMEMPIPE_PICTURE = 1, SMEMPIPE_SOUND = 2 } smempipe_kind;
typedef enum smempipe_format { SMEMPIPE_U8 = 0, SMEMPIPE_U16 = 1, SMEMPIPE_F32 = 2 } smempipe_format;

typedef struct smempipe_shape {
    int32_t kind;          /* smempipe_kind */
    int32_t format;        /* smempipe_format of the samples */
    int64_t width, height; /* pixels; a sound: 1, and frames */
    int32_t channels;      /* 1 .. SMEMPIPE_MOST_CHANNELS */
    int32_t alpha;         /* 1: the last channel is alpha, not premultiplied */
    double rate;           /* frames a second of a sound; 0 for pictures */
    int64_t reserved[4];
} smempipe_shape;

typedef struct smempipe_buffer {
    smempipe_shape shape;
    void *data;         /* sample 0 of row 0; aligned to the sample's size */
    int64_t stride;     /* bytes from a row to the next, a multiple of the sample's size; 0: rows follow without gaps */
    intptr_t on_device; /* 1: data is memory of the device that runs (its GPU's, whoever allocated it); 0: the host's */
    void *stream; /* on_device: the CUstream that wrote or read the samples, which a run waits for; null: default */
} smempipe_buffer;

/* ------------------------------------------------------------------------------------------------ plans */

/* Plans a pipeline for pictures of one shape: stages joined, storage chosen, the shape of the output known. measure: 1:
 * only what the stages measure is wanted, and there is no output; a pipeline that measures nothing is E_PIPELINE. Where
 * the size of the output depends on samples (trim without a size), E_ARGUMENT: smempipe_run sees the picture and plans
 * by itself. Errors: E_PIPELINE (a stage cannot do this shape, with its place), E_ARGUMENT, E_READ and E_DECODE (of
 * files that the pipeline names). */
smempipe_code smempipe_plan_make(const smempipe_pipeline *pipeline, const smempipe_shape *shape, int measure,
                                 smempipe_plan **plan, smempipe_error **error);

/* The shape of the output; all zero for a plan that only measures. */
smempipe_shape smempipe_plan_output(const smempipe_plan *plan);

/* The steps, a line each: the statement and the type of what it makes, "gaussian sigma=2px  u8x3 640x427 in f32". */
const char *smempipe_plan_text(const smempipe_plan *plan);
void smempipe_plan_free(smempipe_plan *plan);

/* ------------------------------------------------------------------------------------------------ runs */

/* Runs a plan: reads `in`, which has the plan's shape, and writes `out`, whose shape is smempipe_plan_output and whose
 * rows may have any stride. They do not overlap (E_ARGUMENT). Buffers may lie in the device's memory (on_device), each
 * by itself; then nothing is copied to the host, and the results are there when the call returns. out: null for a plan
 * that only measures. result: what the stages measured, and times; may be null. Pipelines that save files run with
 * smempipe_run_file. */
smempipe_code smempipe_plan_run(const smempipe_plan *plan, smempipe_device *device, const smempipe_buffer *in,
                                const smempipe_buffer *out, smempipe_result **result, smempipe_error **error);

/* Plans and runs at once. The library makes the picture of the output: *out gets shape, stride and data, which
 * smempipe_free frees. out: null where only measurements are wanted. `in` is memory of the host. */
smempipe_code smempipe_run(const smempipe_pipeline *pipeline, smempipe_device *device, const smempipe_buffer *in,
                           smempipe_buffer *out, smempipe_result **result, smempipe_error **error);

/* A strip at a time: `read` gives rows y .. y+rows-1 of the input, in order from the first; `write` takes rows of the
 * output. Memory holds some strips of rows. read and write are called in threads of their own, each by one thread at a
 * time. A return other than 0 stops the run with E_STOPPED. write may be null for a plan that only measures. */
typedef int smempipe_read_rows(void *context, void *rows, int64_t stride, int64_t y, int64_t count);
typedef int smempipe_write_rows(void *context, const void *rows, int64_t stride, int64_t y, int64_t count);
smempipe_code smempipe_run_strips(const smempipe_plan *plan, smempipe_device *device, smempipe_read_rows *read,
                                  smempipe_write_rows *write, void *context, smempipe_result **result,
                                  smempipe_error **error);

/* Options of runs over files; zeroed is the default. */
typedef struct smempipe_file_options {
    int32_t force;       /* 1: replace a file that exists */
    int32_t strip;       /* 1: write no metadata (EXIF, colour profile, texts) */
    int32_t quality;     /* of formats that lose: 1..100; 0: the format's default */
    int32_t lossless;    /* 1: of formats that can */
    int64_t page;        /* of a file that holds several, from 1; 0: the first */
    uint64_t max_pixels; /* the most of an input; 0: the default, as of the command */
    uint64_t max_file;   /* bytes, the same */
    /* Called between strips with the strips done and all strips; may be null. A return other than 0 stops the run. */
    int (*progress)(void *context, int64_t done, int64_t all);
    void *context;
    int64_t reserved[8];
} smempipe_file_options;

/* Runs a pipeline from file to file. The input's format is known by its content, the output's by its extension. The
 * output appears whole or not at all; a file that exists is replaced with options->force only. out: null where only
 * measurements are wanted. options and result may be null. Errors: E_READ, E_DECODE, E_WRITE, E_LIMIT, E_PIPELINE. */
smempipe_code smempipe_run_file(const smempipe_pipeline *pipeline, smempipe_device *device, const char *in,
                                const char *out, const smempipe_file_options *options, smempipe_result **result,
                                smempipe_error **error);

/* The shape of a picture or sound in a file, from its header. options may be null. */
smempipe_code smempipe_probe(const char *path, const smempipe_file_options *options, smempipe_shape *shape,
                             smempipe_error **error);

/* ------------------------------------------------------------------------------------------------ measurements */

/* One measured value, or a list of them (a histogram's counts). Texts and lists are the result's. */
typedef struct smempipe_value {
    const char *stage;  /* the statement: "stats" */
    const char *label;  /* its name= parameter; null: none was given */
    const char *name;   /* "mean", "p95", "histogram" */
    int32_t channel;    /* from 0; -1: of the whole picture */
    int32_t line;       /* of the statement in its text; 0: unknown */
    double value;       /* NaN: undefined for this picture; 0 of a list */
    const double *list; /* null: there is one value */
    size_t count;       /* of list */
    const char *text;   /* what no number can say, with value NaN ("8f37..." of hash); null: a number or a list */
    void *reserved[3];
} smempipe_value;

size_t smempipe_result_count(const smempipe_result *result);
smempipe_code smempipe_result_get(const smempipe_result *result, size_t index, smempipe_value *value);

/* The report of the run, as `smempipe run --report` writes it: device, steps with their times, measurements. */
const char *smempipe_result_json(const smempipe_result *result);
void smempipe_result_free(smempipe_result *result);

#ifdef __cplusplus
}
#endif
#endif
