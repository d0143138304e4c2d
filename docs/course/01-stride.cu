// Every second of 512 samples: a stride of two words in shared memory, and what an unused word after each 32 does.

__global__ void halve(float *out, const float *in)
{
    __shared__ float s[512];
    int t = threadIdx.x;
    s[t] = in[t];
    s[t + 256] = in[t + 256];
    __syncthreads();
    out[t] = s[2 * t];
}

__device__ int at(int i) { return i + i / 32; }

__global__ void halve_padded(float *out, const float *in)
{
    __shared__ float s[512 + 512 / 32];
    int t = threadIdx.x;
    s[at(t)] = in[t];
    s[at(t + 256)] = in[t + 256];
    __syncthreads();
    out[t] = s[at(2 * t)];
}
