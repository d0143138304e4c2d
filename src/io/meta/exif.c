/* EXIF and XMP, as far as they describe the picture's shape: orientation, resolution, size, thumbnails. Changes are
 * made in place, so that offsets stay valid. Sources: TIFF 6.0, section 2; EXIF 2.32; XMP Specification, part 2. */
#include <stdio.h>
#include <string.h>

#include "base/text/utf8.h"
#include "io/bytes.h"
#include "io/format.h"

enum {
    TAG_WIDTH = 0x0100,
    TAG_HEIGHT = 0x0101,
    TAG_STRIP_OFFSETS = 0x0111,
    TAG_ORIENTATION = 0x0112,
    TAG_STRIP_BYTES = 0x0117,
    TAG_X_RESOLUTION = 0x011A,
    TAG_Y_RESOLUTION = 0x011B,
    TAG_RESOLUTION_UNIT = 0x0128,
    TAG_JPEG_OFFSET = 0x0201, /* of a thumbnail */
    TAG_JPEG_BYTES = 0x0202,
    TAG_EXIF_FOLDER = 0x8769,
    TAG_GPS_FOLDER = 0x8825,
    TAG_EXIF_WIDTH = 0xA002,
    TAG_EXIF_HEIGHT = 0xA003
};
enum {
    TYPE_BYTE = 1,
    TYPE_ASCII = 2,
    TYPE_SHORT = 3,
    TYPE_LONG = 4,
    TYPE_SIGNED = 9,
    TYPE_RATIONAL = 5,
    TYPE_UNDEFINED = 7,
    TYPE_UTF8 = 129 /* EXIF 3.0, 4.6.2 */
};
enum { HEADER = 8, ENTRY = 12 /* bytes */ };
enum { INCHES = 2, CENTIMETRES = 3 /* of the resolution's unit */ };

/* An image file directory (IFD): entries of 12 bytes, then the offset of the next directory. */
typedef struct tiff_folder {
    size_t first; /* offset of the first entry */
    size_t count; /* entries that lie within the data */
    size_t link;  /* where the next directory's offset is; 0: beyond the data */
} tiff_folder;

static bool byte_order(const uint8_t *data, size_t size, bool *big)
{
    if (!data || size < HEADER)
        return false;
    *big = memcmp(data, "MM\0*", 4) == 0;
    return *big || memcmp(data, "II*\0", 4) == 0;
}

static bool open_folder(const uint8_t *data, size_t size, bool big, size_t position, tiff_folder *folder)
{
    if (position < HEADER || position > size - 2)
        return false;
    size_t count = smp_get_bytes(data + position, 2, big), room = (size - position - 2) / ENTRY;
    *folder = (tiff_folder){.first = position + 2, .count = count < room ? count : room};
    size_t link = folder->first + count * ENTRY;
    if (link + 4 <= size)
        folder->link = link;
    return true;
}

static bool first_folder(const uint8_t *data, size_t size, bool *big, tiff_folder *folder)
{
    return byte_order(data, size, big) && open_folder(data, size, *big, smp_get_bytes(data + 4, 4, *big), folder);
}

/* The offset of an entry; 0: there is none. */
static size_t find_entry(const uint8_t *data, bool big, const tiff_folder *folder, uint32_t tag)
{
    for (size_t i = 0; i < folder->count; i++)
        if (smp_get_bytes(data + folder->first + i * ENTRY, 2, big) == tag)
            return folder->first + i * ENTRY;
    return 0;
}

/* The numbers of an entry: their offset, count and size; false when the entry is missing or of another type. */
static bool find_numbers(const uint8_t *data, size_t size, bool big, const tiff_folder *folder, uint32_t tag,
                         size_t *at, int *bytes, size_t *count)
{
    size_t entry = find_entry(data, big, folder, tag);
    if (!entry)
        return false;
    uint32_t type = (uint32_t)smp_get_bytes(data + entry + 2, 2, big);
    *bytes = type == TYPE_SHORT ? 2 : 4;
    *count = smp_get_bytes(data + entry + 4, 4, big);
    size_t total = *count * (size_t)*bytes;
    *at = total <= 4 ? entry + 8 : smp_get_bytes(data + entry + 8, 4, big);
    return (type == TYPE_SHORT || type == TYPE_LONG || type == TYPE_SIGNED) && *at <= size && total <= size - *at;
}

