/* Binds stage statements: finds the stage, checks the arguments against its parameter table, adds the node. */
#include <string.h>

#include "base/alloc.h"
#include "pipe/language/build.h"
#include "pipe/values/color.h"

/* The diagnostic about a value; null: there is none. */
static smp_diag *last_about(const smp_builder *b, const smp_value *value)
{
    smp_diag *last = b->diags->count ? &b->diags->items[b->diags->count - 1] : NULL;
    const bool about = last && last->span.source == value->span.source && last->span.start == value->span.start;
    return about && !value->param ? last : NULL;
}

/* The same, unless it says what to write already. */
static smp_diag *unmended(const smp_builder *b, const smp_value *value)
{
    smp_diag *last = last_about(b, value);
    return last && !last->fix ? last : NULL;
}

/* `sigma=size` where a parameter `size` exists: a $ is missing. Adds that to the diagnostic about the value. */
static void suggest_dollar(smp_builder *b, const smp_scope *scope, const smp_value *value)
{
    smp_diag *last = unmended(b, value);
    if (!last || value->kind != SMP_VALUE_WORD)
        return;
    for (size_t i = 0; i < scope->param_count; i++)
        if (!strcmp(scope->params[i].name, value->text))
            smp_diag_fix(b->diags, last, "did you mean '$%s'?", value->text);
}

/* A value that the main parameter refuses: what the stage says to write instead counts. */
static void suggest_instead(smp_builder *b, const smp_stage *stage, const smp_param *row, const smp_value *value)
{
    char text[SMP_INSTEAD];
    smp_diag *last = last_about(b, value);
    const bool plain = value->kind == SMP_VALUE_WORD || value->kind == SMP_VALUE_NUMBER;
    const smp_ast_value written = {.kind = SMP_AST_WORD, .text = value->text, .length = value->length};
    if (last && plain && (row->flags & SMP_P_MAIN) && smp_write_instead(stage, &written, text, sizeof text))
        smp_diag_fix(b->diags, last, "%s", text);
}

/* Finds or adds a file that the program reads: its number and its path. False: out of memory. */
static bool bind_file(smp_builder *b, const smp_scope *scope, const smp_value *value, size_t *number,
                      const char **where)
{
    smp_program *program = b->program;
    size_t at = 0;
    int source = value->span.source;
    for (size_t i = 0; value->param && i < scope->param_count; i++)
        if (!strcmp(scope->params[i].name, value->param))
            source = scope->params[i].value.span.source;
    /* relative to the text that it was written in: from --set, to where the command runs */
    const char *path = smp_join_path(&b->owned->arena, b->diags->sources[source].name, value->text);
    if (!path)
        return false;
    while (at < program->file_count && strcmp(program->files[at].path, path) != 0)
        at++;
    if (at == program->file_count) {
        if (!smp_grow(&program->files, &program->file_capacity, at + 1, sizeof *program->files))
            return false;
        program->files[program->file_count++] = (smp_operand_file){
            .path = path, .span = value->span, .source = source, .setting = smp_scope_default(scope, value)};
    }
    *number = at;
    *where = program->files[at].path;
    return true;
}

bool smp_bind_file(smp_builder *b, const smp_scope *scope, const smp_value *value, int *second)
{
    size_t number = 0;
    const char *path;
    const bool found = bind_file(b, scope, value, &number, &path);
    *second = SMP_NODE_FILE - (int)number;
    return found;
}

static bool is_given_twice(smp_builder *b, const smp_stage *stage, const smp_node *node, const smp_param *row,
                           const smp_ast_arg *arg)
{
    for (size_t i = 0; i < node->argument_count; i++)
        if (node->arguments[i].param == row) {
            smp_diag *diag = smp_diags_add(b->diags, SMP_ERROR, arg->name ? arg->name_span : arg->value.span,
                                           "'%s' is given twice", row->name);
            if (row->flags & SMP_P_MAIN)
                smp_diag_note(b->diags, diag, "a value without a name is '%s' of stage '%s'", row->name, stage->name);
            return true;
        }
    return false;
}

