/* fir on GPUs: one channel a block.
 *   naive     a global read for every tap of every sample; caches serve most of them, but each costs an instruction.
 *   tiled     the frames that a block wants, and 256 taps at a time, in shared memory: two reads of it an operation, of
 *             which the tap is a broadcast. Shared memory is the bound.
 *   register  a thread has eight results, 32 frames apart, as the definition's order is made for: for eight taps it
 *             reads fifteen samples and two quads of taps, and does 64 operations. Lanes read neighbouring words: no conflicts.
 *             Arithmetic is nearly the bound. */
#include "fir.h"

#include "smp_kernel.h"

/* Sample of frame y; 0 outside of the sound, and of the strip: a tile reaches past what its results want. */
SMP_DEVICE float fir_at(const smp_view &in, int64_t y, int channel)
{
    return y >= in.y0 && y < in.y0 + in.rows ? smp_in<float>(in, y)[channel] : 0.f;
}

/* ---------------------------------------------------------------------------------------------- naive */

SMP_KERNEL(fir_naive_f32_f32, smp_fir, io, p)
{
    const float *k = static_cast<const float *>(io.table);
    const int64_t end = io.out.y0 + io.out.rows;
    for (int64_t y = io.out.y0 + (int64_t)blockIdx.y * blockDim.y + threadIdx.y; y < end;
         y += (int64_t)gridDim.y * blockDim.y)
        for (int c = (int)(blockIdx.x * blockDim.x + threadIdx.x); c < io.in.channels; c += (int)(gridDim.x * blockDim.x)) {
            float s = 0.f;
            for (int b = 0; b < p.taps; b += SMP_FIR_BLOCK)
                for (int j = 0; j < SMP_FIR_APART; j++)
                    for (int i = b + j; i < b + SMP_FIR_BLOCK && i < p.taps; i += SMP_FIR_APART)
                        s = smp_fir_tap(s, k[i], fir_at(io.in, y - p.before + i, c));
            smp_out<float>(io.out, y)[c] = smp_one_nan(s);
        }
}

/* ---------------------------------------------------------------------------------------------- tiled */

struct fir_tile {
    float x[SMP_FIR_TILE + SMP_FIR_BLOCK];
    float k[SMP_FIR_BLOCK];
};

/* Geometry: blocks along the frames (x) and channels (y); SMP_FIR_TILE threads. */
SMP_KERNEL(fir_tiled_f32_f32, smp_fir, io, p)
{
    SMP_SMEM(fir_tile, s);
    const float *k = static_cast<const float *>(io.table);
    const int me = (int)threadIdx.x, channel = (int)blockIdx.y;
    const int64_t end = io.out.y0 + io.out.rows;
    for (int64_t top = io.out.y0 + (int64_t)blockIdx.x * SMP_FIR_TILE; top < end;
         top += (int64_t)gridDim.x * SMP_FIR_TILE) {
        float sum = 0.f;
        for (int b = 0; b < p.taps; b += SMP_FIR_BLOCK) {
            const int have = p.taps - b < SMP_FIR_BLOCK ? p.taps - b : SMP_FIR_BLOCK;
            for (int i = me; i < SMP_FIR_TILE + SMP_FIR_BLOCK; i += SMP_FIR_TILE)
                s.x[i] = fir_at(io.in, top - p.before + b + i, channel);
            for (int i = me; i < have; i += SMP_FIR_TILE)
                s.k[i] = k[b + i];
            __syncthreads();
            for (int j = 0; j < SMP_FIR_APART; j++)
                for (int i = j; i < have; i += SMP_FIR_APART)
                    sum = smp_fir_tap(sum, s.k[i], s.x[me + i]);
            __syncthreads();
        }
        if (top + me < end)
            smp_out<float>(io.out, top + me)[channel] = smp_one_nan(sum);
    }
}

/* ---------------------------------------------------------------------------------------------- register */

typedef smp_pack<float, 4> fir_quad;

struct fir_wide {
    float x[SMP_FIR_REGISTER + SMP_FIR_BLOCK];
    fir_quad k[SMP_FIR_GROUP / 4][SMP_FIR_APART]; /* the first four taps of every group, the last four */
};

