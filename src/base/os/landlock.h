/* Landlock, by which a process gives up files, connections and signals for good. A list of rules is made first; what
 * restricts the process is one call. Sources: linux/landlock.h; Documentation/userspace-api/landlock.rst. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Rights that remain for a file, or below a folder. WRITE: files may be made, replaced and removed too. */
typedef enum smp_landlock_right {
    SMP_LANDLOCK_READ = 1,
    SMP_LANDLOCK_WRITE = 2,
    SMP_LANDLOCK_RUN = 4, /* programs are started */
} smp_landlock_right;

typedef struct smp_landlock {
    int rules;        /* a descriptor; -1: there is no Landlock */
    uint64_t handled; /* of files */
} smp_landlock;

/* The kernel's ABI, 1 or more; 0: it has none. */
int smp_landlock_abi(void);

/* Begins a list on which nothing is: every right to files is given up, and connections by TCP. scopes: abstract sockets
 * and signals to processes outside, too. What the kernel's ABI lacks is left out. */
smp_landlock smp_landlock_begin(bool scopes);

/* A file or a folder, links followed; what is not there is passed over. rights: of smp_landlock_right. */
void smp_landlock_allow(const smp_landlock *list, const char *path, unsigned rights);

/* Restricts the calling thread and what it starts, which needs PR_SET_NO_NEW_PRIVS. Makes no call but that, so that a
 * child of a program with threads may call it. */
bool smp_landlock_restrict(const smp_landlock *list);
void smp_landlock_end(smp_landlock *list);

/* Lowers a limit of the calling process (RLIMIT_AS, ...) to `most`, for good; a lower one stays. */
void smp_bound_resource(unsigned resource, uint64_t most);
