/* FFmpeg's libraries, opened while the program runs: see av_library.h. */
#include "io/av/av_library.h"

#include <pthread.h>

#include "io/library.h"

const char *const smp_av_extensions[] = {"m4a", "m4b", "mp4", "m4v", "mov", "3gp",  "aac", "mkv", "mka", "webm",
                                         "avi", "wma", "wmv", "asf", "flv", "mpeg", "mpg", "ts",  "ac3", "amr",
                                         "au",  "snd", "sph", "wv",  "ape", "tta",  "spx", NULL};

#ifdef SMP_HAVE_AV

smp_av smp_av_functions;

static bool loaded;

#define FILE_OF(name, major) "lib" name ".so." AV_STRINGIFY(major)

static void load(void)
{
    void *avformat = smp_library_open(FILE_OF("avformat", LIBAVFORMAT_VERSION_MAJOR)),
         *avcodec = smp_library_open(FILE_OF("avcodec", LIBAVCODEC_VERSION_MAJOR)),
         *avutil = smp_library_open(FILE_OF("avutil", LIBAVUTIL_VERSION_MAJOR));
    if (!avformat || !avcodec || !avutil)
        return;
    bool all = true;
#define TAKE(library, function) all = smp_library_function(library, #function, &smp_av_functions.function) && all;
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

smp_code smp_av_need(smp_code failure, smp_error *err)
{
    static const char words[] = "FFmpeg's libraries, which M4A, video, JPEG XL, JPEG 2000 and OpenEXR need";
    if (smp_av_load())
        return SMP_OK;
    SMP_TRY(smp_library_sought(SMP_LIBRARY_AV, words, failure, err));
    smp_fail(err, failure, "%s, cannot be opened", words);
    return failure == SMP_E_WRITE
               ? smp_hint(err, "install FFmpeg (apt-get install ffmpeg), or write another format")
               : smp_hint(err, "install FFmpeg (apt-get install ffmpeg), or pipe it: ffmpeg -i IN -f wav - | "
                               "smempipe ... -");
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
