/* The library's functions as programs call them: shapes, strides, errors with their places, threads, callbacks. */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

#include "api/smempipe.h"
#include "base/alloc.h"

enum { WIDTH = 37, HEIGHT = 23, CHANNELS = 3, GUARD = 0xa5 };

static smempipe_device *device;

static int open_device(void **state)
{
    (void)state;
    return smempipe_device_open("cpu", 2, &device, NULL) ? -1 : 0;
}

static int close_device(void **state)
{
    (void)state;
    smempipe_device_close(device);
    return 0;
}

static smempipe_shape picture_shape(int64_t width, int64_t height, int channels)
{
    return (smempipe_shape){.kind = SMEMPIPE_PICTURE, .width = width, .height = height, .channels = channels};
}

static unsigned char sample(int64_t y, int64_t x)
{
    return (unsigned char)((y * 31 + x * 7 + y * x) & 255);
}

/* A picture whose rows are `stride` bytes apart, with bytes between that nobody may read as samples. */
static smempipe_buffer make_picture(int64_t stride)
{
    smempipe_buffer made = {.shape = picture_shape(WIDTH, HEIGHT, CHANNELS), .stride = stride};
    unsigned char *data = malloc((size_t)(stride * HEIGHT));
    assert_non_null(data);
    memset(data, GUARD, (size_t)(stride * HEIGHT));
    for (int64_t y = 0; y < HEIGHT; y++)
        for (int64_t x = 0; x < (int64_t)WIDTH * CHANNELS; x++)
            data[y * stride + x] = sample(y, x);
    made.data = data;
    return made;
}

static smempipe_pipeline *compile(const char *text)
{
    smempipe_pipeline *pipeline = NULL;
    smempipe_error *error = NULL;
    if (smempipe_compile(text, NULL, &pipeline, &error))
        print_error("%s", smempipe_error_text(error));
    assert_non_null(pipeline);
    assert_null(error);
    return pipeline;
}

/* ------------------------------------------------------------------------------------------------ running */

SMP_TEST(a_stage_changes_every_sample)
{
    smempipe_pipeline *pipeline = compile("invert");
    smempipe_buffer in = make_picture(WIDTH * CHANNELS), out;
    assert_int_equal(smempipe_run(pipeline, device, &in, &out, NULL, NULL), SMEMPIPE_OK);
    assert_int_equal(out.shape.width, WIDTH);
    assert_int_equal(out.shape.height, HEIGHT);
    assert_int_equal(out.shape.channels, CHANNELS);
    for (int64_t y = 0; y < HEIGHT; y++)
        for (int64_t x = 0; x < (int64_t)WIDTH * CHANNELS; x++)
            assert_int_equal(((unsigned char *)out.data)[y * out.stride + x], 255 - sample(y, x));
    smempipe_free(out.data);
    free(in.data);
    smempipe_pipeline_free(pipeline);
}

/* Strides do not change the result, and nothing is written between the rows. */
SMP_TEST(rows_may_have_gaps)
{
    static const char *const texts[] = {"gaussian 2px", "sobel",         "median 3px", "transpose", "levels",
                                        "resize 50%",   "flip vertical", "equalize",   "box 5px",   "gray"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        smempipe_pipeline *pipeline = compile(texts[i]);
        smempipe_plan *plan = NULL;
        smempipe_buffer dense = make_picture(WIDTH * CHANNELS), loose = make_picture(128), first, second;
        assert_int_equal(smempipe_run(pipeline, device, &dense, &first, NULL, NULL), SMEMPIPE_OK);
        assert_int_equal(smempipe_plan_make(pipeline, &loose.shape, 0, &plan, NULL), SMEMPIPE_OK);
        second = (smempipe_buffer){.shape = smempipe_plan_output(plan)};
        const int64_t row = second.shape.width * second.shape.channels;
        second.stride =
            (row + 64) / 64 * 64; /* aligned as devices align, and the last row ends where the memory does */
        const size_t size = (size_t)(second.stride * (second.shape.height - 1) + row);
        unsigned char *memory = aligned_alloc(64, (size + 127) / 64 * 64);
        assert_non_null(memory);
        memset(memory, GUARD, (size + 127) / 64 * 64);
        second.data = memory;
        assert_int_equal(smempipe_plan_run(plan, device, &loose, &second, NULL, NULL), SMEMPIPE_OK);
        for (int64_t y = 0; y < second.shape.height; y++) {
            assert_memory_equal(memory + y * second.stride, (char *)first.data + y * first.stride, (size_t)row);
            for (int64_t x = row; y + 1 < second.shape.height && x < second.stride; x++)
                assert_int_equal(memory[y * second.stride + x], GUARD);
        }
        for (size_t at = size; at < (size + 127) / 64 * 64; at++)
            assert_int_equal(memory[at], GUARD);
        free(memory);
        smempipe_free(first.data);
        free(dense.data);
        free(loose.data);
        smempipe_plan_free(plan);
        smempipe_pipeline_free(pipeline);
    }
}

