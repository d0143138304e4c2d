/* label on GPUs, when all is joined: components get numbers, are measured and chosen, and the table is filled in. All
 * sums and extremes are of whole numbers: atomics in any order give the same.
 *   naive  measures by atomics in global memory, six a run: those of a large component all wait for one another.
 *   tiled  a block adds up the runs of its tile for each component in shared memory, a thread those of its word before,
 *          and gives each sum away once a tile.
 *
 * Numbers are running counts. A launch counts in chunks; the next one's blocks add up the counts before theirs. */
#include "lib/union_find_counts.cuh"
#include "lib/warp_control.cuh"
#include "reduce/label.h"

/* ------------------------------------------------------------------------------------------------ numbers */

/* A record that nothing was added to. A root is the component's first run, so that its row is the top. */
SMP_DEVICE smp_component label_empty(int64_t y)
{
    smp_component record = {0, 0, 0, INT32_MAX, (int32_t)y, -1, (int32_t)y};
    return record;
}

/* Roots get their numbers, by which records begin. Geometry: as union_find_flatten. */
template <typename, typename> SMP_DEVICE void label_number(const smp_io &io, const smp_label &p)
{
    SMP_SHARED(union_find_sums, s);
    const union_find_slots all(io.out, io.second, p.sets);
    const uint32_t *const bits = static_cast<const uint32_t *>(io.result);
    const int64_t words = p.sets.fits && io.out.data ? all.words * all.height : 0, chunk = smp_union_find_chunk(words);
    for (int64_t c = blockIdx.x; c * chunk < words; c += gridDim.x) {
        uint32_t next = union_find_chunks_before(s, union_find_at<uint32_t>(io.out, p.sets.counts_at), c);
        for (int64_t begin = c * chunk; begin < (c + 1) * chunk && begin < words; begin += SMP_UNION_FIND_BLOCK) {
            const int64_t at = begin + threadIdx.x;
            const int runs = at < words ? union_find_runs(bits[at]) : 0;
            uint32_t roots = 0, sum;
            for (int k = 0; k < runs; k++)
                roots |= (uint32_t)(all.look(all.of(at, k)) == all.of(at, k)) << k;
            uint32_t number = next + union_find_sum_before(s.warps, (uint32_t)__popc(roots), &sum);
            for (int k = 0; k < runs; k++)
                if (roots >> k & 1) {
                    all.slots[all.of(at, k)] = UNION_FIND_NUMBERED + number;
                    if (number < p.room)
                        union_find_at<smp_component>(io.out, p.records_at)[number] = label_empty(at / all.words);
                    number++;
                }
            next += sum;
        }
        if ((c + 1) * chunk >= words && threadIdx.x == 0) {
            union_find_at<smp_label_head>(io.out, 0)->count = next;
            *union_find_head(io, p.sets) =
                next <= p.room ? (uint64_t)p.records_at + next * (uint64_t)sizeof(smp_component) : 0u;
        }
    }
}
SMP_KERNEL_PAIR_(label_number, f32, float, f32, float, smp_label)

/* Returns the number of components to measure; 0 if the host will. */
SMP_DEVICE int64_t label_count(const smp_io &io, const smp_label &p)
{
    return io.out.data && *union_find_head(io, p.sets) ? (int64_t)union_find_at<smp_label_head>(io.out, 0)->count : 0;
}

/* ------------------------------------------------------------------------------------------------ measures */

/* Runs of one component, in columns and rows from those of a tile's, or word's, first pixel on. */
struct label_part {
    uint32_t area, sum_x, sum_y, left, right, bottom;
};

SMP_DEVICE label_part label_part_of(unsigned run, uint32_t x, uint32_t y)
{
    const uint32_t first = x + (uint32_t)__ffs((int)run) - 1, last = x + (uint32_t)union_find_highest(run);
    const uint32_t n = last - first + 1;
    return {n, (first + last) * n / 2, y * n, first, last, y};
}
SMP_DEVICE void label_part_join(label_part &a, const label_part &b)
{
    a.area += b.area;
    a.sum_x += b.sum_x;
    a.sum_y += b.sum_y;
    a.left = min(a.left, b.left);
    a.right = max(a.right, b.right);
    a.bottom = max(a.bottom, b.bottom);
}

