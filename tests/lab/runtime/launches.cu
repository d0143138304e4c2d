// Kernels that launch kernels (nvcc -rdc=true): one after another in a block's stream, at once, behind the whole grid,
// in streams of their own, with what those launch; copies, fills and memory on the device. With "deep": launches one in
// another until there is no more.
#include <cstring>

#include "check.h"

__device__ int order[16], noted;

__global__ void note(int who)
{
    if (!threadIdx.x)
        order[noted++] = who;
}

__global__ void note_two(int who)
{
    note<<<1, 32>>>(who);
    note<<<1, 32>>>(who + 1);
}

// The tail comes behind all others and what they launch, though it is asked for first.
__global__ void in_order()
{
    note<<<1, 1, 0, cudaStreamTailLaunch>>>(5);
    note<<<1, 64>>>(1);
    note_two<<<1, 1>>>(2);
    note<<<1, 1>>>(4);
}

// A column of a tile: its bank conflicts are those of all launches together.
__global__ void turn(float *to, const float *from, int size)
{
    __shared__ float tile[32][32];
    for (int y = threadIdx.y; y < 32; y += blockDim.y)
        tile[y][threadIdx.x] = from[y * size + threadIdx.x];
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += blockDim.y)
        to[y * size + threadIdx.x] = tile[threadIdx.x][y];
}

// Each thread launches a tile's kernel, in a stream of its own.
__global__ void turn_all(float *to, const float *from, int size)
{
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    const int x = threadIdx.x * 32, y = threadIdx.y * 32;
    turn<<<1, dim3(32, 8), 0, stream>>>(to + x * size + y, from + y * size + x, size);
    cudaStreamDestroy(stream);
}

__global__ void halves(const int *from, int count, int *sum)
{
    extern __shared__ int part[];
    if (count > 64) {
        if (threadIdx.x < 2)
            halves<<<1, 32, 32 * sizeof(int), cudaStreamFireAndForget>>>(from + threadIdx.x * count / 2, count / 2,
                                                                         sum);
        return;
    }
    part[threadIdx.x] = from[threadIdx.x] + from[threadIdx.x + 32];
    __syncwarp();
    if (!threadIdx.x) {
        for (int i = 1; i < 32; i++)
            part[0] += part[i];
        atomicAdd(sum, part[0]);
    }
}

__global__ void copies(int *a, int *b, int **own)
{
    cudaMemsetAsync(a, 0, 64 * sizeof(int), 0); // CUDA 13.0 on an H200 writes 0 whatever is asked for
    cudaMemcpyAsync(b, a, 64 * sizeof(int), cudaMemcpyDeviceToDevice, 0);
    if (cudaMalloc(own, 64) == cudaSuccess)
        (*own)[3] = 9;
    cudaFree(*own);
}

__global__ void deeper(int depth, int *most)
{
    *most = depth;
    deeper<<<1, 1>>>(depth + 1, most);
    if (cudaGetLastError() != cudaSuccess)
        printf("no launch below %d\n", depth);
}

static int deep()
{
    int *most;
    CHECK(!cudaMallocManaged(&most, sizeof *most));
    deeper<<<1, 1>>>(0, most);
    CHECK(!cudaDeviceSynchronize());
    printf("launches.cu: the deepest is %d\n", *most);
    return 0;
}

int main(int argc, char **argv)
{
    enum { SIZE = 64, COUNT = 256 };
    int seen[16], held;
    float *from, *to;
    int *numbers, *sum, *a, *b, **own;
    if (argc > 1 && !strcmp(argv[1], "deep"))
        return deep();
    in_order<<<1, 1>>>();
    CHECK(!cudaDeviceSynchronize() && !cudaMemcpyFromSymbol(seen, order, sizeof seen));
    CHECK(!cudaMemcpyFromSymbol(&held, noted, sizeof held) && held == 5);
    for (int i = 0; i < 5; i++)
        CHECK(seen[i] == i + 1);
    CHECK(!cudaMallocManaged(&from, SIZE * SIZE * sizeof *from) && !cudaMallocManaged(&to, SIZE * SIZE * sizeof *to));
    for (int i = 0; i < SIZE * SIZE; i++)
        from[i] = i;
    turn_all<<<1, dim3(2, 2)>>>(to, from, SIZE);
    CHECK(!cudaDeviceSynchronize());
    for (int i = 0; i < SIZE * SIZE; i++)
        CHECK(to[i] == from[i % SIZE * SIZE + i / SIZE]);
    CHECK(!cudaMallocManaged(&numbers, COUNT * sizeof *numbers) && !cudaMallocManaged(&sum, sizeof *sum));
    for (int i = 0; i < COUNT; i++)
        numbers[i] = i;
    *sum = 0;
    halves<<<1, 32, 32 * sizeof(int)>>>(numbers, COUNT, sum);
    CHECK(!cudaDeviceSynchronize() && *sum == COUNT * (COUNT - 1) / 2);
    CHECK(!cudaMallocManaged(&a, SIZE * sizeof *a) && !cudaMallocManaged(&b, SIZE * sizeof *b));
    CHECK(!cudaMalloc(&own, sizeof *own));
    for (int i = 0; i < SIZE; i++)
        a[i] = b[i] = 7;
    copies<<<1, 1>>>(a, b, own);
    CHECK(!cudaDeviceSynchronize());
    for (int i = 0; i < SIZE; i++)
        CHECK(!a[i] && !b[i]);
    for (void *p : {(void *)from, (void *)to, (void *)numbers, (void *)sum, (void *)a, (void *)b, (void *)own})
        CHECK(!cudaFree(p));
    printf("launches.cu: right\n");
    return 0;
}
