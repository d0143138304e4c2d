/* loudness and what normalize makes of it: the signals of EBU Tech 3341 and 3342, peaks between samples, speakers,
 * silence; every variant and device against the definition with segments short enough that there are many. */
#include "suite.h"

#include "gpu_case.h"

#include <math.h>

#include "audio/loudness.h"
#include "stages/shared/sound/loudness.h"

extern const smp_stage smp_stage_loudness, smp_stage_normalize;

static const double pi = 3.14159265358979323846;

static smp_loudness_levels measure(const smp_shape *shape, const picture *in)
{
    const kernel_case c = {.stage = &smp_stage_loudness, .in = *shape, .in_storage = SMP_F32, .out_storage = SMP_F32};
    smp_error err = {0};
    smp_loudness_levels levels;
    smp_node_plan plan = case_plan(&c);
    void *result = case_result(&plan);
    case_run(&c, &plan, &smp_loudness_variants[1], SMP_ISA_BASE, in, NULL, NULL, result, 0, 1);
    assert_int_equal(smp_loudness_levels_of(shape, &plan, result, &levels, &err), SMP_OK);
    free(result);
    case_plan_free(&plan);
    return levels;
}

/* A sine of 1 kHz in all channels that are asked for, with these levels one after the other. */
typedef struct part {
    double level, seconds; /* dBFS */
} part;

static smp_loudness_levels of_sine(double rate, int channels, unsigned which, const part *parts, int count)
{
    double seconds = 0;
    for (int i = 0; i < count; i++)
        seconds += parts[i].seconds;
    const smp_shape shape = case_sound((int64_t)(seconds * rate), channels, rate);
    picture in = picture_make(&shape, SMP_F32);
    int64_t y = 0;
    for (int i = 0; i < count; i++) {
        const double size = pow(10, parts[i].level / 20);
        for (int64_t n = 0; n < (int64_t)(parts[i].seconds * rate); n++, y++) {
            const float v = (float)(size * sin(2 * pi * 1000 * (double)n / rate));
            for (int c = 0; c < channels; c++)
                picture_set(&in, 0, y, c, which >> c & 1 ? v : 0.f);
        }
    }
    const smp_loudness_levels levels = measure(&shape, &in);
    picture_free(&in);
    return levels;
}

SMP_TEST(the_signals_of_the_ebu)
{
    static const part steady[] = {{-23, 20}}, gated[] = {{-36, 10}, {-23, 60}, {-36, 10}},
                      ranges[] = {{-50, 20}, {-35, 20}, {-20, 20}, {-35, 20}, {-50, 20}}, surround[] = {{-28, 2}},
                      brief[] = {{-23, 2}};
    smp_loudness_levels l = of_sine(48000, 2, 3, steady, 1);
    assert_true(fabs(l.integrated + 22.9933) < 1e-3 && fabs(l.range) < 1e-3 && fabs(l.true_peak + 22.9933) < 1e-3);
    const char *matrix = getenv("SMP_MATRIX");
    if (matrix && !strcmp(matrix, "reduced")) /* a sanitizer: minutes of sound access as its 20 seconds do */
        return;
    l = of_sine(48000, 2, 3, gated, 3);
    assert_true(fabs(l.integrated + 23.0139) < 1e-3 && fabs(l.range - 13) < 1e-3);
    l = of_sine(48000, 2, 3, ranges, 5);
    assert_true(fabs(l.integrated + 24.4919) < 1e-3 && fabs(l.range - 15) < 1e-3);
    assert_true(fabs(l.momentary + 19.9933) < 1e-3 && fabs(l.shortterm + 19.9933) < 1e-3);
    l = of_sine(44100, 2, 3, brief, 1);
    assert_true(fabs(l.integrated + 23) < 0.1);

    /* of five channels: L and R 3 dB, the rear ones 1.5 dB more; the fourth of six is not counted */
    l = of_sine(48000, 5, 0x1F, surround, 1);
    const double all = -28 + 10 * log10((3 + 2 * 1.41) / 2);
    assert_true(fabs(l.integrated - all - 0.007) < 2e-3);
    l = of_sine(48000, 6, 0x3F, surround, 1);
    assert_true(fabs(l.integrated - all - 0.007) < 2e-3);
    l = of_sine(48000, 1, 1, brief, 1);
    assert_true(fabs(l.integrated + 22.9933 + 3.0103) < 1e-3);
}

