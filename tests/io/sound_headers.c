/* Sounds that their headers do not tell of: of unknown length, with tags around them, of rare kinds, several in a file.
 */
#include "suite.h"

#include "sound_fixture.h"

#include "io/audio/tags.h"

static const char *const files[] = {"a.wav", "a.aiff", "a.w64", "a.caf",
#ifdef SMP_TEST_SNDFILE
                                    "a.flac"
#endif
};
enum { FILES = sizeof files / sizeof files[0] };

SMP_TEST(pipes_are_read)
{
    for (int f = 0; f < FILES; f++) {
        smp_error err = {0};
        picture p = make_sound(70000, 2, 48000), q;
        assert_ok(write_sound(files[f], &p, SMP_SOUND_S24, NULL, false, &err));
        assert_ok(through_pipe(files[f], &q, &err));
        assert_same_picture(&p, &q);
        free_picture(&p);
        free_picture(&q);
    }
}

/* Reads a file of these bytes by its name and from a pipe: both must give the same samples and, if any, the same note.
 */
static smp_code read_both_ways(const void *data, size_t size, picture *p, char note[SMP_NOTE_BYTES], smp_error *err)
{
    smp_read_options how = smp_read_defaults();
    smp_reader *reader;
    picture piped;
    note[0] = '\0';
    *p = (picture){0};
    store(in_folder("both"), data, size);
    smp_code code = smp_reader_open(in_folder("both"), &how, &reader, err);
    if (code == SMP_OK)
        code = read_rest(reader, p, err);
    if (code == SMP_OK && smp_reader_notes(reader)->count)
        memcpy(note, smp_reader_notes(reader)->items[0], SMP_NOTE_BYTES);
    smp_reader_close(reader);
    smp_error other = {0};
    assert_int_equal(through_pipe("both", &piped, &other), code);
    if (code == SMP_OK) {
        assert_same_picture(p, &piped);
        free_picture(&piped);
    }
    return code;
}

static void assert_reads_as(const void *data, size_t size, const picture *want, const char *note)
{
    smp_error err = {0};
    char found[SMP_NOTE_BYTES];
    picture q;
    assert_ok(read_both_ways(data, size, &q, found, &err));
    assert_same_picture(want, &q);
    free_picture(&q);
    if (note ? !strstr(found, note) : found[0])
        fail_msg("note '%s', wanted '%s'", found, note ? note : "");
}

static void put_le(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

/* As programs write it that do not know the length: ffmpeg, lame, sox and espeak-ng, arecord, Python's wave. */
SMP_TEST(a_wav_of_unknown_length_goes_on_to_the_end)
{
    static const uint32_t sizes[][2] = {{UINT32_MAX, UINT32_MAX},
                                        {0xFFFFFFFCu, 0xFFFFFFD8u},
                                        {0x7FFFF024u, 0x7FFFF000u},
                                        {0x7FFFEFF8u, 0x7FFFEFFEu},
                                        {0x80000024u, 0x80000000u},
                                        {36, 0},
                                        {0, 0}};
    smp_error err = {0};
    picture p = make_sound(1000, 1, 48000);
    size_t size;
    assert_ok(write_sound("u.wav", &p, SMP_SOUND_S16, NULL, false, &err));
    uint8_t *data = load(in_folder("u.wav"), &size);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        put_le(data + 4, sizes[i][0]);
        put_le(data + 40, sizes[i][1]);
        assert_reads_as(data, size, &p, NULL);
    }
    free(data);
    free_picture(&p);
    p = make_sound(1000, 1, 48000);
    smp_meta meta = {.srgb_intent = -1, .coding = {.kind = SMP_CODING_SOUND, .sound = {.rf64 = true}}};
    assert_ok(write_sound("u.wav", &p, SMP_SOUND_S16, &meta, false, &err));
    data = load(in_folder("u.wav"), &size);
    memset(data + 20, 0, 24); /* ds64, as ffmpeg leaves it in a pipe */
    assert_reads_as(data, size, &p, NULL);
    free(data);
    free_picture(&p);
}

/* ffmpeg writes 0 frames and 0 bytes to a pipe, sox 0x7F000000 bytes. */
SMP_TEST(an_aiff_of_unknown_length_goes_on_to_the_end)
{
    static const uint32_t sizes[][3] = {{0, 0, 0}, {0x7F000050u, 0x3F800000u, 0x7F000008u}};
    enum { FORM = 4, FRAMES = 22, SSND = 42 };
    smp_error err = {0};
    picture p = make_sound(1000, 1, 48000);
    size_t size;
    assert_ok(write_sound("u.aiff", &p, SMP_SOUND_S16, NULL, false, &err));
    uint8_t *data = load(in_folder("u.aiff"), &size);
    assert_memory_equal(data + SSND - 4, "SSND", 4);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        put32(data + FORM, sizes[i][0]);
        put32(data + FRAMES, sizes[i][1]);
        put32(data + SSND, sizes[i][2]);
        assert_reads_as(data, size, &p, NULL);
    }
    free(data);
    free_picture(&p);
}

