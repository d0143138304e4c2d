/* Products of matrices: mma of 16 x 8 and wmma of 16 x 16: halves, bfloat16, tf32 and bytes, with sums of floats,
 * halves and integers; both of doubles, 8 x 8 x 4; and the transpose of an 8 x 8 matrix. Of mma a register of a holds
 * 32 bits of a row, one of b of a column: register q of lane 4g + t has of a row g, and g + 8 where q is odd, of b
 * column g; its elements stand side by side from t * (elements of a register) on (PTX ISA, "Matrix Fragments for mma").
 */
#include <math.h>
#include <string.h>

#include "lab/ptx/execute.h"
#include "lab/ptx/half.h"
#include "lab/ptx/matrix.h"

enum { ROWS = 16, COLUMNS = 8, DEPTH = 32 };
enum { SUMS = 4, WMMA_SUMS = 8 }; /* of a lane */
enum { OTHER_SUMS = 4 };          /* in mode: sums are halves before and floats after, or the other way round */

/* ------------------------------------------------------------------------------------------------ decoding */

static warp_execute run_wmma, run_doubles, run_tf32;

static int element_of(const char *word)
{
    static const char *const names[] = {"f16", "bf16", "tf32", "u8", "s8"};
    for (int i = 0; i < (int)(sizeof names / sizeof names[0]); i++)
        if (!strcmp(names[i], word))
            return i;
    return -1;
}

static int sums_of(const char *word)
{
    return !strcmp(word, "f32")   ? PTX_MMA_FLOATS
           : !strcmp(word, "f16") ? PTX_MMA_HALF_SUMS
           : !strcmp(word, "s32") ? PTX_MMA_INTEGERS
                                  : -1;
}

bool ptx_mma_fits(uint32_t a, uint32_t b, uint32_t sums, uint32_t depth)
{
    const bool a_bytes = a >= PTX_MMA_U8, b_bytes = b >= PTX_MMA_U8;
    if (a_bytes || b_bytes)
        return a_bytes && b_bytes && sums == PTX_MMA_INTEGERS && (depth == 16 || depth == 32);
    if (a != b || sums == PTX_MMA_INTEGERS || (sums == PTX_MMA_HALF_SUMS && a != PTX_MMA_F16))
        return false;
    return a == PTX_MMA_TF32 ? depth == 4 || depth == 8 : depth == 8 || depth == 16;
}

static uint32_t element_bits(uint32_t element)
{
    return element == PTX_MMA_TF32 ? 32 : element >= PTX_MMA_U8 ? 8 : 16;
}

bool ptx_is_double_wmma(const ptx_statement *s)
{
    return ptx_has(s, "m8n8k4") && ptx_has(s, "f64");
}

static bool decode_doubles(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    inst->type = PTX_F64;
    inst->dests = (uint8_t)ptx_rows(parser, s->operands[0], 'd', inst->d, 2);
    inst->sources = 4;
    inst->execute = run_doubles;
    return s->operand_count == 4 && inst->dests == 2 && ptx_rows(parser, s->operands[1], 'd', inst->s, 1) == 1 &&
           ptx_rows(parser, s->operands[2], 'd', inst->s + 1, 1) == 1 &&
           ptx_rows(parser, s->operands[3], 'd', inst->s + 2, 2) == 2;
}

/* wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {d}, {a}, {b}, {c}: of halves; .s32.u8.u8.s32: of others */
bool ptx_decode_product(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    if (ptx_is_double_wmma(s))
        return decode_doubles(parser, s, inst);
    const int last = s->word_count - 1, named = last > 4 && element_of(s->words[last - 2]) >= 0;
    const int to = sums_of(s->words[last - (named ? 3 : 1)]), from = sums_of(s->words[last]);
    const int a_type = named ? element_of(s->words[last - 2]) : PTX_MMA_F16;
    const int b_type = named ? element_of(s->words[last - 1]) : PTX_MMA_F16;
    inst->width = ptx_has(s, "m16n16k8") ? 8 : 16;
    if (s->operand_count != 4 || to < 0 || from < 0 || a_type < 0 ||
        !ptx_mma_fits((uint32_t)a_type, (uint32_t)b_type, (uint32_t)to, inst->width) ||
        !ptx_mma_fits((uint32_t)a_type, (uint32_t)b_type, (uint32_t)from, inst->width))
        return false;
    inst->mode = (uint8_t)(to | (from != to ? OTHER_SUMS : 0));
    inst->type = (uint8_t)a_type;
    inst->from_type = (uint8_t)b_type;
    inst->dests = (uint8_t)ptx_rows(parser, s->operands[0], 'w', inst->d, 8);
    const int a = ptx_rows(parser, s->operands[1], 'w', inst->s, 8);
    const int b = ptx_rows(parser, s->operands[2], 'w', inst->s + 8, 8);
    const int c = ptx_rows(parser, s->operands[3], 'w', inst->s + 16, 8);
    const int registers = (int)(inst->width * element_bits(inst->type) * ROWS / (32 * WARP_LANES));
    inst->sources = 24;
    inst->execute = run_wmma;
    return inst->dests == (to == PTX_MMA_HALF_SUMS ? 4 : 8) && c == (from == PTX_MMA_HALF_SUMS ? 4 : 8) &&
           (a == registers || (!named && a == 8)) &&
           (b == registers || (!named && b == 8)); /* halves are given eight, of which four are used */
}

/* mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d}, {a}, {b}, {c} */
bool ptx_decode_mma(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    static const struct {
        const char *name;
        uint8_t depth;
    } shapes[] = {{"m16n8k4", 4}, {"m16n8k8", 8}, {"m16n8k16", 16}, {"m16n8k32", 32}};
    if (ptx_is_double_wmma(s))
        return ptx_only(parser, s, "sync aligned row col m8n8k4 rn") && decode_doubles(parser, s, inst);
    if (s->operand_count != 4 || s->word_count < 9 ||
        !ptx_only(parser, s, "sync aligned m16n8k4 m16n8k8 m16n8k16 m16n8k32 row col tf32 satfinite"))
        return false;
    const char(*types)[24] = &s->words[s->word_count - 4]; /* of d, a, b, c */
    const int sums = sums_of(types[0]), a_type = element_of(types[1]), b_type = element_of(types[2]);
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        inst->width = ptx_has(s, shapes[i].name) ? shapes[i].depth : inst->width;
    if (sums < 0 || sums != sums_of(types[3]) || a_type < 0 || b_type < 0 || !ptx_has(s, "row") || !ptx_has(s, "col") ||
        !ptx_mma_fits((uint32_t)a_type, (uint32_t)b_type, (uint32_t)sums, inst->width))
        return false;
    inst->mode = (uint8_t)sums;
    inst->type = (uint8_t)a_type;
    inst->from_type = (uint8_t)b_type;
    inst->saturate = ptx_has(s, "satfinite");
    const int registers = (int)(inst->width * element_bits((uint32_t)a_type) * ROWS / (32 * WARP_LANES));
    const int of_sums = sums == PTX_MMA_HALF_SUMS ? SUMS / 2 : SUMS;
    inst->dests = (uint8_t)ptx_rows(parser, s->operands[0], 'w', inst->d, SUMS);
    const int a = ptx_rows(parser, s->operands[1], 'w', inst->s, 4);
    const int b = ptx_rows(parser, s->operands[2], 'w', inst->s + 8, 2);
    const int c = ptx_rows(parser, s->operands[3], 'w', inst->s + 16, SUMS);
    inst->sources = 24;
    inst->execute = ptx_run_mma;
    return inst->dests == of_sums && c == of_sums && a == registers && b == registers / 2;
}

/* movmatrix.sync.aligned.m8n8.trans.b16 d, a */
bool ptx_decode_movmatrix(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    if (s->operand_count != 2 || !ptx_only(parser, s, "sync aligned m8n8 trans") || !ptx_has(s, "trans"))
        return false;
    inst->d[0] = ptx_row(parser, s->operands[0], 'w');
    inst->s[0] = ptx_row(parser, s->operands[1], 'w');
    inst->sources = 1;
    inst->execute = ptx_run_movmatrix;
    return true;
}

/* ------------------------------------------------------------------------------------------------ executing */

ptx_element ptx_element_in(uint32_t word, uint32_t index, uint32_t kind)
{
    switch (kind) {
    case PTX_MMA_F16:
        return (ptx_element){.real = warp_half_float(word >> (16 * index) & 0xffff)};
    case PTX_MMA_BF16:
        return (ptx_element){.real = warp_bf16_float(word >> (16 * index) & 0xffff)};
    case PTX_MMA_TF32:
        return (ptx_element){.real = warp_bits_float(word & UINT32_C(0xffffe000))};
    case PTX_MMA_U8:
        return (ptx_element){.whole = (int32_t)(word >> (8 * index) & 0xff)};
    default:
        return (ptx_element){.whole = (int8_t)(word >> (8 * index) & 0xff)};
    }
}

uint32_t ptx_sum_up(const ptx_element *a, const ptx_element *b, uint32_t depth, uint32_t before, uint32_t from,
                    uint32_t to, bool saturates)
{
    if (to == PTX_MMA_INTEGERS) {
        int64_t sum = (int32_t)before;
        for (uint32_t i = 0; i < depth; i++)
            sum += (int64_t)a[i].whole * b[i].whole;
        if (saturates)
            sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
        return (uint32_t)sum;
    }
    float sum = from == PTX_MMA_HALF_SUMS ? warp_half_float(before) : warp_bits_float(before);
    for (uint32_t i = 0; i < depth; i++)
        sum += a[i].real * b[i].real;
    return to == PTX_MMA_HALF_SUMS ? warp_half_bits((double)sum) : warp_float_bits(warp_one_nan(sum));
}

