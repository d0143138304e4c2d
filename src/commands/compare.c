/* smempipe compare: the variants of every stage side by side. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/cli.h"
#include "cli/shipped.h"
#include "commands/outputs.h"
#include "commands/serve/serve.h"
#include "compare/input.h"
#include "io/files/output.h"
#include "lab/report/bank_map.h"

typedef struct compare_settings {
    smp_plan_settings plan;
    const char *pipe, *in;
    const char *variants, *stages; /* separated by commas; null: all */
    int64_t repeat, enlarge;
    double time_limit;
    bool hot, explain, fuse;
    int fail_on; /* index into fail_words */
    const char *time, *json, *csv, *html;
    bool serve, no_open;
} compare_settings;

static const char *const fail_words[] = {"wrong", "slower", NULL};

static const smp_option options[] = {
    {"variants", 0, SMP_O_STRING, offsetof(compare_settings, variants), .argument = "A,B",
     .help = "compare only these with naive"},
    {"stages", 0, SMP_O_STRING, offsetof(compare_settings, stages), .argument = "A,B",
     .help = "only these stages, by name or by the number that explain shows"},
    {"repeat", 0, SMP_O_INT, offsetof(compare_settings, repeat), .fallback = "10", .argument = "N", .min = 1,
     .max = 1000, .help = "time each variant at least N times"},
    {"time-limit", 0, SMP_O_NUMBER, offsetof(compare_settings, time_limit), .fallback = "6", .argument = "S", .min = 0,
     .max = 86400,
     .help = "go on for about S seconds in all, half of it for counts, or until medians are known to 0.5 %; variants "
             "that would take longer are left out"},
    {"enlarge", 0, SMP_O_INT, offsetof(compare_settings, enlarge), .fallback = "1", .argument = "N", .min = 1,
     .max = 1000, .flags = SMP_O_SILENT,
     .help =
         "repeat the picture N times to the right and downwards (a sound behind itself): small ones do not fill a GPU"},
    {"hot", 0, SMP_O_FLAG, offsetof(compare_settings, hot),
     .help = "time with the caches as a run of the same variant leaves them (else they are emptied)"},
    {"time", 0, SMP_O_STRING, offsetof(compare_settings, time), .argument = "GPU",
     .help = "predict times of this GPU, h200 (default the GPU that is here, or h100)"},
    {"fail-on", 0, SMP_O_CHOICE, offsetof(compare_settings, fail_on), .fallback = "wrong", .argument = "WHAT",
     .help = "exit with status 7 when a variant is wrong, or, with slower, when one is slower than naive",
     .choices = fail_words},
    {"json", 0, SMP_O_STRING, offsetof(compare_settings, json), .argument = "FILE",
     .help = "write every sample, all counts and the environment; - is standard output, instead of the table"},
    {"csv", 0, SMP_O_STRING, offsetof(compare_settings, csv), .argument = "FILE",
     .help = "write a line for each variant; - is standard output"},
    {"html", 0, SMP_O_STRING, offsetof(compare_settings, html), .argument = "FILE",
     .help = "write a page with bars, a roofline and a map of the banks for every access; - is standard output"},
    {"serve", 0, SMP_O_FLAG, offsetof(compare_settings, serve),
     .help = "then open that page in the browser, live: an access to shared memory gets another pad by a slider"},
    {"no-open", 0, SMP_O_FLAG, offsetof(compare_settings, no_open), .help = "with --serve: " SMP_NO_OPEN_HELP},
    {"explain", 0, SMP_O_FLAG, offsetof(compare_settings, explain), .help = "say what the table's columns mean"},
    {"isa", 0, SMP_O_CHOICE, offsetof(compare_settings, plan.isa), .fallback = "auto", .argument = "SET",
     .flags = SMP_O_ADVANCED, .help = "instruction set of the CPU kernels: auto, base, v3 (AVX2) or v4 (AVX-512)",
     .choices = smp_isa_words},
    {"plain-storage", 0, SMP_O_FLAG, offsetof(compare_settings, plan.plain_storage), .flags = SMP_O_ADVANCED,
     .help = "store floats between all stages"},
    {"fuse", 0, SMP_O_FLAG, offsetof(compare_settings, fuse), .flags = SMP_O_ADVANCED,
     .help = "compare the steps that run takes: neighbours that it joins are one (else every stage is compared)"},
    {0},
};

