/* Parameter structs for an input of a given shape, from a node's arguments or from defaults alone. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "pipe/language/build.h"

/* Keeps a matrix computed for a shape for as long as the program lives. An equal one is reused, so that a batch of
 * equal pictures adds nothing. Threads may call this at once: the list only grows. */
static bool keep_matrix(smp_owned *owned, smp_matrix *matrix)
{
    size_t bytes = (size_t)matrix->rows * (size_t)matrix->cols * sizeof(double);
    for (smp_kept *kept = atomic_load(&owned->kept); kept; kept = kept->next)
        if (kept->matrix.rows == matrix->rows && kept->matrix.cols == matrix->cols &&
            !memcmp(kept->matrix.values, matrix->values, bytes)) {
            *matrix = kept->matrix;
            return true;
        }
    enum { HEAD = (sizeof(smp_kept) + SMP_ALIGN - 1) / SMP_ALIGN * SMP_ALIGN };
    smp_kept *fresh = smp_alloc(HEAD + bytes);
    if (!fresh)
        return false;
    double *values = (double *)(void *)((char *)fresh + HEAD);
    memcpy(values, matrix->values, bytes);
    matrix->values = values;
    fresh->matrix = *matrix;
    fresh->next = atomic_load(&owned->kept);
    while (!atomic_compare_exchange_weak(&owned->kept, &fresh->next, fresh))
        ;
    return true;
}

static smp_code instance_failed(const smp_diags *diags, size_t before, const smp_node *node, smp_error *err)
{
    int line, column;
    if (diags->count <= before)
        return smp_fail(err, SMP_E_PIPE, "stage '%s' has wrong parameters for this input", node->stage->name);
    const smp_diag *diag = &diags->items[before];
    smp_fail(err, SMP_E_PIPE, "%s", diag->message);
    if (diag->span.source >= 0 && (size_t)diag->span.source < diags->source_count) {
        smp_diags_locate(diags, diag->span, &line, &column);
        smp_at(err, "%s:%d:%d", diags->sources[diag->span.source].name, line, column);
    }
    return SMP_E_PIPE;
}

static const smp_draw first_draw;

smp_code smp_node_params(const smp_program *program, const smp_node *node, const smp_shape *in, const smp_draw *draw,
                         smp_diags *diags, void *params, smp_error *err)
{
    smp_diags own = {0};
    smp_diags *to = diags ? diags : &own;
    smp_arena arena = {0};
    smp_owned *owned = program->owned;
    smp_check check = {.diags = to, .arena = &arena, .shape = in, .draw = draw ? draw : &first_draw};
    smp_code code = SMP_OK;
    size_t before = to->count;
    bool wrong = false;
    if (node->stage->params_size)
        memset(params, 0, node->stage->params_size);
    for (size_t i = 0; i < node->argument_count; i++) {
        const smp_argument *argument = &node->arguments[i];
        smp_field field = argument->field;
        if (argument->later) {
            smp_value value = argument->value;
            if (value.span.source < 0)
                value.span = node->span; /* a default has no place: use the stage's name */
            if (smp_value_bind(&check, argument->param, &value, &field) != SMP_BOUND_DONE)
                wrong = true;
            else if (argument->param->type == SMP_T_MATRIX && !keep_matrix(owned, &field.matrix))
                arena.failed = true;
        }
        if (!wrong && !arena.failed)
            smp_field_put(argument->param, &field, params);
    }
    if (arena.failed || to->out_of_memory)
        code = smp_fail_memory(err, "parameters", node->stage->params_size);
    else if (wrong)
        code = instance_failed(to, before, node, err);
    smp_arena_free(&arena);
    smp_diags_free(&own);
    return code;
}

static bool is_drawn(const smp_value *value)
{
    bool drawn = value->draw || (value->kind == SMP_VALUE_EXPR && value->expr->random);
    for (size_t i = 0; value->kind == SMP_VALUE_LIST && i < value->count; i++)
        drawn |= is_drawn(&value->items[i]);
    return drawn;
}

bool smp_node_draws(const smp_node *node)
{
    for (size_t i = 0; i < node->argument_count; i++)
        if (node->arguments[i].later && is_drawn(&node->arguments[i].value))
            return true;
    return false;
}

