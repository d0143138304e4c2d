/* canny: edges one pixel wide. */
#include "stencil/canny.h"

#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "stages/shared/launch_shapes.h"
#include "stages/shared/reduce/components.h"
#include "stages/shared/reduce/union_find.h"
#include "stages/shared/samples/one_channel.h"

enum { L1, L2 };
enum { PLANES = 2 };

typedef struct params {
    double low, high;
    int gradient;
} params;

static const smp_param table[] = {
    SMP_PARAM_FLOAT(low, FRACTION, 0, 128, "40%", "gradients up to here are not edges: 100cv is OpenCV's 100 of 8 bits",
                    SMP_P_MAIN | SMP_P_LEVEL),
    SMP_PARAM_FLOAT(high, FRACTION, 0, 128, "auto", "an edge has a gradient above this somewhere; auto: twice low",
                    SMP_P_AUTO | SMP_P_LEVEL),
    SMP_PARAM_ENUM(gradient, "l1", "l1: |dx| + |dy|; l2: the root of dx^2 + dy^2", 0, "l1", "l2"),
    {0},
};

static double high_of(const params *p)
{
    return isnan(p->high) ? 2 * p->low : p->high;
}

static smp_code check(const void *given, smp_error *err)
{
    const params *p = given;
    if (high_of(p) >= p->low)
        return SMP_OK;
    smp_fail(err, SMP_E_PIPE, "high is below low");
    return smp_hint(err, "write the smaller one first: canny 40%% high=80%%");
}

/* Returns the threshold of gradients. For 8 bits it is a whole number, as in OpenCV; a fraction such as 100/255 gives
 * the number that was meant. */
static float exceeded(double fraction, double white, int gradient)
{
    enum { MOST = 32767 /* OpenCV's, of l2 */ };
    const double meant = fraction * white, tiny = 1e-6 * white;
    double v = gradient == L2 && white == 255 ? fmin(meant, MOST) : meant;
    v = gradient == L2 ? v * v : v;
    return (float)(white == 255 ? floor(v + tiny * (gradient == L2 ? 1 + 2 * meant : 1)) : v);
}

/* The largest gradient of samples between black and white, in full scales. */
static double steepest(int gradient)
{
    return gradient == L2 ? sqrt(20) : 6;
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    const double white = (double)smp_white(in->format);
    smp_canny *k = SMP_PLAN_KERNEL(work, smp_canny);
    SMP_TRY(smp_one_channel(in, "canny", "write 'gray' before it", err));
    work->table.size = smp_union_find_plane(in);
    if (!work->table.size || !smp_union_find_place(in, PLANES, sizeof(uint64_t), &k->sets, work))
        return smp_fail(err, SMP_E_PIPE, "the picture is too large to find edges in");
    k->low = exceeded(p->low, white, p->gradient);
    k->high = exceeded(high_of(p), white, p->gradient);
    k->sets.near = 1;
    k->squares = p->gradient == L2;
    if (in->format != SMP_F32 && high_of(p) >= steepest(p->gradient))
        snprintf(work->effect.remark, sizeof work->effect.remark,
                 "no gradient is above high=%.4g%%: %.4g%% is the steepest; all is black", 100 * high_of(p),
                 100 * steepest(p->gradient));
    work->values.exactness = SMP_INTEGER;
    work->rows.up = work->rows.down = SMP_CANNY_REACH;
    work->ops = 40;
    return SMP_OK;
}

static bool any_set(const uint32_t *words, int64_t from, int64_t to)
{
    for (int64_t x = from; x < to; x += SMP_BITS_WORD - x % SMP_BITS_WORD) {
        const int64_t bit = x % SMP_BITS_WORD, n = smp_min_i64(to - x, SMP_BITS_WORD - bit);
        if (words[x / SMP_BITS_WORD] >> bit & (n == SMP_BITS_WORD ? UINT32_MAX : (1u << n) - 1))
            return true;
    }
    return false;
}

