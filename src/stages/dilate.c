/* dilate: the largest sample of a neighbourhood. */
#include "stages/shared/stencil/morphology.h"

static smp_code plan(const void *given, const smp_shape *, const smp_shape *, smp_node_plan *work, smp_error *)
{
    smp_morph_plan(given, SMP_MORPH_DILATE, work);
    return SMP_OK;
}

const smp_stage smp_stage_dilate = {
    .name = "dilate",
    .help = "the largest sample of a neighbourhood: bright parts grow",
    .about = "The largest sample of each channel under the shape (cv2.dilate, scipy.ndimage.grey_dilation). Samples "
             "are moved, none are computed: exact in every format." SMP_MORPH_ABOUT,
    .example = "dilate 5px shape=disk",
    SMP_MORPH_ONE_PASS,
    .plan = plan,
    SMP_ALSO({"maximum_filter max_filter dilation grow", "dilate 3"}),
};
