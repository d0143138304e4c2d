/* smempipe convert: files to another format, without a pipeline's text. A front of run (one file) and batch (many). */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/paths.h"
#include "cli/mistakes.h"
#include "commands/outputs.h"
#include "io/decoder/worker.h"

typedef struct convert_settings {
    smp_batch_settings batch; /* its inputs: all arguments, then those without OUT */
    smp_option_stages stages;
    const char *format;
    bool frames;
} convert_settings;

static const smp_option options[] = {
    {"resize", 0, SMP_O_STRING, offsetof(convert_settings, stages.resize), .argument = "SIZE",
     .help = "make pictures smaller: 1600 is the longer side in pixels, 800x600 a box to fit in, 800x or x600 one side "
             "(pictures that are smaller stay as they are); 800x600! just that size, 800x600^ that size, what hangs "
             "over cut off on both sides; 50% a share"},
    SMP_SEED_OPTION(offsetof(convert_settings, batch.many.plan.base)),
    {"stage", 'e', SMP_O_LIST, offsetof(convert_settings, batch.many.plan.base.stages), .argument = "STAGE",
     .help = "a stage that pictures or sounds go through, before --resize; may be repeated"},
    {"rate", 0, SMP_O_STRING, offsetof(convert_settings, stages.rate), .argument = "HZ", .flags = SMP_O_ADVANCED,
     .help = "frames a second of sounds, as 16000, 16kHz or 44.1kHz (the stage resample)"},
    {"channels", 0, SMP_O_STRING, offsetof(convert_settings, stages.channels), .argument = "N", .flags = SMP_O_ADVANCED,
     .help = "channels of sounds: 1 or mono, the mean of all; 2 or stereo (the stage remix)"},
    {"format", 0, SMP_O_STRING, offsetof(convert_settings, format), .argument = "EXT",
     .help = "the format of standard output, by its extension: jpg, npy, flac; png and wav unless said (--to does so "
             "too)"},
    {"frames", 0, SMP_O_FLAG, offsetof(convert_settings, frames), .flags = SMP_O_ADVANCED,
     .help = "every picture of an animation or a stream (GIF, WebP, PNG, y4m, --raw), as 'smempipe run --help' says: "
             "into files "
             "with a number in their names, as in frame-%04d.png, or into one .gif, .webp, .apng or .y4m"},
    {0},
};

static const smp_argument_row arguments[] = {
    {"IN", offsetof(convert_settings, batch.many.inputs), .many = true, .usage = "IN... OUT|-o DIR",
     .unless = "files-from",
     .help = "files and folders to read, and behind them, without -o, the file or folder to write; - is standard input "
             "and output"},
    {0},
};

/* ------------------------------------------------------------------------------------------------ stages */

/* A whole number of pixels at *text, which moves behind it; 0: there is none. */
static int64_t take_pixels(const char **text)
{
    enum { MOST = 1000000 };
    char *end;
    if (**text < '1' || **text > '9')
        return 0;
    const long long pixels = strtoll(*text, &end, 10);
    *text = end;
    return pixels <= MOST ? pixels : 0;
}

/* A size as it is given to --resize, as the statement that it stands for; null: it is none. */
static char *resize_statement(const char *size)
{
    const char *at = size;
    const int64_t width = take_pixels(&at);
    if (width && !at[0])
        return smp_asprintf("resize longest=%lld enlarge=no", (long long)width);
    const size_t share = strspn(size, "0123456789.");
    if (share && !strcmp(size + share, "%"))
        return smp_asprintf("resize %.32s", size);
    if (at[0] != 'x' && at[0] != 'X')
        return NULL;
    at++;
    const int64_t height = take_pixels(&at);
    if (width && height && at[0] && strchr("!^", at[0]) && !at[1])
        return smp_asprintf("resize width=%lld height=%lld fit=%s", (long long)width, (long long)height,
                            at[0] == '!' ? "stretch" : "cover");
    at += at[0] == '>'; /* as other tools say that smaller ones stay */
    if (at[0] || (!width && !height))
        return NULL;
    if (!height)
        return smp_asprintf("resize width=%lld enlarge=no", (long long)width);
    if (!width)
        return smp_asprintf("resize height=%lld enlarge=no", (long long)height);
    return smp_asprintf("resize width=%lld height=%lld enlarge=no", (long long)width, (long long)height);
}

