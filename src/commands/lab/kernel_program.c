/* A whole CUDA program under the lab's runtime library, which runs its kernels here and writes down what they cost. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os/installed.h"
#include "base/os/machine.h"
#include "base/os/tool.h"
#include "commands/lab/kernel.h"
#include "io/files/source.h"

enum { MOST_VARIABLES = 20 }; /* of the program's environment */

char *smp_kernel_runtime_folder(void)
{
    char path[PATH_MAX];
    if (!smp_installed_find("libsmp_cudart.so", path))
        return NULL;
    *strrchr(path, '/') = '\0';
    return smp_strdup(path);
}

smp_code smp_kernel_compile(const smp_kernel_settings *settings, const char *file, char **ptx, char **program,
                            smp_error *err)
{
    char *runtime = program ? smp_kernel_runtime_folder() : NULL;
    const smp_compile_settings compile = {.std = settings->std,
                                          .arch = settings->arch,
                                          .flags = &settings->flags,
                                          .sources = program ? &settings->sources : NULL,
                                          .host = smp_kernel_is_host(file),
                                          .only = program ? NULL : settings->only,
                                          .runtime = runtime,
                                          .gpu = program && settings->device,
                                          .text = strcmp(file, settings->file) != 0 ? NULL : settings->text};
    const smp_code code = smp_compile(&compile, file, ptx, program, err);
    smp_free(runtime);
    return code;
}

/* The file of its first row; null: it has none. */
static const char *first_file(const smp_warp_result *r)
{
    const uint32_t file = r->row_count ? r->rows[0].file : UINT32_MAX;
    return file < r->file_count ? r->files[file] : NULL;
}

/* Kernels of several files that share a symbol are told apart by their file: "scale (b.cu)". */
static smp_code tell_files_apart(smp_warp_result *results, size_t count, smp_error *err)
{
    bool *shared = smp_alloc_array(count + 1, sizeof *shared);
    bool fits = shared != NULL;
    for (size_t i = 0; i < count && fits; i++)
        for (size_t k = 0; k < count; k++) {
            const char *own = first_file(&results[i]), *other = first_file(&results[k]);
            shared[i] =
                shared[i] || (own && other && !strcmp(results[i].symbol, results[k].symbol) && strcmp(own, other) != 0);
        }
    for (size_t i = 0; i < count && fits; i++) {
        const char *file = shared[i] ? first_file(&results[i]) : NULL, *slash = file ? strrchr(file, '/') : NULL;
        char *name = file ? smp_asprintf("%s (%s)", results[i].kernel, slash ? slash + 1 : file) : NULL;
        fits = name || !file;
        if (name) {
            smp_free(results[i].kernel);
            results[i].kernel = name;
        }
    }
    smp_free(shared);
    return fits ? SMP_OK : smp_fail_memory(err, "names", count);
}

/* Launches of one kernel with one shape are one result. */
static smp_code read_results(FILE *from, smp_warp_result **results, size_t *count, size_t *open, smp_error *err)
{
    enum { MOST = 1 << 16 };
    size_t capacity = 0;
    for (;;) {
        smp_warp_result one;
        bool end;
        smp_code code = smp_warp_result_read(from, &one, open, &end, err);
        if (!code && !end && *count == MOST)
            code = smp_fail(err, SMP_E_LIMIT, "the program left more than %d results", MOST);
        if (code || end) {
            smp_warp_result_free(&one);
            return code ? code : tell_files_apart(*results, *count, err);
        }
        if (!smp_grow(results, &capacity, *count + 1, sizeof **results)) {
            smp_warp_result_free(&one);
            return smp_fail_memory(err, "results", sizeof **results);
        }
        smp_kernel_find_host_lines(&one);
        (*results)[(*count)++] = one;
    }
}

/* A variable with a folder or file before what it holds. */
static char *before(const char *name, const char *first, const char *file)
{
    const char *held = getenv(name);
    return smp_asprintf("%s=%s%s%s%s%s", name, first, file ? "/" : "", file ? file : "", held ? ":" : "",
                        held ? held : "");
}

/* Makes the environment by which the program finds the library and both find each other; from smp_alloc,
 * null-terminated. */
