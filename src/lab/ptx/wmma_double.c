/* wmma of doubles, 8 x 8 x 4, as the PTX ISA lays mma.m8n8k4 of them out: lane 4g + t holds of a row g, column t, of b
 * row t, column g, and of sums row g, columns 2t and 2t + 1. Products are fused into the sum in the order of columns.
 */
#include <math.h>
#include <string.h>

#include "lab/ptx/half.h"
#include "lab/ptx/matrix.h"

enum { DEPTH = 4, BYTES = 8 };
enum { FACTOR_A, FACTOR_B, SUMS };

static warp_execute run_load, run_store, run_product;

bool ptx_is_double_wmma(const ptx_statement *s)
{
    return ptx_has(s, "m8n8k4") && ptx_has(s, "f64");
}

bool ptx_decode_double_wmma(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    const bool load = ptx_has(s, "load"), store = ptx_has(s, "store");
    if (!ptx_only(parser, s, "load store mma a b c d sync aligned row col m8n8k4 f64 rn shared shared::cta global"))
        return false;
    inst->type = PTX_F64;
    if (ptx_has(s, "mma") || !strcmp(s->words[0], "mma")) {
        inst->dests = (uint8_t)ptx_rows(parser, s->operands[0], 'd', inst->d, 2);
        inst->sources = 4;
        inst->execute = run_product;
        return s->operand_count == 4 && inst->dests == 2 && ptx_rows(parser, s->operands[1], 'd', inst->s, 1) == 1 &&
               ptx_rows(parser, s->operands[2], 'd', inst->s + 1, 1) == 1 &&
               ptx_rows(parser, s->operands[3], 'd', inst->s + 2, 2) == 2;
    }
    if (s->operand_count != 3 || load == store)
        return false;
    inst->space = (uint8_t)ptx_matrix_space(s);
    inst->columns = ptx_has(s, "col");
    inst->mode = store || ptx_has(s, "c") ? SUMS : ptx_has(s, "a") ? FACTOR_A : FACTOR_B;
    inst->width = inst->mode == SUMS && !inst->columns ? 2 * BYTES : BYTES;
    inst->vec = 1;
    inst->s[1] = ptx_row(parser, s->operands[2], 'w');
    const int count = ptx_rows(parser, s->operands[store], 'd', store ? inst->s + 2 : inst->d, 2);
    inst->dests = (uint8_t)(load ? count : 0);
    inst->sources = (uint8_t)(store ? 2 + count : 2);
    inst->kind = store ? WARP_STORES : WARP_LOADS;
    inst->execute = store ? run_store : run_load;
    ptx_matrix_address(parser, s->operands[load], inst);
    return count == (inst->mode == SUMS ? 2 : 1);
}

static void place(uint32_t lane, uint32_t kind, uint32_t k, uint32_t *row, uint32_t *column)
{
    const uint32_t g = lane / 4, t = lane % 4;
    *row = kind == FACTOR_B ? t : g;
    *column = kind == FACTOR_A ? t : kind == FACTOR_B ? g : 2 * t + k;
}

/* Moves the values of each lane, one access of `width` bytes after the other. */
static void move(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes, const uint32_t *rows,
                 bool write)
{
    const uint32_t lane = (uint32_t)__builtin_ctz(lanes), stride = warp_words(frame, inst->s[1])[lane];
    const uint32_t values = inst->mode == SUMS ? 2 : 1, at_once = inst->width / BYTES;
    warp_space space;
    const uint64_t base = ptx_matrix_base(frame, inst, lane, &space);
    for (uint32_t k = 0; k < values; k += at_once) {
        uint64_t address[WARP_LANES];
        unsigned char *at[WARP_LANES];
        for (uint32_t l = 0; l < WARP_LANES; l++) {
            uint32_t row, column;
            place(l, inst->mode, k, &row, &column);
            address[l] =
                base + (inst->columns ? (uint64_t)column * stride + row : (uint64_t)row * stride + column) * BYTES;
        }
        ptx_touch_matrix(block, frame, inst, WARP_ALL, space, address, inst->width, write, at);
        for (uint32_t l = 0; l < WARP_LANES; l++)
            for (uint32_t i = 0; at[l] && i < at_once; i++) {
                uint64_t *value = &warp_longs(frame, rows[k + i])[l];
                if (write)
                    memcpy(at[l] + (size_t)i * BYTES, value, BYTES);
                else
                    memcpy(value, at[l] + (size_t)i * BYTES, BYTES);
            }
    }
    ptx_count_matrix_once(block, inst, space, values / at_once);
}

static void run_load(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    move(block, frame, inst, lanes, inst->d, false);
}

static void run_store(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    move(block, frame, inst, lanes, inst->s + 2, true);
}

void ptx_double_product(const double a[WARP_LANES], const double b[WARP_LANES], double sums[2][WARP_LANES])
{
    for (uint32_t l = 0; l < WARP_LANES; l++)
        for (uint32_t k = 0; k < 2; k++) {
            uint32_t row, column;
            place(l, SUMS, k, &row, &column);
            for (uint32_t i = 0; i < DEPTH; i++) {
                const double x = a[row * 4 + i], y = b[column * 4 + i];
                sums[k][l] = warp_nan_of(fma(x, y, sums[k][l]), y, sums[k][l], x);
            }
        }
}

static void run_product(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    double a[WARP_LANES], b[WARP_LANES], sums[2][WARP_LANES];
    memcpy(a, warp_longs(frame, inst->s[0]), sizeof a);
    memcpy(b, warp_longs(frame, inst->s[1]), sizeof b);
    for (int k = 0; k < 2; k++)
        memcpy(sums[k], warp_longs(frame, inst->s[2 + k]), sizeof sums[k]);
    ptx_double_product(a, b, sums);
    for (int k = 0; k < 2; k++)
        ptx_blend(frame, inst->d[k], 'd', sums[k], lanes);
}
