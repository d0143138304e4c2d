/* Finds the parameter of a stage that an argument is for, and what to write if there is none. See build.h. */
#include <string.h>

#include "base/alloc.h"
#include "pipe/language/build.h"

size_t smp_param_count(const smp_stage *stage)
{
    size_t count = 0;
    while (stage->params && stage->params[count].name)
        count++;
    return count;
}

static void note_params(smp_builder *b, smp_diag *diag, const smp_stage *stage)
{
    smp_text text = {0};
    size_t count = smp_param_count(stage);
    if (!diag)
        return;
    smp_text_print(&text, count ? "%s takes: " : "%s takes no parameters", stage->name);
    for (size_t i = 0; i < count; i++)
        smp_text_print(&text, "%s%s", i ? ", " : "", stage->params[i].name);
    char *list = smp_text_take(&text);
    b->out_of_memory |= !list;
    if (list)
        smp_diag_note(b->diags, diag, "%s", list);
    smp_free(list);
}

/* Returns the stage's parameter that other programs call so; null: none. */
static const char *known_key(const smp_stage *stage, const char *word, size_t length)
{
    static const smp_alias rows[] = {{"color colour background bg bordercolor border-color", "fill"},
                                     {"gravity position align corner", "anchor"},
                                     {"with image file second", "by"},
                                     {"dissolve", "opacity"},
                                     {"w", "width"},
                                     {"h", "height"},
                                     {0}};
    const char *name = smp_alias_of(rows, word, length);
    for (size_t i = 0; name && i < smp_param_count(stage); i++)
        if (!strcmp(stage->params[i].name, name))
            return name;
    return NULL;
}

static void unknown_key(smp_builder *b, const smp_stage *stage, const smp_ast_arg *arg)
{
    char shown[SMP_SHOWN];
    smp_diag *diag = smp_diags_add(b->diags, SMP_ERROR, arg->name_span, "unknown parameter '%s' for stage '%s'",
                                   smp_shown(shown, arg->name, arg->name_length), stage->name);
    const char *near = NULL;
    size_t count = smp_param_count(stage);
    if (diag && count) {
        const char **names = smp_alloc_array(count, sizeof *names);
        b->out_of_memory |= !names;
        for (size_t i = 0; names && i < count; i++)
            names[i] = stage->params[i].name;
        near = names ? smp_nearest(arg->name, arg->name_length, names, count) : NULL;
        smp_free(names);
    }
    if (!near)
        near = known_key(stage, arg->name, arg->name_length);
    if (near)
        smp_diag_fix(b->diags, diag, "did you mean '%s'?", near);
    note_params(b, diag, stage);
}

static const smp_param *main_param(const smp_stage *stage)
{
    for (const smp_param *param = stage->params; param && param->name; param++)
        if (param->flags & SMP_P_MAIN)
            return param;
    return NULL;
}

/* The number of a value, from its text alone; false when it is not a number. */
static bool quantity_of(const smp_ast_value *value, smp_quantity *quantity)
{
    size_t unit_at;
    return value->kind == SMP_AST_WORD &&
           smp_quantity_read(value->text, value->length, quantity, &unit_at) == SMP_NUMBER_OK;
}

/* Whether a value may be meant for a parameter. */
static bool may_be_for(const smp_ast_value *value, const smp_param *param)
{
    smp_quantity quantity;
    bool number = quantity_of(value, &quantity);
    if (param->type == SMP_T_ENUM) {
        for (const char *const *choice = param->choices; choice && *choice; choice++)
            if (value->kind == SMP_AST_WORD && !strcmp(*choice, value->text))
                return true;
        return false;
    }
    if (param->type == SMP_T_FLOAT || param->type == SMP_T_INT)
        return number && (quantity.unit == SMP_UNIT_NONE || quantity.unit == param->unit) &&
               ((param->flags & SMP_P_LOUDNESS) || !smp_is_loudness(value->text, value->length));
    return param->type == SMP_T_STRING   ? value->kind == SMP_AST_STRING
           : param->type == SMP_T_MATRIX ? value->kind == SMP_AST_LIST
                                         : false;
}

/* Whether the parameter takes the value; what it says of it is dropped. */
static bool takes(smp_builder *b, const smp_stage *stage, const smp_param *param, const smp_ast_value *written)
{
    smp_diags diags;
    smp_check check = {.diags = &diags, .arena = &b->owned->arena, .all = stage->params};
    smp_builder aside = {.owned = b->owned, .diags = &diags};
    smp_value value;
    smp_field field;
    const bool right = smp_diags_take_sources(&diags, b->diags) && smp_resolve(&aside, NULL, written, &value) &&
                       smp_value_bind(&check, param, &value, &field) != SMP_BOUND_WRONG;
    smp_diags_free(&diags);
    return right;
}

bool smp_main_takes(smp_builder *b, const smp_stage *stage, const smp_ast_value *value)
{
    const smp_param *row = main_param(stage);
    return row && takes(b, stage, row, value);
}

/* The parameter that a value without a name is probably for: the first in the table that takes it and has no value yet;
 * null: none. named: bits of the parameters that were suggested for earlier values. */
