/* The driver's calls and NVRTC, right and wrong ones: "driver: PASS" where each gives what a GPU's driver gives. Of an
 * argument, "race" has the kernel race, and another is a file of it to load. */
#include <cuda.h>
#include <cuda_runtime.h>
#include <nvrtc.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

static int failures;
static void expect(const char *what, long long got, long long wanted)
{
    if (got != wanted)
        printf("%s: %lld, not %lld\n", what, got, wanted), failures++;
}
#define IS(wanted, call) expect(#call, call, wanted)
#define RUNS(call)       IS(CUDA_SUCCESS, call)
#if CUDA_VERSION < 13000
#define CREATE(context) cuCtxCreate(context, 0, device)
#else
static CUctxCreateParams params;
#define CREATE(context) cuCtxCreate(context, &params, 0, device)
#endif

static std::string compile(bool race, bool cubin)
{
    const std::string here(__FILE__), path = here.substr(0, here.rfind('/') + 1) + "reversed.cu";
    std::stringstream source;
    source << std::ifstream(path).rdbuf();
    nvrtcProgram p;
    size_t size = 0;
    const char *const options[] = {cubin ? "--gpu-architecture=sm_90" : "--gpu-architecture=compute_80", "-DRACE"};
    expect("create", nvrtcCreateProgram(&p, source.str().c_str(), path.c_str(), 0, nullptr, nullptr), 0);
    expect("compile", nvrtcCompileProgram(p, 1 + race, options), 0);
    expect("size", cubin ? nvrtcGetCUBINSize(p, &size) : nvrtcGetPTXSize(p, &size), 0);
    std::string code(size, 0);
    expect("code", cubin ? nvrtcGetCUBIN(p, &code[0]) : nvrtcGetPTX(p, &code[0]), 0);
    expect("destroy", nvrtcDestroyProgram(&p), 0);
    return code;
}

enum { N = 64 };

static void launches(CUmodule module, bool by_buffer, int factor)
{
    CUfunction f;
    CUdeviceptr x, constant;
    size_t bytes;
    int in[N], out[N], n = N, wrong = 0, value = 0;
    short add = 7;
    for (int i = 0; i < N; i++)
        in[i] = i * i;
    RUNS(cuModuleGetFunction(&f, module, "reversed"));
    RUNS(cuModuleGetGlobal(&constant, &bytes, module, "factor"));
    expect("bytes of factor", bytes, sizeof factor);
    RUNS(cuMemcpyHtoD(constant, &factor, sizeof factor));
    RUNS(cuMemAlloc(&x, sizeof in));
    RUNS(cuMemcpyHtoD(x, in, sizeof in));
    struct {
        CUdeviceptr x;
        short add;
        int n;
    } buffer = {x, add, n};
    size_t size = sizeof buffer;
    void *places[] = {&x, &add, &n}, *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer,
                                                 CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    RUNS(cuLaunchKernel(f, 1, 1, 1, N, 1, 1, sizeof in, nullptr, by_buffer ? nullptr : places,
                        by_buffer ? extra : nullptr));
    RUNS(cuCtxSynchronize());
    RUNS(cuMemcpyDtoH(out, x, sizeof out));
    for (int i = 0; i < N; i++)
        wrong += out[i] != in[N - 1 - i] * factor + add;
    expect("values that are wrong", wrong, 0);
    RUNS(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f));
    expect("threads of a block", value, 1024);
    RUNS(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, f, 1024, 0));
    expect("blocks", value, 2);
    size = 4;
    IS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(f, 1, 1, 1, N, 1, 1, 0, nullptr, nullptr, extra));
    IS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(f, 1, 1, 1, N, 1, 1, 0, nullptr, nullptr, nullptr));
    IS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(f, 1, 1, 1, N, 1, 1, 0, nullptr, (void **)16, nullptr));
    RUNS(cuMemFree(x));
}

