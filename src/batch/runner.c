/* The threads of a batch: see batch.h. Every thread opens a device for itself, then takes a file and does all of it;
 * what it shares with the others (runner.h) is under one lock. */

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/clock.h"
#include "base/os/processor.h"
#include "base/pool.h"
#include "batch/find_files.h"
#include "batch/outputs.h"
#include "batch/runner.h"
#include "io/files/tar.h"

enum {
    KEPT_A_JOB = 256 << 20, /* bytes of freed memory that wait for the next file */
    WIDE_BYTES = 256 << 10, /* a file from which the last ones are worth all threads */
    AHEAD = 8               /* files a thread may be ahead of the one that is delivered next, when in order */
};

/* ------------------------------------------------------------------------------------------------ one file */

static smp_code run_once(smp_batch_worker *w, const smp_batch_file *file, smp_device *device, smp_run_cache *cache,
                         smp_run_report *report, smp_error *err)
{
    const smp_batch_request *r = w->b->request;
    smp_run_request request = {
        .program = r->program,
        .diags = r->diags,
        .input = file->input,
        .output = file->output,
        .read = r->read,
        .fast_decode = r->fast_decode,
        .gpu_jpeg = r->gpu_jpeg,
        .write = r->write,
        .device = device,
        .elsewhere = r->elsewhere,
        .draw = {.seed = r->draw.seed, .index = file->index, .epoch = r->draw.epoch + file->epoch},
        .variant = r->variant,
        .strip_rows = r->strip_rows,
        .plain_storage = r->plain_storage,
        .no_fuse = r->no_fuse,
        .cache = cache,
        .partials = r->partials,
    };
    request.write.output.force = r->write.output.force || file->replace;
    if (file->page)
        request.read.page = file->page;
    request.write.threads = 1; /* a device of the CPU says how many it has */
    if (file->output && smp_is_tar(file->input))
        return smp_run_shard(&request, &r->shards, report, err);
    if (!file->output || !r->program->save_count)
        return smp_run_file(&request, report, err);
    char *prefix = smp_target_prefix(file->output);
    request.save_prefix = prefix;
    const smp_code code =
        prefix ? smp_run_file(&request, report, err) : smp_fail_memory(err, "a path", strlen(file->output));
    smp_free(prefix);
    return code;
}

/* Waits until no other file is being run and nothing is kept for others, and lets none begin meanwhile. */
static void begin_alone(smp_batch_worker *w)
{
    smp_batch *b = w->b;
    pthread_mutex_lock(&b->lock);
    b->alone++;
    smp_batch_give_back(w);
    b->count->in_flight--;
    pthread_cond_broadcast(&b->changed);
    while (b->count->in_flight > 0 || b->keeping > 0)
        pthread_cond_wait(&b->changed, &b->lock);
    b->count->in_flight++;
    pthread_mutex_unlock(&b->lock);
}

static void end_alone(smp_batch *b)
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
static bool take_wide(smp_batch *b, const smp_batch_file *file)
{
    pthread_mutex_lock(&b->lock);
    bool last = b->wide && b->no_more && b->handed - b->next + b->count->in_flight <= (size_t)b->jobs / 2;
    pthread_mutex_unlock(&b->lock);
    return last && file->bytes >= WIDE_BYTES && pthread_mutex_trylock(&b->wide_lock) == 0;
}

