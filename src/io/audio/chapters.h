/* Chapters of a sound. Metadata has them as texts, as Ogg has them (Xiph, "Chapter Extension": CHAPTER001=00:01:02.500,
 * CHAPTER001NAME=Title), where readers find them as something else too (cue points of a WAV, a FLAC's CUESHEET,
 * chapters of MP4); or as frames CHAP of ID3, which may hold more than a title. Texts count where there are both. */
#pragma once

#include "io/audio/sound.h"

typedef struct smp_chapter {
    double start; /* seconds */
    char *title;  /* may be null */
} smp_chapter;

typedef struct smp_chapters {
    smp_chapter *items;
    size_t count, capacity;
    bool more; /* frames say more of them than start and title */
} smp_chapters;

enum { SMP_CHAPTER_TEXT = 32 /* bytes of "CHAPTER001", "00:01:02.500" or "CHAPTER001NAME", each with its end */ };
#define SMP_CHAPTERS_KEY "CHAPTER" /* --tag CHAPTER= drops all */

/* Whether a text's key is one of chapters; whether a frame is. */
bool smp_chapter_is(const char *key);
static inline bool smp_chapter_is_frame(const smp_attached *one)
{
    return one->frame[0] && strstr("CHAP CTOC", one->frame);
}

/* False: out of memory. title: may be null. */
bool smp_chapters_add(smp_chapters *list, double start, const char *title, size_t length);
void smp_chapters_free(smp_chapters *list);

void smp_chapters_sort(smp_chapters *list);

/* Those of metadata, which may be null, by their starts. False: out of memory. */
bool smp_chapters_of(const smp_meta *meta, smp_chapters *list);

/* The texts that say chapter number i, from 0 on: key and value of its start, the key of its title. */
typedef struct smp_chapter_texts {
    char key[SMP_CHAPTER_TEXT], start[SMP_CHAPTER_TEXT], name[SMP_CHAPTER_TEXT];
} smp_chapter_texts;
smp_chapter_texts smp_chapter_say(const smp_chapters *list, size_t i);

/* Adds them to what was read, unless its texts say some (tags.c). False: out of memory. */
bool smp_chapters_take(smp_reader *reader, const smp_chapters *list);

/* "1:02:03.5", "2:03", "3.5": its seconds, and *end behind it; negative: no time stands there ("0:75"). */
double smp_chapter_time(const char *text, const char **end);

/* Reads a text of chapters: FFmpeg's metadata, CHAPTER001=, a CUE sheet, labels of Audacity, or lines as "1:02 Title".
 * Changes the text. */
smp_code smp_chapters_parse(char *text, smp_chapters *list, smp_error *err);

/* The first text of a frame's body, which begins with its encoding (id3_frames.c); null: none, or no memory. From
 * smp_alloc. */
char *smp_id3_text(const uint8_t *body, size_t size);
