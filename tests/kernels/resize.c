/* resize: the sizes that it makes, what it refuses, and what it reads. test_stage_matrix and test_gpu_matrix hold its
 * variants against each other, tests/oracle/test_resize.py against Pillow, OpenCV and the definition. */
#include "suite.h"

#include "gpu_case.h"
#include "matrix_case.h"

SMP_TEST(refuses_what_is_no_size)
{
    static const struct {
        const char *statement, *says;
        int channels;
        bool alpha;
        smp_format format;
    } rows[] = {
        {"resize", "which size?", 1, false, SMP_U8},
        {"resize filter=box", "which size?", 1, false, SMP_U8},
        {"resize 50% width=3", "given twice", 1, false, SMP_U8},
        {"resize longest=3 shortest=2", "given twice", 1, false, SMP_U8},
        {"resize width=3 fit=cover", "fit=cover needs both width and height", 1, false, SMP_U8},
        {"resize 50% filter=area antialias=no", "leave out antialias", 1, false, SMP_U8},
        {"resize 50% filter=area arithmetic=fixed", "arithmetic=fixed has the filters", 1, false, SMP_U8},
        {"resize width=3 height=3 fit=cover arithmetic=fixed", "no fit=cover", 1, false, SMP_U8},
        {"resize 50% arithmetic=fixed", "this picture has alpha", 4, true, SMP_U8},
        {"resize 50% arithmetic=fixed", "this picture has 16 bits", 3, false, SMP_U16},
        {"resize 50% arithmetic=fixed", "this picture has floats", 3, false, SMP_F32},
        {"resize 0", "scale", 1, false, SMP_U8},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char message[MESSAGE];
        const smp_shape shape = {.kind = SMP_IMAGE,
                                 .width = 8,
                                 .height = 6,
                                 .channels = rows[i].channels,
                                 .alpha = rows[i].alpha,
                                 .format = rows[i].format};
        smp_plan *plan;
        if (!plan_statements(&rows[i].statement, 1, &shape, &plan, message))
            fail_msg("%s is not refused", rows[i].statement);
        if (!strstr(message, rows[i].says))
            fail_msg("%s: %s", rows[i].statement, message);
    }
    char message[MESSAGE];
    const smp_shape shape = {.kind = SMP_IMAGE, .width = 8, .height = 6, .channels = 3, .format = SMP_U8};
    static const char *const linear[] = {"light linear", "resize 50% arithmetic=fixed"};
    smp_plan *plan;
    assert_int_equal(plan_statements(linear, 2, &shape, &plan, message), SMP_E_PIPE);
    assert_non_null(strstr(message, "this is linear light"));
}

/* A thumbnail of a tall picture needs few rows at a time. */
SMP_TEST(streams)
{
    char message[MESSAGE];
    const smp_shape shape = {.kind = SMP_IMAGE, .width = 600, .height = 40000, .channels = 3, .format = SMP_U8};
    smp_plan *plan;
    assert_int_equal(plan_statements((const char *const[]){"resize 10%"}, 1, &shape, &plan, message), SMP_OK);
    const smp_step *step = &plan->steps[plan->step_count - 1];
    assert_int_equal(step->out.height, 4000);
    assert_int_equal(step->reads.num, 10);
    assert_int_equal(step->reads.den, 1);
    assert_false(step->whole_input);
    assert_in_range(step->reads.up, 30, 31);
    assert_in_range(step->reads.down, 29, 30);
    smp_plan_free(plan);
}

/* A picture that has the size already passes, as does one that is smaller where none is to be enlarged. */
SMP_TEST(leaves_out_what_changes_nothing)
{
    static const char *const statements[] = {"resize 100%", "resize width=8", "resize width=8 height=6 fit=cover",
                                             "resize longest=100 enlarge=no",
                                             "resize width=20 height=3 fit=cover enlarge=no"};
    const smp_shape shape = {.kind = SMP_IMAGE, .width = 8, .height = 6, .channels = 1, .format = SMP_U8};
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
        char message[MESSAGE];
        smp_plan *plan;
        if (plan_statements(&statements[i], 1, &shape, &plan, message) || plan->step_count != 1)
            fail_msg("%s: %s", statements[i], plan ? "makes a step" : message);
        assert_string_equal(message, "");
        smp_plan_free(plan);
    }
}

/* 2:1 and 4:1 have a kernel of their own: more than one strip of it, sides and rows that end anywhere, filters of each
 * length, and values that only survive where no weight meets them. */
