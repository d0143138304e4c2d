/* convolve: true convolution with a kernel matrix (the kernel is flipped). */
#include "stages/shared/stencil/kernel_matrix.h"
#include "stages/stage.h"

static smp_code plan(const void *params, const smp_shape *, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    return smp_convolve_plan(params, true, work, err);
}

const smp_stage smp_stage_convolve = {
    .name = "convolve",
    .help = "true convolution with a kernel matrix (the kernel is flipped)",
    .about = "out[y][x] = offset + scale * sum of kernel[j][i] * in[y-j+cy][x-i+cx], the middle of the kernel at "
             "row rows/2, column cols/2: scipy.ndimage.convolve." SMP_CONVOLVE_ABOUT,
    .example = "convolve [1 2 1; 2 4 2; 1 2 1]",
    SMP_CONVOLVE_STAGE,
    .plan = plan,
    SMP_ALSO({"conv convolution convolve2d conv2d", "convolve"}),
};
