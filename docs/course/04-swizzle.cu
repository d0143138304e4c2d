// A transpose through a tile without a pad: element [r][c] is kept at [r][c ^ r].

__global__ void plain(float *out, const float *in, int n)
{
    __shared__ float tile[32][32];
    int tx = threadIdx.x, x = blockIdx.x * 32 + tx, y = blockIdx.y * 32, left = blockIdx.x * 32;
    for (int r = threadIdx.y; r < 32; r += 8)
        tile[r][tx] = in[(y + r) * n + x];
    __syncthreads();
    for (int r = threadIdx.y; r < 32; r += 8)
        out[(left + r) * n + y + tx] = tile[tx][r];
}

__global__ void xored(float *out, const float *in, int n)
{
    __shared__ float tile[32][32];
    int tx = threadIdx.x, x = blockIdx.x * 32 + tx, y = blockIdx.y * 32, left = blockIdx.x * 32;
    for (int r = threadIdx.y; r < 32; r += 8)
        tile[r][tx ^ r] = in[(y + r) * n + x];
    __syncthreads();
    for (int r = threadIdx.y; r < 32; r += 8)
        out[(left + r) * n + y + tx] = tile[tx][r ^ tx];
}
