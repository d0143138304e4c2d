/* stft: spectra of a sound's frames as data. */
#include "audio/stft.h"

#include <math.h>

#include "stages/launch.h"
#include "stages/shared/sound/framing.h"

typedef struct params {
    int64_t size, hop;
    int window, edge;
} params;

static const int edges[] = {SMP_ZERO, SMP_MIRROR, SMP_CLAMP, SMP_REFLECT};

static const smp_param table[] = {
    SMP_PARAM_INT(size, NONE, 16, 8192, "1024", "samples of a frame, an even number", SMP_P_MAIN),
    SMP_PARAM_INT(hop, NONE, 1, 100000, "256", "samples from a frame to the next", 0),
    SMP_PARAM_ROW(window, ENUM, NONE, 0, 0, "hann", "how a frame fades at its ends", smp_taper_names, 0),
    SMP_PARAM_ENUM(edge, "zero", "what lies outside the sound", 0, "zero", "mirror", "clamp", "reflect"),
    {0},
};

static smp_code check(const void *given, smp_error *err)
{
    return smp_framing_check(((const params *)given)->size, err);
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    if (2 * in->channels > SMP_MAX_CHANNELS)
        return smp_fail(err, SMP_E_PIPE, "spectra of %d channels have %d; a picture has at most %d", in->channels,
                        2 * in->channels, SMP_MAX_CHANNELS),
               smp_hint(err, "write `remix` before it");
    smp_stft *k = SMP_PLAN_KERNEL(work, smp_stft);
    *k = (smp_stft){.f = smp_framing(p->size, p->hop, edges[p->edge])};
    work->out = (smp_shape){
        .kind = SMP_IMAGE, .width = k->f.bins + 1, .channels = 2 * in->channels, .format = SMP_F32, .curve = 1};
    smp_framing_rows(&k->f, in, work);
    work->ops = 5 * log2((double)p->size);
    return smp_framing_table(&k->f, p->window, 0, work, err);
}

static void geometry(const smp_io *io, const smp_stft *k, int64_t numbers, smp_grid *grid)
{
    smp_framing_grid(&k->f, io->out.rows, numbers, 0, grid);
    grid->grid[1] = (unsigned)io->in.channels;
}

static void naive_geometry(const smp_io *io, const void *kernel, smp_grid *grid)
{
    geometry(io, kernel, ((const smp_stft *)kernel)->f.bins, grid);
}

static const char *padded_kernel(const smp_io *io, const void *kernel, smp_grid *grid)
{
    const smp_grid known = *grid;
    geometry(io, kernel, smp_framing_padded(&((const smp_stft *)kernel)->f), grid);
    return smp_grid_fits(grid, &known) ? "stft_padded" : NULL;
}

static const smp_variant variants[] = {
    {SMP_RUNG("naive", SMP_FRAMING_NAIVE, SMP_LAUNCH_AS(stft_one, .cuda = "stft_naive", .geometry = naive_geometry)),
     .scratch = smp_framing_scratch},
    {SMP_RUNG("padded", SMP_FRAMING_PADDED, SMP_LAUNCH_AS(stft_lanes, .decide = padded_kernel)),
     .scratch = smp_framing_scratch, .band = SMP_FRAMING_BAND},
    {0},
};

const smp_stage smp_stage_stft = {
    .name = "stft",
    .help = "spectra of a sound's frames, as data",
    .about = "A row every `hop` samples; row t is the discrete Fourier transform of the `size` samples around sample t "
             "* hop, under the window: librosa's stft with n_fft=size, transposed. Columns are frequencies, from 0 to "
             "half the rate: column k is k * rate / size. Channels are real and imaginary part, of each channel of the "
             "sound. `save` as .npy keeps the values, and `istft` makes a sound of them again.\n"
             "`spectrogram` shows levels as a picture, `mel` makes bands.",
    .example = "stft 32 hop=200",
    SMP_PLANNED(SMP_AUDIO, SMP_STENCIL, table, params, variants),
    .traits = SMP_TRAIT_GIVES_IMAGE,
    .check = check,
    SMP_ALSO({"rfft", "stft"}),
};
