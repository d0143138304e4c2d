/* Tasks that run side by side and are awaited in order: base/tasks.h. */
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "suite.h"

#include "base/tasks.h"

enum { TASKS = 1000, ROOM = 5 };

typedef struct work {
    int64_t made[ROOM]; /* by the task that has this place */
    atomic_int ran, most_thread;
    bool slow; /* every other task takes long, so that tasks end out of order */
} work;

static void run(void *context, int thread, int64_t task)
{
    work *w = context;
    if (w->slow && task % 2 == 0)
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    w->made[task % ROOM] = task + 1;
    if (thread > atomic_load(&w->most_thread))
        atomic_store(&w->most_thread, thread);
    atomic_fetch_add(&w->ran, 1);
}

static void check_order(int threads, bool slow)
{
    static work w;
    smp_tasks *tasks;
    memset(&w, 0, sizeof w);
    w.slow = slow;
    assert_int_equal(smp_tasks_open(threads, ROOM, run, &w, &tasks, NULL), 0);
    int64_t begun = 0, awaited = 0;
    while (awaited < TASKS) {
        while (begun < TASKS && begun - awaited < ROOM) {
            smp_tasks_begin(tasks);
            begun++;
        }
        smp_tasks_await(tasks);
        assert_int_equal(w.made[awaited % ROOM], awaited + 1);
        awaited++;
    }
    smp_tasks_close(tasks);
    assert_int_equal(atomic_load(&w.ran), TASKS);
    assert_true(atomic_load(&w.most_thread) < threads);
}

SMP_TEST(tasks_are_awaited_in_order_whatever_order_they_end_in)
{
    check_order(3, true);
    check_order(8, true);
}

SMP_TEST(quick_tasks_are_not_lost)
{
    check_order(2, false);
}

SMP_TEST(one_thread_runs_tasks_where_they_are_begun)
{
    check_order(1, false);
}

/* A task reads its place, says so, and goes on. */
typedef struct loan {
    smp_tasks *tasks;
    int64_t borrowed[ROOM], seen[TASKS];
} loan;
static void borrow(void *context, int thread, int64_t task)
{
    (void)thread;
    loan *l = context;
    if (task % 3 == 0)
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    l->seen[task] = l->borrowed[task % ROOM];
    smp_tasks_release(l->tasks);
    if (task % 2 == 0)
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
}

SMP_TEST(what_tasks_have_released_may_change_before_they_are_done)
{
    static loan l;
    for (int threads = 1; threads <= 4; threads += 3) {
        assert_int_equal(smp_tasks_open(threads, ROOM, borrow, &l, &l.tasks, NULL), 0);
        for (int64_t begun = 0, awaited = 0; awaited < TASKS; awaited++) {
            for (; begun < TASKS && begun - awaited < ROOM; begun++) {
                l.borrowed[begun % ROOM] = begun + 1;
                smp_tasks_begin(l.tasks);
            }
            smp_tasks_await_released(l.tasks);
            memset(l.borrowed, 0, sizeof l.borrowed);
            smp_tasks_await(l.tasks);
        }
        smp_tasks_close(l.tasks);
        for (int64_t i = 0; i < TASKS; i++)
            assert_int_equal(l.seen[i], i + 1);
    }
}

SMP_TEST(closing_waits_for_tasks_that_run)
{
    for (int i = 0; i < 50; i++) {
        work w = {.slow = true};
        smp_tasks *tasks;
        assert_int_equal(smp_tasks_open(2, ROOM, run, &w, &tasks, NULL), 0);
        for (int k = 0; k < ROOM; k++)
            smp_tasks_begin(tasks);
        smp_tasks_close(tasks); /* w is gone after it */
        assert_in_range((uint64_t)atomic_load(&w.ran), 0, ROOM);
    }
}
