/* Instructions in which lanes of a warp, or warps of a block, work together: barriers, shuffles, votes, reductions. */
#include <string.h>

#include "lab/ptx/execute.h"

/* modes */
enum { UP, DOWN, BFLY, IDX };
enum { ALL, ANY, UNI, BALLOT };

bool ptx_wrong_form(ptx_parser *parser, const ptx_statement *s)
{
    ptx_refuse(parser, s->opcode.at, "this form of '%.*s' is not supported",
               (int)(s->opcode.size < 80 ? s->opcode.size : 80), s->opcode.at);
    return false;
}

static int choice(const ptx_statement *s, const char *const *words, int count)
{
    for (int i = 0; i < count; i++)
        if (ptx_has(s, words[i]))
            return i;
    return -1;
}

/* bar.sync a{, b}; bar.red.popc.u32 d, a{, b}, {!}p; barrier.cta; bar.warp.sync */
static bool decode_barrier(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    enum { WAIT, ARRIVE, POPC };
    static const char *const reductions[] = {"popc", "and", "or"};
    if (ptx_has(s, "cluster")) {
        inst->flow = WARP_CLUSTER;
        inst->execute = ptx_run_nothing;
        inst->mode = ptx_has(s, "wait");
        parser->code->in_clusters = true;
        return (ptx_only(parser, s, "cluster arrive wait release relaxed acquire aligned") && !s->operand_count &&
                ptx_has(s, "arrive") != ptx_has(s, "wait")) ||
               ptx_wrong_form(parser, s);
    }
    if (!ptx_only(parser, s, "warp sync arrive red popc and or cta aligned"))
        return false;
    if (ptx_has(s, "warp")) {
        if (s->operand_count != 1)
            return ptx_wrong_form(parser, s);
        inst->s[0] = ptx_row(parser, s->operands[0], 'w');
        inst->sources = 1;
        inst->flow = WARP_MEMBERS;
        inst->submode = 0;
        inst->execute = ptx_run_sync;
        return true;
    }
    const bool reduces = ptx_has(s, "red");
    const int count = s->operand_count - 2 * reduces;
    if (count < 1 || count > 2)
        return ptx_wrong_form(parser, s);
    inst->flow = WARP_BARRIER;
    inst->execute = ptx_run_nothing;
    inst->mode = ptx_has(s, "arrive") ? ARRIVE : WAIT;
    for (int i = 0; i < count; i++)
        inst->s[i] = ptx_row(parser, s->operands[i + reduces], 'w');
    inst->sources = (uint8_t)count;
    if (reduces) {
        ptx_text last = s->operands[s->operand_count - 1];
        const int kind = choice(s, reductions, 3);
        if (last.size && last.at[0] == '!') {
            inst->negate_source = true;
            last = ptx_trim((ptx_text){last.at + 1, last.size - 1});
        }
        inst->mode = (uint8_t)(POPC + kind);
        inst->d[0] = ptx_row(parser, s->operands[0], kind ? 'p' : 'w');
        inst->s[count] = ptx_row(parser, last, 'p');
    }
    return true;
}

static bool decode_shuffle(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    static const char *const kinds[] = {"up", "down", "bfly", "idx"};
    ptx_text dests[2];
    const int kind = choice(s, kinds, 4);
    if (!ptx_only(parser, s, "sync up down bfly idx"))
        return false;
    const int count = ptx_split(s->operands[0], '|', dests, 2);
    const bool sync = ptx_has(s, "sync");
    if (kind < 0 || count < 1 || s->operand_count != 4 + sync)
        return ptx_wrong_form(parser, s);
    inst->mode = (uint8_t)kind;
    inst->dests = (uint8_t)count;
    for (int i = 0; i < count; i++)
        inst->d[i] = ptx_is(dests[i], "_") ? WARP_NO_ROW : ptx_row(parser, dests[i], i ? 'p' : 'w');
    for (int i = 1; i < s->operand_count; i++)
        inst->s[i - 1] = ptx_row(parser, s->operands[i], 'w');
    inst->sources = (uint8_t)(s->operand_count - 1);
    inst->flow = sync ? WARP_MEMBERS : WARP_NEXT;
    inst->submode = 3;
    inst->execute = ptx_run_shuffle;
    return true;
}

static bool decode_vote(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    static const char *const kinds[] = {"all", "any", "uni", "ballot"};
    const int kind = choice(s, kinds, 4);
    if (!ptx_only(parser, s, "sync all any uni ballot"))
        return false;
    const bool sync = ptx_has(s, "sync");
    if (kind < 0 || s->operand_count != 2 + sync)
        return ptx_wrong_form(parser, s);
    ptx_text p = s->operands[1];
    if (p.size && p.at[0] == '!') {
        inst->negate_source = true;
        p = ptx_trim((ptx_text){p.at + 1, p.size - 1});
    }
    inst->mode = (uint8_t)kind;
    inst->d[0] = ptx_row(parser, s->operands[0], kind == BALLOT ? 'w' : 'p');
    inst->s[0] = ptx_row(parser, p, 'p');
    if (sync)
        inst->s[1] = ptx_row(parser, s->operands[2], 'w');
    inst->sources = (uint8_t)(1 + sync);
    inst->flow = sync ? WARP_MEMBERS : WARP_NEXT;
    inst->submode = 1;
    inst->execute = ptx_run_vote;
    return true;
}

