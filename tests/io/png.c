/* PNG in and out: every colour type and depth that libpng can write, damage, bombs, and what is kept beside the
 * samples. */
#include "suite.h"

#include "media_fixture.h"
#include "png_bytes.h"

#include "io/png/png_glue.h"

#include <zlib.h>

SMP_TEST(every_channel_count_and_depth_comes_back)
{
    smp_error err = {0};
    for (int format = SMP_U8; format <= SMP_U16; format++)
        for (int channels = 1; channels <= 4; channels++) {
            picture p = make_picture(13, 7, channels, channels % 2 == 0, (smp_format)format), q;
            assert_ok(write_picture(in_folder("a.png"), &p, &err));
            assert_ok(read_picture(in_folder("a.png"), &q, &err));
            assert_same_picture(&p, &q);
            free_picture(&p);
            free_picture(&q);
        }
}

/* ------------------------------------------------------------------------------------------------ files made with
 * libpng */

enum { WIDTH = 11, HEIGHT = 9, COLOURS = 16 };

static uint32_t sample_at(int x, int y, int c, int depth)
{
    return ((uint32_t)(x * 7 + y * 13 + c * 29 + x * y) * 2654435761u >> 7) & ((1u << depth) - 1);
}

static uint32_t index_at(int x, int y, int depth)
{
    return sample_at(x, y, 0, depth) % COLOURS;
}

static png_color palette_at(uint32_t i)
{
    return (png_color){(png_byte)(i * 16), (png_byte)(255 - i * 9), (png_byte)(i * i)};
}

static uint8_t palette_alpha(uint32_t i)
{
    return i < 5 ? (uint8_t)(i * 50) : 255;
}

/* A picture of that kind, with a tRNS chunk when asked for. */
static void compose(bytes *file, int colour, int depth, bool interlaced, bool transparent)
{
    file->size = 0;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_set_write_fn(png, file, keep, flush);
    png_set_IHDR(png, info, WIDTH, HEIGHT, depth, colour, interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, 0, 0);
    int channels = (int[]){1, 0, 3, 1, 2, 0, 4}[colour];
    if (colour == PNG_COLOR_TYPE_PALETTE) {
        png_color palette[COLOURS];
        png_byte alpha[COLOURS];
        for (uint32_t i = 0; i < COLOURS; i++) {
            palette[i] = palette_at(i);
            alpha[i] = palette_alpha(i);
        }
        int n = depth < 4 ? 1 << depth : COLOURS;
        png_set_PLTE(png, info, palette, n);
        if (transparent)
            png_set_tRNS(png, info, alpha, n < 5 ? n : 5, NULL);
    } else if (transparent) { /* the colour of pixel (3, 2) */
        png_color_16 clear = {.gray = (png_uint_16)sample_at(3, 2, 0, depth),
                              .red = (png_uint_16)sample_at(3, 2, 0, depth),
                              .green = (png_uint_16)sample_at(3, 2, 1, depth),
                              .blue = (png_uint_16)sample_at(3, 2, 2, depth)};
        png_set_tRNS(png, info, NULL, 0, &clear);
    }
    png_write_info(png, info);
    uint8_t rows[HEIGHT][WIDTH * 8] = {0};
    png_bytep pointers[HEIGHT];
    for (int y = 0; y < HEIGHT; y++) {
        pointers[y] = rows[y];
        for (int x = 0; x < WIDTH; x++)
            for (int c = 0; c < channels; c++) {
                int i = x * channels + c;
                uint32_t v = colour == PNG_COLOR_TYPE_PALETTE ? index_at(x, y, depth) : sample_at(x, y, c, depth);
                if (depth == 16) {
                    rows[y][2 * i] = (uint8_t)(v >> 8);
                    rows[y][2 * i + 1] = (uint8_t)v;
                } else {
                    rows[y][i * depth / 8] |= (uint8_t)(v << (8 - depth - i * depth % 8));
                }
            }
    }
    png_write_image(png, pointers);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
}

