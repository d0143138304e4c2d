/* smempipe info: what is in these files. */
#include <string.h>

#include "base/alloc.h"
#include "cli/cli.h"
#include "commands/info.h"
#include "io/fields.h"
#include "report/json.h"
#include "report/text.h"

typedef struct info_settings {
    smp_common common;
    smp_strings files;
    const char *format;
    bool json, levels;
} info_settings;

static const smp_option options[] = {
    {"json", 0, SMP_O_FLAG, offsetof(info_settings, json),
     .help = "machine-readable: one object a line, a line a file"},
    {"format", 0, SMP_O_STRING, offsetof(info_settings, format), .argument = "TEXT",
     .help =
         "a line a file in words of your own, as in '{width} {height}' or '{duration}': {width}, {height}, {date}, "
         "{time}, {camera}, {title}, {artist}, {album}, {duration} (seconds), {rate}, {frames}, {channels}, {bits}, "
         "{format}, {pages}, {file}, {name}; of what a picture shows {mean} and {color} (43.7%, #947057); \\n and "
         "\\t are a new line and a tab"},
    {"levels", 0, SMP_O_FLAG, offsetof(info_settings, levels),
     .help =
         "also draw what the samples are: a histogram of each channel; of a sound its peaks over the time, from -60 "
         "to 0 dB"},
    {0},
};

static const smp_argument_row arguments[] = {
    {"FILE", offsetof(info_settings, files), .many = true, .help = "pictures or sounds; - is standard input"},
    {0},
};

static const char *orientation_text(int orientation)
{
    static const char *const texts[] = {
        "",
        "upright",
        "mirrored left to right",
        "upside down",
        "mirrored top to bottom",
        "mirrored about the main diagonal",
        "to be turned 90 degrees clockwise",
        "mirrored about the other diagonal",
        "to be turned 90 degrees anticlockwise",
    };
    return orientation >= 1 && orientation <= 8 ? texts[orientation] : "?";
}

static void put_metadata_json(smp_json *json, const smp_meta *meta)
{
    smp_json_object(json, "metadata");
    if (meta->icc.size) {
        smp_json_integer(json, "icc_bytes", (int64_t)meta->icc.size);
        if (meta->icc_name[0])
            smp_json_string(json, "icc_name", meta->icc_name);
    }
    if (meta->exif.size)
        smp_json_integer(json, "exif_bytes", (int64_t)meta->exif.size);
    const smp_attached *cover = smp_meta_cover(meta);
    if (cover)
        smp_json_integer(json, "cover_bytes", (int64_t)cover->data.size);
    if (meta->gamma > 0)
        smp_json_number(json, "file_gamma", meta->gamma);
    if (meta->srgb_intent >= 0)
        smp_json_integer(json, "srgb_intent", meta->srgb_intent);
    if (meta->has_cicp) {
        double numbers[4];
        for (int i = 0; i < 4; i++)
            numbers[i] = meta->cicp[i];
        smp_json_numbers(json, "cicp", numbers, 4);
    }
    if (meta->has_chrm)
        smp_json_numbers(json, "chromaticities", meta->chrm, 8);
    if (meta->x_density > 0)
        SMP_JSON(json, (meta->density_is_aspect ? "aspect_x" : "pixels_per_metre_x", meta->x_density),
                 (meta->density_is_aspect ? "aspect_y" : "pixels_per_metre_y", meta->y_density));
    smp_json_array(json, "texts");
    for (size_t i = 0; i < meta->text_count; i++)
        SMP_JSON_OBJECT(json, NULL, ("key", meta->texts[i].key), ("value", meta->texts[i].value));
    smp_json_end(json, ']');
    smp_json_end(json, '}');
}

static void put_json(const char *path, const smp_media *media)
{
    const smp_shape *shape = &media->shape;
    smp_json writer, *json = &writer;
    smp_json_begin(json, stdout, true);
    SMP_JSON_OPEN(json, NULL, ("file", path), ("format", media->file_format));
    if (media->detail[0])
        smp_json_string(json, "detail", media->detail);
    smp_json_string(json, "kind", shape->kind == SMP_AUDIO ? "audio" : "image");
    if (shape->kind == SMP_AUDIO) {
        SMP_JSON(json, ("frames", shape->height), ("rate", shape->rate));
    } else {
        SMP_JSON(json, ("width", shape->width), ("height", shape->height));
    }
    SMP_JSON(json, ("channels", shape->channels), ("alpha", shape->alpha), ("bits", media->bits));
    if (media->pages > 1)
        smp_json_integer(json, "pages", media->pages);
    SMP_JSON(json, ("samples", smp_format_name(shape->format)), ("orientation", media->orientation));
    put_metadata_json(json, &media->meta);
    smp_json_end(json, '}');
}

