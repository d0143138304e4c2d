/* The swizzled swap of rows and columns on GPUs; transpose.cu tells how it compares with the other variants.
 *
 * Seen from a thread every swap is a plain transpose: input column a and output column x are counted from the left, and
 * mirrors decide which rows x and a are. Tiles so begin at 16-byte boundaries on both sides whatever the width, and a
 * mirror costs nothing; ragged ends are left to their blocks, pixel by pixel. Rows begin at 16-byte boundaries here:
 * the stage takes the padded kernel where they do not (src/stages/turn.c).
 *
 * A warp's 512 bytes take 4 wavefronts to load and 4 to store; in shared memory 4 + 4, or where pixels have three parts
 * 4 + 4 + 4 + 4. An SM of an H100 has about 38 cycles for them at the copy's speed. What is left to gain is in the
 * order in which memory sees rows: a warp loads pieces of one row or two, and blocks go down a column of tiles, so that
 * what is written at a time are whole rows. Tiles: SMP_TURN_SHAPES. */
#include "smp_kernel.h"
#include "transpose.h"

typedef smp_pack<uint32_t, 4> turn_word; /* one access of 16 bytes */

template <int PX> struct turn_shape;
#define TURN_SHAPE(px, cell, cells_across, cells_down, block, resident)                                                \
    template <> struct turn_shape<px> {                                                                                \
        static constexpr int side = cell, across = cells_across, down = cells_down;                                    \
        static constexpr int threads = block, granule = SMP_TURN_GRANULE(px);                                          \
        static constexpr int blocks = resident;                                                                        \
        static constexpr int columns = side * across, rows = side * down;                                              \
    };
SMP_TURN_SHAPES(TURN_SHAPE)

/* A block's tile of a swap: input columns a0 .. a0+columns-1, and output columns (the input's rows) x0 .. x0+rows-1. */
struct turn_place {
    int64_t a0, x0;
    int columns, rows;         /* whole granules; either may be 0 */
    const unsigned char *in;   /* the start of the input row that output column 0 comes from */
    unsigned char *out;        /* the start of the output row that input column 0 goes to; it need not be present */
    int64_t in_step, out_step; /* bytes from there to those of column 1 */
    int64_t a_from, a_to, x_from, x_to; /* with the ragged ends that are this block's */
};

template <int PX> SMP_DEVICE bool turn_place_of(const smp_io &io, int32_t how, turn_place *t)
{
    typedef turn_shape<PX> shape;
    const smp_turn_stretch a = smp_turn_columns(&io, how, shape::granule, shape::columns);
    const smp_turn_stretch x = smp_turn_cut(0, io.out.width, shape::granule, shape::rows);
    const int64_t ka = (int64_t)blockIdx.z * gridDim.y + blockIdx.y, kx = blockIdx.x;
    if (ka >= a.tiles)
        return false;
    const bool mirror_x = how & SMP_TURN_MIRROR_X, mirror_y = how & SMP_TURN_MIRROR_Y;
    t->a0 = a.body + ka * shape::columns;
    t->x0 = x.body + kx * shape::rows;
    t->columns = (int)min((int64_t)shape::columns, a.body_end - t->a0);
    t->rows = (int)min((int64_t)shape::rows, x.body_end - t->x0);
    t->in = smp_in<unsigned char>(io.in, mirror_y ? io.in.height - 1 : 0);
    t->in_step = mirror_y ? -io.in.stride : io.in.stride;
    t->out = smp_out<unsigned char>(io.out, mirror_x ? io.in.width - 1 : 0);
    t->out_step = mirror_x ? -io.out.stride : io.out.stride;
    t->a_from = ka == 0 ? a.from : t->a0;
    t->a_to = ka == a.tiles - 1 ? a.to : t->a0 + t->columns;
    t->x_from = kx == 0 ? x.from : t->x0;
    t->x_to = kx == x.tiles - 1 ? x.to : t->x0 + t->rows;
    return true;
}

/* What a pixel of PX bytes is moved in: as much as divides its size and 4 bytes, and is aligned wherever it starts. */
template <int PX> struct turn_part {
    typedef uint32_t type;
};
template <> struct turn_part<1> {
    typedef uint8_t type;
};
template <> struct turn_part<2> {
    typedef uint16_t type;
};
template <> struct turn_part<3> {
    typedef uint8_t type;
};
template <> struct turn_part<6> {
    typedef uint16_t type;
};