SMP_TEST(a_plan_outlives_its_pipeline)
{
    smempipe_pipeline *pipeline = compile("convolve kernel=[0 1 0; 1 {channels} 1; 0 1 0]\ntranspose");
    smempipe_plan *plan = NULL;
    const smempipe_shape shape = picture_shape(WIDTH, HEIGHT, CHANNELS);
    assert_int_equal(smempipe_plan_make(pipeline, &shape, 0, &plan, NULL), SMEMPIPE_OK);
    smempipe_pipeline_free(pipeline);
    assert_non_null(strstr(smempipe_plan_text(plan), "transpose"));
    smempipe_buffer in = make_picture(WIDTH * CHANNELS), out = {.shape = smempipe_plan_output(plan)};
    assert_int_equal(out.shape.width, HEIGHT);
    assert_int_equal(out.shape.height, WIDTH);
    out.data = malloc((size_t)WIDTH * HEIGHT * CHANNELS);
    assert_int_equal(smempipe_plan_run(plan, device, &in, &out, NULL, NULL), SMEMPIPE_OK);
    free(out.data);
    free(in.data);
    smempipe_plan_free(plan);
}

SMP_TEST(measurements_have_types)
{
    smempipe_pipeline *pipeline = compile("stats name=all\nhistogram bins=16");
    smempipe_buffer in = make_picture(WIDTH * CHANNELS);
    smempipe_result *result = NULL;
    assert_int_equal(smempipe_run(pipeline, device, &in, NULL, &result, NULL), SMEMPIPE_OK);
    double sum = 0, mean = -1, counted = 0;
    for (int64_t y = 0; y < HEIGHT; y++)
        for (int64_t x = 0; x < WIDTH; x++)
            sum += sample(y, x * CHANNELS);
    smempipe_value value;
    for (size_t i = 0; !smempipe_result_get(result, i, &value); i++) {
        if (value.label && !strcmp(value.label, "all") && !strcmp(value.name, "mean") && value.channel == 0)
            mean = value.value;
        for (size_t k = 0; value.list && value.channel == 0 && k < value.count; k++)
            counted += value.list[k];
    }
    assert_true(mean > sum / (WIDTH * HEIGHT) - 1e-3 && mean < sum / (WIDTH * HEIGHT) + 1e-3);
    assert_int_equal((int)counted, WIDTH * HEIGHT);
    assert_int_equal(smempipe_result_get(result, smempipe_result_count(result), &value), SMEMPIPE_E_ARGUMENT);
    assert_non_null(strstr(smempipe_result_json(result), "\"steps\""));
    smempipe_result_free(result);
    free(in.data);
    smempipe_pipeline_free(pipeline);
}

