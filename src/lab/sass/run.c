/* Executes what lanes of a warp do together, predicates, special registers, banks and calls of the runtime. */
#include "lab/sass/run.h"

#include "lab/ptx/execute.h"

void sass_run_nothing(warp_block *, warp_frame *, const warp_inst *, uint32_t) {}

/* BSSY: these lanes come together again. */
void sass_run_enter(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const sass_op *op = inst->extra;
    uint32_t *members = warp_words(frame, op->to);
    WARP_ACTIVE_LANES(lanes)
    members[l] = lanes;
}

/* BREAK: lanes that will not come. */
void sass_run_break(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const sass_op *op = inst->extra;
    uint32_t *members = warp_words(frame, op->to);
    for (int l = 0; l < WARP_LANES; l++)
        members[l] &= ~lanes;
}

void sass_run_special(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const sass_op *op = inst->extra;
    uint64_t r[WARP_LANES];
    block->clocks++;
    for (int l = 0; l < WARP_LANES; l++)
        r[l] = block->instructions;
    if (op->wide)
        sass_put_long(frame, op, r, lanes);
    else {
        uint32_t low[WARP_LANES];
        for (int l = 0; l < WARP_LANES; l++)
            low[l] = (uint32_t)r[l];
        sass_put(frame, op, low, lanes);
    }
}

/* LEPC */
void sass_run_here(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const sass_op *op = inst->extra;
    uint64_t r[WARP_LANES];
    for (int l = 0; l < WARP_LANES; l++)
        r[l] = (uint64_t)inst->target * SASS_INST_BYTES;
    sass_put_long(frame, op, r, lanes);
}

/* A constant whose place registers tell; outside the bank there is 0. */
void sass_run_bank(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const sass_op *op = inst->extra;
    const uint32_t *at = warp_words(frame, op->source[0]), *more = warp_words(frame, op->source[1]);
    const uint32_t bytes = op->wide ? 8 : op->lut, size = block->bank_sizes[op->mode];
    uint64_t r[WARP_LANES] = {0};
    uint32_t low[WARP_LANES];
    const uint32_t all = sass_lanes(op, lanes);
    for (uint32_t k = 0; op->submode && k < 4; k++) { /* 128 bits */
        memset(low, 0, sizeof low);
        WARP_ACTIVE_LANES(all)
        {
            const uint64_t offset = (uint64_t)(at[l] + more[l] + (uint32_t)inst->offset) + k * sizeof low[0];
            if (offset + sizeof low[0] <= size)
                memcpy(&low[l], block->banks[op->mode] + offset, sizeof low[0]);
        }
        sass_put_row(frame, op->to + k * SASS_WORD_ROW, low, all);
    }
    if (op->submode)
        return;
    WARP_ACTIVE_LANES(all)
    {
        const uint32_t offset = at[l] + more[l] + (uint32_t)inst->offset;
        if ((uint64_t)offset + bytes <= size)
            memcpy(&r[l], block->banks[op->mode] + offset, bytes);
        if (op->is_signed)
            r[l] = bytes == 1 ? (uint64_t)(int64_t)(int8_t)r[l] : (uint64_t)(int64_t)(int16_t)r[l];
    }
    for (int l = 0; l < WARP_LANES; l++)
        low[l] = (uint32_t)r[l];
    if (op->wide)
        sass_put_long(frame, op, r, lanes);
    else
        sass_put(frame, op, low, lanes);
}

/* WARPSYNC.EXCLUSIVE R0, and BRA.DIV where R2UR told that lanes name other masks: those of one mask are alone in what
 * comes next (mode: until they are joined). */
void sass_run_part(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const sass_op *op = inst->extra;
    const uint32_t *mask = warp_words(frame, inst->s[0]);
    uint32_t *groups = warp_words(frame, op->groups), *lasts = warp_words(frame, op->groups + SASS_WORD_ROW);
    WARP_ACTIVE_LANES(lanes)
    {
        groups[l] = mask[l];
        lasts[l] = op->mode;
    }
    ptx_run_sync(block, frame, inst, lanes);
}

