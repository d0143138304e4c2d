/* See assemble.h. */
#include "lab/stage/assemble.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/hash/hash.h"
#include "base/hash/sha256.h"
#include "base/os/tool.h"
#include "base/paths.h"
#include "lab/stage/kernel_source.h"
#include "lab/stage/toolkit.h"

enum { SECONDS = 60 };                  /* of ptxas and nvdisasm, where nothing else is said */
#define MOST_MEMORY (UINT64_C(2) << 30) /* addresses of either */
#define MOST_FILE   (UINT64_C(1) << 30)

/* A file to be assembled: its bytes are read once, so that what is kept by their hash is made of them. */
typedef struct input {
    const char *file, *arch;
    const smp_kernel_reach *reach;
    const smp_flag_list *flags; /* of ptxas; null: none */
    bool is_cubin;
    char *bytes, *folder; /* folder: where its cubin and text are kept */
    size_t size;
    char *ptxas, *nvdisasm;
} input;

const char *smp_compile_arch(const char *arch)
{
    const char *digits = arch + strcspn(arch, "0123456789");
    return *digits ? digits : "90";
}

static void close_input(input *in)
{
    smp_free_all(in->bytes, in->folder, in->ptxas, in->nvdisasm);
}

/* The folder is by the bytes and the architecture. False: the file cannot be read, or the cache not be written. */
static bool open_input(input *in)
{
    smp_sha256 hash;
    smp_error ignored = {0};
    char text[65];
    if (smp_kernel_source_read(in->file, in->reach, &in->bytes, &in->size, NULL, &ignored))
        return false;
    smp_sha256_begin(&hash);
    smp_sha256_add(&hash, in->arch, strlen(in->arch) + 1);
    for (size_t i = 0; in->flags && i < in->flags->count; i++)
        smp_sha256_add(&hash, in->flags->items[i], strlen(in->flags->items[i]) + 1);
    smp_sha256_add(&hash, in->bytes, in->size);
    smp_sha256_end(&hash, text);
    char *cache = smp_toolkit_cache();
    in->folder = cache ? smp_asprintf("%s/%.32s", cache, text) : NULL;
    smp_free(cache);
    return in->folder && smp_toolkit_make_folders(in->folder);
}

static void folder_file(char path[PATH_MAX], const char *folder, const char *name)
{
    snprintf(path, PATH_MAX, "%s/%s", folder, name);
}

static bool put(const char *path, const char *bytes, size_t size)
{
    FILE *to = fopen(path, "we");
    const bool wrote = to && fwrite(bytes, 1, size, to) == size;
    return to && !fclose(to) && wrote;
}

/* What a tool says of PTX that is newer than it: "Unsupported .version 9.4; current version is '9.0'". */
static bool is_too_new(const char *messages, const char *name, char why[SMP_ASSEMBLE_WHY])
{
    char version[16] = "", own[16] = "";
    const char *at = messages ? strstr(messages, "Unsupported .version ") : NULL;
    if (!at || sscanf(at, "Unsupported .version %15[0-9.]; current version is '%15[0-9.]'", version, own) != 2)
        return false;
    snprintf(why, SMP_ASSEMBLE_WHY,
             "its .version is %s, and %s knows those up to %s (write that there, or pip install -U nvidia-cuda-nvcc)",
             version, name, own);
    return true;
}

/* Runs a tool in a folder of its own on bytes under a name of ours (`from`), and keeps what it made at `path`, whole or
 * not at all. why: what went wrong with the bytes, in a line. */
