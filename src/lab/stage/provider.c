/* See provider.h. Files stay loaded, since plans point into them. */
#include "lab/stage/provider.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/paths.h"
#include "lab/stage/assemble.h"
#include "lab/stage/compile.h"
#include "lab/stage/kernel_source.h"
#include "stages/foreign.h"

enum {
    COUNTED_ARCH = 90,
    MOST_PTX = 8 << 20 /* bytes of a stranger's */,
    BLOCK_SECONDS = 60 /* of a stranger's kernel */
};
#define COUNTED_NAME "sm_90"

typedef struct loaded {
    struct loaded *next;
    smp_foreign_file file;
    smp_kernel_reach reach; /* its folders are copies */
    char *path, *ptx, *ptx_path;
    struct timespec changed;
    int64_t size;
    smp_warp_memory *memory;
    smp_warp_module *module, *sass;
    smp_error error;         /* what is wrong with it */
    bool assembled;          /* the following were sought */
    char *sass_text, *cubin; /* null: there are none */
    size_t sass_size, cubin_size;
    char why[SMP_ASSEMBLE_WHY]; /* there are none */
} loaded;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static loaded *files;
static smp_warp_observer *observer;
static void *observer_context;

void smp_warp_observe_stage(smp_warp_observer *fn, void *context)
{
    observer = fn;
    observer_context = context;
}

/* ------------------------------------------------------------------------------------------------ files */

static smp_code read_file(const char *path, const smp_kernel_reach *reach, char **text, size_t *length, smp_error *err)
{
    smp_error why = {0};
    const smp_code code = smp_kernel_source_read(path, reach, text, length, NULL, &why);
    return code ? smp_fail(err, code, "'%.200s': %s", path, why.message) : SMP_OK;
}

/* reach: null: it is one of ours. */
static smp_code read_text(const char *path, const smp_kernel_reach *reach, char **text, smp_error *err)
{
    size_t size = 0;
    const smp_code code = read_file(path, reach, text, &size, err);
    if (!code && strlen(*text) != size)
        return smp_fail(err, SMP_E_READ, "'%.200s' is not PTX text", path);
    return code;
}

static smp_code find_ptx(const char *path, const smp_kernel_reach *reach, char **ptx_path, smp_error *err)
{
    const smp_compile_settings settings = {.std = "c++17", .arch = "sm_80", .no_fma = true, .reach = reach};
    if (smp_ends_with(path, ".cu"))
        return smp_compile(&settings, path, ptx_path, NULL, err);
    if (!smp_ends_with(path, ".ptx"))
        return smp_fail(err, SMP_E_PIPE, "'%.200s' is no .cu and no .ptx file", path),
               smp_hint(err, "nvcc -ptx -lineinfo makes PTX of a CUDA source");
    *ptx_path = smp_strdup(path);
    return *ptx_path ? SMP_OK : smp_fail_memory(err, "a path", strlen(path));
}

static void drop_reach(smp_kernel_reach *reach)
{
    for (size_t i = 0; reach->folders && reach->folders[i]; i++)
        smp_free((void *)(uintptr_t)reach->folders[i]);
    smp_free((void *)(uintptr_t)reach->folders);
}

static bool copy_reach(const smp_kernel_reach *from, smp_kernel_reach *to)
{
    size_t count = 0;
    while (from->folders[count])
        count++;
    char **folders = smp_alloc_array(count + 1, sizeof *folders);
    *to = (smp_kernel_reach){(const char *const *)folders, from->seconds, from->trusted};
    bool copied = folders != NULL;
    for (size_t i = 0; copied && i < count; i++)
        copied = (folders[i] = smp_strdup(from->folders[i])) != NULL;
    return copied;
}

static bool same_reach(const smp_kernel_reach *a, const smp_kernel_reach *b)
{
    size_t i = 0;
    while (a->folders[i] && b->folders[i] && !strcmp(a->folders[i], b->folders[i]))
        i++;
    return !a->folders[i] && !b->folders[i] && a->trusted == b->trusted;
}

