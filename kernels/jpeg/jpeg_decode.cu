/* jpeg_decode on GPUs; the steps are in jpeg_decode.h.
 *   naive   Huffman tables in global memory. A thread a block of samples; a thread a pixel.
 *   tiled   tables in shared memory: which word a lane looks up is as good as random, so that a warp's look-up takes
 *           several wavefronts, about 3 for 32 lanes (docs/banks.md, "Look-ups"). Eight threads a block of samples: a
 *           column each, then, through shared memory, a row each. The rows of a block lie 8 words apart, and those of
 *           four blocks meet in the same banks: 4-way conflicts when columns are written, 8-way when rows are read.
 *           Four pixels a thread.
 *   padded  rows of nine words: no conflicts. */
#include "jpeg/jpeg_decode.h"

#include "lib/gpu_kernel.h"
#include "lib/many.h"

SMP_DEVICE void jpeg_doubt(const smp_io &io, int doubt)
{
    if (doubt && io.clipped)
        atomicAdd(reinterpret_cast<unsigned long long *>(io.clipped), 1ull);
}

template <typename T> SMP_DEVICE T *jpeg_scratch(const smp_view &view, int64_t at)
{
    return reinterpret_cast<T *>(static_cast<char *>(view.data) + at);
}

/* ---------------------------------------------------------------------------------------------- Huffman codes */

struct jpeg_tables {
    smp_jpeg_table tables[4];
    uint8_t natural[64];
};

/* Copies the tables of the input, word by word. Ends with a barrier. */
SMP_DEVICE void jpeg_load_tables(jpeg_tables &s, const smp_jpeg_scan *scan)
{
    static_assert(sizeof(smp_jpeg_table) % 4 == 0, "whole words");
    uint32_t *to = reinterpret_cast<uint32_t *>(s.tables), *natural = reinterpret_cast<uint32_t *>(s.natural);
    const uint32_t *from = reinterpret_cast<const uint32_t *>(scan->tables);
    for (unsigned i = threadIdx.x; i < sizeof s.tables / 4; i += blockDim.x) {
        smp_converge();
        to[i] = from[i];
    }
    for (unsigned i = threadIdx.x; i < sizeof s.natural / 4; i += blockDim.x) {
        smp_converge();
        natural[i] = reinterpret_cast<const uint32_t *>(scan->natural)[i];
    }
    __syncthreads();
}

struct jpeg_sync_shared {
    smp_jpeg_place out[SMP_JPEG_SUBS];
    unsigned changed[SMP_JPEG_SUBS / 32];
};

/* The subsequences of one block of threads: each begins where the one before it ended. */
SMP_DEVICE void jpeg_sync_block(const smp_io &io, const smp_jpeg_decode &p, const smp_jpeg_scan *scan,
                                const smp_jpeg_table *tables, jpeg_sync_shared &s, unsigned number)
{
    const unsigned t = threadIdx.x, i = number * SMP_JPEG_SUBS + t;
    const bool active = i < scan->subs;
    smp_jpeg_sub sub = {0, 0, 0, 0, 0};
    if (active)
        sub = smp_jpeg_sub_of(scan, &p, i);
    const bool fixed = !active || t == 0 || (sub.place & SMP_JPEG_FIRST);
    smp_jpeg_place in = smp_jpeg_start_of(sub);
    smp_jpeg_run run = smp_jpeg_skim(scan, tables, &p, sub, in);
    s.out[t] = run.out;
    __syncthreads();
    for (bool changes = true; changes;) {
        const smp_jpeg_place want = fixed ? in : s.out[t ? t - 1 : 0];
        __syncthreads();
        bool changed = false;
        if (!smp_jpeg_same(want, in)) {
            in = want;
            const smp_jpeg_place before = run.out;
            run = smp_jpeg_skim(scan, tables, &p, sub, in);
            changed = !smp_jpeg_same(before, run.out);
            s.out[t] = run.out;
        }
        const int any = __any_sync(0xffffffffu, changed);
        if (t % 32 == 0)
            s.changed[t / 32] = (unsigned)any;
        __syncthreads();
        changes = false;
        for (int w = 0; w < SMP_JPEG_SUBS / 32; w++)
            changes |= s.changed[w] != 0;
    }
    if (active)
        jpeg_scratch<smp_jpeg_run>(io.out, p.runs_at)[i] = run;
    if (t == 0)
        jpeg_scratch<smp_jpeg_place>(io.out, p.entered_at)[number] = in;
}

