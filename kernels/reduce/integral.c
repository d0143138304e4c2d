/* integral on the CPU.
 *   naive  the definition: blocks of rows, one running sum after the other.
 *   tiled  one walk: the row's running sum, added to a line of column sums in vectors. Of bytes sixteen running sums
 * are made at once, and multiplied by a reciprocal instead of divided, which takes as long as all else: see `put`. */
#include "reduce/integral.h"

#include <string.h>

static double *block_of(const smp_io *io, int64_t y)
{
    return (double *)io->result + y / SMP_INTEGRAL_ROWS * io->in.width * io->in.channels;
}

SMP_INLINE void walk_all(const smp_io *io, const smp_integral *p, int64_t y0, int64_t y1, int applies)
{
    for (int64_t top = y0; top < y1; top += SMP_INTEGRAL_ROWS)
        for (int64_t i = 0; i < smp_integral_walks(p, io); i++)
            smp_integral_walk(p, io, top, top + SMP_INTEGRAL_ROWS < y1 ? top + SMP_INTEGRAL_ROWS : y1, i, applies);
}

SMP_CPU_KERNEL(integral_blocks_naive)
{
    walk_all(io, params, y0, y1, 0);
}

SMP_CPU_KERNEL(integral_naive)
{
    walk_all(io, params, y0, y1, 1);
}

/* The row's running sums, or its samples. */
static void sums_along(double *restrict to, const smp_io *io, int64_t y, int along)
{
    const int channels = io->in.channels, format = io->in.format;
    const int64_t n = io->in.width * channels;
    const void *row = smp_row(&io->in, y);
    if (!along) {
        for (int64_t i = 0; i < n; i++)
            to[i] = smp_integral_value(row, i, format, io->in.white);
        return;
    }
    for (int c = 0; c < channels; c++) {
        smp_integral_run run = {0., 0., 0};
        for (int64_t i = c; i < n; i += channels)
            to[i] = smp_integral_next(&run, smp_integral_value(row, i, format, io->in.white), 1);
    }
}

SMP_INLINE void add_row(double *restrict sums, const double *restrict row, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        sums[i] = sums[i] + row[i];
}

enum { BYTES_MOST = 1 << 23 /* pixels of a row whose sum of bytes fits 31 bits */ };

static int bytes_alone(const smp_io *io)
{
    return io->in.format == SMP_U8 && io->in.channels == 1 && io->in.width < BYTES_MOST;
}

/* Sums of bytes down a block's columns. */
static void block_of_bytes(uint16_t *restrict sums, const smp_io *io, int64_t y, int64_t end)
{
    const int64_t n = io->in.width;
    memset(sums, 0, (size_t)n * sizeof *sums);
    for (; y < end; y++) {
        const uint8_t *restrict row = smp_row(&io->in, y);
        for (int64_t i = 0; i < n; i++)
            sums[i] = (uint16_t)(sums[i] + row[i]);
    }
}

SMP_CPU_KERNEL(integral_blocks_tiled)
{
    const smp_integral *p = params;
    const int64_t n = io->in.width * io->in.channels;
    double *row = scratch;
    for (int64_t top = y0; top < y1; top += SMP_INTEGRAL_ROWS) {
        const int64_t end = top + SMP_INTEGRAL_ROWS < y1 ? top + SMP_INTEGRAL_ROWS : y1;
        double *restrict to = block_of(io, top);
        if (bytes_alone(io)) {
            uint16_t *sums = scratch;
            int64_t sum = 0;
            block_of_bytes(sums, io, top, end);
            for (int64_t i = 0; i < n; i++) {
                sum = p->along == SMP_ALONG_BOTH ? sum + sums[i] : sums[i];
                to[i] = (double)sum;
            }
            continue;
        }
        memset(to, 0, (size_t)n * sizeof *to);
        for (int64_t y = top; y < end; y++) {
            sums_along(row, io, y, p->along == SMP_ALONG_BOTH);
            add_row(to, row, n);
        }
        for (int64_t i = 0; i < n; i++)
            to[i] = smp_integral_one_nan(to[i]);
    }
}

#if defined(__AVX2__) && defined(__FMA__)
#ifdef __AVX512F__
typedef __m512d put_doubles;
typedef __m256i put_sums;
#define PUT(name) _mm512_##name
#define PUT_STORE _mm256_storeu_ps
#else
typedef __m256d put_doubles;
typedef __m128i put_sums;
#define PUT(name) _mm256_##name
#define PUT_STORE _mm_storeu_ps
#endif
enum { PUT_LANES = sizeof(put_doubles) / sizeof(double) };

/* Running sums of a row, and of what lies above where `down` says so, divided by white. Divided exactly: with the
 * rounded reciprocal, the remainder of a quotient corrects it to the nearest (Markstein 1990), of finite sums and a
 * divisor whose 53 bits are not all ones. Else the product alone, which is 2^-52 off, rounds to the same float, since
 * sums below NEAR lie farther than that from where floats change: see NEAR. */
SMP_INLINE void put(float *to, double *sums, put_sums along, put_doubles white, put_doubles inverse, const int down,
                    const int exactly)
{
    put_doubles v = PUT(cvtepi32_pd)(along);
    if (down) {
        v = PUT(add_pd)(PUT(loadu_pd)(sums), v);
        PUT(storeu_pd)(sums, v);
    }
    put_doubles quotient = PUT(mul_pd)(v, inverse);
    if (exactly)
        quotient = PUT(fmadd_pd)(PUT(fnmadd_pd)(quotient, white, v), inverse, quotient);
    PUT_STORE(to, PUT(cvtpd_ps)(quotient));
}

