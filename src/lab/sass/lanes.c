/* Integers over whole rows. This file is compiled once for each instruction set; the results are the same. */
#include "lab/sass/lanes.h"

#define TAKE(i, name)                                                                                                  \
    uint32_t name##_room[WARP_LANES];                                                                                  \
    const uint32_t *name = sass_take(frame, op, i, name##_room);

RUN(copy)
{
    const sass_op *op = inst->extra;
    (void)block;
    TAKE(0, a)
    sass_put(frame, op, a, lanes);
    if (op->wide)
        sass_put_row(frame, op->to + SASS_WORD_ROW, warp_words(frame, op->source[0] + SASS_WORD_ROW),
                     sass_lanes(op, lanes));
}

RUN(add3)
{
    BEGIN TAKE(0, a) TAKE(1, b) TAKE(2, c) WARP_EACH_LANE r[l] = a[l] + b[l] + c[l];
    sass_put(frame, op, r, lanes);
}

RUN(add3_carry)
{
    BEGIN TAKE(0, a) TAKE(1, b) TAKE(2, c) const uint32_t p = sass_holds(frame, op, 0), q = sass_holds(frame, op, 1);
    uint32_t one = 0, two = 0;
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        const uint32_t two_of = a[l] + b[l], three = two_of + c[l];
        r[l] = three + (p >> l & 1) + (q >> l & 1) + op->submode;
        const uint32_t carries = (uint32_t)(two_of < a[l]) + (uint32_t)(three < two_of) + (uint32_t)(r[l] < three);
        one |= (uint32_t)(carries >= 1) << l;
        two |= (uint32_t)(carries >= 2) << l;
    }
    sass_put(frame, op, r, lanes);
    sass_put_pred(frame, op, 0, one, lanes);
    sass_put_pred(frame, op, 1, two, lanes);
}

RUN(multiply)
{
    BEGIN TAKE(0, a) TAKE(1, b) TAKE(2, c) WARP_EACH_LANE r[l] = a[l] * b[l] + c[l];
    if (op->carry) {
        const uint32_t p = sass_holds(frame, op, 0);
        for (uint32_t l = 0; l < WARP_LANES; l++)
            r[l] += p >> l & 1;
    }
    sass_put(frame, op, r, lanes);
}

/* 64 bits of a product and a sum, with carries in and out. */
static inline void multiply_carry(warp_frame *frame, const sass_op *op, const uint32_t *a, const uint32_t *b,
                                  uint32_t r[WARP_LANES], uint32_t upper[WARP_LANES], uint32_t lanes)
{
    const uint32_t *low = warp_words(frame, op->source[2]), *high = warp_words(frame, op->source[2] + SASS_WORD_ROW);
    const uint32_t in = sass_holds(frame, op, 0);
    uint32_t out = 0;
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        const uint64_t product =
            op->is_signed ? (uint64_t)((int64_t)(int32_t)a[l] * (int32_t)b[l]) : (uint64_t)a[l] * b[l];
        const uint64_t given = low[l] | (uint64_t)high[l] << 32;
        const uint64_t sum = product + (op->change[2] ? 0 - given : given), whole = sum + (in >> l & 1);
        out |= (uint32_t)(sum < product || whole < sum) << l;
        r[l] = (uint32_t)whole;
        upper[l] = (uint32_t)(whole >> 32);
    }
    sass_put_pred(frame, op, 0, out, lanes);
}

RUN(multiply_wide)
{
    BEGIN
    TAKE(0, a)
    TAKE(1, b)
    const uint32_t *low = warp_words(frame, op->source[2]), *high = warp_words(frame, op->source[2] + SASS_WORD_ROW);
    uint32_t upper[WARP_LANES];
    if (op->carry || op->pred_to[0] != WARP_NO_ROW || op->change[2])
        multiply_carry(frame, op, a, b, r, upper, lanes);
    else if (op->is_signed)
        WARP_EACH_LANE
        {
            const uint64_t sum =
                (uint64_t)((int64_t)(int32_t)a[l] * (int32_t)b[l]) + (low[l] | (uint64_t)high[l] << 32);
            r[l] = (uint32_t)sum;
            upper[l] = (uint32_t)(sum >> 32);
        }
    else
        WARP_EACH_LANE
        {
            const uint64_t sum = (uint64_t)a[l] * b[l] + (low[l] | (uint64_t)high[l] << 32);
            r[l] = (uint32_t)sum;
            upper[l] = (uint32_t)(sum >> 32);
        }
    if (op->wide)
        sass_put_row(frame, op->to + SASS_WORD_ROW, upper, sass_lanes(op, lanes));
    sass_put(frame, op, op->high ? upper : r, lanes);
}

