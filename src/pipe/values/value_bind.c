/* Checks values against parameter tables and turns them into fields. See value.h. */
#include "pipe/values/value.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text/text.h"
#include "pipe/values/color.h"
#include "pipe/values/expr.h"

static bool is_word(const smp_value *value, const char *word)
{
    return value->kind == SMP_VALUE_WORD && !strcmp(value->text, word);
}

/* Whether a number without a unit can only be a code value: no picture has levels beyond twice full scale. */
static bool is_bare_level(const smp_param *param, const smp_value *value)
{
    return (param->flags & SMP_P_LEVEL) && value->kind == SMP_VALUE_NUMBER && value->text[0] != '{' &&
           value->number.unit == SMP_UNIT_NONE && fabs(value->number.value) > 2;
}

/* A level: measurements print code values, and `subtract 118.9` would make a picture black. Needs the shape,
 * since samples of float pictures may have any value. */
static smp_bound bare_level(smp_check *check, const smp_param *param, const smp_value *value)
{
    const bool bounded = param->min < param->max;
    if (!is_bare_level(param, value) ||
        (bounded && (value->number.value < param->min || value->number.value > param->max)))
        return SMP_BOUND_DONE;
    if (!check->shape)
        return SMP_BOUND_LATER;
    if (check->shape->format == SMP_F32)
        return SMP_BOUND_DONE;
    char code[SMP_NUMBER_TEXT], percent[SMP_NUMBER_TEXT], what[2 * SMP_SHOWN];
    const double white = smp_white(check->shape->format);
    smp_value_describe(value, what, sizeof what);
    smp_diag *diag =
        smp_diags_add(check->diags, SMP_ERROR, value->span, "'%s' is a fraction: %s is %s times full scale",
                      param->name, what, smp_number_text(code, value->number.value));
    smp_number_text(percent, round(value->number.value / white * 1000) / 10);
    smp_diag_fix(check->diags, diag, "of a code value write %scv, which is %s%% of %g", code, percent, white);
    return SMP_BOUND_WRONG;
}

/* A percentage of the input's width or height, to the nearest pixel. */
static smp_bound share_of_side(smp_check *check, const smp_param *param, double *number)
{
    if (!check->shape)
        return SMP_BOUND_LATER;
    const int64_t side = param->flags & SMP_P_OF_WIDTH ? check->shape->width : check->shape->height;
    const double pixels = floor(*number * (double)side + 0.5);
    *number = *number > 0 && pixels < param->min ? param->min : pixels;
    return SMP_BOUND_DONE;
}

/* The number of a NUMBER or EXPR in the parameter's unit. */
static smp_bound plain_number(smp_check *check, const smp_param *param, const smp_value *value, double *number)
{
    *number = 0;
    if (value->kind == SMP_VALUE_NUMBER) {
        *number = value->number.value;
        if (value->number.unit == SMP_UNIT_CODE && param->unit == SMP_UNIT_FRACTION) {
            if (check->shape)
                *number /= smp_white(check->shape->format);
            return check->shape ? SMP_BOUND_DONE : SMP_BOUND_LATER;
        }
        if (value->number.unit == SMP_UNIT_FRACTION && (param->flags & (SMP_P_OF_WIDTH | SMP_P_OF_HEIGHT)))
            return share_of_side(check, param, number);
        if (!smp_value_unit_fits(check, param, value, value->number.unit) ||
            !smp_value_is_its_level(check, param, value))
            return SMP_BOUND_WRONG;
        return bare_level(check, param, value);
    }
    if (value->kind == SMP_VALUE_WORD && param->unit == SMP_UNIT_S && smp_clock_time(value->text, number))
        return SMP_BOUND_DONE;
    if (value->kind != SMP_VALUE_EXPR) {
        smp_value_not_a_number(check, param, value);
        return SMP_BOUND_WRONG;
    }
    const bool share =
        value->expr->unit == SMP_UNIT_FRACTION && (param->flags & (SMP_P_OF_WIDTH | SMP_P_OF_HEIGHT)) != 0;
    if (!share && !smp_value_unit_fits(check, param, value, value->expr->unit))
        return SMP_BOUND_WRONG;
    const smp_bounds *outside;
    if (value->expr->random && !check->draw && !check->example)
        return SMP_BOUND_LATER;
    const smp_eval_for with = {.shape = check->shape,
                               .draw = check->draw,
                               .example = check->example ? *check->example : 0,
                               .step = share || param->type != SMP_T_INT ? 0
                                       : (param->flags & SMP_P_ODD)      ? 2
                                                                         : 1};
    smp_eval result = smp_expr_evaluate(value->expr, &with, number, &outside);
    if (result == SMP_EVAL_SHAPE)
        return SMP_BOUND_LATER;
    if (result == SMP_EVAL_DONE)
        return share ? share_of_side(check, param, number) : SMP_BOUND_DONE;
    smp_expr_report(check->diags, value->span, result, *number, outside);
    return SMP_BOUND_WRONG;
}

