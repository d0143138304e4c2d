/* Accesses to shared memory that lie alike, and how often they were made: by them it is told what a kernel would cost
 * with another layout of an array. Of a large grid blocks are recorded that lie evenly apart, and of an instruction so
 * many patterns; their numbers stand for all. Each layout that is tried takes the time of all of them. */

#include <string.h>

#include "base/alloc.h"
#include "lab/machine/memo.h"

enum { MOST = 4096, MOST_OF_ONE = 1024, MOST_BLOCKS = 32 };

static uint64_t mixed(uint64_t hash, uint64_t bits)
{
    hash = (hash ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* Never 0. */
static uint64_t hash_of(uint32_t active, uint32_t width, int op, const uint32_t lanes[SMP_WARP])
{
    uint64_t hash = mixed((uint64_t)width << 8 | (uint32_t)op, active);
    for (int l = 0; l < SMP_WARP; l++)
        hash = mixed(hash, lanes[l]);
    return hash ? hash : 1;
}

static bool add(smp_warp_patterns *to, const smp_warp_pattern *pattern, uint64_t hash)
{
    uint64_t number = smp_hash_set_value(&to->numbers, hash);
    if (number) {
        to->items[number - 1].count += pattern->count;
        return true;
    }
    if (!smp_grow(&to->items, &to->capacity, to->count + 1, sizeof *to->items))
        return false;
    to->items[to->count] = *pattern;
    number = to->count + 1;
    if (!smp_hash_set_swap(&to->numbers, hash, &number))
        return false;
    to->count++;
    return true;
}

bool smp_warp_patterns_add(smp_warp_patterns *to, const smp_warp_pattern *p)
{
    const uint64_t hash = mixed(hash_of(p->active, p->width, p->op, p->offset), p->of) | 1;
    return (to->count >= MOST && !smp_hash_set_value(&to->numbers, hash)) || add(to, p, hash);
}

void smp_warp_patterns_free(smp_warp_patterns *patterns)
{
    smp_free(patterns->items);
    smp_hash_set_free(&patterns->numbers);
    *patterns = (smp_warp_patterns){.count = 0};
}

bool warp_records_block(const smp_warp_launch *launch, uint64_t index)
{
    const uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    return blocks <= MOST_BLOCKS || launch->blocks || !index ||
           index / ((blocks + MOST_BLOCKS - 1) / MOST_BLOCKS) !=
               (index - 1) / ((blocks + MOST_BLOCKS - 1) / MOST_BLOCKS);
}

void warp_record(warp_block *block, uint32_t index, const smp_bank_access *access, int wavefronts)
{
    warp_memo *memo = &block->memos[index];
    smp_warp_patterns *to = &block->patterns;
    const bool is_copy = access->op == SMP_BANK_ASYNC || access->op == SMP_BANK_ASYNC_L2;
    if (!memo->hash)
        memo->hash = hash_of(memo->active, memo->width, memo->op, memo->delta);
    const uint64_t place = (uint64_t)index << 32 | access->offset[__builtin_ctz(access->active)];
    const uint64_t hash = mixed(memo->hash, place) | 1, number = smp_hash_set_value(&to->numbers, hash);
    if (number) {
        to->items[number - 1].count++;
        block->counts[index].recorded += (uint32_t)wavefronts;
        return;
    }
    smp_warp_pattern p = {.of = index,
                          .op = (uint8_t)(is_copy ? SMP_BANK_STORE : access->op),
                          .width = (uint8_t)access->width,
                          .active = access->active,
                          .count = 1};
    for (int l = 0; l < WARP_LANES; l++)
        p.offset[l] = access->offset[l] & (0 - (access->active >> l & 1));
    if (to->count == MOST || memo->patterns == MOST_OF_ONE || !add(to, &p, hash))
        return; /* what was recorded stands for the rest */
    memo->patterns++;
    block->counts[index].recorded += (uint32_t)wavefronts;
}

/* The array that holds all of an access; UINT32_MAX: none does, and those that hold some are mixed. */
static uint32_t array_of(const warp_block *block, const smp_warp_pattern *p, smp_warp_result *result)
{
    uint32_t first = UINT32_MAX;
    bool several = false;
    WARP_ACTIVE_LANES(p->active)
    {
        const uint32_t at = warp_array_at(block, p->offset[l]);
        several = several || (first != UINT32_MAX && at != first);
        if (several && at != UINT32_MAX)
            result->arrays[at].mixed = true;
        if (several && first != UINT32_MAX)
            result->arrays[first].mixed = true;
        first = at;
    }
    return several ? UINT32_MAX : first;
}

bool warp_make_patterns(const warp_block *block, smp_warp_result *result)
{
    const warp_code *code = block->code;
    result->arrays = smp_alloc_array(code->array_count + 1, sizeof *result->arrays);
    if (!result->arrays)
        return false;
    result->array_count = code->array_count;
    for (size_t i = 0; i < result->array_count; i++) {
        snprintf(result->arrays[i].name, sizeof result->arrays[i].name, "%s", code->arrays[i].name);
        result->arrays[i].bytes = code->arrays[i].size;
    }
    for (size_t i = 0; i < block->patterns.count && result->array_count; i++) {
        smp_warp_pattern p = block->patterns.items[i];
        const warp_count *c = &block->counts[p.of];
        const warp_inst *inst = block->insts[p.of];
        const uint32_t array = array_of(block, &p, result);
        if (array == UINT32_MAX || !c->recorded)
            continue;
        const uint64_t all = c->in[SMP_WARP_SHARED].wavefronts;
        if (c->recorded < all)
            p.count = (uint64_t)((double)p.count * (double)all / (double)c->recorded + 0.5);
        const uint32_t base = code->arrays[array].size ? code->arrays[array].offset : block->dynamic_base;
        p.of = array;
        if (!code->param_base && inst->text) /* PTX */
            smp_warp_widen(&result->arrays[array],
                           memmem(inst->text, inst->text_size, "wmma.", strlen("wmma.")) ? SMP_WARP_ROWS : p.width);
        WARP_ACTIVE_LANES(p.active)
        p.offset[l] -= base;
        if (!smp_warp_patterns_add(&result->patterns, &p))
            return false;
    }
    return true;
}