/* The sums of all lanes, `sums` of each, of two factors. Halves lie in pairs. */
static void multiply(warp_frame *frame, const warp_inst *inst, uint32_t lanes, ptx_element (*a)[DEPTH],
                     ptx_element (*b)[DEPTH], uint32_t sums)
{
    uint32_t result[WMMA_SUMS][WARP_LANES] = {{0}};
    const uint32_t to = inst->mode % OTHER_SUMS, other = to == PTX_MMA_FLOATS ? PTX_MMA_HALF_SUMS : PTX_MMA_FLOATS;
    const uint32_t from = inst->mode / OTHER_SUMS ? other : to;
    const bool from_halves = from == PTX_MMA_HALF_SUMS, to_halves = to == PTX_MMA_HALF_SUMS;
    for (uint32_t l = 0; l < WARP_LANES; l++)
        for (uint32_t k = 0; k < sums; k++) {
            uint32_t row, column, before = warp_words(frame, inst->s[16 + (from_halves ? k / 2 : k)])[l];
            ptx_sum_place(l, k, &row, &column);
            before = from_halves ? before >> (k % 2 * 16) & 0xffff : before;
            const uint32_t sum = ptx_sum_up(a[row], b[column], inst->width, before, from, to, inst->saturate);
            result[to_halves ? k / 2 : k][l] |= to_halves ? sum << (k % 2 * 16) : sum;
        }
    for (uint32_t k = 0; k < inst->dests; k++)
        if (inst->d[k] != WARP_NO_ROW)
            ptx_blend(frame, inst->d[k], 'w', result[k], lanes);
}

void ptx_run_mma(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    ptx_element a[ROWS][DEPTH], b[COLUMNS][DEPTH];
    const uint32_t each = 32 / element_bits(inst->type), steps = inst->width / (4 * each);
    for (uint32_t l = 0; l < WARP_LANES; l++)
        for (uint32_t step = 0; step < steps; step++)
            for (uint32_t i = 0; i < each; i++) {
                const uint32_t at = (4 * step + l % 4) * each + i;
                for (uint32_t h = 0; h < 2; h++)
                    a[l / 4 + 8 * h][at] = ptx_element_in(warp_words(frame, inst->s[2 * step + h])[l], i, inst->type);
                b[l / 4][at] = ptx_element_in(warp_words(frame, inst->s[8 + step])[l], i, inst->from_type);
            }
    multiply(frame, inst, lanes, a, b, SUMS);
}

/* Lane n holds half of line n / 2: of a row of a, of a column of b (matrix.c). */
static void run_wmma(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    ptx_element a[ROWS][DEPTH], b[ROWS][DEPTH];
    const uint32_t each = 32 / element_bits(inst->type), half = inst->width / 2u;
    for (uint32_t l = 0; l < WARP_LANES; l++)
        for (uint32_t k = 0; k < half; k++) {
            const uint32_t at = l % 2 * half + k, word = k / each;
            a[l / 2][at] = ptx_element_in(warp_words(frame, inst->s[word])[l], k % each, inst->type);
            b[l / 2][at] = ptx_element_in(warp_words(frame, inst->s[8 + word])[l], k % each, inst->from_type);
        }
    multiply(frame, inst, lanes, a, b, WMMA_SUMS);
}

/* Products are fused into the sum in the order of columns. */
void ptx_double_product(const double a[WARP_LANES], const double b[WARP_LANES], double sums[2][WARP_LANES])
{
    for (uint32_t l = 0; l < WARP_LANES; l++)
        for (uint32_t k = 0; k < 2; k++)
            for (uint32_t i = 0; i < 4; i++) {
                const double x = a[l / 4 * 4 + i], y = b[(l % 4 * 2 + k) * 4 + i];
                sums[k][l] = warp_nan_of(fma(x, y, sums[k][l]), y, sums[k][l], x);
            }
}

static void run_doubles(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
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

void ptx_run_movmatrix(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const uint32_t *from = warp_words(frame, inst->s[0]);
    uint32_t result[WARP_LANES] = {0};
    for (uint32_t l = 0; l < WARP_LANES; l++)
        for (uint32_t k = 0; k < 2; k++) {
            const uint32_t row = l % 4 * 2 + k, column = l / 4;
            result[l] |= (from[row * 4 + column / 2] >> (column % 2 * 16) & 0xffff) << (16 * k);
        }
    ptx_blend(frame, inst->d[0], 'w', result, lanes);
}
