/* Tags and pictures of sounds. A text's key is one of tag_list.def where the file's name for it is in there, else its
 * own name; several values are several texts of one key. A file may have several tags: the first that is taken counts,
 * and of later ones what it does not have. Damage in tags does not make a sound unreadable. */
#pragma once

#include "io/audio/sound.h"

enum {
    SMP_MOST_CHAPTERS = 999,                        /* three digits: FFmpeg reads no more from an Ogg */
    SMP_MOST_PICTURE = 1 << 23,                     /* bytes of a picture, or of a frame, that is kept */
    SMP_MOST_ATTACHED = 1 << 25,                    /* bytes of all of them */
    SMP_MOST_ATTACHMENTS = SMP_MOST_CHAPTERS + 200, /* how many; a chapter may be one frame, */
    SMP_FRONT_COVER = 3,                            /* the kind of picture (ID3v2.4.0 frames, 4.14) */
    SMP_MOST_TAGS = 2 * SMP_MOST_CHAPTERS + 1000,   /* texts; or two of these, */
    SMP_MOST_TAG_BYTES = 1 << 20                    /* and bytes of them; a note tells when there are more */
};

/* ------------------------------------------------------------------------------------------------ names */

/* A row of tag_list.def; null: the format has no name for it. */
typedef struct smp_tag_row {
    const char *key, *id3, *old, *ape, *mp4, *info, *aiff, *caf;
} smp_tag_row;
extern const smp_tag_row smp_tag_rows[]; /* ends with a null key */

/* The key of a format's name; the name itself where no row has it. column: SMP_TAG(ape). */
#define SMP_TAG(format) offsetof(smp_tag_row, format)
const char *smp_tag_key(size_t column, const char *name);

/* The same of a name that may be any format's: "track", "album_artist", "DESCRIPTION". */
const char *smp_tag_any_key(const char *name);

/* The row that a text is written by, also under another name of the same where the tags have no text of the row's key.
 * Null: none. */
const smp_tag_row *smp_tag_row_for(const smp_meta *meta, const char *key);

/* The name of a genre's number; null: it has none. */
const char *smp_genre_name(unsigned long number);

/* ------------------------------------------------------------------------------------------------ taking */

/* Adds a text to reader->media.meta. language: three letters of ID3; null: none. False: out of memory. */
bool smp_tag_add(smp_reader *reader, const char *key, const char *value, size_t length, const char *language);

/* The same of "3/14", which is a number and how many there are. */
bool smp_tag_add_number(smp_reader *reader, const char *key, const char *value, size_t length);

/* Adds a picture or a frame. False: out of memory. */
bool smp_tag_attach(smp_reader *reader, const smp_attached *one);

/* The type of a picture by its first bytes, "image/png"; "": unknown. */
const char *smp_picture_type(const uint8_t *data, size_t size);

/* Notes that a tag ("ID3 tag") is damaged, and that what lies behind the damage is left out. */
void smp_tag_damaged(smp_reader *reader, const char *what);

/* Moves what was taken so far to *older, so that another tag comes first. Then adds what that does not have; what both
 * have and is not the same is told as of `what` ("APE tag"); null: it is not. Frees *older. False: out of memory. */
void smp_tag_set_aside(smp_reader *reader, smp_meta *older);
bool smp_tag_merge(smp_reader *reader, smp_meta *older, const char *what);

/* A Vorbis comment (vendor, texts), and the body of a FLAC's PICTURE block. False: out of memory. */
bool smp_sound_take_comments(smp_reader *reader, const uint8_t *data, size_t size);
bool smp_sound_take_picture(smp_reader *reader, const uint8_t *data, size_t size);

/* The metadata blocks behind a FLAC's first one; the comment in the second packet of an Ogg stream. */
smp_code smp_sound_take_flac(smp_reader *reader, smp_error *err);
smp_code smp_sound_take_ogg(smp_reader *reader, uint64_t from, uint64_t to, smp_error *err);

/* An ID3v2 tag of any version at a place in the input, which comes before what was taken; `what` as above, of that. */
smp_code smp_id3_take(smp_reader *reader, uint64_t at, const char *what, smp_error *err);

/* One frame's body, decompressed and without marks against synchronisation. version: 2 to 4; id: as in 2.4 but for
 * those that 2.4 has not. dates: TYER, TDAT and TIME are kept there. */
typedef struct smp_id3_dates {
    char year[5], day[5], time[5];
} smp_id3_dates;
bool smp_id3_take_frame(smp_reader *reader, int version, const char *id, const uint8_t *body, size_t size,
                        smp_id3_dates *dates);
bool smp_id3_take_dates(smp_reader *reader, const smp_id3_dates *dates);

/* Tags at the end of the input: APEv2, ID3v2.4. */
smp_code smp_tail_tags_take(smp_reader *reader, smp_error *err);

/* Where the tags behind a sound begin: the source's end where there are none. */
uint64_t smp_tail_tags_begin(const smp_source *source);

/* ID3v1, of which what the tags that were taken have is not told: it holds beginnings of texts, in any encoding. */
smp_code smp_id3v1_take(smp_reader *reader, smp_error *err);

/* ------------------------------------------------------------------------------------------------ writing */

/* The comment of a FLAC whose speakers are not the usual ones (RFC 9639, 8.6.2); readers do not count it as a text. */
#define SMP_FLAC_SPEAKERS "WAVEFORMATEXTENSIBLE_CHANNEL_MASK"

/* Whether there is anything to write. */
bool smp_sound_tagged(const smp_meta *meta);

/* Writes the part of a Vorbis comment behind its vendor. meta: null: no texts; pictures: with the pictures as texts, as
 * Ogg has them. */
void smp_sound_put_comments(smp_bytes *out, const smp_meta *meta, bool pictures);
void smp_sound_put_picture(smp_bytes *out, const smp_attached *picture);
/* Chapters that texts say become frames. seconds: the sound's length, which the last one ends with; 0: not known;
 * negative: chapters stand elsewhere, and only frames that say more of them are written. */
void smp_id3_put(smp_bytes *out, const smp_meta *meta, double seconds, smp_notes *notes);
static inline double smp_sound_seconds(const smp_writer *writer)
{
    return writer->options.sound.open_end ? 0 : (double)writer->shape.height / writer->shape.rate;
}

/* A chunk of WAV, which has chapters elsewhere, or AIFF (big) with such a tag. */
void smp_id3_put_chunk(smp_bytes *out, const char *name, smp_writer *writer, const smp_meta *meta, bool big);

/* Whether a list of a format's own names holds all: each text has a name in that column, once, and there is no more.
 * apart: but chapters, which the format has elsewhere. */
bool smp_tags_fit(const smp_meta *meta, size_t column, bool apart);

/* Whether a Vorbis comment can have a text's key as its name. */
bool smp_comment_holds(const smp_meta *meta, const struct smp_text *text);

/* Notes all tags that a format has no place for. holds: whether it has one for a text; null: for none. */
void smp_sound_note_lost(smp_writer *writer, const smp_meta *meta,
                         bool (*holds)(const smp_meta *meta, const struct smp_text *text), bool pictures);
