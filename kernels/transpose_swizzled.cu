/* The swizzled swap of rows and columns on GPUs, of pixels of 1, 2, 4, 8 or 16 bytes; transpose.cu tells how it
 * compares with the other variants, turn_tile.cuh what a tile is, transpose_skewed.cu moves pixels of three parts.
 *
 * A warp's 512 bytes take 4 wavefronts to load and 4 to store; in shared memory 4 + 4. An SM of an H100 has about 38
 * cycles for them at the copy's speed. What is left to gain is in the order in which memory sees rows: a warp loads
 * pieces of one row or two, and blocks go down a column of tiles, so that what is written at a time are whole rows.
 * Tiles: SMP_TURN_SHAPES. */
#include "smp_kernel.h"
#include "turn_fetch.cuh"

/* N rows of 16 bytes, N pixels each: rows become columns. */
template <int PX> SMP_DEVICE void turn_words(const turn_word (&v)[16 / PX], turn_word (&o)[16 / PX])
{
    if constexpr (PX == 1) {
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 4; j++) { /* the 4 x 4 bytes of rows 4i.., columns 4j.. */
                const uint32_t a = v[4 * i].v[j], b = v[4 * i + 1].v[j];
                const uint32_t c = v[4 * i + 2].v[j], d = v[4 * i + 3].v[j];
                const uint32_t ab = __byte_perm(a, b, 0x5140), cd = __byte_perm(c, d, 0x5140);
                const uint32_t ab2 = __byte_perm(a, b, 0x7362), cd2 = __byte_perm(c, d, 0x7362);
                o[4 * j].v[i] = __byte_perm(ab, cd, 0x5410);
                o[4 * j + 1].v[i] = __byte_perm(ab, cd, 0x7632);
                o[4 * j + 2].v[i] = __byte_perm(ab2, cd2, 0x5410);
                o[4 * j + 3].v[i] = __byte_perm(ab2, cd2, 0x7632);
            }
    } else if constexpr (PX == 2) {
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 4; j++) {
                const uint32_t a = v[2 * i].v[j], b = v[2 * i + 1].v[j];
                o[2 * j].v[i] = __byte_perm(a, b, 0x5410);
                o[2 * j + 1].v[i] = __byte_perm(a, b, 0x7632);
            }
    } else {
        constexpr int N = 16 / PX, words = PX < 4 ? 1 : PX / 4;
#pragma unroll
        for (int i = 0; i < N; i++)
#pragma unroll
            for (int j = 0; j < N; j++)
#pragma unroll
                for (int k = 0; k < words; k++)
                    o[j].v[i * words + k] = v[i].v[j * words + k];
    }
}

/* Word c of row r of a swizzled tile. */
template <int PX> SMP_DEVICE turn_word turn_of_tile(const turn_word *tile, int r, int c)
{
    const turn_word word = tile[r * turn_shape<PX>::down + (c ^ (r / turn_shape<PX>::side & 7))];
    return word;
}

/* Where word c of row first + k of a swizzled tile lies; first is less than the rows of a round, k a multiple of them.
 */
template <int PX> SMP_DEVICE int turn_in_tile(int first, int k, int c)
{
    typedef turn_shape<PX> shape;
    const int cell = (int)((unsigned)first / shape::side) + k / shape::side;
    return (first + k) * shape::down + (c ^ (cell & 7));
}

/* The memory's word that holds the row's from `skew` bytes before word c on. */
template <int PX>
SMP_DEVICE void turn_store_word(unsigned char *to, const turn_word *tile, int first, int k, int c, int skew)
{
    *reinterpret_cast<turn_word *>(to) = turn_joined<PX & -PX>(
        tile[turn_in_tile<PX>(first, k, c - (skew > 0))], tile[turn_in_tile<PX>(first, k, c)], -(unsigned)skew % 16);
}

/* What a pixel is moved in, from byte `at` of the row on. */
template <int PX> SMP_DEVICE void turn_store_piece(unsigned char *to, const turn_word *tile, int first, int k, int at)
{
    typedef typename turn_part<PX>::type part;
    const turn_word *word = tile + turn_in_tile<PX>(first, k, (int)((unsigned)at / 16));
    *reinterpret_cast<part *>(to) = reinterpret_cast<const part *>(word)[(unsigned)at % 16 / sizeof(part)];
}

