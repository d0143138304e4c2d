/* The threads of a batch: see batch.h. Every thread opens a device for itself, then takes the next file and does all of
 * it; what it shares with the others is one lock round the counters below. */
#include "batch/batch.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/numa.h"
#include "base/pool.h"
#include "batch/batch_devices.h"
#include "batch/find_files.h"
#include "batch/outputs.h"

enum {
    MOST_JOBS = 1024,
    GPU_JOBS = 4,   /* pictures in flight on a GPU, a stream each */
    JPEG_JOBS = 16, /* the same where it decodes and codes: 8, 16, 24 give 244, 265, 248 files a second (H200) */
    TICK_MS = 100,
    KEPT_A_JOB = 256 << 20, /* bytes of freed memory that wait for the next file */
    WIDE_BYTES = 256 << 10, /* a file from which the last ones are worth all threads */
    AHEAD = 8               /* files a thread may be ahead of the one that is delivered next, when in order */
};

typedef struct result { /* of a file that waits for those before it */
    bool ready;
    uint64_t bytes;
    smp_run_report report;
    smp_error err;
} result;

typedef struct batch {
    const smp_batch_request *request;
    pthread_mutex_t lock;
    pthread_cond_t changed, ended; /* files come and go; the last thread goes */
    smp_batch_count *count;
    const smp_batch_file *files; /* that were handed out last, */
    size_t first, handed;        /* the first of them, and the end of them */
    bool asking, no_more;        /* a thread asks for more; there are none */
    smp_error asked;             /* why asking failed */
    size_t next;                 /* the first file not yet taken */
    size_t delivered;            /* in order: the first file not yet delivered */
    result *results;             /* in order: of file i at i % window */
    size_t window;
    int alone;        /* threads that want to run a file with nothing beside it */
    int keeping;      /* threads whose caches keep memory */
    bool stopped;     /* by a failure */
    smp_device *wide; /* all threads, for the last large files; one at a time */
    pthread_mutex_t wide_lock;
    const smp_batch_devices *devices;
    int jobs, running;            /* threads */
    int opening;                  /* devices of which none was opened yet: before they all are no file is begun */
    bool lost[SMP_BATCH_DEVICES]; /* failed while they worked */
    smp_error unopened;           /* why one could not be */
} batch;

typedef struct worker {
    batch *b;
    int number;
    int of; /* devices: its own; count: the CPU in place of one that failed */
    pthread_t thread;
    smp_device *device;
    smp_run_cache *cache;
    bool keeps;  /* something in it; under the lock */
    bool opened; /* both */
} worker;

static bool stopping(const batch *b)
{
    return b->stopped || (b->request->stop && *b->request->stop);
}

/* ------------------------------------------------------------------------------------------------ one file */

static smp_code run_once(worker *w, const smp_batch_file *file, smp_device *device, smp_run_cache *cache,
                         smp_run_report *report, smp_error *err)
{
    const smp_batch_request *r = w->b->request;
    smp_run_request request = {
        .program = r->program,
        .diags = r->diags,
        .input = file->input,
        .output = file->output,
        .limits = r->limits,
        .write = r->write,
        .device = device,
        .variant = r->variant,
        .strip_rows = r->strip_rows,
        .plain_storage = r->plain_storage,
        .no_fuse = r->no_fuse,
        .cache = cache,
        .partials = r->partials,
    };
    request.write.force = r->write.force || file->replace;
    if (file->page)
        request.limits.page = file->page;
    request.write.threads = 1; /* a device of the CPU says how many it has */
    if (!file->output || !r->program->save_count)
        return smp_run_file(&request, report, err);
    char *prefix = smp_target_prefix(file->output);
    request.save_prefix = prefix;
    const smp_code code =
        prefix ? smp_run_file(&request, report, err) : smp_fail_memory(err, "a path", strlen(file->output));
    smp_free(prefix);
    return code;
}

/* Memory that is nearly used up: files that end will give some back. */
static bool crowded(const batch *b)
{
    uint64_t most = b->request->limits.max_memory;
    return most && smp_alloc_live() > most / 2;
}

