/* Text for people: columns that line up whatever the script, wrapped paragraphs, sizes with units. Bytes from files and
 * names of strangers are cleaned of control characters, so that they cannot drive a terminal. */
#ifndef SMP_REPORT_TEXT_H
#define SMP_REPORT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The widest line that tables and help are laid out for. */
enum { SMP_TEXT_WIDTH = 100 };

/* Columns that text takes: a code point counts one; a byte that is not UTF-8 counts one. */
size_t smp_text_columns(const char *text);

/* Writes text with control characters and bytes that are not UTF-8 as '?'. */
void smp_text_clean(FILE *to, const char *text);

/* The same for XML and HTML: escaped, in content and between double quotes. */
void smp_text_xml(FILE *to, const char *text);

/* The same, cut to `columns` with an ellipsis. */
void smp_text_xml_column(FILE *to, const char *text, size_t columns);

/* The same as a cell of CSV (RFC 4180): quoted where that must be. What a spreadsheet would take for a formula gets a
 * blank before it. */
void smp_text_csv(FILE *to, const char *text);

/* smp_text_clean, cut to `columns` with an ellipsis or filled with blanks (negative: blanks first). */
void smp_text_column(FILE *to, const char *text, int columns);

/* Paragraphs (separated by line ends) wrapped at SMP_TEXT_WIDTH; the cursor stands at column `at` and every further
 * line starts at column `indent`. Lines that begin with a blank are kept as they are. Ends with a line end. */
void smp_text_wrap(FILE *to, const char *text, int at, int indent);

/* "512 B", "1.5 MiB". */
void smp_text_bytes(char *text, size_t size, double bytes);

/* ANSI codes, or "" without colour. */
typedef struct smp_paint {
    const char *bold, *dim, *red, *yellow, *green, *off;
} smp_paint;

smp_paint smp_paint_for(bool color);

#endif
