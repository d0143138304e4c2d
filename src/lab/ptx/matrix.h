/* Shared by matrix.c and wmma.c: how matrices of a warp lie in memory and registers. */
#pragma once

#include "lab/ptx/execute.h"

enum { PTX_LOAD_FACTOR, PTX_LOAD_SUM }; /* mode of a load */

warp_space ptx_matrix_space(const ptx_statement *s);
void ptx_matrix_address(ptx_parser *parser, ptx_text operand, warp_inst *inst);

/* One access by some lanes; `at` is where their bytes are, null for lanes without. */
void ptx_touch_matrix(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes, warp_space space,
                      const uint64_t address[WARP_LANES], uint32_t width, bool write, unsigned char *at[WARP_LANES]);
/* The instruction counts once, though its pieces are accesses of their own. */
void ptx_count_matrix_once(warp_block *block, const warp_inst *inst, warp_space space, uint32_t pieces);
uint64_t ptx_matrix_base(const warp_frame *frame, const warp_inst *inst, uint32_t lane, warp_space *space);

/* Row and column of value `k` of a lane's sums: PTX ISA, fragments of m16n8, two of them side by side. */
void ptx_sum_place(uint32_t lane, uint32_t k, uint32_t *row, uint32_t *column);

/* wmma of bytes and of tf32; of doubles; cvt.rna.tf32.f32 */
bool ptx_is_other_wmma(const ptx_statement *s);
bool ptx_is_double_wmma(const ptx_statement *s);
ptx_decoder ptx_decode_other_wmma, ptx_decode_double_wmma, ptx_decode_tf32;
