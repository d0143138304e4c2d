// A transpose through a tile in shared memory, with the classic mistake: a column of the tile lies in one bank.
// smempipe kernel samples/kernels/transpose.cu shows the line, needs no GPU, and proposes a pad.
#include <cstdio>
#include <vector>

constexpr int TILE = 32, ROWS = 8;

__global__ void transpose(float *out, const float *in, int width, int height)
{
    __shared__ float tile[TILE][TILE]; // [TILE][TILE + 1] has no conflict
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

int main()
{
    const int n = 128;
    std::vector<float> in(n * n), out(n * n);
    for (int i = 0; i < n * n; i++)
        in[i] = i;
    float *from, *to;
    cudaMalloc(&from, n * n * sizeof(float));
    cudaMalloc(&to, n * n * sizeof(float));
    cudaMemcpy(from, in.data(), n * n * sizeof(float), cudaMemcpyHostToDevice);
    transpose<<<dim3(n / TILE, n / TILE), dim3(TILE, ROWS)>>>(to, from, n, n);
    cudaMemcpy(out.data(), to, n * n * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++)
            wrong += out[x * n + y] != in[y * n + x];
    printf("transpose: %s\n", wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
