/* Chunks of PNGs: wrong, unknown, misplaced and giant ones, of which none may cost the picture or memory. */
#include "suite.h"

#include "media_fixture.h"

#include <zlib.h>

static size_t put_header(uint8_t *at, uint32_t width, uint32_t height, uint8_t depth, uint8_t colour)
{
    uint8_t ihdr[13] = {0};
    memcpy(at, "\x89PNG\r\n\x1A\n", 8);
    put32(ihdr, width);
    put32(ihdr + 4, height);
    ihdr[8] = depth;
    ihdr[9] = colour;
    return 8 + put_chunk(at + 8, "IHDR", ihdr, 13);
}

SMP_TEST(wrong_metadata_does_not_lose_the_picture)
{
    static const struct {
        const char *type;
        uint8_t data[32];
        size_t size;
        bool noted; /* with a right CRC */
    } chunks[] = {
        {"cHRM", {1, 2, 3}, 32, true},
        {"iCCP", {'a', 0, 0, 1, 2, 3}, 6, true},
        {"tEXt", {0, 'x'}, 2, false},
        {"gAMA", {0}, 4, true},
        {"pHYs", {0}, 3, true},
        {"sRGB", {9}, 1, true},
        {"eXIf", {'x', 'y', 'z'}, 3, true},
        {"zTXt", {'k', 0, 7, 1}, 4, true},
        {"sBIT", {99}, 1, true},
    };
    for (size_t i = 0; i < sizeof chunks / sizeof chunks[0]; i++)
        for (int wrong_crc = 0; wrong_crc < 2; wrong_crc++) {
            uint8_t file[256];
            size_t n = put_header(file, 1, 1, 8, 0);
            n += put_chunk(file + n, chunks[i].type, chunks[i].data, chunks[i].size);
            file[n - 1] ^= (uint8_t)wrong_crc;
            n += put_chunk(file + n, "IDAT", "x\x9c\x63\x68\0\0\0\x82\0\x81", 10);
            n += put_chunk(file + n, "IEND", "", 0);
            picture p;
            char notes[600];
            read_with_notes(file, n, &p, notes, sizeof notes);
            if (wrong_crc || chunks[i].noted)
                assert_non_null(strstr(notes, chunks[i].type[0] == 'i' && !wrong_crc ? "ICC profile" : chunks[i].type));
            if (wrong_crc)
                assert_non_null(strstr(notes, "CRC is wrong"));
            assert_int_equal(p.data[0], 0x80);
            free_picture(&p);
        }
    smp_error err = {0};
    picture p; /* its profile is one that libpng knows to be wrong */
    assert_ok(read_picture(SMP_SOURCE_DIR "/samples/chelsea.png", &p, &err));
    free_picture(&p);
}

/* A wrong CRC may hide a chunk of the picture whose type was hit. */
SMP_TEST(a_wrong_crc_of_an_unknown_chunk_or_of_the_picture_is_an_error)
{
    static const char *const types[] = {"dRNS", "abCd", "tRNS"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        uint8_t file[256];
        size_t n = put_header(file, 1, 1, 8, 0);
        n += put_chunk(file + n, types[i], "\0\1", 2);
        file[n - 1] ^= 1;
        n += put_chunk(file + n, "IDAT", "x\x9c\x63\x68\0\0\0\x82\0\x81", 10);
        n += put_chunk(file + n, "IEND", "", 0);
        smp_error err = {0};
        picture p;
        assert_int_equal(read_memory(file, n, &p, &err), SMP_E_DECODE);
        assert_non_null(strstr(err.message, "CRC"));
    }
}

