/* The pool of sleeping threads: see pool.h. */
#include "base/pool.h"

#include <pthread.h>

#include "base/alloc.h"
#include "base/os/machine.h"

struct smp_pool {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    pthread_t *threads;
    int started; /* threads beside the caller */
    bool closing;
    void (*fn)(void *context, int part);
    void *context;
    int parts, next, busy; /* of the current run: all parts, the next part to start, the parts that are running */
};

int smp_pool_cores(void)
{
    return smp_machine_processors();
}

/* Runs parts until none is left. The lock is held on entry and on return. */
static void take_parts(smp_pool *p)
{
    while (p->next < p->parts) {
        int part = p->next++;
        void (*fn)(void *, int) = p->fn;
        void *context = p->context;
        p->busy++;
        pthread_mutex_unlock(&p->lock);
        fn(context, part);
        pthread_mutex_lock(&p->lock);
        p->busy--;
    }
    if (!p->busy)
        pthread_cond_signal(&p->done);
}

static void *worker(void *context)
{
    smp_pool *p = context;
    pthread_mutex_lock(&p->lock);
    while (!p->closing) {
        if (p->next < p->parts)
            take_parts(p);
        else
            pthread_cond_wait(&p->work, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

smp_code smp_pool_open(int threads, smp_pool **out, smp_error *err)
{
    *out = NULL;
    smp_pool *p = smp_alloc(sizeof *p);
    SMP_NEED(p, "threads", sizeof *p, err);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->done, NULL);
    p->threads = smp_alloc_array((size_t)threads, sizeof *p->threads);
    if (!p->threads) {
        smp_pool_close(p);
        return smp_fail_memory(err, "threads", (size_t)threads * sizeof *p->threads);
    }
    for (; p->started < threads - 1; p->started++)
        if (pthread_create(&p->threads[p->started], NULL, worker, p)) {
            smp_pool_close(p);
            smp_fail(err, SMP_E_PROCESS, "cannot start %d threads", threads);
            return smp_hint(err, "use fewer: --threads");
        }
    *out = p;
    return SMP_OK;
}

void smp_pool_run(smp_pool *p, int parts, void (*fn)(void *context, int part), void *context)
{
    if (!p->started || parts < 2) {
        for (int part = 0; part < parts; part++)
            fn(context, part);
        return;
    }
    pthread_mutex_lock(&p->lock);
    p->fn = fn;
    p->context = context;
    p->next = 0;
    p->parts = parts;
    pthread_cond_broadcast(&p->work);
    take_parts(p);
    while (p->busy)
        pthread_cond_wait(&p->done, &p->lock);
    p->parts = p->next = 0;
    pthread_mutex_unlock(&p->lock);
}

void smp_pool_wait(smp_pool **pool, bool pays, int parts, void (*fn)(void *context, int part), void *context)
{
    enum { MOST_THREADS = 8 };
    const int cores = smp_pool_cores();
    smp_error unopened = {.code = SMP_OK}; /* without threads it takes longer */
    if (!*pool && pays && cores > 1)
        (void)smp_pool_open(cores < MOST_THREADS ? cores : MOST_THREADS, pool, &unopened);
    for (int part = 0; !*pool && part < parts; part++)
        fn(context, part);
    if (*pool)
        smp_pool_run(*pool, parts, fn, context);
}

void smp_pool_close(smp_pool *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->closing = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < p->started; i++)
        pthread_join(p->threads[i], NULL);
    pthread_cond_destroy(&p->work);
    pthread_cond_destroy(&p->done);
    pthread_mutex_destroy(&p->lock);
    smp_free_all(p->threads, p);
}
