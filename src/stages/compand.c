/* compand: loud and soft by a curve through points. */
#include "audio/compand.h"

#include <math.h>

#include "stages/shared/launch_shapes.h"
#include "stages/shared/sound/biquads.h"

typedef struct params {
    smp_matrix points;
    double attack, release, knee, gain, start, lookahead;
} params;

static const smp_param table[] = {
    SMP_PARAM_MATRIX(points, DB, -200, 0, NULL,
                     "[level becomes; level becomes; ...] in dB of full scale, 1 to 16 in ascending order; 0 stays 0",
                     SMP_P_MAIN | SMP_P_REQUIRED),
    SMP_PARAM_FLOAT(attack, S, 0, 100, "5ms", "time in which the level rises to 63 % of a louder sound", 0),
    SMP_PARAM_FLOAT(release, S, 0, 100, "100ms", "time in which it falls to 37 %", 0),
    SMP_PARAM_FLOAT(knee, DB, 0, 60, "0dB", "how far from a point the curve leaves its lines, to pass it rounded", 0),
    SMP_PARAM_FLOAT(gain, DB, -100, 100, "0dB", "gain of the result", 0),
    SMP_PARAM_FLOAT(start, DB, -200, 0, "0dB", "the level that the sound begins with", 0),
    SMP_PARAM_FLOAT(lookahead, S, 0, 10, "0s", "how much later than the gain the sound is", 0),
    {0},
};

#define DB_OF_DOUBLING 6.02059991327962390 /* 20 log10 2 */

static smp_code check(const void *given, smp_error *err)
{
    const smp_matrix *m = &((const params *)given)->points;
    if (m->cols != 2 || m->rows > SMP_COMPAND_POINTS)
        return smp_fail(err, SMP_E_PIPE, "points are 1 to %d pairs, a level and what it becomes", SMP_COMPAND_POINTS),
               smp_hint(err, "write compand [-60 -60; -20 -10]");
    for (int k = 1; k < m->rows; k++)
        if (!(m->values[2 * k] - m->values[2 * k - 2] >= 1e-3))
            return smp_fail(err, SMP_E_PIPE, "point %d is not above the one before, by 0.001 dB at least", k + 1);
    return SMP_OK;
}

typedef struct point {
    double x, y; /* log2 of the level and of its gain */
} point;

/* The corners, with one before them, so that softer sounds have the first one's gain; and 0 dB. Without those on the
 * line between their neighbours. */
static int corners(const params *p, point *to)
{
    const smp_matrix *m = &p->points;
    int count = 1;
    for (int k = 0; k <= m->rows; k++) {
        const bool end = k == m->rows;
        if (end && m->values[2 * k - 2] == 0)
            break;
        const double x = end ? 0 : m->values[2 * k], y = end ? 0 : m->values[2 * k + 1] - x;
        to[count] = (point){x, y};
        if (k == 0)
            to[0] = (point){x - 2 * fmax(p->knee, 0.01), y};
        const point *b = &to[count];
        if (count > 1 && (b[-1].y - b[-2].y) * (b->x - b[-1].x) == (b->y - b[-1].y) * (b[-1].x - b[-2].x))
            to[count - 1] = *b;
        else
            count++;
    }
    return count;
}

/* The point on the way from `from` to `to` that is `distance` from there. */
static point towards(point from, point to, double distance)
{
    const double length = hypot(to.x - from.x, to.y - from.y), part = length > 0 ? distance / length : 0;
    return (point){from.x + (to.x - from.x) * part, from.y + (to.y - from.y) * part};
}

static void make_curve(const params *p, smp_compand *to)
{
    point at[SMP_COMPAND_POINTS + 2];
    const double radius = fmax(p->knee, 0.01) / DB_OF_DOUBLING;
    const int count = corners(p, at);
    for (int k = 0; k < count; k++)
        at[k] = (point){at[k].x / DB_OF_DOUBLING, (at[k].y + p->gain) / DB_OF_DOUBLING};
    to->base = at[count - 1].y;
    to->count = 0;
    point before = at[0];
    for (int k = 1; k + 1 < count; k++) {
        const point corner = at[k], next = at[k + 1],
                    begin = towards(corner, before, fmin(radius, hypot(corner.x - before.x, corner.y - before.y))),
                    end = towards(corner, next, fmin(radius, hypot(next.x - corner.x, next.y - corner.y) / 2));
        /* A parabola through the beginning, the end and the middle of both and the corner. */
        const double x = end.x - begin.x, y = end.y - begin.y, mx = (x + corner.x - begin.x) / 3,
                     my = (y + corner.y - begin.y) / 3, a = (y / x - my / mx) / (x - mx);
        to->pieces[to->count++] = (smp_compand_piece){begin.x, begin.y, a, my / mx - a * mx};
        to->pieces[to->count++] = (smp_compand_piece){end.x, end.y, 0, (next.y - corner.y) / (next.x - corner.x)};
        before = end;
    }
    if (to->count)
        to->base = to->pieces[0].y;
}

