/* Barriers in shared memory (PTX ISA 9.0, 9.7.13.15): threads and bytes of asynchronous copies arrive, and a phase ends
 * when all that are expected have. The 64 bits are of this machine's own making, as they are of each GPU's. */
#include <string.h>

#include "lab/machine/cluster.h"
#include "lab/ptx/execute.h"

enum {
    INIT = PTX_MBARRIER_INIT,
    INVAL = PTX_MBARRIER_INVAL,
    EXPECT = PTX_MBARRIER_EXPECT,
    COMPLETE = PTX_MBARRIER_COMPLETE,
    ARRIVE = PTX_MBARRIER_ARRIVE,
    DROP = PTX_MBARRIER_DROP,
    ASYNC_ARRIVE = PTX_MBARRIER_ASYNC_ARRIVE,
    WAIT = PTX_MBARRIER_WAIT,
    WAIT_PARITY = PTX_MBARRIER_WAIT_PARITY,
    PENDING = PTX_MBARRIER_PENDING
};
enum { EXPECTED_AT = 0, PENDING_AT = 20, BYTES_AT = 40, PHASE_AT = 61, COUNT_BITS = 20, BYTE_BITS = 21, LEAST = 16 };
#define NO_BARRIER  UINT64_C(0xa5a5a5a5a5a5a5a5) /* as shared memory begins */
#define MOST_FAILED (UINT64_C(1) << 24)          /* waits of a block while nothing arrives: it hangs */

/* State of a phase: threads that end it, those that have not arrived, bytes that have not, and its number modulo 8. */
typedef struct barrier {
    uint32_t expected, pending, phase;
    int32_t bytes;
} barrier;

static barrier unpack(uint64_t bits)
{
    const uint64_t count = (UINT64_C(1) << COUNT_BITS) - 1;
    return (barrier){.expected = (uint32_t)(bits >> EXPECTED_AT & count),
                     .pending = (uint32_t)(bits >> PENDING_AT & count),
                     .bytes = (int32_t)((int64_t)(bits << (64 - PHASE_AT)) >> (64 - BYTE_BITS)),
                     .phase = (uint32_t)(bits >> PHASE_AT)};
}

static uint64_t pack(barrier b)
{
    const uint64_t bytes = (uint64_t)b.bytes & ((UINT64_C(1) << BYTE_BITS) - 1);
    return (uint64_t)b.expected << EXPECTED_AT | (uint64_t)b.pending << PENDING_AT | bytes << BYTES_AT |
           (uint64_t)(b.phase & 7) << PHASE_AT;
}

/* ------------------------------------------------------------------------------------------------ decoding */

static const char words[] = "init inval arrive arrive_drop expect_tx complete_tx test_wait try_wait parity "
                            "pending_count noComplete noinc async mbarrier release acquire relaxed cta cluster shared "
                            "shared::cta shared::cluster";

