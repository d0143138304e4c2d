/* Tasks that are begun in order, run side by side by a few threads, and awaited in order: what a pipeline hands to many
 * cores without waiting for all of them at once. Threads that have nothing to do sleep. */
#ifndef SMP_BASE_TASKS_H
#define SMP_BASE_TASKS_H

#include <stdint.h>

#include "base/error.h"

typedef struct smp_tasks smp_tasks;
typedef void smp_task_fn(void *context, int thread, int64_t task);

/* fn(context, thread, k) runs task k = 0, 1, ... on thread 0 .. threads-1. At most `room` tasks may be begun and not
 * awaited. With one thread the tasks run in smp_tasks_begin, and none is started. Threads run at a lower priority than
 * the one that opens them. *out null on failure. */
smp_code smp_tasks_open(int threads, int room, smp_task_fn *fn, void *context, smp_tasks **out, smp_error *err);

/* The next task may be run from now on. */
void smp_tasks_begin(smp_tasks *tasks);

/* Called by a task once, from whichever thread runs it: what smp_tasks_begin's caller borrowed it is no longer needed.
 */
void smp_tasks_release(smp_tasks *tasks);

/* Waits until every task that was begun has called smp_tasks_release; done it need not be. */
void smp_tasks_await_released(smp_tasks *tasks);

/* Waits until the oldest task that was not awaited yet is done. One must have been begun. */
void smp_tasks_await(smp_tasks *tasks);

/* Tasks that are running are waited for, others dropped; null is allowed. */
void smp_tasks_close(smp_tasks *tasks);

#endif
