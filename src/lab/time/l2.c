/* The memory system behind an SM: its share of the way to L2, of L2 and of DRAM. Each is a server with a time for each
 * request; its queue delays the answer. */
#include "lab/time/model.h"

/* A number from 0 to 1, not 0. */
static double draw(time_beyond *b)
{
    b->random = b->random * 1664525U + 1013904223U;
    return ((b->random >> 8) + 1) * (1.0 / 16777217);
}

/* -ln(u) for 0 < u <= 1, by additions, products and quotients alone, which all machines round alike. */
static double minus_ln(double u)
{
    double octaves = 0;
    for (; u < 0.5; u *= 2)
        octaves++;
    const double z = (1 - u) / (1 + u), zz = z * z;
    return octaves * 0.69314718055994531 + 2 * z * (1 + zz * (1.0 / 3 + zz * (1.0 / 5 + zz * (1.0 / 7 + zz / 9))));
}

/* exp(-x) for x >= 0, likewise. */
static double decay(double x)
{
    const double y = x / 8;
    double e = 1 + y * (1 + y / 2 * (1 + y / 3 * (1 + y / 4)));
    for (int i = 0; i < 3; i++)
        e *= e;
    return 1 / e;
}

/* Bytes that DRAM moves from `at` on. Gives when they are through. */
static time_ticks take_dram(time_sm *sm, time_ticks at, double bytes)
{
    time_beyond *b = &sm->beyond;
    const double memory = sm->gpu->dram_memory;
    if (sm->free.dram)
        return at;
    if (at > b->load_at) {
        b->load_bytes *= decay((double)(at - b->load_at) / TIME_TICK / memory);
        b->load_at = at;
    }
    b->load_bytes += bytes / memory;
    b->dram_free = time_later(b->dram_free, at) + time_of(bytes / b->dram_bytes);
    return b->dram_free;
}

/* By how much a fetch is later than an unloaded DRAM's mean, or sooner: rows are open or not, chips near or far. And it
 * waits for others in DRAM's queues: half of that is the same for all, half at random. */
static time_ticks queue_time(time_sm *sm)
{
    time_beyond *b = &sm->beyond;
    const double most = 0.9, share = b->load_bytes / b->dram_bytes, load = share < most ? share : most;
    double mean = sm->gpu->dram_queue * load / (1 - load);
    mean = mean < sm->gpu->dram_longest ? mean : sm->gpu->dram_longest;
    return time_of(mean / 2 + mean / 2 * minus_ln(draw(b)) + 2 * sm->gpu->dram_spread * draw(b)) -
           time_of(sm->gpu->dram_spread);
}

time_ticks time_l2_back(const time_sm *sm, double times)
{
    const time_beyond *b = &sm->beyond;
    return time_later(b->l2_free, b->dram_free) - time_of(sm->gpu->back * times);
}

/* least: what one SM's way takes at least, however few others work. */
static time_ticks take_l2(time_sm *sm, time_ticks at, double cycles, double least, double factor)
{
    time_beyond *b = &sm->beyond;
    const double scaled = cycles * factor;
    const time_ticks cost = sm->free.l2 ? 0 : time_of(scaled > least ? scaled : least);
    b->l2_free = time_later(b->l2_free, at) + cost;
    b->l2_busy += cost;
    return b->l2_free;
}

/* State of a unit of 64 bytes: its sectors that this SM has asked for, and when DRAM gives it. */
enum { SECTOR_BITS = 2, SECTOR_MASK = 3, SECTOR = 32, UNIT = 64, WORD = 4 };

