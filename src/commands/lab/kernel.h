/* Shared by the files of `smempipe kernel`: kernel.c runs the command, kernel_flags.c sorts the words behind the file's
 * name, kernel_args.c makes a launch of --args, kernel_names.c finds out which word is which parameter, kernel_arch.c
 * chooses the architecture, kernel_run.c runs one kernel, kernel_compare.c gathers several, kernel_program.c runs whole
 * programs, kernel_fix.c changes a source by its tips, kernel_reports.c writes what --html, --sarif and --junit ask
 * for, kernel_executable.c prepares those that nvcc made elsewhere. */
#pragma once

#include "cli/cli.h"
#include "lab/machine/warp.h"
#include "lab/report/lab_issues.h"
#include "lab/report/lab_tips.h"
#include "lab/stage/assemble.h"
#include "lab/stage/compile.h"
#include "lab/stage/nvcc_flags.h"

typedef struct smp_kernel_settings {
    smp_common common;
    const char *file;
    const char *text;         /* what `file` would be; null: as it is */
    smp_strings program_args; /* of the program */
    smp_flag_list sources;    /* more files of it */
    smp_nvcc_flags flags;     /* of the compilers, -D and -I among them */
    bool has_flags;           /* some stand behind -- */
    char *own_file;           /* `file`, where the one that was named has no kernels; from smp_alloc */
    const char *only, *grid, *block, *args, *save, *blocks, *fail_on, *arch, *std, *code, *device;
    uint64_t shared;
    smp_strings defines, includes;
    bool json, csv, each, no_findings, compare, map, what_if, fix, serve, no_open;
    bool again;              /* the second run of --fix, whose output nobody wants */
    const char *time;        /* a GPU; "": the usual one; null: no time is wanted */
    const char *time_wanted; /* as smp_time_run takes it: from time_text */
    char time_text[40];
    double time_limit; /* seconds of a launch; 0: none */
    const char *html, *sarif, *junit, *baseline;
    bool leaks;         /* in fail_on */
    const char *slower; /* BASE.json:10% in fail_on; null: it is not there */
    char own_arch[16];  /* of the file: "sm_90a" */
} smp_kernel_settings;

extern const smp_command smp_command_kernel;

/* The parameters' bytes of a launch, with buffers in memory, as --args tells them. *params: from smp_alloc. */
smp_code smp_kernel_arguments(const smp_warp_kernel *kernel, const char *text, smp_warp_memory *memory, void **params,
                              smp_error *err);

/* The same words in the order of the kernel's parameters, if they name these as the source in a .cu file does; else as
 * they are. *ordered: from smp_alloc. (kernel_names.c) */
smp_code smp_kernel_order_args(const char *file, const smp_warp_kernel *kernel, const char *args, char **ordered,
                               smp_error *err);

/* One kernel to run. */
typedef struct smp_kernel_job {
    const char *file;       /* as it was named */
    size_t file_number;     /* among those named */
    const char *ptx, *sass; /* paths; ptx null: SASS alone; sass null: PTX alone */
    const char *name;       /* the kernel's; null: --only is missing */
    size_t number;          /* of the kernels: which of several --grid and --block is its */
} smp_kernel_job;

/* Contents of the arrays of --args after a kernel. */
typedef struct smp_kernel_array {
    char name[48];
    uint32_t element; /* bytes; 0: not known */
    bool is_float;
    char kind; /* as in kernel_args.c */
    unsigned char *bytes;
    uint64_t size;
} smp_kernel_array;
typedef struct smp_kernel_left {
    smp_kernel_array *arrays;
    size_t count, capacity;
} smp_kernel_left;
void smp_kernel_left_free(smp_kernel_left *left);

/* text: the first difference and how many, or how far apart. */
smp_lab_same smp_kernel_left_compare(const smp_kernel_left *first, const smp_kernel_left *other, char *text,
                                     size_t size);

/* Name and element of the n-th word of --args; an element as a number and as text. */
void smp_kernel_array_word(const char *args, size_t n, smp_kernel_array *array);
double smp_kernel_element(const smp_kernel_array *array, uint64_t index, char *text, size_t size);

/* left: may be null. */
smp_code smp_kernel_run(const smp_kernel_settings *settings, const smp_kernel_job *job, smp_warp_result *result,
                        smp_kernel_left *left, smp_error *err);

