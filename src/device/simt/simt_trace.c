/* The callbacks of the traced kernels. These are compiled with -fsanitize=thread but linked with the callbacks below
 * instead of ThreadSanitizer's, so that every load and store of a kernel comes here with its size and return address,
 * and every call of a function. An instruction is a place and the calls that lead there, as if all were inlined: on a
 * GPU they are.
 *
 * Conflicts: the accesses of one warp at one site form warp instructions. The nth access of each lane since the warp
 * last converged (at a barrier of block or warp, or at smp_converge() in the kernel) belongs to the same instruction;
 * banks/bank.h gives its cost. Mistakes: each shared byte remembers which threads wrote and read it since the last
 * barrier; a barrier of the whole warp orders its lanes. */
#include <string.h>
#include <sys/mman.h>

#include "banks/bank.h"
#include "base/alloc.h"
#include "device/simt/simt_internal.h"

enum { SITES = 2048, SITE_SLOTS = 4096, MANY = 0xffff, CLEAN = 4 };

/* The accesses to a byte in the current interval (between two barriers of the block), as far as they matter: by the
 * last thread, by many of one warp, or by many warps. turn: the number of warp barriers that its warp had passed. */
typedef struct history {
    uint32_t interval, turn;
    uint16_t thread, warp;
} history;

typedef struct shadow {
    uint32_t block; /* the block that wrote it: for other blocks it is uninitialised */
    bool atomic;    /* all writes of the interval were atomic */
    bool split;     /* of a word: the block accessed parts of it, so its bytes have shadows of their own */
    history write, read;
} shadow;

enum { WORD = 4, WORDS = SIMT_ARENA / WORD }; /* most accesses are whole words: one shadow for four bytes */

/* One warp instruction on shared memory. */
typedef struct instruction {
    uint32_t site, active;
    bool unit, read; /* atomics: adds 1; a lane used the result */
    bool real;
    bool from_l2; /* asynchronous copies: bank.h */
    uint32_t through_l1;
    uint32_t offset[SIMT_LANES], source[SIMT_LANES];
} instruction;

/* Moment at which a lane reached a site: how often its warp had converged before (warp barriers, smp_converge()), and
 * how often the lane was at the site since. */
typedef struct moment {
    uint32_t turn, step, nth;
} moment;

typedef struct log_item {
    moment when;
    uint32_t instruction; /* its index */
} log_item;

/* The instructions of one site in the current warp and interval, ordered by moment. */
typedef struct site_log {
    log_item *items;
    size_t count, capacity;
    moment next[SIMT_LANES]; /* of each lane */
    uint32_t at[SIMT_LANES]; /* all items before this one are earlier */
} site_log;

struct simt_recorder {
    shadow *words, *bytes; /* WORDS of them; SIMT_ARENA of them */
    uint32_t block, interval;
    uint32_t turn[SIMT_WARPS];
    uint32_t step[SIMT_LANES]; /* of the current warp: smp_converge() calls since its last barrier of either kind */
    smp_trace_site sites[SITES];
    site_log logs[SITES];
    uint32_t site_count;
    uint16_t slots[SITE_SLOTS]; /* site + 1 by pc */
    uint32_t touched[SITES], touched_count;
    instruction *instructions;
    size_t count, capacity;
    size_t last_atomic; /* index + 1 */
    int last_atomic_thread;
    simt_range clean[CLEAN]; /* addresses of this launch that touch no guard: its buffers, stacks, parameters */
    unsigned oldest;
    bool exhausted; /* out of memory, or too many sites */
    bool met;       /* as in smp_trace_launch */
    uint64_t divergent;
};

static const size_t SHADOW_BYTES = (WORDS + SIMT_ARENA) * sizeof(shadow);

