/* Walks the chunks of a WebP: see webp_glue.h. */
#include <string.h>

#include "io/bytes.h"
#include "io/webp/webp_glue.h"

enum { RIFF_HEADER = 12, CHUNK_HEADER = 8, MOST_CHUNKS = 100000, FRAME_HEADER = 16 };
enum { FRAME_CLEARS = 1, FRAME_REPLACES = 2 };

static smp_code fail_damaged(smp_error *err, const char *what)
{
    smp_fail(err, SMP_E_DECODE, "the WebP is damaged: %s", what);
    return smp_hint_damaged(err);
}

static bool is(const uint8_t *chunk, const char *type)
{
    return memcmp(chunk, type, 4) == 0;
}

/* The size and alpha of a coded picture, from its own header. */
static smp_code read_picture(const smp_source *source, const uint8_t *chunk, uint64_t at, uint32_t size, smp_webp *webp,
                             smp_error *err)
{
    uint8_t head[10] = {0};
    const bool lossless = is(chunk, "VP8L");
    const size_t need = lossless ? 5 : 10;
    if (size < need || !smp_source_look(source, at, head, need))
        return fail_damaged(err, "a picture in it is empty");
    webp->lossless = lossless;
    if (lossless) {
        const uint32_t bits = smp_get_le(head + 1, 4);
        if (head[0] != 0x2F)
            return fail_damaged(err, "a lossless picture has no header");
        webp->inner_width = (bits & 0x3FFF) + 1;
        webp->inner_height = (bits >> 14 & 0x3FFF) + 1;
        webp->alpha = bits >> 28 & 1;
        return SMP_OK;
    }
    if (head[0] & 1 || memcmp(head + 3, "\x9D\x01\x2A", 3) != 0)
        return fail_damaged(err, "a picture has no header");
    webp->inner_width = smp_get_le(head + 6, 2) & 0x3FFF;
    webp->inner_height = smp_get_le(head + 8, 2) & 0x3FFF;
    return webp->inner_width && webp->inner_height ? SMP_OK : fail_damaged(err, "a picture has no pixels");
}

typedef struct walk {
    const smp_source *source;
    smp_webp *webp;
    uint64_t alpha_at; /* of the alpha of a picture that is not lossless; 0: none */
    bool extended;     /* the canvas has its own header */
} walk;

static void set_range(smp_webp_range *range, uint64_t at, uint32_t size)
{
    if (!range->size) /* the first counts */
        *range = (smp_webp_range){at, size};
}

/* Chunks of the file, or of a frame. at: of the first, end: of the last. */
static smp_code walk_chunks(walk *w, uint64_t at, uint64_t end, bool in_frame, smp_error *err);

static smp_code walk_frame(walk *w, uint64_t at, uint32_t size, smp_error *err)
{
    uint8_t head[FRAME_HEADER];
    if (w->webp->frames++)
        return SMP_OK;
    if (size < FRAME_HEADER || !smp_source_look(w->source, at, head, FRAME_HEADER))
        return fail_damaged(err, "a frame is too short");
    w->webp->x = 2 * (int64_t)smp_get_le(head, 3);
    w->webp->y = 2 * (int64_t)smp_get_le(head + 3, 3);
    return walk_chunks(w, at + FRAME_HEADER, at + size, true, err);
}

static smp_code walk_chunk(walk *w, const uint8_t *chunk, uint64_t at, uint32_t size, bool in_frame, smp_error *err)
{
    smp_webp *webp = w->webp;
    if (is(chunk, "VP8 ") || is(chunk, "VP8L")) {
        if (webp->coded.size || (webp->moving && !in_frame))
            return SMP_OK;
        const uint64_t from = w->alpha_at && is(chunk, "VP8 ") ? w->alpha_at : at - CHUNK_HEADER;
        webp->coded = (smp_webp_range){from, at + size - from};
        SMP_TRY(read_picture(w->source, chunk, at, size, webp, err));
        webp->alpha |= w->alpha_at && !webp->lossless;
        return SMP_OK;
    }
    if (is(chunk, "ALPH") && !w->alpha_at)
        w->alpha_at = at - CHUNK_HEADER;
    else if (is(chunk, "ANMF") && !in_frame)
        return walk_frame(w, at, size, err);
    else if (is(chunk, "ANIM") && !in_frame) {
        uint8_t head[6];
        if (size >= sizeof head && smp_source_look(w->source, at, head, sizeof head))
            webp->plays = smp_get_le(head + 4, 2);
    } else if (is(chunk, "ICCP"))
        set_range(&webp->icc, at, size);
    else if (is(chunk, "EXIF"))
        set_range(&webp->exif, at, size);
    else if (is(chunk, "XMP "))
        set_range(&webp->xmp, at, size);
    else if (is(chunk, "VP8X") && !w->extended) {
        uint8_t head[10];
        if (size < sizeof head || !smp_source_look(w->source, at, head, sizeof head))
            return fail_damaged(err, "its header is too short");
        w->extended = true;
        webp->moving = head[0] & WEBP_IS_MOVING;
        webp->width = (int64_t)smp_get_le(head + 4, 3) + 1;
        webp->height = (int64_t)smp_get_le(head + 7, 3) + 1;
    }
    return SMP_OK;
}

