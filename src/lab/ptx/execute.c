/* Instructions that compute lane by lane: a function over whole rows, then the lanes that take part are kept. */
#include "lab/ptx/execute.h"

#include <string.h>

typedef struct row {
    _Alignas(64) uint32_t words[2 * WARP_LANES];
} row;

void ptx_blend(warp_frame *frame, uint32_t at, char row_class, const void *result, uint32_t lanes)
{
    if (at == WARP_NO_ROW)
        return;
    if (row_class == 'p') {
        uint32_t *mask = warp_words(frame, at), value;
        memcpy(&value, result, sizeof value);
        *mask = (*mask & ~lanes) | (value & lanes);
    } else if (row_class == 'd') {
        uint64_t *to = warp_longs(frame, at);
        const uint64_t *from = result;
        for (int l = 0; l < WARP_LANES; l++)
            to[l] = lanes >> l & 1 ? from[l] : to[l];
    } else {
        uint32_t *to = warp_words(frame, at);
        const uint32_t *from = result;
        for (int l = 0; l < WARP_LANES; l++)
            to[l] = lanes >> l & 1 ? from[l] : to[l];
    }
}

static __attribute__((noinline)) void run_for_some(warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    row result;
    inst->alu(&result, frame->rows + inst->s[0], frame->rows + inst->s[1], frame->rows + inst->s[2]);
    ptx_blend(frame, inst->d[0], (char)inst->d_class, &result, lanes);
}

/* A source that the instruction lacks is some row that is not looked at. */
void ptx_run_alu(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    unsigned char *rows = frame->rows;
    if (lanes == WARP_ALL)
        inst->alu(rows + inst->d[0], rows + inst->s[0], rows + inst->s[1], rows + inst->s[2]);
    else
        run_for_some(frame, inst, lanes);
}

/* Subnormal 32-bit floats become zeros of their sign. */
static void flush(row *to, const void *from)
{
    const uint32_t *words = from;
    for (int l = 0; l < WARP_LANES; l++)
        to->words[l] = words[l] & 0x7f800000 ? words[l] : words[l] & 0x80000000;
}

void ptx_run_flushed(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    row sources[3], result;
    const void *given[3] = {NULL, NULL, NULL};
    for (int i = 0; i < inst->sources; i++) {
        given[i] = frame->rows + inst->s[i];
        if (inst->flush && inst->s_class[i] == 'w') {
            flush(&sources[i], given[i]);
            given[i] = &sources[i];
        }
    }
    inst->alu(&result, given[0], given[1], given[2]);
    if (inst->flush && inst->d_class == 'w')
        flush(&result, &result);
    if (inst->saturate)
        for (int l = 0; l < WARP_LANES; l++) {
            float value;
            memcpy(&value, &result.words[l], 4);
            value = value > 0 ? value < 1 ? value : 1.0f : 0.0f; /* NaN is 0 */
            memcpy(&result.words[l], &value, 4);
        }
    ptx_blend(frame, inst->d[0], (char)inst->d_class, &result, lanes);
}

static uint32_t combined(const warp_frame *frame, const warp_inst *inst, uint32_t holds)
{
    uint32_t with = inst->combine ? warp_pred(frame, inst->s[2]) : 0;
    with = inst->negate_source ? ~with : with;
    return inst->combine == 1 ? holds & with : inst->combine == 2 ? holds | with : inst->combine ? holds ^ with : holds;
}

/* The half of a pair of 16 bits that is compared, from bit `shift` on. */
static void take_half(row *to, const uint32_t *from, uint32_t shift)
{
    for (int l = 0; l < WARP_LANES; l++)
        to->words[l] = from[l] >> shift & 0xffff;
}

static uint32_t test(const warp_frame *frame, const warp_inst *inst, uint32_t shift)
{
    row a, b;
    uint32_t holds;
    const void *x = frame->rows + inst->s[0], *y = frame->rows + inst->s[1];
    if (inst->vec == 2) {
        take_half(&a, x, shift);
        take_half(&b, y, shift);
        x = &a;
        y = &b;
    }
    if (inst->flush) {
        flush(&a, x);
        flush(&b, y);
        x = &a;
        y = &b;
    }
    inst->alu(&holds, x, y, NULL);
    return holds;
}

void ptx_run_test(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const uint32_t holds = test(frame, inst, 0), first = combined(frame, inst, holds);
    /* of a pair its high halves, else the opposite */
    const uint32_t second = combined(frame, inst, inst->vec == 2 ? test(frame, inst, 16) : ~holds);
    ptx_blend(frame, inst->d[0], 'p', &first, lanes);
    if (inst->dests > 1)
        ptx_blend(frame, inst->d[1], 'p', &second, lanes);
}

