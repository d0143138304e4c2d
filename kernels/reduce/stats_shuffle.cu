/* stats on GPUs, variant shuffle (stats.cu compares the variants): a block of one warp a chunk, so that its place in
 * the grid is the chunk's place in the picture. No shared memory: lanes add through registers. Channels of a chunk are
 * read together, every byte once, by streaming loads. Memory is the limit: a warp has 2 to 4 KB in flight, and
 * instructions before its first load count as much as those after it (dram__throughput).
 *   u8, u16  Integer sums are exact in any order: 16-byte loads, four bytes added an instruction, minimum and maximum
 *   of two words. Pixels before and after the 16-byte vectors of a row are read one by one.
 *   f32      Each lane adds its own pixels in order, so neighbouring threads must hold neighbouring pixels: four bytes
 *            a thread, many loads in flight. Pixels of two and four channels come in one load. A group of finite
 *            samples only, as one product a sample tells, needs no selections. */
#include "lib/vector_load.cuh"
#include "reduce/stats_chunk.cuh"

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
    SMP_DEVICE_MEMBER void load(const char *at, bool packed)
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
            v[c] = smp_load_no_l1(from + c);
    }
};

/* The pixels of a lane, in order: its sums in C channels. */
template <typename T, int C> struct stats_lane {
    stats_sums sums[C];
    float pivot[C];

    /* 0 * v is 0 unless v is not finite: one multiplication a sample finds out whether the short path is valid. */
    template <int N> SMP_DEVICE_MEMBER void add(const stats_pixel<T, C> *pixels)
    {
#pragma unroll
        for (int c = 0; c < C; c++) {
            float zero = 0.f;
#pragma unroll
            for (int k = 0; k < N; k++)
                zero = fmaf(smp_value(pixels[k].v[c]), 0.f, zero);
            if (zero == 0.f) {
#pragma unroll
                for (int k = 0; k < N; k++)
                    sums[c].add_finite(smp_value(pixels[k].v[c]), pivot[c]);
                sums[c].count += N;
            } else {
#pragma unroll 1
                for (int k = 0; k < N; k++) {
                    float v = smp_value(pixels[0].v[c]);
#pragma unroll
                    for (int i = 1; i < N; i++)
                        v = k == i ? smp_value(pixels[i].v[c]) : v;
                    sums[c].add(v, pivot[c]);
                }
            }
        }
    }
};

/* A warp's work on channels first .. first + C - 1 of a chunk, a lane's pixels in order. Where they follow each other,
 * the next AT_ONCE are in flight while it adds the last. */
template <typename T, int C> SMP_DEVICE void stats_add_chunk(const stats_chunk &chunk, int first, bool packed)
{
    constexpr int PIXEL = C * (int)sizeof(T), STEP = PIXEL * SMP_LANES;
    constexpr int AT_ONCE = C == 1 ? (sizeof(T) == 4 ? 32 : 8) : C == 2 ? 8 : C == 3 ? 4 : 2;
    const int lane = (int)threadIdx.x % SMP_LANES;
    const bool runs = chunk.rows == 1 && chunk.pixel_bytes == PIXEL && chunk.pixels >= AT_ONCE * SMP_LANES;
    const char *at = chunk.start + lane * PIXEL;
    stats_pixel<T, C> next[AT_ONCE];
    stats_lane<T, C> own;
    int32_t i = lane;
    if (runs) {
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            next[k].load(at + k * STEP, packed);
    }
#pragma unroll
    for (int c = 0; c < C; c++) {
        own.sums[c].clear();
        own.pivot[c] = smp_stats_pivot(stats_value<T>(chunk.start, first + c));
    }
    if (runs) {
        for (i += AT_ONCE * SMP_LANES; i + (AT_ONCE - 1) * SMP_LANES < chunk.pixels; i += AT_ONCE * SMP_LANES) {
            stats_pixel<T, C> now[AT_ONCE];
            at += AT_ONCE * STEP;
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++)
                now[k] = next[k];
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++)
                next[k].load(at + k * STEP, packed);
            own.template add<AT_ONCE>(now);
        }
        own.template add<AT_ONCE>(next);
    }
    stats_walk walk;
    walk.start(chunk, i, SMP_LANES);
    walk.at += first * (int)sizeof(T);
    constexpr int SEVERAL = C == 1 ? 6 : C == 2 ? 3 : C == 3 ? 2 : 1;
    for (; i + (SEVERAL - 1) * SMP_LANES < chunk.pixels; i += SEVERAL * SMP_LANES) {
        stats_pixel<T, C> pixels[SEVERAL];
#pragma unroll
        for (int k = 0; k < SEVERAL; k++, walk.next())
            pixels[k].load(walk.at, packed);
        own.template add<SEVERAL>(pixels);
    }
