// Memory and addresses by themselves (cuMemCreate, cuMemMap), in two processes.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(result, wanted)                                                                                          \
    do {                                                                                                               \
        const int is = (int)(result);                                                                                  \
        if (is != (int)(wanted))                                                                                       \
            printf("%d: %s is %d\n", __LINE__, #result, is), failed = 1;                                               \
    } while (0)

static int failed;
static const size_t PART = 2 << 20;
static CUmemAllocationProp device_memory()
{
    CUmemAllocationProp p = {};
    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    return p;
}
static const CUmemAccessDesc both = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};

__global__ void add(int *x, size_t n, int value)
{
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x[i] += value;
}

static int *map_file(int file)
{
    CUdeviceptr at = 0;
    CUmemGenericAllocationHandle h;
    CHECK(cuMemImportFromShareableHandle(&h, (void *)(uintptr_t)file, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR), 0);
    CHECK(cuMemAddressReserve(&at, PART, 0, 0, 0), 0);
    CHECK(cuMemMap(at, PART, 0, h, 0), 0);
    CHECK(cuMemRelease(h), 0);
    CHECK(cuMemSetAccess(at, PART, &both, 1), 0);
    return (int *)at;
}

static void refuse(CUdeviceptr at, CUmemGenericAllocationHandle h)
{
    CUmemAllocationProp p = device_memory(), odd = p;
    CUmemGenericAllocationHandle other;
    CUdeviceptr no;
    odd.location.id = 1;
    CHECK(cuMemCreate(&other, PART, &odd, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMemCreate(&other, PART + 1, &p, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMemAddressReserve(&no, PART, 3, 0, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMemImportFromShareableHandle(&other, (void *)0, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
          CUDA_ERROR_INVALID_VALUE);
    FILE *own = tmpfile(); // no memory of a device, for all its size
    CHECK(ftruncate(fileno(own), PART), 0);
    CHECK(cuMemImportFromShareableHandle(&other, (void *)(uintptr_t)fileno(own),
                                         CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
          CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMemMap(at, PART, 0, h, 0), CUDA_ERROR_INVALID_VALUE);            // something is there
    CHECK(cuMemMap(at + 2 * PART, PART, 0, h, 0), CUDA_ERROR_INVALID_VALUE); // not reserved
    CHECK(cuMemUnmap(at, PART / 2), CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMemSetAccess(at, 3 * PART, &both, 1), CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMemAddressFree(at, 2 * PART), CUDA_ERROR_INVALID_VALUE); // mapped
    CHECK(cuMemFree(at), CUDA_ERROR_INVALID_VALUE);
}

int main(int argc, char **argv)
{
    CUmemAllocationProp p = device_memory(), got = {};
    CUmemGenericAllocationHandle h[2];
    CUdeviceptr at = 0;
    size_t unit = 0;
    int file = -1, supported = 0, status = 1, value[2] = {}, ends[2] = {};
    char text[16];
    cudaFree(nullptr);
    if (argc > 1 && strcmp(argv[1], "unmapped")) { // the child
        add<<<2, 256>>>(map_file(atoi(argv[1])), PART / 4, 2);
        CHECK(cudaDeviceSynchronize(), 0);
        return failed;
    }
    cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0);
    CHECK(supported, 1);
    CHECK(cuMemGetAllocationGranularity(&unit, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM), 0);
    CHECK(unit, PART);
    CHECK(cuMemAddressReserve(&at, 2 * PART, 0, 0, 0), 0);
    for (int i = 0; i < 2; i++) {
        CHECK(cuMemCreate(&h[i], PART, &p, 0), 0);
        CHECK(cuMemMap(at + i * PART, PART, 0, h[i], 0), 0);
    }
    CHECK(cuMemsetD32(at, 5, 4), CUDA_ERROR_INVALID_VALUE); // nobody may
    CHECK(cuMemSetAccess(at, 2 * PART, &both, 1), 0);
    CHECK(cuMemsetD32(at, 5, PART / 2), 0); // across both
    refuse(at, h[0]);
    CHECK(cuMemGetAllocationPropertiesFromHandle(&got, h[1]), 0);
    CHECK(got.requestedHandleTypes, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    CHECK(cuMemExportToShareableHandle(&file, h[1], CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0), 0);
    CHECK(cuMemRelease(h[0]), 0);
    CHECK(cuMemRelease(h[0]), CUDA_ERROR_INVALID_VALUE);
    add<<<2, 256>>>((int *)at, PART / 2, 1);
    snprintf(text, sizeof text, "%d", file);
    if (!fork())
        execl(argv[0], argv[0], text, nullptr);
    wait(&status);
    CHECK(status, 0);
    CHECK(cuMemcpyDtoH(ends, at + PART - 4, 8), 0);
    CHECK(ends[0], 6);
    CHECK(ends[1], 8);
    int *again = map_file(file); // one memory at two places
    add<<<2, 256>>>(again, PART / 4, 1);
    cudaMemcpy(value, (int *)at + PART / 4, sizeof value, cudaMemcpyDeviceToHost);
    CHECK(value[0], 9);
    CHECK(cuMemUnmap(at, 2 * PART), 0);
    CHECK(cuMemAddressFree(at, 2 * PART), 0);
    if (argc > 1)
        add<<<1, 32>>>((int *)at, 32, 1);
    printf("virtual: %s\n", failed ? "FAIL" : "PASS");
}