static smp_bound bind_value(smp_builder *b, const smp_scope *scope, const smp_stage *stage, const smp_param *row,
                            smp_argument *argument)
{
    smp_check check = {.diags = b->diags, .arena = &b->owned->arena, .all = stage->params};
    for (const smp_param *other = stage->params; other && other->name; other++)
        if (other->flags & SMP_P_LOUDNESS)
            check.loudness = other->name;
    const smp_bound bound = smp_value_bind(&check, row, &argument->value, &argument->field);
    argument->later = bound == SMP_BOUND_LATER;
    if (bound == SMP_BOUND_WRONG) {
        suggest_dollar(b, scope, &argument->value);
        suggest_instead(b, stage, row, &argument->value);
        smp_diag *last = unmended(b, &argument->value);
        if (last)
            smp_mend_value(b, stage, row, &argument->value, last);
    }
    return bound;
}

/* A tap or a file becomes the node's second input. False: out of memory. */
static bool bind_second(smp_builder *b, const smp_scope *scope, smp_node *node, const smp_ast_arg *arg,
                        const smp_value *value, smp_bound bound)
{
    const bool tap = value->kind == SMP_VALUE_TAP, file = value->kind == SMP_VALUE_STRING && bound == SMP_BOUND_DONE;
    const bool more = (tap || file) && node->second != SMP_NODE_NONE;
    if (more)
        smp_diags_add(b->diags, SMP_ERROR, arg->value.span, "a stage takes at most one other picture");
    if (file && !more)
        return smp_bind_file(b, scope, value, &node->second);
    if (!tap)
        return true;
    smp_kind here = smp_kind_of(b, node->input), there = smp_kind_of(b, value->node);
    if (!more && here != SMP_KIND_NONE && there != SMP_KIND_NONE && here != there)
        smp_diags_add(b->diags, SMP_ERROR, arg->value.span, "'@%.60s' is %s, but '%s' is given %s", value->text,
                      smp_kind_words(there), node->stage->name, smp_kind_words(here));
    node->second = value->node;
    if (node->second >= 0)
        b->infos[node->second].used = true;
    return true;
}

/* probability=50%, which every stage takes that gives what it is given. False: out of memory. */
static bool bind_chance(smp_builder *b, smp_scope *scope, const smp_stage *stage, smp_node *node,
                        const smp_ast_arg *arg)
{
    static const smp_param row = {SMP_PROBABILITY, 0, SMP_T_FLOAT, SMP_UNIT_FRACTION, 0, 1, NULL, NULL, NULL, 0};
    smp_argument argument = {.param = &row};
    if (!smp_resolve(b, scope, &arg->value, &argument.value))
        return false;
    if (node->chance || smp_stage_gives(stage)) {
        smp_diags_add(b->diags, SMP_ERROR, arg->name_span,
                      node->chance ? "'%s' is given twice" : "'%s' is for stages that give what they are given",
                      SMP_PROBABILITY);
        return true;
    }
    bind_value(b, scope, stage, &row, &argument);
    node->chance = smp_arena_copy(&b->owned->arena, &argument, sizeof argument);
    node->chance_draw = ++b->owned->draws;
    return node->chance;
}

