/* The look of the pages about kernels: see kernel_page.h. */
#include "lab/report/kernel_page.h"

#include <math.h>

#include "lab/report/bank_map.h"
#include "lab/report/bank_words.h"
#include "report/text.h"

static const char style[] =
    ":root{--ink:#1d2330;--soft:#586172;--line:#d8dce3;--paper:#fff;--track:#eef0f4;--bar:#3a6ac4;--base:#8a93a3;\n"
    "--good:#257a3e;--bad:#b3261e;--warn:#8a5a00}\n"
    "@media screen and (prefers-color-scheme:dark){:root{--ink:#e8eaee;--soft:#a5adba;--line:#3a404b;--paper:#15181d;\n"
    "--track:#262b33;--bar:#6d9bf0;--base:#8a93a3;--good:#6fcf8b;--bad:#ff8a80;--warn:#e6b450}a{color:#8fb4ff}}\n"
    "*{box-sizing:border-box}\n"
    "body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);margin:0 auto;padding:1rem;\n"
    "max-width:72rem;overflow-wrap:anywhere;-webkit-print-color-adjust:exact;print-color-adjust:exact}\n"
    "h1{font-size:1.5rem;margin:.3rem 0}h2{font-size:1.2rem;margin:1.4rem 0 .2rem;border-top:1px solid var(--line);\n"
    "padding-top:.8rem}h3{font-size:1rem;margin:.9rem 0 .3rem}\n"
    "p{margin:.3rem 0}.soft{color:var(--soft)}.bad{color:var(--bad)}.good{color:var(--good)}.warn{color:var(--warn)}\n"
    ".small{font-size:.88rem}.key{color:var(--bar)}.base{color:var(--base)}\n"
    ".verdict{font-size:1.15rem;border-left:4px solid var(--bad);padding:.2rem 0 .2rem .8rem;margin:.7rem 0}\n"
    ".verdict.free{border-color:var(--good)}ol.steps{margin:.6rem 0;padding-left:1.6rem}ol.steps li{margin:.25rem 0}\n"
    "code,.mono{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.92em}\n"
    ".row{display:grid;grid-template-columns:minmax(9em,14em) 1fr 17em;gap:.1rem .8rem;align-items:center;\n"
    "margin:.25rem 0}.row .value{font-variant-numeric:tabular-nums;white-space:nowrap}\n"
    ".row.two{grid-template-columns:6em 1fr 12em 1fr 13em;font-size:.9rem;margin:.15rem 0}\n"
    ".track{position:relative;height:1.15rem;background-color:var(--track);border-radius:3px;overflow:hidden}\n"
    ".track i{position:absolute;top:0;bottom:0;left:0;background:var(--bar)}.track i.base{background:var(--base)}\n"
    ".track i.more{background:var(--bad)}.ticks .track::after,.ticks2 .waves::after{content:'';position:absolute;\n"
    "inset:0;background-image:linear-gradient(to right,var(--paper) 1px,transparent 1px);background-size:\n"
    "var(--tick) 100%}.ticks2 .waves::after{background-size:var(--tick2) 100%}\n"
    ".track b{position:absolute;top:50%;height:2px;margin-top:-1px;background:var(--ink);min-width:2px}\n"
    ".axis{position:relative;height:1.3em;font-size:.8rem;color:var(--soft);display:block}\n"
    ".axis span{position:absolute;transform:translateX(-50%);white-space:nowrap}\n"
    ".axis span:first-child{transform:none}.axis span.end{transform:translateX(-100%)}\n"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.85rem}\n"
    "th,td{padding:.12rem .5rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}\n"
    "th:first-child,td:first-child{text-align:left;padding-left:0}td.text,th.text{text-align:left}h3 "
    ".small{font-weight:normal}\n"
    "th button{font:inherit;font-weight:600;color:inherit;background:none;border:0;padding:0;cursor:pointer}\n"
    "th[aria-sort] button{text-decoration:underline}td.heat{min-width:9em;position:relative;text-align:left}\n"
    "td.heat i{position:absolute;inset:1px auto 1px 0;background:var(--bad);opacity:.28;border-radius:3px}\n"
    "td.heat span{position:relative}dl{display:grid;grid-template-columns:auto 1fr;\n"
    "gap:.1rem .8rem;font-size:.9rem;margin:.6rem 0}dt{color:var(--soft)}dd{margin:0}\n"
    "figure{margin:.6rem 0;break-inside:avoid}figcaption{font-size:.9rem}\n"
    "figure .scroll svg.bank-map{min-width:34rem}summary{cursor:pointer;margin:.35rem 0}\n"
    "details details,details figure{margin-left:1rem}.beside{display:grid;grid-template-columns:minmax(0,36rem) 1fr;\n"
    "gap:0 1.2rem;align-items:start}.beside figure{margin:0}\n";

