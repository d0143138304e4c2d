// Beginners' mistakes with the runtime library, one by one: what a GPU's library says of them.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

__global__ void fill(int *out)
{
    extern __shared__ int s[];
    s[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = s[threadIdx.x];
}

__global__ void __launch_bounds__(128) few(int *out) { out[threadIdx.x] = 1; }

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
    } else if (!strcmp(which, "large")) { // waiting tells what kernels did wrong alone
        fill<<<1, 2048>>>(out);
        const char *stream = cudaGetErrorString(cudaStreamSynchronize(nullptr));
        const char *device = cudaGetErrorString(cudaDeviceSynchronize());
        printf("%s, %s, %s\n", stream, device, last());
    } else if (!strcmp(which, "sizes")) {
        const dim3 grids[] = {0, dim3(1, 65536), 1, 1, 1, 1}, blocks[] = {32, 32, 0, dim3(1, 1, 65), dim3(32, 64), 32};
        for (int i = 0; i < 6; i++) {
            fill<<<grids[i], blocks[i], 128>>>(out);
            printf("%s, ", cudaGetErrorName(cudaGetLastError()));
        }
        few<<<1, 256>>>(out);
        const cudaError_t bounds = cudaGetLastError();
        void *given[] = {&out};
        cudaLaunchKernel((const void *)last, dim3(1), dim3(32), given, 0, nullptr);
        printf("%s, %s\n", cudaGetErrorName(bounds), cudaGetErrorName(cudaGetLastError()));
    } else if (!strcmp(which, "threads")) {
        std::vector<std::thread> threads;
        int wrong[4] = {0};
        for (int t = 0; t < 4; t++)
            threads.emplace_back([t, &wrong] {
                for (int i = 0; i < 50; i++) {
                    int *mine, back[32] = {0};
                    cudaMalloc(&mine, 128 + 4096 * t);
                    fill<<<1, 32, 128>>>(mine);
                    cudaMemcpy(back, mine, 128, cudaMemcpyDeviceToHost);
                    cudaFree(mine);
                    for (int k = 0; k < 32; k++)
                        wrong[t] += back[k] != k;
                }
            });
        for (std::thread &one : threads)
            one.join();
        printf("%d wrong\n", wrong[0] + wrong[1] + wrong[2] + wrong[3]);
    } else if (!strcmp(which, "again")) {
        int failed = 0;
        for (int i = 0; i < 2000; i++) {
            void *large = nullptr;
            failed += cudaMalloc(&large, (size_t)2 << 30) != cudaSuccess || cudaFree(large) != cudaSuccess;
        }
        printf("%d failed\n", failed);
    } else if (!strcmp(which, "unasked"))
        fill<<<1, 32, 50000>>>(out);
    else if (!strcmp(which, "empty"))
        fill<<<0, 32>>>(out);
    else if (!strcmp(which, "device")) {
        const char *set = cudaGetErrorString(cudaSetDevice(1));
        const char *info = cudaGetErrorString(cudaMemGetInfo(nullptr, nullptr));
        printf("%s, %s, %s\n", set, info, cudaGetErrorString(cudaGetDeviceCount(nullptr)));
    } else if (!strcmp(which, "exit")) {
        fill<<<1, 32, 128>>>(out);
        exit(700);
    } else if (!strcmp(which, "null") || !strcmp(which, "host") || !strcmp(which, "freed") ||
               !strcmp(which, "below") || !strcmp(which, "far")) {
        int *wrong = !strcmp(which, "null")    ? nullptr
                     : !strcmp(which, "below") ? (int *)(uintptr_t)-128
                     : !strcmp(which, "host")  ? (int *)malloc(128)
                     : !strcmp(which, "far")   ? out + (4 << 20)
                                               : out;
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
