/* Comparing variants: what quartiles and verdicts say, which variants of which steps there are, and that counts of a
 * crop say so. */
#include "suite.h"

#include "compare_case.h"

#include "compare/internal.h"
#include "report/samples.h"
#include "report/text.h"

#include "base/hash/sha256.h"

/* ------------------------------------------------------------------------------------------------ samples */

SMP_TEST(quartiles_are_numpys)
{
    static const double odd[] = {5, 1, 4, 2, 3}, even[] = {4, 1, 3, 2}, one[] = {7};
    smp_spread spread;
    assert_true(smp_spread_of(odd, 5, &spread)); /* numpy.percentile(odd, [25, 50, 75]) */
    assert_true(spread.low == 2 && spread.median == 3 && spread.high == 4);
    assert_true(smp_spread_of(even, 4, &spread));
    assert_true(spread.low == 1.75 && spread.median == 2.5 && spread.high == 3.25);
    assert_true(smp_spread_of(one, 1, &spread));
    assert_true(spread.low == 7 && spread.median == 7 && spread.high == 7);
    assert_true(smp_spread_of(NULL, 0, &spread));
    assert_true(isnan(spread.median));
    assert_true(odd[0] == 5); /* samples keep their order */
}

/* R: sort(x)[qbinom(c(.025, .975), n, .5)], or a sample wider. */
SMP_TEST(the_medians_interval_narrows_with_samples)
{
    double samples[400];
    for (int i = 0; i < 400; i++)
        samples[(i * 7) % 400] = i;
    smp_spread ten, many;
    assert_true(smp_spread_of((const double[]){9, 8, 7, 6, 5, 4, 3, 2, 1, 0}, 10, &ten));
    assert_true(ten.from == 1 && ten.to == 8);
    assert_true(smp_spread_of(samples, 400, &many));
    assert_true(many.from == 180 && many.to == 219 && many.low == 99.75);
    assert_true(smp_spread_of(samples, 1, &many));
    assert_true(many.from == 0 && many.to == 0);
}

