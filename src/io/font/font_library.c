/* Libraries for fonts, opened while the program runs: see font_library.h. */
#include "io/font/font_library.h"

#ifdef SMP_HAVE_FONTS

#include <fontconfig/fontconfig.h>
#include <pthread.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/checked.h"

smp_font_functions smp_font_library;

#define TAKE(library, function) all = all && smp_library_function(library, #function, &smp_font_library.function);

bool smp_font_load(void)
{
    void *freetype = smp_library_open("libfreetype.so.6"), *harfbuzz = smp_library_open("libharfbuzz.so.0");
    bool all = freetype && harfbuzz;
    SMP_FREETYPE_FUNCTIONS(TAKE, freetype)
    SMP_HARFBUZZ_FUNCTIONS(TAKE, harfbuzz)
    return all;
}

#define FONTCONFIG_FUNCTIONS(M, with)                                                                                  \
    SMP_EACH(M, with, FcConfigDestroy, FcConfigSubstitute, FcFontMatch, FcInitLoadConfigAndFonts, FcNameConstant,      \
             FcNameParse, FcPatternDestroy, FcPatternGetInteger, FcPatternGetString)

static struct {
    FONTCONFIG_FUNCTIONS(SMP_LIBRARY_FIELD, )
} fc;

/* Whether a font is called so, or somebody is content with any that looks so. */
static bool is_called(FcPattern *font, const char *name)
{
    static const char *const any[] = {"sans", "sans-serif", "serif", "monospace", "mono", "cursive", "system-ui"};
    const size_t length = strcspn(name, ":");
    FcChar8 *family;
    for (size_t i = 0; i < sizeof any / sizeof any[0]; i++)
        if (strlen(any[i]) == length && !strncasecmp(any[i], name, length))
            return true;
    for (int i = 0; fc.FcPatternGetString(font, FC_FAMILY, i, &family) == FcResultMatch; i++)
        if (strlen((const char *)family) == length && !strncasecmp((const char *)family, name, length))
            return true;
    return false;
}

static smp_code take(FcPattern *font, const char *name, char **path, int *index, smp_error *err)
{
    FcChar8 *file, *family;
    if (!font || fc.FcPatternGetString(font, FC_FILE, 0, &file) != FcResultMatch ||
        fc.FcPatternGetString(font, FC_FAMILY, 0, &family) != FcResultMatch)
        return smp_fail(err, SMP_E_READ, "this machine has no fonts"),
               smp_hint(err, "install some, as fonts-dejavu-core; or name a font's file: font=\"letters.ttf\"");
    if (!is_called(font, name))
        return smp_fail(err, SMP_E_READ, "this machine has no font '%.100s'", name),
               smp_hint(err, "the nearest is font=\"%.100s\"; fc-list : family lists all; a file is named by its path",
                        (const char *)family);
    if (fc.FcPatternGetInteger(font, FC_INDEX, 0, index) != FcResultMatch)
        *index = 0;
    *path = smp_strdup((const char *)file);
    return *path ? SMP_OK : smp_fail_memory(err, "a font's name", strlen((const char *)file));
}

/* fontconfig leaves out what it does not know. */
static smp_code check_styles(const char *name, smp_error *err)
{
    for (const char *at = name + strcspn(name, ":"); *at; at += strcspn(at, ":")) {
        const size_t length = strcspn(++at, ":");
        char *word = smp_strndup(at, length);
        int value;
        const bool known = !word || !length || strchr(word, '=') || fc.FcNameConstant((const FcChar8 *)word, &value);
        smp_free(word);
        if (known)
            continue;
        smp_fail(err, SMP_E_READ, "'%.*s' is not a style", (int)smp_min_i64((int64_t)length, 60), at);
        return smp_hint(err, "styles are bold, light, italic, oblique, condensed and what else fontconfig knows");
    }
    return SMP_OK;
}

static bool has_fontconfig;

static void load_fontconfig(void)
{
    void *library = smp_library_open("libfontconfig.so.1");
    bool all = library != NULL;
#define TAKE_FC(library, function) all = all && smp_library_function(library, #function, &fc.function);
    FONTCONFIG_FUNCTIONS(TAKE_FC, library)
    has_fontconfig = all;
}

smp_code smp_font_find(const char *name, char **path, int *index, smp_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_fontconfig);
    *path = NULL;
    if (!has_fontconfig)
        return smp_fail(err, SMP_E_READ, "fontconfig, which finds fonts by name, cannot be opened"),
               smp_hint(err, "install libfontconfig1, or name the font's file: font=\"letters.ttf\"");
    SMP_TRY(check_styles(name, err));
    /* What the name leaves open is usual, and not as FcDefaultSubstitute has it, which goes by the user's language. */
    char *full = smp_asprintf("%s:scalable=true:weight=80:slant=0:width=100", name);
    FcConfig *config = fc.FcInitLoadConfigAndFonts(); /* the process may have another that is in use */
    FcPattern *wanted = full ? fc.FcNameParse((const FcChar8 *)full) : NULL, *font = NULL;
    FcResult result;
    if (config && wanted && fc.FcConfigSubstitute(config, wanted, FcMatchPattern))
        font = fc.FcFontMatch(config, wanted, &result);
    const smp_code code = take(font, name, path, index, err);
    if (wanted)
        fc.FcPatternDestroy(wanted);
    if (font)
        fc.FcPatternDestroy(font);
    if (config)
        fc.FcConfigDestroy(config);
    smp_free(full);
    return code;
}

#else

bool smp_font_load(void)
{
    return false;
}

#endif
