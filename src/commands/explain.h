/* A plan bound to an input, for `smempipe explain`: explain.c gathers it, explain_show.c prints it. */
#pragma once

#include "cli/cli.h"
#include "device/cuda/cuda.h"
#include "report/compare/compare.h"
#include "run/run.h"
#include "run/strips/schedule.h"

typedef struct smp_explain_step {
    char *text;          /* stage and all its parameters; inserted steps in parentheses; from smp_alloc */
    const char *variant; /* that runs; null: none does */
    int64_t rows;        /* of memory for its output; 0: none */
    int64_t bytes;       /* of that memory, with tables, scratch and results */
    smp_cuda_launch_info launches[SMP_MAX_LAUNCHES]; /* on GPUs, over the rows of a whole strip */
    int launch_count;
} smp_explain_step;

typedef struct smp_explanation {
    const char *pipe, *input; /* as named on the command line */
    bool assumed;             /* no output was named: planned for a file that holds every format */
    const smp_plan *plan;
    smp_device *device;
    int64_t strip_rows;
    int64_t stream_bytes, thread_bytes, bytes; /* of rows between codecs and steps; of threads, on a CPU; of all */
    uint64_t limit;
    const smp_compare *predicted; /* times of the steps on a GPU; null: not wanted */
    smp_explain_step *steps;      /* plan->step_count of them */
    int *places;                  /* for the SVG: two for each step and output */
} smp_explanation;

void smp_explanation_table(FILE *to, const smp_explanation *explanation, bool color);
void smp_explanation_json(FILE *to, const smp_explanation *explanation);
void smp_explanation_svg(FILE *to, const void *explanation);

/* What is predicted of a step; null: nothing. */
const smp_compare_step *smp_explain_predicted(const smp_explanation *explanation, int step);
