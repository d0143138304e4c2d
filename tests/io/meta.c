/* Metadata: through PNG and JPEG, from one to the other, and left out with strip. */
#include "suite.h"

#include "media_fixture.h"

#include <math.h>
#include <zlib.h>

enum { PROFILE = 70000 }; /* bytes: more than one JPEG marker holds */

static void make_profile(uint8_t *icc, const char *space)
{
    memset(icc, 0, PROFILE);
    for (int i = 144; i < PROFILE; i++)
        icc[i] = (uint8_t)((uint32_t)i * 2654435761u >> 13);
    put32(icc, PROFILE);
    put32(icc + 8, 0x02400000);
    memcpy(icc + 12, "mntr", 4);
    memcpy(icc + 16, space, 4);
    memcpy(icc + 20, "XYZ ", 4);
    memcpy(icc + 36, "acsp", 4);
    put32(icc + 68, 0x0000F6D6);
    put32(icc + 72, 0x00010000);
    put32(icc + 76, 0x0000D32D);
    put32(icc + 128, 1);
    memcpy(icc + 132, "desc", 4);
    put32(icc + 136, 144);
    put32(icc + 140, PROFILE - 144);
}

/* A TIFF structure with that orientation and a second tag. */
static size_t make_exif(uint8_t *exif, bool big, int orientation)
{
    static const uint8_t little_endian[] = {'I', 'I', 42, 0,    8, 0, 0, 0, 2, 0, 0x0F, 1, 2, 0, 4, 0, 0, 0, 'a',
                                            'b', 'c', 0,  0x12, 1, 3, 0, 1, 0, 0, 0,    9, 0, 0, 0, 0, 0, 0, 0};
    static const uint8_t big_endian[] = {'M', 'M', 0, 42, 0,    0, 0, 8, 0, 2, 1, 0x0F, 0, 2, 0, 0, 0, 4, 'a',
                                         'b', 'c', 0, 1,  0x12, 0, 3, 0, 0, 0, 1, 0,    9, 0, 0, 0, 0, 0, 0};
    memcpy(exif, big ? big_endian : little_endian, sizeof big_endian);
    exif[big ? 31 : 30] = (uint8_t)orientation;
    return sizeof big_endian;
}

static smp_meta full_meta(const char *space, int orientation)
{
    smp_meta meta = {.srgb_intent = -1, .x_density = 11811, .y_density = 5906};
    static uint8_t icc[PROFILE], exif[64];
    make_profile(icc, space);
    assert_true(smp_blob_set(&meta.icc, icc, PROFILE));
    assert_true(smp_blob_set(&meta.exif, exif, make_exif(exif, true, orientation)));
    snprintf(meta.icc_name, sizeof meta.icc_name, "house");
    assert_true(smp_meta_add_text(&meta, "Comment", "plain", 5));
    return meta;
}

/* Writes a picture with that metadata and opens it again. */
static smp_reader *there_and_back(const char *name, int channels, const smp_meta *meta, bool strip)
{
    smp_error err = {0};
    picture p = make_picture(8, 6, channels, false, SMP_U8);
    smp_write_options options = {0};
    options.output.force = true;
    options.strip = strip;
    assert_ok(write_with(in_folder(name), &p, meta, &options, &err));
    free_picture(&p);
    smp_reader *reader;
    smp_read_options how = smp_read_defaults();
    assert_ok(smp_reader_open(in_folder(name), &how, &reader, &err));
    return reader;
}

