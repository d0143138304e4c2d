/* The sample types of NumPy arrays, and their exact conversion to formats of pictures. */
#pragma once

#include "base/error.h"
#include "stages/stage.h"

typedef struct smp_npy_type {
    const char *code; /* as in the header, without the byte order: "f8" */
    const char *name; /* NumPy's: "float64" */
    int bytes;        /* of a sample in the file */
    smp_format format;
    /* Converts `count` samples in the machine's byte order to `format`. Returns how many: fewer when `format` cannot
     * hold the next one: integers exactly, floats in range. Null: the samples have that format already. */
    size_t (*convert)(const void *from, void *to, size_t count);
    const char *advice; /* what to do about a value that convert() refuses; may be null */
} smp_npy_type;

/* The type of a header's text, "<f8". Null, with an error, for unknown ones. *swap: the byte order is not the
 * machine's. */
const smp_npy_type *smp_npy_find_type(const char *text, bool *swap, smp_error *err);

/* Whether some of the numbers that convert() converted are not what they were. */
bool smp_npy_rounded(const smp_npy_type *type, const void *from, const void *to, size_t count);

/* Reverses the bytes of samples of 2, 4 or 8 bytes. */
void smp_npy_swap(void *samples, size_t count, int bytes);

/* Formats a sample as text, for messages. */
void smp_npy_print(const smp_npy_type *type, const void *sample, char *text, size_t size);
