/* smempipe show: pictures in a terminal, by the protocols of kitty and of sixel, or as half blocks of colour. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/cli.h"
#include "report/bars.h"
#include "report/measure/thumbnail.h"
#include "report/text.h"

enum { AUTO, KITTY, SIXEL, BLOCKS };
static const char *const ways[] = {"auto", "kitty", "sixel", "blocks", NULL};

typedef struct show_settings {
    smp_common common;
    smp_strings files;
    int as; /* index into ways */
    int64_t width;
} show_settings;

static const smp_option options[] = {
    {"as", 0, SMP_O_CHOICE, offsetof(show_settings, as), .fallback = "auto", .argument = "HOW",
     .help =
         "kitty or sixel: the protocol of the terminal; blocks: coloured characters, which every terminal with 24-bit "
         "colour shows",
     .choices = ways},
    {"width", 0, SMP_O_INT, offsetof(show_settings, width), .fallback = "0", .argument = "N", .min = 0, .max = 4096,
     .help = "at most so many pixels (blocks: columns) wide; 0: as the terminal"},
    {0},
};

static const smp_argument_row arguments[] = {
    {"FILE", offsetof(show_settings, files), .many = true, .help = "a picture, or several; - is standard input"},
    {0},
};

static bool named(const char *variable, const char *part)
{
    const char *value = getenv(variable);
    return value && strstr(value, part);
}

static int way_of(const show_settings *settings)
{
    if (settings->as != AUTO)
        return settings->as;
    if (getenv("KITTY_WINDOW_ID") || named("TERM", "kitty") || named("TERM_PROGRAM", "ghostty") ||
        named("TERM", "ghostty"))
        return KITTY;
    const bool sixel = named("TERM", "foot") || named("TERM", "mlterm") || named("TERM", "sixel") ||
                       named("TERM_PROGRAM", "iTerm") || named("TERM_PROGRAM", "WezTerm");
    return sixel ? SIXEL : BLOCKS;
}

/* Columns, and pixels where the terminal tells them. */
static void terminal_size(int64_t *columns, int64_t *pixels)
{
    struct winsize size = {0};
    *columns = 80;
    *pixels = 640;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
        return;
    *columns = size.ws_col ? size.ws_col : *columns;
    *pixels = size.ws_xpixel ? size.ws_xpixel : *columns * 8;
}

/* Kitty's graphics protocol: RGB in base64, at most 4096 characters at a time. */
static void show_kitty(const smp_small_picture *picture)
{
    enum { PIECE = 3072 };
    const size_t size = (size_t)(picture->width * picture->height * 3);
    for (size_t at = 0; at < size; at += PIECE) {
        const size_t bytes = size - at < PIECE ? size - at : PIECE;
        const int more = at + bytes < size;
        if (at)
            printf("\033_Gm=%d;", more);
        else
            printf("\033_Ga=T,f=24,s=%lld,v=%lld,m=%d;", (long long)picture->width, (long long)picture->height, more);
        smp_base64(stdout, picture->samples + at, bytes);
        fputs("\033\\", stdout);
    }
    putchar('\n');
}

/* A colour of the cube of 6 x 6 x 6, dithered by position so that gradients have no bands. */
static int cube_colour(const unsigned char *rgb, int64_t x, int64_t y)
{
    static const int order[4][4] = {{0, 8, 2, 10}, {12, 4, 14, 6}, {3, 11, 1, 9}, {15, 7, 13, 5}};
    int colour = 0;
    for (int c = 0; c < 3; c++)
        colour = colour * 6 + (rgb[c] * 80 + order[y & 3][x & 3] * 255) / (255 * 16);
    return colour;
}

