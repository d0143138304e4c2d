/* FFmpeg's libraries, opened while the program runs: see av_library.h. */
#include "io/av/av_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

const char *const smp_av_extensions[] = {"m4a",  "m4b", "mp4", "m4v", "mov", "3gp", "aac",  "mkv", "mka",
                                         "webm", "avi", "wma", "wmv", "asf", "flv", "mpeg", "mpg", "ts",
                                         "ac3",  "amr", "au",  "snd", "sph", "wv",  "ape",  "tta", NULL};

bool smp_av_name(const char *path)
{
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && smp_av_extensions[i]; i++)
        if (!strcasecmp(dot + 1, smp_av_extensions[i]))
            return true;
    return false;
}

#ifdef SMP_HAVE_AV

smp_av smp_av_functions;

static void *open_library(const char *name, int major)
{
    char file[64];
    snprintf(file, sizeof file, "lib%s.so.%d", name, major);
    return dlopen(file, RTLD_LAZY | RTLD_LOCAL);
}

static bool loaded;

static void load(void)
{
    void *avformat = open_library("avformat", LIBAVFORMAT_VERSION_MAJOR),
         *avcodec = open_library("avcodec", LIBAVCODEC_VERSION_MAJOR),
         *avutil = open_library("avutil", LIBAVUTIL_VERSION_MAJOR);
    if (!avformat || !avcodec || !avutil)
        return;
    bool all = true;
#define TAKE(library, function)                                                                                        \
    {                                                                                                                  \
        void *found = dlsym(library, #function);                                                                       \
        all = all && found;                                                                                            \
        memcpy(&smp_av_functions.function, &found, sizeof found);                                                      \
    }
    SMP_AV_FUNCTIONS(TAKE)
#undef TAKE
    loaded = all;
    if (all)
        smp_av_functions.av_log_set_level(AV_LOG_QUIET);
}

bool smp_av_load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return loaded;
}

bool smp_av_loaded(void)
{
    return loaded;
}

#else

bool smp_av_load(void)
{
    return false;
}

bool smp_av_loaded(void)
{
    return false;
}

#endif
