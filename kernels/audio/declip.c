/* declip on the CPU: window after window. */
#include "audio/declip.h"

SMP_CPU_KERNEL(declip_naive)
{
    const smp_declip *p = params;
    smp_declip_work *w = scratch;
    for (int64_t block = y0; block < y1; block += SMP_DECLIP_BLOCK)
        for (int c = 0; c < io->in.channels; c++) {
            const int mended = smp_declip_window(w, p, &io->in, io->table, block, c, 0, 1);
            for (int64_t y = block; y < y1 && y < block + SMP_DECLIP_BLOCK; y++) {
                const float v = ((const float *)smp_row(&io->in, y))[c];
                const float made = mended && smp_clipped(p, v) ? (float)w->x[y - block + SMP_DECLIP_SIDE] : v;
                ((float *)smp_row(&io->out, y))[c] = smp_one_nan(made);
            }
        }
}
