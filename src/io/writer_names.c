/* What a file's name says of the format that writes it. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/paths.h"
#include "io/format.h"

enum { KNOWN = 300 /* characters of a list of formats; a hint has 320 */ };

/* Whether an earlier format in the list writes files of this extension. */
static bool written_before(size_t index, const char *extension)
{
    for (size_t i = 0; i < index; i++)
        if (smp_format_at(i)->write_shape && smp_format_extension(smp_format_at(i), extension))
            return true;
    return false;
}

/* Lists extensions of formats that can hold `kind`. */
static void list_formats(char *text, size_t size, smp_kind kind)
{
    const smp_file_format *format;
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; (format = smp_format_at(i)); i++)
        for (const char *const *e = format->extensions;
             (format->kind & kind) && format->write_shape && *e && used < size; e++) {
            int n = written_before(i, *e) ? 0 : snprintf(text + used, size - used, "%s.%s", used ? ", " : "", *e);
            used += n < 0 ? 0 : (size_t)n;
        }
}

const char *smp_display_name(const char *path)
{
    return strcmp(path, "-") ? path : "standard output";
}

smp_code smp_check_sides(const char *format, const smp_shape *shape, smp_error *err)
{
    enum { MOST = INT32_MAX, EACH = 8, ROW = 1024, ROWS = 128 }; /* libavutil's av_image_check_size2 */
    if (shape->width < MOST / EACH && shape->height < MOST &&
        (EACH * shape->width + ROW) * (shape->height + ROWS) < MOST)
        return SMP_OK;
    smp_fail(err, SMP_E_WRITE, "%lld x %lld pixels are more than can be read again of %s %s", (long long)shape->width,
             (long long)shape->height, smp_article(format), format);
    return smp_hint(err, "write a TIFF, PNG or JPEG XL");
}

smp_code smp_check_colour(const char *format, const smp_shape *shape, smp_error *err)
{
    int colours = shape->channels - (shape->alpha ? 1 : 0);
    if (colours == 1 || colours == 3)
        return SMP_OK;
    if (shape->channels == 2 || shape->channels == 4)
        smp_fail(err, SMP_E_WRITE, "%s %s cannot hold %d channels of which none is alpha", smp_article(format), format,
                 shape->channels);
    else
        smp_fail(err, SMP_E_WRITE, "%s %s cannot hold %d channels", smp_article(format), format, shape->channels);
    char first[2 * SMP_MAX_CHANNELS + 1] = "1";
    for (int c = 1; c < shape->channels; c++)
        strcat(first, " 0");
    return smp_hint(err,
                    "a .tif or .npy file holds up to %d channels of any meaning; 'matrix [%s]' takes the first alone",
                    SMP_MAX_CHANNELS, first);
}

/* The one of an extension that nobody writes; null: there is none. */
static const smp_file_format *format_read(const char *extension)
{
    const smp_file_format *f;
    for (size_t i = 0; (f = smp_format_at(i)); i++)
        if (f->read_open && !f->write_shape && smp_format_extension(f, extension))
            return f;
    return NULL;
}