bool simt_trace_prepare(simt_worker *worker)
{
    if (worker->recorder)
        return true;
    simt_recorder *recorder = smp_alloc(sizeof *recorder);
    if (!recorder)
        return false;
    void *shadows =
        mmap(NULL, SHADOW_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (shadows == MAP_FAILED || !simt_calls_prepare(worker)) {
        if (shadows != MAP_FAILED)
            munmap(shadows, SHADOW_BYTES);
        smp_free(recorder);
        return false;
    }
    recorder->words = shadows;
    recorder->bytes = recorder->words + WORDS;
    worker->recorder = recorder;
    return true;
}

void simt_trace_free(simt_worker *worker)
{
    simt_recorder *recorder = worker->recorder;
    if (!recorder)
        return;
    munmap(recorder->words, SHADOW_BYTES);
    for (int i = 0; i < SITES; i++)
        smp_free(recorder->logs[i].items);
    smp_free_all(recorder->instructions, recorder);
    worker->recorder = NULL;
}

static void next_interval(simt_recorder *recorder)
{
    recorder->interval++;
    memset(recorder->turn, 0, sizeof recorder->turn);
}

void simt_trace_block(simt_worker *worker)
{
    simt_calls_block(worker);
    worker->recorder->block++;
    next_interval(worker->recorder);
}

void simt_trace_barrier(simt_worker *worker)
{
    worker->recorder->met = true;
    next_interval(worker->recorder);
}

void simt_trace_exchange(simt_worker *worker)
{
    worker->recorder->met = true;
}

void simt_trace_warp_sync(simt_worker *worker, int warp)
{
    worker->recorder->turn[warp]++;
    memset(worker->recorder->step, 0, sizeof worker->recorder->step);
}

void simt_trace_together(simt_worker *worker)
{
    worker->recorder->step[worker->current % SIMT_LANES]++;
}

/* ------------------------------------------------------------------------------------------------ sites */

static uint32_t site_of(simt_recorder *recorder, const simt_place *place, smp_shared_op op, int width)
{
    uint32_t slot = (uint32_t)(((place->pc ^ place->path) * SIMT_MIX) >> 40) % SITE_SLOTS;
    for (; recorder->slots[slot]; slot = (slot + 1) % SITE_SLOTS) {
        uint32_t site = recorder->slots[slot] - 1u;
        const smp_trace_site *one = &recorder->sites[site];
        if (one->pc == place->pc && one->path == place->path && one->op == op)
            return site;
    }
    if (recorder->site_count == SITES) {
        recorder->exhausted = true;
        return 0;
    }
    uint32_t site = recorder->site_count++;
    recorder->slots[slot] = (uint16_t)(site + 1);
    recorder->sites[site] = (smp_trace_site){.pc = place->pc, .path = place->path, .op = op, .width = width};
    return site;
}

void simt_trace_divergent(simt_worker *worker, const simt_place *place)
{
    uint32_t site = site_of(worker->recorder, place, SMP_SHARED_LOAD, 0);
    worker->recorder->sites[site].faults.divergent++;
}

/* ------------------------------------------------------------------------------------------------ mistakes */

static bool clashes(const simt_recorder *recorder, const history *before, int thread)
{
    if (before->interval != recorder->interval || before->thread == thread)
        return false;
    int warp = thread / SIMT_LANES;
    return !(before->warp == warp && before->turn < recorder->turn[warp]);
}

static void remember(const simt_recorder *recorder, history *past, int thread)
{
    int warp = thread / SIMT_LANES;
    uint32_t turn = recorder->turn[warp];
    if (past->interval != recorder->interval) {
        *past = (history){recorder->interval, turn, (uint16_t)thread, (uint16_t)warp};
    } else if (past->warp != warp) {
        past->warp = past->thread = MANY;
    } else if (past->turn < turn) { /* earlier ones of this warp are ordered for the warp, and alike for others */
        past->turn = turn;
        past->thread = (uint16_t)thread;
    } else if (past->thread != thread) {
        past->thread = MANY;
    }
}

/* The mistake in an access, as far as this byte (or word) tells. */
typedef struct wrong {
    bool race, uninitialised;
} wrong;

static void check(const simt_recorder *recorder, shadow *byte, int thread, simt_access access, wrong *found)
{
    bool written = byte->write.interval == recorder->interval;
    if (access != SIMT_WRITE && byte->block != recorder->block)
        found->uninitialised = true;
    if (!(access == SIMT_ATOMIC && written && byte->atomic) && clashes(recorder, &byte->write, thread))
        found->race = true;
    if (access == SIMT_READ) {
        remember(recorder, &byte->read, thread);
        return;
    }
    if (clashes(recorder, &byte->read, thread))
        found->race = true;
    byte->atomic = access == SIMT_ATOMIC && (!written || byte->atomic);
    byte->block = recorder->block;
    remember(recorder, &byte->write, thread);
}

/* Splits a word: each of its bytes gets the word's state. */
static shadow *split(const simt_recorder *recorder, size_t word)
{
    shadow *whole = &recorder->words[word], *bytes = &recorder->bytes[word * WORD];
    if (!whole->split) {
        for (int i = 0; i < WORD; i++)
            bytes[i] = *whole;
        whole->split = true;
        whole->block = recorder->block;
    }
    return bytes;
}

static void check_bytes(simt_worker *worker, size_t offset, size_t size, simt_access access, smp_trace_site *site)
{
    const simt_recorder *recorder = worker->recorder;
    int thread = worker->current;
    wrong found = {false, false};
    for (size_t at = offset; at < offset + size;) {
        size_t word = at / WORD, first = at % WORD, left = offset + size - at;
        size_t count = left < WORD - first ? left : WORD - first;
        shadow *whole = &recorder->words[word];
        if (whole->split && whole->block != recorder->block)
            *whole = (shadow){.block = 0}; /* other blocks' accesses do not matter */
        if (count == WORD && !whole->split) {
            check(recorder, whole, thread, access, &found);
        } else {
            shadow *bytes = split(recorder, word);
            for (size_t i = first; i < first + count; i++)
                check(recorder, &bytes[i], thread, access, &found);
        }
        at += count;
    }
    site->faults.races += found.race;
    site->faults.uninitialised += found.uninitialised;
}

/* ------------------------------------------------------------------------------------------------ warp instructions */

static bool later(const moment *a, const moment *b)
{
    if (a->turn != b->turn)
        return a->turn > b->turn;
    return a->step != b->step ? a->step > b->step : a->nth > b->nth;
}

/* Adds this lane's address to its warp's instruction at the site. Null: out of memory. */
static instruction *join(simt_worker *worker, uint32_t site, size_t offset)
{
    simt_recorder *recorder = worker->recorder;
    site_log *log = &recorder->logs[site];
    int lane = worker->current % SIMT_LANES;
    moment *now = &log->next[lane];
    const uint32_t turn = recorder->turn[worker->current / SIMT_LANES], step = recorder->step[lane];
    if (!log->count)
        recorder->touched[recorder->touched_count++] = site;
    if (now->turn != turn || now->step != step)
        *now = (moment){turn, step, 0};
    uint32_t at = log->at[lane];
    while (at < log->count && later(now, &log->items[at].when))
        at++;
    log->at[lane] = at;
    if (at == log->count || later(&log->items[at].when, now)) {
        if (!smp_grow(&recorder->instructions, &recorder->capacity, recorder->count + 1, sizeof(instruction)) ||
            !smp_grow(&log->items, &log->capacity, log->count + 1, sizeof *log->items)) {
            recorder->exhausted = true;
            return NULL;
        }
        memmove(log->items + at + 1, log->items + at, (log->count++ - at) * sizeof *log->items);
        log->items[at] = (log_item){*now, (uint32_t)recorder->count};
        recorder->instructions[recorder->count++] = (instruction){.site = site, .unit = true};
    }
    now->nth++;
    instruction *one = &recorder->instructions[log->items[at].instruction];
    one->active |= 1u << lane;
    one->offset[lane] = (uint32_t)offset;
    return one;
}

void simt_trace_warp_end(simt_worker *worker)
{
    simt_recorder *recorder = worker->recorder;
    for (size_t i = 0; i < recorder->count; i++) {
        const instruction *one = &recorder->instructions[i];
        smp_trace_site *site = &recorder->sites[one->site];
        smp_bank_access access = {.width = site->width, .active = one->active, .through_l1 = one->through_l1};
        memcpy(access.offset, one->offset, sizeof access.offset);
        switch (site->op) {
        case SMP_SHARED_LOAD:
            access.op = SMP_BANK_LOAD;
            break;
        case SMP_SHARED_ATOMIC:
            access.op = one->real ? SMP_BANK_ATOMIC_FLOAT : one->unit && !one->read ? SMP_BANK_COUNT : SMP_BANK_ATOMIC;
            break;
        case SMP_SHARED_ASYNC:
            access.op = one->from_l2 ? SMP_BANK_ASYNC_L2 : SMP_BANK_ASYNC;
            memcpy(access.source, one->source, sizeof access.source);
            break;
        default:
            access.op = SMP_BANK_STORE;
            break;
        }
        smp_bank_cost cost = smp_bank_cost_of(&access);
        smp_trace_example(site, &access, cost.conflicts);
        site->count.instructions++;
        site->count.wavefronts += (uint64_t)cost.wavefronts;
        site->count.ideal += (uint64_t)cost.packed;
        site->conflicts += (uint64_t)cost.conflicts;
    }
    for (uint32_t i = 0; i < recorder->touched_count; i++) {
        site_log *log = &recorder->logs[recorder->touched[i]];
        log->count = 0;
        memset(log->next, 0, sizeof log->next);
        memset(log->at, 0, sizeof log->at);
    }
    memset(recorder->step, 0, sizeof recorder->step);
    recorder->touched_count = 0;
    recorder->count = 0;
    recorder->last_atomic = 0;
}

/* ------------------------------------------------------------------------------------------------ accesses */

/* Whether an access is known to touch no guard: kernels use few buffers, so the ranges found last are remembered. */
static inline bool known_clean(const simt_recorder *recorder, uintptr_t at, size_t size)
{
    for (int i = 0; i < CLEAN; i++)
        if (at >= recorder->clean[i].first && at + size <= recorder->clean[i].end)
            return true;
    return false;
}

/* Whether an access to global memory touches a guard. */
static bool guard_hit(simt_recorder *recorder, uintptr_t at, size_t size)
{
    simt_range clean;
    if (known_clean(recorder, at, size))
        return false;
    if (simt_guard_hit(at, size, &clean))
        return true;
    recorder->clean[recorder->oldest++ % CLEAN] = clean;
    return false;
}

/* One access of the running thread. Null unless it is a counted access to shared memory. */
static __attribute__((noinline)) instruction *touch(simt_worker *worker, uintptr_t at, size_t size, simt_access access,
                                                    smp_shared_op op, const simt_place *place, bool count)
{
    simt_recorder *recorder = worker->recorder;
    size_t offset = at - (uintptr_t)worker->arena;
    if (offset >= SIMT_ARENA) {
        if (guard_hit(recorder, at, size))
            recorder->sites[site_of(recorder, place, op, (int)size)].faults.outside++;
        return NULL;
    }
    uint32_t site = site_of(recorder, place, op, (int)size);
    recorder->met = true;
    if (offset + size > worker->shared_used) {
        recorder->sites[site].faults.outside++;
        if (offset + size > SIMT_ARENA)
            return NULL;
    } else if (access != SIMT_ASYNC) {
        check_bytes(worker, offset, size, access, &recorder->sites[site]);
    }
    return count ? join(worker, site, offset) : NULL;
}

void simt_trace_atomic(simt_worker *worker, const void *at, size_t size, const simt_place *place, bool unit, bool real)
{
    instruction *one = touch(worker, (uintptr_t)at, size, SIMT_ATOMIC, SMP_SHARED_ATOMIC, place, true);
    worker->recorder->last_atomic = 0;
    worker->recorder->met = true;
    if (!one)
        return;
    one->unit = one->unit && unit;
    one->real = one->real || real;
    worker->recorder->last_atomic = (size_t)(one - worker->recorder->instructions) + 1;
    worker->recorder->last_atomic_thread = worker->current;
}

void simt_trace_atomic_read(simt_worker *worker)
{
    simt_recorder *recorder = worker->recorder;
    if (recorder->last_atomic && recorder->last_atomic_thread == worker->current)
        recorder->instructions[recorder->last_atomic - 1].read = true;
}

void simt_trace_copy_issue(simt_worker *worker, const void *to, size_t size, const void *from, bool fills,
                           const simt_place *place)
{
    if (from && guard_hit(worker->recorder, (uintptr_t)from, size))
        worker->recorder->sites[site_of(worker->recorder, place, SMP_SHARED_ASYNC, (int)size)].faults.outside++;
    instruction *one = touch(worker, (uintptr_t)to, size, SIMT_ASYNC, SMP_SHARED_ASYNC, place, true);
    const int lane = worker->current % SIMT_LANES;
    if (!one)
        return;
    one->from_l2 = size == 16 && !fills; /* 16-byte copies bypass the L1 cache: gpu_kernel.h */
    one->source[lane] = (uint32_t)(uintptr_t)from;
    if (from && size < 16)
        one->through_l1 |= 1u << lane;
}

void simt_trace_copy_land(simt_worker *worker, const void *to, size_t size, const simt_place *place)
{
    touch(worker, (uintptr_t)to, size, SIMT_WRITE, SMP_SHARED_ASYNC, place, false);
}

static bool add_site(smp_trace_launch *launch, const smp_trace_site *from)
{
    size_t i = 0;
    while (i < launch->site_count &&
           !(launch->sites[i].pc == from->pc && launch->sites[i].path == from->path && launch->sites[i].op == from->op))
        i++;
    if (i == launch->site_count) {
        if (!smp_grow(&launch->sites, &launch->site_capacity, i + 1, sizeof *launch->sites))
            return false;
        launch->sites[launch->site_count++] =
            (smp_trace_site){.pc = from->pc, .path = from->path, .op = from->op, .width = from->width};
    }
    smp_trace_site *to = &launch->sites[i];
    if (from->example.active)
        smp_trace_example(to, &from->example, from->example_conflicts);
    smp_shared_count *all = &launch->ops[from->op];
    to->count.instructions += from->count.instructions, all->instructions += from->count.instructions;
    to->count.wavefronts += from->count.wavefronts, all->wavefronts += from->count.wavefronts;
    to->count.ideal += from->count.ideal, all->ideal += from->count.ideal;
    to->conflicts += from->conflicts;
    to->faults.races += from->faults.races, launch->faults.races += from->faults.races;
    to->faults.uninitialised += from->faults.uninitialised;
    launch->faults.uninitialised += from->faults.uninitialised;
    to->faults.outside += from->faults.outside, launch->faults.outside += from->faults.outside;
    to->faults.divergent += from->faults.divergent, launch->faults.divergent += from->faults.divergent;
    return true;
}

bool simt_trace_merge(simt_worker *worker, smp_trace_launch *launch)
{
    simt_recorder *recorder = worker->recorder;
    simt_trace_warp_end(worker); /* left over from an abandoned block */
    bool complete = !recorder->exhausted;
    for (uint32_t i = 0; i < recorder->site_count; i++)
        complete = add_site(launch, &recorder->sites[i]) && complete;
    recorder->site_count = 0;
    memset(recorder->clean, 0, sizeof recorder->clean); /* buffers may change before the next launch */
    recorder->exhausted = false;
    launch->met = launch->met || recorder->met;
    recorder->met = false;
    memset(recorder->slots, 0, sizeof recorder->slots);
    return complete;
}

/* ------------------------------------------------------------------------------------------------ callbacks */

/* Loads and stores of traced kernels. Other code does not call these during a launch. Most are of locals and of global
 * memory, of which there is nothing to tell: they end here, in the callback. */
static inline __attribute__((always_inline)) void report(const void *at, size_t size, simt_access access, uintptr_t pc)
{
    simt_worker *worker = simt_me;
    if (!worker || !worker->launch->trace)
        return;
    if ((uintptr_t)at - (uintptr_t)worker->arena >= SIMT_ARENA &&
        (worker->launch->counts_only || known_clean(worker->recorder, (uintptr_t)at, size)))
        return;
    const simt_place place = {pc, simt_calls_path()};
    touch(worker, (uintptr_t)at, size, access, access == SIMT_READ ? SMP_SHARED_LOAD : SMP_SHARED_STORE, &place, true);
}

#define CALLBACK(name, size, access)                                                                                   \
    void name(void *at);                                                                                               \
    void name(void *at)                                                                                                \
    {                                                                                                                  \
        report(at, size, access, (uintptr_t)__builtin_return_address(0));                                              \
    }
#define CALLBACKS(size)                                                                                                \
    CALLBACK(__tsan_read##size, size, SIMT_READ)                                                                       \
    CALLBACK(__tsan_write##size, size, SIMT_WRITE)                                                                     \
    CALLBACK(__tsan_unaligned_read##size, size, SIMT_READ)                                                             \
    CALLBACK(__tsan_unaligned_write##size, size, SIMT_WRITE)                                                           \
    CALLBACK(__tsan_volatile_read##size, size, SIMT_READ)                                                              \
    CALLBACK(__tsan_volatile_write##size, size, SIMT_WRITE)
CALLBACKS(1)
CALLBACKS(2)
CALLBACKS(4)
CALLBACKS(8)
CALLBACKS(16)

/* Aggregates of other sizes, as the 4-byte accesses that a GPU would make. */
static void report_range(char *at, size_t size, simt_access access, uintptr_t pc)
{
    for (size_t i = 0; i < size; i += 4)
        report(at + i, size - i < 4 ? size - i : 4, access, pc);
}

void __tsan_read_range(void *at, ptrdiff_t size);
void __tsan_read_range(void *at, ptrdiff_t size)
{
    report_range(at, (size_t)size, SIMT_READ, (uintptr_t)__builtin_return_address(0));
}

void __tsan_write_range(void *at, ptrdiff_t size);
void __tsan_write_range(void *at, ptrdiff_t size)
{
    report_range(at, (size_t)size, SIMT_WRITE, (uintptr_t)__builtin_return_address(0));
}

/* clang's instrumentation calls these instead; gcc does not report kernels' block copies (kernels/README.md). */
void *__tsan_memcpy(void *to, const void *from, size_t size);
void *__tsan_memcpy(void *to, const void *from, size_t size)
{
    uintptr_t pc = (uintptr_t)__builtin_return_address(0);
    report_range((char *)(uintptr_t)from, size, SIMT_READ, pc);
    report_range(to, size, SIMT_WRITE, pc + 1);
    return memcpy(to, from, size);
}

void *__tsan_memset(void *to, int value, size_t size);
void *__tsan_memset(void *to, int value, size_t size)
{
    report_range(to, size, SIMT_WRITE, (uintptr_t)__builtin_return_address(0));
    return memset(to, value, size);
}

void __tsan_init(void);
void __tsan_init(void) {}
