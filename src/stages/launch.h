/* Launches, and the rungs of a ladder that they make up: which kernel, over which grid, from which picture to which. */
#pragma once

#include <stdbool.h>

#include "lib/cpu_kernel.h"
#include "lib/view.h"

struct smp_foreign;

enum { SMP_MAX_LAUNCHES = 9 }; /* of a variant */
/* Places that a launch reads and writes. The scratch picture has the input's rows, the output's width and channels, and
 * f32 samples; or the shape that the plan says (smp_node_plan.between), all rows of it for every launch. SMP_SECOND: a
 * reduction's second picture, SMP_P_ANYSIZE, in place of the input; such a launch is `once`. From SMP_OUT: a launch
 * over the scratch picture that asks what of the output is made. */
typedef enum smp_place { SMP_IN, SMP_OUT, SMP_SCRATCH, SMP_SECOND } smp_place;

typedef struct smp_grid {
    unsigned grid[3], block[3];
    unsigned shared_bytes; /* dynamic shared memory */
    unsigned units;        /* set before a geometry is asked, 0 where no device is known: the device's SMs */
    unsigned shared_most;  /* the same: bytes of shared memory that a block may have */
    unsigned blocks_most;  /* the same: blocks that a grid may have in y and z; 0: SMP_GRID_MOST */
    smp_strips strips;     /* for smp_io, from geometries whose kernels read it */
} smp_grid;

/* The commonest grid: blocks over tiles of the output. Kernels stride by the grid where it has fewer blocks than there
 * are tiles (GPUs count to 65535 in y). */
typedef struct smp_tiles {
    int across, down;     /* of a tile: samples (pixels times channels), rows; across 0: there are no tiles */
    int block_x, block_y; /* threads of a block */
} smp_tiles;

/* Grid, block and dynamic shared memory for these views; params is the kernel parameter struct. */
typedef void smp_geometry_fn(const smp_io *io, const void *params, smp_grid *grid);

/* For a launch whose GPU kernel depends on the work: fills the grid and returns the kernel's name, without formats.
 * Null: this variant does not serve the work, and the one before it in the list runs instead. Looks at formats,
 * channels, parameters and where rows begin, so that all strips of a run, which begin alike, have the same kernel. */
typedef const char *smp_decide_fn(const smp_io *io, const void *params, smp_grid *grid);
#define SMP_NO_KERNEL "" /* in place of a name: the work needs no such launch, and none is made */

/* A launch names its GPU kernel and its grid: with `decide`; or with the name `cuda` and one of `tiles`, `geometry`,
 * and neither, which is smp_geometry_samples (stages/shared/launch_shapes.h). */
typedef struct smp_launch {
    smp_place from, to;
    smp_cpu_kernel cpu;
    const char *cuda; /* name of the GPU kernel; formats are appended: NAME_u8_f32 (in, out) */
    smp_geometry_fn *geometry;
    bool counts; /* of a variant with launches for both kinds of result: this one adds to the counts */
    smp_tiles tiles;
    smp_decide_fn *decide;
    bool once; /* of a stage that needs its whole input and has `between`, or from SMP_SECOND: runs before the first
                  strip alone */
    bool last; /* of a reduction with `between`: runs once all rows are through the launches before it, from the first
                  on, and not where only some of a picture's rows are launched */
    /* CPU: how many things threads share out, where it is not the rows that the launch writes; the kernel gets numbers
     * of things in place of rows. May be null. */
    int64_t (*items)(const smp_io *io, const void *params);
    const struct smp_foreign *foreign; /* a kernel that is not this program's, instead of all that (foreign.h) */
} smp_launch;

/* Launches by the kernels NAME of a CPU and of GPUs, over the grid that follows the name; _AS: where the GPU's kernel
 * has another name, with .cuda or .decide behind it. The commonest go from the input to the output; _SAMPLES: a thread
 * a sample. The first two are an smp_place without its SMP_. */
#define SMP_LAUNCH_OVER_AS(from_, to_, name, ...)                                                                      \
    {                                                                                                                  \
        .from = SMP_##from_, .to = SMP_##to_, .cpu = SMP_CPU(name), __VA_ARGS__                                        \
    }
#define SMP_LAUNCH_OVER(from_, to_, name, ...) SMP_LAUNCH_OVER_AS(from_, to_, name, .cuda = #name, __VA_ARGS__)
#define SMP_LAUNCH_AS(name, ...)               SMP_LAUNCH_OVER_AS(IN, OUT, name, __VA_ARGS__)
#define SMP_LAUNCH(name, ...)                  SMP_LAUNCH_OVER_AS(IN, OUT, name, .cuda = #name, __VA_ARGS__)
#define SMP_LAUNCH_SAMPLES(name)               SMP_LAUNCH_OVER_AS(IN, OUT, name, .cuda = #name)

/* Whether a launch runs on this kind of device: one that has a kernel for one kind only is passed over on the other, so
 * that a variant may be one launch on a CPU and two on a GPU. */
static inline bool smp_launch_runs(const smp_launch *launch, bool gpu)
{
    return launch->foreign || (gpu ? launch->cuda || launch->decide : launch->cpu.fn[0] != NULL);
}

/* A rung of a stage's ladder. One name means the same in every stage: kernels/README.md has the list.
 * On a CPU, rungs for GPUs are the same as tiled. A GPU runs the rung below where one does not serve the work: see
 * smp_decide_fn. */
typedef struct smp_variant {
    const char *name;
    const char *help;                      /* one line: what it changes and what that costs */
    smp_launch launches[SMP_MAX_LAUNCHES]; /* in order; see smp_launch_runs */
    /* Bytes of scratch memory a CPU thread needs for one call; null: none. */
    size_t (*scratch)(const smp_io *io, const void *params);
    int64_t band; /* CPU: rows a thread takes are a multiple of this (0: any) */
} smp_variant;

/* The fields of a rung: its name and help, then its launches. */
#define SMP_RUNG(name_, help_, ...) .name = (name_), .help = (help_), .launches = {__VA_ARGS__}

size_t smp_variant_count(const smp_variant *variants);
const smp_variant *smp_variant_find(const smp_variant *variants, const char *name);

/* The variant that a GPU runs where `variant` is asked for: itself, or the nearest before it in its stage's list that
 * serves the work. io: the stage's views, without its scratch picture. known: units, shared_most and blocks_most of the
 * device; zeroed where there is none, which is taken to have enough shared memory. (So a variant that falls back for
 * want of shared memory falls to one with the same use of the scratch picture.) */
const smp_variant *smp_variant_serving(const smp_variant *variant, const smp_io *io, const void *params,
                                       const smp_grid *known);

/* The launch's GPU kernel, without formats, and its grid, in which units, shared_most and blocks_most are set as above.
 * Null: its variant does not serve the work. */
const char *smp_launch_decide(const smp_launch *launch, const smp_io *io, const void *params, smp_grid *grid);

/* Whether a block may have the shared memory that *wanted asks for, on a device as described above. */
bool smp_grid_fits(const smp_grid *wanted, const smp_grid *known);
