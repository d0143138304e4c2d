/* The picture of `smempipe edit`: read once, run through the text as it is now, shown in parts. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "commands/edit/session.h"
#include "report/report.h"
#include "run/file_source.h"
#include "run/prepass.h"
#include "run/run_internal.h"
#include "run/strips/runner.h"

/* ------------------------------------------------------------------------------------------------ the input */

smp_code smp_edit_make_frame(const smp_shape *shape, smp_view *view, smp_error *err)
{
    size_t bytes;
    SMP_NEED(smp_run_view(shape, view, &bytes), "a picture", UINT64_MAX, err);
    view->data = smp_alloc_raw(bytes);
    return view->data ? SMP_OK : smp_fail_memory(err, "a picture", bytes);
}

/* All rows, unless a later run is wanted meanwhile. */
static smp_code read_rows(const smp_edit_session *session, int64_t number, smp_reader *reader, const smp_view *to,
                          smp_error *err)
{
    enum { ROWS = 256 };
    smp_code code = SMP_OK;
    for (int64_t y = 0; y < to->height && !code; y += ROWS) {
        const int64_t rows = to->height - y < ROWS ? to->height - y : ROWS;
        code = *session->wanted > number
                   ? SMP_E_INTERRUPTED
                   : smp_reader_rows(reader, (char *)to->data + y * to->stride, to->stride, rows, err);
    }
    return code;
}

smp_code smp_edit_read_input(smp_edit_session *session, int64_t number, smp_error *err)
{
    smp_edit_source *input = &session->picture.input;
    smp_reader *reader;
    SMP_TRY(smp_reader_open(session->picture.path, &session->settings->base.common.read, &reader, err));
    const smp_media *media = smp_reader_media(reader);
    input->shape = media->shape;
    input->orientation = media->orientation;
    smp_code code = smp_meta_copy(&session->picture.meta, &media->meta) ? SMP_OK : smp_fail_memory(err, "metadata", 1);
    code = code ? code : smp_edit_make_frame(&input->shape, &input->view, err);
    code = code ? code : read_rows(session, number, reader, &input->view, err);
    smp_reader_close(reader);
    session->picture.profile = smp_meta_profile(&session->picture.meta, &input->shape, &session->picture.profile_made);
    input->shape.icc = session->picture.profile.data;
    input->shape.icc_size = session->picture.profile.size;
    if (!code && input->shape.kind == SMP_AUDIO)
        return SMP_OK; /* the page asks for what it draws */
    if (!code && input->orientation <= 1)
        session->picture.shown[SMP_EDIT_BEFORE] = (smp_edit_frame){input->view, .borrowed = true};
    else if (!code) {
        const smp_edit_run upright = {.text = "", .which = SMP_EDIT_BEFORE, .number = 1, .step = -1, .held = -1};
        code = smp_edit_run_text(session, &upright, NULL, err);
    }
    return code;
}

static void free_frame(smp_edit_frame *frame)
{
    if (!frame->borrowed)
        smp_free(frame->view.data);
    *frame = (smp_edit_frame){.borrowed = false};
}

void smp_edit_free_picture(smp_edit_picture *picture)
{
    for (int i = 0; i < SMP_EDIT_FRAMES; i++)
        free_frame(&picture->shown[i]);
    smp_edit_forget(&picture->kept);
    smp_free_all(picture->input.view.data, picture->small.view.data, picture->profile_made.data);
    smp_meta_free(&picture->meta);
    *picture = (smp_edit_picture){.path = picture->path};
}

/* ------------------------------------------------------------------------------------------------ runs */

typedef struct running {
    smp_edit_session *session;
    const smp_edit_run *run;
} running;

static bool overtaken(void *context)
{
    const running *r = context;
    return r->run->which == SMP_EDIT_AFTER && *r->session->wanted > r->run->number;
}

