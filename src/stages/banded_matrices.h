/* The matrices of whole weights (kernels/bell_banded.h) as tensor cores want them: registers of
 * smp_mma_u8's left operand, [matrix][register][lane]. steps > 0: as smp_banded_steps() says. */
#ifndef SMP_STAGES_BANDED_MATRICES_H
#define SMP_STAGES_BANDED_MATRICES_H

#include "bell_banded.h"

/* Fills words[smp_banded_words(steps)], of the row pass: `steps` matrices with the weights' high bytes, then `steps`
 * with their low bytes. Their order of rows and columns is that of bell_banded.cuh. */
void smp_banded_matrices(const smp_bell *bell, int channels, int steps, uint32_t *words);

#endif
