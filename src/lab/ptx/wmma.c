/* wmma of bytes (16 x 16 x 16, 32-bit sums) and of tf32 (16 x 16 x 8, sums of floats). The PTX ISA leaves open where
 * the elements of factors lie: here a factor is 16 lines (rows of a, columns of b), and lane n holds half a line, the
 * line n / 2. Sums lie and move as those of matrix.c. */
#include <string.h>

#include "lab/ptx/matrix.h"

enum { MOST_REGISTERS = 4, SIGNED_A = 1, SIGNED_B = 2 /* mode of a product */ };

/* ------------------------------------------------------------------------------------------------ decoding */

static warp_execute run_factor, run_product, run_tf32;

bool ptx_is_other_wmma(const ptx_statement *s)
{
    return ptx_has(s, "m16n16k8") || ptx_has(s, "u8") || ptx_has(s, "s8") || ptx_has(s, "s32");
}

static bool decode_product(ptx_parser *parser, const ptx_statement *s, warp_inst *inst, bool bytes)
{
    const int first = s->word_count - 4, registers = bytes ? 2 : 4; /* types of d, a, b, c */
    if (s->operand_count != 4 || first < 4 || strcmp(s->words[first], bytes ? "s32" : "f32") != 0)
        return false;
    for (int i = 1; i < 3; i++) {
        const bool is_signed = !strcmp(s->words[first + i], "s8");
        if (!is_signed && strcmp(s->words[first + i], bytes ? "u8" : "tf32") != 0)
            return false;
        if (is_signed)
            inst->mode = (uint8_t)(inst->mode | (i == 1 ? SIGNED_A : SIGNED_B));
    }
    inst->dests = (uint8_t)ptx_rows(parser, s->operands[0], 'w', inst->d, 8);
    const int a = ptx_rows(parser, s->operands[1], 'w', inst->s, 8);
    const int b = ptx_rows(parser, s->operands[2], 'w', inst->s + 8, 8);
    const int c = ptx_rows(parser, s->operands[3], 'w', inst->s + 16, 8);
    inst->sources = 24;
    inst->execute = run_product;
    return inst->dests == 8 && a == registers && b == registers && c == 8;
}

bool ptx_decode_other_wmma(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    const bool bytes = ptx_has(s, "m16n16k16"), sum = ptx_has(s, "c"), store = ptx_has(s, "store");
    if (!ptx_only(parser, s,
                  "load store mma a b c d sync aligned row col m16n16k16 m16n16k8 shared shared::cta global tf32") ||
        (!bytes && !ptx_has(s, "m16n16k8")))
        return false;
    inst->space = (uint8_t)ptx_matrix_space(s);
    inst->type = bytes ? PTX_U8 : PTX_F32;
    if (ptx_has(s, "mma"))
        return decode_product(parser, s, inst, bytes);
    if (s->operand_count != 3)
        return false;
    inst->columns = ptx_has(s, "col");
    inst->vec = 1;
    inst->s[1] = ptx_row(parser, s->operands[2], 'w');
    inst->sources = 2;
    if (sum || store) { /* words, be they integers or floats */
        inst->type = PTX_F32;
        inst->width = inst->columns ? 4 : 8;
        inst->mode = PTX_LOAD_SUM;
        inst->execute = store ? ptx_run_matrix_store : ptx_run_matrix_load;
        if (store) {
            inst->kind = WARP_STORES;
            inst->sources = (uint8_t)(2 + ptx_rows(parser, s->operands[1], 'w', inst->s + 2, 8));
        } else
            inst->dests = (uint8_t)ptx_rows(parser, s->operands[0], 'w', inst->d, 8);
        ptx_matrix_address(parser, s->operands[store ? 0 : 1], inst);
        return store ? inst->sources == 10 : inst->dests == 8;
    }
    inst->columns = inst->columns == ptx_has(s, "a"); /* lines of this factor are across those of memory */
    inst->dests = (uint8_t)ptx_rows(parser, s->operands[0], 'w', inst->d, 8);
    inst->width = bytes ? 8 : 16;
    inst->execute = run_factor;
    ptx_matrix_address(parser, s->operands[1], inst);
    if (bytes)
        parser->code->granule = 1 < parser->code->granule ? 1 : parser->code->granule;
    return inst->dests == (bytes ? 2 : 4);
}

bool ptx_decode_tf32(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    if (!ptx_only(parser, s, "rna tf32") || s->operand_count != 2)
        return false;
    inst->d[0] = ptx_row(parser, s->operands[0], 'w');
    inst->s[0] = ptx_row(parser, s->operands[1], 'w');
    inst->dests = inst->sources = 1;
    inst->execute = run_tf32;
    return true;
}