static const smp_argument_row arguments[] = {
    {"P.pipe", offsetof(compare_settings, pipe), .unless = "stage", .refuse = smp_shipped_refuse,
     .help = "the pipeline"},
    {"IN", offsetof(compare_settings, in), .help = "the file to read; - is standard input"},
    {0},
};

/* ------------------------------------------------------------------------------------------------ outputs */

typedef void render_fn(FILE *to, const smp_compare *compare);

typedef struct written { /* a file that is asked for; opened before the work, so that mistakes are said at once */
    const char *option, *path;
    render_fn *render;
    smp_output *output;
} written;

enum { OUTPUTS = 3 };

static smp_code open_outputs(const compare_settings *settings, written *files, smp_error *err)
{
    const char *inputs[] = {settings->in, settings->pipe, NULL};
    int standard = 0;
    for (int i = 0; i < OUTPUTS; i++) {
        if (!files[i].path)
            continue;
        if (!strcmp(files[i].path, "-")) {
            if (standard++)
                return smp_fail(err, SMP_E_USAGE, "only one of --json, --csv and --html can go to standard output");
            continue;
        }
        smp_code code = smp_output_open(files[i].path, settings->plan.base.common.force, inputs, &files[i].output, err);
        if (code)
            return smp_at(err, "%s", files[i].path);
    }
    return SMP_OK;
}

static smp_code write_output(written *file, const smp_compare *compare, smp_error *err)
{
    char *text = NULL;
    size_t size = 0;
    if (!file->output) {
        file->render(stdout, compare);
        return SMP_OK;
    }
    FILE *to = open_memstream(&text, &size);
    SMP_NEED(to, "a report", 0, err);
    file->render(to, compare);
    smp_code code = fclose(to) ? smp_fail_memory(err, "a report", size) : SMP_OK;
    code = code ? code : smp_output_write(file->output, text, size, err);
    if (!code) {
        smp_output *output = file->output;
        file->output = NULL;
        code = smp_output_commit(output, err);
    }
    free(text);
    return code ? smp_at(err, "%s", file->path) : SMP_OK;
}