/* Without --arch: sm_90, or what the .ptx or .cubin is for. With it, one that it cannot be counted for is refused. */
smp_code smp_kernel_choose_arch(smp_kernel_settings *settings, smp_error *err);

/* Refuses a GPU's name that stands apart from --time, since it would be a file or an argument. */
smp_code smp_kernel_check_time(const smp_kernel_settings *settings, smp_error *err);
/* Checks --time, whose GPU says the architecture unless --arch does, and the file of --fail-on slower=. */
smp_code smp_kernel_choose_time(smp_kernel_settings *settings, smp_error *err);

/* A whole file, with a zero behind it. */
smp_code smp_kernel_read(const char *path, char **text, size_t *size, smp_error *err);

/* The results of all files and kernels that the command line names, in their order. */
typedef struct smp_kernel_results {
    smp_warp_result *results;
    smp_lab_entry *entries;
    smp_kernel_left *lefts; /* null where programs ran */
    size_t count, capacity, entry_capacity, left_capacity;
    bool sass;   /* the first file's SASS was counted */
    bool no_ptx; /* and it has no PTX, in which mistakes are found */
    char why[200];
    smp_lab_gpu gpu;
    smp_lab_tips tips;
} smp_kernel_results;
smp_code smp_kernel_all(const smp_kernel_settings *settings, smp_kernel_results *all, smp_error *err);
void smp_kernel_results_free(smp_kernel_results *all);

/* --fail-on slower=BASE.json:10%: tells kernels whose predicted time is that much above the one in BASE.json, and adds
 * them to the issues. */
smp_code smp_kernel_find_slower(const smp_kernel_settings *settings, const smp_kernel_results *all,
                                smp_lab_issues *issues, smp_error *err);
/* The length of BASE.json:10% at the beginning of a text. */
size_t smp_kernel_slower_length(const char *text);

/* Refuses files of reports that cannot be written, and a baseline that cannot be read, before anything runs. */
smp_code smp_kernel_check_reports(const smp_kernel_settings *settings, smp_error *err);
/* report: null: the run failed, and what an earlier one left is removed. */
smp_code smp_kernel_write_reports(const smp_kernel_settings *settings, const smp_lab_report *report, smp_error *err);
/* Reads what --json wrote; the caller frees both. What is nothing of the kind is SMP_E_DECODE. */
struct smp_json_tree;
smp_code smp_kernel_open_base(const char *path, const char *option, char **text, struct smp_json_tree *tree,
                              smp_error *err);
smp_code smp_kernel_compare_base(const smp_kernel_settings *settings, const smp_lab_report *report,
                                 smp_lab_issues *issues, smp_error *err);

/* --fix: a.cu with tips applied becomes a.fixed.cu, if it costs less and leaves the same. (kernel_fix.c) */
smp_code smp_kernel_check_fix(const smp_kernel_settings *settings, smp_error *err);
smp_code smp_kernel_fix(const smp_kernel_settings *settings, const smp_kernel_results *all, smp_error *err);
/* Runs the source as it would be with the layout of a tip. What cannot be changed is SMP_E_USAGE. *out: the caller's to
 * free, also on failure. */
smp_code smp_kernel_relayout(const smp_kernel_settings *settings, const smp_lab_tip *tip, smp_kernel_results *out,
                             smp_error *err);

/* --serve: the report as a page, whose arrays in shared memory get other pads. (kernel_serve.c) */
smp_code smp_kernel_serve(const smp_kernel_settings *settings, const smp_kernel_results *all, smp_error *err);

/* --save: what one kernel left in its arrays, a file each. */
smp_code smp_kernel_check_save(const smp_kernel_settings *settings, smp_error *err);
smp_code smp_kernel_save(const smp_kernel_settings *settings, const smp_kernel_results *all, smp_error *err);

/* Adds what Triton and Numba pass beside what their sources name, zeros and the sizes of arrays, to the words of
 * --args. *args: from smp_alloc, and may change. ptx: the whole text. note: what was added, or "". (kernel_hidden.c) */
smp_code smp_kernel_hidden_args(const char *ptx, const smp_warp_kernel *kernel, char **args, char note[200],
                                smp_error *err);

/* Sorts the words behind FILE into sources, flags and the program's arguments. */
smp_code smp_kernel_take_words(smp_kernel_settings *settings, smp_error *err);
void smp_kernel_free_words(smp_kernel_settings *settings);
/* Whether it is a source of the host alone: a .cpp, .cc, .cxx or .c that is there. */
bool smp_kernel_is_host(const char *file);

