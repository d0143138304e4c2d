/* A reader of what a pipeline makes from nothing (stages/origins/origin.h). */
#include "io/made.h"
#include "stages/origins/origin.h"

typedef struct made {
    const smp_origin *origin;
    const void *params;
} made;

static smp_code read_rows(smp_reader *reader, void *to, int64_t stride, int64_t rows, smp_error *)
{
    const made *m = reader->state;
    m->origin->rows(m->params, &reader->media.shape, reader->next_row, rows, to, stride);
    return SMP_OK;
}

/* A sound without end comes in tenths of a second. */
static smp_code read_some(smp_reader *reader, void *to, int64_t stride, int64_t rows, int64_t *got, smp_error *err)
{
    enum { TENTH = 10 };
    const int64_t some = (int64_t)reader->media.shape.rate / TENTH + 1;
    *got = rows < some ? rows : some;
    const smp_code code = read_rows(reader, to, stride, *got, err);
    reader->next_row += *got;
    return code;
}

static smp_code settle(smp_reader *, smp_error *err)
{
    smp_fail(err, SMP_E_PIPE, "a stage or the output needs the sound's length, and it never ends");
    return smp_hint(err, "give it one, as in length=10s");
}

static const smp_file_format format = {
    .name = "made", .kind = SMP_BOTH, .read_rows = read_rows, .read_some = read_some, .settle = settle};

static smp_code find_shape(smp_reader *reader, smp_error *err)
{
    static const int bits[] = {[SMP_U8] = 8, [SMP_U16] = 16, [SMP_F32] = 32};
    const made *m = reader->state;
    smp_shape *shape = &reader->media.shape;
    SMP_TRY(m->origin->shape(m->params, shape, err));
    reader->media.bits = bits[shape->format];
    if (shape->kind == SMP_IMAGE)
        return smp_check_picture(&reader->options.limits, shape->width, shape->height, 0, err);
    if (shape->height)
        return smp_check_frames(&reader->options.limits, shape->height, err);
    shape->height = SMP_OPEN_HEIGHT;
    reader->media.open_end = reader->media.live = reader->options.want.live;
    return reader->media.live ? SMP_OK : settle(reader, err);
}

smp_code smp_reader_begin(const smp_file_format *as, void *state, const char *name, const smp_read_options *options,
                          smp_reader **out, smp_error *err)
{
    smp_reader *reader = *out = smp_alloc(sizeof *reader);
    if (!reader || !state || !(reader->name = smp_strdup(name))) {
        smp_free_all(reader, state);
        *out = NULL;
        return smp_fail_memory(err, "a reader", sizeof *reader);
    }
    smp_source_memory(&reader->source, NULL, 0);
    reader->format = as;
    reader->options = *options;
    reader->end = INT64_MAX;
    reader->media.orientation = 1;
    reader->media.meta.srgb_intent = -1;
    reader->media.file_format = as->name;
    reader->state = state;
    return SMP_OK;
}

smp_code smp_reader_open_made(const smp_origin *origin, const void *params, const char *name,
                              const smp_read_options *options, smp_reader **out, smp_error *err)
{
    made *state = smp_alloc(sizeof *state);
    if (state)
        *state = (made){origin, params};
    SMP_TRY(smp_reader_begin(&format, state, name, options, out, err));
    const smp_code code = find_shape(*out, err);
    if (code) {
        smp_reader_close(*out);
        *out = NULL;
    }
    return code;
}
