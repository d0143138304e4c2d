/* smempipe devices: what this machine can compute on. */
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/cli.h"
#include "io/decoder/worker.h"
#include "io/sandbox_program.h"
#include "report/json.h"
#include "report/text.h"
#include "run/peaks.h"

typedef struct devices_settings {
    smp_common common;
    bool json, measure;
} devices_settings;

/* Measurements of a device. */
typedef struct measured {
    smp_rate copy; /* nothing measured: no samples */
    char problem[200];
} measured;

static const smp_option options[] = {
    {"json", 0, SMP_O_FLAG, offsetof(devices_settings, json), .help = "machine-readable"},
    {"measure", 0, SMP_O_FLAG, offsetof(devices_settings, measure),
     .help = "also measure how fast each device copies its memory; takes seconds (smempipe bench measures more)"},
    {0},
};

static void put_json(const smp_device_info *devices, const measured *measures, size_t count, const char *missing)
{
    smp_json json;
    smp_json_begin(&json, stdout, false);
    smp_json_object(&json, NULL);
    smp_json_array(&json, "devices");
    for (size_t i = 0; i < count; i++) {
        const smp_device_info *device = &devices[i];
        SMP_JSON_OPEN(&json, NULL, ("kind", device->kind), ("index", device->index), ("name", device->name),
                      ("units", device->units), ("memory_bytes", device->memory));
        if (device->isa[0])
            smp_json_string(&json, "isa", device->isa);
        if (device->compute_major)
            SMP_JSON(&json, ("compute_major", device->compute_major), ("compute_minor", device->compute_minor),
                     ("shared_bytes_per_block", device->shared_per_block),
                     ("shared_bytes_per_unit", device->shared_per_unit));
        if (!strcmp(device->kind, "cuda") && device->numa_node >= 0)
            smp_json_integer(&json, "numa_node", device->numa_node);
        if (device->peak_gbs > 0)
            smp_json_number(&json, "peak_gb_per_second", device->peak_gbs);
        if (measures && measures[i].copy.gbs > 0)
            smp_json_number(&json, "copy_gb_per_second", measures[i].copy.gbs);
        smp_json_end(&json, '}');
    }
    smp_json_end(&json, ']');
    smp_json_string(&json, "missing", missing[0] ? missing : NULL);
    smp_json_end(&json, '}');
}

/* "compute capability 9.0, 132 SMs, 79.6 GiB of memory, ...": one line or two. */
static void put_details(const smp_device_info *device, const measured *measures)
{
    enum { AT = 11 };
    char text[400], bytes[24], block[24], unit[24];
    int used = 0;
#define SAY(...) used += used < (int)sizeof text ? snprintf(text + used, sizeof text - (size_t)used, __VA_ARGS__) : 0
    smp_text_bytes(bytes, sizeof bytes, (double)device->memory);
    smp_text_bytes(block, sizeof block, (double)device->shared_per_block);
    smp_text_bytes(unit, sizeof unit, (double)device->shared_per_unit);
    if (!strcmp(device->kind, "cpu"))
        SAY("%d processor%s", device->units, device->units == 1 ? "" : "s");
    else
        SAY("compute capability %d.%d, %d SM%s", device->compute_major, device->compute_minor, device->units,
            device->units == 1 ? "" : "s");
    if (device->memory > 0)
        SAY(", %s of memory", bytes);
    if (!strcmp(device->kind, "cuda") && device->numa_node >= 0)
        SAY(", next to memory node %d", device->numa_node);
    if (device->isa[0])
        SAY(", runs the %s kernels (--isa)", device->isa);
    if (device->shared_per_block > 0)
        SAY(", shared memory %s a block, %s an SM", block, unit);
    if (device->peak_gbs > 0)
        SAY(", %.0f GB/s by datasheet", device->peak_gbs);
    if (measures && measures->copy.gbs > 0)
        SAY(", copies at %.4g GB/s (measured, read and write together)", measures->copy.gbs);
    if (measures && measures->problem[0])
        SAY(", not measured: %s", measures->problem);
#undef SAY
    printf("%*s", AT, "");
    smp_text_wrap(stdout, text, AT, AT);
}

