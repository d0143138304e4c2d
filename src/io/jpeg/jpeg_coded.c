/* The coded picture of a JPEG without its metadata, for files whose metadata alone changes. Nothing is decoded; markers
 * are walked to the end, so that a truncated file is noticed. Source: ITU-T T.81, annex B. */
#include <string.h>

#include "base/alloc.h"
#include "io/jpeg/jpeg_glue.h"

enum { SOI = 0xD8, EOI = 0xD9, SOS = 0xDA, RST_0 = 0xD0, RST_7 = 0xD7, APP_0 = 0xE0, APP_15 = 0xEF, COM = 0xFE };
enum { ADOBE = 0xEE /* APP14: says that colours are RGB, or inks of two kinds */ };

/* Whether it says what colours are, which YCbCr does without. */
static bool says_colours(J_COLOR_SPACE space, const uint8_t *data, size_t size)
{
    static const uint8_t icc[] = "ICC_PROFILE";
    const bool inks = space == JCS_CMYK || space == JCS_YCCK;
    return (data[1] == ADOBE && (inks || space == JCS_RGB)) ||
           (data[1] == APP_0 + 2 && inks && size >= 4 + sizeof icc && !memcmp(data + 4, icc, sizeof icc));
}

/* Moves what is kept to the beginning, and returns its size; 0 where a marker is expected and none is there. *followed:
 * as smp_jpeg_follower. */
static size_t keep_picture(uint8_t *data, size_t size, J_COLOR_SPACE space, const char **followed)
{
    size_t at = 2, kept = 0;
    smp_source source;
    smp_jpeg_walk w = {.source = &source};
    uint8_t further;
    smp_source_memory(&source, data, size);
    while (at + 4 <= size || (at + 2 <= size && data[at + 1] == EOI)) {
        const int marker = data[at + 1];
        if (data[at] != 0xFF || marker < 0xC0 || marker == SOI || (marker >= RST_0 && marker <= RST_7))
            return 0;
        if (marker == EOI) {
            *followed = smp_jpeg_follower(data + at + 2, size - at - 2);
            memmove(data + kept, data + at, 2);
            return kept + 2;
        }
        size_t end = at + 2 + ((size_t)data[at + 2] << 8 | data[at + 3]);
        if (end > size || end < at + 4)
            return 0;
        uint64_t next = end;
        if (marker == SOS)
            end = smp_jpeg_next_marker(&w, &next, &further) ? (size_t)next - 2 : size;
        if (marker != COM && (marker < APP_0 || marker > APP_15 || says_colours(space, data + at, end - at))) {
            memmove(data + kept, data + at, end - at);
            kept += end - at;
        }
        at = end;
    }
    return 0;
}

bool smp_jpeg_is_adobe(const smp_blob *coded)
{
    return memmem(coded->data, coded->size,
                  "\xFF\xEE\0\x0E"
                  "Adobe",
                  9);
}

smp_code smp_jpeg_keep_coded(smp_reader *reader, J_COLOR_SPACE space, smp_error *err)
{
    smp_source *source = &reader->source;
    smp_blob *coded = &reader->media.coded;
    const smp_shape *shape = &reader->media.shape;
    smp_code code = smp_check_picture(&reader->options.limits, shape->width, shape->height, source->size, err);
    if (code || source->size > SIZE_MAX || source->size < 4 || !smp_source_seek(source, 0))
        return code;
    const size_t size = (size_t)source->size;
    const char *followed = NULL;
    SMP_NEED(coded->data = smp_alloc_raw(size), "a JPEG", size, err);
    if (smp_source_read(source, coded->data, size) == size)
        coded->size = keep_picture(coded->data, size, space, &followed);
    if (coded->size)
        smp_jpeg_note_next(reader, followed);
    return SMP_OK;
}
