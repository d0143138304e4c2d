/* Frames of ID3v2: texts in four encodings, pictures, and frames that are kept as they are. Source: id3.org, "ID3 tag
 * version 2.4.0 - Native Frames". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/text/utf8.h"
#include "io/audio/chapters.h"
#include "io/audio/tags.h"

enum { LATIN1, UTF16, UTF16_BE, UTF8, ENCODINGS };

/* Texts of a frame, one behind the other. */
typedef struct cursor {
    const uint8_t *at;
    size_t left;
    int encoding;
    bool big;       /* UTF-16: as the last mark said; without one it is the other way */
    smp_bytes text; /* the last one, in UTF-8, with its end */
} cursor;

static void put_utf8(smp_bytes *out, uint32_t code)
{
    char bytes[4];
    smp_bytes_add(out, bytes, smp_utf8_encode(bytes, code));
}

/* Bytes of the text, without its end. */
static size_t take_utf16(cursor *c)
{
    enum { MARK = 0xFEFF, TURNED = 0xFFFE, HALVES = 0xD800, REPLACEMENT = 0xFFFD };
    size_t i = 0;
    for (uint32_t code; c->left - i >= 2;) {
        const size_t used = smp_utf16_decode(c->at + i, c->left - i, c->big, &code);
        if (i == 0 && c->encoding == UTF16 && (code == MARK || code == TURNED))
            c->big = c->big != (code == TURNED);
        else if (!code)
            break;
        else
            put_utf8(&c->text, (code & ~0x7FFu) == HALVES ? REPLACEMENT : code);
        i += used;
    }
    return i;
}

/* False: there is no further one, or no memory. */
static bool next_text(cursor *c)
{
    const bool wide = c->encoding == UTF16 || c->encoding == UTF16_BE;
    const size_t end = wide ? 2 : 1;
    if (c->left < end || c->text.failed)
        return false;
    c->text.size = 0;
    size_t used;
    if (wide)
        used = take_utf16(c);
    else {
        used = strnlen((const char *)c->at, c->left);
        if (c->encoding == UTF8)
            smp_bytes_add(&c->text, c->at, used);
        for (size_t i = 0; c->encoding == LATIN1 && i < used; i++)
            put_utf8(&c->text, c->at[i]);
    }
    smp_bytes_le(&c->text, 0, 1);
    used = used + end < c->left ? used + end : c->left;
    c->at += used;
    c->left -= used;
    return !c->text.failed;
}

static const char *text_of(const cursor *c)
{
    return (const char *)c->text.data;
}

char *smp_id3_text(const uint8_t *body, size_t size)
{
    if (!size || body[0] >= ENCODINGS)
        return NULL;
    cursor c = {.at = body + 1, .left = size - 1, .encoding = body[0], .big = body[0] == UTF16_BE};
    char *text = next_text(&c) ? smp_strdup(text_of(&c)) : NULL;
    smp_free(c.text.data);
    return text;
}

/* ------------------------------------------------------------------------------------------------ texts */

/* A value that the tag says twice is one: many programs write a name as a frame and as a text of their own. */
static bool add(smp_reader *reader, const char *key, const char *value, const char *language)
{
    const smp_meta *meta = &reader->media.meta;
    for (size_t i = 0; i < meta->text_count; i++)
        if (!strcasecmp(meta->texts[i].key, key) && !strcmp(meta->texts[i].value, value) &&
            !strcmp(meta->texts[i].language, language ? language : ""))
            return true;
    return !*value || smp_tag_add(reader, key, value, strlen(value), language);
}

/* "(17)(4)Eurodisco", "17", "RX"; and two brackets for one in a name. */
static bool add_genres(smp_reader *reader, const char *text)
{
    bool ok = true;
    const bool bare = text[0] && strspn(text, "0123456789") == strlen(text);
    if (bare || !strcmp(text, "RX") || !strcmp(text, "CR")) {
        const char *name = bare ? smp_genre_name(strtoul(text, NULL, 10)) : *text == 'R' ? "Remix" : "Cover";
        return add(reader, "Genre", name ? name : text, NULL);
    }
    while (ok && text[0] == '(') {
        const size_t digits = strspn(text + 1, "0123456789");
        const bool remix = !strncmp(text, "(RX)", 4), cover = !strncmp(text, "(CR)", 4);
        const char *name = digits ? smp_genre_name(strtoul(text + 1, NULL, 10)) : NULL;
        if (!remix && !cover && !(digits && text[1 + digits] == ')' && name))
            break;
        ok = add(reader, "Genre", remix ? "Remix" : cover ? "Cover" : name, NULL);
        text = strchr(text, ')') + 1;
    }
    return ok && add(reader, "Genre", text + (text[0] == '(' && text[1] == '('), NULL);
}

