/* libFuzzer entry: WAV, W64, AIFF and CAF; where libsndfile is, FLAC and OGG; where libmpg123 is, MP3. */
#include "fuzz_media.h"

#include "io/audio/ogg_pages.h"

/* libsndfile 1.2 forgets what libvorbis made of a damaged OGG. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:vorbis_info_init\n";
}

/* A part of an Opus whose pages are not checked before: a changed one would not have its checksum. */
static void fuzz_opus(const uint8_t *data, size_t size)
{
    enum { SERIAL_END = SMP_OGG_SERIAL_AT + 4, MOST_PLAYED = 1 << 14 };
    smp_source source;
    smp_notes notes = {.count = 0};
    smp_bytes out = {0};
    if (size < SERIAL_END)
        return;
    const smp_ogg_link link = {.to = size, .serial = smp_get_le(data + SMP_OGG_SERIAL_AT, 4)};
    const int64_t from = data[size / 2] * 8, part = 1 + data[size / 3] * 8;
    smp_source_memory(&source, data, size);
    for (int64_t played = from + part; played <= MOST_PLAYED; played *= 2) {
        (void)smp_opus_cut(&source, &link, played, from, part, &notes, &out);
        out.size = 0;
    }
    smp_free(out.data);
    smp_source_close(&source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const smp_file_format *format = smp_format_sniff(data, size);
    if (!format || format->kind != SMP_AUDIO)
        return 0;
    fuzz_media(data, size);
    fuzz_coded(data, size);
    if (!memcmp(data, "OggS", 4))
        fuzz_opus(data, size);
    return 0;
}
