/* mel: mel spectrograms and cepstra as data. */
#include "audio/mel.h"

#include <math.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "stages/launch.h"
#include "stages/shared/launch_shapes.h"
#include "stages/shared/sound/framing.h"

typedef struct params {
    int64_t bands, size, hop;
    double low, high;
    int scale, norm, edge, log;
    double floor;
    int64_t mfcc;
} params;

enum { HTK = 1 }; /* of `scale` */
enum { NORM_SLANEY, NORM_NONE };
enum { LOG_NONE, LOG_10, LOG_E, LOG_DB, LOG_WHISPER };
static const int edges[] = {SMP_ZERO, SMP_MIRROR, SMP_CLAMP, SMP_REFLECT};

static const smp_param table[] = {
    SMP_PARAM_INT(bands, NONE, 1, 512, "80", "columns, low frequencies first", SMP_P_MAIN),
    SMP_PARAM_INT(size, NONE, 16, 8192, "400", "samples of a frame, an even number", 0),
    SMP_PARAM_INT(hop, NONE, 1, 100000, "160", "samples from a frame to the next", 0),
    SMP_PARAM_FLOAT(low, HZ, 0, 1e6, "0", "where the lowest band begins", 0),
    SMP_PARAM_FLOAT(high, HZ, 0, 1e6, "auto", "where the highest band ends; auto: at half the rate", SMP_P_AUTO),
    SMP_PARAM_ENUM(log, "none", "none: power; its log10, ln or dB; whisper: as that model's features", 0, "none",
                   "log10", "ln", "db", "whisper"),
    SMP_PARAM_ENUM(scale, "slaney", "what a mel is", 0, "slaney", "htk"),
    SMP_PARAM_ENUM(norm, "slaney", "slaney: triangles of equal area; none: of height 1", 0, "slaney", "none"),
    SMP_PARAM_ENUM(edge, "zero", "what lies outside the sound", 0, "zero", "mirror", "clamp", "reflect"),
    SMP_PARAM_FLOAT(floor, NONE, 0, 1e6, "1e-10", "the least power that has a log", SMP_P_POSITIVE),
    SMP_PARAM_INT(mfcc, NONE, 0, 128, "0", "cepstral coefficients, as columns in place of bands; 0: none", 0),
    {0},
};

/* The triangle from `left` over `top` to `right` at a frequency. */
static double weight_at(double hz, const double *edge, bool area)
{
    const double rising = (hz - edge[0]) / (edge[1] - edge[0]), falling = (edge[2] - hz) / (edge[2] - edge[1]);
    return fmax(0, fmin(rising, falling)) * (area ? 2 / (edge[2] - edge[0]) : 1);
}

/* Fills in the spans and, unless `weights` is null, the weights; how many weights there are. */
static int64_t fill_bands(const params *p, const smp_mel *k, double rate, int32_t *spans, float *weights)
{
    const double low = smp_mel_of(p->scale == HTK, p->low),
                 high = smp_mel_of(p->scale == HTK, isnan(p->high) ? rate / 2 : p->high);
    int64_t count = 0;
    for (int64_t band = 0; band < k->bands; band++) {
        double edge[3];
        for (int i = 0; i < 3; i++)
            edge[i] = smp_mel_hz(p->scale == HTK, low + (high - low) * (double)(band + i) / (double)(k->bands + 1));
        int32_t *span = spans + 3 * band;
        span[0] = span[1] = 0;
        span[2] = (int32_t)count;
        for (int32_t bin = 0; bin <= k->f.bins; bin++) {
            const double weight = weight_at(bin * rate / k->f.size, edge, p->norm == NORM_SLANEY);
            if (!(weight > 0))
                continue;
            span[0] = span[1] ? span[0] : bin;
            span[1]++;
            if (weights)
                weights[count] = (float)weight;
            count++;
        }
    }
    return count;
}

