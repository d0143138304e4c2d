/* Reports the costs of kernels in the lab (lab/machine/warp.h): a table with a row a source line, findings, JSON and
 * CSV. */
#pragma once

#include <stdio.h>

#include "lab/machine/predicted.h"
#include "lab/machine/warp.h"
#include "report/json.h"
#include "report/text.h"

/* Source files by their paths, read when a line is shown. Zeroed to begin with. */
typedef struct smp_lab_sources {
    struct smp_lab_source *files;
    size_t count, capacity;
    const char *program; /* the file whose lines tables give without its name; null: that of their first line */
} smp_lab_sources;

/* The text of a line without its indentation; "" where the file is not there. */
const char *smp_lab_line(smp_lab_sources *sources, const char *path, uint32_t line);
/* The same with it. */
const char *smp_lab_text(smp_lab_sources *sources, const char *path, uint32_t line);
uint32_t smp_lab_line_count(smp_lab_sources *sources, const char *path);
void smp_lab_sources_free(smp_lab_sources *sources);

/* each_one: rows are of instructions, also those that access no memory; map: draws the banks of the worst access. */
void smp_lab_table(FILE *to, const smp_warp_result *result, smp_lab_sources *sources, bool each_one, bool map,
                   bool color);

/* ------------------------------------------------------------------------------------------------ side by side */

/* Comparison of what a kernel left in its arrays with what the first of its group left. */
typedef enum smp_lab_same {
    SMP_LAB_UNCHECKED,
    SMP_LAB_FIRST,
    SMP_LAB_SAME,    /* the same bytes */
    SMP_LAB_ROUNDED, /* floats that differ by no more than rounding */
    SMP_LAB_DIFFERENT
} smp_lab_same;

extern const char *const smp_lab_same_names[]; /* "first", "same", ... */

/* A comparison's data about each result. */
typedef struct smp_lab_entry {
    const char *file; /* as it was named */
    size_t number;    /* of the file, among those named */
    size_t group;     /* those with one number are compared */
    smp_lab_same same;
    char difference[200]; /* the first, and how many; "" */
} smp_lab_entry;

/* A kernel's sums over its rows. */
typedef struct smp_lab_total {
    uint64_t wavefronts, ideal, conflicts, sectors, sectors_ideal;
} smp_lab_total;
smp_lab_total smp_lab_total_of(const smp_warp_result *result);
/* A blank and a / b ("-": b is 0) in a column of that width, in a colour where a is more. */
enum { SMP_LAB_RATIO = 5 };
void smp_lab_ratio(FILE *to, uint64_t a, uint64_t b, const char *color, const char *off);

/* How often the blocks of a launch fill a GPU of its architecture, and that GPU's title. False: it is not known. */
bool smp_lab_waves(const smp_warp_result *result, double *waves, const char **gpu);

/* Counts of a GPU for the instructions reported here. */
typedef struct smp_lab_gpu {
    bool ran;
    size_t same, differ;      /* instructions that access memory */
    size_t repeated;          /* in loops that wait for others, which the GPU went through more or less often */
    size_t untold;            /* of a kind whose cost is not told here */
    size_t kernels, left_out; /* that were compared; that were not, since their SASS was not counted whole */
    size_t in_graphs;         /* of left_out: the program fails where its graphs are counted */
    char differences[4000];   /* lines: the first of them */
} smp_lab_gpu;
void smp_lab_gpu_text(FILE *to, const smp_lab_gpu *gpu);

typedef struct smp_lab_report {
    const smp_warp_result *results;
    const smp_lab_entry *entries; /* null: nothing is compared */
    size_t count;
    const char *code; /* what was executed: "ptx", "sass" */
    smp_lab_sources *sources;
    const smp_lab_gpu *gpu;              /* null: no GPU was asked */
    const smp_lab_entry *files;          /* of each result its file; never null */
    const struct smp_lab_issues *issues; /* lab_issues.h */
    bool live;                           /* rows without conflicts have an access, too */
    bool compared;                       /* by --compare: pages have entries without it, too */
    bool host, leaks, slower;            /* code of the host ran; its leaks, and slower kernels, were looked for */
} smp_lab_report;

/* One object with "kernels"; of a comparison each has its group and "same". */
void smp_lab_json(FILE *to, const smp_lab_report *report);
/* A row a source line and access; of a comparison a row a kernel. */
void smp_lab_csv(FILE *to, const smp_lab_report *report);
/* A line: the pipes that the instructions take, and how often branches split a warp. */
void smp_lab_mix_text(FILE *to, const smp_warp_result *result);
/* Members "lines", "mix", and where they were wanted "instructions" and "ptx_instructions". */
void smp_lab_steps_json(smp_json *json, const smp_warp_result *result);

/* A program of so many kernels and shapes that their tables fill more than a screen. */
bool smp_lab_is_long(const smp_lab_report *report);
/* Its first screen: the lines that cost most over all launches, kernels with their launches folded, findings, notes.
 * tables: they follow. */
