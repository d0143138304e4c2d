/* Counting in the emulator: see model.h. */
#include "compare/internal.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/clock.h"
#include "device/cuda/cuda.h"
#include "device/simt/simt.h"
#include "lab/program_kernels/own.h"

/* An H100's, when no real GPU is given. */
enum { USUAL_UNITS = 132, USUAL_SHARED = 227 * 1024 };

typedef struct copied { /* a picture in the emulator's memory */
    smp_view view;
} copied;

struct smp_model {
    smp_device *device;
    const smp_step *step;
    const smp_node_plan *work; /* the caller's */
    copied in, second;
};

smp_code smp_model_open(const smp_device_info *like, int threads, smp_model **out, smp_error *err)
{
    *out = NULL;
    smp_model *model = smp_alloc(sizeof *model);
    SMP_NEED(model, "the emulator", sizeof *model, err);
    smp_simt_set_threads(threads);
    smp_own_count_launches(false);
    smp_code code = smp_cuda_open(smp_driver_simt(), 0, &model->device, err);
    if (code) {
        smp_free(model);
        return code;
    }
    /* Kernels choose grids by the device's SMs and shared memory: give them the real device's numbers. */
    model->device->info.units = like ? like->units : USUAL_UNITS;
    model->device->info.shared_per_block = like ? like->shared_per_block : USUAL_SHARED;
    if (like) {
        model->device->info.compute_major = like->compute_major;
        model->device->info.compute_minor = like->compute_minor;
    }
    *out = model;
    return SMP_OK;
}

static void drop(smp_model *model, copied *picture)
{
    if (picture->view.data)
        model->device->ops->free(model->device, picture->view.data);
    *picture = (copied){{0}};
}

void smp_model_close(smp_model *model)
{
    if (!model)
        return;
    drop(model, &model->in);
    drop(model, &model->second);
    smp_device_close(model->device);
    smp_free(model);
}

void smp_model_text(const smp_model *model, char *text, size_t size)
{
    const smp_device_info *info = &model->device->info;
    snprintf(text, size, "a GPU of compute capability %d.%d with %d SMs", info->compute_major, info->compute_minor,
             info->units);
}

/* A device with its own memory: copies through host memory, some rows at a time. */
static smp_code move_rows(smp_model *model, smp_device *device, const smp_view *from, const smp_view *to, int64_t bytes,
                          smp_error *err)
{
    enum { PIECE = 16 << 20 };
    const smp_device_ops *ops = model->device->ops;
    if (device->host_memory)
        return ops->copy_in(model->device, to->data, to->stride, from->data, from->stride, bytes, from->rows, err);
    int64_t most = smp_clamp_i64(PIECE / smp_max_i64(1, bytes), 1, smp_max_i64(1, from->rows));
    void *piece = smp_alloc_raw((size_t)(most * bytes));
    smp_code code = piece ? SMP_OK : smp_fail_memory(err, "rows", (uint64_t)(most * bytes));
    for (int64_t y = 0; !code && y < from->rows; y += most) {
        int64_t rows = smp_min_i64(most, from->rows - y);
        code = device->ops->copy_out(device, piece, bytes, (char *)from->data + y * from->stride, from->stride, bytes,
                                     rows, err);
        if (!code)
            code = ops->copy_in(model->device, (char *)to->data + y * to->stride, to->stride, piece, bytes, bytes, rows,
                                err);
    }
    smp_free(piece);
    return code;
}

static smp_code copy_picture(smp_model *model, smp_device *device, const smp_view *from, copied *to, smp_error *err)
{
    drop(model, to);
    if (!from->data)
        return SMP_OK;
    int64_t bytes = from->width * from->channels * smp_sample_size(from->format);
    smp_view view = *from;
    size_t size;
    SMP_NEED(smp_mul_size((size_t)from->rows, (size_t)from->stride, &size), "a picture", UINT64_MAX, err);
    SMP_TRY(model->device->ops->alloc(model->device, size, &view.data, err));
    to->view = view;
    return move_rows(model, device, from, &view, bytes, err);
}

