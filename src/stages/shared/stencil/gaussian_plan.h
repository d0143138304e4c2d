/* Weights of the gaussian-shaped blur, for the stages that plan one. */
#pragma once

#include "gaussian/banded_mma.h"
#include "gaussian/gaussian_weights.h"
#include "lib/tuning.h"
#include "stages/stage.h"

enum { SMP_GAUSSIAN_MAX_SIGMA = 1000 }; /* px: 8001 taps a pass with the default truncation */

/* Fills w[0..radius] (w[k] for distance k, from the centre) in double: samples exp(-k^2 / (2 sigma^2)) of the gaussian,
 * normalised so that w[0] + 2 * sum w[k] = 1, as scipy.ndimage and OpenCV have them at every sigma. */
void smp_gaussian_fill(double *w, int radius, double sigma);

/* Fills whole[0..radius], radius <= SMP_GAUSSIAN_INTEGER_ROWS, with whole numbers below 65536 that are nearly
 * proportional to the weights b (as above), and returns their sum over all taps, N <= 65536. Of 4096 scales that one is
 * taken for which the sum of |whole[k] / N - b[k]| over all taps is least: 127.5 times that, which *moved becomes, is
 * as far as a weighted mean of code values 0..255 can move. */
int smp_gaussian_integer_rows(const double *b, int radius, int32_t *whole, double *moved);

/* Plans a blur: *gaussian becomes the kernel parameters, work gets reach, ops and, for many taps, the table of weights.
 * The radius is truncate * sigma to nearest; with one of 0 there is nothing to do. sigma >= 0 in px; edge a smp_edge;
 * fill a fraction of full scale; bytes: of an 8-bit picture, whose row weights may be 65536ths (gaussian_weights.h). */
smp_code smp_gaussian_plan(double sigma, double truncate, int edge, double fill, bool bytes, smp_gaussian *gaussian,
                           smp_node_plan *work, smp_error *err);

/* GPU launches that the gaussian-shaped blurs share (gaussian, sharpen). */

/* smp_launch.tiles of the row and of the column pass of `tiled`. */
#define SMP_GAUSSIAN_ROW_TILES                                                                                         \
    {                                                                                                                  \
        SMP_GAUSSIAN_ACROSS, SMP_GAUSSIAN_LINES, SMP_GAUSSIAN_LANES, SMP_GAUSSIAN_ROWS                                 \
    }
#define SMP_GAUSSIAN_COLUMN_TILES                                                                                      \
    {                                                                                                                  \
        SMP_GAUSSIAN_COLUMNS, SMP_GAUSSIAN_DOWN, SMP_GAUSSIAN_COLUMNS / 4, SMP_GAUSSIAN_DOWN / SMP_GAUSSIAN_EACH       \
    }

/* The grid of a kernel of kernels/gaussian/gaussian_warp.cuh of this radius. */
void smp_gaussian_warp_grid(const smp_io *io, int radius, smp_grid *grid);

/* The matrices of whole weights (kernels/gaussian/banded_mma.h) as tensor cores want them: registers of
 * smp_mma_u8's left operand, [matrix][register][lane]. steps > 0: as smp_banded_steps() says. */

/* Fills words[smp_banded_words(steps)], of the row pass: `steps` matrices with the weights' high bytes, then `steps`
 * with their low bytes. Their order of rows and columns is that of banded_mma.cuh. */
void smp_banded_matrices(const smp_gaussian *gaussian, int channels, int steps, uint32_t *words);
