/* The union-find of label's GPU kernels (label.h): runs of words, which of them touch, and slots in global memory.
 *
 * A slot's value is one of
 *   below LABEL_NUMBERED  the number of a slot of the same component, not above its own
 *   LABEL_NUMBERED + n    a root, when all roots have numbers: its component is n
 *   LABEL_LOCAL + i       slot i of the same tile, which is the root within the tile */
#ifndef SMP_KERNELS_REDUCE_LABEL_SLOTS_CUH
#define SMP_KERNELS_REDUCE_LABEL_SLOTS_CUH

#include "lib/gpu_kernel.h"
#include "reduce/label.h"

enum : uint32_t { LABEL_NUMBERED = 0x80000000u, LABEL_LOCAL = 0u - SMP_LABEL_THREADS * SMP_LABEL_RUNS };

template <typename T> SMP_DEVICE T *label_at(const smp_view &scratch, int64_t bytes)
{
    return reinterpret_cast<T *>(static_cast<char *>(scratch.data) + bytes);
}
SMP_DEVICE uint64_t *label_head(const smp_io &io, const smp_label &p)
{
    return reinterpret_cast<uint64_t *>(static_cast<char *>(io.result) + p.head_at);
}

/* ------------------------------------------------------------------------------------------------ runs of a word */

SMP_DEVICE unsigned label_starts(unsigned word)
{
    return word & ~(word << 1);
}
SMP_DEVICE int label_runs(unsigned word)
{
    return __popc(label_starts(word));
}
/* Which run of the word its set bit lies in. */
SMP_DEVICE int label_run_of(unsigned word, int bit)
{
    return __popc(label_starts(word) & ((2u << bit) - 1u)) - 1;
}
/* The bits of the run that starts at `first`, the lowest bit of it alone. */
SMP_DEVICE unsigned label_run(unsigned word, unsigned first)
{
    return word & (word ^ (word + first));
}
SMP_DEVICE int label_highest(unsigned bits)
{
    return 31 - __clz((int)bits);
}

/* Runs from .. to of the word above that a run touches; to < from: none. */
struct label_touched {
    int from, to;
};
SMP_DEVICE label_touched label_above(unsigned run, unsigned above, int near)
{
    const unsigned touch = (near ? run | run << 1 | run >> 1 : run) & above;
    label_touched t = {0, -1};
    if (touch) {
        t.from = label_run_of(above, __ffs((int)touch) - 1);
        t.to = label_run_of(above, label_highest(touch));
    }
    return t;
}

/* A word and its neighbours, 0 outside the picture. */
struct label_words {
    unsigned here, left, right, above, above_left, above_right;
};
/* What a word's runs are joined with beyond the run above; by corners only where nothing else joins them. */
SMP_DEVICE bool label_joins_left(const label_words &w)
{
    return w.here & 1u && w.left >> 31;
}
SMP_DEVICE bool label_joins_above_left(const label_words &w, int near)
{
    return near && w.here & 1u && w.above_left >> 31 && !(w.above & 1u) && !(w.left >> 31);
}
SMP_DEVICE bool label_joins_above_right(const label_words &w, int near)
{
    return near && w.here >> 31 && w.above_right & 1u && !(w.above >> 31) && !(w.right & 1u);
}

/* ------------------------------------------------------------------------------------------------ slots */

/* Words of the picture, and the slots that belong to them. */
struct label_slots {
    uint32_t *slots;
    int64_t words, height; /* words of a row */

    /* source: the picture. */
    SMP_DEVICE_MEMBER label_slots(const smp_view &scratch, const smp_view &source, const smp_label &p)
        : slots(label_at<uint32_t>(scratch, p.slots_at)), words(smp_bits_words(source.width)), height(source.height)
    {
    }
    SMP_DEVICE_MEMBER uint32_t of(int64_t word, int run) const { return (uint32_t)(word * SMP_LABEL_RUNS + run); }
    /* Others lower values meanwhile: an older one is of the same component too. */
    SMP_DEVICE_MEMBER uint32_t look(uint32_t slot) const
    {
        return *static_cast<const volatile uint32_t *>(slots + slot);
    }
    /* The slot, or the root of its tile where it knows that one alone. */
    SMP_DEVICE_MEMBER uint32_t in_tile(int64_t word, int run) const
    {
        const uint32_t slot = of(word, run), value = look(slot);
        if (value < LABEL_LOCAL)
            return slot;
        const int64_t y = word / words, x = word - y * words;
        const uint32_t local = value - LABEL_LOCAL, at = local / SMP_LABEL_RUNS;
        const int64_t row = y / SMP_LABEL_DOWN * SMP_LABEL_DOWN + at / SMP_LABEL_ACROSS;
        const int64_t column = x / SMP_LABEL_ACROSS * SMP_LABEL_ACROSS + at % SMP_LABEL_ACROSS;
        return of(row * words + column, (int)(local % SMP_LABEL_RUNS));
    }
    SMP_DEVICE_MEMBER uint32_t root(uint32_t slot) const
    {
        for (uint32_t next = look(slot); next != slot; next = look(slot))
            slot = next;
        return slot;
    }
    /* The same while others join: every slot that it passes is hung below the one after the next, so that ways stay
     * short. That undoes what another thread does to a slot which it took for a root; but it sees that this was none.
     */
    SMP_DEVICE_MEMBER uint32_t climb(uint32_t slot) const
    {
        for (;;) {
            const uint32_t next = look(slot), above = look(next);
            if (above == next)
                return next;
            *static_cast<volatile uint32_t *>(slots + slot) = above;
            slot = above;
        }
    }
    /* Both are roots of tiles, or below such. */
    SMP_DEVICE_MEMBER void unite(uint32_t a, uint32_t b) const
    {
        a = climb(a);
        b = climb(b);
        while (a != b) {
            const uint32_t high = a > b ? a : b, low = a > b ? b : a;
            const uint32_t old = atomicMin(slots + high, low);
            a = old == high ? low : old; /* old: it was no root any more */
            b = low;
        }
    }
    /* The component's number, once roots have theirs. */
    SMP_DEVICE_MEMBER uint32_t number(int64_t word, int run) const
    {
        uint32_t value = slots[in_tile(word, run)];
        if (value < LABEL_NUMBERED)
            value = slots[value];
        return value - LABEL_NUMBERED;
    }
};

#endif