SMP_TEST(profile_exif_density_and_comment_survive)
{
    static const char *const names[] = {"m.png", "m.jpg"};
    for (int i = 0; i < 2; i++)
        for (int channels = 1; channels <= 3; channels += 2) {
            smp_meta meta = full_meta(channels == 1 ? "GRAY" : "RGB ", 6);
            smp_reader *reader = there_and_back(names[i], channels, &meta, false);
            const smp_media *media = smp_reader_media(reader);
            assert_int_equal(media->meta.icc.size, PROFILE);
            assert_memory_equal(media->meta.icc.data, meta.icc.data, PROFILE);
            assert_int_equal(media->meta.exif.size, meta.exif.size);
            assert_int_equal(media->orientation, 1);
            uint8_t upright[64];
            make_exif(upright, true, 1);
            assert_memory_equal(media->meta.exif.data, upright, meta.exif.size);
            assert_true(fabs(media->meta.x_density - 11811) < 1);
            assert_true(fabs(media->meta.y_density - 5906) < 1);
            assert_string_equal(find_text(&media->meta, "Comment"), "plain");
            if (i == 0)
                assert_string_equal(media->meta.icc_name, "house");
            smp_reader_close(reader);
            smp_meta_free(&meta);
        }
}

SMP_TEST(strip_leaves_everything_out)
{
    static const char *const names[] = {"m.png", "m.jpg"};
    for (int i = 0; i < 2; i++) {
        smp_meta meta = full_meta("RGB ", 1);
        smp_reader *reader = there_and_back(names[i], 3, &meta, true);
        const smp_meta *kept = &smp_reader_media(reader)->meta;
        assert_true(!kept->icc.data && !kept->exif.data && !kept->text_count && kept->x_density <= 0);
        smp_reader_close(reader);
        smp_meta_free(&meta);
    }
}

SMP_TEST(a_profile_of_another_colour_space_is_left_out)
{
    static const char *const names[] = {"m.png", "m.jpg"};
    for (int i = 0; i < 2; i++) {
        smp_meta meta = full_meta("RGB ", 1);
        smp_reader *reader = there_and_back(names[i], 1, &meta, false);
        assert_null(smp_reader_media(reader)->meta.icc.data);
        smp_reader_close(reader);
        smp_meta_free(&meta);
    }
}

SMP_TEST(png_keeps_gamma_chromaticities_and_srgb)
{
    smp_meta meta = {
        .srgb_intent = -1, .gamma = 0.5, .has_chrm = true, .chrm = {.31, .33, .65, .32, .3, .61, .15, .05}};
    smp_reader *reader = there_and_back("m.png", 3, &meta, false);
    const smp_meta *kept = &smp_reader_media(reader)->meta;
    assert_true(fabs(kept->gamma - 0.5) < 1e-5);
    assert_true(kept->has_chrm);
    for (int i = 0; i < 8; i++)
        assert_true(fabs(kept->chrm[i] - meta.chrm[i]) < 1e-5);
    assert_int_equal(kept->srgb_intent, -1);
    smp_reader_close(reader);
    meta = (smp_meta){.srgb_intent = 2};
    reader = there_and_back("m.png", 3, &meta, false);
    assert_int_equal(smp_reader_media(reader)->meta.srgb_intent, 2);
    smp_reader_close(reader);
    meta = (smp_meta){.srgb_intent = -1, .x_density = 4, .y_density = 3, .density_is_aspect = true};
    reader = there_and_back("m.png", 3, &meta, false);
    assert_true(smp_reader_media(reader)->meta.density_is_aspect);
    smp_reader_close(reader);
}

SMP_TEST(texts_keep_their_characters)
{
    static const char *const texts[][2] = {
        {"Title", "caf\xC3\xA9"}, {"Author", "\xE5\xB1\xB1\xE7\x94\xB0"}, {"Empty", ""}, {"XML:com.adobe.xmp", "<x/>"}};
    smp_meta meta = {.srgb_intent = -1};
    for (int i = 0; i < 4; i++)
        assert_true(smp_meta_add_text(&meta, texts[i][0], texts[i][1], strlen(texts[i][1])));
    char longer[5000];
    memset(longer, 'z', sizeof longer);
    assert_true(smp_meta_add_text(&meta, "Long", longer, sizeof longer));
    smp_reader *reader = there_and_back("t.png", 3, &meta, false);
    const smp_meta *kept = &smp_reader_media(reader)->meta;
    assert_int_equal(kept->text_count, 5);
    for (int i = 0; i < 4; i++)
        assert_string_equal(find_text(kept, texts[i][0]), texts[i][1]);
    assert_int_equal(strlen(find_text(kept, "Long")), sizeof longer);
    smp_reader_close(reader);
    smp_meta_free(&meta);

    meta = (smp_meta){.srgb_intent = -1};
    assert_true(smp_meta_add_text(&meta, "Comment", "caf\xE9\0\1", 6)); /* Latin-1, with bytes that no text has */
    assert_string_equal(meta.texts[0].value, "caf\xC3\xA9");
    smp_meta_free(&meta);
}