/* A sine of a quarter of the rate whose samples all miss its crests, by 3 dB. */
SMP_TEST(peaks_between_samples_are_found)
{
    static const struct {
        double rate, least, most; /* dB */
    } cases[] = {{48000, -0.2, 0.3}, {96000, -0.2, 0.3}, {192000, -3.02, -3.0}};
    for (int i = 0; i < 3; i++) {
        const smp_shape shape = case_sound(1000, 1, cases[i].rate);
        picture in = picture_make(&shape, SMP_F32);
        for (int64_t y = 0; y < 1000; y++) {
            const double rise = y < 500 ? 0.5 - 0.5 * cos(pi * (double)y / 500) : 1;
            picture_set(&in, 0, y, 0, (float)(rise * sin(pi / 2 * (double)y + pi / 4)));
        }
        const smp_loudness_levels l = measure(&shape, &in);
        assert_true(l.true_peak >= cases[i].least && l.true_peak <= cases[i].most);
        assert_true(isinf(l.integrated)); /* shorter than a block */
        picture_free(&in);
    }
}

/* A click in the last frame rings on behind the end. */
SMP_TEST(the_end_counts)
{
    const smp_shape shape = case_sound(4801, 1, 48000);
    picture in = picture_make(&shape, SMP_F32);
    for (int64_t y = 0; y < 4801; y++)
        picture_set(&in, 0, y, 0, y >= 4799 ? 1.f : 0.f);
    const smp_loudness_levels l = measure(&shape, &in);
    /* 1 and 1: the largest of h[k] + h[k+1] is 6388 + 3810 of 8192 in phases 1 and 2 */
    assert_true(fabs(l.true_peak - 20 * log10((6388 + 3810) / 8192.)) < 1e-9);
    picture_free(&in);
}

SMP_TEST(silence_and_what_is_no_number)
{
    const smp_shape shape = case_sound(48000, 2, 48000);
    picture in = picture_make(&shape, SMP_F32);
    for (int64_t y = 0; y < 48000; y++)
        for (int c = 0; c < 2; c++)
            picture_set(&in, 0, y, c, 0.f);
    smp_loudness_levels l = measure(&shape, &in);
    assert_true(isinf(l.integrated) && l.integrated < 0 && isinf(l.true_peak) && l.range == 0);
    for (int64_t y = 0; y < 48000; y++)
        picture_set(&in, 0, y, 0, (float)sin(0.1 * (double)y));
    for (int i = 0; i < 2; i++) {
        picture_set(&in, 0, 40000, 1, i ? INFINITY : NAN);
        l = measure(&shape, &in);
        assert_true(isfinite(l.integrated) && fabs(l.true_peak) < 0.1);
    }
    picture_free(&in);
}

/* ------------------------------------------------------------------------------------------------ several files */

/* The partial of a sound of one channel, as of_sine makes it. */
static void *partial_of(const part *parts, int count, double rate)
{
    double seconds = 0;
    for (int i = 0; i < count; i++)
        seconds += parts[i].seconds;
    const kernel_case c = kernel_case_in(&smp_stage_loudness, NULL, case_sound((int64_t)(seconds * rate), 1, rate));
    picture in = picture_make(&c.in, SMP_F32);
    int64_t y = 0;
    for (int i = 0; i < count; i++)
        for (int64_t n = 0; n < (int64_t)(parts[i].seconds * rate); n++, y++)
            picture_set(&in, 0, y, 0, (float)(pow(10, parts[i].level / 20) * sin(2 * pi * 1000 * (double)n / rate)));
    smp_node_plan plan = case_plan(&c);
    void *result = case_result(&plan), *made;
    smp_error err = {0};
    case_run(&c, &plan, &smp_loudness_variants[1], SMP_ISA_BASE, &in, NULL, NULL, result, 0, 1);
    assert_int_equal(smp_stage_loudness.reduction->partials->make(NULL, &c.in, &plan, result, &made, &err), SMP_OK);
    free(result);
    case_plan_free(&plan);
    picture_free(&in);
    return made;
}

static void add_to(void **total, const void *more)
{
    smp_error err = {0};
    bool alike;
    assert_int_equal(smp_stage_loudness.reduction->partials->merge(total, more, &alike, &err), SMP_OK);
    assert_true(alike);
}

