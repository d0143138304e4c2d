/* gaussian on GPUs, emulated: every variant gives the definition's bytes, in any order of threads and without mistakes,
 * and shared memory is used without conflicts. */
#include "suite.h"

#include "gpu_case.h"

#include "gaussian/gaussian_weights.h"
#include "run/strips/step.h"

extern const smp_stage smp_stage_gaussian;

SMP_TEST(every_border_and_radius_does)
{
    static const char *const lines[] = {
        "gaussian 0.4px truncate=2 edge=clamp",
        "gaussian 1px edge=reflect",
        "gaussian 1.4px edge=mirror",
        "gaussian 2px edge=wrap",
        "gaussian 3px truncate=2.5 edge=zero",
        "gaussian 4px edge=constant fill=1",
        "gaussian 1px edge=constant fill=0.3",
        "gaussian 5px edge=reflect",                /* past the warp kernels */
        "gaussian 20px truncate=3.4 edge=mirror",   /* weights in a table, batches of rows */
        "gaussian 100px truncate=2.8 edge=reflect", /* lines in groups of taps */
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        for (int f = 0; f < SMP_FORMATS; f++) {
            const int channels = 1 + (int)(i + (size_t)f) % 4;
            gpu_line_check(
                lines[i],
                case_shape(i == 9 ? 180 : 45 + 100 * f, i == 9 ? 5 : 37, i == 9 ? 8 : channels, (smp_format)f),
                CASE_REALS, i);
        }
}

SMP_TEST(wide_pictures_have_many_strips_and_bands)
{
    for (int channels = 1; channels <= 5; channels++)
        gpu_line_check("gaussian 1px truncate=2",
                       case_shape(1100 / channels, 141, channels, channels % 2 ? SMP_F32 : SMP_U8), CASE_CODES, 5);
}

/* Small radii have kernels of their own, by channels: pictures of several strips, cut in bands, and narrower than the
 * filter. */
SMP_TEST(every_small_radius_has_its_kernel)
{
    static const char *const edges[] = {"clamp", "reflect", "mirror", "wrap", "zero", "constant fill=0"};
    static const int few[] = {1, 3, 4};
    for (int radius = 1; radius <= 16; radius++)
        for (int channels = 1; channels <= 4; channels += channels == 1 ? 2 : 1)
            for (int f = 0; f < SMP_FORMATS; f++) {
                if (radius > 8 && f != SMP_F32 && channels != few[radius % 3])
                    continue; /* a kernel of whole numbers serves several radii */
                char line[80];
                snprintf(line, sizeof line, "gaussian %gpx truncate=2 edge=%s", radius / 2.,
                         edges[(radius + channels + f) % 6]);
                gpu_case c = {.lines = {line},
                              .in = case_shape((f ? 150 : 600) / channels + radius, 45, channels, (smp_format)f),
                              .values = radius % 3 ? CASE_REALS : CASE_ANY,
                              .seed = (uint64_t)radius};
                gpu_case_check(&c);
                c.in = case_shape(1 + radius / 3, 5, channels, (smp_format)f);
                gpu_case_check(&c);
            }
}

/* For two blurs in a chain, the first into floats, the second out of them. */
SMP_TEST(memory_for_a_picture_between_is_taken_where_two_launches_run)
{
    static const struct {
        const char *line;
        smp_format format;
        int channels;
        bool first, second;
    } cases[] = {
        {"gaussian 0.25px", SMP_U8, 3, false, false}, /* radius 1 */
        {"gaussian 0.75px", SMP_U8, 3, false, false}, /* 3 */
        {"gaussian 1px", SMP_U8, 3, true, true},      /* 4 */
        {"gaussian 0.5px", SMP_U8, 2, true, true},    {"gaussian 0.5px", SMP_U16, 3, true, true},
        {"gaussian 4px", SMP_F32, 3, false, false}, /* 16 */
        {"gaussian 4.2px", SMP_F32, 1, true, true}, /* 17 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const gpu_case c = {.lines = {cases[i].line, cases[i].line},
                            .in = case_shape(40, 30, cases[i].channels, cases[i].format)};
        gpu_job job = gpu_job_make(&c);
        int found = 0;
        for (size_t k = 1; k < job.plan->step_count; k++) {
            const smp_step *step = &job.plan->steps[k];
            if (step->stage != &smp_stage_gaussian)
                continue;
            const smp_variant *variant = smp_step_default(step);
            const smp_format from = job.plan->steps[step->input].storage;
            print_message("%s, blur %d\n", cases[i].line, found + 1);
            assert_int_equal(smp_step_uses_scratch(step, from, &step->work, variant, true),
                             found++ ? cases[i].second : cases[i].first);
        }
        assert_int_equal(found, 2);
        gpu_job_free(&job);
    }
}

SMP_TEST(every_nan_is_the_same_one)
{
    gpu_line_check("gaussian 1px", case_shape(75, 43, 3, SMP_F32), CASE_ANY, 4);
}

SMP_TEST(any_alignment_and_window_will_do)
{
    static const double sigmas[] = {1, 5};
    for (int i = 0; i < 2; i++) {
        const struct {
            double sigma, truncate, fill;
            int edge;
        } p = {sigmas[i], 4, 0, SMP_REFLECT};
        kernel_case c = {.stage = &smp_stage_gaussian, .params = &p, .seed = 6};
        assert_true(c.stage->params_size == sizeof p);
        c.in = case_shape(61, 45, 3, SMP_U8);
        c.in_storage = SMP_U8, c.out_storage = SMP_F32;
        gpu_views_check(&c);
        gpu_views_of(&smp_stage_gaussian, &p, case_shape(37, 29, 1, SMP_F32), 6);
        gpu_views_of(&smp_stage_gaussian, &p, case_shape(67, 23, 3, SMP_U8), 6);
    }
}

/* As in the midst of a chain: kernels of their own up to radius 3, in strips and bands; floats clip, and may be no
 * numbers. */
SMP_TEST(bytes_become_floats_and_floats_bytes)
{
    static const int few[] = {1, 3, 4};
    for (int radius = 1; radius <= SMP_GAUSSIAN_MIXED_RADIUS + 1; radius++)
        for (int k = 0; k < 3; k++) {
            const struct {
                double sigma, truncate, fill;
                int edge;
            } p = {radius / 2., 2, 0, (radius + k) % (SMP_ZERO + 1)};
            kernel_case c = {.stage = &smp_stage_gaussian, .params = &p, .seed = (uint64_t)radius};
            c.in = case_shape(301 / few[k], 41, few[k], SMP_U8);
            c.values = radius == 2 ? CASE_ANY : CASE_REALS;
            c.in_storage = SMP_F32, c.out_storage = SMP_U8;
            gpu_views_check(&c);
            c.values = CASE_CODES;
            c.in_storage = SMP_U8, c.out_storage = SMP_F32;
            gpu_views_check(&c);
            c.in = case_shape(radius, 5, few[k], SMP_U8);
            gpu_views_check(&c);
        }
}

/* Rows that are not multiples of 16 bytes take the tiled kernels: here several tiles each way. */
SMP_TEST(wide_pictures_need_no_alignment_either)
{
    static const double sigmas[] = {1, 1.75, 3.75}; /* radius 4, 7, 15 */
    for (int i = 0; i < 3; i++) {
        const struct {
            double sigma, truncate, fill;
            int edge;
        } p = {sigmas[i], 4, 0, SMP_REFLECT};
        if (i < 2)
            gpu_views_of(&smp_stage_gaussian, &p, case_shape(211, 71, 3, SMP_U8), 7);
        gpu_views_of(&smp_stage_gaussian, &p, case_shape(i % 2 ? 211 : 561, 71, i % 2 ? 3 : 1, SMP_U16), 7);
        gpu_views_of(&smp_stage_gaussian, &p, case_shape(333, 71, 1, SMP_F32), 7);
    }
}

/* In bands that want the last rows that are there: memory ends with them. */
SMP_TEST(no_strip_reads_behind_the_last_row_or_what_nobody_wrote)
{
    static const struct {
        double sigma;
        smp_format format;
        int64_t width;
        int rows; /* of the window: in whole groups with the halo, but for what lies above */
    } kinds[] = {{0.5, SMP_U8, 1045, 32},
                 {1.75, SMP_U8, 663, 34},
                 {1.75, SMP_U16, 531, 34},
                 {0.5, SMP_F32, 259, 20},
                 {0.75, SMP_U8, 1601, 34}};
    size_t launches = 0;
    for (int i = 0; i < (int)(sizeof kinds / sizeof *kinds); i++)
        for (int more = 0; more < 16; more += 3) {
            const struct {
                double sigma, truncate, fill;
                int edge;
            } p = {kinds[i].sigma, 4, 0, SMP_MIRROR};
            kernel_case c = {.stage = &smp_stage_gaussian, .params = &p, .seed = 12};
            c.in = case_shape(kinds[i].width + more, 61, 1, kinds[i].format);
            c.in_storage = kinds[i].format, c.out_storage = kinds[i].format;
            smp_trace trace = {0};
            smp_simt_set_trace(&trace);
            gpu_layouts_check(&c, &(gpu_layout){0, GPU_ALIGNED}, 1, kinds[i].rows, true);
            smp_simt_set_trace(NULL);
            launches += trace.count; /* none where the case is left out */
            if (gpu_print_faults(&trace, 0))
                fail_msg("%d: width %d", i, (int)c.in.width);
            smp_trace_free(&trace);
        }
    assert_true(launches > 0);
}

SMP_TEST(no_order_of_threads_matters_and_no_mistake_is_made)
{
    const gpu_case c = {.lines = {"gaussian 4.5px edge=mirror"}, .in = case_shape(40, 50, 1, SMP_F32), .seed = 2};
    smp_trace trace = {0};
    gpu_case_trace(&c, "warp", 0, &trace); /* radius 18: batches of rows */
    assert_int_equal(trace.count, 2);
    smp_trace_free(&trace);
}

SMP_TEST(shared_memory_conflicts_nowhere_but_in_parts_of_packs)
{
    for (int f = 0; f < SMP_FORMATS; f++) {
        const gpu_case c = {
            .lines = {"gaussian 1px truncate=2"}, .in = case_shape(512, 40, f ? 3 : 1, (smp_format)f), .seed = 7};
        for (int tiled = 0; tiled < 2; tiled++) {
            smp_trace trace = {0};
            gpu_case_trace(&c, tiled ? "tiled" : "warp", 0, &trace);
            assert_int_equal(trace.count, tiled ? 2 : 1);
            const char *kernel = "gaussian_";
            for (int op = 0; op < SMP_SHARED_OPS; op++)
                if (tiled) /* lines lie in shared memory as in device memory, so copies conflict nowhere either */
                    assert_int_equal(gpu_conflicts(&trace, kernel, (smp_shared_op)op), 0);
            if (!tiled) /* zeros for the halo of several rows at once, at the picture's sides */
                assert_in_range(gpu_conflicts(&trace, kernel, SMP_SHARED_STORE), 0, 4 * 40);
            for (size_t i = 0; i < trace.count; i++)
                gpu_packs_check(&trace.launches[i]);
            assert_true(gpu_instructions(&trace, kernel, SMP_SHARED_LOAD) > 0);
            assert_true(tiled || gpu_instructions(&trace, kernel, SMP_SHARED_ASYNC) > 0);
            smp_trace_free(&trace);
        }
    }
}
