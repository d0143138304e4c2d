/* A plan as a picture: a box for each step from top to bottom, and on the edges between them the type of what flows
 * there, how many rows of it are in memory, and the bytes. One SVG without scripts, which follows dark mode. */
#include <string.h>

#include "commands/explain.h"
#include "report/text.h"

enum { /* px */
       BOX_WIDTH = 500,
       LINE = 19,    /* of text */
       PADDING = 13, /* in a box */
       GAP = 58,     /* between boxes: an edge and its label */
       LANE = 26,    /* between two edges beside the boxes */
       MARGIN = 24,
       BOX_COLUMNS = 46,  /* characters of a line in a box */
       MOST_LINES = 4,    /* of a statement */
       NOTE_COLUMNS = 76, /* of what stands below it; more are set closer */
       STEM = 40,         /* from a box's left to the edge that leaves it downwards */
       HEAD = 86          /* above the first box */
};

typedef struct layout {
    FILE *to;
    const smp_explanation *e;
    int *top, *height; /* of each step's box, then of each output's */
    int left;          /* of the boxes */
    int width, bottom;
    int lanes; /* edges beside the boxes so far, on the left and on the right by turns */
} layout;

static const char style[] =
    "svg{--ink:#1d2330;--soft:#586172;--line:#8a93a3;--paper:#fff;--box:#f4f6f9;--point:#3a6ac4;--stencil:#257a3e;\n"
    "--whole:#b3261e;--measure:#8a5a00;--file:#586172;color:var(--ink);background:var(--paper);\n"
    "font:15px system-ui,sans-serif}\n"
    "@media screen and (prefers-color-scheme:dark){svg{--ink:#e8eaee;--soft:#a5adba;--line:#6b7484;--paper:#15181d;\n"
    "--box:#1f242c;--point:#7aa2f0;--stencil:#5fbf7f;--whole:#f08a80;--measure:#e0b050;--file:#a5adba}}\n"
    "text{fill:var(--ink)}.soft{fill:var(--soft);font-size:13px}.big{font-size:19px;font-weight:600}\n"
    ".box{fill:var(--box);stroke:var(--line)}.edge{fill:none;stroke:var(--line);stroke-width:1.6}\n"
    ".by{stroke-dasharray:6 4}.found{stroke-dasharray:2 4}.head{fill:var(--line);stroke:none}\n"
    ".point{fill:var(--point)}.stencil{fill:var(--stencil)}.whole{fill:var(--whole)}.measure{fill:var(--measure)}\n"
    ".file{fill:var(--file)}\n";

/* Describes what a step needs of its input, as a class of the style and in words. */
static const char *kind_of(const smp_step *step, const char **words)
{
    const char *kind = "point";
    *words = "reads the same pixel";
    if (step->job == SMP_JOB_SOURCE)
        kind = "file", *words = "a file";
    else if (step->job == SMP_JOB_REDUCE)
        kind = "measure", *words = "measures";
    else if (step->whole_input)
        kind = "whole", *words = "waits for its whole input";
    else if (step->reads.up || step->reads.down)
        kind = "stencil", *words = "reads rows around";
    return kind;
}

/* ------------------------------------------------------------------------------------------------ text in boxes */

/* Bytes of the next line of at most BOX_COLUMNS characters, broken at a blank where there is one. */
static size_t line_length(const char *text)
{
    size_t at = 0, columns = 0, blank = 0;
    for (; text[at] && columns <= BOX_COLUMNS; at++) {
        if (text[at] == ' ')
            blank = at;
        columns += ((unsigned char)text[at] & 0xc0) != 0x80;
    }
    if (columns <= BOX_COLUMNS)
        return at;
    if (blank)
        return blank;
    while (at > 1 && ((unsigned char)text[at - 1] & 0xc0) == 0x80)
        at--; /* no character is cut in two */
    return at - 1;
}

