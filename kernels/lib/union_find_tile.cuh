/* A tile of 128 x 32 pixels, whose runs are joined in shared memory, a thread a word. Slot k of word t lies at
 * k * 128 + t: lanes that look at the same slot of their words meet different banks.
 *
 * In rounds (Hawick, Leist and Playne 2010): all look for their roots, then all hang the larger of two roots that touch
 * below the smaller, until none do. Barriers part what is read from what is written, so that accesses, and what they
 * cost, do not depend on the order of threads. Most runs begin below a neighbour (Komura 2015): few are left to join.
 */
#pragma once

#include "lib/union_find.cuh"

struct union_find_tile {
    uint32_t words[SMP_UNION_FIND_THREADS];
    uint32_t
        below[SMP_UNION_FIND_RUNS * SMP_UNION_FIND_THREADS]; /* of a slot: one of its component, not above its own */
    uint16_t roots[SMP_UNION_FIND_RUNS * SMP_UNION_FIND_THREADS]; /* the last of those, as far as this round knew */
    uint32_t changed;                                   /* the last round in which components were joined */
};

SMP_DEVICE uint32_t union_find_local(int word, int run)
{
    return (uint32_t)(word * SMP_UNION_FIND_RUNS + run);
}
SMP_DEVICE int union_find_place(uint32_t local)
{
    return (int)(local % SMP_UNION_FIND_RUNS * SMP_UNION_FIND_THREADS + local / SMP_UNION_FIND_RUNS);
}

/* Hangs the larger of two roots below the smaller, where slots a and b have different ones. */
SMP_DEVICE bool union_find_tile_unite(union_find_tile &tile, uint32_t a, uint32_t b)
{
    smp_converge();
    const uint32_t x = tile.roots[union_find_place(a)], y = tile.roots[union_find_place(b)];
    if (x != y)
        atomicMin(&tile.below[union_find_place(x > y ? x : y)], x > y ? y : x);
    return x != y;
}

/* Word t and its neighbours in the tile. */
SMP_DEVICE union_find_words union_find_tile_words(const union_find_tile &tile, int t)
{
    const int column = t % SMP_UNION_FIND_ACROSS;
    const bool above = t >= SMP_UNION_FIND_ACROSS, left = column > 0, right = column + 1 < SMP_UNION_FIND_ACROSS;
    union_find_words w;
    w.here = tile.words[t];
    w.left = left ? tile.words[t - 1] : 0;
    w.right = right ? tile.words[t + 1] : 0;
    w.above = above ? tile.words[t - SMP_UNION_FIND_ACROSS] : 0;
    w.above_left = above && left ? tile.words[t - SMP_UNION_FIND_ACROSS - 1] : 0;
    w.above_right = above && right ? tile.words[t - SMP_UNION_FIND_ACROSS + 1] : 0;
    return w;
}

/* Sets the first parents of word t's runs: below the left neighbour, else the first that they touch above. */
SMP_DEVICE void union_find_tile_begin(union_find_tile &tile, const union_find_words &w, int t, int near)
{
    for (unsigned starts = union_find_starts(w.here), k = 0; starts; starts &= starts - 1, k++) {
        const union_find_touched up = union_find_above(union_find_run(w.here, starts & (0u - starts)), w.above, near);
        uint32_t below = union_find_local(t, (int)k);
        if (k == 0 && union_find_left(w))
            below = union_find_local(t - 1, union_find_runs(w.left) - 1);
        else if (up.from <= up.to)
            below = union_find_local(t - SMP_UNION_FIND_ACROSS, up.from);
        smp_converge();
        tile.below[union_find_place(union_find_local(t, (int)k))] = below;
    }
}

