/* histogram on GPUs, variant private (histogram.cu compares the variants).
 *   copies  Interleaved copies of the block's histogram, h[counter * copies + lane % copies]. With 32 every lane has a
 *           bank to itself: no conflict in any picture. 256 counters so take 32 KB. There are fewer copies where 32 do
 *           not fit, down to one. 16 bytes a load, neighbouring blocks in neighbouring places; the first loads are in
 *           flight while the counters are cleared. Memory is the limit: an H100's delivers 13 samples a clock and SM,
 *           and a byte takes three instructions (permute, multiply, atomic), of which an SM issues 128 a clock and
 *           counts 32.
 *   parts   A histogram too large for shared memory (65536 bins) is cut into gridDim.y parts. Each reads all samples,
 *           half of them from the second-level cache, and counts its own. Other parts' samples go to a counter that
 *           nobody reads: a branch would cost more. */
#include "lib/warp_control.cuh"
#include "reduce/histogram_shared.cuh"

/* Counts every sample of a 16-byte vector in its channel's histogram. CODES: by code value. PARTS: the block has a part
 * of the histogram, without copies. With three channels the channel of a vector's first sample varies, but is constant
 * for a thread whose vectors are a multiple of three apart. */
template <typename T, int C, bool CODES, bool PARTS> struct histogram_words {
    typedef smp_vector_row<T, 1> unit;
    const smp_io &io;
    const smp_histogram_params &p;
    unsigned *counters;
    unsigned pitch, count; /* bytes from a counter to the next; counters of the part */
    unsigned plane[C];     /* by sample 0 .. C-1 of a vector: bytes (with PARTS: counters) to its channel */

    SMP_DEVICE_MEMBER histogram_words(const smp_io &io_, const smp_histogram_params &p_,
                                      const histogram_shared &partial)
        : io(io_), p(p_), counters(partial.counters), pitch(kept(partial.copies * 4)), count(partial.count)
    {
        const unsigned phase = C == 3 ? histogram_thread() % 3 * (unit::word % 3) : 0;
        const unsigned own = (histogram_thread() & (partial.copies - 1)) * 4;
#pragma unroll
        for (unsigned c = 0; c < C; c++) {
            const unsigned first = (phase + c) % C * each();
            plane[c] = kept(PARTS ? first - partial.first : first * pitch + own);
        }
    }
    /* Counters of a channel. */
    SMP_DEVICE_MEMBER unsigned each() const
    {
        return CODES ? 256u : (unsigned)p.bins + 1;
    }
    /* The same value, whose origin is hidden: the compiler would compute it again for each sample. */
    SMP_DEVICE_MEMBER unsigned kept(unsigned v) const
    {
        return v | (unsigned)(io.in.height >> 63);
    }

    static SMP_DEVICE_MEMBER unsigned code(const unit &word, int i)
    {
        constexpr int each = 4 / (int)sizeof(T);
        const unsigned which = (unsigned)(i % each);
        return __byte_perm(word.bits(i / each), 0, sizeof(T) == 1 ? 0x4440u + which : 0x4410u + 0x22u * which);
    }
    SMP_DEVICE_MEMBER void add(const unit &word) const
    {
#pragma unroll
        for (int i = 0; i < unit::word; i++) {
            unsigned bin;
            if (smp_sample<T>::format == SMP_F32)
                bin = (unsigned)histogram_bin(word.sample(i, 0), io.in.white, p);
            else
                bin = CODES ? code(word, i) : code(word, i) * (unsigned)p.bins >> (sizeof(T) == 1 ? 8 : 16);
            const unsigned at = PARTS ? 4 * min(plane[i % C] + bin, count) : plane[i % C] + bin * pitch;
            atomicAdd(reinterpret_cast<unsigned *>(reinterpret_cast<char *>(counters) + at), 1u);
        }
    }
    SMP_DEVICE_MEMBER void add_single(const T *at, histogram_shared &partial) const
    {
#pragma unroll
        for (unsigned c = 0; c < C; c++)
            partial.add(c * each() + (CODES ? (unsigned)at[c] : (unsigned)histogram_bin(at[c], io.in.white, p)));
    }
};

/* Counts pixels by the weighted sum of their channels. */
template <typename T, int C> struct histogram_lumas {
    typedef smp_vector_row<T, C> unit;
    const smp_io &io;
    const smp_histogram_params &p;
    histogram_shared &partial;

    SMP_DEVICE_MEMBER void add(const unit &group) const
    {
#pragma unroll
        for (int i = 0; i < unit::pixels; i++) {
            float pixel[C];
#pragma unroll
            for (int c = 0; c < C; c++)
                pixel[c] = smp_value(group.sample(i, c));
            partial.add((unsigned)smp_histogram_bin(smp_histogram_luma_of(pixel, &p, C), io.in.white, &p));
        }
    }
    SMP_DEVICE_MEMBER void add_single(const T *at, histogram_shared &) const
    {
        histogram_pixel(at, io, p, [&](int32_t counter) { partial.add((unsigned)counter); });
    }
};

