/* The WebP format's row of the table. Reading and writing need libwebp. */
#include "io/webp/webp_glue.h"

#include <string.h>

#ifdef SMP_HAVE_WEBP

static bool sniff(const uint8_t *head, size_t size)
{
    return size >= 12 && memcmp(head, "RIFF", 4) == 0 && memcmp(head + 8, "WEBP", 4) == 0;
}

#endif

const smp_file_format smp_format_webp = {
    .name = "WebP",
    .extensions = (const char *const[]){"webp", NULL},
    .kind = SMP_IMAGE,
    .texts = true,
    .takes =
        (const smp_write_takes[]){
            {&smp_write_quality}, {&smp_write_lossless}, {&smp_write_delay}, {&smp_write_loop}, {0}},
#ifdef SMP_HAVE_WEBP
    .sniff = sniff,
    SMP_READER(smp_webp, row),
    .read_end = smp_webp_read_end,
    .read_next = smp_webp_read_next,
    .confined = true,
    SMP_WRITER(smp_webp, row),
    .write_next = smp_webp_write_next,
#endif
};
