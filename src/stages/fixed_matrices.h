/* The matrices of the blur in whole numbers (kernels/bell_fixed.h) as tensor cores want them. */
#ifndef SMP_STAGES_FIXED_MATRICES_H
#define SMP_STAGES_FIXED_MATRICES_H

#include "bell_fixed.h"

/* Fills words[smp_fixed_words(steps)], steps = smp_fixed_steps(bell, channels) > 0: registers of smp_mma_u8's left operand,
 * [matrix][register][lane]. Matrices: of the row pass `steps` with the weights' high bytes and `steps` with their low bytes;
 * one each of the column pass. Their order of rows and columns is that of gaussian_fixed.cu. */
void smp_fixed_matrices(const smp_bell *bell, int channels, int steps, uint32_t *words);

#endif
