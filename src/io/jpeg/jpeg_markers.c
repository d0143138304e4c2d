/* Reads the markers of a JPEG: see jpeg_markers.h. */
#include "io/jpeg/jpeg_glue.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "io/bytes.h"

#include <jerror.h>

enum {
    MARKER_LENGTH = 0xFFFF, /* bytes, at most, including the length itself */
    KEPT_BYTES = 32 << 20,  /* the largest ICC profile takes half of it */
    ICC_PREFIX = 14,        /* "ICC_PROFILE\0", number, count */
    MPF_PICTURES = 0xB001   /* tag "number of images": CIPA DC-007, 5.2.3.2 */
};

/* The source never suspends: it fills its buffer or fails. */
static void read_bytes(j_decompress_ptr jpeg, uint8_t *to, size_t size)
{
    struct jpeg_source_mgr *source = jpeg->src;
    while (size) {
        if (!source->bytes_in_buffer)
            source->fill_input_buffer(jpeg);
        size_t n = size < source->bytes_in_buffer ? size : source->bytes_in_buffer;
        memcpy(to, source->next_input_byte, n);
        source->next_input_byte += n;
        source->bytes_in_buffer -= n;
        to += n;
        size -= n;
    }
}

static void keep_bytes(smp_jpeg *base, size_t size)
{
    smp_jpeg_markers *markers = base->markers;
    markers->bytes += size;
    if (markers->bytes <= KEPT_BYTES)
        return;
    smp_fail(base->err, SMP_E_LIMIT, "the JPEG has more than %d bytes of comments and other metadata", KEPT_BYTES);
    smp_hint(base->err, "if the file is to be trusted, remove its metadata with another program first");
    smp_jpeg_stop(base, SMP_E_LIMIT);
}

static void keep_icc_part(smp_jpeg *base, const uint8_t *data, size_t size)
{
    smp_jpeg_markers *markers = base->markers;
    unsigned number = data[12], of = data[13];
    if (!number || number > of || (markers->icc_count && of != markers->icc_count)) {
        markers->icc_fault = "its parts are numbered wrongly";
        return;
    }
    if (markers->icc[number].data) {
        markers->icc_fault = "one of its parts is there twice";
        return;
    }
    markers->icc_count = of;
    keep_bytes(base, size);
    smp_jpeg_need(base, smp_blob_set(&markers->icc[number], data + ICC_PREFIX, size - ICC_PREFIX), "an ICC profile",
                  size);
}

/* Names a marker that is not kept by the word that it begins with. Ducky says how Photoshop coded it. */
static void leave_out(smp_jpeg *base, int marker, const uint8_t *data, size_t size)
{
    enum { WORD = 16 };
    char name[WORD + 8];
    size_t word = 0;
    while (word < size && word < WORD && data[word] > ' ' && data[word] < 0x7F)
        word++;
    snprintf(name, sizeof name, "APP%d%s%.*s", marker - JPEG_APP0, word ? " " : "", (int)word, (const char *)data);
    if (strcmp(name, "APP12 Ducky") != 0)
        smp_names_add(&base->markers->left, name);
}

static void keep_app1(smp_jpeg *base, const uint8_t *data, size_t size)
{
    smp_jpeg_markers *markers = base->markers;
    smp_meta *meta = markers->meta;
    const size_t xmp = sizeof SMP_JPEG_XMP;
    if (size > 6 && !meta->exif.data && memcmp(data, "Exif\0", 6) == 0) {
        keep_bytes(base, size);
        smp_jpeg_need(base, smp_blob_set(&meta->exif, data + 6, size - 6), "EXIF", size);
    } else if (size > xmp && !markers->xmp && memcmp(data, SMP_JPEG_XMP, xmp) == 0) {
        keep_bytes(base, size);
        smp_jpeg_need(base, smp_meta_add_text(meta, SMP_XMP_KEY, (const char *)data + xmp, size - xmp), "XMP", size);
        markers->xmp = true;
    } else if (size > 6 && memcmp(data, "Exif\0", 6) == 0) {
        const bool whole = size > 10 && (!memcmp(data + 6, "II*\0", 4) || !memcmp(data + 6, "MM\0*", 4));
        smp_note(base->notes, whole ? "a second EXIF is left out" : "EXIF that goes on in another marker is left out");
    } else if (size > 34 && memcmp(data, "http://ns.adobe.com/xmp/extension/", 34) == 0) {
        smp_note(base->notes, "XMP that goes on in other markers is left out");
    } else if (size > xmp && memcmp(data, SMP_JPEG_XMP, xmp) == 0) {
        smp_note(base->notes, "a second XMP packet is left out");
    } else
        leave_out(base, JPEG_APP0 + 1, data, size);
}

static void keep_app13(smp_jpeg *base, const uint8_t *data, size_t size)
{
    smp_meta *meta = base->markers->meta;
    smp_source source;
    const size_t prefix = sizeof SMP_JPEG_IRB, before = meta->iptc.size;
    if (size < prefix || memcmp(data, SMP_JPEG_IRB, prefix) != 0) {
        leave_out(base, JPEG_APP0 + 13, data, size);
        return;
    }
    smp_source_memory(&source, data, size);
    smp_jpeg_need(base, smp_meta_take_resources(meta, &source, prefix, size, base->notes), "IPTC records", size);
    keep_bytes(base, meta->iptc.size - before);
}

