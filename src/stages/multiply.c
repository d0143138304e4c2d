/* multiply: the product of two pictures, or of a picture and a factor. */
#include "stages/shared/samples/operand.h"

static const smp_param table[] = {
    SMP_OPERAND_PARAM("what to multiply with: @name, or a factor"),
    {0},
};

static smp_code plan(const void *params, const smp_shape *in, const smp_shape *by, smp_node_plan *work, smp_error *err)
{
    return smp_plan_arithmetic(SMP_MULTIPLY, params, 1, in, by, work, err);
}

const smp_stage smp_stage_multiply = {
    .name = "multiply",
    .help = "multiplies with a second picture or sound, or a factor",
    .about = "out = a * b / full scale: a white pixel of the second changes nothing, a black one makes black. A number "
             "is a factor: 1.5 or 150% makes it half as bright again." SMP_OPERAND_ABOUT,
    .example = "multiply 120%",
    SMP_ARITHMETIC_STAGE(table),
    .plan = plan,
    SMP_ALSO({"mul times", "multiply"}, {"exposure", "multiply 2"}),
};
