/* A file that appears complete or not at all: bytes go to a temporary file in the target's folder (temporary.h), which
 * commit puts in place. Standard output and special files (/dev/null, named pipes) are written directly. */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "base/os/beneath.h"

typedef struct smp_output smp_output;

/* Options for putting a file in place. Zeroed: a new one, by its path. */
typedef struct smp_output_options {
    bool force;                 /* replace an existing file */
    const char *const *inputs;  /* must not be overwritten (by device and inode); ends with null; may be null */
    const smp_beneath *beneath; /* the open folder that the file must lie in, whatever is renamed on the way to it, and
                                   its name there, which is no link; null: by its path */
    bool lazy_folder;           /* the caller will sync the folder (smp_sync_folder): for many files in one folder */
    bool lazy_sync;             /* the caller will sync the file, and all others of its file system */
    double *seconds;            /* gets those of writing, syncing and putting in place added; may be null */
    int file; /* an open file that takes the bytes, whatever the path says, and stays the caller's; 0: none */
    /* It gets the bytes in place of any file, `at` -1: behind all; "-" is then a pipe. Null: a file does. */
    void (*take)(const void *data, size_t size, int64_t at);
    struct smp_in_place *in_place; /* it is the input that is replaced (in_place.h); null: no input is */
} smp_output_options;

/* path "-" is standard output, which must not be a terminal (SMP_E_USAGE). Refuses a target that is one of the inputs,
 * even with force; an existing file without force; a folder; a block device. A symbolic link to a file is followed and
 * kept. `inputs` and `beneath` are not needed afterwards. Without /proc, beneath is opened by path, which is for
 * messages else. *out is null on failure. */
smp_code smp_output_open_as(const char *path, const smp_output_options *options, smp_output **out, smp_error *err);

/* The same with these two options alone. */
smp_code smp_output_open(const char *path, bool force, const char *const *inputs, smp_output **out, smp_error *err);

/* Writes all of it, or fails with SMP_E_WRITE. */
smp_code smp_output_write(smp_output *output, const void *data, size_t size, smp_error *err);

/* Hands what is buffered to whoever reads the pipe; of a file, nothing. */
smp_code smp_output_flush(smp_output *output, smp_error *err);

/* Bytes written so far. */
uint64_t smp_output_size(const smp_output *output);

/* Whether written bytes can be overwritten (a file), or are gone (a pipe). */
bool smp_output_seekable(const smp_output *output);

/* Writes `size` bytes at `position`: over written bytes, or past them. smp_output_write continues at its own place, so
 * a file may be extended by one of the two functions only. */
smp_code smp_output_patch(smp_output *output, uint64_t position, const void *data, size_t size, smp_error *err);

/* Writes what is buffered, fsyncs, closes and puts the file in place, and checks each. Always frees the output. On
 * failure the target is as it was. */
smp_code smp_output_commit(smp_output *output, smp_error *err);

/* Makes files safe together that will be committed in the order from the last to the first: their file system is asked
 * once, and each folder when its last file is in place. Only a saving: commit syncs what was not synced here. */
smp_code smp_outputs_sync(smp_output *const *outputs, size_t count, smp_error *err);

/* Removes the temporary file and frees the output; null is allowed. */
void smp_output_abort(smp_output *output);

/* Removes the named temporary files of all open outputs. Async-signal-safe. Unnamed ones end with the process. */
void smp_output_abort_all(void);

/* Removes the temporary files that killed writers left in a folder, and no others. Returns their number. */
size_t smp_output_sweep(const char *folder);

/* Makes new names in a folder survive a crash of the machine. */
void smp_sync_folder(const char *folder);

/* Makes the folders on the way to a file. */
smp_code smp_make_folders(const char *path, smp_error *err);
