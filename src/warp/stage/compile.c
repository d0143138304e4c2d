/* Compiles .cu files, once each: see compile.h. */
#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/paths.h"
#include "base/sha256.h"
#include "warp/stage/compile.h"

extern char **environ;

enum { MOST_WORDS = 256, MOST_INCLUDES = 200 };

/* ------------------------------------------------------------------------------------------------ processes */

smp_code smp_compile_spawn(char *const *argv, char *const *environment, int out_fd, int *status, smp_error *err)
{
    posix_spawn_file_actions_t actions;
    char *all[1024];
    size_t count = 0;
    pid_t child;
    int ended;
    for (; environ[count] && count < 1000; count++)
        all[count] = environ[count];
    for (size_t i = 0; environment && environment[i] && count < 1020; i++) {
        const size_t name = strcspn(environment[i], "=") + 1;
        size_t at = 0;
        while (at < count && strncmp(all[at], environment[i], name) != 0)
            at++;
        all[at] = environment[i];
        count += at == count;
    }
    all[count] = NULL;
    posix_spawn_file_actions_init(&actions);
    if (out_fd >= 0)
        posix_spawn_file_actions_adddup2(&actions, out_fd, STDOUT_FILENO);
    fflush(NULL);
    const int failed = posix_spawnp(&child, argv[0], &actions, NULL, argv, all);
    posix_spawn_file_actions_destroy(&actions);
    if (failed)
        return smp_fail(err, SMP_E_PROCESS, "cannot run %s: %s", argv[0], strerror(failed));
    while (waitpid(child, &ended, 0) < 0)
        if (errno != EINTR)
            return smp_fail(err, SMP_E_PROCESS, "cannot wait for %s: %s", argv[0], strerror(errno));
    *status = WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ nvcc */

static char *if_runs(char *path)
{
    if (path && !access(path, X_OK) && !smp_is_folder(path))
        return path;
    smp_free(path);
    return NULL;
}

static char *find_in_path(const char *name)
{
    const char *path = getenv("PATH");
    for (const char *at = path ? path : ""; *at;) {
        const size_t size = strcspn(at, ":");
        char *found = size ? if_runs(smp_asprintf("%.*s/%s", (int)size, at, name)) : NULL;
        if (found)
            return found;
        at += size + (at[size] == ':');
    }
    return NULL;
}

/* Where clang++ is, a script that takes nvcc's options and calls it: beside a program in its build folder, or installed
 * with libsmp_cudart. */
static char *clang_instead(void)
{
    static const char *const below[] = {"clang/nvcc", "../lib/smempipe/clang/nvcc", "../lib/*/smempipe/clang/nvcc",
                                        "../lib64/smempipe/clang/nvcc"};
    char own[PATH_MAX], *path = NULL, *clang = find_in_path("clang++");
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

char *smp_compile_tool(const char *name)
{
    const char *home = getenv("CUDA_HOME");
    char *found = find_in_path(name);
    if (!found && home)
        found = if_runs(smp_asprintf("%s/bin/%s", home, name));
    if (!found)
        found = if_runs(smp_asprintf("/usr/local/cuda/bin/%s", name));
    return found ? found : find_in_wheels(name);
}

/* ------------------------------------------------------------------------------------------------ the hash */

/* "util.h" of #include "util.h" or <util.h>, from the folder of the includer or -I: they belong to the source. */
typedef struct hashed {
    smp_sha256 hash;
    char *files[MOST_INCLUDES];
    size_t count;
} hashed;

static void hash_file(hashed *h, const smp_compile_settings *settings, const char *path);

static void hash_include(hashed *h, const smp_compile_settings *settings, const char *from, const char *name,
                         size_t size)
{
    const char *slash = strrchr(from, '/');
    for (size_t i = 0; i <= settings->include_count; i++) {
        char *path = i ? smp_asprintf("%s/%.*s", settings->includes[i - 1], (int)size, name)
                       : smp_asprintf("%.*s%.*s", slash ? (int)(slash - from) + 1 : 0, from, (int)size, name);
        if (path && !access(path, R_OK)) {
            hash_file(h, settings, path);
            smp_free(path);
            return;
        }
        smp_free(path);
    }
}

static void hash_file(hashed *h, const smp_compile_settings *settings, const char *path)
{
    char line[4096];
    for (size_t i = 0; i < h->count; i++)
        if (!strcmp(h->files[i], path))
            return;
    FILE *file = fopen(path, "rb");
    if (!file || h->count == MOST_INCLUDES || !(h->files[h->count] = smp_strdup(path))) {
        if (file)
            fclose(file);
        return;
    }
    h->count++;
    char *whole = realpath(path, NULL); /* which the lines of what is compiled name */
    smp_sha256_add(&h->hash, whole ? whole : path, strlen(whole ? whole : path) + 1);
    free(whole);
    while (fgets(line, sizeof line, file)) {
        smp_sha256_add(&h->hash, line, strlen(line));
        const char *at = line + strspn(line, " \t");
        if (*at++ != '#')
            continue;
        at += strspn(at, " \t");
        if (strncmp(at, "include", 7) != 0)
            continue;
        at += 7;
        at += strspn(at, " \t");
        const size_t size = *at == '"' || *at == '<' ? strcspn(at + 1, "\">\n") : 0;
        if (size)
            hash_include(h, settings, path, at + 1, size);
    }
    fclose(file);
}

/* Whether code (no comment and no text) has the word main, or a macro's name that ends so: CATCH_CONFIG_MAIN. */
static bool names_main(const char *path)
{
    char word[8] = "";
    size_t letters = 0;
    bool found = false;
    FILE *file = fopen(path, "rb");
    if (!file)
        return true;
    for (int c = getc(file), before = 0; !found && c != EOF; before = c, c = getc(file)) {
        if (before == '/' && (c == '/' || c == '*')) {
            const bool line = c == '/';
            int last = 0;
            while ((c = getc(file)) != EOF && !(line ? c == '\n' : last == '*' && c == '/'))
                last = c;
        } else if (c == '"') {
            while ((c = getc(file)) != EOF && c != '"' && c != '\n')
                if (c == '\\')
                    (void)getc(file);
        }
        if (isalnum(c)) {
            word[letters < sizeof word - 1 ? letters++ : letters] = (char)toupper(c);
            continue;
        }
        found = letters == 4 && !memcmp(word, "MAIN", 4);
        letters = 0;
    }
    fclose(file);
    return found;
}

/* has_main: null: not asked for. */
static void hash_sources(const smp_compile_settings *settings, const char *file, const char *const *words,
                         char text[65], bool *has_main)
{
    hashed h = {.count = 0};
    smp_sha256_begin(&h.hash);
    for (size_t i = 0; words[i]; i++)
        smp_sha256_add(&h.hash, words[i], strlen(words[i]) + 1);
    hash_file(&h, settings, file);
    smp_sha256_end(&h.hash, text);
    for (size_t i = 0; i < h.count; i++) {
        if (has_main)
            *has_main = *has_main || names_main(h.files[i]);
        smp_free(h.files[i]);
    }
}

/* ------------------------------------------------------------------------------------------------ compiling */

/* Makes a folder and those above it. */
bool smp_compile_make_folders(char *path)
{
    for (char *at = path + 1; *at; at++)
        if (*at == '/') {
            *at = 0;
            mkdir(path, 0777);
            *at = '/';
        }
    return !mkdir(path, 0777) || smp_is_folder(path);
}

char *smp_compile_cache(void)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && cache[0] == '/')
        return smp_asprintf("%s/smempipe/kernel", cache);
    return home && home[0] ? smp_asprintf("%s/.cache/smempipe/kernel", home)
                           : smp_asprintf("/tmp/smempipe-kernel-%d", (int)getuid());
}

