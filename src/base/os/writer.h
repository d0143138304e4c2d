/* Identifies a process that writes journals and claims work units: host, process, job. By it others see whether the
 * writer may still run. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { SMP_WRITER_TEXT = 512 }; /* bytes of a writer's text, with its end */

typedef struct smp_writer_id {
    char host[128], boot[48], job[128]; /* host name; which start of its kernel; the scheduler's job and task, or "-" */
    int64_t pid, restart;               /* how often the scheduler has started the job again */
} smp_writer_id;

/* This process. The host's boot is read once, so call it before files are given up (io/sandbox_program.h). */
const smp_writer_id *smp_writer_self(void);

/* "HOST PID BOOT JOB RESTART": words without spaces; and back. False: the text is not of this form. */
void smp_writer_self_text(char text[SMP_WRITER_TEXT]);
bool smp_writer_read(const char *text, smp_writer_id *out);

typedef enum smp_writer_state {
    SMP_WRITER_UNKNOWN, /* on another host */
    SMP_WRITER_THERE,
    SMP_WRITER_GONE /* its process is, its host has been started again since, or its job has been */
} smp_writer_state;

smp_writer_state smp_writer_look(const smp_writer_id *writer);