/* Returns the sample that the reader must make. */
static uint32_t expected(int colour, int depth, bool transparent, int x, int y, int c)
{
    if (colour == PNG_COLOR_TYPE_PALETTE) {
        uint32_t i = index_at(x, y, depth);
        png_color p = palette_at(i);
        return c == 0 ? p.red : c == 1 ? p.green : c == 2 ? p.blue : palette_alpha(i);
    }
    uint32_t full = depth == 16 ? 65535 : 255;
    int colours = colour & PNG_COLOR_MASK_COLOR ? 3 : 1;
    if (transparent && c == colours) {
        bool same = true;
        for (int k = 0; k < colours; k++)
            same &= sample_at(x, y, k, depth) == sample_at(3, 2, k, depth);
        return same ? 0 : full;
    }
    return sample_at(x, y, c, depth) * full / ((1u << depth) - 1);
}

SMP_TEST(every_colour_type_depth_and_interlacing_is_read)
{
    static const int kinds[][2] = {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}, {2, 8}, {2, 16}, {3, 1},
                                   {3, 2}, {3, 4}, {3, 8}, {4, 8}, {4, 16}, {6, 8}, {6, 16}};
    static bytes file;
    int read = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        for (int variant = 0; variant < 4; variant++) {
            int colour = kinds[k][0], depth = kinds[k][1];
            bool interlaced = variant & 1, transparent = variant & 2;
            if (transparent && colour & PNG_COLOR_MASK_ALPHA)
                continue;
            compose(&file, colour, depth, interlaced, transparent);
            smp_error err = {0};
            picture p;
            assert_ok(read_memory(file.data, file.size, &p, &err));
            int colours = colour & PNG_COLOR_MASK_COLOR ? 3 : 1;
            bool alpha = transparent || colour & PNG_COLOR_MASK_ALPHA;
            assert_int_equal(p.shape.width, WIDTH);
            assert_int_equal(p.shape.height, HEIGHT);
            assert_int_equal(p.shape.channels, colours + alpha);
            assert_int_equal(p.shape.alpha, alpha);
            assert_int_equal(p.shape.format, depth == 16 ? SMP_U16 : SMP_U8);
            for (int y = 0; y < HEIGHT; y++)
                for (int x = 0; x < WIDTH; x++)
                    for (int c = 0; c < colours + alpha; c++) {
                        int i = (y * WIDTH + x) * (colours + alpha) + c;
                        uint32_t got = depth == 16 ? ((uint16_t *)(void *)p.data)[i] : p.data[i];
                        if (got != expected(colour, depth, transparent, x, y, c))
                            fail_msg("colour type %d, depth %d, variant %d, (%d, %d, %d): %u", colour, depth, variant,
                                     x, y, c, got);
                    }
            free_picture(&p);
            read++;
        }
    assert_int_equal(read, 15 * 4 - 4 * 2);
}

SMP_TEST(media_says_what_the_file_is)
{
    static bytes file;
    compose(&file, PNG_COLOR_TYPE_PALETTE, 4, true, true);
    smp_error err = {0};
    smp_reader *reader;
    smp_read_options how = smp_read_defaults();
    assert_ok(smp_reader_open_memory(file.data, file.size, &how, &reader, &err));
    const smp_media *media = smp_reader_media(reader);
    assert_string_equal(media->file_format, "PNG");
    assert_int_equal(media->bits, 4);
    assert_non_null(strstr(media->detail, "palette"));
    assert_non_null(strstr(media->detail, "interlaced"));
    assert_int_equal(media->orientation, 1);
    smp_reader_close(reader);
}

/* ------------------------------------------------------------------------------------------ damage */

SMP_TEST(every_truncation_is_an_error)
{
    static bytes file;
    for (int interlaced = 0; interlaced < 2; interlaced++) {
        compose(&file, PNG_COLOR_TYPE_RGB, 8, interlaced, true);
        store(in_folder("t.png"), file.data, file.size);
        assert_truncations_fail(in_folder("t.png"), 1);
    }
}

