/* The parser: turns tokens into statements. It knows the grammar and no stage. After a mistake it continues with the
 * next line. */
#include <string.h>

#include "base/alloc.h"
#include "base/text/text.h"
#include "pipe/language/ast.h"
#include "pipe/language/lex.h"
#include "pipe/limits.h"

typedef struct parser {
    smp_arena *arena;
    smp_diags *diags;
    smp_lexer lexer;
    smp_token token;   /* the next one */
    size_t end;        /* of the last token consumed */
    smp_ast_arg *args; /* of the statement being parsed */
    size_t arg_count, arg_capacity;
    smp_ast_value *items; /* of the list being parsed */
    size_t item_count, item_capacity;
} parser;

static void advance(parser *p)
{
    p->end = p->token.start + p->token.length;
    p->token = smp_lex(&p->lexer);
}

static smp_span span_of(const parser *p, smp_token token)
{
    return smp_lex_span(&p->lexer, token);
}

static const char *text_of(const parser *p, smp_token token)
{
    return p->lexer.text + token.start;
}

static bool at_end(const parser *p)
{
    return p->token.kind == SMP_TOKEN_LINE || p->token.kind == SMP_TOKEN_END;
}

static bool begins_value(smp_token_kind kind)
{
    return kind == SMP_TOKEN_WORD || kind == SMP_TOKEN_STRING || kind == SMP_TOKEN_VALUE || kind == SMP_TOKEN_TAP ||
           kind == SMP_TOKEN_BRACE || kind == SMP_TOKEN_OPEN;
}

/* "found 2px", "found the end of the line" */
static const char *found(const parser *p, char buffer[SMP_SHOWN])
{
    char shown[SMP_SHOWN];
    if (at_end(p))
        return "the end of the line";
    smp_shown(shown, text_of(p, p->token), p->token.length);
    size_t length = strlen(shown);
    buffer[0] = '\'';
    memcpy(buffer + 1, shown, length);
    memcpy(buffer + 1 + length, "'", 2);
    return buffer;
}

/* Skips to the end of the statement without reporting. An open list swallows lines only if it is closed later. */
static void skip_statement(parser *p)
{
    p->lexer.quiet = true;
    p->lexer.in_list = false;
    while (!at_end(p)) {
        if (p->token.kind == SMP_TOKEN_OPEN) {
            size_t after = p->lexer.at;
            p->lexer.in_list = true;
            do
                advance(p);
            while (p->token.kind != SMP_TOKEN_CLOSE && p->token.kind != SMP_TOKEN_END &&
                   p->token.kind != SMP_TOKEN_EQUALS && p->token.kind != SMP_TOKEN_ARROW);
            p->lexer.in_list = false;
            if (p->token.kind != SMP_TOKEN_CLOSE)
                p->lexer.at = after;
        }
        advance(p);
    }
    p->lexer.quiet = false;
}

/* Removes quotes and escapes. */
static bool string_value(parser *p, smp_token token, smp_ast_value *value)
{
    const char *from = text_of(p, token) + 1;
    size_t length = token.length - 2, n = 0;
    char *text = smp_arena_alloc(p->arena, length + 1);
    if (!text)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (from[i] == '\\') {
            i++;
            if (from[i] == 'n') {
                text[n++] = '\n';
                continue;
            }
            if (from[i] != '"' && from[i] != '\\') {
                smp_span span = {p->lexer.source, token.start + i, 2};
                smp_diag *diag = smp_diags_add(p->diags, SMP_ERROR, span, "unknown escape in a text");
                smp_diag_fix(p->diags, diag, "write \\\\ for a backslash");
                smp_diag_note(p->diags, diag, "a text knows three: \\\", \\\\ and \\n, where another line begins");
                value->kind = SMP_AST_BAD;
                return true;
            }
        }
        text[n++] = from[i];
    }
    value->text = text;
    value->length = n;
    return true;
}

/* A value of one token. False: out of memory. */
static bool simple_value(parser *p, smp_ast_value *value)
{
    smp_token token = p->token;
    size_t skip = 1, drop = 1;
    *value = (smp_ast_value){.span = span_of(p, token)};
    switch (token.kind) {
    case SMP_TOKEN_STRING:
        value->kind = SMP_AST_STRING;
        if (!string_value(p, token, value))
            return false;
        advance(p);
        return true;
    case SMP_TOKEN_WORD:
        value->kind = SMP_AST_WORD;
        skip = drop = 0;
        break;
    case SMP_TOKEN_VALUE:
        value->kind = SMP_AST_PARAM;
        break;
    case SMP_TOKEN_TAP:
        value->kind = SMP_AST_TAP;
        break;
    case SMP_TOKEN_BRACE:
        value->kind = SMP_AST_BRACE;
        drop = 2;
        break;
    default:
        advance(p);
        return true;
    }
    value->length = token.length - drop;
    value->text = smp_arena_strndup(p->arena, text_of(p, token) + skip, value->length);
    advance(p);
    return value->text != NULL;
}