#pragma unroll 1
    for (; i < chunk.pixels; i += SMP_LANES, walk.next()) {
        stats_pixel<T, C> pixel;
        pixel.load(walk.at, packed);
        own.template add<1>(&pixel);
    }
#pragma unroll
    for (int c = 0; c < C; c++) {
        stats_shuffle_down(own.sums[c]);
        if (lane == 0)
            chunk.records[first + c] = own.sums[c].close(own.pivot[c]);
    }
}

SMP_DEVICE bool stats_aligned(const stats_chunk &chunk)
{
    return ((uintptr_t)chunk.start | (chunk.rows > 1 ? (uintptr_t)chunk.stride : 0)) % 16 == 0;
}

/* ---------------------------------------------------------------------------------------------- shuffle, integers */

/* Smallest and largest of the two 16-bit halves of three words; the sum of the halves of one and c. */
SMP_DEVICE uint32_t stats_min2(uint32_t a, uint32_t b, uint32_t c)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    return __vimin3_u16x2(a, b, c);
#else
    return __vminu2(__vminu2(a, b), c);
#endif
}
SMP_DEVICE uint32_t stats_max2(uint32_t a, uint32_t b, uint32_t c)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    return __vimax3_u16x2(a, b, c);
#else
    return __vmaxu2(__vmaxu2(a, b), c);
#endif
}
SMP_DEVICE uint32_t stats_sum2(uint32_t halves, uint32_t c)
{
    return __dp2a_lo(halves, 0x0101u, c);
}

/* Sums over u8; a chunk's fit 32 bits. Minimum and maximum in 16-bit halves: of the even bytes, and of the odd ones,
 * which as the high bytes of halves decide, whatever the low bytes are. */
struct stats_bytes {
    typedef uint32_t wide;
    uint32_t sum, squares, least[2], most[2];

    SMP_DEVICE_MEMBER void clear()
    {
        sum = squares = most[0] = most[1] = 0;
        least[0] = least[1] = ~0u;
    }
    SMP_DEVICE_MEMBER void add(uint32_t v)
    {
        sum += v;
        squares += v * v;
        least[0] = stats_min2(least[0], v | 0xffff0000u, ~0u);
        most[0] = stats_max2(most[0], v, 0);
    }
    /* Four samples each of a and b. */
    SMP_DEVICE_MEMBER void add_words(uint32_t a, uint32_t b)
    {
        const uint32_t even_a = a & 0x00ff00ffu, even_b = b & 0x00ff00ffu;
        sum = __dp4a(b, 0x01010101u, __dp4a(a, 0x01010101u, sum));
        squares = __dp4a(b, b, __dp4a(a, a, squares));
        least[0] = stats_min2(least[0], even_a, even_b);
        most[0] = stats_max2(most[0], even_a, even_b);
        least[1] = stats_min2(least[1], a, b);
        most[1] = stats_max2(most[1], a, b);
    }
    SMP_DEVICE_MEMBER void add_word(uint32_t a)
    {
        const uint32_t even = a & 0x00ff00ffu;
        sum = __dp4a(a, 0x01010101u, sum);
        squares = __dp4a(a, a, squares);
        least[0] = stats_min2(least[0], even, even);
        most[0] = stats_max2(most[0], even, even);
        least[1] = stats_min2(least[1], a, a);
        most[1] = stats_max2(most[1], a, a);
    }
    SMP_DEVICE_MEMBER uint32_t min_() const
    {
        return min(min(least[0] & 0xffffu, least[0] >> 16), min(least[1] >> 8 & 0xffu, least[1] >> 24));
    }
    SMP_DEVICE_MEMBER uint32_t max_() const
    {
        return max(max(most[0] & 0xffffu, most[0] >> 16), max(most[1] >> 8 & 0xffu, most[1] >> 24));
    }
};

