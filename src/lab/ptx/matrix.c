/* Matrices that a warp holds together, in memory and registers: ldmatrix, stmatrix, and wmma's loads and stores. Their
 * products are mma.c's. */
#include <string.h>

#include "lab/ptx/half.h"
#include "lab/ptx/matrix.h"

enum { SIDE = 16, HALF_BYTES = 2, LINE_BYTES = 16 };

/* What a lane holds of a wmma's matrix. Lines are rows of a and columns of b, of which lane n holds half of line n / 2:
 * the PTX ISA leaves that open. Sums and m8n8k4 lie as it says: of doubles lane 4g + t has of a row g, column t, of b
 * row t, column g, and of sums row g, columns 2t and 2t + 1. */
enum { HALVES /* lines of 16 bits, which ldmatrix reads */, LINES, SUMS, DOUBLE_A, DOUBLE_B, DOUBLE_SUMS };

static warp_execute run_load, run_store;

static warp_space matrix_space(const ptx_statement *s)
{
    return ptx_has(s, "shared") || ptx_has(s, "shared::cta") ? WARP_SHARED
           : ptx_has(s, "global")                            ? WARP_GLOBAL
                                                             : WARP_GENERIC;
}

static void matrix_address(ptx_parser *parser, ptx_text operand, warp_inst *inst)
{
    ptx_text base = {operand.at + 1, operand.size > 1 ? operand.size - 2 : 0};
    for (size_t i = 1; i < base.size; i++)
        if (base.at[i] == '+')
            base.size = i;
    inst->address_wide = ptx_class(parser, base) == 'd';
    ptx_address(parser, operand, inst, 0, &inst->offset);
}

/* Values of a fragment in each lane. */
static uint32_t fragment_values(const warp_inst *inst)
{
    static const uint8_t of_kind[] = {[HALVES] = 8, [SUMS] = 8, [DOUBLE_A] = 1, [DOUBLE_B] = 1, [DOUBLE_SUMS] = 2};
    return inst->mode != LINES ? of_kind[inst->mode] : ptx_size_of((ptx_type)inst->type) == 1 ? 8 : 4;
}

/* wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {d}, [from], stride; wmma.store.d */
static bool decode_fragment(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    const bool store = ptx_has(s, "store"), is_sum = store || ptx_has(s, "c"), is_a = ptx_has(s, "a");
    /* tf32 lies in memory as floats do */
    const ptx_type type = ptx_has(s, "tf32") ? PTX_F32 : ptx_type_of(s->words[s->word_count - 1]);
    const uint32_t bytes = ptx_size_of(type);
    if (s->operand_count != 3 || (bytes == 8) != ptx_is_double_wmma(s) || store == ptx_has(s, "load"))
        return false;
    inst->type = (uint8_t)type;
    inst->columns = ptx_has(s, "col");
    if (is_sum) {
        if (type != PTX_F16 && type != PTX_F32 && type != PTX_S32 && type != PTX_F64)
            return false;
        inst->mode = bytes == 8 ? DOUBLE_SUMS : SUMS;
        inst->width = (uint8_t)(bytes * (inst->columns ? 1 : 2));
    } else if (bytes == 8) {
        inst->mode = is_a ? DOUBLE_A : DOUBLE_B;
        inst->width = 8;
    } else {
        if (type != PTX_F16 && type != PTX_BF16 && type != PTX_U8 && type != PTX_S8 && !ptx_has(s, "tf32"))
            return false;
        inst->mode = bytes == 2 ? HALVES : LINES;
        inst->columns = inst->columns == is_a; /* lines of this factor are across those of memory */
        inst->width = bytes == 1 ? LINE_BYTES / 2 : LINE_BYTES;
        if (bytes == 1)
            parser->code->granule = 1;
    }
    const int registers = inst->mode == HALVES ? 4 : (int)(fragment_values(inst) * bytes / (bytes == 8 ? 8 : 4));
    const int count = ptx_rows(parser, s->operands[store], bytes == 8 ? 'd' : 'w', store ? inst->s + 2 : inst->d, 8);
    inst->space = (uint8_t)matrix_space(s);
    inst->vec = 1;
    inst->s[1] = ptx_row(parser, s->operands[2], 'w');
    inst->dests = (uint8_t)(store ? 0 : count);
    inst->sources = (uint8_t)(store ? 2 + count : 2);
    inst->kind = store ? WARP_STORES : WARP_LOADS;
    inst->execute = store ? run_store : run_load;
    matrix_address(parser, s->operands[!store], inst);
    return count == registers ||
           (type == PTX_F16 && !is_sum && count == 8); /* halves are given eight, of which four are used */
}

