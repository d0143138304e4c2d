/* HEIC and AVIF: what the boxes must say, limits before the library, AVIF that is written. (tests/cli/test_formats.py
 * has the samples of files.) */
#include "suite.h"

#include "media_fixture.h"

#ifdef SMP_TEST_HEIF

#define DATA SMP_SOURCE_DIR "/tests/data/formats/"

SMP_TEST(pictures_have_the_size_that_their_boxes_say)
{
    static const struct {
        const char *name;
        int64_t width, height;
    } files[] = {{DATA "photo.heic", 64, 48}, {DATA "photo.avif", 64, 48}, {DATA "turned.avif", 48, 64}};
    for (size_t i = 0; i < 3; i++) {
        smp_error err = {0};
        picture p;
        assert_ok(read_picture(files[i].name, &p, &err));
        assert_int_equal(p.shape.width, files[i].width);
        assert_int_equal(p.shape.height, files[i].height);
        assert_int_equal(p.shape.channels, 3);
        int least = 255, most = 0;
        for (size_t k = 0; k < p.size; k++) {
            least = p.data[k] < least ? p.data[k] : least;
            most = p.data[k] > most ? p.data[k] : most;
        }
        assert_true(least < 60 && most > 180); /* a photograph */
        free_picture(&p);
    }
}

/* The sizes in the file, one after the other, become a hundred thousand. */
SMP_TEST(sizes_are_checked_before_the_library_is_asked)
{
    static const char *const names[] = {DATA "photo.heic", DATA "photo.avif"};
    for (size_t f = 0; f < 2; f++) {
        size_t size, found = 0;
        uint8_t *file = load(names[f], &size);
        for (uint8_t *at = file; (at = memmem(at, size - (size_t)(at - file), "ispe", 4)); at += 4, found++) {
            uint8_t kept[8];
            smp_error err = {0};
            picture p;
            memcpy(kept, at + 8, 8);
            put32(at + 8, 100000);
            put32(at + 12, 100000);
            assert_int_equal(read_memory(file, size, &p, &err), SMP_E_LIMIT);
            assert_non_null(strstr(err.message, "100000 x 100000"));
            put32(at + 8, 0);
            assert_int_equal(read_memory(file, size, &p, &err), SMP_E_DECODE);
            assert_non_null(strstr(err.message, "no pixels"));
            memcpy(at + 8, kept, 8);
        }
        assert_true(found >= 1);
        smp_error err = {0};
        smp_reader *reader;
        smp_read_options how = smp_read_defaults();
        how.limits.max_memory = 20000;
        assert_int_equal(smp_reader_open_memory(file, size, &how, &reader, &err), SMP_E_LIMIT);
        free(file);
    }
}