/* A profile as long as libpng's header asks for, its length changed. */
SMP_TEST(an_icc_profile_of_any_length_field_loses_nothing_but_itself)
{
    static const uint32_t lengths[] = {0, 1, 131, 132, 133, 200, 201, 1 << 20, 1 << 25, 0x7FFFFFFF, 0xFFFFFFFF};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        uint8_t file[1024], icc[200] = {0}, chunk[600] = "icc";
        uLongf packed = sizeof chunk - 5;
        put32(icc, lengths[i]);
        memcpy(icc + 16, "GRAYXYZ ", 8);
        memcpy(icc + 36, "acsp", 4);
        assert_int_equal(compress(chunk + 5, &packed, icc, sizeof icc), Z_OK);
        size_t n = put_header(file, 1, 1, 8, 0);
        n += put_chunk(file + n, "iCCP", chunk, 5 + packed);
        n += put_chunk(file + n, "IDAT", "x\x9c\x63\x68\0\0\0\x82\0\x81", 10);
        n += put_chunk(file + n, "IEND", "", 0);
        picture p;
        char notes[600];
        read_with_notes(file, n, &p, notes, sizeof notes);
        if (!strstr(notes, "the ICC profile is invalid and is left out"))
            fail_msg("length %u: %s", lengths[i], notes);
        assert_int_equal(p.data[0], 0x80);
        free_picture(&p);
    }
}

SMP_TEST(the_first_of_several_pictures_is_read_with_a_note)
{
    uint8_t file[512];
    size_t n = put_header(file, 1, 1, 8, 0);
    n += put_chunk(file + n, "acTL", "\0\0\0\7\0\0\0\0", 8);
    n += put_chunk(file + n, "IDAT", "x\x9c\x63\x68\0\0\0\x82\0\x81", 10);
    n += put_chunk(file + n, "IEND", "", 0);
    memcpy(file + n, file, n);
    for (int twice = 0; twice < 2; twice++) {
        picture p;
        char notes[600];
        read_with_notes(file, twice ? 2 * n : n, &p, notes, sizeof notes);
        assert_int_equal(p.data[0], 0x80);
        assert_non_null(strstr(notes, "an animation of 7 pictures"));
        assert_int_equal(strstr(notes, "another PNG follows;") != NULL, twice);
        free_picture(&p);
    }
}

