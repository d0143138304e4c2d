/* Tags and cover pictures of sounds, as FLAC, Ogg and MP3 have them. A text's key is one of smp_sound_tags where it is
 * known, else its name in the file. Sources: Xiph, "Ogg Vorbis I format specification: comment field and header
 * specification"; RFC 9639, 8.6 and 8.8 (comments, pictures); id3.org, "ID3 tag version 2.4.0". */
#ifndef SMP_IO_AUDIO_TAGS_H
#define SMP_IO_AUDIO_TAGS_H

#include "io/audio/sound.h"

enum { SMP_MOST_COVER = 1 << 23 /* bytes of a picture that is kept */ };

/* Keeps a picture, unless there is one already; front: the one to keep of several. False: out of memory. */
bool smp_sound_add_cover(smp_reader *reader, const char *type, size_t type_length, const void *data, size_t size,
                         bool front);

/* A Vorbis comment (vendor, texts), and the body of a FLAC's PICTURE block. Damage in them does not make the sound
 * unreadable. False: out of memory. */
bool smp_sound_take_comments(smp_reader *reader, const uint8_t *data, size_t size);
bool smp_sound_take_picture(smp_reader *reader, const uint8_t *data, size_t size);

/* The metadata blocks behind a FLAC's first one; the comment in the second packet of an Ogg stream. */
smp_code smp_sound_take_flac(smp_reader *reader, smp_error *err);
smp_code smp_sound_take_ogg(smp_reader *reader, uint64_t from, uint64_t to, smp_error *err);

/* Where a FLAC's speakers are not the usual ones, its comment says where (RFC 9639, 8.6.2); of readers that is no text.
 */
#define SMP_FLAC_SPEAKERS "WAVEFORMATEXTENSIBLE_CHANNEL_MASK"

/* The key of a name as Vorbis comments and ffmpeg have them, "DESCRIPTION" or "track"; any other name is its own. */
const char *smp_sound_key_of(const char *name);

/* Whether there is anything to write. */
bool smp_sound_tagged(const smp_meta *meta);

/* Of a Vorbis comment what follows its vendor. meta: null: no texts; picture: with the cover as a text, as Ogg has it.
 */
void smp_sound_put_comments(smp_bytes *out, const smp_meta *meta, bool picture);
void smp_sound_put_picture(smp_bytes *out, const smp_meta *meta);
void smp_sound_put_id3(smp_bytes *out, const smp_meta *meta);

/* Notes the tags and the cover that a format has no place for. holds: whether it has one for a text; null: for all. */
void smp_sound_note_lost(smp_writer *writer, const smp_meta *meta, bool (*holds)(const struct smp_text *text),
                         bool cover);

#endif
