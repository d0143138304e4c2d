/* Instructions in which lanes of a warp, or warps of a block, work together: barriers, shuffles, votes, reductions. */
#include <string.h>

#include "base/alloc.h"
#include "lab/ptx/execute.h"

/* modes */
enum { UP, DOWN, BFLY, IDX };
enum { ALL, ANY, UNI, BALLOT };

static int choice(const ptx_statement *s, const char *const *words, int count)
{
    for (int i = 0; i < count; i++)
        if (ptx_has(s, words[i]))
            return i;
    return -1;
}

/* bar.sync a{, b}; bar.red.popc.u32 d, a{, b}, {!}p; barrier.cta; bar.warp.sync */
bool ptx_decode_barrier(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
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
        const int kind = choice(s, reductions, 3);
        inst->mode = (uint8_t)(POPC + kind);
        inst->d[0] = ptx_row(parser, s->operands[0], kind ? 'p' : 'w');
        ptx_predicate(parser, s->operands[s->operand_count - 1], inst, count);
    }
    return true;
}

/* An operation of a warp's lanes: results "d|p", sources of these classes, and with .sync a mask of the lanes. A source
 * that is a predicate may be negated. */
static bool decode_lanes(ptx_parser *parser, const ptx_statement *s, warp_inst *inst, const char *results,
                         const char *sources, warp_execute *execute)
{
    ptx_text to[2];
    const int given = (int)strlen(sources), count = s->operand_count ? ptx_split(s->operands[0], '|', to, 2) : 0;
    const bool sync = ptx_has(s, "sync");
    if (count < 1 || count > (int)strlen(results) || s->operand_count != 1 + given + sync)
        return ptx_wrong_form(parser, s);
    inst->dests = (uint8_t)count;
    for (int i = 0; i < count; i++)
        inst->d[i] = ptx_is(to[i], "_") ? WARP_NO_ROW : ptx_row(parser, to[i], results[i]);
    for (int i = 0; i < given; i++)
        if (sources[i] == 'p')
            ptx_predicate(parser, s->operands[1 + i], inst, i);
        else
            inst->s[i] = ptx_row(parser, s->operands[1 + i], sources[i]);
    if (sync)
        inst->s[given] = ptx_row(parser, s->operands[1 + given], 'w');
    inst->sources = (uint8_t)(given + sync);
    inst->flow = sync ? WARP_MEMBERS : WARP_NEXT;
    inst->submode = (uint8_t)given;
    inst->execute = execute;
    return true;
}

bool ptx_decode_shuffle(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    static const char *const kinds[] = {"up", "down", "bfly", "idx"};
    const int kind = choice(s, kinds, 4);
    inst->mode = (uint8_t)kind;
    return ptx_only(parser, s, "sync up down bfly idx") &&
           (kind < 0 ? ptx_wrong_form(parser, s) : decode_lanes(parser, s, inst, "wp", "www", ptx_run_shuffle));
}

bool ptx_decode_vote(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    static const char *const kinds[] = {"all", "any", "uni", "ballot"};
    const int kind = choice(s, kinds, 4);
    inst->mode = (uint8_t)kind;
    return ptx_only(parser, s, "sync all any uni ballot") &&
           (kind < 0 ? ptx_wrong_form(parser, s)
                     : decode_lanes(parser, s, inst, kind == BALLOT ? "w" : "p", "p", ptx_run_vote));
}

bool ptx_decode_match(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    inst->mode = ptx_has(s, "all");
    inst->source_wide = ptx_size_of(ptx_type_of(s->words[s->word_count - 1])) == 8;
    return ptx_only(parser, s, "any all sync") &&
           decode_lanes(parser, s, inst, "wp", inst->source_wide ? "d" : "w", ptx_run_match);
}

bool ptx_decode_reduce(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    static const char *const kinds[] = {"add", "min", "max", "and", "or", "xor"};
    const int kind = choice(s, kinds, 6);
    inst->mode = (uint8_t)kind;
    inst->type = (uint8_t)ptx_type_of(s->words[s->word_count - 1]);
    return ptx_only(parser, s, "sync add min max and or xor") &&
           (kind < 0 || ptx_is_float((ptx_type)inst->type) ? ptx_wrong_form(parser, s)
                                                           : decode_lanes(parser, s, inst, "w", "w", ptx_run_reduce));
}

bool ptx_decode_active(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    return decode_lanes(parser, s, inst, "w", "", ptx_run_active);
}

bool ptx_decode_elect(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    return ptx_only(parser, s, "sync") && decode_lanes(parser, s, inst, "wp", "", ptx_run_elect) &&
           (inst->dests == 2 || ptx_wrong_form(parser, s));
}

/* ------------------------------------------------------------------------------------------------ execution */