/* Says what the number of an expression is, for messages about a refused value. */
static void note_result(smp_check *check, smp_diag *diag, const smp_param *param, const smp_value *value, double number)
{
    char text[SMP_NUMBER_TEXT];
    if (value->kind == SMP_VALUE_EXPR || (value->length && value->text[0] == '{'))
        smp_diag_note(check->diags, diag, "it comes to %s", smp_quantity_text(text, number, param->unit));
}

static bool in_range(smp_check *check, const smp_param *param, const smp_value *value, double number)
{
    bool bounded = param->min < param->max;
    bool low = (param->flags & SMP_P_POSITIVE) ? number <= param->min : number < param->min;
    if (!(bounded && (low || number > param->max)) && !((param->flags & SMP_P_POSITIVE) && low))
        return true;
    smp_diag *diag = smp_value_not_accepted(check, param, value);
    note_result(check, diag, param, value, number);
    char code[SMP_NUMBER_TEXT];
    if (is_bare_level(param, value) && !value->param)
        smp_diag_fix(check->diags, diag, "of a code value write %scv", smp_number_text(code, number));
    return false;
}

/* `50` as a factor is probably 50%, or a size. */
static bool is_likely_factor(smp_check *check, const smp_param *param, const smp_value *value, double number)
{
    const bool bare = value->kind == SMP_VALUE_NUMBER && value->text[0] != '{' && value->number.unit == SMP_UNIT_NONE;
    if (!(param->flags & SMP_P_FACTOR) || !bare || number < 10)
        return true;
    char what[2 * SMP_SHOWN], times[SMP_NUMBER_TEXT];
    smp_value_describe(value, what, sizeof what);
    smp_diags_add(check->diags, SMP_ERROR, value->span, "'%s' is a factor: %s is %s times as large", param->name, what,
                  smp_number_text(times, number));
    return false;
}

/* `16` as a sample rate is probably 16 kHz: sounds have no rate that low, measurements may. */
static bool is_likely_rate(smp_check *check, const smp_param *param, const smp_value *value, double number)
{
    static const double least = 1000; /* Hz */
    const bool bare = value->kind == SMP_VALUE_NUMBER && value->text[0] != '{' && value->number.unit == SMP_UNIT_NONE;
    if (!(param->flags & SMP_P_RATE) || !bare || number < param->min || number >= least)
        return true;
    char what[2 * SMP_SHOWN], text[SMP_NUMBER_TEXT];
    smp_value_describe(value, what, sizeof what);
    smp_number_text(text, number);
    smp_diag *diag = smp_diags_add(check->diags, SMP_ERROR, value->span,
                                   "'%s' is in Hz without a unit: %s is hardly meant", param->name, what);
    smp_diag_fix(check->diags, diag, "write %skHz, or %sHz if it is that low", text, text);
    return false;
}

