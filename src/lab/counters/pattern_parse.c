/* Parses access patterns: see pattern.h. This file: arrays, declarations and the whole. The first mistake ends parsing.
 */
#include "lab/counters/pattern_parse.h"

#include <string.h>

#include "base/text/text.h"

/* ------------------------------------------------------------------------------------------------ arrays */

enum { MAX_GROUPS = 2 * SMP_ELEMENT_DIMS };

typedef struct groups {
    int nodes[MAX_GROUPS];
    bool tid[MAX_GROUPS]; /* depends on the lane */
    int count;
} groups;

/* Parses all [...] that follow. Between sizes and indices the array's name, or punctuation, may be repeated. */
static bool read_groups(smp_pattern_parser *p, groups *out)
{
    for (;;) {
        smp_pattern_blanks(p);
        size_t rewind = p->at;
        if (out->count) {
            if (p->at < p->length && strchr(";:,", p->text[p->at]) && p->text[p->at])
                p->at++;
            smp_pattern_blanks(p);
            p->at = smp_pattern_word_end(p);
            smp_pattern_blanks(p);
        }
        if (p->at >= p->length || p->text[p->at] != '[') {
            p->at = rewind;
            return true;
        }
        size_t start = p->at++;
        bool before = p->out->tid;
        p->out->tid = false;
        int node = smp_pattern_expression(p);
        if (node < 0 || !smp_pattern_close(p, ']'))
            return false;
        if (out->count == MAX_GROUPS) {
            smp_diags_add(p->diags, SMP_ERROR, smp_pattern_span(p, start, p->at),
                          "an array has at most %d dimensions here", SMP_ELEMENT_DIMS);
            return false;
        }
        out->tid[out->count] = p->out->tid;
        out->nodes[out->count++] = node;
        p->out->tid |= before;
    }
}

/* The number that a size is; below 0: a mistake was reported. */
static int64_t size_of(smp_pattern_parser *p, int node, bool tid)
{
    int64_t size;
    const smp_span span = p->out->nodes[node].span;
    if (tid) {
        smp_diag *diag = smp_diags_add(p->diags, SMP_ERROR, span, "an array's size is a number");
        smp_diag_fix(p->diags, diag, "sizes come first, then as many indices: [32][33] [tid][0]");
        return -1;
    }
    if (!smp_pattern_value(p->out, node, 0, NULL, p->diags, &size))
        return -1;
    if (size < 1 || size > SMP_ELEMENT_BYTES) {
        smp_diags_add(p->diags, SMP_ERROR, span, "a size of %lld elements: from 1 to %d will do", (long long)size,
                      SMP_ELEMENT_BYTES);
        return -1;
    }
    return size;
}

static bool too_many_dimensions(smp_pattern_parser *p, smp_span span)
{
    smp_diags_add(p->diags, SMP_ERROR, span, "an array has at most %d dimensions here", SMP_ELEMENT_DIMS);
    return false;
}

static bool take_sizes(smp_pattern_parser *p, const groups *g, int dims)
{
    if (dims > SMP_ELEMENT_DIMS)
        return too_many_dimensions(p, p->out->nodes[g->nodes[SMP_ELEMENT_DIMS]].span);
    for (int i = 0; i < dims; i++) {
        p->out->dim[i] = size_of(p, g->nodes[i], g->tid[i]);
        if (p->out->dim[i] < 0)
            return false;
    }
    p->out->dims = dims;
    return true;
}