/* A thread's samples: AT_ONCE units of each of its block's tiles, a block's threads apart, so that a block reads whole
 * tiles. AHEAD: the next loads start before the last are counted, because loads behind queued atomics would wait too.
 */
template <typename T, int C, typename UNIT, int AT_ONCE, bool AHEAD> struct histogram_stream {
    static constexpr uint32_t samples = UNIT::words * UNIT::word;
    const char *start;
    int64_t stride;
    smp_row_split<T, C> cut;
    smp_walk walk;                /* by tiles, from the last unit of one to the first of the next */
    smp_step apart;               /* from a unit of a tile to the next */
    uint32_t row_step, row_apart; /* the same in a single row */
    unsigned have;                /* a bit for each unit that exists */
    UNIT units[AT_ONCE];

    template <bool ONE_ROW> SMP_DEVICE_MEMBER void load()
    {
        have = 0;
#pragma unroll
        for (int g = 0; g < AT_ONCE; g++) {
            const bool last = g + 1 == AT_ONCE;
            if (ONE_ROW ? walk.k < walk.across : walk.more()) {
                const char *row = ONE_ROW ? start : start + walk.y * stride;
                const T *at = reinterpret_cast<const T *>(row) + walk.k * (uint64_t)samples;
                if (AHEAD)
                    units[g].load_no_l1(at);
                else
                    units[g].load_streaming(at);
                have |= 1u << g;
            }
            if (ONE_ROW)
                walk.k += last ? row_step : row_apart;
            else
                walk.go(last ? walk.step : apart);
        }
    }

    template <bool ONE_ROW, typename COUNT>
    SMP_DEVICE_MEMBER void count_rows(const smp_io &io, const COUNT &count, histogram_shared &partial)
    {
        const uint32_t thread = histogram_thread(), threads = histogram_threads(), stride_x = gridDim.x * threads;
        const uint32_t rows = ONE_ROW ? 1 : (uint32_t)io.out.rows;
        const char *const first = start;
        have = 0;
        if (cut.groups) {
            const uint32_t across = cut.groups * (smp_vector_row<T, C>::words / UNIT::words);
            const uint32_t begin = blockIdx.x * threads * AT_ONCE + thread;
            row_step = (stride_x - threads) * AT_ONCE + threads;
            row_apart = threads;
            if (ONE_ROW) {
                walk.k = begin;
                walk.across = across;
            } else {
                walk.start(begin, row_step, across, rows);
                apart.of(row_apart, across);
            }
            load<ONE_ROW>();
        }
        partial.clear();
        if (cut.singles) {
            smp_walk single;
            single.start(blockIdx.x * threads + thread, stride_x, cut.singles, rows);
#pragma unroll 1
            for (; single.more(); single.next())
                count.add_single(cut.single(first + single.y * stride, single.k), partial);
            smp_reconverge(); /* some lanes have counted one more than others */
        }
        while (have) {
            const unsigned there = have;
            UNIT now[AT_ONCE];
#pragma unroll
            for (int g = 0; g < AT_ONCE; g++)
                now[g] = units[g];
            if (AHEAD)
                load<ONE_ROW>();
#pragma unroll
            for (int g = 0; g < AT_ONCE; g++)
                if (AT_ONCE == 1 || there >> g & 1)
                    count.add(now[g]);
            if (!AHEAD)
                load<ONE_ROW>();
        }
    }

    /* Counts all. The first loads are in flight while the counters are cleared. */
    template <typename COUNT>
    SMP_DEVICE_MEMBER void run(const smp_io &io, const COUNT &count, histogram_shared &partial)
    {
        const int64_t width = io.in.width, rows = io.out.rows;
        stride = io.in.stride;
        start = reinterpret_cast<const char *>(smp_in<T>(io.in, io.out.y0));
        if (stride == width * C * (int64_t)sizeof(T) && smp_walk_fits(width * rows)) {
            cut.start(start, 0, (uint64_t)(width * rows), 1);
            count_rows<true>(io, count, partial);
        } else {
            cut.start(start, stride, (uint64_t)width, rows);
            count_rows<false>(io, count, partial);
        }
    }
};

/* Counts channels separately, or their weighted sum. */
template <typename T, int C, bool PARTS>
SMP_DEVICE void histogram_samples(const smp_io &io, const smp_histogram_params &p, histogram_shared &partial)
{
    const histogram_words<T, C, smp_sample<T>::format == SMP_U8, PARTS> count(io, p, partial);
    histogram_stream<T, C, smp_vector_row<T, 1>, PARTS ? 4 : 1, !PARTS> stream;
    stream.run(io, count, partial);
}
template <typename T, int C>
SMP_DEVICE void histogram_sums(const smp_io &io, const smp_histogram_params &p, histogram_shared &partial)
{
    const histogram_lumas<T, C> count = {io, p, partial};
    histogram_stream<T, C, smp_vector_row<T, C>, 1, true> stream;
    stream.run(io, count, partial);
}