/* Sums over u16. */
struct stats_words {
    typedef unsigned long long wide;
    uint32_t sum, least, most; /* the last two in halves */
    wide squares;

    SMP_DEVICE_MEMBER void clear()
    {
        sum = most = 0;
        squares = 0;
        least = ~0u;
    }
    SMP_DEVICE_MEMBER void add(uint32_t v)
    {
        sum += v;
        squares += (wide)v * v;
        least = stats_min2(least, v | 0xffff0000u, ~0u);
        most = stats_max2(most, v, 0);
    }
    /* Two samples each of a and b. */
    SMP_DEVICE_MEMBER void add_words(uint32_t a, uint32_t b)
    {
        sum = stats_sum2(b, stats_sum2(a, sum));
        squares += (wide)(a & 0xffffu) * (a & 0xffffu);
        squares += (wide)(a >> 16) * (a >> 16);
        squares += (wide)(b & 0xffffu) * (b & 0xffffu);
        squares += (wide)(b >> 16) * (b >> 16);
        least = stats_min2(least, a, b);
        most = stats_max2(most, a, b);
    }
    SMP_DEVICE_MEMBER void add_word(uint32_t a)
    {
        sum = stats_sum2(a, sum);
        squares += (wide)(a & 0xffffu) * (a & 0xffffu);
        squares += (wide)(a >> 16) * (a >> 16);
        least = stats_min2(least, a, a);
        most = stats_max2(most, a, a);
    }
    SMP_DEVICE_MEMBER uint32_t min_() const { return min(least & 0xffffu, least >> 16); }
    SMP_DEVICE_MEMBER uint32_t max_() const { return max(most & 0xffffu, most >> 16); }
};

template <typename T> struct stats_codes;
template <> struct stats_codes<uint8_t> {
    typedef stats_bytes sums;
};
template <> struct stats_codes<uint16_t> {
    typedef stats_words sums;
};

/* Byte permutes sort C words of 32 bits, from word i of a group on, by channel: word c then holds channel c. */
template <int C> SMP_DEVICE void stats_sort(const smp_vector_row<uint16_t, C> &group, int i, uint32_t *words)
{
    const uint32_t a = group.bits(i), b = C > 1 ? group.bits(i + 1) : 0;
    words[0] = a;
    if (C == 2) {
        words[0] = __byte_perm(a, b, 0x5410);
        words[C - 1] = __byte_perm(a, b, 0x7632);
    } else if (C == 3) { /* 01 20 12 */
        const uint32_t c = group.bits(i + C - 1);
        words[0] = __byte_perm(a, b, 0x7610);
        words[1] = __byte_perm(a, c, 0x5432);
        words[C - 1] = __byte_perm(b, c, 0x7610);
    } else if (C == 4) {
        const uint32_t c = group.bits(i + C - 2), d = group.bits(i + C - 1);
        words[0] = __byte_perm(a, c, 0x5410);
        words[1] = __byte_perm(a, c, 0x7632);
        words[C - 2] = __byte_perm(b, d, 0x5410);
        words[C - 1] = __byte_perm(b, d, 0x7632);
    }
}
template <int C> SMP_DEVICE void stats_sort(const smp_vector_row<uint8_t, C> &group, int i, uint32_t *words)
{
    const uint32_t a = group.bits(i), b = C > 1 ? group.bits(i + 1) : 0;
    words[0] = a;
    if (C == 2) {
        words[0] = __byte_perm(a, b, 0x6420);
        words[C - 1] = __byte_perm(a, b, 0x7531);
    } else if (C == 3) { /* 0120 1201 2012 */
        const uint32_t c = group.bits(i + C - 1);
        words[0] = __byte_perm(__byte_perm(a, b, 0x0630), c, 0x5210);
        words[1] = __byte_perm(__byte_perm(a, b, 0x0741), c, 0x6210);
        words[C - 1] = __byte_perm(__byte_perm(a, b, 0x0052), c, 0x7410);
    } else if (C == 4) {
        const uint32_t c = group.bits(i + C - 2), d = group.bits(i + C - 1);
        const uint32_t low0 = __byte_perm(a, b, 0x5140), low1 = __byte_perm(c, d, 0x5140);
        const uint32_t high0 = __byte_perm(a, b, 0x7362), high1 = __byte_perm(c, d, 0x7362);
        words[0] = __byte_perm(low0, low1, 0x5410);
        words[1] = __byte_perm(low0, low1, 0x7632);
        words[C - 2] = __byte_perm(high0, high1, 0x5410);
        words[C - 1] = __byte_perm(high0, high1, 0x7632);
    }
}