/* Geometry: blocks of SMP_JPEG_SUBS threads, in x. Also clears the coefficients. */
SMP_DEVICE void jpeg_sync(const smp_io &io, const smp_jpeg_decode &p, const smp_jpeg_table *tables)
{
    SMP_SHARED(jpeg_sync_shared, s);
    const smp_jpeg_scan *scan = smp_jpeg_scan_of(&io.in, &p);
    smp_pack<uint32_t, 4> *coefs = jpeg_scratch<smp_pack<uint32_t, 4>>(io.out, p.coefs_at);
    smp_pack<uint32_t, 4> none;
    none.v[0] = none.v[1] = none.v[2] = none.v[3] = 0;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < (int64_t)p.blocks * 8;
         i += (int64_t)gridDim.x * blockDim.x)
        coefs[i] = none;
    if (!scan) {
        jpeg_doubt(io, threadIdx.x == 0 && blockIdx.x == 0);
        return;
    }
    for (unsigned number = blockIdx.x; number * (unsigned)SMP_JPEG_SUBS < scan->subs; number += gridDim.x)
        jpeg_sync_block(io, p, scan, tables, s, number);
}

template <typename, typename> SMP_DEVICE void jpeg_sync_naive(const smp_io &io, const smp_jpeg_decode &p)
{
    const smp_jpeg_scan *scan = smp_jpeg_scan_of(&io.in, &p);
    jpeg_sync(io, p, scan ? scan->tables : nullptr);
}
SMP_KERNEL_PAIR_(jpeg_sync_naive, u8, uint8_t, u8, uint8_t, smp_jpeg_decode)

template <typename, typename> SMP_DEVICE void jpeg_sync_tiled(const smp_io &io, const smp_jpeg_decode &p)
{
    SMP_SHARED(jpeg_tables, shared);
    const smp_jpeg_scan *scan = smp_jpeg_scan_of(&io.in, &p);
    if (scan)
        jpeg_load_tables(shared, scan);
    jpeg_sync(io, p, shared.tables);
}
SMP_KERNEL_PAIR_(jpeg_sync_tiled, u8, uint8_t, u8, uint8_t, smp_jpeg_decode)
SMP_KERNEL_MANY(jpeg_sync_tiled, u8, uint8_t, u8, uint8_t, smp_jpeg_decode)

/* ---------------------------------------------------------------------------------------------- join */

/* Follows the decoder that enters block of threads `number` at `at` until it is where another one was before. True: it
 * never was, and the next block must be entered elsewhere. */
SMP_DEVICE bool jpeg_follow(const smp_jpeg_decode &p, const smp_jpeg_scan *scan, const smp_jpeg_table *tables,
                            smp_jpeg_run *runs, unsigned number, smp_jpeg_place at)
{
    const unsigned first = number * SMP_JPEG_SUBS;
    const unsigned end = scan->subs - first < SMP_JPEG_SUBS ? scan->subs : first + SMP_JPEG_SUBS;
    for (unsigned i = first; i < end; i++) {
        const smp_jpeg_sub sub = smp_jpeg_sub_of(scan, &p, i);
        if (i > first && (sub.place & SMP_JPEG_FIRST))
            return false;
        const smp_jpeg_place before = runs[i].out;
        runs[i] = smp_jpeg_skim(scan, tables, &p, sub, at);
        if (smp_jpeg_same(before, runs[i].out))
            return false;
        at = runs[i].out;
    }
    return true;
}

/* Orders accesses to global memory. The emulator does not look for races there, and its threads take turns: no test can
 * miss this barrier, so that mutants.py is not to take it out. */
#define JPEG_GLOBAL_BARRIER() __syncthreads()

/* Sums from the last beginning of a restart interval on. */
struct jpeg_sum {
    uint32_t blocks;
    int32_t dc[3];
    uint32_t begins; /* an interval begins within */
};

