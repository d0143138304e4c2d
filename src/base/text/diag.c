/* Collects diagnostics: sources, messages, places. diag_text.c and diag_json.c print them. */
#include "base/text/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text/text.h"

static char *format_text(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

static char *format_text(const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = length < 0 ? NULL : smp_alloc((size_t)length + 1);
    if (text)
        vsnprintf(text, (size_t)length + 1, format, args);
    return text;
}

static void free_item(smp_diag *item)
{
    smp_free_all(item->message, item->fix, item->note, item->input);
}

void smp_diags_free(smp_diags *diags)
{
    for (size_t i = 0; i < diags->source_count; i++)
        smp_free_all(diags->sources[i].name, diags->sources[i].text);
    for (size_t i = 0; i < diags->count; i++)
        free_item(&diags->items[i]);
    smp_free_all(diags->sources, diags->items);
    *diags = (smp_diags){0};
}

int smp_diags_add_source(smp_diags *diags, const char *name, const char *text, size_t length)
{
    smp_diag_source source = {.name = smp_strdup(name), .text = smp_strndup(text, length), .length = length};
    if (!source.name || !source.text ||
        !smp_grow(&diags->sources, &diags->source_capacity, diags->source_count + 1, sizeof source)) {
        smp_free_all(source.name, source.text);
        diags->out_of_memory = true;
        return -1;
    }
    diags->sources[diags->source_count] = source;
    return (int)diags->source_count++;
}

bool smp_diags_take_sources(smp_diags *to, const smp_diags *from)
{
    *to = (smp_diags){0};
    for (size_t i = 0; i < from->source_count; i++) {
        const smp_diag_source *source = &from->sources[i];
        const int index = smp_diags_add_source(to, source->name, source->text, source->length);
        if (index < 0)
            return false;
        to->sources[index].included = source->included;
        to->sources[index].from = source->from;
    }
    return true;
}

static bool said_already(const smp_diags *diags, const smp_diag *item)
{
    for (size_t i = 0; i < diags->count; i++) {
        const smp_diag *old = &diags->items[i];
        if (old->severity == item->severity && old->span.source == item->span.source &&
            old->span.start == item->span.start && !strcmp(old->message, item->message))
            return true;
    }
    return false;
}

smp_diag *smp_diags_add(smp_diags *diags, smp_severity severity, smp_span span, const char *format, ...)
{
    smp_diag item = {.severity = severity, .span = span};
    int *total = severity == SMP_ERROR ? &diags->errors : &diags->warnings;
    int *stored = severity == SMP_ERROR ? &diags->stored_errors : &diags->stored_warnings;
    if (*stored >= SMP_MAX_DIAGS) {
        *total += *total < 1000000;
        return NULL;
    }
    va_list args;
    va_start(args, format);
    item.message = format_text(format, args);
    va_end(args);
    if (item.message && said_already(diags, &item)) {
        free_item(&item);
        return NULL;
    }
    ++*total;
    if (!item.message || !smp_grow(&diags->items, &diags->capacity, diags->count + 1, sizeof item)) {
        free_item(&item);
        diags->out_of_memory = true;
        return NULL;
    }
    ++*stored;
    diags->items[diags->count] = item;
    return &diags->items[diags->count++];
}

void smp_diags_found_with(smp_diags *diags, size_t first, const char *input)
{
    for (size_t i = first; i < diags->count; i++) {
        smp_free(diags->items[i].input);
        diags->items[i].input = smp_strdup(input);
        diags->out_of_memory |= !diags->items[i].input;
    }
}

void smp_diag_fix(smp_diags *diags, smp_diag *diag, const char *format, ...)
{
    if (!diag)
        return;
    va_list args;
    va_start(args, format);
    smp_free(diag->fix);
    diag->fix = format_text(format, args);
    va_end(args);
    diags->out_of_memory |= !diag->fix;
}

void smp_diag_note(smp_diags *diags, smp_diag *diag, const char *format, ...)
{
    if (!diag)
        return;
    va_list args;
    va_start(args, format);
    smp_free(diag->note);
    diag->note = format_text(format, args);
    va_end(args);
    diags->out_of_memory |= !diag->note;
}

static bool before(const smp_diag *a, const smp_diag *b)
{
    if (a->span.source != b->span.source)
        return a->span.source < b->span.source;
    return a->span.start < b->span.start;
}

void smp_diags_sort(smp_diags *diags, size_t first)
{
    /* Insertion sort: it keeps the order of equal places, and there are at most 40. */
    for (size_t i = first + 1; i < diags->count; i++) {
        smp_diag item = diags->items[i];
        size_t at = i;
        for (; at > first && before(&item, &diags->items[at - 1]); at--)
            diags->items[at] = diags->items[at - 1];
        diags->items[at] = item;
    }
}

void smp_diags_locate(const smp_diags *diags, smp_span span, int *line, int *column)
{
    *line = *column = 1;
    if (span.source < 0 || (size_t)span.source >= diags->source_count)
        return;
    const smp_diag_source *source = &diags->sources[span.source];
    size_t start = span.start < source->length ? span.start : source->length, at = 0;
    for (size_t i = 0; i < start; i++)
        if (source->text[i] == '\n') {
            ++*line;
            at = i + 1;
        }
    if (!at && start >= 3 && !memcmp(source->text, "\xEF\xBB\xBF", 3))
        at = 3; /* a byte order mark is not a character of the line */
    while (at < start) {
        uint32_t code;
        at += smp_utf8_decode(source->text + at, source->length - at, &code);
        ++*column;
    }
}
