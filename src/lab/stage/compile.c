/* Compiles .cu files, once each: see compile.h. */
#include "lab/stage/compile.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/hash/sha256.h"
#include "base/os/tool.h"
#include "base/paths.h"
#include "io/sandbox_program.h"
#include "lab/stage/assemble.h"
#include "lab/stage/compile_end.h"
#include "lab/stage/device_code.h"
#include "lab/stage/kernel_source.h"
#include "lab/stage/older_calls.h"
#include "lab/stage/toolkit.h"

enum {
    MOST_WORDS = 1024,  /* those of flags and libraries are at most 600 */
    OWN_SECONDS = 1800, /* templates of CUTLASS take minutes */
    STRANGERS_SECONDS = 60,
};
#define OWN_MEMORY       (UINT64_C(16) << 30) /* addresses of a process */
#define STRANGERS_MEMORY (UINT64_C(2) << 30)
#define MOST_FILE        (UINT64_C(512) << 20)

/* Names in the folder of a compilation, such as no source includes. */
#define SOURCE  "smempipe-k.cu"
#define OTHERS  "smempipe-k%zu%s"
#define PTX     "smempipe-k.ptx"
#define PROGRAM "smempipe-program"
#define OPTIONS "smempipe-options" /* of the preprocessor and compiler */
#define LINKING "smempipe-linking" /* of the compiler that links */

