/* Sound in and out: every kind of sample comes back, our own rounding, tags and speakers, pipes, damaged and hostile
 * headers, and the same bytes every time. */
#include "suite.h"

#include "sound_fixture.h"

#include <math.h>

#include "io/audio/sound.h"

static const char *const files[] = {"a.wav", "a.aiff", "a.w64", "a.caf",
#ifdef SMP_TEST_SNDFILE
                                    "a.flac"
#endif
};
enum { FILES = sizeof files / sizeof files[0] };

SMP_TEST(every_kind_and_channel_count_comes_back)
{
    static const int types[] = {SMP_SOUND_U8,  SMP_SOUND_S8,  SMP_SOUND_S16, SMP_SOUND_S24,
                                SMP_SOUND_S32, SMP_SOUND_F32, SMP_SOUND_F64};
    smp_error err = {0};
    for (int f = 0; f < FILES; f++)
        for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
            for (int channels = 1; channels <= SMP_MAX_CHANNELS; channels++) {
                picture p = make_sound(1237, channels, 44100), q;
                assert_ok(write_sound(files[f], &p, types[t], NULL, false, &err));
                assert_ok(read_picture(in_folder(files[f]), &q, &err));
                assert_same_picture(&p, &q);
                assert_int_equal(q.shape.kind, SMP_AUDIO);
                assert_true(q.shape.rate == 44100);
                free_picture(&p);
                free_picture(&q);
            }
}

SMP_TEST(kind_of_sample_is_kept_even_without_metadata)
{
    smp_error err = {0};
    smp_reader *reader;
    picture p = make_sound(100, 2, 48000);
    for (int strip = 0; strip < 2; strip++)
        for (int f = 0; f < FILES; f++) {
            assert_ok(write_sound(files[f], &p, SMP_SOUND_S24, NULL, strip, &err));
            smp_media *media = open_media(files[f], &reader);
            assert_int_equal(media->bits, 24);
            assert_int_equal(media->meta.coding.sound.type, SMP_SOUND_S24);
            smp_reader_close(reader);
        }
    assert_ok(write_sound("a.wav", &p, SMP_SOUND_F32, NULL, true, &err));
    smp_media *media = open_media("a.wav", &reader);
    assert_int_equal(media->meta.coding.sound.type, SMP_SOUND_F32);
    smp_reader_close(reader);
    free_picture(&p);
}

