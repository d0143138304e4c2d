/* Entries with their values: see tiff_tags.h. */
#include "io/tiff/tiff_glue.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "io/bytes.h"

enum { MOST_BYTES = 1 << 20 };

/* Bytes of what is swapped with the byte order: a rational number is two. */
static size_t word_of(uint32_t type)
{
    return type == TYPE_RATIONAL || type == 10 ? 4 : smp_tiff_type_size(type);
}

bool smp_tiff_tags_add(smp_tiff_tags *tags, uint32_t tag, uint32_t type, uint64_t count, const void *value)
{
    const uint64_t size = count * smp_tiff_type_size(type);
    if (!smp_grow(&tags->items, &tags->capacity, tags->count + 1, sizeof *tags->items))
        return false;
    smp_tiff_tag *item = &tags->items[tags->count];
    *item = (smp_tiff_tag){.tag = (uint16_t)tag, .type = (uint16_t)type, .count = count};
    if (!smp_blob_set(&item->value, value, (size_t)size))
        return false;
    tags->count++;
    tags->bytes += size;
    return true;
}

bool smp_tiff_tags_numbers(smp_tiff_tags *tags, uint32_t tag, uint32_t type, uint64_t count, const uint64_t *values)
{
    const size_t size = smp_tiff_type_size(type);
    uint8_t *raw = smp_alloc_array((size_t)count + 1, size);
    for (uint64_t i = 0; raw && i < count; i++)
        smp_put_le(raw + i * size, values[i], (int)size);
    const bool done = raw && smp_tiff_tags_add(tags, tag, type, count, raw);
    smp_free(raw);
    return done;
}

bool smp_tiff_tags_take(smp_tiff_tags *tags, const smp_tiff *tiff, const smp_tiff_entry *entry, smp_notes *notes)
{
    enum { CLASSIC = 12 /* the last of classic TIFF's types */ };
    if (smp_tiff_tags_has(tags, entry->tag) || !entry->count)
        return true;
    if (!entry->size || entry->at == UINT64_MAX || tags->bytes >= MOST_BYTES ||
        entry->size > MOST_BYTES - tags->bytes || (entry->type > CLASSIC && entry->type != TYPE_UTF8)) {
        smp_note(notes, "the entry %u of EXIF is left out: it is damaged, too large or of an unknown type", entry->tag);
        return true;
    }
    uint8_t *raw = smp_alloc_raw((size_t)entry->size);
    bool done = raw != NULL;
    if (done && smp_source_look(tiff->source, entry->at, raw, (size_t)entry->size)) {
        if (tiff->big_endian)
            smp_reverse_words(raw, (size_t)entry->size, word_of(entry->type));
        done = smp_tiff_tags_add(tags, entry->tag, entry->type, entry->count, raw);
    }
    smp_free(raw);
    return done;
}

bool smp_tiff_tags_has(const smp_tiff_tags *tags, uint32_t tag)
{
    for (size_t i = 0; i < tags->count; i++)
        if (tags->items[i].tag == tag)
            return true;
    return false;
}

bool smp_tiff_tags_say(const smp_tiff_tags *tags, uint32_t tag, const char *text)
{
    for (size_t i = 0; i < tags->count; i++)
        if (tags->items[i].tag == tag)
            return smp_text_says(tags->items[i].value.data, tags->items[i].value.size, text);
    return false;
}

static void free_tags(smp_tiff_tags *tags)
{
    for (size_t i = 0; i < tags->count; i++)
        smp_free(tags->items[i].value.data);
    smp_free(tags->items);
    *tags = (smp_tiff_tags){.count = 0};
}

static uint64_t even(uint64_t size)
{
    return size + (size & 1);
}

static uint64_t folder_size(const smp_tiff_tags *tags, bool big)
{
    const size_t word = big ? 8 : 4;
    uint64_t size = (big ? 8 : 2) + tags->count * (4 + 2 * word) + word;
    for (size_t i = 0; i < tags->count; i++)
        size += tags->items[i].value.size > word ? even(tags->items[i].value.size) : 0;
    return even(size);
}

