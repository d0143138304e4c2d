/* integral of 8 and 16 bits on GPUs in one pass along the rows: decoupled look-back (Merrill and Garland 2016, "Single-
 * pass Parallel Prefix Scan with Decoupled Look-back").
 *
 *   lookback  a warp takes a tile of SMP_INTEGRAL_ROWS rows and SMP_INTEGRAL_LOOK pixels, four a lane, and makes its
 *             running sums through registers as the rung shuffle does. What lies to the left is not walked along but
 *             asked for: every tile tells its own sum of each row as soon as it has it, and the sum of all up to its
 *             end once it knows that. A tile goes back over its neighbours' own sums until one knows all before itself.
 *
 * The other rungs have a warp for 16 whole rows: too few to fill a GPU. Here there are as many as tiles, each sample is
 * still read once, and tiles wait for their neighbours' sums alone, not for each other's turn.
 *
 * A tile takes its number from a counter when it begins, so that whoever waits, waits for tiles that have begun: this
 * ends in any order of blocks, however few run at a time. Numbers go down a column of tiles first: most tiles find that
 * their left neighbour is done.
 *
 * Tiles that are whole, nearly all, take a path without a branch: all their loads are under way before the first is
 * waited for, and sums of two rows of bytes go through the lanes together, in the halves of a word.
 *
 * Sum and state are one word of 64 bits, stored and read whole, so that no fence must order them. Words and the counter
 * lie in the rows of the scratch picture. Sums are whole numbers below 2^53: these rungs have the same bytes. */
#include "reduce/integral.h"

#include "lib/words.cuh"

enum { LANES = 32, EACH = SMP_INTEGRAL_LOOK / LANES };
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

/* Tells this tile's own sum, goes back over the tiles before, and tells the sum of all. Returns that of all before.
 * mine: this tile's word; those of tiles before lie before it. */
SMP_DEVICE integral_word integral_look_back(integral_word *mine, int64_t tile, uint32_t own)
{
    integral_word before = 0;
    if (tile) {
        smp_word_tell(mine, (integral_word)own << TOLD_BITS | TOLD_OWN);
        for (int64_t back = 1;;) {
            const integral_word told = smp_word_ask(mine - back);
            if ((told & TOLD_MASK) == TOLD_NOTHING)
                continue;
            before += told >> TOLD_BITS;
            if ((told & TOLD_MASK) == TOLD_ALL)
                break;
            back++;
        }
    }
    smp_word_tell(mine, (before + own) << TOLD_BITS | TOLD_ALL);
    return before;
}

/* A tile: rows top .. top+rows-1, of channel c the pixels from x on that are this lane's. */
struct integral_tile_place {
    int64_t tile, top, x, word;
    int c, rows;
};

/* The next tile that no block has taken; false: there is none. io.in: the scratch picture, io.second: the input. */
SMP_DEVICE bool integral_take(const smp_io &io, integral_tile_place &place)
{
    const int64_t tiles = smp_integral_tiles(io.second.width), channels = io.second.channels;
    const int64_t down = (io.out.rows + SMP_INTEGRAL_ROWS - 1) / SMP_INTEGRAL_ROWS * channels;
    unsigned number = 0;
    if (threadIdx.x == 0)
        number = atomicAdd(reinterpret_cast<unsigned *>(integral_words(io.in, io.out.y0) + tiles * channels), 1u);
    number = __shfl_sync(0xffffffffu, number, 0);
    place.tile = number / down;
    place.c = (int)(number % down % channels);
    place.top = io.out.y0 + number % down / channels * SMP_INTEGRAL_ROWS;
    place.x = place.tile * SMP_INTEGRAL_LOOK + threadIdx.x * EACH;
    place.word = place.c * tiles + place.tile;
    const int64_t rows = io.out.y0 + io.out.rows - place.top;
    place.rows = rows < SMP_INTEGRAL_ROWS ? (int)rows : SMP_INTEGRAL_ROWS;
    return place.tile < tiles;
}