static bool keep_date(smp_reader *reader, char to[5], const char *key, const char *value)
{
    if (strlen(value) != 4 || strspn(value, "0123456789") != 4)
        return add(reader, key, value, NULL);
    memcpy(to, value, 5);
    return true;
}

/* Version 3 has the day and the time apart, as DDMM and HHMM. */
bool smp_id3_take_dates(smp_reader *reader, const smp_id3_dates *d)
{
    char date[20];
    int length = snprintf(date, sizeof date, "%s", d->year);
    if (d->year[0] && d->day[0])
        length = snprintf(date, sizeof date, "%s-%.2s-%.2s", d->year, d->day + 2, d->day);
    if (d->year[0] && d->day[0] && d->time[0])
        snprintf(date + length, sizeof date - (size_t)length, "T%.2s:%.2s", d->time, d->time + 2);
    const bool day = d->year[0] || !d->day[0], time = (d->year[0] && d->day[0]) || !d->time[0];
    return add(reader, "Date", date, NULL) && (day || add(reader, "TDAT", d->day, NULL)) &&
           (time || add(reader, "TIME", d->time, NULL));
}

static bool add_text(smp_reader *reader, const char *id, const char *key, const char *value, smp_id3_dates *dates)
{
    if (!strcmp(id, "TCON"))
        return add_genres(reader, value);
    if (!strcmp(id, "TRCK") || !strcmp(id, "TPOS"))
        return smp_tag_add_number(reader, key, value, strlen(value));
    if (!strcmp(id, "TYER"))
        return keep_date(reader, dates->year, "Date", value);
    if (!strcmp(id, "TDAT"))
        return keep_date(reader, dates->day, "TDAT", value);
    if (!strcmp(id, "TIME"))
        return keep_date(reader, dates->time, "TIME", value);
    return add(reader, key, value, NULL);
}

/* "COMMENT:name" for what has a name of its own beside the frame's. False: out of memory. */
static bool name_key(smp_bytes *key, const char *plain, const char *prefix, const char *name)
{
    key->size = 0;
    if (*name) {
        smp_bytes_add(key, prefix, strlen(prefix));
        smp_bytes_add(key, name, strlen(name) + 1);
    } else
        smp_bytes_add(key, plain, strlen(plain) + 1);
    return !key->failed;
}

/* TXXX, WXXX, COMM, USLT: a name, and then texts. */
static bool take_named(smp_reader *reader, const char *id, cursor *c, const char *language)
{
    smp_bytes key = {0};
    bool ok = next_text(c), mine = *id == 'T';
    if (ok && mine) {
        const char *name = !strcasecmp(text_of(c), "USLT") ? "LYRICS" : smp_tag_key(SMP_TAG(key), text_of(c));
        ok = name_key(&key, "TXXX", "", name);
    } else if (ok)
        ok = name_key(&key,
                      *id == 'C'   ? "Comment"
                      : *id == 'U' ? "LYRICS"
                                   : "URL",
                      *id == 'C'   ? "COMMENT:"
                      : *id == 'U' ? "LYRICS:"
                                   : "URL:",
                      text_of(c));
    if (*id == 'W')
        c->encoding = LATIN1;
    const char *to = ok ? (const char *)key.data : "";
    /* About gaps in the coded sound, which its decoder takes out. */
    const bool coding = !strcasecmp(to, "COMMENT:iTunSMPB") || !strcasecmp(to, "COMMENT:iTunPGAP");
    while (ok && !coding && next_text(c))
        ok = add(reader, to, text_of(c), language);
    smp_free(key.data);
    return ok && !c->text.failed;
}

/* Pairs of what people did and who they are. */
static bool take_people(smp_reader *reader, const char *id, cursor *c)
{
    static const char *const roles[][2] = {{"arranger", "ARRANGER"},
                                           {"engineer", "ENGINEER"},
                                           {"producer", "PRODUCER"},
                                           {"DJ-mix", "DJMIXER"},
                                           {"mix", "MIXER"}};
    smp_bytes key = {0};
    bool ok = true;
    while (ok && next_text(c)) {
        const char *known = NULL;
        for (size_t i = 0; *id && i < sizeof roles / sizeof roles[0]; i++)
            if (!strcmp(id, "TIPL") && !strcasecmp(roles[i][0], text_of(c)))
                known = roles[i][1];
        const bool plays = !strcmp(id, "TMCL");
        ok = name_key(&key,
                      known   ? known
                      : plays ? "PERFORMER"
                              : "INVOLVED",
                      plays ? "PERFORMER:" : "INVOLVED:", known ? "" : text_of(c));
        if (ok && next_text(c))
            ok = add(reader, (const char *)key.data, text_of(c), NULL);
    }
    smp_free(key.data);
    return ok && !c->text.failed;
}

/* ------------------------------------------------------------------------------------------------ other frames */

