/* Runs one kernel of a file with --grid, --block and --args, and keeps what it leaves in its arrays. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/os/machine.h"
#include "base/paths.h"
#include "base/whole_file.h"
#include "commands/lab/kernel.h"
#include "lab/time/time.h"
#include "stages/foreign.h"

/* ------------------------------------------------------------------------------------------------ words */

/* The n-th of texts separated by ';', or the last: the kernels of a comparison may have shapes of their own. */
static const char *nth(const char *text, size_t n, size_t *size)
{
    for (; n && text[strcspn(text, ";")]; n--)
        text += strcspn(text, ";") + 1;
    *size = strcspn(text, ";");
    return text;
}

static smp_code read_shape(const char *option, const char *all, size_t n, uint32_t shape[3], smp_error *err)
{
    char text[64];
    size_t size;
    if (!all)
        return smp_fail(err, SMP_E_USAGE, "--only needs --%s", option),
               smp_hint(err,
                        !strcmp(option, "grid") ? "how many blocks: --grid 32x32" : "threads of a block: --block 32x8");
    const char *given = nth(all, n, &size);
    snprintf(text, sizeof text, "%.*s", (int)(size < sizeof text ? size : sizeof text - 1), given);
    smp_foreign_dims dims;
    char plain[sizeof text];
    for (size_t i = 0; i < sizeof text; i++) /* 32,8 is understood too */
        plain[i] = text[i] == ',' ? 'x' : text[i];
    if (smp_foreign_read_dims(plain, &dims)) {
        memcpy(shape, dims.n, sizeof dims.n);
        return SMP_OK;
    }
    smp_fail(err, SMP_E_USAGE, "--%s %s is not a valid shape", option, text);
    return smp_hint(err, "write 128, 32x8 or 8x8x4");
}

/* ------------------------------------------------------------------------------------------------ one kernel */

smp_code smp_kernel_read(const char *path, char **text, size_t *size, smp_error *err)
{
    enum { MOST = 1 << 30 };
    const smp_code code = smp_read_file(path, MOST, text, size, err);
    return code ? smp_at(err, "%s", path) : SMP_OK;
}

/* nvdisasm's text at a path, and the cubin beside it. */
static smp_code load_sass(const char *path, const smp_warp_module *ptx, smp_warp_memory *memory, smp_warp_module **out,
                          smp_error *err)
{
    char *text = NULL, *cubin = NULL;
    size_t size, cubin_size;
    char *beside = smp_asprintf("%.*s.cubin", (int)(strrchr(path, '.') - path), path);
    smp_code code = beside ? smp_kernel_read(path, &text, &size, err) : smp_fail_memory(err, path, 0);
    code = code ? code : smp_kernel_read(beside, &cubin, &cubin_size, err);
    code = code ? code : smp_warp_load_sass(path, text, size, cubin, cubin_size, ptx, memory, out, err);
    smp_free_all(text, cubin, beside);
    return code;
}

/* Returns a thread's registers, as the cubin tells; 0: there is none. */
static uint32_t registers_of(const smp_kernel_settings *settings, const smp_kernel_job *job,
                             const smp_warp_kernel *kernel)
{
    const char *sass = job->sass;
    char *path = sass       ? smp_asprintf("%.*s.cubin", (int)(strrchr(sass, '.') - sass), sass)
                 : job->ptx ? smp_assemble_cubin(job->ptx, settings->arch, &settings->flags.ptxas)
                            : NULL;
    char *cubin = NULL;
    size_t size;
    smp_error ignored = {0};
    uint32_t registers = 0;
    if (path && !smp_kernel_read(path, &cubin, &size, &ignored))
        (void)smp_warp_registers(cubin, size, smp_warp_kernel_symbol(kernel), &registers);
    smp_free_all(cubin, path);
    return registers;
}

static smp_code find_kernel(const smp_warp_module *module, const char *file, const char *name,
                            const smp_warp_kernel **out, smp_error *err)
{
    bool many;
    char names[300] = "";
    size_t used = 0;
    const size_t count = smp_warp_kernel_count(module);
    *out = name ? smp_warp_kernel_find(module, name, &many) : NULL;
    const size_t plain = name ? strcspn(name, "<") : 0;
    if (!*out && name && name[plain] && smp_ends_with(file, ".cu")) { /* the one that was asked of the compiler */
        char *base = smp_strndup(name, plain);
        const char *last = base ? strrchr(base, ':') : NULL;
        *out = base ? smp_warp_kernel_find(module, last ? last + 1 : base, &many) : NULL;
        smp_free(base);
    }
    if (*out)
        return SMP_OK;
    many = name && many;
    for (size_t i = 0; i < count && used < sizeof names; i++) {
        const smp_warp_kernel *k = smp_warp_kernel_at(module, i);
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", smp_warp_kernel_name(k));
    }
    if (!count) {
        smp_fail(err, SMP_E_USAGE, "there is no kernel in it");
        smp_hint(err, "a template is compiled for the arguments that --only names: --only 'f<float, 32>'");
    } else if (!name)
        smp_fail(err, SMP_E_USAGE, "--only is missing: which kernel shall run?");
    else if (many)
        smp_fail(err, SMP_E_USAGE, "several kernels can be meant by '%s'", name);
    else
        smp_fail(err, SMP_E_USAGE, "there is no kernel '%s' in it", name);
    if (count)
        smp_hint(err, "--only NAME, with --grid, --block and --args; it has: %.220s", names);
    return smp_at(err, "%s", file);
}

