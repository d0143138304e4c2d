/* Guesses what a refused text was meant as: letters of word processors, stages that share a line, values as shells and
 * other tools write them. See build.h. */
#include <string.h>

#include "pipe/language/build.h"

enum { MOST = 80 }; /* bytes of a text that is looked at */

/* Characters that look like others: what word processors and web pages make of them. */
static const struct {
    uint32_t first, last;
    char plain;
    const char *name;
} lookalikes[] = {
    {0xA0, 0xA0, ' ', "a no-break space"},        {0x2000, 0x200A, ' ', "a space of a set width"},
    {0x200B, 0x200D, 0, "an invisible letter"},   {0x202F, 0x202F, ' ', "a no-break space"},
    {0xFEFF, 0xFEFF, 0, "an invisible letter"},   {0x2010, 0x2015, '-', "a typographic dash"},
    {0x2212, 0x2212, '-', "a typographic minus"}, {0x2018, 0x201F, '"', "a typographic quote"},
    {0xAB, 0xAB, '"', "a typographic quote"},     {0xBB, 0xBB, '"', "a typographic quote"},
};

/* The text in plain characters, and the name of the first that was not; null: all of them are. */
static const char *make_plain(const char *text, size_t length, char plain[MOST])
{
    const char *name = NULL;
    size_t used = 0;
    for (size_t at = 0; at < length && used + 5 < MOST;) {
        uint32_t code;
        const size_t n = smp_utf8_decode(text + at, length - at, &code);
        size_t i = 0;
        while (i < sizeof lookalikes / sizeof lookalikes[0] &&
               !(code >= lookalikes[i].first && code <= lookalikes[i].last))
            i++;
        if (i < sizeof lookalikes / sizeof lookalikes[0]) {
            name = name ? name : lookalikes[i].name;
            if (lookalikes[i].plain)
                plain[used++] = lookalikes[i].plain;
        } else {
            memcpy(plain + used, text + at, n);
            used += n;
        }
        at += n;
    }
    plain[used] = '\0';
    return name;
}

/* Leaves out what is one of `letters`. */
static void leave_out(char *text, const char *letters)
{
    size_t used = 0;
    for (const char *at = text; *at; at++)
        if (!strchr(letters, *at))
            text[used++] = *at;
    text[used] = '\0';
}

bool smp_names_stage(const char *text, size_t length)
{
    for (size_t i = 0; i < smp_catalog_count(); i++) {
        const smp_stage *stage = smp_catalog_at(i);
        if (!smp_stage_is(stage, SMP_TRAIT_INTERNAL) && strlen(stage->name) == length &&
            !memcmp(stage->name, text, length))
            return true;
    }
    return false;
}

static bool is_number(const char *text)
{
    smp_quantity quantity;
    size_t unit_at;
    return smp_quantity_read(text, strlen(text), &quantity, &unit_at) == SMP_NUMBER_OK;
}

const char *smp_own_line(const smp_builder *b, int source)
{
    return strcmp(b->diags->sources[source].name, "-e") ? "a stage: it gets a line of its own"
                                                        : "a stage: it gets a -e of its own";
}

static bool takes_number(const smp_param *param)
{
    return param->type == SMP_T_FLOAT || param->type == SMP_T_INT;
}

/* "2,5" and "2px,": the decimal sign is a point, and nothing stands between values. False: it is neither. */
static bool mend_comma(const char *text, char plain[MOST])
{
    const size_t length = strlen(text);
    char *comma;
    if (length >= MOST)
        return false;
    memcpy(plain, text, length + 1);
    for (size_t end = length; end && strchr(",;", plain[end - 1]); end--)
        plain[end - 1] = '\0';
    if ((comma = strchr(plain, ',')) != NULL && !strchr(comma + 1, ','))
        *comma = '.';
    return is_number(plain);
}

