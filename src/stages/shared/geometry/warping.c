/* Warped pictures: see warping.h. */
#include "stages/shared/geometry/warping.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "stages/shared/launch_shapes.h"
#include "stages/shared/samples/fill.h"

bool smp_warp_is_identity(const smp_matrix *m)
{
    for (int r = 0; r < m->rows; r++)
        for (int c = 0; c < m->cols; c++)
            if (m->values[r * m->cols + c] != (r == c))
                return false;
    return true;
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
    if (rows[8] == 0 || !isfinite(largest / rows[8]))
        return smp_fail(err, SMP_E_PIPE, "the matrix puts the horizon on the first output pixel"),
               smp_hint(err, "move the picture: add to the third number of the first or second row");
    for (int i = 0; i < 9; i++)
        inverse[i] = rows[i] / rows[8];
    return SMP_OK;
}

/* Lengths of the sides from each corner to the next, in pixels' steps. */
static void sides_of(const double *c, double sides[4])
{
    for (int i = 0; i < 4; i++) {
        const double *to = c + 2 * ((i + 1) % 4);
        sides[i] = hypot(to[0] - c[2 * i], to[1] - c[2 * i + 1]);
    }
}

/* The corners turn one way all round: none lies within the others, and no sides cross. */
static smp_code check_corners(const double *c, smp_error *err)
{
    int left = 0, right = 0;
    for (int i = 0; i < 4; i++) {
        const double *a = c + 2 * i, *b = c + 2 * ((i + 1) % 4), *d = c + 2 * ((i + 2) % 4);
        const double turn = (b[0] - a[0]) * (d[1] - b[1]) - (b[1] - a[1]) * (d[0] - b[0]);
        left += turn < 0;
        right += turn > 0;
    }
    if (left == 4 || right == 4)
        return SMP_OK;
    smp_fail(err, SMP_E_PIPE, "the corners make no quadrilateral without dents");
    return smp_hint(err, "go round: top left, top right, bottom right, bottom left");
}

