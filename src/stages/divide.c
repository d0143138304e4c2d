/* divide: the quotient of two pictures, or of a picture and a number. */
#include "stages/shared/samples/operand.h"

typedef struct params {
    smp_operand by;
} params;

static const smp_param table[] = {
    SMP_OPERAND_PARAM("what to divide by: @name, or a number"),
    {0},
};

static smp_code check(const void *given, smp_error *err)
{
    const smp_operand *by = &((const params *)given)->by;
    return by->is_tap || by->file || by->value != 0 ? SMP_OK : smp_fail(err, SMP_E_PIPE, "cannot divide by 0");
}

static smp_code plan(const void *params_, const smp_shape *in, const smp_shape *by, smp_node_plan *work, smp_error *err)
{
    const params *p = params_;
    return smp_plan_arithmetic(SMP_DIVIDE, &p->by, 1, in, by, work, err);
}

const smp_stage smp_stage_divide = {
    .name = "divide",
    .help = "divides by a second picture or sound, or a number",
    .about = "out = a * full scale / b: where both are equal the result is white; dividing by a blurred copy takes "
             "uneven light away. Dividing by 0 gives full scale with the sign of a, and 0 for 0 / 0." SMP_OPERAND_ABOUT,
    .example = "divide 80%",
    SMP_PLANNED(SMP_BOTH, SMP_POINT, table, params, smp_arithmetic_variants),
    .traits = SMP_TRAIT_KEEPS_ALPHA,
    .check = check,
    SMP_ALSO({"div", "divide"}, {"flatfield", "divide by=@name"}),
};
