/* See feed_gpu.h. */
#include "feed/feed_gpu.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "device/cuda/cuda.h"

/* For the pictures of a lane: those of a launch, some 37 of 500 x 375 pixels; and one alone, of 25 megapixels. */
static const smp_together_need usual = {.memory = 128 << 20, .sent = 12 << 20, .back = 1 << 20};
static const smp_together_need most = {.memory = 256 << 20, .sent = 64 << 20, .back = 4 << 20};

/* Lanes of 64 pictures: two made 32,000 pictures a second of 500 x 375 pixels, three 44,000, six 60,000 (H200, 16
 * processors). As many in smaller parts take half the memory. */
enum { LANES = 6, TOGETHER = 32, MOST_WAITING = 256 << 20 /* bytes of rows in the queue */ };

typedef struct lane {
    struct smp_feed_gpu *gpu;
    smp_device *device;
    smp_together *runner;
    pthread_t thread;
} lane;

struct smp_feed_gpu {
    smp_device *device; /* of the thread that maps memory */
    lane lanes[LANES];
    int count, running; /* lanes; their threads */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    smp_feed_picture *queue, **queue_end;
    size_t waiting; /* bytes */
    bool ended;
    smp_feed_gpu_ended *tell;
    void *context;
};

static void free_picture(smp_feed_picture *p)
{
    smp_plan_free(p->many.plan);
    smp_free_all((void *)(uintptr_t)p->many.rows, p);
}

/* As many pictures as run together; none: there will be no more. */
static int take_some(smp_feed_gpu *gpu, smp_feed_picture **some)
{
    smp_together_need need = {0, 0, 0};
    int count = 0;
    pthread_mutex_lock(&gpu->lock);
    while (!gpu->queue && !gpu->ended)
        pthread_cond_wait(&gpu->changed, &gpu->lock);
    for (smp_feed_picture *p; (p = gpu->queue) && count < TOGETHER; some[count++] = p) {
        need.memory += p->many.need.memory;
        need.sent += p->many.need.sent;
        need.back += p->many.need.back;
        if (count && (need.memory >= usual.memory || need.sent >= usual.sent || need.back >= usual.back))
            break;
        gpu->queue = p->next;
        gpu->waiting -= p->bytes;
    }
    if (!gpu->queue)
        gpu->queue_end = &gpu->queue;
    pthread_cond_broadcast(&gpu->changed);
    pthread_mutex_unlock(&gpu->lock);
    return count;
}

/* Finished ones are copied; the others run together. */
static smp_code run_some(lane *l, smp_feed_picture **some, int count, smp_error *err)
{
    smp_together_picture *coded[TOGETHER];
    size_t coded_count = 0;
    for (int i = 0; i < count; i++) {
        const int64_t bytes = (int64_t)some[i]->bytes;
        if (some[i]->many.plan)
            coded[coded_count++] = &some[i]->many;
        else
            SMP_TRY(l->device->ops->copy_in(l->device, some[i]->many.place, bytes, some[i]->many.rows, bytes, bytes, 1,
                                            err));
    }
    return coded_count ? smp_together_run(l->runner, coded, coded_count, err) : l->device->ops->sync(l->device, err);
}

static void *work(void *context)
{
    lane *l = context;
    smp_feed_picture *some[TOGETHER];
    for (int count; (count = take_some(l->gpu, some));) {
        smp_error err = {.code = SMP_OK};
        const smp_code code = run_some(l, some, count, &err);
        for (int i = 0; i < count; i++) {
            const bool other = some[i]->many.plan && code == SMP_E_DEVICE_MEMORY; /* who trains may have taken it all */
            some[i]->many.doubtful |= other;
            l->gpu->tell(l->gpu->context, some[i], code && !other ? &err : NULL);
            free_picture(some[i]);
        }
    }
    return NULL;
}

