/* Libraries that are opened while the program runs: see library.h. */
#include "io/library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/av/av_library.h"
#include "io/drawn/draw_library.h"
#include "io/files/source.h"
#include "io/font/font_library.h"
#include "io/format.h"
#include "io/heif/heif_library.h"

static _Atomic unsigned sought;
static bool closed;

static bool has_extension(const smp_file_format *format, const char *extension)
{
    for (const char *const *e = format->extensions; *e; e++)
        if (!strcasecmp(extension, *e))
            return true;
    return false;
}

unsigned smp_libraries_of_name(const char *path)
{
    const char *dot = strrchr(path, '.'), *extension = dot ? dot + 1 : path;
    const smp_file_format *format;
    unsigned libraries = 0;
    for (size_t i = 0; (format = smp_format_at(i)); i++)
        if (format->library && has_extension(format, extension))
            libraries |= format->library;
    return libraries;
}

/* Behind tags lies a sound. */
static unsigned of_regular(int fd, off_t at)
{
    uint8_t head[SMP_SNIFF];
    for (int i = 0; i <= SMP_MOST_ID3; i++) {
        const ssize_t got = pread(fd, head, sizeof head, at);
        const smp_file_format *format = got > 0 ? smp_format_sniff(head, (size_t)got) : NULL;
        const uint64_t tag = got > 0 && !format ? smp_id3_size(head, (size_t)got) : 0;
        if (!tag)
            return format ? format->library : 0;
        at += (off_t)tag;
    }
    return 0;
}

/* Guesses from fewer bytes than the reader will see, which may be wrong. */
static unsigned of_stream(int fd)
{
    uint8_t head[SMP_SNIFF];
    bool all;
    const size_t size = smp_source_begins(fd, head, sizeof head, &all);
    const smp_file_format *format = all && size ? smp_format_sniff(head, size) : NULL;
    if (format || (all && !size))
        return format ? format->library : 0;
    return all && smp_id3_size(head, size) ? SMP_LIBRARY_AV : SMP_LIBRARY_AV | SMP_LIBRARY_HEIF;
}

unsigned smp_libraries_of_input(int fd)
{
    struct stat status;
    const off_t at = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) ? lseek(fd, 0, SEEK_CUR) : -1;
    return at >= 0 ? of_regular(fd, at) : of_stream(fd);
}

unsigned smp_libraries_of_file(const char *path)
{
    struct stat status;
    const bool named = strcmp(path, "-") != 0;
    if ((named ? stat(path, &status) : fstat(STDIN_FILENO, &status)) != 0 || !S_ISREG(status.st_mode))
        return 0;
    const int fd = named ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
    const unsigned libraries = fd >= 0 ? smp_libraries_of_input(fd) : 0;
    if (named && fd >= 0)
        close(fd);
    return libraries;
}

void smp_libraries_open(unsigned libraries)
{
    (void)atomic_fetch_or(&sought, libraries);
    if (libraries & SMP_LIBRARY_AV)
        (void)smp_av_load();
    if (libraries & SMP_LIBRARY_HEIF)
        (void)smp_heif_load();
    if (libraries & SMP_LIBRARY_FONT)
        (void)smp_font_load();
    if (libraries & SMP_LIBRARY_PDF)
        (void)smp_draw_load(SMP_LIBRARY_PDF);
    if (libraries & SMP_LIBRARY_SVG)
        (void)smp_draw_load(SMP_LIBRARY_SVG);
}

unsigned smp_libraries_opened(void)
{
    return (smp_av_loaded() ? SMP_LIBRARY_AV : 0u) | (smp_heif_loaded() ? SMP_LIBRARY_HEIF : 0u) |
           (smp_font_loaded() ? SMP_LIBRARY_FONT : 0u) | smp_draw_loaded();
}

void smp_libraries_close(void)
{
    closed = true;
}

smp_code smp_library_sought(smp_library library, const char *words, smp_code failure, smp_error *err)
{
    if (!closed || sought & library)
        return SMP_OK;
    smp_fail(err, failure, "%s, were not looked for before the process that decodes was confined", words);
    return smp_hint(err, "give the file its own extension, as in talk.m4a, or decode it with --no-sandbox");
}

void *smp_library_open(const char *file)
{
    return dlopen(file, RTLD_LAZY | RTLD_LOCAL);
}

bool smp_library_function(void *library, const char *name, void *to)
{
    void *found = dlsym(library, name);
    memcpy(to, &found, sizeof found);
    return found != NULL;
}
