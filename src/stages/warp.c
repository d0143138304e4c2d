/* warp: a picture turned by any angle, sheared, or seen in perspective. */
#include "stages/shared/geometry/warping.h"
#include "stages/shared/samples/fill.h"

static const char *const sizes[] = {"keep", "fit", "inside", NULL};
static const char *const filters[] = {
    [SMP_WARP_BILINEAR] = "bilinear", [SMP_WARP_BICUBIC] = "bicubic", [SMP_WARP_NEAREST] = "nearest", NULL};

static const smp_param params[] = {
    {"angle", offsetof(smp_warp_params, angle), SMP_T_FLOAT, SMP_UNIT_DEG, -360, 360, "0",
     "clockwise, about the middle of the picture", NULL, SMP_P_MAIN},
    {"scale", offsetof(smp_warp_params, scale), SMP_T_FLOAT, SMP_UNIT_FRACTION, 0.001, 1000, "1",
     "factor for both sides, about the middle", NULL, 0},
    {"matrix", offsetof(smp_warp_params, matrix), SMP_T_MATRIX, SMP_UNIT_NONE, 0, 0, "[1 0 0; 0 1 0]",
     "instead of angle and scale: [a b c; d e f] or 3 x 3, from input pixels (x, y, 1) to output pixels, as OpenCV's",
     NULL, 0},
    {"corners", offsetof(smp_warp_params, corners), SMP_T_MATRIX, SMP_UNIT_NONE, 0, 0, NULL,
     "instead, as for a photo of a page: [x y; x y; x y; x y], the input pixels that become the corners at the top "
     "left, top right, bottom right and bottom left",
     NULL, 0},
    {"size", offsetof(smp_warp_params, size), SMP_T_ENUM, SMP_UNIT_NONE, 0, 0, "keep",
     "keep: the input's size; fit: as large as the turned picture, or as the longer sides between corners; inside: "
     "the largest of the input's ratio that is full",
     sizes, 0},
    {"filter", offsetof(smp_warp_params, filter), SMP_T_ENUM, SMP_UNIT_NONE, 0, 0, "bilinear",
     "between pixels; bicubic is sharper, nearest takes the nearest pixel", filters, 0},
    {"edge", offsetof(smp_warp_params, edge), SMP_T_ENUM, SMP_UNIT_NONE, 0, 0, "constant", "what lies outside",
     smp_edge_names, 0},
    {"fill", offsetof(smp_warp_params, fill), SMP_T_MATRIX, SMP_UNIT_FRACTION, 0, 1, "[0]",
     "with edge=constant: one value for all colours, or one a channel; alpha is 0 unless it is given", NULL,
     SMP_P_LEVEL},
    {0},
};

static smp_code check(const void *given, smp_error *err)
{
    const smp_warp_params *p = given;
    const bool turned = p->angle != 0 || p->scale != 1;
    if (p->matrix.cols != 3 || p->matrix.rows < 2 || p->matrix.rows > 3)
        return smp_fail(err, SMP_E_PIPE, "matrix has %d x %d numbers, not 2 x 3 or 3 x 3", p->matrix.rows,
                        p->matrix.cols);
    SMP_TRY(smp_check_fill_row(&p->fill, err));
    if (p->corners.rows && (p->corners.rows != 4 || p->corners.cols != 2))
        return smp_fail(err, SMP_E_PIPE, "corners has %d x %d numbers, not 4 x 2: [x y; x y; x y; x y]",
                        p->corners.rows, p->corners.cols);
    const bool by_matrix = !smp_warp_is_identity(&p->matrix);
    if (turned + by_matrix + (p->corners.rows > 0) > 1)
        return smp_fail(err, SMP_E_PIPE, "the transform is given twice: say angle and scale, or matrix, or corners");
    if (p->corners.rows && p->size == SMP_WARP_INSIDE)
        return smp_fail(err, SMP_E_PIPE, "size=inside goes with an angle: with corners write size=keep or size=fit");
    if (!by_matrix)
        return SMP_OK;
    if (p->size != SMP_WARP_KEEP)
        return smp_fail(err, SMP_E_PIPE, "size=%s goes with an angle or a scale: a matrix says where pixels lie",
                        sizes[p->size]);
    return SMP_OK;
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    return smp_warp_plan(given, in, work, err);
}

const smp_stage smp_stage_warp = {
    .name = "warp",
    .help = "turn a picture by any angle, or apply an affine or perspective matrix",
    .about =
        "Each output pixel is looked up where the inverse transform puts it, pixel centres at whole numbers, x to the "
        "right, y down. An angle turns clockwise about the middle, which stays the middle. size=fit makes ceil(w|cos| "
        "+ h|sin|) x ceil(w|sin| + h|cos|) pixels, times scale; size=inside cuts off the empty corners. A matrix takes "
        "input pixels to output pixels, as OpenCV's getAffineTransform and getPerspectiveTransform make it; it is "
        "inverted in double. With corners the output's corner pixels are those of the input that are given, between "
        "which straight lines stay straight.\n"
        "Affine places are exact in 2^-32 pixels, perspective is computed in double. bilinear: t = p00 + fx (p10 - "
        "p00), s likewise in the row below, t + fy (s - t); bicubic by Keys with a = -1/2, rows first; nearest moves "
        "samples. OpenCV rounds places to 1/32 pixel, which differs by some levels; scipy.ndimage agrees. `warp 90 "
        "size=fit` gives the bytes of `rotate 90`.\n"
        "There is no filter against aliasing: to make a picture much smaller, `resize` first. Behind the horizon of a "
        "perspective lies the fill. Colour is premultiplied by alpha.",
    .example = "warp 12 size=fit",
    SMP_PLANNED(SMP_IMAGE, SMP_WHOLE, params, smp_warp_params, smp_warp_variants),
    .traits = SMP_TRAIT_NEIGHBOURHOOD,
    .check = check,
    SMP_ALSO(
        {"rotate_any imrotate deskew_by straighten", "warp 5"},
        {"affine warpaffine warp_affine", "warp matrix=[1 0 0; 0 1 0]"},
        {"perspective warpperspective", "warp matrix=[1 0 0; 0 1 0; 0 0 1]"},
        {"distort four_point_transform dewarp keystone quad", "warp corners=[10 20; 400 30; 420 560; 5 540] size=fit"},
        {"shear", "warp matrix=[1 0.2 0; 0 1 0]"}, {"roll wrap", "warp matrix=[1 0 30; 0 1 20] edge=wrap"}),
};
