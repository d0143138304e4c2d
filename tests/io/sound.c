/* Sound in and out: every kind of sample comes back, our own rounding, tags and speakers, pipes, damaged and hostile
 * headers, and the same bytes every time. */
#include "suite.h"

#include "media_fixture.h"

#include <math.h>

#include "io/audio/sound.h"

static picture make_sound(int64_t frames, int channels, double rate)
{
    picture p = new_picture(1, frames, channels, false, SMP_F32);
    p.shape.kind = SMP_AUDIO;
    p.shape.rate = rate;
    float *v = (float *)(void *)p.data;
    for (int64_t i = 0; i < frames * channels; i++)
        v[i] = (float)((i * 7919 + 13) % 256 - 128) / 128.f; /* a multiple of 1/128: exact in every kind */
    return p;
}

static smp_code write_sound(const char *name, const picture *p, int type, const smp_meta *tags, bool strip,
                            smp_error *err)
{
    smp_meta meta = {0};
    if (tags)
        meta = *tags;
    meta.sound.type = type;
    smp_write_options options = smp_write_options_default();
    options.force = true;
    options.strip = strip;
    return write_with(in_folder(name), p, &meta, &options, err);
}

static const char *const files[] = {"a.wav", "a.aiff",
#ifdef SMP_TEST_SNDFILE
                                    "a.flac"
#endif
};
enum { FILES = sizeof files / sizeof files[0] };