smp_code smp_model_load(smp_model *model, const smp_step *step, const smp_node_plan *work, smp_device *device,
                        const smp_view *in, const smp_view *second, smp_error *err)
{
    model->step = step;
    model->work = work;
    SMP_TRY(copy_picture(model, device, in, &model->in, err));
    return copy_picture(model, device, second, &model->second, err);
}

smp_view smp_view_rows(const smp_view *whole, int64_t first, int64_t count)
{
    smp_view view = *whole;
    if (view.data) {
        view.data = smp_row(whole, first);
        view.y0 = first;
        view.rows = count;
    }
    return view;
}

smp_code smp_model_count(smp_model *model, const smp_variant *variant, int64_t from, int64_t rows, smp_trace *trace,
                         smp_error *err)
{
    const smp_step *step = model->step;
    const smp_device_ops *ops = model->device->ops;
    smp_step_run run = {0};
    void *memory = NULL;
    smp_view in, out = smp_view_rows(&model->in.view, from, rows), second = {0};
    int64_t first, count;
    smp_step_reads(step, model->in.view.height, from, from + rows, &first, &count);
    in = smp_view_rows(&model->in.view, first, count);
    if (model->second.view.data) {
        smp_step_reads_second(step, model->second.view.height, from, from + rows, &first, &count);
        second = smp_view_rows(&model->second.view, first, count);
    }
    smp_code code = smp_step_open(&run, model->device, step, model->work, variant, err);
    if (!code && step->job == SMP_JOB_STAGE) {
        int64_t stride = smp_row_stride(&step->out, step->storage);
        size_t size;
        if (!smp_mul_size((size_t)rows, (size_t)stride, &size))
            code = smp_fail_memory(err, "a picture", UINT64_MAX);
        else
            code = ops->alloc(model->device, size, &memory, err);
        out = smp_view_of(&step->out, step->storage, memory, stride, from, from, rows);
    }
    code = code ? code : smp_step_scratch(&run, (smp_format)in.format, in.rows, err);
    code = code ? code : smp_simt_open_traced(err);
    if (!code) {
        smp_simt_set_trace(trace);
        code = smp_step_launch(&run, &in, &out, &second, err);
        smp_simt_set_trace(NULL);
    }
    code = code ? code : ops->sync(model->device, err);
    if (!code && trace->problem.code) {
        code = trace->problem.code;
        if (err)
            *err = trace->problem;
    }
    if (memory)
        ops->free(model->device, memory);
    smp_step_close(&run);
    return code;
}

int64_t smp_model_unit(const smp_step *step, int64_t row_multiple)
{
    enum { BLOCK_ROWS = 64, WORTH = 1 << 16 }; /* samples */
    int64_t row = smp_max_i64(1, step->out.width * step->out.channels), unit = smp_max_i64(BLOCK_ROWS, row_multiple);
    while (unit * row < WORTH && unit < step->out.height)
        unit *= 2;
    return unit;
}

smp_code smp_model_rows(smp_model *model, const smp_variant *const *variants, size_t count, int64_t row_multiple,
                        double seconds, int64_t *from, int64_t *rows, smp_error *err)
{
    int64_t height = model->step->out.height, unit = smp_model_unit(model->step, row_multiple);
    *from = 0;
    *rows = height;
    if (unit >= height)
        return SMP_OK;
    double start = smp_now();
    for (size_t i = 0; i < count; i++) {
        smp_trace trace = {.counts_only = true, .sass = true};
        smp_error own = {.code = SMP_OK};
        smp_code code = smp_model_count(model, variants[i], 0, unit, &trace, &own);
        smp_trace_free(&trace);
        if (code && code != SMP_E_DEVICE) {
            if (err)
                *err = own;
            return code;
        }
    }
    double each = (smp_now() - start) / (double)unit, fits = each > 0 ? seconds / each : (double)height;
    if (fits >= (double)height)
        return SMP_OK;
    *rows = smp_max_i64(1, (int64_t)fits / unit) * unit;
    *from = (height - *rows) / 2 / unit * unit;
    return SMP_OK;
}
