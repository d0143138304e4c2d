/* warp: a picture turned by any angle, sheared, or seen in perspective. */
#include "geometry/warp.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "stages/shared/launch_shapes.h"
#include "stages/stage.h"

enum { KEEP, FIT, INSIDE };

typedef struct warp_params {
    double angle, scale;
    smp_matrix matrix, fill;
    int size, filter, edge;
} warp_params;

static const char *const sizes[] = {"keep", "fit", "inside", NULL};
static const char *const filters[] = {
    [SMP_WARP_BILINEAR] = "bilinear", [SMP_WARP_BICUBIC] = "bicubic", [SMP_WARP_NEAREST] = "nearest", NULL};

static const smp_param params[] = {
    {"angle", offsetof(warp_params, angle), SMP_T_FLOAT, SMP_UNIT_DEG, -360, 360, "0",
     "clockwise, about the middle of the picture", NULL, SMP_P_MAIN},
    {"scale", offsetof(warp_params, scale), SMP_T_FLOAT, SMP_UNIT_FRACTION, 0.001, 1000, "1",
     "factor for both sides, about the middle", NULL, 0},
    {"matrix", offsetof(warp_params, matrix), SMP_T_MATRIX, SMP_UNIT_NONE, 0, 0, "[1 0 0; 0 1 0]",
     "instead of angle and scale: [a b c; d e f] or 3 x 3, from input pixels (x, y, 1) to output pixels, as OpenCV's",
     NULL, 0},
    {"size", offsetof(warp_params, size), SMP_T_ENUM, SMP_UNIT_NONE, 0, 0, "keep",
     "keep: the input's size; fit: as large as the turned picture; inside: the largest of the input's ratio that is "
     "full",
     sizes, 0},
    {"filter", offsetof(warp_params, filter), SMP_T_ENUM, SMP_UNIT_NONE, 0, 0, "bilinear",
     "between pixels; bicubic is sharper, nearest takes the nearest pixel", filters, 0},
    {"edge", offsetof(warp_params, edge), SMP_T_ENUM, SMP_UNIT_NONE, 0, 0, "constant", "what lies outside",
     smp_edge_names, 0},
    {"fill", offsetof(warp_params, fill), SMP_T_MATRIX, SMP_UNIT_FRACTION, 0, 1, "[0]",
     "with edge=constant: one value for all colours, or one a channel; alpha is 0 unless it is given", NULL,
     SMP_P_LEVEL},
    {0},
};

static bool is_identity(const smp_matrix *m)
{
    for (int r = 0; r < m->rows; r++)
        for (int c = 0; c < m->cols; c++)
            if (m->values[r * m->cols + c] != (r == c))
                return false;
    return true;
}

static smp_code check(const void *given, smp_error *err)
{
    const warp_params *p = given;
    const bool turned = p->angle != 0 || p->scale != 1;
    if (p->matrix.cols != 3 || p->matrix.rows < 2 || p->matrix.rows > 3)
        return smp_fail(err, SMP_E_PIPE, "matrix has %d x %d numbers, not 2 x 3 or 3 x 3", p->matrix.rows,
                        p->matrix.cols);
    if (p->fill.rows > 1 || p->fill.cols < 1 || p->fill.cols > SMP_MAX_CHANNELS)
        return smp_fail(err, SMP_E_PIPE, "fill takes one row of 1 to %d values", SMP_MAX_CHANNELS);
    if (is_identity(&p->matrix))
        return SMP_OK;
    if (turned)
        return smp_fail(err, SMP_E_PIPE, "the transform is given twice: say angle and scale, or matrix");
    if (p->size != KEEP)
        return smp_fail(err, SMP_E_PIPE, "size=%s goes with an angle or a scale: a matrix says where pixels lie",
                        sizes[p->size]);
    return SMP_OK;
}

/* ---------------------------------------------------------------------------------------------- the transform */

/* Exact for quarter turns. */
static void turn(double degrees, double *cosine, double *sine)
{
    const double radians = 0.017453292519943295, quarters = degrees / 90;
    *cosine = cos(degrees * radians);
    *sine = sin(degrees * radians);
    if (quarters == floor(quarters)) {
        *cosine = round(*cosine);
        *sine = round(*sine);
    }
}

