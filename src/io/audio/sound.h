/* Shared by the sound formats: sample types and their bytes, channel maps, header checks. Samples are f32 with full
 * scale 1: a code of b bits is exactly code / 2^(b-1) (32-bit codes and doubles are rounded to f32). */
#pragma once

#include <string.h>

#include "io/bytes.h"
#include "io/format.h"
#include "media/speakers.h"

/* "24-bit PCM", "float"; null for an unknown type. */
const char *smp_sound_type_name(int type);

/* Bits of a sample in a file; 0 for types without fixed-size samples (Vorbis, Opus). */
int smp_sound_bits(int type);

/* Whether the samples are of a code that loses some (Vorbis, MPEG, mu-law); 16 bits hold what is left of them. */
bool smp_sound_coded(int type);

/* The type that a format without unsigned bytes writes for a sound. laws: it has mu-law and A-law. */
static inline int smp_sound_signed_type(const smp_sound *sound, bool laws)
{
    if (sound->type == SMP_SOUND_U8)
        return SMP_SOUND_S8;
    if (sound->type == SMP_SOUND_NONE)
        return SMP_SOUND_F32;
    return smp_sound_coded(sound->type) && !(laws && smp_sound_bits(sound->type)) ? SMP_SOUND_S16 : sound->type;
}

/* The error that a format has no samples of the kind that four letters of its header name. */
static inline smp_code smp_sound_fail_kind(const char *format, const char *kind, smp_error *err)
{
    char shown[5] = {0};
    for (int i = 0; i < 4; i++)
        shown[i] = kind[i] >= 32 && kind[i] < 127 ? kind[i] : '?';
    return smp_fail(err, SMP_E_DECODE, "the %s's samples are of kind '%s', which is not supported", format, shown);
}

/* Samples that f32 does not hold: whole numbers of 32 bits, and doubles. */
typedef struct smp_inexact {
    uint64_t rounded;  /* to its 24 bits */
    uint64_t infinite; /* finite ones beyond its range */
    uint64_t bad;      /* not finite in the file */
} smp_inexact;

static inline void smp_inexact_add(smp_inexact *inexact, double value, float nearest)
{
    const bool differs = value - value == 0 && (double)nearest != value, infinite = nearest - nearest != 0;
    inexact->rounded += differs && !infinite;
    inexact->infinite += differs && infinite;
    inexact->bad += value - value != 0;
}

/* Converts n samples from file bytes to f32. big: big-endian. type: one with bits. Adds those that f32 does not hold.
 */
void smp_sound_decode(float *to, const uint8_t *from, int64_t n, int type, bool big, smp_inexact *inexact);

/* Converts to file bytes: rounds to nearest, ties to even; clamps; NaN becomes 0. No dither, so every run gives the
 * same bytes. Returns how many samples were clamped to the integers' range. */
uint64_t smp_sound_encode(uint8_t *to, const float *from, int64_t n, int type, bool big);

/* Rounds v to an integer of so many bits, as encode() does. Adds 1 to *clipped when v is beyond full scale by more than
 * half a code and more than f32's rounding. The largest code is one below 1; a v of exactly 1 does not count as
 * clipped. */
int32_t smp_sound_round(float v, int bits, uint64_t *clipped);

/* Samples beyond full scale, which a coded sound keeps. */
typedef struct smp_sound_over {
    uint64_t count;
    float peak;
    bool told;
} smp_sound_over;

/* The sample that a coder gets, which codes many together: one value that is not finite would silence them all. */
float smp_sound_finite(float v, smp_sound_over *over, uint64_t *clipped);
void smp_sound_note_over(smp_writer *writer, smp_sound_over *over);

/* Of frames there are `have`: puts `more` behind them, as those would go on. False: out of memory. */
bool smp_sound_predict(float *frames, int64_t have, int64_t more, int channels);

/* Notes that the format has another bitrate, in kbit/s, than the one asked for. */
void smp_sound_note_bitrate(smp_writer *writer, int used);

/* Fills reader->media's shape and bits. Checks the limits: frames, channels, rate. */
smp_code smp_sound_header(smp_reader *reader, int64_t frames, int64_t channels, double rate, int type, smp_error *err);

/* Whether what is read may have an open end: it comes from a pipe, and whoever reads asked for that. */
static inline bool smp_sound_may_be_open(const smp_reader *reader)
{
    return reader->options.want.live && !reader->source.seekable;
}

/* detail: "24-bit PCM, RF64, channels L R C LFE BL BR". container may be null. */
void smp_sound_describe(smp_media *media, const char *container);

/* Whether a mask of speakers has one for each channel. */
bool smp_sound_mask_fits(uint32_t mask, int channels);

/* The places of more than two speakers where they are not the usual ones of so many; 0: they are. The note of a format
 * that cannot say so. */
uint32_t smp_sound_unusual(const smp_writer *writer);
void smp_sound_note_speakers(smp_writer *writer, bool nameless); /* nameless: it names no speakers at all */

/* For write_shape: requires sound with a rate and 1 to `most` channels; smp_sound_write_shape asks for nothing more. */
smp_code smp_sound_can_write(const char *format, const smp_shape *shape, int most, smp_error *err);
smp_code smp_sound_write_shape(const smp_file_format *format, const char *extension, smp_shape *shape, smp_error *err);

/* A header under construction: appends bytes to a buffer, which is large enough or grows. `failed`: out of memory. */
typedef struct smp_bytes {
    uint8_t *data;
    size_t size, capacity;
    bool failed;
} smp_bytes;

void smp_bytes_add(smp_bytes *bytes, const void *data, size_t size);
void smp_bytes_le(smp_bytes *bytes, uint64_t value, int count);
void smp_bytes_be(smp_bytes *bytes, uint64_t value, int count);

