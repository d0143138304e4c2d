/* fft: the spectrum of a picture. */
#include "stages/shared/fourier/fourier_pictures.h"

typedef struct params {
    int output;
    bool shift;
} params;

static const smp_param table[] = {
    SMP_PARAM_ENUM(
        output, "magnitude",
        "of every frequency: magnitude, phase (radians), complex (real and imaginary part as channels), or log: "
        "magnitudes to look at, from 0 to 1",
        SMP_P_MAIN, "magnitude", "phase", "complex", "log"),
    SMP_PARAM_BOOL(shift, "yes", "frequency 0 is in the middle; no: in the corner at the top left", 0),
    {0},
};

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    smp_fourier *k = (smp_fourier *)(void *)work->kernel.bytes;
    const int colours = in->channels - in->alpha;
    const int64_t width = smp_fourier_above(in->width), height = smp_fourier_above(in->height);
    if (p->output == SMP_FOURIER_COMPLEX && 2 * colours > SMP_MAX_CHANNELS)
        return smp_fail(err, SMP_E_PIPE, "complex spectra of %d channels have %d; a picture has at most %d", colours,
                        2 * colours, SMP_MAX_CHANNELS),
               smp_hint(err, "write `gray` before it, or output=magnitude");
    if (!width || !height)
        return smp_fail(err, SMP_E_PIPE, "transforms have at most %d pixels a side, and this picture is %lld x %lld",
                        SMP_FFT_MOST, (long long)in->width, (long long)in->height);
    *k = (smp_fourier){.channels = colours, .edge = SMP_ZERO, .output = p->output, .centred = p->shift};
    SMP_TRY(smp_fourier_prepare(k, width, height, true, false, work, err));
    k->scale = (k->halves ? 0.5f : 1.f) / smp_white(in->format);
    k->per_log = (float)(1 / log2(1 + (double)width * (double)height));
    work->out.width = width;
    work->out.height = height;
    work->out.channels = p->output == SMP_FOURIER_COMPLEX ? 2 * colours : colours;
    work->out.alpha = false;
    work->out.format = SMP_F32;
    work->values.no_light = true;
    return SMP_OK;
}

const smp_stage smp_stage_fft = {
    .name = "fft",
    .help = "the two-dimensional Fourier transform of a picture; the result is float",
    .about =
        "numpy.fft.fft2 of samples as fractions of full scale, each channel by itself, with frequency 0 in the middle "
        "(numpy.fft.fftshift) unless shift=no. A side with a prime factor above 7 is padded with zeros to the next "
        "one without: `crop` or `pad` first to choose another size. output=complex has real and imaginary part of "
        "each channel as channels; `save` as .npy keeps them, and `ifft` makes the picture of them again. output=log "
        "is log2(1 + magnitude) / log2(1 + pixels): from 0 to 1, to look at.\n"
        "Transforms are Stockham's, of radix 4, 2, 3, 5 and 7 in this order, in f32 with factors rounded from double: "
        "rows first, of two real samples as one complex number, then columns. The same bytes on every device. Alpha is "
        "left out. `stft` has spectra of sound, `fftfilter` filters by frequency.",
    .example = "fft log",
    SMP_PLANNED(SMP_IMAGE, SMP_WHOLE, table, params, smp_fourier_forward),
    .traits = SMP_TRAIT_PIXELS,
    SMP_ALSO({"fft2 dft fourier", "fft"}, {"rfft2", "fft output=complex"}, {"fft_spectrum", "fft log"}),
};