/* BSYNC */
void sass_run_join(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const sass_op *op = inst->extra;
    WARP_ACTIVE_LANES(lanes)
    warp_words(frame, op->groups)[l] = 0;
}

/* Carries out an operation of a warp for each group of lanes. False: all lanes are one. */
static bool run_groups(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes, warp_execute *run)
{
    const sass_op *op = inst->extra;
    if (op->groups == WARP_NO_ROW)
        return false;
    uint32_t *groups = warp_words(frame, op->groups), any = 0, rest = lanes;
    const uint32_t *lasts = warp_words(frame, op->groups + SASS_WORD_ROW);
    for (int l = 0; l < WARP_LANES; l++)
        any |= groups[l];
    if (!any)
        return false;
    sass_op own = *op;
    warp_inst one = *inst;
    own.groups = WARP_NO_ROW;
    own.uniform = false; /* each group has its own result */
    one.extra = &own;
    while (rest) {
        uint32_t same = 0;
        WARP_ACTIVE_LANES(rest)
        same |= (uint32_t)(groups[l] == groups[__builtin_ctz(rest)]) << l;
        run(block, frame, &one, same);
        rest &= ~same;
    }
    WARP_ACTIVE_LANES(lanes)
    groups[l] = lasts[l] ? groups[l] : 0;
    return true;
}

/* R2UR: the value of the first lane; R2UR p, URZ, a: also which lanes have it. */
void sass_run_first(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const sass_op *op = inst->extra;
    uint32_t room[WARP_LANES], r[WARP_LANES];
    const uint32_t *a = sass_take(frame, op, 0, room), first = a[__builtin_ctz(lanes)];
    uint32_t same = 0;
    for (int l = 0; l < WARP_LANES; l++) {
        r[l] = first;
        same |= (uint32_t)(a[l] == first) << l;
    }
    if (op->pred_to[0] != WARP_NO_ROW) {
        uint32_t *to = warp_words(frame, op->pred_to[0]);
        *to = (*to & ~lanes) | (same & lanes);
    }
    sass_put(frame, op, r, lanes);
}

/* ATOMS.CAST.SPIN with a predicate. */
void sass_run_swap(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const sass_op *op = inst->extra;
    const uint32_t *swapped = warp_words(frame, op->source[0]);
    uint32_t holds = 0;
    ptx_run_atomic(block, frame, inst, lanes);
    WARP_ACTIVE_LANES(lanes)
    holds |= (uint32_t)(swapped[l] != 0) << l;
    sass_put_pred(frame, op, 0, holds, lanes);
}

/* The lanes whose generic address is of that space. */
static uint32_t lanes_in(const warp_frame *frame, const warp_inst *inst, uint32_t lanes, warp_space space)
{
    uint64_t address[WARP_LANES];
    uint32_t in = 0;
    ptx_addresses(frame, inst, 0, inst->address_wide, inst->offset, address);
    WARP_ACTIVE_LANES(lanes)
    in |= (uint32_t)(ptx_space_of(address[l]) == space) << l;
    return in;
}

/* ATOM with a predicate: whether it was done. It is for global memory; others take another way. */
void sass_run_global_atomic(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const sass_op *op = inst->extra;
    const uint32_t done = lanes_in(frame, inst, lanes, WARP_GLOBAL);
    if (done)
        ptx_run_atomic(block, frame, inst, done);
    sass_put_pred(frame, op, 0, done, lanes);
}

void sass_run_query(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const sass_op *op = inst->extra;
    sass_put_pred(frame, op, 0, lanes_in(frame, inst, lanes, WARP_SHARED), lanes);
}

