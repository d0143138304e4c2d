/* text: words on a picture, in the built-in font. */
#include "elementwise/text.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text/font.h"
#include "base/text/utf8.h"
#include "stages/shared/geometry/anchor.h"
#include "stages/shared/launch_shapes.h"
#include "stages/stage.h"

enum {
    MOST_CHARACTERS = 1000,
    FIRST_SHOWN = 0xa0, /* in remarks; those before control a terminal */
    AUTO_LINES = 25     /* a line is 1/25 of the picture's height unless size is given */
};

typedef struct params {
    const char *text;
    int64_t size, x, y; /* INT64_MIN: auto */
    int anchor;         /* one less than smp_anchored_x takes, which begin with auto */
    smp_matrix fill, ground;
    double opacity;
} params;

static const smp_param table[] = {
    {"text", offsetof(params, text), SMP_T_STRING, SMP_UNIT_NONE, 0, 0, NULL, "what is written, one line", NULL,
     SMP_P_MAIN | SMP_P_REQUIRED},
    {"size", offsetof(params, size), SMP_T_INT, SMP_UNIT_PX, 1, 10000, "auto",
     "height of the line, rounded to a multiple of 10 px, since letters are 10 dots high; auto: 4% of the picture's",
     NULL, SMP_P_AUTO | SMP_P_OF_HEIGHT},
    {"x", offsetof(params, x), SMP_T_INT, SMP_UNIT_PX, -1e6, 1e6, "auto",
     "to the right of where anchor puts it; auto: half a line away from the side", NULL, SMP_P_AUTO | SMP_P_OF_WIDTH},
    {"y", offsetof(params, y), SMP_T_INT, SMP_UNIT_PX, -1e6, 1e6, "auto", "down from there; auto likewise", NULL,
     SMP_P_AUTO | SMP_P_OF_HEIGHT},
    {"anchor", offsetof(params, anchor), SMP_T_ENUM, SMP_UNIT_NONE, 0, 0, "bottom-right",
     "in which corner, at which side, or in the middle it stands",
     (const char *const[]){"top-left", "top", "top-right", "left", "centre", "right", "bottom-left", "bottom",
                           "bottom-right", NULL},
     0},
    {"fill", offsetof(params, fill), SMP_T_MATRIX, SMP_UNIT_FRACTION, 0, 1, "[1]",
     "the colour of the letters, one value for all colours, or three", NULL, SMP_P_LEVEL},
    {"ground", offsetof(params, ground), SMP_T_MATRIX, SMP_UNIT_FRACTION, 0, 1, NULL,
     "the colour of a box behind them; unless it is given there is none", NULL, SMP_P_LEVEL},
    {"opacity", offsetof(params, opacity), SMP_T_FLOAT, SMP_UNIT_FRACTION, 0, 1, "100%",
     "0% leaves the picture as it is", NULL, 0},
    {0},
};

static smp_code check(const void *given, smp_error *err)
{
    const params *p = given;
    if (!p->text[0])
        return smp_fail(err, SMP_E_PIPE, "the text is empty");
    if (smp_font_length(p->text) > MOST_CHARACTERS)
        return smp_fail(err, SMP_E_PIPE, "the text has more than %d characters", MOST_CHARACTERS);
    return SMP_OK;
}

enum { BORDER_DOTS = 2 }; /* of the box round the letters */

/* Finds the place of the box around the letters. */
static void find_place(const params *p, const smp_shape *in, smp_text *k)
{
    enum { SIDES = 3, MARGIN_DOTS = SMP_FONT_HEIGHT / 2 };
    const int64_t usual = in->height / AUTO_LINES, size = p->size == INT64_MIN ? usual : p->size;
    const int64_t border = p->ground.values ? BORDER_DOTS : 0;
    const int anchor = p->anchor + 1, across = p->anchor % SIDES, down = p->anchor / SIDES;
    k->scale = size < SMP_FONT_HEIGHT ? 1 : (int32_t)((size + SMP_FONT_HEIGHT / 2) / SMP_FONT_HEIGHT);
    const int64_t margin = MARGIN_DOTS * k->scale;
    k->columns = (int64_t)smp_font_length(p->text) * SMP_FONT_WIDTH - 1 + 2 * border;
    k->width = k->columns * k->scale;
    k->height = (SMP_FONT_HEIGHT + 2 * border) * k->scale;
    k->x = smp_anchored_x(anchor, false, in->width, k->width) + (p->x == INT64_MIN ? margin * (1 - across) : p->x);
    k->y = smp_anchored_y(anchor, false, in->height, k->height) + (p->y == INT64_MIN ? margin * (1 - down) : p->y);
}

