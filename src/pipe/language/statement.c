/* The statements that are not stages, and the loop over all statements. */
#include <string.h>

#include "base/alloc.h"
#include "base/paths.h"
#include "pipe/language/build.h"
#include "pipe/language/lex.h"

/* The only argument of a statement that takes one value; null after reporting. */
static const smp_ast_value *only_value(smp_builder *b, const smp_ast_statement *statement, const char *needs)
{
    const smp_ast_arg *first = statement->arg_count ? &statement->args[0] : NULL;
    if (statement->tap) {
        smp_diag *diag =
            smp_diags_add(b->diags, SMP_ERROR, statement->tap_span, "'%s' makes no picture to keep", statement->name);
        if (first && first->value.kind == SMP_AST_STRING && !strcmp(statement->name, "from"))
            smp_diag_fix(b->diags, diag, "write by=\"%s\" where it is wanted", first->value.text);
    }
    for (size_t i = 0; i < statement->arg_count; i++) {
        const smp_ast_arg *arg = &statement->args[i];
        if (arg->name || i > 0) {
            smp_diags_add(b->diags, SMP_ERROR, arg->name ? arg->name_span : arg->value.span,
                          "'%s' takes %s and nothing else", statement->name, needs);
            return NULL;
        }
    }
    if (!first && !statement->broken)
        smp_diags_add(b->diags, SMP_ERROR, statement->name_span, "'%s' needs %s", statement->name, needs);
    return first && first->value.kind != SMP_AST_BAD ? &first->value : NULL;
}

/* The index of a word among two, or -1 after reporting. */
static int one_of(smp_builder *b, const smp_ast_statement *statement, const char *const words[2])
{
    char needs[64], shown[SMP_SHOWN];
    size_t first = strlen(words[0]);
    memcpy(needs, words[0], first);
    memcpy(needs + first, " or ", 4);
    memcpy(needs + first + 4, words[1], strlen(words[1]) + 1);
    const smp_ast_value *value = only_value(b, statement, needs);
    if (!value)
        return -1;
    for (int i = 0; i < 2; i++)
        if (value->kind == SMP_AST_WORD && !strcmp(value->text, words[i]))
            return i;
    const char *written = b->diags->sources[value->span.source].text + value->span.start;
    smp_diag *diag = smp_diags_add(b->diags, SMP_ERROR, value->span, "'%s' must be %s, not '%s'", statement->name,
                                   needs, smp_shown(shown, written, value->span.length));
    const char *near = smp_nearest(written, value->span.length, words, 2);
    if (near)
        smp_diag_fix(b->diags, diag, "did you mean '%s'?", near);
    return -1;
}

static bool version(smp_builder *b, smp_scope *scope, const smp_ast_statement *statement)
{
    char shown[SMP_SHOWN];
    if (scope->next > 1) {
        bool again = !strcmp(scope->ast->statements[0].name, "smempipe");
        smp_diags_add(b->diags, SMP_ERROR, statement->name_span,
                      again ? "the format version is given twice" : "'smempipe' must be the first statement");
    }
    const smp_ast_value *value = only_value(b, statement, "a format version");
    if (!value || (value->kind == SMP_AST_WORD && !strcmp(value->text, "1")))
        return true;
    bool number = value->kind == SMP_AST_WORD && strspn(value->text, "0123456789") == value->length;
    smp_shown(shown, value->text, value->length);
    smp_diag *diag = smp_diags_add(b->diags, SMP_ERROR, value->span,
                                   number ? "this is written in format version %s, which is not supported"
                                          : "'%s' is not a format version",
                                   shown);
    smp_diag_note(b->diags, diag, "this smempipe reads version 1");
    return true;
}

static bool kind(smp_builder *b, smp_scope *scope, const smp_ast_statement *statement)
{
    static const char *const words[] = {"image", "audio"};
    /* It took effect before the first statement; here its mistakes are reported. */
    int found = one_of(b, statement, words);
    for (size_t i = 0; i + 1 < scope->next; i++)
        if (!strcmp(scope->ast->statements[i].name, "kind")) {
            smp_diags_add(b->diags, SMP_ERROR, statement->name_span, "'kind' is given twice");
            return true;
        }
    smp_kind said = found < 0 ? SMP_KIND_NONE : found ? SMP_AUDIO : SMP_IMAGE;
    smp_kind given = smp_kind_of(b, scope->input);
    if (scope->outer && said != SMP_KIND_NONE && given != SMP_KIND_NONE && given != said)
        smp_diags_add(b->diags, SMP_ERROR, statement->span, "this is for %s, but is given %s", smp_kind_words(said),
                      smp_kind_words(given));
    return true;
}

