/* Images of device code: PTX and cubins in the fatbins that nvcc makes, and files of them in the cache. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

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

/* The PTX of the newest architecture up to that of --arch, else the oldest; without PTX a cubin of that architecture,
 * else of the newest. Null: it has neither. */
const smp_kernel_image *smp_kernel_choose_image(const smp_kernel_fatbin *fatbin, int arch);

/* Keeps bytes in the cache by their hash; ending: "ptx"; *path is from smp_alloc. */
smp_code smp_kernel_keep_image(const unsigned char *bytes, size_t size, const char *ending, char **path,
                               smp_error *err);
