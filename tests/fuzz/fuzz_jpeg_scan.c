/* libFuzzer entry: JPEGs whose coded scan is taken for a device instead of decoded. */
#include "fuzz_media.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (smp_format_sniff(data, size) == &smp_format_jpeg)
        fuzz_media_from(data, size, 1);
    return 0;
}
