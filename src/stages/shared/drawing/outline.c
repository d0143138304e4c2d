/* Outlines and their coverage: see outline.h. */
#include "stages/shared/drawing/outline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"

enum { UNIT = SMP_OUTLINE_UNIT };

/* ------------------------------------------------------------------------------------------------ lines and curves */

void smp_outline_line(smp_outline *o, smp_vertex to)
{
    if (o->failed || !o->contours)
        return;
    if (o->count >= SMP_OUTLINE_MOST || !smp_grow(&o->points, &o->capacity, o->count + 1, sizeof *o->points)) {
        o->failed = true;
        return;
    }
    o->points[o->count++] = to;
    o->ends[o->contours - 1] = o->count;
}

void smp_outline_move(smp_outline *o, smp_vertex to)
{
    if (o->failed || !smp_grow(&o->ends, &o->contour_capacity, o->contours + 1, sizeof *o->ends)) {
        o->failed = true;
        return;
    }
    o->contours++;
    smp_outline_line(o, to);
}

static smp_vertex middle(smp_vertex a, smp_vertex b)
{
    return (smp_vertex){(a.x + b.x) >> 1, (a.y + b.y) >> 1};
}

/* How far b is from where it would be on a line. */
static int64_t bend(smp_vertex a, smp_vertex b, smp_vertex c)
{
    return smp_max_i64(llabs(a.x - 2 * b.x + c.x), llabs(a.y - 2 * b.y + c.y));
}

/* Halves a curve until no piece is further from a line than a 40th of a pixel. */
static void add_curve(smp_outline *o, smp_vertex from, smp_vertex a, smp_vertex b, smp_vertex to, int depth)
{
    enum { NEAR = UNIT / 32, MOST = 10 };
    if (depth == MOST || smp_max_i64(bend(from, a, b), bend(a, b, to)) <= NEAR) {
        smp_outline_line(o, to);
        return;
    }
    const smp_vertex first = middle(from, a), second = middle(a, b), third = middle(b, to);
    const smp_vertex left = middle(first, second), right = middle(second, third), half = middle(left, right);
    add_curve(o, from, first, left, half, depth + 1);
    add_curve(o, half, right, third, to, depth + 1);
}

void smp_outline_cubic(smp_outline *o, smp_vertex a, smp_vertex b, smp_vertex to)
{
    if (o->count)
        add_curve(o, o->points[o->count - 1], a, b, to, 0);
}

void smp_outline_conic(smp_outline *o, smp_vertex control, smp_vertex to)
{
    const smp_vertex from = o->count ? o->points[o->count - 1] : to;
    smp_outline_cubic(o, (smp_vertex){(from.x + 2 * control.x) / 3, (from.y + 2 * control.y) / 3},
                      (smp_vertex){(to.x + 2 * control.x) / 3, (to.y + 2 * control.y) / 3}, to);
}

/* ------------------------------------------------------------------------------------------------ arcs */

typedef struct vector {
    double x, y;
} vector;

static smp_vertex moved(smp_vertex p, vector by)
{
    return (smp_vertex){p.x + (int64_t)floor(by.x + 0.5), p.y + (int64_t)floor(by.y + 0.5)};
}

smp_vertex smp_vertex_of(double x, double y)
{
    return moved((smp_vertex){0, 0}, (vector){x * UNIT, y * UNIT});
}

static double length_of(vector v)
{
    return sqrt(v.x * v.x + v.y * v.y);
}

/* From a to b, unit vectors less than half a turn apart, round p: the points between, and b. Halving an angle takes no
 * sine, which libraries round in their own ways. */
static void add_arc(smp_outline *o, smp_vertex p, vector radius, vector a, vector b, int depth)
{
    enum { MOST = 10 };
    const vector middle = {a.x + b.x, a.y + b.y};
    const double length = length_of(middle), off = (1 - length / 2) * fmax(radius.x, radius.y);
    if (off > (double)UNIT / 128 && depth < MOST && length > 0) {
        const vector half = {middle.x / length, middle.y / length};
        add_arc(o, p, radius, a, half, depth + 1);
        add_arc(o, p, radius, half, b, depth + 1);
    } else
        smp_outline_line(o, moved(p, (vector){b.x * radius.x, b.y * radius.y}));
}

void smp_outline_rectangle(smp_outline *o, smp_vertex from, smp_vertex to, smp_vertex radius, bool backwards)
{
    static const vector ends[] = {{-1, 0}, {0, -1}, {1, 0}, {0, 1}};
    const vector r = {(double)radius.x, (double)radius.y};
    const smp_vertex low = {from.x + radius.x, from.y + radius.y}, high = {to.x - radius.x, to.y - radius.y};
    const smp_vertex centres[] = {low, {high.x, low.y}, high, {low.x, high.y}};
    for (int i = 0; i < 4; i++) {
        const int corner = backwards ? 3 - i : i, next = (corner + 1) % 4;
        const vector a = ends[backwards ? next : corner], b = ends[backwards ? corner : next];
        const smp_vertex begin = moved(centres[corner], (vector){a.x * r.x, a.y * r.y});
        if (i)
            smp_outline_line(o, begin);
        else
            smp_outline_move(o, begin);
        if (radius.x > 0 && radius.y > 0)
            add_arc(o, centres[corner], r, a, b, 0);
    }
}

