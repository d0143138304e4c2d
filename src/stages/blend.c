/* blend: a second picture laid over the first, in the modes of image editors. */
#include "stages/shared/samples/operand.h"

typedef struct params {
    smp_operand by;
    int mode;
    double opacity;
    int fit;
} params;

/* In the order of smp_operation from SMP_BLEND_NORMAL on. */
static const char *const modes[] = {"normal",     "multiply",  "screen",  "overlay", "hardlight",
                                    "softlight",  "darken",    "lighten", "dodge",   "burn",
                                    "difference", "exclusion", "average", "add",     NULL};
_Static_assert(sizeof modes / sizeof modes[0] == SMP_OPERATIONS - SMP_BLEND_NORMAL + 1, "a word for every mode");

static const smp_param table[] = {
    SMP_OPERAND_PARAM("what is laid over the picture: @name, or a gray of that fraction of full scale"),
    {"mode", offsetof(params, mode), SMP_T_ENUM, SMP_UNIT_NONE, 0, 0, "normal", "how the two are combined", modes, 0},
    SMP_PARAM_FLOAT(opacity, FRACTION, 0, 1, "100%", "0% leaves the picture as it is, 100% takes the result", 0),
    SMP_OPERAND_FIT(params),
    {0},
};

static smp_code plan(const void *params_, const smp_shape *in, const smp_shape *by, smp_node_plan *work, smp_error *err)
{
    const params *p = params_;
    const smp_operation operation = (smp_operation)(SMP_BLEND_NORMAL + p->mode);
    if (smp_operand_fits(p->fit, in, by, work))
        return SMP_OK;
    return smp_plan_arithmetic(operation, &p->by, p->opacity, in, by, work, err);
}

const smp_stage smp_stage_blend = {
    .name = "blend",
    .help = "lays a second picture over the first: normal, multiply, screen, overlay, ...",
    .about =
        "out = a + (B(a, b) - a) * opacity * alpha of the second picture, if it has alpha. With a and b as fractions "
        "of full scale, B is\n"
        "normal b; multiply a b; screen a + b - a b; hardlight 2 a b for b <= 1/2, else 1 - 2 (1 - a) (1 - b); overlay "
        "hardlight with a and b exchanged; darken min(a, b); lighten max(a, b); dodge a / (1 - b), at most 1; burn "
        "1 - (1 - a) / b, at least 0; difference |a - b|; exclusion a + b - 2 a b; average (a + b) / 2; add a + b; "
        "softlight a - (1 - 2 b) a (1 - a) for b <= 1/2, else a + (2 b - 1) (D(a) - a), D(a) = ((16 a - 12) a + 4) a "
        "for a <= 1/4, else sqrt(a). The formulas are those of W3C Compositing and Blending Level 1; the first "
        "picture's alpha stays (source atop)." SMP_OPERAND_ABOUT,
    .example = "blend 20% mode=screen opacity=50%",
    SMP_PLANNED(SMP_BOTH, SMP_POINT, table, params, smp_arithmetic_variants),
    .traits = SMP_TRAIT_KEEPS_ALPHA,
    SMP_ALSO({"mix lerp", "blend by=@name opacity=50%"}, {"screen", "blend by=@name mode=screen"},
             {"average", "blend by=@name mode=average"}),
};
