/* libFuzzer entry: WAV, W64, AIFF and CAF; where libsndfile is, FLAC and OGG; where libmpg123 is, MP3. */
#include "fuzz_media.h"

/* libsndfile 1.2 forgets what libvorbis made of a damaged OGG. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:vorbis_info_init\n";
}

/* All of it as it is coded, and a part, whose place is that of two bytes. */
static void fuzz_coded(const uint8_t *data, size_t size)
{
    smp_read_want want = {.coded = true};
    fuzz_media_as(data, size, (smp_read_options){.want = want});
    want.from = data[size / 2] * 64;
    want.part = 1 + data[size / 3] * 64;
    fuzz_media_as(data, size, (smp_read_options){.want = want});
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const smp_file_format *format = smp_format_sniff(data, size);
    if (!format || format->kind != SMP_AUDIO)
        return 0;
    fuzz_media(data, size);
    fuzz_coded(data, size);
    return 0;
}
