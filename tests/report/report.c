/* The report of a run: the table as people see it, golden, and the same numbers in JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

#include "base/alloc.h"
#include "pipe/program.h"
#include "report/measure/measure.h"
#include "report/report.h"
#include "report/text.h"

static smp_step_report *add(smp_run_report *report, int node, const char *label, const char *variant, double seconds)
{
    smp_step_report *step = &report->steps[report->step_count++];
    *step = (smp_step_report){.node = node, .line = node >= 0 ? node + 3 : 0, .seconds = seconds};
    snprintf(step->label, sizeof step->label, "%s", label);
    snprintf(step->variant, sizeof step->variant, "%s", variant);
    snprintf(step->type, sizeof step->type, "u8x3 6000x4000");
    return step;
}

static void fill(smp_run_report *report)
{
    *report = (smp_run_report){
        .input = "in.png",
        .output = "out.png",
        .threads = 2,
        .read_seconds = 0.5,
        .write_seconds = 0.75,
        .device_seconds = 0.02,
        .wall_seconds = 0.8,
        .strip_rows = 256,
        .strips = 16,
        .peak_bytes = 12 << 20,
        .input_bytes = 50000000,
    };
    snprintf(report->device.kind, sizeof report->device.kind, "cpu");
    snprintf(report->device.name, sizeof report->device.name, "A processor");
    snprintf(report->shape_in, sizeof report->shape_in, "u8x3 6000x4000");
    snprintf(report->shape_out, sizeof report->shape_out, "u8x3 6000x4000");
    report->steps = smp_alloc_array(4, sizeof *report->steps);
    assert_non_null(report->steps);

    smp_step_report *blur = add(report, 0, "blur 2px \033[31mred", "tiled", 0.012);
    blur->bytes = 144000000;
    blur->pixels = 24000000;
    blur->counts_clipping = true;
    blur->clipped = 17;
    smp_step_report *measure = add(report, 1, "measure name=page", "tiled", 0.006);
    static const double means[] = {127.4567891, 0.000012345678}, counts[] = {0, 5, 10, 1, 0, 0};
    for (int c = 0; c < 2; c++) {
        assert_int_equal(smp_measurements_add(&measure->measurements, "count", c, 24000000, NULL), SMP_OK);
        assert_int_equal(smp_measurements_add(&measure->measurements, "mean", c, means[c], NULL), SMP_OK);
    }
    assert_int_equal(smp_measurements_add(&measure->measurements, "limit", -1, 0.25, NULL), SMP_OK);
    assert_int_equal(smp_measurements_add_list(&measure->measurements, "counts", 0, counts, 6, NULL), SMP_OK);
    snprintf(measure->name, sizeof measure->name, "page");
    add(report, SMP_NODE_NONE, "(convert)", "naive", 0.002);
}

static char *render(void (*print)(FILE *, const smp_run_report *, bool), const smp_run_report *report, bool flag)
{
    char *text;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    assert_non_null(to);
    print(to, report, flag);
    assert_int_equal(fclose(to), 0);
    return text;
}

static const char golden[] =
    "in.png (u8x3 6000x4000, 47.7 MiB) -> out.png (u8x3 6000x4000)\n"
    "cpu: A processor, 2 threads\n"
    "  step                                          variant        time ms   share      GB/s  Mpixel/s\n"
    "  blur 2px ?[31mred                             tiled           12.000    60 %     12.00      2000\n"
    "  measure name=page                             tiled            6.000    30 %         -         -\n"
    "  (convert)                                     naive            2.000    10 %         -         -\n"
    "  all steps                                                     20.000\n"
    "  read and decode                                              500.000  100.0 MB/s of file\n"
    "  encode and write                                             750.000\n"
    "  wall                                                         800.000  in which these overlap\n"
    "  16 strips of 256 rows, peak memory 12.0 MiB\n"
    "  measure name=page\n"
    "                       all     channel 0     channel 1\n"
    "    count                       24000000      24000000\n"
    "    mean                         127.457   1.23457e-05\n"
    "    limit             0.25                            \n"
    "    counts   channel 0  | ▄█▁  |  6 bins, sum 16, 1..3\n"
    "warning: 'blur 2px ?[31mred' clipped 17 samples to the range of its format\n";

SMP_TEST(the_table_is_as_recorded)
{
    smp_run_report report;
    fill(&report);
    char *text = render(smp_report_table, &report, false);
    if (strcmp(text, golden) != 0)
        fail_msg("the table is now:\n%s", text);
    free(text);
    smp_run_report_free(&report);
}

SMP_TEST(lines_fit_and_cannot_drive_the_terminal)
{
    smp_run_report report;
    fill(&report);
    smp_step_report *step =
        add(&report, 2, "a statement with many parameters that is longer than its column allows, by far", "tiled", 1);
    step->bytes = UINT64_MAX;
    char *text = render(smp_report_table, &report, false);
    assert_null(strchr(text, '\033'));
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        if (smp_text_columns(line) > SMP_TEXT_WIDTH)
            fail_msg("%zu columns: %s", smp_text_columns(line), line);
    free(text);
    smp_run_report_free(&report);
}

SMP_TEST(colour_only_when_asked)
{
    smp_run_report report;
    fill(&report);
    char *text = render(smp_report_table, &report, true);
    assert_non_null(strstr(text, "\033[1;33mwarning:\033[0m"));
    free(text);
    smp_run_report_free(&report);
}

SMP_TEST(json_holds_the_same_numbers)
{
    static const char *const parts[] = {
        "\"input\": \"in.png\"",
        "\"status\": \"done\"",
        "\"exit_status\": 0",
        "\"kind\": \"cpu\"",
        "\"peak_bytes\": 12582912",
        "\"wall\": 0.8",
        "\"step\": \"blur 2px \\u001b[31mred\"",
        "\"gb_per_second\": 12",
        "\"mpixel_per_second\": 2000",
        "\"clipped\": 17",
        "\"name\": \"page\"",
        "{\"name\": \"mean\", \"channel\": 1, \"value\": 1.2345678e-05}",
        "{\"name\": \"limit\", \"value\": 0.25}",
        "\"values\": [0, 5, 10, 1, 0, 0]",
        "\"inserted\": true",
    };
    smp_run_report report;
    fill(&report);
    char *text = render(smp_report_json, &report, true);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (!strstr(text, parts[i]))
            fail_msg("%s is not in %s", parts[i], text);
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1); /* one line */
    free(text);
    smp_run_report_free(&report);
}

