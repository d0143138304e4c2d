/* fir and the stages made of it: the definition against a plain sum, every variant and device against the definition
 * for numbers of taps round the blocks of 32 and 256, no conflicts where none are meant, and the design of the filters.
 */
#include "suite.h"

#include "gpu_case.h"

#include <math.h>

#include "stages/shared/sound/filtering.h"

typedef struct fir_values { /* as the stage's parameters lie */
    smp_matrix taps;
    double gain;
} fir_values;

extern const smp_stage smp_stage_fir;

static double taps[700];

static fir_values values_of(int count)
{
    for (int i = 0; i < count; i++)
        taps[i] = sin(i * 1.7 + 0.3) / (1 + i % 7);
    return (fir_values){.taps = {1, count, taps}};
}

static const int counts[] = {1, 2, 3, 31, 32, 33, 64, 145, 210, 255, 256, 257, 289, 512, 613};
enum { COUNTS = sizeof counts / sizeof counts[0] };

SMP_TEST(the_definition_is_a_convolution)
{
    for (int n = 0; n < COUNTS; n++) {
        const fir_values values = values_of(counts[n]);
        const kernel_case c = kernel_case_in(&smp_stage_fir, &values, case_sound(700, 2, 48000));
        picture in = picture_make(&c.in, SMP_F32), out;
        picture_fill(&in, 5, CASE_CODES);
        kernel_case_naive(&c, &in, NULL, &out);
        for (int64_t y = 0; y < 700; y += 13)
            for (int ch = 0; ch < 2; ch++) {
                double sum = 0, all = 0;
                for (int i = 0; i < counts[n]; i++) { /* numpy.convolve(x, taps, "same") */
                    int64_t from = y + (counts[n] - 1) / 2 - i;
                    double x = from >= 0 && from < 700 ? (double)picture_get(&in, 0, from, ch) : 0;
                    sum += taps[i] * x;
                    all += fabs(taps[i] * x);
                }
                assert_true(fabs((double)picture_get(&out, 0, y, ch) - sum) <= 1e-6 * (all + 1e-9));
            }
        picture_free(&in);
        picture_free(&out);
    }
}

SMP_TEST(every_variant_gives_the_same_bytes)
{
    for (int n = 0; n < COUNTS && counts[n] <= SMP_FIR_DIRECT; n++) {
        const fir_values values = values_of(counts[n]);
        const bool blocks = n == 3 || n == 4; /* more than one, of whatever kernel, mono and stereo */
        kernel_case c = kernel_case_in(&smp_stage_fir, &values,
                                       case_sound(blocks  ? 4500
                                                  : n % 2 ? 1301
                                                          : 517,
                                                  n % 3 == 0   ? 1
                                                  : n % 3 == 1 ? 2
                                                               : 5,
                                                  48000));
        c.values = n % 2 ? CASE_REALS : CASE_CODES;
        kernel_case_check(&c);
    }
}

/* A list of taps as a pipeline writes it. */
static const char *fir_text(int count)
{
    static char text[8192];
    size_t used = (size_t)snprintf(text, sizeof text, "fir [");
    for (int i = 0; i < count; i++)
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%d%s", (i * 37 + 5) % 19 - 9, i + 1 < count ? " " : "]");
    return text;
}

SMP_TEST(gpus_give_the_same_bytes)
{
    static const int lengths[] = {1, 33, 257, 300, 1100, 2100};
    for (int n = 0; n < 6; n++)
        gpu_line_check(fir_text(counts[2 * n + 1]), case_sound(lengths[(n + 2) % 6], 1 + n % 3, 48000),
                       n % 2 ? CASE_REALS : CASE_CODES, (uint64_t)n);
}

SMP_TEST(results_in_registers_cost_no_conflicts)
{
    static const char *const names[] = {"tiled", "register"};
    for (int v = 0; v < 2; v++) {
        const gpu_case c = {
            .lines = {fir_text(289)}, .in = case_sound(1100, 2, 48000), .values = CASE_REALS, .seed = 3};
        gpu_no_conflicts(&c, names[v], "fir_");
    }
}

/* Filters by transforms: one part, several, a last one of a single tap; blocks that begin within a strip. */
SMP_TEST(long_filters_are_convolutions_on_every_device)
{
    static const int taps_of[] = {321, 2049, 4097};
    static double long_taps[4097];
    for (int n = 0; n < 3; n++) {
        enum { FRAMES = 5000 };
        for (int i = 0; i < taps_of[n]; i++)
            long_taps[i] = sin(i * 1.7 + 0.3) / (1 + i % 7) / 64;
        const fir_values values = {.taps = {1, taps_of[n], long_taps}};
        const int channels = 1 + n % 2;
        kernel_case c = kernel_case_in(&smp_stage_fir, &values, case_sound(FRAMES, channels, 48000));
        c.values = CASE_CODES;
        c.seed = (uint64_t)n;
        picture in = picture_make(&c.in, SMP_F32), out;
        picture_fill(&in, 5, CASE_CODES);
        kernel_case_naive(&c, &in, NULL, &out);
        for (int64_t y = 0; y < FRAMES; y += 97) {
            double sum = 0, all = 0;
            for (int i = 0; i < taps_of[n]; i++) { /* numpy.convolve(x, taps, "same") */
                const int64_t from = y + (taps_of[n] - 1) / 2 - i;
                const double x = from >= 0 && from < FRAMES ? (double)picture_get(&in, 0, from, channels - 1) : 0;
                sum += long_taps[i] * x;
                all += fabs(long_taps[i] * x);
            }
            assert_true(fabs((double)picture_get(&out, 0, y, channels - 1) - sum) <= 1e-6 * all);
        }
        smp_node_plan plan = case_plan(&c);
        for (const smp_variant *v = smp_stage_fir.variants; v->name; v++)
            for (smp_isa isa = SMP_ISA_BASE; isa < SMP_ISAS && case_has_isa(isa); isa++)
                for (int64_t strip = 0; strip <= 1900;
                     strip += 1900) { /* all at once, and strips that begin in blocks */
                    picture got = picture_make(&plan.out, SMP_F32);
                    case_run(&c, &plan, v, isa, &in, NULL, &got, NULL, strip, strip ? 1 : 3);
                    assert_true(picture_guards_hold(&got));
                    assert_true(picture_equal(&out, &got));
                    picture_free(&got);
                }
        case_plan_free(&plan);
        picture_free(&in);
        picture_free(&out);
    }
}

