/* See fields.h. */
#include "io/fields.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/paths.h"
#include "base/text/utf8.h"
#include "io/audio/tags.h"
#include "io/format.h"
#include "io/meta/orientation.h"

typedef struct file {
    const char *path;
    const smp_media *media;
    smp_shape shape; /* as it is seen */
} file;

#define PUT(...) snprintf(to, SMP_FIELD_TEXT, __VA_ARGS__)

/* A tag, by whatever name its format has it. */
static const char *text_of(const file *f, const char *key)
{
    const smp_meta *meta = &f->media->meta;
    for (size_t i = 0; i < meta->text_count; i++)
        if (!strcasecmp(smp_tag_any_key(meta->texts[i].key), key))
            return meta->texts[i].value;
    return "";
}

/* EXIF's time of the picture, "2024:03:17 12:34:56", or the date in a tag. Year, month and day are checked, since the
 * text is anybody's. */
static void date_of(const file *f, char text[SMP_EXIF_TEXT])
{
    int year, month, day;
    if (!smp_exif_text(&f->media->meta.exif, SMP_EXIF_TAKEN, text, SMP_EXIF_TEXT) &&
        !smp_exif_text(&f->media->meta.exif, SMP_EXIF_CHANGED, text, SMP_EXIF_TEXT))
        snprintf(text, SMP_EXIF_TEXT, "%s", text_of(f, "Date"));
    if (sscanf(text, "%4d:%2d:%2d", &year, &month, &day) == 3)
        text[4] = text[7] = '-';
}

/* clang-format off */
#define LIST(X) \
    X(WIDTH, "width") X(HEIGHT, "height") X(DATE, "date") X(TIME, "time") X(CAMERA, "camera") X(TITLE, "title") \
    X(ARTIST, "artist") X(ALBUM, "album") X(DURATION, "duration") X(RATE, "rate") X(FRAMES, "frames") \
    X(CHANNELS, "channels") X(BITS, "bits") X(FORMAT, "format") X(PAGES, "pages") X(PATH, "file") \
    X(NAME, "name")
/* clang-format on */
#define SYMBOL(symbol, word) symbol,
#define WORD(symbol, word)   word,
enum { LIST(SYMBOL) FIELDS };
static const char *const words[] = {LIST(WORD)};

/* A whole number; "" unless it means something. */
static void put_number(bool has, int64_t number, char *to)
{
    if (has)
        PUT("%lld", (long long)number);
}

static void put(const file *f, int field, char *to)
{
    const bool sound = f->shape.kind == SMP_AUDIO, timed = f->shape.rate > 0;
    const int64_t pages = f->media->pages > 1 ? f->media->pages : 1;
    const int64_t numbers[FIELDS] = {
        [WIDTH] = f->shape.width,       [HEIGHT] = f->shape.height, [FRAMES] = f->shape.height,
        [CHANNELS] = f->shape.channels, [BITS] = f->media->bits,    [PAGES] = pages};
    const char *text = field >= TITLE && field <= ALBUM ? text_of(f, words[field]) : "";
    char exif[SMP_EXIF_TEXT] = "";
    if (field == DATE || field == TIME)
        date_of(f, exif);
    else if (field == CAMERA)
        (void)smp_exif_text(&f->media->meta.exif, SMP_EXIF_MODEL, exif, sizeof exif);
    if (field == DURATION)
        PUT("%.*f", timed ? 6 : 0, timed ? (double)f->shape.height / f->shape.rate : 0.);
    else if (field == RATE)
        PUT("%.10g", f->shape.rate);
    else if (field >= DATE && field <= CAMERA)
        PUT("%.*s", field == DATE ? 10 : SMP_EXIF_TEXT,
            exif + (field != TIME       ? 0
                    : strlen(exif) > 11 ? 11
                                        : strlen(exif)));
    else if (field >= TITLE && field <= ALBUM)
        PUT("%s", text[0] || !smp_meta_exif_says(&f->media->meta, words[field], exif, sizeof exif) ? text : exif);
    else if (field == FORMAT || field >= PATH)
        PUT("%s", field == FORMAT ? f->media->file_format : field == PATH ? f->path : smp_base_name(f->path));
    else
        put_number((sound ? field > HEIGHT : field != FRAMES) && numbers[field] > 0, numbers[field], to);
    if (!timed && (field == DURATION || field == RATE))
        to[0] = '\0';
}

static int find(const char *word, size_t length)
{
    int i = 0;
    while (i < FIELDS && (strlen(words[i]) != length || strncmp(words[i], word, length) != 0))
        i++;
    return i;
}

void smp_field_list(char *text, size_t size)
{
    size_t used = 0;
    for (int i = 0; i < FIELDS && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " " : "", words[i]);
}

bool smp_is_field(const char *word, size_t length)
{
    return find(word, length) < FIELDS;
}

void smp_field(const char *word, size_t length, const char *path, const smp_media *media, char text[SMP_FIELD_TEXT])
{
    const int i = find(word, length);
    const file f = {path, media, smp_orientation_shape(media)};
    text[0] = '\0';
    if (i < FIELDS)
        put(&f, i, text);
}

bool smp_field_whole(const char *word, size_t length, const smp_media *media, char **whole)
{
    const file f = {NULL, media, {0}};
    const int i = find(word, length);
    const bool tag = i >= TITLE && i <= ALBUM;
    const char *text = tag ? text_of(&f, words[i]) : "";
    const size_t room = text[0] ? strlen(text) + 1 : 2 * media->meta.exif.size + SMP_EXIF_TEXT; /* Latin-1 grows so */
    *whole = tag ? smp_alloc_raw(room) : NULL;
    if (*whole && (text[0] || !smp_meta_exif_says(&media->meta, words[i], *whole, room)))
        memcpy(*whole, text, strlen(text) + 1);
    return *whole || !tag;
}

void smp_field_name(const char *word, size_t length, const char *path, const smp_media *media,
                    char text[SMP_FIELD_TEXT])
{
    enum { MOST = 100 /* bytes: a name has 255 */ };
    char whole[SMP_FIELD_TEXT];
    size_t used = 0;
    smp_field(word, length, path, media, whole);
    for (size_t at = 0, n; whole[at]; at += n) {
        uint32_t code;
        n = smp_utf8_decode(whole + at, strlen(whole + at), &code);
        n = n ? n : 1;
        if (used + n > MOST)
            break;
        const bool plain = code >= ' ' && !(code >= 0x7F && code < 0xA0) &&
                           !strchr("/\\:", (int)(code < 0x80 ? code : 'a')) && !(code == '.' && !used) &&
                           code != 0xFFFD && !(code >= 0x200B && code <= 0x202E);
        if (plain)
            memcpy(text + used, whole + at, n);
        else
            text[used] = '_';
        used += plain ? n : 1;
    }
    while (used && text[used - 1] == ' ')
        used--;
    text[used] = '\0';
    if (!used)
        snprintf(text, SMP_FIELD_TEXT, "no-%.*s", (int)length, word);
}
