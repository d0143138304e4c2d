/* Recognises what FFmpeg's libraries read by its first bytes. */
#include <string.h>

#include "io/audio/ogg_pages.h"
#include "io/av/av_library.h"

typedef struct kind {
    const char *name; /* FFmpeg's */
    size_t at, length;
    const char *magic;
} kind;

/* CAF with samples of a kind that caf.c does not read, such as ALAC and AAC. */
static bool is_coded_caf(const uint8_t *head, size_t size)
{
    enum { CHUNK = 8, KIND = 8 + 12 + 8 };
    return size >= KIND + 4 && !memcmp(head, "caff\0\1", 6) && !memcmp(head + CHUNK, "desc", 4) &&
           memcmp(head + KIND, "lpcm", 4) != 0 && memcmp(head + KIND, "ulaw", 4) != 0 &&
           memcmp(head + KIND, "alaw", 4) != 0;
}

const char *smp_av_kind(const uint8_t *head, size_t size)
{
    static const kind kinds[] = {{"mov,mp4,m4a,3gp,3g2,mj2", 4, 4, "ftyp"},
                                 {"mov,mp4,m4a,3gp,3g2,mj2", 4, 4, "moov"},
                                 {"matroska,webm", 0, 4, "\x1A\x45\xDF\xA3"},
                                 {"asf", 0, 8, "\x30\x26\xB2\x75\x8E\x66\xCF\x11"},
                                 {"avi", 8, 4, "AVI "},
                                 {"flv", 0, 4, "FLV\1"},
                                 {"mpeg", 0, 4, "\0\0\1\xBA"},
                                 {"ac3", 0, 2, "\x0B\x77"},
                                 {"amr", 0, 5, "#!AMR"},
                                 {"au", 0, 4, ".snd"},
                                 {"nistsphere", 0, 7, "NIST_1A"},
                                 {"wv", 0, 4, "wvpk"},
                                 {"ape", 0, 4, "MAC "},
                                 {"tta", 0, 4, "TTA1"}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (size >= kinds[i].at + kinds[i].length && !memcmp(head + kinds[i].at, kinds[i].magic, kinds[i].length))
            return kinds[i].name;
    if (size >= 7 && head[0] == 0xFF && (head[1] & 0xF6) == 0xF0) /* ADTS: sync word, layer 0 */
        return "aac";
    /* FLAC in Ogg, which libsndfile 1.2 cannot decode (RFC 9639, section 10.1), and Speex. */
    if (smp_ogg_begins(head, size,
                       "\x7F"
                       "FLAC",
                       5) ||
        smp_ogg_begins(head, size, "Speex   ", 8))
        return "ogg";
    if (is_coded_caf(head, size))
        return "caf";
    if (size > 188 * 2 && head[0] == 0x47 && head[188] == 0x47 && head[376] == 0x47)
        return "mpegts";
    return NULL;
}

bool smp_av_sniff(const uint8_t *head, size_t size)
{
    return smp_av_kind(head, size) != NULL;
}
