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

bool smp_tiff_tags_take(smp_tiff_tags *tags, const smp_tiff *tiff, const smp_tiff_entry *entry)
{
    if (!entry->size || tags->bytes >= MOST_BYTES || entry->size > MOST_BYTES - tags->bytes ||
        entry->tag > UINT16_MAX || smp_tiff_tags_has(tags, entry->tag))
        return true;
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
    const size_t length = strlen(text);
    for (size_t i = 0; i < tags->count; i++) {
        const smp_blob *value = &tags->items[i].value;
        if (tags->items[i].tag == tag)
            return value->size >= length && !memcmp(value->data, text, length) &&
                   (value->size == length || !value->data[length]);
    }
    return false;
}

void smp_tiff_tags_free(smp_tiff_tags *tags)
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

uint64_t smp_tiff_tags_size(const smp_tiff_tags *tags, bool big)
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

void smp_tiff_tags_put(smp_tiff_tags *tags, bool big, uint64_t place, uint8_t *to)
{
    const size_t word = big ? 8 : 4;
    uint8_t *const start = to, *values = to + (big ? 8 : 2) + tags->count * (4 + 2 * word) + word;
    memset(to, 0, (size_t)smp_tiff_tags_size(tags, big));
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
