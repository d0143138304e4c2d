/* Fills the template of pages: see page.h. */
#include "report/page.h"

#include <string.h>

#include "base/alloc.h"
#include "report/text.h"

extern const unsigned char smp_page_template[]; /* by page.cmake */

static void put_between(FILE *to, const char *from, const char *end)
{
    smp_text_between(to, smp_page_template, from, end);
}

void smp_page_begin(FILE *to, const char *command, const char *title)
{
    put_between(to, NULL, "@TITLE@");
    fputs(command, to);
    fputs(title[0] ? ": " : "", to);
    smp_text_xml(to, title);
    put_between(to, "@TITLE@", "@PLAIN@");
}

void smp_page_row(FILE *to, const char *tag, const char *const *texts, size_t count)
{
    fputs("<tr>", to);
    for (size_t i = 0; i < count; i++) {
        fprintf(to, "<%s>", tag);
        smp_text_xml(to, texts[i]);
        fprintf(to, "</%s>", tag);
    }
    fputs("</tr>\n", to);
}

void smp_page_data(FILE *to, const char *view, smp_json *json)
{
    put_between(to, "@PLAIN@", "@VIEW@");
    fputs(view, to);
    put_between(to, "@VIEW@", "@DATA@");
    smp_json_begin(json, to, true);
    json->page = true;
}

void smp_page_end(FILE *to)
{
    put_between(to, "@DATA@", NULL);
}

typedef struct table {
    FILE *to;
    bool head, row;      /* in the first row; in a row */
    bool quoted, closed; /* inside quotes; which the last byte ended */
    char *cell;          /* so far */
    size_t length, capacity;
} table;

static void put_cell(table *t)
{
    const char *const tag = t->head ? "th" : "td";
    fprintf(t->to, "%s<%s>", t->row ? "" : "<tr>", tag);
    if (t->cell) {
        t->cell[t->length] = '\0';
        smp_text_xml(t->to, t->cell);
    }
    fprintf(t->to, "</%s>", tag);
    t->row = true;
    t->length = 0;
}

static void put_byte(table *t, char byte)
{
    const bool doubled = byte == '"' && t->closed; /* stands for one */
    t->closed = byte == '"' && t->quoted;
    if (byte == '"')
        t->quoted = !t->quoted;
    if (byte == '"' && !doubled)
        return;
    if (!t->quoted && strchr(",\n", byte)) {
        put_cell(t);
        if (byte == '\n') {
            fputs("</tr>\n", t->to);
            t->row = t->head = false;
        }
    } else if (byte != '\r' && smp_grow(&t->cell, &t->capacity, t->length + 2, 1)) {
        t->cell[t->length++] = byte; /* without memory a text is cut */
    }
}

static ssize_t write_table(void *cookie, const char *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        put_byte(cookie, data[i]);
    return (ssize_t)size;
}

static int close_table(void *cookie)
{
    table *t = cookie;
    fputs("</table>\n", t->to);
    smp_free_all(t->cell, t);
    return 0;
}

FILE *smp_page_table(FILE *to)
{
    table *t = smp_alloc(sizeof *t);
    if (!t)
        return NULL;
    *t = (table){.to = to, .head = true};
    FILE *csv = fopencookie(t, "w", (cookie_io_functions_t){.write = write_table, .close = close_table});
    if (csv)
        fputs("<table>\n", to);
    else
        smp_free(t);
    return csv;
}
