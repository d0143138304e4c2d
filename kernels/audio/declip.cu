/* declip on GPUs: a warp has a window in shared memory, whose loops its lanes share out. */
#include "lib/gpu_kernel.h"

#include "audio/declip.h"

/* Geometry: a block of one warp for a channel of 256 frames. */
SMP_KERNEL(declip_naive_f32_f32, smp_declip, io, p)
{
    SMP_SMEM_DYNAMIC(smp_declip_work, w);
    const int channels = io.in.channels, c = (int)(blockIdx.x % (unsigned)channels), me = (int)threadIdx.x;
    const int64_t block = io.out.y0 + (int64_t)(blockIdx.x / (unsigned)channels) * SMP_DECLIP_BLOCK;
    const int64_t end = min(block + SMP_DECLIP_BLOCK, io.out.y0 + io.out.rows);
    const int mended = smp_declip_window(w, &p, &io.in, static_cast<const double *>(io.table), block, c, me, 32);
    for (int64_t y = block + me; y < end; y += 32) {
        const float v = smp_in<float>(io.in, y)[c];
        const float made = mended && smp_clipped(&p, v) ? (float)w->x[y - block + SMP_DECLIP_SIDE] : v;
        smp_out<float>(io.out, y)[c] = smp_one_nan(made);
    }
}