SMP_TEST(an_xmp_packet_survives_in_pngs_and_jpegs_as_it_is)
{
    enum { TOO_LONG = 70000 }; /* for a JPEG's marker */
    static const char *const names[] = {"x.png", "x.jpg"};
    static char packet[TOO_LONG];
    for (int longer = 0; longer < 2; longer++)
        for (int i = 0; i < 2; i++) {
            smp_meta meta = {.srgb_intent = -1};
            const size_t size = longer ? TOO_LONG : 5000;
            memset(packet, ' ', size);
            memcpy(packet, "<?xpacket begin='\xEF\xBB\xBF'?>", 23);
            assert_true(smp_meta_add_text(&meta, SMP_XMP_KEY, packet, size));
            smp_reader *reader = there_and_back(names[i], 3, &meta, false);
            const smp_meta *kept = &smp_reader_media(reader)->meta;
            if (i == 1 && longer) {
                assert_int_equal(kept->text_count, 0);
            } else {
                assert_int_equal(kept->text_count, 1);
                assert_string_equal(find_text(kept, SMP_XMP_KEY), meta.texts[0].value);
                size_t bytes;
                uint8_t *file = load(in_folder(names[i]), &bytes);
                assert_non_null(memmem(file, bytes, packet, size)); /* not compressed */
                free(file);
            }
            smp_reader_close(reader);
            smp_meta_free(&meta);
        }
}

SMP_TEST(faulty_metadata_does_not_lose_the_picture)
{
    smp_meta meta = full_meta("RGB ", 1);
    memcpy(meta.icc.data + 36, "XXXX", 4);
    put32(meta.icc.data, 12);
    smp_reader *reader = there_and_back("m.png", 3, &meta, false);
    assert_null(smp_reader_media(reader)->meta.icc.data);
    smp_reader_close(reader);
    smp_meta_free(&meta);
    meta = (smp_meta){.srgb_intent = 77, .gamma = 1e300, .x_density = 1e300, .y_density = 1};
    static char key[100];
    memset(key, 'k', sizeof key - 1);
    assert_true(smp_meta_add_text(&meta, key, "x", 1));
    assert_true(smp_meta_add_text(&meta, "", "x", 1));
    reader = there_and_back("m.png", 3, &meta, false);
    assert_int_equal(smp_reader_media(reader)->meta.text_count, 0);
    smp_reader_close(reader);
    reader = there_and_back("m.jpg", 3, &meta, false);
    smp_reader_close(reader);
    smp_meta_free(&meta);
}

/* ------------------------------------------------------------------------------------------ EXIF */

SMP_TEST(orientation_is_found_in_both_byte_orders_and_reset)
{
    for (int big = 0; big < 2; big++)
        for (int orientation = 0; orientation <= 9; orientation++) {
            uint8_t exif[64];
            size_t size = make_exif(exif, big, orientation);
            assert_int_equal(smp_exif_orientation(exif, size), orientation >= 1 && orientation <= 8 ? orientation : 1);
            smp_exif_reset_orientation(exif, size);
            uint8_t upright[64];
            make_exif(upright, big, 1);
            assert_memory_equal(exif, upright, size);
        }
}

