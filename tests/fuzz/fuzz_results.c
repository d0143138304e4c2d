/* libFuzzer target for the results that a program leaves which ran under the lab's runtime library: it may write there
 * what it likes. The input says which bytes of a good file change (2 bytes of place, 1 of value): any must give an
 * error, or results that can be told. */
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "lab/machine/predicted.h"
#include "lab/report/lab.h"
#include "lab/report/lab_issues.h"
#include "lab/report/lab_tips.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *good_file(size_t *size)
{
    static char name[] = "kernel", path[] = "k.cu";
    char *bytes = NULL, *files[] = {path};
    smp_warp_row rows[] = {{.line = 3, .width = 4, .instructions = 1, .lanes = 32, .array = "tile"},
                           {.line = 4, .space = SMP_WARP_GLOBAL, .width = 8, .instructions = 2, .sectors = 9}};
    smp_warp_finding findings[] = {{.count = 1, .here = {.line = 3}, .other = {.line = 4}, .text = "both write"}};
    smp_warp_array arrays[] = {{.name = "tile", .bytes = 4096}};
    smp_warp_pattern patterns[] = {{.op = SMP_BANK_LOAD, .width = 4, .active = UINT32_MAX, .count = 32}};
    for (uint32_t l = 0; l < SMP_WARP; l++)
        patterns[0].offset[l] = l * 128;
    smp_warp_step steps[] = {{.line = 3, .place = 1, .runs = 4, .lanes = 128, .text = "LDS"}};
    smp_predicted_line lines[] = {{.line = 3, .share = 1, .text = "LDS R0, [R1]"}};
    smp_predicted predicted = {.gpu = "h100", .us = 3, .high_us = 4, .bound = "latency", .resident = 1, .lines = lines,
                               .line_count = 1, .instructions = lines, .instruction_count = 1, .price_count = 2,
                               .mend_count = 1, .fit_count = 2};
    smp_predictions predictions = {.items = &predicted, .count = 1};
    smp_warp_result result = {.kernel = name, .symbol = name, .grid = {1, 1, 1}, .block = {32, 1, 1}, .launches = 1,
                              .blocks_run = 1, .blocks = 1, .code = "sass", .notes = "a note", .files = files,
                              .file_count = 1, .rows = rows, .row_count = 2, .findings = findings, .finding_count = 1,
                              .arrays = arrays, .array_count = 1, .patterns = {.items = patterns, .count = 1},
                              .predictions = &predictions};
    for (int i = 0; i < SMP_WARP_STEPS; i++)
        result.steps[i] = (smp_warp_steps){.items = steps, .count = 1};
    FILE *to = open_memstream(&bytes, size);
    if (!to)
        abort();
    for (int i = 0; i < 2; i++)
        smp_warp_result_write(to, &result);
    fclose(to);
    return bytes;
}

static void tell(smp_warp_result *result)
{
    static FILE *nowhere;
    smp_lab_entry entry = {.file = "k.cu"};
    smp_lab_sources sources = {0};
    smp_lab_issues issues;
    smp_lab_tips tips;
    const smp_lab_report report = {
        .results = result, .count = 1, .files = &entry, .sources = &sources, .code = "sass", .issues = &issues};
    if (!smp_lab_find_tips(result, 1, NULL, 0, &tips) || !smp_lab_issues_of(result, 1, &issues))
        abort();
    if (!nowhere)
        nowhere = fopen("/dev/null", "w");
    smp_lab_json(nowhere, &report);
    smp_lab_sarif(nowhere, &report);
    smp_lab_table(nowhere, result, &sources, true, true, false);
    smp_lab_time_text(nowhere, result, &sources, false);
    smp_free(tips.items);
    smp_lab_issues_free(&issues);
    smp_lab_sources_free(&sources);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t length;
    char *bytes = good_file(&length);
    for (size_t i = 0; i + 2 < size; i += 3)
        bytes[(size_t)(data[i] << 8 | data[i + 1]) % length] = (char)data[i + 2];
    FILE *from = fmemopen(bytes, length, "r");
    if (!from)
        abort();
    smp_warp_result results[2];
    smp_error err;
    bool end = false;
    size_t open = 0, count = 0;
    while (count < 2 && !smp_warp_result_read(from, &results[count], &open, &end, &err) && !end)
        count++;
    if (count < 2) /* what was read of the one that is wrong */
        smp_warp_result_free(&results[count]);
    if (count == 2)
        (void)smp_warp_result_add(&results[0], &results[1]);
    if (count)
        tell(&results[0]);
    while (count)
        smp_warp_result_free(&results[--count]);
    fclose(from);
    free(bytes);
    return 0;
}
