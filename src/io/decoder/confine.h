/* What a process gives up for good before it looks at bytes from elsewhere: files, sockets, other processes, new
 * privileges, memory without end. Decoders run so (worker_child.c). */
#ifndef SMP_IO_DECODER_CONFINE_H
#define SMP_IO_DECODER_CONFINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A sanitizer's build: it maps terabytes that it does not use, and has more to say than an exit status. */
#if defined(__SANITIZE_ADDRESS__)
#define SMP_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SMP_SANITIZED 1
#endif
#endif

typedef struct smp_confinement {
    int landlock; /* the kernel's ABI, 1 or more; 0: it has none */
    bool seccomp;
} smp_confinement;

/* Confines the calling process, which has one thread. Messages pass through the descriptor `channel` alone, writing is
 * left for the descriptor `spool` alone; what is open can be read. memory: bytes of addresses, 0 or a sanitizer's
 * build: no bound. What the kernel lacks is left out, and *got says so. */
void smp_confine(int channel, int spool, uint64_t memory, smp_confinement *got);

/* "seccomp, Landlock ABI 7", "seccomp, no Landlock". */
void smp_confinement_text(const smp_confinement *got, char *text, size_t size);

#endif
