/* hash: 64 bits of what a picture looks like; the picture passes on. */
#include <stdio.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "stages/shared/geometry/resize_weights.h"
#include "stages/shared/launch_shapes.h"
#include "stages/shared/reduce/perceptual_hash.h"
#include "stencil/hash.h"

typedef struct params {
    int kind;
    const char *name;
} params;

enum { DHASH, PHASH };

static const smp_param table[] = {
    SMP_PARAM_ENUM(kind, "dhash", "dhash: where brightness rises; phash: the coarse frequencies, slower and subtler",
                   SMP_P_MAIN, "dhash", "phash"),
    SMP_PARAM_STRING(name, NULL, "what reports call these results", 0),
    {0},
};

static smp_resize_request request_of(bool fixed, int64_t from, int64_t to)
{
    return (smp_resize_request){.filter = fixed ? SMP_RESIZE_LANCZOS3 : SMP_RESIZE_AREA,
                                .antialias = true,
                                .fixed = fixed,
                                .n = from,
                                .m = to,
                                .length = (double)from};
}

/* The weights of an axis: *axis tells where they lie in the table, which is the caller's. */
static smp_code make_weights(const smp_resize_request *request, smp_resize_axis *axis, int32_t **weights, size_t *bytes,
                             smp_error *err)
{
    const int64_t taps = smp_resize_most(request);
    size_t words;
    *axis = (smp_resize_axis){.weights = 2 * request->m, .taps = (int32_t)taps};
    if (!smp_mul_size((size_t)request->m, (size_t)taps + 2, &words) || !smp_mul_size(words, sizeof(int32_t), bytes))
        return smp_fail(err, SMP_E_PIPE, "the picture is too large to be hashed");
    *weights = smp_alloc(*bytes);
    double *spare = smp_alloc_array((size_t)taps, sizeof *spare);
    if (*weights && spare)
        smp_resize_weights(request, axis, *weights, spare);
    const smp_code code = *weights && spare ? SMP_OK : smp_fail_memory(err, "the weights of a hash", *bytes);
    smp_free(spare);
    return code;
}

smp_code smp_hash_plan(const smp_shape *in, int32_t across, bool fixed, smp_node_plan *work, smp_error *err)
{
    smp_hash *k = SMP_PLAN_KERNEL(work, smp_hash);
    int32_t *weights = NULL;
    const int colours = in->channels - in->alpha;
    if (colours != 1 && colours != 3) {
        smp_fail(err, SMP_E_PIPE,
                 "brightness is that of gray or of red, green and blue, and this picture has %d colours", colours);
        return smp_hint(err, "'matrix' or 'gray' with weights makes one of them");
    }
    if (in->width > SMP_ROW_MAP_MOST || in->height > SMP_ROW_MAP_MOST ||
        !smp_mul_size((size_t)in->height, (size_t)across * sizeof(float), &work->reduction.size))
        return smp_fail(err, SMP_E_PIPE, "the picture is too large to be looked at as a whole");
    k->across = across;
    k->kind = fixed ? SMP_RESIZE_FIXED : SMP_RESIZE_FLOAT;
    work->reduction.kind = SMP_RESULT_CHUNKS;
    work->ops = fixed ? 18 : 8;
    const smp_resize_request request = request_of(fixed, in->width, across);
    const smp_code code = make_weights(&request, &k->axis, &weights, &work->table.size, err);
    work->table.data = weights;
    return code;
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const bool fixed = ((const params *)given)->kind == PHASH;
    return smp_hash_plan(in, fixed ? SMP_PHASH_SIDE : SMP_DHASH_ACROSS, fixed, work, err);
}

/* The copy's columns, of sums along rows. */
static void make_columns(const smp_hash *k, const smp_resize_axis *down, const int32_t *weights, const float *sums,
                         int64_t rows, uint8_t *to)
{
    for (int64_t y = 0; y < rows; y++)
        for (int32_t x = 0; x < k->across; x++) {
            const float v =
                smp_resize_sample(down, k->kind, weights, y, sums + x, 0, k->across * (int64_t)sizeof(float), SMP_F32);
            to[y * k->across + x] = smp_to_u8(v);
        }
}

