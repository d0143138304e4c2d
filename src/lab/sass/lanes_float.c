/* Floats, halves and doubles over whole rows. This file is compiled once for each instruction set; the results are the
 * same. */
#include <fenv.h>
#include <math.h>

#include "lab/ptx/half.h"
#include "lab/sass/lanes.h"

/* Registers as floats. */
typedef float __attribute__((may_alias)) real;

/* 32-bit floats of a source, subnormals flushed where the instruction says so. */
static inline const real *take_floats(const warp_frame *frame, const sass_op *op, int i, uint32_t room[WARP_LANES])
{
    const uint32_t *from = sass_take(frame, op, i, room);
    if (op->flush) {
        WARP_EACH_LANE room[l] = from[l] & 0x7f800000 ? from[l] : from[l] & 0x80000000;
        from = room;
    }
    return (const real *)(const void *)from;
}

/* Where results go: to their row at once where nothing changes them. */
static inline real *place_floats(const warp_frame *frame, const sass_op *op, uint32_t room[WARP_LANES], uint32_t lanes)
{
    const bool at_once = sass_lanes(op, lanes) == WARP_ALL && !op->saturate && !op->flush;
    return (real *)(void *)(at_once ? warp_words(frame, op->to) : room);
}

static inline void put_floats(warp_frame *frame, const sass_op *op, real *r, uint32_t lanes)
{
    uint32_t *bits = (uint32_t *)(void *)r;
    if (bits == warp_words(frame, op->to))
        return;
    if (op->saturate)
        for (int l = 0; l < WARP_LANES; l++)
            r[l] = r[l] > 0 ? r[l] < 1 ? r[l] : 1.0f : 0.0f; /* NaN is 0 */
    if (op->flush)
        WARP_EACH_LANE bits[l] = bits[l] & 0x7f800000 ? bits[l] : bits[l] & 0x80000000;
    sass_put(frame, op, bits, lanes);
}

/* Other roundings than to nearest: in the slow paths of divisions and roots. */
enum { NEAREST, DOWN, UP, TO_ZERO };
static const int directions[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};

/* A product by itself: with -0 added, one of zero would be -0 where sums are rounded down. */
static __attribute__((noinline)) float rounded(int how, bool is_product, float a, float b, float c)
{
    volatile float x = a, y = b, z = c, r;
    fesetround(directions[how]);
    r = is_product ? x * y : fmaf(x, y, z);
    fesetround(FE_TONEAREST);
    return r;
}

#define FLOATS(name, expression, is_product, x, y, z)                                                                  \
    RUN(name)                                                                                                          \
    {                                                                                                                  \
        const sass_op *op = inst->extra;                                                                               \
        uint32_t rooms[4][WARP_LANES];                                                                                 \
        const real *a = take_floats(frame, op, 0, rooms[0]), *b = take_floats(frame, op, 1, rooms[1]);                 \
        const real *c = take_floats(frame, op, 2, rooms[2]);                                                           \
        real *d = place_floats(frame, op, rooms[3], lanes);                                                            \
        (void)block, (void)c;                                                                                          \
        if (op->rounding == NEAREST)                                                                                   \
            WARP_EACH_LANE d[l] = warp_one_nan(expression);                                                            \
        else                                                                                                           \
            for (int l = 0; l < WARP_LANES; l++)                                                                       \
                d[l] = warp_one_nan(rounded(op->rounding, is_product, x, y, z));                                       \
        put_floats(frame, op, d, lanes);                                                                               \
    }
FLOATS(fadd, a[l] + b[l], false, a[l], 1.0f, b[l])
FLOATS(fmul, a[l] * b[l], true, a[l], b[l], 0)
FLOATS(ffma, fmaf(a[l], b[l], c[l]), false, a[l], b[l], c[l])

/* A NaN loses against a number; -0 is less than +0. */
static inline bool is_less(float a, float b)
{
    return a < b || (a == b && signbit(a) && !signbit(b));
}

RUN(fminmax)
{
    const sass_op *op = inst->extra;
    uint32_t rooms[3][WARP_LANES];
    const real *a = take_floats(frame, op, 0, rooms[0]), *b = take_floats(frame, op, 1, rooms[1]);
    real *d = place_floats(frame, op, rooms[2], lanes);
    const uint32_t p = sass_holds(frame, op, 0);
    (void)block;
    for (int l = 0; l < WARP_LANES; l++) {
        const bool first = is_less(a[l], b[l]) == (p >> l & 1);
        const bool nan = op->mode && (a[l] != a[l] || b[l] != b[l]); /* .NAN */
        d[l] = warp_one_nan(nan ? NAN : a[l] != a[l] ? b[l] : b[l] != b[l] ? a[l] : first ? a[l] : b[l]);
    }
    put_floats(frame, op, d, lanes);
}

