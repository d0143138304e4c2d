// Sixteen bytes a lane: a copy through shared memory, a float or a float4 at a time, and columns of float4.

__global__ void scalars(float *out, const float *in)
{
    __shared__ float s[1024];
    for (int i = threadIdx.x; i < 1024; i += 256)
        s[i] = in[i];
    __syncthreads();
    for (int i = threadIdx.x; i < 1024; i += 256)
        out[i] = s[i ^ 1023];
}

__global__ void vectors(float4 *out, const float4 *in)
{
    __shared__ float4 s[256];
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x ^ 255];
}

__global__ void columns(float4 *out, const float4 *in)
{
    __shared__ float4 s[32][8];
    int t = threadIdx.x;
    s[t / 8][t % 8] = in[t];
    __syncthreads();
    out[t] = s[t % 32][t / 32];
}

__global__ void swizzled(float4 *out, const float4 *in)
{
    __shared__ float4 s[32][8];
    int t = threadIdx.x;
    s[t / 8][t % 8 ^ t / 8 % 8] = in[t];
    __syncthreads();
    out[t] = s[t % 32][t / 32 ^ t % 8];
}
