/* draw: a rectangle, an ellipse, a line or a polygon on a picture. */
#include "base/checked.h"
#include "stages/shared/drawing/layers.h"
#include "stages/shared/geometry/anchor.h"

typedef struct params {
    int shape, anchor;
    int64_t x, y, width, height, radius, stroke, blur; /* stroke INT64_MIN: auto */
    smp_matrix points, fill, stroke_fill;
    bool filled, outside;
    double opacity;
} params;

enum { RECTANGLE, ELLIPSE, LINE, POLYGON, PX = SMP_OUTLINE_UNIT };

static const smp_param table[] = {
    SMP_PARAM_ENUM(shape, NULL, "what is drawn", SMP_P_MAIN | SMP_P_REQUIRED, "rectangle", "ellipse", "line",
                   "polygon"),
    SMP_PARAM_INT(width, PX, 1, 1e6, "auto", "of a rectangle or an ellipse; auto: all, or as points say",
                  SMP_P_OF_WIDTH | SMP_P_AUTO),
    SMP_PARAM_INT(height, PX, 1, 1e6, "auto", "of it", SMP_P_OF_HEIGHT | SMP_P_AUTO),
    SMP_PARAM_INT(x, PX, -1e6, 1e6, "0", "to the right of where anchor puts it; of lines and polygons, of their points",
                  SMP_P_OF_WIDTH),
    SMP_PARAM_INT(y, PX, -1e6, 1e6, "0", "down from there", SMP_P_OF_HEIGHT),
    {"anchor", offsetof(params, anchor), SMP_T_ENUM, SMP_UNIT_NONE, 0, 0, "top-left",
     "in which corner of the picture, at which side, or in the middle it lies", smp_anchors + 1, 0},
    SMP_PARAM_MATRIX(
        points, PX, -1e6, 1e6, NULL,
        "[x y; x y; ...], px from the upper left corner: of a line or a polygon, or what a rectangle or an ellipse "
        "just holds",
        0),
    SMP_PARAM_INT(radius, PX, 0, 1e6, "0", "of a rectangle's corners, at most half its sides", SMP_P_OF_HEIGHT),
    SMP_INK("fill", fill, "[1]",
            "the colour inside, or of a line; one value for all colours, or three; a fourth is its opacity, as in "
            "#ff000080"),
    SMP_PARAM_BOOL(filled, "yes", "no: the inside stays as it is", 0),
    SMP_PARAM_INT(stroke, PX, 0, 10000, "auto", "how wide its edge is, half on either side; auto: 0, of a line 1",
                  SMP_P_AUTO | SMP_P_OF_HEIGHT),
    SMP_INK("stroke-fill", stroke_fill, "[0]", "the colour of the edge"),
    SMP_PARAM_INT(blur, PX, 0, 4000, "0", "how far the edge of what is filled spreads", SMP_P_OF_HEIGHT),
    SMP_PARAM_BOOL(outside, "no", "yes: what the shape leaves out is filled", 0),
    SMP_PARAM_FLOAT(opacity, FRACTION, 0, 1, "100%", "0% leaves the picture as it is", 0),
    {0},
};

static smp_code check(const void *given, smp_error *err)
{
    const params *p = given;
    const smp_matrix *points = &p->points;
    if (p->shape >= LINE && !points->values)
        return smp_fail(err, SMP_E_PIPE, "a %s needs its points", p->shape == LINE ? "line" : "polygon"),
               smp_hint(err, "write points=[10 10; 200 50]: x and y of each, in pixels");
    if (points->values && (points->cols != 2 || points->rows < 2))
        return smp_fail(err, SMP_E_PIPE, "points are two or more, and each has two values, x and y"),
               smp_hint(err, "semicolons part them: points=[10 10; 200 50]");
    if (points->values && (p->width != INT64_MIN || p->height != INT64_MIN))
        return smp_fail(err, SMP_E_PIPE, "the size is given twice: by points, and by width or height");
    return p->outside && p->shape == LINE ? smp_fail(err, SMP_E_PIPE, "a line has no outside") : SMP_OK;
}

/* A rectangle, or the ellipse in it. */
static void add_box(const params *p, smp_vertex from, smp_vertex to, smp_outline *out)
{
    const smp_vertex half = {(to.x - from.x) / 2, (to.y - from.y) / 2};
    const int64_t radius = smp_min_i64(p->radius * PX, smp_min_i64(half.x, half.y));
    smp_outline_rectangle(out, from, to, p->shape == ELLIPSE ? half : (smp_vertex){radius, radius}, false);
}