static smp_code open_lane(lane *l, const smp_device_request *ask, const smp_feed_format *format, smp_error *err)
{
    const bool halves = format->type == SMP_FEED_F16;
    const void *table = halves ? (const void *)format->halves : format->values; /* bytes stay as they are */
    const size_t size = halves ? sizeof format->halves : sizeof format->values;
    SMP_TRY(smp_device_open(ask, &l->device, NULL, 0, err));
    return smp_together_open(l->device, &usual, table, size, &l->runner, err);
}

smp_code smp_feed_gpu_open(const char *device, const smp_feed_format *format, smp_feed_gpu_ended *ended, void *context,
                           smp_feed_gpu **out, smp_error *err)
{
    const smp_device_request ask = {.spec = device};
    smp_feed_gpu *gpu = smp_alloc(sizeof *gpu);
    *out = NULL;
    SMP_NEED(gpu, "a GPU's queue", sizeof *gpu, err);
    gpu->tell = ended;
    gpu->context = context;
    gpu->queue_end = &gpu->queue;
    pthread_mutex_init(&gpu->lock, NULL);
    pthread_cond_init(&gpu->changed, NULL);
    gpu->count = strcmp(device, "simt") ? LANES : 1; /* the emulator is one for the process */
    smp_code code = smp_device_open(&ask, &gpu->device, NULL, 0, err);
    for (int i = 0; !code && i < gpu->count; i++) {
        gpu->lanes[i].gpu = gpu;
        code = open_lane(&gpu->lanes[i], &ask, format, err);
    }
    for (; !code && gpu->running < gpu->count; gpu->running++)
        if (pthread_create(&gpu->lanes[gpu->running].thread, NULL, work, &gpu->lanes[gpu->running]) != 0) {
            code = smp_fail(err, SMP_E_PROCESS, "cannot start a thread");
            break;
        }
    if (code) {
        smp_feed_gpu_close(gpu);
        return code;
    }
    *out = gpu;
    return SMP_OK;
}

void smp_feed_gpu_end(smp_feed_gpu *gpu)
{
    if (!gpu)
        return;
    pthread_mutex_lock(&gpu->lock);
    gpu->ended = true;
    pthread_cond_broadcast(&gpu->changed);
    pthread_mutex_unlock(&gpu->lock);
    while (gpu->running)
        pthread_join(gpu->lanes[--gpu->running].thread, NULL);
}

void smp_feed_gpu_close(smp_feed_gpu *gpu)
{
    smp_feed_gpu_end(gpu);
    if (!gpu)
        return;
    for (int i = 0; i < gpu->count; i++) {
        smp_together_close(gpu->lanes[i].runner);
        smp_device_close(gpu->lanes[i].device);
    }
    smp_device_close(gpu->device);
    pthread_mutex_destroy(&gpu->lock);
    pthread_cond_destroy(&gpu->changed);
    smp_free(gpu);
}

bool smp_feed_gpu_is_emulated(const smp_feed_gpu *gpu)
{
    return !strcmp(gpu->device->info.kind, "simt");
}

bool smp_feed_gpu_serves(const smp_feed_gpu *gpu, const smp_plan *plan, smp_together_need *need)
{
    return smp_together_serves(&gpu->device->info, plan, &most, need);
}

void smp_feed_gpu_take(smp_feed_gpu *gpu, smp_feed_picture *picture)
{
    pthread_mutex_lock(&gpu->lock);
    while (gpu->waiting && gpu->waiting + picture->bytes > MOST_WAITING)
        pthread_cond_wait(&gpu->changed, &gpu->lock);
    picture->next = NULL;
    *gpu->queue_end = picture;
    gpu->queue_end = &picture->next;
    gpu->waiting += picture->bytes;
    pthread_cond_broadcast(&gpu->changed);
    pthread_mutex_unlock(&gpu->lock);
}

smp_code smp_feed_gpu_map(smp_feed_gpu *gpu, const CUipcMemHandle *handle, void **out, smp_error *err)
{
    return smp_cuda_shared_open(gpu->device, handle, out, err);
}

void smp_feed_gpu_unmap(smp_feed_gpu *gpu, void *memory)
{
    smp_cuda_shared_close(gpu->device, memory);
}
