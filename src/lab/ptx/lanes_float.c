/* Floating-point arithmetic and comparisons, lane by lane. Round to nearest, but for .rm, .rp and .rz; the
 * approximations of the GPU's special function unit are the correctly rounded functions here, which may differ in the
 * last bits. */
#include <fenv.h>
#include <math.h>

#include "lab/ptx/half.h"
#include "lab/ptx/lanes.h"

typedef uint32_t u32;
typedef uint64_t u64;

#define NAN32      ((a[l] & 0x7fffffff) > 0x7f800000)
#define ABS64      (a[l] & ~(UINT64_C(1) << 63))
#define NAN64      (ABS64 > UINT64_C(0x7ff) << 52)
#define F(name, e) WARP_LANES_OF(name, float, float, float, float, e)
#define N(name, e) F(name, warp_one_nan(e))
#define D(name, e) WARP_LANES_OF(name, double, double, double, double, e)
#define W(name, e) WARP_LANES_OF(name, u32, u32, u32, u32, e)
#define L(name, e) WARP_LANES_OF(name, u64, u64, u64, u64, e)

/* The high words of a double and of its result. */
static inline u64 high_word(double d)
{
    const u64 bits = warp_double_bits(d);
    return d != d ? (u64)0x7fffffff << 32 : fabs(d) < 0x1p-1022 ? bits & (u64)1 << 63 : bits >> 32 << 32;
}
#define HIGH(e) high_word(e)
#define TOP     warp_bits_double(a[l] >> 32 << 32)

/* Down, up and to zero. What is computed is volatile, lest it moves across the change of direction. */
#define DIRECTION(name, T, direction, finish, e)                                                                       \
    WARP_FN(name)                                                                                                      \
    {                                                                                                                  \
        T *d = to;                                                                                                     \
        const T *a = p, *b = q ? q : p, *c = r ? r : p;                                                                \
        fesetround(direction);                                                                                         \
        for (int l = 0; l < WARP_LANES; l++) {                                                                         \
            volatile T x = a[l], y = b[l], z = c[l], result;                                                           \
            (void)y, (void)z;                                                                                          \
            result = (e);                                                                                              \
            d[l] = finish(result, a[l], b[l], c[l]);                                                                   \
        }                                                                                                              \
        fesetround(FE_TONEAREST);                                                                                      \
    }
#define ONE_NAN(result, x, y, z)  warp_one_nan(result)
#define FROM_B(result, x, y, z)   warp_nan_of(result, y, x, x)
#define FROM_BCA(result, x, y, z) warp_nan_of(result, y, z, x)
#define FROM_A(result, x, y, z)   warp_nan_of(result, x, y, y)
/* ptxas divides by a turn first, rounding to zero, and the unit takes turns. */
static double in_turns(float x)
{
    const double turn = 6.283185307179586, exact = (double)x * (double)0.15915493667125701904f;
    const float near = (float)exact;
    const double turns = (double)warp_flushed(fabs((double)near) > fabs(exact) ? nextafterf(near, 0) : near);
    return copysign((turns - rint(turns)) * turn, (turns - rint(turns)) == 0 ? turns : turns - rint(turns));
}

/* A NaN loses against a number; -0 is less than +0. */
#define LEAST(x, y) ((x) != (x) ? (y) : (y) != (y) ? (x) : (x) < (y) ? (x) : (y) < (x) ? (y) : signbit(x) ? (x) : (y))
#define GREATEST(x, y)                                                                                                 \
    ((x) != (x) ? (y) : (y) != (y) ? (x) : (x) > (y) ? (x) : (y) > (x) ? (y) : signbit(x) ? (y) : (x))

#define HALF_f16(v)  ((double)warp_half_float((v)&0xffff))
#define HALF_bf16(v) warp_bf16_float((v)&0xffff)
#define BITS_f16(e)  warp_half_bits(e)
#define BITS_bf16(e) warp_bf16_bits((float)(e))
/* Signs of 16 bits, of which those above `most` are NaN. */
#define SIGN(v, most, e)    (((v)&0x7fff) > (most) ? 0x7fffu : (u32)((e)&0xffff))
#define SIGNS(most, lo, hi) (SIGN(a[l], most, lo) | SIGN(a[l] >> 16, most, hi) << 16)

#define SAT(v)          ((v) > 0 ? (v) < 1 ? (v) : 1 : 0)
#define NAN_OR(M, x, y) ((x) != (x) || (y) != (y) ? NAN : M(x, y))
#define RELU(v)         ((v) <= 0 ? 0 : (v))

#define INFINITE32 ((a[l] & 0x7fffffff) == 0x7f800000)
#define FINITE32   ((a[l] & 0x7f800000) != 0x7f800000)

