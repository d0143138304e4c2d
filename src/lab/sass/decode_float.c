/* Floats, halves, doubles and conversions. */
#include <ctype.h>
#include <string.h>

#include "lab/ptx/execute.h"
#include "lab/ptx/half.h"
#include "lab/ptx/lanes.h"
#include "lab/sass/sass.h"

static void set_modes(const sass_line *line, sass_op *op)
{
    op->flush = sass_has(line, "FTZ");
    op->saturate = sass_has(line, "SAT");
    op->rounding = sass_has(line, "RM") ? 1 : sass_has(line, "RP") ? 2 : sass_has(line, "RZ") ? 3 : 0;
}

/* FMUL.D4: a fourth of the product, here of the factor that is a number. */
static bool scale_product(sass_parser *parser, const sass_line *line, sass_op *op)
{
    static const struct {
        const char *word;
        float by;
    } scales[] = {{"D2", .5f}, {"D4", .25f}, {"D8", .125f}, {"M2", 2}, {"M4", 4}, {"M8", 8}};
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
        if (!sass_has(line, scales[i].word))
            continue;
        if (line->operands[2].kind != SASS_NUMBER)
            return sass_refuse(parser, line, "a scaled product of registers");
        op->source[1] = sass_constant(parser, warp_float_bits((float)line->operands[2].real * scales[i].by), 0);
    }
    return true;
}

/* What changes nothing of its sources and result is PTX's instruction. */
static void run_as_ptx(warp_inst *inst, const sass_op *op, int sources, const char *name)
{
    if (op->flush || op->saturate || op->rounding)
        return;
    for (int i = 0; i < sources; i++)
        if (op->change[i] || op->shift[i] != SASS_WHOLE)
            return;
    inst->alu = warp_lane_row_find(name)->alu;
    inst->execute = ptx_run_alu;
    inst->d_class = 'w';
    inst->d[0] = op->to;
    memcpy(inst->s, op->source, (size_t)sources * sizeof *inst->s);
}

static bool decode_arithmetic(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    const char *name = line->words[0];
    const int sources = !strcmp(name, "FFMA") ? 3 : 2;
    const bool adds = !strcmp(name, "FADD");
    set_modes(line, op);
    inst->execute = sass_function_of(sources == 3 ? SASS_FFMA : adds ? SASS_FADD : SASS_FMUL);
    if (!sass_operands(parser, line, op, sources, 1, true) || !scale_product(parser, line, op))
        return false;
    run_as_ptx(inst, op, sources, sources == 3 ? "fma.f32" : adds ? "add.f32" : "mul.f32");
    return true;
}

static bool decode_minmax(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    set_modes(line, op);
    op->mode = sass_has(line, "NAN");
    sass_condition(parser, line, op, 0, 3, true);
    inst->execute = sass_function_of(SASS_FMINMAX);
    return sass_operands(parser, line, op, 2, 1, true);
}

static bool decode_compare(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    const bool is_double = line->words[0][0] == 'D';
    const int words = is_double ? 2 : 1;
    set_modes(line, op);
    if (!sass_comparison(line, op) || line->count < 4 || !sass_is_predicate(&line->operands[0]) ||
        !sass_is_predicate(&line->operands[1]))
        return sass_refuse(parser, line, "this comparison");
    /* DSETP names one predicate where the other is not wanted */
    op->pred_to[0] = sass_predicate_to(parser, &line->operands[0]);
    op->pred_to[1] = sass_predicate_to(parser, &line->operands[1]);
    sass_condition(parser, line, op, 0, 4, true);
    inst->execute = sass_function_of(is_double ? SASS_DCOMPARE : SASS_FCOMPARE);
    return sass_source(parser, line, op, 0, 2, words, true) && sass_source(parser, line, op, 1, 3, words, true);
}

/* DSETP.MAX.AND p, q, a, b, PT */
static bool decode_double_compare(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    op->lut = sass_has(line, "MAX") ? SASS_MAX : sass_has(line, "MIN") ? SASS_MIN : 0;
    if (!op->lut)
        return decode_compare(parser, line, inst, op);
    if (line->count != 5 || line->operands[4].number != SASS_PT || line->operands[4].invert)
        return sass_refuse(parser, line, "this form");
    op->pred_to[0] = sass_predicate_to(parser, &line->operands[0]);
    op->pred_to[1] = sass_predicate_to(parser, &line->operands[1]);
    inst->execute = sass_function_of(SASS_DCOMPARE);
    return sass_source(parser, line, op, 0, 2, 2, true) && sass_source(parser, line, op, 1, 3, 2, true);
}

