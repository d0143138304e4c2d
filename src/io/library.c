/* Libraries that are opened while the program runs: see library.h. */
#include "io/library.h"

#include <dlfcn.h>
#include <string.h>
#include <strings.h>

#include "io/av/av_library.h"
#include "io/format.h"
#include "io/heif/heif_library.h"

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

unsigned smp_libraries_of_head(const uint8_t *head, size_t size)
{
    const smp_file_format *format = size ? smp_format_sniff(head, size) : NULL;
    return format ? format->library : 0;
}

void smp_libraries_open(unsigned libraries)
{
    if (libraries & SMP_LIBRARY_AV)
        (void)smp_av_load();
    if (libraries & SMP_LIBRARY_HEIF)
        (void)smp_heif_load();
}

unsigned smp_libraries_opened(void)
{
    return (smp_av_loaded() ? SMP_LIBRARY_AV : 0u) | (smp_heif_loaded() ? SMP_LIBRARY_HEIF : 0u);
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
