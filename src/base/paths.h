/* Paths of files: the absolute path, and whether one path lies in another. */
#ifndef SMP_BASE_PATHS_H
#define SMP_BASE_PATHS_H

#include <stdbool.h>

/* The absolute path with all links resolved. The last components need not exist. Owner: the caller (smp_free). Null:
 * out of memory. */
char *smp_real_path(const char *path);

/* Whether `path` is `folder` or lies inside it. Both come from smp_real_path. */
bool smp_path_within(const char *path, const char *folder);

/* Whether a name under a folder may lead out of it: it begins with a slash, or a part of it is "..". */
bool smp_path_leaves(const char *name);

/* Whether there is a folder at `path`, links followed. */
bool smp_is_folder(const char *path);

#endif