/* Version 2 names the format by three letters. */
static bool take_picture(smp_reader *reader, int version, const uint8_t *body, size_t size)
{
    enum { FORMAT = 3 };
    smp_attached one = {.kind = 0};
    const size_t type = version == 2 ? FORMAT : size ? strnlen((const char *)body + 1, size - 1) : 0;
    const size_t begin = 1 + type + (version == 2 ? 0 : 1);
    if (size <= begin + 1 || body[0] >= ENCODINGS)
        return true;
    if (version > 2)
        snprintf(one.type, sizeof one.type, "%.*s", (int)type, (const char *)body + 1);
    one.kind = body[begin];
    cursor c = {.at = body + begin + 1, .left = size - begin - 1, .encoding = body[0]};
    bool ok = next_text(&c);
    if (ok) {
        one.description = (char *)c.text.data;
        one.data = (smp_blob){(unsigned char *)c.at, c.left};
        if (!strchr(one.type, '/') && strcmp(one.type, "-->") != 0)
            snprintf(one.type, sizeof one.type, "%s", smp_picture_type(c.at, c.left));
        ok = smp_tag_attach(reader, &one);
    }
    smp_free(c.text.data);
    return ok || (!c.text.failed && !one.data.data);
}

/* Chapters hold frames, whose sizes version 4 writes otherwise. Changes *body. False: they are damaged. */
static bool turn_sizes(const char *id, uint8_t *body, size_t size)
{
    enum { TIMES = 16, HEAD = 10 };
    size_t at = strnlen((const char *)body, size) + 1;
    if (!strcmp(id, "CHAP"))
        at += TIMES;
    else if (at + 2 <= size) {
        const int count = body[at + 1];
        at += 2;
        for (int i = 0; i < count && at < size; i++)
            at += strnlen((const char *)body + at, size - at) + 1;
    }
    while (at + HEAD <= size) {
        const size_t length = smp_get_be(body + at + 4, 4);
        if (length > size - at - HEAD || length >= 1 << 21)
            return false;
        for (int i = 0; i < 4; i++)
            body[at + 4 + (size_t)i] = (uint8_t)(length >> 7 * (3 - i) & 0x7F);
        at += HEAD + length;
    }
    return at == size;
}

static bool keep_frame(smp_reader *reader, int version, const char *id, const uint8_t *body, size_t size)
{
    smp_attached one = {.data = {(unsigned char *)body, size}};
    snprintf(one.frame, sizeof one.frame, "%s", id);
    if (version == 4 || (strcmp(id, "CHAP") != 0 && strcmp(id, "CTOC") != 0))
        return smp_tag_attach(reader, &one);
    smp_blob copy = {0};
    if (!smp_blob_set(&copy, body, size))
        return false;
    one.data = copy;
    bool ok = true;
    if (!size || turn_sizes(id, copy.data, size))
        ok = smp_tag_attach(reader, &one);
    else
        smp_note(&reader->notes, "a damaged chapter of its ID3 tag is left out");
    smp_free(copy.data);
    return ok;
}

/* Names that version 4 changed. */
static const char *name_of(const char *id)
{
    return !strcmp(id, "TORY") ? "TDOR" : !strcmp(id, "IPLS") ? "TIPL" : id;
}

bool smp_id3_take_frame(smp_reader *reader, int version, const char *id, const uint8_t *body, size_t size,
                        smp_id3_dates *dates)
{
    enum { LANGUAGE = 3 };
    static const char *const parts[] = {"TYER", "TDAT", "TIME"};
    id = name_of(id);
    const char *key = smp_tag_key(SMP_TAG(id3), id);
    bool text = key != id, ok = true;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        text = text || !strcmp(id, parts[i]);
    const bool spoken = !strcmp(id, "COMM") || !strcmp(id, "USLT"), named = spoken || !strcmp(id + 1, "XXX");
    const bool people = !strcmp(id, "TIPL") || !strcmp(id, "TMCL"), url = text && id[0] == 'W';
    const size_t head = url ? 0 : spoken ? 1 + LANGUAGE : 1;
    if (!strcmp(id, "APIC"))
        return take_picture(reader, version, body, size);
    if ((!text && !named && !people) || (!url && size && body[0] >= ENCODINGS))
        return keep_frame(reader, version, id, body, size);
    if (size <= head)
        return true;
    cursor c = {.at = body + head, .left = size - head, .encoding = url ? LATIN1 : body[0], .big = false};
    c.big = c.encoding == UTF16_BE;
    if (named) {
        char language[LANGUAGE + 1] = "";
        for (int i = 0; spoken && i < LANGUAGE && body[1 + i] > 32 && body[1 + i] < 127; i++)
            language[i] = (char)body[1 + i];
        ok = take_named(reader, id, &c, language);
    } else if (people)
        ok = take_people(reader, id, &c);
    else
        while (ok && next_text(&c))
            ok = add_text(reader, id, key, text_of(&c), dates);
    ok = ok && !c.text.failed;
    smp_free(c.text.data);
    return ok;
}
