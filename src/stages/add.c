/* add: the sum of two pictures, or of a picture and a number. */
#include "stages/shared/samples/operand.h"

static const smp_param table[] = {
    SMP_OPERAND_LEVEL("what is added: @name, or a fraction of full scale"),
    {0},
};

static smp_code plan(const void *params, const smp_shape *in, const smp_shape *by, smp_node_plan *work, smp_error *err)
{
    return smp_plan_arithmetic(SMP_ADD, params, 1, in, by, work, err);
}

const smp_stage smp_stage_add = {
    .name = "add",
    .help = "adds a second picture or sound, or a number",
    .about = "out = a + b. Sounds may have other lengths: the sum is as long as the longer one (see "
             "`mix`)." SMP_OPERAND_ABOUT,
    .example = "add 10%",
    SMP_ARITHMETIC_STAGE(table),
    .plan = plan,
    SMP_ALSO({"plus", "add"}, {"sum", "add by=@name"}, {"brightness offset", "add 10%"}),
};
