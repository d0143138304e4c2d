/* stats on GPUs, variant shuffle (the others: stats.cu): a warp a leaf, and as many warps as the SMs hold; no shared memory:
 * lanes add through registers.
 * Channels of a leaf are read together, so that every byte is read once; memory bandwidth is the bound.
 *   bytes, words  sums are exact in integers whatever their order: 16-byte loads, of bytes four added an instruction.
 *   floats        each lane adds its own pixels in order, so neighbouring threads must hold neighbouring pixels: four
 *                 bytes a thread, many loads under way. Pixels of two and four channels come in one load. */
#include "smp_group.cuh"
#include "stats_leaf.cuh"

enum { STATS_WARPS = SMP_STATS_SHUFFLE / SMP_LANES };

/* ---------------------------------------------------------------------------------------------- shuffle, floats */

SMP_DEVICE void stats_shuffle_down(stats_sums &sums)
{
#pragma unroll
    for (unsigned distance = SMP_LANES / 2; distance > 0; distance /= 2)
        sums.join(__shfl_down_sync(~0u, sums.sum, distance), __shfl_down_sync(~0u, sums.squares, distance),
                  __shfl_down_sync(~0u, sums.min, distance), __shfl_down_sync(~0u, sums.max, distance),
                  __shfl_down_sync(~0u, sums.count, distance));
}

/* The C samples of a pixel from `at` on. packed: in one load. */
template <typename T, int C> struct stats_pixel {
    T v[C];
    SMP_MEMBER void load(const char *at, bool packed)
    {
        const T *from = reinterpret_cast<const T *>(at);
        if (C > 1 && C != 3 && packed) {
            const smp_pack<T, C == 3 ? 1 : C> all = *reinterpret_cast<const smp_pack<T, C == 3 ? 1 : C> *>(from);
#pragma unroll
            for (int c = 0; c < C; c++)
                v[c] = all.v[C == 3 ? 0 : c];
            return;
        }
#pragma unroll
        for (int c = 0; c < C; c++)
            v[c] = from[c];
    }
};

/* The pixels of a lane, in order: its sums in C channels. */
template <typename T, int C> struct stats_lane {
    stats_sums sums[C];
    float pivot[C];

    template <int N> SMP_MEMBER void add(const stats_pixel<T, C> *pixels)
    {
#pragma unroll
        for (int k = 0; k < N; k++)
#pragma unroll
            for (int c = 0; c < C; c++)
                sums[c].add(smp_value(pixels[k].v[c]), pivot[c]);
    }
};

/* A warp's work on channels first .. first + C - 1 of leaves of floats, one after the other. Where a leaf's pixels follow
 * each other, a lane's next ones are under way while it adds the last: those of the next leaf too, while the lanes' sums
 * are joined, since otherwise all warps of an SM would leave the memory idle at the same time. */
