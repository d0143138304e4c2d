/* smempipe bank: what one access of a warp to shared memory costs, and what would make it cheaper. */
#include "cli/bank.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "io/output.h"
#include "report/bank_map.h"

typedef struct bank_settings {
    smp_common common;
    smp_strings patterns;
    const char *capability, *offsets, *mask, *svg;
    int width, op;
    int64_t block;
    bool json, explain;
} bank_settings;

static const char *const widths[] = {"auto", "1", "2", "4", "8", "16", NULL};
static const char *const ops[] = {"ld", "st", "atom_inc", "atom_add", "atom_add_ret", "atom_add_f32", NULL};
static const smp_bank_op op_kinds[] = {SMP_BANK_LOAD,   SMP_BANK_STORE,  SMP_BANK_COUNT,
                                       SMP_BANK_ATOMIC, SMP_BANK_ATOMIC, SMP_BANK_ATOMIC_FLOAT};

static const smp_option options[] = {
    {"width", 'w', SMP_O_CHOICE, offsetof(bank_settings, width), .fallback = "auto", .argument = "BYTES",
     .help = "bytes that each lane accesses, and the unit of an index: 1, 2, 4, 8 or 16; auto: those of the type that "
             "the pattern names, else 4",
     .choices = widths},
    {"op", 0, SMP_O_CHOICE, offsetof(bank_settings, op), .fallback = "ld", .argument = "OP",
     .help = "ld: load; st: store; atom_inc: atomicAdd(p, 1) whose result is unused; atom_add: atomicAdd(p, v); "
             "atom_add_ret: the same with its result used; atom_add_f32: of floats",
     .choices = ops},
    {"cc", 0, SMP_O_STRING, offsetof(bank_settings, capability), .fallback = "9.0", .argument = "CC",
     .help = "compute capability of the GPU: 1.1, 2.0, 3.0 (3.0/8 with 8-byte banks), 7.5, 9.0, 12.0, ..."},
    {"mask", 'm', SMP_O_STRING, offsetof(bank_settings, mask), .argument = "MASK",
     .help = "lanes that take part: a number (bit n is lane n) or a condition: 'tid<16'"},
    {"block", 0, SMP_O_INT, offsetof(bank_settings, block), .fallback = "32", .argument = "N",
     .help = "threads in a row of the block: what threadIdx.x and threadIdx.y in a pattern mean", .min = 1,
     .max = 1024},
    {"offsets", 0, SMP_O_STRING, offsetof(bank_settings, offsets), .argument = "LIST",
     .help = "the byte offsets of the 32 lanes instead of a pattern; - for a lane that takes no part"},
    {"json", 0, SMP_O_FLAG, offsetof(bank_settings, json),
     .help = "machine-readable; smempipe help banks names the keys"},
    {"svg", 0, SMP_O_STRING, offsetof(bank_settings, svg), .argument = "FILE",
     .help = "also write the map as a picture; - is standard output, without the text"},
    {"explain", 0, SMP_O_FLAG, offsetof(bank_settings, explain),
     .help = "tell the rules that were applied, and whose they are"},
    {0},
};

static const smp_argument_row arguments[] = {
    {"PATTERN", offsetof(bank_settings, patterns), .optional = true, .many = true, .unless = "offsets",
     .help = "which element lane tid accesses: an index such as 'tid*2', or an array such as '[32][33] column'; "
             "several are compared in a table"},
    {0},
};

/* ------------------------------------------------------------------------------------------------ the device */

