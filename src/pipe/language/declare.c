/* `param` statements, and the values that --set and include give them. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "pipe/language/build.h"
#include "pipe/language/lex.h"

/* Attributes of a declaration besides its value. */
typedef struct attributes {
    smp_value min, max;
    const char *help;
    bool has_min, has_max;
} attributes;

static bool is_number(const smp_value *value)
{
    return value->kind == SMP_VALUE_NUMBER || value->kind == SMP_VALUE_EXPR;
}

static smp_unit unit_of(const smp_value *value)
{
    return value->kind == SMP_VALUE_EXPR ? value->expr->unit : value->number.unit;
}

static bool bound(smp_builder *b, smp_scope *scope, const smp_ast_arg *arg, smp_value *value, bool *has)
{
    char text[2 * SMP_SHOWN];
    if (!smp_resolve(b, scope, &arg->value, value))
        return false;
    if (value->kind == SMP_VALUE_NUMBER) {
        *has = true;
    } else if (value->kind != SMP_VALUE_BAD) {
        smp_value_describe(value, text, sizeof text);
        smp_diags_add(b->diags, SMP_ERROR, value->span, "'%s' must be a number, not %s", arg->name, text);
    }
    return true;
}

static bool attribute(smp_builder *b, smp_scope *scope, const smp_ast_arg *arg, attributes *a)
{
    static const char *const known[] = {"min", "max", "help"};
    char shown[SMP_SHOWN];
    if (!arg->name) {
        smp_diags_add(b->diags, SMP_ERROR, arg->value.span,
                      "'param' takes one value; what follows is min=, max= or help=");
        return true;
    }
    bool again = (!strcmp(arg->name, "min") && a->has_min) || (!strcmp(arg->name, "max") && a->has_max) ||
                 (!strcmp(arg->name, "help") && a->help);
    if (again) {
        smp_diags_add(b->diags, SMP_ERROR, arg->name_span, "'%s' is given twice", arg->name);
        return true;
    }
    if (!strcmp(arg->name, "min"))
        return bound(b, scope, arg, &a->min, &a->has_min);
    if (!strcmp(arg->name, "max"))
        return bound(b, scope, arg, &a->max, &a->has_max);
    if (!strcmp(arg->name, "help")) {
        if (arg->value.kind == SMP_AST_STRING || arg->value.kind == SMP_AST_WORD)
            a->help = arg->value.text;
        else if (arg->value.kind != SMP_AST_BAD)
            smp_diags_add(b->diags, SMP_ERROR, arg->value.span, "'help' must be a text in double quotes");
        return true;
    }
    smp_diag *diag = smp_diags_add(b->diags, SMP_ERROR, arg->name_span, "'param' does not know '%s'",
                                   smp_shown(shown, arg->name, arg->name_length));
    const char *near = smp_nearest(arg->name, arg->name_length, known, sizeof known / sizeof known[0]);
    if (near)
        smp_diag_fix(b->diags, diag, "did you mean '%s'?", near);
    smp_diag_note(b->diags, diag, "param takes: min, max, help");
    return true;
}

static bool same_unit(smp_builder *b, const char *name, smp_unit unit, const smp_value *value)
{
    smp_unit other = unit_of(value);
    char text[2 * SMP_SHOWN];
    if (other == SMP_UNIT_NONE || other == unit)
        return true;
    smp_value_describe(value, text, sizeof text);
    smp_diags_add(b->diags, SMP_ERROR, value->span, "'%.60s' is %s, but %s is %s", name, smp_dimension(unit), text,
                  smp_dimension(other));
    return false;
}

/* The unit of a declaration: of its value or, when the value has none, of its bounds. */
static smp_unit declared_unit(const smp_value *value, const attributes *a)
{
    if (is_number(value) && unit_of(value) != SMP_UNIT_NONE)
        return unit_of(value);
    if (a->has_min && unit_of(&a->min) != SMP_UNIT_NONE)
        return unit_of(&a->min);
    return a->has_max ? unit_of(&a->max) : SMP_UNIT_NONE;
}

static void check_bounds(smp_builder *b, const smp_bounds *bounds, smp_value *value)
{
    if (value->kind == SMP_VALUE_EXPR) {
        value->expr = smp_expr_within(&b->owned->arena, value->expr, bounds);
        if (!value->expr)
            value->kind = SMP_VALUE_BAD;
    } else if (value->kind == SMP_VALUE_NUMBER &&
               (value->number.value < bounds->min || value->number.value > bounds->max)) {
        smp_expr_report(b->diags, value->span, SMP_EVAL_BOUNDS, value->number.value, bounds);
        value->kind = SMP_VALUE_BAD;
    }
}

