/* Reads GIF through giflib, as RGB, or RGBA where a colour is transparent or the canvas is not covered: the first
 * picture. Rows stream; only an interlaced picture is kept whole. */
#include "io/gif/gif_walk.h"

#ifdef SMP_HAVE_GIF

#include <stdio.h>
#include <string.h>

#include <gif_lib.h>

#include "base/alloc.h"
#include "base/checked.h"

typedef struct gif_reader {
    smp_gif gif;
    GifFileType *library;
    smp_reader *reader;
    uint64_t position;
    uint8_t *rows; /* one row of colours, or all of an interlaced picture */
    bool begun;
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
    if (number == D_GIF_ERR_NOT_ENOUGH_MEM)
        return smp_fail_memory(err, "a GIF", 0);
    smp_fail(err, SMP_E_DECODE, "the GIF is damaged (giflib: %.100s)", why ? why : "no reason is given");
    return smp_hint_damaged(err);
}

static smp_code read_open(smp_reader *reader, smp_error *err)
{
    smp_media *media = &reader->media;
    smp_code code = smp_source_spool(&reader->source, err);
    if (code)
        return code;
    gif_reader *state = reader->state = smp_alloc(sizeof *state);
    if (!state)
        return smp_fail_memory(err, "a GIF", sizeof *state);
    const smp_gif *gif = &state->gif;
    state->reader = reader;
    code = smp_gif_walk(&reader->source, &state->gif, err);
    if (code)
        return code;
    media->shape.width = gif->width;
    media->shape.height = gif->height;
    media->shape.alpha = gif->transparent >= 0 || gif->inner_width < gif->width || gif->inner_height < gif->height;
    media->shape.channels = media->shape.alpha ? 4 : 3;
    media->shape.format = SMP_U8;
    media->bits = 8;
    snprintf(media->detail, sizeof media->detail, "palette%s%s", gif->transparent >= 0 ? ", transparent colour" : "",
             gif->interlaced ? ", interlaced" : "");
    const size_t size = (size_t)gif->inner_width * (gif->interlaced ? (size_t)gif->inner_height : 1);
    code = smp_check_picture(&reader->limits, gif->width, gif->height, size, err);
    if (code)
        return code;
    state->rows = smp_alloc_raw(size);
    if (!state->rows)
        return smp_fail_memory(err, "rows of a GIF", size);
    if (gif->pictures > 1)
        smp_note(&reader->notes, "the file is an animation of %lld pictures; only the first is read",
                 (long long)gif->pictures);
    int number = D_GIF_ERR_NOT_ENOUGH_MEM;
    state->library = DGifOpen(state, feed, &number);
    return state->library ? SMP_OK : fail_library(number, err);
}

/* Goes to the first picture's colours. */
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
        while (block)
            if (DGifGetExtensionNext(library, &block) == GIF_ERROR)
                return fail_library(library->Error, err);
    }
    if (DGifGetImageDesc(library) == GIF_ERROR)
        return fail_library(library->Error, err);
    if (library->Image.Width != state->gif.inner_width || library->Image.Height != state->gif.inner_height)
        return fail_library(D_GIF_ERR_IMAGE_DEFECT, err);
    return SMP_OK;
}

/* Every eighth row, those between, those between these, and the others. */
static smp_code read_interlaced(gif_reader *state, smp_error *err)
{
    static const int first[] = {0, 4, 2, 1}, step[] = {8, 8, 4, 2};
    for (int pass = 0; pass < 4; pass++)
        for (int64_t y = first[pass]; y < state->gif.inner_height; y += step[pass])
            if (DGifGetLine(state->library, state->rows + y * state->gif.inner_width, (int)state->gif.inner_width) ==
                GIF_ERROR)
                return fail_library(state->library->Error, err);
    return SMP_OK;
}

static smp_code get_row(gif_reader *state, int64_t y, const uint8_t **row, smp_error *err)
{
    const smp_gif *gif = &state->gif;
    smp_code code = SMP_OK;
    if (!state->begun) {
        code = find_picture(state, err);
        if (!code && gif->interlaced)
            code = read_interlaced(state, err);
        state->begun = true;
    }
    *row = state->rows + (gif->interlaced ? y * gif->inner_width : 0);
    if (!code && !gif->interlaced && DGifGetLine(state->library, state->rows, (int)gif->inner_width) == GIF_ERROR)
        code = fail_library(state->library->Error, err);
    return code;
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
            return smp_fail(err, SMP_E_DECODE, "the GIF is damaged: a pixel has colour %d, which the palette lacks",
                            index);
        to[0] = map->Colors[index].Red;
        to[1] = map->Colors[index].Green;
        to[2] = map->Colors[index].Blue;
        if (n == 4)
            to[3] = 255;
    }
    return SMP_OK;
}

static smp_code read_rows(smp_reader *reader, void *to, int64_t stride, int64_t rows, smp_error *err)
{
    gif_reader *state = reader->state;
    const smp_gif *gif = &state->gif;
    smp_code code = SMP_OK;
    for (int64_t i = 0; i < rows && !code; i++) {
        const int64_t y = reader->next_row + i - gif->y;
        const uint8_t *colours;
        uint8_t *row = (uint8_t *)to + i * stride;
        memset(row, 0, (size_t)smp_row_bytes(&reader->media.shape));
        if (y < 0 || y >= gif->inner_height)
            continue;
        code = get_row(state, y, &colours, err);
        if (!code)
            code = convert(state, colours, row + gif->x * reader->media.shape.channels, err);
    }
    return code;
}

static void read_close(smp_reader *reader)
{
    gif_reader *state = reader->state;
    int number;
    if (state->library)
        DGifCloseFile(state->library, &number);
    smp_free(state->rows);
    smp_free(state);
    reader->state = NULL;
}

#endif

static const char *const extensions[] = {"gif", NULL};

const smp_file_format smp_format_gif = {
    .name = "GIF",
    .extensions = extensions,
    .kind = SMP_IMAGE,
#ifdef SMP_HAVE_GIF
    .sniff = sniff,
    .read_open = read_open,
    .read_rows = read_rows,
    .read_close = read_close,
#endif
};