static void put_metadata(const smp_meta *meta, bool verbose)
{
    if (meta->icc.size) {
        printf("  ICC profile  %zu bytes", meta->icc.size);
        if (meta->icc_name[0]) {
            fputs(", ", stdout);
            smp_text_clean(stdout, meta->icc_name);
        }
        putchar('\n');
    }
    if (meta->exif.size)
        printf("  EXIF         %zu bytes\n", meta->exif.size);
    for (size_t i = 0; i < meta->attached_count; i++) {
        const smp_attached *one = &meta->attached[i];
        const char *what = one == smp_meta_cover(meta) ? "cover" : one->frame[0] ? "ID3 frame" : "picture";
        smp_text_line(stdout, "  %-12s %zu bytes, %s%s%.200s", what, one->data.size,
                      one->frame[0] ? one->frame : one->type, one->description ? ", " : "",
                      one->description ? one->description : "");
    }
    if (meta->srgb_intent >= 0)
        printf("  sRGB         rendering intent %d\n", meta->srgb_intent);
    if (meta->gamma > 0)
        printf("  file gamma   %.5g\n", meta->gamma);
    if (meta->has_cicp)
        printf("  cICP         primaries %d, transfer %d, matrix %d, %s range (ITU-T H.273)\n", meta->cicp[0],
               meta->cicp[1], meta->cicp[2], meta->cicp[3] ? "full" : "narrow");
    if (meta->has_chrm)
        printf("  primaries    red %.4g %.4g, green %.4g %.4g, blue %.4g %.4g, white %.4g %.4g\n", meta->chrm[2],
               meta->chrm[3], meta->chrm[4], meta->chrm[5], meta->chrm[6], meta->chrm[7], meta->chrm[0], meta->chrm[1]);
    if (meta->x_density > 0 && meta->density_is_aspect)
        printf("  aspect       %.6g : %.6g\n", meta->x_density, meta->y_density);
    else if (meta->x_density > 0)
        printf("  resolution   %.1f x %.1f dpi\n", meta->x_density * 0.0254, meta->y_density * 0.0254);
    for (size_t i = 0; i < meta->text_count; i++) {
        fputs("  text         ", stdout);
        smp_text_clean(stdout, meta->texts[i].key);
        if (verbose) {
            fputs(": ", stdout);
            smp_text_clean(stdout, meta->texts[i].value);
        } else
            printf(" (%zu bytes)", strlen(meta->texts[i].value));
        putchar('\n');
    }
}

static void put_text(const char *path, const smp_media *media, bool verbose)
{
    const smp_shape *shape = &media->shape;
    smp_text_clean(stdout, path);
    printf("\n  format       %s", media->file_format);
    if (media->bits) /* compressed sound has none */
        printf(", %d bit%s", media->bits, media->bits == 1 ? "" : "s");
    if (media->detail[0]) {
        fputs(", ", stdout);
        smp_text_clean(stdout, media->detail);
    }
    if (shape->kind == SMP_AUDIO)
        printf("\n  length       %lld frames, %.3f s at %.10g Hz\n", (long long)shape->height,
               shape->rate > 0 ? (double)shape->height / shape->rate : 0., shape->rate);
    else
        printf("\n  size         %lld x %lld px, %.2f megapixel\n", (long long)shape->width, (long long)shape->height,
               (double)shape->width * (double)shape->height / 1e6);
    printf("  channels     %d%s, samples %s\n", shape->channels, shape->alpha ? ", the last is alpha" : "",
           smp_format_name(shape->format));
    if (media->pages > 1)
        printf("  pages        %lld\n", (long long)media->pages);
    if (media->orientation != 1)
        printf("  orientation  %d (%s)\n", media->orientation, orientation_text(media->orientation));
    put_metadata(&media->meta, verbose);
}

/* Fields that are read off samples. */
#define IS_MEAN(word)  (!strncmp(word, "mean}", 5))
#define IS_COLOR(word) (!strncmp(word, "color}", 6))

