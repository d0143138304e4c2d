/* label: connected components, counted and measured. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/pool.h"
#include "base/stride.h"
#include "reduce/label.h"
#include "stages/shared/launch_shapes.h"
#include "stages/shared/reduce/components.h"
#include "stages/shared/reduce/union_find.h"
#include "stages/shared/samples/one_channel.h"

enum { MASK, LABELS, INPUT };

typedef struct params {
    double level, min_area, max_area;
    int connectivity, output;
    const char *name;
} params;

static const smp_param table[] = {
    SMP_PARAM_FLOAT(level, FRACTION, 0, 1, "50%", "a pixel from here on is foreground", SMP_P_MAIN | SMP_P_LEVEL),
    SMP_PARAM_ENUM(connectivity, "8", "neighbours that belong together: 8 with corners, 4 without", 0, "4", "8"),
    {"min-area", offsetof(params, min_area), SMP_T_FLOAT, SMP_UNIT_PX, 1, 1e15, "1",
     "smaller ones are left out: how many pixels", NULL, 0},
    {"max-area", offsetof(params, max_area), SMP_T_FLOAT, SMP_UNIT_PX, 1, 1e15, "auto",
     "larger ones are left out; auto: none", NULL, SMP_P_AUTO},
    SMP_PARAM_ENUM(output, "mask",
                   "mask: what was kept; labels: each pixel's number, 16 bits; input: the picture as it was", 0, "mask",
                   "labels", "input"),
    SMP_PARAM_STRING(name, NULL, "what reports call these results", 0),
    {0},
};

static smp_code check(const void *given, smp_error *err)
{
    const params *p = given;
    if (!isnan(p->max_area) && p->max_area < p->min_area)
        return smp_fail(err, SMP_E_PIPE, "max-area is below min-area: nothing would be kept");
    return SMP_OK;
}

/* Sizes of the results, and places in the scratch picture. */
static bool place(const params *p, const smp_shape *in, smp_label *k, smp_node_plan *work)
{
    enum { PER_RECORD = 8 /* pixels: components are seldom as many */, LEAST = 64 };
    size_t pixels, bits = smp_union_find_plane(in);
    if (!bits || !smp_mul_size((size_t)in->width * sizeof(uint16_t), (size_t)in->height, &pixels))
        return false;
    work->table.size = p->output == INPUT ? 0 : p->output == LABELS ? pixels : bits;
    k->chooses = p->min_area > 1 || !isnan(p->max_area);
    k->tabulate = p->output != INPUT;
    k->least_area = (int64_t)ceil(p->min_area);
    k->most_area = isnan(p->max_area) ? INT64_MAX : (int64_t)p->max_area;
    k->room = in->width * in->height / PER_RECORD + LEAST;
    k->records_at = sizeof(smp_label_head);
    k->raw_at = smp_aligned_stride(k->records_at + k->room * (int64_t)sizeof(smp_component));
    return smp_union_find_place(in, 1, k->raw_at + k->room * (int64_t)sizeof(uint32_t), &k->sets, work);
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    smp_label *k = SMP_PLAN_KERNEL(work, smp_label);
    const double level = p->level * (double)smp_white(in->format);
    SMP_TRY(smp_one_channel(in, "label", "write 'gray' before it, or 'local-threshold' and then 'gray'", err));
    *k = (smp_label){.level = (float)level,
                     .least = (int32_t)ceil(level),
                     .numbers = p->output == LABELS,
                     .sets.near = p->connectivity};
    if (!place(p, in, k, work))
        return smp_fail(err, SMP_E_PIPE, "the picture is too large to be labelled");
    work->rows.unit = SMP_UNION_FIND_DOWN;
    work->ops = 1;
    if (p->output == INPUT) {
        work->access = SMP_REDUCE;
        return SMP_OK;
    }
    work->values.exactness = SMP_INTEGER;
    if (p->output == LABELS) {
        work->out.format = SMP_U16;
        work->out.channels = 1;
        work->out.alpha = false;
        work->values.no_light = true;
    }
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ results */

/* The result of a reduction: from the device, with its table, or joined here from runs. */
typedef struct labelled {
    const smp_component *parts;
    size_t count;
    smp_components found; /* by the host; else empty */
    bool by_device;
} labelled;

/* Free found.found also after a failure. */
static smp_code take(const params *p, const smp_shape *in, const smp_node_plan *work, const void *result,
                     labelled *found, smp_error *err)
{
    const smp_label *k = (const smp_label *)(const void *)work->kernel.bytes;
    const smp_label_head *head = smp_union_find_found(&k->sets, result);
    *found = (labelled){.by_device = false};
    if (head) {
        found->parts = (const smp_component *)(const void *)((const char *)head + k->records_at);
        found->count = (size_t)head->count;
        found->by_device = true;
        return SMP_OK;
    }
    const smp_code code = smp_components_find(result, in->width, in->height, p->connectivity ? 8 : 4,
                                              work->reduction.threads, &found->found, err);
    found->parts = found->found.parts;
    found->count = found->found.count;
    return code;
}

/* Whether it is neither too small nor too large. */
static bool keeps(const params *p, const smp_component *c)
{
    const double area = (double)c->area;
    return area >= p->min_area && !(area > p->max_area);
}

/* Numbers the components that are kept from 1 on: one entry for each component, 0 for one left out. Null: out of
 * memory. */
static uint32_t *numbers_of(const params *p, const labelled *found)
{
    uint32_t *number = smp_alloc_array(found->count + 1, sizeof *number), next = 0;
    for (size_t i = 0; number && i < found->count; i++)
        number[i] = keeps(p, &found->parts[i]) ? ++next : 0;
    return number;
}

/* Totals for smp_measurements, also for several files together; these list no single component. */
typedef struct totals {
    uint64_t count, foreground;
} totals;

enum { COLUMNS = 7, MOST_RANGES = 32 };

/* Components that a thread lists. */
typedef struct range {
    size_t from, to, before; /* before: how many are kept of the ranges before it */
    totals kept;
} range;

typedef struct listing {
    const params *p;
    const smp_component *parts;
    range ranges[MOST_RANGES];
    int count;
    totals all;
    double *columns[COLUMNS];
} listing;

static void count_range(void *context, int part)
{
    listing *l = context;
    range *r = &l->ranges[part];
    for (size_t i = r->from; i < r->to; i++)
        if (keeps(l->p, &l->parts[i])) {
            r->kept.count++;
            r->kept.foreground += l->parts[i].area;
        }
}

/* Begins with the threads' shares and what is kept. */
static smp_code list_begin(listing *l, const params *p, const labelled *found, int threads, smp_pool **pool,
                           smp_error *err)
{
    enum { WORTH = 1 << 14 }; /* components: that a thread begins for */
    const int64_t most = smp_clamp_i64((int64_t)found->count / WORTH, 1, MOST_RANGES);
    *l = (listing){.p = p, .parts = found->parts, .count = (int)smp_clamp_i64(threads, 1, most)};
    SMP_TRY(smp_pool_open(l->count, pool, err));
    for (int r = 0; r < l->count; r++) {
        l->ranges[r].from = found->count * (size_t)r / (size_t)l->count;
        l->ranges[r].to = found->count * ((size_t)r + 1) / (size_t)l->count;
    }
    smp_pool_run(*pool, l->count, count_range, l);
    for (int r = 0; r < l->count; r++) {
        l->ranges[r].before = (size_t)l->all.count;
        l->all.count += l->ranges[r].kept.count;
        l->all.foreground += l->ranges[r].kept.foreground;
    }
    return SMP_OK;
}

static smp_code report(const void *partial, smp_measurements *measurements, smp_error *err)
{
    const totals *t = partial;
    SMP_TRY(smp_measurements_add(measurements, "count", -1, (double)t->count, err));
    return smp_measurements_add(measurements, "foreground", -1, (double)t->foreground, err);
}

static void fill_range(void *context, int part)
{
    const listing *l = context;
    const range *r = &l->ranges[part];
    double *const *to = l->columns;
    size_t at = r->before;
    for (size_t i = r->from; i < r->to; i++) {
        const smp_component *c = &l->parts[i];
        if (!keeps(l->p, c))
            continue;
        to[0][at] = (double)c->area;
        to[1][at] = (double)c->left;
        to[2][at] = (double)c->top;
        to[3][at] = (double)(c->right - c->left + 1);
        to[4][at] = (double)(c->bottom - c->top + 1);
        to[5][at] = (double)c->sum_x / (double)c->area;
        to[6][at] = (double)c->sum_y / (double)c->area;
        at++;
    }
}

/* The columns are the measurements' at once: of millions of components a copy would take as long as all else. */
static smp_code report_each(listing *l, smp_pool *pool, smp_measurements *measurements, smp_error *err)
{
    static const char *const names[COLUMNS] = {"area", "left", "top", "width", "height", "x", "y"};
    const size_t count = (size_t)l->all.count;
    for (int k = 0; count && k < COLUMNS; k++) {
        SMP_TRY(smp_measurements_add(measurements, names[k], -1, 0, err));
        smp_measurement *column = &measurements->items[measurements->count - 1];
        column->list = l->columns[k] = smp_alloc_raw(count * sizeof *column->list);
        SMP_NEED(column->list, "components", count * sizeof *column->list, err);
        column->list_len = count;
        column->values = true;
    }
    if (count)
        smp_pool_run(pool, l->count, fill_range, l);
    return SMP_OK;
}

/* The table of the second pass: bits of what was kept, or numbers. */
static void fill_from_runs(const params *p, const smp_shape *in, const smp_components *found, const uint32_t *number,
                           void *to)
{
    const int64_t words = smp_bits_words(in->width);
    for (int64_t y = 0; y < in->height; y++)
        for (size_t i = found->first[y]; i < found->first[y + 1]; i++) {
            const smp_pixel_run *run = &found->runs[i];
            const uint32_t n = number[run->part];
            if (n && p->output == MASK)
                smp_bits_set((uint32_t *)to + y * words, run->from, run->to);
            for (int64_t x = run->from; n && p->output == LABELS && x < run->to; x++)
                ((uint16_t *)to)[y * in->width + x] = (uint16_t)n;
        }
}

static smp_code finish(const void *given, const smp_shape *in, const void *result, smp_node_plan *work,
                       smp_measurements *measurements, smp_error *err)
{
    const params *p = given;
    labelled found;
    listing l;
    smp_pool *pool = NULL;
    uint32_t *number = NULL;
    smp_code code = take(p, in, work, result, &found, err);
    code = code ? code : list_begin(&l, p, &found, work->reduction.threads, &pool, err);
    if (!code && p->output == LABELS && l.all.count > UINT16_MAX) {
        smp_fail(err, SMP_E_PROCESS, "%zu components have more numbers than 16 bits hold (65535)", (size_t)l.all.count);
        code = smp_hint(err, "leave small ones out with min-area=, or write output=mask");
    }
    if (!code && p->output != INPUT && work->table.data && !found.by_device) {
        number = numbers_of(p, &found);
        if (number)
            fill_from_runs(p, in, &found.found, number, memset(work->table.data, 0, work->table.size));
        else
            code = smp_fail_memory(err, "components", found.count * sizeof *number);
    }
    code = code ? code : report(&l.all, measurements, err);
    code = code ? code : report_each(&l, pool, measurements, err);
    if (pool)
        smp_pool_close(pool);
    smp_free(number);
    smp_components_free(&found.found);
    return code;
}

static smp_code partial(const void *given, const smp_shape *in, const smp_node_plan *work, const void *result,
                        void **out, smp_error *err)
{
    const params *p = given;
    labelled found;
    listing l;
    smp_pool *pool = NULL;
    totals *t = *out = smp_alloc(sizeof *t);
    SMP_NEED(t, "results", sizeof *t, err);
    smp_code code = take(p, in, work, result, &found, err);
    code = code ? code : list_begin(&l, p, &found, work->reduction.threads, &pool, err);
    if (!code)
        *t = l.all;
    if (pool)
        smp_pool_close(pool);
    smp_components_free(&found.found);
    return code;
}

static smp_code merge(void **total, const void *more, bool *alike, smp_error *)
{
    totals *t = *total;
    t->count += ((const totals *)more)->count;
    t->foreground += ((const totals *)more)->foreground;
    *alike = true;
    return SMP_OK;
}

static void pack(const void *partial_, smp_packer *to)
{
    const totals *t = partial_;
    smp_pack_uint(to, t->count);
    smp_pack_uint(to, t->foreground);
}

static smp_code unpack(const smp_shape *, smp_unpacker *from, void **out, smp_error *err)
{
    totals *t = *out = smp_alloc(sizeof *t);
    SMP_NEED(t, "results", sizeof *t, err);
    t->count = smp_unpack_uint(from);
    t->foreground = smp_unpack_uint(from);
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ launches */

static void strip_words_geometry(const smp_io *io, const void *, smp_grid *grid)
{
    smp_union_find_grid_words(&io->in, io->second.rows, grid);
}
static void strip_tiles_geometry(const smp_io *io, const void *, smp_grid *grid)
{
    smp_union_find_grid_tiles(&io->in, io->second.rows, grid);
}
/* Launches as many chunks as there can be: only the device knows how many records there are. */
static void record_chunks_geometry(const smp_io *, const void *kernel, smp_grid *grid)
{
    const int64_t room = ((const smp_label *)kernel)->room;
    smp_grid_striding_line(room, smp_union_find_chunk(room), SMP_UNION_FIND_BLOCK, grid);
}

/* The first launch, on GPUs only. */
#define JOIN(name, shape) .from = SMP_IN, .to = SMP_SCRATCH, .cuda = #name, .geometry = shape
#define NUMBER            SMP_UNION_FIND_FLATTEN, SMP_UNION_FIND_THEN(label_number, smp_geometry_union_find_chunks)
#define FILL_IN                                                                                                        \
    SMP_UNION_FIND_THEN(label_keep, record_chunks_geometry),                                                           \
        SMP_UNION_FIND_THEN(label_keep_number, record_chunks_geometry),                                                \
        SMP_UNION_FIND_THEN(label_tabulate, smp_geometry_union_find_words)

static const smp_variant reducers[] = {
    {SMP_RUNG("naive", "pixel by pixel; on GPUs runs are joined and measured in global memory",
              {.from = SMP_IN, .to = SMP_OUT, .cpu = SMP_CPU(label_bits_naive)},
              {JOIN(label_join_naive, strip_words_geometry)}, SMP_UNION_FIND_SEAMS(naive), NUMBER,
              SMP_UNION_FIND_THEN(label_measure_naive, smp_geometry_union_find_words), FILL_IN)},
    {SMP_RUNG("tiled",
              "32 pixels in vectors; on GPUs tiles are joined and measured in shared memory, then their borders",
              {.from = SMP_IN, .to = SMP_OUT, .cpu = SMP_CPU(label_bits_tiled)},
              {JOIN(label_join_tiled, strip_tiles_geometry)}, SMP_UNION_FIND_SEAMS(tiled), NUMBER,
              SMP_UNION_FIND_THEN(label_measure_tiled, smp_geometry_union_find_tiles), FILL_IN)},
    {0},
};

static const smp_variant variants[] = {
    {SMP_RUNG("naive", "a look-up a sample", SMP_LAUNCH_SAMPLES(label_naive))},
    {SMP_RUNG("tiled", "samples in vectors; on GPUs four a thread", SMP_LAUNCH(label_tiled, .tiles = SMP_BITS_TILES))},
    {0},
};

const smp_stage smp_stage_label = {
    .name = "label",
    .help = "connected components: counts and measures them, takes out small ones",
    .about =
        "Foreground is every pixel from level on. A component is foreground that hangs together by 8 neighbours, or by "
        "4. Those smaller than min-area or larger than max-area are left out; the others are numbered from 1 by their "
        "first pixels, top row first, then left.\n"
        "Reports how many there are (count) and their pixels (foreground), and of each area, box (left, top, width, "
        "height) and centroid (x, y), exactly: `smempipe measure --csv` writes a line a component. Counts and boxes "
        "are those of OpenCV's connectedComponentsWithStats, numbers those of scikit-image's label.\n"
        "output=mask is full scale where a component was kept and 0 elsewhere, output=labels has 16 bits whose code "
        "values are the numbers (at most 65535), output=input passes the picture on. For pictures of one channel; of "
        "alpha nothing is measured.",
    .example = "label 40% min-area=2px",
    SMP_PLANNED(SMP_IMAGE, SMP_ADJUST, table, params, variants),
    .traits = SMP_TRAIT_PIXELS,
    .check = check,
    .reduction = SMP_REDUCTION(.finish = finish, .reducers = reducers,
                               .partials = SMP_PARTIALS(.make = partial, .merge = merge, .report = report, .pack = pack,
                                                        .unpack = unpack)),
    SMP_ALSO({"components connectedcomponents connected_components bwlabel blobs particles ccl labelregions", "label"},
             {"analyze_particles analyzeparticles regionprops", "label min-area=20px output=input"},
             {"bwareaopen remove_small_objects", "label min-area=50px"}),
};
