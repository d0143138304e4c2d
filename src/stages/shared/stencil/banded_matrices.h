/* The matrices of whole weights (kernels/gaussian/banded_mma.h) as tensor cores want them: registers of
 * smp_mma_u8's left operand, [matrix][register][lane]. steps > 0: as smp_banded_steps() says. */
#pragma once

#include "gaussian/banded_mma.h"

/* Fills words[smp_banded_words(steps)], of the row pass: `steps` matrices with the weights' high bytes, then `steps`
 * with their low bytes. Their order of rows and columns is that of banded_mma.cuh. */
void smp_banded_matrices(const smp_gaussian *gaussian, int channels, int steps, uint32_t *words);
