/* Orders for qsort. */
#pragma once

#include <string.h>

/* Of doubles, the least first; a NaN is as large as any. */
static inline int smp_by_double(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of texts (char *), by their bytes. */
static inline int smp_by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}
