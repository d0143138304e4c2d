/* The compiler of arithmetic in braces:
 *   expr    = term { ("+" | "-") term } ;
 *   term    = factor { ("*" | "/") factor } ;
 *   factor  = { "+" | "-" } primary ;
 *   primary = NUMBER [UNIT] | "$" ID | variable | function "(" expr { "," expr } ")" | "random" "(" range ")" |
 *             "(" expr ")" .
 *   range   = expr ".." expr .
 * See expr.h; evaluation is in eval.c. */
#include "pipe/values/expr.h"

#include <string.h>

#include "base/alloc.h"
#include "base/text/text.h"
#include "pipe/language/lex.h"
#include "pipe/limits.h"

typedef struct compiler {
    smp_arena *arena;
    smp_diags *diags;
    const char *text; /* between the braces */
    size_t length, at;
    smp_span span; /* of the braces, or of the word, which has */
    size_t before; /* so many bytes in front of the text */
    smp_expr_lookup *lookup;
    void *context;
    smp_op *ops;
    size_t count, capacity;
    int stack; /* values on the stack so far */
    int depth;
    double scale;    /* what the last number was multiplied by for its unit */
    uint32_t *draws; /* of the pipeline so far */
    bool constant, random;
    bool failed; /* after a reported mistake, or out of memory */
} compiler;

typedef struct word {
    const char *name;
    smp_op_code code;
    smp_unit unit;
    bool function;
    int least; /* arguments of a function */
} word;

static const word words[] = {
    {"width", SMP_OP_WIDTH, SMP_UNIT_PX, false, 0},
    {"height", SMP_OP_HEIGHT, SMP_UNIT_PX, false, 0},
    {"channels", SMP_OP_CHANNELS, SMP_UNIT_NONE, false, 0},
    {"rate", SMP_OP_RATE, SMP_UNIT_HZ, false, 0},
    {"min", SMP_OP_MIN, SMP_UNIT_NONE, true, 2},
    {"max", SMP_OP_MAX, SMP_UNIT_NONE, true, 2},
    {"round", SMP_OP_ROUND, SMP_UNIT_NONE, true, 1},
    {"random", SMP_OP_RANDOM, SMP_UNIT_NONE, true, 1},
};
enum { WORDS = sizeof words / sizeof words[0] };
static const char *const word_names[WORDS] = {"width", "height", "channels", "rate", "min", "max", "round", "random"};

static smp_unit expression(compiler *c);

static smp_span place(const compiler *c, size_t start, size_t length)
{
    return (smp_span){c->span.source, c->span.start + c->before + start, length};
}

static void skip_blanks(compiler *c)
{
    while (c->at < c->length && strchr(" \t\r\n\\", c->text[c->at]))
        c->at++;
}

static char peek(compiler *c)
{
    skip_blanks(c);
    return c->at < c->length ? c->text[c->at] : '\0';
}

static int stack_change(const smp_op *op)
{
    const smp_op_code code = op->code;
    if (code <= SMP_OP_RATE)
        return 1;
    if (code == SMP_OP_PICK)
        return 1 - op->count;
    return code == SMP_OP_NEGATE || code == SMP_OP_ROUND || code == SMP_OP_WITHIN ? 0 : -1;
}

static void emit(compiler *c, smp_op op)
{
    if (c->failed)
        return;
    if (c->count >= SMP_MAX_OPS) {
        smp_diags_add(c->diags, SMP_ERROR, c->span, "this arithmetic has more than %d steps", SMP_MAX_OPS);
        c->failed = true;
    } else if ((c->stack += stack_change(&op)) > SMP_MAX_STACK) {
        smp_diags_add(c->diags, SMP_ERROR, c->span, "this arithmetic is nested too deeply");
        c->failed = true;
    } else if (!smp_grow(&c->ops, &c->capacity, c->count + 1, sizeof op)) {
        c->arena->failed = c->failed = true;
    } else {
        c->ops[c->count++] = op;
    }
}

