/* What accesses to memory add to a record: their lines, wavefronts and partly written sectors, and the launch's
 * footprint. */
#include "base/alloc.h"
#include "lab/time/record.h"

/* Local memory lies above: a line for each word of a warp. */
enum { LOCAL_LINES = 1 << 27, LOCAL_SHIFT = 12 };
/* As cudaMalloc allocates: buffers up to SMALL_BUFFER lie together in a page. A unit has no key 0. */
enum { BUFFER_ALIGNMENT = 512, SMALL_BUFFER = 1 << 20 };

static uint64_t place_buffer(time_recorder *r, uint64_t size)
{
    const bool small = size <= SMALL_BUFFER;
    const uint64_t taken = (size + BUFFER_ALIGNMENT - 1) / BUFFER_ALIGNMENT * BUFFER_ALIGNMENT;
    if (small && r->small + taken <= r->small_end) {
        r->small += taken;
        return r->small - taken;
    }
    const uint64_t at = r->top;
    r->top += (taken + TIME_PAGE - 1) / TIME_PAGE * TIME_PAGE;
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
        time_record_line(r, list->sector[i] / 4, UINT32_C(1) << list->sector[i] % 4);
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
    uint32_t *at = time_record_word(r);
    if (at)
        *at = word;
}

/* Fetches since `before` are those of one warp; all others that run with it fetch as much. */
static void pass_time(time_recorder *r, uint32_t warp, double before)
{
    r->clocks[warp] += (r->units.clock - before) * r->crowd;
}

/* Local memory as it lies in global memory: words of a warp's lanes side by side, of the blocks that an SM holds. Warps
 * run one after another here: what one has touched is as old as what all others fetch meanwhile makes it. */
static void touch_local(time_recorder *r, uint32_t warp, uint32_t lanes, const uint64_t address[WARP_LANES],
                        uint32_t width, int how)
{
    enum { WORD = 4, LINE = WORD * WARP_LANES, WORDS = TIME_SECTOR / WORD };
    const uint64_t above = UINT64_C(1) << 40,
                   own = (time_slot_of(r) * r->trace.warps + warp) * r->block->code->local_bytes * WARP_LANES;
    const double clock = r->units.clock, before = r->clocks[warp];
    r->units.clock = before;
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
    pass_time(r, warp, before);
    r->units.clock += clock - before;
}

static void record_local(time_recorder *r, uint32_t lanes, const uint64_t address[WARP_LANES], uint32_t width)
{
    const uint64_t slot = r->trace.kept * WARP_LANES + (uint64_t)(r->now - r->warps);
    WARP_ACTIVE_LANES(lanes)
    for (uint32_t b = 0; b < width; b += 4)
        time_record_line(r, LOCAL_LINES + (slot << LOCAL_SHIFT) + ((address[l] & 0xffffff) + b) / 4,
                         UINT32_C(1) << l / 8);
}

void time_record_touch(struct warp_observer *self, const warp_frame *frame, warp_space space, uint32_t lanes,
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
    const double before = r->units.clock;
    list_sectors(r, lanes, address, width, &list);
    r->units.progress[frame->warp % TIME_WAVE_WARPS]++;
    uint32_t of_others = 0;
    for (uint32_t i = 0; i < list.count; i++)
        of_others += time_units_touch(&r->units, list.sector[i], how, list.cover[i], frame->warp);
    pass_time(r, frame->warp, before);
    *(how == WARP_READS ? &r->loads : &r->stores) += list.count;
    *(how == WARP_READS ? &r->loads_of_others : &r->stores_to_others) += of_others;
    if (streams)
        record_global(r, &list, lanes, address, width, how);
}
