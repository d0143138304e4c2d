/* bench: every pattern's modelled wavefronts are those of the rules, and the tables hold what was found in 100 columns.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

#include "bench/bench_run.h"
#include "device/cpu.h"
#include "device/cuda/cuda.h"
#include "device/simt/simt.h"
#include "report/text.h"

static smp_bench_report report;

static int run_bench(void **state)
{
    (void)state;
    smp_error err;
    smp_device *device;
    if (smp_cpu_open(2, NULL, &device, &err))
        return -1;
    const smp_bench_request request = {
        .device = device, .threads = 2, .size = 1 << 20, .streams = true, .patterns = true};
    smp_code code = smp_bench_run(&request, &report, &err);
    smp_device_close(device);
    return code ? -1 : 0;
}

static int free_bench(void **state)
{
    (void)state;
    smp_bench_report_free(&report);
    return 0;
}

SMP_TEST(the_emulator_counts_what_the_rules_say)
{
    assert_int_equal(report.pattern_count, (3 + 3 + 1) * 11);
    for (size_t i = 0; i < report.pattern_count; i++) {
        const smp_bench_pattern *row = &report.patterns[i];
        const smp_shared_count *model = &row->counts[SMP_COUNT_MODEL];
        assert_true(row->counted[SMP_COUNT_MODEL]);
        assert_int_equal(model->instructions, report.counted_instructions);
        if (model->wavefronts != report.counted_instructions * (uint64_t)row->rule_wavefronts ||
            model->ideal != report.counted_instructions * (uint64_t)row->rule_ideal)
            fail_msg("%s %s of %d bytes: %llu wavefronts, %llu ideal; by the rules %d and %d an instruction",
                     smp_bench_op_name(row->op), row->name, row->width, (unsigned long long)model->wavefronts,
                     (unsigned long long)model->ideal, row->rule_wavefronts, row->rule_ideal);
    }
}

SMP_TEST(known_patterns_cost_what_textbooks_say)
{
    static const struct {
        const char *name;
        smp_bench_op op;
        int width, wavefronts, ideal;
    } known[] = {
        {"stride 1", SMP_BENCH_LOAD, 4, 1, 1},   {"stride 2", SMP_BENCH_LOAD, 4, 2, 1},
        {"stride 32", SMP_BENCH_LOAD, 4, 32, 1}, {"stride 33", SMP_BENCH_STORE, 4, 1, 1},
        {"broadcast", SMP_BENCH_LOAD, 4, 1, 1},  {"stride 1", SMP_BENCH_LOAD, 16, 4, 4},
        {"stride 13", SMP_BENCH_STORE, 8, 2, 2}, {"broadcast", SMP_BENCH_COUNT, 4, 1, 1},
    };
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        bool found = false;
        for (size_t i = 0; i < report.pattern_count; i++) {
            const smp_bench_pattern *row = &report.patterns[i];
            if (strcmp(row->name, known[k].name) || row->op != known[k].op || row->width != known[k].width)
                continue;
            found = true;
            assert_int_equal(row->rule_wavefronts, known[k].wavefronts);
            assert_int_equal(row->rule_ideal, known[k].ideal);
        }
        assert_true(found);
    }
}

/* The launches that a GPU times, in the emulator, whose clock stands still. */
SMP_TEST(every_pattern_can_be_launched_for_its_time)
{
    smp_error err;
    smp_device *device;
    smp_bench_report own = {.pattern_count = 0};
    assert_int_equal(smp_cuda_open(smp_driver_simt(), 0, &device, &err), SMP_OK);
    assert_int_equal(smp_patterns_list(&own, &err), SMP_OK);
    own.pattern_count = 1;
    own.patterns[0].rule_wavefronts = 1 << 10; /* few rounds */
    assert_int_equal(smp_patterns_time(device, &own, &err), SMP_OK);
    assert_true(own.patterns[0].cycles == 0);
    smp_bench_report_free(&own);
    smp_device_close(device);
}

static char *text_of(void (*show)(FILE *, const smp_bench_report *), const smp_bench_report *what)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    assert_non_null(to);
    show(to, what);
    fclose(to);
    return text;
}

static void show_table(FILE *to, const smp_bench_report *what)
{
    smp_bench_table(to, what, false);
}

SMP_TEST(tables_fit_their_columns)
{
    smp_bench_report gpu = report; /* as a GPU would fill it in */
    snprintf(gpu.device.kind, sizeof gpu.device.kind, "cuda");
    gpu.device.peak_gbs = 3352;
    gpu.driver_copy = gpu.streams[0].copy;
    for (int i = 0; i < SMP_BENCH_LINKS; i++)
        gpu.link[i] = gpu.streams[0].copy;
    for (size_t i = 0; i < gpu.pattern_count; i++) {
        smp_bench_pattern *row = &gpu.patterns[i];
        for (int kind = SMP_COUNT_SASS; kind <= SMP_COUNT_HW; kind++) {
            row->counted[kind] = true;
            row->counts[kind] = row->counts[SMP_COUNT_MODEL];
        }
        row->cycles = 32.04;
        row->gbs = 33333;
    }
    for (int pass = 0; pass < 2; pass++) {
        char *text = text_of(show_table, pass ? &gpu : &report);
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
            if (smp_text_columns(line) > SMP_TEXT_WIDTH)
                fail_msg("%zu columns: %s", smp_text_columns(line), line);
        free(text);
    }
    char *text = text_of(show_table, &gpu);
    assert_non_null(strstr(text, "model and sass agree on all 77 patterns"));
    free(text);
}

SMP_TEST(json_has_every_sample)
{
    char *text = text_of(smp_bench_json, &report);
    assert_non_null(strstr(text, "\"report\": \"bench\""));
    assert_non_null(strstr(text, "\"pattern\": \"stride 33\""));
    assert_non_null(strstr(text, "\"threads\": 2"));
    assert_non_null(strstr(text, "\"seconds\": ["));
    assert_non_null(strstr(text, "\"disagreements\": 0"));
    free(text);
}

SMP_TESTS_AROUND(run_bench, free_bench)
