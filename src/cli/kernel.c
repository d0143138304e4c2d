/* smempipe kernel: what a CUDA kernel costs, line by line, and what is wrong with it, without a GPU. */
#include "cli/kernel.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "report/lab.h"

static const smp_option options[] = {
    {"only", 0, SMP_O_STRING, offsetof(smp_kernel_settings, only), .argument = "NAME",
     .help = "run this kernel alone, by its name in the source, with --grid, --block and --args"},
    {"grid", 0, SMP_O_STRING, offsetof(smp_kernel_settings, grid), .argument = "XxYxZ",
     .help = "blocks of the launch: 32x32"},
    {"block", 0, SMP_O_STRING, offsetof(smp_kernel_settings, block), .argument = "XxYxZ",
     .help = "threads of a block: 32x8"},
    {"args", 0, SMP_O_STRING, offsetof(smp_kernel_settings, args), .argument = "LIST",
     .help = "the kernel's parameters in their order: 'out=f32[1024x1024] in=f32[1024x1024]=random w=1024'; arrays "
             "hold a ramp unless a number or 'random' follows"},
    {"shared", 0, SMP_O_SIZE, offsetof(smp_kernel_settings, shared), .argument = "BYTES",
     .help = "dynamic shared memory of the launch"},
    {"blocks", 0, SMP_O_STRING, offsetof(smp_kernel_settings, blocks), .fallback = "all", .argument = "WHICH",
     .help = "blocks that run: all; first,middle,last; or how many, spread over the grid"},
    {"fail-on", 0, SMP_O_STRING, offsetof(smp_kernel_settings, fail_on), .argument = "LIST",
     .help = "exit status 7 where one of these was found: races, conflicts, uncoalesced, uninitialised, bounds, "
             "barriers"},
    {"define", 'D', SMP_O_LIST, offsetof(smp_kernel_settings, defines), .argument = "NAME=VALUE",
     .help = "a macro for the compiler"},
    {"include", 'I', SMP_O_LIST, offsetof(smp_kernel_settings, includes), .argument = "FOLDER",
     .help = "where the compiler looks for headers"},
    {"std", 0, SMP_O_STRING, offsetof(smp_kernel_settings, std), .fallback = "c++17", .argument = "STANDARD",
     .help = "the C++ of a .cu file"},
    {"arch", 0, SMP_O_STRING, offsetof(smp_kernel_settings, arch), .fallback = "sm_90", .argument = "ARCH",
     .help = "the GPU to compile for: sm_80, sm_90, ..."},
    {"code", 0, SMP_O_STRING, offsetof(smp_kernel_settings, code), .argument = "CODE",
     .help = "what is counted: sass, as ptxas makes it for --arch, or ptx; by default sass where nvdisasm is"},
    {"each", 0, SMP_O_FLAG, offsetof(smp_kernel_settings, each), .help = "a row an instruction, not a source line"},
    {"json", 0, SMP_O_FLAG, offsetof(smp_kernel_settings, json), .help = "machine-readable"},
    {"csv", 0, SMP_O_FLAG, offsetof(smp_kernel_settings, csv), .help = "the rows as CSV"},
    {0},
};

static const smp_argument_row arguments[] = {
    {"FILE", offsetof(smp_kernel_settings, file),
     .help = "a CUDA source (.cu), PTX of any compiler (.ptx), or a .cubin"},
    {"ARGUMENT", offsetof(smp_kernel_settings, program_args), .optional = true, .many = true,
     .help = "what the program of a .cu file is given, after --"},
    {0},
};

/* ------------------------------------------------------------------------------------------------ words */

static smp_code read_shape(const char *option, const char *text, uint32_t shape[3], smp_error *err)
{
    shape[0] = shape[1] = shape[2] = 1;
    if (!text) {
        smp_fail(err, SMP_E_USAGE, "--only needs --%s", option);
        return smp_hint(err,
                        !strcmp(option, "grid") ? "how many blocks: --grid 32x32" : "threads of a block: --block 32x8");
    }
    const char *at = text;
    for (int i = 0; i < 3; i++) {
        char *end = NULL;
        errno = 0;
        const unsigned long value = isdigit((unsigned char)*at) ? strtoul(at, &end, 10) : 0;
        if (!value || errno || value > INT32_MAX)
            break;
        shape[i] = (uint32_t)value;
        if (!*end)
            return SMP_OK;
        if ((*end != 'x' && *end != ',') || i == 2)
            break;
        at = end + 1;
    }
    smp_fail(err, SMP_E_USAGE, "--%s %s is no shape", option, text);
    return smp_hint(err, "write 128, 32x8 or 8x8x4");
}

