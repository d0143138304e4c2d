/* The CPU as a device. Memory is the host's. A launch runs on a pool of threads: one band of rows for each thread or,
 * in large launches, many bands that the threads take one after another. Kernels are compiled for base, x86-64-v3 and
 * x86-64-v4; opening the device picks one. */
#include "device/cpu.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/clock.h"
#include "base/pool.h"
#include "stages/foreign.h"

typedef struct worker { /* one thread's own memory; grows between launches, never during one */
    void *scratch;
    size_t scratch_size;
    void *counts; /* a private copy of a reduction's counters */
    size_t counts_size;
    uint64_t clipped;
} worker;

typedef struct cpu_device {
    smp_device base;
    smp_isa isa;
    int threads;
    worker *workers;
    smp_pool *pool;
} cpu_device;

/* ---------------------------------------------------------------------------------------------- what this machine is
 */

#if defined(SMP_WITHOUT_V3) || defined(SMP_WITHOUT_V4)
#define OWNER "build or processor"
#else
#define OWNER "processor"
#endif
#ifdef SMP_WITHOUT_V3
enum { SKIPPED = true };
#else
enum { SKIPPED = false };
#endif
#ifdef SMP_ONE_ISA /* a build for this machine's processor (SMP_NATIVE, SMP_FIRST) */
#define LOWEST SMP_ONE_ISA
#else
#define LOWEST SMP_ISA_BASE
#endif

static smp_isa best_isa(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
              __builtin_cpu_supports("fma");
    bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
              __builtin_cpu_supports("avx512vl");
#ifdef SMP_WITHOUT_V4
    v4 = false;
#endif
#ifdef SMP_WITHOUT_V3
    v3 = false;
#endif
    return v4 ? SMP_ISA_V4 : v3 ? SMP_ISA_V3 : SMP_ISA_BASE;
#else
    return SMP_ISA_BASE;
#endif
}

static const char *const isa_names[] = {"base", "v3", "v4"};

/* The processor's name from /proc/cpuinfo; "CPU" when it has none. */
static void processor_name(char *name, size_t size)
{
    snprintf(name, size, "CPU");
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[256];
    while (file && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) || !colon)
            continue;
        colon[strcspn(colon, "\n")] = '\0';
        snprintf(name, size, "%.*s", (int)size - 1, colon + 2);
        break;
    }
    if (file)
        fclose(file);
}

static int64_t last_cache(void)
{
#if defined(_SC_LEVEL3_CACHE_SIZE)
    long third = sysconf(_SC_LEVEL3_CACHE_SIZE), second = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return third > 0 ? third : second > 0 ? second : 0;
#else
    return 0;
#endif
}

void smp_cpu_info(smp_device_info *info)
{
    *info = (smp_device_info){0};
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    info->units = smp_pool_cores();
    info->memory = pages > 0 && page > 0 ? (int64_t)pages * page : 0;
    info->cache = last_cache();
    snprintf(info->kind, sizeof info->kind, "cpu");
    snprintf(info->isa, sizeof info->isa, "%s", isa_names[best_isa()]);
    processor_name(info->name, sizeof info->name);
}

/* ---------------------------------------------------------------------------------------------- memory */

static smp_code cpu_alloc(smp_device *, size_t size, void **out, smp_error *err)
{
    *out = smp_alloc_raw(size);
    return *out ? SMP_OK : smp_fail_memory(err, "a step's samples", size);
}

static void cpu_free(smp_device *, void *memory)
{
    smp_free(memory);
}

static smp_code cpu_zero(smp_device *, void *memory, size_t size, smp_error *)
{
    memset(memory, 0, size);
    return SMP_OK;
}

static smp_code cpu_copy_rows(smp_device *, void *to, int64_t to_stride, const void *from, int64_t from_stride,
                              int64_t row_bytes, int64_t rows, smp_error *)
{
    if (rows > 0 && to_stride == row_bytes && from_stride == row_bytes) { /* a sound's rows lie end to end */
        row_bytes *= rows;
        rows = 1;
    }
    for (int64_t y = 0; y < rows; y++)
        memcpy((char *)to + y * to_stride, (const char *)from + y * from_stride, (size_t)row_bytes);
    return SMP_OK;
}

/* Rows of one window move towards its start, over those that they leave. */
static smp_code cpu_copy(smp_device *device, void *to, int64_t to_stride, const void *from, int64_t from_stride,
                         int64_t row_bytes, int64_t rows, smp_error *err)
{
    if (to_stride != from_stride)
        return cpu_copy_rows(device, to, to_stride, from, from_stride, row_bytes, rows, err);
    if (rows > 0)
        memmove(to, from, (size_t)((rows - 1) * to_stride + row_bytes));
    return SMP_OK;
}

