/* A tile of 128 x 32 pixels, whose runs are joined in shared memory, a thread a word. Slot k of word t lies at
 * k * 128 + t: lanes that look at the same slot of their words meet different banks.
 *
 * In rounds (Hawick, Leist and Playne 2010): all look for their roots, then all hang the larger of two roots that touch
 * below the smaller, until none do. Barriers part what is read from what is written, so that accesses, and what they
 * cost, do not depend on the order of threads. Most runs begin below a neighbour (Komura 2015): few are left to join.
 */
#ifndef SMP_KERNELS_LIB_JOINS_TILE_CUH
#define SMP_KERNELS_LIB_JOINS_TILE_CUH

#include "lib/union_find.cuh"

struct joins_tile {
    uint32_t words[SMP_JOINS_THREADS];
    uint32_t below[SMP_JOINS_RUNS * SMP_JOINS_THREADS]; /* of a slot: one of its component, not above its own */
    uint16_t roots[SMP_JOINS_RUNS * SMP_JOINS_THREADS]; /* the last of those, as far as this round knew */
    uint32_t changed;                                   /* the last round in which components were joined */
};

SMP_DEVICE uint32_t joins_local(int word, int run)
{
    return (uint32_t)(word * SMP_JOINS_RUNS + run);
}
SMP_DEVICE int joins_place(uint32_t local)
{
    return (int)(local % SMP_JOINS_RUNS * SMP_JOINS_THREADS + local / SMP_JOINS_RUNS);
}

/* Hangs the larger of two roots below the smaller, where slots a and b have different ones. */
SMP_DEVICE bool joins_tile_unite(joins_tile &tile, uint32_t a, uint32_t b)
{
    smp_converge();
    const uint32_t x = tile.roots[joins_place(a)], y = tile.roots[joins_place(b)];
    if (x != y)
        atomicMin(&tile.below[joins_place(x > y ? x : y)], x > y ? y : x);
    return x != y;
}

/* Word t and its neighbours in the tile. */
SMP_DEVICE joins_words joins_tile_words(const joins_tile &tile, int t)
{
    const int column = t % SMP_JOINS_ACROSS;
    const bool above = t >= SMP_JOINS_ACROSS, left = column > 0, right = column + 1 < SMP_JOINS_ACROSS;
    joins_words w;
    w.here = tile.words[t];
    w.left = left ? tile.words[t - 1] : 0;
    w.right = right ? tile.words[t + 1] : 0;
    w.above = above ? tile.words[t - SMP_JOINS_ACROSS] : 0;
    w.above_left = above && left ? tile.words[t - SMP_JOINS_ACROSS - 1] : 0;
    w.above_right = above && right ? tile.words[t - SMP_JOINS_ACROSS + 1] : 0;
    return w;
}

/* Sets the first parents of word t's runs: below the left neighbour, else the first that they touch above. */
SMP_DEVICE void joins_tile_begin(joins_tile &tile, const joins_words &w, int t, int near)
{
    for (unsigned starts = joins_starts(w.here), k = 0; starts; starts &= starts - 1, k++) {
        const joins_touched up = joins_above(joins_run(w.here, starts & (0u - starts)), w.above, near);
        uint32_t below = joins_local(t, (int)k);
        if (k == 0 && joins_left(w))
            below = joins_local(t - 1, joins_runs(w.left) - 1);
        else if (up.from <= up.to)
            below = joins_local(t - SMP_JOINS_ACROSS, up.from);
        smp_converge();
        tile.below[joins_place(joins_local(t, (int)k))] = below;
    }
}

/* Looks for the roots of word t's slots. */
SMP_DEVICE void joins_tile_look(joins_tile &tile, int t, int runs)
{
    for (int k = 0; k < runs; k++) {
        uint32_t root = joins_local(t, k);
        for (;;) {
            smp_converge();
            const uint32_t next = tile.below[joins_place(root)];
            if (next == root)
                break;
            root = next;
        }
        smp_converge();
        tile.roots[joins_place(joins_local(t, k))] = (uint16_t)root;
    }
}

/* Joins what word t's runs touch beyond that, by their roots; true: some were different. Slots that are no roots are
 * left hanging below their roots: nobody else writes or reads them meanwhile. */
SMP_DEVICE bool joins_tile_join(joins_tile &tile, const joins_words &w, int t, int near)
{
    bool some = false;
    for (unsigned starts = joins_starts(w.here), k = 0; starts; starts &= starts - 1, k++) {
        const joins_touched up = joins_above(joins_run(w.here, starts & (0u - starts)), w.above, near);
        const uint32_t mine = joins_local(t, (int)k);
        const bool left = k == 0 && joins_left(w);
        smp_converge();
        const uint32_t root = tile.roots[joins_place(mine)];
        if (root != mine)
            tile.below[joins_place(mine)] = root;
        for (int j = up.from + (left ? 0 : 1); j <= up.to; j++)
            some |= joins_tile_unite(tile, mine, joins_local(t - SMP_JOINS_ACROSS, j));
    }
    if (joins_above_left(w, near))
        some |= joins_tile_unite(tile, joins_local(t, 0),
                                 joins_local(t - SMP_JOINS_ACROSS - 1, joins_runs(w.above_left) - 1));
    if (joins_above_right(w, near))
        some |=
            joins_tile_unite(tile, joins_local(t, joins_runs(w.here) - 1), joins_local(t - SMP_JOINS_ACROSS + 1, 0));
    return some;
}

/* Joins the tiles of rows from .. from + rows. Every thread of a block calls word(top, first), where a tile begins: a
 * row, and a word of it. It gives the thread's word there, 0 outside of the rows. fits: there are slots to fill. */
template <typename WORD>
SMP_DEVICE void joins_tiles(joins_tile &tile, const joins_slots &all, int64_t from, int64_t rows, int near, bool fits,
                            const WORD &word_of)
{
    const int64_t across = (all.words + SMP_JOINS_ACROSS - 1) / SMP_JOINS_ACROSS;
    const int64_t tiles = across * ((rows + SMP_JOINS_DOWN - 1) / SMP_JOINS_DOWN);
    const int t = (int)threadIdx.x;
    for (int64_t n = blockIdx.x; n < tiles; n += gridDim.x) {
        const int64_t top = from + n / across * SMP_JOINS_DOWN, first = n % across * SMP_JOINS_ACROSS;
        const uint32_t word = word_of(top, first);
        if (!fits)
            continue;
        tile.words[t] = word;
        if (t == 0)
            tile.changed = 0;
        __syncthreads();
        const joins_words w = joins_tile_words(tile, t);
        const int runs = joins_runs(word);
        joins_tile_begin(tile, w, t, near);
        for (uint32_t round = 1, changed = 1; changed; round++) {
            __syncthreads();
            joins_tile_look(tile, t, runs);
            __syncthreads();
            if (joins_tile_join(tile, w, t, near))
                atomicMax(&tile.changed, round);
            __syncthreads();
            changed = tile.changed == round;
        }
        const int64_t at = (top + t / SMP_JOINS_ACROSS) * all.words + first + t % SMP_JOINS_ACROSS;
        for (int k = 0; k < runs; k++) {
            const uint32_t mine = joins_local(t, k), slot = all.of(at, k);
            smp_converge();
            const uint32_t root = tile.roots[joins_place(mine)];
            all.slots[slot] = root == mine ? slot : JOINS_LOCAL + root;
        }
        __syncthreads();
    }
}

#endif
