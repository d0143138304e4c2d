/* crop: which rectangle it keeps, and what it refuses. test_stage_matrix and test_gpu_matrix hold its variants against
 * each other, tests/oracle/test_geometry.py against NumPy. */
#include "suite.h"

#include "matrix_case.h"

/* The error of a statement on a picture of 8x6, or what it makes of U(8, 6). */
static smp_code try(const char *statement, picture *out, char message[MESSAGE])
{
    const smp_shape shape = case_shape(8, 6, 1, SMP_U8);
    picture in = picture_make(&shape, SMP_U8);
    outcome o = {0};
    for (int y = 0; y < 6; y++)
        for (int x = 0; x < 8; x++)
            picture_set(&in, x, y, 0, (float)((7 * x * x + 13 * y * y + 5 * x * y + 11 * x + 3) % 256));
    const smp_code code = run_statements(&statement, 1, &shape, &in, "cpu", "tiled", &o, message);
    *out = o.out;
    o.out = (picture){0};
    outcome_free(&o);
    picture_free(&in);
    return code;
}

static void check_values(const char *statement, int width, int height, const int *want)
{
    char message[MESSAGE];
    picture out = {0};
    if (try(statement, &out, message))
        fail_msg("%s: %s", statement, message);
    assert_int_equal(out.view.width, width);
    assert_int_equal(out.view.height, height);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            assert_int_equal((int)picture_get(&out, x, y, 0), *want++);
    picture_free(&out);
}

SMP_TEST(keeps_the_rectangle_that_is_meant)
{
    static const int middle[] = {125, 181, 251, 200, 5, 80}, right[] = {15, 108, 215, 79, 177, 33};
    check_values("crop width=3 height=2", 3, 2, middle);
    check_values("crop left=2 right=3 top=2 bottom=2", 3, 2, middle);
    check_values("crop width=37.5% height=33%", 3, 2, middle);
    check_values("crop left=25% right=37.5% top=33% bottom=33%", 3, 2, middle);
    check_values("crop width=3 height=2 x=0 y=0 anchor=centre", 3, 2, middle);
    check_values("crop x=5 y=1 width=3 height=2", 3, 2, right);
    check_values("crop x=-1 y=1 width=3 height=2 anchor=top-right clip=yes", 3, 2,
                 (const int[]){192, 15, 108, 251, 79, 177});
    check_values("crop x=6 width=3 height=1 clip=yes", 2, 1, (const int[]){65, 167});
    check_values("crop aspect=1 anchor=right", 6, 6,
                 (const int[]){53,  99, 159, 233, 65, 167, 76, 127, 192, 15, 108, 215, 125, 181, 251, 79,  177, 33,
                               200, 5,  80,  169, 16, 133, 45, 111, 191, 29, 137, 3,   172, 243, 72,  171, 28,  155});
}

SMP_TEST(refuses_what_it_cannot_keep)
{
    static const struct {
        const char *statement, *says;
    } rows[] = {
        {"crop x=6 width=3 height=1", "the box 3x1 at 6, 0 leaves the picture of 8x6"},
        {"crop width=9", "the box 9x6 at -1, 0 leaves the picture of 8x6"},
        {"crop x=8 width=2 clip=yes", "the box 2x6 at 8, 0 leaves the picture of 8x6"},
        {"crop left=5 right=3", "nothing is left: the picture has 8x6 pixels"},
        {"crop width=120%", "the box 10x6 at -1, 0 leaves the picture of 8x6"},
        {"crop width=3 aspect=1", "the size is given twice"},
        {"crop top=1 aspect=1", "the size is given twice"},
        {"crop left=1 x=2", "leave out x"},
        {"crop left=1 anchor=left", "leave out anchor"},
        {"crop auto width=3", "the rectangle is given, and 'auto' finds one"},
        {"crop tolerance=1% clip=yes", "the rectangle is given, and 'auto' finds one"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char message[MESSAGE];
        picture out = {0};
        assert_int_equal(try(rows[i].statement, &out, message), SMP_E_PIPE);
        if (!strstr(message, rows[i].says))
            fail_msg("%s: %s", rows[i].statement, message);
    }
}