/* FSET.BF.GT.AND to, a, b, with */
static bool decode_set(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    set_modes(line, op);
    op->wide = true;
    op->high = sass_has(line, "BF");
    if (!sass_comparison(line, op))
        return sass_refuse(parser, line, "this comparison");
    sass_condition(parser, line, op, 0, 3, true);
    inst->execute = sass_function_of(SASS_FCOMPARE);
    return sass_operands(parser, line, op, 2, 1, true);
}

static bool decode_mufu(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    static const char *const functions[] = {"RCP", "RSQ", "SQRT", "EX2",    "LG2",
                                            "SIN", "COS", "TANH", "RCP64H", "RSQ64H"};
    op->mode = UINT8_MAX;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (sass_has(line, functions[i]))
            op->mode = (uint8_t)i;
    inst->execute = sass_run_mufu;
    if (op->mode == UINT8_MAX)
        return sass_refuse(parser, line, "this function");
    if (!sass_operands(parser, line, op, 1, 1, true))
        return false;
    const bool of_double = sass_has(line, "RCP64H") || sass_has(line, "RSQ64H");
    if (of_double && line->operands[1].kind == SASS_NUMBER) /* a double is written, and its high word is meant */
        op->source[0] = sass_row(parser, &line->operands[1], 2, true) + SASS_WORD_ROW;
    return true;
}

/* FMNMX3 to, a, b, c, p: the least, or where p does not hold the greatest (sm_100) */
static bool decode_minmax3(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    if (line->count != 5)
        return sass_refuse(parser, line, "this form");
    set_modes(line, op);
    op->mode = sass_has(line, "NAN");
    sass_condition(parser, line, op, 0, 4, true);
    inst->execute = sass_run_minmax3;
    return sass_operands(parser, line, op, 3, 1, true);
}

static bool decode_check(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    op->pred_to[0] = line->count ? sass_predicate_to(parser, &line->operands[0]) : WARP_NO_ROW;
    inst->execute = sass_run_check_division;
    return sass_source(parser, line, op, 0, 1, 1, true) && sass_source(parser, line, op, 1, 2, 1, true);
}

/* ------------------------------------------------------------------------------------------------ conversions */

/* PTX_NONE: the word names none. */
static ptx_type type_of(const char *word)
{
    char name[sizeof((sass_line *)NULL)->words[0]];
    size_t size = 0;
    for (; word[size]; size++)
        name[size] = (char)tolower((unsigned char)word[size]);
    name[size] = 0;
    return ptx_type_of(name);
}

/* A source of one half. */
static bool half_source(sass_parser *parser, const sass_line *line, sass_op *op, int operand)
{
    if (!sass_source(parser, line, op, 0, operand, 1, false))
        return false;
    op->change[0] = (uint16_t)((line->operands[operand].absolute ? SASS_ABS_HALVES : 0) |
                               (line->operands[operand].negate ? SASS_NEGATE_HALVES : 0));
    return true;
}

/* I2F.F64.S16.RP, F2I.FTZ.U32.F64.TRUNC, F2F.F64.F32, FRND.F64.FLOOR: the result's type, then the source's; F32 and S32
 * need not be named. */
static bool decode_convert(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    static const struct {
        const char *word;
        uint8_t mode;
    } modes[] = {{"RM", PTX_RM},     {"RP", PTX_RP},    {"RZ", PTX_RZ},
                 {"FLOOR", PTX_RMI}, {"CEIL", PTX_RPI}, {"TRUNC", PTX_RZI}};
    const bool of_integer = strstr(line->words[0], "I2F"), to_integer = !strcmp(line->words[0], "F2I");
    const bool rounds = !strcmp(line->words[0], "FRND");
    ptx_type to = to_integer ? PTX_S32 : PTX_F32, from = of_integer ? PTX_S32 : PTX_F32;
    int count = 0;
    inst->mode = to_integer || rounds ? PTX_RNI : PTX_RN;
    for (int i = 1; i < line->word_count; i++) {
        const ptx_type type = type_of(line->words[i]);
        for (size_t k = 0; k < sizeof modes / sizeof modes[0]; k++)
            inst->mode = strcmp(line->words[i], modes[k].word) != 0 ? inst->mode : modes[k].mode;
        if (type == PTX_NONE)
            continue;
        const bool of_result = of_integer || to_integer ? ptx_is_float(type) == of_integer : !count || rounds;
        *(of_result ? &to : &from) = type;
        from = rounds ? to : from;
        count++;
    }
    const bool half = ptx_size_of(from) == 2 && !of_integer;
    if ((!of_integer && !to_integer && !rounds && count != 2) ||
        (of_integer && ptx_size_of(to) == 2 && ptx_size_of(from) == 8))
        return sass_refuse(parser, line, "this conversion");
    inst->type = (uint8_t)to;
    inst->from_type = (uint8_t)from;
    inst->flush = sass_has(line, "FTZ");
    inst->execute = sass_run_convert;
    return sass_result(parser, line, op, 0) &&
           (half ? half_source(parser, line, op, 1)
                 : sass_source(parser, line, op, 0, 1, ptx_size_of(from) == 8 ? 2 : 1, !of_integer));
}