static smp_code walk_chunks(walk *w, uint64_t at, uint64_t end, bool in_frame, smp_error *err)
{
    for (int n = 0; at < end; n++) {
        uint8_t head[CHUNK_HEADER];
        if (end - at < CHUNK_HEADER || !smp_source_look(w->source, at, head, CHUNK_HEADER))
            return fail_damaged(err, "a chunk has no header");
        const uint32_t size = smp_get_le(head + 4, 4);
        at += CHUNK_HEADER;
        if (size > end - at)
            return fail_damaged(err, "a chunk reaches past its end");
        if (n == MOST_CHUNKS)
            return smp_fail(err, SMP_E_DECODE, "the WebP has more than %d chunks", MOST_CHUNKS);
        SMP_TRY(walk_chunk(w, head, at, size, in_frame, err));
        at += size;
        at += size & 1 && at < end ? 1 : 0;
    }
    return SMP_OK;
}

smp_code smp_webp_walk(const smp_source *source, smp_webp *webp, smp_error *err)
{
    walk w = {.source = source, .webp = webp};
    uint8_t head[RIFF_HEADER];
    *webp = (smp_webp){.width = 0};
    if (!smp_source_look(source, 0, head, RIFF_HEADER))
        return smp_check_size(source, RIFF_HEADER, err);
    webp->end = CHUNK_HEADER + (uint64_t)smp_get_le(head + 4, 4);
    SMP_TRY(smp_check_size(source, webp->end, err));
    SMP_TRY(walk_chunks(&w, RIFF_HEADER, webp->end, false, err));
    if (!webp->coded.size)
        return fail_damaged(err, "there is no picture in it");
    if (!webp->moving || !w.extended) {
        webp->x = webp->y = 0;
        webp->width = webp->inner_width;
        webp->height = webp->inner_height;
    }
    if (webp->x + webp->inner_width > webp->width || webp->y + webp->inner_height > webp->height)
        return fail_damaged(err, "its first picture lies outside of it");
    return SMP_OK;
}

static smp_code fail_frame(smp_error *err, int64_t number, const char *what)
{
    smp_fail(err, SMP_E_DECODE, "the WebP is damaged: picture %lld %s", (long long)number, what);
    return smp_hint_damaged(err);
}

/* number: of the frame, from 1 on. */
static smp_code read_frame(const smp_source *source, const smp_webp *webp, uint64_t at, uint32_t size, int64_t number,
                           smp_webp_frame *frame, smp_error *err)
{
    uint8_t head[FRAME_HEADER];
    *frame = (smp_webp_frame){.delay = 0};
    smp_webp *one = &frame->webp;
    walk w = {.source = source, .webp = one};
    if (size < FRAME_HEADER || !smp_source_look(source, at, head, FRAME_HEADER))
        return fail_frame(err, number, "is too short");
    SMP_TRY(walk_chunks(&w, at + FRAME_HEADER, at + size, true, err));
    one->x = 2 * (int64_t)smp_get_le(head, 3);
    one->y = 2 * (int64_t)smp_get_le(head + 3, 3);
    frame->delay = smp_get_le(head + 12, 3);
    frame->clears = head[15] & FRAME_CLEARS;
    frame->blends = !(head[15] & FRAME_REPLACES);
    if (!one->coded.size)
        return fail_frame(err, number, "has no pixels");
    if (one->inner_width != (int64_t)smp_get_le(head + 6, 3) + 1 ||
        one->inner_height != (int64_t)smp_get_le(head + 9, 3) + 1)
        return fail_frame(err, number, "is not as large as its header says");
    if (one->x + one->inner_width > webp->width || one->y + one->inner_height > webp->height)
        return fail_frame(err, number, "lies outside of its canvas");
    return SMP_OK;
}

smp_code smp_webp_next(const smp_source *source, const smp_webp *webp, uint64_t *at, int64_t number,
                       smp_webp_frame *frame, smp_error *err)
{
    uint64_t from = *at ? *at : RIFF_HEADER;
    while (from < webp->end) {
        uint8_t head[CHUNK_HEADER];
        if (!smp_source_look(source, from, head, CHUNK_HEADER))
            break;
        const uint32_t size = smp_get_le(head + 4, 4);
        from += CHUNK_HEADER;
        *at = from + size + (size & 1);
        if (is(head, "ANMF"))
            return read_frame(source, webp, from, size, number, frame, err);
        from = *at;
    }
    return fail_frame(err, number, "is missing");
}

smp_code smp_webp_walk_frames(const smp_source *source, smp_webp *webp, smp_error *err)
{
    uint64_t at = 0;
    webp->alpha = false;
    for (int64_t number = 1; number <= webp->frames; number++) {
        smp_webp_frame frame;
        SMP_TRY(smp_webp_next(source, webp, &at, number, &frame, err));
        const smp_webp *one = &frame.webp;
        const bool covers = one->inner_width == webp->width && one->inner_height == webp->height;
        if (number == 1)
            webp->delay = frame.delay;
        webp->alpha |= one->alpha || (number == 1 && !covers);
        webp->clears |= frame.clears && number < webp->frames;
        webp->uneven |= frame.delay != webp->delay;
        if (one->coded.size > webp->most_coded)
            webp->most_coded = one->coded.size;
    }
    return SMP_OK;
}