/* Input columns a .. a_end-1 of output columns x .. x_end-1, pixel by pixel: neighbouring threads go along the longer
 * side, a thread along the other, some pixels at a time so that their loads wait together. */
template <int PX> SMP_DEVICE void turn_pixels(const turn_place &t, int64_t a, int64_t a_end, int64_t x, int64_t x_end)
{
    typedef typename turn_part<PX>::type part;
    constexpr int PARTS = PX / (int)sizeof(part), AT_ONCE = PX <= 4 ? 8 : PX <= 8 ? 4 : 2;
    const bool along_a = a_end - a > x_end - x;
    const int n = (int)(along_a ? a_end - a : x_end - x), lines = (int)(along_a ? x_end - x : a_end - a);
    const int64_t line_in = along_a ? t.in_step : PX, line_out = along_a ? PX : t.out_step;
#pragma unroll 1
    for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x) {
        const int64_t at_a = a + (along_a ? i : 0), at_x = x + (along_a ? 0 : i);
        const unsigned char *from = t.in + at_x * t.in_step + at_a * PX;
        unsigned char *to = t.out + at_a * t.out_step + at_x * PX;
#pragma unroll 1
        for (int line = 0; line < lines; line += AT_ONCE) {
            part v[AT_ONCE][PARTS];
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++, from += line_in)
                if (line + k < lines)
#pragma unroll
                    for (int j = 0; j < PARTS; j++)
                        v[k][j] = reinterpret_cast<const part *>(from)[j];
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++, to += line_out)
                if (line + k < lines)
#pragma unroll
                    for (int j = 0; j < PARTS; j++)
                        reinterpret_cast<part *>(to)[j] = v[k][j];
        }
    }
}

/* What the tile leaves: columns before and behind it, and under it the last rows. */
template <int PX> SMP_DEVICE void turn_ragged(const turn_place &t)
{
    const int64_t a_end = t.a0 + t.columns;
#pragma unroll 1
    for (int side = 0; side < 3; side++) {
        const int64_t a = side == 0 ? t.a_from : side == 1 ? a_end : t.a0;
        const int64_t to = side == 0 ? t.a0 : side == 1 ? t.a_to : a_end;
        turn_pixels<PX>(t, a, to, side == 2 ? t.x0 + t.rows : t.x_from, t.x_to);
    }
}

/* The cell that this thread takes in round k: a warp has WIDE across and 32 / WIDE down. */
template <int PX, int WIDE> SMP_DEVICE void turn_cell(int k, int *cx, int *cy)
{
    typedef turn_shape<PX> shape;
    static_assert(shape::across % WIDE == 0 && 32 % WIDE == 0, "whole warps");
    const int lane = (int)threadIdx.x & 31, warp = ((int)threadIdx.x >> 5) + k * (shape::threads / 32);
    *cx = warp % (shape::across / WIDE) * WIDE + lane % WIDE;
    *cy = warp / (shape::across / WIDE) * (32 / WIDE) + lane / WIDE;
}

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

