/* smempipe bank: what one access of a warp to shared memory costs, and what would make it cheaper. */
#include "commands/lab/bank.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "lab/report/bank_map.h"

typedef struct bank_settings {
    smp_common common;
    smp_strings patterns, defines;
    const char *capability, *offsets, *mask, *svg, *block_text, *from;
    int width, op;
    bool json, explain;
    smp_pattern_block block;
    int major, minor;
    uint32_t active;
    char capability_text[16];
} bank_settings;

static const char *const widths[] = {"auto", "1", "2", "4", "8", "16", NULL};
static const char *const ops[] = {"ld",           "st",          "atom_inc",    "atom_add",    "atom_add_ret",
                                  "atom_add_f32", "ldmatrix",    "ldmatrix_x2", "ldmatrix_x1", "stmatrix",
                                  "stmatrix_x2",  "stmatrix_x1", "cp_async",    "cp_async_ca", NULL};

/* A phase of ldmatrix and stmatrix is eight lanes, and its cost the most different rows of 16 bytes that lie in one
 * group of four banks: the rule of stores of 16 bytes. */
static const struct {
    smp_bank_op kind;
    int lanes, first_cc; /* lanes that give addresses; compute capability that has it, times 10 */
    bool matrix;
    const char *text;
} kinds[] = {
    {SMP_BANK_LOAD, 32, 0, false, "loads"},
    {SMP_BANK_STORE, 32, 0, false, "stores"},
    {SMP_BANK_COUNT, 32, 0, false, "atomicAdd(p, 1), result unused"},
    {SMP_BANK_ATOMIC, 32, 0, false, "atomicAdd(p, v)"},
    {SMP_BANK_ATOMIC, 32, 0, false, "atomicAdd(p, v)"},
    {SMP_BANK_ATOMIC_FLOAT, 32, 0, false, "atomicAdd(float)"},
    {SMP_BANK_STORE, 32, 75, true, "rows of ldmatrix.x4"},
    {SMP_BANK_STORE, 16, 75, true, "rows of ldmatrix.x2"},
    {SMP_BANK_STORE, 8, 75, true, "rows of ldmatrix.x1"},
    {SMP_BANK_STORE, 32, 90, true, "rows of stmatrix.x4"},
    {SMP_BANK_STORE, 16, 90, true, "rows of stmatrix.x2"},
    {SMP_BANK_STORE, 8, 90, true, "rows of stmatrix.x1"},
    {SMP_BANK_ASYNC, 32, 80, false, "copies of cp.async"},
    {SMP_BANK_ASYNC, 32, 80, false, "copies of cp.async.ca"},
};
enum { CP_ASYNC = 12, CP_ASYNC_CA, ROW = 16 /* bytes of a matrix row */ };

