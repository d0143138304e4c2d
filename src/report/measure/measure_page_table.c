/* The table of files of a data set's page: see measure_page.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/measure/measure_page.h"
#include "report/page.h"
#include "report/text.h"

enum {
    MOST_ROWS = 5000, /* more would make browsers slow */
    MOST_OPEN = 12    /* failures; a list of more is folded */
};

/* Sorts by a column, numbers as numbers and before texts; what is empty comes last. Saves the table as CSV. A cell that
 * shows fewer digits has them all in data-v. */
static const char script[] =
    "const t=document.getElementById('files'),b=t.tBodies[0];\n"
    "t.tHead.addEventListener('click',e=>{const h=e.target.closest('th');if(!h)return;const i=h.cellIndex,\n"
    "d=h.getAttribute('aria-sort')==='descending'?1:-1;for(const o of "
    "h.parentNode.cells)o.removeAttribute('aria-sort');\n"
    "h.setAttribute('aria-sort',d<0?'descending':'ascending');const "
    "w=c=>c.dataset.v??c.textContent,v=r=>w(r.cells[i]),n=x=>x===''?NaN:+x;\n"
    "b.append(...[...b.rows].sort((p,q)=>{const x=n(v(p)),y=n(v(q));if(isNaN(x)&&isNaN(y))return !v(p)-!v(q)||\n"
    "d*v(p).localeCompare(v(q));return isNaN(x)?1:isNaN(y)?-1:d*(x-y)}))});\n"
    "document.getElementById('save').onclick=()=>{const "
    "q=s=>/[\",\\n]/.test(s)?'\"'+s.replaceAll('\"','\"\"')+'\"':s,\n"
    "x=[...t.rows].map(r=>[...r.cells].map(c=>q(c.dataset.v??c.textContent)).join(',')).join('\\n')+'\\n',\n"
    "a=document.createElement('a');a.href=URL.createObjectURL(new Blob([x],{type:'text/csv'}));\n"
    "a.download='measure.csv';a.click()};\n";

/* A value with the digits that are read; the others are in data-v. */
static void put_cell(FILE *to, const smp_wide_row *row, size_t column)
{
    char text[SMP_NUMBER_TEXT] = "";
    const double value = column < row->value_count ? row->values[column] : (double)NAN;
    if (!isfinite(value)) {
        fputs("<td>", to);
        smp_text_xml(to, column < row->value_count ? row->texts[column] : "");
        fputs("</td>", to);
        return;
    }
    smp_json_number_text(text, value);
    if (value == floor(value) && fabs(value) < 1e12) {
        fprintf(to, "<td>%s</td>", text);
        return;
    }
    fprintf(to, "<td data-v=\"%s\">", text);
    smp_page_number(to, value);
    fputs("</td>", to);
}

void smp_measure_page_failures(const smp_measure_output *output, size_t failed)
{
    FILE *to = output->to;
    const size_t shown = output->failure_count;
    if (!shown)
        return;
    fputs("<h2>What failed</h2>\n", to);
    if (shown > MOST_OPEN)
        fprintf(to, "<details><summary>%zu files</summary>\n", failed);
    fputs("<ul>\n", to);
    for (size_t i = 0; i < shown; i++) {
        fputs("<li>", to);
        smp_text_xml(to, output->failures[i]);
        fputs("</li>\n", to);
    }
    fputs("</ul>\n", to);
    if (shown < failed)
        fprintf(to, "<p>%zu more failed.</p>\n", failed - shown);
    if (shown > MOST_OPEN)
        fputs("</details>\n", to);
}

/* Whether any file has a value in the column: things in files have columns of their own. */
static bool has_any(const smp_measure_find *found, size_t column)
{
    for (size_t i = 0; i < found->file_count; i++)
        if (!isnan(smp_wide_value(found->files[i], column)) ||
            (column < found->files[i]->value_count && found->files[i]->texts[column][0]))
            return true;
    return false;
}

void smp_measure_page_table(FILE *to, const smp_measure_find *found)
{
    const smp_wide *wide = found->wide;
    const smp_wide_row *const *files = found->files;
    const size_t file_count = found->file_count;
    const size_t shown = file_count < MOST_ROWS ? file_count : MOST_ROWS;
    fputs("<h2>Files</h2>\n<p class=\"soft\">A click on a column's name sorts by it. ", to);
    if (shown < file_count)
        fprintf(to, "The first %zu of %zu files; measure --csv has them all. ", shown, file_count);
    if (found->has_things)
        fputs("measure --csv has a row for each thing that was found in them, too. ", to);
    fputs("</p>\n<button id=\"save\">Save as CSV</button>\n<div class=\"scroll\"><table id=\"files\"><thead><tr>", to);
    bool pictures = false, sounds = false;
    for (size_t i = 0; i < file_count; i++)
        *(files[i]->rate > 0 ? &sounds : &pictures) = true;
    const char *const fixed[] = {"path",
                                 pictures ? "width" : NULL,
                                 pictures ? "height" : NULL,
                                 sounds ? "frames" : NULL,
                                 sounds ? "rate" : NULL,
                                 "channels",
                                 "format"};
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        if (fixed[i])
            fprintf(to, "<th><button>%s</button></th>", fixed[i]);
    for (size_t c = 0; c < wide->column_count; c++) {
        if (!has_any(found, c))
            continue;
        fputs("<th><button>", to);
        smp_text_xml(to, wide->columns[c]);
        fputs("</button></th>", to);
    }
    fputs("</tr></thead><tbody>\n", to);
    for (size_t i = 0; i < shown; i++) {
        const smp_wide_row *row = files[i];
        fputs("<tr><td><i>", to); /* as wide as the path, to a limit */
        smp_text_xml(to, row->path);
        fputs("</i></td>", to);
        const bool sound = row->rate > 0;
        if (pictures && sound)
            fputs("<td></td><td></td>", to);
        else if (pictures)
            fprintf(to, "<td>%lld</td><td>%lld</td>", (long long)row->width, (long long)row->height);
        if (sounds && !sound)
            fputs("<td></td><td></td>", to);
        else if (sounds)
            fprintf(to, "<td>%lld</td><td>%.10g</td>", (long long)row->height, row->rate);
        fprintf(to, "<td>%lld</td><td>%s</td>", (long long)row->channels, row->format);
        for (size_t c = 0; c < wide->column_count; c++)
            if (has_any(found, c))
                put_cell(to, row, c);
        fputs("</tr>\n", to);
    }
    fputs("</tbody></table></div>\n", to);
    fprintf(to, "<script>\n%s</script>\n", script);
}