/* FSET: all ones, or with .BF 1.0f, where a comparison holds. */
static inline void put_set(warp_frame *frame, const sass_op *op, uint32_t holds, uint32_t lanes)
{
    uint32_t r[WARP_LANES];
    for (int l = 0; l < WARP_LANES; l++)
        r[l] = !(holds >> l & 1) ? 0 : op->high ? 0x3f800000 : UINT32_MAX;
    sass_put(frame, op, r, lanes);
}

static inline void put_comparison(warp_frame *frame, const sass_op *op, uint32_t less, uint32_t equal, uint32_t greater,
                                  uint32_t lanes)
{
    const uint32_t with = sass_holds(frame, op, 0);
    uint32_t holds = 0;
    holds |= op->mode & SASS_LESS ? less : 0;
    holds |= op->mode & SASS_EQUAL ? equal : 0;
    holds |= op->mode & SASS_GREATER ? greater : 0;
    holds |= op->mode & SASS_UNORDERED ? ~(less | equal | greater) : 0;
    if (op->wide) {
        put_set(frame, op, sass_join(op->submode, holds, with), lanes);
        return;
    }
    sass_put_pred(frame, op, 0, sass_join(op->submode, holds, with), lanes);
    sass_put_pred(frame, op, 1, sass_join(op->submode, ~holds, with), lanes);
}

RUN(fcompare)
{
    const sass_op *op = inst->extra;
    uint32_t rooms[2][WARP_LANES], less = 0, equal = 0, greater = 0;
    const real *a = take_floats(frame, op, 0, rooms[0]), *b = take_floats(frame, op, 1, rooms[1]);
    (void)block;
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        less |= (uint32_t)(a[l] < b[l]) << l;
        equal |= (uint32_t)(a[l] == b[l]) << l;
        greater |= (uint32_t)(a[l] > b[l]) << l;
    }
    put_comparison(frame, op, less, equal, greater, lanes);
}

/* ------------------------------------------------------------------------------------------------ halves */

/* Two halves, or with submode 1 two of bfloat16; each result is rounded once. */
static inline uint32_t one_half(const sass_op *op, uint32_t a, uint32_t b, uint32_t c)
{
    if (op->mode == SASS_LEASTS) {
        const float x = op->submode ? warp_bf16_float(a) : warp_half_float(a);
        const float y = op->submode ? warp_bf16_float(b) : warp_half_float(b);
        if (x != x || y != y) /* .NAN */
            return op->wrap || (x != x && y != y) ? 0x7fff : x != x ? b : a;
        return is_less(x, y) == op->is_signed ? a : b;
    }
    if (op->submode) {
        const float x = warp_bf16_float(a), y = warp_bf16_float(b), z = warp_bf16_float(c);
        return warp_bf16_bits(op->mode == SASS_ADDS         ? x + y
                              : op->mode == SASS_MULTIPLIES ? x * y
                                                            : warp_bf16_fma(x, y, z));
    }
    const double u = (double)warp_half_float(a), v = (double)warp_half_float(b);
    return warp_half_bits(op->mode == SASS_ADDS         ? u + v
                          : op->mode == SASS_MULTIPLIES ? u * v
                                                        : fma(u, v, (double)warp_half_float(c)));
}

static inline uint32_t saturated_half(uint32_t bits)
{
    const float v = warp_half_float(bits);
    return v > 0 ? v < 1 ? bits : 0x3c00 : 0;
}

RUN(halves)
{
    BEGIN uint32_t a_room[WARP_LANES], b_room[WARP_LANES], c_room[WARP_LANES];
    const uint32_t *a = sass_take(frame, op, 0, a_room), *b = sass_take(frame, op, 1, b_room),
                   *c = sass_take(frame, op, 2, c_room);
    for (int l = 0; l < WARP_LANES; l++) {
        uint32_t low = one_half(op, a[l] & 0xffff, b[l] & 0xffff, c[l] & 0xffff);
        uint32_t high = one_half(op, a[l] >> 16, b[l] >> 16, c[l] >> 16);
        if (op->saturate) {
            low = saturated_half(low);
            high = saturated_half(high);
        }
        if (op->high) { /* .RELU; the NaN has no sign */
            low = low & 0x8000 ? 0 : low;
            high = high & 0x8000 ? 0 : high;
        }
        r[l] = (low & 0xffff) | high << 16;
    }
    sass_put(frame, op, r, lanes);
}