static void never_closed(parser *p, smp_token open, size_t after)
{
    smp_diag *diag = smp_diags_add(p->diags, SMP_ERROR, span_of(p, open), "this '[' is never closed");
    smp_diag_fix(p->diags, diag, "close it with ]");
    p->lexer.in_list = false;
    p->lexer.at = after;
    p->lexer.quiet = true;
    do
        advance(p);
    while (!at_end(p));
    p->lexer.quiet = false;
}

/* Skips a list inside a list, which was reported. p->token is its '['. */
static void skip_inner_list(parser *p)
{
    size_t depth = 0;
    do {
        depth += p->token.kind == SMP_TOKEN_OPEN;
        depth -= p->token.kind == SMP_TOKEN_CLOSE;
        advance(p);
    } while (depth > 0 && p->token.kind != SMP_TOKEN_END);
}

static void too_many_elements(parser *p)
{
    smp_diags_add(p->diags, SMP_ERROR, span_of(p, p->token), "a list holds at most %d values", SMP_MAX_ELEMENTS);
    p->lexer.quiet = true;
    while (p->token.kind != SMP_TOKEN_CLOSE && p->token.kind != SMP_TOKEN_END)
        advance(p);
    p->lexer.quiet = false;
}

/* Whether `NAME [` follows inside a list: the list was left open and has run into the next statement. */
static bool next_statement(const parser *p, smp_token token)
{
    const smp_ast_value *last = p->item_count ? &p->items[p->item_count - 1] : NULL;
    return token.kind == SMP_TOKEN_OPEN && last && last->kind == SMP_AST_WORD && smp_is_name(last->text, last->length);
}

/* A list; p->token is its '['. False: out of memory. *value is SMP_AST_BAD after a mistake. */
static bool list_value(parser *p, smp_ast_value *value)
{
    smp_token open = p->token;
    size_t after = p->lexer.at;
    int row = 0;
    bool bad = false, row_empty = true;
    *value = (smp_ast_value){.kind = SMP_AST_LIST, .span = span_of(p, open)};
    p->item_count = 0;
    p->lexer.in_list = true;
    advance(p);
    while (p->token.kind != SMP_TOKEN_CLOSE) {
        smp_token token = p->token;
        if (token.kind == SMP_TOKEN_END || token.kind == SMP_TOKEN_EQUALS || token.kind == SMP_TOKEN_ARROW ||
            token.kind == SMP_TOKEN_LINE || next_statement(p, token)) {
            never_closed(p, open, after);
            value->kind = SMP_AST_BAD;
            return true;
        }
        if (token.kind == SMP_TOKEN_SEMICOLON) {
            if (row_empty) {
                smp_diags_add(p->diags, SMP_ERROR, span_of(p, token), "row %d is empty", row + 1);
                bad = true;
            }
            row += 1;
            row_empty = true;
            advance(p);
        } else if (token.kind == SMP_TOKEN_OPEN) {
            smp_diag *diag = smp_diags_add(p->diags, SMP_ERROR, span_of(p, token), "a list cannot hold a list");
            smp_diag_note(p->diags, diag, "the rows of a matrix are separated by ';': [1 2; 3 4]");
            skip_inner_list(p);
            row_empty = false;
            bad = true;
        } else if (p->item_count >= SMP_MAX_ELEMENTS) {
            too_many_elements(p);
            bad = true;
        } else {
            if (p->item_count && !row_empty && !token.apart && !bad) {
                smp_diags_add(p->diags, SMP_ERROR, span_of(p, token), "the values of a list need blanks between them");
                bad = true;
            }
            smp_ast_value item;
            if (!simple_value(p, &item) || !smp_grow(&p->items, &p->item_capacity, p->item_count + 1, sizeof item))
                return false;
            bad |= item.kind == SMP_AST_BAD;
            item.row = row;
            p->items[p->item_count++] = item;
            row_empty = false;
        }
    }
    p->lexer.in_list = false;
    value->span.length = p->token.start + p->token.length - open.start;
    advance(p);
    if (bad)
        value->kind = SMP_AST_BAD;
    value->count = p->item_count;
    value->items = smp_arena_copy(p->arena, p->items, p->item_count * sizeof *p->items);
    value->text = smp_arena_strndup(p->arena, p->lexer.text + value->span.start, value->span.length);
    value->length = value->span.length;
    return value->items && value->text;
}

