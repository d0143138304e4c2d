/* The sample types of NumPy arrays, and their exact conversion to what a picture holds. */
#ifndef SMP_IO_IMAGES_NPY_TYPES_H
#define SMP_IO_IMAGES_NPY_TYPES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "stages/stage.h"

typedef struct smp_npy_type {
    const char *code; /* as in the header, without the byte order: "f8" */
    const char *name; /* NumPy's: "float64" */
    int bytes;        /* a sample in the file */
    smp_format format;
    /* Converts `count` samples of the machine's byte order to `format`; returns how many, which is less when `format`
     * cannot hold the next one exactly. Null: the samples are that format. */
    size_t (*convert)(const void *from, void *to, size_t count);
    const char *advice; /* where convert() stops: what to do. May be null. */
} smp_npy_type;

/* The type that a header's text describes, "<f8"; null, with an error, for others. *swap: the bytes are in the other
 * order than the machine's. */
const smp_npy_type *smp_npy_find_type(const char *text, bool *swap, smp_error *err);

/* Reverses the bytes of samples of 2, 4 or 8 bytes. */
void smp_npy_swap(void *samples, size_t count, int bytes);

/* A sample as text, for messages. */
void smp_npy_print(const smp_npy_type *type, const void *sample, char *text, size_t size);

#endif