/* DEC sixels: bands of six rows, for each colour of a band the columns that have it. */
static smp_code show_sixel(const smp_small_picture *picture, smp_error *err)
{
    enum { CUBE = 216, BAND = 6 };
    const size_t width = (size_t)picture->width;
    unsigned char *bits = smp_alloc_array(width, CUBE); /* of a colour and column */
    SMP_NEED(bits, "sixels", width * CUBE, err);
    printf("\033P0;1q\"1;1;%lld;%lld", (long long)picture->width, (long long)picture->height);
    for (int c = 0; c < CUBE; c++)
        printf("#%d;2;%d;%d;%d", c, c / 36 * 20, c / 6 % 6 * 20, c % 6 * 20);
    for (int64_t top = 0; top < picture->height; top += BAND) {
        memset(bits, 0, width * CUBE);
        for (int64_t y = top; y < top + BAND && y < picture->height; y++)
            for (size_t x = 0; x < width; x++) {
                const int colour = cube_colour(picture->samples + ((size_t)y * width + x) * 3, (int64_t)x, y);
                bits[(size_t)colour * width + x] |= (unsigned char)(1 << (y - top));
            }
        for (int c = 0; c < CUBE; c++) {
            const unsigned char *row = bits + (size_t)c * width;
            size_t end = width;
            while (end > 0 && !row[end - 1])
                end--;
            if (!end)
                continue;
            printf("#%d", c);
            for (size_t x = 0, run; x < end; x += run) {
                for (run = 1; x + run < end && row[x + run] == row[x];)
                    run++;
                if (run > 3)
                    printf("!%zu%c", run, 63 + row[x]);
                else
                    for (size_t i = 0; i < run; i++)
                        putchar(63 + row[x]);
            }
            putchar('$');
        }
        putchar('-');
    }
    fputs("\033\\\n", stdout);
    smp_free(bits);
    return SMP_OK;
}

/* Two pixels a character: the upper half in the text's colour, the lower in the background's. Where the locale has no
 * such character, their mean in the background's. */
static void show_blocks(const smp_small_picture *picture)
{
    const bool halves = smp_bars_utf8();
    for (int64_t y = 0; y < picture->height; y += 2) {
        for (int64_t x = 0; x < picture->width; x++) {
            const unsigned char *upper = picture->samples + (size_t)(y * picture->width + x) * 3;
            const unsigned char *lower = y + 1 < picture->height ? upper + picture->width * 3 : upper;
            if (!halves) {
                printf("\033[48;2;%d;%d;%dm ", (upper[0] + lower[0]) / 2, (upper[1] + lower[1]) / 2,
                       (upper[2] + lower[2]) / 2);
                continue;
            }
            printf("\033[38;2;%d;%d;%dm", upper[0], upper[1], upper[2]);
            if (y + 1 < picture->height)
                printf("\033[48;2;%d;%d;%dm", lower[0], lower[1], lower[2]);
            fputs("\u2580", stdout);
        }
        fputs("\033[0m\n", stdout);
    }
}

static smp_code show_one(const show_settings *settings, const char *path, smp_error *err)
{
    const int way = way_of(settings);
    int64_t columns, pixels;
    smp_small_picture picture;
    terminal_size(&columns, &pixels);
    int64_t width = settings->width ? settings->width : way == BLOCKS ? columns : pixels;
    SMP_TRY(smp_cli_check_stdin(path, err));
    SMP_TRY(smp_small_picture_read(path, &settings->common.read, width, 4 * width, &picture, err));
    smp_code code = SMP_OK;
    if (settings->files.count > 1) {
        smp_text_clean(stdout, path);
        putchar('\n');
    }
    if (way == KITTY)
        show_kitty(&picture);
    else if (way == SIXEL)
        code = show_sixel(&picture, err);
    else
        show_blocks(&picture);
    smp_free(picture.samples);
    return code;
}

static smp_code show(void *given, smp_error *err)
{
    const show_settings *settings = given;
    smp_code first = SMP_OK;
    for (size_t i = 0; i < settings->files.count; i++) {
        const smp_code code = show_one(settings, settings->files.items[i], err);
        if (code)
            smp_cli_error(&settings->common, err);
        first = first ? first : code;
    }
    return first;
}

const smp_command smp_command_show = {
    .name = "show",
    .help = "show pictures in the terminal",
    .about = "Scales pictures to the terminal. The protocol is chosen by what the terminal says of itself (TERM, "
             "TERM_PROGRAM). Pictures are shown as EXIF's orientation says.",
    .settings_size = sizeof(show_settings),
    .one_input = true,
    .without = SMP_O_OUTPUTS | SMP_O_DEVICE | SMP_O_THREADS | SMP_O_VERBOSE,
    .groups = {{"options", options}, SMP_COMMON_GROUP},
    .arguments = arguments,
    .examples = {{"smempipe show photo.jpg", "a look at a picture over ssh"},
                 {"smempipe run -e sobel in.png - | smempipe show -", "at what a stage does"}},
    .run = show,
};
