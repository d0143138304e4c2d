/* libFuzzer entry: WAV, W64, AIFF and CAF; where libsndfile is, FLAC and OGG; where libmpg123 is, MP3. */
#include "fuzz_media.h"

/* libsndfile 1.2 forgets what libvorbis made of a damaged OGG. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:vorbis_info_init\n";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const smp_file_format *format = smp_format_sniff(data, size);
    if (format && format->kind == SMP_AUDIO)
        fuzz_media(data, size);
    return 0;
}
