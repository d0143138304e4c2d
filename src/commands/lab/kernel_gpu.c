/* smempipe kernel --device cuda: the program runs on a GPU too, with libsmp_gpucounts in front of CUDA's runtime
 * library, and each instruction must have done to memory what executing its SASS here told. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os/tool.h"
#include "base/paths.h"
#include "commands/lab/kernel.h"
#include "lab/counters/gpu_counts.h"

enum { COUNTS = 5, INST_BYTES = 16, LINE = 8192 };
static const char *const count_names[COUNTS] = {"executions", "wavefronts", "ideal wavefronts", "sectors",
                                                "ideal sectors"};
static const char by_library[] = "on the GPU: ";

/* One instruction of a kernel: what the model told and what the GPU counted. */
typedef struct gpu_row {
    char *kernel;
    uint32_t place;
    uint64_t model[COUNTS], gpu[COUNTS];
    bool told, repeats, far; /* the model has it */
    const smp_warp_result *result;
    const smp_warp_row *row;
} gpu_row;

typedef struct gpu_rows {
    gpu_row *items;
    size_t count, capacity;
    char **graphs; /* symbols of kernels that are in graphs */
    size_t graph_count, graph_capacity;
    bool without_graphs; /* these were not counted there */
} gpu_rows;

/* Whether the GPU's table means this kernel: by its symbol, or its name with parameters. */
static bool same_name(const char *told, const char *symbol)
{
    char full[4096];
    if (!strcmp(told, symbol))
        return true;
    if (!smp_warp_full_name(symbol, true, full, sizeof full))
        return false;
    const char *a = told, *b = full;
    for (;; a++, b++) {
        a += strspn(a, " ");
        b += strspn(b, " ");
        if (*a != *b)
            return false;
        if (!*a)
            return true;
    }
}

static gpu_row *row_of(gpu_rows *rows, const char *symbol, uint32_t place, smp_error *err)
{
    for (size_t i = rows->count; i--;)
        if (rows->items[i].place == place && !strcmp(rows->items[i].kernel, symbol))
            return &rows->items[i];
    if (!smp_grow(&rows->items, &rows->capacity, rows->count + 1, sizeof *rows->items) ||
        !(rows->items[rows->count].kernel = smp_strdup(symbol))) {
        smp_fail_memory(err, "counted instructions", sizeof *rows->items);
        return NULL;
    }
    gpu_row *row = &rows->items[rows->count++];
    *row = (gpu_row){.kernel = row->kernel, .place = place};
    return row;
}

static bool is_in_graph(const gpu_rows *rows, const char *symbol)
{
    for (size_t i = 0; i < rows->graph_count && rows->without_graphs; i++)
        if (!strcmp(rows->graphs[i], symbol))
            return true;
    return false;
}

/* Whether all launches of a kernel were counted, here in SASS, over all blocks. */
static bool is_counted(const smp_warp_result *results, size_t count, const gpu_rows *rows, const char *symbol)
{
    bool had = false;
    if (is_in_graph(rows, symbol))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(results[i].symbol, symbol) != 0 || !results[i].blocks_run)
            continue;
        if (strcmp(results[i].code, "sass") != 0 || results[i].blocks_run < results[i].blocks * results[i].launches)
            return false;
        had = true;
    }
    return had;
}

