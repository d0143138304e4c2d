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

N(add_f32, a[l] + b[l])
N(sub_f32, a[l] - b[l])
N(mul_f32, a[l] * b[l])
N(fma_f32, fmaf(a[l], b[l], c[l]))
N(div_f32, a[l] / b[l])
D(add_f64, warp_nan_of(a[l] + b[l], b[l], a[l], a[l]))
D(sub_f64, warp_nan_of(a[l] - b[l], b[l], a[l], a[l]))
D(mul_f64, warp_nan_of(a[l] * b[l], b[l], a[l], a[l]))
D(fma_f64, warp_nan_of(fma(a[l], b[l], c[l]), b[l], c[l], a[l]))
D(div_f64, warp_nan_of(a[l] / b[l], a[l], b[l], b[l]))
/* By a reciprocal, which is no subnormal number. */
N(div_approx_f32, fabsf(b[l]) > 0x1p126f ? a[l] * copysignf(0, b[l]) : a[l] / b[l])
N(rcp_f32, 1.0f / a[l])
D(rcp_f64, warp_nan_of(1.0 / a[l], a[l], a[l], a[l]))
N(sqrt_f32, sqrtf(a[l]))
D(sqrt_f64, warp_nan_of(sqrt(a[l]), a[l], a[l], a[l]))
N(rsqrt_f32, (float)(1.0 / sqrt((double)a[l])))
D(rsqrt_f64, warp_nan_of(1.0 / sqrt(a[l]), a[l], a[l], a[l]))
/* The high words of a double and of its result. */
static inline u64 high_word(double d)
{
    const u64 bits = warp_double_bits(d);
    return d != d ? (u64)0x7fffffff << 32 : fabs(d) < 0x1p-1022 ? bits & (u64)1 << 63 : bits >> 32 << 32;
}
#define HIGH(e) high_word(e)
#define TOP     warp_bits_double(a[l] >> 32 << 32)
L(rcp_high_f64, HIGH(1.0 / TOP))
L(rsqrt_high_f64, HIGH(1.0 / sqrt(TOP)))