/* Adds a part whose first pixel is at x, y. */
SMP_DEVICE void label_record_add(smp_component *to, const label_part &part, int64_t x, int64_t y)
{
    typedef unsigned long long whole;
    atomicAdd(reinterpret_cast<whole *>(&to->area), (whole)part.area);
    atomicAdd(reinterpret_cast<whole *>(&to->sum_x), (whole)part.sum_x + (whole)x * part.area);
    atomicAdd(reinterpret_cast<whole *>(&to->sum_y), (whole)part.sum_y + (whole)y * part.area);
    atomicMin(&to->left, (int)x + (int)part.left);
    atomicMax(&to->right, (int)x + (int)part.right);
    atomicMax(&to->bottom, (int)y + (int)part.bottom);
}

/* Geometry: SMP_UNION_FIND_BLOCK threads over the picture's words. */
template <typename, typename> SMP_DEVICE void label_measure_naive(const smp_io &io, const smp_label &p)
{
    const union_find_slots all(io.out, io.second, p.sets);
    const int64_t words = label_count(io, p) ? all.words * all.height : 0;
    smp_component *const records = union_find_at<smp_component>(io.out, p.records_at);
    for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < words;
         at += (int64_t)gridDim.x * blockDim.x) {
        const unsigned word = static_cast<const uint32_t *>(io.result)[at];
        const int64_t y = at / all.words, x = (at - y * all.words) * SMP_BITS_WORD;
        for (unsigned starts = union_find_starts(word), k = 0; starts; starts &= starts - 1, k++)
            label_record_add(records + all.number(at, (int)k),
                             label_part_of(union_find_run(word, starts & (0u - starts)), 0, 0), x, y);
    }
}
SMP_KERNEL_PAIR_(label_measure_naive, f32, float, f32, float, smp_label)

/* Roots of the tile are numbered one after the other; those from SMP_UNION_FIND_KEPT on go to global memory at once. */
enum { LABEL_KEPT = 384 };
struct label_tile_sums {
    uint32_t roots[SMP_UNION_FIND_THREADS]; /* of a word: which of its runs are roots, */
    uint32_t first[SMP_UNION_FIND_THREADS]; /* and the number of the first of them */
    uint32_t area[LABEL_KEPT], sum_x[LABEL_KEPT], sum_y[LABEL_KEPT];
    uint32_t left[LABEL_KEPT], right[LABEL_KEPT], bottom[LABEL_KEPT];
    uint32_t number[LABEL_KEPT]; /* of the component */
    uint32_t warps[SMP_UNION_FIND_THREADS / 32];
};

/* Place of a tile, and a thread's work in it. */
struct label_place_of {
    int64_t x, y; /* of the tile's first pixel */
    int64_t at;   /* the thread's word */
    bool inside;
};
SMP_DEVICE label_place_of label_tile_place(const union_find_slots &all, int64_t tile, int64_t across, int t)
{
    const int64_t top = tile / across * SMP_UNION_FIND_DOWN, first = tile % across * SMP_UNION_FIND_ACROSS;
    const int64_t y = top + t / SMP_UNION_FIND_ACROSS, column = first + t % SMP_UNION_FIND_ACROSS;
    return {first * SMP_BITS_WORD, top, y * all.words + column, y < all.height && column < all.words};
}

/* Adds a part to what its root in the tile has: `local`, numbered `root`. */
SMP_DEVICE void label_tile_add(label_tile_sums &s, const union_find_slots &all, smp_component *records, uint32_t local,
                               uint32_t root, const label_part &part, const label_place_of &place)
{
    if (root >= LABEL_KEPT) {
        const int64_t y = place.y + local / SMP_UNION_FIND_RUNS / SMP_UNION_FIND_ACROSS;
        const int64_t word =
            y * all.words + place.x / SMP_BITS_WORD + local / SMP_UNION_FIND_RUNS % SMP_UNION_FIND_ACROSS;
        label_record_add(records + all.number(word, (int)(local % SMP_UNION_FIND_RUNS)), part, place.x, place.y);
        return;
    }
    smp_converge();
    atomicAdd(&s.area[root], part.area);
    atomicAdd(&s.sum_x[root], part.sum_x);
    atomicAdd(&s.sum_y[root], part.sum_y);
    atomicMin(&s.left[root], part.left);
    atomicMax(&s.right[root], part.right);
    atomicMax(&s.bottom[root], part.bottom);
}