/* To nearest, ties to even, clamped; what is beyond full scale by more than half a code is counted; NaN is 0. */
SMP_TEST(rounding_is_to_nearest_and_clipping_is_counted)
{
    static const struct {
        float v;
        int32_t code;
        int clips;
    } cases[] = {
        {0.f, 0, 0},
        {0.5f / 32768, 0, 0},
        {1.5f / 32768, 2, 0},
        {-0.5f / 32768, 0, 0},
        {-1.5f / 32768, -2, 0},
        {32767.f / 32768, 32767, 0},
        {32767.25f / 32768, 32767, 0},
        {1.f, 32767, 0},
        {-1.f, -32768, 0},
        {-1.25f, -32768, 1},
        {INFINITY, 32767, 1},
        {-INFINITY, -32768, 1},
        {NAN, 0, 1},
        {32768.5f / 32768, 32767, 0},
        {32769.f / 32768, 32767, 1},
        {-32769.f / 32768, -32768, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t clipped = 0;
        assert_int_equal(smp_sound_round(cases[i].v, 16, &clipped), cases[i].code);
        assert_int_equal(clipped, cases[i].clips);
    }
    uint64_t clipped = 0;
    assert_int_equal(smp_sound_round(1.f, 32, &clipped), INT32_MAX);
    assert_int_equal(smp_sound_round(nextafterf(1.f, 2.f), 32, &clipped), INT32_MAX); /* a product's rounding */
    assert_int_equal(smp_sound_round(-1.f, 32, &clipped), INT32_MIN);
    assert_int_equal(clipped, 0);
    assert_int_equal(smp_sound_round(1.001f, 32, &clipped), INT32_MAX);
    assert_int_equal(clipped, 1);
}

SMP_TEST(writers_count_what_they_clip)
{
    for (int f = 0; f < FILES; f++) {
        smp_error err = {0};
        picture p = make_sound(50, 2, 48000);
        ((float *)(void *)p.data)[3] = 2.f;
        ((float *)(void *)p.data)[9] = NAN;
        smp_meta meta = {.coding = {.kind = SMP_CODING_SOUND, .sound = {.type = SMP_SOUND_S16}}};
        smp_write_options options = {0};
        options.output.force = true;
        smp_writer *writer;
        assert_ok(smp_writer_open(in_folder(files[f]), &p.shape, &meta, &options, &writer, &err));
        assert_ok(smp_writer_rows(writer, p.data, (int64_t)p.row, 50, &err));
        assert_int_equal(smp_writer_clipped(writer), 2);
        assert_ok(smp_writer_commit(writer, &err));
        free_picture(&p);
    }
}

#ifdef SMP_TEST_SNDFILE
/* Vorbis codes blocks of samples together: one NaN would leave all of its block silent. */
SMP_TEST(samples_that_are_not_finite_silence_no_others_in_an_ogg)
{
    enum { FRAMES = 8000, NOT_FINITE = 3 };
    static const int at[NOT_FINITE] = {2000, 4000, 6000};
    static const float values[NOT_FINITE] = {NAN, INFINITY, -INFINITY};
    smp_error err = {0};
    picture p = make_sound(FRAMES, 1, 44100), q;
    float *samples = (float *)(void *)p.data;
    for (int i = 0; i < FRAMES; i++)
        samples[i] = 0.5f * sinf((float)i * 0.1f);
    for (int i = 0; i < NOT_FINITE; i++)
        samples[at[i]] = values[i];
    smp_writer *writer;
    smp_write_options options = {0};
    options.output.force = true;
    assert_ok(smp_writer_open(in_folder("n.ogg"), &p.shape, NULL, &options, &writer, &err));
    assert_ok(smp_writer_rows(writer, p.data, (int64_t)p.row, FRAMES, &err));
    assert_int_equal(smp_writer_clipped(writer), NOT_FINITE);
    assert_ok(smp_writer_commit(writer, &err));
    assert_ok(read_picture(in_folder("n.ogg"), &q, &err));
    const float *back = (const float *)(const void *)q.data;
    for (int i = 0; i < NOT_FINITE; i++)
        for (int part = at[i] - 320; part < at[i] + 320; part += 64) { /* 64 frames are about a period */
            double power = 0;
            for (int k = 0; k < 64; k++)
                power += (double)back[part + k] * (double)back[part + k] / 64;
            assert_true(power > 0.06);
        }
    free_picture(&p);
    free_picture(&q);
}
#endif

SMP_TEST(tags_are_kept)
{
    static const char *const names[] = {"t.wav", "t.aiff", "t.caf",
#ifdef SMP_TEST_SNDFILE
                                        "t.flac", "t.ogg"
#endif
    };
    smp_error err = {0};
    picture p = make_sound(4000, 1, 44100);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        smp_meta meta = {.srgb_intent = -1};
        assert_true(smp_meta_add_text(&meta, "Title", "Odd", 3));
        assert_true(smp_meta_add_text(&meta, "Artist", "Caf\xC3\xA9", 5));
        assert_ok(write_sound(names[i], &p, SMP_SOUND_S16, &meta, false, &err));
        smp_reader *reader;
        smp_media *media = open_media(names[i], &reader);
        int seen = 0;
        for (size_t k = 0; k < media->meta.text_count; k++) {
            const struct smp_text *text = &media->meta.texts[k];
            seen += !strcmp(text->key, "Title") && !strcmp(text->value, "Odd");
            seen += !strcmp(text->key, "Artist") && !strcmp(text->value, "Caf\xC3\xA9");
        }
        assert_int_equal(seen, 2);
        smp_reader_close(reader);
        assert_ok(write_sound(names[i], &p, SMP_SOUND_S16, &meta, true, &err));
        media = open_media(names[i], &reader);
        assert_int_equal(media->meta.text_count, 0);
        smp_reader_close(reader);
        smp_meta_free(&meta);
    }
    free_picture(&p);
}

SMP_TEST(speakers_and_rf64_are_kept)
{
    smp_error err = {0};
    picture p = make_sound(33, 4, 48000), q;
    smp_meta meta = {.srgb_intent = -1,
                     .coding = {.kind = SMP_CODING_SOUND, .sound = {.mask = 0x603 /* L R SL SR */, .rf64 = true}}};
    assert_ok(write_sound("m.wav", &p, SMP_SOUND_S24, &meta, false, &err));
    smp_reader *reader;
    smp_media *media = open_media("m.wav", &reader);
    assert_int_equal(media->meta.coding.sound.mask, 0x603);
    assert_true(media->meta.coding.sound.rf64);
    assert_string_equal(media->detail, "24-bit PCM, RF64, channels L R SL SR");
    smp_reader_close(reader);
    assert_ok(read_picture(in_folder("m.wav"), &q, &err));
    assert_same_picture(&p, &q);
    free_picture(&p);
    free_picture(&q);
}

