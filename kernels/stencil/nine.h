/* Windows of 3 x 3 integers on the CPU, straight from the picture's rows: no line is copied, and two rows of results
 * share what they have in common. For formulas that only move samples. The first and the last row of a picture, whose
 * windows the border makes, are the caller's.
 *
 * NINE(name, T) makes nine_name_T(io, edge, outside, y0, y1): rows y0 .. y1-1 of rows 1 .. height-2, at least two. The
 * formula name_two_T(left, middle, right, results) gives two results, one above the other, from three columns of four
 * samples. */
#pragma once

#include "stencil/stencil.h"

#ifdef SMP_ISA

enum { NINE_CHANNELS = 4, NINE_WIDTH = 3, NINE_ROWS = 2 /* of a picture and of a call that it serves, at least */ };

/* Whether rows y0 .. y1-1 can be made here. */
SMP_INLINE int nine_serves(const smp_io *io, int64_t y0, int64_t y1)
{
    const smp_view *in = &io->in;
    return in->format == io->out.format && (in->format == SMP_U8 || in->format == SMP_U16) && y1 - y0 >= NINE_ROWS &&
           in->width >= NINE_WIDTH && in->channels <= NINE_CHANNELS;
}

#define NINE(name, T)                                                                                                  \
    /* n samples side by side of two rows of results. The windows' first samples lie at the rows' beginnings. */       \
    SMP_INLINE void nine_run_##name##_##T(T *restrict first, T *restrict second, const T *restrict a,                  \
                                          const T *restrict b, const T *restrict c, const T *restrict d, int64_t step, \
                                          int64_t n)                                                                   \
    {                                                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            T results[2];                                                                                              \
            const T left[] = {a[i], b[i], c[i], d[i]};                                                                 \
            const T middle[] = {a[i + step], b[i + step], c[i + step], d[i + step]};                                   \
            const T right[] = {a[i + 2 * step], b[i + 2 * step], c[i + 2 * step], d[i + 2 * step]};                    \
            name##_two_##T(left, middle, right, results);                                                              \
            first[i] = results[0];                                                                                     \
            second[i] = results[1];                                                                                    \
        }                                                                                                              \
    }                                                                                                                  \
    /* The results of one column whose window the border makes. */                                                     \
    static void nine_side_##name##_##T(T *const *to, const T *const *rows, const smp_view *in, int64_t x, int edge,    \
                                       T outside)                                                                      \
    {                                                                                                                  \
        const int64_t channels = in->channels;                                                                         \
        T w[4][3 * NINE_CHANNELS];                                                                                     \
        for (int k = 0; k < 3; k++) {                                                                                  \
            const int64_t from = smp_border(x + k - 1, in->width, edge);                                               \
            for (int64_t c = 0; c < channels; c++)                                                                     \
                for (int j = 0; j < 4; j++)                                                                            \
                    w[j][k * channels + c] = from < 0 ? outside : rows[j][from * channels + c];                        \
        }                                                                                                              \
        nine_run_##name##_##T(to[0] + x * channels, to[1] + x * channels, w[0], w[1], w[2], w[3], channels, channels); \
    }                                                                                                                  \
    static void nine_##name##_##T(const smp_io *io, int edge, float outside, int64_t y0, int64_t y1)                   \
    {                                                                                                                  \
        const smp_view *in = &io->in;                                                                                  \
        const int64_t channels = in->channels, inner = (in->width - 2) * channels;                                     \
        for (int64_t at = y0; at < y1; at += 2) {                                                                      \
            const int64_t y = at + 2 <= y1 ? at : y1 - 2; /* the last one may be made twice */                         \
            T *const to[] = {smp_row(&io->out, y), smp_row(&io->out, y + 1)};                                          \
            const T *const rows[] = {smp_row(in, y - 1), smp_row(in, y), smp_row(in, y + 1), smp_row(in, y + 2)};      \
            nine_run_##name##_##T(to[0] + channels, to[1] + channels, rows[0], rows[1], rows[2], rows[3], channels,    \
                                  inner);                                                                              \
            nine_side_##name##_##T(to, rows, in, 0, edge, (T)outside);                                                 \
            nine_side_##name##_##T(to, rows, in, in->width - 1, edge, (T)outside);                                     \
        }                                                                                                              \
    }

#endif
