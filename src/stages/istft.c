/* istft: a sound of the spectra of its frames. */
#include "audio/stft.h"

#include <math.h>

#include "base/checked.h"
#include "stages/launch.h"
#include "stages/shared/sound/framing.h"

typedef struct params {
    double rate;
    int64_t hop, frames;
    int window;
} params;

static const smp_param table[] = {
    SMP_PARAM_FLOAT(rate, HZ, 1, 1e7, NULL, "the sound's rate", SMP_P_MAIN | SMP_P_REQUIRED),
    SMP_PARAM_INT(hop, NONE, 1, 100000, "256", "samples from a frame to the next", 0),
    SMP_PARAM_INT(frames, NONE, 1, 0x1p53, "auto",
                  "the sound's length in samples; auto: to the middle of the last frame", SMP_P_AUTO),
    SMP_PARAM_ROW(window, ENUM, NONE, 0, 0, "hann", "the window that `stft` had", smp_taper_names, 0),
    {0},
};

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    enum { LEAST = 8, MOST = 4096 /* bins */ };
    const params *p = given;
    const int64_t size = 2 * (in->width - 1);
    if (in->channels % 2)
        return smp_fail(err, SMP_E_PIPE, "spectra have a real and an imaginary part; the picture has %d channel%s",
                        in->channels, in->channels == 1 ? "" : "s");
    if (in->format != SMP_F32)
        return smp_fail(err, SMP_E_PIPE, "spectra are floats, as `stft` makes them; the picture has integers");
    if (in->width - 1 < LEAST || in->width - 1 > MOST)
        return smp_fail(err, SMP_E_PIPE, "spectra have %d to %d numbers; the picture is %lld px wide", LEAST + 1,
                        MOST + 1, (long long)in->width);
    SMP_TRY(smp_framing_check(size, err));
    if (p->hop > size)
        return smp_fail(err, SMP_E_PIPE, "frames of %lld samples that are %lld apart leave gaps", (long long)size,
                        (long long)p->hop);
    smp_stft *k = SMP_PLAN_KERNEL(work, smp_stft);
    *k =
        (smp_stft){.f = smp_framing(size, p->hop, SMP_ZERO), .frames = in->height, .gain = (float)(0.5 / (double)size)};
    int64_t middle;
    if (!smp_mul_i64(in->height - 1, p->hop, &middle))
        return smp_fail(err, SMP_E_LIMIT, "the sound is too long");
    if (p->frames != INT64_MIN && p->frames > middle + size / 2)
        return smp_fail(err, SMP_E_PIPE, "%lld frames make at most %lld samples", (long long)in->height,
                        (long long)(middle + size / 2));
    work->out = (smp_shape){.kind = SMP_AUDIO,
                            .width = 1,
                            .height = p->frames != INT64_MIN ? p->frames : smp_max_i64(1, middle),
                            .channels = in->channels / 2,
                            .format = SMP_F32,
                            .rate = p->rate};
    work->rows.num = 1;
    work->rows.den = p->hop;
    work->rows.up = work->rows.down = smp_min_i64(size / 2 / p->hop + 2, in->height);
    work->ops = 10 * log2((double)size) * (double)size / (double)p->hop;
    return smp_framing_table(&k->f, p->window, 0, work, err);
}

static void geometry(const smp_io *io, const smp_stft *k, int64_t numbers, smp_grid *grid)
{
    smp_framing_grid(&k->f, (io->out.rows + k->f.size - 1) / k->f.size, numbers, k->f.size, grid);
    grid->grid[1] = (unsigned)io->out.channels;
}

static void naive_geometry(const smp_io *io, const void *kernel, smp_grid *grid)
{
    geometry(io, kernel, ((const smp_stft *)kernel)->f.bins, grid);
}

static const char *padded_kernel(const smp_io *io, const void *kernel, smp_grid *grid)
{
    const smp_grid known = *grid;
    geometry(io, kernel, smp_framing_padded(&((const smp_stft *)kernel)->f), grid);
    return smp_grid_fits(grid, &known) ? "istft_padded" : NULL;
}

static const smp_variant variants[] = {
    {SMP_RUNG("naive", SMP_FRAMING_NAIVE, SMP_LAUNCH_AS(istft_one, .cuda = "istft_naive", .geometry = naive_geometry)),
     .scratch = smp_framing_scratch},
    {SMP_RUNG("padded", SMP_FRAMING_PADDED, SMP_LAUNCH_AS(istft_lanes, .decide = padded_kernel)),
     .scratch = smp_framing_scratch},
    {0},
};

const smp_stage smp_stage_istft = {
    .name = "istft",
    .help = "a sound of the spectra that stft makes",
    .about =
        "Rows are spectra, as `stft` has them; a picture of n columns is of frames of 2 (n - 1) samples. Each goes "
        "through the inverse transform and the window; what overlaps is added up, and divided by the sum of the "
        "squared windows, as librosa's and scipy's istft do. `hop` and `window` must be those of `stft`: the file does "
        "not tell. `stft` forgets how much the sound goes on behind the middle of its last frame: `frames` says so.",
    .example = "istft 8kHz hop=40",
    SMP_PLANNED(SMP_IMAGE, SMP_STENCIL, table, params, variants),
    .traits = SMP_TRAIT_GIVES_SOUND,
    SMP_ALSO({"irfft", "istft 44.1kHz"}),
};
