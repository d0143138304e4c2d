/* Matrices that a warp holds together: ldmatrix, stmatrix, and wmma of 16 x 16 x 16 of halves and bfloat16 with 32-bit
 * and 16-bit sums. Fragments of ldmatrix and of wmma's sums lie as the PTX ISA says; wmma leaves those of its factors
 * open: here lane n holds half a line, the line n / 2. */
#include <string.h>

#include "lab/ptx/half.h"
#include "lab/ptx/matrix.h"

enum { SIDE = 16, HALF_BYTES = 2, LINE_BYTES = 16 };
enum { LOAD_FACTOR, LOAD_SUM };

warp_space ptx_matrix_space(const ptx_statement *s)
{
    return ptx_has(s, "shared") || ptx_has(s, "shared::cta") ? WARP_SHARED
           : ptx_has(s, "global")                            ? WARP_GLOBAL
                                                             : WARP_GENERIC;
}

void ptx_matrix_address(ptx_parser *parser, ptx_text operand, warp_inst *inst)
{
    ptx_text base = {operand.at + 1, operand.size > 1 ? operand.size - 2 : 0};
    for (size_t i = 1; i < base.size; i++)
        if (base.at[i] == '+')
            base.size = i;
    inst->address_wide = ptx_class(parser, base) == 'd';
    ptx_address(parser, operand, inst, 0, &inst->offset);
}

bool ptx_decode_wmma(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    const bool load = ptx_has(s, "load"), store = ptx_has(s, "store"), multiply = ptx_has(s, "mma");
    if (ptx_is_double_wmma(s))
        return ptx_decode_double_wmma(parser, s, inst);
    if (ptx_is_other_wmma(s))
        return ptx_decode_other_wmma(parser, s, inst);
    if (!ptx_only(parser, s, "load store mma a b c d sync aligned row col m16n16k16 shared shared::cta global") ||
        !ptx_has(s, "m16n16k16"))
        return false;
    inst->space = (uint8_t)ptx_matrix_space(s);
    inst->type = (uint8_t)ptx_type_of(s->words[s->word_count - 1]);
    inst->columns = ptx_has(s, "col");
    if (load) {
        const bool sum = ptx_has(s, "c");
        if (s->operand_count != 3 ||
            !(inst->type == PTX_F16 || (sum && inst->type == PTX_F32) || (!sum && inst->type == PTX_BF16)))
            return false;
        inst->mode = sum ? LOAD_SUM : LOAD_FACTOR;
        inst->dests = (uint8_t)ptx_rows(parser, s->operands[0], 'w', inst->d, 8);
        ptx_matrix_address(parser, s->operands[1], inst);
        inst->s[1] = ptx_row(parser, s->operands[2], 'w');
        inst->sources = 2;
        inst->execute = ptx_run_matrix_load;
        inst->width = sum ? (uint8_t)(ptx_size_of((ptx_type)inst->type) * (inst->columns ? 1 : 2)) : LINE_BYTES;
        inst->vec = 1;
        return true;
    }
    if (store) {
        if (s->operand_count != 3 || (inst->type != PTX_F16 && inst->type != PTX_F32))
            return false;
        ptx_matrix_address(parser, s->operands[0], inst);
        inst->s[1] = ptx_row(parser, s->operands[2], 'w');
        inst->sources = (uint8_t)(2 + ptx_rows(parser, s->operands[1], 'w', inst->s + 2, 8));
        inst->execute = ptx_run_matrix_store;
        inst->kind = WARP_STORES;
        inst->width = (uint8_t)(ptx_size_of((ptx_type)inst->type) * (inst->columns ? 1 : 2));
        inst->vec = 1;
        return true;
    }
    int types[4] = {0}, count = 0; /* D, (A, B,) C */
    for (int i = 1; i < s->word_count; i++)
        if (ptx_type_of(s->words[i]) != PTX_NONE && count < 4)
            types[count++] = (int)ptx_type_of(s->words[i]);
    const bool bf16 = count == 4 && types[1] == PTX_BF16;
    if (!multiply || s->operand_count != 4 || (count != 2 && !bf16))
        return false;
    inst->type = (uint8_t)types[0];
    inst->from_type = (uint8_t)types[count - 1];
    inst->mode = bf16;
    inst->dests = (uint8_t)ptx_rows(parser, s->operands[0], 'w', inst->d, 8);
    ptx_rows(parser, s->operands[1], 'w', inst->s, 8);
    ptx_rows(parser, s->operands[2], 'w', inst->s + 8, 8);
    ptx_rows(parser, s->operands[3], 'w', inst->s + 16, 8);
    inst->sources = 24;
    /* rows or columns, which the loads have told apart, are the same here: a fragment is a matrix */
    inst->execute = ptx_run_matrix_multiply;
    return true;
}

/* stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [to], {a, b, c, d}: its registers are kept as destinations */
bool ptx_decode_stmatrix(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    if (s->operand_count != 2 || !ptx_only(parser, s, "sync aligned m8n8 x1 x2 x4 trans shared shared::cta") ||
        strcmp(s->words[s->word_count - 1], "b16") != 0)
        return false;
    inst->space = WARP_SHARED;
    inst->columns = ptx_has(s, "trans");
    inst->dests = (uint8_t)ptx_rows(parser, s->operands[1], 'w', inst->d, 4);
    for (uint32_t i = 0; i < inst->dests; i++)
        if (inst->d[i] == WARP_NO_ROW)
            return false;
    ptx_matrix_address(parser, s->operands[0], inst);
    inst->sources = 1;
    inst->width = LINE_BYTES;
    inst->vec = 1;
    inst->kind = WARP_STORES;
    inst->execute = ptx_run_stmatrix;
    parser->code->granule = 2 < parser->code->granule ? 2 : parser->code->granule;
    return inst->dests == (ptx_has(s, "x4") ? 4 : ptx_has(s, "x2") ? 2 : 1);
}

bool ptx_decode_ldmatrix(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    if (s->operand_count != 2 || !ptx_only(parser, s, "sync aligned m8n8 x1 x2 x4 trans shared shared::cta"))
        return false;
    inst->space = WARP_SHARED;
    inst->columns = ptx_has(s, "trans");
    inst->dests = (uint8_t)ptx_rows(parser, s->operands[0], 'w', inst->d, 4);
    ptx_matrix_address(parser, s->operands[1], inst);
    inst->sources = 1;
    inst->width = LINE_BYTES;
    inst->vec = 1;
    inst->execute = ptx_run_ldmatrix;
    parser->code->granule = 2 < parser->code->granule ? 2 : parser->code->granule;
    return true;
}

/* ------------------------------------------------------------------------------------------------ memory */

void ptx_touch_matrix(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes, warp_space space,
                      const uint64_t address[WARP_LANES], uint32_t width, bool write, unsigned char *at[WARP_LANES])
{
    const warp_access access = {
        .how = write ? WARP_WRITES : WARP_READS,
        .op = write ? SMP_BANK_STORE : SMP_BANK_LOAD,
        .width = width,
        .granule = 2,
    };
    uint32_t offset[WARP_LANES];
    for (int l = 0; l < WARP_LANES; l++) {
        offset[l] = (uint32_t)address[l];
        at[l] = NULL;
    }
    const uint32_t done = space == WARP_SHARED ? warp_touch_shared(block, frame, inst, lanes, offset, &access)
                                               : warp_touch_global(block, frame, inst, lanes, address, &access);
    WARP_ACTIVE_LANES(done)
    at[l] = space == WARP_SHARED ? block->shared + offset[l] : (unsigned char *)(uintptr_t)address[l];
}

void ptx_count_matrix_once(warp_block *block, const warp_inst *inst, warp_space space, uint32_t pieces)
{
    const smp_warp_space where = space == WARP_SHARED ? SMP_WARP_SHARED : SMP_WARP_GLOBAL;
    block->counts[inst->index].in[where].instructions -= pieces - 1;
}

uint64_t ptx_matrix_base(const warp_frame *frame, const warp_inst *inst, uint32_t lane, warp_space *space)
{
    if (inst->parts) { /* SASS has matrices in shared memory alone */
        const uint32_t more = inst->add == WARP_NO_ROW ? 0 : warp_words(frame, inst->add)[lane];
        *space = WARP_SHARED;
        return (uint32_t)(warp_words(frame, inst->s[0])[lane] + more + (uint32_t)inst->offset - inst->bias);
    }
    const uint64_t base =
        (inst->address_wide ? warp_longs(frame, inst->s[0])[lane] : warp_words(frame, inst->s[0])[lane]) +
        (uint64_t)inst->offset;
    *space = inst->space == WARP_GENERIC ? ptx_space_of(base) : (warp_space)inst->space;
    return base & ~WARP_WINDOW_MASK;
}