/* Finds the `kind` statement, wherever it is. */
static smp_kind declared_kind(const smp_ast *ast)
{
    for (size_t i = 0; i < ast->count; i++) {
        const smp_ast_statement *statement = &ast->statements[i];
        if (!strcmp(statement->name, "kind") && statement->arg_count && statement->args[0].value.kind == SMP_AST_WORD)
            return !strcmp(statement->args[0].value.text, "image")   ? SMP_IMAGE
                   : !strcmp(statement->args[0].value.text, "audio") ? SMP_AUDIO
                                                                     : SMP_KIND_NONE;
    }
    return SMP_KIND_NONE;
}

static bool light(smp_builder *b, smp_scope *scope, const smp_ast_statement *statement)
{
    static const char *const words[] = {"encoded", "linear"};
    int found = one_of(b, statement, words);
    if (found >= 0)
        scope->light = found ? SMP_LIGHT_LINEAR : SMP_LIGHT_ENCODED;
    return true;
}

static bool from(smp_builder *b, smp_scope *scope, const smp_ast_statement *statement)
{
    char shown[SMP_SHOWN];
    const smp_ast_value *value = only_value(b, statement, "the @name of a result, or a file");
    smp_value file;
    if (!value)
        return true;
    if (value->kind == SMP_AST_STRING || value->kind == SMP_AST_PARAM)
        return smp_resolve(b, scope, value, &file) &&
               (file.kind != SMP_VALUE_STRING || smp_bind_file(b, scope, &file, &scope->current));
    if (value->kind != SMP_AST_TAP) {
        const char *written = b->diags->sources[value->span.source].text + value->span.start;
        smp_shown(shown, written, value->span.length);
        smp_diag *diag =
            smp_diags_add(b->diags, SMP_ERROR, value->span, "'from' needs the @name of a result, not '%s'", shown);
        if (value->kind == SMP_AST_WORD)
            smp_diag_fix(b->diags, diag, "did you mean '@%s'?", shown);
        return true;
    }
    int node;
    if (!smp_find_tap(b, scope, value->text, value->span, &node))
        return false;
    if (node != SMP_NODE_NONE)
        scope->current = node;
    return true;
}

void smp_check_from(smp_builder *b, const smp_scope *scope, smp_span span)
{
    if (scope->current > SMP_NODE_FILE)
        return;
    smp_diag *diag = smp_diags_add(b->diags, SMP_ERROR, span, "'from' takes a file, and no stage follows");
    smp_diag_note(b->diags, diag, "as in: from \"logo.png\", resize 20%% -> @logo, from @input, overlay @logo");
}

/* Returns what is wrong with a path that must stay inside the output folder; null: nothing. */
static const char *path_fault(const char *path)
{
    if (!path[0])
        return "is empty";
    if (path[0] == '/')
        return "is absolute";
    for (const char *at = path; *at; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7F)
            return "holds a control character";
    for (const char *at = path; *at;) {
        size_t part = strcspn(at, "/");
        if (part == 2 && at[0] == '.' && at[1] == '.')
            return "leaves the output folder";
        at += part;
        if (!*at)
            break;
        at++;
        if (!*at)
            return "names a folder";
    }
    return !strcmp(smp_base_name(path), ".") ? "names a folder" : NULL;
}

/* Whether paths are equal apart from "./" and double slashes. */
static bool same_path(const char *a, const char *b)
{
    for (;;) {
        for (const char **p = &a; p; p = p == &a ? &b : NULL)
            while (**p == '/' || ((*p)[0] == '.' && (*p)[1] == '/'))
                ++*p;
        size_t n = strcspn(a, "/");
        if (n != strcspn(b, "/") || memcmp(a, b, n) != 0)
            return false;
        a += n;
        b += n;
        if (!*a || !*b)
            return !*a && !*b;
    }
}

