/* FreeType and HarfBuzz, opened while the program runs (io/library.h), and fontconfig, which finds fonts by name. */
#pragma once

#include "base/error.h"
#include "io/library.h"

/* Opens FreeType and HarfBuzz once. False: they are not there, or this build is without. */
bool smp_font_load(void);
bool smp_font_loaded(void);

#ifdef SMP_HAVE_FONTS
#include <ft2build.h>
#include <hb-ft.h>
#include FT_OUTLINE_H

/* Opens them, or says why they cannot be had. */
smp_code smp_font_need(smp_error *err);

#define SMP_FREETYPE_FUNCTIONS(X)                                                                                      \
    X(FT_Done_Face)                                                                                                    \
    X(FT_Done_FreeType)                                                                                                \
    X(FT_Init_FreeType)                                                                                                \
    X(FT_Load_Glyph)                                                                                                   \
    X(FT_New_Memory_Face)                                                                                              \
    X(FT_Outline_Decompose)                                                                                            \
    X(FT_Set_Char_Size)
#define SMP_HARFBUZZ_FUNCTIONS(X)                                                                                      \
    X(hb_buffer_add_codepoints)                                                                                        \
    X(hb_buffer_allocation_successful)                                                                                 \
    X(hb_buffer_create)                                                                                                \
    X(hb_buffer_destroy)                                                                                               \
    X(hb_buffer_get_glyph_infos)                                                                                       \
    X(hb_buffer_get_glyph_positions)                                                                                   \
    X(hb_buffer_set_direction)                                                                                         \
    X(hb_buffer_set_language)                                                                                          \
    X(hb_buffer_set_script)                                                                                            \
    X(hb_font_destroy)                                                                                                 \
    X(hb_ft_font_create)                                                                                               \
    X(hb_ft_font_set_load_flags)                                                                                       \
    X(hb_language_from_string)                                                                                         \
    X(hb_script_get_horizontal_direction)                                                                              \
    X(hb_shape)                                                                                                        \
    X(hb_unicode_funcs_get_default)                                                                                    \
    X(hb_unicode_general_category)                                                                                     \
    X(hb_unicode_script)

typedef struct smp_font_functions {
#define FIELD(function) __typeof__(function) *function;
    SMP_FREETYPE_FUNCTIONS(FIELD)
    SMP_HARFBUZZ_FUNCTIONS(FIELD)
#undef FIELD
} smp_font_functions;

/* Filled by smp_font_load. */
extern smp_font_functions smp_font_library;

/* The file of the font of that name, from smp_alloc, and which one of the file's it is. */
smp_code smp_font_find(const char *name, char **path, int *index, smp_error *err);
#endif