/* Maps a square to a quadrilateral (Heckbert, Fundamentals of Texture Mapping, 1989, 2.2.3); row by row. */
static void inverse_of_corners(const double *c, const smp_shape *out, double inverse[9])
{
    const double x1 = c[2] - c[4], y1 = c[3] - c[5], x2 = c[6] - c[4], y2 = c[7] - c[5];
    const double x = c[0] - c[2] + c[4] - c[6], y = c[1] - c[3] + c[5] - c[7], area = x1 * y2 - x2 * y1;
    const double w = fmax(1, (double)out->width - 1), h = fmax(1, (double)out->height - 1);
    const double across = (x * y2 - x2 * y) / area, down = (x1 * y - x * y1) / area;
    const double rows[9] = {(c[2] - c[0] + across * c[2]) / w,
                            (c[6] - c[0] + down * c[6]) / h,
                            c[0],
                            (c[3] - c[1] + across * c[3]) / w,
                            (c[7] - c[1] + down * c[7]) / h,
                            c[1],
                            across / w,
                            down / h,
                            1};
    memcpy(inverse, rows, sizeof rows);
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
        return warp->perspective == SMP_WARP_LENS ? 0 : SMP_WARP_WORDS; /* corners may lie inside a tile's outline */
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
static smp_code plan_fill(const smp_warp_params *p, const smp_shape *in, smp_warp *warp, bool *plain, smp_error *err)
{
    const int colours = in->channels - in->alpha, values = p->fill.cols;
    const double white = (double)smp_white(in->format);
    double alpha = in->alpha ? 0 : 1;
    *plain = true;
    if (p->edge != SMP_CONSTANT)
        return SMP_OK;
    SMP_TRY(smp_check_fill(&p->fill, in, err));
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

static bool stays(const smp_warp_params *p, const smp_warp *warp, const smp_shape *in, const smp_shape *out)
{
    static const int64_t identity[6] = {INT64_C(1) << SMP_WARP_BITS, 0, 0, 0, INT64_C(1) << SMP_WARP_BITS, 0};
    return (smp_warp_is_identity(&p->matrix) || warp->perspective == SMP_WARP_AFFINE) &&
           memcmp(warp->affine, identity, sizeof identity) == 0 && out->width == in->width && out->height == in->height;
}

static void finish_plan(const smp_warp *warp, bool plain, smp_node_plan *work)
{
    smp_plan_kernel(work, warp, sizeof *warp);
    work->values.exactness = warp->filter == SMP_WARP_NEAREST && plain ? SMP_MOVE : SMP_REAL;
    work->values.clips = warp->filter == SMP_WARP_BICUBIC;
    work->ops = warp->filter == SMP_WARP_BICUBIC ? 2 * 20 : warp->filter == SMP_WARP_BILINEAR ? 2 * 3 + 3 : 0;
}

/* An affine transform that takes more than 2 x 2 input pixels to one: most of them are never read. */
static void remark_shrinking(const double *inverse, smp_node_plan *work)
{
    const double step = sqrt(fabs(inverse[0] * inverse[4] - inverse[1] * inverse[3]));
    if (step > 2)
        snprintf(work->effect.remark, sizeof work->effect.remark,
                 "'warp' shrinks to %.3g %%, and passes samples over: `resize` first, which averages them", 100 / step);
}

smp_code smp_warp_plan(const smp_warp_params *p, const smp_shape *in, smp_node_plan *work, smp_error *err)
{
    static const double most = 1e9;
    smp_warp warp = {.filter = p->filter, .edge = p->edge == SMP_ZERO ? SMP_CONSTANT : p->edge};
    double inverse[9], cosine, sine;
    bool plain;
    smp_code code = plan_fill(p, in, &warp, &plain, err);
    turn(p->angle, &cosine, &sine);
    const double *corners = p->corners.rows ? p->corners.values : NULL;
    if (corners && p->size == SMP_WARP_FIT) {
        double sides[4];
        sides_of(corners, sides);
        if (!(sides[0] + sides[1] + sides[2] + sides[3] < most))
            return smp_fail(err, SMP_E_PIPE, "the corners lie too far apart");
        work->out.width = (int64_t)rint(fmax(sides[0], sides[2])) + 1;
        work->out.height = (int64_t)rint(fmax(sides[1], sides[3])) + 1;
    } else if (p->size != SMP_WARP_KEEP) {
        if (((double)in->width + (double)in->height) * p->scale > most)
            return smp_fail(err, SMP_E_PIPE, "a picture of %lldx%lld, %g times as large, is too large",
                            (long long)in->width, (long long)in->height, p->scale);
        (p->size == SMP_WARP_FIT ? fit : fit_inside)(cosine, sine, p->scale, in, &work->out);
    }
    if (corners) {
        code = code ? code : check_corners(corners, err);
        inverse_of_corners(corners, &work->out, inverse);
    } else if (!smp_warp_is_identity(&p->matrix)) {
        code = code ? code : invert(&p->matrix, inverse, err);
    } else {
        inverse_of_turn(cosine, sine, p->scale, in, &work->out, inverse);
    }
    if (code)
        return code;
    warp.perspective = inverse[6] != 0 || inverse[7] != 0;
    memcpy(warp.inverse, inverse, sizeof warp.inverse);
    SMP_TRY(warp.perspective ? SMP_OK : set_affine(inverse, &work->out, &warp, err));
    for (int padded = 0; padded < 2; padded++)
        warp.words[padded] = words_of(&warp, in, padded);
    finish_plan(&warp, plain, work);
    work->effect.none = stays(p, &warp, in, &work->out);
    if (!warp.perspective)
        remark_shrinking(inverse, work);
    return SMP_OK;
}

smp_code smp_warp_lens_plan(const smp_warp_lens *lens, int filter, int edge, const smp_matrix *fill,
                            const smp_shape *in, smp_node_plan *work, smp_error *err)
{
    const smp_warp_params p = {.fill = *fill, .edge = edge};
    smp_warp warp = {
        .filter = filter, .edge = edge == SMP_ZERO ? SMP_CONSTANT : edge, .perspective = SMP_WARP_LENS, .lens = *lens};
    bool plain, straight = true;
    const smp_code code = plan_fill(&p, in, &warp, &plain, err);
    for (int i = 0; i < 3; i++)
        straight = straight && lens->radial[i] == 0 && lens->tangential[i % 2] == 0;
    finish_plan(&warp, plain, work);
    work->effect.none = straight;
    return code;
}

/* ---------------------------------------------------------------------------------------------- variants */

static const char *tile(const smp_io *io, const void *kernel, smp_grid *grid, int padded)
{
    static const smp_tiles tiles = {SMP_WARP_ACROSS, SMP_WARP_DOWN, SMP_WARP_ACROSS, SMP_WARP_DOWN / 2};
    const smp_warp *warp = kernel;
    const smp_io pixels = smp_grid_over(io, io->out.width, io->out.rows, 1);
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

/* Between pixels, of bytes or floats. */
static const char *gather(const smp_io *io, const void *kernel, smp_grid *grid)
{
    static const smp_tiles tiles = {32, SMP_WARP_GATHER, 32, SMP_WARP_GATHER_THREADS};
    const smp_warp *warp = kernel;
    const int channels = io->in.channels;
    const smp_io pixels = smp_grid_over(io, io->out.width, io->out.rows, 1);
    if (warp->filter != SMP_WARP_BILINEAR || io->in.format != io->out.format || io->in.format == SMP_U16 ||
        !(channels == 1 || channels == 3 || channels == 4) || !smp_rows_aligned(io) || io->in.stride > INT32_MAX ||
        io->out.stride > INT32_MAX || io->in.height > INT32_MAX || io->out.height > INT32_MAX)
        return NULL;
    smp_grid_sample_tiles(&pixels, &tiles, grid);
    return warp->perspective == SMP_WARP_AFFINE ? "warp_gather" : "warp_gather_far";
}

const smp_variant smp_warp_variants[] = {
    {SMP_RUNG("naive", "sample by sample, from device memory", SMP_LAUNCH_SAMPLES(warp_naive))},
    {SMP_RUNG("tiled",
              "CPU: blocks whose input lines stay in cache; GPU: what a block of 32 x 16 pixels reads lies in shared "
              "memory, where slanted lines cost conflicts: none at small angles, 32-way at a quarter turn",
              SMP_LAUNCH_AS(warp_tiled, .decide = tiled)),
     .band = SMP_WARP_DOWN},
    {SMP_RUNG("padded", "GPU: one unused word after each row, so that columns meet all banks; CPU as tiled",
              SMP_LAUNCH_AS(warp_tiled, .decide = padded)),
     .band = SMP_WARP_DOWN},
    {SMP_RUNG("gather",
              "GPU, bilinear: no shared memory; a thread makes whole pixels, of the words that hold their neighbours; "
              "CPU as tiled",
              SMP_LAUNCH_AS(warp_tiled, .decide = gather)),
     .band = SMP_WARP_DOWN},
    {0},
};
