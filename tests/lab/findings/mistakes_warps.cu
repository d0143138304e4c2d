// A mistake of a warp's lanes a kernel, marked as in mistakes.cu.
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;

enum { N = 128 };

__global__ void other_lanes_without_syncwarp(int *x, int *y)
{
    int t = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        x[t] = t; //! race
        y[t] = x[31 - t]; //! race
    }
}
__global__ void syncwarp_of_one_half(int *x, int *y)
{
    int t = threadIdx.x;
    x[t] = t; //! race
    if (t % 32 < 16)
        __syncwarp(0xffff);
    y[t] = x[t ^ 16]; //! race
}
__global__ void syncwarp_of_halves(int *x, int *y)
{
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = x[t]; //! race
    __syncwarp(0xffffu << (t & 16));
    y[t] = s[t ^ 31]; //! race
}
__global__ void tile_reads_another(int *x, int *y)
{
    __shared__ int s[N];
    s[threadIdx.x] = x[threadIdx.x]; //! race
    cg::tiled_partition<16>(cg::this_thread_block()).sync();
    y[threadIdx.x] = s[N - 1 - threadIdx.x]; //! race
}
__global__ void shuffle_from_outside(int *x)
{
    if (threadIdx.x < 16)
        x[threadIdx.x] = __shfl_sync(0xffff, threadIdx.x, threadIdx.x + 16); //! barrier
}
__global__ void shuffle_without_itself(int *x)
{
    if (threadIdx.x < 8)
        x[threadIdx.x] = __shfl_sync(0x0f, threadIdx.x, threadIdx.x & 3); //! barrier
}
__global__ void syncwarp_without_itself(int *x)
{
    if (threadIdx.x < 8)
        __syncwarp(0x0f); //! barrier
    x[threadIdx.x] = 1;
}
__global__ void syncwarp_of_two_masks(int *x)
{
    __syncwarp(threadIdx.x < 16 ? 0xffffu : ~0u); //! barrier
    x[threadIdx.x] = 1;
}
__global__ void shuffle_of_two_masks(int *x)
{
    x[threadIdx.x] = __shfl_xor_sync(threadIdx.x < 16 ? 0xffffu : ~0u, threadIdx.x, 1); //! barrier
}
__global__ void ballot_without_itself(int *x)
{
    if (threadIdx.x < 8)
        x[threadIdx.x] = __ballot_sync(0x0f, 1); //! barrier
}

int main()
{
    int *x, *y;
    cudaMalloc(&x, N * sizeof *x);
    cudaMalloc(&y, N * sizeof *y);
    cudaMemset(x, 0, N * sizeof *x);
    void (*of_two[])(int *, int *) = {other_lanes_without_syncwarp, syncwarp_of_one_half, syncwarp_of_halves,
                                      tile_reads_another};
    for (auto *kernel : of_two)
        kernel<<<1, N>>>(x, y);
    void (*of_one[])(int *) = {shuffle_from_outside, shuffle_without_itself, syncwarp_without_itself,
                               syncwarp_of_two_masks, shuffle_of_two_masks, ballot_without_itself};
    for (auto *kernel : of_one)
        kernel<<<1, 32>>>(x);
    cudaFree(x);
    cudaFree(y);
    printf("%d\n", (int)cudaDeviceSynchronize());
    return 0;
}
