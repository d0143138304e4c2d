// Sums of eight classes: all lanes add to eight words, or each lane to a copy of its own.

__global__ void shared_sums(int *out, const int *in)
{
    __shared__ int sum[8];
    int t = threadIdx.x;
    if (t < 8)
        sum[t] = 0;
    __syncthreads();
    atomicAdd(&sum[in[t] & 7], in[t]);
    __syncthreads();
    if (t < 8)
        out[t] = sum[t];
}

__global__ void copies(int *out, const int *in)
{
    __shared__ int sum[8][32];
    int t = threadIdx.x;
    sum[t / 32][t % 32] = 0;
    __syncthreads();
    atomicAdd(&sum[in[t] & 7][t % 32], in[t]);
    __syncthreads();
    int all = sum[t / 32][t % 32]; // a warp a class
    for (int step = 16; step > 0; step /= 2)
        all += __shfl_down_sync(0xffffffff, all, step);
    if (t % 32 == 0)
        out[t / 32] = all;
}
