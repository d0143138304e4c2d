/* Reductions on the GPU, through the emulator: histogram and stats, and what other stages count, in every variant; and
 * what each variant is meant to cost in shared memory. */
#include "suite.h"

#include "gpu_case.h"
#include "reduce/integral.h"

/* ---------------------------------------------------------------------------------------------- same results */

SMP_TEST(histograms_are_the_definitions)
{
    for (int f = 0; f < SMP_FORMATS; f++)
        for (int channels = 1; channels <= 4; channels++)
            gpu_line_check("histogram bins=7", case_shape(61, 45, channels, (smp_format)f), CASE_ANY, 0);
}

SMP_TEST(histograms_that_exceed_shared_memory_are_counted_in_parts)
{
    for (int f = 0; f < SMP_FORMATS; f++)
        for (int channels = 1; channels <= 3; channels += 2)
            gpu_line_check("histogram bins=65536", case_shape(83, 21, channels, (smp_format)f), CASE_ANY, 0);
}

SMP_TEST(percentiles_and_statistics_share_a_result)
{
    for (int f = 0; f < SMP_FORMATS; f++)
        gpu_line_check("stats percentiles=[5 50 95]", case_shape(61, 45, 3, (smp_format)f), CASE_CODES, 0);
}

/* Chunks of 4096 pixels of a row, the last shorter; five to eight channels; sound. */
SMP_TEST(shapes_beyond_the_usual)
{
    static const char *const lines[] = {"stats", "histogram bins=100"};
    for (int f = 0; f < SMP_FORMATS; f++)
        for (int l = 0; l < 2; l++) {
            gpu_line_check(lines[l], case_shape(9001, 3, 1 + f, (smp_format)f), CASE_CODES, 0);
            for (int channels = 2; channels <= SMP_MAX_CHANNELS; channels += 3)
                gpu_line_check(lines[l], case_shape(37, 29, channels, (smp_format)f), CASE_ANY, 0);
        }
    for (int l = 0; l < 2; l++) {
        gpu_case sound = {.lines = {lines[l]}, .in = case_shape(1, 10007, 2, SMP_F32), .values = CASE_REALS};
        sound.in.kind = SMP_AUDIO;
        sound.in.alpha = false;
        sound.in.rate = 48000;
        gpu_case_check(&sound);
    }
}

SMP_TEST(pictures_are_adjusted_by_the_same_counts)
{
    static const char *const lines[] = {"equalize",
                                        "equalize each",
                                        "equalize luma",
                                        "levels auto",
                                        "levels auto per=channel clip=2%",
                                        "threshold method=otsu"};
    for (int l = 0; l < 6; l++)
        for (int f = 0; f < SMP_FORMATS; f++)
            for (int channels = 1; channels <= 4; channels++) {
                gpu_case c = {.lines = {lines[l]},
                              .in = case_shape(61, 45, channels, (smp_format)f),
                              .values = CASE_REALS,
                              .plain = channels == 3};
                gpu_case_check(&c);
            }
}

/* ---------------------------------------------------------------------------------------------- views */

/* One reducing launch over rows of any alignment and stride, whole or in two windows; the result's bytes. */
static void *reduce(const kernel_case *c, const smp_node_plan *plan, const smp_variant *variant, const picture *in,
                    int shift, int padding, bool windows)
{
    smp_device *device = gpu_simt();
    smp_error err = {0};
    smp_cost cost = {0};
    void *got = case_result(plan), *result = gpu_bytes(got, plan->reduction.size);
    int64_t row_multiple = smp_chunk_rows(c->in.width), height = c->in.height;
    int64_t cut = windows && row_multiple < height ? row_multiple : height;
    for (int64_t y = 0; y < height; y += cut) {
        int64_t end = y + cut < height ? y + cut : height;
        picture rows = case_rows(in, y, end);
        void *memory = NULL;
        smp_io io = {.in = gpu_view(device, &rows.view, shift, padding, &memory), .result = result};
        io.out = io.in;
        for (int i = 0; i < SMP_MAX_LAUNCHES && smp_launch_runs(&variant->launches[i], true); i++)
            if (device->ops->launch(device, variant, &variant->launches[i], &io, plan, &cost, &err))
                fail_msg("%s %s: %s", c->stage->name, variant->name, err.message);
        assert_int_equal(device->ops->sync(device, &err), SMP_OK);
        device->ops->free(device, memory);
        picture_free(&rows);
    }
    int64_t n = (int64_t)plan->reduction.size;
    assert_int_equal(device->ops->copy_out(device, got, n, result, n, n, 1, &err), SMP_OK);
    assert_int_equal(device->ops->sync(device, &err), SMP_OK);
    device->ops->free(device, result);
    return got;
}

