/* Rows of a picture, or frames of a sound, that are spans of another's: which input row an output row is. */
#pragma once

#include "lib/view.h"

typedef struct smp_row_span {
    int64_t at, from; /* output rows from `at` on are input rows from `from` on, up to the next span */
} smp_row_span;

/* The span of output row y; the first begins with row 0. */
SMP_HOST_DEVICE int32_t smp_row_span_of(const smp_row_span *spans, int32_t count, int64_t y)
{
    int32_t low = 0, end = count;
    while (end - low > 1) {
        const int32_t middle = (low + end) / 2;
        if (spans[middle].at <= y)
            low = middle;
        else
            end = middle;
    }
    return low;
}

SMP_HOST_DEVICE int64_t smp_row_span_row(const smp_row_span *span, int64_t y)
{
    return y - span->at + span->from;
}
