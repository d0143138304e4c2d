/* fft, ifft and fftfilter on GPUs (fourier.h has the definition). A block takes some lines, rows or neighbouring
 * columns, as many threads for each; lines are transformed in memory of their own, from one half of it to the other.
 *   naive     that memory is global: every pass goes through the caches, a line a block.
 *   tiled     shared memory, numbers end to end: the first pass writes four numbers apart, so that lanes 0, 4, 8, ..
 *             meet one bank; the next sixteen apart.
 *   padded    a number more after every sixteen: the first pass meets all banks.
 *   swizzled  no number more: the low four bits of an index are XORed with 5 times the next two, so that the stores of
 *             the first pass and of the second meet all banks (docs/banks.md, 13).
 *   register  as padded, but a thread keeps its numbers in registers from a pass's loads to its stores, so that a line
 *             needs its memory once: twice the columns fit, and memory is read in longer pieces. */
#include "matmul/fourier.h"

#include "matmul/fourier.cuh"

struct fourier_swizzled {
    smp_number *at;
    SMP_DEVICE_MEMBER smp_number *operator()(int i) const { return at + (i ^ (i / 16 & 3) * 5); }
};

/* A pass in place: all numbers of a thread's butterflies are in registers before any is written. */
template <int R, typename MEMORY> SMP_DEVICE void fourier_pass(const MEMORY &a, const float *w, int n, int s)
{
    constexpr int most = (SMP_FOURIER_REGISTERS + R - 1) / R;
    const int others = n / R, m = others / s, me = (int)threadIdx.x, threads = (int)blockDim.x;
    float re[most][R], im[most][R];
#pragma unroll
    for (int t = 0; t < most; t++) {
        const int i = me + t * threads;
        smp_converge();
        if (i < others) {
#pragma unroll
            for (int j = 0; j < R; j++) {
                const smp_number v = *a(i + j * others);
                re[t][j] = v.v[0], im[t][j] = v.v[1];
            }
            smp_fft_butterfly(re[t], im[t], R, i / s, m, w);
        }
    }
    __syncthreads();
#pragma unroll
    for (int t = 0; t < most; t++) {
        const int i = me + t * threads, p = i / s, q = i - p * s;
        smp_converge();
        if (i < others) {
#pragma unroll
            for (int k = 0; k < R; k++) {
                smp_number v;
                v.v[0] = re[t][k], v.v[1] = im[t][k];
                *a(q + s * (R * p + k)) = v;
            }
        }
    }
    __syncthreads();
}

/* Transforms lines: run() gives where the result lies; a barrier must have passed since `a` was written. */
template <typename MEMORY_, int KIND> struct fourier_twice {
    typedef MEMORY_ MEMORY;
    enum { kind = KIND, copies = 2 };
    static SMP_DEVICE_MEMBER MEMORY run(const smp_fft &f, const float *w, const MEMORY &a, const MEMORY &b)
    {
        return smp_fft_one_of(a, b, smp_fft_block(f, w, a, b));
    }
};
struct fourier_in_place {
    typedef fourier_padded MEMORY;
    enum { kind = SMP_FOURIER_PADDED, copies = 1 };
    static SMP_DEVICE_MEMBER MEMORY run(const smp_fft &f, const float *w, const MEMORY &a, const MEMORY &)
    {
        int s = 1;
#pragma unroll 1
        for (int pass = 0; pass < f.passes; pass++) {
            const int r = f.radix[pass];
            if (r == 4)
                fourier_pass<4>(a, w, f.n, s);
            else if (r == 2)
                fourier_pass<2>(a, w, f.n, s);
            else if (r == 3)
                fourier_pass<3>(a, w, f.n, s);
            else if (r == 5)
                fourier_pass<5>(a, w, f.n, s);
            else
                fourier_pass<7>(a, w, f.n, s);
            w += 2 * (r - 1) * (f.n / (s * r));
            s *= r;
        }
        return a;
    }
};
typedef fourier_twice<smp_fft_plain, SMP_FOURIER_PLAIN> fourier_tiled;
typedef fourier_twice<fourier_padded, SMP_FOURIER_PADDED> fourier_padding;
typedef fourier_twice<fourier_swizzled, SMP_FOURIER_SWIZZLED> fourier_swizzling;

