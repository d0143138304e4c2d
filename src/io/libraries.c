/* Libraries that are opened while the program runs: see library.h. */
#include "io/library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/files/source.h"
#include "io/format.h"

static const struct {
    smp_library library;
    bool (*load)(void);
    const char *name, *needed, *install, *instead; /* instead: of reading with it */
} rows[] = {
    {SMP_LIBRARY_AV, smp_av_load, "FFmpeg's libraries", "M4A, video and rarer pictures need",
     "FFmpeg (apt-get install ffmpeg)", ", or pipe it: ffmpeg -i IN -f wav - | smempipe ... -"},
    {SMP_LIBRARY_HEIF, smp_heif_load, "libheif", "HEIC and AVIF need", "libheif1 (apt-get install libheif1)", ""},
    {SMP_LIBRARY_FONT, smp_font_load, "FreeType and HarfBuzz", "letters of fonts need",
     "libharfbuzz0b (apt-get install libharfbuzz0b)", ""},
    {SMP_LIBRARY_PDF, smp_pdf_load, "poppler", "PDF needs", "libpoppler-glib8 (apt-get install libpoppler-glib8)", ""},
    {SMP_LIBRARY_JXL, smp_jxl_load, "libjxl", "JPEG XL needs", "libjxl0.7 (apt-get install libjxl0.7)", ""},
    {SMP_LIBRARY_JP2, smp_jp2_load, "OpenJPEG", "JPEG 2000 that is written needs",
     "libopenjp2-7 (apt-get install libopenjp2-7)", ""},
    {SMP_LIBRARY_RAW, smp_raw_load, "LibRaw", "camera raw needs", "LibRaw (apt-get install libraw-dev)", ""},
    {SMP_LIBRARY_SVG, smp_svg_load, "librsvg", "SVG needs", "librsvg2-2 (apt-get install librsvg2-2)", ""},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static _Atomic unsigned sought, opened;
static bool closed;

unsigned smp_libraries_of_name(const char *path)
{
    const char *dot = strrchr(path, '.'), *extension = dot ? dot + 1 : path;
    const smp_file_format *format;
    unsigned libraries = 0;
    for (size_t i = 0; (format = smp_format_at(i)); i++)
        if ((format->library || format->confined) && smp_format_extension(format, extension))
            libraries |= format->library | (format->confined ? (unsigned)SMP_LIBRARY_ENCODERS : 0);
    return libraries;
}

/* Behind tags lies a sound. */
static unsigned of_regular(int fd, off_t at, off_t size)
{
    uint8_t head[SMP_SNIFF];
    for (int i = 0; i <= SMP_MOST_ID3 && at < size; i++) {
        const ssize_t got = pread(fd, head, sizeof head, at);
        const size_t have = got > 0 ? (size_t)got : 0;
        const smp_source source = {.fd = fd,
                                   .seekable = true,
                                   .size = (uint64_t)(size - at),
                                   .base = (uint64_t)at,
                                   .buffer = head,
                                   .end = have};
        const smp_file_format *format = smp_format_of(&source, head, have);
        const uint64_t tag = format ? 0 : smp_id3_size(head, have);
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
    return all && smp_id3_size(head, size) ? SMP_LIBRARY_AV : SMP_LIBRARY_AV | SMP_LIBRARY_HEIF | SMP_LIBRARY_JXL;
}

unsigned smp_libraries_of_input(int fd)
{
    struct stat status;
    const off_t at = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) ? lseek(fd, 0, SEEK_CUR) : -1;
    return at >= 0 ? of_regular(fd, at, status.st_size) : of_stream(fd);
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
    for (size_t i = 0; i < ROWS; i++)
        if (libraries & rows[i].library)
            (void)smp_library_load(rows[i].library);
}

unsigned smp_libraries_opened(void)
{
    return opened;
}

void smp_libraries_close(void)
{
    closed = true;
}

bool smp_library_load(smp_library library)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static unsigned tried;
    if (opened & library)
        return true;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < ROWS && !(tried & library); i++)
        if (rows[i].library == library && rows[i].load())
            (void)atomic_fetch_or(&opened, library);
    tried |= library;
    pthread_mutex_unlock(&lock);
    return opened & library;
}

smp_code smp_library_need(smp_library library, smp_code failure, smp_error *err)
{
    size_t i = 0;
    if (smp_library_load(library))
        return SMP_OK;
    while (rows[i].library != library)
        i++;
    if (closed && !(sought & library))
        return smp_fail(err, failure,
                        "%s, which %s, had not been looked for before the process that decodes was confined",
                        rows[i].name, rows[i].needed),
               smp_hint(err, "give the file its own extension, as in talk.m4a, or decode it with --no-sandbox");
    return smp_fail(err, failure, "%s, which %s, cannot be opened", rows[i].name, rows[i].needed),
           smp_hint(err, "install %s%s", rows[i].install,
                    failure == SMP_E_WRITE ? ", or write another format" : rows[i].instead);
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
