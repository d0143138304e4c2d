/* A text set in a font, as a reader of marks (stages/shared/drawing/letters.h): a font is a stranger's file, and this
 * reader is opened where pictures are decoded. The input is a line that says which font of the file is wanted, how many
 * bytes the text has, and how many the font; then both. */
#include "io/font/font.h"

#include <stdio.h>
#include <string.h>

#include "base/text/utf8.h"
#include "io/font/font_library.h"

#ifdef SMP_HAVE_FONTS

#define ft smp_font_library

typedef struct setting {
    FT_Library library;
    FT_Face face;
    hb_font_t *font;
    uint8_t *data; /* the font's */
    char text[4 * SMP_TEXT_MOST + 1];
    uint32_t codes[SMP_TEXT_MOST];
    hb_script_t scripts[SMP_TEXT_MOST];
    bool leftwards[SMP_TEXT_MOST];
    int count;
    double x, y; /* of the letter, units from where it begins */
    smp_marks marks;
} setting;

/* ------------------------------------------------------------------------------------------------ outlines */

static int add_point(void *to, smp_mark_kind kind, const FT_Vector *p)
{
    setting *s = to;
    smp_mark_add(&s->marks, kind, (double)p->x + s->x, (double)p->y + s->y);
    return s->marks.failed || s->marks.count > SMP_OUTLINE_MOST;
}

static int move_to(const FT_Vector *p, void *to)
{
    return add_point(to, SMP_MARK_MOVE, p);
}

static int line_to(const FT_Vector *p, void *to)
{
    return add_point(to, SMP_MARK_LINE, p);
}

static int conic_to(const FT_Vector *control, const FT_Vector *p, void *to)
{
    return add_point(to, SMP_MARK_CONIC, control) || add_point(to, SMP_MARK_LINE, p);
}

static int cubic_to(const FT_Vector *a, const FT_Vector *b, const FT_Vector *p, void *to)
{
    return add_point(to, SMP_MARK_CUBIC, a) || add_point(to, SMP_MARK_CUBIC, b) || add_point(to, SMP_MARK_LINE, p);
}

/* ------------------------------------------------------------------------------------------------ letters */

static bool is_blank(uint32_t code)
{
    return ft.hb_unicode_general_category(ft.hb_unicode_funcs_get_default(), code) ==
           HB_UNICODE_GENERAL_CATEGORY_SPACE_SEPARATOR;
}

/* Whether a line may end behind a character: blanks that do not bind, hyphens, ideographs. */
static bool breaks(uint32_t code, hb_script_t script)
{
    enum { NO_BREAK = 0xa0, NARROW_NO_BREAK = 0x202f, FIGURE = 0x2007, HYPHEN = 0x2010 };
    if (is_blank(code))
        return code != NO_BREAK && code != NARROW_NO_BREAK && code != FIGURE;
    return code == '-' || code == HYPHEN || script == HB_SCRIPT_HAN || script == HB_SCRIPT_HIRAGANA ||
           script == HB_SCRIPT_KATAKANA;
}

/* One of n glyphs that HarfBuzz made, in the order of reading; 64ths of a unit. */
static void add_glyph(setting *s, const hb_glyph_info_t *info, const hb_glyph_position_t *place, bool last)
{
    static const FT_Outline_Funcs take = {move_to, line_to, conic_to, cubic_to, 0, 0};
    enum { UNIT = 64 };
    const uint32_t code = s->codes[info->cluster];
    const bool found = info->codepoint && !ft.FT_Load_Glyph(s->face, info->codepoint, FT_LOAD_NO_SCALE) &&
                       s->face->glyph->format == FT_GLYPH_FORMAT_OUTLINE;
    if (!found)
        smp_mark_add(&s->marks, SMP_MARK_MISSING, code, 0);
    smp_mark_add(&s->marks, SMP_MARK_LETTER, (double)place->x_advance / UNIT,
                 (is_blank(code) ? SMP_LETTER_BLANK : 0) |
                     (last && breaks(code, s->scripts[info->cluster]) ? SMP_LETTER_BREAKS : 0) |
                     (s->leftwards[info->cluster] ? SMP_LETTER_LEFTWARDS : 0));
    s->x = (double)place->x_offset / UNIT;
    s->y = (double)place->y_offset / UNIT;
    if (found || !ft.FT_Load_Glyph(s->face, 0, FT_LOAD_NO_SCALE)) /* the frame of what is missing */
        (void)ft.FT_Outline_Decompose(&s->face->glyph->outline, &take, s);
}