static smp_diag *wrong(compiler *c, smp_span span, const char *message)
{
    if (c->failed)
        return NULL;
    c->failed = true;
    return smp_diags_add(c->diags, SMP_ERROR, span, "%s", message);
}

/* The unit of a sum, a difference, a minimum or a maximum. A number without a unit takes the other's unit. */
static smp_unit same_unit(compiler *c, smp_unit a, smp_unit b, smp_span at, const char *refusal)
{
    if (a == b || b == SMP_UNIT_NONE)
        return a;
    if (a == SMP_UNIT_NONE)
        return b;
    if (!c->failed)
        smp_diags_add(c->diags, SMP_ERROR, at, "%s %s and %s", refusal, smp_dimension(a), smp_dimension(b));
    c->failed = true;
    return a;
}

static bool is_plain(smp_unit unit)
{
    return unit == SMP_UNIT_NONE || unit == SMP_UNIT_FRACTION;
}

static smp_unit product_unit(compiler *c, smp_unit a, smp_unit b, smp_span at)
{
    if (is_plain(a) && is_plain(b))
        return a == SMP_UNIT_NONE ? b : a;
    if (is_plain(a) || is_plain(b))
        return is_plain(a) ? b : a;
    if ((a == SMP_UNIT_HZ && b == SMP_UNIT_S) || (a == SMP_UNIT_S && b == SMP_UNIT_HZ))
        return SMP_UNIT_NONE;
    if (!c->failed)
        smp_diags_add(c->diags, SMP_ERROR, at, "cannot multiply %s by %s", smp_dimension(a), smp_dimension(b));
    c->failed = true;
    return a;
}

static smp_unit quotient_unit(compiler *c, smp_unit a, smp_unit b, smp_span at)
{
    if (a == b)
        return SMP_UNIT_NONE;
    if (is_plain(b))
        return a;
    if (is_plain(a) && (b == SMP_UNIT_HZ || b == SMP_UNIT_S))
        return b == SMP_UNIT_HZ ? SMP_UNIT_S : SMP_UNIT_HZ;
    if (!c->failed)
        smp_diags_add(c->diags, SMP_ERROR, at, "cannot divide %s by %s", smp_dimension(a), smp_dimension(b));
    c->failed = true;
    return a;
}

static size_t name_end(const compiler *c, size_t at)
{
    while (at < c->length && smp_is_name(c->text + c->at, at + 1 - c->at))
        at++;
    return at;
}

static smp_unit number(compiler *c)
{
    double value;
    size_t start = c->at, used;
    const char *dots = strstr(c->text + start, ".."); /* of a range: they are not the number's */
    const size_t limit = dots && dots < c->text + c->length ? (size_t)(dots - c->text) : c->length;
    smp_number result = smp_number_read(c->text + start, limit - start, &value, &used);
    char shown[SMP_SHOWN];
    if (result != SMP_NUMBER_OK) {
        wrong(c, place(c, start, used ? used : 1),
              result == SMP_NUMBER_LARGE ? "this number is too large" : "a number was expected");
        return SMP_UNIT_NONE;
    }
    size_t unit = start + used, end = unit;
    if (end < c->length && c->text[end] == '%') {
        end++;
    } else {
        /* Letters and digits up to the next operator must be one unit. */
        while (end < limit && !strchr(" \t\r\n\\+-*/(),", c->text[end]))
            end++;
    }
    smp_quantity quantity = {value, SMP_UNIT_NONE};
    c->at = end;
    if (end > unit && !smp_unit_apply(c->text + unit, end - unit, value, &quantity)) {
        const char *near = smp_nearest(c->text + unit, end - unit, smp_unit_words, smp_unit_word_count);
        if (!c->failed) {
            smp_diag *diag = smp_diags_add(c->diags, SMP_ERROR, place(c, unit, end - unit), "unknown unit '%s'",
                                           smp_shown(shown, c->text + unit, end - unit));
            if (near)
                smp_diag_fix(c->diags, diag, "did you mean '%s'?", near);
        }
        c->failed = true;
    }
    smp_quantity one = {1, SMP_UNIT_NONE};
    if (end > unit)
        (void)smp_unit_apply(c->text + unit, end - unit, 1, &one);
    c->scale = one.value;
    emit(c, (smp_op){.code = SMP_OP_NUMBER, .number = quantity.value});
    return quantity.unit;
}