/* A `$x` or a bad item in a list counts as an answer: its mistake was reported. */
static bool bind_argument(smp_builder *b, smp_scope *scope, const smp_stage *stage, smp_node *node,
                          const smp_param *row, const smp_ast_arg *arg)
{
    smp_arena *arena = &b->owned->arena;
    smp_argument argument = {.param = row};
    if (!smp_resolve(b, scope, &arg->value, &argument.value))
        return false;
    if (!row || is_given_twice(b, stage, node, row, arg))
        return true;
    if (row->type == SMP_T_MATRIX && argument.value.kind == SMP_VALUE_STRING &&
        !smp_load_numbers(b, scope, &argument.value))
        return false;
    const smp_bound bound = bind_value(b, scope, stage, row, &argument);
    if (row->type == SMP_T_OPERAND && !bind_second(b, scope, node, arg, &argument.value, bound))
        return false;
    size_t number;
    const bool file = (row->flags & SMP_P_FILE) && bound == SMP_BOUND_DONE;
    if (file && !((row->flags & SMP_P_NAMED) && !strpbrk(argument.value.text, "./"))) {
        if (!bind_file(b, scope, &argument.value, &number, &argument.field.string))
            return false;
        b->program->files[number].foreign = stage->examine != NULL;
    }
    if (row->type == SMP_T_STRING && !strcmp(row->name, "name") && argument.field.string) {
        node->name = smp_arena_strndup(arena, argument.field.string, strlen(argument.field.string));
        if (!node->name)
            return false;
    }
    node->arguments[node->argument_count++] = argument;
    return !arena->failed;
}

bool smp_bind_default(smp_arena *arena, const smp_stage *stage, const smp_param *param, smp_argument *argument,
                      smp_error *err)
{
    /* Parses a default, which is written as in a pipe file. Its mistakes are the program's own. */
    smp_diags diags = {0};
    smp_owned owned = {.arena = *arena};
    smp_builder b = {.owned = &owned, .diags = &diags};
    smp_check check = {.diags = &diags, .arena = &owned.arena};
    smp_ast_value parsed;
    smp_bound bound = SMP_BOUND_WRONG;
    int source = smp_diags_add_source(&diags, stage->name, param->fallback, strlen(param->fallback));
    *argument = (smp_argument){.param = param};
    if (source >= 0 && smp_ast_parse_value(&owned.arena, &diags, source, 0, &parsed) &&
        smp_resolve(&b, NULL, &parsed, &argument->value))
        bound = smp_value_bind(&check, param, &argument->value, &argument->field);
    argument->later = bound == SMP_BOUND_LATER;
    argument->value.span = (smp_span){.source = -1}; /* it is in no text of the user's */
    *arena = owned.arena;
    smp_code code = SMP_OK;
    if (diags.out_of_memory || b.out_of_memory || arena->failed)
        code = smp_fail_memory(err, "pipeline", strlen(param->fallback));
    else if (bound == SMP_BOUND_WRONG)
        code = smp_fail(err, SMP_E_PROCESS, "stage '%s': the default of '%s', '%s', is wrong: %s", stage->name,
                        param->name, param->fallback, diags.count ? diags.items[0].message : "it cannot be used");
    smp_diags_free(&diags);
    return code == SMP_OK;
}

/* strayed: an argument fits no parameter, so a missing one may be a consequence. kind: of what the stage is probably
 * given. */
static bool bind_defaults(smp_builder *b, const smp_ast_statement *statement, const smp_stage *stage, bool strayed,
                          smp_kind kind, smp_node *node)
{
    char domain[400];
    smp_error err;
    size_t given = node->argument_count;
    for (const smp_param *param = stage->params; param && param->name; param++) {
        bool has = false;
        for (size_t i = 0; i < given; i++)
            has |= node->arguments[i].param == param;
        if (has)
            continue;
        if (param->flags & SMP_P_REQUIRED) {
            const char *other = kind && !(stage->domain & kind) ? smp_meant_for(kind, stage->name) : NULL;
            if (statement->broken || strayed)
                continue;
            if (other) {
                smp_diag *wrong = smp_diags_add(b->diags, SMP_ERROR, statement->name_span, "stage '%s' works on %s",
                                                stage->name, smp_kind_words(stage->domain));
                smp_diag_fix(b->diags, wrong, "for %s: %s", kind == SMP_IMAGE ? "pictures" : "sound", other);
                continue;
            }
            smp_param_domain(param, domain, sizeof domain);
            smp_diag *diag = smp_diags_add(b->diags, SMP_ERROR, statement->name_span, "stage '%s' needs '%s'",
                                           stage->name, param->name);
            if (stage->example && strcmp(stage->example, stage->name) != 0)
                smp_diag_fix(b->diags, diag, "as in `%s`", stage->example);
            smp_diag_note(b->diags, diag, "%s: %s; %s", param->name, param->help ? param->help : "", domain);
            continue;
        }
        if (!param->fallback)
            continue;
        if (!smp_bind_default(&b->owned->arena, stage, param, &node->arguments[node->argument_count], &err)) {
            if (err.code != SMP_E_PROCESS)
                return false;
            smp_diags_add(b->diags, SMP_ERROR, statement->name_span, "%s", err.message);
            continue;
        }
        node->argument_count++;
    }
    return true;
}

