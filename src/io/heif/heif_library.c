/* libheif, opened while the program runs: see heif_library.h. Packages that hold the libraries themselves link it
 * (SMP_HEIF_LINKED), so that their tools find it. */
#include "io/heif/heif_library.h"

#ifdef SMP_HAVE_HEIF

#include <pthread.h>

smp_heif_functions smp_heif_library;

static bool loaded;

/* Its coders may be plugins, which it looks for now: later a decoder is confined. */
static void load(void)
{
    bool all = true;
#ifdef SMP_HEIF_LINKED
#define TAKE(function) smp_heif_library.function = function;
#else
    void *library = smp_library_open("libheif.so.1");
    if (!library)
        return;
#define TAKE(function) all = smp_library_function(library, #function, &smp_heif_library.function) && all;
#endif
    SMP_HEIF_FUNCTIONS(TAKE)
#undef TAKE
    loaded = all && smp_heif_library.heif_init(NULL).code == heif_error_Ok;
}

bool smp_heif_load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return loaded;
}

bool smp_heif_loaded(void)
{
    return loaded;
}

smp_code smp_heif_need(smp_code failure, smp_error *err)
{
    if (smp_heif_load())
        return SMP_OK;
    SMP_TRY(smp_library_sought(SMP_LIBRARY_HEIF, "libheif's coders, which HEIC and AVIF need", failure, err));
    smp_fail(err, failure, "libheif, which HEIC and AVIF need, cannot be opened");
    return smp_hint(err, "install libheif1 (apt-get install libheif1)");
}

#else

bool smp_heif_load(void)
{
    return false;
}

bool smp_heif_loaded(void)
{
    return false;
}

#endif