/* Down, up and to zero. What is computed is volatile, lest it moves across the change of direction. */
#define DIRECTED(name, T, direction, finish, e)                                                                        \
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
#define DIRECTIONS(name, T, finish, e)                                                                                 \
    DIRECTED(name##_rm, T, FE_DOWNWARD, finish, e)                                                                     \
    DIRECTED(name##_rp, T, FE_UPWARD, finish, e)                                                                       \
    DIRECTED(name##_rz, T, FE_TOWARDZERO, finish, e)
#define ONE_NAN(result, x, y, z)  warp_one_nan(result)
#define FROM_B(result, x, y, z)   warp_nan_of(result, y, x, x)
#define FROM_BCA(result, x, y, z) warp_nan_of(result, y, z, x)
#define FROM_A(result, x, y, z)   warp_nan_of(result, x, y, y)
DIRECTIONS(add_f32, float, ONE_NAN, x + y)
DIRECTIONS(sub_f32, float, ONE_NAN, x - y)
DIRECTIONS(mul_f32, float, ONE_NAN, x *y)
DIRECTIONS(fma_f32, float, ONE_NAN, fmaf(x, y, z))
DIRECTIONS(div_f32, float, ONE_NAN, x / y)
DIRECTIONS(rcp_f32, float, ONE_NAN, 1 / x)
DIRECTIONS(sqrt_f32, float, ONE_NAN, sqrtf(x))
DIRECTIONS(add_f64, double, FROM_B, x + y)
DIRECTIONS(sub_f64, double, FROM_B, x - y)
DIRECTIONS(mul_f64, double, FROM_B, x *y)
DIRECTIONS(fma_f64, double, FROM_BCA, fma(x, y, z))
DIRECTIONS(div_f64, double, FROM_A, x / y)
DIRECTIONS(rcp_f64, double, FROM_A, 1 / x)
DIRECTIONS(sqrt_f64, double, FROM_A, sqrt(x))
/* ptxas divides by a turn first, rounding to zero, and the unit takes turns. */
static double in_turns(float x)
{
    const double turn = 6.283185307179586, exact = (double)x * (double)0.15915493667125701904f;
    const float near = (float)exact;
    const double turns = (double)warp_flushed(fabs((double)near) > fabs(exact) ? nextafterf(near, 0) : near);
    return copysign((turns - rint(turns)) * turn, (turns - rint(turns)) == 0 ? turns : turns - rint(turns));
}
N(sin_f32, (float)sin(in_turns(a[l])))
N(cos_f32, (float)cos(in_turns(a[l])))
N(ex2_f32, exp2f(a[l]))
N(lg2_f32, log2f(a[l]))
N(tanh_f32, tanhf(a[l]))
W(neg_f32, NAN32 ? 0x7fffffff : a[l] ^ 0x80000000)
W(abs_f32, NAN32 ? 0x7fffffff : a[l] & 0x7fffffff)
L(neg_f64, NAN64 ? a[l] | UINT64_C(1) << 51 : a[l] ^ UINT64_C(1) << 63)
L(abs_f64, NAN64 ? a[l] | UINT64_C(1) << 51 : ABS64)
W(copysign_f32, (b[l] & 0x7fffffff) | (a[l] & 0x80000000))
L(copysign_f64, (b[l] & ~(UINT64_C(1) << 63)) | (a[l] & UINT64_C(1) << 63))

/* A NaN loses against a number; -0 is less than +0. */
#define LEAST(x, y) ((x) != (x) ? (y) : (y) != (y) ? (x) : (x) < (y) ? (x) : (y) < (x) ? (y) : signbit(x) ? (x) : (y))
#define GREATEST(x, y)                                                                                                 \
    ((x) != (x) ? (y) : (y) != (y) ? (x) : (x) > (y) ? (x) : (y) > (x) ? (y) : signbit(x) ? (y) : (x))
N(min_f32, LEAST(a[l], b[l]))
N(max_f32, GREATEST(a[l], b[l]))
D(min_f64, warp_nan_of(LEAST(a[l], b[l]), b[l], a[l], a[l]))
D(max_f64, warp_nan_of(GREATEST(a[l], b[l]), b[l], a[l], a[l]))
N(min_nan_f32, a[l] != a[l] || b[l] != b[l] ? NAN : LEAST(a[l], b[l]))
N(max_nan_f32, a[l] != a[l] || b[l] != b[l] ? NAN : GREATEST(a[l], b[l]))

/* ------------------------------------------------------------------------------------------------ 16 bits */

#define X(v)       ((double)warp_half_float((v)&0xffff))
#define Y(v)       ((double)warp_half_float((v) >> 16))
#define H1(e)      warp_half_bits(e)
#define H2(lo, hi) (warp_half_bits(lo) | warp_half_bits(hi) << 16)
W(add_f16, H1(X(a[l]) + X(b[l])))
W(sub_f16, H1(X(a[l]) - X(b[l])))
W(mul_f16, H1(X(a[l]) * X(b[l])))
W(fma_f16, H1(fma(X(a[l]), X(b[l]), X(c[l]))))
W(add_f16x2, H2(X(a[l]) + X(b[l]), Y(a[l]) + Y(b[l])))
W(sub_f16x2, H2(X(a[l]) - X(b[l]), Y(a[l]) - Y(b[l])))
W(mul_f16x2, H2(X(a[l]) * X(b[l]), Y(a[l]) * Y(b[l])))
W(fma_f16x2, H2(fma(X(a[l]), X(b[l]), X(c[l])), fma(Y(a[l]), Y(b[l]), Y(c[l]))))
W(min_f16, H1(LEAST(X(a[l]), X(b[l]))))
W(max_f16, H1(GREATEST(X(a[l]), X(b[l]))))
W(min_f16x2, H2(LEAST(X(a[l]), X(b[l])), LEAST(Y(a[l]), Y(b[l]))))
W(max_f16x2, H2(GREATEST(X(a[l]), X(b[l])), GREATEST(Y(a[l]), Y(b[l]))))
/* Signs of 16 bits, of which those above `most` are NaN. */
#define SIGN(v, most, e)    (((v)&0x7fff) > (most) ? 0x7fffu : (u32)((e)&0xffff))
#define SIGNS(most, lo, hi) (SIGN(a[l], most, lo) | SIGN(a[l] >> 16, most, hi) << 16)
#define SIGN_ROWS(type, most)                                                                                          \
    W(neg_##type, SIGN(a[l], most, a[l] ^ 0x8000))                                                                     \
    W(abs_##type, SIGN(a[l], most, a[l] & 0x7fff))                                                                     \
    W(neg_##type##x2, SIGNS(most, a[l] ^ 0x8000, a[l] >> 16 ^ 0x8000))                                                 \
    W(abs_##type##x2, SIGNS(most, a[l] & 0x7fff, a[l] >> 16 & 0x7fff))
SIGN_ROWS(f16, 0x7c00)
SIGN_ROWS(bf16, 0x7f80)
W(ex2_f16, H1(exp2(X(a[l]))))
W(tanh_f16, H1(tanh(X(a[l]))))

/* .sat and .relu; a NaN becomes 0 and stays one. */
#define SAT(v)          ((v) > 0 ? (v) < 1 ? (v) : 1.0 : 0.0)
#define NAN_OR(M, x, y) ((x) != (x) || (y) != (y) ? (double)NAN : M(x, y))
#define RELU(v)         ((v) <= 0 ? 0.0 : (v))
W(add_sat_f16, H1(SAT(X(a[l]) + X(b[l]))))
W(add_sat_f16x2, H2(SAT(X(a[l]) + X(b[l])), SAT(Y(a[l]) + Y(b[l]))))
W(sub_sat_f16, H1(SAT(X(a[l]) - X(b[l]))))
W(sub_sat_f16x2, H2(SAT(X(a[l]) - X(b[l])), SAT(Y(a[l]) - Y(b[l]))))
W(mul_sat_f16, H1(SAT(X(a[l]) * X(b[l]))))
W(mul_sat_f16x2, H2(SAT(X(a[l]) * X(b[l])), SAT(Y(a[l]) * Y(b[l]))))
W(fma_sat_f16, H1(SAT(fma(X(a[l]), X(b[l]), X(c[l])))))
W(fma_sat_f16x2, H2(SAT(fma(X(a[l]), X(b[l]), X(c[l]))), SAT(fma(Y(a[l]), Y(b[l]), Y(c[l])))))
W(fma_relu_f16, H1(RELU(fma(X(a[l]), X(b[l]), X(c[l])))))
W(fma_relu_f16x2, H2(RELU(fma(X(a[l]), X(b[l]), X(c[l]))), RELU(fma(Y(a[l]), Y(b[l]), Y(c[l])))))
W(min_nan_f16, H1(NAN_OR(LEAST, X(a[l]), X(b[l]))))
W(min_nan_f16x2, H2(NAN_OR(LEAST, X(a[l]), X(b[l])), NAN_OR(LEAST, Y(a[l]), Y(b[l]))))
W(max_nan_f16, H1(NAN_OR(GREATEST, X(a[l]), X(b[l]))))
W(max_nan_f16x2, H2(NAN_OR(GREATEST, X(a[l]), X(b[l])), NAN_OR(GREATEST, Y(a[l]), Y(b[l]))))
W(ex2_f16x2, H2(exp2(X(a[l])), exp2(Y(a[l]))))
W(tanh_f16x2, H2(tanh(X(a[l])), tanh(Y(a[l]))))

#define B1(v)      warp_bf16_float((v)&0xffff)
#define B2(v)      warp_bits_float((v)&0xffff0000)
#define Q1(e)      warp_bf16_bits(e)
#define Q2(lo, hi) (warp_bf16_bits(lo) | warp_bf16_bits(hi) << 16)
W(add_bf16, Q1(B1(a[l]) + B1(b[l])))
W(sub_bf16, Q1(B1(a[l]) - B1(b[l])))
W(mul_bf16, Q1(B1(a[l]) * B1(b[l])))
W(fma_bf16, Q1(fmaf(B1(a[l]), B1(b[l]), B1(c[l]))))
W(add_bf16x2, Q2(B1(a[l]) + B1(b[l]), B2(a[l]) + B2(b[l])))
W(sub_bf16x2, Q2(B1(a[l]) - B1(b[l]), B2(a[l]) - B2(b[l])))
W(mul_bf16x2, Q2(B1(a[l]) * B1(b[l]), B2(a[l]) * B2(b[l])))
W(fma_bf16x2, Q2(fmaf(B1(a[l]), B1(b[l]), B1(c[l])), fmaf(B2(a[l]), B2(b[l]), B2(c[l]))))
W(min_bf16, Q1(LEAST(B1(a[l]), B1(b[l]))))
W(max_bf16, Q1(GREATEST(B1(a[l]), B1(b[l]))))
W(fma_relu_bf16, Q1((float)RELU(fmaf(B1(a[l]), B1(b[l]), B1(c[l])))))
W(fma_relu_bf16x2, Q2((float)RELU(fmaf(B1(a[l]), B1(b[l]), B1(c[l]))), (float)RELU(fmaf(B2(a[l]), B2(b[l]), B2(c[l])))))
W(min_nan_bf16, Q1((float)NAN_OR(LEAST, B1(a[l]), B1(b[l]))))
W(min_nan_bf16x2, Q2((float)NAN_OR(LEAST, B1(a[l]), B1(b[l])), (float)NAN_OR(LEAST, B2(a[l]), B2(b[l]))))
W(max_nan_bf16, Q1((float)NAN_OR(GREATEST, B1(a[l]), B1(b[l]))))
W(max_nan_bf16x2, Q2((float)NAN_OR(GREATEST, B1(a[l]), B1(b[l])), (float)NAN_OR(GREATEST, B2(a[l]), B2(b[l]))))
W(ex2_bf16, Q1(exp2f(B1(a[l]))))
W(ex2_bf16x2, Q2(exp2f(B1(a[l])), exp2f(B2(a[l]))))
W(tanh_bf16, Q1(tanhf(B1(a[l]))))
W(tanh_bf16x2, Q2(tanhf(B1(a[l])), tanhf(B2(a[l]))))
W(min_bf16x2, Q2(LEAST(B1(a[l]), B1(b[l])), LEAST(B2(a[l]), B2(b[l]))))
W(max_bf16x2, Q2(GREATEST(B1(a[l]), B1(b[l])), GREATEST(B2(a[l]), B2(b[l]))))

/* ------------------------------------------------------------------------------------------------ comparisons */

#define UNORDERED (A_ != A_ || B_ != B_)
#define TESTS(suffix, T)                                                                                               \
    WARP_TEST(eq_##suffix, T, A_ == B_)                                                                                \
    WARP_TEST(ne_##suffix, T, !UNORDERED && A_ != B_)                                                                  \
    WARP_TEST(lt_##suffix, T, A_ < B_)                                                                                 \
    WARP_TEST(le_##suffix, T, A_ <= B_)                                                                                \
    WARP_TEST(gt_##suffix, T, A_ > B_)                                                                                 \
    WARP_TEST(ge_##suffix, T, A_ >= B_)                                                                                \
    WARP_TEST(equ_##suffix, T, UNORDERED || A_ == B_)                                                                  \
    WARP_TEST(neu_##suffix, T, A_ != B_)                                                                               \
    WARP_TEST(ltu_##suffix, T, !(A_ >= B_))                                                                            \
    WARP_TEST(leu_##suffix, T, !(A_ > B_))                                                                             \
    WARP_TEST(gtu_##suffix, T, !(A_ <= B_))                                                                            \
    WARP_TEST(geu_##suffix, T, !(A_ < B_))                                                                             \
    WARP_TEST(num_##suffix, T, !UNORDERED)                                                                             \
    WARP_TEST(nan_##suffix, T, UNORDERED)
#define A_ a[l]
#define B_ b[l]
TESTS(f32, float)
TESTS(f64, double)
#undef A_
#undef B_
#define A_ X(a[l])
#define B_ X(b[l])
TESTS(f16, u32)
#undef A_
#undef B_
#define A_ B1(a[l])
#define B_ B1(b[l])
TESTS(bf16, u32)
#undef A_
#undef B_

#define INFINITE32 ((a[l] & 0x7fffffff) == 0x7f800000)
#define FINITE32   ((a[l] & 0x7f800000) != 0x7f800000)
WARP_TEST(inf_f32, u32, INFINITE32 || (b && 0))
WARP_TEST(fin_f32, u32, FINITE32 || (b && 0))
WARP_TEST(isnan_f32, u32, NAN32 || (b && 0))
WARP_TEST(isnum_f32, u32, !NAN32 || (b && 0))
WARP_TEST(inf_f64, u64, ABS64 == UINT64_C(0x7ff) << 52 || (b && 0))
WARP_TEST(fin_f64, u64, ABS64 < UINT64_C(0x7ff) << 52 || (b && 0))
WARP_TEST(isnan_f64, u64, NAN64 || (b && 0))

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

#define DIRECTED_ROWS(op, type, operands, name)                                                                        \
    {op ".rm." type, operands, name##_rm}, {op ".rp." type, operands, name##_rp},                                      \
    {                                                                                                                  \
        op ".rz." type, operands, name##_rz                                                                            \
    }

const warp_lane_row WARP_ROWS(float)[] = {
    {"add.f32", "www", add_f32},
    {"sub.f32", "www", sub_f32},
    {"mul.f32", "www", mul_f32},
    {"fma.f32", "wwww", fma_f32},
    {"mad.f32", "wwww", fma_f32},
    {"div.f32", "www", div_f32},
    {"div.approx.f32", "www", div_approx_f32},
    {"add.f64", "ddd", add_f64},
    {"sub.f64", "ddd", sub_f64},
    {"mul.f64", "ddd", mul_f64},
    {"fma.f64", "dddd", fma_f64},
    {"mad.f64", "dddd", fma_f64},
    {"div.f64", "ddd", div_f64},
    {"rcp.f32", "ww", rcp_f32},
    {"rcp.f64", "dd", rcp_f64},
    {"sqrt.f32", "ww", sqrt_f32},
    {"sqrt.f64", "dd", sqrt_f64},
    {"rsqrt.f32", "ww", rsqrt_f32},
    {"rsqrt.f64", "dd", rsqrt_f64},
    {"sin.f32", "ww", sin_f32},
    {"cos.f32", "ww", cos_f32},
    {"ex2.f32", "ww", ex2_f32},
    {"lg2.f32", "ww", lg2_f32},
    {"tanh.f32", "ww", tanh_f32},
    {"rcp.ftz.f64", "dd", rcp_high_f64},
    {"rsqrt.ftz.f64", "dd", rsqrt_high_f64},
    DIRECTED_ROWS("add", "f32", "www", add_f32),
    DIRECTED_ROWS("sub", "f32", "www", sub_f32),
    DIRECTED_ROWS("mul", "f32", "www", mul_f32),
    DIRECTED_ROWS("fma", "f32", "wwww", fma_f32),
    DIRECTED_ROWS("mad", "f32", "wwww", fma_f32),
    DIRECTED_ROWS("div", "f32", "www", div_f32),
    DIRECTED_ROWS("rcp", "f32", "ww", rcp_f32),
    DIRECTED_ROWS("sqrt", "f32", "ww", sqrt_f32),
    DIRECTED_ROWS("add", "f64", "ddd", add_f64),
    DIRECTED_ROWS("sub", "f64", "ddd", sub_f64),
    DIRECTED_ROWS("mul", "f64", "ddd", mul_f64),
    DIRECTED_ROWS("fma", "f64", "dddd", fma_f64),
    DIRECTED_ROWS("mad", "f64", "dddd", fma_f64),
    DIRECTED_ROWS("div", "f64", "ddd", div_f64),
    DIRECTED_ROWS("rcp", "f64", "dd", rcp_f64),
    DIRECTED_ROWS("sqrt", "f64", "dd", sqrt_f64),
    {"neg.f32", "ww", neg_f32},
    {"abs.f32", "ww", abs_f32},
    {"neg.f64", "dd", neg_f64},
    {"abs.f64", "dd", abs_f64},
    {"copysign.f32", "www", copysign_f32},
    {"copysign.f64", "ddd", copysign_f64},
    {"min.f32", "www", min_f32},
    {"max.f32", "www", max_f32},
    {"min.f64", "ddd", min_f64},
    {"max.f64", "ddd", max_f64},
    {"min.NaN.f32", "www", min_nan_f32},
    {"max.NaN.f32", "www", max_nan_f32},
    {"add.f16", "www", add_f16},
    {"sub.f16", "www", sub_f16},
    {"mul.f16", "www", mul_f16},
    {"fma.f16", "wwww", fma_f16},
    {"add.f16x2", "www", add_f16x2},
    {"sub.f16x2", "www", sub_f16x2},
    {"mul.f16x2", "www", mul_f16x2},
    {"fma.f16x2", "wwww", fma_f16x2},
    {"min.f16", "www", min_f16},
    {"max.f16", "www", max_f16},
    {"min.f16x2", "www", min_f16x2},
    {"max.f16x2", "www", max_f16x2},
    {"neg.f16", "ww", neg_f16},
    {"abs.f16", "ww", abs_f16},
    {"neg.f16x2", "ww", neg_f16x2},
    {"abs.f16x2", "ww", abs_f16x2},
    {"ex2.f16", "ww", ex2_f16},
    {"tanh.f16", "ww", tanh_f16},
    {"add.bf16", "www", add_bf16},
    {"sub.bf16", "www", sub_bf16},
    {"mul.bf16", "www", mul_bf16},
    {"fma.bf16", "wwww", fma_bf16},
    {"add.bf16x2", "www", add_bf16x2},
    {"sub.bf16x2", "www", sub_bf16x2},
    {"mul.bf16x2", "www", mul_bf16x2},
    {"fma.bf16x2", "wwww", fma_bf16x2},
    {"min.bf16", "www", min_bf16},
    {"max.bf16", "www", max_bf16},
    {"add.sat.f16", "www", add_sat_f16},
    {"add.sat.f16x2", "www", add_sat_f16x2},
    {"sub.sat.f16", "www", sub_sat_f16},
    {"sub.sat.f16x2", "www", sub_sat_f16x2},
    {"mul.sat.f16", "www", mul_sat_f16},
    {"mul.sat.f16x2", "www", mul_sat_f16x2},
    {"fma.sat.f16", "wwww", fma_sat_f16},
    {"fma.sat.f16x2", "wwww", fma_sat_f16x2},
    {"fma.relu.f16", "wwww", fma_relu_f16},
    {"fma.relu.f16x2", "wwww", fma_relu_f16x2},
    {"min.NaN.f16", "www", min_nan_f16},
    {"min.NaN.f16x2", "www", min_nan_f16x2},
    {"max.NaN.f16", "www", max_nan_f16},
    {"max.NaN.f16x2", "www", max_nan_f16x2},
    {"ex2.f16x2", "ww", ex2_f16x2},
    {"tanh.f16x2", "ww", tanh_f16x2},
    {"fma.relu.bf16", "wwww", fma_relu_bf16},
    {"fma.relu.bf16x2", "wwww", fma_relu_bf16x2},
    {"min.NaN.bf16", "www", min_nan_bf16},
    {"min.NaN.bf16x2", "www", min_nan_bf16x2},
    {"max.NaN.bf16", "www", max_nan_bf16},
    {"max.NaN.bf16x2", "www", max_nan_bf16x2},
    {"ex2.bf16", "ww", ex2_bf16},
    {"ex2.bf16x2", "ww", ex2_bf16x2},
    {"tanh.bf16", "ww", tanh_bf16},
    {"tanh.bf16x2", "ww", tanh_bf16x2},
    {"min.bf16x2", "www", min_bf16x2},
    {"max.bf16x2", "www", max_bf16x2},
    {"neg.bf16", "ww", neg_bf16},
    {"abs.bf16", "ww", abs_bf16},
    {"neg.bf16x2", "ww", neg_bf16x2},
    {"abs.bf16x2", "ww", abs_bf16x2},
    TEST_ROWS("f32", "pww", f32),
    TEST_ROWS("f64", "pdd", f64),
    TEST_ROWS("f16", "pww", f16),
    TEST_ROWS("bf16", "pww", bf16),
    {"testp.infinite.f32", "pw", inf_f32},
    {"testp.finite.f32", "pw", fin_f32},
    {"testp.notanumber.f32", "pw", isnan_f32},
    {"testp.number.f32", "pw", isnum_f32},
    {"testp.infinite.f64", "pd", inf_f64},
    {"testp.finite.f64", "pd", fin_f64},
    {"testp.notanumber.f64", "pd", isnan_f64},
    {NULL, NULL, NULL},
};
