/* Libraries of others that are opened while the program runs, and only where a file may need them: they bring others
 * along (FFmpeg's two hundred, libheif four coders), for which every start would wait. */
#pragma once

#include <stdbool.h>

#include "base/each.h"
#include "base/error.h"

/* Bits of a set. smp_file_format.library says which one a format needs. */
typedef enum smp_library {
    SMP_LIBRARY_AV = 1,
    SMP_LIBRARY_HEIF = 2,
    SMP_LIBRARY_FONT = 4,
    SMP_LIBRARY_PDF = 8,
    SMP_LIBRARY_SVG = 16,
    SMP_LIBRARY_JXL = 32,
    SMP_LIBRARY_JP2 = 64,
    SMP_LIBRARY_RAW = 128,
    SMP_LIBRARY_ENCODERS = 256 /* none: formats are written by processes of their own (smp_file_format.confined) */
} smp_library;

/* Returns the libraries that a file may need, by its name or by an extension alone. */
unsigned smp_libraries_of_name(const char *path);
/* Returns the libraries that an input needs by its next bytes, which stay unread. Of a file also bytes behind tags
 * count, and if no format is known, none; of what can be read once only, all libraries. */
unsigned smp_libraries_of_input(int fd);
/* The same of a regular file, "-": standard input; 0: it is none. */
unsigned smp_libraries_of_file(const char *path);

/* Opens each once. One that is not there is passed over: who reads or writes the file says so. A confined process
 * cannot open any: who starts one calls this before. Threads may call it at once. */
void smp_libraries_open(unsigned libraries);
unsigned smp_libraries_opened(void);

/* From now on none can be opened: this process is about to be confined. */
void smp_libraries_close(void);
/* Opens one, once. False: it is not there, or this build is without. */
bool smp_library_load(smp_library library);
/* The same with an error, of this code, that says what to install. */
smp_code smp_library_need(smp_library library, smp_code failure, smp_error *err);

/* Called once by smp_library_load. False: a library is not there or lacks a function, or this build is without. */
bool smp_av_load(void);
bool smp_heif_load(void);
bool smp_font_load(void);
bool smp_pdf_load(void);
bool smp_svg_load(void);
bool smp_jxl_load(void);
bool smp_jp2_load(void);
bool smp_raw_load(void);

/* For those. file: the library's name, as libNAME.so.1; null: it is not there. */
void *smp_library_open(const char *file);
/* Stores the function's address in *to, a pointer to a function. False: the library has none of this name. */
bool smp_library_function(void *library, const char *name, void *to);
/* By SMP_EACH: the field of a struct for a function that a header declares. */
#define SMP_LIBRARY_FIELD(with, function) __typeof__(function) *function;