static bool parse_value(parser *p, smp_ast_value *value)
{
    return p->token.kind == SMP_TOKEN_OPEN ? list_value(p, value) : simple_value(p, value);
}

static bool add_arg(parser *p, smp_ast_arg arg)
{
    if (!smp_grow(&p->args, &p->arg_capacity, p->arg_count + 1, sizeof arg))
        return false;
    p->args[p->arg_count++] = arg;
    return true;
}

/* Parses what follows the '=' at p->token. spaced: blanks around the sign are allowed (`param x = 1`). */
static bool named_value(parser *p, smp_token name, bool spaced, smp_ast_statement *statement)
{
    smp_ast_arg arg = {.name_span = span_of(p, name), .name_length = name.length};
    char key[SMP_SHOWN], shown[SMP_SHOWN + 2];
    smp_shown(key, text_of(p, name), name.length);
    arg.name = smp_arena_strndup(p->arena, text_of(p, name), name.length);
    if (!arg.name)
        return false;
    bool blanks = p->token.apart;
    smp_token equals = p->token;
    advance(p);
    blanks |= p->token.apart && !at_end(p);
    if (!begins_value(p->token.kind)) {
        if (p->token.kind != SMP_TOKEN_BAD)
            smp_diags_add(p->diags, SMP_ERROR, span_of(p, p->token), "'%s=' needs a value, found %s", key,
                          found(p, shown));
        statement->broken = true;
        return true;
    }
    if (blanks && !spaced) {
        smp_diag *diag = smp_diags_add(p->diags, SMP_ERROR, span_of(p, equals), "no spaces round '='");
        smp_shown(shown, text_of(p, p->token), p->token.length);
        smp_diag_fix(p->diags, diag, "write %s=%s", key, shown);
    }
    if (!parse_value(p, &arg.value))
        return false;
    statement->broken |= arg.value.kind == SMP_AST_BAD;
    return add_arg(p, arg);
}

/* `-> @tap`; p->token is the arrow. */
static bool tap(parser *p, smp_ast_statement *statement)
{
    char shown[SMP_SHOWN + 2];
    advance(p);
    if (p->token.kind != SMP_TOKEN_TAP) {
        if (p->token.kind != SMP_TOKEN_BAD) {
            smp_diag *diag = smp_diags_add(p->diags, SMP_ERROR, span_of(p, p->token),
                                           "'->' needs a name for the result, found %s", found(p, shown));
            if (p->token.kind == SMP_TOKEN_WORD && smp_is_name(text_of(p, p->token), p->token.length))
                smp_diag_fix(p->diags, diag, "write -> @%.*s", (int)p->token.length, text_of(p, p->token));
        }
        statement->broken = true;
        return true;
    }
    statement->tap_span = span_of(p, p->token);
    statement->tap = smp_arena_strndup(p->arena, text_of(p, p->token) + 1, p->token.length - 1);
    if (!statement->tap)
        return false;
    advance(p);
    if (!at_end(p) && p->token.kind != SMP_TOKEN_BAD) {
        smp_diag *diag = smp_diags_add(p->diags, SMP_ERROR, span_of(p, p->token),
                                       "'-> @%.60s' ends a statement, but %s follows", statement->tap, found(p, shown));
        if (*text_of(p, p->token) == '#')
            smp_diag_note(p->diags, diag, SMP_COLOR_OR_COMMENT);
        statement->broken = true;
    }
    return true;
}

/* Without the blanks at its end. */
static int trimmed(const char *text, size_t length)
{
    while (length && strchr(" \t\r", text[length - 1]))
        length--;
    return (int)length;
}

