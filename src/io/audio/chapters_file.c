/* Texts that say a sound's chapters, as people and other programs write them: see chapters.h. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "io/audio/chapters.h"
#include "io/audio/tags.h"

typedef struct parser {
    smp_chapters *list;
    bool ffmpeg, chapter; /* the text is FFmpeg's metadata; the line is in a section [CHAPTER] */
    double tick;          /* of that section, seconds */
    double start;         /* of a chapter whose title follows; negative: none */
    char *title;          /* of a CUE sheet's track, whose start follows; in the text */
    bool file, track;     /* of a CUE sheet: one is named; the start of one is not said yet */
    const char *wrong;    /* with a line */
    bool memory;
} parser;

static void add(parser *p, double start, const char *title)
{
    p->memory = p->memory && smp_chapters_add(p->list, start, title, title ? strlen(title) : 0);
}

/* The next line. FFmpeg writes a sign '\' in front of what does not end one, and other signs. */
static char *next_line(const parser *p, char **rest)
{
    char *line = *rest, *end = line;
    while (*end && *end != '\n')
        end += 1 + (p->ffmpeg && *end == '\\' && end[1]);
    *rest = *end ? end + 1 : NULL;
    *end = '\0';
    return line;
}

/* Takes the signs '\' out that FFmpeg writes in front of others. */
static void unescape(char *text)
{
    char *to = text;
    for (; *text; text++) {
        text += *text == '\\' && text[1];
        *to++ = *text;
    }
    *to = '\0';
}

static bool take_ffmpeg(parser *p, char *line)
{
    long long number, part;
    if (*line == '[') {
        p->chapter = !strcasecmp(line, "[CHAPTER]");
        p->tick = 1e-9;
        p->start = -1;
    } else if (p->chapter && sscanf(line, "TIMEBASE=%lld/%lld", &part, &number) == 2) {
        if (part <= 0 || number <= 0)
            return false;
        p->tick = (double)part / (double)number;
    } else if (p->chapter && sscanf(line, "START=%lld", &number) == 1) {
        if (number < 0)
            return false;
        p->start = (double)number * p->tick;
        add(p, p->start, NULL);
    } else if (p->chapter && p->start >= 0 && !strncasecmp(line, "title=", 6) && p->memory) {
        smp_chapter *last = &p->list->items[p->list->count - 1];
        unescape(line + 6);
        smp_free(last->title);
        last->title = smp_strdup(line + 6);
        p->memory = last->title;
    }
    return true;
}

/* CHAPTER01=00:00:00.000, and CHAPTER01NAME=Title behind it. */
static bool take_pair(parser *p, char *line)
{
    char *value = strchr(line, '=');
    const char *end;
    *value++ = '\0';
    const size_t length = strlen(line);
    const bool names = length > 4 && !strcasecmp(line + length - 4, "NAME");
    const double start = names ? -1 : smp_chapter_time(value, &end);
    if (names && p->list->count && !p->list->items[p->list->count - 1].title) {
        smp_chapter *last = &p->list->items[p->list->count - 1];
        last->title = smp_strdup(value);
        p->memory = p->memory && last->title;
        return true;
    }
    if (start < 0 || *end)
        return !names && !strcasecmp(line + length - 3, "URL");
    add(p, start, NULL);
    return true;
}

static bool wrong(parser *p, const char *what)
{
    p->wrong = what;
    return false;
}