static smp_code make_file(const input *in, char *const *argv, const char *from, const char *bytes, size_t size,
                          const char *made, const char *path, char why[SMP_ASSEMBLE_WHY], smp_error *err)
{
    const smp_kernel_reach *reach = in->reach;
    char kept[PATH_MAX + 16], start[PATH_MAX], *work = smp_tool_folder(), *folders[SMP_TOOLKIT_FOLDERS];
    smp_tool_end end = {.status = 0};
    if (!work)
        return smp_fail(err, SMP_E_WRITE, "cannot make a folder in /tmp");
    smp_toolkit_folders(argv[0], folders);
    const smp_tool tool = {.argv = argv,
                           .folder = work,
                           .readable = (const char *const *)(uintptr_t)folders,
                           .output = made,
                           .trusted = !reach || reach->trusted,
                           .seconds = reach && reach->seconds > 0 ? reach->seconds : SECONDS,
                           .memory = MOST_MEMORY,
                           .file = MOST_FILE};
    folder_file(start, work, from);
    smp_code code = put(start, bytes, size) ? smp_tool_run(&tool, &end, err)
                                            : smp_fail(err, SMP_E_WRITE, "cannot write in %s", work);
    const char *name = smp_base_name(argv[0]);
    if (!code && end.late)
        snprintf(why, SMP_ASSEMBLE_WHY, "%s takes more than %g seconds", name, tool.seconds);
    else if (!code && end.status < 0)
        snprintf(why, SMP_ASSEMBLE_WHY, "%s was ended by signal %d; it may take %d MiB of memory", name, -end.status,
                 (int)(MOST_MEMORY >> 20));
    else if (!code && end.status && !is_too_new(end.messages, name, why))
        snprintf(why, SMP_ASSEMBLE_WHY, "%s refuses it", name);
    if (!code && end.messages)
        fputs(end.messages, stderr);
    snprintf(kept, sizeof kept, "%s.%d", path, (int)getpid());
    if (!code && !why[0]) {
        code = smp_tool_take(work, made, kept, 0666, err);
        if (!code && rename(kept, path) != 0)
            code = smp_fail(err, SMP_E_WRITE, "cannot make %s", path);
    }
    if (code)
        unlink(kept);
    smp_free(end.messages);
    for (size_t i = 0; folders[i]; i++)
        smp_free(folders[i]);
    smp_tool_folder_remove(work);
    return code;
}

static smp_code make_cubin(const input *in, char why[SMP_ASSEMBLE_WHY], smp_error *err)
{
    static _Thread_local uint64_t refused; /* whose path has this hash: ptxas says why, once */
    static _Thread_local char said[SMP_ASSEMBLE_WHY];
    char cubin[PATH_MAX], option[40];
    folder_file(cubin, in->folder, "code.cubin");
    const uint64_t own = smp_hash_name(cubin);
    if (!access(cubin, R_OK))
        return SMP_OK;
    if (refused == own) {
        snprintf(why, SMP_ASSEMBLE_WHY, "%s", said);
        return SMP_OK;
    }
    smp_code code = SMP_OK;
    snprintf(option, sizeof option, "-arch=sm_%s", smp_compile_arch(in->arch));
    static const char *const fixed[] = {"-lineinfo", "k.ptx", "-o", "code.cubin"};
    enum { FIXED = sizeof fixed / sizeof fixed[0] };
    const size_t more = in->flags ? in->flags->count : 0;
    char **argv = smp_alloc_array(3 + FIXED + more, sizeof *argv);
    SMP_NEED(argv, "words", more, err);
    argv[0] = in->ptxas;
    argv[1] = option;
    for (size_t i = 0; i < more; i++)
        argv[2 + i] = in->flags->items[i];
    for (size_t i = 0; i <= FIXED; i++)
        argv[2 + more + i] = i < FIXED ? (char *)(uintptr_t)fixed[i] : NULL;
    if (in->is_cubin) {
        if (!put(cubin, in->bytes, in->size))
            snprintf(why, SMP_ASSEMBLE_WHY, "the cache's folder cannot be written (XDG_CACHE_HOME)");
    } else
        code = make_file(in, argv, "k.ptx", in->bytes, in->size, "code.cubin", cubin, why, err);
    smp_free(argv);
    if (why[0]) {
        refused = own;
        snprintf(said, sizeof said, "%s", why);
    }
    return code;
}

