/* join: where the two pictures lie, gaps, alignment, and what it refuses, on every device. */
#include "suite.h"

#include "matrix_case.h"

/* A picture beside a part of itself: `second` makes the second picture of it. The input's samples are 1, 2, 3, ... */
static smp_code run(const char *second, const char *statement, const smp_shape *shape, const char *device,
                    const char *variant, outcome *made, char message[MESSAGE])
{
    char tap[128];
    snprintf(tap, sizeof tap, "%s -> @b", second);
    const char *lines[] = {tap, "from @input", statement};
    picture in = picture_make(shape, shape->format);
    for (int64_t i = 0; i < shape->width * shape->height * shape->channels; i++)
        picture_set(&in, i / shape->channels % shape->width, i / shape->channels / shape->width,
                    (int)(i % shape->channels), (float)(i + 1));
    const smp_code code = run_statements(lines, 3, shape, &in, device, variant, made, message);
    picture_free(&in);
    return code;
}

SMP_TEST(lays_pictures_where_it_says)
{
    static const struct {
        const char *statement;
        int width, height, values[28];
    } rows[] = {
        /* 1 2 3 / 4 5 6 and its right column, or its lower row */
        {"join @b", 4, 2, {1, 2, 3, 3, 4, 5, 6, 6}},
        {"join @b side=left gap=1 fill=[1]", 5, 2, {3, 255, 1, 2, 3, 6, 255, 4, 5, 6}},
        {"join @b side=below", 3, 4, {1, 2, 3, 4, 5, 6, 3, 0, 0, 6, 0, 0}},
        {"join @b side=below align=end", 3, 4, {1, 2, 3, 4, 5, 6, 0, 0, 3, 0, 0, 6}},
        {"join @b side=above align=centre gap=1 fill=[0.2]",
         3,
         5,
         {51, 3, 51, 51, 6, 51, 51, 51, 51, 1, 2, 3, 4, 5, 6}},
    };
    const smp_shape shape = case_shape(3, 2, 1, SMP_U8);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int k = 0; k < 4; k++) {
            char message[MESSAGE];
            outcome made = {0};
            if (run("crop width=1 anchor=right", rows[i].statement, &shape, k & 1 ? "simt" : "cpu",
                    k & 2 ? "tiled" : "naive", &made, message))
                fail_msg("%s: %s", rows[i].statement, message);
            assert_int_equal(made.out.view.width, rows[i].width);
            assert_int_equal(made.out.view.height, rows[i].height);
            for (int n = 0; n < rows[i].width * rows[i].height; n++)
                assert_int_equal((int)picture_get(&made.out, n % rows[i].width, n / rows[i].width, 0),
                                 rows[i].values[n]);
            outcome_free(&made);
        }
}

SMP_TEST(joins_what_differs_in_kind)
{
    const smp_shape shape = case_shape(2, 1, 4, SMP_U8);
    static const int gray[] = {1, 2, 3, 4, 5, 6, 7, 8, 4, 4, 4, 255, 8, 8, 8, 255};
    for (int k = 0; k < 4; k++) {
        char message[MESSAGE];
        outcome made = {0};
        if (run("alpha extract", "join @b", &shape, k & 1 ? "simt" : "cpu", k & 2 ? "tiled" : "naive", &made, message))
            fail_msg("%s", message);
        for (int n = 0; n < 16; n++)
            assert_int_equal((int)picture_get(&made.out, n / 4, 0, n % 4), gray[n]);
        outcome_free(&made);
        if (run("depth 16bit", "join @b", &shape, k & 1 ? "simt" : "cpu", k & 2 ? "tiled" : "naive", &made, message))
            fail_msg("%s", message);
        for (int n = 0; n < 16; n++)
            assert_int_equal((int)picture_get(&made.out, n / 4, 0, n % 4), n % 8 + 1);
        outcome_free(&made);
    }
}

SMP_TEST(refuses_what_does_not_fit)
{
    char message[MESSAGE];
    outcome made = {0};
    const smp_shape gray = case_shape(3, 2, 1, SMP_U8), coloured = case_shape(3, 2, 3, SMP_U8);
    assert_int_equal(run("matrix [1; 1; 1]", "join @b", &gray, "cpu", "tiled", &made, message), SMP_E_PIPE);
    assert_non_null(strstr(message, "a picture of 3 colours cannot lie beside one of 1"));
    assert_int_equal(run("alpha opaque", "join @b", &coloured, "cpu", "tiled", &made, message), SMP_E_PIPE);
    assert_non_null(strstr(message, "the second picture has alpha"));
    assert_int_equal(run("crop width=1", "join @b fill=[1 0]", &coloured, "cpu", "tiled", &made, message), SMP_E_PIPE);
    assert_non_null(strstr(message, "fill has 2 values"));
}
