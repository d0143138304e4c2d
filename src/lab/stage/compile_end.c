/* How a compilation ended, in words: see compile_end.h. */
#include "lab/stage/compile_end.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/paths.h"
#include "lab/stage/nvcc_flags.h"

/* Returns the compiler: nvcc, or clang by the script that stands in for it. */
static const char *compiler_of(const smp_tool *tool)
{
    return strstr(tool->argv[0], "/clang/nvcc") ? "clang, in nvcc's place," : "nvcc";
}

/* Whether NVIDIA's libraries may have a function of this name: cuInit, cublasCreate; not custom_init. */
static bool is_of_cuda(const char *name, size_t length)
{
    const size_t small = strspn(name, "abcdefghijklmnopqrstuvwxyz");
    char library[16] = "";
    if (small >= length || small >= sizeof library || name[small] < 'A' || name[small] > 'Z' ||
        memchr(name, '(', length))
        return false;
    memcpy(library, name, small);
    return !strcmp(library, "cu") || smp_nvcc_stands_in(library) || smp_nvcc_needs_gpu(library);
}

/* Says which name the linker misses. Returns whether it misses one. */
static bool misses(const char *messages, smp_error *err)
{
    static const char before[] = "undefined reference to `", second[] = "_v2";
    const char *name = messages ? strstr(messages, before) : NULL;
    if (!name)
        return false;
    name += sizeof before - 1;
    size_t length = strcspn(name, "'\n");
    const bool of_cuda = is_of_cuda(name, length);
    if (of_cuda && length > sizeof second - 1 && !memcmp(name + length - strlen(second), second, strlen(second)))
        length -= strlen(second);
    smp_fail(err, SMP_E_DECODE, of_cuda ? "the lab has no %.*s" : "%.*s is used, and nothing defines it", (int)length,
             name);
    smp_hint(err, !strncmp(name, "nvrtc", strlen("nvrtc"))
                      ? "pip install nvidia-cuda-nvrtc: its library compiles here, too"
                  : of_cuda ? "it has the runtime's functions, and those of the driver, cuBLAS and cuRAND that "
                              "docs/kernel-lab.md lists: others need a GPU"
                            : "name the file that defines it, or its library (-l) behind --");
    return true;
}

/* The source that the first error of a compiler is in, or else the first. */
static const char *source_of(const smp_flag_list *sources, const char *messages, const char *file)
{
    const char *error = messages ? strstr(messages, "error: ") : NULL, *line = error;
    while (line && line > messages && line[-1] != '\n')
        line--;
    for (size_t i = 0; line && sources && i < sources->count; i++) {
        char *real = smp_real_path(sources->items[i]);
        const bool is_in = real && !strncmp(line, real, strlen(real)) && strchr(":(", line[strlen(real)]);
        smp_free(real);
        if (is_in)
            return sources->items[i];
    }
    return file;
}

smp_code smp_compile_tell(const smp_tool *tool, const smp_tool_end *end, const char *file, const smp_flag_list *sources,
                          const smp_kernel_reach *reach, smp_error *err)
{
    if (end->messages)
        fputs(end->messages, stderr);
    if (end->late) {
        smp_fail(err, SMP_E_LIMIT, "%s takes more than %g seconds", compiler_of(tool), tool->seconds);
        if (reach)
            smp_hint(err, reach->seconds > 0 ? "raise --time-limit"
                                             : "--trust gives its author's kernels the time of your own");
        return smp_at(err, "%s", file);
    }
    if (!end->status)
        return SMP_OK;
    if (end->status == -SIGINT || end->status == -SIGTERM || end->status == -SIGHUP)
        return smp_fail(err, SMP_E_INTERRUPTED, "interrupted");
    if (misses(end->messages, err))
        return err->code;
    smp_fail(err, SMP_E_DECODE, "%s cannot compile it (its messages are above)", compiler_of(tool));
    if (end->messages && strstr(end->messages, "requires separate compilation mode"))
        smp_hint(err, "a kernel that launches kernels is compiled with -rdc=true, which stands behind --");
    if (reach && !reach->trusted && end->messages && strstr(end->messages, "Permission denied"))
        smp_hint(err, "it may read below the pipe file's folder; --allow-read DIR lets it read below DIR, --trust all");
    return smp_at(err, "%s", source_of(sources, end->messages, file));
}
