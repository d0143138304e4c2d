/* Grey morphology on GPUs.
 *   naive  every sample of the window from global memory.
 *   tiled  a tile with its halo in shared memory, as keys. A rectangle doubles runs along rows, then along columns:
 *          log2(size) passes each, with a barrier between. Other shapes read every sample of their chords from the
 *          tile.
 *   vhgw   rectangles: prefix and suffix minima of blocks of `size`, along rows, then along columns: three minima a
 *          sample for any size. Neighbouring lanes scan neighbouring rows, an odd number of words apart, then
 *          neighbouring columns: no bank conflicts.
 * Tiles that do not fit 48 KB run as naive. */
#include "stencil/morph.h"

#include "stencil/stencil.cuh"

template <typename OUT> SMP_DEVICE void morph_each(const smp_io &io, const smp_morph &m, int launch)
{
    const smp_morph_pass pass = smp_morph_pass_of(&m, launch);
    stencil_each<OUT>(io, [&](int64_t y, int64_t i) { return smp_morph_window(&io, &m, &pass, y, i); });
}

SMP_DEVICE int32_t morph_least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* Two arrays of keys that take turns, and what a launch knows of its tile. */
struct morph_tile {
    int32_t *keys, *other;
    int pitch, rows, step; /* words of a row; rows with the halo; samples from a pixel to the next */
    int thread, threads;

    SMP_DEVICE_MEMBER void swap()
    {
        int32_t *const keys_before = keys;
        __syncthreads();
        keys = other;
        other = keys_before;
    }
};

/* The least of n keys `shift` words apart, for `size` places a row (or column) of `lines`: by doubling. In a place's
 * row: lines are rows, at = line * pitch + place; in a column: at = place * pitch + line. */
template <bool DOWN> SMP_DEVICE void morph_doubling(morph_tile &t, int n, int places, int lines, int step)
{
    int have = places + (n - 1) * step, length = 1;
    while (length < n) {
        const int shift = 2 * length <= n ? length : n - length;
        have -= shift * step;
        for (int k = t.thread; k < have * lines; k += t.threads) {
            const int line = DOWN ? k % lines : k / have, place = DOWN ? k / lines : k % have;
            const int at = DOWN ? place * t.pitch + line : line * t.pitch + place;
            t.other[at] = morph_least(t.keys[at], t.keys[at + shift * step * (DOWN ? t.pitch : 1)]);
        }
        length += shift;
        t.swap();
    }
}

/* The same by van Herk and Gil-Werman: a thread scans a block of n keys forwards into the other array and backwards in
 * place; a window is the end of one block and the beginning of the next. */
template <bool DOWN> SMP_DEVICE void morph_blocks(morph_tile &t, int n, int places, int lines, int step)
{
    const int all = places + (n - 1) * step, each = (all + step - 1) / step, blocks = (each + n - 1) / n;
    const int stride = step * (DOWN ? t.pitch : 1);
    for (int k = t.thread; k < blocks * step * lines; k += t.threads) {
        const int line = k % lines, phase = k / lines % step, block = k / lines / step;
        const int first = block * n * step + phase, left = (all - phase + step - 1) / step - block * n;
        const int base = DOWN ? first * t.pitch + line : line * t.pitch + first, count = left < n ? left : n;
        int32_t least = SMP_MORPH_NAN;
        for (int i = 0; i < count; i++) {
            least = morph_least(least, t.keys[base + i * stride]);
            t.other[base + i * stride] = least;
        }
        least = SMP_MORPH_NAN;
        for (int i = count - 1; i >= 0; i--) {
            least = morph_least(least, t.keys[base + i * stride]);
            t.keys[base + i * stride] = least;
        }
    }
    __syncthreads();
    for (int k = t.thread; k < places * lines; k += t.threads) {
        const int line = DOWN ? k % lines : k / places, place = DOWN ? k / lines : k % places;
        const int at = DOWN ? place * t.pitch + line : line * t.pitch + place;
        t.keys[at] = morph_least(t.keys[at], t.other[at + (n - 1) * stride]);
    }
    __syncthreads();
}