/* Geometry: a block a tile of the picture. */
template <typename, typename> SMP_DEVICE void label_measure_tiled(const smp_io &io, const smp_label &p)
{
    SMP_SHARED(label_tile_sums, s);
    const union_find_slots all(io.out, io.second, p.sets);
    const int64_t across = (all.words + SMP_UNION_FIND_ACROSS - 1) / SMP_UNION_FIND_ACROSS;
    const int64_t down = (all.height + SMP_UNION_FIND_DOWN - 1) / SMP_UNION_FIND_DOWN;
    const int64_t tiles = label_count(io, p) ? across * down : 0;
    smp_component *const records = union_find_at<smp_component>(io.out, p.records_at);
    const int t = (int)threadIdx.x;
    for (int64_t n = blockIdx.x; n < tiles; n += gridDim.x) {
        const label_place_of place = label_tile_place(all, n, across, t);
        const unsigned word = place.inside ? static_cast<const uint32_t *>(io.result)[place.at] : 0;
        const uint32_t *const mine = all.slots + (place.inside ? all.of(place.at, 0) : 0);
        const int runs = union_find_runs(word);
        uint32_t roots = 0, count;
        for (int k = 0; k < runs; k++)
            roots |= (uint32_t)(mine[k] < UNION_FIND_LOCAL) << k;
        const uint32_t first = union_find_sum_before(s.warps, (uint32_t)__popc(roots), &count);
        s.roots[t] = roots;
        s.first[t] = first;
        const uint32_t kept = count < LABEL_KEPT ? count : (uint32_t)LABEL_KEPT;
        for (uint32_t i = (uint32_t)t; i < kept; i += SMP_UNION_FIND_THREADS) {
            s.area[i] = s.sum_x[i] = s.sum_y[i] = s.right[i] = s.bottom[i] = 0;
            s.left[i] = UINT32_MAX;
        }
        for (uint32_t left = roots, i = first; left && i < kept; left &= left - 1, i++) {
            smp_converge();
            s.number[i] = all.number(place.at, __ffs((int)left) - 1);
        }
        __syncthreads();
        label_part sum = {0, 0, 0, 0, 0, 0};
        uint32_t sum_local = 0, sum_root = 0;
        /* The whole warp goes round, so that lanes that add do so together, in whatever order they come. */
        for (unsigned starts = union_find_starts(word), k = 0; __any_sync(0xffffffffu, starts != 0); k++) {
            label_part part = {0, 0, 0, 0, 0, 0};
            uint32_t local = 0, root = 0;
            bool joins = true;
            if (starts) {
                const uint32_t value = mine[k];
                local = value < UNION_FIND_LOCAL ? (uint32_t)t * SMP_UNION_FIND_RUNS + k : value - UNION_FIND_LOCAL;
                smp_converge();
                const uint32_t before =
                    s.roots[local / SMP_UNION_FIND_RUNS] & ((1u << local % SMP_UNION_FIND_RUNS) - 1);
                root = s.first[local / SMP_UNION_FIND_RUNS] + (uint32_t)__popc(before);
                part = label_part_of(union_find_run(word, starts & (0u - starts)),
                                     (uint32_t)(t % SMP_UNION_FIND_ACROSS * SMP_BITS_WORD),
                                     (uint32_t)(t / SMP_UNION_FIND_ACROSS));
                joins = sum.area && root == sum_root;
                if (joins)
                    label_part_join(sum, part);
                starts &= starts - 1;
            }
            smp_reconverge();
            if (!joins && sum.area)
                label_tile_add(s, all, records, sum_local, sum_root, sum, place);
            smp_reconverge();
            if (!joins) {
                sum = part;
                sum_local = local;
                sum_root = root;
            }
        }
        if (sum.area)
            label_tile_add(s, all, records, sum_local, sum_root, sum, place);
        __syncthreads();
        for (uint32_t i = (uint32_t)t; i < kept; i += SMP_UNION_FIND_THREADS) {
            const label_part all_of_it = {s.area[i], s.sum_x[i], s.sum_y[i], s.left[i], s.right[i], s.bottom[i]};
            label_record_add(records + s.number[i], all_of_it, place.x, place.y);
        }
    }
}
SMP_KERNEL_PAIR_(label_measure_tiled, f32, float, f32, float, smp_label)

/* ------------------------------------------------------------------------------------------------ choice and table */