/* A pipeline that must see the samples cannot be planned by the shape alone, and runs all the same. */
SMP_TEST(trim_needs_the_samples)
{
    enum { FRAMES = 48000, FROM = 20000, TO = 30000 };
    smempipe_pipeline *pipeline = compile("trim auto");
    smempipe_plan *plan = NULL;
    smempipe_error *error = NULL;
    float *sound = calloc(FRAMES, sizeof *sound);
    for (int i = FROM; i < TO; i++)
        sound[i] = i % 2 ? .5f : -.5f;
    smempipe_buffer in = {.data = sound}, out;
    in.shape = (smempipe_shape){
        .kind = SMEMPIPE_SOUND, .format = SMEMPIPE_F32, .width = 1, .height = FRAMES, .channels = 1, .rate = 48000};
    assert_int_equal(smempipe_plan_make(pipeline, &in.shape, 0, &plan, &error), SMEMPIPE_E_ARGUMENT);
    assert_null(plan);
    assert_non_null(strstr(smempipe_error_text(error), "smempipe_run"));
    smempipe_error_free(error);
    assert_int_equal(smempipe_run(pipeline, device, &in, &out, NULL, NULL), SMEMPIPE_OK);
    assert_in_range(out.shape.height, TO - FROM, FRAMES - 1);
    smempipe_free(out.data);
    free(sound);
    smempipe_pipeline_free(pipeline);
}

/* A sound whose frames have gaps in the output. */
SMP_TEST(sounds_are_frames)
{
    enum { FRAMES = 5000 };
    smempipe_pipeline *pipeline = compile("gain -6.0206dB");
    smempipe_plan *plan = NULL;
    const smempipe_shape shape = {
        .kind = SMEMPIPE_SOUND, .format = SMEMPIPE_F32, .width = 1, .height = FRAMES, .channels = 2, .rate = 48000};
    float *from = malloc(FRAMES * 2 * sizeof *from), *to = malloc(FRAMES * 3 * sizeof *to);
    for (int i = 0; i < FRAMES * 2; i++)
        from[i] = (float)(i % 100) / 100.f;
    for (int i = 0; i < FRAMES * 3; i++)
        to[i] = 7;
    smempipe_buffer in = {.shape = shape, .data = from}, out = {.shape = shape, .data = to, .stride = 12};
    assert_int_equal(smempipe_plan_make(pipeline, &shape, 0, &plan, NULL), SMEMPIPE_OK);
    assert_int_equal(smempipe_plan_run(plan, device, &in, &out, NULL, NULL), SMEMPIPE_OK);
    for (int i = 0; i < FRAMES; i++) {
        assert_true(to[3 * i + 1] > from[2 * i + 1] * .49999f - 1e-6f &&
                    to[3 * i + 1] < from[2 * i + 1] * .50001f + 1e-6f);
        assert_true(to[3 * i + 2] > 6);
    }
    free(from);
    free(to);
    smempipe_plan_free(plan);
    smempipe_pipeline_free(pipeline);
}

/* ------------------------------------------------------------------------------------------------ strips */

typedef struct strips {
    unsigned char *out;
    int64_t read, written, stop_at;
} strips;

static int read_rows(void *context, void *rows, int64_t stride, int64_t y, int64_t count)
{
    strips *s = context;
    if (y != s->read || (s->stop_at && y >= s->stop_at))
        return 1;
    for (int64_t row = 0; row < count; row++)
        for (int64_t x = 0; x < WIDTH; x++)
            ((unsigned char *)rows)[row * stride + x] = sample(y + row, x);
    s->read += count;
    return 0;
}

static int write_rows(void *context, const void *rows, int64_t stride, int64_t y, int64_t count)
{
    strips *s = context;
    if (y != s->written)
        return 1;
    for (int64_t row = 0; row < count; row++)
        memcpy(s->out + (y + row) * WIDTH, (const char *)rows + row * stride, WIDTH);
    s->written += count;
    return 0;
}

