/* cvt: common conversions are rows of lanes_convert.c; all others go through a wide number here. */
#include <fenv.h>
#include <math.h>
#include <string.h>

#include "lab/ptx/execute.h"
#include "lab/ptx/half.h"
#include "lab/ptx/lanes.h"
#include "lab/ptx/matrix.h"

static const char *const roundings[] = {"", "rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi"};

/* A narrow integer with a sign fills a wider register with it. Registers of 16 and of 32 bits are both words here. */
static bool fills_word(ptx_parser *parser, ptx_text operand, ptx_type to)
{
    const ptx_symbol *s = ptx_find(parser, ptx_trim(operand));
    return s && s->kind == PTX_REGISTER && ptx_size_of(s->type) == 4 && ptx_is_signed(to) && ptx_size_of(to) < 4;
}

static bool is_pair(ptx_type type)
{
    return type == PTX_F16X2 || type == PTX_BF16X2 || type == PTX_E4M3X2 || type == PTX_E5M2X2;
}

/* cvt.rn.satfinite.relu.e4m3x2.f32 to, high, low and cvt.rn.f16x2.e4m3x2 to, from */
static bool decode_pair(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    inst->sources = inst->from_type == PTX_F32 ? 2 : 1;
    if ((inst->sources == 1 && !is_pair((ptx_type)inst->from_type)) || s->operand_count != 1 + inst->sources ||
        ptx_has(s, "sat") || ptx_has(s, "pack"))
        return ptx_unsupported(parser, s, "the conversion");
    inst->saturate = ptx_has(s, "satfinite");
    inst->submode = ptx_has(s, "relu");
    inst->d[0] = ptx_row(parser, s->operands[0], 'w');
    for (int i = 0; i < inst->sources; i++)
        inst->s[i] = ptx_row(parser, s->operands[1 + i], 'w');
    inst->execute = ptx_run_convert_pair;
    return true;
}

bool ptx_decode_convert(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    if (ptx_has(s, "tf32")) {
        if (ptx_decode_tf32(parser, s, inst))
            return true;
        ptx_refuse(parser, s->opcode.at, "a conversion to tf32 other than cvt.rna.tf32.f32 is not supported");
        return false;
    }
    char name[96] = "cvt";
    size_t used = 3;
    int types = 0;
    if (!ptx_only(parser, s, "rn rz rm rp rni rzi rmi rpi ftz sat pack relu satfinite"))
        return false;
    for (int i = 1; i < s->word_count && used < sizeof name; i++)
        used += (size_t)snprintf(name + used, sizeof name - used, ".%s", s->words[i]);
    const warp_lane_row *row = warp_lane_row_find(name);
    if (row) {
        const int sources = (int)strlen(row->operands) - 1;
        const bool narrow = row->operands[1] == 'w' && s->operand_count == 2 &&
                            ptx_class(parser, s->operands[1]) == 'd' && ptx_find(parser, s->operands[1]);
        const bool widen = row->operands[0] == 'w' && ptx_class(parser, s->operands[0]) == 'd';
        const ptx_type to = ptx_type_of(s->words[s->word_count > 2 ? s->word_count - 2 : 1]);
        const bool fills = sources == 1 && fills_word(parser, s->operands[0], to);
        if (s->operand_count == 1 + sources && !narrow && !widen && !fills)
            return ptx_decode_alu(parser, s, inst);
    }
    for (int i = 1; i < s->word_count; i++) {
        const ptx_type type = ptx_type_of(s->words[i]);
        if (type != PTX_NONE && types++ == 0)
            inst->type = (uint8_t)type;
        else if (type != PTX_NONE)
            inst->from_type = (uint8_t)type;
        for (int k = PTX_RN; k <= PTX_RPI; k++)
            if (!strcmp(s->words[i], roundings[k]))
                inst->mode = (uint8_t)k;
    }
    const ptx_type to = (ptx_type)inst->type, from = (ptx_type)inst->from_type;
    if (types == 2 && is_pair(to))
        return decode_pair(parser, s, inst);
    if (types != 2 || s->operand_count != 2 || is_pair(from) || to == PTX_PRED || from == PTX_PRED ||
        ptx_has(s, "pack") || ptx_has(s, "relu") || ptx_has(s, "satfinite"))
        return ptx_unsupported(parser, s, "the conversion");
    inst->flush = ptx_has(s, "ftz");
    inst->saturate = ptx_has(s, "sat");
    inst->d_class = (uint8_t)ptx_class(parser, s->operands[0]);
    inst->d[0] = ptx_row(parser, s->operands[0], (char)inst->d_class);
    inst->columns = fills_word(parser, s->operands[0], to);
    const bool is_register = ptx_find(parser, s->operands[1]) != NULL;
    inst->source_wide = is_register ? ptx_class(parser, s->operands[1]) == 'd' : ptx_size_of(from) == 8;
    inst->s[0] = ptx_row(parser, s->operands[1], inst->source_wide ? 'd' : 'w');
    inst->sources = 1;
    inst->execute = ptx_run_convert;
    return true;
}

