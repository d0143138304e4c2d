/* EXIF of a picture that was changed: orientation, resolutions, sizes and the thumbnail follow it. */
#include "suite.h"

#include "media_fixture.h"

static uint32_t get16(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8;
}

static void put16(uint8_t *at, uint32_t v)
{
    at[0] = (uint8_t)v;
    at[1] = (uint8_t)(v >> 8);
}

static size_t put_entry(uint8_t *at, uint32_t tag, uint32_t type, uint32_t value)
{
    memset(at, 0, 12);
    put16(at, tag);
    put16(at + 2, type);
    at[4] = 1;
    put16(at + 8, value);
    return 12;
}

/* A little-endian EXIF: orientation, resolutions of 300 and 100, a folder with 40 x 30 pixels, and a thumbnail. */
enum { CAMERA = 200, THUMBNAIL = 40, FIRST = 8, RATIONALS = 80, INNER = 96, SECOND = 130 };

static void make_camera_exif(uint8_t *exif)
{
    memset(exif, 0, CAMERA);
    memcpy(exif, "II*\0\10\0\0\0", 8);
    put16(exif + FIRST, 4);
    put_entry(exif + FIRST + 2, 0x0112, 3, 6);
    put_entry(exif + FIRST + 14, 0x011A, 5, RATIONALS);
    put_entry(exif + FIRST + 26, 0x011B, 5, RATIONALS + 8);
    put_entry(exif + FIRST + 38, 0x8769, 4, INNER);
    put16(exif + FIRST + 50, SECOND);
    put16(exif + RATIONALS, 300);
    put16(exif + RATIONALS + 4, 1);
    put16(exif + RATIONALS + 8, 100);
    put16(exif + RATIONALS + 12, 1);
    put16(exif + INNER, 2);
    put_entry(exif + INNER + 2, 0xA002, 4, 40);
    put_entry(exif + INNER + 14, 0xA003, 3, 30);
    put16(exif + SECOND, 2);
    put_entry(exif + SECOND + 2, 0x0201, 4, CAMERA - THUMBNAIL);
    put_entry(exif + SECOND + 14, 0x0202, 4, THUMBNAIL);
    memset(exif + CAMERA - THUMBNAIL, 'T', THUMBNAIL);
}

/* The number of dots that an entry with a rational says. */
static uint32_t resolution_at(const uint8_t *exif, int entry)
{
    return get16(exif + get16(exif + FIRST + 2 + 12 * entry + 8));
}

static const char packet[] = "<x:xmpmeta xmlns:p='http://ns.adobe.com/xap/1.0/' tiff:Orientation=\"6\" "
                             "tiff:XResolution=\"300/1\" tiff:YResolution=\"100/1\">"
                             "<tiff:Orientation>6</tiff:Orientation><exif:PixelXDimension>40</exif:PixelXDimension>"
                             "<p:Thumbnails>secret</p:Thumbnails></x:xmpmeta>";

static smp_meta camera_meta(void)
{
    uint8_t exif[CAMERA];
    smp_meta meta = {.srgb_intent = -1, .x_density = 300, .y_density = 100};
    make_camera_exif(exif);
    assert_true(smp_blob_set(&meta.exif, exif, CAMERA));
    assert_true(smp_meta_add_text(&meta, SMP_XMP_KEY, packet, sizeof packet - 1));
    return meta;
}

SMP_TEST(an_orientation_is_a_whole_number_of_any_kind)
{
    uint8_t exif[CAMERA];
    make_camera_exif(exif);
    for (uint32_t type = 1; type <= 12; type++) {
        put_entry(exif + FIRST + 2, 0x0112, type, 6);
        assert_int_equal(smp_exif_orientation(exif, sizeof exif), type == 3 || type == 4 || type == 9 ? 6 : 1);
    }
}

