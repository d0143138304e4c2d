/* What a run found and cost: one structure, filled by the executor, shown as table, JSON or CSV. */
#ifndef SMP_REPORT_REPORT_H
#define SMP_REPORT_REPORT_H

#include <stdio.h>

#include "base/error.h"
#include "base/notes.h"
#include "counters/trace.h"
#include "device/device.h"
#include "report/json.h"
#include "stages/stage.h"

typedef struct smp_step_report {
    char label[96]; /* the statement, or what the planner inserted in parentheses */
    char variant[24];
    int node;         /* of the program, or SMP_NODE_NONE when the planner inserted it */
    int line;         /* in the pipe file; 0: inserted, or no file */
    double seconds;   /* device time of all strips */
    uint64_t bytes;   /* that had to cross memory: input read once, output written once */
    uint64_t pixels;  /* output pixels */
    double ops;       /* arithmetic operations */
    uint64_t clipped; /* samples that the last store clamped */
    uint64_t samples; /* of its output */
    bool counts_clipping;
    char type[48]; /* "u8x3 6000x4000 in f32": nominal shape and storage of the output */
    char name[48]; /* of its findings, for stats and histogram */
    smp_findings findings;
    const smp_stage *stage;
    smp_shape in;        /* what it worked on */
    void *partial;       /* its findings in a form that adds up over files (stage->merge); null: not wanted, or none */
    const char *counter; /* where the counts come from: "model", "sass"; null: not counted */
    smp_shared_count shared; /* accesses of its GPU kernels to shared memory */
    char crop[120];          /* what part of its output was counted; "": all */
} smp_step_report;

typedef struct smp_run_report {
    const char *input, *output; /* owned by the caller */
    smp_code status;
    char error[512];
    smp_device_info device;
    char device_note[160];
    int threads;
    double read_seconds;   /* reading and decoding, */
    double input_seconds;  /* of which the operating system took this; */
    double write_seconds;  /* encoding and writing, */
    double output_seconds; /* of which the operating system took this */
    double device_seconds; /* all steps */
    double upload_seconds, download_seconds;
    double wall_seconds; /* of the file; decoding, computing and encoding overlap in it */
    int64_t strip_rows, strips;
    uint64_t peak_bytes;                 /* live memory at its most */
    uint64_t input_bytes;                /* size of the input file */
    smp_shape shape;                     /* of the input, as decoded */
    uint64_t output_clipped;             /* samples that the writers' integers clamped (sound) */
    smp_notes input_notes, output_notes; /* of reader and writers */
    char shape_in[48], shape_out[48];
    smp_step_report *steps;
    size_t step_count;
} smp_run_report;

void smp_run_report_free(smp_run_report *report);

/* The table that `run -v` prints: a line a step with time, share, GB/s, Mpixel/s; totals; findings. */
/* Whether a step of a picture clipped so many samples that the result is likely not what was meant: more than one in
 * twenty. Sharpening clips one in a hundred. */
bool smp_report_clips_much(const smp_step_report *step);

/* "'add 20' clipped 99.8 % of the samples to the range of its format" */
void smp_report_clipping_text(const smp_step_report *step, char *text, size_t size);

void smp_report_table(FILE *to, const smp_run_report *report, bool color);

/* What one step found, as the table shows it: a row a value, a column a channel, a line a list. */
void smp_report_findings(FILE *to, const char *label, const smp_findings *findings, bool color);

/* The same as a member "findings" of the object that json is in. */
void smp_report_findings_json(smp_json *json, const smp_findings *findings);

/* Members "input_notes" and "output_notes" of the object that json is in, where there are notes. */
void smp_report_notes_json(smp_json *json, const smp_run_report *report);

/* One line about a file among many (batch --report): a JSON object with input, output, status ("done", "failed",
 * "skipped"), error and hint (err may be null), size, device, milliseconds and what was measured. */
void smp_report_line(FILE *to, const smp_run_report *report, const char *status, const smp_error *err);

/* One JSON object (a line when compact). */
void smp_report_json(FILE *to, const smp_run_report *report, bool compact);

#endif
