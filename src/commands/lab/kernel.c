/* smempipe kernel: what a CUDA kernel costs, line by line, and what is wrong with it, without a GPU. */
#include "commands/lab/kernel.h"

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/paths.h"
#include "cli/dashes.h"
#include "commands/serve/serve.h"
#include "report/text.h"

static const smp_option options[] = {
    {"only", 0, SMP_O_STRING, offsetof(smp_kernel_settings, only), .argument = "NAME",
     .help = "run this kernel alone, by its name, with --grid, --block and --args; or several: a,b,c"},
    {"grid", 0, SMP_O_STRING, offsetof(smp_kernel_settings, grid), .argument = "XxYxZ",
     .help = "blocks of the launch: 32x32; of several kernels also '32x32;16x16'"},
    {"block", 0, SMP_O_STRING, offsetof(smp_kernel_settings, block), .argument = "XxYxZ",
     .help = "threads of a block: 32x8"},
    {"args", 0, SMP_O_STRING, offsetof(smp_kernel_settings, args), .argument = "LIST",
     .help = "the kernel's parameters by the names that a .cu gives them, or in their order under any names: "
             "'out=f32[32x32] in=f32[32x32]=random w=32'; arrays hold a ramp unless a number, 'random' or "
             "@FILE follows, whose bytes they take"},
    {"save", 0, SMP_O_STRING, offsetof(smp_kernel_settings, save), .argument = "FOLDER",
     .help = "write what the kernel leaves in each array of --args to FOLDER/NAME.raw"},
    {"shared", 0, SMP_O_SIZE, offsetof(smp_kernel_settings, shared), .argument = "BYTES",
     .help = "dynamic shared memory of the launch"},
    {"blocks", 0, SMP_O_STRING, offsetof(smp_kernel_settings, blocks), .fallback = "all", .argument = "WHICH",
     .help = "blocks that run: all, or first,middle,last, or how many of the grid"},
    {"fail-on", 0, SMP_O_STRING, offsetof(smp_kernel_settings, fail_on), .argument = "LIST",
     .help = "exit status 7 where one of these was found: races, conflicts, uncoalesced, uninitialised, bounds, "
             "barriers, spills, leaks; with --time slower=BASE.json:10%, where a kernel's time is more than 10 % above "
             "what --json told before"},
    {"time-limit", 0, SMP_O_NUMBER, offsetof(smp_kernel_settings, time_limit), .fallback = "0", .argument = "S",
     .min = 0, .max = 86400, .help = "stop a launch that runs longer than S seconds (0: none), and tell its line"},
    {"define", 'D', SMP_O_LIST, offsetof(smp_kernel_settings, defines), .argument = "NAME=VALUE",
     .help = "a macro for the compiler"},
    {"include", 'I', SMP_O_LIST, offsetof(smp_kernel_settings, includes), .argument = "FOLDER",
     .help = "where the compiler looks for headers"},
    {"std", 0, SMP_O_STRING, offsetof(smp_kernel_settings, std), .fallback = "c++17", .argument = "STANDARD",
     .help = "the C++ of a .cu file", .flags = SMP_O_ADVANCED},
    {"arch", 0, SMP_O_STRING, offsetof(smp_kernel_settings, arch), .argument = "ARCH",
     .help = "the GPU to compile for: sm_80, sm_90, ... (default sm_90, or what a .ptx or .cubin is for)"},
    {"code", 0, SMP_O_STRING, offsetof(smp_kernel_settings, code), .argument = "CODE",
     .help = "what is counted: sass, as ptxas makes it for --arch, or ptx; by default sass where nvdisasm is"},
    {"device", 0, SMP_O_STRING, offsetof(smp_kernel_settings, device), .argument = "cuda",
     .help = "run the program on a GPU too: its counters (CUPTI) must tell of each instruction what is told here, or "
             "the exit status is 7; with --each"},
    {"each", 0, SMP_O_FLAG, offsetof(smp_kernel_settings, each), .help = "a row an instruction, not a source line"},
    {"no-findings", 0, SMP_O_FLAG, offsetof(smp_kernel_settings, no_findings),
     .help = "count SASS alone, in half the time, and look for no mistakes"},
    {"compare", 0, SMP_O_FLAG, offsetof(smp_kernel_settings, compare),
     .help = "side by side: kernels of --only a,b,c, of several files, or of a program; exit status "
             "7 where --args are left with other values"},
    {"map", 0, SMP_O_FLAG, offsetof(smp_kernel_settings, map), .help = "draw the banks of each kernel's worst access"},
    {"fix", 0, SMP_O_FLAG, offsetof(smp_kernel_settings, fix),
     .help = "write a.fixed.cu, with tips about arrays in shared memory applied; run both: it stays where it takes "
             "fewer wavefronts and leaves the same results"},
    {"html", 0, SMP_O_STRING, offsetof(smp_kernel_settings, html), .argument = "FILE",
     .help = "a page: the line to look at, bars, source lines by cost, banks, findings"},
    {"sarif", 0, SMP_O_STRING, offsetof(smp_kernel_settings, sarif), .argument = "FILE",
     .help = "what is found, as SARIF 2.1.0: code hosts annotate lines by it"},
    {"junit", 0, SMP_O_STRING, offsetof(smp_kernel_settings, junit), .argument = "FILE",
     .help = "the same as JUnit's XML, a test a rule", .flags = SMP_O_ADVANCED},
    {"baseline", 0, SMP_O_STRING, offsetof(smp_kernel_settings, baseline), .argument = "FILE",
     .help = "tell what is new or worse than an earlier run's --json; then exit status 7"},
    {"serve", 0, SMP_O_FLAG, offsetof(smp_kernel_settings, serve),
     .help = "open that page in the browser, live: a slider pads arrays, and all is counted again"},
    {"no-open", 0, SMP_O_FLAG, offsetof(smp_kernel_settings, no_open), .help = "with --serve: " SMP_NO_OPEN_HELP,
     .flags = SMP_O_ADVANCED},
    {"time", 0, SMP_O_STRING, offsetof(smp_kernel_settings, time), .flags = SMP_O_OPTIONAL, .argument = "GPU",
     .help =
         "predict how long each launch takes and what bounds it: h100 (without a value), h200; with numbers of data "
         "sheets alone a100, l4, rtx4090, b200"},
    {"what-if", 0, SMP_O_FLAG, offsetof(smp_kernel_settings, what_if),
     .help = "with --time: without conflicts, barriers, ...; at other occupancies"},
    {"json", 0, SMP_O_FLAG, offsetof(smp_kernel_settings, json), .help = "machine-readable"},
    {"csv", 0, SMP_O_FLAG, offsetof(smp_kernel_settings, csv),
     .help = "the rows as CSV; with --compare a row a kernel"},
    {0},
};