/* Fields are checked once, before any file is read. */
static smp_code check_format(const char *format, smp_error *err)
{
    for (const char *at = format; at && (at = strchr(at, '{')) != NULL; at++) {
        const size_t length = strcspn(at + 1, "}");
        if ((smp_is_field(at + 1, length) || IS_MEAN(at + 1) || IS_COLOR(at + 1)) && at[1 + length])
            continue;
        smp_fail(err, SMP_E_USAGE, "'%.*s}' is not a field of --format", (int)(length < 40 ? length + 1 : 40), at);
        char list[SMP_FIELD_TEXT];
        smp_field_list(list, sizeof list);
        return smp_hint(err, "there are: %s mean color", list);
    }
    return SMP_OK;
}

static smp_code put_format(const char *format, const char *path, smp_reader *reader, smp_error *err)
{
    const smp_media *media = smp_reader_media(reader);
    char text[SMP_FIELD_TEXT], mean[16], color[16];
    if (strstr(format, "{mean}") || strstr(format, "{color}"))
        SMP_TRY(smp_info_means(reader, mean, color, err));
    for (const char *at = format; *at; at++) {
        const size_t length = strcspn(at + 1, "}");
        if (at[0] == '\\' && (at[1] == 'n' || at[1] == 't')) {
            putchar(*++at == 'n' ? '\n' : '\t');
        } else if (at[0] == '{') {
            char *whole;
            SMP_NEED(smp_field_whole(at + 1, length, media, &whole), "a text", media->meta.exif.size, err);
            smp_field(at + 1, length, path, media, text);
            smp_text_clean(stdout, IS_MEAN(at + 1) ? mean : IS_COLOR(at + 1) ? color : whole ? whole : text);
            smp_free(whole);
            at += length + 1;
        } else
            putchar(*at);
    }
    putchar('\n');
    return SMP_OK;
}

static smp_code info(void *given, smp_error *err)
{
    info_settings *settings = given;
    smp_code first = check_format(settings->format, err);
    if (!first && settings->format && (settings->json || settings->levels))
        first = smp_fail(err, SMP_E_USAGE, "--format and --%s exclude each other", settings->json ? "json" : "levels");
    if (first)
        return first;
    double seconds = 0; /* of all sounds */
    size_t sounds = 0;
    for (size_t i = 0; i < settings->files.count; i++) {
        const char *path = settings->files.items[i];
        smp_reader *reader = NULL;
        smp_code code = smp_cli_check_stdin(path, err);
        code = code ? code : smp_reader_open(path, &settings->common.read, &reader, err);
        if (code) {
            smp_at(err, "%s", path);
            smp_cli_error(&settings->common, err);
            first = first ? first : code;
            continue;
        }
        if (settings->format)
            code = put_format(settings->format, path, reader, err);
        else if (settings->json)
            put_json(path, smp_reader_media(reader));
        else
            put_text(path, smp_reader_media(reader), settings->common.verbose);
        if (settings->levels && !settings->json)
            code = smp_info_levels(reader, err);
        if (code) {
            smp_at(err, "%s", path);
            smp_cli_error(&settings->common, err);
            first = first ? first : code;
        }
        const smp_shape *shape = &smp_reader_media(reader)->shape;
        sounds += shape->rate > 0;
        seconds += shape->rate > 0 ? (double)shape->height / shape->rate : 0;
        smp_cli_notes(&settings->common, path, false, smp_reader_notes(reader));
        smp_reader_close(reader);
    }
    if (sounds > 1 && !settings->format && !settings->json)
        printf("all %zu sounds\n  length       %.3f s\n", sounds, seconds);
    return first;
}

const smp_command smp_command_info = {
    .name = "info",
    .help = "format, size, channels and metadata of files",
    .about = "Reads headers only, but for --levels, {mean} and {color}. Goes on after a file that cannot be read and "
             "says so with its exit "
             "code. -v shows texts too.",
    .settings_size = sizeof(info_settings),
    .one_input = true,
    .without = SMP_O_OUTPUTS | SMP_O_DEVICE | SMP_O_THREADS,
    .groups = {{"options", options}, SMP_COMMON_GROUP},
    .arguments = arguments,
    .examples = {{"smempipe info photos/*.jpg", "what these pictures are"},
                 {"smempipe info --levels talk.wav", "and where it is loud"},
                 {"smempipe info --format '{width} {height}' *.jpg", "as identify -format '%w %h\\n' has it"},
                 {"smempipe info --json in.png | jq .width", "one value for a script"}},
    .run = info,
};
