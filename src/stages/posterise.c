/* posterise: a few evenly spaced values a channel. */
#include "stages/shared/elementwise.h"

typedef struct params {
    int64_t levels;
} params;

static const smp_param table[] = {
    {"levels", offsetof(params, levels), SMP_T_INT, SMP_UNIT_NONE, 2, 256, NULL, "how many values", NULL,
     SMP_P_MAIN | SMP_P_REQUIRED},
    {0},
};

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *by, smp_node_plan *work, smp_error *err)
{
    (void)by, (void)err;
    work->ops = 6;
    return SMP_ELEMENTWISE_PLAN(work, posterise, (float)(((const params *)given)->levels - 1), smp_white(in->format));
}

SMP_ELEMENTWISE_VARIANTS(posterise, tables);
const smp_stage smp_stage_posterise = {
    .name = "posterise",
    .help = "few evenly spaced values a channel, from black to white",
    .about = "out = round(in / white * (levels - 1)) / (levels - 1) * white, ties to even, in 0..white; alpha stays.",
    .example = "posterise 4",
    .domain = SMP_IMAGE,
    .access = SMP_POINT,
    .keeps_alpha = true,
    .params = table,
    .params_size = sizeof(params),
    .plan = plan,
    .variants = smp_posterise_variants,
    .aliases = (const smp_alias[]){{"posterize", "posterise 4"}, {"quantize", "posterise 4"}, {0}},
};
