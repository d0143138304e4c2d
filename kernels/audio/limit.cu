/* limit, compress and gate on GPUs, in two launches.
 *   release  a thread follows the gains of a segment of frames, from `back` frames before it on, and writes r to the
 *            scratch picture's first channel; integers below 2^24 are exact in f32.
 *   naive    every frame takes its minima and its sum from device memory; a minimum anew where the least value left.
 *   tiled    a block brings r of its frames and of those around them into shared memory, makes each h once, then the
 *            sums: neighbouring lanes read neighbouring words, no conflicts. */
#include "audio/limit.h"

#include "lib/gpu_kernel.h"

/* Geometry: a thread a segment of the frames that the second launch reads. io.second: its output. */
SMP_KERNEL(limit_release_f32_f32, smp_limit, io, p)
{
    const int64_t from = max(io.second.y0 - p.ahead, (int64_t)0),
                  end = min(io.second.y0 + io.second.rows + p.ahead, io.in.height),
                  first = from + ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * SMP_LIMIT_SEGMENT,
                  to = min(first + SMP_LIMIT_SEGMENT, end);
    int32_t r = 0;
    if (first >= end)
        return;
    for (int64_t y = max(first - p.back, (int64_t)0); y < to; y++) {
        r = smp_limit_release(&p, r, smp_limit_wish(&p, smp_limit_peak(&p, &io.in, y)));
        if (y >= first)
            smp_out<float>(io.out, y)[0] = (float)r;
    }
}

/* r of any frame; behind the sound gains go on rising. */
SMP_DEVICE int32_t limit_at(const smp_io &io, const smp_limit &p, int64_t y)
{
    if (y < 0)
        return 0;
    const int64_t last = io.in.height - 1, behind = y > last ? y - last : 0;
    const int64_t r = (int64_t)smp_in<float>(io.in, y - behind)[0] + behind * p.rise;
    return r < 0 ? (int32_t)r : 0;
}

SMP_DEVICE void limit_put(const smp_io &io, const smp_limit &p, int64_t y, int64_t sum)
{
    const float factor = smp_limit_factor(&p, (int32_t)(sum >> 16));
    for (int c = 0; c < io.out.channels; c++)
        smp_out<float>(io.out, y)[c] = smp_one_nan(smp_in<float>(io.second, y)[c] * factor);
}

/* Geometry: a thread a frame. io.second: the sound. */
SMP_KERNEL(limit_naive_f32_f32, smp_limit, io, p)
{
    const int32_t *const weights = static_cast<const int32_t *>(io.table);
    const int64_t y = io.out.y0 + (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (y >= io.out.y0 + io.out.rows)
        return;
    int64_t sum = 0;
    int32_t h = 0;
    for (int k = 0; k <= p.ahead; k++) {
        const int32_t next = limit_at(io, p, y - k);
        const bool left = next > h && limit_at(io, p, y - k + p.window + 1) == h; /* the least one perhaps */
        h = left ? 0 : min(h, next);
        for (int i = 0; (left || k == 0) && i <= p.window; i++)
            h = min(h, limit_at(io, p, y - k + i));
        sum += (int64_t)weights[k] * h;
    }
    limit_put(io, p, y, sum);
}

/* Geometry: a block of SMP_LIMIT_TILE threads for as many frames; dynamic shared memory for r and h. */
SMP_KERNEL(limit_tiled_f32_f32, smp_limit, io, p)
{
    SMP_SMEM_DYNAMIC(int32_t, s);
    const int32_t *const weights = static_cast<const int32_t *>(io.table);
    const int me = (int)threadIdx.x, frames = SMP_LIMIT_TILE + p.ahead;
    int32_t *const h = s + frames + p.ahead; /* that of frame top - ahead + i */
    const int64_t end = io.out.y0 + io.out.rows;
    const int64_t top = io.out.y0 + (int64_t)blockIdx.x * SMP_LIMIT_TILE;
    const int used = (int)min((int64_t)SMP_LIMIT_TILE, end - top) + p.ahead;
    for (int i = me; i < used + p.ahead; i += SMP_LIMIT_TILE)
        s[i] = limit_at(io, p, top - p.ahead + i);
    __syncthreads();
    for (int i = me; i < used; i += SMP_LIMIT_TILE) {
        int32_t least = 0;
        for (int k = 0; k <= p.window; k++)
            least = min(least, s[i + k]);
        h[i] = least;
    }
    __syncthreads();
    if (top + me < end) {
        int64_t sum = 0;
        for (int k = 0; k <= p.ahead; k++)
            sum += (int64_t)weights[k] * h[me + p.ahead - k];
        limit_put(io, p, top + me, sum);
    }
}