static smp_code make_table(const params *p, smp_mel *k, double rate, smp_node_plan *work, smp_error *err)
{
    const double pi = 3.14159265358979323846;
    int32_t *spans = smp_alloc_array((size_t)k->bands, 3 * sizeof *spans);
    SMP_NEED(spans, "mel bands", (uint64_t)k->bands * 12, err);
    const int64_t count = fill_bands(p, k, rate, spans, NULL);
    k->spans = (int32_t)smp_frames_floats(&k->f);
    k->weights = k->spans + 3 * k->bands;
    k->cosines = k->weights + (int32_t)count;
    const size_t floats = (size_t)k->cosines + (k->cepstrum ? (size_t)k->outputs * (size_t)k->bands : 0);
    work->table.size = floats * sizeof(float);
    float *to = work->table.data = smp_alloc(work->table.size);
    if (!to) {
        smp_free(spans);
        return smp_fail_memory(err, "mel bands", work->table.size);
    }
    smp_framing_fill(&k->f, SMP_HANN, to);
    fill_bands(p, k, rate, (int32_t *)(void *)(to + k->spans), to + k->weights);
    for (int64_t i = 0; k->cepstrum && i < k->outputs; i++)
        for (int64_t band = 0; band < k->bands; band++)
            to[k->cosines + i * k->bands + band] =
                (float)(sqrt((i ? 2. : 1.) / k->bands) * cos(pi * (double)i * ((double)band + 0.5) / k->bands));
    smp_free(spans);
    return SMP_OK;
}

static smp_code check(const void *given, smp_error *err)
{
    const params *p = given;
    if (p->size % 2)
        return smp_fail(err, SMP_E_PIPE, "'size' must be even, not %lld", (long long)p->size),
               smp_hint(err, "write %lld or %lld", (long long)p->size - 1, (long long)p->size + 1);
    if (p->high <= p->low)
        return smp_fail(err, SMP_E_PIPE, "the bands end at %.6g Hz, before they begin at %.6g Hz", p->high, p->low);
    if (p->mfcc > p->bands)
        return smp_fail(err, SMP_E_PIPE, "%lld bands have no %lld coefficients", (long long)p->bands,
                        (long long)p->mfcc);
    if (p->mfcc && p->log == LOG_NONE)
        return smp_fail(err, SMP_E_PIPE, "cepstral coefficients are made of logarithms"),
               smp_hint(err, "write log=db, as librosa has it, or log=ln");
    if (p->mfcc && p->log == LOG_WHISPER)
        return smp_fail(err, SMP_E_PIPE, "log=whisper has no cepstral coefficients");
    return SMP_OK;
}

static const smp_variant whisper_variants[3];

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    static const double scales[] = {1, 0.30102999566398120, 0.69314718055994531, 3.0102999566398120,
                                    0.30102999566398120};
    const params *p = given;
    if (!(in->rate > 0))
        return smp_fail(err, SMP_E_PIPE, "the sound has no rate, which a frequency needs");
    if (in->channels != 1)
        return smp_fail(err, SMP_E_PIPE, "the sound has %d channels; mel takes one", in->channels),
               smp_hint(err, "write `remix mono` before it");
    if (p->high > in->rate / 2 || p->low >= in->rate / 2)
        return smp_fail(err, SMP_E_PIPE, "a sound of %.6g Hz has no frequencies above %.6g Hz", in->rate, in->rate / 2),
               smp_hint(err, "leave out `%s`", p->low >= in->rate / 2 ? "low" : "high");
    smp_mel *k = SMP_PLAN_KERNEL(work, smp_mel);
    *k = (smp_mel){.f = smp_framing(p->size, p->hop, edges[p->edge]),
                   .bands = (int32_t)p->bands,
                   .outputs = (int32_t)(p->mfcc ? p->mfcc : p->bands),
                   .cepstrum = p->mfcc > 0,
                   .logs = p->log != LOG_NONE,
                   .scale = (float)scales[p->log],
                   .floor = (float)p->floor};
    work->out = (smp_shape){.kind = SMP_IMAGE, .width = k->outputs, .channels = 1, .format = SMP_F32};
    smp_framing_rows(&k->f, in, work);
    if (p->log == LOG_WHISPER) {
        work->out.height = smp_max_i64(1, work->out.height - 1);
        work->between = work->out;
        work->between.height++;
        work->access = SMP_WHOLE;
        work->variants = whisper_variants;
    }
    k->frames = work->out.height;
    work->ops = (5 * log2((double)p->size) + 4) * (double)p->size / k->outputs;
    return make_table(p, k, in->rate, work, err);
}

