/* Launches. Each runs at once; results are written when the program ends. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cudart/runtime.h"

enum { MOST_DEPTH = 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static smp_warp_memory *memory;
static smp_warp_result *results;
static size_t result_count, result_capacity;
static _Thread_local int last_error;
static int sticky;

int lab_error(int error)
{
    if (error)
        last_error = error;
    if (error == LAB_LAUNCH_FAILURE)
        sticky = error;
    return error;
}

int lab_last_error(bool clear)
{
    const int error = sticky ? sticky : last_error;
    if (clear)
        last_error = LAB_SUCCESS;
    return error;
}

void lab_die(const smp_error *err)
{
    fprintf(stderr, "smempipe kernel: %s%s%s\n", err->where, err->where[0] ? ": " : "", err->message);
    if (err->hint[0])
        fprintf(stderr, "  = hint: %s\n", err->hint);
    exit(1);
}

smp_warp_memory *lab_memory(void)
{
    smp_error err = {0};
    if (!memory && smp_warp_memory_open(&memory, &err))
        lab_die(&err);
    return memory;
}

__attribute__((destructor)) static void write_results(void)
{
    const char *path = getenv("SMEMPIPE_LAB_RESULTS");
    FILE *to = path && result_count ? fopen(path, "ab") : NULL;
    for (size_t i = 0; to && i < result_count; i++)
        smp_warp_result_write(to, &results[i]);
    if (to)
        fclose(to);
}

/* Programs that check for errors may end by abort(): what was counted and printed is kept. */
static void on_abort(int number)
{
    fflush(NULL);
    write_results();
    signal(number, SIG_DFL);
    raise(number);
}

__attribute__((constructor)) static void watch_abort(void)
{
    signal(SIGABRT, on_abort);
}

/* ------------------------------------------------------------------------------------------------ launches */

static _Thread_local struct {
    lab_dim3 grid, block;
    size_t shared;
    void *stream;
} configurations[MOST_DEPTH];
static _Thread_local int depth;

LAB_API unsigned __cudaPushCallConfiguration(lab_dim3 grid, lab_dim3 block, size_t shared, void *stream)
{
    if (depth == MOST_DEPTH)
        return 1;
    configurations[depth].grid = grid;
    configurations[depth].block = block;
    configurations[depth].shared = shared;
    configurations[depth++].stream = stream;
    return 0;
}
LAB_API int __cudaPopCallConfiguration(lab_dim3 *grid, lab_dim3 *block, size_t *shared, void *stream)
{
    if (!depth)
        return LAB_INVALID_CONFIGURATION;
    depth--;
    *grid = configurations[depth].grid;
    *block = configurations[depth].block;
    *shared = configurations[depth].shared;
    memcpy(stream, &configurations[depth].stream, sizeof(void *));
    return LAB_SUCCESS;
}

static void keep(smp_warp_result *result)
{
    for (size_t i = 0; i < result_count; i++)
        if (smp_warp_result_add(&results[i], result)) {
            smp_warp_result_free(result);
            return;
        }
    if (smp_grow(&results, &result_capacity, result_count + 1, sizeof *results))
        results[result_count++] = *result;
}

static int launch(const void *function, lab_dim3 grid, lab_dim3 block, void **arguments, size_t shared, bool together)
{
    enum { GRID_MEMORY = 16 };
    smp_warp_result result = {0};
    smp_error err = {0};
    const smp_warp_param *params;
    const smp_warp_kernel *ptx, *sass, *kernel = lab_kernel_codes(function, &ptx, &sass);
    void *grid_memory = NULL;
    int resident = 0;
    uint64_t *blocks = NULL, count = 0;
    if (!kernel)
        return lab_error(LAB_INVALID_FUNCTION);
    if (shared > SMP_WARP_MAX_SHARED || !grid.x || !grid.y || !grid.z)
        return lab_error(shared > SMP_WARP_MAX_SHARED ? LAB_INVALID_VALUE : LAB_INVALID_CONFIGURATION);
    if (together) {
        const uint64_t threads = (uint64_t)block.x * block.y * block.z;
        if (threads <= SMP_WARP_MAX_THREADS)
            lab_resident_blocks(kernel, (int)threads, shared, &resident);
        if ((uint64_t)grid.x * grid.y * grid.z > (uint64_t)resident * LAB_PROCESSORS)
            return lab_error(LAB_TOO_LARGE);
        grid_memory = smp_warp_buffer(lab_memory(), GRID_MEMORY, NULL);
        if (!grid_memory)
            return lab_error(LAB_OUT_OF_MEMORY);
        memset(grid_memory, 0, GRID_MEMORY);
    }
    unsigned char *bytes = smp_alloc(smp_warp_kernel_param_bytes(kernel) + 16);
    const size_t param_count = smp_warp_kernel_params(kernel, &params);
    for (size_t i = 0; bytes && i < param_count; i++)
        memcpy(bytes + params[i].offset, arguments[i], params[i].size);
    const char *which = getenv("SMEMPIPE_LAB_BLOCKS");
    smp_code code = smp_warp_choose_blocks(which, (uint64_t)grid.x * grid.y * grid.z, &blocks, &count, &err);
    const smp_warp_launch given = {.kernel = kernel,
                                   .grid = {grid.x, grid.y, grid.z},
                                   .block = {block.x, block.y, block.z},
                                   .dynamic_shared = (uint32_t)shared,
                                   .params = bytes,
                                   .memory = lab_memory(),
                                   .print = stdout,
                                   .blocks = blocks,
                                   .block_count = count,
                                   .each_instruction = getenv("SMEMPIPE_LAB_EACH") != NULL,
                                   .together = together,
                                   .grid_memory = (uint64_t)(uintptr_t)grid_memory};
    if (!code && ptx)
        code = smp_warp_run_both(&given, together ? NULL : sass, &result, &err);
    else if (!code)
        code = smp_warp_run(&given, &result, &err);
    if (!code && !ptx)
        smp_warp_note(&result, "mistakes are not looked for: the program has no PTX of it");
    else if (!code && sass && together)
        smp_warp_note(&result, "its blocks wait for each other, which is done with PTX alone");
    if (code && !result.kernel[0]) { /* it never began */
        snprintf(result.kernel, sizeof result.kernel, "%s", smp_warp_kernel_name(kernel));
        snprintf(result.symbol, sizeof result.symbol, "%s", smp_warp_kernel_symbol(kernel));
        memcpy(result.grid, given.grid, sizeof result.grid);
        memcpy(result.block, given.block, sizeof result.block);
        result.launches = 1;
        result.stopped = true;
        result.error = err;
    }
    keep(&result);
    if (grid_memory)
        smp_warp_buffer_free(lab_memory(), grid_memory);
    smp_free(blocks);
    smp_free(bytes);
    return lab_error(code == SMP_E_USAGE ? LAB_INVALID_CONFIGURATION : code ? LAB_LAUNCH_FAILURE : LAB_SUCCESS);
}

