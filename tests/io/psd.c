/* PSDs made by hand: every mode, depth and coding that is read, and what makes a channel alpha. */
#include "suite.h"

#include "media_fixture.h"

typedef struct psd_file {
    uint8_t bytes[1200];
    size_t size;
} psd_file;

static void put(psd_file *file, uint32_t value, int bytes)
{
    while (bytes-- > 0)
        file->bytes[file->size++] = (uint8_t)(value >> 8 * bytes);
}

static void put_bytes(psd_file *file, const void *bytes, size_t size)
{
    memcpy(file->bytes + file->size, bytes, size);
    file->size += size;
}

static bool large; /* a PSB: longer numbers */

/* layers: the section of layers, of `size` bytes, which may be null. The picture has two pixels. */
static psd_file begin_psd(uint32_t channels, uint32_t bits, uint32_t mode, const void *layers, size_t size,
                          uint32_t coding)
{
    psd_file file = {0};
    put_bytes(&file, "8BPS\0\1\0\0\0\0\0\0", 12);
    put(&file, channels, 2);
    put(&file, 1, 4);
    put(&file, 2, 4);
    put(&file, bits, 2);
    put(&file, mode, 2);
    put(&file, mode == 2 ? 768 : 0, 4);
    for (uint32_t i = 0; mode == 2 && i < 768; i++)
        put(&file, i / 256 * 50 + i % 256, 1);
    put(&file, 0, 4);
    file.bytes[5] = large ? 2 : 1;
    put(&file, 0, large ? 4 : 0);
    put(&file, (uint32_t)size, 4);
    put_bytes(&file, layers, size);
    put(&file, coding, 2);
    return file;
}

static void expect_psd(psd_file file, const void *samples, const void *want, size_t bytes, size_t wanted,
                       smp_format format)
{
    put_bytes(&file, samples, bytes);
    expect_bytes((const char *)file.bytes, file.size, want, wanted, format);
    for (size_t n = 0; n < file.size; n++) {
        smp_error err = {0};
        picture p;
        uint8_t *exact = malloc(n ? n : 1); /* of this size, so that reading past it is seen */
        assert_non_null(exact);
        memcpy(exact, file.bytes, n);
        assert_int_equal(read_memory(exact, n, &p, &err), SMP_E_DECODE);
        free(exact);
    }
}

SMP_TEST(psd_gives_its_merged_picture_in_every_mode)
{
    enum { BITMAP, GRAY, INDEXED, RGB, CMYK, DUOTONE = 8 };
    expect_psd(begin_psd(3, 8, RGB, "", 0, 0), "abcdef", "acebdf", 6, 6, SMP_U8);
    expect_psd(begin_psd(1, 8, GRAY, "", 0, 0), "ab", "ab", 2, 2, SMP_U8);
    expect_psd(begin_psd(1, 8, DUOTONE, "", 0, 0), "ab", "ab", 2, 2, SMP_U8);
    expect_psd(begin_psd(1, 8, INDEXED, "", 0, 0), "\1\2", "\1\63\145\2\64\146", 2, 6, SMP_U8);
    expect_psd(begin_psd(1, 1, BITMAP, "", 0, 0), "\x40", "\377\0", 1, 2, SMP_U8);
    /* Stored as 255 - ink: no ink but half black, then red. */
    expect_psd(begin_psd(4, 8, CMYK, "", 0, 0), "\377\377\377\0\377\0\200\377", "\200\200\200\377\0\0", 8, 6, SMP_U8);
    const uint16_t deep[] = {0x0102, 0x0506, 0x090A, 0x0304, 0x0708, 0x0B0C};
    expect_psd(begin_psd(3, 16, RGB, "", 0, 0), "\1\2\3\4\5\6\7\10\11\12\13\14", deep, 12, 12, SMP_U16);
    expect_psd(begin_psd(1, 32, GRAY, "", 0, 0), "\x3F\x80\0\0\x40\0\0\0", (const float[]){1, 2}, 8, 8, SMP_F32);
}

/* Rows of every width up to more than two vectors. */
SMP_TEST(psd_planes_of_any_width_become_pixels)
{
    for (uint8_t width = 1; width <= 40; width++) {
        psd_file file = begin_psd(3, 8, 3, "", 0, 0);
        file.bytes[21] = width;
        uint8_t want[3 * 40];
        for (int c = 0; c < 3; c++)
            for (int x = 0; x < width; x++) {
                want[3 * x + c] = (uint8_t)(80 * c + x);
                put(&file, want[3 * x + c], 1);
            }
        expect_bytes((const char *)file.bytes, file.size, want, 3u * width, SMP_U8);
    }
}

SMP_TEST(psd_runs_are_decoded)
{
    /* Sizes of the rows, then the rows: a run, plain, and a byte of no meaning before plain. */
    expect_psd(begin_psd(3, 8, 3, "", 0, 1), "\0\2\0\3\0\4\377a\1bc\200\1de", "abdace", 15, 6, SMP_U8);
    const uint16_t deep[] = {0x0101, 0x0304};
    expect_psd(begin_psd(1, 16, 1, "", 0, 1), "\0\5\377\1\1\3\4", deep, 7, 4, SMP_U16);
    static const char *const damaged[] = {"\0\2\0a", "\0\2\2a", "\0\1\377"};
    for (size_t i = 0; i < 3; i++) {
        psd_file file = begin_psd(1, 8, 1, "", 0, 1);
        put_bytes(&file, damaged[i], 4);
        smp_error err = {0};
        picture p;
        assert_int_equal(read_memory(file.bytes, file.size, &p, &err), SMP_E_DECODE);
    }
}

