/* resize: a picture made larger or smaller. */
#include "stencil/resize.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "stages/row_map.h"
#include "stages/shared/geometry/resize_weights.h"
#include "stages/shared/launch_shapes.h"
#include "stages/stage.h"

typedef struct resize_params { /* begins as smp_size_params */
    int64_t width, height;     /* INT64_MIN: auto */
    int fit;
    double scale;              /* NaN: auto */
    int64_t longest, shortest; /* INT64_MIN: auto */
    int filter, arithmetic;
    bool antialias, enlarge;
    double dpi; /* NaN: auto */
} resize_params;

static const char *const fits[] = {
    [SMP_FIT_INSIDE] = "inside", [SMP_FIT_COVER] = "cover", [SMP_FIT_STRETCH] = "stretch", NULL};
static const char *const filters[] = {[SMP_RESIZE_LANCZOS3] = "lanczos3", [SMP_RESIZE_MITCHELL] = "mitchell",
                                      [SMP_RESIZE_BICUBIC] = "bicubic",   [SMP_RESIZE_BILINEAR] = "bilinear",
                                      [SMP_RESIZE_AREA] = "area",         [SMP_RESIZE_BOX] = "box",
                                      [SMP_RESIZE_NEAREST] = "nearest",   NULL};
static const char *const arithmetics[] = {"float", "fixed", NULL};

#define PIXELS(name, help, share)                                                                                      \
#name, offsetof(resize_params, name), SMP_T_INT, SMP_UNIT_PX, 1, 1e6, "auto", help, NULL, SMP_P_AUTO | (share)
#define WORD(name, fallback, help, choices)                                                                            \
#name, offsetof(resize_params, name), SMP_T_ENUM, SMP_UNIT_NONE, 0, 0, fallback, help, choices, 0
#define SWITCH(name, help) #name, offsetof(resize_params, name), SMP_T_BOOL, SMP_UNIT_NONE, 0, 0, "yes", help, NULL, 0
static const smp_param params[] = {
    {"scale", offsetof(resize_params, scale), SMP_T_FLOAT, SMP_UNIT_FRACTION, 0.0001, 64, "auto",
     "factor for both sides: 0.5 or 50% is half as wide and half as high", NULL,
     SMP_P_MAIN | SMP_P_AUTO | SMP_P_FACTOR},
    {PIXELS(width, "of the new picture; auto: as height and the picture's ratio say", SMP_P_OF_WIDTH)},
    {PIXELS(height, "of the new picture; auto: as width and the picture's ratio say", SMP_P_OF_HEIGHT)},
    {PIXELS(longest, "instead of width or height: what the longer side becomes", 0)},
    {PIXELS(shortest, "instead of width or height: what the shorter side becomes", 0)},
    {WORD(fit, "inside",
          "with width and height. inside: the largest that fits; cover: the middle, of that size; stretch: that size, "
          "whatever the ratio",
          fits)},
    {WORD(
        filter, "lanczos3",
        "what a sample is made of; lanczos3 is sharpest, mitchell and bicubic ring less, area averages, nearest takes "
        "one",
        filters)},
    {WORD(arithmetic, "float",
          "float: rounded once; fixed: 8 bits, rounded after each pass, the bytes of Pillow's Image.resize (up to 12)",
          arithmetics)},
    {SWITCH(antialias, "yes: when shrinking, filters are as wide as the step; no: they stay narrow")},
    {SWITCH(enlarge, "no: a picture that would become larger stays as it is")},
    {"dpi", offsetof(resize_params, dpi), SMP_T_FLOAT, SMP_UNIT_NONE, 1, 30000, "auto",
     "pixels an inch that the file says, for print; without a size the picture stays as large on paper; auto: as the "
     "input says",
     NULL, SMP_P_AUTO},
    {0},
};

static bool given(int64_t v)
{
    return v != INT64_MIN;
}

static bool has_fixed(int filter)
{
    return filter == SMP_RESIZE_LANCZOS3 || filter == SMP_RESIZE_BICUBIC || filter == SMP_RESIZE_BILINEAR ||
           filter == SMP_RESIZE_BOX;
}

static bool sized(const resize_params *p)
{
    return !isnan(p->scale) || given(p->width) || given(p->height) || given(p->longest) || given(p->shortest);
}

