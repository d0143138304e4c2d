/* correlate: sum of neighbours weighted by a kernel matrix, not flipped. */
#include "stages/shared/stencil/kernel_matrix.h"
#include "stages/stage.h"

static smp_code plan(const void *params, const smp_shape *, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    return smp_convolve_plan(params, false, work, err);
}

const smp_stage smp_stage_correlate = {
    .name = "correlate",
    .help = "sum of neighbours weighted by a kernel matrix, not flipped",
    .about = "out[y][x] = offset + scale * sum of kernel[j][i] * in[y+j-cy][x+i-cx], the middle of the kernel at "
             "row rows/2, column cols/2: scipy.ndimage.correlate and cv2.filter2D." SMP_CONVOLVE_ABOUT,
    .example = "correlate [-1 0 1] offset=50%",
    SMP_CONVOLVE_STAGE,
    .plan = plan,
    SMP_ALSO({"filter2D filter2d correlation xcorr", "correlate"}, {"emboss", "correlate [-2 -1 0; -1 1 1; 0 1 2]"}),
};
