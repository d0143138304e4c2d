/* Conversions, which are PTX's (ptx/convert.c), and the functions of the special function unit, lane by lane: the
 * correctly rounded ones, as PTX's (ptx/lanes_float.c). */
#include <math.h>

#include "lab/ptx/execute.h"
#include "lab/ptx/half.h"
#include "lab/sass/run.h"

enum { RCP, RSQ, SQRT, EX2, LG2, SIN, COS, TANH, RCP64H, RSQ64H };

/* The unit takes subnormal numbers for zeros but in TANH and EX2, and gives none. */
static float mufu(uint32_t function, float x)
{
    const double turn = 6.283185307179586; /* sines take what was divided by it */
    const float flushed = warp_flushed(x), rest = flushed - rintf(flushed);
    switch (function) {
    case RCP:
        return warp_flushed(1.0f / flushed);
    case RSQ:
        return (float)(1.0 / sqrt((double)flushed));
    case SQRT:
        return sqrtf(flushed);
    case EX2:
        return warp_flushed(exp2f(x));
    case LG2:
        return log2f(flushed);
    case SIN:
        return rest == 0 ? copysignf(0, x) : (float)sin((double)rest * turn);
    case COS:
        return (float)cos((double)rest * turn);
    default:
        return tanhf(x);
    }
}

void sass_run_mufu(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const sass_op *op = inst->extra;
    uint32_t room[WARP_LANES], r[WARP_LANES] = {0};
    const uint32_t *a = sass_take(frame, op, 0, room);
    WARP_ACTIVE_LANES(lanes)
    if (op->mode >= RCP64H) { /* the high word of a double */
        const double x = warp_bits_double((uint64_t)a[l] << 32);
        const double y = 1.0 / (op->mode == RCP64H ? x : sqrt(x));
        const uint32_t high = (uint32_t)(warp_double_bits(y) >> 32);
        r[l] = y != y ? 0x7fffffff : high & 0x7ff00000 ? high : high & 0x80000000;
    } else
        r[l] = warp_float_bits(warp_one_nan(mufu(op->mode, warp_bits_float(a[l]))));
    sass_put(frame, op, r, lanes);
}

/* A NaN loses against a number; -0 is less than +0. */
void sass_run_minmax3(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const sass_op *op = inst->extra;
    uint32_t rooms[3][WARP_LANES], r[WARP_LANES] = {0};
    const uint32_t *from[3], least = sass_holds(frame, op, 0);
    for (int i = 0; i < 3; i++)
        from[i] = sass_take(frame, op, i, rooms[i]);
    WARP_ACTIVE_LANES(lanes)
    {
        float best = NAN;
        bool unordered = false;
        for (int i = 0; i < 3; i++) {
            const uint32_t bits = from[i][l];
            const float x = warp_bits_float(op->flush && !(bits & 0x7f800000) ? bits & 0x80000000 : bits);
            const bool less = x < best || (x == best && signbit(x) && !signbit(best));
            unordered = unordered || x != x;
            if (x == x && (best != best || less == (least >> l & 1)))
                best = x;
        }
        r[l] = best != best || (op->mode && unordered) ? 0x7fffffff : warp_float_bits(best);
    }
    sass_put(frame, op, r, lanes);
}

/* Whether a / b needs more care than a reciprocal and two corrections: numbers near the ends of the range. */
void sass_run_check_division(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    enum { NEAR_ZERO = 30, NEAR_END = 250, FAR = 120 };
    const sass_op *op = inst->extra;
    uint32_t a_room[WARP_LANES], b_room[WARP_LANES], slow = 0;
    const uint32_t *a = sass_take(frame, op, 0, a_room), *b = sass_take(frame, op, 1, b_room);
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        const int of_a = (int)(a[l] >> 23 & 255), of_b = (int)(b[l] >> 23 & 255);
        slow |= (uint32_t)(of_a < NEAR_ZERO || of_a > NEAR_END || of_b < 4 || of_b > NEAR_END || of_a - of_b > FAR ||
                           of_b - of_a > FAR)
                << l;
    }
    sass_put_pred(frame, op, 0, slow, lanes);
}