static smp_code check(const void *params_, smp_error *err)
{
    const resize_params *p = params_;
    const bool sides = given(p->width) || given(p->height);
    const int ways = !isnan(p->scale) + sides + given(p->longest) + given(p->shortest);
    if (ways == 0 && isnan(p->dpi))
        return smp_fail(err, SMP_E_PIPE, "which size?"),
               smp_hint(err, "say a factor, as `resize 50%%`, or width, height, longest or shortest");
    if (ways > 1)
        return smp_fail(err, SMP_E_PIPE,
                        "the size is given twice: say a factor, or width and height, or longest, or shortest");
    if (p->fit != SMP_FIT_INSIDE && !(given(p->width) && given(p->height)))
        return smp_fail(err, SMP_E_PIPE, "fit=%s needs both width and height", fits[p->fit]);
    if (p->filter == SMP_RESIZE_AREA && !p->antialias)
        return smp_fail(err, SMP_E_PIPE, "filter=area averages whatever lies under a sample: leave out antialias");
    if (p->arithmetic && !has_fixed(p->filter))
        return smp_fail(err, SMP_E_PIPE, "arithmetic=fixed has the filters lanczos3, bicubic, bilinear and box");
    if (p->arithmetic && p->fit == SMP_FIT_COVER)
        return smp_fail(err, SMP_E_PIPE, "arithmetic=fixed has no fit=cover"),
               smp_hint(err, "crop aspect={W/H}, then resize with fit=stretch");
    return SMP_OK;
}

/* ---------------------------------------------------------------------------------------------- the size */

static int64_t nearest(double v)
{
    return smp_max_i64(1, (int64_t)floor(v + 0.5));
}

typedef struct picture_size {
    int64_t width, height;
} picture_size;

static picture_size by_width(const smp_shape *in, int64_t width)
{
    return (picture_size){width, nearest((double)in->height * (double)width / (double)in->width)};
}
static picture_size by_height(const smp_shape *in, int64_t height)
{
    return (picture_size){nearest((double)in->width * (double)height / (double)in->height), height};
}

/* dpi: the picture's resolution. */
static picture_size wanted(const resize_params *p, const smp_shape *in, double dpi)
{
    if (!sized(p))
        return (picture_size){nearest((double)in->width * p->dpi / dpi), nearest((double)in->height * p->dpi / dpi)};
    const bool wide = in->width >= in->height;
    if (!isnan(p->scale))
        return (picture_size){nearest((double)in->width * p->scale), nearest((double)in->height * p->scale)};
    if (given(p->longest))
        return wide ? by_width(in, p->longest) : by_height(in, p->longest);
    if (given(p->shortest))
        return wide ? by_height(in, p->shortest) : by_width(in, p->shortest);
    if (!given(p->height))
        return by_width(in, p->width);
    if (!given(p->width))
        return by_height(in, p->height);
    if (p->fit != SMP_FIT_INSIDE)
        return (picture_size){p->width, p->height};
    picture_size size; /* the side that binds is exact */
    if ((double)p->width * (double)in->height <= (double)p->height * (double)in->width) {
        size = by_width(in, p->width);
        size.height = smp_min_i64(size.height, p->height);
    } else {
        size = by_height(in, p->height);
        size.width = smp_min_i64(size.width, p->width);
    }
    return size;
}

/* Whether the output's height decides how much of the input fit=cover takes: all of its height. */
static bool covers_by_height(const picture_size *size, const smp_shape *in)
{
    return (double)size->width * (double)in->height <= (double)size->height * (double)in->width;
}

static bool grows(const resize_params *p, const picture_size *size, const smp_shape *in)
{
    if (p->fit == SMP_FIT_COVER)
        return covers_by_height(size, in) ? size->height > in->height : size->width > in->width;
    return size->width > in->width || size->height > in->height;
}

/* ---------------------------------------------------------------------------------------------- the plan */