static int count_lines(const char *text)
{
    int lines = 0;
    for (; *text && lines < MOST_LINES; lines++) {
        text += line_length(text);
        text += *text == ' ';
    }
    return lines ? lines : 1;
}

static void put_lines(const layout *at, const char *text, int x, int y)
{
    char line[4 * BOX_COLUMNS + 16];
    for (int i = 0; *text && i < MOST_LINES; i++) {
        const size_t length = line_length(text);
        const bool cut = i == MOST_LINES - 1 && text[length];
        snprintf(line, sizeof line, "%.*s%s", (int)length, text, cut ? " ..." : "");
        fprintf(at->to, "<text x=\"%d\" y=\"%d\">", x, y + i * LINE);
        smp_text_xml(at->to, line);
        fputs("</text>\n", at->to);
        text += length;
        text += *text == ' ';
    }
}

static void put_box(const layout *at, size_t box, const char *kind, const char *text, const char *note)
{
    const int y = at->top[box], lines = count_lines(text);
    fprintf(at->to,
            "<rect class=\"box\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\"/>"
            "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"5\" height=\"%d\" rx=\"2.5\"/>\n",
            at->left, y, BOX_WIDTH, at->height[box], kind, at->left, y, at->height[box]);
    put_lines(at, text, at->left + 18, y + PADDING + 13);
    fprintf(at->to, "<text class=\"soft\" x=\"%d\" y=\"%d\"", at->left + 18, y + PADDING + 13 + lines * LINE);
    if (strlen(note) > NOTE_COLUMNS)
        fprintf(at->to, " textLength=\"%d\" lengthAdjust=\"spacingAndGlyphs\"", BOX_WIDTH - 30);
    fputs(">", at->to);
    smp_text_xml(at->to, note);
    fputs("</text>\n", at->to);
}

/* ------------------------------------------------------------------------------------------------ edges */

static void put_head(const layout *at, int x, int y)
{
    fprintf(at->to, "<path class=\"head\" d=\"M%d %d l-5 -9 h10 z\"/>\n", x, y);
}

/* Describes the output of a step: "u8x3 640x480 as f32, 22 rows in memory, 120 KiB". */
static void edge_text(const smp_explanation *e, int index, char *text, size_t size)
{
    const smp_step *step = &e->plan->steps[index];
    const smp_explain_step *shown = &e->steps[index];
    char type[64], bytes[24], kept[64] = "rows are passed on";
    smp_shape_text(&step->out, step->storage, type, sizeof type);
    smp_text_bytes(bytes, sizeof bytes, (double)shown->bytes);
    if (step->frame)
        snprintf(kept, sizeof kept, "kept whole, %s", bytes);
    else if (shown->rows)
        snprintf(kept, sizeof kept, "%lld row%s in memory, %s", (long long)shown->rows, shown->rows == 1 ? "" : "s",
                 bytes);
    snprintf(text, size, "%s \xC2\xB7 %s", type, kept);
}

/* From one box to another: straight down to the next, else beside the boxes in between. */
static void put_edge(layout *at, size_t from, size_t to, const char *kind)
{
    if (to == from + 1) {
        const int x = at->left + STEM, y = at->top[from] + at->height[from], end = at->top[to];
        fprintf(at->to, "<path class=\"edge%s\" d=\"M%d %d V%d\"/>\n", kind, x, y, end - 8);
        put_head(at, x, end);
        return;
    }
    const bool right = at->lanes % 2 == 1;
    const int lane = (at->lanes / 2 + 1) * LANE, edge = right ? at->left + BOX_WIDTH : at->left;
    const int x = right ? edge + lane : edge - lane, side = right ? -9 : 9;
    const int y = at->top[from] + at->height[from] - 12, end = at->top[to] + 14;
    fprintf(at->to, "<path class=\"edge%s\" d=\"M%d %d H%d V%d H%d\"/>\n", kind, edge, y, x, end, edge - side);
    fprintf(at->to, "<path class=\"head\" d=\"M%d %d l%d -5 v10 z\"/>\n", edge, end, -side);
    at->lanes++;
}

