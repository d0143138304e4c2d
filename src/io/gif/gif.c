/* Reads GIF through giflib, as RGB, or RGBA where a colour is transparent or the canvas is not covered: the first
 * picture, whose rows stream unless it is interlaced; or, with --frames, each picture of an animation on a canvas that
 * holds what those before it left there. */
#include "io/gif/gif_walk.h"

#ifdef SMP_HAVE_GIF

#include <stdio.h>
#include <string.h>

#include <gif_lib.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "io/bytes.h"
#include "io/canvas.h"
#include "io/gif/gif_glue.h"

enum { TICK = 10000 /* microseconds, in which delays are told */ };

typedef struct gif_reader {
    smp_gif gif;
    GifFileType *library;
    smp_reader *reader;
    uint64_t position;
    uint8_t *rows; /* one row of colours, or all of an interlaced picture */
    size_t room;
    bool begun;
    /* With --frames: */
    smp_canvas canvas;
    bool clips;                /* a picture was not all on it */
    uint8_t *row;              /* RGBA */
    int transparent, disposal; /* of the picture that is drawn */
    int64_t drawn;             /* pictures so far */
} gif_reader;

static bool sniff(const uint8_t *head, size_t size)
{
    return size >= 6 && (memcmp(head, "GIF87a", 6) == 0 || memcmp(head, "GIF89a", 6) == 0);
}

static int feed(GifFileType *library, GifByteType *to, int size)
{
    gif_reader *state = library->UserData;
    smp_source *source = &state->reader->source;
    const uint64_t left = source->size - smp_min_u64(state->position, source->size);
    const size_t n = (size_t)smp_min_u64(left, size > 0 ? (uint64_t)size : 0);
    if (!smp_source_look(source, state->position, to, n))
        return 0;
    state->position += n;
    return (int)n;
}

static smp_code fail_library(int number, smp_error *err)
{
    const char *why = GifErrorString(number);
    SMP_NEED(number != D_GIF_ERR_NOT_ENOUGH_MEM, "a GIF", 0, err);
    smp_fail(err, SMP_E_DECODE, "the GIF is damaged (giflib: %.100s)", why ? why : "no reason is given");
    return smp_hint_damaged(err);
}

static smp_code take_memory(smp_reader *reader, gif_reader *state, smp_error *err)
{
    const smp_gif *gif = &state->gif;
    const size_t all = (size_t)gif->width * (size_t)gif->height; /* of 16 bits each */
    const size_t rows =
        reader->options.frames ? all : (size_t)gif->inner_width * (gif->interlaced ? (size_t)gif->inner_height : 1);
    const size_t row = 4 * (size_t)gif->width;
    const uint64_t canvas = reader->options.frames ? smp_canvas_bytes(&reader->media.shape) : 0;
    SMP_TRY(smp_check_picture(&reader->options.limits, gif->width, gif->height, rows + row + canvas, err));
    state->rows = smp_alloc_raw(state->room = rows);
    state->row = smp_alloc_raw(row);
    SMP_NEED(state->rows && state->row, "rows of a GIF", rows + row, err);
    return canvas ? smp_canvas_open(&state->canvas, &reader->media.shape, err) : SMP_OK;
}

/* Bytes of XMP, which stands there with no lengths of blocks: what is taken for them leads into a trailer of 1, 255,
 * 254 and so on to 0, and the empty block. Source: XMP Specification, part 3, 1.1.2. Some programs cut it in blocks. */
static size_t xmp_bytes(uint8_t *data, size_t size)
{
    enum { TRAILER = 258 };
    size_t i = 1;
    while (size >= TRAILER && i < TRAILER - 1 && data[size - TRAILER + i] == TRAILER - 2 - i)
        i++;
    return i == TRAILER - 1 && data[size - TRAILER] == 1 ? size - TRAILER : smp_gif_join(data, size);
}

