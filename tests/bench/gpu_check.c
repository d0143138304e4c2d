/* Checking results: see gpu_check.h. */
#include "gpu_check.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"

static int64_t row_bytes(const smp_view *view)
{
    return view->width * view->channels * smp_sample_size(view->format);
}

/* ------------------------------------------------------------------------------------------------ counting */

static int64_t differing(const unsigned char *a, const unsigned char *b, int64_t size)
{
    int64_t count = 0;
    for (int64_t i = 0; i < size; i++)
        count += a[i] != b[i];
    return count;
}

/* Through the host's memory. */
static smp_code count_at_home(gpu_bench *bench, const smp_view *a, const smp_view *b, int64_t *count, smp_error *err)
{
    smp_device *device = bench->device;
    const int64_t bytes = row_bytes(a), size = bytes * a->rows;
    unsigned char *x = smp_alloc_raw((size_t)size), *y = smp_alloc_raw((size_t)size);
    smp_code code = x && y ? SMP_OK : smp_fail_memory(err, "pictures", (uint64_t)(2 * size));
    if (!code)
        code = device->ops->copy_out(device, x, bytes, a->data, a->stride, bytes, a->rows, err);
    if (!code)
        code = device->ops->copy_out(device, y, bytes, b->data, b->stride, bytes, b->rows, err);
    if (!code)
        *count = differing(x, y, size);
    smp_free(x);
    smp_free(y);
    return code;
}

smp_code gpu_count_differences(gpu_bench *bench, const smp_view *a, const smp_view *b, int64_t *count, smp_error *err)
{
    enum { MOST = 64 << 20 };
    smp_device *device = bench->device;
    const int64_t bytes = row_bytes(a);
    uint64_t found = 0;
    *count = -1;
    if (!bench->cub)
        return bytes * a->rows <= MOST ? count_at_home(bench, a, b, count, err) : SMP_OK;
    smp_code code = device->ops->zero(device, bench->results, sizeof found, err);
    if (code)
        return code;
    int error = bench->cub->differences(a->data, a->stride, b->data, b->stride, bytes, a->rows, bench->results,
                                        bench->handles.stream);
    if (error)
        return smp_fail(err, SMP_E_DEVICE, "comparing pictures: %s", bench->cub->error_text(error));
    code = device->ops->copy_out(device, &found, sizeof found, bench->results, sizeof found, sizeof found, 1, err);
    *count = (int64_t)found;
    return code;
}

/* ------------------------------------------------------------------------------------------------ small */

/* Runs work once and waits. */
static smp_code run(gpu_work *work, smp_error *err)
{
    double seconds;
    smp_code code = gpu_work_reset(work, err);
    if (!code)
        code = gpu_work_launch(work, err);
    return code ? code : gpu_work_seconds(work, &seconds, err);
}

static smp_code compare_measurements(gpu_work *got, gpu_work *want, char *text, size_t size, smp_error *err)
{
    char *ours = NULL, *theirs = NULL;
    smp_code code = gpu_work_found(got, &ours, err);
    if (!code)
        code = gpu_work_found(want, &theirs, err);
    if (!code && (!ours != !theirs || (ours && strcmp(ours, theirs) != 0))) {
        const char *a = ours ? ours : "", *b = theirs ? theirs : "";
        while (*a && *a == *b)
            a++, b++;
        snprintf(text, size, "other findings: ...%.40s, not ...%.40s", a, b);
        for (char *p = text; *p; p++)
            *p = *p == '\n' ? ' ' : *p;
    }
    smp_free(ours);
    smp_free(theirs);
    return code;
}

/* The result in device memory against one in the host's, of the same layout. */
static smp_code compare_picture(gpu_work *got, const smp_view *want, unsigned char *home, char *text, size_t size,
                                smp_error *err)
{
    const smp_view out = gpu_work_result(got);
    const int64_t bytes = row_bytes(want), sample = smp_sample_size(want->format);
    smp_device *device = got->device;
    smp_code code = device->ops->copy_out(device, home, want->stride, out.data, out.stride, bytes, out.rows, err);
    for (int64_t y = 0; !code && y < want->rows; y++) {
        const unsigned char *a = home + y * want->stride, *b = (const unsigned char *)want->data + y * want->stride;
        for (int64_t i = 0; i < bytes; i++)
            if (a[i] != b[i]) {
                snprintf(text, size, "at x %lld, y %lld: %g, not %g", (long long)(i / sample / want->channels),
                         (long long)y, (double)smp_load(a, i / sample, want->format),
                         (double)smp_load(b, i / sample, want->format));
                return SMP_OK;
            }
    }
    return code;
}

