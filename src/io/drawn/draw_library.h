/* poppler for PDF and librsvg for SVG, which draw by cairo; opened while the program runs (io/library.h). What is used
 * of them is declared here: pointers and numbers alone, which have not changed since the versions named below, and no
 * build needs their headers. Sources: poppler.freedesktop.org/api/glib, gnome.pages.gitlab.gnome.org/librsvg,
 * cairographics.org/manual. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/notes.h"
#include "io/library.h"

/* Folders of fonts, and of what names their characters, which a drawing reads; ends with null. Null: neither is open.
 * fontconfig reads its files then: before the process is confined. */
char *const *smp_draw_folders(void);

/* Where what poppler says first of faults is noted, while it works for this thread; null: nowhere. */
extern _Thread_local smp_notes *smp_draw_notes;

typedef struct smp_g_error {
    uint32_t domain;
    int code;
    char *message;
} smp_g_error;

typedef struct smp_rsvg_length {
    double length;
    int unit; /* RsvgUnit: percent (1.0 is whole), px, em, ex, in, cm, mm, pt, pc */
} smp_rsvg_length;

typedef struct smp_rsvg_rectangle {
    double x, y, width, height;
} smp_rsvg_rectangle;

/* X(result, function, arguments) */
#define SMP_CAIRO_FUNCTIONS(X)                                                                                         \
    X(void *, cairo_image_surface_create_for_data,                                                                     \
      (unsigned char *data, int format, int width, int height, int stride))                                            \
    X(void, cairo_surface_destroy, (void *surface))                                                                    \
    X(void *, cairo_create, (void *surface))                                                                           \
    X(void, cairo_destroy, (void *cairo))                                                                              \
    X(void, cairo_scale, (void *cairo, double x, double y))                                                            \
    X(int, cairo_status, (void *cairo))                                                                                \
    X(void, g_object_unref, (void *object))                                                                            \
    X(void, g_error_free, (smp_g_error * error))                                                                       \
    X(int, FcInit, (void))                                                                                             \
    X(int, FcConfigSetRescanInterval, (void *config, int seconds))                                                     \
    X(void *, FcConfigGetFontDirs, (void *config))                                                                     \
    X(unsigned char *, FcStrListNext, (void *list))                                                                    \
    X(void, FcStrListDone, (void *list))

#define SMP_PDF_FUNCTIONS(X) /* poppler 0.82 */                                                                        \
    X(void *, g_bytes_new_static, (const void *data, size_t size))                                                     \
    X(void, g_bytes_unref, (void *bytes))                                                                              \
    X(void, g_free, (void *text))                                                                                      \
    X(unsigned, g_log_set_handler,                                                                                     \
      (const char *domain, int levels, void (*hear)(const char *, int, const char *, void *), void *state))            \
    X(void *, poppler_document_new_from_bytes, (void *bytes, const char *password, smp_g_error **error))               \
    X(int, poppler_document_get_n_pages, (void *document))                                                             \
    X(char *, poppler_document_get_title, (void *document))                                                            \
    X(char *, poppler_document_get_author, (void *document))                                                           \
    X(char *, poppler_document_get_subject, (void *document))                                                          \
    X(char *, poppler_document_get_keywords, (void *document))                                                         \
    X(char *, poppler_document_get_creator, (void *document))                                                          \
    X(void *, poppler_document_get_page, (void *document, int index))                                                  \
    X(void, poppler_page_get_size, (void *page, double *width, double *height))                                        \
    X(void, poppler_page_render, (void *page, void *cairo))

#define SMP_SVG_FUNCTIONS(X) /* librsvg 2.52 */                                                                        \
    X(void *, g_memory_input_stream_new_from_data, (const void *data, ptrdiff_t size, void (*free)(void *)))           \
    X(void *, rsvg_handle_new_from_stream_sync,                                                                        \
      (void *stream, void *file, int flags, void *cancel, smp_g_error **error))                                        \
    X(void, rsvg_handle_set_dpi, (void *handle, double dpi))                                                           \
    X(int, rsvg_handle_get_intrinsic_size_in_pixels, (void *handle, double *width, double *height))                    \
    X(void, rsvg_handle_get_intrinsic_dimensions,                                                                      \
      (void *handle, int *has_width, smp_rsvg_length *width, int *has_height, smp_rsvg_length *height, int *has_box,   \
       smp_rsvg_rectangle *box))                                                                                       \
    X(int, rsvg_handle_get_geometry_for_layer,                                                                         \
      (void *handle, const char *id, const smp_rsvg_rectangle *viewport, smp_rsvg_rectangle *ink,                      \
       smp_rsvg_rectangle *logical, smp_g_error **error))                                                              \
    X(int, rsvg_handle_render_document,                                                                                \
      (void *handle, void *cairo, const smp_rsvg_rectangle *viewport, smp_g_error **error))

/* Filled by what opens the libraries. */
typedef struct smp_draw_library {
#define FIELD(result, function, arguments) result(*function) arguments;
    SMP_CAIRO_FUNCTIONS(FIELD)
    SMP_PDF_FUNCTIONS(FIELD)
    SMP_SVG_FUNCTIONS(FIELD)
#undef FIELD
} smp_draw_library;
extern smp_draw_library smp_draw_functions;
