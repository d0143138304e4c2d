/* The markers of a JPEG that describe its picture: ICC profile, EXIF, XMP, comments, the index of an MPO. They are kept
 * as they come, within a count and a number of bytes: libjpeg's own list of markers is walked to its end for every
 * marker. */
#ifndef SMP_IO_JPEG_JPEG_MARKERS_H
#define SMP_IO_JPEG_JPEG_MARKERS_H

#include "io/jpeg/jpeg_glue.h"

enum { SMP_JPEG_MAX_MARKERS = 1000, SMP_JPEG_ICC_PARTS = 256 /* numbered from 1 */ };

struct smp_jpeg_markers {
    smp_meta *meta;        /* gets EXIF, XMP and comments */
    bool closed;           /* the picture has begun: what follows is counted and passed over */
    bool xmp;              /* a packet was kept */
    unsigned count;        /* comments and application markers */
    uint64_t bytes;        /* that are kept */
    unsigned icc_count;    /* parts that the profile has; 0: no part was seen */
    const char *icc_fault; /* why the profile cannot be put together; null: nothing is known */
    smp_blob icc[SMP_JPEG_ICC_PARTS];
    uint32_t pictures; /* of an MPO; 0: it is none */
    uint8_t *data;     /* the marker that is read */
};

/* Just after jpeg_create_decompress; base->markers points at zeroed markers with `meta` set. */
void smp_jpeg_watch_markers(struct jpeg_decompress_struct *jpeg);

/* Inside a guard: puts the parts of the ICC profile in order. A profile with a part missing stays out, with a note. */
void smp_jpeg_keep_icc(smp_jpeg *base, smp_blob *icc);

void smp_jpeg_free_markers(smp_jpeg_markers *markers);

#endif