/* One variant on the device against what the CPU made. */
static smp_code check_variant(gpu_bench *bench, const gpu_row *row, const char *variant, void *source, gpu_work *cpu,
                              char *text, size_t size, smp_error *err)
{
    smp_device *device = bench->device;
    const smp_view want = gpu_work_result(cpu);
    const bool picture = cpu->last > 0;
    const int64_t bytes = want.stride * want.rows;
    gpu_work work = {0};
    char wrong[GPU_TEXT] = "";
    unsigned char *home = NULL;
    smp_code code = gpu_work_open(&work, device, row, row->small, variant, source, NULL, err);
    if (!code && picture) {
        home = smp_alloc_raw((size_t)bytes);
        code = home ? SMP_OK : smp_fail_memory(err, "a picture", (uint64_t)bytes);
        for (int64_t i = 0; !code && i < bytes; i++)
            home[i] = (unsigned char)~((const unsigned char *)want.data)[i];
        if (!code)
            code = device->ops->copy_in(device, gpu_work_result(&work).data, bytes, home, bytes, bytes, 1, err);
    }
    if (!code)
        code = run(&work, err);
    if (!code && picture)
        code = compare_picture(&work, &want, home, wrong, sizeof wrong, err);
    if (!code && !wrong[0])
        code = compare_measurements(&work, cpu, wrong, sizeof wrong, err);
    if (!code && wrong[0]) {
        char names[80];
        gpu_work_variants(&work, names, sizeof names);
        snprintf(text, size, "%s: %.120s", names, wrong);
    }
    gpu_work_close(&work);
    smp_free(home);
    return code;
}

smp_code gpu_check_small(gpu_bench *bench, const gpu_row *row, char *text, size_t size, smp_error *err)
{
    smp_device *device = bench->device;
    const size_t bytes = gpu_source_bytes(row, row->small);
    void *source = NULL;
    text[0] = '\0';
    smp_code code = device->ops->alloc(device, bytes, &source, err);
    if (!code)
        code =
            device->ops->copy_in(device, source, (int64_t)bytes, bench->block, (int64_t)bytes, (int64_t)bytes, 1, err);
    gpu_work cpu = {0};
    if (!code)
        code = gpu_work_open(&cpu, bench->cpu, row, row->small, "naive", bench->block, NULL, err);
    if (!code)
        code = run(&cpu, err);
    for (int plain = 0; !code && !text[0] && plain < 2; plain++)
        code = check_variant(bench, row, plain ? "naive" : NULL, source, &cpu, text, size, err);
    gpu_work_close(&cpu);
    if (source)
        device->ops->free(device, source);
    if (!code && !text[0])
        snprintf(text, size, "right");
    return code;
}

/* ------------------------------------------------------------------------------------------------ large */

smp_code gpu_check_large(gpu_bench *bench, const gpu_row *row, gpu_work *ours, gpu_work *plain, char *text, size_t size,
                         smp_error *err)
{
    enum { OURS = 0x5a, THEIRS = 0xa5 };
    text[0] = '\0';
    smp_code code = gpu_work_open(plain, bench->device, row, row->size, "naive", bench->source, NULL, err);
    if (code == SMP_E_DEVICE_MEMORY) {
        gpu_work_close(plain);
        return SMP_OK;
    }
    if (!code)
        code = gpu_work_poison(ours, OURS, err);
    if (!code)
        code = gpu_work_poison(plain, THEIRS, err);
    if (!code)
        code = run(plain, err);
    if (!code)
        code = run(ours, err);
    int64_t count = -1;
    if (!code && ours->last > 0) {
        const smp_view a = gpu_work_result(ours), b = gpu_work_result(plain);
        code = gpu_count_differences(bench, &a, &b, &count, err);
        if (!code && count > 0)
            snprintf(text, size, "%lld bytes are not naive's", (long long)count);
    } else if (!code) {
        count = 0;
        code = compare_measurements(ours, plain, text, size, err);
    }
    if (!code && !text[0] && count == 0)
        snprintf(text, size, "right");
    return code;
}
