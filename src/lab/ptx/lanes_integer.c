/* Integer arithmetic, logic, comparisons and selection, lane by lane. */
#include <string.h>

#include "lab/ptx/lanes.h"

typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;
typedef int s128 __attribute__((mode(TI)));
typedef unsigned int u128 __attribute__((mode(TI)));

#define W(name, e)  WARP_LANES_OF(name, u32, u32, u32, u32, e)
#define L(name, e)  WARP_LANES_OF(name, u64, u64, u64, u64, e)
#define WS(name, e) WARP_LANES_OF(name, u32, s32, s32, s32, e)
#define LS(name, e) WARP_LANES_OF(name, u64, s64, s64, s64, e)
#define H(x)        ((u32)(uint16_t)(x))
#define SH(x)       ((s32)(int16_t)(uint16_t)(x))

/* ------------------------------------------------------------------------------------------------ arithmetic */

W(add_w, a[l] + b[l])
L(add_d, a[l] + b[l])
W(add_h, H(a[l] + b[l]))
W(sub_w, a[l] - b[l])
L(sub_d, a[l] - b[l])
W(sub_h, H(a[l] - b[l]))
W(mul_w, a[l] * b[l])
L(mul_d, a[l] * b[l])
W(mul_h, H(a[l] * b[l]))
W(mulhi_u32, (u32)((u64)a[l] * b[l] >> 32))
WS(mulhi_s32, (u32)(u64)((s64)a[l] * b[l] >> 32))
L(mulhi_u64, (u64)((u128)a[l] * b[l] >> 64))
LS(mulhi_s64, (u64)((s128)a[l] * b[l] >> 64))
W(mulhi_u16, a[l] * b[l] >> 16)
W(mulhi_s16, H((u32)(SH(a[l]) * SH(b[l])) >> 16))
WARP_LANES_OF(mulwide_u32, u64, u32, u32, u32, (u64)a[l] * b[l])
WARP_LANES_OF(mulwide_s32, u64, s32, s32, s32, (u64)((s64)a[l] * b[l]))
W(mulwide_u16, a[l] * b[l])
W(mulwide_s16, (u32)(SH(a[l]) * SH(b[l])))
W(mad_w, a[l] * b[l] + c[l])
L(mad_d, a[l] * b[l] + c[l])
W(mad_h, H(a[l] * b[l] + c[l]))
W(madhi_u32, (u32)((u64)a[l] * b[l] >> 32) + c[l])
WS(madhi_s32, (u32)(u64)((s64)a[l] * b[l] >> 32) + (u32)c[l])
L(madhi_u64, (u64)((u128)a[l] * b[l] >> 64) + c[l])
LS(madhi_s64, (u64)((s128)a[l] * b[l] >> 64) + (u64)c[l])
WARP_LANES_OF(madwide_u32, u64, u32, u32, u64, (u64)a[l] * b[l] + c[l])
WARP_LANES_OF(madwide_s32, u64, s32, s32, u64, (u64)((s64)a[l] * b[l]) + c[l])
W(madwide_u16, (a[l] & 0xffff) * (b[l] & 0xffff) + c[l])
W(madwide_s16, (u32)(SH(a[l]) * SH(b[l])) + c[l])
#define LOW24(x)  ((x)&0xffffff)
#define SLOW24(x) ((s32)((u32)(x) << 8) >> 8)
W(mul24_u32, LOW24(a[l]) * LOW24(b[l]))
W(mul24_s32, (u32)SLOW24(a[l]) * (u32)SLOW24(b[l]))
W(mad24_u32, LOW24(a[l]) * LOW24(b[l]) + c[l])
W(mad24_s32, (u32)SLOW24(a[l]) * (u32)SLOW24(b[l]) + c[l])