static const smp_argument_row arguments[] = {
    {"FILE", offsetof(smp_kernel_settings, file),
     .help = "a CUDA source (.cu), PTX of any compiler (.ptx), a .cubin, or a program that nvcc -cudart shared made"},
    {"ARGUMENT", offsetof(smp_kernel_settings, program_args), .optional = true, .many = true,
     .help = "more files; after -- nvcc's flags, after a second -- the program's words"},
    {0},
};

/* ------------------------------------------------------------------------------------------------ words */

/* Words of --fail-on: bit n for the n-th. */
static const char *const failures[] = {"races",  "conflicts", "uncoalesced", "uninitialised", "bounds", "barriers",
                                       "spills", "leaks",     NULL};
enum { RACES, CONFLICTS, UNCOALESCED, UNINITIALISED, BOUNDS, BARRIERS, SPILLS, LEAKS, SLOWER };

#define FAILURES "races, conflicts, uncoalesced, uninitialised, bounds, barriers, spills, leaks, slower=BASE.json:10%%"

static smp_code read_failures(smp_kernel_settings *settings, unsigned *wanted, smp_error *err)
{
    static const char slower[] = "slower=";
    const char *text = settings->fail_on;
    *wanted = 0;
    if (text && !*text)
        return smp_fail(err, SMP_E_USAGE, "--fail-on names nothing"), smp_hint(err, FAILURES);
    for (const char *at = text; at && *at;) {
        int found = !strncmp(at, slower, strlen(slower)) ? SLOWER : -1;
        size_t size = strcspn(at, ",");
        if (found == SLOWER && settings->slower)
            return smp_fail(err, SMP_E_USAGE, "--fail-on has slower= twice");
        if (found == SLOWER) {
            settings->slower = at + strlen(slower);
            size = strlen(slower) + smp_kernel_slower_length(settings->slower);
        }
        for (int i = 0; failures[i]; i++)
            if (strlen(failures[i]) == size && !memcmp(failures[i], at, size))
                found = i;
        if (found < 0)
            return smp_fail(err, SMP_E_USAGE, "--fail-on: '%.*s' is nothing that is looked for", (int)size, at),
                   smp_hint(err, FAILURES);
        *wanted |= 1u << found;
        at += size + (at[size] == ',');
    }
    settings->leaks = *wanted >> LEAKS & 1;
    return SMP_OK;
}

