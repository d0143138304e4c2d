/* Tags of sounds, whatever format has them: see tags.h. */
#include "io/audio/tags.h"
#include "io/audio/chapters.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"

/* ------------------------------------------------------------------------------------------------ names */

const smp_tag_row smp_tag_rows[] = {
#define ROW(...) {__VA_ARGS__},
#include "io/audio/tag_list.def"
    {0},
};

static const char *const aliases[][2] = {
#define ROW(...)
#define ALIAS(name, key) {name, key},
#include "io/audio/tag_list.def"
};
enum { ALIASES = sizeof aliases / sizeof aliases[0] };

const char *smp_tag_key(size_t column, const char *name)
{
    for (const smp_tag_row *row = smp_tag_rows; row->key; row++) {
        const char *const *its = (const char *const *)(const void *)((const char *)row + column);
        if (*its && strcasecmp(*its, name) == 0)
            return row->key;
    }
    return name;
}

static const char *alias_of(const char *name)
{
    for (int i = 0; i < ALIASES; i++)
        if (strcasecmp(aliases[i][0], name) == 0)
            return aliases[i][1];
    return NULL;
}

const char *smp_tag_any_key(const char *name)
{
    const char *key = alias_of(name);
    return key ? key : smp_tag_key(SMP_TAG(key), name);
}

static bool has_key(const smp_meta *meta, const char *key)
{
    for (size_t i = 0; i < meta->text_count; i++)
        if (strcasecmp(meta->texts[i].key, key) == 0)
            return true;
    return false;
}

const smp_tag_row *smp_tag_row_for(const smp_meta *meta, const char *key)
{
    const char *alias = alias_of(key);
    if (alias && !has_key(meta, alias))
        key = alias;
    for (const smp_tag_row *row = smp_tag_rows; row->key; row++)
        if (strcasecmp(row->key, key) == 0)
            return row;
    return NULL;
}

const char *smp_genre_name(unsigned long number)
{
    static const char *const names[] = {
#define G(name) name,
#include "io/audio/genre_list.def"
    };
    return number < sizeof names / sizeof names[0] ? names[number] : NULL;
}

/* ------------------------------------------------------------------------------------------------ taking */

bool smp_tag_add(smp_reader *reader, const char *key, const char *value, size_t length, const char *language)
{
    smp_meta *meta = &reader->media.meta;
    if (reader->tag_bytes == SIZE_MAX)
        return true;
    if (length > SMP_MOST_TAG_BYTES) { /* what follows may be short */
        smp_note(&reader->notes, "its tag %.40s of %zu bytes is left out: all may have %d", key, length,
                 SMP_MOST_TAG_BYTES);
        return true;
    }
    if (meta->text_count == SMP_MOST_TAGS || length > SMP_MOST_TAG_BYTES - reader->tag_bytes) {
        smp_note(&reader->notes, "tags beyond %d and beyond %d bytes are left out, from %.40s on", SMP_MOST_TAGS,
                 SMP_MOST_TAG_BYTES, key);
        reader->tag_bytes = SIZE_MAX;
        return true;
    }
    reader->tag_bytes += length;
    if (!smp_meta_add_text(meta, key, value, length))
        return false;
    if (language)
        snprintf(meta->texts[meta->text_count - 1].language, sizeof meta->texts[0].language, "%.3s", language);
    return true;
}

bool smp_tag_add_number(smp_reader *reader, const char *key, const char *value, size_t length)
{
    static const char digits[] = "0123456789";
    char text[24];
    const bool track = strcmp(key, "TrackNumber") == 0;
    snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text - 1), value);
    const size_t number = strspn(text, digits), total = text[number] == '/' ? strspn(text + number + 1, digits) : 0;
    if (!number || !total || number + 1 + total != length)
        return smp_tag_add(reader, key, value, length, NULL);
    return smp_tag_add(reader, key, value, number, NULL) &&
           smp_tag_add(reader, track ? "TRACKTOTAL" : "DISCTOTAL", value + number + 1, total, NULL);
}

