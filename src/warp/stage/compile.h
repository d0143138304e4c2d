/* Compiles .cu files by nvcc, or by clang where there is none, once each: what was compiled is kept by the hash of the
 * sources and options in $XDG_CACHE_HOME/smempipe/kernel. For `smempipe kernel` and the stage of that name. */
#ifndef SMP_WARP_STAGE_COMPILE_H
#define SMP_WARP_STAGE_COMPILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

typedef struct smp_compile_settings {
    const char *std, *arch; /* "c++17", "sm_90" */
    const char *const *defines, *const *includes;
    size_t define_count, include_count;
    bool no_fma;         /* multiplications and additions are not fused: the same bytes everywhere */
    const char *runtime; /* the folder of libsmp_cudart.so, which programs link; null: none is at hand */
    bool gpu;            /* the program has SASS for `arch` in it and links CUDA's own runtime library, to run on one */
} smp_compile_settings;

/* *ptx and *program (may be null: not wanted, and then no code of the host is compiled) are paths, from smp_alloc. */
smp_code smp_compile(const smp_compile_settings *settings, const char *file, char **ptx, char **program,
                     smp_error *err);

/* nvcc, ptxas, nvdisasm: in PATH, CUDA_HOME, /usr/local/cuda or Python's wheels; from smp_alloc, null: not there. */
char *smp_compile_tool(const char *name);
/* The folder of what was compiled, from smp_alloc; and one that is made, with those above it. */
char *smp_compile_cache(void);
bool smp_compile_make_folders(char *path);
const char *smp_compile_arch(const char *arch); /* "90" of "sm_90" */

/* Runs a command; *status is its exit status (128 + its signal). environment: "NAME=value", null-terminated. */
smp_code smp_compile_spawn(char *const *argv, char *const *environment, int out_fd, int *status, smp_error *err);

#endif