static smp_code go_on(void *context, int64_t, int64_t)
{
    return overtaken(context) ? SMP_E_INTERRUPTED : SMP_OK;
}

static smp_code accepts_all(void *, const char *, const smp_shape *shape, smp_shape *out, smp_error *)
{
    *out = *shape;
    return SMP_OK;
}

smp_edit_cut smp_edit_cut_off(smp_program *program, const smp_diags *diags, int64_t step)
{
    const smp_edit_cut cut = {program->output, program->node_count, program->save_count};
    program->output = smp_edit_node_behind(diags, program, step);
    program->node_count = step < 0 ? cut.nodes : (size_t)(program->output + 1);
    program->save_count = 0; /* nothing is written before the button */
    return cut;
}

void smp_edit_join(smp_program *program, const smp_edit_cut *cut)
{
    program->output = cut->output;
    program->node_count = cut->nodes;
    program->save_count = cut->saves;
}

/* Whether a plan for a preview is soon done, and tells what it should. */
static bool previews(const smp_plan *plan, const smp_edit_run *run)
{
    enum { MOST = 1 << 23 }; /* pixels */
    bool all = run->drawn || plan->sinks[0].shape.width <= MOST / plan->sinks[0].shape.height;
    if (!run->pointwise)
        return all;
    for (size_t i = 0; i < plan->step_count; i++)
        all = all && (plan->steps[i].job == SMP_JOB_SOURCE ||
                      (plan->steps[i].job == SMP_JOB_STAGE && plan->steps[i].work.access == SMP_POINT));
    return all;
}

static smp_code open_device(smp_edit_session *session, const smp_program *program, smp_error *err)
{
    char note[160];
    return session->device ? SMP_OK
                           : smp_cli_device(&session->settings->base.common, NULL, session->picture.path, program,
                                            &session->device, note, sizeof note, err);
}

smp_code smp_edit_run_program(smp_edit_session *session, const smp_edit_run *run, const smp_program *program,
                              smp_diags *diags, smp_view *out, smp_run_report *report, smp_error *err)
{
    const smp_common *common = &session->settings->base.common;
    const smp_edit_source *from = run->source ? run->source : &session->picture.input;
    running this = {session, run};
    const smp_wish wish = {overtaken, &this};
    smp_plan *plan = NULL;
    smp_plans prepasses = {0};
    int failed = SMP_STEP_NONE;
    bool fresh = false;
    const int held = run->held > 0 ? smp_edit_node_behind(diags, program, run->held - 1) + 1 : 0;
    const bool keeps = held > 0 && (size_t)held < program->node_count && !program->nodes[held].span.source &&
                       diags->source_count == 1 && !program->file_count && !smp_program_has_prepass(program);
    if (!from->view.data)
        return smp_fail(err, SMP_E_USAGE, "there is nothing to show of it");
    SMP_TRY(open_device(session, program, err));
    session->device->wish = &wish;
    smp_plan_request ask = {.program = program,
                            .input = from->shape,
                            .orientation = from->orientation,
                            .output = "memory",
                            .accepts = accepts_all,
                            .draw.index = session->picture.index,
                            .probe = smp_file_probe,
                            .probe_context = (void *)(uintptr_t)&common->read,
                            .fuse = !keeps};
    const smp_run_request request = {.program = program, .diags = diags, .input = session->picture.path};
    smp_code code = smp_plan_memory(&ask, diags, session->device, &from->view, &prepasses, &plan, err);
    if (!code)
        code = run->source && !previews(plan, run) ? SMP_E_USAGE : smp_run_check_sizes(plan, &common->read.limits, err);
    if (!code && keeps)
        code = smp_edit_keep(&session->picture.kept, program, run->text, held, plan, &fresh, err);
    if (!code) {
        session->picture.made = plan->sinks[0].shape;
        code = smp_edit_make_frame(&plan->sinks[0].shape, out, err);
    }
    if (!code) {
        const bool kept = !strcmp(plan->steps[0].label, "(kept)");
        smp_endpoint source = {.view = kept ? session->picture.kept.view : from->view};
        smp_endpoint sinks[] = {{.view = *out}, {.view = session->picture.kept.view}};
        const smp_runner_setup setup = {.plan = plan,
                                        .device = session->device,
                                        .read = &common->read,
                                        .source = &source,
                                        .sinks = sinks,
                                        .progress = go_on,
                                        .progress_context = &this};
        code = smp_runner_run(&setup, report, &failed, err);
        smp_run_blame(&request, plan, failed, code, err);
        smp_run_locate(&request, report);
        report->shape = plan->steps[0].out;
    }
    session->device->wish = NULL;
    if (code && fresh)
        smp_edit_forget(&session->picture.kept);
    smp_plans_free(&prepasses);
    smp_plan_free(plan);
    return code;
}

