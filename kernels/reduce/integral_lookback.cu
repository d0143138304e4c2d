/* integral of 8 and 16 bits on GPUs in one pass along the rows: decoupled look-back (Merrill and Garland 2016, "Single-
 * pass Parallel Prefix Scan with Decoupled Look-back").
 *
 *   lookback  a block takes a tile of SMP_INTEGRAL_ROWS rows and SMP_INTEGRAL_LOOK pixels. Each of its warps has as
 *             many rows and 128 pixels, four a lane, and makes their running sums through registers as the rung shuffle
 *             does; warps put theirs together in shared memory. What lies to the left of a tile is not walked along but
 *             asked for: every tile tells its own sum of each row as soon as it has it, and the sum of all up to its
 *             end once it knows that. A tile goes back over its neighbours' own sums until one knows all before itself:
 *             sixteen lanes ask sixteen neighbours of a row at a time, since an answer takes as long as a read.
 *
 * The other rungs have a warp for 16 whole rows: too few to fill a GPU. Here there are as many as tiles, each sample is
 * still read once, and tiles wait for their neighbours' sums alone, not for each other's turn.
 *
 * A tile takes its number from a counter when it begins, so that whoever waits, waits for tiles that have begun: this
 * ends in any order of blocks, however few run at a time. Numbers go along the rows first: memory is read and written
 * in long pieces, and the tiles to the left have begun just before. A tile a warp instead of one a block would ask the
 * counter, which all share, and the neighbours eight times as often.
 *
 * Warps whose pixels all lie inside, nearly all, take a path without a branch: all their loads are under way before the
 * first is waited for, and sums of two rows of bytes go through the lanes together, in the halves of a word.
 *
 * Sum and state are one word of 64 bits, stored and read whole, so that no fence must order them. Words and the counter
 * lie in the rows of the scratch picture. Sums are whole numbers below 2^53: these rungs have the same bytes. */
#include "reduce/integral.h"

#include "lib/words.cuh"

enum {
    LANES = 32,
    WARPS = SMP_INTEGRAL_THREADS / LANES,
    EACH = SMP_INTEGRAL_LOOK / SMP_INTEGRAL_THREADS,
    WINDOW = LANES * WARPS / SMP_INTEGRAL_ROWS /* lanes that look back for a row */
};
/* The low bits of a word: nothing is known; the sum of this tile; the sum of all tiles up to this one. */
enum { TOLD_NOTHING, TOLD_OWN, TOLD_ALL, TOLD_BITS = 2, TOLD_MASK = 3 };

typedef unsigned long long integral_word;
typedef uint32_t integral_four[EACH];

/* The words of row y: a tile's of a channel at channel * tiles + tile; in the first row the counter behind them. */
SMP_DEVICE integral_word *integral_words(const smp_view &scratch, int64_t y)
{
    const uintptr_t row = reinterpret_cast<uintptr_t>(smp_row(&scratch, y)), unit = sizeof(integral_word);
    return reinterpret_cast<integral_word *>((row + unit - 1) / unit * unit);
}

/* Clears the words of the rows to come. io.second: the output. */
template <typename, typename> SMP_DEVICE void integral_words_clear(const smp_io &io, const smp_integral &)
{
    const int64_t words = smp_integral_tiles(io.in.width) * io.in.channels + 1, end = io.second.y0 + io.second.rows;
    for (int64_t y = io.second.y0 + blockIdx.y * blockDim.y + threadIdx.y; y < end; y += gridDim.y * blockDim.y)
        for (int64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x)
            integral_words(io.out, y)[i] = TOLD_NOTHING;
}
SMP_KERNEL_INTO_F32(integral_words_clear, smp_integral)

/* Tells a tile's own sum, goes back over the tiles before, and tells the sum of all. Returns that of all before. A warp
 * does it for LANES / ASK rows, with ASK lanes each. mine: the row's word of this tile; those of tiles before lie
 * before it. present: the row is one of the tile. */
