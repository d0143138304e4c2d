/* Tasks in order on sleeping threads: see tasks.h. */
#include "base/tasks.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"

struct smp_tasks {
    pthread_mutex_t lock;
    pthread_cond_t work, done, unused;
    struct thread {
        smp_tasks *tasks;
        int index;
        pthread_t handle;
    } * threads;
    int started, room;
    bool closing;
    smp_task_fn *fn;
    void *context;
    int64_t begun, taken, released, awaited; /* numbers of tasks */
    bool *finished;                          /* indexed by task number modulo room */
};

/* Lowers the priority of the workers. The thread that begins the tasks, and the one that decodes for it, must run first
 * where processors are short: all tasks wait for them in the end. */
static void step_back(void)
{
    enum { STEPS = 5 }; /* nice levels: about a third of a thread's share */
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), getpriority(PRIO_PROCESS, (id_t)gettid()) + STEPS);
}

static void *worker(void *context)
{
    const struct thread *self = context;
    smp_tasks *t = self->tasks;
    step_back();
    pthread_mutex_lock(&t->lock);
    while (!t->closing) {
        if (t->taken == t->begun) {
            pthread_cond_wait(&t->work, &t->lock);
            continue;
        }
        const int64_t task = t->taken++;
        pthread_mutex_unlock(&t->lock);
        t->fn(t->context, self->index, task);
        pthread_mutex_lock(&t->lock);
        t->finished[task % t->room] = true;
        if (task == t->awaited)
            pthread_cond_signal(&t->done);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

smp_code smp_tasks_open(int threads, int room, smp_task_fn *fn, void *context, smp_tasks **out, smp_error *err)
{
    *out = NULL;
    smp_tasks *t = smp_alloc(sizeof *t);
    SMP_NEED(t, "threads", sizeof *t, err);
    t->fn = fn;
    t->context = context;
    t->room = room;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->work, NULL);
    pthread_cond_init(&t->done, NULL);
    pthread_cond_init(&t->unused, NULL);
    t->threads = smp_alloc_array((size_t)threads, sizeof *t->threads);
    t->finished = smp_alloc_array((size_t)room, sizeof *t->finished);
    if (!t->threads || !t->finished) {
        smp_tasks_close(t);
        return smp_fail_memory(err, "threads", (size_t)threads * sizeof *t->threads);
    }
    for (; threads > 1 && t->started < threads; t->started++) {
        struct thread *thread = &t->threads[t->started];
        thread->tasks = t;
        thread->index = t->started;
        if (pthread_create(&thread->handle, NULL, worker, thread)) {
            smp_tasks_close(t);
            smp_fail(err, SMP_E_PROCESS, "cannot start %d threads", threads);
            return smp_hint(err, "use fewer: --threads");
        }
    }
    *out = t;
    return SMP_OK;
}

void smp_tasks_begin(smp_tasks *t)
{
    if (!t->started) {
        const int64_t task = t->begun++;
        t->fn(t->context, 0, task);
        t->finished[task % t->room] = true;
        return;
    }
    pthread_mutex_lock(&t->lock);
    t->begun++;
    pthread_cond_signal(&t->work);
    pthread_mutex_unlock(&t->lock);
}

void smp_tasks_release(smp_tasks *t)
{
    pthread_mutex_lock(&t->lock);
    if (++t->released == t->begun)
        pthread_cond_signal(&t->unused);
    pthread_mutex_unlock(&t->lock);
}

void smp_tasks_await_released(smp_tasks *t)
{
    pthread_mutex_lock(&t->lock);
    while (t->released < t->begun)
        pthread_cond_wait(&t->unused, &t->lock);
    pthread_mutex_unlock(&t->lock);
}

void smp_tasks_await(smp_tasks *t)
{
    pthread_mutex_lock(&t->lock);
    bool *finished = &t->finished[t->awaited % t->room];
    while (!*finished)
        pthread_cond_wait(&t->done, &t->lock);
    *finished = false;
    t->awaited++;
    pthread_mutex_unlock(&t->lock);
}

void smp_tasks_close(smp_tasks *t)
{
    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    t->closing = true;
    pthread_cond_broadcast(&t->work);
    pthread_mutex_unlock(&t->lock);
    for (int i = 0; i < t->started; i++)
        pthread_join(t->threads[i].handle, NULL);
    pthread_cond_destroy(&t->work);
    pthread_cond_destroy(&t->done);
    pthread_cond_destroy(&t->unused);
    pthread_mutex_destroy(&t->lock);
    smp_free_all(t->threads, t->finished, t);
}
