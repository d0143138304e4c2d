/* crop: a rectangle of a picture, given or found. */
#include "geometry/crop.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "reduce/content.h"
#include "stages/shared/geometry/anchor.h"
#include "stages/shared/launch_shapes.h"
#include "stages/shared/reduce/perceptual_hash.h"
#include "stages/shared/seeded.h"

enum { BOX, AUTO, RANDOM, SMART };

typedef struct params {
    int kind;
    double tolerance; /* NaN: auto */
    int64_t margin;
    int64_t width, height, x, y, left, right, top, bottom; /* INT64_MIN: auto */
    double aspect;                                         /* NaN: auto */
    int anchor;
    bool clip;
    smp_matrix scale, ratio; /* least and most */
    int64_t seed;            /* INT64_MIN: none */
} params;

static const smp_param table[] = {
    SMP_PARAM_ENUM(kind, "box",
                   "box: a rectangle by size and place; auto: cut off what is like the corners; random: a rectangle at "
                   "random; smart: one of a size where most stands out",
                   SMP_P_MAIN, "box", "auto", "random", "smart"),
    SMP_PARAM_INT(width, PX, 1, 1e6, "auto", "of the rectangle; auto: the picture's", SMP_P_AUTO | SMP_P_OF_WIDTH),
    SMP_PARAM_INT(height, PX, 1, 1e6, "auto", "of the rectangle; auto: the picture's", SMP_P_AUTO | SMP_P_OF_HEIGHT),
    SMP_PARAM_FLOAT(aspect, NONE, 0.001, 1000, "auto",
                    "instead of width and height: the largest rectangle of this ratio, as in {16/9}", SMP_P_AUTO),
    SMP_PARAM_INT(x, PX, -1e6, 1e6, "auto", "to the right of where anchor puts it", SMP_P_AUTO | SMP_P_OF_WIDTH),
    SMP_PARAM_INT(y, PX, -1e6, 1e6, "auto", "down from where anchor puts it", SMP_P_AUTO | SMP_P_OF_HEIGHT),
    SMP_PARAM_ROW(anchor, ENUM, NONE, 0, 0, "auto", "where the rectangle lies; auto: top-left with x or y, else centre",
                  smp_anchors, 0),
    SMP_PARAM_INT(left, PX, 0, 1e6, "0", "instead of a size: what to cut off on the left", SMP_P_OF_WIDTH),
    SMP_PARAM_INT(right, PX, 0, 1e6, "0", "what to cut off on the right", SMP_P_OF_WIDTH),
    SMP_PARAM_INT(top, PX, 0, 1e6, "0", "what to cut off at the top", SMP_P_OF_HEIGHT),
    SMP_PARAM_INT(bottom, PX, 0, 1e6, "0", "what to cut off at the bottom", SMP_P_OF_HEIGHT),
    SMP_PARAM_BOOL(clip, "no", "yes: keep the part of the rectangle that lies in the picture; no: all of it must", 0),
    SMP_PARAM_FLOAT(tolerance, FRACTION, 0, 1, "auto",
                    "crop auto: how far a channel may be from the corners' median, of full scale; auto: 2%",
                    SMP_P_AUTO | SMP_P_LEVEL),
    SMP_PARAM_INT(margin, PX, 0, 1e6, "0", "crop auto: what is left round the content", 0),
    SMP_PARAM_MATRIX(scale, FRACTION, 0, 1, NULL,
                     "crop random without a size: the rectangle's share of the picture; 8..100% unless said",
                     SMP_P_POSITIVE),
    SMP_PARAM_MATRIX(ratio, NONE, 0.001, 1000, NULL, "and its width by its height; 3/4..4/3 unless said", 0),
    SMP_PARAM_INT(seed, NONE, 0, 9007199254740991, "auto",
                  "crop random: what it is drawn by; `crop random` alone has another for each file",
                  SMP_P_AUTO | SMP_P_ANY),
    {0},
};

static bool given(int64_t v)
{
    return v != INT64_MIN;
}
static bool has_margins(const params *p)
{
    return p->left || p->right || p->top || p->bottom;
}

