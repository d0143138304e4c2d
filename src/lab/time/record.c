/* See record.h. */
#include "lab/time/record.h"

#include <string.h>

#include "base/alloc.h"
#include "lab/ptx/execute.h"
#include "lab/sass/sass.h"
#include "lab/time/time.h"

/* LINE_BITS: of a line's number in a record. Local memory lies above: a line for each word of a warp. */
enum { LINE_BITS = 28, LOCAL_LINES = 1 << 27, LOCAL_SHIFT = 12, MOST_WORDS = 1200000 };
enum { KEPT_AT_LEAST = 2, MOST_OF_BLOCKS = 32 << 20 /* words of all kept blocks */ };
/* As cudaMalloc allocates: buffers up to SMALL_BUFFER lie together in a page. A unit has no key 0. */
enum { BUFFER_ALIGNMENT = 512, SMALL_BUFFER = 1 << 20, PAGE = 2 << 20 };
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
    r->failed = !t->block_instructions || !time_units_open(&r->units, &r->gpu, wave);
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
    self->streams = !r->failed && wants_streams(r, block->index);
}

static void add_line(time_recorder *r, uint64_t number, uint32_t sectors)
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
    add_line(r, address[l] / WORD, 0);
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

/* The word of the last record, which comes before its lines. Null: no memory. */
static uint32_t *word_of(time_recorder *r)
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
    uint32_t *word = r->now && wavefronts ? word_of(r) : NULL;
    if (word)
        *word += (uint32_t)wavefronts;
}

/* ------------------------------------------------------------------------------------------------ global memory */

static uint64_t place_buffer(time_recorder *r, uint64_t size)
{
    const bool small = size <= SMALL_BUFFER;
    const uint64_t taken = (size + BUFFER_ALIGNMENT - 1) / BUFFER_ALIGNMENT * BUFFER_ALIGNMENT;
    if (small && r->small + taken <= r->small_end) {
        r->small += taken;
        return r->small - taken;
    }
    const uint64_t at = r->top;
    r->top += (taken + PAGE - 1) / PAGE * PAGE;
    if (small) {
        r->small = at + taken;
        r->small_end = r->top;
    }
    return at;
}

/* Addresses of its own, in the order of first use. False: no buffer is there. */
static bool find_buffer(time_recorder *r, uint64_t address, const time_buffer **found)
{
    uint64_t start, size;
    for (size_t k = 0; k < r->buffer_count; k++) {
        const size_t i = (r->buffer_last + k) % r->buffer_count;
        if (address >= r->buffers[i].start && address < r->buffers[i].end) {
            r->buffer_last = i;
            *found = &r->buffers[i];
            return true;
        }
    }
    if (!smp_warp_buffer_of(r->block->launch->memory, address, &start, &size) ||
        !smp_grow(&r->buffers, &r->buffer_capacity, r->buffer_count + 1, sizeof *r->buffers))
        return false;
    r->buffers[r->buffer_count] = (time_buffer){start, start + size, place_buffer(r, size)};
    r->buffer_last = r->buffer_count++;
    *found = &r->buffers[r->buffer_last];
    return true;
}

/* Cycles of L1's data banks: for each group of lanes that one takes at a time the most words of a bank. */
static uint32_t bank_cycles(uint32_t lanes, const uint64_t address[WARP_LANES], uint32_t width)
{
    enum { BANKS = 32 };
    const uint32_t words = width > 4 ? width / 4 : 1, group = BANKS / words;
    uint32_t cycles = 0;
    for (uint32_t g = 0; g < WARP_LANES; g += group) {
        uint64_t seen[BANKS];
        uint32_t of_bank[BANKS] = {0}, count = 0, most = 0;
        for (uint32_t l = g; l < g + group; l++)
            for (uint32_t q = 0; q < words && lanes >> l & 1; q++) {
                const uint64_t word = address[l] / 4 + q;
                uint32_t i = count;
                while (i && seen[i - 1] != word)
                    i--;
                if (i || count == BANKS)
                    continue;
                seen[count++] = word;
                const uint32_t n = ++of_bank[word % BANKS];
                most = n > most ? n : most;
            }
        cycles += most;
    }
    return cycles;
}

/* Distinct addresses of lanes, and packets: of each sector as many as lanes have one of its addresses at most. */
static void count_same(uint32_t lanes, const uint64_t address[WARP_LANES], uint32_t *distinct, uint32_t *packets)
{
    uint32_t most[WARP_LANES] = {0};
    *distinct = *packets = 0;
    WARP_ACTIVE_LANES(lanes)
    {
        uint32_t same = 0, first = l, of_sector = l;
        for (uint32_t k = WARP_LANES; k-- > 0;)
            if (lanes >> k & 1) {
                same += address[k] == address[l];
                first = address[k] == address[l] ? k : first;
                of_sector = address[k] / TIME_SECTOR == address[l] / TIME_SECTOR ? k : of_sector;
            }
        *distinct += first == l;
        *packets += same > most[of_sector] ? same - most[of_sector] : 0;
        most[of_sector] = same > most[of_sector] ? same : most[of_sector];
    }
}

/* The sectors of an access with the bytes that lanes touch; lanes side by side are one. */
typedef struct sector_list {
    uint64_t sector[WARP_LANES];
    uint32_t cover[WARP_LANES], count;
} sector_list;

