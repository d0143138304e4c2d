/* Members of tar files: ustar, pax (POSIX.1-2008, pax, "Interchange Format") and GNU's long names and large sizes are
 * read where they lie; ustar is written, with a pax header in front of a member of a long name. */
#pragma once

#include <stdbool.h>

#include "io/files/output.h"

/* Whether a file of this name is a tar file. */
bool smp_is_tar(const char *path);

/* Opens one that is a regular file, and stays what it is whatever its name leads to later. -1 on failure. */
smp_code smp_tar_file(const char *path, int *fd, smp_error *err);

/* Of an open one, *text: "OFFSET SIZE NAME", ended by a null byte, for each regular file, in their order; from malloc.
 * A file that is damaged, truncated or compressed, and members that are links or devices or whose names are absolute or
 * lead upwards, are refused. */
smp_code smp_tar_index(int file, char **text, size_t *size, smp_error *err);

/* *fd is a file without a name in memory, which holds so many bytes of the tar from `at` on: what is handed to a
 * process that decodes has nothing else in it. Over 256 MiB is SMP_E_LIMIT; no memory, SMP_E_PROCESS. -1 on failure. */
smp_code smp_tar_open(int file, uint64_t at, uint64_t size, int *fd, smp_error *err);

/* Writes `size` bytes of an open file from `at` on as a member: a file of mode 0644 that was changed in 1970, so that
 * the same members have the same bytes. */
smp_code smp_tar_copy(smp_output *to, const char *name, int fd, uint64_t at, uint64_t size, smp_error *err);

/* Writes the end mark. */
smp_code smp_tar_end(smp_output *to, smp_error *err);