/* All taps of a block for a thread's results; x: the sample that the first tap of the first result wants. */
SMP_DEVICE void fir_whole_block(float sum[SMP_FIR_EACH], const float *x, const fir_quad (*k)[SMP_FIR_APART])
{
    for (int j = 0; j < SMP_FIR_APART; j++) {
        const fir_quad low = k[0][j], high = k[1][j];
#pragma unroll
        for (int m = 0; m < SMP_FIR_EACH + SMP_FIR_GROUP - 1; m++) {
            const float v = x[j + m * SMP_FIR_APART];
#pragma unroll
            for (int t = 0; t < SMP_FIR_GROUP; t++)
                if (m - t >= 0 && m - t < SMP_FIR_EACH)
                    sum[m - t] = smp_fir_tap(sum[m - t], t < 4 ? low.v[t % 4] : high.v[t % 4], v);
        }
    }
}

/* The last block, of `have` taps. */
SMP_DEVICE void fir_last_block(float sum[SMP_FIR_EACH], const float *x, const fir_quad (*k)[SMP_FIR_APART], int have)
{
    for (int j = 0; j < SMP_FIR_APART && j < have; j++) {
        const fir_quad low = k[0][j], high = k[1][j];
        const int count = smp_fir_group(have, j);
#pragma unroll
        for (int t = 0; t < SMP_FIR_GROUP; t++)
            if (t < count) {
#pragma unroll
                for (int r = 0; r < SMP_FIR_EACH; r++)
                    sum[r] = smp_fir_tap(sum[r], t < 4 ? low.v[t % 4] : high.v[t % 4], x[j + (r + t) * SMP_FIR_APART]);
            }
    }
}

/* Geometry: blocks along the frames (x) and channels (y); 32 * SMP_FIR_WARPS threads. */
SMP_KERNEL(fir_register_f32_f32, smp_fir, io, p)
{
    enum { THREADS = SMP_FIR_WARPS * SMP_FIR_APART, WARP = SMP_FIR_APART * SMP_FIR_EACH };
    SMP_SMEM(fir_wide, s);
    const float *k = static_cast<const float *>(io.table);
    const int me = (int)threadIdx.x, channel = (int)blockIdx.y;
    const int mine = me / SMP_FIR_APART * WARP + me % SMP_FIR_APART;
    const int64_t end = io.out.y0 + io.out.rows;
    for (int64_t top = io.out.y0 + (int64_t)blockIdx.x * SMP_FIR_REGISTER; top < end;
         top += (int64_t)gridDim.x * SMP_FIR_REGISTER) {
        float sum[SMP_FIR_EACH];
#pragma unroll
        for (int r = 0; r < SMP_FIR_EACH; r++)
            sum[r] = 0.f;
        for (int b = 0; b < p.taps; b += SMP_FIR_BLOCK) {
            const int have = p.taps - b < SMP_FIR_BLOCK ? p.taps - b : SMP_FIR_BLOCK;
            for (int i = me; i < SMP_FIR_REGISTER + SMP_FIR_BLOCK; i += THREADS)
                s.x[i] = fir_at(io.in, top - p.before + b + i, channel);
            if (me < SMP_FIR_APART * SMP_FIR_GROUP / 4) { /* a quad of taps a thread */
                const int j = me % SMP_FIR_APART, part = me / SMP_FIR_APART;
                fir_quad taps;
#pragma unroll
                for (int t = 0; t < 4; t++) {
                    const int i = j + (4 * part + t) * SMP_FIR_APART;
                    taps.v[t] = i < have ? k[b + i] : 0.f;
                }
                s.k[part][j] = taps;
            }
            __syncthreads();
            if (have == SMP_FIR_BLOCK)
                fir_whole_block(sum, s.x + mine, s.k);
            else
                fir_last_block(sum, s.x + mine, s.k, have);
            __syncthreads();
        }
#pragma unroll
        for (int r = 0; r < SMP_FIR_EACH; r++)
            if (top + mine + r * SMP_FIR_APART < end)
                smp_out<float>(io.out, top + mine + r * SMP_FIR_APART)[channel] = smp_one_nan(sum[r]);
    }
}
