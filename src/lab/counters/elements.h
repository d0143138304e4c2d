/* Computes the array element that each lane of a warp accesses, and its place in a layout of the array in shared
 * memory: plain, padded or swizzled. Pure. */
#pragma once

#include <stdbool.h>

#include "banks/bank.h"

enum {
    SMP_ELEMENT_DIMS = 4,
    SMP_ELEMENT_BYTES = 1 << 20 /* the largest array or index: several times the shared memory of any block */
};

typedef struct smp_elements {
    uint32_t active;                        /* bit n: lane n is active */
    int dims;                               /* 1 to SMP_ELEMENT_DIMS */
    int64_t dim[SMP_ELEMENT_DIMS];          /* sizes; dim[0] is 0 for a plain index into memory */
    int64_t at[SMP_WARP][SMP_ELEMENT_DIMS]; /* coordinates of each lane's element; the last one is contiguous */
    int size;                               /* bytes of an element; 0: of the access */
    int from;                               /* the access begins so many bytes behind the element's start */
} smp_elements;

/* The layout of the elements. All zero: row after row without gaps. */
typedef struct smp_layout {
    int64_t period; /* elements of a row where dims is 1; else the last dimension is the row */
    int64_t pad;    /* elements left unused after each row */
    int shift; /* swizzle: column becomes column ^ (row >> shift & mask); shift < 0: row << -shift; mask 0: no swizzle
                */
    int64_t mask; /* with a row of 2^n elements, below 2^n */
} smp_layout;

/* The byte offsets of the lanes. width: bytes of an access, and of an element without a size. */
void smp_elements_place(const smp_elements *elements, const smp_layout *layout, int width, uint32_t offset[SMP_WARP]);

/* Named walks through a two-dimensional array. Lane n takes the n-th element of the walk. At the end of a line the walk
 * continues with the next one. Lanes past the last element are inactive. */
typedef enum smp_walk {
    SMP_WALK_INDEX, /* none of them */
    SMP_WALK_ROW,
    SMP_WALK_COLUMN,
    SMP_WALK_DIAGONAL,
    SMP_WALK_ANTIDIAGONAL
} smp_walk;

/* from: the row, column or diagonal of lane 0; 0 <= from < their number. */
void smp_elements_walk(smp_walk walk, int64_t rows, int64_t columns, int64_t from, smp_elements *out);

/* Changes that free an access of conflicts, all tried on the model. */
typedef struct smp_advice {
    smp_bank_cost cost; /* as it is */
    int least;          /* wavefronts that every layout needs: atomics on one address serialise wherever it is */

    smp_layout pad; /* the smallest pad that frees it; pad 0: none does */
    smp_bank_cost pad_cost;
    smp_layout best_pad; /* where none frees it: the smallest pad of those that help most; pad 0: none helps */
    smp_bank_cost best_pad_cost;

    int64_t stride, better_stride; /* elements, where lanes have a constant stride; better 0: none */
    smp_bank_cost stride_cost;

    smp_layout swizzle; /* mask 0: no swizzle frees it */
    smp_bank_cost swizzle_cost;

    int better_size; /* bytes of an element with words added, where the access is a part of it; 0: none */
    smp_bank_cost size_cost;
} smp_advice;

/* Tries all pads up to a row of the banks (larger ones repeat), and XOR swizzles where rows are powers of two. */
void smp_advise(const smp_elements *elements, smp_bank_op op, int width, smp_advice *out);

/* The change that the lab advises against the conflicts of an access: what is left, and the memory that a pad adds, of
 * the array's. False: none helps. */
typedef struct smp_bank_change {
    int wavefronts;
    double pad_share;
} smp_bank_change;
bool smp_advise_change(const smp_bank_access *access, smp_bank_change *change);
/* The same as advice; false: its active lanes, or its kind, leave nothing to try. */
bool smp_advise_access(const smp_bank_access *access, smp_advice *advice);
