/* Which files a command over many files works on: files as given, folders by what lies in them. */
#ifndef SMP_BATCH_FIND_FILES_H
#define SMP_BATCH_FIND_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/limits.h"
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
    int64_t page; /* the one of a file that holds several, 1 first; 0: the file */
} smp_found;

enum { SMP_EXTENSION = 16 }; /* bytes of an extension that are compared, with its dot and end */

typedef struct smp_other_files {
    char extension[SMP_EXTENSION]; /* ".mov", in lower case */
    size_t count;
} smp_other_files;

typedef struct smp_found_list {
    smp_found *items;
    size_t count, capacity;
    size_t left_out;         /* files of folders that are something else by their names, and */
    smp_other_files *others; /* how many of each extension */
    size_t other_count, other_capacity;
    size_t folders; /* of folders given that were not entered, not being recursive */
} smp_found_list;

/* In the order given; what lies in a folder in the order of its bytes, so that every run and every shard sees the same.
 * Of a folder, hidden files are left out, and without `include` those that their extension says to be of another kind,
 * or that is in ignored_extensions.def. A file whose path is too long, or that cannot be looked at for another reason,
 * is on the list all the same: who opens it says why it cannot. A path given that is not there is SMP_E_READ when it
 * looks like a folder's (no extension, or a slash at its end) or nothing else that was given is there; else it is on
 * the list too. */
smp_code smp_walk(const char *const *given, size_t count, const smp_find_options *options, smp_found_list *list,
                  smp_error *err);
/* Puts each page of files that hold several in their place on the list, with the page's number behind the stem of the
 * name. Files that cannot be opened stay as they are. */
smp_code smp_found_pages(smp_found_list *list, const smp_limits *limits, smp_error *err);

void smp_found_free(smp_found_list *list);

/* "214 .mov, 30 .aae": what was left out, most of it first; from smp_alloc, null without memory. */
char *smp_found_others_text(smp_found_list *list);

#endif
