/* Launches. Each runs at once; results are written when the program ends. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "lab/runtime/runtime.h"
#include "lab/time/time.h"

enum { MOST_DEPTH = 16, MOST_REFUSED = 4096 };

static smp_warp_memory *memory;
static smp_warp_result *results;
static size_t result_count, result_capacity;
static uint32_t launch_count;
static _Thread_local int last_error;
static _Atomic int sticky;

/* Launches that never began. One that the program asks about (cudaGetLastError) may be meant: it is no failure then. */
static bool refused[MOST_REFUSED];

int lab_error(int error)
{
    if (error)
        last_error = error;
    if (!sticky && (error == LAB_LAUNCH_FAILURE || error == LAB_ILLEGAL_ADDRESS || error == LAB_MISALIGNED_ADDRESS ||
                    error == LAB_ILLEGAL_INSTRUCTION || error == LAB_ASSERT))
        sticky = error;
    return error;
}

int lab_broken(void)
{
    return sticky;
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
    LAB_ALONE;
    smp_error err = {0};
    if (!memory) {
        if (smp_warp_memory_open(&memory, &err))
            lab_die(&err);
        smp_warp_memory_reserve(memory);
    }
    return memory;
}

/* The process that the results are of: the child of a vfork() has them too. It begins with its first launch. */
static pid_t owner;
static bool began, ended;

/* Says that the process begins, or what it launched. Several of a program's may write. */
static void write_results(bool ends)
{
    if (ends && (ended || getpid() != owner))
        return;
    ended = ends;
    const char *path = getenv("SMEMPIPE_LAB_RESULTS");
    const smp_warp_result *host = ends ? lab_host_result(getenv("SMEMPIPE_LAB_LEAKS") != NULL) : NULL;
    FILE *to = path && (began || host) ? fopen(path, "ab") : NULL;
    if (!to)
        return;
    flock(fileno(to), LOCK_EX);
    for (size_t i = 0; ends && i < result_count; i++)
        smp_warp_result_write(to, &results[i]);
    if (host)
        smp_warp_result_write(to, host);
    if (began)
        smp_warp_process_write(to, ends);
    fclose(to);
}

/* What its parent has launched is the parent's to tell. */
static void begin_child(void)
{
    owner = getpid();
    began = false;
    ended = true;
    result_count = 0;
    memset(refused, 0, sizeof refused);
}

/* Threads that are left may launch until the process is gone. */
__attribute__((destructor)) static void at_the_end(void)
{
    LAB_ALONE;
    write_results(true);
}

/* Where what is interrupted may hold a lock that writing needs. */
static void limit_writing(void)
{
    enum { PATIENCE = 10 /* seconds */ };
    signal(SIGALRM, SIG_DFL);
    alarm(PATIENCE);
}

/* These end a program without its destructors, also in its handlers of signals. */
LAB_API void _exit(int status)
{
    if (began && getpid() == owner) {
        limit_writing();
        at_the_end();
    }
    for (;;)
        syscall(SYS_exit_group, status);
}
LAB_API void _Exit(int status) __attribute__((alias("_exit"), noreturn));

/* Programs that check for errors may end by abort(), and wrong ones by a fault: what was counted and printed is kept,
 * unless the fault left a lock taken that writing needs. */
static void on_end(int number, siginfo_t *info, void *)
{
    limit_writing();
    if ((number == SIGSEGV || number == SIGBUS) && memory && smp_warp_memory_is_device(memory, info->si_addr))
        fprintf(stderr,
                "smempipe kernel: code of the host accesses device memory (cudaMalloc) at %p\n"
                "  = hint: cudaMemcpy copies it to the host; cudaMallocManaged makes memory that both may access\n",
                info->si_addr);
    fflush(NULL);
    write_results(true);
    alarm(0);
    signal(number, SIG_DFL);
    raise(number);
}

