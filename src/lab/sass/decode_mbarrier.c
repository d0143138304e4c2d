/* Barriers in shared memory and copies by the bulk engine (sm_90 on). What they do is the PTX instructions'
 * (ptx/mbarrier.c); their cost in wavefronts is not known, and none is counted. */
#include <string.h>

#include "lab/ptx/execute.h"
#include "lab/sass/sass.h"

static bool refuse(sass_parser *parser, const sass_line *line)
{
    return sass_refuse(parser, line, "a barrier in shared memory of this form");
}

/* The last operand that is given, as source 1; of none, and RZ, which stands for none, sources stay 1. */
static bool set_value(sass_parser *parser, const sass_line *line, int operand, warp_inst *inst)
{
    inst->s[1] = operand < line->count ? sass_row(parser, &line->operands[operand], 1, false) : WARP_NO_ROW;
    inst->sources = 2;
    return inst->s[1] != WARP_NO_ROW || refuse(parser, line);
}

/* SYNCS.ARRIVE.TRANS64.A1T0 to, address, RZ: a thread arrives; .ART0: as many as a register says; without: a thread
 * arrives and expects bytes; .A0TR: bytes alone are expected; .A0T1: undone by the ARRIVES behind it; .OPTOUT: drops */
static bool decode_arrive(sass_parser *parser, const sass_line *line, warp_inst *inst)
{
    const bool drops = sass_has(line, "OPTOUT");
    inst->mode = sass_has(line, "A0TR") ? PTX_MBARRIER_EXPECT : drops ? PTX_MBARRIER_DROP : PTX_MBARRIER_ARRIVE;
    inst->from_type = !sass_has(line, "A0TR") && !sass_has(line, "A1T0") && !sass_has(line, "ART0");
    if (line->operands[0].kind == SASS_REGISTER && line->operands[0].number != SASS_RZ)
        inst->d[0] = sass_to(parser, &line->operands[0]);
    else if (line->operands[0].kind != SASS_REGISTER && line->operands[0].kind != SASS_UNIFORM)
        return refuse(parser, line);
    return sass_has(line, "A1T0") || set_value(parser, line, 2, inst);
}

/* SYNCS.EXCH.64 URZ, address, UR4: makes one; SYNCS.PHASECHK.TRANS64{.TRYWAIT} p, address, phase << 31;
 * SYNCS.CCTL.IV address: it is one no longer */
static bool decode_syncs(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *)
{
    const bool ends = sass_has(line, "CCTL");
    if (sass_has(line, "A0T1"))
        return true;
    const int at = ends ? 0 : 1;
    inst->d[0] = WARP_NO_ROW;
    inst->dests = 0;
    inst->sources = 1;
    inst->execute = ptx_run_mbarrier;
    if (line->count != (ends ? 1 : 3) || !sass_set_address(parser, line, at, WARP_SHARED, inst))
        return refuse(parser, line);
    if (ends) {
        inst->mode = PTX_MBARRIER_INVAL;
        return true;
    }
    if (sass_has(line, "EXCH")) {
        inst->mode = PTX_MBARRIER_INIT;
        return line->operands[0].number == SASS_RZ ? set_value(parser, line, 2, inst) : refuse(parser, line);
    }
    if (sass_has(line, "PHASECHK")) {
        inst->mode = PTX_MBARRIER_WAIT_PARITY;
        inst->d[0] =
            sass_is_predicate(&line->operands[0]) ? sass_predicate_to(parser, &line->operands[0]) : WARP_NO_ROW;
        return set_value(parser, line, 2, inst);
    }
    return sass_has(line, "ARRIVE") ? decode_arrive(parser, line, inst) : refuse(parser, line);
}

/* ARRIVES.LDGSTSBAR.64.ARVCNT address: copies that are done arrive; .TRANSCNT: in place of the one that is expected */
static bool decode_arrives(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *)
{
    if (!sass_has(line, "ARVCNT"))
        return true;
    inst->d[0] = WARP_NO_ROW;
    inst->dests = 0;
    inst->sources = 1;
    inst->mode = PTX_MBARRIER_ARRIVE;
    inst->execute = ptx_run_mbarrier;
    return (line->count == 1 && sass_set_address(parser, line, 0, WARP_SHARED, inst)) || refuse(parser, line);
}

/* UBLKCP.S.G [UR4], [UR6], UR9: to shared memory; UR5 is the barrier, UR9 counts 16 bytes. UBLKCP.G.S: from it */
static bool decode_bulk(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *)
{
    const bool in = line->word_count == 3 && !strcmp(line->words[1], "S") && !strcmp(line->words[2], "G");
    const bool out = line->word_count == 3 && !strcmp(line->words[1], "G") && !strcmp(line->words[2], "S");
    if ((!in && !out) || line->count != 3 || line->operands[2].kind != SASS_UNIFORM)
        return refuse(parser, line);
    for (int i = 0; i < 2; i++)
        if (line->operands[i].kind != SASS_MEMORY || line->operands[i].number != SASS_RZ ||
            line->operands[i].uniform == SASS_NO_UNIFORM || line->operands[i].offset)
            return refuse(parser, line);
    const uint32_t first = parser->uniforms + (uint32_t)line->operands[0].uniform * SASS_WORD_ROW;
    const uint32_t second = parser->uniforms + (uint32_t)line->operands[1].uniform * SASS_WORD_ROW;
    if (!sass_set_address(parser, line, in ? 0 : 1, WARP_SHARED, inst))
        return false;
    inst->add = WARP_NO_ROW; /* the rows are the addresses */
    inst->s[0] = in ? first : second;
    inst->s[1] = in ? second : first;
    inst->s[2] = sass_row(parser, &line->operands[2], 1, false);
    inst->s[3] = first + SASS_WORD_ROW;
    inst->mode = in;
    inst->sources = 3 + in;
    inst->dests = 0;
    inst->execute = ptx_run_bulk;
    return true;
}

const sass_decoder_row sass_mbarrier_decoders[] = {
    {"SYNCS", decode_syncs, "EXCH 64 ARRIVE TRANS64 A1T0 ART0 A0TR A1TR A0T1 RED OPTOUT PHASECHK TRYWAIT CCTL IV"},
    {"ARRIVES", decode_arrives, "LDGSTSBAR 64 ARVCNT TRANSCNT"},
    {"UBLKCP", decode_bulk, "S G"},
    {"UTMACMDFLUSH", sass_decode_nothing, ""},
    {NULL, NULL, NULL},
};