/* What a stream is captured into is not done yet. copy: of rows of the host's, whose first letter is changed */
static void captured(CUDA_MEMCPY2D *copy, const char *there)
{
    CUstream stream;
    cudaGraph_t graph;
    size_t nodes = 0;
    char letter = '?';
    RUNS(cuStreamCreate(&stream, 0));
    IS(cudaSuccess, cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    ((char *)copy->srcHost)[0] = 'A';
    RUNS(cuMemcpy2DAsync(copy, stream));
    IS(cudaSuccess, cudaStreamEndCapture(stream, &graph));
    IS(cudaSuccess, cudaGraphGetNodes(graph, nullptr, &nodes));
    expect("nodes", nodes, 1);
    RUNS(cuMemcpyDtoH(&letter, copy->dstDevice + copy->dstXInBytes, 1));
    expect("a letter that a graph is to copy", letter, there[1]);
    RUNS(cuStreamDestroy(stream));
    IS(CUDA_ERROR_INVALID_HANDLE, cuMemcpy2DAsync(copy, stream));
}

static void memory()
{
    CUdeviceptr p;
    size_t pitch;
    unsigned short words[8] = {0};
    char rows[3][5], text[] = "abcdefghijklmno";
    RUNS(cuMemAllocPitch(&p, &pitch, 5, 3, 4));
    RUNS(cuMemsetD2D8(p, pitch, 'x', 5, 3));
    CUDA_MEMCPY2D c = {};
    c.srcMemoryType = CU_MEMORYTYPE_HOST, c.srcHost = text, c.srcPitch = 5;
    c.dstMemoryType = CU_MEMORYTYPE_DEVICE, c.dstDevice = p, c.dstPitch = pitch, c.dstXInBytes = 1;
    c.WidthInBytes = 3, c.Height = 2;
    RUNS(cuMemcpy2D(&c));
    CUDA_MEMCPY2D back = {};
    back.srcMemoryType = CU_MEMORYTYPE_DEVICE, back.srcDevice = p, back.srcPitch = pitch;
    back.dstMemoryType = CU_MEMORYTYPE_HOST, back.dstHost = rows, back.dstPitch = 5;
    back.WidthInBytes = 5, back.Height = 3;
    RUNS(cuMemcpy2D(&back));
    expect("rows", memcmp(rows, "xabcxxfghxxxxxx", 15), 0);
    back.Height = 1 << 20;
    IS(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&back));
    captured(&c, rows[0]);
    c.srcHost = (void *)4096;
    IS(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&c));
    RUNS(cuMemsetD16(p, 0x1234, 8));
    RUNS(cuMemcpyDtoH(words, p, sizeof words));
    expect("a word", words[7], 0x1234);
    IS(CUDA_ERROR_INVALID_VALUE, cuMemsetD16(p + 1, 0, 1));
    IS(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(p, 0, SIZE_MAX / 4 + 3));
    IS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(p, (void *)4096, 8));
    IS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(4096, text, 8));
    IS(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(text, p, 1 << 20));
    RUNS(cuMemFree(p));
    IS(CUDA_ERROR_INVALID_VALUE, cuMemFree(p));
    IS(CUDA_ERROR_INVALID_VALUE, cuMemFree(12345));
    IS(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&p, 0));
}

