/* What the stages on windows of samples share: see window_plan.h. */
#include "stages/shared/stencil/window_plan.h"

#include <string.h>

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

const smp_tiles smp_window_tiles = SMP_WINDOW_TILES;
