// Three transposes of 2048 x 2048 floats: by rows, through a tile of shared memory, and through a padded one.
// smempipe kernel samples/kernels/transposes.cu --time --compare --html times.html predicts how long each takes.
#include <cstdio>

constexpr int TILE = 32, ROWS = 8;

__global__ void naive(float *out, const float *in, int size)
{
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        out[x * size + y + j] = in[(y + j) * size + x];
}

template <int PAD> __device__ void through_tile(float *out, const float *in, int size)
{
    __shared__ float tile[TILE][TILE + PAD];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * size + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        out[(y + j) * size + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void tiled(float *out, const float *in, int size)
{
    through_tile<0>(out, in, size);
}

__global__ void padded(float *out, const float *in, int size)
{
    through_tile<1>(out, in, size);
}

int main()
{
    const int size = 2048;
    const dim3 grid(size / TILE, size / TILE), block(TILE, ROWS);
    float *in, *out;
    cudaMalloc(&in, size * size * sizeof(float));
    cudaMalloc(&out, size * size * sizeof(float));
    cudaMemset(in, 0, size * size * sizeof(float));
    naive<<<grid, block>>>(out, in, size);
    tiled<<<grid, block>>>(out, in, size);
    padded<<<grid, block>>>(out, in, size);
    const cudaError_t error = cudaDeviceSynchronize();
    printf("%s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