SMP_TEST(strips_give_the_bytes_of_a_whole_picture)
{
    enum { TALL = 60000 };
    smempipe_pipeline *pipeline = compile("gaussian 2px\nstats");
    smempipe_plan *plan = NULL;
    smempipe_result *result = NULL;
    smempipe_error *error = NULL;
    const smempipe_shape shape = picture_shape(WIDTH, TALL, 1);
    unsigned char *all = malloc((size_t)WIDTH * TALL);
    strips s = {.out = malloc((size_t)WIDTH * TALL)};
    for (int64_t y = 0; y < TALL; y++)
        for (int64_t x = 0; x < WIDTH; x++)
            all[y * WIDTH + x] = sample(y, x);
    smempipe_buffer in = {.shape = shape, .data = all}, out;
    assert_int_equal(smempipe_plan_make(pipeline, &shape, 0, &plan, NULL), SMEMPIPE_OK);
    assert_int_equal(smempipe_run_strips(plan, device, read_rows, write_rows, &s, &result, NULL), SMEMPIPE_OK);
    assert_int_equal(s.written, TALL);
    assert_true(smempipe_result_count(result) > 0);
    assert_int_equal(smempipe_run(pipeline, device, &in, &out, NULL, NULL), SMEMPIPE_OK);
    assert_memory_equal(s.out, out.data, (size_t)WIDTH * TALL);
    smempipe_result_free(result);

    s = (strips){.out = s.out, .stop_at = 1};
    assert_int_equal(smempipe_run_strips(plan, device, read_rows, write_rows, &s, &result, &error), SMEMPIPE_E_STOPPED);
    assert_null(result);
    assert_non_null(strstr(smempipe_error_text(error), "reads rows"));
    smempipe_error_free(error);
    smempipe_free(out.data);
    free(all);
    free(s.out);
    smempipe_plan_free(plan);
    smempipe_pipeline_free(pipeline);
}

/* ------------------------------------------------------------------------------------------------ errors */

SMP_TEST(samples_stay_on_a_gpu)
{
    enum { COLUMNS = 37, ROWS = 21 };
    uint8_t in[COLUMNS * ROWS], back[COLUMNS * ROWS];
    const smempipe_shape shape = {.kind = SMEMPIPE_PICTURE, .width = COLUMNS, .height = ROWS, .channels = 1};
    smempipe_device *gpu;
    smempipe_pipeline *pipeline;
    smempipe_plan *plan;
    smempipe_error *error;
    void *memory = &error;
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (uint8_t)(i * 7 % 251);
    assert_int_equal(smempipe_device_alloc(device, 100, &memory, &error), SMEMPIPE_E_ARGUMENT);
    assert_non_null(strstr(smempipe_error_text(error), "none of its own"));
    assert_null(memory);
    smempipe_error_free(error);
    assert_int_equal(smempipe_device_open("simt", 0, &gpu, NULL), 0);
    assert_int_equal(smempipe_device_alloc(gpu, sizeof in, &memory, NULL), 0);
    assert_int_equal(smempipe_compile("invert", NULL, &pipeline, NULL), 0);
    assert_int_equal(smempipe_plan_make(pipeline, &shape, 0, &plan, NULL), 0);
    const smempipe_buffer host = {.shape = shape, .data = in}, there = {.shape = shape, .data = memory, .on_device = 1},
                          result = {.shape = shape, .data = back};
    assert_int_equal(smempipe_plan_run(plan, gpu, &host, &there, NULL, NULL), 0);
    assert_int_equal(smempipe_plan_run(plan, gpu, &there, &result, NULL, NULL), 0);
    assert_memory_equal(in, back, sizeof in);
    assert_int_equal(smempipe_plan_run(plan, device, &there, &result, NULL, &error), SMEMPIPE_E_ARGUMENT);
    assert_non_null(strstr(smempipe_error_text(error), "lies on a GPU, and the device is cpu"));
    smempipe_error_free(error);
    assert_int_equal(smempipe_run(pipeline, gpu, &there, &(smempipe_buffer){.data = NULL}, NULL, &error),
                     SMEMPIPE_E_ARGUMENT);
    smempipe_error_free(error);
    smempipe_plan_free(plan);
    smempipe_pipeline_free(pipeline);
    smempipe_device_release(gpu, memory);
    smempipe_device_close(gpu);
}