SMP_TEST(same_bytes_every_time)
{
    static const char *const names[][2] = {{"x.wav", "y.wav"},   {"x.aiff", "y.aiff"}, {"x.w64", "y.w64"},
                                           {"x.caf", "y.caf"},
#ifdef SMP_TEST_SNDFILE
                                           {"x.flac", "y.flac"}, {"x.ogg", "y.ogg"}
#endif
    };
    smp_error err = {0};
    picture p = make_sound(5000, 2, 44100);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t n, m;
        assert_ok(write_sound(names[i][0], &p, SMP_SOUND_F32, NULL, false, &err));
        if (i == 0)
            sleep(1); /* libsndfile's PEAK chunk and serial numbers come from the clock */
        assert_ok(write_sound(names[i][1], &p, SMP_SOUND_F32, NULL, false, &err));
        uint8_t *a = load(in_folder(names[i][0]), &n), *b = load(in_folder(names[i][1]), &m);
        assert_int_equal(n, m);
        assert_memory_equal(a, b, n);
        free(a);
        free(b);
    }
    free_picture(&p);
}

SMP_TEST(truncated_sounds_are_errors)
{
    smp_error err = {0};
    picture p = make_sound(300, 2, 48000);
#ifdef SMP_TEST_SNDFILE
    assert_ok(write_sound("a.ogg", &p, SMP_SOUND_S16, NULL, false, &err));
    assert_truncations_fail(in_folder("a.ogg"), 97);
#endif
    for (int f = 0; f < FILES; f++) {
        assert_ok(write_sound(files[f], &p, SMP_SOUND_S16, NULL, false, &err));
        assert_truncations_fail(in_folder(files[f]), 7);
        assert_allocation_failures_are_clean(in_folder(files[f]));
    }
    free_picture(&p);
}

static smp_code read_patched(const uint8_t *good, size_t size, size_t at, const void *bytes, size_t count,
                             smp_error *err)
{
    uint8_t *data = malloc(size);
    assert_non_null(data);
    memcpy(data, good, size);
    memcpy(data + at, bytes, count);
    picture q;
    smp_code code = read_memory(data, size, &q, err);
    free_picture(&q);
    free(data);
    return code;
}

SMP_TEST(hostile_wav_headers_are_refused)
{
    static const struct {
        size_t at, count;
        const char *bytes;
        smp_code code;
        const char *says;
    } cases[] = {
        {20, 2, "\2\0", SMP_E_DECODE, NULL},
        {20, 2, "\x55\0", SMP_E_DECODE, "the WAV's samples are MP3, which is not supported"},
        {20, 2, "\x72\0", SMP_E_DECODE, "the WAV's samples are of format 114 with 16 bits, which is not supported"},
        {22, 2, "\0\0", SMP_E_DECODE, NULL},             /* no channels */
        {22, 2, "\xFF\xFF", SMP_E_DECODE, NULL},         /* 65535 */
        {24, 4, "\0\0\0\0", SMP_E_DECODE, NULL},         /* no rate */
        {32, 2, "\0\0", SMP_E_DECODE, NULL},             /* no bytes a frame */
        {34, 2, "\7\0", SMP_E_DECODE, NULL},             /* 7 bits */
        {16, 4, "\4\0\0\0", SMP_E_DECODE, NULL},         /* a format of 4 bytes */
        {16, 4, "\xFF\xFF\xFF\x7F", SMP_E_DECODE, NULL}, /* of 2 GB */
        {40, 4, "\xF0\xFF\xFF\x7F", SMP_E_DECODE, NULL}, /* 2 GB of samples */
        {40, 4, "\3\0\0\0", SMP_E_DECODE, NULL},         /* not whole frames; what follows is no chunk */
    };
    smp_error err = {0};
    picture p = make_sound(300, 2, 48000);
    assert_ok(write_sound("h.wav", &p, SMP_SOUND_S16, NULL, false, &err));
    size_t size;
    uint8_t *good = load(in_folder("h.wav"), &size);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        smp_code code = read_patched(good, size, cases[i].at, cases[i].bytes, cases[i].count, &err);
        if (code != cases[i].code)
            fail_msg("case %zu: code %d, %s", i, code, err.message);
        if (cases[i].says)
            assert_string_equal(err.message, cases[i].says);
    }
    for (size_t at = 0; at < 44; at++) /* any byte of the header: an error or a sound, never a fault */
        for (int v = 0; v < 256; v += 51) {
            uint8_t byte = (uint8_t)v;
            read_patched(good, size, at, &byte, 1, &err);
        }
    free(good);
    free_picture(&p);
}

SMP_TEST(limits_hold_for_frames)
{
    smp_error err = {0};
    picture p = make_sound(300, 2, 48000);
    smp_read_options how = smp_read_defaults();
    how.limits.max_pixels = 299;
    for (int f = 0; f < FILES; f++) {
        smp_reader *reader;
        assert_ok(write_sound(files[f], &p, SMP_SOUND_S16, NULL, false, &err));
        assert_int_equal(smp_reader_open(in_folder(files[f]), &how, &reader, &err), SMP_E_LIMIT);
    }
    free_picture(&p);
}

SMP_TESTS_AROUND(make_folder, remove_folder)
