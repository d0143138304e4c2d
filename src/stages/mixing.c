/* What the stages that mix a pixel's channels share: one pair of kernels, told the weights. */
#include <string.h>

#include "stages/geometry.h"
#include "stages/mixing.h"

const smp_variant smp_mixing_variants[] = {
    {.name = "naive",
     .help = "pixel by pixel",
     .launches = {{.from = SMP_IN,
                   .to = SMP_OUT,
                   .cpu = SMP_CPU(mix_naive),
                   .cuda = "mix_naive",
                   .geometry = smp_geometry_pixels}}},
    {.name = "tiled",
     .help = "blocks of pixels parted into planes, vectorised along them",
     .launches = {{.from = SMP_IN,
                   .to = SMP_OUT,
                   .cpu = SMP_CPU(mix_tiled),
                   .cuda = "mix_tiled",
                   .geometry = smp_geometry_pixel_tiles}}},
    {0},
};

void smp_mixing_plan(const smp_mix *mix, smp_node_plan *work)
{
    bool picks = true; /* every row takes one channel as it is, or none */
    for (int r = 0; r < mix->rows; r++) {
        double least = (double)mix->constant[r], most = least;
        int taken = 0;
        picks = picks && mix->constant[r] == 0;
        for (int c = 0; c < mix->cols; c++) {
            float w = mix->weight[r][c];
            *(w < 0 ? &least : &most) += (double)w;
            taken += w == 1;
            picks = picks && (w == 0 || w == 1);
        }
        picks = picks && taken <= 1;
        /* Weights are rounded to f32: a sum of 1 may be a little off, which rounding hides. */
        work->clips = work->clips || least < -1e-6 || most > 1 + 1e-6;
    }
    work->exactness = picks ? SMP_INTEGER : SMP_REAL;
    work->out.channels = mix->rows + mix->keep_alpha;
    work->ops = 2. * mix->rows * mix->cols / work->out.channels;
    memcpy(work->kernel, mix, sizeof *mix);
    work->kernel_size = sizeof *mix;
}