static int by_tag(const void *a_, const void *b_)
{
    const smp_tiff_tag *a = a_, *b = b_;
    return (a->tag > b->tag) - (a->tag < b->tag);
}

static void put(uint8_t **to, uint64_t value, size_t bytes)
{
    smp_put_le(*to, value, (int)bytes);
    *to += bytes;
}

/* Writes the directory, which will be at `place` (even) of the file, its values behind it; no other directory follows.
 * Sorts the entries. */
static void put_folder(smp_tiff_tags *tags, bool big, uint64_t place, uint8_t *to)
{
    const size_t word = big ? 8 : 4;
    uint8_t *const start = to, *values = to + (big ? 8 : 2) + tags->count * (4 + 2 * word) + word;
    memset(to, 0, (size_t)folder_size(tags, big));
    qsort(tags->items, tags->count, sizeof *tags->items, by_tag);
    put(&to, tags->count, big ? 8 : 2);
    for (size_t i = 0; i < tags->count; i++) {
        const smp_tiff_tag *item = &tags->items[i];
        put(&to, item->tag, 2);
        put(&to, item->type, 2);
        put(&to, item->count, word);
        if (item->value.size <= word) {
            memcpy(to, item->value.data, item->value.size);
            to += word;
            continue;
        }
        put(&to, place + (uint64_t)(values - start), word);
        memcpy(values, item->value.data, item->value.size);
        values += even(item->value.size);
    }
    put(&to, 0, word);
}

static const struct {
    uint16_t tag;
    uint8_t in; /* the directory that has the entry */
} below[TIFF_FOLDERS] = {[TIFF_EXIF] = {TIFF_EXIF_FOLDER, TIFF_FIRST},
                         [TIFF_GPS] = {TIFF_GPS_FOLDER, TIFF_FIRST},
                         [TIFF_INTEROP] = {TIFF_INTEROP_FOLDER, TIFF_EXIF}};

bool smp_tiff_folders_take(smp_tiff_tags *folders, const smp_tiff *tiff, int i, smp_notes *notes)
{
    uint64_t at;
    smp_tiff inner;
    bool done = true;
    if (!smp_tiff_value(tiff, smp_tiff_find(tiff, below[i].tag), 0, &at))
        return true;
    if (!smp_tiff_open_folder(&inner, tiff, at))
        smp_note(notes, "the directory %u of EXIF is left out: it is damaged", below[i].tag);
    for (size_t k = 0; k < inner.count && done; k++)
        if (inner.entries[k].tag != TIFF_INTEROP_FOLDER)
            done = smp_tiff_tags_take(&folders[i], &inner, &inner.entries[k], notes);
    done = done && (i != TIFF_EXIF || smp_tiff_folders_take(folders, &inner, TIFF_INTEROP, notes));
    smp_tiff_close(&inner);
    return done;
}

uint64_t smp_tiff_folders_link(smp_tiff_tags *folders, bool big)
{
    const uint64_t zero = 0;
    uint64_t size = 0;
    for (int i = TIFF_FOLDERS; i-- > 0;) {
        if (i && folders[i].count &&
            !smp_tiff_tags_numbers(&folders[below[i].in], below[i].tag, big ? TYPE_LONG8 : TYPE_LONG, 1, &zero))
            return 0;
        size += folders[i].count ? folder_size(&folders[i], big) : 0;
    }
    return size;
}

void smp_tiff_folders_put(smp_tiff_tags *folders, bool big, uint64_t place, uint64_t size, uint8_t *to)
{
    for (int i = TIFF_FOLDERS; i-- > 0;) {
        if (!folders[i].count)
            continue;
        size -= folder_size(&folders[i], big);
        put_folder(&folders[i], big, place + size, to + size);
        const smp_tiff_tags *in = &folders[below[i].in]; /* which comes later */
        for (size_t k = 0; i && k < in->count; k++)
            if (in->items[k].tag == below[i].tag)
                smp_put_le(in->items[k].value.data, place + size, (int)in->items[k].value.size);
    }
}

void smp_tiff_folders_free(smp_tiff_tags *folders)
{
    for (int i = 0; i < TIFF_FOLDERS; i++)
        free_tags(&folders[i]);
}
