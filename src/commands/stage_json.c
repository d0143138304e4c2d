/* Every stage descriptor as JSON: what `smempipe stages --json` gives to scripts, editors and tests. */
#include "commands/stages.h"
#include "report/json.h"

static const char *type_name(smp_type type)
{
    static const char *const names[] = {"number", "integer", "boolean", "choice", "string", "array", "operand"};
    return (size_t)type < sizeof names / sizeof names[0] ? names[type] : "?";
}

static void put_param(smp_json *json, const smp_param *param)
{
    char accepts[400];
    bool bounded = param->min < param->max;
    smp_param_domain(param, accepts, sizeof accepts);
    SMP_JSON_OPEN(json, NULL, ("name", param->name), ("type", type_name(param->type)), ("help", param->help),
                  ("unit", smp_unit_name(param->unit)), ("default", param->fallback),
                  ("required", (bool)((param->flags & SMP_P_REQUIRED) != 0)),
                  ("main", (bool)((param->flags & SMP_P_MAIN) != 0)), ("accepts", accepts));
    if (bounded)
        SMP_JSON(json, ("min", param->min), ("max", param->max),
                 ("min_excluded", (bool)((param->flags & SMP_P_POSITIVE) != 0)));
    SMP_JSON(json, ("auto", (bool)((param->flags & SMP_P_AUTO) != 0)),
             ("odd", (bool)((param->flags & SMP_P_ODD) != 0)));
    if (param->type == SMP_T_ENUM) {
        smp_json_array(json, "choices");
        for (size_t i = 0; param->choices && param->choices[i]; i++)
            smp_json_string(json, NULL, param->choices[i]);
        smp_json_end(json, ']');
    }
    smp_json_end(json, '}');
}

static void put_variants(smp_json *json, const char *key, const smp_variant *variants)
{
    smp_json_array(json, key);
    for (const smp_variant *variant = variants; variant && variant->name; variant++) {
        bool cuda = false, cpu = false;
        int launches = 0;
        for (int i = 0; i < SMP_MAX_LAUNCHES; i++) {
            const smp_launch *launch = &variant->launches[i];
            cuda = cuda || smp_launch_runs(launch, true);
            cpu = cpu || smp_launch_runs(launch, false);
            launches += smp_launch_runs(launch, true) || smp_launch_runs(launch, false);
        }
        SMP_JSON_OBJECT(json, NULL, ("name", variant->name), ("help", variant->help),
                        ("default", (bool)(!variant[1].name)), ("launches", launches), ("cpu", cpu), ("gpu", cuda));
    }
    smp_json_end(json, ']');
}

static void put_stage(smp_json *json, const smp_stage *stage)
{
    SMP_JSON_OPEN(json, NULL, ("name", stage->name), ("help", stage->help), ("about", stage->about),
                  ("example", stage->example), ("domain", smp_domain_name(stage->domain)),
                  ("access", smp_access_name(stage->access)), ("internal", smp_stage_is(stage, SMP_TRAIT_INTERNAL)),
                  ("premultiplies", smp_stage_is(stage, SMP_TRAIT_NEIGHBOURHOOD)),
                  ("keeps_alpha", smp_stage_is(stage, SMP_TRAIT_KEEPS_ALPHA)));
    smp_json_array(json, "parameters");
    for (const smp_param *param = stage->params; param && param->name; param++)
        put_param(json, param);
    smp_json_end(json, ']');
    put_variants(json, "variants", stage->variants);
    if (smp_stage_reducers(stage))
        put_variants(json, "reducers", smp_stage_reducers(stage));
    smp_json_array(json, "aliases");
    for (smp_other_name other = smp_other_names(stage); smp_next_name(&other);)
        SMP_JSON_OBJECT(json, NULL, ("name", other.name), ("say", other.say));
    smp_json_end(json, ']');
    smp_json_end(json, '}');
}

void smp_stages_json(FILE *to, const smp_stage *one, bool all)
{
    smp_json json;
    smp_json_begin(&json, to, false);
    smp_json_array(&json, NULL);
    for (size_t i = 0; i < smp_stage_count(); i++) {
        const smp_stage *stage = smp_stage_at(i);
        if (one ? stage == one : all || !smp_stage_is(stage, SMP_TRAIT_INTERNAL))
            put_stage(&json, stage);
    }
    smp_json_end(&json, ']');
}