/* Pixels of 1, 2, 4, 8 or 16 bytes. */
template <int PX> SMP_DEVICE void turn_swizzled(const smp_io &io, int32_t how)
{
    typedef turn_shape<PX> shape;
    constexpr int N = shape::side, WORDS = shape::down, CELLS = shape::across * shape::down / shape::threads;
    constexpr int WIDE = shape::across < 32 ? shape::across : 32; /* long pieces of rows for a load of a warp */
    constexpr int ROUND = shape::threads / WORDS;                 /* rows that the block stores at a time */
    static_assert(N * PX == 16 && WORDS % 8 == 0 && shape::across % 8 == 0, "the swizzle wants 8 words a row");
    static_assert(shape::threads % WORDS == 0 && shape::columns % ROUND == 0, "whole rounds");
    SMP_SMEM_DYNAMIC(turn_word, tile); /* `columns` rows of WORDS words */
    turn_place t;
    if (!turn_place_of<PX>(io, how, &t))
        return;
    turn_ragged<PX>(t); /* first, so that nothing of it is kept in registers */
    if (t.columns > 0 && t.rows > 0) {
        const int across = t.columns / N, down = t.rows / N; /* cells that are there */
        turn_word v[CELLS][N];
#pragma unroll
        for (int k = 0; k < CELLS; k++) {
            int cx, cy;
            turn_cell<PX, WIDE>(k, &cx, &cy);
            cx = min(cx, across - 1); /* other cells of the tile get what nobody will store */
            cy = min(cy, down - 1);
            const unsigned char *from = t.in + (t.x0 + cy * N) * t.in_step + (t.a0 + cx * N) * PX;
#pragma unroll
            for (int i = 0; i < N; i++)
                v[k][i] = *reinterpret_cast<const turn_word *>(from + i * t.in_step);
        }
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
#pragma unroll
        for (int k = 0; k < shape::columns; k += ROUND) {
            const int r = first + k;
            if (r < t.columns && c < down)
                *reinterpret_cast<turn_word *>(to + k * t.out_step) = tile[r * WORDS + (c ^ (r / N & 7))];
        }
    }
}

/* A cell of pixels in three parts transposed: 1, 2 or 4 rows of as many pixels, 3 words each. */
SMP_DEVICE void turn_three(uint32_t (&)[1][3]) {}
SMP_DEVICE void turn_three(uint32_t (&v)[2][3])
{
    const uint32_t a1 = v[0][1], a2 = v[0][2], b0 = v[1][0], b1 = v[1][1], b2 = v[1][2];
    v[0][1] = __byte_perm(a1, b0, 0x5410);
    v[0][2] = __byte_perm(b0, b1, 0x5432);
    v[1][0] = __byte_perm(a1, a2, 0x5432);
    v[1][1] = __byte_perm(a2, b1, 0x7632);
    v[1][2] = b2;
}
SMP_DEVICE void turn_three(uint32_t (&v)[4][3])
{
    uint32_t o[4][3];
#pragma unroll
    for (int j = 0; j < 4; j++) {
        uint32_t p[4]; /* pixel j of the four rows, in bytes 0 to 2; of the last column in bytes 1 to 3 */
#pragma unroll
        for (int r = 0; r < 4; r++)
            p[r] = j == 0   ? v[r][0]
                   : j == 1 ? __byte_perm(v[r][0], v[r][1], 0x0543)
                   : j == 2 ? __byte_perm(v[r][1], v[r][2], 0x0432)
                            : v[r][2];
        o[j][0] = __byte_perm(p[0], p[1], j < 3 ? 0x4210 : 0x5321);
        o[j][1] = __byte_perm(p[1], p[2], j < 3 ? 0x5421 : 0x6532);
        o[j][2] = __byte_perm(p[2], p[3], j < 3 ? 0x6542 : 0x7653);
    }
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
        for (int k = 0; k < 3; k++)
            v[j][k] = o[j][k];
}

/* 16 bytes to shared memory. LINE 256: what is missing comes to the second-level cache by 256 bytes. */
template <int LINE> SMP_DEVICE void turn_fetch(uint32_t *to, const unsigned char *from, bool present)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if (LINE == 256) {
        const unsigned shared = (unsigned)__cvta_generic_to_shared(to), size = present ? 16 : 0;
        asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16, %2;" ::"r"(shared), "l"(from), "r"(size)
                     : "memory");
        return;
    }
#endif
    smp_copy_async<16>(to, from, present);
}

