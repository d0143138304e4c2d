/* The lexer. See lex.h. */
#include "pipe/language/lex.h"

#include <string.h>

#include "base/text/text.h"
#include "pipe/limits.h"
#include "pipe/values/color.h"

smp_span smp_lex_span(const smp_lexer *lexer, smp_token token)
{
    return (smp_span){lexer->source, token.start, token.length};
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool smp_is_name(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!is_letter(text[i]) && !(i > 0 && text[i] >= '0' && text[i] <= '9'))
            return false;
    return length > 0;
}

bool smp_lex_acceptable(const char *text, size_t length, int source, smp_diags *diags)
{
    if (length > SMP_MAX_TEXT) {
        smp_diags_add(diags, SMP_ERROR, (smp_span){source, 0, 0},
                      "the text is %zu bytes long; a pipeline has at most %d", length, SMP_MAX_TEXT);
        return false;
    }
    for (size_t at = 0; at < length;) {
        uint32_t code;
        size_t n = smp_utf8_decode(text + at, length - at, &code);
        if (code == 0 || code == SMP_UTF8_INVALID) {
            smp_span span = {source, at, 1};
            smp_diag *diag = smp_diags_add(diags, SMP_ERROR, span,
                                           code ? "this is not UTF-8 text (byte 0x%02x)"
                                                : "this is not a text: it holds a null byte (0x%02x)",
                                           (unsigned char)text[at]);
            const bool utf16 = length > 1 && (!memcmp(text, "\xFF\xFE", 2) || !memcmp(text, "\xFE\xFF", 2));
            if (code && (at || utf16))
                smp_diag_note(diags, diag, "%save the file as UTF-8; comments and file names may use any language",
                              utf16 ? "it is UTF-16: s" : "s");
            else if (code)
                smp_diag_note(diags, diag, "a pipeline is a text of stages, one a line; is this a picture?");
            return false;
        }
        at += n;
    }
    return true;
}

