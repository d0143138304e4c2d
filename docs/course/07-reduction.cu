// The sum of 512 numbers by a tree in shared memory: neighbours first, or halves first.

__global__ void neighbours(float *out, const float *in)
{
    __shared__ float s[512];
    int t = threadIdx.x;
    s[t] = in[t];
    s[t + 256] = in[t + 256];
    for (int step = 1; step < 512; step *= 2) {
        __syncthreads();
        int i = 2 * step * t;
        if (i < 512)
            s[i] += s[i + step];
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

__global__ void halves(float *out, const float *in)
{
    __shared__ float s[512];
    int t = threadIdx.x;
    s[t] = in[t];
    s[t + 256] = in[t + 256];
    for (int step = 256; step > 0; step /= 2) {
        __syncthreads();
        if (t < step)
            s[t] += s[t + step];
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}
