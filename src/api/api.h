/* Shared by the files of the library: the objects behind the handles of smempipe.h. Internal to src/api. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "api/smempipe.h"
#include "device/device.h"
#include "pipe/plan/plan.h"
#include "run/result.h"
#include "run/strips/runner.h"

/* Plans point into the program, so that they keep it. Diagnostics of later calls are collected apart, in a copy of the
 * sources (smp_diags_take_sources), since threads share the pipeline. */
struct smempipe_pipeline {
    atomic_int users; /* the caller's handle, and plans */
    smp_program *program;
    smp_diags diags;
    char *warnings; /* null: none */
};

struct smempipe_plan {
    smempipe_pipeline *pipeline;
    smp_plan *plan;
    smp_shape input;
    smempipe_shape shape; /* the same, as the caller gave it */
    char *text;           /* from open_memstream */
};

struct smempipe_device {
    smp_device *device;
    pthread_mutex_t lock; /* held by a run */
};

/* Fills *out (may be null) with the error, or with the mistakes of diags (may be null) where there are some. Returns
 * the public code. Makes `return smp_api_fail(...)` work: an error of SMP_OK gives SMEMPIPE_OK and a null *out. */
smempipe_code smp_api_fail(smempipe_error **out, const smp_error *err, const smp_diags *diags);

/* The caller's mistake. */
smempipe_code smp_api_wrong(smempipe_error **out, const char *format, ...) SMP_PRINTF(2, 3);

/* A shape as the caller gave it, checked; and the other way round. */
smp_code smp_api_shape(const smempipe_shape *from, smp_shape *to, smp_error *err);
void smp_api_public_shape(const smp_shape *from, smempipe_shape *to);

/* Bytes of a row, and of a whole picture without gaps; false: more than can be counted. */
bool smp_api_bytes(const smempipe_shape *shape, int64_t *row, size_t *all);

/* Plans for a picture: in: its samples, for stages that must see them; null data: there are none. */
smp_code smp_api_plan(const smempipe_pipeline *pipeline, const smp_shape *shape, bool measure, smp_device *device,
                      const smp_view *in, smp_diags *diags, smp_plan **out, smp_error *err);

/* Runs a plan between endpoints and makes the result (may be null). The caller holds the device. */
smp_code smp_api_run(const smempipe_pipeline *pipeline, const smp_plan *plan, smp_device *device, smp_endpoint *source,
                     smp_endpoint *sinks, smempipe_result **result, smp_error *err);

/* Takes over the report. */
smp_code smp_api_result(smp_run_report *report, smempipe_result **out, smp_error *err);
