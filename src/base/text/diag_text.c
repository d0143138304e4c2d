/* Diagnostics as text: the place, the message, the line with a caret below the cell, the correction. Text from files is
 * shown so that it cannot send control characters to the terminal. */
#include <stdio.h>
#include <string.h>

#include "base/text/diag.h"
#include "base/text/text.h"

enum {
    WINDOW = 150,     /* cells of a source line that are shown */
    WINDOW_LEFT = 60, /* cells kept left of the caret when a line is longer */
    NUMBER_WIDTH = 4  /* cells of the line number in the margin */
};

typedef struct colors {
    const char *place, *error, *warning, *caret, *off;
} colors;

static const colors plain = {"", "", "", "", ""};
static const colors ansi = {"\033[1m", "\033[1;31m", "\033[1;35m", "\033[1;32m", "\033[0m"};
static const char replacement[] = "\xEF\xBF\xBD"; /* U+FFFD */

/* Writes bytes; replaces what a terminal must not see. */
static void put_printable(smp_text *text, const char *bytes, size_t length)
{
    for (size_t at = 0; at < length;) {
        uint32_t code;
        size_t n = smp_utf8_decode(bytes + at, length - at, &code);
        if (smp_utf8_unprintable(code))
            smp_text_put(text, replacement, 3);
        else
            smp_text_put(text, bytes + at, n);
        at += n;
    }
}

static void put_string(smp_text *text, const char *string)
{
    put_printable(text, string, strlen(string));
}

/* Finds the line that holds byte `start`: [*from, *to), without its line end. */
static void find_line(const smp_diag_source *source, size_t start, size_t *from, size_t *to)
{
    size_t begin = start, end = start;
    while (begin > 0 && source->text[begin - 1] != '\n')
        begin--;
    while (end < source->length && source->text[end] != '\n')
        end++;
    if (end > start && source->text[end - 1] == '\r')
        end--;
    if (begin == 0 && start >= 3 && source->length >= 3 && !memcmp(source->text, "\xEF\xBB\xBF", 3))
        begin = 3;
    *from = begin;
    *to = end;
}

static size_t cells(const char *bytes, size_t length)
{
    size_t total = 0;
    for (size_t at = 0; at < length;) {
        uint32_t code;
        at += smp_utf8_decode(bytes + at, length - at, &code);
        total += (size_t)(smp_utf8_unprintable(code) ? 1 : smp_utf8_width(code));
    }
    return total;
}

/* Returns the byte at which to cut a long line: `count` cells after `from`. */
static size_t skip_cells(const char *text, size_t from, size_t to, size_t count)
{
    size_t done = 0;
    while (from < to) {
        uint32_t code;
        size_t n = smp_utf8_decode(text + from, to - from, &code);
        size_t width = (size_t)(smp_utf8_unprintable(code) ? 1 : smp_utf8_width(code));
        if (done + width > count)
            break;
        done += width;
        from += n;
    }
    return from;
}

static void put_snippet(smp_text *text, const smp_diag_source *source, const smp_diag *item, int line, const colors *c)
{
    size_t from, to, start = item->span.start < source->length ? item->span.start : source->length;
    find_line(source, start, &from, &to);
    if (start > to)
        start = to;
    size_t end = item->span.length < to - start ? start + item->span.length : to;
    const char *left = "", *right = "";
    size_t before = cells(source->text + from, start - from);
    if (before + cells(source->text + start, to - start) > WINDOW) {
        if (before > WINDOW_LEFT) {
            from = skip_cells(source->text, from, start, before - WINDOW_LEFT);
            left = "...";
        }
        size_t cut = skip_cells(source->text, from, to, WINDOW);
        if (cut < to) {
            to = cut;
            right = "...";
        }
        end = end < to ? end : to;
    }
    smp_text_print(text, "%*d | %s", NUMBER_WIDTH, line, left);
    put_printable(text, source->text + from, to - from);
    char number[16];
    int margin = snprintf(number, sizeof number, "%*d", NUMBER_WIDTH, line);
    smp_text_print(text, "%s\n%*s | %*s", right, margin, "", (int)strlen(left), "");
    for (size_t at = from; at < start;) {
        uint32_t code;
        size_t n = smp_utf8_decode(source->text + at, start - at, &code);
        /* A tab is repeated as a tab, so that the terminal applies its tab stops. */
        if (code == '\t')
            smp_text_put(text, "\t", 1);
        else
            smp_text_put(text, "  ", (size_t)(smp_utf8_unprintable(code) ? 1 : smp_utf8_width(code)));
        at += n;
    }
    smp_text_print(text, "%s^", c->caret);
    for (size_t under = start < end ? cells(source->text + start, end - start) : 0; under > 1; under--)
        smp_text_put(text, "~", 1);
    if (item->fix) {
        smp_text_put(text, " ", 1);
        put_string(text, item->fix);
    }
    smp_text_print(text, "%s\n", c->off);
    if (item->note) {
        smp_text_print(text, "%*s = note: ", margin, "");
        put_string(text, item->note);
        smp_text_put(text, "\n", 1);
    }
    if (item->input) {
        smp_text_print(text, "%*s = note: first with ", margin, "");
        put_string(text, item->input);
        smp_text_put(text, "\n", 1);
    }
}

static void put_item(smp_text *text, const smp_diags *diags, const smp_diag *item, const colors *c)
{
    bool placed = item->span.source >= 0 && (size_t)item->span.source < diags->source_count;
    const smp_diag_source *source = placed ? &diags->sources[item->span.source] : NULL;
    int line = 0, column = 0;
    smp_text_print(text, "%s", c->place);
    if (source) {
        smp_diags_locate(diags, item->span, &line, &column);
        put_string(text, source->name);
        smp_text_print(text, ":%d:%d: ", line, column);
    }
    bool error = item->severity == SMP_ERROR;
    smp_text_print(text, "%s%s%s: %s%s", c->off, error ? c->error : c->warning, error ? "error" : "warning", c->off,
                   c->place);
    put_string(text, item->message);
    smp_text_print(text, "%s\n", c->off);
    if (source)
        put_snippet(text, source, item, line, c);
    while (source && source->included && source->from.source >= 0 && source->from.source < (int)diags->source_count) {
        const smp_span from = source->from;
        source = &diags->sources[from.source];
        smp_diags_locate(diags, from, &line, &column);
        smp_text_print(text, "%*s = note: included from ", NUMBER_WIDTH, "");
        put_string(text, source->name);
        smp_text_print(text, ":%d:%d\n", line, column);
        if (from.source == item->span.source)
            break;
    }
}

static void put_more(smp_text *text, const smp_diags *diags, int more, const char *what, const colors *c)
{
    if (more <= 0)
        return;
    if (diags->source_count) {
        smp_text_print(text, "%s", c->place);
        put_string(text, diags->sources[0].name);
        smp_text_print(text, ": %s", c->off);
    }
    smp_text_print(text, "%d more %s%s not shown\n", more, what, more == 1 ? " is" : "s are");
}

char *smp_diags_text(const smp_diags *diags, bool color)
{
    smp_text text = {0};
    const colors *c = color ? &ansi : &plain;
    for (size_t i = 0; i < diags->count; i++)
        put_item(&text, diags, &diags->items[i], c);
    put_more(&text, diags, diags->errors - diags->stored_errors, "error", c);
    put_more(&text, diags, diags->warnings - diags->stored_warnings, "warning", c);
    return smp_text_take(&text);
}
