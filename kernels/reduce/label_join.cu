/* label on GPUs: the bit plane, and which of its runs belong together.
 *   naive  a thread a word: its 32 pixels one after the other. Every run is joined with those beside and above it in
 *          global memory.
 *   tiled  a warp makes 32 words: a pixel a lane, so that lanes read side by side, and a ballot. Then a tile of 128 x
 * 32 pixels is joined in shared memory, a thread a word, and across the tiles' borders in global memory. Slot k of word
 * t lies at k * 128 + t: lanes that look at the same slot of their words meet different banks.
 *
 * In global memory, union-find by atomic minima (Playne and Hawick 2018, "A New Algorithm for Parallel Connected-
 * Component Labelling on GPUs"): a root is hung below a smaller one of its component; who finds that it was no root any
 * more goes on with what was above it. What hangs where meanwhile depends on who comes first, so that these kernels are
 * `unordered`; roots are the smallest of their component in the end.
 * In a tile, rounds (Hawick, Leist and Playne 2010): all look for their roots, then all hang the larger of two roots
 * that touch below the smaller, until none do. Barriers part what is read from what is written, so that accesses, and
 * what they cost, do not depend on the order of threads. Most runs begin below a neighbour (Komura 2015): few are left
 * to join. */
#include "reduce/label_slots.cuh"

#include "reduce/bits.cuh"

/* Where the rows are those of a picture's beginning: nothing is told yet. */
SMP_DEVICE void label_begin(const smp_io &io, const smp_label &p)
{
    if (io.second.y0 == 0 && blockIdx.x == 0 && threadIdx.x == 0)
        *label_head(io, p) = 0;
}

/* Geometry: SMP_LABEL_BLOCK threads over the words of io.second's rows. */
template <typename IN, typename> SMP_DEVICE void label_join_naive(const smp_io &io, const smp_label &p)
{
    const label_slots all(io.out, io.in, p);
    const int64_t begin = io.second.y0 * all.words, end = begin + io.second.rows * all.words;
    const bool joins = p.joins && io.out.data;
    label_begin(io, p);
    for (int64_t w = begin + (int64_t)blockIdx.x * blockDim.x + threadIdx.x; w < end;
         w += (int64_t)gridDim.x * blockDim.x) {
        const int64_t y = w / all.words, x = (w - y * all.words) * SMP_BITS_WORD;
        uint32_t word = 0;
        for (int i = 0; i < SMP_BITS_WORD && x + i < io.in.width; i++)
            word |= (uint32_t)smp_label_foreground(&p, &io.in, smp_row(&io.in, y), x + i) << i;
        static_cast<uint32_t *>(io.result)[w] = word;
        for (int k = 0; joins && k < label_runs(word); k++)
            all.slots[all.of(w, k)] = all.of(w, k);
    }
}
#define LABEL_JOIN(name)                                                                                               \
    SMP_KERNEL_PAIR_(name, u8, uint8_t, f32, float, smp_label)                                                         \
    SMP_KERNEL_PAIR_(name, u16, uint16_t, f32, float, smp_label)                                                       \
    SMP_KERNEL_PAIR_(name, f32, float, f32, float, smp_label)
LABEL_JOIN(label_join_naive)

/* ------------------------------------------------------------------------------------------------ tiles */

struct label_tile {
    uint32_t words[SMP_LABEL_THREADS];
    uint32_t below[SMP_LABEL_RUNS * SMP_LABEL_THREADS]; /* of a slot: one of its component, not above its own */
    uint16_t roots[SMP_LABEL_RUNS * SMP_LABEL_THREADS]; /* the last of those, as far as this round knew */
    uint32_t changed;                                   /* the last round in which components were joined */
};

SMP_DEVICE uint32_t label_local(int word, int run)
{
    return (uint32_t)(word * SMP_LABEL_RUNS + run);
}
SMP_DEVICE int label_place(uint32_t local)
{
    return (int)(local % SMP_LABEL_RUNS * SMP_LABEL_THREADS + local / SMP_LABEL_RUNS);
}

/* Hangs the larger of two roots below the smaller, where slots a and b have different ones. */
SMP_DEVICE bool label_tile_unite(label_tile &tile, uint32_t a, uint32_t b)
{
    smp_converge();
    const uint32_t x = tile.roots[label_place(a)], y = tile.roots[label_place(b)];
    if (x != y)
        atomicMin(&tile.below[label_place(x > y ? x : y)], x > y ? y : x);
    return x != y;
}

