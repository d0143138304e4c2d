/* Expressions of access patterns, by recursive descent over the text: see pattern_parse.h. */
#include "lab/counters/pattern_parse.h"

#include <ctype.h>
#include <string.h>

#include "base/text/text.h"

enum { NONE = SMP_PATTERN_NONE };

static int expression(smp_pattern_parser *p, int level);

/* ------------------------------------------------------------------------------------------------ nodes */

static int add_node(smp_pattern_parser *p, int op, size_t start, const int operands[3])
{
    if (p->out->node_count == SMP_PATTERN_NODES) {
        smp_diags_add(p->diags, SMP_ERROR, smp_pattern_span(p, start, p->at),
                      "this pattern is too long: over %d operations", SMP_PATTERN_NODES);
        return NONE;
    }
    smp_pattern_node *node = &p->out->nodes[p->out->node_count];
    *node = (smp_pattern_node){.op = op, .span = smp_pattern_span(p, start, p->at)};
    for (int i = 0; operands && i < 3; i++)
        node->operands[i] = operands[i];
    if (op == SMP_PN_TID || op == SMP_PN_TX || op == SMP_PN_TY || op == SMP_PN_TZ || op == SMP_PN_RANDOM)
        p->out->tid = true;
    if (op == SMP_PN_RANDOM)
        p->out->random = true;
    return p->out->node_count++;
}

static int number_node(smp_pattern_parser *p, size_t start, int64_t number)
{
    int node = add_node(p, SMP_PN_NUMBER, start, NULL);
    if (node >= 0)
        p->out->nodes[node].number = number;
    return node;
}

/* ------------------------------------------------------------------------------------------------ primaries */

static int number(smp_pattern_parser *p)
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
        size_t length = smp_pattern_bad_length(p, start);
        smp_diag *diag =
            smp_diags_add(p->diags, SMP_ERROR, smp_pattern_span(p, start, start + length), "'%s' is not a %s",
                          smp_shown(shown, p->text + start, length), overflow ? "number of 64 bits" : "whole number");
        if (!overflow && isdigit((unsigned char)p->text[start]) && isalpha((unsigned char)p->text[suffix]))
            smp_diag_fix(p->diags, diag, "a product is written with *: 2*tid");
        return NONE;
    }
    p->at = suffix;
    return number_node(p, start, value);
}

static int call(smp_pattern_parser *p, const smp_pattern_function *function, size_t start)
{
    int operands[3] = {NONE, NONE, NONE}, count = 0;
    p->at++; /* the parenthesis */
    do {
        const int node = expression(p, 0);
        if (node < 0)
            return NONE;
        if (count < 3)
            operands[count] = node;
        count++;
    } while (smp_pattern_skip_mark(p, ','));
    if (p->at >= p->length || p->text[p->at] != ')')
        return smp_pattern_expected(p, "',' or ')'");
    p->at++; /* blanks behind it are not of the call */
    if (count < function->least || count > function->most) {
        smp_diag *diag =
            smp_diags_add(p->diags, SMP_ERROR, smp_pattern_span(p, start, p->at), "%s takes %d argument%s, not %d",
                          function->name, function->least, function->least == 1 ? "" : "s", count);
        smp_diag_fix(p->diags, diag,
                     function->op == SMP_PN_RANDOM ? "random(n) or random(n, seed)"
                     : function->op == SMP_PN_BREV ? "brev(tid, 5)"
                     : function->least == 1        ? "abs(a)"
                                                   : "two values with a comma between");
        return NONE;
    }
    if (function->op == SMP_PN_RANDOM && count == 1)
        operands[1] = number_node(p, start, 0);
    if (function->most == 2 && operands[1] < 0)
        return NONE;
    return add_node(p, function->op, start, operands);
}

static int named(smp_pattern_parser *p, size_t end)
{
    size_t start = p->at;
    for (size_t i = 0; i < p->define_count; i++)
        if (smp_pattern_is_word(p, start, end, p->defines[i].name)) {
            p->at = end;
            return number_node(p, start, p->defines[i].value);
        }
    for (const smp_pattern_name *name = smp_pattern_names; name->name; name++)
        if (smp_pattern_is_word(p, start, end, name->name)) {
            p->at = end;
            return name->op == SMP_PN_NUMBER ? number_node(p, start, name->number) : add_node(p, name->op, start, NULL);
        }
    for (const smp_pattern_function *function = smp_pattern_functions; function->name; function++)
        if (smp_pattern_is_word(p, start, end, function->name)) {
            p->at = end;
            smp_pattern_blanks(p);
            return p->at < p->length && p->text[p->at] == '(' ? call(p, function, start)
                                                              : smp_pattern_expected(p, "'(' and arguments");
        }
    return smp_pattern_unknown(p, start, end);
}