static const smp_option options[] = {
    {"width", 'w', SMP_O_CHOICE, offsetof(bank_settings, width), .fallback = "auto", .argument = "BYTES",
     .help = "bytes that each lane accesses, and the unit of an index: 1, 2, 4, 8 or 16; auto: those of the type that "
             "the pattern names, else 4",
     .choices = widths},
    {"op", 0, SMP_O_CHOICE, offsetof(bank_settings, op), .fallback = "ld", .argument = "OP",
     .help = "what lanes do: ld, st, an atomic, ldmatrix, stmatrix or cp_async; ld: load; st: store; atom_inc: "
             "atomicAdd(p, 1) whose result is unused; atom_add: atomicAdd(p, v); "
             "atom_add_ret: the same with its result used; atom_add_f32: of floats; ldmatrix, stmatrix (_x2, _x1): the "
             "row that each lane names; cp_async (_ca): copies from global memory",
     .choices = ops},
    {"cc", 0, SMP_O_STRING, offsetof(bank_settings, capability), .fallback = "9.0", .argument = "CC",
     .help = "compute capability of the GPU: 5.2, 7.5, 8.6, 9.0, 12.0, ..."},
    {"mask", 'm', SMP_O_STRING, offsetof(bank_settings, mask), .argument = "MASK",
     .help = "lanes that take part: a number (bit n is lane n) or a condition: 'tid<16'"},
    {"block", 0, SMP_O_STRING, offsetof(bank_settings, block_text), .fallback = "32", .argument = "XxYxZ",
     .help = "threads of the block, 16 or 16x16: what threadIdx.x, .y and .z in a pattern mean"},
    {"define", 'D', SMP_O_LIST, offsetof(bank_settings, defines), .argument = "NAME=VALUES",
     .help = "a name in the patterns; of several values, -D stride=1,2,4,8, each makes a row"},
    {"from", 0, SMP_O_STRING, offsetof(bank_settings, from), .argument = "PATTERN",
     .help = "cp_async: the element of global memory that each lane copies; without it, lanes copy side by side"},
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

/* "9.0", "9", "90", "sm_90" */
static smp_code parse_capability(bank_settings *settings, smp_error *err)
{
    enum { FIRST_KNOWN = 5, LAST_KNOWN = 12 };
    static const char *const minors[LAST_KNOWN + 1] = {[5] = "023", "012", "025", "0679", "0", "013", "0", "01"};
    const char *text = settings->capability;
    const char *p = !strncmp(text, "sm_", 3) ? text + 3 : text;
    char *end = NULL;
    long whole = isdigit((unsigned char)*p) ? strtol(p, &end, 10) : -1, part = 0;
    if (whole >= 0 && *end == '.' && isdigit((unsigned char)end[1])) {
        part = strtol(end + 1, &end, 10);
    } else if (whole >= 10 && (p != text || whole > 12)) { /* sm_90, 90; 10, 11 and 12 alone are whole */
        part = whole % 10;
        whole /= 10;
    }
    if (whole < 1 || whole > 99 || part > 9 || *end)
        return smp_fail(err, SMP_E_USAGE, "'%s' is not a compute capability", text),
               smp_hint(err, "5.2, 7.5, 8.6, 9.0, 12.0, ...");
    if (whole < FIRST_KNOWN)
        return smp_fail(err, SMP_E_USAGE, "the rules of compute capability %ld.%ld are not known here", whole, part),
               smp_hint(err, "write 5.0 or newer");
    if (whole <= LAST_KNOWN && !strchr(minors[whole], (int)('0' + part))) {
        char known[40] = "";
        for (size_t i = 0, used = 0; minors[whole][i]; i++)
            used +=
                (size_t)snprintf(known + used, sizeof known - used, "%s%ld.%c", i ? ", " : "", whole, minors[whole][i]);
        smp_fail(err, SMP_E_USAGE, "'%s' means compute capability %ld.%ld, which no GPU has", text, whole, part);
        return smp_hint(err, "write %s, or sm_90 for 9.0", known);
    }
    settings->major = (int)whole;
    settings->minor = (int)part;
    snprintf(settings->capability_text, sizeof settings->capability_text, "%d.%d", settings->major % 100,
             settings->minor % 10);
    return SMP_OK;
}

/* Instructions that a device does not have, or that nobody measured. */
static smp_code check_op(const bank_settings *settings, smp_error *err)
{
    const smp_bank_op op = kinds[settings->op].kind;
    const int first = kinds[settings->op].first_cc;
    if (settings->major * 10 + settings->minor < first) {
        smp_fail(err, SMP_E_USAGE, "compute capability %s has no %s", settings->capability_text, ops[settings->op]);
        return smp_hint(err, "it came with %d.%d", first / 10, first % 10);
    }
    if (settings->from && op != SMP_BANK_ASYNC)
        return smp_fail(err, SMP_E_USAGE, "--from says what cp_async copies; %s copies nothing", ops[settings->op]),
               smp_hint(err, "--op cp_async, or leave --from out");
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
    if (lane < SMP_WARP)
        return smp_fail(err, SMP_E_USAGE, "--offsets: %d offsets, and a warp has %d lanes", lane, SMP_WARP),
               smp_hint(err, "write - for each lane that takes no part");
    return SMP_OK;
}

/* Bytes that each lane accesses, and in *size those of an element. */
static smp_code take_width(const bank_settings *settings, const smp_bank_study *study, int *width, int *size,
                           smp_error *err)
{
    const int asked = settings->width ? 1 << (settings->width - 1) : 0;
    const int typed = study->part ? study->part->width : 0, element = study->part ? study->pattern->size : 0;
    const bool copy = kinds[settings->op].kind == SMP_BANK_ASYNC;
    if (study->matrix || copy) { /* they move several elements */
        *width = asked ? asked : study->matrix || (copy && element && element < SMP_BANK_BYTES) ? ROW : element;
        *width = *width ? *width : copy ? SMP_BANK_BYTES : ROW;
        *size = element ? element : *width;
        if (study->matrix ? *width == ROW : *width == 4 || *width == 8 || *width == 16)
            return SMP_OK;
        smp_fail(err, SMP_E_USAGE, "%s does not move %d bytes a lane", study->op, *width);
        return smp_hint(err, study->matrix ? "a row has 16 bytes: leave --width out" : "--width 4, 8 or 16");
    }
    *width = asked ? asked : typed ? typed : SMP_BANK_BYTES;
    *size = element ? element : *width;
    if (asked && typed && asked != typed) {
        smp_fail(err, SMP_E_USAGE, "--width %d, but the pattern's %s has %d bytes", asked, study->pattern->type, typed);
        return smp_hint(err, "leave out the one or the other");
    }
    if (kinds[settings->op].kind >= SMP_BANK_COUNT && *width != SMP_BANK_BYTES)
        return smp_fail(err, SMP_E_USAGE, "atomics of %d bytes were not measured", *width), smp_hint(err, "--width 4");
    return SMP_OK;
}

static smp_code check_alignment(const smp_bank_study *study, smp_error *err)
{
    for (int lane = 0; lane < SMP_WARP; lane++)
        if (study->access.active >> lane & 1 && study->access.offset[lane] % (uint32_t)study->access.width)
            return smp_fail(err, SMP_E_USAGE, "lane %d begins at byte %u, and %s needs a multiple of %d", lane,
                            study->access.offset[lane], study->op, study->access.width),
                   smp_hint(err, "rows of %d bytes, and a pitch that is a multiple of them", study->access.width);
    return SMP_OK;
}

/* Finds where each lane of a cp.async reads global memory. */
static smp_code find_source(const bank_settings *settings, int size, smp_bank_study *study, smp_diags *diags,
                            smp_error *err)
{
    smp_bank_access *access = &study->access;
    if (settings->op == CP_ASYNC && access->width == ROW)
        access->op = SMP_BANK_ASYNC_L2;
    else
        access->through_l1 = access->active;
    for (uint32_t lane = 0; lane < SMP_WARP; lane++)
        access->source[lane] = lane * (uint32_t)access->width;
    if (!settings->from)
        return SMP_OK;
    smp_pattern *from = smp_alloc(sizeof *from);
    smp_elements elements;
    smp_layout plain = {0};
    smp_code code =
        from ? smp_pattern_parse_with("--from", settings->from, study->defines, study->define_count, diags, from)
             : smp_fail_memory(err, "a pattern", sizeof *from);
    code = code ? code : smp_pattern_elements(from, &settings->block, access->active, size, diags, &elements);
    if (!code) {
        elements.size = from->size ? from->size : size;
        smp_elements_place(&elements, &plain, access->width, access->source);
        access->active &= elements.active;
    }
    for (int lane = 0; !code && lane < SMP_WARP; lane++)
        if (access->source[lane] % (uint32_t)access->width) {
            smp_fail(err, SMP_E_USAGE, "--from: lane %d begins at byte %u, and %s needs a multiple of %d", lane,
                     access->source[lane], study->op, access->width);
            code = smp_hint(err, "what it copies is aligned to its width on both sides");
        }
    smp_free(from);
    return code;
}

/* An access whose elements are known. */
static smp_code finish(const bank_settings *settings, int size, smp_bank_study *study, smp_diags *diags, smp_error *err)
{
    smp_layout plain = {0};
    study->access.active = study->elements.active;
    study->elements.size = size;
    study->elements.from = study->part && !study->matrix ? study->part->offset : 0;
    smp_elements_place(&study->elements, &plain, study->access.width, study->access.offset);
    SMP_TRY(check_alignment(study, err));
    if (study->access.op == SMP_BANK_ASYNC)
        SMP_TRY(find_source(settings, size, study, diags, err));
    smp_bank_schedule_of(&study->access, &study->schedule);
    if (study->access.op < SMP_BANK_ASYNC)
        smp_advise(&study->elements, study->access.op, study->access.width, &study->advice);
    else
        study->advice.least = study->schedule.cost.ideal;
    return SMP_OK;
}

static void begin(const bank_settings *settings, smp_bank_study *study)
{
    study->op = ops[settings->op];
    study->op_text = kinds[settings->op].text;
    study->matrix = kinds[settings->op].matrix;
    study->access.op = kinds[settings->op].kind;
    snprintf(study->capability, sizeof study->capability, "%s", settings->capability_text);
}

/* A mistake of one pattern alone is a diagnostic, so that others are shown. */
static smp_code study_one(const void *given, smp_bank_study *study, smp_diags *diags, smp_error *err)
{
    const bank_settings *settings = given;
    int size = 0;
    smp_error one = {0};
    begin(settings, study);
    smp_code code = take_width(settings, study, &study->access.width, &size, &one);
    if (!code)
        code = smp_pattern_elements(study->pattern, &settings->block, settings->active, size, diags, &study->elements);
    code = code ? code : finish(settings, size, study, diags, &one);
    if (code == SMP_E_USAGE && one.message[0]) {
        smp_diag *diag = smp_diags_add(diags, SMP_ERROR, study->pattern->span, "%s", one.message);
        if (one.hint[0])
            smp_diag_fix(diags, diag, "%s", one.hint);
    } else if (code && one.message[0])
        *err = one;
    return code;
}

static smp_code study_offsets(const bank_settings *settings, smp_bank_rows *rows, smp_diags *diags, smp_error *err)
{
    int size = 0;
    SMP_NEED(smp_grow(&rows->items, &rows->capacity, 1, sizeof *rows->items), "a study", sizeof *rows->items, err);
    smp_bank_study *study = rows->items;
    memset(study, 0, sizeof *study);
    begin(settings, study);
    study->text = "offsets";
    smp_code code = take_width(settings, study, &study->access.width, &size, err);
    code = code ? code : parse_offsets(settings->offsets, study->access.width, study, err);
    study->elements.active &= settings->active;
    code = code ? code : finish(settings, size, study, diags, err);
    if (!code && !(study->name = smp_strdup(study->text)))
        code = smp_fail_memory(err, "a name", sizeof "offsets");
    rows->count = rows->expected = code ? 0 : 1;
    return code;
}

/* ------------------------------------------------------------------------------------------------ output */

static void render_map(FILE *to, const void *data)
{
    const smp_bank_study *study = data;
    char verdict[160], *title = smp_asprintf("%s (%d-byte %s, compute capability %s)", study->name, study->access.width,
                                             study->op, study->capability);
    smp_bank_verdict(verdict, sizeof verdict, study);
    smp_bank_map_svg(to, &study->access, title ? title : study->name, verdict);
    smp_free(title);
}

static smp_code write_svg(const bank_settings *settings, const smp_bank_study *study, smp_error *err)
{
    if (strcmp(settings->svg, "-") != 0)
        return smp_cli_write_file(settings->svg, settings->common.force, render_map, study, err);
    render_map(stdout, study);
    return SMP_OK;
}

static smp_code show(const bank_settings *settings, const smp_bank_study *studies, size_t count, bool many,
                     smp_error *err)
{
    bool svg_only = settings->svg && !strcmp(settings->svg, "-"),
         color = smp_cli_color(&settings->common, STDOUT_FILENO);
    smp_code code = settings->svg ? write_svg(settings, studies, err) : SMP_OK;
    if (code || svg_only)
        return code;
    if (settings->json)
        smp_bank_studies_json(stdout, studies, count, many);
    else if (many)
        smp_bank_comparison(stdout, studies, count, color);
    else
        smp_bank_study_table(stdout, studies, color);
    if (settings->explain && !settings->json) {
        putchar('\n');
        smp_bank_explain(stdout);
    }
    return SMP_OK;
}

/* The lanes that take part, the device and the block: what all patterns share. */
static smp_code prepare(bank_settings *settings, smp_diags *diags, smp_error *err)
{
    SMP_TRY(parse_capability(settings, err));
    SMP_TRY(smp_bank_block(settings->block_text, &settings->block, err));
    SMP_TRY(check_op(settings, err));
    settings->active = UINT32_MAX;
    if (settings->mask)
        SMP_TRY(smp_pattern_mask("--mask", settings->mask, &settings->block, diags, &settings->active));
    const int lanes = kinds[settings->op].lanes;
    if (lanes < SMP_WARP)
        settings->active &= (UINT32_C(1) << lanes) - 1;
    return SMP_OK;
}

static smp_code explain_or_usage(const bank_settings *settings)
{
    if (settings->explain) {
        smp_bank_explain(stdout);
        return SMP_OK;
    }
    smp_help_usage(stderr, &smp_command_bank);
    return SMP_E_USAGE;
}

static bool is_of_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool has_name(const char *text, const char *name, size_t length)
{
    for (const char *at = text; at && (at = strstr(at, name)); at++)
        if ((at == text || !is_of_name(at[-1])) && !is_of_name(at[length]))
            return true;
    return false;
}

/* A name of -D that stands in no pattern is a mistake in one of both. */
static smp_code check_names(const bank_settings *settings, smp_error *err)
{
    for (size_t i = 0; i < settings->defines.count; i++) {
        char name[64];
        const size_t length = strcspn(settings->defines.items[i], "=");
        snprintf(name, sizeof name, "%.*s", (int)length, settings->defines.items[i]);
        bool used = length >= sizeof name || has_name(settings->from, name, length);
        for (size_t k = 0; k < settings->patterns.count && !used; k++)
            used = has_name(settings->patterns.items[k], name, length);
        if (used)
            continue;
        smp_fail(err, SMP_E_USAGE, "-D %s: no pattern has the name '%s'", settings->defines.items[i], name);
        return smp_hint(err, "leave it out, or write it into the pattern: tid*stride -D stride=1,2,4,8");
    }
    return SMP_OK;
}

static smp_code bank(void *given, smp_error *err)
{
    bank_settings *settings = given;
    smp_diags diags = {0};
    smp_bank_rows rows = {0};
    smp_code code = prepare(settings, &diags, err);
    if (!code && !settings->offsets && !settings->patterns.count)
        return explain_or_usage(settings);
    if (!code && settings->offsets)
        code = study_offsets(settings, &rows, &diags, err);
    else if (!code)
        code = smp_bank_rows_of(&settings->patterns, &settings->defines, &diags, study_one, settings, &rows, err);
    code = code ? code : check_names(settings, err);
    if (settings->svg && settings->json && !strcmp(settings->svg, "-") && !err->message[0]) {
        smp_fail(err, SMP_E_USAGE, "only one of --json and --svg can go to standard output");
        code = smp_hint(err, "--svg FILE draws into a file");
    }
    if (settings->svg && rows.expected > 1 && !err->message[0]) {
        smp_fail(err, SMP_E_USAGE, "--svg draws one access, not %zu", rows.expected);
        code = smp_hint(err, "call smempipe bank once for each picture");
    }
    if (rows.count && !err->message[0]) {
        const smp_code shown = show(settings, rows.items, rows.count, rows.expected > 1, err);
        code = code ? code : shown;
    }
    if (diags.errors) {
        char *text = smp_diags_text(&diags, smp_cli_color(&settings->common, STDERR_FILENO));
        fflush(stdout);
        fputs(text ? text : "", stderr);
        smp_free(text);
    }
    smp_diags_free(&diags);
    smp_bank_rows_free(&rows);
    return code;
}

const smp_command smp_command_bank = {
    .name = "bank",
    .help = "what an access pattern to shared memory costs, drawn as a map of the banks",
    .about =
        "A warp's 32 lanes access shared memory together. Its banks serve one word each in a wavefront; lanes that "
        "want different words of one bank take turns, which is a bank conflict. The model is exact for loads, "
        "stores and atomics as measured on an H100. What is proposed against a conflict was tried on the model first.\n"
        "\n"
        "A pattern is an index in tid with C's operators, in elements of --width bytes; or an array with a walk "
        "(row, column, diagonal, antidiagonal) or with indices. 'smempipe help banks' tells the whole language, "
        "the rules and the keys of --json.",
    .settings_size = sizeof(bank_settings),
    .without = SMP_O_DEVICE | SMP_O_THREADS | SMP_O_INPUTS,
    .groups = {{"options", options}, SMP_COMMON_GROUP},
    .arguments = arguments,
    .examples = {{"smempipe bank '[32][32] column'", "a column of a tile: 32-way, and how to avoid it"},
                 {"smempipe bank tid 'float4 tid' --explain", "patterns compared, with the rules told"},
                 {"smempipe bank 'tid*stride' -D stride=1,2,4,8", "a name in a pattern: a row for each value"},
                 {"smempipe bank 'half s[16][72]; s[tid%16][tid/16*8]' --op ldmatrix", "the rows of a matrix tile"},
                 {"smempipe bank 'float s[16][17]; s[threadIdx.x][threadIdx.y]' --block 16", "as written in a kernel"},
                 {"smempipe bank 'tid*3' --mask 'tid<16' --svg map.svg", "half a warp, and its map as a picture"}},
    .run = bank,
};
