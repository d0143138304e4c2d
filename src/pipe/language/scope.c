/* The names of a text: $parameters and @taps, and values made of them. */
#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "pipe/language/build.h"
#include "pipe/language/lex.h"

const char *smp_kind_words(smp_kind kind)
{
    return kind == SMP_IMAGE ? "a picture" : kind == SMP_AUDIO ? "a sound" : "a picture or a sound";
}

smp_kind smp_kind_of(const smp_builder *b, int node)
{
    return node >= 0 ? b->infos[node].kind : node <= SMP_NODE_FILE ? SMP_KIND_NONE : b->input_kind;
}

void smp_kind_note(smp_builder *b, int node, smp_kind kind)
{
    smp_kind *known = node >= 0 ? &b->infos[node].kind : &b->input_kind;
    if (node > SMP_NODE_FILE && *known == SMP_KIND_NONE && (kind == SMP_IMAGE || kind == SMP_AUDIO))
        *known = kind;
}

static int line_of(const smp_builder *b, smp_span span)
{
    int line, column;
    smp_diags_locate(b->diags, span, &line, &column);
    return line;
}

static smp_scope_param *find_param(const smp_scope *scope, const char *name, size_t length)
{
    for (size_t i = 0; i < scope->param_count; i++)
        if (strlen(scope->params[i].name) == length && !memcmp(scope->params[i].name, name, length))
            return &scope->params[i];
    return NULL;
}

const smp_value *smp_scope_value(const smp_scope *scope, const char *text, size_t size, size_t *length)
{
    size_t n = 0;
    while (n < size && (smp_is_name(text + n, 1) || (n > 0 && text[n] >= '0' && text[n] <= '9')))
        n++;
    const smp_scope_param *param = scope ? find_param(scope, text, n) : NULL;
    *length = n;
    return param ? &param->value : NULL;
}

/* Suggests the nearest of `count` names in an array of structs. False: out of memory. */
static void suggest(smp_builder *b, smp_diag *diag, char sigil, const char *name, size_t length, const void *array,
                    size_t count, size_t size)
{
    const char **names = count ? smp_alloc_array(count, sizeof *names) : NULL;
    if (count && !names) {
        b->out_of_memory = true;
        return;
    }
    for (size_t i = 0; i < count; i++)
        memcpy(&names[i], (const char *)array + i * size, sizeof names[i]);
    const char *near = smp_nearest(name, length, names, count);
    if (near)
        smp_diag_fix(b->diags, diag, "did you mean '%c%s'?", sigil, near);
    smp_free(names);
}

static void unknown_param(smp_builder *b, const smp_scope *scope, const char *name, size_t length, smp_span span)
{
    char shown[SMP_SHOWN];
    smp_shown(shown, name, length);
    smp_diag *diag = smp_diags_add(b->diags, SMP_ERROR, span, "there is no parameter '$%s'", shown);
    if (!diag || !scope)
        return;
    for (size_t i = scope->next; i < scope->ast->count; i++) {
        const smp_ast_statement *later = &scope->ast->statements[i];
        if (later->arg_count && later->args[0].name && !strcmp(later->name, "param") &&
            later->args[0].name_length == length && !memcmp(later->args[0].name, name, length)) {
            smp_diag_note(b->diags, diag, "it is declared later, on line %d; declare it before its first use",
                          line_of(b, later->span));
            return;
        }
    }
    suggest(b, diag, '$', name, length, scope->params, scope->param_count, sizeof *scope->params);
    if (scope->outer && find_param(scope->outer, name, length))
        smp_diag_note(b->diags, diag,
                      "an included text does not see it; declare it here and pass it: include ... %s=$%s", shown,
                      shown);
    else if (diag->fix == NULL)
        smp_diag_note(b->diags, diag, "parameters are declared with: param %s = ...", shown);
}

typedef struct lookup_context {
    smp_builder *b;
    smp_scope *scope;
} lookup_context;

static const smp_value *lookup(void *context, const char *name, size_t length, smp_span span)
{
    lookup_context *c = context;
    smp_scope_param *param = c->scope ? find_param(c->scope, name, length) : NULL;
    if (!param) {
        unknown_param(c->b, c->scope, name, length, span);
        return NULL;
    }
    param->used = true;
    return &param->value;
}

