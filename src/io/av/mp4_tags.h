/* The tags of MP4 files (mp4_tags.c), and of others that FFmpeg reads (av_tags.c). */
#pragma once

#include "io/av/av_library.h"
#include "io/format.h"

/* A box of such a file, as of a JPEG 2000. */
typedef struct smp_box {
    char name[5];
    uint64_t at, end; /* of its body */
} smp_box;

/* The box that begins `at`, before `end`; false: none that ends there. */
bool smp_box_at(const smp_source *source, uint64_t at, uint64_t end, smp_box *b);

/* Takes them, where there are such. The source can seek; it stays where it is. False: out of memory. */
bool smp_mp4_take_tags(smp_reader *reader, bool *found);

/* Frames of the one sound that are to be heard, by the duration of its packets, of which an edit leaves the first
 * frames out. 0: it is not known to the frame. Source: ISO/IEC 14496-12, 8.4.2 and 8.6.6. */
int64_t smp_mp4_heard(const smp_source *source, int rate);

#ifdef SMP_HAVE_AV
/* Those of a file, and of its stream `sound`, with covers and chapters. kind: FFmpeg's name of its format. */
smp_code smp_av_take_tags(smp_reader *reader, const AVFormatContext *file, int sound, const char *kind, smp_error *err);
#endif