static smp_bound bind_number(smp_check *check, const smp_param *param, const smp_value *value, smp_field *field)
{
    if ((param->flags & SMP_P_AUTO) && is_word(value, "auto")) {
        field->number = (double)NAN;
        return SMP_BOUND_DONE;
    }
    double number;
    smp_bound bound = plain_number(check, param, value, &number);
    if (bound == SMP_BOUND_DONE &&
        !(is_likely_factor(check, param, value, number) && is_likely_rate(check, param, value, number) &&
          in_range(check, param, value, number)))
        return SMP_BOUND_WRONG;
    field->number = number;
    return bound;
}

/* The word `random` for a parameter of which any value is as good as another. */
static smp_bound any_integer(smp_check *check, const smp_param *param, const smp_value *value, smp_field *field)
{
    if (!check->draw)
        return SMP_BOUND_LATER;
    const double many = param->max - param->min + 1;
    field->integer = (int64_t)(param->min + floor(smp_draw_uniform(check->draw, value->draw) * many));
    return SMP_BOUND_DONE;
}

static smp_bound bind_integer(smp_check *check, const smp_param *param, const smp_value *value, smp_field *field)
{
    static const double exact = 9007199254740992.0; /* 2^53: beyond, doubles skip integers */
    if ((param->flags & SMP_P_AUTO) && is_word(value, "auto")) {
        field->integer = INT64_MIN;
        return SMP_BOUND_DONE;
    }
    if ((param->flags & SMP_P_ANY) && is_word(value, "random"))
        return any_integer(check, param, value, field);
    double number;
    char what[2 * SMP_SHOWN], near[SMP_NUMBER_TEXT], other[SMP_NUMBER_TEXT];
    smp_bound bound = plain_number(check, param, value, &number);
    if (bound != SMP_BOUND_DONE)
        return bound;
    smp_value_describe(value, what, sizeof what);
    if (number != floor(number) || fabs(number) > exact) {
        smp_diag *diag = smp_diags_add(check->diags, SMP_ERROR, value->span, "'%s' must be a whole number, not %s",
                                       param->name, what);
        note_result(check, diag, param, value, number);
        if (value->length > 1 && value->text[0] == '{' && !value->param && value->length < SMP_SHOWN / 2)
            smp_diag_fix(check->diags, diag, "write {round(%.*s)}", (int)value->length - 2, value->text + 1);
        return SMP_BOUND_WRONG;
    }
    if (!in_range(check, param, value, number))
        return SMP_BOUND_WRONG;
    field->integer = (int64_t)number;
    if ((param->flags & SMP_P_ODD) && field->integer % 2 == 0) {
        smp_diag *diag =
            smp_diags_add(check->diags, SMP_ERROR, value->span, "'%s' must be odd, not %s", param->name, what);
        bool below = param->min >= param->max || number - 1 >= param->min,
             above = param->min >= param->max || number + 1 <= param->max;
        smp_number_text(near, number - 1);
        smp_number_text(other, number + 1);
        if (value->kind == SMP_VALUE_NUMBER && (below || above))
            smp_diag_fix(check->diags, diag, "write %s%s%s", below ? near : "", below && above ? " or " : "",
                         above ? other : "");
        note_result(check, diag, param, value, number);
        return SMP_BOUND_WRONG;
    }
    return SMP_BOUND_DONE;
}

static smp_bound bind_bool(smp_check *check, const smp_param *param, const smp_value *value, smp_field *field)
{
    static const char *const yes[] = {"true", "on", "1", "y", "Yes", "YES", "True", "TRUE", "On", "ON"};
    static const char *const no[] = {"false", "off", "0", "n", "No", "NO", "False", "FALSE", "Off", "OFF"};
    field->flag = is_word(value, "yes");
    if (field->flag || is_word(value, "no"))
        return SMP_BOUND_DONE;
    smp_diag *diag = smp_value_not_accepted(check, param, value);
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++)
        if (!strcmp(value->text, yes[i]) || !strcmp(value->text, no[i]))
            smp_diag_fix(check->diags, diag, "write %s", strcmp(value->text, no[i]) ? "yes" : "no");
    return SMP_BOUND_WRONG;
}

