/* convolve and correlate on GPUs with kernels of 3 x 3, 5 x 5 and 7 x 7 weights, one warp a strip (column_walk.cuh),
 * for u8 into u8 and f32 into f32 with 1, 3 or 4 channels. A lane makes 16 bytes of every output row and keeps the sums
 * of the K - 1 rows that are begun: a row that arrives adds its K taps to each of them, which is the definition's
 * order. Weights are constants that multiplications read in place; K * K of these a sample are most of the work. A byte
 * becomes a float by one permute (2^23 + byte) and one subtraction, once a lane and row. */
#include "stencil/convolve.h"

#include "stencil/column_walk.cuh"

template <typename T, int K, int C> struct convolve_row {
    static constexpr int V = 16 / (int)sizeof(T), PACKS = smp_convolve_packs(K, C, (int)sizeof(T));
    static constexpr int LEFT = PACKS * V - K / 2 * C; /* samples of the window that no tap reads */
    static constexpr int FIRST = LEFT * (int)sizeof(T) / 4, LAST = (LEFT + V + (K - 1) * C - 1) * (int)sizeof(T) / 4;
    typedef column_window16<T, C, PACKS, FIRST, LAST, SMP_CONVOLVE_WARP_ROWS, 0, (K > 3 ? 1 : 2)> walk;
    typedef T out;
    typedef strip_pack pack;
    const smp_convolve &kernel;
    const float first;
    const bool counts;
    float sum[K - 1][V], done[V];
    unsigned clipped;

    SMP_DEVICE_MEMBER convolve_row(const smp_io &io, const smp_convolve &given)
        : kernel(given), first(smp_convolve_first(&given, io.in.white)),
          counts(sizeof(T) == 1 && io.clipped != nullptr), clipped(0)
    {
    }
    SMP_DEVICE_MEMBER void begin()
    {
#pragma unroll
        for (int j = 0; j < K - 1; j++)
#pragma unroll
            for (int i = 0; i < V; i++)
                sum[j][i] = first;
    }
    static SMP_DEVICE_MEMBER float value(const unsigned *words, int at)
    {
        if (sizeof(T) == 4)
            return __uint_as_float(words[at]);
        return __uint_as_float(__byte_perm(words[at / 4], 0x4b000000, 0x7540 | (at & 3))) - 8388608.f;
    }
    SMP_DEVICE_MEMBER void add(const unsigned *words, const T *, bool, int)
    {
#pragma unroll
        for (int c = 0; c < C && c < V; c++) { /* channel by channel: fewer values are live */
            constexpr int VALUES = (V + C - 1) / C + K - 1;
            float p[VALUES];
#pragma unroll
            for (int m = 0; m < VALUES; m++)
                if (c + m * C < V + (K - 1) * C)
                    p[m] = value(words, LEFT + c + m * C);
#pragma unroll
            for (int m = 0; m * C + c < V; m++) {
                const int i = m * C + c;
#pragma unroll
                for (int j = K - 1; j >= 0; j--) { /* the sum for which this is row j */
                    float v = j ? sum[j - 1][i] : first;
#pragma unroll
                    for (int col = 0; col < K; col++)
                        v = smp_convolve_tap(v, kernel.k[j * K + col], p[m + col]);
                    if (j == K - 1)
                        done[i] = v;
                    else
                        sum[j][i] = v;
                }
            }
        }
    }
    SMP_DEVICE_MEMBER strip_pack operator()(const T *, int)
    {
        strip_pack result;
#pragma unroll
        for (int i = 0; i < V; i++)
            done[i] = smp_one_nan(done[i]);
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (sizeof(T) == 4) {
                result.v[i] = __float_as_uint(done[i]);
            } else {
                unsigned bytes[4];
#pragma unroll
                for (int b = 0; b < 4; b++)
                    bytes[b] = smp_rounded<uint8_t>(done[(4 * i + b) % V]);
                result.v[i] = __byte_perm(__byte_perm(bytes[0], bytes[1], 0x0040),
                                          __byte_perm(bytes[2], bytes[3], 0x0040), 0x5410);
            }
        return result;
    }
    SMP_DEVICE_MEMBER void count(int n)
    {
        if (counts)
#pragma unroll
            for (int i = 0; i < V; i++)
                if (i < n)
                    clipped += smp_clipped<uint8_t>(done[i]);
    }
};

template <typename T, int K, int C> SMP_DEVICE void convolve_warp(const smp_io &io, const smp_convolve &kernel)
{
    typedef convolve_row<T, K, C> row_type;
    typedef typename row_type::walk::rows_type rows_type;
    SMP_SHARED(rows_type, s);
    row_type row(io, kernel);
    column_walk<K>(io, kernel.edge, K / 2, K / 2 * C, s, row);
    smp_count_clipped<T>(io, row.clipped);
}

#define CONVOLVE_WARP(K, C)                                                                                            \
    SMP_KERNEL_BOUNDS(32, SMP_CONVOLVE_WARPS_U8(K), convolve_warp##K##_##C##_u8_u8, smp_convolve, io, p)               \
    {                                                                                                                  \
        convolve_warp<uint8_t, K, C>(io, p);                                                                           \
    }                                                                                                                  \
    SMP_KERNEL_BOUNDS(32, SMP_CONVOLVE_WARPS_F32, convolve_warp##K##_##C##_f32_f32, smp_convolve, io, p)               \
    {                                                                                                                  \
        convolve_warp<float, K, C>(io, p);                                                                             \
    }
#define CONVOLVE_WARP_ALL(K) CONVOLVE_WARP(K, 1) CONVOLVE_WARP(K, 3) CONVOLVE_WARP(K, 4)
CONVOLVE_WARP_ALL(3)
CONVOLVE_WARP_ALL(5)
CONVOLVE_WARP_ALL(7)
