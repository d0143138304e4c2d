/* fft, ifft and fftfilter: two-dimensional Fourier transforms (lib/fft.h has the order of operations). Spectra lie in
 * the picture between the launches: row y, channel c is `bins` pairs of floats from 2 c bins on.
 *
 *   fft        rows, then columns, then what is shown.
 *   fftfilter  rows; columns, each times a factor and back; rows back.
 *   ifft       columns, then rows; real and imaginary parts exchanged, which makes a transform its inverse.
 *
 * A row of real samples has width / 2 + 1 numbers. Where the width is even, a transform of half as many complex numbers
 * gives twice these; where it is odd, one of `width` numbers without imaginary parts gives them. Rows and columns
 * outside the picture come from the border rule: one half of them lies behind the picture, the other before it.
 *
 * The table: what `across` needs, what `down` needs, then for fftfilter squares of the columns' and rows' frequencies,
 * cycles a pixel. */
#pragma once

#include "lib/cpu_kernel.h"
#include "lib/exact_math.h"
#include "lib/fft.h"

enum { SMP_FOURIER_MAGNITUDE, SMP_FOURIER_PHASE, SMP_FOURIER_COMPLEX, SMP_FOURIER_LOG, SMP_FOURIER_REAL };
enum { SMP_FOURIER_NONE, SMP_FOURIER_GAUSSIAN, SMP_FOURIER_BUTTERWORTH, SMP_FOURIER_IDEAL };
enum {
    SMP_FOURIER_GROUP = 16,  /* CPU: lines that a thread takes at a time */
    SMP_FOURIER_BLOCKS = 64, /* GPU, naive: blocks, which have two lines each below the spectra */
    SMP_FOURIER_THREADS = 1024,
    SMP_FOURIER_REGISTERS = 8,     /* GPU, register: numbers that a thread keeps */
    SMP_FOURIER_KEPT = 16,         /* GPU, split: the same */
    SMP_FOURIER_TILE_THREADS = 256 /* GPU, split: of a block of columns, at most */
};
/* Layout of a line in a GPU's memory. */
enum { SMP_FOURIER_PLAIN, SMP_FOURIER_PADDED, SMP_FOURIER_SWIZZLED };

typedef struct smp_fourier {
    smp_fft across, down;
    int32_t width, height; /* of the transform */
    int32_t bins;          /* numbers of a row: width / 2 + 1, of ifft width */
    int32_t halves;        /* across.n is width / 2 */
    int32_t channels;      /* that are transformed */
    int32_t edge;          /* an smp_edge */
    int32_t output;        /* SMP_FOURIER_* */
    int32_t centred;       /* number 0 is in the middle of the picture */
    float scale;           /* of what is shown; fftfilter: of the factors */
    float per_log;
    int64_t down_at, squares_at; /* floats of the table */
    int32_t filter;              /* SMP_FOURIER_NONE .. */
    int32_t order;
    int32_t keeps_mean;
    int32_t passes_low, passes_high; /* whether it has this side */
    float low, high;                 /* squares of the frequencies; gaussian and butterworth: factors to them */
    int32_t early, early_passes;     /* GPU, split: passes of columns in the first of two launches, and the product of
                                        their radices; 1 and 0: there is one launch */
    int32_t unused;
} smp_fourier;

SMP_HOST_DEVICE const float *smp_fourier_across(const smp_io *io)
{
    return (const float *)io->table;
}
SMP_HOST_DEVICE const float *smp_fourier_down(const smp_io *io, const smp_fourier *p)
{
    return (const float *)io->table + p->down_at;
}

/* Number k of channel c in row y of the spectra. */
SMP_HOST_DEVICE float *smp_fourier_number(const smp_view *spectra, const smp_fourier *p, int64_t y, int c, int64_t k)
{
    return (float *)smp_row(spectra, y) + 2 * ((int64_t)c * p->bins + k);
}

/* The sample that stands for place i of n, of which `inside` are the picture's; -1: none does. */
SMP_HOST_DEVICE int64_t smp_fourier_place(int64_t i, int64_t inside, int64_t n, int edge)
{
    if (i < inside)
        return i;
    return smp_border(i < inside + (n - inside + 1) / 2 ? i : i - n, inside, edge);
}

/* Sample x of row y of what is transformed. */
SMP_HOST_DEVICE float smp_fourier_sample(const smp_view *in, const smp_fourier *p, int64_t y, int64_t x, int c)
{
    const int64_t row = smp_fourier_place(y, in->height, p->height, p->edge);
    const int64_t column = smp_fourier_place(x, in->width, p->width, p->edge);
    return row < 0 || column < 0 ? 0.f : smp_load(smp_row(in, row), column * in->channels + c, in->format);
}