static void fit(double cosine, double sine, double scale, const smp_shape *in, smp_shape *out)
{
    const double spare = 1e-6, w = (double)in->width, h = (double)in->height;
    const double c = fabs(cosine) * scale, s = fabs(sine) * scale;
    out->width = (int64_t)fmax(1, ceil(w * c + h * s - spare));
    out->height = (int64_t)fmax(1, ceil(w * s + h * c - spare));
}

/* The largest of the input's ratio whose corners lie in the turned picture. */
static void fit_inside(double cosine, double sine, double scale, const smp_shape *in, smp_shape *out)
{
    const double spare = 1e-6, w = (double)in->width, h = (double)in->height, c = fabs(cosine), s = fabs(sine);
    const double part = fmin(w / (w * c + h * s), h / (w * s + h * c)) * scale;
    out->width = (int64_t)fmax(1, floor(w * part + spare));
    out->height = (int64_t)fmax(1, floor(h * part + spare));
}

/* Row by row, from output to input pixels. */
static void inverse_of_turn(double cosine, double sine, double scale, const smp_shape *in, const smp_shape *out,
                            double inverse[9])
{
    const double c = cosine / scale, s = sine / scale, x = ((double)in->width - 1) / 2,
                 y = ((double)in->height - 1) / 2, u = ((double)out->width - 1) / 2, v = ((double)out->height - 1) / 2;
    const double rows[9] = {c, s, x - c * u - s * v, -s, c, y + s * u - c * v, 0, 0, 1};
    memcpy(inverse, rows, sizeof rows);
}

static smp_code invert(const smp_matrix *matrix, double inverse[9], smp_error *err)
{
    double m[9] = {[8] = 1};
    memcpy(m, matrix->values, sizeof(double) * 3 * (size_t)matrix->rows);
    const double rows[9] = {m[4] * m[8] - m[5] * m[7], m[2] * m[7] - m[1] * m[8], m[1] * m[5] - m[2] * m[4],
                            m[5] * m[6] - m[3] * m[8], m[0] * m[8] - m[2] * m[6], m[2] * m[3] - m[0] * m[5],
                            m[3] * m[7] - m[4] * m[6], m[1] * m[6] - m[0] * m[7], m[0] * m[4] - m[1] * m[3]};
    const double determinant = m[0] * rows[0] + m[1] * rows[3] + m[2] * rows[6];
    double largest = 0;
    for (int i = 0; i < 9; i++)
        largest = fmax(largest, fabs(rows[i]));
    if (!isfinite(determinant) || !isfinite(largest) || fabs(determinant) < 1e-12 * fmax(largest, 1e-30))
        return smp_fail(err, SMP_E_PIPE, "the matrix is singular: it takes the picture to a line or a point");
    if (rows[8] == 0 || !isfinite(largest / rows[8])) {
        smp_fail(err, SMP_E_PIPE, "the matrix puts the horizon on the first output pixel");
        return smp_hint(err, "move the picture: add to the third number of the first or second row");
    }
    for (int i = 0; i < 9; i++)
        inverse[i] = rows[i] / rows[8];
    return SMP_OK;
}

/* Whole 2^-32 pixels. Every place of the picture must stay below 2^29 pixels, so that no sum overflows. */
static smp_code set_affine(const double inverse[9], const smp_shape *out, smp_warp *warp, smp_error *err)
{
    const double far = 536870912, unit = 4294967296;
    for (int r = 0; r < 2; r++) {
        const double *m = inverse + 3 * r;
        if (!(fabs(m[0]) * (double)out->width + fabs(m[1]) * (double)out->height + fabs(m[2]) < far))
            return smp_fail(err, SMP_E_PIPE, "the transform reaches more than %.0f pixels beyond the picture", far);
        for (int c = 0; c < 3; c++)
            warp->affine[3 * r + c] = (int64_t)rint(m[c] * unit);
    }
    return SMP_OK;
}

