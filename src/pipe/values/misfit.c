/* Messages for a value that does not fit its parameter, and what to type instead. See value.h. */
#include <stdio.h>
#include <string.h>

#include "base/text/text.h"
#include "pipe/values/value.h"

enum { DOMAIN_TEXT = 400 };

void smp_value_describe(const smp_value *value, char *text, size_t size)
{
    char shown[SMP_SHOWN];
    smp_shown(shown, value->text, value->length);
    const char *quote = value->kind == SMP_VALUE_STRING ? "\"" : "'";
    if (value->kind == SMP_VALUE_TAP)
        snprintf(text, size, "the picture '@%s'", shown);
    else if (value->param)
        snprintf(text, size, "'$%.60s' (%s)", value->param, shown);
    else
        snprintf(text, size, "%s%s%s", quote, shown, quote);
}

/* "'sigma' must be above 0 to 1000 px, not '0px'" */
smp_diag *smp_value_not_accepted(smp_check *check, const smp_param *param, const smp_value *value)
{
    char domain[DOMAIN_TEXT], what[2 * SMP_SHOWN];
    smp_param_domain(param, domain, sizeof domain);
    smp_value_describe(value, what, sizeof what);
    return smp_diags_add(check->diags, SMP_ERROR, value->span, "%s'%s' must be %s, not %s",
                         check->element ? "each value of " : "", param->name, domain, what);
}

static bool same_but_case(const char *word, const char *text, size_t length)
{
    return strlen(word) == length && smp_edit_distance(word, length, text, length) == 0;
}

/* The unit that an unknown one is probably meant for, of those that the parameter takes, or the same in other letters;
 * null: none. MHz is no typing mistake of kHz. */
static const char *nearest_unit(const smp_param *param, const char *text, size_t length)
{
    enum { MOST = 32 };
    const char *fit[MOST];
    size_t count = 0;
    smp_quantity one;
    for (size_t i = 0; i < smp_unit_word_count && count < MOST; i++)
        if (smp_unit_apply(smp_unit_words[i], strlen(smp_unit_words[i]), 1, &one) && one.unit == param->unit)
            fit[count++] = smp_unit_words[i];
    for (size_t i = 0; i < smp_unit_word_count; i++)
        if (same_but_case(smp_unit_words[i], text, length))
            return smp_unit_words[i];
    if (param->unit == SMP_UNIT_HZ && same_but_case("k", text, length))
        return "kHz";
    for (size_t i = 0; i < smp_unit_word_count; i++)
        if (same_but_case(smp_unit_words[i], text + 1, length - 1))
            return NULL;
    return smp_nearest(text, length, fit, count);
}