/* Returns the share of frequency f, squared, that passes one side of a filter. */
SMP_HOST_DEVICE float smp_fourier_side(const smp_fourier *p, float square, float at)
{
    if (p->filter == SMP_FOURIER_IDEAL)
        return square <= at ? 1.f : 0.f;
    if (p->filter == SMP_FOURIER_GAUSSIAN)
        return smp_exp2f_(square * at);
    float r = square * at, power = r;
    for (int i = 1; i < p->order; i++)
        power = power * r;
    return 1.f / (1.f + power);
}
SMP_HOST_DEVICE float smp_fourier_factor(const smp_fourier *p, float across, float down)
{
    const float square = across + down;
    float factor = p->scale;
    if (p->passes_low)
        factor = factor * smp_fourier_side(p, square, p->low);
    if (p->passes_high)
        factor = factor * (1.f - smp_fourier_side(p, square, p->high));
    return p->keeps_mean && square == 0.f ? p->scale : factor;
}

/* The angle of (x, y), -pi .. pi, error <= 4e-7; 0 of (0, 0). Arcus tangent: a minimax polynomial of degree 17. */
SMP_HOST_DEVICE float smp_fourier_angle(float y, float x)
{
    const float ax = smp_abs(x), ay = smp_abs(y), low = ax < ay ? ax : ay, high = ax < ay ? ay : ax;
    const float t = high > 0.f ? low / high : high, s = t * t;
    float v = 0.00290358742f;
    v = fmaf(v, s, -0.0162831564f);
    v = fmaf(v, s, 0.0430396274f);
    v = fmaf(v, s, -0.0753370002f);
    v = fmaf(v, s, 0.106546901f);
    v = fmaf(v, s, -0.142071366f);
    v = fmaf(v, s, 0.199930549f);
    v = fmaf(v, s, -0.333330929f);
    v = fmaf(v * s, t, t);
    v = ay > ax ? 1.57079633f - v : v;
    v = x < 0.f ? 3.14159265f - v : v;
    return smp_with_sign(v, y);
}

/* Returns what is shown of a number, unless `complex` is. */
SMP_HOST_DEVICE float smp_fourier_shown(const smp_fourier *p, float re, float im)
{
    if (p->output == SMP_FOURIER_PHASE)
        return smp_one_nan(re == re && im == im ? smp_fourier_angle(im, re) : re + im);
    re = re * p->scale, im = im * p->scale;
    if (p->output == SMP_FOURIER_REAL)
        return smp_one_nan(re);
    const float magnitude = sqrtf(fmaf(im, im, re * re));
    return smp_one_nan(p->output == SMP_FOURIER_LOG ? smp_log2f_(1.f + magnitude) * p->per_log : magnitude);
}

/* The number at place i of a line of n, as shown; and back, the place of number i. */
SMP_HOST_DEVICE int64_t smp_fourier_shift(const smp_fourier *p, int64_t i, int64_t n)
{
    const int64_t k = p->centred ? i + (n + 1) / 2 : i;
    return k < n ? k : k - n;
}
SMP_HOST_DEVICE int64_t smp_fourier_unshift(const smp_fourier *p, int64_t i, int64_t n)
{
    const int64_t k = p->centred ? i + n / 2 : i;
    return k < n ? k : k - n;
}

/* GPU, split: the row in which two launches over columns leave row v of the spectra, the first of them with passes
 * whose factors multiply to `early` (fourier_split.cu). */
SMP_HOST_DEVICE int64_t smp_fourier_left(int early, int height, int64_t v)
{
    const unsigned first = (unsigned)early, late = (unsigned)height / first;
    return (unsigned)v % first * late + (unsigned)v / first;
}

/* Numbers of memory that a line of n takes. */
SMP_HOST_DEVICE int64_t smp_fourier_numbers(int memory, int64_t n)
{
    return memory == SMP_FOURIER_PLAIN ? n : memory == SMP_FOURIER_PADDED ? n + n / 16 + 1 : (n + 15) / 16 * 16;
}
SMP_HOST_DEVICE int64_t smp_fourier_longest(const smp_fourier *p)
{
    return p->across.n < p->down.n ? p->down.n : p->across.n;
}

SMP_CPU_DECLARE(fourier_rows_one);
SMP_CPU_DECLARE(fourier_rows_lanes);
SMP_CPU_DECLARE(fourier_columns_one);
SMP_CPU_DECLARE(fourier_columns_lanes);
SMP_CPU_DECLARE(fourier_spectrum);
SMP_CPU_DECLARE(fourier_back_one);
SMP_CPU_DECLARE(fourier_back_lanes);
SMP_CPU_DECLARE(fourier_take);
SMP_CPU_DECLARE(fourier_inverse_one);
SMP_CPU_DECLARE(fourier_inverse_lanes);