bool ptx_decode_wmma(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    if (!ptx_only(parser, s,
                  "load store mma a b c d sync aligned row col m16n16k16 m16n16k8 m8n8k4 tf32 rn shared shared::cta "
                  "global") ||
        !(ptx_has(s, "m16n16k16") || ptx_has(s, "m16n16k8") || ptx_is_double_wmma(s)))
        return false;
    return ptx_has(s, "mma") ? ptx_decode_product(parser, s, inst) : decode_fragment(parser, s, inst);
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
    matrix_address(parser, s->operands[0], inst);
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
    matrix_address(parser, s->operands[1], inst);
    inst->sources = 1;
    inst->width = LINE_BYTES;
    inst->vec = 1;
    inst->execute = ptx_run_ldmatrix;
    parser->code->granule = 2 < parser->code->granule ? 2 : parser->code->granule;
    return true;
}

/* ------------------------------------------------------------------------------------------------ memory */

static void touch_matrix(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes, warp_space space,
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

static void count_matrix_once(warp_block *block, const warp_inst *inst, warp_space space, uint32_t pieces)
{
    const smp_warp_space where = space == WARP_SHARED ? SMP_WARP_SHARED : SMP_WARP_GLOBAL;
    block->counts[inst->index].in[where].instructions -= pieces - 1;
}

static uint64_t matrix_base(const warp_frame *frame, const warp_inst *inst, uint32_t lane, warp_space *space)
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
        address[l] = matrix_base(frame, inst, l, &space);
    for (uint32_t m = 0; m < inst->dests; m++) {
        unsigned char *at[WARP_LANES];
        touch_matrix(block, frame, inst, UINT32_C(0xff) << (8 * m), WARP_SHARED, address, LINE_BYTES, false, at);
        memcpy(lines + 8 * m, at + 8 * m, 8 * sizeof *lines);
    }
    count_matrix_once(block, inst, WARP_SHARED, inst->dests);
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
        address[l] = matrix_base(frame, inst, l, &space);
    for (uint32_t m = 0; m < inst->dests; m++) {
        unsigned char *at[WARP_LANES];
        touch_matrix(block, frame, inst, UINT32_C(0xff) << (8 * m), WARP_SHARED, address, LINE_BYTES, true, at);
        for (uint32_t l = 0; l < WARP_LANES; l++)
            for (uint32_t k = 0; k < 2; k++) {
                const uint32_t line = inst->columns ? l % 4 * 2 + k : l / 4, to = inst->columns ? l / 4 : l % 4 * 2 + k;
                const uint16_t half = (uint16_t)(warp_words(frame, inst->d[m])[l] >> (16 * k));
                if (at[8 * m + line])
                    memcpy(at[8 * m + line] + HALF_BYTES * to, &half, HALF_BYTES);
            }
    }
    count_matrix_once(block, inst, WARP_SHARED, inst->dests);
}

void ptx_sum_place(uint32_t lane, uint32_t k, uint32_t *row, uint32_t *column)
{
    *row = lane / 4 + (k % 4 >= 2 ? 8 : 0);
    *column = k / 4 * 8 + lane % 4 * 2 + k % 2;
}

