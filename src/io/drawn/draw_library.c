/* See draw_library.h. */
#include "io/drawn/draw_library.h"

#include <pthread.h>
#include <string.h>

enum { FOLDERS = 32, ALL_LEVELS = ~3 /* G_LOG_LEVEL_MASK */ };

smp_draw_library smp_draw_functions;
_Thread_local smp_notes *smp_draw_notes;

static unsigned loaded;
static char *folders[FOLDERS + 1];

/* fontconfig reads its files now, since a confined process cannot, and never looks for changes of them. */
static void take_fonts(void)
{
    const smp_draw_library *d = &smp_draw_functions;
    static bool taken;
    void *list = taken || !d->FcInit() ? NULL : d->FcConfigGetFontDirs(NULL);
    const char *folder;
    int count = 0;
    taken = true;
    if (!list)
        return;
    (void)d->FcConfigSetRescanInterval(NULL, 0);
    while (count < FOLDERS - 1 && (folder = (const char *)d->FcStrListNext(list)))
        count += (folders[count] = strdup(folder)) != NULL;
    folders[count] = strdup("/usr/share/poppler"); /* names of characters */
    d->FcStrListDone(list);
}

static void note_fault(const char *, int, const char *text, void *)
{
    if (smp_draw_notes)
        smp_note(smp_draw_notes, "it may not be drawn whole, as poppler finds faults in it: %.150s", text);
    smp_draw_notes = NULL;
}

#define TAKE(result, function, arguments)                                                                              \
    all = smp_library_function(opened, #function, &smp_draw_functions.function) && all;

bool smp_draw_load(smp_library library)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static unsigned sought;
    pthread_mutex_lock(&lock);
    const bool pdf = library == SMP_LIBRARY_PDF;
    void *opened = sought & library ? NULL : smp_library_open(pdf ? "libpoppler-glib.so.8" : "librsvg-2.so.2");
    bool all = opened != NULL;
    if (opened) {
        SMP_CAIRO_FUNCTIONS(TAKE)
        if (pdf) {
            SMP_PDF_FUNCTIONS(TAKE)
        } else {
            SMP_SVG_FUNCTIONS(TAKE)
        }
    }
    sought |= library;
    loaded |= all ? library : 0u;
    if (all && pdf)
        (void)smp_draw_functions.g_log_set_handler("Poppler", ALL_LEVELS, note_fault, NULL);
    pthread_mutex_unlock(&lock);
    return loaded & library;
}

unsigned smp_draw_loaded(void)
{
    return loaded;
}

smp_code smp_draw_need(smp_library library, smp_error *err)
{
    const bool pdf = library == SMP_LIBRARY_PDF;
    if (smp_draw_load(library))
        return SMP_OK;
    SMP_TRY(smp_library_sought(
        library, pdf ? "poppler and cairo, which PDF needs" : "librsvg and cairo, which SVG needs", SMP_E_READ, err));
    smp_fail(err, SMP_E_READ, "%s cannot be opened", pdf ? "poppler, which PDF needs," : "librsvg, which SVG needs,");
    return smp_hint(err, pdf ? "install libpoppler-glib8 (apt-get install libpoppler-glib8)"
                             : "install librsvg2-2 (apt-get install librsvg2-2)");
}

char *const *smp_draw_folders(void)
{
    if (loaded)
        take_fonts();
    return loaded ? folders : NULL;
}
