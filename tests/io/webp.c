/* WebP: files of libwebp, containers made by hand around their coded pictures, and what is written. */
#include "suite.h"

#include "media_fixture.h"

#ifdef SMP_TEST_WEBP

#define DATA SMP_SOURCE_DIR "/tests/data/formats/"

enum { MOST = 2048 };

typedef struct webp_file {
    uint8_t bytes[MOST];
    size_t size;
} webp_file;

static void put(uint8_t *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static webp_file begin_webp(void)
{
    webp_file file = {.bytes = "RIFF....WEBP", .size = 12};
    return file;
}

static void add_chunk(webp_file *file, const char *type, const void *data, size_t size)
{
    memcpy(file->bytes + file->size, type, 4);
    put(file->bytes + file->size + 4, size, 4);
    memcpy(file->bytes + file->size + 8, data, size);
    file->size += 8 + size + (size & 1);
    put(file->bytes + 4, file->size - 8, 4);
}

/* A canvas of that size, with those flags. */
static void add_canvas(webp_file *file, unsigned flags, unsigned width, unsigned height)
{
    uint8_t head[10] = {(uint8_t)flags};
    put(head + 4, width - 1, 3);
    put(head + 7, height - 1, 3);
    add_chunk(file, "VP8X", head, sizeof head);
}

/* The coded picture of a file that has nothing else. */
static size_t coded(const char *name, uint8_t *to)
{
    size_t size;
    uint8_t *file = load(name, &size);
    const size_t length = (size_t)(file[16] | file[17] << 8);
    assert_memory_equal(file + 12, "VP8", 3);
    memcpy(to, file + 20, length);
    free(file);
    return length;
}

/* A lossless picture of one colour, by our own writer. */
static size_t plain_picture(int64_t width, int64_t height, uint8_t *to)
{
    smp_error err = {0};
    picture p = new_picture(width, height, 3, false, SMP_U8);
    memset(p.data, 200, p.size);
    smp_write_options options = {0};
    options.output.force = true;
    smp_write_set(&options.values, &smp_write_lossless, true);
    assert_ok(write_with(in_folder("plain.webp"), &p, NULL, &options, &err));
    free_picture(&p);
    return coded(in_folder("plain.webp"), to);
}

static smp_code read_file(const webp_file *file, picture *p, smp_error *err)
{
    return read_memory(file->bytes, file->size, p, err);
}

static void expect_refusal(const webp_file *file, smp_code code, const char *says)
{
    expect_error(file->bytes, file->size, code, says);
}

SMP_TEST(files_of_libwebp_give_their_samples)
{
    smp_error err = {0};
    picture p;
    assert_ok(read_picture(DATA "lossless-alpha.webp", &p, &err));
    assert_true(p.shape.alpha && p.size == 33 * 17 * 4);
    for (int64_t i = 0; i < 33 * 17 * 4; i++) {
        const int64_t x = i / 4 % 33, y = i / (33 * 4);
        assert_int_equal(p.data[i], i % 4 == 3 && x < 5 && y < 5 ? 0 : pattern_of_files(x, y, i % 4));
    }
    free_picture(&p);
    assert_ok(read_picture(DATA "lossy.webp", &p, &err));
    assert_int_equal(p.size, 64 * 48 * 3);
    assert_false(p.shape.alpha);
    free_picture(&p);
}

SMP_TEST(the_first_picture_of_an_animation_is_read_with_a_note)
{
    size_t size;
    char notes[300];
    picture p;
    uint8_t *file = load(DATA "anim.webp", &size);
    read_with_notes(file, size, &p, notes, sizeof notes);
    assert_int_equal(p.size, 16 * 16 * 3);
    for (int64_t i = 0; i < 16 * 16 * 3; i++)
        assert_int_equal(p.data[i], pattern_of_files(i / 3 % 16, i / 48, i % 3));
    assert_non_null(strstr(notes, "animation of 2 pictures; only the first"));
    free_picture(&p);
    free(file);
}

SMP_TEST(a_frame_lies_on_a_transparent_canvas)
{
    uint8_t frame[MOST] = {0};
    smp_error err = {0};
    picture p;
    put(frame, 1, 3); /* 2 to the right, 4 down */
    put(frame + 3, 2, 3);
    memcpy(frame + 16, "VP8L", 4);
    const size_t size = plain_picture(3, 2, frame + 24);
    put(frame + 20, size, 4);
    webp_file file = begin_webp();
    add_canvas(&file, 2, 7, 8);
    add_chunk(&file, "ANIM", "\0\0\0\0\0\0", 6);
    add_chunk(&file, "ANMF", frame, 24 + size);
    assert_ok(read_file(&file, &p, &err));
    assert_true(p.shape.alpha && p.size == 7 * 8 * 4);
    for (int64_t y = 0; y < 8; y++)
        for (int64_t x = 0; x < 7; x++) {
            const bool inside = x >= 2 && x < 5 && y >= 4 && y < 6;
            assert_memory_equal(p.data + (y * 7 + x) * 4, inside ? "\310\310\310\377" : "\0\0\0\0", 4);
        }
    free_picture(&p);
    put(frame, 3, 3);
    file = begin_webp();
    add_canvas(&file, 2, 7, 8);
    add_chunk(&file, "ANMF", frame, 24 + size);
    expect_refusal(&file, SMP_E_DECODE, "outside");
}

SMP_TEST(metadata_come_back)
{
    static const char exif[] = "Exif\0\0II*\0\10\0\0\0\1\0\22\1\3\0\1\0\0\0\6\0\0\0\0\0\0\0";
    uint8_t data[MOST];
    char icc[200] = {0};
    memcpy(icc + 16, "RGB ", 4);
    const size_t size = plain_picture(3, 2, data);
    for (size_t marker = 0; marker < 2; marker++) {
        smp_error err = {0};
        smp_reader *reader;
        smp_read_options how = smp_read_defaults();
        webp_file file = begin_webp();
        add_canvas(&file, 0x2C, 3, 2);
        add_chunk(&file, "ICCP", icc, sizeof icc);
        add_chunk(&file, "VP8L", data, size);
        add_chunk(&file, "EXIF", exif + 6 * marker, sizeof exif - 1 - 6 * marker);
        add_chunk(&file, "XMP ", "<x/>", 4);
        store(in_folder("m.webp"), file.bytes, file.size);
        for (int again = 0; again < 2; again++) {
            assert_ok(smp_reader_open(in_folder("m.webp"), &how, &reader, &err));
            const smp_media *media = smp_reader_media(reader);
            assert_int_equal(media->orientation, again ? 1 : 6);
            assert_int_equal(media->meta.icc.size, sizeof icc);
            assert_int_equal(media->meta.exif.size, sizeof exif - 7);
            assert_string_equal(find_text(&media->meta, SMP_XMP_KEY), "<x/>");
            picture p;
            smp_write_options options = {0};
            options.output.force = true;
            assert_ok(read_rest(reader, &p, &err));
            assert_ok(write_with(in_folder("m.webp"), &p, &media->meta, &options, &err));
            smp_reader_close(reader);
            free_picture(&p);
        }
    }
}

SMP_TEST(what_is_written_without_loss_comes_back)
{
    for (int channels = 1; channels <= 4; channels++)
        for (int lossless = 0; lossless < 2; lossless++) {
            smp_error err = {0};
            const bool alpha = channels == 2 || channels == 4;
            picture back, p = make_picture(45, 38, channels, alpha, SMP_U8);
            smp_write_options options = {0};
            smp_write_set(&options.values, &smp_write_lossless, lossless);
            options.output.force = true;
            size_t size, again;
            assert_ok(write_with(in_folder("w.webp"), &p, NULL, &options, &err));
            uint8_t *first = load(in_folder("w.webp"), &size);
            options.threads = 1;
            assert_ok(write_with(in_folder("w.webp"), &p, NULL, &options, &err));
            uint8_t *second = load(in_folder("w.webp"), &again);
            assert_int_equal(size, again);
            assert_memory_equal(first, second, size);
            free(first);
            free(second);
            assert_ok(read_picture(in_folder("w.webp"), &back, &err));
            assert_int_equal(back.shape.channels, alpha ? 4 : 3);
            int most = 0, sum = 0;
            for (size_t i = 0; i < 45 * 38; i++)
                for (int c = 0; c < back.shape.channels; c++) {
                    const int error =
                        abs(back.data[i * (size_t)back.shape.channels + (size_t)c] - sample_as_rgb(&p, i, c));
                    most = error > most ? error : most;
                    sum += error;
                }
            assert_true(lossless ? most == 0 : most > 0 && sum < 12 * 45 * 38 * back.shape.channels);
            free_picture(&back);
            free_picture(&p);
        }
}

SMP_TEST(shapes_are_what_the_file_can_hold)
{
    smp_error err = {0};
    smp_shape out, shape = {.kind = SMP_IMAGE, .width = 10, .height = 10, .channels = 3, .format = SMP_U16};
    assert_ok(smp_writer_shape("x.webp", &shape, &out, &err));
    assert_int_equal(out.format, SMP_U8);
    shape.width = 16384;
    assert_int_equal(smp_writer_shape("x.webp", &shape, &out, &err), SMP_E_WRITE);
    assert_non_null(strstr(err.message, "16383"));
}

SMP_TEST(limits_hold_before_the_library_is_asked)
{
    uint8_t data[MOST];
    smp_reader *reader;
    smp_error err = {0};
    const size_t size = plain_picture(3, 2, data);
    webp_file file = begin_webp();
    put(data + 1, 16382 | 16382u << 14, 4); /* both sides, less one */
    add_chunk(&file, "VP8L", data, size);
    smp_read_options how = smp_read_defaults();
    how.limits.max_pixels = 1000000;
    const uint64_t live = smp_alloc_live();
    smp_alloc_restart_peak();
    assert_int_equal(smp_reader_open_memory(file.bytes, file.size, &how, &reader, &err), SMP_E_LIMIT);
    how = smp_read_defaults();
    how.limits.max_memory = 1 << 30; /* 7 bytes a pixel are more */
    assert_int_equal(smp_reader_open_memory(file.bytes, file.size, &how, &reader, &err), SMP_E_LIMIT);
    assert_true(smp_alloc_peak() - live < 10000);
}

SMP_TEST(damage_is_an_error)
{
    uint8_t data[MOST];
    const size_t size = coded(DATA "lossy.webp", data);
    webp_file file = begin_webp();
    add_canvas(&file, 0, 64, 48);
    expect_refusal(&file, SMP_E_DECODE, "no picture");
    file = begin_webp();
    add_chunk(&file, "VP8 ", data, size / 2); /* sizes agree, but half of the coded bits are missing */
    expect_refusal(&file, SMP_E_DECODE, "damaged");
    data[3] = 0;
    file = begin_webp();
    add_chunk(&file, "VP8 ", data, size);
    expect_refusal(&file, SMP_E_DECODE, "no header");
    assert_truncations_fail(DATA "lossy.webp", 7);
    assert_truncations_fail(DATA "lossless-alpha.webp", 7);
    assert_truncations_fail(DATA "anim.webp", 7);
}

SMP_TEST(changed_bytes_never_crash)
{
    static const char *const names[] = {DATA "lossy.webp", DATA "lossless-alpha.webp", DATA "anim.webp"};
    uint32_t seed = 3;
    for (size_t f = 0; f < 3; f++)
        assert_changes_never_crash(names[f], 12, 200, &seed);
}

SMP_TEST(allocation_failures_are_clean)
{
    assert_allocation_failures_are_clean(DATA "lossless-alpha.webp");
}

#else

SMP_TEST(a_build_without_the_library_names_the_format)
{
    expect_error(FILE_OF("RIFF\4\0\0\0WEBP...."), SMP_E_DECODE, "is a WebP");
    expect_error(FILE_OF("RIFF\4\0\0\0WEBP...."), SMP_E_DECODE, "not supported");
}

#endif

SMP_TESTS_AROUND(make_folder, remove_folder)
