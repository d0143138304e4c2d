/* fir by Fourier transforms on the CPU (fir.h has the definition).
 *   one    block by block, as the definition says; the spectra of all parts' segments anew for each.
 *   lanes  consecutive blocks of a channel, one in each lane of a vector. The spectra of earlier blocks stay in memory
 *          beside those at hand, so that part p of all lanes is one vector p floats further left. Arithmetic and the
 *          second-level cache are the limit: 4096 frames of eight lanes are 128 KB. */
#include "audio/fir.h"
#include "lib/elementwise.h"
#include "lib/fft_cpu.h"
#include "lib/planes.h"

enum { HALF = SMP_FIR_STEP /* numbers of a transform */ };

/* sum += x * h, complex. T: float or a vector. */
#define ADD_PRODUCT(sr, si, xr, xi, h)                                                                                 \
    do {                                                                                                               \
        sr = sr + ((xr) * (h)[0] - (xi) * (h)[1]);                                                                     \
        si = si + ((xr) * (h)[1] + (xi) * (h)[0]);                                                                     \
    } while (0)

SMP_CPU_KERNEL(fir_fft_one)
{
    const smp_fir *p = params;
    const float *w = io->table, *roots = smp_fir_roots(io, p);
    float *a = scratch, *b = a + SMP_FIR_SEGMENT, *sums = b + SMP_FIR_SEGMENT;
    for (int64_t block = y0 / SMP_FIR_STEP; block * SMP_FIR_STEP < y1; block++)
        for (int c = 0; c < io->in.channels; c++) {
            const float *spectra = smp_fir_spectra(io, p, c);
            memset(sums, 0, SMP_FIR_SPECTRUM * sizeof *sums);
            for (int part = 0; part < p->parts; part++) {
                const float *h = spectra + (int64_t)part * SMP_FIR_SPECTRUM;
                smp_plane_load(a, &io->in, c, smp_fir_segment(p, block - part), SMP_FIR_SEGMENT);
                const float *z = smp_fft_one(&p->fft, w, a, b);
                for (int k = 0, l = HALF; k <= HALF / 2; k++, l--) {
                    float kr = z[2 * k], ki = z[2 * k + 1], lr = z[2 * (l % HALF)], li = z[2 * (l % HALF) + 1];
                    smp_fft1_split(&kr, &ki, &lr, &li, roots[2 * k], roots[2 * k + 1]);
                    ADD_PRODUCT(sums[2 * k], sums[2 * k + 1], kr, ki, h + 2 * k);
                    if (k != l)
                        ADD_PRODUCT(sums[2 * l], sums[2 * l + 1], lr, li, h + 2 * l);
                }
            }
            for (int k = 0, l = HALF; k <= HALF / 2; k++, l--) {
                float kr = sums[2 * k], ki = sums[2 * k + 1], lr = sums[2 * l], li = sums[2 * l + 1];
                smp_fft1_merge(&kr, &ki, &lr, &li, roots[2 * k], roots[2 * k + 1]);
                a[2 * k] = ki, a[2 * k + 1] = kr; /* exchanged: back */
                if (k && k != l)
                    a[2 * l] = li, a[2 * l + 1] = lr;
            }
            const float *z = smp_fft_one(&p->fft, w, a, b);
            for (int i = 0; i < SMP_FIR_STEP; i++) {
                const int64_t y = block * SMP_FIR_STEP + i;
                if (y >= y0 && y < y1) /* even samples are real parts */
                    ((float *)smp_row(&io->out, y))[c] = smp_one_nan(z[(SMP_FIR_SEGMENT - SMP_FIR_STEP + i) ^ 1]);
            }
        }
}

enum { LANES = SMP_FFT_LANES };

/* The spectra of the blocks at hand, in the last LANES floats of each row of `pitch`; before them those of the blocks
 * before. */
SMP_INLINE void keep_spectra(const smp_fft_vec *z, const float *roots, float *kept, int pitch)
{
    for (int k = 0, l = HALF; k <= HALF / 2; k++, l--) {
        smp_fft_vec x[4] = {z[2 * k], z[2 * k + 1], z[2 * (l % HALF)], z[2 * (l % HALF) + 1]};
        smp_fftv_split(&x[0], &x[1], &x[2], &x[3], roots[2 * k], roots[2 * k + 1]);
        for (int i = 0; i < (k == l ? 2 : 4); i++) {
            float *row = kept + (int64_t)(2 * (i < 2 ? k : l) + i % 2) * pitch;
            for (int at = LANES; at < pitch; at += LANES)
                *(smp_fft_vec *)(void *)(row + at - LANES) = *(smp_fft_vec *)(void *)(row + at);
            *(smp_fft_vec *)(void *)(row + pitch - LANES) = x[i];
        }
    }
}

SMP_INLINE void put_merged(smp_fft_vec *a, smp_fft_vec *x, int k, int l, const float *roots)
{
    smp_fftv_merge(&x[0], &x[1], &x[2], &x[3], roots[2 * k], roots[2 * k + 1]);
    a[2 * k] = x[1], a[2 * k + 1] = x[0]; /* exchanged: back */
    if (k && k != l)
        a[2 * l] = x[3], a[2 * l + 1] = x[2];
}