SMP_TEST(mistakes_have_places)
{
    smempipe_pipeline *pipeline = NULL;
    smempipe_error *error = NULL;
    smempipe_problem problem;
    assert_int_equal(smempipe_compile("gray\n  gaussian sigam=2px\nsobbel", NULL, &pipeline, &error),
                     SMEMPIPE_E_PIPELINE);
    assert_null(pipeline);
    assert_int_equal(smempipe_error_code(error), SMEMPIPE_E_PIPELINE);
    assert_int_equal(smempipe_error_count(error), 2);
    assert_int_equal(smempipe_error_get(error, 0, &problem), SMEMPIPE_OK);
    assert_string_equal(problem.file, "<text>");
    assert_int_equal(problem.line, 2);
    assert_int_equal(problem.column, 12);
    assert_non_null(strstr(problem.hint, "sigma"));
    assert_int_equal(smempipe_error_get(error, 1, &problem), SMEMPIPE_OK);
    assert_int_equal(problem.line, 3);
    assert_int_equal(smempipe_error_get(error, 2, &problem), SMEMPIPE_E_ARGUMENT);
    assert_non_null(strstr(smempipe_error_text(error), "^"));
    smempipe_error_free(error);

    /* found when the shape is known, by a pipeline that was right before and stays so */
    pipeline = compile("invert\ncrop width=100px height=5px");
    smempipe_plan *plan = NULL;
    smempipe_shape shape = picture_shape(WIDTH, HEIGHT, 1);
    assert_int_equal(smempipe_plan_make(pipeline, &shape, 0, &plan, &error), SMEMPIPE_E_PIPELINE);
    assert_int_equal(smempipe_error_get(error, 0, &problem), SMEMPIPE_OK);
    assert_int_equal(problem.line, 2);
    assert_string_equal(problem.file, "<text>");
    smempipe_error_free(error);
    shape.width = 200;
    assert_int_equal(smempipe_plan_make(pipeline, &shape, 0, &plan, &error), SMEMPIPE_OK);
    assert_null(error);
    smempipe_plan_free(plan);
    smempipe_pipeline_free(pipeline);
}

/* Hints and places of the command's would be riddles in a program. */
SMP_TEST(words_are_the_librarys)
{
    static const char *const settings[] = {"sise", "3px", NULL};
    smempipe_pipeline *pipeline = NULL;
    smempipe_error *error = NULL;
    smempipe_problem problem;
    assert_int_equal(smempipe_compile("param size = 2px\ngaussian $size", settings, &pipeline, &error),
                     SMEMPIPE_E_PIPELINE);
    assert_int_equal(smempipe_error_get(error, 0, &problem), SMEMPIPE_OK);
    assert_string_equal(problem.file, "<settings>");
    assert_null(strstr(smempipe_error_text(error), "--"));
    smempipe_error_free(error);

    pipeline = compile("invert");
    const smempipe_file_options few = {.max_pixels = 100}, back = {.page = -1};
    static const char cat[] = SMP_SOURCE_DIR "/samples/chelsea.png";
    assert_int_equal(smempipe_run_file(pipeline, device, cat, NULL, &few, NULL, &error), SMEMPIPE_E_LIMIT);
    assert_non_null(strstr(smempipe_error_text(error), "raise the limit with max_pixels\n"));
    smempipe_error_free(error);
    assert_int_equal(smempipe_run_file(pipeline, device, cat, NULL, &back, NULL, NULL), SMEMPIPE_E_ARGUMENT);
    assert_int_equal(smempipe_probe(cat, &back, &(smempipe_shape){.kind = 0}, NULL), SMEMPIPE_E_ARGUMENT);
    smempipe_pipeline_free(pipeline);
}

/* Halves of one picture may be input and output; what overlaps is refused. */
SMP_TEST(outputs_do_not_overlap_inputs)
{
    smempipe_pipeline *pipeline = compile("invert");
    smempipe_plan *plan = NULL;
    const smempipe_shape shape = picture_shape(WIDTH, HEIGHT, 1);
    enum { STRIDE = 2 * WIDTH };
    unsigned char *both = calloc(2 * HEIGHT, STRIDE);
    static const struct {
        size_t at;
        int64_t stride;
        smempipe_code code;
    } cases[] = {{0, STRIDE, SMEMPIPE_E_ARGUMENT},         {WIDTH, STRIDE, SMEMPIPE_OK},
                 {WIDTH - 1, STRIDE, SMEMPIPE_E_ARGUMENT}, {WIDTH + 1, STRIDE, SMEMPIPE_E_ARGUMENT},
                 {WIDTH, WIDTH, SMEMPIPE_E_ARGUMENT},      {(HEIGHT - 1) * STRIDE, STRIDE, SMEMPIPE_E_ARGUMENT},
                 {HEIGHT * STRIDE, WIDTH, SMEMPIPE_OK}};
    assert_non_null(both);
    assert_int_equal(smempipe_plan_make(pipeline, &shape, 0, &plan, NULL), SMEMPIPE_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const smempipe_buffer in = {.shape = shape, .data = both, .stride = STRIDE},
                              out = {.shape = shape, .data = both + cases[i].at, .stride = cases[i].stride};
        assert_int_equal(smempipe_plan_run(plan, device, &in, &out, NULL, NULL), cases[i].code);
        assert_int_equal(smempipe_plan_run(plan, device, &out, &in, NULL, NULL), cases[i].code);
    }
    smempipe_plan_free(plan);
    smempipe_pipeline_free(pipeline);
    free(both);
}

