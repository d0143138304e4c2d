/* fft, ifft and fftfilter on the CPU (fourier.h has the definition). Threads share out rows, and groups of columns.
 *   one    line by line, as the definition says.
 *   lanes  neighbouring lines, one in each lane of a vector: columns come from memory as whole cache lines.
 * By perf, 3000 x 2000 f32 on a core of an AMD EPYC: 33 ms, half of them columns (each line of a cache is in another
 * page), a quarter rows, a quarter the second half of the spectrum, which FFTW's half spectrum (64 ms there) lacks.
 * Joining two passes, so that memory is crossed half as often, changes nothing: lines fit the second-level cache. */
#include "matmul/fourier.h"

#include "lib/fft_cpu.h"

enum { LANES = SMP_FFT_LANES, GROUP = SMP_FOURIER_GROUP };

/* n samples of channel c of a row, at most. */
SMP_INLINE void load_channel_as(float *restrict to, const void *row, int format, int channels, int c, int64_t n)
{
    for (int64_t x = 0; x < n; x++)
        to[x] = smp_load(row, x * channels + c, format);
}

/* Row y of what is transformed. */
SMP_INLINE void load_line(float *to, const smp_view *in, const smp_fourier *p, int64_t y, int c)
{
    const int64_t row = smp_fourier_place(y, in->height, p->height, p->edge);
    const int64_t n = in->width;
    if (row < 0) {
        memset(to, 0, (size_t)p->width * sizeof *to);
        return;
    }
    const void *from = smp_row(in, row);
    if (in->channels == 1)
        smp_load_row(to, from, in->format, n);
    else if (in->format == SMP_U8)
        load_channel_as(to, from, SMP_U8, in->channels, c, n);
    else if (in->format == SMP_U16)
        load_channel_as(to, from, SMP_U16, in->channels, c, n);
    else
        load_channel_as(to, from, SMP_F32, in->channels, c, n);
    for (int64_t x = n; x < p->width; x++) {
        const int64_t column = smp_fourier_place(x, n, p->width, p->edge);
        to[x] = column < 0 ? 0.f : to[column];
    }
}

/* One sample of a line of the output. */
SMP_INLINE void put_line(const smp_io *io, const float *from, int64_t step, int64_t y, int c, float *line)
{
    const int64_t n = io->out.width;
    const int channels = io->out.channels;
    void *to = smp_row(&io->out, y);
    for (int64_t x = 0; x < n; x++)
        line[x] = smp_one_nan(from[x * step]);
    if (channels == 1) {
        smp_store_row(to, io->out.format, line, n, io->clipped);
        return;
    }
    uint64_t clipped = 0;
    const float white = io->out.format == SMP_U8 ? 255.f : 65535.f;
    for (int64_t x = 0; x < n; x++) {
        clipped += (uint64_t)smp_clips(line[x], white);
        smp_store(to, x * channels + c, io->out.format, line[x]);
    }
    if (io->clipped && io->out.format != SMP_F32)
        *io->clipped += clipped;
}

/* Alpha that is not transformed passes. */
SMP_INLINE void put_alpha(const smp_io *io, const smp_fourier *p, int64_t y)
{
    for (int c = p->channels; c < io->out.channels; c++)
        for (int64_t x = 0; x < io->out.width; x++)
            smp_store(smp_row(&io->out, y), x * io->out.channels + c, io->out.format,
                      smp_load(smp_row(&io->second, y), x * io->second.channels + c, io->second.format));
}

/* ---------------------------------------------------------------------------------------------- one by one */

/* Lines y0 .. y1-1: row by row, channel by channel. */
SMP_CPU_KERNEL(fourier_rows_one)
{
    const smp_fourier *p = params;
    const float *w = smp_fourier_across(io), *roots = w + smp_fft_twiddles(&p->across);
    const int64_t n = p->across.n;
    float *a = scratch, *b = a + 2 * n;
    for (int64_t line = y0; line < y1; line++) {
        const int64_t y = line / p->channels;
        const int c = (int)(line % p->channels);
        float *to = smp_fourier_number(&io->out, p, y, c, 0);
        for (int64_t i = 0; i < n; i++) {
            a[2 * i] = smp_fourier_sample(&io->in, p, y, p->halves ? 2 * i : i, c);
            a[2 * i + 1] = p->halves ? smp_fourier_sample(&io->in, p, y, 2 * i + 1, c) : 0.f;
        }
        const float *z = smp_fft_one(&p->across, w, a, b);
        if (!p->halves)
            memcpy(to, z, (size_t)p->bins * 2 * sizeof *to);
        else
            smp_fft1_halves(to, z, n, roots);
    }
}