static int find_choice(const char *const *choices, const char *text)
{
    for (int i = 0; choices[i]; i++)
        if (!strcmp(choices[i], text))
            return i;
    return -1;
}

/* A number as a choice: 90, 90deg and {45*2} all select "90"; 8 and 8bit select "8bit". */
static int find_number_choice(const smp_param *param, double number)
{
    char text[SMP_NUMBER_TEXT + 8];
    smp_number_text(text, number);
    int found = find_choice(param->choices, text);
    if (found < 0 && param->unit != SMP_UNIT_NONE) {
        size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, "%s", smp_unit_name(param->unit));
        found = find_choice(param->choices, text);
    }
    return found;
}

/* Returns the choice of a parameter that other programs call so; null: none. */
static const char *choice_elsewhere(const smp_param *param, const char *word)
{
    static const smp_alias rows[] = {{"northwest north-west nw upper-left topleft", "top-left"},
                                     {"north n upper", "top"},
                                     {"northeast north-east ne upper-right topright", "top-right"},
                                     {"west w", "left"},
                                     {"middle", "centre"},
                                     {"east e", "right"},
                                     {"southwest south-west sw lower-left bottomleft", "bottom-left"},
                                     {"south s lower", "bottom"},
                                     {"southeast south-east se lower-right bottomright", "bottom-right"},
                                     {"off deactivate discard", "drop"},
                                     {"remove", "flatten"},
                                     {"on activate", "opaque"},
                                     {0}};
    const char *choice = smp_alias_of(rows, word, strlen(word));
    return choice && find_choice(param->choices, choice) >= 0 ? choice : NULL;
}

static smp_bound bind_choice(smp_check *check, const smp_param *param, const smp_value *value, smp_field *field)
{
    int found = value->kind == SMP_VALUE_WORD || value->kind == SMP_VALUE_NUMBER
                    ? find_choice(param->choices, value->text)
                    : -1;
    if (found < 0 && (value->kind == SMP_VALUE_NUMBER || value->kind == SMP_VALUE_EXPR)) {
        double number;
        smp_unit unit = value->kind == SMP_VALUE_NUMBER ? value->number.unit : value->expr->unit;
        if (unit == param->unit || unit == SMP_UNIT_NONE || param->unit != SMP_UNIT_NONE) {
            smp_bound bound = plain_number(check, param, value, &number);
            if (bound != SMP_BOUND_DONE)
                return bound;
            found = find_number_choice(param, number);
        }
    }
    if (found >= 0) {
        field->choice = found;
        return SMP_BOUND_DONE;
    }
    size_t count = 0;
    while (param->choices[count])
        count++;
    smp_diag *diag = smp_value_not_accepted(check, param, value);
    const char *near = value->kind == SMP_VALUE_TAP || value->kind == SMP_VALUE_LIST
                           ? NULL
                           : smp_nearest(value->text, value->length, param->choices, count);
    if (!near && value->kind == SMP_VALUE_WORD)
        near = choice_elsewhere(param, value->text);
    if (near && value->kind == SMP_VALUE_STRING && !strcmp(near, value->text))
        smp_diag_fix(check->diags, diag, "write it without quotes: %s", near);
    else if (near && value->kind != SMP_VALUE_NUMBER)
        smp_diag_fix(check->diags, diag, "did you mean '%s'?", near);
    else if (value->kind == SMP_VALUE_NUMBER && param->unit == SMP_UNIT_DEG && fabs(value->number.value) < 1e9) {
        double turn = fmod(value->number.value, 360); /* the same angle between 0 and 360 */
        int same = find_number_choice(param, turn < 0 ? turn + 360 : turn);
        if (same >= 0)
            smp_diag_fix(check->diags, diag, "write %s", param->choices[same]);
    }
    return SMP_BOUND_WRONG;
}