static smp_code run_again_elsewhere(smp_batch_worker *w, const smp_batch_file *file, smp_run_report *report,
                                    smp_error *err)
{
    char failed[sizeof w->device->info.name], why[200];
    snprintf(failed, sizeof failed, "%s", w->device->info.name);
    snprintf(why, sizeof why, "%.199s", err->message);
    smp_error unopened = {.code = SMP_OK};
    w->opened = smp_batch_replace_device(w, &unopened) == SMP_OK;
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

static smp_code run_one(smp_batch_worker *w, const smp_batch_file *file, smp_run_report *report, smp_error *err)
{
    smp_batch *b = w->b;
    uint64_t refused = smp_alloc_refused();
    bool wide = take_wide(b, file);
    smp_code code =
        wide ? run_once(w, file, b->wide, NULL, report, err) : run_once(w, file, w->device, w->cache, report, err);
    if (wide)
        pthread_mutex_unlock(&b->wide_lock);
    while (w->device && smp_batch_is_lost(w->device, code))
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

static void deliver(smp_batch *b, smp_batch_result *done)
{
    const smp_batch_request *r = b->request;
    b->count->done += !done->report.status;
    b->count->failed += done->report.status != SMP_OK;
    b->count->bytes_done += done->file->bytes;
    if (r->stop_on_error && done->report.status)
        b->stopped = true;
    if (r->finished)
        r->finished(r->context, done->file, &done->report, &done->err);
    smp_run_report_free(&done->report);
}

/* The lock is held. */
static void take_result(smp_batch *b, size_t index, const smp_batch_result *done)
{
    smp_batch_result own = *done;
    if (!b->request->in_order) {
        deliver(b, &own);
        return;
    }
    b->results[index % b->window] = *done;
    for (smp_batch_result *at; (at = &b->results[b->delivered % b->window])->file; b->delivered++) {
        deliver(b, at);
        *at = (smp_batch_result){.file = NULL};
    }
}

/* ------------------------------------------------------------------------------------------------ threads */

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

/* A device that could not be opened is told with a file, once. */
static void tell_refused(smp_batch *b, smp_notes *notes)
{
    pthread_mutex_lock(&b->lock);
    const smp_error refused = b->refused;
    b->refused = (smp_error){.code = SMP_OK};
    pthread_mutex_unlock(&b->lock);
    if (refused.code)
        smp_note(notes, "a device was left out (%.200s): others did its work", refused.message);
}

static void do_file(smp_batch_worker *w, const smp_batch_file *file, size_t index)
{
    smp_batch *b = w->b;
    const smp_batch_request *r = b->request;
    smp_batch_result done = {.file = file};
    done.report = (smp_run_report){.input = file->input, .output = file->output};
    const double began = smp_now(), used = smp_processor_now();
    const int of = w->of;
    smp_code code = r->begin ? r->begin(r->context, file, &done.err) : SMP_OK;
    if (code) {
        done.report.status = code;
        done.report.device = w->device->info;
        snprintf(done.report.error, sizeof done.report.error, "%s", done.err.message);
    } else
        code = run_one(w, file, &done.report, &done.err);
    compare_listed(file, &done.report.input_notes);
    tell_refused(b, &done.report.input_notes);
    const double wall = smp_now() - began, processor = smp_processor_now() - used;
    pthread_mutex_lock(&b->lock);
    b->count->in_flight--;
    smp_split_end(&b->split, w->kind, w->class_index,
                  code || of != w->of ? SMP_SPLIT_NOTHING
                  : w->done           ? SMP_SPLIT_MEASURED
                                      : SMP_SPLIT_GUESS,
                  wall, processor);
    w->done++;
    b->made[w->kind]++;
    take_result(b, index, &done);
    pthread_cond_broadcast(&b->changed);
    for (int kind = 0; kind < SMP_SPLIT_KINDS; kind++)
        pthread_cond_signal(&b->idle[kind]);
    pthread_mutex_unlock(&b->lock);
    if (r->ended)
        r->ended(r->context, file);
}

static void *work(void *context)
{
    smp_batch_worker *w = context;
    smp_batch *b = w->b;
    const smp_batch_file *file;
    smp_batch_open_own(w);
    for (size_t index; w->opened && (file = smp_batch_take(w, &index));)
        do_file(w, file, index);
    pthread_mutex_lock(&b->lock);
    b->split.lanes[w->kind] -= w->opened;
    pthread_mutex_unlock(&b->lock);
    smp_batch_close_own(w);
    pthread_mutex_lock(&b->lock);
    if (!--b->running)
        pthread_cond_signal(&b->ended);
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

/* Waits for the threads and lets the caller show how far they are. */
static void watch(smp_batch *b)
{
    const smp_batch_request *r = b->request;
    pthread_mutex_lock(&b->lock);
    while (b->running > 0) {
        smp_batch_wait(b, &b->ended);
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

static smp_code open_wide(smp_batch *b, smp_error *err)
{
    const smp_batch_request *r = b->request;
    const smp_device_request all = {.spec = "cpu", .threads = r->threads, .isa = r->isa};
    if (b->devices->gpu || (r->threads ? r->threads : smp_pool_cores()) <= 1)
        return SMP_OK;
    return smp_device_open(&all, &b->wide, NULL, 0, err);
}

/* Starts threads of one kind behind those that there are. */
static smp_code start(smp_batch *b, smp_batch_worker *workers, smp_split_kind kind, int jobs, int *started,
                      smp_error *err)
{
    const int before = *started, devices = kind == SMP_SPLIT_GPU ? b->devices->count : 1;
    smp_code code = SMP_OK;
    pthread_mutex_lock(&b->lock);
    for (int i = 0; i < jobs; i++, ++*started) {
        smp_batch_worker *w = &workers[*started];
        w->b = b;
        w->kind = kind;
        w->of = kind == SMP_SPLIT_GPU ? i % devices : SMP_BATCH_PROCESSORS;
        w->first = i < devices;
        if (pthread_create(&w->thread, NULL, work, w) != 0)
            break;
        b->running++;
        b->opening += w->first;
    }
    if (jobs && *started == before) /* fewer than wanted will do */
        code = smp_fail(err, SMP_E_PROCESS, "cannot start a thread");
    pthread_mutex_unlock(&b->lock);
    return code;
}

/* Starts the threads of processors, then those of GPUs, which may have to be looked for. */
static smp_code start_all(smp_batch *b, smp_batch_devices *devices, smp_batch_worker *workers, int *started,
                          char *choice, size_t choice_size, smp_error *err)
{
    int jobs[SMP_SPLIT_KINDS];
    smp_batch_jobs(b->request, devices, jobs);
    smp_code code = start(b, workers, SMP_SPLIT_CPU, jobs[SMP_SPLIT_CPU], started, err);
    if (!code && devices->later) {
        smp_batch_devices_look(devices, choice, choice_size);
        smp_batch_jobs(b->request, devices, jobs);
        pthread_mutex_lock(&b->lock);
        b->split.gpus_come = devices->gpu;
        pthread_mutex_unlock(&b->lock);
    }
    code = code ? code : start(b, workers, SMP_SPLIT_GPU, jobs[SMP_SPLIT_GPU], started, err);
    if (*started && code) { /* those that work will do */
        code = SMP_OK;
        *err = (smp_error){.code = SMP_OK};
    }
    return code;
}

/* "16 files at once on NVIDIA H100, 25 on AMD EPYC; ..." */
static void say_devices(const smp_batch *b, const smp_batch_worker *workers, int started, const char *choice,
                        char *note, size_t note_size)
{
    int lanes[SMP_SPLIT_KINDS] = {0};
    for (int i = 0; i < started; i++)
        lanes[workers[i].kind] += workers[i].opened;
    const smp_split_kind first = lanes[SMP_SPLIT_GPU] ? SMP_SPLIT_GPU : SMP_SPLIT_CPU;
    int used = 0;
    if (!lanes[first])
        return;
    used = snprintf(note, note_size, "%d file%s at once on %s", lanes[first], lanes[first] == 1 ? "" : "s",
                    b->names[first]);
    if (first == SMP_SPLIT_GPU && lanes[SMP_SPLIT_CPU] && used > 0 && (size_t)used < note_size)
        used += snprintf(note + used, note_size - (size_t)used, ", which did %zu, and %d on %s, which did %zu",
                         b->made[SMP_SPLIT_GPU], lanes[SMP_SPLIT_CPU], b->names[SMP_SPLIT_CPU], b->made[SMP_SPLIT_CPU]);
    if (choice[0] && used > 0 && (size_t)used < note_size)
        used += snprintf(note + used, note_size - (size_t)used, "; %s", choice);
    if (b->refused.code && used > 0 && (size_t)used < note_size) /* no file was left to say it */
        snprintf(note + used, note_size - (size_t)used, "; a device was left out (%.200s)", b->refused.message);
}

static smp_code ended_how(const smp_batch *b, smp_error *err)
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

/* The system's table of descriptors grows as files are opened. With several threads each growth makes all of them wait,
 * and there is none for long once it is large. */
static void reserve_descriptors(void)
{
    enum { ENOUGH = 1024 };
    struct rlimit most;
    if (getrlimit(RLIMIT_NOFILE, &most) != 0)
        return;
    const int last = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, (int)smp_min_u64(ENOUGH, most.rlim_cur) - 1);
    if (last >= 0)
        close(last);
}

/* Locks, results and memory for `most` workers, which may all come. Closed by close_batch, also after an error. */
static smp_code open_batch(smp_batch *b, size_t most, smp_batch_worker **workers, smp_error *err)
{
    smp_alloc_keep((uint64_t)b->jobs * KEPT_A_JOB);
    *workers = smp_alloc_array(most, sizeof **workers);
    b->window = (size_t)b->jobs * AHEAD;
    b->results = b->request->in_order ? smp_alloc_array(b->window, sizeof *b->results) : NULL;
    pthread_mutex_init(&b->lock, NULL);
    pthread_mutex_init(&b->wide_lock, NULL);
    pthread_cond_init(&b->changed, NULL);
    pthread_cond_init(&b->ended, NULL);
    for (int kind = 0; kind < SMP_SPLIT_KINDS; kind++)
        pthread_cond_init(&b->idle[kind], NULL);
    if (!*workers || (b->request->in_order && !b->results))
        return smp_fail_memory(err, "a batch", most * sizeof **workers);
    return open_wide(b, err);
}

static void close_batch(smp_batch *b, smp_batch_worker *workers)
{
    smp_device_close(b->wide);
    pthread_cond_destroy(&b->changed);
    pthread_cond_destroy(&b->ended);
    for (int kind = 0; kind < SMP_SPLIT_KINDS; kind++)
        pthread_cond_destroy(&b->idle[kind]);
    pthread_mutex_destroy(&b->wide_lock);
    pthread_mutex_destroy(&b->lock);
    smp_free_all(b->results, b->marks, workers);
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
    reserve_descriptors();
    smp_batch_devices devices;
    char choice[160] = "";
    SMP_TRY(smp_batch_devices_find(request, &devices, choice, sizeof choice, err));
    int jobs[SMP_SPLIT_KINDS], started = 0;
    smp_batch_jobs(request, &devices, jobs);
    smp_batch b = {.request = request,
                   .count = count,
                   .files = request->files,
                   .handed = request->count,
                   .no_more = !request->more,
                   .devices = &devices,
                   .split.processors = request->threads > 0 ? request->threads : smp_pool_cores(),
                   .split.gpus_come = devices.cpu && devices.gpu,
                   .jobs = jobs[SMP_SPLIT_CPU] + jobs[SMP_SPLIT_GPU]};
    smp_batch_worker *workers;
    smp_code code = open_batch(&b, devices.later ? SMP_BATCH_MOST_JOBS : (size_t)b.jobs, &workers, err);
    code = code ? code : start_all(&b, &devices, workers, &started, choice, sizeof choice, err);
    if (!code)
        watch(&b);
    for (int i = 0; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    if (note && note_size)
        say_devices(&b, workers, started, choice, note, note_size);
    close_batch(&b, workers);
    return code ? code : ended_how(&b, err);
}
