/* A file that appears whole or not at all: bytes go to a temporary file in the target's folder (temporary.h), which
 * commit puts in place. Standard output and special files (/dev/null, named pipes) are written directly. */
#ifndef SMP_IO_OUTPUT_H
#define SMP_IO_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct smp_output smp_output;

/* path "-" is standard output, which must not be a terminal (SMP_E_USAGE). Refused: a target that is one of `inputs`
 * (by device and inode; null-terminated list, may be null), whatever force says; an existing file without force; a
 * folder; a block device. A symbolic link to a file is followed, so that the link stays. *out is null on failure. */
smp_code smp_output_open(const char *path, bool force, const char *const *inputs, smp_output **out, smp_error *err);

/* Adds the seconds that writing, syncing and putting in place take to *seconds until the output is gone (null: to
 * nothing). lazy_folder: commit leaves it to the caller to sync the folder. */
void smp_output_set(smp_output *output, double *seconds, bool lazy_folder);

/* All of it, or SMP_E_WRITE. */
smp_code smp_output_write(smp_output *output, const void *data, size_t size, smp_error *err);

/* Whether bytes that were written can be written anew (a file), or are gone (a pipe). */
bool smp_output_seekable(const smp_output *output);

/* Writes `size` bytes from `position` on, over what was written or past it. smp_output_write goes on where it was, so a
 * file is written either way past its end, not both. */
smp_code smp_output_patch(smp_output *output, uint64_t position, const void *data, size_t size, smp_error *err);

/* Writes what is buffered, fsyncs, closes, puts in place, each checked. Frees the output whatever happens; on failure
 * the target is as it was. */
smp_code smp_output_commit(smp_output *output, smp_error *err);

/* Removes the temporary file and frees; null is allowed. */
void smp_output_abort(smp_output *output);

/* Removes all temporary files that have names of outputs still open; async-signal-safe. Others go with the process. */
void smp_output_abort_all(void);

/* Removes the temporary files in a folder that writers left which were killed, and no others; says how many. */
size_t smp_output_sweep(const char *folder);

#endif