/* The part of the way to a frame's magnitude that the level goes. */
static double part_of(double time, double rate)
{
    return time * rate > 1 ? 1 - exp(-1 / (time * rate)) : 1;
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    enum { MOST = 1 << 22 /* frames */, SHARE = 4 /* less memory, and the level of a frame followed five times */ };
    const params *p = given;
    if (!(in->rate > 0))
        return smp_fail(err, SMP_E_PIPE, "the sound has no rate, which a time needs");
    const double slowest = fmax(p->attack, p->release), frames = 32 * log(2) * slowest * in->rate;
    if (frames > MOST || p->lookahead * in->rate > MOST)
        return smp_fail(err, SMP_E_PIPE, "%.6g s are too long at %.6g Hz", fmax(slowest, p->lookahead), in->rate),
               smp_hint(err, "attack and release are %.3g s at most, lookahead %.3g s", MOST / (32 * log(2)) / in->rate,
                        fmin(10, MOST / in->rate));
    smp_compand *k = SMP_PLAN_KERNEL(work, smp_compand);
    *k = (smp_compand){.attack = part_of(p->attack, in->rate),
                       .release = part_of(p->release, in->rate),
                       .start = pow(10, p->start / 20),
                       .ahead = (int64_t)floor(p->lookahead * in->rate),
                       .segments = {.length = SMP_BIQUAD_SEGMENT, .warm = (int64_t)ceil(frames)}};
    while (k->segments.length < k->segments.warm / SHARE)
        k->segments.length *= 2;
    make_curve(p, k);
    work->rows.up = smp_segments_reach(&k->segments, in->height);
    work->rows.down = smp_min_i64(k->ahead, in->height);
    work->rows.unit = k->segments.length;
    work->values.clips = true;
    work->ops = 30;
    return SMP_OK;
}

static int64_t segments(const smp_io *io, const void *kernel)
{
    const int64_t length = ((const smp_compand *)kernel)->segments.length;
    return (io->out.y0 + io->out.rows + length - 1) / length - io->out.y0 / length;
}

static void level_geometry(const smp_io *io, const void *kernel, smp_grid *grid)
{
    enum { WARP = 32 };
    const smp_io result = {.out = io->second};
    smp_grid_line(segments(&result, kernel), WARP, WARP, grid);
}

static void gain_geometry(const smp_io *io, const void *, smp_grid *grid)
{
    smp_grid_line(io->out.rows, SMP_BLOCK_THREADS, SMP_BLOCK_THREADS, grid);
}

static const smp_variant variants[] = {
    {SMP_RUNG("naive", "the level frame by frame, gains in vectors; on GPUs a thread a segment, then one a frame",
              {.from = SMP_IN, .to = SMP_OUT, .cpu = SMP_CPU(compand_naive), .items = segments},
              {.from = SMP_IN, .to = SMP_SCRATCH, .cuda = "compand_level", .geometry = level_geometry},
              {.from = SMP_SCRATCH, .to = SMP_OUT, .cuda = "compand_gain", .geometry = gain_geometry})},
    {0},
};

/* As sox's values are written. */
#define SAY "write [level becomes; ...] attack=$A release=$R"

const smp_stage smp_stage_compand = {
    .name = "compand",
    .help = "change how loud and soft differ, by a curve through points",
    .about =
        "A level follows the loudest channel, and the curve says what becomes of it: `[-60 -60; -20 -20; 0 -10]` turns "
        "down what passes -20 dB. What is softer than the first point gets its gain; between points, and to 0 dB, are "
        "lines. With `knee` a parabola rounds each point. As sox's compand: attack and release are its time constants, "
        "`start` its initial volume, `lookahead` its delay, -187 its -inf. `compand 0.3,1 6:-70,-60,-20 -5 -90 0.2` is "
        "`compand [-70 -70; -60 -20] knee=6dB gain=-5dB start=-90dB lookahead=0.2s attack=0.3s release=1s`; sox's "
        "times of each channel are not here. The level is followed in double, in segments that begin where what came "
        "before has faded to 2^-32, so that all devices give the same bytes.",
    .example = "compand [-40 -40; -10 -20] attack=1ms release=1ms knee=3dB lookahead=1ms",
    SMP_PLANNED(SMP_AUDIO, SMP_STENCIL, table, params, variants),
    .check = check,
    .hints = SMP_HINTS(.forms = SMP_FORMS(
                           {.values = "$A,$R *P", .say = SAY}, {.values = "$A,$R *P *G", .say = SAY " gain=*G"},
                           {.values = "$A,$R *P *G *I", .say = SAY " gain=*G start=*I"},
                           {.values = "$A,$R *P *G *I *L", .say = SAY " gain=*G start=*I lookahead=*L"})),
};