/* Gives back what the thread keeps for its next file, where others need it. The lock is held. */
static void give_back(worker *w)
{
    batch *b = w->b;
    if (!w->keeps || !(b->alone > 0 || crowded(b)))
        return;
    pthread_mutex_unlock(&b->lock);
    smp_run_cache_clear(w->cache);
    pthread_mutex_lock(&b->lock);
    w->keeps = false;
    b->keeping--;
    pthread_cond_broadcast(&b->changed);
}

/* Waits until no other file is being run and nothing is kept for others, and lets none begin meanwhile. */
static void begin_alone(worker *w)
{
    batch *b = w->b;
    pthread_mutex_lock(&b->lock);
    b->alone++;
    give_back(w);
    b->count->in_flight--;
    pthread_cond_broadcast(&b->changed);
    while (b->count->in_flight > 0 || b->keeping > 0)
        pthread_cond_wait(&b->changed, &b->lock);
    b->count->in_flight++;
    pthread_mutex_unlock(&b->lock);
}

static void end_alone(batch *b)
{
    pthread_mutex_lock(&b->lock);
    b->alone--;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
}

static bool short_of_memory(smp_code code, uint64_t refused_before)
{
    return code == SMP_E_MEMORY || code == SMP_E_DEVICE_MEMORY ||
           (code == SMP_E_LIMIT && smp_alloc_refused() != refused_before);
}

/* Few files are left, this one is large, and nobody else has all threads. */
static bool take_wide(batch *b, const smp_batch_file *file)
{
    pthread_mutex_lock(&b->lock);
    bool last = b->wide && b->no_more && b->handed - b->next + b->count->in_flight <= (size_t)b->jobs / 2;
    pthread_mutex_unlock(&b->lock);
    return last && file->bytes >= WIDE_BYTES && pthread_mutex_trylock(&b->wide_lock) == 0;
}

/* Opens device `of` for the thread; the CPU after the last. */
static smp_code open_device(worker *w, int of, smp_error *err)
{
    const smp_batch_request *r = w->b->request;
    const smp_batch_devices *devices = w->b->devices;
    const smp_device_request ask = {.spec = of < devices->count ? devices->specs[of] : "cpu",
                                    .threads = devices->emulated ? r->threads : 1,
                                    .isa = r->isa};
    w->of = of;
    smp_code code = smp_device_open(&ask, &w->device, NULL, 0, err);
    if (!code && !strcmp(w->device->info.kind, "cuda"))
        (void)smp_numa_stay("/sys", w->device->info.numa_node);
    return code ? code : smp_run_cache_open(&w->cache, err);
}

/* A GPU that failed refuses every call from then on; a file of which it cannot do something fails alone. */
static bool is_lost(smp_device *device, smp_code code)
{
    return code == SMP_E_DEVICE && !device->host_memory && device->ops->sync(device, NULL) != SMP_OK;
}

/* The thread goes on with the next device that works, or with the CPU, which makes the same bytes. */
static smp_code replace_device(worker *w, smp_error *err)
{
    batch *b = w->b;
    const int count = b->devices->count, own = w->of;
    pthread_mutex_lock(&b->lock);
    b->lost[own] = true;
    if (w->keeps)
        b->keeping--;
    w->keeps = false;
    pthread_mutex_unlock(&b->lock);
    smp_run_cache_close(w->cache);
    smp_device_close(w->device);
    w->cache = NULL;
    w->device = NULL;
    for (int i = 1; i < count; i++) {
        const int of = (own + i) % count;
        pthread_mutex_lock(&b->lock);
        const bool works = !b->lost[of];
        pthread_mutex_unlock(&b->lock);
        if (works && open_device(w, of, err) == SMP_OK)
            return SMP_OK;
        smp_device_close(w->device);
        w->device = NULL;
    }
    return open_device(w, count, err);
}