/* ------------------------------------------------------------------------------------------------ strokes */

typedef struct stroke {
    smp_outline *to;
    double half;
    bool begun;
} stroke;

static void put(stroke *pen, smp_vertex p, vector normal)
{
    const smp_vertex at_side = moved(p, (vector){normal.x * pen->half, normal.y * pen->half});
    if (pen->begun)
        smp_outline_line(pen->to, at_side);
    else
        smp_outline_move(pen->to, at_side);
    pen->begun = true;
}

/* The normal of the way from a to b. */
static vector normal_of(smp_vertex a, smp_vertex b, double *length)
{
    const vector way = {(double)(b.x - a.x), (double)(b.y - a.y)};
    *length = length_of(way);
    return *length > 0 ? (vector){way.y / *length, -way.x / *length} : (vector){0, 0};
}

/* Round the point p, from the side of one line to that of the next: along an arc on the outer side. On the inner one
 * the sides meet, or where a line is shorter than `room` would have to be, the way leads through p. */
static void put_join(stroke *pen, smp_vertex p, vector a, vector b, double room)
{
    const vector r = {pen->half, pen->half}, ahead = {-a.y, a.x};
    const double cross = a.x * b.y - a.y * b.x, dot = a.x * b.x + a.y * b.y;
    const bool outer = cross > 0 || dot < -0.999, meets = !outer && -cross / (1 + dot) * pen->half <= room;
    put(pen, p, meets ? (vector){(a.x + b.x) / (1 + dot), (a.y + b.y) / (1 + dot)} : a);
    if (outer && dot < 0)
        add_arc(pen->to, p, r, a, ahead, 0);
    if (outer)
        add_arc(pen->to, p, r, dot < 0 ? ahead : a, b, 0);
    else if (!meets) {
        put(pen, p, (vector){0, 0});
        put(pen, p, b);
    }
}

/* One side of a line through n points that differ from their neighbours, and its end; round: that is its beginning. */
static void put_side(stroke *pen, const smp_vertex *p, size_t n, bool round)
{
    for (size_t i = 0; i < (round ? n : n - 1); i++) {
        double length, next;
        const smp_vertex to = p[(i + 1) % n];
        const vector side = normal_of(p[i], to, &length), other = normal_of(to, p[(i + 2) % n], &next);
        const bool end = !round && i + 2 == n;
        put_join(pen, to, side, end ? (vector){-side.x, -side.y} : other, fmin(length, next));
    }
    pen->begun = pen->begun && !round;
}

static void reverse(smp_vertex *p, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        const smp_vertex first = p[i];
        p[i] = p[n - 1 - i];
        p[n - 1 - i] = first;
    }
}

/* Twice the area inside, positive where contours go round as strokes do. */
static double turning_of(const smp_outline *o)
{
    double area = 0;
    for (size_t i = 0, begin = 0; i < o->contours; begin = o->ends[i++])
        for (size_t k = begin; k < o->ends[i]; k++) {
            const smp_vertex a = o->points[k], b = o->points[k + 1 < o->ends[i] ? k + 1 : begin];
            area += (double)a.x * (double)b.y - (double)a.y * (double)b.x;
        }
    return area;
}

static void stroke_contour(stroke *pen, smp_vertex *p, size_t n, bool open)
{
    const int64_t half = (int64_t)pen->half;
    pen->begun = false;
    if (n == 1) /* a dot */
        smp_outline_rectangle(pen->to, (smp_vertex){p->x - half, p->y - half}, (smp_vertex){p->x + half, p->y + half},
                              (smp_vertex){half, half}, false);
    for (int side = 0; side < 2 && n > 1; side++) {
        put_side(pen, p, n, !open);
        reverse(p, n);
    }
}

void smp_outline_stroke(smp_outline *o, const smp_outline *of, bool open, int64_t half)
{
    const size_t before = o->contours, first = o->count;
    stroke pen = {.to = o, .half = (double)half};
    smp_vertex *points = smp_alloc_array(of->count + 1, sizeof *points);
    o->failed = o->failed || of->failed || !points;
    for (size_t i = 0, begin = 0; !o->failed && i < of->contours; begin = of->ends[i++]) {
        size_t n = 0;
        for (size_t k = begin; k < of->ends[i]; k++)
            if (!n || of->points[k].x != points[n - 1].x || of->points[k].y != points[n - 1].y)
                points[n++] = of->points[k];
        if (!open && n > 1 && points[n - 1].x == points[0].x && points[n - 1].y == points[0].y)
            n--;
        stroke_contour(&pen, points, n, open);
    }
    const bool backwards = turning_of(of) < 0;
    for (size_t i = before, begin = first; backwards && i < o->contours; begin = o->ends[i++])
        reverse(o->points + begin, o->ends[i] - begin);
    smp_free(points);
}

