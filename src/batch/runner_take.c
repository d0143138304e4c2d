/* Decides which thread of a batch takes which file, and when it has to wait: see runner.h. */
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "batch/runner.h"

enum { TICK_MS = 100, LOOK_AHEAD = 64 /* files that a thread looks at for one that suits it */ };

bool smp_batch_stopping(const smp_batch *b)
{
    return b->stopped || (b->request->stop && *b->request->stop);
}

/* Memory that is nearly used up: files that end will give some back. */
static bool crowded(const smp_batch *b)
{
    uint64_t most = b->request->read.limits.max_memory;
    return most && smp_alloc_live() > most / 2;
}

/* Gives back what the thread keeps. The lock is held, but not meanwhile. */
static void drop(smp_batch_worker *w)
{
    pthread_mutex_unlock(&w->b->lock);
    smp_run_cache_clear(w->cache);
    pthread_mutex_lock(&w->b->lock);
    w->keeps = false;
    w->b->keeping--;
    pthread_cond_broadcast(&w->b->changed);
}

void smp_batch_give_back(smp_batch_worker *w)
{
    if (w->keeps && (w->b->alone > 0 || crowded(w->b)))
        drop(w);
}

void smp_batch_wait(smp_batch *b, pthread_cond_t *condition)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += TICK_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    pthread_cond_timedwait(condition, &b->lock, &until);
}

static bool must_wait(const smp_batch *b)
{
    return b->alone > 0 || (b->count->in_flight > 0 && crowded(b)) ||
           (b->request->in_order && b->next >= b->delivered + b->window);
}

/* Asks for more files where all are taken. The lock is held, but not while asking: others go on meanwhile. */
static void ask_for_more(smp_batch *b)
{
    const smp_batch_request *r = b->request;
    const smp_batch_file *files = NULL;
    size_t count = 0;
    smp_error err = {.code = SMP_OK};
    b->asking = true;
    pthread_mutex_unlock(&b->lock);
    const smp_code code = r->more(r->context, &files, &count, &err);
    pthread_mutex_lock(&b->lock);
    b->asking = false;
    if (code || !count) {
        b->no_more = true;
        b->asked = err;
    } else {
        b->files = files;
        b->first = b->handed;
        b->handed += count;
        b->count->files = b->handed;
        for (size_t i = 0; i < count; i++)
            b->count->bytes += files[i].bytes;
        if (b->mark_capacity)
            memset(b->marks, 0, b->mark_capacity * sizeof *b->marks);
    }
    pthread_cond_broadcast(&b->changed);
}

/* Files that nobody has begun, as far as known. */
static uint64_t left(const smp_batch *b)
{
    const size_t all = b->request->more && b->request->expected > b->handed ? b->request->expected : b->handed;
    return all - b->begun;
}

/* Whether there are both kinds, or will be. */
static bool both_kinds(const smp_batch *b)
{
    return b->split.lanes[SMP_SPLIT_CPU] > 0 && (b->split.lanes[SMP_SPLIT_GPU] > 0 || b->split.gpus_come);
}

/* The first of the next files that suits the thread. */
static bool find(smp_batch_worker *w, size_t *index)
{
    smp_batch *b = w->b;
    const size_t handed = b->handed - b->first;
    size_t end = smp_min_u64(b->handed, b->next + LOOK_AHEAD);
    uint64_t unsuited = 0; /* classes */
    _Static_assert(SMP_SPLIT_CLASSES <= 64, "a bit for each class");
    if (!smp_grow(&b->marks, &b->mark_capacity, handed, sizeof *b->marks)) {
        *index = b->next; /* in their order then, whoever it is */
        return b->next < b->handed && b->begun == b->next;
    }
    if (b->request->in_order)
        end = smp_min_u64(end, b->delivered + b->window);
    for (size_t i = b->next; i < end; i++) {
        smp_batch_mark *mark = &b->marks[i - b->first];
        if (mark->taken)
            continue;
        if (!mark->kind_of_file) {
            const smp_batch_file *file = &b->files[i - b->first];
            mark->kind_of_file = (int8_t)(1 + smp_split_class_of(&b->split, file->input, file->bytes));
        }
        const int class_index = mark->kind_of_file - 1;
        if (unsuited >> class_index & 1)
            continue;
        if (smp_split_suits(&b->split, w->kind, class_index, left(b))) {
            *index = i;
            return true;
        }
        unsuited |= UINT64_C(1) << class_index;
    }
    return false;
}

/* Finds a file for the thread and marks it as taken. */
static bool take(smp_batch_worker *w, size_t *index)
{
    smp_batch *b = w->b;
    if (smp_batch_stopping(b) || b->next == b->handed || must_wait(b))
        return false;
    if (!both_kinds(b) && b->begun == b->next)
        *index = b->next;
    else if (!find(w, index))
        return false;
    if (b->mark_capacity >= b->handed - b->first)
        b->marks[*index - b->first].taken = true;
    b->begun++;
    if (*index == b->next)
        b->next++;
    while (b->next < b->handed && b->begun > b->next && b->marks[b->next - b->first].taken)
        b->next++;
    if (b->next == b->handed) /* nothing will suit any more */
        for (int kind = 0; kind < SMP_SPLIT_KINDS; kind++)
            pthread_cond_broadcast(&b->idle[kind]);
    const smp_batch_file *file = &b->files[*index - b->first];
    w->class_index = smp_split_class_of(&b->split, file->input, file->bytes);
    smp_split_begin(&b->split, w->kind, w->class_index);
    return true;
}

const smp_batch_file *smp_batch_take(smp_batch_worker *w, size_t *index)
{
    smp_batch *b = w->b;
    const smp_batch_file *file = NULL;
    pthread_mutex_lock(&b->lock);
    smp_batch_give_back(w);
    bool taken;
    while (!(taken = take(w, index)) && !smp_batch_stopping(b) && !(b->no_more && b->next == b->handed)) {
        if (b->next == b->handed && !b->asking && !b->no_more)
            ask_for_more(b);
        else
            smp_batch_wait(b, both_kinds(b) && b->next < b->handed && !must_wait(b)
                                  ? &b->idle[w->kind]
                                  : &b->changed); /* live memory falls without a word */
        smp_batch_give_back(w);
    }
    if (taken) {
        file = &b->files[*index - b->first];
        b->count->in_flight++;
        b->keeping += !w->keeps;
        w->keeps = true;
    } else if (w->keeps) /* the last files may need it */
        drop(w);
    pthread_mutex_unlock(&b->lock);
    return file;
}
