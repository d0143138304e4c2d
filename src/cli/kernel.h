/* What the files of `smempipe kernel` share: kernel.c runs the command, kernel_args.c makes a launch of --args,
 * kernel_nvcc.c compiles .cu files, kernel_sass.c makes SASS, kernel_program.c runs whole programs. */
#ifndef SMP_CLI_KERNEL_H
#define SMP_CLI_KERNEL_H

#include "cli/cli.h"
#include "warp/warp.h"

typedef struct smp_kernel_settings {
    smp_common common;
    const char *file;
    smp_strings program_args; /* of the program */
    const char *only, *grid, *block, *args, *blocks, *fail_on, *arch, *std, *code;
    uint64_t shared;
    smp_strings defines, includes;
    bool json, csv, each;
} smp_kernel_settings;

extern const smp_command smp_command_kernel;

/* The parameters' bytes of a launch, with buffers in memory, as --args tells them. *params: from smp_alloc. */
smp_code smp_kernel_arguments(const smp_warp_kernel *kernel, const char *text, smp_warp_memory *memory, void **params,
                              smp_error *err);

/* Compiles a .cu file, or finds it compiled: *ptx and *program (may be null: not wanted) are paths, from smp_alloc. */
smp_code smp_kernel_compile(const smp_kernel_settings *settings, char **ptx, char **program, smp_error *err);

/* What is counted: *sass is the path of nvdisasm's text of a PTX file, or of a cubin, beside which lies the cubin; from
 * smp_alloc. Null: PTX is counted, and why says the reason. An error where --code sass asks for what cannot be. */
enum { SMP_KERNEL_WHY = 200 };
smp_code smp_kernel_sass(const smp_kernel_settings *settings, const char *file, char **sass, char why[SMP_KERNEL_WHY],
                         smp_error *err);

/* Runs the program under the lab's runtime library; *results (count of them) are its launches. sass: null, or as
 * smp_kernel_sass made it. */
smp_code smp_kernel_program(const smp_kernel_settings *settings, const char *ptx, const char *sass, const char *program,
                            smp_warp_result **results, size_t *count, smp_error *err);

/* nvcc, ptxas, nvdisasm: in PATH, CUDA_HOME, /usr/local/cuda or Python's wheels; from smp_alloc, null: not there. */
char *smp_kernel_tool(const char *name);
/* The folder of what was compiled, from smp_alloc; and one that is made, with those above it. */
char *smp_kernel_cache(void);
bool smp_kernel_make_folders(char *path);
const char *smp_kernel_arch(const char *arch); /* "90" of "sm_90" */

/* The folder of the lab's runtime library, from smp_alloc; null: it is not there. */
char *smp_kernel_runtime_folder(void);

/* Runs a command; *status is its exit status (128 + its signal). environment: "NAME=value", null-terminated. */
smp_code smp_kernel_spawn(char *const *argv, char *const *environment, int out_fd, int *status, smp_error *err);

/* The names of environment variables by which the program and its library find each other. */
#define SMP_LAB_PTX     "SMEMPIPE_LAB_PTX"
#define SMP_LAB_SASS    "SMEMPIPE_LAB_SASS"
#define SMP_LAB_EACH    "SMEMPIPE_LAB_EACH"
#define SMP_LAB_RESULTS "SMEMPIPE_LAB_RESULTS"
#define SMP_LAB_BLOCKS  "SMEMPIPE_LAB_BLOCKS"

#endif
