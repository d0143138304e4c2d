/* box, convolve, correlate, sobel, laplacian, median and sharpen on GPUs, emulated, with the sizes and borders that the
 * matrix (tests/matrix) does not take, and shared memory used without conflicts. (gaussian has a file of its own.) */
#include "suite.h"

#include "gpu_case.h"

#include "run/strips/step.h"
#include "stages/shared/stencil/kernel_matrix.h"

extern const smp_stage smp_stage_sobel, smp_stage_box, smp_stage_convolve, smp_stage_sharpen;

SMP_TEST(every_border_size_and_output_does)
{
    static const char *const lines[] = {
        "box 2px edge=clamp",
        "box 16px edge=mirror",
        "box 31px edge=wrap",
        "box 100px edge=zero",
        "box 200px edge=constant fill=0.3", /* its columns do not fit */
        "box 600px edge=reflect",           /* its rows neither, from 4 channels on */
        "correlate [1 0 -1] edge=zero offset=50%",
        "correlate [1; 2; 3; 2; 1] edge=constant fill=0.3",
        "convolve [1 2 3 4; 5 6 7 8] edge=wrap",
        "convolve [1 2 1; 0 1 3; -1 0 2] edge=mirror",
        "sobel x edge=zero",
        "sobel y edge=constant fill=0.3",
        "sobel edge=reflect",
        "laplacian edge=mirror",
        "laplacian neighbours=8 edge=constant fill=1",
        "median 3px edge=wrap",
        "median 5px edge=constant fill=0.3",
        "median 5px edge=mirror",
        "sharpen 2 sigma=2px edge=reflect",
        "sharpen 1 sigma=5px edge=mirror",
        "sharpen 1 sigma=1px edge=zero",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        for (int f = 0; f < SMP_FORMATS; f++) {
            const int channels = 1 + (int)(i + 2 * (size_t)f) % 5;
            gpu_line_check(lines[i], case_shape(45 + 60 * f, 37, channels, (smp_format)f), CASE_REALS, i);
        }
}

/* Small radii of sharpen have kernels of their own, by channels: pictures of several strips, cut in bands. */
SMP_TEST(every_small_radius_of_sharpen_has_its_kernel)
{
    static const char *const edges[] = {"clamp", "reflect", "mirror", "wrap", "zero", "constant fill=0"};
    for (int radius = 1; radius <= 8; radius++)
        for (int channels = 1; channels <= 4; channels += channels == 1 ? 2 : 1)
            for (int f = 0; f < SMP_FORMATS; f += 2) {
                char line[96];
                snprintf(line, sizeof line, "sharpen %g sigma=%gpx threshold=%d%% edge=%s", radius % 3 ? 1.7 : 100.,
                         radius / 4., radius % 2 ? 3 : 0, edges[(radius + channels + f) % 6]);
                gpu_case c = {.lines = {line},
                              .in = case_shape((f ? 150 : 600) / channels + radius, 35, channels, (smp_format)f),
                              .values = radius % 3 ? CASE_REALS : CASE_ANY,
                              .seed = (uint64_t)radius};
                c.in.alpha = channels == 4 && radius % 2;
                gpu_case_check(&c);
                c.in.width = 1 + radius / 3, c.in.height = 5;
                gpu_case_check(&c);
            }
}

/* Every output of sobel has kernels of its own for 1, 3 and 4 channels. */
SMP_TEST(every_output_of_sobel_has_its_kernel)
{
    static const char *const lines[] = {"sobel edge=mirror", "sobel x edge=reflect", "sobel y edge=wrap"};
    for (int i = 0; i < 3; i++)
        for (int channels = 1; channels <= 4; channels++)
            for (int f = 0; f < SMP_FORMATS; f += 2) {
                gpu_case c = {.lines = {lines[i]},
                              .in = case_shape((f ? 150 : 600) / channels, 35, channels, (smp_format)f),
                              .values = i ? CASE_REALS : CASE_CODES,
                              .seed = (uint64_t)(i + channels)};
                gpu_case_check(&c);
                c.in.alpha = channels == 4;
                c.in.width = 2, c.in.height = 3;
                gpu_case_check(&c);
            }
}

/* Odd sizes of box have kernels for bytes, by channels: pictures of several strips and bands, and smaller than the
 * window. */
SMP_TEST(every_small_odd_size_of_box_has_its_kernel)
{
    static const char *const edges[] = {"clamp", "reflect", "mirror", "wrap", "zero", "constant fill=0"};
    for (int size = 2; size <= 17; size += 1 + (size > 2))
        for (int channels = 1; channels <= 4; channels++) {
            char line[64];
            snprintf(line, sizeof line, "box %dpx edge=%s", size, edges[(size / 2 + channels) % 6]);
            gpu_case c = {.lines = {line},
                          .in = case_shape(1050 / channels, 9 + 2 * size, channels, SMP_U8),
                          .seed = (uint64_t)size};
            gpu_case_check(&c);
            c.in.width = 1 + size / 3, c.in.height = 5;
            gpu_case_check(&c);
            c.plain = true;
            gpu_case_check(&c);
        }
}

SMP_TEST(large_kernels_come_in_batches)
{
    char line[63 * 41 * 3 + 64] = "convolve [";
    size_t at = strlen(line);
    for (int row = 0; row < 41; row++)
        for (int col = 0; col < 63; col++)
            at += (size_t)snprintf(line + at, sizeof line - at, "%d%s", (row * 7 + col * 3) % 9,
                                   col < 62   ? " "
                                   : row < 40 ? ";"
                                              : "]");
    gpu_line_check(line, case_shape(70, 20, 8, SMP_U8), CASE_CODES, 3);
}

SMP_TEST(every_nan_is_the_same_one)
{
    static const char *const lines[] = {"box 3px", "convolve [1 -1]", "sobel", "laplacian", "sharpen 1 threshold=10%"};
    for (int i = 0; i < 5; i++) {
        const gpu_case c = {
            .lines = {lines[i]}, .in = case_shape(55, 33, 3, SMP_F32), .values = CASE_ANY, .seed = 4, .plain = true};
        gpu_case_check(&c);
    }
}

SMP_TEST(any_alignment_and_window_will_do)
{
    const struct {
        double fill;
        int output, edge;
    } sobel = {0, 0, SMP_REFLECT};
    const struct {
        int64_t size;
        double fill;
        int edge;
    } box = {7, 0, SMP_MIRROR};
    assert_true(smp_stage_sobel.params_size == sizeof sobel && smp_stage_box.params_size == sizeof box);
    for (int i = 0; i < 2; i++) {
        const smp_stage *stage = i ? &smp_stage_box : &smp_stage_sobel;
        const void *params = i ? (const void *)&box : &sobel;
        gpu_views_of(stage, params, case_shape(61, 45, 3, SMP_U8), 6);
        gpu_views_of(stage, params, case_shape(373, 41, 3, SMP_U8), 6); /* a strip that no side touches */
        gpu_views_of(stage, params, case_shape(37, 29, 1, SMP_F32), 6);
    }
}

SMP_TEST(shared_memory_conflicts_nowhere_but_in_parts_of_packs)
{
    static const char *const lines[] = {"box 6px", "convolve [1 2 1; 0 1 3; -1 0 2]", "sobel", "sharpen 1 sigma=1px"};
    for (int i = 0; i < 4; i++)
        for (int f = 0; f < 2; f++) {
            const gpu_case c = {
                .lines = {lines[i]}, .in = case_shape(256, 35, f ? 3 : 1, f ? SMP_F32 : SMP_U8), .seed = 7};
            for (int warp = 0; warp < 2; warp++) {
                smp_trace trace = {0};
                gpu_case_trace(&c, warp ? "warp" : "tiled", 0, &trace);
                for (size_t k = 0; k < trace.count; k++)
                    gpu_packs_check(&trace.launches[k]);
                assert_true(gpu_instructions(&trace, "", SMP_SHARED_LOAD) > 0);
                smp_trace_free(&trace);
            }
        }
}

/* `tiled` is the tiled kernel, `warp` the one-warp kernel where it serves, else the tiled one. */
SMP_TEST(every_rung_launches_its_own_kernel)
{
    static const struct {
        const char *line, *tiled, *warp;
        smp_format format;
        int channels;
    } rows[] = {
        {"sobel", "sobel_tiled1_u8_u8", "sobel_warp1_u8_u8", SMP_U8, 1},
        {"sobel output=x", "sobel_tiled3_f32_f32", "sobel_warp_x3_f32_f32", SMP_F32, 3},
        {"sobel", "sobel_tiled1_u16_u16", "sobel_tiled1_u16_u16", SMP_U16, 1},
        {"convolve [1 2 1; 0 1 3; -1 0 2]", "convolve_tiled_u8_u8", "convolve_warp3_3_u8_u8", SMP_U8, 3},
        {"convolve [1 2 1]", "convolve_tiled_u8_u8", "convolve_tiled_u8_u8", SMP_U8, 3},
        {"box 5px", "box_rows_tiled_u8_f32", "box_warp5_3_u8_u8", SMP_U8, 3},
        {"box 6px", "box_rows_tiled_u8_f32", "box_rows_tiled_u8_f32", SMP_U8, 3},
        {"sharpen 1 sigma=1px", "gaussian_rows_tiled_f32_f32", "sharpen_warp4_1_f32_f32", SMP_F32, 1},
        {"sharpen 1 sigma=1px", "gaussian_rows_tiled_u16_f32", "gaussian_rows_tiled_u16_f32", SMP_U16, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gpu_case c = {.lines = {rows[i].line}, .in = case_shape(40, 30, rows[i].channels, rows[i].format)};
        c.in.alpha = false;
        gpu_job job = gpu_job_make(&c);
        for (int warp = 0; warp < 2; warp++) {
            smp_trace trace = {0};
            smp_run_report report = {0};
            picture out;
            smp_simt_set_trace(&trace);
            gpu_run(&job, gpu_simt(), warp ? "warp" : "tiled", 0, &out, &report);
            smp_simt_set_trace(NULL);
            const char *want = warp ? rows[i].warp : rows[i].tiled;
            assert_string_equal(trace.launches[0].kernel, want);
            assert_string_equal(report.steps[0].variant, strstr(want, "tiled") ? "tiled" : "warp");
            picture_free(&out);
            smp_run_report_free(&report);
            smp_trace_free(&trace);
        }
        gpu_job_free(&job);
    }
}

SMP_TEST(windows_conflict_nowhere_whatever_the_channels)
{
    for (int channels = 1; channels <= 8; channels++) {
        const gpu_case c = {.lines = {channels % 2 ? "median 5px" : "median 3px"},
                            .in = case_shape(60, 33, channels, channels % 3 ? SMP_F32 : SMP_U8),
                            .seed = 7};
        smp_trace trace = {0};
        gpu_case_trace(&c, "tiled", 0, &trace);
        assert_true(gpu_instructions(&trace, "median_tiled", SMP_SHARED_LOAD) > 0);
        assert_int_equal(gpu_conflicts(&trace, "median_tiled", SMP_SHARED_LOAD), 0);
        smp_trace_free(&trace);
    }
}

SMP_TEST(five_channels_take_turns_at_the_banks)
{
    const gpu_case c = {.lines = {"sobel"}, .in = case_shape(60, 33, 5, SMP_F32), .seed = 7};
    smp_trace trace = {0};
    gpu_case_trace(&c, "tiled", 0, &trace);
    assert_true(gpu_conflicts(&trace, "sobel_tiled0", SMP_SHARED_LOAD) > 0);
    smp_trace_free(&trace);
}

/* Kernels may use the padding of aligned rows, so that whoever lays out rows must give them some (lib/view.h). */
SMP_TEST(rows_of_a_run_own_their_padding)
{
    for (int64_t width = 1; width < 200; width++)
        for (int channels = 1; channels <= SMP_MAX_CHANNELS; channels++)
            for (int f = 0; f < SMP_FORMATS; f++) {
                const smp_shape shape = case_shape(width, 3, channels, (smp_format)f);
                const smp_view view = smp_probe_view(&shape, (smp_format)f, 3);
                const smp_step step = {.in = shape, .out = shape};
                smp_view scratch = smp_probe_view(&shape, SMP_F32, 3);
                scratch.stride = smp_step_scratch_stride(&step);
                assert_int_equal(smp_view_aligned(&view), width > 1); /* one pixel: packed, as sound is */
                assert_true(smp_view_aligned(&scratch));
            }
}
