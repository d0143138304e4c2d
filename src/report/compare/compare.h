/* The results of `compare`: for every step of a plan and every variant of its stage, whether it is right, how long it
 * took, and what its GPU kernels do to shared memory. One structure, filled by src/compare, shown as table, JSON, CSV
 * or HTML. */
#pragma once

#include <stdio.h>

#include "base/error.h"
#include "device/device.h"
#include "lab/counters/source.h"
#include "report/json.h"
#include "report/samples.h"

typedef enum smp_check {
    SMP_CHECK_NONE,  /* not run on this device */
    SMP_CHECK_RIGHT, /* the same bytes as naive, the same measurements and clipped samples */
    SMP_CHECK_WRONG
} smp_check;

/* One kernel launch of a variant, as the model saw it. */
typedef struct smp_compare_launch {
    char kernel[96];
    unsigned grid[3], block[3];
    uint64_t shared_bytes; /* of a block: static and dynamic */
} smp_compare_launch;

/* One place in a kernel that accesses shared memory. */
typedef struct smp_compare_site {
    char kernel[96], where[96]; /* "transpose.cu:41", or an address */
    smp_shared_op op;
    int width; /* bytes a lane */
    smp_shared_count count;
    smp_bank_access example; /* its worst instruction; active 0: none */
} smp_compare_site;

/* Counts of one variant from one source. */
typedef struct smp_compare_count {
    bool known;
    smp_shared_count ops[SMP_SHARED_OPS], total;
    uint64_t faults; /* model: races, uninitialised reads and other faults */
    char why[200];   /* why not known, or the disagreement with the model; "" */
} smp_compare_count;

/* The predicted time of the launches of one variant, one after another (lab/time). */
typedef struct smp_compare_predicted {
    double us, low_us, high_us; /* us 0: not known */
    char bound[24], why[200];   /* of the longest launch; why it is not known */
} smp_compare_predicted;

typedef struct smp_compare_variant {
    const char *name, *help; /* the name is own_name: kernels of a file end with the plan; help is the stage's */
    char own_name[128];
    smp_check check;
    char wrong[160]; /* the first difference */
    const char
        *same_as;    /* on this device it runs the kernels of that variant, so it was not timed again; null: its own */
    char why[160];   /* why it was not timed; "" */
    bool left_out;   /* the time limit has no room for it; `why` tells */
    double *samples; /* seconds of each run, in order; owned */
    size_t sample_count, sample_capacity;
    smp_spread time;     /* seconds */
    smp_verdict verdict; /* against naive */
    smp_compare_count counts[SMP_COUNT_KINDS];
    smp_compare_predicted predicted;
    int architecture;             /* of the SASS that the model counted, 90; 0: traced kernels; -1: PTX */
    smp_compare_launch *launches; /* owned */
    size_t launch_count, launch_capacity;
    smp_compare_site *sites; /* of the model; owned */
    size_t site_count, site_capacity;
} smp_compare_variant;

typedef struct smp_compare_step {
    char label[96];                                /* the statement; in parentheses what the planner inserted */
    const char *stage;                             /* its name */
    int number;                                    /* as `explain` numbers the plan's steps; those that look follow */
    bool prepass;                                  /* it found what the plan rests on, in a run of its own before */
    int node, line;                                /* as in smp_step_report */
    char type_in[48], type_out[48];                /* shape and storage; out is "" for reductions */
    uint64_t bytes;                                /* that must cross memory: inputs read once, output written once */
    uint64_t pixels;                               /* of the output */
    double ops;                                    /* arithmetic operations */
    bool fits_cache;                               /* inputs and output together fit the device's last cache */
    bool timed_out;                                /* fewer samples than asked for: the time limit passed long ago */
    int64_t height, width;                         /* of the output */
    int64_t count_from, count_rows, count_columns; /* the part of it that was counted; rows 0: nothing was */
    const char *base; /* the variant that others must agree with: naive, unless it was left out; null: not run */
    smp_compare_variant *variants; /* [0] is naive; owned */
    size_t variant_count;
} smp_compare_step;

