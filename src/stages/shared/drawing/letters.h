/* A text set in a font: which letters, how far each moves on, and their outlines, in units of the font; and the lines
 * that are made of it. */
#pragma once

#include "base/error.h"
#include "stages/shared/drawing/outline.h"

enum { SMP_TEXT_MOST = 1000 /* characters */, SMP_NO_CHARACTER = 0xfffd /* what stands for bytes that are none */ };

/* A text is a list of marks: SMP_MARK_FONT, then paragraphs of letters in the order in which they are read, each
 * followed by its outline. Up is positive; a letter's points are counted from where it begins on the base line. */
typedef enum smp_mark_kind {
    SMP_MARK_FONT,      /* a: units of a line's height, b: above the base line */
    SMP_MARK_PARAGRAPH, /* one begins; a: 1: it is read from the right */
    SMP_MARK_LETTER,    /* a: its width; b: bits of smp_letter */
    SMP_MARK_MISSING,   /* a: a character that the font lacks */
    SMP_MARK_MOVE,      /* a, b: a point: a contour begins, */
    SMP_MARK_LINE,      /* goes on, or a curve ends */
    SMP_MARK_CONIC,     /* a control point, of one */
    SMP_MARK_CUBIC,     /* or of two */
    SMP_MARKS
} smp_mark_kind;
enum smp_letter { SMP_LETTER_BLANK = 1, SMP_LETTER_BREAKS = 2, SMP_LETTER_LEFTWARDS = 4 };

typedef struct smp_mark {
    float kind, a, b; /* whole numbers */
} smp_mark;

typedef struct smp_marks {
    smp_mark *items; /* from smp_alloc */
    size_t count, capacity;
    bool failed;
} smp_marks;
void smp_mark_add(smp_marks *marks, smp_mark_kind kind, double a, double b);

/* The text in the built-in font (base/text/font.h), whose dots are squares of a 10th of its height. */
void smp_letters_built_in(const char *text, smp_marks *out);

/* The same in a font: a file where its name has a dot or a slash, else by fontconfig's name. Defined by io/font. What
 * was set once is at hand again, also when no file can be opened any more. */
smp_code smp_letters_set(const char *font, const char *text, smp_marks *out, smp_error *err);

typedef enum smp_align { SMP_ALIGN_LEFT, SMP_ALIGN_CENTRE, SMP_ALIGN_RIGHT } smp_align;

typedef struct smp_setting_of_lines {
    int64_t size;   /* px: of a line */
    int64_t width;  /* px: lines are broken where they become wider; 0: never */
    double spacing; /* from a line to the next, in lines */
    smp_align align;
} smp_setting_of_lines;

/* Adds the outlines of a text's lines, the upper left corner of the first at 0, 0. *width, *height: of all lines, px.
 */
void smp_letters_lay(const smp_marks *marks, const smp_setting_of_lines *how, smp_outline *out, int64_t *width,
                     int64_t *height);
