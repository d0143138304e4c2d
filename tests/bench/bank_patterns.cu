/* Counts of CUPTI's SASS metrics for one instruction of one warp on shared memory, for some 3,800 patterns of
 * addresses, as rows of tests/data/h100_async_patterns.csv, which keeps a choice of them: what src/banks/bank.c is held
 * against. A new kind of GPU is measured by `ninja bank_patterns && tests/bench/bank_patterns > patterns.csv` where
 * nvcc and CUPTI are, on a machine whose user may read counters (compute capability 8.0 or later). */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda.h>
#include <cuda_runtime.h>
#include <cupti_profiler_target.h>
#include <cupti_result.h>
#include <cupti_sass_metrics.h>
#include <cupti_target.h>

enum { LANES = 32, SHARED_BYTES = 32 << 10, GLOBAL_BYTES = 1 << 17 };

struct pattern {
    unsigned active, present;              /* bit n: lane n takes part; it copies (else it stores zeros) */
    unsigned shared[LANES], global[LANES]; /* byte offsets */
};

/* ------------------------------------------------------------------------------------------------ instructions */

enum operation { CA, CG, LOAD, STORE };

template <operation OP, int WIDTH, bool FILLS> __global__ void access(const pattern *p, char *global)
{
    extern __shared__ __align__(128) char memory[];
    const unsigned lane = threadIdx.x;
    if (!(p->active >> lane & 1))
        return; /* has left: of a copy, lanes that only a predicate switches off are counted */
    const unsigned at = (unsigned)__cvta_generic_to_shared(memory) + p->shared[lane];
    const char *from = global + p->global[lane];
    const unsigned size = p->present >> lane & 1 ? WIDTH : 0;
    unsigned a = lane, b = lane, c = lane, d = lane;
    if constexpr (OP == CA && FILLS)
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(at), "l"(from), "n"(WIDTH), "r"(size));
    else if constexpr (OP == CA)
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(at), "l"(from), "n"(WIDTH));
    else if constexpr (OP == CG && FILLS)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(size));
    else if constexpr (OP == CG)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from));
    else if constexpr (OP == LOAD && WIDTH == 16)
        asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(at));
    else if constexpr (OP == LOAD)
        asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(at));
    else if constexpr (WIDTH == 16)
        asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(a), "r"(b), "r"(c), "r"(d));
    else
        asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(at), "r"(a), "r"(b));
    if constexpr (OP == CA || OP == CG)
        asm volatile("cp.async.wait_all;");
    else if (OP == LOAD && (a ^ b ^ c ^ d) == 0x9e3779b9u)
        *reinterpret_cast<unsigned *>(global) = a; /* so that all that is loaded is used */
}

static const struct instruction {
    const char *name;
    unsigned width;
    bool copies, fills;
    void (*kernel)(const pattern *, char *);
} instructions[] = {
    {"ca", 4, true, false, access<CA, 4, false>},     {"ca", 4, true, true, access<CA, 4, true>},
    {"ca", 8, true, false, access<CA, 8, false>},     {"ca", 8, true, true, access<CA, 8, true>},
    {"ca", 16, true, false, access<CA, 16, false>},   {"ca", 16, true, true, access<CA, 16, true>},
    {"cg", 16, true, false, access<CG, 16, false>},   {"cg", 16, true, true, access<CG, 16, true>},
    {"ld", 8, false, false, access<LOAD, 8, false>},  {"ld", 16, false, false, access<LOAD, 16, false>},
    {"st", 8, false, false, access<STORE, 8, false>}, {"st", 16, false, false, access<STORE, 16, false>},
};

/* ------------------------------------------------------------------------------------------------ counting */

[[noreturn]] static void fail(const char *what, const char *why)
{
    fprintf(stderr, "bank_patterns: %s: %s\n", what, why);
    exit(1);
}

static void check(const char *what, CUptiResult result)
{
    const char *why = "?";
    if (result == CUPTI_SUCCESS)
        return;
    cuptiGetResultString(result, &why);
    fail(what, why);
}
#define TRY(function, parameters) check(#function, function(parameters))

static void check_cuda(const char *what, cudaError_t error)
{
    if (error != cudaSuccess)
        fail(what, cudaGetErrorString(error));
}
#define TRY_CUDA(call) check_cuda(#call, call)

enum { WAVEFRONTS, PACKED, METRICS };
static const char *const metric_names[METRICS] = {"smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared",
                                                  "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared_ideal"};

struct counter {
    CUcontext context;
    pattern *where;
    char *global;
    uint64_t id[METRICS];

