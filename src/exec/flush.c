/* Emptying caches: see flush.h. */
#include "exec/flush.h"

#include "base/alloc.h"
#include "base/checked.h"

struct smp_flush {
    smp_device *device;
    void *buffer; /* null where single lines can be put out */
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
static void put_out(const smp_view *view)
{
    (void)view;
}
#endif

smp_code smp_flush_open(smp_device *device, smp_flush **out, smp_error *err)
{
    enum { LEAST = 32 << 20, MOST = 256 << 20 };
    *out = NULL;
    smp_flush *flush = smp_alloc(sizeof *flush);
    if (!flush)
        return smp_fail_memory(err, "a buffer", sizeof *flush);
    flush->device = device;
    if (!device->host_memory || !by_lines) {
        flush->size = (size_t)smp_clamp_i64(2 * device->info.cache, LEAST, MOST);
        smp_code code = device->ops->alloc(device, flush->size, &flush->buffer, err);
        if (code) {
            smp_free(flush);
            return code;
        }
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
    smp_free(flush);
}

smp_code smp_flush_views(smp_flush *flush, const smp_view *const *views, size_t count, smp_error *err)
{
    smp_code code = SMP_OK;
    if (flush->buffer)
        code = flush->device->ops->zero(flush->device, flush->buffer, flush->size, err);
    else
        for (size_t i = 0; i < count; i++)
            if (views[i]->data)
                put_out(views[i]);
#if defined(__x86_64__)
    __builtin_ia32_mfence();
#endif
    return code ? code : flush->device->ops->sync(flush->device, err);
}
