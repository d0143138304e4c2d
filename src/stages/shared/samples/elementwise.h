/* Shared by the descriptors of elementwise stages. */
#pragma once

#include "elementwise/op_chain.h"
#include "stages/shared/launch_shapes.h"
#include "stages/stage.h"

/* smp_NAME_variants: the kernels NAME_naive and NAME_tiled. HELP: one line about tiled. NAIVE, TILED: the geometries of
 * the GPU kernels. */
#define SMP_TWO_VARIANTS(NAME, HELP, NAIVE, TILED)                                                                     \
    SMP_CPU_DECLARE(NAME##_naive);                                                                                     \
    SMP_CPU_DECLARE(NAME##_tiled);                                                                                     \
    const smp_variant smp_##NAME##_variants[] = {                                                                      \
        {.name = "naive",                                                                                              \
         .help = "sample by sample, always computed",                                                                  \
         .launches = {SMP_LAUNCH(NAME##_naive, .geometry = NAIVE)}},                                                   \
        {.name = "tiled", .help = HELP, .launches = {SMP_LAUNCH(NAME##_tiled, .geometry = TILED)}},                    \
        {0},                                                                                                           \
    }

/* The same for a formula of lib/elementwise.h. HOW: tables or packs, as its GPU kernel says. */
#define SMP_ELEMENTWISE_VARIANTS(NAME, HOW)                                                                            \
    SMP_TWO_VARIANTS(NAME, "vectorised blocks in the first-level cache; bytes by table", smp_geometry_samples,         \
                     smp_geometry_##HOW)

/* And of lib/per_pixel.h. */
#define SMP_PIXEL_VARIANTS(NAME)                                                                                       \
    SMP_TWO_VARIANTS(NAME, "vectorised blocks of pixels in the first-level cache", smp_geometry_pixels,                \
                     smp_geometry_pixel_tiles)

/* Sets the kernel parameters, and the operation by which the planner joins the stage with its neighbours:
 * SMP_ELEMENTWISE_PLAN(work, invert, .white = 255). NAME: of kernels/elementwise/op_list.def. Gives SMP_OK. */
#define SMP_ELEMENTWISE_PLAN(work, NAME, ...)                                                                          \
    smp_elementwise_plan(work, SMP_OP_##NAME, &(const smp_##NAME){__VA_ARGS__}, sizeof(smp_##NAME))

static inline smp_code smp_elementwise_plan(smp_node_plan *work, smp_sample_op_kind kind, const void *params,
                                            size_t size)
{
    smp_plan_kernel(work, params, size);
    work->values.op = smp_sample_op_of(kind, params, size);
    return SMP_OK;
}
