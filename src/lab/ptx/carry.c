/* Sums in several words: add.cc, addc, sub.cc, subc, mad.cc and madc. The carry of a lane is a bit of its frame; a
 * subtraction adds the complement, so that it is set where nothing is borrowed (nvcc's divisions read it so by addc).
 */
#include <string.h>

#include "lab/ptx/execute.h"

enum { ADDS, SUBTRACTS, MULTIPLIES };
__extension__ typedef unsigned __int128 u128;

bool ptx_decode_carry(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    const ptx_type type = ptx_type_of(s->words[s->word_count - 1]);
    const bool wide = ptx_size_of(type) == 8;
    const int sources = s->words[0][0] == 'm' ? 3 : 2;
    if (!ptx_only(parser, s, "lo hi cc"))
        return false;
    if (ptx_is_float(type) || ptx_size_of(type) < 4 || s->operand_count != 1 + sources)
        return ptx_wrong_form(parser, s);
    inst->mode = sources == 3 ? MULTIPLIES : s->words[0][0] == 's' ? SUBTRACTS : ADDS;
    inst->submode = s->words[0][strlen(s->words[0]) - 1] == 'c'; /* the carry is added */
    inst->combine = ptx_has(s, "cc");                            /* and written */
    inst->columns = ptx_has(s, "hi");                            /* of the product */
    inst->type = (uint8_t)type;
    inst->d_class = wide ? 'd' : 'w';
    inst->sources = (uint8_t)sources;
    inst->d[0] = ptx_row(parser, s->operands[0], (char)inst->d_class);
    for (int i = 0; i < sources; i++)
        inst->s[i] = ptx_row(parser, s->operands[1 + i], (char)inst->d_class);
    inst->execute = ptx_run_carry;
    return true;
}

static uint64_t value_in(const warp_frame *frame, const warp_inst *inst, int source, uint32_t lane)
{
    return inst->d_class == 'd' ? warp_longs(frame, inst->s[source])[lane] : warp_words(frame, inst->s[source])[lane];
}

/* Half of a product of 32 or 64 bits. */
static uint64_t product(uint64_t a, uint64_t b, bool wide, bool is_signed, bool high)
{
    if (!wide) {
        const uint64_t all = is_signed ? (uint64_t)((int64_t)(int32_t)a * (int32_t)b) : a * b;
        return high ? all >> 32 : all & UINT32_MAX;
    }
    const u128 all = (u128)a * b;
    uint64_t top = (uint64_t)(all >> 64);
    if (is_signed)
        top -= ((int64_t)a < 0 ? b : 0) + ((int64_t)b < 0 ? a : 0);
    return high ? top : (uint64_t)all;
}

void ptx_run_carry(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const bool wide = inst->d_class == 'd';
    WARP_ACTIVE_LANES(lanes)
    {
        uint64_t a = value_in(frame, inst, 0, l), b = value_in(frame, inst, 1, l);
        const bool subtracts = inst->mode == SUBTRACTS;
        const uint64_t in = inst->submode && (frame->carry >> l & 1) != subtracts;
        if (inst->mode == MULTIPLIES) {
            a = product(a, b, wide, ptx_is_signed((ptx_type)inst->type), inst->columns);
            b = value_in(frame, inst, 2, l);
        }
        const u128 all = subtracts ? (u128)a - b - in : (u128)a + b + in;
        const uint32_t out = (uint32_t)(all >> (wide ? 64 : 32) & 1) ^ subtracts;
        if (wide)
            warp_longs(frame, inst->d[0])[l] = (uint64_t)all;
        else
            warp_words(frame, inst->d[0])[l] = (uint32_t)all;
        if (inst->combine)
            frame->carry = (frame->carry & ~(UINT32_C(1) << l)) | out << l;
    }
}
