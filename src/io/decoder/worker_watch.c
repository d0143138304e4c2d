/* See worker_watch.h. */
#include "io/decoder/worker_process.h"

#include <dirent.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

enum {
    SLOWEST_INPUT = 50000,      /* bytes a second, of a file on any network */
    UNKNOWN_SIZE_SECONDS = 600, /* asleep in all, where the size of the input is not known */
    USUAL_THREADS = 1000,       /* more than libraries begin by themselves on any machine */
    LOOKS = 16                  /* in the time without progress, at least */
};
#define LEAST_USE 1e-3 /* seconds of the processor that are progress */
#define GRACE     1.0  /* seconds of the processor to end in by itself */

double smp_worker_patience = 60;

smp_watch smp_watch_of(pid_t pid)
{
    smp_watch watch = {.pid = pid, .input = -1, .may_sleep = smp_worker_patience, .most_threads = USUAL_THREADS};
    if (clock_getcpuclockid(pid, &watch.clock) != 0)
        watch.pid = 0; /* it is gone: its channel will say so */
    return watch;
}

static void read_clock(smp_watch *watch)
{
    struct timespec t;
    if (watch->pid && clock_gettime(watch->clock, &t) == 0)
        watch->used = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double smp_watch_use(smp_watch *watch)
{
    read_clock(watch);
    const double more = watch->used - watch->told;
    watch->told = watch->used;
    return more;
}

void smp_watch_expect(smp_watch *watch, uint64_t bytes)
{
    watch->may_sleep =
        smp_worker_patience + (bytes == UINT64_MAX ? UNKNOWN_SIZE_SECONDS : (double)bytes / SLOWEST_INPUT);
}

void smp_watch_begin(smp_watch *watch, double time_limit, uint64_t bytes)
{
    watch->time_limit = time_limit;
    smp_watch_expect(watch, bytes);
    watch->waited = watch->slept = 0;
    watch->most_threads = USUAL_THREADS;
}

/* Whether the system keeps a thread waiting: for a processor, or for a disk. Where that cannot be told, no. */
static bool is_thread_held_up(const char *tasks, const char *name)
{
    char path[300], text[256];
    snprintf(path, sizeof path, "%s/%s/stat", tasks, name);
    FILE *file = fopen(path, "re");
    const size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[size] = '\0';
    if (file)
        fclose(file);
    const char *name_end = strrchr(text, ')');
    return name_end && name_end[1] && (name_end[2] == 'R' || name_end[2] == 'D');
}

/* The same of any of its threads, which are counted. */
static bool is_held_up(smp_watch *watch)
{
    char tasks[40];
    bool held_up = false;
    watch->threads = 0;
    snprintf(tasks, sizeof tasks, "/proc/%d/task", (int)watch->pid);
    DIR *folder = opendir(tasks);
    for (const struct dirent *entry; folder && watch->threads <= watch->most_threads && (entry = readdir(folder));) {
        if (entry->d_name[0] == '.')
            continue;
        watch->threads++;
        held_up = held_up || is_thread_held_up(tasks, entry->d_name);
    }
    if (folder)
        closedir(folder);
    return held_up;
}

static bool input_is_empty(int input)
{
    struct pollfd wait = {.fd = input, .events = POLLIN};
    return input >= 0 && poll(&wait, 1, 0) == 0;
}

/* Seconds since the last look. They count as no more than was to be waited: else the program was stopped, and the
 * decoder with it. */
static double pass(smp_watch *watch)
{
    const double now = smp_now(), passed = fmin(now - watch->looked, 1.5 * watch->portion);
    watch->looked = now;
    watch->waited += passed;
    return passed;
}

static void look(smp_watch *watch)
{
    const double passed = pass(watch), before = watch->used;
    read_clock(watch);
    const double used = watch->used - before;
    if (used >= LEAST_USE)
        watch->asleep = 0;
    const bool held_up = is_held_up(watch);
    if (used < passed && !held_up && !input_is_empty(watch->input)) {
        watch->asleep += passed - used;
        watch->slept += passed - used;
    }
}

smp_verdict smp_watch_verdict(const smp_watch *watch)
{
    if (watch->time_limit > 0 && watch->waited >= watch->time_limit)
        return SMP_IS_LATE;
    if (watch->may_use > 0 && watch->used >= watch->may_use + GRACE)
        return SMP_COMPUTES;
    if (watch->threads > watch->most_threads)
        return SMP_CROWDS;
    return watch->asleep >= smp_worker_patience || watch->slept >= watch->may_sleep ? SMP_SLEEPS : SMP_GOES_ON;
}

/* Moments of looking that nobody can foresee: else a decoder that sleeps could be awake at each. */
static double next_portion(const smp_watch *watch)
{
    static _Thread_local uint64_t bits = 0x9E3779B97F4A7C15;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    bits = (bits ^ (uint64_t)t.tv_nsec) * 0xD1342543DE82EF95 + 1;
    const double portion = smp_worker_patience / LOOKS * (0.5 + 0.5 * (double)(bits >> 40) / (1 << 24));
    return watch->time_limit > 0 ? fmin(portion, watch->time_limit - watch->waited) : portion;
}

static double go_on(void *context)
{
    smp_watch *watch = context;
    const double since = smp_now() - watch->looked;
    if (since < watch->portion) /* the rest of an answer came, or who waits looked at something else */
        return watch->portion - since;
    if (watch->portion > 0)
        look(watch);
    if (smp_watch_verdict(watch) != SMP_GOES_ON)
        return 0;
    return watch->portion = next_portion(watch);
}

smp_patience smp_watch_patience(smp_watch *watch)
{
    watch->looked = smp_now();
    watch->portion = watch->asleep = 0;
    return (smp_patience){go_on, watch};
}

void smp_watch_end(smp_watch *watch)
{
    (void)pass(watch);
}