static void drop(loaded *l)
{
    for (size_t i = 0; i < l->file.count; i++)
        smp_free((void *)(uintptr_t)l->file.entries[i].params);
    smp_free((void *)(uintptr_t)l->file.entries);
    smp_warp_module_free(l->module);
    smp_warp_memory_close(l->memory);
    drop_reach(&l->reach);
    smp_free_all(l->path, l->ptx_path, l->ptx, l);
}

static smp_code list_kernels(loaded *l, smp_error *err)
{
    const size_t count = smp_warp_kernel_count(l->module);
    smp_foreign_entry *entries = smp_alloc_array(count + 1, sizeof *entries);
    l->file.entries = entries;
    SMP_NEED(entries, "kernels", count, err);
    for (size_t i = 0; i < count; i++) {
        const smp_warp_kernel *k = smp_warp_kernel_at(l->module, i);
        const smp_warp_param *params;
        const size_t n = smp_warp_kernel_params(k, &params);
        smp_foreign_param *to = smp_alloc_array(n + 1, sizeof *to);
        const smp_error *problem = smp_warp_kernel_problem(k);
        SMP_NEED(to, "parameters", n, err);
        for (size_t p = 0; p < n; p++) {
            to[p] = (smp_foreign_param){.offset = params[p].offset, .size = params[p].size};
            memcpy(to[p].type, params[p].type, sizeof to[p].type);
        }
        entries[i] = (smp_foreign_entry){.name = smp_warp_kernel_name(k),
                                         .symbol = smp_warp_kernel_symbol(k),
                                         .params = to,
                                         .param_count = n,
                                         .param_bytes = smp_warp_kernel_param_bytes(k),
                                         .shared = smp_warp_kernel_shared(k),
                                         .problem = problem ? problem->message : NULL};
        l->file.count = i + 1;
    }
    return SMP_OK;
}

/* Lines that declare variables outside of kernels: ".global .align 4 .u32 counter;", ".visible .global ...". */
static bool has_variables(const char *ptx)
{
    for (const char *line = ptx; line; line = strchr(line, '\n')) {
        const char *at = line + (*line == '\n');
        for (size_t n = 1; *at == '.' && n; at += n + strspn(at + n, " \t")) {
            n = strcspn(at, " \t\n");
            if (!strncmp(at, ".param", n)) /* may point to such memory, and declares none */
                break;
            if (!strncmp(at, ".global", n))
                return true;
        }
        line = at; /* behind its line feed */
    }
    return false;
}

static smp_code load(const char *path, const smp_kernel_reach *reach, const struct stat *status, loaded **out,
                     smp_error *err)
{
    loaded *l = smp_alloc(sizeof *l);
    SMP_NEED(l, "kernels", sizeof *l, err);
    *out = l;
    l->changed = status->st_mtim;
    l->size = status->st_size;
    l->path = smp_strdup(path);
    smp_code code = copy_reach(reach, &l->reach) && l->path ? find_ptx(path, &l->reach, &l->ptx_path, err)
                                                            : smp_fail_memory(err, "a path", strlen(path));
    if (!code)
        code = read_text(l->ptx_path, strcmp(l->ptx_path, path) != 0 ? NULL : &l->reach, &l->ptx, err);
    if (!code && !l->reach.trusted && strlen(l->ptx) > MOST_PTX) {
        smp_fail(err, SMP_E_LIMIT, "'%.200s' has more than %d MiB of PTX", path, MOST_PTX >> 20);
        code = smp_hint(err, "--trust reads it");
    }
    code = code ? code : smp_warp_memory_open(&l->memory, err);
    code = code ? code : smp_warp_load_ptx(path, l->ptx, strlen(l->ptx), l->memory, &l->module, err);
    code = code ? code : list_kernels(l, err);
    l->file.path = l->path;
    l->file.ptx = l->ptx;
    l->file.has_variables = l->ptx && has_variables(l->ptx);
    if (code && l->path)
        l->error = *err;
    else if (code) {
        drop(l);
        *out = NULL;
    }
    return code;
}