/* The memory of line `line` of the block, and its other half. */
template <typename HOW>
SMP_DEVICE void fourier_memory(smp_number *memory, int n, int line, typename HOW::MEMORY &a, typename HOW::MEMORY &b)
{
    const int numbers = (int)smp_fourier_numbers(HOW::kind, n);
    a.at = memory + (int64_t)line * HOW::copies * numbers;
    b.at = a.at + (HOW::copies - 1) * numbers;
}

/* ---------------------------------------------------------------------------------------------- forward */

/* Rows of samples to rows of numbers. Geometry: a block for some lines, row by row, channel by channel (x); threads of
 * a line (x), lines (y). */
template <typename HOW, typename IN>
SMP_DEVICE void fourier_rows(const smp_io &io, const smp_fourier &p, smp_number *memory)
{
    const float *w = smp_fourier_across(&io), *roots = w + smp_fft_twiddles(&p.across);
    const int n = p.across.n, me = (int)threadIdx.x, threads = (int)blockDim.x;
    typename HOW::MEMORY a, b;
    fourier_memory<HOW>(memory, n, (int)threadIdx.y, a, b);
    const int64_t lines = (int64_t)p.height * p.channels;
    for (int64_t first = (int64_t)blockIdx.x * blockDim.y; first < lines; first += (int64_t)gridDim.x * blockDim.y) {
        const int64_t line = first + threadIdx.y, y = line / p.channels;
        const int c = (int)(line % p.channels);
        const int64_t row = line < lines ? smp_fourier_place(y, io.in.height, p.height, p.edge) : -1;
        __syncthreads(); /* all threads are done with the lines before */
        for (int i = me; i < n; i += threads) {
            float v[2] = {0.f, 0.f};
            for (int k = 0; k <= p.halves && row >= 0; k++) {
                const int64_t x = smp_fourier_place(p.halves ? 2 * i + k : i, io.in.width, p.width, p.edge);
                v[k] = x < 0 ? 0.f : smp_value(smp_in<IN>(io.in, row)[x * io.in.channels + c]);
            }
            *a(i) = fourier_pair(v[0], v[1]);
        }
        __syncthreads();
        const typename HOW::MEMORY z = HOW::run(p.across, w, a, b);
        if (line >= lines)
            continue;
        float *const to = smp_fourier_number(&io.out, &p, y, c, 0);
        for (int k = me; !p.halves && k < p.bins; k += threads) {
            smp_converge();
            const smp_number v = *z(k);
            fourier_put(to + 2 * k, v.v[0], v.v[1]);
        }
        for (int k = me; p.halves && k <= n - k; k += threads) {
            const int l = n - k;
            smp_converge();
            smp_number u = *z(k), v = *z(l == n ? 0 : l);
            smp_fft1_split(&u.v[0], &u.v[1], &v.v[0], &v.v[1], roots[2 * k], roots[2 * k + 1]);
            if (k != l)
                fourier_put(to + 2 * l, v.v[0], v.v[1]);
            fourier_put(to + 2 * k, u.v[0], u.v[1]);
        }
    }
}