static void make_environment(const smp_kernel_settings *settings, const smp_kernel_process *process,
                             const char *results, char *environment[MOST_VARIABLES])
{
    const smp_kernel_modules *m = process->modules;
    size_t n = 0;
    environment[n++] = smp_asprintf(SMP_LAB_RESULTS "=%s", results);
    environment[n++] = smp_asprintf(SMP_LAB_BLOCKS "=%s", settings->blocks ? settings->blocks : "all");
    environment[n++] = smp_asprintf(SMP_LAB_PTX "=%s", process->ptx ? process->ptx : "");
    environment[n++] = smp_asprintf(SMP_LAB_SASS "=%s", process->sass ? process->sass : "");
    environment[n++] = smp_asprintf(SMP_LAB_CUBIN "=%s", process->cubin ? process->cubin : "");
    environment[n++] = smp_asprintf(SMP_LAB_MODULES "=%s%s", m ? m->folder : "", m ? "/modules" : "");
    environment[n++] = smp_asprintf(SMP_LAB_ARCH "=%s", settings->arch);
    if (settings->code)
        environment[n++] = smp_asprintf(SMP_LAB_CODE "=%s", settings->code);
    if (settings->each)
        environment[n++] = smp_asprintf(SMP_LAB_EACH "=1");
    environment[n++] = smp_asprintf(SMP_LAB_THREADS "=%d", smp_machine_processors());
    if (settings->no_findings)
        environment[n++] = smp_asprintf(SMP_LAB_COUNTS "=1");
    if (settings->each || settings->html || settings->serve)
        environment[n++] = smp_asprintf(SMP_LAB_LISTING "=1");
    if (settings->leaks)
        environment[n++] = smp_asprintf(SMP_LAB_LEAKS "=1");
    if (settings->fix)
        environment[n++] = smp_asprintf(SMP_LAB_DIGEST "=1");
    if (settings->time_wanted)
        environment[n++] = smp_asprintf(SMP_LAB_TIME "=%s", settings->time_wanted);
    if (settings->time_limit > 0)
        environment[n++] = smp_asprintf(SMP_LAB_SECONDS "=%.9g", settings->time_limit);
    if (m)
        environment[n++] = before("LD_LIBRARY_PATH", m->folder, NULL);
    if (m && m->preload)
        environment[n++] = before("LD_PRELOAD", m->folder, m->runtime);
    environment[n] = NULL;
}

/* Whether --blocks left blocks out, of which the program has no results. */
static bool left_out(const smp_warp_result *results, size_t count)
{
    bool left = false;
    for (size_t i = 0; i < count; i++)
        left = left || (!results[i].stopped && results[i].blocks_run < results[i].blocks);
    return left;
}

smp_code smp_kernel_program(const smp_kernel_settings *settings, const smp_kernel_process *process,
                            smp_warp_result **results, size_t *count, smp_error *err)
{
    char path[64];
    int status = 0;
    size_t unfinished = 0;
    char **argv = smp_alloc_array(settings->program_args.count + 2, sizeof *argv);
    char *program = smp_asprintf("%s%s", strchr(process->program, '/') ? "" : "./", process->program);
    char *environment[MOST_VARIABLES];
    const int fd = smp_spool_file();
    FILE *from = fd < 0 ? NULL : fdopen(fd, "r");
    *results = NULL;
    *count = 0;
    if (!argv || !program || !from) {
        smp_free_all(argv, program);
        if (from)
            fclose(from);
        smp_fail(err, SMP_E_WRITE, "cannot make a temporary file: %s", strerror(errno));
        return smp_hint(err, "set TMPDIR to a folder that you may write");
    }
    /* it has no name, and the program may close what it inherits */
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), fd);
    argv[0] = program;
    for (size_t i = 0; i < settings->program_args.count; i++)
        argv[1 + i] = (char *)(uintptr_t)settings->program_args.items[i];
    make_environment(settings, process, path, environment);
    const int nowhere = settings->again ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
    smp_code code = smp_tool_run_own(argv, environment,
                                     nowhere >= 0                      ? nowhere
                                     : settings->json || settings->csv ? STDERR_FILENO
                                                                       : -1,
                                     true, &status, err);
    if (nowhere >= 0)
        close(nowhere);
    code = code ? code : read_results(from, results, count, &unfinished, err);
    fclose(from);
    for (size_t i = 0; environment[i]; i++)
        smp_free(environment[i]);
    smp_free_all(program, argv);
    if (code)
        return code;
    if (status < 0)
        return smp_fail(err, SMP_E_PROCESS, "the program was ended by signal %d (%s)", -status, strsignal(-status));
    const bool left = left_out(*results, *count);
    static const char missing[] = "left blocks out: what the program computes of them is missing";
    if (status) {
        smp_fail(err, SMP_E_PROCESS, "the program ended with status %d", status);
        return left ? smp_hint(err, "--blocks %s %s; without it all run", settings->blocks, missing) : err->code;
    }
    if (left)
        smp_cli_warning(&settings->common, "--blocks %s %s", settings->blocks, missing);
    if (unfinished)
        return smp_fail(err, SMP_E_PROCESS, "the program ended without leaving its results");
    if (!*count && settings->fail_on)
        return smp_fail(err, SMP_E_PROCESS, "the program launched no kernel: --fail-on has nothing to look at");
    if (!*count)
        smp_cli_warning(&settings->common, "the program launched no kernel%s",
                        settings->html ? ", and no page was written" : "");
    return SMP_OK;
}