static smp_code cpu_wait(smp_device *, void *, smp_error *)
{
    return SMP_OK;
}

/* ---------------------------------------------------------------------------------------------- launches */

static smp_code reserve(void **memory, size_t *have, size_t want, smp_error *err)
{
    if (want <= *have)
        return SMP_OK;
    smp_free(*memory);
    *have = 0;
    *memory = smp_alloc(want);
    SMP_NEED(*memory, "a thread's memory", want, err);
    *have = want;
    return SMP_OK;
}

/* Gives every thread what a launch needs: scratch memory and, for counters, a zeroed private copy. */
static smp_code ready_workers(cpu_device *cpu, size_t scratch, size_t counts, smp_error *err)
{
    for (int i = 0; i < cpu->threads; i++) {
        worker *w = &cpu->workers[i];
        SMP_TRY(reserve(&w->scratch, &w->scratch_size, scratch, err));
        SMP_TRY(reserve(&w->counts, &w->counts_size, counts, err));
        w->clipped = 0;
        if (counts)
            memset(w->counts, 0, counts);
    }
    return SMP_OK;
}

/* One launch, as its threads see it. A band is a number of whole units: rows of io->out (or the launch's own things)
 * that begin at multiples of `unit` rows of the picture. */
typedef struct bands {
    cpu_device *cpu;
    smp_cpu_fn *kernel;
    const smp_io *io;
    const smp_node_plan *plan;
    int64_t from, to; /* the rows of io->out, or the launch's things */
    int64_t unit;
    int64_t first, units; /* the first unit, and how many */
    int64_t least;        /* the smallest band, in units; 0: one band for each thread */
    _Atomic int64_t taken;
    bool counts;  /* threads add to private copies */
    char *result; /* else: all threads share it */
} bands;

enum {
    SHARED_BYTES = 8 << 20, /* bytes of input and output: below this the data stays in the caches of the threads that
                               made it, if bands do not move */
    LEAST_SHARE = 32,       /* the smallest band as a fraction of a thread's share */
    LEAST_COUNTING = 8      /* the same where every band starts and empties tables of its own */
};

/* Bands get smaller towards the end, so that no thread waits long for another: rows cost the same, but threads are not
 * equally fast where other programs run. Each band is half of an equal share of the rows left. */
static void share_out(bands *b)
{
    const smp_view *in = &b->io->in, *out = &b->io->out;
    b->first = b->from / b->unit;
    b->units = (b->to + b->unit - 1) / b->unit - b->first;
    if (b->cpu->threads > 1 && in->rows * in->stride + out->rows * out->stride >= SHARED_BYTES)
        b->least = smp_max_i64(1, b->units / ((int64_t)(b->counts ? LEAST_COUNTING : LEAST_SHARE) * b->cpu->threads));
}

/* The next band, units *at .. *end-1; false when none is left. */
static bool take_band(bands *b, int64_t *at, int64_t *end)
{
    *at = b->taken;
    do
        *end = smp_min_i64(b->units, *at + smp_max_i64(b->least, (b->units - *at) / (2 * b->cpu->threads)));
    while (!atomic_compare_exchange_weak(&b->taken, at, *end));
    return *at < *end;
}

static void run_band(const bands *b, worker *w, int64_t at, int64_t end)
{
    const int64_t from = smp_clamp_i64((b->first + at) * b->unit, b->from, b->to),
                  to = smp_clamp_i64((b->first + end) * b->unit, b->from, b->to);
    smp_io own = *b->io;
    own.clipped = b->io->clipped ? &w->clipped : NULL;
    own.result = b->counts ? w->counts : b->result;
    if (from < to)
        b->kernel(&own, b->plan->kernel.bytes, w->scratch, from, to);
}

static void run_bands(void *context, int part)
{
    bands *b = context;
    worker *w = &b->cpu->workers[part];
    int64_t at, end;
    if (b->least)
        while (take_band(b, &at, &end))
            run_band(b, w, at, end);
    else
        run_band(b, w, b->units * part / b->cpu->threads, b->units * (part + 1) / b->cpu->threads);
}

static void run_part(void *context, int part)
{
    smp_while_wished(((const bands *)context)->cpu->base.wish, run_bands, context, part);
}

