/* box: mean of a square. */
#include "stencil/box.h"

#include <string.h>

#include "stages/shared/stencil_launch.h"
#include "stages/stage.h"

typedef struct box_params {
    int64_t size;
    double fill;
    int edge;
} box_params;

static const smp_param params[] = {
    {"size", offsetof(box_params, size), SMP_T_INT, SMP_UNIT_PX, 1, SMP_BOX_MAX, NULL,
     "side of the square; 1 changes nothing", NULL, SMP_P_MAIN | SMP_P_REQUIRED},
    {"edge", offsetof(box_params, edge), SMP_T_ENUM, SMP_UNIT_NONE, 0, 0, "clamp", "what lies outside the picture",
     smp_edge_names, 0},
    {"fill", offsetof(box_params, fill), SMP_T_FLOAT, SMP_UNIT_FRACTION, 0, 1, "0",
     "the value outside with edge=constant", NULL, 0},
    {0},
};

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *by, smp_node_plan *work, smp_error *err)
{
    const box_params *p = given;
    (void)in, (void)by, (void)err;
    if (p->size <= 1) {
        work->nothing = true;
        return SMP_OK;
    }
    smp_box box = {.size = (int32_t)p->size, .edge = p->edge, .fill = (float)p->fill};
    memcpy(work->kernel, &box, sizeof box);
    work->kernel_size = sizeof box;
    work->reach_up = smp_stencil_reach(smp_box_before(&box), smp_box_after(&box), p->edge);
    work->reach_down = smp_stencil_reach(smp_box_after(&box), smp_box_before(&box), p->edge);
    work->whole = p->edge == SMP_WRAP;
    for (int32_t length = 1; length < box.size; length *= 2) /* a doubling, and the sum of blocks, in each pass */
        work->ops += 2 + (box.size & length ? 2 : 0);
    work->ops += 1;
    return SMP_OK;
}

static size_t scratch(const smp_io *io, const void *kernel)
{
    const smp_box *box = kernel;
    return smp_box_scratch(box->size, io->in.channels);
}

static const char *fused(const smp_io *io, const void *kernel)
{
#define WARP(SIZE)                                                                                                     \
    {                                                                                                                  \
        "box_warp" #SIZE "_1", NULL, "box_warp" #SIZE "_3", "box_warp" #SIZE "_4"                                      \
    }
    static const char *const names[SMP_BOX_WARP_SIZE / 2][4] = {WARP(3),  WARP(5),  WARP(7), WARP(9),
                                                                WARP(11), WARP(13), WARP(15)};
#undef WARP
    const smp_box *box = kernel;
    return smp_box_warp(box, io) ? names[box->size / 2 - 1][io->in.channels - 1] : NULL;
}
/* The two launches are for what that one does not take; each sees one side of the stage as `by`. */
static const char *rows(const smp_io *io, const void *kernel)
{
    smp_io whole = *io;
    whole.out.format = io->second.data ? io->second.format : io->out.format;
    return smp_box_warp(kernel, &whole) ? NULL : "box_rows_tiled";
}
static const char *columns(const smp_io *io, const void *kernel)
{
    smp_io whole = *io;
    whole.in.format = io->second.data ? io->second.format : io->in.format;
    return smp_box_warp(kernel, &whole) ? NULL : "box_columns_tiled";
}

static const smp_variant variants[] = {
    {.name = "naive",
     .help = "row sums into an f32 picture, column sums out of it",
     .launches = {{.from = SMP_IN, .to = SMP_SCRATCH, .cpu = SMP_CPU(box_rows), .cuda = "box_rows"},
                  {.from = SMP_SCRATCH, .to = SMP_OUT, .cpu = SMP_CPU(box_columns), .cuda = "box_columns"}}},
    {.name = "tiled",
     .help = "windows double in log2(size) passes over what is in cache, or in shared memory; CPU: rows and columns in "
             "one walk",
     .launches =
         {{.from = SMP_IN, .to = SMP_OUT, .cpu = SMP_CPU(box_tiled)},
          {.from = SMP_IN, .to = SMP_SCRATCH, .cuda = "box_rows_tiled", .geometry = smp_geometry_box_rows},
          {.from = SMP_SCRATCH, .to = SMP_OUT, .cuda = "box_columns_tiled", .geometry = smp_geometry_box_columns}},
     .scratch = scratch,
     .band = 16},
    {.name = "fused",
     .help =
         "GPU, 8 bits, odd sizes up to 15: one kernel that marches down strips with running sums; others and CPU as "
         "tiled",
     .launches = {{.from = SMP_IN,
                   .to = SMP_OUT,
                   .cpu = SMP_CPU(box_tiled),
                   .cuda = "box_warp3_1",
                   .choose = fused,
                   .geometry = smp_geometry_box_warp},
                  {.from = SMP_IN,
                   .to = SMP_SCRATCH,
                   .cuda = "box_rows_tiled",
                   .choose = rows,
                   .geometry = smp_geometry_box_rows},
                  {.from = SMP_SCRATCH,
                   .to = SMP_OUT,
                   .cuda = "box_columns_tiled",
                   .choose = columns,
                   .geometry = smp_geometry_box_columns}},
     .scratch = scratch,
     .band = 16},
    {0},
};

const smp_stage smp_stage_box = {
    .name = "box",
    .help = "mean of a square of size x size pixels",
    .about =
        "out = sum of the square / size^2. An even square reaches one pixel further up and left, as in "
        "scipy.ndimage.uniform_filter. Rows are summed first, then columns, in f32: a window is cut into blocks "
        "whose lengths are the powers of two in its size, the shortest first, each added in pairs; sums of integers "
        "are exact up to 2^24 (8-bit pictures: size 256), and the mean is one division.\n"
        "Alpha is averaged like a colour; colour is premultiplied.",
    .example = "box 5px",
    .domain = SMP_IMAGE,
    .access = SMP_STENCIL,
    .neighbourhood = true,
    .params = params,
    .params_size = sizeof(box_params),
    .plan = plan,
    .variants = variants,
    .aliases = (const smp_alias[]){{"boxblur", "box"},
                                   {"box_blur", "box"},
                                   {"mean", "box"},
                                   {"average", "box"},
                                   {"avgblur", "box"},
                                   {"uniform_filter", "box"},
                                   {0}},
};
