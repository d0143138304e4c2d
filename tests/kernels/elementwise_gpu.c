/* Stages that work sample by sample or pixel by pixel, on the GPU through the emulator, with what the matrix
 * (tests/matrix) does not take: the CPU's bytes for every variant, other parameters, strides and second pictures, and
 * what they cost in shared memory. */
#include "suite.h"

#include "gpu_case.h"

#include "stages/shared/launch_shapes.h"

/* ------------------------------------------------------------------------------------------------ pipelines */

/* Words and numbers that no run of the matrix (tests/matrix) has. */
SMP_TEST(parameters_of_other_kernels)
{
    static const char *const lines[] = {"levels black=10% white=80%",
                                        "levels black=90% white=20% gamma=1.4",
                                        "threshold 40%",
                                        "multiply 130%",
                                        "divide 80%",
                                        "curves [0 0.2; 0.3 0.1; 0.9 1]",
                                        "subtract 12.5%",
                                        "replace [0.4] to=[0.9]"};
    static const int64_t sizes[][2] = {{1, 70}, {61, 45}, {130, 19}};
    for (int i = 0; i < 8; i++)
        for (int f = 0; f < SMP_FORMATS; f++)
            for (int k = 0; k < 3; k++) {
                const gpu_case c = {.lines = {lines[i]},
                                    .in = case_shape(sizes[k][0], sizes[k][1], k ? k + 2 : 1, (smp_format)f),
                                    .values = CASE_REALS,
                                    .seed = (uint64_t)k,
                                    .plain = f == k};
                gpu_case_check(&c);
            }
}

