/* Photoshop files: the merged picture, RGB with or without alpha, 8 or 16 bits, read through stb_image.
 * Source: Adobe Photoshop File Formats Specification. */
#include <stdio.h>
#include <string.h>

#include "io/images/stb_read.h"

enum { HEADER = 26, MODE_RGB = 3, RAW = 0, RUNS = 1 };

static bool sniff(const uint8_t *head, size_t size)
{
    return size >= 6 && memcmp(head, "8BPS\0\1", 6) == 0;
}

static uint32_t be(const uint8_t *at, int bytes)
{
    uint32_t value = 0;
    for (int i = 0; i < bytes; i++)
        value = value << 8 | at[i];
    return value;
}

/* How the picture is coded, which stands after three sections of any length. */
static smp_code find_coding(smp_source *source, uint32_t *coding, smp_error *err)
{
    uint8_t word[4];
    if (smp_source_skip(source, HEADER) != HEADER)
        return smp_source_ended(source, err);
    for (int section = 0; section < 3; section++) {
        if (smp_source_read(source, word, 4) != 4)
            return smp_source_ended(source, err);
        uint32_t length = be(word, 4);
        if (length > INT32_MAX)
            return smp_fail(err, SMP_E_DECODE, "the PSD is damaged: a section is longer than 2 GiB");
        if (smp_source_skip(source, length) != length)
            return smp_source_ended(source, err);
    }
    if (smp_source_read(source, word, 2) != 2)
        return smp_source_ended(source, err);
    *coding = be(word, 2);
    return SMP_OK;
}

static smp_code read_open(smp_reader *reader, smp_error *err)
{
    smp_code code = smp_source_spool(&reader->source, err);
    const uint8_t *head;
    if (code != SMP_OK)
        return code;
    if (smp_source_peek(&reader->source, &head, HEADER) < HEADER) {
        smp_source_skip(&reader->source, HEADER);
        return smp_source_ended(&reader->source, err);
    }
    uint32_t channels = be(head + 12, 2), bits = be(head + 22, 2), mode = be(head + 24, 2), coding = RAW;
    if (mode != MODE_RGB || channels < 3 || (bits != 8 && bits != 16)) {
        smp_fail(err, SMP_E_DECODE, "the PSD has %u channels of %u bits in colour mode %u, which is not read", channels,
                 bits, mode);
        return smp_hint(err, "save it as RGB of 8 or 16 bits a channel, or as PNG");
    }
    code = find_coding(&reader->source, &coding, err);
    if (code != SMP_OK)
        return code;
    if (coding != RAW && (coding != RUNS || bits != 8)) {
        smp_fail(err, SMP_E_DECODE, "the PSD's %u-bit picture is compressed in a way that is not read (%u)", bits,
                 coding);
        return smp_hint(err, "save it as PNG");
    }
    reader->media.bits = (int)bits;
    snprintf(reader->media.detail, sizeof reader->media.detail, "merged picture%s", coding == RUNS ? ", runs" : "");
    return smp_stb_read_open(
        reader, &(smp_stb_request){.format = bits == 16 ? SMP_U16 : SMP_U8, .channels = channels < 4 ? 3 : 4}, err);
}

static const char *const extensions[] = {"psd", NULL};

const smp_file_format smp_format_psd = {
    .name = "PSD",
    .extensions = extensions,
    .kind = SMP_IMAGE,
    .sniff = sniff,
    .read_open = read_open,
    .read_rows = smp_stb_read_rows,
    .read_close = smp_stb_read_close,
};
