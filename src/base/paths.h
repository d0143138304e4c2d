/* Paths of files: the absolute path, and whether one path lies in another. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* The absolute path with all links resolved. The last components need not exist. Owner: the caller (smp_free). Null:
 * out of memory. */
char *smp_real_path(const char *path);

/* Whether `path` is `folder` or lies inside it. Both come from smp_real_path. */
bool smp_path_within(const char *path, const char *folder);

/* Whether a name under a folder may lead out of it: it begins with a slash, or a part of it is "..". */
bool smp_path_leaves(const char *name);

/* Whether there is a folder at `path`, links followed. */
bool smp_is_folder(const char *path);

/* Whether a path is a name that the system has for standard output. */
bool smp_path_is_stdout(const char *path);

/* Returns the part behind a path's last slash. */
const char *smp_base_name(const char *path);

/* Bytes of a path in front of the dot of its extension; all where it has none, as ".profile". */
size_t smp_stem(const char *path);

/* Returns the folder of a path: up to and with the last slash, else ".". Owner: the caller (smp_free). Null: no
 * memory. */
char *smp_folder_part(const char *path);

/* The folder that this program lies in, without a slash behind it. False: it cannot be known; it is then "". */
bool smp_program_folder(char folder[PATH_MAX]);

bool smp_ends_with(const char *text, const char *end);