static smp_code no_nvcc(smp_error *err)
{
    smp_fail(err, SMP_E_DEVICE, "compiling a .cu file needs nvcc, which is not on this machine");
    return smp_hint(
        err, "pip install nvidia-cuda-nvcc nvidia-cuda-runtime nvidia-cuda-cccl, or apt-get install "
             "nvidia-cuda-toolkit, or clang for kernels of plain CUDA; no GPU is needed. A .ptx file runs without it");
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

/* ------------------------------------------------------------------------------------------------ files of options */

/* Anew: a compiler that ran may have put a link there. */
static FILE *create(const char *work, const char *name)
{
    char *path = smp_asprintf("%s/%s", work, name);
    FILE *to = path && (!unlink(path) || errno == ENOENT) ? fopen(path, "wxe") : NULL;
    smp_free(path);
    return to;
}

/* Compilers and linkers read options from a file (@FILE), with a backslash before what is no letter; no shell does. */
static void put_option(FILE *to, const char *option, const char *value)
{
    fputs(option, to);
    for (const char *at = value; *at; at++) {
        if (!isalnum((unsigned char)*at) && !strchr("/._-+=,:", *at))
            fputc('\\', to);
        fputc(*at, to);
    }
    fputc('\n', to);
}

/* PTX has the names of files in quotes, without a way to write one inside. */
static bool is_odd(const char *path)
{
    for (const char *at = path; *at; at++)
        if (iscntrl((unsigned char)*at) || *at == '"' || *at == '\\')
            return true;
    return false;
}

/* A folder of sources, by a link of ours where its name is odd. */
static void put_folder(FILE *to, const char *option, const char *path, const char *work, size_t number)
{
    char *real = smp_real_path(path);
    char link[40], *place = smp_asprintf("%s/smempipe-d%zu", work, number);
    snprintf(link, sizeof link, "smempipe-d%zu", number);
    const bool linked = real && place && is_odd(real) && !symlink(real, place);
    if (real)
        put_option(to, option, linked ? link : real);
    smp_free_all(place, real);
}

/* ".cu", ".c" */
static const char *ending_of(const char *file)
{
    const char *name = smp_base_name(file), *dot = strrchr(name, '.');
    return dot ? dot : ".cu";
}

static const smp_nvcc_flags no_flags;

static const smp_nvcc_flags *flags_of(const smp_compile_settings *settings)
{
    return settings->flags ? settings->flags : &no_flags;
}

static size_t other_sources(const smp_compile_settings *settings)
{
    return settings->sources ? settings->sources->count : 0;
}

/* Whether the program has its device code in itself alone, and no PTX of one source tells it. */
static bool is_linked(const smp_compile_settings *settings)
{
    return settings->host || other_sources(settings) || flags_of(settings)->linked;
}

/* Whether the first file is included by its path, as the others are, so that its folder is no folder of headers of the
 * system. A text of ours, or one that was checked, or a name in which messages would end, is compiled as a copy. */
static bool is_included(const smp_compile_settings *settings, const char *source)
{
    return !settings->text && !settings->only && !(settings->reach && !settings->reach->trusted) && !is_odd(source);
}

static bool put_options(const smp_compile_settings *settings, const char *source, const char *work)
{
    const smp_nvcc_flags *flags = flags_of(settings);
    char *folder = smp_folder_part(source);
    FILE *to = folder ? create(work, OPTIONS) : NULL;
    for (size_t i = 0; to && i < flags->defines.count; i++)
        put_option(to, "-D", flags->defines.items[i]);
    for (size_t i = 0; to && i < flags->includes.count; i++)
        put_folder(to, "-I", flags->includes.items[i], work, i + 1);
    if (to && !is_included(settings, source))
        put_folder(to, "-iquote\n", folder, work, 0);
    if (to && settings->only)
        fputs("-Ismempipe-headers\n", to); /* the last: those that are missing */
    smp_free(folder);
    return to && !fclose(to);
}

/* A folder of libraries, in which the program shall find them. */
static void put_libraries(FILE *to, const char *folder)
{
    put_option(to, "-L", folder);
    put_option(to, "-Xlinker\n-rpath\n-Xlinker\n", folder);
}

/* The lab's library, also where the program opens the driver's by itself, and behind it NVRTC's, where it is used. */
static void put_own(FILE *to, const char *runtime)
{
    char *file = smp_toolkit_library("nvrtc"), *folder = file ? smp_folder_part(file) : NULL;
    put_libraries(to, runtime);
    fputs("-Xlinker\n--push-state\n-Xlinker\n--no-as-needed\n-lsmp_cudart\n-Xlinker\n--as-needed\n", to);
    if (folder) {
        put_option(to, "", file);
        put_option(to, "-Xlinker\n-rpath\n-Xlinker\n", folder);
    }
    fputs("-Xlinker\n--pop-state\n", to);
    smp_free_all(file, folder);
}

static bool put_linking(const smp_compile_settings *settings, const char *nvcc, const char *work)
{
    static const char *const below[] = {"../lib64", "../lib", "../targets/x86_64-linux/lib",
                                        "../targets/sbsa-linux/lib"};
    char *real = smp_real_path(nvcc);
    const char *slash = real ? strrchr(real, '/') : NULL;
    FILE *to = create(work, LINKING);
    if (to) /* the first word stands behind -Xlinker, the others are the driver's */
        fputs("--enable-new-dtags\n", to);
    for (size_t i = 0;
         to && (settings->gpu || flags_of(settings)->linked) && slash && i < sizeof below / sizeof below[0]; i++) {
        char *folder = smp_asprintf("%.*s/%s", (int)(slash - real), real, below[i]);
        if (folder && smp_is_folder(folder)) /* where CUDA's runtime library lies */
            put_libraries(to, folder);
        smp_free(folder);
    }
    for (size_t i = 0; to && i < flags_of(settings)->folders.count; i++) {
        char *folder = smp_real_path(flags_of(settings)->folders.items[i]);
        if (folder)
            put_libraries(to, folder);
        smp_free(folder);
    }
    if (to && !settings->gpu)
        put_own(to, settings->runtime);
    smp_free(real);
    return to && !fclose(to);
}

/* The other files are included, so that each finds its own folder's headers first. */
static bool put_others(const smp_compile_settings *settings, const char *work)
{
    bool wrote = true;
    for (size_t i = 0; i < other_sources(settings) && wrote; i++) {
        const char *file = settings->sources->items[i], *name = smp_base_name(file);
        char *folder = smp_folder_part(file), *real = folder ? smp_real_path(folder) : NULL;
        char *place = smp_asprintf("%s/" OTHERS, work, i + 1, ending_of(file));
        char *link = smp_asprintf("%s/smempipe-s%zu", work, i + 1);
        FILE *to = real && place && link && !is_odd(name) ? fopen(place, "we") : NULL;
        wrote = to && (!is_odd(real) || !symlink(real, link));
        if (wrote)
            fprintf(to, "%s#include \"%s/%s\"\n", smp_older_calls, is_odd(real) ? smp_base_name(link) : real, name);
        wrote = to && !fclose(to) && wrote;
        smp_free_all(folder, real, place, link);
    }
    return wrote;
}

/* What the first file is called in the folder of a compilation; from smp_alloc. */
static char *first_name(const smp_compile_settings *settings, const char *file)
{
    return settings->host ? smp_asprintf(OTHERS, (size_t)0, ending_of(file)) : smp_strdup(SOURCE);
}

/* The first file; messages and lines of a copy name the original. */
static bool put_source(const smp_compile_settings *settings, const char *source, const char *text, size_t size,
                       const char *work)
{
    static const char mark[] = "\xef\xbb\xbf"; /* of UTF-8, which may stand at the beginning alone */
    const size_t skipped = size >= 3 && !memcmp(text, mark, 3) ? 3 : 0;
    char *name = first_name(settings, source);
    FILE *to = name ? create(work, name) : NULL;
    bool wrote = to;
    smp_free(name);
    if (to && is_included(settings, source))
        wrote = fprintf(to, "%s#include \"%s\"\n", smp_older_calls, source) > 0;
    else if (to) {
        fprintf(to, "%s#line 1 \"", smp_older_calls);
        for (const char *at = source; *at; at++)
            fputc(iscntrl((unsigned char)*at) || *at == '"' || *at == '\\' ? '?' : *at, to);
        fputs("\"\n", to);
        wrote = fwrite(text + skipped, 1, size - skipped, to) == size - skipped;
        smp_device_code_instances(to, settings->only);
    }
    return to && !fclose(to) && wrote;
}

/* ------------------------------------------------------------------------------------------------ compiling */

/* Checks what is passed as words; the rest goes to files. */
static smp_code check(const smp_compile_settings *settings, smp_error *err)
{
    const char *number = smp_compile_arch(settings->arch);
    const size_t digits = strspn(number, "0123456789");
    if (digits > 3 || (number[digits] && (!strchr("af", number[digits]) || number[digits + 1])))
        return smp_fail(err, SMP_E_USAGE, "'%.40s' is not a valid architecture such as sm_90", settings->arch);
    if (strspn(settings->std, "abcdefghijklmnopqrstuvwxyz0123456789+") != strlen(settings->std))
        return smp_fail(err, SMP_E_USAGE, "'%.40s' is not a valid standard such as c++17", settings->std);
    const smp_flag_list *defines = &flags_of(settings)->defines;
    for (size_t i = 0; i < other_sources(settings); i++)
        if (is_odd(smp_base_name(settings->sources->items[i])))
            return smp_fail(err, SMP_E_USAGE, "'%.80s': a quote or backslash in its name confuses compilers",
                            settings->sources->items[i]);
    for (size_t i = 0; i < defines->count; i++)
        if (!isalpha((unsigned char)defines->items[i][0]) && defines->items[i][0] != '_')
            return smp_fail(err, SMP_E_USAGE, "-D '%.40s' names no macro", defines->items[i]);
    return SMP_OK;
}

/* What a whole program is made of. */
static void add_program(const smp_compile_settings *settings, const char *file, words *w)
{
    const smp_nvcc_flags *flags = flags_of(settings);
    const char *number = smp_compile_arch(settings->arch);
    const bool linked = is_linked(settings), sass = settings->gpu || flags->linked;
    add_owned(w, sass ? smp_asprintf("-gencode=arch=compute_%s,code=[compute_%s,sm_%s]", number, number, number)
                      : smp_asprintf("-gencode=arch=compute_%s,code=compute_%s", number, number));
    add(w, sass ? "-cudart=shared" : "-cudart=none"); /* without it nvcc links no device code */
    add(w, "-Xlinker=@" LINKING);
    if (flags->linked)
        add(w, "-rdc=true");
    for (size_t i = 0; sass && i < flags->ptxas.count; i++) /* else ptxas is called apart */
        add_owned(w, smp_asprintf("-Xptxas=%s", flags->ptxas.items[i]));
    if (!linked) {
        add(w, "--keep");
        add(w, "--keep-dir=.");
    }
    add(w, "-o");
    add(w, PROGRAM);
    add_owned(w, first_name(settings, file));
    for (size_t i = 0; i < other_sources(settings); i++)
        add_owned(w, smp_asprintf(OTHERS, i + 1, ending_of(settings->sources->items[i])));
    for (size_t i = 0; i < flags->libraries.count; i++)
        if (settings->gpu || !smp_nvcc_stands_in(flags->libraries.items[i]))
            add_owned(w, smp_asprintf("-l%s", flags->libraries.items[i]));
    if (!settings->gpu)
        add(w, "-lsmp_cudart");
}

/* The command line, whose names are ours. */
static void command_of(const smp_compile_settings *settings, const char *file, const char *nvcc, bool program, words *w)
{
    const smp_nvcc_flags *flags = flags_of(settings);
    const char *number = smp_compile_arch(settings->arch);
    bool named = false;
    for (size_t i = 0; i < flags->words.count; i++)
        named = named || !strncmp(flags->words.items[i], "-std", strlen("-std"));
    add(w, nvcc);
    if (!named)
        add_owned(w, smp_asprintf("-std=%s", settings->std));
    add(w, "--extended-lambda");
    add(w, "-lineinfo");
    if (program)
        add(w, "-Xcompiler=-g1,-gdwarf-4"); /* lines of the host's calls; addr2line misreads files of version 5 */
    add(w, "-Xcompiler=@" OPTIONS);
    if (settings->no_fma)
        add(w, "--fmad=false");
    for (size_t i = 0; i < flags->words.count; i++)
        add(w, flags->words.items[i]);
    if (!program) {
        add_owned(w, smp_asprintf("-arch=sm_%s", number));
        if (flags->linked)
            add(w, "-rdc=true");
        add(w, "-ptx");
        add(w, "-o");
        add(w, PTX);
        add(w, SOURCE);
    } else
        add_program(settings, file, w);
    w->items[w->count] = NULL;
}

/* Hashes the settings that decide what is compiled, besides the sources. */
/* A library that is linked by its name, as it lies in a folder now. */
static void hash_library(const char *folder, const char *name, smp_sha256 *hash)
{
    struct stat status;
    char *path = smp_asprintf("%s/lib%s.a", folder, name);
    if (path && stat(path, &status) == 0) {
        smp_sha256_add(hash, &status.st_mtim, sizeof status.st_mtim);
        smp_sha256_add(hash, &status.st_size, sizeof status.st_size);
    }
    smp_free(path);
}

static void hash_settings(const smp_compile_settings *settings, const words *w, smp_sha256 *hash)
{
    static const char *const variables[] = {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN"};
    const smp_kernel_reach *reach = settings->reach;
    for (size_t i = 0; i < w->count; i++)
        smp_sha256_add(hash, w->items[i], strlen(w->items[i]) + 1);
    const smp_nvcc_flags *flags = flags_of(settings);
    const smp_flag_list *const lists[] = {&flags->defines, &flags->includes, &flags->folders};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        for (size_t k = 0; k < lists[i]->count; k++)
            smp_sha256_add(hash, lists[i]->items[k], strlen(lists[i]->items[k]) + 1);
    for (size_t i = 0; i < flags->folders.count; i++)
        for (size_t k = 0; k < flags->libraries.count; k++)
            hash_library(flags->folders.items[i], flags->libraries.items[k], hash);
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *value = getenv(variables[i]);
        smp_sha256_add(hash, value ? value : "", value ? strlen(value) + 1 : 1);
    }
    if (settings->only && strchr(settings->only, '<'))
        smp_sha256_add(hash, settings->only, strlen(settings->only) + 1);
    smp_sha256_add(hash, smp_older_calls, sizeof smp_older_calls);
    if (settings->runtime) /* its folder, where the program looks for the runtime library */
        smp_sha256_add(hash, settings->runtime, strlen(settings->runtime) + 1);
    for (size_t i = 0; reach && !reach->trusted && reach->folders[i]; i++)
        smp_sha256_add(hash, reach->folders[i], strlen(reach->folders[i]) + 1);
}

/* clang takes one file, and few flags. */
static smp_code check_compiler(const smp_compile_settings *settings, const char *nvcc, smp_error *err)
{
    const smp_nvcc_flags *flags = flags_of(settings);
    if (!strstr(nvcc, "/clang/nvcc") || (!is_linked(settings) && !flags->words.count && !flags->libraries.count))
        return SMP_OK;
    smp_fail(err, SMP_E_DEVICE, "clang, in nvcc's place, takes one file with -D, -U, -I and -std, and no other flags");
    return smp_hint(err, "pip install nvidia-cuda-nvcc nvidia-cuda-runtime nvidia-cuda-cccl");
}

/* A source, read once, and where what is made of it is kept. */
typedef struct source {
    const char *file; /* as it was named */
    char *text, *real, *folder;
    size_t size;
} source;

/* Makes a header that is missing, and leaves the host's code out of the source that the compiler reads. */
static bool do_without(const smp_compile_settings *settings, const source *s, const char *messages, const char *work)
{
    size_t length;
    const char *header = settings->only ? smp_device_code_header(messages, work, &length) : NULL;
    if (!header)
        return false;
    fprintf(stderr, "smempipe: %.*s is not on this machine: of %s the device's code alone is compiled\n", (int)length,
            header, s->file);
    smp_device_code_keep(s->text);
    return put_source(settings, s->real, s->text, s->size, work);
}

static smp_code run_nvcc(const smp_compile_settings *settings, const words *w, const char *work, const source *s,
                         smp_error *err)
{
    const smp_kernel_reach *reach = settings->reach;
    const bool own = !reach || reach->trusted;
    char *folders[SMP_TOOLKIT_FOLDERS];
    size_t count = 0, others = 0;
    while (!own && reach->folders[others])
        others++;
    const char **readable = smp_alloc_array(SMP_TOOLKIT_FOLDERS + others, sizeof *readable);
    SMP_NEED(readable, "paths", others, err);
    smp_toolkit_folders(w->items[0], folders);
    for (size_t i = 0; folders[i]; i++)
        readable[count++] = folders[i];
    for (size_t i = 0; i < others; i++)
        readable[count++] = reach->folders[i];
    readable[count] = NULL;
    smp_tool_end end;
    const smp_tool tool = {.argv = (char *const *)(uintptr_t)w->items,
                           .folder = work,
                           .readable = readable,
                           .reads_all = own,
                           .trusted = own,
                           .seconds = reach && reach->seconds > 0 ? reach->seconds
                                      : own                       ? OWN_SECONDS
                                                                  : STRANGERS_SECONDS,
                           .memory = own ? OWN_MEMORY : STRANGERS_MEMORY,
                           .file = MOST_FILE};
    smp_code code = smp_tool_run(&tool, &end, err);
    while (!code && end.status > 0 && do_without(settings, s, end.messages, work)) {
        smp_free(end.messages);
        code = smp_tool_run(&tool, &end, err);
    }
    code = code ? code : smp_compile_tell(&tool, &end, s->file, settings->sources, reach, err);
    smp_free_all(end.messages, readable);
    for (size_t i = 0; folders[i]; i++)
        smp_free(folders[i]);
    return code;
}

/* Moves the result into the cache, whole or not at all. */
static smp_code keep(const char *work, const char *folder, bool has_ptx, bool program, smp_error *err)
{
    char *made = smp_asprintf("%s.%d", folder, (int)getpid());
    char *ptx = made ? smp_asprintf("%s/" PTX, made) : NULL, *own = made ? smp_asprintf("%s/" PROGRAM, made) : NULL;
    smp_code code = SMP_OK;
    if (!ptx || !own)
        code = smp_fail_memory(err, "a path", PATH_MAX);
    else if (!smp_toolkit_make_folders(made)) {
        smp_fail(err, SMP_E_WRITE, "cannot make the folder %s: %s", made, strerror(errno));
        code = smp_hint(err, "set XDG_CACHE_HOME to a folder that you may write");
    }
    if (!code && has_ptx)
        code = smp_tool_take(work, PTX, ptx, 0666, err);
    if (!code && program)
        code = smp_tool_take(work, PROGRAM, own, 0777, err);
    if (!code && rename(made, folder) && access(folder, R_OK))
        code = smp_fail(err, SMP_E_WRITE, "cannot make the folder %s: %s", folder, strerror(errno));
    if (ptx && own) { /* where another process was first */
        unlink(ptx);
        unlink(own);
        rmdir(made);
    }
    smp_free_all(ptx, own, made);
    return code;
}

static smp_code compile(const smp_compile_settings *settings, const source *s, const words *w, bool program,
                        smp_error *err)
{
    char *work = smp_tool_folder();
    smp_code code = SMP_OK;
    if (!work && smp_sandbox_closed())
        return smp_fail(err, SMP_E_PIPE, "the page compiles no kernels that the pipeline did not begin with"),
               smp_hint(err, "save the pipeline, and begin smempipe edit again with it");
    if (!work)
        return smp_fail(err, SMP_E_WRITE, "cannot make a folder in /tmp: %s", strerror(errno)),
               smp_hint(err, "set TMPDIR to one that you may write, of letters and digits");
    if (!put_source(settings, s->real, s->text, s->size, work) || !put_others(settings, work) ||
        !put_options(settings, s->real, work) || (program && !put_linking(settings, w->items[0], work))) {
        smp_fail(err, SMP_E_WRITE, "cannot write: %s", strerror(errno));
        code = smp_at(err, "%s", work);
    }
    code = code ? code : run_nvcc(settings, w, work, s, err);
    code = code ? code : keep(work, s->folder, !program || !is_linked(settings), program, err);
    smp_tool_folder_remove(work);
    return code;
}

static smp_code read_source(const smp_compile_settings *settings, source *s, smp_error *err)
{
    const smp_code code = smp_kernel_source_read(s->file, settings->reach, &s->text, &s->size, &s->real, err);
    if (code == SMP_E_READ)
        smp_hint(err, "check the spelling of the path");
    return code ? smp_at(err, "%s", s->file) : SMP_OK;
}

static smp_code find_kept(const smp_compile_settings *settings, const words *w, source *s, bool *has_main,
                          smp_error *err)
{
    smp_sha256 hash;
    char text[65], *cache = smp_toolkit_cache();
    smp_sha256_begin(&hash);
    hash_settings(settings, w, &hash);
    const smp_flag_list *includes = &flags_of(settings)->includes;
    const char *const *folders = (const char *const *)includes->items;
    smp_code code = smp_kernel_source_hash(s->real, s->text, s->size, folders, includes->count, settings->reach, &hash,
                                           has_main, err);
    for (size_t i = 0; i < other_sources(settings) && !code; i++) {
        source other = {.file = settings->sources->items[i]};
        code = read_source(settings, &other, err);
        if (!code)
            code = smp_kernel_source_hash(other.real, other.text, other.size, folders, includes->count, settings->reach,
                                          &hash, has_main, err);
        smp_free_all(other.text, other.real);
    }
    smp_sha256_end(&hash, text);
    s->folder = cache ? smp_asprintf("%s/%.32s", cache, text) : NULL;
    smp_free(cache);
    if (code || s->folder)
        return code;
    smp_fail(err, SMP_E_WRITE, "there is no folder of your own for what is compiled");
    return smp_hint(err, "set XDG_CACHE_HOME to a folder that you may write");
}

smp_code smp_compile(const smp_compile_settings *settings, const char *file, char **ptx, char **program, smp_error *err)
{
    words w = {.count = 0};
    source s = {.file = file};
    bool has_main = false;
    *ptx = NULL;
    if (program)
        *program = NULL;
    smp_code code = read_source(settings, &s, err);
    if (!code && settings->text) {
        smp_free(s.text);
        s.size = strlen(settings->text);
        s.text = smp_strdup(settings->text);
        code = s.text ? SMP_OK : smp_fail_memory(err, "a source", s.size);
    }
    char *nvcc = code ? NULL : smp_toolkit_find("nvcc");
    if (!code)
        code = nvcc ? check(settings, err) : no_nvcc(err);
    code = code ? code : check_compiler(settings, nvcc, err);
    if (!code && program && !settings->runtime) {
        smp_fail(err, SMP_E_PROCESS, "the lab's runtime library libsmp_cudart.so is not beside this program");
        code = smp_hint(err, "install smempipe whole (cmake --install), or run one kernel with --only");
    }
    if (!code) {
        command_of(settings, file, nvcc, program != NULL, &w);
        code = find_kept(settings, &w, &s, program ? &has_main : NULL, err);
    }
    if (!code && program && !has_main) {
        smp_fail(err, SMP_E_USAGE, "it has no main that could launch its kernels");
        smp_hint(err, "--only NAME --grid 8 --block 256 --args '...' runs one kernel without main");
        code = smp_at(err, "%s", file);
    }
    if (!code && !smp_is_folder(s.folder))
        code = compile(settings, &s, &w, program != NULL, err);
    if (!code) {
        const bool has_ptx = !program || !is_linked(settings);
        if (has_ptx)
            *ptx = smp_asprintf("%s/" PTX, s.folder);
        if (program)
            *program = smp_asprintf("%s/" PROGRAM, s.folder);
        if ((has_ptx && !*ptx) || (program && !*program))
            code = smp_fail_memory(err, "a path", PATH_MAX);
    }
    for (size_t i = 0; i < w.owned_count; i++)
        smp_free(w.owned[i]);
    smp_free_all(s.text, s.real, s.folder, nvcc);
    return code;
}
