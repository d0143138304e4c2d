/* spectrogram on GPUs: the product of overlapping frames with a table of cosines and sines, and the level of each pair
 * of sums. Sound is always f32.
 *   naive  A thread a pixel; the frame and two columns of the table from global memory. Lanes are neighbouring frames,
 *          a hop apart: every sample is in a sector of its own, and read again for every bin.
 *   tiled  The register tiles of matmul (matmul.cu): 128 frames by 64 bins a block, 8 frames by 4 bins a thread.
 *          Asynchronous copies bring frames directly from the sound; they overlap, so that most are in a cache. A
 *          thread has both sums of its bins. The limit is fmaf; sounds of less
 *          than some hundred frames leave SMs idle. */
#include "audio/spectrogram.h"
#include "matmul/matmul.cuh"

/* Pixel x of channel c's bin. */
template <typename OUT>
SMP_DEVICE void spectrogram_put(const smp_io &io, const smp_spectrogram_params &p, int c, int64_t bin, int64_t x,
                                float re, float im)
{
    OUT *row = smp_out<OUT>(io.out, smp_spectrogram_row(&p, c, bin));
    const float level = smp_spectrogram_level(re, im, &p);
    if constexpr (smp_sample<OUT>::format == SMP_F32)
        row[x] = level;
    else
        row[x] = smp_spectrogram_color(level);
}

template <typename IN, typename OUT>
SMP_DEVICE void spectrogram_naive(const smp_io &io, const smp_spectrogram_params &p)
{
    const float *waves = smp_spectrogram_waves(&io);
    smp_each(io, io.out.width, [&](int64_t y, int64_t x) {
        const int c = (int)(y / p.f.bins);
        const int64_t bin = p.f.bins - 1 - y % p.f.bins;
        float re = 0.f, im = 0.f;
        for (int n = 0; n < p.f.size; n++) {
            const int64_t at = smp_spectrogram_at(&p, x, n);
            const float sample = at >= 0 && at < io.in.height ? smp_value(smp_in<IN>(io.in, at)[c]) : 0.f;
            re = fmaf(sample, waves[(int64_t)n * p.pitch + 2 * bin], re);
            im = fmaf(sample, waves[(int64_t)n * p.pitch + 2 * bin + 1], im);
        }
        spectrogram_put<OUT>(io, p, c, bin, x, re, im);
    });
}
SMP_KERNEL_PAIR_(spectrogram_naive, f32, float, f32, float, smp_spectrogram_params)
SMP_KERNEL_PAIR_(spectrogram_naive, f32, float, u8, uint8_t, smp_spectrogram_params)

/* The operands of a block: rows of L are frames, columns of R the table's. */
struct spectrogram_tiles {
    const smp_view &in;
    const smp_spectrogram_params &p;
    const float *waves; /* from the block's first column on */
    int64_t x;          /* the block's first frame */
    int channel;

    SMP_DEVICE_MEMBER void load(matmul_tiles &to, int64_t k) const
    {
        const int thread = (int)threadIdx.x, column = thread % 8, row = thread / 8;
#pragma unroll
        for (int i = 0; i < MATMUL_BLOCK / 32; i++)
#pragma unroll
            for (int j = 0; j < MATMUL_DEPTH / 8; j++) {
                const int64_t n = k + column + j * 8, at = smp_spectrogram_at(&p, x + row + i * 32, n);
                const bool present = n < p.f.size && at >= 0 && at < in.height;
                const float *from = smp_in<float>(in, present ? at : in.y0) + channel;
                smp_copy_async<4>(&to.l[column + j * 8][row + i * 32], from, present);
            }
        const float *from = waves + (k + thread / 32) * p.pitch + thread % 32 * 4;
#pragma unroll
        for (int i = 0; i < MATMUL_DEPTH / MATMUL_WARPS; i++)
            smp_copy_async<16>(&to.r[thread / 32 + i * MATMUL_WARPS][thread % 32 * 4],
                               from + (int64_t)(i * MATMUL_WARPS) * p.pitch);
    }
};

template <typename OUT> SMP_DEVICE void spectrogram_tiled(const smp_io &io, const smp_spectrogram_params &p)
{
    SMP_SHARED(matmul_buffers, s);
    const int c = (int)blockIdx.z;
    const int64_t first = (int64_t)blockIdx.y * SMP_SPECTROGRAM_BINS;
    int64_t low, high;
    smp_spectrogram_bins(&p, c, io.out.y0, io.out.y0 + io.out.rows, &low, &high);
    if (first >= high || first + SMP_SPECTROGRAM_BINS <= low)
        return;
    const spectrogram_tiles tiles = {io.in, p, smp_spectrogram_waves(&io) + 2 * first,
                                     (int64_t)blockIdx.x * MATMUL_BLOCK, c};
    float sum[8][8] = {};
    matmul_sums(s, tiles, 0, p.f.size, sum);
#pragma unroll
    for (int j = 0; j < 8; j += 2) {
        const int64_t bin = first + (matmul_x() + matmul_across(j)) / 2;
        if (bin < low || bin >= high)
            continue;
#pragma unroll
        for (int i = 0; i < 8; i++) {
            const int64_t x = tiles.x + matmul_y() + matmul_down(i);
            if (x < io.out.width)
                spectrogram_put<OUT>(io, p, c, bin, x, sum[i][j], sum[i][j + 1]);
        }
    }
}

SMP_KERNEL_BOUNDS(SMP_MATMUL_THREADS, SMP_MATMUL_BLOCKS, spectrogram_tiled_f32_f32, smp_spectrogram_params, io, p)
{
    spectrogram_tiled<float>(io, p);
}
SMP_KERNEL_BOUNDS(SMP_MATMUL_THREADS, SMP_MATMUL_BLOCKS, spectrogram_tiled_f32_u8, smp_spectrogram_params, io, p)
{
    spectrogram_tiled<uint8_t>(io, p);
}
