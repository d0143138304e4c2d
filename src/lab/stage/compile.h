/* Compiles .cu files by nvcc, or by clang where there is none, once each: what was compiled is kept by the hash of the
 * sources and options in $XDG_CACHE_HOME/smempipe/kernel. For `smempipe kernel` and the stage of that name. The
 * compiler runs in a cage (base/os/tool.h). It calls others through a shell; so it gets a copy of the source under a
 * name of ours in a folder of ours, and a file with what else the user or a stranger named. */
#pragma once

#include "base/error.h"
#include "lab/stage/nvcc_flags.h"
#include "stages/foreign.h"

typedef struct smp_compile_settings {
    const char *std, *arch;       /* "c++17", "sm_90" */
    const smp_nvcc_flags *flags;  /* null: none */
    const smp_flag_list *sources; /* more files of the program: .cu, .cpp, .c; null: none */
    bool host;                    /* the first file is of the host, too: the program loads its kernels itself */
    const char *only;    /* kernels, by commas: templates get these arguments, and code of the host may not compile */
    bool no_fma;         /* multiplications and additions are not fused: the same bytes everywhere */
    const char *runtime; /* the folder of libsmp_cudart.so, which programs link; null: none is at hand */
    bool gpu;            /* the program has SASS for `arch` in it and links CUDA's own runtime library, to run on one */
    const char *text;    /* what is compiled in the file's place, with its headers; null: the file */
    const smp_kernel_reach *reach; /* of a stranger's file; null: it is the user's own */
} smp_compile_settings;

/* *ptx and *program (may be null: not wanted, and then no code of the host is compiled) are paths, from smp_alloc. Of a
 * program of several files *ptx is null: PTX of each is in it, or the SASS of all where they are linked (-rdc). */
smp_code smp_compile(const smp_compile_settings *settings, const char *file, char **ptx, char **program,
                     smp_error *err);