/* Sectors of a unit. DRAM gives it whole: another sector of it waits for the same fetch. */
static time_ticks load_unit(time_sm *sm, time_ticks at, uint32_t unit, uint32_t sectors, time_ticks *queue)
{
    time_beyond *b = &sm->beyond;
    const smp_time_gpu *g = sm->gpu;
    const time_ticks lat_l1 = time_of(g->lat_l1);
    bool is_new = false;
    int64_t none = 0, *known = time_map_at(&b->seen, unit, &is_new);
    known = known ? known : &none;
    const uint32_t had = (uint32_t)*known & SECTOR_MASK, fresh = sectors & ~had;
    time_ticks done = b->l2_free + time_of(g->lat_l2) - lat_l1, there = *known >> SECTOR_BITS;
    b->credit += !had ? b->first_miss : fresh ? 0 : b->later_miss;
    if (b->credit >= 1) {
        const time_ticks through = take_dram(sm, at, UNIT);
        b->credit--;
        b->dram_read += UNIT;
        *queue = *queue ? *queue : queue_time(sm);
        if (!sm->free.dram)
            there = time_later(b->l2_free, through) + time_of(g->lat_dram) - lat_l1 + *queue;
    } else if (sm->first_wave && b->opened > 0 && !had && draw(b) < b->opened)
        there = b->l2_free + time_of(g->lat_dram * g->dram_open + g->pending * b->alike * draw(b)) - lat_l1;
    done = time_later(done, there);
    *known = there << SECTOR_BITS | had | sectors;
    return done;
}

time_ticks time_l2_load(time_sm *sm, time_ticks at, uint32_t line, uint32_t mask)
{
    time_beyond *b = &sm->beyond;
    const uint32_t sectors = (uint32_t)__builtin_popcount(mask);
    take_l2(sm, at, sm->gpu->l2_line + sm->gpu->l2_sector * sectors, sectors * sm->gpu->l2_least, b->near_factor);
    b->read_sectors += sectors;
    time_ticks done = at, queue = 0; /* both units of a line wait in the same queue */
    for (uint32_t u = 0; u < 2; u++) {
        const uint32_t of_unit = mask >> SECTOR_BITS * u & SECTOR_MASK;
        if (of_unit)
            done = time_later(done, load_unit(sm, at, line * 2 + u, of_unit, &queue));
    }
    return sm->free.latency ? at : done;
}

time_ticks time_l2_store(time_sm *sm, time_ticks at, uint32_t whole, uint32_t partial, uint32_t lines)
{
    time_beyond *b = &sm->beyond;
    const smp_time_gpu *g = sm->gpu;
    const double sectors = whole + partial, cycles = partial ? g->partial_line * lines + g->partial_sector * sectors
                                                             : g->write_line * lines + g->write_sector * whole;
    take_l2(sm, at, cycles, sectors > 0 ? g->store_least * lines : 0, b->write_factor);
    b->write_sectors += whole + partial;
    if (b->evicted > 0) {
        (void)take_dram(sm, at, sectors * (b->evicted + b->refilled));
        b->dram_write += sectors * b->evicted;
        b->dram_read += sectors * b->filled;
    }
    b->last = time_later(b->last, b->l2_free);
    return b->l2_free + time_of(g->lat_l2);
}

/* Takes a server that all SMs share, known by a key, for so many cycles. Gives when it is through. */
static time_ticks take_server(time_sm *sm, uint32_t key, time_ticks at, double cycles)
{
    bool is_new;
    int64_t *free = time_map_at(&sm->beyond.servers, key, &is_new);
    if (!free)
        return at;
    *free = time_later(*free, at) + time_of(cycles);
    return *free;
}

/* The same for an update. */
static time_ticks update_server(time_sm *sm, uint32_t key, time_ticks at, double cycles)
{
    time_beyond *b = &sm->beyond;
    bool is_new;
    int64_t *busy = time_map_at(&b->served, key, &is_new);
    if (busy)
        b->most_served = time_later(b->most_served, *busy += time_of(cycles));
    return take_server(sm, key, at, cycles);
}

/* Keys of servers: sectors have the rest. */
#define LOADED  (UINT32_C(1) << 30)
#define UPDATED (UINT32_C(2) << 30)
#define REGIONS (UINT32_C(3) << 30)

