/* content on the CPU.
 *   naive  every pixel.
 *   tiled  from both ends of a row until a pixel differs; rows of opaque pixels in pieces, compared in vectors. */
#include "reduce/content.h"

SMP_CPU_KERNEL(content_naive)
{
    const smp_content *p = params;
    const smp_view *v = &io->in;
    smp_content_row *rows = io->result;
    float ground[SMP_MAX_CHANNELS] = {0};
    smp_content_ground(v, ground);
    for (int64_t y = y0; y < y1; y++) {
        smp_content_row found = {(int32_t)v->width, -1};
        for (int64_t x = 0; x < v->width; x++)
            if (smp_content_differs(v, p, ground, smp_row(v, y), x)) {
                found.last = (int32_t)x;
                found.first = found.first < found.last ? found.first : found.last;
            }
        rows[y] = found;
    }
}

enum { PIECE = 64 /* pixels */ };

/* Whether a sample of n whole pixels differs; the ground is repeated from sample to sample. */
SMP_INLINE int some_differ(const void *restrict from, const int format, const float *restrict ground, float tolerance,
                           int64_t n)
{
    int same = 1;
    for (int64_t i = 0; i < n; i++)
        same &= smp_abs(smp_load(from, i, format) - ground[i]) <= tolerance;
    return !same;
}

/* The first piece in which a pixel may differ, from the front (step 1) or the back (step -1); -1: there is none. */
SMP_INLINE int64_t find_piece(const smp_view *v, const smp_content *p, const float *ground, const void *row, int64_t at,
                              int64_t end, int64_t step)
{
    const int64_t samples = (int64_t)PIECE * v->channels;
    for (; at != end; at += step) {
        const void *from = (const char *)row + at * samples * smp_sample_size(v->format);
        if (v->format == SMP_U8    ? some_differ(from, SMP_U8, ground, p->tolerance, samples)
            : v->format == SMP_U16 ? some_differ(from, SMP_U16, ground, p->tolerance, samples)
                                   : some_differ(from, SMP_F32, ground, p->tolerance, samples))
            return at;
    }
    return -1;
}

SMP_CPU_KERNEL(content_tiled)
{
    const smp_content *p = params;
    const smp_view *v = &io->in;
    smp_content_row *rows = io->result;
    float ground[SMP_MAX_CHANNELS] = {0}, repeated[PIECE * SMP_MAX_CHANNELS];
    const int64_t pieces = v->alpha ? 0 : v->width / PIECE;
    smp_content_ground(v, ground);
    for (int i = 0; i < PIECE * v->channels; i++)
        repeated[i] = ground[i % v->channels];
    for (int64_t y = y0; y < y1; y++) {
        const void *row = smp_row(v, y);
        const int64_t piece = find_piece(v, p, repeated, row, 0, pieces, 1);
        int64_t first = (piece < 0 ? pieces : piece) * PIECE, last = v->width - 1;
        while (first < v->width && !smp_content_differs(v, p, ground, row, first))
            first++;
        while (last > first && last >= pieces * PIECE && !smp_content_differs(v, p, ground, row, last))
            last--;
        if (last > first && last < pieces * PIECE) {
            last = (find_piece(v, p, repeated, row, pieces - 1, -1, -1) + 1) * PIECE - 1;
            while (last > first && !smp_content_differs(v, p, ground, row, last))
                last--;
        }
        rows[y] = first < v->width ? (smp_content_row){(int32_t)first, (int32_t)last}
                                   : (smp_content_row){(int32_t)v->width, -1};
    }
}