/* Puts the sizes of a sound's samples into its header, of which all else is there: those of writer->shape or, where
 * writer->options.sound.open_end, that they are not known. bytes: of all samples. */
typedef void smp_sound_sizes(const smp_writer *writer, uint8_t *head, size_t size, uint64_t bytes);

/* Contiguous samples in a file (WAV, W64, AIFF, CAF): the state of a reader and of a writer. */
typedef struct smp_pcm {
    int type;
    bool big;
    uint64_t pad;        /* bytes of which the samples fill whole multiples, with zeros behind them; 0: 1 */
    uint64_t at;         /* reader: where the samples begin */
    smp_bytes tail;      /* writer: what follows them */
    uint64_t next;       /* reader: where a file appended to this one would begin */
    smp_inexact inexact; /* reader */
    uint8_t *buffer;
    smp_bytes head;         /* writer of a sound of open end: the header, */
    smp_sound_sizes *sizes; /* and what puts its sizes there */
} smp_pcm;

smp_code smp_pcm_open_read(smp_reader *reader, int type, bool big, uint64_t data_at, smp_error *err);
smp_code smp_pcm_read(smp_reader *reader, void *to, int64_t stride, int64_t rows, smp_error *err);
smp_code smp_pcm_read_end(smp_reader *reader, smp_error *err);
void smp_pcm_close_read(smp_reader *reader);

smp_code smp_pcm_open_write(smp_writer *writer, int type, bool big, smp_error *err);
smp_code smp_pcm_write(smp_writer *writer, const void *from, int64_t stride, int64_t rows, smp_error *err);
smp_code smp_pcm_write_end(smp_writer *writer, smp_error *err);
void smp_pcm_close_write(smp_writer *writer);

/* Whether anything may follow the samples: not where nobody can tell from the header that they have ended. */
bool smp_pcm_may_have_tail(smp_writer *writer);

/* Functions of an smp_file_format whose samples begin where its own read_open and write_open say. */
#define SMP_PCM_FORMAT                                                                                                 \
    .kind = SMP_AUDIO, .read_rows = smp_pcm_read, .read_close = smp_pcm_close_read,                                    \
    .write_shape = smp_sound_write_shape, .write_rows = smp_pcm_write, .write_end = smp_pcm_write_end,                 \
    .write_close = smp_pcm_close_write

/* Notes at the end of a sound that f32 does not hold so many of its samples. */
void smp_sound_note_inexact(smp_reader *reader, const smp_inexact *inexact);

/* Notes that bytes behind the samples, or from `at` on, are not read. Tags of other programs, cut chunks and what fills
 * a file up are short, and are not told. */
void smp_sound_note_unread(smp_reader *reader, uint64_t bytes);
void smp_sound_note_behind(smp_reader *reader, uint64_t at);

/* The hint of an error about a coded sound that is cut or damaged; about samples that are cut, where it is one. */
smp_code smp_sound_hint_saved(smp_error *err);
smp_code smp_sound_hint_cut(smp_code code, smp_error *err);

/* With --no-verify: *size bytes of samples from `at` on become what there is of them, in whole frames of `frame` bytes,
 * and a note says so. */
smp_code smp_sound_take_cut(smp_reader *reader, uint64_t at, uint64_t *size, uint64_t frame, smp_error *err);

/* Notes that a sound is coded anew where its coded frames could be expected to be copied; within: since the part begins
 * and ends in one frame. */
void smp_sound_note_anew(smp_notes *notes, bool within);

/* Notes that a format writes samples as `type`, where it does not hold the kind that the input had. */
void smp_sound_note_type(smp_writer *writer, int type);

/* Reads bytes anywhere in the input without moving; also near the beginning of a pipe. */
bool smp_sound_look(smp_source *source, uint64_t position, void *to, size_t size);

/* Chunks of a file, one behind the other: a name, a size and as many bytes. The caller fills in the first four rows. */
typedef struct smp_chunks {
    const char *kind; /* of the file, for messages: "WAV" */
    int name, bytes;  /* of a chunk's head: its name, and its size */
    bool big;         /* the size's highest byte comes first */
    uint64_t at;      /* where the next head begins */
    int count;        /* chunks so far */
    bool found;       /* one was read: */
    uint8_t id[16];
    uint64_t size, body; /* the size as it stands there, and where the body begins */
} smp_chunks;
enum { SMP_MOST_CHUNKS = 1000 /* to walk before the file counts as an attack */ };

/* Reads the head at chunks->at, which the caller moves on. Not found: the input ends, or has too many chunks. */
smp_code smp_chunk_next(smp_chunks *chunks, smp_source *source, smp_error *err);

/* Reads a pipe whole where `end` lies beyond what was read of it. */
smp_code smp_chunk_reach(smp_source *source, uint64_t end, smp_error *err);

static inline bool smp_chunk_is(const smp_chunks *chunks, const char *name)
{
    return memcmp(chunks->id, name, 4) == 0;
}

/* The error of a walk that found no next chunk before the file's `what` ("samples"). */
smp_code smp_chunks_ended(const smp_chunks *chunks, const smp_source *source, const char *what, smp_error *err);

/* Adds the name of a chunk and its size of `count` bytes. */
void smp_bytes_chunk(smp_bytes *out, const char *name, uint64_t size, int count, bool big);

/* Writes the header of contiguous samples, with its sizes, and takes it over. Fails where it could not be made either
 * (smp_bytes.failed). Where the sound's length is known later, and the file can be patched, sizes are put there again.
 */
smp_code smp_sound_write_header(smp_writer *writer, smp_bytes *header, smp_sound_sizes *sizes, smp_error *err);
