/* Launch geometries of the GPU kernels of neighbourhood stages (kernels/stencil/stencil.cuh and what builds on it), and
 * what they need to choose a kernel. The parameters are the kernel parameter structs that are named. */
#ifndef SMP_STAGES_SHARED_STENCIL_LAUNCH_H
#define SMP_STAGES_SHARED_STENCIL_LAUNCH_H

#include "stages/stage.h"

/* smp_gaussian, or a struct that begins with one. */
void smp_geometry_gaussian_rows(const smp_io *io, const void *params, smp_grid *grid);
void smp_geometry_gaussian_columns(const smp_io *io, const void *params, smp_grid *grid);
void smp_geometry_gaussian_warp(const smp_io *io, const void *params,
                                smp_grid *grid); /* where smp_gaussian_warp() says so */
void smp_geometry_sharpen_warp(const smp_io *io, const void *params, smp_grid *grid);

/* smp_convolve, smp_sobel, smp_box. */
void smp_geometry_convolve(const smp_io *io, const void *params, smp_grid *grid);
void smp_geometry_sobel(const smp_io *io, const void *params, smp_grid *grid);
void smp_geometry_box_warp(const smp_io *io, const void *params, smp_grid *grid); /* where smp_box_warp() says so */
void smp_geometry_box_rows(const smp_io *io, const void *params, smp_grid *grid);
void smp_geometry_box_columns(const smp_io *io, const void *params, smp_grid *grid);

/* The tiled kernel of a 3 x 3 derivative, by channels. */
const char *smp_choose_sobel(const smp_io *io, const void *params);

/* What a launch that made both passes of a blur would see, from what one of rows, or of columns, sees: each has the
 * stage's other side as `by`. */
smp_io smp_io_of_rows(const smp_io *io);
smp_io smp_io_of_columns(const smp_io *io);

#endif
