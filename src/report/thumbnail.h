/* Small pictures within a page: a file is decoded, averaged over boxes, and written as an <img> whose data are in the
 * page itself. */
#ifndef SMP_REPORT_THUMBNAIL_H
#define SMP_REPORT_THUMBNAIL_H

#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"

/* Writes the picture of a file with at most `most` pixels at its longer side. Writes nothing and fails where the file
 * is no picture or cannot be read. */
smp_code smp_thumbnail(FILE *to, const char *path, const smp_limits *limits, int most, smp_error *err);

#endif