/* ------------------------------------------------------------------------------------------------ halves */

/* A source of two halves: a register, or two numbers, the high one first. */
static bool halves_source(sass_parser *parser, const sass_line *line, sass_op *op, int slot, int *at, bool bf16)
{
    const sass_operand *o = &line->operands[*at];
    if (*at + 1 < line->count && o->kind == SASS_NUMBER && o[1].kind == SASS_NUMBER) {
        const uint32_t high = bf16 ? warp_bf16_bits((float)o->real) : warp_half_bits(o->real);
        const uint32_t low = bf16 ? warp_bf16_bits((float)o[1].real) : warp_half_bits(o[1].real);
        op->source[slot] = sass_constant(parser, (low & 0xffff) | high << 16, 0);
        *at += 2;
        return true;
    }
    if (!sass_source(parser, line, op, slot, *at, 1, true))
        return false;
    op->shift[slot] = SASS_WHOLE;
    op->change[slot] = (uint16_t)((o->half == 1   ? SASS_LOW_HALF
                                   : o->half == 2 ? SASS_HIGH_HALF
                                                  : 0) |
                                  (o->negate ? SASS_NEGATE_HALVES : 0) | (o->absolute ? SASS_ABS_HALVES : 0));
    *at += 1;
    return true;
}

static bool decode_halves(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    const char *name = line->words[0];
    const bool bf16 = sass_has(line, "BF16_V2"), least = !strcmp(name, "HMNMX2");
    const int sources = !strcmp(name, "HFMA2") ? 3 : 2;
    int at = 1;
    set_modes(line, op);
    op->mode = sources == 3 ? SASS_FUSES : !strcmp(name, "HADD2") ? SASS_ADDS : least ? SASS_LEASTS : SASS_MULTIPLIES;
    op->submode = bf16;
    op->high = sass_has(line, "RELU");
    op->wrap = sass_has(line, "NAN");
    if (sass_has(line, "F32")) { /* HADD2.F32 to, -RZ, a.H0_H0: the float of a half */
        if (op->mode != SASS_ADDS || line->count != 3 || line->operands[1].number != SASS_RZ || bf16)
            return sass_refuse(parser, line, "a sum of halves as a float");
        inst->type = PTX_F32;
        inst->from_type = PTX_F16;
        inst->execute = sass_run_convert;
        return sass_result(parser, line, op, 0) && half_source(parser, line, op, 2);
    }
    inst->execute = sass_function_of(SASS_HALVES);
    if (!sass_result(parser, line, op, 0))
        return false;
    for (int i = 0; i < sources; i++)
        if (at >= line->count || !halves_source(parser, line, op, i, &at, bf16))
            return sass_refuse(parser, line, "an operand is missing");
    if (least) {
        op->is_signed = true;
        if (at >= line->count || line->operands[at].number != SASS_PT)
            return sass_refuse(parser, line, "a choice by a predicate");
        op->is_signed = !line->operands[at].invert;
    }
    return !(bf16 && op->saturate) || sass_refuse(parser, line, "bfloat16 of this form");
}

/* HSETP2.GT.AND p, q, a, b, with: of the low and the high halves. HSET2.BF.GT.AND to, a, b, with: halves of ones, or
 * with .BF 1.0, where it holds. */
static bool decode_half_compare(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    op->wide = !strcmp(line->words[0], "HSET2");
    op->carry = sass_has(line, "BF");
    int at = op->wide ? 1 : 2;
    op->high = sass_has(line, "BF16_V2");
    if (!sass_comparison(line, op) || line->count < at + 2 || (op->wide && !sass_result(parser, line, op, 0)))
        return sass_refuse(parser, line, "this comparison");
    for (int i = 0; i < 2 && !op->wide; i++)
        op->pred_to[i] = sass_predicate_to(parser, &line->operands[i]);
    for (int i = 0; i < 2; i++)
        if (at >= line->count || !halves_source(parser, line, op, i, &at, op->high))
            return false;
    sass_condition(parser, line, op, 0, at, true);
    inst->execute = sass_run_half_compare;
    return true;
}

/* F2FP.F16.F32.PACK_AB to, high, low; of 8.x F2FP.PACK_AB. F2FP.SATFINITE.E4M3.F32.PACK_AB_MERGE_C to, high, low, RZ;
 * F2FP.F16.E4M3.UNPACK_B to, from */