/* ------------------------------------------------------------------------------------------------ other programs */

/* A WAV by hand: `format` is the body of its chunk "fmt "; `tail` follows the samples and counts as part of the file.
 */
static uint8_t *wav_of(const char *riff, const void *format, size_t format_size, const void *samples, size_t size,
                       const void *tail, size_t tail_size, size_t *total)
{
    const bool big = riff[3] == 'X';
    uint8_t *data = malloc(28 + format_size + size + tail_size), *at = data;
    assert_non_null(data);
    *total = 28 + format_size + size + tail_size;
    memcpy(at, riff, 4);
    (big ? put32 : put_le)(at + 4, (uint32_t)*total - 8);
    memcpy(at + 8, "WAVEfmt ", 8);
    (big ? put32 : put_le)(at + 16, (uint32_t)format_size);
    memcpy(at + 20, format, format_size);
    at += 20 + format_size;
    memcpy(at, "data", 4);
    (big ? put32 : put_le)(at + 4, (uint32_t)size);
    memcpy(at + 8, samples, size);
    if (tail_size)
        memcpy(at + 8 + size, tail, tail_size);
    return data;
}

static const uint8_t mono24[16] = {1, 0, 1, 0, 0x44, 0xAC, 0, 0, 0xCC, 4, 2, 0, 3, 0, 24, 0};

SMP_TEST(what_lies_behind_the_samples_never_fails_a_file)
{
    enum { FRAMES = 101 };
    static const char list[] = "LIST\20\0\0\0INFOIART\4\0\0\0abc";
    static const struct {
        size_t size;
        const char *bytes;
    } tails[] = {
        {24, list}, /* without the pad byte that 303 bytes of samples ask for */
        {1, ""},
        {25, "\0LIST\20\0\0\0INFOIART\4\0\0\0abc"},
        {12, "\0LIST\xFF\xFF\xFF\x7FINF"}, /* cut */
        {9, "\0junk\xFF\xFF\xFF\xFF"},
        {17, "\0fmt \20\0\0\0abcdefgh"}, /* a second format */
        {20, "\0TAGTitle of a song "},   /* ID3v1 */
        {3, "abc"},
    };
    uint8_t samples[FRAMES * 3];
    picture p = new_picture(1, FRAMES, 1, false, SMP_F32);
    p.shape.kind = SMP_AUDIO;
    p.shape.rate = 44100;
    for (int i = 0; i < FRAMES * 3; i++)
        samples[i] = (uint8_t)(i * 7);
    smp_inexact inexact = {0};
    smp_sound_decode((float *)(void *)p.data, samples, FRAMES, SMP_SOUND_S24, false, &inexact);
    for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++)
        for (int told = 0; told < 2; told++) { /* does the size of all count what is behind? */
            size_t size;
            uint8_t *data = wav_of("RIFF", mono24, 16, samples, sizeof samples, tails[i].bytes, tails[i].size, &size);
            if (!told)
                put_le(data + 4, (uint32_t)(size - tails[i].size - 8));
            assert_reads_as(data, size, &p, NULL);
            if (told && (i == 0 || i == 2)) {
                smp_reader *reader;
                smp_media *media = open_media("both", &reader);
                assert_int_equal(media->meta.text_count, 1);
                assert_string_equal(media->meta.texts[0].value, "abc");
                smp_reader_close(reader);
            }
            free(data);
        }
    free_picture(&p);
}

SMP_TEST(sound_behind_an_id3_tag_is_read)
{
    enum { LONG = 200000 /* bytes of a cover, more than a pipe shows at once */ };
    static const size_t sizes[] = {0, 10, LONG};
    for (int f = 0; f < FILES; f++)
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            smp_error err = {0};
            picture p = make_sound(5000, 2, 44100);
            size_t size;
            assert_ok(write_sound(files[f], &p, SMP_SOUND_S16, NULL, false, &err));
            uint8_t *data = load(in_folder(files[f]), &size), *all = calloc(1, size + 10 + LONG + 128);
            assert_non_null(all);
            memcpy(all, "ID3\3", 4);
            for (int i = 0; i < 4; i++)
                all[6 + i] = (uint8_t)(sizes[k] >> 7 * (3 - i) & 127);
            memcpy(all + 10 + sizes[k], data, size);
            memcpy(all + 10 + sizes[k] + size, "TAG", 3); /* and one behind */
            assert_reads_as(all, 10 + sizes[k] + size + 128, &p, "the ID3 tag in front of the");
            free(all);
            free(data);
            free_picture(&p);
        }
    smp_error err = {0};
    picture q;
    assert_int_equal(read_memory((const uint8_t *)"ID3\3\0\0\0\0\0\0\xFF\xFB\x90\x64", 14, &q, &err), SMP_E_DECODE);
    assert_non_null(strstr(err.message, "MP3"));
}