/* Two such at a time; of four channels a group has but one. */
template <int C, typename T, typename SUMS>
SMP_DEVICE void stats_add_group(SUMS *sums, const smp_vector_row<T, C> &group)
{
    uint32_t first[C], second[C];
#pragma unroll
    for (int i = 0; i < group.words * 4; i += 2 * C) {
        stats_sort<C>(group, i, first);
        if (C < 4)
            stats_sort<C>(group, C < 4 ? i + C : i, second);
#pragma unroll
        for (int c = 0; c < C; c++)
            if (C < 4)
                sums[c].add_words(first[c], second[c]);
            else
                sums[c].add_word(first[c]);
    }
}

/* Lane c gets the totals of channel c. */
template <typename T, int C, typename SUMS> SMP_DEVICE void stats_groups_end(const stats_chunk &chunk, const SUMS *sums)
{
    const int lane = (int)threadIdx.x % SMP_LANES;
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
        chunk.records[lane] =
            smp_stats_close_codes(chunk.pixels, (int32_t) reinterpret_cast<const T *>(chunk.start)[lane], (int64_t)sum,
                                  (int64_t)squares, (int32_t)least, (int32_t)most);
}

/* The groups of a chunk's single row: as many loads in flight as registers allow. */
template <typename T, int C, typename SUMS>
SMP_DEVICE void stats_add_row(const stats_chunk &chunk, const smp_row_split<T, C> &cut, SUMS *sums)
{
    typedef smp_vector_row<T, C> group;
    constexpr uint32_t AT_ONCE = C <= 2 ? 8 : C == 3 ? 2 : 4, STEP = AT_ONCE * SMP_LANES;
    const uint32_t lane = threadIdx.x % SMP_LANES;
    const T *at = reinterpret_cast<const T *>(chunk.start) + lane * group::pixels * C;
    for (uint32_t k = lane; k < cut.groups; k += STEP, at += STEP * group::pixels * C) {
        group groups[AT_ONCE];
#pragma unroll
        for (uint32_t g = 0; g < AT_ONCE; g++)
            if (k + g * SMP_LANES < cut.groups)
                groups[g].load_streaming(at + g * SMP_LANES * group::pixels * C);
#pragma unroll
        for (uint32_t g = 0; g < AT_ONCE; g++)
            if (k + g * SMP_LANES < cut.groups)
                stats_add_group<C>(sums, groups[g]);
    }
}

