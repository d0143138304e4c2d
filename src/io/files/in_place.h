/* An output that takes the place of its own input. It gets the input's mode, owner, group and extended attributes, and
 * a mark (an extended attribute) that names the work and the file's size and time: so that file and mark appear in one
 * step, and whoever does the same again sees that it is done. A file that was changed since has no valid mark. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "base/error.h"

enum { SMP_WORK_TEXT = 33 }; /* bytes of smp_in_place.work */

typedef struct smp_in_place {
    char work[SMP_WORK_TEXT]; /* 32 hexadecimal digits */
    bool again;               /* also what this work did before */
    const char *backup;       /* the input stays under its name with this behind it; null: it does not */
    /* Whether what was written, which fd reads, may replace the file at `target`. Takes fd over. May be null. */
    smp_code (*check)(void *context, const char *target, int fd, smp_error *err);
    void *context;
    atomic_bool unmarked; /* set where a file system keeps no marks */
} smp_in_place;

/* Whether the file is as this work left it. */
bool smp_in_place_done(const char *path, const char *work);

/* Before the file behind fd, whose bytes are all written, is synced: checks it, and gives it attributes and the mark.
 * was: the target as it was opened, which it must still be. */
smp_code smp_in_place_ready(smp_in_place *how, int fd, const char *target, const struct stat *was, smp_error *err);

/* Sets the backup's path, of PATH_MAX bytes, "" where none is to be made. SMP_E_WRITE: another file has that name. */
smp_code smp_in_place_backup_name(const smp_in_place *how, const char *target, const struct stat *was, char *path,
                                  smp_error *err);

/* Before it takes the place of the target: makes the backup, by the same check. */
smp_code smp_in_place_backup(const smp_in_place *how, const char *target, const struct stat *was, smp_error *err);
