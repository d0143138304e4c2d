/* The look of pages: see page.h. */
#include "report/page.h"

#include <math.h>

#include "report/text.h"

static const char style[] =
    ":root{--ink:#1d2330;--soft:#586172;--line:#d8dce3;--paper:#fff;--card:#f4f6f9;--bar:#3a6ac4;--bad:#b3261e;\n"
    "--r:#c8372d;--g:#2a8a4a;--b:#3a6ac4;--gray:#6b7484}\n"
    "@media screen and (prefers-color-scheme:dark){:root{--ink:#e8eaee;--soft:#a5adba;--line:#3a404b;--paper:#15181d;\n"
    "--card:#1f242c;--bar:#6d9bf0;--bad:#ff8a80;--r:#ff7b70;--g:#62c283;--b:#6d9bf0;--gray:#a5adba}}\n"
    "*{box-sizing:border-box}body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);\n"
    "margin:0 auto;padding:1rem;max-width:72rem;overflow-wrap:anywhere;-webkit-print-color-adjust:exact;\n"
    "print-color-adjust:exact}h1{font-size:1.5rem;margin:.5rem 0}h2{font-size:1.2rem;margin:2rem 0 .6rem}\n"
    "h3{font-size:1rem;margin:1rem 0 .3rem}p{margin:.3rem 0}.soft{color:var(--soft);font-size:.88rem}\n"
    ".bad{color:var(--bad)}.grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(15rem,1fr));gap:.8rem;\n"
    "align-items:start}.together{display:flex;flex-wrap:wrap;gap:0 3rem;align-items:start}.together .drawn{flex:1 1 "
    "24rem}\n"
    ".together section{min-width:0;max-width:100%}\n"
    ".card{background:var(--card);border-radius:6px;padding:.7rem;break-inside:avoid;margin:0}\n"
    ".card img{display:block;margin:0 0 .5rem;max-width:100%;image-rendering:auto}.card b{display:block}\n"
    "svg{display:block;width:100%;height:auto}.spread rect{fill:var(--bar)}.spread path{stroke:var(--ink);\n"
    "stroke-width:1.2;fill:none;opacity:.6}.histogram{height:12rem;background:var(--card);border-radius:6px}\n"
    ".histogram path{opacity:.5}path.r{fill:var(--r)}path.g{fill:var(--g)}path.b{fill:var(--b)}\n"
    "path.gray{fill:var(--gray)}.ends{display:flex;justify-content:space-between;flex-wrap:wrap;gap:0 .6rem}.ends "
    "span{white-space:nowrap}\n"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.85rem}\n"
    "th,td{padding:.15rem .6rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}\n"
    "th:first-child,td:first-child{text-align:left;padding-left:0}th "
    "button{font:inherit;font-weight:600;color:inherit;\n"
    "background:none;border:0;padding:0;cursor:pointer}th[aria-sort] button{text-decoration:underline}\n"
    "td i{display:block;font-style:normal;white-space:normal;width:max-content;max-width:min(26rem,45vw)}\n"
    "ul{margin:.3rem 0;padding-left:1.2rem}\n"
    "@media(min-width:50rem){#files td:first-child,#files th:first-child{position:sticky;left:0;\n"
    "background:var(--paper)}}\n"
    "#save{font:inherit;padding:.2rem .8rem;margin:.3rem 0;color:var(--ink);background:var(--card);\n"
    "border:1px solid var(--line);border-radius:6px;cursor:pointer}\n"
    ".bars{width:100%}.bars td:nth-child(2){width:60%}.bars span{display:block;height:.8em;min-width:2px;\n"
    "background:var(--bar)}.bars td:first-child{white-space:normal}\n"
    "@media(max-width:40rem){.bars tr{display:grid;grid-template-columns:1fr auto;border-bottom:1px solid "
    "var(--line)}\n"
    ".bars td{border:0}.bars td:first-child{grid-column:1/3}.bars td:nth-child(2){width:auto;align-self:center;\n"
    "padding-left:0}}\n"
    "@media print{body{max-width:none;padding:0;font-size:10pt}#save{display:none}.scroll{overflow:visible}}\n";

void smp_page_begin(FILE *to, const char *title, const char *more)
{
    fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta name=\"viewport\" "
          "content=\"width=device-width,initial-scale=1\">\n<title>",
          to);
    smp_text_xml(to, title);
    fprintf(to, "</title>\n<style>\n%s%s</style></head>\n<body>\n", style, more);
}

void smp_page_end(FILE *to)
{
    fprintf(to, "<p class=\"soft\">smempipe %s</p>\n</body></html>\n", SMP_VERSION);
}

void smp_page_count(FILE *to, size_t count, const char *one, const char *many)
{
    fprintf(to, "%zu %s", count, count == 1 ? one : many);
}

void smp_page_number(FILE *to, double value)
{
    if (isfinite(value)) /* counts are written out */
        fprintf(to, fabs(value) < 1e12 && !(value > floor(value)) ? "%.0f" : "%.5g", value);
}