/* A kernel for each number of channels keeps it short: the first blocks wait for its instructions. */
template <typename T, int C> SMP_DEVICE void histogram_private(const smp_io &io, const smp_histogram_params &p)
{
    SMP_SMEM_DYNAMIC(unsigned, shared);
    histogram_shared partial;
    partial.start(io, p, shared, blockDim.x);
    histogram_samples<T, C, false>(io, p, partial);
    partial.finish(io, p);
}
#define HISTOGRAM_PRIVATE(C, format, T)                                                                                \
    SMP_KERNEL_BOUNDS(C == 3 ? SMP_HISTOGRAM_THREES : SMP_HISTOGRAM_THREADS, SMP_HISTOGRAM_BLOCKS,                     \
                      histogram_private_##C##_##format##_##format, smp_histogram_params, io, p)                        \
    {                                                                                                                  \
        histogram_private<T, C>(io, p);                                                                                \
    }
#define HISTOGRAM_PRIVATES(format, T)                                                                                  \
    HISTOGRAM_PRIVATE(1, format, T)                                                                                    \
    HISTOGRAM_PRIVATE(2, format, T)                                                                                    \
    HISTOGRAM_PRIVATE(3, format, T)                                                                                    \
    HISTOGRAM_PRIVATE(4, format, T)
HISTOGRAM_PRIVATES(u8, uint8_t)
HISTOGRAM_PRIVATES(u16, uint16_t)
HISTOGRAM_PRIVATE(1, f32, float)

/* Weighted sums, floats of several channels, and more channels than four. */
template <typename T> SMP_DEVICE void histogram_private_any(const smp_io &io, const smp_histogram_params &p)
{
    constexpr bool FLOATS = smp_sample<T>::format == SMP_F32;
    SMP_SMEM_DYNAMIC(unsigned, shared);
    histogram_shared partial;
    partial.start(io, p, shared, blockDim.x);
    if (FLOATS && !p.colours && io.in.channels == 2) {
        histogram_samples<float, 2, false>(io, p, partial);
    } else if (FLOATS && !p.colours && io.in.channels == 3) {
        histogram_samples<float, 3, false>(io, p, partial);
    } else if (FLOATS && !p.colours && io.in.channels == 4) {
        histogram_samples<float, 4, false>(io, p, partial);
    } else if (p.colours && io.in.channels == 3) {
        histogram_sums<T, 3>(io, p, partial);
    } else if (p.colours && io.in.channels == 4) {
        histogram_sums<T, 4>(io, p, partial);
    } else {
        partial.clear();
        histogram_pixels<T>(io, p, partial);
    }
    partial.finish(io, p);
}
#define HISTOGRAM_ANY(format, T)                                                                                       \
    SMP_KERNEL_BOUNDS(SMP_HISTOGRAM_THREADS, SMP_HISTOGRAM_BLOCKS, histogram_private_any_##format##_##format,          \
                      smp_histogram_params, io, p)                                                                     \
    {                                                                                                                  \
        histogram_private_any<T>(io, p);                                                                               \
    }
HISTOGRAM_ANY(u8, uint8_t)
HISTOGRAM_ANY(u16, uint16_t)
HISTOGRAM_ANY(f32, float)

template <typename T> SMP_DEVICE void histogram_parts(const smp_io &io, const smp_histogram_params &p)
{
    SMP_SMEM_DYNAMIC(unsigned, shared);
    histogram_shared partial;
    partial.start(io, p, shared, 1);
    if (io.in.channels == 1 && !p.colours) {
        histogram_samples<T, 1, true>(io, p, partial);
    } else if (io.in.channels == 2 && !p.colours) {
        histogram_samples<T, 2, true>(io, p, partial);
    } else if (io.in.channels == 3) {
        if (p.colours)
            histogram_sums<T, 3>(io, p, partial);
        else
            histogram_samples<T, 3, true>(io, p, partial);
    } else if (io.in.channels == 4) {
        if (p.colours)
            histogram_sums<T, 4>(io, p, partial);
        else
            histogram_samples<T, 4, true>(io, p, partial);
    } else {
        partial.clear();
        histogram_pixels<T>(io, p, partial);
    }
    partial.finish(io, p);
}

/* u8 has 256 bins a channel, which always fit. */
SMP_KERNEL_BOUNDS(SMP_HISTOGRAM_THREADS, 1, histogram_parts_u16_u16, smp_histogram_params, io, p)
{
    histogram_parts<uint16_t>(io, p);
}
SMP_KERNEL_BOUNDS(SMP_HISTOGRAM_THREADS, 1, histogram_parts_f32_f32, smp_histogram_params, io, p)
{
    histogram_parts<float>(io, p);
}