template <int ASK>
SMP_DEVICE integral_word integral_look_back(integral_word *mine, int tile, uint32_t own, bool present)
{
    const int lane = (int)threadIdx.x % LANES, place = lane % ASK;
    const bool tells = present && place == 0;
    if (tells)
        smp_word_tell(mine, (integral_word)own << TOLD_BITS | (tile ? TOLD_OWN : TOLD_ALL));
    if (!tile)
        return 0;
    integral_word before = 0;
    bool done = !present;
    int back = place + 1;
    do {
        integral_word told = TOLD_ALL; /* before the first tile lies nothing */
        if (!done && back <= tile)
            told = smp_word_ask(mine - back);
        const unsigned silent = __ballot_sync(0xffffffffu, (told & TOLD_MASK) == TOLD_NOTHING);
        const unsigned all = __ballot_sync(0xffffffffu, (told & TOLD_MASK) == TOLD_ALL);
        /* This row's lanes up to the nearest tile that knows all. */
        const unsigned ours = 0xffffffffu >> (LANES - ASK), knows = all >> (lane - place) & ours;
        const unsigned reach = (knows ^ (knows - 1)) & ours;
        const bool heard = !(silent >> (lane - place) & reach);
        told = heard && (reach >> place & 1) ? told >> TOLD_BITS : 0;
        for (int d = 1; d < ASK; d *= 2)
            told += __shfl_xor_sync(0xffffffffu, told, d);
        before += told;
        back += heard ? ASK : 0;
        done = done || (heard && knows);
    } while (!__all_sync(0xffffffffu, done));
    if (tells)
        smp_word_tell(mine, (before + own) << TOLD_BITS | TOLD_ALL);
    return before;
}

/* A tile: rows top .. top+rows-1, of channel c the pixels from x on that are this lane's. */
struct integral_tile_place {
    int64_t top, x, word;
    int tile, c, rows;
};

/* Returns the number of tiles. io.second: the input. */
SMP_DEVICE unsigned integral_tiles_of(const smp_io &io)
{
    const int64_t blocks = (io.out.rows + SMP_INTEGRAL_ROWS - 1) / SMP_INTEGRAL_ROWS;
    return (unsigned)(blocks * io.second.channels * smp_integral_tiles(io.second.width));
}

/* The next tile that no block has taken; it is not asked for more often than there are tiles. number: of the block.
 * io.in: the scratch picture, io.second: the input. */
SMP_DEVICE integral_tile_place integral_take(const smp_io &io, unsigned &number)
{
    const unsigned tiles = (unsigned)smp_integral_tiles(io.second.width), channels = (unsigned)io.second.channels;
    if (threadIdx.x == 0)
        number = atomicAdd(reinterpret_cast<unsigned *>(integral_words(io.in, io.out.y0) + tiles * channels), 1u);
    __syncthreads();
    const unsigned taken = number, along = taken / channels, block = along / tiles;
    integral_tile_place place;
    place.tile = (int)(along % tiles);
    place.c = (int)(taken % channels);
    place.top = io.out.y0 + (int64_t)block * SMP_INTEGRAL_ROWS;
    place.x = (int64_t)place.tile * SMP_INTEGRAL_LOOK + threadIdx.x * EACH;
    place.word = (int64_t)place.c * tiles + place.tile;
    const int64_t rows = io.out.y0 + io.out.rows - place.top;
    place.rows = rows < SMP_INTEGRAL_ROWS ? (int)rows : SMP_INTEGRAL_ROWS;
    return place;
}

/* Whether nothing of a warp's pixels lies outside. */
SMP_DEVICE bool integral_whole(const smp_view &in, const integral_tile_place &at)
{
    const int64_t x = at.x - threadIdx.x % LANES * EACH;
    return at.rows == SMP_INTEGRAL_ROWS && x + LANES * EACH <= in.width;
}

/* A lane's pixels of a row as whole numbers, kept in few registers. */
template <typename T> struct integral_kept {
    typedef T number;
};
template <> struct integral_kept<float> {
    typedef uint16_t number;
};
template <typename T> using integral_pixels = smp_pack<typename integral_kept<T>::number, EACH>;