/* Sixteen bytes at a time: running sums in 16 bits by adding what lies 1, 2, 4 and 8 pixels before. Returns the pixels
 * done, and *before the sum of these. */
SMP_INLINE int64_t put_bytes(float *to, double *sums, const uint8_t *row, int64_t n, double divisor, const int down,
                             const int exactly, uint32_t *before)
{
    const put_doubles white = PUT(set1_pd)(divisor), inverse = PUT(set1_pd)(1. / divisor);
    const __m256i last = _mm256_set1_epi16(0x0f0e); /* of eight numbers */
    __m256i sum = _mm256_setzero_si256();
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m256i v = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i_u *)(const void *)(row + i)));
        v = _mm256_add_epi16(v, _mm256_slli_si256(v, 2));
        v = _mm256_add_epi16(v, _mm256_slli_si256(v, 4));
        v = _mm256_add_epi16(v, _mm256_slli_si256(v, 8));
        v = _mm256_add_epi16(v, _mm256_shuffle_epi8(_mm256_permute2x128_si256(v, v, 0x08), last));
        const __m256i eights[] = {_mm256_add_epi32(_mm256_cvtepu16_epi32(_mm256_castsi256_si128(v)), sum),
                                  _mm256_add_epi32(_mm256_cvtepu16_epi32(_mm256_extracti128_si256(v, 1)), sum)};
        sum = _mm256_permutevar8x32_epi32(eights[1], _mm256_set1_epi32(7));
        for (int k = 0; k < 2; k++) {
#ifdef __AVX512F__
            put(to + i + 8 * k, sums + i + 8 * k, eights[k], white, inverse, down, exactly);
#else
            put(to + i + 8 * k, sums + i + 8 * k, _mm256_castsi256_si128(eights[k]), white, inverse, down, exactly);
            put(to + i + 8 * k + 4, sums + i + 8 * k + 4, _mm256_extracti128_si256(eights[k], 1), white, inverse, down,
                exactly);
#endif
        }
    }
    *before = (uint32_t)_mm256_cvtsi256_si32(sum);
    return i;
}
#else
SMP_INLINE int64_t put_bytes(float *to, double *sums, const uint8_t *row, int64_t n, double divisor, const int down,
                             const int exactly, uint32_t *before)
{
    (void)to, (void)sums, (void)row, (void)n, (void)divisor, (void)down, (void)exactly;
    *before = 0;
    return 0;
}
#endif

/* Whole sums below this, divided by 255, round to the float that their product with the reciprocal rounds to. Where
 * floats change are whole multiples m of 2^(e-24), with quotients from 2^e to 2^(e+1). Below 2^24 no quotient is one
 * (255 is odd: it would be a whole number, which is a float there), so that it is at least 2^(e-24) / 255 away. */
static const double NEAR = 255. * (1 << 24);

/* A row of bytes of one channel: its running sums; where `down` says so added to `sums`, which is the row above. */
SMP_INLINE void bytes_run(float *restrict to, double *restrict sums, const uint8_t *restrict row, int64_t n,
                          const double white, const int down, const int exactly)
{
    uint32_t along;
    for (int64_t i = put_bytes(to, sums, row, n, white, down, exactly, &along); i < n; i++) {
        along += row[i];
        const double v = down ? sums[i] + (double)(int32_t)along : (double)(int32_t)along;
        if (down)
            sums[i] = v;
        to[i] = smp_integral_result(v, white);
    }
}

static void bytes_row(float *restrict to, double *restrict sums, const uint8_t *restrict row, int64_t n,
                      const double white, int down)
{
    const double most = (down ? sums[n - 1] : 0.) + white * (double)n;
    if (down && most < NEAR)
        bytes_run(to, sums, row, n, white, 1, 0);
    else if (down)
        bytes_run(to, sums, row, n, white, 1, 1);
    else if (most < NEAR)
        bytes_run(to, sums, row, n, white, 0, 0);
    else
        bytes_run(to, sums, row, n, white, 0, 1);
}

SMP_INLINE void store(float *restrict to, const double *restrict sums, int64_t n, const double white)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = smp_integral_result(sums[i], white);
}

SMP_INLINE void add_and_store(float *restrict to, double *restrict sums, const double *restrict row, int64_t n,
                              const double white)
{
    for (int64_t i = 0; i < n; i++) {
        sums[i] = sums[i] + row[i];
        to[i] = smp_integral_result(sums[i], white);
    }
}

SMP_CPU_KERNEL(integral_tiled)
{
    const smp_integral *p = params;
    const int64_t n = io->in.width * io->in.channels;
    double *sums = scratch, *row = sums + n;
    for (int64_t y = y0; y < y1; y++) {
        float *to = smp_row(&io->out, y);
        if (p->along != SMP_ALONG_ROWS && y % SMP_INTEGRAL_ROWS == 0)
            memcpy(sums, (const double *)io->table + y / SMP_INTEGRAL_ROWS * n, (size_t)n * sizeof *sums);
        if (bytes_alone(io) && p->along != SMP_ALONG_COLUMNS) {
            bytes_row(to, sums, smp_row(&io->in, y), n, p->white, p->along == SMP_ALONG_BOTH);
            continue;
        }
        sums_along(row, io, y, p->along != SMP_ALONG_COLUMNS);
        if (p->along == SMP_ALONG_ROWS)
            store(to, row, n, p->white);
        else
            add_and_store(to, sums, row, n, p->white);
    }
}
