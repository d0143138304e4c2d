/* Writers of journals: see writer.h. */
#include "base/os/writer.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static smp_writer_id self;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Makes one word of a text. */
static void clean(char *text)
{
    for (char *p = text; *p; p++)
        if (!isgraph((unsigned char)*p))
            *p = '_';
    if (!text[0])
        snprintf(text, 2, "-");
}

static void find_job(smp_writer_id *id)
{
    const char *job = getenv("SLURM_JOB_ID"), *array = getenv("SLURM_ARRAY_JOB_ID"),
               *restart = getenv("SLURM_RESTART_COUNT");
    const char *task = getenv("SLURM_ARRAY_TASK_ID"), *rank = getenv("SLURM_PROCID");
    if (array && task)
        snprintf(id->job, sizeof id->job, "slurm-%.40s_%.20s.%.20s", array, task, rank ? rank : "0");
    else if (job)
        snprintf(id->job, sizeof id->job, "slurm-%.40s.%.20s", job, rank ? rank : "0");
    else if ((job = getenv("PBS_JOBID")))
        snprintf(id->job, sizeof id->job, "pbs-%.100s", job);
    else if ((job = getenv("JOB_ID")) && (task = getenv("SGE_TASK_ID")))
        snprintf(id->job, sizeof id->job, "sge-%.40s.%.40s", job, task);
    id->restart = restart ? strtoll(restart, NULL, 10) : 0;
}

static void find_self(void)
{
    self.pid = (int64_t)getpid();
    if (gethostname(self.host, sizeof self.host) != 0)
        self.host[0] = '\0';
    self.host[sizeof self.host - 1] = '\0';
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (file) {
        if (!fgets(self.boot, sizeof self.boot, file))
            self.boot[0] = '\0';
        self.boot[strcspn(self.boot, "\n")] = '\0';
        fclose(file);
    }
    find_job(&self);
    clean(self.host);
    clean(self.boot);
    clean(self.job);
}

const smp_writer_id *smp_writer_self(void)
{
    pthread_once(&once, find_self);
    return &self;
}

void smp_writer_self_text(char text[SMP_WRITER_TEXT])
{
    const smp_writer_id *id = smp_writer_self();
    snprintf(text, SMP_WRITER_TEXT, "%.127s %" PRId64 " %.47s %.127s %" PRId64, id->host, id->pid, id->boot, id->job,
             id->restart);
}

bool smp_writer_read(const char *text, smp_writer_id *out)
{
    *out = (smp_writer_id){.pid = 0};
    return sscanf(text, "%127s %" SCNd64 " %47s %127s %" SCNd64, out->host, &out->pid, out->boot, out->job,
                  &out->restart) == 5;
}

smp_writer_state smp_writer_look(const smp_writer_id *writer)
{
    const smp_writer_id *own = smp_writer_self();
    if (strcmp(writer->job, "-") != 0 && !strcmp(writer->job, own->job) && writer->restart < own->restart)
        return SMP_WRITER_GONE; /* a scheduler starts a job again only when it has ended */
    if (strcmp(writer->host, own->host) != 0)
        return SMP_WRITER_UNKNOWN;
    if (strcmp(writer->boot, own->boot) != 0)
        return SMP_WRITER_GONE;
    return kill((pid_t)writer->pid, 0) != 0 && errno == ESRCH ? SMP_WRITER_GONE : SMP_WRITER_THERE;
}
