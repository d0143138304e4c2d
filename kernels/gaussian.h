/* gaussian: the blur of bell.h as a stage of its own. Its kernel parameters are smp_bell. */
#ifndef SMP_KERNELS_GAUSSIAN_H
#define SMP_KERNELS_GAUSSIAN_H

#include "bell.h"

#ifdef __cplusplus
extern "C" {
#endif
SMP_CPU_DECLARE(gaussian_rows);    /* naive, first launch: to an f32 picture */
SMP_CPU_DECLARE(gaussian_columns); /* naive, second launch */
SMP_CPU_DECLARE(gaussian_tiled);

/* The same where smp_bell.fixed says so: called by those three (gaussian_fixed.c). */
#ifdef SMP_ISA
void SMP_PASTE(gaussian_fixed_rows, SMP_ISA)(const smp_io *io, const smp_bell *g, int64_t y0, int64_t y1);
void SMP_PASTE(gaussian_fixed_columns, SMP_ISA)(const smp_io *io, const smp_bell *g, int64_t y0, int64_t y1);
void SMP_PASTE(gaussian_fixed_tiled, SMP_ISA)(const smp_io *io, const smp_bell *g, void *scratch, int64_t y0,
                                              int64_t y1);
#endif
#ifdef __cplusplus
}
#endif

#endif