bool smp_tag_attach(smp_reader *reader, const smp_attached *one)
{
    smp_meta *meta = &reader->media.meta;
    size_t all = one->data.size;
    for (size_t i = 0; i < meta->attached_count; i++)
        all += meta->attached[i].data.size;
    const char *what = one->frame[0] ? "frame" : "picture";
    if (one->data.size > SMP_MOST_PICTURE)
        smp_note(&reader->notes, "a %s of more than %d MiB in its tags is left out", what, SMP_MOST_PICTURE >> 20);
    else if (all > SMP_MOST_ATTACHED || meta->attached_count == SMP_MOST_ATTACHMENTS)
        smp_note(&reader->notes,
                 "pictures, chapters and other frames of its tags beyond %d and beyond %d MiB are left out",
                 SMP_MOST_ATTACHMENTS, SMP_MOST_ATTACHED >> 20);
    else
        return !one->data.size || smp_meta_attach(meta, one);
    return true;
}

bool smp_chapters_take(smp_reader *reader, const smp_chapters *list)
{
    bool memory = true;
    for (size_t i = 0; i < reader->media.meta.text_count; i++)
        if (smp_chapter_is(reader->media.meta.texts[i].key))
            return true;
    for (size_t i = 0; memory && i < list->count && reader->tag_bytes != SIZE_MAX; i++) {
        const smp_chapter_texts say = smp_chapter_say(list, i);
        const char *title = list->items[i].title;
        memory = smp_tag_add(reader, say.key, say.start, strlen(say.start), NULL) &&
                 (!title || !*title || smp_tag_add(reader, say.name, title, strlen(title), NULL));
    }
    return memory;
}

