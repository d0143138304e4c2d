/* Telling results: see gpu_report.h. */
#include "gpu_report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/version.h"
#include "device/cuda/cuda_state.h"
#include "report/json.h"

enum { BAR_TEXT = 96 };

void gpu_report_list(const gpu_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const gpu_row *row = &rows[i];
        char input[64], bar[BAR_TEXT];
        gpu_size_text(row, row->size, input, sizeof input);
        printf("%-40s %-24s", row->name, input);
        for (int k = 0; k < GPU_BARS && row->bars[k].kind; k++) {
            gpu_bar_text(&row->bars[k], bar, sizeof bar);
            printf("%s%s", k ? "; " : " ", bar);
        }
        for (int k = 0; k < GPU_PEERS && row->peers[k]; k++)
            printf("%s%s", k ? ", " : row->bars[0].kind ? "; beside " : " beside ", row->peers[k]);
        putchar('\n');
    }
}

void gpu_report_line(const gpu_bench *bench, const gpu_result *result)
{
    const gpu_row *row = result->row;
    const double seconds = gpu_median(&result->kernels);
    if (seconds <= 0) {
        printf("%-40s %s\n", row->name, result->check);
        return;
    }
    printf("%-40s %10.4f ms %6.0f GB/s", row->name, seconds * 1e3, result->bytes / seconds * 1e-9);
    for (int k = 0; k < GPU_BARS && row->bars[k].kind; k++) {
        char text[BAR_TEXT];
        bool met;
        const double reached = gpu_bar_reached(bench, result, &row->bars[k], &met);
        gpu_bar_text(&row->bars[k], text, sizeof text);
        if (isnan(reached))
            printf("  (%s: not measured)", text);
        else
            printf("  %.3f (%s: %s)", reached, text, met ? "met" : "NOT MET");
    }
    for (int k = 0; k < GPU_PEERS && result->peers[k].name; k++) {
        const double theirs = gpu_median(&result->peers[k].times);
        if (theirs > 0)
            printf("  %.2f x %s", theirs / gpu_median(&result->whole), result->peers[k].name);
        else
            printf("  %s: %s", result->peers[k].name, result->peers[k].why);
    }
    if (!isnan(gpu_ragged_ratio(result)))
        printf("  ragged %.3f", gpu_ragged_ratio(result));
    if (strcmp(result->at_size, "right") != 0)
        printf("  (not compared at this size)");
    printf("  [%.1f s]\n", result->seconds);
}

/* ------------------------------------------------------------------------------------------------ JSON */

static void samples(smp_json *json, const char *key, const gpu_samples *from)
{
    smp_json_object(json, key);
    if (from->count)
        smp_json_number(json, "median_seconds", gpu_median(from));
    smp_json_numbers(json, "seconds", from->seconds, from->count);
    smp_json_end(json, '}');
}

static void environment(smp_json *json, const gpu_bench *bench)
{
    const smp_device_info *info = &bench->device->info;
    char text[96], npp[32] = "", cublas[32] = "", cub[32] = "";
    time_t now = time(NULL);
    struct tm utc;
    smp_json_object(json, "environment");
    smp_json_string(json, "program", "smempipe " SMP_VERSION);
    if (gmtime_r(&now, &utc) && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc))
        smp_json_string(json, "time", text);
    smp_json_string(json, "device", info->kind);
    smp_json_string(json, "device_name", info->name);
    smp_gpu_driver_text(bench->device, text, sizeof text);
    smp_json_string(json, "driver", text);
    smp_json_string(json, "toolkit", smp_gpu_toolkit());
    smp_json_integer(json, "units", info->units);
    smp_json_number(json, "peak_gb_per_second", info->peak_gbs);
    smp_json_integer(json, "l2_bytes", info->cache);
    if (bench->libs)
        gpu_libs_versions(bench->libs, npp, cublas, cub, sizeof npp);
    smp_json_string(json, "npp", npp[0] ? npp : NULL);
    smp_json_string(json, "cublas", cublas[0] ? cublas : NULL);
    smp_json_string(json, "cub", cub[0] ? cub : NULL);
    smp_json_string(json, "without_cub", bench->cub ? NULL : bench->cub_why);
    smp_json_bool(json, "photo_given", bench->photo.size > 0);
    smp_json_end(json, '}');
}

static void bars(smp_json *json, const gpu_bench *bench, const gpu_result *result)
{
    static const char *const kinds[] = {"none", "of copy", "of read", "x peer", "of the f32 peak"};
    smp_json_array(json, "bars");
    for (int k = 0; k < GPU_BARS && result->row->bars[k].kind; k++) {
        const gpu_bar *bar = &result->row->bars[k];
        char text[BAR_TEXT];
        bool met;
        const double reached = gpu_bar_reached(bench, result, bar, &met);
        gpu_bar_text(bar, text, sizeof text);
        smp_json_object(json, NULL);
        smp_json_string(json, "bar", text);
        smp_json_string(json, "kind", kinds[bar->kind]);
        smp_json_string(json, "peer", bar->peer);
        smp_json_number(json, "wanted", bar->value);
        smp_json_number(json, "reached", reached);
        smp_json_bool(json, "met", met);
        smp_json_end(json, '}');
    }
    smp_json_end(json, ']');
}