static smp_unit parameter(compiler *c)
{
    size_t sign = c->at++;
    size_t end = name_end(c, c->at), length = end - c->at;
    const char *name = c->text + c->at;
    smp_span span = place(c, sign, length + 1);
    char shown[SMP_SHOWN];
    c->at = end;
    if (!length) {
        wrong(c, span, "'$' needs the name of a parameter");
        return SMP_UNIT_NONE;
    }
    const smp_value *value = c->lookup ? c->lookup(c->context, name, length, span) : NULL;
    if (!value || value->kind == SMP_VALUE_BAD) {
        c->failed = true;
        return SMP_UNIT_NONE;
    }
    if (value->kind == SMP_VALUE_NUMBER) {
        emit(c, (smp_op){.code = SMP_OP_NUMBER, .number = value->number.value});
        return value->number.unit;
    }
    if (value->kind == SMP_VALUE_EXPR) {
        for (size_t i = 0; i < value->expr->count; i++)
            emit(c, value->expr->ops[i]);
        c->constant &= value->expr->constant;
        c->random |= value->expr->random;
        return value->expr->unit;
    }
    if (!c->failed) {
        char text[SMP_SHOWN];
        smp_diags_add(c->diags, SMP_ERROR, span, "'$%s' is '%s', not a number", smp_shown(shown, name, length),
                      smp_shown(text, value->text, value->length));
    }
    c->failed = true;
    return SMP_UNIT_NONE;
}

static bool enter(compiler *c, size_t start)
{
    if (++c->depth <= SMP_MAX_DEPTH)
        return true;
    if (!c->failed)
        smp_diags_add(c->diags, SMP_ERROR, place(c, start, 1), "parentheses are nested more than %d deep",
                      SMP_MAX_DEPTH);
    c->failed = true;
    return false;
}

static void close_parenthesis(compiler *c, size_t open)
{
    c->depth--;
    if (c->failed)
        return;
    if (peek(c) == ')')
        c->at++;
    else
        wrong(c, place(c, open, 1), "this '(' is never closed");
}

static smp_unit call(compiler *c, const word *function, size_t start)
{
    smp_span span = place(c, start, strlen(function->name));
    if (peek(c) != '(') {
        smp_diag *diag = wrong(c, span, "this is a function");
        smp_diag_fix(c->diags, diag, "write %s(...)", function->name);
        return SMP_UNIT_NONE;
    }
    size_t open = c->at++;
    if (!enter(c, open))
        return SMP_UNIT_NONE;
    smp_unit unit = expression(c);
    int count = 1;
    while (!c->failed && peek(c) == ',') {
        c->at++;
        smp_unit other = expression(c);
        unit = same_unit(c, unit, other, span, "cannot compare");
        count++;
        if (function->least == 2)
            emit(c, (smp_op){.code = function->code});
    }
    close_parenthesis(c, open);
    if (!c->failed && (count < function->least || (function->least == 1 && count > 1))) {
        c->failed = true;
        smp_diags_add(c->diags, SMP_ERROR, span, "%s takes %s, not %d", function->name,
                      function->least == 1 ? "one value" : "two values or more", count);
    }
    if (function->least == 1)
        emit(c, (smp_op){.code = function->code});
    return unit;
}

static bool at_dots(compiler *c)
{
    return peek(c) == '.' && c->at + 1 < c->length && c->text[c->at + 1] == '.';
}