/* "row", "column 3": after the sizes. */
static bool read_walk(smp_pattern_parser *p, const smp_pattern_walk *walk, size_t start, size_t end)
{
    smp_pattern *out = p->out;
    const int given = out->dims;
    if (out->dims == 1) { /* all elements are one row */
        out->dim[1] = out->dim[0];
        out->dim[0] = 1;
        out->dims = 2;
    }
    if (out->dims != 2 || (given == 1 && walk->walk != SMP_WALK_ROW)) {
        smp_diag *diag = smp_diags_add(p->diags, SMP_ERROR, smp_pattern_span(p, start, end),
                                       "a %s needs an array of two dimensions", walk->name);
        smp_diag_fix(p->diags, diag, "[32][32] %s", walk->name);
        return false;
    }
    out->walk = walk->walk;
    p->at = end;
    smp_pattern_blanks(p);
    if (p->at >= p->length || p->text[p->at] == ';')
        return true;
    bool before = out->tid;
    out->tid = false;
    int node = smp_pattern_expression(p);
    if (node < 0)
        return false;
    int64_t count = out->dim[out->walk == SMP_WALK_ROW ? 0 : 1];
    if (out->tid) {
        smp_diag *diag = smp_diags_add(p->diags, SMP_ERROR, out->nodes[node].span, "which %s is a number", walk->name);
        smp_diag_fix(p->diags, diag, "write indices instead: [32][32] [tid][0]");
        return false;
    }
    out->tid = before;
    if (!smp_pattern_value(out, node, 0, NULL, p->diags, &out->walk_from))
        return false;
    if (out->walk_from < 0 || out->walk_from >= count) {
        smp_diag *diag = smp_diags_add(p->diags, SMP_ERROR, out->nodes[node].span, "there is no %s %lld", walk->name,
                                       (long long)out->walk_from);
        smp_diag_fix(p->diags, diag, "0 to %lld", (long long)count - 1);
        return false;
    }
    return true;
}

static bool read_indices(smp_pattern_parser *p, const groups *g)
{
    int dims = g->count / 2;
    if (g->count == 1 && g->tid[0]) {
        p->out->index[0] = g->nodes[0];
        return true;
    }
    if (g->count % 2 || (g->count == 2 && !p->out->tid)) {
        const char *message =
            p->out->tid ? "as many indices as sizes are needed" : "which elements do the lanes access?";
        smp_diag *diag = smp_diags_add(p->diags, SMP_ERROR, p->out->span, "%s", message);
        smp_diag_fix(p->diags, diag, "%s",
                     g->count == 1 ? "[1024] [tid*2], or only tid*2" : "[32][33] column, or row, diagonal, [tid][0]");
        return false;
    }
    if (!take_sizes(p, g, dims))
        return false;
    for (int i = 0; i < dims; i++)
        p->out->index[i] = g->nodes[dims + i];
    return true;
}

static const smp_pattern_walk *walk_at(const smp_pattern_parser *p, size_t start, size_t end)
{
    for (const smp_pattern_walk *walk = smp_pattern_walks; walk->name; walk++)
        if (smp_pattern_is_word(p, start, end, walk->name))
            return walk;
    return NULL;
}

static bool read_array(smp_pattern_parser *p)
{
    groups g = {.count = 0};
    if (!read_groups(p, &g))
        return false;
    smp_pattern_blanks(p);
    size_t start = p->at, end = smp_pattern_word_end(p);
    if (end == start)
        return read_indices(p, &g);
    const smp_pattern_walk *walk = walk_at(p, start, end);
    if (walk)
        return take_sizes(p, &g, g.count) && read_walk(p, walk, start, end);
    smp_pattern_unknown(p, start, end);
    return false;
}

/* ------------------------------------------------------------------------------------------------ declarations */

enum { MOST_ARRAYS = 8 };

typedef struct array {
    size_t start, end; /* its name */
    int dims;          /* 0: s[] */
    int64_t dim[SMP_ELEMENT_DIMS];
    smp_pattern_shape shape;
} array;

typedef struct arrays {
    array items[MOST_ARRAYS];
    int count;
} arrays;

/* Whether NAME[ begins here, in a statement after which more follows: "float s[32]; s[tid]". */
static bool declares(const smp_pattern_parser *p)
{
    size_t at = smp_pattern_word_end(p);
    if (at == p->at)
        return false;
    while (at < p->length && p->text[at] == ' ')
        at++;
    if (at >= p->length || p->text[at] != '[')
        return false;
    while (at < p->length && p->text[at] != ';')
        at++;
    at += at < p->length;
    return at + strspn(p->text + at, " \t\r\n") < p->length;
}

