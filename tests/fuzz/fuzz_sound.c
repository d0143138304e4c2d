/* libFuzzer entry: WAV and AIFF; where libsndfile is, FLAC and OGG; where libmpg123 is, MP3. */
#include "fuzz_media.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const smp_file_format *format = smp_format_sniff(data, size);
    if (format && format->kind == SMP_AUDIO)
        fuzz_media(data, size);
    return 0;
}
