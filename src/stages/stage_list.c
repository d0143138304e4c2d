/* The list of stages, made from stage_list.def, and look-ups in it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "stages/stage.h"

#define S(name) extern const smp_stage smp_stage_##name;
#include "stages/stage_list.def"
#undef S

static const smp_stage *const stages[] = {
#define S(name) &smp_stage_##name,
#include "stages/stage_list.def"
#undef S
};

const char *const smp_edge_names[] = {"clamp", "reflect", "mirror", "wrap", "zero", "constant", NULL};

size_t smp_stage_count(void)
{
    return sizeof stages / sizeof stages[0];
}

const smp_stage *smp_stage_at(size_t index)
{
    return index < smp_stage_count() ? stages[index] : NULL;
}

const smp_stage *smp_stage_find(const char *name, size_t length)
{
    for (size_t i = 0; i < smp_stage_count(); i++)
        if (strlen(stages[i]->name) == length && !memcmp(stages[i]->name, name, length))
            return stages[i];
    return NULL;
}

const smp_stage *smp_stage_with_role(smp_role role)
{
    for (size_t i = 0; i < smp_stage_count(); i++)
        if (stages[i]->role == role)
            return stages[i];
    return NULL;
}

const char *smp_alias_of(const smp_alias *rows, const char *name, size_t length)
{
    for (const smp_alias *row = rows; row && row->names; row++)
        for (const char *at = row->names; *at; at += strcspn(at, " "), at += strspn(at, " "))
            if (strcspn(at, " ") == length && !strncmp(at, name, length))
                return row->say;
    return NULL;
}

smp_other_name smp_other_names(const smp_stage *stage)
{
    return (smp_other_name){.row = stage->hints ? stage->hints->aliases : NULL};
}

bool smp_stage_instead(const smp_stage *stage, const char *value, char *text, size_t size)
{
    return stage->hints && stage->hints->instead && stage->hints->instead(value, text, size);
}

bool smp_next_name(smp_other_name *other)
{
    if (other->rest && !*other->rest) {
        other->row++;
        other->rest = NULL;
    }
    if (!other->row || !other->row->names)
        return false;
    const char *from = other->rest ? other->rest : other->row->names;
    const size_t length = strcspn(from, " ");
    snprintf(other->name, sizeof other->name, "%.*s", (int)length, from);
    other->rest = from + length + (from[length] == ' ');
    other->say = other->row->say;
    return true;
}

size_t smp_variant_count(const smp_variant *variants)
{
    size_t count = 0;
    while (variants && variants[count].name)
        count++;
    return count;
}

const smp_variant *smp_variant_find(const smp_variant *variants, const char *name)
{
    for (; variants && variants->name; variants++)
        if (!strcmp(variants->name, name))
            return variants;
    return NULL;
}

static const struct {
    const char *name;
} units[] = {{""}, {"%"}, {"px"}, {"Hz"}, {"s"}, {"dB"}, {"deg"}, {"bit"}, {"cv"}};

const char *smp_unit_name(smp_unit unit)
{
    return (size_t)unit < sizeof units / sizeof units[0] ? units[unit].name : "";
}

/* The choices of an enumeration: "clamp, reflect or mirror". */
static void list_choices(const char *const *choices, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; choices[i] && used < size; i++) {
        const char *gap = i == 0 ? "" : choices[i + 1] ? ", " : " or ";
        int n = snprintf(text + used, size - used, "%s%s", gap, choices[i]);
        used += n > 0 ? (size_t)n : 0;
    }
}

