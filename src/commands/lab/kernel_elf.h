/* Reads what nvcc put into an executable: which CUDA runtime it asks for, and where its kernels are. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define SMP_KERNEL_DRIVER "libcuda.so.1"

typedef struct smp_kernel_elf {
    unsigned char *bytes; /* from smp_alloc */
    size_t size;
    const unsigned char *code; /* the section of its kernels; null: it has none */
    size_t code_size;
    const unsigned char *parts; /* that of files that were linked (-rdc=true): their own code; null: none */
    size_t parts_size;
    char runtime[40]; /* "libcudart.so.13"; "": it asks for none */
    bool driver;      /* it asks for the driver's library */
    bool nvrtc;       /* it asks for NVRTC's, of which the lab takes a call */
    bool fixed_path;  /* it names folders of libraries that come before LD_LIBRARY_PATH (DT_RPATH) */
} smp_kernel_elf;

/* Whether a file begins as an ELF file does. */
bool smp_kernel_is_elf(const char *path);

/* An executable of this kind of machine; SMP_E_DECODE says what else it is. */
smp_code smp_kernel_elf_open(const char *path, smp_kernel_elf *out, smp_error *err);
void smp_kernel_elf_free(smp_kernel_elf *elf);