/* Whether it goes by content: asked for, or implied by what only then has a meaning. */
static bool by_content(const params *p)
{
    return p->kind == AUTO || (p->kind != SMART && !isnan(p->tolerance));
}
static bool needs_prepass(const void *p)
{
    return by_content(p) || ((const params *)p)->kind == SMART;
}

/* Whether a range is not given, or is one. */
static bool is_range(const smp_matrix *m)
{
    return !m->values || (m->rows * m->cols == 2 && m->values[0] <= m->values[1]);
}

static smp_code check_random(const params *p, smp_error *err)
{
    const bool sized = given(p->width) || given(p->height) || !isnan(p->aspect),
               ranges = p->scale.values || p->ratio.values;
    if (p->kind != RANDOM && (ranges || given(p->seed)))
        return smp_fail(err, SMP_E_PIPE, "%s is of a rectangle at random", ranges ? "a range" : "a seed"),
               smp_hint(err, "write crop random, and what it is drawn from");
    if (p->kind != RANDOM)
        return SMP_OK;
    if (given(p->x) || given(p->y) || p->anchor != SMP_ANCHOR_AUTO || has_margins(p) || !isnan(p->tolerance))
        return smp_fail(err, SMP_E_PIPE, "where the rectangle lies is drawn, and given too");
    if (!given(p->seed))
        return smp_fail(err, SMP_E_PIPE, "nothing says what is drawn by"),
               smp_hint(err, "write crop random without kind=, or seed=random");
    if (sized && ranges)
        return smp_fail(err, SMP_E_PIPE, "the size is given, and drawn from scale and ratio too");
    if (!is_range(&p->scale) || !is_range(&p->ratio))
        return smp_fail(err, SMP_E_PIPE, "%s is no range", is_range(&p->scale) ? "ratio" : "scale"),
               smp_hint(err, "write %s", is_range(&p->scale) ? "ratio=3/4..4/3" : "scale=8..100%");
    return SMP_OK;
}

static smp_code check(const void *params_, smp_error *err)
{
    const params *p = params_;
    SMP_TRY(check_random(p, err));
    if (p->kind == SMART && (!(given(p->width) || given(p->height) || !isnan(p->aspect)) || given(p->x) ||
                             given(p->y) || p->anchor != SMP_ANCHOR_AUTO || !isnan(p->tolerance)))
        return smp_fail(err, SMP_E_PIPE, "a smart crop has a size, and finds its place"),
               smp_hint(err, "write crop 200x200 smart");
    if (by_content(p) && (given(p->width) || given(p->height) || given(p->x) || given(p->y) || !isnan(p->aspect) ||
                          has_margins(p) || p->anchor != SMP_ANCHOR_AUTO || p->clip))
        return smp_fail(err, SMP_E_PIPE, "the rectangle is given, and 'auto' finds one"),
               smp_hint(err, "write two stages: `crop auto`, then the other crop");
    const bool size = given(p->width) || given(p->height),
               place = given(p->x) || given(p->y) || p->anchor != SMP_ANCHOR_AUTO;
    if (size + !isnan(p->aspect) + has_margins(p) > 1)
        return smp_fail(err, SMP_E_PIPE,
                        "the size is given twice: say width and height, or aspect, or left, right, top and bottom");
    if (has_margins(p) && place)
        return smp_fail(err, SMP_E_PIPE, "left, right, top and bottom say where the rectangle lies: leave out %s",
                        p->anchor != SMP_ANCHOR_AUTO ? "anchor"
                        : given(p->x)                ? "x"
                                                     : "y");
    return SMP_OK;
}

typedef struct rectangle {
    int64_t x, y, width, height;
} rectangle;

static int64_t nearest(double v)
{
    return smp_max_i64(1, (int64_t)floor(v + 0.5));
}

static rectangle wanted(const params *p, const smp_shape *in)
{
    const bool moved = given(p->x) || given(p->y);
    rectangle r = {.width = given(p->width) ? p->width : in->width,
                   .height = given(p->height) ? p->height : in->height};
    if (has_margins(p))
        return (rectangle){p->left, p->top, in->width - p->left - p->right, in->height - p->top - p->bottom};
    if (!isnan(p->aspect)) {
        r.width = smp_min_i64(in->width, nearest((double)in->height * p->aspect));
        r.height = smp_min_i64(in->height, nearest((double)in->width / p->aspect));
    }
    r.x = smp_anchored_x(p->anchor, moved, in->width, r.width) + (given(p->x) ? p->x : 0);
    r.y = smp_anchored_y(p->anchor, moved, in->height, r.height) + (given(p->y) ? p->y : 0);
    return r;
}