static void put_told(smp_json *json, smp_code code, const smp_error *err, smp_diags *diags, const smp_program *program,
                     const smp_view *out, const smp_shape *made)
{
    SMP_JSON_OPEN(json, "told", ("done", (bool)(code == SMP_OK)), ("overtaken", (bool)(code == SMP_E_INTERRUPTED)));
    if (code && code != SMP_E_INTERRUPTED)
        SMP_JSON(json, ("message", err->message), ("where", err->where), ("hint", err->hint));
    SMP_JSON(json, ("width", out->width), ("height", out->height), ("channels", out->channels), ("rate", made->rate),
             ("format", out->channels ? smp_format_name((smp_format)out->format) : ""));
    smp_edit_describe(json, diags, program);
    smp_json_end(json, '}');
}

/* Shows what a run gave; the caller holds the lock of runs. */
static void keep_frame(smp_edit_session *session, int which, smp_view out)
{
    const bool sound = session->picture.made.kind == SMP_AUDIO;
    smp_edit_frame *frame = &session->picture.shown[sound ? SMP_EDIT_HEARD : which];
    pthread_mutex_lock(&session->frames);
    free_frame(frame);
    *frame = (smp_edit_frame){.view = out};
    pthread_mutex_unlock(&session->frames);
    if (sound)
        session->picture.heard = (smp_edit_source){out, session->picture.made, 1};
}

smp_code smp_edit_run_text(smp_edit_session *session, const smp_edit_run *run, smp_json *json, smp_error *err)
{
    smp_diags diags = {0};
    smp_program *program = NULL;
    smp_run_report report = {.input = NULL};
    smp_view out = {.data = NULL};
    smp_shape made = {0};
    smp_code code = smp_edit_parse(session, run->text, &diags, &program, err);
    if (!code) {
        pthread_mutex_lock(&session->run);
        report.input = session->picture.path;
        const smp_edit_cut cut = smp_edit_cut_off(program, &diags, run->step);
        const double start = smp_now();
        code = go_on(&(running){session, run}, 0, 0);
        code = code ? code : smp_edit_run_program(session, run, program, &diags, &out, &report, err);
        if (!code)
            keep_frame(session, run->which, out);
        made = session->picture.made;
        report.wall_seconds = smp_now() - start;
        if (session->device)
            report.device = session->device->info;
        pthread_mutex_unlock(&session->run);
        smp_edit_join(program, &cut);
    }
    if (json && !code) {
        smp_json_key(json, "report");
        smp_report_json(json->to, &report, true);
    }
    if (json)
        put_told(json, code, err, &diags, program, &out, &made);
    if (code)
        smp_free(out.data);
    smp_run_report_free(&report);
    smp_program_free(program);
    smp_diags_free(&diags);
    return code;
}

/* ------------------------------------------------------------------------------------------------ showing */

