/* warp: the written examples on every device, quarter turns, what it refuses. test_stage_matrix and test_gpu_matrix
 * hold its variants against each other, tests/oracle/test_warp.py against the definition in NumPy. */
#include "suite.h"

#include "device/device.h"
#include "matrix_case.h"

/* u8 pictures: (7xx + 13yy + 5xy + 71k + 11x + 3) mod 256 */
static picture example(const smp_shape *shape)
{
    picture in = picture_make(shape, shape->format);
    for (int y = 0; y < shape->height; y++)
        for (int x = 0; x < shape->width; x++)
            for (int c = 0; c < shape->channels; c++) {
                const int v = (7 * x * x + 13 * y * y + 5 * x * y + 71 * c + 11 * x + 3) % 256;
                picture_set(&in, x, y, c, shape->format == SMP_F32 ? (float)v / 255.f : (float)v);
            }
    return in;
}

/* Runs a statement over the example on a device, or returns its error. */
static smp_code run(const char *statement, const smp_shape *shape, const char *device, const char *variant,
                    outcome *made, char message[MESSAGE])
{
    picture in = example(shape);
    const smp_code code = run_statements(&statement, 1, shape, &in, device, variant, made, message);
    picture_free(&in);
    return code;
}

static const char *const devices[] = {"cpu", "simt"};

SMP_TEST(has_the_written_values)
{
    static const struct {
        const char *statement;
        int width, height;
        double values[20]; /* exact code values, of a picture of 5x4 */
    } rows[] = {
        {"warp 30 edge=clamp", 5, 4, {23.838,  20.370,  32.869,  58.337,  98.174,  59.863,  60.950,
                                      69.949,  96.124,  129.960, 132.565, 130.269, 135.634, 158.176,
                                      188.629, 153.844, 194.547, 76.509,  172.412, 239.143}},
        {"warp matrix=[1 0 0.5; 0 1 0.25] filter=bicubic edge=mirror",
         5,
         4,
         {9.893,  9.893,  36.883, 76.430,  138.420, 17.506,  17.506,  47.836,  90.352,  155.682,
          51.969, 51.969, 87.062, 144.938, 226.281, 123.576, 123.576, 180.086, 108.664, 61.424}},
        {"warp matrix=[1.1 0.1 -0.5; 0.05 0.9 0.3; 0.02 -0.01 1] fill=[0.5]",
         5,
         4,
         {53.481, 73.063, 97.895,  126.240, 134.178, 21.238,  45.288,  82.811,  135.408, 162.681,
          56.753, 84.047, 124.773, 180.518, 220.968, 120.037, 151.332, 189.557, 16.635,  89.462}},
    };
    const smp_shape shape = case_shape(5, 4, 1, SMP_F32);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int d = 0; d < 2; d++)
            for (int v = 0; v < 3; v++) {
                char message[MESSAGE];
                outcome made = {0};
                if (run(rows[i].statement, &shape, devices[d], (const char *[]){"naive", "tiled", "padded"}[v], &made,
                        message))
                    fail_msg("%s: %s", rows[i].statement, message);
                assert_int_equal(made.out.view.width, rows[i].width);
                assert_int_equal(made.out.view.height, rows[i].height);
                for (int k = 0; k < 20; k++)
                    assert_float_equal(255.f * picture_get(&made.out, k % 5, k / 5, 0), (float)rows[i].values[k],
                                       0.0006f);
                outcome_free(&made);
            }
}

/* The four weights of a place add up to 1 but for their roundings: a fill is weighted wherever it is read. */
SMP_TEST(a_fill_is_the_same_by_every_variant)
{
    static const char *const statements[] = {"warp 12 filter=bicubic fill=[0.3] size=fit",
                                             "undistort 60 k1=-0.3 filter=bicubic fill=[0.3] edge=constant",
                                             "warp 12 fill=[0.3] size=fit"};
    static const char *const variants[] = {"naive", "tiled", "padded", "gather"};
    const smp_shape shape = case_shape(45, 38, 1, SMP_F32);
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
        char message[MESSAGE];
        outcome want = {0};
        if (run(statements[i], &shape, "cpu", "naive", &want, message))
            fail_msg("%s: %s", statements[i], message);
        for (int way = 0; way < 8; way++) {
            outcome made = {0};
            assert_int_equal(run(statements[i], &shape, devices[way % 2], variants[way / 2], &made, message), SMP_OK);
            if (!picture_equal(&made.out, &want.out))
                fail_msg("%s: %s on %s is not naive", statements[i], variants[way / 2], devices[way % 2]);
            outcome_free(&made);
        }
        outcome_free(&want);
    }
}

