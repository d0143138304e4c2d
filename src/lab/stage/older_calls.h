/* Calls that CUDA 13 took away, in terms of those that it has: programs of older tutorials and suites have them. The
 * text is a header that each compilation of a .cu file begins with; older toolkits have the calls themselves. */
#pragma once

static const char smp_older_calls[] =
    "#if defined __CUDACC__ && defined __NVCC__\n"
    "#include \"cuda_runtime.h\"\n"
    "#if CUDART_VERSION >= 13000 && !defined(cudaThreadSynchronize)\n"
    "#define cudaThreadSynchronize cudaDeviceSynchronize\n"
    "#define cudaThreadExit cudaDeviceReset\n"
    "inline cudaMemLocation smempipe_place(int device)\n"
    "{\n"
    "    cudaMemLocation place = {device < 0 ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice, {}};\n"
    "    place.id = device < 0 ? 0 : device;\n"
    "    return place;\n"
    "}\n"
    "inline cudaError_t cudaMemAdvise(const void *at, size_t size, cudaMemoryAdvise advice, int device)\n"
    "{\n"
    "    return cudaMemAdvise(at, size, advice, smempipe_place(device));\n"
    "}\n"
    "inline cudaError_t cudaMemPrefetchAsync(const void *at, size_t size, int device, cudaStream_t stream = 0)\n"
    "{\n"
    "    return cudaMemPrefetchAsync(at, size, smempipe_place(device), 0, stream);\n"
    "}\n"
    "#endif\n"
    "#endif\n";