/* Whether a file is one of kernels: by its name's end (.cu, .cuh, .ptx, .cubin), or an executable. */
bool smp_kernel_is_file(const char *name);

/* Compiles a .cu file, or finds it compiled: *ptx and *program (may be null: not wanted) are paths, from smp_alloc. Of
 * a program of several files *ptx is null: it has its PTX in it. */
smp_code smp_kernel_compile(const smp_kernel_settings *settings, const char *file, char **ptx, char **program,
                            smp_error *err);

/* The device code of an executable: of each of its source files PTX, or a cubin where it has no PTX. */
typedef struct smp_kernel_module {
    uint64_t key;
    bool is_ptx;
    char *source, *sass; /* paths; sass null: PTX is counted */
    char *linked;        /* of PTX of several files, the cubin of all; null: its own PTX gives one */
} smp_kernel_module;
typedef struct smp_kernel_modules {
    smp_kernel_module *items;
    size_t count, capacity;
    char *folder;     /* of the list of them (a file "modules"), and of the runtime library under the name asked for */
    char *library;    /* the folder of libsmp_cudart.so */
    char runtime[40]; /* "libcudart.so.13" */
    bool preload;     /* the program would find another library first */
    char why[SMP_ASSEMBLE_WHY];
} smp_kernel_modules;
smp_code smp_kernel_modules_open(const smp_kernel_settings *settings, const char *file, smp_kernel_modules *out,
                                 smp_error *err);
void smp_kernel_modules_close(smp_kernel_modules *modules);

/* A program to run under the lab's runtime library. */
typedef struct smp_kernel_process {
    const char *program;
    const char *ptx, *sass;            /* of the only source; sass null, or as smp_assemble made it */
    const char *cubin;                 /* where PTX is counted: it tells registers; may be null */
    const smp_kernel_modules *modules; /* of an executable instead; else null */
} smp_kernel_process;

/* *results (count of them) are its launches. */
smp_code smp_kernel_program(const smp_kernel_settings *settings, const smp_kernel_process *process,
                            smp_warp_result **results, size_t *count, smp_error *err);

/* Runs the program on a GPU too, and compares its counters with the results (kernel_gpu.c). */
smp_code smp_kernel_on_gpu(const smp_kernel_settings *settings, const char *program, const smp_kernel_modules *modules,
                           const smp_warp_result *results, size_t count, smp_lab_gpu *out, smp_error *err);

/* The places of findings in the host's calls become files and lines (kernel_host.c). */
void smp_kernel_find_host_lines(smp_warp_result *result);

/* The folder of the lab's runtime library, from smp_alloc; null: it is not there. */
char *smp_kernel_runtime_folder(void);

/* The names of environment variables by which the program and its library find each other. */
#define SMP_LAB_PTX     "SMEMPIPE_LAB_PTX"
#define SMP_LAB_SASS    "SMEMPIPE_LAB_SASS"
#define SMP_LAB_CUBIN   "SMEMPIPE_LAB_CUBIN"
#define SMP_LAB_MODULES "SMEMPIPE_LAB_MODULES"
#define SMP_LAB_EACH    "SMEMPIPE_LAB_EACH"
#define SMP_LAB_COUNTS  "SMEMPIPE_LAB_COUNTS"
#define SMP_LAB_THREADS "SMEMPIPE_LAB_THREADS"
#define SMP_LAB_LISTING "SMEMPIPE_LAB_LISTING"
#define SMP_LAB_SECONDS "SMEMPIPE_LAB_SECONDS"
#define SMP_LAB_RESULTS "SMEMPIPE_LAB_RESULTS"
#define SMP_LAB_BLOCKS  "SMEMPIPE_LAB_BLOCKS"
#define SMP_LAB_TIME    "SMEMPIPE_LAB_TIME"
#define SMP_LAB_LEAKS   "SMEMPIPE_LAB_LEAKS"
#define SMP_LAB_DIGEST  "SMEMPIPE_LAB_DIGEST"
#define SMP_LAB_ARCH    "SMEMPIPE_LAB_ARCH"
#define SMP_LAB_CODE    "SMEMPIPE_LAB_CODE" /* of modules that the program loads */
