/* The row pass of bell.h by quads of samples, from lines of the input in shared memory: for the fused kernel and for
 * rows alone. */
#ifndef SMP_KERNELS_BELL_ROW_CUH
#define SMP_KERNELS_BELL_ROW_CUH

#include "stencil.cuh"

/* One block's work: where its strip and its shared memory are. */
template <typename IN> struct bell_strip {
    int threads, halo, pitch; /* samples beside the strip; samples of a line in shared memory */
    int64_t n, x0;            /* samples of a row; the strip's first */
    IN *lines;
};

template <typename IN>
SMP_DEVICE bell_strip<IN> bell_strip_at(const smp_io &io, const smp_bell &g, int threads, void *shared)
{
    bell_strip<IN> strip;
    strip.threads = threads;
    strip.halo = smp_bell_halo(g.radius, io.in.channels, (int)sizeof(IN));
    strip.pitch = 4 * strip.threads + 2 * strip.halo;
    strip.n = stencil_samples(io.in);
    strip.x0 = (int64_t)blockIdx.x * 4 * strip.threads;
    strip.lines = static_cast<IN *>(shared);
    return strip;
}

/* Starts copying row y (which exists) with its halo into `line`, 16 bytes a lane of one warp; across the side borders
 * sample by sample. */
template <typename IN>
SMP_DEVICE void bell_fetch(IN *line, const bell_strip<IN> &strip, const smp_io &io, const smp_bell &g, int64_t y,
                           float outside)
{
    constexpr int PIECE = 16 / (int)sizeof(IN);
    const IN *row = smp_in<IN>(io.in, y);
    const bool aligned = (uintptr_t)row % 16 == 0;
    for (int first = 0; first < strip.pitch; first += 32 * PIECE) {
        smp_together();
        const int i = first + (int)(threadIdx.x % 32) * PIECE;
        const int64_t at = strip.x0 - strip.halo + i;
        if (i < strip.pitch && aligned && at >= 0 && at + PIECE <= strip.n) {
            smp_copy_async<16>(line + i, row + at);
        } else if (i < strip.pitch && at < strip.n + strip.halo)
#pragma unroll 1
            for (int k = 0; k < PIECE; k++)
                line[i + k] = (IN)stencil_far_across(row, io.in.width, io.in.channels, at + k, g.edge, outside);
    }
}

/* The row pass for the four samples at `line`, C channels. Taps go outwards in groups of four: a group needs C quads
 * more on each side, beside the quad that it shares with the group before. */
template <int C> struct bell_window {
    stencil_quad sum;
    float left[4 * C + 4], right[4 * C + 4]; /* from sample -(k+4)C, and from sample kC on, for taps k+1 .. k+4 */
};
template <typename IN, int C, bool WHOLE>
SMP_DEVICE void bell_row_group(bell_window<C> &s, const IN *line, const smp_bell &g, int k)
{
#pragma unroll
    for (int q = 0; q < 4; q++) {
        s.left[4 * C + q] = s.left[q];
        s.right[q] = s.right[4 * C + q];
    }
#pragma unroll
    for (int c = 0; c < C; c++) {
        const stencil_quad before = stencil_load4(line - (k + 4) * C + 4 * c);
        const stencil_quad after = stencil_load4(line + k * C + 4 + 4 * c);
#pragma unroll
        for (int q = 0; q < 4; q++) {
            s.left[4 * c + q] = before.v[q];
            s.right[4 + 4 * c + q] = after.v[q];
        }
    }
#pragma unroll
    for (int tap = 1; tap <= 4; tap++)
        if (WHOLE || k + tap <= g.radius) {
            const float weight = g.w[k + tap];
#pragma unroll
            for (int q = 0; q < 4; q++)
                s.sum.v[q] = smp_bell_pair(s.sum.v[q], weight, s.left[(4 - tap) * C + q], s.right[tap * C + q]);
        }
}
template <typename IN, int C> SMP_DEVICE stencil_quad bell_row4(const IN *line, const smp_bell &g)
{
    bell_window<C> s;
    s.sum = stencil_load4(line);
#pragma unroll
    for (int q = 0; q < 4; q++) {
        s.left[q] = s.right[4 * C + q] = s.sum.v[q];
        s.sum.v[q] = smp_bell_first(g.w[0], s.sum.v[q]);
    }
    int k = 0;
#pragma unroll 2
    for (; k + 4 <= g.radius; k += 4)
        bell_row_group<IN, C, true>(s, line, g, k);
    if (k < g.radius)
        bell_row_group<IN, C, false>(s, line, g, k);
    return s.sum;
}

/* The row pass alone, to f32, for smp_bell_quads(); C channels, geometry: smp_geometry_bell_rows. A warp brings each
 * line of a tile, whose rows take turns. */
template <typename IN, int C> SMP_DEVICE void bell_rows_by_quads(const smp_io &io, const smp_bell &g, void *shared)
{
    const bell_strip<IN> strip = bell_strip_at<IN>(io, g, SMP_BELL_LANES, shared);
    const float outside = smp_outside(g.edge, g.fill, io.in.white);
    const int warp = (int)(threadIdx.y * (SMP_BELL_LANES / 32) + threadIdx.x / 32);
    const int64_t x = strip.x0 + 4 * (int)threadIdx.x, end = io.out.y0 + io.out.rows;
    unsigned unclipped = 0;
    for (int64_t top = io.out.y0 + blockIdx.y * SMP_BELL_LINES; top < end; top += gridDim.y * SMP_BELL_LINES) {
        if (top + warp < end)
            bell_fetch(strip.lines + warp * strip.pitch, strip, io, g, top + warp, outside);
        smp_copy_commit();
        smp_copy_wait<0>();
        __syncthreads();
        for (int line = (int)threadIdx.y; x < strip.n && line < SMP_BELL_LINES && top + line < end;
             line += SMP_BELL_ROWS)
            stencil_put4(io, smp_out<float>(io.out, top + line), x,
                         bell_row4<IN, C>(strip.lines + line * strip.pitch + strip.halo + 4 * (int)threadIdx.x, g),
                         &unclipped);
        __syncthreads();
    }
}

#endif