/* The channels of a picture that are shown: gray, gray and alpha, RGB, RGBA. */
static int pick_channels(const smp_view *view, int pick[4])
{
    const int colours = view->channels - view->alpha >= 3 ? 3 : 1;
    for (int c = 0; c < colours; c++)
        pick[c] = c;
    pick[colours] = view->channels - 1;
    return colours + view->alpha;
}

/* Adds a row's pixels, `most` channels of them, to the sums of boxes, whose first columns are at[]. */
#define SMP_ADD_ROW(type, most, value)                                                                                 \
    for (int64_t i = 0; i < count; i++) {                                                                              \
        uint64_t sum[4] = {0};                                                                                         \
        for (const type *at_x = (const type *)row + at[i] * channels, *end = (const type *)row + at[i + 1] * channels; \
             at_x < end; at_x += channels)                                                                             \
            for (int c = 0; c < (most); c++) {                                                                         \
                const type sample = at_x[pick[c]];                                                                     \
                sum[c] += value;                                                                                       \
            }                                                                                                          \
        for (int c = 0; c < (most); c++)                                                                               \
            sums[i * 4 + c] += sum[c];                                                                                 \
    }

static void add_row(const smp_view *view, const void *row, const int64_t *at, int64_t count, int shown,
                    const int pick[4], uint64_t *sums)
{
    enum { UNIT = 1 << 20 }; /* of a float: sums stay whole */
    const int64_t channels = view->channels;
    if (view->format == SMP_U8 && shown == 3 && channels == 3) { /* most pictures, three times as fast */
        const uint8_t *x = (const uint8_t *)row + 3 * at[0];
        for (int64_t i = 0; i < count; i++) {
            uint32_t red = 0, green = 0, blue = 0;
            for (int64_t n = at[i + 1] - at[i]; n > 0; n--, x += 3) {
                red += x[0];
                green += x[1];
                blue += x[2];
            }
            sums[i * 4] += red;
            sums[i * 4 + 1] += green;
            sums[i * 4 + 2] += blue;
        }
    } else if (view->format == SMP_U8) {
        SMP_ADD_ROW(uint8_t, shown, sample)
    } else if (view->format == SMP_U16) {
        SMP_ADD_ROW(uint16_t, shown, sample)
    } else {
        SMP_ADD_ROW(float, shown, sample > 0 ? (uint64_t)((sample < 1 ? sample : 1) * UNIT + .5f) : 0)
    }
}
#undef SMP_ADD_ROW

static void store_row(const smp_view *view, const int64_t *at, int64_t count, int64_t rows, int shown,
                      const uint64_t *sums, unsigned char *to)
{
    const uint64_t full = view->format == SMP_U16 ? 65535 : 1 << 20;
    for (int64_t i = 0; i < count; i++, to += 4) {
        const uint64_t samples = (uint64_t)((at[i + 1] - at[i]) * rows), all = samples * full;
        unsigned char value[4] = {0};
        for (int c = 0; c < shown; c++) {
            const uint64_t sum = sums[i * 4 + c];
            if (view->format != SMP_U8)
                value[c] = (unsigned char)((sum * 255 + all / 2) / all);
            else if (samples >> 16)
                value[c] = (unsigned char)((sum + samples / 2) / samples);
            else /* the same, by a division that takes a third of the time */
                value[c] = (unsigned char)((uint32_t)(sum + samples / 2) / (uint32_t)samples);
        }
        const bool gray = shown < 3;
        for (int c = 0; c < 3; c++)
            to[c] = value[gray ? 0 : c];
        to[3] = view->alpha ? value[shown - 1] : 255;
    }
}

/* A row of bytes as it is. */
static void copy_row(const smp_view *view, const uint8_t *x, int64_t count, int shown, const int pick[4],
                     unsigned char *to)
{
    const int red = pick[0], green = pick[shown < 3 ? 0 : 1], blue = pick[shown < 3 ? 0 : 2];
    for (int64_t i = 0; i < count; i++, x += view->channels, to += 4) {
        to[0] = x[red];
        to[1] = x[green];
        to[2] = x[blue];
        to[3] = view->alpha ? x[pick[shown - 1]] : 255;
    }
}