SMP_TEST(turning_exchanges_every_resolution_and_sets_every_orientation)
{
    smp_meta meta = camera_meta();
    smp_meta_apply_orientation(&meta, 6);
    assert_true(meta.x_density < 101 && meta.y_density > 299);
    assert_int_equal(smp_exif_orientation(meta.exif.data, meta.exif.size), 1);
    assert_int_equal(get16(meta.exif.data + FIRST + 14), 0x011A); /* tags stay in order */
    assert_int_equal(resolution_at(meta.exif.data, 1), 100);
    assert_int_equal(resolution_at(meta.exif.data, 2), 300);
    assert_int_equal(get16(meta.exif.data + INNER + 10), 30);
    assert_int_equal(get16(meta.exif.data + INNER + 22), 40);
    assert_string_equal(find_text(&meta, SMP_XMP_KEY),
                        "<x:xmpmeta xmlns:p='http://ns.adobe.com/xap/1.0/' tiff:Orientation=\"1\" "
                        "tiff:YResolution=\"300/1\" tiff:XResolution=\"100/1\">"
                        "<tiff:Orientation>1</tiff:Orientation><exif:PixelYDimension>40</exif:PixelYDimension>"
                        "<p:Thumbnails>secret</p:Thumbnails></x:xmpmeta>");
    smp_meta_free(&meta);

    meta = camera_meta(); /* upside down: the axes stay */
    smp_meta_apply_orientation(&meta, 3);
    assert_true(meta.x_density > 299);
    assert_int_equal(resolution_at(meta.exif.data, 1), 300);
    assert_int_equal(smp_exif_orientation(meta.exif.data, meta.exif.size), 1);
    smp_meta_free(&meta);
}

SMP_TEST(a_changed_picture_loses_its_thumbnail_and_has_its_own_size)
{
    smp_notes notes = {0};
    smp_meta meta = camera_meta();
    const smp_change none = {.width = 40, .height = 30};
    const smp_change blur = {.changed = true, .toned = true, .width = 50, .height = 60};
    smp_meta_apply_change(&meta, &none, &notes);
    uint8_t before[CAMERA];
    make_camera_exif(before);
    assert_int_equal(meta.exif.size, CAMERA);
    assert_memory_equal(meta.exif.data, before, CAMERA);
    assert_string_equal(find_text(&meta, SMP_XMP_KEY), packet);

    meta.has_clli = true;
    smp_meta_apply_change(&meta, &blur, &notes);
    assert_true(!meta.has_clli && notes.count == 1);
    assert_int_equal(meta.exif.size, SECOND); /* the folder and its picture were the last */
    assert_null(memchr(meta.exif.data, 'T', meta.exif.size));
    assert_int_equal(get16(meta.exif.data + FIRST + 50), 0);
    assert_int_equal(get16(meta.exif.data + INNER + 10), 50);
    assert_int_equal(get16(meta.exif.data + INNER + 22), 60);
    assert_null(strstr(find_text(&meta, SMP_XMP_KEY), "secret"));
    assert_int_equal(resolution_at(meta.exif.data, 1), 300);
    smp_meta_free(&meta);
}

SMP_TEST(damaged_exif_is_changed_within_its_bytes)
{
    const smp_change change = {.changed = true, .toned = true, .swapped = true, .width = 70000, .height = 5};
    uint32_t seed = 1;
    for (int i = 0; i < 20000; i++) {
        size_t size = (size_t)i % CAMERA + 1;
        uint8_t exif[CAMERA];
        make_camera_exif(exif);
        for (int k = 0; k < i % 5; k++) {
            seed = seed * 1664525u + 1013904223u;
            exif[(seed >> 8) % size] = (uint8_t)(seed >> 24);
        }
        smp_meta meta = {.srgb_intent = -1};
        assert_true(smp_blob_set(&meta.exif, exif, size)); /* of exactly this size: a sanitizer sees reading past it */
        smp_meta_apply_orientation(&meta, 6);
        smp_meta_apply_change(&meta, &change, NULL);
        assert_true(meta.exif.size <= size);
        smp_meta_free(&meta);
    }
}

SMP_TESTS_AROUND(make_folder, remove_folder)
