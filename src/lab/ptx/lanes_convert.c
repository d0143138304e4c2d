/* Conversions that compilers write most, lane by lane; convert.c does the others. */
#include <math.h>

#include "lab/ptx/half.h"
#include "lab/ptx/lanes.h"

typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

#define TO(name, D, A, e) WARP_LANES_OF(name, D, A, A, A, e)
#define SH(x)             ((s32)(int16_t)(uint16_t)(x))

TO(u64_u32, u64, u32, a[l])
TO(u64_s32, u64, s32, (u64)(s64)a[l])
TO(u32_u64, u32, u64, (u32)a[l])
TO(u64_s16, u64, u32, (u64)(s64)SH(a[l]))
TO(u32_s16, u32, u32, (u32)SH(a[l]))
TO(u16_u32, u32, u32, a[l] & 0xffff)
TO(u8_u32, u32, u32, a[l] & 0xff)
TO(s16_s8, u32, u32, (u32)(s32)(int8_t)(uint8_t)a[l] & 0xffff)
TO(s32_s8, u32, u32, (u32)(s32)(int8_t)(uint8_t)a[l])
TO(same, u32, u32, a[l])
TO(same64, u64, u64, a[l])
TO(f32_s32, float, s32, (float)a[l])
TO(f32_u32, float, u32, (float)a[l])
TO(f32_u16, float, u32, (float)(a[l] & 0xffff))
TO(f32_s16, float, u32, (float)SH(a[l]))
TO(f64_f32, double, float, (double)a[l])
TO(f32_f64, float, double, (float)a[l])
TO(f64_s32, double, s32, (double)a[l])
TO(f64_u32, double, u32, (double)a[l])
TO(f32_f16, float, u32, warp_one_nan(warp_half_float(a[l] & 0xffff)))
TO(f16_f32, u32, float, warp_half_bits((double)a[l]))
TO(f32_bf16, float, u32, warp_bf16_float(a[l] & 0xffff))
TO(bf16_f32, u32, float, warp_bf16_bits(a[l]))
TO(rni_f32, float, float, warp_one_nan(rintf(a[l])))
TO(rzi_f32, float, float, warp_one_nan(truncf(a[l])))
TO(rmi_f32, float, float, warp_one_nan(floorf(a[l])))
TO(rpi_f32, float, float, warp_one_nan(ceilf(a[l])))
/* Out of range goes to the nearest end, NaN to zero. */
#define TO_S32(x) ((x) != (x) ? 0 : (x) >= 2147483648.0f ? INT32_MAX : (x) <= -2147483648.0f ? INT32_MIN : (s32)(x))
TO(rzi_s32_f32, s32, float, TO_S32(a[l]))
WARP_LANES_OF(pack_f16x2, u32, float, float, float, warp_half_bits((double)b[l]) | warp_half_bits((double)a[l]) << 16)
WARP_LANES_OF(pack_bf16x2, u32, float, float, float, warp_bf16_bits(b[l]) | warp_bf16_bits(a[l]) << 16)

const warp_lane_row WARP_ROWS(convert)[] = {
    {"cvt.u64.u32", "dw", u64_u32},
    {"cvt.s64.u32", "dw", u64_u32},
    {"cvt.s64.s32", "dw", u64_s32},
    {"cvt.u64.s32", "dw", u64_s32},
    {"cvt.u32.u64", "wd", u32_u64},
    {"cvt.s32.s64", "wd", u32_u64},
    {"cvt.u32.s64", "wd", u32_u64},
    {"cvt.s32.u64", "wd", u32_u64},
    {"cvt.s64.s16", "dw", u64_s16},
    {"cvt.u64.u16", "dw", u64_u32},
    {"cvt.s64.u16", "dw", u64_u32},
    {"cvt.s32.s16", "ww", u32_s16},
    {"cvt.u32.s16", "ww", u32_s16},
    {"cvt.u32.u16", "ww", same},
    {"cvt.s32.u16", "ww", same},
    {"cvt.u16.u32", "ww", u16_u32},
    {"cvt.s16.s32", "ww", u16_u32},
    {"cvt.u16.s32", "ww", u16_u32},
    {"cvt.s16.u32", "ww", u16_u32},
    {"cvt.u8.u32", "ww", u8_u32},
    {"cvt.u8.u16", "ww", u8_u32},
    {"cvt.u16.u8", "ww", u8_u32},
    {"cvt.u32.u8", "ww", u8_u32},
    {"cvt.s16.s8", "ww", s16_s8},
    {"cvt.s32.s8", "ww", s32_s8},
    {"cvt.u32.s32", "ww", same},
    {"cvt.s32.u32", "ww", same},
    {"cvt.u32.u32", "ww", same},
    {"cvt.s32.s32", "ww", same},
    {"cvt.u64.u64", "dd", same64},
    {"cvt.s64.u64", "dd", same64},
    {"cvt.u64.s64", "dd", same64},
    {"cvt.rn.f32.s32", "ww", f32_s32},
    {"cvt.rn.f32.u32", "ww", f32_u32},
    {"cvt.rn.f32.u16", "ww", f32_u16},
    {"cvt.rn.f32.s16", "ww", f32_s16},
    {"cvt.f64.f32", "dw", f64_f32},
    {"cvt.rn.f32.f64", "wd", f32_f64},
    {"cvt.rn.f64.s32", "dw", f64_s32},
    {"cvt.rn.f64.u32", "dw", f64_u32},
    {"cvt.f32.f16", "ww", f32_f16},
    {"cvt.rn.f16.f32", "ww", f16_f32},
    {"cvt.f32.bf16", "ww", f32_bf16},
    {"cvt.rn.bf16.f32", "ww", bf16_f32},
    {"cvt.rni.f32.f32", "ww", rni_f32},
    {"cvt.rzi.f32.f32", "ww", rzi_f32},
    {"cvt.rmi.f32.f32", "ww", rmi_f32},
    {"cvt.rpi.f32.f32", "ww", rpi_f32},
    {"cvt.f32.f32", "ww", same},
    {"cvt.f64.f64", "dd", same64},
    {"cvt.rzi.s32.f32", "ww", rzi_s32_f32},
    {"cvt.rn.f16x2.f32", "www", pack_f16x2},
    {"cvt.rn.bf16x2.f32", "www", pack_bf16x2},
    {NULL, NULL, NULL},
};
