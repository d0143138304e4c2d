/* The frames of an MPEG sound (MP3): their headers, and whether one follows the other from beginning to end. libmpg123
 * leaves out what it does not understand without a word, and ends where the file ends, so the chain is walked here.
 * Sources: ISO/IEC 11172-3, 2.4.1.3 and 2.4.2.3; ISO/IEC 13818-3 (lower rates); gabriel.mp3-tech.org/mp3infotag.html
 * (the frame that describes the others). */
#pragma once

#include "io/audio/sound.h"

enum { SMP_MP3_HEADER = 4 /* bytes */, SMP_MP3_MOST = 1 << 11 /* bytes that a frame of layer 3 does not reach */ };

typedef struct smp_mp3_frame {
    int version; /* 1: MPEG-1; 2: MPEG-2, half its rates; 3: MPEG-2.5, a quarter */
    int layer;   /* 1 to 3 */
    int rate;    /* Hz */
    int channels;
    int samples; /* of a channel */
    int bytes;   /* with the header */
} smp_mp3_frame;

/* False: these four bytes begin no frame of a known length. */
bool smp_mp3_frame_take(smp_mp3_frame *frame, const uint8_t *bytes);

/* Bytes between a frame's header, or its check sum, and its bits. Layer 3 alone has such. */
size_t smp_mp3_side_bytes(const smp_mp3_frame *frame);

/* Where in the first frame, of which `size` bytes are there, the tag about all others begins; 0: it has none. */
size_t smp_mp3_tag_at(const smp_mp3_frame *frame, const uint8_t *bytes, size_t size);

/* Fields of that tag, by their place in it: what it has, and how many frames there are. */
enum { SMP_MP3_TAG_FLAGS = 4, SMP_MP3_TAG_FRAMES = 8 };

/* Whether a file begins with a frame. */
bool smp_mp3_sniff(const uint8_t *head, size_t size);

/* Whether three frames or more in a row begin somewhere near the beginning. Consumes nothing. */
bool smp_mp3_find(smp_source *source);

typedef struct smp_mp3_chain {
    smp_mp3_frame first;
    int64_t frames;       /* that hold sound */
    uint64_t begin, end;  /* bytes: the first frame, and behind the last one and the tags that follow it */
    uint64_t last, coded; /* behind the last one alone, and the bytes of all, which are fewer where tags lie between */
    uint64_t promise; /* where the first says how many there are, in 4 bytes, of a sound that has fewer; 0: nowhere */
} smp_mp3_chain;

/* Walks over all frames from the position `from` on. Tags between them and behind them are no damage, and bytes in
 * front of the first and behind the last one are left out with a note; a gap, a frame that is cut, and fewer frames
 * than the first one promises are damage; `saves`: an end that comes too early is none, but a note. Leaves the source
 * anywhere. */
smp_code smp_mp3_walk(smp_source *source, uint64_t from, bool saves, smp_mp3_chain *chain, smp_notes *notes,
                      smp_error *err);

/* An MP3 (layer 3, of which nothing lies between the frames) that plays `samples` from sample `from` on, of one that
 * plays `played`: coded frames as they are, and two of its own in front. *out stays empty where that cannot be, and a
 * note says so. False: out of memory. Leaves the source anywhere. */
bool smp_mp3_cut(smp_source *source, const smp_mp3_chain *chain, int64_t played, int64_t from, int64_t samples,
                 smp_notes *notes, smp_bytes *out);
