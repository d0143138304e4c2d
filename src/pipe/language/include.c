/* `include "file.pipe" name=value`: a text with its own scope in the place of a stage. Its @input is the picture that
 * flows in, its last picture flows out. */
#include <string.h>

#include "base/alloc.h"
#include "pipe/language/build.h"
#include "pipe/language/lex.h"

char *smp_join_path(smp_arena *arena, const char *including, const char *path)
{
    const char *slash = strrchr(including, '/');
    size_t folder = slash && path[0] != '/' ? (size_t)(slash - including) + 1 : 0, length = strlen(path);
    char *joined = smp_arena_alloc(arena, folder + length + 1);
    if (joined) {
        memcpy(joined, including, folder);
        memcpy(joined + folder, path, length);
    }
    return joined;
}

/* Removes "." and "x/.." from a path, by its text alone, so that two spellings of one file compare equal. */
static char *clean(smp_arena *arena, const char *path)
{
    size_t length = strlen(path), n = 0;
    char *out = smp_arena_alloc(arena, length + 2);
    if (!out)
        return NULL;
    bool rooted = path[0] == '/';
    for (size_t at = 0; at < length;) {
        size_t end = at + strcspn(path + at, "/"), part = end - at;
        if (part == 2 && !memcmp(path + at, "..", 2)) {
            size_t back = n;
            while (back > 0 && out[back - 1] != '/')
                back--;
            bool kept_up = n - back == 2 && !memcmp(out + back, "..", 2);
            if (n > 0 && !kept_up) {
                n = back > 0 ? back - 1 : 0;
                at = end + 1;
                continue;
            }
        }
        if (part > 0 && !(part == 1 && path[at] == '.')) {
            if (n > 0 || rooted)
                out[n++] = '/';
            memcpy(out + n, path + at, part);
            n += part;
        }
        at = end + 1;
    }
    out[n] = '\0';
    return out;
}

/* Whether the file is being bound already. */
static bool is_cycle(smp_builder *b, const smp_scope *scope, const char *path, bool *failed)
{
    smp_arena scratch = {0};
    char *wanted = clean(&scratch, path);
    bool cycle = false;
    *failed = !wanted;
    for (; wanted && scope && !cycle; scope = scope->outer) {
        char *open = clean(&scratch, b->diags->sources[scope->source].name);
        if (!open) {
            *failed = true;
            break;
        }
        cycle = !strcmp(open, wanted);
    }
    smp_arena_free(&scratch);
    return cycle;
}

/* Loads and parses a file once, however often it is included. *file is null after a reported mistake. */
static bool load(smp_builder *b, const smp_scope *scope, const smp_ast_value *where, char *path, smp_file **file)
{
    char shown[SMP_SHOWN];
    *file = NULL;
    for (size_t i = 0; i < b->file_count; i++)
        if (!strcmp(b->files[i].path, path)) {
            *file = &b->files[i];
            return true;
        }
    char *text = NULL;
    size_t length = 0;
    smp_error err = {0};
    smp_shown(shown, path, strlen(path));
    if (!b->loader) {
        smp_diags_add(b->diags, SMP_ERROR, where->span, "files cannot be included here");
        return true;
    }
    smp_code code = b->loader(b->context, b->diags->sources[scope->source].name, where->text, &text, &length, &err);
    if (code) {
        smp_free(text);
        if (code == SMP_E_MEMORY)
            return false;
        smp_diag *diag = smp_diags_add(b->diags, SMP_ERROR, where->span, "cannot include '%s'", shown);
        if (err.message[0])
            smp_diag_note(b->diags, diag, "%s", err.message);
        return true;
    }
    if (length > SMP_MAX_TEXTS - b->text_bytes) {
        smp_diags_add(b->diags, SMP_ERROR, where->span, "the texts of this pipeline have more than %d bytes together",
                      SMP_MAX_TEXTS);
        smp_free(text);
        b->full = true;
        return true;
    }
    int source = smp_diags_add_source(b->diags, path, text ? text : "", text ? length : 0);
    smp_free(text);
    if (source < 0 || !smp_grow(&b->files, &b->file_capacity, b->file_count + 1, sizeof **file))
        return false;
    b->diags->sources[source].included = true;
    b->diags->sources[source].from = where->span;
    b->text_bytes += length;
    smp_file fresh = {.source = source, .path = path};
    const smp_diag_source *kept = &b->diags->sources[source];
    if (smp_lex_acceptable(kept->text, kept->length, source, b->diags) &&
        !smp_ast_parse(&b->owned->arena, b->diags, source, &fresh.ast))
        return false;
    b->files[b->file_count] = fresh;
    *file = &b->files[b->file_count++];
    return true;
}

