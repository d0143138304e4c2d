/* The items of a HEIF file: see smp_heif_find_primary. */
#include <string.h>

#include "io/bytes.h"
#include "io/heif/heif_glue.h"

/* Limits of what a hostile file may have looked through again and again. */
enum { MOST_PROPERTIES = 32 /* of an item */, MOST_SHELF = 1024 /* of a file */, MOST_OTHERS = 8 /* items for one */ };

typedef struct cursor {
    const smp_source *source;
    uint64_t at, end;
} cursor;

typedef struct properties {
    int count;
    uint32_t items[MOST_PROPERTIES]; /* from 1 on, as they lie in the file */
} properties;

/* 0 past the end. */
static uint32_t take(cursor *c, int bytes)
{
    uint8_t raw[4];
    if (c->end - c->at < (uint64_t)bytes || !smp_source_look(c->source, c->at, raw, (size_t)bytes)) {
        c->at = c->end;
        return 0;
    }
    c->at += (uint64_t)bytes;
    return smp_get_be(raw, bytes);
}

/* Steps into the next box; false: there is none. Sizes of 64 bits are not met here. */
static bool next_box(cursor *in, cursor *box, char type[4])
{
    const uint64_t at = in->at;
    const uint32_t size = take(in, 4), name = take(in, 4);
    if (size < 8 || size > in->end - at)
        return false;
    for (int i = 0; i < 4; i++)
        type[i] = (char)(name >> (24 - 8 * i));
    *box = (cursor){in->source, at + 8, at + size};
    in->at = at + size;
    return true;
}

static cursor open_part(const smp_source *source, const smp_heif_part *part)
{
    return (cursor){source, part->at, part->end};
}

static void find_type(const smp_source *source, const smp_heif *heif, uint32_t item, char to[4])
{
    cursor all = open_part(source, &heif->infos), box;
    char type[4];
    const uint32_t version = take(&all, 4) >> 24;
    take(&all, version ? 4 : 2);
    while (next_box(&all, &box, type)) {
        const uint32_t edition = take(&box, 4) >> 24, id = take(&box, edition >= 3 ? 4 : 2);
        take(&box, 2); /* whether it is protected */
        const uint32_t name = take(&box, 4);
        for (int i = 0; i < 4 && id == item && edition >= 2; i++)
            to[i] = (char)(name >> (24 - 8 * i));
    }
}

static void find_properties(const smp_source *source, const smp_heif *heif, uint32_t item, properties *found)
{
    cursor all = open_part(source, &heif->uses);
    const uint32_t head = take(&all, 4), count = take(&all, 4);
    found->count = 0;
    for (uint32_t i = 0; i < count && all.at < all.end; i++) {
        const uint32_t id = take(&all, head >> 24 ? 4 : 2), uses = take(&all, 1);
        for (uint32_t k = 0; k < uses; k++) {
            const uint32_t index = take(&all, head & 1 ? 2 : 1) & (head & 1 ? 0x7fff : 0x7f);
            if (id == item && found->count < MOST_PROPERTIES)
                found->items[found->count++] = index;
        }
    }
}

/* The property of this number, from 1 on. */
static bool open_property(const smp_source *source, const smp_heif *heif, uint32_t index, cursor *box, char type[4])
{
    cursor all = open_part(source, &heif->shelf);
    bool there = index > 0 && index <= MOST_SHELF;
    for (uint32_t i = 0; i < index && there; i++)
        there = next_box(&all, box, type);
    return there;
}

/* The first item that a reference of this type leads to, from `item`; 0: none. */
static uint32_t refers_to(const smp_source *source, const smp_heif *heif, const char *kind, uint32_t item)
{
    cursor all = open_part(source, &heif->references), box;
    char type[4];
    const int bytes = take(&all, 4) >> 24 ? 4 : 2;
    while (next_box(&all, &box, type)) {
        const uint32_t from = take(&box, bytes), count = take(&box, 2);
        if (from == item && count && memcmp(type, kind, 4) == 0)
            return take(&box, bytes);
    }
    return 0;
}

