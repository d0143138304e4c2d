/* See worker_asked.h. */
#include "io/decoder/worker_asked.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/os/processor.h"

atomic_uint_fast64_t smp_asked_count;

/* ------------------------------------------------------------------------------------------------ limits */

/* set: what the process's limit is already, kept here; 0: not asked yet. */
static void bound(const smp_worker *w, unsigned resource, uint64_t most, smp_bound_set *set)
{
    struct rlimit limit;
    if (!set->now) {
        if (prlimit(w->pid, resource, NULL, &limit) != 0)
            return;
        set->most = limit.rlim_max == RLIM_INFINITY ? UINT64_MAX : limit.rlim_max;
    }
    most = smp_min_u64(most, set->most);
    limit = (struct rlimit){(rlim_t)most, set->most == UINT64_MAX ? RLIM_INFINITY : (rlim_t)set->most};
    if (set->now != most && prlimit(w->pid, resource, &limit, NULL) == 0)
        set->now = most;
}

void smp_asked_bound_time(smp_asked *a, double before, double seconds)
{
    a->allowed = ceil(seconds);
    a->worker->watch.may_use = ceil(before + a->allowed);
    bound(a->worker, RLIMIT_CPU, (uint64_t)a->worker->watch.may_use, &a->worker->seconds);
}

void smp_asked_bound_memory(const smp_asked *a, bool opened, uint64_t more)
{
    smp_worker *w = a->worker;
#if !SMP_SANITIZED
    enum { STEP = 1 << 22 }; /* pictures of about one size have one limit */
    uint64_t most = UINT64_MAX;
    if (opened)
        most = (2 * smp_max_u64(a->picture, w->live) + w->mapped) / STEP * STEP + STEP;
    if (smp_worker_addresses(most))
        bound(w, RLIMIT_AS, smp_worker_addresses(most) + more, &w->addresses);
#else
    (void)w, (void)opened, (void)more;
#endif
}

void smp_asked_charge(smp_asked *a, const smp_answer *answer, uint64_t limit)
{
    const uint64_t most = limit ? limit : UINT64_C(1) << 46; /* whatever it says */
    const uint64_t live = smp_min_u64(answer->live, most), peak = smp_min_u64(answer->peak, most);
    smp_alloc_elsewhere(a->charged, live, peak, answer->refused > a->worker->refused);
    a->charged = a->worker->live = live;
    a->worker->refused = answer->refused;
}

/* ------------------------------------------------------------------------------------------------ asking */

smp_code smp_asked_send(smp_asked *a, smp_ask *ask, uint64_t max_memory, const smp_wire *rest, const int *descriptors,
                        int count, smp_error *err)
{
    const smp_patience patience = smp_watch_patience(&a->worker->watch);
    const uint64_t live = smp_alloc_live(), own = live > a->charged ? live - a->charged : 0;
    if (max_memory)
        ask->memory = max_memory > own ? max_memory - own : 1;
    atomic_fetch_add_explicit(&smp_asked_count, 1, memory_order_relaxed);
    const smp_received sent = smp_message_send_within(a->worker->channel, ask, sizeof *ask, rest ? rest->data : NULL,
                                                      rest ? rest->size : 0, descriptors, count, &patience);
    return sent == SMP_RECEIVED ? SMP_OK : smp_asked_fail_dead(a, sent == SMP_RECEIVED_LATE, err);
}

smp_code smp_asked_receive(smp_asked *a, const smp_patience *patience, smp_answer *answer, smp_wire *wire,
                           smp_error *err)
{
    smp_watch *watch = &a->worker->watch;
    smp_received got = smp_message_receive(a->worker->channel, answer, sizeof *answer, patience, NULL);
    if (got == SMP_RECEIVED && answer->bytes) {
        if (answer->bytes > SMP_MOST_ANSWER)
            return smp_asked_fail_answer(a, err);
        wire->size = answer->bytes;
        wire->data = smp_alloc_raw(wire->size);
        if (!wire->data) {
            (void)smp_asked_lose(a); /* what it says next would be the rest of this */
            return smp_fail_memory(err, "metadata", wire->size);
        }
        got = smp_message_receive(a->worker->channel, wire->data, wire->size, patience, NULL);
    }
    if (got != SMP_RECEIVED || !answer->output) { /* else its answer is still to come */
        smp_watch_end(watch);
        smp_processor_add(smp_watch_use(watch));
    }
    return got == SMP_RECEIVED ? SMP_OK : smp_asked_fail_dead(a, got == SMP_RECEIVED_LATE, err);
}

/* ------------------------------------------------------------------------------------------------ the end */

int smp_asked_lose(smp_asked *a)
{
    smp_worker *w = a->worker;
    a->left = w->map;
    a->left_size = w->mapped;
    w->map = NULL;
    a->worker = NULL;
    return smp_worker_end(w);
}