static bool find_number(const uint8_t *data, size_t size, bool big, const tiff_folder *folder, uint32_t tag, size_t *at,
                        int *bytes)
{
    size_t count;
    return find_numbers(data, size, big, folder, tag, at, bytes, &count) && count == 1;
}

bool smp_tiff_number(const uint8_t *data, size_t size, uint32_t tag, uint32_t *value)
{
    bool big;
    tiff_folder folder;
    size_t at;
    int bytes;
    if (!first_folder(data, size, &big, &folder) || !find_number(data, size, big, &folder, tag, &at, &bytes))
        return false;
    *value = (uint32_t)smp_get_bytes(data + at, bytes, big);
    return true;
}

static bool inner_folder(const uint8_t *data, size_t size, bool big, uint32_t tag, tiff_folder *folder)
{
    uint32_t at;
    return smp_tiff_number(data, size, tag, &at) && open_folder(data, size, big, at, folder);
}

/* The bytes of a text that is not empty in EXIF's own directory, or in the first; null: there is none. */
static uint8_t *text_at(const smp_blob *exif, uint32_t tag, size_t *count)
{
    uint8_t *data = exif->data;
    const size_t size = exif->size;
    bool big;
    tiff_folder folders[2] = {0};
    if (!first_folder(data, size, &big, &folders[1]))
        return NULL;
    (void)inner_folder(data, size, big, TAG_EXIF_FOLDER, &folders[0]);
    for (int i = 0; i < 2; i++) {
        const size_t entry = find_entry(data, big, &folders[i], tag);
        const uint64_t type = entry ? smp_get_bytes(data + entry + 2, 2, big) : 0;
        if (type != TYPE_ASCII && type != TYPE_BYTE && type != TYPE_UNDEFINED && type != TYPE_UTF8)
            continue;
        *count = smp_get_bytes(data + entry + 4, 4, big);
        const size_t at = *count <= 4 ? entry + 8 : smp_get_bytes(data + entry + 8, 4, big);
        const bool lies = at <= size && *count && *count <= size - at;
        if (lies && (data[at] || memcmp(data + at, data + at + 1, *count - 1) != 0))
            return data + at;
    }
    return NULL;
}

bool smp_exif_text(const smp_blob *exif, uint32_t tag, char *text, size_t room)
{
    enum { WINDOWS = 0x9C9B, WINDOWS_END = 0x9C9F /* tags in UTF-16 */, LONGEST = 4 /* bytes of a character */ };
    const bool wide = tag >= WINDOWS && tag <= WINDOWS_END;
    bool latin = false; /* as smp_meta_add_text takes it */
    size_t count, used = 0;
    uint32_t code = 1;
    const uint8_t *said = text_at(exif, tag, &count);
    const size_t length = !said ? 0 : wide ? count / 2 * 2 : strnlen((const char *)said, count);
    for (size_t at = 0; at < length && !wide && !latin; latin = code == SMP_UTF8_INVALID)
        at += smp_utf8_decode((const char *)said + at, length - at, &code);
    for (size_t at = 0; at < length && code && used + LONGEST < room;) {
        if (latin)
            code = said[at++];
        else
            at += wide ? smp_utf16_decode(said + at, length - at, false, &code)
                       : smp_utf8_decode((const char *)said + at, length - at, &code);
        used += smp_utf8_encode(text + used, code);
    }
    text[used] = '\0';
    return text[0] != '\0';
}

bool smp_exif_says(const smp_blob *exif, const char *key, const char *value)
{
    static const struct {
        const char *key; /* PNG's */
        uint32_t tag;
    } tags[] = {{"Description", 0x010E}, {"Software", 0x0131}, {"Author", 0x013B}, {"Copyright", 0x8298}};
    size_t count;
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
        const uint8_t *said = strcmp(tags[i].key, key) == 0 ? text_at(exif, tags[i].tag, &count) : NULL;
        if (said)
            return smp_text_says(said, count, value);
    }
    return false;
}

