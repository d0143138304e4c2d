/* Colour profiles by tables: see icc_table.h. */
#include "media/icc.h"

#include <math.h>
#include <string.h>

enum { LUT_HEAD = 48, AB_HEAD = 32, CLUT_HEAD = 20, COLOURS = 3, LEAST = 2, FULL8 = 255, FULL16 = 65535 };

const double smp_icc_d50[3] = {.9642, 1, .8249};

static uint32_t word(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static int half(const uint8_t *at)
{
    return at[0] * 256 + at[1];
}

/* ------------------------------------------------------------------------------------------------ reading */

/* The bytes of the grid; 0: it has no points. */
static size_t grid_bytes(const smp_icc_lut *lut)
{
    size_t bytes = (size_t)lut->made * (size_t)lut->bytes;
    for (int c = 0; c < lut->colours; c++)
        bytes *= lut->points[c] < LEAST ? 0 : (size_t)lut->points[c]; /* at most 255^4 * 8 */
    return bytes;
}

static bool read_lut(const uint8_t *data, size_t size, smp_icc_lut *to)
{
    const bool wide = !memcmp(data, "mft2", 4);
    const size_t head = wide ? LUT_HEAD + 4 : LUT_HEAD;
    if (size < head || data[8] != to->colours || data[9] != to->made)
        return false;
    to->bytes = wide ? 2 : 1;
    to->old = wide;
    to->in_count = wide ? half(data + LUT_HEAD) : FULL8 + 1;
    to->out_count = wide ? half(data + LUT_HEAD + 2) : FULL8 + 1;
    for (int c = 0; c < to->colours; c++)
        to->points[c] = data[10];
    const size_t in = (size_t)to->colours * (size_t)to->in_count * (size_t)to->bytes,
                 out = (size_t)to->made * (size_t)to->out_count * (size_t)to->bytes, grid = grid_bytes(to);
    if (to->in_count < LEAST || to->out_count < LEAST || in + out > size - head || !grid ||
        grid > size - head - in - out)
        return false;
    to->has_grid = true;
    to->in = data + head;
    to->grid = to->in + in;
    to->out = to->grid + grid;
    return true;
}

/* Curves one behind the other, each on a multiple of 4 bytes. */
static bool read_curves(const uint8_t *data, size_t size, uint32_t at, int count, smp_icc_curve *curves)
{
    for (int c = 0; c < count; c++) {
        size_t used;
        if (at > size || !smp_icc_curve_read(data + at, size - at, &curves[c], &used))
            return false;
        at += (uint32_t)((used + 3) & ~(size_t)3);
    }
    return true;
}

static bool read_ab(const uint8_t *data, size_t size, smp_icc_lut *to)
{
    if (size < AB_HEAD || data[8] != to->colours || data[9] != COLOURS || to->made != COLOURS)
        return false;
    const uint32_t b = word(data + 12), matrix = word(data + 16), m = word(data + 20), grid = word(data + 24),
                   a = word(data + 28);
    to->has_middle = matrix && m;
    to->has_grid = grid && a;
    if (!b || !read_curves(data, size, b, COLOURS, to->b) || (!to->has_grid && to->colours != COLOURS))
        return false;
    if (to->has_middle) {
        enum { MATRIX_BYTES = 48 };
        if (!read_curves(data, size, m, COLOURS, to->m) || matrix > size || size - matrix < MATRIX_BYTES)
            return false;
        for (int i = 0; i < MATRIX_BYTES / 4; i++)
            to->matrix[i] = (double)(int32_t)word(data + matrix + 4 * i) / 65536;
    }
    if (to->has_grid) {
        if (!read_curves(data, size, a, to->colours, to->a) || grid > size || size - grid < CLUT_HEAD)
            return false;
        for (int c = 0; c < to->colours; c++)
            to->points[c] = data[grid + (uint32_t)c];
        to->bytes = data[grid + 16];
        to->grid = data + grid + CLUT_HEAD;
        const size_t bytes = grid_bytes(to);
        if ((to->bytes != 1 && to->bytes != 2) || !bytes || bytes > size - grid - CLUT_HEAD)
            return false;
    }
    return true;
}

const char *smp_icc_lut_open(const smp_icc *icc, smp_icc_intent intent, smp_icc_lut *to)
{
    const smp_icc_tag *tag = &icc->tables[icc->tables[intent].data ? intent : SMP_ICC_PERCEPTUAL];
    const char *damaged = icc->inks ? "has tables that are damaged, or not of four inks"
                                    : "has tables that are damaged, or not of three colours";
    *to = (smp_icc_lut){.colours = icc->inks ? COLOURS + 1 : COLOURS, .made = COLOURS, .lab = icc->lab};
    if (tag->size < LUT_HEAD - 16)
        return "is damaged";
    if (!memcmp(tag->data, "mft1", 4) || !memcmp(tag->data, "mft2", 4))
        return read_lut(tag->data, tag->size, to) ? NULL : damaged;
    if (!memcmp(tag->data, "mAB ", 4))
        return read_ab(tag->data, tag->size, to) ? NULL : damaged;
    return "has tables of an unknown kind";
}

/* ------------------------------------------------------------------------------------------------ evaluating */

static double inside(double v)
{
    return v > 0 ? v < 1 ? v : 1 : 0; /* NaN is 0 */
}

static double entry(const uint8_t *at, int bytes)
{
    return bytes == 1 ? at[0] / (double)FULL8 : half(at) / (double)FULL16;
}

/* One of the curves of `count` entries each. */
static double curve_value(const uint8_t *curves, int count, int bytes, int colour, double v)
{
    const double at = inside(v) * (count - 1);
    const int i = at < count - 2 ? (int)at : count - 2;
    const uint8_t *p = curves + ((size_t)colour * (size_t)count + (size_t)i) * (size_t)bytes;
    const double low = entry(p, bytes);
    return low + (at - i) * (entry(p + bytes, bytes) - low);
}

/* The value of the grid, between its points by simplexes (tetrahedra of three colours): from the cell's first corner
 * along its edges, the longest way first. */
static void grid_value(const smp_icc_lut *lut, double v[SMP_ICC_MOST])
{
    const int n = lut->colours;
    size_t step[SMP_ICC_MOST], at = 0, stride = (size_t)lut->made * (size_t)lut->bytes;
    double part[SMP_ICC_MOST], to[SMP_ICC_MOST] = {0};
    int order[SMP_ICC_MOST];
    for (int c = n - 1; c >= 0; c--) {
        step[c] = stride;
        stride *= (size_t)lut->points[c];
    }
    for (int c = 0; c < n; c++) {
        const double x = inside(v[c]) * (lut->points[c] - 1);
        const int i = x < lut->points[c] - 2 ? (int)x : lut->points[c] - 2;
        part[c] = x - i;
        at += (size_t)i * step[c];
        int place = c;
        for (; place && part[order[place - 1]] < part[c]; place--)
            order[place] = order[place - 1];
        order[place] = c;
    }
    const uint8_t *corner = lut->grid + at;
    for (int c = 0; c < lut->made; c++)
        to[c] = entry(corner + c * lut->bytes, lut->bytes);
    for (int i = 0; i < n; i++) {
        const uint8_t *next = corner + step[order[i]];
        for (int c = 0; c < lut->made; c++)
            to[c] += part[order[i]] *
                     (entry(next + c * lut->bytes, lut->bytes) - entry(corner + c * lut->bytes, lut->bytes));
        corner = next;
    }
    memcpy(v, to, sizeof to);
}

static void curve_all(const smp_icc_curve curves[3], double v[3])
{
    for (int c = 0; c < COLOURS; c++)
        v[c] = smp_icc_light(&curves[c], inside(v[c]));
}

static double of_lab(double t)
{
    return t > 24. / 116 ? t * t * t : 108. / 841 * (t - 16. / 116);
}

/* Applies the steps behind the grid. */
static void leave(const smp_icc_lut *lut, double v[SMP_ICC_MOST], double xyz[3])
{
    static const double most = 1 + 32767. / 32768; /* XYZ at full scale */
    if (lut->has_middle) {
        curve_all(lut->m, v);
        const double m[3] = {v[0], v[1], v[2]}, *k = lut->matrix;
        for (int c = 0; c < COLOURS; c++)
            v[c] = k[3 * c] * m[0] + k[3 * c + 1] * m[1] + k[3 * c + 2] * m[2] + k[9 + c];
    }
    for (int c = 0; c < COLOURS && lut->out; c++)
        v[c] = curve_value(lut->out, lut->out_count, lut->bytes, c, v[c]);
    if (!lut->out)
        curve_all(lut->b, v);
    if (!lut->lab) {
        for (int c = 0; c < COLOURS; c++)
            xyz[c] = v[c] * most;
        return;
    }
    const double full = lut->old ? FULL16 / 65280. : 1, y = (100 * full * v[0] + 16) / 116;
    xyz[0] = smp_icc_d50[0] * of_lab(y + (255 * full * v[1] - 128) / 500);
    xyz[1] = smp_icc_d50[1] * of_lab(y);
    xyz[2] = smp_icc_d50[2] * of_lab(y - (255 * full * v[2] - 128) / 200);
}

double smp_icc_lut_enter(const smp_icc_lut *lut, int c, double value)
{
    if (lut->in)
        return inside(curve_value(lut->in, lut->in_count, lut->bytes, c, value));
    return smp_icc_light(&lut->a[c], inside(value));
}

void smp_icc_lut_point(const smp_icc_lut *lut, size_t point, double xyz[3])
{
    double v[SMP_ICC_MOST] = {0};
    const uint8_t *at = lut->grid + point * (size_t)lut->made * (size_t)lut->bytes;
    for (int c = 0; c < COLOURS; c++)
        v[c] = entry(at + c * lut->bytes, lut->bytes);
    leave(lut, v, xyz);
}

void smp_icc_lut_xyz(const smp_icc_lut *lut, const double *colour, double xyz[3])
{
    double v[SMP_ICC_MOST] = {0};
    for (int c = 0; c < lut->colours; c++)
        v[c] = lut->has_grid ? smp_icc_lut_enter(lut, c, colour[c]) : colour[c];
    if (lut->has_grid)
        grid_value(lut, v);
    leave(lut, v, xyz);
}

/* The inks that the profile's perceptual table prints for black; all of each where there is no such table. */
static void black_inks(const smp_icc *icc, double inks[SMP_ICC_MOST])
{
    smp_icc_lut lut = {.colours = COLOURS, .made = COLOURS + 1};
    const smp_icc_tag *tag = &icc->print;
    for (int c = 0; c < SMP_ICC_MOST; c++)
        inks[c] = 1;
    if (!icc->lab || tag->size < LUT_HEAD || (memcmp(tag->data, "mft1", 4) != 0 && memcmp(tag->data, "mft2", 4) != 0) ||
        !read_lut(tag->data, tag->size, &lut))
        return;
    const double zero = lut.old ? 32768. / FULL16 : 128. / FULL8; /* of a and b */
    double v[SMP_ICC_MOST] = {0, zero, zero};
    for (int c = 0; c < COLOURS; c++)
        v[c] = smp_icc_lut_enter(&lut, c, v[c]);
    grid_value(&lut, v);
    for (int c = 0; c < SMP_ICC_MOST; c++)
        inks[c] = curve_value(lut.out, lut.out_count, lut.bytes, c, v[c]);
}

double smp_icc_lut_black(const smp_icc *icc, smp_icc_intent intent, const smp_icc_lut *lut)
{
    static const double perceptual = .0034731, half_lightness = .18418652;
    double xyz[3], colour[SMP_ICC_MOST] = {0};
    if (icc->version >= 4 && intent == SMP_ICC_PERCEPTUAL) /* the reference medium's, by the standard */
        return perceptual;
    if (icc->inks)
        black_inks(icc, colour);
    smp_icc_lut_xyz(lut, colour, xyz);
    return xyz[1] > 0 ? fmin(xyz[1], half_lightness) : 0; /* L 50 at most */
}
