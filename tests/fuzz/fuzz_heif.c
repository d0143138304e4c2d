/* libFuzzer entry: HEIC and AVIF, and libheif behind them. */
#include "fuzz_media.h"

FUZZ_WITHOUT_LEAKS /* libheif 1.15 leaks what dav1d made of a damaged AVIF */

    int
    LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const smp_file_format *format = smp_format_sniff(data, size);
    if (format == &smp_format_heic || format == &smp_format_avif)
        fuzz_media(data, size);
    return 0;
}