static double read_float(uint64_t bits, ptx_type type)
{
    double value;
    if (type == PTX_E4M3X2) {
        const int magnitude = (int)(bits & 0x7f), exponent = magnitude >> 3, mantissa = magnitude & 7;
        value = magnitude == 0x7f ? (double)NAN : exponent ? ldexp(8 + mantissa, exponent - 10) : ldexp(mantissa, -9);
        return bits & 0x80 ? -value : value;
    }
    if (type == PTX_E5M2X2)
        return (double)warp_half_float((uint32_t)bits << 8 & 0xffff);
    if (type == PTX_F16 || type == PTX_F16X2)
        return (double)warp_half_float((uint32_t)bits & 0xffff);
    if (type == PTX_BF16 || type == PTX_BF16X2)
        return (double)warp_bf16_float((uint32_t)bits & 0xffff);
    if (type == PTX_F32)
        return (double)warp_bits_float((uint32_t)bits);
    memcpy(&value, &bits, 8);
    return value;
}

/* The float nearest, or next towards zero, minus or plus infinity. */
static float round_float(double value, int mode)
{
    float near = (float)value;
    if ((double)near == value || value != value)
        return near;
    const bool above = (double)near > value;
    if ((mode == PTX_RZ && above == (value > 0)) || (mode == PTX_RM && above) || (mode == PTX_RP && !above))
        near = nextafterf(near, above ? -INFINITY : INFINITY);
    return near;
}

/* A number as a float of 16 or 8 bits; with `finite` none becomes infinite. */
static uint32_t small_float(double value, ptx_type type, int mode, bool finite)
{
    static const struct {
        int mantissa, least; /* bits behind the point; the exponent below which there are none finer */
        uint32_t most, nan, sign;
    } formats[] = {[PTX_F16] = {10, -14, 0x7bff, 0x7fff, 0x8000},  [PTX_F16X2] = {10, -14, 0x7bff, 0x7fff, 0x8000},
                   [PTX_BF16] = {7, -126, 0x7f7f, 0x7fff, 0x8000}, [PTX_BF16X2] = {7, -126, 0x7f7f, 0x7fff, 0x8000},
                   [PTX_E4M3X2] = {3, -6, 0x7e, 0x7f, 0x80},       [PTX_E5M2X2] = {2, -14, 0x7b, 0x7f, 0x80}};
    const double magnitude = fabs(value);
    if (value != value)
        return formats[type].nan;
    const bool down = mode == PTX_RZ || mode == (signbit(value) ? PTX_RP : PTX_RM);
    const bool up = mode == (signbit(value) ? PTX_RM : PTX_RP), infinite = isinf(value);
    const int exponent =
        fmax(logb(magnitude), formats[type].least) < 1024 ? (int)fmax(logb(magnitude), formats[type].least) : 1024;
    const double steps = ldexp(infinite ? 0 : magnitude, formats[type].mantissa - exponent);
    uint32_t bits = (uint32_t)(exponent - formats[type].least) << formats[type].mantissa;
    bits += (uint32_t)(down ? floor(steps) : up ? ceil(steps) : rint(steps));
    if (bits > formats[type].most)
        bits = formats[type].most + !(finite || (down && !infinite));
    return bits | (signbit(value) ? formats[type].sign : 0);
}

static uint64_t write_float(double value, ptx_type type, ptx_type from, int mode)
{
    uint64_t bits;
    if (type == PTX_F16 && from == PTX_F64 && value != value)
        return warp_half_of_double(value);
    if (ptx_size_of(type) == 2)
        return small_float(value, type, mode, false);
    if (type == PTX_F32)
        return warp_float_bits(from == PTX_F64 ? round_float(value, mode) : warp_one_nan(round_float(value, mode)));
    value = warp_quiet(value);
    memcpy(&bits, &value, 8);
    return bits;
}

static double to_integer(double value, int mode)
{
    return mode == PTX_RNI || mode == PTX_RN ? rint(value)
           : mode == PTX_RMI                 ? floor(value)
           : mode == PTX_RPI                 ? ceil(value)
                                             : trunc(value);
}

static uint64_t low_bits(uint64_t value, ptx_type type)
{
    const uint32_t bytes = ptx_size_of(type);
    return bytes == 8 ? value : value & ((UINT64_C(1) << (8 * bytes)) - 1);
}

/* For a value that is extended to 64 bits: what a register of 32 or 64 bits holds. */
static int64_t extend(uint64_t bits, ptx_type type)
{
    const uint32_t shift = 64 - 8 * ptx_size_of(type);
    return ptx_is_signed(type) ? (int64_t)(bits << shift) >> shift : (int64_t)(bits << shift >> shift);
}