/* Columns of numbers in place. Geometry: a block for some neighbouring columns of a channel (x); threads as above. */
template <typename HOW> SMP_DEVICE void fourier_columns(const smp_io &io, const smp_fourier &p, smp_number *memory)
{
    const float *w = smp_fourier_down(&io, &p), *squares = static_cast<const float *>(io.table) + p.squares_at;
    const int n = p.down.n, lines = (int)blockDim.y, me = (int)threadIdx.x, threads = (int)blockDim.x;
    const int all = threads * lines, mine = me + threads * (int)threadIdx.y, groups = (p.bins + lines - 1) / lines;
    typename HOW::MEMORY a, b;
    fourier_memory<HOW>(memory, n, (int)threadIdx.y, a, b);
    for (int64_t group = blockIdx.x; group < (int64_t)groups * p.channels; group += gridDim.x) {
        const int c = (int)(group / groups), first = (int)(group % groups) * lines;
        const int k = min(first + (int)threadIdx.y, p.bins - 1);
        __syncthreads(); /* all threads are done with the columns before */
        for (int64_t i = mine; i < (int64_t)n * lines; i += all) {
            const int line = (int)(i % lines), y = (int)(i / lines);
            typename HOW::MEMORY to, other;
            fourier_memory<HOW>(memory, n, line, to, other);
            smp_converge();
            *to(y) = first + line < p.bins ? fourier_get(smp_fourier_number(&io.in, &p, y, c, first + line))
                                           : fourier_pair(0.f, 0.f);
        }
        __syncthreads();
        typename HOW::MEMORY z = HOW::run(p.down, w, a, b);
        if (p.filter) {
            for (int y = me; y < n; y += threads) {
                const float factor = smp_fourier_factor(&p, squares[k], squares[p.bins + y]);
                smp_converge();
                const smp_number v = *z(y);
                *z(y) = fourier_pair(v.v[1] * factor, v.v[0] * factor);
            }
            __syncthreads();
            z = HOW::run(p.down, w, z, smp_fft_one_of(a, b, z.at == a.at));
        }
        const int64_t beside = z.at - a.at; /* of the result in every line's memory */
        for (int64_t i = mine; i < (int64_t)n * lines; i += all) {
            const int line = (int)(i % lines), y = (int)(i / lines);
            typename HOW::MEMORY from, other;
            fourier_memory<HOW>(memory, n, line, from, other);
            from.at += beside;
            smp_converge();
            if (first + line < p.bins) {
                const smp_number v = *from(y);
                fourier_put(smp_fourier_number(&io.out, &p, y, c, first + line), v.v[p.filter != 0],
                            v.v[p.filter == 0]);
            }
        }
    }
}

/* ---------------------------------------------------------------------------------------------- back */

/* Rows of the output from rows of numbers: as fourier_rows. */
template <typename HOW, typename OUT>
SMP_DEVICE void fourier_back(const smp_io &io, const smp_fourier &p, smp_number *memory)
{
    const float *w = smp_fourier_across(&io), *roots = w + smp_fft_twiddles(&p.across);
    const int n = p.across.n, me = (int)threadIdx.x, threads = (int)blockDim.x, channels = io.out.channels;
    typename HOW::MEMORY a, b;
    fourier_memory<HOW>(memory, n, (int)threadIdx.y, a, b);
    const int64_t lines = io.out.rows * p.channels;
    unsigned clipped = 0;
    for (int64_t first = (int64_t)blockIdx.x * blockDim.y; first < lines; first += (int64_t)gridDim.x * blockDim.y) {
        const int64_t line = min(first + threadIdx.y, lines - 1), y = io.out.y0 + line / p.channels;
        const int c = (int)(line % p.channels);
        const float *const from = smp_fourier_number(&io.in, &p, y, c, 0);
        __syncthreads(); /* all threads are done with the lines before */
        for (int k = me; p.halves && k <= n - k; k += threads) {
            const int l = n - k;
            smp_number u = fourier_get(from + 2 * k), v = fourier_get(from + 2 * l);
            smp_fft1_merge(&u.v[0], &u.v[1], &v.v[0], &v.v[1], roots[2 * k], roots[2 * k + 1]);
            smp_converge();
            if (k && k != l)
                *a(l) = fourier_pair(v.v[1], v.v[0]);
            *a(k) = fourier_pair(u.v[1], u.v[0]);
        }
        for (int k = me; !p.halves && k < p.bins; k += threads) {
            const smp_number u = fourier_get(from + 2 * k);
            smp_converge();
            if (k)
                *a(n - k) = fourier_pair(-u.v[1], u.v[0]);
            *a(k) = fourier_pair(u.v[1], u.v[0]);
        }
        __syncthreads();
        const typename HOW::MEMORY z = HOW::run(p.across, w, a, b);
        if (first + threadIdx.y >= lines)
            continue;
        OUT *const to = smp_out<OUT>(io.out, y);
        for (int i = me; i < n; i += threads) {
            smp_converge();
            const smp_number v = *z(i);
            for (int k = 0; k <= p.halves; k++) {
                const int64_t x = p.halves ? 2 * i + k : i;
                const float sample = smp_one_nan(v.v[k == 0]);
                if (x < io.out.width) {
                    clipped += smp_clipped<OUT>(sample);
                    to[x * channels + c] = smp_rounded<OUT>(sample);
                }
            }
        }
        for (int64_t x = me; c == 0 && p.channels < channels && x < io.out.width; x += threads)
            to[x * channels + channels - 1] = smp_rounded<OUT>(
                smp_load(smp_row(&io.second, y), x * io.second.channels + channels - 1, io.second.format));
    }
    smp_count_clipped<OUT>(io, clipped);
}