bool smp_exif_drop_text(smp_blob *exif, uint32_t tag)
{
    bool any = false;
    for (int places = 0; places < 2; places++) {
        size_t count;
        uint8_t *said = text_at(exif, tag, &count);
        if (said)
            memset(said, 0, count);
        any = any || said;
    }
    bool big;
    tiff_folder first;
    size_t at;
    int bytes;
    if (first_folder(exif->data, exif->size, &big, &first) &&
        find_number(exif->data, exif->size, big, &first, tag, &at, &bytes)) {
        any = any || smp_get_bytes(exif->data + at, bytes, big);
        memset(exif->data + at, 0, (size_t)bytes);
    }
    return any;
}

int smp_exif_orientation(const uint8_t *data, size_t size)
{
    uint32_t value;
    return smp_tiff_number(data, size, TAG_ORIENTATION, &value) && value >= 1 && value <= 8 ? (int)value : 1;
}

static void set_number(uint8_t *data, size_t size, bool big, const tiff_folder *folder, uint32_t tag, int64_t value)
{
    size_t at;
    int bytes;
    if (find_number(data, size, big, folder, tag, &at, &bytes) && value <= (bytes == 2 ? UINT16_MAX : UINT32_MAX))
        smp_put_bytes(data + at, (uint64_t)value, bytes, big);
}

bool smp_exif_says_resolution(const smp_blob *exif)
{
    bool big;
    tiff_folder first;
    return exif->size && first_folder(exif->data, exif->size, &big, &first) &&
           find_entry(exif->data, big, &first, TAG_X_RESOLUTION);
}

void smp_exif_reset_orientation(uint8_t *data, size_t size)
{
    bool big;
    tiff_folder folder;
    if (first_folder(data, size, &big, &folder))
        set_number(data, size, big, &folder, TAG_ORIENTATION, 1);
}

void smp_exif_set_size(uint8_t *data, size_t size, int64_t width, int64_t height)
{
    bool big;
    tiff_folder first, exif;
    if (!first_folder(data, size, &big, &first))
        return;
    set_number(data, size, big, &first, TAG_WIDTH, width);
    set_number(data, size, big, &first, TAG_HEIGHT, height);
    if (!inner_folder(data, size, big, TAG_EXIF_FOLDER, &exif))
        return;
    set_number(data, size, big, &exif, TAG_EXIF_WIDTH, width);
    set_number(data, size, big, &exif, TAG_EXIF_HEIGHT, height);
}

/* Swaps the values of two entries. Their tags stay, since entries are sorted by tag. */
static void exchange(uint8_t *data, bool big, const tiff_folder *folder, uint32_t tag, uint32_t other)
{
    uint8_t said[ENTRY - 2];
    size_t a = find_entry(data, big, folder, tag), b = find_entry(data, big, folder, other);
    if (!a || !b)
        return;
    memcpy(said, data + a + 2, sizeof said);
    memmove(data + a + 2, data + b + 2, sizeof said);
    memcpy(data + b + 2, said, sizeof said);
}

/* Where the numbers of a fraction are; 0: there is none. */
static size_t find_fraction(const uint8_t *data, size_t size, bool big, const tiff_folder *folder, uint32_t tag)
{
    const size_t entry = find_entry(data, big, folder, tag);
    if (!entry || smp_get_bytes(data + entry + 2, 2, big) != TYPE_RATIONAL)
        return 0;
    const size_t at = smp_get_bytes(data + entry + 8, 4, big);
    return at < HEADER || at > size || size - at < 8 ? 0 : at;
}

static double fraction(const uint8_t *data, size_t size, bool big, const tiff_folder *folder, uint32_t tag)
{
    const size_t at = find_fraction(data, size, big, folder, tag);
    const double below = at ? (double)smp_get_bytes(data + at + 4, 4, big) : 0;
    return below > 0 ? (double)smp_get_bytes(data + at, 4, big) / below : 0;
}

