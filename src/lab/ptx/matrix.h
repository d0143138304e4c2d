/* Shared by matrix.c, mma.c and wgmma.c: matrices of a warp, and their products. */
#pragma once

#include "lab/ptx/execute.h"

/* Row and column of value `k` of a lane's sums: PTX ISA, fragments of m16n8, two of them side by side. */
void ptx_sum_place(uint32_t lane, uint32_t k, uint32_t *row, uint32_t *column);

typedef union ptx_element {
    float real;
    int32_t whole;
} ptx_element;

/* Element `index` of a register that holds elements of `kind`, PTX_MMA_F16 and so on. */
ptx_element ptx_element_in(uint32_t word, uint32_t index, uint32_t kind);

/* Adds the product of a row and a column to a sum. `from` and `to`: what the sum is before and after, PTX_MMA_FLOATS
 * and so on. */
uint32_t ptx_sum_up(const ptx_element *a, const ptx_element *b, uint32_t depth, uint32_t before, uint32_t from,
                    uint32_t to, bool saturates);

bool ptx_is_double_wmma(const ptx_statement *s);
/* wmma.mma; cvt.rna.tf32.f32 */
ptx_decoder ptx_decode_product, ptx_decode_tf32;
