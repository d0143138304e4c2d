/* Shared by stages that diffuse errors to neighbours: posterise, palette. */
#pragma once

#include "elementwise/diffuse.h"
#include "stages/stage.h"

extern const smp_variant smp_diffuse_variants[];

/* The kernel parameters of `count` colours of `colours` channels, or of `count` levels of each channel (colours 0). */
smp_palette smp_palette_of(const smp_shape *in, int64_t count, int colours);

/* Bytes of their table (palette.h), and its colours: values are fractions of full scale. */
size_t smp_palette_size(const smp_palette *k);
void smp_palette_fill(const smp_palette *k, const smp_shape *in, const double *values, void *table);

/* For plan(): makes the plan one of smp_diffuse_variants. Its kernel parameters are there, *k; its table need not be.
 */
smp_code smp_diffuse_plan(const smp_palette *k, const smp_shape *in, smp_node_plan *work, smp_error *err);
