/* depth and to_format: every value of every pair of formats, clipping, dropped alpha. */
#include "suite.h"

#include "kernel_case.h"

#include "elementwise/convert.h"

extern const smp_stage smp_stage_depth, smp_stage_to_format;

static const struct {
    int depth;
} depths[] = {{SMP_U8}, {SMP_U16}, {SMP_F32}};
static const smp_convert_params formats[] = {{SMP_U8}, {SMP_U16}, {SMP_F32}};

/* One row that holds every code value once, converted. */
static picture convert_all(smp_format from, smp_format storage, smp_format to)
{
    kernel_case c = {.stage = &smp_stage_to_format, .params = &formats[to]};
    c.in = case_shape(from == SMP_U8 ? 256 : 65536, 1, 1, from);
    c.in_storage = storage;
    c.out_storage = to;
    picture in = picture_make(&c.in, storage), out;
    for (int64_t x = 0; x < c.in.width; x++)
        picture_set(&in, x, 0, 0, (float)x);
    assert_int_equal(kernel_case_naive(&c, &in, NULL, &out), 0);
    picture_free(&in);
    return out;
}

SMP_TEST(eight_to_sixteen_bits_is_times_257)
{
    for (int stored = 0; stored < 2; stored++) {
        picture out = convert_all(SMP_U8, stored ? SMP_F32 : SMP_U8, SMP_U16);
        for (int v = 0; v < 256; v++)
            assert_int_equal((int)picture_get(&out, v, 0, 0), v * 257);
        picture_free(&out);
    }
}

SMP_TEST(sixteen_to_eight_bits_is_the_nearest)
{
    for (int stored = 0; stored < 2; stored++) {
        picture out = convert_all(SMP_U16, stored ? SMP_F32 : SMP_U16, SMP_U8);
        for (int v = 0; v < 65536; v++)
            if ((int)picture_get(&out, v, 0, 0) != (v * 255 + 32895) >> 16)
                fail_msg("%d became %g", v, (double)picture_get(&out, v, 0, 0));
        picture_free(&out);
    }
}

SMP_TEST(integers_to_float_is_one_division_and_comes_back)
{
    for (smp_format from = SMP_U8; from <= SMP_U16; from++) {
        float white = smp_white(from);
        picture out = convert_all(from, from, SMP_F32);
        for (int v = 0; v <= (int)white; v++) {
            float x = picture_get(&out, v, 0, 0);
            assert_true(x == (float)v / white);
            assert_true(smp_round_to(smp_convert_value(x, 1.f, white), white) == (float)v);
        }
        picture_free(&out);
    }
}

SMP_TEST(float_to_integers_clamps_and_counts)
{
    static const float values[] = {-0.5f, 0.f, 0.5f, 1.f, 1.001f, 1.5f, NAN, INFINITY};
    static const int want[] = {0, 0, 128, 255, 255, 255, 0, 255}; /* 127.5 goes to the even neighbour */
    kernel_case c = {.stage = &smp_stage_depth, .params = &depths[SMP_U8], .in = case_shape(8, 1, 1, SMP_F32)};
    c.in_storage = SMP_F32;
    float out[8];
    uint64_t clipped;
    kernel_case_samples(&c, values, out, &clipped);
    assert_int_equal(clipped, 4); /* -0.5, 1.5, NaN, infinity; 1.001 only rounds */
    for (int x = 0; x < 8; x++)
        assert_int_equal((int)out[x], want[x]);
}

SMP_TEST(every_variant_gives_the_same_bytes)
{
    static const smp_format storages[][2] = {
        {SMP_U8, SMP_U8}, {SMP_U8, SMP_F32}, {SMP_U16, SMP_U16}, {SMP_U16, SMP_F32}, {SMP_F32, SMP_F32}};
    int64_t width, height;
    for (int s = 0; case_size(s, 64, &width, &height); s++)
        for (int i = 0; i < 5; i++)
            for (int to = 0; to < SMP_FORMATS; to++)
                for (int as_float = 0; as_float < 2; as_float++)
                    for (int channels = 1; channels <= 4; channels++) {
                        kernel_case c = {.stage = &smp_stage_to_format, .params = &formats[to]};
                        c.in = case_shape(width, height, channels, storages[i][0]);
                        c.in_storage = storages[i][1];
                        c.out_storage = as_float ? SMP_F32 : (smp_format)to;
                        c.values = c.in_storage == SMP_F32 ? CASE_ANY : CASE_CODES;
                        c.seed = (uint64_t)s;
                        /* f32 to f32 at the same scale copies whatever NaN there is; all else makes the one NaN. */
                        kernel_case_check(&c);
                    }
}

/* As the planner does for a file format without alpha. */
static smp_code plan_dropping_alpha(const void *params, const smp_shape *in, const smp_shape *by, smp_node_plan *work,
                                    smp_error *err)
{
    smp_code code = smp_stage_to_format.plan(params, in, by, work, err);
    work->out.channels--;
    work->out.alpha = false;
    return code;
}

SMP_TEST(the_alpha_channel_can_be_dropped)
{
    smp_stage dropping = smp_stage_to_format;
    dropping.plan = plan_dropping_alpha;
    smp_format nominal, storage, out_storage;
    for (int f = 0; case_formats(f, &nominal, &storage, &out_storage); f++)
        for (int channels = 2; channels <= 4; channels += 2) {
            kernel_case c = {
                .stage = &dropping, .params = &formats[nominal], .in = case_shape(61, 45, channels, nominal)};
            c.in_storage = storage;
            c.out_storage = out_storage;
            kernel_case_check(&c);
            picture in = picture_make(&c.in, storage), out;
            picture_fill(&in, 1, CASE_CODES);
            kernel_case_naive(&c, &in, NULL, &out);
            assert_int_equal(out.view.channels, channels - 1);
            for (int x = 0; x < 61; x++)
                for (int k = 0; k < channels - 1; k++)
                    assert_true(picture_get(&out, x, 44, k) == picture_get(&in, x, 44, k));
            picture_free(&in);
            picture_free(&out);
        }
}

SMP_TEST(the_plan_knows_what_is_exact_and_what_does_nothing)
{
    const kernel_case same = {.stage = &smp_stage_depth, .params = &depths[SMP_U8], .in = case_shape(2, 2, 3, SMP_U8)},
                      wider = {.stage = &smp_stage_depth,
                               .params = &depths[SMP_U16],
                               .in = case_shape(2, 2, 3, SMP_U8)},
                      narrower = {
                          .stage = &smp_stage_depth, .params = &depths[SMP_U8], .in = case_shape(2, 2, 3, SMP_U16)};
    assert_true(case_plan(&same).effect.none);
    assert_int_equal(case_plan(&wider).values.exactness, SMP_INTEGER);
    assert_int_equal(case_plan(&wider).out.format, SMP_U16);
    assert_int_equal(case_plan(&narrower).values.exactness, SMP_REAL);
}