/* "16000", "16000Hz", "16kHz"; null: it is none of them. */
static char *rate_statement(const char *rate)
{
    char *end;
    static const double least = 1000; /* Hz: a bare number below it is meant in kHz */
    double hertz = strtod(rate, &end);
    if (rate[0] < '0' || rate[0] > '9' || strspn(rate, "0123456789.") != (size_t)(end - rate))
        return NULL;
    if (!strcasecmp(end, "kHz") || !strcasecmp(end, "k"))
        hertz *= 1000;
    else if (*end ? strcasecmp(end, "Hz") != 0 : hertz < least)
        return NULL;
    return hertz >= 1 && hertz <= 1e7 ? smp_asprintf("resample %.10gHz", hertz) : NULL;
}

/* "1", "mono", "2", "stereo"; null: it is none of them. */
static char *channels_statement(const char *channels)
{
    const bool one = !strcmp(channels, "1") || !strcmp(channels, "mono"),
               two = !strcmp(channels, "2") || !strcmp(channels, "stereo");
    return one || two ? smp_asprintf("remix %s", one ? "mono" : "stereo") : NULL;
}

/* The options that are stages. */
static const struct stage_option {
    const char *name, *takes;
    size_t value; /* a const char * of smp_option_stages */
    char *(*statement)(const char *value);
} stage_options[] = {
    {"--resize",
     "the pixels of the longer side (1600), a box to fit in (800x600), one side (800x, x600), just that size "
     "('800x600!', or '800x600^' cut), or 50%",
     offsetof(smp_option_stages, resize), resize_statement},
    {"--channels", "1 or mono, 2 or stereo", offsetof(smp_option_stages, channels), channels_statement},
    {"--rate", "a sample rate, as 16000, 16kHz or 44.1kHz", offsetof(smp_option_stages, rate), rate_statement},
};
_Static_assert(sizeof stage_options / sizeof stage_options[0] == SMP_OPTION_STAGES, "a text for each");

smp_code smp_cli_option_stages(const smp_option_stages *settings, smp_strings *stages, char **texts, const char **from,
                               smp_error *err)
{
    const bool written = stages->count > 0; /* by -e */
    for (size_t i = 0; i < SMP_OPTION_STAGES; i++) {
        const struct stage_option *o = &stage_options[i];
        const char *value = *(const char *const *)((const char *)settings + o->value);
        if (!value)
            continue;
        texts[i] = o->statement(value);
        if (!texts[i])
            return smp_fail(err, SMP_E_USAGE, "'%.40s' is not a valid value for %s", value, o->name),
                   smp_hint(err, "it takes %s", o->takes);
        SMP_NEED(smp_grow(&stages->items, &stages->capacity, stages->count + 1, sizeof *stages->items), "stages",
                 sizeof *stages->items, err);
        if (!written)
            *from = stages->count ? "options" : o->name;
        stages->items[stages->count++] = texts[i];
    }
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ one file */

/* An option that is about many files, null when none is given. */
static const char *many_option(const smp_batch_settings *s)
{
    const struct {
        bool given;
        const char *name;
    } all[] = {
        {s->many.recursive, "recursive"},
        {s->many.include.count > 0, "include"},
        {s->many.exclude.count > 0, "exclude"},
        {s->many.jobs > 0, "jobs"},
        {strcmp(s->pattern, SMP_BATCH_NAMES) != 0, "name"},
        {s->report != NULL, "report"},
        {s->shard != NULL, "shard"},
        {s->backup != NULL, "backup"},
        {s->resume, "resume"},
        {s->redo_changed, "redo-changed"},
        {s->skip_existing, "skip-existing"},
        {s->dry_run, "dry-run"},
        {s->pages != 0, "pages"},
        {s->on_error != 0, "on-error"},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i].given)
            return all[i].name;
    return NULL;
}

