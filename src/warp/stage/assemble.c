/* See assemble.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/sha256.h"
#include "warp/stage/assemble.h"
#include "warp/stage/compile.h"

/* Runs a tool whose result is a file: under another name first, so that the file is whole or not there. to_stdout: the
 * result is what the tool prints. */
static smp_code make_file(char *const *argv, const char *work, const char *path, bool to_stdout, bool *made,
                          smp_error *err)
{
    int status = 1;
    const int fd = to_stdout ? open(work, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : STDERR_FILENO;
    if (fd < 0) {
        smp_fail(err, SMP_E_WRITE, "cannot write: %s", strerror(errno));
        return smp_at(err, "%s", work);
    }
    const smp_code code = smp_compile_spawn(argv, NULL, fd, &status, err);
    if (to_stdout)
        close(fd);
    *made = !code && !status && !rename(work, path);
    if (!*made)
        unlink(work);
    return code;
}

/* Where a file's cubin and text are kept: by its bytes and the architecture. */
static char *folder_of(const char *arch, const char *file)
{
    smp_sha256 hash;
    char text[65], bytes[4096];
    size_t got;
    FILE *from = fopen(file, "rb");
    if (!from)
        return NULL;
    smp_sha256_begin(&hash);
    smp_sha256_add(&hash, arch, strlen(arch) + 1);
    while ((got = fread(bytes, 1, sizeof bytes, from)))
        smp_sha256_add(&hash, bytes, got);
    fclose(from);
    smp_sha256_end(&hash, text);
    char *cache = smp_compile_cache(), *folder = cache ? smp_asprintf("%s/%.32s", cache, text) : NULL;
    smp_free(cache);
    return folder;
}

static bool is_cubin(const char *file)
{
    const size_t size = strlen(file);
    return size > 6 && !strcmp(file + size - 6, ".cubin");
}

typedef struct tools {
    char *ptxas, *nvdisasm;
} tools;

static void folder_file(char path[PATH_MAX], const char *folder, const char *name)
{
    snprintf(path, PATH_MAX, "%s/%s", folder, name);
}

static smp_code make_cubin(const char *arch, const char *ptxas, const char *file, const char *folder, bool *made,
                           smp_error *err)
{
    char cubin[PATH_MAX], work[PATH_MAX + 16], option[40];
    folder_file(cubin, folder, "code.cubin");
    snprintf(work, sizeof work, "%s/code.%d", folder, (int)getpid());
    snprintf(option, sizeof option, "-arch=sm_%s", smp_compile_arch(arch));
    static _Thread_local uint64_t refused; /* whose path has this hash: ptxas says why, once */
    const uint64_t own = smp_hash_name(cubin);
    *made = !access(cubin, R_OK);
    if (*made || refused == own)
        return SMP_OK;
    char *const compiles[] = {(char *)(uintptr_t)ptxas,
                              option,
                              (char *)(uintptr_t) "-lineinfo",
                              (char *)(uintptr_t)file,
                              (char *)(uintptr_t) "-o",
                              work,
                              NULL};
    char *const copies[] = {(char *)(uintptr_t) "cp", (char *)(uintptr_t) "--", (char *)(uintptr_t)file, work, NULL};
    const smp_code code = make_file(is_cubin(file) ? copies : compiles, work, cubin, false, made, err);
    if (!*made)
        refused = own;
    return code;
}

static smp_code make(const char *arch, const tools *t, const char *file, const char *folder, char **sass,
                     char why[SMP_ASSEMBLE_WHY], smp_error *err)
{
    char cubin[PATH_MAX], text[PATH_MAX], work[PATH_MAX + 16];
    bool made = true;
    folder_file(cubin, folder, "code.cubin");
    folder_file(text, folder, "code.sass");
    snprintf(work, sizeof work, "%s/code.%d", folder, (int)getpid());
    smp_code code = make_cubin(arch, t->ptxas, file, folder, &made, err);
    if (!code && !made)
        snprintf(why, SMP_ASSEMBLE_WHY, "ptxas cannot compile it for sm_%s", smp_compile_arch(arch));
    if (!code && made && access(text, R_OK)) {
        char *const prints[] = {t->nvdisasm, (char *)(uintptr_t) "-c", (char *)(uintptr_t) "-gi", cubin, NULL};
        code = make_file(prints, work, text, true, &made, err);
        if (!code && !made)
            snprintf(why, SMP_ASSEMBLE_WHY, "nvdisasm cannot read it");
    }
    if (!code && made && !(*sass = smp_strdup(text)))
        code = smp_fail_memory(err, "a path", PATH_MAX);
    return code;
}

char *smp_assemble_cubin(const char *file, const char *arch)
{
    smp_error err = {0};
    bool made = false;
    char cubin[PATH_MAX];
    char *ptxas = is_cubin(file) ? NULL : smp_compile_tool("ptxas");
    char *folder = ptxas || is_cubin(file) ? folder_of(arch, file) : NULL;
    if (folder && smp_compile_make_folders(folder) && make_cubin(arch, ptxas, file, folder, &made, &err))
        made = false;
    if (made)
        folder_file(cubin, folder, "code.cubin");
    smp_free(folder);
    smp_free(ptxas);
    return made ? smp_strdup(cubin) : NULL;
}

smp_code smp_assemble(const char *file, const char *arch, const char *code_wanted, char **sass,
                      char why[SMP_ASSEMBLE_WHY], smp_error *err)
{
    const bool wanted = code_wanted && !strcmp(code_wanted, "sass");
    smp_code code = SMP_OK;
    *sass = NULL;
    why[0] = 0;
    if (code_wanted && !strcmp(code_wanted, "ptx")) {
        snprintf(why, SMP_ASSEMBLE_WHY, "--code ptx asks for it");
        return SMP_OK;
    }
    tools t = {smp_compile_tool("ptxas"), smp_compile_tool("nvdisasm")};
    const bool needs_ptxas = !is_cubin(file);
    const char *missing = NULL; /* what installs the tool that is not there */
    const char *tool = t.nvdisasm ? "ptxas" : "nvdisasm";
    if (!t.nvdisasm)
        missing = "pip install nvidia-cuda-nvdisasm";
    else if (needs_ptxas && !t.ptxas)
        missing = "pip install nvidia-cuda-nvcc";
    if (missing)
        snprintf(why, SMP_ASSEMBLE_WHY, "%s is not on this machine (%s)", tool, missing);
    else {
        char *folder = folder_of(arch, file);
        if (folder && smp_compile_make_folders(folder))
            code = make(arch, &t, file, folder, sass, why, err);
        else
            snprintf(why, SMP_ASSEMBLE_WHY, "the cache's folder cannot be written (XDG_CACHE_HOME)");
        smp_free(folder);
    }
    smp_free(t.ptxas);
    smp_free(t.nvdisasm);
    if (!code && !*sass && (wanted || is_cubin(file))) {
        if (missing) {
            smp_fail(err, SMP_E_DEVICE, "there is no SASS to count: %s is not on this machine", tool);
            smp_hint(err, "%s", missing);
        } else
            smp_fail(err, SMP_E_PROCESS, "there is no SASS to count: %s", why);
        code = smp_at(err, "%s", file);
    }
    return code;
}
