/* Blocks: how many an SM holds, when they begin, and the time of the whole launch from those that were simulated. */
#include <stdlib.h>

#include "base/alloc.h"
#include "lab/time/model.h"

#define FEW_WORK 0.6 /* of what the first blocks let expect: below, most blocks have nothing to do */

uint32_t time_resident(const time_trace *trace, const smp_time_gpu *gpu, uint32_t *l1_bytes)
{
    enum { KB = 1024, OTHER = 4 * KB };                                           /* OTHER: of L1, that holds no data */
    static const uint32_t splits[] = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228}; /* KB of shared memory */
    smp_warp_fit fit;
    uint32_t blocks = 1;
    if (smp_warp_fit_of(gpu->arch, trace->registers, trace->shared, trace->warps * WARP_LANES, &fit) && fit.blocks)
        blocks = fit.blocks;
    const uint64_t of_sm = (trace->blocks + (uint64_t)gpu->sms - 1) / (uint64_t)gpu->sms,
                   held = blocks < of_sm ? blocks : of_sm;
    const uint32_t of_block = (trace->shared + KB + 127) / 128 * 128;
    const uint64_t need = (held * of_block + KB - 1) / KB;
    uint32_t split = (uint32_t)gpu->shared_kb;
    for (size_t i = sizeof splits / sizeof splits[0]; i-- > 0;)
        split = splits[i] >= need && splits[i] <= split ? splits[i] : split;
    *l1_bytes = ((uint32_t)gpu->l1_kb - split) * KB - OTHER;
    return blocks;
}

static time_slot *free_slot(time_sm *sm)
{
    time_slot *slot = NULL;
    for (uint32_t i = 0; i < sm->resident; i++)
        if (sm->slots[i].block < 0 && (!slot || sm->slots[i].free_at < slot->free_at))
            slot = &sm->slots[i];
    return slot;
}

static void begin_block(time_sm *sm, time_slot *slot, time_ticks at)
{
    const time_trace *t = sm->trace;
    const uint32_t first = (uint32_t)(slot - sm->slots) * t->warps;
    *slot = (time_slot){.block = (int64_t)sm->launched};
    for (uint32_t i = 0; i < t->warps; i++) {
        const time_stream *s = &t->streams[sm->launched * t->warps + i];
        time_warp *w = &sm->warps[first + i];
        *w = (time_warp){.at = t->words + s->begin,
                         .end = t->words + s->begin + s->size,
                         .slot = (int)(slot - sm->slots),
                         .part = (int)((first + i) % TIME_PARTS),
                         .active = s->size > 0,
                         .looked = -1,
                         .eligible = -1};
        w->ready = at + time_of(sm->gpu->block_start + sm->gpu->warp_start * (i / TIME_PARTS));
        slot->alive += w->active;
    }
    sm->launched++;
    if (!slot->alive) {
        slot->block = -1;
        slot->free_at = at + time_of(sm->gpu->block_start + sm->gpu->block_end);
        sm->done[sm->done_count++] = slot->free_at;
    }
}

void time_launch_blocks(time_sm *sm)
{
    while (sm->launched < sm->simulated) {
        time_slot *slot = free_slot(sm);
        if (!slot)
            return;
        const time_ticks at = sm->next_launch > slot->free_at ? sm->next_launch : slot->free_at;
        if (at > sm->now)
            return;
        begin_block(sm, slot, at);
        const time_ticks gap = at + time_of(sm->gpu->block_gap), next = sm->next_launch + sm->interval;
        sm->next_launch = next > gap ? next : gap;
    }
}

static int by_time(const void *a, const void *b)
{
    const time_ticks x = *(const time_ticks *)a, y = *(const time_ticks *)b;
    return x < y ? -1 : x > y;
}

/* An SM, by the instructions that it has had. */
typedef struct load {
    double sum;
    uint32_t sm;
} load;

static bool is_less(const load *a, const load *b)
{
    return a->sum < b->sum || (a->sum <= b->sum && a->sm < b->sm);
}

