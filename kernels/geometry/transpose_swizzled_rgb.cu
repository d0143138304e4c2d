/* The swizzled transpose on GPUs of pixels of 3, 6 or 12 bytes. transpose.cu compares it with the other variants. In
 * shared memory a warp's 512 bytes take 4 + 4 + 4 + 4 wavefronts, and 4 more to store them.
 *
 * The limit of u8x3 is the order in which memory sees rows: a tile moved without a transpose is no faster. */
#include "geometry/transpose_load.cuh"
#include "lib/gpu_kernel.h"

/* Transposes a cell of pixels in three parts: 1, 2 or 4 rows of as many pixels, 3 words each. */
SMP_DEVICE void transpose_three(uint32_t (&)[1][3]) {}
SMP_DEVICE void transpose_three(uint32_t (&v)[2][3])
{
    const uint32_t a1 = v[0][1], a2 = v[0][2], b0 = v[1][0], b1 = v[1][1], b2 = v[1][2];
    v[0][1] = __byte_perm(a1, b0, 0x5410);
    v[0][2] = __byte_perm(b0, b1, 0x5432);
    v[1][0] = __byte_perm(a1, a2, 0x5432);
    v[1][1] = __byte_perm(a2, b1, 0x7632);
    v[1][2] = b2;
}
SMP_DEVICE void transpose_three(uint32_t (&v)[4][3])
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

/* Pixels of 3, 6 or 12 bytes. */
template <int PX> SMP_DEVICE void transpose_rgb_tile(const smp_io &io, int32_t orientation)
{
    typedef transpose_shape<PX> shape;
    constexpr int B = shape::side, T = shape::threads, CELLS = shape::across * shape::down / T;
    constexpr int IN_ROW = 3 * shape::across, OUT_ROW = 3 * shape::down; /* words of 4 bytes */
    constexpr int IN_PAD = SMP_TRANSPOSE_ROW_PAD(8, B * IN_ROW), OUT_PAD = SMP_TRANSPOSE_ROW_PAD(4, B * OUT_ROW);
    constexpr int IN_VECS = 3 * shape::across / 4, OUT_VECS = OUT_ROW / 4;
    static_assert(B * PX == 12 && IN_VECS % 8 == 0 && OUT_VECS % 8 == 0, "8 lanes stay in a row");
    SMP_SMEM_DYNAMIC(uint32_t, s);
    transpose_place t;
    if (!transpose_place_of<PX>(io, orientation, &t))
        return;
    const unsigned char *from = t.in + t.x0 * t.in_step + t.a0 * PX;
    transpose_fetch_rows<PX>(t, from,
                             [&](int r) { return reinterpret_cast<unsigned char *>(&s[r * IN_ROW + r / B * IN_PAD]); });
    __syncthreads();
    uint32_t v[CELLS][B][3];
#pragma unroll
    for (int k = 0; k < CELLS; k++) {
        int cx, cy;
        transpose_cell<PX, 8>(k, &cx, &cy);
#pragma unroll
        for (int i = 0; i < B; i++) {
            const uint32_t *cell = &s[(cy * B + i) * IN_ROW + cy * IN_PAD + cx * 3];
#pragma unroll
            for (int j = 0; j < 3; j++)
                v[k][i][j] = cell[j];
        }
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < CELLS; k++) {
        int cx, cy;
        transpose_cell<PX, 8>(k, &cx, &cy);
        transpose_three(v[k]);
#pragma unroll
        for (int i = 0; i < B; i++)
#pragma unroll
            for (int j = 0; j < 3; j++)
                s[(cx * B + i) * OUT_ROW + cx * OUT_PAD + cy * 3 + j] = v[k][i][j];
    }
    __syncthreads();
    unsigned char *const to = t.out + t.a0 * t.out_step + t.x0 * PX;
#pragma unroll
    for (int k = 0; k < shape::columns * OUT_VECS; k += T) {
        const int i = k + (int)threadIdx.x, r = i / OUT_VECS, c = i % OUT_VECS;
        if (t.stores(r) && c * 16 < t.rows * PX)
            *reinterpret_cast<vec128 *>(to + r * t.out_step + c * 16) =
                *reinterpret_cast<const vec128 *>(&s[r * OUT_ROW + r / B * OUT_PAD + c * 4]);
    }
}

TRANSPOSE_SWIZZLED(3, u8, 3, transpose_rgb_tile)
TRANSPOSE_SWIZZLED(6, u8, 6, transpose_rgb_tile)
TRANSPOSE_SWIZZLED(3, u16, 6, transpose_rgb_tile)
TRANSPOSE_SWIZZLED(6, u16, 12, transpose_rgb_tile)
TRANSPOSE_SWIZZLED(3, f32, 12, transpose_rgb_tile)