SMP_TEST(measuring_nothing_is_a_mistake)
{
    smempipe_pipeline *pipeline = compile("invert");
    smempipe_plan *plan = NULL;
    const smempipe_shape shape = picture_shape(WIDTH, HEIGHT, 1);
    assert_int_equal(smempipe_plan_make(pipeline, &shape, 1, &plan, NULL), SMEMPIPE_E_PIPELINE);
    smempipe_pipeline_free(pipeline);
}

SMP_TEST(wrong_arguments_are_refused)
{
    smempipe_pipeline *pipeline = NULL;
    smempipe_plan *plan = NULL;
    smempipe_device *none = NULL;
    smempipe_buffer in = make_picture(WIDTH * CHANNELS), out = in;
    const smempipe_shape good = in.shape;
    static const char *const settings[] = {"size", NULL};
    assert_int_equal(smempipe_compile(NULL, NULL, &pipeline, NULL), SMEMPIPE_E_ARGUMENT);
    pipeline = compile("param size = 2px\ngaussian $size");
    smempipe_pipeline *other = NULL;
    assert_int_equal(smempipe_compile("invert", settings, &other, NULL), SMEMPIPE_E_ARGUMENT);
    assert_int_equal(smempipe_device_open("cup", 0, &none, NULL), SMEMPIPE_E_ARGUMENT);
    assert_int_equal(smempipe_plan_make(pipeline, &good, 0, &plan, NULL), SMEMPIPE_OK);
    out.data = malloc((size_t)WIDTH * HEIGHT * CHANNELS);
    in.stride = 8;
    assert_int_equal(smempipe_plan_run(plan, device, &in, &out, NULL, NULL), SMEMPIPE_E_ARGUMENT);
    in.stride = 0;
    assert_int_equal(smempipe_plan_run(plan, device, &in, NULL, NULL, NULL), SMEMPIPE_E_ARGUMENT);
    out.shape.height--;
    assert_int_equal(smempipe_plan_run(plan, device, &in, &out, NULL, NULL), SMEMPIPE_E_ARGUMENT);
    out.shape = good;
    assert_int_equal(smempipe_plan_run(plan, device, &in, &out, NULL, NULL), SMEMPIPE_OK);
    in.shape.channels = 9;
    assert_int_equal(smempipe_run(pipeline, device, &in, NULL, NULL, NULL), SMEMPIPE_E_ARGUMENT);
    in.shape = good;
    in.shape.width = INT64_MAX / 2;
    assert_int_equal(smempipe_run(pipeline, device, &in, NULL, NULL, NULL), SMEMPIPE_E_LIMIT);
    free(out.data);
    free(in.data);
    smempipe_plan_free(plan);
    smempipe_pipeline_free(pipeline);
}

SMP_TEST(files_fail_as_the_command_does)
{
    smempipe_pipeline *pipeline = compile("invert");
    smempipe_error *error = NULL;
    smempipe_problem problem;
    smempipe_shape shape;
    assert_int_equal(smempipe_run_file(pipeline, device, "/no/such.png", NULL, NULL, NULL, &error), SMEMPIPE_E_READ);
    assert_int_equal(smempipe_error_get(error, 0, &problem), SMEMPIPE_OK);
    assert_string_equal(problem.file, "/no/such.png");
    assert_int_equal(problem.line, 0);
    smempipe_error_free(error);
    assert_int_equal(smempipe_probe(SMP_SOURCE_DIR "/samples/chelsea.png", NULL, &shape, NULL), SMEMPIPE_OK);
    assert_int_equal(shape.width, 451);
    const smempipe_file_options few = {.max_pixels = 100};
    assert_int_equal(smempipe_probe(SMP_SOURCE_DIR "/samples/chelsea.png", &few, &shape, NULL), SMEMPIPE_E_LIMIT);
    assert_int_equal(shape.width, 0);
    smempipe_pipeline_free(pipeline);
}

