/* Runs of the library: over pictures in memory and from file to file. */
#include <string.h>

#include "api/api.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "run/run.h"
#include "run/run_internal.h"

static smp_code check_options(const smempipe_file_options *options, smp_error *err)
{
    if (options && (options->quality < 0 || options->quality > 100))
        return smp_fail(err, SMP_E_USAGE, "a quality of %d: it is 1 to 100, or 0 for the default", options->quality);
    if (options && options->page < 0)
        return smp_fail(err, SMP_E_USAGE, "page %lld: pages count from 1, and 0 is the first too",
                        (long long)options->page);
    return SMP_OK;
}

static const smp_read_options *library_reading(smp_read_options *how, const smempipe_file_options *options)
{
    *how = smp_read_defaults();
    how->limits.max_memory = 0; /* it would count the whole process */
    how->memory_meant = true;
    if (options && options->max_pixels)
        how->limits.max_pixels = options->max_pixels;
    if (options && options->max_file)
        how->limits.max_file = options->max_file;
    if (options)
        how->page = options->page;
    return how;
}

smp_code smp_api_run(const smempipe_pipeline *pipeline, const smp_plan *plan, smp_device *device, smp_endpoint *source,
                     smp_endpoint *sinks, smempipe_result **result, smp_error *err)
{
    smp_read_options how;
    smp_run_report report = {.device = device->info, .threads = device->info.units};
    const smp_run_request request = {.program = pipeline->program, .diags = (smp_diags *)(uintptr_t)&pipeline->diags};
    const smp_runner_setup setup = {
        .plan = plan, .device = device, .read = library_reading(&how, NULL), .source = source, .sinks = sinks};
    const double start = smp_now();
    int failed;
    smp_code code = smp_runner_run(&setup, &report, &failed, err);
    smp_run_blame(&request, plan, failed, code, err); /* reads the diagnostics' sources alone */
    report.wall_seconds = smp_now() - start;
    report.shape = plan->steps[0].out;
    smp_shape_text(&report.shape, report.shape.format, report.shape_in, sizeof report.shape_in);
    if (plan->sink_count)
        smp_shape_text(&plan->sinks[0].shape, plan->sinks[0].shape.format, report.shape_out, sizeof report.shape_out);
    if (!code && result) {
        smp_run_locate(&request, &report);
        code = smp_api_result(&report, result, err);
    }
    smp_run_report_free(&report);
    return code;
}

/* ------------------------------------------------------------------------------------------------ memory */

/* Whether the buffer's memory can be one picture of its shape, and its view. */
static smp_code view_buffer(const smempipe_buffer *buffer, const char *which, smp_view *view, smp_error *err)
{
    int64_t row;
    size_t all;
    const smempipe_shape *shape = &buffer->shape;
    const int64_t sample = smp_sample_size(shape->format);
    SMP_TRY(smp_api_shape(shape, &(smp_shape){.kind = SMP_KIND_NONE}, err));
    (void)smp_api_bytes(shape, &row, &all);
    const int64_t stride = buffer->stride ? buffer->stride : row;
    if (!buffer->data)
        return smp_fail(err, SMP_E_USAGE, "the %s has no samples: its data is null", which);
    if ((uintptr_t)buffer->data % (uintptr_t)sample)
        return smp_fail(err, SMP_E_USAGE, "the %s's data is not aligned to its samples of %lld bytes", which,
                        (long long)sample);
    if (stride < row || stride % sample) {
        smp_fail(err, SMP_E_USAGE, "the %s's stride of %lld bytes is none for rows of %lld bytes and samples of %lld",
                 which, (long long)stride, (long long)row, (long long)sample);
        return smp_hint(err, "rows are interleaved, top to bottom: copy pictures that lie otherwise");
    }
    *view = (smp_view){.data = buffer->data,
                       .stride = stride,
                       .width = shape->width,
                       .height = shape->height,
                       .rows = shape->height,
                       .channels = shape->channels,
                       .format = shape->format,
                       .white = smp_white((smp_format)shape->format),
                       .alpha = shape->alpha};
    return SMP_OK;
}

static bool same_shape(const smempipe_shape *a, const smempipe_shape *b)
{
    return a->kind == b->kind && a->format == b->format && a->width == b->width && a->height == b->height &&
           a->channels == b->channels && a->alpha == b->alpha &&
           (a->kind != SMEMPIPE_SOUND || (a->rate >= b->rate && a->rate <= b->rate));
}

static smp_code check_shape(const smempipe_shape *given, const smempipe_shape *wanted, const char *which,
                            smp_error *err)
{
    if (same_shape(given, wanted))
        return SMP_OK;
    smp_fail(err, SMP_E_USAGE, "the %s has %lld x %lld x %d samples of format %d, the plan's %lld x %lld x %d of %d",
             which, (long long)given->width, (long long)given->height, given->channels, given->format,
             (long long)wanted->width, (long long)wanted->height, wanted->channels, wanted->format);
    return smp_hint(err, "a plan is for one shape, and smempipe_plan_output is that of its output");
}

