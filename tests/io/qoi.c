/* QOI: each operation of the format, what is written, damage. */
#include "suite.h"

#include "media_fixture.h"

#define HEAD(width, channels) "qoif\0\0\0" width "\0\0\0\1" channels "\0"
#define END                   "\0\0\0\0\0\0\0\1"

SMP_TEST(every_operation_is_read)
{
    /* RGB 10 20 30; diff -1 +1 -2; luma +5, +4 and -3 of it; index of the first; a run of 2; RGBA is not needed */
    static const char file[] = HEAD("\6", "\3") "\xFE\x0A\x14\x1E"
                                                "\x5C"
                                                "\xA5\xC5"
                                                "\x09"
                                                "\xC1" END;
    static const uint8_t want[] = {10, 20, 30, 9, 21, 28, 18, 26, 30, 10, 20, 30, 10, 20, 30, 10, 20, 30};
    expect_bytes(file, sizeof file - 1, want, sizeof want, SMP_U8);
    static const char alpha[] = HEAD("\3", "\4") "\xFF\1\2\3\4"
                                                 "\xC0"
                                                 "\xFE\7\7\7" END;
    expect_bytes(alpha, sizeof alpha - 1, "\1\2\3\4\1\2\3\4\7\7\7\4", 12, SMP_U8);
    static const char black[] = HEAD("\2", "\3") "\xC1" END; /* the first pixel is like black */
    expect_bytes(black, sizeof black - 1, "\0\0\0\0\0\0", 6, SMP_U8);
}

SMP_TEST(samples_come_back)
{
    for (int channels = 1; channels <= 4; channels++)
        for (int kind = 0; kind < 3; kind++) {
            smp_error err = {0};
            const bool alpha = channels == 2 || channels == 4;
            picture back, p = make_picture(101, 77, channels, alpha, SMP_U8);
            uint32_t seed = 5;
            for (size_t i = 0; kind && i < p.size; i++) {
                seed = seed * 1664525u + 1013904223u;
                p.data[i] = kind == 1 ? 7 : (uint8_t)(seed >> 30); /* one run; few colours */
            }
            assert_ok(write_picture(in_folder("q.qoi"), &p, &err));
            assert_ok(read_picture(in_folder("q.qoi"), &back, &err));
            assert_int_equal(back.shape.channels, alpha ? 4 : 3);
            for (size_t i = 0; i < 101 * 77; i++)
                for (int c = 0; c < back.shape.channels; c++)
                    assert_int_equal(back.data[i * (size_t)back.shape.channels + (size_t)c], sample_as_rgb(&p, i, c));
            if (kind == 1) { /* a pixel, and runs of 62 */
                size_t size;
                free(load(in_folder("q.qoi"), &size));
                assert_true(size < 14 + 8 + 101 * 77 / 62 + 10);
            }
            free_picture(&back);
            free_picture(&p);
            unlink(in_folder("q.qoi"));
        }
}

SMP_TEST(damage_is_an_error)
{
    smp_error err = {0};
    picture p = make_picture(9, 7, 3, false, SMP_U8), back;
    assert_ok(write_picture(in_folder("t.qoi"), &p, &err));
    assert_truncations_fail(in_folder("t.qoi"), 1);
    free_picture(&p);
    static const char longer[] = HEAD("\2", "\3") "\xC2" END; /* a run past the last pixel */
    assert_int_equal(read_memory(longer, sizeof longer - 1, &back, &err), SMP_E_DECODE);
    static const char large[] = "qoif\0\1\0\0\0\1\0\0\4\0\xC0" END; /* 65536 x 65536 in 23 bytes */
    assert_int_equal(read_memory(large, sizeof large - 1, &back, &err), SMP_E_LIMIT);
    static const char wide[] = "qoif\0\0\1\0\0\0\1\0\4\0\xC0" END;
    assert_int_equal(read_memory(wide, sizeof wide - 1, &back, &err), SMP_E_DECODE);
    assert_non_null(strstr(err.message, "truncated"));
}

SMP_TEST(allocation_failures_are_clean)
{
    smp_error err = {0};
    picture p = make_picture(9, 7, 3, false, SMP_U8);
    assert_ok(write_picture(in_folder("a.qoi"), &p, &err));
    assert_allocation_failures_are_clean(in_folder("a.qoi"));
    free_picture(&p);
}

SMP_TESTS_AROUND(make_folder, remove_folder)