/* ------------------------------------------------------------------------------------------------ what it leaves */

/* A copy of the arrays that parameters point to. */
static smp_code keep_arrays(const char *args, const smp_warp_kernel *kernel, const smp_warp_memory *memory,
                            const unsigned char *bytes, smp_kernel_left *left, smp_error *err)
{
    const smp_warp_param *params;
    const size_t count = smp_warp_kernel_params(kernel, &params);
    for (size_t i = 0; i < count; i++) {
        uint64_t address, start, size;
        if (params[i].size != sizeof address)
            continue;
        memcpy(&address, bytes + params[i].offset, sizeof address);
        if (!smp_warp_buffer_of(memory, address, &start, &size) || start != address)
            continue;
        SMP_NEED(smp_grow(&left->arrays, &left->capacity, left->count + 1, sizeof *left->arrays), "arrays", size, err);
        smp_kernel_array *a = &left->arrays[left->count];
        *a = (smp_kernel_array){.size = size, .bytes = smp_alloc((size_t)size + 1)};
        SMP_NEED(a->bytes, "an array", size, err);
        memcpy(a->bytes, (const void *)(uintptr_t)start, (size_t)size);
        smp_kernel_array_word(args, i, a);
        left->count++;
    }
    return SMP_OK;
}

void smp_kernel_left_free(smp_kernel_left *left)
{
    for (size_t i = 0; i < left->count; i++)
        smp_free(left->arrays[i].bytes);
    smp_free(left->arrays);
    *left = (smp_kernel_left){.count = 0};
}

/* Floats that differ so little, of the larger one, differ by the order of their sums. */
static const double rounding = 1e-5;

/* The array of that name: kernels may take the same ones in other orders. */
static const smp_kernel_array *same_array(const smp_kernel_left *left, size_t index, const char *name)
{
    for (size_t i = 0; i < left->count && strcmp(left->arrays[index].name, name) != 0; i++)
        if (!strcmp(left->arrays[i].name, name))
            return &left->arrays[i];
    return &left->arrays[index];
}

smp_lab_same smp_kernel_left_compare(const smp_kernel_left *first, const smp_kernel_left *other, char *text,
                                     size_t size)
{
    uint64_t differ = 0, elements = 0;
    double most = 0;
    bool rounded = true;
    char place[160] = "", a[40], b[40];
    text[0] = 0;
    if (first->count != other->count) {
        snprintf(text, size, "its parameters are others");
        return SMP_LAB_DIFFERENT;
    }
    for (size_t i = 0; i < first->count; i++) {
        const smp_kernel_array *x = &first->arrays[i], *y = same_array(other, i, x->name);
        const uint64_t width = x->element ? x->element : 1;
        for (uint64_t at = 0; at + width <= x->size && at + width <= y->size; at += width) {
            elements++;
            if (!memcmp(x->bytes + at, y->bytes + at, (size_t)width))
                continue;
            const double p = smp_kernel_element(x, at / width, a, sizeof a),
                         q = smp_kernel_element(y, at / width, b, sizeof b);
            const double apart = fabs(p - q), larger = fmax(fabs(p), fabs(q));
            if (!differ++)
                snprintf(place, sizeof place, "%s[%llu] is %s, not %s", x->name, (unsigned long long)(at / width), b,
                         a);
            rounded = rounded && x->is_float && apart <= rounding * larger;
            most = fmax(most, larger > 0 ? apart / larger : 0);
        }
    }
    if (!differ)
        return SMP_LAB_SAME;
    if (rounded)
        snprintf(text, size, "at most %.2g of a value apart", most);
    else
        snprintf(text, size, "%s; %llu of %llu elements differ", place, (unsigned long long)differ,
                 (unsigned long long)elements);
    return rounded ? SMP_LAB_ROUNDED : SMP_LAB_DIFFERENT;
}

/* ------------------------------------------------------------------------------------------------ running */