/* A warp adds all C channels of a chunk. */
template <typename T, int C, typename SUMS> SMP_DEVICE void stats_groups(const stats_chunk &chunk)
{
    const int lane = (int)threadIdx.x % SMP_LANES;
    SUMS sums[C];
    smp_row_split<T, C> cut;
    smp_walk walk;
    cut.start(chunk.start, chunk.stride, chunk.across, chunk.rows);
#pragma unroll
    for (int c = 0; c < C; c++)
        sums[c].clear();
    if (chunk.rows == 1 && cut.singles <= SMP_LANES) { /* a pixel a lane, in flight with the groups */
        const bool mine = (uint32_t)lane < cut.singles;
        T single[C];
        if (mine) {
            const T *at = cut.single(chunk.start, (uint32_t)lane);
#pragma unroll
            for (int c = 0; c < C; c++)
                single[c] = at[c];
        }
        stats_add_row<T, C>(chunk, cut, sums);
        if (mine)
#pragma unroll
            for (int c = 0; c < C; c++)
                sums[c].add(single[c]);
        cut.singles = 0;
    } else if (chunk.rows == 1) {
        stats_add_row<T, C>(chunk, cut, sums);
    } else if (cut.groups) {
        walk.start((uint32_t)lane, SMP_LANES, cut.groups, (uint32_t)chunk.rows);
        for (; walk.more(); walk.next()) {
            const char *row = chunk.start + walk.y * chunk.stride;
            smp_vector_row<T, C> group;
            group.load_streaming(reinterpret_cast<const T *>(row) + walk.k * group.pixels * C);
            stats_add_group<C>(sums, group);
        }
    }
    if (cut.singles) {
        walk.start((uint32_t)lane, SMP_LANES, cut.singles, (uint32_t)chunk.rows);
#pragma unroll 1
        for (; walk.more(); walk.next()) {
            const T *at = cut.single(chunk.start + walk.y * chunk.stride, walk.k);
#pragma unroll
            for (int c = 0; c < C; c++)
                sums[c].add(at[c]);
        }
    }
    stats_groups_end<T, C>(chunk, sums);
}

/* ---------------------------------------------------------------------------------------------- shuffle */

/* The block's chunks, which are below each other, in all C channels. */
template <int C> SMP_DEVICE void stats_channels(const smp_io &io, const float *)
{
    stats_chunk chunk;
    for (int64_t above = blockIdx.y; chunk.find(io, blockIdx.x, above); above += gridDim.y)
        stats_add_chunk<float, C>(chunk, 0, stats_aligned(chunk));
}
template <int C, typename T> SMP_DEVICE void stats_channels(const smp_io &io, const T *)
{
    stats_chunk chunk;
    for (int64_t above = blockIdx.y; chunk.find(io, blockIdx.x, above); above += gridDim.y)
        stats_groups<T, C, typename stats_codes<T>::sums>(chunk);
}

/* A block of one warp a chunk (several, where the grid is lower than the picture). More than four channels have a block
 * each, which run concurrently so that they share the caches. */
template <typename T> SMP_DEVICE void stats_shuffle(const smp_io &io)
{
    const T *format = nullptr;
    stats_chunk chunk;
    switch (io.in.channels) {
    case 1:
        stats_channels<1>(io, format);
        break;
    case 2:
        stats_channels<2>(io, format);
        break;
    case 3:
        stats_channels<3>(io, format);
        break;
    case 4:
        stats_channels<4>(io, format);
        break;
    default:
        const unsigned left = blockIdx.x / (unsigned)io.in.channels, channel = blockIdx.x % (unsigned)io.in.channels;
        for (int64_t above = blockIdx.y; chunk.find(io, left, above); above += gridDim.y)
            stats_add_chunk<T, 1>(chunk, (int)channel, false);
        break;
    }
}

SMP_KERNEL_BOUNDS(SMP_STATS_SHUFFLE, SMP_STATS_RESIDENT, stats_shuffle_u8_u8, smp_no_params, io, p)
{
    stats_shuffle<uint8_t>(io);
}
SMP_KERNEL_BOUNDS(SMP_STATS_SHUFFLE, SMP_STATS_RESIDENT, stats_shuffle_u16_u16, smp_no_params, io, p)
{
    stats_shuffle<uint16_t>(io);
}
SMP_KERNEL_BOUNDS(SMP_STATS_SHUFFLE, SMP_STATS_FLOATS, stats_shuffle_f32_f32, smp_no_params, io, p)
{
    stats_shuffle<float>(io);
}
