/* Holds an output's bytes until they are complete. It is an unnamed file in the target's folder (O_TMPFILE), which
 * vanishes when its writer is killed; or, on file systems without O_TMPFILE, a named one that smp_output_sweep()
 * recognises. Internal to src/io. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

typedef struct smp_temporary {
    struct smp_temporary_slot *slot; /* of its name; null: unnamed */
} smp_temporary;

/* *fd is open for writing; -1 on failure. SMP_E_WRITE tells what is wrong with the folder, that of `shown`. */
smp_code smp_temporary_open(const char *target, const char *shown, smp_temporary *out, int *fd, smp_error *err);

/* Puts the file behind fd in place of the target, in one step: at any time there is the old target or the new one.
 * Without force only if nothing is there (EEXIST). 0, or -1 and errno. */
int smp_temporary_place(smp_temporary *temporary, int fd, const char *target, bool force);

/* Removes the file if it has a name and was not put in place. */
void smp_temporary_remove(smp_temporary *temporary);

/* The target's folder: copies the path up to its last slash into text. False: it does not fit. */
bool smp_folder_of(const char *target, char *text, size_t size);

/* For tests: use named files from now on, as on file systems without O_TMPFILE. */
void smp_temporary_set_named(bool named);