static bool is_alpha(const smp_source *source, const smp_heif *heif, uint32_t item)
{
    static const char *const names[] = {"urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", "urn:mpeg:hevc:2015:auxid:1"};
    properties all;
    cursor box;
    char type[4], name[48];
    find_properties(source, heif, item, &all);
    for (int i = 0; i < all.count; i++) {
        if (!open_property(source, heif, all.items[i], &box, type) || memcmp(type, "auxC", 4) != 0)
            continue;
        take(&box, 4);
        for (size_t k = 0; k < sizeof name; k++)
            name[k] = (char)take(&box, 1);
        for (size_t k = 0; k < 2; k++)
            if (memcmp(name, names[k], strlen(names[k]) + 1) == 0)
                return true;
    }
    return false;
}

/* The item that is the alpha of `item`; 0: none. */
static uint32_t find_alpha(const smp_source *source, const smp_heif *heif, uint32_t item)
{
    cursor all = open_part(source, &heif->references), box;
    char type[4];
    const int bytes = take(&all, 4) >> 24 ? 4 : 2;
    for (int looked = 0; looked < MOST_OTHERS && next_box(&all, &box, type);) {
        const uint32_t from = take(&box, bytes), count = take(&box, 2);
        bool refers = false;
        for (uint32_t i = 0; i < count && box.at < box.end && memcmp(type, "auxl", 4) == 0; i++)
            refers |= take(&box, bytes) == item;
        looked += refers;
        if (refers && is_alpha(source, heif, from))
            return from;
    }
    return 0;
}

/* Source: AV1-ISOBMFF, 2.3.3; ISO/IEC 14496-15, 8.3.3.1. */
static bool is_gray(const smp_source *source, const smp_heif *heif, uint32_t item)
{
    properties all;
    cursor box;
    char type[4];
    find_properties(source, heif, item, &all);
    for (int i = 0; i < all.count; i++) {
        if (!open_property(source, heif, all.items[i], &box, type))
            continue;
        if (memcmp(type, "av1C", 4) == 0)
            return take(&box, 3) & 0x10;
        for (int k = 0; k < 16 && memcmp(type, "hvcC", 4) == 0; k++)
            take(&box, 1);
        if (memcmp(type, "hvcC", 4) == 0)
            return box.at < box.end && !(take(&box, 1) & 3);
    }
    return false;
}

/* Finds how an item is turned and mirrored. False: by more than fits. */
static bool find_turns(const smp_source *source, const smp_heif *heif, uint32_t item, smp_heif_turns *turns)
{
    properties all;
    cursor box;
    char type[4];
    find_properties(source, heif, item, &all);
    for (int i = 0; i < all.count; i++) {
        const bool good = open_property(source, heif, all.items[i], &box, type);
        const bool mirrors = good && memcmp(type, "imir", 4) == 0;
        if (!mirrors && !(good && memcmp(type, "irot", 4) == 0))
            continue;
        if (turns->count == SMP_HEIF_TURNS)
            return false;
        const uint64_t name = box.at - 4;
        turns->items[turns->count++] = (smp_heif_turn){mirrors, (uint8_t)(take(&box, 1) & (mirrors ? 1 : 3)), name};
    }
    return true;
}

static bool same_turns(const smp_heif_turns *a, const smp_heif_turns *b)
{
    bool same = a->count == b->count;
    for (int i = 0; i < a->count && same; i++)
        same = a->items[i].mirrors == b->items[i].mirrors && a->items[i].how == b->items[i].how;
    return same;
}

void smp_heif_find_primary(const smp_source *source, const smp_heif *heif, smp_heif_primary *primary)
{
    cursor main = open_part(source, &heif->main);
    const uint32_t item = take(&main, take(&main, 4) >> 24 ? 4 : 2);
    *primary = (smp_heif_primary){.alpha = false};
    find_type(source, heif, item, primary->type);
    const uint32_t part = refers_to(source, heif, "dimg", item), alpha = find_alpha(source, heif, item);
    memcpy(primary->coding, primary->type, sizeof primary->coding);
    if (part)
        find_type(source, heif, part, primary->coding);
    primary->gray = is_gray(source, heif, part ? part : item) && memcmp(primary->type, "iovl", 4) != 0; /* of several */
    primary->alpha = alpha;
    smp_heif_turns turns = {0}, others = {0};
    primary->apart = alpha && find_turns(source, heif, item, &turns) && find_turns(source, heif, alpha, &others) &&
                     !same_turns(&turns, &others);
    if (primary->apart) {
        primary->turns = turns;
        primary->alpha_turns = others;
    }
}
