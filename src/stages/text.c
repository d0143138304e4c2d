/* text: words on a picture, in the built-in font or any other. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/text/font.h"
#include "base/text/utf8.h"
#include "stages/shared/drawing/layers.h"
#include "stages/shared/drawing/letters.h"
#include "stages/shared/geometry/anchor.h"

enum {
    FIRST_SHOWN = 0xa0, /* in remarks, beside ASCII; those before control a terminal */
    AUTO_LINES = 25     /* a line is 1/25 of the picture's height unless size is given */
};

typedef struct params {
    const char *text, *font;
    int64_t size, x, y, width; /* INT64_MIN: auto */
    int anchor;                /* one less than smp_anchored_x takes, which begin with auto */
    int align;                 /* 0: auto */
    double spacing, opacity;
    int64_t outline, shadow, blur;
    smp_matrix fill, ground, outline_fill, shadow_fill;
} params;

#define PLACE(name, flag, fallback, help) SMP_PARAM_INT(name, PX, -1e6, 1e6, fallback, help, SMP_P_AUTO | (flag))

#define LENGTH(name, field, help) SMP_PARAM_OF(params, name, field, INT, PX, 0, 1000, "0", help, NULL, SMP_P_OF_HEIGHT)
static const smp_param table[] = {
    SMP_PARAM_STRING(text, NULL, "what is written; \\n begins a line", SMP_P_MAIN | SMP_P_REQUIRED | SMP_P_LINES),
    SMP_PARAM_STRING(font, NULL,
                     "a font by name, as \"DejaVu Sans:bold\", or sans, serif, monospace; or its file, as "
                     "\"letters.ttf\"; without it, or with \"\", the built-in one",
                     SMP_P_FILE | SMP_P_NAMED),
    SMP_PARAM_INT(
        size, PX, 1, 10000, "auto",
        "height of a line; auto: 4% of the picture's. Of the built-in font rounded to a multiple of 10 px, since its "
        "letters are 10 dots high",
        SMP_P_AUTO | SMP_P_OF_HEIGHT),
    SMP_PARAM_INT(width, PX, 1, 1e6, "auto", "lines are broken where they become wider; auto: they are not",
                  SMP_P_AUTO | SMP_P_OF_WIDTH),
    SMP_PARAM_ENUM(align, "auto", "where lines begin or end together; auto: at anchor's side", 0, "auto", "left",
                   "centre", "right"),
    SMP_PARAM_FLOAT(spacing, NONE, 0.1, 10, "1", "from a line to the next, in lines", 0),
    PLACE(x, SMP_P_OF_WIDTH, "auto", "to the right of where anchor puts it; auto: half a line away from the side"),
    PLACE(y, SMP_P_OF_HEIGHT, "auto", "down from there; auto likewise"),
    {"anchor", offsetof(params, anchor), SMP_T_ENUM, SMP_UNIT_NONE, 0, 0, "bottom-right",
     "in which corner, at which side, or in the middle it stands", smp_anchors + 1, 0},
    SMP_INK("fill", fill, "[1]",
            "the colour of the letters, one value for all colours, or three; a fourth is its opacity, as in #ffffff80, "
            "here and below"),
    SMP_INK("ground", ground, NULL, "the colour of a box behind them; unless it is given there is none"),
    LENGTH("outline", outline, "how wide a line round the letters is"),
    SMP_INK("outline-fill", outline_fill, "[0]", "its colour"),
    LENGTH("shadow", shadow, "how far to the right and down a shadow falls; 0: there is none"),
    LENGTH("shadow-blur", blur, "how far its edge spreads"),
    SMP_INK("shadow-fill", shadow_fill, "[0]", "its colour"),
    SMP_PARAM_FLOAT(opacity, FRACTION, 0, 1, "100%", "0% leaves the picture as it is", 0),
    {0},
};

static smp_code check(const void *given, smp_error *err)
{
    const params *p = given;
    if (!p->text[0])
        return smp_fail(err, SMP_E_PIPE, "the text is empty");
    if (smp_font_length(p->text) > SMP_TEXT_MOST)
        return smp_fail(err, SMP_E_PIPE, "the text has more than %d characters", SMP_TEXT_MOST);
    return SMP_OK;
}

