/* smempipe devices: what this machine can compute on. */
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/cli.h"
#include "report/json.h"
#include "report/text.h"

typedef struct devices_settings {
    smp_common common;
    bool json;
} devices_settings;

static const smp_option options[] = {
    {"json", 0, SMP_O_FLAG, offsetof(devices_settings, json), .help = "machine-readable"},
    {0},
};

static void put_json(const smp_device_info *devices, size_t count, const char *missing)
{
    smp_json json;
    smp_json_begin(&json, stdout, false);
    smp_json_object(&json, NULL);
    smp_json_array(&json, "devices");
    for (size_t i = 0; i < count; i++) {
        const smp_device_info *device = &devices[i];
        smp_json_object(&json, NULL);
        smp_json_string(&json, "kind", device->kind);
        smp_json_integer(&json, "index", device->index);
        smp_json_string(&json, "name", device->name);
        smp_json_integer(&json, "units", device->units);
        smp_json_integer(&json, "memory_bytes", device->memory);
        if (device->isa[0])
            smp_json_string(&json, "isa", device->isa);
        if (device->compute_major) {
            smp_json_integer(&json, "compute_major", device->compute_major);
            smp_json_integer(&json, "compute_minor", device->compute_minor);
            smp_json_integer(&json, "shared_bytes_per_block", device->shared_per_block);
            smp_json_integer(&json, "shared_bytes_per_unit", device->shared_per_unit);
        }
        if (device->peak_gbs > 0)
            smp_json_number(&json, "peak_gb_per_second", device->peak_gbs);
        smp_json_end(&json, '}');
    }
    smp_json_end(&json, ']');
    smp_json_string(&json, "missing", missing[0] ? missing : NULL);
    smp_json_end(&json, '}');
}

static void put_table(const smp_common *common, const smp_device_info *devices, size_t count, const char *missing)
{
    smp_paint paint = smp_paint_for(smp_cli_color(common, STDOUT_FILENO));
    printf("%s%-9s  %-60s  %7s  %10s%s\n", paint.bold, "device", "name", "units", "memory", paint.off);
    for (size_t i = 0; i < count; i++) {
        const smp_device_info *device = &devices[i];
        char name[32], memory[24] = "-";
        snprintf(name, sizeof name, device->index ? "%s:%d" : "%s", device->kind, device->index);
        if (device->memory > 0)
            smp_text_bytes(memory, sizeof memory, (double)device->memory);
        printf("%-9s  ", name);
        smp_text_column(stdout, device->name, 60);
        printf("  %7d  %10s\n", device->units, memory);
    }
    if (missing[0])
        smp_text_wrap(stdout, missing, 0, 0);
}

static smp_code devices(void *given, smp_error *err)
{
    devices_settings *settings = given;
    smp_device_info *list = NULL;
    size_t count = 0;
    char missing[512] = "";
    smp_code code = smp_device_list(&list, &count, missing, sizeof missing, err);
    if (code)
        return code;
    if (settings->json)
        put_json(list, count, missing);
    else
        put_table(&settings->common, list, count, missing);
    smp_free(list);
    return SMP_OK;
}

const smp_command smp_command_devices = {
    .name = "devices",
    .help = "what this machine can compute on",
    .settings_size = sizeof(devices_settings),
    .groups = {{"options", options}, SMP_COMMON_GROUP},
    .examples = {{"smempipe devices", "a line a device, and why a kind is missing"},
                 {"smempipe devices --json", "for scripts"}},
    .run = devices,
};