smp_code smp_edit_pixels(const smp_view *view, const smp_edit_part *part, unsigned char *to, smp_error *err)
{
    int pick[4];
    const int shown = pick_channels(view, pick);
    const size_t width = (size_t)part->out_width;
    if (view->format == SMP_U8 && part->width == part->out_width && part->height == part->out_height) {
        for (int64_t i = 0; i < part->height; i++)
            copy_row(view, (const uint8_t *)view->data + (part->y + i) * view->stride + part->x * view->channels,
                     part->width, shown, pick, to + (size_t)i * width * 4);
        return SMP_OK;
    }
    int64_t *at = smp_alloc_array(width + 1, sizeof *at);
    uint64_t *sums = smp_alloc_array(width * 4, sizeof *sums);
    smp_code code = at && sums ? SMP_OK : smp_fail_memory(err, "a part of a picture", width);
    for (size_t i = 0; !code && i <= width; i++)
        at[i] = part->x + (int64_t)i * part->width / part->out_width;
    for (int64_t i = 0; !code && i < part->out_height; i++) {
        const int64_t from = part->y + i * part->height / part->out_height,
                      end = part->y + (i + 1) * part->height / part->out_height;
        memset(sums, 0, width * 4 * sizeof *sums);
        for (int64_t y = from; y < end; y++)
            add_row(view, (const char *)view->data + y * view->stride, at, part->out_width, shown, pick, sums);
        store_row(view, at, part->out_width, end - from, shown, sums, to + (size_t)i * width * 4);
    }
    smp_free_all(at, sums);
    return code;
}

smp_code smp_edit_show(smp_edit_session *session, const smp_edit_part *part, unsigned char **pixels, size_t *size,
                       smp_error *err)
{
    enum { MOST = 1 << 24 }; /* pixels: more than a screen has */
    smp_code code = SMP_OK;
    *pixels = NULL;
    pthread_mutex_lock(&session->frames);
    const smp_view *view = &session->picture.shown[part->which].view;
    if (part->x < 0 || part->y < 0 || part->out_width < 1 || part->out_height < 1 || part->width < part->out_width ||
        part->height < part->out_height || part->width > view->width || part->height > view->height ||
        part->x > view->width - part->width || part->y > view->height - part->height ||
        part->out_width > MOST / part->out_height)
        code = smp_fail(err, SMP_E_USAGE, "there is no such part of the picture");
    *size = code ? 0 : (size_t)(part->out_width * part->out_height * 4);
    if (!code && !(*pixels = malloc(*size)))
        code = smp_fail_memory(err, "a part of a picture", *size);
    code = code ? code : smp_edit_pixels(view, part, *pixels, err);
    pthread_mutex_unlock(&session->frames);
    return code;
}

float *smp_edit_samples(smp_edit_session *session, bool after, int64_t from, int64_t frames, size_t *size)
{
    enum { MOST = 1 << 24 }; /* samples: a minute of six channels */
    float *samples = NULL;
    pthread_mutex_lock(&session->frames);
    const smp_view *view = after ? &session->picture.shown[SMP_EDIT_HEARD].view : &session->picture.input.view;
    const size_t frame = (size_t)view->channels * sizeof *samples;
    if (view->data && session->picture.input.shape.kind == SMP_AUDIO && view->format == SMP_F32 && from >= 0 &&
        frames > 0 && from < view->height && frames <= view->height - from && frames <= MOST / view->channels) {
        *size = (size_t)frames * frame;
        samples = malloc(*size);
        for (int64_t i = 0; samples && i < frames; i++)
            memcpy(samples + i * view->channels, (const char *)view->data + (from + i) * view->stride, frame);
    }
    pthread_mutex_unlock(&session->frames);
    return samples;
}
