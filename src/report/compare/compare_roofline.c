/* Draws the roofline: see compare_roofline.h. Both axes are logarithmic. A step is a column, its variants are dots in
 * it. */
#include "report/compare/compare_roofline.h"

#include <math.h>
#include <string.h>

#include "report/text.h"

enum { WIDTH = 720, HEIGHT = 400, LEFT = 96, RIGHT = 24, TOP = 20, BOTTOM = 62, VARIANTS = 16 };

static const char *const colours[] = {"#8a93a3", "#3a6ac4", "#d0782a", "#257a3e", "#9b4fb0", "#b3261e"};
enum { COLOURS = sizeof colours / sizeof colours[0] };

typedef struct plot { /* decades of both axes */
    double x0, x1, y0, y1;
} plot;

static double at_x(const plot *p, double value)
{
    return LEFT + (log10(value) - p->x0) / (p->x1 - p->x0) * (WIDTH - LEFT - RIGHT);
}

static double at_y(const plot *p, double value)
{
    return HEIGHT - BOTTOM - (log10(value) - p->y0) / (p->y1 - p->y0) * (HEIGHT - TOP - BOTTOM);
}

static double intensity(const smp_compare_step *step)
{
    return step->bytes ? step->ops / (double)step->bytes : 0;
}

static double rate(const smp_compare_step *step, const smp_compare_variant *variant)
{
    return variant->sample_count && variant->time.median > 0 ? step->ops / variant->time.median : 0;
}

/* False when there is nothing to draw. */
static bool find_plot(const smp_compare *compare, plot *p)
{
    double x0 = INFINITY, x1 = 0, y0 = INFINITY, y1 = 0;
    for (size_t i = 0; i < compare->step_count; i++)
        for (size_t k = 0; k < compare->steps[i].variant_count; k++) {
            double x = intensity(&compare->steps[i]), y = rate(&compare->steps[i], &compare->steps[i].variants[k]);
            if (!(x > 0) || !(y > 0))
                continue;
            x0 = fmin(x0, x), x1 = fmax(x1, x), y0 = fmin(y0, y), y1 = fmax(y1, y);
            double roof = x * fmax(compare->copy_gbs, compare->device.peak_gbs) * 1e9;
            if (roof > 0)
                y0 = fmin(y0, roof), y1 = fmax(y1, roof);
        }
    *p = (plot){floor(log10(x0 / 2)), ceil(log10(x1 * 2)), floor(log10(y0 / 1.5)), ceil(log10(y1 * 1.5))};
    return y1 > 0;
}

static void put_power(FILE *to, int power)
{
    static const char *const names[] = {"n", "&micro;", "m", "", "k", "M", "G", "T", "P"};
    int group = (int)floor(power / 3.0);
    if (group < -3 || group > 5)
        fprintf(to, "1e%d", power);
    else
        fprintf(to, "%.0f%s%s", pow(10, power - 3 * group), names[group + 3][0] ? " " : "", names[group + 3]);
}

