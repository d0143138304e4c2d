/* Declarations of arrays in shared memory: see declared.h. */
#include "lab/report/declared.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/counters/pattern_parse.h"
#include "lab/machine/warp.h"

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static size_t skip_blanks(const char *text, size_t at)
{
    return at + strspn(text + at, " \t\r\n");
}

/* ------------------------------------------------------------------------------------------------ text */

/* Behind a comment, a literal or a directive that begins here; the place itself: none does. */
static size_t skip_other(const char *text, size_t size, size_t at, bool line_begins)
{
    const char c = text[at];
    size_t end = at;
    if (c == '/' && text[at + 1] == '*') {
        const char *close = strstr(text + at + 2, "*/");
        return close ? (size_t)(close - text) + 2 : size;
    }
    if ((c == '/' && text[at + 1] == '/') || (c == '#' && line_begins)) {
        while (end < size &&
               (text[end] != '\n' || text[end - 1] == '\\' || (end > 1 && !strncmp(text + end - 2, "\\\r", 2))))
            end++;
        return end;
    }
    const bool separates = c == '\'' && at && isalnum((unsigned char)text[at - 1]); /* 1'000 */
    if (c != '"' && (c != '\'' || separates))
        return at;
    for (end = at + 1; end < size && text[end] != c && text[end] != '\n'; end++)
        end += text[end] == '\\' && end + 1 < size;
    return end < size ? end + 1 : size;
}

char *smp_declared_plain(const char *text, size_t size, bool directives)
{
    char *plain = smp_strndup(text, size);
    bool line_begins = true;
    for (size_t at = 0; plain && at < size;) {
        const size_t end = skip_other(text, size, at, line_begins && !directives);
        line_begins = end == at ? text[at] == '\n' || (line_begins && strchr(" \t\r", text[at])) : line_begins;
        for (size_t i = at; i < end; i++)
            if (text[i] != '\n')
                plain[i] = ' ';
        at = end > at ? end : at + 1;
    }
    return plain;
}

size_t smp_declared_word(const char *text, size_t at, size_t end, const char *word, size_t size)
{
    for (; size && at + size <= end; at++)
        if (!memcmp(text + at, word, size) && (!at || !is_letter(text[at - 1])) && !is_letter(text[at + size]))
            return at;
    return SIZE_MAX;
}

size_t smp_declared_close(const char *plain, size_t at, size_t end)
{
    int depth = 0;
    for (; at < end && plain[at]; at++) {
        depth += strchr("([{", plain[at]) ? 1 : strchr(")]}", plain[at]) ? -1 : 0;
        if (!depth)
            return at;
    }
    return SIZE_MAX;
}

/* ------------------------------------------------------------------------------------------------ finding */

/* Reads the brackets behind a name. False: there are none, or more than are known here. */
static bool read_brackets(const char *plain, size_t at, size_t end, smp_declared *out)
{
    for (out->dims = 0; plain[at = skip_blanks(plain, at)] == '['; out->dims++) {
        const size_t close = smp_declared_close(plain, at, end);
        if (close == SIZE_MAX || out->dims == SMP_DECLARED_DIMS)
            return false;
        out->from[out->dims] = at + 1;
        out->to[out->dims] = close;
        at = close + 1;
    }
    return out->dims && strchr(",;", plain[at]);
}

/* The end of the block that a place is in. */
static size_t block_end(const char *plain, size_t at)
{
    for (int depth = 0; plain[at]; at++) {
        depth += (plain[at] == '{') - (plain[at] == '}');
        if (depth < 0)
            break;
    }
    return at;
}

