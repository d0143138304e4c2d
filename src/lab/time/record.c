/* See record.h. */
#include "lab/time/record.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/ptx/execute.h"
#include "lab/sass/sass.h"
#include "lab/time/time.h"

enum { LINE_BITS = 28 /* of a line's number in a record */, MOST_WORDS = 1200000 };
enum { KEPT_AT_LEAST = 2, MOST_OF_BLOCKS = 32 << 20 /* words of all kept blocks */ };
enum { FEW = 2 /* blocks of an SM */, MOST_OF_FEW = 16 << 20 };

static uint32_t *push(time_recorder *r, uint32_t word)
{
    if (r->now->count == r->now->capacity &&
        !smp_grow(&r->now->words, &r->now->capacity, r->now->count + 1, sizeof *r->now->words)) {
        r->failed = true;
        return NULL;
    }
    r->now->words[r->now->count++] = word;
    r->block_words++;
    return &r->now->words[r->now->count - 1];
}

/* Of a launch that gives an SM few blocks all are kept, until it is known which SM works longest. */
static bool wants_streams(const time_recorder *r, uint64_t block)
{
    if (r->all)
        return !r->trace.cut;
    return block % (uint64_t)r->gpu.sms == 0 && !r->trace.cut &&
           (r->trace.word_count < MOST_WORDS || r->trace.kept < KEPT_AT_LEAST);
}

/* The SM whose blocks have most instructions; the first where it has about as many. */
static uint64_t busiest_sm(const time_recorder *r)
{
    const time_trace *t = &r->trace;
    const uint64_t sms = (uint64_t)r->gpu.sms;
    const double apart = 1.03;
    double first = 0, most = 0;
    uint64_t busiest = 0;
    for (uint64_t sm = 0; sm < sms && sm < t->block_count; sm++) {
        double sum = 0;
        for (uint64_t b = sm; b < t->block_count; b += sms)
            sum += t->block_instructions[b];
        first = sm ? first : sum;
        busiest = sum > most ? sm : busiest;
        most = sum > most ? sum : most;
    }
    return most > apart * first ? busiest : 0;
}

/* Keeps the streams of one SM's blocks: those of block b are the bth. */
static void keep_one(time_recorder *r, uint64_t sm)
{
    time_trace *t = &r->trace;
    size_t kept = 0;
    for (uint64_t b = sm; b < t->kept; b += (uint64_t)r->gpu.sms, kept++)
        memmove(t->streams + kept * t->warps, t->streams + b * t->warps, t->warps * sizeof *t->streams);
    t->kept = kept;
    t->sm = (uint32_t)sm;
    r->all = false;
}

/* Moves the streams of the block that has ended behind those of earlier ones. */
static void end(struct warp_observer *self)
{
    time_recorder *r = (time_recorder *)(void *)self;
    time_trace *t = &r->trace;
    const uint64_t instructions = r->block->instructions - r->counted;
    if (t->block_count < t->block_capacity)
        t->block_instructions[t->block_count++] = instructions < UINT32_MAX ? (uint32_t)instructions : UINT32_MAX;
    if (r->index + 1 < t->blocks) { /* the last one may gather what all others left */
        t->loads_of_others += r->loads ? (double)r->loads_of_others / r->loads : 0;
        t->stores_to_others += r->stores ? (double)r->stores_to_others / r->stores : 0;
    }
    r->loads = r->stores = r->loads_of_others = r->stores_to_others = 0;
    r->block_words = 0;
    for (uint32_t w = 0; w < t->warps && !r->failed; w++)
        r->slot_clocks[time_slot_of(r)] = fmax(r->slot_clocks[time_slot_of(r)], r->clocks[w]);
    if (!r->observer.streams || r->failed)
        return;
    size_t words = t->word_count;
    for (uint32_t w = 0; w < t->warps; w++)
        words += r->warps[w].count;
    if (!smp_grow(&t->words, &t->word_capacity, words + 1, sizeof *t->words) ||
        !smp_grow(&t->streams, &t->stream_capacity, (t->kept + 1) * t->warps, sizeof *t->streams)) {
        r->failed = true;
        return;
    }
    for (uint32_t w = 0; w < t->warps; w++) {
        t->streams[t->kept * t->warps + w] = (time_stream){t->word_count, r->warps[w].count};
        if (r->warps[w].count)
            memcpy(t->words + t->word_count, r->warps[w].words, r->warps[w].count * sizeof *t->words);
        t->word_count += r->warps[w].count;
        r->warps[w].count = 0;
    }
    t->kept++;
    if (r->all && t->word_count > MOST_OF_FEW)
        keep_one(r, t->blocks <= (uint64_t)r->gpu.sms ? busiest_sm(r) : 0);
}

static void begin_launch(time_recorder *r, const warp_block *block)
{
    const smp_warp_launch *launch = block->launch;
    time_trace *t = &r->trace;
    t->warps = block->warps;
    t->shared = block->shared_size;
    t->registers = launch->registers;
    t->blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    enum { MOST_BLOCKS = 1 << 22 };
    t->block_capacity = t->blocks < MOST_BLOCKS ? (size_t)t->blocks : 0;
    t->block_instructions = smp_alloc_array(t->block_capacity + 1, sizeof *t->block_instructions);
    t->block_capacity = t->block_instructions ? t->block_capacity : 0;
    uint32_t l1;
    r->resident = time_resident(t, &r->gpu, &l1);
    const uint32_t wave = r->resident * (uint32_t)r->gpu.sms;
    r->all = t->blocks <= FEW * (uint64_t)r->gpu.sms && t->block_capacity;
    r->crowd = (t->blocks < wave ? (double)t->blocks : wave) * t->warps;
    r->slot_clocks = smp_alloc_array(wave, sizeof *r->slot_clocks);
    r->failed = !t->block_instructions || !r->slot_clocks || !time_units_open(&r->units, &r->gpu, wave);
    r->begun = true;
}

