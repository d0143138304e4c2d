/* The boxes of an MP4 with one sound, as Apple calls M4A: our own, since FFmpeg's muxer keeps one value of a tag, and
 * the tags that it knows. Sources: ISO/IEC 14496-12 (boxes), 14496-14 (esds), 14496-1, 7.2.6 (its descriptors); Apple,
 * "QuickTime File Format" and "Apple Lossless Format ALACMagicCookieDescription". */
#pragma once

#include "io/audio/tags.h"

typedef struct smp_mp4 {
    int rate, channels, bits;
    bool alac;             /* else AAC */
    uint32_t packet;       /* frames in each but the last */
    int64_t priming;       /* frames in front of the first that is heard */
    int64_t frames;        /* that are heard */
    const uint8_t *config; /* the coder's: an AudioSpecificConfig; of ALAC its box */
    size_t config_size;
    uint32_t *sizes; /* of packets, bytes */
    size_t count, capacity;
} smp_mp4;

/* The file type box, and what stands in front of so many bytes of packets: 16 bytes, however many these are. */
void smp_mp4_put_head(smp_bytes *out, uint64_t bytes);
enum { SMP_MP4_DATA_HEAD = 16 };

/* What follows the packets: where they are, how they are heard, and the tags (null: none). at: of the first packet. */
void smp_mp4_put_index(smp_bytes *out, const smp_mp4 *mp4, uint64_t at, const smp_meta *meta);

/* A box begins; returns where, for the end, which puts its size there. */
size_t smp_mp4_begin(smp_bytes *out, const char *name);
void smp_mp4_end(smp_bytes *out, size_t box);

/* Notes where players, which read one box of chapters, do not find all. */
void smp_mp4_note_chapters(smp_writer *writer, const smp_meta *meta);

/* The tags as iTunes has them, with how many frames are not heard. */
void smp_mp4_put_tags(smp_bytes *out, const smp_mp4 *mp4, const smp_meta *meta);
