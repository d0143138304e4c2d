/* Processor time of a piece of work: see processor.h. */
#include "base/os/processor.h"

#include <time.h>

static _Thread_local double others;

double smp_processor_now(void)
{
    struct timespec used = {0};
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec + others;
}

void smp_processor_add(double seconds)
{
    if (seconds > 0)
        others += seconds;
}
