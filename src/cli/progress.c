/* A progress bar that people see only when there is time to read it. */
#include <unistd.h>

#include "base/clock.h"
#include "cli/cli.h"
#include "report/text.h"

enum { BAR_COLUMNS = 30 };
static const double patience = 1.0, interval = 0.1; /* seconds before the first bar, and between two */

void smp_progress_begin(smp_progress *progress, const smp_common *common, const char *name)
{
    *progress = (smp_progress){.name = name, .began = smp_now()};
    progress->enabled = !common->quiet && isatty(STDERR_FILENO);
}

smp_code smp_progress_step(void *context, int64_t done, int64_t total)
{
    smp_progress *progress = context;
    if (!progress->enabled || total <= 0)
        return SMP_OK;
    double now = smp_now(), past = now - progress->began;
    if (past < patience || now - progress->last < interval)
        return SMP_OK;
    progress->last = now;
    double share = (double)done / (double)total;
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    fputs("\r  ", stderr);
    smp_text_column(stderr, progress->name, 24);
    fputs(" [", stderr);
    for (int i = 0; i < BAR_COLUMNS; i++)
        fputc(i < (int)(share * BAR_COLUMNS) ? '#' : '.', stderr);
    fprintf(stderr, "] %3.0f %%", share * 100);
    if (share > 0.02)
        fprintf(stderr, " %6.1f s left ", past / share - past);
    fflush(stderr);
    progress->shown = true;
    return SMP_OK;
}

void smp_progress_files(smp_progress *progress, size_t done, size_t failed, size_t all, double share)
{
    double now = smp_now(), past = now - progress->began;
    if (!progress->enabled || past < patience || now - progress->last < interval)
        return;
    progress->last = now;
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    fprintf(stderr, "\r  %zu of %zu files [", done, all);
    for (int i = 0; i < BAR_COLUMNS; i++)
        fputc(i < (int)(share * BAR_COLUMNS) ? '#' : '.', stderr);
    fprintf(stderr, "] %3.0f %%  %.4g files/s", share * 100, (double)done / past);
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
    if (progress->shown)
        fputs("\r\033[K", stderr);
    progress->shown = progress->enabled = false;
}