void smp_mend_value(smp_builder *b, const smp_stage *stage, const smp_param *param, const smp_value *value,
                    smp_diag *diag)
{
    char plain[MOST];
    const char *odd = NULL;
    const bool word = value->kind == SMP_VALUE_WORD;
    if (takes_number(param) && word && !strcmp(value->text, "random"))
        smp_diag_fix(b->diags, diag, "say what is drawn from: random(0.8..1.2)");
    else if (takes_number(param) && value->kind == SMP_VALUE_LIST && value->text[0] != '[')
        smp_diag_fix(b->diags, diag, "write random(%.60s)", value->text);
    if (!word && value->kind != SMP_VALUE_STRING)
        return;
    if (word && param->type == SMP_T_MATRIX && (!strcmp(value->text, "none") || !strcmp(value->text, "transparent")))
        smp_diag_fix(b->diags, diag, "write %s=#0000, and `alpha opaque` before the stage", param->name);
    if (word && smp_names_stage(value->text, value->length))
        smp_diag_fix(b->diags, diag, "%s", smp_own_line(b, value->span.source));
    else if (word && value->text[0] == '-' && value->text[strspn(value->text, "-")]) {
        const char *name = value->text + strspn(value->text, "-");
        for (const smp_param *row = stage->params; row && row->name; row++)
            if (!strcmp(row->name, name))
                smp_diag_fix(b->diags, diag, "without dashes: %s=VALUE", name);
    }
    if (diag->fix || !takes_number(param))
        return;
    if (word && (odd = make_plain(value->text, value->length, plain)) != NULL) {
        leave_out(plain, " \"");
        if (is_number(plain))
            smp_diag_fix(b->diags, diag, "with %s: write %s", odd, plain);
    } else if (word && mend_comma(value->text, plain))
        smp_diag_fix(b->diags, diag, "write %s", plain);
    else if (!word && is_number(value->text))
        smp_diag_fix(b->diags, diag, "write it without quotes: %.60s", value->text);
}

bool smp_mend_stage(smp_builder *b, const smp_ast_statement *statement, smp_diag *diag)
{
    static const char *const comments[] = {"//", "--", "/*", "%"};
    static const char suffix[] = ".pipe";
    const char *name = statement->name;
    const size_t length = strlen(name);
    char plain[MOST];
    const char *odd = make_plain(name, length, plain);
    bool comment = !strcmp(name, "REM") || !strcmp(name, "rem");
    for (size_t i = 0; i < sizeof comments / sizeof comments[0]; i++)
        comment |= !strncmp(name, comments[i], strlen(comments[i]));
    if (comment) {
        smp_diag_fix(b->diags, diag, "a comment begins with #");
        return true;
    }
    if (length >= sizeof suffix && !strcmp(name + length - (sizeof suffix - 1), suffix)) {
        smp_diag_fix(b->diags, diag, "a pipeline: smempipe run %s IN OUT, or in a pipeline include \"%s\"", plain,
                     plain);
        return true;
    }
    if (name[strspn(name, "-*+0123456789.)")] == '\0') { /* of a list */
        smp_diag_fix(b->diags, diag, "a line begins with a stage's name");
        return true;
    }
    const size_t letters = strspn(plain, "abcdefghijklmnopqrstuvwxyz0123456789_");
    if (!plain[letters] || !smp_names_stage(plain, letters))
        return false;
    /* "gaussian(2px)", "gaussian,2px" */
    char *rest = plain + letters;
    leave_out(rest, "():\"");
    for (char *at = rest; *at; at++)
        *at = strchr(",;", *at) ? ' ' : *at;
    rest += strspn(rest, " .");
    if (rest[0] == '-' && !is_number(rest)) /* "equalize-histogram" is another name */
        return false;
    smp_diag_fix(b->diags, diag, "%s%swrite %.*s%s%s", odd ? odd : "", odd ? ": " : "", (int)letters, plain,
                 *rest ? " " : "", rest);
    return true;
}