/* Each 8 lanes give the lines of one matrix of 8 x 8 halves. */
void ptx_run_ldmatrix(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    unsigned char *lines[WARP_LANES];
    uint64_t address[WARP_LANES];
    uint32_t result[4][WARP_LANES] = {{0}};
    warp_space space;
    for (uint32_t l = 0; l < WARP_LANES; l++)
        address[l] = ptx_matrix_base(frame, inst, l, &space);
    for (uint32_t m = 0; m < inst->dests; m++) {
        unsigned char *at[WARP_LANES];
        ptx_touch_matrix(block, frame, inst, UINT32_C(0xff) << (8 * m), WARP_SHARED, address, LINE_BYTES, false, at);
        memcpy(lines + 8 * m, at + 8 * m, 8 * sizeof *lines);
    }
    ptx_count_matrix_once(block, inst, WARP_SHARED, inst->dests);
    for (uint32_t m = 0; m < inst->dests; m++) {
        for (uint32_t l = 0; l < WARP_LANES; l++)
            for (uint32_t k = 0; k < 2; k++) {
                const uint32_t line = inst->columns ? l % 4 * 2 + k : l / 4, at = inst->columns ? l / 4 : l % 4 * 2 + k;
                uint16_t half = 0;
                if (lines[8 * m + line])
                    memcpy(&half, lines[8 * m + line] + HALF_BYTES * at, HALF_BYTES);
                result[m][l] |= (uint32_t)half << (16 * k);
            }
        ptx_blend(frame, inst->d[m], 'w', result[m], lanes);
    }
}

/* stmatrix: what ldmatrix reads, written; registers in d. */
void ptx_run_stmatrix(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t)
{
    uint64_t address[WARP_LANES];
    warp_space space;
    for (uint32_t l = 0; l < WARP_LANES; l++)
        address[l] = ptx_matrix_base(frame, inst, l, &space);
    for (uint32_t m = 0; m < inst->dests; m++) {
        unsigned char *at[WARP_LANES];
        ptx_touch_matrix(block, frame, inst, UINT32_C(0xff) << (8 * m), WARP_SHARED, address, LINE_BYTES, true, at);
        for (uint32_t l = 0; l < WARP_LANES; l++)
            for (uint32_t k = 0; k < 2; k++) {
                const uint32_t line = inst->columns ? l % 4 * 2 + k : l / 4, to = inst->columns ? l / 4 : l % 4 * 2 + k;
                const uint16_t half = (uint16_t)(warp_words(frame, inst->d[m])[l] >> (16 * k));
                if (at[8 * m + line])
                    memcpy(at[8 * m + line] + HALF_BYTES * to, &half, HALF_BYTES);
            }
    }
    ptx_count_matrix_once(block, inst, WARP_SHARED, inst->dests);
}

void ptx_sum_place(uint32_t lane, uint32_t k, uint32_t *row, uint32_t *column)
{
    *row = lane / 4 + (k % 4 >= 2 ? 8 : 0);
    *column = k / 4 * 8 + lane % 4 * 2 + k % 2;
}

static void load_factor(warp_block *block, warp_frame *frame, const warp_inst *inst, uint64_t base, uint32_t stride,
                        warp_space space)
{
    /* what ldmatrix reads: four matrices of 8 lines of 16 bytes */
    unsigned char *lines[2][SIDE];
    for (uint32_t q = 0; q < 4; q++) {
        uint64_t address[WARP_LANES] = {0};
        unsigned char *at[WARP_LANES];
        for (uint32_t r = 0; r < 8; r++)
            address[r] = base + ((uint64_t)(q % 2 * 8 + r) * stride + q / 2 * 8) * HALF_BYTES;
        ptx_touch_matrix(block, frame, inst, 0xff, space, address, LINE_BYTES, false, at);
        for (uint32_t r = 0; r < 8; r++)
            lines[q / 2][q % 2 * 8 + r] = at[r];
    }
    ptx_count_matrix_once(block, inst, space, 4);
    for (uint32_t l = 0; l < WARP_LANES; l++)
        for (uint32_t k = 0; k < 8; k += 2) {
            uint32_t pair = 0;
            for (uint32_t h = 0; h < 2; h++) {
                const uint32_t row = l / 2, column = l % 2 * 8 + k + h;
                const uint32_t line = inst->columns ? column : row, at = inst->columns ? row : column;
                uint16_t half = 0;
                if (lines[at / 8][line])
                    memcpy(&half, lines[at / 8][line] + HALF_BYTES * (at % 8), HALF_BYTES);
                pair |= (uint32_t)half << (16 * h);
            }
            if (k / 2 < inst->dests)
                warp_words(frame, inst->d[k / 2])[l] = pair;
        }
}

