/* Texts set in fonts, from the program's side: finds the font, has a decoder set the text, and keeps what it made. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/font/font.h"
#include "io/font/font_library.h"

#ifdef SMP_HAVE_FONTS

enum { KEPT = 256 /* texts */ };

static struct kept {
    char *font, *text;
    smp_marks marks;
} kept[KEPT];
static size_t oldest;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A copy; false: it was not set before. */
static bool take_kept(const char *font, const char *text, smp_marks *out)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; !found && i < KEPT; i++) {
        const struct kept *k = &kept[i];
        found = k->font && !strcmp(k->font, font) && !strcmp(k->text, text);
        if (found && !(out->failed = !smp_grow(&out->items, &out->capacity, k->marks.count, sizeof *out->items)))
            memcpy(out->items, k->marks.items, (out->count = k->marks.count) * sizeof *out->items);
    }
    pthread_mutex_unlock(&lock);
    return found;
}

static bool keep(const char *font, const char *text, const smp_marks *marks)
{
    struct kept fresh = {smp_strdup(font), smp_strdup(text), *marks}, *place;
    const bool made = fresh.font && fresh.text;
    pthread_mutex_lock(&lock);
    place = &kept[oldest++ % KEPT];
    const struct kept old = made ? *place : fresh;
    if (made)
        *place = fresh;
    pthread_mutex_unlock(&lock);
    smp_free_all(old.font, old.text, old.marks.items);
    return made;
}

/* What the reader wants, in memory: a confined program has no folder for files. */
static smp_code make_input(int font, int index, const char *text, int *out, smp_error *err)
{
    char head[64], part[1 << 14];
    struct stat status;
    ssize_t got;
    if (fstat(font, &status) != 0 || !S_ISREG(status.st_mode))
        return smp_fail(err, SMP_E_READ, "it is not a regular file");
    if (status.st_size > SMP_FONT_MOST)
        return smp_fail(err, SMP_E_LIMIT, "a font has at most %d MB", SMP_FONT_MOST >> 20);
    const int length = snprintf(head, sizeof head, "%d %zu %lld\n", index, strlen(text), (long long)status.st_size);
    if ((*out = memfd_create("text", MFD_CLOEXEC)) < 0)
        return smp_fail(err, SMP_E_READ, "cannot keep it: %s", strerror(errno));
    smp_code code = smp_spool_put(*out, NULL, head, (size_t)length, err);
    code = code ? code : smp_spool_put(*out, NULL, text, strlen(text), err);
    while (!code && (got = read(font, part, sizeof part)) > 0)
        code = smp_spool_put(*out, NULL, part, (size_t)got, err);
    if (!code && (got < 0 || lseek(*out, 0, SEEK_SET) != 0))
        code = smp_fail(err, SMP_E_READ, "cannot read it: %s", strerror(errno));
    return code;
}

/* A decoder's words are anybody's: what letters are laid by is checked. */
static smp_code read_marks(smp_reader *reader, smp_marks *out, smp_error *err)
{
    static const float most = 1 << 24;
    const smp_shape *shape = &smp_reader_media(reader)->shape;
    if (shape->width != 3 || shape->channels != 1 || shape->format != SMP_F32)
        return smp_fail(err, SMP_E_DECODE, "the process that reads the font gave an answer that is none");
    SMP_NEED(smp_grow(&out->items, &out->capacity, (size_t)shape->height, sizeof *out->items), "letters",
             (uint64_t)shape->height * sizeof *out->items, err);
    out->count = (size_t)shape->height;
    SMP_TRY(smp_reader_rows(reader, out->items, sizeof *out->items, shape->height, err));
    for (size_t i = 0; i < out->count; i++) {
        const smp_mark *m = &out->items[i];
        if (!(m->kind >= 0 && m->kind < SMP_MARKS && m->a >= -most && m->a <= most && m->b >= -most && m->b <= most))
            return smp_fail(err, SMP_E_DECODE, "the process that reads the font gave an answer that is none");
    }
    return SMP_OK;
}

static smp_code set(const char *path, int index, const char *text, smp_marks *out, smp_error *err)
{
    smp_read_options options = smp_read_defaults();
    smp_reader *reader = NULL;
    int input = -1;
    const int font = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (font < 0)
        return smp_fail(err, SMP_E_READ, "cannot open it: %s", strerror(errno));
    smp_code code = make_input(font, index, text, &input, err);
    options.want.letters = true;
    close(font);
    if (!code)
        code = smp_reader_open_file(input, path, &options, &reader, err);
    else if (input >= 0)
        close(input);
    code = code ? code : read_marks(reader, out, err);
    smp_reader_close(reader);
    return code;
}

smp_code smp_letters_set(const char *font, const char *text, smp_marks *out, smp_error *err)
{
    smp_error why = {.code = SMP_OK};
    char *path = NULL;
    int index = 0;
    *out = (smp_marks){.count = 0};
    if (take_kept(font, text, out))
        return out->failed ? smp_fail_memory(err, "letters", strlen(text)) : SMP_OK;
    smp_marks made = {.count = 0};
    smp_code code = strpbrk(font, "./") ? SMP_OK : smp_font_find(font, &path, &index, &why);
    if (!code)
        code = set(path ? path : font, index, text, &made, &why);
    smp_free(path);
    if (code)
        smp_free(made.items);
    else if (!keep(font, text, &made) || !take_kept(font, text, out) || out->failed)
        return smp_fail_memory(err, "letters", strlen(text));
    if (!code)
        return SMP_OK;
    smp_fail(err, SMP_E_PIPE, "font=%.100s: %.300s", font, why.message);
    return why.hint[0] ? smp_hint(err, "%s", why.hint) : SMP_E_PIPE;
}

#else

smp_code smp_letters_set(const char *, const char *, smp_marks *out, smp_error *err)
{
    *out = (smp_marks){.count = 0};
    smp_fail(err, SMP_E_PIPE, "this program was built without FreeType and HarfBuzz, which letters of fonts need");
    return smp_hint(err, "install libharfbuzz-dev and libfontconfig-dev, and build it again; or leave out font=");
}

#endif
