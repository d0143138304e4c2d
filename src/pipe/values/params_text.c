/* A parameter struct as text in the pipe language: explain and reports show it. */
#include <math.h>

#include "base/text/text.h"
#include "pipe/program.h"
#include "pipe/values/units.h"
#include "pipe/values/value.h"

static void put_number(smp_text *text, double value, smp_unit unit)
{
    char number[SMP_NUMBER_TEXT];
    smp_text_print(text, "%s", smp_quantity_text(number, value, unit));
}

static void put_string(smp_text *text, const char *string)
{
    smp_text_put(text, "\"", 1);
    for (; *string; string++) {
        if (*string == '"' || *string == '\\')
            smp_text_put(text, "\\", 1);
        smp_text_put(text, string, 1);
    }
    smp_text_put(text, "\"", 1);
}

static void put_matrix(smp_text *text, const smp_matrix *matrix, smp_unit unit)
{
    smp_text_put(text, "[", 1);
    for (int row = 0; row < matrix->rows; row++)
        for (int col = 0; col < matrix->cols; col++) {
            smp_text_print(text, "%s", col ? " " : row ? "; " : "");
            put_number(text, matrix->values[(size_t)row * (size_t)matrix->cols + (size_t)col], unit);
        }
    smp_text_put(text, "]", 1);
}

void smp_field_text(smp_text *text, const smp_param *param, const smp_field *field)
{
    int count = 0;
    switch (param->type) {
    case SMP_T_FLOAT:
        if (isnan(field->number))
            smp_text_print(text, "auto");
        else
            put_number(text, field->number, param->unit);
        break;
    case SMP_T_INT:
        if (field->integer == INT64_MIN)
            smp_text_print(text, "auto");
        else
            smp_text_print(text, "%lld%s", (long long)field->integer,
                           param->unit == SMP_UNIT_FRACTION ? "" : smp_unit_name(param->unit));
        break;
    case SMP_T_BOOL:
        smp_text_print(text, field->flag ? "yes" : "no");
        break;
    case SMP_T_ENUM:
        while (param->choices[count])
            count++;
        smp_text_print(text, "%s", field->choice >= 0 && field->choice < count ? param->choices[field->choice] : "?");
        break;
    case SMP_T_STRING:
        put_string(text, field->string);
        break;
    case SMP_T_MATRIX:
        put_matrix(text, &field->matrix, param->unit);
        break;
    case SMP_T_OPERAND:
        if (field->operand.file)
            put_string(text, field->operand.file);
        else if (field->operand.is_tap)
            smp_text_print(text, "@...");
        else
            put_number(text, field->operand.value, param->unit);
        break;
    }
}

char *smp_params_text(const smp_stage *stage, const void *params)
{
    smp_text text = {0};
    for (const smp_param *param = stage->params; param && param->name; param++) {
        const smp_field field = smp_field_get(param, params);
        if ((param->type == SMP_T_STRING && !field.string) || (param->type == SMP_T_MATRIX && !field.matrix.values))
            continue; /* it has no default, and was not given */
        smp_text_print(&text, "%s%s=", text.length ? " " : "", param->name);
        smp_field_text(&text, param, &field);
    }
    return smp_text_take(&text);
}
