/* libFuzzer entry: pictures that libraries read which are opened while the program runs (PDF,
 * SVG, JPEG XL, JPEG 2000, OpenEXR), but HEIC and AVIF.
 */
#include "fuzz_media.h"

FUZZ_WITHOUT_LEAKS /* of the libraries' own, which damaged files bring about */

    int
    LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const smp_file_format *format = smp_format_sniff(data, size);
    if (format && format->kind == SMP_IMAGE && format->library && format != &smp_format_heic &&
        format != &smp_format_avif)
        fuzz_media(data, size);
    return 0;
}
