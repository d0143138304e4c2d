/* Tasks that begin in order, run in parallel on a few threads, and are awaited in order. A pipeline hands work to many
 * cores this way without waiting for all of them at once. Idle threads sleep. */
#pragma once

#include <stdint.h>

#include "base/error.h"

typedef struct smp_tasks smp_tasks;
typedef void smp_task_fn(void *context, int thread, int64_t task);

/* fn(context, thread, k) runs task k = 0, 1, ... on thread 0 .. threads-1. At most `room` tasks may be begun and not
 * yet awaited. With one thread no thread is started: smp_tasks_begin runs the task. The threads run at a lower priority
 * than the caller of this function. *out is null on failure. */
smp_code smp_tasks_open(int threads, int room, smp_task_fn *fn, void *context, smp_tasks **out, smp_error *err);

/* Begins the next task. */
void smp_tasks_begin(smp_tasks *tasks);

/* A task calls this once, from any thread: it no longer needs what the caller of smp_tasks_begin lent it. */
void smp_tasks_release(smp_tasks *tasks);

/* Waits until every task that was begun has called smp_tasks_release. The tasks need not be done. */
void smp_tasks_await_released(smp_tasks *tasks);

/* Waits until the oldest task that was not awaited yet is done. There must be one. */
void smp_tasks_await(smp_tasks *tasks);

/* Waits for running tasks and drops the others; null is allowed. */
void smp_tasks_close(smp_tasks *tasks);
