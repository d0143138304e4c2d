/* erode: the least sample of a neighbourhood. */
#include "stages/shared/stencil/morphology.h"

static smp_code plan(const void *given, const smp_shape *, const smp_shape *, smp_node_plan *work, smp_error *)
{
    smp_morph_plan(given, SMP_MORPH_ERODE, work);
    return SMP_OK;
}

const smp_stage smp_stage_erode = {
    .name = "erode",
    .help = "the least sample of a neighbourhood: dark parts grow",
    .about = "The least sample of each channel under the shape (cv2.erode, scipy.ndimage.grey_erosion). Samples are "
             "moved, none are computed: exact in every format." SMP_MORPH_ABOUT,
    .example = "erode 5px shape=disk",
    SMP_MORPH_ONE_PASS,
    .plan = plan,
    SMP_ALSO({"minimum_filter min_filter erosion shrink", "erode 3"}),
};