static smp_bound bind_string(smp_check *check, const smp_param *param, const smp_value *value, smp_field *field)
{
    const bool range = value->kind == SMP_VALUE_LIST && value->text; /* `text 1..2` */
    if (value->kind == SMP_VALUE_STRING || value->kind == SMP_VALUE_WORD || range ||
        (value->kind == SMP_VALUE_NUMBER && value->text[0] != '{')) {
        if (!(param->flags & SMP_P_LINES) && strchr(value->text, '\n')) {
            smp_diags_add(check->diags, SMP_ERROR, value->span, "'%s' is one line: it takes no \\n", param->name);
            return SMP_BOUND_WRONG;
        }
        field->string = value->text;
        return SMP_BOUND_DONE;
    }
    smp_value_not_accepted(check, param, value);
    return SMP_BOUND_WRONG;
}

static smp_bound bind_file(smp_check *check, const smp_value *value, smp_field *field)
{
    const char *fault = !value->length              ? "the file name is empty"
                        : !strcmp(value->text, "-") ? "the second input cannot come from standard input: name a file"
                                                    : NULL;
    if (fault)
        smp_diags_add(check->diags, SMP_ERROR, value->span, "%s", fault);
    field->operand = (smp_operand){.is_tap = true, .file = value->text};
    return fault ? SMP_BOUND_WRONG : SMP_BOUND_DONE;
}

static smp_bound bind_operand(smp_check *check, const smp_param *param, const smp_value *value, smp_field *field)
{
    if (value->kind == SMP_VALUE_TAP) {
        field->operand = (smp_operand){.is_tap = true};
        return SMP_BOUND_DONE;
    }
    if (value->kind == SMP_VALUE_STRING)
        return bind_file(check, value, field);
    if (value->kind == SMP_VALUE_WORD && (value->text[0] >= 'A' || strchr("./", value->text[0]))) {
        char shown[SMP_SHOWN];
        smp_diag *diag = smp_value_not_accepted(check, param, value);
        smp_shown(shown, value->text, value->length);
        if (!value->param && strpbrk(value->text, "./"))
            smp_diag_fix(check->diags, diag, "a file is written \"%s\"", shown);
        else if (!value->param)
            smp_diag_fix(check->diags, diag, "a picture is written @%s", shown);
        return SMP_BOUND_WRONG;
    }
    if (param->flags & SMP_P_PICTURE) {
        smp_value_not_accepted(check, param, value);
        return SMP_BOUND_WRONG;
    }
    double number;
    smp_bound bound = plain_number(check, param, value, &number);
    if (bound == SMP_BOUND_DONE && !in_range(check, param, value, number))
        return SMP_BOUND_WRONG;
    field->operand = (smp_operand){.value = number};
    return bound;
}

/* Checks that rows have equal lengths; reports the first that has not. */
static bool rows_match(smp_check *check, const smp_param *param, const smp_value *value, int *rows, int *cols)
{
    size_t first = 0, width = 0;
    *rows = *cols = 0;
    for (size_t i = 0; i <= value->count; i++) {
        if (i < value->count && value->items[i].row == value->items[first].row)
            continue;
        size_t length = i - first;
        if (*rows && length != width) {
            smp_diags_add(check->diags, SMP_ERROR, value->param ? value->span : value->items[first].span,
                          "row %d of '%s' has %zu value%s, but row 1 has %zu", *rows + 1, param->name, length,
                          length == 1 ? "" : "s", width);
            return false;
        }
        width = length;
        ++*rows;
        first = i;
    }
    *cols = (int)width;
    return true;
}

/* A matrix of levels may be a colour by its name, or as #rrggbb. */
static smp_bound bind_color(smp_check *check, smp_field *field, int count, const double *color)
{
    double *values = smp_arena_array(check->arena, (size_t)count, sizeof *values);
    if (!values)
        return SMP_BOUND_WRONG;
    memcpy(values, color, (size_t)count * sizeof *values);
    field->matrix = (smp_matrix){.rows = 1, .cols = count, .values = values};
    return SMP_BOUND_DONE;
}

