/* Shared by stages on windows of samples: see window_plan.h. */
#include "stages/shared/stencil/window_plan.h"

#include <string.h>

void smp_window_plan(const void *kernel, size_t size, smp_node_plan *work)
{
    const smp_window *window = kernel;
    memcpy(work->kernel.bytes, kernel, size);
    work->kernel.size = size;
    work->rows.up = work->rows.down = window->size / 2;
    work->rows.whole = window->edge == SMP_WRAP;
}

size_t smp_window_bytes(const smp_io *io, const void *kernel)
{
    return smp_window_scratch(kernel, io->in.channels);
}

const smp_tiles smp_window_tiles = SMP_WINDOW_TILES;
