/* libFuzzer entry: M4A, the sound of video, and pictures, FFmpeg's libraries behind them; nothing where these are not
 * installed.
 */
#include "fuzz_media.h"

#include "io/av/av_library.h"

FUZZ_WITHOUT_LEAKS /* of FFmpeg's own, which damaged files bring about */

    int
    LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const smp_file_format *format = smp_format_sniff(data, size);
    if (!format || format->library != SMP_LIBRARY_AV || !smp_library_load(SMP_LIBRARY_AV))
        return 0;
    fuzz_media(data, size);
    if (format->kind == SMP_AUDIO)
        fuzz_coded(data, size);
    return 0;
}
