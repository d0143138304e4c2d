/* A stand-in for CUDA's runtime library, for tests of `smempipe kernel --device cuda`: takes what a small program calls
 * and runs nothing. Its kernels count as the fake CUPTI says. FAKE_CUDA_FAILS: kernels have failed when waited for, or,
 * if it is "graphs", graphs that ran while the fake CUPTI counted (FAKE_CUPTI_ON, which it sets). */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

typedef struct shape {
    unsigned x, y, z;
} shape;

#define FAKE(name, params, body)                                                                                       \
    int name params;                                                                                                   \
    int name params                                                                                                    \
    {                                                                                                                  \
        body;                                                                                                          \
        return 0;                                                                                                      \
    }

FAKE(cudaMalloc, (void **p, size_t size), *p = calloc(1, size))
FAKE(cudaFree, (void *p), free(p))
FAKE(cudaMemset, (void *p, int value, size_t size), memset(p, value, size))
FAKE(cudaMemcpy, (void *to, const void *from, size_t size, int kind), (void)kind; memcpy(to, from, size))
static int graph_failed;
int cudaDeviceSynchronize(void);
int cudaDeviceSynchronize(void)
{
    const char *fails = getenv("FAKE_CUDA_FAILS");
    return !fails ? 0 : strcmp(fails, "graphs") != 0 || graph_failed ? 700 : 0;
}
FAKE(cudaStreamCreate, (void **stream), *stream = &graph_failed)
FAKE(cudaStreamBeginCapture, (void *stream, int mode), (void)stream; (void)mode)
FAKE(cudaStreamEndCapture, (void *stream, void **graph), *graph = stream)
FAKE(cudaGraphInstantiate, (void **run, void *graph, unsigned long long flags), (void)flags; *run = graph)
/* Takes a while, in which another thread may begin to count. */
static void run_graph(void)
{
    for (int i = 0; i < 100 && !graph_failed; i++) {
        graph_failed = getenv("FAKE_CUPTI_ON") != NULL;
        sched_yield();
    }
}
FAKE(cudaGraphLaunch, (void *run, void *stream), (void)run; (void)stream; run_graph())
const char *cudaGetErrorName(int error);
const char *cudaGetErrorName(int error)
{
    return error == 700 ? "cudaErrorIllegalAddress" : "cudaErrorUnknown";
}
FAKE(cudaGetDevice, (int *device), *device = 0)
FAKE(cudaFuncGetAttributes, (void *out, const void *function), (void)out; (void)function)
FAKE(__cudaPushCallConfiguration, (shape g, shape b, size_t s, void *stream), (void)g; (void)b; (void)s; (void)stream)
FAKE(__cudaPopCallConfiguration, (shape * g, shape *b, size_t *s, void *stream), (void)g; (void)b; (void)s;
     (void)stream)
FAKE(__cudaLaunchKernel, (const void *f, shape g, shape b, void **a, size_t s, void *stream), (void)f; (void)g; (void)b;
     (void)a; (void)s; (void)stream)
FAKE(cudaLaunchKernel, (const void *f, shape g, shape b, void **a, size_t s, void *stream), (void)f; (void)g; (void)b;
     (void)a; (void)s; (void)stream)
FAKE(__cudaGetKernel, (const void **kernel, const void *function), *kernel = function)
FAKE(__cudaRegisterFatBinaryEnd, (void **handle), (void)handle)
FAKE(__cudaUnregisterFatBinary, (void **handle), (void)handle)
FAKE(__cudaInitModule, (void **handle), (void)handle)
FAKE(__cudaRegisterFunction,
     (void **handle, const char *host, char *device, const char *name, int limit, void *tid, void *bid, void *block,
      void *grid, int *warp),
     (void)handle;
     (void)host; (void)device; (void)name; (void)limit; (void)tid; (void)bid; (void)block; (void)grid; (void)warp)

void **__cudaRegisterFatBinary(void *given);
void **__cudaRegisterFatBinary(void *given)
{
    static void *handle;
    (void)given;
    return &handle;
}

/* A function of the driver. */
int cuCtxGetCurrent(void **context);
int cuCtxGetCurrent(void **context)
{
    static int here;
    *context = &here;
    return 0;
}
