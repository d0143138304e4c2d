/* Writes GIF through giflib: a picture, or those of an animation, of each of which the part alone that differs from the
 * one before. What a picture's disposal is depends on the next one, so that one is held until that has come. A table of
 * colours is the first picture's, or, where that has not all that a part needs, the part's own. */
#include "io/gif/gif_glue.h"

#ifdef SMP_HAVE_GIF

#include <string.h>

#include <gif_lib.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "io/audio/tags.h"
#include "io/bytes.h"
#include "io/gif/gif_walk.h"

enum { MOST_SIDE = 65535, HALF = 128, NO_HOLE = -1, TICK = 10000 /* microseconds */, QUICK = 20000 };

typedef struct gif_writer {
    GifFileType *library;
    smp_writer *writer;
    smp_error *err;    /* of the call in progress */
    uint32_t *picture; /* RGBA, whose rows come; 0: transparent */
    uint32_t *held;    /* of an animation: the picture before it, not written yet; */
    uint32_t *before;  /* and what is on the canvas when that is drawn */
    bool moves, begun; /* it is an animation; something is written */
    uint8_t *indices;
    uint64_t time, written; /* microseconds of the pictures so far; hundredths of a second that the file has of them */
    uint32_t delay;         /* of the picture that is held, microseconds */
    bool soft, quick;       /* told: partly transparent pixels; short delays */
    bool cut;               /* told: colours were too many */
    bool coloured;          /* a picture was not gray */
    smp_gif_colours all, own;
    char *comment;
    int hole; /* the index in `all` that is transparent; NO_HOLE */
} gif_writer;

smp_code smp_gif_write_shape(const smp_file_format *, const char *, smp_shape *shape, smp_error *err)
{
    if (shape->width > MOST_SIDE || shape->height > MOST_SIDE)
        return smp_fail(err, SMP_E_WRITE, "a GIF holds at most %d x %d pixels; this has %lld x %lld", MOST_SIDE,
                        MOST_SIDE, (long long)shape->width, (long long)shape->height),
               smp_hint(err, "write a .png or .tif, which may be larger");
    shape->format = SMP_U8;
    return smp_check_colour("GIF", shape, err);
}

static int take_bytes(GifFileType *library, const GifByteType *data, int size)
{
    gif_writer *state = library->UserData;
    return smp_output_write(state->writer->output, data, (size_t)size, state->err) ? 0 : size;
}

/* ok: what giflib gave. */
static smp_code done(gif_writer *state, int ok, smp_error *err)
{
    if (ok != GIF_ERROR)
        return SMP_OK;
    const int number = state->library->Error;
    if (number == E_GIF_ERR_NOT_ENOUGH_MEM)
        return smp_fail_memory(err, "a GIF", 0);
    if (number == E_GIF_ERR_WRITE_FAILED && err && err->code)
        return err->code;
    const char *why = GifErrorString(number);
    return smp_fail(err, SMP_E_WRITE, "the GIF cannot be written (giflib: %.100s)", why ? why : "no reason is given");
}

static smp_code take_canvas(const smp_shape *shape, uint32_t **canvas, smp_error *err)
{
    const size_t pixels = (size_t)shape->width * (size_t)shape->height;
    *canvas = smp_alloc_array(pixels, sizeof **canvas);
    return *canvas ? SMP_OK : smp_fail_memory(err, "a GIF", (uint64_t)pixels * sizeof **canvas);
}

/* Keeps the first comment, which readers read. */
static smp_code take_comment(smp_writer *writer, gif_writer *state, const smp_meta *meta, smp_error *err)
{
    for (size_t i = 0; meta && i < meta->text_count; i++)
        if (state->comment || strcmp(smp_tag_any_key(meta->texts[i].key), "Comment") != 0)
            smp_note(&writer->notes, "the text '%.80s' is left out: a GIF has no place for it", meta->texts[i].key);
        else
            SMP_NEED(state->comment = smp_strdup(meta->texts[i].value), "a comment", 0, err);
    return SMP_OK;
}

smp_code smp_gif_write_open(smp_writer *writer, const smp_meta *meta, smp_error *err)
{
    gif_writer *state = writer->state = smp_alloc(sizeof *state);
    int number = 0;
    SMP_NEED(state, "a GIF", sizeof *state, err);
    state->writer = writer;
    state->hole = NO_HOLE;
    SMP_TRY(take_comment(writer, state, meta, err));
    const size_t pixels = (size_t)writer->shape.width * (size_t)writer->shape.height;
    SMP_TRY(take_canvas(&writer->shape, &state->picture, err));
    SMP_NEED(state->indices = smp_alloc_raw(pixels), "a GIF", pixels, err);
    state->library = EGifOpen(state, take_bytes, &number);
    return state->library ? SMP_OK : smp_fail_memory(err, "a GIF", 0);
}