SMP_DEVICE jpeg_sum jpeg_add(const jpeg_sum &a, const jpeg_sum &b)
{
    jpeg_sum sum = b;
    if (!b.begins) {
        sum.blocks += a.blocks;
        for (int c = 0; c < 3; c++)
            sum.dc[c] = (int32_t)((uint32_t)sum.dc[c] + (uint32_t)a.dc[c]);
        sum.begins = a.begins;
    }
    return sum;
}

struct jpeg_join_shared {
    jpeg_sum sums[SMP_JPEG_JOINERS];
    unsigned changed[SMP_JPEG_JOINERS / 32];
};

/* True: the blocks do not fall into step. */
SMP_DEVICE bool jpeg_join_blocks(const smp_io &io, const smp_jpeg_decode &p, const smp_jpeg_scan *scan,
                                 const smp_jpeg_table *tables, jpeg_join_shared &s)
{
    smp_jpeg_run *runs = jpeg_scratch<smp_jpeg_run>(io.out, p.runs_at);
    smp_jpeg_place *entered = jpeg_scratch<smp_jpeg_place>(io.out, p.entered_at);
    const unsigned t = threadIdx.x, count = (scan->subs + SMP_JPEG_SUBS - 1) / SMP_JPEG_SUBS;
    bool changes = true;
    for (int round = 0; changes && round < SMP_JPEG_ROUNDS; round++) {
        bool changed = false;
        for (unsigned base = 0; base < count; base += SMP_JPEG_JOINERS) {
            const unsigned number = base + t;
            smp_jpeg_place want = {0, 0};
            bool differs = false;
            if (number > 0 && number < count &&
                !(smp_jpeg_sub_of(scan, &p, number * SMP_JPEG_SUBS).place & SMP_JPEG_FIRST)) {
                want = runs[number * SMP_JPEG_SUBS - 1].out;
                differs = !smp_jpeg_same(want, entered[number]);
            }
            JPEG_GLOBAL_BARRIER(); /* all have read what the others change next */
            if (differs) {
                entered[number] = want;
                changed |= jpeg_follow(p, scan, tables, runs, number, want);
            }
            JPEG_GLOBAL_BARRIER();
        }
        const int any = __any_sync(0xffffffffu, changed);
        if (t % 32 == 0)
            s.changed[t / 32] = (unsigned)any;
        __syncthreads();
        changes = false;
        for (int w = 0; w < SMP_JPEG_JOINERS / 32; w++)
            changes |= s.changed[w] != 0;
    }
    return changes;
}

/* Running sums, in place: what comes before each subsequence. A thread takes neighbours. */
SMP_DEVICE void jpeg_join_sums(const smp_io &io, const smp_jpeg_decode &p, const smp_jpeg_scan *scan,
                               jpeg_join_shared &s)
{
    smp_jpeg_run *runs = jpeg_scratch<smp_jpeg_run>(io.out, p.runs_at);
    const unsigned t = threadIdx.x, each = (scan->subs + SMP_JPEG_JOINERS - 1) / SMP_JPEG_JOINERS;
    const unsigned from = t * each < scan->subs ? t * each : scan->subs;
    const unsigned to = scan->subs - from < each ? scan->subs : from + each;
    jpeg_sum sum = {0, {0, 0, 0}, 0};
    for (unsigned i = from; i < to; i++) {
        const smp_jpeg_sub sub = smp_jpeg_sub_of(scan, &p, i);
        if (sub.place & SMP_JPEG_FIRST)
            sum = jpeg_sum{sub.block, {0, 0, 0}, 1};
        const jpeg_sum more = {runs[i].blocks, {runs[i].dc[0], runs[i].dc[1], runs[i].dc[2]}, 0};
        sum = jpeg_add(sum, more);
    }
    s.sums[t] = sum;
    __syncthreads();
    for (unsigned reach = 1; reach < SMP_JPEG_JOINERS; reach *= 2) {
        jpeg_sum before = {0, {0, 0, 0}, 0};
        if (t >= reach)
            before = s.sums[t - reach];
        __syncthreads();
        if (t >= reach) {
            sum = jpeg_add(before, sum);
            s.sums[t] = sum;
        }
        __syncthreads();
    }
    sum = t > 0 ? s.sums[t - 1] : jpeg_sum{0, {0, 0, 0}, 0};
    for (unsigned i = from; i < to; i++) {
        const smp_jpeg_sub sub = smp_jpeg_sub_of(scan, &p, i);
        if (sub.place & SMP_JPEG_FIRST)
            sum = jpeg_sum{sub.block, {0, 0, 0}, 1};
        const jpeg_sum more = {runs[i].blocks, {runs[i].dc[0], runs[i].dc[1], runs[i].dc[2]}, 0};
        runs[i].blocks = sum.blocks;
        for (int c = 0; c < 3; c++)
            runs[i].dc[c] = sum.dc[c];
        sum = jpeg_add(sum, more);
    }
}

