/* Paths as the file system sees them. */
#ifndef SMP_BASE_PATHS_H
#define SMP_BASE_PATHS_H

#include <stdbool.h>

/* The absolute path, links resolved, of a path whose last components may not exist yet; from smp_alloc, null without
 * memory. */
char *smp_real_path(const char *path);

/* Whether `path` is `folder` or lies in it; both as smp_real_path gives them. */
bool smp_path_within(const char *path, const char *folder);

#endif
