/* declip: what was cut off comes back. */
#include "audio/declip.h"

#include <math.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "stages/shared/launch_shapes.h"

typedef struct params {
    double level;
} params;

static const smp_param table[] = {
    SMP_PARAM_FLOAT(level, DB, -60, 0, "-0.1dB", "samples that reach it were cut off", SMP_P_MAIN),
    {0},
};

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const double pi = 3.14159265358979323846;
    *SMP_PLAN_KERNEL(work, smp_declip) = (smp_declip){.level = (float)pow(10, ((const params *)given)->level / 20)};
    work->rows.up = smp_min_i64(SMP_DECLIP_SIDE, in->height);
    work->rows.down = smp_min_i64(SMP_DECLIP_SIDE + SMP_DECLIP_BLOCK, in->height);
    work->rows.unit = SMP_DECLIP_BLOCK;
    work->values.clips = true;
    work->ops = 100;
    work->table.size = SMP_DECLIP_SIZE * sizeof(double);
    double *to = work->table.data = smp_alloc(work->table.size);
    SMP_NEED(to, "the window of a sound", work->table.size, err);
    for (int i = 0; i < SMP_DECLIP_SIZE; i++)
        to[i] = pow(sin(pi * (i + 0.5) / SMP_DECLIP_SIZE), 2);
    return SMP_OK;
}

static void geometry(const smp_io *io, const void *, smp_grid *grid)
{
    enum { WARP = 32 };
    const int64_t blocks = (io->out.rows + SMP_DECLIP_BLOCK - 1) / SMP_DECLIP_BLOCK;
    smp_grid_line(blocks * io->out.channels, 1, WARP, grid);
    grid->shared_bytes = sizeof(smp_declip_work);
}

static size_t scratch(const smp_io *, const void *)
{
    return sizeof(smp_declip_work);
}

static const smp_variant variants[] = {
    {SMP_RUNG("naive", "window after window; on GPUs a warp each, in shared memory",
              SMP_LAUNCH(declip_naive, .geometry = geometry)),
     .scratch = scratch, .band = SMP_DECLIP_BLOCK},
    {0},
};

const smp_stage smp_stage_declip = {
    .name = "declip",
    .help = "mend samples that were cut off",
    .about = "Samples that reach `level` are made anew, as the sound around goes on: by an autoregressive model of 20 "
             "numbers of the 768 samples around each block of 256 (Janssen, Veldhuis and Vries, 1986), three times "
             "over. They lie between once and four times the level, on the side where they were; all others stay. What "
             "comes back passes full scale: put `gain -6dB` or `normalize -1dBFS` behind it. Where a recording was "
             "turned down after it was clipped, `stats` tells its peak, the level to give. Each channel by itself.",
    .example = "declip -12dB",
    SMP_PLANNED(SMP_AUDIO, SMP_STENCIL, table, params, variants),
    SMP_ALSO({"adeclip clipfix clip-fix", "declip"}),
};
