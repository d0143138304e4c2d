/* What the stages on windows of samples share: see window_plan.h. */
#include "stages/shared/window_plan.h"

#include <string.h>

#include "base/checked.h"
#include "stages/shared/launch_shapes.h"

void smp_window_plan(const void *kernel, size_t size, smp_node_plan *work)
{
    const smp_window *window = kernel;
    memcpy(work->kernel, kernel, size);
    work->kernel_size = size;
    work->reach_up = work->reach_down = window->size / 2;
    work->whole = window->edge == SMP_WRAP;
}

size_t smp_window_bytes(const smp_io *io, const void *kernel)
{
    return smp_window_scratch(kernel, io->in.channels);
}

void smp_geometry_window(const smp_io *io, const void *kernel, smp_grid *grid)
{
    const int64_t n = io->out.width * io->out.channels;
    (void)kernel;
    *grid = (smp_grid){
        .grid = {(unsigned)smp_clamp_i64((n + SMP_WINDOW_ACROSS - 1) / SMP_WINDOW_ACROSS, 1, INT32_MAX),
                 (unsigned)smp_clamp_i64((io->out.rows + SMP_WINDOW_DOWN - 1) / SMP_WINDOW_DOWN, 1,
                                         smp_grid_most(grid)),
                 1},
        .block = {32, SMP_WINDOW_DOWN / SMP_WINDOW_EACH, 1},
    };
}
