/* From --device to the devices of a batch: see devices.h. */
#include "batch/runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/pool.h"
#include "pipe/plan/plan.h"

static smp_code add_gpu(smp_batch_devices *devices, int index, smp_error *err)
{
    if (devices->count == SMP_BATCH_DEVICES)
        return smp_fail(err, SMP_E_USAGE, "more than %d devices", SMP_BATCH_DEVICES);
    int n = devices->count++;
    snprintf(devices->specs[n], sizeof devices->specs[n], "cuda:%d", index);
    return SMP_OK;
}

/* Takes the processors for any name but a GPU's; opening the device reports a wrong name. */
static void take_processors(smp_batch_devices *devices, const char *spec)
{
    devices->cpu = true;
    snprintf(devices->processors, sizeof devices->processors, "%.*s", (int)sizeof devices->processors - 1, spec);
}

/* Adds those that there are; missing: why some cannot be used, or "". */
static smp_code add_all_gpus(smp_batch_devices *devices, char missing[256], smp_error *err)
{
    smp_device_info *list = NULL;
    size_t count = 0;
    missing[0] = '\0';
    smp_code code = smp_device_list(&list, &count, missing, 256, err);
    for (size_t i = 0; !code && i < count; i++)
        if (!strcmp(list[i].kind, "cuda"))
            code = add_gpu(devices, list[i].index, err);
    smp_free(list);
    return code;
}

static smp_code add_gpus(smp_batch_devices *devices, const char *numbers, smp_error *err)
{
    for (const char *at = numbers;; at++) {
        char *end;
        long index = strtol(at, &end, 10);
        if (end == at || index < 0 || index > 1023 || (*end && *end != ','))
            return smp_fail(err, SMP_E_USAGE, "'cuda:%.40s' is not a valid device", numbers),
                   smp_hint(err, "write cuda for all GPUs, cuda:0 for one, cuda:0,2 for some");
        smp_code code = add_gpu(devices, (int)index, err);
        if (code || !*end)
            return code;
        at = end;
    }
}

/* Whether files of that format, or of that name, take time to decode and code. Null: there is none. */
static int coded(const char *name)
{
    const char *dot = name ? strrchr(name, '.') : NULL;
    return name && strcasecmp(dot ? dot + 1 : name, "npy") != 0;
}

/* Estimates the cost of all files, as if they were like the first that can be read. */
static void guess_work(const smp_batch_request *request, smp_device_request *ask)
{
    enum { TRIES = 8 };
    const double files =
        (double)(request->more && request->expected > request->count ? request->expected : request->count);
    for (size_t i = 0; i < request->count && i < TRIES; i++) {
        smp_reader *reader;
        smp_error unread = {.code = SMP_OK};
        struct stat status;
        if (!strcmp(request->files[i].input, "-") || stat(request->files[i].input, &status) != 0 ||
            !S_ISREG(status.st_mode)) /* can be read once only */
            continue;
        if (smp_reader_open(request->files[i].input, &request->read, &reader, &unread))
            continue;
        const smp_media *media = smp_reader_media(reader);
        const smp_shape *shape = &media->shape;
        const double pixels = (double)shape->width * (double)shape->height;
        const bool large = request->gpu_jpeg && pixels >= (double)request->gpu_jpeg;
        const bool from = large && !strcmp(media->file_format, "JPEG");
        const bool to = large && request->files[i].output && smp_writer_is(request->files[i].output, NULL, "JPEG");
        double samples = (double)shape->width * (double)shape->height * shape->channels * files;
        ask->work_bytes = samples * 2 * (double)sizeof(float) * (double)request->program->node_count;
        ask->operations = files * smp_program_operations(request->program, shape, request->files[i].output);
        ask->transfer_bytes = samples * (2 - from - to) * (double)smp_sample_size((int)shape->format);
        ask->jpeg_pixels = pixels * (from + to) * files;
        ask->codec_bytes = samples * (coded(media->file_format) + coded(request->files[i].output) - from - to) *
                           (double)smp_sample_size((int)shape->format);
        smp_reader_close(reader);
        return;
    }
}

/* Whether GPUs would decode and code what is guessed, with nothing left for processors. */
static bool is_jpegs(const smp_device_request *guess)
{
    return guess->jpeg_pixels > 0 && guess->codec_bytes <= 0;
}

/* Processors begin at once, since finding and opening GPUs takes its time. */
static void choose(const smp_batch_request *request, smp_batch_devices *devices, char *note, size_t note_size)
{
    smp_device_request ask = {.spec = "auto", .threads = request->threads, .isa = request->isa};
    ask.gpus = smp_device_likely_gpus();
    double cpu, gpu;
    const int threads = request->threads > 0 ? request->threads : smp_pool_cores();
    take_processors(devices, "cpu");
    guess_work(request, &ask);
    smp_device_times(&ask, threads, &cpu, &gpu);
    devices->later = !request->isa && gpu < cpu && ask.gpus > 0;
    devices->gpu = devices->later;
    devices->jpegs = devices->gpu && is_jpegs(&ask);
    if (note && devices->later)
        snprintf(note, note_size, "auto: about %.2g s of work for processors, %.2g s for a GPU with its start", cpu,
                 gpu);
    else if (note && gpu < cpu && !request->isa)
        snprintf(note, note_size, "auto: cpu, no GPU is there that would pay (about %.2g s instead of %.2g s)", gpu,
                 cpu);
    else if (note)
        snprintf(note, note_size, "auto: cpu, about %.2g s of work; a GPU would take %.2g s, its start included", cpu,
                 gpu);
}

void smp_batch_devices_look(smp_batch_devices *devices, char *note, size_t note_size)
{
    char missing[256];
    devices->later = false;
    (void)add_all_gpus(devices, missing, NULL);
    if (missing[0])
        devices->count = 0;
    devices->gpu = devices->count > 0;
    if (!devices->count && note)
        snprintf(note, note_size, "auto: cpu, no GPU can be used: %s", missing);
}

smp_code smp_batch_devices_find(const smp_batch_request *request, smp_batch_devices *devices, char *note,
                                size_t note_size, smp_error *err)
{
    const char *spec = request->device ? request->device : "auto";
    smp_device_request guess = {.spec = spec};
    char missing[256];
    *devices = (smp_batch_devices){.processors = "cpu"};
    if (!strcmp(spec, "auto")) {
        choose(request, devices, note, note_size);
        return SMP_OK;
    }
    devices->cpu = !strncmp(spec, "cpu,", 4);
    if (devices->cpu)
        spec += 4;
    if (!strcmp(spec, "simt")) {
        devices->gpu = devices->emulated = true;
        snprintf(devices->specs[devices->count++], sizeof devices->specs[0], "simt");
        return SMP_OK;
    }
    if (strncmp(spec, "cuda", 4) != 0 || (spec[4] && spec[4] != ':')) {
        take_processors(devices, request->device);
        return SMP_OK;
    }
    devices->gpu = true;
    smp_code code = spec[4] ? add_gpus(devices, spec + 5, err) : add_all_gpus(devices, missing, err);
    if (!code && !devices->count)
        code = add_gpu(devices, 0, err); /* opening it says what is missing */
    if (!code)
        guess_work(request, &guess);
    devices->jpegs = is_jpegs(&guess);
    return code;
}