/* Division by zero gives all ones and as remainder the dividend, as the hardware does. */
W(div_u32, b[l] ? a[l] / b[l] : UINT32_MAX)
L(div_u64, b[l] ? a[l] / b[l] : UINT64_MAX)
WS(div_s32, !b[l] ? UINT32_MAX : b[l] == -1 ? 0 - (u32)a[l] : (u32)(a[l] / b[l]))
LS(div_s64, !b[l] ? UINT64_MAX : b[l] == -1 ? 0 - (u64)a[l] : (u64)(a[l] / b[l]))
W(div_u16, b[l] ? a[l] / b[l] : 0xffff)
W(div_s16, !b[l] ? 0xffff : H(SH(a[l]) / SH(b[l])))
W(rem_u32, b[l] ? a[l] % b[l] : a[l])
L(rem_u64, b[l] ? a[l] % b[l] : a[l])
WS(rem_s32, !b[l] ? (u32)a[l] : b[l] == -1 ? 0 : (u32)(a[l] % b[l]))
LS(rem_s64, !b[l] ? (u64)a[l] : b[l] == -1 ? 0 : (u64)(a[l] % b[l]))
W(rem_u16, b[l] ? a[l] % b[l] : a[l])
W(rem_s16, !b[l] ? a[l] : H(SH(a[l]) % SH(b[l])))

W(abs_s32, (s32)a[l] < 0 ? 0 - a[l] : a[l])
L(abs_s64, (s64)a[l] < 0 ? 0 - a[l] : a[l])
W(abs_s16, SH(a[l]) < 0 ? H(0 - a[l]) : a[l])
W(neg_s32, 0 - a[l])
L(neg_s64, 0 - a[l])
W(neg_s16, H(0 - a[l]))
W(min_u32, a[l] < b[l] ? a[l] : b[l])
W(max_u32, a[l] > b[l] ? a[l] : b[l])
WS(min_s32, (u32)(a[l] < b[l] ? a[l] : b[l]))
WS(max_s32, (u32)(a[l] > b[l] ? a[l] : b[l]))
L(min_u64, a[l] < b[l] ? a[l] : b[l])
L(max_u64, a[l] > b[l] ? a[l] : b[l])
LS(min_s64, (u64)(a[l] < b[l] ? a[l] : b[l]))
LS(max_s64, (u64)(a[l] > b[l] ? a[l] : b[l]))
W(min_s16, SH(a[l]) < SH(b[l]) ? a[l] : b[l])
W(max_s16, SH(a[l]) > SH(b[l]) ? a[l] : b[l])
W(sad_u32, (a[l] > b[l] ? a[l] - b[l] : b[l] - a[l]) + c[l])
W(sad_s32, ((s32)a[l] > (s32)b[l] ? a[l] - b[l] : b[l] - a[l]) + c[l])

/* ------------------------------------------------------------------------------------------------ bits */

W(and_w, a[l] & b[l])
L(and_d, a[l] & b[l])
W(or_w, a[l] | b[l])
L(or_d, a[l] | b[l])
W(xor_w, a[l] ^ b[l])
L(xor_d, a[l] ^ b[l])
W(not_w, ~a[l])
L(not_d, ~a[l])
W(not_h, H(~a[l]))
W(cnot_w, !a[l])
L(cnot_d, !a[l])
#define P(name, e)                                                                                                     \
    WARP_FN(name)                                                                                                      \
    {                                                                                                                  \
        u32 a, b;                                                                                                      \
        memcpy(&a, p, 4);                                                                                              \
        memcpy(&b, q ? q : p, 4);                                                                                      \
        (void)r;                                                                                                       \
        const u32 value = (e);                                                                                         \
        memcpy(to, &value, 4);                                                                                         \
    }
P(and_p, a &b)
P(or_p, a | b)
P(xor_p, a ^ b)
P(not_p, ~a | (b & 0))
P(mov_p, a | (b & 0))

