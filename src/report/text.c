/* Text for people: see text.h. */
#include "report/text.h"

#include <string.h>
#include <unistd.h>

#define ELLIPSIS "\xe2\x80\xa6"

/* Decodes the next character: its bytes, and whether they may be shown. C1 controls (U+0080..9F) may not. */
static size_t next_character(const char *text, bool *clean)
{
    const unsigned char *p = (const unsigned char *)text;
    if (p[0] < 0x80) {
        *clean = p[0] >= 0x20 && p[0] != 0x7f;
        return 1;
    }
    size_t length = p[0] >= 0xc2 && p[0] <= 0xdf   ? 2
                    : p[0] >= 0xe0 && p[0] <= 0xef ? 3
                    : p[0] >= 0xf0 && p[0] <= 0xf4 ? 4
                                                   : 0;
    for (size_t i = 1; i < length; i++)
        if ((p[i] & 0xc0) != 0x80)
            length = 0;
    *clean = length && !(p[0] == 0xc2 && p[1] < 0xa0);
    return length ? length : 1;
}

size_t smp_text_columns(const char *text)
{
    size_t columns = 0;
    bool clean;
    for (; *text; text += next_character(text, &clean))
        columns++;
    return columns;
}

/* Writes at most `columns` characters. */
static void put_clean(FILE *to, const char *text, size_t columns)
{
    const char *from = text; /* clean up to here, and not written */
    while (*text && columns-- > 0) {
        bool clean;
        const size_t length = next_character(text, &clean);
        if (!clean) {
            fwrite(from, 1, (size_t)(text - from), to);
            fputc('?', to);
            from = text + length;
        }
        text += length;
    }
    fwrite(from, 1, (size_t)(text - from), to);
}

void smp_text_clean(FILE *to, const char *text)
{
    put_clean(to, text, SIZE_MAX);
}

void smp_text_xml_column(FILE *to, const char *text, size_t columns)
{
    bool clean;
    for (size_t length; *text; text += length) {
        length = next_character(text, &clean);
        if (columns-- == 0) {
            fputs(ELLIPSIS, to);
            return;
        }
        if (!clean)
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
            fwrite(text, 1, length, to);
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
    bool clean, quoted = strpbrk(text, ",\"") != NULL;
    for (const char *at = text; *at && !shown; at += next_character(at, &clean), quoted |= !clean)
        ;
    if (quoted)
        fputc('"', to);
    if (text[0] && strchr("=+-@", text[0]))
        fputc(' ', to);
    for (size_t length; *text; text += length) {
        length = next_character(text, &clean);
        if (*text == '"')
            fputc('"', to);
        if (clean || !shown)
            fwrite(text, 1, length ? length : 1, to);
        else
            fputc('?', to);
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
        put_clean(to, text, want - 1);
        fputs(ELLIPSIS, to);
        return;
    }
    if (columns < 0)
        put_blanks(to, want - have);
    put_clean(to, text, have);
    if (columns > 0)
        put_blanks(to, want - have);
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
