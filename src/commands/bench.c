/* smempipe bench: what this device can do at most, and what patterns of shared memory cost. */
#include <string.h>
#include <unistd.h>

#include "base/pool.h"
#include "bench/bench_run.h"
#include "cli/cli.h"

typedef struct bench_settings {
    smp_common common;
    const char *json;
    uint64_t size;
    int only;
} bench_settings;

static const char *const parts[] = {"all", "streams", "patterns", NULL};
enum { ALL, STREAMS, PATTERNS };

static const smp_option options[] = {
    {"json", 0, SMP_O_STRING, offsetof(bench_settings, json), .argument = "FILE",
     .help = "also write every sample and count as JSON; - is standard output, and then no table is shown"},
    {"only", 0, SMP_O_CHOICE, offsetof(bench_settings, only), .fallback = "all", .argument = "PART", .choices = parts,
     .help = "all, streams (copy, read, write, launches, the bus) or patterns (shared memory)"},
    {"size", 0, SMP_O_SIZE, offsetof(bench_settings, size), .argument = "N", .flags = SMP_O_SILENT,
     .help = "bytes of a buffer that streams move; far more than any cache unless given"},
    {0},
};

static void render(FILE *to, const void *report)
{
    smp_bench_json(to, report);
}

static smp_code write_json(const bench_settings *settings, const smp_bench_report *report, smp_error *err)
{
    if (!strcmp(settings->json, "-")) {
        smp_bench_json(stdout, report);
        return SMP_OK;
    }
    return smp_cli_write_file(settings->json, settings->common.force, render, report, err);
}

/* `auto` means the GPU where there is one: it is what people ask about, and no work is weighed against its start. */
static smp_code open_device(const smp_common *common, smp_device **out, smp_error *err)
{
    smp_device_request request = {.spec = common->device, .threads = (int)common->threads};
    if (common->device && strcmp(common->device, "auto") != 0)
        return smp_device_open(&request, out, NULL, 0, err);
    request.spec = "cuda";
    smp_error none = {0};
    if (smp_device_open(&request, out, NULL, 0, &none) == SMP_OK)
        return SMP_OK;
    smp_cli_warning(common, "the CPU is measured: %s", none.message);
    request.spec = "cpu";
    return smp_device_open(&request, out, NULL, 0, err);
}

static smp_code bench(void *given, smp_error *err)
{
    bench_settings *settings = given;
    const smp_common *common = &settings->common;
    smp_device *device = NULL;
    smp_bench_report report = {.pattern_count = 0};
    smp_progress progress;
    SMP_TRY(smp_cli_check_report(settings->json, settings->common.force, err));
    SMP_TRY(open_device(common, &device, err));
    const smp_bench_request request = {
        .device = device,
        .threads = common->threads ? (int)common->threads : smp_pool_cores(),
        .size = (size_t)settings->size,
        .streams = settings->only != PATTERNS,
        .patterns = settings->only != STREAMS,
        .progress = smp_progress_step,
        .progress_context = &progress,
    };
    smp_progress_begin(&progress, common, "bench");
    smp_code code = smp_bench_run(&request, &report, err);
    smp_progress_end(&progress);
    if (!code && !(settings->json && !strcmp(settings->json, "-")))
        smp_bench_table(stdout, &report, smp_cli_color(common, STDOUT_FILENO));
    if (!code && settings->json)
        code = write_json(settings, &report, err);
    if (!code && report.disagreements)
        code = smp_fail(err, SMP_E_DIFFERENT, "%zu of %zu patterns: the GPU counts what the model does not say",
                        report.disagreements, report.pattern_count);
    smp_bench_report_free(&report);
    smp_device_close(device);
    return code;
}

const smp_command smp_command_bench = {
    .name = "bench",
    .help = "what this device can do at most",
    .about =
        "Measures the ceilings that rates are set against: copying, reading and writing memory, launching, the bus. "
        "Then patterns of shared-memory addresses: the wavefronts that the model says (in the emulator, on any "
        "machine), that a GPU counts (sass: patched code, exact; hw: hardware counters), and the cycles that they "
        "take. Where sass differs from the model the exit code is 7. Without a GPU memory is measured by threads and "
        "the model stands alone.",
    .settings_size = sizeof(bench_settings),
    .without = SMP_O_INPUTS | SMP_O_VERBOSE,
    .groups = {{"options", options}, SMP_COMMON_GROUP},
    .examples = {{"smempipe bench", "tables of the GPU, or of this machine's memory"},
                 {"smempipe bench --only streams --json ceilings.json",
                  "memory and bus alone, every sample in a file"}},
    .run = bench,
};
