/* One macro for each of up to 16 arguments: SMP_EACH(M, with, a, b, c) is M(with, a) M(with, b) M(with, c). */
#pragma once

#define SMP_UNWRAP(...) __VA_ARGS__ /* SMP_UNWRAP (a, b) is a, b */

#define SMP_EACH(M, with, ...)                                                                                         \
    SMP_EACH_OF(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)(M, with, __VA_ARGS__)
/* clang-format off */
#define SMP_EACH_OF(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, count, ...) SMP_EACH_##count
#define SMP_EACH_1(M, with, a) M(with, a)
#define SMP_EACH_2(M, with, a, ...) M(with, a) SMP_EACH_1(M, with, __VA_ARGS__)
#define SMP_EACH_3(M, with, a, ...) M(with, a) SMP_EACH_2(M, with, __VA_ARGS__)
#define SMP_EACH_4(M, with, a, ...) M(with, a) SMP_EACH_3(M, with, __VA_ARGS__)
#define SMP_EACH_5(M, with, a, ...) M(with, a) SMP_EACH_4(M, with, __VA_ARGS__)
#define SMP_EACH_6(M, with, a, ...) M(with, a) SMP_EACH_5(M, with, __VA_ARGS__)
#define SMP_EACH_7(M, with, a, ...) M(with, a) SMP_EACH_6(M, with, __VA_ARGS__)
#define SMP_EACH_8(M, with, a, ...) M(with, a) SMP_EACH_7(M, with, __VA_ARGS__)
#define SMP_EACH_9(M, with, a, ...) M(with, a) SMP_EACH_8(M, with, __VA_ARGS__)
#define SMP_EACH_10(M, with, a, ...) M(with, a) SMP_EACH_9(M, with, __VA_ARGS__)
#define SMP_EACH_11(M, with, a, ...) M(with, a) SMP_EACH_10(M, with, __VA_ARGS__)
#define SMP_EACH_12(M, with, a, ...) M(with, a) SMP_EACH_11(M, with, __VA_ARGS__)
#define SMP_EACH_13(M, with, a, ...) M(with, a) SMP_EACH_12(M, with, __VA_ARGS__)
#define SMP_EACH_14(M, with, a, ...) M(with, a) SMP_EACH_13(M, with, __VA_ARGS__)
#define SMP_EACH_15(M, with, a, ...) M(with, a) SMP_EACH_14(M, with, __VA_ARGS__)
#define SMP_EACH_16(M, with, a, ...) M(with, a) SMP_EACH_15(M, with, __VA_ARGS__)
/* clang-format on */
