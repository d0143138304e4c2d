/* Where the members of a tar file lie: ustar, pax (POSIX.1-2008, pax, "Interchange Format") and GNU's long names and
 * large sizes. The samples stay in the file. */
#pragma once

#include <stddef.h>

#include "base/error.h"

/* *text: "OFFSET SIZE NAME", ended by a null byte, for each regular file, in their order; from malloc. A file that is
 * damaged, truncated or compressed, and members that are links or devices or whose names are absolute or lead upwards,
 * are refused. */
smp_code smp_tar_index(const char *path, char **text, size_t *size, smp_error *err);