/* Shifts are by words; those past the width clear, or fill with the sign. */
#define SHIFT(name, T, expression) WARP_LANES_OF(name, T, T, u32, u32, expression)
SHIFT(shl_w, u32, b[l] < 32 ? a[l] << (b[l] & 31) : 0)
SHIFT(shl_d, u64, b[l] < 64 ? a[l] << (b[l] & 63) : 0)
SHIFT(shl_h, u32, b[l] < 16 ? H(a[l] << (b[l] & 15)) : 0)
SHIFT(shr_u32, u32, b[l] < 32 ? a[l] >> (b[l] & 31) : 0)
SHIFT(shr_u64, u64, b[l] < 64 ? a[l] >> (b[l] & 63) : 0)
SHIFT(shr_u16, u32, b[l] < 16 ? a[l] >> (b[l] & 15) : 0)
SHIFT(shr_s32, u32, (u32)((s32)a[l] >> (b[l] < 31 ? b[l] : 31)))
SHIFT(shr_s64, u64, (u64)((s64)a[l] >> (b[l] < 63 ? b[l] : 63)))
SHIFT(shr_s16, u32, H(SH(a[l]) >> (b[l] < 15 ? b[l] : 15)))
#define BOTH      ((u64)b[l] << 32 | a[l])
#define MOST32(x) ((x) < 32 ? (x) : 32)
W(shf_l_wrap, (u32)(BOTH << (c[l] & 31) >> 32))
W(shf_r_wrap, (u32)(BOTH >> (c[l] & 31)))
W(shf_l_clamp, (u32)(BOTH << MOST32(c[l]) >> 32))
W(shf_r_clamp, (u32)(BOTH >> MOST32(c[l])))

/* bmsk: b bits from bit a on; szext: the lowest b bits, extended. */
#define ONES(n) ((n) < 32 ? (UINT32_C(1) << (n)) - 1 : UINT32_MAX)
W(bmsk_clamp, a[l] < 32 ? ONES(b[l]) << a[l] : 0)
W(bmsk_wrap, ONES(b[l] & 31) << (a[l] & 31))
static u32 widen(u32 value, u32 bits, bool is_signed)
{
    const u32 kept = value & ONES(bits);
    return is_signed && bits && bits < 32 && value >> (bits - 1) & 1 ? kept | ~ONES(bits) : kept;
}
W(szext_clamp_u32, widen(a[l], b[l], false))
W(szext_clamp_s32, widen(a[l], b[l], true))
W(szext_wrap_u32, widen(a[l], b[l] & 31, false))
W(szext_wrap_s32, widen(a[l], b[l] & 31, true))

static u64 extract(u64 value, u32 from, u32 length, u32 bits, bool is_signed)
{
    if (!length)
        return 0;
    u64 field = from < bits ? value >> from : 0;
    if (length < 64)
        field &= (UINT64_C(1) << length) - 1;
    const u32 top = from + length - 1 < bits - 1 ? from + length - 1 : bits - 1;
    if (is_signed && value >> top & 1) {
        const u32 have = top >= from ? top - from + 1 : 0;
        field |= have < 64 ? UINT64_MAX << have : 0;
    }
    return bits == 32 ? (u32)field : field;
}
W(bfe_u32, (u32)extract(a[l], b[l] & 255, c[l] & 255, 32, false))
W(bfe_s32, (u32)extract(a[l], b[l] & 255, c[l] & 255, 32, true))
WARP_LANES_OF(bfe_u64, u64, u64, u32, u32, extract(a[l], b[l] & 255, c[l] & 255, 64, false))
WARP_LANES_OF(bfe_s64, u64, u64, u32, u32, extract(a[l], b[l] & 255, c[l] & 255, 64, true))

W(popc_w, (u32)__builtin_popcount(a[l]))
WARP_LANES_OF(popc_d, u32, u64, u64, u64, (u32)__builtin_popcountll(a[l]))
W(clz_w, a[l] ? (u32)__builtin_clz(a[l]) : 32)
WARP_LANES_OF(clz_d, u32, u64, u64, u64, a[l] ? (u32)__builtin_clzll(a[l]) : 64)