static bool decode_pack(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    static const struct {
        const char *word;
        ptx_type type;
    } types[] = {
        {"F16", PTX_F16X2}, {"BF16", PTX_BF16X2}, {"E4M3", PTX_E4M3X2}, {"E5M2", PTX_E5M2X2}, {"F32", PTX_F32}};
    const bool merges = sass_has(line, "PACK_AB_MERGE_C") || sass_has(line, "UNPACK_B_MERGE_C");
    const int sources = sass_has(line, "PACK_AB") || sass_has(line, "PACK_AB_MERGE_C") ? 2 : 1;
    int count = 0;
    inst->type = PTX_F16X2;
    inst->from_type = PTX_F32;
    for (int i = 1; i < line->word_count; i++)
        for (size_t k = 0; k < sizeof types / sizeof types[0]; k++)
            if (!strcmp(line->words[i], types[k].word))
                *(count++ ? &inst->from_type : &inst->type) = (uint8_t)types[k].type;
    inst->mode = sass_has(line, "RZ") ? PTX_RZ : PTX_RN;
    inst->saturate = sass_has(line, "SATFINITE");
    inst->submode = sass_has(line, "RELU");
    op->submode = inst->type == PTX_BF16X2;
    const bool plain = ptx_size_of((ptx_type)inst->type) == 4 && inst->mode == PTX_RN && !inst->submode;
    inst->execute = plain && sources == 2 ? sass_run_pack_halves : sass_run_convert_pair;
    if ((sources == 2) != (inst->from_type == PTX_F32) || inst->type == PTX_F32 ||
        (merges && (line->count != sources + 2 || line->operands[sources + 1].number != SASS_RZ)))
        return sass_refuse(parser, line, "this conversion");
    return sources == 2 ? sass_operands(parser, line, op, 2, 1, true)
                        : sass_result(parser, line, op, 0) && sass_source(parser, line, op, 0, 1, 1, false);
}

/* ------------------------------------------------------------------------------------------------ doubles */

static bool decode_doubles(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op)
{
    const char *name = line->words[0];
    const int sources = !strcmp(name, "DFMA") ? 3 : 2;
    set_modes(line, op);
    op->mode = sources == 3 ? SASS_FUSES : !strcmp(name, "DADD") ? SASS_ADDS : SASS_MULTIPLIES;
    inst->execute = sass_function_of(SASS_DOUBLES);
    return sass_operands(parser, line, op, sources, 2, true);
}

#define ROUNDINGS "FTZ SAT RN RM RP RZ"
#define TESTS     "LT EQ LE GT NE GE NUM NAN LTU EQU LEU GTU NEU GEU AND OR XOR FTZ"
const sass_decoder_row sass_float_decoders[] = {
    {"FADD FFMA", decode_arithmetic, ROUNDINGS},
    {"FMUL", decode_arithmetic, ROUNDINGS " D2 D4 D8 M2 M4 M8"},
    {"FMNMX", decode_minmax, "FTZ NAN"},
    {"FMNMX3", decode_minmax3, "FTZ NAN"},
    {"FSETP", decode_compare, TESTS},
    {"DSETP", decode_double_compare, TESTS " MAX MIN"},
    {"FSET", decode_set, TESTS " BF"},
    {"MUFU", decode_mufu, "RCP RSQ SQRT EX2 LG2 SIN COS TANH RCP64H RSQ64H"},
    {"FCHK", decode_check, "DIVIDE"},
    {"I2F UI2F", decode_convert, "F64 F32 F16 BF16 U8 S8 U16 S16 U32 S32 U64 S64 RN RM RP RZ"},
    {"I2FP", decode_convert, "F32 U32 S32 RN RM RP RZ"},
    {"F2I", decode_convert, "FTZ U32 S32 U64 S64 F64 F32 F16 BF16 TRUNC FLOOR CEIL NTZ"},
    {"F2F", decode_convert, "F16 F32 F64 BF16 FTZ RN"},
    {"FRND", decode_convert, "FTZ F64 F32 F16 BF16 FLOOR CEIL TRUNC"},
    {"HADD2", decode_halves, "F32 SAT BF16_V2"},
    {"HMUL2", decode_halves, "SAT BF16_V2"},
    {"HFMA2", decode_halves, "MMA SAT RELU BF16_V2"},
    {"HMNMX2", decode_halves, "BF16_V2 NAN"},
    {"HSETP2 HSET2", decode_half_compare, "BF LT EQ LE GT NE GE NUM NAN LTU EQU LEU GTU NEU GEU AND OR XOR BF16_V2"},
    {"F2FP", decode_pack, "F16 BF16 F32 E4M3 E5M2 PACK_AB PACK_AB_MERGE_C UNPACK_B UNPACK_B_MERGE_C SATFINITE RELU RZ"},
    {"DADD DMUL DFMA", decode_doubles, "RN RM RP RZ"},
    {NULL, NULL, NULL},
};
