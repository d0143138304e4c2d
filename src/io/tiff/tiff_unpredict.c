/* Undoes predictors: see tiff_unpredict.h. */
#include "io/tiff/tiff_glue.h"

#include <string.h>

#include "io/format.h"

static void swap_bytes(uint8_t *row, size_t size, size_t each)
{
    for (uint8_t *at = row; each > 1 && at + each <= row + size; at += each)
        for (size_t a = 0, b = each - 1; a < b; a++, b--) {
            const uint8_t byte = at[a];
            at[a] = at[b];
            at[b] = byte;
        }
}

/* Sums stay in registers. */
#define ADD_UP_FEW(FEW)                                                                                                \
    for (size_t i = 0; i + FEW <= count; i += FEW)                                                                     \
        for (size_t c = 0; c < FEW; c++) {                                                                             \
            s[i + c] += sum[c];                                                                                        \
            sum[c] = s[i + c];                                                                                         \
        }

/* Rows are aligned for their samples, and have whole pixels. */
#define ADD_UP(NAME, TYPE)                                                                                             \
    static void NAME(TYPE *s, size_t count, size_t samples)                                                            \
    {                                                                                                                  \
        TYPE sum[4] = {0};                                                                                             \
        if (samples == 1)                                                                                              \
            ADD_UP_FEW(1)                                                                                              \
        else if (samples == 3)                                                                                         \
            ADD_UP_FEW(3)                                                                                              \
        else if (samples == 4)                                                                                         \
            ADD_UP_FEW(4)                                                                                              \
        else                                                                                                           \
            for (size_t i = samples; i < count; i++)                                                                   \
                s[i] = (TYPE)(s[i] + s[i - samples]);                                                                  \
    }
ADD_UP(add_up_8, uint8_t)
ADD_UP(add_up_16, uint16_t)
ADD_UP(add_up_32, uint32_t)
ADD_UP(add_up_64, uint64_t)

static void add_up(uint8_t *row, size_t size, size_t samples, size_t each)
{
    if (each == 1)
        add_up_8(row, size, samples);
    else if (each == 2)
        add_up_16((uint16_t *)(void *)row, size / 2, samples);
    else if (each == 4)
        add_up_32((uint32_t *)(void *)row, size / 4, samples);
    else
        add_up_64((uint64_t *)(void *)row, size / 8, samples);
}

/* The bytes of all samples lie by their weight, the highest first. */
static void join_bytes(uint8_t *row, size_t size, size_t each, uint8_t *line)
{
    const size_t count = size / each;
    memcpy(line, row, size);
    for (size_t b = 0; b < each; b++) {
        const uint8_t *from = line + b * count;
        uint8_t *to = row + (smp_little_endian() ? each - 1 - b : b);
        for (size_t i = 0; i < count; i++)
            to[i * each] = from[i];
    }
}

void smp_tiff_unpredict(int predictor, int bits, size_t samples, bool swap, uint8_t *row, size_t size, uint8_t *line)
{
    const size_t each = bits >= 8 ? (size_t)bits / 8 : 1;
    if (predictor == TIFF_PREDICT_FLOATS) {
        add_up(row, size, samples, 1);
        join_bytes(row, size, each, line);
        return;
    }
    if (swap)
        swap_bytes(row, size, each);
    if (predictor == TIFF_PREDICT_ACROSS)
        add_up(row, size, samples, each);
}
