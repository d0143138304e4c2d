/* A reader of several files of one shape whose rows come in turn: row 0 of each, then row 1. Files are read a block of
 * rows at a time, so that memory does not grow with their height. */
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "io/made.h"

typedef struct stacked {
    smp_reader **readers;
    int64_t count;
    char *block;         /* `most` rows of each file, one file's behind the other's */
    int64_t stride;      /* bytes of a row */
    int64_t most;        /* rows of a file that the block has room for */
    int64_t first, have; /* the rows that are in it */
    bool noted;
} stacked;

/* The next rows of every file. A sound that has ended goes on silently. */
static smp_code fill(stacked *s, int64_t height, smp_error *err)
{
    s->first += s->have;
    s->have = smp_min_i64(s->most, height - s->first);
    for (int64_t i = 0; i < s->count; i++) {
        char *to = s->block + i * s->most * s->stride;
        const int64_t left = smp_max_i64(0, smp_reader_media(s->readers[i])->shape.height - s->first);
        const int64_t rows = smp_min_i64(s->have, left);
        SMP_TRY(rows ? smp_reader_rows(s->readers[i], to, s->stride, rows, err) : SMP_OK);
        memset(to + rows * s->stride, 0, (size_t)((s->have - rows) * s->stride));
    }
    return SMP_OK;
}

static smp_code read_rows(smp_reader *reader, void *to, int64_t stride, int64_t rows, smp_error *err)
{
    stacked *s = reader->state;
    for (int64_t k = 0; k < rows; k++) {
        const int64_t at = reader->next_row + k, row = at / s->count, i = at % s->count;
        if (row >= s->first + s->have)
            SMP_TRY(fill(s, reader->media.shape.height / s->count, err));
        memcpy((char *)to + k * stride, s->block + (i * s->most + row - s->first) * s->stride, (size_t)s->stride);
    }
    return SMP_OK;
}

/* What was noted of each file. */
static smp_code read_end(smp_reader *reader, smp_error *)
{
    const stacked *s = reader->state;
    for (int64_t i = 0; i < s->count; i++) {
        const smp_notes *notes = smp_reader_notes(s->readers[i]);
        for (int k = 0; k < notes->count; k++)
            smp_note(&reader->notes, "%.100s: %s", s->readers[i]->name, notes->items[k]);
    }
    return SMP_OK;
}

static void read_close(smp_reader *reader)
{
    stacked *s = reader->state;
    for (int64_t i = 0; i < s->count; i++)
        smp_reader_close(s->readers[i]);
    smp_free_all(s->readers, s->block, s);
}

static const smp_file_format format = {
    .name = "stack", .kind = SMP_BOTH, .read_rows = read_rows, .read_end = read_end, .read_close = read_close};

static bool same_profile(const smp_media *a, const smp_media *b)
{
    const smp_blob *x = &a->meta.icc, *y = &b->meta.icc;
    return x->size == y->size && (!x->size || !memcmp(x->data, y->data, x->size)) && a->shape.curve == b->shape.curve;
}

/* Whether a file goes with the first. */
static smp_code check_alike(const smp_media *first, const smp_media *own, smp_error *err)
{
    char words[2][64];
    const smp_shape *a = &first->shape, *b = &own->shape;
    const bool picture = a->kind == SMP_IMAGE;
    const bool alike = a->kind == b->kind && a->width == b->width && a->channels == b->channels &&
                       a->alpha == b->alpha && a->format == b->format && a->rate == b->rate &&
                       (!picture || a->height == b->height);
    smp_shape_text(a, a->format, words[0], sizeof words[0]);
    smp_shape_text(b, b->format, words[1], sizeof words[1]);
    if (picture && b->kind == SMP_IMAGE && first->orientation != own->orientation) {
        smp_fail(err, SMP_E_USAGE, "its rows are stored for another orientation (EXIF %d) than the first one's (%d)",
                 own->orientation, first->orientation);
        return smp_hint(err, "make them upright: smempipe convert IN... -o DIR --to png");
    }
    if (!alike) {
        smp_fail(err, SMP_E_USAGE, "it is %s, and the first is %s", words[1], words[0]);
        if (!picture || b->kind != SMP_IMAGE)
            return smp_hint(err, "make them alike: smempipe convert IN... -o DIR --to wav --rate %.10g --channels %d",
                            a->rate > 0 ? a->rate : 48000, a->channels > 1 ? 2 : 1);
        if (a->width == b->width && a->height == b->height)
            return smp_hint(err, "make them alike: smempipe convert IN... -o DIR --to png %s",
                            a->format == b->format ? "-e 'alpha flatten' -e gray" : "-e 'depth 16bit'");
        return smp_hint(err, "make them alike: smempipe convert IN... -o DIR --to png --resize '%lldx%lld^'",
                        (long long)a->width, (long long)a->height);
    }
    if (same_profile(first, own))
        return SMP_OK;
    smp_fail(err, SMP_E_USAGE, "its colours are described by another profile than the first one's");
    return smp_hint(err, "make them alike: smempipe convert IN... -o DIR --to png -e 'profile srgb'");
}

static smp_code open_all(smp_reader *reader, const char *const *paths, smp_error *err)
{
    enum { BLOCK = 1 << 25 /* bytes of all files */ };
    stacked *s = reader->state;
    smp_read_options how = reader->options;
    how.want = (smp_read_want){0};
    int64_t tallest = 0, bytes;
    for (; paths[s->count]; s->count++) {
        SMP_TRY(smp_reader_open(paths[s->count], &how, &s->readers[s->count], err));
        const smp_media *own = smp_reader_media(s->readers[s->count]), *first = smp_reader_media(s->readers[0]);
        if (check_alike(first, own, err)) {
            s->count++;
            return smp_at(err, "%s", paths[s->count - 1]);
        }
        tallest = smp_max_i64(tallest, own->shape.height);
    }
    smp_media *media = &reader->media;
    const smp_media *first = smp_reader_media(s->readers[0]);
    media->shape = first->shape;
    media->orientation = first->orientation;
    media->bits = first->bits;
    s->stride = smp_row_bytes(&media->shape);
    if (!smp_mul_i64(tallest, s->count, &media->shape.height) || !smp_mul_i64(s->stride, s->count, &bytes))
        return smp_fail(err, SMP_E_LIMIT, "the files together are too large");
    s->most = smp_min_i64(tallest, smp_max_i64(1, BLOCK / bytes));
    SMP_NEED(smp_meta_copy(&media->meta, &first->meta) &&
                 (s->block = smp_alloc_array((size_t)(s->most * s->count), (size_t)s->stride)),
             "rows of all files", (uint64_t)(s->most * bytes), err);
    return SMP_OK;
}

smp_code smp_reader_open_stack(const char *const *paths, const smp_read_options *options, smp_reader **out,
                               smp_error *err)
{
    size_t count = 0;
    while (paths[count])
        count++;
    stacked *state = smp_alloc(sizeof *state);
    if (!state || !(state->readers = smp_alloc_array(count, sizeof *state->readers))) {
        smp_free(state);
        *out = NULL;
        return smp_fail_memory(err, "the files", count);
    }
    SMP_TRY(smp_reader_begin(&format, state, paths[0], options, out, err));
    const smp_code code = open_all(*out, paths, err);
    if (code) {
        smp_reader_close(*out);
        *out = NULL;
    }
    return code;
}