SMP_TEST(a_failed_run_says_so)
{
    smp_run_report report;
    fill(&report);
    report.status = SMP_E_DECODE;
    snprintf(report.error, sizeof report.error, "the file ends early");
    char *json = render(smp_report_json, &report, true), *table = render(smp_report_table, &report, false);
    assert_non_null(strstr(json, "\"status\": \"failed\", \"exit_status\": 3, \"error\": \"the file ends early\""));
    assert_non_null(strstr(table, "failed before the end"));
    free(json);
    free(table);
    smp_run_report_free(&report);
}

SMP_TEST(an_empty_report_prints)
{
    smp_run_report report = {0};
    char *table = render(smp_report_table, &report, false), *json = render(smp_report_json, &report, false);
    assert_non_null(strstr(table, "all steps"));
    assert_non_null(strstr(json, "\"steps\": []"));
    free(table);
    free(json);
    smp_run_report_free(&report);
}

SMP_TEST(paragraphs_wrap_at_the_width)
{
    char *text;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    fputs("name  ", to);
    for (int i = 0; i < 3; i++)
        smp_text_wrap(
            to,
            "word word word word word word word word word word word word word word word word word word word word\n"
            "  laid  out",
            6, 6);
    assert_int_equal(fclose(to), 0);
    assert_int_equal(strncmp(text, "name  word word", 15), 0);
    assert_non_null(strstr(text, "\n      word\n")); /* the twentieth word does not fit */
    assert_non_null(strstr(text, "\n        laid  out\n"));
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        assert_in_range(strlen(line), 1, SMP_TEXT_WIDTH);
    free(text);
}

/* Names of files are anybody's. */
SMP_TEST(csv_of_measurements_keeps_paths_and_drives_no_spreadsheet)
{
    static const char *const names[][2] = {
        {"a,b \"c\".png", "\"a,b \"\"c\"\".png\","},
        {"=1+1.png", " =1+1.png,"},
        {"red \033[31m\nnew \xc2\x9b line\x80.png", "\"red \033[31m\nnew \xc2\x9b line\x80.png\","}};
    for (size_t i = 0; i < 2 * sizeof names / sizeof names[0]; i++) {
        const char *const *name = names[i / 2];
        const smp_measure_format format = i % 2 ? SMP_MEASURE_CSV : SMP_MEASURE_LONG;
        char *text = NULL;
        size_t length = 0;
        smp_run_report report;
        smp_error err;
        fill(&report);
        report.input = name[0];
        FILE *to = open_memstream(&text, &length);
        assert_non_null(to);
        smp_measure_output output = {.to = to, .format = format};
        const smp_totals none = {.count = 0};
        smp_measure_begin(&output);
        assert_int_equal(smp_measure_file(&output, &report, &err), SMP_OK);
        assert_int_equal(smp_measure_end(&output, &none, 1, 0, &err), SMP_OK);
        assert_int_equal(fclose(to), 0);
        const char *row = strchr(text, '\n'); /* after the columns' names */
        assert_non_null(row);
        assert_memory_equal(row + 1, name[1], strlen(name[1]));
        free(text);
        smp_run_report_free(&report);
    }
}