template <typename T, int C> struct stats_stream {
    static constexpr int PIXEL = C * (int)sizeof(T), STEP = PIXEL * SMP_LANES;
    static constexpr int AT_ONCE = C == 1 ? 8 : C == 2 ? 4 : C == 3 ? 2 : 1;
    stats_leaf leaf;
    int first;
    bool packed, runs;        /* a pixel is one access; pixels follow each other, and are many */
    const char *at;           /* behind what is under way, for this lane */
    float begin[C];           /* the leaf's first samples */
    stats_pixel<T, C> next[AT_ONCE];

    SMP_MEMBER bool start(const smp_io &io, int64_t item, bool apart)
    {
        first = apart ? (int)(item % io.in.channels) : 0;
        if (!leaf.find(io, apart ? item / io.in.channels : item))
            return false;
        packed = !apart && ((uintptr_t)leaf.start | (leaf.rows > 1 ? (uintptr_t)leaf.stride : 0)) % 16 == 0;
        runs = leaf.rows == 1 && leaf.pixel_bytes == PIXEL && leaf.pixels >= AT_ONCE * SMP_LANES;
        at = leaf.start + (int)threadIdx.x % SMP_LANES * PIXEL;
        if (runs) {
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++, at += STEP)
                next[k].load(at, packed);
        }
#pragma unroll
        for (int c = 0; c < C; c++)
            begin[c] = stats_value<T>(leaf.start, first + c);
        return true;
    }

    SMP_MEMBER void add_all(stats_lane<T, C> &own)
    {
        int32_t i = (int)threadIdx.x % SMP_LANES;
        if (runs) {
            for (i += AT_ONCE * SMP_LANES; i + (AT_ONCE - 1) * SMP_LANES < leaf.pixels; i += AT_ONCE * SMP_LANES) {
                stats_pixel<T, C> now[AT_ONCE];
#pragma unroll
                for (int k = 0; k < AT_ONCE; k++)
                    now[k] = next[k];
#pragma unroll
                for (int k = 0; k < AT_ONCE; k++, at += STEP)
                    next[k].load(at, packed);
                own.template add<AT_ONCE>(now);
            }
            own.template add<AT_ONCE>(next);
        }
        stats_walk walk;
        walk.start(leaf, i, SMP_LANES);
        walk.at += first * (int)sizeof(T);
        constexpr int SEVERAL = C == 1 ? 6 : C == 2 ? 3 : C == 3 ? 2 : 1;
        for (; i + (SEVERAL - 1) * SMP_LANES < leaf.pixels; i += SEVERAL * SMP_LANES) {
            stats_pixel<T, C> pixels[SEVERAL];
#pragma unroll
            for (int k = 0; k < SEVERAL; k++, walk.next())
                pixels[k].load(walk.at, packed);
            own.template add<SEVERAL>(pixels);
        }
#pragma unroll 1
        for (; i < leaf.pixels; i += SMP_LANES, walk.next()) {
            stats_pixel<T, C> pixel;
            pixel.load(walk.at, packed);
            own.template add<1>(&pixel);
        }
    }
};

/* Items first_item, first_item + step, ...; apart: an item is one channel of a leaf. */
template <typename T, int C> SMP_DEVICE void stats_stream_all(const smp_io &io, int64_t item, int64_t step, bool apart)
{
    stats_stream<T, C> stream;
    bool there = stream.start(io, item, apart);
    while (there) {
        stats_lane<T, C> own;
#pragma unroll
        for (int c = 0; c < C; c++) {
            own.sums[c].clear();
            own.pivot[c] = smp_stats_pivot(stream.begin[c]);
        }
        stream.add_all(own);
        smp_stats_leaf *const records = stream.leaf.records + stream.first;
        item += step;
        there = stream.start(io, item, apart);
#pragma unroll
        for (int c = 0; c < C; c++) {
            stats_shuffle_down(own.sums[c]);
            if (threadIdx.x % SMP_LANES == 0)
                records[c] = own.sums[c].close(own.pivot[c]);
        }
    }
}

/* ---------------------------------------------------------------------------------------------- shuffle, integers */

/* Smaller and larger of the two 16-bit halves of words. */
SMP_DEVICE uint32_t stats_min2(uint32_t a, uint32_t b)
{
#ifdef __CUDACC__
    return __vminu2(a, b);
#else
    return min(a & 0xffff0000u, b & 0xffff0000u) | min(a & 0xffffu, b & 0xffffu);
#endif
}
SMP_DEVICE uint32_t stats_max2(uint32_t a, uint32_t b)
{
#ifdef __CUDACC__
    return __vmaxu2(a, b);
#else
    return max(a & 0xffff0000u, b & 0xffff0000u) | max(a & 0xffffu, b & 0xffffu);
#endif
}

/* Sums over bytes; a leaf's fit 32 bits. Least and largest in 16-bit halves: of the even bytes, and of the odd ones,
 * which as the high bytes of halves decide, whatever lies below them. */
struct stats_bytes {
    typedef uint32_t wide;
    uint32_t sum, squares, least[2], most[2];

    SMP_MEMBER void clear()
    {
        sum = squares = most[0] = most[1] = 0;
        least[0] = least[1] = ~0u;
    }
    SMP_MEMBER void add(uint32_t v)
    {
        sum += v;
        squares += v * v;
        least[0] = stats_min2(least[0], v | 0xffff0000u);
        most[0] = stats_max2(most[0], v);
    }
    SMP_MEMBER void add_four(uint32_t bytes)
    {
        const uint32_t even = bytes & 0x00ff00ffu;
        sum = __dp4a(bytes, 0x01010101u, sum);
        squares = __dp4a(bytes, bytes, squares);
        least[0] = stats_min2(least[0], even);
        most[0] = stats_max2(most[0], even);
        least[1] = stats_min2(least[1], bytes);
        most[1] = stats_max2(most[1], bytes);
    }
    SMP_MEMBER uint32_t min_() const
    {
        return min(min(least[0] & 0xffffu, least[0] >> 16), min(least[1] >> 8 & 0xffu, least[1] >> 24));
    }
    SMP_MEMBER uint32_t max_() const
    {
        return max(max(most[0] & 0xffffu, most[0] >> 16), max(most[1] >> 8 & 0xffu, most[1] >> 24));
    }
};

