/* A comparison's input: see input.h. */
#include "compare/input.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/hash/sha256.h"
#include "device/cpu.h"
#include "run/file_source.h"
#include "run/peaks.h"
#include "run/strips/step.h"

static smp_code accepts_file(void *context, const char *path, const smp_shape *shape, smp_shape *out, smp_error *err)
{
    const smp_run_request *run = context;
    return smp_writer_shape_as(path, run->write.format, shape, out, err);
}

/* Memory holds any shape: the last stage's own. */
static smp_code accepts_all(void *, const char *, const smp_shape *shape, smp_shape *out, smp_error *)
{
    *out = *shape;
    return SMP_OK;
}

static smp_code hash_file(const char *path, char text[65], smp_error *err)
{
    enum { PIECE = 1 << 16 };
    text[0] = '\0';
    struct stat status;
    if (!strcmp(path, "-") || (stat(path, &status) == 0 && !S_ISREG(status.st_mode)))
        return SMP_OK; /* standard input and pipes cannot be read twice */
    FILE *file = fopen(path, "rbe");
    unsigned char *piece = smp_alloc_raw(PIECE);
    smp_code code = SMP_OK;
    if (!file)
        code = smp_fail(err, SMP_E_READ, "cannot open: %s", strerror(errno));
    else if (!piece)
        code = smp_fail_memory(err, "a buffer", PIECE);
    smp_sha256 hash;
    smp_sha256_begin(&hash);
    for (size_t got = 1; !code && got > 0;) {
        got = fread(piece, 1, PIECE, file);
        smp_sha256_add(&hash, piece, got);
        if (!got && ferror(file))
            code = smp_fail(err, SMP_E_READ, "cannot read: %s", strerror(errno));
    }
    if (file)
        fclose(file);
    smp_free(piece);
    if (!code)
        smp_sha256_end(&hash, text);
    return code ? smp_at(err, "%s", path) : SMP_OK;
}

/* The shape of an input that is repeated. */
static smp_code enlarge_shape(const smp_limits *limits, int64_t times, smp_shape *shape, smp_error *err)
{
    const bool wide = shape->kind != SMP_AUDIO;
    int64_t pixels;
    if ((wide && !smp_mul_i64(shape->width, times, &shape->width)) ||
        !smp_mul_i64(shape->height, times, &shape->height) || !smp_mul_i64(shape->width, shape->height, &pixels) ||
        shape->width > INT32_MAX || (limits->max_pixels && (uint64_t)pixels > limits->max_pixels))
        return smp_fail(err, SMP_E_LIMIT, "the input enlarged %lld times has more pixels than --max-pixels allows",
                        (long long)times),
               smp_hint(err, "give a smaller --enlarge");
    return SMP_OK;
}

/* Repeats what was read, the upper left part of the view, over all of it. */
static void repeat_picture(const smp_shape *read, const smp_shape *whole, const smp_view *view)
{
    const size_t row = (size_t)smp_row_bytes(read, read->format), all = (size_t)smp_row_bytes(whole, whole->format);
    char *data = view->data;
    for (int64_t y = 0; y < whole->height; y++) {
        char *to = data + y * view->stride;
        if (y >= read->height)
            memcpy(to, to - read->height * view->stride, all);
        for (size_t x = row; y < read->height && x < all; x += row)
            memcpy(to + x, to, row);
    }
}

static smp_code read_picture(smp_reader *reader, const smp_shape *shape, smp_view *view, smp_error *err)
{
    const smp_shape *read = &smp_reader_media(reader)->shape;
    int64_t stride = smp_row_stride(shape, shape->format);
    size_t size;
    SMP_NEED(smp_mul_size((size_t)stride, (size_t)shape->height, &size), "the picture", UINT64_MAX, err);
    void *memory = smp_alloc_raw(size);
    SMP_NEED(memory, "the picture", size, err);
    *view = smp_view_of(shape, shape->format, memory, stride, 0, 0, shape->height);
    SMP_TRY(smp_reader_rows(reader, memory, stride, read->height, err));
    repeat_picture(read, shape, view);
    return SMP_OK;
}

/* The copy rate that the report relates rates to. The emulator's memory says nothing about its kernels. */
static smp_code measure_copy(smp_device *device, smp_compare *out, smp_error *err)
{
    smp_rate rate = {0};
    if (!strcmp(device->info.kind, "simt"))
        return SMP_OK;
    SMP_TRY(smp_peak_copy(device, 0, &rate, err));
    out->copy_gbs = rate.gbs;
    out->copy_low = rate.gbs_low;
    out->copy_high = rate.gbs_high;
    return SMP_OK;
}

static void locate(const smp_run_request *run, smp_compare *out)
{
    for (size_t i = 0; i < out->step_count; i++) {
        int node = out->steps[i].node, column;
        if (node >= 0 && run->diags)
            smp_diags_locate(run->diags, run->program->nodes[node].span, &out->steps[i].line, &column);
    }
}

/* A whole file in memory, and the plan for it. The output is memory, or run->output when that is not null. */
typedef struct whole_input {
    smp_reader *reader;
    smp_plan *plan;
    smp_plans prepasses;
    smp_shape shape; /* of the view */
    smp_view view;   /* owned */
} whole_input;