void smp_lab_program(FILE *to, const smp_lab_report *report, bool color, bool tables);
/* Issues as SARIF 2.1.0, and as a test a rule (JUnit). Paths are told from the repository's folder. */
void smp_lab_sarif(FILE *to, const smp_lab_report *report);
void smp_lab_junit(FILE *to, const smp_lab_report *report);
/* The kernels of each group below each other, a row each, and where they differ. */
void smp_lab_compare(FILE *to, const smp_lab_report *report, bool color);
/* Whether the results are of several files: then each file's name stands above its first. *shown begins as SIZE_MAX. */
bool smp_lab_has_files(const smp_lab_report *report);
void smp_lab_put_file(FILE *to, const smp_lab_entry *entry, size_t *shown, const smp_paint *paint);
/* A page: what to look at, bars, source lines by cost, banks, findings, all numbers. */
void smp_lab_html(FILE *to, const smp_lab_report *report);

/* ------------------------------------------------------------------------------------------------ predicted times */

/* The time of a kernel's launches, what bounds it, and the lines that take most. Nothing where no time was wanted. */
void smp_lab_time_text(FILE *to, const smp_warp_result *result, smp_lab_sources *sources, bool color);
/* All kernels below each other, a row each; within a group whether intervals overlap. */
void smp_lab_time_compare(FILE *to, const smp_lab_report *report, bool color);
/* Tells how far predictions can be trusted. */
void smp_lab_time_words(FILE *to, const smp_lab_report *report);
/* Whether warps that ended wait here, for the most part, for what another line (for_line) wrote. */
bool smp_lab_time_waits_for(const smp_predicted_line *line);
/* Tells how far such times of a GPU ("h100") can be believed. */
void smp_lab_time_error(const char *gpu, char *text, size_t size);

/* "time_model": the GPU, and how far predictions are to be trusted. Nothing where no time was wanted. */
void smp_lab_time_model_json(smp_json *json, const smp_lab_report *report);
/* A table of predicted launches for browsers without scripts. Nothing where no time was wanted. */
void smp_lab_time_plain(FILE *to, const smp_lab_report *report);
/* "launches": each that was predicted, with its number in the program; those of a kernel side by side. */
void smp_lab_time_json(smp_json *json, const smp_lab_report *report);

/* The predicted microseconds of all launches of that name that were simulated. False: none was. */
bool smp_lab_time_sum(const smp_lab_report *report, const char *kernel, double *us);

/* Whether so many microseconds of a launch's time are a difference that the model can tell. */
bool smp_lab_time_differs(const smp_predicted *predicted, double us);
smp_predicted_mend *smp_lab_mend_of(smp_predicted *p, const smp_warp_row *row); /* null: p, or of p, there is none */
/* "; saves 11 us (9.4 to 13.2), 48 %", of the row's advice, or without what it wastes; "" where that is not known.
 * Returns text. */
enum { SMP_LAB_SAVED = 80 };
const char *smp_lab_saved(const smp_warp_result *result, const smp_warp_row *row, char text[SMP_LAB_SAVED]);
/* The same in microseconds of the first launch; 0: not known, or no difference that the model can tell. */
double smp_lab_saved_us(const smp_warp_result *result, const smp_warp_row *row);
/* Warps of a block. */
uint32_t smp_lab_warps(const smp_warp_result *result);

/* ------------------------------------------------------------------------------------------------ advice */

enum { SMP_LAB_ADVICE = 640 };

/* Returns the cost of a row beyond its ideal, in clocks of an SM: one for a wavefront, one for two sectors (an SM takes
 * 64 bytes of the second-level cache a clock). */
double smp_lab_cost(const smp_warp_row *row);

/* The row that costs most in some spaces, a bit each; null: there is none. */
const smp_warp_row *smp_lab_dearest(const smp_warp_result *result, unsigned spaces);

/* The worst access of a row; false: there is none to draw. any: one without conflicts, too. */
bool smp_lab_access(const smp_warp_row *row, bool any, smp_bank_access *access);

/* Advises against the conflicts of a row (lab_tips.h), or against sectors beyond the ideal. False: no advice. */
bool smp_lab_advice(const smp_warp_result *result, const smp_warp_row *row, char *text, size_t size);

/* "a 32-way conflict: 15872 of its 16384 wavefronts are conflicts". */
void smp_lab_verdict(const smp_warp_row *row, char *text, size_t size);

/* A space by its name in JSON ("shared"); an access's name there, "load", and in tables, "shared load". */
smp_warp_space smp_lab_space_of(const char *name);
const char *smp_lab_op_name(const smp_warp_row *row);
const char *smp_lab_access_name(const smp_warp_row *row);

/* A blank and a count, right-aligned; a large one with a unit: 12.3M. */
void smp_lab_number(FILE *to, uint64_t value, int columns);

/* The file's path as the compiler was given it. */
const char *smp_lab_path(const smp_warp_result *result, uint32_t file);

/* The file's name without folders. */
const char *smp_lab_file(const smp_warp_result *result, uint32_t file);
