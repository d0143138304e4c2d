/* gaussian arithmetic=fixed on GPUs, emulated: every variant gives the definition's bytes, in any order of threads and
 * without mistakes, and shared memory is used without conflicts. */
#include "gpu_case.h"

extern const smp_stage smp_stage_gaussian;

static smp_shape bytes_shape(int64_t width, int64_t height, int channels)
{
    smp_shape shape = case_shape(width, height, channels, SMP_U8);
    shape.alpha = false;
    return shape;
}

/* Sides of 1 to 40 samples, so one to three steps of 32 bytes, and one that has no such kernel. */
static const struct {
    const char *bell;
    int radius;
} bells[] = {{"0.3px", 1}, {"0.5px", 2}, {"1px", 4}, {"1.75px", 7}, {"2px", 8}, {"2.5px", 9}};
static const char *const edges[] = {"clamp", "reflect", "mirror", "wrap", "zero", "constant fill=0", "constant fill=1"};
enum { BELLS = sizeof bells / sizeof *bells, EDGES = sizeof edges / sizeof *edges };

static void every_border_channel_count_and_size_does(void **state)
{
    (void)state;
    static const int64_t sizes[][2] = {{1, 1}, {1, 70}, {70, 1}, {33, 31}, {130, 67}, {270, 20}};
    static const int channels[] = {1, 3, 4, 2, 5};
    uint64_t seed = 1;
    for (int b = 0; b < BELLS; b++)
        for (int e = 0; e < EDGES; e++, seed++) {
            char line[80];
            const int64_t *size = sizes[(b + e) % 6];
            snprintf(line, sizeof line, "gaussian %s edge=%s arithmetic=fixed", bells[b].bell, edges[e]);
            const gpu_case c = {.lines = {line},
                                .in = bytes_shape(size[0], size[1], channels[(2 * b + e) % 5]),
                                .seed = seed,
                                .plain = seed % 6 == 0};
            gpu_case_check(&c);
        }
}

static void every_size_does(void **state)
{
    (void)state;
    static const int64_t sizes[][2] = {{1, 1}, {1, 70}, {70, 1}, {33, 31}, {61, 45}, {130, 67}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int channels = 1; channels <= 4; channels += channels == 1 ? 2 : 1) {
            const gpu_case c = {.lines = {"gaussian 1.75px edge=mirror arithmetic=fixed"},
                                .in = bytes_shape(sizes[s][0], sizes[s][1], channels),
                                .seed = s};
            gpu_case_check(&c);
        }
}

static void samples_that_were_computed_are_rounded_first(void **state)
{
    (void)state;
    for (int plain = 0; plain < 2; plain++) {
        const gpu_case c = {.lines = {"multiply 140%", "gaussian 1px arithmetic=fixed", "multiply 90%"},
                            .in = bytes_shape(61, 45, 3),
                            .seed = 3,
                            .plain = plain};
        gpu_case_check(&c);
    }
}

static void any_alignment_and_window_will_do(void **state)
{
    (void)state;
    static const double sigmas[] = {0.5, 1.75, 3};
    for (int i = 0; i < 3; i++) {
        const struct {
            double sigma, truncate, fill;
            int edge, arithmetic;
        } p = {sigmas[i], 4, 0, SMP_REFLECT, 1};
        kernel_case c = {.stage = &smp_stage_gaussian, .params = &p, .seed = 6, .in_storage = SMP_U8};
        assert_true(c.stage->params_size == sizeof p);
        for (int channels = 1; channels <= 3; channels += 2) {
            c.in = bytes_shape(channels == 1 ? 341 : 131, 57, channels);
            c.out_storage = SMP_U8;
            gpu_views_check(&c);
        }
        c.out_storage = SMP_F32;
        gpu_views_check(&c);
    }
}

static void no_order_of_threads_matters_and_no_mistake_is_made(void **state)
{
    (void)state;
    static const struct {
        int64_t width, height, strip;
        int channels;
    } sizes[] = {{1, 1, 0, 1}, {150, 18, 0, 1}, {33, 20, 7, 3}, {21, 9, 0, 4}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const gpu_case c = {.lines = {"gaussian 1.75px arithmetic=fixed edge=reflect"},
                            .in = bytes_shape(sizes[s].width, sizes[s].height, sizes[s].channels),
                            .seed = (uint64_t)s};
        smp_trace trace = {0};
        gpu_case_trace(&c, "fused", sizes[s].strip, &trace);
        smp_trace_free(&trace);
    }
}

static void both_passes_use_shared_memory_without_conflicts(void **state)
{
    (void)state;
    for (int channels = 1; channels <= 4; channels += channels == 1 ? 2 : 1) {
        const gpu_case c = {
            .lines = {"gaussian 1.75px arithmetic=fixed"}, .in = bytes_shape(256 / channels, 18, channels), .seed = 7};
        const char *kernel = "gaussian_fixed_warp";
        smp_trace trace = {0};
        gpu_case_trace(&c, "fused", 0, &trace);
        assert_int_equal(trace.count, 1);
        assert_true(gpu_instructions(&trace, kernel, SMP_SHARED_ASYNC) > 0);
        assert_true(gpu_instructions(&trace, kernel, SMP_SHARED_LOAD) > 0);
        for (size_t k = 0; k < trace.launches[0].site_count; k++) { /* loading at borders may: see strip.cuh */
            char where[128];
            smp_trace_where(&trace.launches[0].sites[k], where, sizeof where);
            if (strstr(where, "gaussian_fixed.cu"))
                assert_int_equal(trace.launches[0].sites[k].conflicts, 0);
        }
        smp_trace_free(&trace);
    }
}

/* One launch where the tensor cores' kernels apply, two elsewhere. */
static void tensor_cores_take_small_radii_of_bytes(void **state)
{
    (void)state;
    for (int b = 0; b < BELLS; b++)
        for (int e = 0; e < EDGES; e += EDGES - 1)
            for (int channels = 1; channels <= 5; channels++) {
                char line[80];
                snprintf(line, sizeof line, "gaussian %s edge=%s arithmetic=fixed", bells[b].bell, edges[e]);
                const gpu_case c = {.lines = {line}, .in = bytes_shape(9, 9, channels)};
                gpu_job job = gpu_job_make(&c);
                smp_trace trace = {0};
                smp_run_report report = {0};
                picture out;
                smp_simt_set_trace(&trace);
                gpu_run(&job, gpu_simt(), "fused", 0, &out, &report);
                smp_simt_set_trace(NULL);
                const bool one = bells[b].radius <= 8 && bells[b].radius * channels <= 40 && e == 0;
                assert_int_equal(trace.count, one ? 1 : 2);
                assert_true(one == !strncmp(trace.launches[0].kernel, "gaussian_fixed_warp", 19));
                picture_free(&out);
                smp_run_report_free(&report);
                smp_trace_free(&trace);
                gpu_job_free(&job);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_border_channel_count_and_size_does),
        cmocka_unit_test(every_size_does),
        cmocka_unit_test(samples_that_were_computed_are_rounded_first),
        cmocka_unit_test(any_alignment_and_window_will_do),
        cmocka_unit_test(no_order_of_threads_matters_and_no_mistake_is_made),
        cmocka_unit_test(both_passes_use_shared_memory_without_conflicts),
        cmocka_unit_test(tensor_cores_take_small_radii_of_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
