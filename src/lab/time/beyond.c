/* Estimates how often what one SM asks of L2 must come from DRAM: the launch's fetches by the sectors that miss L1,
 * which a pass over the SM's accesses tells. The first touch of a sector by the SM misses sooner than later ones. */
#include "base/alloc.h"
#include "lab/time/model.h"

/* Requests of the SM's blocks. */
typedef struct time_demand {
    double first, later, stored; /* units that miss L1: never asked for before, again; sectors stored */
} time_demand;

/* Adds the units of 64 bytes that these sectors lie in: asked for the first time, or all of it again. */
static void ask_units(time_map *seen, uint32_t line, uint32_t misses, time_demand *demand)
{
    enum { SECTORS = 2, MASK = 3 };
    for (uint32_t u = 0; u < 2; u++) {
        bool fresh;
        const uint32_t mask = misses >> SECTORS * u & MASK;
        int64_t *had = mask ? time_map_at(seen, line * 2 + u, &fresh) : NULL;
        if (!had)
            continue;
        demand->first += !*had;
        demand->later += *had && !(mask & ~(uint32_t)*had);
        *had |= mask;
    }
}

static void ask(time_sm *sm, time_map *seen, const time_inst *inst, uint32_t entry, time_demand *demand)
{
    const uint32_t number = entry >> 4, mask = entry & 15, sectors = (uint32_t)__builtin_popcount(mask);
    uint32_t misses = mask;
    switch ((time_kind)inst->kind) {
    case TIME_LOCAL_STORE:
        time_l1_hold(&sm->l1, number, mask); /* as a store does: what is read again is there */
        demand->stored += sectors;
        return;
    case TIME_STORE:
        demand->stored += sectors;
        return;
    case TIME_ATOMIC:
    case TIME_REDUCTION:
        demand->first += sectors / 2.0;
        demand->stored += sectors;
        return;
    case TIME_LOAD:
    case TIME_COPY:
    case TIME_LOCAL_LOAD:
        break;
    default:
        return;
    }
    if (!inst->bypasses) {
        time_line *line = time_l1_find(&sm->l1, number);
        if (!line)
            line = time_l1_take(&sm->l1, number);
        misses = mask & ~(uint32_t)line->mask;
        line->mask |= (uint8_t)mask;
    }
    ask_units(seen, number, misses, demand);
}

/* The next record of a warp that accesses memory. False: there is none. */
static bool next_access(time_sm *sm, time_map *seen, const uint32_t **at, const uint32_t *end, time_demand *demand)
{
    while (*at < end) {
        const uint32_t head = **at, lines = time_lines(head), *first = *at + 1 + time_has_word(head);
        const uint32_t used = time_least_lines(sm, &sm->code->insts[time_pc(head)], time_lanes(head), lines);
        for (uint32_t i = 0; i < used; i++)
            ask(sm, seen, &sm->code->insts[time_pc(head)], first[i], demand);
        *at = first + lines;
        if (lines)
            return true;
    }
    return false;
}

/* The blocks that run at a time take turns, warp by warp. */
static bool add_wave(time_sm *sm, time_map *seen, uint64_t from, uint64_t to, time_demand *demand)
{
    const time_trace *t = sm->trace;
    const size_t count = (size_t)(to - from) * t->warps;
    const uint32_t **at = smp_alloc_array(count, sizeof *at);
    if (!at)
        return false;
    for (size_t i = 0; i < count; i++)
        at[i] = t->words + t->streams[from * t->warps + i].begin;
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (size_t i = 0; i < count; i++) {
            const time_stream *s = &t->streams[from * t->warps + i];
            goes_on |= next_access(sm, seen, &at[i], t->words + s->begin + s->size, demand);
        }
    }
    smp_free(at);
    return true;
}

static bool is_counted(const time_inst *inst, bool loads)
{
    return loads ? inst->kind == TIME_LOAD && inst->bypasses
                 : inst->kind == TIME_ATOMIC || inst->kind == TIME_REDUCTION;
}

/* Adds a block's accesses of one kind: of each line (all) the blocks that have it << 32 | the accesses. */
static bool add_sharers(const time_sm *sm, uint64_t block, bool loads, time_map *all)
{
    const time_trace *t = sm->trace;
    time_map own = {.count = 0};
    bool fits = true, fresh;
    for (uint32_t w = 0; w < t->warps && fits; w++) {
        const time_stream *s = &t->streams[block * t->warps + w];
        const uint32_t *at = t->words + s->begin, *end = at + s->size;
        while (at < end) {
            const uint32_t lines = time_lines(*at), *first = at + 1 + time_has_word(*at);
            const bool counted = is_counted(&sm->code->insts[time_pc(*at)], loads);
            for (uint32_t i = 0; i < lines && counted && fits; i++) {
                int64_t *line = time_map_at(all, first[i] >> 4, &fresh);
                fits = line && time_map_at(&own, first[i] >> 4, &fresh);
                if (fits)
                    *line += 1 + (fresh ? INT64_C(1) << 32 : 0);
            }
            at = first + lines;
        }
    }
    time_map_free(&own);
    return fits;
}

