/* The executor: streams strips of rows of a file through a plan on a device and into a file. Decoding strip k+1,
 * computing strip k and encoding strip k-1 overlap. Frames are kept only where the plan says.
 *
 * Whose memory is a row in? From file to file it passes through these, in this order:
 *   slot       a few rows in host memory, in the ring between a codec's thread and the computing thread (stream.h)
 *   endpoint   where a run takes rows from or puts them: a stream's slots, or a whole picture in memory (runner.h)
 *   window     the rows of a step's output that later steps still read, in device memory; it moves down the picture
 *              (smp_window in schedule.h)
 *   frame      a window as high as the picture, for a step whose whole output is read in a later phase
 *   scratch    the f32 picture between the launches of one variant (smp_step_scratch in step.h)
 *   step state what one step owns or borrows while it runs: its window or frame, and where in it the next row goes
 *              (strips.c)
 * Where host and device share memory, rows are not copied between slot and window (zero copy). The step state then has
 * no memory of its own and borrows an endpoint's: a source borrows the slot that holds the strip
 * (smp_source_by_strips), and the last step before a sink writes into the sink's slot (smp_zero_copy_sink). The
 * endpoint lends rows for one strip only. */
#pragma once

#include "device/device.h"
#include "io/media.h"
#include "pipe/plan/plan.h"
#include "run/result.h"

#define SMP_GPU_JPEG (UINT64_C(1) << 20) /* below, a processor is as quick */

typedef struct smp_run_cache smp_run_cache;

/* Runs plans of JPEGs that are still coded elsewhere, many together (run/together.h). Called from several threads. */
typedef struct smp_run_elsewhere {
    bool (*wants)(void *context, const char *output); /* this file, if its plan serves */
    /* Takes over the plan, and reads the rows of its source (smp_run_rows). *taken false: the file is run here. */
    smp_code (*take)(void *context, const char *output, smp_plan *plan, smp_reader *reader, bool *taken,
                     smp_error *err);
    void *context;
} smp_run_elsewhere;

/* Reads all rows of a plan's source to memory that the caller frees (smp_free), smp_row_stride apart. */
smp_code smp_run_rows(smp_reader *reader, const smp_plan *plan, void **rows, size_t *bytes, smp_error *err);

typedef struct smp_run_request {
    const smp_program *program;
    smp_diags *diags;         /* warnings, and failures that belong to a place in the text */
    const char *input;        /* path, or "-" */
    const char *const *stack; /* several files in its place, as smp_reader_open_stack; null: it is one */
    const char *output;       /* path, "-", or null: nothing is written (measure) */
    smp_read_options read;    /* the executor fills in `want` */
    bool fast_decode;         /* pictures that are scaled down may be decoded smaller */
    uint64_t gpu_jpeg;        /* pixels from which on a GPU decodes and codes JPEGs too; 0: never */
    smp_write_options write;  /* the executor fills in `inputs` */
    smp_device *device;       /* opened by the caller, stays open */
    smp_draw draw;            /* what the pipeline's random values are drawn for (pipe/draw.h) */
    const char *variant;      /* for every stage that has it; null: each stage's default */
    int64_t strip_rows;       /* rows of a strip; 0: chosen by size. The bytes of the output do not depend on it */
    bool plain_storage;       /* keep f32 between all stages (tests) */
    bool no_fuse;             /* no steps are joined; implied by the variant naive, which is the definition */
    const smp_run_elsewhere *elsewhere; /* null: there is no such place */
    /* Called between strips with the rows done and all rows; may be null. A code other than SMP_OK stops the run. */
    smp_code (*progress)(void *context, int64_t done, int64_t total);
    void *progress_context;
    smp_run_cache *cache;    /* keeps plans and memory for the next file, and runs small pictures whole in the calling
                                thread: for many files with several threads. Null: nothing is kept */
    const char *save_prefix; /* put before the names of files that the pipeline saves, so that those of several inputs
                                differ; may be null */
    bool shapes;             /* plans are made to see shapes, and not run */
    bool partials;           /* the report gets the partial results of reductions, which can be merged over files */
} smp_run_request;

/* A cache serves one thread. Requests that share it may differ only in input, output and how it is read. */
smp_code smp_run_cache_open(smp_run_cache **out, smp_error *err);
void smp_run_cache_clear(smp_run_cache *cache); /* frees what it keeps; it stays usable */
void smp_run_cache_close(smp_run_cache *cache); /* before its device is closed; null is allowed */

/* Runs one file. *report is filled also on failure, as far as the run got; the caller frees it. After a failure there
 * is no output, and a file that was there before is untouched. */
smp_code smp_run_file(const smp_run_request *request, smp_run_report *report, smp_error *err);

/* Runs every picture of an input that holds many, one after another, as read.frames asks for. Outputs are files that
 * can hold many too, or have a number in their names ("%03d", from 1 on). When the input ends in the middle of a
 * picture, or is damaged, those before it are written all the same, and the failure is returned. each (may be null)
 * is called after every picture with what was found in it. *report has the sums. */
typedef void smp_run_each(void *context, int64_t number, smp_run_report *report);
smp_code smp_run_frames(const smp_run_request *request, smp_run_each *each, void *context, smp_run_report *report,
                        smp_error *err);

/* The path of a file that the pipeline saves as `name`: beside the output, with the prefix (may be null) before its
 * last component. *out is from smp_alloc. */
smp_code smp_save_path(const char *output, const char *prefix, const char *name, char **out, smp_error *err);

/* Whether the planner joins steps for this request. */
bool smp_run_fuses(const smp_run_request *request);

/* Plans without running, for explain. Reads only the header of the input, but for a stage whose output's size depends
 * on samples. */
smp_code smp_plan_file(const smp_run_request *request, smp_plan **out, smp_error *err);

/* Runs a plan over a picture in memory: for tests, compare and benchmarks. in: the whole picture. out: the whole
 * picture, allocated by the caller with the shape of the plan's only sink; data may be null when the plan has no sink.
 * Measurements and times go to report. */
smp_code smp_run_memory(const smp_plan *plan, smp_device *device, const char *variant, int64_t strip_rows,
                        const smp_view *in, const smp_view *out, smp_run_report *report, smp_error *err);

typedef struct smp_plans {
    smp_plan **list;
    size_t count, capacity;
} smp_plans;

void smp_plans_free(smp_plans *plans);

/* The plan for a picture in memory, with prepasses on `device` where a stage wants them. request->found is
 * filled in. plans: takes those of prepasses, in order, for smp_plans_free; may be null. */
smp_code smp_plan_memory(smp_plan_request *request, smp_diags *diags, smp_device *device, const smp_view *in,
                         smp_plans *plans, smp_plan **out, smp_error *err);

/* The strip height that a run uses for a plan on a device. wanted: 0 for the default. */
int64_t smp_strip_rows(const smp_plan *plan, const smp_device *device, int64_t wanted);
