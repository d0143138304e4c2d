/* Axes round pictures of sound: see picture_axes.h. */
#include "stages/shared/sound/picture_axes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/text/font.h"

enum { INK = 255 };
enum { LEFT_LETTERS = 6, RIGHT_LETTERS = 5, TICK = 4, GAP = 3, BAR = 10 }; /* TICK and on: dots */

smp_axes smp_axes_round(int64_t columns, int64_t rows, int panels)
{
    enum { WIDE = 1200, HIGH = 400 };
    const int text = columns >= WIDE && rows / panels >= HIGH ? 2 : 1;
    return (smp_axes){
        .columns = columns,
        .rows = rows,
        .panels = panels,
        .left = (LEFT_LETTERS * SMP_FONT_WIDTH + 2 * GAP + TICK) * text,
        .right = (RIGHT_LETTERS * SMP_FONT_WIDTH + 4 * GAP + BAR + TICK) * text,
        .top = (SMP_FONT_HEIGHT + 2 * GAP) * text,
        .bottom = (SMP_FONT_HEIGHT + 2 * GAP + TICK) * text,
        .text = text,
    };
}

static int64_t width_of(const smp_axes *a)
{
    return a->left + a->columns + a->right;
}

size_t smp_axes_size(const smp_axes *a)
{
    return (size_t)((a->top + a->bottom) * width_of(a) + a->rows * (a->left + a->right));
}

enum place { ABOVE, LEFT, RIGHT, BELOW }; /* ABOVE and BELOW have the picture's width */

static smp_font_canvas canvas(const smp_axes *a, uint8_t *frame, enum place place)
{
    const int64_t width = width_of(a), side = a->left + a->right;
    uint8_t *beside = frame + a->top * width;
    const smp_font_canvas all[] = {
        [ABOVE] = {frame, width, width, a->top, 1},
        [LEFT] = {beside, side, a->left, a->rows, 1},
        [RIGHT] = {beside + a->left, side, a->right, a->rows, 1},
        [BELOW] = {beside + a->rows * side, width, width, a->bottom, 1},
    };
    return all[place];
}

static void fill(const smp_font_canvas *c, int64_t x, int64_t y, int64_t width, int64_t height, uint8_t level)
{
    for (int64_t row = smp_max_i64(0, y); row < y + height && row < c->height; row++)
        for (int64_t column = smp_max_i64(0, x); column < x + width && column < c->width; column++)
            c->samples[row * c->stride + column] = level;
}

static void write_text(const smp_axes *a, const smp_font_canvas *c, int64_t x, int64_t y, const char *text)
{
    const uint8_t ink = INK;
    smp_font_draw(c, x, y, a->text, text, strlen(text), &ink);
}

static int64_t width_of_text(const smp_axes *a, const char *text)
{
    return (int64_t)strlen(text) * SMP_FONT_WIDTH * a->text;
}

/* 1, 2, 5, 10, ... and parts of one: the least that is not below `least`. */
static double even_step(double least)
{
    static const double firsts[] = {1, 2, 5, 10};
    const double ten = pow(10, floor(log10(least)));
    int i = 0;
    while (i < 3 && firsts[i] * ten < least * (1 - 1e-9))
        i++;
    return firsts[i] * ten;
}

static double time_step(double least)
{
    static const double clock[] = {1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600};
    if (least <= 1)
        return even_step(least);
    for (size_t i = 0; i < sizeof clock / sizeof *clock; i++)
        if (clock[i] >= least)
            return clock[i];
    return 3600 * even_step(least / 3600);
}

