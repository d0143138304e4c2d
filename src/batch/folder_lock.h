/* Decides which batches may write to one output folder at the same time: shards of the same number of shards, or tasks
 * that work on the same list; nothing beside a batch of all files. A lock file in the folder says so, by locks that end
 * with their process. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define SMP_FOLDER_LOCK_NAME ".smempipe-journal.lock"

typedef struct smp_folder_use {
    int64_t shards; /* this is one of so many; 0: none */
    uint64_t list;  /* the hash of the list that this works on; 0: none. With a list, shards do not matter */
} smp_folder_use;

/* Locks the folder, which is there, until close(*fd). Who keeps it from that is SMP_E_WRITE, with what to do.
 * *lockless: this file system has no locks, so nothing keeps others away; *fd is -1 where the lock file cannot be had
 * either. */
smp_code smp_folder_lock(const char *folder, const smp_folder_use *use, int *fd, bool *lockless, smp_error *err);

/* Whether this number is how a system call says that a file system has no locks. */
bool smp_no_locks(int number);