/* Characters from .. to-1, which are of one script and read in one direction. */
static smp_code add_run(setting *s, int from, int to, smp_error *err)
{
    hb_buffer_t *buffer = ft.hb_buffer_create();
    unsigned n, places;
    ft.hb_buffer_add_codepoints(buffer, s->codes, s->count, (unsigned)from, to - from);
    ft.hb_buffer_set_script(buffer, s->scripts[from]);
    ft.hb_buffer_set_direction(buffer, s->leftwards[from] ? HB_DIRECTION_RTL : HB_DIRECTION_LTR);
    ft.hb_buffer_set_language(buffer, ft.hb_language_from_string("und", -1)); /* whatever the user's is */
    ft.hb_shape(s->font, buffer, NULL, 0);
    const hb_glyph_info_t *infos = ft.hb_buffer_get_glyph_infos(buffer, &n);
    const hb_glyph_position_t *all = ft.hb_buffer_get_glyph_positions(buffer, &places);
    const bool made = ft.hb_buffer_allocation_successful(buffer) && places == n;
    for (unsigned i = 0; made && i < n; i++) {
        const unsigned k = s->leftwards[from] ? n - 1 - i : i, next = s->leftwards[from] ? k - 1 : k + 1;
        if (infos[k].cluster < (unsigned)s->count)
            add_glyph(s, &infos[k], &all[k], next >= n || infos[next].cluster != infos[k].cluster);
    }
    ft.hb_buffer_destroy(buffer);
    return made ? SMP_OK : smp_fail_memory(err, "letters", (uint64_t)(to - from));
}

/* ------------------------------------------------------------------------------------------------ directions */

static bool is_neutral(hb_script_t script)
{
    return script == HB_SCRIPT_COMMON || script == HB_SCRIPT_INHERITED || script == HB_SCRIPT_UNKNOWN;
}

/* What stands between two directions goes with both where they agree, else with the paragraph (Unicode's UAX 9, N1 and
 * N2, without embeddings); and is taken for the script beside it. */
static void resolve_neutrals(setting *s, int from, int to, bool base)
{
    for (int i = from, end; i < to; i = end) {
        for (end = i + 1; end < to && is_neutral(s->scripts[end]) == is_neutral(s->scripts[i]);)
            end++;
        if (!is_neutral(s->scripts[i]))
            continue;
        const bool before = i > from ? s->leftwards[i - 1] : base, after = end < to ? s->leftwards[end] : base;
        const bool leftwards = before == after ? before : base;
        const hb_script_t script = i > from && before == leftwards  ? s->scripts[i - 1]
                                   : end < to && after == leftwards ? s->scripts[end]
                                                                    : HB_SCRIPT_COMMON;
        for (int k = i; k < end; k++) {
            s->leftwards[k] = leftwards;
            s->scripts[k] = script;
        }
    }
}

