/* The swizzled transpose on GPUs of pixels of 1, 2, 4, 8 or 16 bytes. transpose.cu compares it with the other variants;
 * transpose_swizzled_rgb.cu moves pixels of three parts.
 *
 * A warp's 512 bytes take 4 wavefronts to load and 4 to store, and 4 + 4 in shared memory; at the copy's speed an SM of
 * an H100 has about 38 cycles for them. What is left to gain lies in the order in which memory sees rows: a warp loads
 * vectors of one row or two, and blocks go down a column of tiles, so that whole output rows are written at a time.
 * Tiles: SMP_TRANSPOSE_SHAPES. */
#include "geometry/transpose_tile.cuh"
#include "lib/gpu_kernel.h"

/* N rows of 16 bytes, N pixels each: rows become columns. */
template <int PX> SMP_DEVICE void vec128_transpose(const vec128 (&v)[16 / PX], vec128 (&o)[16 / PX])
{
    if constexpr (PX == 1) {
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 4; j++) { /* 4 x 4 bytes: rows 4i.., columns 4j.. */
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

/* Vector c of row r of a swizzled tile. */
template <int PX> SMP_DEVICE vec128 transpose_of_tile(const vec128 *tile, int r, int c)
{
    return tile[r * transpose_shape<PX>::down + (c ^ (r / transpose_shape<PX>::side & 7))];
}

/* Pixels of 1, 2, 4, 8 or 16 bytes. */
template <int PX> SMP_DEVICE void transpose_swizzled_tile(const smp_io &io, int32_t orientation)
{
    typedef transpose_shape<PX> shape;
    constexpr int N = shape::side, VECS = shape::down, CELLS = shape::across * shape::down / shape::threads;
    constexpr int WIDE = shape::across < 32 ? shape::across : 32; /* a warp's load: few rows, long parts of them */
    constexpr int STORED = shape::threads / VECS;                 /* rows that the block stores at a time */
    static_assert(N * PX == 16 && VECS % 8 == 0 && shape::across % 8 == 0, "the swizzle needs 8 vectors a row");
    static_assert(shape::threads % VECS == 0 && shape::columns % STORED == 0, "the block stores whole rows");
    SMP_SMEM_DYNAMIC(vec128, tile); /* `columns` rows of VECS vectors */
    transpose_place t;
    if (!transpose_place_of<PX>(io, orientation, &t))
        return;
    vec128 v[CELLS][N];
    const unsigned char *const from = t.in + t.x0 * t.in_step + t.a0 * PX;
    const int across = (t.columns + N - 1) / N, last = t.rows - 1;
#pragma unroll
    for (int k = 0; k < CELLS; k++) {
        int cx, cy;
        transpose_cell<PX, WIDE>(k, &cx, &cy);
        if (t.full) {
#pragma unroll
            for (int i = 0; i < N; i++)
                v[k][i] = *reinterpret_cast<const vec128 *>(from + cx * 16 + (cy * N + i) * t.in_step);
        } else {
#pragma unroll
            for (int i = 0; i < N; i++)
                v[k][i] = *reinterpret_cast<const vec128 *>(from + min(cx, across - 1) * 16 +
                                                            min(cy * N + i, last) * t.in_step);
        }
    }
#pragma unroll
    for (int k = 0; k < CELLS; k++) {
        int cx, cy;
        vec128 o[N];
        transpose_cell<PX, WIDE>(k, &cx, &cy);
        vec128_transpose<PX>(v[k], o);
#pragma unroll
        for (int i = 0; i < N; i++)
            tile[(cx * N + i) * VECS + (cy ^ (cx & 7))] = o[i];
    }
    __syncthreads();
    const int c = (int)threadIdx.x % VECS, first = (int)threadIdx.x / VECS;
    unsigned char *const to = t.out + (t.a0 + first) * t.out_step + t.x0 * PX + c * 16;
#pragma unroll
    for (int k = 0; k < shape::columns; k += STORED) {
        const int r = first + k;
        if (t.stores(r) && c * N < t.rows)
            *reinterpret_cast<vec128 *>(to + k * t.out_step) = transpose_of_tile<PX>(tile, r, c);
    }
}

TRANSPOSE_SWIZZLED(1, u8, 1, transpose_swizzled_tile)
TRANSPOSE_SWIZZLED(2, u8, 2, transpose_swizzled_tile)
TRANSPOSE_SWIZZLED(4, u8, 4, transpose_swizzled_tile)
TRANSPOSE_SWIZZLED(8, u8, 8, transpose_swizzled_tile)
TRANSPOSE_SWIZZLED(1, u16, 2, transpose_swizzled_tile)
TRANSPOSE_SWIZZLED(2, u16, 4, transpose_swizzled_tile)
TRANSPOSE_SWIZZLED(4, u16, 8, transpose_swizzled_tile)
TRANSPOSE_SWIZZLED(8, u16, 16, transpose_swizzled_tile)
TRANSPOSE_SWIZZLED(1, f32, 4, transpose_swizzled_tile)
TRANSPOSE_SWIZZLED(2, f32, 8, transpose_swizzled_tile)
TRANSPOSE_SWIZZLED(4, f32, 16, transpose_swizzled_tile)