static const struct {
    const char *riff;
    size_t format_size;
    const char *format, *samples;
    size_t size;
    int frames;
    float values[4];
    const char *detail;
} kinds_of_wav[] = {
    {"RIFX",
     16,
     "\0\1\0\1\0\0\xBB\x80\0\1\x77\0\0\2\0\20",
     "\x40\0\xC0\0\0\1",
     6,
     3,
     {0.5f, -0.5f, 1 / 32768.f},
     "16-bit PCM, RIFX"},
    {"RIFX",
     40,
     "\xFF\xFE\0\1\0\0\xBB\x80\0\2\xEE\0\0\4\0\x20\0\26\0\x20\0\0\0\4\0\0\0\3\0\0\0\20\x80\0\0\xAA\0\x38\x9B\x71",
     "\x3F\0\0\0\xBF\x80\0\0",
     8,
     2,
     {0.5f, -1.f},
     "32-bit float, RIFX"},
    {"RIFX", /* as sox writes it: the first half of the GUID's first number is turned alone */
     40,
     "\xFF\xFE\0\1\0\0\xBB\x80\0\2\x32\x80\0\3\0\x18\0\26\0\x18\0\0\0\4\0\1\0\0\0\0\x10\0\x80\0\0\xAA\0\x38\x9B"
     "\x71",
     "\x40\0\0\xC0\0\0",
     6,
     2,
     {0.5f, -0.5f},
     "24-bit PCM, RIFX"},
    {"RIFF",
     16,
     "\7\0\1\0\x80\xBB\0\0\x80\xBB\0\0\1\0\10\0",
     "\0\x80\xFF\x7F",
     4,
     4,
     {-32124 / 32768.f, 32124 / 32768.f, 0, 0},
     "mu-law"},
    {"RIFF",
     18,
     "\6\0\1\0\x80\xBB\0\0\x80\xBB\0\0\1\0\10\0\0\0",
     "\x55\xD5\x2A\xAA",
     4,
     4,
     {-8 / 32768.f, 8 / 32768.f, -32256 / 32768.f, 32256 / 32768.f},
     "A-law"},
    {"RIFF",
     16,
     "\1\0\1\0\x80\xBB\0\0\x80\x32\2\0\3\0\24\0",
     "\0\0\x40\xF0\xFF\xFF",
     6,
     2,
     {0.5f, -1 / 524288.f},
     "24-bit PCM"}, /* 20 bits */
    {"RIFF",
     16,
     "\1\0\1\0\x80\xBB\0\0\0\xEE\2\0\4\0\30\0",
     "\0\0\0\x40\0\xFF\xFF\xFF",
     8,
     2,
     {0.5f, -1 / 8388608.f},
     "32-bit PCM"}, /* 24 in 4 bytes */
    {"RIFF",
     16,
     "\1\0\1\0\x80\xBB\0\0\0\x77\1\0\2\0\14\0",
     "\0\x40\xF0\xFF",
     4,
     2,
     {0.5f, -1 / 2048.f},
     "16-bit PCM"}, /* 12 bits */
};

SMP_TEST(other_kinds_of_wav_are_read)
{
    for (size_t i = 0; i < sizeof kinds_of_wav / sizeof kinds_of_wav[0]; i++) {
        size_t size;
        uint8_t *data = wav_of(kinds_of_wav[i].riff, kinds_of_wav[i].format, kinds_of_wav[i].format_size,
                               kinds_of_wav[i].samples, kinds_of_wav[i].size, NULL, 0, &size);
        picture p = new_picture(1, kinds_of_wav[i].frames, 1, false, SMP_F32);
        p.shape.kind = SMP_AUDIO;
        p.shape.rate = 48000;
        memcpy(p.data, kinds_of_wav[i].values, (size_t)kinds_of_wav[i].frames * sizeof(float));
        assert_reads_as(data, size, &p, NULL);
        smp_reader *reader;
        assert_string_equal(open_media("both", &reader)->detail, kinds_of_wav[i].detail);
        smp_reader_close(reader);
        free(data);
        free_picture(&p);
    }
}