/* State of one run: codes, memory, and the launch over them. */
typedef struct one_run {
    const smp_kernel_settings *settings;
    const smp_kernel_job *job;
    char *text, *args;
    char hidden[200]; /* what was added to args */
    smp_warp_memory *memory;
    smp_warp_module *module, *code_module; /* of the PTX, of the SASS */
    smp_warp_launch launch;
    void *params;
    uint64_t *blocks;
} one_run;

static smp_code load_kernel(one_run *r, smp_error *err)
{
    const smp_kernel_job *job = r->job;
    size_t size;
    smp_code code = job->ptx ? smp_kernel_read(job->ptx, &r->text, &size, err) : SMP_OK;
    code = code ? code : smp_warp_memory_open(&r->memory, err);
    if (!code && job->ptx)
        code = smp_warp_load_ptx(job->ptx, r->text, size, r->memory, &r->module, err);
    if (!code && job->ptx)
        code = find_kernel(r->module, job->file, job->name, &r->launch.kernel, err);
    if (!code && job->sass)
        code = load_sass(job->sass, r->module, r->memory, &r->code_module, err);
    if (!code && !job->ptx)
        code = find_kernel(r->code_module, job->file, job->name, &r->launch.kernel, err);
    if (!code && smp_warp_kernel_problem(r->launch.kernel) && !r->code_module) {
        *err = *smp_warp_kernel_problem(r->launch.kernel);
        code = err->code;
    }
    return code;
}

static smp_code read_launch(one_run *r, smp_error *err)
{
    const smp_kernel_settings *settings = r->settings;
    smp_warp_launch *launch = &r->launch;
    smp_code code = read_shape("grid", settings->grid, r->job->number, launch->grid, err);
    code = code ? code : read_shape("block", settings->block, r->job->number, launch->block, err);
    if (!code && settings->shared > SMP_WARP_MAX_SHARED) {
        smp_fail(err, SMP_E_USAGE, "--shared is more than a block can have");
        code = smp_hint(err, "at most %d bytes", SMP_WARP_MAX_SHARED);
    }
    code = code ? code : smp_kernel_order_args(r->job->file, launch->kernel, settings->args, &r->args, err);
    code = code ? code : smp_kernel_hidden_args(r->text, launch->kernel, &r->args, r->hidden, err);
    code = code ? code : smp_kernel_arguments(launch->kernel, r->args, r->memory, &r->params, err);
    if (!code)
        code = smp_warp_choose_blocks(settings->blocks, (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2],
                                      &r->blocks, &launch->block_count, err);
    return code;
}

static smp_code run_launch(one_run *r, smp_warp_result *result, smp_kernel_left *left, smp_error *err)
{
    const smp_kernel_settings *settings = r->settings;
    smp_warp_launch *launch = &r->launch;
    bool many;
    launch->dynamic_shared = (uint32_t)settings->shared;
    launch->registers = registers_of(settings, r->job, launch->kernel);
    launch->params = r->params;
    launch->memory = r->memory;
    launch->blocks = r->blocks;
    launch->print = settings->again ? NULL : settings->json || settings->csv ? stderr : stdout;
    launch->each_instruction = settings->each;
    launch->listing = settings->each || settings->html || settings->serve;
    launch->seconds = settings->time_limit;
    launch->watch = true;
    launch->threads = smp_machine_processors();
    launch->counts_alone = settings->no_findings;
    const smp_warp_kernel *sass =
        r->code_module ? smp_warp_kernel_find(r->code_module, smp_warp_kernel_symbol(launch->kernel), &many) : NULL;
    smp_code code = smp_time_run(settings->time_wanted, (uint32_t)r->job->number, launch,
                                 r->module ? sass : launch->kernel, result, err);
    if (!code && !r->module)
        smp_warp_note(result, "mistakes are not looked for: %s has no PTX", r->job->file);
    if (r->hidden[0])
        smp_warp_note(result, "%s", r->hidden);
    return code || !left ? code : keep_arrays(r->args, launch->kernel, r->memory, r->params, left, err);
}

/* A kernel that stops is told with what was counted: it is no failure of the command alone. */
smp_code smp_kernel_run(const smp_kernel_settings *settings, const smp_kernel_job *job, smp_warp_result *result,
                        smp_kernel_left *left, smp_error *err)
{
    one_run r = {.settings = settings, .job = job};
    smp_code code = load_kernel(&r, err);
    code = code ? code : read_launch(&r, err);
    code = code ? code : run_launch(&r, result, left, err);
    smp_warp_module_free(r.code_module);
    smp_warp_module_free(r.module);
    smp_warp_memory_close(r.memory);
    smp_free_all(r.blocks, r.params, r.args, r.text);
    return code;
}
