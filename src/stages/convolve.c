/* convolve: true convolution with a kernel matrix (the kernel is flipped). */
#include "stages/shared/stencil/kernel_matrix.h"
#include "stages/stage.h"

static smp_code plan(const void *params, const smp_shape *in, const smp_shape *by, smp_node_plan *work, smp_error *err)
{
    (void)in, (void)by;
    return smp_convolve_plan(params, true, work, err);
}

const smp_stage smp_stage_convolve = {
    .name = "convolve",
    .help = "true convolution with a kernel matrix (the kernel is flipped)",
    .about =
        "out[y][x] = offset + scale * sum of kernel[j][i] * in[y-j+cy][x-i+cx], the middle of the kernel at row "
        "rows/2, column cols/2: scipy.ndimage.convolve. Every element is a tap, added in row order in f32; one "
        "rounding at the end. scale=auto divides by the sum of the weights unless that is 0. A kernel of one row or "
        "one column runs as one pass.\n"
        "Alpha is filtered like a colour when the kernel is an average (no negative weights, sum 1 after scaling), "
        "and passes through otherwise; colour is premultiplied.",
    .example = "convolve [1 2 1; 2 4 2; 1 2 1]",
    .domain = SMP_IMAGE,
    .access = SMP_STENCIL,
    .traits = SMP_TRAIT_NEIGHBOURHOOD,
    .params = smp_convolve_param_list,
    .params_size = sizeof(smp_convolve_params),
    .check = smp_convolve_check,
    .plan = plan,
    .variants = smp_convolve_variants,
    .hints = SMP_HINTS(.aliases = SMP_ALIASES({"conv convolution convolve2d conv2d", "convolve"})),
};
