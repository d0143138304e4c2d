/* Pages: one HTML file each that needs no network, follows dark mode, fits a phone and prints. The build makes one
 * template of src/report/page and puts it into the program. A page is that template with a title, a plain table for
 * browsers without scripts, and a report as JSON, which the template's script draws. The page's policy lets no other
 * script run. */
#pragma once

#include <stdio.h>

#include "report/json.h"

/* Everything up to the plain table, which is written next. command: "compare"; title: any bytes, "" for none. */
void smp_page_begin(FILE *to, const char *command, const char *title);

/* A row of the plain table, between <table> and </table>; tag: "th" or "td". Texts are any bytes. */
void smp_page_row(FILE *to, const char *tag, const char *const *texts, size_t count);

/* The plain table of what is written as CSV to the file that this opens; closed by fclose. Null without memory. */
FILE *smp_page_table(FILE *to);

/* Everything up to the data, which are written next as one object. view: of main.js. */
void smp_page_data(FILE *to, const char *view, smp_json *json);
void smp_page_end(FILE *to);