size_t smp_jpeg_comment_key(const char *text, size_t size, char key[SMP_TAG_KEY])
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    size_t word = 0;
    while (word < size && word < SMP_TAG_KEY - 1 && text[word] && strchr(letters, text[word]))
        word++;
    const bool named = word && size > word + 2 && !memcmp(text + word, ": ", 2);
    snprintf(key, SMP_TAG_KEY, "%.*s", named ? (int)word : SMP_TAG_KEY, named ? text : "Comment");
    return named ? word + 2 : 0;
}

static void keep_comment(smp_jpeg *base, const char *text, size_t size)
{
    char key[SMP_TAG_KEY];
    const size_t from = smp_jpeg_comment_key(text, size, key);
    keep_bytes(base, size);
    smp_jpeg_need(base, smp_meta_add_text(base->markers->meta, key, text + from, size - from), "a comment", size);
}

static void keep(smp_jpeg *base, int marker, const uint8_t *data, size_t size)
{
    smp_jpeg_markers *markers = base->markers;
    if (marker == JPEG_COM) {
        keep_comment(base, (const char *)data, size);
    } else if (marker == JPEG_APP0 + 1) {
        keep_app1(base, data, size);
    } else if (marker == JPEG_APP0 + 13) {
        keep_app13(base, data, size);
    } else if (marker == JPEG_APP0 + 2 && size > ICC_PREFIX && memcmp(data, "ICC_PROFILE", 12) == 0) {
        keep_icc_part(base, data, size);
    } else if (marker == JPEG_APP0 + 2 && size > 4 && memcmp(data, "MPF", 4) == 0) {
        if (!smp_tiff_number(data + 4, size - 4, MPF_PICTURES, &markers->pictures))
            markers->pictures = 2;
    } else
        leave_out(base, marker, data, size);
}

static boolean read_marker(j_decompress_ptr jpeg)
{
    smp_jpeg *base = (smp_jpeg *)(void *)jpeg->err;
    smp_jpeg_markers *markers = base->markers;
    uint8_t length[2];
    read_bytes(jpeg, length, sizeof length);
    size_t size = (size_t)length[0] << 8 | length[1];
    if (size < sizeof length)
        ERREXIT(jpeg, JERR_BAD_LENGTH);
    size -= sizeof length;
    if (++markers->count > SMP_JPEG_MAX_MARKERS) {
        smp_fail(base->err, SMP_E_LIMIT, "the JPEG has more than %d comments and application markers",
                 SMP_JPEG_MAX_MARKERS);
        smp_hint(base->err, "if the file is to be trusted, remove its metadata with another program first");
        smp_jpeg_stop(base, SMP_E_LIMIT);
    }
    const int marker = jpeg->unread_marker;
    if (markers->closed) {
        if (size)
            jpeg->src->skip_input_data(jpeg, (long)size);
        return TRUE;
    }
    if (!markers->data) {
        markers->data = smp_alloc_raw(MARKER_LENGTH);
        smp_jpeg_need(base, markers->data, "a marker", MARKER_LENGTH);
    }
    read_bytes(jpeg, markers->data, size);
    keep(base, marker, markers->data, size);
    return TRUE;
}

void smp_jpeg_watch_markers(struct jpeg_decompress_struct *jpeg)
{
    jpeg_set_marker_processor(jpeg, JPEG_COM, read_marker);
    for (int i = 1; i < 16; i++)
        if (i != 14) /* libjpeg reads 0 (JFIF) and 14 (Adobe) itself */
            jpeg_set_marker_processor(jpeg, JPEG_APP0 + i, read_marker);
}

void smp_jpeg_keep_icc(smp_jpeg *base, smp_blob *icc)
{
    const smp_jpeg_markers *markers = base->markers;
    const char *fault = markers->icc_fault;
    size_t total = 0, used = 0;
    for (unsigned i = 1; i <= markers->icc_count; i++) {
        if (!markers->icc[i].data)
            fault = "a part of it is missing";
        total += markers->icc[i].size;
    }
    if (fault) {
        smp_note(base->notes, "the ICC profile is left out: %s", fault);
        return;
    }
    if (!total)
        return;
    icc->data = smp_alloc_raw(total);
    smp_jpeg_need(base, icc->data, "an ICC profile", total);
    icc->size = total;
    for (unsigned i = 1; i <= markers->icc_count; i++) {
        memcpy(icc->data + used, markers->icc[i].data, markers->icc[i].size);
        used += markers->icc[i].size;
    }
}

void smp_jpeg_free_markers(smp_jpeg_markers *markers)
{
    for (int i = 0; i < SMP_JPEG_ICC_PARTS; i++)
        smp_free(markers->icc[i].data);
    smp_free(markers->data);
}