static bool decode_match(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    ptx_text dests[2];
    if (!ptx_only(parser, s, "any all sync"))
        return false;
    const int count = ptx_split(s->operands[0], '|', dests, 2);
    if (s->operand_count != 3 || count < 1)
        return ptx_wrong_form(parser, s);
    inst->mode = ptx_has(s, "all");
    inst->source_wide = ptx_size_of(ptx_type_of(s->words[s->word_count - 1])) == 8;
    inst->dests = (uint8_t)count;
    inst->d[0] = ptx_row(parser, dests[0], 'w');
    if (count > 1)
        inst->d[1] = ptx_row(parser, dests[1], 'p');
    inst->s[0] = ptx_row(parser, s->operands[1], inst->source_wide ? 'd' : 'w');
    inst->s[1] = ptx_row(parser, s->operands[2], 'w');
    inst->sources = 2;
    inst->flow = WARP_MEMBERS;
    inst->submode = 1;
    inst->execute = ptx_run_match;
    return true;
}

static bool decode_reduce(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    static const char *const kinds[] = {"add", "min", "max", "and", "or", "xor"};
    const int kind = choice(s, kinds, 6);
    if (!ptx_only(parser, s, "sync add min max and or xor"))
        return false;
    inst->type = (uint8_t)ptx_type_of(s->words[s->word_count - 1]);
    if (kind < 0 || s->operand_count != 3 || ptx_is_float((ptx_type)inst->type))
        return ptx_wrong_form(parser, s);
    inst->mode = (uint8_t)kind;
    inst->d[0] = ptx_row(parser, s->operands[0], 'w');
    inst->s[0] = ptx_row(parser, s->operands[1], 'w');
    inst->s[1] = ptx_row(parser, s->operands[2], 'w');
    inst->sources = 2;
    inst->flow = WARP_MEMBERS;
    inst->submode = 1;
    inst->execute = ptx_run_reduce;
    return true;
}

bool ptx_decode_warp(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    const char *op = s->words[0];
    if (!strcmp(op, "bar") || !strcmp(op, "barrier"))
        return decode_barrier(parser, s, inst);
    if (!strcmp(op, "shfl"))
        return decode_shuffle(parser, s, inst);
    if (!strcmp(op, "vote"))
        return decode_vote(parser, s, inst);
    if (!strcmp(op, "match"))
        return decode_match(parser, s, inst);
    if (!strcmp(op, "redux"))
        return decode_reduce(parser, s, inst);
    if (!strcmp(op, "activemask") && s->operand_count == 1) {
        inst->d[0] = ptx_row(parser, s->operands[0], 'w');
        inst->execute = ptx_run_active;
        return true;
    }
    ptx_text dests[2];
    if (!strcmp(op, "elect") && s->operand_count == 2 && ptx_split(s->operands[0], '|', dests, 2) == 2) {
        inst->d[0] = ptx_is(dests[0], "_") ? WARP_NO_ROW : ptx_row(parser, dests[0], 'w');
        inst->d[1] = ptx_row(parser, dests[1], 'p');
        inst->s[0] = ptx_row(parser, s->operands[1], 'w');
        inst->sources = 1;
        inst->flow = WARP_MEMBERS;
        inst->execute = ptx_run_elect;
        return ptx_only(parser, s, "sync");
    }
    return ptx_wrong_form(parser, s);
}

/* ------------------------------------------------------------------------------------------------ execution */

/* Orders the accesses of the warp's lanes. */
void ptx_run_sync(warp_block *block, warp_frame *frame, const warp_inst *, uint32_t)
{
    enum { MOST_TURNS = 0xffff };
    frame->turn_since = ++block->order.interval;
    if (++frame->turn >= MOST_TURNS) {
        frame->turn = 0;
        warp_order_all(block);
    }
}

/* A value from a lane outside of the mask is undefined. Up and down the last lanes often get one and do not use it. */
static void check_source(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lane, uint32_t from)
{
    if (inst->flow != WARP_MEMBERS || (inst->mode != BFLY && inst->mode != IDX))
        return;
    if (!(warp_words(frame, inst->s[inst->submode])[lane] >> from & 1))
        warp_fault(block, SMP_WARP_BARRIER, inst->index, warp_thread(frame, lane), UINT32_MAX, 0,
                   "a shuffle reads lane %u, which its mask leaves out: the value is undefined", from);
}

