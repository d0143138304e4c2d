/* See draw_library.h. */
#include "io/drawn/draw_library.h"

#include <iconv.h>
#include <string.h>

enum { FOLDERS = 32, ALL_LEVELS = ~3 /* G_LOG_LEVEL_MASK */ };

smp_draw_library smp_draw_functions;
_Thread_local smp_notes *smp_draw_notes;

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
    all = all && smp_library_function(library, #function, &smp_draw_functions.function);

bool smp_pdf_load(void)
{
    void *library = smp_library_open("libpoppler-glib.so.8");
    bool all = library != NULL;
    SMP_CAIRO_FUNCTIONS(TAKE)
    SMP_PDF_FUNCTIONS(TAKE)
    static iconv_t texts; /* in UTF-16, of which a confined process cannot open the table */
    texts = texts ? texts : iconv_open("UTF-8", "UTF-16BE");
    if (all)
        (void)smp_draw_functions.g_log_set_handler("Poppler", ALL_LEVELS, note_fault, NULL);
    return all;
}

bool smp_svg_load(void)
{
    void *library = smp_library_open("librsvg-2.so.2");
    bool all = library != NULL;
    SMP_CAIRO_FUNCTIONS(TAKE)
    SMP_SVG_FUNCTIONS(TAKE)
    return all;
}

char *const *smp_draw_folders(void)
{
    const bool loaded = smp_libraries_opened() & (SMP_LIBRARY_PDF | SMP_LIBRARY_SVG);
    if (loaded)
        take_fonts();
    return loaded ? folders : NULL;
}