/* The word that an issue is told by. */
static unsigned bit_of(const smp_lab_issue *issue)
{
    static const uint8_t of_fault[] = {RACES, UNINITIALISED, BOUNDS, BOUNDS, BARRIERS, BOUNDS, BOUNDS, LEAKS};
    if (issue->found)
        return 1u << of_fault[issue->found->fault];
    if (issue->cost <= 0)
        return 0;
    if (issue->sum.space == SMP_WARP_LOCAL)
        return issue->sum.spill ? 1u << SPILLS : 0;
    return 1u << (issue->sum.space == SMP_WARP_SHARED ? CONFLICTS : UNCOALESCED);
}

/* Sets which issues fail the run, or a report of tests where nothing does. Returns whether one fails the run. */
static bool find_failures(const smp_kernel_settings *settings, const smp_kernel_results *all, unsigned wanted,
                          smp_lab_issues *issues)
{
    bool any = false;
    for (size_t i = 0; i < all->count && wanted >> SPILLS & 1 && !settings->baseline; i++)
        any = any || all->results[i].stack.spilled; /* where no launch comes by, too */
    wanted &= ~(1u << SLOWER);
    for (size_t i = 0; i < issues->count; i++) {
        smp_lab_issue *issue = &issues->items[i];
        const bool named = issue->told || bit_of(issue) & wanted;
        if (settings->baseline)
            issue->fails = (named || !wanted) && issue->state && strcmp(issue->state, "unchanged") != 0;
        else
            issue->fails = settings->fail_on ? named : issue->cost <= 0;
        any = any || issue->fails;
        if (issue->fails && settings->fail_on && settings->common.quiet && !settings->baseline && !issue->told)
            smp_lab_issue_tell(stderr, "found", issue, 0);
    }
    return any && (settings->fail_on || settings->baseline);
}