/* Pixels of 1, 2, 4, 8 or 16 bytes. */
template <int PX, bool LOOSE> SMP_DEVICE void turn_swizzled(const smp_io &io, int32_t how)
{
    typedef turn_shape<PX> shape;
    constexpr int N = shape::side, WORDS = shape::down, CELLS = shape::across * shape::down / shape::threads;
    constexpr int WIDE = shape::across < 32 ? shape::across : 32; /* long pieces of rows for a load of a warp */
    constexpr int ROUND = shape::threads / WORDS;                 /* rows that the block stores at a time */
    static_assert(N * PX == 16 && WORDS % 8 == 0 && shape::across % 8 == 0, "the swizzle wants 8 words a row");
    static_assert(shape::threads % WORDS == 0 && shape::columns % ROUND == 0, "whole rounds");
    SMP_SMEM_DYNAMIC(turn_word, tile); /* `columns` rows of WORDS words */
    turn_place t;
    if (!turn_place_of<PX, LOOSE>(io, how, &t))
        return;
    if (LOOSE)
        turn_keep_inside<PX>(&t);
    turn_ragged<PX, LOOSE>(t); /* first, so that nothing of it is kept in registers */
    if (t.columns > 0 && t.rows > 0) {
        const int across = t.columns / N, down = t.rows / N; /* cells that are there */
        turn_word v[CELLS][N];
        constexpr bool FETCHED = LOOSE && PX == SMP_TURN_FETCHED;
        constexpr int PITCH = shape::columns * PX + SMP_TURN_BESIDE;
        unsigned char *const stage = reinterpret_cast<unsigned char *>(tile);
        const unsigned char *start = t.in + t.x0 * t.in_step + t.a0 * PX;
        if constexpr (FETCHED) {
            turn_fetch_rows<PX, true>(t, start, [&](int r) { return stage + r * PITCH; });
            __syncthreads();
        }
#pragma unroll
        for (int k = 0; k < CELLS; k++) {
            int cx, cy;
            turn_cell<PX, WIDE>(k, &cx, &cy);
            cx = min(cx, across - 1); /* other cells of the tile get what nobody will store */
            cy = min(cy, down - 1);
            const unsigned char *from = t.in + (t.x0 + cy * N) * t.in_step + (t.a0 + cx * N) * PX;
#pragma unroll
            for (int i = 0; i < N; i++)
                if constexpr (FETCHED) {
                    const unsigned skew = turn_skew<SMP_TURN_BESIDE>(start, t.in_step, cy * N + i);
                    const turn_word *words =
                        reinterpret_cast<const turn_word *>(stage + (cy * N + i) * PITCH + skew / 16 * 16) + cx;
                    const turn_word first = words[0], next = words[1];
                    v[k][i] = turn_joined<PX & -PX>(first, next, skew % 16);
                } else if constexpr (LOOSE)
                    v[k][i] = turn_load<PX>(from + i * t.in_step, turn_skew<16>(t.in, t.in_step, i));
                else
                    v[k][i] = *reinterpret_cast<const turn_word *>(from + i * t.in_step);
        }
        if (FETCHED)
            __syncthreads();
#pragma unroll
        for (int k = 0; k < CELLS; k++) {
            int cx, cy;
            turn_word o[N];
            turn_cell<PX, WIDE>(k, &cx, &cy);
            turn_words<PX>(v[k], o);
#pragma unroll
            for (int i = 0; i < N; i++)
                tile[(cx * N + i) * WORDS + (cy ^ (cx & 7))] = o[i];
        }
        __syncthreads();
        const int c = (int)threadIdx.x % WORDS, first = (int)threadIdx.x / WORDS;
        unsigned char *to = t.out + (t.a0 + first) * t.out_step + t.x0 * PX + c * 16;
        if constexpr (LOOSE) {
            constexpr int SIZE = (int)sizeof(typename turn_part<PX>::type);
            static_assert(ROUND * SIZE % 16 == 0 && WORDS * SIZE >= 16, "all of a thread's rows begin alike");
            const int skew = (int)((uintptr_t)to % 16), word = max(c, skew > 0);
            const int at = turn_beside(c * SIZE % 16, skew, 16 * down);
            unsigned char *to_word = to + 16 * (word - c) - skew, *to_piece = to - 16 * c + at;
            if (t.between && t.columns == shape::columns) { /* as most tiles are; where lanes store alike, so be it */
#pragma unroll
                for (int k = 0; k < shape::columns; k += ROUND) {
                    turn_store_word<PX>(to_word, tile, first, k, word, skew);
                    to_word += ROUND * t.out_step;
                }
            } else if (t.columns == shape::columns && down == WORDS) {
#pragma unroll(PX <= 4 ? 1 : shape::columns / ROUND)
                for (int k = 0; k < shape::columns; k += ROUND) {
                    turn_store_word<PX>(to_word, tile, first, k, word, skew);
                    turn_store_piece<PX>(to_piece, tile, first, k, at);
                    to_word += ROUND * t.out_step;
                    to_piece += ROUND * t.out_step;
                }
            } else {
#pragma unroll 1
                for (int k = 0; k < shape::columns; k += ROUND) {
                    smp_together();
                    if (first + k < t.columns && word < down)
                        turn_store_word<PX>(to_word, tile, first, k, word, skew);
                    smp_together();
                    if (first + k < t.columns)
                        turn_store_piece<PX>(to_piece, tile, first, k, at);
                    to_word += ROUND * t.out_step;
                    to_piece += ROUND * t.out_step;
                }
            }
        } else {
#pragma unroll
            for (int k = 0; k < shape::columns; k += ROUND) {
                const int r = first + k;
                if (r < t.columns && c < down)
                    *reinterpret_cast<turn_word *>(to + k * t.out_step) = turn_of_tile<PX>(tile, r, c);
            }
        }
    }
}

TURN_SWIZZLED(1, u8, 1, turn_swizzled, true)
TURN_SWIZZLED(2, u8, 2, turn_swizzled, true)
TURN_SWIZZLED(4, u8, 4, turn_swizzled, true)
TURN_SWIZZLED(8, u8, 8, turn_swizzled, true)
TURN_SWIZZLED(1, u16, 2, turn_swizzled, true)
TURN_SWIZZLED(2, u16, 4, turn_swizzled, true)
TURN_SWIZZLED(4, u16, 8, turn_swizzled, true)
TURN_SWIZZLED(8, u16, 16, turn_swizzled, false)
TURN_SWIZZLED(1, f32, 4, turn_swizzled, false)
TURN_SWIZZLED(2, f32, 8, turn_swizzled, true)
TURN_SWIZZLED(4, f32, 16, turn_swizzled, false)

/* For rows that do not begin at 16-byte boundaries where the kernel above is for those that do. */
SMP_KERNEL_BOUNDS(turn_shape<4>::threads, turn_shape<4>::blocks, transpose_shifted_1_f32_f32, smp_turn, io, p)
{
    turn_swizzled<4, true>(io, p.how);
}