/* ------------------------------------------------------------------------------------------------ doubles */

static __attribute__((noinline)) double rounded_double(int how, bool is_product, double a, double b, double c)
{
    volatile double x = a, y = b, z = c, r;
    fesetround(directions[how]);
    r = is_product ? x * y : fma(x, y, z);
    fesetround(FE_TONEAREST);
    return r;
}

static inline void take_doubles(const warp_frame *frame, const sass_op *op, int i, double to[WARP_LANES])
{
    uint64_t bits[WARP_LANES];
    sass_take_long(frame, op, i, bits);
    memcpy(to, bits, sizeof bits);
}

/* The NaN of a result is that of the second, the third or the first source, as the register holds it. */
static __attribute__((noinline)) void settle_nans(const warp_frame *frame, const sass_op *op, double d[WARP_LANES])
{
    double a[WARP_LANES], b[WARP_LANES], c[WARP_LANES];
    sass_op plain = *op;
    memset(plain.change, 0, sizeof plain.change);
    take_doubles(frame, &plain, 0, a);
    take_doubles(frame, &plain, 1, b);
    take_doubles(frame, &plain, 2, c);
    for (int l = 0; l < WARP_LANES; l++)
        d[l] = warp_nan_of(d[l], b[l], op->mode == SASS_ADDS || op->mode == SASS_MULTIPLIES ? a[l] : c[l], a[l]);
}

RUN(doubles)
{
    const sass_op *op = inst->extra;
    double a[WARP_LANES], b[WARP_LANES], c[WARP_LANES], d[WARP_LANES];
    uint64_t bits[WARP_LANES];
    (void)block;
    take_doubles(frame, op, 0, a);
    take_doubles(frame, op, 1, b);
    take_doubles(frame, op, 2, c);
    if (op->rounding != NEAREST)
        for (int l = 0; l < WARP_LANES; l++)
            d[l] = op->mode == SASS_ADDS         ? rounded_double(op->rounding, false, a[l], 1.0, b[l])
                   : op->mode == SASS_MULTIPLIES ? rounded_double(op->rounding, true, a[l], b[l], 0)
                                                 : rounded_double(op->rounding, false, a[l], b[l], c[l]);
    else if (op->mode == SASS_ADDS)
        WARP_EACH_LANE d[l] = a[l] + b[l];
    else if (op->mode == SASS_MULTIPLIES)
        WARP_EACH_LANE d[l] = a[l] * b[l];
    else
        WARP_EACH_LANE d[l] = fma(a[l], b[l], c[l]);
    bool nan = false;
    for (int l = 0; l < WARP_LANES; l++)
        nan |= d[l] != d[l];
    if (nan)
        settle_nans(frame, op, d);
    memcpy(bits, d, sizeof bits);
    sass_put_long(frame, op, bits, lanes);
}

/* DSETP.MAX, .MIN: whether the first is the result, and whether both are NaN; -0 is less than +0. */
static inline void choose_double(warp_frame *frame, const sass_op *op, const double *a, const double *b, uint32_t lanes)
{
    uint32_t first = 0, both = 0;
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        const double x = op->lut == SASS_MAX ? b[l] : a[l], y = op->lut == SASS_MAX ? a[l] : b[l];
        const bool less = x < y || (x == y && signbit(x) && !signbit(y));
        first |= (uint32_t)(a[l] == a[l] && (b[l] != b[l] || less)) << l;
        both |= (uint32_t)(a[l] != a[l] && b[l] != b[l]) << l;
    }
    sass_put_pred(frame, op, 0, first, lanes);
    sass_put_pred(frame, op, 1, both, lanes);
}

RUN(dcompare)
{
    const sass_op *op = inst->extra;
    double a[WARP_LANES], b[WARP_LANES];
    uint32_t less = 0, equal = 0, greater = 0;
    (void)block;
    take_doubles(frame, op, 0, a);
    take_doubles(frame, op, 1, b);
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        less |= (uint32_t)(a[l] < b[l]) << l;
        equal |= (uint32_t)(a[l] == b[l]) << l;
        greater |= (uint32_t)(a[l] > b[l]) << l;
    }
    if (op->lut) {
        choose_double(frame, op, a, b, lanes);
        return;
    }
    put_comparison(frame, op, less, equal, greater, lanes);
}
