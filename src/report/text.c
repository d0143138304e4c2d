/* Text for people: see text.h. */
#include "report/text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/text.h"

#define ELLIPSIS "\xe2\x80\xa6"

typedef struct character {
    size_t bytes, columns;
    bool clean; /* a terminal may see it */
} character;

/* text: not empty. */
static character next_character(const char *text)
{
    enum { LONGEST = 4 /* bytes */ };
    uint32_t code;
    const size_t bytes = smp_utf8_decode(text, strnlen(text, LONGEST), &code);
    const bool clean = code >= 0x20 && !smp_utf8_unprintable(code);
    return (character){bytes, clean ? (size_t)smp_utf8_width(code) : 1, clean};
}

size_t smp_text_columns(const char *text)
{
    size_t columns = 0;
    while (*text) {
        const character next = next_character(text);
        columns += next.columns;
        text += next.bytes;
    }
    return columns;
}

/* Writes what fits into `columns`; returns those that it takes. */
static size_t put_clean(FILE *to, const char *text, size_t columns)
{
    const char *from = text; /* clean up to here, and not written */
    size_t used = 0;
    while (*text) {
        const character next = next_character(text);
        if (next.columns > columns - used)
            break;
        used += next.columns;
        if (!next.clean) {
            fwrite(from, 1, (size_t)(text - from), to);
            fputc('?', to);
            from = text + next.bytes;
        }
        text += next.bytes;
    }
    fwrite(from, 1, (size_t)(text - from), to);
    return used;
}

void smp_text_clean(FILE *to, const char *text)
{
    put_clean(to, text, SIZE_MAX);
}

void smp_text_line(FILE *to, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) >= 0) {
        smp_text_clean(to, text);
        free(text);
    }
    va_end(arguments);
    fputc('\n', to);
}

void smp_text_xml_column(FILE *to, const char *text, size_t columns)
{
    while (*text) {
        const character next = next_character(text);
        if (next.columns > columns) {
            fputs(ELLIPSIS, to);
            return;
        }
        columns -= next.columns;
        if (!next.clean)
            fputc('?', to);
        else if (*text == '&')
            fputs("&amp;", to);
        else if (*text == '<')
            fputs("&lt;", to);
        else if (*text == '>')
            fputs("&gt;", to);
        else if (*text == '"')
            fputs("&quot;", to);
        else
            fwrite(text, 1, next.bytes, to);
        text += next.bytes;
    }
}

void smp_text_xml(FILE *to, const char *text)
{
    smp_text_xml_column(to, text, SIZE_MAX);
}

/* A terminal gets no control characters; elsewhere a field in quotes may hold any, so that paths stay what they are. */
void smp_text_csv(FILE *to, const char *text)
{
    const bool shown = isatty(fileno(to));
    bool quoted = strpbrk(text, ",\"") != NULL;
    for (const char *at = text; *at && !shown; at += next_character(at).bytes)
        quoted |= !next_character(at).clean;
    if (quoted)
        fputc('"', to);
    if (text[0] && strchr("=+-@", text[0]))
        fputc(' ', to);
    while (*text) {
        const character next = next_character(text);
        if (*text == '"')
            fputc('"', to);
        if (next.clean || !shown)
            fwrite(text, 1, next.bytes, to);
        else
            fputc('?', to);
        text += next.bytes;
    }
    if (quoted)
        fputc('"', to);
}

static void put_blanks(FILE *to, size_t count)
{
    while (count-- > 0)
        fputc(' ', to);
}

void smp_text_column(FILE *to, const char *text, int columns)
{
    size_t want = (size_t)(columns < 0 ? -columns : columns), have = smp_text_columns(text);
    if (have > want && want > 0) {
        const size_t used = put_clean(to, text, want - 1);
        fputs(ELLIPSIS, to);
        put_blanks(to, want - 1 - used); /* half of a wide character */
        return;
    }
    if (columns < 0)
        put_blanks(to, want - have);
    put_clean(to, text, have);
    if (columns > 0)
        put_blanks(to, want - have);
}

void smp_text_middle(FILE *to, const char *text, size_t columns)
{
    size_t have = smp_text_columns(text);
    if (have > columns && columns > 0) {
        const size_t head = (columns - 1) / 2, tail = columns - 1 - head;
        put_clean(to, text, head);
        fputs(ELLIPSIS, to);
        while (have > tail) {
            const character next = next_character(text);
            have -= next.columns;
            text += next.bytes;
        }
    }
    put_clean(to, text, columns);
}

void smp_text_wrap(FILE *to, const char *text, int at, int indent)
{
    size_t column = (size_t)at, start = (size_t)indent;
    bool blank = false, fresh = true; /* a blank is due before the next word; nothing on this line yet */
    while (*text) {
        if (*text == '\n') {
            fputc('\n', to);
            text++;
            if (!*text)
                return;
            if (*text != '\n')
                put_blanks(to, start);
            column = start, blank = false, fresh = true;
            if (*text == ' ') { /* the author laid it out */
                size_t length = strcspn(text, "\n");
                fwrite(text, 1, length, to);
                text += length;
            }
            continue;
        }
        if (*text == ' ') {
            blank = true;
            text++;
            continue;
        }
        size_t length = strcspn(text, " \n"), columns = 0;
        for (size_t i = 0; i < length; i++)
            columns += ((unsigned char)text[i] & 0xc0) != 0x80;
        if (!fresh && column + blank + columns > SMP_TEXT_WIDTH) {
            fputc('\n', to);
            put_blanks(to, start);
            column = start;
        } else if (blank && !fresh) {
            fputc(' ', to);
            column++;
        }
        fwrite(text, 1, length, to);
        column += columns;
        text += length;
        blank = false, fresh = false;
    }
    fputc('\n', to);
}

void smp_text_between(FILE *to, const unsigned char *text, const char *from, const char *end)
{
    const char *const all = (const char *)text;
    const char *at = from ? strstr(all, from) + strlen(from) : all;
    const char *last = end ? strstr(at, end) : at + strlen(at);
    fwrite(at, 1, (size_t)(last - at), to);
}

void smp_text_bytes(char *text, size_t size, double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    size_t unit = 0;
    while (bytes >= 1024 && unit + 1 < sizeof units / sizeof units[0]) {
        bytes /= 1024;
        unit++;
    }
    snprintf(text, size, unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
}

smp_paint smp_paint_for(bool color)
{
    if (!color)
        return (smp_paint){"", "", "", "", "", ""};
    return (smp_paint){"\033[1m", "\033[2m", "\033[1;31m", "\033[1;33m", "\033[32m", "\033[0m"};
}

void smp_text_cell(FILE *to, const char *text, int columns)
{
    fputs("  ", to);
    smp_text_column(to, text, -columns);
}

void smp_text_number(FILE *to, int columns, const char *format, double value, bool known)
{
    char text[48] = "-";
    if (known)
        snprintf(text, sizeof text, format, value);
    smp_text_cell(to, text, columns);
}
