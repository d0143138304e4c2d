/* Issues for machines that show them beside the source: SARIF 2.1.0 (OASIS), which code hosts read to annotate a pull
 * request, and JUnit's XML, which they read as tests. */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/hash/hash.h"
#include "base/paths.h"
#include "base/version.h"
#include "lab/report/lab_issues.h"
#include "report/text.h"

static const struct rule {
    const char *id, *level, *title, *help;
} rules[] = {
    {"race", "error", "Threads race for memory",
     "Two threads access the same bytes, one of them writes another value, and no barrier of both orders them. Put "
     "__syncthreads() or __syncwarp() between the two lines, or use an atomic operation."},
    {"uninitialised", "error", "Memory is read that nobody wrote",
     "The value is whatever was there before. Write it first, and a barrier between where other threads write it."},
    {"bounds", "error", "An access lies outside of its buffer",
     "Compare the index with the size before the access, or launch fewer threads."},
    {"misaligned", "error", "An address is not a multiple of the access's size",
     "A GPU ends the launch. Align the array (__align__), or access smaller elements."},
    {"barrier", "error", "Not all threads reach a barrier",
     "Move the barrier out of the branch, and let no thread return before it."},
    {"copy", "error", "A copy of the host leaves its buffer",
     "Compare its bytes with those of cudaMalloc: sizes are bytes."},
    {"free", "error", "Memory is freed twice, or none is there",
     "Free each buffer once, by the pointer of cudaMalloc."},
    {"leak", "warning", "Memory is never freed", "cudaFree it before the program ends."},
    {"stopped", "error", "A kernel did not reach its end", "What was counted until then is told."},
    {"slower", "warning", "A kernel is predicted to take longer than before",
     "smempipe kernel --time tells of the earlier and of this source what bounds it, and which lines wait."},
    {"different", "error", "Another kernel leaves other values, or a GPU counts otherwise",
     "Compare what both write at that place; the first kernel of a comparison is the one that the others are held to."},
    {"conflicts", "warning", "Lanes want different words of one bank of shared memory",
     "Each conflict is a wavefront more. Pad the array's rows by an element, or swizzle its columns."},
    {"spills", "warning", "Registers spill to local memory",
     "ptxas has too few registers for what lives at one time. Raise the limit (__launch_bounds__, -maxrregcount), or "
     "keep less alive: smaller tiles, less unrolling."},
    {"local", "note", "An array lies in local memory",
     "It is indexed by what the compiler does not know. Unroll the loop, or keep the array in shared memory."},
    {"uncoalesced", "warning", "More sectors of global memory move than the bytes need",
     "Let neighbouring threads (threadIdx.x) access neighbouring addresses, or go through a tile in shared memory."},
};

/* The rule of that name; one without help where the list has none. */
static struct rule rule_of(const char *id)
{
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (!strcmp(rules[i].id, id))
            return rules[i];
    return (struct rule){id, "error", id, id};
}

/* ------------------------------------------------------------------------------------------------ places */

/* The folder that paths are told from: the nearest one above with .git in it, or the current one. */
static void find_root(char root[PATH_MAX])
{
    char git[PATH_MAX + 8], folder[PATH_MAX];
    if (!getcwd(root, PATH_MAX))
        snprintf(root, PATH_MAX, "/");
    snprintf(folder, sizeof folder, "%s", root);
    for (;;) {
        snprintf(git, sizeof git, "%s/.git", folder);
        char *slash = strrchr(folder, '/');
        if (!access(git, F_OK)) {
            snprintf(root, PATH_MAX, "%s", folder);
            return;
        }
        if (!slash || slash == folder)
            return;
        *slash = 0;
    }
}

/* A file as the root has it where it is below it, else its whole path. */
static const char *beneath(const char *root, const char *path, char real[PATH_MAX])
{
    const size_t size = strlen(root);
    const char *at = realpath(path, real) ? real : path;
    return !strncmp(at, root, size) && at[size] == '/' ? at + size + 1 : at;
}

