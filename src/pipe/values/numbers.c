/* Lists and matrices from text files: `fir "taps.txt"`. */
#include <string.h>

#include "base/alloc.h"
#include "pipe/language/build.h"
#include "pipe/language/lex.h"

/* Parses a row a line; blanks, tabs, commas or semicolons separate values; # begins a comment. items null: only counts.
 * False at a token that is no number: bad->start and bad->length are its place. */
static bool read_numbers(const char *text, size_t length, smp_span span, smp_value *items, size_t *count, smp_span *bad)
{
    int row = 0;
    bool any = false; /* in this line */
    *count = 0;
    for (size_t at = 0; at < length;) {
        const char c = text[at];
        if (c == '\n') {
            row += any;
            any = false;
            at++;
        } else if (c == '#') {
            while (at < length && text[at] != '\n')
                at++;
        } else if (strchr(" \t\r,;", c)) {
            at++;
        } else {
            size_t end = at, used;
            double value;
            while (end < length && !strchr(" \t\r\n,;#", text[end]))
                end++;
            if (smp_number_read(text + at, end - at, &value, &used) != SMP_NUMBER_OK || used != end - at) {
                bad->start = at;
                bad->length = end - at;
                return false;
            }
            if (items)
                items[*count] = (smp_value){
                    .kind = SMP_VALUE_NUMBER, .span = span, .text = "", .number = {value, SMP_UNIT_NONE}, .row = row};
            ++*count;
            any = true;
            at = end;
        }
    }
    return true;
}

static bool bind_text(smp_builder *b, int source, smp_value *value)
{
    char shown[SMP_SHOWN];
    const smp_diag_source *file = &b->diags->sources[source];
    const char *text = file->text;
    smp_span bad = {.source = source};
    size_t count;
    if (!smp_lex_acceptable(text, file->length, source, b->diags)) {
        value->kind = SMP_VALUE_BAD;
        return true;
    }
    bool good = read_numbers(text, file->length, value->span, NULL, &count, &bad);
    if (!good)
        smp_diags_add(b->diags, SMP_ERROR, bad, "'%s' is not a number", smp_shown(shown, text + bad.start, bad.length));
    else if (!count || count > SMP_MAX_ELEMENTS)
        smp_diags_add(b->diags, SMP_ERROR, value->span, "'%s' has %zu numbers; a matrix has 1 to %d",
                      smp_shown(shown, value->text, value->length), count, SMP_MAX_ELEMENTS);
    if (!good || !count || count > SMP_MAX_ELEMENTS) {
        value->kind = SMP_VALUE_BAD;
        return true;
    }
    smp_value *items = smp_arena_array(&b->owned->arena, count, sizeof *items);
    if (!items)
        return false;
    read_numbers(text, file->length, value->span, items, &count, &bad);
    value->kind = SMP_VALUE_LIST;
    value->items = items;
    value->count = count;
    return true;
}

bool smp_load_numbers(smp_builder *b, const smp_scope *scope, smp_value *value)
{
    char shown[SMP_SHOWN];
    char *text = NULL;
    size_t length = 0;
    smp_error err = {0};
    smp_shown(shown, value->text, value->length);
    if (!b->loader) {
        smp_diags_add(b->diags, SMP_ERROR, value->span, "files cannot be read here");
        value->kind = SMP_VALUE_BAD;
        return true;
    }
    smp_code code = b->loader(b->context, b->diags->sources[scope->source].name, value->text, &text, &length, &err);
    bool memory = code != SMP_E_MEMORY;
    if (code) {
        smp_diag *diag = memory ? smp_diags_add(b->diags, SMP_ERROR, value->span, "cannot read '%s'", shown) : NULL;
        const char *setting = smp_scope_default(scope, value);
        if (setting)
            smp_diag_fix(b->diags, diag, "give --set %s=FILE", setting);
        if (err.message[0])
            smp_diag_note(b->diags, diag, "%s", err.message);
        value->kind = SMP_VALUE_BAD;
    } else if (length > SMP_MAX_TEXTS - b->text_bytes) {
        smp_diags_add(b->diags, SMP_ERROR, value->span, "the texts of this pipeline have more than %d bytes together",
                      SMP_MAX_TEXTS);
        value->kind = SMP_VALUE_BAD;
    } else {
        const char *path = smp_join_path(&b->owned->arena, b->diags->sources[scope->source].name, value->text);
        int source = path ? smp_diags_add_source(b->diags, path, text ? text : "", text ? length : 0) : -1;
        memory = source >= 0;
        if (memory) {
            b->diags->sources[source].included = true;
            b->diags->sources[source].from = value->span;
            b->text_bytes += length;
            memory = bind_text(b, source, value);
        }
    }
    smp_free(text);
    return memory;
}
