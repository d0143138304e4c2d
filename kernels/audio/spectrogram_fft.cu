/* spectrogram by Fourier transforms on GPUs (spectrogram.h has the definition): a block of threads transforms a frame
 * in shared memory; its levels go to a picture between the launches, of which `paint` makes the output.
 *   naive   numbers end to end: threads of the first pass write four numbers apart, four lanes to a bank.
 *   padded  a number more after every sixteen: the first pass meets all banks, the second half of them. */
#include "audio/frames.cuh"
#include "audio/spectrogram.h"

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
    const int c = (int)blockIdx.y;
    for (int64_t x = blockIdx.x; x < io.out.width; x += gridDim.x) {
        __syncthreads(); /* all threads are done with the frame before */
        smp_frames_block(p.f, smp_spectrogram_waves(&io), io.in, c, x, a, b, [=](int k, float re, float im) {
            const float half = smp_spectrogram_half(k);
            if (k < p.f.bins)
                spectrogram_put_level<OUT>(io.out, smp_spectrogram_row(&p, c, k), x,
                                           smp_spectrogram_level(re * half, im * half, &p));
        });
    }
}

#define SPECTROGRAM_FFT(out, OUT)                                                                                      \
    SMP_FRAMES_KERNEL(spectrogram_fft_f32_##out, smp_spectrogram_params, p.f.bins,                                     \
                      spectrogram_fft<smp_fft_plain, OUT>)                                                             \
    SMP_FRAMES_KERNEL(spectrogram_fft_padded_f32_##out, smp_spectrogram_params, SMP_FRAMES_PADDED,                     \
                      spectrogram_fft<smp_frames_padded, OUT>)
SPECTROGRAM_FFT(u8, uint8_t)
SPECTROGRAM_FFT(f32, float)

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
    unsigned clipped = 0;
    smp_each(io, io.out.width, [&](int64_t y, int64_t x) {
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
    });
    smp_count_clipped<OUT>(io, clipped);
}
SMP_KERNEL_BYTES_FLOATS(spectrogram_paint, smp_spectrogram_params)
