/* fade on GPUs.
 *   naive  one sample a thread, a row of threads a frame.
 *   tiled  packed frames as one long row, four samples a thread a warp's width apart: four accesses in flight. */
#include "audio/fade.h"

#include "lib/gpu_kernel.h"

SMP_KERNEL(fade_naive_f32_f32, smp_fade, io, p)
{
    const int64_t n = io.out.width * io.out.channels;
    smp_each(io, n, [&](int64_t y, int64_t i) {
        smp_out<float>(io.out, y)[i] =
            smp_fade_sample(smp_in<float>(io.in, y)[i], smp_fade_factor(&p, y, io.in.height));
    });
}

/* Geometry: blocks of threads that take four samples each. Frames that are not packed are handled one by one. */
SMP_KERNEL(fade_tiled_f32_f32, smp_fade, io, p)
{
    enum { EACH = 4 };
    const int channels = (int)(io.out.width * io.out.channels);
    const int64_t n = io.out.rows * channels, block = (int64_t)blockDim.x * EACH;
    for (int64_t first = (int64_t)blockIdx.x * block + threadIdx.x; first < n; first += (int64_t)gridDim.x * block) {
        float v[EACH];
        int64_t row[EACH];
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            const int64_t i = first + (int64_t)k * blockDim.x;
            row[k] = i <= INT32_MAX ? (int64_t)((uint32_t)i / (uint32_t)channels) : i / channels;
            v[k] = i < n ? smp_in<float>(io.in, io.out.y0 + row[k])[i - row[k] * channels] : 0.f;
        }
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            const int64_t i = first + (int64_t)k * blockDim.x, y = io.out.y0 + row[k];
            if (i < n)
                smp_out<float>(io.out, y)[i - row[k] * channels] =
                    smp_fade_sample(v[k], smp_fade_factor(&p, y, io.in.height));
        }
    }
}
