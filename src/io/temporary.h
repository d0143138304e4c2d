/* Where the bytes of an output wait until they are whole: a file in the target's folder that has no name (O_TMPFILE),
 * so that nothing is left of it when its writer is killed; or, where the file system has no such files, one with a name
 * that smp_output_sweep() knows. Internal to io/. */
#ifndef SMP_IO_TEMPORARY_H
#define SMP_IO_TEMPORARY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

typedef struct smp_temporary {
    struct smp_temporary_slot *slot; /* of its name; null: it has none */
} smp_temporary;

/* *fd is open for writing, -1 on failure. SMP_E_WRITE says what is wrong with the folder. */
smp_code smp_temporary_open(const char *target, smp_temporary *out, int *fd, smp_error *err);

/* Puts the file, of which fd is a descriptor, in place of the target: in one step of the file system, so that at any
 * time there is the old target or the new one. Without force only where nothing is (EEXIST). 0, or -1 and errno. */
int smp_temporary_place(smp_temporary *temporary, int fd, const char *target, bool force);

/* Removes the file where it has a name and was not put in place. */
void smp_temporary_remove(smp_temporary *temporary);

/* Bytes of target up to and with its last slash, as a folder's name into text; false when they do not fit. */
bool smp_folder_of(const char *target, char *text, size_t size);

/* For tests: files get names from the beginning, as on file systems that know no others. */
void smp_temporary_set_named(bool named);

#endif