SMP_TEST(a_damaged_exif_has_no_orientation)
{
    uint8_t exif[64];
    size_t size = make_exif(exif, false, 6);
    for (size_t n = 0; n < size; n++) { /* of exactly n bytes, so that a sanitizer sees reading past them */
        uint8_t *cut = malloc(n ? n : 1);
        assert_non_null(cut);
        memcpy(cut, exif, n);
        int orientation = smp_exif_orientation(cut, n);
        assert_true(orientation == 1 || n >= 34);
        smp_exif_reset_orientation(cut, n);
        free(cut);
    }
    for (int i = 0; i < 256; i++)
        for (size_t at = 0; at < 10; at++) {
            make_exif(exif, false, 6);
            exif[at] = (uint8_t)i;
            int orientation = smp_exif_orientation(exif, size);
            assert_true(orientation == 1 || orientation == 6);
        }
    assert_int_equal(smp_exif_orientation(NULL, 0), 1);
}

SMP_TEST(reading_reports_the_orientation_of_a_jpeg)
{
    smp_meta meta = full_meta("RGB ", 6);
    smp_reader_close(there_and_back("o.jpg", 3, &meta, false));
    size_t size;
    uint8_t *file = load(in_folder("o.jpg"), &size);
    for (size_t i = 0; i + 38 < size; i++)
        if (memcmp(file + i, "Exif\0", 6) == 0)
            file[i + 6 + 31] = 6; /* the writer has set it to 1 */
    smp_read_options how = smp_read_defaults();
    smp_error err = {0};
    smp_reader *reader;
    assert_ok(smp_reader_open_memory(file, size, &how, &reader, &err));
    const smp_media *media = smp_reader_media(reader);
    assert_int_equal(media->orientation, 6);
    assert_int_equal(media->shape.width, 8);             /* as decoded */
    assert_true(fabs(media->meta.x_density - 5906) < 1); /* as it will be once turned */
    smp_reader_close(reader);
    free(file);
    smp_meta_free(&meta);
}

SMP_TEST(png_keeps_the_chunks_of_hdr)
{
    smp_error err = {0};
    smp_meta meta = {.srgb_intent = -1, .has_cicp = true, .has_mdcv = true, .has_clli = true, .cicp = {9, 16, 0, 1}};
    memset(meta.mdcv, 'm', sizeof meta.mdcv);
    memset(meta.clli, 'c', sizeof meta.clli);
    smp_reader *reader = there_and_back("hdr.png", 3, &meta, false);
    const smp_meta *kept = &smp_reader_media(reader)->meta;
    assert_true(kept->has_cicp && kept->has_mdcv && kept->has_clli);
    assert_memory_equal(kept->cicp, meta.cicp, sizeof meta.cicp);
    assert_memory_equal(kept->mdcv, meta.mdcv, sizeof meta.mdcv);
    assert_memory_equal(kept->clli, meta.clli, sizeof meta.clli);
    smp_reader_close(reader);
    reader = there_and_back("hdr.png", 3, &meta, true);
    assert_false(smp_reader_media(reader)->meta.has_cicp);
    smp_reader_close(reader);

    smp_writer *writer;
    picture p = make_picture(8, 6, 3, false, SMP_U8);
    assert_ok(smp_writer_open(in_folder("hdr.jpg"), &p.shape, &meta, NULL, &writer, &err));
    assert_int_equal(smp_writer_notes(writer)->count, 1);
    assert_non_null(strstr(smp_writer_notes(writer)->items[0], "cICP"));
    smp_writer_abort(writer);
    free_picture(&p);
}

SMP_TEST(texts_without_a_keyword_are_left_out_with_a_note)
{
    static const char *const keys[] = {"", " ", "   ", "\xC2\xA0", "\xE5\xB1\xB1"};
    smp_error err = {0};
    picture p = make_picture(8, 6, 3, false, SMP_U8);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        smp_meta meta = {.srgb_intent = -1};
        smp_write_options options = {0};
        options.output.force = true;
        smp_writer *writer;
        assert_true(smp_meta_add_text(&meta, keys[i], "x", 1));
        assert_ok(smp_writer_open(in_folder("k.png"), &p.shape, &meta, &options, &writer, &err));
        assert_int_equal(smp_writer_notes(writer)->count, 1);
        assert_non_null(strstr(smp_writer_notes(writer)->items[0], "keyword"));
        smp_writer_abort(writer);
        smp_reader *reader = there_and_back("k.png", 3, &meta, false);
        assert_int_equal(smp_reader_media(reader)->meta.text_count, 0);
        smp_reader_close(reader);
        smp_meta_free(&meta);
    }
    free_picture(&p);
}

