/* Integers, bits and predicates. */
#include <string.h>

#include "lab/sass/sass.h"

/* Predicates that are written, from operand *at on. */
static void predicate_results(sass_parser *parser, const sass_line *line, sass_op *op, int *at)
{
    for (int i = 0; i < 2 && *at < line->count && sass_is_predicate(&line->operands[*at]); i++)
        op->pred_to[i] = sass_predicate_to(parser, &line->operands[(*at)++]);
}

/* A source of 64 bits; a number of 32 without a minus has zeros above it. */
static bool long_source(sass_parser *parser, const sass_line *line, sass_op *op, int slot, int operand)
{
    const sass_operand *o = operand < line->count ? &line->operands[operand] : NULL;
    if (!o || o->kind != SASS_NUMBER || !o->is_integer || o->whole || o->text.at[0] == '-')
        return sass_source(parser, line, op, slot, operand, 2, false);
    op->source[slot] = sass_constant(parser, o->bits, 0);
    return true;
}

static bool decode_copy(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    op->wide = sass_has(line, "64");
    inst->execute = sass_function_of(SASS_COPY);
    return sass_result(parser, line, op, 0) &&
           (op->wide ? long_source(parser, line, op, 0, 1) : sass_source(parser, line, op, 0, 1, 1, false));
}

/* IADD.64 to, a, b; UIADD3.64 to, UPT, UPT, a, b, c */
static bool decode_add_long(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    const int sources = strchr(line->words[0], '3') ? 3 : 2;
    int at = 1;
    for (; at < line->count && sass_is_predicate(&line->operands[at]); at++)
        if (line->operands[at].number != SASS_PT)
            return sass_refuse(parser, line, "a carry of this form");
    if (line->count != at + sources || !sass_result(parser, line, op, 0))
        return sass_refuse(parser, line, "this form");
    for (int i = 0; i < sources; i++)
        if (!long_source(parser, line, op, i, at++) || (op->change[i] && op->change[i] != SASS_NEGATE))
            return sass_refuse(parser, line, "a changed operand");
    inst->execute = sass_run_add_long;
    return true;
}

/* The carry of x - y is that of x + ~y + 1: so many ones are added. */
static void invert_negated(sass_op *op, int sources)
{
    for (int i = 0; i < sources; i++)
        if (op->change[i] == SASS_NEGATE) {
            op->change[i] = SASS_INVERT;
            op->submode++;
        }
}

static bool decode_add3(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    int at = 1;
    if (sass_has(line, "64"))
        return decode_add_long(parser, line, inst, op);
    if (!sass_result(parser, line, op, 0))
        return false;
    const bool has_carries = at < line->count && sass_is_predicate(&line->operands[at]);
    predicate_results(parser, line, op, &at);
    const int sources = strstr(line->words[0], "IADD3") ? 3 : 2; /* VIADD */
    for (int i = 0; i < sources; i++)
        if (!sass_source(parser, line, op, i, at++, 1, false))
            return false;
    inst->execute = sass_function_of(SASS_ADD3);
    if (!has_carries && !sass_has(line, "X"))
        return true;
    inst->execute = sass_function_of(SASS_ADD3_CARRY);
    sass_condition(parser, line, op, 0, sass_has(line, "X") ? at : line->count, false);
    sass_condition(parser, line, op, 1, sass_has(line, "X") ? at + 1 : line->count, false);
    invert_negated(op, 3);
    return true;
}

static bool decode_multiply(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    int at = 1;
    if (!sass_result(parser, line, op, 0))
        return false;
    predicate_results(parser, line, op, &at);
    op->wide = sass_has(line, "WIDE");
    op->high = sass_has(line, "HI");
    op->is_signed = !sass_has(line, "U32");
    const bool full = op->wide || op->high;
    for (int i = 0; i < 3; i++)
        if (!sass_source(parser, line, op, i, at++, i == 2 && full ? 2 : 1, false))
            return false;
    if (full && op->change[2] && (op->change[2] != SASS_NEGATE || at < line->count || op->pred_to[0] != WARP_NO_ROW))
        return sass_refuse(parser, line, "a 64-bit sum that is changed");
    if (op->pred_to[0] != WARP_NO_ROW && !full)
        return sass_refuse(parser, line, "a carry of this form");
    op->carry = sass_has(line, "X");
    sass_condition(parser, line, op, 0, op->carry ? at : line->count, false);
    inst->execute = sass_function_of(full ? SASS_MULTIPLY_WIDE : SASS_MULTIPLY);
    return true;
}

