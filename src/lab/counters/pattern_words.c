/* The words of access patterns, and messages about unknown ones: see pattern_parse.h. */
#include "lab/counters/pattern_parse.h"

#include <ctype.h>
#include <string.h>

#include "base/text/text.h"

const smp_pattern_name smp_pattern_names[] = {
    {"tid", SMP_PN_TID, 0},
    {"lane", SMP_PN_TID, 0},
    {"threadIdx.x", SMP_PN_TX, 0},
    {"threadIdx.y", SMP_PN_TY, 0},
    {"threadIdx.z", SMP_PN_TZ, 0},
    {"tx", SMP_PN_TX, 0},
    {"ty", SMP_PN_TY, 0},
    {"tz", SMP_PN_TZ, 0},
    {"blockDim.x", SMP_PN_BLOCK, 0},
    {"blockDim.y", SMP_PN_BLOCK_Y, 0},
    {"blockDim.z", SMP_PN_BLOCK_Z, 0},
    {"warpSize", SMP_PN_NUMBER, SMP_WARP},
    {0},
};

const smp_pattern_function smp_pattern_functions[] = {
#define LEAF(op, value)
#define PREFIX(op, mark, effect)
#define OPERATOR(op, text, level, effect)
#define FUNCTION(op, name, least, most, effect) {name, SMP_PN_##op, least, most},
#include "lab/counters/pattern_op_list.def"
    {0},
};

const smp_pattern_walk smp_pattern_walks[] = {
    {"row", SMP_WALK_ROW},
    {"column", SMP_WALK_COLUMN},
    {"col", SMP_WALK_COLUMN},
    {"diagonal", SMP_WALK_DIAGONAL},
    {"antidiagonal", SMP_WALK_ANTIDIAGONAL},
    {0},
};

void smp_pattern_blanks(smp_pattern_parser *p)
{
    while (p->at < p->length && strchr(" \t\r\n", p->text[p->at]) && p->text[p->at])
        p->at++;
}

static bool name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

size_t smp_pattern_word_end(const smp_pattern_parser *p)
{
    size_t end = p->at;
    if (end < p->length && (isalpha((unsigned char)p->text[end]) || p->text[end] == '_'))
        while (end < p->length && name_char(p->text[end]))
            end++;
    return end;
}

bool smp_pattern_is_word(const smp_pattern_parser *p, size_t start, size_t end, const char *word)
{
    return strlen(word) == end - start && !memcmp(p->text + start, word, end - start);
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
enum {
    MOST_WORDS =
        COUNT(smp_pattern_names) + COUNT(smp_pattern_functions) + COUNT(smp_pattern_walks) + SMP_PATTERN_MOST_TYPES
};

/* All words of patterns. Returns how many. */
static size_t all_words(const char *words[MOST_WORDS])
{
    size_t count = 0;
    for (const smp_pattern_name *name = smp_pattern_names; name->name; name++)
        words[count++] = name->name;
    for (const smp_pattern_function *function = smp_pattern_functions; function->name; function++)
        words[count++] = function->name;
    for (const smp_pattern_walk *walk = smp_pattern_walks; walk->name; walk++)
        words[count++] = walk->name;
    for (const smp_pattern_type *type = smp_pattern_types; type->name && count < MOST_WORDS; type++)
        words[count++] = type->name;
    return count;
}

bool smp_pattern_has_word(const char *word)
{
    const char *words[MOST_WORDS];
    size_t count = all_words(words);
    while (count > 0 && strcmp(words[count - 1], word) != 0)
        count--;
    return count > 0;
}

smp_span smp_pattern_span(const smp_pattern_parser *p, size_t start, size_t end)
{
    return (smp_span){p->source, start, end > start ? end - start : 1};
}

/* The text of a mistake at start..end: one character, number or word, without control characters. */
size_t smp_pattern_bad_length(const smp_pattern_parser *p, size_t start)
{
    size_t end = start;
    uint32_t code;
    if (start >= p->length)
        return 0;
    while (end < p->length && name_char(p->text[end]))
        end++;
    return end > start ? end - start : smp_utf8_decode(p->text + start, p->length - start, &code);
}

int smp_pattern_expected(smp_pattern_parser *p, const char *what)
{
    char shown[SMP_SHOWN];
    size_t length = smp_pattern_bad_length(p, p->at);
    smp_diag *diag;
    if (length)
        diag = smp_diags_add(p->diags, SMP_ERROR, smp_pattern_span(p, p->at, p->at + length), "unexpected '%s'",
                             smp_shown(shown, p->text + p->at, length));
    else
        diag = smp_diags_add(p->diags, SMP_ERROR, smp_pattern_span(p, p->at, p->at), "the pattern ends too early");
    smp_diag_fix(p->diags, diag, "expected %s", what);
    return SMP_PATTERN_NONE;
}

/* Reports a walk without an array. */
static int misplaced_walk(smp_pattern_parser *p, size_t start, size_t end, const char *name)
{
    smp_diag *diag = smp_diags_add(p->diags, SMP_ERROR, smp_pattern_span(p, start, end), "a %s of what?", name);
    smp_diag_fix(p->diags, diag, "write the array first: [32][32] %s", name);
    return SMP_PATTERN_NONE;
}

int smp_pattern_unknown(smp_pattern_parser *p, size_t start, size_t end)
{
    const char *words[MOST_WORDS];
    char shown[SMP_SHOWN];
    const size_t count = all_words(words);
    for (const smp_pattern_walk *walk = smp_pattern_walks; walk->name; walk++)
        if (smp_pattern_is_word(p, start, end, walk->name))
            return misplaced_walk(p, start, end, walk->name);
    const char *near = smp_nearest(p->text + start, end - start, words, count);
    smp_diag *diag = smp_diags_add(p->diags, SMP_ERROR, smp_pattern_span(p, start, end), "unknown name '%s'",
                                   smp_shown(shown, p->text + start, end - start));
    const bool source = end - start > 3 && !memcmp(p->text + end - 3, ".cu", 3);
    if (near)
        smp_diag_fix(p->diags, diag, "did you mean '%s'?", near);
    else if (source)
        smp_diag_fix(p->diags, diag, "of a program write smempipe kernel %.*s", (int)(end - start), p->text + start);
    smp_diag_note(
        p->diags, diag,
        "a pattern knows tid (or lane), threadIdx.x, .y, .z, blockDim.x, .y, .z, min, max, abs, brev, random, "
        "and what -D NAME=VALUE gives");
    return SMP_PATTERN_NONE;
}