static double no_seconds(void *)
{
    return 0;
}

void smp_asked_end(smp_asked *a, bool closed)
{
    static const smp_patience none = {no_seconds, NULL}; /* who has read all asks has room for this one */
    const smp_ask ask = {.kind = SMP_ASK_CLOSE};
    smp_worker *w = a->worker;
    if (w && (closed || smp_message_send_within(w->channel, &ask, sizeof ask, NULL, 0, NULL, 0, &none) == SMP_RECEIVED))
        smp_worker_give_back(w);
    else if (w)
        smp_worker_end(w);
    smp_worker_unmap(a->left, a->left_size);
}

/* ------------------------------------------------------------------------------------------------ failures */

static smp_code fail_asleep(const smp_worker_words *say, const smp_watch *watch, smp_error *err)
{
    const double seconds = watch->slept >= watch->may_sleep ? watch->may_sleep : smp_worker_patience;
    smp_fail(err, say->failure,
             "the process that %s the file sleeps and does not go on: it was ended after %.3g seconds", say->does,
             seconds);
    return smp_hint(err, say->failure == SMP_E_DECODE
                             ? "the file makes its decoder hang, or the file system does not answer: try a copy of it"
                             : "the library that encodes it hangs: write another format");
}

smp_code smp_asked_fail_dead(smp_asked *a, bool ended, smp_error *err)
{
    const smp_worker_words *say = smp_worker_says(a->worker->libraries);
    const smp_watch watch = a->worker->watch; /* which goes with it */
    const smp_verdict verdict = ended ? smp_watch_verdict(&watch) : SMP_GOES_ON;
    const bool decodes = say->failure == SMP_E_DECODE;
    const int status = smp_asked_lose(a);
    if (verdict == SMP_IS_LATE)
        return smp_worker_late(a->time_limit, err);
    if (verdict == SMP_COMPUTES || (status > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)) {
        if (a->time_limit > 0)
            return smp_worker_late(a->time_limit, err);
        smp_fail(err, SMP_E_LIMIT, "%s takes more than %.0f seconds, far longer than a file of this size should",
                 say->doing, a->allowed);
        return smp_hint(err, decodes ? "raise --time-limit when the file is sound" : "write another format");
    }
    if (verdict == SMP_CROWDS)
        return smp_fail(err, say->failure, "the process that %s the file begins more than %d threads", say->does,
                        watch.most_threads);
    if (ended)
        return fail_asleep(say, &watch, err);
    if (status > 0 && WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
        return smp_fail(err, say->failure, "the %s crashed: %s", say->who, strsignal(WTERMSIG(status))),
               smp_hint(err, decodes ? "the file is damaged, and the library that decodes it has a fault"
                                     : "the library that encodes it has a fault, or too little memory (--max-memory)");
    if (status == -ESRCH || status == -EAGAIN || (status > 0 && WIFSIGNALED(status))) { /* with its spawner: -errno */
        smp_fail(err, decodes ? SMP_E_KILLED : say->failure, "the process that %s the file was killed", say->does);
        return smp_hint(err, "somebody ended it, or the system ran out of memory");
    }
    return smp_fail(err, say->failure, "the process that %s the file ended early", say->does);
}

smp_code smp_asked_fail_answer(smp_asked *a, smp_error *err)
{
    const smp_worker_words *say = smp_worker_says(a->worker->libraries);
    (void)smp_asked_lose(a);
    return smp_fail(err, say->failure, "the process that %s the file gave an answer that is none", say->does);
}

/* Others are for the program to say. */
static bool may_say(int code)
{
    return code == SMP_E_PROCESS || code == SMP_E_MEMORY || code == SMP_E_USAGE || code == SMP_E_PIPE ||
           code == SMP_E_READ || code == SMP_E_DECODE || code == SMP_E_WRITE || code == SMP_E_LIMIT;
}

smp_code smp_asked_error(smp_asked *a, const smp_answer *answer, smp_error *told, smp_error *err)
{
    const smp_worker_words *say = smp_worker_says(a->worker->libraries);
    if (!may_say(answer->code) || !told->message[0])
        return smp_asked_fail_answer(a, err);
    told->code = (smp_code)answer->code;
    told->where[0] = '\0';
    if (told->code == SMP_E_MEMORY) { /* its addresses ended */
        smp_fail(told, SMP_E_LIMIT, "%s takes more memory than %s--max-memory allow%s", say->doing,
                 say->failure == SMP_E_DECODE ? "the file's header and " : "", say->failure == SMP_E_DECODE ? "" : "s");
        smp_hint(told, "raise --max-memory");
    }
    if (err)
        *err = *told;
    return told->code;
}
