/* One launch of a test's own kernel through the CUDA device on the emulator, traced or not. */
#ifndef SMP_TESTS_SIMT_FIXTURE_H
#define SMP_TESTS_SIMT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "device/cuda/cuda.h"
#include "device/kernel_table.h"
#include "device/simt/simt.h"

#define SIMT_FN static __attribute__((unused))

/* What the kernels of test_simt.cu are told; the same struct is there. */
typedef struct simt_case {
    int32_t mode, width;
    uint32_t active;
} simt_case;

typedef struct simt_run {
    const char *kernel;
    simt_case params;
    unsigned blocks, threads, threads_y, shared_bytes;
    const void *in, *table;
    size_t in_size, table_size;
    void *out, *result; /* filled before the launch and afterwards */
    size_t out_size, result_size;
    bool traced;
    smp_trace trace; /* freed by simt_run_free */
} simt_run;

static smp_grid simt_grid;
SIMT_FN void simt_geometry(const smp_io *io, const void *params, smp_grid *grid)
{
    (void)io, (void)params;
    *grid = simt_grid;
}

SIMT_FN smp_code simt_put(smp_device *device, const void *from, size_t size, void **out, smp_error *err)
{
    smp_code code = device->ops->alloc(device, size, out, err);
    int64_t n = (int64_t)size;
    return code ? code : device->ops->copy_in(device, *out, n, from, n, n, 1, err);
}

SIMT_FN smp_code simt_get(smp_device *device, void *to, const void *from, size_t size, smp_error *err)
{
    int64_t n = (int64_t)size;
    return device->ops->copy_out(device, to, n, from, n, n, 1, err);
}

/* Opens the emulator, launches, reads back, closes; the code of the first call that failed. */
SIMT_FN smp_code simt_run_on(smp_driver *driver, simt_run *run, smp_error *err)
{
    smp_device *device = NULL;
    smp_io io = {
        .out = {.width = (int64_t)run->out_size / 4, .height = 1, .rows = 1, .channels = 1, .format = SMP_F32}};
    smp_launch launch = {.cuda = run->kernel, .geometry = simt_geometry};
    smp_variant variant = {.name = "test"};
    smp_node_plan plan = {.kernel_size = sizeof run->params};
    void *in = NULL, *table = NULL, *result = NULL;
    smp_code code = smp_cuda_open(driver, 0, &device, err);
    if (code)
        return code;
    io.in = io.out;
    memcpy(plan.kernel, &run->params, sizeof run->params);
    simt_grid =
        (smp_grid){{run->blocks, 1, 1}, {run->threads, run->threads_y ? run->threads_y : 1, 1}, run->shared_bytes};
    if (!code && run->in_size)
        code = simt_put(device, run->in, run->in_size, &in, err);
    if (!code && run->table_size)
        code = simt_put(device, run->table, run->table_size, &table, err);
    if (!code && run->result_size)
        code = simt_put(device, run->result, run->result_size, &result, err);
    if (!code)
        code = simt_put(device, run->out, run->out_size, &io.out.data, err);
    io.in.data = in;
    io.table = table;
    io.result = result;
    smp_cost cost = {0};
    if (run->traced)
        smp_simt_set_trace(&run->trace);
    if (!code)
        code = device->ops->launch(device, &variant, &launch, &io, &plan, &cost, err);
    smp_simt_set_trace(NULL);
    if (!code)
        code = device->ops->sync(device, err);
    if (!code)
        code = simt_get(device, run->out, io.out.data, run->out_size, err);
    if (!code && run->result_size)
        code = simt_get(device, run->result, result, run->result_size, err);
    device->ops->close(device);
    return code;
}

SIMT_FN smp_code simt_run_it(simt_run *run, smp_error *err)
{
    return simt_run_on(smp_driver_simt(), run, err);
}

SIMT_FN void simt_run_free(simt_run *run)
{
    smp_trace_free(&run->trace);
}

#endif
