// Each load says where the next one is: a chain a thread, or four chains in each of a fourth of the threads.

__global__ void one_chain(int *out, const int *in)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, apart = gridDim.x * blockDim.x, at = t;
    for (int i = 0; i < 16; i++)
        at += apart + in[at];
    out[t] = at;
}

__global__ void four_chains(int *out, const int *in)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, apart = 4 * gridDim.x * blockDim.x;
    int a = t, b = t + apart / 4, c = t + apart / 2, d = t + apart / 4 * 3;
    for (int i = 0; i < 16; i++) {
        a += apart + in[a];
        b += apart + in[b];
        c += apart + in[c];
        d += apart + in[d];
    }
    out[t] = a + b + c + d;
}
