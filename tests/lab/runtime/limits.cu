// What the runtime tells of a kernel's limits, launches that a GPU refuses, and small functions of the API.
#include <cstdint>
#include <cstring>

#include "check.h"

__global__ void __launch_bounds__(64) bound(int *out) { out[threadIdx.x] = 1; }

// So many registers that 1024 threads have none for all.
__global__ void many(float *x, int n)
{
    float a[80];
    for (int i = 0; i < 80; i++)
        a[i] = x[i * 32 + threadIdx.x % 32];
    for (int k = 0; k < n; k++)
        for (int i = 0; i < 80; i++)
            a[i] = a[i] * a[(i + 1) % 80] + k;
    for (int i = 0; i < 80; i++)
        x[i * 32 + threadIdx.x % 32] = a[i];
}

static void CUDART_CB called(cudaStream_t, cudaError_t status, void *data) { *static_cast<int *>(data) = 1 + status; }

static int launches()
{
    int *out, blocks, grid, threads;
    cudaFuncAttributes attributes;
    CHECK(!cudaMalloc(&out, 4096));
    CHECK(!cudaFuncGetAttributes(&attributes, bound) && attributes.maxThreadsPerBlock == 64);
    CHECK(!cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bound, 64, 0) && blocks > 0);
    CHECK(!cudaOccupancyMaxPotentialBlockSize(&grid, &threads, bound) && threads == 64);
    bound<<<1, 128>>>(out);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    const dim3 sizes[][2] = {{1, 2048}, {0, 32}, {1, 0}, {dim3(1, 70000), 32}, {1, dim3(1, 1, 65)}};
    for (const auto &size : sizes) {
        many<<<size[0], size[1]>>>(nullptr, 0);
        CHECK(cudaGetLastError() == cudaErrorInvalidValue); // as an H200 answers, not InvalidConfiguration
    }
    many<<<1, 32, 300000>>>(nullptr, 0);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    bound<<<1, 64>>>(out);
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(!cudaFuncGetAttributes(&attributes, many) && attributes.numRegs > 64 && attributes.maxThreadsPerBlock < 1024);
    CHECK(!cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, many, 1024, 0) && blocks == 0);
    many<<<1, 1024>>>(reinterpret_cast<float *>(out), 1);
    CHECK(cudaGetLastError() == cudaErrorLaunchOutOfResources);
    return 0;
}

__global__ void set(int *out, int value) { out[threadIdx.x] = value; }

static int registered()
{
    static int all[80], *const host = all + 16;
    const size_t size = 64 * sizeof *host;
    int *device = nullptr;
    CHECK(cudaHostGetDevicePointer(&device, host, 0) == cudaErrorInvalidValue);
    CHECK(cudaHostUnregister(host) == cudaErrorHostMemoryNotRegistered);
    CHECK(!cudaHostRegister(host, size, cudaHostRegisterMapped));
    CHECK(cudaHostRegister(host, size, 0) == cudaErrorHostMemoryAlreadyRegistered);
    CHECK(!cudaHostGetDevicePointer(&device, host, 0) && device == host);
    int *pinned, *on_device;
    CHECK(!cudaMallocHost(&pinned, 4096) && !cudaMalloc(&on_device, 4096));
    for (int *other : {pinned, pinned + 16, on_device, host + 8, all + 8})
        CHECK(cudaHostRegister(other, 64, 0) == cudaErrorHostMemoryAlreadyRegistered);
    CHECK(!strcmp(cudaGetErrorName(cudaGetLastError()), "cudaErrorHostMemoryAlreadyRegistered"));
    CHECK(!cudaHostRegister(all, 64, 0) && !cudaHostUnregister(all));
    CHECK(cudaHostRegister(all, SIZE_MAX - 64, 0) == cudaErrorInvalidValue);
    set<<<1, 32>>>(device, 5);
    set<<<1, 32>>>(host + 32, 6);
    CHECK(!cudaDeviceSynchronize() && host[3] == 5 && host[40] == 6);
    CHECK(!cudaHostUnregister(host));
    set<<<1, 32>>>(device, 7);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress && host[3] == 5);
    return 0;
}

static int functions()
{
    cudaPitchedPtr cube;
    const cudaExtent extent = make_cudaExtent(70, 3, 2);
    static unsigned char host[2][3][70];
    cudaMemcpy3DParms copy = {};
    int done = 0, device = 1;
    unsigned flags;
    char bus[32];
    CHECK(!cudaMalloc3D(&cube, extent) && cube.pitch >= 70 && cube.xsize == 70 && cube.ysize == 3);
    CHECK(!cudaMemset3D(cube, 9, extent));
    copy.srcPtr = cube;
    copy.dstPtr = make_cudaPitchedPtr(host, 70, 70, 3);
    copy.extent = extent;
    copy.kind = cudaMemcpyDeviceToHost;
    CHECK(!cudaMemcpy3D(&copy) && host[0][0][0] == 9 && host[1][2][69] == 9);
    CHECK(!cudaMemset(cube.ptr, 4, 70));
    CHECK(!cudaMemcpyPeer(static_cast<char *>(cube.ptr) + cube.pitch, 0, cube.ptr, 0, 70));
    CHECK(!cudaMemcpy3D(&copy) && host[0][1][69] == 4 && host[0][2][0] == 9);
    CHECK(!cudaStreamAddCallback(nullptr, called, &done, 0) && !cudaDeviceSynchronize() && done == 1);
    CHECK(!cudaGetDeviceFlags(&flags) && (flags & cudaDeviceMapHost));
    CHECK(!cudaDeviceGetPCIBusId(bus, sizeof bus, 0) && strlen(bus) == 12);
    CHECK(!cudaDeviceGetByPCIBusId(&device, bus) && device == 0);
    CHECK(cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat).x == 32);
    return 0;
}

int main() { return launches() || functions() || registered(); }