static smp_code keep_meta(smp_reader *reader, const smp_gif *gif, smp_error *err)
{
    const struct {
        const smp_gif_blocks *blocks;
        const char *name, *key;
        size_t (*join)(uint8_t *data, size_t size);
    } parts[] = {{&gif->comment, "a comment", "Comment", smp_gif_join},
                 {&gif->xmp, "XMP", SMP_XMP_KEY, xmp_bytes},
                 {&gif->profile, "the ICC profile", NULL, smp_gif_join}};
    smp_meta *meta = &reader->media.meta;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        smp_blob blob = {0};
        const uint64_t size = parts[i].blocks->size;
        bool done = smp_meta_read(&reader->source, parts[i].name, parts[i].blocks->at, size, &blob, &reader->notes);
        blob.size = parts[i].join(blob.data, blob.size);
        if (blob.size && parts[i].key)
            done = smp_meta_add_text(meta, parts[i].key, (char *)blob.data, blob.size);
        else if (blob.size)
            done = smp_blob_set(&meta->icc, blob.data, blob.size);
        smp_free(blob.data);
        SMP_NEED(done, parts[i].name, size, err);
    }
    if (gif->more_comments)
        smp_note(&reader->notes, "comments behind the first are left out");
    return SMP_OK;
}

static smp_code read_open(smp_reader *reader, smp_error *err)
{
    smp_media *media = &reader->media;
    SMP_TRY(smp_source_spool(&reader->source, err));
    gif_reader *state = reader->state;
    const smp_gif *gif = &state->gif;
    state->reader = reader;
    SMP_TRY(smp_gif_walk(&reader->source, &state->gif, err));
    media->shape.width = gif->width;
    media->shape.height = gif->height;
    media->shape.alpha = gif->transparent >= 0 || (reader->options.frames && gif->clears) ||
                         gif->inner_width < gif->width || gif->inner_height < gif->height;
    media->shape.channels = media->shape.alpha ? 4 : 3;
    media->shape.format = SMP_U8;
    media->bits = 8;
    media->meta.coding = (smp_coding){.kind = SMP_CODING_PNG, .png = {8, true}};
    SMP_TRY(keep_meta(reader, gif, err));
    if (gif->broken)
        smp_note(&reader->notes, "the GIF is damaged or cut short behind its picture %lld", (long long)gif->pictures);
    if (gif->left.count)
        smp_note(&reader->notes, "blocks of other programs are left out: %s", smp_names_end(&state->gif.left));
    if (gif->goes_on)
        smp_note(&reader->notes, SMP_BEHIND_LOST);
    if (gif->grown)
        smp_note(&reader->notes, "its canvas is too small for its first picture, and is enlarged");
    char moving[48] = "";
    if (gif->pictures > 1)
        snprintf(moving, sizeof moving, ", animation of %lld pictures", (long long)gif->pictures);
    snprintf(media->detail, sizeof media->detail, "palette%s%s%s", gif->transparent >= 0 ? ", transparent colour" : "",
             gif->interlaced ? ", interlaced" : "", moving);
    SMP_TRY(take_memory(reader, state, err));
    if (gif->pictures > 1 && !reader->options.frames)
        smp_note(&reader->notes,
                 "the file is an animation of %lld pictures; " SMP_FIRST_ALONE
                 "; --frames of run and convert reads all",
                 (long long)gif->pictures);
    if (reader->options.frames) {
        media->pages = gif->pictures;
        media->meta.coding.rate[0] = gif->delay ? 100 : 10;
        media->meta.coding.rate[1] = gif->delay ? (uint32_t)gif->delay : 1;
        media->meta.coding.plays = gif->plays;
        media->meta.coding.uneven = gif->uneven;
    }
    int number = D_GIF_ERR_NOT_ENOUGH_MEM;
    state->library = DGifOpen(state, feed, &number);
    return state->library ? SMP_OK : fail_library(number, err);
}