/* Compiles, plans, runs, measures, and makes an error; the first that fails. */
static smempipe_code try_all(smempipe_error **error)
{
    smempipe_pipeline *pipeline = NULL, *wrong = NULL;
    smempipe_result *result = NULL;
    smempipe_buffer in = make_picture(WIDTH * CHANNELS), out = {.data = NULL};
    smempipe_code code = smempipe_compile("param s = 2px\ngaussian $s\nstats name=all", NULL, &pipeline, error);
    if (!code)
        code = smempipe_run(pipeline, device, &in, &out, &result, error);
    if (!code && smempipe_compile("gaussian sigam=2px", NULL, &wrong, error) == SMEMPIPE_E_MEMORY)
        code = SMEMPIPE_E_MEMORY;
    else if (!code) { /* the mistake is told, or there was no memory to tell it */
        assert_null(wrong);
        code = smempipe_error_code(*error) == SMEMPIPE_E_MEMORY ? SMEMPIPE_E_MEMORY : SMEMPIPE_OK;
        if (!code)
            smempipe_error_free(*error);
    }
    smempipe_free(out.data);
    smempipe_result_free(result);
    smempipe_pipeline_free(pipeline);
    free(in.data);
    return code;
}

SMP_TEST(every_allocation_may_fail)
{
    const uint64_t live = smp_alloc_live();
    uint64_t nth = 1;
    for (smempipe_code code = SMEMPIPE_E_MEMORY; code; nth++) {
        smempipe_error *error = NULL;
        smp_alloc_fail_at(nth);
        code = try_all(&error);
        smp_alloc_fail_at(0);
        if (code) {
            assert_int_equal(code, SMEMPIPE_E_MEMORY);
            assert_non_null(strstr(smempipe_error_text(error), "memory"));
            smempipe_error_free(error);
        }
        assert_int_equal(smp_alloc_live(), live);
        assert_true(nth < 10000);
    }
    assert_true(nth > 50);
}

/* ------------------------------------------------------------------------------------------------ threads */

typedef struct work {
    const smempipe_pipeline *pipeline;
    int64_t width;
    unsigned char first;
    bool failed;
} work;

/* Plans of its own shape, with a mistake now and then, on a device that all share. */
static void *run_some(void *context)
{
    work *w = context;
    unsigned char picture[64 * 8];
    for (int i = 0; i < 20; i++) {
        smempipe_buffer in = {.shape = picture_shape(w->width, 8, 1), .data = picture}, out;
        memset(picture, i + (int)w->width, sizeof picture);
        smempipe_error *error = NULL;
        const smempipe_code code = smempipe_run(w->pipeline, device, &in, &out, NULL, &error);
        const bool fits = w->width >= 40;
        if (fits)
            w->failed |= code || out.shape.width != 40 || ((unsigned char *)out.data)[0] != 255 - (i + (int)w->width);
        else
            w->failed |= code != SMEMPIPE_E_PIPELINE || smempipe_error_count(error) != 1;
        smempipe_free(out.data);
        smempipe_error_free(error);
    }
    return NULL;
}

SMP_TEST(threads_share_a_pipeline)
{
    enum { THREADS = 6 };
    smempipe_pipeline *pipeline = compile("invert\ncrop width=40px height=8px");
    pthread_t threads[THREADS];
    work works[THREADS];
    for (int i = 0; i < THREADS; i++) {
        works[i] = (work){.pipeline = pipeline, .width = 36 + 2 * i};
        assert_int_equal(pthread_create(&threads[i], NULL, run_some, &works[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_false(works[i].failed);
    }
    smempipe_pipeline_free(pipeline);
}

SMP_TESTS_AROUND(open_device, close_device)