/* Every byte of what makes the picture is covered by a CRC, so any change must be seen. */
SMP_TEST(every_changed_byte_is_an_error)
{
    static bytes file;
    for (int kind = 0; kind < 2; kind++) {
        compose(&file, kind ? PNG_COLOR_TYPE_PALETTE : PNG_COLOR_TYPE_GRAY, 8, false, kind);
        for (size_t i = 0; i < file.size; i++) {
            file.data[i] ^= 0x10;
            smp_error err = {0};
            picture p;
            smp_code code = read_memory(file.data, file.size, &p, &err);
            if (code != SMP_E_DECODE && code != SMP_E_LIMIT)
                fail_msg("byte %zu: code %d %s", i, code, err.message);
            file.data[i] ^= 0x10;
        }
    }
}

SMP_TEST(allocation_failures_are_clean)
{
    static bytes file;
    compose(&file, PNG_COLOR_TYPE_PALETTE, 8, true, true);
    store(in_folder("m.png"), file.data, file.size);
    assert_allocation_failures_are_clean(in_folder("m.png"));
}

SMP_TEST(allocation_failures_while_writing_leave_nothing)
{
    clear_folder();
    smp_error err = {0};
    picture p = make_picture(9, 9, 3, false, SMP_U8);
    smp_meta meta = {.srgb_intent = -1};
    assert_true(smp_meta_add_text(&meta, "Title", "x", 1));
    uint64_t live = smp_alloc_live();
    smp_write_options options = {0};
    for (uint64_t n = 1;; n++) {
        smp_alloc_fail_at(n);
        smp_code code = write_with(in_folder("w.png"), &p, &meta, &options, &err);
        smp_alloc_fail_at(0);
        assert_int_equal(smp_alloc_live(), live);
        if (code == SMP_OK)
            break;
        assert_int_equal(code, SMP_E_MEMORY);
        assert_int_equal(count_files(), 0);
        assert_true(n < 1000);
    }
    assert_int_equal(count_files(), 1);
    smp_meta_free(&meta);
    free_picture(&p);
}

/* ------------------------------------------------------------------------------------------ writing */

static smp_shape shape_for(const char *name, smp_shape shape, smp_code want)
{
    smp_error err = {0};
    smp_shape out;
    smp_code code = smp_writer_shape(name, &shape, &out, &err);
    if (code != want)
        fail_msg("%s: code %d: %s", name, code, err.message);
    if (code != SMP_OK) {
        assert_string_equal(err.where, name);
        assert_true(err.hint[0]);
    }
    return out;
}

SMP_TEST(shapes_are_what_the_file_can_hold)
{
    smp_shape rgba = {.kind = SMP_IMAGE, .width = 5, .height = 5, .channels = 4, .alpha = true, .format = SMP_F32};
    smp_shape out = shape_for("a.png", rgba, SMP_OK);
    assert_true(out.format == SMP_U16 && out.channels == 4 && out.alpha);
    smp_shape two = rgba;
    two.channels = 2;
    two.alpha = false;
    shape_for("a.png", two, SMP_E_WRITE);
    two.channels = 5;
    shape_for("a.PNG", two, SMP_E_WRITE);
    shape_for("a.xyz", rgba, SMP_E_WRITE);
    shape_for("png", rgba, SMP_E_WRITE);
    shape_for(".png", rgba, SMP_E_WRITE);
}

SMP_TEST(levels_change_the_size_and_not_the_picture)
{
    smp_error err = {0};
    picture p = make_picture(200, 100, 3, false, SMP_U8);
    size_t sizes[10];
    for (int level = 0; level <= 9; level++) {
        smp_write_options options = {0};
        options.output.force = true;
        smp_write_set(&options.values, &smp_png_level, level);
        assert_ok(write_with(in_folder("l.png"), &p, NULL, &options, &err));
        picture q;
        assert_ok(read_picture(in_folder("l.png"), &q, &err));
        assert_same_picture(&p, &q);
        free_picture(&q);
        free(load(in_folder("l.png"), &sizes[level]));
    }
    assert_true(sizes[9] < sizes[0]);
    free_picture(&p);
}

