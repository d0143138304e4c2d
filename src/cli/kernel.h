/* What the files of `smempipe kernel` share: kernel.c runs the command, kernel_args.c makes a launch of --args,
 * kernel_nvcc.c compiles .cu files, kernel_program.c runs whole programs. */
#ifndef SMP_CLI_KERNEL_H
#define SMP_CLI_KERNEL_H

#include "cli/cli.h"
#include "warp/warp.h"

typedef struct smp_kernel_settings {
    smp_common common;
    const char *file;
    smp_strings program_args; /* of the program */
    const char *only, *grid, *block, *args, *blocks, *fail_on, *arch, *std;
    uint64_t shared;
    smp_strings defines, includes;
    bool json, csv;
} smp_kernel_settings;

extern const smp_command smp_command_kernel;

/* The parameters' bytes of a launch, with buffers in memory, as --args tells them. *params: from smp_alloc. */
smp_code smp_kernel_arguments(const smp_warp_kernel *kernel, const char *text, smp_warp_memory *memory, void **params,
                              smp_error *err);

/* Compiles a .cu file, or finds it compiled: *ptx and *program (may be null: not wanted) are paths, from smp_alloc. */
smp_code smp_kernel_compile(const smp_kernel_settings *settings, char **ptx, char **program, smp_error *err);

/* Runs the program under the lab's runtime library; *results (count of them) are its launches. */
smp_code smp_kernel_program(const smp_kernel_settings *settings, const char *ptx, const char *program,
                            smp_warp_result **results, size_t *count, smp_error *err);

/* The folder of the lab's runtime library, from smp_alloc; null: it is not there. */
char *smp_kernel_runtime_folder(void);

/* Runs a command; *status is its exit status (128 + its signal). environment: "NAME=value", null-terminated. */
smp_code smp_kernel_spawn(char *const *argv, char *const *environment, int out_fd, int *status, smp_error *err);

/* The names of environment variables by which the program and its library find each other. */
#define SMP_LAB_PTX     "SMEMPIPE_LAB_PTX"
#define SMP_LAB_RESULTS "SMEMPIPE_LAB_RESULTS"
#define SMP_LAB_BLOCKS  "SMEMPIPE_LAB_BLOCKS"

#endif