/* Keeps the components of candidates that have a seed, where the device did not. */
static smp_code finish(const void *, const smp_shape *in, const void *result, smp_node_plan *work, smp_measurements *,
                       smp_error *err)
{
    if (smp_union_find_found(&((const smp_canny *)(const void *)work->kernel.bytes)->sets, result))
        return SMP_OK;
    const int64_t words = smp_bits_words(in->width);
    const uint32_t *seeds = (const uint32_t *)result + in->height * words;
    smp_components found;
    smp_code code = smp_components_find(result, in->width, in->height, 8, work->reduction.threads, &found, err);
    bool *kept = code ? NULL : smp_alloc_array(found.count + 1, sizeof *kept);
    if (!code && !kept)
        code = smp_fail_memory(err, "edges", found.count);
    for (int pass = 0; !code && pass < 2; pass++)
        for (int64_t y = 0; y < in->height; y++)
            for (size_t i = found.first[y]; i < found.first[y + 1]; i++) {
                const smp_pixel_run *run = &found.runs[i];
                if (pass == 0)
                    kept[run->part] = kept[run->part] || any_set(seeds + y * words, run->from, run->to);
                else if (kept[run->part])
                    smp_bits_set((uint32_t *)work->table.data + y * words, run->from, run->to);
            }
    smp_free(kept);
    smp_components_free(&found);
    return code;
}

static void tiles_geometry(const smp_io *io, const void *, smp_grid *grid)
{
    static const smp_tiles shape = {SMP_CANNY_ACROSS, SMP_CANNY_DOWN, SMP_CANNY_ACROSS, SMP_CANNY_DOWN};
    const smp_io pixels = smp_grid_over_bits(io);
    smp_grid_sample_tiles(&pixels, &shape, grid);
}

#define KEEP                                                                                                           \
    SMP_UNION_FIND_FLATTEN, SMP_UNION_FIND_THEN(canny_mark, smp_geometry_union_find_words),                            \
        SMP_UNION_FIND_THEN(canny_keep, smp_geometry_union_find_words)

static const smp_variant reducers[] = {
    {SMP_RUNG(
        "naive", "the gradients of all neighbours anew for every pixel; on GPUs edges are joined in global memory",
        SMP_LAUNCH(canny_naive, .geometry = smp_geometry_bit_words),
        SMP_UNION_FIND_THEN(union_find_words_naive, smp_geometry_union_find_words), SMP_UNION_FIND_SEAMS(naive), KEEP)},
    {SMP_RUNG("tiled", "gradients once, rows in cache; on GPUs tiles in shared memory, also of edges that are joined",
              SMP_LAUNCH(canny_tiled, .geometry = tiles_geometry),
              SMP_UNION_FIND_THEN(union_find_words_tiled, smp_geometry_union_find_tiles), SMP_UNION_FIND_SEAMS(tiled),
              KEEP),
     .scratch = smp_canny_scratch},
    {0},
};

static const smp_variant variants[] = {
    {SMP_RUNG("naive", "a look-up a sample", SMP_LAUNCH_SAMPLES(bits_fill_naive))},
    {SMP_RUNG("tiled", "samples in vectors; on GPUs four a thread",
              SMP_LAUNCH(bits_fill_tiled, .tiles = SMP_BITS_TILES))},
    {0},
};

const smp_stage smp_stage_canny = {
    .name = "canny",
    .help = "edges one pixel wide, by gradients and hysteresis",
    .about =
        "Gradients by Sobel's 3 x 3, thinned to the largest across the edge. Of those above `low`, the ones that hang "
        "together by 8 neighbours with one above `high` are edges: full scale, all else 0. Levels are fractions of "
        "full scale that the gradient, up to 6 of them (l2: 4.47), must exceed; of 8 bits they are whole code values.\n"
        "Byte for byte OpenCV's Canny of 8 bits, with L2gradient for l2: cv2.Canny(a, 100, 200) is "
        "`canny 100cv high=200cv`. Other formats compute the same in f32. Blur first (`gaussian 1.4px`): noise has "
        "edges too. For pictures of one channel; alpha stays.",
    .example = "canny 20% high=60%",
    SMP_PLANNED(SMP_IMAGE, SMP_ADJUST, table, params, variants),
    .traits = SMP_TRAIT_PIXELS,
    .check = check,
    .reduction = SMP_REDUCTION(.finish = finish, .reducers = reducers),
    SMP_ALSO({"edgedetect edge cannyedges", "canny"}),
};
