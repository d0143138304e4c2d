/* mix, append, and add of another length: which sound is heard where, and the same from every device. */
#include "suite.h"

#include "gpu_case.h"
#include "matrix_case.h"

static void ramp(picture *in)
{
    for (int64_t y = 0; y < in->view.height; y++)
        for (int c = 0; c < in->view.channels; c++)
            picture_set(in, 0, y, c, (float)(y + 1) + (float)c * 0.25f);
}

/* Output frames `at` of 50 frames in two channels, which hold frame + 1 and frame + 1.25. */
static void expect(const char *const *lines, int64_t frames, const double (*at)[2], int count)
{
    gpu_case c = {.in = case_sound(50, 2, 1000), .fill = ramp};
    for (int i = 0; lines[i]; i++)
        c.lines[i] = lines[i];
    gpu_job job = gpu_job_make(&c);
    assert_int_equal(job.shape.height, frames);
    for (int i = 0; i < count; i++)
        assert_float_equal(picture_get(&job.want, 0, (int64_t)at[i][0], 1), at[i][1], 1e-6);
    gpu_job_free(&job);
}

#define SHORT "trim first=30 frames=10 -> @short", "from @input"

SMP_TEST(sounds_lie_where_they_begin)
{
    expect((const char *const[]){SHORT, "mix by=@short at=20ms", NULL}, 50,
           (const double[][2]){{0, 1.25}, {19, 20.25}, {20, 21.25 + 31.25}, {29, 30.25 + 40.25}, {30, 31.25}}, 5);
    expect((const char *const[]){SHORT, "mix by=@short at=45ms gain=-200dB", NULL}, 55,
           (const double[][2]){{44, 45.25}, {49, 50.25}, {50, 0}, {54, 0}}, 4);
    expect((const char *const[]){SHORT, "mix by=@short at=60ms gain=20dB", NULL}, 70,
           (const double[][2]){{49, 50.25}, {50, 0}, {59, 0}, {60, 312.5}, {69, 402.5}}, 5);
    expect((const char *const[]){SHORT, "mix by=@short at=45ms length=first", NULL}, 50,
           (const double[][2]){{44, 45.25}, {45, 46.25 + 31.25}, {49, 50.25 + 35.25}}, 3);
    expect((const char *const[]){SHORT, "append by=@short gap=5ms", NULL}, 65,
           (const double[][2]){{49, 50.25}, {50, 0}, {54, 0}, {55, 31.25}, {64, 40.25}}, 5);
    expect((const char *const[]){SHORT, "add by=@short", NULL}, 50,
           (const double[][2]){{0, 1.25 + 31.25}, {9, 10.25 + 40.25}, {10, 11.25}}, 3);
    expect((const char *const[]){SHORT, "from @short", "add by=@input", NULL}, 50,
           (const double[][2]){{0, 1.25 + 31.25}, {10, 11.25}, {49, 50.25}}, 3);
    expect((const char *const[]){"remix left -> @mono", "from @input", "append by=@mono", NULL}, 100,
           (const double[][2]){{49, 50.25}, {50, 1}, {99, 50}}, 3);
}

SMP_TEST(one_sound_fades_into_the_next)
{
    expect((const char *const[]){SHORT, "append by=@short crossfade=10ms", NULL}, 50,
           (const double[][2]){{39, 40.25}, {40, 0.95 * 41.25 + 0.05 * 31.25}, {49, 0.05 * 50.25 + 0.95 * 40.25}}, 3);
    expect((const char *const[]){SHORT, "append by=@short crossfade=4ms", NULL}, 56,
           (const double[][2]){{45, 46.25}, {46, 0.875 * 47.25 + 0.125 * 31.25}, {50, 35.25}, {55, 40.25}}, 4);
}

SMP_TEST(channels_lie_beside_each_other)
{
    gpu_case c = {
        .in = case_sound(50, 2, 1000), .fill = ramp, .lines = {SHORT, "mix by=@short at=20ms gain=20dB how=beside"}};
    gpu_job job = gpu_job_make(&c);
    assert_int_equal(job.shape.channels, 4);
    for (int64_t y = 0; y < 50; y++) {
        const bool both = y >= 20 && y < 30;
        assert_float_equal(picture_get(&job.want, 0, y, 1), (float)y + 1.25f, 1e-6f);
        assert_float_equal(picture_get(&job.want, 0, y, 2), (both ? 10 * ((float)y + 11) : 0), 1e-4f);
    }
    gpu_job_free(&job);
    const gpu_case again = {.in = case_sound(50, 2, 1000),
                            .fill = ramp,
                            .lines = {"remix right -> @r", "from @input", "remix left", "mix by=@r how=beside"}};
    job = gpu_job_make(&again);
    for (int64_t y = 0; y < 50; y++)
        assert_float_equal(picture_get(&job.want, 0, y, 1), (float)y + 1.25f, 1e-6f);
    gpu_job_free(&job);
}

SMP_TEST(every_device_gives_the_same)
{
    static const char *const lines[][4] = {
        {"mix by=@input at=3ms gain=-6dB"},
        {"append by=@input gap=2ms", "fir [0.25 0.5 0.25]"},
        {SHORT, "fir [0.5 0.5]", "mix by=@short at=17ms"},
        {"remix mono -> @mono", "from @input", "append by=@mono", "mix by=@mono at=9ms length=first"},
        {SHORT, "append by=@short gap=1ms", "add by=@short"},
        {SHORT, "append by=@short crossfade=8ms", "mix by=@input at=2ms how=beside"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        const gpu_case c = {.lines = {lines[i][0], lines[i][1], lines[i][2], lines[i][3]},
                            .in = case_sound(47, 1 + (int)i % 3, 1000),
                            .values = CASE_ANY,
                            .seed = i};
        gpu_case_check(&c);
    }
}

extern const smp_stage smp_stage_mix, smp_stage_add, smp_stage_subtract;

SMP_TEST(what_does_not_fit_says_what_to_type)
{
    struct {
        smp_operand by;
        double at, gain;
        int length, how;
        bool fit;
    } params = {.by = {.is_tap = true}};
    const smp_shape in = case_sound(50, 1, 1000);
    smp_shape by = case_sound(10, 2, 1000);
    smp_node_plan plan = {.out = in};
    smp_error err = {0};
    assert_int_equal(smp_stage_mix.plan(&params, &in, &by, &plan, &err), SMP_E_PIPE);
    assert_non_null(strstr(err.hint, "`remix stereo` in front"));
    by = case_sound(10, 1, 1000);
    by.rate = 48000;
    err = (smp_error){0};
    assert_int_equal(smp_stage_add.plan(&params, &in, &by, &plan, &err), SMP_E_PIPE);
    assert_non_null(strstr(err.message, "1000 Hz and by=48000 Hz"));
    assert_non_null(strstr(err.hint, "`resample 48000Hz` in front"));
    by.rate = 1000;
    err = (smp_error){0};
    assert_int_equal(smp_stage_subtract.plan(&params, &in, &by, &plan, &err), SMP_E_PIPE);
    assert_non_null(strstr(err.hint, "take sounds of other lengths"));
}