static smp_code draw_dots(const params *p, const smp_text *k, smp_node_plan *work, smp_error *err)
{
    const uint8_t ink = SMP_TEXT_INK;
    const int64_t rows = k->height / k->scale, border = p->ground.values ? BORDER_DOTS : 0;
    work->table.size = (size_t)(k->columns * rows);
    uint8_t *dots = work->table.data = smp_alloc(work->table.size);
    if (!dots)
        return smp_fail_memory(err, "a text", work->table.size);
    memset(dots, p->ground.values ? SMP_TEXT_GROUND : SMP_TEXT_NOTHING, work->table.size);
    const smp_font_canvas canvas = {
        .samples = dots, .stride = k->columns, .width = k->columns, .height = rows, .channels = 1};
    smp_font_draw(&canvas, border, border, 1, p->text, MOST_CHARACTERS, &ink);
    return SMP_OK;
}

static void fill_color(const smp_matrix *from, const smp_shape *in, float to[SMP_MAX_CHANNELS])
{
    for (int c = 0; c < in->channels && from->values; c++)
        to[c] = (float)(from->values[c < from->cols ? c : 0] * (double)smp_white(in->format));
}

static smp_code check_color(const smp_matrix *color, const char *name, int colours, smp_error *err)
{
    if (!color->values || (color->rows == 1 && (color->cols == 1 || (color->cols == 3 && colours == 3))))
        return SMP_OK;
    smp_fail(err, SMP_E_PIPE, "'%s' has %d values, and the picture %d colour%s", name, color->rows * color->cols,
             colours, colours == 1 ? "" : "s");
    return colours == 1 ? smp_hint(err, "give one value, or write `color rgb` before it")
                        : smp_hint(err, "give one value for all colours, or one for each of three");
}

/* Says which characters are frames, and that a place for a name is none. */
static void remark(const char *text, char *to, size_t size)
{
    enum { MOST = 8 };
    uint32_t told[MOST], code;
    size_t count = 0, used = 0;
    const char *at = text, *begin = text;
    for (; (code = smp_font_next(&at)) != 0; begin = at) {
        bool before = smp_font_has(code);
        for (size_t i = 0; i < count; i++)
            before |= told[i] == code;
        if (before || count == MOST)
            continue;
        told[count++] = code;
        const unsigned number = code == SMP_UTF8_INVALID ? (uint8_t)*begin : code;
        used += (size_t)snprintf(to + used, size - used, "%s", count > 1 ? ", " : "the font lacks ");
        used += (size_t)(number == code && code >= FIRST_SHOWN
                             ? snprintf(to + used, size - used, "%.*s", (int)(at - begin), begin)
                             : snprintf(to + used, size - used, "U+%04X", number));
    }
    if (count)
        used += (size_t)snprintf(to + used, size - used, ": frames stand for them");
    const char *place = strstr(text, "{stem}") ? "{stem}" : strstr(text, "{name}") ? "{name}" : NULL;
    if (place)
        snprintf(to + used, size - used, "%s%s is written as it stands, without a file's name", count ? "; " : "",
                 place);
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    const int colours = in->channels - in->alpha;
    smp_text *k = SMP_PLAN_KERNEL(work, smp_text);
    SMP_TRY(check_color(&p->fill, "fill", colours, err));
    SMP_TRY(check_color(&p->ground, "ground", colours, err));
    *k = (smp_text){.opacity = (float)p->opacity};
    find_place(p, in, k);
    fill_color(&p->fill, in, k->ink);
    fill_color(&p->ground, in, k->ground);
    work->effect.none =
        p->opacity == 0 || k->x >= in->width || k->y >= in->height || k->x + k->width <= 0 || k->y + k->height <= 0;
    work->ops = in->alpha ? 8 : 4;
    if (work->effect.none)
        return SMP_OK;
    remark(p->text, work->effect.remark, sizeof work->effect.remark);
    return draw_dots(p, k, work, err);
}

static const smp_variant variants[] = {
    {.name = "naive",
     .help = "sample by sample",
     .launches = {{.from = SMP_IN, .to = SMP_OUT, .cpu = SMP_CPU(text_naive), .cuda = "text_naive"}}},
    {.name = "tiled",
     .help = "CPU: rows are copied in vectors; GPU: 16 bytes a thread",
     .launches = {{.from = SMP_IN,
                   .to = SMP_OUT,
                   .cpu = SMP_CPU(text_tiled),
                   .cuda = "text_tiled",
                   .geometry = smp_geometry_packs}}},
    {0},
};

const smp_stage smp_stage_text = {
    .name = "text",
    .help = "writes words on a picture: a caption, a name, a date",
    .about = "The built-in font has printable ASCII and Latin-1, in letters of 6 x 10 dots; a dot is a square of whole "
             "pixels. What hangs over is cut off. The letters, and the box behind them where ground gives it a colour, "
             "are laid on by Porter and Duff's over, with opacity as their alpha. In `light linear`, colours are "
             "linear values. For a logo, or letters of another font, draw a picture and lay it on.",
    .example = "text \"smempipe\" size=20px anchor=bottom",
    .domain = SMP_IMAGE,
    .access = SMP_POINT,
    SMP_PARAMS(table, params),
    .check = check,
    .plan = plan,
    .variants = variants,
    .hints = SMP_HINTS(.aliases = SMP_ALIASES({"annotate drawtext", "text \"words\""},
                                              {"caption", "text \"words\" anchor=bottom"})),
};