/* Columns y0 .. y1-1: of all channels, one after the other. */
SMP_CPU_KERNEL(fourier_columns_one)
{
    const smp_fourier *p = params;
    const float *w = smp_fourier_down(io, p), *squares = (const float *)io->table + p->squares_at;
    const int64_t n = p->down.n;
    float *a = scratch, *b = a + 2 * n;
    for (int64_t column = y0; column < y1; column++) {
        const int64_t k = column % p->bins;
        const int c = (int)(column / p->bins);
        for (int64_t y = 0; y < n; y++)
            memcpy(a + 2 * y, smp_fourier_number(&io->in, p, y, c, k), 2 * sizeof *a);
        float *z = smp_fft_one(&p->down, w, a, b);
        for (int64_t y = 0; p->filter && y < n; y++) {
            const float factor = smp_fourier_factor(p, squares[k], squares[p->bins + y]), re = z[2 * y] * factor;
            z[2 * y] = z[2 * y + 1] * factor;
            z[2 * y + 1] = re;
        }
        if (p->filter)
            z = smp_fft_one(&p->down, w, z, z == a ? b : a);
        for (int64_t y = 0; y < n; y++) {
            float *to = smp_fourier_number(&io->out, p, y, c, k);
            to[0] = z[2 * y + (p->filter != 0)];
            to[1] = z[2 * y + (p->filter == 0)];
        }
    }
}

/* Rows of samples; the transform has imaginary parts first. */
SMP_CPU_KERNEL(fourier_back_one)
{
    const smp_fourier *p = params;
    const float *w = smp_fourier_across(io), *roots = w + smp_fft_twiddles(&p->across);
    const int64_t n = p->across.n;
    float *a = scratch, *b = a + 2 * n, *line = b + 2 * n;
    for (int64_t y = y0; y < y1; y++) {
        for (int c = 0; c < p->channels; c++) {
            const float *from = smp_fourier_number(&io->in, p, y, c, 0);
            if (p->halves)
                smp_fft1_whole(a, from, n, roots, 1);
            for (int64_t k = 0; !p->halves && k < p->bins; k++) {
                if (k)
                    a[2 * (n - k)] = -from[2 * k + 1], a[2 * (n - k) + 1] = from[2 * k];
                a[2 * k] = from[2 * k + 1], a[2 * k + 1] = from[2 * k];
            }
            const float *z = smp_fft_one(&p->across, w, a, b);
            float *samples = z == a ? b : a;
            for (int64_t x = 0; x < p->width; x++)
                samples[x] = p->halves ? z[x ^ 1] : z[2 * x + 1];
            put_line(io, samples, 1, y, c, line);
        }
        put_alpha(io, p, y);
    }
}

/* A row of the inverse transform, of numbers with imaginary parts first, as shown. */
SMP_INLINE void put_inverse(const smp_io *io, const smp_fourier *p, const float *z, int64_t step, int64_t y, int c)
{
    float *to = smp_row(&io->out, y);
    const int channels = io->out.channels;
    if (p->output == SMP_FOURIER_COMPLEX)
        for (int64_t x = 0; x < p->width; x++) {
            to[x * channels + 2 * c] = smp_one_nan(z[(2 * x + 1) * step] * p->scale);
            to[x * channels + 2 * c + 1] = smp_one_nan(z[2 * x * step] * p->scale);
        }
    else
        for (int64_t x = 0; x < p->width; x++)
            to[x * channels + c] = smp_fourier_shown(p, z[(2 * x + 1) * step], z[2 * x * step]);
}

SMP_CPU_KERNEL(fourier_inverse_one)
{
    const smp_fourier *p = params;
    const float *w = smp_fourier_across(io);
    float *a = scratch, *b = a + 2 * p->across.n;
    for (int64_t y = y0; y < y1; y++)
        for (int c = 0; c < p->channels; c++) {
            memcpy(a, smp_fourier_number(&io->in, p, y, c, 0), (size_t)p->width * 2 * sizeof *a);
            put_inverse(io, p, smp_fft_one(&p->across, w, a, b), 1, y, c);
        }
}

/* ---------------------------------------------------------------------------------------------- lanes */

