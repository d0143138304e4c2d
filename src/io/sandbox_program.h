/* Confines the whole program once its inputs and outputs are known (Landlock): it then reads those inputs and the
 * system's folders, writes below the folders of its outputs, and connects to nothing. This holds writers, kernels and
 * the pipeline itself; decoders give up more (sandbox_decoder.h). */
#pragma once

#include <stdbool.h>

typedef struct smp_sandbox smp_sandbox;

/* Begins a list of what stays allowed; null where the system lacks Landlock's ABI 3, and then the rest does nothing. */
smp_sandbox *smp_sandbox_begin(void);

/* Allows a file or a folder, links followed; does nothing if it does not exist. write: files below the folder may be
 * made, replaced and removed. */
void smp_sandbox_allow(smp_sandbox *sandbox, const char *path, bool write);

/* Allows the folder of a file that is to be made, and the folder of what it links to. "-": none. */
void smp_sandbox_allow_output(smp_sandbox *sandbox, const char *path);

/* Allows folders for nameless files, which keep sound from a pipe, for instance. */
void smp_sandbox_allow_temporary(smp_sandbox *sandbox);

/* Gives up the rest, for good: the calling thread, and threads that it starts from now on. */
void smp_sandbox_close(smp_sandbox *sandbox);

/* Whether that was done. */
bool smp_sandbox_closed(void);

/* Returns the kernel's ABI of Landlock, or 0 if it is too old. */
int smp_sandbox_abi(void);
