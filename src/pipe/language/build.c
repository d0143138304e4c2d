/* Parses a pipeline: text to statements to nodes. Collects all mistakes. See program.h. */

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "pipe/language/build.h"
#include "pipe/language/lex.h"

void smp_program_free(smp_program *program)
{
    if (!program)
        return;
    smp_owned *owned = program->owned;
    if (owned) {
        for (smp_kept *kept = atomic_load(&owned->kept), *next; kept; kept = next) {
            next = kept->next;
            smp_free(kept);
        }
        smp_arena_free(&owned->arena);
        smp_free(owned);
    }
    smp_free_all(program->nodes, program->saves);
    for (size_t i = 0; i < program->file_count; i++)
        smp_free(program->files[i].beneath.name);
    smp_free(program->files);
    smp_roots_free(&program->roots);
    smp_free_all(program->params, program);
}

/* Warns of branches whose result is not used: they are computed for nothing. */
static void warn_of_dead_ends(smp_builder *b)
{
    const smp_program *program = b->program;
    for (size_t i = 0; i < program->node_count; i++) {
        const smp_node *node = &program->nodes[i];
        bool measures = node->stage && (node->stage->access == SMP_REDUCE || smp_stage_partials(node->stage));
        if (!b->infos[i].used && !b->infos[i].tapped && !measures && program->output != (int)i)
            smp_diags_add(b->diags, SMP_WARNING, node->span, "the result of '%s' is not used", node->stage->name);
    }
}

static bool build(smp_builder *b, int source, const smp_setting *settings, size_t setting_count)
{
    smp_ast ast = {0};
    const smp_diag_source *text = &b->diags->sources[source];
    smp_scope scope = {.source = source, .ast = &ast, .input = SMP_NODE_INPUT, .current = SMP_NODE_INPUT};
    b->program->output = SMP_NODE_INPUT;
    b->text_bytes = text->length;
    if (!smp_lex_acceptable(text->text, text->length, source, b->diags))
        return true;
    bool done = smp_ast_parse(&b->owned->arena, b->diags, source, &ast) &&
                smp_give_settings(b, &scope, settings, setting_count) && smp_bind_statements(b, &scope);
    if (done) {
        smp_check_givens(b, &scope, "this pipeline");
        smp_check_from(b, &scope, (smp_span){.source = source});
        b->program->output = scope.current;
        b->program->draws = b->owned->draws;
        if (!b->diags->errors && !b->out_of_memory)
            warn_of_dead_ends(b);
    }
    smp_scope_finish(b, &scope);
    return done;
}

smp_code smp_program_parse(const char *name, const char *text, size_t length, const smp_setting *settings,
                           size_t setting_count, smp_loader *loader, void *context, smp_diags *diags, smp_program **out,
                           smp_error *err)
{
    *out = NULL;
    smp_code code = SMP_OK;
    int errors = diags->errors;
    size_t first = diags->count;
    smp_builder b = {.diags = diags, .loader = loader, .context = context};
    b.program = smp_alloc(sizeof *b.program);
    b.owned = smp_alloc(sizeof *b.owned);
    int source = -1;
    if (b.owned)
        b.owned->arena.limit = SMP_MAX_MEMORY;
    if (b.program && b.owned)
        source = smp_diags_add_source(diags, name, text, length);
    bool done = source >= 0 && build(&b, source, settings, setting_count);
    if (b.program)
        b.program->owned = b.owned;
    if (b.owned && b.owned->arena.full)
        code = smp_fail(err, SMP_E_LIMIT, "the pipeline '%s' needs more than %d MiB by itself", name,
                        SMP_MAX_MEMORY >> 20);
    else if (!done || b.out_of_memory || diags->out_of_memory || b.owned->arena.failed)
        code = smp_fail_memory(err, "pipeline", length);
    else if (diags->errors > errors)
        code = smp_fail(err, SMP_E_PIPE, "%d error%s in '%s'", diags->errors - errors,
                        diags->errors - errors == 1 ? "" : "s", name);
    smp_diags_sort(diags, first);
    smp_free_all(b.infos, b.files);
    if (!b.program)
        smp_free(b.owned);
    if (code)
        smp_program_free(b.program);
    else
        *out = b.program;
    return code;
}

smp_code smp_program_parse_lines(const char *const *lines, size_t count, const smp_setting *settings,
                                 size_t setting_count, smp_loader *loader, void *context, smp_diags *diags,
                                 smp_program **out, smp_error *err)
{
    *out = NULL;
    smp_text text = {0};
    for (size_t i = 0; i < count; i++) {
        smp_text_put(&text, lines[i], strlen(lines[i]));
        smp_text_put(&text, "\n", 1);
    }
    size_t length = text.length;
    char *all = smp_text_take(&text);
    SMP_NEED(all, "pipeline", length, err);
    const char *name = diags->around && diags->around->lines_name ? diags->around->lines_name : "-e";
    smp_code code = smp_program_parse(name, all, length, settings, setting_count, loader, context, diags, out, err);
    smp_free(all);
    return code;
}

smp_code smp_program_measures(const smp_program *program, smp_error *err)
{
    for (size_t i = 0; i < program->node_count; i++) {
        const smp_reduction_ops *ops = program->nodes[i].stage->reduction;
        if (ops && (!ops->prepass || program->nodes[i].prepass))
            return SMP_OK;
    }
    char names[400] = "";
    for (size_t i = 0, used = 0; i < smp_stage_count(); i++)
        if (smp_stage_at(i)->access == SMP_REDUCE && used < sizeof names)
            used +=
                (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", smp_stage_at(i)->name);
    smp_fail(err, SMP_E_PIPE, "the pipeline measures nothing");
    return smp_hint(err, "add a stage that does: %s", names);
}

static bool is_known(const smp_node *node)
{
    for (size_t i = 0; i < node->argument_count; i++)
        if (node->arguments[i].later)
            return false;
    return true;
}

/* Calls the stage's examine, or prepare. */
static smp_code ask_stage(const smp_node *node, smp_code (*ask)(const void *params, smp_error *err), smp_error *err)
{
    void *params = smp_alloc(node->stage->params_size);
    SMP_NEED(params, "parameters", node->stage->params_size, err);
    for (size_t i = 0; i < node->argument_count; i++)
        smp_field_put(node->arguments[i].param, &node->arguments[i].field, params);
    const smp_code code = ask(params, err);
    smp_free(params);
    return code;
}

smp_code smp_program_examine(const smp_program *program, bool lenient, smp_diags *diags, smp_error *err)
{
    smp_code first = SMP_OK;
    for (size_t i = 0; i < program->node_count; i++) {
        const smp_node *node = &program->nodes[i];
        smp_error why = {.code = SMP_OK};
        const smp_stage *stage = node->stage;
        if (!(stage->prepare && ask_stage(node, stage->prepare, &why)) &&
            !(stage->examine && is_known(node) && ask_stage(node, stage->examine, &why)))
            continue;
        if (why.code == SMP_E_MEMORY) {
            *err = why;
            return SMP_E_MEMORY;
        }
        const bool error = why.code != SMP_E_DEVICE || !lenient;
        smp_diag *diag = smp_diags_add(diags, error ? SMP_ERROR : SMP_WARNING, node->span, "%s%s",
                                       error ? "" : "not looked into: ", why.message);
        if (why.hint[0])
            smp_diag_note(diags, diag, "%s", why.hint);
        if (error)
            first = smp_fail(err, SMP_E_PIPE, "%s", why.message);
    }
    return first;
}