/* The sums over the parts, as transforms' input. */
SMP_INLINE void sum_parts(smp_fft_vec *a, const float *roots, const float *kept, int pitch, const float *spectra,
                          int parts)
{
    for (int k = 0, l = HALF; k <= HALF / 2; k++, l--) {
        const float *rk = kept + (int64_t)2 * k * pitch + pitch - LANES, *rl = rk + (int64_t)2 * (l - k) * pitch;
        smp_fft_vec x[4] = {{0}};
        for (int part = 0; part < parts; part++) {
            const float *h = spectra + (int64_t)part * SMP_FIR_SPECTRUM;
            ADD_PRODUCT(x[0], x[1], *(const smp_fft_vec *)(const void *)(rk - part),
                        *(const smp_fft_vec *)(const void *)(rk + pitch - part), h + 2 * k);
            ADD_PRODUCT(x[2], x[3], *(const smp_fft_vec *)(const void *)(rl - part),
                        *(const smp_fft_vec *)(const void *)(rl + pitch - part), h + 2 * l);
        }
        put_merged(a, x, k, l, roots);
    }
}

/* The same for a filter of one part, without memory between. */
SMP_INLINE void one_part(smp_fft_vec *a, const smp_fft_vec *z, const float *roots, const float *h)
{
    for (int k = 0, l = HALF; k <= HALF / 2; k++, l--) {
        smp_fft_vec x[4] = {z[2 * k], z[2 * k + 1], z[2 * (l % HALF)], z[2 * (l % HALF) + 1]}, y[4] = {{0}};
        smp_fftv_split(&x[0], &x[1], &x[2], &x[3], roots[2 * k], roots[2 * k + 1]);
        ADD_PRODUCT(y[0], y[1], x[0], x[1], h + 2 * k);
        if (k == l)
            y[2] = y[0], y[3] = y[1];
        else
            ADD_PRODUCT(y[2], y[3], x[2], x[3], h + 2 * l);
        put_merged(a, y, k, l, roots);
    }
}

SMP_INLINE smp_fft_four one_nan(smp_fft_four v)
{
    typedef int32_t bits __attribute__((vector_size(16)));
    const float nan = smp_one_nan(NAN);
    const smp_fft_four all = {nan, nan, nan, nan};
    const bits right = v == v;
    return (smp_fft_four)((right & (bits)v) | (~right & (bits)all));
}

/* Frames `from` .. `to`-1 of the sound, which lanes from block on have, to channel c. */
SMP_INLINE void put_blocks(const smp_view *out, int c, const float *z, int64_t block, int64_t from, int64_t to)
{
    const int64_t step = out->stride / (int64_t)sizeof(float);
    z += (int64_t)(SMP_FIR_SEGMENT - SMP_FIR_STEP) * LANES;
    for (int lane = 0; lane < LANES; lane += 4) {
        const int64_t first = (block + lane) * SMP_FIR_STEP;
        const int inside = first >= from && first + 4 * SMP_FIR_STEP <= to;
        float *frame = (float *)(void *)((char *)out->data + (first - out->y0) * out->stride) + c;
        for (int64_t n = 0; n < SMP_FIR_STEP; n += 4) {
            smp_fft_four v[4];
#pragma GCC unroll 4
            for (int i = 0; i < 4; i++) /* even samples are real parts, which are exchanged */
                v[i] = *(const smp_fft_four *)(const void *)(z + (n + (i ^ 1)) * LANES + lane);
            smp_fft_turn_four(v);
#pragma GCC unroll 4
            for (int i = 0; i < 4; i++)
                v[i] = one_nan(v[i]);
            if (inside) {
#pragma GCC unroll 4
                for (int i = 0; i < 4; i++)
#pragma GCC unroll 4
                    for (int j = 0; j < 4; j++)
                        frame[(i * SMP_FIR_STEP + n + j) * step] = v[i][j];
                continue;
            }
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++) {
                    const int64_t y = first + i * SMP_FIR_STEP + n + j;
                    if (y >= from && y < to)
                        frame[(i * SMP_FIR_STEP + n + j) * step] = v[i][j];
                }
        }
    }
}

SMP_CPU_KERNEL(fir_fft_lanes)
{
    const smp_fir *p = params;
    const float *w = io->table, *roots = smp_fir_roots(io, p);
    const int before = (p->parts - 1 + LANES - 1) / LANES * LANES, pitch = before + LANES;
    float *memory = scratch, *plane = memory + (int64_t)2 * LANES * SMP_FIR_SEGMENT,
          *kept = plane + (LANES + 1) * SMP_FIR_STEP;
    smp_fft_vec *a = (smp_fft_vec *)(void *)memory, *b = a + SMP_FIR_SEGMENT;
    for (int c = 0; c < io->in.channels; c++)
        for (int64_t block = y0 / SMP_FIR_STEP - before; block * SMP_FIR_STEP < y1; block += LANES) {
            const int64_t first = smp_fir_segment(p, block);
            smp_plane_load(plane, &io->in, c, first, (LANES + 1) * SMP_FIR_STEP);
            smp_fft_gather((float *)a, plane, SMP_FIR_STEP, SMP_FIR_SEGMENT, NULL);
            smp_fft_vec *z = smp_fft_lanes(&p->fft, w, a, b);
            if (p->parts == 1)
                one_part(a, z, roots, smp_fir_spectra(io, p, c));
            else
                keep_spectra(z, roots, kept, pitch);
            if (block * SMP_FIR_STEP + LANES * SMP_FIR_STEP <= y0)
                continue;
            if (p->parts > 1)
                sum_parts(a, roots, kept, pitch, smp_fir_spectra(io, p, c), p->parts);
            z = smp_fft_lanes(&p->fft, w, a, b);
            put_blocks(&io->out, c, (const float *)z, block, y0, y1);
        }
}