typedef struct smp_compare {
    const char *pipe, *input;            /* set by the caller; null: unknown */
    char input_type[96], input_hash[65]; /* SHA-256 of the file in hexadecimal; "" when it cannot be read twice */
    int64_t enlarged;                    /* the input was repeated so often in each direction; 0 or 1: it was not */
    smp_device_info device;
    char device_note[160];
    char driver[64], toolkit[64], host[96]; /* GPU driver, CUDA that compiled the kernels, processor; "": unknown */
    char counter_device[96];                /* the device that the model counts for */
    int architecture;                       /* of the SASS that the model counted, 90; 0: of none */
    bool as_compiled;                       /* some kernels were counted as the host's compiler makes them */
    char model_notes[1024];                 /* lines: kernels whose SASS could not be counted, and why */
    char source_note[SMP_COUNT_KINDS][420]; /* why a source of counts is missing; "" */
    char predicted_gpu[12];                 /* whose times are predicted, "h100"; "": nobody's */
    char predicted_title[16];               /* "H100" */
    bool predicted_here;                    /* that GPU is the one that was measured */
    double predicted_copy_gbs;              /* at which the model takes that GPU to copy */
    char no_predictions[200];               /* why there are none; "" */
    int threads, sm_clock, memory_clock;    /* MHz under load; 0: unknown */
    int64_t dropped;                        /* samples that were dropped because the GPU was throttled */
    double copy_gbs, copy_low, copy_high;   /* this device's copy rate, measured; 0: not measured */
    int64_t cache_bytes;                    /* the last cache; 0: unknown */
    int64_t repeat;
    double time_limit, wall_seconds;
    bool hot;
    smp_compare_step *steps; /* owned */
    size_t step_count;
} smp_compare;

void smp_compare_free(smp_compare *compare);

/* Rates of one variant; 0 when not timed or unknown. Shares are fractions of 1. */
double smp_compare_gbs(const smp_compare_step *step, const smp_compare_variant *variant);
double smp_compare_of_copy(const smp_compare *compare, const smp_compare_step *step,
                           const smp_compare_variant *variant);

/* Range of that share, as far as the samples tell: by the quartiles of the times and of the copy rate. Noisy: the upper
 * end is over three times the lower. */
typedef struct smp_share_range {
    double from, to;
    bool noisy;
} smp_share_range;

smp_share_range smp_compare_copy_range(const smp_compare *compare, const smp_compare_step *step,
                                       const smp_compare_variant *variant);
double smp_compare_of_peak(const smp_compare *compare, const smp_compare_step *step,
                           const smp_compare_variant *variant);
double smp_compare_speedup(const smp_compare_step *step, const smp_compare_variant *variant);

/* Rates by a predicted time; 0 where it is not known. */
double smp_compare_predicted_gbs(const smp_compare_step *step, const smp_compare_variant *variant);
double smp_compare_predicted_speedup(const smp_compare_step *step, const smp_compare_variant *variant);
/* The median that was measured on the GPU whose time is predicted, in us; 0: it was measured elsewhere, or not. */
double smp_compare_measured_us(const smp_compare *compare, const smp_compare_variant *variant);
bool smp_compare_any_predicted(const smp_compare *compare);
/* "predicted": what is told of a variant's time; nothing where none was wanted. */
void smp_compare_predicted_json(smp_json *json, const smp_compare *compare, const smp_compare_step *step,
                                const smp_compare_variant *variant);

/* Describes the code that the model counted: "SASS of sm_90", "as the host's compiler makes them"; "" when nothing.
 * Returns text. */
const char *smp_compare_code(const smp_compare *compare, char *text, size_t size);

/* "rows 64 to 127 of 300, all 451 columns" when only a part was counted, else "". Returns text. */
const char *smp_compare_crop(const smp_compare_step *step, char *text, size_t size);

/* Wavefronts / ideal; 1 without shared accesses. */
double smp_compare_ways(const smp_shared_count *count);

/* The source whose counts are shown: sass where it was measured, else model. SMP_COUNT_KINDS: none. */
smp_count_kind smp_compare_source(const smp_compare_variant *variant);

/* Returns how many times the blocks of a step's largest launch fill the GPU, if all of its variants' launches are
 * known: a GPU that is not full a few times tells little about kernels. 0: not known, or no GPU. */
double smp_compare_waves(const smp_compare *compare, const smp_compare_step *step);

/* Returns the --enlarge at which the step would fill the GPU; 0: it does already, or that is not known, or nothing was
 * timed. */
int64_t smp_compare_enlarge(const smp_compare *compare, const smp_compare_step *step);

/* Whether any variant is WRONG, is slower than naive, or has different counts by model and sass. */
bool smp_compare_any_wrong(const smp_compare *compare);
bool smp_compare_any_slower(const smp_compare *compare);
bool smp_compare_any_disagreement(const smp_compare *compare);

/* The terminal's table, at most SMP_TEXT_WIDTH columns; the meaning of its columns; every sample (JSON); a line for
 * each variant (CSV); a page (HTML). */
void smp_compare_table(FILE *to, const smp_compare *compare, bool sites, bool color); /* sites: a line for each, too */
void smp_compare_explain(FILE *to);
void smp_compare_json(FILE *to, const smp_compare *compare);
void smp_compare_csv(FILE *to, const smp_compare *compare);
void smp_compare_html(FILE *to, const smp_compare *compare);