static size_t line_start(const char *text, uint32_t line)
{
    const char *at = text;
    for (; line > 1 && at; line--) {
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    return at ? (size_t)(at - text) : SIZE_MAX;
}

bool smp_declared_find(const char *text, const char *plain, const char *name, uint32_t line, smp_declared *out)
{
    static const char shared[] = "__shared__";
    const size_t size = strlen(plain), used = line_start(text, line), name_size = strlen(name);
    bool found = false;
    for (size_t at = 0; (at = smp_declared_word(plain, at, size, shared, strlen(shared))) != SIZE_MAX; at++) {
        smp_declared d = {.name_size = name_size};
        const size_t end = at + strcspn(plain + at, ";{");
        d.name = smp_declared_word(plain, at, end, name, name_size);
        if (d.name == SIZE_MAX || !read_brackets(plain, d.name + name_size, size, &d))
            continue;
        d.begin = d.to[d.dims - 1] + 1;
        d.end = block_end(plain, d.begin);
        if (used == SIZE_MAX || d.begin > used + strcspn(text + used, "\n") || d.end < used)
            continue;
        size_t before = at;
        while (before && !strchr(";{}", plain[before - 1]))
            before--;
        d.is_extern = smp_declared_word(plain, before, end, "extern", strlen("extern")) != SIZE_MAX;
        d.line = 1;
        for (size_t i = 0; i < d.name; i++)
            d.line += text[i] == '\n';
        d.twice = found && d.end == out->end;
        *out = d;
        found = true;
    }
    return found;
}

/* ------------------------------------------------------------------------------------------------ sizes */

/* Where sizes and what they name are read. */
typedef struct reader {
    const char *text, *plain;
    const smp_declared_names *names;
    size_t declared; /* where the array is */
} reader;

/* The value that "#define NAME value" gives, in a text that ends with its line. */
static const char *defined(const char *text, const char *name, size_t size, size_t *length)
{
    for (size_t at = 0, end = strlen(text); (at = smp_declared_word(text, at, end, name, size)) != SIZE_MAX; at++) {
        size_t before = at;
        while (before && strchr(" \t", text[before - 1]))
            before--;
        if (before < 6 || memcmp(text + before - 6, "define", 6) != 0 || text[at + size] == '(')
            continue;
        const char *value = text + at + size;
        *length = strcspn(value, "\n");
        const char *comment = memmem(value, *length, "//", 2), *other = memmem(value, *length, "/*", 2);
        *length = comment ? (size_t)(comment - value) : other ? (size_t)(other - value) : *length;
        return value;
    }
    return NULL;
}

/* The value of the only "NAME = value" in the text. */
static const char *assigned(const char *plain, const char *name, size_t size, size_t *length)
{
    const char *found = NULL;
    for (size_t at = 0, end = strlen(plain); (at = smp_declared_word(plain, at, end, name, size)) != SIZE_MAX; at++) {
        const size_t sign = skip_blanks(plain, at + size);
        if (plain[sign] != '=' || plain[sign + 1] == '=')
            continue;
        if (found)
            return NULL;
        found = plain + sign + 1;
        *length = strcspn(found, ",;}>");
    }
    return found;
}

/* The argument of a template's parameter: of the last "template <...>" before the array. */
static const char *of_template(const reader *r, const char *name, size_t size, char *full, size_t full_size,
                               size_t *length)
{
    size_t last = SIZE_MAX, index = 0, depth = 0;
    for (size_t at = 0; (at = smp_declared_word(r->plain, at, r->declared, "template", 8)) != SIZE_MAX; at++)
        last = at;
    if (last == SIZE_MAX || !r->names->symbol || !smp_warp_full_name(r->names->symbol, false, full, full_size))
        return NULL;
    const size_t open = last + strcspn(r->plain + last, "<"), end = open + strcspn(r->plain + open, ">");
    const size_t at = smp_declared_word(r->plain, open, end, name, size);
    if (at == SIZE_MAX)
        return NULL;
    for (size_t i = open; i < at; i++)
        index += r->plain[i] == ',';
    const char *argument = full + strcspn(full, "<");
    for (; *argument && (index || !depth); argument++) {
        depth += (size_t)(*argument == '<') - (size_t)(*argument == '>');
        index -= index && depth == 1 && *argument == ',';
    }
    *length = strcspn(argument, ",>");
    return argument;
}

static const char *value_text(const reader *r, const char *name, size_t size, char *full, size_t room, size_t *length)
{
    for (size_t i = 0; i < r->names->define_count; i++) {
        const char *define = r->names->defines[i];
        if (!strncmp(define, name, size) && define[size] == '=') {
            *length = strlen(define + size + 1);
            return define + size + 1;
        }
    }
    const char *value = defined(r->text, name, size, length);
    value = value ? value : of_template(r, name, size, full, room, length);
    return value ? value : assigned(r->plain, name, size, length);
}

/* A constant expression, by the language of patterns; its names by what they stand for. */
static bool read_value(const reader *r, const char *text, size_t size, int depth, int64_t *value)
{
    enum { NAMES = 8, NAME = 32, MOST = 200, MOST_DEPTH = 8 };
    char copy[MOST], names[NAMES][NAME], full[MOST];
    smp_pattern_define defines[NAMES];
    smp_pattern pattern;
    smp_diags diags = {0};
    size_t count = 0, length, word;
    if (size >= MOST || depth > MOST_DEPTH)
        return false;
    snprintf(copy, sizeof copy, "%.*s", (int)size, text);
    for (const char *at = copy; *at; at += word ? word : 1) {
        for (word = 0; is_letter(at[word]);)
            word++;
        if (!word || isdigit((unsigned char)*at))
            continue;
        if (count == NAMES || word >= NAME)
            return false;
        const char *stands = value_text(r, at, word, full, sizeof full, &length);
        snprintf(names[count], NAME, "%.*s", (int)word, at);
        defines[count].name = names[count];
        if (!stands || !read_value(r, stands, length, depth + 1, &defines[count++].value))
            return false;
    }
    const bool known = !smp_pattern_parse_with("a size", copy, defines, count, &diags, &pattern) && !pattern.dims &&
                       smp_pattern_value(&pattern, pattern.index[0], 0, NULL, &diags, value);
    smp_diags_free(&diags);
    return known;
}

/* Bytes of an element by the last word of its type; 0: not known. */
static uint32_t type_bytes(const char *plain, size_t name)
{
    size_t end = name, size = 0;
    while (end && strchr(" \t\r\n", plain[end - 1]))
        end--;
    while (size < end && is_letter(plain[end - 1 - size]))
        size++;
    for (const smp_pattern_type *type = smp_pattern_types; type->name; type++)
        if (strlen(type->name) == size && !memcmp(type->name, plain + end - size, size))
            return (uint32_t)(type->bytes * type->count);
    return 0;
}

void smp_declared_measure(const char *text, const char *plain, const smp_declared_names *names, uint32_t bytes,
                          smp_declared *d)
{
    uint64_t product = 1, rest = 1;
    int unknown = 0, which = 0;
    for (int i = 0; i < d->dims; i++) {
        const reader r = {.text = text, .plain = plain, .names = names, .declared = d->name};
        int64_t value;
        const bool known = read_value(&r, plain + d->from[i], d->to[i] - d->from[i], 0, &value);
        d->dim[i] = known && value > 0 && value <= UINT32_MAX ? (uint64_t)value : 0;
        product = d->dim[i] && product <= UINT32_MAX / d->dim[i] ? product * d->dim[i] : 0;
        rest *= d->dim[i] && rest <= UINT32_MAX ? d->dim[i] : 1;
        unknown += !d->dim[i];
        which = d->dim[i] ? which : i;
    }
    d->element = bytes && product && bytes % product == 0 ? (uint32_t)(bytes / product) : 0;
    if (bytes && product)
        return;
    d->element = type_bytes(plain, d->name);
    rest *= d->element;
    if (unknown == 1 && rest && bytes % rest == 0)
        d->dim[which] = bytes / rest;
    const size_t size = d->to[0] - d->from[0];
    const uint64_t root = (uint64_t)(sqrt((double)bytes / d->element) + 0.5);
    if (unknown == 2 && d->dims == 2 && d->element && root * root * d->element == bytes && /* [N][N] of a header's N */
        d->to[1] - d->from[1] == size && !memcmp(text + d->from[0], text + d->from[1], size))
        d->dim[0] = d->dim[1] = root;
}