/* ------------------------------------------------------------------------------------------------ at random */

/* As torchvision's RandomResizedCrop: ten tries at a share of the area, evenly, and a ratio, evenly in its logarithm;
 * where none fits, the largest rectangle in the middle that has an allowed ratio. */
static rectangle drawn_size(const params *p, const smp_shape *in)
{
    enum { TRIES = 10, NUMBERS = 4 };
    static const double usual_scale[] = {0.08, 1}, usual_ratio[] = {3. / 4, 4. / 3};
    const double *scale = p->scale.values ? p->scale.values : usual_scale,
                 *ratio = p->ratio.values ? p->ratio.values : usual_ratio,
                 area = (double)in->width * (double)in->height, low = log(ratio[0]), high = log(ratio[1]),
                 is = (double)in->width / (double)in->height;
    rectangle r = {.width = in->width, .height = in->height};
    for (uint32_t i = 0; i < TRIES; i++) {
        const double part = area * (scale[0] + smp_seeded(p->seed, NUMBERS * i) * (scale[1] - scale[0])),
                     shape = exp(low + smp_seeded(p->seed, NUMBERS * i + 1) * (high - low));
        const int64_t width = (int64_t)rint(sqrt(part * shape)), height = (int64_t)rint(sqrt(part / shape));
        if (width < 1 || width > in->width || height < 1 || height > in->height)
            continue;
        return (rectangle){smp_seeded_whole(p->seed, NUMBERS * i + 3, in->width - width),
                           smp_seeded_whole(p->seed, NUMBERS * i + 2, in->height - height), width, height};
    }
    if (is < ratio[0])
        r.height = (int64_t)rint((double)in->width / ratio[0]);
    else if (is > ratio[1])
        r.width = (int64_t)rint((double)in->height * ratio[1]);
    r.x = (in->width - r.width) / 2, r.y = (in->height - r.height) / 2;
    return r;
}

/* Of a size that is given, anywhere in the picture. */
static smp_code draw_box(const params *p, const smp_shape *in, rectangle *r, smp_node_plan *work, smp_error *err)
{
    if (!given(p->width) && !given(p->height) && isnan(p->aspect))
        *r = drawn_size(p, in);
    else if (r->width > in->width || r->height > in->height) {
        if (!p->clip)
            return smp_fail(err, SMP_E_PIPE, "%lldx%lld pixels at random, and the picture has %lldx%lld",
                            (long long)r->width, (long long)r->height, (long long)in->width, (long long)in->height),
                   smp_hint(err, "clip=yes takes what there is; `pad` or `resize` in front makes it larger");
        r->width = smp_min_i64(r->width, in->width), r->height = smp_min_i64(r->height, in->height);
    }
    if (given(p->width) || given(p->height) || !isnan(p->aspect)) {
        r->y = smp_seeded_whole(p->seed, 0, in->height - r->height);
        r->x = smp_seeded_whole(p->seed, 1, in->width - r->width);
    }
    snprintf(work->drawn, sizeof work->drawn, "width=%lldpx height=%lldpx x=%lldpx y=%lldpx", (long long)r->width,
             (long long)r->height, (long long)r->x, (long long)r->y);
    return SMP_OK;
}

/* The part of `length` from `from` on that lies in 0 .. whole - 1. */
static void clip_to(int64_t whole, int64_t *from, int64_t *length)
{
    const int64_t end = smp_min_i64(whole, *from + *length);
    *from = smp_max_i64(0, *from);
    *length = end - *from;
}

static void plan_box(const rectangle *r, const smp_shape *in, smp_node_plan *work)
{
    memcpy(work->kernel.bytes, &(smp_crop){r->x, r->y}, sizeof(smp_crop));
    work->kernel.size = sizeof(smp_crop);
    work->out.width = r->width;
    work->out.height = r->height;
    work->effect.none = r->width == in->width && r->height == in->height;
    work->rows.add = r->y;
    work->values.exactness = SMP_MOVE;
}

