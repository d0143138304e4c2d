/* Layout of rows in memory. */
#pragma once

#include "base/alloc.h"
#include "base/checked.h"

/* Returns the bytes from one row to the next, when rows begin at multiples of SMP_ALIGN. INT64_MAX, which no memory
 * has, where that is beyond an int64_t: sizes may come from a file. */
static inline int64_t smp_aligned_stride(int64_t row)
{
    int64_t end;
    return smp_add_i64(row, SMP_ALIGN - 1, &end) ? end / SMP_ALIGN * SMP_ALIGN : INT64_MAX;
}

/* The same for a row of `width` pixels. Rows of one pixel (above all sound) have no gaps between them. */
static inline int64_t smp_stride(int64_t width, int64_t row)
{
    return width == 1 ? row : smp_aligned_stride(row);
}
