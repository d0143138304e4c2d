/* ifft: a picture from its spectrum. */
#include "stages/shared/fourier/fourier_pictures.h"

typedef struct params {
    int output;
    bool shift;
} params;

static const int outputs[] = {SMP_FOURIER_REAL, SMP_FOURIER_MAGNITUDE, SMP_FOURIER_COMPLEX};

static const smp_param table[] = {
    SMP_PARAM_ENUM(output, "real",
                   "of every pixel: its real part, magnitude, or complex: real and imaginary part as channels",
                   SMP_P_MAIN, "real", "magnitude", "complex"),
    SMP_PARAM_BOOL(shift, "yes", "frequency 0 is in the middle; no: in the corner at the top left", 0),
    {0},
};

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    smp_fourier *k = (smp_fourier *)(void *)work->kernel.bytes;
    if (in->channels % 2)
        return smp_fail(err, SMP_E_PIPE, "spectra have a real and an imaginary part; the picture has %d channel%s",
                        in->channels, in->channels == 1 ? "" : "s"),
               smp_hint(err, "`fft complex` makes them");
    if (in->format != SMP_F32)
        return smp_fail(err, SMP_E_PIPE, "spectra are floats, as `fft complex` makes them; the picture has integers");
    if (smp_fourier_above(in->width) != in->width || smp_fourier_above(in->height) != in->height)
        return smp_fail(err, SMP_E_PIPE, "a spectrum of %lld x %lld has no fast transform: a prime factor is above 7",
                        (long long)in->width, (long long)in->height),
               smp_hint(err, "`fft complex` pads its input so that there is one");
    *k = (smp_fourier){.channels = in->channels / 2, .output = outputs[p->output], .centred = p->shift};
    SMP_TRY(smp_fourier_prepare(k, in->width, in->height, false, false, work, err));
    k->scale = (float)(1 / ((double)in->width * (double)in->height));
    work->out.channels = k->output == SMP_FOURIER_COMPLEX ? in->channels : in->channels / 2;
    work->out.alpha = false;
    work->values.no_light = true;
    return SMP_OK;
}

const smp_stage smp_stage_ifft = {
    .name = "ifft",
    .help = "a picture from its complex spectrum; the result is float",
    .about =
        "numpy.fft.ifft2 of what `fft complex` gives: channels are real and imaginary part of each channel of the "
        "picture, frequency 0 is in the middle unless shift=no. `fft complex | ifft` gives the input again, padded as "
        "`fft` says: `crop` what was there. Spectra from elsewhere come as .npy of float32, height x width x 2.\n"
        "Columns first, then rows, in the order of `fft` with real and imaginary parts exchanged, times 1 / pixels.",
    .example = "ifft magnitude",
    SMP_PLANNED(SMP_IMAGE, SMP_WHOLE, table, params, smp_fourier_inverse),
    .traits = SMP_TRAIT_PIXELS,
    SMP_ALSO({"ifft2 idft irfft2 ift invfft", "ifft"}),
};