/* Sums go to and from memory in pairs of neighbours, four of them a lane; column by column one at a time. */
static void move_sums(warp_block *block, warp_frame *frame, const warp_inst *inst, uint64_t base, uint32_t stride,
                      warp_space space, bool write)
{
    const uint32_t bytes = inst->type == PTX_F32 ? 4 : 2, step = inst->columns ? 1 : 2;
    const uint32_t *rows = write ? inst->s + 2 : inst->d;
    for (uint32_t k = 0; k < 8; k += step) {
        uint64_t address[WARP_LANES];
        unsigned char *at[WARP_LANES];
        for (uint32_t l = 0; l < WARP_LANES; l++) {
            uint32_t row, column;
            ptx_sum_place(l, k, &row, &column);
            address[l] =
                base + (inst->columns ? (uint64_t)column * stride + row : (uint64_t)row * stride + column) * bytes;
        }
        ptx_touch_matrix(block, frame, inst, WARP_ALL, space, address, bytes * step, write, at);
        for (uint32_t l = 0; l < WARP_LANES; l++)
            for (uint32_t h = 0; h < step && at[l]; h++) {
                unsigned char *byte = at[l] + h * bytes;
                uint32_t *word = &warp_words(frame, rows[bytes == 4 ? k + h : (k + h) / 2])[l];
                unsigned char *part = (unsigned char *)word + (bytes == 2 ? (k + h) % 2 * 2 : 0);
                memcpy(write ? byte : part, write ? part : byte, bytes);
            }
    }
}

void ptx_run_matrix_load(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    warp_space space;
    const uint32_t lane = (uint32_t)__builtin_ctz(lanes), stride = warp_words(frame, inst->s[1])[lane];
    const uint64_t base = ptx_matrix_base(frame, inst, lane, &space);
    if (inst->mode == LOAD_FACTOR)
        load_factor(block, frame, inst, base, stride, space);
    else
        move_sums(block, frame, inst, base, stride, space, false);
}

void ptx_run_matrix_store(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    warp_space space;
    const uint32_t lane = (uint32_t)__builtin_ctz(lanes), stride = warp_words(frame, inst->s[1])[lane];
    const uint64_t base = ptx_matrix_base(frame, inst, lane, &space);
    move_sums(block, frame, inst, base, stride, space, true);
}

/* ------------------------------------------------------------------------------------------------ products */

static float value_of(uint32_t pair, uint32_t half, bool bf16)
{
    const uint32_t bits = pair >> (16 * half) & 0xffff;
    return bf16 ? warp_bf16_float(bits) : warp_half_float(bits);
}

static float sum_of(const warp_frame *frame, const uint32_t *rows, uint32_t lane, uint32_t k, bool half)
{
    return half ? warp_half_float(warp_words(frame, rows[k / 2])[lane] >> (16 * (k % 2)) & 0xffff)
                : warp_bits_float(warp_words(frame, rows[k])[lane]);
}

void ptx_run_matrix_multiply(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    float a[SIDE][SIDE], b[SIDE][SIDE];
    uint32_t result[8][WARP_LANES] = {{0}};
    for (uint32_t l = 0; l < WARP_LANES; l++)
        for (uint32_t k = 0; k < 8; k++) {
            a[l / 2][l % 2 * 8 + k] = value_of(warp_words(frame, inst->s[k / 2])[l], k % 2, inst->mode);
            b[l / 2][l % 2 * 8 + k] = value_of(warp_words(frame, inst->s[8 + k / 2])[l], k % 2, inst->mode);
        }
    for (uint32_t l = 0; l < WARP_LANES; l++)
        for (uint32_t k = 0; k < 8; k++) {
            uint32_t row, column;
            ptx_sum_place(l, k, &row, &column);
            float sum = sum_of(frame, inst->s + 16, l, k, inst->from_type == PTX_F16);
            for (int i = 0; i < SIDE; i++)
                sum += a[row][i] * b[i][column];
            if (inst->type == PTX_F16)
                result[k / 2][l] |= warp_half_bits((double)sum) << (16 * (k % 2));
            else
                result[k][l] = warp_float_bits(warp_one_nan(sum));
        }
    for (uint32_t k = 0; k < inst->dests; k++)
        ptx_blend(frame, inst->d[k], 'w', result[k], lanes);
}