SMP_TEST(giant_headers_are_refused_before_allocation)
{
    static const struct {
        uint32_t width, height;
        uint8_t depth, colour;
        smp_code code;
    } cases[] = {
        {0x7FFFFFFF, 0x7FFFFFFF, 8, 2, SMP_E_LIMIT},
        {100000, 100000, 8, 2, SMP_E_LIMIT},
        {30000, 30000, 1, 0, SMP_E_DECODE},
        {0x7FFFFFFF, 1, 16, 6, SMP_E_LIMIT},
        {0, 5, 8, 2, SMP_E_DECODE},
        {0x80000000, 5, 8, 2, SMP_E_DECODE},
        {1000000000, 1, 8, 2, SMP_E_DECODE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t file[256];
        smp_error err = {0};
        picture p;
        size_t n = put_header(file, cases[i].width, cases[i].height, cases[i].depth, cases[i].colour);
        n += put_chunk(file + n, "IDAT", "x\x9c\x03\0\0\0\0\1", 8);
        n += put_chunk(file + n, "IEND", "", 0);
        uint64_t before = smp_alloc_peak();
        smp_code code = read_memory(file, n, &p, &err);
        if (code != cases[i].code)
            fail_msg("case %zu: code %d: %s", i, code, err.message);
        if (code == SMP_E_LIMIT)
            assert_non_null(strstr(err.hint, "--max-"));
        assert_true(smp_alloc_peak() < before + (1 << 20));
    }
}

/* A compressed chunk of some bytes that unpacks to 64 MiB. */
SMP_TEST(compressed_chunks_cannot_take_more_than_their_cap)
{
    enum { UNPACKED = 64 << 20 };
    static const char *const types[] = {"zTXt", "iTXt", "iCCP"};
    static const struct {
        const char *text;
        size_t size;
    } heads[] = {{"key\0\0", 5}, {"key\0\1\0\0\0", 8}, {"icc\0\0", 5}};
    uint8_t *plain = calloc(1, UNPACKED), *file = malloc(1 << 20), *chunk = malloc(1 << 20);
    assert_true(plain && file && chunk);
    for (int i = 0; i < 3; i++) {
        uLongf packed = (1 << 20) - 64;
        memcpy(chunk, heads[i].text, heads[i].size);
        assert_int_equal(compress2(chunk + heads[i].size, &packed, plain, UNPACKED, 9), Z_OK);
        size_t n = put_header(file, 1, 1, 8, 0);
        n += put_chunk(file + n, types[i], chunk, heads[i].size + packed);
        n += put_chunk(file + n, "IDAT", "x\x9c\x63\0\0\0\2\0\1", 10);
        n += put_chunk(file + n, "IEND", "", 0);
        smp_error err = {0};
        picture p;
        smp_code code = read_memory(file, n, &p, &err);
        if (code != SMP_E_DECODE && code != SMP_E_LIMIT)
            fail_msg("%s: code %d: %s", types[i], code, err.message);
        assert_true(smp_alloc_peak() < UNPACKED);
    }
    free(plain);
    free(file);
    free(chunk);
}

SMP_TEST(long_lengths_in_short_files_take_no_memory)
{
    static const char *const types[] = {"iCCP", "tEXt", "eXIf", "sPLT", "PLTE", "IDAT", "hIST", "xxXx"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        uint8_t file[64] = {0};
        size_t n = put_header(file, 1, 1, 8, 0);
        put32(file + n, 0x3FFFFFFF);
        memcpy(file + n + 4, types[i], 4);
        uint64_t before = smp_alloc_peak();
        smp_error err = {0};
        picture p;
        smp_code code = read_memory(file, 57, &p, &err);
        assert_true(code == SMP_E_DECODE || code == SMP_E_LIMIT);
        assert_true(smp_alloc_peak() < before + (1 << 20));
    }
}

/* An animation of two pictures of a gray pixel; extra: chunks in front of them. */
static size_t put_animation(uint8_t *at, const uint8_t *extra, size_t size)
{
    uint8_t control[26] = {[7] = 1, [11] = 1, [21] = 1, [23] = 10}, data[14] = {[3] = 2};
    size_t n = put_header(at, 1, 1, 8, 0);
    n += put_chunk(at + n, "acTL", "\0\0\0\2\0\0\0\0", 8);
    memcpy(at + n, extra, size);
    n += size;
    n += put_chunk(at + n, "fcTL", control, 26);
    n += put_chunk(at + n, "IDAT", "x\x9c\x63\x68\0\0\0\x82\0\x81", 10);
    control[3] = 1;
    memcpy(data + 4, "x\x9c\x63\x68\0\0\0\x82\0\x81", 10);
    n += put_chunk(at + n, "fcTL", control, 26);
    n += put_chunk(at + n, "fdAT", data, 14);
    return n + put_chunk(at + n, "IEND", "", 0);
}

SMP_TEST(an_animation_has_room_for_a_palette_and_its_transparency_alone)
{
    static const size_t sizes[] = {768, 759, 768};
    static const uint8_t zeros[768];
    uint8_t extra[3000], file[4000];
    size_t n = 0;
    for (int i = 0; i < 3; i++)
        n += put_chunk(extra + n, "tRNS", zeros, sizes[i]);
    n = put_animation(file, extra, n);
    smp_error err = {0};
    smp_reader *reader;
    smp_read_options how = smp_read_defaults();
    picture p;
    how.frames = how.no_verify = true;
    assert_ok(smp_reader_open_memory(file, n, &how, &reader, &err));
    assert_ok(read_rest(reader, &p, &err));
    assert_int_equal(p.data[0], 0x80);
    free_picture(&p);
    smp_reader_close(reader);
}

/* The second picture grows by what stood behind it, after the file was walked. */
SMP_TEST(a_picture_of_an_animation_that_grows_while_it_is_read_is_an_error)
{
    uint8_t file[4000], behind[2000] = {0};
    size_t n = put_animation(file, behind, 0) - 12;
    const size_t data = n - 12 - 14;
    n += put_chunk(file + n, "abCd", behind, sizeof behind);
    n += put_chunk(file + n, "IEND", "", 0);
    smp_error err = {0};
    smp_reader *reader;
    smp_read_options how = smp_read_defaults();
    picture p;
    bool more = false;
    how.frames = how.no_verify = true;
    assert_ok(smp_reader_open_memory(file, n, &how, &reader, &err));
    assert_ok(read_rest(reader, &p, &err));
    free_picture(&p);
    put32(file + data, 14 + 12 + sizeof behind);
    assert_ok(smp_reader_next(reader, &more, &err));
    assert_true(more);
    assert_int_equal(read_rest(reader, &p, &err), SMP_E_READ);
    assert_non_null(strstr(err.message, "was changed while it was read"));
    smp_reader_close(reader);
}

SMP_TESTS_AROUND(make_folder, remove_folder)