static uint64_t float_to_integer(double value, ptx_type to, ptx_type from, int mode)
{
    const double bits = (double)(8 * ptx_size_of(to)), whole = to_integer(value, mode);
    const double top = ldexp(1.0, (int)bits - ptx_is_signed(to)), bottom = ptx_is_signed(to) ? -top : 0;
    if (value != value) /* of doubles, and in 64 bits, the sign's bit (an H200) */
        return ptx_size_of(to) == 8                      ? UINT64_C(1) << 63
               : from == PTX_F64 && ptx_size_of(to) == 4 ? UINT64_C(1) << 31
                                                         : 0;
    if (whole >= top)
        return ptx_is_signed(to) ? UINT64_MAX >> (65 - (int)bits) : UINT64_MAX >> (64 - (int)bits);
    if (whole <= bottom)
        return ptx_is_signed(to) ? low_bits(UINT64_C(1) << ((int)bits - 1), to) : 0;
    return low_bits(ptx_is_signed(to) ? (uint64_t)(int64_t)whole : (uint64_t)whole, to);
}

static uint64_t saturate_integer(int64_t value, bool from_unsigned, ptx_type to)
{
    const int bits = 8 * (int)ptx_size_of(to);
    if (ptx_is_signed(to)) {
        const int64_t top = INT64_MAX >> (64 - bits);
        if (from_unsigned && (uint64_t)value > (uint64_t)top)
            return (uint64_t)top;
        return (uint64_t)(value > top ? top : value < -top - 1 ? -top - 1 : value);
    }
    const uint64_t top = UINT64_MAX >> (64 - bits);
    if (!from_unsigned && value < 0)
        return 0;
    return (uint64_t)value > top ? top : (uint64_t)value;
}

uint64_t ptx_converted(const warp_inst *inst, uint64_t bits)
{
    const ptx_type to = (ptx_type)inst->type, from = (ptx_type)inst->from_type;
    if (ptx_is_float(from)) {
        double value = read_float(bits, from);
        if (inst->flush && from == PTX_F32 && fabs(value) < 0x1p-126)
            value = copysign(0.0, value);
        if (!ptx_is_float(to))
            return float_to_integer(value, to, from, inst->mode);
        if (inst->mode >= PTX_RNI)
            value = to_integer(value, inst->mode);
        if (inst->saturate)
            value = value > 0 ? value < 1 ? value : 1 : 0;
        const uint64_t result = write_float(value, to, from, inst->mode);
        return inst->flush && to == PTX_F32 && !(result & 0x7f800000) ? result & 0x80000000 : result;
    }
    const int64_t value = extend(bits, from);
    const bool is_unsigned = !ptx_is_signed(from);
    if (!ptx_is_float(to))
        return inst->saturate ? saturate_integer(value, is_unsigned, to) : (uint64_t)value;
    static const int directions[] = {FE_TONEAREST, FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    volatile const int64_t whole = value;
    fesetround(inst->mode <= PTX_RP ? directions[inst->mode] : FE_TONEAREST);
    volatile const float single =
        is_unsigned ? (float)(uint64_t)whole : (float)whole; /* once rounded, of 64 bits too */
    volatile const double exact = is_unsigned ? (double)(uint64_t)whole : (double)whole;
    fesetround(FE_TONEAREST);
    return to == PTX_F32 ? warp_float_bits(single) : write_float(exact, to, from, inst->mode);
}

void ptx_run_convert(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const ptx_type to = (ptx_type)inst->type;
    WARP_ACTIVE_LANES(lanes)
    {
        const uint64_t bits = inst->source_wide ? warp_longs(frame, inst->s[0])[l] : warp_words(frame, inst->s[0])[l];
        uint64_t value = ptx_converted(inst, bits);
        /* narrow integers fill their register: with their sign where they have one */
        if (inst->d_class == 'd')
            warp_longs(frame, inst->d[0])[l] = ptx_is_float(to) ? value : (uint64_t)extend(value, to);
        else if (inst->columns)
            warp_words(frame, inst->d[0])[l] = (uint32_t)extend(value, to);
        else if (ptx_size_of(to) == 1 && ptx_is_signed(to))
            warp_words(frame, inst->d[0])[l] = (uint32_t)extend(value, to) & 0xffff;
        else
            warp_words(frame, inst->d[0])[l] = (uint32_t)low_bits(value, to);
    }
}

uint32_t ptx_converted_pair(const warp_inst *inst, uint32_t high, uint32_t low)
{
    const ptx_type to = (ptx_type)inst->type;
    const uint32_t from[2] = {low, high};
    uint32_t bits = 0;
    for (int i = 0; i < 2; i++) {
        const double value = read_float(from[i], (ptx_type)inst->from_type);
        bits |= small_float(inst->submode && value <= 0 ? 0 : value, to, inst->mode, inst->saturate)
                << 4 * ptx_size_of(to) * (uint32_t)i;
    }
    return bits;
}

void ptx_run_convert_pair(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const uint32_t *a = warp_words(frame, inst->s[0]), *b = warp_words(frame, inst->s[inst->sources - 1]);
    const uint32_t shift = inst->sources == 2 ? 0 : 4 * ptx_size_of((ptx_type)inst->from_type);
    WARP_ACTIVE_LANES(lanes) warp_words(frame, inst->d[0])[l] = ptx_converted_pair(inst, a[l] >> shift, b[l]);
}