RUN(lea)
{
    BEGIN TAKE(0, a) TAKE(1, b) TAKE(2, c) const uint32_t in = sass_holds(frame, op, 0), by = op->lut;
    uint32_t out = 0;
    if (!op->high && op->pred_to[0] == WARP_NO_ROW && !op->submode) {
        WARP_EACH_LANE r[l] = (a[l] << by) + b[l];
        sass_put(frame, op, r, lanes);
        return;
    }
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        const uint64_t whole = op->is_signed ? (uint64_t)(int64_t)(int32_t)a[l] : a[l] | (uint64_t)c[l] << 32;
        const uint32_t shifted = op->high ? (uint32_t)(whole << by >> 32) : (uint32_t)(whole << by);
        const uint64_t part = op->mode ? ~shifted : shifted; /* with a one that submode adds, it is subtracted */
        const uint64_t sum = part + b[l] + (in >> l & 1) + op->submode;
        r[l] = (uint32_t)sum;
        out |= (uint32_t)(sum >> 32 & 1) << l;
    }
    sass_put(frame, op, r, lanes);
    sass_put_pred(frame, op, 0, out, lanes);
}

RUN(logic)
{
    BEGIN TAKE(0, a) TAKE(1, b) TAKE(2, c) uint32_t term[8], any = 0;
    for (uint32_t k = 0; k < 8; k++)
        term[k] = 0 - (op->lut >> k & UINT32_C(1));
    switch (op->lut) {
    case 0xc0:
        WARP_EACH_LANE r[l] = a[l] & b[l];
        break;
    case 0xfc:
        WARP_EACH_LANE r[l] = a[l] | b[l];
        break;
    case 0x3c:
        WARP_EACH_LANE r[l] = a[l] ^ b[l];
        break;
    default:
        WARP_EACH_LANE
        {
            const uint32_t x = a[l], y = b[l], z = c[l];
            const uint32_t without = (~y & ((~z & term[0]) | (z & term[1]))) | (y & ((~z & term[2]) | (z & term[3])));
            const uint32_t with = (~y & ((~z & term[4]) | (z & term[5]))) | (y & ((~z & term[6]) | (z & term[7])));
            r[l] = (~x & without) | (x & with);
        }
    }
    if (op->pred_to[0] != WARP_NO_ROW) {
        for (uint32_t l = 0; l < WARP_LANES; l++)
            any |= (uint32_t)(r[l] != 0) << l;
        sass_put_pred(frame, op, 0, sass_join(op->mode, any, sass_holds(frame, op, 0)), lanes);
    }
    sass_put(frame, op, r, lanes);
}

/* (c:a) is shifted. Without .W a shift is at most the width: by 64 of 64 bits leaves zeros or the sign. */
RUN(shift)
{
    BEGIN TAKE(0, a) TAKE(1, b) TAKE(2, c) const uint32_t most = op->wide ? 64 : 32, mask = most - 1;
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        const uint32_t by = op->wrap ? b[l] & mask : b[l] < most ? b[l] : most;
        const uint64_t both = a[l] | (uint64_t)c[l] << 32;
        if (!op->submode) {
            const uint64_t moved = by < 64 ? both << by : 0;
            r[l] = op->high ? (uint32_t)(moved >> 32) : (uint32_t)moved;
        } else if (op->high && !op->wide)
            r[l] = op->is_signed ? (uint32_t)((int32_t)c[l] >> (by < 31 ? by : 31)) : by < 32 ? c[l] >> by : 0;
        else {
            const uint64_t moved = op->is_signed ? (uint64_t)((int64_t)both >> (by < 63 ? by : 63))
                                   : by < 64     ? both >> by
                                                 : 0;
            r[l] = op->high ? (uint32_t)(moved >> 32) : (uint32_t)moved;
        }
    }
    sass_put(frame, op, r, lanes);
}

