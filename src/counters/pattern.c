/* Parses access patterns: see pattern.h. This file: arrays, types and the whole. The first mistake ends parsing. */
#include "counters/pattern_parse.h"

#include <string.h>

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
        if (node < 0)
            return false;
        smp_pattern_blanks(p);
        if (p->at >= p->length || p->text[p->at] != ']') {
            smp_pattern_expected(p, "an operator or ']'");
            return false;
        }
        p->at++;
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

static bool take_sizes(smp_pattern_parser *p, const groups *g, int dims)
{
    if (dims > SMP_ELEMENT_DIMS) {
        smp_diags_add(p->diags, SMP_ERROR, p->out->nodes[g->nodes[SMP_ELEMENT_DIMS]].span,
                      "an array has at most %d dimensions here", SMP_ELEMENT_DIMS);
        return false;
    }
    for (int i = 0; i < dims; i++) {
        smp_span span = p->out->nodes[g->nodes[i]].span;
        int64_t size;
        if (g->tid[i]) {
            smp_diag *diag = smp_diags_add(p->diags, SMP_ERROR, span, "an array's size is a number");
            smp_diag_fix(p->diags, diag, "sizes come first, then as many indices: [32][33] [tid][0]");
            return false;
        }
        if (!smp_pattern_value(p->out, g->nodes[i], 0, SMP_WARP, p->diags, &size))
            return false;
        if (size < 1 || size > SMP_ELEMENT_BYTES) {
            smp_diags_add(p->diags, SMP_ERROR, span, "a size of %lld elements: from 1 to %d will do", (long long)size,
                          SMP_ELEMENT_BYTES);
            return false;
        }
        p->out->dim[i] = size;
    }
    p->out->dims = dims;
    return true;
}

/* "row", "column 3": after the sizes. */
static bool read_walk(smp_pattern_parser *p, const groups *g, const smp_pattern_walk *walk, size_t start, size_t end)
{
    smp_pattern *out = p->out;
    if (!take_sizes(p, g, g->count))
        return false;
    if (out->dims == 1) { /* all elements are one row */
        out->dim[1] = out->dim[0];
        out->dim[0] = 1;
        out->dims = 2;
    }
    if (out->dims != 2 || (g->count == 1 && walk->walk != SMP_WALK_ROW)) {
        smp_diag *diag = smp_diags_add(p->diags, SMP_ERROR, smp_pattern_span(p, start, end),
                                       "a %s needs an array of two dimensions", walk->name);
        smp_diag_fix(p->diags, diag, "[32][32] %s", walk->name);
        return false;
    }
    out->walk = walk->walk;
    p->at = end;
    smp_pattern_blanks(p);
    if (p->at >= p->length)
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
    if (!smp_pattern_value(out, node, 0, SMP_WARP, p->diags, &out->walk_from))
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

static bool read_array(smp_pattern_parser *p)
{
    groups g = {.count = 0};
    if (!read_groups(p, &g))
        return false;
    smp_pattern_blanks(p);
    size_t start = p->at, end = smp_pattern_word_end(p);
    if (end == start)
        return read_indices(p, &g);
    for (const smp_pattern_walk *walk = smp_pattern_walks; walk->name; walk++)
        if (smp_pattern_is_word(p, start, end, walk->name))
            return read_walk(p, &g, walk, start, end);
    smp_pattern_unknown(p, start, end);
    return false;
}

/* ------------------------------------------------------------------------------------------------ the whole */

/* Words of a declaration before the element type that do not matter for banks. */
static bool skip_word(smp_pattern_parser *p, const char *word)
{
    size_t end = smp_pattern_word_end(p);
    if (end == p->at || !smp_pattern_is_word(p, p->at, end, word))
        return false;
    p->at = end;
    smp_pattern_blanks(p);
    return true;
}

static bool read_type(smp_pattern_parser *p)
{
    bool sign = false;
    smp_pattern_blanks(p);
    while (skip_word(p, "__shared__") || skip_word(p, "const") || skip_word(p, "volatile"))
        ;
    size_t start = p->at;
    while (skip_word(p, "unsigned") || skip_word(p, "signed"))
        sign = true;
    if (skip_word(p, "long")) {
        skip_word(p, "long");
        skip_word(p, "int");
        p->out->type = "long long";
        p->out->width = 8;
        return true;
    }
    size_t end = smp_pattern_word_end(p);
    if (smp_pattern_is_word(p, p->at, end, "float3") || smp_pattern_is_word(p, p->at, end, "int3") ||
        smp_pattern_is_word(p, p->at, end, "uchar3")) {
        smp_diag *diag = smp_diags_add(p->diags, SMP_ERROR, smp_pattern_span(p, p->at, end),
                                       "a struct of three is read by three accesses, one a member");
        smp_diag_fix(p->diags, diag, "write tid*3, tid*3 + 1, tid*3 + 2");
        return false;
    }
    for (const smp_pattern_type *type = smp_pattern_types; type->name; type++)
        if (smp_pattern_is_word(p, p->at, end, type->name)) {
            p->out->type = type->name;
            p->out->width = type->width;
            p->at = end;
            return true;
        }
    if (sign) {
        p->out->type = "int";
        p->out->width = 4;
    } else
        p->at = start;
    return true;
}

static bool read_pattern(smp_pattern_parser *p)
{
    smp_pattern_blanks(p);
    if (p->at == p->length) {
        smp_pattern_expected(p, "an index such as tid*2, or an array such as [32][33] column");
        return false;
    }
    if (!read_type(p))
        return false;
    smp_pattern_blanks(p);
    size_t name = p->at, end = smp_pattern_word_end(p);
    p->at = end;
    smp_pattern_blanks(p);
    bool array = p->at < p->length && p->text[p->at] == '[';
    if (!array)
        p->at = name;
    if (array ? !read_array(p) : (p->out->index[0] = smp_pattern_expression(p)) < 0)
        return false;
    smp_pattern_blanks(p);
    if (p->at < p->length && p->text[p->at] == ';') /* pasted from a program */
        p->at++;
    smp_pattern_blanks(p);
    if (p->at < p->length) {
        smp_pattern_expected(p, array ? "nothing more" : "an operator");
        return false;
    }
    return true;
}

smp_code smp_pattern_parse(const char *name, const char *text, smp_diags *diags, smp_pattern *out)
{
    size_t length = strlen(text);
    *out = (smp_pattern){.dims = 0};
    bool long_text = length > SMP_PATTERN_TEXT;
    smp_pattern_parser p = {.text = text, .length = length, .diags = diags, .out = out};
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