SMP_TEST(same_picture_gives_the_same_bytes)
{
    smp_error err = {0};
    picture p = make_picture(64, 48, 4, true, SMP_U16);
    assert_ok(write_picture(in_folder("1.png"), &p, &err));
    assert_ok(write_picture(in_folder("2.png"), &p, &err));
    size_t a, b;
    uint8_t *first = load(in_folder("1.png"), &a), *second = load(in_folder("2.png"), &b);
    assert_int_equal(a, b);
    assert_memory_equal(first, second, a);
    free(first);
    free(second);
    free_picture(&p);
}

/* igzip takes its own structure's address for data where nothing keeps it from that: one block in fifty differed. */
/* Blocks of rows are compressed beside the caller, from the caller's rows where they are whole. */
SMP_TEST(rows_are_the_callers_again_after_each_call)
{
    static const int64_t portions[] = {300, 1, 7, 57, 58, 59, 150};
    smp_error err = {0};
    for (int sample = 1; sample <= 2; sample++) {
        picture p = make_picture(3000 / sample, 300, 3, false, sample == 1 ? SMP_U8 : SMP_U16), q;
        uint8_t *first = NULL;
        size_t first_size = 0;
        for (int i = 0; i < 14; i++) {
            smp_write_options options = {0};
            options.output.force = true;
            options.threads = i % 2 ? 3 : 1;
            smp_writer *writer;
            assert_ok(smp_writer_open(in_folder("portions.png"), &p.shape, NULL, &options, &writer, &err));
            for (int64_t y = 0, n; y < p.shape.height; y += n) {
                n = p.shape.height - y < portions[i / 2] ? p.shape.height - y : portions[i / 2];
                const size_t taken = (size_t)n * p.row;
                uint8_t *rows = malloc(taken);
                assert_non_null(rows);
                memcpy(rows, p.data + (size_t)y * p.row, taken);
                assert_ok(smp_writer_rows(writer, rows, (int64_t)p.row, n, &err));
                memset(rows, 0xA5, taken);
                free(rows);
            }
            assert_ok(smp_writer_commit(writer, &err));
            size_t size;
            uint8_t *file = load(in_folder("portions.png"), &size);
            if (!first) {
                assert_ok(read_picture(in_folder("portions.png"), &q, &err));
                assert_same_picture(&p, &q);
                free_picture(&q);
                first = file;
                first_size = size;
                continue;
            }
            assert_int_equal(size, first_size);
            assert_memory_equal(file, first, size);
            free(file);
        }
        free(first);
        free_picture(&p);
    }
}

SMP_TEST(bytes_do_not_depend_on_where_memory_lies)
{
    enum { TRIES = 40, AWAY = 700 << 10 /* bytes */ };
    smp_error err = {0};
    void *between[TRIES];
    size_t size, again;
    uint8_t *first = NULL;
    picture p = new_picture(700, 905, 3, false, SMP_U8);
    for (int64_t y = 0; y < 905; y++)
        for (int64_t x = 0; x < 2100; x++)
            ((uint8_t *)p.data)[y * 2100 + x] = (uint8_t)(y * 5 + x / 3 * 11 + x % 3 * 40);
    for (int i = 0; i < TRIES; i++) {
        between[i] = smp_alloc_raw(AWAY + (size_t)i * 4096);
        assert_ok(write_picture(in_folder("1.png"), &p, &err));
        uint8_t *now = load(in_folder("1.png"), &again);
        if (!first) {
            first = now;
            size = again;
            continue;
        }
        assert_int_equal(again, size);
        assert_memory_equal(now, first, size);
        free(now);
    }
    for (int i = 0; i < TRIES; i++)
        smp_free(between[i]);
    free(first);
    free_picture(&p);
}

SMP_TESTS_AROUND(make_folder, remove_folder)