void smp_meta_keep_exif_resolution(smp_meta *meta)
{
    const uint8_t *data = meta->exif.data;
    const size_t size = meta->exif.size;
    bool big;
    tiff_folder first;
    uint32_t unit = INCHES;
    if (meta->x_density > 0 || !first_folder(data, size, &big, &first))
        return;
    const double x = fraction(data, size, big, &first, TAG_X_RESOLUTION),
                 y = fraction(data, size, big, &first, TAG_Y_RESOLUTION);
    (void)smp_tiff_number(data, size, TAG_RESOLUTION_UNIT, &unit);
    if (!(x > 0) || !(y > 0) || (unit != INCHES && unit != CENTIMETRES))
        return;
    meta->x_density = x * (unit == INCHES ? 1 / 0.0254 : 100);
    meta->y_density = y * (unit == INCHES ? 1 / 0.0254 : 100);
    meta->density_is_aspect = false;
}

static void set_resolution(uint8_t *data, size_t size, bool big, const tiff_folder *folder, uint32_t tag, uint32_t dpi)
{
    const size_t at = find_fraction(data, size, big, folder, tag);
    if (!at)
        return;
    smp_put_bytes(data + at, dpi, 4, big);
    smp_put_bytes(data + at + 4, 1, 4, big);
}

void smp_exif_set_resolution(uint8_t *data, size_t size, uint32_t dpi)
{
    bool big;
    tiff_folder first;
    if (!first_folder(data, size, &big, &first))
        return;
    set_resolution(data, size, big, &first, TAG_X_RESOLUTION, dpi);
    set_resolution(data, size, big, &first, TAG_Y_RESOLUTION, dpi);
    set_number(data, size, big, &first, TAG_RESOLUTION_UNIT, INCHES);
}

void smp_exif_exchange_axes(uint8_t *data, size_t size)
{
    bool big;
    tiff_folder first, exif;
    if (!first_folder(data, size, &big, &first))
        return;
    exchange(data, big, &first, TAG_X_RESOLUTION, TAG_Y_RESOLUTION);
    exchange(data, big, &first, TAG_WIDTH, TAG_HEIGHT);
    if (inner_folder(data, size, big, TAG_EXIF_FOLDER, &exif))
        exchange(data, big, &exif, TAG_EXIF_WIDTH, TAG_EXIF_HEIGHT);
}

/* ------------------------------------------------------------------------------------------------ thumbnails */

/* Overwrites bytes with zeros, and cuts them off at the end of the data. Bytes from..to are protected: a range that
 * overlaps them is left alone. */
static void blank(smp_blob *exif, size_t from, size_t to, size_t position, size_t length)
{
    if (position < HEADER || position >= exif->size || !length)
        return;
    size_t room = exif->size - position, n = length < room ? length : room;
    if (position < to && position + n > from)
        return;
    memset(exif->data + position, 0, n);
    if (n == room)
        exif->size = position;
}

/* Removes the picture data that two entries of a thumbnail's directory point at. */
static void blank_picture(smp_blob *exif, bool big, const tiff_folder *first, const tiff_folder *folder,
                          uint32_t offset, uint32_t bytes)
{
    size_t where, length, pieces, lengths;
    int n, m;
    for (size_t i = 0;; i++) { /* looked up each time: removing a piece may overwrite the lists */
        if (folder->first + folder->count * ENTRY > exif->size ||
            !find_numbers(exif->data, exif->size, big, folder, offset, &where, &n, &pieces) ||
            !find_numbers(exif->data, exif->size, big, folder, bytes, &length, &m, &lengths) || i >= pieces ||
            i >= lengths)
            return;
        blank(exif, first->first - 2, first->link + 4, smp_get_bytes(exif->data + where + i * (size_t)n, n, big),
              smp_get_bytes(exif->data + length + i * (size_t)m, m, big));
    }
}

void smp_exif_drop_thumbnail(smp_blob *exif)
{
    bool big;
    tiff_folder first, thumbnail;
    if (!first_folder(exif->data, exif->size, &big, &first) || !first.link)
        return;
    size_t position = smp_get_bytes(exif->data + first.link, 4, big);
    smp_put_bytes(exif->data + first.link, 0, 4, big);
    if (!open_folder(exif->data, exif->size, big, position, &thumbnail))
        return;
    blank_picture(exif, big, &first, &thumbnail, TAG_JPEG_OFFSET, TAG_JPEG_BYTES);
    blank_picture(exif, big, &first, &thumbnail, TAG_STRIP_OFFSETS, TAG_STRIP_BYTES);
    blank(exif, first.first - 2, first.link + 4, position, 2 + thumbnail.count * ENTRY + (thumbnail.link ? 4 : 0));
}

