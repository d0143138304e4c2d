/* A folder in `smempipe edit`: its pictures, one after the other or several at once. */
#include <math.h>

#include "base/alloc.h"
#include "base/hash/hash.h"
#include "commands/edit/session.h"

smp_code smp_edit_find(smp_edit_session *session, smp_error *err)
{
    const smp_find_options walk = {.kind = SMP_IMAGE};
    SMP_TRY(smp_walk(&session->settings->in, 1, &walk, &session->files, err));
    if (session->files.count)
        return SMP_OK;
    smp_fail(err, SMP_E_READ, "has no picture in it; folders in it are not looked into");
    return smp_at(err, "%s", session->settings->in);
}

void smp_edit_name_picture(const smp_edit_session *session, size_t index, smp_edit_picture *picture)
{
    const smp_found *file = smp_found_at(&session->files, index);
    picture->path = file->path;
    picture->index = smp_hash_name(file->name);
}

/* Reads another file of the folder, as a session with the same text and device. drop() frees it, also on failure. */
static smp_code read_other(smp_edit_session *session, size_t index, int64_t number, smp_edit_session **out,
                           smp_error *err)
{
    smp_edit_session *other = *out = smp_alloc(sizeof *other);
    SMP_NEED(other, "a picture", sizeof *other, err);
    *other = (smp_edit_session){
        .settings = session->settings, .name = session->name, .device = session->device, .wanted = session->wanted};
    smp_edit_name_picture(session, index, &other->picture);
    pthread_mutex_init(&other->run, NULL);
    pthread_mutex_init(&other->frames, NULL);
    SMP_TRY(smp_edit_read_input(other, number, err));
    return other->picture.input.shape.kind == SMP_IMAGE ? SMP_OK : smp_fail(err, SMP_E_READ, "is a sound");
}

static void drop(smp_edit_session *session, smp_edit_session *other)
{
    if (!other)
        return;
    session->device = other->device; /* the first that computes opens it */
    smp_edit_free_picture(&other->picture);
    smp_free(other);
}

smp_code smp_edit_open(smp_edit_session *session, size_t index, smp_error *err)
{
    smp_edit_session *other;
    pthread_mutex_lock(&session->run);
    const smp_code code = read_other(session, index, INT64_MAX - 1, &other, err); /* stop() ends it */
    if (!code) {
        pthread_mutex_lock(&session->frames);
        const smp_edit_picture was = session->picture;
        session->picture = other->picture;
        other->picture = was;
        session->at = index;
        pthread_mutex_unlock(&session->frames);
    }
    drop(session, other);
    pthread_mutex_unlock(&session->run);
    return code;
}

/* The size of a picture that is made smaller to be `side` pixels wide and high at most. */
static void fit(const smp_view *view, int64_t side, int64_t *width, int64_t *height)
{
    const double scale = fmin(1, (double)side / (double)(view->width > view->height ? view->width : view->height));
    *width = (int64_t)fmax(1, floor((double)view->width * scale));
    *height = (int64_t)fmax(1, floor((double)view->height * scale));
}

smp_code smp_edit_tile(smp_edit_session *session, const smp_edit_tile_ask *ask, unsigned char **pixels, size_t *size,
                       smp_error *err)
{
    smp_edit_session *other;
    smp_view out = {.data = NULL};
    int64_t width, height;
    pthread_mutex_lock(&session->run);
    smp_code code = read_other(session, ask->index, ask->number, &other, err);
    if (!code) {
        fit(&other->picture.shown[SMP_EDIT_BEFORE].view, ask->side, &width, &height);
        code = smp_edit_make_small(other, ask->number, width, height, err);
    }
    smp_edit_run run = {ask->text, ask->number, SMP_EDIT_AFTER, -1, -1, .source = other ? &other->picture.small : NULL};
    code = code ? code : smp_edit_run_on(other, &run, other->picture.scale, &out, err);
    if (code == SMP_E_USAGE) { /* a smaller copy would not tell */
        run.source = NULL;
        smp_free(out.data);
        out.data = NULL;
        code = smp_edit_run_on(other, &run, 0, &out, err);
    }
    if (!code) {
        const uint32_t whole[] = {(uint32_t)out.width, (uint32_t)out.height};
        fit(&out, ask->side, &width, &height);
        code = smp_edit_pack(&out, width, height, whole, pixels, size, err);
    }
    smp_free(out.data);
    drop(session, other);
    pthread_mutex_unlock(&session->run);
    return code;
}
