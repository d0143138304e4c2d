/* Values without names, as other programs write them (smp_hints.forms): matched, and given the names that they have
 * here. See build.h. */
#include <string.h>

#include "pipe/language/build.h"

enum {
    LETTERS = 26,
    VALUES = 8,  /* that a form has at most */
    NUMBER = 20, /* bytes of one */
    TEXT = 512,  /* bytes of a form's text, filled in */
};

typedef struct part {
    const char *text;
    size_t length;
} part;

typedef struct match {
    part parts[LETTERS]; /* what $A, @A, *A stand for */
} match;

/* The bytes of a number at `text`; with its unit where it `ends` the value. */
static size_t number_length(const char *text, bool ends)
{
    size_t n = strspn(text, "0123456789.");
    if (!n || n > NUMBER)
        return 0;
    if (ends && text[n] == ':')
        n += strspn(text + n, "0123456789:.");
    else if (ends)
        n += strspn(text + n, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ%");
    else
        n += text[n] == '%';
    return n;
}

/* Matches one value against one word of a form, which ends at a blank. */
static bool fits_value(const char *form, const char *value, match *found)
{
    while (*form && *form != ' ') {
        size_t n = 1;
        if (*form == '*') {
            n = strlen(value);
            found->parts[form[1] - 'A'] = (part){value, n};
            form++;
        } else if (*form == '$' || *form == '@') {
            const bool ends = !form[2] || form[2] == ' ';
            const char *letters = *value == '#' ? "#0123456789abcdefABCDEF" : "abcdefghijklmnopqrstuvwxyz-";
            n = *form == '@' ? strspn(value, letters) : number_length(value, ends);
            if (!n)
                return false;
            found->parts[form[1] - 'A'] = (part){value, n};
            form++;
        } else if (*form != *value) {
            return false;
        }
        form++;
        value += n;
    }
    return !*value;
}

static bool fits(const smp_form *form, const smp_ast_value *const *values, size_t count, match *found)
{
    const char *at = form->values;
    for (size_t i = 0; i < count; i++) {
        if (!*at || values[i]->kind != SMP_AST_WORD || !fits_value(at, values[i]->text, found))
            return false;
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    return !*at;
}

static const smp_form *form_of(const smp_stage *stage, smp_kind kind, const smp_ast_value *const *values, size_t count,
                               match *found)
{
    for (const smp_form *form = stage->hints ? stage->hints->forms : NULL; form && form->values; form++)
        if ((!form->given || !kind || (form->given & kind)) && fits(form, values, count, found))
            return form;
    return NULL;
}

/* A text of a form with what its letters stand for. */
static void fill_in(const char *text, const match *found, char *to, size_t size)
{
    size_t used = 0;
    for (; *text && used + 1 < size; text++) {
        const bool letter = (*text == '$' || *text == '@' || *text == '*') && text[1] >= 'A' && text[1] <= 'Z';
        const part one = letter ? found->parts[text[1] - 'A'] : (part){text, 1};
        const size_t n = one.length < size - used - 1 ? one.length : size - used - 1;
        memcpy(to + used, one.text, n);
        used += n;
        text += letter;
    }
    to[used] = '\0';
}

bool smp_write_instead(const smp_stage *stage, const smp_ast_value *value, char *text, size_t size)
{
    match found = {0};
    const smp_form *form = value->kind == SMP_AST_WORD ? form_of(stage, SMP_KIND_NONE, &value, 1, &found) : NULL;
    if (!form || !form->say)
        return smp_stage_instead(stage, value->text, text, size);
    if (!value->text[strspn(value->text, "0.%")]) /* nothing is nothing in any form */
        return false;
    fill_in(form->say, &found, text, size);
    return true;
}

/* The argument that "width=800" is; its place is that of the values. */
static bool make_arg(smp_arena *arena, const char *text, smp_span span, smp_ast_arg *arg)
{
    const size_t name = strcspn(text, "="), length = strcspn(text, " ");
    const bool brace = text[name + 1] == '{';
    const size_t from = name + 1 + brace, bytes = length - from - brace;
    *arg = (smp_ast_arg){.name_span = span, .name_length = name, .name = smp_arena_strndup(arena, text, name)};
    arg->value = (smp_ast_value){.kind = brace ? SMP_AST_BRACE : SMP_AST_WORD,
                                 .span = span,
                                 .text = smp_arena_strndup(arena, text + from, bytes),
                                 .length = bytes};
    return arg->name && arg->value.text;
}

/* Whether an argument is one of the values that a form is of: neither named, nor by its word. */
static bool is_bare(const smp_stage *stage, const smp_ast_arg *arg)
{
    return !arg->name && !smp_row_of_word(stage, &arg->value);
}

/* The values of a form, VALUES at most; how many. */
static size_t bare_values(const smp_stage *stage, const smp_ast_arg *args, size_t count, const smp_ast_value **values)
{
    size_t bare = 0;
    for (size_t i = 0; i < count; i++)
        if (is_bare(stage, &args[i]) && bare < VALUES)
            values[bare++] = &args[i].value;
    return bare;
}

bool smp_has_form(const smp_stage *stage, const smp_ast_statement *statement)
{
    const smp_ast_value *values[VALUES];
    match found;
    const size_t bare = bare_values(stage, statement->args, statement->arg_count, values);
    const smp_form *form = bare ? form_of(stage, SMP_KIND_NONE, values, bare, &found) : NULL;
    return form && form->means;
}

/* What a form means, without what it says of itself and the user says too: `flip random probability=30%`. */
static void say_more(const char *means, const smp_ast_arg *args, size_t count, char to[TEXT])
{
    size_t used = 0;
    for (const char *at = means; at && *at; at += strspn(at, " ")) {
        const size_t name = strcspn(at, "="), length = strcspn(at, " ");
        bool said = false;
        for (size_t i = 0; i < count; i++)
            said |= args[i].name && args[i].name_length == name && !memcmp(args[i].name, at, name);
        if ((!said || memchr(at, '$', length) || memchr(at, '@', length)) && used + length + 2 < TEXT) {
            memcpy(to + used, at, length);
            used += length;
            to[used++] = ' ';
        }
        at += length;
    }
    to[used] = '\0';
}

bool smp_name_values(smp_builder *b, const smp_stage *stage, smp_kind kind, smp_ast_arg **args, size_t *count,
                     bool *told)
{
    const smp_ast_value *values[VALUES];
    match found = {0};
    char text[TEXT];
    const size_t bare = bare_values(stage, *args, *count, values);
    size_t made = 0;
    const smp_form *form = bare ? form_of(stage, kind, values, bare, &found) : NULL;
    if (!form || (!form->means && bare == 1)) /* one value: only where the main parameter refuses it */
        return true;
    char means[TEXT];
    say_more(form->means, *args, *count, means);
    fill_in(form->means ? means : form->say, &found, text, sizeof text);
    if (!form->means) {
        smp_diag *diag =
            smp_diags_add(b->diags, SMP_ERROR, values[0]->span, "the values of stage '%s' have names", stage->name);
        smp_diag_fix(b->diags, diag, "%s", text);
        *told = true;
    }
    smp_ast_arg *named = smp_arena_array(&b->owned->arena, *count + VALUES, sizeof *named);
    if (!named)
        return false;
    for (const char *at = text; form->means && *at; at += strspn(at, " ")) {
        if (!make_arg(&b->owned->arena, at, values[made < bare ? made : bare - 1]->span, &named[made]))
            return false;
        made++;
        at += strcspn(at, " ");
    }
    for (size_t i = 0; i < *count; i++)
        if (!is_bare(stage, &(*args)[i]))
            named[made++] = (*args)[i];
    *args = named;
    *count = made;
    return true;
}