SMP_TEST(long_filters_on_gpus)
{
    static char text[16384];
    size_t used = (size_t)snprintf(text, sizeof text, "fir [");
    for (int i = 0; i < 2100; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%d%s", (i * 37 + 5) % 19 - 9, i < 2099 ? " " : "]");
    const gpu_case c = {.lines = {text}, .in = case_sound(4500, 2, 48000), .values = CASE_REALS, .seed = 3};
    gpu_job job = gpu_job_make(&c);
    gpu_job_check(&job, "register", 0);
    gpu_job_check(&job, "naive", 1500);
    gpu_job_free(&job);
    const gpu_case small = {.lines = {fir_text(321)}, .in = case_sound(300, 1, 48000), .values = CASE_CODES};
    smp_trace trace = {0};
    gpu_case_trace(&small, "tiled", 0, &trace);
    assert_true(gpu_instructions(&trace, "fir_fft", SMP_SHARED_STORE) > 0);
    smp_trace_free(&trace);
}

/* A sample that is not finite spoils blocks whose segments hold it, of its channel alone. */
SMP_TEST(nan_stays_in_its_blocks)
{
    enum { FRAMES = 9000 };
    const fir_values values = {.taps = {1, 401, (const double[401]){[200] = 1}}};
    const kernel_case c = kernel_case_in(&smp_stage_fir, &values, case_sound(FRAMES, 2, 48000));
    picture in = picture_make(&c.in, SMP_F32), out;
    picture_fill(&in, 5, CASE_CODES);
    picture_set(&in, 0, 5000, 0, NAN);
    kernel_case_naive(&c, &in, NULL, &out);
    for (int64_t y = 0; y < FRAMES; y++) { /* blocks 2 and 3: frames 4096 .. 8191 */
        assert_int_equal(isnan(picture_get(&out, 0, y, 0)), y >= 4096 && y < 8192);
        assert_true(fabsf(picture_get(&out, 0, y, 1) - picture_get(&in, 0, y, 1)) < 1e-6f);
    }
    picture_free(&in);
    picture_free(&out);
}

/* ------------------------------------------------------------------------------------------------ design */

static double response(const double *h, int count, double frequency) /* a fraction of the rate; dB */
{
    double re = 0, im = 0;
    for (int i = 0; i < count; i++) {
        re += h[i] * cos(2 * acos(-1) * frequency * i);
        im += h[i] * sin(2 * acos(-1) * frequency * i);
    }
    return 10 * log10(re * re + im * im + 1e-30);
}

SMP_TEST(bands_keep_their_promises)
{
    static const struct {
        double low, high, transition, attenuation;
    } bands[] = {
        {0, 4000, 1333, 80},  {80, INFINITY, 48, 80}, {300, 3400, 100, 60},
        {0, 20000, 1000, 80}, {0, 1000, 333, 40},     {5000, 6000, 500, 100},
    };
    const double rate = 48000;
    for (size_t b = 0; b < sizeof bands / sizeof bands[0]; b++) {
        const double low = bands[b].low, high = bands[b].high, half = bands[b].transition / 2;
        const smp_filter_params filter = {
            .taps = INT64_MIN, .transition = bands[b].transition, .attenuation = bands[b].attenuation};
        smp_node_plan work = {0};
        smp_error err = {0};
        smp_shape in = case_sound(10000, 1, 48000);
        assert_int_equal(smp_band_plan(&filter, low, high, &in, &work, &err), SMP_OK);
        const int count = ((const smp_fir *)(const void *)work.kernel.bytes)->taps;
        double *h = smp_band_taps(&filter, low, high, rate, count);
        assert_non_null(h);
        for (int i = 0; i < count; i++)
            h[i] = (double)(float)h[i];
        if (low > 0)
            assert_true(fabs(response(h, count, low / rate) + 6.0206) < 0.1);
        if (high < rate / 2)
            assert_true(fabs(response(h, count, high / rate) + 6.0206) < 0.1);
        const double ripple = 20 * log10(1 + pow(10, -bands[b].attenuation / 20));
        for (double f = 0; f <= rate / 2; f += 3.7) {
            const double db = response(h, count, f / rate);
            const bool passes = f >= (low > 0 ? low + half : 0) && f <= (high < rate / 2 ? high - half : rate);
            const bool stops = f <= low - half || f >= high + half;
            if (passes && !(fabs(db) <= ripple))
                fail_msg("band %zu: %.6f dB at %g Hz, in the pass band", b, db, f);
            if (stops && !(db <= -bands[b].attenuation))
                fail_msg("band %zu: %.2f dB at %g Hz, in the stop band", b, db, f);
        }
        smp_free(h);
        smp_free(work.table.data);
    }
}