/* Rows of what ifft shows, of numbers with imaginary parts first. */
template <typename HOW> SMP_DEVICE void fourier_inverse(const smp_io &io, const smp_fourier &p, smp_number *memory)
{
    const float *w = smp_fourier_across(&io);
    const int n = p.across.n, me = (int)threadIdx.x, threads = (int)blockDim.x, channels = io.out.channels;
    typename HOW::MEMORY a, b;
    fourier_memory<HOW>(memory, n, (int)threadIdx.y, a, b);
    const int64_t lines = io.out.rows * p.channels;
    for (int64_t first = (int64_t)blockIdx.x * blockDim.y; first < lines; first += (int64_t)gridDim.x * blockDim.y) {
        const int64_t line = min(first + threadIdx.y, lines - 1), y = io.out.y0 + line / p.channels;
        const int c = (int)(line % p.channels);
        const float *const from = smp_fourier_number(&io.in, &p, y, c, 0);
        __syncthreads(); /* all threads are done with the lines before */
        for (int k = me; k < n; k += threads) {
            smp_converge();
            *a(k) = fourier_get(from + 2 * k);
        }
        __syncthreads();
        const typename HOW::MEMORY z = HOW::run(p.across, w, a, b);
        if (first + threadIdx.y >= lines)
            continue;
        float *const to = smp_out<float>(io.out, y);
        for (int x = me; x < n; x += threads) {
            smp_converge();
            const smp_number v = *z(x);
            if (p.output == SMP_FOURIER_COMPLEX) {
                to[x * channels + 2 * c] = smp_one_nan(v.v[1] * p.scale);
                to[x * channels + 2 * c + 1] = smp_one_nan(v.v[0] * p.scale);
            } else {
                to[x * channels + c] = smp_fourier_shown(&p, v.v[1], v.v[0]);
            }
        }
    }
}

/* ---------------------------------------------------------------------------------------------- pictures */

/* Writes what is shown of numbers. Geometry: smp_geometry_pixels; io.strips.across: 0, or p.early where rows lie as the
 * rung split leaves them. */
SMP_KERNEL(fourier_spectrum_f32_f32, smp_fourier, io, p)
{
    const int64_t end = io.out.y0 + io.out.rows;
    const int channels = io.out.channels, early = (int)io.strips.across;
    for (int64_t y = io.out.y0 + blockIdx.y * blockDim.y + threadIdx.y; y < end; y += gridDim.y * blockDim.y)
        for (int64_t x = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; x < p.width;
             x += (int64_t)gridDim.x * blockDim.x) {
            const int64_t u = smp_fourier_shift(&p, x, p.width), v = smp_fourier_shift(&p, y, p.height);
            const bool there = u < p.bins;
            float *const to = smp_out<float>(io.out, y) + x * channels;
            for (int c = 0; c < p.channels; c++) {
                const int64_t row = there || !v ? v : p.height - v;
                const smp_number n = fourier_get(smp_fourier_number(
                    &io.in, &p, early ? smp_fourier_left(early, p.height, row) : row, c, there ? u : p.width - u));
                const float im = there ? n.v[1] : -n.v[1];
                if (p.output == SMP_FOURIER_COMPLEX) {
                    to[2 * c] = smp_one_nan(n.v[0] * p.scale);
                    to[2 * c + 1] = smp_one_nan(im * p.scale);
                } else {
                    to[c] = smp_fourier_shown(&p, n.v[0], im);
                }
            }
        }
}