/* Geometry: one block of SMP_JPEG_JOINERS threads. */
template <typename, typename> SMP_DEVICE void jpeg_join_naive(const smp_io &io, const smp_jpeg_decode &p)
{
    SMP_SHARED(jpeg_join_shared, s);
    const smp_jpeg_scan *scan = smp_jpeg_scan_of(&io.in, &p);
    if (!scan)
        return;
    jpeg_doubt(io, jpeg_join_blocks(io, p, scan, scan->tables, s) && threadIdx.x == 0);
    jpeg_join_sums(io, p, scan, s);
}
SMP_KERNEL_PAIR_(jpeg_join_naive, u8, uint8_t, u8, uint8_t, smp_jpeg_decode)

template <typename, typename> SMP_DEVICE void jpeg_join_tiled(const smp_io &io, const smp_jpeg_decode &p)
{
    SMP_SHARED(jpeg_join_shared, s);
    SMP_SHARED(jpeg_tables, shared);
    const smp_jpeg_scan *scan = smp_jpeg_scan_of(&io.in, &p);
    if (!scan)
        return;
    jpeg_load_tables(shared, scan);
    jpeg_doubt(io, jpeg_join_blocks(io, p, scan, shared.tables, s) && threadIdx.x == 0);
    jpeg_join_sums(io, p, scan, s);
}
SMP_KERNEL_PAIR_(jpeg_join_tiled, u8, uint8_t, u8, uint8_t, smp_jpeg_decode)
SMP_KERNEL_MANY(jpeg_join_tiled, u8, uint8_t, u8, uint8_t, smp_jpeg_decode)

/* ---------------------------------------------------------------------------------------------- coefficients */

/* Geometry: threads over subsequences, in x. */
SMP_DEVICE void jpeg_coefs(const smp_io &io, const smp_jpeg_decode &p, const smp_jpeg_scan *scan,
                           const smp_jpeg_table *tables, const uint8_t *natural)
{
    const smp_jpeg_run *runs = jpeg_scratch<smp_jpeg_run>(io.out, p.runs_at);
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < scan->subs; i += gridDim.x * blockDim.x) {
        const smp_jpeg_sub sub = smp_jpeg_sub_of(scan, &p, i);
        const bool first = i == 0 || (sub.place & SMP_JPEG_FIRST);
        smp_jpeg_place at = first ? smp_jpeg_start_of(sub) : runs[i - 1].out;
        uint32_t block = runs[i].blocks;
        int32_t dc[3] = {runs[i].dc[0], runs[i].dc[1], runs[i].dc[2]};
        const int doubt = smp_jpeg_astray(scan, &p, i);
        jpeg_doubt(io, smp_jpeg_decode_sub(scan, tables, natural, &p, sub, &at, &block, dc,
                                           jpeg_scratch<int16_t>(io.out, p.coefs_at)) ||
                           doubt);
    }
}

template <typename, typename> SMP_DEVICE void jpeg_coefs_naive(const smp_io &io, const smp_jpeg_decode &p)
{
    const smp_jpeg_scan *scan = smp_jpeg_scan_of(&io.in, &p);
    if (scan)
        jpeg_coefs(io, p, scan, scan->tables, scan->natural);
}
SMP_KERNEL_PAIR_(jpeg_coefs_naive, u8, uint8_t, u8, uint8_t, smp_jpeg_decode)

template <typename, typename> SMP_DEVICE void jpeg_coefs_tiled(const smp_io &io, const smp_jpeg_decode &p)
{
    SMP_SHARED(jpeg_tables, shared);
    const smp_jpeg_scan *scan = smp_jpeg_scan_of(&io.in, &p);
    if (!scan)
        return;
    jpeg_load_tables(shared, scan);
    jpeg_coefs(io, p, scan, shared.tables, shared.natural);
}
SMP_KERNEL_PAIR_(jpeg_coefs_tiled, u8, uint8_t, u8, uint8_t, smp_jpeg_decode)
SMP_KERNEL_MANY(jpeg_coefs_tiled, u8, uint8_t, u8, uint8_t, smp_jpeg_decode)

