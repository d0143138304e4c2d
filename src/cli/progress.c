/* A progress bar that people see only when there is time to read it. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/cli.h"
#include "report/text.h"

enum { MOST_BAR = 30, LEAST_BAR = 5, NAME_COLUMNS = 24, RATE_COLUMNS = 30, USUAL_WIDTH = 80, MILLE = 1000 };
static const double patience = 1.0, interval = 0.1; /* seconds before the first bar, and between two */

void smp_progress_begin(smp_progress *progress, const smp_common *common, const char *name)
{
    *progress = (smp_progress){.name = name, .began = smp_now()};
    progress->enabled = !common->quiet && isatty(STDERR_FILENO);
}

/* The terminal's columns. They are asked for with each line, since windows change. */
static int terminal_columns(void)
{
    struct winsize size = {.ws_col = 0};
    const char *set = getenv("COLUMNS");
    if (!ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col)
        return size.ws_col;
    const long columns = set ? strtol(set, NULL, 10) : 0;
    return columns > 0 && columns < INT16_MAX ? (int)columns : USUAL_WIDTH;
}

/* One line that no terminal wraps: what it is of, a bar, percents, and how fast. Where that is too wide the bar becomes
 * shorter, then the head loses its middle; then the bar goes, and last how fast. */
static void put_line(const char *head, double share, const char *tail)
{
    enum { FIXED = 9 /* columns: two blanks, one behind the head, " 100 %" */, BRACKETS = 2 };
    const int room = terminal_columns() - 1, whole = (int)smp_text_columns(head);
    int left = room - FIXED - (int)strlen(tail);
    if (left < whole && left < FIXED) {
        left += (int)strlen(tail);
        tail = "";
    }
    int columns = left - MOST_BAR - BRACKETS;
    columns = columns < NAME_COLUMNS ? NAME_COLUMNS : columns;
    columns = columns < whole ? columns : whole;
    int bar = left - columns - BRACKETS;
    bar = bar < MOST_BAR ? bar : MOST_BAR;
    if (bar < LEAST_BAR)
        columns = left < whole ? left : whole;
    fputs("\r  ", stderr);
    smp_text_middle(stderr, head, columns > 0 ? (size_t)columns : 0);
    fputc(' ', stderr);
    for (int i = 0; bar >= LEAST_BAR && i < bar; i++)
        fprintf(stderr, "%s%c%s", i ? "" : "[", i < (int)(share * bar) ? '#' : '.', i + 1 < bar ? "" : "]");
    fprintf(stderr, " %3.0f %%%s\033[K", share * 100, tail);
    fflush(stderr);
}

static double between_0_and_1(double share)
{
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

/* The bar of one file: how far it is, and how long it will take or has taken. */
static void draw(smp_progress *progress, double share, double past)
{
    char time[48];
    if (share > 0.02)
        snprintf(time, sizeof time, " %6.1f s left", past / share - past);
    else
        snprintf(time, sizeof time, " %6.1f s     ", past);
    put_line(progress->name, share, time);
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

void smp_progress_files(smp_progress *progress, const smp_batch_count *count)
{
    const size_t done = count->done + count->failed;
    double now = smp_now(), past = now - progress->began;
    if (!progress->enabled || past < patience || now - progress->last < interval)
        return;
    progress->last = now;
    const double share = between_0_and_1(count->bytes ? (double)count->bytes_done / (double)count->bytes
                                                      : (double)done / (double)count->files);
    char head[64], rate[160];
    snprintf(head, sizeof head, "%zu of %zu files", done, count->files);
    int used = snprintf(rate, sizeof rate, "  %.4g files/s", (double)done / past);
    if (share > 0.02)
        used += snprintf(rate + used, sizeof rate - (size_t)used, "  %.1f s left", past / share - past);
    if (count->failed)
        used += snprintf(rate + used, sizeof rate - (size_t)used, "  %zu failed", count->failed);
    snprintf(rate + used, sizeof rate - (size_t)used, "%*s", used < RATE_COLUMNS ? RATE_COLUMNS - used : 0, "");
    put_line(head, share, rate); /* of a width that seldom changes, and so the bar */
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
