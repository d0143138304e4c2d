/* Rows of a picture, or frames of a sound, that are pieces of another's: which input row an output row is. */
#ifndef SMP_KERNELS_LIB_ROW_PIECES_H
#define SMP_KERNELS_LIB_ROW_PIECES_H

#include "lib/view.h"

typedef struct smp_row_piece {
    int64_t at, from; /* output rows from `at` on are input rows from `from` on, up to the next piece */
} smp_row_piece;

/* The piece of output row y; the first begins with row 0. */
SMP_HOST_DEVICE int32_t smp_row_piece_of(const smp_row_piece *pieces, int32_t count, int64_t y)
{
    int32_t low = 0, end = count;
    while (end - low > 1) {
        const int32_t middle = (low + end) / 2;
        if (pieces[middle].at <= y)
            low = middle;
        else
            end = middle;
    }
    return low;
}

SMP_HOST_DEVICE int64_t smp_row_piece_row(const smp_row_piece *piece, int64_t y)
{
    return y - piece->at + piece->from;
}

#endif