/* Of the parts that only some pages have, then of phones and paper, which come last. */
static const char more_style[] =
    "table.source{width:100%}table.source td{border:0;padding:.05rem .5rem;vertical-align:top}\n"
    "table.source td:first-child{text-align:right;color:var(--soft);width:3em}\n"
    "table.source td.text{white-space:pre;width:99%}table.source tr.far td{color:var(--soft);text-align:left}\n"
    ".found{border-left:4px solid var(--bad);padding-left:.8rem;margin:.6rem 0}\n"
    "svg.roofline{width:100%;height:auto;font:13px system-ui,sans-serif}svg.roofline text{fill:var(--ink)}\n"
    "svg.roofline .grid{stroke:var(--line)}svg.roofline .roof{stroke:var(--bad);stroke-width:2;fill:none}\n"
    "svg.roofline .peak{stroke-dasharray:6 4}svg.roofline .label{fill:var(--soft)}\n"
    "svg.roofline text.ceiling{fill:var(--bad);paint-order:stroke;stroke:var(--paper);stroke-width:4px}\n"
    "@media(max-width:50rem){body{padding:.8rem}.row,.row.two{grid-template-columns:1fr auto}\n"
    ".row .track,.row .axis{grid-column:1/3}.row .value{font-size:.85rem;text-align:right;white-space:normal}\n"
    ".row.two .value+.track{height:.5rem}.row.two .none{display:none}.row.two .value.count{grid-column:1/3}\n"
    ".row .track:not(.waves){grid-row:2}.row .waves{grid-row:4}.row.axes .value{grid-column:1/3}\n"
    ".row.axes .value+.axis{margin-top:.4rem}.beside{grid-template-columns:1fr}svg.roofline{font-size:19px}}\n"
    "@media print{body{max-width:none;padding:0;font-size:11pt}h2,h3,summary{break-after:avoid}\n"
    ".row{break-inside:avoid}figure .scroll svg.bank-map{min-width:0;width:100%}.scroll{overflow:visible}}\n";

/* Numbers are sorted as numbers, largest first; a cell may name its value in data-v. */
static const char script[] =
    "for(const t of document.querySelectorAll('table.sorted'))t.tHead.addEventListener('click',e=>{\n"
    "const h=e.target.closest('th');if(!h)return;const i=h.cellIndex,b=t.tBodies[0],\n"
    "d=h.getAttribute('aria-sort')==='descending'?1:-1;for(const o of h.parentNode.cells)o.removeAttribute("
    "'aria-sort');\n"
    "h.setAttribute('aria-sort',d<0?'descending':'ascending');\n"
    "const v=r=>r.cells[i].dataset.v||r.cells[i].textContent;\n"
    "b.append(...[...b.rows].sort((p,q)=>{const x=parseFloat(v(p)),y=parseFloat(v(q));if(isNaN(x)&&isNaN(y))\n"
    "return d*v(p).localeCompare(v(q));return isNaN(x)?1:isNaN(y)?-1:d*(x-y)}))});\n"
    "addEventListener('beforeprint',()=>{for(const f of document.querySelectorAll('details'))f.open=true});\n"
    "addEventListener('hashchange',()=>{const f=document.querySelector(location.hash+' details');if(f)f.open=true});\n";

void smp_kernel_page_begin(FILE *to, const char *command, const char *title)
{
    fprintf(to,
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta name=\"viewport\" "
            "content=\"width=device-width,initial-scale=1\">\n<title>smempipe %s: ",
            command);
    smp_text_xml(to, title);
    fprintf(to, "</title>\n<style>\n%s%s%s</style></head>\n<body>\n", style, more_style, smp_bank_map_css());
}

void smp_kernel_page_end(FILE *to)
{
    fprintf(to, "<p class=\"soft small\">smempipe %s</p>\n<script>\n%s</script>\n</body></html>\n", SMP_VERSION,
            script);
}

void smp_kernel_page_terms(FILE *to, bool sectors)
{
    fputs(
        "<p class=\"soft small\"><b>Shared memory</b> is 32 banks, 4 bytes wide each. A <b>wavefront</b> is one turn "
        "in which every bank serves one word. Where the 32 lanes of a warp want different words of a bank, the access "
        "takes more turns than its width needs: a <b>bank conflict</b>, n-way when it takes n times as many.",
        to);
    if (sectors)
        fputs(" Global memory moves <b>sectors</b> of 32 bytes, needed or not.", to);
    fputs("</p>\n", to);
}

void smp_kernel_page_heads(FILE *to, const char *const *names)
{
    fputs("<thead><tr>", to);
    for (; *names; names++)
        fprintf(to, "<th%s><button>%s</button></th>", **names == '<' ? " class=\"text\"" : "",
                *names + (**names == '<'));
    fputs("</tr></thead>", to);
}

