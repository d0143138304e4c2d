/* jpeg_decode: the picture of an entropy-coded scan (kernels/jpeg/jpeg_decode.h). The planner inserts it behind an
 * input that the reader hands over undecoded, where a GPU computes. */
#include "jpeg/jpeg_decode.h"

#include "base/checked.h"
#include "media/jpeg_params.h"
#include "stages/shared/launch_shapes.h"
#include "stages/stage.h"

static const smp_param table[] = {
    SMP_PARAM_OF(smp_jpeg_source, "width", width, INT, PX, 1, 65535, NULL, "of the picture", NULL, SMP_P_REQUIRED),
    SMP_PARAM_OF(smp_jpeg_source, "height", height, INT, PX, 1, 65535, NULL, "of the picture", NULL, SMP_P_REQUIRED),
    SMP_PARAM_OF(smp_jpeg_source, "channels", channels, INT, NONE, 1, 3, "3", "1: gray, 3: colour", NULL, 0),
    SMP_PARAM_OF(smp_jpeg_source, "across", across, INT, NONE, 1, 2, "1",
                 "pixels that share a sample of chroma, sideways", NULL, 0),
    SMP_PARAM_OF(smp_jpeg_source, "down", down, INT, NONE, 1, 2, "1", "and downwards", NULL, 0),
    {0},
};

enum { ALIGN = 256 };

static smp_code plan(const void *params, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const smp_jpeg_source *given = params;
    const bool colour = given->channels == 3;
    if (given->channels == 2)
        return smp_fail(err, SMP_E_PIPE, "channels is 1 or 3");
    if (in->format != SMP_U8 || in->channels != 1)
        return smp_fail(err, SMP_E_PIPE, "the input is not a scan of a JPEG: those are u8x1");
    smp_jpeg_decode p = {.width = (int32_t)given->width,
                         .height = (int32_t)given->height,
                         .channels = (int32_t)given->channels,
                         .across = colour ? (int32_t)given->across : 1,
                         .down = colour ? (int32_t)given->down : 1};
    p.mcus_across = (p.width + 8 * p.across - 1) / (8 * p.across);
    p.mcus_down = (p.height + 8 * p.down - 1) / (8 * p.down);
    p.mcu_blocks = colour ? p.across * p.down + 2 : 1;
    const int64_t blocks = (int64_t)p.mcus_across * p.mcus_down * p.mcu_blocks;
    int64_t bytes, used = 0;
    if (blocks > INT32_MAX || !smp_mul_i64(in->width, in->height, &bytes) || bytes > INT32_MAX)
        return smp_fail(err, SMP_E_LIMIT, "the JPEG is too large");
    p.blocks = (uint32_t)blocks;
    p.most_subs = (uint32_t)(bytes / SMP_JPEG_LEAST_BYTES) + 1;
    p.runs_at = smp_jpeg_take(&used, (int64_t)p.most_subs * (int64_t)sizeof(smp_jpeg_run), ALIGN);
    p.entered_at = smp_jpeg_take(&used, (p.most_subs / SMP_JPEG_SUBS + 1) * (int64_t)sizeof(smp_jpeg_place), ALIGN);
    p.coefs_at = smp_jpeg_take(&used, blocks * 64 * (int64_t)sizeof(int16_t), ALIGN);
    for (int c = 0; c < p.channels; c++) {
        p.pitch[c] = (int64_t)p.mcus_across * 8 * (c ? 1 : p.across);
        p.planes_at[c] = smp_jpeg_take(&used, p.pitch[c] * p.mcus_down * 8 * (c ? 1 : p.down), ALIGN);
    }
    smp_plan_kernel(work, &p, sizeof p);
    work->between = (smp_shape){.kind = SMP_IMAGE,
                                .width = SMP_JPEG_ROW,
                                .height = (used + SMP_JPEG_ROW - 1) / SMP_JPEG_ROW,
                                .channels = 1,
                                .format = SMP_U8};
    work->out.width = p.width;
    work->out.height = p.height;
    work->out.channels = p.channels;
    work->values.exactness = SMP_INTEGER;
    work->values.undecided = true;
    work->ops = 60;
    return SMP_OK;
}