/* ------------------------------------------------------------------------------------------------ by content */

static const double USUAL_TOLERANCE = 0.02;

static smp_code plan_auto(const params *p, const smp_shape *in, smp_node_plan *work)
{
    if (work->prepass.found) {
        rectangle r;
        memcpy(&r, work->prepass.found, sizeof r);
        plan_box(&r, in, work);
        work->effect.already = work->effect.none;
        return SMP_OK;
    }
    smp_content *k = SMP_PLAN_KERNEL(work, smp_content);
    k->tolerance = (float)((isnan(p->tolerance) ? USUAL_TOLERANCE : p->tolerance) * (double)smp_white(in->format));
    work->prepass.wanted = work->rows.whole = true;
    work->access = SMP_ADJUST;
    work->reduction.kind = SMP_RESULT_CHUNKS;
    work->reduction.size = (size_t)in->height * sizeof(smp_content_row);
    work->ops = 2;
    return SMP_OK;
}

static smp_code tell(const rectangle *r, smp_measurements *measurements, smp_error *err)
{
    measurements->found = smp_alloc(sizeof *r);
    SMP_NEED(measurements->found, "a rectangle", sizeof *r, err);
    memcpy(measurements->found, r, sizeof *r);
    measurements->found_size = sizeof *r;
    SMP_TRY(smp_measurements_add(measurements, "x", -1, (double)r->x, err));
    SMP_TRY(smp_measurements_add(measurements, "y", -1, (double)r->y, err));
    SMP_TRY(smp_measurements_add(measurements, "width", -1, (double)r->width, err));
    return smp_measurements_add(measurements, "height", -1, (double)r->height, err);
}

/* ------------------------------------------------------------------------------------------------ what stands out */

enum { SIDE = SMP_PHASH_SIDE /* cells each way */ };

/* How far a cell is from the means of those around it. */
static double striking(double mean[SIDE][SIDE], int x, int y)
{
    double all = 0;
    for (int reach = 1; reach <= 4; reach *= 2) {
        double sum = 0, count = 0;
        for (int v = y < reach ? 0 : y - reach; v <= y + reach && v < SIDE; v++)
            for (int u = x < reach ? 0 : x - reach; u <= x + reach && u < SIDE; u++, count++)
                sum += mean[v][u];
        all += fabs(mean[y][x] - sum / count);
    }
    return all;
}

/* rows: of each row of the picture the means of brightness of SIDE parts. */
static rectangle find_striking(const params *p, const smp_shape *in, const float *rows)
{
    double mean[SIDE][SIDE] = {{0}}, sum[SIDE + 1][SIDE + 1] = {{0}}, most = 1e-3;
    for (int k = 0; k < SIDE * SIDE; k++) {
        const int64_t y = in->height * (k / SIDE) / SIDE, end = smp_max_i64(y + 1, in->height * (k / SIDE + 1) / SIDE);
        for (int64_t i = y; i < end; i++)
            mean[k / SIDE][k % SIDE] += (double)rows[i * SIDE + k % SIDE] / (double)(end - y);
    }
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            sum[y + 1][x + 1] = striking(mean, x, y) + sum[y][x + 1] + sum[y + 1][x] - sum[y][x];
    rectangle r = wanted(p, in);
    clip_to(in->width, &r.x, &r.width);
    clip_to(in->height, &r.y, &r.height);
    const int64_t right = in->width - r.width, down = in->height - r.height;
    for (int k = 0; k < (SIDE + 1) * (SIDE + 1); k++) {
        const int64_t x = right * (k % (SIDE + 1)) / SIDE, y = down * (k / (SIDE + 1)) / SIDE;
        const int64_t x0 = x * SIDE / in->width, x1 = ((x + r.width) * SIDE + in->width - 1) / in->width,
                      y0 = y * SIDE / in->height, y1 = ((y + r.height) * SIDE + in->height - 1) / in->height;
        const double here = sum[y1][x1] - sum[y0][x1] - sum[y1][x0] + sum[y0][x0];
        if (here > most + 1e-6)
            most = here, r.x = x, r.y = y;
    }
    return r;
}