static void undefined_tap(smp_builder *b, const smp_scope *scope, const char *name, smp_span span)
{
    char shown[SMP_SHOWN];
    size_t length = strlen(name);
    smp_shown(shown, name, length);
    smp_diag *diag = smp_diags_add(b->diags, SMP_ERROR, span, "there is no '@%s'", shown);
    if (!diag || !scope)
        return;
    for (size_t i = scope->next; i < scope->ast->count; i++) {
        const smp_ast_statement *later = &scope->ast->statements[i];
        if (later->tap && !strcmp(later->tap, name)) {
            smp_diag_note(b->diags, diag, "it is made later, on line %d; a result can be used after it is made",
                          line_of(b, later->tap_span));
            return;
        }
    }
    suggest(b, diag, '@', name, length, scope->taps, scope->tap_count, sizeof *scope->taps);
    if (!diag->fix && smp_nearest(name, length, (const char *const[]){"input"}, 1))
        smp_diag_fix(b->diags, diag, "did you mean '@input'?");
    if (!diag->fix)
        smp_diag_note(b->diags, diag, "a result is kept by writing -> @%s after the stage that makes it", shown);
}

bool smp_find_tap(smp_builder *b, smp_scope *scope, const char *name, smp_span span, int *node)
{
    *node = SMP_NODE_NONE;
    if (scope && !strcmp(name, "input")) {
        *node = scope->input;
        return true;
    }
    for (size_t i = 0; scope && i < scope->tap_count; i++)
        if (!strcmp(scope->taps[i].name, name)) {
            scope->taps[i].used = true;
            *node = scope->taps[i].node;
            return true;
        }
    undefined_tap(b, scope, name, span);
    return !b->out_of_memory;
}

bool smp_define_tap(smp_builder *b, smp_scope *scope, const char *name, smp_span span)
{
    char shown[SMP_SHOWN];
    smp_shown(shown, name, strlen(name));
    if (!strcmp(name, "input")) {
        smp_diag *diag = smp_diags_add(b->diags, SMP_ERROR, span, "'@input' is the pipeline's input");
        smp_diag_note(b->diags, diag, "give the result another name");
        return true;
    }
    for (size_t i = 0; i < scope->tap_count; i++)
        if (!strcmp(scope->taps[i].name, name)) {
            smp_diag *diag = smp_diags_add(b->diags, SMP_ERROR, span, "'@%s' is made twice", shown);
            if (diag)
                smp_diag_note(b->diags, diag, "line %d makes it already", line_of(b, scope->taps[i].span));
            return true;
        }
    if (!smp_grow(&scope->taps, &scope->tap_capacity, scope->tap_count + 1, sizeof *scope->taps))
        return false;
    scope->taps[scope->tap_count++] = (smp_scope_tap){.name = name, .span = span, .node = scope->current};
    if (scope->current >= 0)
        b->infos[scope->current].tapped = true;
    return true;
}

static bool resolve_param(smp_builder *b, smp_scope *scope, const smp_ast_value *from, smp_value *to)
{
    const smp_value *value = lookup(&(lookup_context){b, scope}, from->text, from->length, from->span);
    if (value) {
        *to = *value;
        to->span = from->span;
        to->row = from->row;
        to->param = from->text;
    }
    return !b->out_of_memory;
}

static bool resolve_brace(smp_builder *b, smp_scope *scope, const smp_ast_value *from, smp_value *to)
{
    smp_arena *arena = &b->owned->arena;
    const char *written = b->diags->sources[from->span.source].text + from->span.start;
    to->length = from->span.length;
    to->text = smp_arena_strndup(arena, written, to->length);
    if (!to->text)
        return false;
    to->expr = smp_expr_compile(arena, b->diags, from, lookup, &(lookup_context){b, scope}, &b->owned->draws);
    if (!to->expr)
        return !arena->failed && !b->out_of_memory;
    to->kind = SMP_VALUE_EXPR;
    if (!to->expr->constant)
        return true;
    const smp_bounds *outside;
    double value;
    smp_eval result = smp_expr_evaluate(to->expr, &(smp_eval_for){.shape = NULL}, &value, &outside);
    if (result != SMP_EVAL_DONE) {
        smp_expr_report(b->diags, from->span, result, value, outside);
        to->kind = SMP_VALUE_BAD;
        return true;
    }
    to->kind = SMP_VALUE_NUMBER;
    to->number = (smp_quantity){value, to->expr->unit};
    return true;
}

/* A number, or arithmetic of numbers, and a unit. */
static bool is_number(const char *at, const char *end)
{
    while (end > at && (isalpha((unsigned char)end[-1]) || end[-1] == '%'))
        end--;
    return end > at && isdigit((unsigned char)end[-1]) && strspn(at, "+-*/.0123456789eE") >= (size_t)(end - at);
}