time_ticks time_l2_turn(time_sm *sm, uint32_t line, time_ticks at)
{
    const double cycles = sm->gpu->hot_line * sm->beyond.load_sharers;
    return time_later(at, take_server(sm, LOADED + line, at, cycles) - time_of(cycles));
}

/* Of a packet the cycles of its sector, of two lines, of 1 KB. */
typedef struct turns {
    double sector, lines, region;
} turns;

static turns turns_of(const smp_time_gpu *g, const time_access *a, bool whole)
{
    const double more = a->inst->is_double && whole ? g->atomic_double : 1;
    return (turns){a->inst->is_float ? g->atomic_float : g->atomic_same, g->atomic_whole * more,
                   whole ? g->atomic_filled * more : g->atomic_packet};
}

/* Updates go one after another in a sector, in two lines and in 1 KB. Gives when the last is done. */
static time_ticks take_lines(time_sm *sm, const time_access *a, time_ticks at, double *packets)
{
    enum { SECTOR_WORDS = 8, LINES = 3 /* of 1 KB, as a shift */ };
    const uint32_t distinct = a->word & 255, words = a->inst->bytes == 8 ? SECTOR_WORDS / 2 : SECTOR_WORDS;
    uint32_t sectors = 0;
    for (uint32_t i = 0; i < a->line_count; i++)
        sectors += (uint32_t)__builtin_popcount(a->lines[i] & 15);
    if (!sectors)
        return at;
    *packets = a->word >> 8;
    const turns t = turns_of(sm->gpu, a, distinct >= sectors * words);
    const double of_sector = *packets / sectors * sm->beyond.atomic_sharers;
    time_ticks last = at;
    for (uint32_t i = 0; i < a->line_count; i++) {
        const uint32_t line = a->lines[i] >> 4;
        const double share = of_sector * __builtin_popcount(a->lines[i] & 15);
        for (uint32_t s = 0; s < 4; s++)
            if (a->lines[i] >> s & 1)
                last = time_later(last, update_server(sm, line << 2 | s, at, t.sector * of_sector));
        last = time_later(last, update_server(sm, UPDATED + (line >> 1), at, t.lines * share));
        last = time_later(last, update_server(sm, REGIONS + (line >> LINES), at, t.region * share));
    }
    return last;
}

/* L2 has room for so many words of an SM's updates. Gives when these have left the SM, and notes when they are done. */
static time_ticks find_room(time_sm *sm, uint32_t words, time_ticks done)
{
    time_beyond *b = &sm->beyond;
    const uint32_t room = (uint32_t)sm->gpu->atomic_words;
    time_ticks left = 0;
    for (uint32_t i = 0; i < words; i++, b->update_count++) {
        left = time_later(left, b->updates[(b->update_count - room) % TIME_UPDATES]);
        b->updates[b->update_count % TIME_UPDATES] = done;
    }
    return left;
}

time_ticks time_l2_atomic(time_sm *sm, time_access *a, time_ticks at)
{
    time_beyond *b = &sm->beyond;
    const smp_time_gpu *g = sm->gpu;
    double packets = 0;
    const time_ticks last = take_lines(sm, a, at, &packets);
    const double result = a->inst->kind == TIME_ATOMIC ? g->atomic_result : 0,
                 cycles = g->atomic_line * a->line_count + (g->atomic_sector + result) * packets;
    take_l2(sm, at, cycles, 0, b->write_factor);
    b->write_sectors += (uint64_t)packets;
    time_ticks done = time_later(last, b->l2_free) + time_of(g->lat_l2);
    for (b->credit += b->first_miss * packets / 2; b->credit >= 1; b->credit--) {
        const time_ticks through = take_dram(sm, at, UNIT);
        b->dram_read += UNIT;
        done = time_later(done, through + time_of(g->lat_dram));
    }
    b->last = time_later(b->last, time_later(last, b->l2_free));
    a->left = time_later(b->l2_free, find_room(sm, a->lanes * a->inst->bytes / WORD, last));
    sm->lsu_free = time_later(sm->lsu_free, last - time_of(g->atomic_ahead));
    return done;
}
