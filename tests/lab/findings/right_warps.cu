// Kernels of one warp's lanes without a mistake that look as if they had one. None may be told.
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;

enum { N = 128 };

template <int SIZE> __device__ int other_of_tile(int *x, int mask)
{
    auto tile = cg::tiled_partition<SIZE>(cg::this_thread_block());
    x[threadIdx.x] += mask;
    tile.sync();
    int v = x[threadIdx.x ^ mask];
    tile.sync();
    return v;
}
__global__ void lanes_of_a_warp(int *x, int *y)
{
    int t = threadIdx.x;
    x[t] = t;
    __syncwarp();
    y[t] = x[t ^ 31];
}
__global__ void warp_tree(int *x, int *y)
{
    for (int d = 16; d; d /= 2) {
        int v = x[(threadIdx.x & ~31) + (threadIdx.x % 32 ^ d)];
        __syncwarp();
        x[threadIdx.x] += v;
        __syncwarp();
    }
}
__global__ void tiles_of_a_warp(int *x, int *y)
{
    __shared__ int s[N];
    s[threadIdx.x] = x[threadIdx.x] = threadIdx.x;
    y[threadIdx.x] = other_of_tile<4>(x, 3) + other_of_tile<16>(x, 15) + other_of_tile<8>(x, 7);
    y[threadIdx.x] += other_of_tile<4>(s, 3) + other_of_tile<16>(s, 15) + other_of_tile<8>(s, 7);
}
__global__ void what_a_wider_tile_knew(int *x, int *y)
{
    const int t = threadIdx.x;
    x[t] = t;
    __syncwarp(0xffffu << (t & 16));
    __syncwarp(0xfu << (t & 28));
    y[t] = x[t ^ 15];
}
__global__ void lanes_that_know_by_others(int *x, int *y)
{
    const int t = threadIdx.x;
    x[t] = t;
    __syncwarp(0x3u << (t & 30));
    __syncwarp(0x5u << (t & 29) % 32);
    y[t] = x[t ^ 3];
}
__global__ void odd_lanes(int *x, int *y)
{
    if (threadIdx.x % 2) {
        cg::coalesced_group odd = cg::coalesced_threads();
        x[threadIdx.x] = 1;
        odd.sync();
        y[threadIdx.x] = x[threadIdx.x ^ 2];
    }
    __syncwarp();
    y[threadIdx.x] += x[threadIdx.x ^ 1];
}
__global__ void shuffles(int *x, int *y)
{
    int v = x[threadIdx.x];
    for (int d = 16; d; d /= 2)
        v += __shfl_xor_sync(0xffffffff, v, d);
    if (threadIdx.x % 32 == 0)
        atomicAdd(y, v);
}

int main()
{
    int *x, *y;
    cudaMalloc(&x, 16 * N * sizeof *x);
    cudaMalloc(&y, 16 * N * sizeof *y);
    cudaMemset(x, 0, 16 * N * sizeof *x);
    void (*kernels[])(int *, int *) = {lanes_of_a_warp, warp_tree, tiles_of_a_warp, what_a_wider_tile_knew,
                                       lanes_that_know_by_others, odd_lanes, shuffles};
    for (auto *kernel : kernels) {
        cudaMemset(y, 0, 16 * N * sizeof *y);
        kernel<<<1, N>>>(x, y);
    }
    cudaFree(x);
    cudaFree(y);
    printf("%d\n", (int)cudaDeviceSynchronize());
    return 0;
}