/* Words of shared memory that a tile's input takes at most; 0: more than there is. */
static int32_t words_of(const smp_warp *warp, const smp_shape *in, int padded)
{
    const int around = smp_warp_before(warp->filter) + smp_warp_after(warp->filter) + 2;
    int64_t side[2];
    if (warp->perspective)
        return SMP_WARP_WORDS;
    for (int r = 0; r < 2; r++) {
        const int64_t *m = warp->affine + 3 * r;
        const double reach =
            (fabs((double)m[0]) * (SMP_WARP_ACROSS - 1) + fabs((double)m[1]) * (SMP_WARP_DOWN - 1)) / 4294967296;
        if (reach > SMP_WARP_WORDS)
            return 0;
        side[r] = (int64_t)reach + around;
    }
    const int64_t words = smp_warp_pitch(side[0] * in->channels, padded) * side[1];
    return words > SMP_WARP_WORDS ? 0 : (int32_t)words;
}

/* ---------------------------------------------------------------------------------------------- the plan */

/* *plain: the fill's samples are 0 or full scale. */
static smp_code plan_fill(const warp_params *p, const smp_shape *in, smp_warp *warp, bool *plain, smp_error *err)
{
    const int colours = in->channels - in->alpha, values = p->fill.cols;
    const double white = (double)smp_white(in->format);
    double alpha = in->alpha ? 0 : 1;
    *plain = true;
    if (p->edge != SMP_CONSTANT)
        return SMP_OK;
    if (values != 1 && values != colours && values != in->channels) {
        smp_fail(err, SMP_E_PIPE, "fill has %d values, and the picture %d channels%s", values, in->channels,
                 in->alpha ? ", one of them alpha" : "");
        return smp_hint(err, "one value serves all colours");
    }
    if (in->alpha && values == in->channels)
        alpha = p->fill.values[colours];
    for (int c = 0; c < colours; c++)
        warp->fill[c] = (float)(p->fill.values[values == 1 ? 0 : c] * alpha * white);
    if (in->alpha)
        warp->fill[colours] = (float)(alpha * white);
    for (int c = 0; c < in->channels; c++)
        *plain = *plain && (warp->fill[c] == 0.f || warp->fill[c] == (float)white);
    return SMP_OK;
}

static bool stays(const warp_params *p, const smp_warp *warp, const smp_shape *in, const smp_shape *out)
{
    static const int64_t identity[6] = {INT64_C(1) << SMP_WARP_BITS, 0, 0, 0, INT64_C(1) << SMP_WARP_BITS, 0};
    return (is_identity(&p->matrix) || !warp->perspective) && memcmp(warp->affine, identity, sizeof identity) == 0 &&
           out->width == in->width && out->height == in->height;
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *by, smp_node_plan *work, smp_error *err)
{
    static const double most = 1e9;
    const warp_params *p = given;
    smp_warp warp = {.filter = p->filter, .edge = p->edge == SMP_ZERO ? SMP_CONSTANT : p->edge};
    double inverse[9], cosine, sine;
    bool plain;
    (void)by;
    smp_code code = plan_fill(p, in, &warp, &plain, err);
    turn(p->angle, &cosine, &sine);
    if (p->size != KEEP) {
        if (((double)in->width + (double)in->height) * p->scale > most)
            return smp_fail(err, SMP_E_PIPE, "a picture of %lldx%lld, %g times as large, is too large",
                            (long long)in->width, (long long)in->height, p->scale);
        (p->size == FIT ? fit : fit_inside)(cosine, sine, p->scale, in, &work->out);
    }
    if (!is_identity(&p->matrix))
        code = code ? code : invert(&p->matrix, inverse, err);
    else
        inverse_of_turn(cosine, sine, p->scale, in, &work->out, inverse);
    if (code)
        return code;
    warp.perspective = inverse[6] != 0 || inverse[7] != 0;
    memcpy(warp.inverse, inverse, sizeof warp.inverse);
    code = warp.perspective ? SMP_OK : set_affine(inverse, &work->out, &warp, err);
    if (code)
        return code;
    for (int padded = 0; padded < 2; padded++)
        warp.words[padded] = words_of(&warp, in, padded);
    memcpy(work->kernel, &warp, sizeof warp);
    work->kernel_size = sizeof warp;
    work->nothing = stays(p, &warp, in, &work->out);
    work->exactness = p->filter == SMP_WARP_NEAREST && plain ? SMP_MOVE : SMP_REAL;
    work->clips = p->filter == SMP_WARP_BICUBIC;
    work->ops = p->filter == SMP_WARP_BICUBIC ? 2 * 20 : p->filter == SMP_WARP_BILINEAR ? 2 * 3 + 3 : 0;
    return SMP_OK;
}