static void views_check(const kernel_case *c)
{
    static const int layouts[][2] = {{0, 0}, {0, 5}, {0, 16}, {1, 0}, {3, 16}};
    picture in = picture_make(&c->in, c->in_storage);
    picture_fill(&in, c->seed, c->values);
    smp_node_plan plan = case_plan(c);
    void *want = case_result(&plan);
    case_run(c, &plan, &c->stage->variants[0], SMP_ISA_BASE, &in, NULL, NULL, want, 0, 1);
    for (const smp_variant *variant = c->stage->variants; variant->name; variant++)
        for (int i = 0; i < 5; i++) {
            void *got = reduce(c, &plan, variant, &in, layouts[i][0], layouts[i][1], i % 2);
            bool same = !memcmp(got, want, plan.reduction.size);
            free(got);
            if (same)
                continue;
            case_print(c, variant->name);
            fail_msg("start %d samples, stride padded by %d: other results", layouts[i][0], layouts[i][1]);
        }
    free(want);
    case_plan_free(&plan);
    picture_free(&in);
}

extern const smp_stage smp_stage_histogram, smp_stage_integral, smp_stage_stats;

/* Tiles of 1024 pixels that ask those before them: several a row and rows of blocks, one and two channels, the last
 * tile a pixel or ragged. Strips of 7 rows are blocks cut short. Whole tiles of each format, and of fractions that a
 * stage before made, take the quick path: down and along rows. */
SMP_TEST(tiles_look_back)
{
    gpu_case both = {.lines = {"integral"}, .in = case_shape(2309, 18, 1, SMP_U16)};
    gpu_case rows = {.lines = {"integral rows"}, .in = case_shape(1161, 35, 2, SMP_U8)};
    gpu_case bytes = {.lines = {"integral"}, .in = case_shape(3205, 35, 1, SMP_U8)};
    gpu_case along = {.lines = {"integral rows"}, .in = case_shape(2050, 17, 1, SMP_U8)};
    gpu_case between = {.lines = {"invert", "integral"}, .in = case_shape(1157, 18, 1, SMP_U8), .plain = true};
    gpu_case_check(&both);
    gpu_case_check(&rows);
    gpu_case_check(&bytes);
    gpu_case_check(&along);
    gpu_case_check(&between);
}

