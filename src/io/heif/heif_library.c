/* libheif, opened while the program runs: see heif_library.h. Packages that hold the libraries themselves link it
 * (SMP_HEIF_LINKED), so that their tools find it. */
#include "io/heif/heif_library.h"

#ifdef SMP_HAVE_HEIF

smp_heif_functions smp_heif_library;

/* Its coders may be plugins, which it looks for now: later a decoder is confined. */
bool smp_heif_load(void)
{
    bool all = true;
#ifdef SMP_HEIF_LINKED
#define TAKE(library, function) smp_heif_library.function = function;
#else
    void *library = smp_library_open("libheif.so.1");
    if (!library)
        return false;
#define TAKE(library, function) all = smp_library_function(library, #function, &smp_heif_library.function) && all;
#endif
    SMP_HEIF_FUNCTIONS(TAKE, library)
    return all && smp_heif_library.heif_init(NULL).code == heif_error_Ok;
}

#else

bool smp_heif_load(void)
{
    return false;
}

#endif