char *smp_node_drawn_text(const smp_node *node, const void *params)
{
    smp_text text = {0};
    for (size_t i = 0; i < node->argument_count; i++) {
        const smp_param *param = node->arguments[i].param;
        const smp_field field = smp_field_get(param, params);
        if (!node->arguments[i].later || !is_drawn(&node->arguments[i].value))
            continue;
        smp_text_print(&text, "%s%s=", text.length ? " " : "", param->name);
        smp_field_text(&text, param, &field);
    }
    return smp_text_take(&text);
}

smp_code smp_node_is_left_out(const smp_node *node, const smp_shape *in, const smp_draw *draw, smp_diags *diags,
                              bool *left, smp_error *err)
{
    smp_diags own = {0};
    smp_check check = {.diags = diags ? diags : &own, .shape = in, .draw = draw ? draw : &first_draw};
    const size_t before = check.diags->count;
    smp_code code = SMP_OK;
    *left = false;
    if (node->chance) {
        smp_field chance = node->chance->field;
        if (node->chance->later &&
            smp_value_bind(&check, node->chance->param, &node->chance->value, &chance) != SMP_BOUND_DONE)
            code = instance_failed(check.diags, before, node, err);
        *left = smp_draw_uniform(check.draw, node->chance_draw) >= chance.number;
    }
    smp_diags_free(&own);
    return code;
}

smp_code smp_default_params(const smp_stage *stage, void *params, smp_error *err)
{
    smp_code code = SMP_OK;
    if (stage->params_size)
        memset(params, 0, stage->params_size);
    for (const smp_param *param = stage->params; param && param->name && !code; param++) {
        if (!param->fallback)
            continue;
        smp_arena arena = {0};
        smp_argument argument = {0};
        bool quoted = param->type == SMP_T_STRING && param->fallback[0] == '"';
        if (!smp_bind_default(&arena, stage, param, &argument, err))
            code = err ? err->code : SMP_E_PROCESS;
        else if (argument.later || param->type == SMP_T_MATRIX || quoted)
            code = smp_fail(err, SMP_E_PROCESS, "stage '%s': the default of '%s' lives in a program; parse one",
                            stage->name, param->name);
        else if (param->type == SMP_T_STRING)
            argument.field.string = param->fallback;
        if (!code)
            smp_field_put(param, &argument.field, params);
        smp_arena_free(&arena);
    }
    return code;
}

static int64_t shrink_integer(const smp_param *param, int64_t value, double by)
{
    const int64_t small = (int64_t)floor((double)value * by + 0.5) | (param->flags & SMP_P_ODD ? 1 : 0);
    if (value == INT64_MIN) /* auto */
        return value;
    return param->min < param->max && (double)small < param->min ? (int64_t)param->min : small;
}

static bool shrink_field(smp_arena *arena, const smp_param *param, smp_field *field, double by)
{
    if (param->type == SMP_T_INT)
        field->integer = shrink_integer(param, field->integer, by);
    else if (param->type == SMP_T_FLOAT)
        field->number *= by;
    else if (param->type == SMP_T_MATRIX) {
        const size_t count = (size_t)field->matrix.rows * (size_t)field->matrix.cols;
        double *values = smp_arena_array(arena, count, sizeof *values);
        for (size_t i = 0; values && i < count; i++)
            values[i] = field->matrix.values[i] * by;
        field->matrix.values = values;
        return values || !count;
    }
    return true;
}

bool smp_program_shrink(smp_program *program, double by)
{
    smp_owned *owned = program->owned;
    for (size_t n = 0; n < program->node_count; n++) {
        const smp_node *node = &program->nodes[n];
        if (smp_stage_is(node->stage, SMP_TRAIT_PIXELS))
            return false;
        for (size_t i = 0; i < node->argument_count; i++) {
            smp_argument *argument = &node->arguments[i];
            /* Corners of a warp, for instance, which was given them. */
            const bool places = node->stage->access == SMP_WHOLE && argument->param->type == SMP_T_MATRIX &&
                                argument->param->unit == SMP_UNIT_NONE && argument->value.span.source >= 0;
            if (argument->later ? argument->value.kind != SMP_VALUE_NUMBER : places)
                return false;
            if (!argument->later && argument->param->unit == SMP_UNIT_PX &&
                !shrink_field(&owned->arena, argument->param, &argument->field, by))
                return false;
        }
    }
    return !program->file_count;
}