static void begin(struct warp_observer *self, const warp_block *block)
{
    time_recorder *r = (time_recorder *)(void *)self;
    if (!r->begun)
        begin_launch(r, block);
    r->block = block;
    r->index = block->index;
    r->counted = block->instructions;
    if (!r->failed)
        time_units_begin(&r->units, block->index);
    for (uint32_t w = 0; w < r->trace.warps && !r->failed; w++)
        r->clocks[w] = r->slot_clocks[time_slot_of(r)];
    self->streams = !r->failed && wants_streams(r, block->index);
}

void time_record_line(time_recorder *r, uint64_t number, uint32_t sectors)
{
    const uint32_t line = (uint32_t)number & ((UINT32_C(1) << LINE_BITS) - 1);
    const size_t first = r->head + 1 + time_has_word(r->now->words[r->head]);
    for (size_t i = r->now->count; i > first; i--)
        if (r->now->words[i - 1] >> 4 == line) {
            r->now->words[i - 1] |= sectors;
            return;
        }
    if (r->now->count - first < TIME_MOST_LINES && push(r, line << 4 | sectors))
        r->now->words[r->head] += UINT32_C(1) << TIME_LINES_SHIFT;
}

/* Compare-and-swap in shared memory: the words that another warp may change first, as lines without sectors. */
static void record_swaps(time_recorder *r, const warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    enum { WORD = 4 };
    uint64_t address[WARP_LANES];
    ptx_addresses(frame, inst, 0, inst->address_wide, inst->offset, address);
    WARP_ACTIVE_LANES(lanes)
    time_record_line(r, address[l] / WORD, 0);
}

static void step(struct warp_observer *self, const warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    time_recorder *r = (time_recorder *)(void *)self;
    const uint32_t pc = (uint32_t)(inst - frame->code->insts);
    r->now = NULL;
    if (r->trace.cut || r->failed)
        return;
    if (pc > TIME_MOST_PC || r->trace.word_count + r->block_words > MOST_OF_BLOCKS) {
        r->trace.cut = true;
        return;
    }
    r->now = &r->warps[frame->warp];
    r->head = r->now->count;
    if (!push(r, pc | (uint32_t)warp_lanes_in(lanes) << TIME_LANES_SHIFT))
        return;
    if (lanes && inst->spins)
        record_swaps(r, frame, inst, lanes);
    if (!lanes || inst->execute != sass_run_bank)
        return;
    const sass_op *op = inst->extra;
    const uint32_t *at = warp_words(frame, op->source[0]), *more = warp_words(frame, op->source[1]);
    uint32_t seen[WARP_LANES], count = 0;
    WARP_ACTIVE_LANES(lanes)
    {
        uint32_t k = 0;
        while (k < count && seen[k] != at[l] + more[l])
            k++;
        seen[k] = at[l] + more[l];
        count += k == count;
    }
    r->now->words[r->head] |= UINT32_C(1) << TIME_WORD_BIT;
    push(r, count);
}

uint32_t *time_record_word(time_recorder *r)
{
    uint32_t *head = &r->now->words[r->head];
    if (!time_has_word(*head)) {
        *head |= UINT32_C(1) << TIME_WORD_BIT;
        if (!push(r, 0))
            return NULL;
        uint32_t *first = r->now->words + r->head + 1;
        memmove(first + 1, first, (r->now->count - r->head - 2) * sizeof *first);
        *first = 0;
    }
    return &r->now->words[r->head + 1];
}

static void cost(struct warp_observer *self, uint64_t wavefronts)
{
    time_recorder *r = (time_recorder *)(void *)self;
    uint32_t *word = r->now && wavefronts ? time_record_word(r) : NULL;
    if (word)
        *word += (uint32_t)wavefronts;
}

/* ------------------------------------------------------------------------------------------------ recorders */

smp_code smp_time_record(const smp_time_gpu *gpu, smp_time_recorder **out, smp_error *err)
{
    time_recorder *r = *out = smp_alloc(sizeof *r);
    SMP_NEED(r, "a record of a launch", sizeof *r, err);
    r->gpu = *gpu;
    r->top = TIME_PAGE;
    r->observer =
        (struct warp_observer){.begin = begin, .end = end, .step = step, .cost = cost, .touch = time_record_touch};
    return SMP_OK;
}

struct warp_observer *smp_time_observer(smp_time_recorder *r)
{
    return &r->observer;
}

const time_trace *time_record_end(time_recorder *r)
{
    if (r->begun && !r->failed && r->all && r->trace.kept)
        keep_one(r, busiest_sm(r));
    if (r->begun && !r->failed)
        r->trace.memory = time_units_end(&r->units);
    return r->begun && !r->failed && !r->units.failed ? &r->trace : NULL;
}

void smp_time_record_free(smp_time_recorder *r)
{
    if (!r)
        return;
    time_units_close(&r->units);
    for (uint32_t w = 0; w < WARP_MOST_WARPS; w++)
        smp_free(r->warps[w].words);
    smp_free_all(r->trace.words, r->trace.streams, r->trace.block_instructions, r->slot_clocks, r->buffers, r);
}