static void list_sectors(time_recorder *r, uint32_t lanes, const uint64_t address[WARP_LANES], uint32_t width,
                         sector_list *list)
{
    const time_buffer *b = NULL;
    list->count = 0;
    WARP_ACTIVE_LANES(lanes)
    {
        if ((!b || address[l] < b->start || address[l] >= b->end) && !find_buffer(r, address[l], &b))
            continue;
        const uint64_t at = address[l] - b->start + b->at, sector = at / TIME_SECTOR;
        const uint32_t cover = (uint32_t)(((UINT64_C(1) << width) - 1) << at % TIME_SECTOR);
        uint32_t i = list->count;
        while (i && list->sector[i - 1] != sector)
            i--;
        if (!i) {
            list->sector[list->count] = sector;
            list->cover[list->count] = 0;
            i = ++list->count;
        }
        list->cover[i - 1] |= cover;
    }
}

static void record_global(time_recorder *r, const sector_list *list, uint32_t lanes, const uint64_t address[WARP_LANES],
                          uint32_t width, int how)
{
    enum { READ_LINES = 4, WRITE_LINES = 2 }; /* whose tags L1 finds in a cycle: m o_hit_33; assumed */
    uint32_t word = 0, partial = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        add_line(r, list->sector[i] / 4, UINT32_C(1) << list->sector[i] % 4);
        partial += list->cover[i] != UINT32_MAX;
    }
    if (how == WARP_UPDATES) {
        uint32_t distinct, packets;
        count_same(lanes, address, &distinct, &packets);
        word = distinct | packets << 8;
    } else {
        const uint32_t cycles = bank_cycles(lanes, address, width),
                       at_once = how == WARP_READS ? READ_LINES : WRITE_LINES,
                       least = (time_lines(r->now->words[r->head]) + at_once - 1) / at_once;
        word = (cycles > least ? cycles : least) | (how == WARP_WRITES ? partial << 16 : 0);
    }
    uint32_t *at = word_of(r);
    if (at)
        *at = word;
}

/* Local memory as it lies in global memory: words of a warp's lanes side by side, of the blocks that an SM holds. */
static void touch_local(time_recorder *r, uint32_t warp, uint32_t lanes, const uint64_t address[WARP_LANES],
                        uint32_t width, int how)
{
    enum { WORD = 4, LINE = WORD * WARP_LANES, WORDS = TIME_SECTOR / WORD };
    const uint64_t above = UINT64_C(1) << 40, sm = r->units.sm, slot = r->units.block / r->units.sms % r->resident,
                   own = ((sm * r->resident + slot) * r->trace.warps + warp) * r->block->code->local_bytes * WARP_LANES;
    for (uint32_t b = 0; b < width; b += WORD) {
        uint64_t last = UINT64_MAX;
        uint32_t cover = 0;
        WARP_ACTIVE_LANES(lanes)
        {
            const uint64_t word = ((address[l] & 0xffffff) + b) / WORD,
                           sector = (above + own + word * LINE + l * WORD) / TIME_SECTOR;
            if (cover && sector != last) {
                (void)time_units_touch(&r->units, last, how, cover, warp);
                cover = 0;
            }
            cover |= UINT32_C(15) << l % WORDS * WORD;
            last = sector;
        }
        (void)time_units_touch(&r->units, last, how, cover, warp);
    }
}

static void record_local(time_recorder *r, uint32_t lanes, const uint64_t address[WARP_LANES], uint32_t width)
{
    const uint64_t slot = r->trace.kept * WARP_LANES + (uint64_t)(r->now - r->warps);
    WARP_ACTIVE_LANES(lanes)
    for (uint32_t b = 0; b < width; b += 4)
        add_line(r, LOCAL_LINES + (slot << LOCAL_SHIFT) + ((address[l] & 0xffffff) + b) / 4, UINT32_C(1) << l / 8);
}

static void touch(struct warp_observer *self, const warp_frame *frame, warp_space space, uint32_t lanes,
                  const uint64_t address[WARP_LANES], uint32_t width, int how)
{
    time_recorder *r = (time_recorder *)(void *)self;
    const bool streams = self->streams && r->now && !r->failed;
    if (!lanes || r->failed)
        return;
    if (space == WARP_LOCAL) {
        touch_local(r, frame->warp, lanes, address, width, how);
        if (streams)
            record_local(r, lanes, address, width);
        return;
    }
    sector_list list;
    list_sectors(r, lanes, address, width, &list);
    r->units.progress[frame->warp % TIME_WAVE_WARPS]++;
    uint32_t of_others = 0;
    for (uint32_t i = 0; i < list.count; i++)
        of_others += time_units_touch(&r->units, list.sector[i], how, list.cover[i], frame->warp);
    *(how == WARP_READS ? &r->loads : &r->stores) += list.count;
    *(how == WARP_READS ? &r->loads_of_others : &r->stores_to_others) += of_others;
    if (streams)
        record_global(r, &list, lanes, address, width, how);
}

/* ------------------------------------------------------------------------------------------------ recorders */

smp_code smp_time_record(const smp_time_gpu *gpu, smp_time_recorder **out, smp_error *err)
{
    time_recorder *r = *out = smp_alloc(sizeof *r);
    SMP_NEED(r, "a record of a launch", sizeof *r, err);
    r->gpu = *gpu;
    r->top = PAGE;
    r->observer = (struct warp_observer){.begin = begin, .end = end, .step = step, .cost = cost, .touch = touch};
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
    smp_free_all(r->trace.words, r->trace.streams, r->trace.block_instructions, r->buffers, r);
}