SMP_TEST(damage_is_an_error)
{
    assert_truncations_fail(DATA "photo.heic", 97);
    assert_truncations_fail(DATA "photo.avif", 29);
    static const struct {
        const char *bytes;
        size_t size;
        const char *says;
    } cases[] = {
        {FILE_OF("\0\0\0\20ftypavif\0\0\0\0"), "no picture"},
        {FILE_OF("\0\0\0\20ftypavif\0\0\0\0\0\0\0\14meta\0\0\0\0"), "how large"},
        {FILE_OF("\0\0\0\20ftypavif\0\0\0\0\0\0\0\7meta\0\0\0\0"), "not possible"},
        {FILE_OF("\0\0\0\20ftypheic\0\0\0\0\0\0\0\1mdat\377\0\0\0\0\0\0\0"), "truncated"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_error(cases[i].bytes, cases[i].size, SMP_E_DECODE, cases[i].says);
}

SMP_TEST(lack_of_memory_is_an_error)
{
    assert_allocation_failures_are_clean(DATA "photo.heic");
}

SMP_TEST(avif_is_written_nearly_as_it_was)
{
    smp_error err = {0};
    smp_shape out, shape = {.kind = SMP_IMAGE, .width = 8, .height = 8, .channels = 3, .format = SMP_U16};
    assert_int_equal(smp_writer_shape("x.heic", &shape, &out, &err), SMP_E_WRITE);
    if (smp_writer_shape("x.avif", &shape, &out, &err) == SMP_E_WRITE) {
        assert_non_null(strstr(err.message, "no encoder"));
        skip();
    }
    assert_int_equal(out.format, SMP_U8);
    for (int channels = 1; channels <= 4; channels++) {
        const bool alpha = channels == 2 || channels == 4;
        picture back, p = make_picture(70, 50, channels, alpha, SMP_U8);
        smp_write_options options = {0};
        size_t size, smaller, again;
        options.output.force = true;
        smp_write_set(&options.values, &smp_write_quality, 95);
        assert_ok(write_with(in_folder("a.avif"), &p, NULL, &options, &err));
        uint8_t *first = load(in_folder("a.avif"), &size);
        options.threads = 1;
        assert_ok(write_with(in_folder("b.avif"), &p, NULL, &options, &err));
        uint8_t *second = load(in_folder("b.avif"), &again);
        assert_int_equal(size, again);
        assert_memory_equal(first, second, size);
        free(first);
        free(second);
        smp_write_set(&options.values, &smp_write_quality, 20);
        assert_ok(write_with(in_folder("b.avif"), &p, NULL, &options, &err));
        free(load(in_folder("b.avif"), &smaller));
        assert_true(smaller < size);
        assert_ok(read_picture(in_folder("a.avif"), &back, &err));
        assert_int_equal(back.shape.channels, channels == 1 ? 1 : alpha ? 4 : 3); /* gray with alpha is coded as RGBA */
        int64_t sum = 0;
        for (size_t i = 0; i < 70 * 50; i++)
            for (int c = 0; c < back.shape.channels; c++)
                sum += abs(back.data[i * (size_t)back.shape.channels + (size_t)c] - sample_as_rgb(&p, i, c));
        assert_true(sum < (int64_t)back.size * (channels >= 3 ? 12 : 3)); /* colour has half the resolution */
        free_picture(&back);
        free_picture(&p);
    }
}

SMP_TEST(metadata_come_back_upright)
{
    static const char exif[] = "II*\0\10\0\0\0\1\0\22\1\3\0\1\0\0\0\6\0\0\0\0\0\0\0";
    smp_error err = {0};
    smp_reader *reader;
    smp_read_options how = smp_read_defaults();
    smp_shape out, shape = {.kind = SMP_IMAGE, .width = 8, .height = 8, .channels = 3, .format = SMP_U8};
    if (smp_writer_shape("x.avif", &shape, &out, &err))
        skip();
    smp_meta meta = {.srgb_intent = -1};
    char icc[200] = {0};
    memcpy(icc + 16, "RGB ", 4);
    assert_true(smp_blob_set(&meta.icc, icc, sizeof icc) && smp_blob_set(&meta.exif, exif, sizeof exif - 1));
    assert_true(smp_meta_add_text(&meta, SMP_XMP_KEY, "<x/>", 4));
    picture p = make_picture(20, 10, 3, false, SMP_U8);
    smp_write_options options = {0};
    options.output.force = true;
    assert_ok(write_with(in_folder("m.avif"), &p, &meta, &options, &err));
    assert_ok(smp_reader_open(in_folder("m.avif"), &how, &reader, &err));
    const smp_media *media = smp_reader_media(reader);
    assert_int_equal(media->orientation, 1);
    assert_int_equal(media->shape.width, 20);
    assert_int_equal(smp_exif_orientation(media->meta.exif.data, media->meta.exif.size), 1);
    assert_int_equal(media->meta.exif.size, sizeof exif - 1);
    assert_int_equal(media->meta.icc.size, sizeof icc);
    assert_string_equal(find_text(&media->meta, SMP_XMP_KEY), "<x/>");
    smp_reader_close(reader);
    smp_meta_free(&meta);
    free_picture(&p);
}

#else

SMP_TEST(a_build_without_the_library_names_the_format)
{
    expect_error(FILE_OF("....ftypavif...."), SMP_E_DECODE, "is an AVIF");
    expect_error(FILE_OF("....ftypavif...."), SMP_E_DECODE, "not supported");
}

#endif

SMP_TESTS_AROUND(make_folder, remove_folder)