static void peers(smp_json *json, const gpu_result *result)
{
    smp_json_array(json, "peers");
    for (int k = 0; k < GPU_PEERS && result->peers[k].name; k++) {
        const gpu_peer_result *peer = &result->peers[k];
        const double theirs = gpu_median(&peer->times), ours = gpu_median(&result->whole);
        smp_json_object(json, NULL);
        smp_json_string(json, "name", peer->name);
        smp_json_number(json, "times_as_fast", theirs > 0 && ours > 0 ? theirs / ours : (double)NAN);
        if (peer->differing >= 0)
            smp_json_integer(json, "differing_bytes", peer->differing);
        smp_json_string(json, "why_not", peer->why[0] ? peer->why : NULL);
        samples(json, "times", &peer->times);
        smp_json_end(json, '}');
    }
    smp_json_end(json, ']');
}

static void ragged(smp_json *json, const gpu_result *result)
{
    const gpu_row *row = result->row;
    char text[64];
    if (!result->ragged.count)
        return;
    smp_json_object(json, "ragged");
    gpu_size_text(row, row->round, text, sizeof text);
    smp_json_string(json, "round_size", text);
    gpu_size_text(row, row->ragged, text, sizeof text);
    smp_json_string(json, "ragged_size", text);
    smp_json_number(json, "cost", gpu_ragged_ratio(result));
    samples(json, "round", &result->round);
    samples(json, "ragged", &result->ragged);
    smp_json_end(json, '}');
}

static void one_row(smp_json *json, const gpu_bench *bench, const gpu_result *result)
{
    const gpu_row *row = result->row;
    const double seconds = gpu_median(&result->kernels), copy = gpu_median(&result->copy);
    char text[64];
    smp_json_object(json, NULL);
    smp_json_string(json, "row", row->name);
    smp_json_string(json, "group", row->group);
    gpu_size_text(row, row->size, text, sizeof text);
    smp_json_string(json, "input", text);
    smp_json_array(json, "statements");
    for (int i = 0; i < GPU_LINES && row->lines[i]; i++)
        smp_json_string(json, NULL, row->lines[i]);
    smp_json_end(json, ']');
    smp_json_string(json, "variants", result->variants);
    smp_json_string(json, "check", result->check);
    smp_json_string(json, "check_at_size", result->at_size[0] ? result->at_size : NULL);
    smp_json_number(json, "bytes", result->bytes);
    smp_json_number(json, "operations", result->ops);
    smp_json_number(json, "gb_per_second", seconds > 0 ? result->bytes / seconds * 1e-9 : (double)NAN);
    smp_json_number(json, "copy_gb_per_second",
                    copy > 0 ? 2 * (double)gpu_source_bytes(row, row->size) / copy * 1e-9 : (double)NAN);
    bars(json, bench, result);
    samples(json, "kernels", &result->kernels);
    samples(json, "whole", &result->whole);
    samples(json, "copy", &result->copy);
    if (result->read[0].count) {
        samples(json, "read_4", &result->read[0]);
        samples(json, "read_8", &result->read[1]);
        samples(json, "read_staying", &result->read[2]);
    }
    peers(json, result);
    ragged(json, result);
    smp_json_number(json, "sm_clock_low_mhz", result->sm_clock_low);
    smp_json_number(json, "sm_clock_high_mhz", result->sm_clock_high);
    smp_json_integer(json, "dropped_rounds", result->dropped);
    smp_json_number(json, "row_seconds", result->seconds);
    smp_json_end(json, '}');
}

smp_code gpu_report_write(const char *path, const gpu_bench *bench, const gpu_result *results, size_t count,
                          const char *const *left_out, size_t left_out_count, smp_error *err)
{
    char beside[512];
    snprintf(beside, sizeof beside, "%s.part", path);
    FILE *to = fopen(beside, "we");
    if (!to)
        return smp_fail(err, SMP_E_WRITE, "cannot write %s: %s", beside, strerror(errno));
    smp_json json;
    smp_json_begin(&json, to, false);
    smp_json_object(&json, NULL);
    environment(&json, bench);
    smp_json_array(&json, "rows");
    for (size_t i = 0; i < count; i++)
        one_row(&json, bench, &results[i]);
    smp_json_end(&json, ']');
    smp_json_array(&json, "left_out");
    for (size_t i = 0; i < left_out_count; i++)
        smp_json_string(&json, NULL, left_out[i]);
    smp_json_end(&json, ']');
    smp_json_end(&json, '}');
    const bool failed = ferror(to) != 0;
    if (fclose(to) != 0 || failed || rename(beside, path) != 0)
        return smp_fail(err, SMP_E_WRITE, "cannot write %s: %s", path, strerror(errno));
    return SMP_OK;
}