static int locked_launch(const void *function, lab_dim3 grid, lab_dim3 block, void **arguments, size_t shared,
                         void *stream, bool together)
{
    int error;
    if (lab_capture_launch(stream, function, grid, block, arguments, shared, together, &error))
        return error;
    pthread_mutex_lock(&lock);
    error = launch(function, grid, block, arguments, shared, together);
    pthread_mutex_unlock(&lock);
    return error;
}

int lab_launch(const void *function, lab_dim3 grid, lab_dim3 block, void **arguments, size_t shared, bool together)
{
    return locked_launch(function, grid, block, arguments, shared, NULL, together);
}

LAB_API int cudaLaunchKernel(const void *function, lab_dim3 grid, lab_dim3 block, void **arguments, size_t shared,
                             void *stream)
{
    return locked_launch(function, grid, block, arguments, shared, stream, false);
}
LAB_API int __cudaLaunchKernel(const void *function, lab_dim3 grid, lab_dim3 block, void **arguments, size_t shared,
                               void *stream)
{
    return cudaLaunchKernel(function, grid, block, arguments, shared, stream);
}
LAB_API int __cudaLaunchKernel_ptsz(const void *function, lab_dim3 grid, lab_dim3 block, void **arguments,
                                    size_t shared, void *stream)
{
    return cudaLaunchKernel(function, grid, block, arguments, shared, stream);
}
LAB_API int __cudaGetKernel(const void **kernel, const void *function)
{
    *kernel = function;
    return LAB_SUCCESS;
}
LAB_API int cudaGetKernel(const void **kernel, const void *function)
{
    *kernel = function;
    return LAB_SUCCESS;
}

/* cudaLaunchConfig_t */
typedef struct lab_config {
    lab_dim3 grid, block;
    size_t shared;
    void *stream;
    void *attributes;
    unsigned attribute_count;
} lab_config;

/* cudaLaunchAttribute: an id, and a value of 64 bytes. */
LAB_API int cudaLaunchKernelExC(const lab_config *config, const void *function, void **arguments)
{
    enum { ATTRIBUTE = 72, VALUE = 8, COOPERATIVE = 2 };
    bool together = false;
    for (unsigned i = 0; i < config->attribute_count; i++) {
        const char *at = (const char *)config->attributes + (size_t)i * ATTRIBUTE;
        int id, value;
        memcpy(&id, at, sizeof id);
        memcpy(&value, at + VALUE, sizeof value);
        together = together || (id == COOPERATIVE && value);
    }
    return locked_launch(function, config->grid, config->block, arguments, config->shared, config->stream, together);
}

/* All its blocks run in turns, so that a barrier of the grid works. */
LAB_API int cudaLaunchCooperativeKernel(const void *function, lab_dim3 grid, lab_dim3 block, void **arguments,
                                        size_t shared, void *stream)
{
    return locked_launch(function, grid, block, arguments, shared, stream, true);
}

int lab_missing(const char *name)
{
    fprintf(stderr,
            "smempipe kernel: the lab's runtime library has no %s: the call returns cudaErrorNotSupported (801)\n",
            name);
    return lab_error(LAB_NOT_SUPPORTED);
}