static smp_code set_letters(const params *p, smp_marks *marks, smp_error *err)
{
    if (p->font && p->font[0])
        return smp_letters_set(p->font, p->text, marks, err);
    smp_letters_built_in(p->text, marks);
    return SMP_OK;
}

static smp_code prepare(const void *given, smp_error *err)
{
    const params *p = given;
    smp_marks marks = {.count = 0};
    const smp_code code = p->font && !check(p, NULL) ? set_letters(p, &marks, err) : SMP_OK;
    smp_free(marks.items);
    return code;
}

static bool lacks(const smp_marks *marks, uint32_t code)
{
    for (size_t i = 0; i < marks->count; i++)
        if (marks->items[i].kind == SMP_MARK_MISSING && marks->items[i].a == (float)code)
            return true;
    return false;
}

/* Says which characters are frames. */
static size_t tell_missing(const char *text, const smp_marks *marks, char *to, size_t size)
{
    enum { MOST = 8 };
    uint32_t told[SMP_TEXT_MOST], code;
    size_t count = 0, used = 0;
    const char *at = text, *begin = text;
    for (; (code = smp_font_next(&at)) != 0 && count < SMP_TEXT_MOST; begin = at) {
        bool before = !lacks(marks, code == SMP_UTF8_INVALID ? SMP_NO_CHARACTER : code);
        for (size_t i = 0; i < count; i++)
            before |= told[i] == code;
        if (before)
            continue;
        told[count++] = code;
        if (count > MOST)
            continue;
        const unsigned number = code == SMP_UTF8_INVALID ? (uint8_t)*begin : code;
        used += (size_t)snprintf(to + used, size - used, "%s", count > 1 ? ", " : "the font lacks ");
        used += (size_t)(number == code && (code >= FIRST_SHOWN || isgraph((int)code))
                             ? snprintf(to + used, size - used, "%.*s", (int)(at - begin), begin)
                             : snprintf(to + used, size - used, "U+%04X", number));
    }
    if (count > MOST)
        used += (size_t)snprintf(to + used, size - used, " and %zu more", count - MOST);
    if (count)
        used += (size_t)snprintf(to + used, size - used, ": frames stand for them");
    return used;
}

static void remark(const params *p, const smp_marks *marks, int64_t over, char *to, size_t size)
{
    size_t used = tell_missing(p->text, marks, to, size);
    const char *place = strstr(p->text, "{stem}") ? "{stem}" : strstr(p->text, "{name}") ? "{name}" : NULL;
    if (place && used < size)
        snprintf(to + used, size - used, "%s%s is written as it stands, without a file's name", used ? "; " : "",
                 place);
    else if (over > 0 && p->x == INT64_MIN && !used)
        snprintf(to, size, "the text is %lld px wider than the picture: width=90%% breaks its lines", (long long)over);
}

typedef struct drawing {
    smp_outline letters, ring, ground;
    smp_layer layers[SMP_DRAWN_LAYERS];
    int count;
} drawing;

static void add_layer(drawing *d, const smp_outline *of, smp_vertex by, const smp_matrix *fill)
{
    d->layers[d->count++] = (smp_layer){.outline = of, .by = by, .fill = fill};
}

/* The letters, the line round them, their shadow, and the box behind all. */
static void add_layers(const params *p, drawing *d, int64_t border, const smp_box *box)
{
    enum { PX = SMP_OUTLINE_UNIT };
    const smp_vertex at = {(box->x + border) * PX, (box->y + border) * PX}, none = {0, 0};
    const smp_outline *widest = p->outline ? &d->ring : &d->letters;
    add_layer(d, &d->letters, at, &p->fill);
    if (p->outline) {
        smp_outline_stroke(&d->ring, &d->letters, false, p->outline * PX);
        add_layer(d, &d->ring, at, &p->outline_fill);
    }
    if (p->shadow) {
        add_layer(d, widest, (smp_vertex){at.x + p->shadow * PX, at.y + p->shadow * PX}, &p->shadow_fill);
        d->layers[d->count - 1].blur = (p->blur + 1) / 2;
    }
    if (p->ground.values) {
        smp_outline_rectangle(&d->ground, (smp_vertex){box->x * PX, box->y * PX},
                              (smp_vertex){(box->x + box->width) * PX, (box->y + box->height) * PX}, none, false);
        add_layer(d, &d->ground, none, &p->ground);
    }
}