SMP_TEST(a_second_wav_behind_the_first_is_noted)
{
    smp_error err = {0};
    picture p = make_sound(1001, 1, 44100);
    static const int types[] = {SMP_SOUND_U8 /* with a pad byte */, SMP_SOUND_S16};
    for (int i = 0; i < 2; i++) {
        size_t size;
        assert_ok(write_sound("g.wav", &p, types[i], NULL, false, &err));
        uint8_t *data = load(in_folder("g.wav"), &size), *both = malloc(2 * size);
        assert_non_null(both);
        memcpy(both, data, size);
        memcpy(both + size, data, size);
        assert_reads_as(both, 2 * size, &p, "a second WAV follows and is not read");
        free(both);
        free(data);
    }
    free_picture(&p);
}

/* 18,000 tags: the first ones are kept. */
SMP_TEST(tags_without_end_are_capped)
{
    enum { LISTS = 3, TAGS = 6000, TAG = 10, LIST = 12 + TAGS * TAG, ALL = LISTS * LIST };
    uint8_t *lists = malloc(ALL);
    assert_non_null(lists);
    for (int k = 0; k < LISTS; k++) {
        uint8_t *at = lists + k * LIST;
        memcpy(at, "LIST", 4);
        put_le(at + 4, LIST - 8);
        memcpy(at + 8, "INFO", 4);
        for (int i = 0; i < TAGS; i++)
            memcpy(at + 12 + i * TAG, "ICMT\2\0\0\0a", TAG);
    }
    size_t size;
    uint8_t *data = wav_of("RIFF", mono24, 16, "abc", 3, lists, ALL, &size);
    uint64_t live = smp_alloc_live();
    smp_reader *reader;
    store(in_folder("many.wav"), data, size);
    smp_media *media = open_media("many.wav", &reader);
    assert_int_equal(media->meta.text_count, SMP_MOST_TAGS);
    assert_int_equal(smp_reader_notes(reader)->count, 1);
    assert_string_equal(smp_reader_notes(reader)->items[0],
                        "tags beyond 2998 and beyond 1048576 bytes are left out, from Comment on");
    assert_true(smp_alloc_live() - live < SMP_MOST_TAGS << 9);
    smp_reader_close(reader);
    free(data);
    free(lists);
}

/* A pipe that must be read to its end first goes to a file beyond 8 MiB; its samples are the same. */
SMP_TEST(a_long_pipe_of_unknown_length_takes_little_memory)
{
    smp_error err = {0};
    picture p = make_sound(6000000, 2, 48000), q;
    size_t size;
    assert_ok(write_sound("long.wav", &p, SMP_SOUND_S16, NULL, false, &err));
    uint8_t *data = load(in_folder("long.wav"), &size);
    put_le(data + 40, UINT32_MAX);
    store(in_folder("long.wav"), data, size);
    free(data);
    smp_alloc_limit(smp_alloc_live() + (22u << 20)); /* 24 MB of samples: less than all of them */
    smp_code code = through_pipe("long.wav", &q, &err);
    smp_alloc_limit(0);
    assert_ok(code);
    assert_same_picture(&p, &q);
    free_picture(&p);
    free_picture(&q);
}

#ifdef SMP_TEST_SNDFILE
/* The header of a FLAC says fewer frames than there are, or none, as in a pipe. */
SMP_TEST(a_flac_is_read_to_its_last_block)
{
    enum { TOTAL_AT = 22, MD5_AT = 26 };
    smp_error err = {0};
    picture p = make_sound(50000, 2, 44100);
    size_t size;
    assert_ok(write_sound("t.flac", &p, SMP_SOUND_S16, NULL, false, &err));
    uint8_t *data = load(in_folder("t.flac"), &size);
    assert_int_equal(smp_get_be(data + TOTAL_AT, 4), 50000);
    put32(data + TOTAL_AT, 20000);
    assert_reads_as(data, size, &p, "the FLAC's header says 20000 frames, but it has 50000: all are read");
    put32(data + TOTAL_AT, 0);
    assert_reads_as(data, size, &p, NULL);
    memset(data + MD5_AT, 0, 16); /* not known */
    assert_reads_as(data, size, &p, NULL);
    for (size_t cut = 1; cut < 3000; cut += 113) { /* an end that is none: never a shorter sound */
        picture q;
        store(in_folder("cut.flac"), data, size - cut);
        smp_code code = read_picture(in_folder("cut.flac"), &q, &err);
        assert_int_equal(code, SMP_E_DECODE);
    }
    free(data);
    free_picture(&p);
}

