/* The markers of a JPEG that describe its picture: ICC profile, EXIF, XMP, comments, the index of an MPO. They are kept
 * in their order, up to a count and a number of bytes. libjpeg's own list is not used: it is walked to its end for
 * every marker. */
#pragma once

#include "io/jpeg/jpeg_glue.h"

enum { SMP_JPEG_MAX_MARKERS = 1000, SMP_JPEG_ICC_PARTS = 256 /* numbered from 1 */ };

struct smp_jpeg_markers {
    smp_meta *meta;        /* gets EXIF, XMP and comments */
    bool closed;           /* the picture has begun: markers are counted and skipped */
    bool xmp;              /* a packet is kept */
    unsigned count;        /* comments and application markers */
    uint64_t bytes;        /* of all that is kept */
    unsigned icc_count;    /* parts of the profile; 0: none seen */
    const char *icc_fault; /* why the profile is unusable; null: no fault */
    smp_blob icc[SMP_JPEG_ICC_PARTS];
    uint32_t pictures; /* of an MPO; 0: it is not one */
    uint8_t *data;     /* the current marker */
};

/* Call right after jpeg_create_decompress. base->markers points at zeroed markers with `meta` set. */
void smp_jpeg_watch_markers(struct jpeg_decompress_struct *jpeg);

/* Inside a guard: joins the parts of the ICC profile. An incomplete profile is left out, with a note. */
void smp_jpeg_keep_icc(smp_jpeg *base, smp_blob *icc);

/* The scans of the picture whose first scan has begun at `position`; at most one more than `most`, where it stops. The
 * source must be able to seek. In jpeg_scans.c. */
int smp_jpeg_count_scans(const smp_source *source, uint64_t position, int most);

void smp_jpeg_free_markers(smp_jpeg_markers *markers);

/* The key of a comment: "Title: One", a word, a colon and a blank, is how jpeg_write.c writes a text of the key Title;
 * else "Comment". Returns where what it says begins. */
size_t smp_jpeg_comment_key(const char *text, size_t size, char key[SMP_TAG_KEY]);