/* Groups of rows y0 .. y1-1. */
SMP_CPU_KERNEL(fourier_rows_lanes)
{
    const smp_fourier *p = params;
    const float *w = smp_fourier_across(io), *roots = w + smp_fft_twiddles(&p->across);
    const int64_t n = p->across.n, pitch = 2 * n;
    float *plane = scratch;
    smp_fft_vec *a = (smp_fft_vec *)(void *)(plane + pitch * LANES), *b = a + 2 * n + 2;
    const int64_t end = y1 * GROUP < p->height ? y1 * GROUP : p->height;
    for (int64_t y = y0 * GROUP; y < end; y += LANES)
        for (int c = 0; c < p->channels; c++) {
            const int64_t rows = end - y < LANES ? end - y : LANES;
            for (int64_t lane = 0; lane < LANES; lane++)
                load_line(plane + lane * pitch, &io->in, p, lane < rows ? y + lane : y, c);
            smp_fft_gather((float *)a, plane, pitch, p->width, NULL);
            for (int64_t i = n - 1; !p->halves && i >= 0; i--)
                a[2 * i] = a[i], a[2 * i + 1] = (smp_fft_vec){0};
            smp_fft_vec *z = smp_fft_lanes(&p->across, w, a, b), *done = z == a ? b : a;
            if (p->halves)
                smp_fftv_halves(done, z, n, roots);
            const float *from = (const float *)(p->halves ? done : z);
            if (rows == LANES) {
                smp_fft_scatter(smp_fourier_number(&io->out, p, y, c, 0), io->out.stride / (int64_t)sizeof(float), from,
                                2 * (int64_t)p->bins);
                continue;
            }
            for (int64_t lane = 0; lane < rows; lane++)
                for (int64_t i = 0; i < 2 * (int64_t)p->bins; i++)
                    smp_fourier_number(&io->out, p, y + lane, c, 0)[i] = from[i * LANES + lane];
        }
}

#if defined(__AVX512F__)
#define EVEN(u, v)  __builtin_shufflevector(u, v, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30)
#define ODD(u, v)   __builtin_shufflevector(u, v, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31)
#define LOWER(u, v) __builtin_shufflevector(u, v, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define UPPER(u, v) __builtin_shufflevector(u, v, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#elif defined(__AVX2__)
#define EVEN(u, v)  __builtin_shufflevector(u, v, 0, 2, 4, 6, 8, 10, 12, 14)
#define ODD(u, v)   __builtin_shufflevector(u, v, 1, 3, 5, 7, 9, 11, 13, 15)
#define LOWER(u, v) __builtin_shufflevector(u, v, 0, 8, 1, 9, 2, 10, 3, 11)
#define UPPER(u, v) __builtin_shufflevector(u, v, 4, 12, 5, 13, 6, 14, 7, 15)
#else
#define EVEN(u, v)  __builtin_shufflevector(u, v, 0, 2, 4, 6)
#define ODD(u, v)   __builtin_shufflevector(u, v, 1, 3, 5, 7)
#define LOWER(u, v) __builtin_shufflevector(u, v, 0, 4, 1, 5)
#define UPPER(u, v) __builtin_shufflevector(u, v, 2, 6, 3, 7)
#endif

/* Pairs of floats of LANES neighbouring columns, of which `count` are there, to real and imaginary parts; and back. */
SMP_INLINE void load_pairs(smp_fft_vec *to, const float *from, int64_t count)
{
    smp_fft_vec own[2] = {{0}, {0}};
    if (count < LANES) {
        memcpy(own, from, (size_t)(2 * count) * sizeof *from);
    } else {
        own[0] = *(const smp_fft_vec *)(const void *)from;
        own[1] = *(const smp_fft_vec *)(const void *)(from + LANES);
    }
    to[0] = EVEN(own[0], own[1]);
    to[1] = ODD(own[0], own[1]);
}

SMP_INLINE void store_pairs(float *to, smp_fft_vec re, smp_fft_vec im, int64_t count)
{
    const smp_fft_vec own[2] = {LOWER(re, im), UPPER(re, im)};
    if (count < LANES) {
        memcpy(to, own, (size_t)(2 * count) * sizeof *to);
    } else {
        *(smp_fft_vec *)(void *)to = own[0];
        *(smp_fft_vec *)(void *)(to + LANES) = own[1];
    }
}