void sass_run_convert(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const sass_op *op = inst->extra;
    uint32_t room[WARP_LANES], r[WARP_LANES] = {0};
    uint64_t wide[WARP_LANES];
    if (ptx_size_of((ptx_type)inst->from_type) == 8)
        sass_take_long(frame, op, 0, wide);
    else {
        const uint32_t *from = sass_take(frame, op, 0, room);
        for (int l = 0; l < WARP_LANES; l++)
            wide[l] = from[l];
    }
    WARP_ACTIVE_LANES(sass_lanes(op, lanes))
    {
        wide[l] = ptx_converted(inst, wide[l]);
        r[l] = (uint32_t)wide[l];
    }
    if (ptx_size_of((ptx_type)inst->type) == 8)
        sass_put_long(frame, op, wide, lanes);
    else
        sass_put(frame, op, r, lanes);
}

void sass_run_pack_halves(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const sass_op *op = inst->extra;
    uint32_t a_room[WARP_LANES], b_room[WARP_LANES], r[WARP_LANES];
    const uint32_t *a = sass_take(frame, op, 0, a_room), *b = sass_take(frame, op, 1, b_room);
    for (int l = 0; l < WARP_LANES; l++) {
        const float x = warp_bits_float(a[l]), y = warp_bits_float(b[l]);
        const uint32_t high = op->submode ? warp_bf16_bits(x) : warp_half_bits((double)x);
        const uint32_t low = op->submode ? warp_bf16_bits(y) : warp_half_bits((double)y);
        r[l] = high << 16 | (low & 0xffff);
    }
    sass_put(frame, op, r, lanes);
}

void sass_run_convert_pair(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const sass_op *op = inst->extra;
    const bool two = inst->from_type == PTX_F32;
    uint32_t a_room[WARP_LANES], b_room[WARP_LANES], r[WARP_LANES];
    const uint32_t *a = sass_take(frame, op, 0, a_room), *b = two ? sass_take(frame, op, 1, b_room) : a;
    for (int l = 0; l < WARP_LANES; l++)
        r[l] = ptx_converted_pair(inst, two ? a[l] : a[l] >> 4 * ptx_size_of((ptx_type)inst->from_type), b[l]);
    sass_put(frame, op, r, lanes);
}

void sass_run_half_compare(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const sass_op *op = inst->extra;
    uint32_t a_room[WARP_LANES], b_room[WARP_LANES], r[WARP_LANES] = {0};
    const uint32_t *a = sass_take(frame, op, 0, a_room), *b = sass_take(frame, op, 1, b_room);
    const uint32_t with = sass_holds(frame, op, 0), set = !op->carry ? 0xffff : op->high ? 0x3f80 : 0x3c00;
    for (int half = 0; half < 2; half++) {
        uint32_t holds = 0;
        for (uint32_t l = 0; l < WARP_LANES; l++) {
            const uint32_t of_a = a[l] >> 16 * half & 0xffff, of_b = b[l] >> 16 * half & 0xffff;
            const float x = op->high ? warp_bf16_float(of_a) : warp_half_float(of_a);
            const float y = op->high ? warp_bf16_float(of_b) : warp_half_float(of_b);
            const int is = x < y ? SASS_LESS : x == y ? SASS_EQUAL : x > y ? SASS_GREATER : SASS_UNORDERED;
            holds |= (uint32_t)((op->mode & is) != 0) << l;
        }
        holds = sass_join(op->submode, holds, with);
        if (!op->wide)
            sass_put_pred(frame, op, half, holds, lanes);
        for (int l = 0; l < WARP_LANES; l++)
            r[l] |= holds >> l & 1 ? set << 16 * half : 0;
    }
    if (op->wide)
        sass_put(frame, op, r, lanes);
}