/* Word t and its neighbours in the tile. */
SMP_DEVICE label_words label_tile_words(const label_tile &tile, int t)
{
    const int column = t % SMP_LABEL_ACROSS;
    const bool above = t >= SMP_LABEL_ACROSS, left = column > 0, right = column + 1 < SMP_LABEL_ACROSS;
    label_words w;
    w.here = tile.words[t];
    w.left = left ? tile.words[t - 1] : 0;
    w.right = right ? tile.words[t + 1] : 0;
    w.above = above ? tile.words[t - SMP_LABEL_ACROSS] : 0;
    w.above_left = above && left ? tile.words[t - SMP_LABEL_ACROSS - 1] : 0;
    w.above_right = above && right ? tile.words[t - SMP_LABEL_ACROSS + 1] : 0;
    return w;
}

/* Where word t's runs hang at first: below the left neighbour, else the first that they touch above. */
SMP_DEVICE void label_tile_begin(label_tile &tile, const label_words &w, int t, int near)
{
    for (unsigned starts = label_starts(w.here), k = 0; starts; starts &= starts - 1, k++) {
        const label_touched up = label_above(label_run(w.here, starts & (0u - starts)), w.above, near);
        uint32_t below = label_local(t, (int)k);
        if (k == 0 && label_joins_left(w))
            below = label_local(t - 1, label_runs(w.left) - 1);
        else if (up.from <= up.to)
            below = label_local(t - SMP_LABEL_ACROSS, up.from);
        smp_converge();
        tile.below[label_place(label_local(t, (int)k))] = below;
    }
}

/* Looks for the roots of word t's slots. */
SMP_DEVICE void label_tile_look(label_tile &tile, int t, int runs)
{
    for (int k = 0; k < runs; k++) {
        uint32_t root = label_local(t, k);
        for (;;) {
            smp_converge();
            const uint32_t next = tile.below[label_place(root)];
            if (next == root)
                break;
            root = next;
        }
        smp_converge();
        tile.roots[label_place(label_local(t, k))] = (uint16_t)root;
    }
}

/* Joins what word t's runs touch beyond that, by their roots; true: some were different. Slots that are no roots are
 * left hanging below their roots: nobody else writes or reads them meanwhile. */
SMP_DEVICE bool label_tile_join(label_tile &tile, const label_words &w, int t, int near)
{
    bool some = false;
    for (unsigned starts = label_starts(w.here), k = 0; starts; starts &= starts - 1, k++) {
        const label_touched up = label_above(label_run(w.here, starts & (0u - starts)), w.above, near);
        const uint32_t mine = label_local(t, (int)k);
        const bool left = k == 0 && label_joins_left(w);
        smp_converge();
        const uint32_t root = tile.roots[label_place(mine)];
        if (root != mine)
            tile.below[label_place(mine)] = root;
        for (int j = up.from + (left ? 0 : 1); j <= up.to; j++)
            some |= label_tile_unite(tile, mine, label_local(t - SMP_LABEL_ACROSS, j));
    }
    if (label_joins_above_left(w, near))
        some |= label_tile_unite(tile, label_local(t, 0),
                                 label_local(t - SMP_LABEL_ACROSS - 1, label_runs(w.above_left) - 1));
    if (label_joins_above_right(w, near))
        some |=
            label_tile_unite(tile, label_local(t, label_runs(w.here) - 1), label_local(t - SMP_LABEL_ACROSS + 1, 0));
    return some;
}

/* Geometry: a block a tile of io.second's rows. */
template <typename IN, typename> SMP_DEVICE void label_join_tiled(const smp_io &io, const smp_label &p)
{
    SMP_SHARED(label_tile, tile);
    const label_slots all(io.out, io.in, p);
    const int64_t across = (all.words + SMP_LABEL_ACROSS - 1) / SMP_LABEL_ACROSS;
    const int64_t tiles = across * ((io.second.rows + SMP_LABEL_DOWN - 1) / SMP_LABEL_DOWN);
    const int t = (int)threadIdx.x, lane = t % 32;
    label_begin(io, p);
    for (int64_t n = blockIdx.x; n < tiles; n += gridDim.x) {
        const int64_t top = io.second.y0 + n / across * SMP_LABEL_DOWN, first = n % across * SMP_LABEL_ACROSS;
        const int64_t end = io.second.y0 + io.second.rows;
        uint32_t word = 0;
        for (int i = 0; i < 32; i++) { /* word i of the warp's */
            const int at = t - lane + i;
            const int64_t y = top + at / SMP_LABEL_ACROSS;
            const int64_t x = (first + at % SMP_LABEL_ACROSS) * SMP_BITS_WORD + lane;
            const bool set = y < end && x < io.in.width && smp_label_foreground(&p, &io.in, smp_row(&io.in, y), x);
            const uint32_t made = __ballot_sync(0xffffffffu, set);
            word = lane == i ? made : word;
        }
        const int64_t y = top + t / SMP_LABEL_ACROSS, column = first + t % SMP_LABEL_ACROSS;
        const bool inside = y < end && column < all.words;
        if (inside)
            static_cast<uint32_t *>(io.result)[y * all.words + column] = word;
        if (!p.joins || !io.out.data)
            continue;
        tile.words[t] = word;
        if (t == 0)
            tile.changed = 0;
        __syncthreads();
        const label_words w = label_tile_words(tile, t);
        const int runs = label_runs(word);
        label_tile_begin(tile, w, t, p.near);
        for (uint32_t round = 1, changed = 1; changed; round++) {
            __syncthreads();
            label_tile_look(tile, t, runs);
            __syncthreads();
            if (label_tile_join(tile, w, t, p.near))
                atomicMax(&tile.changed, round);
            __syncthreads();
            changed = tile.changed == round;
        }
        for (int k = 0; inside && k < runs; k++) {
            const uint32_t mine = label_local(t, k), slot = all.of(y * all.words + column, k);
            smp_converge();
            const uint32_t root = tile.roots[label_place(mine)];
            all.slots[slot] = root == mine ? slot : LABEL_LOCAL + root;
        }
        __syncthreads();
    }
}
LABEL_JOIN(label_join_tiled)

