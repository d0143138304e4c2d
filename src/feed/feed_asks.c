/* Receives what is asked of a feed: see feed.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "feed/feed_internal.h"
#include "io/files/tar.h"

enum {
    MOST_MESSAGE = 256 << 20, /* bytes */
    MOST_SAMPLES = 1 << 20,   /* of a batch */
    END_SECONDS = 2           /* that files under way may take when nobody waits for them any more */
};

/* Finds samples and paths in the message. False: it is none, or there is no memory. */
static bool read_batch(asked *a)
{
    const size_t count = a->ask.count, head = count * sizeof(smp_feed_sample), size = (size_t)a->ask.bytes;
    if (!count || count > MOST_SAMPLES || head >= size || a->bytes[size - 1])
        return false;
    a->files = smp_alloc_array(count, sizeof *a->files);
    a->slots = smp_alloc_array(count, sizeof *a->slots);
    if (!a->files || !a->slots)
        return false;
    a->samples = (const smp_feed_sample *)(const void *)a->bytes;
    const char *path = a->bytes + head, *end = a->bytes + size;
    for (size_t i = 0; i < count; i++, path += strlen(path) + 1) {
        if (path == end)
            return false;
        a->slots[i].from = path;
    }
    return path == end;
}

static buffer *find_buffer(feed *f, int64_t id)
{
    for (size_t i = 0; i < f->buffer_count; i++)
        if (f->buffers[i].id == id)
            return &f->buffers[i];
    return NULL;
}

/* Memory of the host by its descriptor, or of a GPU by its handle. An emulated GPU has the host's. */
static bool take_buffer(feed *f, int64_t id, int fd, const smp_feed_device_memory *device)
{
    struct stat status;
    buffer b = {.id = id};
    void *at = NULL;
    if (find_buffer(f, id) || !smp_grow(&f->buffers, &f->buffer_capacity, f->buffer_count + 1, sizeof *f->buffers))
        return false;
    if (fd >= 0) {
        if (fstat(fd, &status) != 0 || status.st_size <= 0)
            return false;
        b.size = (size_t)status.st_size;
        at = mmap(NULL, b.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (at == MAP_FAILED)
            return false;
        b.at = at;
        b.there = f->gpu && smp_feed_gpu_is_emulated(f->gpu) ? at : NULL;
    } else {
        if (!device || !f->gpu || smp_feed_gpu_map(f->gpu, &device->handle, &at, &f->failed))
            return false;
        b.there = at;
        b.size = device->size;
    }
    f->buffers[f->buffer_count++] = b;
    return true;
}

/* Whether a batch of it is queued or under way. */
static bool is_used(feed *f, const buffer *b)
{
    bool used = false;
    pthread_mutex_lock(&f->lock);
    for (int i = 0; i < 2; i++)
        for (const asked *a = i ? f->under_way : f->queue; a && !used; a = a->next)
            used = a->at == b->at && a->there == b->there;
    pthread_mutex_unlock(&f->lock);
    return used;
}

void forget_buffer(feed *f, int64_t id)
{
    buffer *b = find_buffer(f, id);
    if (!b || is_used(f, b))
        return;
    if (b->at)
        munmap(b->at, b->size);
    else
        smp_feed_gpu_unmap(f->gpu, b->there);
    *b = f->buffers[--f->buffer_count];
}

/* Takes over bytes. */
static bool take_batch(feed *f, const smp_feed_ask *ask, char *bytes)
{
    const buffer *b = ask->buffer < 0 ? NULL : find_buffer(f, ask->buffer);
    asked *a = smp_alloc(sizeof *a);
    if (!a) {
        smp_free(bytes);
        return false;
    }
    *a = (asked){.ask = *ask, .bytes = bytes, .room = b ? b->size : 0};
    if (b) {
        a->at = b->at;
        a->there = b->there;
    }
    if ((ask->buffer >= 0 && !b) || !read_batch(a)) {
        free_asked(a);
        return false;
    }
    begin_asked(f, a);
    return true;
}

static void cancel(feed *f)
{
    pthread_mutex_lock(&f->lock);
    for (asked *a = f->queue; a; a = a->next)
        a->cancelled = true;
    for (asked *a = f->under_way; a; a = a->next)
        a->cancelled = true;
    pthread_mutex_unlock(&f->lock);
}

static void answer_index(feed *f, const smp_feed_ask *ask, const char *path)
{
    smp_feed_answer answer = {.kind = SMP_FEED_MEMBERS, .number = ask->number};
    smp_error err = {.code = SMP_OK};
    char *text = NULL;
    size_t size = 0;
    int tar;
    if (smp_tar_file(path, &tar, &err) || smp_tar_index(tar, &text, &size, &err)) {
        answer.kind = SMP_FEED_REFUSED;
        size = strlen(err.message);
    }
    answer.bytes = size;
    send_answer(f, &answer, text ? text : err.message);
    if (tar >= 0)
        close(tar);
    free(text);
}

/* One ask; false: the socket has ended, or who asks has lost its mind. */
static bool take_ask(feed *f)
{
    smp_feed_ask ask;
    int fd;
    if (!smp_feed_receive(f->socket, &ask, sizeof ask, &fd))
        return false;
    char *bytes = ask.bytes <= MOST_MESSAGE ? smp_alloc_raw((size_t)ask.bytes + 1) : NULL;
    bool good = bytes && smp_feed_receive(f->socket, bytes, (size_t)ask.bytes, NULL);
    if (good)
        bytes[ask.bytes] = '\0';
    if (good && ask.kind == SMP_FEED_BATCH)
        good = take_batch(f, &ask, bytes);
    else {
        if (good && ask.kind == SMP_FEED_BUFFER)
            good = take_buffer(f, ask.buffer, fd,
                               ask.bytes == sizeof(smp_feed_device_memory) ? (const void *)bytes : NULL);
        else if (good && ask.kind == SMP_FEED_FORGET)
            forget_buffer(f, ask.buffer);
        else if (good && ask.kind == SMP_FEED_CANCEL)
            cancel(f);
        else if (good && ask.kind == SMP_FEED_INDEX)
            answer_index(f, &ask, bytes);
        smp_free(bytes);
    }
    if (fd >= 0)
        close(fd);
    return good;
}

void *receive_asks(void *context)
{
    feed *f = context;
    struct timespec until;
    while (take_ask(f))
        ;
    pthread_mutex_lock(&f->lock);
    f->stop = SIGTERM;
    f->ended = true;
    pthread_cond_broadcast(&f->changed);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += END_SECONDS;
    while (!f->done && pthread_cond_timedwait(&f->changed, &f->lock, &until) != ETIMEDOUT)
        ;
    if (!f->done)
        _exit(0); /* a decoder hangs, and ends with its parent */
    pthread_mutex_unlock(&f->lock);
    return NULL;
}