static smp_code plan_letters(const params *p, const smp_marks *marks, drawing *d, const smp_shape *in,
                             smp_node_plan *work, smp_error *err)
{
    enum { SIDES = 3, DOTS = SMP_FONT_HEIGHT };
    const bool built_in = !p->font || !p->font[0];
    int64_t size = p->size == INT64_MIN ? in->height / AUTO_LINES : p->size, width, height;
    size = built_in ? smp_max_i64(1, (size + DOTS / 2) / DOTS) * DOTS : smp_max_i64(1, size);
    const int across = p->anchor % SIDES, down = p->anchor / SIDES;
    const smp_setting_of_lines how = {.size = size,
                                      .width = p->width == INT64_MIN ? 0 : p->width,
                                      .spacing = p->spacing,
                                      .align = (smp_align)(p->align ? p->align - 1 : across)};
    smp_letters_lay(marks, &how, &d->letters, &width, &height);
    if (p->outline)
        smp_letters_lay(marks, &how, &d->ring, &width, &height);
    const int64_t border = p->ground.values ? size / 5 : 0, margin = size / 2;
    smp_box box = {.width = width + 2 * border, .height = height + 2 * border};
    box.x =
        smp_anchored_x(p->anchor + 1, false, in->width, box.width) + (p->x == INT64_MIN ? margin * (1 - across) : p->x);
    box.y =
        smp_anchored_y(p->anchor + 1, false, in->height, box.height) + (p->y == INT64_MIN ? margin * (1 - down) : p->y);
    add_layers(p, d, border, &box);
    box = smp_layers_box(d->layers, d->count);
    SMP_TRY(smp_layers_plan(d->layers, d->count, box, p->opacity, in, work, err));
    if (!work->effect.none)
        remark(p, marks, width - in->width, work->effect.remark, sizeof work->effect.remark);
    smp_tell_idle(smp_is_ink(&p->outline_fill) && !p->outline, "outline-fill", "without outline", work);
    smp_tell_idle(smp_is_ink(&p->shadow_fill) && !p->shadow, "shadow-fill", "without shadow", work);
    smp_tell_idle(p->blur && !p->shadow, "shadow-blur", "without shadow", work);
    return SMP_OK;
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    drawing d = {.count = 0};
    smp_marks marks = {.count = 0};
    SMP_TRY(smp_check_ink(&p->fill, "fill", in, err));
    SMP_TRY(smp_check_ink(&p->ground, "ground", in, err));
    SMP_TRY(smp_check_ink(&p->outline_fill, "outline-fill", in, err));
    SMP_TRY(smp_check_ink(&p->shadow_fill, "shadow-fill", in, err));
    smp_code code = set_letters(p, &marks, err);
    code = code ? code : plan_letters(p, &marks, &d, in, work, err);
    smp_outline_free(&d.letters);
    smp_outline_free(&d.ring);
    smp_outline_free(&d.ground);
    smp_free(marks.items);
    return code;
}

const smp_stage smp_stage_text = {
    .name = "text",
    .help = "writes words on a picture: a caption, a name, a date",
    .about = "The built-in font has printable ASCII and Latin-1, in letters of 6 x 10 dots; a dot is a square of whole "
             "pixels. Other fonts are set by HarfBuzz; their outlines, without hints, cover of each pixel the area "
             "inside, in 255ths, computed in whole numbers: the same font gives the same bytes on every machine. What "
             "a font lacks is a frame, and told. A line is as high as the font says, and breaks at blanks, hyphens and "
             "ideographs; texts from right to left are set so. What hangs over is cut off. Letters, line, shadow "
             "and box are laid on as one picture by Porter and Duff's over, with opacity as its alpha. In `light "
             "linear`, colours are linear values.",
    .example = "text \"smempipe\" size=20px anchor=bottom",
    .domain = SMP_IMAGE,
    .access = SMP_POINT,
    SMP_PARAMS(table, params),
    .check = check,
    .prepare = prepare,
    .plan = plan,
    .variants = smp_drawn_variants,
    .hints = SMP_HINTS(.aliases = SMP_ALIASES({"annotate drawtext", "text \"words\" font=sans"},
                                              {"caption label", "text \"words\" font=sans anchor=bottom width=90%"})),
};
