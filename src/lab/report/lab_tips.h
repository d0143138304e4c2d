/* Other layouts of arrays in shared memory: each is counted with all recorded accesses of the kernels that use the
 * array, and one that costs any of them more is no tip. */
#pragma once

#include "lab/machine/warp.h"
#include "lab/report/declared.h"

/* Changes of a layout, in elements. A row is the last dimension; of an array of one dimension `period` elements. */
typedef struct smp_lab_layout {
    uint32_t period;
    uint32_t pad;                 /* behind each row */
    uint32_t rows;                /* so many rows behind each plane */
    uint32_t grow;                /* bytes more in each element, a structure */
    uint32_t divide, mask, group; /* column becomes column ^ (row / divide & mask) * group; mask 0: stays */
} smp_lab_layout;

/* The text of a size in a declaration with so many elements more, for each `period` of them (0: once). */
void smp_lab_size_text(const char *source, size_t size, uint32_t more, uint32_t period, char *text, size_t room);
/* That of the changed index: the last one of several, of which `row` stands before it, or the only one, `row`. */
void smp_lab_index_text(const smp_lab_layout *y, const char *row, const char *column, char *text, size_t room);

typedef struct smp_lab_tip {
    const char *path, *name; /* path: of the source, which is a result's; null: no declaration is known */
    smp_declared declared;
    smp_lab_layout layout;
    bool better;       /* the layout takes fewer wavefronts; else it is none */
    char refused[200]; /* the caller's: why it cannot be applied; "" */
} smp_lab_tip;

typedef struct smp_lab_tips {
    smp_lab_tip *items;
    size_t count, capacity;
} smp_lab_tips;

/* Finds the best layout of each array that has conflicts, and writes it into the results (smp_warp_array.tip).
 * defines: of the compiler's -D. False: no memory. */
bool smp_lab_find_tips(smp_warp_result *results, size_t count, char *const *defines, size_t define_count,
                       smp_lab_tips *out);