static bool save(smp_builder *b, smp_scope *scope, const smp_ast_statement *statement)
{
    char shown[SMP_SHOWN];
    smp_program *program = b->program;
    const smp_ast_value *value = only_value(b, statement, "a file name in double quotes");
    if (!value)
        return true;
    const char *written = b->diags->sources[value->span.source].text + value->span.start;
    if (value->kind != SMP_AST_STRING) {
        smp_shown(shown, written, value->span.length);
        smp_diag *diag = smp_diags_add(b->diags, SMP_ERROR, value->span,
                                       "'save' needs a file name in double quotes, not '%s'", shown);
        if (value->kind == SMP_AST_WORD)
            smp_diag_fix(b->diags, diag, "write \"%s\"", shown);
        return true;
    }
    const char *fault = path_fault(value->text);
    if (fault) {
        smp_diag *diag = smp_diags_add(b->diags, SMP_ERROR, value->span, "the file name %s", fault);
        smp_diag_note(b->diags, diag, "'save' writes inside the folder of the output and nowhere else");
        return true;
    }
    if (program->save_count == SMP_MAX_SAVES) {
        smp_diags_add(b->diags, SMP_ERROR, statement->name_span, "a pipeline saves at most %d files", SMP_MAX_SAVES);
        b->full = true;
        return true;
    }
    for (size_t i = 0; i < program->save_count; i++)
        if (same_path(program->saves[i].path, value->text)) {
            smp_diag *diag = smp_diags_add(b->diags, SMP_ERROR, value->span, "'%s' is saved twice",
                                           smp_shown(shown, value->text, value->length));
            if (diag) {
                int line, column;
                smp_diags_locate(b->diags, program->saves[i].span, &line, &column);
                smp_diag_note(b->diags, diag, "line %d saves it already", line);
            }
            return true;
        }
    const char *place = strstr(value->text, "{stem}") ? "{stem}" : strstr(value->text, "{name}") ? "{name}" : NULL;
    if (place) {
        smp_diag *diag =
            smp_diags_add(b->diags, SMP_WARNING, value->span, "%s is a part of the name as it stands", place);
        smp_diag_note(b->diags, diag,
                      "a batch puts its outputs' names in front: of a.png, 'save' of \"g.png\" is a-g.png");
    }
    smp_check_from(b, scope, statement->span);
    smp_save item = {.node = scope->current, .span = statement->span};
    item.path = smp_arena_strndup(&b->owned->arena, value->text, value->length);
    if (!item.path || !smp_grow(&program->saves, &program->save_capacity, program->save_count + 1, sizeof item))
        return false;
    program->saves[program->save_count++] = item;
    if (item.node >= 0)
        b->infos[item.node].used = true;
    return true;
}

static const struct {
    const char *name;
    bool (*bind)(smp_builder *b, smp_scope *scope, const smp_ast_statement *statement);
} keywords[] = {
    {"smempipe", version},    {"kind", kind}, {"light", light}, {"param", smp_declare},
    {"include", smp_include}, {"from", from}, {"save", save},
};

bool smp_is_statement(const char *name)
{
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++)
        if (!strcmp(keywords[i].name, name))
            return true;
    return false;
}

static bool bind_statement(smp_builder *b, smp_scope *scope, const smp_ast_statement *statement)
{
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++)
        if (!strcmp(keywords[i].name, statement->name))
            return keywords[i].bind(b, scope, statement) &&
                   (!statement->tap || smp_define_tap(b, scope, statement->tap, statement->tap_span));
    return smp_bind_stage(b, scope, statement) &&
           (!statement->tap || smp_define_tap(b, scope, statement->tap, statement->tap_span));
}

/* Of a colour that a mistake is at, that it may be meant as a comment. */
static void note_comments(smp_builder *b, const smp_ast_statement *statement, size_t first)
{
    const smp_diags *diags = b->diags;
    for (size_t i = first; i < diags->count; i++)
        for (size_t j = 0; j < statement->arg_count; j++) {
            const smp_ast_value *value = &statement->args[j].value;
            if (!statement->args[j].name && value->kind == SMP_AST_WORD && *value->text == '#' &&
                diags->items[i].span.start == value->span.start && diags->items[i].span.source == value->span.source)
                smp_diag_note(b->diags, &diags->items[i], SMP_COLOR_OR_COMMENT);
        }
}

bool smp_bind_statements(smp_builder *b, smp_scope *scope)
{
    smp_kind declared = declared_kind(scope->ast);
    if (!scope->outer)
        b->program->kind = declared;
    smp_kind_note(b, scope->input, declared);
    for (size_t i = 0; i < scope->ast->count && !b->full && b->diags->errors < SMP_GIVE_UP; i++) {
        scope->next = i + 1;
        const size_t first = b->diags->count;
        if (!bind_statement(b, scope, &scope->ast->statements[i]))
            return false;
        note_comments(b, &scope->ast->statements[i], first);
    }
    return true;
}
