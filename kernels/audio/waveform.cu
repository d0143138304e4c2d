/* waveform on GPUs. A row of what is found is a column of the picture: least and most of each channel.
 *   naive  a thread a column and channel: neighbouring lanes read far apart.
 *   tiled  a block a column and channel: neighbouring lanes read neighbouring frames, then a tree in shared memory. */
#include "audio/waveform.h"

#include "lib/gpu_kernel.h"

SMP_DEVICE void waveform_put(const smp_io &io, int64_t x, int c, float least, float most)
{
    float *const to = smp_out<float>(io.out, x) + 2 * c;
    to[0] = smp_waveform_found(least, least, most);
    to[1] = smp_waveform_found(most, least, most);
}

/* Geometry: a thread a column (x) and channel (y). */
SMP_KERNEL(waveform_naive_f32_f32, smp_waveform, io, p)
{
    const int64_t x = io.out.y0 + (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int c = (int)blockIdx.y;
    if (x >= io.out.y0 + io.out.rows)
        return;
    float least = INFINITY, most = -INFINITY;
    for (int64_t y = smp_waveform_from(&p, x); y < smp_waveform_to(&p, x); y++)
        smp_waveform_widen(&least, &most, smp_in<float>(io.in, y)[c]);
    waveform_put(io, x, c, least, most);
}

struct waveform_found {
    float least[SMP_WAVEFORM_THREADS], most[SMP_WAVEFORM_THREADS];
};

/* Geometry: a block of SMP_WAVEFORM_THREADS a column (x) and channel (y). */
SMP_KERNEL(waveform_tiled_f32_f32, smp_waveform, io, p)
{
    SMP_SHARED(waveform_found, s);
    const int c = (int)blockIdx.y, me = (int)threadIdx.x;
    const int64_t x = io.out.y0 + blockIdx.x;
    float least = INFINITY, most = -INFINITY;
    for (int64_t y = smp_waveform_from(&p, x) + me; y < smp_waveform_to(&p, x); y += SMP_WAVEFORM_THREADS)
        smp_waveform_widen(&least, &most, smp_in<float>(io.in, y)[c]);
    s.least[me] = least;
    s.most[me] = most;
    for (int step = SMP_WAVEFORM_THREADS / 2; step; step /= 2) {
        __syncthreads();
        if (me < step) {
            s.least[me] = least = s.least[me + step] < least ? s.least[me + step] : least;
            s.most[me] = most = s.most[me + step] > most ? s.most[me + step] : most;
        }
    }
    if (me == 0)
        waveform_put(io, x, c, least, most);
}

template <typename IN, typename OUT> SMP_DEVICE void waveform_draw(const smp_io &io, const smp_waveform &p)
{
    smp_each(io, io.out.width, [&](int64_t y, int64_t x) {
        const IN *found = smp_in<IN>(io.in, x) + 2 * (y / p.rows);
        const bool drawn = smp_waveform_drawn(&p, found[0], found[1], y % p.rows);
        for (int i = 0; i < p.colors; i++)
            smp_out<OUT>(io.out, y)[x * p.colors + i] = smp_rounded<OUT>(drawn ? p.on[i] : p.off[i]);
    });
}
SMP_KERNEL_PAIR_(waveform_draw, f32, float, u8, uint8_t, smp_waveform)
SMP_KERNEL_PAIR_(waveform_draw, f32, float, f32, float, smp_waveform)
