/* curves: a tone curve through points. */
#include <math.h>

#include "elementwise/curves.h"
#include "stages/shared/samples/elementwise.h"

enum { SMOOTH, LINEAR };

typedef struct params {
    smp_matrix points;
    int shape;
} params;

static const smp_param table[] = {
    SMP_PARAM_MATRIX(points, NONE, 0, 1, NULL,
                     "[from to; from to; ...], 2 to 16 in ascending order, 0 is black and 1 full scale; or [from red "
                     "green blue; ...]",
                     SMP_P_MAIN | SMP_P_REQUIRED),
    SMP_PARAM_ENUM(shape, "smooth", "between points: smooth, which never goes beyond them; or linear", 0, "smooth",
                   "linear"),
    {0},
};

static smp_code check(const void *given, smp_error *err)
{
    const smp_matrix *m = &((const params *)given)->points;
    if (m->rows < 2 || m->rows > SMP_CURVES_POINTS)
        return smp_fail(err, SMP_E_PIPE, "points has %d rows, not 2 to %d: [from to; from to]", m->rows,
                        SMP_CURVES_POINTS);
    if (m->cols != 2 && m->cols != 1 + SMP_CURVES_COLOURS)
        return smp_fail(err, SMP_E_PIPE, "each point has %d numbers, not 2 (from, to) or 4 (from, red, green, blue)",
                        m->cols);
    for (int k = 1; k < m->rows; k++)
        if (!(m->values[k * m->cols] - m->values[(k - 1) * m->cols] >= 1e-4))
            return smp_fail(err, SMP_E_PIPE, "point %d is not to the right of the one before, by 0.0001 at least",
                            k + 1);
    return SMP_OK;
}

/* The slope at the end whose interval has the width h and the slope m, beside one of h1 and m1: of a parabola, held so
 * that the curve stays monotone. */
static double slope_at_end(double h, double h1, double m, double m1)
{
    const double d = ((2 * h + h1) * m - h * m1) / (h + h1);
    if (d * m <= 0)
        return 0;
    return m * m1 <= 0 && fabs(d) > fabs(3 * m) ? 3 * m : d;
}

/* Slopes at the points: Fritsch and Butland (1984), as SciPy's PchipInterpolator has them. */
static void slopes(int n, const double *x, const double *y, double d[SMP_CURVES_POINTS])
{
    double h[SMP_CURVES_POINTS] = {0}, m[SMP_CURVES_POINTS] = {0};
    for (int k = 0; k + 1 < n; k++) {
        h[k] = x[k + 1] - x[k];
        m[k] = (y[k + 1] - y[k]) / h[k];
    }
    d[0] = n > 2 ? slope_at_end(h[0], h[1], m[0], m[1]) : m[0];
    d[n - 1] = n > 2 ? slope_at_end(h[n - 2], h[n - 3], m[n - 2], m[n - 3]) : m[0];
    for (int k = 1; k + 1 < n; k++) {
        const double a = 2 * h[k] + h[k - 1], b = h[k] + 2 * h[k - 1];
        d[k] = m[k - 1] * m[k] > 0 ? (a + b) / (a / m[k - 1] + b / m[k]) : 0;
    }
}

static void set_curve(const params *p, int column, float c[SMP_CURVES_POINTS][4])
{
    const int n = p->points.rows;
    double x[SMP_CURVES_POINTS], y[SMP_CURVES_POINTS], d[SMP_CURVES_POINTS];
    for (int k = 0; k < n; k++) {
        x[k] = p->points.values[k * p->points.cols];
        y[k] = p->points.values[k * p->points.cols + column];
    }
    slopes(n, x, y, d);
    for (int k = 0; k < n; k++) {
        const double h = k + 1 < n ? x[k + 1] - x[k] : 1, m = k + 1 < n ? (y[k + 1] - y[k]) / h : 0;
        const bool curved = p->shape == SMOOTH && k + 1 < n;
        c[k][0] = (float)y[k];
        c[k][1] = (float)(curved ? d[k] : m);
        c[k][2] = (float)(curved ? (3 * m - 2 * d[k] - d[k + 1]) / h : 0);
        c[k][3] = (float)(curved ? (d[k] + d[k + 1] - 2 * m) / (h * h) : 0);
    }
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    const smp_matrix *m = &p->points;
    smp_curves *k = SMP_PLAN_KERNEL(work, smp_curves);
    if (m->cols > 2 && in->channels - in->alpha != SMP_CURVES_COLOURS)
        return smp_fail(err, SMP_E_PIPE, "points has a curve for each of 3 colours, and the picture %d",
                        in->channels - in->alpha),
               smp_hint(err, "write [from to; ...], or `color rgb` before it");
    *k = (smp_curves){
        .differ = m->cols > 2, .white = smp_white(in->format), .last = (float)m->values[(m->rows - 1) * m->cols]};
    for (int i = 0; i < SMP_CURVES_POINTS; i++)
        k->x[i] = i < m->rows ? (float)m->values[i * m->cols] : INFINITY;
    for (int column = 1; column < m->cols; column++)
        set_curve(p, column, k->c[column - 1]);
    work->ops = 80;
    return SMP_OK;
}

SMP_ELEMENTWISE_VARIANTS(curves, tables);
const smp_stage smp_stage_curves = {
    .name = "curves",
    .help = "a tone curve through points, for all colours or each",
    .about =
        "A cubic between two points, with the slopes of Fritsch and Butland (SciPy's PchipInterpolator): it passes "
        "all points, and rises and falls where they do. Before the first point its value holds, and behind the "
        "last. With two points it is a line. Alpha stays.\n"
        "GIMP's and ffmpeg's curves are splines that swing beyond their points; between these they differ a little.",
    .example = "curves [0 0; 0.25 0.18; 0.75 0.82; 1 1]",
    SMP_PLANNED(SMP_IMAGE, SMP_POINT, table, params, smp_curves_variants),
    .traits = SMP_TRAIT_KEEPS_ALPHA,
    .check = check,
    SMP_ALSO({"curve tonecurve tone_curve lut clut s_curve sigmoidal sigmoidal_contrast",
              "curves [0 0; 0.25 0.18; 0.75 0.82; 1 1]"},
             {"solarize solarise", "curves [0 0; 0.5 0.5; 1 0] shape=linear"}),
};