struct stats_words {
    typedef unsigned long long wide;
    uint32_t sum, least, most;
    wide squares;

    SMP_MEMBER void clear()
    {
        sum = most = 0;
        squares = 0;
        least = ~0u;
    }
    SMP_MEMBER void add(uint32_t v)
    {
        sum += v;
        squares += (wide)v * v;
        least = min(least, v);
        most = max(most, v);
    }
    SMP_MEMBER uint32_t min_() const { return least; }
    SMP_MEMBER uint32_t max_() const { return most; }
};

template <typename T> struct stats_codes;
template <> struct stats_codes<uint8_t> {
    typedef stats_bytes sums;
};
template <> struct stats_codes<uint16_t> {
    typedef stats_words sums;
};

template <int C> SMP_DEVICE void stats_add_group(stats_words *sums, const smp_group<uint16_t, C> &group)
{
#pragma unroll
    for (int i = 0; i < group.pixels; i++)
#pragma unroll
        for (int c = 0; c < C; c++)
            sums[c].add(group.sample(i, c));
}

/* Four bytes of one channel at a time, brought together by byte permutes. */
template <int C> SMP_DEVICE void stats_add_group(stats_bytes *sums, const smp_group<uint8_t, C> &group)
{
#pragma unroll
    for (int i = 0; i < group.words * 4; i += C) { /* C words are four pixels */
        const uint32_t a = group.bits(i);
        if (C == 1) {
            sums[0].add_four(a);
            continue;
        }
        const uint32_t b = group.bits(i + 1);
        if (C == 2) {
            sums[0].add_four(__byte_perm(a, b, 0x6420));
            sums[C - 1].add_four(__byte_perm(a, b, 0x7531));
        } else if (C == 3) { /* 0120 1201 2012 */
            const uint32_t c = group.bits(i + 2);
            sums[0].add_four(__byte_perm(__byte_perm(a, b, 0x0630), c, 0x5210));
            sums[1].add_four(__byte_perm(__byte_perm(a, b, 0x0741), c, 0x6210));
            sums[C - 1].add_four(__byte_perm(__byte_perm(a, b, 0x0052), c, 0x7410));
        } else {
            const uint32_t c = group.bits(i + 2), d = group.bits(i + 3);
            const uint32_t low0 = __byte_perm(a, b, 0x5140), low1 = __byte_perm(c, d, 0x5140);
            const uint32_t high0 = __byte_perm(a, b, 0x7362), high1 = __byte_perm(c, d, 0x7362);
            sums[0].add_four(__byte_perm(low0, low1, 0x5410));
            sums[1].add_four(__byte_perm(low0, low1, 0x7632));
            sums[C - 2].add_four(__byte_perm(high0, high1, 0x5410));
            sums[C - 1].add_four(__byte_perm(high0, high1, 0x7632));
        }
    }
}