/* The value from --set or an include, which replaces the declared one. */
static bool take_given(smp_builder *b, smp_given *given, smp_value *value)
{
    smp_value_kind declared = value->kind;
    char shown[SMP_SHOWN], text[2 * SMP_SHOWN];
    given->used = true;
    smp_value fresh = given->value;
    const smp_diag_source *source = &b->diags->sources[given->span.source];
    if (given->raw && declared == SMP_VALUE_STRING && source->text[given->at] != '"') {
        /* The shell has removed the quotes. */
        size_t length = source->length - given->at;
        fresh =
            (smp_value){.kind = SMP_VALUE_STRING, .span = {given->span.source, given->at, length}, .length = length};
        fresh.text = smp_arena_strndup(&b->owned->arena, source->text + given->at, length);
        if (!fresh.text)
            return false;
    } else if (given->raw) {
        smp_ast_value parsed;
        if (!smp_ast_parse_value(&b->owned->arena, b->diags, given->span.source, given->at, &parsed) ||
            !smp_resolve(b, NULL, &parsed, &fresh))
            return false;
    }
    bool fits = declared == SMP_VALUE_BAD || fresh.kind == SMP_VALUE_BAD || fresh.kind == declared ||
                declared == SMP_VALUE_WORD || (declared == SMP_VALUE_STRING && fresh.kind == SMP_VALUE_WORD) ||
                (is_number(&fresh) && (declared == SMP_VALUE_NUMBER || declared == SMP_VALUE_EXPR));
    if (!fits || fresh.kind == SMP_VALUE_TAP) {
        static const char *const wants[] = {
            [SMP_VALUE_NUMBER] = "a number", [SMP_VALUE_EXPR] = "a number", [SMP_VALUE_STRING] = "a text",
            [SMP_VALUE_LIST] = "a list",     [SMP_VALUE_WORD] = "a word",
        };
        smp_value_describe(&fresh, text, sizeof text);
        smp_diags_add(b->diags, SMP_ERROR, fresh.span, "'%s' must be %s, not %s",
                      smp_shown(shown, given->name, strlen(given->name)), wants[declared], text);
        fresh.kind = SMP_VALUE_BAD;
    }
    *value = fresh;
    return true;
}

static bool publish(smp_builder *b, const smp_scope_param *param, const char *help)
{
    smp_program *program = b->program;
    if (!smp_grow(&program->params, &program->param_capacity, program->param_count + 1, sizeof *program->params))
        return false;
    smp_arena *arena = &b->owned->arena;
    smp_public_param item = {.span = param->span};
    item.name = smp_arena_strndup(arena, param->name, strlen(param->name));
    item.text = smp_arena_strndup(arena, param->value.text ? param->value.text : "", param->value.length);
    item.help = help ? smp_arena_strndup(arena, help, strlen(help)) : NULL;
    program->params[program->param_count++] = item;
    return item.name && item.text && (item.help || !help);
}

/* Checks the default and the given value against the bounds. */
static bool settle(smp_builder *b, smp_scope *scope, smp_scope_param *param, const attributes *a)
{
    smp_value *value = &param->value;
    smp_unit unit = declared_unit(value, a);
    smp_bounds *bounds = NULL;
    if (a->has_min || a->has_max) {
        if (value->kind != SMP_VALUE_BAD && !is_number(value)) {
            smp_diags_add(b->diags, SMP_ERROR, value->span, "'%.60s' has a min or max, but is not a number",
                          param->name);
            value->kind = SMP_VALUE_BAD;
        }
        bool fits = (!a->has_min || same_unit(b, param->name, unit, &a->min)) &&
                    (!a->has_max || same_unit(b, param->name, unit, &a->max));
        smp_bounds both = {
            .name = param->name, .unit = unit, .min = a->has_min ? a->min.number.value : (double)-INFINITY};
        both.max = a->has_max ? a->max.number.value : (double)INFINITY;
        if (fits && both.min > both.max)
            smp_diags_add(b->diags, SMP_ERROR, a->max.span, "the max of '%.60s' is below its min", param->name);
        else if (fits && !(bounds = smp_arena_copy(&b->owned->arena, &both, sizeof both)))
            return false;
    }
    if (bounds)
        check_bounds(b, bounds, value);
    for (size_t i = 0; i < scope->given_count; i++) {
        smp_given *given = &scope->givens[i];
        if (strcmp(given->name, param->name))
            continue;
        bool numeric = is_number(value) && unit != SMP_UNIT_NONE; /* a default without a unit has no dimension */
        if (!take_given(b, given, value))
            return false;
        if (numeric && is_number(value) && !same_unit(b, param->name, unit, value))
            value->kind = SMP_VALUE_BAD;
        if (bounds)
            check_bounds(b, bounds, value);
    }
    /* A number without a unit, with bounds in px, is a length. */
    if (value->kind == SMP_VALUE_NUMBER && value->number.unit == SMP_UNIT_NONE)
        value->number.unit = unit;
    return !b->owned->arena.failed;
}