static smp_code cpu_launch(smp_device *device, const smp_variant *variant, const smp_launch *launch, const smp_io *io,
                           const smp_node_plan *plan, smp_cost *cost, smp_error *err)
{
    cpu_device *cpu = (cpu_device *)device;
    if (launch->foreign) {
        const double began = smp_now();
        const smp_code done = smp_foreign_run(launch->foreign, io, err);
        cost->seconds += smp_now() - began;
        return done;
    }
    smp_cpu_fn *kernel = launch->cpu.fn[cpu->isa];
    size_t scratch = variant->scratch ? variant->scratch(io, plan->kernel.bytes) : 0, result_at = 0, result_size = 0;
    bool reduces = plan->reduction.kind != SMP_RESULT_NONE && io->result, counts = false;
    if (reduces && !smp_result_part(&plan->reduction, launch, &result_at, &result_size, &counts))
        return SMP_OK;
    char *result = reduces ? (char *)io->result + result_at : NULL;
    int64_t unit = smp_max_i64(1, variant->band);
    if (reduces && !counts)
        unit = smp_max_i64(unit, smp_chunk_rows(io->in.width));
    SMP_TRY(ready_workers(cpu, scratch, counts ? result_size : 0, err));
    double start = smp_now();
    bands launched = {
        .cpu = cpu, .kernel = kernel, .io = io, .plan = plan, .unit = unit, .counts = counts, .result = result};
    launched.from = launch->items ? 0 : io->out.y0;
    launched.to = launch->items ? launch->items(io, plan->kernel.bytes) : io->out.y0 + io->out.rows;
    share_out(&launched);
    smp_pool_run(cpu->pool, cpu->threads, run_part, &launched);
    for (int i = 0; i < cpu->threads; i++) {
        const uint64_t *part = cpu->workers[i].counts;
        for (size_t k = 0; counts && k < result_size / sizeof *part; k++)
            ((uint64_t *)(void *)result)[k] += part[k];
        if (io->clipped)
            *io->clipped += cpu->workers[i].clipped;
    }
    cost->seconds += smp_now() - start;
    return device->wish && device->wish->gone(device->wish->context) ? SMP_E_INTERRUPTED : SMP_OK;
}

static smp_code cpu_sync(smp_device *, smp_error *)
{
    return SMP_OK;
}

static void cpu_close(smp_device *device)
{
    cpu_device *cpu = (cpu_device *)device;
    for (int i = 0; cpu->workers && i < cpu->threads; i++)
        smp_free_all(cpu->workers[i].scratch, cpu->workers[i].counts);
    smp_pool_close(cpu->pool);
    smp_free_all(cpu->workers, cpu);
}

static const smp_device_ops cpu_ops = {
    .alloc = cpu_alloc,
    .free = cpu_free,
    .zero = cpu_zero,
    .copy_in = cpu_copy_rows,
    .copy_out = cpu_copy_rows,
    .copy = cpu_copy,
    .wait = cpu_wait,
    .launch = cpu_launch,
    .sync = cpu_sync,
    .close = cpu_close,
};

smp_code smp_cpu_open(int threads, const char *isa, smp_device **out, smp_error *err)
{
    *out = NULL;
    smp_isa best = best_isa(), use = best;
    if (isa) {
        use = SMP_ISAS;
        for (int i = 0; i < SMP_ISAS; i++)
            if (!strcmp(isa, isa_names[i]))
                use = (smp_isa)i;
        if (use == SMP_ISAS)
            return smp_fail(err, SMP_E_USAGE, "unknown instruction set '%s': base, v3 or v4", isa);
        if ((int)use < LOWEST)
            return smp_fail(err, SMP_E_DEVICE, "this build has no %s: its lowest is %s", isa, isa_names[LOWEST]);
        if (use > best || (SKIPPED && use == SMP_ISA_V3))
            return smp_fail(err, SMP_E_DEVICE, "this %s has no %s: its best is %s", OWNER, isa, isa_names[best]);
    }
    if ((int)use < LOWEST)
        return smp_fail(err, SMP_E_DEVICE, "this build is for processors that have %s: cmake -DSMP_NATIVE=OFF",
                        isa_names[LOWEST]);
    cpu_device *cpu = smp_alloc(sizeof *cpu);
    SMP_NEED(cpu, "the CPU device", sizeof *cpu, err);
    cpu->base.ops = &cpu_ops;
    cpu->base.host_memory = true;
    smp_cpu_info(&cpu->base.info);
    cpu->threads = threads > 0 ? threads : cpu->base.info.units;
    cpu->base.info.units = cpu->threads;
    snprintf(cpu->base.info.isa, sizeof cpu->base.info.isa, "%s", isa_names[use]);
    cpu->isa = use;
    cpu->workers = smp_alloc_array((size_t)cpu->threads, sizeof *cpu->workers);
    smp_code code = cpu->workers ? smp_pool_open(cpu->threads, &cpu->pool, err)
                                 : smp_fail_memory(err, "the CPU device", sizeof *cpu->workers);
    if (code) {
        smp_free_all(cpu->workers, cpu);
        return code;
    }
    *out = &cpu->base;
    return SMP_OK;
}
