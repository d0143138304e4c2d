/* FFmpeg's libraries, opened while the program runs: see av_library.h. */
#include "io/av/av_library.h"

#include <stdarg.h>
#include <string.h>

const char *const smp_av_extensions[] = {"m4a", "m4b", "mp4", "m4v", "mov", "3gp",  "aac", "mkv", "mka", "webm",
                                         "avi", "wma", "wmv", "asf", "flv", "mpeg", "mpg", "ts",  "ac3", "amr",
                                         "au",  "snd", "sph", "wv",  "ape", "tta",  "spx", NULL};

#ifdef SMP_HAVE_AV

smp_av smp_av_functions;
_Thread_local unsigned smp_av_too_large[2];

/* Prints nothing. No code of an error tells a size that is refused from damage, but a message does. */
static void hear(void *, int, const char *format, va_list list)
{
    for (int i = 0; !strncmp(format, "Picture size %ux%u", 18) && i < 2; i++)
        smp_av_too_large[i] = va_arg(list, unsigned);
}

#define FILE_OF(name, major) "lib" name ".so." AV_STRINGIFY(major)

bool smp_av_load(void)
{
    void *avformat = smp_library_open(FILE_OF("avformat", LIBAVFORMAT_VERSION_MAJOR)),
         *avcodec = smp_library_open(FILE_OF("avcodec", LIBAVCODEC_VERSION_MAJOR)),
         *avutil = smp_library_open(FILE_OF("avutil", LIBAVUTIL_VERSION_MAJOR));
    if (!avformat || !avcodec || !avutil)
        return false;
    bool all = true;
#define TAKE(library, function) all = smp_library_function(library, #function, &smp_av_functions.function) && all;
    SMP_AVFORMAT_FUNCTIONS(TAKE, avformat)
    SMP_AVCODEC_FUNCTIONS(TAKE, avcodec)
    SMP_AVUTIL_FUNCTIONS(TAKE, avutil)
    if (all)
        smp_av_functions.av_log_set_callback(hear);
    return all;
}

#else

bool smp_av_load(void)
{
    return false;
}

#endif