/* ------------------------------------------------------------------------------------------------ XMP */

/* Calls change for the text after each occurrence of a name in the packet. */
static void each_name(char *xmp, const char *name, void (*change)(char *behind))
{
    for (char *at = xmp; at && (at = strstr(at, name)); at += strlen(name))
        change(at + strlen(name));
}

/* ="6" or ='6' in an attribute, or >6< in an element: becomes 1. */
static void set_upright(char *behind)
{
    char *at = behind;
    while (*at == ' ' || *at == '=' || *at == '"' || *at == '\'' || *at == '>')
        at++;
    if (at > behind && *at >= '1' && *at <= '8' && (at[1] == '"' || at[1] == '\'' || at[1] == '<'))
        *at = '1';
}

void smp_xmp_reset_orientation(char *xmp)
{
    each_name(xmp, "tiff:Orientation", set_upright);
}

static void exchange_letter(char *behind)
{
    static const char *const names[] = {"Resolution", "Dimension"};
    for (int i = 0; i < 2; i++)
        if ((*behind == 'X' || *behind == 'Y') && strncmp(behind + 1, names[i], strlen(names[i])) == 0)
            *behind = *behind == 'X' ? 'Y' : 'X';
}

void smp_xmp_exchange_axes(char *xmp)
{
    each_name(xmp, "tiff:", exchange_letter);
    each_name(xmp, "exif:Pixel", exchange_letter);
}

#define BLANK " \t\r\n"

/* Elements and attributes of a name become blanks. */
static bool drop_name(char *xmp, const char *name)
{
    char end_tag[64];
    const size_t length = strlen(name);
    bool any = false;
    snprintf(end_tag, sizeof end_tag, "</%s", name);
    for (char *at = xmp; (at = strstr(at, name)); at += length) {
        char *end, *equal = at + length + strspn(at + length, BLANK);
        const char *before = at > xmp ? strchr("<" BLANK, at[-1]) : NULL;
        if (before && *before == '<' && strchr("/>" BLANK, at[length])) {
            end = strchr(at--, '>'); /* sought here alone: a packet may be all names */
            if (end && end[-1] != '/')
                end = (end = strstr(at, end_tag)) ? strchr(end, '>') : NULL;
        } else if (before && *equal == '=') {
            const char *quote = equal + strcspn(equal, "\"'");
            end = *quote ? strchr(quote + 1, *quote) : NULL;
        } else
            continue;
        if (!end)
            break;
        memset(at, ' ', (size_t)(end + 1 - at));
        any = true;
    }
    return any;
}

bool smp_xmp_drop(char *xmp, const char *space, const char *property)
{
    enum { MOST = 300, DECLARES = 5 /* letters */ }; /* each goes through the packet */
    const size_t size = strlen(space);
    char name[60];
    bool any = false;
    int looked = 0;
    for (char *at = xmp; at && looked++ < MOST && (at = strstr(at, "xmlns")); at += DECLARES) {
        const char *prefix = at + DECLARES, *value = prefix + strcspn(prefix, "\"'");
        const int length = (int)strcspn(prefix, "=" BLANK); /* 0: names of that space have none */
        if (!*value || strncmp(value + 1, space, size) != 0 || value[1 + size] != *value)
            continue;
        snprintf(name, sizeof name, "%.*s:%s", length ? length - 1 : 0, prefix + 1, property);
        any = drop_name(xmp, name + !length) || any;
    }
    return any;
}

bool smp_meta_keep_exif_box(smp_meta *meta, const uint8_t *box, size_t size)
{
    const uint64_t skip = size > 4 ? 4 + (uint64_t)smp_get_be(box, 4) : size;
    return skip >= size || meta->exif.size || smp_blob_set(&meta->exif, box + skip, size - (size_t)skip);
}

/* ------------------------------------------------------------------------------------------------ IPTC */

/* The bytes of the data set there; 0: there is none, or not all of it. An extended length, of films, is none. */
static size_t data_set(const smp_blob *iptc, size_t at)
{
    enum { HEAD = 5 };
    const size_t left = iptc->size - at;
    if (left < HEAD || iptc->data[at] != SMP_IPTC_MARK)
        return 0;
    const size_t size = HEAD + smp_get_bytes(iptc->data + at + 3, 2, true);
    return size > left ? 0 : size;
}