void sass_run_mask(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const sass_op *op = inst->extra;
    uint32_t a_room[WARP_LANES], b_room[WARP_LANES], r[WARP_LANES];
    const uint32_t *a = sass_take(frame, op, 0, a_room), *b = sass_take(frame, op, 1, b_room);
    for (int l = 0; l < WARP_LANES; l++) {
        const uint32_t length = op->wrap ? b[l] & 31 : b[l] < 32 ? b[l] : 32;
        const uint32_t mask = length >= 32 ? UINT32_MAX : (UINT32_C(1) << length) - 1;
        if (op->mode == 0) {
            const uint32_t from = op->wrap ? a[l] & 31 : a[l];
            r[l] = from >= 32 ? 0 : mask << from;
        } else {
            const bool negative = op->is_signed && length && a[l] >> (length - 1) & 1;
            r[l] = negative ? a[l] | ~mask : a[l] & mask;
        }
    }
    sass_put(frame, op, r, lanes);
}

void sass_run_difference(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const sass_op *op = inst->extra;
    uint32_t a_room[WARP_LANES], b_room[WARP_LANES], c_room[WARP_LANES], r[WARP_LANES];
    const uint32_t *a = sass_take(frame, op, 0, a_room), *b = sass_take(frame, op, 1, b_room);
    const uint32_t *c = sass_take(frame, op, 2, c_room);
    for (int l = 0; l < WARP_LANES; l++) {
        uint32_t apart = 0;
        for (uint32_t k = 0; k < 32; k += op->mode) {
            const uint32_t most = UINT32_MAX >> (32 - op->mode), x = a[l] >> k & most, y = b[l] >> k & most;
            const bool less = op->is_signed ? (int32_t)x < (int32_t)y : x < y;
            apart += (less ? y - x : x - y) << (op->wrap ? k : 0);
        }
        r[l] = apart + c[l];
    }
    sass_put(frame, op, r, lanes);
}

static int32_t part_of(uint32_t word, uint32_t from, uint32_t bits, bool is_signed)
{
    const uint32_t part = word >> from & ((UINT32_C(1) << bits) - 1);
    return is_signed && part >> (bits - 1) ? (int32_t)part - (int32_t)(UINT32_C(1) << bits) : (int32_t)part;
}

void sass_run_dot(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const sass_op *op = inst->extra;
    uint32_t a_room[WARP_LANES], b_room[WARP_LANES], c_room[WARP_LANES], r[WARP_LANES];
    const uint32_t *a = sass_take(frame, op, 0, a_room), *b = sass_take(frame, op, 1, b_room);
    const uint32_t *c = sass_take(frame, op, 2, c_room);
    const uint32_t count = op->wide ? 2 : 4, bits = op->wide ? 16 : 8, first = op->high ? 16 : 0;
    for (int l = 0; l < WARP_LANES; l++) {
        r[l] = c[l];
        for (uint32_t k = 0; k < count; k++)
            r[l] += (uint32_t)(part_of(a[l], k * bits, bits, op->mode) * part_of(b[l], first + 8 * k, 8, op->submode));
    }
    sass_put(frame, op, r, lanes);
}

/* ------------------------------------------------------------------------------------------------ predicates */

static uint32_t by_table(uint32_t table, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t r = 0;
    for (uint32_t k = 0; k < 8; k++)
        if (table >> k & 1)
            r |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
    return r;
}

void sass_run_plop3(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const sass_op *op = inst->extra;
    const uint32_t a = sass_holds(frame, op, 0), b = sass_holds(frame, op, 1), c = sass_holds(frame, op, 2);
    sass_put_pred(frame, op, 0, by_table(op->lut, a, b, c), lanes);
    sass_put_pred(frame, op, 1, by_table(op->mode, a, b, c), lanes);
}

enum { PREDICATES = 7 };

/* P2R: bits of the mask are predicates, others are the source's. */
void sass_run_pack_preds(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const sass_op *op = inst->extra;
    uint32_t a_room[WARP_LANES], b_room[WARP_LANES], r[WARP_LANES];
    const uint32_t *a = sass_take(frame, op, 0, a_room), *mask = sass_take(frame, op, 1, b_room);
    const uint32_t *p = warp_words(frame, op->pred[0]);
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        uint32_t bits = 0;
        for (uint32_t k = 0; k < PREDICATES; k++)
            bits |= (p[k] >> l & 1) << k;
        r[l] = (a[l] & ~mask[l]) | (bits & mask[l]);
    }
    sass_put(frame, op, r, lanes);
}