static smp_code convert_one(const convert_settings *settings, const char *in, const char *out, smp_error *err)
{
    const smp_batch_settings *batch = &settings->batch;
    smp_run_settings run = {.plan = batch->many.plan,
                            .in = in,
                            .out = out,
                            .format = settings->format,
                            .write = batch->write,
                            .frames = settings->frames};
    const char *option = many_option(batch);
    if (option)
        return smp_fail(err, SMP_E_USAGE, "--%s is for many files, %.200s is one", option, out),
               smp_hint(err, "leave --%s out, or write -o DIR", option);
    if (!strcmp(out, "-") && !run.format)
        run.format = batch->to;
    else if (batch->to)
        return smp_cli_refuse_format("to", "folders", "write -o DIR", out, batch->to, err);
    return smp_cli_run(&run, err);
}

/* ------------------------------------------------------------------------------------------------ which of the two */

static bool is_folder(const char *path)
{
    struct stat status;
    const size_t length = strlen(path);
    if (stat(path, &status) == 0)
        return S_ISDIR(status.st_mode);
    return length && path[length - 1] == '/';
}

static bool is_file_name(const char *path)
{
    return !strcmp(path, "-") || (!is_folder(path) && smp_writer_kind(path) != SMP_KIND_NONE);
}

static smp_code fail_no_output(const smp_strings *inputs, const char *to, smp_error *err)
{
    const char *in = inputs->items[0];
    smp_fail(err, SMP_E_USAGE, "the output is missing");
    if (is_folder(in))
        return smp_hint(err, "write smempipe convert %.200s -o DIR", in);
    if (to)
        return smp_hint(err, "write -o DIR, or smempipe convert %.200s OUT, as in out.%.20s", in, to + (to[0] == '.'));
    return smp_hint(err, "write smempipe convert %.200s OUT, as in out.jpg, or -o DIR", in);
}

/* IN OUT trim 1 3, as sox has it: words behind the output's name. */
static bool words_behind_output(const smp_strings *in, const char *out, smp_error *err)
{
    char files[200], words[200] = "";
    size_t at = 1;
    while (at < in->count && (access(in->items[at], F_OK) == 0 || !is_file_name(in->items[at])))
        at++;
    if (at == in->count || is_file_name(out))
        return false;
    smp_cli_words(files, sizeof files, (char *const *)(uintptr_t)in->items, (int)at + 1);
    const char *first = at + 1 < in->count ? in->items[at + 1] : out;
    size_t used = 0;
    for (size_t i = at + 1; i <= in->count && used < sizeof words; i++)
        used += (size_t)snprintf(words + used, sizeof words - used, "%s%s", used ? " " : "",
                                 i < in->count ? in->items[i] : out);
    if (smp_cli_stage_named(first, strlen(first)))
        smp_hint(err, "stages are given by -e: write smempipe convert%s -e '%s'", files, words);
    else
        smp_hint(err, "the output is %.100s; stages are given by -e, and '%.60s' is not one", in->items[at], first);
    return true;
}

/* `-r 50%`, `-r 800x600`: what other programs write so. */
static bool is_size(const char *word)
{
    const size_t digits = strspn(word, "0123456789.");
    const char *rest = word + digits;
    return digits && (!strcmp(rest, "%") || (*rest == 'x' && !rest[1 + strspn(rest + 1, "0123456789")]));
}

