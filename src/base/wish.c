/* Leaves work by a signal to its thread: see wish.h. To wait for a kernel's end takes seconds where a strip has
 * thousands of rows, and those of a wide gaussian cannot be cut smaller without computing their reach anew. */
#include "base/wish.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>

typedef struct working {
    struct working *next, *outer; /* outer: that it is a part of; null: of none */
    pthread_t thread;
    const smp_wish *wish;
    sigjmp_buf out;
} working;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all */
static working *all;
static _Thread_local working *volatile inside; /* what the thread may leave; null: nothing */

static bool is_gone(const working *w)
{
    return w && (w->wish->gone(w->wish->context) || is_gone(w->outer));
}

static void leave(int)
{
    working *w = inside;
    if (is_gone(w))
        siglongjmp(w->out, 1);
}

void smp_while_wished(const smp_wish *wish, void (*work)(void *context, int part), void *context, int part)
{
    working own = {.thread = pthread_self(), .outer = inside, .wish = wish};
    if (!wish) {
        work(context, part);
        return;
    }
    inside = NULL; /* nothing is left while it holds the lock */
    pthread_mutex_lock(&lock);
    own.next = all;
    all = &own;
    pthread_mutex_unlock(&lock);
    if (!sigsetjmp(own.out, 0)) {
        inside = &own;
        if (!is_gone(&own)) /* before there was anything to leave */
            work(context, part);
    }
    inside = NULL;
    pthread_mutex_lock(&lock);
    working **at = &all;
    while (*at != &own)
        at = &(*at)->next;
    *at = own.next;
    pthread_mutex_unlock(&lock);
    inside = own.outer;
    if (is_gone(inside)) /* asked while it could not be left */
        siglongjmp(inside->out, 1);
}

void smp_wishes_ask(void)
{
    const struct sigaction action = {.sa_handler = leave, .sa_flags = SA_RESTART | SA_NODEFER};
    pthread_mutex_lock(&lock);
    sigaction(SIGURG, &action, NULL);
    for (const working *w = all; w; w = w->next)
        pthread_kill(w->thread, SIGURG);
    pthread_mutex_unlock(&lock);
}