/* ------------------------------------------------------------------------------------------------ across tiles */

/* Joins what word `at` touches that is not in its tile. TILED false: there are no tiles. */
template <bool TILED> SMP_DEVICE void label_seam(const label_slots &all, const uint32_t *bits, int64_t at, int near)
{
    const int64_t y = at / all.words, x = at - y * all.words;
    const bool top = !TILED || y % SMP_LABEL_DOWN == 0, begins = !TILED || x % SMP_LABEL_ACROSS == 0;
    const bool ends = !TILED || x % SMP_LABEL_ACROSS == SMP_LABEL_ACROSS - 1;
    label_words w = {0, 0, 0, 0, 0, 0};
    if (top || begins || ends)
        w.here = bits[at];
    if (!w.here)
        return;
    const int64_t above = at - all.words;
    w.left = x > 0 ? bits[at - 1] : 0;
    w.right = x + 1 < all.words ? bits[at + 1] : 0;
    w.above = y > 0 ? bits[above] : 0;
    w.above_left = y > 0 && x > 0 ? bits[above - 1] : 0;
    w.above_right = y > 0 && x + 1 < all.words ? bits[above + 1] : 0;
    if (begins && label_joins_left(w))
        all.unite(all.in_tile(at, 0), all.in_tile(at - 1, label_runs(w.left) - 1));
    uint32_t done_here = 0, done_above = 0; /* most runs of a word are of one component: a pair is joined once */
    for (unsigned starts = top ? label_starts(w.here) : 0, k = 0; starts; starts &= starts - 1, k++) {
        const label_touched up = label_above(label_run(w.here, starts & (0u - starts)), w.above, near);
        for (int j = up.from; j <= up.to; j++) {
            const uint32_t a = all.in_tile(at, (int)k), b = all.in_tile(above, j);
            if (a != done_here || b != done_above)
                all.unite(a, b);
            done_here = a;
            done_above = b;
        }
    }
    if ((top || begins) && label_joins_above_left(w, near))
        all.unite(all.in_tile(at, 0), all.in_tile(above - 1, label_runs(w.above_left) - 1));
    if ((top || ends) && label_joins_above_right(w, near))
        all.unite(all.in_tile(at, label_runs(w.here) - 1), all.in_tile(above + 1, 0));
}

/* Geometry of the rest: SMP_LABEL_BLOCK threads over the picture's words. io.second: the picture. */
template <bool TILED> SMP_DEVICE void label_seams(const smp_io &io, const smp_label &p)
{
    const label_slots all(io.out, io.second, p);
    const int64_t end = p.joins && io.out.data ? all.words * all.height : 0;
    for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < end; at += (int64_t)gridDim.x * blockDim.x)
        label_seam<TILED>(all, static_cast<const uint32_t *>(io.result), at, p.near);
}
template <typename, typename> SMP_DEVICE void label_seams_unordered_naive(const smp_io &io, const smp_label &p)
{
    label_seams<false>(io, p);
}
SMP_KERNEL_PAIR_(label_seams_unordered_naive, f32, float, f32, float, smp_label)
template <typename, typename> SMP_DEVICE void label_seams_unordered_tiled(const smp_io &io, const smp_label &p)
{
    label_seams<true>(io, p);
}
SMP_KERNEL_PAIR_(label_seams_unordered_tiled, f32, float, f32, float, smp_label)
