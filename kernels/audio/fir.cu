/* fir on GPUs: one channel a block.
 *   naive     a global read for every tap of every sample; caches serve most of them, but each costs an instruction.
 *   tiled     the block's frames, and 256 taps at a time, in shared memory: two shared reads an operation, of which the
 *             tap is a broadcast. Shared memory is the limit.
 *   register  a thread has 32 results, eight float4s 32 frames apart, which the definition's order allows. For the taps
 *             of four groups it reads 30 float4s of samples (a window that slides by one) and 8 of taps from shared
 *             memory, and does 1024 operations: 95 % of the inner loop's instructions. Eight lanes read 128 adjacent
 *             bytes: no conflicts. Samples come by asynchronous copies, channel by channel, so that the layout of
 *             frames does not matter. The limit is fmaf, of which one in ten waits because its registers are in one
 *             bank (stall dispatch of Nsight Compute). Costs 168 registers a thread: three blocks of four warps an SM.
 */
#include "audio/fir.h"

#include "lib/constants.h"
#include "lib/gpu_kernel.h"

/* ---------------------------------------------------------------------------------------------- naive */

SMP_KERNEL(fir_naive_f32_f32, smp_fir, io, p)
{
    const float *k = static_cast<const float *>(io.table);
    smp_each(io, io.in.channels, [&](int64_t y, int64_t c) {
        float s = 0.f;
        for (int b = 0; b < p.taps; b += SMP_FIR_BLOCK)
            for (int j = 0; j < SMP_FIR_APART; j++)
                for (int i = b + j; i < b + SMP_FIR_BLOCK && i < p.taps; i += SMP_FIR_APART)
                    s = smp_fir_tap(s, k[i], smp_frame_at(&io.in, y - p.before + i, (int)c));
        smp_out<float>(io.out, y)[c] = smp_one_nan(s);
    });
}

/* ---------------------------------------------------------------------------------------------- tiled */

struct fir_tile {
    float x[SMP_FIR_TILE + SMP_FIR_BLOCK];
    float k[SMP_FIR_BLOCK];
};