/* LEA to, {carry,} a, b, {c,} shift {, carry in}: (c:a << shift) + b, of which .HI takes the high half of the first */
static bool decode_lea(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    int at = 1;
    if (!sass_result(parser, line, op, 0))
        return false;
    predicate_results(parser, line, op, &at);
    op->high = sass_has(line, "HI");
    op->is_signed = sass_has(line, "SX32");
    if (!sass_source(parser, line, op, 0, at, 1, false) || !sass_source(parser, line, op, 1, at + 1, 1, false))
        return false;
    at += 2;
    if (op->high && !op->is_signed && !sass_source(parser, line, op, 2, at++, 1, false))
        return false;
    if (at >= line->count || line->operands[at].kind != SASS_NUMBER)
        return sass_refuse(parser, line, "a shift that is not a number");
    op->lut = (uint8_t)(line->operands[at].bits & 31);
    sass_condition(parser, line, op, 0, sass_has(line, "X") ? at + 1 : line->count, false);
    if (op->change[1] == SASS_NEGATE && op->pred_to[0] != WARP_NO_ROW) {
        op->change[1] = SASS_INVERT;
        op->submode = 1;
    }
    if (op->change[0] == SASS_NEGATE && op->pred_to[0] != WARP_NO_ROW) {
        if (op->high || op->submode)
            return sass_refuse(parser, line, "a carry of this form");
        op->change[0] = 0;
        op->mode = op->submode = 1;
    }
    inst->execute = sass_function_of(SASS_LEA);
    return true;
}

/* LOP3.LUT {p,} to, a, b, c, lut {, pin} */
static bool decode_logic(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    int at = 0;
    predicate_results(parser, line, op, &at);
    if (!sass_result(parser, line, op, at++))
        return false;
    for (int i = 0; i < 3; i++)
        if (!sass_source(parser, line, op, i, at++, 1, false))
            return false;
    if (at >= line->count || line->operands[at].kind != SASS_NUMBER)
        return sass_refuse(parser, line, "a table is missing");
    op->lut = (uint8_t)line->operands[at].bits;
    sass_condition(parser, line, op, 0, at + 1, false);
    op->mode = sass_has(line, "PAND") ? SASS_AND : SASS_OR;
    inst->execute = sass_function_of(SASS_LOGIC);
    return true;
}

static bool decode_shift(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    op->submode = sass_has(line, "R");
    op->high = sass_has(line, "HI");
    op->wrap = sass_has(line, "W");
    op->wide = sass_has(line, "U64") || sass_has(line, "S64");
    op->is_signed = sass_has(line, "S32") || sass_has(line, "S64");
    inst->execute = sass_function_of(SASS_SHIFT);
    return sass_operands(parser, line, op, 3, 1, false);
}

/* ISETP.LT.U32.AND p, q, a, b, with {, extended} */
static bool decode_compare(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    int at = 0;
    predicate_results(parser, line, op, &at);
    if (!sass_comparison(line, op) || at != 2)
        return sass_refuse(parser, line, "this comparison");
    op->is_signed = !sass_has(line, "U32");
    op->carry = sass_has(line, "EX");
    sass_condition(parser, line, op, 0, at + 2, true);
    sass_condition(parser, line, op, 1, at + 3, false);
    inst->execute = sass_function_of(SASS_COMPARE);
    return sass_source(parser, line, op, 0, at, 1, false) && sass_source(parser, line, op, 1, at + 1, 1, false);
}