static double told(const void *of, const char *name)
{
    smp_measurements measurements = {0};
    smp_error err = {0};
    double value = NAN;
    assert_int_equal(smp_stage_loudness.reduction->partials->report(of, &measurements, &err), SMP_OK);
    for (size_t i = 0; i < measurements.count; i++)
        if (!strcmp(measurements.items[i].name, name))
            value = measurements.items[i].value;
    smp_measurements_free(&measurements);
    return value;
}

/* The gates are those of all files: beside a loud one, a quiet one does not count; beside its like it does. */
SMP_TEST(files_together_are_one_sound)
{
    static const part loud[] = {{-20, 20}}, quiet[] = {{-40, 20}}, near[] = {{-26, 20}};
    void *total = partial_of(loud, 1, 8000), *low = partial_of(quiet, 1, 8000), *close = partial_of(near, 1, 8000);
    const double alone = told(total, "lufs");
    add_to(&total, low);
    assert_true(fabs(told(total, "lufs") - alone) < 1e-9);
    assert_true(fabs(told(total, "momentary") - alone) < 0.1 && fabs(told(total, "range") - 20) < 0.1);
    add_to(&total, close);
    assert_true(fabs(told(total, "lufs") - (alone + 10 * log10((1 + pow(10, -0.6)) / 2))) < 1e-2);
    smp_free(total);
    smp_free(low);
    smp_free(close);
}

/* A partial with `count` different energies from `first` on, by its bytes. */
static void *many_blocks(uint64_t first, uint64_t count)
{
    smp_packer to = {0};
    smp_error err = {0};
    const smp_shape shape = case_sound(1, 1, 8000);
    void *made;
    smp_pack_double(&to, 0.5);
    for (int i = 0; i < 2; i++) {
        smp_pack_double(&to, 1);
        smp_pack_uint(&to, 0);
        smp_pack_uint(&to, i ? 0 : count);
    }
    for (uint64_t i = first; i < first + count; i++) {
        smp_pack_double(&to, 0.001 + 1e-9 * (double)i);
        smp_pack_uint(&to, 1 + i % 3);
    }
    smp_unpacker from = {.data = to.data, .size = to.size};
    assert_int_equal(smp_stage_loudness.reduction->partials->unpack(&shape, &from, &made, &err), SMP_OK);
    assert_false(from.failed);
    smp_free(to.data);
    return made;
}

/* More blocks than are kept apart: rounded by less than 0.001 LU, and to the same bytes however they were grouped. */
SMP_TEST(blocks_without_number_are_rounded_alike)
{
    enum { EACH = 50000, PARTS = 4 };
    void *parts[PARTS], *forth = many_blocks(0, EACH), *pairs = many_blocks(2 * EACH, EACH);
    for (int i = 0; i < PARTS; i++)
        parts[i] = many_blocks((uint64_t)i * EACH, EACH);
    for (int i = 1; i < PARTS; i++)
        add_to(&forth, parts[i]);
    add_to(&parts[0], parts[3]);
    add_to(&pairs, parts[1]);
    add_to(&pairs, parts[0]);
    smp_packer a = {0}, b = {0};
    smp_stage_loudness.reduction->partials->pack(forth, &a);
    smp_stage_loudness.reduction->partials->pack(pairs, &b);
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
    assert_true(a.size < 100000);
    double sum = 0, count = 0;
    for (int i = 0; i < PARTS * EACH; i++) {
        sum += (1 + i % 3) * (0.001 + 1e-9 * i);
        count += 1 + i % 3;
    }
    assert_true(fabs(told(forth, "lufs") - smp_lufs(sum / count)) < 1e-3);
    smp_free(a.data);
    smp_free(b.data);
    smp_free(forth);
    smp_free(pairs);
    for (int i = 0; i < PARTS; i++)
        smp_free(parts[i]);
}

/* ------------------------------------------------------------------------------------------------ devices */

static int phases;

/* Pieces of 48 frames, segments of two, a warm-up of 64. */
static smp_code plan_short(const void *params, const smp_shape *in, const smp_shape *by, smp_node_plan *plan,
                           smp_error *err)
{
    smp_code code = smp_stage_loudness.plan(params, in, by, plan, err);
    smp_loudness *p = (smp_loudness *)(void *)plan->kernel.bytes;
    p->piece = 48;
    p->segments = (smp_segments){.length = 96, .warm = 64};
    p->phases = phases;
    plan->rows.up = 64 + 96 - 1;
    plan->reduction.size =
        (size_t)smp_pieces_before(p, in->height, in->height) * (size_t)in->channels * sizeof(smp_loudness_piece);
    return code;
}

