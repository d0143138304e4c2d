/* Options about the files that are written: see write_options.h. */
#include "cli/write_options.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/paths.h"
#include "base/whole_file.h"
#include "io/audio/chapters.h"
#include "io/format.h"

/* ------------------------------------------------------------------------------------------------ rows */

static smp_option row_of(const smp_write_option *option, size_t offset, char *fallback, size_t size)
{
    static const smp_option_type types[] = {SMP_O_FLAG, SMP_O_INT, SMP_O_CHOICE};
    const smp_kind kind = smp_write_option_kind(option);
    const bool flag = option->type == SMP_WRITE_FLAG;
    snprintf(fallback, size, "%d", option->unset);
    return (smp_option){
        .name = option->name,
        .type = types[option->type],
        .offset = offset,
        .fallback = flag              ? NULL
                    : option->choices ? option->choices[0]
                                      : fallback,
        .argument = option->argument,
        .help = option->help,
        .choices = option->choices,
        .min = option->min,
        .max = option->max,
        .flags = (unsigned)(kind == SMP_IMAGE   ? SMP_O_PICTURES
                            : kind == SMP_AUDIO ? SMP_O_SOUNDS
                                                : 0) |
                 (option->flags & SMP_WRITE_RARE ? SMP_O_ADVANCED : 0) |
                 (option->flags & SMP_WRITE_ALONE ? SMP_O_OPTIONAL : 0) |
                 (option->flags & SMP_WRITE_SAID || flag ? 0 : SMP_O_SILENT),
    };
}

const smp_option *smp_cli_write_rows(size_t at)
{
    enum { TABLES = 10, BEFORE = 5 }; /* one for each struct of settings that holds smp_write_settings */
    static struct table {
        size_t at;
        smp_option rows[SMP_WRITE_OPTIONS + BEFORE + 1];
        char fallbacks[SMP_WRITE_OPTIONS][12];
    } tables[TABLES];
    size_t t = 0;
    while (t < TABLES - 1 && tables[t].rows[0].name && tables[t].at != at)
        t++;
    struct table *table = &tables[t];
    if (table->rows[0].name && table->at == at)
        return table->rows;
    const size_t fields = at + offsetof(smp_write_settings, fields);
    const smp_write_option *option;
    *table = (struct table){.at = at};
    table->rows[0] = (smp_option){"strip", .type = SMP_O_FLAG, .offset = at + offsetof(smp_write_settings, strip),
                                  .help = "write no metadata"};
    table->rows[1] =
        (smp_option){"tag",
                     .type = SMP_O_PAIRS,
                     .offset = at + offsetof(smp_write_settings, tags),
                     .argument = "KEY=TEXT",
                     .flags = SMP_O_ADVANCED,
                     .help = "a tag, as in --tag title=Rain, in place of those of that key, also in XMP, EXIF and "
                             "IPTC; may be repeated; without a text they go. Sounds, PNG and JPEG hold them"};
    table->rows[2] = (smp_option){
        "untag", .type = SMP_O_FLAG, .offset = at + offsetof(smp_write_settings, untag), .flags = SMP_O_ADVANCED,
        .help = "drop the input's tags: texts, XMP, IPTC, pictures and chapters of a sound; EXIF "
                "stays, and it is told where it names people or a place (--strip: no EXIF, "
                "no colour profiles)"};
    table->rows[3] = (smp_option){"cover",
                                  .type = SMP_O_STRING,
                                  .offset = at + offsetof(smp_write_settings, cover),
                                  .argument = "FILE",
                                  .flags = SMP_O_ADVANCED | SMP_O_SOUNDS,
                                  .help = "the front cover of a sound: a PNG or JPEG"};
    table->rows[4] = (smp_option){"chapters",
                                  .type = SMP_O_STRING,
                                  .offset = at + offsetof(smp_write_settings, chapters),
                                  .argument = "FILE",
                                  .flags = SMP_O_ADVANCED | SMP_O_SOUNDS,
                                  .help = "the chapters of a sound, in place of the input's: lines as 1:02:03 Title; a "
                                          "CUE sheet, FFmpeg's metadata or labels of Audacity; in MP3, M4A, FLAC, "
                                          "OGG, Opus, AIFF, and WAV as cue points"};
    for (size_t i = 0; (option = smp_write_option_at(i)); i++)
        table->rows[i + BEFORE] =
            row_of(option, fields + i * sizeof(union smp_write_field), table->fallbacks[i], sizeof table->fallbacks[i]);
    return table->rows;
}

bool smp_cli_is_write_option(const char *name)
{
    for (const smp_option *row = smp_cli_write_rows(0); row->name; row++)
        if (!strcmp(row->name, name))
            return true;
    return false;
}

/* ------------------------------------------------------------------------------------------------ values */

static int value_of(const smp_write_settings *settings, size_t index, const smp_write_option *option)
{
    const union smp_write_field *field = &settings->fields[index];
    return option->type == SMP_WRITE_FLAG     ? field->flag
           : option->type == SMP_WRITE_NUMBER ? (int)field->number
                                              : field->choice;
}

