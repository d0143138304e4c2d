/* Opens devices by name, decides what `auto` means, and lists devices. */
#include "device/device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "device/cpu.h"
#include "device/cuda/cuda.h"
#include "device/simt/simt.h"

/* Parses cuda or cuda:N; false when spec is something else. *index is -1 when N is not a number. */
static bool names_cuda(const char *spec, int *index)
{
    *index = 0;
    if (strncmp(spec, "cuda", 4) != 0 || (spec[4] && spec[4] != ':'))
        return false;
    if (spec[4]) {
        char *end;
        long n = strtol(spec + 5, &end, 10);
        *index = spec[5] >= '0' && spec[5] <= '9' && !*end && n < 1024 ? (int)n : -1;
    }
    return true;
}

/* Never falls back to the CPU: a user who asks for a GPU is told why there is none. */
static smp_code open_cuda(const char *spec, int index, smp_device **out, smp_error *err)
{
    smp_driver *driver;
    if (index < 0)
        return smp_fail(err, SMP_E_USAGE, "'%s' is not a valid device", spec),
               smp_hint(err, "write cuda, or cuda:0, cuda:1, ... as `smempipe devices` lists them");
    smp_code code = smp_driver_cuda(&driver, err);
    if (code && smp_cuda_built(NULL)) /* without kernels a driver would not help */
        return smp_cuda_built(err);
    return code ? code : smp_cuda_open(driver, index, out, err);
}

/* Rates are bytes a second. A core moves 3e9 through a stage such as a box blur (point stages move more, wide stencils
 * less), and about ten cores saturate a desktop's memory bus. A GPU is on PCIe 4 x16. A mid-range card's stages move
 * 500e9. The start time is that of a context on an H100; of four H200 the driver takes 0.9 s, whichever of them it is.
 */
/* A core decodes and codes 180e6 bytes of PNGs a second; a tenth fewer beside a GPU, which it drives. */
static const double codec_rate_thread = 180e6, codec_beside_gpu = 1.1;

/* Operations a second: of a core with vectors of 8 floats (a blur of 20 px takes 0.75 s for 35e9), of a mid-range card.
 */
static const double cpu_operations_thread = 45e9, gpu_operations = 5e12;

/* A core decodes or codes 250e6 pixels of JPEGs a second (libjpeg-turbo: 130e6 to 290e6), a card 10e9 (an H100 11e9 to
 * 45e9). */
static const double cpu_rate_thread = 3e9, cpu_rate_most = 30e9, link_rate = 24e9, gpu_rate = 500e9, gpu_start = 0.35,
                    gpu_start_more = 0.2, jpeg_rate_thread = 250e6, jpeg_rate_gpu = 10e9;

static double start_of(const smp_device_request *request)
{
    return gpu_start + (request->gpus > 1 ? gpu_start_more * (request->gpus - 1) : 0);
}

void smp_device_times(const smp_device_request *request, int threads, double *cpu, double *gpu)
{
    const double cores = threads > 0 ? threads : 1, rate = cpu_rate_thread * cores;
    *cpu = request->work_bytes / (rate < cpu_rate_most ? rate : cpu_rate_most) +
           request->operations / (cpu_operations_thread * cores) + request->jpeg_pixels / (jpeg_rate_thread * cores) +
           request->codec_bytes / (codec_rate_thread * cores);
    *gpu = start_of(request) + request->transfer_bytes / link_rate + request->work_bytes / gpu_rate +
           request->operations / gpu_operations + request->jpeg_pixels / jpeg_rate_gpu +
           codec_beside_gpu * request->codec_bytes / (codec_rate_thread * cores);
}

int smp_device_likely_gpus(void)
{
    enum { MOST = 16 };
    char path[32];
    int count = 0;
    if (access("/dev/nvidiactl", F_OK) != 0)
        return access("/dev/dxg", F_OK) == 0; /* Windows' */
    for (int i = 0; i < MOST; i++) {
        snprintf(path, sizeof path, "/dev/nvidia%d", i);
        count += access(path, F_OK) == 0;
    }
    return count > 1 ? count : 1;
}