SMP_TEST(many_segments_give_the_same_records)
{
    static const int64_t lengths[] = {1, 47, 48, 9000, 8193, 4100};
    static const int channels[] = {1, 2, 3, 2, 1, 8};
    smp_variant variants[4] = {{0}};
    smp_stage shortened = smp_stage_loudness;
    for (int i = 0; i < 3; i++) {
        variants[i] = smp_loudness_variants[i];
        variants[i].band = 32;
    }
    shortened.plan = plan_short;
    shortened.variants = variants;
    for (int i = 0; i < 6; i++) {
        phases = i % 3 * 2;
        kernel_case c = kernel_case_in(&shortened, NULL, case_sound(lengths[i], channels[i], 48000));
        c.values = i == 2 ? CASE_ANY : CASE_REALS;
        c.seed = (uint64_t)i;
        kernel_case_check(&c);
    }
}

SMP_TEST(gpus_measure_the_same)
{
    for (int channels = 1; channels <= 3; channels++) {
        const gpu_case c = {.lines = {"loudness", "normalize lufs=-16LUFS"},
                            .in = case_sound(channels == 2 ? 17500 : 900, channels, 8000),
                            .values = CASE_REALS};
        gpu_case_check(&c);
        const gpu_case small = {.lines = {"loudness"}, .in = case_sound(100, channels, 8000), .values = CASE_REALS};
        gpu_no_conflicts(&small, "padded", "loudness_");
    }
}

/* ------------------------------------------------------------------------------------------------ normalize */

typedef struct normalize_values { /* as the stage's parameters lie */
    double peak, rms, lufs, true_peak;
    int channels;
    double within;
} normalize_values;

SMP_TEST(normalize_reaches_a_loudness_below_its_ceiling)
{
    static const struct {
        double lufs, ceiling, gain;
    } cases[] = {{-16, NAN, 6.9933}, {-1, NAN, 21.9933}, {0, NAN, 21.9933}, {-30, -10, -7.0067}, {-16, -20, 2.9933}};
    const smp_shape shape = case_sound(48000, 2, 48000);
    picture in = picture_make(&shape, SMP_F32), out;
    for (int64_t y = 0; y < 48000; y++)
        for (int c = 0; c < 2; c++)
            picture_set(&in, 0, y, c, (float)(pow(10, -23 / 20.) * sin(2 * pi * 1000 * (double)y / 48000)));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const normalize_values values = {NAN, NAN, cases[i].lufs, cases[i].ceiling, 0};
        kernel_case c = kernel_case_in(&smp_stage_normalize, &values, shape);
        c.in_storage = SMP_F32, c.out_storage = SMP_F32;
        kernel_case_naive(&c, &in, NULL, &out);
        const double ratio = (double)picture_get(&out, 0, 12, 0) / (double)picture_get(&in, 0, 12, 0);
        assert_true(fabs(20 * log10(ratio) - cases[i].gain) < 0.01);
        picture_free(&out);
    }
    picture_free(&in);
}

SMP_TEST(what_contradicts_itself_is_refused)
{
    static const struct {
        normalize_values values;
        const char *says;
    } cases[] = {
        {{-1, NAN, -16, NAN, 0}, "peak and lufs cannot both be given"},
        {{NAN, -20, -16, NAN, 0}, "rms and lufs cannot both be given"},
        {{-1, -20, NAN, NAN, 0}, "peak and rms cannot both be given"},
        {{NAN, NAN, NAN, -1, 0}, "true-peak bounds what lufs wants, which is not given"},
        {{NAN, NAN, -16, -1, 1}, "channels=each"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        smp_error err = {0};
        assert_int_equal(smp_stage_normalize.check(&cases[i].values, &err), SMP_E_PIPE);
        assert_non_null(strstr(err.message, cases[i].says));
    }
    smp_error err = {0};
    smp_node_plan work = {0};
    const smp_shape in = case_sound(1000, 1, 3000);
    assert_int_equal(smp_stage_loudness.plan(NULL, &in, NULL, &work, &err), SMP_E_PIPE);
}
