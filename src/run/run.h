/* The executor: streams strips of rows of a file through a plan on a device and into a file. Decoding strip k+1,
 * computing strip k and encoding strip k-1 overlap. Frames are kept only where the plan says. */
#ifndef SMP_RUN_RUN_H
#define SMP_RUN_RUN_H

#include "base/limits.h"
#include "device/device.h"
#include "io/media.h"
#include "pipe/plan.h"
#include "report/report.h"

typedef struct smp_run_cache smp_run_cache;

typedef struct smp_run_request {
    const smp_program *program;
    smp_diags *diags;   /* warnings and failures that belong to a place in the text */
    const char *input;  /* path, or "-" */
    const char *output; /* path, "-", or null: nothing is written (measure) */
    smp_limits limits;
    smp_write_options write; /* inputs is filled in by the executor */
    smp_device *device;      /* opened by the caller, stays open */
    const char *variant;     /* for every stage that has it; null: each stage's default */
    int64_t strip_rows;      /* rows a strip; 0: chosen by size. Bytes of the output do not depend on it */
    bool plain_storage;      /* keep f32 between all stages (tests) */
    bool no_fuse;            /* every stage is a step of its own; so it is with the variant naive, the definition */
    /* Called between strips with rows done of all (may be null); a code other than SMP_OK stops the run. */
    smp_code (*progress)(void *context, int64_t done, int64_t total);
    void *progress_context;
    smp_run_cache *cache;    /* keeps plans and memory for the next file, and runs small pictures whole, in the calling
                                thread alone: for many files, several threads at once. Null: nothing is kept */
    const char *save_prefix; /* put before the names of files that the pipeline saves, so that those of several inputs
                                differ; may be null */
    bool partials;           /* the report gets those of reductions that add up over files */
} smp_run_request;

/* A cache serves one thread, and requests that differ in input, output and limits alone. */
smp_code smp_run_cache_open(smp_run_cache **out, smp_error *err);
void smp_run_cache_clear(smp_run_cache *cache); /* gives up what it keeps; it stays usable */
void smp_run_cache_close(smp_run_cache *cache); /* before its device; null is allowed */

/* Runs one file. *report is filled also on failure (as far as it went); the caller frees it. On failure no output is
 * left and what was there before is untouched. */
smp_code smp_run_file(const smp_run_request *request, smp_run_report *report, smp_error *err);

/* Where a file that the pipeline saves as `name` goes: beside the output, with the prefix (may be null) before its last
 * component. *out from smp_alloc. */
smp_code smp_save_path(const char *output, const char *prefix, const char *name, char **out, smp_error *err);

/* Whether steps are joined for this request. */
bool smp_run_fuses(const smp_run_request *request);

/* Plans without running, for explain: reads the header of input only. */
smp_code smp_plan_file(const smp_run_request *request, smp_plan **out, smp_error *err);

/* Runs a plan over a picture in memory on a device: for tests, compare and benchmarks. in: whole picture; out: whole
 * picture, allocated by the caller with the shape of the plan's only sink (data may be null when the plan has none).
 * Findings and times go to report. */
smp_code smp_run_memory(const smp_plan *plan, smp_device *device, const char *variant, int64_t strip_rows,
                        const smp_view *in, const smp_view *out, smp_run_report *report, smp_error *err);

/* Strip height that run uses for a plan on a device. */
int64_t smp_strip_rows(const smp_plan *plan, const smp_device *device, int64_t wanted);

#endif
