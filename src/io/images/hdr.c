/* Radiance HDR: linear RGB as floats, read through stb_image. */
#include <stdio.h>
#include <string.h>

#include "io/images/stb_read.h"

static bool sniff(const uint8_t *head, size_t size)
{
    return (size >= 11 && memcmp(head, "#?RADIANCE\n", 11) == 0) || (size >= 7 && memcmp(head, "#?RGBE\n", 7) == 0);
}

static smp_code read_open(smp_reader *reader, smp_error *err)
{
    reader->media.bits = 8; /* of each mantissa, with a shared exponent */
    snprintf(reader->media.detail, sizeof reader->media.detail, "shared exponent");
    return smp_stb_read_open(reader, &(smp_stb_request){.format = SMP_F32, .channels = 3}, err);
}

static const char *const extensions[] = {"hdr", NULL};

const smp_file_format smp_format_hdr = {
    .name = "HDR",
    .extensions = extensions,
    .kind = SMP_IMAGE,
    .sniff = sniff,
    .read_open = read_open,
    .read_rows = smp_stb_read_rows,
    .read_close = smp_stb_read_close,
};
