/* Walks the directories of a TIFF: see tiff_walk.h. */
#include "io/tiff/tiff_glue.h"

#include "base/alloc.h"
#include "io/bytes.h"

enum {
    MOST_ENTRIES = 4096, /* of a directory; files have less than a hundred */
    MOST_PAGES = 1 << 16
};

static bool look(const smp_tiff *tiff, uint64_t at, int bytes, uint64_t *value)
{
    uint8_t raw[8];
    if (!smp_source_look(tiff->source, at, raw, (size_t)bytes))
        return false;
    *value = smp_get_bytes(raw, bytes, tiff->big_endian);
    return true;
}

static smp_code fail_end(const smp_tiff *tiff, uint64_t at, smp_error *err)
{
    smp_fail(err, SMP_E_DECODE, "the file has %llu bytes, but a directory of the TIFF lies at %llu: it is truncated",
             (unsigned long long)tiff->source->size, (unsigned long long)at);
    return smp_hint_damaged(err);
}

size_t smp_tiff_type_size(uint32_t type)
{
    static const uint8_t sizes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8};
    return type < sizeof sizes ? sizes[type] : type == TYPE_UTF8; /* EXIF 3.0, 4.6.2 */
}

typedef struct folder {
    uint64_t first, count, link; /* where the entries are, how many; where the next directory's place is */
} folder;

/* False: it does not lie within the file. */
static bool find_folder(const smp_tiff *tiff, uint64_t at, folder *found)
{
    const uint64_t head = tiff->big ? 8 : 2, entry = tiff->big ? 20 : 12, size = tiff->source->size;
    if (at < 8 || !look(tiff, at, (int)head, &found->count))
        return false;
    found->first = at + head;
    if (found->count > (size - found->first) / entry)
        return false;
    found->link = found->first + found->count * entry;
    return size - found->link >= (tiff->big ? 8 : 4);
}

static void read_entry(const smp_tiff *tiff, uint64_t at, smp_tiff_entry *entry)
{
    const int word = tiff->big ? 8 : 4;
    uint8_t raw[20] = {0};
    *entry = (smp_tiff_entry){.tag = 0};
    if (!smp_source_look(tiff->source, at, raw, 4 + 2 * (size_t)word))
        return;
    entry->tag = (uint32_t)smp_get_bytes(raw, 2, tiff->big_endian);
    entry->type = (uint32_t)smp_get_bytes(raw + 2, 2, tiff->big_endian);
    entry->count = smp_get_bytes(raw + 4, word, tiff->big_endian);
    entry->at = at + 4 + (uint64_t)word;
    if (__builtin_mul_overflow(entry->count, smp_tiff_type_size(entry->type), &entry->size))
        entry->count = entry->size = 0;
    if (entry->size > (uint64_t)word)
        entry->at = smp_get_bytes(raw + 4 + word, word, tiff->big_endian);
    if (entry->at > tiff->source->size || entry->size > tiff->source->size - entry->at)
        entry->at = UINT64_MAX; /* beyond the file */
}

static bool read_folder(smp_tiff *tiff, const folder *found)
{
    const uint64_t step = tiff->big ? 20 : 12;
    if (found->count > MOST_ENTRIES)
        return true; /* without entries: the caller fails for want of them */
    tiff->entries = smp_alloc_array((size_t)found->count + 1, sizeof *tiff->entries);
    if (!tiff->entries)
        return false;
    tiff->count = (size_t)found->count;
    for (size_t i = 0; i < tiff->count; i++)
        read_entry(tiff, found->first + i * step, &tiff->entries[i]);
    return true;
}

bool smp_tiff_open_folder(smp_tiff *tiff, const smp_tiff *in, uint64_t at)
{
    folder found;
    *tiff = (smp_tiff){.source = in->source, .big_endian = in->big_endian, .big = in->big, .folder = at};
    return find_folder(tiff, at, &found) && read_folder(tiff, &found) && tiff->entries;
}

bool smp_tiff_open_below(smp_tiff *tiff, const smp_tiff *in)
{
    enum { MOST = 16, REDUCED = 1 };
    const smp_tiff_entry *below = smp_tiff_find(in, TIFF_FOLDERS_BELOW);
    uint64_t kind = 0, at;
    *tiff = (smp_tiff){.source = in->source};
    if (!smp_tiff_value(in, smp_tiff_find(in, TIFF_SUBFILE), 0, &kind) || !(kind & REDUCED))
        return false;
    for (uint64_t i = 0; i < MOST && smp_tiff_value(in, below, i, &at); i++) {
        const bool found = smp_tiff_open_folder(tiff, in, at) && smp_tiff_find(tiff, TIFF_WIDTH);
        kind = 0;
        (void)smp_tiff_value(tiff, smp_tiff_find(tiff, TIFF_SUBFILE), 0, &kind);
        if (found && !(kind & REDUCED))
            return true;
        smp_tiff_close(tiff);
    }
    return false;
}

