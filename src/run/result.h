/* The result of a run: measurements and cost of each step, times of the file, what was found in it. The executor fills
 * it; report shows it as a table, JSON or CSV. */
#pragma once

#include "banks/trace.h"
#include "base/error.h"
#include "base/notes.h"
#include "device/device.h"
#include "stages/stage.h"

typedef struct smp_step_report {
    char label[96]; /* the statement; in parentheses what the planner inserted */
    char variant[24];
    int node;              /* of the program, or SMP_NODE_NONE when the planner inserted it */
    int line;              /* in the pipe file; 0: inserted, or no file */
    double seconds;        /* device time of all strips */
    double result_seconds; /* of the processor, which made measurements and tables of what the device gave */
    uint64_t bytes;        /* that had to cross memory: input read once, output written once */
    uint64_t pixels;       /* output pixels */
    double ops;            /* arithmetic operations */
    uint64_t clipped;      /* samples that the last store clamped */
    uint64_t samples;      /* of its output */
    bool counts_clipping;
    char type[48]; /* "u8x3 6000x4000 in f32": nominal shape, and storage of the output */
    char name[48]; /* of its measurements, for stats and histogram */
    smp_measurements measurements;
    const smp_stage *stage;
    smp_shape in;  /* what it worked on */
    void *partial; /* its measurements in a form that merges over files (smp_partial_ops); null: not wanted, or the
                      stage has none */
    const char *counter;     /* the source of the counts: "model", "sass"; null: not counted */
    char counted_code[120];  /* of a model: "SASS of sm_90"; "": nothing is known */
    smp_shared_count shared; /* its GPU kernels' accesses to shared memory */
    char crop[120];          /* the part of its output that was counted; "": all */
} smp_step_report;

typedef struct smp_run_report {
    const char *input, *output; /* owned by the caller */
    smp_code status;
    char error[512];
    smp_device_info device;
    char device_note[320];
    int threads;
    double read_seconds;                     /* reading and decoding, */
    double input_seconds;                    /* of which the operating system took this; */
    double write_seconds;                    /* encoding and writing, */
    double output_seconds;                   /* of which the operating system took this */
    double device_seconds;                   /* all steps */
    double upload_seconds, download_seconds; /* of a GPU's bus, also while the host does other things */
    bool detours;        /* rows were copied to other memory of the host and on, since theirs could not be pinned */
    double wall_seconds; /* wall time of the file, in which decoding, computing and encoding overlap */
    int64_t strip_rows, strips;
    uint64_t peak_bytes;                 /* the most live memory at any time */
    uint64_t input_bytes;                /* size of the input file */
    smp_shape shape;                     /* of the input as it is seen, which stages are given */
    uint64_t left_out; /* samples of a tar file (batch/shard.h) */
    uint64_t undecided;                  /* what a stage could not decide (smp_node_plan.values.undecided) */
    uint64_t output_clipped;             /* samples that the writers clamped to integers (sound) */
    smp_notes input_notes, output_notes; /* of the reader and the writers */
    char shape_in[48], shape_out[48];
    bool copied; /* the output has the input's coded data */
    smp_step_report *steps;
    size_t step_count;
    char *drawn; /* what random values came to, a line a stage: smp_plan.drawn; null: nothing is drawn */
} smp_run_report;

void smp_run_report_free(smp_run_report *report);