/* Goes to the next picture's colours. */
static smp_code find_picture(gif_reader *state, smp_error *err)
{
    GifFileType *library = state->library;
    GifRecordType type = UNDEFINED_RECORD_TYPE;
    GifByteType *block;
    int kind;
    while (type != IMAGE_DESC_RECORD_TYPE) {
        if (DGifGetRecordType(library, &type) == GIF_ERROR)
            return fail_library(library->Error, err);
        if (type == TERMINATE_RECORD_TYPE)
            return fail_library(D_GIF_ERR_NO_IMAG_DSCR, err);
        if (type != EXTENSION_RECORD_TYPE)
            continue;
        if (DGifGetExtension(library, &kind, &block) == GIF_ERROR)
            return fail_library(library->Error, err);
        if (kind == GRAPHICS_EXT_FUNC_CODE && block && block[0] >= 4) {
            state->transparent = block[1] & 1 ? block[4] : -1;
            state->disposal = smp_gif_disposal(block[1]);
            state->reader->delay = smp_get_le(block + 2, 2) * TICK;
        }
        while (block)
            if (DGifGetExtensionNext(library, &block) == GIF_ERROR)
                return fail_library(library->Error, err);
    }
    return DGifGetImageDesc(library) == GIF_ERROR ? fail_library(library->Error, err) : SMP_OK;
}

static smp_code find_first(gif_reader *state, smp_error *err)
{
    const GifFileType *library = state->library;
    SMP_TRY(find_picture(state, err));
    if (library->Image.Width != state->gif.inner_width || library->Image.Height != state->gif.inner_height)
        return fail_library(D_GIF_ERR_IMAGE_DEFECT, err);
    return SMP_OK;
}

/* Every eighth row, those between, those between these, and the others. */
static smp_code read_interlaced(gif_reader *state, int width, int height, smp_error *err)
{
    static const int first[] = {0, 4, 2, 1}, step[] = {8, 8, 4, 2};
    for (int pass = 0; pass < 4; pass++)
        for (int64_t y = first[pass]; y < height; y += step[pass])
            if (DGifGetLine(state->library, state->rows + y * width, width) == GIF_ERROR)
                return fail_library(state->library->Error, err);
    return SMP_OK;
}

static smp_code get_row(gif_reader *state, int64_t y, const uint8_t **row, smp_error *err)
{
    const smp_gif *gif = &state->gif;
    smp_code code = SMP_OK;
    if (!state->begun) {
        code = find_first(state, err);
        if (!code && gif->interlaced)
            code = read_interlaced(state, (int)gif->inner_width, (int)gif->inner_height, err);
        state->begun = true;
    }
    *row = state->rows + (gif->interlaced ? y * gif->inner_width : 0);
    if (!code && !gif->interlaced && DGifGetLine(state->library, state->rows, (int)gif->inner_width) == GIF_ERROR)
        code = fail_library(state->library->Error, err);
    return code;
}

static smp_code fail_colour(int index, smp_error *err)
{
    return smp_fail(err, SMP_E_DECODE, "the GIF is damaged: a pixel has colour %d, which the palette lacks", index);
}