/* "9.0", "9", "90", "sm_90", "3.5/8". */
static smp_code parse_capability(const char *text, smp_bank_study *study, int *major, int *minor, smp_error *err)
{
    const char *p = !strncmp(text, "sm_", 3) ? text + 3 : text;
    char *end = NULL;
    bool wide = false;
    long whole = isdigit((unsigned char)*p) ? strtol(p, &end, 10) : -1, part = 0;
    if (whole >= 0 && *end == '.' && isdigit((unsigned char)end[1])) {
        part = strtol(end + 1, &end, 10);
    } else if (whole >= 10 && (p != text || whole > 12)) { /* sm_90, 90; 10, 11 and 12 alone are whole */
        part = whole % 10;
        whole /= 10;
    }
    if (whole >= 0 && !strcmp(end, "/8")) {
        wide = true;
        end += 2;
    } else if (whole == 3 && !strcmp(end, "/4"))
        end += 2;
    if (whole < 1 || whole > 99 || part > 9 || *end) {
        smp_fail(err, SMP_E_USAGE, "'%s' is no compute capability", text);
        return smp_hint(err, "1.1, 2.0, 3.0, 3.0/8 (8-byte banks), 5.2, 7.5, 8.6, 9.0, 12.0, ...");
    }
    if (whole == 4) {
        smp_fail(err, SMP_E_USAGE, "there is no GPU of compute capability 4");
        return smp_hint(err, "after 3.7 came 5.0");
    }
    if (wide && whole != 3) {
        smp_fail(err, SMP_E_USAGE, "only compute capability 3.x has 8-byte banks");
        return smp_hint(err, "write --cc %ld.%ld, or --cc 3.0/8", whole, part);
    }
    *major = (int)whole;
    *minor = (int)part;
    study->rules = wide ? SMP_BANKS_CC3_8 : smp_bank_rules_for(*major);
    snprintf(study->capability, sizeof study->capability, "%d.%d%s", *major % 100, *minor % 10, wide ? "/8" : "");
    return SMP_OK;
}