/* *out is filled also on failure: close it. */
static smp_code whole_input_open(const smp_run_request *run, int64_t enlarge, whole_input *out, smp_error *err)
{
    *out = (whole_input){.reader = NULL};
    SMP_TRY(smp_reader_open(run->input, &run->read, &out->reader, err));
    smp_code code = SMP_OK;
    const smp_media *media = smp_reader_media(out->reader);
    out->shape = media->shape;
    if (enlarge > 1 && (code = enlarge_shape(&run->read.limits, enlarge, &out->shape, err)))
        return code;
    smp_plan_request ask = {.program = run->program,
                            .input = out->shape,
                            .orientation = media->orientation,
                            .draw = run->draw,
                            .output = run->output ? run->output : "memory",
                            .accepts = run->output ? accepts_file : accepts_all,
                            .accepts_context = (void *)(uintptr_t)run,
                            .probe = smp_file_probe,
                            .probe_context = (void *)(uintptr_t)&run->read,
                            .plain_storage = run->plain_storage,
                            .fuse = smp_run_fuses(run)};
    smp_blob made;
    const smp_blob icc = smp_meta_profile(&media->meta, &media->shape, &made);
    ask.input.icc = icc.data;
    ask.input.icc_size = icc.size;
    code = read_picture(out->reader, &out->shape, &out->view, err);
    code = code ? code : smp_plan_memory(&ask, run->diags, run->device, &out->view, &out->prepasses, &out->plan, err);
    smp_free(made.data);
    return code;
}

static void whole_input_close(whole_input *input)
{
    smp_free(input->view.data);
    smp_plan_free(input->plan);
    smp_plans_free(&input->prepasses);
    smp_reader_close(input->reader);
    *input = (whole_input){.reader = NULL};
}

smp_code smp_compare_file(const smp_run_request *run, const smp_compare_request *request, smp_compare *out,
                          smp_error *err)
{
    *out = (smp_compare){.input = run->input, .device = run->device->info, .threads = run->device->info.units};
    whole_input input = {.reader = NULL};
    char hash[65] = "";
    smp_device_info host;
    smp_code code = whole_input_open(run, request->enlarge, &input, err);
    code = code ? code : hash_file(run->input, hash, err);
    if (!code) {
        smp_compare_request made = *request;
        made.plan = input.plan;
        made.prepasses = input.prepasses.list;
        made.prepass_count = input.prepasses.count;
        made.device = run->device;
        made.read = &run->read;
        code = smp_compare_plan(&made, &input.view, out, err);
    }
    if (!code && request->times && out->step_count)
        code = measure_copy(run->device, out, err);
    out->input = run->input;
    out->enlarged = request->enlarge;
    if (input.reader)
        smp_shape_text(&input.shape, input.shape.format, out->input_type, sizeof out->input_type);
    if (out->enlarged > 1) {
        const size_t used = strlen(out->input_type);
        snprintf(out->input_type + used, sizeof out->input_type - used, ", of the file %lld times%s",
                 (long long)out->enlarged, input.shape.kind == SMP_AUDIO ? "" : " each way");
    }
    memcpy(out->input_hash, hash, sizeof out->input_hash);
    smp_cpu_info(&host);
    snprintf(out->host, sizeof out->host, "%s", host.name);
    locate(run, out);
    whole_input_close(&input);
    return code;
}

smp_code smp_count_run(const smp_run_request *run, int threads, smp_run_report *report, smp_error *err)
{
    smp_compare_request request = {.counts = true,
                                   .measured = true,
                                   .default_only = true,
                                   .variant = run->variant,
                                   .threads = threads,
                                   .time_limit = 2,
                                   .progress = run->progress,
                                   .progress_context = run->progress_context};
    smp_run_request quiet = *run;
    smp_compare found;
    quiet.diags = NULL; /* the run has reported the warnings */
    smp_code code = smp_compare_file(&quiet, &request, &found, err);
    size_t at = 0;
    for (size_t i = 0; !code && i < found.step_count; i++, at++) { /* both lists leave out sources */
        const smp_compare_step *from = &found.steps[i];
        smp_count_kind kind = from->variant_count ? smp_compare_source(&from->variants[0]) : SMP_COUNT_KINDS;
        while (from->prepass && at < report->step_count && strcmp(report->steps[at].label, from->label) != 0)
            at++; /* a step that leads to one of a prepass: the run's own list has it already */
        if (at >= report->step_count || kind == SMP_COUNT_KINDS)
            continue;
        smp_step_report *to = &report->steps[at];
        to->counter = smp_count_kind_name(kind);
        if (kind == SMP_COUNT_MODEL)
            smp_compare_code(&found, to->counted_code, sizeof to->counted_code);
        to->shared = from->variants[0].counts[kind].total;
        smp_compare_crop(from, to->crop, sizeof to->crop);
    }
    if (!code && smp_compare_any_disagreement(&found))
        code = smp_fail(err, SMP_E_DIFFERENT, "the model and the GPU count shared-memory accesses differently");
    smp_compare_free(&found);
    return code;
}
