/* The devices of a batch's threads: how many threads there are, opening, replacing, closing. See runner.h. */
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/os/numa.h"
#include "base/pool.h"
#include "batch/runner.h"

enum {
    GPU_JOBS = 4,  /* pictures in flight on a GPU, a stream each */
    JPEG_JOBS = 16 /* the same where it decodes and codes: 8, 16, 24 give 244, 265, 248 files a second (H200) */
};

static int64_t files_of(const smp_batch_request *r)
{
    return (int64_t)(r->more && r->expected > r->count ? r->expected : r->count);
}

void smp_batch_jobs(const smp_batch_request *r, const smp_batch_devices *devices, int jobs[SMP_SPLIT_KINDS])
{
    const int64_t cores = r->threads > 0 ? r->threads : smp_pool_cores();
    const int64_t gpus = devices->later ? 1 : devices->count, most = smp_max_i64(1, files_of(r));
    int64_t gpu = devices->gpu ? smp_max_i64(cores, GPU_JOBS * gpus) : 0;
    int64_t cpu = devices->cpu ? cores + cores / 2 + 1 : 0; /* more than there are: some wait for a disk */
    if (devices->jpegs && gpu)                              /* more wait for the driver and for each other */
        gpu = smp_min_i64(cores, smp_min_i64(JPEG_JOBS * gpus, 2 * JPEG_JOBS));
    if (r->jobs > 0 && gpu && cpu) {
        gpu = smp_clamp_i64(r->jobs - 1, 1, gpu);
        cpu = smp_max_i64(1, r->jobs - gpu);
    } else if (r->jobs > 0) {
        gpu = gpu ? r->jobs : 0;
        cpu = cpu ? r->jobs : 0;
    }
    if (devices->emulated) /* one emulator for the process */
        gpu = 1;
    jobs[SMP_SPLIT_GPU] = (int)smp_clamp_i64(gpu, gpu > 0, smp_min_i64(SMP_BATCH_MOST_JOBS / 2, most));
    jobs[SMP_SPLIT_CPU] = (int)smp_clamp_i64(cpu, cpu > 0, smp_min_i64(SMP_BATCH_MOST_JOBS / 2, most));
}

static const char *spec_of(const smp_batch_devices *devices, int of)
{
    return of == SMP_BATCH_PROCESSORS ? devices->processors : devices->specs[of];
}

static smp_code open_device(smp_batch_worker *w, int of, smp_error *err)
{
    const smp_batch_request *r = w->b->request;
    const smp_batch_devices *devices = w->b->devices;
    const bool emulator = of != SMP_BATCH_PROCESSORS && devices->emulated;
    const smp_device_request ask = {.spec = spec_of(devices, of), .threads = emulator ? r->threads : 1, .isa = r->isa};
    w->of = of;
    SMP_TRY(smp_device_open(&ask, &w->device, NULL, 0, err));
    if (!strcmp(w->device->info.kind, "cuda"))
        (void)smp_numa_stay("/sys", w->device->info.numa_node);
    SMP_TRY(smp_run_cache_open(&w->cache, err));
    w->kind = w->device->host_memory ? SMP_SPLIT_CPU : SMP_SPLIT_GPU;
    return SMP_OK;
}

/* Counts the thread among those that take files. The lock is held. */
static void join(smp_batch_worker *w)
{
    smp_batch *b = w->b;
    b->split.lanes[w->kind]++;
    if (!b->names[w->kind][0])
        snprintf(b->names[w->kind], sizeof b->names[w->kind], "%s", w->device->info.name);
}

bool smp_batch_is_lost(smp_device *device, smp_code code)
{
    return code == SMP_E_DEVICE && !device->host_memory && device->ops->sync(device, NULL) != SMP_OK;
}

void smp_batch_close_own(smp_batch_worker *w)
{
    smp_run_cache_close(w->cache);
    smp_device_close(w->device);
    w->cache = NULL;
    w->device = NULL;
}

smp_code smp_batch_replace_device(smp_batch_worker *w, smp_error *err)
{
    smp_batch *b = w->b;
    const int count = b->devices->count, own = w->of;
    smp_code code = SMP_E_DEVICE;
    pthread_mutex_lock(&b->lock);
    b->lost[own] = true;
    b->split.lanes[w->kind]--;
    smp_split_end(&b->split, w->kind, w->class_index, SMP_SPLIT_NOTHING, 0, 0);
    if (w->keeps)
        b->keeping--;
    w->keeps = false;
    pthread_mutex_unlock(&b->lock);
    smp_batch_close_own(w);
    for (int i = 1; code && i < count; i++) {
        const int of = (own + i) % count;
        pthread_mutex_lock(&b->lock);
        const bool works = !b->lost[of];
        pthread_mutex_unlock(&b->lock);
        if (works && (code = open_device(w, of, err)))
            smp_batch_close_own(w);
    }
    if (code)
        code = open_device(w, SMP_BATCH_PROCESSORS, err);
    pthread_mutex_lock(&b->lock);
    if (!code)
        join(w);
    smp_split_begin(&b->split, w->kind, w->class_index);
    pthread_mutex_unlock(&b->lock);
    return code;
}

/* Whether the thread should open its device, once the first of that device has. The lock is held. */
static bool should_open(smp_batch_worker *w)
{
    smp_batch *b = w->b;
    const bool gpu = w->of != SMP_BATCH_PROCESSORS;
    while (gpu && !w->first && !b->known[w->of] && !smp_batch_stopping(b))
        smp_batch_wait(b, &b->changed);
    return !smp_batch_stopping(b) && !(b->no_more && b->next == b->handed) && !(gpu && b->lost[w->of]);
}

void smp_batch_open_own(smp_batch_worker *w)
{
    smp_batch *b = w->b;
    smp_error err = {.code = SMP_OK};
    pthread_mutex_lock(&b->lock);
    const bool opens = should_open(w), gpu = w->of != SMP_BATCH_PROCESSORS;
    const int own = w->of;
    pthread_mutex_unlock(&b->lock);
    const smp_code code = opens ? open_device(w, own, &err) : SMP_OK;
    pthread_mutex_lock(&b->lock);
    w->opened = opens && !code;
    b->opened |= w->opened;
    if (w->opened)
        join(w);
    if (gpu && w->first) {
        b->known[own] = true;
        b->lost[own] |= code != SMP_OK;
    }
    if (code && w->first && !b->refused.code) /* later ones are more than must be */
        b->refused = err;
    b->opening -= w->first;
    if (!b->opening && !b->opened && b->refused.code) {
        b->unopened = b->refused;
        b->stopped = true;
    }
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
}
