/* Walks the boxes of a HEIF file: see heif_glue.h. */
#include <string.h>

#include "base/checked.h"
#include "io/bytes.h"
#include "io/heif/heif_glue.h"

enum { MOST_BOXES = 1 << 16, MOST_DEPTH = 4, MOST_PART = 1 << 16 };

typedef struct walk {
    const smp_source *source;
    smp_heif *heif;
    int boxes;
    bool meta;
} walk;

static smp_code fail_box(smp_error *err, const char *what)
{
    smp_fail(err, SMP_E_DECODE, "the file is damaged: %s", what);
    return smp_hint_damaged(err);
}

static smp_code fail_end(const walk *w, smp_error *err)
{
    smp_fail(err, SMP_E_DECODE, "a box reaches past the %llu bytes of the file: it is truncated",
             (unsigned long long)w->source->size);
    return smp_hint_damaged(err);
}

/* The size of a picture. */
static smp_code read_size(walk *w, uint64_t at, uint64_t size, smp_error *err)
{
    uint8_t raw[12]; /* version and flags, width, height */
    if (size < sizeof raw || !smp_source_look(w->source, at, raw, sizeof raw))
        return fail_box(err, "a box 'ispe' is too short");
    const uint64_t width = smp_get_be(raw + 4, 4), height = smp_get_be(raw + 8, 4);
    if (!width || !height)
        return fail_box(err, "a picture in it has no pixels");
    w->heif->width = smp_max_i64(w->heif->width, (int64_t)width);
    w->heif->height = smp_max_i64(w->heif->height, (int64_t)height);
    w->heif->pixels = smp_max_u64(w->heif->pixels, width * height);
    return SMP_OK;
}

/* The bits of each channel. */
static smp_code read_bits(walk *w, uint64_t at, uint64_t size, smp_error *err)
{
    uint8_t raw[5 + 4]; /* version and flags, count, bits */
    const size_t have = (size_t)smp_min_u64(size, sizeof raw);
    if (have < 5 || !smp_source_look(w->source, at, raw, have))
        return fail_box(err, "a box 'pixi' is too short");
    for (size_t i = 5; i < have && i < 5 + (size_t)raw[4]; i++)
        w->heif->bits = raw[i] > w->heif->bits ? raw[i] : w->heif->bits;
    return SMP_OK;
}

/* Remembers where the boxes are that say which picture is which; of a size that is looked through in no time. */
static void keep_part(smp_heif *heif, const uint8_t *type, uint64_t at, uint64_t end)
{
    const struct {
        char type[5];
        smp_heif_part *part;
    } parts[] = {{"pitm", &heif->main},
                 {"iinf", &heif->infos},
                 {"iref", &heif->references},
                 {"ipco", &heif->shelf},
                 {"ipma", &heif->uses}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (memcmp(type, parts[i].type, 4) == 0 && !parts[i].part->end && end - at <= MOST_PART)
            *parts[i].part = (smp_heif_part){at, end};
}

static smp_code walk_boxes(walk *w, uint64_t at, uint64_t end, int depth, smp_error *err);

/* A box's content. */
static smp_code walk_box(walk *w, const uint8_t *type, uint64_t at, uint64_t end, int depth, smp_error *err)
{
    w->heif->film |= memcmp(type, "moov", 4) == 0;
    w->heif->brief |= memcmp(type, "mini", 4) == 0;
    keep_part(w->heif, type, at, end);
    if (memcmp(type, "ispe", 4) == 0)
        return read_size(w, at, end - at, err);
    if (memcmp(type, "pixi", 4) == 0)
        return read_bits(w, at, end - at, err);
    if (memcmp(type, "meta", 4) == 0 && depth == 0) {
        w->meta = true;
        return end - at < 4 ? fail_box(err, "its box 'meta' is too short") : walk_boxes(w, at + 4, end, 1, err);
    }
    if (memcmp(type, "iprp", 4) == 0 || memcmp(type, "ipco", 4) == 0)
        return walk_boxes(w, at, end, depth + 1, err);
    return SMP_OK;
}

static smp_code walk_boxes(walk *w, uint64_t at, uint64_t end, int depth, smp_error *err)
{
    smp_code code = SMP_OK;
    if (depth > MOST_DEPTH)
        return fail_box(err, "its boxes are nested too deeply");
    while (at < end && !code) {
        uint8_t head[16];
        uint64_t used = 8, size;
        if (end - at < 8 || !smp_source_look(w->source, at, head, 8))
            return depth ? fail_box(err, "a box is too short") : fail_end(w, err);
        size = smp_get_be(head, 4);
        if (size == 1) {
            if (end - at < 16 || !smp_source_look(w->source, at, head, 16))
                return fail_end(w, err);
            size = smp_get_bytes(head + 8, 8, true);
            used = 16;
        } else if (size == 0) { /* to the end of the file */
            size = end - at;
        }
        if (size < used || ++w->boxes > MOST_BOXES)
            return fail_box(err, "a box has a size that is not possible");
        if (size > end - at)
            return fail_end(w, err);
        code = walk_box(w, head + 4, at + used, at + size, depth, err);
        at += size;
    }
    return code;
}

smp_code smp_heif_walk(const smp_source *source, smp_heif *heif, smp_error *err)
{
    walk w = {.source = source, .heif = heif};
    *heif = (smp_heif){.bits = 8};
    SMP_TRY(walk_boxes(&w, 0, source->size, 0, err));
    if (!heif->pixels && (heif->brief || heif->film))
        return smp_fail(err, SMP_E_DECODE, "the file holds %s, which is not read",
                        heif->brief ? "a picture of the short form (a box 'mini')" : "a film and no still picture"),
               smp_hint(err, heif->brief ? "make a PNG of it with the program that wrote it"
                                         : "ffmpeg -i IN f%%03d.png makes files of its pictures");
    if (!w.meta || !heif->pixels)
        return fail_box(err, w.meta ? "it does not say how large its picture is" : "it has no picture");
    return SMP_OK;
}