static smp_code run_again_elsewhere(worker *w, const smp_batch_file *file, smp_run_report *report, smp_error *err)
{
    char failed[sizeof w->device->info.name], why[200];
    snprintf(failed, sizeof failed, "%s", w->device->info.name);
    snprintf(why, sizeof why, "%.199s", err->message);
    smp_error unopened = {.code = SMP_OK};
    w->opened = replace_device(w, &unopened) == SMP_OK;
    if (!w->opened) {
        pthread_mutex_lock(&w->b->lock);
        w->b->unopened = unopened;
        w->b->stopped = true;
        pthread_mutex_unlock(&w->b->lock);
        return err->code;
    }
    smp_run_report_free(report);
    *err = (smp_error){.code = SMP_OK};
    const smp_code code = run_once(w, file, w->device, NULL, report, err);
    smp_note(&report->input_notes, "%s failed (%s): done again, and what follows, on %s", failed, why,
             w->device->info.name);
    return code;
}

static smp_code run_one(worker *w, const smp_batch_file *file, smp_run_report *report, smp_error *err)
{
    batch *b = w->b;
    uint64_t refused = smp_alloc_refused();
    bool wide = take_wide(b, file);
    smp_code code =
        wide ? run_once(w, file, b->wide, NULL, report, err) : run_once(w, file, w->device, w->cache, report, err);
    if (wide)
        pthread_mutex_unlock(&b->wide_lock);
    while (w->device && is_lost(w->device, code))
        code = run_again_elsewhere(w, file, report, err);
    if (!short_of_memory(code, refused) || b->jobs == 1)
        return code;
    smp_run_report_free(report);
    *err = (smp_error){.code = SMP_OK};
    begin_alone(w);
    code = run_once(w, file, w->device, NULL, report, err);
    end_alone(b);
    return code;
}

/* ------------------------------------------------------------------------------------------------ results */

static void deliver(batch *b, size_t index, result *done)
{
    const smp_batch_request *r = b->request;
    b->count->done += !done->report.status;
    b->count->failed += done->report.status != SMP_OK;
    b->count->bytes_done += done->bytes;
    if (r->stop_on_error && done->report.status)
        b->stopped = true;
    if (r->finished)
        r->finished(r->context, index, &done->report, &done->err);
    smp_run_report_free(&done->report);
}

/* The lock is held. */
static void take_result(batch *b, size_t index, const result *done)
{
    result own = *done;
    if (!b->request->in_order) {
        deliver(b, index, &own);
        return;
    }
    b->results[index % b->window] = *done;
    b->results[index % b->window].ready = true;
    for (result *at; (at = &b->results[b->delivered % b->window])->ready; b->delivered++) {
        deliver(b, b->delivered, at);
        *at = (result){.ready = false};
    }
}

/* ------------------------------------------------------------------------------------------------ threads */

static void wait_a_tick(batch *b, pthread_cond_t *condition)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += TICK_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    pthread_cond_timedwait(condition, &b->lock, &until);
}

static bool must_wait(const batch *b)
{
    return b->opening > 0 || b->alone > 0 || (b->count->in_flight > 0 && crowded(b)) ||
           (b->request->in_order && b->next >= b->delivered + b->window);
}

/* Asks for more files where all are taken. The lock is held, but not while asking: others go on meanwhile. */
static void ask_for_more(batch *b)
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
    }
    pthread_cond_broadcast(&b->changed);
}

/* The next file, or null when there is none. */
static const smp_batch_file *take_file(worker *w, size_t *index)
{
    batch *b = w->b;
    const smp_batch_file *file = NULL;
    pthread_mutex_lock(&b->lock);
    give_back(w);
    while (!stopping(b) && !(b->no_more && b->next == b->handed) && (b->next == b->handed || must_wait(b))) {
        if (b->next == b->handed && !b->asking && !b->no_more)
            ask_for_more(b);
        else
            wait_a_tick(b, &b->changed); /* live memory falls without a word */
        give_back(w);
    }
    if (!stopping(b) && b->next < b->handed) {
        *index = b->next++;
        file = &b->files[*index - b->first];
        b->count->in_flight++;
        b->keeping += !w->keeps;
        w->keeps = true;
    } else if (w->keeps) { /* the last files may need it */
        w->keeps = false;
        pthread_mutex_unlock(&b->lock);
        smp_run_cache_clear(w->cache);
        pthread_mutex_lock(&b->lock);
        b->keeping--;
        pthread_cond_broadcast(&b->changed);
    }
    pthread_mutex_unlock(&b->lock);
    return file;
}