/* Whether a word is `8..100%`, a list of two numbers, and not a name with dots. */
static bool is_range(const smp_ast_value *from)
{
    const char *dots = strstr(from->text, "..");
    return dots && is_number(from->text, dots) && is_number(dots + 2, from->text + strlen(from->text));
}

static bool resolve_range(smp_builder *b, const smp_ast_value *from, smp_value *to)
{
    smp_arena *arena = &b->owned->arena;
    uint32_t none = 0;
    const smp_expr *expr = smp_expr_compile(arena, b->diags, from, NULL, NULL, &none);
    smp_value *ends = smp_arena_array(arena, 2, sizeof *ends);
    const smp_bounds *outside;
    if (!expr || !ends)
        return !arena->failed;
    for (int i = 0; i < 2; i++) {
        ends[i] = (smp_value){.kind = SMP_VALUE_NUMBER, .span = from->span, .text = from->text, .length = from->length};
        ends[i].number.unit = expr->unit;
        const smp_eval result = smp_expr_evaluate(expr, &(smp_eval_for){.example = i}, &ends[i].number.value, &outside);
        if (result != SMP_EVAL_DONE) {
            smp_expr_report(b->diags, from->span, result, 0, outside);
            return true;
        }
    }
    to->kind = SMP_VALUE_LIST;
    to->items = ends;
    to->count = 2;
    return true;
}

static bool resolve_list(smp_builder *b, smp_scope *scope, const smp_ast_value *from, smp_value *to)
{
    smp_value *items = smp_arena_array(&b->owned->arena, from->count, sizeof *items);
    if (!items)
        return false;
    to->kind = SMP_VALUE_LIST;
    for (size_t i = 0; i < from->count; i++) {
        if (!smp_resolve(b, scope, &from->items[i], &items[i]))
            return false;
        if (items[i].kind == SMP_VALUE_BAD)
            to->kind = SMP_VALUE_BAD;
    }
    to->items = items;
    to->count = from->count;
    return true;
}

bool smp_resolve(smp_builder *b, smp_scope *scope, const smp_ast_value *from, smp_value *to)
{
    *to = (smp_value){.span = from->span, .text = from->text, .length = from->length, .row = from->row};
    size_t unit_at;
    switch (from->kind) {
    case SMP_AST_BAD:
        return true;
    case SMP_AST_WORD:
        if (!strncmp(from->text, "random(", strlen("random(")))
            return resolve_brace(b, scope, from, to);
        if (is_range(from))
            return resolve_range(b, from, to);
        to->draw = strcmp(from->text, "random") ? 0 : ++b->owned->draws;
        to->kind = smp_quantity_read(from->text, from->length, &to->number, &unit_at) == SMP_NUMBER_OK
                       ? SMP_VALUE_NUMBER
                       : SMP_VALUE_WORD;
        return true;
    case SMP_AST_STRING:
        to->kind = SMP_VALUE_STRING;
        return true;
    case SMP_AST_PARAM:
        return resolve_param(b, scope, from, to);
    case SMP_AST_TAP:
        if (!smp_find_tap(b, scope, from->text, from->span, &to->node))
            return false;
        to->kind = to->node == SMP_NODE_NONE ? SMP_VALUE_BAD : SMP_VALUE_TAP;
        return true;
    case SMP_AST_BRACE:
        return resolve_brace(b, scope, from, to);
    case SMP_AST_LIST:
        return resolve_list(b, scope, from, to);
    }
    return true;
}

const char *smp_scope_default(const smp_scope *scope, const smp_value *value)
{
    if (!value->param || scope->outer)
        return NULL;
    for (size_t i = 0; i < scope->given_count; i++)
        if (!strcmp(scope->givens[i].name, value->param))
            return NULL;
    return value->param;
}

void smp_scope_finish(smp_builder *b, smp_scope *scope)
{
    /* After an error an unused name may be used where the mistake is. */
    bool warn = !b->diags->errors && !b->out_of_memory;
    for (size_t i = 0; warn && i < scope->param_count; i++)
        if (!scope->params[i].used)
            smp_diags_add(b->diags, SMP_WARNING, scope->params[i].span, "parameter '%.60s' is not used",
                          scope->params[i].name);
    for (size_t i = 0; warn && i < scope->tap_count; i++)
        if (!scope->taps[i].used)
            smp_diags_add(b->diags, SMP_WARNING, scope->taps[i].span, "'@%.60s' is not used", scope->taps[i].name);
    smp_free_all(scope->params, scope->taps, scope->givens);
    scope->params = NULL;
    scope->taps = NULL;
    scope->givens = NULL;
}
