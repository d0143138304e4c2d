/* Bars of one line: see bars.h. */
#include "report/bars.h"

#include <stdlib.h>
#include <strings.h>
#include <sys/ioctl.h>

enum { LEAST = 8 };

static bool names_utf8(const char *locale)
{
    for (; *locale; locale++)
        if (!strncasecmp(locale, "utf-8", 5) || !strncasecmp(locale, "utf8", 4))
            return true;
    return false;
}

bool smp_bars_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *locale = getenv(names[i]);
        if (locale && locale[0])
            return names_utf8(locale);
    }
    return true;
}

void smp_bar_put(FILE *to, int height)
{
    static const char *const blocks[] = {" ",      "\u2581", "\u2582", "\u2583", "\u2584",
                                         "\u2585", "\u2586", "\u2587", "\u2588"};
    if (smp_bars_utf8())
        fputs(blocks[height], to);
    else
        fputc(" .:-=+*#@"[height], to);
}

int smp_bars_fit(FILE *to, int most, int taken)
{
    struct winsize size = {0};
    const int file = fileno(to); /* -1 of memory */
    if (file < 0 || ioctl(file, TIOCGWINSZ, &size) != 0 || !size.ws_col)
        return most;
    const int left = size.ws_col - taken;
    return left > most ? most : left < LEAST ? LEAST : left;
}