/* "[32][33]", "[]", "[][33]" behind a name. The first size may be left out. */
static bool read_sizes(smp_pattern_parser *p, array *out)
{
    enum { OPEN = 0 };
    int64_t rest = out->shape.size > 0 ? out->shape.size : 1;
    bool open = false;
    for (size_t start = p->at; smp_pattern_skip_mark(p, '['); start = p->at) {
        if (out->dims == SMP_ELEMENT_DIMS)
            return too_many_dimensions(p, smp_pattern_span(p, start, p->at));
        if (!out->dims && smp_pattern_skip_mark(p, ']')) {
            open = true;
            out->dim[out->dims++] = OPEN;
            continue;
        }
        p->out->tid = false;
        const int node = smp_pattern_expression(p);
        const int64_t size = node < 0 ? -1 : size_of(p, node, p->out->tid);
        if (size < 0 || !smp_pattern_close(p, ']'))
            return false;
        rest = rest > SMP_ELEMENT_BYTES / size ? SMP_ELEMENT_BYTES : rest * size;
        out->dim[out->dims++] = size;
    }
    if (open && out->dims == 1)
        out->dims = 0; /* a plain index */
    else if (open)
        out->dim[0] = SMP_ELEMENT_BYTES / rest;
    return true;
}

/* "s[32][33], t[32];" behind a type. */
static bool read_declaration(smp_pattern_parser *p, const smp_pattern_shape *shape, arrays *known)
{
    do {
        const size_t start = p->at, end = smp_pattern_word_end(p);
        p->at = end;
        smp_pattern_blanks(p);
        if (end == start || p->at >= p->length || p->text[p->at] != '[') {
            smp_pattern_expected(p, end == start ? "an array's name" : "'[' and the size of the array");
            return false;
        }
        if (known->count == MOST_ARRAYS) {
            smp_diags_add(p->diags, SMP_ERROR, smp_pattern_span(p, start, end), "a pattern has at most %d arrays",
                          MOST_ARRAYS);
            return false;
        }
        array *one = &known->items[known->count++];
        *one = (array){.start = start, .end = end, .shape = *shape};
        if (!read_sizes(p, one))
            return false;
    } while (smp_pattern_skip_mark(p, ','));
    if (!smp_pattern_skip_mark(p, ';')) {
        smp_pattern_expected(p, "',' or ';'");
        return false;
    }
    p->out->tid = false;
    return true;
}

static const array *array_named(smp_pattern_parser *p, const arrays *known, size_t start, size_t end)
{
    char shown[SMP_SHOWN];
    for (int i = known->count; i--;) {
        const array *one = &known->items[i];
        if (one->end - one->start == end - start && !memcmp(p->text + one->start, p->text + start, end - start))
            return one;
    }
    smp_diag *diag = smp_diags_add(p->diags, SMP_ERROR, smp_pattern_span(p, start, end), "no array '%s' is declared",
                                   smp_shown(shown, p->text + start, end - start));
    smp_diag_fix(p->diags, diag, "%.*s is", (int)(known->items[0].end - known->items[0].start),
                 p->text + known->items[0].start);
    return NULL;
}

static bool read_index(smp_pattern_parser *p, const array *of)
{
    const int wanted = of->dims ? of->dims : 1;
    const size_t start = p->at;
    int count = 0;
    for (; smp_pattern_skip_mark(p, '['); count++) {
        const int node = smp_pattern_expression(p);
        if (node < 0)
            return false;
        if (count < wanted)
            p->out->index[count] = node;
        if (!smp_pattern_close(p, ']'))
            return false;
    }
    if (count == wanted)
        return true;
    smp_diag *diag = smp_diags_add(p->diags, SMP_ERROR, smp_pattern_span(p, start, p->at),
                                   "as many indices as sizes are needed: %d, not %d", wanted, count);
    smp_diag_fix(p->diags, diag, wanted == 1 ? "[tid]" : "[tid][0], or row, column, diagonal");
    return false;
}

/* "s[tid][0]", "s column", "column", "[tid][0]" after declarations. */
static bool read_access(smp_pattern_parser *p, const arrays *known)
{
    const array *of = &known->items[known->count - 1];
    smp_pattern_skip_mark(p, '&'); /* the row of an ldmatrix */
    smp_pattern_blanks(p);
    size_t start = p->at, end = smp_pattern_word_end(p);
    const smp_pattern_walk *walk = walk_at(p, start, end);
    if (end > start && !walk) {
        of = array_named(p, known, start, end);
        if (!of)
            return false;
        p->at = end;
        smp_pattern_blanks(p);
        start = p->at;
        end = smp_pattern_word_end(p);
        walk = walk_at(p, start, end);
    }
    p->out->dims = of->dims;
    memcpy(p->out->dim, of->dim, sizeof of->dim);
    if (of->shape.type)
        smp_pattern_take_shape(p->out, &of->shape);
    if (walk ? !read_walk(p, walk, start, end) : !read_index(p, of))
        return false;
    return smp_pattern_read_member(p, &of->shape) != SMP_PATTERN_WRONG;
}