/* ---------------------------------------------------------------------------------------------- samples */

/* Geometry: threads over blocks of samples, in x. */
template <typename, typename> SMP_DEVICE void jpeg_idct_naive(const smp_io &io, const smp_jpeg_decode &p)
{
    const smp_jpeg_scan *scan = smp_jpeg_scan_of(&io.in, &p);
    int doubt = 0;
    for (int64_t block = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; block < p.blocks;
         block += (int64_t)gridDim.x * blockDim.x) {
        int component;
        uint8_t *to = jpeg_scratch<uint8_t>(io.out, smp_jpeg_block_at(&p, (uint32_t)block, &component));
        const int16_t *coefs = jpeg_scratch<int16_t>(io.out, p.coefs_at) + block * 64;
        int32_t v[64];
        for (int x = 0; x < 8; x++) {
            int32_t line[8];
            for (int i = 0; i < 8; i++)
                line[i] = scan ? coefs[8 * i + x] * scan->steps[component][8 * i + x] : 0;
            doubt |= smp_jpeg_idct8(line, SMP_JPEG_COLUMN_BITS);
            for (int i = 0; i < 8; i++)
                v[8 * i + x] = line[i];
        }
        for (int y = 0; y < 8; y++) {
            int32_t line[8];
            for (int i = 0; i < 8; i++)
                line[i] = v[8 * y + i];
            doubt |= smp_jpeg_idct8(line, SMP_JPEG_ROW_BITS);
            for (int i = 0; i < 8; i++)
                to[y * p.pitch[component] + i] = (uint8_t)smp_jpeg_bounded(line[i], &doubt);
        }
    }
    jpeg_doubt(io, doubt);
}
SMP_KERNEL_PAIR_(jpeg_idct_naive, u8, uint8_t, u8, uint8_t, smp_jpeg_decode)

enum { JPEG_IDCT_BLOCKS = 32 /* of samples, a block of threads */ };

template <int PITCH> struct jpeg_idct_tile {
    int32_t v[JPEG_IDCT_BLOCKS][8][PITCH];
};

