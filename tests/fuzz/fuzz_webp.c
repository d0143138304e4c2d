/* libFuzzer entry: WebP, and libwebp behind it. */
#include "fuzz_media.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (smp_format_sniff(data, size) == &smp_format_webp) {
        fuzz_media(data, size);
        fuzz_frames(data, size);
    }
    return 0;
}
