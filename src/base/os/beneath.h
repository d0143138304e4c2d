/* Files that must lie below certain folders, whoever renames folders and links meanwhile: a way is resolved once, and
 * is then walked from an open folder without following a link. (As openat2(2) with RESOLVE_BENEATH and
 * RESOLVE_NO_SYMLINKS, which older systems and some filters do not have.) */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

typedef struct smp_root {
    char *real; /* the folder, links resolved */
    int fd;     /* -1: it cannot be opened */
} smp_root;

/* All zero: none. */
typedef struct smp_roots {
    smp_root *items;
    size_t count, capacity;
} smp_roots;

/* False: out of memory. */
bool smp_roots_add(smp_roots *roots, const char *folder);
void smp_roots_free(smp_roots *roots);

/* A file below a folder. */
typedef struct smp_beneath {
    int folder; /* a descriptor, the roots' own */
    char *name; /* what leads there from it, "a/b.png", without links when it was found; null: it lies elsewhere */
} smp_beneath;

/* Finds the place below the roots that a path leads to, links resolved. False: out of memory. The caller frees
 * out->name (smp_free). */
bool smp_beneath_find(const smp_roots *roots, const char *path, smp_beneath *out);

/* Opens it to be read, and does not wait for the writer of a pipe. *fd is the caller's, -1 on failure: SMP_E_READ. */
smp_code smp_beneath_open(const smp_beneath *at, int *fd, smp_error *err);

/* Opens the folder that a file below another one lies in, for openat(2); made: not null: makes what is missing on the
 * way, and counts it. -1 and errno: where a link is in the way, ELOOP. */
int smp_beneath_folder(int folder, const char *name, int *made);

/* Closes the folder of a file of that path, which is cut, and removes what was made of the way if nothing is in it. */
void smp_beneath_leave(int folder, char *path, int made);
