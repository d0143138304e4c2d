/* libsmp_gpucounts: preloaded into a CUDA program on a GPU (`smempipe kernel --device cuda`), it counts by CUPTI's SASS
 * metrics what each instruction of its kernels does to memory, from the first launch to the end, and writes it down.
 * Kernels are loaded before: CUPTI may not count those that are loaded later (lab/counters/cupti_sass.c). Graphs may be
 * left out, since some do not survive being counted.
 *
 * Threads: one at a time begins, ends, or is in a function of graphs, from the pause in counting to its end (`turn`).
 * Launches wait for nobody, since a kernel may wait for another that is launched later: one during which counting may
 * have paused is taken for a part of a graph. */
#define _GNU_SOURCE 1 /* RTLD_NEXT */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#include "base/alloc.h"
#include "lab/counters/cupti.h"
#include "lab/counters/gpu_counts.h"

#define API __attribute__((visibility("default")))

typedef struct shape {
    unsigned x, y, z;
} shape;

static const char *const metrics[] = {
    "smsp__sass_inst_executed",
    "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared",
    "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared_ideal",
    "smsp__sass_sectors_mem_global",
    "smsp__sass_sectors_mem_global_ideal",
};
enum { METRICS = sizeof metrics / sizeof metrics[0] };

/* One instruction. */
typedef struct row {
    char *kernel; /* from smp_strdup, or that of the row before */
    uint32_t pc;
    uint64_t value[METRICS];
} row;

static struct {
    const cupti_api *api;
    CUcontext context;
    int device;
    uint64_t id[METRICS];
    bool enabled, ended, without_graphs;
    int inside;              /* functions of graphs, of which one may call another */
    _Atomic bool paused;     /* or about to be */
    _Atomic unsigned pauses; /* that have begun */
    _Atomic int captures;    /* that have begun and not ended */
    row *rows;
    size_t row_count, row_capacity;
    smp_error err;
} now;
static pthread_mutex_t turn = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP; /* of all that is in `now` and not atomic */

/* ------------------------------------------------------------------------------------------------ functions */

/* Data becomes a function: ISO C has no cast for that. */
static void look_up(void *function, void *library, const char *name)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
}

/* The kernels, as the program registers them. Launches name them by the host's function, or by a handle. */
typedef struct kernel_name {
    const void *host;
    const char *name;
    bool is_handle, in_graph;
} kernel_name;
static kernel_name *functions;
static size_t function_count, function_capacity;
static pthread_mutex_t naming = PTHREAD_MUTEX_INITIALIZER;
static const char *_Atomic last_launched = "none";

static const char *name_of(const void *host)
{
    const char *name = "a kernel of another library";
    pthread_mutex_lock(&naming);
    for (size_t i = 0; i < function_count; i++)
        if (functions[i].host == host)
            name = functions[i].name;
    pthread_mutex_unlock(&naming);
    return name;
}

static void add_function(const void *host, const char *name, bool is_handle)
{
    pthread_mutex_lock(&naming);
    if (smp_grow(&functions, &function_capacity, function_count + 1, sizeof *functions))
        functions[function_count++] = (kernel_name){.host = host, .name = name, .is_handle = is_handle};
    pthread_mutex_unlock(&naming);
}

/* Null: all kernels. */
static void mark_in_graph(const void *host)
{
    pthread_mutex_lock(&naming);
    for (size_t i = 0; i < function_count; i++)
        if (!host || functions[i].host == host)
            functions[i].in_graph = true;
    pthread_mutex_unlock(&naming);
}

API void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit, void *tid,
                                void *bid, void *block, void *grid, int *warp)
{
    void (*next)(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *);
    look_up(&next, RTLD_NEXT, "__cudaRegisterFunction");
    add_function(host, name, false);
    next(handle, host, device, name, limit, tid, bid, block, grid, warp);
}