static smp_code fail_no_folder(const convert_settings *settings, const char *out, smp_error *err)
{
    enum { LEAST = 4 /* digits of a rate, Hz */ };
    const size_t length = strlen(out);
    smp_fail(err, SMP_E_USAGE, "'%.200s' is not a folder, which more than one file needs", out);
    if (settings->batch.many.recursive && length >= LEAST && strspn(out, "0123456789") == length)
        return smp_hint(err, "-r is --recursive; another rate is --rate %.20s", out);
    const smp_strings *in = &settings->batch.many.inputs;
    for (size_t i = 1; settings->batch.many.recursive && i <= in->count; i++) {
        const char *word = i < in->count ? in->items[i] : out;
        if (is_size(word) && access(word, F_OK) != 0)
            return smp_hint(err, "-r is --recursive; another size is --resize %.20s", word);
    }
    if (words_behind_output(in, out, err))
        return SMP_E_USAGE;
    char words[200], folder[200];
    const bool pipe = smp_ends_with(in->items[0], ".pipe");
    for (size_t i = 0; i < in->count; i++)
        if (in->items[i][0] == '-' && in->items[i][1] && access(in->items[i], F_OK) != 0)
            return smp_hint(err, "behind -- all words are files: '%.60s' comes before it", in->items[i]);
        else if (in->items[i][0] == '+' && access(in->items[i], F_OK) != 0)
            return smp_hint(err, "'%.60s' is not an option: stages are given by -e, as in %s", in->items[i],
                            !strcmp(in->items[i], "+append") ? "-e 'join \"right.png\"'" : "-e gray");
    smp_cli_words(words, sizeof words, (char *const *)(uintptr_t)in->items, (int)in->count);
    smp_cli_words(folder, sizeof folder, (char *const *)(uintptr_t)&out, 1);
    if (pipe && in->count == 2)
        return smp_hint(err, "'%.60s' is a pipeline: write smempipe run%s%s", in->items[0], words, folder);
    if (pipe)
        return smp_hint(err, "'%.60s' is a pipeline: write smempipe batch%s -o DIR", in->items[0], words);
    if (is_file_name(out) && smp_writer_streams(out, NULL))
        return smp_hint(err, "write -o DIR, or smempipe concat%s -o%s for one file of all", words, folder);
    if (is_file_name(out))
        return smp_hint(err, "write -o DIR");
    return smp_hint(err, "write smempipe convert%s -o%s, which makes it", words, folder);
}

/* `-q 80`: the 80 became an input. A larger number is no quality, but perhaps a folder. */
static smp_code check_quality(const convert_settings *settings, smp_error *err)
{
    enum { DIGITS = 3, BEST = 100 };
    const smp_strings *in = &settings->batch.many.inputs;
    for (size_t i = 0; settings->batch.many.plan.base.common.quiet && i < in->count; i++) {
        const char *item = in->items[i];
        const size_t length = strlen(item);
        if (length && length <= DIGITS && strspn(item, "0123456789") == length && atoi(item) <= BEST &&
            access(item, F_OK) != 0)
            return smp_fail(err, SMP_E_USAGE, "there is no file '%.20s'", item),
                   smp_hint(err, "-q is --quiet; the quality is --quality %.20s", item);
    }
    return SMP_OK;
}

/* OUT is the last argument without -o. A folder gets files named after the inputs; one input alone can become a file.
 */
static smp_code choose(convert_settings *settings, smp_error *err)
{
    smp_batch_settings *batch = &settings->batch;
    smp_strings *inputs = &batch->many.inputs;
    const char *out = batch->folder;
    const bool listed = batch->many.list != NULL;
    if (batch->in_place && (settings->frames || settings->format))
        return smp_fail(err, SMP_E_USAGE, "--in-place and --%s exclude each other",
                        settings->frames ? "frames" : "format");
    if (batch->in_place) {
        SMP_TRY(smp_worker_more(err));
        return smp_cli_batch(batch, err);
    }
    if (!out && !listed) {
        const smp_strings *stages = &batch->many.plan.base.stages;
        if (inputs->count == 1 && stages->count && smp_origin_begins(stages->items[0]))
            return convert_one(settings, NULL, inputs->items[0], err);
        if (inputs->count < 2)
            return fail_no_output(inputs, batch->to, err);
        out = inputs->items[--inputs->count];
        if ((inputs->count > 1 || is_folder(inputs->items[0])) && !is_folder(out))
            return fail_no_folder(settings, out, err);
        batch->folder = is_folder(out) ? out : NULL;
    } else if (out && is_file_name(out)) {
        if (listed || inputs->count > 1 || is_folder(inputs->items[0]))
            return fail_no_folder(settings, out, err);
        batch->folder = NULL;
    }
    if (out && !batch->folder)
        return convert_one(settings, inputs->items[0], out, err);
    if (settings->frames)
        return smp_fail(err, SMP_E_USAGE, "--frames is for one input and one output"),
               smp_hint(err, "write smempipe convert IN 'frame-%%04d.png' --frames");
    if (settings->format)
        return smp_fail(err, SMP_E_USAGE, "--format is for standard output"),
               smp_hint(err, "write --to %.40s for the files of a folder", settings->format);
    SMP_TRY(smp_worker_more(err));
    return smp_cli_batch(batch, err);
}

