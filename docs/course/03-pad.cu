// The tile of a transpose with rows of 32 words, and of 33.

template <int PITCH>
__device__ void transpose(float *out, const float *in, int n, float (*tile)[PITCH])
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void plain(float *out, const float *in, int n)
{
    __shared__ float tile[32][32];
    transpose<32>(out, in, n, tile);
}

__global__ void padded(float *out, const float *in, int n)
{
    __shared__ float tile[32][32 + 1];
    transpose<33>(out, in, n, tile);
}