/* .EX: the high words of 64 bits, the comparison of whose low words is a predicate. */
RUN(compare)
{
    BEGIN TAKE(0, a) TAKE(1, b) const uint32_t flip = op->is_signed ? UINT32_C(1) << 31 : 0;
    uint32_t less = 0, equal = 0, holds = 0;
    (void)r;
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        less |= (uint32_t)((a[l] ^ flip) < (b[l] ^ flip)) << l;
        equal |= (uint32_t)(a[l] == b[l]) << l;
    }
    const uint32_t greater = ~(less | equal);
    holds |= op->mode & SASS_LESS ? less : 0;
    holds |= op->mode & SASS_GREATER ? greater : 0;
    if (op->carry)
        holds |= equal & sass_holds(frame, op, 1);
    else
        holds |= op->mode & SASS_EQUAL ? equal : 0;
    const uint32_t with = sass_holds(frame, op, 0);
    sass_put_pred(frame, op, 0, sass_join(op->submode, holds, with), lanes);
    sass_put_pred(frame, op, 1, sass_join(op->submode, ~holds, with), lanes);
}

RUN(select)
{
    BEGIN TAKE(0, a) TAKE(1, b) const uint32_t p = sass_holds(frame, op, 0);
    for (uint32_t l = 0; l < WARP_LANES; l++)
        r[l] = p >> l & 1 ? a[l] : b[l];
    sass_put(frame, op, r, lanes);
}

/* Each of 4 digits of the second source picks a byte of (c:a), or its sign. */
RUN(permute)
{
    BEGIN TAKE(0, a) TAKE(1, b) TAKE(2, c) for (uint32_t l = 0; l < WARP_LANES; l++)
    {
        const uint64_t both = a[l] | (uint64_t)c[l] << 32;
        uint32_t all = 0;
        for (uint32_t k = 0; k < 4; k++) {
            const uint32_t digit = b[l] >> (4 * k) & 15;
            uint32_t byte = (uint32_t)(both >> (8 * (digit & 7))) & 255;
            if (digit & 8)
                byte = byte & 128 ? 255 : 0;
            all |= byte << (8 * k);
        }
        r[l] = all;
    }
    sass_put(frame, op, r, lanes);
}

static inline uint32_t least_or_most(const sass_op *op, uint32_t a, uint32_t b, uint32_t least)
{
    const bool less = op->is_signed ? (int32_t)a < (int32_t)b : a < b;
    return less == (least != 0) ? a : b;
}

RUN(minmax)
{
    BEGIN TAKE(0, a) TAKE(1, b) const uint32_t p = sass_holds(frame, op, 0);
    for (uint32_t l = 0; l < WARP_LANES; l++)
        r[l] = least_or_most(op, a[l], b[l], p >> l & 1);
    sass_put(frame, op, r, lanes);
}

RUN(add_minmax)
{
    BEGIN TAKE(0, a) TAKE(1, b) TAKE(2, c) const uint32_t p = sass_holds(frame, op, 0);
    for (uint32_t l = 0; l < WARP_LANES; l++)
        r[l] = least_or_most(op, a[l] + b[l], c[l], p >> l & 1);
    sass_put(frame, op, r, lanes);
}

RUN(unary)
{
    BEGIN TAKE(0, a) for (uint32_t l = 0; l < WARP_LANES; l++)
    {
        const uint32_t v = op->is_signed && (int32_t)a[l] < 0 ? ~a[l] : a[l];
        switch (op->mode) {
        case SASS_POPC:
            r[l] = (uint32_t)__builtin_popcount(a[l]);
            break;
        case SASS_BREV:
            r[l] = warp_reversed(a[l]);
            break;
        case SASS_IABS:
            r[l] = (int32_t)a[l] < 0 ? 0 - a[l] : a[l];
            break;
        default:
            r[l] = !v ? UINT32_MAX : (uint32_t)__builtin_clz(v) ^ (op->mode == SASS_FLO ? 31 : 0);
        }
    }
    sass_put(frame, op, r, lanes);
}

extern warp_execute *const SASS_NAME(functions)[SASS_FUNCTIONS];
#define ENTRY(upper, lower) [SASS_##upper] = SASS_NAME(lower),
warp_execute *const SASS_NAME(functions)[SASS_FUNCTIONS] = {SASS_FUNCTION_LIST(ENTRY)};
