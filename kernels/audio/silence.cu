/* silence on GPUs.
 *   naive  a thread a word: its 32 frames one after the other.
 *   tiled  a warp a word, a frame a lane: neighbouring lanes read neighbouring frames, and a ballot makes the word. */
#include "audio/silence.h"

#include "lib/gpu_kernel.h"

SMP_KERNEL(silence_naive_f32_f32, smp_silence, io, p)
{
    uint32_t *const words = static_cast<uint32_t *>(io.result);
    const int64_t end = io.out.y0 + io.out.rows;
    const int64_t y = io.out.y0 + ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * SMP_SILENCE_WORD;
    if (y >= end)
        return;
    uint32_t word = 0;
    for (int i = 0; i < SMP_SILENCE_WORD && y + i < end; i++)
        word |= (uint32_t)smp_silent(&p, smp_in<float>(io.in, y + i), io.in.channels) << i;
    words[y / SMP_SILENCE_WORD] = word;
}

/* Geometry: blocks of 256 threads along the frames. */
SMP_KERNEL(silence_tiled_f32_f32, smp_silence, io, p)
{
    uint32_t *const words = static_cast<uint32_t *>(io.result);
    const int64_t end = io.out.y0 + io.out.rows;
    const int lane = (int)threadIdx.x % 32;
    const int64_t y = io.out.y0 + (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const bool silent = y < end && smp_silent(&p, smp_in<float>(io.in, y < end ? y : end - 1), io.in.channels);
    const uint32_t word = __ballot_sync(0xffffffffu, silent);
    if (lane == 0 && y < end)
        words[y / SMP_SILENCE_WORD] = word;
}