SMP_TEST(whole_steps_give_the_same_bytes)
{
    static const struct {
        const char *statement;
        int64_t width, height;
        int channels;
        smp_format format;
        case_values values;
    } rows[] = {
        {"resize 50%", 556, 38, 3, SMP_U8, CASE_REALS},
        {"resize 50%", 1036, 22, 1, SMP_U8, CASE_REALS},
        {"resize 50%", 524, 26, 1, SMP_F32, CASE_ANY},
        {"resize 50%", 514, 14, 3, SMP_F32, CASE_ANY},
        {"resize 50% filter=bicubic", 530, 18, 4, SMP_F32, CASE_REALS},
        {"resize 50% filter=mitchell", 76, 46, 3, SMP_U8, CASE_REALS},
        {"resize 50% filter=bilinear", 34, 30, 1, SMP_F32, CASE_ANY},
        {"resize 50% filter=bilinear", 532, 6, 3, SMP_U8, CASE_REALS},
        {"resize 25%", 1060, 52, 3, SMP_U8, CASE_REALS},
        {"resize 25%", 1076, 44, 1, SMP_U8, CASE_REALS},
        {"resize 25%", 1032, 36, 1, SMP_F32, CASE_ANY},
        {"resize 25% filter=bicubic", 100, 40, 3, SMP_F32, CASE_ANY},
        {"resize 25% filter=bilinear", 1044, 20, 3, SMP_U8, CASE_REALS},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        gpu_case c = {.lines = {rows[i].statement},
                      .in = case_shape(rows[i].width, rows[i].height, rows[i].channels, rows[i].format),
                      .values = rows[i].values,
                      .seed = i};
        gpu_job job = gpu_job_make(&c);
        gpu_job_check(&job, "fused", 0);
        gpu_job_check(&job, "fused", 7);
        gpu_job_free(&job);
    }
}

/* They run there in every order of threads, and read shared memory without conflicts. */
SMP_TEST(whole_steps_are_fused)
{
    static const char *const filters[] = {"bilinear", "mitchell", "lanczos3"};
    for (int i = 0; i < 12; i++) {
        const int ratio = i % 2 ? 4 : 2, lobes = 2 + i / 2 % 3 * 2;
        char statement[64], kernel[64];
        snprintf(statement, sizeof statement, "resize %d%% filter=%s", 100 / ratio, filters[lobes / 2 - 1]);
        snprintf(kernel, sizeof kernel, "resize_fused%d_%d", ratio, lobes);
        const gpu_case c = {.lines = {statement},
                            .in = case_shape(ratio * (int64_t)(i % 3 ? 18 : 261), ratio * (int64_t)(lobes + 5),
                                             i % 3 ? 3 : 1, i < 6 ? SMP_U8 : SMP_F32)};
        smp_trace trace = {0};
        gpu_case_trace(&c, "fused", 0, &trace);
        assert_true(gpu_instructions(&trace, kernel, SMP_SHARED_LOAD) > 0);
        if (i % 3 == 0)
            assert_int_equal(gpu_conflicts(&trace, kernel, SMP_SHARED_LOAD), 0);
        smp_trace_free(&trace);
    }
}

/* In every format; a padding of words after each 32 helped gray alone. */
SMP_TEST(padded_rows_are_read_without_conflicts)
{
    for (int i = 0; i < 12; i++) {
        const int ratio = i % 2 ? 4 : 2;
        const gpu_case c = {.lines = {ratio == 2 ? "resize 50%" : "resize 25%"},
                            .in = case_shape(2048, 16, (const int[]){1, 3, 4}[i / 2 % 3], i < 6 ? SMP_U8 : SMP_F32)};
        smp_trace tiled = {0}, padded = {0};
        gpu_case_trace(&c, "tiled", 0, &tiled);
        gpu_case_trace(&c, "padded", 0, &padded);
        const uint64_t before = gpu_conflicts(&tiled, "resize_rows_tiled", SMP_SHARED_LOAD);
        const uint64_t after = gpu_conflicts(&padded, "resize_rows_padded", SMP_SHARED_LOAD);
        assert_true(before > 0);
        if (10 * after > before)
            fail_msg("%s of %d channels: %d conflicts of %d", c.lines[0], c.in.channels, (int)after, (int)before);
        smp_trace_free(&tiled);
        smp_trace_free(&padded);
    }
}