#define LANE(kind, names, operands, ...) kind(WARP_LANE, __VA_ARGS__)
#define TEST(T, names, operands, ...)    WARP_TEST(WARP_LANE, T, __VA_ARGS__)
#define DIRECTED(T, finish, op, other, type, operands, ...)                                                            \
    DIRECTION(WARP_JOIN(WARP_LANE, rm), T, FE_DOWNWARD, finish, __VA_ARGS__)                                           \
    DIRECTION(WARP_JOIN(WARP_LANE, rp), T, FE_UPWARD, finish, __VA_ARGS__)                                             \
    DIRECTION(WARP_JOIN(WARP_LANE, rz), T, FE_TOWARDZERO, finish, __VA_ARGS__)
#define HALVES(format, T, op, operands, ...)                                                                           \
    static inline u32 WARP_JOIN(WARP_LANE, bits)(u32 a, u32 b, u32 c)                                                  \
    {                                                                                                                  \
        const T x = HALF_##format(a), y = HALF_##format(b), z = HALF_##format(c);                                      \
        (void)y, (void)z;                                                                                              \
        return BITS_##format(__VA_ARGS__);                                                                             \
    }                                                                                                                  \
    W(WARP_JOIN(WARP_LANE, format), WARP_JOIN(WARP_LANE, bits)(a[l], b[l], c[l]))                                      \
    W(WARP_JOIN(WARP_LANE, pairs), WARP_JOIN(WARP_LANE, bits)(a[l], b[l], c[l]) |                                      \
                                       WARP_JOIN(WARP_LANE, bits)(a[l] >> 16, b[l] >> 16, c[l] >> 16) << 16)
#include "lab/ptx/lanes_float.def"
#undef LANE
#undef TEST
#undef DIRECTED
#undef HALVES

#define UNORDERED(x, y) ((x) != (x) || (y) != (y))
#define ORDER(how, op, suffix, T, X, Y)                                                                                \
    WARP_TEST(how##_##suffix, T, (X)op(Y))                                                                             \
    WARP_TEST(how##u_##suffix, T, UNORDERED(X, Y) || (X)op(Y))
#define TESTS(suffix, T, X, Y)                                                                                         \
    WARP_ORDERS(ORDER, suffix, T, X, Y)                                                                                \
    WARP_TEST(ne_##suffix, T, !UNORDERED(X, Y) && (X) != (Y))                                                          \
    WARP_TEST(neu_##suffix, T, (X) != (Y))                                                                             \
    WARP_TEST(num_##suffix, T, !UNORDERED(X, Y))                                                                       \
    WARP_TEST(nan_##suffix, T, UNORDERED(X, Y))
TESTS(f32, float, a[l], b[l])
TESTS(f64, double, a[l], b[l])
TESTS(f16, u32, HALF_f16(a[l]), HALF_f16(b[l]))
TESTS(bf16, u32, HALF_bf16(a[l]), HALF_bf16(b[l]))

#define ROW(how, suffix, operands)            {"setp." #how "." #suffix, operands, how##_##suffix},
#define ORDER_ROWS(how, op, suffix, operands) ROW(how, suffix, operands) ROW(how##u, suffix, operands)
#define TEST_ROWS(suffix, operands)                                                                                    \
    WARP_ORDERS(ORDER_ROWS, suffix, operands)                                                                          \
    ROW(ne, suffix, operands) ROW(neu, suffix, operands) ROW(num, suffix, operands) ROW(nan, suffix, operands)

#define LANE(kind, names, operands, ...) {names, operands, WARP_LANE},
#define TEST(T, names, operands, ...)    {names, operands, WARP_LANE},
#define DIRECTED_ROW(op, other, how, type, operands)                                                                   \
    {op "." #how "." type " " other "." #how "." type, operands, WARP_JOIN(WARP_LANE, how)},
#define DIRECTED(T, finish, op, other, type, operands, ...)                                                            \
    DIRECTED_ROW(op, other, rm, type, operands)                                                                        \
    DIRECTED_ROW(op, other, rp, type, operands) DIRECTED_ROW(op, other, rz, type, operands)
#define HALVES(format, T, op, operands, ...)                                                                           \
    {op "." #format, operands, WARP_JOIN(WARP_LANE, format)},                                                          \
        {op "." #format "x2", operands, WARP_JOIN(WARP_LANE, pairs)},
const warp_lane_row WARP_ROWS(float)[] = {
#include "lab/ptx/lanes_float.def"
    TEST_ROWS(f32, "pww") TEST_ROWS(f64, "pdd") TEST_ROWS(f16, "pww") TEST_ROWS(bf16, "pww"){NULL, NULL, NULL},
};