/* Rows of one pixel have no gaps in what kernels write: see smp_row_stride. */
static bool has_gaps(const smp_view *view)
{
    const int64_t row = view->width * view->channels * smp_sample_size(view->format);
    return view->width == 1 && view->stride != row;
}

/* Whether bytes of both lie between the first and the last of the other. Columns of one picture may be input and
 * output: rows of equal strides, beside each other. */
static bool overlap(const smp_view *a, const smp_view *b)
{
    const smp_view *low = (uintptr_t)a->data <= (uintptr_t)b->data ? a : b, *high = low == a ? b : a;
    const int64_t row = low->width * low->channels * smp_sample_size(low->format),
                  upper = high->width * high->channels * smp_sample_size(high->format);
    const uintptr_t apart = (uintptr_t)high->data - (uintptr_t)low->data, stride = (uintptr_t)low->stride;
    if (apart >= (uintptr_t)((low->height - 1) * low->stride + row))
        return false;
    return low->stride != high->stride || apart % stride < (uintptr_t)row || apart % stride + (uintptr_t)upper > stride;
}

/* Finds out where a buffer lies, and waits until its writer is done. */
static smp_code reach(smp_device *device, const smempipe_buffer *buffer, const char *which, smp_endpoint *endpoint,
                      smp_error *err)
{
    endpoint->on_device = buffer && buffer->on_device;
    if (!endpoint->on_device)
        return SMP_OK;
    if (device->host_memory)
        return smp_fail(err, SMP_E_USAGE, "the %s lies on a GPU, and the device is %s", which, device->info.kind);
    return device->ops->wait(device, buffer->stream, err);
}

static smp_code run_views(const smempipe_pipeline *pipeline, const smp_plan *plan, smp_device *device,
                          smp_endpoint source, smp_endpoint sink, smempipe_result **result, smp_error *err)
{
    const smp_view whole = sink.view, *out = &whole;
    smp_view *to = &sink.view;
    void *dense = NULL;
    const size_t row = (size_t)(out->width * out->channels * smp_sample_size(out->format));
    if (out->data && has_gaps(out)) {
        dense = smp_alloc_array((size_t)out->height, row);
        SMP_NEED(dense, "a sound", (uint64_t)out->height * row, err);
        to->data = dense;
        to->stride = (int64_t)row;
    }
    smp_code code = smp_api_run(pipeline, plan, device, &source, &sink, result, err);
    for (int64_t y = 0; dense && !code && y < out->height; y++)
        memcpy((char *)out->data + y * out->stride, (char *)dense + (size_t)y * row, row);
    smp_free(dense);
    return code;
}

smempipe_code smempipe_plan_run(const smempipe_plan *plan, smempipe_device *device, const smempipe_buffer *in,
                                const smempipe_buffer *out, smempipe_result **result, smempipe_error **error)
{
    smp_error err = {.code = SMP_OK};
    smp_view from, to = {.data = NULL};
    if (error)
        *error = NULL;
    if (result)
        *result = NULL;
    if (!plan || !device || !in)
        return smp_api_wrong(error, "a null where a plan, a device and a picture belong");
    const bool writes = plan->plan->sink_count > 0;
    const smempipe_shape wanted = smempipe_plan_output(plan);
    smp_code code = view_buffer(in, "input", &from, &err);
    code = code ? code : check_shape(&in->shape, &plan->shape, "input", &err);
    if (!code && writes && !out)
        code = smp_fail(&err, SMP_E_USAGE, "the plan has an output, and there is no buffer for it");
    if (!code && writes && !(code = view_buffer(out, "output", &to, &err)))
        code = check_shape(&out->shape, &wanted, "output", &err);
    if (!code && writes && !in->on_device == !out->on_device && overlap(&from, &to)) {
        code = smp_fail(&err, SMP_E_USAGE, "the output's memory overlaps the input's");
        smp_hint(&err, "rows are written while others are still read: give the output memory of its own");
    }
    if (!code) {
        smp_endpoint source = {.view = from}, sink = {.view = to};
        pthread_mutex_lock(&device->lock);
        code = reach(device->device, in, "input", &source, &err);
        if (!code && writes)
            code = reach(device->device, out, "output", &sink, &err);
        if (!code && sink.on_device && has_gaps(&to))
            code = smp_fail(&err, SMP_E_USAGE, "rows of one pixel have no gaps in an output on a GPU");
        code = code ? code : run_views(plan->pipeline, plan->plan, device->device, source, sink, result, &err);
        pthread_mutex_unlock(&device->lock);
    }
    return smp_api_fail(error, &err, NULL);
}

/* A picture for the output of a plan, which smempipe_free frees. */
static smp_code make_output(const smp_plan *plan, smempipe_buffer *out, smp_error *err)
{
    size_t all;
    *out = (smempipe_buffer){.data = NULL};
    smp_api_public_shape(&plan->sinks[0].shape, &out->shape);
    SMP_NEED(smp_api_bytes(&out->shape, &out->stride, &all), "the output", UINT64_MAX, err);
    out->data = smp_alloc_raw(all);
    return out->data ? SMP_OK : smp_fail_memory(err, "the output", all);
}