static void load_halves(warp_block *block, warp_frame *frame, const warp_inst *inst, uint64_t base, uint32_t stride,
                        warp_space space)
{
    /* what ldmatrix reads: four matrices of 8 lines of 16 bytes */
    unsigned char *lines[2][SIDE];
    for (uint32_t q = 0; q < 4; q++) {
        uint64_t address[WARP_LANES] = {0};
        unsigned char *at[WARP_LANES];
        for (uint32_t r = 0; r < 8; r++)
            address[r] = base + ((uint64_t)(q % 2 * 8 + r) * stride + q / 2 * 8) * HALF_BYTES;
        touch_matrix(block, frame, inst, 0xff, space, address, LINE_BYTES, false, at);
        for (uint32_t r = 0; r < 8; r++)
            lines[q / 2][q % 2 * 8 + r] = at[r];
    }
    count_matrix_once(block, inst, space, 4);
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

/* Row and column of value `k` of a lane. */
static void place_of(const warp_inst *inst, uint32_t lane, uint32_t k, uint32_t *row, uint32_t *column)
{
    const uint32_t g = lane / 4, t = lane % 4;
    if (inst->mode == SUMS) {
        ptx_sum_place(lane, k, row, column);
    } else if (inst->mode == LINES) {
        *row = lane / 2;
        *column = lane % 2 * fragment_values(inst) + k;
    } else {
        *row = inst->mode == DOUBLE_B ? t : g;
        *column = inst->mode == DOUBLE_A ? t : inst->mode == DOUBLE_B ? g : 2 * t + k;
    }
}

static unsigned char *value_at(const warp_frame *frame, const uint32_t *rows, uint32_t bytes, uint32_t k, uint32_t lane)
{
    const uint32_t each = bytes == 8 ? 1 : 4 / bytes;
    return bytes == 8 ? (unsigned char *)&warp_longs(frame, rows[k])[lane]
                      : (unsigned char *)&warp_words(frame, rows[k / each])[lane] + k % each * bytes;
}

/* Moves the values of each lane, one access after the other: neighbours in memory together. */
static void move(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes, const uint32_t *rows)
{
    const uint32_t lane = (uint32_t)__builtin_ctz(lanes), stride = warp_words(frame, inst->s[1])[lane];
    const uint32_t values = fragment_values(inst), bytes = ptx_size_of((ptx_type)inst->type);
    const uint32_t at_once = inst->columns || values == 1 ? 1 : inst->mode == LINES ? values : 2;
    const bool write = inst->kind == WARP_STORES;
    warp_space space;
    const uint64_t base = matrix_base(frame, inst, lane, &space);
    if (inst->mode == HALVES) {
        load_halves(block, frame, inst, base, stride, space);
        return;
    }
    for (uint32_t k = 0; k < values; k += at_once) {
        uint64_t address[WARP_LANES];
        unsigned char *at[WARP_LANES];
        for (uint32_t l = 0; l < WARP_LANES; l++) {
            uint32_t row, column;
            place_of(inst, l, k, &row, &column);
            address[l] =
                base + (inst->columns ? (uint64_t)column * stride + row : (uint64_t)row * stride + column) * bytes;
        }
        touch_matrix(block, frame, inst, WARP_ALL, space, address, bytes * at_once, write, at);
        for (uint32_t l = 0; l < WARP_LANES; l++)
            for (uint32_t h = 0; h < at_once && at[l]; h++) {
                unsigned char *there = at[l] + (size_t)h * bytes, *here = value_at(frame, rows, bytes, k + h, l);
                memcpy(write ? there : here, write ? here : there, bytes);
            }
    }
    if (inst->mode != SUMS)
        count_matrix_once(block, inst, space, values / at_once);
}

static void run_load(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    move(block, frame, inst, lanes, inst->d);
}

static void run_store(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    move(block, frame, inst, lanes, inst->s + 2);
}
