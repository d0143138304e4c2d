/* Draws the roofline: see compare_roofline.h. Both axes are logarithmic. A step is a column, its variants are dots in
 * it. */
#include "report/compare_roofline.h"

#include <math.h>
#include <string.h>

#include "report/text.h"

enum { WIDTH = 720, HEIGHT = 460, LEFT = 96, RIGHT = 24, TOP = 20, BOTTOM = 62, VARIANTS = 16 };

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

/* Whether a variant is faster than memory would let it be. */
static bool any_above(const smp_compare *compare)
{
    const double roof = 1.02 * fmax(compare->copy_gbs, compare->device.peak_gbs) * 1e9; /* a copy is measured, too */
    for (size_t i = 0; roof > 0 && i < compare->step_count; i++)
        for (size_t k = 0; k < compare->steps[i].variant_count; k++)
            if (rate(&compare->steps[i], &compare->steps[i].variants[k]) > intensity(&compare->steps[i]) * roof)
                return true;
    return false;
}

void smp_compare_roofline(FILE *to, const smp_compare *compare)
{
    plot p;
    const char *names[VARIANTS];
    int count = find_names(compare, names);
    if (!find_plot(compare, &p))
        return;
    fprintf(
        to,
        "<section style=\"break-inside:avoid\"><h2>Roofline</h2>\n<p class=\"soft\">Higher is faster. Under the "
        "sloping line memory is the limit "
        "(this device's copy%s); how far a dot lies below it is what a better kernel could win, unless arithmetic is "
        "its limit. A number stands for its "
        "step. Steps that only move samples are not shown.</p>\n<p>",
        compare->device.peak_gbs > 0 ? "; dashed: the datasheet" : "");
    for (int i = 0; i < count; i++)
        fprintf(to, "<span style=\"color:%s\">&#9679;</span> %s &ensp;", colours[i % COLOURS], names[i]);
    if (any_above(compare))
        fputs("</p>\n<p class=\"warn\">Dots above the line are faster than memory: what they read, or write, stays in "
              "a cache.",
              to);
    fprintf(to, "</p>\n<figure><svg class=\"roofline\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"roofline\">\n",
            WIDTH, HEIGHT);
    put_axes(to, &p);
    put_roof(to, &p, compare->copy_gbs, "copy", "copy");
    put_roof(to, &p, compare->device.peak_gbs, "datasheet", "peak");
    for (size_t i = 0; i < compare->step_count; i++)
        put_dots(to, &p, &compare->steps[i], names, count);
    fputs("</svg></figure></section>\n", to);
}
