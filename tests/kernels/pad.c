/* pad: silence round sounds, and what is refused. test_stage_matrix and test_gpu_matrix hold its variants against each
 * other on pictures, tests/oracle/test_geometry.py against NumPy. */
#include "suite.h"

#include "matrix_case.h"

static const smp_shape sound = {
    .kind = SMP_AUDIO, .width = 1, .height = 3, .channels = 2, .format = SMP_F32, .rate = 8000};

/* Frames of silence before and after, whatever the strips, the threads, the device. */
SMP_TEST(surrounds_a_sound_with_silence)
{
    static const struct {
        const char *statement;
        int before, after;
    } cases[] = {{"pad start=0.25ms end=0.125ms", 2, 1},
                 {"pad length=1ms", 0, 5},
                 {"pad start=1ms length=0.5ms", 8, 0},
                 {"pad end=25ms", 0, 200},
                 {"pad start=0.05ms", 0, 0}};
    static const int64_t strips[] = {0, 1, 4};
    static const char *const devices[] = {"cpu", "simt"}, *const variants[] = {"naive", "tiled"};
    picture in = picture_make(&sound, SMP_F32);
    for (int y = 0; y < 3; y++)
        for (int c = 0; c < 2; c++)
            picture_set(&in, 0, y, c, (float)(y + 1) / 8 - (float)c);
    for (int i = 0; i < 5 * 3 * 2 * 2; i++) {
        char message[MESSAGE];
        smp_plan *plan;
        smp_device *device = NULL;
        smp_error err = {0};
        outcome o = {0};
        const int k = i % 5, before = cases[k].before;
        const smp_device_request request = {.spec = devices[i / 15 % 2], .threads = 2};
        if (plan_statements(&cases[k].statement, 1, &sound, &plan, message))
            fail_msg("%s: %s", cases[k].statement, message);
        assert_int_equal(smp_device_open(&request, &device, NULL, 0, &err), SMP_OK);
        run_plan(plan, &in, variants[i / 30], strips[i / 5 % 3], device, &o);
        assert_int_equal(o.out.view.height, 3 + before + cases[k].after);
        for (int y = 0; y < o.out.view.height; y++)
            for (int c = 0; c < 2; c++)
                assert_true(picture_get(&o.out, 0, y, c) ==
                            (y < before || y >= before + 3 ? 0 : (float)(y - before + 1) / 8 - (float)c));
        outcome_free(&o);
        smp_device_close(device);
        smp_plan_free(plan);
    }
    picture_free(&in);
}

SMP_TEST(refuses_what_does_not_fit)
{
    const smp_shape drawing = {.kind = SMP_IMAGE, .width = 8, .height = 6, .channels = 3, .format = SMP_U8};
    static const struct {
        const char *statement, *says;
        bool sound;
    } rows[] = {
        {"pad 3 left=2", "the border is given twice", false},
        {"pad width=30 aspect=1", "the border is given twice", false},
        {"pad 3 anchor=top", "leave out anchor", false},
        {"pad 3 start=1s", "for sounds", false},
        {"pad start=1s", "this is a picture", false},
        {"pad 3 fill=[0 1]", "fill has 2 values, and the picture 3 channels", false},
        {"pad 3 fill=[0; 1]", "fill takes one row", false},
        {"pad 3 fill=[2]", "fill", false},
        {"pad 3", "this is a sound", true},
        {"pad edge=wrap start=1s", "this is a sound", true},
        {"pad end=1s length=2s", "given twice", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char message[MESSAGE];
        smp_plan *plan;
        if (!plan_statements(&rows[i].statement, 1, rows[i].sound ? &sound : &drawing, &plan, message))
            fail_msg("%s is not refused", rows[i].statement);
        if (!strstr(message, rows[i].says))
            fail_msg("%s: %s", rows[i].statement, message);
    }
}

/* Borders that show the picture need what they show: all of it where they wrap, or mirror far. */
SMP_TEST(keeps_rows_that_its_border_shows)
{
    const smp_shape tall = {.kind = SMP_IMAGE, .width = 4, .height = 20000, .channels = 1, .format = SMP_U8};
    static const struct {
        const char *statement;
        bool whole;
    } rows[] = {{"pad 9 edge=clamp", false},          {"pad 9", false},
                {"pad 9 edge=mirror", false},         {"pad 4096 edge=reflect", false},
                {"pad 4097 edge=reflect", true},      {"pad 9 edge=wrap", true},
                {"pad left=9 edge=wrap", false},      {"pad bottom=5000 edge=mirror", true},
                {"pad top=100000 edge=clamp", false}, {"pad top=100000", false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char message[MESSAGE];
        smp_plan *plan;
        assert_int_equal(plan_statements(&rows[i].statement, 1, &tall, &plan, message), SMP_OK);
        if (plan->steps[1].whole_input != rows[i].whole)
            fail_msg("%s", rows[i].statement);
        smp_plan_free(plan);
    }
}