/* A key has a place in every format: letters of ASCII that are no sign of one. */
static smp_code check_tag(const char *pair, smp_error *err)
{
    const size_t length = strcspn(pair, "=");
    for (size_t i = 0; i < length; i++)
        if (pair[i] < ' ' || pair[i] > '}')
            return smp_fail(err, SMP_E_USAGE, "--tag takes a key of plain letters, as in title=Rain");
    if (length == strlen(SMP_XMP_KEY) && !strncasecmp(pair, SMP_XMP_KEY, length))
        return smp_fail(err, SMP_E_USAGE, "--tag sets one tag, as in title=Rain, and %s is a packet of many",
                        SMP_XMP_KEY);
    if (length && length < SMP_TAG_KEY)
        return SMP_OK;
    return smp_fail(err, SMP_E_USAGE, "--tag takes a key of 1 to %d letters, as in title=Rain", SMP_TAG_KEY - 1);
}

/* Chapters become tags behind those of --tag. */
static smp_code take_chapters(smp_write_settings *settings, smp_error *err)
{
    enum { MOST = 1 << 20 /* bytes */, EACH = 2 /* tags */ };
    smp_chapters list = {0};
    char *text = NULL;
    size_t size, count = settings->tags.count;
    smp_code code = smp_read_file(settings->chapters, MOST, &text, &size, err);
    if (!code && strlen(text) != size) {
        code = smp_fail(err, SMP_E_READ, "a zero byte is in it: it is no text, or UTF-16");
        smp_hint(err, "save it as UTF-8");
    }
    code = code ? code : smp_chapters_parse(text, &list, err);
    if (!code && !(settings->pairs = smp_alloc_array(count + 2 + EACH * list.count, sizeof *settings->pairs)))
        code = smp_fail_memory(err, "chapters", size);
    if (!code) {
        for (size_t i = 0; i < count; i++)
            settings->pairs[i] = (char *)(uintptr_t)settings->tags.items[i];
        settings->pairs[count++] = smp_strdup(SMP_CHAPTERS_KEY "=");
        smp_chapters_sort(&list);
        for (size_t i = 0; i < list.count; i++) {
            const smp_chapter_texts say = smp_chapter_say(&list, i);
            settings->pairs[count++] = smp_asprintf("%s=%s", say.key, say.start);
            if (list.items[i].title && list.items[i].title[0])
                settings->pairs[count++] = smp_asprintf("%s=%s", say.name, list.items[i].title);
        }
        for (size_t i = settings->tags.count; i < count; i++)
            code = settings->pairs[i] || code ? code : smp_fail_memory(err, "chapters", size);
        settings->change.tags = (const char *const *)settings->pairs;
        settings->change.tag_count = count;
    }
    smp_chapters_free(&list);
    smp_free(text);
    return code ? smp_at(err, "%s", settings->chapters) : SMP_OK;
}

/* Whether a PNG or a JPEG has its end: of a JPEG behind its first scan, since a small picture may have one before. */
static bool is_whole(const uint8_t *data, size_t size, bool png)
{
    enum { SCAN = 0xDA };
    size_t at = 2;
    while (!png && at + 4 <= size && data[at] == 0xFF && data[at + 1] != SCAN)
        at += data[at + 1] == 0xFF ? 1 : 2 + smp_get_be(data + at + 2, 2);
    return at < size && memmem(data + at, size - at, png ? "IEND" : "\xFF\xD9", png ? 4 : 2);
}

static smp_code take_tags(smp_write_settings *settings, smp_error *err)
{
    enum { MOST = 8 << 20 }; /* bytes of a cover, which readers keep */
    static const uint8_t png[] = {0x89, 'P', 'N', 'G'}, jpeg[] = {0xFF, 0xD8, 0xFF};
    smp_meta_change *change = &settings->change;
    char *data = NULL;
    size_t size = 0;
    *change =
        (smp_meta_change){.tags = settings->tags.items, .tag_count = settings->tags.count, .untag = settings->untag};
    for (size_t i = 0; i < settings->tags.count; i++)
        SMP_TRY(check_tag(settings->tags.items[i], err));
    if (settings->chapters)
        SMP_TRY(take_chapters(settings, err));
    if (!settings->cover)
        return SMP_OK;
    smp_code code = smp_read_file(settings->cover, MOST, &data, &size, err);
    change->cover = (smp_blob){(unsigned char *)data, size};
    if (!code && (size < sizeof png || (memcmp(data, png, sizeof png) && memcmp(data, jpeg, sizeof jpeg)))) {
        code = smp_fail(err, SMP_E_READ, "a cover is a PNG or a JPEG");
        smp_hint(err, "smempipe convert makes one of another picture");
    } else if (!code && !is_whole(change->cover.data, size, !memcmp(data, png, sizeof png)))
        code = smp_fail(err, SMP_E_DECODE, "the cover is cut off: its end is missing");
    return code ? smp_at(err, "%s", settings->cover) : SMP_OK;
}

