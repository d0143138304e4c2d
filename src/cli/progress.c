/* A progress bar that people see only when there is time to read it. */
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/cli.h"
#include "report/text.h"

enum { BAR_COLUMNS = 30, NAME_COLUMNS = 24, MILLE = 1000 };
static const double patience = 1.0, interval = 0.1; /* seconds before the first bar, and between two */

void smp_progress_begin(smp_progress *progress, const smp_common *common, const char *name)
{
    *progress = (smp_progress){.name = name, .began = smp_now()};
    progress->enabled = !common->quiet && isatty(STDERR_FILENO);
}

static void put_bar(double share)
{
    fputc('[', stderr);
    for (int i = 0; i < BAR_COLUMNS; i++)
        fputc(i < (int)(share * BAR_COLUMNS) ? '#' : '.', stderr);
    fprintf(stderr, "] %3.0f %%", share * 100);
}

static double between_0_and_1(double share)
{
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

/* The bar of one file: how far it is, and how long it will take or has taken. */
static void draw(smp_progress *progress, double share, double past)
{
    fputs("\r  ", stderr);
    smp_text_column(stderr, progress->name, NAME_COLUMNS);
    fputc(' ', stderr);
    put_bar(share);
    if (share > 0.02)
        fprintf(stderr, " %6.1f s left ", past / share - past);
    else
        fprintf(stderr, " %6.1f s      ", past);
    fflush(stderr);
    progress->shown = true;
}

smp_code smp_progress_step(void *context, int64_t done, int64_t total)
{
    smp_progress *progress = context;
    if (!progress->enabled || total <= 0)
        return SMP_OK;
    double share = between_0_and_1((double)done / (double)total);
    atomic_store(&progress->mille, (int)(share * MILLE));
    double now = smp_now(), past = now - progress->began;
    if (progress->watched || past < patience || now - progress->last < interval)
        return SMP_OK;
    progress->last = now;
    draw(progress, share, past);
    return SMP_OK;
}

/* Draws whether or not there was a step: one may take long. */
static void *watch(void *context)
{
    smp_progress *progress = context;
    const struct timespec pause = {.tv_nsec = (long)(interval * 1e9)};
    while (!atomic_load(&progress->ended)) {
        double past = smp_now() - progress->began;
        if (past >= patience)
            draw(progress, (double)atomic_load(&progress->mille) / MILLE, past);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

void smp_progress_watch(smp_progress *progress)
{
    sigset_t all, before;
    if (!progress->enabled)
        return;
    sigfillset(&all); /* signals are for the threads that work */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    progress->watched = pthread_create(&progress->watcher, NULL, watch, progress) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void smp_progress_files(smp_progress *progress, size_t done, size_t failed, size_t all, double share)
{
    double now = smp_now(), past = now - progress->began;
    if (!progress->enabled || past < patience || now - progress->last < interval)
        return;
    progress->last = now;
    share = between_0_and_1(share);
    fprintf(stderr, "\r  %zu of %zu files ", done, all);
    put_bar(share);
    fprintf(stderr, "  %.4g files/s", (double)done / past);
    if (share > 0.02)
        fprintf(stderr, "  %.1f s left", past / share - past);
    if (failed)
        fprintf(stderr, "  %zu failed", failed);
    fputs("\033[K", stderr);
    fflush(stderr);
    progress->shown = true;
}

void smp_progress_end(smp_progress *progress)
{
    if (progress->watched) {
        atomic_store(&progress->ended, true);
        pthread_join(progress->watcher, NULL);
    }
    if (progress->shown)
        fputs("\r\033[K", stderr);
    progress->shown = progress->enabled = progress->watched = false;
}