/* PTX ISA, shfl: c holds the segment's mask in bits 8-12 and the clamp in bits 0-4. */
void ptx_run_shuffle(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    uint32_t value[WARP_LANES], result[WARP_LANES], inside = 0;
    const uint32_t *b = warp_words(frame, inst->s[1]), *c = warp_words(frame, inst->s[2]);
    memcpy(value, warp_words(frame, inst->s[0]), sizeof value);
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        const uint32_t segment = c[l] >> 8 & 31, clamp = c[l] & 31, by = b[l] & 31;
        const int most = (int)((l & segment) | (clamp & ~segment & 31)), least = (int)(l & segment);
        int from;
        bool in;
        switch (inst->mode) {
        case UP:
            from = (int)l - (int)by;
            in = from >= most;
            break;
        case DOWN:
            from = (int)(l + by);
            in = from <= most;
            break;
        case BFLY:
            from = (int)(l ^ by);
            in = from <= most;
            break;
        default:
            from = least | (int)(by & ~segment & 31);
            in = from <= most;
        }
        result[l] = value[in ? from & 31 : (int)l];
        if (in && lanes >> l & 1)
            check_source(block, frame, inst, l, (uint32_t)from & 31);
        inside |= (uint32_t)in << l;
    }
    if (inst->d[0] != WARP_NO_ROW)
        ptx_blend(frame, inst->d[0], 'w', result, lanes);
    if (inst->dests > 1 && inst->d[1] != WARP_NO_ROW)
        ptx_blend(frame, inst->d[1], 'p', &inside, lanes);
}

void ptx_run_vote(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    uint32_t votes = warp_pred(frame, inst->s[0]), result[WARP_LANES];
    votes = (inst->negate_source ? ~votes : votes) & lanes;
    if (inst->mode == BALLOT) {
        for (int l = 0; l < WARP_LANES; l++)
            result[l] = votes;
        ptx_blend(frame, inst->d[0], 'w', result, lanes);
        return;
    }
    const bool holds = inst->mode == ALL ? votes == lanes : inst->mode == ANY ? votes != 0 : !votes || votes == lanes;
    const uint32_t mask = holds ? WARP_ALL : 0;
    ptx_blend(frame, inst->d[0], 'p', &mask, lanes);
}

void ptx_run_match(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    uint64_t value[WARP_LANES];
    uint32_t result[WARP_LANES] = {0}, all = 0;
    for (int l = 0; l < WARP_LANES; l++)
        value[l] = inst->source_wide ? warp_longs(frame, inst->s[0])[l] : warp_words(frame, inst->s[0])[l];
    WARP_ACTIVE_LANES(lanes)
    {
        uint32_t same = 0;
        for (uint32_t k = 0; k < WARP_LANES; k++)
            same |= (uint32_t)((lanes >> k & 1) && value[k] == value[l]) << k;
        const bool whole = same == lanes;
        result[l] = inst->mode && !whole ? 0 : same;
        all |= (uint32_t)whole << l;
    }
    ptx_blend(frame, inst->d[0], 'w', result, lanes);
    if (inst->dests > 1)
        ptx_blend(frame, inst->d[1], 'p', &all, lanes);
}

void ptx_run_reduce(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const uint32_t *value = warp_words(frame, inst->s[0]);
    const bool is_signed = ptx_is_signed((ptx_type)inst->type);
    uint32_t sum = value[__builtin_ctz(lanes)], result[WARP_LANES];
    WARP_ACTIVE_LANES(lanes & (lanes - 1))
    {
        const uint32_t v = value[l];
        const bool less = is_signed ? (int32_t)v < (int32_t)sum : v < sum;
        switch (inst->mode) {
        case 0:
            sum += v;
            break;
        case 1:
            sum = less ? v : sum;
            break;
        case 2:
            sum = less ? sum : v;
            break;
        case 3:
            sum &= v;
            break;
        case 4:
            sum |= v;
            break;
        default:
            sum ^= v;
        }
    }
    for (int l = 0; l < WARP_LANES; l++)
        result[l] = sum;
    ptx_blend(frame, inst->d[0], 'w', result, lanes);
}

void ptx_run_active(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    uint32_t result[WARP_LANES];
    for (int l = 0; l < WARP_LANES; l++)
        result[l] = lanes;
    ptx_blend(frame, inst->d[0], 'w', result, lanes);
}

void ptx_run_elect(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const uint32_t leader = (uint32_t)__builtin_ctz(lanes), mask = UINT32_C(1) << leader;
    uint32_t result[WARP_LANES];
    for (int l = 0; l < WARP_LANES; l++)
        result[l] = leader;
    if (inst->d[0] != WARP_NO_ROW)
        ptx_blend(frame, inst->d[0], 'w', result, lanes);
    ptx_blend(frame, inst->d[1], 'p', &mask, lanes);
}