static bool decode_select(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    const bool is_float = line->words[0][0] == 'F';
    sass_condition(parser, line, op, 0, 3, true);
    inst->execute = sass_function_of(SASS_SELECT);
    return sass_operands(parser, line, op, 2, 1, is_float);
}

static bool decode_permute(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    inst->execute = sass_function_of(SASS_PERMUTE);
    return sass_operands(parser, line, op, 3, 1, false);
}

/* VIMNMX{.U32,.S16x2,.U16x2}{.RELU} to, a, b, p: the least where p holds, else the most; VIMNMX3: of three;
 * VIADDMNMX: of a + b and c; RELU: at least 0 */
static bool decode_minmax(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    const bool adds = strstr(line->words[0], "ADD") != NULL, three = strchr(line->words[0], '3') != NULL;
    const bool halves = sass_has(line, "S16x2") || sass_has(line, "U16x2");
    const int sources = adds || three ? 3 : 2;
    op->is_signed = !sass_has(line, "U32") && !sass_has(line, "U16x2");
    op->saturate = sass_has(line, "RELU");
    op->mode = (uint8_t)sources;
    op->wide = halves;
    op->carry = adds;
    inst->execute = three || halves || op->saturate ? sass_run_minmax
                    : adds                          ? sass_function_of(SASS_ADD_MINMAX)
                                                    : sass_function_of(SASS_MINMAX);
    int at = 1;
    if (!sass_result(parser, line, op, 0))
        return false;
    for (; at < line->count && sass_is_predicate(&line->operands[at]); at++) /* of 10.0: which of them it was */
        if (line->operands[at].number != SASS_PT)
            return sass_refuse(parser, line, "a predicate of this form");
    for (int i = 0; i < sources; i++)
        if (!sass_source(parser, line, op, i, at++, 1, false))
            return false;
    sass_condition(parser, line, op, 0, at, true);
    return true;
}

static bool decode_unary(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    const char *name = line->words[0] + (line->words[0][0] == 'U');
    op->mode = !strcmp(name, "POPC")   ? SASS_POPC
               : !strcmp(name, "BREV") ? SASS_BREV
               : !strcmp(name, "IABS") ? SASS_IABS
               : sass_has(line, "SH")  ? SASS_FLO_SHIFT
                                       : SASS_FLO;
    op->is_signed = !sass_has(line, "U32") && strcmp(name, "POPC") != 0;
    inst->execute = sass_function_of(SASS_UNARY);
    return sass_operands(parser, line, op, 1, 1, false);
}

/* VABSDIFF to, a, b, c: |a - b| + c; VABSDIFF4.U8: of bytes, beside each other or, .ACC, added up */
static bool decode_difference(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    const bool bytes = !strcmp(line->words[0], "VABSDIFF4");
    if (bytes != sass_has(line, "U8"))
        return sass_refuse(parser, line, "this type");
    op->mode = bytes ? 8 : 32;
    op->wrap = bytes && !sass_has(line, "ACC");
    op->is_signed = !bytes && !sass_has(line, "U32");
    inst->execute = sass_run_difference;
    return sass_operands(parser, line, op, 3, 1, false);
}

/* BMSK to, from, length; SGXT to, a, bits */
static bool decode_mask(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    op->mode = strstr(line->words[0], "SGXT") ? 1 : 0;
    op->wrap = sass_has(line, "W");
    op->is_signed = !sass_has(line, "U32");
    inst->execute = sass_run_mask;
    return sass_operands(parser, line, op, 2, 1, false);
}

/* PLOP3.LUT p, q, a, b, c, lut, lut */
static bool decode_plop3(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    int at = 0;
    predicate_results(parser, line, op, &at);
    if (line->count != 7 || at != 2)
        return sass_refuse(parser, line, "this number of operands");
    for (int i = 0; i < 3; i++)
        sass_condition(parser, line, op, i, at++, true);
    op->lut = (uint8_t)line->operands[5].bits;
    op->mode = (uint8_t)line->operands[6].bits;
    inst->execute = sass_run_plop3;
    return true;
}

