/* median: the middle value of a neighbourhood. */
#include "stages/shared/stencil/order_statistics.h"

static const smp_param table[] = {
    SMP_RANK_TABLE(SMP_P_MAIN),
    {0},
};

static smp_code plan(const void *given, const smp_shape *, const smp_shape *, smp_node_plan *work, smp_error *)
{
    smp_rank_plan(given, 50, work);
    return SMP_OK;
}

const smp_stage smp_stage_median = {
    .name = "median",
    .help = "middle value of a neighbourhood: removes specks, keeps edges",
    .about =
        "The (n + 1) / 2-th smallest of the n samples of each channel under the shape (scipy.ndimage.median_filter, "
        "cv2.medianBlur). Samples are moved, none are computed: exact in every format. Floats are ordered by IEEE "
        "totalOrder, every NaN last; with edge=constant, fill is rounded to a code value. Shapes are those of "
        "`dilate`.\n"
        "Alpha is filtered like a colour; colour is premultiplied.",
    .example = "median 3px",
    SMP_PLANNED(SMP_IMAGE, SMP_STENCIL, table, smp_rank_params, smp_rank_variants),
    .traits = SMP_TRAIT_NEIGHBOURHOOD,
    .hints = SMP_HINTS(.aliases =
                           SMP_ALIASES({"medianblur median_blur median_filter medfilt medfilt2 denoise", "median 3"})),
};