bool smp_declare(smp_builder *b, smp_scope *scope, const smp_ast_statement *statement)
{
    if (!statement->arg_count)
        return true; /* it was reported */
    const smp_ast_arg *head = &statement->args[0];
    char shown[SMP_SHOWN];
    smp_shown(shown, head->name, head->name_length);
    if (statement->tap)
        smp_diags_add(b->diags, SMP_ERROR, statement->tap_span, "'param' makes no picture to keep");
    smp_scope_param param = {.name = head->name, .span = head->name_span};
    if (!smp_resolve(b, scope, &head->value, &param.value))
        return false;
    param.value.param = NULL;
    if (param.value.kind == SMP_VALUE_TAP) {
        smp_diags_add(b->diags, SMP_ERROR, param.value.span, "a parameter holds a value, not a picture");
        param.value.kind = SMP_VALUE_BAD;
    }
    attributes a = {0};
    for (size_t i = 1; i < statement->arg_count; i++)
        if (!attribute(b, scope, &statement->args[i], &a))
            return false;
    for (size_t i = 0; i < scope->param_count; i++)
        if (!strcmp(scope->params[i].name, param.name)) {
            smp_diag *diag = smp_diags_add(b->diags, SMP_ERROR, param.span, "parameter '%s' is declared twice", shown);
            if (diag) {
                int line, column;
                smp_diags_locate(b->diags, scope->params[i].span, &line, &column);
                smp_diag_note(b->diags, diag, "line %d declares it already", line);
            }
            return true;
        }
    if (scope->param_count >= SMP_MAX_PARAMS) {
        smp_diags_add(b->diags, SMP_ERROR, param.span, "a text declares at most %d parameters", SMP_MAX_PARAMS);
        return true;
    }
    if (!settle(b, scope, &param, &a) ||
        !smp_grow(&scope->params, &scope->param_capacity, scope->param_count + 1, sizeof param))
        return false;
    scope->params[scope->param_count++] = param;
    return scope->outer || publish(b, &param, a.help);
}

bool smp_give_settings(smp_builder *b, smp_scope *scope, const smp_setting *settings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *name = settings[i].name ? settings[i].name : "",
                   *value = settings[i].value ? settings[i].value : "";
        size_t length = strlen(name);
        char *text = smp_asprintf("%s=%s", name, value), shown[SMP_SHOWN];
        int source = text ? smp_diags_add_source(b->diags, "--set", text, strlen(text)) : -1;
        bool acceptable = source >= 0 && smp_lex_acceptable(text, strlen(text), source, b->diags);
        smp_free(text);
        if (source >= 0 && !acceptable)
            continue;
        smp_given given = {.span = {source, 0, length}, .raw = true, .at = length + 1};
        given.name = smp_arena_strndup(&b->owned->arena, name, length);
        if (source < 0 || !given.name ||
            !smp_grow(&scope->givens, &scope->given_capacity, scope->given_count + 1, sizeof given))
            return false;
        bool twice = false;
        for (size_t j = 0; j < scope->given_count; j++)
            twice |= !strcmp(scope->givens[j].name, name);
        if (twice)
            smp_diags_add(b->diags, SMP_ERROR, given.span, "'%s' is set twice", smp_shown(shown, name, length));
        else
            scope->givens[scope->given_count++] = given;
    }
    return true;
}

void smp_check_givens(smp_builder *b, const smp_scope *scope, const char *where)
{
    const char *names[SMP_MAX_PARAMS];
    char shown[SMP_SHOWN];
    smp_text all = {0};
    for (size_t i = 0; i < scope->param_count; i++) {
        names[i] = scope->params[i].name;
        if (all.length < 200)
            smp_text_print(&all, "%s%.60s", i ? ", " : "", names[i]);
        else if (i + 1 == scope->param_count)
            smp_text_print(&all, ", ...");
    }
    char *list = smp_text_take(&all);
    b->out_of_memory |= !list;
    for (size_t i = 0; list && i < scope->given_count; i++) {
        const smp_given *given = &scope->givens[i];
        size_t length = strlen(given->name);
        if (given->used)
            continue;
        smp_diag *diag = smp_diags_add(b->diags, SMP_ERROR, given->span, "%s has no parameter '%s'", where,
                                       smp_shown(shown, given->name, length));
        const char *near = diag ? smp_nearest(given->name, length, names, scope->param_count) : NULL;
        if (near)
            smp_diag_fix(b->diags, diag, "did you mean '%s'?", near);
        smp_diag_note(b->diags, diag, scope->param_count ? "its parameters: %s" : "it declares no parameters%s", list);
    }
    smp_free(list);
}
