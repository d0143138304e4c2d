/* gaussian of 8-bit pictures on GPUs, emulated, where the row pass runs on tensor cores (gaussian_mma_u8.cu): the
 * definition's bytes, in any order of threads and without mistakes, and shared memory is used without conflicts. */
#include "suite.h"

#include "gpu_case.h"

extern const smp_stage smp_stage_gaussian;

static const char *const edges[] = {"clamp", "reflect", "mirror", "wrap", "zero", "constant fill=0", "constant fill=1"};
enum { EDGES = sizeof edges / sizeof *edges };

static smp_shape bytes_shape(int64_t width, int64_t height, int channels)
{
    smp_shape shape = case_shape(width, height, channels, SMP_U8);
    shape.alpha = false;
    return shape;
}

/* Heights that are whole groups of eight rows and others, in several bands; widths of whole strips of 128 bytes and
 * more, and of none. */
SMP_TEST(every_radius_border_and_size_does)
{
    static const int64_t sizes[][2] = {{128, 64}, {270, 141}, {1, 70}, {70, 1}, {384, 9}, {150, 40}, {33, 8}};
    uint64_t seed = 1;
    for (int radius = 3; radius <= 13; radius++)
        for (int channels = 1; channels <= 5; channels++, seed++) {
            char line[80];
            snprintf(line, sizeof line, "gaussian %gpx edge=%s", radius / 4., edges[seed % EDGES]);
            const int64_t *size = sizes[seed % 7];
            gpu_line_check(line, bytes_shape((size[0] + channels - 1) / channels, size[1], channels), CASE_CODES, seed);
        }
}

SMP_TEST(any_alignment_and_window_will_do)
{
    static const int radii[] = {4, 7, 8, 9, 12}, channels[] = {1, 3, 4, 3, 2};
    for (int i = 0; i < 5; i++) {
        const struct {
            double sigma, truncate, fill;
            int edge;
        } p = {radii[i] / 4., 4, 0, SMP_REFLECT};
        kernel_case c = {.stage = &smp_stage_gaussian, .params = &p, .seed = 6};
        assert_true(c.stage->params_size == sizeof p);
        c.in = bytes_shape(390 / channels[i], 57 + i, channels[i]);
        c.in_storage = SMP_U8, c.out_storage = SMP_U8;
        gpu_views_check(&c);
    }
}

SMP_TEST(no_order_of_threads_matters_and_no_mistake_is_made)
{
    static const struct {
        int64_t width, height, strip;
        int channels;
    } sizes[] = {{1, 1, 0, 1}, {150, 24, 0, 1}, {60, 20, 7, 3}, {21, 9, 0, 4}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const gpu_case c = {.lines = {"gaussian 1.75px edge=reflect"},
                            .in = bytes_shape(sizes[s].width, sizes[s].height, sizes[s].channels),
                            .seed = (uint64_t)s};
        smp_trace trace = {0};
        gpu_case_trace(&c, "mma", sizes[s].strip, &trace);
        smp_trace_free(&trace);
    }
}

SMP_TEST(both_passes_use_shared_memory_without_conflicts)
{
    for (int channels = 1; channels <= 4; channels += channels == 1 ? 2 : 1) {
        const gpu_case c = {.lines = {"gaussian 1.75px"}, .in = bytes_shape(384 / channels, 24, channels), .seed = 7};
        const char *kernel = "gaussian_banded7_";
        smp_trace trace = {0};
        gpu_case_trace(&c, "mma", 0, &trace);
        assert_int_equal(trace.count, 1);
        assert_true(gpu_instructions(&trace, kernel, SMP_SHARED_ASYNC) > 0);
        assert_true(gpu_instructions(&trace, kernel, SMP_SHARED_STORE) > 0);
        assert_true(gpu_instructions(&trace, kernel, SMP_SHARED_LOAD) > 0);
        for (size_t k = 0; k < trace.launches[0].site_count; k++) { /* loading at borders may: see warp_strip.cuh */
            char where[128];
            smp_trace_where(&trace.launches[0].sites[k], where, sizeof where);
            if (strstr(where, "banded"))
                assert_int_equal(trace.launches[0].sites[k].conflicts, 0);
        }
        smp_trace_free(&trace);
    }
}

static void kernel_of(const gpu_job *job, const char *variant, char *kernel, size_t size, size_t *launches)
{
    smp_trace trace = {0};
    smp_run_report report = {0};
    picture out;
    smp_simt_set_trace(&trace);
    gpu_run(job, gpu_simt(), variant, 0, &out, &report);
    smp_simt_set_trace(NULL);
    snprintf(kernel, size, "%s", trace.launches[0].kernel);
    *launches = trace.count;
    picture_free(&out);
    smp_run_report_free(&report);
    smp_trace_free(&trace);
}

/* One launch where the tensor cores' kernels apply, whatever the channels; the rung below has kernels of its own. */
SMP_TEST(tensor_cores_take_radii_of_4_to_12)
{
    for (int radius = 3; radius <= 13; radius++)
        for (int channels = 1; channels <= 5; channels++)
            for (int filled = 0; filled < 2; filled++) {
                char line[80];
                snprintf(line, sizeof line, "gaussian %gpx edge=constant fill=%d", radius / 4., filled);
                const gpu_case c = {.lines = {line}, .in = bytes_shape(9, 9, channels)};
                gpu_job job = gpu_job_make(&c);
                char kernel[96], below[48] = "gaussian_rows_tiled_u8_f32";
                size_t launches;
                kernel_of(&job, "mma", kernel, sizeof kernel, &launches);
                const bool banded = radius >= 4 && radius <= 12 && channels <= 4 && radius * channels <= 40 && !filled;
                assert_true(banded == !strncmp(kernel, "gaussian_banded", 15));
                assert_true(!banded || launches == 1);
                kernel_of(&job, "warp", kernel, sizeof kernel, &launches);
                const bool one = channels != 2 && channels != 5 && !filled;
                const int taken = radius <= 4 ? radius : radius <= 8 ? 8 : radius <= 12 ? 12 : 16;
                if (one)
                    snprintf(below, sizeof below, "gaussian_warp%d_%d_u8_u8", taken, channels);
                assert_string_equal(kernel, below);
                assert_int_equal(launches, one ? 1 : 2);
                gpu_job_free(&job);
            }
}