/* The SMs that update a line, or whose loads of it take turns, as the blocks of this one share theirs. */
static bool count_sharers(time_sm *sm, bool loads, double *sharers)
{
    time_map all = {.count = 0};
    double accesses = 0, blocks = 0;
    bool fits = true;
    for (uint64_t b = 0; b < sm->simulated && fits; b++)
        fits = add_sharers(sm, b, loads, &all);
    for (size_t i = 0; i < all.capacity; i++) {
        const double of_line = (double)(all.values[i] & UINT32_MAX);
        accesses += all.keys[i] ? of_line : 0;
        blocks += all.keys[i] ? of_line * (double)(all.values[i] >> 32) : 0;
    }
    const double alike = accesses > 0 ? blocks / accesses : 1;
    *sharers =
        sm->simulated > 1 ? 1 + (alike - 1) / (double)(sm->simulated - 1) * (sm->active_sms - 1) : sm->active_sms;
    time_map_free(&all);
    return fits;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

static void set_rates(time_sm *sm, const time_demand *demand)
{
    enum { LINE = 128, UNIT = 64, SECTOR = 32, FEW = 1000 /* assumed: of fewer fetches rows tell nothing */ };
    const smp_time_gpu *g = sm->gpu;
    const time_footprint *m = &sm->trace->memory;
    time_beyond *b = &sm->beyond;
    /* of the GPU, this SM's, whose blocks run at one time or take turns with the others';
     * 1.15: assumed, for fetches that come a little later than rows are kept here */
    const double near = m->near + m->far > 0 ? m->near / (m->near + m->far) : 0,
                 share =
                     g->sms * (sm->per_sm > sm->resident ? 1 / g->sms : (double)sm->per_sm / (double)sm->trace->blocks),
                 times = (double)sm->trace->blocks / (double)sm->simulated,
                 rows = m->fetches > FEW ? least(1, m->row_hits / m->fetches * 1.15) : 1;
    const double misses = demand->first * times, again = demand->later * times, stored = demand->stored * times;
    b->near_factor = 1 / (share * (1 + g->l2_near * near));
    b->write_factor = 1 / share;
    b->opened = m->first > 0 ? m->first_same / m->first : 0;
    b->alike = m->first_units > 0 ? least(m->first_same / m->first_units, sm->active_sms) - 1 : 0;
    b->first_miss = misses > 0 ? least(m->fetches / misses, 1) : 0;
    const double rest = m->fetches - b->first_miss * misses;
    b->later_miss = rest > 0 && again > 0 ? least(1, rest / again) : 0;
    const double bytes = m->held_sectors * SECTOR, kept = g->dirty_mb * 1024 * 1024,
                 out = bytes > kept ? bytes - kept : 0,
                 mix = out + m->fetches * UNIT > 0 ? out / (out + m->fetches * UNIT) : 0;
    b->evicted = stored > 0 ? out / stored : 0;
    const double partly = stored > 0 && m->written > 0 ? out / SECTOR * least(1, m->partial / m->written) / stored : 0,
                 /* a line with a sector that is partly written is read whole */
        near_writes = m->written_units > 0 ? least(1, m->write_row_hits / m->written_units) : 1,
                 filled = m->held_sectors > 0 ? m->held_lines * LINE / m->held_sectors : 0;
    b->filled = partly * filled;
    b->refilled = partly * (near_writes * filled + (1 - near_writes) * ((SECTOR + filled) / g->dram_random - SECTOR));
    const double efficiency =
        g->dram_share * (g->dram_random + (1 - g->dram_random) * rows) * (1 - g->dram_turn * 4 * mix * (1 - mix));
    b->dram_bytes = least(g->dram_gbs / (g->sms * g->clock_ghz) * share, g->dram_sm) * efficiency;
}

smp_code time_beyond_open(time_sm *sm, smp_error *err)
{
    enum { SEED = 12345 };
    time_demand demand = {.first = 0};
    time_map seen = {.count = 0};
    bool fits =
        count_sharers(sm, false, &sm->beyond.atomic_sharers) && count_sharers(sm, true, &sm->beyond.load_sharers);
    for (uint64_t from = 0; from < sm->simulated && fits; from += sm->resident)
        fits = add_wave(sm, &seen, from, from + sm->resident < sm->simulated ? from + sm->resident : sm->simulated,
                        &demand);
    time_map_free(&seen);
    time_l1_clear(&sm->l1);
    sm->beyond.random = SEED;
    set_rates(sm, &demand);
    return fits ? SMP_OK : smp_fail_memory(err, "a model of L2", sm->simulated);
}