static smp_code convert(const gif_reader *state, const uint8_t *row, uint8_t *to, smp_error *err)
{
    const ColorMapObject *map =
        state->library->Image.ColorMap ? state->library->Image.ColorMap : state->library->SColorMap;
    const int n = state->reader->media.shape.channels;
    for (int64_t x = 0; x < state->gif.inner_width; x++, to += n) {
        const int index = row[x];
        if (index == state->gif.transparent) {
            memset(to, 0, (size_t)n);
            continue;
        }
        if (!map || index >= map->ColorCount)
            return fail_colour(index, err);
        to[0] = map->Colors[index].Red;
        to[1] = map->Colors[index].Green;
        to[2] = map->Colors[index].Blue;
        if (n == 4)
            to[3] = 255;
    }
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ --frames */

static smp_code paint(gif_reader *state, smp_error *err)
{
    const GifImageDesc *image = &state->library->Image;
    const ColorMapObject *map = image->ColorMap ? image->ColorMap : state->library->SColorMap;
    const int64_t left = smp_min_i64(image->Left, state->gif.width), top = smp_min_i64(image->Top, state->gif.height);
    const int64_t width = smp_min_i64(image->Width, state->gif.width - left);
    const int64_t height = smp_min_i64(image->Height, state->gif.height - top);
    if ((width < image->Width || height < image->Height) && !state->clips) {
        smp_note(&state->reader->notes, "picture %lld reaches beyond the canvas and is cut there",
                 (long long)state->drawn + 1);
        state->clips = true;
    }
    smp_canvas_begin(&state->canvas, left, top, width, height, state->disposal);
    for (int64_t y = 0; y < height; y++) {
        uint8_t *to = state->row;
        for (int64_t x = 0; x < width; x++, to += 4) {
            const int index = state->rows[y * image->Width + x];
            memset(to, 0, 4);
            if (index == state->transparent)
                continue;
            if (!map || index >= map->ColorCount)
                return fail_colour(index, err);
            const GifColorType *colour = &map->Colors[index];
            memcpy(to, ((const uint8_t[]){colour->Red, colour->Green, colour->Blue, 255}), 4);
        }
        smp_canvas_lay(&state->canvas, y, state->row, true, true);
    }
    return SMP_OK;
}

/* Draws the next picture on the canvas. */
static smp_code draw(gif_reader *state, smp_error *err)
{
    const GifImageDesc *image = &state->library->Image;
    smp_reader *reader = state->reader;
    size_t area;
    state->transparent = -1;
    state->disposal = 0;
    state->reader->delay = 0;
    SMP_TRY(find_picture(state, err));
    smp_code code = SMP_OK;
    if (image->Left < 0 || image->Top < 0 || image->Width < 1 || image->Height < 1 ||
        (area = (size_t)image->Width * (size_t)image->Height) > smp_worth(&reader->options, reader->source.size))
        return smp_fail(err, SMP_E_DECODE, "the GIF is damaged: picture %lld is larger than its canvas",
                        (long long)state->drawn + 1);
    if (!smp_grow(&state->rows, &state->room, area, 1)) /* one may be larger than the canvas */
        return smp_fail_memory(err, "rows of a GIF", area);
    if (image->Interlace)
        code = read_interlaced(state, image->Width, image->Height, err);
    for (int64_t y = 0; !image->Interlace && y < image->Height && !code; y++)
        if (DGifGetLine(state->library, state->rows + y * image->Width, image->Width) == GIF_ERROR)
            code = fail_library(state->library->Error, err);
    return code ? code : paint(state, err);
}

static smp_code read_next(smp_reader *reader, bool *more, smp_error *)
{
    gif_reader *state = reader->state;
    *more = ++state->drawn < state->gif.pictures;
    state->begun = false;
    return SMP_OK;
}

static smp_code read_canvas(smp_reader *reader, int64_t y, void *to, smp_error *err)
{
    gif_reader *state = reader->state;
    SMP_TRY(state->begun ? SMP_OK : draw(state, err));
    state->begun = true;
    smp_canvas_row(&state->canvas, y, to);
    return SMP_OK;
}

static smp_code read_row(smp_reader *reader, int64_t y, void *to, smp_error *err)
{
    gif_reader *state = reader->state;
    const smp_gif *gif = &state->gif;
    const uint8_t *colours;
    if (state->canvas.pixels)
        return read_canvas(reader, y, to, err);
    memset(to, 0, (size_t)smp_row_bytes(&reader->media.shape));
    if (y < gif->y || y - gif->y >= gif->inner_height)
        return SMP_OK;
    SMP_TRY(get_row(state, y - gif->y, &colours, err));
    return convert(state, colours, (uint8_t *)to + gif->x * reader->media.shape.channels, err);
}

static void read_close(smp_reader *reader)
{
    gif_reader *state = reader->state;
    int number;
    if (state->library)
        DGifCloseFile(state->library, &number);
    smp_canvas_close(&state->canvas);
    smp_free_all(state->rows, state->row, state);
}

#endif

const smp_file_format smp_format_gif = {
    .name = "GIF",
    .extensions = (const char *const[]){"gif", NULL},
    .kind = SMP_IMAGE,
    .bare = true,
    .texts = true,
    .takes = (const smp_write_takes[]){{&smp_write_delay}, {&smp_write_loop}, {0}},
#ifdef SMP_HAVE_GIF
    .sniff = sniff,
    .read_state = sizeof(gif_reader),
    SMP_READS(row),
    .read_next = read_next,
    .read_close = read_close,
    SMP_WRITER(smp_gif, row),
    .write_next = smp_gif_write_next,
#endif
};
