// Running sums (Blelloch, 1990): up a tree and down again, with and without an unused word after each 32.

__global__ void plain(float *out, const float *in)
{
    __shared__ float s[512];
    int t = threadIdx.x;
    s[t] = in[t];
    s[t + 256] = in[t + 256];
    for (int step = 1; step < 512; step *= 2) {
        __syncthreads();
        int i = 2 * step * (t + 1) - 1;
        if (i < 512)
            s[i] += s[i - step];
    }
    for (int step = 128; step > 0; step /= 2) {
        __syncthreads();
        int i = 2 * step * (t + 1) - 1;
        if (i + step < 512)
            s[i + step] += s[i];
    }
    __syncthreads();
    out[t] = s[t];
    out[t + 256] = s[t + 256];
}

__device__ int at(int i) { return i + i / 32; }

__global__ void padded(float *out, const float *in)
{
    __shared__ float s[512 + 512 / 32];
    int t = threadIdx.x;
    s[at(t)] = in[t];
    s[at(t + 256)] = in[t + 256];
    for (int step = 1; step < 512; step *= 2) {
        __syncthreads();
        int i = 2 * step * (t + 1) - 1;
        if (i < 512)
            s[at(i)] += s[at(i - step)];
    }
    for (int step = 128; step > 0; step /= 2) {
        __syncthreads();
        int i = 2 * step * (t + 1) - 1;
        if (i + step < 512)
            s[at(i + step)] += s[at(i)];
    }
    __syncthreads();
    out[t] = s[at(t)];
    out[t + 256] = s[at(t + 256)];
}