void smp_param_domain(const smp_param *param, char *text, size_t size)
{
    const char *unit = param->unit == SMP_UNIT_FRACTION ? "" : smp_unit_name(param->unit);
    const char *gap = unit[0] ? " " : "",
               *share = param->flags & SMP_P_OF_WIDTH    ? " or % of the width"
                        : param->flags & SMP_P_OF_HEIGHT ? " or % of the height"
                                                         : "",
               *also = param->flags & SMP_P_AUTO ? ", or auto" : "";
    bool bounded = param->min < param->max, percent = param->unit == SMP_UNIT_FRACTION;
    switch (param->type) {
    case SMP_T_BOOL:
        snprintf(text, size, "yes or no");
        break;
    case SMP_T_ENUM:
        list_choices(param->choices, text, size);
        break;
    case SMP_T_STRING:
        snprintf(text, size, "a text in double quotes");
        break;
    case SMP_T_MATRIX:
        snprintf(text, size,
                 param->flags & SMP_P_LEVEL ? "a colour: [0.5], [1 0.5 0], red or #ff8000"
                                            : "a matrix like [1 2 1; 2 4 2; 1 2 1]");
        break;
    case SMP_T_OPERAND:
        if (param->flags & SMP_P_PICTURE)
            snprintf(text, size, "a %s @name or \"file\"", param->flags & SMP_P_SOUND ? "sound" : "picture");
        else
            snprintf(text, size, "a picture @name or \"file\", or a number%s",
                     param->unit == SMP_UNIT_FRACTION ? " (1 or 100% is full scale)" : "");
        break;
    case SMP_T_INT:
    case SMP_T_FLOAT:
        if (!bounded)
            snprintf(text, size, "%s%s%s%s%s", param->type == SMP_T_INT ? "a whole number" : "a number", gap, unit,
                     percent ? " (1 is 100%)" : "", also);
        else if (percent)
            snprintf(text, size, "%s%g to %g (%g%% to %g%%)%s", param->flags & SMP_P_POSITIVE ? "above " : "",
                     param->min, param->max, 100 * param->min, 100 * param->max, also);
        else
            snprintf(text, size, "%s%s%g to %g%s%s%s%s", param->flags & SMP_P_ODD ? "odd, " : "",
                     param->flags & SMP_P_POSITIVE ? "above " : "", param->min, param->max, gap, unit, share, also);
        break;
    }
}

smp_code smp_measurements_add(smp_measurements *measurements, const char *name, int channel, double value,
                              smp_error *err)
{
    SMP_NEED(
        smp_grow(&measurements->items, &measurements->capacity, measurements->count + 1, sizeof *measurements->items),
        "results", sizeof *measurements->items, err);
    smp_measurement *item = &measurements->items[measurements->count++];
    *item = (smp_measurement){.channel = channel, .value = value};
    snprintf(item->name, sizeof item->name, "%s", name);
    return SMP_OK;
}

smp_code smp_measurements_add_list(smp_measurements *measurements, const char *name, int channel, const double *list,
                                   size_t length, smp_error *err)
{
    double *copy = smp_alloc_array(length, sizeof *copy);
    SMP_NEED(copy, "results", length * sizeof *copy, err);
    memcpy(copy, list, length * sizeof *copy);
    smp_code code = smp_measurements_add(measurements, name, channel, 0, err);
    if (code) {
        smp_free(copy);
        return code;
    }
    measurements->items[measurements->count - 1].list = copy;
    measurements->items[measurements->count - 1].list_len = length;
    return SMP_OK;
}

smp_code smp_measurements_add_values(smp_measurements *measurements, const char *name, const double *list,
                                     size_t length, smp_error *err)
{
    SMP_TRY(smp_measurements_add_list(measurements, name, -1, list, length, err));
    measurements->items[measurements->count - 1].values = true;
    return SMP_OK;
}

smp_code smp_measurements_add_text(smp_measurements *measurements, const char *name, const char *text, smp_error *err)
{
    SMP_TRY(smp_measurements_add(measurements, name, -1, (double)NAN, err));
    snprintf(measurements->items[measurements->count - 1].text, SMP_MEASUREMENT_TEXT, "%s", text);
    return SMP_OK;
}

void smp_measurements_free(smp_measurements *measurements)
{
    for (size_t i = 0; i < measurements->count; i++)
        smp_free(measurements->items[i].list);
    smp_free_all(measurements->items, measurements->found);
    *measurements = (smp_measurements){0};
}
