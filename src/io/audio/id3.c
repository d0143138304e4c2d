/* ID3v2 tags, versions 2.2 to 2.4: the tag and its frames, down to bodies that are as they were before anything was
 * done to them. Sources: id3.org, "ID3 tag version 2.4.0 - Main Structure", "ID3 tag version 2.3.0", "ID3 tag version
 * 2.2.0". What programs made that did not read these: sizes of 2.4 that are plain numbers (iTunes), and of 2.3 that
 * are not; marks of unsynchronisation on frames that have none. */
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "io/audio/tags.h"

enum {
    HEADER = 10,            /* bytes of a tag before its frames; of a frame since version 3 */
    OLD_HEADER = 6,         /* of a frame of version 2 */
    MOST_TAG = 1 << 26,     /* bytes */
    MOST_INFLATED = 1 << 25 /* bytes of all compressed frames */
};

typedef struct tag {
    smp_reader *reader;
    int version;       /* 2 to 4 */
    bool unsync;       /* all frames */
    bool syncsafe;     /* sizes of frames */
    uint8_t *data;     /* behind the header */
    size_t size, head; /* head: bytes of a frame before its body */
    size_t inflated;   /* bytes so far */
    smp_id3_dates dates;
    smp_names lost;
} tag;

/* Takes the zero out behind each FF; in place. Returns the size. False syncs show that nothing was done: all stays. */
static size_t resync(uint8_t *data, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i + 1 < size; i++)
        if (data[i] == 0xFF && data[i + 1] >= 0xE0)
            return size;
    for (size_t i = 0; i < size; i++) {
        data[n++] = data[i];
        i += data[i] == 0xFF && i + 1 < size && data[i + 1] == 0;
    }
    return n;
}

static bool is_id(const uint8_t *at, int length)
{
    for (int i = 0; i < length; i++)
        if (!(at[i] >= 'A' && at[i] <= 'Z') && !(at[i] >= '0' && at[i] <= '9'))
            return false;
    return true;
}

static size_t size_of(const tag *t, const uint8_t *frame, bool syncsafe)
{
    return t->version == 2 ? smp_get_be(frame + 3, 3)
           : syncsafe      ? smp_get_syncsafe(frame + 4)
                           : smp_get_be(frame + 4, 4);
}

/* Whether all that is in the tag are frames, and zeros behind them. */
static bool walks(const tag *t, bool syncsafe)
{
    size_t at = 0;
    while (t->size - at >= t->head && t->data[at]) {
        const size_t size = size_of(t, t->data + at, syncsafe);
        if (!is_id(t->data + at, t->version == 2 ? 3 : 4) || size > t->size - at - t->head)
            return false;
        at += t->head + size;
    }
    return true;
}

/* The name since version 3 of a frame of version 2; null: it has none. */
static const char *new_id(const char *old)
{
    static const char *const frames[][2] = {
#define ROW(...)
#define FRAME(id, old) {id, old},
#include "io/audio/tag_list.def"
    };
    for (const smp_tag_row *row = smp_tag_rows; row->key; row++)
        if (row->old && strcmp(row->old, old) == 0)
            return row->id3;
    for (size_t i = 0; i < sizeof frames / sizeof frames[0]; i++)
        if (strcmp(frames[i][1], old) == 0)
            return frames[i][0];
    return NULL;
}

/* False: out of memory. */
static bool take_inflated(tag *t, const char *id, const uint8_t *body, size_t size, size_t whole)
{
    if (whole > MOST_INFLATED - t->inflated) {
        smp_names_add(&t->lost, id);
        return true;
    }
    t->inflated += whole;
    uLongf length = (uLongf)whole;
    uint8_t *data = smp_alloc_raw(whole + 1);
    bool memory = data;
    if (data && uncompress(data, &length, body, (uLong)size) == Z_OK)
        memory = smp_id3_take_frame(t->reader, t->version, id, data, length, &t->dates);
    else
        smp_names_add(&t->lost, id);
    smp_free(data);
    return memory;
}

/* Takes a frame's body. The fields in front of it depend on flags, and their order on the version. False: out of
 * memory. */
