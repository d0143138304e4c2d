/* smempipe feed: batches of samples for a program that trains a network: see feed/feed.h. */
#include "feed/feed.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "commands/outputs.h"

typedef struct feed_settings {
    smp_many_settings many;
    const char *mean, *std;
    int samples, layout;
    int64_t channels;
} feed_settings;

static const char *const types[] = {[SMP_FEED_U8] = "u8", [SMP_FEED_F16] = "f16", [SMP_FEED_F32] = "f32", NULL};
static const char *const layouts[] = {"hwc", "chw", NULL};

static const smp_option options[] = {
    {"samples", 0, SMP_O_CHOICE, offsetof(feed_settings, samples), .fallback = "u8", .argument = "TYPE",
     .choices = types, .help = "u8, or floats of 16 or 32 bits, whose full scale is 1"},
    {"layout", 0, SMP_O_CHOICE, offsetof(feed_settings, layout), .fallback = "chw", .argument = "ORDER",
     .choices = layouts, .help = "hwc: rows, columns, channels; chw: channels, rows, columns"},
    {"channels", 0, SMP_O_INT, offsetof(feed_settings, channels), .fallback = "3", .argument = "N", .min = 0,
     .max = SMP_FEED_CHANNELS, .help = "of each picture: gray becomes colour, alpha is left out; 0: as they are"},
    {"mean", 0, SMP_O_STRING, offsetof(feed_settings, mean), .argument = "LIST",
     .help = "of floats: subtracted, one number or one a channel, with commas between them"},
    {"std", 0, SMP_O_STRING, offsetof(feed_settings, std), .argument = "LIST", .help = "of floats: then divided by"},
    {"jobs", 'j', SMP_O_INT, offsetof(feed_settings, many.jobs), .fallback = "0", .argument = "N", .min = 0,
     .max = 1024, .help = "pictures at once; 0: half as many again as there are processors"},
    {0},
};

static const smp_argument_row arguments[] = {
    {"P.pipe", offsetof(feed_settings, many.pipe), .unless = "stage", .help = "the pipeline"},
    {"DIR", offsetof(feed_settings, many.inputs), .many = true,
     .help = "folders, and files, that may be asked for; no others are opened"},
    {0},
};

/* "0.485,0.456,0.406"; false: it is no such list. */
static bool read_numbers(const char *text, float *to, int *count)
{
    for (*count = 0; *count < SMP_FEED_CHANNELS;) {
        char *end;
        const float v = strtof(text, &end);
        if (end == text || !isfinite(v))
            return false;
        to[(*count)++] = v;
        if (!*end)
            return true;
        if (*end != ',')
            return false;
        text = end + 1;
    }
    return false;
}

static smp_code read_format(const feed_settings *s, smp_feed_format *format, smp_error *err)
{
    int means = 0, stds = 0;
    *format =
        (smp_feed_format){.type = (smp_feed_type)s->samples, .planar = s->layout == 1, .channels = (int)s->channels};
    for (int c = 0; c < SMP_FEED_CHANNELS; c++)
        format->std[c] = 1;
    if ((s->mean && !read_numbers(s->mean, format->mean, &means)) ||
        (s->std && !read_numbers(s->std, format->std, &stds)) || (means && stds && means != stds))
        return smp_fail(err, SMP_E_USAGE, "--mean and --std are lists of as many numbers, 1 to %d", SMP_FEED_CHANNELS),
               smp_hint(err, "write --mean 0.485,0.456,0.406 --std 0.229,0.224,0.225");
    for (int c = 0; c < stds; c++)
        if (!(format->std[c] > 0))
            return smp_fail(err, SMP_E_USAGE, "--std is above 0");
    format->norms = means > stds ? means : stds;
    if (format->norms && format->type == SMP_FEED_U8)
        return smp_fail(err, SMP_E_USAGE, "--mean and --std make floats, and samples are bytes"),
               smp_hint(err, "write --samples f16 or f32");
    smp_feed_tables(format);
    return SMP_OK;
}

static smp_code serve(void *given, const smp_program *program, smp_diags *, smp_error *err)
{
    const feed_settings *s = given;
    const smp_batch_request request = smp_many_request(&s->many, program, NULL);
    smp_feed_format format;
    int kind;
    socklen_t size = sizeof kind;
    SMP_TRY(read_format(s, &format, err));
    if (program->save_count)
        return smp_fail(err, SMP_E_USAGE, "a pipeline that saves files makes no batches: leave 'save' out");
    if (getsockopt(STDIN_FILENO, SOL_SOCKET, SO_TYPE, &kind, &size) != 0)
        return smp_fail(err, SMP_E_USAGE, "feed answers a program over a socket, and standard input is none"),
               smp_hint(err, "smempipe.Feed in Python starts it; for files, use batch");
    signal(SIGINT, SIG_IGN); /* the end of the socket ends the work */
    smp_cli_confine_many(&s->many, program, &(smp_found_list){.count = 0}, NULL);
    return smp_feed_serve(STDIN_FILENO, &request, &format, err);
}

static smp_code feed(void *given, smp_error *err)
{
    feed_settings *s = given;
    return smp_cli_with_program(&s->many.plan.base, s->many.pipe, serve, s, err);
}

const smp_command smp_command_feed = {
    .name = "feed",
    .help = "batches of pictures for training, asked for by smempipe.Feed in Python",
    .about = "Standard input is a socket over which a program asks for batches of files, by messages that "
             "src/feed/feed.h describes, and gets samples in memory that both share. Nothing is written. "
             "docs/training.md tells how Python uses it.",
    .settings_size = sizeof(feed_settings),
    .without = SMP_O_OUTPUTS | SMP_O_SOUNDS,
    .groups = {{"options", options}, SMP_PIPELINE_GROUP, SMP_PLAN_GROUPS},
    .arguments = arguments,
    .run = feed,
};