/* A GPU takes its time to open, so that threads do it side by side. The first threads open a device each, and a device
 * that cannot be opened ends the batch before a file is begun. */
static void open_own(worker *w)
{
    batch *b = w->b;
    const smp_batch_devices *devices = b->devices;
    smp_error err = {.code = SMP_OK};
    const smp_code code = open_device(w, w->number % devices->count, &err);
    pthread_mutex_lock(&b->lock);
    w->opened = !code;
    const bool first = w->number < devices->count; /* later ones are more than must be */
    if (code && first && !b->unopened.code)
        b->unopened = err;
    b->stopped |= code && first;
    b->opening -= first;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
}

/* Notes that a file is not the one that a list was made of. */
static void compare_listed(const smp_batch_file *file, smp_notes *notes)
{
    smp_found now = {.path = file->input};
    struct stat status;
    if (!file->mtime || stat(file->input, &status) != 0)
        return;
    smp_found_fill(&now, &status);
    if (now.size != file->bytes || now.mtime != file->mtime)
        smp_note(notes, "was changed after the list was made; it is taken as it is");
}

static void *work(void *context)
{
    worker *w = context;
    batch *b = w->b;
    const smp_batch_request *r = b->request;
    const smp_batch_file *file;
    open_own(w);
    for (size_t index; w->opened && (file = take_file(w, &index));) {
        result done = {.ready = true, .bytes = file->bytes};
        done.report = (smp_run_report){.input = file->input, .output = file->output};
        smp_code code = r->begin ? r->begin(r->context, index, &done.err) : SMP_OK;
        if (code) {
            done.report.status = code;
            done.report.device = w->device->info;
            snprintf(done.report.error, sizeof done.report.error, "%s", done.err.message);
        } else
            run_one(w, file, &done.report, &done.err);
        compare_listed(file, &done.report.input_notes);
        pthread_mutex_lock(&b->lock);
        b->count->in_flight--;
        take_result(b, index, &done);
        pthread_cond_broadcast(&b->changed);
        pthread_mutex_unlock(&b->lock);
        if (r->ended)
            r->ended(r->context, index);
    }
    pthread_mutex_lock(&b->lock);
    if (!--b->running)
        pthread_cond_signal(&b->ended);
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

/* Waits for the threads and lets the caller show how far they are. */
static void watch(batch *b)
{
    const smp_batch_request *r = b->request;
    pthread_mutex_lock(&b->lock);
    while (b->running > 0) {
        wait_a_tick(b, &b->ended);
        if (r->tick) {
            smp_batch_count now = *b->count;
            if (r->more && !b->no_more) {
                now.files = r->expected > now.files ? r->expected : now.files;
                now.bytes = smp_max_u64(r->expected_bytes, now.bytes);
            }
            pthread_mutex_unlock(&b->lock);
            r->tick(r->context, &now);
            pthread_mutex_lock(&b->lock);
        }
    }
    pthread_mutex_unlock(&b->lock);
}

/* ------------------------------------------------------------------------------------------------ the batch */

static int choose_jobs(const smp_batch_request *r, const smp_batch_devices *devices)
{
    int cores = r->threads > 0 ? r->threads : smp_pool_cores();
    int64_t jobs = devices->gpu ? smp_max_i64(cores, (int64_t)GPU_JOBS * devices->count) : cores + cores / 2 + 1;
    if (devices->jpegs) /* more wait for the driver and for each other */
        jobs = smp_min_i64(cores, smp_min_i64(JPEG_JOBS * (int64_t)devices->count, 2 * JPEG_JOBS));
    if (r->jobs > 0)
        jobs = r->jobs;
    if (devices->emulated) /* one emulator for the process */
        jobs = 1;
    return (int)smp_clamp_i64(
        jobs, 1,
        smp_min_i64(MOST_JOBS,
                    (int64_t)smp_max_i64(1, (int64_t)(r->more && r->expected > r->count ? r->expected : r->count))));
}

static smp_code open_wide(batch *b, smp_error *err)
{
    const smp_batch_request *r = b->request;
    const smp_device_request all = {.spec = "cpu", .threads = r->threads, .isa = r->isa};
    if (b->devices->gpu || (r->threads ? r->threads : smp_pool_cores()) <= 1)
        return SMP_OK;
    return smp_device_open(&all, &b->wide, NULL, 0, err);
}

static smp_code start(batch *b, worker *workers, int *started, smp_error *err)
{
    smp_code code = SMP_OK;
    pthread_mutex_lock(&b->lock);
    for (; *started < b->jobs; ++*started) {
        worker *w = &workers[*started];
        w->b = b;
        w->number = *started;
        if (pthread_create(&w->thread, NULL, work, w) != 0)
            break;
        b->running++;
    }
    b->opening += (int)smp_min_i64(b->devices->count, *started);
    if (!*started) /* fewer than wanted will do */
        code = smp_fail(err, SMP_E_PROCESS, "cannot start a thread");
    pthread_mutex_unlock(&b->lock);
    return code;
}

static smp_code ended_how(const batch *b, smp_error *err)
{
    const smp_batch_request *r = b->request;
    int number = r->stop ? (int)*r->stop : 0;
    if (b->unopened.code) {
        *err = b->unopened;
        return err->code;
    }
    if (b->asked.code) {
        *err = b->asked;
        return err->code;
    }
    if (!number || (b->no_more && b->count->done + b->count->failed == b->handed))
        return SMP_OK;
    return number == SIGTERM ? smp_fail(err, SMP_E_TERMINATED, "terminated")
                             : smp_fail(err, SMP_E_INTERRUPTED, "interrupted");
}

smp_code smp_batch_run(const smp_batch_request *request, smp_batch_count *count, char *note, size_t note_size,
                       smp_error *err)
{
    *count = (smp_batch_count){.files = request->count};
    for (size_t i = 0; i < request->count; i++)
        count->bytes += request->files[i].bytes;
    if (note && note_size)
        note[0] = '\0';
    if (!request->count)
        return SMP_OK;
    smp_batch_devices devices;
    char choice[160] = "";
    smp_code code = smp_batch_devices_find(request, &devices, choice, sizeof choice, err);
    if (code)
        return code;
    batch b = {.request = request,
               .count = count,
               .files = request->files,
               .handed = request->count,
               .no_more = !request->more,
               .devices = &devices,
               .jobs = choose_jobs(request, &devices)};
    smp_alloc_keep((uint64_t)b.jobs * KEPT_A_JOB);
    worker *workers = smp_alloc_array((size_t)b.jobs, sizeof *workers);
    int started = 0;
    b.window = (size_t)b.jobs * AHEAD;
    b.results = request->in_order ? smp_alloc_array(b.window, sizeof *b.results) : NULL;
    pthread_mutex_init(&b.lock, NULL);
    pthread_mutex_init(&b.wide_lock, NULL);
    pthread_cond_init(&b.changed, NULL);
    pthread_cond_init(&b.ended, NULL);
    if (!workers || (request->in_order && !b.results))
        code = smp_fail_memory(err, "a batch", (size_t)b.jobs * sizeof *workers);
    if (!code)
        code = open_wide(&b, err);
    if (!code)
        code = start(&b, workers, &started, err);
    if (!code)
        watch(&b);
    for (int i = 0; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    if (started && workers[0].opened && note)
        snprintf(note, note_size, "%d file%s at once on %s%s%s", b.jobs, b.jobs == 1 ? "" : "s",
                 workers[0].device->info.name, choice[0] ? "; " : "", choice);
    for (int i = 0; workers && i < b.jobs; i++) {
        smp_run_cache_close(workers[i].cache);
        smp_device_close(workers[i].device);
    }
    smp_device_close(b.wide);
    pthread_cond_destroy(&b.changed);
    pthread_cond_destroy(&b.ended);
    pthread_mutex_destroy(&b.wide_lock);
    pthread_mutex_destroy(&b.lock);
    smp_free(b.results);
    smp_free(workers);
    return code ? code : ended_how(&b, err);
}
