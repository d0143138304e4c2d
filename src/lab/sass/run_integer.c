/* Least and most of several integers, of 32 or twice 16 bits; products of bytes on tensor cores. */
#include <string.h>

#include "lab/ptx/execute.h"
#include "lab/sass/run.h"

/* A sum of 64 bits of three; what is not given is zero. */
void sass_run_add_long(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const sass_op *op = inst->extra;
    uint64_t sum[WARP_LANES] = {0};
    for (int i = 0; i < 3; i++) {
        const uint32_t *low = warp_words(frame, op->source[i]);
        const uint32_t *high = warp_words(frame, op->source[i] + SASS_WORD_ROW);
        for (int l = 0; l < WARP_LANES; l++) {
            const uint64_t value = low[l] | (uint64_t)high[l] << 32;
            sum[l] += op->change[i] ? 0 - value : value;
        }
    }
    sass_put_long(frame, op, sum, lanes);
}

static int32_t better(int32_t a, int32_t b, bool least)
{
    return (a < b) == least ? a : b;
}

/* A word, or one of its halves, as a number that compares as it is. */
static int32_t part_of(uint32_t word, const sass_op *op, uint32_t shift)
{
    if (!op->wide)
        return op->is_signed ? (int32_t)word : (int32_t)(word ^ UINT32_C(1) << 31);
    const uint32_t half = word >> shift & 0xffff;
    return op->is_signed ? (int16_t)half : (int32_t)half;
}

void sass_run_minmax(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const sass_op *op = inst->extra;
    uint32_t rooms[3][WARP_LANES], sum[WARP_LANES], r[WARP_LANES] = {0};
    const uint32_t *from[3] = {NULL};
    const uint32_t least = sass_holds(frame, op, 0);
    for (int i = 0; i < op->mode; i++)
        from[i] = sass_take(frame, op, i, rooms[i]);
    const int first = op->carry ? 1 : 0; /* the sum of the first two takes their place */
    for (int l = 0; op->carry && l < WARP_LANES; l++) {
        const uint32_t x = from[0][l], y = from[1][l], high = (x & 0xffff0000) + (y & 0xffff0000);
        sum[l] = op->wide ? high | ((x + y) & 0xffff) : x + y;
    }
    if (op->carry)
        from[1] = sum;
    for (uint32_t shift = 0; shift < (op->wide ? 32u : 16u); shift += 16)
        for (int l = 0; l < WARP_LANES; l++) {
            int32_t best = part_of(from[first][l], op, shift);
            for (int i = first + 1; i < op->mode; i++)
                best = better(best, part_of(from[i][l], op, shift), least >> l & 1);
            best = op->saturate && best < 0 ? 0 : best;
            if (op->wide)
                r[l] |= ((uint32_t)best & 0xffff) << shift;
            else
                r[l] = op->is_signed ? (uint32_t)best : (uint32_t)best ^ UINT32_C(1) << 31;
        }
    sass_put(frame, op, r, lanes);
}

void sass_run_double_product(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const sass_op *op = inst->extra;
    double values[2][WARP_LANES], sums[2][WARP_LANES];
    uint64_t bits[WARP_LANES];
    for (uint32_t i = 0; i < 4; i++) { /* a, b and both sums, of two rows each (RZ has four) */
        const uint32_t low = op->source[i < 2 ? i : 2] + (i == 3 ? 2U : 0U) * SASS_WORD_ROW;
        for (int l = 0; l < WARP_LANES; l++)
            bits[l] = warp_words(frame, low)[l] | (uint64_t)warp_words(frame, low + SASS_WORD_ROW)[l] << 32;
        memcpy(i < 2 ? values[i] : sums[i - 2], bits, sizeof bits);
    }
    ptx_double_product(values[0], values[1], sums);
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t halves[2][WARP_LANES];
        memcpy(bits, sums[k], sizeof bits);
        for (int l = 0; l < WARP_LANES; l++) {
            halves[0][l] = (uint32_t)bits[l];
            halves[1][l] = (uint32_t)(bits[l] >> 32);
        }
        for (uint32_t h = 0; h < 2; h++)
            sass_put_row(frame, op->to + (2 * k + h) * SASS_WORD_ROW, halves[h], lanes);
    }
}
