/* TIFFs that are written: samples and metadata come back, the bytes are the same every time. */
#include "suite.h"

#include <math.h>

#include "media_fixture.h"

#include "io/tiff/tiff_glue.h"

static void write_tiff(const picture *p, int compression, int threads, const smp_meta *meta)
{
    smp_error err = {0};
    smp_write_options options = {0};
    options.output.force = true;
    smp_write_set(&options.values, &smp_tiff_packing, compression);
    options.threads = threads;
    assert_ok(write_with(in_folder("o.tif"), p, meta, &options, &err));
}

SMP_TEST(the_directory_says_what_was_written)
{
    static const uint8_t samples[] = "abcdefghijkl"; /* 2 x 2 of RGB */
    picture p = new_picture(2, 2, 3, false, SMP_U8);
    size_t size;
    memcpy(p.data, samples, 12);
    write_tiff(&p, SMP_TIFF_NONE, 1, NULL);
    uint8_t *file = load(in_folder("o.tif"), &size);
    assert_memory_equal(file, "II*\0\24\0\0\0abcdefghijkl\12\0", 22); /* the directory of ten entries is behind them */
    const uint8_t *at = file + 22;
    static const uint16_t tags[] = {256, 257, 258, 259, 262, 273, 277, 278, 279, 284};
    static const uint8_t values[] = {2, 2, 146, 1, 2, 8, 3, 2, 12, 1};
    for (int i = 0; i < 10; i++, at += 12) {
        assert_int_equal(at[0] | at[1] << 8, tags[i]);
        assert_int_equal(at[8], values[i]);
    }
    assert_memory_equal(at, "\0\0\0\0\10\0\10\0\10\0", 10);
    assert_int_equal(size, 152);
    free(file);
    free_picture(&p);
}

SMP_TEST(threads_do_not_change_the_bytes)
{
    picture p = make_picture(700, 900, 3, false, SMP_U8); /* four strips */
    for (int compression = SMP_TIFF_DEFLATE; compression <= SMP_TIFF_NONE; compression++) {
        size_t size, again;
        write_tiff(&p, compression, 1, NULL);
        uint8_t *one = load(in_folder("o.tif"), &size);
        write_tiff(&p, compression, 3, NULL);
        uint8_t *three = load(in_folder("o.tif"), &again);
        assert_int_equal(size, again);
        assert_memory_equal(one, three, size);
        assert_true(compression == SMP_TIFF_NONE ? size > 1890000 : size < 1000000);
        free(one);
        free(three);
    }
    free_picture(&p);
}

