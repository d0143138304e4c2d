/* The files of the page, which the build puts into the program (report/page/page.cmake). */
#pragma once

#include <stddef.h>

typedef struct smp_edit_page_file {
    const char *name, *type;
    const unsigned char *data;
    size_t size;
} smp_edit_page_file;

extern const smp_edit_page_file smp_edit_page_files[]; /* ends with a null name */