/* Factors of LANES columns in a row. */
SMP_INLINE smp_fft_vec factors_of(const smp_fourier *p, const float *across, float down)
{
    union {
        float f[LANES];
        smp_fft_vec v;
    } factors;
    for (int i = 0; i < LANES; i++)
        factors.f[i] = smp_fourier_factor(p, across[i], down);
    return factors.v;
}

/* z times the filter's factors, real and imaginary parts exchanged. One loop for each filter. */
SMP_INLINE void filter_as(smp_fft_vec *z, const smp_fourier *p, int filter, const float *across, const float *down)
{
    smp_fourier own = *p;
    own.filter = filter;
    for (int64_t y = 0; y < own.height; y++) {
        const smp_fft_vec factor = factors_of(&own, across, down[y]), re = z[2 * y] * factor;
        z[2 * y] = z[2 * y + 1] * factor;
        z[2 * y + 1] = re;
    }
}

/* Groups of columns y0 .. y1-1: the same number of every channel. */
SMP_CPU_KERNEL(fourier_columns_lanes)
{
    const smp_fourier *p = params;
    const float *w = smp_fourier_down(io, p), *squares = (const float *)io->table + p->squares_at;
    const int64_t n = p->down.n, groups = (p->bins + GROUP - 1) / GROUP;
    smp_fft_vec *a = scratch, *b = a + 2 * n;
    for (int64_t group = y0; group < y1; group++) {
        const int c = (int)(group / groups);
        const int64_t first = group % groups * GROUP, end = first + GROUP < p->bins ? first + GROUP : p->bins;
        for (int64_t k = first; k < end; k += LANES) {
            const int64_t count = end - k < LANES ? end - k : LANES;
            for (int64_t y = 0; y < n; y++)
                load_pairs(a + 2 * y, smp_fourier_number(&io->in, p, y, c, k), count);
            smp_fft_vec *z = smp_fft_lanes(&p->down, w, a, b);
            if (p->filter) {
                float across[LANES];
                for (int i = 0; i < LANES; i++)
                    across[i] = squares[i < count ? k + i : k];
                if (p->filter == SMP_FOURIER_GAUSSIAN)
                    filter_as(z, p, SMP_FOURIER_GAUSSIAN, across, squares + p->bins);
                else if (p->filter == SMP_FOURIER_IDEAL)
                    filter_as(z, p, SMP_FOURIER_IDEAL, across, squares + p->bins);
                else
                    filter_as(z, p, SMP_FOURIER_BUTTERWORTH, across, squares + p->bins);
                z = smp_fft_lanes(&p->down, w, z, z == a ? b : a);
            }
            const int re = p->filter != 0;
            for (int64_t y = 0; y < n; y++)
                store_pairs(smp_fourier_number(&io->out, p, y, c, k), z[2 * y + re], z[2 * y + 1 - re], count);
        }
    }
}

SMP_CPU_KERNEL(fourier_back_lanes)
{
    const smp_fourier *p = params;
    const float *w = smp_fourier_across(io), *roots = w + smp_fft_twiddles(&p->across);
    const int64_t n = p->across.n;
    smp_fft_vec *spectrum = scratch, *a = spectrum + 2 * n + 2, *b = a + 2 * n;
    float *line = (float *)(b + 2 * n);
    for (int64_t y = y0; y < y1; y += LANES) {
        const int64_t rows = y1 - y < LANES ? y1 - y : LANES;
        for (int c = 0; c < p->channels; c++) {
            float *s = (float *)spectrum;
            if (rows == LANES)
                smp_fft_gather(s, smp_fourier_number(&io->in, p, y, c, 0), io->in.stride / (int64_t)sizeof(float),
                               2 * (int64_t)p->bins, NULL);
            for (int64_t lane = 0; rows < LANES && lane < LANES; lane++)
                for (int64_t i = 0; i < 2 * (int64_t)p->bins; i++)
                    s[i * LANES + lane] = smp_fourier_number(&io->in, p, lane < rows ? y + lane : y, c, 0)[i];
            if (p->halves)
                smp_fftv_whole(a, spectrum, n, roots, 1);
            for (int64_t k = 0; !p->halves && k < p->bins; k++) {
                if (k)
                    a[2 * (n - k)] = -spectrum[2 * k + 1], a[2 * (n - k) + 1] = spectrum[2 * k];
                a[2 * k] = spectrum[2 * k + 1], a[2 * k + 1] = spectrum[2 * k];
            }
            smp_fft_vec *z = smp_fft_lanes(&p->across, w, a, b), *samples = z == a ? b : a;
            for (int64_t x = 0; x < p->width; x++)
                samples[x] = p->halves ? z[x ^ 1] : z[2 * x + 1];
            for (int64_t lane = 0; lane < rows; lane++)
                put_line(io, (const float *)samples + lane, LANES, y + lane, c, line);
        }
        for (int64_t lane = 0; lane < rows; lane++)
            put_alpha(io, p, y + lane);
    }
}

