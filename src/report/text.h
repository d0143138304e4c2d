/* Text for people: columns that line up in every script, wrapped paragraphs, sizes with units. Control characters in
 * names and in bytes from files are replaced, so that they cannot control a terminal. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

/* The width of tables and help. */
enum { SMP_TEXT_WIDTH = 100 };

/* The columns of a text in a terminal: characters as wide as smp_utf8_width says; a byte that is not UTF-8, and a
 * character that is not shown, is one. */
size_t smp_text_columns(const char *text);

/* Writes text with '?' for control characters and for bytes that are not UTF-8. */
void smp_text_clean(FILE *to, const char *text);

/* A line by a format of printf, so cleaned, and its end. */
void smp_text_line(FILE *to, const char *format, ...) SMP_PRINTF(2, 3);

/* smp_text_clean for XML and HTML: escaped for content and for double quotes. */
void smp_text_xml(FILE *to, const char *text);

/* The same, cut to `columns` with an ellipsis. */
void smp_text_xml_column(FILE *to, const char *text, size_t columns);

/* The same as a cell of CSV (RFC 4180), quoted where necessary. A cell that a spreadsheet would take for a formula gets
 * a blank in front. */
void smp_text_csv(FILE *to, const char *text);

/* smp_text_clean, cut to `columns` with an ellipsis, or padded with blanks (negative: blanks first). */
void smp_text_column(FILE *to, const char *text, int columns);

/* smp_text_clean, of at most `columns`: what is too long loses its middle, so that a path keeps the file's name. */
void smp_text_middle(FILE *to, const char *text, size_t columns);

/* A cell of a table: two blanks, then right-aligned text, or a number by a format of printf, "-" where none is known.
 */
void smp_text_cell(FILE *to, const char *text, int columns);
void smp_text_number(FILE *to, int columns, const char *format, double value, bool known);

/* Wraps paragraphs (separated by line ends) at SMP_TEXT_WIDTH. The first line begins at column `at`, where the cursor
 * is, every further line at column `indent`. Lines that begin with a blank are kept as they are. Ends with a line end.
 */
void smp_text_wrap(FILE *to, const char *text, int at, int indent);

/* "512 B", "1.5 MiB". */
void smp_text_bytes(char *text, size_t size, double bytes);

/* A template's text from behind one mark, or its beginning, to another, or its end. */
void smp_text_between(FILE *to, const unsigned char *text, const char *from, const char *end);

/* ANSI codes; "" without colour. */
typedef struct smp_paint {
    const char *bold, *dim, *red, *yellow, *green, *off;
} smp_paint;

smp_paint smp_paint_for(bool color);