/* ------------------------------------------------------------------------------------------------ the whole */

/* A pattern without declarations: an index, or an array with its sizes and indices. */
static bool read_plain(smp_pattern_parser *p, const smp_pattern_shape *shape)
{
    smp_pattern_blanks(p);
    const size_t name = p->at, end = smp_pattern_word_end(p);
    p->at = end;
    smp_pattern_blanks(p);
    const bool is_array = p->at < p->length && p->text[p->at] == '[';
    if (is_array && !shape->type && end > name && (p->at > end || smp_pattern_seems_type(p, name, end))) {
        smp_pattern_unknown_type(p, name, end);
        return false;
    }
    if (shape->type)
        smp_pattern_take_shape(p->out, shape);
    if (!is_array)
        p->at = name;
    if (is_array ? !read_array(p) : (p->out->index[0] = smp_pattern_expression(p)) < 0)
        return false;
    return smp_pattern_read_member(p, shape) != SMP_PATTERN_WRONG;
}

/* "P;" behind "typedef struct {...}". */
static bool read_typedef(smp_pattern_parser *p, const smp_pattern_shape *shape)
{
    smp_pattern_blanks(p);
    const size_t start = p->at, end = smp_pattern_word_end(p);
    p->at = end;
    if (end == start || !smp_pattern_skip_mark(p, ';')) {
        smp_pattern_expected(p, end == start ? "the name of the type" : "';'");
        return false;
    }
    smp_pattern_name_struct(p, start, end, shape);
    return true;
}

static bool read_pattern(smp_pattern_parser *p)
{
    arrays known = {.count = 0};
    smp_pattern_shape shape = {.type = NULL};
    smp_pattern_blanks(p);
    if (p->at == p->length) {
        smp_pattern_expected(p, "an index such as tid*2, or an array such as [32][33] column");
        return false;
    }
    for (;;) {
        const bool is_typedef = smp_pattern_skip_word(p, "typedef");
        const smp_pattern_found found = smp_pattern_read_type(p, &shape);
        if (found == SMP_PATTERN_WRONG || (is_typedef && !read_typedef(p, &shape)))
            return false;
        smp_pattern_blanks(p);
        if (is_typedef || (shape.is_struct && smp_pattern_skip_mark(p, ';')))
            continue;
        if (found == SMP_PATTERN_NOT_THERE || !declares(p))
            break;
        if (!read_declaration(p, &shape, &known))
            return false;
    }
    if (known.count && !shape.type ? !read_access(p, &known) : !read_plain(p, &shape))
        return false;
    smp_pattern_skip_mark(p, ';'); /* pasted from a program */
    smp_pattern_blanks(p);
    if (p->at < p->length) {
        smp_pattern_expected(p, p->out->dims || known.count ? "nothing more" : "an operator");
        return false;
    }
    return true;
}

smp_code smp_pattern_parse(const char *name, const char *text, smp_diags *diags, smp_pattern *out)
{
    return smp_pattern_parse_with(name, text, NULL, 0, diags, out);
}

smp_code smp_pattern_parse_with(const char *name, const char *text, const smp_pattern_define *defines, size_t count,
                                smp_diags *diags, smp_pattern *out)
{
    size_t length = strlen(text);
    *out = (smp_pattern){.dims = 0};
    bool long_text = length > SMP_PATTERN_TEXT;
    smp_pattern_parser p = {
        .text = text, .length = length, .diags = diags, .out = out, .defines = defines, .define_count = count};
    p.source = smp_diags_add_source(diags, name, text, long_text ? SMP_PATTERN_TEXT : length);
    if (p.source < 0)
        return SMP_E_MEMORY;
    if (long_text) {
        smp_span span = {p.source, 0, 1};
        smp_diags_add(diags, SMP_ERROR, span, "a pattern has at most %d characters", SMP_PATTERN_TEXT);
        return SMP_E_USAGE;
    }
    out->span = smp_pattern_span(&p, 0, length);
    return read_pattern(&p) ? SMP_OK : SMP_E_USAGE;
}
