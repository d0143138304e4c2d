/* mel on GPUs: a block of threads for a frame (audio/frames.cuh); its power, then its levels, in shared memory.
 *   naive   numbers end to end.
 *   padded  a number more after every sixteen: the transform's passes meet more banks. */
#include "audio/mel.h"

#include "audio/frames.cuh"

/* Geometry: a block of threads for each row; dynamic shared memory for both memories, bins + 1 powers and the levels.
 */
template <typename MEMORY> SMP_DEVICE void mel_rows(const smp_io &io, const smp_mel &p, smp_number *shared, int numbers)
{
    const MEMORY a = {shared}, b = {shared + numbers};
    float *const power = reinterpret_cast<float *>(shared + 2 * numbers), *const levels = power + p.f.bins + 1;
    const float *const table = static_cast<const float *>(io.table);
    const int me = (int)threadIdx.x, threads = (int)blockDim.x;
    const int64_t end = min(io.out.y0 + io.out.rows, p.frames);
    for (int64_t t = io.out.y0 + blockIdx.x; t < end; t += gridDim.x) {
        float *const to = smp_out<float>(io.out, t);
        smp_frames_block(p.f, table, io.in, 0, t, a, b,
                         [=](int k, float re, float im) { power[k] = re * re + im * im; });
        __syncthreads();
        for (int band = me; band < p.bands; band += threads) {
            const int32_t *span = smp_mel_span(&p, table, band);
            float sum = 0.f;
            for (int k = 0; k < span[1]; k++) {
                smp_converge();
                sum = sum + table[p.weights + span[2] + k] * power[span[0] + k];
            }
            const float level = smp_mel_level(&p, sum);
            if (p.cepstrum)
                levels[band] = level;
            else
                to[band] = smp_one_nan(level);
        }
        __syncthreads();
        for (int i = me; p.cepstrum && i < p.outputs; i += threads) {
            float sum = 0.f;
            smp_converge();
            for (int band = 0; band < p.bands; band++)
                sum = sum + table[p.cosines + i * p.bands + band] * levels[band];
            to[i] = smp_one_nan(sum);
        }
    }
}

SMP_FRAMES_GPU(mel, smp_mel, p.f.bins, mel_rows)

/* Geometry: one block of MEL_THREADS. */
enum { MEL_THREADS = 256 };
struct mel_mosts {
    float of[MEL_THREADS];
};
SMP_KERNEL(mel_most_f32_f32, smp_mel, io, p)
{
    SMP_SHARED(mel_mosts, s);
    const int me = (int)threadIdx.x;
    float most = -INFINITY;
    for (int64_t i = me; i < p.frames * p.outputs; i += MEL_THREADS) {
        const float v = smp_in<float>(io.in, i / p.outputs)[i % p.outputs];
        most = v > most ? v : most;
    }
    s.of[me] = most;
    for (int step = MEL_THREADS / 2; step; step /= 2) {
        __syncthreads();
        if (me < step)
            s.of[me] = s.of[me + step] > s.of[me] ? s.of[me + step] : s.of[me];
    }
    if (me == 0)
        smp_out<float>(io.out, p.frames)[0] = s.of[0];
}

/* Geometry: blocks over the output's samples. */
SMP_KERNEL(mel_whisper_f32_f32, smp_mel, io, p)
{
    const float most = smp_in<float>(io.in, p.frames)[0];
    smp_each(io, io.out.width, [&](int64_t y, int64_t x) {
        smp_out<float>(io.out, y)[x] = smp_mel_whisper(smp_in<float>(io.in, y)[x], most);
    });
}
