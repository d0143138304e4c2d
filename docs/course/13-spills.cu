// Numbers of a thread's own: in an array that a variable indexes, in registers, and in more registers than there are.

__global__ void indexed(float *out, const float *in, const int *order)
{
    float own[8];
    int t = threadIdx.x;
    for (int i = 0; i < 8; i++)
        own[i] = in[t + 128 * i];
    float sum = 0;
    for (int i = 0; i < 8; i++)
        sum = sum / 2 + own[order[i] & 7];
    out[t] = sum;
}

__global__ void known(float *out, const float *in)
{
    float own[8];
    int t = threadIdx.x;
    for (int i = 0; i < 8; i++)
        own[i] = in[t + 128 * i];
    float sum = 0;
    for (int i = 0; i < 8; i++)
        sum = sum / 2 + own[i * 3 & 7];
    out[t] = sum;
}

__global__ void __launch_bounds__(1024, 2) crowded(float *out, const float *in)
{
    float own[40];
    for (int i = 0; i < 40; i++)
        own[i] = in[threadIdx.x + 1024 * i];
    __syncthreads();
    for (int i = 0; i < 40; i++)
        out[threadIdx.x + 1024 * i] = own[39 - i] * own[i * 7 % 40];
}

__global__ void __launch_bounds__(1024, 1) roomy(float *out, const float *in)
{
    float own[40];
    for (int i = 0; i < 40; i++)
        own[i] = in[threadIdx.x + 1024 * i];
    __syncthreads();
    for (int i = 0; i < 40; i++)
        out[threadIdx.x + 1024 * i] = own[39 - i] * own[i * 7 % 40];
}