/* Atomics that a device does not have, or that nobody measured. */
static smp_code check_op(const smp_bank_study *study, int major, int minor, smp_error *err)
{
    smp_bank_op op = study->access.op;
    if (op == SMP_BANK_LOAD || op == SMP_BANK_STORE)
        return SMP_OK;
    if (study->access.width != 4) {
        smp_fail(err, SMP_E_USAGE, "atomics of %d bytes were not measured", study->access.width);
        return smp_hint(err, "--width 4");
    }
    bool real = op == SMP_BANK_ATOMIC_FLOAT;
    if (major == 1 && (minor < 2 || real)) {
        smp_fail(err, SMP_E_USAGE, "compute capability %s has no atomics on %s in shared memory", study->capability,
                 real ? "floats" : "words");
        return smp_hint(err, real ? "floats have them from 2.0 on" : "it came with 1.2");
    }
    if (major < 5) {
        smp_fail(err, SMP_E_USAGE, "what an atomic costs on compute capability %s is in no guide", study->capability);
        return smp_hint(err,
                        "before 5.0 it is a loop of load, add and store under a lock; --cc 5.0 or newer is modelled");
    }
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ the access */

static smp_code fail_offset(const char *start, size_t length, int lane, const char *what, smp_error *err)
{
    enum { SHOWN = 40 };
    smp_fail(err, SMP_E_USAGE, "--offsets: '%.*s%s' for lane %d is %s", (int)(length < SHOWN ? length : SHOWN), start,
             length < SHOWN ? "" : "...", lane, what);
    return smp_hint(err, "32 byte offsets with blanks or commas between, - for a lane that takes no part");
}

/* Elements are those of a plain array, so that layouts can be tried. */
static smp_code parse_offsets(const char *text, int width, smp_bank_study *study, smp_error *err)
{
    smp_elements *e = &study->elements;
    int lane = 0;
    *e = (smp_elements){.dims = 1};
    for (;; lane++) {
        text += strspn(text, " ,\t\n");
        size_t length = strcspn(text, " ,\t\n");
        if (!length)
            break;
        if (lane == SMP_WARP)
            return fail_offset(text, length, lane, "one too many", err);
        if (length == 1 && *text == '-') {
            text++;
            continue;
        }
        char *end;
        errno = 0;
        unsigned long long value = isdigit((unsigned char)*text) ? strtoull(text, &end, 0) : 0;
        if (!isdigit((unsigned char)*text) || end != text + length)
            return fail_offset(text, length, lane, "no offset", err);
        if (errno || value >= SMP_ELEMENT_BYTES)
            return fail_offset(text, length, lane, "past any shared memory", err);
        if (value % (unsigned long long)width) {
            fail_offset(text, length, lane, "misaligned", err);
            return smp_hint(err, "an access of %d bytes begins at a multiple of %d; --width says how wide it is", width,
                            width);
        }
        e->active |= UINT32_C(1) << lane;
        e->at[lane][0] = (int64_t)value / width;
        text += length;
    }
    if (lane < SMP_WARP) {
        smp_fail(err, SMP_E_USAGE, "--offsets: %d offsets, and a warp has %d lanes", lane, SMP_WARP);
        return smp_hint(err, "write - for each lane that takes no part");
    }
    return SMP_OK;
}

static smp_code take_width(const bank_settings *settings, const smp_pattern *pattern, int *out, smp_error *err)
{
    int asked = settings->width ? 1 << (settings->width - 1) : 0, typed = pattern ? pattern->width : 0;
    *out = asked ? asked : typed ? typed : 4;
    if (!asked || !typed || asked == typed)
        return SMP_OK;
    smp_fail(err, SMP_E_USAGE, "--width %d, but the pattern's %s has %d bytes", asked, pattern->type, typed);
    return smp_hint(err, "leave out the one or the other");
}

/* The elements of one access: of a pattern, or of --offsets when text is null. */
static smp_code find_elements(const bank_settings *settings, const char *text, uint32_t active, smp_pattern *pattern,
                              smp_diags *diags, smp_bank_study *study, smp_error *err)
{
    int *width = &study->access.width;
    smp_code code;
    study->name = text ? text : "offsets";
    if (!text) {
        code = take_width(settings, NULL, width, err);
        if (!code)
            code = parse_offsets(settings->offsets, *width, study, err);
        study->elements.active &= active;
        return code;
    }
    study->pattern = pattern;
    code = smp_pattern_parse("PATTERN", text, diags, pattern);
    if (!code)
        code = take_width(settings, pattern, width, err);
    if (!code)
        code = smp_pattern_elements(pattern, settings->block, active, *width, diags, &study->elements);
    return code;
}

static smp_code study_access(const bank_settings *settings, const char *text, uint32_t active, smp_pattern *pattern,
                             smp_diags *diags, smp_bank_study *study, smp_error *err)
{
    smp_layout plain = {0};
    int major, minor;
    smp_code code = parse_capability(settings->capability, study, &major, &minor, err);
    if (!code)
        code = find_elements(settings, text, active, pattern, diags, study, err);
    study->op = ops[settings->op];
    study->access.op = op_kinds[settings->op];
    study->access.active = study->elements.active;
    if (!code)
        code = check_op(study, major, minor, err);
    if (code)
        return code;
    smp_elements_place(&study->elements, &plain, study->access.width, study->access.offset);
    smp_bank_schedule_of(&study->access, study->rules, &study->schedule);
    smp_advise(&study->elements, study->access.op, study->access.width, study->rules, &study->advice);
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ output */

static smp_code write_svg(const bank_settings *settings, const smp_bank_study *study, smp_error *err)
{
    char verdict[160], *title = NULL, *text = NULL;
    size_t size = 0;
    smp_output *output = NULL;
    smp_code code = SMP_OK;
    FILE *to = open_memstream(&text, &size);
    if (!to)
        return smp_fail_memory(err, "the map", 1 << 16);
    title = smp_asprintf("%s (%d-byte %s, compute capability %s)", study->name, study->access.width, study->op,
                         study->capability);
    smp_bank_verdict(verdict, sizeof verdict, study);
    smp_bank_map_svg_options drawing = {.title = title, .subtitle = verdict, .file = true};
    smp_bank_map_svg(to, &study->access, study->rules, &drawing);
    if (fclose(to) != 0 || !title)
        code = smp_fail_memory(err, "the map", size);
    else if (!strcmp(settings->svg, "-"))
        fwrite(text, 1, size, stdout);
    else {
        code = smp_output_open(settings->svg, settings->common.force, NULL, &output, err);
        if (!code)
            code = smp_output_write(output, text, size, err);
        if (!code)
            code = smp_output_commit(output, err);
        else
            smp_output_abort(output);
    }
    if (code)
        smp_at(err, "%s", settings->svg);
    smp_free(title);
    free(text); /* open_memstream's */
    return code;
}

static smp_code show(const bank_settings *settings, const smp_bank_study *studies, size_t count, smp_error *err)
{
    bool svg_only = settings->svg && !strcmp(settings->svg, "-"),
         color = smp_cli_color(&settings->common, STDOUT_FILENO);
    smp_code code = settings->svg ? write_svg(settings, studies, err) : SMP_OK;
    if (code || svg_only)
        return code;
    if (settings->json)
        smp_bank_studies_json(stdout, studies, count);
    else if (count > 1)
        smp_bank_comparison(stdout, studies, count, color);
    else
        smp_bank_study_table(stdout, studies, settings->common.verbose, color);
    if (settings->explain && !settings->json) {
        putchar('\n');
        smp_bank_explain(stdout, studies->rules);
    }
    return SMP_OK;
}

/* Every pattern is studied before the first is shown, and the mistakes of all are reported. */
static smp_code study_all(const bank_settings *settings, size_t count, smp_pattern *patterns, smp_bank_study *studies,
                          smp_diags *diags, smp_error *err)
{
    uint32_t active = UINT32_MAX;
    smp_code code = SMP_OK;
    if (settings->mask)
        code = smp_pattern_mask("--mask", settings->mask, settings->block, diags, &active);
    for (size_t i = 0; i < count && !(code && err->message[0]); i++) {
        const char *text = settings->offsets ? NULL : settings->patterns.items[i];
        smp_code one = study_access(settings, text, active, &patterns[i], diags, &studies[i], err);
        code = code ? code : one;
    }
    return code;
}

static smp_code explain_or_usage(const bank_settings *settings, smp_error *err)
{
    smp_bank_study study = {.name = NULL};
    int major, minor;
    smp_code code = parse_capability(settings->capability, &study, &major, &minor, err);
    if (code)
        return code;
    if (settings->explain) {
        smp_bank_explain(stdout, study.rules);
        return SMP_OK;
    }
    smp_help_usage(stderr, &smp_command_bank);
    return SMP_E_USAGE;
}

static smp_code bank(void *given, smp_error *err)
{
    bank_settings *settings = given;
    size_t count = settings->offsets ? 1 : settings->patterns.count;
    if (!count)
        return explain_or_usage(settings, err);
    if (settings->svg && count > 1) {
        smp_fail(err, SMP_E_USAGE, "--svg draws one pattern, not %zu", count);
        return smp_hint(err, "call smempipe bank once for each picture");
    }
    smp_diags diags = {0};
    smp_pattern *patterns = smp_alloc_array(count, sizeof *patterns);
    smp_bank_study *studies = smp_alloc_array(count, sizeof *studies);
    smp_code code = patterns && studies
                        ? study_all(settings, count, patterns, studies, &diags, err)
                        : smp_fail_memory(err, "patterns", count * (sizeof *patterns + sizeof *studies));
    if (!code)
        code = show(settings, studies, count, err);
    if (diags.errors) {
        char *text = smp_diags_text(&diags, smp_cli_color(&settings->common, STDERR_FILENO));
        fputs(text ? text : "", stderr);
        smp_free(text);
    }
    smp_diags_free(&diags);
    smp_free(patterns);
    smp_free(studies);
    return code;
}

const smp_command smp_command_bank = {
    .name = "bank",
    .help = "what an access pattern to shared memory costs, drawn as a map of the banks",
    .about =
        "A warp's 32 lanes access shared memory together. Its banks serve one word each in a wavefront; lanes that "
        "want different words of one bank take turns, which is a bank conflict. The model is exact for loads, "
        "stores and atomics as measured on an H100, and follows the CUDA guides for older devices. What is "
        "proposed against a conflict was tried on the model first.\n"
        "\n"
        "A pattern is an index in tid with C's operators, in elements of --width bytes; or an array with a walk "
        "(row, column, diagonal, antidiagonal) or with indices. 'smempipe help banks' tells the whole language, "
        "the rules of each compute capability and the keys of --json.",
    .settings_size = sizeof(bank_settings),
    .without = SMP_O_DEVICE | SMP_O_THREADS | SMP_O_INPUTS,
    .groups = {{"options", options}, SMP_COMMON_GROUP},
    .arguments = arguments,
    .examples = {{"smempipe bank '[32][32] column'", "a column of a tile: 32-way, and how to avoid it"},
                 {"smempipe bank tid 'tid*2' 'tid*3' 'tid*4'", "strides compared, a line each"},
                 {"smempipe bank 'float4 tid' --explain", "16 bytes a lane, with the rules told"},
                 {"smempipe bank 'tid*2' --cc 1.1", "on a device with 16 banks"},
                 {"smempipe bank 'float s[16][17]; s[threadIdx.x][threadIdx.y]' --block 16", "as written in a kernel"},
                 {"smempipe bank 'tid*3' --mask 'tid<16' --svg map.svg", "half a warp, and its map as a picture"}},
    .run = bank,
};
