/* What the page must know of a text: where its statements and their values stand, so that it changes those bytes and no
 * others; and its mistakes. */
#include <string.h>

#include "base/alloc.h"
#include "commands/edit/session.h"
#include "pipe/language/ast.h"

static void put_span(smp_json *json, const char *start, const char *end, smp_span span)
{
    SMP_JSON(json, (start, span.start), (end, span.start + span.length));
}

/* The node of a statement, null: it is none of a stage, or was not understood. */
static const smp_node *node_of(const smp_program *program, const smp_ast_statement *statement)
{
    for (size_t i = 0; program && i < program->node_count; i++)
        if (program->nodes[i].span.source == statement->name_span.source &&
            program->nodes[i].span.start == statement->name_span.start)
            return &program->nodes[i];
    return NULL;
}

/* The parameter that a value went to; null: a stage's form spread it over several. */
static const char *param_of(const smp_node *node, const smp_ast_arg *arg)
{
    const smp_param *param = node && !arg->name ? smp_node_param_at(node, arg->value.span) : NULL;
    return arg->name ? arg->name : param ? param->name : NULL;
}

static void put_argument(smp_json *json, const smp_node *node, const smp_ast_arg *arg)
{
    static const char *const kinds[] = {"bad", "word", "string", "param", "tap", "brace", "list"};
    const smp_span span = arg->name ? arg->name_span : arg->value.span;
    SMP_JSON_OPEN(json, NULL, ("named", (bool)(arg->name != NULL)), ("param", param_of(node, arg)),
                  ("kind", kinds[arg->value.kind]), ("from", span.start));
    put_span(json, "start", "end", arg->value.span);
    smp_json_end(json, '}');
}

/* What stands for a value that a form spread over parameters: "width=40px height=30px x=5px y=7px". */
static char *values_of(const smp_program *program, const smp_node *node)
{
    const smp_shape shape = {.kind = SMP_IMAGE, .width = 1, .height = 1, .channels = 3};
    smp_diags unsaid = {0};
    char *text = NULL;
    void *params = smp_alloc(node->stage->params_size + 1);
    if (params && !smp_node_params(program, node, &shape, NULL, &unsaid, params, &(smp_error){.code = SMP_OK}))
        text = smp_params_text(node->stage, params);
    smp_free(params);
    smp_diags_free(&unsaid);
    return text;
}

static void put_statement(smp_json *json, const smp_program *program, const smp_ast_statement *statement)
{
    const smp_node *node = node_of(program, statement);
    const smp_stage *stage = node ? node->stage : smp_stage_find(statement->name, strlen(statement->name));
    const bool word = smp_is_statement(statement->name);
    bool spread = false;
    SMP_JSON_OPEN(json, NULL, ("name", statement->name), ("stage", stage && !word ? stage->name : NULL));
    put_span(json, "start", "end", statement->span);
    put_span(json, "nameStart", "nameEnd", statement->name_span);
    smp_json_string(json, "tap", statement->tap);
    smp_json_array(json, "args");
    for (size_t i = 0; i < statement->arg_count; i++) {
        put_argument(json, node, &statement->args[i]);
        spread = spread || (node && !param_of(node, &statement->args[i]));
    }
    smp_json_end(json, ']');
    char *values = spread ? values_of(program, node) : NULL;
    if (values)
        smp_json_string(json, "values", values);
    smp_free(values);
    smp_json_end(json, '}');
}

/* The statements of the text itself, and not of what it includes. */
static bool parse(smp_arena *arena, const smp_diags *diags, smp_ast *ast)
{
    smp_diags told = {0}; /* already, by the parser that made the program */
    *ast = (smp_ast){0};
    bool done = diags->source_count && smp_diags_take_sources(&told, diags) && smp_ast_parse(arena, &told, 0, ast);
    smp_diags_free(&told);
    return done;
}

void smp_edit_describe(smp_json *json, const smp_diags *diags, const smp_program *program)
{
    smp_arena arena = {0};
    smp_ast ast;
    smp_json_array(json, "statements");
    if (parse(&arena, diags, &ast))
        for (size_t i = 0; i < ast.count; i++)
            put_statement(json, program, &ast.statements[i]);
    smp_json_end(json, ']');
    char *told = smp_diags_json(diags);
    smp_json_string(json, "diagnostics", told ? told : "");
    smp_free(told);
    smp_arena_free(&arena);
}

/* Where a statement, or the one that included it, stands in the text. */
static size_t place_of(const smp_diags *diags, smp_span at)
{
    while (diags->sources[at.source].included)
        at = diags->sources[at.source].from;
    return at.start;
}

int smp_edit_node_behind(const smp_diags *diags, const smp_program *program, int64_t at)
{
    smp_arena arena = {0};
    smp_ast ast;
    int behind = program->output;
    if (at >= 0 && parse(&arena, diags, &ast) && (size_t)at < ast.count) {
        behind = SMP_NODE_INPUT;
        const smp_span span = ast.statements[at].span;
        for (size_t i = 0; i < program->node_count; i++) {
            if (place_of(diags, program->nodes[i].span) >= span.start + span.length)
                break;
            behind = (int)i;
        }
    }
    smp_arena_free(&arena);
    return behind;
}
