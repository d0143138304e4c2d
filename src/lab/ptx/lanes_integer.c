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

#define LESS(x, y)      ((x) < (y) ? (x) : (y))
#define MORE(x, y)      ((x) > (y) ? (x) : (y))
#define LESS_RELU(x, y) MORE(LESS(x, y), 0)
#define MORE_RELU(x, y) MORE(MORE(x, y), 0)
#define PLUS(x, y)      ((x) + (y))
#define PAIR(op, T)     (H(op(T(a[l]), T(b[l]))) | H(op(T(a[l] >> 16), T(b[l] >> 16))) << 16)

#define DOT2(T, low, high) ((u32)(T(a[l]) * (low)) + (u32)(T(a[l] >> 16) * (high)))
#define LOW24(x)           ((x)&0xffffff)
#define SLOW24(x)          ((s32)((u32)(x) << 8) >> 8)

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

#define BOTH      ((u64)b[l] << 32 | a[l])
#define MOST32(x) ((x) < 32 ? (x) : 32)

#define ONES(n) ((n) < 32 ? (UINT32_C(1) << (n)) - 1 : UINT32_MAX)
static u32 widen(u32 value, u32 bits, bool is_signed)
{
    const u32 kept = value & ONES(bits);
    return is_signed && bits && bits < 32 && value >> (bits - 1) & 1 ? kept | ~ONES(bits) : kept;
}

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

#define FOLD32(x) ((s32)(x) < 0 ? ~(x) : (x))

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

/* The n-th set bit from `base` on, below it for a negative n; 0: that one alone. */
static u32 nth_set(u32 mask, u32 base, s32 n)
{
    u32 left = n < 0 ? 0 - (u32)n : n ? (u32)n : 1;
    mask &= n ? UINT32_MAX : UINT32_C(1) << (base & 31);
    for (u32 at = base; at < 32; at = n < 0 ? at - 1 : at + 1)
        if (mask >> at & 1 && !--left)
            return at;
    return UINT32_MAX;
}

static u32 dot4(u32 a, u32 b, bool sa, bool sb)
{
    u32 sum = 0;
    for (int k = 0; k < 32; k += 8) {
        const u32 x = a >> k & 255, y = b >> k & 255;
        sum += (sa && x & 128 ? x - 256 : x) * (sb && y & 128 ? y - 256 : y);
    }
    return sum;
}

/* |a - b| of each byte, beside each other or added up. */
static u32 bytes_apart(u32 a, u32 b, bool add)
{
    u32 result = 0;
    for (int k = 0; k < 32; k += 8) {
        const u32 x = a >> k & 255, y = b >> k & 255, apart = x > y ? x - y : y - x;
        result += apart << (add ? 0 : k);
    }
    return result;
}

#define LANE(kind, names, operands, ...)     kind(WARP_LANE, __VA_ARGS__)
#define OF(D, A, B, C, names, operands, ...) WARP_LANES_OF(WARP_LANE, D, A, B, C, __VA_ARGS__)
#include "lab/ptx/lanes_integer.def"
#undef LANE
#undef OF

#define TEST(how, op, suffix, T, X, Y) WARP_TEST(how##_##suffix, T, (X)op(Y))
#define TESTS(suffix, T, X, Y)                                                                                         \
    WARP_ORDERS(TEST, suffix, T, X, Y)                                                                                 \
    TEST(ne, !=, suffix, T, X, Y)
TESTS(u32, u32, a[l], b[l])
TESTS(s32, s32, a[l], b[l])
TESTS(u64, u64, a[l], b[l])
TESTS(s64, s64, a[l], b[l])
TESTS(s16, u32, SH(a[l]), SH(b[l]))

#define ROW(how, op, type, operands, test)        {"setp." #how "." type, operands, test},
#define TEST_ROW(how, op, type, operands, suffix) ROW(how, op, type, operands, how##_##suffix)
#define TEST_ROWS(type, operands, suffix)                                                                              \
    WARP_ORDERS(TEST_ROW, type, operands, suffix)                                                                      \
    TEST_ROW(ne, !=, type, operands, suffix)
#define UNSIGNED_ROWS(type, operands, suffix)                                                                          \
    TEST_ROWS(type, operands, suffix)                                                                                  \
    ROW(lo, <, type, operands, lt_##suffix)                                                                            \
    ROW(ls, <=, type, operands, le_##suffix)                                                                           \
    ROW(hi, >, type, operands, gt_##suffix)                                                                            \
    ROW(hs, >=, type, operands, ge_##suffix)

#define LANE(kind, names, operands, ...)     {names, operands, WARP_LANE},
#define OF(D, A, B, C, names, operands, ...) {names, operands, WARP_LANE},
const warp_lane_row WARP_ROWS(integer)[] = {
#include "lab/ptx/lanes_integer.def"
    UNSIGNED_ROWS("u32", "pww", u32) UNSIGNED_ROWS("u64", "pdd", u64) UNSIGNED_ROWS("u16", "pww", u32)
        TEST_ROWS("b32", "pww", u32) TEST_ROWS("s32", "pww", s32) TEST_ROWS("b64", "pdd", u64)
            TEST_ROWS("s64", "pdd", s64) TEST_ROWS("b16", "pww", u32) TEST_ROWS("s16", "pww", s16){NULL, NULL, NULL},
};