/* A label stands below its step. Where the edge that leaves it does not go down from there, it says where to. */
static void note_target(const smp_plan *plan, size_t from, char *label, size_t size)
{
    size_t target = plan->step_count + plan->sink_count;
    for (size_t i = plan->step_count; i-- > 0;)
        if (plan->steps[i].input == (int)from || plan->steps[i].second == (int)from)
            target = i;
    const bool steps = target < plan->step_count;
    for (size_t i = plan->sink_count; i-- > 0 && !steps;)
        if (plan->sinks[i].step == (int)from)
            target = plan->step_count + i;
    const size_t used = strlen(label);
    if (target == from + 1 || target == plan->step_count + plan->sink_count)
        return;
    if (steps)
        snprintf(label + used, size - used, " \xC2\xB7 to step %zu", target);
    else
        snprintf(label + used, size - used, " \xC2\xB7 to its file");
}

static void put_edges(layout *at)
{
    const smp_plan *plan = at->e->plan;
    for (size_t i = 0; i < plan->step_count; i++) {
        const smp_step *step = &plan->steps[i];
        char label[160];
        edge_text(at->e, (int)i, label, sizeof label);
        note_target(plan, i, label, sizeof label);
        if (step->job != SMP_JOB_REDUCE) { /* whose output is its input */
            fprintf(at->to, "<text class=\"soft\" x=\"%d\" y=\"%d\">", at->left + STEM + 12,
                    at->top[i] + at->height[i] + GAP / 2 + 4);
            smp_text_xml(at->to, label);
            fputs("</text>\n", at->to);
        }
        if (step->input >= 0)
            put_edge(at, (size_t)step->input, i, "");
        if (step->second >= 0)
            put_edge(at, (size_t)step->second, i, " by");
        if (step->reduced_by >= 0)
            put_edge(at, (size_t)step->reduced_by, i, " found");
    }
    for (size_t i = 0; i < plan->sink_count; i++)
        put_edge(at, (size_t)plan->sinks[i].step, plan->step_count + i, "");
}

/* ------------------------------------------------------------------------------------------------ the whole */

static const char *sink_name(const smp_explanation *e, const smp_sink *sink)
{
    return e->assumed && sink->save < 0 ? "(any format)" : sink->path;
}

static const char *step_text(const layout *at, size_t index)
{
    return index ? at->e->steps[index].text : at->e->input;
}

static void step_note(const layout *at, size_t index, char *text, size_t size)
{
    const smp_step *step = &at->e->plan->steps[index];
    const smp_explain_step *shown = &at->e->steps[index];
    const char *words;
    kind_of(step, &words);
    int used = snprintf(text, size, "%zu \xC2\xB7 %s", index, words);
    if (step->reads.up || step->reads.down)
        used += snprintf(text + used, size - (size_t)used, ": %lld above, %lld below", (long long)step->reads.up,
                         (long long)step->reads.down);
    if (shown->variant)
        used += snprintf(text + used, size - (size_t)used, " \xC2\xB7 %s", shown->variant);
    if (step->linear)
        used += snprintf(text + used, size - (size_t)used, " \xC2\xB7 linear light");
    if (at->e->plan->phases > 1)
        snprintf(text + used, size - (size_t)used, " \xC2\xB7 pass %d of %d", step->phase + 1, at->e->plan->phases);
}

/* Edges beside the boxes, so that there is room for them. */
static int count_lanes(const smp_plan *plan)
{
    int lanes = 0;
    for (size_t i = 0; i < plan->step_count; i++) {
        const smp_step *step = &plan->steps[i];
        lanes += step->input >= 0 && (size_t)step->input + 1 != i;
        lanes += step->second >= 0 && (size_t)step->second + 1 != i;
        lanes += step->reduced_by >= 0 && (size_t)step->reduced_by + 1 != i;
    }
    for (size_t i = 0; i < plan->sink_count; i++)
        lanes += (size_t)plan->sinks[i].step + 1 != plan->step_count + i;
    return lanes;
}

