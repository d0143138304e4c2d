/* waveform: how far a sound swings over time, as a picture. */
#include "audio/waveform.h"

#include "base/checked.h"
#include "stages/shared/launch_shapes.h"
#include "stages/stage.h"

typedef struct params {
    int64_t width, height;
    int colors;
} params;

enum { LIGHT, DARK, GRAY, NONE };

static const smp_param table[] = {
    SMP_PARAM_INT(width, PX, 1, 100000, "1800", "columns of the picture", SMP_P_MAIN),
    SMP_PARAM_INT(height, PX, 8, 20000, "280", "rows, of all channels together", 0),
    SMP_PARAM_ENUM(
        colors, "light",
        "light: blue on white; dark: green on black; gray: white on black, of one channel; none: the numbers as float",
        0, "light", "dark", "gray", "none"),
    {0},
};

static const smp_variant data_variants[3];

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *)
{
    static const float on[][3] = {{24, 78, 158}, {110, 220, 130}, {255, 0, 0}}, paper = 255;
    const params *p = given;
    smp_waveform *k = SMP_PLAN_KERNEL(work, smp_waveform);
    *k = (smp_waveform){.frames = in->height,
                        .width = p->width,
                        .rows = (int32_t)smp_max_i64(1, p->height / in->channels),
                        .colors = p->colors == GRAY || p->colors == NONE ? 1 : 3};
    for (int i = 0; i < 3 && p->colors != NONE; i++) {
        k->on[i] = on[p->colors][i];
        k->off[i] = p->colors == LIGHT ? paper : 0;
    }
    work->ops = 2. * (double)in->height / (double)p->width;
    if (p->colors == NONE) {
        work->out = (smp_shape){
            .kind = SMP_IMAGE, .width = 2 * in->channels, .height = p->width, .channels = 1, .format = SMP_F32};
        work->variants = data_variants;
        return SMP_OK;
    }
    work->out = (smp_shape){.kind = SMP_IMAGE,
                            .width = p->width,
                            .height = k->rows * (int64_t)in->channels,
                            .channels = k->colors,
                            .format = SMP_U8};
    work->between = (smp_shape){.width = 2 * in->channels, .height = p->width, .channels = 1, .format = SMP_F32};
    return SMP_OK;
}

static void geometry(const smp_io *io, int64_t each, int threads, smp_grid *grid)
{
    smp_grid_line(io->out.rows, each, threads, grid);
    grid->grid[1] = (unsigned)io->in.channels;
}

static void naive_geometry(const smp_io *io, const void *, smp_grid *grid)
{
    geometry(io, SMP_WAVEFORM_THREADS, SMP_WAVEFORM_THREADS, grid);
}

static void tiled_geometry(const smp_io *io, const void *, smp_grid *grid)
{
    geometry(io, 1, SMP_WAVEFORM_THREADS, grid);
}

#define NAIVE_HELP "sample by sample; on GPUs a column a thread"
#define TILED_HELP "frames in vectors; on GPUs a column a block, its extremes by a tree in shared memory"
#define FIND_NAIVE .cpu = SMP_CPU(waveform_naive), .cuda = "waveform_naive", .geometry = naive_geometry
#define FIND_TILED .cpu = SMP_CPU(waveform_tiled), .cuda = "waveform_tiled", .geometry = tiled_geometry
#define DRAW                                                                                                           \
    .from = SMP_SCRATCH, .to = SMP_OUT, .cpu = SMP_CPU(waveform_draw), .cuda = "waveform_draw",                        \
    .geometry = smp_geometry_pixels

static const smp_variant variants[] = {
    {SMP_RUNG("naive", NAIVE_HELP, {.from = SMP_IN, .to = SMP_SCRATCH, FIND_NAIVE, .once = true}, {DRAW})},
    {SMP_RUNG("tiled", TILED_HELP, {.from = SMP_IN, .to = SMP_SCRATCH, FIND_TILED, .once = true}, {DRAW})},
    {0},
};

static const smp_variant data_variants[3] = {
    {SMP_RUNG("naive", NAIVE_HELP, {.from = SMP_IN, .to = SMP_OUT, FIND_NAIVE})},
    {SMP_RUNG("tiled", TILED_HELP, {.from = SMP_IN, .to = SMP_OUT, FIND_TILED})},
    {0},
};

const smp_stage smp_stage_waveform = {
    .name = "waveform",
    .help = "how far a sound swings over time, as a picture",
    .about =
        "The picture is `width` columns for the whole sound, whatever its length. A column is drawn from the least to "
        "the most sample of its stretch, full scale being the top and the bottom. Channels lie one above the other, "
        "`height` / channels rows each.\n"
        "colors=none gives numbers instead: a row for each column, least and most of the first channel, then of the "
        "next ones; `save` as .npy keeps them. The whole sound is needed in memory. `spectrogram` shows frequencies.",
    .example = "waveform 50 height=40",
    SMP_PLANNED(SMP_AUDIO, SMP_WHOLE, table, params, variants),
    .traits = SMP_TRAIT_GIVES_IMAGE,
    SMP_ALSO({"showwavespic audiowaveform", "waveform"}),
};
