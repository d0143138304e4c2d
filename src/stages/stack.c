/* stack: several pictures or sounds in one, whose rows come in turn (smp_reader_open_stack). */
#include "elementwise/stack.h"
#include "stages/stage.h"

typedef struct params {
    int64_t count;
    int by;
} params;

static const char *const ways[] = {[SMP_STACK_MEAN] = "mean", [SMP_STACK_MEDIAN] = "median", [SMP_STACK_LEAST] = "min",
                                   [SMP_STACK_MOST] = "max",  [SMP_STACK_SUM] = "sum",       NULL};

static const smp_param table[] = {
    SMP_PARAM_INT(count, NONE, 1, 1e6, NULL, "how many rows become one", SMP_P_MAIN | SMP_P_REQUIRED),
    {"by", offsetof(params, by), SMP_T_ENUM, SMP_UNIT_NONE, 0, 0, "mean", "sample by sample", ways, 0},
    {0},
};

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *)
{
    const params *p = given;
    *SMP_PLAN_KERNEL(work, smp_stack) = (smp_stack){.count = p->count, .how = p->by};
    work->out.height = (in->height + p->count - 1) / p->count;
    work->rows.num = p->count;
    work->rows.den = 1;
    work->rows.up = p->count / 2;
    work->rows.down = p->count - 1 - p->count / 2;
    work->rows.needs_height = true;
    work->effect.none = work->effect.already = p->count == 1;
    work->values.exactness = p->by == SMP_STACK_LEAST || p->by == SMP_STACK_MOST ||
                                     (p->by == SMP_STACK_MEDIAN && p->count % 2 && in->height % p->count == 0)
                                 ? SMP_INTEGER
                                 : SMP_REAL;
    work->values.clips = p->by == SMP_STACK_SUM;
    work->ops = (double)p->count * (p->by == SMP_STACK_MEDIAN ? 64 : 1);
    return SMP_OK;
}

static size_t scratch(const smp_io *, const void *kernel)
{
    const smp_stack *k = kernel;
    return k->how == SMP_STACK_MEDIAN ? (size_t)k->count * SMP_STACK_BLOCK * sizeof(uint32_t) : 0;
}

static const smp_variant variants[] = {
    {SMP_RUNG("naive", "sample by sample", SMP_LAUNCH_SAMPLES(stack_naive))},
    {SMP_RUNG("tiled", "CPU: blocks of all pictures in vectors (GPU: as naive)",
              SMP_LAUNCH_AS(stack_tiled, .cuda = "stack_naive")),
     .scratch = scratch},
    {0},
};

const smp_stage smp_stage_stack = {
    .name = "stack",
    .help = "makes one row of several: what smempipe stack does with the rows of its files",
    .about = "mean is (float)(s / n), s = 0, then s = s + row by row in double; sum is (float)s. median is the middle "
             "value, of an even number the mean of the two in the middle, in double. Floats are ordered as by IEEE "
             "totalOrder, NaN last. The last rows may be fewer.",
    .example = "stack 3 by=median",
    .domain = SMP_BOTH,
    .traits = SMP_TRAIT_INTERNAL | SMP_TRAIT_NEIGHBOURHOOD,
    .access = SMP_STENCIL,
    SMP_PARAMS(table, params),
    .plan = plan,
    .variants = variants,
};
