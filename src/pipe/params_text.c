/* A parameter struct as text in the pipe language: explain and reports show it. */
#include <math.h>
#include <string.h>

#include "base/text/text.h"
#include "pipe/program.h"
#include "pipe/units.h"

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

static void put_value(smp_text *text, const smp_param *param, const char *field)
{
    double number;
    int64_t integer;
    bool flag;
    int choice;
    const char *string;
    smp_matrix matrix;
    smp_operand operand;
    switch (param->type) {
    case SMP_T_FLOAT:
        memcpy(&number, field, sizeof number);
        if (isnan(number))
            smp_text_print(text, "auto");
        else
            put_number(text, number, param->unit);
        break;
    case SMP_T_INT:
        memcpy(&integer, field, sizeof integer);
        if (integer == INT64_MIN)
            smp_text_print(text, "auto");
        else
            smp_text_print(text, "%lld%s", (long long)integer,
                           param->unit == SMP_UNIT_FRACTION ? "" : smp_unit_name(param->unit));
        break;
    case SMP_T_BOOL:
        memcpy(&flag, field, sizeof flag);
        smp_text_print(text, flag ? "yes" : "no");
        break;
    case SMP_T_ENUM: {
        memcpy(&choice, field, sizeof choice);
        int count = 0;
        while (param->choices[count])
            count++;
        smp_text_print(text, "%s", choice >= 0 && choice < count ? param->choices[choice] : "?");
        break;
    }
    case SMP_T_STRING:
        memcpy(&string, field, sizeof string);
        put_string(text, string);
        break;
    case SMP_T_MATRIX:
        memcpy(&matrix, field, sizeof matrix);
        put_matrix(text, &matrix, param->unit);
        break;
    case SMP_T_OPERAND:
        memcpy(&operand, field, sizeof operand);
        if (operand.file)
            put_string(text, operand.file);
        else if (operand.is_tap)
            smp_text_print(text, "@...");
        else
            put_number(text, operand.value, param->unit);
        break;
    }
}

/* Whether a field is empty: a text or a matrix without a default that was not given. */
static bool is_absent(const smp_param *param, const char *field)
{
    const char *string;
    smp_matrix matrix;
    if (param->type == SMP_T_STRING) {
        memcpy(&string, field, sizeof string);
        return !string;
    }
    if (param->type != SMP_T_MATRIX)
        return false;
    memcpy(&matrix, field, sizeof matrix);
    return !matrix.values;
}

char *smp_params_text(const smp_stage *stage, const void *params)
{
    smp_text text = {0};
    for (const smp_param *param = stage->params; param && param->name; param++) {
        const char *field = (const char *)params + param->offset;
        if (is_absent(param, field))
            continue;
        smp_text_print(&text, "%s%s=", text.length ? " " : "", param->name);
        put_value(&text, param, field);
    }
    return smp_text_take(&text);
}
