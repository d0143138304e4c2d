/* Streams on the CPU. Rows y0 .. y1-1 are packed, so that a thread's share is one copy, for which the C library uses
 * non-temporal stores where it is long. read keeps a sum a row, so that no load is dropped. */
#include "bench/bench.h"

#include <string.h>

SMP_CPU_KERNEL(bench_copy)
{
    memcpy(smp_row(&io->out, y0), smp_row(&io->in, y0), (size_t)((y1 - y0) * io->out.stride));
}

SMP_CPU_KERNEL(bench_read)
{
    for (int64_t y = y0; y < y1; y++) {
        const uint32_t *row = smp_row(&io->in, y);
        uint32_t sum = 0;
        for (int64_t i = 0; i < io->in.stride / 4; i++)
            sum += row[i];
        *(uint32_t *)smp_row(&io->out, y) = sum;
    }
}

SMP_CPU_KERNEL(bench_write)
{
    memset(smp_row(&io->out, y0), 0x5a, (size_t)((y1 - y0) * io->out.stride));
}

SMP_CPU_KERNEL(bench_nothing)
{
    (void)io, (void)y0, (void)y1;
}