static u32 reverse(u32 v)
{
    v = (v >> 1 & 0x55555555) | (v & 0x55555555) << 1;
    v = (v >> 2 & 0x33333333) | (v & 0x33333333) << 2;
    v = (v >> 4 & 0x0f0f0f0f) | (v & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(v);
}
W(brev_w, reverse(a[l]))
L(brev_d, (u64)reverse((u32)a[l]) << 32 | reverse((u32)(a[l] >> 32)))
W(bfind_u32, a[l] ? 31 - (u32)__builtin_clz(a[l]) : UINT32_MAX)
W(bfind_shift_u32, a[l] ? (u32)__builtin_clz(a[l]) : UINT32_MAX)
#define FOLD32(x) ((s32)(x) < 0 ? ~(x) : (x))
W(bfind_s32, FOLD32(a[l]) ? 31 - (u32)__builtin_clz(FOLD32(a[l])) : UINT32_MAX)
W(bfind_shift_s32, FOLD32(a[l]) ? (u32)__builtin_clz(FOLD32(a[l])) : UINT32_MAX)
WARP_LANES_OF(bfind_u64, u32, u64, u64, u64, a[l] ? 63 - (u32)__builtin_clzll(a[l]) : UINT32_MAX)

static u32 permute(u64 both, u32 selector)
{
    u32 result = 0;
    for (u32 k = 0; k < 4; k++) {
        const u32 pick = selector >> (4 * k) & 15;
        u32 byte = (u32)(both >> (8 * (pick & 7))) & 255;
        if (pick & 8)
            byte = byte & 128 ? 255 : 0;
        result |= byte << (8 * k);
    }
    return result;
}
W(prmt_w, permute(BOTH, c[l]))

static u32 dot4(u32 a, u32 b, bool sa, bool sb)
{
    u32 sum = 0;
    for (int k = 0; k < 32; k += 8) {
        const u32 x = a >> k & 255, y = b >> k & 255;
        sum += (sa && x & 128 ? x - 256 : x) * (sb && y & 128 ? y - 256 : y);
    }
    return sum;
}
W(dp4a_uu, dot4(a[l], b[l], false, false) + c[l])
W(dp4a_us, dot4(a[l], b[l], false, true) + c[l])
W(dp4a_su, dot4(a[l], b[l], true, false) + c[l])
W(dp4a_ss, dot4(a[l], b[l], true, true) + c[l])

/* ------------------------------------------------------------------------------------------------ choice */

W(mov_w, a[l])
L(mov_d, a[l])
WARP_LANES_OF(selp_w, u32, u32, u32, u32, *c >> l & 1 ? a[l] : b[l])
WARP_LANES_OF(selp_d, u64, u64, u64, u32, *c >> l & 1 ? a[l] : b[l])
W(slct_w, (s32)c[l] >= 0 ? a[l] : b[l])
WARP_LANES_OF(slct_d, u64, u64, u64, s32, c[l] >= 0 ? a[l] : b[l])

#define TESTS(suffix, T, X, Y)                                                                                         \
    WARP_TEST(eq_##suffix, T, (X) == (Y))                                                                              \
    WARP_TEST(ne_##suffix, T, (X) != (Y))                                                                              \
    WARP_TEST(lt_##suffix, T, (X) < (Y))                                                                               \
    WARP_TEST(le_##suffix, T, (X) <= (Y))                                                                              \
    WARP_TEST(gt_##suffix, T, (X) > (Y))                                                                               \
    WARP_TEST(ge_##suffix, T, (X) >= (Y))
TESTS(u32, u32, a[l], b[l])
TESTS(s32, s32, a[l], b[l])
TESTS(u64, u64, a[l], b[l])
TESTS(s64, s64, a[l], b[l])
TESTS(s16, u32, SH(a[l]), SH(b[l]))

#define TEST_ROWS(type, operands, suffix)                                                                              \
    {"setp.eq." type, operands, eq_##suffix}, {"setp.ne." type, operands, ne_##suffix},                                \
        {"setp.lt." type, operands, lt_##suffix}, {"setp.le." type, operands, le_##suffix},                            \
        {"setp.gt." type, operands, gt_##suffix},                                                                      \
    {                                                                                                                  \
        "setp.ge." type, operands, ge_##suffix                                                                         \
    }
#define UNSIGNED_ROWS(type, operands, suffix)                                                                          \
    {"setp.lo." type, operands, lt_##suffix}, {"setp.ls." type, operands, le_##suffix},                                \
        {"setp.hi." type, operands, gt_##suffix},                                                                      \
    {                                                                                                                  \
        "setp.hs." type, operands, ge_##suffix                                                                         \
    }
#define US(name, size, operands, fn)                                                                                   \
    {name ".u" size, operands, fn},                                                                                    \
    {                                                                                                                  \
        name ".s" size, operands, fn                                                                                   \
    }
#define USB(name, size, operands, fn)                                                                                  \
    US(name, size, operands, fn),                                                                                      \
    {                                                                                                                  \
        name ".b" size, operands, fn                                                                                   \
    }

const warp_lane_row WARP_ROWS(integer)[] = {
    US("add", "32", "www", add_w),
    US("add", "64", "ddd", add_d),
    US("add", "16", "www", add_h),
    US("sub", "32", "www", sub_w),
    US("sub", "64", "ddd", sub_d),
    US("sub", "16", "www", sub_h),
    US("mul.lo", "32", "www", mul_w),
    US("mul.lo", "64", "ddd", mul_d),
    US("mul.lo", "16", "www", mul_h),
    {"mul.hi.u32", "www", mulhi_u32},
    {"mul.hi.s32", "www", mulhi_s32},
    {"mul.hi.u64", "ddd", mulhi_u64},
    {"mul.hi.s64", "ddd", mulhi_s64},
    {"mul.hi.u16", "www", mulhi_u16},
    {"mul.hi.s16", "www", mulhi_s16},
    {"mul.wide.u32", "dww", mulwide_u32},
    {"mul.wide.s32", "dww", mulwide_s32},
    {"mul.wide.u16", "www", mulwide_u16},
    {"mul.wide.s16", "www", mulwide_s16},
    US("mad.lo", "32", "wwww", mad_w),
    US("mad.lo", "64", "dddd", mad_d),
    US("mad.lo", "16", "wwww", mad_h),
    {"mad.hi.u32", "wwww", madhi_u32},
    {"mad.hi.s32", "wwww", madhi_s32},
    {"mad.hi.u64", "dddd", madhi_u64},
    {"mad.hi.s64", "dddd", madhi_s64},
    {"mad.wide.u32", "dwwd", madwide_u32},
    {"mad.wide.s32", "dwwd", madwide_s32},
    {"mad.wide.u16", "wwww", madwide_u16},
    {"mad.wide.s16", "wwww", madwide_s16},
    {"mul24.lo.u32", "www", mul24_u32},
    {"mul24.lo.s32", "www", mul24_s32},
    {"mad24.lo.u32", "wwww", mad24_u32},
    {"mad24.lo.s32", "wwww", mad24_s32},
    {"div.u32", "www", div_u32},
    {"div.s32", "www", div_s32},
    {"div.u64", "ddd", div_u64},
    {"div.s64", "ddd", div_s64},
    {"div.u16", "www", div_u16},
    {"div.s16", "www", div_s16},
    {"rem.u32", "www", rem_u32},
    {"rem.s32", "www", rem_s32},
    {"rem.u64", "ddd", rem_u64},
    {"rem.s64", "ddd", rem_s64},
    {"rem.u16", "www", rem_u16},
    {"rem.s16", "www", rem_s16},
    {"abs.s32", "ww", abs_s32},
    {"abs.s64", "dd", abs_s64},
    {"abs.s16", "ww", abs_s16},
    {"neg.s32", "ww", neg_s32},
    {"neg.s64", "dd", neg_s64},
    {"neg.s16", "ww", neg_s16},
    {"min.u32", "www", min_u32},
    {"min.s32", "www", min_s32},
    {"min.u64", "ddd", min_u64},
    {"min.s64", "ddd", min_s64},
    {"min.u16", "www", min_u32},
    {"min.s16", "www", min_s16},
    {"max.u32", "www", max_u32},
    {"max.s32", "www", max_s32},
    {"max.u64", "ddd", max_u64},
    {"max.s64", "ddd", max_s64},
    {"max.u16", "www", max_u32},
    {"max.s16", "www", max_s16},
    {"sad.u32", "wwww", sad_u32},
    {"sad.s32", "wwww", sad_s32},
    {"and.b32", "www", and_w},
    {"and.b64", "ddd", and_d},
    {"and.b16", "www", and_w},
    {"and.pred", "ppp", and_p},
    {"or.b32", "www", or_w},
    {"or.b64", "ddd", or_d},
    {"or.b16", "www", or_w},
    {"or.pred", "ppp", or_p},
    {"xor.b32", "www", xor_w},
    {"xor.b64", "ddd", xor_d},
    {"xor.b16", "www", xor_w},
    {"xor.pred", "ppp", xor_p},
    {"not.b32", "ww", not_w},
    {"not.b64", "dd", not_d},
    {"not.b16", "ww", not_h},
    {"not.pred", "pp", not_p},
    {"cnot.b32", "ww", cnot_w},
    {"cnot.b64", "dd", cnot_d},
    {"cnot.b16", "ww", cnot_w},
    {"shl.b32", "www", shl_w},
    {"shl.b64", "ddw", shl_d},
    {"shl.b16", "www", shl_h},
    {"shr.u32", "www", shr_u32},
    {"shr.b32", "www", shr_u32},
    {"shr.s32", "www", shr_s32},
    {"shr.u64", "ddw", shr_u64},
    {"shr.b64", "ddw", shr_u64},
    {"shr.s64", "ddw", shr_s64},
    {"shr.u16", "www", shr_u16},
    {"shr.b16", "www", shr_u16},
    {"shr.s16", "www", shr_s16},
    {"shf.l.wrap.b32", "wwww", shf_l_wrap},
    {"shf.r.wrap.b32", "wwww", shf_r_wrap},
    {"shf.l.clamp.b32", "wwww", shf_l_clamp},
    {"shf.r.clamp.b32", "wwww", shf_r_clamp},
    {"bmsk.clamp.b32", "www", bmsk_clamp},
    {"bmsk.wrap.b32", "www", bmsk_wrap},
    {"szext.clamp.u32", "www", szext_clamp_u32},
    {"szext.clamp.s32", "www", szext_clamp_s32},
    {"szext.wrap.u32", "www", szext_wrap_u32},
    {"szext.wrap.s32", "www", szext_wrap_s32},
    {"bfe.u32", "wwww", bfe_u32},
    {"bfe.s32", "wwww", bfe_s32},
    {"bfe.u64", "ddww", bfe_u64},
    {"bfe.s64", "ddww", bfe_s64},
    {"popc.b32", "ww", popc_w},
    {"popc.b64", "wd", popc_d},
    {"clz.b32", "ww", clz_w},
    {"clz.b64", "wd", clz_d},
    {"brev.b32", "ww", brev_w},
    {"brev.b64", "dd", brev_d},
    {"bfind.u32", "ww", bfind_u32},
    {"bfind.s32", "ww", bfind_s32},
    {"bfind.u64", "wd", bfind_u64},
    {"bfind.shiftamt.u32", "ww", bfind_shift_u32},
    {"bfind.shiftamt.s32", "ww", bfind_shift_s32},
    {"prmt.b32", "wwww", prmt_w},
    {"dp4a.u32.u32", "wwww", dp4a_uu},
    {"dp4a.u32.s32", "wwww", dp4a_us},
    {"dp4a.s32.u32", "wwww", dp4a_su},
    {"dp4a.s32.s32", "wwww", dp4a_ss},
    USB("mov", "32", "ww", mov_w),
    USB("mov", "64", "dd", mov_d),
    USB("mov", "16", "ww", mov_w),
    {"mov.f32", "ww", mov_w},
    {"mov.f64", "dd", mov_d},
    {"mov.f16", "ww", mov_w},
    {"mov.pred", "pp", mov_p},
    USB("selp", "32", "wwwp", selp_w),
    USB("selp", "64", "dddp", selp_d),
    USB("selp", "16", "wwwp", selp_w),
    {"selp.f32", "wwwp", selp_w},
    {"selp.f64", "dddp", selp_d},
    USB("slct", "32.s32", "wwww", slct_w),
    USB("slct", "64.s32", "dddw", slct_d),
    {"slct.f32.s32", "wwww", slct_w},
    {"slct.f64.s32", "dddw", slct_d},
    TEST_ROWS("u32", "pww", u32),
    TEST_ROWS("b32", "pww", u32),
    TEST_ROWS("s32", "pww", s32),
    TEST_ROWS("u64", "pdd", u64),
    TEST_ROWS("b64", "pdd", u64),
    TEST_ROWS("s64", "pdd", s64),
    TEST_ROWS("u16", "pww", u32),
    TEST_ROWS("b16", "pww", u32),
    TEST_ROWS("s16", "pww", s16),
    UNSIGNED_ROWS("u32", "pww", u32),
    UNSIGNED_ROWS("u64", "pdd", u64),
    UNSIGNED_ROWS("u16", "pww", u32),
    {NULL, NULL, NULL},
};