SMP_TEST(gray_and_matrix)
{
    static const struct {
        const char *line;
        int channels;
    } cases[] = {
        {"gray", 3},
        {"gray", 4},
        {"matrix [0.4 0.4 0.4; 0.3 0.6 0.1; 0.1 0.2 0.8]", 3},
        {"modulate 120% saturation=70% hue=100deg", 3},
        {"tint orange amount=60%", 4},
        {"matrix [0.4 0.4 0.4 0.1; 0.3 0.6 0.1 -0.05]", 3},
        {"matrix [0 0 1; 0 1 0; 1 0 0]", 4},
        {"matrix [1.5; 0.5; 1; 0.25; 0.125]", 1},
        {"matrix [1 0 0 0; 0 1 0 0; 0 0 1 0; 0.5 0.5 0 0; 0 0 0 1; 1 1 1 1; 0 0.5 0.5 0; 0.1 0.1 0.1 0.1]", 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int f = 0; f < SMP_FORMATS; f++) {
            gpu_case c = {.lines = {cases[i].line},
                          .in = case_shape(61, 45, cases[i].channels, (smp_format)f),
                          .values = CASE_REALS,
                          .seed = i};
            gpu_case_check(&c);
            c.in.width = 1;
            c.in.height = 70;
            gpu_case_check(&c);
            c.in.width = 130;
            c.in.height = 67;
            c.plain = true;
            gpu_case_check(&c);
        }
}

/* Every operation with a second picture made of the first, of all channels and of one. */
SMP_TEST(arithmetic_takes_every_second_picture)
{
    static const char *const operations[] = {"add",    "subtract", "multiply",   "divide",    "normal",  "multiply",
                                             "screen", "overlay",  "hardlight",  "softlight", "darken",  "lighten",
                                             "dodge",  "burn",     "difference", "exclusion", "average", "add"};
    for (int i = 0; i < 18; i++) /* four stages, then the modes of blend */
        for (int second = 0; second < 3; second++) {
            char line[64];
            if (i < 4)
                snprintf(line, sizeof line, "%s by=@other", operations[i]);
            else
                snprintf(line, sizeof line, "blend by=@other mode=%s opacity=%d%%", operations[i], i % 2 ? 100 : 60);
            const char *other = second == 0   ? "gamma 0.7 -> @other"
                                : second == 1 ? "gray -> @other"
                                              : "depth float -> @other";
            gpu_case c = {.lines = {other, "from @input", line},
                          .in = case_shape(45 + i, 19, 3 + (i + second) % 2, (smp_format)((i + second) % 3)),
                          .values = CASE_REALS,
                          .seed = (uint64_t)i};
            gpu_case_check(&c);
        }
}

/* ------------------------------------------------------------------------------------------------ odd views */

static const smp_format pairs[][3] = {
    {SMP_U8, SMP_U8, SMP_U8},    {SMP_U16, SMP_U16, SMP_U16}, {SMP_F32, SMP_F32, SMP_F32}, {SMP_U8, SMP_U8, SMP_F32},
    {SMP_U16, SMP_U16, SMP_F32}, {SMP_U8, SMP_F32, SMP_U8},   {SMP_U16, SMP_F32, SMP_U16}, {SMP_U8, SMP_F32, SMP_F32}};

/* All pairs of storage, 1 to 4, 7 and 8 channels, widths of whole 16 bytes and others, NaN and infinities too. */
static void check_views(const char *name, const void *params, bool needs_colour)
{
    const smp_stage *stage = smp_stage_find(name, strlen(name));
    uint64_t seed = 1;
    assert_non_null(stage);
    for (int f = 0; f < 8; f++)
        for (int channels = needs_colour ? 3 : 1; channels <= (needs_colour ? 3 : SMP_MAX_CHANNELS);
             channels += channels == 4 ? 3 : 1, seed++) {
            kernel_case c = kernel_case_in(stage, params, case_shape(seed % 3 ? 48 : 41, 11, channels, pairs[f][0]));
            c.in_storage = pairs[f][1], c.out_storage = pairs[f][2];
            c.values = pairs[f][1] == SMP_F32 ? CASE_ANY : CASE_CODES;
            c.seed = seed;
            gpu_views_check(&c);
        }
}

static void default_params(const char *name, void *params)
{
    smp_error err;
    assert_int_equal(smp_default_params(smp_stage_find(name, strlen(name)), params, &err), SMP_OK);
}

SMP_TEST(views_of_any_alignment_and_stride)
{
    static _Alignas(16) unsigned char params[1024];
    double gamma = 2.2;
    check_views("invert", NULL, false);
    check_views("premultiply", NULL, false);
    check_views("straight", NULL, false);
    check_views("srgb_decode", &(const smp_light_params){0}, false);
    check_views("gamma", &gamma, false);
    default_params("levels", params);
    check_views("levels", params, false);
    default_params("threshold", params);
    check_views("threshold", params, false);
    for (int each = 0; each < 2; each++)
        check_views("equalize", &each, false);
    double weights[] = {0.2126, 0.7152, 0.0722};
    smp_matrix matrix = {1, 3, weights};
    check_views("gray", &matrix, true);
    smp_operand number = {.value = 0.3};
    check_views("multiply", &number, false);
}

/* Three bytes into one have a kernel for weights that cannot clip: rows of whole and begun pieces, ties, and weights on
 * both sides of what it takes. */
SMP_TEST(gray_of_bytes_by_any_weights)
{
    static const char *const weights[] = {"gray", "gray [0.25 0.5 0.25]", "gray [0.5 0.5 0.5]", "gray [1 0 0]",
                                          "gray [1e-25 0.5 0.5]"};
    static const int64_t sizes[][2] = {{512, 3}, {1100, 5}, {2048, 9}, {15, 40}, {1, 600}};
    for (size_t i = 0; i < sizeof weights / sizeof *weights; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
            gpu_line_check(weights[i], case_shape(sizes[k][0], sizes[k][1], 3, SMP_U8), CASE_CODES, i + k);
}

/* Every pair of formats, and with alpha dropped. */
SMP_TEST(depths_and_dropped_alpha)
{
    const smp_stage *stage = smp_stage_with_role(SMP_ROLE_CONVERT);
    for (int in = 0; in < SMP_FORMATS; in++)
        for (int out = 0; out < SMP_FORMATS; out++)
            for (int channels = 1; channels <= SMP_MAX_CHANNELS; channels++) {
                smp_convert_params params = {.format = out};
                kernel_case c =
                    kernel_case_in(stage, &params, case_shape(channels % 2 ? 48 : 53, 9, channels, (smp_format)in));
                c.out_storage = (smp_format)out;
                c.values = in == SMP_F32 ? CASE_ANY : CASE_CODES;
                c.seed = (uint64_t)channels;
                gpu_views_check(&c);
            }
}

/* The second picture in every format, of all channels or one, with alpha or without. */
SMP_TEST(second_pictures_of_any_format_and_channels)
{
    const smp_stage *stages[] = {smp_stage_find("subtract", 8), smp_stage_find("blend", 5)};
    static _Alignas(16) unsigned char blend[256];
    smp_operand tap = {.is_tap = true};
    default_params("blend", blend);
    memcpy(blend, &tap, sizeof tap);
    for (size_t i = 0; i < 2; i++)
        for (int f = 0; f < 8; f++)
            for (int format = 0; format < SMP_FORMATS; format++)
                for (int second = 0; second < 4; second++) {
                    const int channels = 3 + f % 2, colours = second % 2 ? 3 : 1, alpha = second / 2;
                    smp_shape by = case_shape(f % 2 ? 47 : 48, 11, colours + alpha, (smp_format)format);
                    by.alpha = alpha;
                    kernel_case c = kernel_case_in(stages[i], i ? (const void *)blend : &tap,
                                                   case_shape(by.width, by.height, channels, pairs[f][0]));
                    c.in_storage = pairs[f][1], c.out_storage = pairs[f][2];
                    c.by = &by;
                    c.values = pairs[f][1] == SMP_F32 ? CASE_ANY : CASE_CODES;
                    c.seed = (uint64_t)(f + format);
                    gpu_views_check(&c);
                }
}

/* ------------------------------------------------------------------------------------------------ traces */

static smp_trace trace_of(const char *line, int channels, smp_format format)
{
    gpu_case c = {.lines = {line}, .in = case_shape(256, 8, channels, format), .values = CASE_REALS, .seed = 5};
    smp_trace trace = {0};
    gpu_case_trace(&c, "tiled", 0, &trace);
    return trace;
}

SMP_TEST(pixels_of_three_and_four_channels_meet_no_bank_twice_but_for_six_bytes)
{
    for (int f = 0; f < SMP_FORMATS; f++)
        for (int channels = 3; channels <= 4; channels++) {
            smp_trace trace = trace_of("matrix [0 1 0; 0.5 0 0.5; 1 0 0]", channels, (smp_format)f);
            assert_true(gpu_instructions(&trace, "channel_mix_tiled", SMP_SHARED_LOAD) > 0);
            assert_true(gpu_instructions(&trace, "channel_mix_tiled", SMP_SHARED_STORE) > 0);
            for (int op = SMP_SHARED_LOAD; op <= SMP_SHARED_STORE; op++) {
                const uint64_t conflicts = gpu_conflicts(&trace, "channel_mix_tiled", (smp_shared_op)op);
                if (f == SMP_U16 && channels == 3)
                    assert_true(conflicts > 0 &&
                                conflicts < gpu_instructions(&trace, "channel_mix_tiled", (smp_shared_op)op));
                else
                    assert_int_equal(conflicts, 0);
            }
            smp_trace_free(&trace);
        }
}

SMP_TEST(byte_tables_cost_at_most_two_wavefronts)
{
    smp_trace trace = trace_of("gamma 1.8", 1, SMP_U8);
    const uint64_t loads = gpu_instructions(&trace, "tone_curve_tiled_u8_u8", SMP_SHARED_LOAD);
    const uint64_t conflicts = gpu_conflicts(&trace, "tone_curve_tiled_u8_u8", SMP_SHARED_LOAD);
    assert_true(loads >= 256 * 8 / 32);
    assert_true(conflicts > 0 && conflicts <= loads);
    smp_trace_free(&trace);
}

/* ------------------------------------------------------------------------------------------------ geometry */

SMP_TEST(pixel_tiles_take_few_blocks_and_narrow_pictures_use_all_threads)
{
    smp_io io = {.out = {.width = 6000, .channels = 3, .rows = 10, .height = 10, .stride = 18048},
                 .in = {.width = 6000, .channels = 4, .rows = 10, .height = 10, .stride = 24064}};
    smp_grid grid = {.units = 0};               /* geometries read what it says of the device */
    smp_geometry_pixel_tiles(&io, NULL, &grid); /* 2048 pixels of 4 bytes */
    assert_int_equal(grid.block[0], 256);
    assert_int_equal(grid.grid[0], 3);
    assert_int_equal(grid.grid[1], 10);
    io.out.stride = 18000;
    io.in.stride = 24000;
    smp_geometry_pixel_tiles(&io, NULL, &grid); /* 60000 in a row */
    assert_int_equal(grid.grid[0], 30);
    assert_int_equal(grid.grid[1], 1);
    io.out.width = io.in.width = 1;
    io.out.rows = io.in.rows = 100000;
    smp_geometry_pixel_tiles(&io, NULL, &grid);
    assert_int_equal(grid.block[0], 1);
    assert_int_equal(grid.block[1], 256);
    assert_int_equal(grid.grid[1], 391);
}