smempipe_code smempipe_run(const smempipe_pipeline *pipeline, smempipe_device *device, const smempipe_buffer *in,
                           smempipe_buffer *out, smempipe_result **result, smempipe_error **error)
{
    smp_error err = {.code = SMP_OK};
    smp_diags diags = {.sources = NULL};
    smp_plan *plan = NULL;
    smp_shape shape;
    smp_view from, to = {.data = NULL};
    if (error)
        *error = NULL;
    if (result)
        *result = NULL;
    if (out)
        *out = (smempipe_buffer){.data = NULL};
    if (!pipeline || !device || !in)
        return smp_api_wrong(error, "a null where a pipeline, a device and a picture belong");
    smp_code code = view_buffer(in, "input", &from, &err);
    if (!code && in->on_device)
        code = smp_fail(&err, SMP_E_USAGE, "memory of a device is for smempipe_plan_run");
    code = code ? code : smp_api_shape(&in->shape, &shape, &err);
    if (!code && !smp_diags_take_sources(&diags, &pipeline->diags))
        code = smp_fail_memory(&err, "a plan", pipeline->diags.source_count);
    if (!code) {
        pthread_mutex_lock(&device->lock);
        code = smp_api_plan(pipeline, &shape, !out, device->device, &from, &diags, &plan, &err);
        if (!code && out && !(code = make_output(plan, out, &err)))
            code = view_buffer(out, "output", &to, &err);
        if (!code)
            code = run_views(pipeline, plan, device->device, (smp_endpoint){.view = from}, (smp_endpoint){.view = to},
                             result, &err);
        pthread_mutex_unlock(&device->lock);
    }
    if (code && out) {
        smp_free(out->data);
        *out = (smempipe_buffer){.data = NULL};
    }
    smempipe_code failed = smp_api_fail(error, &err, &diags);
    smp_plan_free(plan);
    smp_diags_free(&diags);
    return failed;
}

/* ------------------------------------------------------------------------------------------------ files */

static smp_code ask_progress(void *context, int64_t done, int64_t all)
{
    const smempipe_file_options *options = context;
    return options->progress(options->context, done, all) ? SMP_E_INTERRUPTED : SMP_OK;
}

smempipe_code smempipe_run_file(const smempipe_pipeline *pipeline, smempipe_device *device, const char *in,
                                const char *out, const smempipe_file_options *options, smempipe_result **result,
                                smempipe_error **error)
{
    smp_error err = {.code = SMP_OK};
    smp_diags diags = {.sources = NULL};
    smp_run_report report = {.input = NULL};
    if (error)
        *error = NULL;
    if (result)
        *result = NULL;
    if (!pipeline || !device || !in)
        return smp_api_wrong(error, "a null where a pipeline, a device and an input belong");
    if (!strcmp(in, "-") || (out && !strcmp(out, "-")))
        return smp_api_wrong(error, "'-' is not a file: the library leaves standard input and output to the program");
    if (check_options(options, &err))
        return smp_api_fail(error, &err, NULL);
    if (!smp_diags_take_sources(&diags, &pipeline->diags)) {
        smp_fail_memory(&err, "a run", pipeline->diags.source_count);
        smp_diags_free(&diags);
        return smp_api_fail(error, &err, NULL);
    }
    smp_run_request request = {
        .program = pipeline->program, .diags = &diags, .input = in, .output = out, .device = device->device};
    (void)library_reading(&request.read, options);
    request.gpu_jpeg = SMP_GPU_JPEG;
    if (options) {
        request.write.output.force = options->force != 0;
        request.write.strip = options->strip != 0;
        if (options->quality)
            smp_write_set(&request.write.values, &smp_write_quality, options->quality);
        if (options->lossless)
            smp_write_set(&request.write.values, &smp_write_lossless, true);
        request.progress = options->progress ? ask_progress : NULL;
        request.progress_context = (void *)(uintptr_t)options;
    }
    pthread_mutex_lock(&device->lock);
    smp_code code = smp_run_file(&request, &report, &err);
    pthread_mutex_unlock(&device->lock);
    if (code == SMP_E_INTERRUPTED)
        smp_fail(&err, code, "stopped by the caller");
    if (!code && result)
        (void)smp_api_result(&report, result, &err);
    smp_run_report_free(&report);
    smempipe_code failed = smp_api_fail(error, &err, &diags);
    smp_diags_free(&diags);
    return failed;
}

smempipe_code smempipe_probe(const char *path, const smempipe_file_options *options, smempipe_shape *shape,
                             smempipe_error **error)
{
    smp_error err = {.code = SMP_OK};
    smp_read_options how;
    smp_reader *reader = NULL;
    if (error)
        *error = NULL;
    if (!path || !shape)
        return smp_api_wrong(error, "a null where a path and a place for the shape belong");
    *shape = (smempipe_shape){.kind = 0};
    if (!check_options(options, &err) && !smp_reader_open(path, library_reading(&how, options), &reader, &err))
        smp_api_public_shape(&smp_reader_media(reader)->shape, shape);
    smp_reader_close(reader);
    return smp_api_fail(error, &err, NULL);
}