static int kind_of(const ptx_statement *s)
{
    static const struct {
        const char *word;
        int kind;
    } kinds[] = {{"init", INIT},        {"inval", INVAL},         {"parity", WAIT_PARITY},    {"test_wait", WAIT},
                 {"try_wait", WAIT},    {"arrive_drop", DROP},    {"pending_count", PENDING}, {"arrive", ARRIVE},
                 {"expect_tx", EXPECT}, {"complete_tx", COMPLETE}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (ptx_has(s, kinds[i].word))
            return kinds[i].kind;
    return -1;
}

/* s[0]: the address, s[1]: a count, bytes, a state or a parity, s[2]: bytes that an arrival expects. */
bool ptx_decode_mbarrier(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    const int kind = !strcmp(s->words[0], "cp") ? ASYNC_ARRIVE : kind_of(s);
    const bool waits = kind == WAIT || kind == WAIT_PARITY, arrives = kind == ARRIVE || kind == DROP;
    int at = 0;
    if (!ptx_only(parser, s, words))
        return false;
    if (kind < 0)
        return ptx_wrong_form(parser, s);
    inst->mode = (uint8_t)kind;
    inst->submode = ptx_has(s, "noinc");
    inst->orderly = kind != INIT;
    inst->execute = ptx_run_mbarrier;
    inst->d[0] = WARP_NO_ROW;
    inst->dests = 0;
    if (s->operand_count && s->operands[0].at[0] != '[') { /* a result */
        if (!ptx_is(s->operands[0], "_"))
            inst->d[0] = ptx_row(parser, s->operands[0], waits ? 'p' : kind == PENDING ? 'w' : 'd');
        at = 1;
    }
    if (kind == PENDING) {
        if (s->operand_count != 2 || inst->d[0] == WARP_NO_ROW)
            return ptx_wrong_form(parser, s);
        inst->s[0] = ptx_row(parser, s->operands[1], 'd');
        inst->sources = 1;
        return true;
    }
    const int rest = s->operand_count - at - 1;
    const bool needs = kind == INIT || kind == EXPECT || kind == COMPLETE || waits;
    if (rest < needs || rest > 1 + waits || (rest && (kind == INVAL || kind == ASYNC_ARRIVE)))
        return ptx_wrong_form(parser, s);
    inst->space = WARP_SHARED;
    ptx_memory_address(parser, s->operands[at], inst, 0, &inst->offset);
    inst->sources = 1;
    inst->from_type = arrives && ptx_has(s, "expect_tx"); /* the operand is bytes, and one thread arrives */
    if (rest) {
        inst->s[1] = ptx_row(parser, s->operands[at + 1], kind == WAIT ? 'd' : 'w');
        inst->sources = 2;
    }
    return true;
}

/* cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [to], [from], bytes, [barrier]
 * cp.async.bulk.global.shared::cta.bulk_group [to], [from], bytes */
bool ptx_decode_bulk(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    if (ptx_has(s, "tensor"))
        return ptx_decode_tensor(parser, s, inst);
    if (ptx_has(s, "commit_group") || ptx_has(s, "wait_group")) {
        inst->execute = ptx_run_nothing; /* copies are done when they are issued */
        return ptx_only(parser, s, "async bulk commit_group wait_group read");
    }
    const bool in = ptx_has(s, "mbarrier::complete_tx::"); /* words are cut */
    if (!ptx_only(parser, s,
                  in ? "async bulk shared::cluster shared::cta global mbarrier::complete_tx::"
                     : "async bulk global shared::cta bulk_group"))
        return false;
    if (s->operand_count != 3 + in || !ptx_has(s, "global") || (in && !strcmp(s->words[3], "global")))
        return ptx_wrong_form(parser, s);
    inst->mode = in;
    inst->space = WARP_SHARED;
    ptx_memory_address(parser, s->operands[!in], inst, 0, &inst->offset);
    const bool wide = inst->address_wide;
    if (in) {
        int64_t add = 0;
        ptx_memory_address(parser, s->operands[3], inst, 3, &add);
        if (add || inst->address_wide != wide)
            return ptx_wrong_form(parser, s);
    }
    ptx_address(parser, s->operands[in], inst, 1, &inst->offset2);
    inst->address_wide = wide;
    inst->s[2] = ptx_row(parser, s->operands[2], 'w');
    inst->sources = (uint8_t)(3 + in);
    inst->dests = 0;
    inst->execute = ptx_run_bulk;
    return true;
}

/* ------------------------------------------------------------------------------------------------ running */

/* Whether bytes of shared memory are there, a finding if not. */
bool ptx_is_inside(warp_block *block, const warp_frame *frame, const warp_inst *inst, uint32_t lane, uint64_t offset,
                   uint32_t bytes, uint32_t multiple, const char *what)
{
    const bool fits = offset <= block->shared_size && bytes <= block->shared_size - offset;
    if (fits && offset % multiple == 0)
        return true;
    warp_fault(block, fits ? SMP_WARP_MISALIGNED : SMP_WARP_BOUNDS, inst->index, warp_thread(frame, lane), UINT32_MAX,
               0,
               fits ? "%s at byte %llu of shared memory, no multiple of %u"
                    : "%s at byte %llu of shared memory, of which the block has %u",
               what, (unsigned long long)offset, fits ? multiple : block->shared_size);
    return false;
}

/* A phase that is complete orders what was done before it and after it, as a barrier of the block does: mistakes that
 * an mbarrier of fewer threads leaves are not found, and none is told that is not there. */
static void settle(warp_block *block, barrier *b)
{
    if (b->pending || b->bytes)
        return;
    b->phase = (b->phase + 1) & 7;
    b->pending = b->expected;
    warp_order_all(block);
    warp_cluster_order(block);
}

static void arrive(warp_block *block, const warp_frame *frame, const warp_inst *inst, barrier *b, uint32_t count,
                   bool drops)
{
    if (!count || count > b->pending) {
        warp_stop(block, frame, inst, "%u arrivals at an mbarrier whose phase waits for %u more", count, b->pending);
        return;
    }
    b->expected -= drops ? count : 0;
    b->pending -= count;
    settle(block, b);
}

static void wait(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lane, const barrier *b)
{
    const uint32_t given = inst->mode == WAIT ? unpack(warp_longs(frame, inst->s[1])[lane]).phase
                           : inst->parts      ? warp_words(frame, inst->s[1])[lane] >> 31
                                              : warp_words(frame, inst->s[1])[lane] & 1;
    const bool over = inst->mode == WAIT ? given != b->phase : given != (b->phase & 1);
    const uint32_t bit = UINT32_C(1) << lane, result = over ? bit : 0;
    if (inst->d[0] != WARP_NO_ROW)
        ptx_blend(frame, inst->d[0], 'p', &result, bit);
    if (over)
        return;
    warp_waits(frame);
    if (++block->failed_waits < MOST_FAILED)
        return;
    warp_fault(block, SMP_WARP_BARRIER, inst->index, warp_thread(frame, lane), UINT32_MAX, 0,
               "an mbarrier waits for %u more arrivals and %d bytes: the block hangs", b->pending, (int)b->bytes);
    warp_stop(block, frame, inst, "an mbarrier waits for %u more arrivals and %d bytes that never come", b->pending,
              (int)b->bytes);
}

static void update(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lane, barrier *b)
{
    const uint32_t given = inst->sources > 1 ? warp_words(frame, inst->s[1])[lane] : 1;
    block->failed_waits = 0;
    switch (inst->mode) {
    case EXPECT:
        b->bytes += (int32_t)given;
        break;
    case COMPLETE:
        b->bytes -= (int32_t)given;
        settle(block, b);
        break;
    case ASYNC_ARRIVE: /* the copies are done; without .noinc the phase waits for one more, which comes at once */
        frame->waited[lane] = ++frame->groups[lane]; /* who waits for the mbarrier waits for them */
        if (inst->submode)
            arrive(block, frame, inst, b, 1, false);
        break;
    default:
        b->bytes += inst->from_type ? (int32_t)given : 0;
        arrive(block, frame, inst, b, inst->from_type ? 1 : given, inst->mode == DROP);
    }
}

static bool is_made(warp_block *block, const warp_frame *frame, const warp_inst *inst, uint32_t lane, uint64_t bits)
{
    if (bits != NO_BARRIER)
        return true;
    warp_fault(block, SMP_WARP_UNINITIALISED, inst->index, warp_thread(frame, lane), UINT32_MAX, 0,
               "uses an mbarrier that no mbarrier.init has made");
    warp_stop(block, frame, inst, "an mbarrier that no mbarrier.init has made");
    return false;
}

/* Bytes of a copy have arrived. */
void ptx_complete_bytes(warp_block *block, const warp_frame *frame, const warp_inst *inst, uint32_t lane,
                        uint64_t offset, uint32_t bytes)
{
    uint64_t bits;
    memcpy(&bits, block->shared + offset, sizeof bits);
    if (!is_made(block, frame, inst, lane, bits))
        return;
    barrier b = unpack(bits);
    block->failed_waits = 0;
    b.bytes -= (int32_t)bytes;
    settle(block, &b);
    bits = pack(b);
    memcpy(block->shared + offset, &bits, sizeof bits);
}

/* What makes an mbarrier is a plain write, and races with those who use it, whose accesses are atomic. */
static void run_lane(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lane, unsigned char *memory,
                     uint32_t offset)
{
    unsigned char *const at = memory + offset;
    uint64_t bits;
    memcpy(&bits, at, sizeof bits);
    const uint64_t was = bits;
    if (inst->mode == INIT) {
        const uint32_t most = UINT32_C(1) << COUNT_BITS, word = warp_words(frame, inst->s[1])[lane];
        const uint32_t count = inst->parts ? (most - (word >> 1)) & (most - 1) : word;
        if (!count || count >> COUNT_BITS) {
            warp_stop(block, frame, inst, "an mbarrier of %u threads", count);
            return;
        }
        bits = pack((barrier){.expected = count, .pending = count});
        if (bits != was)
            warp_check_shared(block, frame, inst, lane, offset, sizeof bits, WARP_WRITES);
    } else if (!is_made(block, frame, inst, lane, bits)) {
        return;
    } else if (inst->mode == INVAL) {
        bits = NO_BARRIER;
    } else {
        barrier b = unpack(bits);
        if (memory == block->shared)
            warp_check_shared(block, frame, inst, lane, offset, sizeof bits, WARP_READS);
        if (inst->mode == WAIT || inst->mode == WAIT_PARITY) {
            wait(block, frame, inst, lane, &b);
            return;
        }
        enum { WORD_ROW = 4 * WARP_LANES };
        const uint32_t phase = b.phase;
        update(block, frame, inst, lane, &b);
        if (inst->d[0] != WARP_NO_ROW && inst->parts) { /* its row may be that of the bytes */
            warp_words(frame, inst->d[0])[lane] = 0;
            warp_words(frame, inst->d[0] + WORD_ROW)[lane] = phase << 31;
        } else if (inst->d[0] != WARP_NO_ROW)
            warp_longs(frame, inst->d[0])[lane] = bits;
        bits = pack(b);
    }
    memcpy(at, &bits, sizeof bits);
}

void ptx_run_mbarrier(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    uint64_t address[WARP_LANES];
    if (inst->mode == PENDING) {
        WARP_ACTIVE_LANES(lanes)
        warp_words(frame, inst->d[0])[l] = unpack(warp_longs(frame, inst->s[0])[l]).pending;
        return;
    }
    ptx_addresses(frame, inst, 0, inst->address_wide, inst->offset, address);
    WARP_ACTIVE_LANES(lanes)
    {
        uint64_t offset = address[l] & ~WARP_WINDOW_MASK;
        unsigned char *memory = block->shared;
        const uint64_t rank = offset >> WARP_RANK_SHIFT;
        if (block->cluster && rank && rank <= block->cluster->size &&
            (inst->mode == EXPECT || inst->mode == COMPLETE || inst->mode == ARRIVE)) { /* another block's */
            memory = warp_memory_of(block, (uint32_t)rank - 1);
            offset &= WARP_PLACE_MASK;
        }
        if (block->stop ||
            !ptx_is_inside(block, frame, inst, l, offset, sizeof(uint64_t), sizeof(uint64_t), "an mbarrier"))
            continue;
        run_lane(block, frame, inst, l, memory, (uint32_t)offset);
    }
}

/* Bytes between shared and global memory, past the warps: no wavefront of theirs moves them. */
void ptx_run_bulk(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    uint64_t shared[WARP_LANES], global[WARP_LANES], at[WARP_LANES] = {0}, start, size;
    const uint32_t unit = inst->parts ? LEAST : 1;
    warp_inst global_part = *inst;
    global_part.space = WARP_GLOBAL;
    if (inst->parts) /* the unit of a whole warp */
        lanes &= 0 - lanes;
    ptx_addresses(frame, inst, 0, inst->address_wide, inst->offset, shared);
    ptx_addresses(frame, &global_part, 1, true, inst->offset2, global);
    if (inst->mode)
        ptx_addresses(frame, inst, 3, inst->address_wide, 0, at);
    WARP_ACTIVE_LANES(lanes)
    {
        const uint32_t bytes = warp_words(frame, inst->s[2])[l] * unit;
        const uint64_t offset = shared[l] & ~WARP_WINDOW_MASK, barrier_at = at[l] & ~WARP_WINDOW_MASK;
        if (!ptx_is_inside(block, frame, inst, l, offset, bytes, LEAST, "copies"))
            continue;
        if (global[l] % LEAST || bytes % LEAST) {
            warp_fault(block, SMP_WARP_MISALIGNED, inst->index, warp_thread(frame, l), UINT32_MAX, 0,
                       "copies %u bytes at global address 0x%llx: both must be multiples of %d", bytes,
                       (unsigned long long)global[l], LEAST);
            continue;
        }
        if (bytes && (!smp_warp_buffer_of(block->launch->memory, global[l], &start, &size) ||
                      bytes > size - (global[l] - start))) {
            warp_fault(block, SMP_WARP_BOUNDS, inst->index, warp_thread(frame, l), UINT32_MAX, 0,
                       "copies %u bytes at global address 0x%llx, which no buffer holds", bytes,
                       (unsigned long long)global[l]);
            continue;
        }
        warp_check_shared(block, frame, inst, l, (uint32_t)offset, bytes, inst->mode ? WARP_WRITES : WARP_READS);
        unsigned char *memory = (unsigned char *)(uintptr_t)global[l];
        if (!inst->mode) {
            memcpy(memory, block->shared + offset, bytes);
            smp_warp_memory_know(block->launch->memory, memory, bytes);
        } else if (ptx_is_inside(block, frame, inst, l, barrier_at, sizeof(uint64_t), sizeof(uint64_t),
                                 "an mbarrier")) {
            memcpy(block->shared + offset, memory, bytes);
            ptx_complete_bytes(block, frame, inst, l, barrier_at, bytes);
        }
    }
}