static smp_code finish(const void *params_, const smp_shape *in, const void *result, smp_node_plan *,
                       smp_measurements *measurements, smp_error *err)
{
    const params *p = params_;
    const smp_content_row *rows = result;
    if (p->kind == SMART) {
        const rectangle found = find_striking(p, in, result);
        return tell(&found, measurements, err);
    }
    int64_t left = in->width, right = -1, top = in->height, bottom = -1;
    for (int64_t y = 0; y < in->height; y++) {
        if (rows[y].last < 0)
            continue;
        left = smp_min_i64(left, rows[y].first);
        right = smp_max_i64(right, rows[y].last);
        top = smp_min_i64(top, y);
        bottom = y;
    }
    if (bottom < 0) {
        const double tolerance = isnan(p->tolerance) ? USUAL_TOLERANCE : p->tolerance;
        smp_fail(err, SMP_E_PIPE, "nothing is left: all of the picture is like its corners, within %.3g%%",
                 100 * tolerance);
        if (tolerance == 0)
            return smp_hint(err, "leave crop out for pictures of one colour");
        return smp_hint(err, "leave crop out, or look closer: crop auto tolerance=%.3g%%", 25 * tolerance);
    }
    left = smp_max_i64(0, left - p->margin), top = smp_max_i64(0, top - p->margin);
    right = smp_min_i64(in->width - 1, right + p->margin), bottom = smp_min_i64(in->height - 1, bottom + p->margin);
    const rectangle r = {left, top, right - left + 1, bottom - top + 1};
    return tell(&r, measurements, err);
}

static void rows_geometry(const smp_io *io, const void *, smp_grid *grid)
{
    smp_grid_line(io->out.rows, SMP_BLOCK_THREADS, SMP_BLOCK_THREADS, grid);
}

static void warps_geometry(const smp_io *io, const void *, smp_grid *grid)
{
    enum { LANES = 32 };
    smp_grid_line(io->out.rows, SMP_BLOCK_THREADS / LANES, SMP_BLOCK_THREADS, grid);
}

static const smp_variant content_variants[] = {
    {SMP_RUNG("naive", "pixel by pixel; on GPUs a thread a row", SMP_LAUNCH(content_naive, .geometry = rows_geometry))},
    {SMP_RUNG("tiled", "from both ends of a row in vectors; on GPUs a warp a row, and a ballot finds the ends",
              SMP_LAUNCH(content_tiled, .geometry = warps_geometry))},
    {0},
};

/* ------------------------------------------------------------------------------------------------ the stage */

static smp_code plan(const void *params_, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = params_;
    rectangle r = wanted(p, in);
    if (by_content(p))
        return plan_auto(p, in, work);
    if (p->kind == SMART && work->prepass.found)
        memcpy(&r, work->prepass.found, sizeof r);
    else if (p->kind == SMART && (p->clip || (r.width <= in->width && r.height <= in->height))) {
        work->prepass.wanted = work->rows.whole = true;
        work->access = SMP_ADJUST;
        work->reduction.reducers = smp_hash_variants;
        return smp_hash_plan(in, SIDE, false, work, err);
    }
    if (p->kind == RANDOM)
        SMP_TRY(draw_box(p, in, &r, work, err));
    if (r.width < 1 || r.height < 1)
        return smp_fail(err, SMP_E_PIPE, "nothing is left: the picture has %lldx%lld pixels", (long long)in->width,
                        (long long)in->height);
    rectangle inside = r;
    clip_to(in->width, &inside.x, &inside.width);
    clip_to(in->height, &inside.y, &inside.height);
    if (inside.width < 1 || inside.height < 1 || (!p->clip && memcmp(&inside, &r, sizeof r) != 0)) {
        smp_fail(err, SMP_E_PIPE, "the box %lldx%lld at %lld, %lld leaves the picture of %lldx%lld", (long long)r.width,
                 (long long)r.height, (long long)r.x, (long long)r.y, (long long)in->width, (long long)in->height);
        return inside.width < 1 || inside.height < 1 ? SMP_E_PIPE : smp_hint(err, "clip=yes keeps what lies inside");
    }
    plan_box(&inside, in, work);
    return SMP_OK;
}