static const char *name_for(smp_builder *b, const smp_stage *stage, const smp_node *node, const smp_ast_value *value,
                            uint64_t *named)
{
    enum { BITS = 64 };
    for (size_t i = 0; stage->params && stage->params[i].name && i < BITS; i++) {
        const smp_param *param = &stage->params[i];
        bool taken = (*named >> i) & 1;
        for (size_t k = 0; k < node->argument_count; k++)
            taken |= node->arguments[k].param == param;
        if (taken || !may_be_for(value, param) || !takes(b, stage, param, value))
            continue;
        *named |= UINT64_C(1) << i;
        return param->name;
    }
    return NULL;
}

/* Reports `2 px`: the value before is a number without a unit, and this value is a unit. */
static bool unit_apart(smp_builder *b, const smp_ast_arg *before, const smp_ast_arg *arg)
{
    smp_quantity number, joined;
    if (!before || arg->name || arg->value.kind != SMP_AST_WORD || !quantity_of(&before->value, &number) ||
        number.unit != SMP_UNIT_NONE || !smp_unit_apply(arg->value.text, arg->value.length, number.value, &joined))
        return false;
    char shown[SMP_SHOWN];
    smp_shown(shown, before->value.text, before->value.length);
    smp_diag *diag = smp_diags_add(b->diags, SMP_ERROR, arg->value.span, "no blank between a number and its unit");
    smp_diag_fix(b->diags, diag, "write %s%s%s%s", before->name ? before->name : "", before->name ? "=" : "", shown,
                 arg->value.text);
    return true;
}

/* `median 5 5`: the second number repeats a size that has one for both directions. */
static bool is_for_both(const smp_param *row, const smp_ast_arg *first, const smp_ast_arg *arg)
{
    smp_quantity quantity;
    return row && first && (row->type == SMP_T_INT || row->unit == SMP_UNIT_PX) &&
           quantity_of(&arg->value, &quantity) && first->value.length == arg->value.length &&
           !memcmp(first->value.text, arg->value.text, arg->value.length);
}

const smp_param *smp_row_of_word(const smp_stage *stage, const smp_ast_value *value)
{
    const smp_param *found = NULL, *main = main_param(stage);
    if (main && (main->flags & SMP_P_AUTO) && value->kind == SMP_AST_WORD && !strcmp(value->text, "auto"))
        return NULL;
    for (const smp_param *row = stage->params; row && row->name; row++) {
        if (row->type != SMP_T_ENUM || !may_be_for(value, row))
            continue;
        if (found || row == main)
            return NULL;
        found = row;
    }
    return found;
}

const smp_param *smp_row_for(smp_builder *b, const smp_stage *stage, const smp_node *node, const smp_ast_arg *arg,
                             smp_placed *so_far)
{
    char shown[SMP_SHOWN];
    if (arg->name) {
        for (const smp_param *param = stage->params; param && param->name; param++)
            if (!strcmp(param->name, arg->name))
                return param;
        unknown_key(b, stage, arg);
        return NULL;
    }
    const char *written = b->diags->sources[arg->value.span.source].text + arg->value.span.start;
    smp_shown(shown, written, arg->value.span.length);
    const smp_param *row = main_param(stage), *by_word = smp_row_of_word(stage, &arg->value);
    smp_diag *diag;
    if (by_word)
        return by_word;
    if (unit_apart(b, so_far->before, arg))
        return NULL;
    if (!so_far->positional && row) {
        smp_quantity number; /* where the main parameter is a word */
        char instead[SMP_INSTEAD];
        const char *meant =
            row->type == SMP_T_ENUM && quantity_of(&arg->value, &number) && !may_be_for(&arg->value, row)
                ? name_for(b, stage, node, &arg->value, &so_far->named)
                : NULL;
        so_far->positional = true;
        so_far->main = arg;
        if (!meant)
            return row;
        diag = smp_diags_add(b->diags, SMP_ERROR, arg->value.span, "'%s' is a word, not '%s'", row->name, shown);
        if (smp_write_instead(stage, &arg->value, instead, sizeof instead))
            smp_diag_fix(b->diags, diag, "%s", instead);
        else
            smp_diag_fix(b->diags, diag, "write %s=%s", meant, shown);
        return NULL;
    }
    if (row && so_far->wrong) /* without that this may be right */
        return NULL;
    diag = row ? smp_diags_add(b->diags, SMP_ERROR, arg->value.span, "only one value can stand without a name")
               : smp_diags_add(b->diags, SMP_ERROR, arg->value.span, "stage '%s' takes no value without a name",
                               stage->name);
    if (is_for_both(row, so_far->main, arg)) {
        smp_diag_fix(b->diags, diag, "write %s %s: one value serves both directions", stage->name, shown);
        note_params(b, diag, stage);
        return NULL;
    }
    const char *name = name_for(b, stage, node, &arg->value, &so_far->named);
    if (name)
        smp_diag_fix(b->diags, diag, "write %s=%s", name, shown);
    else if (arg->value.kind == SMP_AST_WORD && smp_names_stage(arg->value.text, arg->value.length))
        smp_diag_fix(b->diags, diag, "%s", smp_own_line(b, arg->value.span.source));
    note_params(b, diag, stage);
    return NULL;
}

const smp_param *smp_node_param_at(const smp_node *node, smp_span value)
{
    const smp_param *found = NULL;
    for (size_t i = 0; i < node->argument_count; i++) {
        const smp_span span = node->arguments[i].value.span;
        if (span.source != value.source || span.start != value.start)
            continue;
        if (found)
            return NULL;
        found = node->arguments[i].param;
    }
    return found;
}