/* A warp adds all C channels of a leaf; aligned: its rows begin at multiples of 16 bytes. */
template <typename T, int C, typename SUMS> SMP_DEVICE void stats_groups(const stats_leaf &leaf, bool aligned)
{
    typedef smp_group<T, C> group;
    constexpr int AT_ONCE = C <= 2 ? 4 : C == 3 ? 1 : 2; /* as registers allow */
    const int lane = (int)threadIdx.x % SMP_LANES;
    SUMS sums[C];
#pragma unroll
    for (int c = 0; c < C; c++)
        sums[c].clear();
    smp_walk walk;
    walk.start32((uint32_t)lane, SMP_LANES, (uint32_t)((leaf.across + group::pixels - 1) / group::pixels),
                 (uint32_t)leaf.rows);
    while (walk.more()) {
        group groups[AT_ONCE];
        unsigned whole = 0; /* a bit each */
#pragma unroll
        for (int g = 0; g < AT_ONCE; g++) {
            if (!walk.more())
                continue;
            const T *at = reinterpret_cast<const T *>(leaf.start + walk.y * leaf.stride) + walk.k * (group::pixels * C);
            const int left = leaf.across - (int)walk.k * group::pixels;
            if (aligned && left >= group::pixels) {
                groups[g].load(at);
                whole |= 1u << g;
            } else {
#pragma unroll 1
                for (int i = 0; i < left && i < group::pixels; i++)
#pragma unroll
                    for (int c = 0; c < C; c++)
                        sums[c].add(at[i * C + c]);
            }
            walk.next();
        }
#pragma unroll
        for (int g = 0; g < AT_ONCE; g++)
            if (whole >> g & 1)
                stats_add_group<C>(sums, groups[g]);
    }
    /* Lane c gets the totals of channel c. */
    uint32_t sum = 0, least = 0, most = 0;
    typename SUMS::wide squares = 0;
#pragma unroll
    for (int c = 0; c < C; c++) {
        uint32_t s = sums[c].sum, low = sums[c].min_(), high = sums[c].max_();
        typename SUMS::wide q = sums[c].squares;
#pragma unroll
        for (int bits = SMP_LANES / 2; bits > 0; bits /= 2) {
            s += __shfl_xor_sync(~0u, s, bits);
            q += __shfl_xor_sync(~0u, q, bits);
            low = min(low, __shfl_xor_sync(~0u, low, bits));
            high = max(high, __shfl_xor_sync(~0u, high, bits));
        }
        sum = lane == c ? s : sum;
        squares = lane == c ? q : squares;
        least = lane == c ? low : least;
        most = lane == c ? high : most;
    }
    if (lane < C)
        leaf.records[lane] = smp_stats_close_codes(leaf.pixels, (int32_t) reinterpret_cast<const T *>(leaf.start)[lane],
                                                   (int64_t)sum, (int64_t)squares, (int32_t)least, (int32_t)most);
}

/* ---------------------------------------------------------------------------------------------- shuffle */

/* Leaves item, item + step, ... in all C channels. */
template <int C> SMP_DEVICE void stats_channels(const smp_io &io, int64_t item, int64_t step, const float *)
{
    stats_stream_all<float, C>(io, item, step, false);
}
template <int C, typename T> SMP_DEVICE void stats_channels(const smp_io &io, int64_t item, int64_t step, const T *)
{
    typedef typename stats_codes<T>::sums sums;
    stats_leaf leaf;
    for (; leaf.find(io, item); item += step) {
        const bool aligned = ((uintptr_t)leaf.start | (leaf.rows > 1 ? (uintptr_t)leaf.stride : 0)) % 16 == 0;
        stats_groups<T, C, sums>(leaf, aligned);
    }
}

/* A warp a leaf and then the next; with more than four channels a warp a channel, side by side in a block so that they
 * share what the first-level cache holds. */
template <typename T> SMP_DEVICE void stats_shuffle(const smp_io &io)
{
    const int64_t item = (int64_t)blockIdx.x * STATS_WARPS + threadIdx.x / SMP_LANES;
    const int64_t step = (int64_t)gridDim.x * STATS_WARPS;
    const T *format = nullptr;
    switch (io.in.channels) {
    case 1:
        stats_channels<1>(io, item, step, format);
        break;
    case 2:
        stats_channels<2>(io, item, step, format);
        break;
    case 3:
        stats_channels<3>(io, item, step, format);
        break;
    case 4:
        stats_channels<4>(io, item, step, format);
        break;
    default:
        stats_stream_all<T, 1>(io, item, step, true);
        break;
    }
}

/* 1024 threads an SM at least. */
SMP_KERNEL_BOUNDS(SMP_STATS_SHUFFLE, SMP_STATS_RESIDENT, stats_shuffle_u8_u8, smp_no_params, io, p)
{
    stats_shuffle<uint8_t>(io);
}
SMP_KERNEL_BOUNDS(SMP_STATS_SHUFFLE, SMP_STATS_RESIDENT, stats_shuffle_u16_u16, smp_no_params, io, p)
{
    stats_shuffle<uint16_t>(io);
}
SMP_KERNEL_BOUNDS(SMP_STATS_SHUFFLE, SMP_STATS_RESIDENT, stats_shuffle_f32_f32, smp_no_params, io, p)
{
    stats_shuffle<float>(io);
}