    void launch(const instruction &one, const pattern &p) const
    {
        TRY_CUDA(cudaMemcpy(where, &p, sizeof p, cudaMemcpyHostToDevice));
        one.kernel<<<1, LANES, SHARED_BYTES>>>(where, global);
        TRY_CUDA(cudaDeviceSynchronize());
    }

    /* Kernels that are loaded after the metrics are set, and all but one where nobody has asked for the counters'
     * availability, are not counted. */
    void open()
    {
        TRY_CUDA(cudaMalloc(&where, sizeof *where));
        TRY_CUDA(cudaMalloc(&global, GLOBAL_BYTES));
        TRY_CUDA(cudaMemset(global, 0, GLOBAL_BYTES));
        for (const instruction &one : instructions)
            launch(one, pattern{~0u, ~0u, {}, {}});
        cuCtxGetCurrent(&context);

        CUpti_Profiler_Initialize_Params begin = {CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
        TRY(cuptiProfilerInitialize, &begin);
        CUpti_Device_GetChipName_Params chip = {CUpti_Device_GetChipName_Params_STRUCT_SIZE};
        TRY(cuptiDeviceGetChipName, &chip);
        CUpti_Profiler_GetCounterAvailability_Params may = {CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE};
        may.ctx = context;
        TRY(cuptiProfilerGetCounterAvailability, &may);
        std::vector<uint8_t> image(may.counterAvailabilityImageSize);
        may.pCounterAvailabilityImage = image.data();
        TRY(cuptiProfilerGetCounterAvailability, &may);

        CUpti_SassMetrics_Config config[METRICS];
        for (int m = 0; m < METRICS; m++) {
            CUpti_SassMetrics_GetProperties_Params get = {CUpti_SassMetrics_GetProperties_Params_STRUCT_SIZE};
            get.pChipName = chip.pChipName;
            get.pMetricName = metric_names[m];
            TRY(cuptiSassMetricsGetProperties, &get);
            id[m] = config[m].metricId = get.metric.metricId;
            config[m].outputGranularity = CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_GPU;
        }
        CUpti_SassMetricsSetConfig_Params set = {CUpti_SassMetricsSetConfig_Params_STRUCT_SIZE};
        set.numOfMetricConfig = METRICS;
        set.pConfigs = config;
        TRY(cuptiSassMetricsSetConfig, &set);
    }

    void count(const instruction &one, const pattern &p, uint64_t sum[METRICS]) const
    {
        CUpti_SassMetricsEnable_Params on = {CUpti_SassMetricsEnable_Params_STRUCT_SIZE};
        on.ctx = context;
        on.enableLazyPatching = 1;
        TRY(cuptiSassMetricsEnable, &on);
        launch(one, p);

        CUpti_SassMetricsGetDataProperties_Params has = {CUpti_SassMetricsGetDataProperties_Params_STRUCT_SIZE};
        has.ctx = context;
        TRY(cuptiSassMetricsGetDataProperties, &has);
        const size_t records = has.numOfPatchedInstructionRecords, each = has.numOfInstances * METRICS;
        std::vector<CUpti_SassMetrics_Data> data(records);
        std::vector<CUpti_SassMetrics_InstanceValue> values(records * each, {UINT64_MAX, 0});
        for (size_t i = 0; i < records; i++) {
            data[i].structSize = sizeof data[i];
            data[i].pInstanceValues = &values[i * each];
        }
        if (!values.empty()) {
            CUpti_SassMetricsFlushData_Params flush = {CUpti_SassMetricsFlushData_Params_STRUCT_SIZE};
            flush.ctx = context;
            flush.numOfPatchedInstructionRecords = records;
            flush.numOfInstances = has.numOfInstances;
            flush.pMetricsData = data.data();
            TRY(cuptiSassMetricsFlushData, &flush);
        }
        for (int m = 0; m < METRICS; m++) {
            sum[m] = 0;
            for (const CUpti_SassMetrics_InstanceValue &value : values)
                sum[m] += value.metricId == id[m] ? value.value : 0;
        }
        CUpti_SassMetricsDisable_Params off = {CUpti_SassMetricsDisable_Params_STRUCT_SIZE};
        off.ctx = context;
        TRY(cuptiSassMetricsDisable, &off);
        if (p.active && !sum[WAVEFRONTS])
            fail("counting", "CUPTI counted no wavefronts of an instruction that ran");
    }
};

static void print_offsets(const unsigned offsets[LANES])
{
    for (int lane = 0; lane < LANES; lane++)
        printf("%c%u", lane ? ' ' : ',', offsets[lane]);
}

static void measure(const counter &counter, const instruction &one, const char *name, const pattern &p)
{
    uint64_t sum[METRICS];
    counter.count(one, p, sum);
    printf("%s,%u,%s,%d,0x%08x,0x%08x,%llu,%llu", one.name, one.width, name, one.fills, p.active, p.present,
           (unsigned long long)sum[WAVEFRONTS], (unsigned long long)sum[PACKED]);
    print_offsets(p.shared);
    if (one.copies)
        print_offsets(p.global);
    else
        printf(",");
    printf("\n");
}

/* ------------------------------------------------------------------------------------------------ patterns */

/* The same numbers below n everywhere. */
static unsigned random_below(unsigned n)
{
    static uint32_t state = 12345;
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % n;
}

static unsigned random_lanes()
{
    const unsigned low = random_below(1 << 16);
    return low | random_below(1 << 16) << 16;
}

enum { TRIES = 25, COPIES_TRIES = 40, PLACES = 512, FEW_PLACES = 64, STRIDES = 33 };

static void measure_all(const counter &counter, const instruction &one)
{
    const unsigned w = one.width;
    pattern even = {~0u, ~0u, {}, {}}, p;
    for (unsigned lane = 0; lane < LANES; lane++)
        even.shared[lane] = even.global[lane] = lane * w;
    /* Each pattern is `even` with some of it changed: lane by lane, or as a whole. */
    auto show = [&](const char *name) { measure(counter, one, name, p); };
    auto lanes = [&](const char *name, auto change) {
        p = even;
        for (unsigned lane = 0; lane < LANES; lane++)
            change(lane);
        show(name);
    };

    for (unsigned offset = 0; offset <= 128; offset += w)
        lanes("soff", [&](unsigned lane) { p.shared[lane] += offset; });
    for (unsigned stride = 0; stride <= STRIDES; stride++)
        lanes("sstride", [&](unsigned lane) { p.shared[lane] = lane * w * stride; });
    for (unsigned n = 1; n < LANES; n++) {
        p = even;
        p.active = (1u << n) - 1;
        show("first");
        p.active = ~0u << n;
        show("last");
    }
    for (int i = 0; i < TRIES; i++) {
        p = even;
        p.active = random_lanes();
        show("mask");
        lanes("srandom", [&](unsigned lane) { p.shared[lane] = random_below(FEW_PLACES) * w; });
        const unsigned active = random_lanes();
        lanes("srandommask", [&](unsigned lane) { p.active = active, p.shared[lane] = random_below(PLACES) * w; });
    }
    if (!one.copies)
        return;

    for (unsigned offset = 0; offset <= 128; offset += w)
        lanes("goff", [&](unsigned lane) { p.global[lane] += offset; });
    for (unsigned stride = 0; stride <= STRIDES; stride++)
        lanes("gstride", [&](unsigned lane) { p.global[lane] = lane * w * stride; });
    for (int i = 0; i < TRIES; i++)
        lanes("grandom", [&](unsigned lane) { p.global[lane] = random_below(FEW_PLACES) * w; });
    for (int i = 0; i < COPIES_TRIES; i++) {
        const unsigned active = random_lanes();
        lanes("random", [&](unsigned lane) {
            p.active = active;
            p.shared[lane] = random_below(PLACES) * w, p.global[lane] = random_below(PLACES) * w;
        });
    }
    for (unsigned n = 1; n < LANES; n++) /* n lanes in each row of a tile */
        lanes("rows", [&](unsigned lane) {
            p.shared[lane] = lane / n * 400 + lane % n * w, p.global[lane] = lane / n * 1600 + lane % n * w;
        });
    for (unsigned pitch = 256; pitch < 400; pitch += 16)
        for (unsigned n = 4; n <= 16; n += 4)
            lanes("strip", [&](unsigned lane) {
                p.shared[lane] = lane / n * pitch + lane % n * w, p.global[lane] = lane / n * 208 + lane % n * w;
            });
    for (unsigned n = 1; one.fills && n < LANES; n++) {
        p = even;
        p.present = (1u << n) - 1;
        show("present");
    }
}

int main()
{
    cudaDeviceProp device;
    counter counter;
    TRY_CUDA(cudaGetDeviceProperties(&device, 0));
    if (device.major < 8)
        fail(device.name, "asynchronous copies came with compute capability 8.0");
    counter.open();
    printf("# One warp, one instruction on shared memory; what CUPTI's SASS metrics counted on %s (cc %d.%d, CUDA "
           "%d.%d):\n"
           "# %s and ..._ideal.\n"
           "# op,width,pattern,fills,active,present,wavefronts,packed,byte offsets in shared memory,byte offsets in "
           "global "
           "memory\n",
           device.name, device.major, device.minor, CUDART_VERSION / 1000, CUDART_VERSION / 10 % 100,
           metric_names[WAVEFRONTS]);
    for (const instruction &one : instructions)
        measure_all(counter, one);
    return 0;
}
