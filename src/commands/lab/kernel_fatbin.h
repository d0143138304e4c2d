/* Reads what nvcc put into an executable: which CUDA runtime it asks for, and the PTX and SASS of its kernels. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct smp_kernel_elf {
    unsigned char *bytes; /* from smp_alloc */
    size_t size;
    const unsigned char *code; /* the section of its kernels; null: it has none */
    size_t code_size;
    const unsigned char *parts; /* that of files that were linked (-rdc=true): their own code; null: none */
    size_t parts_size;
    char runtime[40]; /* "libcudart.so.13"; "": it asks for none */
    bool fixed_path;  /* it names folders of libraries that come before LD_LIBRARY_PATH (DT_RPATH) */
} smp_kernel_elf;

/* Whether a file begins as an ELF file does. */
bool smp_kernel_is_elf(const char *path);

/* An executable of this kind of machine; SMP_E_DECODE says what else it is. */
smp_code smp_kernel_elf_open(const char *path, smp_kernel_elf *out, smp_error *err);
void smp_kernel_elf_free(smp_kernel_elf *elf);

/* One PTX or one cubin of a fatbin, which holds those of a source file. */
typedef struct smp_kernel_image {
    bool is_ptx;
    int arch;                   /* 90 */
    const unsigned char *bytes; /* as they lie in the file */
    size_t size, unpacked_size; /* unpacked_size 0: they are not packed */
    bool zstd;                  /* how they are packed; else LZ4 */
} smp_kernel_image;

enum { SMP_KERNEL_MOST_IMAGES = 64 };
typedef struct smp_kernel_fatbin {
    uint64_t key; /* of its bytes: the runtime library knows it by that */
    smp_kernel_image images[SMP_KERNEL_MOST_IMAGES];
    size_t count;
} smp_kernel_fatbin;

/* The fatbin at *at of code, or behind it; *at moves past it. False: there is none. A damaged one fails. */
smp_code smp_kernel_next_fatbin(const unsigned char *code, size_t size, size_t *at, smp_kernel_fatbin *out, bool *found,
                                smp_error *err);

/* The bytes of an image, with a zero behind them, from smp_alloc. */
smp_code smp_kernel_unpack(const smp_kernel_image *image, unsigned char **bytes, size_t *size, smp_error *err);
