/* How the page of a comparison begins and ends: what was found in a line for each step; and last, on what it was
 * measured. */
#include "report/bank_map.h"
#include "report/compare_html.h"
#include "report/text.h"

static const char style[] =
    ":root{--ink:#1d2330;--soft:#586172;--line:#d8dce3;--paper:#fff;--track:#eef0f4;--bar:#3a6ac4;--base:#8a93a3;\n"
    "--good:#257a3e;--bad:#b3261e;--warn:#8a5a00}\n"
    "@media screen and (prefers-color-scheme:dark){:root{--ink:#e8eaee;--soft:#a5adba;--line:#3a404b;--paper:#15181d;\n"
    "--track:#262b33;--bar:#6d9bf0;--base:#8a93a3;--good:#6fcf8b;--bad:#ff8a80;--warn:#e6b450}}\n"
    "*{box-sizing:border-box}\n"
    "body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);margin:0 auto;padding:1rem;\n"
    "max-width:60rem;overflow-wrap:anywhere;-webkit-print-color-adjust:exact;print-color-adjust:exact}\n"
    "h1{font-size:1.5rem;margin:.5rem 0}h2{font-size:1.2rem;margin:2.2rem 0 .2rem;border-top:1px solid var(--line);\n"
    "padding-top:1.2rem}h3{font-size:1rem;margin:1.2rem 0 .4rem}\n"
    "p{margin:.3rem 0}.soft{color:var(--soft)}.bad{color:var(--bad)}.good{color:var(--good)}.warn{color:var(--warn)}\n"
    ".key{color:var(--bar)}.base{color:var(--base)}table.summary{font-size:1rem;margin:.8rem 0}\n"
    "table.summary td:last-child{text-align:left;white-space:normal}\n"
    "figure.free svg.bank-map .later rect{fill:#b7e1c0;stroke:#2e7d45}\n"
    "@media screen and (prefers-color-scheme:dark){figure.free svg.bank-map .later rect{fill:#1f5c33;\n"
    "stroke:#6fcf8b}}\n"
    "code,.mono{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.92em}\n"
    ".row{display:grid;grid-template-columns:7em 1fr 19em;gap:.1rem .8rem;align-items:center;margin:.3rem 0}\n"
    ".row .value{font-variant-numeric:tabular-nums;white-space:nowrap}\n"
    ".track{position:relative;height:1.3rem;background:var(--track);border-radius:3px;overflow:hidden}\n"
    ".track i{position:absolute;top:0;bottom:0;left:0;background:var(--bar)}.track i.base{background:var(--base)}\n"
    ".track i.more{background:var(--bad)}\n"
    ".track b{position:absolute;top:50%;height:2px;margin-top:-1px;background:var(--ink);min-width:2px}\n"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.88rem}\n"
    "th,td{padding:.15rem .6rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}\n"
    "th:first-child,td:first-child{text-align:left;padding-left:0}dl{display:grid;grid-template-columns:auto 1fr;\n"
    "gap:.1rem .8rem;font-size:.9rem;margin:.6rem 0}dt{color:var(--soft)}dd{margin:0}\n"
    "figure{margin:.8rem 0;break-inside:avoid}figcaption{font-size:.9rem}\n"
    "figure .scroll svg.bank-map{min-width:34rem}summary{cursor:pointer;margin:.6rem 0}\n"
    "svg.roofline{width:100%;height:auto;font:13px system-ui,sans-serif}svg.roofline text{fill:var(--ink)}\n"
    "svg.roofline .grid{stroke:var(--line)}svg.roofline .roof{stroke:var(--bad);stroke-width:2;fill:none}\n"
    "svg.roofline .peak{stroke-dasharray:6 4}svg.roofline .label{fill:var(--soft)}\n"
    "@media(max-width:40rem){body{padding:.8rem}.row{grid-template-columns:1fr auto}.row .track{grid-column:1/3;\n"
    "grid-row:2}.row .value{font-size:.85rem;text-align:right;white-space:normal}.row .none{display:none}\n"
    "svg.roofline{font-size:19px}}\n"
    "@media "
    "print{body{max-width:none;padding:0;font-size:11pt}h2,h3,summary{break-after:avoid}.row{break-inside:avoid}\n"
    "figure .scroll svg.bank-map{min-width:0;width:100%}.scroll{overflow:visible}}\n";

const char *smp_compare_html_style(void)
{
    return style;
}

static void put_pair(FILE *to, const char *name, const char *text)
{
    if (!text || !text[0])
        return;
    fprintf(to, "<dt>%s</dt><dd>", name);
    smp_text_xml(to, text);
    fputs("</dd>\n", to);
}

/* The fastest variant of a step; null: none was timed. */
static const smp_compare_variant *fastest(const smp_compare_step *step)
{
    const smp_compare_variant *best = NULL;
    for (size_t i = 0; i < step->variant_count; i++)
        if (step->variants[i].sample_count && (!best || step->variants[i].time.median < best->time.median))
            best = &step->variants[i];
    return best;
}

