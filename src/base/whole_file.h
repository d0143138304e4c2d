/* Reads and writes all of what there is. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"

/* Reads a file, or what is left of a stream, which stays open. *text is null or ends in a zero byte that *size does not
 * count; the caller frees it, after a failure too. A file of more than `most` bytes is SMP_E_LIMIT, and *text has its
 * first bytes. Messages do not name the file. */
smp_code smp_read_file(const char *path, size_t most, char **text, size_t *size, smp_error *err);
smp_code smp_read_stream(FILE *stream, size_t most, char **text, size_t *size, smp_error *err);

/* write(2), and again for what it left. False: it failed, and errno says why. */
bool smp_write_whole(int fd, const void *data, size_t size);
