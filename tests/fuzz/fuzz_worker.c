/* libFuzzer target for what a decoder's process says (io/decoder/worker_message.h), as the program reads it. The first
 * byte chooses an honest message; the rest are changes to it: two bytes say where, one what, and eight are the number.
 * So a fuzzer begins with messages that are read whole, whatever structures hold. Any message must be refused, or be a
 * picture or sound that stays what it is when it is sent again. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "io/decoder/worker_message.h"
#include "io/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CHANGE = 11 /* bytes */, ERR = 1, MEDIA = 2, ROWS = 4, ROW_BYTES = 24 };

static void need(bool done)
{
    if (!done)
        abort();
}

static void put_media(smp_media *media, bool sound)
{
    *media = (smp_media){.orientation = 6, .bits = 8, .pages = 3, .meta.srgb_intent = -1, .meta.gamma = 0.45455};
    media->shape = (smp_shape){.kind = SMP_IMAGE, .width = 40, .height = 30, .channels = 4, .alpha = true};
    if (sound)
        media->shape = (smp_shape){
            .kind = SMP_AUDIO, .width = 1, .height = 44100, .channels = 2, .format = SMP_F32, .rate = 44100};
    for (size_t i = 0; smp_format_at(i); i++)
        if (smp_format_at(i)->kind == media->shape.kind)
            media->file_format = smp_format_at(i)->name;
    need(smp_meta_add_text(&media->meta, "Author", "somebody", 8) &&
         smp_meta_add_text(&media->meta, "Title", "it", 2) &&
         smp_blob_set(&media->meta.icc, (const unsigned char *)"no profile", 10) &&
         smp_blob_set(&media->meta.exif, (const unsigned char *)"II*\0\10\0\0\0\0\0", 10));
}

static void wire_of(unsigned kind, smp_error *err, smp_notes *notes, smp_media *media, smp_blob *rows, smp_wire *wire)
{
    smp_answer_wire(wire, kind & ERR ? err : NULL, notes, kind & MEDIA ? media : NULL, kind & ROWS ? rows : NULL);
}

static smp_wire honest(unsigned kind, bool sound)
{
    unsigned char row[ROW_BYTES] = {1, 2, 3};
    smp_wire wire = {.data = NULL};
    smp_error err = {.code = SMP_OK, .message = "it is damaged", .hint = "copy it again"};
    smp_notes notes = {.count = 0};
    smp_media media;
    smp_blob rows = {row, sizeof row};
    put_media(&media, sound);
    smp_note(&notes, "a note of %d words", 5);
    wire_of(kind, &err, &notes, &media, &rows, &wire);
    need(!wire.failed);
    smp_meta_free(&media.meta);
    return wire;
}

static void change(smp_wire *wire, const uint8_t *from)
{
    const size_t at = wire->size ? (size_t)(from[0] | from[1] << 8) % wire->size : 0, left = wire->size - at;
    const uint8_t *number = from + 3;
    const size_t bytes = (size_t)1 << (from[2] & 3);
    switch (from[2] >> 2 & 3) {
    case 0:
    case 1: /* another number */
        memcpy(wire->data + at, number, bytes < left ? bytes : left);
        break;
    case 2: /* its end is lost */
        wire->size = at;
        break;
    default: /* bytes are lost */
        memmove(wire->data + at, wire->data + at + (bytes < left ? bytes : left), left - (bytes < left ? bytes : left));
        wire->size -= bytes < left ? bytes : left;
    }
}

/* Uses what was read. */
static void use(smp_media *media)
{
    const smp_read_options how = smp_read_defaults();
    smp_meta copy = {.srgb_intent = -1};
    smp_notes notes = {.count = 0};
    smp_blob made;
    smp_error err;
    if (smp_check_media(&how, media, 0, UINT64_MAX, &err))
        return;
    need(media->shape.width >= 1 && media->shape.height >= 1 && media->shape.channels >= 1 &&
         media->shape.channels <= SMP_MAX_CHANNELS && smp_row_bytes(&media->shape) > 0);
    (void)smp_meta_profile(&media->meta, &media->shape, &made);
    smp_free(made.data);
    need(smp_meta_copy(&copy, &media->meta));
    smp_meta_apply_change(&copy, &(smp_change){.changed = true, .toned = true, .width = 7, .height = 5}, &notes);
    smp_meta_free(&copy);
}

typedef struct heard {
    smp_error err;
    smp_notes notes;
    smp_media media;
    unsigned char row[ROW_BYTES];
} heard;

static bool hear(unsigned kind, smp_wire *wire, heard *h)
{
    *h = (heard){.media = {.orientation = 1, .meta.srgb_intent = -1}};
    smp_blob rows = {h->row, sizeof h->row};
    wire->reading = true;
    wire->at = 0;
    wire_of(kind, &h->err, &h->notes, &h->media, &rows, wire);
    return !wire->failed;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const unsigned kind = size ? data[0] & 7 : MEDIA;
    smp_wire first = honest(kind, size && data[0] & 8), again[2] = {{.data = NULL}, {.data = NULL}};
    heard h, second;
    for (size_t at = 1; at + CHANGE <= size && first.size; at += CHANGE)
        change(&first, data + at);
    if (hear(kind, &first, &h)) {
        smp_blob rows = {h.row, sizeof h.row};
        if (kind & MEDIA)
            use(&h.media);
        wire_of(kind, &h.err, &h.notes, &h.media, &rows, &again[0]);
        need(!again[0].failed && hear(kind, &again[0], &second));
        rows.data = second.row;
        wire_of(kind, &second.err, &second.notes, &second.media, &rows, &again[1]);
        need(again[0].size == again[1].size && !memcmp(again[0].data, again[1].data, again[0].size));
        smp_meta_free(&second.media.meta);
        smp_free(second.media.coded.data);
    }
    smp_meta_free(&h.media.meta);
    smp_free(h.media.coded.data);
    smp_free(first.data);
    smp_free(again[0].data);
    smp_free(again[1].data);
    return 0;
}