static smp_code no_nvcc(smp_error *err)
{
    smp_fail(err, SMP_E_DEVICE, "compiling a .cu file needs nvcc, which is not on this machine");
    return smp_hint(
        err, "pip install nvidia-cuda-nvcc nvidia-cuda-runtime nvidia-cuda-cccl, or apt-get install "
             "nvidia-cuda-toolkit, or clang for kernels of plain CUDA; no GPU is needed. A .ptx file runs without it");
}

static void remove_folder(const char *folder)
{
    char pattern[PATH_MAX];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/*", folder);
    if (!glob(pattern, 0, NULL, &found)) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            unlink(found.gl_pathv[i]);
        globfree(&found);
    }
    rmdir(folder);
}

/* "90" of "sm_90". */
const char *smp_compile_arch(const char *arch)
{
    const char *digits = arch + strcspn(arch, "0123456789");
    return *digits ? digits : "90";
}

typedef struct words {
    const char *items[MOST_WORDS];
    char *owned[MOST_WORDS];
    size_t count, owned_count;
} words;

static void add(words *w, const char *word)
{
    if (w->count < MOST_WORDS - 1)
        w->items[w->count++] = word;
}

static void add_owned(words *w, char *word)
{
    if (word && w->owned_count < MOST_WORDS)
        w->owned[w->owned_count++] = word;
    if (word)
        add(w, word);
}

/* Where CUDA's runtime library lies beside nvcc, which the program shall find. */
static void add_runtime_path(words *w, const char *nvcc)
{
    static const char *const below[] = {"../lib64", "../lib", "../targets/x86_64-linux/lib",
                                        "../targets/sbsa-linux/lib"};
    char *real = smp_real_path(nvcc), *slash = real ? strrchr(real, '/') : NULL;
    for (size_t i = 0; slash && i < sizeof below / sizeof below[0]; i++) {
        char *folder = smp_asprintf("%.*s/%s", (int)(slash - real), real, below[i]);
        if (folder && smp_is_folder(folder)) {
            add_owned(w, smp_asprintf("-L%s", folder));
            add_owned(w, smp_asprintf("-Xlinker=--enable-new-dtags,-rpath,%s", folder));
        }
        smp_free(folder);
    }
    smp_free(real);
}

/* The command line up to where its results go. */
static void command_of(const smp_compile_settings *settings, const char *nvcc, bool program, words *w)
{
    const char *number = smp_compile_arch(settings->arch);
    add(w, nvcc);
    add_owned(w, smp_asprintf("-std=%s", settings->std));
    add(w, "--extended-lambda");
    add(w, "-lineinfo");
    if (settings->no_fma)
        add(w, "--fmad=false");
    for (size_t i = 0; i < settings->define_count; i++)
        add_owned(w, smp_asprintf("-D%s", settings->defines[i]));
    for (size_t i = 0; i < settings->include_count; i++)
        add_owned(w, smp_asprintf("-I%s", settings->includes[i]));
    if (!program) {
        add_owned(w, smp_asprintf("-arch=sm_%s", number));
        add(w, "-ptx");
    } else if (settings->gpu) {
        add_owned(w, smp_asprintf("-gencode=arch=compute_%s,code=[compute_%s,sm_%s]", number, number, number));
        add(w, "-cudart=shared");
        add_runtime_path(w, nvcc);
    } else {
        add_owned(w, smp_asprintf("-gencode=arch=compute_%s,code=compute_%s", number, number));
        add(w, "-cudart=none");
        add_owned(w, smp_asprintf("-L%s", settings->runtime));
        add_owned(w, smp_asprintf("-Xlinker=-rpath,%s", settings->runtime));
    }
}

static char *ptx_name(const char *folder, const char *file)
{
    const char *base = smp_base_name(file), *dot = strrchr(base, '.');
    return smp_asprintf("%s/%.*s.ptx", folder, dot ? (int)(dot - base) : (int)strlen(base), base);
}

static smp_code compile(const char *file, words *w, char *folder, bool program, bool gpu, smp_error *err)
{
    int status;
    smp_code code;
    char *work = smp_asprintf("%s.%d", folder, (int)getpid());
    char *real = smp_real_path(file); /* so that .loc names it wherever this is called again */
    if (!work || !real || !smp_compile_make_folders(work)) {
        smp_fail(err, SMP_E_WRITE, "cannot make the folder %s: %s", work ? work : folder, strerror(errno));
        smp_hint(err, "set XDG_CACHE_HOME to a folder that you may write");
        smp_free(work);
        smp_free(real);
        return SMP_E_WRITE;
    }
    if (program) {
        add(w, "--keep");
        add_owned(w, smp_asprintf("--keep-dir=%s", work));
        add(w, "-o");
        add_owned(w, smp_asprintf("%s/program", work));
    } else {
        add(w, "-o");
        add_owned(w, ptx_name(work, real));
    }
    add(w, real);
    if (program && !gpu)
        add(w, "-lsmp_cudart");
    w->items[w->count] = NULL;
    code = smp_compile_spawn((char *const *)(uintptr_t)w->items, NULL, STDERR_FILENO, &status, err);
    if (!code && status) {
        smp_fail(err, SMP_E_DECODE, "nvcc cannot compile it (its messages are above)");
        code = smp_at(err, "%s", file);
    }
    if (!code && rename(work, folder) && access(folder, R_OK))
        code = smp_fail(err, SMP_E_WRITE, "cannot make the folder %s: %s", folder, strerror(errno));
    remove_folder(work);
    smp_free(work);
    smp_free(real);
    return code;
}

smp_code smp_compile(const smp_compile_settings *settings, const char *file, char **ptx, char **program, smp_error *err)
{
    words w = {.count = 0};
    char hash[65];
    smp_code code = SMP_OK;
    bool has_main = false;
    *ptx = NULL;
    if (access(file, R_OK)) {
        smp_fail(err, SMP_E_READ, "cannot open it: %s", strerror(errno));
        smp_hint(err, "check the spelling of the path");
        return smp_at(err, "%s", file);
    }
    char *nvcc = smp_compile_tool("nvcc"), *cache = smp_compile_cache();
    char *folder = NULL;
    if (!nvcc)
        code = no_nvcc(err);
    else if (program && !settings->runtime) {
        smp_fail(err, SMP_E_PROCESS, "the lab's runtime library libsmp_cudart.so is not beside this program");
        code = smp_hint(err, "install smempipe whole (cmake --install), or run one kernel with --only");
    }
    if (!code) {
        command_of(settings, nvcc, program != NULL, &w);
        hash_sources(settings, file, w.items, hash, program ? &has_main : NULL);
        folder = cache ? smp_asprintf("%s/%.32s", cache, hash) : NULL;
        if (!folder)
            code = smp_fail_memory(err, "a path", PATH_MAX);
    }
    if (!code && program && !has_main) {
        smp_fail(err, SMP_E_USAGE, "it has no main that could launch its kernels");
        smp_hint(err, "--only NAME --grid 8 --block 256 --args '...' runs one kernel without main");
        code = smp_at(err, "%s", file);
    }
    if (!code && !smp_is_folder(folder))
        code = compile(file, &w, folder, program != NULL, settings->gpu, err);
    if (!code) {
        *ptx = ptx_name(folder, file);
        if (program)
            *program = smp_asprintf("%s/program", folder);
        if (!*ptx || (program && !*program))
            code = smp_fail_memory(err, "a path", PATH_MAX);
    }
    for (size_t i = 0; i < w.owned_count; i++)
        smp_free(w.owned[i]);
    smp_free(folder);
    smp_free(cache);
    smp_free(nvcc);
    return code;
}
