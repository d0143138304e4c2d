/* libFuzzer entry: the PNG decoder. */
#include "fuzz_media.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (smp_format_sniff(data, size) == &smp_format_png) {
        fuzz_media(data, size);
        fuzz_media_as(data, size, (smp_read_options){.frames = true, .no_verify = true});
    }
    return 0;
}