static int primary(smp_pattern_parser *p)
{
    smp_pattern_blanks(p);
    if (p->at >= p->length)
        return smp_pattern_expected(p, "a number, tid or '('");
    if (isdigit((unsigned char)p->text[p->at]))
        return number(p);
    if (p->text[p->at] == '(') {
        p->at++;
        const int inner = expression(p, 0);
        return inner >= 0 && smp_pattern_close(p, ')') ? inner : NONE;
    }
    size_t end = smp_pattern_word_end(p);
    return end > p->at ? named(p, end) : smp_pattern_expected(p, "a number, tid or '('");
}

static int unary(smp_pattern_parser *p)
{
    smp_pattern_blanks(p);
    size_t start = p->at;
    char c = p->at < p->length ? p->text[p->at] : '\0';
    int op = c == '-' ? SMP_PN_NEGATE : c == '!' ? SMP_PN_NOT : c == '~' ? SMP_PN_INVERT : NONE;
    if (op < 0 && c != '+')
        return primary(p);
    if (++p->depth > SMP_PATTERN_DEPTH) {
        smp_diags_add(p->diags, SMP_ERROR, smp_pattern_span(p, start, start + 1),
                      "more than %d operations inside each other", SMP_PATTERN_DEPTH);
        return NONE;
    }
    p->at++;
    int operands[3] = {unary(p), NONE, NONE};
    p->depth--;
    return operands[0] < 0 || op < 0 ? operands[0] : add_node(p, op, start, operands);
}

/* ------------------------------------------------------------------------------------------------ operators */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
    const char *text;
    int level, op;
} operators[] = {
#define LEAF(op, value)
#define PREFIX(op, mark, effect)
#define OPERATOR(op, text, level, effect) {text, level, SMP_PN_##op},
#define FUNCTION(op, name, least, most, effect)
#include "lab/counters/pattern_op_list.def"
};
enum { TIGHTEST = 10 };

/* The operator at this place; COUNT(operators): none. */
static size_t operator_at(const smp_pattern_parser *p)
{
    for (size_t i = 0; i < COUNT(operators); i++) {
        size_t length = strlen(operators[i].text);
        if (p->length - p->at >= length && !memcmp(p->text + p->at, operators[i].text, length))
            return i;
    }
    return COUNT(operators);
}

static int choice(smp_pattern_parser *p, int condition, size_t start)
{
    int operands[3] = {condition, NONE, NONE};
    p->at++; /* the question mark */
    operands[1] = expression(p, 0);
    if (operands[1] < 0 || !smp_pattern_close(p, ':'))
        return NONE;
    operands[2] = expression(p, 0);
    return operands[2] < 0 ? NONE : add_node(p, SMP_PN_CHOOSE, start, operands);
}

/* Level 0 is ?: ; every other level parses its operators between operands of the next tighter level. */
static int at_level(smp_pattern_parser *p, int level)
{
    smp_pattern_blanks(p);
    size_t start = p->at;
    if (level > TIGHTEST)
        return unary(p);
    int left = at_level(p, level ? level + 1 : 1);
    while (left >= 0) {
        smp_pattern_blanks(p);
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

static int expression(smp_pattern_parser *p, int level)
{
    if (++p->depth > SMP_PATTERN_DEPTH) {
        smp_diags_add(p->diags, SMP_ERROR, smp_pattern_span(p, p->at, p->at + 1),
                      "more than %d operations inside each other", SMP_PATTERN_DEPTH);
        return NONE;
    }
    int node = at_level(p, level);
    p->depth--;
    return node;
}

int smp_pattern_expression(smp_pattern_parser *p)
{
    return expression(p, 0);
}

bool smp_pattern_number(smp_pattern_parser *p, char mark, int64_t *value, int *node)
{
    *node = expression(p, 0);
    return *node >= 0 && smp_pattern_value(p->out, *node, 0, NULL, p->diags, value) && smp_pattern_close(p, mark);
}