static void add_shape(const params *p, const smp_shape *in, smp_outline *to)
{
    const int64_t width = p->width == INT64_MIN ? in->width : p->width;
    const int64_t height = p->height == INT64_MIN ? in->height : p->height;
    const int64_t x = smp_anchored_x(p->anchor + 1, false, in->width, width) + p->x;
    const int64_t y = smp_anchored_y(p->anchor + 1, false, in->height, height) + p->y;
    smp_vertex least = {INT64_MAX, INT64_MAX}, most = {INT64_MIN, INT64_MIN};
    for (int i = 0; p->points.values && i < p->points.rows; i++) {
        const double *v = p->points.values + 2 * i;
        const smp_vertex at = smp_vertex_of(v[0] + (double)p->x, v[1] + (double)p->y);
        least = (smp_vertex){smp_min_i64(least.x, at.x), smp_min_i64(least.y, at.y)};
        most = (smp_vertex){smp_max_i64(most.x, at.x), smp_max_i64(most.y, at.y)};
        if (p->shape >= LINE && i)
            smp_outline_line(to, at);
        else if (p->shape >= LINE)
            smp_outline_move(to, at);
    }
    if (p->shape < LINE && p->points.values)
        add_box(p, least, most, to);
    else if (p->shape < LINE)
        add_box(p, (smp_vertex){x * PX, y * PX}, (smp_vertex){(x + width) * PX, (y + height) * PX}, to);
}

/* A rectangle's edge has corners as sharp as the rectangle's: what lies between two of them. */
static void add_edge(const params *p, const smp_outline *shape, int64_t stroke, smp_outline *to)
{
    const smp_vertex *a = shape->points, *b = shape->points + 2;
    const int64_t half = stroke * PX / 2;
    if (p->shape != RECTANGLE || p->radius || shape->failed) {
        smp_outline_stroke(to, shape, p->shape == LINE, half);
        return;
    }
    smp_outline_rectangle(to, (smp_vertex){a->x - half, a->y - half}, (smp_vertex){b->x + half, b->y + half},
                          (smp_vertex){0, 0}, false);
    if (a->x + half < b->x - half && a->y + half < b->y - half)
        smp_outline_rectangle(to, (smp_vertex){a->x + half, a->y + half}, (smp_vertex){b->x - half, b->y - half},
                              (smp_vertex){0, 0}, true);
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    const int64_t stroke = p->stroke == INT64_MIN ? p->shape == LINE : p->stroke;
    smp_outline shape = {.count = 0}, edge = {.count = 0};
    smp_layer layers[2];
    int count = 0;
    SMP_TRY(smp_check_ink(&p->fill, "fill", in, err));
    SMP_TRY(smp_check_ink(&p->stroke_fill, "stroke-fill", in, err));
    add_shape(p, in, &shape);
    if (stroke) {
        add_edge(p, &shape, stroke, &edge);
        layers[count++] = (smp_layer){.outline = &edge, .fill = p->shape == LINE ? &p->fill : &p->stroke_fill};
    }
    if (p->filled && p->shape != LINE)
        layers[count++] =
            (smp_layer){.outline = &shape, .blur = (p->blur + 1) / 2, .outside = p->outside, .fill = &p->fill};
    const smp_box all = {.width = in->width, .height = in->height},
                  box = p->outside && p->filled ? all : smp_layers_box(layers, count);
    const smp_code code = smp_layers_plan(layers, count, box, p->opacity, in, work, err);
    smp_tell_idle(p->radius && p->shape != RECTANGLE, "radius", "but on a rectangle", work);
    smp_tell_idle(p->blur && p->shape == LINE, "blur", "on a line", work);
    smp_tell_idle(p->blur && !p->filled, "blur", "on an edge alone", work);
    smp_tell_idle(smp_is_ink(&p->stroke_fill) && p->shape == LINE, "stroke-fill", "on a line, which has its fill",
                  work);
    smp_tell_idle(smp_is_ink(&p->stroke_fill) && !stroke, "stroke-fill", "without stroke", work);
    smp_outline_free(&shape);
    smp_outline_free(&edge);
    return code;
}

const smp_stage smp_stage_draw = {
    .name = "draw",
    .help = "draws a rectangle, an ellipse, a line or a polygon",
    .about = "Of each pixel, the area inside the shape is covered, in 255ths, computed in whole numbers; a polygon "
             "that crosses itself covers what it goes round. The edge lies half inside and half outside, with round "
             "corners and ends, but for rectangles, whose corners are sharp. blur is three means of as many pixels; "
             "one of more than 256 is made a whole number of times smaller, and read between its pixels. "
             "Fill and edge are laid on as one picture by Porter and Duff's over, with opacity as its alpha. What "
             "hangs over is cut off. In `light linear`, colours are linear values.",
    .example = "draw polygon points=[4 4; 40 12; 12 30] fill=[0.2] stroke=2",
    .domain = SMP_IMAGE,
    .access = SMP_POINT,
    SMP_PARAMS(table, params),
    .check = check,
    .plan = plan,
    .variants = smp_drawn_variants,
    .hints =
        SMP_HINTS(.aliases = SMP_ALIASES({"draw_rect drawbox box", "draw rectangle points=[10 10; 110 60]"},
                                         {"rectangle roundrectangle", "draw rectangle points=[10 10; 110 60] radius=8"},
                                         {"circle ellipse draw_circle", "draw ellipse points=[10 10; 110 110]"},
                                         {"polyline draw_line", "draw line points=[10 10; 100 50] stroke=3"},
                                         {"polygon", "draw polygon points=[10 10; 100 10; 50 80]"})),
};
