/* A pipeline's first statement, where it makes what others read (stages/origins/origin.h). See build.h. */
#include <string.h>

#include "pipe/language/build.h"

static const smp_param *row_named(const smp_stage *stage, const char *name)
{
    for (const smp_param *row = stage->params; row && row->name; row++)
        if (!strcmp(row->name, name))
            return row;
    return NULL;
}

/* `silence` and `noise` are stages too: by what is given first, whether it can be the origin's alone. */
static bool is_its_own(smp_builder *b, const smp_stage *origin, const smp_stage *stage,
                       const smp_ast_statement *statement)
{
    const smp_ast_arg *arg = statement->args;
    size_t bare = 0;
    for (size_t i = 0; i < statement->arg_count; i++)
        bare += !arg[i].name;
    if (!statement->arg_count)
        return false;
    if (arg->name)
        return row_named(origin, arg->name) && !row_named(stage, arg->name);
    return (smp_has_form(origin, statement) || (bare == 1 && smp_main_takes(b, origin, &arg->value))) &&
           !smp_main_takes(b, stage, &arg->value);
}

const smp_origin *smp_origin_meant(smp_builder *b, const smp_scope *scope, const smp_ast_statement *statement)
{
    const smp_origin *origin = smp_origin_find(statement->name);
    const smp_stage *stage = smp_catalog_find(statement->name);
    const bool first = !scope->outer && !b->program->origin && !b->program->node_count;
    return origin && first && (!stage || is_its_own(b, &origin->words, stage, statement)) ? origin : NULL;
}

bool smp_keep_origin(smp_builder *b, const smp_origin *origin, const smp_node *node)
{
    void *params = smp_arena_alloc(&b->owned->arena, origin->words.params_size);
    b->program->origin = origin;
    b->program->made_params = params;
    b->program->made_label = node->label;
    for (size_t i = 0; params && i < node->argument_count; i++) {
        const smp_argument *argument = &node->arguments[i];
        if (argument->later)
            smp_diags_add(
                b->diags, SMP_ERROR, argument->value.span,
                "'%s' cannot be drawn, and cannot depend on an input: here is none (a colour is 0 to 1, or a name)",
                argument->param->name);
        smp_field_put(argument->param, &argument->field, params);
    }
    return params != NULL;
}

bool smp_origin_misplaced(smp_builder *b, const smp_ast_statement *statement)
{
    const smp_origin *origin = smp_origin_find(statement->name);
    for (size_t i = 0; !origin && smp_origin_at(i); i++)
        for (smp_other_name other = smp_other_names(&smp_origin_at(i)->words); smp_next_name(&other);)
            if (!strcmp(other.name, statement->name)) {
                smp_diag *diag =
                    smp_diags_add(b->diags, SMP_ERROR, statement->name_span, "unknown stage '%s'", statement->name);
                smp_diag_fix(b->diags, diag, "smempipe calls this, as the first stage: %s", other.say);
                return true;
            }
    if (!origin || smp_catalog_find(statement->name))
        return false;
    smp_diag *diag = smp_diags_add(b->diags, SMP_ERROR, statement->name_span,
                                   "'%s' makes %s from nothing, which a pipeline's first statement alone can",
                                   statement->name, smp_kind_words(origin->words.domain));
    smp_diag_fix(b->diags, diag, "write it to a file, which another stage names: by=\"FILE\"");
    return true;
}