template <typename T> SMP_DEVICE integral_pixels<T> integral_kept_of(const smp_pack<T, EACH> &some, float white)
{
    integral_pixels<T> kept;
    for (int k = 0; k < EACH; k++)
        if (smp_sample<T>::format == SMP_F32)
            kept.v[k] = (typename integral_kept<T>::number)smp_round_to((float)some.v[k], white);
        else
            kept.v[k] = (typename integral_kept<T>::number)some.v[k];
    return kept;
}

/* Loads pixels of any tile; 0 outside. */
template <typename T> SMP_DEVICE integral_pixels<T> integral_load(const smp_view &in, int64_t y, int64_t x, int c)
{
    const T *const row = smp_in<T>(in, y);
    smp_pack<T, EACH> some;
    for (int k = 0; k < EACH; k++)
        some.v[k] = x + k < in.width ? row[(x + k) * in.channels + c] : (T)0;
    return integral_kept_of<T>(some, in.white);
}

/* The sum of a lane's four; and adds to sum[k] those up to the k-th, and `all` to each. Of bytes a sum is one
 * instruction, and nothing is unpacked. */
template <typename T> SMP_DEVICE uint32_t integral_total(const integral_pixels<T> &some)
{
    uint32_t total = 0;
    for (int k = 0; k < EACH; k++)
        total += some.v[k];
    return total;
}
template <typename T> SMP_DEVICE void integral_add(integral_four &sum, const integral_pixels<T> &some, uint32_t all)
{
    for (int k = 0; k < EACH; k++) {
        all += some.v[k];
        sum[k] += all;
    }
}
#ifdef __CUDACC__
template <> SMP_DEVICE_MEMBER uint32_t integral_total<uint8_t>(const integral_pixels<uint8_t> &some)
{
    return __dp4a(reinterpret_cast<const unsigned &>(some), 0x01010101u, 0u);
}
template <>
SMP_DEVICE_MEMBER void integral_add<uint8_t>(integral_four &sum, const integral_pixels<uint8_t> &some, uint32_t all)
{
    const unsigned word = reinterpret_cast<const unsigned &>(some);
    sum[0] = __dp4a(word, 0x00000001u, sum[0] + all);
    sum[1] = __dp4a(word, 0x00000101u, sum[1] + all);
    sum[2] = __dp4a(word, 0x00010101u, sum[2] + all);
    sum[3] = __dp4a(word, 0x01010101u, sum[3] + all);
}
#endif

/* Returns the sum of the lanes before; *all: of all lanes. */
SMP_DEVICE uint32_t integral_lanes_before(uint32_t mine, uint32_t *all)
{
    uint32_t sum = mine;
    for (unsigned d = 1; d < LANES; d *= 2) {
        const uint32_t below = __shfl_up_sync(0xffffffffu, sum, d);
        sum += threadIdx.x % LANES >= d ? below : 0u;
    }
    *all = __shfl_sync(0xffffffffu, sum, LANES - 1);
    return sum - mine;
}

/* A whole tile's pixels of this lane. */
template <typename T>
SMP_DEVICE void integral_load_all(integral_pixels<T> (&some)[SMP_INTEGRAL_ROWS], const smp_view &in, int64_t y,
                                  int64_t x)
{
    typedef smp_pack<T, EACH> pack;
    const char *from = static_cast<const char *>(smp_row(&in, y)) + x * (int64_t)sizeof(T);
    constexpr int batch = sizeof(T) == 4 ? 4 : SMP_INTEGRAL_ROWS; /* floats take four registers until they are codes */
#pragma unroll
    for (int first = 0; first < SMP_INTEGRAL_ROWS; first += batch) {
        pack as[batch];
#pragma unroll
        for (int r = 0; r < batch; r++)
            as[r] = *reinterpret_cast<const pack *>(from + (first + r) * in.stride);
#pragma unroll
        for (int r = 0; r < batch; r++)
            some[first + r] = integral_kept_of<T>(as[r], in.white);
    }
}

/* Shared by the warps of a block: sums of a tile's columns. */
struct integral_columns {
    uint32_t sums[WARPS][LANES * EACH], warps[WARPS];
    integral_word left[WARPS];
    unsigned number;
};

/* The sums of a block's rows: columns first, so that one word a tile is enough. They are stored in order of lanes,
 * whole sectors at a time: a lane's four doubles lie in two vectors, of which each store would fill half. */