const char *smp_picture_type(const uint8_t *data, size_t size)
{
    static const struct {
        const char *magic, *type;
    } types[] = {{"\xFF\xD8\xFF", "image/jpeg"},
                 {"\x89PNG", "image/png"},
                 {"GIF8", "image/gif"},
                 {"BM", "image/bmp"},
                 {"RIFF", "image/webp"}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (size >= 4 && memcmp(data, types[i].magic, strlen(types[i].magic)) == 0)
            return types[i].type;
    return "";
}

void smp_tag_set_aside(smp_reader *reader, smp_meta *older)
{
    smp_meta *meta = &reader->media.meta;
    *older = (smp_meta){.texts = meta->texts,
                        .text_count = meta->text_count,
                        .text_capacity = meta->text_capacity,
                        .attached = meta->attached,
                        .attached_count = meta->attached_count,
                        .attached_capacity = meta->attached_capacity};
    meta->texts = NULL;
    meta->attached = NULL;
    meta->text_count = meta->text_capacity = meta->attached_count = meta->attached_capacity = 0;
}

void smp_tag_damaged(smp_reader *reader, const char *what)
{
    smp_note(&reader->notes, "its %s is damaged: what lies behind the damage is left out", what);
}

/* Whether the first `count` texts have this key: 1; and also such a value, or with begins one that begins so: 2. */
static int is_known(const smp_meta *meta, size_t count, const struct smp_text *text, bool begins)
{
    const size_t length = strlen(text->value) + !begins;
    int known = 0;
    for (size_t i = 0; i < count; i++)
        if (strcasecmp(meta->texts[i].key, text->key) == 0) {
            known = known ? known : 1;
            if (strncmp(meta->texts[i].value, text->value, length) == 0)
                known = 2;
        }
    return known;
}

static bool is_attached(const smp_meta *meta, const smp_attached *one)
{
    for (size_t i = 0; i < meta->attached_count; i++) {
        const smp_attached *other = &meta->attached[i];
        if (!strcmp(one->frame, other->frame) && one->data.size == other->data.size &&
            !memcmp(one->data.data, other->data.data, one->data.size))
            return true;
    }
    return false;
}

bool smp_tag_merge(smp_reader *reader, smp_meta *older, const char *what)
{
    smp_meta *meta = &reader->media.meta;
    const size_t newer = meta->text_count;
    smp_names names = {.count = 0};
    bool ok = true;
    for (size_t i = 0; ok && i < older->text_count; i++) {
        struct smp_text *text = &older->texts[i];
        const int known = is_known(meta, newer, text, !what);
        if (known == 1)
            smp_names_add(&names, text->key);
        if (known)
            continue;
        ok = smp_grow(&meta->texts, &meta->text_capacity, meta->text_count + 1, sizeof *meta->texts);
        if (ok) {
            meta->texts[meta->text_count++] = *text;
            text->key = text->value = NULL;
        }
    }
    for (size_t i = 0; ok && i < older->attached_count; i++)
        if (!is_attached(meta, &older->attached[i]))
            ok = smp_tag_attach(reader, &older->attached[i]);
    if (names.count && what)
        smp_note(&reader->notes, "of its %s other values than those of the tag that is kept are left out: %s", what,
                 smp_names_end(&names));
    smp_meta_free(older);
    return ok;
}

/* ------------------------------------------------------------------------------------------------ what is lost */

bool smp_sound_tagged(const smp_meta *meta)
{
    return meta && (meta->text_count || meta->attached_count);
}

/* Whether a text counts: the name of the program that wrote the input says nothing of the output. */
static bool counts(const struct smp_text *text)
{
    return strcasecmp(text->key, "Software") != 0 && strcasecmp(text->key, "ENCODER") != 0;
}

bool smp_tags_fit(const smp_meta *meta, size_t column, bool apart)
{
    bool seen[sizeof smp_tag_rows / sizeof smp_tag_rows[0]] = {false};
    for (size_t i = 0; i < meta->text_count; i++) {
        const struct smp_text *text = &meta->texts[i];
        const smp_tag_row *row = smp_tag_row_for(meta, text->key);
        const char *name = row ? *(const char *const *)(const void *)((const char *)row + column) : NULL;
        if ((!name || text->language[0]) && counts(text) && !(apart && smp_chapter_is(text->key)))
            return false;
        if (row && seen[row - smp_tag_rows])
            return false;
        if (row)
            seen[row - smp_tag_rows] = true;
    }
    smp_chapters chapters;
    const bool more = !apart || !smp_chapters_of(meta, &chapters) || chapters.more;
    if (apart)
        smp_chapters_free(&chapters);
    for (size_t i = 0; i < meta->attached_count; i++)
        if (more || !smp_chapter_is_frame(&meta->attached[i]))
            return false;
    return true;
}

/* The code of a language that a comment is in; null: it says what any program writes without asking. */
static const char *told_language(const struct smp_text *text)
{
    const char *code = text->language;
    const bool usual = !strcasecmp(code, "eng") || !strcasecmp(code, "xxx") || !strcasecmp(code, "und");
    return code[0] && !usual ? code : NULL;
}

void smp_sound_note_lost(smp_writer *writer, const smp_meta *meta,
                         bool (*holds)(const smp_meta *meta, const struct smp_text *text), bool pictures)
{
    smp_names names = {.count = 0};
    int covers = 0;
    smp_chapters chapters;
    const struct smp_text probe = {.key = (char[]){SMP_CHAPTERS_KEY "001"}, .value = (char[]){"0:00"}};
    const bool kept = holds && holds(meta, &probe);
    if (smp_chapters_of(meta, &chapters) && chapters.count && (!kept || chapters.more))
        smp_names_add(&names, kept ? "what chapters have besides times and titles" : "its list of chapters");
    smp_chapters_free(&chapters);
    for (size_t i = 0; meta && i < meta->text_count; i++) {
        const struct smp_text *text = &meta->texts[i];
        char language[64];
        if (!counts(text) || smp_chapter_is(text->key))
            continue;
        if (!holds || !holds(meta, text))
            smp_names_add(&names, text->key);
        else if (told_language(text)) {
            snprintf(language, sizeof language, "the language '%s' of %.40s", text->language, text->key);
            smp_names_add(&names, language);
        }
    }
    for (size_t i = 0; meta && i < meta->attached_count; i++) {
        const char *frame = meta->attached[i].frame;
        if (frame[0] && !smp_chapter_is_frame(&meta->attached[i]))
            smp_names_add(&names, frame);
        else if (!frame[0])
            covers += !pictures;
    }
    char several[32];
    snprintf(several, sizeof several, "%d pictures", covers);
    if (covers)
        smp_names_add(&names, covers == 1 ? "the cover picture" : several);
    if (names.count)
        smp_note(&writer->notes, "%s %s left out, which %s %s has no place for", smp_names_end(&names),
                 names.count == 1 && covers < 2 ? "is" : "are", smp_article(writer->format->name),
                 writer->format->name);
}