static bool take_body(tag *t, const char *id, unsigned flags, uint8_t *body, size_t size)
{
    enum { GROUP3 = 0x20, CRYPT3 = 0x40, ZIP3 = 0x80, LENGTH = 1, UNSYNC = 2, CRYPT = 4, ZIP = 8, GROUP = 0x40 };
    const bool new = t->version == 4, old = t->version == 3;
    const bool zip = (new &&flags &ZIP) || (old && flags & ZIP3),
               crypt = (new &&flags &CRYPT) || (old && flags & CRYPT3);
    const size_t group = (new &&flags &GROUP) || (old && flags & GROUP3);
    const size_t lengths = (new &&flags &LENGTH) || (old && zip) ? 4 : 0, more = group + crypt + lengths;
    if (crypt || size < more) {
        smp_names_add(&t->lost, id);
        return true;
    }
    const size_t whole = !lengths ? 0 : old ? smp_get_be(body, 4) : smp_get_syncsafe(body + group);
    body += more;
    size -= more;
    if (new && (flags & UNSYNC || t->unsync))
        size = resync(body, size);
    if (zip)
        return take_inflated(t, id, body, size, whole);
    return smp_id3_take_frame(t->reader, t->version, id, body, size, &t->dates);
}

static bool take_frames(tag *t)
{
    bool memory = true;
    for (size_t at = 0; memory && t->size - at >= t->head && t->data[at];) {
        uint8_t *frame = t->data + at;
        const size_t size = size_of(t, frame, t->syncsafe);
        const int length = t->version == 2 ? 3 : 4;
        char id[5] = {0};
        if (!is_id(frame, length) || size > t->size - at - t->head) {
            smp_tag_damaged(t->reader, "ID3 tag");
            break;
        }
        memcpy(id, frame, (size_t)length);
        const char *name = length == 3 ? new_id(id) : id;
        if (name)
            memory = take_body(t, name, t->version == 2 ? 0 : frame[9], frame + t->head, size);
        else
            smp_names_add(&t->lost, id);
        at += t->head + size;
    }
    return memory && smp_id3_take_dates(t->reader, &t->dates);
}

/* A header of an extended kind comes first; some programs say so where there is none. */
static void skip_extended(tag *t)
{
    enum { FLAGS = 4 };
    const bool new = t->version == 4;
    if (t->size < FLAGS || is_id(t->data, 4))
        return;
    const size_t size = new ? smp_get_syncsafe(t->data) : 4 + (size_t)smp_get_be(t->data, 4);
    if (size > t->size)
        return;
    memmove(t->data, t->data + size, t->size - size);
    t->size -= size;
}

/* The tag's data are there. */
static bool take_tag(tag *t, unsigned flags)
{
    enum { EXTENDED = 0x40, UNSYNC = 0x80 };
    t->head = t->version == 2 ? OLD_HEADER : HEADER;
    t->unsync = flags & UNSYNC;
    if (t->unsync && t->version < 4)
        t->size = resync(t->data, t->size);
    if (flags & EXTENDED && t->version > 2)
        skip_extended(t);
    const bool right = t->version == 4;
    t->syncsafe = walks(t, right) || !walks(t, !right) ? right : !right;
    const bool memory = take_frames(t);
    if (t->lost.count)
        smp_note(&t->reader->notes, "frames of its ID3 tag are left out, which are of no known kind or encrypted: %s",
                 smp_names_end(&t->lost));
    return memory;
}

smp_code smp_id3_take(smp_reader *reader, uint64_t at, const char *what, smp_error *err)
{
    enum { FOOTER = 0x10, COMPRESSED = 0x40 };
    uint8_t head[HEADER] = {0};
    smp_meta older;
    uint64_t all = smp_sound_look(&reader->source, at, head, HEADER) ? smp_id3_size(head, HEADER) : 0;
    tag t = {.reader = reader, .version = head[3]};
    if (all > HEADER && head[5] & FOOTER)
        all -= HEADER;
    if (all <= HEADER)
        return SMP_OK;
    if (t.version < 2 || t.version > 4 || all > MOST_TAG || (t.version == 2 && head[5] & COMPRESSED)) {
        smp_note(&reader->notes, "its ID3 tag of version 2.%d, of %llu bytes, is left out", t.version,
                 (unsigned long long)all);
        return SMP_OK;
    }
    t.size = (size_t)all - HEADER;
    t.data = smp_alloc_raw(t.size);
    smp_tag_set_aside(reader, &older);
    bool memory = t.data;
    if (t.data && smp_sound_look(&reader->source, at + HEADER, t.data, t.size))
        memory = take_tag(&t, head[5]);
    else if (t.data)
        smp_tag_damaged(reader, "ID3 tag");
    smp_free(t.data);
    memory = smp_tag_merge(reader, &older, what) && memory;
    return memory ? SMP_OK : smp_fail_memory(err, "tags", t.size);
}
