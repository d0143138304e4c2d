/* spectrogram by Fourier transforms on GPUs (spectrogram.h has the definition): a block of threads transforms a frame
 * in shared memory; its levels go to a picture between the launches, of which `paint` makes the output.
 *   naive   numbers end to end: threads of the first pass write four numbers apart, four lanes to a bank.
 *   padded  a number more after every sixteen: the first pass meets all banks, the second half of them. */
#include "lib/fft.cuh"
#include "matmul/spectrogram.h"

struct spectrogram_padded {
    smp_number *at;
    SMP_DEVICE_MEMBER smp_number *operator()(int i) const { return at + i + i / 16; }
};

template <typename OUT> SMP_DEVICE void spectrogram_put_level(const smp_view &out, int64_t row, int64_t x, float level)
{
    if (smp_sample<OUT>::format == SMP_F32)
        smp_out<OUT>(out, row)[x] = (OUT)level;
    else
        smp_out<OUT>(out, row)[x] = (OUT)smp_spectrogram_color(level);
}

/* Geometry: a block of threads for each frame (x) and channel (y); dynamic shared memory for both memories. */
template <typename MEMORY, typename OUT>
SMP_DEVICE void spectrogram_fft(const smp_io &io, const smp_spectrogram_params &p, smp_number *shared, int numbers)
{
    const MEMORY a = {shared}, b = {shared + numbers};
    const float *window = smp_spectrogram_waves(&io), *w = window + p.size, *roots = w + smp_fft_twiddles(&p.fft);
    const int me = (int)threadIdx.x, threads = (int)blockDim.x, c = (int)blockIdx.y;
    for (int64_t x = blockIdx.x; x < io.out.width; x += gridDim.x) {
        __syncthreads(); /* all threads are done with the frame before */
        for (int i = me; i < p.bins; i += threads) {
            smp_number v;
#pragma unroll
            for (int k = 0; k < 2; k++) {
                const int64_t at = smp_spectrogram_at(&p, x, 2 * i + k);
                v.v[k] = (at >= 0 && at < io.in.height ? smp_in<float>(io.in, at)[c] : 0.f) * window[2 * i + k];
            }
            *a(i) = v;
        }
        __syncthreads();
        const MEMORY z = smp_fft_block(p.fft, w, a, b) ? b : a;
        for (int k = me; k <= p.bins - k; k += threads) {
            const int l = p.bins - k;
            smp_converge();
            smp_number u = *z(k), v = *z(l % p.bins);
            smp_fft1_split(&u.v[0], &u.v[1], &v.v[0], &v.v[1], roots[2 * k], roots[2 * k + 1]);
            const float half = smp_spectrogram_half(k);
            spectrogram_put_level<OUT>(io.out, smp_spectrogram_row(&p, c, k), x,
                                       smp_spectrogram_level(u.v[0] * half, u.v[1] * half, &p));
            if (k && k != l)
                spectrogram_put_level<OUT>(io.out, smp_spectrogram_row(&p, c, l), x,
                                           smp_spectrogram_level(v.v[0], v.v[1], &p));
        }
    }
}

#define SPECTROGRAM_FFT(name, MEMORY, numbers, out, OUT)                                                               \
    SMP_KERNEL(name##_f32_##out, smp_spectrogram_params, io, p)                                                        \
    {                                                                                                                  \
        SMP_SMEM_DYNAMIC(smp_number, s);                                                                               \
        spectrogram_fft<MEMORY, OUT>(io, p, s, numbers);                                                               \
    }
SPECTROGRAM_FFT(spectrogram_fft, smp_fft_plain, p.bins, u8, uint8_t)
SPECTROGRAM_FFT(spectrogram_fft, smp_fft_plain, p.bins, f32, float)
SPECTROGRAM_FFT(spectrogram_fft_padded, spectrogram_padded, p.bins + p.bins / 16 + 1, u8, uint8_t)
SPECTROGRAM_FFT(spectrogram_fft_padded, spectrogram_padded, p.bins + p.bins / 16 + 1, f32, float)

/* The level of a pixel, as the picture between has them: of the frame, or the greatest of its bins. */
template <typename IN>
SMP_DEVICE IN spectrogram_pixel(const smp_io &io, const smp_spectrogram_params &p, int64_t x, int64_t y)
{
    const int64_t columns = io.out.width - p.left - p.right;
    if (y < p.top || y >= io.out.height - p.bottom || x < p.left || x >= p.left + columns) {
        const uint8_t level = smp_spectrogram_frame(&io, &p, x, y);
        if constexpr (smp_sample<IN>::format == SMP_F32)
            return (float)level / (SMP_SPECTROGRAM_COLORS - 1);
        else
            return level;
    }
    int64_t row, end;
    smp_spectrogram_span(&io, &p, y - p.top, &row, &end);
    IN level = smp_in<IN>(io.in, row)[x - p.left];
    while (++row < end) {
        const IN other = smp_in<IN>(io.in, row)[x - p.left];
        if constexpr (smp_sample<IN>::format == SMP_F32)
            level = smp_spectrogram_greater(level, other);
        else
            level = level > other ? level : other;
    }
    return level;
}

template <typename IN, typename OUT>
SMP_DEVICE void spectrogram_paint(const smp_io &io, const smp_spectrogram_params &p)
{
    const float *map = smp_spectrogram_map(&io);
    const int64_t end = io.out.y0 + io.out.rows;
    unsigned clipped = 0;
    for (int64_t y = io.out.y0 + blockIdx.y * blockDim.y + threadIdx.y; y < end; y += gridDim.y * blockDim.y)
        for (int64_t x = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; x < io.out.width;
             x += (int64_t)gridDim.x * blockDim.x) {
            const IN from = spectrogram_pixel<IN>(io, p, x, y);
            OUT *row = smp_out<OUT>(io.out, y);
            if constexpr (smp_sample<IN>::format == SMP_F32) {
                const float level = (float)from * io.out.white;
                if (io.clipped)
                    clipped += smp_clipped<OUT>(level);
                row[x] = smp_rounded<OUT>(level);
            } else {
#pragma unroll
                for (int i = 0; i < 3; i++)
                    row[3 * x + i] = smp_rounded<OUT>(map[3 * (int)from + i]);
            }
        }
    smp_count_clipped<OUT>(io, clipped);
}
SMP_KERNEL_PAIR_(spectrogram_paint, u8, uint8_t, u8, uint8_t, smp_spectrogram_params)
SMP_KERNEL_PAIR_(spectrogram_paint, u8, uint8_t, f32, float, smp_spectrogram_params)
SMP_KERNEL_PAIR_(spectrogram_paint, f32, float, u8, uint8_t, smp_spectrogram_params)
SMP_KERNEL_PAIR_(spectrogram_paint, f32, float, f32, float, smp_spectrogram_params)