void sass_run_unpack_preds(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const sass_op *op = inst->extra;
    uint32_t a_room[WARP_LANES], b_room[WARP_LANES];
    const uint32_t *a = sass_take(frame, op, 0, a_room), *mask = sass_take(frame, op, 1, b_room);
    uint32_t *p = warp_words(frame, op->pred[0]);
    WARP_ACTIVE_LANES(lanes)
    for (uint32_t k = 0; k < PREDICATES; k++)
        if (mask[l] >> k & 1)
            p[k] = (p[k] & ~(UINT32_C(1) << l)) | (a[l] >> k & 1) << l;
}

/* ------------------------------------------------------------------------------------------------ lanes */

static void put_in_all(warp_frame *frame, const sass_op *op, uint32_t value, uint32_t lanes)
{
    uint32_t r[WARP_LANES];
    for (int l = 0; l < WARP_LANES; l++)
        r[l] = value;
    sass_put(frame, op, r, lanes);
}

void sass_run_vote(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    enum { ALL, ANY, EQUAL };
    const sass_op *op = inst->extra;
    const uint32_t votes = sass_holds(frame, op, 0) & lanes;
    const bool holds = op->mode == ALL ? votes == lanes : op->mode == ANY ? votes != 0 : !votes || votes == lanes;
    if (run_groups(block, frame, inst, lanes, sass_run_vote))
        return;
    put_in_all(frame, op, votes, lanes);
    sass_put_pred(frame, op, 0, holds ? WARP_ALL : 0, lanes);
}

void sass_run_match(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const sass_op *op = inst->extra;
    uint64_t value[WARP_LANES];
    uint32_t r[WARP_LANES] = {0};
    if (run_groups(block, frame, inst, lanes, sass_run_match))
        return;
    sass_take_long(frame, op, 0, value);
    for (int l = 0; l < WARP_LANES && !op->wide; l++)
        value[l] = (uint32_t)value[l];
    const uint32_t whole = ptx_match(value, lanes, op->mode, r);
    sass_put(frame, op, r, lanes);
    sass_put_pred(frame, op, 0, whole, lanes);
}

void sass_run_reduce(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const sass_op *op = inst->extra;
    uint32_t room[WARP_LANES];
    if (!run_groups(block, frame, inst, lanes, sass_run_reduce))
        put_in_all(frame, op, ptx_reduce(sass_take(frame, op, 0, room), lanes, op->mode, op->is_signed), lanes);
}

void sass_run_elect(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const sass_op *op = inst->extra;
    const uint32_t leader = (uint32_t)__builtin_ctz(lanes);
    put_in_all(frame, op, leader, lanes);
    sass_put_pred(frame, op, 0, UINT32_C(1) << leader, lanes);
}

/* ------------------------------------------------------------------------------------------------ calls */

/* CALL.ABS: the device's functions of ptx_services, whose arguments are in R4 and up. */
void sass_run_call(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    enum { FIRST = 4 };
    const sass_op *op = inst->extra;
    uint64_t to[WARP_LANES];
    sass_take_long(frame, op, 0, to);
    WARP_ACTIVE_LANES(lanes)
    {
        uint32_t words[PTX_SERVICE_WORDS];
        const uint64_t number = to[l] - SASS_SERVICES;
        if (number >= (uint64_t)ptx_service_count) {
            warp_stop(block, frame, inst, "a call through a pointer is not supported");
            return;
        }
        if (block->observer)
            block->observer->served |= UINT32_C(1) << number;
        for (uint32_t i = 0; i < PTX_SERVICE_WORDS; i++)
            words[i] = warp_words(frame, (FIRST + i) * SASS_WORD_ROW)[l];
        const uint64_t result = ptx_services[number].run(&(ptx_request){block, frame, inst, l, words});
        if (block->stop)
            return;
        for (uint32_t i = 0; i < 2 && ptx_services[number].results[0]; i++)
            warp_words(frame, (FIRST + i) * SASS_WORD_ROW)[l] = (uint32_t)(result >> 32 * i);
    }
}
