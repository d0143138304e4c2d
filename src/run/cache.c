/* Plans, runners and buffers that are reused from file to file: see cache.h. */
#include "run/cache.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/paths.h"

smp_code smp_run_cache_open(smp_run_cache **out, smp_error *err)
{
    *out = smp_alloc(sizeof **out);
    return *out ? SMP_OK : smp_fail_memory(err, "a cache", sizeof **out);
}

void smp_cache_drop_runner(smp_cached_plan *entry)
{
    smp_runner_close(entry->runner);
    entry->runner = NULL;
}

void smp_cache_drop_plan(smp_cached_plan *entry)
{
    smp_cache_drop_runner(entry);
    smp_plan_free(entry->plan);
    entry->plan = NULL;
}

void smp_run_cache_clear(smp_run_cache *cache)
{
    for (int i = 0; i < SMP_CACHED_PLANS; i++)
        smp_cache_drop_plan(&cache->plans[i]);
    for (size_t i = 0; i < cache->buffer_capacity; i++)
        smp_free(cache->buffers[i].data);
    smp_free(cache->buffers);
    cache->buffers = NULL;
    cache->buffer_capacity = 0;
}

void smp_run_cache_close(smp_run_cache *cache)
{
    if (cache)
        smp_run_cache_clear(cache);
    smp_free(cache);
}

bool smp_run_same_shape(const smp_shape *a, const smp_shape *b)
{
    return a->kind == b->kind && a->width == b->width && a->height == b->height && a->channels == b->channels &&
           a->alpha == b->alpha && a->format == b->format && a->speakers == b->speakers &&
           !memcmp(&a->curve, &b->curve, sizeof a->curve) && !(a->rate < b->rate) && !(a->rate > b->rate);
}

static bool same_scan(const smp_scan *a, const smp_scan *b)
{
    return a->shape.width == b->shape.width && a->shape.height == b->shape.height && a->across == b->across &&
           a->down == b->down;
}

smp_cached_plan *smp_cache_find(smp_run_cache *cache, const smp_media *media, const char *output)
{
    const smp_jpeg_coding *jpeg = smp_coding_jpeg(&media->meta.coding);
    smp_hash profile = smp_hash_start();
    smp_hash_add(&profile, media->meta.icc.data, media->meta.icc.size);
    smp_hash_add(&profile, media->meta.cicp, media->meta.has_cicp ? sizeof media->meta.cicp : 0);
    smp_hash_add(&profile, media->meta.chrm, media->meta.has_chrm ? sizeof media->meta.chrm : 0);
    smp_hash_add(&profile, &media->meta.x_density, sizeof media->meta.x_density);
    smp_hash_add(&profile, &media->meta.y_density, sizeof media->meta.y_density);
    const char *dot = output ? strrchr(smp_base_name(output), '.') : NULL, *extension = dot ? dot + 1 : "";
    smp_cached_plan *oldest = &cache->plans[0];
    if (strlen(extension) >= sizeof oldest->extension)
        return NULL;
    cache->clock++;
    for (int i = 0; i < SMP_CACHED_PLANS; i++) {
        smp_cached_plan *entry = &cache->plans[i];
        if (entry->plan && entry->orientation == media->orientation && !strcmp(entry->extension, extension) &&
            entry->profile.a == profile.a && entry->profile.b == profile.b &&
            smp_run_same_shape(&entry->input, &media->shape) && same_scan(&entry->scan, &media->scan) &&
            !memcmp(&entry->jpeg, jpeg, sizeof entry->jpeg)) {
            entry->used = cache->clock;
            return entry;
        }
        if (entry->used < oldest->used)
            oldest = entry;
    }
    smp_cache_drop_plan(oldest);
    oldest->input = media->shape;
    oldest->scan = media->scan;
    oldest->jpeg = *jpeg;
    oldest->orientation = media->orientation;
    oldest->profile = profile;
    oldest->used = cache->clock;
    snprintf(oldest->extension, sizeof oldest->extension, "%s", extension);
    return oldest;
}

smp_code smp_cache_buffer(smp_run_cache *cache, size_t index, size_t size, void **out, smp_error *err)
{
    *out = NULL;
    SMP_NEED(smp_grow(&cache->buffers, &cache->buffer_capacity, index + 1, sizeof *cache->buffers), "buffers",
             (index + 1) * sizeof *cache->buffers, err);
    if (cache->buffers[index].size < size) {
        smp_free(cache->buffers[index].data);
        cache->buffers[index].size = 0;
        cache->buffers[index].data = smp_alloc_raw(size);
        SMP_NEED(cache->buffers[index].data, "a picture or a sound", size, err);
        cache->buffers[index].size = size;
    }
    *out = cache->buffers[index].data;
    return SMP_OK;
}
