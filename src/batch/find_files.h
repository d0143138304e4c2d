/* Which files a command over many files works on: files as given, folders by what lies in them. */
#ifndef SMP_EXEC_WALK_H
#define SMP_EXEC_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "stages/stage.h"

typedef struct smp_find_options {
    bool recursive;                              /* folders in folders too; links to folders are not followed */
    const char *const *include, *const *exclude; /* globs: without a slash of a file's name, with one of its path under
                                                    the folder given; upper and lower case are the same */
    size_t include_count, exclude_count;
    bool standard_input; /* - is a file, not a mistake */
    smp_kind kind;       /* what is wanted: sounds in a folder are left out when it is pictures; none: everything */
} smp_find_options;

typedef struct smp_found {
    char *path; /* to open it: what was given, or what was given and the name */
    char *name; /* under the folder given; of a file given its last component */
    uint64_t size;
    int64_t mtime; /* nanoseconds since 1970 */
    uint64_t device, inode;
    bool regular; /* size, mtime and inode mean something */
} smp_found;

typedef struct smp_found_list {
    smp_found *items;
    size_t count, capacity;
    size_t left_out; /* files of folders that are something else by their names */
    size_t folders;  /* of folders given that were not entered, not being recursive */
} smp_found_list;

/* In the order given; what lies in a folder in the order of its bytes, so that every run and every shard sees the same.
 * Of a folder, hidden files are left out, and without `include` those that their extension says to be of another kind,
 * or that is in ignored_extensions.def. A file that cannot be found is on the list all the same: who opens it says why
 * it cannot. */
smp_code smp_walk(const char *const *given, size_t count, const smp_find_options *options, smp_found_list *list,
                  smp_error *err);
void smp_found_free(smp_found_list *list);

#endif