static void set_requests(const resize_params *p, const picture_size *size, const smp_shape *in,
                         smp_resize_request *across, smp_resize_request *down)
{
    const smp_resize_request both = {
        .filter = (smp_resize_filter)p->filter, .antialias = p->antialias, .fixed = p->arithmetic != 0};
    *across = *down = both;
    across->n = in->width;
    across->m = size->width;
    across->length = (double)in->width;
    down->n = in->height;
    down->m = size->height;
    down->length = (double)in->height;
    if (p->fit != SMP_FIT_COVER)
        return;
    if (covers_by_height(size, in))
        across->length = (double)in->height * (double)size->width / (double)size->height;
    else
        down->length = (double)in->width * (double)size->height / (double)size->width;
    across->begin = ((double)in->width - across->length) / 2;
    down->begin = ((double)in->height - down->length) / 2;
}

static int64_t common(int64_t a, int64_t b)
{
    while (b) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Input rows for each output row, and how far from there an output row reads. */
static void plan_rows(const smp_resize_request *down, const smp_resize *resize, const picture_size *size,
                      const smp_shape *in, smp_node_plan *work)
{
    const bool boxed = down->length != (double)in->height; /* fit=cover: as many input rows as there are columns */
    const int64_t num = boxed ? in->width : in->height, den = boxed ? size->width : size->height;
    work->rows.num = num / common(num, den);
    work->rows.den = den / common(num, den);
    work->rows.add = (int64_t)floor(down->begin);
    if (!resize->down.taps)
        return;
    const smp_row_map map = {.num = work->rows.num, .den = work->rows.den, .add = work->rows.add};
    for (int64_t y = 0; y < size->height; y++) {
        const smp_resize_taps taps = smp_resize_taps_of(&resize->down, work->table.data, y);
        const int64_t row = smp_row_map_row(&map, y);
        work->rows.up = smp_max_i64(work->rows.up, row - taps.first);
        work->rows.down = smp_max_i64(work->rows.down, taps.first + taps.count - 1 - row);
    }
}

/* Plans the layout of a row in shared memory, by the step between outputs. Where that is far from a whole number, the
 * lanes of a warp read of several planes, and meet in banks more often than in a plain row. */
static void plan_phases(double step, smp_resize *resize)
{
    const double drift = 1. / 24; /* 1.3 pixels in 32 lanes */
    const double whole = floor(step + 0.5);
    const bool near = whole >= 2 && whole <= SMP_RESIZE_PHASES && fabs(step - whole) <= drift;
    resize->phases = near ? (int32_t)whole : 1;
    resize->spread = step == whole ? SMP_RESIZE_BANKS / resize->phases : 0;
}

/* The most pixels of a row that SMP_RESIZE_ACROSS samples are made of. */
static int32_t tile_window(const smp_resize *resize, const void *table, int64_t width, int channels)
{
    int32_t most = 1;
    for (int64_t i = 0; i < width * channels; i += SMP_RESIZE_ACROSS) {
        const int64_t last = smp_min_i64(i + SMP_RESIZE_ACROSS, width * channels) - 1;
        const smp_resize_taps a = smp_resize_taps_of(&resize->across, table, i / channels);
        const smp_resize_taps b = smp_resize_taps_of(&resize->across, table, last / channels);
        most = (int32_t)smp_max_i64(most, b.first + b.count - a.first);
    }
    return most;
}

/* Whether each output sample of an axis that becomes `ratio` times smaller has `taps` input samples of its own, as far
 * as there are so many: the first, of output sample x, is `ratio` * x - before. */
static bool steps_evenly(const smp_resize_request *request, const smp_resize_axis *axis, const void *table, int ratio,
                         int taps)
{
    const int64_t before = (taps - ratio) / 2;
    for (int64_t x = 0; x < request->m; x++) {
        const smp_resize_taps is = smp_resize_taps_of(axis, table, x);
        const int64_t from = smp_max_i64(x * ratio - before, 0);
        if (is.first != from || is.first + is.count != smp_min_i64(x * ratio - before + taps, request->n))
            return false;
    }
    return true;
}

/* The step of both axes, where there is a kernel for it: smp_resize.fused. */
static int fused_ratio(const smp_resize_request *across, const smp_resize_request *down, const smp_resize *resize)
{
    static const int most = 24, ratios[] = {2, 4};
    const int taps = resize->across.taps;
    for (int i = 0; i < 2; i++)
        if (resize->kind == SMP_RESIZE_FLOAT && across->n == ratios[i] * across->m && down->n == ratios[i] * down->m &&
            taps == resize->down.taps && taps <= most &&
            (taps == 2 * ratios[i] || taps == 4 * ratios[i] || taps == 6 * ratios[i]) &&
            across->m > 2 * taps / ratios[i])
            return ratios[i];
    return 0;
}

/* Fills in smp_resize.fused and its part of the table, where all outputs but those at borders have the same weights. */
static void plan_fused(const smp_resize_request *across, const smp_resize_request *down, int ratio, smp_resize *resize,
                       int32_t *table)
{
    const int taps = resize->across.taps, lobes = taps / ratio;
    if (!steps_evenly(across, &resize->across, table, ratio, taps) ||
        !steps_evenly(down, &resize->down, table, ratio, taps))
        return;
    const int32_t *same = smp_resize_taps_of(&resize->across, table, lobes).weight;
    for (int64_t x = lobes / 2; x < across->m - lobes / 2; x++)
        if (memcmp(smp_resize_taps_of(&resize->across, table, x).weight, same, (size_t)taps * sizeof *same) != 0)
            return;
    for (int64_t y = lobes / 2; y < down->m - lobes / 2; y++)
        if (memcmp(smp_resize_taps_of(&resize->down, table, y).weight, same, (size_t)taps * sizeof *same) != 0)
            return;
    memcpy(resize->fused.weight, same, (size_t)taps * sizeof *same);
    for (int64_t y = 0; y < down->m; y++) {
        const smp_resize_taps is = smp_resize_taps_of(&resize->down, table, y);
        for (int k = 0; k < is.count; k++) {
            const int64_t slot = is.first + k - (y * ratio - (taps - ratio) / 2);
            const int64_t group = y + slot / ratio, row = slot % ratio, output = lobes - 1 - slot / ratio;
            table[resize->fused.weights + (group * ratio + row) * lobes + output] = is.weight[k];
        }
    }
    resize->fused.ratio = ratio;
    resize->fused.lobes = lobes;
}

/* Lays out and fills the table. */
static smp_code plan_weights(const smp_resize_request *across, const smp_resize_request *down, smp_resize *resize,
                             smp_node_plan *work, smp_error *err)
{
    const smp_resize_request *request[] = {across, down};
    smp_resize_axis *axis[] = {&resize->across, &resize->down};
    int64_t words = 0, most = 1;
    for (int i = 0; i < 2; i++) {
        int64_t starts, weights;
        if (smp_resize_keeps(request[i]))
            continue;
        axis[i]->taps = (int32_t)smp_resize_most(request[i]);
        axis[i]->starts = words;
        if (!smp_mul_i64(request[i]->m, 2, &starts) || !smp_mul_i64(request[i]->m, axis[i]->taps, &weights) ||
            !smp_add_i64(words, starts, &axis[i]->weights) || !smp_add_i64(axis[i]->weights, weights, &words) ||
            words > INT64_MAX / (int64_t)sizeof(int32_t))
            return smp_fail_memory(err, "filter weights", UINT64_MAX);
        most = smp_max_i64(most, axis[i]->taps);
    }
    const int ratio = fused_ratio(across, down, resize), taps = resize->down.taps;
    if (ratio) {
        resize->fused.weights = words; /* few beside those of the axes, which fit */
        words += (down->m + taps / ratio) * taps;
    }
    work->table.size = (size_t)words * sizeof(int32_t);
    work->table.data = smp_alloc(work->table.size);
    double *spare = smp_alloc_array((size_t)most, sizeof *spare);
    if (!work->table.data || !spare) {
        smp_free(spare);
        return smp_fail_memory(err, "filter weights", work->table.size);
    }
    memset(work->table.data, 0, work->table.size);
    for (int i = 0; i < 2; i++)
        if (axis[i]->taps)
            smp_resize_weights(request[i], axis[i], work->table.data, spare);
    if (ratio)
        plan_fused(across, down, ratio, resize, work->table.data);
    smp_free(spare);
    return SMP_OK;
}

static smp_code check_input(const resize_params *p, const picture_size *size, const smp_shape *in,
                            const smp_node_plan *work, smp_error *err)
{
    static const double most_pixels = 1e12;
    if (in->width > SMP_ROW_MAP_MOST || in->height > SMP_ROW_MAP_MOST || size->width > SMP_ROW_MAP_MOST ||
        size->height > SMP_ROW_MAP_MOST || (double)size->width * (double)size->height > most_pixels)
        return smp_fail(err, SMP_E_PIPE, "a picture of %lldx%lld would become one of %lldx%lld: that is too large",
                        (long long)in->width, (long long)in->height, (long long)size->width, (long long)size->height);
    if (!p->arithmetic)
        return SMP_OK;
    if (in->format != SMP_U8 || in->alpha)
        return smp_fail(err, SMP_E_PIPE, "arithmetic=fixed takes 8 bits without alpha, and this picture has %s",
                        in->alpha               ? "alpha"
                        : in->format == SMP_U16 ? "16 bits"
                                                : "floats"),
               smp_hint(err, in->alpha ? "`alpha drop` before it keeps the colours, as Pillow's convert(\"RGB\") does"
                                       : "arithmetic=float takes every picture");
    if (work->values.linear)
        return smp_fail(err, SMP_E_PIPE, "arithmetic=fixed computes on encoded values, and this is linear light"),
               smp_hint(err, "arithmetic=float, or `light encoded` before it");
    return SMP_OK;
}

static smp_code plan(const void *params_, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const resize_params *p = params_;
    if (!sized(p) && !(work->change.dpi > 0))
        return smp_fail(err, SMP_E_PIPE, "the picture does not say its resolution, which dpi= without a size needs"),
               smp_hint(err, "`resize 100%% dpi=%.4g` sets it, `resize 50%% dpi=%.4g` has another size too", p->dpi,
                        p->dpi);
    const picture_size size = wanted(p, in, work->change.dpi);
    smp_resize_request across, down;
    smp_resize resize = {.kind = p->filter == SMP_RESIZE_NEAREST ? SMP_RESIZE_MOVE
                                 : p->arithmetic                 ? SMP_RESIZE_FIXED
                                                                 : SMP_RESIZE_FLOAT};
    work->change.dpi = isnan(p->dpi) ? work->change.dpi : p->dpi;
    SMP_TRY(check_input(p, &size, in, work, err));
    smp_code code = SMP_OK;
    set_requests(p, &size, in, &across, &down);
    if ((smp_resize_keeps(&across) && smp_resize_keeps(&down)) || (!p->enlarge && grows(p, &size, in))) {
        work->effect.none = work->effect.already = true;
        return SMP_OK;
    }
    if (!work->probing && (code = plan_weights(&across, &down, &resize, work, err)))
        return code;
    plan_rows(&down, &resize, &size, in, work);
    if (resize.across.taps)
        resize.window = tile_window(&resize, work->table.data, size.width, in->channels);
    plan_phases(across.length / (double)across.m, &resize);
    smp_plan_kernel(work, &resize, sizeof resize);
    work->out.width = size.width;
    work->out.height = size.height;
    work->values.exactness = resize.kind == SMP_RESIZE_MOVE    ? SMP_MOVE
                             : resize.kind == SMP_RESIZE_FIXED ? SMP_INTEGER
                                                               : SMP_REAL;
    work->values.clips =
        resize.kind == SMP_RESIZE_FLOAT &&
        (p->filter == SMP_RESIZE_LANCZOS3 || p->filter == SMP_RESIZE_MITCHELL || p->filter == SMP_RESIZE_BICUBIC);
    work->ops = 2 * ((double)resize.down.taps + resize.across.taps * (double)in->height / (double)size.height);
    return SMP_OK;
}

static size_t scratch(const smp_io *io, const void *kernel)
{
    const smp_resize *resize = kernel;
    if (resize->kind == SMP_RESIZE_MOVE)
        return 0;
    return (size_t)smp_resize_layout_of(resize, io->out.width, io->out.channels).size * sizeof(int32_t);
}

/* ---------------------------------------------------------------------------------------------- variants */

/* The row pass over tiles; sample by sample where rows stay as they are, or do not fit shared memory. */
static const char *tiled_rows(const smp_io *io, const void *kernel, smp_grid *grid, const char *name, bool padded)
{
    static const smp_tiles tiles = {SMP_RESIZE_ACROSS, SMP_RESIZE_LINES, SMP_RESIZE_ACROSS, 1};
    const smp_resize *resize = kernel;
    const int phases = padded ? resize->phases : 1;
    const int64_t line = phases * smp_resize_plane(resize->window, io->in.channels, phases, resize->spread);
    if (!resize->across.taps || resize->kind == SMP_RESIZE_MOVE || line > SMP_RESIZE_MOST_WORDS) {
        smp_geometry_samples(io, kernel, grid);
        return "resize_rows";
    }
    smp_grid_sample_tiles(io, &tiles, grid);
    grid->shared_bytes = (unsigned)(line * SMP_RESIZE_LINES * (int64_t)sizeof(float));
    return name;
}

static const char *rows_tiled(const smp_io *io, const void *kernel, smp_grid *grid)
{
    return tiled_rows(io, kernel, grid, "resize_rows_tiled", false);
}
static const char *rows_padded(const smp_io *io, const void *kernel, smp_grid *grid)
{
    return tiled_rows(io, kernel, grid, "resize_rows_padded", true);
}

/* Both passes in one walk, where the step is the same whole number both ways. */
static const char *fused(const smp_io *io, const void *kernel, smp_grid *grid)
{
    static const char *const names[2][3] = {{"resize_fused2_2", "resize_fused2_4", "resize_fused2_6"},
                                            {"resize_fused4_2", "resize_fused4_4", "resize_fused4_6"}};
    const smp_resize *resize = kernel;
    const int channels = io->in.channels, ratio = resize->fused.ratio, lobes = resize->fused.lobes;
    const bool served =
        io->in.format == SMP_U8 ? channels == 1 || channels == 3 : channels == 1 || channels == 3 || channels == 4;
    if (!ratio || !served || io->in.format != io->out.format || io->in.format == SMP_U16 || !smp_rows_aligned(io))
        return NULL;
    const int across = SMP_RESIZE_FUSED_PIXELS / ratio;
    const int warps = io->in.format == SMP_U8 ? SMP_RESIZE_FUSED_WARPS_U8 : SMP_RESIZE_FUSED_WARPS;
    const int64_t strips = (io->out.width + across - 1) / across;
    const int64_t bands = smp_max_i64((int64_t)grid->units * warps / (strips * channels), 1);
    const int64_t down =
        smp_clamp_i64((io->out.rows + bands - 1) / bands, SMP_RESIZE_FUSED_LEAST, SMP_RESIZE_FUSED_DOWN);
    grid->strips.tall = (uint32_t)down;
    grid->grid[0] = (unsigned)strips;
    grid->grid[1] = (unsigned)smp_min_i64((io->out.rows + down - 1) / down, smp_grid_most(grid));
    grid->grid[2] = 1;
    grid->block[0] = 32;
    grid->block[1] = (unsigned)channels;
    grid->block[2] = 1;
    grid->shared_bytes = (unsigned)(channels * (SMP_RESIZE_FUSED_ROWS * 16 * smp_resize_planes_of(ratio, lobes).pitch +
                                                across * smp_sample_size(io->out.format)) +
                                    ratio * lobes * lobes * (int)sizeof(float));
    return names[ratio == 4][lobes / 2 - 1];
}

static const smp_variant variants[] = {
    {SMP_RUNG("naive", "row pass into an f32 picture, column pass out of it, sample by sample",
              {.from = SMP_IN, .to = SMP_SCRATCH, .cpu = SMP_CPU(resize_rows), .cuda = "resize_rows"},
              {.from = SMP_SCRATCH, .to = SMP_OUT, .cpu = SMP_CPU(resize_columns), .cuda = "resize_columns"})},
    {.name = "tiled",
     .help =
         "CPU: both passes in one walk, eight rows at a time; GPU: the part of a row that a block needs lies in "
         "shared memory, where lanes read it at the ratio's stride: 2:1, 4:1 and 8:1 are 2-, 4- and 8-way conflicts",
     .launches = {{.from = SMP_IN, .to = SMP_OUT, .cpu = SMP_CPU(resize_tiled)},
                  {.from = SMP_IN, .to = SMP_SCRATCH, .decide = rows_tiled},
                  {.from = SMP_SCRATCH, .to = SMP_OUT, .cuda = "resize_columns_tiled", .tiles = {128, 8, 32, 8}}},
     .scratch = scratch,
     .band = SMP_RESIZE_LANES},
    {SMP_RUNG(
         "padded",
         "GPU: at 2:1, 3:1, ... and nearly so, what neighbouring lanes read of a row lies side by side, in as many "
         "planes as the ratio is large; other ratios and CPU as tiled",
         {.from = SMP_IN, .to = SMP_OUT, .cpu = SMP_CPU(resize_tiled)},
         {.from = SMP_IN, .to = SMP_SCRATCH, .decide = rows_padded},
         {.from = SMP_SCRATCH, .to = SMP_OUT, .cuda = "resize_columns_tiled", .tiles = {128, 8, 32, 8}}),
     .scratch = scratch, .band = SMP_RESIZE_LANES},
    {.name = "fused",
     .help =
         "GPU, exactly 2:1 and 4:1: both passes in one launch; row results stay in registers, as sums of the output "
         "rows that they count for; CPU as tiled",
     .launches = {SMP_LAUNCH_AS(resize_tiled, .decide = fused)},
     .scratch = scratch,
     .band = SMP_RESIZE_LANES},
    {0},
};

const smp_stage smp_stage_resize = {
    .name = "resize",
    .role = SMP_ROLE_SIZE,
    .traits = SMP_TRAIT_RESCALES | SMP_TRAIT_NEIGHBOURHOOD,
    .help = "make a picture smaller or larger",
    .about =
        "Each output sample is a sum over the input samples under a filter, rows first, then columns, in f32, rounded "
        "once. An axis of n samples that becomes m has steps of q = n/m; output sample x is centred on (x + 1/2) q, "
        "and weighs input sample k by F((k + 1/2 - centre) / f), f = max(q, 1), normalised; with antialias=no f is 1, "
        "which is quicker and leaves out samples. Borders: the filter is cut off there; an axis that keeps its length "
        "stays as it is. F: box 1 on (-1/2, 1/2]; "
        "bilinear 1 - |x|; bicubic by Keys with a = -1/2; mitchell B = C = 1/3; lanczos3 sinc(x) sinc(x/3). area: the "
        "exact share of each input sample; nearest: input sample floor((2x + 1) n / (2m)).\n"
        "Sides are rounded to the nearest pixel, and at least 1. fit=cover takes the middle of the picture that has "
        "the ratio of width to height. Colour is premultiplied by alpha. lanczos3, mitchell and bicubic overshoot at "
        "edges; what leaves the range is clipped and counted. In `light linear`, fine patterns keep their brightness.\n"
        "arithmetic=fixed gives the bytes of Pillow's Image.resize up to Pillow 12 (and of torchvision's on PIL "
        "images), on every device; Pillow 13 filters some shapes columns first, which differs by some levels.",
    .example = "resize width=48 height=36",
    SMP_PLANNED(SMP_IMAGE, SMP_STENCIL, params, resize_params, variants),
    .check = check,
    .hints =
        SMP_HINTS(.forms = SMP_FORMS(SMP_MEANS("$Wx$H", "width=$W height=$H"), SMP_MEANS("$Wx", "width=$W"),
                                     SMP_MEANS("x$H", "height=$H"), SMP_MEANS("$Wx$H^", "width=$W height=$H fit=cover"),
                                     SMP_MEANS("$Wx$H!", "width=$W height=$H fit=stretch"),
                                     SMP_MEANS("$Wx$H>", "width=$W height=$H enlarge=no"),
                                     {.values = "$Npx", .say = "write longest=$Npx or width=$Npx"},
                                     {.values = "$N", .say = "write longest=$N, or width=$N, or $N%"}),
                  .aliases =
                      SMP_ALIASES({"scale imresize zoom shrink", "resize"}, {"thumbnail thumb", "resize longest=256"},
                                  {"sample", "resize 50% filter=nearest"}, {"fit", "resize width=300 height=300"},
                                  {"cover", "resize width=300 height=300 fit=cover"},
                                  {"density dpi", "resize 100% dpi=300"}, {"resample", "resize dpi=300"},
                                  {"pixelate mosaic", "resize 10% filter=area, then resize 1000% filter=nearest"})),
};