bool smp_iptc_cut(const smp_blob *iptc)
{
    size_t at = 0;
    for (size_t size; (size = data_set(iptc, at));)
        at += size;
    return at < iptc->size && iptc->data[at] == SMP_IPTC_MARK;
}

bool smp_iptc_drop(smp_blob *iptc, uint8_t set)
{
    enum { APPLICATION = 2 };
    size_t at = 0, kept = 0;
    for (size_t size; (size = data_set(iptc, at)); at += size) {
        const uint8_t *record = iptc->data + at;
        if (record[1] != APPLICATION || record[2] != set) {
            memmove(iptc->data + kept, record, size);
            kept += size;
        }
    }
    const size_t gone = at - kept;
    if (gone)
        memmove(iptc->data + kept, iptc->data + at, iptc->size - at);
    iptc->size -= gone;
    return gone;
}

/* ------------------------------------------------------------------------------------------------ damage */

/* Whether all of its elements end. */
static bool is_whole_xml(const char *at)
{
    static const char *const others[][2] = {{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}, {"<!", ">"}};
    enum { OTHERS = sizeof others / sizeof *others };
    int depth = 0;
    bool any = false;
    while ((at = strchr(at, '<'))) {
        size_t other = 0;
        while (other < OTHERS && strncmp(at, others[other][0], strlen(others[other][0])) != 0)
            other++;
        if (other < OTHERS) {
            if (!(at = strstr(at + strlen(others[other][0]), others[other][1])))
                return false;
            continue;
        }
        const bool ends = at[1] == '/';
        char quote = 0;
        while (*++at && (quote || *at != '>'))
            quote = quote == *at ? 0 : quote ? quote : strchr("\"'", *at) ? *at : 0;
        if (!*at || (depth += ends ? -1 : at[-1] != '/') < 0)
            return false;
        any = true;
    }
    return any && !depth;
}

/* Adds the tags of entries whose values are not within the data. */
static void find_lost(const smp_blob *exif, bool big, const tiff_folder *folder, smp_names *lost)
{
    static const uint8_t sizes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8};
    char tag[8];
    for (size_t i = 0; i < folder->count; i++) {
        const uint8_t *entry = exif->data + folder->first + i * ENTRY;
        const uint64_t type = smp_get_bytes(entry + 2, 2, big), at = smp_get_bytes(entry + 8, 4, big),
                       size = smp_get_bytes(entry + 4, 4, big) * (type < sizeof sizes ? sizes[type] : 0);
        snprintf(tag, sizeof tag, "%u", (unsigned)smp_get_bytes(entry, 2, big));
        if (size > 4 && (at > exif->size || size > exif->size - at))
            smp_names_add(lost, tag);
    }
}

void smp_meta_check(const smp_meta *meta, smp_notes *notes)
{
    static const uint32_t inner[] = {TAG_EXIF_FOLDER, TAG_GPS_FOLDER};
    const smp_blob *exif = &meta->exif;
    bool big;
    tiff_folder folder;
    smp_names lost = {.count = 0};
    for (size_t i = 0; i < meta->text_count; i++)
        if (strcmp(meta->texts[i].key, SMP_XMP_KEY) == 0 && !is_whole_xml(meta->texts[i].value))
            smp_note(notes, "its XMP is damaged, and is kept as it is");
    if (smp_iptc_cut(&meta->iptc))
        smp_note(notes, "its IPTC records are damaged, and are kept as they are");
    if (!exif->size)
        return;
    if (!first_folder(exif->data, exif->size, &big, &folder)) {
        smp_note(notes, "its EXIF is damaged, and is kept as it is");
        return;
    }
    find_lost(exif, big, &folder, &lost);
    for (int i = 0; i < 2; i++)
        if (inner_folder(exif->data, exif->size, big, inner[i], &folder))
            find_lost(exif, big, &folder, &lost);
    if (lost.count)
        smp_note(notes, "its EXIF is damaged, and is kept as it is: beyond its end lies what is said of %s",
                 smp_names_end(&lost));
}