SMP_TEST(the_md5_of_a_flac_is_checked)
{
    enum { MD5_AT = 26 };
    static const int types[] = {SMP_SOUND_S8, SMP_SOUND_S16, SMP_SOUND_S24};
    for (int i = 0; i < 3; i++)
        for (int channels = 1; channels <= 8; channels += 7) {
            smp_error err = {0};
            picture p = make_sound(9000, channels, 44100), q;
            size_t size;
            smp_reader *reader;
            smp_read_options how = smp_read_defaults();
            assert_ok(write_sound("m.flac", &p, types[i], NULL, false, &err));
            uint8_t *data = load(in_folder("m.flac"), &size);
            data[MD5_AT + 5] ^= 1;
            store(in_folder("m.flac"), data, size);
            free(data);
            assert_int_equal(read_picture(in_folder("m.flac"), &q, &err), SMP_E_DECODE);
            assert_string_equal(err.message,
                                "the FLAC is damaged: its samples do not have the MD5 that it was written with");
            how.no_verify = true;
            assert_ok(smp_reader_open(in_folder("m.flac"), &how, &reader, &err));
            assert_ok(read_rest(reader, &q, &err));
            assert_same_picture(&p, &q);
            smp_reader_close(reader);
            free_picture(&q);
            free_picture(&p);
        }
}

static uint8_t *joined(const char *first, const char *second, size_t *size)
{
    size_t n, m;
    uint8_t *a = load(in_folder(first), &n), *b = load(in_folder(second), &m);
    a = realloc(a, n + m);
    assert_non_null(a);
    memcpy(a + n, b, m);
    free(b);
    *size = n + m;
    return a;
}

SMP_TEST(a_second_flac_behind_the_first_is_an_error)
{
    static const int frames[] = {300, 100000};
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++) {
            smp_error err = {0};
            char note[SMP_NOTE_BYTES];
            picture p = make_sound(frames[i], 1, 44100), q = make_sound(frames[k], 1, 44100), r;
            size_t size;
            assert_ok(write_sound("p.flac", &p, SMP_SOUND_S16, NULL, false, &err));
            assert_ok(write_sound("q.flac", &q, SMP_SOUND_S16, NULL, false, &err));
            uint8_t *data = joined("p.flac", "q.flac", &size);
            assert_int_equal(read_both_ways(data, size, &r, note, &err), SMP_E_DECODE);
            free(data);
            free_picture(&p);
            free_picture(&q);
            free_picture(&r);
        }
}

/* Streams one behind the other, as `cat` and internet radio make them. */
SMP_TEST(the_links_of_a_chained_ogg_are_read_one_after_the_other)
{
    smp_error err = {0};
    picture p = make_sound(40000, 2, 44100), q = make_sound(7000, 2, 44100), other = make_sound(9000, 1, 44100), a, b;
    size_t size;
    assert_ok(write_sound("p.ogg", &p, SMP_SOUND_S16, NULL, false, &err));
    assert_ok(write_sound("q.ogg", &q, SMP_SOUND_S16, NULL, false, &err));
    assert_ok(write_sound("other.ogg", &other, SMP_SOUND_S16, NULL, false, &err));
    assert_ok(read_picture(in_folder("p.ogg"), &a, &err));
    assert_ok(read_picture(in_folder("q.ogg"), &b, &err));
    picture all = new_picture(1, 47000, 2, false, SMP_F32);
    all.shape = a.shape;
    all.shape.height = 47000;
    memcpy(all.data, a.data, a.size);
    memcpy(all.data + a.size, b.data, b.size);
    uint8_t *data = joined("p.ogg", "q.ogg", &size);
    assert_reads_as(data, size, &all, NULL);
    free(data);
    store(in_folder("junk"), "not a page", 10); /* bytes that belong to no page lie between */
    data = joined("p.ogg", "junk", &size);
    store(in_folder("p2.ogg"), data, size);
    free(data);
    data = joined("p2.ogg", "q.ogg", &size);
    assert_reads_as(data, size, &all, NULL);
    free(data);
    data = joined("p.ogg", "other.ogg", &size);
    picture r;
    assert_int_equal(read_memory(data, size, &r, &err), SMP_E_DECODE);
    assert_string_equal(err.message, "the OGG is a chain of streams that differ: the first has 2 channels at 44100 Hz, "
                                     "number 2 1 at 44100 Hz");
    free(data);
    free_picture(&p);
    free_picture(&q);
    free_picture(&other);
    free_picture(&a);
    free_picture(&b);
    free_picture(&all);
}
#endif

/* ------------------------------------------------------------------------------------------------ damage */

SMP_TESTS_AROUND(make_folder, remove_folder)
