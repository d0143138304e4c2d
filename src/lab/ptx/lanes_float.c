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

#define X(v)       ((double)warp_half_float((v)&0xffff))
#define Y(v)       ((double)warp_half_float((v) >> 16))
#define H1(e)      warp_half_bits(e)
#define H2(lo, hi) (warp_half_bits(lo) | warp_half_bits(hi) << 16)
/* Signs of 16 bits, of which those above `most` are NaN. */
#define SIGN(v, most, e)    (((v)&0x7fff) > (most) ? 0x7fffu : (u32)((e)&0xffff))
#define SIGNS(most, lo, hi) (SIGN(a[l], most, lo) | SIGN(a[l] >> 16, most, hi) << 16)

#define SAT(v)          ((v) > 0 ? (v) < 1 ? (v) : 1.0 : 0.0)
#define NAN_OR(M, x, y) ((x) != (x) || (y) != (y) ? (double)NAN : M(x, y))
#define RELU(v)         ((v) <= 0 ? 0.0 : (v))

#define B1(v)      warp_bf16_float((v)&0xffff)
#define B2(v)      warp_bits_float((v)&0xffff0000)
#define Q1(e)      warp_bf16_bits(e)
#define Q2(lo, hi) (warp_bf16_bits(lo) | warp_bf16_bits(hi) << 16)
#define INFINITE32 ((a[l] & 0x7fffffff) == 0x7f800000)
#define FINITE32   ((a[l] & 0x7f800000) != 0x7f800000)

#define LANE(kind, names, operands, ...) kind(WARP_LANE, __VA_ARGS__)
#define TEST(T, names, operands, ...)    WARP_TEST(WARP_LANE, T, __VA_ARGS__)
#define DIRECTED(T, finish, op, other, type, operands, ...)                                                            \
    DIRECTION(WARP_JOIN(WARP_LANE, rm), T, FE_DOWNWARD, finish, __VA_ARGS__)                                           \
    DIRECTION(WARP_JOIN(WARP_LANE, rp), T, FE_UPWARD, finish, __VA_ARGS__)                                             \
    DIRECTION(WARP_JOIN(WARP_LANE, rz), T, FE_TOWARDZERO, finish, __VA_ARGS__)
#include "lab/ptx/lanes_float.def"
#undef LANE
#undef TEST
#undef DIRECTED

/* ------------------------------------------------------------------------------------------------ comparisons */

#define UNORDERED(x, y) ((x) != (x) || (y) != (y))
#define TESTS(suffix, T, X, Y)                                                                                         \
    WARP_TEST(eq_##suffix, T, (X) == (Y))                                                                              \
    WARP_TEST(ne_##suffix, T, !UNORDERED(X, Y) && (X) != (Y))                                                          \
    WARP_TEST(lt_##suffix, T, (X) < (Y))                                                                               \
    WARP_TEST(le_##suffix, T, (X) <= (Y))                                                                              \
    WARP_TEST(gt_##suffix, T, (X) > (Y))                                                                               \
    WARP_TEST(ge_##suffix, T, (X) >= (Y))                                                                              \
    WARP_TEST(equ_##suffix, T, UNORDERED(X, Y) || (X) == (Y))                                                          \
    WARP_TEST(neu_##suffix, T, (X) != (Y))                                                                             \
    WARP_TEST(ltu_##suffix, T, !((X) >= (Y)))                                                                          \
    WARP_TEST(leu_##suffix, T, !((X) > (Y)))                                                                           \
    WARP_TEST(gtu_##suffix, T, !((X) <= (Y)))                                                                          \
    WARP_TEST(geu_##suffix, T, !((X) < (Y)))                                                                           \
    WARP_TEST(num_##suffix, T, !UNORDERED(X, Y))                                                                       \
    WARP_TEST(nan_##suffix, T, UNORDERED(X, Y))
TESTS(f32, float, a[l], b[l])
TESTS(f64, double, a[l], b[l])
TESTS(f16, u32, X(a[l]), X(b[l]))
TESTS(bf16, u32, B1(a[l]), B1(b[l]))

#define TEST_ROWS(type, operands, suffix)                                                                              \
    {"setp.eq." type, operands, eq_##suffix}, {"setp.ne." type, operands, ne_##suffix},                                \
        {"setp.lt." type, operands, lt_##suffix}, {"setp.le." type, operands, le_##suffix},                            \
        {"setp.gt." type, operands, gt_##suffix}, {"setp.ge." type, operands, ge_##suffix},                            \
        {"setp.equ." type, operands, equ_##suffix}, {"setp.neu." type, operands, neu_##suffix},                        \
        {"setp.ltu." type, operands, ltu_##suffix}, {"setp.leu." type, operands, leu_##suffix},                        \
        {"setp.gtu." type, operands, gtu_##suffix}, {"setp.geu." type, operands, geu_##suffix},                        \
        {"setp.num." type, operands, num_##suffix},                                                                    \
    {                                                                                                                  \
        "setp.nan." type, operands, nan_##suffix                                                                       \
    }

#define LANE(kind, names, operands, ...) {names, operands, WARP_LANE},
#define TEST(T, names, operands, ...)    {names, operands, WARP_LANE},
#define DIRECTED_ROW(op, other, how, type, operands)                                                                   \
    {op "." #how "." type " " other "." #how "." type, operands, WARP_JOIN(WARP_LANE, how)},
#define DIRECTED(T, finish, op, other, type, operands, ...)                                                            \
    DIRECTED_ROW(op, other, rm, type, operands)                                                                        \
    DIRECTED_ROW(op, other, rp, type, operands) DIRECTED_ROW(op, other, rz, type, operands)
const warp_lane_row WARP_ROWS(float)[] = {
#include "lab/ptx/lanes_float.def"
    TEST_ROWS("f32", "pww", f32),   TEST_ROWS("f64", "pdd", f64), TEST_ROWS("f16", "pww", f16),
    TEST_ROWS("bf16", "pww", bf16), {NULL, NULL, NULL},
};
