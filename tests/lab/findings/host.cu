// Mistakes in the host's calls. Each line is marked by a comment of ! and its kind, and by = where another line belongs
// to it: that of the allocation, or of the first cudaFree.
#include <cstdio>
#include <cuda_runtime.h>

enum { N = 256 };
__device__ int table[N];
__global__ void touch(int *x)
{
    x[threadIdx.x] = 1;
}
static int *make(size_t bytes)
{
    int *p;
    cudaMalloc(&p, bytes); //= too far, back too far, second half, clears too much, either way too far
    return p;
}
int main()
{
    static int host[2 * N];
    int *x = make(N * sizeof *x), *y, *z, *kept, *other;
    touch<<<1, N>>>(x);
    cudaMemcpy(x, host, 2 * N * sizeof *x, cudaMemcpyHostToDevice); //! copy too far
    cudaMemcpy(host, x, N * sizeof *x + 1, cudaMemcpyDeviceToHost); //! copy back too far
    cudaMemcpy(x + N / 2, host, N * sizeof *x, cudaMemcpyHostToDevice); //! copy second half
    cudaMemcpy(host, x, N * sizeof *x + 1, cudaMemcpyDefault); //! copy either way too far
    cudaMemcpy(host + N, host, N, cudaMemcpyDefault);
    cudaMemset(x, 0, N * sizeof *x + 4); //! copy clears too much
    cudaMemset(x + N, 0, sizeof *x); //! copy
    cudaMemset(host, 0, N); //! copy
    cudaMemcpy(host, x, sizeof *x, cudaMemcpyHostToDevice); //! copy
    cudaMemcpy(x, host, sizeof *x, cudaMemcpyDeviceToHost); //! copy
    cudaMalloc(&y, N * sizeof *y);
    cudaMemcpy(y, x, N * sizeof *x, cudaMemcpyHostToDevice); //! copy
    cudaMemcpy(y, nullptr, N, cudaMemcpyHostToDevice); //! copy
    cudaFree(y); //= after free, twice, default after free
    cudaFree(y); //! free twice
    cudaMemcpy(y, host, N, cudaMemcpyHostToDevice); //! copy after free
    cudaMemcpy(y, host, N, cudaMemcpyDefault); //! copy default after free
    cudaMalloc(&z, N * sizeof *z); //= inside
    cudaFree(z + 4); //! free inside
    cudaFree(host); //! free
    cudaFree(z);
    cudaMemcpyToSymbol(table, host, 2 * N * sizeof *host); //! copy
    size_t pitch;
    cudaMallocPitch(&z, &pitch, 600, 4); //= a row too many, rows too long
    cudaMemset2D(z, pitch, 0, 600, 5); //! copy a row too many
    cudaMemcpy2D(host, 400, z, pitch, 1025, 4, cudaMemcpyDeviceToHost); //! copy rows too long
    cudaFree(z);
    cudaMalloc(&kept, 16 * sizeof *kept); //! leak
    cudaMallocHost(&other, 32); //! leak
    cudaFree(x);
    printf("%d\n", (int)cudaGetLastError());
    return 0;
}
