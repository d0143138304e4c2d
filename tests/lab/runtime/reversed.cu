/* What driver.cpp loads. */
__constant__ int factor = 2;

extern "C" __global__ void reversed(int *x, short add, int n)
{
    extern __shared__ int t[];
    const int i = threadIdx.x;
    t[i] = x[i];
#ifndef RACE
    __syncthreads();
#endif
    x[i] = t[n - 1 - i] * factor + add;
}