/* The statement as written, for reports. Comments and continued lines become one blank, and short values replace
 * $parameters. */
static char *make_label(smp_builder *b, const smp_scope *scope, smp_span span)
{
    enum { VALUE_MOST = 32 };
    const char *from = b->diags->sources[span.source].text + span.start;
    size_t n = 0, room = span.length + 1;
    for (size_t i = 0; i < span.length; i++)
        room += from[i] == '$' ? VALUE_MOST : 0;
    char *label = smp_arena_alloc(&b->owned->arena, room);
    if (!label)
        return NULL;
    bool quoted = false, gap = false;
    for (size_t i = 0; i < span.length; i++) {
        char c = from[i];
        if (!quoted && c == '#' && !smp_color_length(from + i, span.length - i)) {
            while (i < span.length && from[i] != '\n')
                i++;
            gap = true;
            continue;
        }
        if (!quoted && (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\\')) {
            gap = true;
            continue;
        }
        if (gap && n)
            label[n++] = ' ';
        gap = false;
        if (!quoted && c == '$') {
            size_t length;
            const smp_value *value = smp_scope_value(scope, from + i + 1, span.length - i - 1, &length);
            if (value && value->length <= VALUE_MOST &&
                (value->kind == SMP_VALUE_NUMBER || value->kind == SMP_VALUE_WORD)) {
                memcpy(label + n, value->text, value->length);
                n += value->length;
                i += length;
                continue;
            }
        }
        if (quoted && c == '\\' && i + 1 < span.length) {
            label[n++] = c;
            c = from[++i];
        } else if (c == '"') {
            quoted = !quoted;
        }
        label[n++] = c;
    }
    return label;
}

static void check_kind(smp_builder *b, const smp_ast_statement *statement, const smp_stage *stage, smp_kind kind)
{
    if (kind == SMP_KIND_NONE || (stage->domain & kind))
        return;
    smp_diags_add(b->diags, SMP_ERROR, statement->name_span, "stage '%s' works on %s, but is given %s", stage->name,
                  smp_kind_words(stage->domain), smp_kind_words(kind));
}

static smp_kind kind_after(const smp_stage *stage, smp_kind in)
{
    if (!stage)
        return SMP_KIND_NONE;
    if (smp_stage_gives(stage) != SMP_KIND_NONE)
        return smp_stage_gives(stage);
    if (in != SMP_KIND_NONE && (stage->domain & in))
        return in;
    return stage->domain == SMP_IMAGE || stage->domain == SMP_AUDIO ? stage->domain : SMP_KIND_NONE;
}

static size_t error_count(const smp_diags *diags)
{
    size_t errors = 0;
    for (size_t i = 0; i < diags->count; i++)
        errors += diags->items[i].severity == SMP_ERROR;
    return errors;
}

/* Checks the parameters together, and asks whether they want a prepass. Checks that need the input's shape come with
 * the plan. */
static bool check_together(smp_builder *b, const smp_ast_statement *statement, smp_node *node)
{
    const smp_stage *stage = node->stage;
    bool (*prepass)(const void *) = stage->reduction ? stage->reduction->prepass : NULL;
    node->prepass = prepass != NULL;
    for (size_t i = 0; i < node->argument_count; i++)
        if (node->arguments[i].later)
            return true;
    void *params = smp_arena_alloc(&b->owned->arena, stage->params_size);
    if (!params)
        return false;
    memset(params, 0, stage->params_size);
    for (size_t i = 0; i < node->argument_count; i++)
        smp_field_put(node->arguments[i].param, &node->arguments[i].field, params);
    smp_error err = {.code = SMP_OK};
    node->prepass = prepass && prepass(params);
    if (stage->check && stage->check(params, &err)) {
        smp_diag *diag = smp_diags_add(b->diags, SMP_ERROR, statement->name_span, "%s", err.message);
        if (err.hint[0])
            smp_diag_note(b->diags, diag, "%s", err.hint);
    }
    return true;
}

/* *strayed: there is no parameter for it. False: out of memory. */
static bool bind_one(smp_builder *b, smp_scope *scope, bool origin, smp_node *node, const smp_ast_arg *arg,
                     smp_placed *so_far, bool *strayed)
{
    const smp_stage *stage = node->stage;
    if (stage && !origin && arg->name && !strcmp(arg->name, SMP_PROBABILITY))
        return bind_chance(b, scope, stage, node, arg);
    const size_t errors = error_count(b->diags);
    const smp_param *row = stage ? smp_row_for(b, stage, node, arg, so_far) : NULL;
    so_far->before = arg;
    *strayed |= !row;
    /* Even without a parameter the value is looked up: its names are in use, or wrong. */
    const bool bound = bind_argument(b, scope, stage, node, row, arg);
    so_far->wrong |= error_count(b->diags) > errors;
    return bound;
}

bool smp_bind_stage(smp_builder *b, smp_scope *scope, const smp_ast_statement *statement)
{
    smp_program *program = b->program;
    const smp_origin *origin = smp_origin_meant(b, scope, statement);
    const smp_stage *stage = origin ? &origin->words : smp_catalog_find(statement->name);
    if (program->node_count >= SMP_MAX_NODES) {
        smp_diags_add(b->diags, SMP_ERROR, statement->name_span, "a pipeline has at most %d stages", SMP_MAX_NODES);
        b->full = true;
        return true;
    }
    const smp_kind in = smp_kind_of(b, scope->current),
                   given = in != SMP_KIND_NONE || !b->diags->around ? in : b->diags->around->input;
    if (!stage && !smp_unknown_stage(b, statement, given))
        return false;
    smp_node node = {.stage = stage, .input = scope->current, .second = SMP_NODE_NONE, .light = scope->light};
    node.span = statement->name_span;
    node.label = make_label(b, scope, statement->span);
    size_t rows = stage ? smp_param_count(stage) : 0;
    node.arguments = smp_arena_array(&b->owned->arena, rows + 1, sizeof *node.arguments);
    if (!node.label || !node.arguments)
        return false;
    smp_placed so_far = {0};
    bool strayed = false;
    const size_t errors = error_count(b->diags);
    smp_ast_arg *args = statement->args;
    size_t arg_count = statement->arg_count;
    if (stage && !smp_name_values(b, stage, given, &args, &arg_count, &strayed))
        return false;
    for (size_t i = 0; i < arg_count; i++)
        if (!bind_one(b, scope, origin != NULL, &node, &args[i], &so_far, &strayed))
            return false;
    if (stage) {
        if (!bind_defaults(b, statement, stage, strayed, given, &node))
            return false;
        if ((stage->check || stage->reduction) && !statement->broken && error_count(b->diags) == errors &&
            !check_together(b, statement, &node))
            return false;
        if (!origin)
            check_kind(b, statement, stage, in);
        smp_kind_note(b, scope->current, stage->domain);
    }
    if (origin)
        return smp_keep_origin(b, origin, &node);
    size_t index = program->node_count;
    if (!smp_grow(&program->nodes, &program->node_capacity, index + 1, sizeof node) ||
        !smp_grow(&b->infos, &b->info_capacity, index + 1, sizeof *b->infos))
        return false;
    if (node.input >= 0)
        b->infos[node.input].used = true;
    b->infos[index] = (smp_node_info){.kind = kind_after(stage, in)};
    program->nodes[program->node_count++] = node;
    scope->current = (int)index;
    return true;
}
