/* Chapters of texts and of ID3 frames: see chapters.h. Sources: Xiph, "Chapter Extension"; id3.org, "ID3v2 Chapter
 * Frame Addendum 1.0". */
#include "io/audio/chapters.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/text/utf8.h"

enum { KEY = sizeof SMP_CHAPTERS_KEY - 1, MOST_DIGITS = 4 };

/* The number of a chapter's text, and what of it the text says behind the number: "", "NAME", "URL". -1: it is none. */
static long number_of(const char *key, const char **what)
{
    if (strncasecmp(key, SMP_CHAPTERS_KEY, KEY) != 0)
        return -1;
    const size_t digits = strspn(key + KEY, "0123456789");
    *what = key + KEY + digits;
    return digits && digits <= MOST_DIGITS && (!**what || !strcasecmp(*what, "NAME") || !strcasecmp(*what, "URL"))
               ? strtol(key + KEY, NULL, 10)
               : -1;
}

bool smp_chapter_is(const char *key)
{
    const char *what;
    return number_of(key, &what) >= 0;
}

double smp_chapter_time(const char *text, const char **end)
{
    enum { PLACES = 3, MOST = 9 /* digits */ };
    double seconds = 0, part = 1;
    for (int i = 0; i < PLACES; i++) {
        const size_t digits = strspn(text, "0123456789");
        if (!digits || digits > MOST)
            return -1;
        const long part_of = strtol(text, NULL, 10);
        if (i && part_of >= 60)
            return -1;
        seconds = seconds * 60 + (double)part_of;
        text += digits;
        if (*text != ':' || i == PLACES - 1)
            break;
        text++;
    }
    if (*text == '.')
        for (text++; *text >= '0' && *text <= '9'; text++)
            seconds += (*text - '0') * (part /= 10);
    *end = text;
    return seconds;
}

bool smp_chapters_add(smp_chapters *list, double start, const char *title, size_t length)
{
    char *copy = title ? smp_strndup(title, length) : NULL;
    if ((title && !copy) || !smp_grow(&list->items, &list->capacity, list->count + 1, sizeof *list->items)) {
        smp_free(copy);
        return false;
    }
    list->items[list->count++] = (smp_chapter){start, copy};
    return true;
}

void smp_chapters_free(smp_chapters *list)
{
    for (size_t i = 0; i < list->count; i++)
        smp_free(list->items[i].title);
    smp_free(list->items);
    *list = (smp_chapters){0};
}

/* The value of the text that says this of this chapter; null: there is none. */
static const char *said(const smp_meta *meta, long number, const char *of)
{
    const char *what;
    for (size_t i = 0; i < meta->text_count; i++)
        if (number_of(meta->texts[i].key, &what) == number && !strcasecmp(what, of))
            return meta->texts[i].value;
    return NULL;
}

static bool add_texts(const smp_meta *meta, smp_chapters *list)
{
    bool memory = true;
    for (size_t i = 0; memory && i < meta->text_count; i++) {
        const char *what, *end;
        const long number = number_of(meta->texts[i].key, &what);
        const double start = number >= 0 && !*what ? smp_chapter_time(meta->texts[i].value, &end) : -1;
        if (start < 0 || *end)
            continue;
        const char *title = said(meta, number, "NAME");
        memory = smp_chapters_add(list, start, title, title ? strlen(title) : 0);
        list->more |= said(meta, number, "URL") != NULL;
    }
    return memory;
}

/* A frame CHAP: a name of its own, start and end in ms, two places in the file, and frames. */
static bool add_frame(smp_chapters *list, const uint8_t *body, size_t size)
{
    enum { TIMES = 16, HEAD = 10 };
    size_t at = strnlen((const char *)body, size) + 1;
    if (at + TIMES > size)
        return true;
    const double start = smp_get_be(body + at, 4) / 1000.;
    char *title = NULL;
    at += TIMES;
    while (at + HEAD <= size) {
        const size_t length = smp_get_syncsafe(body + at + 4);
        if (length > size - at - HEAD)
            break;
        const bool names = !memcmp(body + at, "TIT2", 4) && !title;
        if (names)
            title = smp_id3_text(body + at + HEAD, length);
        if (names && title)
            smp_utf8_clean(title);
        list->more |= !names;
        at += HEAD + length;
    }
    const bool memory = smp_chapters_add(list, start, title, title ? strlen(title) : 0);
    smp_free(title);
    return memory;
}

static int by_start(const void *a, const void *b)
{
    const double x = ((const smp_chapter *)a)->start, y = ((const smp_chapter *)b)->start;
    return (x > y) - (x < y);
}

void smp_chapters_sort(smp_chapters *list)
{
    if (list->count)
        qsort(list->items, list->count, sizeof *list->items, by_start);
}

bool smp_chapters_of(const smp_meta *meta, smp_chapters *list)
{
    *list = (smp_chapters){0};
    bool memory = !meta || add_texts(meta, list);
    const bool texts = list->count;
    for (size_t i = 0; memory && meta && !texts && i < meta->attached_count; i++)
        if (!strcmp(meta->attached[i].frame, "CHAP"))
            memory = add_frame(list, meta->attached[i].data.data, meta->attached[i].data.size);
    if (!memory)
        smp_chapters_free(list);
    else
        smp_chapters_sort(list);
    return memory;
}

smp_chapter_texts smp_chapter_say(const smp_chapters *list, size_t i)
{
    static const uint64_t SECOND = 1000000, MOST = 9999; /* of hours */
    const uint64_t all = (uint64_t)llround(fmin(list->items[i].start, (double)MOST * 3600) * (double)SECOND);
    const uint64_t seconds = all / SECOND;
    const unsigned number = (unsigned)(i + 1) % 10000, micro = (unsigned)(all % SECOND);
    smp_chapter_texts to;
    snprintf(to.key, sizeof to.key, "%s%03u", SMP_CHAPTERS_KEY, number);
    snprintf(to.name, sizeof to.name, "%s%03uNAME", SMP_CHAPTERS_KEY, number);
    const int n = snprintf(to.start, sizeof to.start, "%02u:%02u:%02u.", (unsigned)(seconds / 3600),
                           (unsigned)(seconds / 60 % 60), (unsigned)(seconds % 60));
    snprintf(to.start + n, sizeof to.start - (size_t)n, micro % 1000 ? "%06u" : "%03u",
             micro % 1000 ? micro : micro / 1000);
    return to;
}
