/* Flushing caches: see flush_caches.h. */
#include "compare/internal.h"

#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "run/peaks.h"

struct smp_flush {
    smp_device *device;
    void *buffer, *sums; /* null where single cache lines can be flushed */
    size_t size;
};

#if defined(__x86_64__)
static const bool by_lines = true;

static void put_out(const smp_view *view)
{
    enum { LINE = 64 };
    const char *at = view->data, *end = at + view->rows * view->stride;
    for (at -= (uintptr_t)at % LINE; at < end; at += LINE)
        __builtin_ia32_clflush(at);
}
#else
static const bool by_lines = false;
static void put_out(const smp_view *) {}
#endif

smp_code smp_flush_open(smp_device *device, smp_flush **out, smp_error *err)
{
    enum { LEAST = 4 << 20, MOST = 512 << 20, TIMES = 4 }; /* 1 is not enough: caches are not exactly LRU */
    *out = NULL;
    smp_flush *flush = smp_alloc(sizeof *flush);
    SMP_NEED(flush, "a buffer", sizeof *flush, err);
    flush->device = device;
    smp_code code = SMP_OK;
    if (strcmp(device->info.kind, "simt") != 0 && (!device->host_memory || !by_lines)) {
        flush->size = (size_t)smp_clamp_i64(TIMES * device->info.cache, LEAST, MOST);
        code = device->ops->alloc(device, flush->size, &flush->buffer, err);
        code = code ? code : device->ops->zero(device, flush->buffer, flush->size, err);
        code = code ? code : device->ops->alloc(device, smp_peak_sums(flush->size), &flush->sums, err);
    }
    if (code) {
        smp_flush_close(flush);
        return code;
    }
    *out = flush;
    return SMP_OK;
}

void smp_flush_close(smp_flush *flush)
{
    if (!flush)
        return;
    if (flush->buffer)
        flush->device->ops->free(flush->device, flush->buffer);
    if (flush->sums)
        flush->device->ops->free(flush->device, flush->sums);
    smp_free(flush);
}

smp_code smp_flush_views(smp_flush *flush, const smp_view *const *views, size_t count, smp_error *err)
{
    smp_code code = SMP_OK;
    if (flush->buffer)
        code = smp_peak_touch(flush->device, flush->buffer, flush->size, flush->sums, err);
    else if (by_lines && flush->device->host_memory)
        for (size_t i = 0; i < count; i++)
            if (views[i]->data)
                put_out(views[i]);
#if defined(__x86_64__)
    __builtin_ia32_mfence();
#endif
    return code ? code : flush->device->ops->sync(flush->device, err);
}
