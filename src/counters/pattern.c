/* Parsing access patterns: see pattern.h. Recursive descent over the text itself; the first mistake ends it. */
#include "counters/pattern.h"

#include <ctype.h>
#include <string.h>

#include "pipe/text.h"

typedef struct parser {
    const char *text;
    size_t length, at;
    int source;
    smp_diags *diags;
    smp_pattern *out;
    int depth;
} parser;

enum { NONE = -1 };

/* ------------------------------------------------------------------------------------------------ words */

static const struct {
    const char *name;
    int width;
} types[] = {
    {"char", 1},    {"uchar", 1},    {"int8_t", 1},        {"uint8_t", 1},  {"bool", 1},     {"u8", 1},
    {"short", 2},   {"ushort", 2},   {"int16_t", 2},       {"uint16_t", 2}, {"half", 2},     {"__half", 2},
    {"u16", 2},     {"bfloat16", 2}, {"__nv_bfloat16", 2}, {"int", 4},      {"uint", 4},     {"unsigned", 4},
    {"int32_t", 4}, {"uint32_t", 4}, {"float", 4},         {"f32", 4},      {"half2", 4},    {"__half2", 4},
    {"char4", 4},   {"uchar4", 4},   {"short2", 4},        {"ushort2", 4},  {"double", 8},   {"f64", 8},
    {"int64_t", 8}, {"uint64_t", 8}, {"float2", 8},        {"int2", 8},     {"uint2", 8},    {"short4", 8},
    {"ushort4", 8}, {"float4", 16},  {"int4", 16},         {"uint4", 16},   {"double2", 16},
};

static const struct {
    const char *name;
    int op;
    int64_t number;
} names[] = {
    {"tid", SMP_PN_TID, 0},
    {"lane", SMP_PN_TID, 0},
    {"threadIdx.x", SMP_PN_TX, 0},
    {"threadIdx.y", SMP_PN_TY, 0},
    {"tx", SMP_PN_TX, 0},
    {"ty", SMP_PN_TY, 0},
    {"blockDim.x", SMP_PN_BLOCK, 0},
    {"warpSize", SMP_PN_NUMBER, SMP_WARP},
};

static const struct {
    const char *name;
    int op, least, most; /* arguments */
} functions[] = {
    {"min", SMP_PN_MIN, 2, 2},   {"max", SMP_PN_MAX, 2, 2},       {"abs", SMP_PN_ABS, 1, 1},
    {"brev", SMP_PN_BREV, 2, 2}, {"random", SMP_PN_RANDOM, 1, 2},
};