/* ---------------------------------------------------------------------------------------------- variants */

static const char *tile(const smp_io *io, const void *kernel, smp_grid *grid, int padded)
{
    static const smp_tiles tiles = {SMP_WARP_ACROSS, SMP_WARP_DOWN, SMP_WARP_ACROSS, SMP_WARP_DOWN / 2};
    const smp_warp *warp = kernel;
    smp_io pixels = *io;
    pixels.out.channels = 1;
    if (!warp->words[padded])
        return NULL;
    smp_grid_sample_tiles(&pixels, &tiles, grid);
    grid->shared_bytes = (unsigned)warp->words[padded] * (unsigned)sizeof(float);
    return padded ? "warp_padded" : "warp_tiled";
}
static const char *tiled(const smp_io *io, const void *kernel, smp_grid *grid)
{
    return tile(io, kernel, grid, 0);
}
static const char *padded(const smp_io *io, const void *kernel, smp_grid *grid)
{
    return tile(io, kernel, grid, 1);
}

static const smp_variant variants[] = {
    {.name = "naive",
     .help = "sample by sample, from device memory",
     .launches = {{.from = SMP_IN, .to = SMP_OUT, .cpu = SMP_CPU(warp_naive), .cuda = "warp_naive"}}},
    {.name = "tiled",
     .help = "CPU: blocks whose input lines stay in cache; GPU: what a block of 32 x 16 pixels reads lies in shared "
             "memory, where slanted lines cost conflicts: none at small angles, 32-way at a quarter turn",
     .launches = {{.from = SMP_IN, .to = SMP_OUT, .cpu = SMP_CPU(warp_tiled), .decide = tiled}},
     .band = SMP_WARP_DOWN},
    {.name = "padded",
     .help = "GPU: one unused word after each row, so that columns meet all banks; CPU as tiled",
     .launches = {{.from = SMP_IN, .to = SMP_OUT, .cpu = SMP_CPU(warp_tiled), .decide = padded}},
     .band = SMP_WARP_DOWN},
    {0},
};

const smp_stage smp_stage_warp = {
    .name = "warp",
    .help = "turn a picture by any angle, or apply an affine or perspective matrix",
    .about =
        "Each output pixel is looked up where the inverse transform puts it, pixel centres at whole numbers, x to the "
        "right, y down. An angle turns clockwise about the middle, which stays the middle. size=fit makes ceil(w|cos| "
        "+ h|sin|) x ceil(w|sin| + h|cos|) pixels, times scale; size=inside cuts off the empty corners. A matrix takes "
        "input pixels to output pixels, as "
        "OpenCV's getAffineTransform and getPerspectiveTransform make it; it is inverted in double.\n"
        "Affine places are exact in 2^-32 pixels, perspective is computed in double. bilinear: t = p00 + fx (p10 - "
        "p00), s likewise in the row below, t + fy (s - t); bicubic by Keys with a = -1/2, rows first; nearest moves "
        "samples. OpenCV rounds places to 1/32 pixel, which differs by some levels; scipy.ndimage agrees. `warp 90 "
        "size=fit` gives the bytes of `rotate 90`.\n"
        "There is no filter against aliasing: to make a picture much smaller, `resize` first. Behind the horizon of a "
        "perspective lies the fill. Colour is premultiplied by alpha.",
    .example = "warp 12 size=fit",
    .domain = SMP_IMAGE,
    .access = SMP_WHOLE,
    .neighbourhood = true,
    .params = params,
    .params_size = sizeof(warp_params),
    .check = check,
    .plan = plan,
    .variants = variants,
    .aliases = (const smp_alias[]){{"rotate_any", "warp 5"},
                                   {"affine", "warp matrix=[1 0 0; 0 1 0]"},
                                   {"warpaffine", "warp matrix=[1 0 0; 0 1 0]"},
                                   {"warp_affine", "warp matrix=[1 0 0; 0 1 0]"},
                                   {"perspective", "warp matrix=[1 0 0; 0 1 0; 0 0 1]"},
                                   {"warpperspective", "warp matrix=[1 0 0; 0 1 0; 0 0 1]"},
                                   {"imrotate", "warp 5"},
                                   {"deskew_by", "warp 5"},
                                   {"straighten", "warp 5"},
                                   {0}},
};