SMP_TEST(a_pipe_cannot_take_one)
{
    smp_error err = {0};
    picture p = make_picture(3, 2, 1, false, SMP_U8);
    assert_int_equal(mkfifo(in_folder("pipe.tif"), 0600), 0);
    const int reader = open(in_folder("pipe.tif"), O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    smp_write_options options = {0};
    options.output.force = true;
    assert_int_equal(write_with(in_folder("pipe.tif"), &p, NULL, &options, &err), SMP_E_WRITE);
    assert_non_null(strstr(err.message, "cannot be written to a pipe"));
    close(reader);
    free_picture(&p);
    clear_folder();
}

#ifdef SMP_TEST_TIFF

SMP_TEST(samples_come_back)
{
    static const smp_format formats[] = {SMP_U8, SMP_U16, SMP_F32};
    for (int format = 0; format < 3; format++)
        for (int channels = 1; channels <= 4; channels++)
            for (int compression = SMP_TIFF_DEFLATE; compression <= SMP_TIFF_NONE; compression++)
                for (int large = 0; large < 2; large++) {
                    smp_error err = {0};
                    picture back, p = make_picture(large ? 501 : 1, large ? 411 : 1, channels,
                                                   channels == 2 || channels == 4, formats[format]);
                    write_tiff(&p, compression, 2, NULL);
                    assert_ok(read_picture(in_folder("o.tif"), &back, &err));
                    assert_same_picture(&p, &back);
                    free_picture(&back);
                    free_picture(&p);
                }
}

/* Noise fills LZW's table again and again; one value makes its longest strings. */
SMP_TEST(lzw_of_noise_and_of_nothing_comes_back)
{
    uint32_t seed = 7;
    for (int kind = 0; kind < 3; kind++) {
        smp_error err = {0};
        picture back, p = new_picture(333, 257, 1, false, SMP_U8);
        for (size_t i = 0; i < p.size; i++) {
            seed = seed * 1664525u + 1013904223u;
            p.data[i] = (uint8_t)(kind == 0 ? seed >> 24 : kind == 1 ? 9 : (seed >> 28) * 16 + i % 3);
        }
        write_tiff(&p, SMP_TIFF_LZW, 1, NULL);
        assert_ok(read_picture(in_folder("o.tif"), &back, &err));
        assert_same_picture(&p, &back);
        free_picture(&back);
        free_picture(&p);
    }
}

SMP_TEST(metadata_come_back)
{
    static const char exif[] = "MM\0*\0\0\0\10\0\2"
                               "\1\17\0\2\0\0\0\6\0\0\0\46\207\151\0\4\0\0\0\1\0\0\0\54\0\0\0\0"
                               "Maker\0"
                               "\0\1\210\47\0\3\0\0\0\1\1\220\0\0\0\0\0\0";
    smp_error err = {0};
    smp_reader *reader;
    smp_read_options how = smp_read_defaults();
    smp_meta meta = {.srgb_intent = -1, .x_density = 300 / 0.0254, .y_density = 72.5 / 0.0254};
    char icc[200] = {0};
    memcpy(icc + 16, "RGB ", 4);
    assert_true(smp_blob_set(&meta.icc, icc, sizeof icc) && smp_blob_set(&meta.exif, exif, sizeof exif - 1));
    assert_true(smp_meta_add_text(&meta, "Description", "what it shows", 13));
    assert_true(smp_meta_add_text(&meta, "Author", "J\303\266rg", 5));
    assert_true(smp_meta_add_text(&meta, SMP_XMP_KEY, "<x/>", 4));
    picture p = make_picture(5, 4, 3, false, SMP_U8);
    write_tiff(&p, SMP_TIFF_DEFLATE, 1, &meta);
    assert_ok(smp_reader_open(in_folder("o.tif"), &how, &reader, &err));
    const smp_meta *back = &smp_reader_media(reader)->meta;
    assert_int_equal(back->icc.size, sizeof icc);
    assert_memory_equal(back->icc.data, icc, sizeof icc);
    assert_true(fabs(back->x_density - meta.x_density) < 1e-6 && fabs(back->y_density - meta.y_density) < 1e-6);
    assert_string_equal(find_text(back, "Description"), "what it shows");
    assert_string_equal(find_text(back, "Author"), "J\303\266rg");
    assert_string_equal(find_text(back, SMP_XMP_KEY), "<x/>");
    uint32_t at;
    assert_true(smp_tiff_number(back->exif.data, back->exif.size, 34665, &at));
    assert_memory_equal(back->exif.data, "II*\0", 4);
    assert_memory_equal(back->exif.data + at, "\1\0\47\210\3\0\1\0\0\0\220\1", 12); /* ISO speed 400 */
    assert_non_null(memmem(back->exif.data, back->exif.size, "Maker", 6));
    smp_reader_close(reader);
    smp_meta_free(&meta);
    free_picture(&p);
}

#endif

SMP_TEST(allocation_failures_leave_nothing)
{
    picture p = make_picture(6, 5, 3, false, SMP_F32);
    const uint64_t live = smp_alloc_live();
    clear_folder();
    for (uint64_t n = 1;; n++) {
        smp_error err = {0};
        smp_alloc_fail_at(n);
        const uint64_t before = smp_alloc_count();
        const smp_code code = write_picture(in_folder("f.tif"), &p, &err);
        const uint64_t made = smp_alloc_count() - before;
        smp_alloc_fail_at(0);
        assert_int_equal(smp_alloc_live(), live);
        assert_int_equal(count_files(), code ? 0 : 1);
        if (!code)
            clear_folder();
        else
            assert_int_equal(code, SMP_E_MEMORY);
        if (made < n)
            break;
    }
    free_picture(&p);
}

SMP_TESTS_AROUND(make_folder, remove_folder)
