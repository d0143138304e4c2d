/* Letters and lines: see letters.h. */
#include "stages/shared/drawing/letters.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text/font.h"
#include "base/text/utf8.h"

void smp_mark_add(smp_marks *marks, smp_mark_kind kind, double a, double b)
{
    if (marks->failed || !smp_grow(&marks->items, &marks->capacity, marks->count + 1, sizeof *marks->items))
        marks->failed = true;
    else
        marks->items[marks->count++] = (smp_mark){(float)kind, (float)a, (float)b};
}

/* Dots beside each other in a row: a rectangle. */
static void add_dots(smp_marks *out, int row, int from, int to)
{
    const int top = SMP_FONT_HEIGHT - row, x[] = {from, to, to, from}, y[] = {top, top, top - 1, top - 1};
    for (int i = 0; i < 4; i++)
        smp_mark_add(out, i ? SMP_MARK_LINE : SMP_MARK_MOVE, x[i], y[i]);
}

void smp_letters_built_in(const char *text, smp_marks *out)
{
    smp_mark_add(out, SMP_MARK_FONT, SMP_FONT_HEIGHT, SMP_FONT_HEIGHT);
    smp_mark_add(out, SMP_MARK_PARAGRAPH, 0, 0);
    for (uint32_t code; (code = smp_font_next(&text));) {
        if (code == '\n') {
            smp_mark_add(out, SMP_MARK_PARAGRAPH, 0, 0);
            continue;
        }
        if (!smp_font_has(code))
            smp_mark_add(out, SMP_MARK_MISSING, code == SMP_UTF8_INVALID ? SMP_NO_CHARACTER : code, 0);
        const bool last = !text[0] || text[0] == '\n'; /* the gap behind it is no part of the line */
        smp_mark_add(out, SMP_MARK_LETTER, SMP_FONT_WIDTH - last,
                     code == ' ' ? SMP_LETTER_BLANK | SMP_LETTER_BREAKS : 0);
        const uint8_t *rows = smp_font_glyph(code);
        for (int row = 0; row < SMP_FONT_HEIGHT; row++)
            for (int i = 0, from = -1; i <= SMP_FONT_WIDTH; i++) {
                const bool dot = i < SMP_FONT_WIDTH && rows[row] >> (7 - i) & 1;
                if (!dot && from >= 0)
                    add_dots(out, row, from, i);
                from = !dot ? -1 : from < 0 ? i : from;
            }
    }
}

typedef struct letter {
    double width; /* units of the font */
    int bits;
    size_t outline; /* the mark behind it */
} letter;

typedef struct layout {
    const smp_marks *marks;
    const smp_setting_of_lines *how;
    smp_outline *out;
    double unit, above; /* 256ths of a pixel of a unit of the font; units above the base line */
    letter line[SMP_TEXT_MOST];
    size_t count; /* letters of the line */
    bool leftwards;
    int64_t lines;
    double widest; /* units */
    bool measures; /* finds the widest line, and lays nothing */
} layout;

static int64_t scaled(const layout *l, double units)
{
    static const double most = 1 << 30;
    return (int64_t)fmax(-most, fmin(floor(units * l->unit + 0.5), most));
}

/* The width of letters from .. to-1, without blanks at their end. */
static double width_of(const layout *l, size_t from, size_t to)
{
    double width = 0;
    while (to > from && l->line[to - 1].bits & SMP_LETTER_BLANK)
        to--;
    for (size_t i = from; i < to; i++)
        width += l->line[i].width;
    return width;
}

static void lay_letter(layout *l, size_t at, double x)
{
    const int64_t down = (int64_t)floor((double)l->lines * l->how->spacing * (double)l->how->size + 0.5);
    smp_vertex controls[2] = {{0, 0}, {0, 0}};
    int count = 0;
    for (; at < l->marks->count; at++) {
        const smp_mark *m = &l->marks->items[at];
        const smp_vertex p = {scaled(l, x + (double)m->a),
                              scaled(l, l->above - (double)m->b) + down * SMP_OUTLINE_UNIT};
        if (m->kind < SMP_MARK_MOVE)
            return;
        if (m->kind == SMP_MARK_MOVE)
            smp_outline_move(l->out, p);
        else if (m->kind > SMP_MARK_LINE)
            controls[count++ % 2] = p;
        else if (count == 1)
            smp_outline_conic(l->out, controls[0], p);
        else if (count == 2)
            smp_outline_cubic(l->out, controls[0], controls[1], p);
        else
            smp_outline_line(l->out, p);
        count = m->kind > SMP_MARK_LINE ? count : 0;
    }
}

