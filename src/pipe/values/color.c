/* Colours as people write them: see color.h. */
#include "pipe/values/color.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    const char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

static bool goes_on(char c)
{
    return (unsigned char)c > ' ' && !strchr(";]}\"", c);
}

size_t smp_color_length(const char *text, size_t length)
{
    size_t n = 1;
    if (!length || text[0] != '#')
        return 0;
    while (n < length && hex_digit(text[n]) >= 0)
        n++;
    const bool right = n == 4 || n == 5 || n == 7 || n == 9;
    return right && (n == length || !goes_on(text[n])) ? n : 0;
}

/* 1 where all colours are alike and there is no alpha. */
static int count_of(const double *values, int count)
{
    return count == 3 && values[0] == values[1] && values[1] == values[2] ? 1 : count;
}

int smp_color_read(const char *text, size_t length, double values[SMP_COLOR_VALUES])
{
    static const struct {
        const char *name;
        uint8_t rgb[3];
    } names[] = {
        {"black", {0, 0, 0}},        {"white", {255, 255, 255}}, {"gray", {128, 128, 128}}, {"grey", {128, 128, 128}},
        {"silver", {192, 192, 192}}, {"red", {255, 0, 0}},       {"green", {0, 128, 0}},    {"lime", {0, 255, 0}},
        {"blue", {0, 0, 255}},       {"yellow", {255, 255, 0}},  {"cyan", {0, 255, 255}},   {"aqua", {0, 255, 255}},
        {"magenta", {255, 0, 255}},  {"fuchsia", {255, 0, 255}}, {"orange", {255, 165, 0}}, {"gold", {255, 215, 0}},
        {"brown", {165, 42, 42}},    {"pink", {255, 192, 203}},  {"purple", {128, 0, 128}}, {"maroon", {128, 0, 0}},
        {"navy", {0, 0, 128}},       {"teal", {0, 128, 128}},    {"olive", {128, 128, 0}},
    };
    const size_t digits = smp_color_length(text, length) - 1;
    if (digits < length && digits + 1 == length) {
        const int each = digits > 4 ? 2 : 1, count = (int)digits / each;
        for (int i = 0; i < count; i++) {
            const int high = hex_digit(text[1 + i * each]), low = hex_digit(text[i * each + each]);
            values[i] = (16 * high + low) / 255.;
        }
        return count_of(values, count);
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strlen(names[i].name) == length && !strncasecmp(names[i].name, text, length)) {
            for (int c = 0; c < 3; c++)
                values[c] = names[i].rgb[c] / 255.;
            return count_of(values, 3);
        }
    return 0;
}