template <typename T> SMP_DEVICE void integral_blocks_look(const smp_io &io, const smp_integral &)
{
    SMP_SHARED(integral_columns, told);
    const smp_view &in = io.second;
    const bool vectors = in.channels == 1 && smp_view_aligned(&in);
    const unsigned warp = threadIdx.x / LANES, lane = threadIdx.x % LANES, tiles = integral_tiles_of(io);
    for (unsigned i = blockIdx.x; i < tiles; i += gridDim.x) {
        const integral_tile_place at = integral_take(io, told.number);
        integral_four sum = {0};
        uint32_t all;
        if (vectors && integral_whole(in, at)) {
            integral_pixels<T> some[SMP_INTEGRAL_ROWS];
            integral_load_all<T>(some, in, at.top, at.x);
#pragma unroll
            for (int r = 0; r < SMP_INTEGRAL_ROWS; r++)
                integral_add<T>(sum, some[r], 0);
        } else {
#pragma unroll 1
            for (int r = 0; r < at.rows; r++)
                integral_add<T>(sum, integral_load<T>(in, at.top + r, at.x, at.c), 0);
        }
        const uint32_t before = integral_lanes_before(sum[EACH - 1], &all);
        smp_pack<uint32_t, EACH> mine;
        for (int k = 0; k < EACH; k++)
            mine.v[k] = before + sum[k];
        *reinterpret_cast<smp_pack<uint32_t, EACH> *>(&told.sums[warp][lane * EACH]) = mine;
        if (lane == 0)
            told.warps[warp] = all;
        __syncthreads();
        if (warp == 0) {
            const uint32_t warps_before = integral_lanes_before(lane < WARPS ? told.warps[lane] : 0u, &all);
            integral_word *const word = integral_words(io.in, at.top) + at.word;
            const integral_word left = integral_look_back<LANES>(word, at.tile, all, true);
            if (lane < WARPS)
                told.left[lane] = left + warps_before;
        }
        __syncthreads();
        const integral_word left = told.left[warp];
        const int64_t x = at.x - lane * EACH;
        double *const to = static_cast<double *>(io.result) + at.top / SMP_INTEGRAL_ROWS * in.width * in.channels;
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            smp_converge();
            const int64_t column = x + k * LANES + lane;
            if (column < in.width)
                to[column * in.channels + at.c] = (double)(left + told.sums[warp][k * LANES + lane]);
        }
    }
}

/* sum / white, rounded to double and then to f32, as smp_integral_result() does: here a product with the reciprocal, of
 * whole sums below 2^52 and a white of 255 or 65535. It rounds to the same float, as it lies on the same side of every
 * middle between two floats. Middles above 2^24 are whole numbers, those below are multiples of 2^(e-24), if 2^e is the
 * power of two below: no quotient is nearer to one, without being it, than the least of 1 and 2^(e-24), over white.
 * Half a last place of a double below 2^45 (white 65535: 2^36), and the reciprocal's error, 2^-56 (2^-64) of the
 * quotient, are less together. A quotient that is a middle has 25 bits; its product rounds to it. */
SMP_DEVICE float integral_divided(double sum, double inverse)
{
    return (float)(sum * inverse);
}

/* 2^52 + sum. */
SMP_DEVICE double integral_unit_and(uint32_t sum)
{
#ifdef __CUDACC__
    return __hiloint2double(0x43300000, (int)sum);
#else
    return 4503599627370496. + (double)sum;
#endif
}

/* Loads the row above a lane's columns; 0 outside. As vectors if rows of the table begin at multiples of those. */
template <bool DOWN>
SMP_DEVICE void integral_above(double (&above)[EACH], const smp_io &io, const integral_tile_place &at, bool whole)
{
    typedef smp_pack<double, 2> pair;
    const smp_view &in = io.second;
    for (int k = 0; k < EACH; k++)
        above[k] = 0.;
    if (!DOWN)
        return;
    const int64_t pixel = at.top / SMP_INTEGRAL_ROWS * in.width + at.x;
    const double *const from = static_cast<const double *>(io.table) + pixel * in.channels + at.c;
    if (whole && in.width % 2 == 0) {
#pragma unroll
        for (int k = 0; k < EACH; k += 2) {
            const pair two = *reinterpret_cast<const pair *>(from + k);
            above[k] = two.v[0], above[k + 1] = two.v[1];
        }
    } else {
#pragma unroll
        for (int k = 0; k < EACH; k++)
            if (at.x + k < in.width)
                above[k] = from[k * in.channels];
    }
}