/* Geometry: blocks of 8 * JPEG_IDCT_BLOCKS threads over all blocks of samples, in x. */
template <int PITCH> SMP_DEVICE void jpeg_idct_shared(const smp_io &io, const smp_jpeg_decode &p)
{
    typedef jpeg_idct_tile<PITCH> tile;
    SMP_SHARED(tile, s);
    const smp_jpeg_scan *scan = smp_jpeg_scan_of(&io.in, &p);
    const int own = (int)threadIdx.x / 8, t = (int)threadIdx.x % 8;
    const int64_t block = (int64_t)blockIdx.x * JPEG_IDCT_BLOCKS + own;
    const bool active = block < p.blocks;
    int component = 0, doubt = 0;
    int64_t at = 0;
    int32_t line[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    if (active) {
        at = smp_jpeg_block_at(&p, (uint32_t)block, &component);
        const int16_t *coefs = jpeg_scratch<int16_t>(io.out, p.coefs_at) + block * 64;
        for (int i = 0; i < 8; i++)
            line[i] = scan ? coefs[8 * i + t] * scan->steps[component][8 * i + t] : 0;
    }
    doubt |= smp_jpeg_idct8(line, SMP_JPEG_COLUMN_BITS);
    smp_converge();
    for (int i = 0; i < 8; i++)
        s.v[own][i][t] = line[i];
    __syncwarp(); /* the eight threads of a block of samples are in one warp */
    for (int i = 0; i < 8; i++)
        line[i] = s.v[own][t][i];
    doubt |= smp_jpeg_idct8(line, SMP_JPEG_ROW_BITS);
    smp_pack<uint8_t, 8> row;
    for (int i = 0; i < 8; i++)
        row.v[i] = (uint8_t)smp_jpeg_bounded(line[i], &doubt);
    if (active)
        *jpeg_scratch<smp_pack<uint8_t, 8>>(io.out, at + t * p.pitch[component]) = row;
    jpeg_doubt(io, doubt);
}

template <typename, typename> SMP_DEVICE void jpeg_idct_tiled(const smp_io &io, const smp_jpeg_decode &p)
{
    jpeg_idct_shared<8>(io, p);
}
SMP_KERNEL_PAIR_(jpeg_idct_tiled, u8, uint8_t, u8, uint8_t, smp_jpeg_decode)

template <typename, typename> SMP_DEVICE void jpeg_idct_padded(const smp_io &io, const smp_jpeg_decode &p)
{
    jpeg_idct_shared<9>(io, p);
}
SMP_KERNEL_PAIR_(jpeg_idct_padded, u8, uint8_t, u8, uint8_t, smp_jpeg_decode)
SMP_KERNEL_MANY(jpeg_idct_padded, u8, uint8_t, u8, uint8_t, smp_jpeg_decode)

/* ---------------------------------------------------------------------------------------------- pixels */

template <typename OUT> SMP_DEVICE void jpeg_put(const smp_jpeg_decode &p, OUT *row, int64_t x, uint32_t pixel)
{
    for (int c = 0; c < p.channels; c++)
        row[x * p.channels + c] = (OUT)(pixel >> 8 * c & 255);
}

/* Geometry: threads over pixels (x) and rows (y). */
template <typename, typename OUT> SMP_DEVICE void jpeg_pixels_naive(const smp_io &io, const smp_jpeg_decode &p)
{
    const uint8_t *planes = static_cast<const uint8_t *>(io.in.data);
    smp_each(io, p.width, [&](int64_t y, int64_t x) {
        jpeg_put(p, static_cast<OUT *>(smp_row(&io.out, y)), x, smp_jpeg_joined(&p, planes, (int32_t)x, (int32_t)y));
    });
}
SMP_KERNEL_PAIR_(jpeg_pixels_naive, u8, uint8_t, u8, uint8_t, smp_jpeg_decode)
SMP_KERNEL_PAIR_(jpeg_pixels_naive, u8, uint8_t, f32, float, smp_jpeg_decode)

/* Four pixels of bytes as whole words. */
SMP_DEVICE void jpeg_put_words(const smp_jpeg_decode &p, uint8_t *row, int64_t x, const uint32_t *v)
{
    uint32_t *to = reinterpret_cast<uint32_t *>(row + p.channels * x);
    if (p.channels == 1) {
        to[0] = v[0] | v[1] << 8 | v[2] << 16 | v[3] << 24;
        return;
    }
    to[0] = v[0] | v[1] << 24;
    to[1] = v[1] >> 8 | v[2] << 16;
    to[2] = v[2] >> 16 | v[3] << 8;
}

/* Geometry: threads over groups of four pixels (x) and rows (y). */
template <typename, typename OUT> SMP_DEVICE void jpeg_pixels_tiled(const smp_io &io, const smp_jpeg_decode &p)
{
    const uint8_t *planes = static_cast<const uint8_t *>(io.in.data);
    const bool words = sizeof(OUT) == 1 && smp_view_aligned(&io.out);
    smp_each<4>(io, p.width, [&](int64_t y, int64_t x) {
        OUT *row = static_cast<OUT *>(smp_row(&io.out, y));
        const int count = p.width - x < 4 ? (int)(p.width - x) : 4;
        uint32_t v[4] = {0, 0, 0, 0};
        for (int i = 0; i < 4; i++)
            if (i < count)
                v[i] = smp_jpeg_joined(&p, planes, (int32_t)x + i, (int32_t)y);
        if (words && count == 4)
            jpeg_put_words(p, reinterpret_cast<uint8_t *>(row), x, v);
        else
            for (int i = 0; i < 4; i++)
                if (i < count)
                    jpeg_put(p, row, x + i, v[i]);
    });
}
SMP_KERNEL_PAIR_(jpeg_pixels_tiled, u8, uint8_t, u8, uint8_t, smp_jpeg_decode)
SMP_KERNEL_MANY(jpeg_pixels_tiled, u8, uint8_t, u8, uint8_t, smp_jpeg_decode)
SMP_KERNEL_PAIR_(jpeg_pixels_tiled, u8, uint8_t, f32, float, smp_jpeg_decode)