/* Pixels of 3, 6 or 12 bytes. */
template <int PX> SMP_DEVICE void turn_skewed(const smp_io &io, int32_t how)
{
    typedef turn_shape<PX> shape;
    constexpr int B = shape::side, T = shape::threads, CELLS = shape::across * shape::down / T;
    constexpr int IN_ROW = 3 * shape::across, OUT_ROW = 3 * shape::down; /* words of 4 bytes */
    constexpr int IN_SKEW = SMP_TURN_SKEW(8, B * IN_ROW), OUT_SKEW = SMP_TURN_SKEW(4, B * OUT_ROW);
    constexpr int IN_WORDS = IN_ROW / 4, OUT_WORDS = OUT_ROW / 4; /* of 16 bytes */
    constexpr int LINE = IN_WORDS % 16 ? 256 : 0;                 /* every second tile begins within 256 bytes */
    static_assert(B * PX == 12 && IN_WORDS % 8 == 0 && OUT_WORDS % 8 == 0, "8 lanes stay in a row");
    SMP_SMEM_DYNAMIC(uint32_t, s);
    turn_place t;
    if (!turn_place_of<PX>(io, how, &t))
        return;
    turn_ragged<PX>(t);
    if (t.columns > 0 && t.rows > 0) {
        const int across = t.columns / B, down = t.rows / B;
        const unsigned char *from = t.in + t.x0 * t.in_step + t.a0 * PX;
        unsigned char *to = t.out + t.a0 * t.out_step + t.x0 * PX;
#pragma unroll
        for (int k = 0; k < shape::rows * IN_WORDS; k += T) {
            const int i = k + (int)threadIdx.x, r = i / IN_WORDS, c = i % IN_WORDS;
            const bool present = r < t.rows && 4 * c < 3 * across;
            turn_fetch<LINE>(&s[r * IN_ROW + r / B * IN_SKEW + c * 4], from + r * t.in_step + c * 16, present);
        }
        smp_copy_commit();
        smp_copy_wait<0>();
        __syncthreads();
        uint32_t v[CELLS][B][3];
#pragma unroll
        for (int k = 0; k < CELLS; k++) {
            int cx, cy;
            turn_cell<PX, 8>(k, &cx, &cy);
#pragma unroll
            for (int i = 0; i < B; i++)
#pragma unroll
                for (int j = 0; j < 3; j++)
                    v[k][i][j] = s[(cy * B + i) * IN_ROW + cy * IN_SKEW + cx * 3 + j];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < CELLS; k++) {
            int cx, cy;
            turn_cell<PX, 8>(k, &cx, &cy);
            turn_three(v[k]);
#pragma unroll
            for (int i = 0; i < B; i++)
#pragma unroll
                for (int j = 0; j < 3; j++)
                    s[(cx * B + i) * OUT_ROW + cx * OUT_SKEW + cy * 3 + j] = v[k][i][j];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < shape::columns * OUT_WORDS; k += T) {
            const int i = k + (int)threadIdx.x, r = i / OUT_WORDS, c = i % OUT_WORDS;
            if (r < t.columns && 4 * c < 3 * down)
                *reinterpret_cast<turn_word *>(to + r * t.out_step + c * 16) =
                    *reinterpret_cast<const turn_word *>(&s[r * OUT_ROW + r / B * OUT_SKEW + c * 4]);
        }
    }
}

/* ---------------------------------------------------------------------------------------------- kernels */

/* transpose_swizzled_CHANNELS_FORMAT_FORMAT. */
#define TURN_SWIZZLED(channels, format, px, turn)                                                                      \
    SMP_KERNEL_BOUNDS(turn_shape<px>::threads, turn_shape<px>::blocks,                                                 \
                      transpose_swizzled_##channels##_##format##_##format, smp_turn, io, p)                            \
    {                                                                                                                  \
        turn<px>(io, p.how);                                                                                           \
    }
TURN_SWIZZLED(1, u8, 1, turn_swizzled)
TURN_SWIZZLED(2, u8, 2, turn_swizzled)
TURN_SWIZZLED(3, u8, 3, turn_skewed)
TURN_SWIZZLED(4, u8, 4, turn_swizzled)
TURN_SWIZZLED(6, u8, 6, turn_skewed)
TURN_SWIZZLED(8, u8, 8, turn_swizzled)
TURN_SWIZZLED(1, u16, 2, turn_swizzled)
TURN_SWIZZLED(2, u16, 4, turn_swizzled)
TURN_SWIZZLED(3, u16, 6, turn_skewed)
TURN_SWIZZLED(4, u16, 8, turn_swizzled)
TURN_SWIZZLED(6, u16, 12, turn_skewed)
TURN_SWIZZLED(8, u16, 16, turn_swizzled)
TURN_SWIZZLED(1, f32, 4, turn_swizzled)
TURN_SWIZZLED(2, f32, 8, turn_swizzled)
TURN_SWIZZLED(3, f32, 12, turn_skewed)
TURN_SWIZZLED(4, f32, 16, turn_swizzled)