/* Row sums of a warp through the lanes: what lanes before have of each row, and, in lane r, the sum of row r. Of bytes
 * rows r and r + 8 are the halves of word r: 128 of them have at most 32640. */
template <typename T> struct integral_row_sums {
    static constexpr bool twice = sizeof(T) == 1;
    static constexpr int words = twice ? SMP_INTEGRAL_ROWS / 2 : SMP_INTEGRAL_ROWS;
    uint32_t before[words], own;

    SMP_DEVICE_MEMBER void make(const integral_pixels<T> (&some)[SMP_INTEGRAL_ROWS])
    {
        const int lane = (int)threadIdx.x % LANES;
        own = 0;
#pragma unroll
        for (int r = 0; r < words; r++) {
            uint32_t mine = integral_total<T>(some[r]), all;
            mine += twice ? integral_total<T>(some[r + (twice ? words : 0)]) << 16 : 0u;
            before[r] = integral_lanes_before(mine, &all);
            own = lane == r ? twice ? all & 0xffffu : all : own;
            if (twice)
                own = lane == r + words ? all >> 16 : own;
        }
    }
    SMP_DEVICE_MEMBER uint32_t of(int r) const
    {
        return !twice ? before[r] : r < words ? before[r] & 0xffffu : before[r - words] >> 16;
    }
};

/* Shared by the warps of a block: sums of a tile's rows, and what lies to the left of each warp. */
struct integral_rows {
    uint32_t sums[SMP_INTEGRAL_ROWS][WARPS + 1];
    integral_word left[SMP_INTEGRAL_ROWS][WARPS];
    unsigned number;
};

/* Finds, for two rows a warp, what lies to the left of each warp, from the sums of warps and the tiles before. */
SMP_DEVICE void integral_rows_left(integral_rows &told, const smp_io &io, const integral_tile_place &at)
{
    const int row = (int)threadIdx.x / WINDOW, place = (int)threadIdx.x % WINDOW;
    const uint32_t mine = place < WARPS ? told.sums[row][place] : 0u;
    uint32_t sum = mine;
    for (int d = 1; d < WARPS; d *= 2) {
        const uint32_t below = __shfl_up_sync(0xffffffffu, sum, (unsigned)d, WINDOW);
        sum += place >= d ? below : 0u;
    }
    const uint32_t all = __shfl_sync(0xffffffffu, sum, WARPS - 1, WINDOW);
    const bool present = row < at.rows;
    integral_word *const words = integral_words(io.in, present ? at.top + row : at.top);
    const integral_word left = integral_look_back<WINDOW>(words + at.word, at.tile, all, present);
    if (place < WARPS)
        told.left[row][place] = left + sum - mine;
}

/* A warp's results. WHOLE: nothing lies outside. base: what lies above its columns. Whole numbers below 2^32 become
 * doubles as the low words of 2^52 + sum, which is quicker than a conversion; 2^52 is taken off what they are added to.
 * All of that is exact. Of bytes 16 rows of a picture that is summed here stay below 2^32, see `clears` of the stage.
 */