smp_code smp_gif_write_row(smp_writer *writer, int64_t y, const void *from, smp_error *)
{
    gif_writer *state = writer->state;
    const smp_shape *shape = &writer->shape;
    const int n = shape->channels, green = n >= 3 ? 1 : 0, blue = n >= 3 ? 2 : 0;
    const uint8_t *s = from;
    uint8_t *to = (uint8_t *)(state->picture + y * shape->width);
    bool soft = false;
    state->coloured |= n >= 3;
    for (int64_t x = 0; x < shape->width; x++, s += n, to += 4) {
        const uint8_t alpha = shape->alpha ? s[n - 1] : 255;
        soft |= alpha && alpha < 255;
        memcpy(to, alpha < HALF ? (const uint8_t[4]){0} : (const uint8_t[4]){s[0], s[green], s[blue], 255}, 4);
    }
    if (soft && !state->soft)
        smp_note(&writer->notes, "pixels are partly transparent, which a GIF has not: below half they are left out, "
                                 "others are opaque; 'alpha flatten white' lays all on a colour");
    state->soft |= soft;
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ a picture */

/* The part that is drawn: what differs, and what is to be cleared behind it. */
static smp_gif_part part_of(const gif_writer *state, const uint32_t *pixels, const uint32_t *next, bool *clears)
{
    const smp_shape *shape = &state->writer->shape;
    smp_gif_part p = {.pixels = pixels, .before = state->before, .stride = shape->width};
    int64_t left = shape->width, right = 0, top = shape->height, bottom = 0;
    const bool whole = !state->begun;
    *clears = false;
    for (int64_t y = 0; y < shape->height; y++)
        for (int64_t x = 0; x < shape->width; x++) {
            const int64_t i = y * shape->width + x;
            const bool gone = next && pixels[i] && !next[i];
            *clears |= gone;
            if (!whole && !gone && pixels[i] == p.before[i])
                continue;
            left = smp_min_i64(left, x);
            right = smp_max_i64(right, x + 1);
            top = smp_min_i64(top, y);
            bottom = y + 1;
        }
    if (!bottom) /* nothing differs, and a picture has a pixel */
        left = top = 0, right = bottom = 1;
    p.x = left;
    p.y = top;
    p.width = right - left;
    p.height = bottom - top;
    return p;
}

static ColorMapObject *map_of(const smp_gif_colours *colours, bool hole)
{
    int bits = 1;
    while (1 << bits < colours->table.count + hole)
        bits++;
    ColorMapObject *map = GifMakeMapObject(1 << bits, NULL);
    for (int i = 0; map && i < colours->table.count; i++) {
        const uint8_t *c = colours->table.colours[i];
        map->Colors[i] = (GifColorType){c[0], c[1], c[2]};
    }
    return map;
}

static smp_code begin_file(gif_writer *state, smp_error *err)
{
    const smp_shape *shape = &state->writer->shape;
    static const char loop[] = "NETSCAPE2.0";
    const uint32_t plays = smp_writer_plays(state->writer);
    const bool hole = state->all.holes || (state->moves && state->all.table.count < SMP_COLOURS);
    state->hole = hole ? state->all.table.count : NO_HOLE;
    ColorMapObject *map = map_of(&state->all, hole);
    SMP_NEED(map, "a GIF", 0, err);
    EGifSetGifVersion(state->library, true);
    int ok = EGifPutScreenDesc(state->library, (int)shape->width, (int)shape->height, 8, 0, map);
    GifFreeMapObject(map);
    if (ok != GIF_ERROR && state->moves && plays != 1) { /* it is repeated so often */
        uint8_t count[3] = {1};
        smp_put_le(count + 1, plays ? plays - 1 : 0, 2);
        ok = EGifPutExtensionLeader(state->library, APPLICATION_EXT_FUNC_CODE);
        if (ok != GIF_ERROR)
            ok = EGifPutExtensionBlock(state->library, sizeof loop - 1, loop);
        if (ok != GIF_ERROR)
            ok = EGifPutExtensionBlock(state->library, sizeof count, count);
        if (ok != GIF_ERROR)
            ok = EGifPutExtensionTrailer(state->library);
    }
    if (ok != GIF_ERROR && state->comment && state->comment[0])
        ok = EGifPutComment(state->library, state->comment);
    state->begun = true;
    return done(state, ok, err);
}

/* Hundredths of a second, so that the sum is right. */
static uint32_t ticks_of(gif_writer *state)
{
    enum { MOST = UINT16_MAX };
    if (state->delay < QUICK && !state->quick) {
        smp_note(&state->writer->notes, "pictures are shown for less than 20 ms, which browsers make 100; --delay 20 "
                                        "is the quickest that they keep");
        state->quick = true;
    }
    state->time += state->delay;
    const uint64_t ticks = smp_min_u64((state->time + TICK / 2) / TICK - state->written, MOST);
    state->written += ticks;
    return (uint32_t)ticks;
}

static smp_code put_part(gif_writer *state, const smp_gif_part *part, ColorMapObject *map, int hole, bool clears,
                         smp_error *err)
{
    if (state->moves || hole != NO_HOLE) {
        uint8_t control[4] = {(uint8_t)((clears ? SMP_GIF_CLEAR : state->moves ? 1 : 0) << 2 | (hole != NO_HOLE))};
        smp_put_le(control + 1, state->moves ? ticks_of(state) : 0, 2);
        control[3] = (uint8_t)(hole == NO_HOLE ? 0 : hole);
        SMP_TRY(done(state, EGifPutExtension(state->library, GRAPHICS_EXT_FUNC_CODE, sizeof control, control), err));
    }
    GifFreeMapObject(state->library->Image.ColorMap); /* giflib drops one that none follows, and does not free it */
    state->library->Image.ColorMap = NULL;
    SMP_TRY(done(
        state,
        EGifPutImageDesc(state->library, (int)part->x, (int)part->y, (int)part->width, (int)part->height, false, map),
        err));
    for (int64_t y = 0; y < part->height; y++)
        SMP_TRY(done(state, EGifPutLine(state->library, state->indices + y * part->width, (int)part->width), err));
    return SMP_OK;
}

/* Whether the first picture's table has all that the part needs. */
static bool is_in_first(gif_writer *state)
{
    bool in = !state->own.nearest && !state->all.nearest && (!state->own.holes || state->hole != NO_HOLE);
    for (int i = 0; in && i < state->own.table.count; i++)
        in = smp_colour_index(&state->all.table, state->own.table.colours[i], false) != SMP_NO_COLOUR;
    return in;
}

/* next: the picture behind it; null: none. */
static smp_code put_picture(gif_writer *state, const uint32_t *pixels, const uint32_t *next, smp_error *err)
{
    bool clears;
    const smp_gif_part part = part_of(state, pixels, next, &clears);
    smp_gif_colours *colours = state->begun ? &state->own : &state->all;
    ColorMapObject *map = NULL;
    state->err = err;
    SMP_TRY(smp_gif_find_colours(&part, !state->coloured, colours, err));
    if (colours->nearest && !state->cut)
        smp_note(&state->writer->notes,
                 "the picture has more colours than the %d of a GIF: each pixel gets the nearest "
                 "of the best; 'palette 256 dither=diffuse' as the last stage spreads the rest",
                 SMP_COLOURS);
    state->cut |= colours->nearest;
    int hole = colours->holes ? colours->table.count : NO_HOLE;
    if (!state->begun) {
        SMP_TRY(begin_file(state, err));
        hole = state->hole;
    } else if (is_in_first(state)) {
        const bool all = colours->all;
        colours = &state->all;
        colours->all = all;
        hole = state->own.holes ? state->hole : NO_HOLE;
    } else
        SMP_NEED(map = map_of(colours, colours->holes), "a GIF", 0, err);
    smp_code code = smp_gif_paint(&part, colours, (uint8_t)(hole == NO_HOLE ? 0 : hole), state->indices, err);
    code = code ? code : put_part(state, &part, map, hole, clears, err);
    GifFreeMapObject(map);
    for (int64_t y = 0; state->before && clears && y < part.height; y++) /* of what the caller makes `before` */
        memset((uint32_t *)(uintptr_t)pixels + (part.y + y) * part.stride + part.x, 0,
               (size_t)part.width * sizeof *pixels);
    return code;
}

/* Writes the picture that is held; then the one that has come is. */
static smp_code put_held(gif_writer *state, smp_error *err)
{
    SMP_TRY(put_picture(state, state->held, state->picture, err));
    uint32_t *free = state->before;
    state->before = state->held;
    state->held = state->picture;
    state->picture = free;
    state->delay = smp_writer_shown(state->writer);
    return SMP_OK;
}

smp_code smp_gif_write_next(smp_writer *writer, const smp_meta *, smp_error *err)
{
    gif_writer *state = writer->state;
    if (state->moves)
        return put_held(state, err);
    SMP_TRY(take_canvas(&writer->shape, &state->held, err));
    SMP_TRY(take_canvas(&writer->shape, &state->before, err));
    uint32_t *free = state->held;
    state->held = state->picture;
    state->picture = free;
    state->delay = smp_writer_shown(writer);
    state->moves = true;
    return SMP_OK;
}

smp_code smp_gif_write_end(smp_writer *writer, smp_error *err)
{
    gif_writer *state = writer->state;
    int number = 0;
    if (state->moves)
        SMP_TRY(put_held(state, err));
    SMP_TRY(put_picture(state, state->moves ? state->held : state->picture, NULL, err));
    GifFileType *library = state->library;
    state->library = NULL;
    state->err = err;
    if (EGifCloseFile(library, &number) != GIF_ERROR)
        return SMP_OK;
    return err && err->code ? err->code : smp_fail(err, SMP_E_WRITE, "the GIF cannot be written");
}

void smp_gif_write_close(smp_writer *writer)
{
    gif_writer *state = writer->state;
    smp_error err = {0};
    int number;
    state->err = &err;
    if (state->library)
        EGifCloseFile(state->library, &number);
    smp_free_all(state->picture, state->held, state->before, state->indices, state->comment, state);
}

#endif
