/* See morphology.h. */
#include "stages/shared/stencil/morphology.h"

#include "stages/shared/launch_shapes.h"

const char *const smp_shape_names[] = {"square", "disk", "diamond", "cross", NULL};

const smp_param smp_morph_rows[] = {
    SMP_MORPH_TABLE(SMP_P_MAIN),
    {0},
};

static bool given(int64_t v)
{
    return v != INT64_MIN;
}

smp_code smp_morph_check(const void *params, smp_error *err)
{
    const smp_morph_params *p = params;
    const bool sides = given(p->width) || given(p->height);
    if (given(p->size) == sides)
        return smp_fail(err, SMP_E_PIPE, sides ? "the size is given twice" : "a size is needed"),
               smp_hint(err, "write the side of the shape, as 15px, or width=15px height=3px");
    if (sides && p->shape != SMP_SHAPE_SQUARE)
        return smp_fail(err, SMP_E_PIPE, "a %s has a size; width and height are for rectangles",
                        smp_shape_names[p->shape]);
    return SMP_OK;
}

void smp_morph_plan(const smp_morph_params *p, int op, smp_node_plan *work)
{
    const int64_t width = given(p->size) ? p->size : given(p->width) ? p->width : 1;
    const int64_t height = given(p->size) ? p->size : given(p->height) ? p->height : 1;
    const smp_morph m = {.op = op,
                         .rx = (int32_t)(width / 2),
                         .ry = (int32_t)(height / 2),
                         .shape = p->shape,
                         .edge = p->edge,
                         .fill = (float)p->fill};
    smp_plan_kernel(work, &m, sizeof m);
    work->effect.none = width == 1 && height == 1 && op <= SMP_MORPH_CLOSE;
    work->values.exactness = SMP_INTEGER;
    work->rows.up = work->rows.down = m.ry * (op < SMP_MORPH_OPEN ? 1 : 2);
    work->rows.whole = p->edge == SMP_WRAP;
    work->ops = op < SMP_MORPH_OPEN ? 6 : 12;
}

static size_t bytes(const smp_io *io, const void *kernel)
{
    return smp_morph_scratch(kernel, io->in.channels);
}

static bool tiles(const smp_io *io, const smp_morph *m, smp_grid *grid)
{
    static const smp_tiles shape = {SMP_MORPH_ACROSS, SMP_MORPH_DOWN, 32, 8};
    smp_grid_sample_tiles(io, &shape, grid);
    grid->shared_bytes = smp_morph_shared(m, io->in.channels);
    return grid->shared_bytes > 0;
}

#define DECIDE(launch)                                                                                                 \
    static const char *launch##_tiled(const smp_io *io, const void *kernel, smp_grid *grid)                            \
    {                                                                                                                  \
        return tiles(io, kernel, grid) ? "morph_" #launch "_tiled" : NULL;                                             \
    }                                                                                                                  \
    static const char *launch##_vhgw(const smp_io *io, const void *kernel, smp_grid *grid)                             \
    {                                                                                                                  \
        const smp_morph *m = kernel;                                                                                   \
        return m->shape == SMP_SHAPE_SQUARE && tiles(io, m, grid) ? "morph_" #launch "_vhgw" : NULL;                   \
    }
DECIDE(only)
DECIDE(first)
DECIDE(last)

#define LAUNCH(from_, to_, launch, rung, ...)                                                                          \
    {                                                                                                                  \
        .from = from_, .to = to_, .cpu = SMP_CPU(morph_##launch##_##rung), __VA_ARGS__                                 \
    }
#define ONE(rung, gpu)                                                                                                 \
    {                                                                                                                  \
        LAUNCH(SMP_IN, SMP_OUT, only, rung, gpu(only))                                                                 \
    }
#define TWO(rung, gpu)                                                                                                 \
    {                                                                                                                  \
        LAUNCH(SMP_IN, SMP_SCRATCH, first, rung, gpu(first)), LAUNCH(SMP_SCRATCH, SMP_OUT, last, rung, gpu(last))      \
    }
#define NAIVE(launch) .cuda = "morph_" #launch "_naive"
#define TILED(launch) .decide = launch##_tiled
#define VHGW(launch)  .decide = launch##_vhgw
#define VARIANTS(PASSES)                                                                                               \
    {                                                                                                                  \
        {.name = "naive", .help = "every sample of every window", .launches = PASSES(naive, NAIVE)},                   \
            {.name = "tiled",                                                                                          \
             .help = "rows in cache, or a tile in shared memory: rectangles by doubling, other shapes by chords",      \
             .launches = PASSES(tiled, TILED),                                                                         \
             .scratch = bytes},                                                                                        \
            {.name = "vhgw",                                                                                           \
             .help = "GPU: rectangles by prefix and suffix minima of blocks, three operations a sample",               \
             .launches = PASSES(tiled, VHGW),                                                                          \
             .scratch = bytes},                                                                                        \
            {0},                                                                                                       \
    }
const smp_variant smp_morph_one_pass[] = VARIANTS(ONE);
const smp_variant smp_morph_two_passes[] = VARIANTS(TWO);
