/* What the whole program gives up once it knows its inputs and outputs (Landlock): it then reads those inputs and the
 * system's folders, writes below the folders of its outputs, and connects to nothing. Decoders give up more
 * (confine.h); this holds what is beside them: writers, kernels, the pipeline itself. */
#ifndef SMP_IO_JAIL_H
#define SMP_IO_JAIL_H

#include <stdbool.h>

typedef struct smp_jail smp_jail;

/* Begins a list of what stays allowed; null where the system lacks Landlock's ABI 3, and then the rest does nothing. */
smp_jail *smp_jail_begin(void);

/* A file or a folder, links followed; what is not there is passed over. write: files below the folder may be made,
 * replaced and removed. */
void smp_jail_allow(smp_jail *jail, const char *path, bool write);

/* The folder of a file that is to be made, and that of what it links to. "-": none. */
void smp_jail_allow_output(smp_jail *jail, const char *path);

/* Folders for what is kept in nameless files, such as sound from a pipe. */
void smp_jail_allow_temporary(smp_jail *jail);

/* Gives up the rest, for good: the calling thread, and threads that it starts from now on. */
void smp_jail_close(smp_jail *jail);

/* The kernel's ABI where it serves, else 0. */
int smp_jail_abi(void);

#endif