void smp_outline_free(smp_outline *o)
{
    smp_free_all(o->points, o->ends);
    *o = (smp_outline){.count = 0};
}

/* ------------------------------------------------------------------------------------------------ coverage */

/* A line's part in one row, whose sums become areas when they are added up from the left: in a pixel, what lies right
 * of the line. Units: UNIT * UNIT * 2 is a pixel. */
static void add_in_row(int64_t *sums, int64_t width, smp_vertex a, smp_vertex b)
{
    const bool leftwards = a.x > b.x;
    const smp_vertex from = leftwards ? b : a, to = leftwards ? a : b;
    smp_vertex here = from;
    while (here.x < width * UNIT) {
        const int64_t column = here.x < 0 ? -1 : here.x / UNIT;
        smp_vertex end = {(column + 1) * UNIT, 0};
        if (end.x >= to.x)
            end = to;
        else
            end.y = from.y + (end.x - from.x) * (to.y - from.y) / (to.x - from.x);
        const int64_t down = leftwards ? here.y - end.y : end.y - here.y;
        const int64_t left = column < 0 ? 0 : here.x + end.x - 2 * column * UNIT; /* twice the mean distance */
        const int64_t pixel = column < 0 ? 0 : column;
        sums[pixel] += down * (2 * UNIT - left);
        sums[pixel + 1] += down * left;
        if (end.x >= to.x)
            return;
        here = end;
    }
}

/* A line's part in rows 0 .. rows-1; sums of a row are width + 1. */
static void add_line(int64_t *sums, int64_t width, int64_t rows, smp_vertex a, smp_vertex b)
{
    const smp_vertex top = a.y < b.y ? a : b, bottom = a.y < b.y ? b : a;
    const int64_t begin = smp_max_i64(top.y, 0), end = smp_min_i64(bottom.y, rows * UNIT);
    smp_vertex here = {top.x, begin};
    if (begin >= end)
        return;
    if (begin > top.y)
        here.x = top.x + (begin - top.y) * (bottom.x - top.x) / (bottom.y - top.y);
    while (here.y < end) {
        const int64_t row = here.y / UNIT;
        smp_vertex next = {bottom.x, smp_min_i64((row + 1) * UNIT, end)};
        if (next.y < bottom.y)
            next.x = top.x + (next.y - top.y) * (bottom.x - top.x) / (bottom.y - top.y);
        if (a.y < b.y)
            add_in_row(sums + row * (width + 1), width, here, next);
        else
            add_in_row(sums + row * (width + 1), width, next, here);
        here = next;
    }
}

/* Rows 0 .. rows-1 of what begins at `off`. */
static void cover_band(const smp_outline *o, smp_vertex off, int64_t width, int64_t rows, int64_t *sums, uint8_t *to)
{
    enum { PIXEL = 2 * UNIT * UNIT };
    memset(sums, 0, (size_t)(width + 1) * (size_t)rows * sizeof *sums);
    for (size_t i = 0, begin = 0; i < o->contours; begin = o->ends[i++])
        for (size_t k = begin; k < o->ends[i]; k++) {
            const smp_vertex *a = &o->points[k], *b = &o->points[k + 1 < o->ends[i] ? k + 1 : begin];
            add_line(sums, width, rows, (smp_vertex){a->x + off.x, a->y + off.y},
                     (smp_vertex){b->x + off.x, b->y + off.y});
        }
    for (int64_t row = 0; row < rows; row++) {
        int64_t area = 0;
        for (int64_t i = 0; i < width; i++) {
            area += sums[row * (width + 1) + i];
            to[row * width + i] = (uint8_t)((smp_min_i64(llabs(area), PIXEL) * UINT8_MAX + PIXEL / 2) / PIXEL);
        }
    }
}

bool smp_outline_cover(const smp_outline *o, smp_vertex by, int64_t x, int64_t y, int64_t width, int64_t rows,
                       uint8_t *to)
{
    enum { BAND = 1 << 18 /* pixels */ };
    const int64_t most = smp_clamp_i64(BAND / (width + 1), 1, rows);
    int64_t *sums = smp_alloc_array((size_t)(width + 1) * (size_t)most, sizeof *sums);
    for (int64_t first = 0; sums && first < rows; first += most)
        cover_band(o, (smp_vertex){by.x - x * UNIT, by.y - (y + first) * UNIT}, width, smp_min_i64(most, rows - first),
                   sums, to + first * width);
    const bool made = sums != NULL;
    smp_free(sums);
    return made;
}
