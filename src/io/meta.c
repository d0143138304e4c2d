/* Metadata that is kept beside samples: ownership, text in UTF-8, the orientation inside EXIF, and which profiles fit.
 */
#include <string.h>

#include "base/alloc.h"
#include "io/format.h"

void smp_meta_free(smp_meta *meta)
{
    if (!meta)
        return;
    smp_free(meta->icc.data);
    smp_free(meta->exif.data);
    for (size_t i = 0; i < meta->text_count; i++) {
        smp_free(meta->texts[i].key);
        smp_free(meta->texts[i].value);
    }
    smp_free(meta->texts);
    *meta = (smp_meta){.srgb_intent = -1};
}

bool smp_blob_set(smp_blob *blob, const void *data, size_t size)
{
    if (!size)
        return true;
    unsigned char *copy = smp_alloc_raw(size);
    if (!copy)
        return false;
    memcpy(copy, data, size);
    smp_free(blob->data);
    *blob = (smp_blob){copy, size};
    return true;
}

/* Bytes of the UTF-8 sequence at `at`; 0 when it is none. Overlong forms, surrogates and values past U+10FFFF are none.
 */
static size_t utf8_length(const uint8_t *at, size_t left)
{
    uint32_t c = at[0];
    size_t n = c < 0x80 ? 1 : (c & 0xE0) == 0xC0 ? 2 : (c & 0xF0) == 0xE0 ? 3 : (c & 0xF8) == 0xF0 ? 4 : 0;
    if (n < 2 || n > left)
        return n == 1;
    c &= 0x7Fu >> n;
    for (size_t i = 1; i < n; i++) {
        if ((at[i] & 0xC0) != 0x80)
            return 0;
        c = c << 6 | (at[i] & 0x3F);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    return c < least[n] || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000) ? 0 : n;
}

static bool is_utf8(const uint8_t *text, size_t length)
{
    for (size_t i = 0, n; i < length; i += n)
        if (!(n = utf8_length(text + i, length - i)))
            return false;
    return true;
}

static bool is_dropped(uint8_t c)
{
    return (c < 0x20 && c != '\t' && c != '\n') || c == 0x7F;
}

/* A copy as UTF-8. */
static char *clean_text(const char *value, size_t length)
{
    const uint8_t *in = (const uint8_t *)value;
    bool utf8 = is_utf8(in, length);
    char *text = smp_alloc_array(length + 1, utf8 ? 1 : 2);
    if (!text)
        return NULL;
    size_t n = 0;
    for (size_t i = 0; i < length; i++) {
        if (is_dropped(in[i]))
            continue;
        if (utf8 || in[i] < 0x80) {
            text[n++] = (char)in[i];
        } else {
            text[n++] = (char)(0xC0 | in[i] >> 6);
            text[n++] = (char)(0x80 | (in[i] & 0x3F));
        }
    }
    return text;
}

bool smp_meta_add_text(smp_meta *meta, const char *key, const char *value, size_t length)
{
    if (!smp_grow(&meta->texts, &meta->text_capacity, meta->text_count + 1, sizeof *meta->texts))
        return false;
    struct smp_text text = {clean_text(key, strlen(key)), clean_text(value, length)};
    if (!text.key || !text.value) {
        smp_free(text.key);
        smp_free(text.value);
        return false;
    }
    meta->texts[meta->text_count++] = text;
    return true;
}

/* ------------------------------------------------------------------------------------------------ EXIF */

/* Source: TIFF 6.0, section 2; EXIF 2.32, tag 0x0112. */
enum { TAG_ORIENTATION = 0x0112, TYPE_SHORT = 3, TYPE_LONG = 4, ENTRY = 12 /* bytes */ };

static uint32_t get(const uint8_t *at, int bytes, bool big)
{
    uint32_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint32_t)at[i] << 8 * (big ? bytes - 1 - i : i);
    return value;
}

/* Where the value of the orientation lies, its bytes and byte order; false when there is none. */
static bool find_orientation(const uint8_t *data, size_t size, size_t *at, int *bytes, bool *big)
{
    if (!data || size < 8)
        return false;
    *big = memcmp(data, "MM\0*", 4) == 0;
    if (!*big && memcmp(data, "II*\0", 4) != 0)
        return false;
    size_t folder = get(data + 4, 4, *big);
    if (folder > size - 2)
        return false;
    size_t count = get(data + folder, 2, *big);
    for (size_t i = 0, entry = folder + 2; i < count && entry + ENTRY <= size; i++, entry += ENTRY) {
        if (get(data + entry, 2, *big) != TAG_ORIENTATION)
            continue;
        uint32_t type = get(data + entry + 2, 2, *big);
        if ((type != TYPE_SHORT && type != TYPE_LONG) || get(data + entry + 4, 4, *big) != 1)
            return false;
        *bytes = type == TYPE_SHORT ? 2 : 4;
        *at = entry + 8;
        return true;
    }
    return false;
}

int smp_exif_orientation(const uint8_t *data, size_t size)
{
    size_t at;
    int bytes;
    bool big;
    if (!find_orientation(data, size, &at, &bytes, &big))
        return 1;
    uint32_t value = get(data + at, bytes, big);
    return value >= 1 && value <= 8 ? (int)value : 1;
}

void smp_exif_reset_orientation(uint8_t *data, size_t size)
{
    size_t at;
    int bytes;
    bool big;
    if (!find_orientation(data, size, &at, &bytes, &big))
        return;
    memset(data + at, 0, (size_t)bytes);
    data[big ? at + (size_t)bytes - 1 : at] = 1;
}

void smp_meta_apply_orientation(smp_meta *meta, int orientation)
{
    if (orientation >= 5) {
        double x = meta->x_density;
        meta->x_density = meta->y_density;
        meta->y_density = x;
    }
}

/* Source: ICC.1:2022, section 7.2: bytes 16..19 name the colour space of the data. */
bool smp_icc_fits(const smp_blob *icc, int colours)
{
    if (icc->size < 128)
        return false;
    return memcmp(icc->data + 16, colours == 1 ? "GRAY" : "RGB ", 4) == 0;
}