/* Whether nothing of a tile lies outside. */
SMP_DEVICE bool integral_whole(const smp_view &in, const integral_tile_place &at)
{
    return at.rows == SMP_INTEGRAL_ROWS && (at.tile + 1) * SMP_INTEGRAL_LOOK <= in.width;
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

/* Those of any tile; 0 outside. */
template <typename T> SMP_DEVICE integral_pixels<T> integral_load(const smp_view &in, int64_t y, int64_t x, int c)
{
    const T *const row = smp_in<T>(in, y);
    smp_pack<T, EACH> some;
    for (int k = 0; k < EACH; k++)
        some.v[k] = x + k < in.width ? row[(x + k) * in.channels + c] : (T)0;
    return integral_kept_of<T>(some, in.white);
}

template <typename T> SMP_DEVICE void integral_numbers(integral_four &v, const integral_pixels<T> &some)
{
    for (int k = 0; k < EACH; k++)
        v[k] = some.v[k];
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

/* Running sums of a lane's four. */
SMP_DEVICE void integral_run_four(integral_four &v)
{
    for (int k = 1; k < EACH; k++)
        v[k] += v[k - 1];
}

/* What the lanes before have together; *all: all lanes. */
SMP_DEVICE uint32_t integral_lanes_before(uint32_t mine, uint32_t *all)
{
    uint32_t sum = mine;
    for (unsigned d = 1; d < LANES; d *= 2) {
        const uint32_t below = __shfl_up_sync(0xffffffffu, sum, d);
        sum += threadIdx.x >= d ? below : 0u;
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

/* The sums of a block's rows: columns first, so that one word a tile is enough. */
template <typename T> SMP_DEVICE void integral_blocks_look(const smp_io &io, const smp_integral &p)
{
    const smp_view &in = io.second;
    const bool vectors = in.channels == 1 && smp_view_aligned(&in);
    for (integral_tile_place at; integral_take(io, at);) {
        integral_four sum = {0}, v;
        uint32_t all;
        if (vectors && integral_whole(in, at)) {
            integral_pixels<T> some[SMP_INTEGRAL_ROWS];
            integral_load_all<T>(some, in, at.top, at.x);
#pragma unroll
            for (int r = 0; r < SMP_INTEGRAL_ROWS; r++)
                for (int k = 0; k < EACH; k++)
                    sum[k] += some[r].v[k];
        } else {
#pragma unroll 1
            for (int r = 0; r < at.rows; r++) {
                integral_numbers<T>(v, integral_load<T>(in, at.top + r, at.x, at.c));
                for (int k = 0; k < EACH; k++)
                    sum[k] += v[k];
            }
        }
        integral_run_four(sum);
        const uint32_t before = integral_lanes_before(sum[EACH - 1], &all);
        integral_word left = 0;
        if (threadIdx.x == 0)
            left = integral_look_back(integral_words(io.in, at.top) + at.word, at.tile, all);
        left = __shfl_sync(0xffffffffu, left, 0) + before;
        double *const to = static_cast<double *>(io.result) + at.top / SMP_INTEGRAL_ROWS * in.width * in.channels;
        for (int k = 0; k < EACH; k++)
            if (at.x + k < in.width)
                to[(at.x + k) * in.channels + at.c] = (double)(left + sum[k]);
    }
    (void)p;
}

/* sum / white, rounded to double once and then to f32, as smp_integral_result() does: the remainder of a quotient by
 * the rounded reciprocal corrects it to the nearest (Markstein 1990), of whole sums and a divisor whose 53 bits are not
 * all ones. A division takes as long as all else. */
SMP_DEVICE float integral_divided(double sum, double white, double inverse)
{
    const double near = sum * inverse;
    return (float)fma(fma(-near, white, sum), inverse, near);
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

/* What lies above a lane's column. */
SMP_DEVICE double integral_above(const smp_io &io, const integral_tile_place &at, int k)
{
    const smp_view &in = io.second;
    return at.x + k < in.width ? static_cast<const double *>(
                                     io.table)[(at.top / SMP_INTEGRAL_ROWS * in.width + at.x + k) * in.channels + at.c]
                               : 0.;
}

/* Row sums of a tile through the lanes: what lanes before have of each row, and, in lane r, the sum of row r. Of bytes
 * rows r and r + 8 are the halves of word r: 128 of them have at most 32640. */
template <typename T> struct integral_row_sums {
    static constexpr bool twice = sizeof(T) == 1;
    static constexpr int words = twice ? SMP_INTEGRAL_ROWS / 2 : SMP_INTEGRAL_ROWS;
    uint32_t before[words], own;

    SMP_DEVICE_MEMBER void make(const integral_pixels<T> (&some)[SMP_INTEGRAL_ROWS])
    {
        own = 0;
#pragma unroll
        for (int r = 0; r < words; r++) {
            uint32_t mine = integral_total<T>(some[r]), all;
            mine += twice ? integral_total<T>(some[r + (twice ? words : 0)]) << 16 : 0u;
            before[r] = integral_lanes_before(mine, &all);
            own = (int)threadIdx.x == r ? twice ? all & 0xffffu : all : own;
            if (twice)
                own = (int)threadIdx.x == r + words ? all >> 16 : own;
        }
    }
    SMP_DEVICE_MEMBER uint32_t of(int r) const
    {
        return !twice ? before[r] : r < words ? before[r] & 0xffffu : before[r - words] >> 16;
    }
};

/* A whole tile: rows have sums of their own to the left, which lanes 0 .. 15 ask for together. Sums inside it are below
 * 2^32, and become doubles as the low words of 2^52 + sum, which is quicker than a conversion; 2^52 is taken off what
 * they are added to. All of that is exact. */
template <typename T, bool DOWN>
SMP_DEVICE void integral_look_whole(const smp_io &io, const integral_tile_place &at, double white, double inverse)
{
    constexpr double unit = 4503599627370496.; /* 2^52 */
    integral_pixels<T> some[SMP_INTEGRAL_ROWS];
    integral_row_sums<T> rows;
    double base[EACH];
    integral_four sum = {0};
    integral_load_all<T>(some, io.second, at.top, at.x);
#pragma unroll
    for (int k = 0; k < EACH; k++)
        base[k] = DOWN ? integral_above(io, at, k) : 0.;
    rows.make(some);
    integral_word left = 0;
    if (threadIdx.x < SMP_INTEGRAL_ROWS)
        left = integral_look_back(integral_words(io.in, at.top + threadIdx.x) + at.word, at.tile, rows.own);
    const double mine = (double)left;
    char *to = static_cast<char *>(io.out.data) + (at.top - io.out.y0) * io.out.stride + at.x * (int64_t)sizeof(float);
#pragma unroll
    for (int k = 0; k < EACH; k++)
        base[k] -= unit;
#pragma unroll
    for (int r = 0; r < SMP_INTEGRAL_ROWS; r++) {
        const double row_left = __shfl_sync(0xffffffffu, mine, r);
        if (!DOWN)
            for (int k = 0; k < EACH; k++)
                sum[k] = 0;
        integral_add<T>(sum, some[r], rows.of(r));
        smp_pack<float, EACH> out;
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            base[k] = (DOWN ? base[k] : -unit) + row_left;
            out.v[k] = integral_divided(integral_unit_and(sum[k]) + base[k], white, inverse);
        }
        *reinterpret_cast<smp_pack<float, EACH> *>(to) = out;
        to += io.out.stride;
    }
}

/* Any tile. Rows are read twice, which keeps registers for the others. */
template <typename T>
SMP_DEVICE void integral_look_any(const smp_io &io, const integral_tile_place &at, bool down, double white,
                                  double inverse)
{
    const smp_view &in = io.second;
    uint32_t own = 0, all;
    integral_four v, sum = {0};
#pragma unroll 1
    for (int r = 0; r < at.rows; r++) {
        integral_numbers<T>(v, integral_load<T>(in, at.top + r, at.x, at.c));
        integral_run_four(v);
        integral_lanes_before(v[EACH - 1], &all);
        own = (int)threadIdx.x == r ? all : own;
    }
    integral_word left = 0, rows_left = 0;
    if ((int)threadIdx.x < at.rows)
        left = integral_look_back(integral_words(io.in, at.top + threadIdx.x) + at.word, at.tile, own);
#pragma unroll 1
    for (int r = 0; r < at.rows; r++) {
        rows_left = (down ? rows_left : 0) + __shfl_sync(0xffffffffu, left, r);
        integral_numbers<T>(v, integral_load<T>(in, at.top + r, at.x, at.c));
        integral_run_four(v);
        const uint32_t before = integral_lanes_before(v[EACH - 1], &all);
        float *const to = smp_out<float>(io.out, at.top + r);
        for (int k = 0; k < EACH; k++) {
            sum[k] = (down ? sum[k] : 0u) + before + v[k];
            if (at.x + k < in.width)
                to[(at.x + k) * in.channels + at.c] = integral_divided(
                    (down ? integral_above(io, at, k) : 0.) + (double)(rows_left + sum[k]), white, inverse);
        }
    }
}

template <typename T> SMP_DEVICE void integral_look(const smp_io &io, const smp_integral &p)
{
    const smp_view &in = io.second;
    const bool down = p.along != SMP_ALONG_ROWS;
    const bool vectors = in.channels == 1 && smp_view_aligned(&in) && smp_view_aligned(&io.out);
    const double white = p.white, inverse = 1. / white;
    for (integral_tile_place at; integral_take(io, at);)
        if (!vectors || !integral_whole(in, at))
            integral_look_any<T>(io, at, down, white, inverse);
        else if (down)
            integral_look_whole<T, true>(io, at, white, inverse);
        else
            integral_look_whole<T, false>(io, at, white, inverse);
}

/* The input's format is that of io.second: the launch reads the scratch picture. */
template <typename, typename> SMP_DEVICE void integral_blocks_lookback(const smp_io &io, const smp_integral &p)
{
    if (io.second.format == SMP_U8)
        integral_blocks_look<uint8_t>(io, p);
    else if (io.second.format == SMP_U16)
        integral_blocks_look<uint16_t>(io, p);
    else
        integral_blocks_look<float>(io, p);
}
SMP_KERNEL_FROM_F32(integral_blocks_lookback, smp_integral)

/* A kernel a format, since the formats need different numbers of registers: of bytes 24 warps an SM are to fit. */
SMP_KERNEL_BOUNDS(32, 24, integral_lookback_u8_f32_f32, smp_integral, io, p)
{
    integral_look<uint8_t>(io, p);
}
SMP_KERNEL_BOUNDS(32, 12, integral_lookback_u16_f32_f32, smp_integral, io, p)
{
    integral_look<uint16_t>(io, p);
}
SMP_KERNEL_BOUNDS(32, 12, integral_lookback_f32_f32_f32, smp_integral, io, p)
{
    integral_look<float>(io, p);
}
