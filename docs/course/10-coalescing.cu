// The sum of each row of a matrix with 256 columns: a thread a row, or a warp a row.

__global__ void by_thread(float *out, const float *in)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int c = 0; c < 256; c++)
        sum += in[row * 256 + c];
    out[row] = sum;
}

__global__ void by_warp(float *out, const float *in)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int c = lane; c < 256; c += 32)
        sum += in[row * 256 + c];
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, step);
    if (lane == 0)
        out[row] = sum;
}
