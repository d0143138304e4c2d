/* Coded sounds that a decoder hands over for an M4A: the writer believes nothing of them. */
#include "suite.h"

#include "media_fixture.h"

#include "io/av/m4a_coded.h"
#include "io/bytes.h"

enum { CONFIG = 2, PACKETS = 3, HEAD = 16, SIZES_AT = HEAD + CONFIG, SIZE = SIZES_AT + 4 * PACKETS + 6, HEARD = 2000 };

/* Three packets of 1, 2 and 3 bytes, of which 500 frames in front are not heard. */
static void make(uint8_t *b)
{
    static const uint8_t head[SIZES_AT] = {[6] = 500 >> 8, [7] = 500 & 255, [11] = CONFIG, [15] = PACKETS, 0x12, 0x10};
    memset(b, 0, SIZE);
    memcpy(b, head, sizeof head);
    for (int i = 0; i < PACKETS; i++)
        b[SIZES_AT + 4 * i + 3] = (uint8_t)(i + 1);
}

static smp_code write_coded(uint8_t *data, size_t size, int64_t frames)
{
    const smp_shape shape = {.kind = SMP_AUDIO, .width = 1, .height = frames, .channels = 1, .rate = 44100};
    uint8_t *exact = malloc(size ? size : 1); /* what is read behind it is found */
    memcpy(exact, data, size);
    const smp_blob coded = {exact, size};
    smp_write_options options = {.coded.picture = &coded, .output.force = true};
    smp_error err = {0};
    smp_shape held;
    smp_writer *writer = NULL;
    smp_code code = smp_writer_shape("coded.m4a", &shape, &held, &err);
    code = code ? code : smp_writer_open(in_folder("coded.m4a"), &held, NULL, &options, &writer, &err);
    code = code ? code : smp_writer_commit(writer, &err);
    free(exact);
    return code;
}

SMP_TEST(a_coded_sound_is_written_as_far_as_it_is_one)
{
    uint8_t b[SIZE];
    if (!smp_library_load(SMP_LIBRARY_AV))
        skip();
    make(b);
    assert_int_equal(write_coded(b, SIZE, HEARD), SMP_OK);
    for (size_t size = 1; size < SIZE; size++)
        assert_int_equal(write_coded(b, size, HEARD), SMP_E_PROCESS);
    for (int at = 0; at < SIZES_AT + 4 * PACKETS; at++) {
        if (at >= HEAD && at < SIZES_AT) /* the coder's own */
            continue;
        for (int bit = 0; bit < 8; bit++) {
            make(b);
            b[at] ^= (uint8_t)(1 << bit);
            /* A number of frames in front that still ends in the last packet is as good as another. */
            const uint64_t priming = smp_get_bytes(b, 8, true);
            const bool good = at < 8 && priming + HEARD > 2 * 1024 && priming + HEARD <= 3 * 1024;
            assert_int_equal(write_coded(b, SIZE, HEARD), good ? SMP_OK : SMP_E_PROCESS);
        }
    }
    make(b);
    assert_int_equal(write_coded(b, SIZE, 3 * 1024), SMP_E_PROCESS);
}

#ifdef SMP_HAVE_AV
/* As that of a file that was cut short after its frames were counted. */
SMP_TEST(a_sound_that_ends_before_its_frames_do_is_an_error)
{
    static const struct {
        int64_t begin, frames;
        smp_code expected;
    } cases[] = {{0, 4096, SMP_OK}, {5000, 4096, SMP_OK}, {0, 1 << 20, SMP_E_DECODE}, {1 << 20, 4096, SMP_E_DECODE}};
    if (!smp_library_load(SMP_LIBRARY_AV))
        skip();
    const smp_av *av = &smp_av_functions;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        smp_error err = {0};
        smp_reader reader = {0};
        AVFormatContext *file = NULL;
        AVPacket *packet = av->av_packet_alloc();
        assert_int_equal(av->avformat_open_input(&file, SMP_SOURCE_DIR "/tests/data/tone.m4a", NULL, NULL), 0);
        assert_int_equal(smp_m4a_keep(file, 0, packet, true, cases[i].begin, cases[i].frames, &reader, &err),
                         cases[i].expected);
        assert_true(cases[i].expected || reader.media.coded.size > HEAD);
        smp_free(reader.media.coded.data);
        av->avformat_close_input(&file);
        av->av_packet_free(&packet);
    }
}
#endif

SMP_TESTS_AROUND(make_folder, remove_folder)
