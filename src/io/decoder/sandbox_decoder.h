/* Confines a decoder (worker_child.c) before it reads bytes from elsewhere: for good, it gives up files, sockets, other
 * processes, new privileges and unlimited memory. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sanitized.h"

typedef struct smp_confinement {
    int landlock; /* the kernel's ABI, 1 or more; 0: it has none */
    bool seccomp;
} smp_confinement;

/* Confines the calling process, which has one thread. Messages pass through the descriptor `channel` alone, writing is
 * left for the descriptor `spool` alone; what is open can be read. fonts: folders that end with null, below which files
 * can be opened to be read, for libraries that draw letters, where Landlock keeps it to them; null: none. threads: it
 * may start some, as those libraries do. memory: bytes of addresses, 0 or a sanitizer's build: no bound. What the
 * kernel lacks is left out, and *got says so. */
void smp_sandbox_decoder(int channel, int spool, uint64_t memory, char *const *fonts, bool threads,
                         smp_confinement *got);

/* "seccomp, Landlock ABI 7", "seccomp, no Landlock". */
void smp_confinement_text(const smp_confinement *got, char *text, size_t size);
