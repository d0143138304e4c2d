/* libFuzzer entry: the order in which formats are asked whether a file is theirs, and whichever reader that gives. The
 * first that says so must be taken, by the beginning alone, and ID3 tags in front lead to a sound or to nothing. */
#include "fuzz_media.h"

#if __has_include(<libraw/libraw_version.h>)
#include <libraw/libraw_version.h>
enum {
    OLD = LIBRAW_MAJOR_VERSION == 0 && LIBRAW_MINOR_VERSION < 21
}; /* it reads wild addresses of damaged directories */
#else
enum { OLD = 0 };
#endif

FUZZ_WITHOUT_LEAKS /* as fuzz_heif.c */

    static const smp_file_format *
    first_of(const uint8_t *head, size_t size)
{
    for (size_t i = 0; smp_format_at(i); i++)
        if (smp_format_at(i)->sniff && smp_format_at(i)->sniff(head, size))
            return smp_format_at(i);
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t most = size < SMP_SNIFF ? size : SMP_SNIFF;
    uint8_t *head = malloc(most ? most : 1); /* of its own: a look past its end is an error */
    if (!head)
        return 0;
    if (most)
        memcpy(head, data, most);
    const smp_file_format *format = smp_format_sniff(data, size);
    if (format != first_of(head, most) || format != smp_format_sniff(head, most))
        abort();
    free(head);
    if (format != &smp_format_camera || !OLD)
        fuzz_media(data, size);
    return 0;
}
