/* Shared by stages on windows of samples (kernels/stencil/window.h): two parameters, the plan, and what a launch
 * needs. */
#pragma once

#include "stages/stage.h"
#include "stencil/window.h"

/* The parameters edge and fill: rows of a parameter table whose struct has these fields. */
#define SMP_WINDOW_EDGE(type)                                                                                          \
    SMP_PARAM_OF(type, "edge", edge, ENUM, NONE, 0, 0, "clamp", "what lies outside the picture", smp_edge_names, 0)
#define SMP_WINDOW_FILL(type)                                                                                          \
    SMP_PARAM_OF(type, "fill", fill, FLOAT, FRACTION, 0, 1, "0", "the value outside with edge=constant", NULL,         \
                 SMP_P_LEVEL)

/* Fills in the kernel parameters, `size` bytes that begin with an smp_window, and the rows that they reach. */
void smp_window_plan(const void *kernel, size_t size, smp_node_plan *work);

/* smp_variant.scratch of the tiled kernel. */
size_t smp_window_bytes(const smp_io *io, const void *kernel);

/* smp_launch.tiles of the tiled GPU kernels. */
#define SMP_WINDOW_TILES                                                                                               \
    {                                                                                                                  \
        SMP_WINDOW_ACROSS, SMP_WINDOW_DOWN, 32, SMP_WINDOW_DOWN / SMP_WINDOW_EACH                                      \
    }
extern const smp_tiles smp_window_tiles;

/* smp_stage.variants from the kernels that SMP_WINDOW_CPU and SMP_WINDOW_GPU make. What follows the name tells the
 * launch of the tiled GPU kernel: `.cuda = "emboss_tiled3", .tiles = SMP_WINDOW_TILES`, or `.decide` where there are
 * several sizes. */
#define SMP_WINDOW_VARIANTS(name_, ...)                                                                                \
    {                                                                                                                  \
        {.name = "naive",                                                                                              \
         .help = "every sample of every window anew",                                                                  \
         .launches = {SMP_LAUNCH_SAMPLES(name_##_naive)}},                                                             \
            {.name = "tiled",                                                                                          \
             .help = "CPU: rows in cache, a vector of windows at a time; GPU: a tile with its halo in shared memory",  \
             .launches = {SMP_LAUNCH_AS(name_##_tiled, __VA_ARGS__)},                                                  \
             .scratch = smp_window_bytes,                                                                              \
             .band = 16},                                                                                              \
            {0},                                                                                                       \
    }