/* Which of --fail-on's words are given: bit n for the n-th. */
static const char *const failures[] = {"races",  "conflicts", "uncoalesced", "uninitialised",
                                       "bounds", "barriers",  NULL};
enum { RACES, CONFLICTS, UNCOALESCED, UNINITIALISED, BOUNDS, BARRIERS };

static smp_code read_failures(const char *text, unsigned *wanted, smp_error *err)
{
    *wanted = 0;
    for (const char *at = text; at && *at;) {
        const size_t size = strcspn(at, ",");
        int found = -1;
        for (int i = 0; failures[i]; i++)
            if (strlen(failures[i]) == size && !memcmp(failures[i], at, size))
                found = i;
        if (found < 0) {
            smp_fail(err, SMP_E_USAGE, "--fail-on: '%.*s' is nothing that is looked for", (int)size, at);
            return smp_hint(err, "races, conflicts, uncoalesced, uninitialised, bounds, barriers");
        }
        *wanted |= 1u << found;
        at += size + (at[size] == ',');
    }
    return SMP_OK;
}

static unsigned found_in(const smp_warp_result *r)
{
    static const uint8_t of_fault[] = {RACES, UNINITIALISED, BOUNDS, BOUNDS, BARRIERS};
    unsigned found = 0;
    for (size_t i = 0; i < r->finding_count; i++)
        found |= 1u << of_fault[r->findings[i].fault];
    for (size_t i = 0; i < r->row_count; i++) {
        found |= r->rows[i].conflicts ? 1u << CONFLICTS : 0;
        found |= r->rows[i].sectors > r->rows[i].sectors_ideal ? 1u << UNCOALESCED : 0;
    }
    return found;
}

/* ------------------------------------------------------------------------------------------------ one kernel */

static smp_code read_text(const char *path, char **text, size_t *size, smp_error *err)
{
    enum { MOST = 1 << 30, STEP = 1 << 16 };
    size_t capacity = 0, got;
    *text = NULL;
    *size = 0;
    FILE *file = fopen(path, "rb");
    if (!file) {
        smp_fail(err, SMP_E_READ, "cannot open it: %s", strerror(errno));
        return smp_at(err, "%s", path);
    }
    do {
        if (*size > MOST || !smp_grow(text, &capacity, *size + STEP + 1, 1)) {
            fclose(file);
            return smp_fail_memory(err, path, *size + STEP);
        }
        got = fread(*text + *size, 1, STEP, file);
        *size += got;
    } while (got);
    (*text)[*size] = 0;
    const bool failed = ferror(file);
    fclose(file);
    if (failed) {
        smp_fail(err, SMP_E_READ, "cannot read it");
        return smp_at(err, "%s", path);
    }
    return SMP_OK;
}

/* nvdisasm's text at a path, and the cubin beside it. */
static smp_code load_sass(const char *path, const smp_warp_module *ptx, smp_warp_memory *memory, smp_warp_module **out,
                          smp_error *err)
{
    char *text = NULL, *cubin = NULL;
    size_t size, cubin_size;
    char *beside = smp_asprintf("%.*s.cubin", (int)(strrchr(path, '.') - path), path);
    smp_code code = beside ? read_text(path, &text, &size, err) : smp_fail_memory(err, path, 0);
    if (!code)
        code = read_text(beside, &cubin, &cubin_size, err);
    if (!code)
        code = smp_warp_load_sass(path, text, size, cubin, cubin_size, ptx, memory, out, err);
    smp_free(text);
    smp_free(cubin);
    smp_free(beside);
    return code;
}

static smp_code find_kernel(const smp_warp_module *module, const char *file, const char *name,
                            const smp_warp_kernel **out, smp_error *err)
{
    bool many;
    char names[300] = "";
    size_t used = 0;
    const size_t count = smp_warp_kernel_count(module);
    *out = name ? smp_warp_kernel_find(module, name, &many) : NULL;
    if (*out)
        return SMP_OK;
    many = name && many;
    for (size_t i = 0; i < count && used < sizeof names; i++) {
        const smp_warp_kernel *k = smp_warp_kernel_at(module, i);
        if (many && strcmp(smp_warp_kernel_name(k), name) != 0)
            continue;
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
                                 many ? smp_warp_kernel_symbol(k) : smp_warp_kernel_name(k));
    }
    if (!count)
        smp_fail(err, SMP_E_USAGE, "there is no kernel in it");
    else if (!name)
        smp_fail(err, SMP_E_USAGE, "--only is missing: which kernel shall run?");
    else if (many)
        smp_fail(err, SMP_E_USAGE, "several kernels are called '%s'", name);
    else
        smp_fail(err, SMP_E_USAGE, "there is no kernel '%s' in it", name);
    if (count)
        smp_hint(err, "--only %s, with --grid, --block and --args; it has: %.220s", name && many ? "SYMBOL" : "NAME",
                 names);
    return smp_at(err, "%s", file);
}

