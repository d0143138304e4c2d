/* Pages of a contact sheet: see montage_page.h. */
#include "commands/many/montage_page.h"

#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/text/font.h"
#include "pipe/values/color.h"

enum {
    LABEL_ABOVE = 3, /* dots between a picture and its label */
    LABEL_HEIGHT = LABEL_ABOVE + SMP_FONT_HEIGHT,
    SMALL_CELL = 320 /* px: up to this width a dot of the font is a pixel */
};

bool smp_montage_ground(smp_montage *montage, const char *text)
{
    double values[SMP_COLOR_VALUES];
    const int count = smp_color_read(text, strlen(text), values);
    const bool none = !strcmp(text, "none") || !strcmp(text, "transparent");
    montage->channels = none ? 4 : 3;
    if (!none && count != 1 && count != 3)
        return false;
    for (int i = 0; !none && i < 3; i++)
        montage->ground[i] = (uint8_t)(values[count == 1 ? 0 : i] * 255 + 0.5);
    return true;
}

void smp_montage_ink(smp_montage *montage)
{
    enum { BRIGHT = 128 };
    const uint8_t *g = montage->ground;
    const int luma = (299 * g[0] + 587 * g[1] + 114 * g[2]) / 1000; /* ITU-R BT.601 */
    memset(montage->ink, luma < BRIGHT && montage->channels == 3 ? 255 : 0, 3);
    montage->ink[3] = 255;
    montage->scale = (int)smp_max_i64(1, montage->cell_width / SMALL_CELL);
}

static int64_t label_height(const smp_montage *m)
{
    return m->labels ? (int64_t)LABEL_HEIGHT * m->scale : 0;
}

smp_code smp_montage_page_make(const smp_montage *m, int64_t rows, uint64_t most_pixels, smp_montage_page *page,
                               smp_error *err)
{
    size_t bytes = 0;
    int64_t across, down;
    *page = (smp_montage_page){.samples = NULL};
    const bool counted = smp_mul_i64(m->columns, m->cell_width + m->gap, &across) &&
                         smp_mul_i64(rows, m->cell_height + label_height(m) + m->gap, &down) &&
                         smp_add_i64(across, m->gap, &page->width) && smp_add_i64(down, m->gap, &page->height) &&
                         page->width <= INT32_MAX && page->height <= INT32_MAX &&
                         smp_mul_size((size_t)(page->width * m->channels), (size_t)page->height, &bytes);
    if (!counted || (most_pixels && (uint64_t)page->width * (uint64_t)page->height > most_pixels))
        return smp_fail(err, SMP_E_LIMIT, "a page of %lld x %lld cells would be too large", (long long)m->columns,
                        (long long)rows),
               smp_hint(err, "take smaller cells, fewer rows or columns, or raise the limit with --max-pixels");
    page->stride = page->width * m->channels;
    page->samples = smp_alloc(bytes);
    SMP_NEED(page->samples, "a page", bytes, err);
    for (size_t i = 0; i < bytes; i += (size_t)m->channels)
        memcpy(page->samples + i, m->ground, (size_t)m->channels);
    return SMP_OK;
}

void smp_montage_page_free(smp_montage_page *page)
{
    smp_free(page->samples);
    *page = (smp_montage_page){.samples = NULL};
}

/* Lays the picture on the ground at x, y; on a transparent one it keeps its alpha. */
static void put_picture(const smp_montage *m, const smp_montage_page *page, int64_t x, int64_t y,
                        const smp_small_picture *p)
{
    const int colours = p->channels < 3 ? 1 : 3;
    const bool alpha = p->channels > colours;
    for (int64_t row = 0; row < p->height; row++)
        for (int64_t column = 0; column < p->width; column++) {
            const uint8_t *from = p->samples + (row * p->width + column) * p->channels;
            uint8_t *to = page->samples + (y + row) * page->stride + (x + column) * m->channels;
            const int a = alpha && m->channels == 3 ? from[colours] : 255;
            for (int c = 0; c < 3; c++)
                to[c] = (uint8_t)((from[colours == 1 ? 0 : c] * a + m->ground[c] * (255 - a) + 127) / 255);
            if (m->channels == 4)
                to[3] = alpha ? from[colours] : 255;
        }
}

/* A frame of the cell's size, crossed out. */
static void put_missing(const smp_montage *m, const smp_montage_page *page, int64_t x, int64_t y)
{
    const int64_t w = m->cell_width, h = m->cell_height, longer = smp_max_i64(w, h);
    for (int64_t i = 0; i < longer; i++) {
        const int64_t at[2] = {i * (w - 1) / smp_max_i64(1, longer - 1), i * (h - 1) / smp_max_i64(1, longer - 1)};
        const int64_t dots[6][2] = {{at[0], 0},     {at[0], h - 1}, {0, at[1]},
                                    {w - 1, at[1]}, {at[0], at[1]}, {w - 1 - at[0], at[1]}};
        for (int k = 0; k < 6; k++)
            memcpy(page->samples + (y + dots[k][1]) * page->stride + (x + dots[k][0]) * m->channels, m->ink,
                   (size_t)m->channels);
    }
}

/* In the middle of a cell's width. A name that is too long loses its middle, so that its extension stays. */
static void put_label(const smp_montage *m, const smp_montage_page *page, int64_t x, int64_t y, const char *name)
{
    static const char gap[] = "..";
    const smp_font_canvas canvas = {page->samples, page->stride, page->width, page->height, m->channels};
    const int64_t advance = (int64_t)SMP_FONT_WIDTH * m->scale;
    const size_t length = smp_font_length(name), most = (size_t)(m->cell_width / advance);
    if (length <= most) {
        smp_font_draw(&canvas, x + (m->cell_width - (int64_t)length * advance) / 2, y, m->scale, name, most, m->ink);
    } else if (most > 4) {
        const size_t tail = (most - 2) / 2, head = most - 2 - tail;
        const int64_t left = x + (m->cell_width - (int64_t)most * advance) / 2;
        smp_font_draw(&canvas, left, y, m->scale, name, head, m->ink);
        smp_font_draw(&canvas, left + (int64_t)head * advance, y, m->scale, gap, 2, m->ink);
        for (size_t i = tail; i < length; i++)
            smp_font_next(&name);
        smp_font_draw(&canvas, left + (int64_t)(head + 2) * advance, y, m->scale, name, tail, m->ink);
    } else
        smp_font_draw(&canvas, x, y, m->scale, name, most, m->ink);
}

void smp_montage_draw(const smp_montage *m, const smp_montage_page *page, int64_t index,
                      const smp_small_picture *picture, const char *name)
{
    const int64_t x = m->gap + index % m->columns * (m->cell_width + m->gap),
                  y = m->gap + index / m->columns * (m->cell_height + label_height(m) + m->gap);
    if (picture->samples)
        put_picture(m, page, x + (m->cell_width - picture->width) / 2, y + (m->cell_height - picture->height) / 2,
                    picture);
    else
        put_missing(m, page, x, y);
    if (m->labels)
        put_label(m, page, x, y + m->cell_height + (int64_t)LABEL_ABOVE * m->scale, name);
}
