/* The kernel of count_source.c. */
#include "lib/gpu_kernel.h"

struct simt_case { /* as in simt_fixture.h */
    int32_t mode, width;
    uint32_t active;
};

struct plain_tile {
    float v[32][32];
};
struct padded_tile {
    float v[32][33];
};

template <typename TILE> SMP_DEVICE void column_of_tile(const smp_io &io)
{
    SMP_SHARED(TILE, s);
    float *out = static_cast<float *>(io.out.data);
    s.v[threadIdx.y][threadIdx.x] = (float)threadIdx.x;
    __syncthreads();
    float v = s.v[threadIdx.x][threadIdx.y];
    if (blockIdx.x == 0)
        out[threadIdx.y * 32 + threadIdx.x] = v;
}

SMP_KERNEL(column_of_tile_f32_f32, simt_case, io, p)
{
    if (p.mode)
        column_of_tile<padded_tile>(io);
    else
        column_of_tile<plain_tile>(io);
}
