/* clahe on GPUs: many small histograms, then look-ups between tables.
 *   naive    counting: an atomic in global memory a pixel. Applying: four look-ups in memory a pixel.
 *   tiled    counting 8 bits: a block counts rows of one tile in 256 counters in shared memory; lanes that meet
 *            different counters of one bank wait for each other. Applying 8 bits: a block has the four tables of a cell
 *            in shared memory, four bytes a word: one look-up a pixel, in banks that the picture decides.
 *   private  counting: 32 counters a bin, one for each lane, so that lanes meet no bank twice.
 * For wider formats the host counts what clahe_values gives; their tables fit no shared memory, and run as naive. */
#include "elementwise/clahe.h"

#include "stencil/stencil.cuh"

/* Rows of the mirrored picture whose samples are in this launch: first its own, then those below the picture. -1: the
 * sample of that row belongs to another launch. */
struct clahe_rows {
    int64_t own, below;
    SMP_DEVICE_MEMBER void start(const smp_io &io, const smp_clahe &p)
    {
        own = io.out.rows;
        below = smp_clahe_high(&p) - io.in.height;
    }
    SMP_DEVICE_MEMBER int64_t mirrored(const smp_io &io, int64_t k) const
    {
        return k < own ? io.out.y0 + k : io.in.height + (k - own);
    }
    SMP_DEVICE_MEMBER int64_t source(const smp_io &io, int64_t k) const
    {
        const int64_t y = smp_border(mirrored(io, k), io.in.height, SMP_MIRROR);
        return y >= io.out.y0 && y < io.out.y0 + io.out.rows ? y : -1;
    }
};

template <typename T, typename> SMP_DEVICE void clahe_count_naive(const smp_io &io, const smp_clahe &p)
{
    unsigned long long *const counts = static_cast<unsigned long long *>(io.result);
    const int planes = smp_clahe_planes(&p, &io.in);
    clahe_rows rows;
    rows.start(io, p);
    for (int64_t k = blockIdx.y * blockDim.y + threadIdx.y; k < rows.own + rows.below; k += gridDim.y * blockDim.y) {
        const int64_t y = rows.source(io, k);
        if (y < 0)
            continue;
        const int ty = (int)(rows.mirrored(io, k) / p.tile_height);
        for (int64_t ex = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; ex < smp_clahe_wide(&p);
             ex += (int64_t)gridDim.x * blockDim.x)
            for (int plane = 0; plane < planes; plane++) {
                const int64_t x = smp_border(ex, io.in.width, SMP_MIRROR);
                const int32_t bin = smp_clahe_bin(&p, &io.in, smp_row(&io.in, y), x, plane);
                if (bin < p.count.bins)
                    atomicAdd(counts + smp_clahe_slot(&p, plane, ty, (int)(ex / p.tile_width)) + bin, 1ull);
            }
    }
}
/* Samples of 8 bits, as bytes or as floats between stages. */
#define CLAHE_BYTES(name)                                                                                              \
    SMP_KERNEL_PAIR_(name, u8, uint8_t, u8, uint8_t, smp_clahe)                                                        \
    SMP_KERNEL_PAIR_(name, f32, float, f32, float, smp_clahe)
CLAHE_BYTES(clahe_count_naive)

/* The values that the host counts. Geometry: threads over pixels. */
template <typename T, typename> SMP_DEVICE void clahe_values(const smp_io &io, const smp_clahe &p)
{
    for (int plane = 0; plane < smp_clahe_planes(&p, &io.in); plane++)
        smp_each(io, io.in.width, [&](int64_t y, int64_t x) { smp_clahe_put_value(&p, &io, x, y, plane); });
}
SMP_KERNEL_PAIR_(clahe_values, u16, uint16_t, u16, uint16_t, smp_clahe)
SMP_KERNEL_PAIR_(clahe_values, f32, float, f32, float, smp_clahe)

/* Geometry: blocks of 256 threads; x a tile of a row of tiles, y a piece of SMP_CLAHE_ROWS rows, z a plane. COPIES of
 * each counter, one for each of as many lanes. */