static void put_table(const smp_common *common, const smp_device_info *devices, const measured *measures, size_t count,
                      const char *missing)
{
    smp_paint paint = smp_paint_for(smp_cli_color(common, STDOUT_FILENO));
    printf("%s%-9s  name%s\n", paint.bold, "device", paint.off);
    for (size_t i = 0; i < count; i++) {
        const smp_device_info *device = &devices[i];
        char name[32];
        snprintf(name, sizeof name, device->index ? "%s:%d" : "%s", device->kind, device->index);
        printf("%-9s  ", name);
        smp_text_clean(stdout, device->name);
        putchar('\n');
        put_details(device, measures ? &measures[i] : NULL);
    }
    if (missing[0])
        smp_text_wrap(stdout, missing, 0, 0);
    if (!common->quiet)
        puts("\nCommands take --device DEVICE; without it, auto weighs the work against a GPU's start.");
}

/* The emulator's memory is the host's. A device that cannot be measured says why and stops nothing. */
static smp_code measure(const smp_common *common, const smp_device_info *devices, size_t count, measured **out,
                        smp_error *err)
{
    *out = smp_alloc_array(count + 1, sizeof **out);
    SMP_NEED(*out, "measurements", count * sizeof **out, err);
    for (size_t i = 0; i < count; i++) {
        char spec[32];
        smp_device *device = NULL;
        smp_error why = {.code = SMP_OK};
        if (!strcmp(devices[i].kind, "simt"))
            continue;
        snprintf(spec, sizeof spec, devices[i].index ? "%s:%d" : "%s", devices[i].kind, devices[i].index);
        smp_device_request request = {.spec = spec, .threads = (int)common->threads};
        smp_code code = smp_device_open(&request, &device, NULL, 0, &why);
        code = code ? code : smp_peak_copy(device, 0, &(*out)[i].copy, &why);
        if (code)
            snprintf((*out)[i].problem, sizeof(*out)[i].problem, "%.199s", why.message);
        smp_device_close(device);
    }
    return SMP_OK;
}

/* Prints what confines decoders; starts one to find out. */
static smp_code put_confinement(smp_error *err)
{
    char text[80];
    smp_code code = smp_worker_start(0, err);
    code = code ? code : smp_worker_confinement(text, sizeof text, err);
    if (!code)
        printf("decoders are confined by: %s\n", text);
    if (!code && smp_sandbox_abi())
        printf("run, batch and convert on a CPU are confined to their inputs and outputs by: Landlock ABI %d\n\n",
               smp_sandbox_abi());
    else if (!code)
        puts("run, batch and convert are not confined themselves: it takes Landlock ABI 3\n");
    smp_worker_stop();
    return code;
}

static smp_code devices(void *given, smp_error *err)
{
    devices_settings *settings = given;
    smp_device_info *list = NULL;
    measured *measures = NULL;
    size_t count = 0;
    char missing[512] = "";
    smp_code code = settings->common.verbose && !settings->json ? put_confinement(err) : SMP_OK;
    code = code ? code : smp_device_list(&list, &count, missing, sizeof missing, err);
    if (!code && settings->measure)
        code = measure(&settings->common, list, count, &measures, err);
    if (!code && settings->json)
        put_json(list, measures, count, missing);
    else if (!code)
        put_table(&settings->common, list, measures, count, missing);
    smp_free_all(measures, list);
    return code;
}

const smp_command smp_command_devices = {
    .name = "devices",
    .help = "what this machine can compute on",
    .settings_size = sizeof(devices_settings),
    .without = SMP_O_OUTPUTS | SMP_O_DEVICE | SMP_O_INPUTS,
    .groups = {{"options", options}, SMP_COMMON_GROUP},
    .examples = {{"smempipe devices", "what each device is, and why a kind is missing"},
                 {"smempipe devices --measure", "with the speed at which each copies its memory"},
                 {"smempipe devices -v", "also what confines the processes that decode files"},
                 {"smempipe devices --json", "for scripts"}},
    .run = devices,
};