static const smp_variant variants[] = {
    {SMP_RUNG("naive", "sample by sample", SMP_LAUNCH_SAMPLES(crop_naive))},
    {SMP_RUNG("tiled", "CPU: a row is one copy; GPU: 16 bytes a thread",
              SMP_LAUNCH(crop_tiled, .geometry = smp_geometry_packs))},
    {0},
};

const smp_stage smp_stage_crop = {
    .name = "crop",
    .help = "keep a rectangle of a picture",
    .about =
        "out(i, j) = in(i + x0, j + y0). The rectangle has width x height pixels, or is the largest of a ratio: W = "
        "min(w, round(h * aspect)), H = min(h, round(w / aspect)), or what left, right, top and bottom leave. "
        "anchor puts it at floor((w - W) * a), with a = 0, 1/2 or 1, and x and y move it on. Streams: rows above "
        "it are read and dropped, rows below it are not read.\n"
        "`crop auto` keeps the box of all pixels that differ from the median of the four corners by more than "
        "tolerance in a channel, and margin round it; colour counts as much as it is opaque. It reads the picture "
        "twice, and keeps all of it the first time.\n"
        "`crop 200x200 smart` lies where most stands out: of 32 x 32 cells, the mean brightnesses of the picture's "
        "parts, each counts by how far it is from the means of the 3 x 3, 5 x 5 and 9 x 9 cells around, and of 33 x 33 "
        "places the first with the largest sum is taken; where nothing stands out, the middle.\n"
        "`crop random 224x224` has a given size and lies anywhere, as torchvision's RandomCrop. `crop random` draws as "
        "its RandomResizedCrop does: ten times a share of the picture's area, evenly, and a ratio, evenly in its "
        "logarithm, until that fits; else it is the largest in the middle of an allowed ratio. `resize 224x224 "
        "fit=stretch` then gives the size that a network takes. Each file has a draw of its own (help draws).",
    .example = "crop aspect=1 anchor=centre",
    SMP_PLANNED(SMP_IMAGE, SMP_STENCIL, table, params, variants),
    .check = check,
    .reduction = SMP_REDUCTION(.prepass = needs_prepass, .finish = finish, .reducers = content_variants),
    .hints =
        SMP_HINTS(.forms = SMP_FORMS(SMP_MEANS("random", "kind=random seed=random"),
                                     SMP_MEANS("random $Wx$H", "kind=random seed=random width=$W height=$H"),
                                     SMP_MEANS("$Wx$H smart", "kind=smart width=$W height=$H"),
                                     SMP_MEANS("$Wx$H+$X+$Y", "width=$W height=$H x=$X y=$Y"),
                                     SMP_MEANS("$Wx$H+$X-$Y", "width=$W height=$H x=$X y=-$Y"),
                                     SMP_MEANS("$Wx$H-$X+$Y", "width=$W height=$H x=-$X y=$Y"),
                                     SMP_MEANS("$Wx$H-$X-$Y", "width=$W height=$H x=-$X y=-$Y"),
                                     SMP_MEANS("$W:$H:$X:$Y", "width=$W height=$H x=$X y=$Y"), SMP_FORMS_OF_RATIO,
                                     {.values = "$Wx$H", .say = "write width=$W height=$H, the middle, or $Wx$H+0+0"},
                                     {.values = "$W $H", .say = "write width=$W height=$H, the middle, or $Wx$H+0+0"},
                                     {.values = "$X $Y $W $H",
                                      .say = "write x=$X y=$Y width=$W height=$H, if this is the "
                                             "order: ffmpeg has the size first"},
                                     {.values = "$P", .say = "write width=$P height=$P"},
                                     {.values = "center", .say = "write anchor=centre, and width= and height="}),
                  .aliases =
                      SMP_ALIASES({"extract extract_area cut chop", "crop"}, {"find_trim autocrop trim", "crop auto"},
                                  {"shave", "crop left=10 right=10 top=10 bottom=10"}, {"square", "crop aspect=1"},
                                  {"smartcrop attention", "crop 200x200 smart"})),
};
