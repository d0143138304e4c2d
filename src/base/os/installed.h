/* Files that smempipe has beside itself: libraries that few commands need, and data of the kernel lab. They lie beside
 * the program, as in a build, or in the folder lib/smempipe of an installation. Where smempipe is a library of another
 * program (libsmempipe.so), they lie beside that or in its folder smempipe. */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "base/error.h"

/* The path of a file or folder of that name. False: it is in none of these places. */
bool smp_installed_find(const char *name, char path[PATH_MAX]);

/* Opens a library for the process's life and gives what it exports as `table`. It exports its version and, where build
 * is not null, its build as texts, too: smp_kernel_files_version and smp_kernel_files_build. One that is missing, cut
 * short, of another version than this program, of another build, or without the table: null and SMP_E_DEVICE, which
 * names the file. */
const void *smp_installed_open(const char *name, const char *build, const char *table, smp_error *err);