template <typename T, bool DOWN, bool WHOLE>
SMP_DEVICE void integral_put(const smp_io &io, const integral_tile_place &at, const integral_rows &told,
                             const integral_pixels<T> (&some)[SMP_INTEGRAL_ROWS], const integral_row_sums<T> &rows,
                             double (&base)[EACH], double inverse)
{
    constexpr double unit = 4503599627370496.; /* 2^52 */
    constexpr bool small = sizeof(T) == 1;
    const int channels = WHOLE ? 1 : io.out.channels;
    const unsigned warp = threadIdx.x / LANES;
    integral_four sum = {0};
    float *to = static_cast<float *>(smp_row(&io.out, at.top)) + at.x * channels + at.c;
    for (int k = 0; k < EACH; k++)
        base[k] = (DOWN ? base[k] : 0.) - unit;
#pragma unroll
    for (int r = 0; r < SMP_INTEGRAL_ROWS; r++) {
        const integral_word left = told.left[r][warp];
        if (!DOWN)
            for (int k = 0; k < EACH; k++)
                sum[k] = 0;
        integral_add<T>(sum, some[r], rows.of(r) + (small ? (uint32_t)left : 0u));
        smp_pack<float, EACH> out;
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            if (!small)
                base[k] = (DOWN ? base[k] : -unit) + (double)left;
            out.v[k] = integral_divided(integral_unit_and(sum[k]) + base[k], inverse);
        }
        if (WHOLE)
            *reinterpret_cast<smp_pack<float, EACH> *>(to) = out;
        else if (r < at.rows)
            for (int k = 0; k < EACH; k++)
                if (at.x + k < io.out.width)
                    to[k * channels] = out.v[k];
        to = reinterpret_cast<float *>(reinterpret_cast<char *>(to) + io.out.stride);
    }
}

template <typename T, bool DOWN> SMP_DEVICE void integral_look_along(const smp_io &io, double white)
{
    SMP_SHARED(integral_rows, told);
    const smp_view &in = io.second;
    const bool vectors = in.channels == 1 && smp_view_aligned(&in) && smp_view_aligned(&io.out);
    const unsigned warp = threadIdx.x / LANES, lane = threadIdx.x % LANES, tiles = integral_tiles_of(io);
    const double inverse = 1. / white;
    for (unsigned i = blockIdx.x; i < tiles; i += gridDim.x) {
        const integral_tile_place at = integral_take(io, told.number);
        const bool whole = vectors && integral_whole(in, at);
        integral_pixels<T> some[SMP_INTEGRAL_ROWS];
        double base[EACH];
        if (whole)
            integral_load_all<T>(some, in, at.top, at.x);
        else {
#pragma unroll
            for (int r = 0; r < SMP_INTEGRAL_ROWS; r++)
                some[r] = integral_load<T>(in, at.top + r, r < at.rows ? at.x : in.width, at.c);
        }
        integral_above<DOWN>(base, io, at, whole);
        integral_row_sums<T> rows;
        rows.make(some);
        if (lane < SMP_INTEGRAL_ROWS)
            told.sums[lane][warp] = rows.own;
        __syncthreads();
        integral_rows_left(told, io, at);
        __syncthreads();
        if (whole)
            integral_put<T, DOWN, true>(io, at, told, some, rows, base, inverse);
        else
            integral_put<T, DOWN, false>(io, at, told, some, rows, base, inverse);
    }
}

template <typename T> SMP_DEVICE void integral_look(const smp_io &io, const smp_integral &p)
{
    if (p.along == SMP_ALONG_ROWS)
        integral_look_along<T, false>(io, p.white);
    else
        integral_look_along<T, true>(io, p.white);
}

/* Launches read the scratch picture; the input's format is that of io.second. Kernels have as many registers as leave
 * room for the blocks of an SM that are named here: who waits for memory and neighbours, waits beside others. */
#define INTEGRAL_BLOCKS(format, T)                                                                                     \
    SMP_KERNEL_BOUNDS(SMP_INTEGRAL_THREADS, 6, integral_blocks_lookback_f32_##format, smp_integral, io, p)             \
    {                                                                                                                  \
        integral_blocks_look<T>(io, p);                                                                                \
    }
#define INTEGRAL_LOOK(format, T, blocks)                                                                               \
    SMP_KERNEL_BOUNDS(SMP_INTEGRAL_THREADS, blocks, integral_lookback_##format##_f32_f32, smp_integral, io, p)         \
    {                                                                                                                  \
        integral_look<T>(io, p);                                                                                       \
    }
INTEGRAL_BLOCKS(u8, uint8_t)
INTEGRAL_BLOCKS(u16, uint16_t)
INTEGRAL_BLOCKS(f32, float)
INTEGRAL_LOOK(u8, uint8_t, 3)
INTEGRAL_LOOK(u16, uint16_t, 2)
INTEGRAL_LOOK(f32, float, 2)