void ptx_run_set(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    row result;
    const uint32_t low = combined(frame, inst, test(frame, inst, 0));
    const uint32_t high = inst->vec == 2 ? combined(frame, inst, test(frame, inst, 16)) : 0;
    for (int l = 0; l < WARP_LANES; l++)
        switch (inst->type) {
        case PTX_F32:
            result.words[l] = low >> l & 1 ? 0x3f800000 : 0;
            break;
        case PTX_F16:
        case PTX_F16X2:
            result.words[l] = (low >> l & 1 ? 0x3c00 : 0) | (high >> l & 1 ? UINT32_C(0x3c000000) : 0);
            break;
        case PTX_BF16:
        case PTX_BF16X2:
            result.words[l] = (low >> l & 1 ? 0x3f80 : 0) | (high >> l & 1 ? UINT32_C(0x3f800000) : 0);
            break;
        default:
            result.words[l] = inst->vec == 2 ? (low >> l & 1 ? 0xffff : 0) | (high >> l & 1 ? UINT32_C(0xffff0000) : 0)
                              : low >> l & 1 ? UINT32_MAX
                                             : 0;
        }
    ptx_blend(frame, inst->d[0], 'w', &result, lanes);
}

void ptx_run_pack(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const uint32_t bits = inst->width * 8u;
    const uint64_t mask = (UINT64_C(1) << bits) - 1;
    row result;
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        uint64_t value = 0;
        for (uint32_t i = inst->sources; i--;)
            value = value << bits | (warp_words(frame, inst->s[i])[l] & mask);
        if (inst->d_class == 'd')
            memcpy(&result.words[2 * l], &value, 8);
        else
            result.words[l] = (uint32_t)value;
    }
    ptx_blend(frame, inst->d[0], (char)inst->d_class, &result, lanes);
}

void ptx_run_unpack(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const uint32_t bits = inst->width * 8u;
    const uint64_t mask = (UINT64_C(1) << bits) - 1;
    row parts[4];
    for (int l = 0; l < WARP_LANES; l++) {
        const uint64_t value =
            inst->d_class == 'd' ? warp_longs(frame, inst->s[0])[l] : warp_words(frame, inst->s[0])[l];
        for (uint32_t i = 0; i < inst->dests; i++)
            parts[i].words[l] = (uint32_t)(value >> (i * bits) & mask);
    }
    for (uint32_t i = 0; i < inst->dests; i++)
        ptx_blend(frame, inst->d[i], 'w', &parts[i], lanes);
}

void ptx_run_insert(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const bool wide = inst->d_class == 'd';
    const uint32_t bits = wide ? 64 : 32;
    row result;
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        const uint64_t from = wide ? warp_longs(frame, inst->s[0])[l] : warp_words(frame, inst->s[0])[l];
        const uint64_t into = wide ? warp_longs(frame, inst->s[1])[l] : warp_words(frame, inst->s[1])[l];
        const uint32_t at = warp_words(frame, inst->s[2])[l] & 255, length = warp_words(frame, inst->s[3])[l] & 255;
        const uint64_t ones = length >= 64 ? UINT64_MAX : (UINT64_C(1) << length) - 1;
        const uint64_t mask = at < bits ? ones << at : 0, value = (into & ~mask) | (at < bits ? from << at & mask : 0);
        if (wide)
            memcpy(&result.words[2 * l], &value, 8);
        else
            result.words[l] = (uint32_t)value;
    }
    ptx_blend(frame, inst->d[0], (char)inst->d_class, &result, lanes);
}

void ptx_run_lop3(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const uint32_t *a = warp_words(frame, inst->s[0]), *b = warp_words(frame, inst->s[1]);
    const uint32_t *c = warp_words(frame, inst->s[2]), table = warp_words(frame, inst->s[3])[0];
    row result = {{0}};
    for (uint32_t k = 0; k < 8; k++)
        for (int l = 0; l < WARP_LANES && table >> k & 1; l++)
            result.words[l] |= (k & 4 ? a[l] : ~a[l]) & (k & 2 ? b[l] : ~b[l]) & (k & 1 ? c[l] : ~c[l]);
    ptx_blend(frame, inst->d[0], 'w', &result, lanes);
}

/* Time is what the block has executed: it goes on, and is the same each run. */
void ptx_run_clock(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    block->clocks++;
    WARP_ACTIVE_LANES(lanes)
    {
        if (inst->d_class == 'd')
            warp_longs(frame, inst->d[0])[l] = block->instructions;
        else
            warp_words(frame, inst->d[0])[l] = (uint32_t)block->instructions;
    }
}

void ptx_run_trap(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const warp_code *code = frame->code;
    bool waits = false; /* for its grid, whose barrier it asks for */
    for (size_t i = 0; i < code->special_count && !block->launch->grid_memory; i++)
        waits = waits || code->specials[i].special == WARP_ENV_2;
    warp_stop(block, frame, inst, "thread %u traps: %s", warp_thread(frame, (uint32_t)__builtin_ctz(lanes)),
              waits ? "grid.sync() and its like need a launch by cudaLaunchCooperativeKernel"
                    : "__trap(), an assert that fails, or an access by a pointer that the compiler knows to be null");
}

void ptx_run_nothing(warp_block *, warp_frame *, const warp_inst *, uint32_t) {}
