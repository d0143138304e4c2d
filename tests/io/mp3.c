/* MPEG sound (MP3): lengths, tags, and every kind of damage that libmpg123 would pass over in silence. The two files
 * hold a second of a sine of 440 Hz, by lame: with and without the frame that describes the others. */
#include "suite.h"

#include "sound_fixture.h"

#include <math.h>
#include <string.h>

#include "io/audio/mp3_frames.h"

#define XING SMP_SOURCE_DIR "/tests/data/xing.mp3"
#define BARE SMP_SOURCE_DIR "/tests/data/bare.mp3"

SMP_TEST(headers_say_how_long_a_frame_is)
{
    static const struct {
        uint8_t bytes[4];
        smp_mp3_frame frame;
    } cases[] = {
        {{0xFF, 0xFB, 0x90, 0x64}, {1, 3, 44100, 2, 1152, 417}},
        {{0xFF, 0xFB, 0x92, 0xC4}, {1, 3, 44100, 1, 1152, 418}},
        {{0xFF, 0xF3, 0x80, 0xC4}, {2, 3, 22050, 1, 576, 208}},
        {{0xFF, 0xE3, 0x18, 0xC4}, {3, 3, 8000, 1, 576, 72}},
        {{0xFF, 0xFD, 0xE8, 0x04}, {1, 2, 32000, 2, 1152, 1728}},
        {{0xFF, 0xFF, 0xE4, 0x04}, {1, 1, 48000, 2, 384, 448}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        smp_mp3_frame frame;
        assert_true(smp_mp3_frame_take(&frame, cases[i].bytes));
        assert_memory_equal(&frame, &cases[i].frame, sizeof frame);
    }
    static const uint8_t none[][4] = {
        {0xFF, 0xFB, 0x00, 0x64}, /* of a length that only the next header tells */
        {0xFF, 0xFB, 0xF0, 0x64}, {0xFF, 0xFB, 0x9C, 0x64}, {0xFF, 0xEB, 0x90, 0x64},
        {0xFF, 0xF9, 0x90, 0x64}, /* layer 0: AAC */
        {0xFF, 0xFB, 0x90, 0x66}, {0xFF, 0xD8, 0xFF, 0xE0}, {0xFE, 0xFB, 0x90, 0x64},
    };
    smp_mp3_frame frame;
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        assert_false(smp_mp3_frame_take(&frame, none[i]));
}

SMP_TEST(text_is_not_taken_for_sound)
{
    uint8_t text[512] = {0xFF, 0xFE}; /* UTF-16 */
    for (int i = 2; i < 512; i += 2)
        text[i] = 'A';
    assert_false(smp_mp3_sniff(text, sizeof text));
    size_t size;
    uint8_t *data = load(BARE, &size);
    assert_true(smp_mp3_sniff(data, 512));
    data[210] ^= 0xFF; /* the second header */
    data[209] ^= 0xFF;
    data[208] ^= 0xFF;
    assert_false(smp_mp3_sniff(data, 512));
    free(data);
}

#ifdef SMP_TEST_MPG123

static double rms(const picture *p)
{
    const float *v = (const float *)(const void *)p->data;
    double sum = 0;
    for (int64_t i = 0; i < p->shape.height; i++)
        sum += (double)v[i] * (double)v[i];
    return sqrt(sum / (double)p->shape.height);
}

/* Frames and rms as ffmpeg gives them. */
SMP_TEST(length_and_level_are_right)
{
    static const struct {
        const char *path;
        int64_t frames;
        double rms;
    } cases[] = {{XING, 22050, 0.33583}, {BARE, 23616, 0.32450}};
    for (size_t i = 0; i < 2; i++) {
        smp_error err = {0};
        picture p;
        assert_ok(read_picture(cases[i].path, &p, &err));
        assert_int_equal(p.shape.kind, SMP_AUDIO);
        assert_int_equal(p.shape.channels, 1);
        assert_int_equal(p.shape.height, cases[i].frames);
        assert_true(p.shape.rate == 22050);
        assert_true(fabs(rms(&p) - cases[i].rms) < 1e-5);
        free_picture(&p);
    }
}

/* The coder's delay is cut off: the sine begins where it began. */
SMP_TEST(the_gap_at_the_beginning_is_left_out)
{
    smp_error err = {0};
    picture p;
    assert_ok(read_picture(XING, &p, &err));
    const float *v = (const float *)(const void *)p.data;
    for (int64_t i = 2000; i < 20000; i++)
        assert_true(fabs((double)v[i] - 0.5 * sin(2 * 3.14159265358979 * 440 * (double)i / 22050)) < 0.03);
    free_picture(&p);
}

SMP_TEST(a_pipe_and_any_strips_give_the_same)
{
    smp_error err = {0};
    picture p, q;
    size_t size;
    uint8_t *data = load(XING, &size);
    store(in_folder("x.mp3"), data, size);
    assert_ok(read_picture(XING, &p, &err));
    assert_ok(through_pipe("x.mp3", &q, &err));
    assert_same_picture(&p, &q);
    smp_reader *reader;
    open_media("x.mp3", &reader);
    float *v = (float *)(void *)q.data;
    for (int64_t y = 0, n; y < q.shape.height; y += n) {
        n = 1 + y % 777 < q.shape.height - y ? 1 + y % 777 : q.shape.height - y;
        assert_ok(smp_reader_rows(reader, v + y, 4, n, &err));
    }
    assert_same_picture(&p, &q);
    smp_reader_close(reader);
    free(data);
    free_picture(&p);
    free_picture(&q);
}

/* `front` before the file, `back` behind its first `keep` bytes, at most 256 of them each. */
static smp_code joined(const void *front, size_t front_size, size_t keep, const void *back, size_t back_size,
                       picture *p, smp_error *err)
{
    size_t size;
    uint8_t *data = load(BARE, &size), *all = malloc(front_size + size + back_size);
    assert_non_null(all);
    keep = keep < size ? keep : size;
    memcpy(all, front, front_size);
    memcpy(all + front_size, data, keep);
    memcpy(all + front_size + keep, back, back_size);
    store(in_folder("j.mp3"), all, front_size + keep + back_size);
    free(data);
    free(all);
    *p = (picture){0};
    return read_picture(in_folder("j.mp3"), p, err);
}

enum { ALL = 1 << 20 };

static const char id3[] = "ID3\3\0\0\0\0\0\x5A"
                          "TIT2\0\0\0\6\0\0\0Hello"
                          "TPE1\0\0\0\4\0\0\0Ann"
                          "TALB\0\0\0\5\0\0\0Disc"
                          "TYER\0\0\0\5\0\0\0"
                          "1999"
                          "TRCK\0\0\0\4\0\0\0"
                          "3/9";

SMP_TEST(tags_are_kept)
{
    static const struct {
        const char *key, *value;
    } newer[] = {{"Title", "Hello"},  {"Artist", "Ann"}, {"Album", "Disc"},         {"TrackNumber", "3"},
                 {"TRACKTOTAL", "9"}, {"Date", "1999"},  {"Comment", "no comment"}, /* these the older tag alone has */
                 {"Genre", "Rock"}},
      older[] = {{"Title", "A title of thirty letters, oh!"},
                 {"Artist", "Somebody"},
                 {"Album", "Album"},
                 {"Date", "2001"},
                 {"Comment", "no comment"},
                 {"TrackNumber", "7"},
                 {"Genre", "Rock"}};
    smp_error err = {0};
    smp_reader *reader;
    picture p;
    char front[100] = {0}, back[128] = "TAGA title of thirty letters, oh!Somebody";
    memcpy(front, id3, sizeof id3);
    strcpy(back + 63, "Album");
    memcpy(back + 93, "2001no comment", 14);
    back[126] = 7;
    back[127] = 17;
    assert_ok(joined(front, sizeof front, ALL, back, sizeof back, &p, &err));
    free_picture(&p);
    smp_media *media = open_media("j.mp3", &reader);
    assert_int_equal(media->meta.text_count, 8);
    for (int i = 0; i < 8; i++) {
        assert_string_equal(media->meta.texts[i].key, newer[i].key);
        assert_string_equal(media->meta.texts[i].value, newer[i].value);
    }
    assert_string_equal(media->detail, "MPEG layer 3");
    smp_reader_close(reader);
    assert_ok(joined("", 0, ALL, back, sizeof back, &p, &err));
    free_picture(&p);
    media = open_media("j.mp3", &reader);
    assert_int_equal(media->meta.text_count, 7);
    for (int i = 0; i < 7; i++) {
        assert_string_equal(media->meta.texts[i].key, older[i].key);
        assert_string_equal(media->meta.texts[i].value, older[i].value);
    }
    smp_reader_close(reader);
    assert_ok(joined(front, sizeof front, ALL, "", 0, &p, &err));
    free_picture(&p);
    assert_ok(through_pipe("j.mp3", &p, &err));
    assert_int_equal(p.shape.height, 23616);
    free_picture(&p);
}

SMP_TEST(what_surrounds_the_frames_is_no_damage)
{
    char zeros[3000] = {0}, ape[32 + 16] = "APETAGEX\xD0\7\0\0\20";
    const struct {
        size_t front, size;
        const char *back;
        const char *note;
    } cases[] = {{0, sizeof ape, ape, NULL},
                 {500, 0, "", NULL},
                 {0, sizeof zeros, zeros, "3000 bytes behind the MP3's last frame"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        smp_error err = {0};
        smp_reader *reader;
        picture p;
        char tag[600] = "ID3\3\0\0\0\0\0\0"; /* an empty one, then bytes that it does not count */
        assert_ok(joined(tag, cases[i].front ? cases[i].front : 0, ALL, cases[i].back, cases[i].size, &p, &err));
        assert_int_equal(p.shape.height, 23616);
        assert_true(fabs(rms(&p) - 0.32450) < 1e-5);
        free_picture(&p);
        open_media("j.mp3", &reader);
        const smp_notes *notes = smp_reader_notes(reader);
        assert_int_equal(notes->count, cases[i].note ? 1 : 0);
        if (cases[i].note)
            assert_non_null(strstr(notes->items[0], cases[i].note));
        smp_reader_close(reader);
    }
}

SMP_TEST(damage_is_an_error)
{
    smp_error err = {0};
    picture p;
    size_t size, other;
    uint8_t *data = load(BARE, &size), *xing = load(XING, &other);
    assert_int_equal(joined("", 0, 5000, "", 0, &p, &err), SMP_E_DECODE);
    assert_non_null(strstr(err.message, "ends within frame 23: it is truncated"));
    assert_int_equal(joined("", 0, 5000, "xxxxxxxx", 8, &p, &err), SMP_E_DECODE);
    assert_int_equal(joined("", 0, ALL, "xxxxxxxx", 8, &p, &err), SMP_OK); /* all of the sound is there */
    free_picture(&p);

    memset(data + 4000, 0, 300); /* a hole */
    assert_int_equal(read_memory(data, size, &p, &err), SMP_E_DECODE);
    assert_non_null(strstr(err.message, "no frame begins"));

    assert_int_equal(read_memory(xing, 5000, &p, &err), SMP_E_DECODE);
    assert_non_null(strstr(err.message, "the MP3 says that it has 41 frames, but ends after 22: it is truncated"));
    assert_int_equal(read_memory(xing, 208 + 209, &p, &err), SMP_E_DECODE);
    assert_int_equal(read_memory(xing, 100, &p, &err), SMP_E_DECODE);
    free(data);
    free(xing);
}

SMP_TEST(a_change_of_rate_is_an_error)
{
    smp_error err = {0};
    picture p;
    uint8_t frames[3 * 417] = {0}; /* of 44.1 kHz, silent */
    for (int i = 0; i < 3; i++)
        memcpy(frames + i * 417, "\xFF\xFB\x90\xC4", 4);
    assert_int_equal(joined("", 0, ALL, frames, sizeof frames, &p, &err), SMP_E_DECODE);
    assert_non_null(strstr(err.message, "changes from mono at 22050 Hz to mono at 44100 Hz after 41 frames"));
    assert_ok(read_memory(frames, sizeof frames, &p, &err));
    assert_int_equal(p.shape.height, 3 * 1152);
    free_picture(&p);
}

SMP_TEST(limits_refuse_it_before_it_is_decoded)
{
    smp_error err = {0};
    smp_read_options how = smp_read_defaults();
    smp_reader *reader;
    how.limits.max_pixels = 1000;
    assert_int_equal(smp_reader_open(XING, &how, &reader, &err), SMP_E_LIMIT);
}

#endif

SMP_TESTS_AROUND(make_folder, remove_folder)