/* ------------------------------------------------------------------------------------------------ axes */

smp_axis smp_axis_for(double least, double most, bool may_be_logarithmic)
{
    static const double nice[] = {1, 2, 2.5, 5, 10};
    smp_axis axis = {.from = 0};
    if (!(most > 0))
        return axis;
    if (may_be_logarithmic && least > 0 && most > 30 * least) {
        const double first = floor(log10(least) - 0.1), last = ceil(log10(most));
        axis = (smp_axis){true, pow(10, first), pow(10, last), 100 / (last - first), (int)(last - first)};
        return axis;
    }
    const double rough = most / 4, power = pow(10, floor(log10(rough)));
    double step = 10 * power;
    for (size_t i = sizeof nice / sizeof nice[0]; i-- > 0;)
        if (nice[i] * power >= rough * 0.999)
            step = nice[i] * power;
    axis.to = most;
    axis.tick = 100 * step / most;
    axis.ticks = (int)floor(most / step + 1e-9);
    return axis;
}

double smp_axis_at(const smp_axis *axis, double value)
{
    if (!(axis->to > axis->from) || !(value > axis->from))
        return 0;
    const double at = axis->logarithmic ? log10(value / axis->from) / log10(axis->to / axis->from)
                                        : (value - axis->from) / (axis->to - axis->from);
    return 100 * (at < 1 ? at : 1);
}

void smp_page_seconds(FILE *to, double seconds)
{
    if (seconds < 0.9995e-3)
        fprintf(to, "%.3g &micro;s", seconds * 1e6);
    else if (seconds < 0.9995)
        fprintf(to, "%.3g ms", seconds * 1e3);
    else
        fprintf(to, "%.4g s", seconds);
}

static void put_amount(FILE *to, double value)
{
    if (value >= 1e6)
        fprintf(to, "%.4g M", value / 1e6);
    else if (value >= 1e4)
        fprintf(to, "%.4g k", value / 1e3);
    else
        fprintf(to, "%.4g", value);
}

void smp_axis_put(FILE *to, const smp_axis *axis, bool seconds)
{
    enum { MOST_LABELS = 5 };
    const int every = (axis->ticks + MOST_LABELS - 1) / MOST_LABELS;
    fputs("<span class=\"axis\">", to);
    for (int i = 0; axis->ticks && i <= axis->ticks; i += every) {
        const double at = i * axis->tick;
        const double value = axis->logarithmic ? axis->from * pow(10, i) : axis->to * at / 100;
        fprintf(to, "<span%s style=\"left:%.2f%%\">", at > 92 ? " class=\"end\"" : "", at);
        if (seconds && value > 0)
            smp_page_seconds(to, value);
        else
            put_amount(to, value);
        fputs("</span>", to);
    }
    fputs("</span>", to);
}

/* ------------------------------------------------------------------------------------------------ maps */

void smp_kernel_page_map(FILE *to, const smp_bank_access *access, const char *summary, const char *name, bool open)
{
    enum { MOST_WAVEFRONTS = 8 };
    char text[300];
    if (!access->active)
        return;
    const smp_bank_cost cost = smp_bank_cost_of(access, SMP_BANKS_CC5);
    const smp_bank_map_svg_options options = {.most_wavefronts = MOST_WAVEFRONTS};
    fprintf(to, "<details%s><summary>", open ? " open" : "");
    smp_text_xml(to, summary);
    fputs("</summary><figure><figcaption>", to);
    if (smp_bank_turns_text(text, sizeof text, access, SMP_BANKS_CC5))
        fprintf(to, "In this access %s: <span class=\"bad\">%d wavefronts where %d would do</span>. ", text,
                cost.wavefronts, cost.ideal);
    else
        fprintf(to, "%d wavefront%s, as many as its width needs: <span class=\"good\">no conflict</span>. ",
                cost.wavefronts, cost.wavefronts == 1 ? "" : "s");
    if (cost.conflicts && smp_bank_advice_text(text, sizeof text, access, cost.ideal, name)) {
        fputs("<b>To avoid it:</b> ", to);
        smp_text_xml(to, text);
        fputs(". ", to);
    }
    fprintf(to,
            "<br><span class=\"soft\">Banks across, a line a wavefront; a number is the lane that is served, + more "
            "than one. <span class=\"good\">&#9632; first turn</span>%s</span></figcaption><div class=\"scroll\">",
            cost.conflicts ? " <span class=\"bad\">&#9632; later turns: conflicts</span>" : "");
    smp_bank_map_svg(to, access, SMP_BANKS_CC5, &options);
    fputs("</div></figure></details>\n", to);
}