static const struct {
    const char *name;
    smp_walk walk;
} walks[] = {
    {"row", SMP_WALK_ROW},
    {"column", SMP_WALK_COLUMN},
    {"col", SMP_WALK_COLUMN},
    {"diagonal", SMP_WALK_DIAGONAL},
    {"antidiagonal", SMP_WALK_ANTIDIAGONAL},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ------------------------------------------------------------------------------------------------ mistakes */

static smp_span span_of(const parser *p, size_t start, size_t end)
{
    return (smp_span){p->source, start, end > start ? end - start : 1};
}

/* The text of a mistake at start..end: one character, number or word, shown safely. */
static size_t bad_length(const parser *p, size_t start)
{
    size_t end = start;
    uint32_t code;
    if (start >= p->length)
        return 0;
    while (end < p->length && (isalnum((unsigned char)p->text[end]) || p->text[end] == '_' || p->text[end] == '.'))
        end++;
    return end > start ? end - start : smp_utf8_decode(p->text + start, p->length - start, &code);
}

static int expected(parser *p, const char *what)
{
    char shown[SMP_SHOWN];
    size_t length = bad_length(p, p->at);
    smp_diag *diag;
    if (length)
        diag = smp_diags_add(p->diags, SMP_ERROR, span_of(p, p->at, p->at + length), "unexpected '%s'",
                             smp_shown(shown, p->text + p->at, length));
    else
        diag = smp_diags_add(p->diags, SMP_ERROR, span_of(p, p->at, p->at), "the pattern ends too early");
    smp_diag_fix(p->diags, diag, "here stands %s", what);
    return NONE;
}

/* A walk without its array. */
static int misplaced_walk(parser *p, size_t start, size_t end, const char *name)
{
    smp_diag *diag = smp_diags_add(p->diags, SMP_ERROR, span_of(p, start, end), "a %s of what?", name);
    smp_diag_fix(p->diags, diag, "write the array first: [32][32] %s", name);
    return NONE;
}

static int unknown_name(parser *p, size_t start, size_t end)
{
    const char *words[COUNT(names) + COUNT(functions) + COUNT(walks) + COUNT(types)];
    char shown[SMP_SHOWN];
    size_t count = 0;
    for (size_t i = 0; i < COUNT(names); i++)
        words[count++] = names[i].name;
    for (size_t i = 0; i < COUNT(functions); i++)
        words[count++] = functions[i].name;
    for (size_t i = 0; i < COUNT(walks); i++)
        words[count++] = walks[i].name;
    for (size_t i = 0; i < COUNT(types); i++)
        words[count++] = types[i].name;
    for (size_t i = 0; i < COUNT(walks); i++)
        if (strlen(walks[i].name) == end - start && !memcmp(p->text + start, walks[i].name, end - start))
            return misplaced_walk(p, start, end, walks[i].name);
    const char *near = smp_nearest(p->text + start, end - start, words, count);
    smp_diag *diag = smp_diags_add(p->diags, SMP_ERROR, span_of(p, start, end), "unknown name '%s'",
                                   smp_shown(shown, p->text + start, end - start));
    if (near)
        smp_diag_fix(p->diags, diag, "did you mean '%s'?", near);
    smp_diag_note(p->diags, diag,
                  "a pattern knows tid (or lane), threadIdx.x, threadIdx.y, blockDim.x, min, max, abs, "
                  "brev, random");
    return NONE;
}

/* ------------------------------------------------------------------------------------------------ nodes */

static void skip_blanks(parser *p)
{
    while (p->at < p->length && strchr(" \t\r\n", p->text[p->at]) && p->text[p->at])
        p->at++;
}

static int add_node(parser *p, int op, size_t start, const int operands[3])
{
    if (p->out->node_count == SMP_PATTERN_NODES) {
        smp_diags_add(p->diags, SMP_ERROR, span_of(p, start, p->at), "this pattern is too long: over %d operations",
                      SMP_PATTERN_NODES);
        return NONE;
    }
    smp_pattern_node *node = &p->out->nodes[p->out->node_count];
    *node = (smp_pattern_node){.op = op, .span = span_of(p, start, p->at)};
    for (int i = 0; operands && i < 3; i++)
        node->operands[i] = operands[i];
    if (op == SMP_PN_TID || op == SMP_PN_TX || op == SMP_PN_TY || op == SMP_PN_RANDOM)
        p->out->tid = true;
    if (op == SMP_PN_RANDOM)
        p->out->random = true;
    return p->out->node_count++;
}

static int number_node(parser *p, size_t start, int64_t number)
{
    int node = add_node(p, SMP_PN_NUMBER, start, NULL);
    if (node >= 0)
        p->out->nodes[node].number = number;
    return node;
}

static int expression(parser *p, int level);

/* ------------------------------------------------------------------------------------------------ primaries */

static int number(parser *p)
{
    size_t start = p->at;
    int base = 10;
    int64_t value = 0;
    bool overflow = false;
    if (p->text[p->at] == '0' && p->at + 1 < p->length && (p->text[p->at + 1] | 32) == 'x') {
        base = 16;
        p->at += 2;
    } else if (p->text[p->at] == '0' && p->at + 1 < p->length && (p->text[p->at + 1] | 32) == 'b') {
        base = 2;
        p->at += 2;
    }
    size_t digits = p->at;
    for (; p->at < p->length && isxdigit((unsigned char)p->text[p->at]); p->at++) {
        char c = p->text[p->at];
        int digit = isdigit((unsigned char)c) ? c - '0' : (c | 32) - 'a' + 10;
        if (digit >= base)
            break;
        overflow =
            overflow || __builtin_mul_overflow(value, base, &value) || __builtin_add_overflow(value, digit, &value);
    }
    bool none = p->at == digits;
    size_t suffix = p->at; /* 0xffffu, 32ull */
    while (suffix < p->length && suffix < p->at + 3 && strchr("uUlL", p->text[suffix]) && p->text[suffix])
        suffix++;
    bool glued = suffix < p->length && (isalnum((unsigned char)p->text[suffix]) || strchr("_.", p->text[suffix]));
    if (none || glued || overflow) {
        char shown[SMP_SHOWN];
        size_t length = bad_length(p, start);
        smp_diag *diag =
            smp_diags_add(p->diags, SMP_ERROR, span_of(p, start, start + length), "'%s' is no %s",
                          smp_shown(shown, p->text + start, length), overflow ? "number of 64 bits" : "whole number");
        if (!overflow && isdigit((unsigned char)p->text[start]) && isalpha((unsigned char)p->text[suffix]))
            smp_diag_fix(p->diags, diag, "a product is written with *: 2*tid");
        return NONE;
    }
    p->at = suffix;
    return number_node(p, start, value);
}

static bool name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

static size_t word_end(const parser *p)
{
    size_t end = p->at;
    if (end < p->length && (isalpha((unsigned char)p->text[end]) || p->text[end] == '_'))
        while (end < p->length && name_char(p->text[end]))
            end++;
    return end;
}

static bool is_word(const parser *p, size_t start, size_t end, const char *word)
{
    return strlen(word) == end - start && !memcmp(p->text + start, word, end - start);
}

static int call(parser *p, size_t function, size_t start)
{
    int operands[3] = {NONE, NONE, NONE}, count = 0;
    p->at++; /* the parenthesis */
    for (;;) {
        int node = expression(p, 0);
        if (node < 0)
            return NONE;
        skip_blanks(p);
        if (count < 3)
            operands[count] = node;
        count++;
        if (p->at < p->length && p->text[p->at] == ',')
            p->at++;
        else
            break;
    }
    if (p->at >= p->length || p->text[p->at] != ')')
        return expected(p, "',' or ')'");
    p->at++;
    if (count < functions[function].least || count > functions[function].most) {
        smp_diag *diag = smp_diags_add(p->diags, SMP_ERROR, span_of(p, start, p->at), "%s takes %d argument%s, not %d",
                                       functions[function].name, functions[function].least,
                                       functions[function].least == 1 ? "" : "s", count);
        smp_diag_fix(p->diags, diag,
                     functions[function].op == SMP_PN_RANDOM ? "random(n) or random(n, seed)"
                     : functions[function].op == SMP_PN_BREV ? "brev(tid, 5)"
                     : functions[function].least == 1        ? "abs(a)"
                                                             : "two values with a comma between");
        return NONE;
    }
    if (functions[function].op == SMP_PN_RANDOM && count == 1)
        operands[1] = number_node(p, start, 0);
    if (functions[function].most == 2 && operands[1] < 0)
        return NONE;
    return add_node(p, functions[function].op, start, operands);
}

static int named(parser *p, size_t end)
{
    size_t start = p->at;
    for (size_t i = 0; i < COUNT(names); i++)
        if (is_word(p, start, end, names[i].name)) {
            p->at = end;
            return names[i].op == SMP_PN_NUMBER ? number_node(p, start, names[i].number)
                                                : add_node(p, names[i].op, start, NULL);
        }
    for (size_t i = 0; i < COUNT(functions); i++)
        if (is_word(p, start, end, functions[i].name)) {
            p->at = end;
            skip_blanks(p);
            return p->at < p->length && p->text[p->at] == '(' ? call(p, i, start) : expected(p, "'(' and arguments");
        }
    return unknown_name(p, start, end);
}

static int primary(parser *p)
{
    skip_blanks(p);
    if (p->at >= p->length)
        return expected(p, "a number, tid or '('");
    if (isdigit((unsigned char)p->text[p->at]))
        return number(p);
    if (p->text[p->at] == '(') {
        p->at++;
        int inner = expression(p, 0);
        if (inner < 0)
            return NONE;
        skip_blanks(p);
        if (p->at >= p->length || p->text[p->at] != ')')
            return expected(p, "an operator or ')'");
        p->at++;
        return inner;
    }
    size_t end = word_end(p);
    return end > p->at ? named(p, end) : expected(p, "a number, tid or '('");
}

static int unary(parser *p)
{
    skip_blanks(p);
    size_t start = p->at;
    char c = p->at < p->length ? p->text[p->at] : '\0';
    int op = c == '-' ? SMP_PN_NEGATE : c == '!' ? SMP_PN_NOT : c == '~' ? SMP_PN_INVERT : NONE;
    if (op < 0 && c != '+')
        return primary(p);
    if (++p->depth > SMP_PATTERN_DEPTH) {
        smp_diags_add(p->diags, SMP_ERROR, span_of(p, start, start + 1), "more than %d operations inside each other",
                      SMP_PATTERN_DEPTH);
        return NONE;
    }
    p->at++;
    int operands[3] = {unary(p), NONE, NONE};
    p->depth--;
    return operands[0] < 0 || op < 0 ? operands[0] : add_node(p, op, start, operands);
}

/* ------------------------------------------------------------------------------------------------ operators */

/* C's, loosest first; longer ones before those they begin with. */
static const struct {
    const char *text;
    int level, op;
} operators[] = {
    {"||", 1, SMP_PN_EITHER},     {"&&", 2, SMP_PN_BOTH},
    {"==", 6, SMP_PN_EQUAL},      {"!=", 6, SMP_PN_UNEQUAL},
    {"<<", 8, SMP_PN_LEFT},       {">>", 8, SMP_PN_RIGHT},
    {"<=", 7, SMP_PN_LESS_EQUAL}, {">=", 7, SMP_PN_GREATER_EQUAL},
    {"<", 7, SMP_PN_LESS},        {">", 7, SMP_PN_GREATER},
    {"|", 3, SMP_PN_OR},          {"^", 4, SMP_PN_XOR},
    {"&", 5, SMP_PN_AND},         {"+", 9, SMP_PN_ADD},
    {"-", 9, SMP_PN_SUBTRACT},    {"*", 10, SMP_PN_MULTIPLY},
    {"/", 10, SMP_PN_DIVIDE},     {"%", 10, SMP_PN_REMAINDER},
};
enum { TIGHTEST = 10 };

/* The operator at this place, or COUNT(operators). */
static size_t operator_at(const parser *p)
{
    for (size_t i = 0; i < COUNT(operators); i++) {
        size_t length = strlen(operators[i].text);
        if (p->length - p->at >= length && !memcmp(p->text + p->at, operators[i].text, length))
            return i;
    }
    return COUNT(operators);
}

static int choice(parser *p, int condition, size_t start)
{
    int operands[3] = {condition, NONE, NONE};
    p->at++; /* the question mark */
    operands[1] = expression(p, 0);
    if (operands[1] < 0)
        return NONE;
    skip_blanks(p);
    if (p->at >= p->length || p->text[p->at] != ':')
        return expected(p, "an operator or ':'");
    p->at++;
    operands[2] = expression(p, 0);
    return operands[2] < 0 ? NONE : add_node(p, SMP_PN_CHOOSE, start, operands);
}

/* Level 0 is ?: ; every other level takes its own operators between operands of the next tighter one. */
static int at_level(parser *p, int level)
{
    skip_blanks(p);
    size_t start = p->at;
    if (level > TIGHTEST)
        return unary(p);
    int left = at_level(p, level ? level + 1 : 1);
    while (left >= 0) {
        skip_blanks(p);
        if (level == 0)
            return p->at < p->length && p->text[p->at] == '?' ? choice(p, left, start) : left;
        size_t found = operator_at(p);
        if (found == COUNT(operators) || operators[found].level != level)
            return left;
        p->at += strlen(operators[found].text);
        int operands[3] = {left, at_level(p, level + 1), NONE};
        left = operands[1] < 0 ? NONE : add_node(p, operators[found].op, start, operands);
    }
    return NONE;
}

static int expression(parser *p, int level)
{
    if (++p->depth > SMP_PATTERN_DEPTH) {
        smp_diags_add(p->diags, SMP_ERROR, span_of(p, p->at, p->at + 1), "more than %d operations inside each other",
                      SMP_PATTERN_DEPTH);
        return NONE;
    }
    int node = at_level(p, level);
    p->depth--;
    return node;
}

/* ------------------------------------------------------------------------------------------------ arrays */

enum { MAX_GROUPS = 2 * SMP_ELEMENT_DIMS };

typedef struct groups {
    int nodes[MAX_GROUPS];
    bool tid[MAX_GROUPS]; /* depends on the lane */
    int count;
} groups;

/* All [...] that follow; between sizes and indices the array's name, or punctuation, may be repeated. */
static bool read_groups(parser *p, groups *out)
{
    for (;;) {
        skip_blanks(p);
        size_t rewind = p->at;
        if (out->count) {
            if (p->at < p->length && strchr(";:,", p->text[p->at]) && p->text[p->at])
                p->at++;
            skip_blanks(p);
            p->at = word_end(p);
            skip_blanks(p);
        }
        if (p->at >= p->length || p->text[p->at] != '[') {
            p->at = rewind;
            return true;
        }
        size_t start = p->at++;
        bool before = p->out->tid;
        p->out->tid = false;
        int node = expression(p, 0);
        if (node < 0)
            return false;
        skip_blanks(p);
        if (p->at >= p->length || p->text[p->at] != ']') {
            expected(p, "an operator or ']'");
            return false;
        }
        p->at++;
        if (out->count == MAX_GROUPS) {
            smp_diags_add(p->diags, SMP_ERROR, span_of(p, start, p->at), "an array has at most %d dimensions here",
                          SMP_ELEMENT_DIMS);
            return false;
        }
        out->tid[out->count] = p->out->tid;
        out->nodes[out->count++] = node;
        p->out->tid |= before;
    }
}

static bool take_sizes(parser *p, const groups *g, int dims)
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
static bool read_walk(parser *p, const groups *g, size_t walk, size_t start, size_t end)
{
    smp_pattern *out = p->out;
    if (!take_sizes(p, g, g->count))
        return false;
    if (out->dims == 1) { /* one row of them all */
        out->dim[1] = out->dim[0];
        out->dim[0] = 1;
        out->dims = 2;
    }
    if (out->dims != 2 || (g->count == 1 && walks[walk].walk != SMP_WALK_ROW)) {
        smp_diag *diag = smp_diags_add(p->diags, SMP_ERROR, span_of(p, start, end),
                                       "a %s needs an array of two dimensions", walks[walk].name);
        smp_diag_fix(p->diags, diag, "[32][32] %s", walks[walk].name);
        return false;
    }
    out->walk = walks[walk].walk;
    p->at = end;
    skip_blanks(p);
    if (p->at >= p->length)
        return true;
    bool before = out->tid;
    out->tid = false;
    int node = expression(p, 0);
    if (node < 0)
        return false;
    int64_t count = out->dim[out->walk == SMP_WALK_ROW ? 0 : 1];
    if (out->tid) {
        smp_diag *diag =
            smp_diags_add(p->diags, SMP_ERROR, out->nodes[node].span, "which %s is a number", walks[walk].name);
        smp_diag_fix(p->diags, diag, "write indices instead: [32][32] [tid][0]");
        return false;
    }
    out->tid = before;
    if (!smp_pattern_value(out, node, 0, SMP_WARP, p->diags, &out->walk_from))
        return false;
    if (out->walk_from < 0 || out->walk_from >= count) {
        smp_diag *diag = smp_diags_add(p->diags, SMP_ERROR, out->nodes[node].span, "there is no %s %lld",
                                       walks[walk].name, (long long)out->walk_from);
        smp_diag_fix(p->diags, diag, "0 to %lld", (long long)count - 1);
        return false;
    }
    return true;
}

static bool read_indices(parser *p, const groups *g)
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

static bool read_array(parser *p)
{
    groups g = {.count = 0};
    if (!read_groups(p, &g))
        return false;
    skip_blanks(p);
    size_t start = p->at, end = word_end(p);
    if (end == start)
        return read_indices(p, &g);
    for (size_t i = 0; i < COUNT(walks); i++)
        if (is_word(p, start, end, walks[i].name))
            return read_walk(p, &g, i, start, end);
    unknown_name(p, start, end);
    return false;
}

/* ------------------------------------------------------------------------------------------------ the whole */

/* Words of a declaration before the element type that say nothing about banks. */
static bool skip_word(parser *p, const char *word)
{
    size_t end = word_end(p);
    if (end == p->at || !is_word(p, p->at, end, word))
        return false;
    p->at = end;
    skip_blanks(p);
    return true;
}

static bool read_type(parser *p)
{
    bool sign = false;
    skip_blanks(p);
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
    size_t end = word_end(p);
    if (is_word(p, p->at, end, "float3") || is_word(p, p->at, end, "int3") || is_word(p, p->at, end, "uchar3")) {
        smp_diag *diag = smp_diags_add(p->diags, SMP_ERROR, span_of(p, p->at, end),
                                       "a struct of three is read by three accesses, one a member");
        smp_diag_fix(p->diags, diag, "write tid*3, tid*3 + 1, tid*3 + 2");
        return false;
    }
    for (size_t i = 0; i < COUNT(types); i++)
        if (is_word(p, p->at, end, types[i].name)) {
            p->out->type = types[i].name;
            p->out->width = types[i].width;
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

static bool read_pattern(parser *p)
{
    skip_blanks(p);
    if (p->at == p->length) {
        expected(p, "an index such as tid*2, or an array such as [32][33] column");
        return false;
    }
    if (!read_type(p))
        return false;
    skip_blanks(p);
    size_t name = p->at, end = word_end(p);
    p->at = end;
    skip_blanks(p);
    bool array = p->at < p->length && p->text[p->at] == '[';
    if (!array)
        p->at = name;
    if (array ? !read_array(p) : (p->out->index[0] = expression(p, 0)) < 0)
        return false;
    skip_blanks(p);
    if (p->at < p->length && p->text[p->at] == ';') /* pasted from a program */
        p->at++;
    skip_blanks(p);
    if (p->at < p->length) {
        expected(p, array ? "nothing more" : "an operator");
        return false;
    }
    return true;
}

smp_code smp_pattern_parse(const char *name, const char *text, smp_diags *diags, smp_pattern *out)
{
    size_t length = strlen(text);
    *out = (smp_pattern){.dims = 0};
    bool long_text = length > SMP_PATTERN_TEXT;
    parser p = {.text = text, .length = length, .diags = diags, .out = out};
    p.source = smp_diags_add_source(diags, name, text, long_text ? SMP_PATTERN_TEXT : length);
    if (p.source < 0)
        return SMP_E_MEMORY;
    if (long_text) {
        smp_span span = {p.source, 0, 1};
        smp_diags_add(diags, SMP_ERROR, span, "a pattern has at most %d characters", SMP_PATTERN_TEXT);
        return SMP_E_USAGE;
    }
    out->span = span_of(&p, 0, length);
    return read_pattern(&p) ? SMP_OK : SMP_E_USAGE;
}
