/* Finds nvcc, ptxas and nvdisasm, what they read, and the cache of what they made. */
#pragma once

#include <stdbool.h>

/* nvcc, ptxas, nvdisasm: in PATH, CUDA_HOME, /usr/local/cuda or Python's wheels; from smp_alloc, null: not there. */
char *smp_toolkit_find(const char *name);

/* A library of the toolkit: "nvrtc"; a path, from smp_alloc, null: not there. */
char *smp_toolkit_library(const char *name);

/* Folders that a tool of this path needs besides those of the system: its toolkit, and compilers in PATH. Paths from
 * smp_alloc, null-terminated. */
enum { SMP_TOOLKIT_FOLDERS = 16 };
void smp_toolkit_folders(const char *tool, char *folders[SMP_TOOLKIT_FOLDERS]);

/* The folder of what was compiled, from smp_alloc, null where there is none that is the user's own; and one that is
 * made, with those above it. */
char *smp_toolkit_cache(void);
bool smp_toolkit_make_folders(char *path);