API int __cudaGetKernel(const void **kernel, const void *host);
API int __cudaGetKernel(const void **kernel, const void *host)
{
    int (*next)(const void **, const void *);
    look_up(&next, RTLD_NEXT, "__cudaGetKernel");
    const int error = next(kernel, host);
    if (!error && *kernel != host)
        add_function(*kernel, name_of(host), true);
    return error;
}

static void load_kernels(void)
{
    int (*attributes)(void *, const void *);
    char room[1024]; /* cudaFuncAttributes, however long */
    look_up(&attributes, RTLD_NEXT, "cudaFuncGetAttributes");
    for (size_t i = 0; attributes; i++) { /* which may add a handle */
        pthread_mutex_lock(&naming);
        const bool more = i < function_count;
        const kernel_name function = more ? functions[i] : (kernel_name){.host = NULL};
        pthread_mutex_unlock(&naming);
        if (!more)
            return;
        if (!function.is_handle)
            (void)attributes(room, function.host);
    }
}

/* ------------------------------------------------------------------------------------------------ beginning */

static smp_code find_context(smp_error *err)
{
    int (*first)(void *), (*device)(int *), (*context)(CUcontext *);
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    look_up(&first, RTLD_NEXT, "cudaFree");
    look_up(&device, RTLD_NEXT, "cudaGetDevice");
    if (!driver || !first || !device || first(NULL) || device(&now.device))
        return smp_fail(err, SMP_E_DEVICE, "the program cannot use a GPU");
    look_up(&context, driver, "cuCtxGetCurrent");
    if (!context || context(&now.context) || !now.context)
        return smp_fail(err, SMP_E_DEVICE, "the program's context is not known");
    return SMP_OK;
}

static smp_code enable(smp_error *err)
{
    smp_code code = SMP_OK;
    const cupti_api *api = now.api;
    CUpti_SassMetricsEnable_Params on = {
        .structSize = CUpti_SassMetricsEnable_Params_STRUCT_SIZE, .ctx = now.context, .enableLazyPatching = 1};
    CUPTI_TRY(api, cuptiSassMetricsEnable, (&on));
    now.enabled = true;
fail:
    return code;
}