/* Refuses --fail-on for faults that were not looked for: silence would pass a race. */
static smp_code refuse_unchecked(const smp_kernel_results *all, unsigned wanted, smp_error *err)
{
    for (size_t i = 0; i < all->count && wanted >> SPILLS & 1; i++)
        if (!strcmp(all->results[i].code, "ptx")) {
            static const char mark[] = "counted from PTX: ";
            const char *notes = all->results[i].notes, *why = strstr(notes, mark);
            why = why ? why + strlen(mark) : all->sass ? notes : all->why;
            smp_fail(err, SMP_E_PROCESS, "--fail-on spills: %.60s was counted from PTX, whose registers have no end",
                     all->results[i].kernel);
            return smp_hint(err, "ptxas spills them, and its SASS is not counted: %.*s", (int)strcspn(why, "\n"), why);
        }
    wanted &= 1u << RACES | 1u << UNINITIALISED;
    for (size_t i = 0; i < all->count && wanted; i++) {
        const smp_warp_result *r = &all->results[i];
        if (!r->unchecked)
            continue;
        const char *why = strstr(r->notes, "not looked for: ");
        if (why)
            why += strlen("not looked for: ");
        smp_fail(err, SMP_E_PROCESS, "--fail-on %s: they were not looked for in %.60s%s%.*s",
                 failures[wanted >> RACES & 1 ? RACES : UNINITIALISED], r->kernel, why ? ": " : "",
                 why ? (int)strcspn(why, "\n") : 0, why ? why : "");
        return smp_hint(err,
                        "they are found in PTX that the lab can execute; conflicts, uncoalesced, bounds and barriers "
                        "are found without");
    }
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ the command */

static bool has_lines(const smp_kernel_results *all)
{
    size_t rows = 0;
    for (size_t i = 0; i < all->count; i++)
        for (size_t k = 0; k < all->results[i].row_count; k++, rows++)
            if (all->results[i].rows[k].line)
                return true;
    return !rows;
}

static void say_what(const smp_kernel_settings *settings, const smp_kernel_results *all)
{
    if (settings->common.quiet)
        return;
    if (all->sass && all->no_ptx)
        smp_text_line(stdout, "counts of the SASS in %s; it has no PTX, in which mistakes would be looked for",
                      settings->file);
    else if (all->sass)
        smp_text_line(stdout, "counts of the SASS that ptxas makes of %s for sm_%s; mistakes are %s", settings->file,
                      smp_compile_arch(settings->arch), settings->no_findings ? "not looked for" : "found in its PTX");
    else
        smp_text_line(stdout,
                      "counts of the PTX of %s, since %s: ptxas may join accesses into wider ones, or split them",
                      settings->file, all->why);
    if (!has_lines(all))
        printf("no source lines are known: it was compiled without -lineinfo\n");
}

/* Whether its main runs, and not kernels alone. */
static bool runs_host(const smp_kernel_settings *settings)
{
    return !settings->only && !smp_ends_with(settings->file, ".ptx") && !smp_ends_with(settings->file, ".cubin");
}

/* Adds kernels that leave other values than the first, or what a GPU counts otherwise: status 7. */
static void add_differences(const smp_kernel_settings *settings, const smp_kernel_results *all, smp_lab_issues *issues)
{
    for (size_t i = 0; i < all->count; i++) {
        const char *text = all->entries[i].same == SMP_LAB_DIFFERENT ? all->entries[i].difference
                           : all->gpu.differ && !i                   ? all->gpu.differences
                                                                     : NULL;
        const smp_lab_issue issue = {
            .rule = "different", .first = &all->results[i], .state = settings->baseline ? "new" : NULL};
        if (text)
            smp_lab_issues_tell(issues, &issue, text);
        if (text && settings->common.quiet)
            smp_text_line(stderr, "different: %s: %s", all->results[i].kernel, text);
    }
}

/* ended: the run did, before its end, where no kernel stopped. */
static smp_code show(const smp_kernel_settings *settings, const smp_kernel_results *all, unsigned wanted, bool ended,
                     bool *failed, smp_error *err)
{
    smp_lab_sources sources = {.program = smp_ends_with(settings->file, ".cu") ? settings->file : NULL};
    smp_lab_issues issues;
    const bool color = smp_cli_color(&settings->common, STDOUT_FILENO), compares = settings->compare;
    const smp_lab_report report = {.results = all->results,
                                   .entries = compares ? all->entries : NULL,
                                   .files = all->entries,
                                   .count = all->count,
                                   .code = all->sass ? "sass" : "ptx",
                                   .sources = &sources,
                                   .issues = &issues,
                                   .compared = compares,
                                   .host = runs_host(settings),
                                   .leaks = settings->leaks,
                                   .slower = settings->slower,
                                   .gpu = all->gpu.ran ? &all->gpu : NULL};
    smp_code code = smp_lab_issues_of(all->results, all->count, &issues) ? SMP_OK : smp_fail_memory(err, "findings", 0);
    if (!code && settings->baseline)
        code = smp_kernel_compare_base(settings, &report, &issues, err);
    if (!code && settings->slower && !ended)
        code = smp_kernel_find_slower(settings, all, &issues, err);
    if (!code)
        add_differences(settings, all, &issues);
    *failed = !code && find_failures(settings, all, wanted, &issues);
    if (!code && !ended)
        code = smp_kernel_write_reports(settings, &report, err);
    if (settings->json)
        smp_lab_json(stdout, &report);
    else if (settings->csv)
        smp_lab_csv(stdout, &report);
    else if (!settings->common.quiet) {
        say_what(settings, all);
        smp_lab_time_words(stdout, &report);
        const bool is_long = smp_lab_is_long(&report) && !compares;
        const bool tables =
            !is_long || settings->common.verbose || settings->each || settings->map || settings->what_if;
        if (is_long)
            smp_lab_program(stdout, &report, color, tables);
        for (size_t i = 0; i < all->count && !compares && tables; i++) {
            putchar('\n');
            smp_lab_table(stdout, &all->results[i], &sources, settings->each, settings->map, color);
        }
        if (compares)
            smp_lab_compare(stdout, &report, color);
        if (report.gpu)
            smp_lab_gpu_text(stdout, report.gpu);
    }
    smp_lab_sources_free(&sources);
    smp_lab_issues_free(&issues);
    return code;
}

/* sm_90, compute_90a, 90 */
static bool is_arch(const char *text)
{
    const char *digits = text + (strncmp(text, "sm_", 3) ? strncmp(text, "compute_", 8) ? 0 : 8 : 3);
    const size_t count = strspn(digits, "0123456789");
    return count >= 2 && count <= 3 && (!digits[count] || (strchr("af", digits[count]) && !digits[count + 1]));
}

/* Refuses options that do not fit: a program has launches of its own, and compiled code takes no compiler options. */
static smp_code check_use(const smp_kernel_settings *settings, smp_error *err)
{
    const struct {
        const char *option;
        bool given;
    } of_only[] = {{"grid", settings->grid != NULL},
                   {"block", settings->block != NULL},
                   {"args", settings->args != NULL},
                   {"save", settings->save != NULL},
                   {"shared", settings->shared != 0}};
    size_t cuda = 0, others = 0;
    const smp_strings *more = &settings->program_args;
    const size_t files = settings->compare ? smp_options_before_dashes() : 1; /* as far as they are files */
    for (size_t i = 0; i < files && i <= more->count; i++) {
        const char *file = i ? more->items[i - 1] : settings->file;
        const bool is_cuda =
            smp_ends_with(file, ".cu") || smp_ends_with(file, ".cuh") || (!i && smp_kernel_is_host(file));
        cuda += is_cuda;
        others += !is_cuda && (smp_ends_with(file, ".ptx") || smp_ends_with(file, ".cubin"));
    }
    for (size_t i = 0; i < sizeof of_only / sizeof of_only[0] && !settings->only && !others; i++)
        if (of_only[i].given) {
            smp_fail(err, SMP_E_USAGE, "--%s is of one kernel, and without --only the program's own launches run",
                     of_only[i].option);
            return smp_hint(err, "add --only NAME, or leave it out");
        }
    if (!cuda && settings->defines.count + settings->includes.count + settings->has_flags)
        return smp_fail(err, SMP_E_USAGE, "%s is for the compiler, and '%s' is compiled already",
                        settings->defines.count    ? "-D"
                        : settings->includes.count ? "-I"
                                                   : "what stands behind --",
                        settings->file),
               smp_hint(err, "it changes what a .cu file becomes");
    for (size_t i = 0; i < settings->includes.count; i++)
        if (!smp_is_folder(settings->includes.items[i]))
            return smp_fail(err, SMP_E_USAGE, "-I %s is not a folder", settings->includes.items[i]);
    return SMP_OK;
}

/* Checks --device: a GPU runs a whole program, whose counts are of each instruction of all blocks. */
static smp_code check_device(const smp_kernel_settings *settings, smp_error *err)
{
    if (!settings->device)
        return SMP_OK;
    if (strcmp(settings->device, "cuda") != 0)
        return smp_fail(err, SMP_E_USAGE, "--device %s is unknown here", settings->device),
               smp_hint(err, "--device cuda runs the program on a GPU too; without it no GPU is needed");
    const char *against = settings->only                                             ? "--only"
                          : settings->compare                                        ? "--compare"
                          : settings->code && !strcmp(settings->code, "ptx")         ? "--code ptx"
                          : settings->blocks && strcmp(settings->blocks, "all") != 0 ? "--blocks"
                          : smp_ends_with(settings->file, ".ptx")                    ? "a .ptx file"
                          : smp_ends_with(settings->file, ".cubin")                  ? "a .cubin file"
                                                                                     : NULL;
    if (!against)
        return SMP_OK;
    smp_fail(err, SMP_E_USAGE, "--device cuda does not go with %s", against);
    return smp_hint(err, "a GPU runs all that a .cu file or a program launches: smempipe kernel my.cu --device cuda");
}

static smp_code check(const smp_kernel_settings *settings, smp_error *err)
{
    uint64_t *blocks = NULL, block_count;
    const smp_code chosen = smp_warp_choose_blocks(settings->blocks, UINT32_MAX >> 16, &blocks, &block_count, err);
    smp_free(blocks);
    if (chosen)
        return chosen;
    if (settings->only && !settings->only[0])
        return smp_fail(err, SMP_E_USAGE, "--only names no kernel"),
               smp_hint(err, "--only NAME, by its name in the source");
    if (settings->arch && !is_arch(settings->arch))
        return smp_fail(err, SMP_E_USAGE, "--arch %s is not a valid architecture", settings->arch),
               smp_hint(err, "sm_80, sm_86, sm_90, ...");
    if (settings->code && strcmp(settings->code, "sass") != 0 && strcmp(settings->code, "ptx") != 0)
        return smp_fail(err, SMP_E_USAGE, "--code %s is unknown", settings->code), smp_hint(err, "sass or ptx");
    SMP_TRY(smp_kernel_check_time(settings, err));
    const bool is_host = smp_kernel_is_host(settings->file);
    if (!smp_kernel_is_file(settings->file) && !is_host)
        return smp_fail(err, SMP_E_USAGE, "'%s' is no .cu, no .ptx, no .cubin and no executable file", settings->file),
               smp_hint(err, "nvcc -ptx -lineinfo makes PTX of a CUDA source");
    if (settings->only && is_host)
        return smp_fail(err, SMP_E_USAGE, "--only runs a kernel of a .cu file, and '%s' is one of the host's",
                        settings->file),
               smp_hint(err, "name the file of the kernel, or leave --only out: the program runs");
    if (settings->only && settings->sources.count) {
        smp_fail(err, SMP_E_USAGE, "--only runs a kernel of one file, and '%s' is another", settings->sources.items[0]);
        return smp_hint(err, "name the file of the kernel alone");
    }
    if (check_use(settings, err) || check_device(settings, err))
        return err->code;
    if (settings->what_if && !settings->time)
        return smp_fail(err, SMP_E_USAGE, "--what-if is about predicted times"), smp_hint(err, "add --time");
    if (settings->time && settings->csv)
        return smp_fail(err, SMP_E_USAGE, "--csv has no predicted times"), smp_hint(err, "--json has them");
    if (settings->compare && (settings->map || settings->what_if) && !settings->json && !settings->html) {
        smp_fail(err, SMP_E_USAGE, "%s is not shown side by side", settings->map ? "--map" : "--what-if");
        return smp_hint(err, "leave --compare out, or add --html PAGE");
    }
    SMP_TRY(smp_kernel_check_save(settings, err));
    SMP_TRY(smp_kernel_check_fix(settings, err));
    if (settings->json && settings->csv)
        return smp_fail(err, SMP_E_USAGE, "only one of --json and --csv can go to standard output");
    return smp_kernel_check_reports(settings, err);
}

static smp_code kernel(void *given, smp_error *err)
{
    smp_kernel_settings *settings = given;
    smp_kernel_results all = {.count = 0};
    unsigned wanted;
    bool failed = false;
    smp_error shown = {0};
    smp_code code = read_failures(settings, &wanted, err);
    code = code ? code : smp_kernel_take_words(settings, err);
    code = code ? code : check(settings, err);
    const bool checked = !code;
    code = code ? code : smp_kernel_choose_time(settings, err);
    settings->each = settings->each || settings->device;
    code = code ? code : smp_kernel_choose_arch(settings, err);
    code = code ? code : smp_kernel_all(settings, &all, err);
    if (!code && settings->save)
        code = smp_kernel_save(settings, &all, err);
    bool stopped = false, differs = all.gpu.differ;
    for (size_t i = 0; i < all.count; i++) {
        const smp_error *stop = &all.results[i].error;
        const bool late = stop->code == SMP_E_LIMIT; /* which ends its program, too */
        differs = differs || all.entries[i].same == SMP_LAB_DIFFERENT;
        stopped = stopped || all.results[i].stopped;
        if (all.results[i].stopped && (!code || (late && code == SMP_E_PROCESS))) {
            *err = *stop;
            code = late ? SMP_E_LIMIT : SMP_E_PROCESS;
        }
    }
    const bool any = all.count || (!code && (settings->json || settings->csv));
    const smp_code wrote = any ? show(settings, &all, wanted, code && !stopped, &failed, &shown) : SMP_OK;
    if (wrote && !code)
        *err = shown;
    code = code ? code : wrote;
    if (checked && ((code && !stopped) || !all.count))
        (void)smp_kernel_write_reports(settings, NULL, &shown);
    if (!code && settings->fix)
        code = smp_kernel_fix(settings, &all, err);
    const smp_code served = !code && settings->serve ? smp_kernel_serve(settings, &all, err) : SMP_OK;
    if (!code && !served && !failed && !differs)
        code = refuse_unchecked(&all, wanted, err);
    smp_kernel_results_free(&all);
    smp_kernel_free_words(settings);
    if (code && !err->code)
        smp_fail(err, code, "a kernel stopped");
    return code ? code : failed || differs ? SMP_E_DIFFERENT : served;
}

const smp_command smp_command_kernel = {
    .name = "kernel",
    .help = "run a CUDA kernel without a GPU: bank conflicts, sectors and races of each line",
    .about =
        "Executes CUDA kernels a warp at a time on the CPU and counts, for each source line, wavefronts and bank "
        "conflicts in shared memory and sectors in global memory. It finds races in shared and global memory and reads "
        "there of what nobody wrote, accesses outside buffers and barriers that not all threads reach, also because "
        "they have returned: before a __syncthreads(), or a __syncwarp() or shuffle that names them.\n"
        "\n"
        "A .cu file is compiled by nvcc, and its own main runs: each launch is counted. --only runs one kernel "
        "instead, and no code of the host. A .ptx file may come from any compiler. An executable runs as it is, if it "
        "was built with nvcc -cudart shared (and -lineinfo, for the lines): the lab's library takes the place of "
        "CUDA's. Programs run with your rights, and the compiler reads, by #include, what you may read: take only what "
        "you trust. As a stage of a pipeline (`smempipe stages kernel`) only device code runs.",
    .settings_size = sizeof(smp_kernel_settings),
    .without = SMP_O_DEVICE | SMP_O_THREADS | SMP_O_INPUTS,
    .groups = {{"options", options}, SMP_COMMON_GROUP},
    .arguments = arguments,
    .examples =
        {{"smempipe kernel transpose.cu -- 1024", "the program's own main and its arguments, a table a kernel"},
         {"smempipe kernel a.cu b.cu main.cpp -- -I include -O3 -lcublas -- 1024",
          "several files, flags of nvcc, and the program's arguments"},
         {"smempipe kernel ./program -- 1024", "a program that nvcc -cudart shared -lineinfo made"},
         {"smempipe kernel a.cu --only naive,tiled --compare --grid 8x8 --block 32x8 --args 'out=f32[65536] n=256'",
          "side by side, and what they leave in their arrays"},
         {"smempipe kernel a.cu b.cu --compare --html page.html", "two programs, and a page"},
         {"smempipe kernel a.cu --fail-on races,conflicts,bounds", "a test: exit status 7 where one is found"}},
    .run = kernel,
};