/* A CUE sheet's line: true where it is one. */
static bool take_cue(parser *p, char *line)
{
    enum { SECTORS = 75 /* a second */ };
    static const char *const idle[] = {"FILE ",  "TRACK ", "PERFORMER ", "REM ",     "INDEX ",     "CATALOG ",
                                       "FLAGS ", "ISRC ",  "PREGAP ",    "POSTGAP ", "SONGWRITER "};
    const bool file = !strncmp(line, "FILE ", 5), track = !strncmp(line, "TRACK ", 6);
    if (track) /* a title before it is the disc's */
        p->title = NULL;
    if ((track || file) && p->track)
        return wrong(p, "follows a track without INDEX 01");
    if (file && p->file)
        return wrong(p, "begins a second file, whose times count from its beginning");
    p->file |= file;
    p->track |= track;
    unsigned minutes, seconds, sectors;
    if (!strncmp(line, "TITLE ", 6)) {
        p->title = line + 6 + (line[6] == '"');
        p->title[strcspn(p->title, "\"")] = '\0';
        return true;
    }
    if (sscanf(line, "INDEX 01 %u:%u:%u", &minutes, &seconds, &sectors) == 3) {
        if (seconds >= 60 || sectors >= SECTORS)
            return false;
        p->track = false;
        add(p, minutes * 60. + seconds + sectors / (double)SECTORS, p->title);
        p->title = NULL;
        return true;
    }
    for (size_t i = 0; i < sizeof idle / sizeof idle[0]; i++)
        if (!strncmp(line, idle[i], strlen(idle[i])))
            return true;
    return false;
}

/* "1:02 Title", "[1:02] - Title"; "62.5<tab>70<tab>Title" of Audacity. */
static bool take_line(parser *p, const char *line)
{
    const char *end, *at = line + (*line == '[' || *line == '(');
    const double start = smp_chapter_time(at, &end);
    if (start < 0)
        return false;
    const bool labels = *end == '\t' && smp_chapter_time(end + 1, &end) >= 0;
    if (!labels && !memchr(at, ':', (size_t)(end - at)))
        return false;
    end += *end == ']' || *end == ')';
    if (*end && !strchr(" \t", *end))
        return false;
    end += strspn(end, " \t");
    end += *end == '-' && strchr(" \t", end[1]) ? 1 + strspn(end + 1, " \t") : 0;
    add(p, start, *end ? end : NULL);
    return true;
}

static bool take(parser *p, char *line)
{
    if (p->ffmpeg)
        return take_ffmpeg(p, line);
    if (!strncasecmp(line, SMP_CHAPTERS_KEY, strlen(SMP_CHAPTERS_KEY)) && strchr(line, '='))
        return take_pair(p, line);
    return take_cue(p, line) || take_line(p, line);
}

smp_code smp_chapters_parse(char *text, smp_chapters *list, smp_error *err)
{
    parser p = {.list = list, .start = -1, .memory = true};
    static const char mark[] = "\xEF\xBB\xBF";
    text += strncmp(text, mark, 3) ? 0 : 3;
    p.ffmpeg = !strncmp(text, ";FFMETADATA", 11);
    size_t number = 0;
    for (char *rest = text; rest;) {
        char *line = next_line(&p, &rest);
        number++;
        line += strspn(line, " \t\r");
        for (size_t n = strlen(line); n && strchr(" \t\r", line[n - 1]);)
            line[--n] = '\0';
        if (!*line || *line == '#' || *line == ';')
            continue;
        if (!take(&p, line)) {
            smp_fail(err, SMP_E_READ, "line %zu %s: '%.40s'", number, p.wrong ? p.wrong : "begins with no time", line);
            return smp_hint(err, "a chapter is a line as 1:02:03 Title; FFmpeg's metadata, CUE sheets of one file, "
                                 "CHAPTER01=, and labels of Audacity do too");
        }
        if (list->count > SMP_MOST_CHAPTERS)
            return smp_fail(err, SMP_E_LIMIT, "there are more than %d chapters", SMP_MOST_CHAPTERS);
    }
    SMP_NEED(p.memory, "chapters", strlen(text), err);
    if (p.track)
        return smp_fail(err, SMP_E_READ, "the last track has no INDEX 01");
    if (list->count)
        return SMP_OK;
    smp_fail(err, SMP_E_READ, "there is no chapter in it");
    return smp_hint(err, "a chapter is a line as 1:02:03 Title; --tag %s= drops those of the input", SMP_CHAPTERS_KEY);
}