/* An instruction that reaches shared and global memory has a row of each. */
static smp_code add_model(const smp_warp_result *r, gpu_rows *rows, smp_error *err)
{
    uint64_t had = 0;
    for (size_t i = 0; i < r->row_count; i++) {
        const smp_warp_row *w = &r->rows[i];
        if (w->space == SMP_WARP_LOCAL) /* no metric of these tells it */
            continue;
        gpu_row *to = row_of(rows, r->symbol, w->place, err);
        if (!to)
            return err->code;
        const uint64_t executed = w->instructions + w->skipped;
        had = i && r->rows[i - 1].place == w->place ? had : 0;
        to->model[0] += executed > had ? executed - had : 0;
        had = executed > had ? executed : had;
        to->model[1] += w->wavefronts;
        to->model[2] += w->packed;
        to->model[3] += w->sectors;
        to->model[4] += w->sectors_ideal;
        to->told = true;
        to->repeats = to->repeats || w->repeats;
        to->far = to->far || w->far;
        to->result = r;
        to->row = w;
    }
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ the GPU's counts */

static size_t cut(char *line, char **parts, size_t most)
{
    size_t count = 0;
    line[strcspn(line, "\n")] = 0;
    for (char *at = line; at && count < most;) {
        parts[count++] = at;
        at = strchr(at, '\t');
        if (at)
            *at++ = 0;
    }
    return count;
}

static smp_code add_graph(gpu_rows *rows, const char *symbol, smp_error *err)
{
    for (size_t i = 0; i < rows->graph_count; i++)
        if (!strcmp(rows->graphs[i], symbol)) /* the file is read once for its names, too */
            return SMP_OK;
    char *own = smp_strdup(symbol);
    if (!own || !smp_grow(&rows->graphs, &rows->graph_capacity, rows->graph_count + 1, sizeof *rows->graphs)) {
        smp_free(own);
        return smp_fail_memory(err, "kernels of graphs", sizeof *rows->graphs);
    }
    rows->graphs[rows->graph_count++] = own;
    return SMP_OK;
}

static smp_code read_counts(FILE *from, const smp_warp_result *results, size_t count, gpu_rows *rows, smp_error *err)
{
    char line[LINE], *p[8];
    bool ended = false;
    while (fgets(line, sizeof line, from)) {
        const size_t parts = cut(line, p, 8);
        if (!strcmp(p[0], SMP_GPU_ERROR)) {
            smp_fail(err, SMP_E_DEVICE, "%s%s", by_library, parts > 1 ? p[1] : "");
            return parts > 2 && p[2][0] ? smp_hint(err, "%s", p[2]) : err->code;
        }
        ended = ended || !strcmp(p[0], SMP_GPU_END);
        if (!strcmp(p[0], SMP_GPU_GRAPH) && parts > 1 && add_graph(rows, p[1], err))
            return err->code;
        if (strcmp(p[0], SMP_GPU_ROW) != 0 || parts < 3 + COUNTS)
            continue;
        const char *symbol = NULL;
        for (size_t i = 0; i < count && !symbol; i++)
            if (same_name(p[1], results[i].symbol))
                symbol = results[i].symbol;
        if (!symbol || !is_counted(results, count, rows, symbol))
            continue;
        gpu_row *to = row_of(rows, symbol, (uint32_t)strtoul(p[2], NULL, 10) / INST_BYTES, err);
        if (!to)
            return err->code;
        for (size_t k = 0; k < COUNTS; k++)
            to->gpu[k] += strtoull(p[3 + k], NULL, 10);
    }
    if (ended)
        return SMP_OK;
    smp_fail(err, SMP_E_DEVICE, "on the GPU the program ended before its counts were written");
    return smp_hint(err, "it must launch a kernel and end by exit() or from main");
}

/* Runs the program on the GPU, with its counts to a file, or without counters where `counts` is null. */
static smp_code run_on_gpu(const smp_kernel_settings *settings, const char *program, const char *counts, bool graphs,
                           FILE *out, int *status, smp_error *err)
{
    char **argv = smp_alloc_array(settings->program_args.count + 2, sizeof *argv);
    char *folder = smp_kernel_runtime_folder(), *own = strchr(program, '/') ? NULL : smp_asprintf("./%s", program);
    char *library = folder ? smp_asprintf("%s/libsmp_gpucounts.so", folder) : NULL;
    const char *preload = getenv("LD_PRELOAD");
    char *environment[5] = {
        smp_asprintf(SMP_GPU_COUNTS "=%s", counts ? counts : ""), smp_asprintf("CUDA_MODULE_LOADING=EAGER"),
        smp_asprintf(SMP_GPU_GRAPHS "=%s", graphs ? "on" : "off"),
        smp_asprintf("LD_PRELOAD=%s%s%s", library ? library : "", preload ? ":" : "", preload ? preload : ""), NULL};
    smp_code code = SMP_OK;
    if (!library || access(library, R_OK)) {
        smp_fail(err, SMP_E_DEVICE, "--device cuda needs libsmp_gpucounts.so beside libsmp_cudart.so");
        code = smp_hint(err, "a build where CUPTI's headers are (CUDA toolkit 12.6 or later) makes it");
    } else if (!argv || !environment[0] || !environment[1] || !environment[2] || !environment[3])
        code = smp_fail_memory(err, "a command", LINE);
    if (!code) {
        argv[0] = own ? own : (char *)(uintptr_t)program;
        for (size_t i = 0; i < settings->program_args.count; i++)
            argv[1 + i] = (char *)(uintptr_t)settings->program_args.items[i];
        code = smp_tool_run_own(argv, counts ? environment : NULL, fileno(out), true, status, err);
    }
    for (size_t i = 0; i < 4; i++)
        smp_free(environment[i]);
    smp_free_all(library, own, folder, argv);
    return code;
}

/* The end of what was printed, in one line. */
static void last_lines(FILE *printed, char *text, size_t size)
{
    fseek(printed, 0, SEEK_END);
    const long all = ftell(printed), from = all < (long)size ? 0 : all - (long)size + 1;
    fseek(printed, from, SEEK_SET);
    size_t count = fread(text, 1, size - 1, printed);
    while (count && (text[count - 1] == '\n' || text[count - 1] == ' '))
        count--;
    text[count] = 0;
    for (char *at = text; *at; at++)
        *at = *at == '\n' ? ';' : *at;
}

/* Adds to the error of a program that failed under the counters what it printed, and whether it fails without them. */
static smp_code explain(const smp_kernel_settings *settings, const char *program, FILE *printed, int counted,
                        smp_error *err)
{
    char text[140];
    int alone = 0;
    FILE *out = tmpfile();
    smp_error ignored = {0};
    last_lines(printed, text, sizeof text);
    const bool ran = out && !run_on_gpu(settings, program, NULL, true, out, &alone, &ignored);
    if (out)
        fclose(out);
    if (!ran)
        return smp_hint(err, "it printed \"%s\"", text);
    return smp_hint(err, "it printed \"%s\"; without counters it ends with %s %d%s", text,
                    alone < 0 ? "signal" : "status", abs(alone), alone == counted ? " too" : "");
}

/* ------------------------------------------------------------------------------------------------ comparing */

/* The text of an instruction that the model has no row of, from nvdisasm's. False: it is not there. */
static bool text_of(const smp_kernel_modules *modules, const gpu_row *row, char *text, size_t size)
{
    char section[600], place[24], line[LINE];
    snprintf(section, sizeof section, ".text.%.500s,", row->kernel);
    snprintf(place, sizeof place, "/*%04x*/", row->place * INST_BYTES);
    bool found = false;
    for (size_t i = 0; i < modules->count && !found; i++) {
        FILE *from = modules->items[i].sass ? fopen(modules->items[i].sass, "r") : NULL;
        bool inside = false;
        while (from && !found && fgets(line, sizeof line, from)) {
            if (strstr(line, ".section"))
                inside = strstr(line, section) != NULL;
            const char *at = inside ? strstr(line, place) : NULL;
            if (!at)
                continue;
            at += strlen(place);
            at += strspn(at, " \t");
            snprintf(text, size, "%.*s", (int)strcspn(at, ";\n"), at);
            text[strcspn(text, "\n")] = 0;
            found = true;
        }
        if (from)
            fclose(from);
    }
    return found;
}

/* Operations whose cost was not measured, and is not told: mbarriers, copies past the warps, matrices of four warps. */
static bool is_untold(const char *text)
{
    static const char *const names[] = {"SYNCS", "ARRIVES", "UBLK", "UTMA", "HGMMA", "WARPGROUP"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strstr(text, names[i]))
            return true;
    return false;
}

static void say_difference(const smp_kernel_modules *modules, const gpu_row *row, smp_lab_gpu *out)
{
    char text[120] = "", where[300];
    size_t k = 0;
    while (row->model[k] == row->gpu[k])
        k++;
    if (row->row) {
        snprintf(text, sizeof text, "%s", row->row->instruction);
        const bool known = row->row->line && row->row->file < row->result->file_count;
        snprintf(where, sizeof where, "%s:%u", known ? smp_base_name(row->result->files[row->row->file]) : "line",
                 row->row->line);
    } else {
        snprintf(where, sizeof where, "+0x%x", row->place * INST_BYTES);
        (void)text_of(modules, row, text, sizeof text);
    }
    const size_t used = strlen(out->differences);
    snprintf(out->differences + used, sizeof out->differences - used, "%s, %s, %s: %llu %s told, %llu on the GPU\n",
             row->kernel, where, text, (unsigned long long)row->model[k], count_names[k],
             (unsigned long long)row->gpu[k]);
}

static void compare(const smp_kernel_modules *modules, const gpu_rows *rows, smp_lab_gpu *out)
{
    char text[120];
    for (size_t i = 0; i < rows->count; i++) {
        const gpu_row *row = &rows->items[i];
        uint64_t any = row->told;
        for (size_t k = 1; k < COUNTS; k++)
            any |= row->gpu[k];
        if (!any)
            continue;
        if (!memcmp(row->model, row->gpu, sizeof row->model))
            out->same++;
        else if (row->repeats)
            out->repeated++;
        else if (row->far || (text_of(modules, row, text, sizeof text) && is_untold(text)))
            out->untold++;
        else {
            out->differ++;
            say_difference(modules, row, out);
        }
    }
}

/* Runs the program with its counts in a file. Of a failure that the library knows more than a status tells. */
static smp_code count_on_gpu(const smp_kernel_settings *settings, const char *program, const char *path, gpu_rows *rows,
                             FILE *printed, int *status, smp_error *err)
{
    smp_error told = {0};
    smp_code code = run_on_gpu(settings, program, path, !rows->without_graphs, printed, status, err);
    FILE *from = code ? NULL : fopen(path, "r"); /* written anew */
    if (code)
        return code;
    if (!from)
        return smp_fail(err, SMP_E_READ, "cannot read the counts: %s", strerror(errno));
    if (read_counts(from, NULL, 0, rows, &told) &&
        (!*status || !strncmp(told.message, by_library, sizeof by_library - 1))) {
        *err = told;
        code = told.code;
    } else if (*status)
        code = smp_fail(err, SMP_E_DEVICE, "on the GPU the program ended with %s %d", *status < 0 ? "signal" : "status",
                        abs(*status));
    fclose(from);
    return code;
}

/* Some graphs do not survive being counted (CUPTI 13.0 on an H200: that of tests/lab/runtime/cluster.cu): then the
 * program runs again, and they are left out. False: it fails anyway, or has no graphs. */
static bool succeeds_without_graphs(const smp_kernel_settings *settings, const char *program, const char *path,
                                    gpu_rows *rows)
{
    smp_error ignored = {0};
    int status = 0;
    FILE *printed = rows->graph_count ? tmpfile() : NULL;
    rows->without_graphs = printed != NULL;
    if (printed && count_on_gpu(settings, program, path, rows, printed, &status, &ignored))
        rows->without_graphs = false;
    if (printed)
        fclose(printed);
    return rows->without_graphs;
}

static smp_code compare_all(const smp_kernel_modules *modules, const smp_warp_result *results, size_t count,
                            const char *path, gpu_rows *rows, smp_lab_gpu *out, smp_error *err)
{
    smp_code code = SMP_OK;
    for (size_t i = 0; i < count && !code; i++) {
        bool had = !results[i].blocks_run;
        for (size_t k = 0; k < i && !had; k++)
            had = !strcmp(results[k].symbol, results[i].symbol);
        const bool counted = is_counted(results, count, rows, results[i].symbol);
        out->kernels += !had && counted;
        out->left_out += !had && !counted;
        out->in_graphs += !had && is_in_graph(rows, results[i].symbol);
        if (counted)
            code = add_model(&results[i], rows, err);
    }
    FILE *from = code ? NULL : fopen(path, "r");
    if (!code)
        code = from ? read_counts(from, results, count, rows, err)
                    : smp_fail(err, SMP_E_READ, "cannot read the counts: %s", strerror(errno));
    if (from)
        fclose(from);
    if (!code)
        compare(modules, rows, out);
    return code;
}

static void free_rows(gpu_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        smp_free(rows->items[i].kernel);
    for (size_t i = 0; i < rows->graph_count; i++)
        smp_free(rows->graphs[i]);
    smp_free_all(rows->items, rows->graphs);
}

smp_code smp_kernel_on_gpu(const smp_kernel_settings *settings, const char *program, const smp_kernel_modules *modules,
                           const smp_warp_result *results, size_t count, smp_lab_gpu *out, smp_error *err)
{
    char path[] = "/tmp/smempipe-gpu-XXXXXX";
    gpu_rows rows = {.count = 0};
    const int fd = mkstemp(path);
    FILE *printed = tmpfile(); /* the same as on the machine, if all is well */
    int status = 0;
    smp_code code = SMP_OK;
    *out = (smp_lab_gpu){.ran = false};
    if (fd < 0 || !printed)
        code = smp_fail(err, SMP_E_WRITE, "cannot make a temporary file: %s", strerror(errno));
    code = code ? code : count_on_gpu(settings, program, path, &rows, printed, &status, err);
    if (code && succeeds_without_graphs(settings, program, path, &rows)) {
        *err = (smp_error){0};
        code = SMP_OK;
    }
    if (code && printed && (status || !err->hint[0]))
        code = explain(settings, program, printed, status, err);
    code = code ? code : compare_all(modules, results, count, path, &rows, out, err);
    if (printed)
        fclose(printed);
    if (fd >= 0) {
        close(fd);
        unlink(path);
    }
    free_rows(&rows);
    out->ran = !code;
    return code;
}