static void every_kind_and_channel_count_comes_back(void **context)
{
    (void)context;
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

static smp_media *open_media(const char *name, smp_reader **reader)
{
    smp_error err = {0};
    smp_limits limits = smp_limits_default();
    assert_ok(smp_reader_open(in_folder(name), &limits, reader, &err));
    return (smp_media *)(uintptr_t)smp_reader_media(*reader);
}

static void kind_of_sample_is_kept_even_without_metadata(void **context)
{
    (void)context;
    smp_error err = {0};
    smp_reader *reader;
    picture p = make_sound(100, 2, 48000);
    for (int strip = 0; strip < 2; strip++)
        for (int f = 0; f < FILES; f++) {
            assert_ok(write_sound(files[f], &p, SMP_SOUND_S24, NULL, strip, &err));
            smp_media *media = open_media(files[f], &reader);
            assert_int_equal(media->bits, 24);
            assert_int_equal(media->meta.sound.type, SMP_SOUND_S24);
            smp_reader_close(reader);
        }
    assert_ok(write_sound("a.wav", &p, SMP_SOUND_F32, NULL, true, &err));
    smp_media *media = open_media("a.wav", &reader);
    assert_int_equal(media->meta.sound.type, SMP_SOUND_F32);
    smp_reader_close(reader);
    free_picture(&p);
}

/* To nearest, ties to even, clamped; what is beyond full scale by more than half a code is counted; NaN is 0. */
static void rounding_is_to_nearest_and_clipping_is_counted(void **context)
{
    (void)context;
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

static void writers_count_what_they_clip(void **context)
{
    (void)context;
    for (int f = 0; f < FILES; f++) {
        smp_error err = {0};
        picture p = make_sound(50, 2, 48000);
        ((float *)(void *)p.data)[3] = 2.f;
        ((float *)(void *)p.data)[9] = NAN;
        smp_meta meta = {.sound.type = SMP_SOUND_S16};
        smp_write_options options = smp_write_options_default();
        options.force = true;
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
static void samples_that_are_not_finite_silence_no_others_in_an_ogg(void **context)
{
    (void)context;
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
    smp_write_options options = smp_write_options_default();
    options.force = true;
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

static void tags_are_kept(void **context)
{
    (void)context;
    static const char *const names[] = {"t.wav", "t.aiff",
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

static void speakers_and_rf64_are_kept(void **context)
{
    (void)context;
    smp_error err = {0};
    picture p = make_sound(33, 4, 48000), q;
    smp_meta meta = {.srgb_intent = -1, .sound = {.mask = 0x603 /* L R SL SR */, .rf64 = true}};
    assert_ok(write_sound("m.wav", &p, SMP_SOUND_S24, &meta, false, &err));
    smp_reader *reader;
    smp_media *media = open_media("m.wav", &reader);
    assert_int_equal(media->meta.sound.mask, 0x603);
    assert_true(media->meta.sound.rf64);
    assert_string_equal(media->detail, "24-bit PCM, RF64, channels L R SL SR");
    smp_reader_close(reader);
    assert_ok(read_picture(in_folder("m.wav"), &q, &err));
    assert_same_picture(&p, &q);
    free_picture(&p);
    free_picture(&q);
}

static void same_bytes_every_time(void **context)
{
    (void)context;
    static const char *const names[][2] = {{"x.wav", "y.wav"},
                                           {"x.aiff", "y.aiff"},
#ifdef SMP_TEST_SNDFILE
                                           {"x.flac", "y.flac"},
                                           {"x.ogg", "y.ogg"}
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

/* ------------------------------------------------------------------------------------------------ pipes */

static smp_code through_pipe(const char *name, picture *p, smp_error *err)
{
    size_t size;
    uint8_t *data = load(in_folder(name), &size);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        size_t done = 0;
        for (ssize_t n; done < size && (n = write(ends[1], data + done, size - done)) > 0;)
            done += (size_t)n;
        _exit(done == size ? 0 : 1);
    }
    close(ends[1]);
    int saved = dup(STDIN_FILENO);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    smp_code code = read_picture("-", p, err);
    dup2(saved, STDIN_FILENO);
    close(saved);
    free(data);
    return code;
}

static void pipes_are_read(void **context)
{
    (void)context;
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
    smp_limits limits = smp_limits_default();
    smp_reader *reader;
    picture piped;
    note[0] = '\0';
    *p = (picture){0};
    store(in_folder("both"), data, size);
    smp_code code = smp_reader_open(in_folder("both"), &limits, &reader, err);
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

static void put_be(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> 8 * (3 - i));
}

static void put_le(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

/* As programs write it that do not know the length: ffmpeg, lame, sox and espeak-ng, arecord, Python's wave. */
static void a_wav_of_unknown_length_goes_on_to_the_end(void **context)
{
    (void)context;
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
    smp_meta meta = {.srgb_intent = -1, .sound = {.rf64 = true}};
    assert_ok(write_sound("u.wav", &p, SMP_SOUND_S16, &meta, false, &err));
    data = load(in_folder("u.wav"), &size);
    memset(data + 20, 0, 24); /* ds64, as ffmpeg leaves it in a pipe */
    assert_reads_as(data, size, &p, NULL);
    free(data);
    free_picture(&p);
}

/* ffmpeg writes 0 frames and 0 bytes to a pipe, sox 0x7F000000 bytes. */
static void an_aiff_of_unknown_length_goes_on_to_the_end(void **context)
{
    (void)context;
    static const uint32_t sizes[][3] = {{0, 0, 0}, {0x7F000050u, 0x3F800000u, 0x7F000008u}};
    enum { FORM = 4, FRAMES = 22, SSND = 42 };
    smp_error err = {0};
    picture p = make_sound(1000, 1, 48000);
    size_t size;
    assert_ok(write_sound("u.aiff", &p, SMP_SOUND_S16, NULL, false, &err));
    uint8_t *data = load(in_folder("u.aiff"), &size);
    assert_memory_equal(data + SSND - 4, "SSND", 4);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        put_be(data + FORM, sizes[i][0]);
        put_be(data + FRAMES, sizes[i][1]);
        put_be(data + SSND, sizes[i][2]);
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
    (big ? put_be : put_le)(at + 4, (uint32_t)*total - 8);
    memcpy(at + 8, "WAVEfmt ", 8);
    (big ? put_be : put_le)(at + 16, (uint32_t)format_size);
    memcpy(at + 20, format, format_size);
    at += 20 + format_size;
    memcpy(at, "data", 4);
    (big ? put_be : put_le)(at + 4, (uint32_t)size);
    memcpy(at + 8, samples, size);
    if (tail_size)
        memcpy(at + 8 + size, tail, tail_size);
    return data;
}

static const uint8_t mono24[16] = {1, 0, 1, 0, 0x44, 0xAC, 0, 0, 0xCC, 4, 2, 0, 3, 0, 24, 0};

static void what_lies_behind_the_samples_never_fails_a_file(void **context)
{
    (void)context;
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
    smp_sound_decode((float *)(void *)p.data, samples, FRAMES, SMP_SOUND_S24, false);
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

static void sound_behind_an_id3_tag_is_read(void **context)
{
    (void)context;
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
    assert_string_equal(err.message, "is an MP3 sound, which is not supported");
}

static void other_kinds_of_wav_are_read(void **context)
{
    (void)context;
    static const struct {
        const char *riff;
        size_t format_size;
        const char *format, *samples;
        size_t size;
        int frames;
        float values[4];
        const char *detail;
    } cases[] = {
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
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t size;
        uint8_t *data = wav_of(cases[i].riff, cases[i].format, cases[i].format_size, cases[i].samples, cases[i].size,
                               NULL, 0, &size);
        picture p = new_picture(1, cases[i].frames, 1, false, SMP_F32);
        p.shape.kind = SMP_AUDIO;
        p.shape.rate = 48000;
        memcpy(p.data, cases[i].values, (size_t)cases[i].frames * sizeof(float));
        assert_reads_as(data, size, &p, NULL);
        smp_reader *reader;
        assert_string_equal(open_media("both", &reader)->detail, cases[i].detail);
        smp_reader_close(reader);
        free(data);
        free_picture(&p);
    }
}

static void a_second_wav_behind_the_first_is_noted(void **context)
{
    (void)context;
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

/* 24,000 tags: the first 1,000 are kept. */
static void tags_without_end_are_capped(void **context)
{
    (void)context;
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
    assert_string_equal(smp_reader_notes(reader)->items[0], "tags beyond 1000 and beyond 1048576 bytes are left out");
    assert_true(smp_alloc_live() - live < 1 << 20);
    smp_reader_close(reader);
    free(data);
    free(lists);
}

/* A pipe that must be read to its end first goes to a file beyond 8 MiB; its samples are the same. */
static void a_long_pipe_of_unknown_length_takes_little_memory(void **context)
{
    (void)context;
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
static void a_flac_is_read_to_its_last_block(void **context)
{
    (void)context;
    enum { TOTAL_AT = 22, MD5_AT = 26 };
    smp_error err = {0};
    picture p = make_sound(50000, 2, 44100);
    size_t size;
    assert_ok(write_sound("t.flac", &p, SMP_SOUND_S16, NULL, false, &err));
    uint8_t *data = load(in_folder("t.flac"), &size);
    assert_int_equal(smp_get_be(data + TOTAL_AT, 4), 50000);
    put_be(data + TOTAL_AT, 20000);
    assert_reads_as(data, size, &p, "the FLAC's header says 20000 frames, but it has 50000: all are read");
    put_be(data + TOTAL_AT, 0);
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

static void the_md5_of_a_flac_is_checked(void **context)
{
    (void)context;
    enum { MD5_AT = 26 };
    static const int types[] = {SMP_SOUND_S8, SMP_SOUND_S16, SMP_SOUND_S24};
    for (int i = 0; i < 3; i++)
        for (int channels = 1; channels <= 8; channels += 7) {
            smp_error err = {0};
            picture p = make_sound(9000, channels, 44100), q;
            size_t size;
            smp_reader *reader;
            smp_limits limits = smp_limits_default();
            assert_ok(write_sound("m.flac", &p, types[i], NULL, false, &err));
            uint8_t *data = load(in_folder("m.flac"), &size);
            data[MD5_AT + 5] ^= 1;
            store(in_folder("m.flac"), data, size);
            free(data);
            assert_int_equal(read_picture(in_folder("m.flac"), &q, &err), SMP_E_DECODE);
            assert_string_equal(err.message,
                                "the FLAC is damaged: its samples do not have the MD5 that it was written with");
            limits.no_verify = true;
            assert_ok(smp_reader_open(in_folder("m.flac"), &limits, &reader, &err));
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

static void a_second_flac_behind_the_first_is_an_error(void **context)
{
    (void)context;
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
static void the_links_of_a_chained_ogg_are_read_one_after_the_other(void **context)
{
    (void)context;
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

static void truncated_sounds_are_errors(void **context)
{
    (void)context;
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

static void hostile_wav_headers_are_refused(void **context)
{
    (void)context;
    static const struct {
        size_t at, count;
        const char *bytes;
        smp_code code;
        const char *says;
    } cases[] = {
        {20, 2, "\2\0", SMP_E_DECODE, "the WAV's samples are Microsoft ADPCM, which is not supported"},
        {20, 2, "\x11\0", SMP_E_DECODE, "the WAV's samples are IMA ADPCM, which is not supported"},
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

static void limits_hold_for_frames(void **context)
{
    (void)context;
    smp_error err = {0};
    picture p = make_sound(300, 2, 48000);
    smp_limits limits = smp_limits_default();
    limits.max_pixels = 299;
    for (int f = 0; f < FILES; f++) {
        smp_reader *reader;
        assert_ok(write_sound(files[f], &p, SMP_SOUND_S16, NULL, false, &err));
        assert_int_equal(smp_reader_open(in_folder(files[f]), &limits, &reader, &err), SMP_E_LIMIT);
    }
    free_picture(&p);
}

SMP_SUITE(sound)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_and_channel_count_comes_back),
        cmocka_unit_test(kind_of_sample_is_kept_even_without_metadata),
        cmocka_unit_test(rounding_is_to_nearest_and_clipping_is_counted),
        cmocka_unit_test(writers_count_what_they_clip),
#ifdef SMP_TEST_SNDFILE
        cmocka_unit_test(samples_that_are_not_finite_silence_no_others_in_an_ogg),
#endif
        cmocka_unit_test(tags_are_kept),
        cmocka_unit_test(speakers_and_rf64_are_kept),
        cmocka_unit_test(same_bytes_every_time),
        cmocka_unit_test(pipes_are_read),
        cmocka_unit_test(a_wav_of_unknown_length_goes_on_to_the_end),
        cmocka_unit_test(an_aiff_of_unknown_length_goes_on_to_the_end),
        cmocka_unit_test(what_lies_behind_the_samples_never_fails_a_file),
        cmocka_unit_test(sound_behind_an_id3_tag_is_read),
        cmocka_unit_test(other_kinds_of_wav_are_read),
        cmocka_unit_test(a_second_wav_behind_the_first_is_noted),
        cmocka_unit_test(tags_without_end_are_capped),
        cmocka_unit_test(a_long_pipe_of_unknown_length_takes_little_memory),
#ifdef SMP_TEST_SNDFILE
        cmocka_unit_test(a_flac_is_read_to_its_last_block),
        cmocka_unit_test(the_md5_of_a_flac_is_checked),
        cmocka_unit_test(a_second_flac_behind_the_first_is_an_error),
        cmocka_unit_test(the_links_of_a_chained_ogg_are_read_one_after_the_other),
#endif
        cmocka_unit_test(truncated_sounds_are_errors),
        cmocka_unit_test(hostile_wav_headers_are_refused),
        cmocka_unit_test(limits_hold_for_frames),
    };
    return cmocka_run_group_tests_name("sound", tests, make_folder, remove_folder);
}
