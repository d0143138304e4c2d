/* median: the middle one of the samples in a square, for sides of 3 and 5.
 *
 * A network of exchanges selects it: each puts the smaller of two samples first. No branch depends on the data, so that
 * CPUs and GPUs run it in the lanes of a vector or warp. 19 exchanges for 9 samples (Paeth, Graphics Gems, 1990), 99
 * for 25 (Devillard, Fast median search, 1998); compilers leave out the half of an exchange that nothing reads. */
#pragma once

#include "stencil/window.h"

#define SMP_MEDIAN_SIZES(X, ...) X(3, __VA_ARGS__) X(5, __VA_ARGS__)

/* clang-format off */
#define SMP_MEDIAN_9(S)                                                                                                \
    S(1, 2) S(4, 5) S(7, 8) S(0, 1) S(3, 4) S(6, 7) S(1, 2) S(4, 5) S(7, 8) S(0, 3)                                    \
    S(5, 8) S(4, 7) S(3, 6) S(1, 4) S(2, 5) S(4, 7) S(4, 2) S(6, 4) S(4, 2)
#define SMP_MEDIAN_25(S)                                                                                               \
    S(0, 1) S(3, 4) S(2, 4) S(2, 3) S(6, 7) S(5, 7) S(5, 6) S(9, 10) S(8, 10) S(8, 9)                                  \
    S(12, 13) S(11, 13) S(11, 12) S(15, 16) S(14, 16) S(14, 15) S(18, 19) S(17, 19) S(17, 18) S(21, 22)                \
    S(20, 22) S(20, 21) S(23, 24) S(2, 5) S(3, 6) S(0, 6) S(0, 3) S(4, 7) S(1, 7) S(1, 4)                              \
    S(11, 14) S(8, 14) S(8, 11) S(12, 15) S(9, 15) S(9, 12) S(13, 16) S(10, 16) S(10, 13) S(20, 23)                    \
    S(17, 23) S(17, 20) S(21, 24) S(18, 24) S(18, 21) S(19, 22) S(8, 17) S(9, 18) S(0, 18) S(0, 9)                     \
    S(10, 19) S(1, 19) S(1, 10) S(11, 20) S(2, 20) S(2, 11) S(12, 21) S(3, 21) S(3, 12) S(13, 22)                      \
    S(4, 22) S(4, 13) S(14, 23) S(5, 23) S(5, 14) S(15, 24) S(6, 24) S(6, 15) S(7, 16) S(7, 19)                        \
    S(13, 21) S(15, 23) S(7, 13) S(7, 15) S(1, 9) S(3, 11) S(5, 17) S(11, 17) S(9, 17) S(4, 10)                        \
    S(6, 12) S(7, 14) S(4, 6) S(4, 7) S(12, 14) S(10, 14) S(6, 7) S(10, 12) S(6, 10) S(6, 17)                          \
    S(12, 17) S(7, 17) S(7, 10) S(12, 18) S(7, 12) S(10, 18) S(12, 20) S(10, 20) S(10, 12)
/* clang-format on */

#define SMP_MEDIAN_EXCHANGE_(i, j)                                                                                     \
    a = v[i], b = v[j];                                                                                                \
    v[i] = a < b ? a : b;                                                                                              \
    v[j] = a < b ? b : a;
#define SMP_MEDIAN_(T)                                                                                                 \
    SMP_HOST_DEVICE T smp_median_##T(const T *w, int size, const void *params)                                         \
    {                                                                                                                  \
        T v[25], a, b;                                                                                                 \
        (void)params;                                                                                                  \
        SMP_WINDOW_UNROLL                                                                                              \
        for (int i = 0; i < size * size; i++)                                                                          \
            v[i] = w[i];                                                                                               \
        if (size == 3) {                                                                                               \
            SMP_MEDIAN_9(SMP_MEDIAN_EXCHANGE_)                                                                         \
            return v[4];                                                                                               \
        }                                                                                                              \
        SMP_MEDIAN_25(SMP_MEDIAN_EXCHANGE_)                                                                            \
        return v[12];                                                                                                  \
    }
SMP_MEDIAN_(uint8_t)
SMP_MEDIAN_(uint16_t)
SMP_MEDIAN_(int32_t)
SMP_WINDOW_KEYS(smp_median)

SMP_WINDOW_DECLARE(median);
