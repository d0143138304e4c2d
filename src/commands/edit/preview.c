/* What a change will look like, before the whole picture is run: by a smaller copy of it, or by the part that is seen.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "commands/edit/session.h"

enum { MOST_SMALL = 1 << 21 }; /* pixels of the smaller copy, or of the part */

smp_code smp_edit_run_on(smp_edit_session *session, const smp_edit_run *run, double by, smp_view *out, smp_error *err)
{
    smp_diags diags = {0};
    smp_program *program = NULL;
    smp_run_report report = {.input = NULL};
    smp_code code = smp_edit_parse(session, run->text, &diags, &program, err);
    if (!code) {
        const smp_edit_cut cut = smp_edit_cut_off(program, &diags, run->step);
        code = by > 0 && !smp_program_shrink(program, by) ? SMP_E_USAGE : SMP_OK;
        code = code ? code : smp_edit_run_program(session, run, program, &diags, out, &report, err);
        smp_edit_join(program, &cut);
    }
    smp_run_report_free(&report);
    smp_program_free(program);
    smp_diags_free(&diags);
    return code;
}

smp_code smp_edit_make_small(smp_edit_session *session, int64_t number, int64_t width, int64_t height, smp_error *err)
{
    smp_edit_source *small = &session->picture.small;
    char text[120];
    if (small->view.data && small->view.width == width && small->view.height == height)
        return SMP_OK;
    smp_free(small->view.data);
    snprintf(text, sizeof text, "resize width=%lldpx height=%lldpx fit=stretch filter=area", (long long)width,
             (long long)height);
    const smp_edit_run run = {.text = text, .number = number, .which = SMP_EDIT_AFTER, .step = -1, .held = -1};
    *small = (smp_edit_source){.shape = session->picture.input.shape, .orientation = 1};
    const smp_code code = smp_edit_run_on(session, &run, 1, &small->view, err);
    if (code) { /* it may have been overtaken */
        smp_free(small->view.data);
        small->view.data = NULL;
        return code;
    }
    small->shape.width = width;
    small->shape.height = height;
    small->shape.format = (smp_format)small->view.format;
    session->picture.scale = (double)width / (double)session->picture.shown[SMP_EDIT_BEFORE].view.width;
    return SMP_OK;
}

/* The part that is seen, as a source; it has no memory of its own. */
static bool take_part(const smp_edit_session *session, const smp_edit_part *part, smp_edit_source *source)
{
    const smp_view *all = &session->picture.shown[SMP_EDIT_BEFORE].view;
    if (part->x < 0 || part->y < 0 || part->width < 1 || part->height < 1 || part->width > all->width - part->x ||
        part->height > all->height - part->y || part->width > MOST_SMALL / part->height)
        return false;
    const size_t pixel = (size_t)all->channels * (size_t)smp_sample_size(all->format);
    *source = (smp_edit_source){*all, session->picture.input.shape, 1};
    source->view.data = (char *)all->data + part->y * all->stride + (size_t)part->x * pixel;
    source->view.width = source->shape.width = part->width;
    source->view.height = source->view.rows = source->shape.height = part->height;
    source->shape.format = (smp_format)all->format;
    return true;
}

/* Whether a stage of the text is told where on the picture it works. */
static bool has_places(const smp_edit_session *session, const char *text)
{
    smp_diags diags = {0};
    smp_program *program = NULL;
    bool has = smp_edit_parse(session, text, &diags, &program, &(smp_error){.code = SMP_OK}) != SMP_OK;
    for (size_t i = 0; !has && i < program->node_count; i++)
        for (const smp_param *param = program->nodes[i].stage->params; param && param->name; param++)
            has = has || param->unit == SMP_UNIT_PX;
    smp_program_free(program);
    smp_diags_free(&diags);
    return has;
}

/* *whole: the size that all of it has in the picture's own pixels. */
static smp_code run_preview(smp_edit_session *session, const smp_edit_preview *ask, smp_view *out, uint32_t whole[2],
                            smp_error *err)
{
    const smp_view *all = &session->picture.shown[SMP_EDIT_BEFORE].view;
    const double scale = fmin(ask->scale, sqrt((double)MOST_SMALL / ((double)all->width * (double)all->height)));
    smp_edit_source part;
    if (session->picture.input.shape.kind != SMP_IMAGE)
        return SMP_E_USAGE;
    smp_edit_run run = {ask->text, ask->number, SMP_EDIT_AFTER, ask->step, -1, .source = &session->picture.small};
    if (ask->scale >= 1) { /* single pixels are seen */
        run.source = &part;
        run.pointwise = true;
        if (!take_part(session, &ask->part, &part) || has_places(session, ask->text))
            return SMP_E_USAGE;
        whole[0] = (uint32_t)all->width;
        whole[1] = (uint32_t)all->height;
        return smp_edit_run_on(session, &run, 1, out, err);
    }
    const int64_t width = (int64_t)fmax(1, floor((double)all->width * scale + 0.5)),
                  height = (int64_t)fmax(1, floor((double)all->height * scale + 0.5));
    if (!(scale > 0) || scale > 0.75) /* the whole is nearly as soon done */
        return SMP_E_USAGE;
    SMP_TRY(smp_edit_make_small(session, ask->number, width, height, err));
    SMP_TRY(smp_edit_run_on(session, &run, session->picture.scale, out, err));
    whole[0] = (uint32_t)((out->width * all->width + width / 2) / width);
    whole[1] = (uint32_t)((out->height * all->height + height / 2) / height);
    return SMP_OK;
}

smp_code smp_edit_pack(const smp_view *view, int64_t width, int64_t height, const uint32_t whole[2],
                       unsigned char **pixels, size_t *size, smp_error *err)
{
    const uint32_t head[] = {(uint32_t)width, (uint32_t)height, whole[0], whole[1]};
    const smp_edit_part all = {SMP_EDIT_AFTER, 0, 0, view->width, view->height, width, height};
    *size = sizeof head + (size_t)(width * height) * 4;
    SMP_NEED(*pixels = malloc(*size), "pixels", *size, err);
    memcpy(*pixels, head, sizeof head);
    return smp_edit_pixels(view, &all, *pixels + sizeof head, err);
}

void smp_edit_preview_text(smp_edit_session *session, const smp_edit_preview *ask, unsigned char **pixels, size_t *size)
{
    smp_error err = {.code = SMP_OK};
    smp_view out = {.data = NULL};
    uint32_t whole[2];
    *pixels = NULL;
    *size = 0;
    pthread_mutex_lock(&session->run);
    if (!run_preview(session, ask, &out, whole, &err))
        smp_edit_pack(&out, out.width, out.height, whole, pixels, size, &err);
    pthread_mutex_unlock(&session->run);
    smp_free(out.data);
}
