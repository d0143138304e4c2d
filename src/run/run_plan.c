/* Makes a plan from a request and an input's header. See run_internal.h. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "io/jpeg/jpeg_by_device.h"
#include "run/file_source.h"
#include "run/run_internal.h"

static smp_code accepts(void *context, const char *path, const smp_shape *shape, smp_shape *out, smp_error *err)
{
    const smp_run_request *request = context;
    smp_shape fit = *shape;
    if (request->write.sound.fit_rate && smp_writer_fits_rate(path, request->write.format, &fit))
        return smp_writer_shape_as(path, request->write.format, &fit, out, err);
    return smp_writer_shape_as(path, request->write.format, shape, out, err);
}

bool smp_run_fuses(const smp_run_request *request)
{
    return !request->no_fuse && !(request->variant && !strcmp(request->variant, "naive"));
}

smp_code smp_run_check_sizes(const smp_plan *plan, const smp_limits *limits, smp_error *err)
{
    for (size_t i = 0; limits->max_pixels && i < plan->step_count; i++) {
        const smp_step *step = &plan->steps[i];
        int64_t pixels;
        if (step->job != SMP_JOB_STAGE || step->stage->role == SMP_ROLE_JPEG_ENCODE ||
            (step->out.width <= step->in.width && step->out.height <= step->in.height) ||
            (smp_mul_i64(step->out.width, step->out.height, &pixels) && (uint64_t)pixels <= limits->max_pixels))
            continue;
        if (step->out.kind == SMP_AUDIO)
            smp_fail(err, SMP_E_LIMIT, "'%s' would make %lld frames, more than the limit of %llu", step->label,
                     (long long)step->out.height, (unsigned long long)limits->max_pixels);
        else
            smp_fail(err, SMP_E_LIMIT, "'%s' would make %lld x %lld pixels, more than the limit of %llu", step->label,
                     (long long)step->out.width, (long long)step->out.height, (unsigned long long)limits->max_pixels);
        return smp_hint(err, "raise the limit with --max-pixels");
    }
    return SMP_OK;
}

/* Coding of a plan's outputs, which depends on the input too. */
typedef struct coding {
    const smp_run_request *request;
    const smp_media *media;
} coding;

static bool codes(void *context, const char *path, const smp_shape *shape, smp_jpeg_params *params)
{
    const coding *c = context;
    return (uint64_t)shape->width * (uint64_t)shape->height >= c->request->read.want.scan_from &&
           smp_jpeg_scan_serves(path, &c->request->write, shape, smp_coding_jpeg(&c->media->meta.coding), params);
}

void smp_run_note_coder(const smp_run_request *request, const smp_media *media, const smp_plan *plan,
                        smp_run_report *report)
{
    const uint64_t from = request->read.want.scan_from;
    for (size_t i = 0; from && i < plan->sink_count; i++) {
        const smp_sink *sink = &plan->sinks[i];
        const char *path = sink->save < 0 ? request->output : sink->path; /* a plan may be older than this file */
        if (!sink->coded && (uint64_t)sink->shape.width * (uint64_t)sink->shape.height >= from &&
            smp_jpeg_scan_is_progressive(path, &request->write, &sink->shape, smp_coding_jpeg(&media->meta.coding)))
            snprintf(report->device_note, sizeof report->device_note,
                     "the CPU codes the JPEG, since it is progressive (--jpeg-progressive=off: the device does)");
    }
}

/* Pixels an inch, as info shows them; 0: unknown, or not the same down. Files hold whole pixels a metre. */
static double resolution(const smp_meta *meta)
{
    static const double step = 0.0254 / 2;
    const double dpi = meta->x_density * 0.0254, whole = round(dpi);
    if (meta->density_is_aspect || fabs(dpi - meta->y_density * 0.0254) > step)
        return 0;
    return fabs(dpi - whole) <= step ? whole : dpi;
}

smp_code smp_run_make_plan(const smp_run_request *request, const smp_media *media, const smp_prepasses *prepasses,
                           smp_plan **plan, smp_error *err)
{
    smp_plan_request ask = {
        .program = request->program,
        .input = media->shape,
        .scan = media->scan.shape,
        .across = media->scan.across,
        .down = media->scan.down,
        .orientation = media->orientation,
        .dpi = resolution(&media->meta),
        .draw = request->draw,
        .output = request->output,
        .accepts = accepts,
        .accepts_context = (void *)(uintptr_t)request,
        .codes = request->read.want.scan_from ? codes : NULL,
        .codes_context = &(coding){request, media},
        .probe = smp_file_probe,
        .probe_context = (void *)(uintptr_t)&request->read,
        .plain_storage = request->plain_storage,
        .fuse = smp_run_fuses(request),
        .open_end = media->open_end,
        .shapes = request->shapes,
        .found = prepasses->found,
        .found_count = prepasses->count,
    };
    smp_blob made;
    const smp_blob icc = smp_meta_profile(&media->meta, &media->shape, &made);
    ask.input.icc = icc.data;
    ask.input.icc_size = icc.size;
    static pthread_mutex_t planning = PTHREAD_MUTEX_INITIALIZER; /* files that run at once share diagnostics */
    if (request->diags)
        pthread_mutex_lock(&planning);
    const size_t known = request->diags ? request->diags->count : 0;
    smp_code code = smp_plan_make(&ask, request->diags, plan, err);
    if (request->cache && request->diags) /* one of many */
        smp_diags_found_with(request->diags, known, request->input);
    if (request->diags)
        pthread_mutex_unlock(&planning);
    smp_free(made.data);
    if (!code && !media->open_end && (code = smp_run_check_sizes(*plan, &request->read.limits, err))) {
        smp_plan_free(*plan);
        *plan = NULL;
    }
    return code;
}

smp_code smp_run_plan(const smp_run_request *request, const smp_media *media, smp_plan **plan, smp_error *err)
{
    return smp_run_make_plan(request, media, &(smp_prepasses){.count = 0}, plan, err);
}
