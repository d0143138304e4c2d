/* Texts of pipelines: reading them, what they include, and which files they may name. A text from somebody else is not
 * trusted with more than its own folder. */
#pragma once

#include "pipe/program.h"

/* The name of a text that a program gives to the library, in messages. */
#define SMP_API_TEXT "<text>"

/* Source name of parameter values. */
#define SMP_API_SETTINGS "<settings>"

/* The folders that a pipeline may read in, links resolved. */
typedef struct smp_readable {
    smp_roots roots;
    const char *own;     /* the name of a text that the user wrote and that may name any file, besides "-e" and "--set";
                            null: none */
    bool lenient;        /* a compiler of kernels that is missing is a warning */
    bool trust;          /* its kernels are compiled as the user's own (lab/stage/toolkit.h) */
    double tool_seconds; /* that a compiler may take; 0: a minute */
} smp_readable;

smp_code smp_readable_add(smp_readable *may, const char *folder, smp_error *err);
smp_code smp_readable_add_folder_of(smp_readable *may, const char *path, smp_error *err);
void smp_readable_free(smp_readable *may);

/* The files that a pipeline names: those that it may not read become diagnostics, and the program is told beneath which
 * folder it must find the others. It takes over the folders. Kernels are compiled, and what they lack becomes
 * diagnostics, too. */
smp_code smp_readable_check(smp_readable *may, smp_program *program, smp_diags *diags, smp_error *err);

/* The smp_loader of `include`; context: an smp_readable, which gets the folders of what the user's own text includes.
 * An included path is relative to the folder of the file that includes it. */
smp_code smp_pipe_include(void *context, const char *including, const char *path, char **text, size_t *length,
                          smp_error *err);

/* The whole text of a file; *text is from smp_alloc, null-terminated. regular: anything else is refused (an included
 * device or pipe would never end). smp_pipe_read leaves errno when it cannot open the file. */
smp_code smp_pipe_read(const char *path, bool regular, char **text, size_t *length, smp_error *err);
smp_code smp_pipe_read_open(int fd, bool regular, char **text, size_t *length, smp_error *err);
