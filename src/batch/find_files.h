/* Finds the files that a command over many files works on: files as given, folders by their contents. */
#pragma once

#include "base/error.h"
#include "base/text/texts.h"
#include "io/read_options.h"
#include "stages/stage.h"

typedef struct smp_find_options {
    bool recursive;                              /* folders in folders too; links to folders are not followed */
    const char *const *include, *const *exclude; /* globs: without a slash of a file's name, with one of its path under
                                                    the folder given; upper and lower case are the same */
    size_t include_count, exclude_count;
    bool standard_input; /* - is a file, not a mistake */
    smp_kind kind;       /* what is wanted: sounds in a folder are left out when it is pictures; none: everything */
    bool films;          /* those whose sound is read too, which are left out where sounds alone are not wanted */
    /* Sees every file by its path and its name under the folder given, before it is looked at, and says whether it is
     * wanted. May be null. */
    smp_code (*wants)(void *context, const char *path, const char *name, bool *wanted, smp_error *err);
    void *context;
} smp_find_options;

typedef struct smp_found {
    const char *path; /* to open it: what was given, or what was given and the name */
    const char *
        name; /* the end of the path, unless it is a page: under the folder given; of a file given its last component */
    uint64_t size;
    int64_t mtime; /* nanoseconds since 1970 */
    union {
        uint64_t inode;
        uint64_t collision; /* in a list of work: where the line of a file before it begins that differs in the
                          extension alone; 0: none does */
    };
    uint32_t device;    /* its low bits, which are all that Linux has; of a list 0 */
    bool regular, link; /* size, mtime and inode mean something; the path is a symbolic link */
    int64_t page;       /* the one of a file that holds several, 1 first; 0: the file */
} smp_found;

enum { SMP_EXTENSION = 16 }; /* bytes of an extension that are compared, with its dot and end */

typedef struct smp_other_files {
    char extension[SMP_EXTENSION]; /* ".mov", in lower case */
    size_t count;
} smp_other_files;

/* The answer for the last extension met: files of a folder mostly have the same. */
typedef struct smp_extension_answer {
    char extension[SMP_EXTENSION]; /* behind the dot, as written; "": none yet */
    bool other;                    /* no format that is read, or one that lies beside what is meant, as films do */
    bool read;                     /* a format of that extension is read */
    smp_kind kind;
} smp_extension_answer;

typedef struct smp_left_out {
    smp_extension_answer answer;
    size_t files;            /* of folders that are something else by their names, and */
    smp_other_files *others; /* how many of each extension */
    size_t other_count, other_capacity;
    size_t folders; /* of folders given that were not entered, not being recursive */
    size_t special; /* pipes, sockets and devices in folders */
} smp_left_out;

enum { SMP_FOUND_BLOCK = 4096 }; /* files */

typedef struct smp_found_list {
    smp_found **blocks; /* of SMP_FOUND_BLOCK files each; smp_found_at gives one */
    size_t count, block_count, block_capacity;
    smp_texts texts;
    smp_left_out left_out;
} smp_found_list;

static inline smp_found *smp_found_at(const smp_found_list *list, size_t index)
{
    return &list->blocks[index / SMP_FOUND_BLOCK][index % SMP_FOUND_BLOCK];
}

/* In the order given; what lies in a folder in the order of its bytes, so that every run and every shard sees the same.
 * In a folder, hidden files are left out, and without `include` those that their extension says to be of another kind,
 * or that is in ignored_extensions.def; the latter also among several files given, one of which is read by its name
 * (a shell's * names all that lies in a folder). A file whose path is too long, or that cannot be looked at for
 * another reason, is on the list all the same, as is "in/locked/", a folder in one given that cannot be read: who opens
 * it says why it cannot. A path given that is not there is SMP_E_READ when it looks like a folder's (no extension, or a
 * slash at its end) or nothing else that was given is there; else it is on the list too. */
smp_code smp_walk(const char *const *given, size_t count, const smp_find_options *options, smp_found_list *list,
                  smp_error *err);
void smp_found_free(smp_found_list *list);

/* Puts each page of files that hold several in their place on the list, with the page's number behind the stem of the
 * name. Files that cannot be opened stay as they are. */
smp_code smp_found_pages(smp_found_list *list, const smp_read_options *how, smp_error *err);

/* Adds a file to the end; its texts are copied, and its name may be another text than the path's end. */
smp_code smp_found_add(smp_found_list *list, const smp_found *found, smp_error *err);

/* The same, and every file is handed to visit() as it is found and forgotten, so that memory does not depend on how
 * many there are. *left_out is to be freed by smp_left_out_free, also on failure. */
typedef smp_code smp_walk_visit(void *context, const smp_found *found, smp_error *err);
smp_code smp_walk_each(const char *const *given, size_t count, const smp_find_options *options, smp_walk_visit *visit,
                       void *context, smp_left_out *left_out, smp_error *err);
void smp_left_out_free(smp_left_out *left_out);

/* Fills in what a file system says; status null: it says nothing. */
struct stat;
void smp_found_fill(smp_found *found, const struct stat *status);

/* A file that its name says to be something else than what `kind` wants, or that nobody reads; counts it then. For
 * names that come from elsewhere than a walk. */
smp_code smp_leave_out(const char *name, smp_kind kind, smp_left_out *left_out, bool *left, smp_error *err);

/* "214 .mov, 30 .aae": what was left out, most of it first; from smp_alloc, null without memory. */
char *smp_left_out_text(smp_left_out *left_out);
