/* trim on the CPU.
 *   naive  sample by sample.
 *   tiled  packed rows in one copy. */
#include <string.h>

#include "audio/trim.h"
#include "lib/elementwise.h"

SMP_CPU_KERNEL(trim_naive)
{
    (void)scratch;
    const smp_io moved = smp_trim_io(io, params);
    for (int64_t y = y0; y < y1; y++)
        for (int64_t i = 0; i < io->out.width * io->out.channels; i++)
            ((float *)smp_row(&io->out, y))[i] = ((const float *)smp_row(&moved.in, y))[i];
}

SMP_CPU_KERNEL(trim_tiled)
{
    (void)scratch;
    const smp_io moved = smp_trim_io(io, params);
    const int64_t rows = smp_joined_rows(&moved, y0, y1);
    const size_t bytes = (size_t)(io->out.width * io->out.channels * rows) * sizeof(float);
    for (int64_t y = y0; y < y1; y += rows)
        memcpy(smp_row(&io->out, y), smp_row(&moved.in, y), bytes);
}
