/* Shared by WAV and W64, whose samples and formats are the same: see wav.c. */
#pragma once

#include "io/audio/sound.h"

typedef struct smp_wav {
    const char *kind; /* what messages call it: "WAV" */
    bool rf64, big, has_format, has_data;
    unsigned tag, channels, bits, align;
    uint32_t rate, mask;
    uint64_t data_at, data_size, long_size; /* bytes; long_size from ds64 */
    uint64_t id3_at;                        /* bytes: the body of a chunk with an ID3 tag; 0: there is none */
    uint64_t cue_at, adtl_at;               /* the same of cue points and of their labels, */
    uint32_t cue_size, adtl_size;           /* and how long they are */
    uint64_t end;                           /* the end of the file by its header; 0: unknown */
    bool size_known;                        /* else the samples go on to the end */
    unsigned pad;                           /* bytes of which chunks have whole multiples */
} smp_wav;

/* Walks the chunks to the samples, and past them if the header says that the file continues; takes tags. */
smp_code smp_wav_walk(smp_wav *h, smp_reader *reader, smp_error *err);

/* wav_cues.c: cue points become chapters, with their labels; others: gets what else their list has. And chapters become
 * cue points; those beyond what their numbers hold are left out. */
smp_code smp_wav_take_cues(const smp_wav *h, smp_reader *reader, smp_names *others, smp_error *err);
void smp_wav_put_cues(smp_bytes *out, const smp_writer *writer, const smp_meta *meta);

/* The format tag in the first bytes of a WAV that is not RIFX or RF64; 0: it is none, or comes later. */
unsigned smp_wav_tag(const uint8_t *head, size_t size);

/* Takes the body of a fmt chunk of `size` bytes. */
smp_code smp_wav_format(smp_wav *h, smp_source *source, uint64_t at, uint32_t size, smp_error *err);

/* Checks that the samples are there, and sets their size where it is not known; with --no-verify to what there is of
 * them. The source can seek, or it is known. */
smp_code smp_wav_check(smp_wav *h, smp_reader *reader, smp_error *err);

/* Checks the samples that the header tells of, and begins to read them. container: "RF64"; may be null. */
smp_code smp_wav_open(smp_reader *reader, smp_wav *h, const char *container, smp_error *err);

/* The kind of sample that is written of such a sound. */
int smp_wav_type(const smp_sound *sound);

/* Adds the body of a fmt chunk. */
void smp_wav_put_format(smp_bytes *out, const smp_writer *writer, int type);