static smp_code show(const compare_settings *settings, written *files, const smp_compare *compare, smp_error *err)
{
    const smp_common *common = &settings->plan.base.common;
    bool table = !common->quiet;
    for (int i = 0; i < OUTPUTS; i++)
        if (files[i].path) {
            table = table && strcmp(files[i].path, "-") != 0;
            SMP_TRY(write_output(&files[i], compare, err));
        }
    if (table) {
        smp_compare_table(stdout, compare, common->verbose, smp_cli_color(common, STDOUT_FILENO));
        if (settings->explain) {
            fputs("\n", stdout);
            smp_compare_explain(stdout);
        }
    }
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ --serve */

static void tell_state(const smp_question *q, smp_json *json)
{
    smp_json_string(json, "view", "compare");
    smp_json_key(json, "report");
    smp_compare_json(json->to, q->context);
}

/* What the bank model says of an access whose array has `pad` bytes more behind each `row`. */
static void tell_access(const smp_question *q, smp_json *json)
{
    const int64_t row = smp_asked_number(q, "row"), pad = smp_asked_number(q, "pad");
    const int64_t width = smp_asked_number(q, "width");
    const smp_json_node *at = smp_json_member(&q->tree, q->tree.nodes, "offsets");
    smp_bank_access access = {.width = (int)width};
    at = at && at->type == '[' ? smp_json_first(&q->tree, at) : NULL;
    if (width < 1 || width > 16 || width & (width - 1) || row < width || pad < 0 || row > 1 << 20 || pad > 1 << 20)
        return;
    for (int lane = 0; lane < SMP_WARP && at; lane++, at = smp_json_next(&q->tree, at)) {
        const double offset = at->type == '0' ? at->number : -1;
        if (!(offset >= 0 && offset < 1 << 20))
            continue;
        const int64_t place = (int64_t)offset + (int64_t)offset / row * pad;
        access.offset[lane] = (uint32_t)(place < UINT32_MAX ? place / width * width : 0);
        access.active |= 1u << lane;
    }
    smp_bank_access_json(json, &access, NULL);
    smp_bank_offsets_json(json, "offsets", &access);
}

/* The page, whatever the verdict is, which remains the status. */
static smp_code serve(const compare_settings *settings, const smp_compare *found, smp_code verdict, smp_error *err)
{
    static const smp_teller tellers[] = {{"state", tell_state, NULL}, {"access", tell_access, NULL}, {0}};
    smp_error own = {.code = SMP_OK};
    smp_http *http = NULL;
    if (!settings->serve || (verdict && verdict != SMP_E_DIFFERENT))
        return verdict;
    smp_code code = smp_serve_open(&settings->plan.base.common, settings->no_open, &http, &own);
    if (!code)
        smp_cli_confine_page(&settings->plan.base.common);
    if (!code)
        code = smp_serve(http, &(smp_serve_use){"live.html", tellers, .context = (void *)(uintptr_t)found}, &own);
    smp_free(http);
    if (!verdict)
        *err = own;
    return verdict ? verdict : code;
}

/* ------------------------------------------------------------------------------------------------ the work */

/* "a,b" as a list; the texts point into *copy, which the caller frees. */
static smp_code split(const char *text, char **copy, const char ***out, size_t *count, smp_error *err)
{
    *count = 0;
    *out = NULL;
    *copy = text ? smp_strdup(text) : NULL;
    if (!text)
        return SMP_OK;
    *out = smp_alloc_array(strlen(text) + 1, sizeof **out);
    SMP_NEED(*copy && *out, "a list", strlen(text), err);
    char *rest = *copy;
    for (char *word; (word = strsep(&rest, ","));)
        if (*word)
            (*out)[(*count)++] = word;
    return SMP_OK;
}

static smp_code verdict(const compare_settings *settings, const smp_compare *compare, smp_error *err)
{
    for (size_t i = 0; i < compare->step_count; i++)
        for (size_t v = 0; v < compare->steps[i].variant_count; v++)
            if (compare->steps[i].variants[v].wrong[0])
                return smp_fail(err, SMP_E_DIFFERENT, "the results of variant %s differ from those of %s",
                                compare->steps[i].variants[v].name, compare->steps[i].base);
    if (smp_compare_any_wrong(compare))
        return smp_fail(err, SMP_E_DIFFERENT, "a variant's results differ from the first one's");
    if (smp_compare_any_disagreement(compare))
        return smp_fail(err, SMP_E_DIFFERENT, "the model and the GPU count shared-memory accesses differently");
    if (settings->fail_on == 1 && smp_compare_any_slower(compare))
        return smp_fail(err, SMP_E_DIFFERENT, "a variant is slower than naive");
    return SMP_OK;
}

/* On a machine with a GPU a comparison is of its kernels, however small the picture. */
static smp_code open_device(const compare_settings *settings, smp_device **device, char *note, size_t size,
                            smp_error *err)
{
    smp_common common = settings->plan.base.common;
    if (!common.device || !strcmp(common.device, "auto")) {
        smp_error why = {.code = SMP_OK};
        common.device = "cuda";
        note[0] = '\0';
        if (!settings->plan.isa && !smp_cli_device(&common, NULL, NULL, NULL, device, note, size, &why))
            return SMP_OK;
        common.device = "cpu";
        SMP_TRY(smp_cli_device(&common, smp_cli_isa(&settings->plan), NULL, NULL, device, note, size, err));
        if (why.message[0])
            snprintf(note, size, "times of the CPU's kernels; no GPU: %.122s", why.message);
        return SMP_OK;
    }
    return smp_cli_device(&common, smp_cli_isa(&settings->plan), NULL, NULL, device, note, size, err);
}

typedef struct comparison {
    const compare_settings *settings;
    written files[OUTPUTS];
} comparison;

static smp_code compare_program(void *given, const smp_program *program, smp_diags *diags, smp_error *err)
{
    comparison *c = given;
    const compare_settings *settings = c->settings;
    const smp_common *common = &settings->plan.base.common;
    const char **variants = NULL, **stages = NULL;
    char *variant_text = NULL, *stage_text = NULL, note[160];
    smp_compare found = {0};
    smp_device *device = NULL;
    smp_progress progress;
    smp_compare_request request = {
        .enlarge = settings->enlarge,
        .repeat = settings->repeat,
        .time_limit = settings->time_limit,
        .hot = settings->hot,
        .times = true,
        .counts = true,
        .predicted = settings->time ? settings->time : "",
        .measured = true,
        .threads = (int)common->threads,
        .progress = smp_progress_step,
        .progress_context = &progress,
    };
    smp_code code = split(settings->variants, &variant_text, &variants, &request.variant_count, err);
    code = code ? code : split(settings->stages, &stage_text, &stages, &request.stage_count, err);
    request.variants = variants;
    request.stages = stages;
    code = code ? code : open_outputs(settings, c->files, err);
    code = code ? code : open_device(settings, &device, note, sizeof note, err);
    if (code)
        goto end;
    smp_run_request run = {.program = program,
                           .diags = diags,
                           .input = settings->in,
                           .read = common->read,
                           .fast_decode = common->fast_decode,
                           .gpu_jpeg = common->gpu_jpeg,
                           .device = device,
                           .draw = smp_cli_draw(&settings->plan.base),
                           .plain_storage = settings->plan.plain_storage,
                           .no_fuse = !settings->fuse};
    smp_progress_begin(&progress, common, settings->in);
    code = smp_compare_file(&run, &request, &found, err);
    smp_progress_end(&progress);
    found.pipe = settings->pipe;
    snprintf(found.device_note, sizeof found.device_note, "%s", note);
    if (!code && !(code = show(settings, c->files, &found, err)))
        code = verdict(settings, &found, err);
    code = serve(settings, &found, code, err);
end:
    smp_compare_free(&found);
    smp_device_close(device);
    smp_free_all(variants, stages, variant_text, stage_text);
    return code;
}

static smp_code compare(void *given, smp_error *err)
{
    compare_settings *settings = given;
    comparison c = {.settings = settings,
                    .files = {{"json", settings->json, smp_compare_json, NULL},
                              {"csv", settings->csv, smp_compare_csv, NULL},
                              {"html", settings->html, smp_compare_html, NULL}}};
    smp_code code = smp_cli_check_input(settings->pipe, settings->in, err);
    code = code ? code : smp_cli_with_program(&settings->plan.base, settings->pipe, compare_program, &c, err);
    for (int i = 0; i < OUTPUTS; i++)
        smp_output_abort(c.files[i].output);
    return code;
}

const smp_command smp_command_compare = {
    .name = "compare",
    .help = "time the variants of every stage and count their bank conflicts",
    .about =
        "Runs every step of the pipeline by itself on its real input, once in each variant of its stage. Results are "
        "compared with naive's bit for bit; what is right is timed. Accesses to shared memory are counted for the GPU "
        "kernels, with or without a GPU; -v shows them for every line of the kernels. --device auto takes a GPU when "
        "there is one.",
    .settings_size = sizeof(compare_settings),
    .groups = {{"options", options}, SMP_PIPELINE_GROUP, SMP_COMMON_GROUP},
    .arguments = arguments,
    .examples = {{"smempipe compare blur.pipe photo.png --explain", "a table, and what its columns mean"},
                 {"smempipe compare -e '{whole}' photo.png --html page.html --json all.json",
                  "one stage; a page to read and every sample to compute with"}},
    .run = compare,
};