static int by_sum(const void *a, const void *b)
{
    return is_less(a, b) ? -1 : is_less(b, a);
}

static void sink(load *heap, size_t count)
{
    for (size_t i = 0;;) {
        size_t least = i;
        for (size_t k = 2 * i + 1; k <= 2 * i + 2 && k < count; k++)
            least = is_less(&heap[k], &heap[least]) ? k : least;
        if (least == i)
            return;
        const load had = heap[i];
        heap[i] = heap[least];
        heap[least] = had;
        i = least;
    }
}

/* The busiest SM beside the one that was simulated, by instructions: blocks go to SMs in turn, and once all are full,
 * to the one that has had least. */
static double find_imbalance(const time_sm *sm)
{
    const time_trace *t = sm->trace;
    const uint32_t sms = (uint32_t)sm->gpu->sms;
    const double highest = 3, small = 0.03;
    if (t->block_count != t->blocks || t->blocks <= sms)
        return 1;
    const uint64_t wave = (uint64_t)sm->resident * sms;
    load *heap = smp_alloc_array(sms, sizeof *heap);
    double own = 0, most = 0;
    for (uint32_t i = 0; heap && i < sms; i++)
        heap[i] = (load){0, i};
    for (uint64_t b = 0; heap && b < t->blocks; b++) {
        const double instructions = t->block_instructions[b];
        if (b == wave)
            qsort(heap, sms, sizeof *heap, by_sum);
        load *to = &heap[b < wave ? b % sms : 0];
        to->sum += instructions;
        most = to->sum > most ? to->sum : most;
        own += b % sms == t->sm && b / sms < sm->simulated ? instructions : 0;
        if (b >= wave)
            sink(heap, sms);
    }
    smp_free(heap);
    double worst = own > 0 && most > 0 ? most / (own * (double)sm->per_sm / (double)sm->simulated) : 1;
    worst = worst > highest ? highest : worst;
    return worst > 1 - small && worst < 1 + small ? 1 : worst;
}

/* The blocks behind those that were simulated do next to nothing: by_work of what these let expect. They still begin
 * one after another, from `end` on. */
static double of_few(const time_sm *sm, double by_work, double expected, double end)
{
    const double rest = (double)(sm->per_sm - sm->simulated) * (double)sm->interval / TIME_TICK,
                 least = (end + rest) / expected, share = by_work > least ? by_work : least;
    return share < FEW_WORK ? share : FEW_WORK;
}

double time_extrapolate(time_sm *sm, double *imbalance)
{
    const size_t n = sm->done_count, wave = sm->resident;
    qsort(sm->done, n, sizeof *sm->done, by_time);
    time_ticks end = sm->end > sm->beyond.last ? sm->end : sm->beyond.last;
    if (n && sm->done[n - 1] > end)
        end = sm->done[n - 1];
    const double simulated = (double)end / TIME_TICK;
    double total = simulated;
    if (sm->simulated < sm->per_sm && n > 1 && n >= 2 * wave) { /* after the first wave blocks end at a steady rate */
        const double rate = (double)(sm->done[n - 1] - sm->done[wave - 1]) / TIME_TICK / (double)(n - wave);
        total += rate * (double)(sm->per_sm - sm->simulated);
    } else if (sm->simulated < sm->per_sm)
        total *= (double)sm->per_sm / (double)sm->simulated;
    const double by_work = find_imbalance(sm);
    *imbalance = by_work < FEW_WORK ? of_few(sm, by_work, total, simulated) : by_work;
    total *= *imbalance;
    sm->times = (double)sm->per_sm / (double)sm->simulated * (by_work < FEW_WORK ? by_work : 1);
    const double all = sm->times / total, l2 = (double)sm->beyond.l2_busy / TIME_TICK * all,
                 dram = (sm->beyond.dram_read + sm->beyond.dram_write) / sm->beyond.dram_bytes * all,
                 busiest = l2 > dram ? l2 : dram;
    return total * (1 + sm->gpu->imbalance * (busiest < 1 ? busiest : 1));
}
