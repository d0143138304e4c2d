/* gpu_peers: our GPU kernels beside NPP, CUB and cuBLAS, on the same buffers in the same run, set against the bars that
 * the project gives itself. Everything is compared before it is timed.
 *
 *   gpu_peers --json h100-peers.json                 all rows on the first GPU, a few minutes
 *   gpu_peers --only 'histogram*' --only 'stats*'    some of them
 *   gpu_peers --device simt --tiny                   every launch tried on the emulator; no times that mean anything
 *   gpu_peers --list                                 rows, sizes, bars
 *
 * Libraries are opened at run time (gpu_libs.h says where they are looked for); libgpu_cub.so, which nvcc builds
 * (target gpu_cub), lies beside this program. Without it there is no CUB, no pure read and no comparison at full size.
 * Exit status: 0, or 1 when a result was wrong or the run failed; bars that are not met are no failure. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "cli/options.h"
#include "gpu_report.h"

typedef struct settings {
    gpu_bench_request request;
    bool list, without_peers;
    smp_strings only;
    const char *json;
    double total_seconds;
} settings;

static const smp_option options[] = {
    {"device", 0, SMP_O_STRING, offsetof(settings, request.device), .fallback = "cuda", .argument = "cuda[:N]|simt",
     .help = "where to run"},
    {"only", 0, SMP_O_LIST, offsetof(settings, only), .argument = "PATTERN",
     .help = "rows of these names, * and ? as in a shell"},
    {"time-limit", 0, SMP_O_NUMBER, offsetof(settings, request.row_seconds), .fallback = "0.8", .argument = "S",
     .help = "seconds for the samples of a row, at most, once there are a few", .min = 0, .max = 1000},
    {"total", 0, SMP_O_NUMBER, offsetof(settings, total_seconds), .fallback = "100000", .argument = "S",
     .help = "no row begins after so many seconds", .min = 0, .max = 100000},
    {"json", 0, SMP_O_STRING, offsetof(settings, json), .argument = "FILE",
     .help = "every sample; written anew after each row"},
    {"photo", 0, SMP_O_STRING, offsetof(settings, request.photo), .argument = "FILE.npy",
     .help = "an array of bytes that rows on a photograph take; else they take slopes with noise"},
    {"cub", 0, SMP_O_STRING, offsetof(settings, request.cub), .argument = "FILE",
     .help = "libgpu_cub.so when it lies elsewhere"},
    {"without-peers", 0, SMP_O_FLAG, offsetof(settings, without_peers), .help = "ours alone"},
    {"tiny", 0, SMP_O_FLAG, offsetof(settings, request.tiny), .help = "sizes of a few thousand samples"},
    {"list", 0, SMP_O_FLAG, offsetof(settings, list), .help = "show the rows and run nothing"},
    {0},
};
static const smp_command command = {
    .name = "gpu_peers",
    .settings_size = sizeof(settings),
    .groups = {{"options", options}},
};

static bool wanted(const settings *given, const gpu_row *row)
{
    for (size_t i = 0; i < given->only.count; i++)
        if (fnmatch(given->only.items[i], row->name, 0) == 0)
            return true;
    return given->only.count == 0;
}

typedef struct outcome {
    gpu_result results[GPU_ROWS_MOST];
    const char *left_out[GPU_ROWS_MOST];
    size_t count, left_out_count, wrong;
} outcome;

static smp_code run_rows(const settings *given, gpu_bench *bench, const gpu_row *rows, size_t count, outcome *out,
                         smp_error *err)
{
    const double began = smp_now();
    smp_code code = SMP_OK;
    for (size_t i = 0; !code && i < count; i++) {
        if (!wanted(given, &rows[i]))
            continue;
        if (smp_now() - began > given->total_seconds) {
            out->left_out[out->left_out_count++] = rows[i].name;
            continue;
        }
        gpu_result *result = &out->results[out->count];
        code = gpu_bench_row(bench, &rows[i], result, err);
        if (code) {
            fprintf(stderr, "gpu_peers: %s: %s\n", rows[i].name, err->message);
            out->left_out[out->left_out_count++] = rows[i].name;
            break;
        }
        out->count++;
        out->wrong += strcmp(result->check, "right") != 0;
        gpu_report_line(bench, result);
        fflush(stdout);
        if (given->json)
            code = gpu_report_write(given->json, bench, out->results, out->count, NULL, 0, err);
    }
    if (given->json && bench->device) {
        smp_code wrote = gpu_report_write(given->json, bench, out->results, out->count, out->left_out,
                                          out->left_out_count, code ? NULL : err);
        code = code ? code : wrote;
    }
    return code;
}

int main(int argc, char **argv)
{
    static outcome out; /* large */
    settings given = {0};
    smp_error err = {0};
    gpu_bench bench = {0};
    char kind[sizeof bench.device->info.kind] = "";
    size_t count;
    smp_code code = smp_options_parse(&command, argc - 1, argv + 1, &given, NULL, &err);
    given.request.with_peers = !given.without_peers;
    const gpu_row *rows = gpu_rows(given.request.tiny, &count);
    if (!code && given.list) {
        gpu_report_list(rows, count);
    } else if (!code) {
        code = gpu_bench_open(&bench, &given.request, &err);
        if (!code)
            code = run_rows(&given, &bench, rows, count, &out, &err);
        snprintf(kind, sizeof kind, "%s", bench.device ? bench.device->info.kind : "");
        gpu_bench_close(&bench);
        printf("%zu rows, %zu wrong, %zu left out\n", out.count, out.wrong, out.left_out_count);
    }
    if (code)
        fprintf(stderr, "gpu_peers: %s%s%s\n", err.message, err.hint[0] ? "; " : "", err.hint);
    smp_options_free(&command, &given);
    const int status = code || out.wrong ? 1 : 0;
    if (!strcmp(kind,
                "cuda")) { /* what NVIDIA's libraries do at exit, with our context gone, is no part of the result */
        fflush(NULL);
        _exit(status);
    }
    return status;
}