static smp_bound bind_matrix(smp_check *check, const smp_param *param, const smp_value *value, smp_field *field)
{
    double color[SMP_COLOR_VALUES];
    const bool word = (param->flags & SMP_P_LEVEL) && value->kind == SMP_VALUE_WORD;
    const int colors = word ? smp_color_read(value->text, value->length, color) : 0;
    if (colors)
        return bind_color(check, field, colors, color);
    if (value->kind != SMP_VALUE_LIST) {
        smp_diag *diag = smp_value_not_accepted(check, param, value);
        char shown[SMP_SHOWN];
        const bool named = !(param->flags & SMP_P_MAIN);
        if (value->kind == SMP_VALUE_NUMBER && !value->param)
            smp_diag_fix(check->diags, diag, "write %s%s[%s%s]", named ? param->name : "", named ? "=" : "",
                         smp_shown(shown, value->text, value->length), is_bare_level(param, value) ? "cv" : "");
        return SMP_BOUND_WRONG;
    }
    if (!value->count) {
        smp_diags_add(check->diags, SMP_ERROR, value->span, "'%s' is empty", param->name);
        return SMP_BOUND_WRONG;
    }
    smp_matrix matrix = {0};
    if (!rows_match(check, param, value, &matrix.rows, &matrix.cols))
        return SMP_BOUND_WRONG;
    double *values = smp_arena_array(check->arena, value->count, sizeof *values);
    if (!values)
        return SMP_BOUND_WRONG;
    smp_bound whole = SMP_BOUND_DONE;
    smp_param element = *param;
    element.type = SMP_T_FLOAT;
    check->element = true;
    for (size_t i = 0; i < value->count; i++) {
        smp_value item = value->items[i];
        if (value->param) {
            /* Point at the use: the list may be in another text. */
            item.span = value->span;
        }
        smp_bound bound = plain_number(check, &element, &item, &values[i]);
        if (bound == SMP_BOUND_DONE && !in_range(check, &element, &item, values[i]))
            bound = SMP_BOUND_WRONG;
        whole = bound > whole ? bound : whole;
    }
    check->element = false;
    matrix.values = values;
    field->matrix = matrix;
    return whole;
}

smp_bound smp_value_bind(smp_check *check, const smp_param *param, const smp_value *value, smp_field *field)
{
    static smp_bound (*const binders[])(smp_check *, const smp_param *, const smp_value *, smp_field *) = {
        [SMP_T_FLOAT] = bind_number,    [SMP_T_INT] = bind_integer,   [SMP_T_BOOL] = bind_bool,
        [SMP_T_ENUM] = bind_choice,     [SMP_T_STRING] = bind_string, [SMP_T_MATRIX] = bind_matrix,
        [SMP_T_OPERAND] = bind_operand,
    };
    memset(field, 0, sizeof *field);
    if (value->kind == SMP_VALUE_BAD)
        return SMP_BOUND_WRONG;
    const bool drawn = value->kind == SMP_VALUE_EXPR && value->expr->random && !check->draw;
    int longest = 0; /* of its lists */
    for (size_t i = 0; drawn && i < value->expr->count; i++)
        longest = value->expr->ops[i].count > longest ? value->expr->ops[i].count : longest;
    for (int i = 0; drawn && i < 2 + longest; i++) { /* whatever is drawn later must do */
        check->example = &i;
        const smp_bound bound = binders[param->type](check, param, value, field);
        check->example = NULL;
        if (bound == SMP_BOUND_WRONG)
            return bound;
    }
    return binders[param->type](check, param, value, field);
}

static const size_t sizes[] = {
#define SIZE(type, member) [SMP_T_##type] = sizeof(((smp_field *)NULL)->member)
    SIZE(FLOAT, number),  SIZE(INT, integer),   SIZE(BOOL, flag),       SIZE(ENUM, choice),
    SIZE(STRING, string), SIZE(MATRIX, matrix), SIZE(OPERAND, operand),
};

void smp_field_put(const smp_param *param, const smp_field *field, void *params)
{
    memcpy((char *)params + param->offset, field, sizes[param->type]);
}

smp_field smp_field_get(const smp_param *param, const void *params)
{
    smp_field field = {.number = 0};
    memcpy(&field, (const char *)params + param->offset, sizes[param->type]);
    return field;
}