static smp_code make(const input *in, char **sass, char why[SMP_ASSEMBLE_WHY], smp_error *err)
{
    char cubin[PATH_MAX], text[PATH_MAX], *bytes = NULL;
    size_t size;
    folder_file(cubin, in->folder, "code.cubin");
    folder_file(text, in->folder, "code.sass");
    smp_code code = make_cubin(in, why, err);
    if (!code && !why[0] && access(text, R_OK)) {
        char *const argv[] = {in->nvdisasm, (char *)(uintptr_t) "-c", (char *)(uintptr_t) "-gi",
                              (char *)(uintptr_t) "code.cubin", NULL};
        code = smp_kernel_source_read(cubin, NULL, &bytes, &size, NULL, err);
        code = code ? code : make_file(in, argv, "code.cubin", bytes, size, "code.sass", text, why, err);
        smp_free(bytes);
    }
    if (!code && !why[0] && !(*sass = smp_strdup(text)))
        code = smp_fail_memory(err, "a path", PATH_MAX);
    return code;
}

char *smp_assemble_cubin(const char *file, const char *arch, const smp_flag_list *flags)
{
    smp_error err = {0};
    char cubin[PATH_MAX], why[SMP_ASSEMBLE_WHY] = "";
    input in = {.file = file, .arch = arch, .flags = flags, .is_cubin = smp_ends_with(file, ".cubin")};
    bool made = in.is_cubin || (in.ptxas = smp_toolkit_find("ptxas"));
    made = made && open_input(&in) && !make_cubin(&in, why, &err) && !why[0];
    if (made)
        folder_file(cubin, in.folder, "code.cubin");
    close_input(&in);
    return made ? smp_strdup(cubin) : NULL;
}

smp_code smp_assemble(const char *file, const char *arch, const char *code_wanted, const smp_flag_list *flags,
                      const smp_kernel_reach *reach, char **sass, char why[SMP_ASSEMBLE_WHY], smp_error *err)
{
    const bool wanted = code_wanted && !strcmp(code_wanted, "sass");
    smp_code code = SMP_OK;
    *sass = NULL;
    why[0] = 0;
    if (code_wanted && !strcmp(code_wanted, "ptx")) {
        snprintf(why, SMP_ASSEMBLE_WHY, "--code ptx asks for it");
        return SMP_OK;
    }
    input in = {.file = file,
                .arch = arch,
                .flags = flags,
                .reach = reach,
                .is_cubin = smp_ends_with(file, ".cubin"),
                .ptxas = smp_toolkit_find("ptxas"),
                .nvdisasm = smp_toolkit_find("nvdisasm")};
    const char *missing = NULL; /* what installs the tool that is not there */
    const char *tool = in.nvdisasm ? "ptxas" : "nvdisasm";
    if (!in.nvdisasm)
        missing = "pip install nvidia-cuda-nvdisasm";
    else if (!in.is_cubin && !in.ptxas)
        missing = "pip install nvidia-cuda-nvcc";
    if (missing)
        snprintf(why, SMP_ASSEMBLE_WHY, "%s is not on this machine (%s)", tool, missing);
    else if (open_input(&in))
        code = make(&in, sass, why, err);
    else
        snprintf(why, SMP_ASSEMBLE_WHY, "%s",
                 in.bytes ? "the cache's folder cannot be written (XDG_CACHE_HOME)" : "its file cannot be read");
    const bool is_cubin = in.is_cubin;
    close_input(&in);
    if (!code && !*sass && (wanted || is_cubin)) {
        if (missing) {
            smp_fail(err, SMP_E_DEVICE, "there is no SASS to count: %s is not on this machine", tool);
            smp_hint(err, "%s", missing);
        } else
            smp_fail(err, is_cubin && smp_ends_with(why, "refuses it") ? SMP_E_DECODE : SMP_E_PROCESS,
                     "there is no SASS to count: %s", why);
        code = smp_at(err, "%s", file);
    }
    return code;
}