SMP_CPU_KERNEL(fourier_inverse_lanes)
{
    const smp_fourier *p = params;
    const float *w = smp_fourier_across(io);
    const int64_t n = p->across.n;
    smp_fft_vec *a = scratch, *b = a + 2 * n;
    for (int64_t y = y0; y < y1; y += LANES) {
        const int64_t rows = y1 - y < LANES ? y1 - y : LANES;
        for (int c = 0; c < p->channels; c++) {
            float *s = (float *)a;
            if (rows == LANES)
                smp_fft_gather(s, smp_fourier_number(&io->in, p, y, c, 0), io->in.stride / (int64_t)sizeof(float),
                               2 * n, NULL);
            for (int64_t lane = 0; rows < LANES && lane < LANES; lane++)
                for (int64_t i = 0; i < 2 * n; i++)
                    s[i * LANES + lane] = smp_fourier_number(&io->in, p, lane < rows ? y + lane : y, c, 0)[i];
            const float *z = (const float *)smp_fft_lanes(&p->across, w, a, b);
            for (int64_t lane = 0; lane < rows; lane++)
                put_inverse(io, p, z + lane, LANES, y + lane, c);
        }
    }
}

/* ---------------------------------------------------------------------------------------------- pictures */

/* Columns x .. end-1 of a row of what is shown: numbers `from`, `from + 2 step`, ...; sign: of their imaginary parts.
 */
SMP_INLINE void show(float *restrict to, int64_t x, int64_t end, const float *from, int64_t step, float sign, int c,
                     int channels, const smp_fourier *p)
{
    const smp_fourier own = *p;
    if (own.output == SMP_FOURIER_COMPLEX)
        for (; x < end; x++, from += 2 * step) {
            to[x * channels + 2 * c] = smp_one_nan(from[0] * own.scale);
            to[x * channels + 2 * c + 1] = smp_one_nan(sign * from[1] * own.scale);
        }
    else
        for (; x < end; x++, from += 2 * step)
            to[x * channels + c] = smp_fourier_shown(&own, from[0], sign * from[1]);
}

/* Rows of what is shown: numbers of the second half of a row are those of another row, backwards. */
SMP_CPU_KERNEL(fourier_spectrum)
{
    const smp_fourier *p = params;
    for (int64_t y = y0; y < y1; y++)
        for (int c = 0; c < p->channels; c++) {
            const int64_t v = smp_fourier_shift(p, y, p->height), other = v ? p->height - v : 0;
            float *to = smp_row(&io->out, y);
            for (int64_t x = 0; x < p->width;) {
                const int64_t u = smp_fourier_shift(p, x, p->width);
                const int64_t run = u < p->bins ? p->bins - u : p->width - u;
                const int64_t end = x + run < p->width ? x + run : p->width;
                if (u < p->bins)
                    show(to, x, end, smp_fourier_number(&io->in, p, v, c, u), 1, 1.f, c, io->out.channels, p);
                else
                    show(to, x, end, smp_fourier_number(&io->in, p, other, c, p->width - u), -1, -1.f, c,
                         io->out.channels, p);
                x = end;
            }
        }
}

/* Rows of numbers for ifft, imaginary parts first. */
SMP_CPU_KERNEL(fourier_take)
{
    const smp_fourier *p = params;
    for (int64_t v = y0; v < y1; v++) {
        const float *from = smp_row(&io->in, smp_fourier_unshift(p, v, p->height));
        for (int c = 0; c < p->channels; c++) {
            float *to = smp_fourier_number(&io->out, p, v, c, 0);
            for (int64_t u = 0; u < p->width; u++) {
                const int64_t i = smp_fourier_unshift(p, u, p->width) * io->in.channels + 2 * c;
                to[2 * u] = from[i + 1], to[2 * u + 1] = from[i];
            }
        }
    }
}
