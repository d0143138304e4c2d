/* FreeType and HarfBuzz, opened while the program runs (io/library.h), and fontconfig, which finds fonts by name. */
#pragma once

#include "io/library.h"

#ifdef SMP_HAVE_FONTS
#include <ft2build.h>
#include <hb-ft.h>
#include FT_OUTLINE_H

#define SMP_FREETYPE_FUNCTIONS(M, with)                                                                                \
    SMP_EACH(M, with, FT_Done_Face, FT_Done_FreeType, FT_Init_FreeType, FT_Load_Glyph, FT_New_Memory_Face,             \
             FT_Outline_Decompose, FT_Set_Char_Size)
#define SMP_HARFBUZZ_FUNCTIONS(M, with)                                                                                \
    SMP_EACH(M, with, hb_buffer_add_codepoints, hb_buffer_allocation_successful, hb_buffer_create, hb_buffer_destroy,  \
             hb_buffer_get_glyph_infos, hb_buffer_get_glyph_positions, hb_buffer_set_direction,                        \
             hb_buffer_set_language, hb_buffer_set_script, hb_font_destroy, hb_ft_font_create,                         \
             hb_ft_font_set_load_flags, hb_language_from_string, hb_script_get_horizontal_direction, hb_shape,         \
             hb_unicode_funcs_get_default)                                                                             \
    SMP_EACH(M, with, hb_unicode_general_category, hb_unicode_script)

typedef struct smp_font_functions {
    SMP_FREETYPE_FUNCTIONS(SMP_LIBRARY_FIELD, )
    SMP_HARFBUZZ_FUNCTIONS(SMP_LIBRARY_FIELD, )
} smp_font_functions;

/* Filled by smp_library_load. */
extern smp_font_functions smp_font_library;

/* The file of the font of that name, from smp_alloc, and which one of the file's it is. */
smp_code smp_font_find(const char *name, char **path, int *index, smp_error *err);
#endif
