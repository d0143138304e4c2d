/* Shared by the functions that execute SASS: sources with their changes, results for the lanes that take part. */
#pragma once

#include <string.h>

#include "lab/sass/sass.h"

/* Source `i`: its row, or the changed copy of it in `room`. */
static inline const uint32_t *sass_take(const warp_frame *frame, const sass_op *op, int i, uint32_t room[WARP_LANES])
{
    const uint32_t *row = warp_words(frame, op->source[i]);
    const uint32_t change = op->change[i], shift = op->shift[i];
    if (!change && shift == SASS_WHOLE)
        return row;
    if (shift == SASS_WHOLE)
        memcpy(room, row, sizeof(uint32_t) * WARP_LANES);
    else {
        const uint32_t by = shift == SASS_LOW    ? 0
                            : shift == SASS_HIGH ? 16
                                                 : shift,
                       mask = shift >= SASS_LOW ? 0xffff : 0xff;
        WARP_EACH_LANE room[l] = row[l] >> by & mask;
    }
    if (change & SASS_ABS)
        WARP_EACH_LANE room[l] = (int32_t)room[l] < 0 ? 0 - room[l] : room[l];
    if (change & SASS_ABS_FLOAT)
        WARP_EACH_LANE room[l] &= 0x7fffffff;
    if (change & SASS_NEGATE)
        WARP_EACH_LANE room[l] = 0 - room[l];
    if (change & SASS_NEGATE_FLOAT)
        WARP_EACH_LANE room[l] ^= 0x80000000;
    if (change & SASS_INVERT)
        WARP_EACH_LANE room[l] = ~room[l];
    if (change & SASS_LOW_HALF)
        WARP_EACH_LANE room[l] = (room[l] & 0xffff) | room[l] << 16;
    if (change & SASS_HIGH_HALF)
        WARP_EACH_LANE room[l] = (room[l] & 0xffff0000) | room[l] >> 16;
    if (change & SASS_ABS_HALVES)
        WARP_EACH_LANE room[l] &= 0x7fff7fff;
    if (change & SASS_NEGATE_HALVES)
        WARP_EACH_LANE room[l] ^= 0x80008000;
    return room;
}

/* 64 bits of a pair of rows; changes of a double are changes of its high word. */
static inline void sass_take_long(const warp_frame *frame, const sass_op *op, int i, uint64_t to[WARP_LANES])
{
    uint32_t room[WARP_LANES];
    const uint32_t *low = warp_words(frame, op->source[i]), *high = warp_words(frame, op->source[i] + SASS_WORD_ROW);
    if (op->change[i]) {
        memcpy(room, high, sizeof room);
        if (op->change[i] & SASS_ABS_FLOAT)
            WARP_EACH_LANE room[l] &= 0x7fffffff;
        if (op->change[i] & SASS_NEGATE_FLOAT)
            WARP_EACH_LANE room[l] ^= 0x80000000;
        high = room;
    }
    for (int l = 0; l < WARP_LANES; l++)
        to[l] = low[l] | (uint64_t)high[l] << 32;
}

static inline uint32_t sass_holds(const warp_frame *frame, const sass_op *op, int i)
{
    const uint32_t p = warp_pred(frame, op->pred[i]);
    return op->pred_not[i] ? ~p : p;
}

/* Writes a row for the lanes that take part. */
static inline void sass_put_row(warp_frame *frame, uint32_t row, const uint32_t *result, uint32_t lanes)
{
    uint32_t *to = warp_words(frame, row);
    if (lanes == WARP_ALL)
        memcpy(to, result, sizeof(uint32_t) * WARP_LANES);
    else
        for (int l = 0; l < WARP_LANES; l++)
            to[l] = lanes >> l & 1 ? result[l] : to[l];
}

static inline uint32_t sass_lanes(const sass_op *op, uint32_t lanes)
{
    return op->uniform ? WARP_ALL : lanes;
}

static inline void sass_put(warp_frame *frame, const sass_op *op, const uint32_t *result, uint32_t lanes)
{
    sass_put_row(frame, op->to, result, sass_lanes(op, lanes));
}

static inline void sass_put_long(warp_frame *frame, const sass_op *op, const uint64_t *result, uint32_t lanes)
{
    uint32_t low[WARP_LANES], high[WARP_LANES];
    for (int l = 0; l < WARP_LANES; l++) {
        low[l] = (uint32_t)result[l];
        high[l] = (uint32_t)(result[l] >> 32);
    }
    sass_put_row(frame, op->to, low, sass_lanes(op, lanes));
    sass_put_row(frame, op->to + SASS_WORD_ROW, high, sass_lanes(op, lanes));
}

static inline void sass_put_pred(warp_frame *frame, const sass_op *op, int i, uint32_t holds, uint32_t lanes)
{
    if (op->pred_to[i] == WARP_NO_ROW)
        return;
    uint32_t *to = warp_words(frame, op->pred_to[i]);
    lanes = sass_lanes(op, lanes);
    *to = (*to & ~lanes) | (holds & lanes);
}

/* A comparison and a predicate that it is joined with. */
static inline uint32_t sass_join(uint32_t how, uint32_t holds, uint32_t with)
{
    return how == SASS_AND ? holds & with : how == SASS_OR ? holds | with : holds ^ with;
}