SMP_TEST(psd_oddities_of_other_writers_are_noted)
{
    static const struct {
        const char *samples, *want, *note;
        uint32_t channels, coding;
    } cases[] = {{"\0\2\376a", "aa", "longer than the rows", 1, 1},
                 {"\0\4\2abc", "ab", "longer than the rows", 1, 1},
                 {"\310a\310a\144a\200\377", "\221\221\0\200aaa\377", "not blended with white", 4, 0},
                 {"\310a\310a\200a\200\377", "\221\221\2\200aaa\377", "", 4, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const bool alpha = cases[i].channels > 1;
        psd_file file =
            begin_psd(cases[i].channels, 8, alpha ? 3 : 1, "\0\0\0\2\377\377\0\0\0\0", alpha ? 10 : 0, cases[i].coding);
        put_bytes(&file, cases[i].samples, alpha ? 8 : i ? 6 : 4);
        char notes[300];
        picture p;
        read_with_notes(file.bytes, file.size, &p, notes, sizeof notes);
        assert_memory_equal(p.data, cases[i].want, 2 * cases[i].channels);
        assert_true(cases[i].note[0] ? strstr(notes, cases[i].note) != NULL : !notes[0]);
        free_picture(&p);
    }
}

SMP_TEST(psb_is_a_psd_of_longer_numbers)
{
    large = true;
    expect_psd(begin_psd(3, 8, 3, "", 0, 0), "abcdef", "acebdf", 6, 6, SMP_U8);
    expect_psd(begin_psd(3, 8, 3, "", 0, 1), "\0\0\0\2\0\0\0\3\0\0\0\4\377a\1bc\200\1de", "abdace", 21, 6, SMP_U8);
    static const char negative[] = "\0\0\0\0\0\0\0\2\377\377\0\0\0\0", block[] = "\0\0\0\0\0\0\0\0\0\0\0\0"
                                                                                 "8B64FXid\0\0\0\0\0\0\0\2xx"
                                                                                 "8B64Lr16\0\0\0\0\0\0\0\4\377\376\0\0";
    expect_psd(begin_psd(2, 8, 1, negative, sizeof negative - 1, 0), "ab\7\10", "a\7b\10", 4, 4, SMP_U8);
    expect_psd(begin_psd(2, 8, 1, block, sizeof block - 1, 0), "ab\7\10", "a\7b\10", 4, 4, SMP_U8);
    large = false;
}

SMP_TEST(psd_runs_of_more_than_a_row_are_damage)
{
    psd_file file = begin_psd(1, 8, 1, "", 0, 1);
    put_bytes(&file, "\0\4\201a\201a", 6);
    expect_error(file.bytes, file.size, SMP_E_DECODE, "another length than the row");
}

/* A channel behind the colours is a selection that was saved, unless the count of layers is negative or a block says
 * that the picture's transparency was merged. */
SMP_TEST(psd_alpha_is_what_the_file_says)
{
    static const char opaque[] = "abcdef\377\377", both[] = "ace\377bdf\377";
    expect_psd(begin_psd(4, 8, 3, "", 0, 0), opaque, "acebdf", 8, 6, SMP_U8);
    expect_psd(begin_psd(4, 8, 3, "\0\0\0\2\0\1\0\0\0\0", 10, 0), opaque, "acebdf", 8, 6, SMP_U8);
    expect_psd(begin_psd(4, 8, 3, "\0\0\0\2\377\377\0\0\0\0", 10, 0), opaque, both, 8, 8, SMP_U8);
    expect_psd(begin_psd(4, 8, 3,
                         FILE_OF("\0\0\0\0\0\0\0\0"
                                 "8BIMPatt\0\0\0\2xx\0\0"
                                 "8BIMMt16\0\0\0\0"),
                         0),
               opaque, both, 8, 8, SMP_U8);
    expect_psd(begin_psd(4, 8, 3,
                         FILE_OF("\0\0\0\0\0\0\0\0"
                                 "8BIMLr16\0\0\0\4\377\376\0\0"),
                         0),
               opaque, both, 8, 8, SMP_U8);
    expect_psd(begin_psd(4, 8, 3,
                         FILE_OF("\0\0\0\0\0\0\0\0"
                                 "8BIMLr16\0\0\0\4\0\2\0\0"),
                         0),
               opaque, "acebdf", 8, 6, SMP_U8);
    expect_psd(begin_psd(2, 8, 1, "\0\0\0\2\377\377\0\0\0\0", 10, 0), "ab\7\10", "a\7b\10", 4, 4, SMP_U8);
    /* Photoshop mixed the colours with white: 228 is 201 of alpha 1/2, 100 cannot come from it. */
    expect_psd(begin_psd(4, 8, 3, "\0\0\0\2\377\377\0\0\0\0", 10, 0), "\344\344\144\144\377\377\200\0",
               "\311\0\377\200\344\144\377\0", 8, 8, SMP_U8);
}

SMP_TEST(psd_modes_that_are_not_read_are_named)
{
    static const struct {
        uint32_t channels, bits, mode, coding;
        const char *says;
    } cases[] = {{3, 8, 9, 0, "Lab"},
                 {4, 8, 7, 0, "multichannel"},
                 {3, 8, 5, 0, "unknown"},
                 {3, 1, 3, 0, "1 bits"},
                 {1, 16, 2, 0, "indexed"},
                 {2, 8, 3, 0, "2 channels"},
                 {3, 8, 3, 2, "unsupported compression"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        psd_file file = begin_psd(cases[i].channels, cases[i].bits, cases[i].mode, "", 0, cases[i].coding);
        put_bytes(&file, "0123456789", 10);
        expect_error(file.bytes, file.size, SMP_E_DECODE, cases[i].says);
    }
}
