/* subtract: the difference of two pictures, or of a picture and a number. */
#include "stages/shared/samples/operand.h"

static const smp_param table[] = {
    SMP_OPERAND_LEVEL("what is taken away: @name, or a fraction of full scale"),
    {0},
};

static smp_code plan(const void *params, const smp_shape *in, const smp_shape *by, smp_node_plan *work, smp_error *err)
{
    return smp_plan_arithmetic(SMP_SUBTRACT, params, 1, in, by, work, err);
}

const smp_stage smp_stage_subtract = {
    .name = "subtract",
    .help = "subtracts a second picture or sound, or a number",
    .about = "out = a - b." SMP_OPERAND_ABOUT,
    .example = "subtract 10%",
    SMP_ARITHMETIC_STAGE(table),
    .plan = plan,
    SMP_ALSO({"sub minus", "subtract"}, {"absdiff difference", "blend by=@name mode=difference"}),
};