static void sync_geometry(const smp_io *io, const void *, smp_grid *grid)
{
    smp_grid_line(io->in.width * io->in.height * 8 / SMP_JPEG_SUB_BITS + 1, SMP_JPEG_SUBS, SMP_JPEG_SUBS, grid);
}

static void join_geometry(const smp_io *, const void *, smp_grid *grid)
{
    smp_grid_line(1, 1, SMP_JPEG_JOINERS, grid);
}

static void naive_idct_geometry(const smp_io *, const void *params, smp_grid *grid)
{
    smp_grid_line(((const smp_jpeg_decode *)params)->blocks, SMP_BLOCK_THREADS, SMP_BLOCK_THREADS, grid);
}

static void idct_geometry(const smp_io *, const void *params, smp_grid *grid)
{
    smp_grid_line(((const smp_jpeg_decode *)params)->blocks, SMP_BLOCK_THREADS / 8, SMP_BLOCK_THREADS, grid);
}

static void pixels_geometry(const smp_io *io, const void *params, smp_grid *grid)
{
    const smp_io pixels = smp_grid_over(io, io->out.width, io->out.rows, 1);
    smp_geometry_samples(&pixels, params, grid);
}

static void fours_geometry(const smp_io *io, const void *params, smp_grid *grid)
{
    const smp_io fours = smp_grid_over(io, (io->out.width + 3) / 4, io->out.rows, 1);
    smp_geometry_samples(&fours, params, grid);
}

/* A CPU has one launch up to the planes, a GPU four. */
#define ONCE(kernel, grid) .from = SMP_IN, .to = SMP_SCRATCH, .once = true, .cuda = (kernel), .geometry = (grid)
#define LADDER(codes, idct, idct_grid, pixels, pixel_grid)                                                             \
    {                                                                                                                  \
        {.from = SMP_IN, .to = SMP_SCRATCH, .once = true, .cpu = SMP_CPU(jpeg_planes_naive), .items = smp_one_item},   \
            {ONCE("jpeg_sync_" codes, sync_geometry)}, {ONCE("jpeg_join_" codes, join_geometry)},                      \
            {ONCE("jpeg_coefs_" codes, sync_geometry)}, {ONCE(idct, idct_grid)},                                       \
            SMP_LAUNCH_OVER_AS(SCRATCH, OUT, jpeg_pixels_naive, .cuda = (pixels), .geometry = (pixel_grid))            \
    }

static const smp_variant variants[] = {
    {.name = "naive",
     .help = "tables in global memory, a thread a block of 8 x 8, a thread a pixel",
     .launches = LADDER("naive", "jpeg_idct_naive", naive_idct_geometry, "jpeg_pixels_naive", pixels_geometry)},
    {.name = "tiled",
     .help = "tables and blocks of 8 x 8 in shared memory, which conflict; four pixels a thread",
     .launches = LADDER("tiled", "jpeg_idct_tiled", idct_geometry, "jpeg_pixels_tiled", fours_geometry)},
    {.name = "padded",
     .help = "the same with an unused word a row: blocks of 8 x 8 do not conflict",
     .launches = LADDER("tiled", "jpeg_idct_padded", idct_geometry, "jpeg_pixels_tiled", fours_geometry)},
    {0},
};

const smp_stage smp_stage_jpeg_decode = {
    .name = "jpeg_decode",
    .help = "a picture from the coded scan of a JPEG",
    .about = "Baseline JPEG (ITU-T T.81), the same bytes as libjpeg-turbo's: accurate integer transform, chroma "
             "interpolated by 3/4 and 1/4. Files that it is in doubt about are decoded by libjpeg-turbo.",
    .example = "jpeg_decode width=160 height=120 across=2 down=2",
    SMP_PLANNED(SMP_IMAGE, SMP_WHOLE, table, smp_jpeg_source, variants),
    .traits = SMP_TRAIT_INTERNAL,
    .role = SMP_ROLE_JPEG,
};