SMP_TEST(iptc_records_survive_where_a_format_has_a_place)
{
    static const char *const names[] = {"i.jpg", "i.tif"};
    static const char records[] = "\x1C\2\0\0\2\0\4\x1C\2\31\0\3cat\x1C\2\x78\0\1x";
    for (size_t i = 0; i < 2; i++)
        for (size_t cut = 0; cut < 2; cut++) { /* of odd and even length */
            smp_meta meta = full_meta("RGB ", 1);
            assert_true(smp_blob_set(&meta.iptc, records, sizeof records - 1 - cut));
            smp_reader *reader = there_and_back(names[i], 3, &meta, false);
            const smp_meta *kept = &smp_reader_media(reader)->meta;
            assert_int_equal(kept->iptc.size, meta.iptc.size);
            assert_memory_equal(kept->iptc.data, records, meta.iptc.size);
            assert_non_null(kept->exif.data);
            smp_reader_close(reader);
            smp_meta_free(&meta);
        }
}

SMP_TEST(what_a_format_has_no_place_for_is_told)
{
    static const struct {
        const char *name, *says;
    } cases[] = {
        {"l.png", "left out, since the format PNG has no place for it: IPTC records"},
        {"l.webp",
         "left out, since the format WebP has no place for it: IPTC records, the resolution"}, /* not in EXIF */
        {"l.bmp", "left out, since the format BMP has no place for it: the ICC profile, EXIF, IPTC records, texts"},
        {"l.tga", "left out, since the format TGA has no place for it: the ICC profile, EXIF, IPTC records, texts, the "
                  "resolution"},
        {"l.ppm", "left out, since the format PNM has no place for it: the ICC profile, EXIF, IPTC records, texts, the "
                  "resolution"},
        {"l.qoi", "left out, since the format QOI has no place for it: the ICC profile, EXIF, IPTC records, texts, the "
                  "resolution"},
        {"l.jpg", ""},
        {"l.npy", "left out, since the format NPY has no place for it: the ICC profile, EXIF, IPTC records, texts"},
        {"l.raw", "left out, since the format RAW has no place for it: the ICC profile, EXIF, IPTC records, texts"},
    };
    picture p = make_picture(8, 6, 3, false, SMP_U8);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        smp_error err = {0};
        smp_meta meta = full_meta("RGB ", 1);
        smp_write_options options = {0};
        smp_writer *writer;
        assert_true(smp_blob_set(&meta.iptc, "\x1C\2\31\0\3cat", 8));
        if (smp_writer_open(in_folder(cases[i].name), &p.shape, &meta, &options, &writer, &err)) {
            assert_string_equal(cases[i].name, "l.webp"); /* a build without its library */
            smp_meta_free(&meta);
            continue;
        }
        const smp_notes *notes = smp_writer_notes(writer);
        bool told = !cases[i].says[0] && !notes->count;
        for (int n = 0; n < notes->count; n++)
            told = told || !strcmp(notes->items[n], cases[i].says);
        if (!told)
            fail_msg("%s: %s", cases[i].name, notes->count ? notes->items[0] : "no note");
        smp_writer_abort(writer);
        smp_meta_free(&meta);
    }
    free_picture(&p);
}