static void naive_geometry(const smp_io *io, const void *kernel, smp_grid *grid)
{
    const smp_mel *k = kernel;
    smp_framing_grid(&k->f, io->out.rows, k->f.bins, k->f.bins + 1 + k->bands, grid);
}

static const char *padded_kernel(const smp_io *io, const void *kernel, smp_grid *grid)
{
    const smp_mel *k = kernel;
    smp_grid wanted = *grid;
    smp_framing_grid(&k->f, io->out.rows, smp_framing_padded(&k->f), k->f.bins + 1 + k->bands, &wanted);
    if (!smp_grid_fits(&wanted, grid))
        return NULL;
    *grid = wanted;
    return "mel_padded";
}

static size_t scratch(const smp_io *, const void *kernel)
{
    return smp_mel_scratch(kernel);
}

static void one_block(const smp_io *, const void *, smp_grid *grid)
{
    smp_grid_line(1, 1, 256, grid);
}

static const smp_variant variants[] = {
    {SMP_RUNG("naive", SMP_FRAMING_NAIVE, SMP_LAUNCH_AS(mel_one, .cuda = "mel_naive", .geometry = naive_geometry)),
     .scratch = scratch},
    {SMP_RUNG("padded", SMP_FRAMING_PADDED, SMP_LAUNCH_AS(mel_lanes, .decide = padded_kernel)), .scratch = scratch,
     .band = SMP_FRAMING_BAND},
    {0},
};

#define WHISPER                                                                                                        \
    SMP_LAUNCH_OVER(SCRATCH, SCRATCH, mel_most, .geometry = one_block, .once = true, .items = smp_one_item),           \
        SMP_LAUNCH_OVER(SCRATCH, OUT, mel_whisper, .geometry = smp_geometry_pixels)

static const smp_variant whisper_variants[3] = {
    {SMP_RUNG("naive", SMP_FRAMING_NAIVE,
              SMP_LAUNCH_OVER_AS(IN, SCRATCH, mel_one, .cuda = "mel_naive", .geometry = naive_geometry, .once = true),
              WHISPER),
     .scratch = scratch},
    {SMP_RUNG("padded", SMP_FRAMING_PADDED,
              {.from = SMP_IN, .to = SMP_SCRATCH, .cpu = SMP_CPU(mel_lanes), .decide = padded_kernel, .once = true},
              WHISPER),
     .scratch = scratch, .band = SMP_FRAMING_BAND},
    {0},
};

const smp_stage smp_stage_mel = {
    .name = "mel",
    .help = "a mel spectrogram, or its cepstrum (MFCC), as data",
    .about =
        "A row every `hop` samples, a column a band: librosa's melspectrogram with n_fft=size, transposed. Row t is of "
        "the `size` samples around sample t * hop, under a Hann window. Its power spectrum is weighted by triangles "
        "between bands + 2 frequencies, evenly spaced in mels from `low` to `high`. scale=slaney: linear below 1 kHz, "
        "logarithmic above; htk: 2595 log10(1 + f / 700).\n"
        "log: the logarithm of each band, of `floor` at least; db is 10 log10. mfcc=13 makes the first 13 coefficients "
        "of its cosine transform (DCT-II, orthonormal). log=whisper drops the last row, lifts what is more than 8 "
        "below the most of all to that, and scales (v + 4) / 4: `mel edge=mirror log=whisper` of 16 kHz is what "
        "Whisper reads; it needs the whole sound.\n"
        "Takes one channel: `remix mono` before. `save` as .npy keeps the values. A `size` whose half has a prime "
        "factor above 7 takes many times longer.",
    .example = "mel 40 size=128 hop=200 log=ln",
    SMP_PLANNED(SMP_AUDIO, SMP_STENCIL, table, params, variants),
    .traits = SMP_TRAIT_GIVES_IMAGE,
    .check = check,
    SMP_ALSO({"melspectrogram features", "mel"}, {"logmel fbank", "mel log=ln"}, {"mfcc", "mel log=db mfcc=13"},
             {"whisper", "mel edge=mirror log=whisper"}),
};