/* A kernel that stops is told with what was counted: it is no failure of the command alone. path: PTX; null: SASS
 * alone. sass: null, or what load_sass takes. */
static smp_code run_one(const smp_kernel_settings *settings, const char *path, const char *sass,
                        smp_warp_result *result, smp_error *err)
{
    char *text = NULL;
    size_t size;
    smp_warp_memory *memory = NULL;
    smp_warp_module *module = NULL, *code_module = NULL;
    bool many;
    smp_warp_launch launch = {0};
    void *params = NULL;
    uint64_t *blocks = NULL;
    smp_code code = path ? read_text(path, &text, &size, err) : SMP_OK;
    if (!code)
        code = smp_warp_memory_open(&memory, err);
    if (!code && path)
        code = smp_warp_load_ptx(path, text, size, memory, &module, err);
    if (!code && sass)
        code = load_sass(sass, module, memory, &code_module, err);
    if (!code)
        code = find_kernel(module ? module : code_module, settings->file, settings->only, &launch.kernel, err);
    if (!code && smp_warp_kernel_problem(launch.kernel)) {
        *err = *smp_warp_kernel_problem(launch.kernel);
        code = err->code;
    }
    if (!code)
        code = read_shape("grid", settings->grid, launch.grid, err);
    if (!code)
        code = read_shape("block", settings->block, launch.block, err);
    if (!code && settings->shared > SMP_WARP_MAX_SHARED) {
        smp_fail(err, SMP_E_USAGE, "--shared is more than a block can have");
        code = smp_hint(err, "at most %d bytes", SMP_WARP_MAX_SHARED);
    }
    if (!code)
        code = smp_kernel_arguments(launch.kernel, settings->args, memory, &params, err);
    if (!code)
        code = smp_warp_choose_blocks(settings->blocks, (uint64_t)launch.grid[0] * launch.grid[1] * launch.grid[2],
                                      &blocks, &launch.block_count, err);
    if (!code) {
        launch.dynamic_shared = (uint32_t)settings->shared;
        launch.params = params;
        launch.memory = memory;
        launch.blocks = blocks;
        launch.print = settings->json || settings->csv ? stderr : stdout;
        launch.each_instruction = settings->each;
        code = module && code_module
                   ? smp_warp_run_both(&launch,
                                       smp_warp_kernel_find(code_module, smp_warp_kernel_symbol(launch.kernel), &many),
                                       result, err)
                   : smp_warp_run(&launch, result, err);
    }
    smp_warp_module_free(code_module);
    smp_warp_module_free(module);
    smp_warp_memory_close(memory);
    smp_free(blocks);
    smp_free(params);
    smp_free(text);
    return code;
}

/* ------------------------------------------------------------------------------------------------ the command */

static void say_what(const smp_kernel_settings *settings, const char *sass, const char *why)
{
    if (settings->common.quiet)
        return;
    if (sass)
        printf("counts of the SASS that ptxas makes of %s for sm_%s; mistakes are found in its PTX\n", settings->file,
               smp_kernel_arch(settings->arch));
    else
        printf("counts of the PTX of %s, since %s: ptxas may join accesses into wider ones, or split them\n",
               settings->file, why);
}

static void show(const smp_kernel_settings *settings, const smp_warp_result *results, size_t count, const char *sass,
                 const char *why)
{
    smp_lab_sources sources = {0};
    if (settings->json)
        smp_lab_json(stdout, results, count, sass ? "sass" : "ptx", &sources);
    else if (settings->csv)
        smp_lab_csv(stdout, results, count, &sources);
    else {
        say_what(settings, sass, why);
        for (size_t i = 0; i < count; i++) {
            putchar('\n');
            smp_lab_table(stdout, &results[i], &sources, smp_cli_color(&settings->common, STDOUT_FILENO));
        }
    }
    smp_lab_sources_free(&sources);
}

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), size = strlen(end);
    return length >= size && !strcmp(text + length - size, end);
}