/* Follows the chain. A chain that bites its tail ends there: `seen` lags behind at powers of two (Brent). */
static smp_code count_pages(smp_tiff *tiff, uint64_t first, int64_t wanted, folder *page, smp_error *err)
{
    uint64_t seen = 0, turn = 1;
    for (uint64_t at = first; at && at != seen; tiff->pages++) {
        folder found;
        if (tiff->pages == MOST_PAGES)
            return smp_fail(err, SMP_E_DECODE, "the TIFF has more than %d pages", MOST_PAGES);
        if ((uint64_t)tiff->pages == turn) {
            seen = at;
            turn *= 2;
        }
        tiff->broken = !find_folder(tiff, at, &found);
        if (tiff->broken && wanted <= tiff->pages) /* it has been found */
            return SMP_OK;
        if (tiff->broken)
            return fail_end(tiff, at, err);
        if (tiff->pages + 1 == wanted) {
            *page = found;
            tiff->folder = at;
        }
        if (!look(tiff, found.link, tiff->big ? 8 : 4, &at))
            return fail_end(tiff, found.link, err);
    }
    return SMP_OK;
}

smp_code smp_tiff_open(smp_tiff *tiff, const smp_source *source, int64_t page, smp_error *err)
{
    uint8_t head[4] = {0};
    uint64_t first = 0;
    folder found = {0};
    *tiff = (smp_tiff){.source = source};
    const bool whole = smp_source_look(source, 0, head, 4);
    tiff->big_endian = head[0] == 'M';
    tiff->big = smp_get_bytes(head + 2, 2, tiff->big_endian) == 43;
    if (!whole || !look(tiff, tiff->big ? 8 : 4, tiff->big ? 8 : 4, &first))
        return fail_end(tiff, 0, err);
    SMP_TRY(count_pages(tiff, first, page, &found, err));
    if (page > tiff->pages)
        return smp_fail(err, SMP_E_DECODE, "there is no page %lld: the TIFF has %lld", (long long)page,
                        (long long)tiff->pages),
               smp_hint(err, "`smempipe info` tells how many a file has");
    SMP_NEED(read_folder(tiff, &found), "a TIFF", found.count * sizeof *tiff->entries, err);
    if (!tiff->entries)
        return smp_fail(err, SMP_E_DECODE, "the TIFF is damaged: a directory has %llu entries",
                        (unsigned long long)found.count);
    for (size_t i = 0; i < tiff->count; i++)
        if (tiff->entries[i].at == UINT64_MAX)
            return smp_fail(err, SMP_E_DECODE, "entry %u of the TIFF lies past the end of the file: it is truncated",
                            tiff->entries[i].tag),
                   smp_hint_damaged(err);
    return SMP_OK;
}

void smp_tiff_close(smp_tiff *tiff)
{
    smp_free(tiff->entries);
    tiff->entries = NULL;
    tiff->count = 0;
}

const smp_tiff_entry *smp_tiff_find(const smp_tiff *tiff, uint32_t tag)
{
    for (size_t i = 0; i < tiff->count; i++)
        if (tiff->entries[i].tag == tag)
            return &tiff->entries[i];
    return NULL;
}

bool smp_tiff_values(const smp_tiff *tiff, const smp_tiff_entry *entry, uint64_t i, uint64_t count, uint64_t *values)
{
    const bool whole = entry && (entry->type == TYPE_BYTE || entry->type == TYPE_SHORT || entry->type == TYPE_LONG ||
                                 entry->type == 13 || entry->type == TYPE_LONG8 || entry->type == 18);
    uint8_t raw[TIFF_VALUES * 8];
    if (!whole || i >= entry->count || count > entry->count - i || count > TIFF_VALUES)
        return false;
    const size_t size = smp_tiff_type_size(entry->type);
    if (!smp_source_look(tiff->source, entry->at + i * size, raw, (size_t)count * size))
        return false;
    for (uint64_t k = 0; k < count; k++)
        values[k] = smp_get_bytes(raw + k * size, (int)size, tiff->big_endian);
    return true;
}

bool smp_tiff_value(const smp_tiff *tiff, const smp_tiff_entry *entry, uint64_t i, uint64_t *value)
{
    return smp_tiff_values(tiff, entry, i, 1, value);
}

double smp_tiff_rational(const smp_tiff *tiff, uint32_t tag, uint64_t i)
{
    const smp_tiff_entry *entry = smp_tiff_find(tiff, tag);
    uint64_t above, below;
    if (!entry || entry->type != TYPE_RATIONAL || i >= entry->count || !look(tiff, entry->at + 8 * i, 4, &above) ||
        !look(tiff, entry->at + 8 * i + 4, 4, &below) || !below)
        return 0;
    return (double)above / (double)below;
}
