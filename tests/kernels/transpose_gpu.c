/* transpose, transverse, rotate, flip and orient on GPUs, through the emulator: the CPU's bytes whatever the variant,
 * format, channels, size, alignment and window; and the bank conflicts that each variant is there to show. */
#include "suite.h"

#include "gpu_case.h"

#include "geometry/transpose.h"

extern const smp_stage smp_stage_orient;
static const smp_orient_params orientations[] = {{1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}};

static gpu_case case_of(const char *line, int64_t width, int64_t height, int channels, smp_format format)
{
    return (gpu_case){.lines = {line},
                      .in = case_shape(width, height, channels, format),
                      .values = CASE_ANY,
                      .seed = (uint64_t)(width + height)};
}

/* ------------------------------------------------------------------------------------------------ same bytes */

static const char *const lines[] = {"transpose",       "transverse",    "rotate 90", "rotate 180", "rotate 270",
                                    "flip horizontal", "flip vertical", "orient 2",  "orient 3",   "orient 4",
                                    "orient 5",        "orient 6",      "orient 7",  "orient 8"};

SMP_TEST(every_variant_gives_the_cpus_bytes)
{
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        for (int channels = 1; channels <= 8; channels++) {
            const gpu_case c = case_of(lines[i], 61, 45, channels, (smp_format)((channels + (int)i) % SMP_FORMATS));
            gpu_case_check(&c);
        }
}

/* More than one tile on both sides, whole ones among them, with ragged ends. */
SMP_TEST(whole_tiles_and_ragged_ends_move_together)
{
    static const struct {
        int channels;
        smp_format format;
    } pixels[] = {{1, SMP_U8},  {2, SMP_U8},  {3, SMP_U8},  {4, SMP_U8},  {3, SMP_U16}, {4, SMP_U16},
                  {3, SMP_F32}, {4, SMP_F32}, {6, SMP_U8},  {8, SMP_U8},  {6, SMP_U16}, {8, SMP_U16},
                  {2, SMP_F32}, {5, SMP_U8},  {7, SMP_U16}, {5, SMP_F32}, {8, SMP_F32}};
    static const char *const ways[] = {"rotate 90", "transverse", "rotate 180"};
    for (size_t i = 0; i < sizeof pixels / sizeof pixels[0]; i++) {
        smp_transpose_shape shape =
            smp_transpose_shape_of(pixels[i].channels * (int)smp_sample_size((int)pixels[i].format));
        int64_t width = shape.side ? shape.side * shape.across : 32, height = shape.side ? shape.side * shape.down : 32;
        for (int way = 0; way < 3; way++) {
            const gpu_case c = case_of(ways[way], 2 * width + 37, height + 21, pixels[i].channels, pixels[i].format);
            gpu_job job = gpu_job_make(&c);
            gpu_job_check(&job, "swizzled", 0);
            gpu_job_check(&job, "swizzled", height + 3);
            gpu_job_check(&job, "padded", 0);
            gpu_job_free(&job);
        }
    }
}

/* Rows at odd addresses, windows of rows, pairs of formats. */
SMP_TEST(any_alignment_stride_and_window_will_do)
{
    static const int channels[] = {1, 2, 3, 4, 6, 8};
    smp_format nominal, in, out;
    for (int f = 0; case_formats(f, &nominal, &in, &out); f++)
        for (int i = 1; i < 2 * 8; i += 2) { /* horizontal, vertical, 90, 270 */
            kernel_case c = kernel_case_in(&smp_stage_orient, &orientations[i % 8],
                                           case_shape(45, 37, channels[(f + i / 2 + 3 * (i / 8)) % 6], nominal));
            c.in_storage = in, c.out_storage = out;
            c.values = in == SMP_F32 ? CASE_REALS : CASE_CODES;
            c.seed = (uint64_t)(8 * f + i);
            gpu_views_check(&c);
        }
}

/* A device whose blocks have 64 KiB of shared memory (cc 7.5) cannot hold the largest tiles. */
SMP_TEST(small_shared_memory_takes_a_kernel_that_fits)
{
    smp_device *device = gpu_simt();
    int64_t before = device->info.shared_per_block;
    device->info.shared_per_block = 64 * 1024;
    for (int channels = 1; channels <= 4; channels++)
        for (smp_format format = SMP_U8; format < SMP_FORMATS; format++) {
            const gpu_case c = case_of("rotate 90", 143, 75, channels, format);
            gpu_case_check(&c);
        }
    device->info.shared_per_block = before;
}