template <int COPIES> SMP_DEVICE void clahe_count_shared(const smp_io &io, const smp_clahe &p)
{
    SMP_SMEM_DYNAMIC(unsigned, counters);
    unsigned long long *const counts = static_cast<unsigned long long *>(io.result);
    const int thread = (int)threadIdx.x, threads = (int)blockDim.x, tx = (int)blockIdx.x, plane = (int)blockIdx.z;
    clahe_rows rows;
    rows.start(io, p);
    const int64_t all = rows.own + rows.below;
    for (int64_t first = (int64_t)blockIdx.y * SMP_CLAHE_ROWS; first < all;
         first += (int64_t)gridDim.y * SMP_CLAHE_ROWS) {
        const int64_t last = first + SMP_CLAHE_ROWS < all ? first + SMP_CLAHE_ROWS : all;
        for (int64_t k = first; k < last;) {
            const int ty = (int)(rows.mirrored(io, k) / p.tile_height);
            for (int i = thread; i < SMP_CLAHE_BYTES * COPIES; i += threads)
                counters[i] = 0;
            __syncthreads();
            for (; k < last && (int)(rows.mirrored(io, k) / p.tile_height) == ty; k++) {
                const int64_t y = rows.source(io, k);
                for (int i = thread; i < p.tile_width && y >= 0; i += threads) {
                    const int64_t x = smp_border((int64_t)tx * p.tile_width + i, io.in.width, SMP_MIRROR);
                    const int32_t bin = smp_clahe_bin(&p, &io.in, smp_row(&io.in, y), x, plane);
                    if (bin < SMP_CLAHE_BYTES)
                        atomicAdd(counters + bin * COPIES + thread % COPIES, 1u);
                }
            }
            __syncthreads();
            for (int i = thread; i < SMP_CLAHE_BYTES; i += threads) {
                unsigned sum = 0;
                for (int c = 0; c < COPIES; c++)
                    sum += counters[i * COPIES + (i + c) % COPIES];
                if (sum)
                    atomicAdd(counts + smp_clahe_slot(&p, plane, ty, tx) + i, (unsigned long long)sum);
            }
            __syncthreads();
        }
    }
}
template <typename T, typename> SMP_DEVICE void clahe_count_tiled(const smp_io &io, const smp_clahe &p)
{
    clahe_count_shared<1>(io, p);
}
template <typename T, typename> SMP_DEVICE void clahe_count_private(const smp_io &io, const smp_clahe &p)
{
    clahe_count_shared<32>(io, p);
}
CLAHE_BYTES(clahe_count_tiled)
CLAHE_BYTES(clahe_count_private)

template <typename IN, typename OUT> SMP_DEVICE void clahe_naive(const smp_io &io, const smp_clahe &p)
{
    stencil_each<OUT>(io, [&](int64_t y, int64_t i) {
        const int64_t x = stencil_pixel(i, io.in.channels);
        return smp_clahe_sample(&p, &io, x, y, (int)(i - x * io.in.channels));
    });
}
SMP_KERNEL_FORMATS(clahe_naive, smp_clahe)

/* Geometry: blocks of 256 threads; x a cell of a row of cells, y a piece of SMP_CLAHE_ROWS rows. Shared: a word for
 * each byte and plane. */
template <typename IN, typename OUT> SMP_DEVICE void clahe_tiled(const smp_io &io, const smp_clahe &p)
{
    SMP_SMEM_DYNAMIC(uint32_t, entries);
    const int channels = io.in.channels, colours = channels - io.in.alpha, planes = smp_clahe_planes(&p, &io.in);
    const int thread = (int)threadIdx.x, threads = (int)blockDim.x, cx = (int)blockIdx.x;
    const int64_t x0 = p.x[cx], width = p.x[cx + 1] - x0, end = io.out.y0 + io.out.rows;
    unsigned clipped = 0;
    for (int64_t y0 = io.out.y0 + (int64_t)blockIdx.y * SMP_CLAHE_ROWS; y0 < end;
         y0 += (int64_t)gridDim.y * SMP_CLAHE_ROWS) {
        const int64_t y1 = y0 + SMP_CLAHE_ROWS < end ? y0 + SMP_CLAHE_ROWS : end;
        for (int64_t y = y0; y < y1;) {
            float ay;
            const int ty = smp_clahe_cell(y, p.per_height, &ay);
            for (int i = thread; i < SMP_CLAHE_BYTES * planes; i += threads) {
                const smp_clahe_tables t = smp_clahe_tables_of(&p, io.table, i / SMP_CLAHE_BYTES, cx - 1, ty);
                const int b = i % SMP_CLAHE_BYTES;
                entries[i] = t.t11[b] | (uint32_t)t.t12[b] << 8 | (uint32_t)t.t21[b] << 16 | (uint32_t)t.t22[b] << 24;
            }
            __syncthreads();
            for (; y < y1 && y < p.y[ty + 2]; y++) {
                smp_clahe_cell(y, p.per_height, &ay);
                for (int64_t i = thread; i < width * channels; i += threads) {
                    smp_converge();
                    const int64_t at = x0 * channels + i, x = stencil_pixel(at, channels);
                    const int c = (int)(at - x * channels);
                    float v = smp_value(smp_in<IN>(io.in, y)[at]);
                    if (c < colours) {
                        const int plane = p.count.colours ? 0 : c;
                        const int32_t bin = smp_clahe_bin(&p, &io.in, smp_row(&io.in, y), x, plane);
                        const uint32_t e = entries[plane * SMP_CLAHE_BYTES + (bin & (SMP_CLAHE_BYTES - 1))];
                        float ax;
                        smp_clahe_cell(x, p.per_width, &ax);
                        const float mix = smp_clahe_mix((float)(e & 255), (float)(e >> 8 & 255), (float)(e >> 16 & 255),
                                                        (float)(e >> 24), ax, ay);
                        v = smp_clahe_result(&p, v, bin, mix, io.in.white);
                    }
                    stencil_put(io, smp_out<OUT>(io.out, y), at, v, &clipped);
                }
            }
            __syncthreads();
        }
    }
    smp_count_clipped<OUT>(io, clipped);
}
SMP_KERNEL_BYTES_FLOATS(clahe_tiled, smp_clahe)