/* The settings of a command's options about what is written; null: it has none. */
static smp_write_settings *settings_of(const smp_command *command, void *settings)
{
    for (int i = 0; i < SMP_COMMAND_GROUPS && command->groups[i].title; i++)
        if (command->groups[i].make == smp_cli_write_rows)
            return (smp_write_settings *)(void *)((char *)settings + command->groups[i].at);
    return NULL;
}

smp_code smp_cli_take_tags(const smp_command *command, void *settings, smp_error *err)
{
    smp_write_settings *own = settings_of(command, settings);
    return own ? take_tags(own, err) : SMP_OK;
}

void smp_cli_free_tags(const smp_command *command, void *settings)
{
    smp_write_settings *own = settings_of(command, settings);
    if (!own)
        return;
    smp_free(own->change.cover.data);
    for (size_t i = own->tags.count; own->pairs && i < own->change.tag_count; i++)
        smp_free(own->pairs[i]);
    smp_free(own->pairs);
}

void smp_cli_write_options(const smp_write_settings *settings, smp_write_options *options)
{
    const smp_write_option *option;
    options->strip = settings->strip;
    if (settings->tags.count || settings->untag || settings->cover || settings->chapters)
        options->change = &settings->change;
    options->sound.fit_rate = true;
    for (size_t i = 0; (option = smp_write_option_at(i)); i++)
        if (value_of(settings, i, option) != option->unset)
            smp_write_set(&options->values, option, value_of(settings, i, option));
}

/* ------------------------------------------------------------------------------------------------ idle ones */

/* One that is given and that no file to be written is of a format for; written: the formats, the output's first. */
static void tell_idle(const smp_common *common, const smp_write_option *option, int value, const char *const *written,
                      size_t count)
{
    char takers[120];
    for (size_t k = 0; k < count; k++)
        if (smp_write_taken(written[k], option, value))
            return;
    smp_write_takers(option, value, takers, sizeof takers);
    const bool word = option->type == SMP_WRITE_CHOICE && value;
    smp_cli_warning(common, "--%s%s%s does nothing: it is for %s, and %s %s is written", option->name, word ? " " : "",
                    word ? option->choices[value] : "", takers, smp_article(written[0]), written[0]);
}

void smp_cli_idle_options(const smp_common *common, const smp_write_settings *settings, const char *output,
                          const char *as, const smp_program *program)
{
    enum { MOST_FORMATS = 16 };
    const char *written[MOST_FORMATS] = {smp_writer_format(output, as ? as + (as[0] == '.') : NULL)};
    smp_write_options given = {0};
    size_t count = 1;
    for (size_t i = 0; program && i < program->save_count && count < MOST_FORMATS; i++)
        if ((written[count] = smp_writer_format(program->saves[i].path, NULL)))
            count++;
    if (!written[0]) /* not known before the input is */
        return;
    smp_cli_write_options(settings, &given);
    for (size_t i = 0; i < given.values.count; i++) {
        const smp_write_option *option = given.values.items[i].option;
        if (!(option->flags & SMP_WRITE_KEPT) &&
            !smp_write_must(option, given.values.items[i].value)) /* else refused */
            tell_idle(common, option, given.values.items[i].value, written, count);
    }
    if (smp_write_value(&given.values, &smp_write_lossless) && smp_write_value(&given.values, &smp_write_quality) &&
        !strcmp(written[0], "WebP"))
        smp_cli_warning(common, "--quality does nothing: a WebP without loss (--lossless) has none");
}

/* ------------------------------------------------------------------------------------------------ extensions */

smp_code smp_cli_check_extension(const char *option, const char *extension, smp_error *err)
{
    smp_error why = {.code = SMP_OK};
    const char *bare = extension + (extension[0] == '.');
    if (smp_writer_extension(bare, NULL, &why) == SMP_OK)
        return SMP_OK;
    smp_fail(err, SMP_E_USAGE, "--%s takes an extension of files that can be written, not '%.40s'", option, extension);
    return smp_hint(err, "%s", why.hint);
}

smp_code smp_cli_refuse_format(const char *option, const char *is_for, const char *instead, const char *out,
                               const char *extension, smp_error *err)
{
    const char *slash = strrchr(out, '/');
    if (strchr(slash ? slash : out, '.'))
        return smp_fail(err, SMP_E_USAGE, "--%s is for %s: the name '%.200s' says its format", option, is_for, out),
               smp_hint(err, "leave --%s out, or %s", option, instead);
    smp_fail(err, SMP_E_USAGE, "--%s is for %s: a file's name says its format, and '%.200s' has no extension", option,
             is_for, out);
    if (smp_path_is_stdout(out))
        return smp_hint(err, "write - in place of %.200s: standard output", out);
    struct stat status;
    if (!stat(out, &status) && !S_ISREG(status.st_mode)) /* a device: nothing can be written beside it */
        return smp_hint(err, "%s", instead);
    return smp_hint(err, "write %.200s.%s without --%s, or %s", out, extension + (extension[0] == '.'), option,
                    instead);
}
