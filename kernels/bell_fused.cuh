/* The fused kernel of bell.cuh: both passes of the blur while marching down a strip of the picture. */
#ifndef SMP_KERNELS_BELL_FUSED_CUH
#define SMP_KERNELS_BELL_FUSED_CUH

#include "bell_row.cuh"

/* One row of the ring added to the sums that it belongs to: sum q takes it as its tap number `tap` - q. */
SMP_DEVICE void bell_add_row(stencil_quad sum[4], const stencil_quad &m, const float weight[4], int tap, int taps)
{
#pragma unroll
    for (int q = 0; q < 4; q++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (tap == q)
                sum[q].v[i] = smp_bell_first(weight[q], m.v[i]);
            else if (tap > q && tap - q < taps)
                sum[q].v[i] = smp_bell_tap(sum[q].v[i], weight[q], m.v[i]);
}

/* The column pass for four rows of this thread's four columns. slot: of the first row's top tap; of `rows` ring rows
 * wide `threads` quads; have: how many rows from there on exist. */
SMP_DEVICE void bell_column4(stencil_quad sum[4], const stencil_quad *ring, int slot, int rows, int threads, int have,
                             const smp_bell &g)
{
    const int r = g.radius, taps = 2 * r + 1;
    float weight[4] = {0, 0, 0, 0};
    auto turn = [&](int tap) {
        weight[3] = weight[2], weight[2] = weight[1], weight[1] = weight[0];
        weight[0] = tap < taps ? g.w[tap < r ? r - tap : tap - r] : 0.f;
        stencil_quad m = stencil_quad_of(0.f);
        if (tap < have)
            m = ring[slot * threads + (int)threadIdx.x];
        slot = slot + 1 == rows ? 0 : slot + 1;
        return m;
    };
#pragma unroll
    for (int q = 0; q < 4; q++)
        sum[q] = stencil_quad_of(0.f);
#pragma unroll
    for (int tap = 0; tap < 4; tap++) {
        const stencil_quad m = turn(tap);
        bell_add_row(sum, m, weight, tap, taps);
    }
#pragma unroll 4
    for (int tap = 4; tap < taps; tap++) { /* every sum takes the row */
        const stencil_quad m = turn(tap);
#pragma unroll
        for (int q = 0; q < 4; q++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                sum[q].v[i] = smp_bell_tap(sum[q].v[i], weight[q], m.v[i]);
    }
    for (int tap = taps < 4 ? 4 : taps; tap < taps + 3; tap++) {
        const stencil_quad m = turn(tap);
        bell_add_row(sum, m, weight, tap, taps);
    }
}

/* The whole kernel; C channels, geometry: smp_geometry_bell_fused. Rows are counted from `pad` rows above the first
 * that is needed, so that the rows of a step complete exactly the next four output rows. */
template <typename IN, typename OUT, int C, typename FINISH>
SMP_DEVICE void bell_fuse(const smp_io &io, const smp_bell &g, const FINISH &finish)
{
    SMP_SMEM_DYNAMIC(unsigned char, shared);
    const bell_strip<IN> strip = bell_strip_at<IN>(io, g, smp_bell_threads(g.radius), shared);
    stencil_quad *const ring = reinterpret_cast<stencil_quad *>(strip.lines + 2 * SMP_BELL_STEP * strip.pitch);
    const float outside = smp_outside(g.edge, g.fill, io.in.white);
    const int r = g.radius, pad = 2 * r % SMP_BELL_STEP, ring_rows = smp_bell_ring(r);
    const int band = smp_band_of(io.out.rows, (int)gridDim.y);
    const int t = (int)threadIdx.x, warp = t / 32, warps = strip.threads / 32;
    const int64_t x = strip.x0 + 4 * t, end = io.out.y0 + io.out.rows;
    unsigned clipped = 0;
    for (int64_t top = io.out.y0 + (int64_t)blockIdx.y * band; top < end; top += (int64_t)gridDim.y * band) {
        const int down = end - top < band ? (int)(end - top) : band, last = pad + down + 2 * r;
        const int64_t first = top - r - pad; /* the picture row of row 0 */
        auto fetch = [&](int base) {
            IN *lines = strip.lines + base / SMP_BELL_STEP % 2 * SMP_BELL_STEP * strip.pitch;
            for (int q = warp; q < SMP_BELL_STEP; q += warps) {
                const int64_t y = stencil_border(first + base + q, io.in.height, g.edge);
                if (base + q >= pad && base + q < last && y >= 0)
                    bell_fetch(lines + q * strip.pitch, strip, io, g, y, outside);
            }
            smp_copy_commit();
        };
        int slot = 0; /* of row `base` in the ring */
        for (int base = -SMP_BELL_STEP; base < last; base += SMP_BELL_STEP) {
            fetch(base + SMP_BELL_STEP);
            if (base < 0) /* the first rows are on their way */
                continue;
            smp_copy_wait<1>();
            __syncthreads();
            if (x < strip.n) {
                const IN *line =
                    strip.lines + base / SMP_BELL_STEP % 2 * SMP_BELL_STEP * strip.pitch + strip.halo + 4 * t;
                for (int q = 0; q < SMP_BELL_STEP; q++, line += strip.pitch) {
                    if (base + q < pad || base + q >= last)
                        continue;
                    stencil_quad m = stencil_quad_of(outside);
                    if (stencil_border(first + base + q, io.in.height, g.edge) >= 0)
                        m = bell_row4<IN, C>(line, g);
                    ring[(slot + q) * strip.threads + t] = m;
                }
                const int made = base - pad - 2 * r; /* the first output row that these complete */
                if (made >= 0) {
                    stencil_quad sum[4];
                    const int oldest = slot + pad + SMP_BELL_STEP;
                    bell_column4(sum, ring, oldest < ring_rows ? oldest : oldest - ring_rows, ring_rows, strip.threads,
                                 down - made + 2 * r, g);
#pragma unroll 1
                    for (int64_t y = top + made; y < top + made + 4 && y < top + down; y++) {
#pragma unroll
                        for (int i = 0; i < 4; i++)
                            if (x + i < strip.n)
                                sum[0].v[i] = finish(y, x + i, sum[0].v[i]);
                        stencil_put4(io, smp_out<OUT>(io.out, y), x, sum[0], &clipped);
                        sum[0] = sum[1], sum[1] = sum[2], sum[2] = sum[3]; /* so that no register is indexed */
                    }
                }
            }
            slot = slot + SMP_BELL_STEP < ring_rows ? slot + SMP_BELL_STEP : 0;
            __syncthreads();
        }
    }
    smp_count_clipped<OUT>(io, clipped);
}

#endif
