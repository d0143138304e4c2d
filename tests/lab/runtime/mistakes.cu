// Beginners' mistakes with the runtime library, one by one: what a GPU's library says of them.
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void fill(int *out)
{
    extern __shared__ int s[];
    s[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = s[threadIdx.x];
}

static const char *last() { return cudaGetErrorString(cudaGetLastError()); }

int main(int, char **arguments)
{
    const char *which = arguments[1];
    int *out;
    cudaMalloc(&out, 128);
    if (!strcmp(which, "shared")) {
        const int sizes[] = {49152, 49156, 232452};
        for (int bytes : sizes) {
            fill<<<1, 32, bytes>>>(out);
            printf("%d: %s\n", bytes, last());
        }
        cudaFuncSetAttribute(fill, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000);
        fill<<<1, 32, 100000>>>(out);
        printf("asked: %s\n", last());
    } else if (!strcmp(which, "unasked"))
        fill<<<1, 32, 50000>>>(out);
    else if (!strcmp(which, "empty"))
        fill<<<0, 32>>>(out);
    else if (!strcmp(which, "device")) {
        const char *set = cudaGetErrorString(cudaSetDevice(1));
        const char *info = cudaGetErrorString(cudaMemGetInfo(nullptr, nullptr));
        printf("%s, %s, %s\n", set, info, cudaGetErrorString(cudaGetDeviceCount(nullptr)));
    } else if (!strcmp(which, "null") || !strcmp(which, "host") || !strcmp(which, "freed")) {
        int *wrong = !strcmp(which, "null") ? nullptr : !strcmp(which, "host") ? (int *)malloc(128) : out;
        if (wrong == out)
            cudaFree(out);
        fill<<<1, 32, 128>>>(wrong);
        const char *first = cudaGetErrorString(cudaDeviceSynchronize());
        fill<<<1, 32, 128>>>(wrong);
        printf("%s, then %s\n", first, cudaGetErrorString(cudaMalloc(&out, 128)));
    } else {
        int *both;
        cudaMallocManaged(&both, 128);
        fill<<<1, 32, 128>>>(!strcmp(which, "managed") ? both : out);
        cudaDeviceSynchronize();
        if (!strcmp(which, "segfault")) {
            printf("printed before\n");
            *(volatile int *)8 = 1;
        }
        int sum = 0;
        for (int i = 0; i < 32; i++)
            sum += !strcmp(which, "managed") ? both[i] : out[i];
        printf("sum %d\n", sum);
    }
    return 0;
}
