/* compand on the CPU. Threads share out segments. Gains of 512 frames are made in vectors, behind the level, which
 * takes some 16 cycles a frame. */
#include "audio/compand.h"

enum { PART = 512 /* frames */ };

/* Output frames y .. y+n-1 by their levels. */
SMP_INLINE void put(const smp_io *io, const smp_compand *p, const float *restrict levels, int64_t y, int n)
{
    double x[PART], exponents[PART];
    float gains[PART];
    const int channels = io->in.channels;
    for (int k = 0; k < n; k++) {
        x[k] = smp_compand_log(levels[k]);
        exponents[k] = p->base;
    }
    for (int piece = 0; piece < p->count; piece++) {
        const smp_compand_piece own = p->pieces[piece];
        for (int k = 0; k < n; k++)
            exponents[k] = smp_compand_curve(&own, x[k], exponents[k]);
    }
    for (int k = 0; k < n; k++)
        gains[k] = smp_compand_gain(exponents[k]);
    for (int k = 0; k < n; k++) {
        const float *in = smp_row(&io->in, y + k);
        float *out = smp_row(&io->out, y + k);
        for (int c = 0; c < channels; c++)
            out[c] = smp_one_nan(in[c] * gains[k]);
    }
}

SMP_CPU_KERNEL(compand_naive)
{
    const smp_compand *p = params;
    float levels[PART];
    for (int64_t q = y0, from, first, to; q < y1; q++) {
        smp_compand_segment(p, &io->out, q, &from, &first, &to);
        double level = p->start;
        for (int64_t i = from, end = to + p->ahead; i < end;) {
            const int64_t stop = i < first && first < end ? first : end;
            const int n = (int)(stop - i < PART ? stop - i : PART);
            for (int k = 0; k < n; k++) {
                if (i + k < io->in.height)
                    level = smp_compand_next(p, level, (double)smp_compand_size(&io->in, i + k));
                levels[k] = (float)level;
            }
            if (i >= first)
                put(io, p, levels, i - p->ahead, n);
            i += n;
        }
    }
}