/* reach: null: as it was when the file was met first, else its own folder. Planning may happen on several threads
 * (batch). */
static smp_code open_reach(const char *path, const smp_kernel_reach *reach, const smp_foreign_file **out,
                           smp_error *err)
{
    struct stat status;
    loaded *found;
    smp_error own = {0};
    smp_code code = SMP_OK;
    err = err ? err : &own;
    if (stat(path, &status))
        return smp_fail(err, SMP_E_READ, "cannot open '%.200s': %s", path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return smp_fail(err, SMP_E_READ, "'%.200s' is not a regular file", path);
    char *folder = smp_real_path(path), *slash = folder ? strrchr(folder, '/') : NULL;
    if (slash)
        *slash = '\0';
    const char *const folders[] = {folder, NULL};
    const smp_kernel_reach beside = {folders, 0, false};
    pthread_mutex_lock(&lock);
    for (found = files; found && !reach; found = found->next)
        reach = strcmp(found->path, path) != 0 ? NULL : &found->reach;
    reach = reach ? reach : &beside;
    for (found = files; found; found = found->next)
        if (!strcmp(found->path, path) && found->size == status.st_size && same_reach(&found->reach, reach) &&
            !memcmp(&found->changed, &status.st_mtim, sizeof found->changed))
            break;
    if (found) {
        code = found->error.code;
        if (code)
            *err = found->error;
    } else {
        code = load(path, reach, &status, &found, err);
        if (found) {
            found->next = files;
            files = found;
        }
    }
    pthread_mutex_unlock(&lock);
    smp_free(folder);
    if (!code)
        *out = &found->file;
    return code;
}

static smp_code open_file(const char *path, const smp_foreign_file **out, smp_error *err)
{
    return open_reach(path, NULL, out, err);
}

static void prepare(const char *path, const smp_kernel_reach *reach)
{
    const smp_foreign_file *file;
    (void)open_reach(path, reach, &file, NULL);
}

/* ------------------------------------------------------------------------------------------------ running */

static smp_code mistake(const smp_foreign *k, const smp_warp_result *r, smp_error *err)
{
    const smp_warp_finding *f = &r->findings[0];
    const char *path = f->here.file < r->file_count ? r->files[f->here.file] : "";
    smp_fail(err, SMP_E_PROCESS, "kernel %s, %.80s:%u: %s: thread %u,%u,%u of block %u,%u,%u %.150s", k->entry->name,
             smp_base_name(path), f->here.line, smp_warp_fault_name(f->fault), f->here.thread[0], f->here.thread[1],
             f->here.thread[2], f->block[0], f->block[1], f->block[2], f->text);
    unsigned bytes = 0;
    if (f->fault == SMP_WARP_BOUNDS && k->in != SMP_F32 && strstr(f->text, "past the end") &&
        sscanf(f->text, "%*s %u bytes", &bytes) == 1 && bytes == sizeof(float))
        return smp_hint(err, "its samples have %lld byte%s; a kernel of floats needs `depth float` before it",
                        (long long)smp_sample_size((int)k->in), k->in == SMP_U8 ? "" : "s");
    return smp_hint(err, "smempipe kernel %.100s --only %s tells more", k->file->path, k->entry->name);
}

/* The file's SASS for what is counted, made once. */
static void assemble(loaded *l)
{
    static const char *const everywhere[] = {"/", NULL};
    smp_kernel_reach reach = l->reach;
    if (strcmp(l->ptx_path, l->path) != 0) /* what the compiler made lies in our cache */
        reach.folders = everywhere;
    char *path = NULL, *cubin = NULL;
    smp_error ignored = {0};
    if (l->assembled)
        return;
    l->assembled = true;
    if (!smp_assemble(l->ptx_path, COUNTED_NAME, NULL, NULL, &reach, &path, l->why, &ignored) && path) {
        const char *slash = strrchr(path, '/');
        cubin = smp_asprintf("%.*scode.cubin", (int)(slash + 1 - path), path);
        if (!cubin || read_file(path, NULL, &l->sass_text, &l->sass_size, &ignored) ||
            read_file(cubin, NULL, &l->cubin, &l->cubin_size, &ignored) ||
            smp_warp_load_sass(path, l->sass_text, l->sass_size, l->cubin, l->cubin_size, l->module, l->memory,
                               &l->sass, &ignored))
            snprintf(l->why, sizeof l->why, "its SASS cannot be read");
    } else if (!l->why[0])
        snprintf(l->why, sizeof l->why, "%.150s", ignored.message);
    if (l->sass) {
        l->file.cubin = l->cubin;
        l->file.cubin_arch = COUNTED_ARCH;
    }
    smp_free_all(path, cubin);
}

/* The code of a launch. A file without variables is read once; otherwise they begin as the file has them. */
typedef struct code_of {
    smp_warp_memory *memory; /* of the launch */
    smp_warp_module *ptx, *sass;
    bool own;
} code_of;

static smp_code open_code(loaded *l, bool counts, code_of *c, smp_error *err)
{
    *c = (code_of){.own = smp_warp_variable_count(l->module) > 0};
    smp_code code = smp_warp_memory_open(&c->memory, err);
    if (counts) {
        pthread_mutex_lock(&lock);
        assemble(l);
        pthread_mutex_unlock(&lock);
    }
    if (!c->own) {
        c->ptx = l->module;
        c->sass = counts ? l->sass : NULL;
        return code;
    }
    code = code ? code : smp_warp_load_ptx(l->path, l->ptx, strlen(l->ptx), c->memory, &c->ptx, err);
    if (!code && counts && l->sass)
        code = smp_warp_load_sass(l->path, l->sass_text, l->sass_size, l->cubin, l->cubin_size, c->ptx, c->memory,
                                  &c->sass, err);
    return code;
}

static void close_code(code_of *c)
{
    if (c->own) {
        smp_warp_module_free(c->sass);
        smp_warp_module_free(c->ptx);
    }
    smp_warp_memory_close(c->memory);
}

/* Counted is the SASS where there is one; otherwise a note says why. */
static smp_code execute(const loaded *l, const smp_warp_launch *launch, const code_of *c, const char *symbol,
                        smp_warp_result *result, smp_error *err)
{
    bool many;
    const smp_warp_kernel *sass = c->sass ? smp_warp_kernel_find(c->sass, symbol, &many) : NULL;
    if (!observer)
        return smp_warp_run(launch, result, err);
    const smp_code code = smp_warp_run_both(launch, sass, result, err);
    if (!strcmp(result->code, "sass"))
        result->fit.arch = COUNTED_ARCH;
    else if (!code && !sass)
        smp_warp_note(result, "counted in its PTX, since %s", l->why);
    return code;
}

/* Checks which rows of the picture the kernel left unwritten: all of them is an error, some are reported once a
 * kernel. */
static smp_code check_written(const smp_foreign *k, const unsigned char *written, int64_t bytes, bool whole,
                              smp_error *err)
{
    enum { MOST_TOLD = 32 };
    static pthread_mutex_t told_lock = PTHREAD_MUTEX_INITIALIZER;
    static const smp_foreign_entry *told[MOST_TOLD];
    static size_t told_count;
    int64_t left = 0;
    bool is_new = true;
    for (int64_t i = 0; i < bytes; i++)
        left += !written[i];
    if (!left)
        return SMP_OK;
    if (left == bytes && whole)
        return smp_fail(err, SMP_E_PROCESS, "kernel %s writes nothing of its output", k->entry->name),
               smp_hint(err,
                        "is `out` in args where the kernel has its output, and does it get the sizes that it wants?");
    pthread_mutex_lock(&told_lock);
    for (size_t i = 0; i < told_count; i++)
        is_new = is_new && told[i] != k->entry;
    is_new = is_new && told_count < MOST_TOLD;
    if (is_new)
        told[told_count++] = k->entry;
    pthread_mutex_unlock(&told_lock);
    if (is_new)
        fprintf(
            stderr,
            "smempipe: warning: kernel %s leaves %.3g %% of its output unwritten, which stays 0: do its block, tile "
            "and args cover all pixels and channels?\n",
            k->entry->name, 100.0 * (double)left / (double)bytes);
    return SMP_OK;
}

static smp_code run(const smp_foreign *k, const smp_io *io, smp_error *err)
{
    const smp_foreign_rows r = smp_foreign_rows_of(k, io);
    const int64_t in_row = io->in.width * io->in.channels * smp_sample_size((int)k->in);
    const int64_t out_row = io->out.width * io->out.channels * smp_sample_size((int)k->out);
    loaded *l = (loaded *)(uintptr_t)((const char *)k->file - offsetof(loaded, file));
    unsigned char params[SMP_FOREIGN_PARAM_BYTES];
    smp_warp_result result = {0};
    smp_warp_launch launch = {
        .params = params, .dynamic_shared = k->shared, .print = stderr, .guarded = !l->reach.trusted};
    code_of c;
    bool many;
    if (launch.guarded)
        launch.block_seconds = l->reach.seconds > 0 ? l->reach.seconds : BLOCK_SECONDS;
    if (!smp_foreign_grid(k, io, launch.grid))
        return smp_fail(err, SMP_E_PROCESS, "kernel %s would have more blocks than a GPU takes", k->entry->name);
    memcpy(launch.block, k->block.n, sizeof launch.block);
    smp_code code = open_code(l, observer != NULL, &c, err);
    unsigned char *in = NULL, *out = NULL, *written = NULL;
    if (!code) {
        written = smp_alloc((size_t)(out_row * r.out_count) + 1);
        in = smp_warp_buffer(c.memory, (size_t)(in_row * r.in_count), "in");
        out = smp_warp_buffer(c.memory, (size_t)(out_row * r.out_count), "out");
        launch.memory = c.memory;
        launch.kernel = smp_warp_kernel_find(c.ptx, k->entry->symbol, &many);
        launch.written = written;
        launch.written_start = (uint64_t)(uintptr_t)out;
        launch.written_end = launch.written_start + (uint64_t)(out_row * r.out_count);
        if (!in || !out || !written || !launch.kernel)
            code = smp_fail_memory(err, "pictures of a kernel", (uint64_t)(in_row * r.in_count));
    }
    if (!code && smp_warp_kernel_problem(launch.kernel)) {
        code = smp_warp_kernel_problem(launch.kernel)->code;
        if (err)
            *err = *smp_warp_kernel_problem(launch.kernel);
    }
    if (!code) {
        smp_foreign_pack(&io->in, r.in_first, r.in_count, k->in, in);
        smp_foreign_fill(k, io, (uint64_t)(uintptr_t)in, (uint64_t)(uintptr_t)out, params);
        code = execute(l, &launch, &c, k->entry->symbol, &result, err);
    }
    if (!code && result.finding_count)
        code = mistake(k, &result, err);
    if (!code)
        code = check_written(k, written + (io->out.y0 - r.out_first) * out_row, io->out.rows * out_row,
                             io->out.rows == io->out.height, err);
    if (!code) {
        smp_foreign_unpack(&io->out, io->out.y0, io->out.rows, k->out, out + (io->out.y0 - r.out_first) * out_row);
        if (observer)
            observer(observer_context, &result);
    }
    smp_warp_result_free(&result);
    close_code(&c);
    smp_free(written);
    return code;
}

const smp_foreign_ops smp_foreign_lab = {open_file, run, prepare};
