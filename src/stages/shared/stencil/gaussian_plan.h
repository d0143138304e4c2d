/* Weights of the gaussian-shaped blur, for the stages that plan one. */
#pragma once

#include "gaussian/gaussian_weights.h"
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