/* Artist, copyright and description lie in the first directory of EXIF, which a TIFF has as its own. */
SMP_TEST(what_exif_says_of_rights_reaches_a_tiff)
{
    static const char exif[] = "II*\0\10\0\0\0\2\0"
                               "\73\1\2\0\4\0\0\0Ann\0"
                               "\230\202\2\0\4\0\0\0Bob\0"
                               "\0\0\0\0";
    smp_meta meta = {.srgb_intent = -1};
    assert_true(smp_blob_set(&meta.exif, exif, sizeof exif - 1));
    assert_true(smp_meta_add_text(&meta, "Author", "Ann", 3)); /* the same twice is no loss */
    smp_reader *reader = there_and_back("r.tif", 3, &meta, false);
    assert_string_equal(find_text(&smp_reader_media(reader)->meta, "Author"), "Ann");
    assert_string_equal(find_text(&smp_reader_media(reader)->meta, "Copyright"), "Bob");
    smp_reader_close(reader);
    smp_meta_free(&meta);
}

SMP_TEST(png_texts_and_exif_behind_the_picture_are_kept)
{
    smp_error err = {0};
    picture p = make_picture(300, 200, 3, false, SMP_U16), q;
    assert_ok(write_picture(in_folder("late.png"), &p, &err));
    size_t size;
    uint8_t *plain = load(in_folder("late.png"), &size), *file = malloc(size + 1000), exif[64];
    assert_non_null(file);
    memcpy(file, plain, size);
    size_t n = size - 12; /* before IEND */
    n += put_chunk(file + n, "tEXt", "Software\0camera", 15);
    n += put_chunk(file + n, "eXIf", exif, make_exif(exif, true, 8));
    n += put_chunk(file + n, "tIME", "\7\xE8\1\1\1\1\1", 7);
    memcpy(file + n, plain + size - 12, 12);
    n += 12;
    store(in_folder("late.png"), file, n);
    smp_read_options how = smp_read_defaults();
    for (int from_file = 0; from_file < 2; from_file++) {
        smp_reader *reader;
        assert_ok(from_file ? smp_reader_open(in_folder("late.png"), &how, &reader, &err)
                            : smp_reader_open_memory(file, n, &how, &reader, &err));
        const smp_media *media = smp_reader_media(reader);
        assert_int_equal(media->orientation, 8);
        assert_string_equal(find_text(&media->meta, "Software"), "camera");
        assert_ok(read_rest(reader, &q, &err));
        assert_same_picture(&p, &q);
        free_picture(&q);
        smp_reader_close(reader);
    }
    assert_allocation_failures_are_clean(in_folder("late.png"));
    free(plain);
    free(file);
    free_picture(&p);
}

/* The picture of a PNG whose one IDAT chunk is cut into chunks of n bytes, and a text behind them; says its size. */
static size_t cut_into_chunks(const uint8_t *plain, size_t size, size_t n, uint8_t *to)
{
    const size_t head = 8 + 25, data = size - head - 12 - 12;
    assert_memory_equal(plain + head + 4, "IDAT", 4);
    memcpy(to, plain, head);
    size_t at = head;
    for (size_t done = 0; done < data; done += n)
        at += put_chunk(to + at, "IDAT", plain + head + 8 + done, data - done < n ? data - done : n);
    at += put_chunk(to + at, "tEXt", "Software\0camera", 15);
    memcpy(to + at, plain + size - 12, 12);
    return at + 12;
}

SMP_TEST(png_texts_behind_any_number_of_chunks_are_found)
{
    smp_error err = {0};
    picture p = make_picture(40, 20, 3, false, SMP_U8);
    assert_ok(write_picture(in_folder("cut.png"), &p, &err));
    size_t size;
    uint8_t *plain = load(in_folder("cut.png"), &size), *file = malloc(13 * size + 1000);
    assert_non_null(file);
    smp_read_options how = smp_read_defaults();
    for (size_t n = 1; n < size; n += 1 + n / 20) {
        smp_reader *reader;
        assert_ok(smp_reader_open_memory(file, cut_into_chunks(plain, size, n, file), &how, &reader, &err));
        const char *text = find_text(&smp_reader_media(reader)->meta, "Software");
        if (!text || strcmp(text, "camera") != 0)
            fail_msg("chunks of %zu bytes: no text", n);
        smp_reader_close(reader);
    }
    free(plain);
    free(file);
    free_picture(&p);
}

SMP_TESTS_AROUND(make_folder, remove_folder)