static smp_code convert(void *given, smp_error *err)
{
    convert_settings *settings = given;
    smp_strings *stages = &settings->batch.many.plan.base.stages;
    char *texts[SMP_OPTION_STAGES] = {NULL};
    smp_code code =
        smp_cli_option_stages(&settings->stages, stages, texts, &settings->batch.many.plan.base.stages_from, err);
    code = code ? code : check_quality(settings, err);
    code = code ? code : choose(settings, err);
    smp_free(stages->items);
    *stages = (smp_strings){0};
    for (size_t i = 0; i < SMP_OPTION_STAGES; i++)
        smp_free(texts[i]);
    return code;
}

const smp_command smp_command_convert = {
    .name = "convert",
    .help = "files to another format or size, without a pipeline",
    .about = "One file becomes another: smempipe convert IN OUT. The name of OUT says its format. With -o DIR, or a "
             "folder as the last argument, every input becomes a file in it, named after the input, in the format that "
             "--to says; then all that 'smempipe batch --help' says of folders holds: companions of photographs and "
             "formats that are not read are passed over and counted, bad files are listed at the end, --resume goes "
             "on.\n"
             "Pictures are turned upright as their EXIF says. Metadata is kept, unless --strip. Sounds get another "
             "rate by --rate and other channels by --channels. -e names stages "
             "(smempipe stages); a pipeline goes through smempipe run. docs/imagemagick.md and docs/sound.md have "
             "the commands of ImageMagick, vips, sox and FFmpeg beside these.",
    .settings_size = sizeof(convert_settings),
    .meant = (const smp_alias[]){{"width w", "--resize 800x"},
                                 {"height h", "--resize x600"},
                                 {"size s thumb geometry longest", "--resize 1600, or --resize 800x600"},
                                 {"scale", "--resize 50%, or --resize 1600"},
                                 {"album", "smempipe batch album --album=-16LUFS DIR -o OUT_DIR"},
                                 {"interlace progressive", "--jpeg-progressive"},
                                 {"sampling-factor subsampling", "--jpeg-subsampling 4:2:0"},
                                 {"title artist album-title metadata", "--tag title=Rain"},
                                 {"path", "-o DIR"},
                                 {"overwrite", "--in-place"},
                                 {"copy", "--strip to leave metadata out; else they are kept"},
                                 {"repage", "nothing: a crop leaves no offset"},
                                 {0}},
    .one_input = true,
    .groups = {{"options", options},
               SMP_WRITE_GROUP(smp_batch_settings, write),
               {"options for folders", smp_batch_options},
               SMP_MANY_GROUP,
               SMP_PLAN_GROUPS},
    .arguments = arguments,
    .examples = {{"smempipe convert in.png out.jpg", "one file to another format"},
                 {"smempipe convert photos/ -r -o web/ --to png -e 'profile srgb' --resize 1600 --strip",
                  "every photo of a folder in sRGB, its longer side 1600 pixels, without where it was taken"},
                 {"smempipe convert film.mp4 talk.opus --rate 48kHz --channels mono",
                  "the sound of a film, as an Opus of one channel"}},
    .run = convert,
};