/* Looks for the roots of word t's slots. */
SMP_DEVICE void union_find_tile_look(union_find_tile &tile, int t, int runs)
{
    for (int k = 0; k < runs; k++) {
        uint32_t root = union_find_local(t, k);
        for (;;) {
            smp_converge();
            const uint32_t next = tile.below[union_find_place(root)];
            if (next == root)
                break;
            root = next;
        }
        smp_converge();
        tile.roots[union_find_place(union_find_local(t, k))] = (uint16_t)root;
    }
}

/* Joins what word t's runs touch beyond that, by their roots; true: some were different. Slots that are no roots are
 * left hanging below their roots: nobody else writes or reads them meanwhile. */
SMP_DEVICE bool union_find_tile_join(union_find_tile &tile, const union_find_words &w, int t, int near)
{
    bool some = false;
    for (unsigned starts = union_find_starts(w.here), k = 0; starts; starts &= starts - 1, k++) {
        const union_find_touched up = union_find_above(union_find_run(w.here, starts & (0u - starts)), w.above, near);
        const uint32_t mine = union_find_local(t, (int)k);
        const bool left = k == 0 && union_find_left(w);
        smp_converge();
        const uint32_t root = tile.roots[union_find_place(mine)];
        if (root != mine)
            tile.below[union_find_place(mine)] = root;
        for (int j = up.from + (left ? 0 : 1); j <= up.to; j++)
            some |= union_find_tile_unite(tile, mine, union_find_local(t - SMP_UNION_FIND_ACROSS, j));
    }
    if (union_find_above_left(w, near))
        some |=
            union_find_tile_unite(tile, union_find_local(t, 0),
                                  union_find_local(t - SMP_UNION_FIND_ACROSS - 1, union_find_runs(w.above_left) - 1));
    if (union_find_above_right(w, near))
        some |= union_find_tile_unite(tile, union_find_local(t, union_find_runs(w.here) - 1),
                                      union_find_local(t - SMP_UNION_FIND_ACROSS + 1, 0));
    return some;
}

/* Joins the tiles of rows from .. from + rows. Every thread of a block calls word(top, first), where a tile begins: a
 * row, and a word of it. It gives the thread's word there, 0 outside of the rows. fits: there are slots to fill. */
template <typename WORD>
SMP_DEVICE void union_find_tiles(union_find_tile &tile, const union_find_slots &all, int64_t from, int64_t rows,
                                 int near, bool fits, const WORD &word_of)
{
    const int64_t across = (all.words + SMP_UNION_FIND_ACROSS - 1) / SMP_UNION_FIND_ACROSS;
    const int64_t tiles = across * ((rows + SMP_UNION_FIND_DOWN - 1) / SMP_UNION_FIND_DOWN);
    const int t = (int)threadIdx.x;
    for (int64_t n = blockIdx.x; n < tiles; n += gridDim.x) {
        const int64_t top = from + n / across * SMP_UNION_FIND_DOWN, first = n % across * SMP_UNION_FIND_ACROSS;
        const uint32_t word = word_of(top, first);
        if (!fits)
            continue;
        tile.words[t] = word;
        if (t == 0)
            tile.changed = 0;
        __syncthreads();
        const union_find_words w = union_find_tile_words(tile, t);
        const int runs = union_find_runs(word);
        union_find_tile_begin(tile, w, t, near);
        for (uint32_t round = 1, changed = 1; changed; round++) {
            __syncthreads();
            union_find_tile_look(tile, t, runs);
            __syncthreads();
            if (union_find_tile_join(tile, w, t, near))
                atomicMax(&tile.changed, round);
            __syncthreads();
            changed = tile.changed == round;
        }
        const int64_t at = (top + t / SMP_UNION_FIND_ACROSS) * all.words + first + t % SMP_UNION_FIND_ACROSS;
        for (int k = 0; k < runs; k++) {
            const uint32_t mine = union_find_local(t, k), slot = all.of(at, k);
            smp_converge();
            const uint32_t root = tile.roots[union_find_place(mine)];
            all.slots[slot] = root == mine ? slot : UNION_FIND_LOCAL + root;
        }
        __syncthreads();
    }
}