static void put_axes(FILE *to, const plot *p)
{
    for (int x = (int)p->x0; x <= (int)p->x1; x++) {
        double at = at_x(p, pow(10, x));
        fprintf(to, "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>", at, at, TOP, HEIGHT - BOTTOM);
        fprintf(to, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g</text>\n", at, HEIGHT - BOTTOM + 20,
                pow(10, x));
    }
    for (int y = (int)p->y0; y <= (int)p->y1; y++) {
        double at = at_y(p, pow(10, y));
        fprintf(to, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>", LEFT, WIDTH - RIGHT, at, at);
        fprintf(to, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LEFT - 6, at + 5);
        put_power(to, y);
        fputs("</text>\n", to);
    }
    fprintf(to, "<text class=\"label\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">operations for each byte</text>\n",
            (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14);
    fprintf(to,
            "<text class=\"label\" transform=\"translate(16 %d) rotate(-90)\" text-anchor=\"middle\">operations a "
            "second</text>\n",
            (TOP + HEIGHT - BOTTOM) / 2);
}

/* The line y = x * bytes a second, clipped to the plot. */
static void put_roof(FILE *to, const plot *p, double gbs, const char *name, const char *kind)
{
    double slope = gbs * 1e9, a = pow(10, p->x0), b = pow(10, p->x1);
    if (!(slope > 0))
        return;
    a = fmax(a, pow(10, p->y0) / slope);
    b = fmin(b, pow(10, p->y1) / slope);
    if (a >= b)
        return;
    fprintf(
        to,
        "<line class=\"roof %s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"><title>%s, %.4g GB/s</title></line>\n",
        kind, at_x(p, a), at_y(p, a * slope), at_x(p, b), at_y(p, b * slope), name, gbs);
    const double lean = atan2(at_y(p, b * slope) - at_y(p, a * slope), at_x(p, b) - at_x(p, a)) * 180 / 3.14159265;
    fprintf(to,
            "<text class=\"ceiling\" text-anchor=\"end\" transform=\"translate(%.1f %.1f) rotate(%.1f) translate(-6 "
            "-8)\">%s, %.4g GB/s</text>\n",
            at_x(p, b), at_y(p, b * slope), lean, name, gbs);
}

/* The names of all variants, in the order in which they first occur. */
static int find_names(const smp_compare *compare, const char *names[VARIANTS])
{
    int count = 0;
    for (size_t i = 0; i < compare->step_count; i++)
        for (size_t k = 0; k < compare->steps[i].variant_count; k++) {
            const smp_compare_variant *variant = &compare->steps[i].variants[k];
            int n = 0;
            while (n < count && strcmp(names[n], variant->name) != 0)
                n++;
            if (n == count && count < VARIANTS && variant->sample_count)
                names[count++] = variant->name;
        }
    return count;
}

static void put_dots(FILE *to, const plot *p, const smp_compare_step *step, const char *const *names, int count)
{
    double x = intensity(step), top = 0;
    for (size_t k = 0; k < step->variant_count; k++) {
        const smp_compare_variant *variant = &step->variants[k];
        double y = rate(step, variant);
        int n = 0;
        if (!(x > 0) || !(y > 0))
            continue;
        while (n + 1 < count && strcmp(names[n], variant->name) != 0)
            n++;
        fprintf(to, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"6\" fill=\"%s\"><title>%d. ", at_x(p, x), at_y(p, y),
                colours[n % COLOURS], step->number);
        smp_text_xml(to, step->label);
        fprintf(to, ", %s: %.4g G operations a second</title></circle>\n", variant->name, y / 1e9);
        top = fmax(top, y);
    }
    if (top > 0)
        fprintf(to, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%d</text>\n", at_x(p, x), at_y(p, top) - 11,
                step->number);
}

/* The fastest dot of a step is above what memory would let it be by so much; 1 or less: it is not. */
static double above(const smp_compare *compare, const smp_compare_step *step, const smp_compare_variant **variant)
{
    const double slack = 1.02, roof = slack * fmax(compare->copy_gbs, compare->device.peak_gbs) * 1e9;
    double most = 0; /* a copy is measured, too: hence the slack */
    for (size_t k = 0; roof > 0 && intensity(step) > 0 && k < step->variant_count; k++) {
        const double over = rate(step, &step->variants[k]) / (intensity(step) * roof);
        if (over > most) {
            most = over;
            *variant = &step->variants[k];
        }
    }
    return most;
}

/* Which cache explains each dot above the line. */
static void put_above(FILE *to, const smp_compare *compare)
{
    char bytes[40], cache[80] = "the last cache";
    for (size_t i = 0; i < compare->step_count; i++) {
        const smp_compare_step *step = &compare->steps[i];
        const smp_compare_variant *variant = NULL;
        const double over = above(compare, step, &variant);
        if (over <= 1)
            continue;
        smp_text_bytes(bytes, sizeof bytes, (double)step->bytes);
        if (compare->cache_bytes > 0) {
            char size[30];
            smp_text_bytes(size, sizeof size, (double)compare->cache_bytes);
            snprintf(cache, sizeof cache, "%s of %s", compare->device.compute_major ? "the L2 cache" : "the last cache",
                     size);
        }
        fprintf(to, "<p class=\"warn\">Step %d (%s) is above the line, %.2g times: ", step->number, variant->name,
                over);
        if (step->fits_cache)
            fprintf(to, "its %s fit into %s, so that %s.", bytes, cache,
                    compare->hot ? "memory is hardly asked" : "what it writes stays there when the time stops");
        else
            fprintf(to, "a part of its %s stays in %s, whose rate is the ceiling there.", bytes, cache);
        fputs("</p>\n", to);
    }
}

void smp_compare_roofline(FILE *to, const smp_compare *compare)
{
    plot p;
    const char *names[VARIANTS];
    int count = find_names(compare, names);
    if (!find_plot(compare, &p))
        return;
    fputs("<section style=\"break-inside:avoid\"><h2>Roofline</h2>\n<div class=\"beside\">", to);
    fprintf(to, "<figure><svg class=\"roofline\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"roofline\">\n", WIDTH,
            HEIGHT);
    put_axes(to, &p);
    put_roof(to, &p, compare->copy_gbs, "copy", "copy");
    put_roof(to, &p, compare->device.peak_gbs, "datasheet", "peak");
    for (size_t i = 0; i < compare->step_count; i++)
        put_dots(to, &p, &compare->steps[i], names, count);
    fputs("</svg></figure>\n<div class=\"small\"><p>", to);
    for (int i = 0; i < count; i++)
        fprintf(to, "<span style=\"color:%s\">&#9679;</span> %s &ensp;", colours[i % COLOURS], names[i]);
    fputs("</p>\n<p>Each dot is a variant, a number its step. Higher is faster; to the right, more arithmetic for each "
          "byte.</p>\n",
          to);
    if (compare->copy_gbs > 0)
        fprintf(
            to,
            "<p><b>The red line</b> is the ceiling that memory sets: %.4g GB/s, what a copy reaches on this device%s. "
            "A dot on it is done; how far one lies below is what a better kernel could win, unless arithmetic is "
            "its limit.</p>\n",
            compare->copy_gbs, compare->device.peak_gbs > 0 ? "; dashed, the datasheet" : "");
    put_above(to, compare);
    fputs("<p class=\"soft\">Steps that only move samples are not shown.</p></div></div></section>\n", to);
}
