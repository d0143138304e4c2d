/* Cue points of a WAV and their labels, which are its chapters. Source: Microsoft, "Multimedia Programming Interface
 * and Data Specifications 1.0", cue points and associated data lists. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "io/audio/chapters.h"
#include "io/audio/tags.h"
#include "io/audio/wav.h"

enum { POINT = 24 /* bytes of a cue point */, MOST_LIST = 1 << 21 /* of a chunk */ };

static uint32_t get(const smp_wav *h, const uint8_t *at)
{
    return (uint32_t)smp_get_bytes(at, 4, h->big);
}

/* Reads a chunk; null: it is too large, cut, or there is no memory. */
static uint8_t *read_chunk(smp_reader *reader, uint64_t at, uint32_t size)
{
    uint8_t *data = at && size <= MOST_LIST ? smp_alloc_raw(size + 1) : NULL;
    if (data && !smp_sound_look(&reader->source, at, data, size)) {
        smp_free(data);
        return NULL;
    }
    return data;
}

/* The label of a cue point; null: it has none. */
static const char *label_of(const smp_wav *h, const uint8_t *adtl, uint32_t id, size_t *length)
{
    for (uint64_t i = 4; adtl && i + 8 <= h->adtl_size;) {
        const uint32_t n = get(h, adtl + i + 4);
        if (n > h->adtl_size - i - 8)
            return NULL;
        if (n >= 4 && !memcmp(adtl + i, "labl", 4) && get(h, adtl + i + 8) == id) {
            *length = strnlen((const char *)adtl + i + 12, n - 4);
            return (const char *)adtl + i + 12;
        }
        i += 8 + (uint64_t)n + (n & 1);
    }
    return NULL;
}

/* Cue points become chapters, with their labels. What else a list of theirs has (notes, lengths) is left out. */
smp_code smp_wav_take_cues(const smp_wav *h, smp_reader *reader, smp_names *others, smp_error *err)
{
    uint8_t *cue = read_chunk(reader, h->cue_at, h->cue_size), *adtl = read_chunk(reader, h->adtl_at, h->adtl_size);
    smp_chapters list = {0};
    bool memory = true;
    const uint32_t count = cue && h->cue_size >= 4 ? get(h, cue) : 0;
    const uint32_t whole = h->cue_size >= 4 ? (uint32_t)(h->cue_size - 4) / POINT : 0;
    const uint32_t have = count < whole ? count : whole;
    for (uint32_t i = 0; memory && h->rate && i < have && i < SMP_MOST_CHAPTERS; i++) {
        const uint8_t *point = cue + 4 + (size_t)POINT * i;
        size_t length = 0;
        const char *label = label_of(h, adtl, get(h, point), &length);
        memory = smp_chapters_add(&list, (double)get(h, point + 20) / h->rate, label, length);
    }
    if (have > SMP_MOST_CHAPTERS)
        smp_note(&reader->notes, "its cue points beyond %d are left out", SMP_MOST_CHAPTERS);
    for (uint64_t i = 4; adtl && i + 8 <= h->adtl_size; i += (9 + (uint64_t)get(h, adtl + i + 4)) & ~1ULL)
        if (memcmp(adtl + i, "labl", 4) != 0)
            smp_names_add(others, !memcmp(adtl + i, "note", 4)   ? "notes of cue points"
                                  : !memcmp(adtl + i, "ltxt", 4) ? "lengths of cue points"
                                                                 : "adtl");
    memory = memory && smp_chapters_take(reader, &list);
    smp_chapters_free(&list);
    smp_free_all(cue, adtl);
    return memory ? SMP_OK : smp_fail_memory(err, "cue points", h->cue_size);
}

/* Chapters as cue points with labels; those beyond what their numbers hold are left out. */
void smp_wav_put_cues(smp_bytes *out, const smp_writer *writer, const smp_meta *meta)
{
    smp_chapters list;
    smp_bytes points = {0}, labels = {0};
    uint32_t count = 0;
    out->failed |= !smp_chapters_of(meta, &list);
    for (size_t i = 0; i < list.count; i++) {
        const double at = round(list.items[i].start * writer->shape.rate);
        const char *title = list.items[i].title;
        if (at > UINT32_MAX - 1)
            continue;
        smp_bytes_le(&points, ++count, 4);
        smp_bytes_le(&points, (uint64_t)at, 4);
        smp_bytes_add(&points, "data", 4);
        smp_bytes_le(&points, 0, 8);
        smp_bytes_le(&points, (uint64_t)at, 4);
        if (!title)
            continue;
        smp_bytes_chunk(&labels, "labl", strlen(title) + 5, 4, false);
        smp_bytes_le(&labels, count, 4);
        smp_bytes_add(&labels, title, strlen(title) + 1);
        smp_bytes_le(&labels, 0, (int)((strlen(title) + 1) & 1));
    }
    if (count) {
        smp_bytes_chunk(out, "cue ", points.size + 4, 4, false);
        smp_bytes_le(out, count, 4);
        smp_bytes_add(out, points.data, points.size);
    }
    if (labels.size) {
        smp_bytes_chunk(out, "LIST", labels.size + 4, 4, false);
        smp_bytes_add(out, "adtl", 4);
        smp_bytes_add(out, labels.data, labels.size);
    }
    out->failed |= points.failed || labels.failed;
    smp_chapters_free(&list);
    smp_free_all(points.data, labels.data);
}