static uint32_t next_draw(compiler *c)
{
    c->random = true;
    c->constant = false;
    return c->draws ? ++*c->draws : 0;
}

/* The upper end of a range, at its dots. The lower one has its unit, "8..100%". */
static smp_unit upper_end(compiler *c, smp_unit lower, smp_span span)
{
    c->at += 2;
    c->scale = 1;
    const smp_unit upper = expression(c), unit = same_unit(c, lower, upper, span, "a range cannot join");
    emit(c, (smp_op){.code = SMP_OP_RANDOM, .place = next_draw(c), .number = lower == SMP_UNIT_NONE ? c->scale : 1});
    return unit;
}

/* `random(0.8..1.2)` draws between two numbers, `random(0, 90, 180)` one of several. */
static smp_unit random_of(compiler *c, size_t start)
{
    static const char how[] = "write random(0.8..1.2), or random(0, 90, 180)";
    const smp_span span = place(c, start, strlen("random"));
    if (peek(c) != '(') {
        smp_diag_fix(c->diags, wrong(c, span, "nothing says what is drawn from"), "%s", how);
        return SMP_UNIT_NONE;
    }
    const size_t open = c->at++;
    if (!enter(c, open))
        return SMP_UNIT_NONE;
    smp_unit unit = expression(c);
    int count = 1;
    const bool range = !c->failed && at_dots(c);
    if (range)
        unit = upper_end(c, unit, span);
    for (; !range && !c->failed && peek(c) == ','; count++) {
        c->at++;
        unit = same_unit(c, unit, expression(c), span, "cannot draw from");
    }
    if (!range && count == 1 && !c->failed && peek(c) == ')')
        smp_diag_fix(c->diags, wrong(c, span, "one value is always drawn"), "%s", how);
    if (!range)
        emit(c, (smp_op){.code = SMP_OP_PICK, .count = count, .place = next_draw(c)});
    close_parenthesis(c, open);
    return unit;
}

static smp_unit named(compiler *c)
{
    size_t start = c->at, end = name_end(c, start), length = end - start;
    char shown[SMP_SHOWN];
    c->at = end;
    for (size_t i = 0; i < WORDS; i++)
        if (strlen(words[i].name) == length && !memcmp(words[i].name, c->text + start, length)) {
            if (words[i].code == SMP_OP_RANDOM)
                return random_of(c, start);
            if (words[i].function)
                return call(c, &words[i], start);
            c->constant = false;
            emit(c, (smp_op){.code = words[i].code});
            return words[i].unit;
        }
    if (!c->failed) {
        smp_shown(shown, c->text + start, length);
        smp_diag *diag =
            smp_diags_add(c->diags, SMP_ERROR, place(c, start, length), "unknown name '%s' in arithmetic", shown);
        const char *near = smp_nearest(c->text + start, length, word_names, WORDS);
        if (near)
            smp_diag_fix(c->diags, diag, "did you mean '%s'?", near);
        smp_diag_note(c->diags, diag,
                      "arithmetic knows width, height, channels, rate, min(), max(), round(), random(), and parameters "
                      "with a $");
    }
    c->failed = true;
    return SMP_UNIT_NONE;
}

static smp_unit primary(compiler *c)
{
    char first = peek(c);
    if (c->failed)
        return SMP_UNIT_NONE;
    if ((first >= '0' && first <= '9') || first == '.')
        return number(c);
    if (first == '$')
        return parameter(c);
    if (first == '(') {
        size_t open = c->at++;
        if (!enter(c, open))
            return SMP_UNIT_NONE;
        smp_unit unit = expression(c);
        close_parenthesis(c, open);
        return unit;
    }
    if (first && smp_is_name(&first, 1))
        return named(c);
    if (!first) {
        wrong(c, place(c, c->length, 1),
              !c->before ? "a value is missing at its end"
              : c->count ? "a value is missing before '}'"
                         : "nothing stands between the braces");
    } else if (first == '@') {
        smp_diag *diag = wrong(c, place(c, c->at, 1), "arithmetic is done with numbers, not with pictures");
        smp_diag_note(c->diags, diag, "pictures are combined by stages: add by=@name, blend by=@name, ...");
    } else {
        uint32_t code;
        size_t n = smp_utf8_decode(c->text + c->at, c->length - c->at, &code);
        wrong(c, place(c, c->at, n), "a number was expected here");
    }
    return SMP_UNIT_NONE;
}