static void put_header(const layout *at)
{
    const smp_explanation *e = at->e;
    char bytes[24], text[200];
    fprintf(at->to,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
            "role=\"img\">\n<title>",
            at->width, at->bottom, at->width, at->bottom);
    smp_text_xml(at->to, e->pipe);
    fputs(" on ", at->to);
    smp_text_xml(at->to, e->input);
    fprintf(at->to, "</title>\n<style>\n%s</style>\n<text class=\"big\" x=\"%d\" y=\"%d\">", style, MARGIN,
            MARGIN + 14);
    smp_text_xml_column(at->to, strcmp(e->pipe, "-e") ? e->pipe : "stages of -e", 44);
    smp_text_bytes(bytes, sizeof bytes, (double)e->bytes);
    snprintf(text, sizeof text, "%s \xC2\xB7 strips of up to %lld rows \xC2\xB7 memory about %s, codecs not counted",
             e->device->info.kind, (long long)e->strip_rows, bytes);
    fprintf(at->to, "</text>\n<text class=\"soft\" x=\"%d\" y=\"%d\">%s</text>\n", MARGIN, MARGIN + 37, text);
}

/* Explains colours and lines. */
static void put_legend(const layout *at)
{
    static const struct {
        const char *kind, *text;
    } rows[] = {{"point", "reads the same pixel"},
                {"stencil", "reads rows around"},
                {"whole", "waits for its whole input"},
                {"measure", "measures"}};
    const int y = at->bottom - MARGIN - LINE;
    int x = MARGIN;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fprintf(at->to,
                "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"5\" height=\"14\" rx=\"2.5\"/><text class=\"soft\" "
                "x=\"%d\" y=\"%d\">%s</text>\n",
                rows[i].kind, x, y - 11, x + 11, y, rows[i].text);
        x += 30 + 7 * (int)strlen(rows[i].text);
    }
    fprintf(at->to,
            "<text class=\"soft\" x=\"%d\" y=\"%d\">dashed: a second picture; dotted: what was measured; steps in "
            "parentheses are the planner's</text>\n",
            MARGIN, y + LINE);
}

void smp_explanation_svg(FILE *to, const void *explanation)
{
    const smp_explanation *e = explanation;
    const smp_plan *plan = e->plan;
    const size_t boxes = plan->step_count + plan->sink_count;
    const int lanes = count_lanes(plan);
    layout at = {.to = to, .e = e, .top = e->places, .height = e->places + boxes};
    at.left = MARGIN + (lanes + 1) / 2 * LANE;
    at.width = at.left + BOX_WIDTH + lanes / 2 * LANE + MARGIN;
    at.width = at.width < 660 ? 660 : at.width; /* the legend */
    int y = HEAD;
    for (size_t i = 0; i < boxes; i++) {
        const char *text = i < plan->step_count ? step_text(&at, i) : sink_name(e, &plan->sinks[i - plan->step_count]);
        at.top[i] = y;
        at.height[i] = 2 * PADDING + (count_lines(text) + 1) * LINE - 4;
        y += at.height[i] + GAP;
    }
    at.bottom = y - GAP + 3 * MARGIN + LINE;
    put_header(&at);
    put_edges(&at);
    for (size_t i = 0; i < plan->step_count; i++) {
        char note[200];
        const char *words;
        step_note(&at, i, note, sizeof note);
        put_box(&at, i, kind_of(&plan->steps[i], &words), step_text(&at, i), note);
    }
    for (size_t i = 0; i < plan->sink_count; i++) {
        char type[64], note[100];
        smp_shape_text(&plan->sinks[i].shape, plan->sinks[i].shape.format, type, sizeof type);
        snprintf(note, sizeof note, "written \xC2\xB7 %s", type);
        put_box(&at, plan->step_count + i, "file", sink_name(e, &plan->sinks[i]), note);
    }
    put_legend(&at);
    fputs("</svg>\n", to);
}