static void turn(letter *letters, size_t from, size_t to)
{
    for (; from + 1 < to; from++, to--) {
        const letter first = letters[from];
        letters[from] = letters[to - 1];
        letters[to - 1] = first;
    }
}

/* From the order of reading to that from the left: of the line, and back of what is read the other way in it. */
static void order(layout *l, size_t count)
{
    if (l->leftwards)
        turn(l->line, 0, count);
    for (size_t i = 0, end; i < count; i = end) {
        end = i + 1;
        const bool other = !(l->line[i].bits & SMP_LETTER_LEFTWARDS) == l->leftwards;
        while (end < count && (l->line[end].bits & SMP_LETTER_LEFTWARDS) == (l->line[i].bits & SMP_LETTER_LEFTWARDS))
            end++;
        if (other)
            turn(l->line, i, end);
    }
}

/* Lays letters 0 .. count-1 as a line; those behind them begin the next. */
static void end_line(layout *l, size_t count)
{
    letter rest[SMP_TEXT_MOST];
    const size_t left = l->count - count;
    const double width = width_of(l, 0, count), free_space = l->widest - width;
    memcpy(rest, l->line + count, left * sizeof *rest);
    while (count && l->line[count - 1].bits & SMP_LETTER_BLANK)
        count--;
    if (l->measures)
        l->widest = fmax(l->widest, width);
    else {
        double x = l->how->align == SMP_ALIGN_LEFT ? 0 : l->how->align == SMP_ALIGN_RIGHT ? free_space : free_space / 2;
        order(l, count);
        for (size_t i = 0; i < count; x += l->line[i++].width)
            lay_letter(l, l->line[i].outline, x);
    }
    memcpy(l->line, rest, left * sizeof *rest);
    l->count = left;
    l->lines++;
}

/* Where a line that became too wide is broken: behind the last letter that allows it, else before its last. */
static size_t break_of(const layout *l)
{
    for (size_t i = l->count - 1; i > 0; i--)
        if (l->line[i - 1].bits & SMP_LETTER_BREAKS)
            return i;
    return l->count > 1 ? l->count - 1 : 1;
}

static void lay(layout *l, bool measures)
{
    l->measures = measures;
    l->lines = 0;
    l->count = 0;
    bool begun = false;
    for (size_t i = 0; i < l->marks->count; i++) {
        const smp_mark *m = &l->marks->items[i];
        if (m->kind == SMP_MARK_PARAGRAPH) {
            if (begun)
                end_line(l, l->count);
            begun = true;
            l->leftwards = m->a > 0;
        }
        if (m->kind != SMP_MARK_LETTER)
            continue;
        if (l->count == SMP_TEXT_MOST) { /* fonts may have several for a character */
            l->out->failed = true;
            break;
        }
        l->line[l->count++] = (letter){(double)m->a, (int)m->b, i + 1};
        while (l->how->width && l->count > 1 && scaled(l, width_of(l, 0, l->count)) > l->how->width * SMP_OUTLINE_UNIT)
            end_line(l, break_of(l));
    }
    end_line(l, l->count);
}

void smp_letters_lay(const smp_marks *marks, const smp_setting_of_lines *how, smp_outline *out, int64_t *width,
                     int64_t *height)
{
    const double high = marks->count ? fmax(1, (double)marks->items[0].a) : 1;
    layout *l = smp_alloc(sizeof *l);
    *width = *height = 0;
    if (!l || marks->failed) {
        out->failed = true;
        smp_free(l);
        return;
    }
    *l = (layout){.marks = marks, .how = how, .out = out, .above = marks->count ? (double)marks->items[0].b : 0};
    l->unit = (double)how->size * SMP_OUTLINE_UNIT / high;
    lay(l, true);
    *width = (scaled(l, l->widest) + SMP_OUTLINE_UNIT - 1) / SMP_OUTLINE_UNIT;
    *height = how->size + (int64_t)floor((double)(l->lines - 1) * how->spacing * (double)how->size + 0.5);
    lay(l, false);
    smp_free(l);
}