/* The length of a line end at `at`: 0: none; 1: LF; 2: CR LF. */
static size_t line_end(const smp_lexer *lexer, size_t at)
{
    if (at < lexer->length && lexer->text[at] == '\n')
        return 1;
    return at + 1 < lexer->length && lexer->text[at] == '\r' && lexer->text[at + 1] == '\n' ? 2 : 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* A continued line (backslash, blanks, line end): the bytes it takes, or 0. At the end of the text a backslash
 * continues nothing. */
static size_t continuation(const smp_lexer *lexer, size_t at)
{
    if (at >= lexer->length || lexer->text[at] != '\\')
        return 0;
    size_t end = at + 1;
    while (end < lexer->length && is_blank(lexer->text[end]))
        end++;
    if (end == lexer->length)
        return end - at;
    size_t line = line_end(lexer, end);
    return line ? end + line - at : 0;
}

static bool at_arrow(const smp_lexer *lexer, size_t at)
{
    return at + 1 < lexer->length && lexer->text[at] == '-' && lexer->text[at + 1] == '>';
}

/* Whether the character at `at` may continue a word. */
static bool in_word(const smp_lexer *lexer, size_t at)
{
    unsigned char c = (unsigned char)lexer->text[at];
    return c > ' ' && c != 0x7F && !strchr("=;[]{}\"#@$\\", c) && !at_arrow(lexer, at);
}

static size_t word_end(const smp_lexer *lexer, size_t at)
{
    while (at < lexer->length && in_word(lexer, at))
        at++;
    return at;
}

/* The length of a `#` and its word inside a statement, outside a list, where they seem to be a colour: a letter or a
 * digit follows. 0: a comment begins there. */
static size_t color_at(const smp_lexer *lexer, size_t at)
{
    const char next = at + 1 < lexer->length ? lexer->text[at + 1] : ' ';
    if (!lexer->begun || lexer->in_list || !(is_letter(next) || (next >= '0' && next <= '9') || (next & 0x80)))
        return 0;
    const size_t color = smp_color_length(lexer->text + at, lexer->length - at);
    return color ? color : word_end(lexer, at + 1) - at;
}

static void skip_blanks(smp_lexer *lexer)
{
    for (size_t n;;) {
        if (lexer->at >= lexer->length)
            return;
        if (is_blank(lexer->text[lexer->at]))
            lexer->at++;
        else if ((n = continuation(lexer, lexer->at)) != 0 || (lexer->in_list && (n = line_end(lexer, lexer->at)) != 0))
            lexer->at += n;
        else if (lexer->text[lexer->at] == '#' && !color_at(lexer, lexer->at))
            while (lexer->at < lexer->length && !line_end(lexer, lexer->at))
                lexer->at++;
        else
            return;
    }
}

/* A word that begins with '(', or `random(`, goes to the ')' that closes it on its line, blanks included; where there
 * is none, it is a word as any other. */
static size_t group_end(const smp_lexer *lexer, size_t at)
{
    int depth = 0;
    for (size_t end = at; end < lexer->length && (in_word(lexer, end) || is_blank(lexer->text[end])); end++) {
        depth += (lexer->text[end] == '(') - (lexer->text[end] == ')');
        if (!depth)
            return word_end(lexer, end);
    }
    return word_end(lexer, at);
}

static smp_diag *report(const smp_lexer *lexer, smp_span span, const char *message)
{
    return lexer->quiet ? NULL : smp_diags_add(lexer->diags, SMP_ERROR, span, "%s", message);
}

/* Reads to the closing character of a string or a brace, or to the end of the line. */
static smp_token enclosed(smp_lexer *lexer, smp_token token, char close)
{
    const char *text = lexer->text;
    size_t at = token.start + 1;
    while (at < lexer->length && text[at] != close && !line_end(lexer, at)) {
        size_t n = close == '}' ? continuation(lexer, at) : 0;
        if (close == '}' && (text[at] == '#' || text[at] == '"' || text[at] == '{'))
            break;
        if (close == '"' && text[at] == '\\' && at + 1 < lexer->length && !line_end(lexer, at + 1))
            n = 2;
        at += n ? n : 1;
    }
    if (at < lexer->length && text[at] == close) {
        at++;
    } else {
        if (at > lexer->length)
            at = lexer->length;
        smp_span span = {lexer->source, token.start, 1};
        smp_diag *diag = report(lexer, span,
                                close == '"' ? "this text has no closing quote on its line"
                                             : "this '{' has no closing '}' on its line");
        smp_diag_fix(lexer->diags, diag, "close it with %c", close);
        token.kind = SMP_TOKEN_BAD;
    }
    token.length = at - token.start;
    lexer->at = at;
    return token;
}

static smp_token sigil(smp_lexer *lexer, smp_token token)
{
    size_t end = word_end(lexer, token.start + 1), length = end - token.start;
    const char *name = lexer->text + token.start + 1;
    token.length = length;
    lexer->at = end;
    if (smp_is_name(name, length - 1))
        return token;
    char shown[SMP_SHOWN];
    smp_shown(shown, lexer->text + token.start, length);
    smp_span span = smp_lex_span(lexer, token);
    if (!lexer->quiet && length == 1) {
        smp_diag *diag = smp_diags_add(lexer->diags, SMP_ERROR, span, "'%s' needs a name", shown);
        smp_diag_note(lexer->diags, diag,
                      "$name is a parameter's value, @name a picture or sound kept with `-> @name`");
    } else if (!lexer->quiet) {
        smp_diag *diag = smp_diags_add(lexer->diags, SMP_ERROR, span, "'%s' is not a name", shown);
        bool arithmetic = token.kind == SMP_TOKEN_VALUE && strpbrk(shown, "+-*/()");
        if (arithmetic)
            smp_diag_fix(lexer->diags, diag, "arithmetic goes into braces: {%s}", shown);
        smp_diag_note(lexer->diags, diag, "names are made of letters, digits and _, and begin with a letter");
    }
    token.kind = SMP_TOKEN_BAD;
    return token;
}

/* A colour, or a word that is none. */
static smp_token color(smp_lexer *lexer, smp_token token)
{
    token.length = color_at(lexer, token.start);
    lexer->at += token.length;
    token.kind = smp_color_length(lexer->text + token.start, token.length) ? SMP_TOKEN_WORD : SMP_TOKEN_BAD;
    if (token.kind == SMP_TOKEN_WORD)
        return token;
    smp_diag *diag = report(lexer, smp_lex_span(lexer, token), "neither a colour nor a comment");
    smp_diag_note(lexer->diags, diag, SMP_COLOR_OR_COMMENT);
    return token;
}

/* A character that begins no token. */
static smp_token stray(smp_lexer *lexer, smp_token token)
{
    uint32_t code;
    token.kind = SMP_TOKEN_BAD;
    token.length = smp_utf8_decode(lexer->text + token.start, lexer->length - token.start, &code);
    lexer->at += token.length;
    if (lexer->quiet)
        return token;
    smp_span span = smp_lex_span(lexer, token);
    if (code == '}')
        smp_diags_add(lexer->diags, SMP_ERROR, span, "this '}' closes nothing");
    else if (code == '\\')
        smp_diag_note(lexer->diags, smp_diags_add(lexer->diags, SMP_ERROR, span, "stray '\\'"),
                      "a backslash continues a statement when it is the last character of a line");
    else {
        smp_diag *diag = smp_diags_add(lexer->diags, SMP_ERROR, span, "control character 0x%02x", (unsigned)code);
        if (code == '\r')
            smp_diag_note(lexer->diags, diag, "a line end of old Macs: save the file with those of Unix or Windows");
    }
    return token;
}

/* Ends, line ends, arrows and single signs. False: it is something longer. */
static bool plain(smp_lexer *lexer, smp_token *token)
{
    static const char single[] = "=[];";
    static const smp_token_kind kinds[] = {SMP_TOKEN_EQUALS, SMP_TOKEN_OPEN, SMP_TOKEN_CLOSE, SMP_TOKEN_SEMICOLON};
    const bool end = lexer->at >= lexer->length;
    const size_t n = end ? 0 : line_end(lexer, lexer->at);
    if (end || n) {
        lexer->begun = false;
        token->kind = end ? SMP_TOKEN_END : SMP_TOKEN_LINE;
        token->length = 0; /* the end of a line has no character to point at */
        lexer->at += n;
        return true;
    }
    if (at_arrow(lexer, lexer->at)) {
        token->kind = SMP_TOKEN_ARROW;
        token->length = 2;
        lexer->at += 2;
        return true;
    }
    const char c = lexer->text[lexer->at], *found = c ? strchr(single, c) : NULL;
    if (found) {
        token->kind = kinds[found - single];
        lexer->at++;
    }
    return found;
}

smp_token smp_lex(smp_lexer *lexer)
{
    size_t from = lexer->at;
    if (from == 0 && lexer->length >= 3 && !memcmp(lexer->text, "\xEF\xBB\xBF", 3))
        lexer->at = 3;
    skip_blanks(lexer);
    smp_token token = {.start = lexer->at, .length = 1};
    token.apart = lexer->at > from || lexer->at == 0 || lexer->text[lexer->at - 1] == '\n';
    if (plain(lexer, &token))
        return token;
    lexer->begun = true;
    const char c = lexer->text[lexer->at];
    switch (c) {
    case '"':
        token.kind = SMP_TOKEN_STRING;
        return enclosed(lexer, token, '"');
    case '{':
        token.kind = SMP_TOKEN_BRACE;
        return enclosed(lexer, token, '}');
    case '$':
        token.kind = SMP_TOKEN_VALUE;
        return sigil(lexer, token);
    case '@':
        token.kind = SMP_TOKEN_TAP;
        return sigil(lexer, token);
    case '#':
        return color(lexer, token);
    default:
        break;
    }
    if (!in_word(lexer, lexer->at))
        return stray(lexer, token);
    token.kind = SMP_TOKEN_WORD;
    static const char random[] = "random(";
    const size_t head = sizeof random - 1;
    if (lexer->length - lexer->at >= head && !memcmp(lexer->text + lexer->at, random, head))
        lexer->at = group_end(lexer, lexer->at + head - 1);
    else
        lexer->at = c == '(' ? group_end(lexer, lexer->at) : word_end(lexer, lexer->at);
    token.length = lexer->at - token.start;
    return token;
}