static smp_code add_paragraph(setting *s, int from, int to, smp_error *err)
{
    bool base = false, known = false;
    for (int i = from; i < to; i++) {
        const bool digit = s->codes[i] >= '0' && s->codes[i] <= '9'; /* read from the left everywhere */
        s->scripts[i] = ft.hb_unicode_script(ft.hb_unicode_funcs_get_default(), s->codes[i]);
        s->leftwards[i] = ft.hb_script_get_horizontal_direction(s->scripts[i]) == HB_DIRECTION_RTL;
        if (!known && !is_neutral(s->scripts[i])) {
            base = s->leftwards[i];
            known = true;
        }
        if (digit)
            s->scripts[i] = HB_SCRIPT_LATIN;
    }
    resolve_neutrals(s, from, to, base);
    smp_mark_add(&s->marks, SMP_MARK_PARAGRAPH, base, 0);
    for (int i = from, end; i < to; i = end) {
        for (end = i + 1; end < to && s->scripts[end] == s->scripts[i] && s->leftwards[end] == s->leftwards[i];)
            end++;
        SMP_TRY(add_run(s, i, end, err));
    }
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ reading */

static smp_code read_input(setting *s, smp_source *source, int *index, size_t *size, smp_error *err)
{
    char line[64] = "";
    unsigned length = 0, bytes = 0;
    size_t n = 0;
    while (n + 1 < sizeof line && smp_source_read(source, line + n, 1) == 1 && line[n] != '\n')
        n++;
    if (sscanf(line, "%d %u %u", index, &length, &bytes) != 3 || length >= sizeof s->text || bytes > SMP_FONT_MOST)
        return smp_fail(err, SMP_E_LIMIT, "a font has at most %d MB", SMP_FONT_MOST >> 20);
    *size = bytes;
    SMP_NEED(s->data = smp_alloc_raw(bytes + 1), "a font", bytes, err);
    SMP_TRY(smp_source_fill(source, s->text, length, err));
    SMP_TRY(smp_source_fill(source, s->data, bytes, err));
    for (const char *at = s->text; *at && s->count < SMP_TEXT_MOST; s->count++) {
        uint32_t code;
        at += smp_utf8_decode(at, strlen(at), &code);
        s->codes[s->count] = code == SMP_UTF8_INVALID ? SMP_NO_CHARACTER : code == '\t' ? ' ' : code;
    }
    return SMP_OK;
}

static smp_code open_face(setting *s, int index, size_t size, smp_error *err)
{
    enum { UNIT = 64, INCH = 72 };
    SMP_TRY(smp_library_need(SMP_LIBRARY_FONT, SMP_E_DECODE, err));
    if (ft.FT_Init_FreeType(&s->library))
        return smp_fail_memory(err, "FreeType", size);
    if (ft.FT_New_Memory_Face(s->library, s->data, (FT_Long)size, index, &s->face) || !FT_IS_SCALABLE(s->face))
        return smp_fail(err, SMP_E_DECODE, "it is not a font of outlines"),
               smp_hint(err, "fonts are .ttf, .otf, .ttc, .pfb and what else FreeType reads; not .woff2");
    const FT_Face f = s->face;
    const long em = f->units_per_EM ? f->units_per_EM : 1000; /* one unit is a pixel: nothing is rounded */
    const long high = f->ascender - f->descender;
    if (ft.FT_Set_Char_Size(f, em * UNIT, em * UNIT, INCH, INCH) || !(s->font = ft.hb_ft_font_create(f, NULL)))
        return smp_fail(err, SMP_E_DECODE, "the font is damaged");
    ft.hb_ft_font_set_load_flags(s->font, FT_LOAD_NO_HINTING);
    smp_mark_add(&s->marks, SMP_MARK_FONT, (double)(high > 0 ? high : em), (double)(high > 0 ? f->ascender : em));
    return SMP_OK;
}

static smp_code read_open(smp_reader *reader, smp_error *err)
{
    setting *s = reader->state;
    int index = 0;
    size_t size = 0;
    SMP_TRY(read_input(s, &reader->source, &index, &size, err));
    SMP_TRY(open_face(s, index, size, err));
    for (int i = 0, end; i <= s->count; i = end + 1) {
        for (end = i; end < s->count && s->codes[end] != '\n';)
            end++;
        SMP_TRY(add_paragraph(s, i, end, err));
    }
    if (s->marks.failed || s->marks.count > SMP_OUTLINE_MOST)
        return smp_fail(err, SMP_E_LIMIT, "the letters' outlines have more than %d points", SMP_OUTLINE_MOST);
    reader->media.shape = (smp_shape){.kind = SMP_IMAGE,
                                      .width = sizeof(smp_mark) / sizeof(float),
                                      .height = (int64_t)s->marks.count,
                                      .channels = 1,
                                      .format = SMP_F32};
    reader->media.bits = 32;
    reader->media.file_format = smp_format_raw.name; /* one that the program knows */
    return smp_check_picture(&reader->options.limits, reader->media.shape.width, reader->media.shape.height, 0, err);
}

static smp_code read_row(smp_reader *reader, int64_t y, void *to, smp_error *)
{
    memcpy(to, &((const setting *)reader->state)->marks.items[y], sizeof(smp_mark));
    return SMP_OK;
}

static void read_close(smp_reader *reader)
{
    setting *s = reader->state;
    if (s->font)
        ft.hb_font_destroy(s->font);
    if (s->face)
        ft.FT_Done_Face(s->face);
    if (s->library)
        ft.FT_Done_FreeType(s->library);
    smp_free_all(s->marks.items, s->data, s);
}

const smp_file_format smp_format_font = {.name = "font",
                                         .kind = SMP_IMAGE,
                                         .library = SMP_LIBRARY_FONT,
                                         .read_state = sizeof(setting),
                                         .read_open = read_open,
                                         .read_row = read_row,
                                         .read_close = read_close};

#else

const smp_file_format smp_format_font = {.name = "font"};

#endif
