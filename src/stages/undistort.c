/* undistort: takes a lens's distortion out of a picture. */
#include <math.h>

#include "stages/shared/geometry/warping.h"
#include "stages/shared/samples/fill.h"

typedef struct params {
    double fx, fy, cx, cy, k1, k2, p1, p2, k3;
    int filter, edge;
    smp_matrix fill;
} params;

#define COEFFICIENT(name, text)                                                                                        \
#name, offsetof(params, name), SMP_T_FLOAT, SMP_UNIT_NONE, -1000, 1000, "0", text, NULL, 0

static const char *const filters[] = {
    [SMP_WARP_BILINEAR] = "bilinear", [SMP_WARP_BICUBIC] = "bicubic", [SMP_WARP_NEAREST] = "nearest", NULL};

static const smp_param table[] = {
    SMP_PARAM_FLOAT(fx, PX, 0, 1e6, NULL, "focal length across, in pixels",
                    SMP_P_MAIN | SMP_P_REQUIRED | SMP_P_POSITIVE),
    SMP_PARAM_FLOAT(fy, PX, 0, 1e6, "auto", "focal length down; auto: fx", SMP_P_AUTO | SMP_P_POSITIVE),
    SMP_PARAM_FLOAT(cx, PX, -1e6, 1e6, "auto", "the lens's axis, column from the left; auto: the middle", SMP_P_AUTO),
    SMP_PARAM_FLOAT(cy, PX, -1e6, 1e6, "auto", "and row from the top", SMP_P_AUTO),
    {COEFFICIENT(k1, "radial distortion: below 0 of a barrel, above 0 of a cushion")},
    {COEFFICIENT(k2, "radial, of the fourth power")},
    {COEFFICIENT(p1, "tangential distortion, down")},
    {COEFFICIENT(p2, "tangential distortion, across")},
    {COEFFICIENT(k3, "radial, of the sixth power")},
    SMP_PARAM_ROW(filter, ENUM, NONE, 0, 0, "bilinear",
                  "between pixels; bicubic is sharper, nearest takes the nearest pixel", filters, 0),
    SMP_PARAM_ROW(edge, ENUM, NONE, 0, 0, "constant", "what lies outside", smp_edge_names, 0),
    SMP_PARAM_MATRIX(fill, FRACTION, 0, 1, "[0]",
                     "with edge=constant: one value for all colours, or one a channel; alpha is 0 unless it is given",
                     SMP_P_LEVEL),
    {0},
};

static smp_code check(const void *given, smp_error *err)
{
    return smp_check_fill_row(&((const params *)given)->fill, err);
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    const smp_warp_lens lens = {.focal = {p->fx, isnan(p->fy) ? p->fx : p->fy},
                                .axis = {isnan(p->cx) ? ((double)in->width - 1) / 2 : p->cx,
                                         isnan(p->cy) ? ((double)in->height - 1) / 2 : p->cy},
                                .radial = {p->k1, p->k2, p->k3},
                                .tangential = {p->p1, p->p2}};
    return smp_warp_lens_plan(&lens, p->filter, p->edge, &p->fill, in, work, err);
}

const smp_stage smp_stage_undistort = {
    .name = "undistort",
    .help = "straight lines straight: takes a lens's distortion out",
    .about =
        "The model of Brown and Conrady, with the numbers that OpenCV's calibrateCamera gives: camera matrix fx, fy, "
        "cx, cy in pixels, distortion k1, k2, p1, p2, k3. Output pixel (u, v) is looked up at x = (u - cx) / fx, y = "
        "(v - cy) / fy, r2 = x^2 + y^2, k = 1 + ((k3 r2 + k2) r2 + k1) r2, column fx (x k + 2 p1 x y + p2 (r2 + 2 "
        "x^2)) + cx, row fy (y k + p1 (r2 + 2 y^2) + 2 p2 x y) + cy, in double: cv2.undistort's map, which OpenCV then "
        "rounds to 1/32 pixel and this stage does not. Between pixels as `warp`. The size stays.",
    .example = "undistort 400px k1=-0.2",
    SMP_PLANNED(SMP_IMAGE, SMP_WHOLE, table, params, smp_warp_variants),
    .traits = SMP_TRAIT_NEIGHBOURHOOD,
    .check = check,
    SMP_ALSO({"lens_correction lenscorrection barrel initundistortrectifymap", "undistort 1000px k1=-0.1"}),
};