__attribute__((constructor)) static void watch_ends(void)
{
    static const int ends[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    static char stack[1 << 16]; /* the program's own may have no room left */
    const stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_sigaction = on_end, .sa_flags = SA_SIGINFO | SA_ONSTACK | (int)SA_RESETHAND};
    owner = getpid();
    pthread_atfork(NULL, NULL, begin_child);
    at_quick_exit(at_the_end);
    sigaltstack(&other, NULL);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        sigaction(ends[i], &action, NULL);
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

static void keep_refused(const smp_warp_kernel *kernel, lab_dim3 grid, lab_dim3 block, size_t shared,
                         const smp_error *err)
{
    smp_warp_result result = {.grid = {grid.x, grid.y, grid.z},
                              .block = {block.x, block.y, block.z},
                              .dynamic_shared = shared <= UINT32_MAX ? (uint32_t)shared : UINT32_MAX,
                              .launches = err->code != SMP_E_USAGE, /* by a GPU it does not run */
                              .stopped = true,
                              .error = *err};
    result.kernel = smp_strdup(smp_warp_kernel_name(kernel));
    result.symbol = smp_strdup(smp_warp_kernel_symbol(kernel));
    result.of = kernel;
    if (!result.kernel || !result.symbol)
        exit(1);
    keep(&result);
    const smp_warp_result *last = result_count ? &results[result_count - 1] : NULL;
    if (last && result_count <= MOST_REFUSED && last->stopped && last->error.code == SMP_E_USAGE && !last->row_count)
        refused[result_count - 1] = true; /* this one, or one that is told like it */
}

void lab_noticed(void)
{
    LAB_ALONE;
    for (size_t i = 0; i < result_count && i < MOST_REFUSED; i++)
        if (refused[i]) {
            refused[i] = false;
            results[i].stopped = false;
            smp_warp_note(&results[i], "refused, and the program asked for the error: %s", results[i].error.message);
            results[i].error = (smp_error){0};
        }
}

static void refuse_shared(const smp_warp_kernel *kernel, size_t shared, size_t limit, smp_error *err)
{
    const char *name = smp_warp_kernel_name(kernel);
    smp_fail(err, SMP_E_USAGE, "%s is launched with %zu bytes of dynamic shared memory, and may have %zu", name, shared,
             limit);
    if (shared + smp_warp_kernel_shared(kernel) <= SMP_WARP_MAX_SHARED)
        smp_hint(err, "before it, cudaFuncSetAttribute(%.80s, cudaFuncAttributeMaxDynamicSharedMemorySize, %zu)", name,
                 shared);
}

/* Returns the error that a GPU's runtime reports. A GPU does not notice an access that is a little out of bounds. */
static int error_of(const smp_warp_result *r)
{
    if (r->illegal)
        return LAB_ILLEGAL_ADDRESS;
    if (r->refused)
        return LAB_ILLEGAL_INSTRUCTION;
    for (size_t i = 0; i < r->finding_count; i++)
        if (r->findings[i].fault == SMP_WARP_MISALIGNED)
            return LAB_MISALIGNED_ADDRESS;
    return LAB_SUCCESS;
}

/* The error of a launch that the machine refuses. */
static int refusal(const smp_warp_kernel *kernel, lab_dim3 grid, const lab_dim3 *cluster)
{
    uint32_t size[3] = {cluster->x, cluster->y, cluster->z};
    if ((cluster->x || smp_warp_kernel_cluster(kernel, size)) &&
        ((size[0] && grid.x % size[0]) || (size[1] && grid.y % size[1]) || (size[2] && grid.z % size[2])))
        return LAB_CLUSTER_SIZE;
    return LAB_INVALID_VALUE;
}

/* Whether the launch, or else the kernel itself, has clusters. A launch without clusters has all numbers 0. */
static bool is_cluster(const void *function, const smp_warp_kernel *kernel, const lab_dim3 *given, smp_error *err)
{
    uint32_t size[3] = {given->x, given->y, given->z};
    const unsigned most = lab_most_cluster(function);
    if (!size[0] && !size[1] && !size[2] && !smp_warp_kernel_cluster(kernel, size))
        return true;
    const bool is_own = !given->x && !given->y && !given->z;
    uint64_t blocks = 1;
    for (int i = 0; i < 3; i++)
        blocks *= blocks > SMP_WARP_MAX_CLUSTER ? 1 : is_own && !size[i] ? 1 : size[i];
    if (blocks && blocks <= most)
        return true;
    smp_fail(err, SMP_E_USAGE, "a cluster of %u x %u x %u blocks cannot be launched", size[0], size[1], size[2]);
    if (blocks > 1 && blocks <= SMP_WARP_MAX_CLUSTER)
        smp_hint(err, "before it, cudaFuncSetAttribute(%.80s, cudaFuncAttributeNonPortableClusterSizeAllowed, 1)",
                 smp_warp_kernel_name(kernel));
    else
        smp_hint(err, "a cluster has 1 to 8 blocks, 16 where a GPU allows it");
    return false;
}

/* One launch. Passes check it, take what it needs and run it; the first that has an answer for the program ends it. */
typedef struct one_launch {
    const void *function;
    lab_dim3 grid, block;
    const lab_dim3 *cluster;
    void **arguments;
    size_t shared;
    bool together;
    const smp_warp_kernel *kernel, *ptx, *sass;
    void *grid_memory;
    unsigned char *params;
    uint64_t *blocks, block_count;
    smp_warp_tasks *tasks;
    smp_warp_result result;
    smp_error err;
} one_launch;

static int refuse(one_launch *l, int answer)
{
    keep_refused(l->kernel, l->grid, l->block, l->shared, &l->err);
    return lab_error(answer);
}

static int tell_broken(const smp_warp_kernel *kernel)
{
    static bool said;
    if (!said)
        fprintf(stderr, "smempipe kernel: %s does not run, nor what follows: a kernel before it failed (error %d)\n",
                kernel ? smp_warp_kernel_name(kernel) : "a kernel", lab_broken());
    said = true;
    return lab_broken();
}

static int check_launch(one_launch *l)
{
    const lab_dim3 grid = l->grid, block = l->block;
    uint32_t registers = 0;
    if (!l->kernel)
        return lab_error(LAB_INVALID_HANDLE);
    if (l->tasks->deadline > 0 && smp_now() > l->tasks->deadline) {
        smp_fail(&l->err, SMP_E_LIMIT, "kernels still launch %.200s here after the time limit of %s s",
                 smp_warp_kernel_name(l->kernel), getenv("SMEMPIPE_LAB_SECONDS"));
        return refuse(l, LAB_LAUNCH_FAILURE);
    }
    (void)lab_registers(l->function, &registers);
    const smp_warp_launch shape = {.kernel = l->kernel,
                                   .grid = {grid.x, grid.y, grid.z},
                                   .block = {block.x, block.y, block.z},
                                   .registers = registers};
    const smp_warp_room room = smp_warp_room_of(&shape, &l->err);
    if (room)
        return refuse(l, room == SMP_WARP_OUT_OF_BOUNDS ? LAB_INVALID_VALUE : LAB_OUT_OF_RESOURCES);
    if (!is_cluster(l->function, l->kernel, l->cluster, &l->err))
        return refuse(l, LAB_CLUSTER_SIZE);
    if (l->shared > lab_dynamic_limit(l->function)) {
        refuse_shared(l->kernel, l->shared, lab_dynamic_limit(l->function), &l->err);
        return refuse(l, LAB_INVALID_VALUE);
    }
    return LAB_SUCCESS;
}

/* Blocks that wait for each other must all be resident, and share a few bytes. */
static int take_grid_memory(one_launch *l)
{
    enum { GRID_MEMORY = 16 };
    const uint64_t threads = (uint64_t)l->block.x * l->block.y * l->block.z;
    int resident = 0;
    if (!l->together)
        return LAB_SUCCESS;
    if (threads <= SMP_WARP_MAX_THREADS)
        lab_resident_blocks(l->function, (int)threads, l->shared, &resident);
    if ((uint64_t)l->grid.x * l->grid.y * l->grid.z > (uint64_t)resident * LAB_PROCESSORS)
        return lab_error(LAB_TOO_LARGE);
    l->grid_memory = smp_warp_buffer(lab_memory(), GRID_MEMORY, NULL);
    if (!l->grid_memory)
        return lab_error(LAB_OUT_OF_MEMORY);
    memset(l->grid_memory, 0, GRID_MEMORY);
    return LAB_SUCCESS;
}

/* The time of a launch, as the command line wants it. Of a kernel in one shape the first few are predicted. */
static const char *time_wanted(const one_launch *l)
{
    enum { ENOUGH = 4 };
    const uint32_t grid[3] = {l->grid.x, l->grid.y, l->grid.z}, block[3] = {l->block.x, l->block.y, l->block.z};
    for (size_t i = 0; i < result_count; i++)
        if (results[i].of == (l->sass ? l->sass : l->kernel) && results[i].predictions &&
            !memcmp(results[i].grid, grid, sizeof grid) && !memcmp(results[i].block, block, sizeof block) &&
            results[i].dynamic_shared == l->shared && results[i].predictions->count >= ENOUGH)
            return NULL;
    return getenv("SMEMPIPE_LAB_TIME");
}

static smp_code run_launch(one_launch *l)
{
    const smp_warp_param *params;
    l->params = smp_alloc(smp_warp_kernel_param_bytes(l->kernel) + 16);
    const size_t param_count = smp_warp_kernel_params(l->kernel, &params);
    for (size_t i = 0; l->params && i < param_count; i++)
        memcpy(l->params + params[i].offset, l->arguments[i], params[i].size);
    const char *chosen = getenv("SMEMPIPE_LAB_BLOCKS"), *which = l->together ? NULL : chosen,
               *seconds = getenv("SMEMPIPE_LAB_SECONDS"), *threads = getenv("SMEMPIPE_LAB_THREADS");
    smp_code code = smp_warp_choose_blocks(which, (uint64_t)l->grid.x * l->grid.y * l->grid.z, &l->blocks,
                                           &l->block_count, &l->err);
    uint32_t registers = 0;
    (void)lab_registers(l->function, &registers);
    const smp_warp_launch given = {.kernel = l->kernel,
                                   .registers = registers,
                                   .grid = {l->grid.x, l->grid.y, l->grid.z},
                                   .block = {l->block.x, l->block.y, l->block.z},
                                   .cluster = {l->cluster->x, l->cluster->y, l->cluster->z},
                                   .dynamic_shared = (uint32_t)l->shared,
                                   .params = l->params,
                                   .memory = lab_memory(),
                                   .print = stdout,
                                   .blocks = l->blocks,
                                   .block_count = l->block_count,
                                   .each_instruction = getenv("SMEMPIPE_LAB_EACH") != NULL,
                                   .listing = getenv("SMEMPIPE_LAB_LISTING") != NULL,
                                   .seconds = seconds ? strtod(seconds, NULL) : 0,
                                   .together = l->together,
                                   .threads = threads ? atoi(threads) : 1,
                                   .counts_alone = getenv("SMEMPIPE_LAB_COUNTS") != NULL,
                                   .watch = true,
                                   .tasks = l->tasks,
                                   .grid_memory = (uint64_t)(uintptr_t)l->grid_memory};
    if (!code)
        code = smp_time_run(time_wanted(l), launch_count++, &given,
                            !l->ptx       ? l->kernel
                            : l->together ? NULL
                                          : l->sass,
                            &l->result, &l->err);
    if (!code && getenv("SMEMPIPE_LAB_DIGEST"))
        l->result.digest = smp_warp_memory_digest(lab_memory());
    const char *arch = getenv("SMEMPIPE_LAB_ARCH"), *why = l->sass ? NULL : lab_kernel_why(l->function);
    if (arch && registers)
        l->result.fit = (smp_warp_fit){.arch = atoi(arch + strcspn(arch, "0123456789")), .registers = registers};
    if (!code && why)
        smp_warp_note(&l->result, "counted from PTX: %s", why);
    if (!code && !l->ptx)
        smp_warp_note(&l->result, "mistakes are not looked for: the program has no PTX of it");
    else if (!code && l->sass && l->together)
        smp_warp_note(&l->result, "its blocks wait for each other, which is done with PTX alone");
    if (!code && l->together && chosen && strcmp(chosen, "all") != 0)
        smp_warp_note(&l->result, "--blocks %.40s is not for launches whose blocks wait for each other: all ran",
                      chosen);
    return code;
}

/* Keeps what was counted for the report. Returns what the program is told. */
static int end_launch(one_launch *l, smp_code code)
{
    const int illegal = error_of(&l->result);
    const bool asserted = l->result.asserted;
    if (code && !l->result.kernel)
        keep_refused(l->kernel, l->grid, l->block, l->shared, &l->err);
    else
        keep(&l->result);
    if (l->grid_memory)
        smp_warp_buffer_free(lab_memory(), l->grid_memory);
    smp_free_all(l->blocks, l->params);
    return lab_error(illegal               ? illegal
                     : asserted            ? LAB_ASSERT
                     : code == SMP_E_USAGE ? refusal(l->kernel, l->grid, l->cluster)
                     : code                ? LAB_LAUNCH_FAILURE
                                           : LAB_SUCCESS);
}

int lab_run(const void *function, lab_dim3 grid, lab_dim3 block, void **arguments, size_t shared, bool together,
            const lab_dim3 *cluster, smp_warp_tasks *tasks)
{
    one_launch l = {.function = function,
                    .grid = grid,
                    .block = block,
                    .cluster = cluster,
                    .arguments = arguments,
                    .shared = shared,
                    .together = together,
                    .tasks = tasks};
    l.kernel = lab_kernel_codes(function, &l.ptx, &l.sass);
    if (!began) {
        began = true;
        write_results(false);
    }
    if (lab_broken())
        return tell_broken(l.kernel);
    int answer = check_launch(&l);
    if (!answer)
        answer = take_grid_memory(&l);
    return answer ? answer : end_launch(&l, run_launch(&l));
}

static const lab_dim3 no_cluster;

int lab_launch(const void *function, lab_dim3 grid, lab_dim3 block, void **arguments, size_t shared, bool together,
               const lab_dim3 *cluster)
{
    lab_enter();
    const int error = lab_run_all(function, grid, block, arguments, shared, together, cluster);
    lab_leave();
    return error;
}

static int locked_launch(const void *function, lab_dim3 grid, lab_dim3 block, void **arguments, size_t shared,
                         void *stream, bool together, const lab_dim3 *cluster)
{
    LAB_ALONE;
    int error;
    return lab_capture_launch(stream, function, grid, block, arguments, shared, together, cluster, &error)
               ? error
               : lab_launch(function, grid, block, arguments, shared, together, cluster);
}

LAB_ALIAS(cudaLaunchKernel,
          (const void *function, lab_dim3 grid, lab_dim3 block, void **arguments, size_t shared, void *stream),
          locked_launch(function, grid, block, arguments, shared, stream, false, &no_cluster))
LAB_ALIAS(__cudaLaunchKernel,
          (const void *function, lab_dim3 grid, lab_dim3 block, void **arguments, size_t shared, void *stream),
          cudaLaunchKernel(function, grid, block, arguments, shared, stream))
LAB_ALIAS(__cudaLaunchKernel_ptsz,
          (const void *function, lab_dim3 grid, lab_dim3 block, void **arguments, size_t shared, void *stream),
          cudaLaunchKernel(function, grid, block, arguments, shared, stream))
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

/* cudaLaunchAttribute: an id, and a value of 64 bytes. */
static void read_attributes(const lab_config *config, bool *together, lab_dim3 *cluster)
{
    enum { ATTRIBUTE = 72, VALUE = 8, COOPERATIVE = 2, CLUSTER = 4 };
    *together = false;
    *cluster = no_cluster;
    for (unsigned i = 0; i < config->attribute_count; i++) {
        const char *at = (const char *)config->attributes + (size_t)i * ATTRIBUTE;
        int id, value;
        memcpy(&id, at, sizeof id);
        memcpy(&value, at + VALUE, sizeof value);
        *together = *together || (id == COOPERATIVE && value);
        if (id == CLUSTER)
            memcpy(cluster, at + VALUE, sizeof *cluster);
    }
}

LAB_API int cudaLaunchKernelExC(const lab_config *config, const void *function, void **arguments)
{
    bool together;
    lab_dim3 cluster;
    read_attributes(config, &together, &cluster);
    return locked_launch(function, config->grid, config->block, arguments, config->shared, config->stream, together,
                         &cluster);
}

/* Clusters of portable sizes; an SM holds as many blocks as without clusters. */
LAB_API int cudaOccupancyMaxActiveClusters(int *clusters, const void *function, const lab_config *config)
{
    bool together;
    lab_dim3 cluster;
    int blocks;
    uint32_t own[3];
    const smp_warp_kernel *kernel = lab_kernel(function);
    const uint64_t threads = (uint64_t)config->block.x * config->block.y * config->block.z;
    read_attributes(config, &together, &cluster);
    if (kernel && !cluster.x && smp_warp_kernel_cluster(kernel, own))
        cluster = (lab_dim3){own[0], own[1], own[2]};
    const unsigned size = cluster.x ? cluster.x * cluster.y * cluster.z : 1;
    const int error =
        lab_resident_blocks(function, threads <= SMP_WARP_MAX_THREADS ? (int)threads : 0, config->shared, &blocks);
    if (!error)
        *clusters = size ? blocks * LAB_PROCESSORS / (int)size : 0;
    return error;
}
LAB_API int cudaOccupancyMaxPotentialClusterSize(int *size, const void *function, const lab_config *)
{
    enum { PORTABLE = 8 };
    if (!lab_kernel(function))
        return lab_error(LAB_INVALID_FUNCTION);
    *size = PORTABLE;
    return LAB_SUCCESS;
}

/* All its blocks run in turns, so that a barrier of the grid works. */
LAB_ALIAS(cudaLaunchCooperativeKernel,
          (const void *function, lab_dim3 grid, lab_dim3 block, void **arguments, size_t shared, void *stream),
          locked_launch(function, grid, block, arguments, shared, stream, true, &no_cluster))

int lab_missing(const char *name)
{
    fprintf(stderr,
            "smempipe kernel: the lab's runtime library has no %s: the call returns cudaErrorNotSupported (801)\n",
            name);
    return lab_error(LAB_NOT_SUPPORTED);
}
