/* Diffusion of errors: launches, and tables of colours. */
#include "stages/shared/samples/diffusing.h"

#include <math.h>

#include "stages/shared/launch_shapes.h"

smp_palette smp_palette_of(const smp_shape *in, int64_t count, int colours)
{
    return (smp_palette){
        .count = (int32_t)count,
        .colours = colours,
        .steps = (int32_t)count - 1,
        .white = in->format == SMP_U8 ? 255 : 65535,
        .scale = in->format == SMP_F32 ? 65535 : 1,
    };
}

size_t smp_palette_size(const smp_palette *k)
{
    return (size_t)(k->count * smp_palette_width(k)) * (sizeof(float) + sizeof(int32_t));
}

void smp_palette_fill(const smp_palette *k, const smp_shape *in, const double *values, void *table)
{
    const int32_t n = k->count * smp_palette_width(k);
    float *value = table;
    int32_t *code = (int32_t *)table + n;
    for (int32_t i = 0; i < n; i++) {
        code[i] = (int32_t)floor(values[i] * k->white + 0.5);
        value[i] = in->format == SMP_F32 ? (float)values[i] : (float)code[i];
    }
}

smp_code smp_diffuse_plan(const smp_palette *k, const smp_shape *in, smp_node_plan *work, smp_error *err)
{
    const smp_view picture = {.channels = in->channels, .alpha = in->alpha};
    if (work->values.linear)
        return smp_fail(err, SMP_E_PIPE, "errors are handed on in encoded values, not in linear light"),
               smp_hint(err, "write 'light encoded' before it");
    if (in->width > INT32_MAX / 8 || in->height > INT32_MAX - 64)
        return smp_fail(err, SMP_E_PIPE, "the picture is too large for dither=diffuse");
    work->rows.whole = true;
    work->values.exactness = SMP_INTEGER;
    work->variants = smp_diffuse_variants;
    work->between = (smp_shape){.kind = SMP_IMAGE,
                                .width = in->width,
                                .height = in->height + smp_diffuse_rows(k),
                                .channels = smp_diffuse_parts(k, &picture),
                                .format = SMP_U8};
    work->ops = k->colours ? 30 + 3. * k->colours * k->count : 30;
    return SMP_OK;
}

static int64_t parts(const smp_io *io, const void *kernel)
{
    return smp_diffuse_parts(kernel, &io->in);
}

static void naive_geometry(const smp_io *io, const void *kernel, smp_grid *grid)
{
    smp_grid_line(parts(io, kernel), 1, 1, grid);
}

static void tiled_geometry(const smp_io *io, const void *kernel, smp_grid *grid)
{
    const int64_t rows = (io->in.height + 31) / 32 * 32;
    smp_grid_line(parts(io, kernel), 1, (int)(rows < SMP_DIFFUSE_THREADS ? rows : SMP_DIFFUSE_THREADS), grid);
}

static size_t tiled_scratch(const smp_io *, const void *)
{
    return SMP_DIFFUSE_SCRATCH;
}

#define PAINT .from = SMP_SCRATCH, .to = SMP_OUT, .cpu = SMP_CPU(diffuse_paint), .cuda = "diffuse_paint"

const smp_variant smp_diffuse_variants[] = {
    {SMP_RUNG("naive", "pixel by pixel",
              SMP_LAUNCH_OVER(IN, SCRATCH, diffuse_naive, .geometry = naive_geometry, .once = true, .items = parts),
              {PAINT})},
    {SMP_RUNG("tiled", "rows side by side, each two columns behind the one above",
              SMP_LAUNCH_OVER(IN, SCRATCH, diffuse_tiled, .geometry = tiled_geometry, .once = true, .items = parts),
              {PAINT}),
     .scratch = tiled_scratch},
    {0},
};