static smp_code configure(smp_error *err)
{
    smp_code code = SMP_OK;
    const cupti_api *api = now.api;
    CUpti_Profiler_Initialize_Params initialize = {.structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
    CUpti_Device_GetChipName_Params chip = {.structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE,
                                            .deviceIndex = (size_t)now.device};
    CUpti_Profiler_GetCounterAvailability_Params available = {
        .structSize = CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE, .ctx = now.context};
    CUpti_SassMetrics_Config config[METRICS];
    uint8_t *image = NULL;
    CUPTI_TRY(api, cuptiProfilerInitialize, (&initialize));
    CUPTI_TRY(api, cuptiDeviceGetChipName, (&chip));
    /* Without these calls only the first kernel is counted (CUPTI 13.0 on an H100). */
    CUPTI_TRY(api, cuptiProfilerGetCounterAvailability, (&available));
    image = smp_alloc(available.counterAvailabilityImageSize);
    available.pCounterAvailabilityImage = image;
    SMP_NEED(image, "the list of counters", available.counterAvailabilityImageSize, err);
    CUPTI_TRY(api, cuptiProfilerGetCounterAvailability, (&available));
    for (int m = 0; m < METRICS; m++) {
        CUpti_SassMetrics_GetProperties_Params get = {.structSize = CUpti_SassMetrics_GetProperties_Params_STRUCT_SIZE,
                                                      .pChipName = chip.pChipName,
                                                      .pMetricName = metrics[m]};
        CUPTI_TRY(api, cuptiSassMetricsGetProperties, (&get));
        now.id[m] = get.metric.metricId;
        config[m] = (CUpti_SassMetrics_Config){.metricId = get.metric.metricId,
                                               .outputGranularity = CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_GPU};
    }
    CUpti_SassMetricsSetConfig_Params set = {.structSize = CUpti_SassMetricsSetConfig_Params_STRUCT_SIZE,
                                             .numOfMetricConfig = METRICS,
                                             .pConfigs = config,
                                             .deviceIndex = (uint32_t)now.device};
    CUPTI_TRY(api, cuptiSassMetricsSetConfig, (&set));
    code = enable(err);
fail:
    smp_free(image);
    return code;
}

/* ------------------------------------------------------------------------------------------------ counts */

static smp_code add_record(const CUpti_SassMetrics_Data *record, size_t values, smp_error *err)
{
    const char *kernel = record->functionName ? record->functionName : "?";
    row *at = NULL;
    for (size_t i = now.row_count; i-- > 0 && !at;) /* records of one instruction are mostly side by side */
        if (now.rows[i].pc == record->pcOffset && !strcmp(now.rows[i].kernel, kernel))
            at = &now.rows[i];
    if (!at) {
        char *last = now.row_count ? now.rows[now.row_count - 1].kernel : NULL;
        char *own = last && !strcmp(last, kernel) ? last : smp_strdup(kernel);
        SMP_NEED(own && smp_grow(&now.rows, &now.row_capacity, now.row_count + 1, sizeof *now.rows),
                 "counted instructions", sizeof *now.rows, err);
        at = &now.rows[now.row_count++];
        *at = (row){.kernel = own, .pc = record->pcOffset};
    }
    for (size_t i = 0; i < values; i++)
        for (int m = 0; m < METRICS; m++)
            if (record->pInstanceValues[i].metricId == now.id[m])
                at->value[m] += record->pInstanceValues[i].value;
    return SMP_OK;
}

static void wait_for_kernels(smp_error *err)
{
    int (*wait)(void);
    look_up(&wait, RTLD_NEXT, "cudaDeviceSynchronize");
    const int failed = wait && !err->code ? wait() : 0;
    if (failed) {
        const char *(*name)(int);
        look_up(&name, RTLD_NEXT, "cudaGetErrorName");
        smp_fail(err, SMP_E_DEVICE, "a kernel failed with %s (%d); %s was launched last",
                 name ? name(failed) : "an error", failed, last_launched);
    }
}

/* Adds what was counted so far to the rows: after that, nothing is counted. */
static void stop_counting(smp_error *err)
{
    cupti_records records;
    CUpti_SassMetricsDisable_Params off = {.structSize = CUpti_SassMetricsDisable_Params_STRUCT_SIZE,
                                           .ctx = now.context};
    if (!now.enabled)
        return;
    if (!err->code) {
        smp_code code = cupti_records_open(now.api, now.context, METRICS, &records, err);
        for (size_t i = 0; !code && i < records.count; i++)
            code = add_record(&records.items[i], records.values, err);
        cupti_records_close(&records);
    }
    (void)now.api->cuptiSassMetricsDisable(&off);
    now.enabled = false;
}

/* While a graph is made or runs: takes the turn until go_on. Waiting would break what other threads capture. */
static void pause_for_graph(void)
{
    pthread_mutex_lock(&turn);
    now.inside++;
    if (!now.without_graphs || !now.enabled || now.captures)
        return;
    now.pauses++;
    now.paused = true;
    wait_for_kernels(&now.err);
    stop_counting(&now.err);
}

static void go_on(void)
{
    if (!--now.inside && now.paused && !now.ended && !now.captures) {
        wait_for_kernels(&now.err);
        if (!now.err.code)
            (void)enable(&now.err);
        now.paused = false;
    }
    pthread_mutex_unlock(&turn);
}

/* ------------------------------------------------------------------------------------------------ the end */

static void tell_graphs(FILE *to)
{
    pthread_mutex_lock(&naming);
    for (size_t i = 0; i < function_count; i++)
        if (functions[i].in_graph)
            fprintf(to, SMP_GPU_GRAPH "\t%s\n", functions[i].name);
    pthread_mutex_unlock(&naming);
}

static void write_counts(FILE *to)
{
    wait_for_kernels(&now.err);
    stop_counting(&now.err);
    for (size_t i = 0; !now.err.code && i < now.row_count; i++) {
        fprintf(to, SMP_GPU_ROW "\t%s\t%u", now.rows[i].kernel, now.rows[i].pc);
        for (int m = 0; m < METRICS; m++)
            fprintf(to, "\t%llu", (unsigned long long)now.rows[i].value[m]);
        fputc('\n', to);
    }
    tell_graphs(to);
    if (now.err.code)
        fprintf(to, SMP_GPU_ERROR "\t%s\t%s\n", now.err.message, now.err.hint);
    else
        fputs(SMP_GPU_END "\n", to);
}

static void finish(void)
{
    pthread_mutex_lock(&turn);
    const char *path = getenv(SMP_GPU_COUNTS);
    FILE *to = path && !now.ended ? fopen(path, "w") : NULL;
    now.ended = true;
    if (to) {
        write_counts(to);
        fclose(to);
    }
    pthread_mutex_unlock(&turn);
}

/* ------------------------------------------------------------------------------------------------ launches */

static void begin(void)
{
    const char *graphs = getenv(SMP_GPU_GRAPHS);
    pthread_mutex_lock(&turn);
    now.without_graphs = graphs && !strcmp(graphs, "off");
    smp_code code = find_context(&now.err);
    code = code ? code : cupti_load(&now.api, &now.err);
    if (!code) {
        (void)cupti_lock(now.api); /* until this process is gone */
        load_kernels();
        (void)configure(&now.err);
    }
    pthread_mutex_unlock(&turn);
    atexit(finish); /* before the runtime's own end, which was asked for earlier */
}

static void begin_once(void)
{
    static pthread_once_t begun = PTHREAD_ONCE_INIT;
    pthread_once(&begun, begin);
}

/* Launches during the capture of a stream, on whatever stream, are taken for a part of a graph. */
static unsigned before_launch(const void *function)
{
    begin_once();
    last_launched = name_of(function);
    const unsigned pauses = now.pauses;
    if (now.captures || now.paused)
        mark_in_graph(function);
    return pauses;
}

static int after_launch(const void *function, unsigned pauses, int error)
{
    if (now.pauses != pauses)
        mark_in_graph(function);
    return error;
}

#define LAUNCH(name)                                                                                                   \
    API int name(const void *function, shape grid, shape block, void **arguments, size_t shared, void *stream);        \
    API int name(const void *function, shape grid, shape block, void **arguments, size_t shared, void *stream)         \
    {                                                                                                                  \
        int (*next)(const void *, shape, shape, void **, size_t, void *);                                              \
        const unsigned pauses = before_launch(function);                                                               \
        look_up(&next, RTLD_NEXT, #name);                                                                              \
        return after_launch(function, pauses, next(function, grid, block, arguments, shared, stream));                 \
    }
LAUNCH(cudaLaunchKernel)
LAUNCH(cudaLaunchKernel_ptsz)
LAUNCH(__cudaLaunchKernel)
LAUNCH(__cudaLaunchKernel_ptsz)
LAUNCH(cudaLaunchCooperativeKernel)
LAUNCH(cudaLaunchCooperativeKernel_ptsz)

#define LAUNCH_BY(name)                                                                                                \
    API int name(const void *config, const void *function, void **arguments);                                          \
    API int name(const void *config, const void *function, void **arguments)                                           \
    {                                                                                                                  \
        int (*next)(const void *, const void *, void **);                                                              \
        const unsigned pauses = before_launch(function);                                                               \
        look_up(&next, RTLD_NEXT, #name);                                                                              \
        return after_launch(function, pauses, next(config, function, arguments));                                      \
    }
LAUNCH_BY(cudaLaunchKernelExC)
LAUNCH_BY(cudaLaunchKernelExC_ptsz)

/* ------------------------------------------------------------------------------------------------ graphs */

/* A function of the runtime library during which graphs may not be counted. before, after: what else is done */
#define WITHOUT_COUNTS(name, parameters, arguments, before, after)                                                     \
    API int name parameters;                                                                                           \
    API int name parameters                                                                                            \
    {                                                                                                                  \
        int(*next) parameters;                                                                                         \
        begin_once();                                                                                                  \
        look_up(&next, RTLD_NEXT, #name);                                                                              \
        pause_for_graph();                                                                                             \
        before;                                                                                                        \
        const int error = next arguments;                                                                              \
        after;                                                                                                         \
        go_on();                                                                                                       \
        return error;                                                                                                  \
    }
#define GRAPH_LAUNCH(name)                                                                                             \
    WITHOUT_COUNTS(name, (void *graph, void *stream), (graph, stream), last_launched = "a graph", (void)0)
GRAPH_LAUNCH(cudaGraphLaunch)
GRAPH_LAUNCH(cudaGraphLaunch_ptsz)

#define MAKE(name, third)                                                                                              \
    WITHOUT_COUNTS(name, (void **out, void *graph, third flags), (out, graph, flags), (void)0, (void)0)
MAKE(cudaGraphInstantiate, unsigned long long)
MAKE(cudaGraphInstantiateWithFlags, unsigned long long)
MAKE(cudaGraphInstantiateWithParams, void *)

#define CAPTURE(name) WITHOUT_COUNTS(name, (void *stream, int mode), (stream, mode), (void)0, now.captures += !error)
CAPTURE(cudaStreamBeginCapture)
CAPTURE(cudaStreamBeginCapture_ptsz)

#define CAPTURE_TO(name)                                                                                               \
    WITHOUT_COUNTS(name, (void *stream, void *graph, void *nodes, void *edges, size_t count, int mode),                \
                   (stream, graph, nodes, edges, count, mode), (void)0, now.captures += !error)
CAPTURE_TO(cudaStreamBeginCaptureToGraph)
CAPTURE_TO(cudaStreamBeginCaptureToGraph_ptsz)

#define END_CAPTURE(name)                                                                                              \
    WITHOUT_COUNTS(name, (void *stream, void **graph), (stream, graph), (void)0, now.captures -= now.captures > 0)
END_CAPTURE(cudaStreamEndCapture)
END_CAPTURE(cudaStreamEndCapture_ptsz)

/* cudaKernelNodeParams begins with the function. */
#define NODE(name, parameters, arguments)                                                                              \
    WITHOUT_COUNTS(name, parameters, arguments, mark_in_graph(given ? *given : NULL), (void)0)
NODE(cudaGraphAddKernelNode, (void **node, void *graph, void *after, size_t count, const void *const *given),
     (node, graph, after, count, given))
NODE(cudaGraphKernelNodeSetParams, (void *node, const void *const *given), (node, given))
NODE(cudaGraphExecKernelNodeSetParams, (void *run, void *node, const void *const *given), (run, node, given))
/* Forms of a call: any kernel may be the node's. CUDA 12's first one has five parameters. */
#define ANY_NODE(name)                                                                                                 \
    WITHOUT_COUNTS(name, (void **node, void *graph, void *after, void *a, void *b, void *c),                           \
                   (node, graph, after, a, b, c), mark_in_graph(NULL), (void)0)
ANY_NODE(cudaGraphAddNode)
ANY_NODE(cudaGraphAddNode_v2)

/* Destroys the context, and with it the counts. */
API int cudaDeviceReset(void);
API int cudaDeviceReset(void)
{
    int (*next)(void);
    look_up(&next, RTLD_NEXT, "cudaDeviceReset");
    pthread_mutex_lock(&turn);
    if (now.enabled)
        finish();
    const int error = next();
    pthread_mutex_unlock(&turn);
    return error;
}