/* A reference as RFC 3986 has it. */
static void put_uri(smp_json *json, const char *root, const char *path)
{
    char real[PATH_MAX], uri[3 * PATH_MAX + 8] = "";
    const char *at = beneath(root, path, real);
    size_t used = 0;
    if (at[0] == '/')
        used = (size_t)snprintf(uri, sizeof uri, "file://");
    for (; *at && used + 4 < sizeof uri; at++)
        if ((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9') ||
            strchr("-._~/", *at))
            uri[used++] = *at;
        else
            used += (size_t)snprintf(uri + used, sizeof uri - used, "%%%02X", (unsigned char)*at);
    uri[used] = 0;
    smp_json_string(json, "uri", uri);
}

static void put_location(smp_json *json, const char *root, const char *path, uint32_t line)
{
    smp_json_object(json, "physicalLocation");
    smp_json_object(json, "artifactLocation");
    put_uri(json, root, path);
    smp_json_end(json, '}');
    if (line)
        SMP_JSON_OBJECT(json, "region", ("startLine", line));
    smp_json_end(json, '}');
}

static void put_message(smp_json *json, const char *key, const char *text)
{
    SMP_JSON_OBJECT(json, key, ("text", text));
}

/* ------------------------------------------------------------------------------------------------ SARIF */

enum { MOST_RULES = 64 };
typedef struct sarif {
    const smp_lab_report *report;
    char root[PATH_MAX];
    const char *met[MOST_RULES]; /* the rules of its issues */
    size_t met_count;
    uint64_t *fingerprints; /* of each issue; null: no memory, and none are told */
} sarif;

static size_t rule_index(sarif *s, const char *rule)
{
    size_t at = 0;
    while (at < s->met_count && strcmp(s->met[at], rule) != 0)
        at++;
    if (at == s->met_count && at < MOST_RULES)
        s->met[s->met_count++] = rule;
    return at;
}

static void put_rule(smp_json *json, const char *id)
{
    const struct rule rule = rule_of(id);
    smp_json_object(json, NULL);
    smp_json_string(json, "id", id);
    put_message(json, "shortDescription", rule.title);
    put_message(json, "fullDescription", rule.help);
    put_message(json, "help", rule.help);
    SMP_JSON_OBJECT(json, "defaultConfiguration", ("level", rule.level));
    smp_json_end(json, '}');
}

/* What stays where lines move: rule, kernel, and the texts of the lines. */
static uint64_t fingerprint_of(const smp_lab_issue *issue, smp_lab_sources *sources)
{
    smp_hash hash = smp_hash_start();
    smp_hash_text(&hash, issue->rule);
    smp_hash_text(&hash, issue->first->kernel);
    smp_hash_text(&hash, issue->line ? smp_lab_access_name(&issue->sum) : "");
    smp_hash_text(&hash, smp_lab_line(sources, issue->path, issue->line));
    if (issue->other_path)
        smp_hash_text(&hash, smp_lab_line(sources, issue->other_path, issue->other_line));
    return smp_hash_mix(hash.a);
}

static void put_fingerprint(smp_json *json, const sarif *s, size_t of)
{
    unsigned before = 0; /* equal lines are numbered */
    char text[40];
    for (size_t i = 0; i < of; i++)
        before += s->fingerprints[i] == s->fingerprints[of];
    snprintf(text, sizeof text, "%016" PRIx64 ":%u", s->fingerprints[of], before);
    SMP_JSON_OBJECT(json, "partialFingerprints", ("smempipeLine/v1", text));
}

/* "Threads race for memory, kernel sum: ... (32 times); the other access is at a.cu:7." */
static void message_of(const smp_lab_issue *issue, char *text, size_t size)
{
    char what[SMP_LAB_ADVICE], advice[SMP_LAB_ADVICE], times[48] = "", other[120] = "";
    smp_lab_issue_text(issue, what, sizeof what);
    if (issue->found && issue->count > 1)
        snprintf(times, sizeof times, " (%" PRIu64 " times)", issue->count);
    if (issue->other_path)
        snprintf(other, sizeof other, "; the other access is at %.80s:%u", smp_base_name(issue->other_path),
                 issue->other_line);
    const bool advised = issue->cost > 0 && issue->sum.space != SMP_WARP_LOCAL &&
                         smp_lab_advice(issue->first, &issue->sum, advice, sizeof advice);
    snprintf(text, size, "%s, %s%.200s%s: %s%s%s%s%s.", rule_of(issue->rule).title,
             issue->first->grid[0] ? "kernel " : "", issue->first->kernel, issue->kernels > 1 ? " and others" : "",
             what, times, other, advised ? ". To avoid it: " : "", advised ? advice : "");
}

static void put_result(smp_json *json, sarif *s, size_t of)
{
    const smp_lab_report *report = s->report;
    const smp_lab_issue *issue = &report->issues->items[of];
    const double little = 0.01; /* of all that could go */
    const bool is_little = issue->cost > 0 && issue->cost < little * report->issues->cost;
    const char *file = report->files[issue->first - report->results].file;
    char text[3 * SMP_LAB_ADVICE];
    message_of(issue, text, sizeof text);
    SMP_JSON_OPEN(json, NULL, ("ruleId", issue->rule), ("ruleIndex", rule_index(s, issue->rule)),
                  ("level", is_little ? "note" : rule_of(issue->rule).level));
    put_message(json, "message", text);
    smp_json_array(json, "locations");
    smp_json_object(json, NULL);
    put_location(json, s->root, issue->path[0] ? issue->path : file, issue->line);
    smp_json_end(json, '}');
    smp_json_end(json, ']');
    if (issue->other_path) {
        smp_json_array(json, "relatedLocations");
        smp_json_object(json, NULL);
        smp_json_integer(json, "id", 1);
        put_location(json, s->root, issue->other_path[0] ? issue->other_path : file, issue->other_line);
        put_message(json, "message", "the other access");
        smp_json_end(json, '}');
        smp_json_end(json, ']');
    }
    if (s->fingerprints)
        put_fingerprint(json, s, of);
    smp_json_integer(json, "occurrenceCount", issue->count ? (int64_t)issue->count : 1);
    if (issue->state)
        smp_json_string(json, "baselineState", issue->state);
    smp_json_end(json, '}');
}

static void put_tool(smp_json *json, sarif *s)
{
    smp_json_object(json, "tool");
    SMP_JSON_OPEN(json, "driver", ("name", "smempipe kernel"), ("semanticVersion", SMP_VERSION));
    smp_json_array(json, "rules");
    for (size_t i = 0; i < s->report->issues->count; i++) {
        const size_t had = s->met_count;
        if (rule_index(s, s->report->issues->items[i].rule) == had && had < MOST_RULES)
            put_rule(json, s->met[had]);
    }
    smp_json_end(json, ']');
    smp_json_end(json, '}');
    smp_json_end(json, '}');
}

void smp_lab_sarif(FILE *to, const smp_lab_report *report)
{
    const smp_lab_issues *issues = report->issues;
    sarif s = {.report = report, .fingerprints = smp_alloc_array(issues->count + 1, sizeof *s.fingerprints)};
    smp_json json;
    bool whole = true;
    find_root(s.root);
    for (size_t i = 0; i < issues->count && s.fingerprints; i++)
        s.fingerprints[i] = fingerprint_of(&issues->items[i], report->sources);
    for (size_t i = 0; i < report->count; i++)
        whole = whole && !report->results[i].stopped;
    smp_json_begin(&json, to, false);
    SMP_JSON_OPEN(&json, NULL, ("$schema", "https://json.schemastore.org/sarif-2.1.0.json"), ("version", "2.1.0"));
    smp_json_array(&json, "runs");
    smp_json_object(&json, NULL);
    put_tool(&json, &s);
    smp_json_array(&json, "invocations");
    SMP_JSON_OBJECT(&json, NULL, ("executionSuccessful", whole));
    smp_json_end(&json, ']');
    smp_json_array(&json, "results");
    for (size_t i = 0; i < issues->count; i++)
        put_result(&json, &s, i);
    for (const char *at = "]}]}"; *at; at++)
        smp_json_end(&json, *at);
    smp_free(s.fingerprints);
}

/* ------------------------------------------------------------------------------------------------ JUnit */

static size_t failures_of(const smp_lab_issues *issues, const char *rule)
{
    size_t count = 0;
    for (size_t i = 0; i < issues->count; i++)
        count += issues->items[i].fails && (!rule || !strcmp(issues->items[i].rule, rule));
    return count;
}

/* Why a rule was not looked for; null: it was. */
static const char *why_skipped(const smp_lab_report *report, const char *rule)
{
    const bool is_leak = !strcmp(rule, "leak"), is_spills = !strcmp(rule, "spills");
    const bool is_race = !strcmp(rule, "race") || !strcmp(rule, "uninitialised");
    if (!report->host && (is_leak || !strcmp(rule, "copy") || !strcmp(rule, "free")))
        return "not looked for: no code of the host ran";
    if (is_leak && !report->leaks)
        return "not looked for: --fail-on leaks asks for it";
    if (!report->slower && !strcmp(rule, "slower"))
        return "not looked for: --fail-on slower= asks for it";
    if (!report->compared && !report->gpu && !strcmp(rule, "different"))
        return "not looked for: --compare or --device cuda asks for it";
    for (size_t i = 0; i < report->count; i++) {
        if (is_race && report->results[i].unchecked)
            return "not looked for where the lab executes no PTX";
        if (is_spills && !strcmp(report->results[i].code, "ptx"))
            return "not looked for in PTX, whose registers have no end";
    }
    return NULL;
}

static void put_case(FILE *to, const smp_lab_report *report, const char *rule, const char *file, const char *root)
{
    const size_t failures = failures_of(report->issues, rule);
    const char *skipped = failures ? NULL : why_skipped(report, rule);
    char text[3 * SMP_LAB_ADVICE], real[PATH_MAX];
    bool first = true;
    fprintf(to, "    <testcase classname=\"");
    smp_text_xml(to, file);
    fprintf(to, "\" name=\"%s\"", rule);
    if (skipped)
        fprintf(to, ">\n      <skipped message=\"%s\"/>\n    </testcase>\n", skipped);
    else if (!failures)
        fputs("/>\n", to);
    if (!failures)
        return;
    for (size_t i = 0; i < report->issues->count; i++) {
        const smp_lab_issue *issue = &report->issues->items[i];
        if (!issue->fails || strcmp(issue->rule, rule) != 0)
            continue;
        message_of(issue, text, sizeof text);
        if (first)
            fprintf(to, ">\n      <failure type=\"%s\" message=\"%s: %zu place%s\">", rule, rule_of(rule).title,
                    failures, failures == 1 ? "" : "s");
        first = false;
        smp_text_xml(to, beneath(root, issue->path[0] ? issue->path : file, real));
        if (issue->line)
            fprintf(to, ":%u", issue->line);
        fputs(": ", to);
        smp_text_xml(to, text);
        fputc('\n', to);
    }
    fputs("</failure>\n    </testcase>\n", to);
}

void smp_lab_junit(FILE *to, const smp_lab_report *report)
{
    enum { KNOWN = sizeof rules / sizeof rules[0] };
    const char *others[MOST_RULES], *file = report->count ? report->files[0].file : "";
    size_t other_count = 0, failing = 0, tests;
    char root[PATH_MAX];
    find_root(root);
    for (size_t i = 0; i < report->issues->count && other_count < MOST_RULES; i++) {
        const char *rule = report->issues->items[i].rule;
        bool had = strcmp(rule_of(rule).title, rule) != 0;
        for (size_t k = 0; k < other_count && !had; k++)
            had = !strcmp(others[k], rule);
        if (!had)
            others[other_count++] = rule;
    }
    tests = KNOWN + other_count;
    for (size_t i = 0; i < tests; i++)
        failing += failures_of(report->issues, i < KNOWN ? rules[i].id : others[i - KNOWN]) > 0;
    fprintf(to,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
            "  <testsuite name=\"smempipe kernel\" tests=\"%zu\" failures=\"%zu\" errors=\"0\">\n",
            tests, failing);
    for (size_t i = 0; i < tests; i++)
        put_case(to, report, i < KNOWN ? rules[i].id : others[i - KNOWN], file, root);
    fputs("  </testsuite>\n</testsuites>\n", to);
}