SMP_TEST(turns_by_quarters_as_rotate_does)
{
    static const char *const pairs[][2] = {{"warp 90 size=fit", "rotate 90"},
                                           {"warp 180", "rotate 180"},
                                           {"warp -90 size=fit", "rotate 270"},
                                           {"warp 270 size=fit filter=bicubic", "rotate 270"},
                                           {"warp 90 size=inside filter=nearest", "rotate 90"}};
    static const int channels[] = {1, 3, 3, 3, 3};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        for (int d = 0; d < 2; d++) {
            const bool square = strstr(pairs[i][0], "inside") != NULL;
            const smp_shape shape = case_shape(75, square ? 75 : 38, channels[i], i == 1 ? SMP_U16 : SMP_U8);
            char message[MESSAGE];
            outcome made = {0}, want = {0};
            assert_int_equal(run(pairs[i][0], &shape, devices[d], "padded", &made, message), SMP_OK);
            assert_int_equal(run(pairs[i][1], &shape, "cpu", "naive", &want, message), SMP_OK);
            if (!picture_equal(&made.out, &want.out))
                fail_msg("%s is not %s", pairs[i][0], pairs[i][1]);
            outcome_free(&made);
            outcome_free(&want);
        }
}

SMP_TEST(makes_the_sizes_that_are_meant)
{
    static const struct {
        const char *statement;
        int width, height;
    } rows[] = {
        {"warp 30 size=fit", 7, 6},    {"warp 90 size=fit", 4, 5},       {"warp 45", 5, 4},
        {"warp 30 size=inside", 3, 2}, {"warp scale=2 size=fit", 10, 8}, {"warp scale=50% size=inside", 2, 2},
    };
    const smp_shape shape = case_shape(5, 4, 1, SMP_U8);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char message[MESSAGE];
        outcome made = {0};
        assert_int_equal(run(rows[i].statement, &shape, "cpu", "tiled", &made, message), SMP_OK);
        assert_int_equal(made.out.view.width, rows[i].width);
        assert_int_equal(made.out.view.height, rows[i].height);
        outcome_free(&made);
    }
}

/* size=inside shows nothing of the fill, at any angle. */
SMP_TEST(inside_is_full)
{
    const smp_shape shape = case_shape(41, 17, 1, SMP_U8);
    for (int angle = -85; angle < 90; angle += 17) {
        char statement[64], message[MESSAGE];
        outcome filled = {0}, clamped = {0};
        snprintf(statement, sizeof statement, "warp %d size=inside fill=[1]", angle);
        assert_int_equal(run(statement, &shape, "cpu", "tiled", &filled, message), SMP_OK);
        snprintf(statement, sizeof statement, "warp %d size=inside edge=clamp", angle);
        assert_int_equal(run(statement, &shape, "cpu", "tiled", &clamped, message), SMP_OK);
        assert_true(picture_equal(&filled.out, &clamped.out));
        outcome_free(&filled);
        outcome_free(&clamped);
    }
}

SMP_TEST(fills_are_transparent)
{
    const smp_shape shape = case_shape(9, 9, 4, SMP_U8);
    char message[MESSAGE];
    outcome made = {0};
    assert_int_equal(run("warp 45 fill=[1]", &shape, "cpu", "tiled", &made, message), SMP_OK);
    for (int c = 0; c < 4; c++)
        assert_float_equal(picture_get(&made.out, 0, 0, c), 0.f, 0);
    outcome_free(&made);
    assert_int_equal(run("warp 45 fill=[1 0.2 0 1]", &shape, "cpu", "tiled", &made, message), SMP_OK);
    for (int c = 0; c < 4; c++)
        assert_float_equal(picture_get(&made.out, 0, 0, c), ((const float[]){255, 51, 0, 255})[c], 0);
    outcome_free(&made);
}

SMP_TEST(refuses_what_is_no_transform)
{
    static const struct {
        const char *statement, *says;
    } rows[] = {
        {"warp matrix=[1 0; 0 1]", "matrix has 2 x 2 numbers, not 2 x 3 or 3 x 3"},
        {"warp 5 matrix=[1 0 3; 0 1 0]", "given twice"},
        {"warp matrix=[1 0 3; 0 1 0] size=fit", "size=fit goes with an angle"},
        {"warp matrix=[1 2 0; 2 4 0]", "the matrix is singular"},
        {"warp matrix=[0 0 0; 0 0 0]", "the matrix is singular"},
        {"warp matrix=[1 0 0; 0 1 0; 1 0 0]", "the matrix is singular"},
        {"warp matrix=[0 0 1; 0 1 0; 1 0 0]", "the horizon on the first output pixel"},
        {"warp matrix=[1e-9 0 1; 0 1e-9 0]", "pixels beyond the picture"},
        {"warp 5 fill=[1 0]", "fill has 2 values, and the picture 1 channel"},
        {"warp 361", "must be -360 to 360"},
    };
    const smp_shape shape = case_shape(5, 4, 1, SMP_U8);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char message[MESSAGE];
        outcome made = {0};
        assert_int_equal(run(rows[i].statement, &shape, "cpu", "tiled", &made, message), SMP_E_PIPE);
        if (!strstr(message, rows[i].says))
            fail_msg("%s: %s", rows[i].statement, message);
    }
}
