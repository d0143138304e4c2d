/* The union-find of GPU kernels that join (union_find.h): runs of words, which of them touch, slots in global memory.
 *
 * A slot's value is one of
 *   below UNION_FIND_NUMBERED  the number of a slot of the same component, not above its own
 *   UNION_FIND_NUMBERED + n    a root, when all roots have numbers: its component is n
 *   UNION_FIND_LOCAL + i       slot i of the same tile, which is the root within the tile */
#pragma once

#include "lib/gpu_kernel.h"
#include "lib/union_find.h"

enum : uint32_t {
    UNION_FIND_NUMBERED = 0x80000000u,
    UNION_FIND_LOCAL = 0u - SMP_UNION_FIND_THREADS * SMP_UNION_FIND_RUNS
};

template <typename T> SMP_DEVICE T *union_find_at(const smp_view &scratch, int64_t bytes)
{
    return reinterpret_cast<T *>(static_cast<char *>(scratch.data) + bytes);
}
SMP_DEVICE uint64_t *union_find_head(const smp_io &io, const smp_union_find &p)
{
    return reinterpret_cast<uint64_t *>(static_cast<char *>(io.result) + p.head_at);
}
/* By the launch that makes the plane, whose rows begin at y0: nothing is told yet where that is the picture's first. */
SMP_DEVICE void union_find_begin(const smp_io &io, const smp_union_find &p, int64_t y0)
{
    if (y0 == 0 && blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0 && threadIdx.y == 0)
        *union_find_head(io, p) = 0;
}

/* ------------------------------------------------------------------------------------------------ runs of a word */

SMP_DEVICE unsigned union_find_starts(unsigned word)
{
    return word & ~(word << 1);
}
SMP_DEVICE int union_find_runs(unsigned word)
{
    return __popc(union_find_starts(word));
}
/* Returns the run of the word that its set bit lies in. */
SMP_DEVICE int union_find_run_of(unsigned word, int bit)
{
    return __popc(union_find_starts(word) & ((2u << bit) - 1u)) - 1;
}
/* The bits of the run that starts at `first`, the lowest bit of it alone. */
SMP_DEVICE unsigned union_find_run(unsigned word, unsigned first)
{
    return word & (word ^ (word + first));
}
SMP_DEVICE int union_find_highest(unsigned bits)
{
    return 31 - __clz((int)bits);
}

/* Runs from .. to of the word above that a run touches; to < from: none. */
struct union_find_touched {
    int from, to;
};
SMP_DEVICE union_find_touched union_find_above(unsigned run, unsigned above, int near)
{
    const unsigned touch = (near ? run | run << 1 | run >> 1 : run) & above;
    union_find_touched t = {0, -1};
    if (touch) {
        t.from = union_find_run_of(above, __ffs((int)touch) - 1);
        t.to = union_find_run_of(above, union_find_highest(touch));
    }
    return t;
}

/* A word and its neighbours, 0 outside the picture. */
struct union_find_words {
    unsigned here, left, right, above, above_left, above_right;
};
/* Joins of a word's runs beyond the run above; by corners only if nothing else joins them. */
SMP_DEVICE bool union_find_left(const union_find_words &w)
{
    return w.here & 1u && w.left >> 31;
}
SMP_DEVICE bool union_find_above_left(const union_find_words &w, int near)
{
    return near && w.here & 1u && w.above_left >> 31 && !(w.above & 1u) && !(w.left >> 31);
}
SMP_DEVICE bool union_find_above_right(const union_find_words &w, int near)
{
    return near && w.here >> 31 && w.above_right & 1u && !(w.above >> 31) && !(w.right & 1u);
}

/* ------------------------------------------------------------------------------------------------ slots */

/* Words of the picture, and the slots that belong to them. */
struct union_find_slots {
    uint32_t *slots;
    int64_t words, height; /* words of a row */

    /* source: the picture. */
    SMP_DEVICE_MEMBER union_find_slots(const smp_view &scratch, const smp_view &source, const smp_union_find &p)
        : slots(union_find_at<uint32_t>(scratch, p.slots_at)), words(smp_bits_words(source.width)),
          height(source.height)
    {
    }
    SMP_DEVICE_MEMBER uint32_t of(int64_t word, int run) const { return (uint32_t)(word * SMP_UNION_FIND_RUNS + run); }
    /* Others lower values meanwhile: an older one is of the same component too. */
    SMP_DEVICE_MEMBER uint32_t look(uint32_t slot) const
    {
        return *static_cast<const volatile uint32_t *>(slots + slot);
    }
    /* The slot, or the root of its tile where it knows that one alone. */
    SMP_DEVICE_MEMBER uint32_t in_tile(int64_t word, int run) const
    {
        const uint32_t slot = of(word, run), value = look(slot);
        if (value < UNION_FIND_LOCAL)
            return slot;
        const int64_t y = word / words, x = word - y * words;
        const uint32_t local = value - UNION_FIND_LOCAL, at = local / SMP_UNION_FIND_RUNS;
        const int64_t row = y / SMP_UNION_FIND_DOWN * SMP_UNION_FIND_DOWN + at / SMP_UNION_FIND_ACROSS;
        const int64_t column = x / SMP_UNION_FIND_ACROSS * SMP_UNION_FIND_ACROSS + at % SMP_UNION_FIND_ACROSS;
        return of(row * words + column, (int)(local % SMP_UNION_FIND_RUNS));
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
    /* Returns the root's value, once all slots of tiles' roots know theirs (union_find_flatten). */
    SMP_DEVICE_MEMBER uint32_t settled(int64_t word, int run) const
    {
        const uint32_t value = slots[in_tile(word, run)];
        return value < UNION_FIND_NUMBERED ? slots[value] : value;
    }
    /* The root then, or UNION_FIND_NUMBERED where it holds that already, while others store it. */
    SMP_DEVICE_MEMBER uint32_t root_of(int64_t word, int run) const
    {
        const uint32_t slot = in_tile(word, run), value = look(slot), root = value < UNION_FIND_NUMBERED ? value : slot;
        return look(root) < UNION_FIND_NUMBERED ? root : (uint32_t)UNION_FIND_NUMBERED;
    }
    /* The component's number, once roots have theirs. */
    SMP_DEVICE_MEMBER uint32_t number(int64_t word, int run) const { return settled(word, run) - UNION_FIND_NUMBERED; }
};