/* Lengths on paper: pixels at a usual resolution; 0: it is none. */
static double paper_pixels(const char *text, size_t length)
{
    static const struct {
        const char *name;
        double inches;
    } units[] = {{"in", 1}, {"inch", 1}, {"cm", 1 / 2.54}, {"mm", 1 / 25.4}, {"pt", 1 / 72.}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (same_but_case(units[i].name, text, length))
            return units[i].inches * 300;
    return 0;
}

/* "5x5" */
static bool is_square(const smp_value *value, size_t number)
{
    return number < SMP_SHOWN && value->length == 2 * number + 1 && value->text[number] == 'x' &&
           !memcmp(value->text, value->text + number + 1, number);
}

/* A number with something behind it. */
typedef struct tailed {
    const smp_value *value;
    size_t number;    /* bytes of the number */
    const char *rest; /* what follows it */
    size_t length;    /* of that */
    char shown[SMP_SHOWN];
} tailed;

/* Reports what is a ratio, arithmetic or a list, and is not written as those are. False: it is none of them. */
static bool is_written_otherwise(smp_check *check, const smp_param *param, const tailed *t)
{
    const bool ratio = t->rest[0] == ':' && param->unit == SMP_UNIT_NONE && t->length > 1 &&
                       strspn(t->rest + 1, "0123456789.") == t->length - 1;
    const bool arithmetic = !ratio && strpbrk(t->rest, "+*/()-");
    if (!ratio && !arithmetic && t->rest[t->length - 1] != ',')
        return false;
    smp_diag *diag = smp_diags_add(check->diags, SMP_ERROR, t->value->span, "'%s' is not a number", t->shown);
    if (!ratio && !arithmetic)
        smp_diag_note(check->diags, diag, "values are separated by blanks, rows by ';'; the decimal sign is a point");
    else if (t->value->param)
        return true;
    else if (ratio)
        smp_diag_fix(check->diags, diag, "ratios are written {%.*s/%.*s}", (int)(t->number < SMP_SHOWN ? t->number : 0),
                     t->shown, (int)(t->length < SMP_SHOWN ? t->length - 1 : 0), t->rest + 1);
    else
        smp_diag_fix(check->diags, diag, "arithmetic goes into braces: {%s}", t->shown);
    return true;
}

static void report_unit(smp_check *check, const smp_param *param, const tailed *t)
{
    char unit[SMP_SHOWN];
    const smp_value *value = t->value;
    smp_diag *diag = smp_diags_add(check->diags, SMP_ERROR, value->span, "unknown unit '%s' in '%s'",
                                   smp_shown(unit, t->rest, t->length), t->shown);
    const double pixels = param->unit == SMP_UNIT_PX ? paper_pixels(t->rest, t->length) : 0;
    const bool list = memchr(t->rest, ',', t->length);
    const char *near = pixels > 0 || list ? NULL : nearest_unit(param, t->rest, t->length);
    if (is_square(value, t->number) && !value->param && param->unit != SMP_UNIT_FRACTION)
        smp_diag_fix(check->diags, diag, "write %.*s: one value serves both directions", (int)t->number, value->text);
    else if (near && !value->param)
        smp_diag_fix(check->diags, diag, "did you mean '%.*s%s'?", (int)(t->number < SMP_SHOWN ? t->number : SMP_SHOWN),
                     t->shown, near);
    double paper;
    size_t used;
    if (pixels > 0 && smp_number_read(value->text, value->length, &paper, &used) == SMP_NUMBER_OK)
        smp_diag_note(check->diags, diag, "lengths are in px: at 300 dpi, %s is %.4gpx", t->shown, paper * pixels);
    else if (param->unit == SMP_UNIT_NONE)
        smp_diag_note(check->diags, diag, "'%s' is a plain number", param->name);
    else
        smp_diag_note(check->diags, diag, "'%s' is %s; without a unit it is in %s", param->name,
                      smp_dimension(param->unit),
                      param->unit == SMP_UNIT_FRACTION ? "parts of 1" : smp_unit_name(param->unit));
}

/* Reports a bare word in the place of a number. */
void smp_value_not_a_number(smp_check *check, const smp_param *param, const smp_value *value)
{
    smp_quantity quantity;
    tailed t = {.value = value};
    smp_number result = smp_quantity_read(value->text, value->length, &quantity, &t.number);
    if (value->kind != SMP_VALUE_WORD || result == SMP_NUMBER_NONE || result == SMP_NUMBER_OK) {
        smp_diag *diag = smp_value_not_accepted(check, param, value);
        if (value->kind == SMP_VALUE_WORD && (param->flags & SMP_P_AUTO)) {
            static const char *const also[] = {"auto"};
            if (smp_nearest(value->text, value->length, also, 1))
                smp_diag_fix(check->diags, diag, "did you mean 'auto'?");
        }
        return;
    }
    smp_shown(t.shown, value->text, value->length);
    if (result == SMP_NUMBER_LARGE) {
        smp_diags_add(check->diags, SMP_ERROR, value->span, "'%s' is too large a number", t.shown);
        return;
    }
    t.rest = value->text + t.number;
    t.length = value->length - t.number;
    if (!is_written_otherwise(check, param, &t))
        report_unit(check, param, &t);
}

/* Suggests what to type for a number whose unit is not the parameter's: its number in the right unit, and a parameter
 * of the stage whose unit it is. */
static void note_what_fits(smp_check *check, smp_diag *diag, const smp_param *param, const smp_value *value,
                           smp_unit unit)
{
    char fits[2 * SMP_SHOWN] = "", text[6 * SMP_SHOWN];
    double number;
    size_t used;
    if (param->unit != SMP_UNIT_NONE && smp_number_read(value->text, value->length, &number, &used) == SMP_NUMBER_OK)
        snprintf(fits, sizeof fits, "'%s' is written like this: %.*s%s", param->name, (int)used, value->text,
                 smp_unit_name(param->unit));
    const smp_param *other = check->all;
    while (other && other->name && other->unit != unit)
        other++;
    if (other && other->name)
        snprintf(text, sizeof text, "%s%s'%s' of this stage is %s: %s=%.*s", fits, *fits ? "; " : "", other->name,
                 smp_dimension(unit), other->name, (int)value->length, value->text);
    if (*fits || (other && other->name))
        smp_diag_note(check->diags, diag, "%s", other && other->name ? text : fits);
}

bool smp_value_unit_fits(smp_check *check, const smp_param *param, const smp_value *value, smp_unit unit)
{
    if (unit == SMP_UNIT_NONE || unit == param->unit)
        return true;
    char what[2 * SMP_SHOWN];
    smp_value_describe(value, what, sizeof what);
    smp_diag *diag = smp_diags_add(check->diags, SMP_ERROR, value->span, "'%s' is %s, but %s is %s", param->name,
                                   smp_dimension(param->unit), what, smp_dimension(unit));
    if (value->kind == SMP_VALUE_NUMBER && !value->param && value->length < SMP_SHOWN)
        note_what_fits(check, diag, param, value, unit);
    return false;
}

/* Levels and loudness are both in dB, and are not the same. */
bool smp_value_is_its_level(smp_check *check, const smp_param *param, const smp_value *value)
{
    if (param->unit != SMP_UNIT_DB || (param->flags & SMP_P_LOUDNESS) || value->kind != SMP_VALUE_NUMBER ||
        value->text[0] == '{' || !smp_is_loudness(value->text, value->length))
        return true;
    char what[2 * SMP_SHOWN];
    smp_value_describe(value, what, sizeof what);
    smp_diag *diag = smp_diags_add(check->diags, SMP_ERROR, value->span, "'%s' is a level in dB, but %s is a loudness",
                                   param->name, what);
    if (check->loudness && !value->param)
        smp_diag_fix(check->diags, diag, "write %s=%.60s", check->loudness, value->text);
    return false;
}
