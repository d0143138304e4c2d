/* rank: any order statistic of a neighbourhood. */
#include "stages/shared/stencil/order_statistics.h"

typedef struct params {
    smp_rank_params window;
    double percentile;
} params;

static const smp_param table[] = {
    SMP_PARAM_FLOAT(percentile, NONE, 0, 100, NULL, "0: the smallest, 50: the median, 100: the largest",
                    SMP_P_MAIN | SMP_P_REQUIRED),
    SMP_RANK_TABLE(0),
    {0},
};

static smp_code plan(const void *given, const smp_shape *, const smp_shape *, smp_node_plan *work, smp_error *)
{
    const params *p = given;
    smp_rank_plan(&p->window, p->percentile, work);
    return SMP_OK;
}

const smp_stage smp_stage_rank = {
    .name = "rank",
    .help = "a percentile of a neighbourhood",
    .about =
        "Sample min(n - 1, floor(n percentile / 100)), from 0, of the n samples of each channel under the shape, by "
        "size (scipy.ndimage.percentile_filter, up to the rank that a percentile between two means). 50 is "
        "`median`, 0 `erode`, 100 `dilate`, whose shapes are these. Exact in every format.",
    .example = "rank 90 size=5 shape=disk",
    SMP_PLANNED(SMP_IMAGE, SMP_STENCIL, table, params, smp_rank_variants),
    .traits = SMP_TRAIT_NEIGHBOURHOOD,
    SMP_ALSO({"percentile percentile_filter rank_filter nlfilt", "rank 90 size=5"}, {"statistic", "rank 50 size=3"}),
};
