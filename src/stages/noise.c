/* noise: random values, the same for the same seed on every device. */
#include "elementwise/noise.h"

#include <math.h>

#include "base/alloc.h"
#include "stages/shared/launch_shapes.h"
#include "stages/shared/reduce/reduction_chunks.h"
#include "stages/stage.h"

typedef struct noise_params {
    double amount; /* NaN: auto */
    int kind;
    int64_t seed;
    double snr; /* dB; NaN: auto */
} noise_params;

static const char *const kinds[] = {
    [SMP_NOISE_GAUSSIAN] = "gaussian", [SMP_NOISE_UNIFORM] = "uniform", [SMP_NOISE_SALT_PEPPER] = "salt-pepper", NULL};

static const smp_param params[] = {
    {"amount", offsetof(noise_params, amount), SMP_T_FLOAT, SMP_UNIT_FRACTION, 0, 1, "auto",
     "gaussian: the deviation; uniform: the most; salt-pepper: the share of samples that become 0 or full scale", NULL,
     SMP_P_MAIN | SMP_P_AUTO | SMP_P_LEVEL},
    {"kind", offsetof(noise_params, kind), SMP_T_ENUM, SMP_UNIT_NONE, 0, 0, "gaussian", "how values are distributed",
     kinds, 0},
    {"seed", offsetof(noise_params, seed), SMP_T_INT, SMP_UNIT_NONE, 0, 9007199254740991, "0",
     "another seed gives other noise, the same seed the same; random: another for each file", NULL, SMP_P_ANY},
    {"snr", offsetof(noise_params, snr), SMP_T_FLOAT, SMP_UNIT_DB, -100, 200, "auto",
     "instead of amount: how far the noise lies below a sound's mean power", NULL, SMP_P_AUTO},
    {0},
};

static smp_code check(const void *given, smp_error *err)
{
    const noise_params *p = given;
    if (isnan(p->amount) == isnan(p->snr)) {
        smp_fail(err, SMP_E_PIPE, isnan(p->snr) ? "nothing says how much noise" : "amount and snr both say how much");
        return smp_hint(err, "write noise 4%%, or for a sound noise snr=20dB");
    }
    if (!isnan(p->snr) && p->kind == SMP_NOISE_SALT_PEPPER)
        return smp_fail(err, SMP_E_PIPE, "salt and pepper has an amount, and no power: leave out snr");
    return SMP_OK;
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    static const double turn = 6.283185307179586;
    const noise_params *p = given;
    const float white = smp_white(in->format);
    const smp_noise noise = {
        .seed = (uint64_t)p->seed,
        .kind = p->kind,
        .amount = p->kind == SMP_NOISE_SALT_PEPPER ? (float)p->amount : (float)(p->amount * (double)white),
        .white = white,
    };
    work->effect.none = p->amount == 0;
    work->table.size = (SMP_NOISE_SINES + 1) * sizeof(float);
    float *sines = work->table.data = smp_alloc(work->table.size);
    SMP_NEED(sines, "a table of sines", work->table.size, err);
    for (int i = 0; i <= SMP_NOISE_SINES; i++)
        sines[i] = (float)sin(turn * i / SMP_NOISE_SINES);
    smp_plan_kernel(work, &noise, sizeof noise);
    work->values.exactness = p->kind == SMP_NOISE_SALT_PEPPER ? SMP_INTEGER : SMP_REAL;
    work->values.clips = p->kind != SMP_NOISE_SALT_PEPPER;
    work->ops = 100;
    if (isnan(p->snr))
        return SMP_OK;
    work->effect.none = false;
    work->access = SMP_ADJUST;
    work->reduction.kind = SMP_RESULT_CHUNKS;
    work->reduction.size = smp_chunk_bytes(in);
    return in->kind == SMP_AUDIO ? SMP_OK : smp_fail(err, SMP_E_PIPE, "snr is of sounds: write noise 4%%");
}

/* The amount that lies `snr` below the mean power of all channels. */
static smp_code finish(const void *given, const smp_shape *in, const void *result, smp_node_plan *work,
                       smp_measurements *measurements, smp_error *err)
{
    const noise_params *p = given;
    double power = 0, count = 0;
    for (int c = 0; c < in->channels; c++) {
        const smp_stats_chunk all = smp_chunks_fold(result, in, c);
        power += all.count ? all.squares + all.sum * all.sum / (double)all.count : 0;
        count += (double)all.count;
    }
    const double deviation = count > 0 ? sqrt(power / count) * pow(10, -p->snr / 20) : 0;
    ((smp_noise *)(void *)work->kernel.bytes)->amount =
        (float)(p->kind == SMP_NOISE_UNIFORM ? deviation * sqrt(3) : deviation);
    return smp_measurements_add(measurements, "noise", -1, deviation, err);
}

static const smp_variant variants[] = {
    {SMP_RUNG("naive", "sample by sample", SMP_LAUNCH_SAMPLES(noise_naive))},
    {SMP_RUNG("tiled", "CPU: vectors of counters; GPU: 16 bytes a thread",
              SMP_LAUNCH(noise_tiled, .geometry = smp_geometry_packs))},
    {0},
};

const smp_stage smp_stage_noise = {
    .name = "noise",
    .help = "add random noise, the same for the same seed",
    .about =
        "Philox4x32-10 makes the random numbers r0 .. r3 of a sample from the number of its pixel or frame and its "
        "channel, with the seed as key, so that they do not depend on strips, threads or devices. u = (r0 >> 8) "
        "2^-24. uniform: v + amount (2u - 1). gaussian: v + amount sqrt(-2 ln(u + 2^-24)) sin(2 pi (r1 >> 8) "
        "2^-24), the sine from a table of 4096 and lines between. salt-pepper: 0 where u < amount / 2, full scale "
        "where u < amount. Alpha passes.\n"
        "snr=20dB measures the sound first: the noise's power is a hundredth of the mean power of all its samples.",
    .example = "noise 4%",
    SMP_PLANNED(SMP_BOTH, SMP_POINT, params, noise_params, variants),
    .traits = SMP_TRAIT_KEEPS_ALPHA | SMP_TRAIT_PIXELS,
    .check = check,
    .reduction = SMP_REDUCTION(.finish = finish, .reducers = smp_chunk_variants),
    SMP_ALSO({"addnoise random_noise gaussnoise", "noise 4%"}, {"grain", "noise 2%"},
             {"salt_and_pepper", "noise 1% kind=salt-pepper"}),
};