smp_code smp_find_writer(const char *path, const char *as, smp_kind kind, const smp_file_format **format,
                         const char **extension, smp_error *err)
{
    char known[KNOWN];
    const smp_file_format *f;
    const bool standard = strcmp(path, "-") == 0;
    *format = NULL;
    *extension = NULL;
    if (standard && !as) {
        for (size_t i = 0; !*format && (f = smp_format_at(i)); i++)
            if (f->write_shape && (f->kind & kind))
                *format = f;
        return *format ? SMP_OK
                       : smp_fail(err, SMP_E_WRITE, "there is no format to write %s to standard output in",
                                  kind == SMP_AUDIO ? "sound" : "this");
    }
    const char *name = smp_base_name(path), *dot = strrchr(name, '.');
    const char *wanted = standard ? as : dot && dot != name ? dot + 1 : NULL;
    for (size_t i = 0; wanted && (f = smp_format_at(i)); i++)
        if (f->write_shape && (*extension = smp_format_extension(f, wanted))) {
            *format = f;
            return SMP_OK;
        }
    struct stat status;
    if (!wanted && path && stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return smp_fail(err, SMP_E_WRITE, "is a folder"),
               smp_hint(err, "add a file name: %.200s%sout.png", path, path[strlen(path) - 1] == '/' ? "" : "/");
    const bool sound = wanted && smp_name_kind(path) == SMP_AUDIO;
    const smp_file_format *read = wanted && !sound ? format_read(wanted) : NULL;
    list_formats(known, sizeof known, sound ? SMP_AUDIO : read ? read->kind : SMP_BOTH);
    if (read)
        smp_fail(err, SMP_E_WRITE, "a .%.40s is read, and not written", wanted);
    else if (wanted && wanted[0])
        smp_fail(err, SMP_E_WRITE, "the extension .%.40s is not one that can be written", wanted);
    else
        smp_fail(err, SMP_E_WRITE, "the output needs an extension, which says its format");
    if (sound)
        return smp_hint(err, "FFmpeg makes one of a WAV: smempipe ... - | ffmpeg -i - OUT.%.20s; written here: %s",
                        wanted, known);
    if (smp_path_is_stdout(path))
        return smp_hint(err, "write - for standard output, with --format EXT");
    return smp_hint(err, "extensions that can be written: %s", known);
}

smp_kind smp_name_kind(const char *path)
{
    const char *dot = strrchr(path, '.');
    const smp_file_format *format;
    for (size_t i = 0; dot && (format = smp_format_at(i)); i++)
        if (smp_format_extension(format, dot + 1))
            return format->kind;
    return SMP_KIND_NONE;
}

bool smp_name_of_format(const char *path, const char *file_format)
{
    const char *dot = strrchr(path, '.');
    const smp_file_format *format;
    for (size_t i = 0; dot && (format = smp_format_at(i)); i++)
        if (!strcmp(format->name, file_format) && smp_format_extension(format, dot + 1))
            return true;
    return false;
}

/* Null: there is none. */
static const smp_file_format *writer_of(const char *path, const char *as, smp_kind kind)
{
    const smp_file_format *format;
    const char *extension;
    return smp_find_writer(path, as, kind, &format, &extension, NULL) == SMP_OK ? format : NULL;
}

smp_kind smp_writer_kind(const char *path)
{
    const smp_file_format *format = writer_of(path, NULL, SMP_BOTH);
    return format ? format->kind : SMP_KIND_NONE;
}

smp_code smp_writer_extension(const char *extension, smp_kind *kind, smp_error *err)
{
    const smp_file_format *format;
    const char *known;
    SMP_TRY(smp_find_writer("-", extension, SMP_BOTH, &format, &known, err));
    if (kind)
        *kind = format->kind;
    return SMP_OK;
}

smp_code smp_writer_shape(const char *path, const smp_shape *shape, smp_shape *out, smp_error *err)
{
    return smp_writer_shape_as(path, NULL, shape, out, err);
}

smp_code smp_writer_shape_as(const char *path, const char *as, const smp_shape *shape, smp_shape *out, smp_error *err)
{
    *out = *shape;
    const smp_file_format *format;
    const char *extension;
    smp_code code = smp_find_writer(path, as, shape->kind, &format, &extension, err);
    if (code == SMP_OK && !(format->kind & shape->kind)) {
        const bool sound = shape->kind == SMP_AUDIO;
        code = smp_fail(err, SMP_E_WRITE, "%s %s holds no %s", smp_article(format->name), format->name,
                        sound ? "sound" : "pictures");
        smp_hint(err, sound
                          ? "run the pipeline spectrogram, or -e waveform, for a picture of it; of a film the sound is "
                            "read: ffmpeg -i IN -frames:v 1 frame.png takes a picture"
                          : "pictures go into .png, .jpg, .tif and others: smempipe help formats");
    }
    if (code == SMP_OK && (shape->width < 1 || shape->height < 1 || shape->channels < 1 ||
                           shape->channels > SMP_MAX_CHANNELS || shape->channels <= (shape->alpha ? 1 : 0)))
        code = smp_fail(err, SMP_E_WRITE, "a picture of %lld x %lld pixels with %d channels cannot be written",
                        (long long)shape->width, (long long)shape->height, shape->channels);
    if (code == SMP_OK)
        code = format->write_shape(format, extension, out, err);
    if (code != SMP_OK)
        smp_at(err, "%s", smp_display_name(path));
    return code;
}

const char *smp_writer_format(const char *path, const char *as)
{
    const smp_file_format *format = !strcmp(path, "-") && !as ? NULL : writer_of(path, as, SMP_BOTH);
    return format ? format->name : NULL;
}

bool smp_writer_is(const char *path, const char *as, const char *file_format)
{
    const smp_file_format *format = writer_of(path, as, SMP_IMAGE);
    return format && !strcmp(format->name, file_format);
}

bool smp_writer_keeps_coded(const char *path, const smp_write_options *options, const smp_media *media, bool turned)
{
    const smp_file_format *format = media->copies ? writer_of(path, options->format, SMP_BOTH) : NULL;
    return format && format->keeps_coded && (format->turns || !turned) && format->keeps_coded(options, media);
}

bool smp_writer_bare(const char *path, const char *as)
{
    const smp_file_format *format = writer_of(path, as, SMP_IMAGE);
    return format && format->bare;
}

bool smp_writer_says_gamma(const char *path, const char *as)
{
    const smp_file_format *format = writer_of(path, as, SMP_IMAGE);
    return format && format->gamma;
}

bool smp_writer_open_ended(const char *path, const char *as)
{
    const smp_file_format *format = writer_of(path, as, SMP_AUDIO);
    return format && format->open_end;
}

bool smp_writer_fits_rate(const char *path, const char *as, smp_shape *shape)
{
    static const double usual = 48000; /* Hz, which Opus works at */
    const smp_file_format *format;
    const char *extension;
    smp_shape given = *shape, fit = *shape;
    fit.rate = usual;
    if (shape->kind != SMP_AUDIO || smp_find_writer(path, as, SMP_AUDIO, &format, &extension, NULL) ||
        !(format->kind & SMP_AUDIO) || !format->write_shape(format, extension, &given, NULL) ||
        format->write_shape(format, extension, &fit, NULL))
        return false;
    shape->rate = usual;
    return true;
}

bool smp_writer_streams(const char *path, const char *as)
{
    const smp_file_format *format = writer_of(path, as, SMP_IMAGE);
    return format && format->write_next;
}
