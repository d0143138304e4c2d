/* fftfilter: low, high and band pass by frequencies. */
#include "stages/shared/fourier/fourier_pictures.h"

enum { MARGIN = 32 /* pixels between opposite sides, at least */ };

typedef struct params {
    double lowpass, highpass;
    int shape;
    int64_t order;
    bool mean;
    int edge;
} params;

static const char *const edges[] = {[SMP_CLAMP] = "clamp", [SMP_REFLECT] = "reflect", [SMP_MIRROR] = "mirror",
                                    [SMP_WRAP] = "wrap",   [SMP_ZERO] = "zero",       NULL};

static const smp_param table[] = {
    SMP_PARAM_FLOAT(lowpass, NONE, 0, 1, "auto",
                    "what is finer goes: cycles a pixel, 0.1 is a period of 10 pixels; auto: nothing",
                    SMP_P_MAIN | SMP_P_AUTO | SMP_P_POSITIVE),
    SMP_PARAM_FLOAT(highpass, NONE, 0, 1, "auto", "what is coarser goes: cycles a pixel; auto: nothing",
                    SMP_P_AUTO | SMP_P_POSITIVE),
    SMP_PARAM_ENUM(
        shape, "gaussian",
        "how it falls off: gaussian (61 % at the frequency), butterworth (50 %), or ideal: at once, with ringing", 0,
        "gaussian", "butterworth", "ideal"),
    SMP_PARAM_INT(order, NONE, 1, 16, "2", "butterworth: how steep", 0),
    SMP_PARAM_OF(params, "keep-mean", mean, BOOL, NONE, 0, 0, "yes",
                 "highpass: the mean stays, so that the result can be seen", NULL, 0),
    SMP_PARAM_ROW(edge, ENUM, NONE, 0, 0, "reflect", "what lies outside the picture", edges, 0),
    {0},
};

static smp_code check(const void *given, smp_error *err)
{
    const params *p = given;
    if (isnan(p->lowpass) && isnan(p->highpass))
        return smp_fail(err, SMP_E_PIPE, "nothing says which frequencies pass"),
               smp_hint(err, "write fftfilter 0.1, or highpass=0.02");
    if (p->lowpass <= p->highpass)
        return smp_fail(err, SMP_E_PIPE, "lowpass must be above highpass: nothing would pass");
    return SMP_OK;
}

/* The parameter of one side of the filter, for squares of frequencies. */
static float side_of(int filter, double frequency)
{
    const double square = frequency * frequency, log2_e = 1.44269504088896340736;
    return (float)(filter == SMP_FOURIER_GAUSSIAN ? -log2_e / (2 * square)
                   : filter == SMP_FOURIER_IDEAL  ? square
                                                  : 1 / square);
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    static const int filters[] = {SMP_FOURIER_GAUSSIAN, SMP_FOURIER_BUTTERWORTH, SMP_FOURIER_IDEAL};
    const params *p = given;
    smp_fourier *k = (smp_fourier *)(void *)work->kernel.bytes;
    const int64_t margin = p->edge == SMP_WRAP ? 0 : MARGIN;
    const int64_t width = in->width > SMP_FFT_MOST ? 0 : smp_fourier_above(in->width + margin);
    const int64_t height = in->height > SMP_FFT_MOST ? 0 : smp_fourier_above(in->height + margin);
    if (!width || !height)
        return smp_fail(err, SMP_E_PIPE, "transforms have at most %d pixels a side, and this picture is %lld x %lld",
                        SMP_FFT_MOST, (long long)in->width, (long long)in->height);
    *k = (smp_fourier){.channels = in->channels - (in->alpha && !isnan(p->highpass)),
                       .edge = p->edge,
                       .filter = filters[p->shape],
                       .order = (int32_t)p->order,
                       .keeps_mean = p->mean,
                       .passes_low = !isnan(p->lowpass),
                       .passes_high = !isnan(p->highpass)};
    k->low = k->passes_low ? side_of(k->filter, p->lowpass) : 0;
    k->high = k->passes_high ? side_of(k->filter, p->highpass) : 0;
    SMP_TRY(smp_fourier_prepare(k, width, height, true, true, work, err));
    k->scale = (float)(1 / ((k->halves ? 2. : 1.) * (double)width * (double)height));
    work->ops *= 2;
    work->values.clips = true;
    return SMP_OK;
}

const smp_stage smp_stage_fftfilter = {
    .name = "fftfilter",
    .help = "low, high or band pass by frequencies, through Fourier transforms",
    .about =
        "Frequency f, in cycles a pixel in any direction, is multiplied by what passes of it. Below `lowpass` c: "
        "gaussian exp(-f^2 / (2 c^2)), butterworth 1 / (1 + (f / c)^(2 order)), ideal 1 up to c. `highpass` takes 1 "
        "less that; both are a band. The mean stays unless keep-mean=no.\n"
        "The picture is extended by at least 32 pixels of what `edge` says (wrap: by none), to sides without prime "
        "factors above 7, half behind it and half before it, then transformed, multiplied and transformed back: the "
        "result has the input's size. A low pass costs the same for every frequency; `gaussian` is faster for sigmas "
        "of some pixels (sigma = 0.159 / c). A low pass filters alpha like a colour, otherwise it passes; colour is "
        "premultiplied.",
    .example = "fftfilter 0.2 highpass=0.02",
    SMP_PLANNED(SMP_IMAGE, SMP_WHOLE, table, params, smp_fourier_filtered),
    .traits = SMP_TRAIT_NEIGHBOURHOOD | SMP_TRAIT_PIXELS,
    .check = check,
    SMP_ALSO({"fft_filter", "fftfilter 0.1"}, {"bandpass_filter fftbandpass", "fftfilter 0.3 highpass=0.02"},
             {"butterworth", "fftfilter 0.1 shape=butterworth"}),
};
