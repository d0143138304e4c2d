/* equalize: OpenCV's equalizeHist on small pictures, luma mode, and that variants and storages agree. */
#include <math.h>

#include "suite.h"

#include "kernel_case.h"

extern const smp_stage smp_stage_equalize;

typedef struct params { /* as the stage declares them */
    int channel;
} params;

static const params luma = {0}, each = {1};

/* A row of n pixels through the definition. */
static void run(const params *p, smp_shape shape, smp_format storage, const float *values, float *out)
{
    const kernel_case c = {
        .stage = &smp_stage_equalize, .params = p, .in = shape, .in_storage = storage, .out_storage = storage};
    kernel_case_samples(&c, values, out, NULL);
}

SMP_TEST(every_variant_gives_the_same_bytes)
{
    kernel_case_matrix(&smp_stage_equalize, &each, 3, 4);
    kernel_case_matrix(&smp_stage_equalize, &luma, 3, 3);
    for (int k = 0; k < 2; k++)
        for (smp_format nominal = SMP_U8; nominal < SMP_FORMATS; nominal++) {
            kernel_case c = kernel_case_in(&smp_stage_equalize, k ? &each : &luma, case_shape(257, 12, 3 + k, nominal));
            c.in_storage = SMP_F32;
            c.values = CASE_ANY;
            kernel_case_check(&c);
        }
    for (int channels = 1; channels <= 4; channels++) { /* rows of bytes long enough for vectors, and not whole ones */
        kernel_case c = {.stage = &smp_stage_equalize, .params = &each, .in = case_shape(1283, 5, channels, SMP_U8)};
        kernel_case_check(&c);
    }
}

SMP_TEST(each_channel_as_opencv_does)
{
    static const float values[] = {3, 3, 10, 200, 200, 200, 201, 255};
    static const float want[] = {0, 0, 42, 170, 170, 170, 212, 255}; /* cv2.equalizeHist */
    float got[8];
    for (smp_format storage = SMP_U8; storage < SMP_FORMATS; storage++) {
        if (storage == SMP_U16)
            continue;
        run(&each, case_shape(8, 1, 1, SMP_U8), storage, values, got);
        for (int i = 0; i < 8; i++)
            assert_true(got[i] == want[i]);
    }
    static const float twice[] = {3, 9, 3, 9, 10, 9, 200, 9, 200, 9, 200, 9, 201, 9, 255, 9};
    smp_shape two = case_shape(8, 1, 2, SMP_U8);
    float pairs[16];
    run(&each, two, SMP_U8, twice, pairs); /* the second channel is alpha: it stays */
    for (int i = 0; i < 8; i++)
        assert_true(pairs[2 * i] == want[i] && pairs[2 * i + 1] == 9);
    two.alpha = false; /* one value only: it stays as well */
    run(&each, two, SMP_U8, twice, pairs);
    for (int i = 0; i < 8; i++)
        assert_true(pairs[2 * i] == want[i] && pairs[2 * i + 1] == 9);
}

SMP_TEST(sixteen_bits_use_every_value)
{
    float got[4];
    run(&each, case_shape(4, 1, 1, SMP_U16), SMP_U16, (const float[]){1000, 1001, 1002, 1003}, got);
    assert_true(got[0] == 0 && got[1] == 21845 && got[2] == 43690 && got[3] == 65535);
}

SMP_TEST(float_pictures_are_not_rounded_and_keep_nan)
{
    float got[5];
    run(&each, case_shape(5, 1, 1, SMP_F32), SMP_F32, (const float[]){-2.f, 0.5f, NAN, 0.51f, 7.f}, got);
    assert_true(got[0] == 0 && got[1] == 1.f / 3.f && isnan(got[2]) && got[4] == 1);
    assert_true(fabsf(got[3] - 2.f / 3.f) < 1e-7f);
}

SMP_TEST(luma_shifts_all_colours_alike)
{
    /* Lumas 100, 110 and 200 become 0, 127.5, which rounds to 128, and 255. */
    static const float values[] = {100, 100, 100, 0, 110, 110, 110, 7, 190, 204, 205, 255};
    float got[12];
    run(&luma, case_shape(3, 1, 4, SMP_U8), SMP_F32, values, got);
    for (int c = 0; c < 3; c++) {
        assert_true(got[c] == 0);
        assert_true(got[4 + c] == 128);
        assert_true(got[8 + c] == values[8 + c] + 55); /* luma 199.9 counts as 200: 255 - 200 */
    }
    assert_true(got[3] == 0 && got[7] == 7 && got[11] == 255);
}

SMP_TEST(a_gray_picture_is_the_same_either_way)
{
    float a[6], b[6];
    static const float values[] = {5, 6, 9, 9, 40, 41};
    run(&luma, case_shape(6, 1, 1, SMP_U8), SMP_U8, values, a);
    run(&each, case_shape(6, 1, 1, SMP_U8), SMP_U8, values, b);
    assert_memory_equal(a, b, sizeof a);
}

SMP_TEST(a_failing_allocation_is_reported)
{
    const smp_shape shape = case_shape(2, 2, 3, SMP_U8);
    smp_node_plan plan = {.out = shape};
    smp_error err = {0};
    smp_alloc_fail_at(1);
    assert_int_equal(smp_stage_equalize.plan(&each, &shape, NULL, &plan, &err), SMP_E_MEMORY);
    smp_alloc_fail_at(0);
    assert_null(plan.table.data);
}