SMP_TEST(verdicts_need_intervals_apart)
{
    static const struct {
        smp_spread base, other;
        smp_verdict want;
    } rows[] = {
        {{8, 10, 12, 9, 11}, {5, 6, 12, 5, 7}, SMP_VERDICT_FASTER},
        {{8, 10, 12, 9, 11}, {8, 13, 14, 12, 14}, SMP_VERDICT_SLOWER},
        {{8, 10, 12, 9, 11}, {8, 8.5, 9, 8, 9.5}, SMP_VERDICT_UNCLEAR}, /* overlap */
        {{8, 10, 12, 9, 11}, {8, 10, 12, 9, 11}, SMP_VERDICT_UNCLEAR},  /* too wide to say that they are the same */
        {{8, 10, 12, 9.9, 10.1}, {8, 10.02, 12, 9.95, 10.2}, SMP_VERDICT_SAME},     /* both within 3 % */
        {{8, 10, 12, 9.99, 10.01}, {8, 10.04, 12, 10.03, 10.05}, SMP_VERDICT_SAME}, /* apart, but by less than 1 % */
        {{0}, {1, 1, 1, 1, 1}, SMP_VERDICT_NONE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(smp_verdict_of(&rows[i].base, &rows[i].other), rows[i].want);
}

SMP_TEST(inputs_are_named_by_their_sha256)
{
    static const struct {
        const char *text, *want; /* FIPS 180-4's examples */
    } rows[] = {{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
                {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
                {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                 "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"}};
    char text[65];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        smp_sha256 hash;
        smp_sha256_begin(&hash);
        for (const char *p = rows[i].text; *p; p++)
            smp_sha256_add(&hash, p, 1);
        smp_sha256_end(&hash, text);
        assert_string_equal(text, rows[i].want);
    }
}

/* ------------------------------------------------------------------------------------------------ the comparison */

static const smp_compare_variant *variant_named(const smp_compare_step *step, const char *name)
{
    for (size_t i = 0; i < step->variant_count; i++)
        if (!strcmp(step->variants[i].name, name))
            return &step->variants[i];
    fail_msg("no variant %s in %s", name, step->label);
    return NULL;
}

SMP_TEST(every_variant_of_every_step_is_checked_timed_and_counted)
{
    const gpu_case c = {.lines = {"gaussian 1.5px", "histogram", "equalize", "transpose"},
                        .in = case_shape(61, 45, 3, SMP_U8)};
    gpu_job job = gpu_job_make(&c);
    smp_compare found =
        compare_on(&job, gpu_reference(), (smp_compare_request){.repeat = 3, .times = true, .counts = true});
    assert_int_equal(found.step_count, job.plan->step_count - 1);
    for (size_t i = 0; i < found.step_count; i++) {
        const smp_compare_step *step = &found.steps[i];
        assert_int_equal(step->number, i + 1);
        assert_int_equal(step->count_rows, step->height);
        for (size_t k = 0; k < step->variant_count; k++) {
            const smp_compare_variant *variant = &step->variants[k];
            assert_string_equal(variant->wrong, "");
            if (variant->same_as)
                assert_int_equal(variant->sample_count, 0);
            else
                assert_int_equal(variant->check, SMP_CHECK_RIGHT);
            if (!variant->same_as)
                assert_true(variant->sample_count >= 3 && variant->time.median > 0);
            assert_true(variant->counts[SMP_COUNT_MODEL].known);
            assert_int_equal(variant->counts[SMP_COUNT_MODEL].faults, 0);
            assert_false(variant->counts[SMP_COUNT_SASS].known); /* there is no GPU here */
        }
        assert_int_equal(step->variants[0].verdict, SMP_VERDICT_BASE);
        assert_int_equal(step->variants[0].counts[SMP_COUNT_MODEL].total.instructions, 0); /* naive shares nothing */
    }
    assert_string_equal(variant_named(&found.steps[0], "warp")->same_as, "tiled"); /* on a CPU */
    assert_string_equal(variant_named(&found.steps[0], "mma")->same_as, "tiled");
    assert_false(smp_compare_any_wrong(&found));
    smp_compare_free(&found);
    gpu_job_free(&job);
}

/* The ladder that a teacher shows: a tile's column in one bank, a pad, words swizzled. */
SMP_TEST(a_transpose_shows_what_padding_does)
{
    const gpu_case c = {.lines = {"transpose"}, .in = case_shape(64, 64, 1, SMP_F32)};
    gpu_job job = gpu_job_make(&c);
    smp_compare found = compare_on(&job, gpu_reference(), (smp_compare_request){.counts = true});
    const smp_compare_step *step = &found.steps[0];
    const smp_compare_variant *tiled = variant_named(step, "tiled"), *padded = variant_named(step, "padded");
    assert_int_equal(tiled->counts[SMP_COUNT_MODEL].ops[SMP_SHARED_LOAD].instructions, 64 * 64 / 32);
    assert_int_equal(tiled->counts[SMP_COUNT_MODEL].ops[SMP_SHARED_LOAD].wavefronts, 64 * 64);
    assert_int_equal(padded->counts[SMP_COUNT_MODEL].total.wavefronts, padded->counts[SMP_COUNT_MODEL].total.ideal);
    assert_int_equal(tiled->sample_count, 0); /* times were not asked for */
    bool seen = false;
    for (size_t i = 0; i < tiled->site_count; i++) {
        const smp_compare_site *site = &tiled->sites[i];
        if (site->op != SMP_SHARED_LOAD)
            continue;
        seen = true;
        smp_bank_cost cost = smp_bank_cost_of(&site->example);
        assert_int_equal(cost.wavefronts, 32);
        assert_int_equal(site->width, 4);
    }
    assert_true(seen);
    assert_int_equal(tiled->launches[0].grid[0] * tiled->launches[0].grid[1], 4);
    smp_compare_free(&found);
    gpu_job_free(&job);
}

/* The emulator, as a GPU would be: every variant has the bytes of naive, and naive those of the CPU. */
SMP_TEST(on_another_device_naive_is_held_against_the_cpu)
{
    const gpu_case c = {.lines = {"gaussian 1.5px", "equalize", "stats", "transpose"},
                        .in = case_shape(61, 45, 3, SMP_U8)};
    gpu_job job = gpu_job_make(&c);
    smp_compare found = compare_on(&job, gpu_simt(), (smp_compare_request){.repeat = 1, .times = true});
    for (size_t i = 0; i < found.step_count; i++)
        for (size_t k = 0; k < found.steps[i].variant_count; k++)
            assert_string_equal(found.steps[i].variants[k].wrong, "");
    smp_compare_free(&found);
    gpu_job_free(&job);
    gpu_simt_reset();
}

SMP_TEST(stages_and_variants_can_be_chosen)
{
    static const char *const stages[] = {"transpose"}, *const variants[] = {"padded"}, *const wrong[] = {"padde"};
    const gpu_case c = {.lines = {"gaussian 1px", "transpose"}, .in = case_shape(33, 20, 1, SMP_U8)};
    gpu_job job = gpu_job_make(&c);
    smp_compare found = compare_on(
        &job, gpu_reference(),
        (smp_compare_request){
            .stages = stages, .stage_count = 1, .variants = variants, .variant_count = 1, .repeat = 1, .times = true});
    assert_int_equal(found.step_count, 1);
    assert_string_equal(found.steps[0].stage, "transpose");
    assert_int_equal(found.steps[0].variant_count, 2);
    assert_string_equal(found.steps[0].variants[0].name, "naive");
    assert_string_equal(found.steps[0].variants[1].name, "padded");
    smp_compare_free(&found);
    smp_compare_request request = {
        .plan = job.plan, .device = gpu_reference(), .variants = wrong, .variant_count = 1, .times = true};
    smp_error err = {0};
    assert_int_equal(smp_compare_plan(&request, &job.in.view, &found, &err), SMP_E_USAGE);
    assert_non_null(strstr(err.message, "padde"));
    assert_non_null(strstr(err.hint, "gaussian, transpose"));
    smp_compare_free(&found);
    gpu_job_free(&job);
}

/* With the emulator standing in for a GPU, which has caches to be emptied: a buffer is read, and given back. */
SMP_TEST(a_gpus_caches_are_emptied_by_reading)
{
    smp_device *gpu = gpu_simt();
    smp_device_info info = gpu->info;
    smp_flush *flush;
    smp_error err = {0};
    uint64_t before = smp_alloc_live();
    gpu->info.cache = 1 << 20;
    snprintf(gpu->info.kind, sizeof gpu->info.kind, "cuda");
    assert_int_equal(smp_flush_open(gpu, &flush, &err), SMP_OK);
    assert_true(smp_alloc_live() >= before + (4 << 20));
    assert_int_equal(smp_flush_views(flush, NULL, 0, &err), SMP_OK);
    smp_flush_close(flush);
    gpu->info = info;
    gpu_simt_reset();
}

/* ------------------------------------------------------------------------------------------------ crops */

SMP_TEST(a_large_picture_is_counted_on_whole_blocks_of_rows)
{
    const gpu_case c = {.lines = {"transpose"}, .in = case_shape(5000, 2000, 1, SMP_U8)};
    gpu_job job = gpu_job_make(&c);
    static const char *const variants[] = {"padded"};
    smp_compare found =
        compare_on(&job, gpu_reference(),
                   (smp_compare_request){.counts = true, .time_limit = 1e-6, .variants = variants, .variant_count = 1});
    const smp_compare_step *step = &found.steps[0];
    assert_int_equal(step->height, 5000);
    assert_int_equal(step->count_columns, 2000);
    assert_in_range(step->count_rows, 1, 600);
    assert_int_equal(step->count_rows % 64, 0);
    assert_int_equal(step->count_from % 64, 0);
    char *text;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    smp_compare_table(to, &found, true, false);
    assert_int_equal(fclose(to), 0);
    assert_non_null(strstr(text, "counts are of a crop"));
    free(text);
    smp_compare_free(&found);
    gpu_job_free(&job);
}

/* A row of a matrix product costs as much as a picture: the corner of its matrices is counted instead. */
SMP_TEST(a_large_matrix_product_is_counted_on_a_corner)
{
    const gpu_case c = {.lines = {"matmul with=@input"}, .in = case_shape(300, 300, 1, SMP_F32)};
    gpu_job job = gpu_job_make(&c);
    static const char *const variants[] = {"padded"};
    smp_compare found =
        compare_on(&job, gpu_reference(),
                   (smp_compare_request){.counts = true, .time_limit = 1e-6, .variants = variants, .variant_count = 1});
    const smp_compare_step *step = &found.steps[0];
    char crop[120];
    assert_string_equal(smp_compare_crop(step, crop, sizeof crop),
                        "the upper left 256x256 of 300x300, planned as a picture of its own");
    assert_int_equal(step->variants[1].counts[SMP_COUNT_MODEL].total.wavefronts,
                     step->variants[1].counts[SMP_COUNT_MODEL].total.ideal);
    assert_true(step->variants[1].counts[SMP_COUNT_MODEL].total.instructions > 0);
    smp_compare_free(&found);
    gpu_job_free(&job);
}

/* ------------------------------------------------------------------------------------------------ outputs */

/* A result with everything that is awkward: names of strangers, huge numbers, no times, a missing source. */
static void fill_awkward(smp_compare *c)
{
    static smp_compare_variant variants[4];
    static double samples[] = {1e-9, 2e-9, 3e-9}, slow[] = {4e3, 5e3, 6e3};
    static smp_compare_site site = {.kernel = "k", .where = "<a>&\"b\".cu:1", .width = 16};
    static smp_compare_step step;
    memset(variants, 0, sizeof variants);
    for (int lane = 0; lane < SMP_WARP; lane++)
        site.example.offset[lane] = (uint32_t)(lane * 128);
    site.example.active = UINT32_MAX;
    site.example.width = 4;
    site.count = (smp_shared_count){9, 99999999999, 9};
    variants[0] = (smp_compare_variant){.name = "naive", .help = "<b>", .check = SMP_CHECK_RIGHT, .samples = samples};
    variants[1] =
        (smp_compare_variant){.name = "a_very_long_name_of_a_variant", .check = SMP_CHECK_RIGHT, .samples = slow};
    for (int i = 0; i < 2; i++) {
        variants[i].sample_count = 3;
        assert_true(smp_spread_of(variants[i].samples, 3, &variants[i].time));
    }
    variants[1].verdict = SMP_VERDICT_SLOWER;
    variants[1].counts[SMP_COUNT_MODEL] = (smp_compare_count){.known = true, .total = {9, 99999999999, 9}, .faults = 3};
    variants[1].counts[SMP_COUNT_SASS] = (smp_compare_count){.known = true, .total = {9, 9, 9}};
    snprintf(variants[1].counts[SMP_COUNT_SASS].why, 200, "load: model has 99999999999 wavefronts, sass 9");
    variants[1].sites = &site;
    variants[1].site_count = 1;
    variants[2] = (smp_compare_variant){.name = "wrong", .check = SMP_CHECK_WRONG};
    memset(variants[2].wrong, 'w', sizeof variants[2].wrong - 1);
    variants[3] = (smp_compare_variant){.name = "absent"};
    memset(variants[3].why, '\033', sizeof variants[3].why - 1);
    step = (smp_compare_step){.stage = "stage",
                              .number = 99,
                              .node = -1,
                              .bytes = UINT64_MAX,
                              .pixels = 1,
                              .ops = 1e30,
                              .height = INT64_MAX,
                              .width = 5,
                              .count_rows = 64,
                              .count_columns = 5,
                              .timed_out = true,
                              .variants = variants,
                              .variant_count = 4};
    memset(step.label, 'x', sizeof step.label - 1);
    memcpy(step.label, "\033[31m<script>\xff", 15);
    snprintf(step.type_in, sizeof step.type_in, "u8x3 9999999x9999999 in f32");
    snprintf(step.type_out, sizeof step.type_out, "u8x3 9999999x9999999 in f32");
    *c = (smp_compare){.pipe = "a,\"b\n.pipe", .input = "\033[2J<i>", .copy_gbs = 1e6, .steps = &step, .step_count = 1};
    snprintf(c->device.kind, sizeof c->device.kind, "cuda");
    snprintf(c->source_note[SMP_COUNT_HW], sizeof c->source_note[SMP_COUNT_HW],
             "no \033 rights, and a sentence that is long "
             "enough to go on in a second line of the table because it names a remedy");
}

static char *render(void (*print)(FILE *, const smp_compare *), const smp_compare *c)
{
    char *text;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    assert_non_null(to);
    if (print)
        print(to, c);
    else
        smp_compare_table(to, c, true, false);
    assert_int_equal(fclose(to), 0);
    if (print != smp_compare_csv)          /* a file's text is kept, in quotes */
        assert_null(strchr(text, '\033')); /* nothing drives a terminal */
    return text;
}

SMP_TEST(awkward_results_stay_inside_the_table)
{
    smp_compare c;
    fill_awkward(&c);
    char *text = render(NULL, &c);
    assert_non_null(strstr(text, "WRONG"));
    assert_non_null(strstr(text, "model and sass disagree"));
    assert_non_null(strstr(text, "3 mistakes"));
    assert_non_null(strstr(text, "fewer samples than asked for"));
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        if (smp_text_columns(line) > SMP_TEXT_WIDTH)
            fail_msg("%zu columns: %s", smp_text_columns(line), line);
    free(text);
    assert_true(smp_compare_any_disagreement(&c));
}

SMP_TEST(awkward_results_stay_text_in_files)
{
    smp_compare c;
    fill_awkward(&c);
    char *json = render(smp_compare_json, &c), *csv = render(smp_compare_csv, &c), *html = render(smp_compare_html, &c);
    assert_non_null(strstr(json, "\"pipeline\": \"a,\\\"b\\n.pipe\""));
    assert_non_null(strstr(json, "\"samples_seconds\": [4000, 5000, 6000]"));
    const char *script = strstr(html, "<script>"); /* the page's own, behind its data */
    assert_true(script && !strstr(script + 1, "<script>"));
    assert_null(strstr(html, "<i>"));
    assert_non_null(strstr(html, "&lt;script&gt;")); /* in the plain table */
    assert_non_null(strstr(html, "\"where\": \"\\u003ca>&\\\"b\\\".cu:1\""));
    int lines = 0, commas = 0, here = 0; /* as many cells in every line */
    for (size_t i = 0; csv[i]; i++) {
        here += csv[i] == ',';
        if (csv[i] != '\n')
            continue;
        commas = lines++ ? commas : here;
        assert_int_equal(here, commas);
        here = 0;
    }
    assert_int_equal(lines, 5);
    free(json);
    free(csv);
    free(html);
}

/* Times of one variant that are so far apart say nothing of a copy's rate. */
SMP_TEST(the_table_tells_noise)
{
    static const double spreads[] = {1, 1.2, 6}; /* of the times, upwards and downwards */
    for (size_t i = 0; i < sizeof spreads / sizeof spreads[0]; i++) {
        double times[2][3] = {{2e-3, 2e-3, 2e-3}, {1e-3 / spreads[i], 1e-3, 1e-3 * spreads[i]}};
        smp_compare_variant variants[2];
        for (int k = 0; k < 2; k++) {
            variants[k] = (smp_compare_variant){
                .name = k ? "tiled" : "naive", .check = SMP_CHECK_RIGHT, .samples = times[k], .sample_count = 3};
            assert_true(smp_spread_of(times[k], 3, &variants[k].time));
        }
        smp_compare_step step = {
            .label = "x", .stage = "x", .number = 1, .bytes = 1000000, .variants = variants, .variant_count = 2};
        const smp_compare c = {.input = "in.png", .copy_gbs = 10, .steps = &step, .step_count = 1};
        char *table = render(NULL, &c);
        assert_true((strstr(table, "noisy") != NULL) == (spreads[i] > 2));
        free(table);
    }
}

/* Of another device's times nothing is said of how far a GPU's prediction is off. */
SMP_TEST(a_prediction_stands_beside_the_same_gpus_time)
{
    double seconds[] = {80e-6, 80e-6, 80e-6};
    smp_compare_variant variant = {
        .name = "naive", .check = SMP_CHECK_RIGHT, .samples = seconds, .sample_count = 3, .predicted = {100, 90, 120}};
    smp_compare_step step = {
        .label = "x", .stage = "x", .number = 1, .bytes = 1000000, .variants = &variant, .variant_count = 1};
    smp_compare c = {.input = "in.png", .predicted_gpu = "h200", .predicted_title = "H200", .predicted_copy_gbs = 100};
    c.steps = &step;
    c.step_count = 1;
    assert_true(smp_spread_of(seconds, 3, &variant.time));
    for (int gpu = 0; gpu < 2; gpu++) {
        snprintf(c.device.kind, sizeof c.device.kind, "cuda"); /* the other one is an H100 */
        c.predicted_here = gpu;
        char *table = render(NULL, &c), *json = render(smp_compare_json, &c), *row = strstr(table, "90 .. 120");
        assert_true(row && strstr(row, gpu ? " 80   +25 %" : " 10      10"));
        assert_true(!strstr(table, "measured   error") == !gpu);
        assert_true(!strstr(json, "\"percent_of_measured\": 125") == !gpu);
        free(table);
        free(json);
    }
}

/* By threads, an SM of an H100 holds eight blocks of 256: 1056 of them are a wave. By shared memory, two of 100 KB. */
SMP_TEST(a_picture_that_does_not_fill_the_gpu_is_told)
{
    static double seconds[] = {1e-4};
    static const struct {
        unsigned blocks;
        uint64_t shared;
        int64_t rows, before, enlarge; /* rows: of the output that were counted, of 300 */
        double waves;
    } cases[] = {{528, 0, 300, 1, 3, 0.5},
                 {528, 0, 300, 3, 9, 0.5},
                 {4224, 0, 300, 1, 0, 4},
                 {528, 100 << 10, 300, 1, 2, 2},
                 {528, 0, 100, 1, 0, 0}}; /* a crop tells nothing */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        smp_compare_launch launch = {.grid = {cases[i].blocks, 1, 1}, .block = {256, 1, 1}};
        launch.shared_bytes = cases[i].shared;
        smp_compare_variant naive = {.name = "naive",
                                     .check = SMP_CHECK_RIGHT,
                                     .samples = seconds,
                                     .sample_count = 1,
                                     .launches = &launch,
                                     .launch_count = 1};
        smp_compare_step step = {.height = 300, .width = 451, .count_rows = cases[i].rows, .count_columns = 451};
        step.variants = &naive;
        step.variant_count = 1;
        smp_compare c = {.input = "in.png", .steps = &step, .step_count = 1, .enlarged = cases[i].before};
        c.device = (smp_device_info){.compute_major = 9, .units = 132, .shared_per_unit = 228 << 10};
        assert_true(fabs(smp_compare_waves(&c, &step) - cases[i].waves) < 1e-9);
        assert_int_equal(smp_compare_enlarge(&c, &step), cases[i].enlarge);
        char *text = render(NULL, &c), *page = render(smp_compare_html, &c), want[80];
        snprintf(want, sizeof want, "--enlarge %d repeats", (int)cases[i].enlarge);
        assert_int_equal(strstr(text, want) != NULL, cases[i].enlarge > 0);
        snprintf(want, sizeof want, "\"enlarge\": %d,", (int)cases[i].enlarge);
        assert_int_equal(strstr(page, want) != NULL, cases[i].enlarge > 0);
        free(text);
        free(page);
    }
}

/* ------------------------------------------------------------------------------------------------ failures */

SMP_TEST(out_of_memory_anywhere_is_an_error_and_leaks_nothing)
{
    const gpu_case c = {.lines = {"histogram", "equalize", "gaussian 1px"}, .in = case_shape(9, 5, 1, SMP_U8)};
    gpu_job job = gpu_job_make(&c);
    smp_compare_request request = {
        .plan = job.plan, .device = gpu_reference(), .repeat = 1, .times = true, .counts = true, .threads = 1};
    smp_compare found;
    smp_error err = {0};
    smp_code code =
        smp_compare_plan(&request, &job.in.view, &found, &err); /* the CPU's threads keep what they need once */
    assert_int_equal(code, SMP_OK);
    smp_compare_free(&found);
    int failures = 0;
    code = SMP_E_MEMORY;
    for (uint64_t nth = 1; code; nth++) {
        uint64_t before = smp_alloc_live();
        smp_alloc_fail_at(nth);
        code = smp_compare_plan(&request, &job.in.view, &found, &err);
        smp_alloc_fail_at(0);
        smp_compare_free(&found);
        failures += code != SMP_OK;
        if (code && code != SMP_E_MEMORY && code != SMP_E_DEVICE_MEMORY)
            fail_msg("allocation %llu: %s", (unsigned long long)nth, err.message);
        assert_int_equal(smp_alloc_live(), before);
    }
    assert_true(failures > 50);
    gpu_job_free(&job);
}