static smp_unit factor(compiler *c)
{
    bool negative = false;
    for (char sign; (sign = peek(c)) == '-' || sign == '+'; c->at++)
        negative ^= sign == '-';
    smp_unit unit = primary(c);
    if (negative)
        emit(c, (smp_op){.code = SMP_OP_NEGATE});
    return unit;
}

static smp_unit term(compiler *c)
{
    smp_unit unit = factor(c);
    for (char sign; !c->failed && ((sign = peek(c)) == '*' || sign == '/');) {
        smp_span at = place(c, c->at++, 1);
        smp_unit other = factor(c);
        unit = sign == '*' ? product_unit(c, unit, other, at) : quotient_unit(c, unit, other, at);
        emit(c, (smp_op){.code = sign == '*' ? SMP_OP_MULTIPLY : SMP_OP_DIVIDE});
    }
    return unit;
}

static smp_unit expression(compiler *c)
{
    smp_unit unit = term(c);
    for (char sign; !c->failed && ((sign = peek(c)) == '+' || sign == '-');) {
        smp_span at = place(c, c->at++, 1);
        smp_unit other = term(c);
        unit = same_unit(c, unit, other, at, sign == '+' ? "cannot add" : "cannot subtract");
        emit(c, (smp_op){.code = sign == '+' ? SMP_OP_ADD : SMP_OP_SUBTRACT});
    }
    return unit;
}

const smp_expr *smp_expr_compile(smp_arena *arena, smp_diags *diags, const smp_ast_value *brace,
                                 smp_expr_lookup *lookup, void *context, uint32_t *draws)
{
    const bool bare = brace->kind == SMP_AST_WORD, range = bare && strncmp(brace->text, "random(", 7) != 0;
    compiler c = {.arena = arena, .diags = diags, .text = brace->text, .length = brace->length, .span = brace->span};
    c.lookup = lookup;
    c.context = context;
    c.draws = draws;
    c.constant = true;
    c.before = !bare;
    smp_expr expr = {0};
    expr.unit = expression(&c);
    if (range && !c.failed && at_dots(&c))
        expr.unit = upper_end(&c, expr.unit, c.span);
    if (!c.failed && peek(&c)) {
        uint32_t code;
        size_t n = smp_utf8_decode(c.text + c.at, c.length - c.at, &code);
        bool close = c.text[c.at] == ')';
        wrong(&c, place(&c, c.at, n), close ? "this ')' closes nothing" : "an operator is missing before this");
    }
    const smp_expr *result = NULL;
    if (!c.failed) {
        expr.ops = smp_arena_copy(arena, c.ops, c.count * sizeof *c.ops);
        expr.count = c.count;
        expr.constant = c.constant;
        expr.random = c.random;
        if (expr.ops)
            result = smp_arena_copy(arena, &expr, sizeof expr);
    }
    smp_free(c.ops);
    return result;
}

const smp_expr *smp_expr_within(smp_arena *arena, const smp_expr *expr, const smp_bounds *bounds)
{
    smp_op *ops = smp_arena_array(arena, expr->count + 1, sizeof *ops);
    smp_expr *checked = smp_arena_copy(arena, expr, sizeof *expr);
    if (!ops || !checked)
        return NULL;
    memcpy(ops, expr->ops, expr->count * sizeof *ops);
    ops[expr->count] = (smp_op){.code = SMP_OP_WITHIN, .bounds = bounds};
    checked->ops = ops;
    checked->count = expr->count + 1;
    return checked;
}