SMP_DEVICE bool label_keeps(const smp_io &io, const smp_label &p, int64_t i)
{
    const int64_t area = (int64_t)union_find_at<const smp_component>(io.out, p.records_at)[i].area;
    return area >= p.least_area && area <= p.most_area;
}

/* Counts what is kept. Geometry of both: a block a chunk of records. */
template <typename, typename> SMP_DEVICE void label_keep(const smp_io &io, const smp_label &p)
{
    SMP_SHARED(union_find_sums, s);
    const int64_t count = p.chooses && p.tabulate ? label_count(io, p) : 0, chunk = smp_union_find_chunk(count);
    for (int64_t c = blockIdx.x; c * chunk < count; c += gridDim.x) {
        uint32_t mine = 0, sum;
        for (int64_t i = c * chunk + threadIdx.x; i < (c + 1) * chunk && i < count; i += SMP_UNION_FIND_BLOCK)
            mine += label_keeps(io, p, i);
        union_find_sum_before(s.warps, mine, &sum);
        if (threadIdx.x == 0)
            union_find_at<uint32_t>(io.out, p.sets.counts_at)[c] = sum;
    }
}
SMP_KERNEL_PAIR_(label_keep, f32, float, f32, float, smp_label)

template <typename, typename> SMP_DEVICE void label_keep_number(const smp_io &io, const smp_label &p)
{
    SMP_SHARED(union_find_sums, s);
    const int64_t count = p.chooses && p.tabulate ? label_count(io, p) : 0, chunk = smp_union_find_chunk(count);
    for (int64_t c = blockIdx.x; c * chunk < count; c += gridDim.x) {
        uint32_t next = union_find_chunks_before(s, union_find_at<uint32_t>(io.out, p.sets.counts_at), c);
        for (int64_t begin = c * chunk; begin < (c + 1) * chunk && begin < count; begin += SMP_UNION_FIND_BLOCK) {
            const int64_t i = begin + threadIdx.x;
            const bool keeps = i < count && label_keeps(io, p, i);
            uint32_t sum;
            const uint32_t before = union_find_sum_before(s.warps, keeps ? 1u : 0u, &sum);
            if (i < count)
                union_find_at<uint32_t>(io.out, p.raw_at)[i] = keeps ? next + before + 1 : 0;
            next += sum;
        }
    }
}
SMP_KERNEL_PAIR_(label_keep_number, f32, float, f32, float, smp_label)

/* Geometry: SMP_UNION_FIND_BLOCK threads over the picture's words. */
template <typename, typename> SMP_DEVICE void label_tabulate(const smp_io &io, const smp_label &p)
{
    const union_find_slots all(io.out, io.second, p.sets);
    const bool joined = io.out.data && *union_find_head(io, p.sets); /* perhaps no component at all */
    const int64_t words = p.tabulate && joined ? all.words * all.height : 0, width = io.second.width;
    const uint32_t *const raw = union_find_at<const uint32_t>(io.out, p.raw_at);
    for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < words;
         at += (int64_t)gridDim.x * blockDim.x) {
        const unsigned word = static_cast<const uint32_t *>(io.result)[at];
        const int64_t y = at / all.words, x = (at - y * all.words) * SMP_BITS_WORD;
        uint16_t *const to = union_find_at<uint16_t>(io.out, p.sets.table_at) + y * width + x;
        for (int i = 0; p.numbers && i < SMP_BITS_WORD && x + i < width; i++)
            if (!(word >> i & 1))
                to[i] = 0;
        const bool all_kept = !p.numbers && !p.chooses;
        unsigned kept = all_kept ? word : 0;
        for (unsigned starts = all_kept ? 0 : union_find_starts(word), k = 0; starts; starts &= starts - 1, k++) {
            const unsigned run = union_find_run(word, starts & (0u - starts));
            const uint32_t component = all.number(at, (int)k), number = p.chooses ? raw[component] : component + 1;
            kept |= number ? run : 0u;
            for (int i = __ffs((int)run) - 1; p.numbers && i <= union_find_highest(run); i++)
                to[i] = (uint16_t)number;
        }
        if (!p.numbers)
            union_find_at<uint32_t>(io.out, p.sets.table_at)[at] = kept;
    }
}
SMP_KERNEL_PAIR_(label_tabulate, f32, float, f32, float, smp_label)