/* ------------------------------------------------------------------------------------------------ executing */

/* To the nearest of 10 bits after the point, ties away from zero. */
static void run_tf32(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    uint32_t result[WARP_LANES];
    const uint32_t *from = warp_words(frame, inst->s[0]);
    for (int l = 0; l < WARP_LANES; l++) {
        const bool finite = (from[l] & UINT32_C(0x7f800000)) != UINT32_C(0x7f800000);
        result[l] = (from[l] + (finite ? UINT32_C(0x1000) : 0)) & UINT32_C(0xffffe000);
    }
    ptx_blend(frame, inst->d[0], 'w', result, lanes);
}

/* Elements of half a line, and bytes of one. */
static uint32_t half_line(const warp_inst *inst)
{
    return inst->type == PTX_F32 ? 4 : 8;
}
static uint32_t element_bytes(const warp_inst *inst)
{
    return inst->type == PTX_F32 ? 4 : 1;
}

/* Lines lie one after another where a is in rows and b in columns: then a lane's half is one access. */
static void run_factor(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const uint32_t lane = (uint32_t)__builtin_ctz(lanes), stride = warp_words(frame, inst->s[1])[lane];
    const uint32_t count = half_line(inst), bytes = element_bytes(inst);
    const uint32_t at_once = inst->columns ? 1 : count; /* columns: lines are across */
    unsigned char parts[WARP_LANES][MOST_REGISTERS * 4] = {{0}};
    warp_space space;
    const uint64_t base = ptx_matrix_base(frame, inst, lane, &space);
    for (uint32_t k = 0; k < count; k += at_once) {
        uint64_t address[WARP_LANES];
        unsigned char *at[WARP_LANES];
        for (uint32_t l = 0; l < WARP_LANES; l++) {
            const uint64_t line = l / 2, place = l % 2 * count + k;
            address[l] = base + (inst->columns ? place * stride + line : line * stride + place) * bytes;
        }
        ptx_touch_matrix(block, frame, inst, WARP_ALL, space, address, at_once * bytes, false, at);
        for (uint32_t l = 0; l < WARP_LANES; l++)
            if (at[l])
                memcpy(parts[l] + k * bytes, at[l], (size_t)at_once * bytes);
    }
    ptx_count_matrix_once(block, inst, space, count / at_once);
    for (uint32_t l = 0; l < WARP_LANES; l++)
        for (uint32_t r = 0; r < inst->dests; r++)
            memcpy(&warp_words(frame, inst->d[r])[l], parts[l] + 4 * r, 4);
}

/* Element `k` of line `line` of a factor whose registers begin at `rows`. */
static uint32_t element(const warp_frame *frame, const warp_inst *inst, const uint32_t *rows, uint32_t line, uint32_t k)
{
    const uint32_t count = half_line(inst), lane = line * 2 + k / count, i = k % count;
    if (inst->type == PTX_F32)
        return warp_words(frame, rows[i])[lane];
    return warp_words(frame, rows[i / 4])[lane] >> (8 * (i % 4)) & 0xff;
}

static int32_t signed_byte(uint32_t byte, bool is_signed)
{
    return is_signed ? (int8_t)byte : (int32_t)byte;
}

/* Tensor cores take the upper 19 bits of a float as tf32. */
static float tf32(uint32_t bits)
{
    float value;
    bits &= UINT32_C(0xffffe000);
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void run_product(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const uint32_t depth = 2 * half_line(inst);
    uint32_t result[8][WARP_LANES];
    for (uint32_t l = 0; l < WARP_LANES; l++)
        for (uint32_t k = 0; k < 8; k++) {
            uint32_t row, column, bits = warp_words(frame, inst->s[16 + k])[l];
            ptx_sum_place(l, k, &row, &column);
            float sum;
            memcpy(&sum, &bits, sizeof sum);
            for (uint32_t i = 0; i < depth; i++) {
                const uint32_t a = element(frame, inst, inst->s, row, i),
                               b = element(frame, inst, inst->s + 8, column, i);
                if (inst->type == PTX_F32)
                    sum += tf32(a) * tf32(b);
                else
                    bits += (uint32_t)(signed_byte(a, inst->mode & SIGNED_A) * signed_byte(b, inst->mode & SIGNED_B));
            }
            if (inst->type == PTX_F32)
                memcpy(&bits, &sum, sizeof bits);
            result[k][l] = bits;
        }
    for (uint32_t k = 0; k < inst->dests; k++)
        ptx_blend(frame, inst->d[k], 'w', result[k], lanes);
}