static smp_code finish(const void *given, const smp_shape *in, const void *result, smp_node_plan *work,
                       smp_measurements *measurements, smp_error *err)
{
    const params *p = given;
    const smp_hash *k = (const smp_hash *)(const void *)work->kernel.bytes;
    const int64_t rows = p->kind == PHASH ? SMP_PHASH_SIDE : SMP_DHASH_DOWN;
    const smp_resize_request request = request_of(p->kind == PHASH, in->height, rows);
    uint8_t gray[SMP_HASH_PIXELS];
    smp_resize_axis down;
    int32_t *weights = NULL;
    size_t bytes;
    smp_code code = make_weights(&request, &down, &weights, &bytes, err);
    if (!code) {
        char text[SMP_MEASUREMENT_TEXT];
        make_columns(k, &down, weights, result, rows, gray);
        const uint64_t hash = p->kind == PHASH ? smp_phash(gray) : smp_dhash(gray);
        snprintf(text, sizeof text, "%016llx", (unsigned long long)hash);
        code = smp_measurements_add_text(measurements, "hash", text, err);
    }
    smp_free(weights);
    return code;
}

static void rows_geometry(const smp_io *io, const void *kernel, smp_grid *grid)
{
    const smp_hash *k = kernel;
    const int64_t groups = (io->out.rows + SMP_HASH_ROWS - 1) / SMP_HASH_ROWS;
    *grid = (smp_grid){.grid = {(unsigned)k->across, (unsigned)smp_clamp_i64(groups, 1, smp_grid_most(grid)), 1},
                       .block = {SMP_HASH_ROWS, 1, 1}};
}

static void numbers_geometry(const smp_io *io, const void *kernel, smp_grid *grid)
{
    const smp_hash *k = kernel;
    const smp_io numbers = smp_grid_over(io, k->across, io->out.rows, 1);
    smp_geometry_samples(&numbers, kernel, grid);
}

const smp_variant smp_hash_variants[] = {
    {SMP_RUNG("naive", "every number from its pixels", SMP_LAUNCH(hash_naive, .geometry = numbers_geometry))},
    {SMP_RUNG("tiled", "brightness once a row; on GPUs 32 x 32 pixels in shared memory, a lane a row: conflicts",
              SMP_LAUNCH(hash_tiled, .geometry = rows_geometry)),
     .scratch = smp_hash_scratch},
    {SMP_RUNG("padded", "on GPUs with an unused element at the end of each row of the tile: no conflicts",
              SMP_LAUNCH_AS(hash_tiled, .cuda = "hash_padded", .geometry = rows_geometry)),
     .scratch = smp_hash_scratch},
    {0},
};

const smp_stage smp_stage_hash = {
    .name = "hash",
    .help = "64 bits of what a picture looks like, to find copies; passes data on",
    .about =
        "Copies of a picture in other sizes, formats and qualities have the same hash, or one that differs in a few of "
        "its 64 bits; reported as 16 hexadecimal digits. The picture counts as gray (ITU-R BT.601) of 8 bits, on white "
        "where it is transparent.\n"
        "dhash: 9 x 8 pixels by area, a bit where a pixel is brighter than its left neighbour, row by row, the first "
        "bit the highest (Krawetz; ImageHash: the same order, of pixels by Lanczos). phash: 32 x 32 pixels by Lanczos "
        "in the integers of Pillow, a cosine transform (DCT-II) of it, a bit for each of its 8 x 8 lowest frequencies "
        "that is above the median of all but the mean.\n"
        "`smempipe duplicates` lists the pairs of a folder by these hashes; it reads large JPEGs at a part of their "
        "size, which is several times as fast and changes a bit now and then.",
    .example = "hash phash",
    SMP_PLANNED(SMP_IMAGE, SMP_REDUCE, table, params, smp_hash_variants),
    .reduction = SMP_REDUCTION(.finish = finish),
    SMP_ALSO({"dhash", "hash"}, {"phash", "hash phash"}, {"imagehash", "hash phash"}, {"perceptual_hash", "hash phash"},
             {"fingerprint", "hash"}),
};
