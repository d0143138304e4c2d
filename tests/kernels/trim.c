/* trim: a part by times, and what silence leaves: ends, silences inside, and the same from every device. */
#include "suite.h"

#include "gpu_case.h"
#include "matrix_case.h"

/* Frames 0..29, 130..149, 300..399 and 500..599 of 600 are silent; each sample tells its frame. */
static void fill(picture *in)
{
    for (int64_t y = 0; y < in->view.height; y++) {
        const bool quiet = y < 30 || (y >= 130 && y < 150) || (y >= 300 && y < 400) || y >= 500;
        for (int c = 0; c < in->view.channels; c++)
            picture_set(in, 0, y, c, ((float)y + 1.f) * (quiet ? 1e-6f : 1e-2f));
    }
}

static gpu_job job_of(const char *line)
{
    const gpu_case c = {.lines = {line}, .in = case_sound(600, 2, 1000), .fill = fill};
    static gpu_case kept;
    kept = c;
    return gpu_job_make(&kept);
}

/* The frame that output frame y was; counted by the values that fill() gave. */
static int64_t frame_of(const gpu_job *job, int64_t y)
{
    const double v = (double)picture_get(&job->want, 0, y, 1);
    return (int64_t)(v > 5e-3 ? v * 1e2 + 0.5 : v * 1e6 + 0.5) - 1;
}

static void expect(const char *line, int64_t frames, const int64_t (*at)[2], int count)
{
    gpu_job job = job_of(line);
    assert_int_equal(job.shape.height, frames);
    for (int i = 0; i < count; i++)
        assert_int_equal(frame_of(&job, at[i][0]), at[i][1]);
    gpu_job_free(&job);
}

SMP_TEST(silence_at_the_ends_is_cut)
{
    expect("trim auto keep=0s", 470, (const int64_t[][2]){{0, 30}, {469, 499}}, 2);
    expect("trim silence=-50dBFS keep=10ms", 490, (const int64_t[][2]){{0, 20}, {489, 509}}, 2);
    expect("trim auto keep=50ms", 550, (const int64_t[][2]){{0, 0}, {549, 549}}, 2); /* no more than there is */
    expect("trim silence=-120dBFS", 600, (const int64_t[][2]){{0, 0}, {599, 599}}, 2);
}

SMP_TEST(silence_is_cut_at_one_end)
{
    expect("trim ends=start keep=0s", 570, (const int64_t[][2]){{0, 30}, {569, 599}}, 2);
    expect("trim ends=end keep=10ms", 510, (const int64_t[][2]){{0, 0}, {509, 509}}, 2);
    expect("trim ends=end keep=0s inside=50ms", 400, (const int64_t[][2]){{0, 0}, {299, 299}, {300, 400}}, 3);
}

SMP_TEST(the_sound_ends_at_the_first_silence)
{
    expect("trim until=20ms keep=0s", 100, (const int64_t[][2]){{0, 30}, {99, 129}}, 2);
    expect("trim until=50ms keep=0s", 270, (const int64_t[][2]){{0, 30}, {269, 299}}, 2);
    expect("trim until=50ms ends=end keep=5ms", 305, (const int64_t[][2]){{0, 0}, {304, 304}}, 2);
    expect("trim until=50ms inside=20ms keep=0s", 250, (const int64_t[][2]){{99, 129}, {100, 150}}, 2);
    expect("trim until=100ms ends=start keep=0s", 270, (const int64_t[][2]){{0, 30}}, 1);
    expect("trim until=101ms ends=start keep=0s", 570, (const int64_t[][2]){{0, 30}}, 1);
}

SMP_TEST(times_may_count_from_the_end)
{
    expect("trim start=-100ms", 100, (const int64_t[][2]){{0, 500}, {99, 599}}, 2);
    expect("trim end=-0.1s", 500, (const int64_t[][2]){{0, 0}, {499, 499}}, 2);
    expect("trim start=-9s end=-590ms", 10, (const int64_t[][2]){{0, 0}, {9, 9}}, 2);
    expect("trim start=-100ms length=20ms", 20, (const int64_t[][2]){{0, 500}, {19, 519}}, 2);
    expect("trim first=30 length=2s", 570, (const int64_t[][2]){{0, 30}, {569, 599}}, 2);
}

SMP_TEST(silence_inside_is_cut_from_its_length_on)
{
    expect("trim auto keep=0s inside=50ms", 370, (const int64_t[][2]){{0, 30}, {269, 299}, {270, 400}}, 3);
    expect("trim auto keep=10ms inside=20ms", 410, (const int64_t[][2]){{289, 309}, {290, 390}, {409, 509}}, 3);
    expect("trim auto keep=5ms inside=20ms", 380,
           (const int64_t[][2]){{0, 25}, {109, 134}, {110, 145}, {269, 304}, {270, 395}}, 5);
    expect("trim auto keep=50ms inside=0s", 550, (const int64_t[][2]){{0, 0}}, 1); /* all of it is kept */
}

/* The plan is made again with what was seen; what stands before and behind the stage streams. */
SMP_TEST(every_device_gives_the_same)
{
    static const char *const lines[][3] = {
        {"trim auto keep=3ms inside=20ms"},
        {"gain -3dB", "trim auto keep=3ms inside=20ms", "fir [0.25 0.5 0.25]"},
        {"trim auto keep=0s", "trim auto inside=50ms keep=1ms", "reverse"},
        {"trim auto keep=3ms inside=20ms", "normalize peak=-1dBFS"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        const gpu_case c = {.lines = {lines[i][0], lines[i][1], lines[i][2]},
                            .in = case_sound(600, 1 + (int)i % 3, 1000),
                            .fill = fill};
        gpu_case_check(&c);
    }
}

SMP_TEST(silence_alone_leaves_nothing)
{
    smp_error err = {0};
    smp_program *program = parse_lines((const char *const[]){"trim auto"}, 1);
    const smp_shape shape = case_sound(100, 1, 1000);
    picture in = picture_make(&shape, SMP_F32);
    for (int64_t y = 0; y < 100; y++)
        picture_set(&in, 0, y, 0, 0);
    smp_plan_request ask = {
        .program = program, .input = shape, .orientation = 1, .output = "memory", .accepts = gpu_accepts};
    smp_plan *plan;
    assert_int_equal(smp_plan_memory(&ask, NULL, gpu_reference(), &in.view, NULL, &plan, &err), SMP_E_DECODE);
    assert_null(plan);
    assert_non_null(strstr(err.message, "leaves nothing"));
    picture_free(&in);
    smp_program_free(program);
}