/* Each of these lanes knows then what any of them knew. */
static void order_lanes(warp_block *block, const warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    uint32_t known[WARP_LANES] = {0};
    if (!block->lanes)
        block->lanes = smp_alloc_array(block->warps, sizeof *block->lanes);
    if (!block->lanes) {
        warp_stop(block, frame, inst, "out of memory");
        return;
    }
    warp_lane_times *times = &block->lanes[frame->warp];
    WARP_ACTIVE_LANES(lanes)
    for (uint32_t from = 0; from < WARP_LANES; from++)
        known[from] = (*times)[l][from] > known[from] ? (*times)[l][from] : known[from];
    block->order.interval++;
    WARP_ACTIVE_LANES(lanes)
    known[l] = block->order.interval;
    WARP_ACTIVE_LANES(lanes)
    memcpy((*times)[l], known, sizeof known);
}

/* Orders the accesses of the lanes that the mask names. That of SASS is not here: ptxas removes most of them. */
void ptx_run_sync(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    enum { MOST_TURNS = 0xffff };
    const uint32_t others = block->frames[frame->warp].live & ~lanes;
    if (others && !frame->code->param_base &&
        others & ~warp_words(frame, inst->s[inst->submode])[__builtin_ctz(lanes)]) {
        order_lanes(block, frame, inst, lanes);
        return;
    }
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
    ptx_blend(frame, inst->d[0], 'w', result, lanes);
    if (inst->dests > 1)
        ptx_blend(frame, inst->d[1], 'p', &inside, lanes);
}

static void put_in_all(warp_frame *frame, uint32_t row, uint32_t value, uint32_t lanes)
{
    uint32_t result[WARP_LANES];
    for (int l = 0; l < WARP_LANES; l++)
        result[l] = value;
    ptx_blend(frame, row, 'w', result, lanes);
}

void ptx_run_vote(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    uint32_t votes = warp_pred(frame, inst->s[0]);
    votes = (inst->negate_source ? ~votes : votes) & lanes;
    if (inst->mode == BALLOT) {
        put_in_all(frame, inst->d[0], votes, lanes);
        return;
    }
    const bool holds = inst->mode == ALL ? votes == lanes : inst->mode == ANY ? votes != 0 : !votes || votes == lanes;
    const uint32_t mask = holds ? WARP_ALL : 0;
    ptx_blend(frame, inst->d[0], 'p', &mask, lanes);
}

uint32_t ptx_match(const uint64_t value[WARP_LANES], uint32_t lanes, bool all, uint32_t result[WARP_LANES])
{
    uint32_t whole = 0;
    WARP_ACTIVE_LANES(lanes)
    {
        uint32_t same = 0;
        for (uint32_t k = 0; k < WARP_LANES; k++)
            same |= (uint32_t)((lanes >> k & 1) && value[k] == value[l]) << k;
        result[l] = all && same != lanes ? 0 : same;
        whole |= (uint32_t)(same == lanes) << l;
    }
    return whole;
}

void ptx_run_match(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    uint64_t value[WARP_LANES];
    uint32_t result[WARP_LANES] = {0};
    for (int l = 0; l < WARP_LANES; l++)
        value[l] = inst->source_wide ? warp_longs(frame, inst->s[0])[l] : warp_words(frame, inst->s[0])[l];
    const uint32_t whole = ptx_match(value, lanes, inst->mode, result);
    ptx_blend(frame, inst->d[0], 'w', result, lanes);
    if (inst->dests > 1)
        ptx_blend(frame, inst->d[1], 'p', &whole, lanes);
}

uint32_t ptx_reduce(const uint32_t value[WARP_LANES], uint32_t lanes, uint32_t mode, bool is_signed)
{
    uint32_t sum = value[__builtin_ctz(lanes)];
    WARP_ACTIVE_LANES(lanes & (lanes - 1))
    sum = (uint32_t)ptx_combine(mode, is_signed, is_signed ? (uint64_t)(int64_t)(int32_t)sum : sum,
                                is_signed ? (uint64_t)(int64_t)(int32_t)value[l] : value[l]);
    return sum;
}

void ptx_run_reduce(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const uint32_t *value = warp_words(frame, inst->s[0]);
    put_in_all(frame, inst->d[0], ptx_reduce(value, lanes, inst->mode, ptx_is_signed((ptx_type)inst->type)), lanes);
}

void ptx_run_active(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    put_in_all(frame, inst->d[0], lanes, lanes);
}

void ptx_run_elect(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const uint32_t leader = (uint32_t)__builtin_ctz(lanes), mask = UINT32_C(1) << leader;
    put_in_all(frame, inst->d[0], leader, lanes);
    ptx_blend(frame, inst->d[1], 'p', &mask, lanes);
}