/* Stages on one line, with a separator as shells and other tools have it. */
static void two_stages(parser *p, smp_token separator)
{
    const smp_diag_source *source = &p->diags->sources[span_of(p, separator).source];
    smp_diag *diag = smp_diags_add(p->diags, SMP_ERROR, span_of(p, separator),
                                   "one stage a line: put what follows on the next line");
    const char *after = text_of(p, separator) + separator.length, *before = text_of(p, separator);
    after += strspn(after, " \t");
    const size_t length = strcspn(after, ";|\r\n#");
    while (before > source->text && before[-1] != '\n')
        before--;
    const size_t first = strcspn(before, ";|");
    if (!length && !strcspn(after, "\r\n"))
        smp_diag_fix(p->diags, diag, "leave it out");
    else if (length && !strcmp(source->name, "-e") && !memchr(before, '\'', first) && !memchr(after, '\'', length))
        smp_diag_fix(p->diags, diag, "write -e '%.*s' -e '%.*s'", trimmed(before, first), before,
                     trimmed(after, length), after);
}

/* One argument: a value with or without a name. False: out of memory. */
static bool argument(parser *p, smp_ast_statement *statement)
{
    smp_token first = p->token;
    char shown[SMP_SHOWN + 2];
    bool pipe = first.kind == SMP_TOKEN_SEMICOLON ||
                (first.kind == SMP_TOKEN_WORD && first.length == 1 && *text_of(p, first) == '|');
    if (pipe || !begins_value(first.kind)) {
        statement->broken = true;
        if (pipe)
            two_stages(p, first);
        else if (first.kind == SMP_TOKEN_CLOSE)
            smp_diags_add(p->diags, SMP_ERROR, span_of(p, first), "this ']' closes nothing");
        else if (first.kind != SMP_TOKEN_BAD)
            smp_diags_add(p->diags, SMP_ERROR, span_of(p, first), "unexpected %s", found(p, shown));
        return true;
    }
    if (!first.apart) {
        smp_diag *diag =
            smp_diags_add(p->diags, SMP_ERROR, span_of(p, first), "a blank is missing before %s", found(p, shown));
        smp_diag_note(p->diags, diag, "arithmetic goes inside one pair of braces: {$size/2 + 1px}");
        statement->broken = true;
        return true;
    }
    smp_ast_arg arg = {0};
    if (first.kind == SMP_TOKEN_WORD) {
        /* Named or not: the next token decides. */
        if (!simple_value(p, &arg.value))
            return false;
        if (p->token.kind == SMP_TOKEN_EQUALS)
            return named_value(p, first, false, statement);
    } else if (!parse_value(p, &arg.value)) {
        return false;
    }
    statement->broken |= arg.value.kind == SMP_AST_BAD;
    return add_arg(p, arg);
}

/* `param NAME = value`, up to the value; p->token follows the keyword. */
static bool param_head(parser *p, smp_ast_statement *statement)
{
    char shown[SMP_SHOWN + 2];
    smp_token name = p->token;
    bool good = name.kind == SMP_TOKEN_WORD && smp_is_name(text_of(p, name), name.length);
    if (good) {
        advance(p);
        if (p->token.kind == SMP_TOKEN_EQUALS)
            return named_value(p, name, true, statement);
    }
    if (p->token.kind != SMP_TOKEN_BAD) {
        smp_diag *diag =
            smp_diags_add(p->diags, SMP_ERROR, span_of(p, p->token), "%s, found %s",
                          good ? "'param' needs '=' after its name" : "'param' needs a name of letters, digits and _",
                          found(p, shown));
        smp_diag_note(p->diags, diag, "for example: param size = 35px min=3px max=200px help=\"what it does\"");
    }
    statement->broken = true;
    return true;
}

/* Reports that the first token of a statement is not a word. */
static void bad_beginning(parser *p)
{
    char shown[SMP_SHOWN + 2];
    if (p->token.kind == SMP_TOKEN_BAD)
        return;
    smp_diag *diag = smp_diags_add(p->diags, SMP_ERROR, span_of(p, p->token),
                                   "a statement begins with a stage's name, not with %s", found(p, shown));
    if (p->token.kind == SMP_TOKEN_TAP)
        smp_diag_fix(p->diags, diag, "did you mean 'from %.*s'?", (int)p->token.length, text_of(p, p->token));
}