/* P2R to, PR, a, mask; UP2UR to, UPR, a, mask; R2P PR, a, mask */
static bool decode_packed(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    enum { UNIFORM = 8 * 4 }; /* where uniform predicates lie behind the others */
    const bool uniform = line->words[0][0] == 'U', pack = uniform || line->words[0][0] == 'P';
    op->to = parser->predicates;
    if (pack && (!sass_result(parser, line, op, 0) || line->operands[0].byte > 0))
        return sass_refuse(parser, line, "a byte of a register");
    op->pred[0] = parser->predicates + (uniform ? UNIFORM : 0);
    inst->execute = pack ? sass_run_pack_preds : sass_run_unpack_preds;
    return sass_source(parser, line, op, 0, pack ? 2 : 1, 1, false) &&
           sass_source(parser, line, op, 1, pack ? 3 : 2, 1, false);
}

static bool decode_first(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    op->uniform = true;
    inst->execute = sass_run_first;
    const int at = line->count == 3 && sass_is_predicate(&line->operands[0]);
    if (line->count != 2 + at)
        return sass_refuse(parser, line, "this form");
    op->pred_to[0] = at ? sass_predicate_to(parser, &line->operands[0]) : WARP_NO_ROW;
    return sass_result(parser, line, op, at) && sass_source(parser, line, op, 0, line->count - 1, 1, false);
}

/* IDP.4A.S8.U8 to, a, b, c: four products of bytes and a sum; IDP.2A.LO.S16.S8: two of halves and low bytes */
static bool decode_dot(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    const bool four = sass_has(line, "4A");
    if (line->word_count < 4 || (!four && !sass_has(line, "2A")))
        return sass_refuse(parser, line, "this form");
    op->wide = !four;
    op->high = sass_has(line, "HI");
    if (four && op->high) /* four bytes have no upper half */
        return sass_refuse(parser, line, "this form");
    op->mode = line->words[line->word_count - 2][0] == 'S';
    op->submode = line->words[line->word_count - 1][0] == 'S';
    inst->execute = sass_run_dot;
    return sass_operands(parser, line, op, 3, 1, false);
}

const sass_decoder_row sass_integer_decoders[] = {
    {"IDP", decode_dot, "4A 2A LO HI S8 U8 S16 U16"},
    {"MOV UMOV", decode_copy, "64"},
    {"IADD", decode_add3, "64"},
    {"IADD3", decode_add3, "X"},
    {"UIADD3", decode_add3, "X 64"},
    {"VIADD", decode_add3, ""},
    {"IMAD UIMAD", decode_multiply, "MOV U32 SHL IADD X WIDE HI"},
    {"LEA ULEA", decode_lea, "HI X SX32"},
    {"LOP3 ULOP3", decode_logic, "LUT PAND"},
    {"SHF USHF", decode_shift, "L R U32 S32 U64 S64 HI W"},
    {"ISETP UISETP", decode_compare, "F LT EQ LE GT NE GE T U32 AND OR XOR EX"},
    {"SEL USEL FSEL", decode_select, ""},
    {"PRMT UPRMT", decode_permute, ""},
    {"IMNMX", decode_minmax, "U32"},
    {"VIMNMX", decode_minmax, "U32 S32 S16x2 U16x2 RELU"},
    {"VIMNMX3 VIADDMNMX", decode_minmax, "U32 S16x2 U16x2 RELU"},
    {"POPC UPOPC BREV UBREV IABS", decode_unary, ""},
    {"FLO UFLO", decode_unary, "U32 SH"},
    {"BMSK UBMSK", decode_mask, "W C"},
    {"SGXT USGXT", decode_mask, "W U32"},
    {"VABSDIFF", decode_difference, "U32"},
    {"VABSDIFF4", decode_difference, "U8 ACC"},
    {"PLOP3 UPLOP3", decode_plop3, "LUT"},
    {"P2R UP2UR R2P", decode_packed, ""},
    {"R2UR", decode_first, ""},
    {NULL, NULL, NULL},
};