template <typename OUT, bool BLOCKS> SMP_DEVICE void morph_tiles(const smp_io &io, const smp_morph &m, int launch)
{
    SMP_SMEM_DYNAMIC(int32_t, shared);
    const smp_morph_pass pass = smp_morph_pass_of(&m, launch);
    const smp_view &in = pass.of_second ? io.second : io.in;
    const int channels = in.channels, rx = pass.moves ? m.rx : 0, ry = pass.moves ? m.ry : 0;
    const float outside = smp_morph_outside(&m, in.white);
    const int pitch = smp_morph_pitch(&m, channels), rows = SMP_MORPH_DOWN + 2 * ry;
    const int across = SMP_MORPH_ACROSS + 2 * rx * channels;
    const int64_t n = stencil_samples(io.out), end = io.out.y0 + io.out.rows;
    const int thread = (int)(threadIdx.x + threadIdx.y * blockDim.x), threads = (int)(blockDim.x * blockDim.y);
    unsigned clipped = 0;
    for (int64_t y0 = io.out.y0 + (int64_t)blockIdx.y * SMP_MORPH_DOWN; y0 < end; y0 += gridDim.y * SMP_MORPH_DOWN)
        for (int64_t x0 = (int64_t)blockIdx.x * SMP_MORPH_ACROSS; x0 < n; x0 += (int64_t)gridDim.x * SMP_MORPH_ACROSS) {
            morph_tile t = {shared, shared + pitch * (SMP_MORPH_DOWN + 2 * m.ry), pitch, rows, channels, thread,
                            threads};
            for (int k = thread; k < across * rows; k += threads) {
                const int row = k / across, column = k % across;
                const int64_t i = x0 - rx * channels + column;
                const int64_t x = i >= 0 ? i / channels : -((channels - 1 - i) / channels);
                const float v = smp_morph_at(&in, x, y0 - ry + row, (int)(i - x * channels), m.edge, outside);
                t.keys[row * pitch + column] = smp_morph_key(v, pass.most);
            }
            __syncthreads();
            if (m.shape == SMP_SHAPE_SQUARE && pass.moves) {
                if (BLOCKS) {
                    morph_blocks<false>(t, 2 * rx + 1, SMP_MORPH_ACROSS, rows, channels);
                    morph_blocks<true>(t, 2 * ry + 1, SMP_MORPH_DOWN, SMP_MORPH_ACROSS, 1);
                } else {
                    morph_doubling<false>(t, 2 * rx + 1, SMP_MORPH_ACROSS, rows, channels);
                    morph_doubling<true>(t, 2 * ry + 1, SMP_MORPH_DOWN, SMP_MORPH_ACROSS, 1);
                }
            }
            for (int k = thread; k < SMP_MORPH_ACROSS * SMP_MORPH_DOWN; k += threads) {
                const int row = k / SMP_MORPH_ACROSS, column = k % SMP_MORPH_ACROSS;
                const int64_t y = y0 + row, i = x0 + column;
                int32_t least = t.keys[row * pitch + column];
                if (m.shape != SMP_SHAPE_SQUARE && pass.moves) {
                    least = SMP_MORPH_NAN;
                    for (int dy = -ry; dy <= ry; dy++) {
                        const int r = smp_morph_chord(&m, dy);
                        const int32_t *middle = t.keys + (row + dy + ry) * pitch + column + rx * channels;
                        for (int dx = -r; dx <= r; dx++)
                            least = morph_least(least, middle[dx * channels]);
                    }
                }
                if (y < end && i < n)
                    stencil_put(io, smp_out<OUT>(io.out, y), i,
                                smp_morph_result(&io, &pass, y, i, smp_morph_value(least, pass.most)), &clipped);
            }
            __syncthreads();
        }
    smp_count_clipped<OUT>(io, clipped);
}

#define MORPH(launch, LAUNCH, KERNELS)                                                                                 \
    template <typename IN, typename OUT> SMP_DEVICE void morph_##launch##_naive(const smp_io &io, const smp_morph &m)  \
    {                                                                                                                  \
        morph_each<OUT>(io, m, LAUNCH);                                                                                \
    }                                                                                                                  \
    template <typename IN, typename OUT> SMP_DEVICE void morph_##launch##_tiled(const smp_io &io, const smp_morph &m)  \
    {                                                                                                                  \
        morph_tiles<OUT, false>(io, m, LAUNCH);                                                                        \
    }                                                                                                                  \
    template <typename IN, typename OUT> SMP_DEVICE void morph_##launch##_vhgw(const smp_io &io, const smp_morph &m)   \
    {                                                                                                                  \
        morph_tiles<OUT, true>(io, m, LAUNCH);                                                                         \
    }                                                                                                                  \
    KERNELS(morph_##launch##_naive, smp_morph)                                                                         \
    KERNELS(morph_##launch##_tiled, smp_morph)                                                                         \
    KERNELS(morph_##launch##_vhgw, smp_morph)
MORPH(only, SMP_MORPH_ONLY, SMP_KERNEL_FORMATS)
MORPH(first, SMP_MORPH_FIRST, SMP_KERNEL_INTO_F32)
MORPH(last, SMP_MORPH_LAST, SMP_KERNEL_FROM_F32)
