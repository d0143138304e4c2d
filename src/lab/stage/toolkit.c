/* See toolkit.h. */
#include "lab/stage/toolkit.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os/tool.h"
#include "base/paths.h"

static char *if_runs(char *path)
{
    if (path && !access(path, X_OK) && !smp_is_folder(path))
        return path;
    smp_free(path);
    return NULL;
}

/* Returns a script that takes nvcc's options and calls clang++, if that is there: beside a program in its build folder,
 * or installed with libsmp_cudart. */
static char *clang_instead(void)
{
    static const char *const below[] = {"clang/nvcc", "../lib/smempipe/clang/nvcc", "../lib/*/smempipe/clang/nvcc",
                                        "../lib64/smempipe/clang/nvcc"};
    char own[PATH_MAX], *path = NULL, *clang = smp_tool_find("clang++");
    const bool known = clang && smp_program_folder(own);
    smp_free(clang);
    for (size_t i = 0; known && i < sizeof below / sizeof below[0] && !path; i++) {
        glob_t found;
        char *pattern = smp_asprintf("%s/%s", own, below[i]);
        if (pattern && !glob(pattern, 0, NULL, &found)) {
            path = if_runs(smp_strdup(found.gl_pathv[0]));
            globfree(&found);
        }
        smp_free(pattern);
    }
    return path;
}

/* The wheels nvidia-cuda-nvcc and nvidia-cuda-nvdisasm put them below site-packages/nvidia. */
static char *find_in_wheels(const char *tool)
{
    const char *home = getenv("HOME"), *environment = getenv("VIRTUAL_ENV");
    char patterns[4][PATH_MAX];
    snprintf(patterns[0], PATH_MAX, "%s/lib/python3*/site-packages/nvidia/*/bin/%s", environment ? environment : "",
             tool);
    snprintf(patterns[1], PATH_MAX, "%s/.local/lib/python3*/site-packages/nvidia/*/bin/%s", home ? home : "", tool);
    snprintf(patterns[2], PATH_MAX, "/usr/local/lib/python3*/*-packages/nvidia/*/bin/%s", tool);
    snprintf(patterns[3], PATH_MAX, "/usr/lib/python3/dist-packages/nvidia/*/bin/%s", tool);
    char *path = NULL;
    for (size_t i = 0; i < 4 && !path; i++) {
        glob_t found;
        if (glob(patterns[i], 0, NULL, &found))
            continue;
        path = if_runs(smp_strdup(found.gl_pathv[found.gl_pathc - 1]));
        globfree(&found);
    }
    return path || strcmp(tool, "nvcc") != 0 ? path : clang_instead();
}

char *smp_toolkit_find(const char *name)
{
    const char *home = getenv("CUDA_HOME");
    char *found = smp_tool_find(name);
    if (!found && home)
        found = if_runs(smp_asprintf("%s/bin/%s", home, name));
    if (!found)
        found = if_runs(smp_asprintf("/usr/local/cuda/bin/%s", name));
    return found ? found : find_in_wheels(name);
}

char *smp_toolkit_library(const char *name)
{
    static const char *const places[] = {"%s/../lib64/lib%s.so.1*", "%s/../lib/lib%s.so.1*",
                                         "%1$s/../../*%2$s/lib/lib%2$s.so.1*", "%.0s/usr/lib/*-linux-gnu/lib%s.so.1*"};
    char *nvcc = smp_toolkit_find("nvcc"), *real = nvcc ? smp_real_path(nvcc) : NULL;
    char *folder = real ? smp_folder_part(real) : NULL, *path = NULL;
    for (size_t i = 0; i < sizeof places / sizeof places[0] && folder && !path; i++) {
        glob_t found;
        char pattern[PATH_MAX];
        snprintf(pattern, sizeof pattern, places[i], folder, name);
        if (glob(pattern, 0, NULL, &found))
            continue;
        path = smp_real_path(found.gl_pathv[0]);
        globfree(&found);
    }
    smp_free_all(nvcc, real, folder);
    return path;
}

static bool has(const char *folder, const char *name)
{
    char *path = smp_asprintf("%s/%s", folder, name);
    const bool found = path && !access(path, F_OK);
    smp_free(path);
    return found;
}

/* The folder of a program and, where that is bin/ of a toolkit or compiler, the one above: the user's home has a bin/,
 * too. */
static void add_folders_of(const char *program, char *folders[SMP_TOOLKIT_FOLDERS])
{
    static const char *const signs[] = {"nvvm",    "targets",   "include/cuda_runtime.h",
                                        "lib/gcc", "lib64/gcc", "lib/clang"};
    size_t count = 0;
    char *real = realpath(program, NULL), *slash = real ? strrchr(real, '/') : NULL;
    while (folders[count])
        count++;
    for (int level = 0; level < 2 && slash && slash > real && count < SMP_TOOLKIT_FOLDERS - 1; level++) {
        *slash = '\0';
        bool fits = !level;
        for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
            fits = fits || has(real, signs[i]);
        if (fits && (folders[count] = smp_strdup(real)))
            count++;
        slash = strrchr(real, '/');
    }
    if (slash && slash > real &&
        count < SMP_TOOLKIT_FOLDERS - 1) { /* the wheels are parts of a toolkit, side by side */
        *slash = '\0';
        if (smp_ends_with(real, "-packages/nvidia"))
            folders[count] = smp_strdup(real);
    }
    free(real);
}

void smp_toolkit_folders(const char *tool, char *folders[SMP_TOOLKIT_FOLDERS])
{
    static const char *const compilers[] = {"gcc", "g++", "clang++"};
    const char *chosen = getenv("NVCC_CCBIN");
    memset(folders, 0, SMP_TOOLKIT_FOLDERS * sizeof *folders);
    add_folders_of(tool, folders);
    if (chosen)
        add_folders_of(chosen, folders);
    for (size_t i = 0; i < sizeof compilers / sizeof compilers[0]; i++) {
        char *path = smp_tool_find(compilers[i]);
        if (path)
            add_folders_of(path, folders);
        smp_free(path);
    }
}

/* Makes a folder and those above it. */
bool smp_toolkit_make_folders(char *path)
{
    for (char *at = path + 1; *at; at++)
        if (*at == '/') {
            *at = 0;
            mkdir(path, 0777);
            *at = '/';
        }
    return !mkdir(path, 0777) || smp_is_folder(path);
}

char *smp_toolkit_cache(void)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && cache[0] == '/')
        return smp_asprintf("%s/smempipe/kernel", cache);
    if (home && home[0])
        return smp_asprintf("%s/.cache/smempipe/kernel", home);
    struct stat status;
    char *own = smp_asprintf("/tmp/smempipe-kernel-%d", (int)getuid());
    if (own && (mkdir(own, 0700) == 0 || errno == EEXIST) && lstat(own, &status) == 0 && S_ISDIR(status.st_mode) &&
        status.st_uid == getuid() && !(status.st_mode & (S_IWGRP | S_IWOTH)))
        return own;
    smp_free(own); /* somebody else made it, and would say what is run */
    return NULL;
}