/* Numbers for ifft. Geometry: smp_geometry_pixels over the input. */
SMP_KERNEL(fourier_take_f32_f32, smp_fourier, io, p)
{
    for (int64_t v = blockIdx.y * blockDim.y + threadIdx.y; v < p.height; v += gridDim.y * blockDim.y)
        for (int64_t u = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; u < p.width;
             u += (int64_t)gridDim.x * blockDim.x) {
            const float *const from = smp_in<float>(io.in, smp_fourier_unshift(&p, v, p.height)) +
                                      smp_fourier_unshift(&p, u, p.width) * io.in.channels;
            for (int c = 0; c < p.channels; c++)
                fourier_put(smp_fourier_number(&io.out, &p, v, c, u), from[2 * c + 1], from[2 * c]);
        }
}

/* ---------------------------------------------------------------------------------------------- kernels */

/* naive: two lines of global memory a block, below the spectra. `spectra`: which of the views has them. */
SMP_DEVICE smp_number *fourier_global(const smp_view &spectra, const smp_fourier &p)
{
    return static_cast<smp_number *>(smp_row(&spectra, p.height)) + (int64_t)blockIdx.x * 2 * smp_fourier_longest(&p);
}

#define FOURIER_NAIVE(name, body, spectra, ...)                                                                        \
    SMP_KERNEL(name, smp_fourier, io, p)                                                                               \
    {                                                                                                                  \
        body<__VA_ARGS__>(io, p, fourier_global(io.spectra, p));                                                       \
    }
#define FOURIER_SHARED(name, body, ...)                                                                                \
    SMP_KERNEL_BOUNDS(SMP_FOURIER_THREADS, 1, name, smp_fourier, io, p)                                                \
    {                                                                                                                  \
        SMP_SMEM_DYNAMIC(smp_number, s);                                                                               \
        body<__VA_ARGS__>(io, p, s);                                                                                   \
    }
#define FOURIER(rung, HOW)                                                                                             \
    FOURIER_SHARED(fourier_rows_##rung##_u8_f32, fourier_rows, HOW, uint8_t)                                           \
    FOURIER_SHARED(fourier_rows_##rung##_u16_f32, fourier_rows, HOW, uint16_t)                                         \
    FOURIER_SHARED(fourier_rows_##rung##_f32_f32, fourier_rows, HOW, float)                                            \
    FOURIER_SHARED(fourier_columns_##rung##_f32_f32, fourier_columns, HOW)                                             \
    FOURIER_SHARED(fourier_back_##rung##_f32_u8, fourier_back, HOW, uint8_t)                                           \
    FOURIER_SHARED(fourier_back_##rung##_f32_u16, fourier_back, HOW, uint16_t)                                         \
    FOURIER_SHARED(fourier_back_##rung##_f32_f32, fourier_back, HOW, float)                                            \
    FOURIER_SHARED(fourier_inverse_##rung##_f32_f32, fourier_inverse, HOW)

FOURIER_NAIVE(fourier_rows_naive_u8_f32, fourier_rows, out, fourier_tiled, uint8_t)
FOURIER_NAIVE(fourier_rows_naive_u16_f32, fourier_rows, out, fourier_tiled, uint16_t)
FOURIER_NAIVE(fourier_rows_naive_f32_f32, fourier_rows, out, fourier_tiled, float)
FOURIER_NAIVE(fourier_columns_naive_f32_f32, fourier_columns, out, fourier_tiled)
FOURIER_NAIVE(fourier_back_naive_f32_u8, fourier_back, in, fourier_tiled, uint8_t)
FOURIER_NAIVE(fourier_back_naive_f32_u16, fourier_back, in, fourier_tiled, uint16_t)
FOURIER_NAIVE(fourier_back_naive_f32_f32, fourier_back, in, fourier_tiled, float)
FOURIER_NAIVE(fourier_inverse_naive_f32_f32, fourier_inverse, in, fourier_tiled)
FOURIER(tiled, fourier_tiled)
FOURIER(padded, fourier_padding)
FOURIER(swizzled, fourier_swizzling)
FOURIER(register, fourier_in_place)