/* ------------------------------------------------------------------------------------------------ conflicts */

static smp_trace traced(const char *line, const char *variant, int64_t width, int64_t height, int channels,
                        smp_format format)
{
    const gpu_case c = case_of(line, width, height, channels, format);
    smp_trace trace = {0};
    gpu_case_trace(&c, variant, 0, &trace);
    return trace;
}

SMP_TEST(a_column_of_an_unpadded_tile_is_served_32_times)
{
    smp_trace trace = traced("transpose", "tiled", 64, 32, 1, SMP_F32);
    assert_int_equal(trace.count, 1);
    assert_string_equal(trace.launches[0].kernel, "transpose_tiled_f32_f32");
    const smp_shared_count *load = &trace.launches[0].ops[SMP_SHARED_LOAD];
    assert_int_equal(load->instructions, 64);
    assert_int_equal(load->wavefronts, 64 * 32);
    assert_int_equal(gpu_conflicts(&trace, "transpose_tiled", SMP_SHARED_STORE), 0);
    smp_trace_free(&trace);

    trace = traced("transpose", "padded", 64, 32, 1, SMP_F32);
    assert_string_equal(trace.launches[0].kernel, "transpose_padded_f32_f32");
    load = &trace.launches[0].ops[SMP_SHARED_LOAD];
    assert_int_equal(load->instructions, 64);
    assert_int_equal(load->wavefronts, 64);
    assert_int_equal(smp_trace_total(&trace).wavefronts, smp_trace_total(&trace).ideal);
    smp_trace_free(&trace);
}

SMP_TEST(a_pad_of_a_pixel_serves_4_byte_samples_of_any_number_of_channels)
{
    for (int channels = 1; channels <= 8; channels += channels < 4 ? 1 : 4) {
        smp_trace trace = traced(channels % 2 ? "rotate 90" : "transverse", "padded", 33, 35, channels, SMP_F32);
        assert_int_equal(gpu_conflicts(&trace, "transpose_padded", SMP_SHARED_LOAD), 0);
        assert_int_equal(gpu_conflicts(&trace, "transpose_padded", SMP_SHARED_STORE), 0);
        smp_trace_free(&trace);
    }
}

/* Every pixel size that has a swizzled kernel: whole tiles, then ragged ones. */
SMP_TEST(swizzled_tiles_have_no_conflicts)
{
    static const struct {
        int channels;
        smp_format format;
    } pixels[] = {{1, SMP_U8},  {1, SMP_U16}, {3, SMP_U8},  {1, SMP_F32},
                  {3, SMP_U16}, {4, SMP_U16}, {3, SMP_F32}, {4, SMP_F32}};
    for (size_t i = 0; i < sizeof pixels / sizeof pixels[0]; i++) {
        smp_transpose_shape shape =
            smp_transpose_shape_of(pixels[i].channels * (int)smp_sample_size((int)pixels[i].format));
        smp_trace trace = traced("rotate 90", "swizzled", shape.side * shape.across + 37, shape.side * shape.down + 21,
                                 pixels[i].channels, pixels[i].format);
        smp_shared_count total = smp_trace_total(&trace);
        assert_ptr_equal(strstr(trace.launches[0].kernel, "transpose_swizzled_"), trace.launches[0].kernel);
        assert_true(total.instructions > 0);
        for (int op = 0; op < SMP_SHARED_OPS; op++)
            if (op != SMP_SHARED_ASYNC) /* these depend on where rows lie in global memory too */
                assert_int_equal(gpu_conflicts(&trace, "transpose_swizzled_", (smp_shared_op)op), 0);
        smp_trace_free(&trace);
    }
}

SMP_TEST(reversed_rows_need_no_shared_memory)
{
    static const char *const ways[] = {"flip horizontal", "flip vertical", "rotate 180"};
    for (int i = 0; i < 3; i++) {
        smp_trace trace = traced(ways[i], "swizzled", 61, 45, 3, SMP_U8);
        assert_string_equal(trace.launches[0].kernel, i == 1 ? "transpose_rows_u8_u8" : "transpose_reversed_3_u8_u8");
        assert_int_equal(smp_trace_total(&trace).instructions, 0);
        smp_trace_free(&trace);
    }
}