static void put_wavefronts(FILE *to, const smp_compare_step *step)
{
    const smp_compare_variant *most = NULL;
    size_t free = 0, counted = 0;
    for (size_t i = 0; i < step->variant_count; i++) {
        const smp_compare_variant *variant = &step->variants[i];
        const smp_count_kind kind = smp_compare_source(variant);
        if (kind == SMP_COUNT_KINDS || !variant->counts[kind].total.instructions)
            continue;
        const double ways = smp_compare_ways(&variant->counts[kind].total);
        counted++;
        free += ways <= 1;
        if (ways > 1 && (!most || ways > smp_compare_ways(&most->counts[smp_compare_source(most)].total)))
            most = variant;
    }
    if (!counted)
        fputs("<span class=\"soft\">no shared memory</span>", to);
    else if (!most)
        fputs("<span class=\"good\">none</span>", to);
    else
        fprintf(to, "<span class=\"bad\">%s %.2f-way</span>; %zu of %zu variants have none", most->name,
                smp_compare_ways(&most->counts[smp_compare_source(most)].total), free, counted);
}

static void put_summary(FILE *to, const smp_compare *compare)
{
    fputs("<table class=\"summary\">\n<tr><th>step<th>fastest<th>&times; naive<th>bank conflicts</tr>\n", to);
    for (size_t i = 0; i < compare->step_count; i++) {
        const smp_compare_step *step = &compare->steps[i];
        const smp_compare_variant *best = fastest(step);
        bool wrong = false;
        for (size_t k = 0; k < step->variant_count; k++)
            wrong = wrong || step->variants[k].check == SMP_CHECK_WRONG;
        fprintf(to, "<tr><td><a href=\"#step%d\">%d. ", step->number, step->number);
        smp_text_xml(to, step->label);
        fprintf(to, "</a>%s</td><td>%s</td>", wrong ? " <b class=\"bad\">WRONG</b>" : "",
                best ? best->name : "&ndash;");
        if (best)
            fprintf(to, "<td>%.3g</td><td>", smp_compare_speedup(step, best));
        else
            fputs("<td>&ndash;</td><td>", to);
        put_wavefronts(to, step);
        fputs("</td></tr>\n", to);
    }
    fputs("</table>\n", to);
}

void smp_compare_html_head(FILE *to, const smp_compare *compare)
{
    fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>smempipe compare: ",
          to);
    smp_text_xml(to, compare->pipe ? compare->pipe : compare->input ? compare->input : "");
    fprintf(to, "</title>\n<style>\n%s%s</style></head>\n<body>\n<h1>", style, smp_bank_map_css());
    smp_text_xml(to, compare->pipe ? compare->pipe : "stages");
    fputs(" on ", to);
    smp_text_xml(to, compare->input ? compare->input : "?");
    fprintf(to, "</h1>\n<p>%s, on %s: ", compare->input_type, compare->device.kind);
    smp_text_xml(to, compare->device.name);
    fputs("</p>\n", to);
    if (compare->step_count)
        put_summary(to, compare);
    fputs("<p class=\"soft\">Every step ran by itself on its real input, once in each variant of its stage. Times are "
          "medians: <span class=\"base\">&#9632; naive</span>, <span class=\"key\">&#9632; others</span>; the thin "
          "line across a bar's end spans the quartiles. <a href=\"#environment\">What it was measured on.</a></p>\n",
          to);
}

void smp_compare_html_environment(FILE *to, const smp_compare *compare)
{
    const smp_device_info *device = &compare->device;
    char text[200];
    fputs("<section id=\"environment\"><h2>Measured on</h2>\n<dl>\n", to);
    put_pair(to, "input", compare->input_type);
    put_pair(to, "SHA-256", compare->input_hash);
    snprintf(text, sizeof text, "%s: %s", device->kind, device->name);
    put_pair(to, "device", text);
    put_pair(to, "note", compare->device_note);
    if (!device->compute_major) {
        snprintf(text, sizeof text, "%d", compare->threads);
        put_pair(to, "threads", text);
        put_pair(to, "instructions", device->isa);
    } else {
        put_pair(to, "host", compare->host);
    }
    put_pair(to, "driver", compare->driver);
    put_pair(to, "CUDA toolkit", compare->toolkit);
    if (compare->sm_clock) {
        snprintf(text, sizeof text, "%d MHz; %lld samples left out as throttled", compare->sm_clock,
                 (long long)compare->dropped);
        put_pair(to, "SM clock", text);
    }
    if (compare->copy_gbs > 0) {
        snprintf(text, sizeof text, "%.4g GB/s (quartiles %.4g to %.4g)", compare->copy_gbs, compare->copy_low,
                 compare->copy_high);
        put_pair(to, "copy here", text);
    }
    if (device->peak_gbs > 0) {
        snprintf(text, sizeof text, "%.4g GB/s", device->peak_gbs);
        put_pair(to, "datasheet", text);
    }
    put_pair(to, "caches", compare->hot ? "left as they are between samples" : "emptied before each sample");
    put_pair(to, "counts for", compare->counter_device);
    put_pair(to, "counts of", smp_compare_code(compare, text, sizeof text));
    put_pair(to, "not of SASS", compare->model_notes);
    for (int kind = 0; kind < SMP_COUNT_KINDS; kind++)
        if (compare->source_note[kind][0]) {
            snprintf(text, sizeof text, "no %s counts", smp_count_kind_name((smp_count_kind)kind));
            put_pair(to, text, compare->source_note[kind]);
        }
    put_pair(to, "smempipe", SMP_VERSION);
    fputs("</dl></section>\n", to);
}