/* Geometry: blocks along the frames (x) and channels (y); SMP_FIR_TILE threads. */
SMP_KERNEL(fir_tiled_f32_f32, smp_fir, io, p)
{
    SMP_SHARED(fir_tile, s);
    const float *k = static_cast<const float *>(io.table);
    const int me = (int)threadIdx.x, channel = (int)blockIdx.y;
    const int64_t end = io.out.y0 + io.out.rows;
    for (int64_t top = io.out.y0 + (int64_t)blockIdx.x * SMP_FIR_TILE; top < end;
         top += (int64_t)gridDim.x * SMP_FIR_TILE) {
        float sum = 0.f;
        for (int b = 0; b < p.taps; b += SMP_FIR_BLOCK) {
            const int have = p.taps - b < SMP_FIR_BLOCK ? p.taps - b : SMP_FIR_BLOCK;
            for (int i = me; i < SMP_FIR_TILE + SMP_FIR_BLOCK; i += SMP_FIR_TILE)
                s.x[i] = smp_frame_at(&io.in, top - p.before + b + i, channel);
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

typedef smp_pack<float, 4> fir_float4;

enum {
    FIR_THREADS = SMP_FIR_WARPS * 32,
    FIR_ROWS = SMP_FIR_EACH / 4, /* a thread's results: float4s, SMP_FIR_APART frames apart */
    FIR_SAMPLES = SMP_FIR_REGISTER + SMP_FIR_BLOCK,
    FIR_COPIES = FIR_SAMPLES / FIR_THREADS
};
static_assert(FIR_SAMPLES % FIR_THREADS == 0 && FIR_THREADS >= SMP_FIR_BLOCK / 4, "whole rounds of copies");

struct fir_wide {
    fir_float4 x[FIR_SAMPLES / 4];
    fir_float4 k[SMP_FIR_GROUP / 4][SMP_FIR_APART]; /* the first four taps of every group, the last four */
};

/* The first N samples of a float4. nvcc would drop the other loads anyway; written out, the emulator counts the same
 * accesses. */
template <int N> SMP_DEVICE void fir_part(fir_float4 &to, const fir_float4 &from)
{
    typedef smp_pack<float, N == 3 ? 4 : N> pack;
    const pack part = *reinterpret_cast<const pack *>(&from);
#pragma unroll
    for (int i = 0; i < N; i++)
        to.v[i] = part.v[i];
}

/* Adds groups j .. j + 3 of a block of `have` taps, TAPS each; the last group may be missing, unless ALL. x: the float4
 * for the groups' first taps and the first result. A tap serves all results in a row, so that the GPU reads it from the
 * register banks once, and the compiler can put samples and sums into different banks. */
template <int TAPS, bool ALL>
SMP_DEVICE void fir_four_groups(float (&sum)[FIR_ROWS][4], const fir_float4 *x, const fir_float4 (*k)[SMP_FIR_APART],
                                int j, int have)
{
    fir_float4 v[2][FIR_ROWS + TAPS - 1];
#pragma unroll
    for (int h = 0; h < 2; h++)
#pragma unroll
        for (int m = 0; m < FIR_ROWS + TAPS - 1; m++)
            v[h][m] = x[m * (SMP_FIR_APART / 4) + h];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        if (i)
            smp_load_fence();
        const bool last = ALL || j + i + (TAPS - 1) * SMP_FIR_APART < have;
        fir_float4 taps[2];
        if (TAPS > 1 || last)
            fir_part<(TAPS < 4 ? TAPS : 4)>(taps[0], k[0][j + i]);
        if (TAPS > 5 || (TAPS == 5 && last))
            fir_part<(TAPS > 4 ? TAPS - 4 : 4)>(taps[1], k[1][j + i]);
#pragma unroll
        for (int t = 0; t < TAPS; t++)
            if (t < TAPS - 1 || last) {
#pragma unroll
                for (int n = 0; n < SMP_FIR_EACH; n++) {
                    const int at = t % 2 ? SMP_FIR_EACH - 1 - n : n, e = at / FIR_ROWS, r = at % FIR_ROWS;
                    sum[r][e] = smp_fir_tap(sum[r][e], taps[t / 4].v[t % 4], v[(e + i) / 4][r + t].v[(e + i) % 4]);
                }
            }
    }
}

/* Adds groups from j on, with at most TAPS taps, as long as the first of four has as many. */
template <int TAPS>
SMP_DEVICE int fir_groups(float (&sum)[FIR_ROWS][4], const fir_float4 *x, const fir_float4 (*k)[SMP_FIR_APART], int j,
                          int have)
{
    if (TAPS == SMP_FIR_GROUP) {
#pragma unroll 1
        for (; j + 3 + (TAPS - 1) * SMP_FIR_APART < have; j += 4)
            fir_four_groups<TAPS, true>(sum, x + j / 4, k, j, have);
    }
#pragma unroll 1
    for (; j < SMP_FIR_APART && j + (TAPS - 1) * SMP_FIR_APART < have; j += 4)
        fir_four_groups<TAPS, false>(sum, x + j / 4, k, j, have);
    return j;
}

SMP_DEVICE void fir_block(float (&sum)[FIR_ROWS][4], const fir_float4 *x, const fir_float4 (*k)[SMP_FIR_APART],
                          int have)
{
    for (int j = 0; j < SMP_FIR_APART && j < have;)
        SMP_BY_COUNT(smp_fir_group(have, j), j = fir_groups<N>(sum, x, k, j, have))
}

/* Loads samples first .. first + FIR_SAMPLES - 1 of a channel, zeros for those that are not present. */
SMP_DEVICE void fir_load(fir_wide &s, const smp_view &in, int64_t first, int channel)
{
    float *const to = reinterpret_cast<float *>(s.x) + threadIdx.x;
    const char *const row = static_cast<const char *>(in.data) + channel * (int64_t)sizeof(float);
    const char *from = row + (first - in.y0 + threadIdx.x) * in.stride;
    const int64_t step = in.stride * FIR_THREADS;
    if (first >= in.y0 && first + FIR_SAMPLES <= in.y0 + in.rows) {
#pragma unroll
        for (int i = 0; i < FIR_COPIES; i++, from += step)
            smp_copy_async<4>(to + i * FIR_THREADS, from);
    } else {
        int64_t y = first + threadIdx.x;
#pragma unroll 1
        for (int i = 0; i < FIR_COPIES; i++, from += step, y += FIR_THREADS) {
            const bool present = y >= in.y0 && y < in.y0 + in.rows;
            smp_copy_async<4>(to + i * FIR_THREADS, present ? from : row, present);
        }
    }
    smp_copy_commit();
}

/* Loads the taps of a block, a float4 a thread. */
SMP_DEVICE void fir_load_taps(fir_wide &s, const float *k, int have)
{
    const int j = (int)threadIdx.x % SMP_FIR_APART, part = (int)threadIdx.x / SMP_FIR_APART;
    if (part >= SMP_FIR_GROUP / 4)
        return;
    fir_float4 taps;
#pragma unroll
    for (int t = 0; t < 4; t++) {
        const int i = j + (4 * part + t) * SMP_FIR_APART;
        taps.v[t] = i < have ? k[i] : 0.f;
    }
    s.k[part][j] = taps;
}

SMP_DEVICE void fir_put(fir_float4 *to, const float (&sum)[FIR_ROWS][4])
{
#pragma unroll
    for (int r = 0; r < FIR_ROWS; r++) {
        fir_float4 v;
#pragma unroll
        for (int e = 0; e < 4; e++)
            v.v[e] = smp_one_nan(sum[r][e]);
        to[r * (SMP_FIR_APART / 4)] = v;
    }
}

/* Stores the results of a block: directly from registers where frames are adjacent; else through shared memory, where
 * each warp has its own frames, so that lanes write neighbouring ones. */
SMP_DEVICE void fir_store(const smp_io &io, fir_wide &s, const float (&sum)[FIR_ROWS][4], int64_t top, int mine,
                          int channel)
{
    const int64_t left = io.out.y0 + io.out.rows - top;
    if (left >= SMP_FIR_REGISTER && io.out.stride == sizeof(float) &&
        (uintptr_t)io.out.data % sizeof(fir_float4) == 0) {
        fir_put(reinterpret_cast<fir_float4 *>(smp_out<float>(io.out, top)) + mine, sum);
        return;
    }
    __syncthreads();
    fir_put(s.x + mine, sum);
    __syncwarp();
    const int first = (int)threadIdx.x / 32 * (32 * SMP_FIR_EACH) + (int)threadIdx.x % 32;
    const int rows = left >= SMP_FIR_REGISTER ? SMP_FIR_EACH : left > first ? ((int)left - first + 31) / 32 : 0;
    const float *const from = reinterpret_cast<const float *>(s.x) + first;
    char *row = static_cast<char *>(smp_row(&io.out, top)) + first * io.out.stride + channel * (int64_t)sizeof(float);
    const int64_t step = 32 * io.out.stride;
    if (rows >= SMP_FIR_EACH) {
#pragma unroll
        for (int i = 0; i < SMP_FIR_EACH; i++, row += step)
            *reinterpret_cast<float *>(row) = from[i * 32];
    } else
#pragma unroll 1
        for (int i = 0; i < rows; i++, row += step)
            *reinterpret_cast<float *>(row) = from[i * 32];
}

/* Geometry: channels (x), so that those of the same frames run concurrently, and blocks along the frames (y). */
SMP_KERNEL_BOUNDS(FIR_THREADS, SMP_FIR_BLOCKS, fir_register_f32_f32, smp_fir, io, p)
{
    SMP_SHARED(fir_wide, s);
    const float *k = static_cast<const float *>(io.table);
    const int channel = (int)blockIdx.x;
    /* eight lanes have the float4s of 32 frames */
    const int mine = (int)threadIdx.x / 8 * (SMP_FIR_EACH * 2) + (int)threadIdx.x % 8;
    const int64_t end = io.out.y0 + io.out.rows;
    for (int64_t top = io.out.y0 + (int64_t)blockIdx.y * SMP_FIR_REGISTER; top < end;
         top += (int64_t)gridDim.y * SMP_FIR_REGISTER) {
        float sum[FIR_ROWS][4] = {};
        for (int b = 0; b < p.taps; b += SMP_FIR_BLOCK) {
            const int have = p.taps - b < SMP_FIR_BLOCK ? p.taps - b : SMP_FIR_BLOCK;
            __syncthreads(); /* all threads are done with the tile */
            fir_load(s, io.in, top - p.before + b, channel);
            fir_load_taps(s, k + b, have);
            smp_copy_wait<0>();
            __syncthreads();
            fir_block(sum, s.x + mine, s.k, have);
        }
        fir_store(io, s, sum, top, mine, channel);
    }
}
