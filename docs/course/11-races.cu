// Each thread averages its number and its neighbour's, in place: without a barrier, with one in a branch, and right.

__global__ void early(float *out, const float *in)
{
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = in[t];
    out[t] = (s[t] + s[(t + 1) % 128]) / 2;
}

__global__ void branch(float *out, const float *in)
{
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = in[t];
    if (t < 64)
        __syncthreads();
    out[t] = s[t];
}

__global__ void right(float *out, const float *in)
{
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    out[t] = (s[t] + s[(t + 1) % 128]) / 2;
}