/* Tells from how many files like this one on a GPU would pay. */
static void say_when(const smp_device_request *request, double cpu, double gpu, char *note, size_t note_size)
{
    enum { MANY = 1000000 };
    const double start = start_of(request), saved = cpu - (gpu - start), files = saved > 0 ? ceil(start / saved) : MANY;
    if (request->isa)
        snprintf(note, note_size, "auto: cpu, for --isa is given");
    else if (!(request->work_bytes > 0))
        snprintf(note, note_size, "auto: cpu, how much work it is is not known");
    else if (files < MANY)
        snprintf(note, note_size,
                 "auto: cpu, about %.2g s of work; a GPU would take %.2g s, its start included, and pay in a batch of "
                 "some %.0f such files",
                 cpu, gpu, fmax(files, 2));
    else
        snprintf(note, note_size,
                 "auto: cpu, about %.2g s of work; a GPU would take %.2g s, and no number of such files "
                 "would pay for its start",
                 cpu, gpu);
}

static smp_code open_auto(const smp_device_request *request, smp_device **out, char *note, size_t note_size,
                          smp_error *err)
{
    smp_device_info processor;
    smp_error why = {.code = SMP_OK};
    double cpu, gpu;
    smp_cpu_info(&processor);
    int threads = request->threads > 0 ? request->threads : processor.units;
    smp_device_request here = *request;
    here.gpus = smp_device_likely_gpus();
    smp_device_times(&here, threads, &cpu, &gpu);
    if (request->isa || cpu <= gpu)
        say_when(&here, cpu, gpu, note, note_size);
    else if (open_cuda("cuda", 0, out, &why) == SMP_OK) {
        snprintf(note, note_size, "auto: cuda, about %.2g s with its start; the CPU would take %.2g s", gpu, cpu);
        return SMP_OK;
    } else
        snprintf(note, note_size, "auto: cpu, no GPU can be used: %s", why.message);
    return smp_cpu_open(request->threads, request->isa, out, err);
}

smp_code smp_device_open(const smp_device_request *request, smp_device **out, char *note, size_t note_size,
                         smp_error *err)
{
    const char *spec = request->spec ? request->spec : "auto";
    *out = NULL;
    if (note && note_size)
        note[0] = '\0';
    if (!strcmp(spec, "cpu"))
        return smp_cpu_open(request->threads, request->isa, out, err);
    if (!strcmp(spec, "auto")) {
        char unread[1];
        return open_auto(request, out, note ? note : unread, note ? note_size : sizeof unread, err);
    }
    int index;
    if (names_cuda(spec, &index))
        return open_cuda(spec, index, out, err);
    if (!strcmp(spec, "simt")) {
        smp_simt_set_threads(request->threads);
        return smp_cuda_open(smp_driver_simt(), 0, out, err);
    }
    smp_fail(err, SMP_E_USAGE, "unknown device '%s'", spec);
    return smp_hint(err, "devices are: auto, cpu, cuda, cuda:N, simt");
}

void smp_device_close(smp_device *device)
{
    if (device)
        device->ops->close(device);
}

smp_code smp_device_list(smp_device_info **out, size_t *count, char *missing, size_t missing_size, smp_error *err)
{
    *count = 0;
    if (missing && missing_size)
        missing[0] = '\0';
    smp_error why = {.code = SMP_OK};
    smp_driver *driver = NULL;
    int gpus = 0;
    smp_code code = smp_driver_cuda(&driver, &why);
    code = code ? code : smp_cuda_count(driver, &gpus, &why);
    if (!code && gpus)
        code = smp_cuda_kernels(&why); /* lists the GPUs anyway */
    *out = smp_alloc_array((size_t)gpus + 2, sizeof **out);
    SMP_NEED(*out, "the list of devices", ((size_t)gpus + 2) * sizeof **out, err);
    smp_cpu_info(&(*out)[(*count)++]);
    for (int i = 0; i < gpus; i++)
        if (smp_cuda_info(driver, i, &(*out)[*count], &why) == SMP_OK)
            (*count)++;
    if (smp_cuda_info(smp_driver_simt(), 0, &(*out)[*count], &why) == SMP_OK)
        (*count)++;
    if (code && missing && missing_size)
        snprintf(missing, missing_size, "cuda: %s", why.message);
    return SMP_OK;
}