/* The name=value arguments of an include statement. */
static bool give(smp_builder *b, smp_scope *scope, const smp_ast_statement *statement, smp_scope *inner)
{
    for (size_t i = 1; i < statement->arg_count; i++) {
        const smp_ast_arg *arg = &statement->args[i];
        smp_given given = {.name = arg->name, .span = arg->name_span};
        if (!smp_resolve(b, scope, &arg->value, &given.value))
            return false;
        if (!arg->name) {
            smp_diags_add(b->diags, SMP_ERROR, arg->value.span,
                          "'include' takes one file; its parameters are given as name=value");
            continue;
        }
        if (given.value.kind == SMP_VALUE_TAP) {
            smp_diags_add(b->diags, SMP_ERROR, arg->value.span, "a parameter holds a value, not a picture");
            given.value.kind = SMP_VALUE_BAD;
        }
        bool twice = false;
        for (size_t j = 0; j < inner->given_count; j++)
            twice |= !strcmp(inner->givens[j].name, arg->name);
        if (twice) {
            smp_diags_add(b->diags, SMP_ERROR, arg->name_span, "'%.60s' is given twice", arg->name);
            continue;
        }
        if (!smp_grow(&inner->givens, &inner->given_capacity, inner->given_count + 1, sizeof given))
            return false;
        inner->givens[inner->given_count++] = given;
    }
    return true;
}

static bool bind_file(smp_builder *b, smp_scope *scope, const smp_ast_statement *statement, const smp_file *file)
{
    smp_scope inner = {.outer = scope, .source = file->source, .ast = &file->ast, .light = scope->light};
    inner.input = inner.current = scope->current;
    char shown[SMP_SHOWN], where[SMP_SHOWN + 2];
    bool done = give(b, scope, statement, &inner);
    smp_ast ast = file->ast; /* the array of files may move */
    inner.ast = &ast;
    b->depth++;
    done = done && smp_bind_statements(b, &inner);
    b->depth--;
    if (done) {
        smp_shown(shown, statement->args[0].value.text, statement->args[0].value.length);
        where[0] = '\'';
        strcpy(where + 1, shown);
        strcat(where, "'");
        smp_check_givens(b, &inner, where);
        if (inner.current >= 0 || scope->current == SMP_NODE_INPUT)
            scope->current = inner.current;
    }
    smp_scope_finish(b, &inner);
    return done;
}

bool smp_include(smp_builder *b, smp_scope *scope, const smp_ast_statement *statement)
{
    const smp_ast_arg *first = statement->arg_count ? &statement->args[0] : NULL;
    if (!first || first->name || first->value.kind != SMP_AST_STRING) {
        if (!statement->broken || first) {
            smp_diag *diag = smp_diags_add(b->diags, SMP_ERROR, first ? first->value.span : statement->name_span,
                                           "'include' needs a file name in double quotes");
            smp_diag_note(b->diags, diag, "for example: include \"common/denoise.pipe\" strength=0.4");
        }
        return true;
    }
    const smp_ast_value *where = &first->value;
    char shown[SMP_SHOWN];
    smp_shown(shown, where->text, where->length);
    if (!where->length) {
        smp_diags_add(b->diags, SMP_ERROR, where->span, "the file name is empty");
        return true;
    }
    char *path = smp_join_path(&b->owned->arena, b->diags->sources[scope->source].name, where->text);
    bool failed = !path;
    if (!failed && is_cycle(b, scope, path, &failed)) {
        smp_diag *diag = smp_diags_add(b->diags, SMP_ERROR, where->span, "'%s' includes itself", shown);
        if (scope->outer)
            smp_diag_note(b->diags, diag, "it is being included already");
        return true;
    }
    if (failed)
        return false;
    if (b->depth >= SMP_MAX_INCLUDE_DEPTH) {
        smp_diags_add(b->diags, SMP_ERROR, where->span, "includes are nested more than %d deep", SMP_MAX_INCLUDE_DEPTH);
        return true;
    }
    if (++b->includes > SMP_MAX_INCLUDES) {
        smp_diags_add(b->diags, SMP_ERROR, where->span, "a pipeline includes at most %d times", SMP_MAX_INCLUDES);
        b->full = true;
        return true;
    }
    smp_file *file;
    if (!load(b, scope, where, path, &file))
        return false;
    return !file || bind_file(b, scope, statement, file);
}