static void wrong_handles(CUmodule module, CUcontext other)
{
    CUfunction f;
    CUdeviceptr p;
    CUmodule m;
    CUevent event;
    CUstream stream;
    float ms;
    char wild[64] = "no handle at all", page[8192];
    static const char lie[64] = {0x50, (char)0xed, 0x55, (char)0xba, 1, 0, 16, 0, -1, -1, -1, 0, 0, 0, 0, 0};
    static const char head[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
    memset(page, 'q', sizeof page);
    page[8191] = 0;
    IS(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&m, page));
    IS(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&m, lie));
    IS(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&m, head));
    IS(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&m, (void *)4096));
    IS(CUDA_ERROR_INVALID_PTX, cuModuleLoadData(&m, ".version 8.0\n.target sm_90\nnonsense"));
    IS(CUDA_ERROR_INVALID_VALUE, cuModuleLoadData(&m, nullptr));
    IS(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&m, "nowhere.ptx"));
    IS(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&f, module, "nothing"));
    IS(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal(&p, nullptr, module, "nothing"));
    IS(CUDA_ERROR_INVALID_HANDLE, cuModuleGetFunction(&f, (CUmodule)wild, "reversed"));
    IS(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel((CUfunction)wild, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0));
    IS(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize((CUstream)wild));
    IS(CUDA_ERROR_INVALID_HANDLE, cuEventRecord((CUevent)wild, nullptr));
    IS(CUDA_ERROR_INVALID_CONTEXT, cuCtxSetCurrent((CUcontext)wild));
    IS(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy(other));
    RUNS(cuStreamCreate(&stream, 0));
    RUNS(cuEventCreate(&event, 0));
    RUNS(cuEventRecord(event, stream));
    RUNS(cuEventElapsedTime(&ms, event, event));
    RUNS(cuStreamDestroy(stream));
    RUNS(cuEventDestroy(event));
    IS(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(stream));
    IS(CUDA_ERROR_INVALID_HANDLE, cuEventSynchronize(event));
    IS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetName(wild, 64, 3));
    CUuuid uuid;
    RUNS(cuDeviceGetUuid(&uuid, 0));
    RUNS(cuDeviceGetName(wild, 64, 0));
    expect("letters of the name in its uuid", memcmp(uuid.bytes, wild, 4) == 0, 0);
}

int main(int count, char **words)
{
    CUcontext context, other, current;
    CUdevice device;
    CUmodule module;
    CUfunction f;
    CUdeviceptr p;
    int devices = 0;
    void *found = nullptr;
    const char *name = nullptr;
    char log[200] = "?";
    IS(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&devices));
    RUNS(cuInit(0));
    IS(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&p, 4));
    RUNS(cuDeviceGet(&device, 0));
    RUNS(CREATE(&context));
    RUNS(CREATE(&other));
    RUNS(cuCtxPopCurrent(&current));
    expect("the current context", current == other, 1);
    RUNS(cuCtxDestroy(other));
    const std::string ptx = compile(false, false), cubin = compile(count > 1 && !strcmp(words[1], "race"), true);
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log};
    RUNS(cuModuleLoadDataEx(&module, ptx.c_str(), 2, options, values));
    expect("letters of the log", (long long)(size_t)values[1] + (long long)strlen(log), 0);
    launches(module, false, 3);
    RUNS(cuModuleUnload(module));
    IS(CUDA_ERROR_INVALID_HANDLE, cuModuleGetFunction(&f, module, "reversed"));
    if (count > 1 && strcmp(words[1], "race")) {
        RUNS(cuModuleLoad(&module, words[1]));
        launches(module, false, 4);
        RUNS(cuModuleUnload(module));
    }
    RUNS(cuModuleLoadData(&module, cubin.c_str()));
    launches(module, true, 5);
    memory();
    wrong_handles(module, other);
    RUNS(cuGetProcAddress("cuMemAlloc", &found, CUDA_VERSION, 0, nullptr));
    expect("the function of that name", ((CUresult(*)(CUdeviceptr *, size_t))found)(&p, 16), CUDA_SUCCESS);
    RUNS(cuMemFree(p));
    RUNS(cuGetErrorName(CUDA_ERROR_INVALID_PTX, &name));
    expect("its name", strcmp(name, "CUDA_ERROR_INVALID_PTX"), 0);
    IS(CUDA_ERROR_INVALID_VALUE, cuGetErrorName((CUresult)12345, &name));
    RUNS(cuModuleGetFunction(&f, module, "reversed"));
    RUNS(cuCtxDestroy(context));
    IS(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize());
    IS(CUDA_ERROR_INVALID_CONTEXT, cuCtxPushCurrent(context));
    printf("driver: %s\n", failures ? "FAIL" : "PASS");
    return failures != 0;
}