static smp_code kernel(void *given, smp_error *err)
{
    smp_kernel_settings *settings = given;
    smp_warp_result one = {0}, *results = NULL;
    size_t count = 0;
    unsigned wanted, found = 0;
    char *ptx = NULL, *program = NULL, *sass = NULL, why[SMP_KERNEL_WHY] = "";
    const bool is_cuda = ends_with(settings->file, ".cu") || ends_with(settings->file, ".cuh");
    const bool is_ptx = ends_with(settings->file, ".ptx"), is_cubin = ends_with(settings->file, ".cubin");
    smp_code code = read_failures(settings->fail_on, &wanted, err);
    if (!code && settings->code && strcmp(settings->code, "sass") != 0 && strcmp(settings->code, "ptx") != 0) {
        smp_fail(err, SMP_E_USAGE, "--code %s is unknown", settings->code);
        code = smp_hint(err, "sass or ptx");
    }
    if (!code && !is_cuda && !is_ptx && !is_cubin) {
        smp_fail(err, SMP_E_USAGE, "'%s' is no .cu, no .ptx and no .cubin file", settings->file);
        code = smp_hint(err, "nvcc -ptx -lineinfo makes PTX of a CUDA source");
    }
    if (!code && settings->program_args.count && (!is_cuda || settings->only)) {
        smp_fail(err, SMP_E_USAGE, "'%s' is one argument too many: no program runs", settings->program_args.items[0]);
        code = smp_hint(err, "the kernel's parameters go into --args");
    }
    if (!code && is_cuda)
        code = smp_kernel_compile(settings, &ptx, settings->only ? NULL : &program, err);
    if (!code && (!is_ptx || settings->only))
        code = smp_kernel_sass(settings, is_cuda ? ptx : settings->file, &sass, why, err);
    if (!code && (!is_cuda || settings->only)) {
        code = run_one(settings, is_cubin ? NULL : is_ptx ? settings->file : ptx, sass, &one, err);
        results = &one;
        count = one.kernel[0] != 0;
    } else if (!code)
        code = smp_kernel_program(settings, ptx, sass, program, &results, &count, err);
    if (count && (!settings->common.quiet || settings->json || settings->csv))
        show(settings, results, count, sass, why);
    for (size_t i = 0; i < count; i++) {
        found |= found_in(&results[i]);
        if (!code && results[i].stopped) {
            *err = results[i].error;
            code = SMP_E_PROCESS;
        }
        smp_warp_result_free(&results[i]);
    }
    if (results != &one)
        smp_free(results);
    smp_free(ptx);
    smp_free(program);
    smp_free(sass);
    if (code && !err->code)
        smp_fail(err, code, "a kernel stopped");
    return !code && found & wanted ? SMP_E_DIFFERENT : code;
}

const smp_command smp_command_kernel = {
    .name = "kernel",
    .help = "run a CUDA kernel without a GPU: bank conflicts, sectors and races of each line",
    .about = "Executes CUDA kernels a warp at a time on the CPU and counts, for each source line, wavefronts and bank "
             "conflicts in shared memory and sectors in global memory. It finds races, reads of what nobody wrote, "
             "accesses outside buffers and barriers that not all threads reach.\n"
             "\n"
             "A .cu file is compiled by nvcc, and its own main runs: each launch is counted. --only runs one kernel "
             "instead, and no code of the host. A .ptx file may come from any compiler. The program of a .cu file "
             "runs with your rights: run only what you trust.",
    .settings_size = sizeof(smp_kernel_settings),
    .without = SMP_O_DEVICE | SMP_O_THREADS | SMP_O_INPUTS | SMP_O_OUTPUTS,
    .groups = {{"options", options}, SMP_COMMON_GROUP},
    .arguments = arguments,
    .examples = {{"smempipe kernel transpose.cu", "the program's own main, a table a kernel"},
                 {"smempipe kernel transpose.cu -- 1024", "with its arguments"},
                 {"smempipe kernel a.cu --only scale --grid 8 --block 256 --args 'x=f32[2048] n=2048'",
                  "one kernel, without main"},
                 {"smempipe kernel a.cu --fail-on races,conflicts,bounds", "a test: exit status 7 where one is found"},
                 {"smempipe kernel a.ptx --only f --grid 1024 --block 128 --args 'x=f32[4096]' --blocks first,last",
                  "PTX, and two blocks of its grid"}},
    .run = kernel,
};