static bool statement(parser *p, smp_ast_statement *out)
{
    smp_token name = p->token;
    *out = (smp_ast_statement){.name_span = span_of(p, name)};
    p->arg_count = 0;
    if (name.kind != SMP_TOKEN_WORD) {
        bad_beginning(p);
        skip_statement(p);
        return true;
    }
    advance(p);
    if (p->token.kind == SMP_TOKEN_EQUALS) {
        char shown[SMP_SHOWN];
        smp_shown(shown, text_of(p, name), name.length);
        smp_diag *diag =
            smp_diags_add(p->diags, SMP_ERROR, span_of(p, name), "a stage's name is missing before '%s='", shown);
        smp_diag_note(p->diags, diag,
                      "a statement is a stage, a blank and key=value ...; a parameter is declared with: param %s = ...",
                      shown);
        skip_statement(p);
        return true;
    }
    out->name = smp_arena_strndup(p->arena, text_of(p, name), name.length);
    if (!out->name || (!strcmp(out->name, "param") && !param_head(p, out)))
        return false;
    while (!at_end(p) && !out->broken)
        if (!(p->token.kind == SMP_TOKEN_ARROW ? tap(p, out) : argument(p, out)))
            return false;
    if (!at_end(p)) {
        /* Still records the name of the result, so that its uses are not reported as well. */
        size_t at = p->end;
        skip_statement(p);
        for (const char *arrow = p->lexer.text + at; !out->tap && arrow + 3 < p->lexer.text + p->end; arrow++)
            if (arrow[0] == '-' && arrow[1] == '>') {
                const char *tap_name = arrow + 2 + strspn(arrow + 2, " \t");
                size_t length =
                    *tap_name == '@'
                        ? strspn(tap_name + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
                        : 0;
                if (length && !(out->tap = smp_arena_strndup(p->arena, tap_name + 1, length)))
                    return false;
                out->tap_span = (smp_span){p->lexer.source, (size_t)(tap_name - p->lexer.text), length + 1};
            }
    }
    out->span = (smp_span){p->lexer.source, name.start, p->end - name.start};
    out->args = smp_arena_copy(p->arena, p->args, p->arg_count * sizeof *p->args);
    out->arg_count = p->arg_count;
    return out->args != NULL;
}

/* value: what begins there is a value, not a statement. */
static parser begin(smp_arena *arena, smp_diags *diags, int source, size_t start, bool value)
{
    const smp_diag_source *text = &diags->sources[source];
    parser p = {.arena = arena, .diags = diags};
    p.lexer = (smp_lexer){.text = text->text, .length = text->length, .at = start, .source = source, .diags = diags};
    p.lexer.begun = value;
    p.end = start;
    p.token = smp_lex(&p.lexer);
    return p;
}

bool smp_ast_parse(smp_arena *arena, smp_diags *diags, int source, smp_ast *ast)
{
    smp_ast_statement *statements = NULL;
    size_t count = 0, capacity = 0;
    bool done = false;
    *ast = (smp_ast){0};
    parser p = begin(arena, diags, source, 0, false);
    while (p.token.kind != SMP_TOKEN_END && diags->errors < SMP_GIVE_UP) {
        if (p.token.kind == SMP_TOKEN_LINE) {
            advance(&p);
            continue;
        }
        if (count >= SMP_MAX_STATEMENTS) {
            smp_diags_add(diags, SMP_ERROR, span_of(&p, p.token), "a pipeline has at most %d statements",
                          SMP_MAX_STATEMENTS);
            break;
        }
        smp_ast_statement next;
        if (!statement(&p, &next) || !smp_grow(&statements, &capacity, count + 1, sizeof next))
            goto fail;
        if (next.name)
            statements[count++] = next;
    }
    ast->statements = smp_arena_copy(arena, statements, count * sizeof *statements);
    ast->count = count;
    done = ast->statements != NULL;
fail:
    diags->out_of_memory |= !done;
    smp_free_all(statements, p.args, p.items);
    return done;
}

bool smp_ast_parse_value(smp_arena *arena, smp_diags *diags, int source, size_t start, smp_ast_value *value)
{
    char shown[SMP_SHOWN + 2];
    bool done = true;
    *value = (smp_ast_value){0};
    parser p = begin(arena, diags, source, start, true);
    if (begins_value(p.token.kind)) {
        done = parse_value(&p, value);
    } else if (p.token.kind != SMP_TOKEN_BAD) {
        smp_diags_add(diags, SMP_ERROR, span_of(&p, p.token), "a value is missing");
    }
    if (done && value->kind != SMP_AST_BAD && p.token.kind != SMP_TOKEN_END) {
        if (p.token.kind != SMP_TOKEN_BAD)
            smp_diags_add(diags, SMP_ERROR, span_of(&p, p.token), "one value was expected, but %s follows",
                          found(&p, shown));
        value->kind = SMP_AST_BAD;
    }
    diags->out_of_memory |= !done;
    smp_free_all(p.items, p.args);
    return done;
}