/* Text for a number of seconds; on a clock where the axis is a minute long or longer, which is what `all` says. */
static void time_text(char *to, size_t size, double seconds, double all)
{
    const long long whole = llround(seconds);
    if (all < 60)
        snprintf(to, size, "%.6g", seconds);
    else if (all < 3600)
        snprintf(to, size, "%lld:%02lld", whole / 60, whole % 60);
    else
        snprintf(to, size, "%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60, whole % 60);
}

void smp_axes_time(const smp_axes *a, uint8_t *frame, double seconds)
{
    const smp_font_canvas below = canvas(a, frame, BELOW);
    const int dot = a->text;
    const double all = (double)a->columns * seconds;
    const int letters = all < 60 ? 7 : 10; /* a label and the space to the next */
    double step = time_step(letters * SMP_FONT_WIDTH * dot * seconds);
    if (all >= 60 && step < 1)
        step = 1; /* the clock has no parts of a second */
    fill(&below, a->left - 1, 0, a->columns + 1, 1, INK);
    for (int64_t i = 0; (double)i * step <= (double)(a->columns - 1) * seconds; i++) {
        char text[32];
        const int64_t x = a->left + (int64_t)rint((double)i * step / seconds);
        time_text(text, sizeof text, (double)i * step, all);
        fill(&below, x, 0, 1, TICK * dot, INK);
        write_text(a, &below, x - width_of_text(a, text) / 2, (TICK + GAP) * dot, text);
    }
    const char *unit = all < 60 ? "s" : all < 3600 ? "min:s" : "h:m:s";
    write_text(a, &below, a->left + a->columns + 4 * GAP * dot, (TICK + GAP) * dot, unit);
}

/* A tick at row y of a side, and its text unless that is too close to the one before, whose row *last keeps; the text
 * stays between rows low and high. */
static void put_tick(const smp_axes *a, const smp_font_canvas *side, bool left, int64_t y, int64_t low, int64_t high,
                     const char *text, int64_t *last)
{
    const int dot = a->text, height = SMP_FONT_HEIGHT * dot;
    const int64_t tick = left ? a->left - TICK * dot : (GAP + BAR) * dot;
    fill(side, tick, y, TICK * dot, 1, INK);
    const int64_t at = smp_max_i64(low, smp_min_i64(y - height / 2 + dot, high - height));
    if (high - low < height || (*last >= 0 && *last - at < height + dot))
        return;
    *last = at;
    write_text(a, side, left ? tick - GAP * dot - width_of_text(a, text) : tick + (TICK + GAP) * dot, at, text);
}

void smp_axes_frequencies(const smp_axes *a, uint8_t *frame, smp_axes_height *height, const void *of, double most,
                          bool even)
{
    static const double firsts[] = {1, 2, 5};
    const smp_font_canvas left = canvas(a, frame, LEFT), above = canvas(a, frame, ABOVE);
    const int64_t rows = a->rows / a->panels;
    const double step = even_step(2.5 * SMP_FONT_HEIGHT * a->text * most / (double)rows);
    fill(&left, a->left - 1, 0, 1, a->rows, INK);
    write_text(a, &above, a->left - (2 * SMP_FONT_WIDTH + GAP + TICK) * a->text, GAP * a->text, "Hz");
    for (int panel = 0; panel < a->panels; panel++) {
        int64_t last = -1;
        double hz = 0, ten = 1;
        for (int i = 0; hz < most; i++) {
            char text[32];
            const double up = height(of, hz);
            if (up >= 0) {
                snprintf(text, sizeof text, hz < 1000 ? "%.5g" : "%.4gk", hz < 1000 ? hz : hz / 1000);
                const int64_t y = (panel + 1) * rows - 1 - smp_min_i64((int64_t)(up * (double)rows + 1e-9), rows - 1);
                put_tick(a, &left, true, y, panel * rows, (panel + 1) * rows, text, &last);
            }
            hz = even ? (i + 1) * step : firsts[i % 3] * ten;
            ten *= i % 3 == 2 ? 10 : 1;
        }
    }
}

void smp_axes_levels(const smp_axes *a, uint8_t *frame, double low, double high, const char *unit)
{
    const smp_font_canvas right = canvas(a, frame, RIGHT), above = canvas(a, frame, ABOVE);
    const int dot = a->text;
    const int64_t span = smp_max_i64(1, a->rows - 1);
    const double step = even_step(2.5 * SMP_FONT_HEIGHT * dot * (high - low) / (double)a->rows);
    int64_t last = -1;
    for (int64_t y = 0; y < a->rows; y++)
        fill(&right, GAP * dot, y, BAR * dot, 1, (uint8_t)(255 * (span - y) / span));
    for (double i = ceil(low / step - 1e-6); i * step <= high + 1e-6 * step; i++) {
        char text[32];
        snprintf(text, sizeof text, "%.4g", i * step == 0 ? 0. : i * step);
        put_tick(a, &right, false, span - (int64_t)rint((i * step - low) / (high - low) * (double)span), 0, a->rows,
                 text, &last);
    }
    write_text(a, &above, a->left + a->columns + GAP * dot, GAP * dot, unit);
}
