/* Binds stage statements: finds the stage, checks the arguments against its parameter table, adds the node. */
#include <string.h>

#include "base/alloc.h"
#include "pipe/build.h"

static size_t param_count(const smp_stage *stage)
{
    size_t count = 0;
    while (stage->params && stage->params[count].name)
        count++;
    return count;
}

static void note_params(smp_builder *b, smp_diag *diag, const smp_stage *stage)
{
    smp_text text = {0};
    size_t count = param_count(stage);
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

static void unknown_key(smp_builder *b, const smp_stage *stage, const smp_ast_arg *arg)
{
    char shown[SMP_SHOWN];
    smp_diag *diag = smp_diags_add(b->diags, SMP_ERROR, arg->name_span, "unknown parameter '%s' for stage '%s'",
                                   smp_shown(shown, arg->name, arg->name_length), stage->name);
    const char *near = NULL;
    size_t count = param_count(stage);
    if (diag && count) {
        const char **names = smp_alloc_array(count, sizeof *names);
        b->out_of_memory |= !names;
        for (size_t i = 0; names && i < count; i++)
            names[i] = stage->params[i].name;
        near = names ? smp_nearest(arg->name, arg->name_length, names, count) : NULL;
        smp_free(names);
    }
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

/* The parameter that a value without a name is probably for: the first in the table that fits and has no value yet;
 * null: none. named: bits of the parameters that were suggested for earlier values. */
static const char *name_for(const smp_stage *stage, const smp_node *node, const smp_ast_value *value, uint64_t *named)
{
    enum { BITS = 64 };
    for (size_t i = 0; stage->params && stage->params[i].name && i < BITS; i++) {
        const smp_param *param = &stage->params[i];
        bool taken = (*named >> i) & 1;
        for (size_t k = 0; k < node->argument_count; k++)
            taken |= node->arguments[k].param == param;
        if (taken || !may_be_for(value, param))
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

/* State of row_for: the arguments of a statement so far. */
typedef struct given_so_far {
    const smp_ast_arg *before; /* the argument before this one, or null */
    bool positional;           /* one of them had no name */
    uint64_t named;            /* bits of parameters that were suggested for others */
} given_so_far;

/* The parameter that an argument is for; null after reporting that there is none. */
static const smp_param *row_for(smp_builder *b, const smp_stage *stage, const smp_node *node, const smp_ast_arg *arg,
                                given_so_far *so_far)
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
    const smp_param *row = main_param(stage);
    smp_diag *diag;
    if (unit_apart(b, so_far->before, arg))
        return NULL;
    if (!so_far->positional && row) {
        smp_quantity number; /* where the main parameter is a word */
        char instead[SMP_INSTEAD];
        const char *meant =
            row->type == SMP_T_ENUM && quantity_of(&arg->value, &number) && !may_be_for(&arg->value, row)
                ? name_for(stage, node, &arg->value, &so_far->named)
                : NULL;
        so_far->positional = true;
        if (!meant)
            return row;
        diag = smp_diags_add(b->diags, SMP_ERROR, arg->value.span, "'%s' is a word, not '%s'", row->name, shown);
        if (stage->instead && stage->instead(arg->value.text, instead, sizeof instead))
            smp_diag_fix(b->diags, diag, "%s", instead);
        else
            smp_diag_fix(b->diags, diag, "write %s=%s", meant, shown);
        return NULL;
    }
    diag = row ? smp_diags_add(b->diags, SMP_ERROR, arg->value.span, "only one value can stand without a name")
               : smp_diags_add(b->diags, SMP_ERROR, arg->value.span, "stage '%s' takes no value without a name",
                               stage->name);
    const char *name = name_for(stage, node, &arg->value, &so_far->named);
    if (name)
        smp_diag_fix(b->diags, diag, "write %s=%s", name, shown);
    else if (arg->value.kind == SMP_AST_WORD && smp_names_stage(arg->value.text, arg->value.length))
        smp_diag_fix(b->diags, diag, "%s", smp_own_line(b, arg->value.span.source));
    note_params(b, diag, stage);
    return NULL;
}

/* As many values without names as other tools write here: one message names them all. */
static bool values_in_order(smp_builder *b, const smp_ast_statement *statement, const smp_stage *stage)
{
    size_t names = 0, words = 0;
    for (const char *at = stage && stage->order ? stage->order : ""; *at; at += strspn(at, " ")) {
        names++;
        at += strcspn(at, " ");
    }
    for (size_t i = 0; i < statement->arg_count; i++) {
        smp_quantity quantity;
        words += !statement->args[i].name && quantity_of(&statement->args[i].value, &quantity);
    }
    if (!names || words != names || statement->arg_count != names)
        return false;
    smp_text text = {0};
    const char *at = stage->order;
    smp_text_print(&text, "write %s", stage->name);
    for (size_t i = 0; i < names; i++) {
        char shown[SMP_SHOWN];
        const smp_ast_value *value = &statement->args[i].value;
        const int length = (int)strcspn(at, " ");
        smp_text_print(&text, " %.*s=%s", length, at, smp_shown(shown, value->text, value->length));
        at += length;
        at += strspn(at, " ");
    }
    smp_diag *diag = smp_diags_add(b->diags, SMP_ERROR, statement->args[0].value.span,
                                   "the values of stage '%s' have names", stage->name);
    char *list = smp_text_take(&text);
    b->out_of_memory |= !list;
    if (list && diag)
        smp_diag_fix(b->diags, diag, "%s", list);
    smp_free(list);
    return true;
}

/* The diagnostic about a value, unless it says what to write already; null: there is none. */
static smp_diag *unmended(const smp_builder *b, const smp_value *value)
{
    smp_diag *last = b->diags->count ? &b->diags->items[b->diags->count - 1] : NULL;
    const bool about = last && last->span.source == value->span.source && last->span.start == value->span.start;
    return about && !last->fix && !value->param ? last : NULL;
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

/* A value that the main parameter refuses: adds what the stage says to write instead. */
static void suggest_instead(smp_builder *b, const smp_stage *stage, const smp_param *row, const smp_value *value)
{
    char text[SMP_INSTEAD];
    smp_diag *last = unmended(b, value);
    const bool plain = value->kind == SMP_VALUE_WORD || value->kind == SMP_VALUE_NUMBER;
    if (last && plain && (row->flags & SMP_P_MAIN) && stage->instead && stage->instead(value->text, text, sizeof text))
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
        program->files[program->file_count++] = (smp_operand_file){.path = path, .span = value->span, .source = source};
    }
    *number = at;
    *where = program->files[at].path;
    return true;
}

/* The file of an operand, as node->second has it. */
static bool bind_operand_file(smp_builder *b, const smp_scope *scope, const smp_value *value, int *second)
{
    size_t number = 0;
    const char *path;
    const bool found = bind_file(b, scope, value, &number, &path);
    *second = SMP_NODE_FILE - (int)number;
    return found;
}

/* A `$x` or a bad item in a list counts as an answer: its mistake was reported. */
static bool bind_argument(smp_builder *b, smp_scope *scope, const smp_stage *stage, smp_node *node,
                          const smp_param *row, const smp_ast_arg *arg)
{
    smp_arena *arena = &b->owned->arena;
    smp_argument argument = {.param = row};
    if (!smp_resolve(b, scope, &arg->value, &argument.value))
        return false;
    if (!row)
        return true;
    for (size_t i = 0; i < node->argument_count; i++)
        if (node->arguments[i].param == row) {
            smp_diag *diag = smp_diags_add(b->diags, SMP_ERROR, arg->name ? arg->name_span : arg->value.span,
                                           "'%s' is given twice", row->name);
            if (row->flags & SMP_P_MAIN)
                smp_diag_note(b->diags, diag, "a value without a name is '%s' of stage '%s'", row->name, stage->name);
            return true;
        }
    if (row->type == SMP_T_MATRIX && argument.value.kind == SMP_VALUE_STRING &&
        !smp_load_numbers(b, scope, &argument.value))
        return false;
    smp_check check = {.diags = b->diags, .arena = arena, .all = stage->params};
    for (const smp_param *other = stage->params; other && other->name; other++)
        if (other->flags & SMP_P_LOUDNESS)
            check.loudness = other->name;
    smp_bound bound = smp_value_bind(&check, row, &argument.value, &argument.field);
    argument.later = bound == SMP_BOUND_LATER;
    if (bound == SMP_BOUND_WRONG) {
        suggest_dollar(b, scope, &argument.value);
        suggest_instead(b, stage, row, &argument.value);
        smp_diag *last = unmended(b, &argument.value);
        if (last)
            smp_mend_value(b, stage, row, &argument.value, last);
    }
    if (row->type == SMP_T_OPERAND && argument.value.kind == SMP_VALUE_TAP) {
        smp_kind here = smp_kind_of(b, node->input), there = smp_kind_of(b, argument.value.node);
        if (node->second != SMP_NODE_NONE)
            smp_diags_add(b->diags, SMP_ERROR, arg->value.span, "a stage takes at most one other picture");
        else if (here != SMP_KIND_NONE && there != SMP_KIND_NONE && here != there)
            smp_diags_add(b->diags, SMP_ERROR, arg->value.span, "'@%.60s' is %s, but '%s' is given %s",
                          argument.value.text, smp_kind_words(there), stage->name, smp_kind_words(here));
        node->second = argument.value.node;
        if (node->second >= 0)
            b->infos[node->second].used = true;
    }
    if (row->type == SMP_T_OPERAND && argument.value.kind == SMP_VALUE_STRING && bound == SMP_BOUND_DONE) {
        if (node->second != SMP_NODE_NONE)
            smp_diags_add(b->diags, SMP_ERROR, arg->value.span, "a stage takes at most one other picture");
        else if (!bind_operand_file(b, scope, &argument.value, &node->second))
            return false;
    }
    size_t number;
    if ((row->flags & SMP_P_FILE) && bound == SMP_BOUND_DONE) {
        if (!bind_file(b, scope, &argument.value, &number, &argument.field.string))
            return false;
        b->program->files[number].foreign = stage->foreign;
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

/* strayed: an argument fits no parameter, so a missing one may be a consequence. */
static bool bind_defaults(smp_builder *b, const smp_ast_statement *statement, const smp_stage *stage, bool strayed,
                          smp_node *node)
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
            if (statement->broken || strayed)
                continue;
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
        if (!quoted && c == '#') {
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
    if (stage->gives != SMP_KIND_NONE)
        return stage->gives;
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

/* Checks the parameters together. Checks that need the input's shape come with the plan. */
static bool check_together(smp_builder *b, const smp_ast_statement *statement, smp_node *node)
{
    const smp_stage *stage = node->stage;
    node->looks = stage->looks != NULL;
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
    node->looks = stage->looks && stage->looks(params);
    if (stage->check(params, &err)) {
        smp_diag *diag = smp_diags_add(b->diags, SMP_ERROR, statement->name_span, "%s", err.message);
        if (err.hint[0])
            smp_diag_note(b->diags, diag, "%s", err.hint);
    }
    return true;
}

bool smp_bind_stage(smp_builder *b, smp_scope *scope, const smp_ast_statement *statement)
{
    smp_program *program = b->program;
    const smp_stage *stage = smp_catalog_find(statement->name);
    if (program->node_count >= SMP_MAX_NODES) {
        smp_diags_add(b->diags, SMP_ERROR, statement->name_span, "a pipeline has at most %d stages", SMP_MAX_NODES);
        b->full = true;
        return true;
    }
    if (!stage && !smp_unknown_stage(b, statement))
        return false;
    smp_node node = {.stage = stage, .input = scope->current, .second = SMP_NODE_NONE, .light = scope->light};
    node.span = statement->name_span;
    node.label = make_label(b, scope, statement->span);
    size_t rows = stage ? param_count(stage) : 0;
    node.arguments = smp_arena_array(&b->owned->arena, rows + 1, sizeof *node.arguments);
    if (!node.label || !node.arguments)
        return false;
    given_so_far so_far = {0};
    bool strayed = false;
    const size_t errors = error_count(b->diags);
    const bool ordered = values_in_order(b, statement, stage);
    strayed |= ordered;
    for (size_t i = 0; !ordered && i < statement->arg_count; i++) {
        const smp_ast_arg *arg = &statement->args[i];
        const smp_param *row = stage ? row_for(b, stage, &node, arg, &so_far) : NULL;
        so_far.before = arg;
        strayed |= !row;
        /* Even without a parameter the value is looked up: its names are in use, or wrong. */
        if (!bind_argument(b, scope, stage, &node, row, arg))
            return false;
    }
    smp_kind in = smp_kind_of(b, scope->current);
    if (stage) {
        if (!bind_defaults(b, statement, stage, strayed, &node))
            return false;
        if (stage->check && !statement->broken && error_count(b->diags) == errors &&
            !check_together(b, statement, &node))
            return false;
        check_kind(b, statement, stage, in);
        smp_kind_note(b, scope->current, stage->domain);
    }
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