/* Sixteen rows of white bytes of a wider picture are more than 32 bits hold. */
SMP_TEST(look_back_ends_where_sums_of_bytes_overflow)
{
    const smp_variant *lookback = smp_stage_integral.variants;
    while (lookback[1].name)
        lookback++;
    assert_string_equal(lookback->name, "lookback");
    const struct {
        int64_t width;
        smp_format format;
        bool serves;
    } cases[] = {{1 << 20, SMP_U8, true}, {(1 << 20) + 1, SMP_U8, false}, {(1 << 20) + 1, SMP_U16, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const smp_shape shape = case_shape(cases[i].width, 16, 1, cases[i].format);
        smp_io io = {.in = {.width = shape.width,
                            .height = shape.height,
                            .rows = shape.height,
                            .channels = 1,
                            .format = (int32_t)cases[i].format,
                            .white = smp_white(cases[i].format)}};
        const smp_integral params = {SMP_ALONG_BOTH, (double)io.in.white};
        smp_grid grid = {0};
        assert_int_equal(lookback->launches[1].decide(&io, &params, &grid) != NULL, cases[i].serves);
    }
}

/* As the stages' parameters lie in memory: histogram's is {name, bins}, of stats nothing is asked. */
SMP_TEST(rows_may_lie_anywhere)
{
    const struct {
        const char *name;
        int64_t bins;
    } histogram = {NULL, 100};
    const char nothing[64] = {0};
    assert_true(smp_stage_histogram.params_size == sizeof histogram);
    assert_true(smp_stage_stats.params_size <= sizeof nothing);
    for (int f = 0; f < SMP_FORMATS; f++)
        for (int stored = 0; stored < 2; stored++)
            for (int channels = 1; channels <= SMP_MAX_CHANNELS; channels += channels < 4 ? 1 : 2) {
                kernel_case c = kernel_case_in(
                    &smp_stage_histogram, &histogram,
                    case_shape(channels == 1 ? 4200 : 131, channels == 1 ? 3 : 67, channels, (smp_format)f));
                c.in_storage = stored ? SMP_F32 : (smp_format)f, c.out_storage = SMP_U8;
                c.values = stored ? CASE_ANY : CASE_CODES;
                c.seed = (uint64_t)channels;
                views_check(&c);
                c.stage = &smp_stage_stats;
                c.params = nothing;
                views_check(&c);
            }
}

/* ---------------------------------------------------------------------------------------------- traces */

static uint64_t conflicts_of(const char *line, const char *variant, const char *kernel, smp_format format, int channels,
                             smp_shared_op op, uint64_t *instructions)
{
    const gpu_case c = {.lines = {line}, .in = case_shape(65, 19, channels, format), .seed = 5};
    smp_trace trace = {0};
    gpu_case_trace(&c, variant, 0, &trace);
    uint64_t conflicts = gpu_conflicts(&trace, kernel, op);
    *instructions = gpu_instructions(&trace, kernel, op);
    smp_trace_free(&trace);
    return conflicts;
}

SMP_TEST(one_counter_a_bank_never_conflicts)
{
    uint64_t n;
    for (int channels = 1; channels <= 3; channels += 2) {
        assert_int_equal(
            conflicts_of("histogram", "private", "histogram_private", SMP_U8, channels, SMP_SHARED_ATOMIC, &n), 0);
        assert_true(n > 0);
        assert_int_equal(
            conflicts_of("histogram", "private", "histogram_private", SMP_U8, channels, SMP_SHARED_STORE, &n), 0);
        assert_int_equal(
            conflicts_of("histogram", "private", "histogram_private", SMP_U8, channels, SMP_SHARED_LOAD, &n), 0);
        assert_true(n > 0);
    }
    assert_true(conflicts_of("histogram", "tiled", "histogram_tiled", SMP_U8, 1, SMP_SHARED_ATOMIC, &n) > n);
    assert_int_equal(conflicts_of("histogram", "naive", "histogram_naive", SMP_U8, 1, SMP_SHARED_ATOMIC, &n), 0);
    assert_int_equal(n, 0);
}

SMP_TEST(trees_conflict_only_when_interleaved)
{
    uint64_t n;
    for (int f = 0; f < 2; f++) {
        smp_format format = f ? SMP_F32 : SMP_U8;
        assert_true(conflicts_of("stats", "interleaved", "stats_interleaved", format, 1, SMP_SHARED_LOAD, &n) > 0);
        assert_true(conflicts_of("stats", "interleaved", "stats_interleaved", format, 1, SMP_SHARED_STORE, &n) > 0);
        assert_int_equal(conflicts_of("stats", "tiled", "stats_tiled", format, 1, SMP_SHARED_LOAD, &n), 0);
        assert_true(n > 0);
        assert_int_equal(conflicts_of("stats", "tiled", "stats_tiled", format, 1, SMP_SHARED_STORE, &n), 0);
        assert_int_equal(conflicts_of("stats", "shuffle", "stats_shuffle", format, 1, SMP_SHARED_LOAD, &n), 0);
        assert_int_equal(n, 0);
    }
}
