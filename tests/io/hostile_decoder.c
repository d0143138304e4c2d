/* Decoders in other hands: one that sleeps, answers by halves, lies or sends what nobody asked for costs one file and
 * some seconds. A hook plays them, within the confinement of decoders. */
#include "suite.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "io/decoder/worker.h"
#include "io/decoder/worker_child.h"
#include "io/decoder/worker_message.h"
#include "io/decoder/worker_process.h"
#include "io/format.h"

#define PICTURE SMP_SOURCE_DIR "/samples/chelsea.png"
#define SOUND   SMP_SOURCE_DIR "/samples/speech.flac"
#define ENOUGH  5.0 /* seconds, in which every file must fail */
#define SOON    0.5 /* the patience with one that does nothing; others must begin within it, on a busy machine too */

#if SMP_SANITIZED
enum { MUTATIONS = 500 }; /* a fork takes longer */
#else
enum { MUTATIONS = 5000 };
#endif

typedef enum deed {
    NOTHING,
    SLEEPS,
    SLEEPS_AT_FIRST, /* before its first words */
    SPINS_AT_FIRST,
    RECEIVES,      /* what nobody sends */
    HALF_SLEEPS,   /* half an answer */
    HALF_ENDS,     /* the same, and is gone */
    TRICKLES,      /* a byte at a time */
    FLOODS,        /* zeros without end */
    SAYS_HUGE,     /* that more follows than there can be */
    SENDS_RIGHTS,  /* descriptors come along */
    SAYS_HIGH,     /* a picture of more rows than --max-pixels */
    SAYS_WIDE,     /* the same of one row */
    SAYS_ENDLESS,  /* a sound of 2^40 frames */
    SAYS_A_MUTANT, /* an answer with some bytes changed */
    DEEDS
} deed;

typedef struct orders {
    deed deed; /* for the file that is opened next, or the decoder that begins next */
    uint64_t seed;
    uint32_t futex;
} orders;

static orders *shared;

/* ------------------------------------------------------------------------------------------------ the other hands */

static void sleep_long(double seconds)
{
    const struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    syscall(SYS_futex, &shared->futex, FUTEX_WAIT, 0, &t, NULL, 0);
}

static size_t below(size_t n)
{
    shared->seed = shared->seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (size_t)(shared->seed >> 33) % n;
}

/* Makes the answer of an honest decoder. */
static size_t honest_answer(unsigned char *to, size_t room, deed what)
{
    smp_source source = {.fd = SMP_FD_INPUT, .owned = true, .seekable = true, .size = 1 << 30, .limit = UINT64_MAX};
    const smp_read_options how = smp_read_defaults();
    smp_reader *reader;
    smp_error err;
    smp_wire wire = {.data = NULL};
    if (smp_source_buffer(&source, &err) || smp_reader_open_source(&source, "", &how, &reader, &err))
        _exit(2);
    smp_media *media = (smp_media *)(uintptr_t)smp_reader_media(reader);
    if (what == SAYS_HIGH || what == SAYS_ENDLESS)
        media->shape.height = (int64_t)1 << 40;
    if (what == SAYS_WIDE) {
        media->shape.width = (int64_t)1 << 40;
        media->shape.height = 1;
    }
    smp_notes notes = {.count = 0};
    smp_answer_wire(&wire, NULL, &notes, media, NULL);
    const smp_answer answer = {.bytes = (uint32_t)wire.size};
    if (sizeof answer + wire.size > room)
        _exit(2);
    memcpy(to, &answer, sizeof answer);
    memcpy(to + sizeof answer, wire.data, wire.size);
    return sizeof answer + wire.size;
}

static void mutate(unsigned char *bytes, size_t size)
{
    static const uint64_t ends[] = {
        0,          1,     UINT64_MAX,        UINT64_C(1) << 63, INT32_MAX, UINT64_C(1) << 31,
        UINT32_MAX, 65536, UINT64_C(1) << 40, INT64_MAX,         255,       256};
    for (size_t changes = 1 + below(4); changes > 0; changes--) {
        const size_t at = below(below(2) && size > 600 ? 600 : size - sizeof *ends);
        if (below(2))
            memcpy(bytes + at, &ends[below(sizeof ends / sizeof *ends)], below(2) ? 8 : 4);
        else
            bytes[at] ^= (unsigned char)(1 << below(8));
    }
}

static void send_rights(const unsigned char *bytes, size_t size)
{
    const int descriptors[] = {SMP_FD_ARENA, SMP_FD_CHANNEL};
    (void)smp_message_send(SMP_FD_CHANNEL, bytes, size, NULL, 0, descriptors, 2);
}

static void send_all(const void *bytes, size_t size)
{
    (void)smp_message_send(SMP_FD_CHANNEL, bytes, size, NULL, 0, NULL, 0);
}

static void play(int input)
{
    static unsigned char bytes[1 << 20];
    const deed what = shared->deed;
    const bool at_first = what == SLEEPS_AT_FIRST || what == SPINS_AT_FIRST;
    if (what == NOTHING || at_first != (input < 0))
        return;
    shared->deed = NOTHING;
    for (volatile int i = 0; what == SPINS_AT_FIRST; i = !i)
        ;
    const bool answers = what >= HALF_SLEEPS && what != FLOODS;
    const size_t size = answers ? honest_answer(bytes, sizeof bytes, what) : 0;
    smp_ask ask;
    if (what == SLEEPS || at_first)
        sleep_long(1e6);
    while (what == RECEIVES)
        if (smp_message_receive(SMP_FD_CHANNEL, &ask, sizeof ask, NULL, NULL) == SMP_RECEIVED_END)
            _exit(0);
    if (what == HALF_SLEEPS || what == HALF_ENDS)
        send_all(bytes, sizeof(smp_answer) / 2);
    if (what == HALF_SLEEPS)
        sleep_long(1e6);
    for (size_t i = 0; what == TRICKLES; i = (i + 1) % size) {
        send_all(bytes + i, 1);
        sleep_long(0.01);
    }
    while (what == FLOODS && smp_message_send(SMP_FD_CHANNEL, bytes, sizeof bytes, NULL, 0, NULL, 0))
        ;
    if (what == SAYS_HUGE)
        ((smp_answer *)bytes)->bytes = UINT32_MAX;
    if (what == SAYS_A_MUTANT)
        mutate(bytes, size);
    if (what == SENDS_RIGHTS)
        send_rights(bytes, size);
    else if (what >= SAYS_HUGE)
        send_all(bytes, size);
    if (what >= SAYS_HUGE)
        (void)smp_message_receive(SMP_FD_CHANNEL, &ask, sizeof ask, NULL, NULL);
    _exit(0);
}

/* ------------------------------------------------------------------------------------------------ the program */

static int start(void **context)
{
    (void)context;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    smp_decoder_hook = play;
    smp_error err = {0};
    return shared == MAP_FAILED || smp_worker_start((uint64_t)1 << 30, &err) || smp_worker_more(&err) ? -1 : 0;
}

static int stop(void **context)
{
    (void)context;
    smp_worker_stop();
    return waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD ? 0 : -1; /* nobody is left */
}

static smp_code open_with(const char *path, double time_limit, smp_reader **out, smp_error *err)
{
    smp_read_options l = smp_read_defaults();
    l.limits.max_memory = (uint64_t)1 << 30;
    l.time_limit = time_limit;
    return smp_reader_open(path, &l, out, err);
}

static void expect_next_file_is_read(void)
{
    unsigned char row[451 * 3];
    smp_error err;
    smp_reader *reader;
    assert_int_equal(open_with(PICTURE, 0, &reader, &err), SMP_OK);
    assert_int_equal(smp_reader_rows(reader, row, sizeof row, 1, &err), SMP_OK);
    smp_reader_close(reader);
}

/* A decoder whose reader was closed well may be taken again before it is gone. */
static void settle(void)
{
    smp_error err;
    smp_reader *reader;
    shared->deed = NOTHING;
    (void)open_with(PICTURE, 0, &reader, &err);
    smp_reader_close(reader);
    expect_next_file_is_read();
}

/* Opens a file whose decoder does such a thing, and what comes of it: in time, and the next file is read. */
static smp_code suffer(deed what, const char *path, double time_limit, smp_error *err)
{
    smp_reader *reader;
    const double begun = smp_now();
    shared->deed = what;
    const smp_code code = open_with(path, time_limit, &reader, err);
    assert_true(smp_now() - begun < ENOUGH);
    smp_reader_close(reader);
    assert_int_equal(shared->deed, NOTHING);
    return code;
}

static void a_decoder_that_sleeps_is_ended(void **context)
{
    (void)context;
    static const deed deeds[] = {SLEEPS, RECEIVES, HALF_SLEEPS, TRICKLES};
    for (size_t i = 0; i < sizeof deeds / sizeof *deeds; i++) {
        smp_error err = {0};
        smp_worker_patience = SOON;
        assert_int_equal(suffer(deeds[i], PICTURE, 0, &err), SMP_E_DECODE);
        assert_non_null(strstr(err.message, "sleeps and does not go on"));
        assert_string_equal(err.where, PICTURE);
        smp_worker_patience = 60;
        expect_next_file_is_read();
        assert_int_equal(suffer(deeds[i], PICTURE, SOON, &err), SMP_E_LIMIT);
        assert_non_null(strstr(err.message, "--time-limit"));
        expect_next_file_is_read();
    }
}

/* Idle decoders end with a file each, so that the next one begins now. */
static void lose_decoders(void)
{
    smp_error err;
    assert_int_equal(suffer(HALF_ENDS, PICTURE, 0, &err), SMP_E_DECODE);
    assert_non_null(strstr(err.message, "ended early"));
}

static void the_first_words_must_come(void **context)
{
    (void)context;
    for (deed what = SLEEPS_AT_FIRST; what <= SPINS_AT_FIRST; what++) {
        smp_error err = {0};
        lose_decoders();
        smp_worker_patience = SOON;
        assert_int_equal(suffer(what, PICTURE, 0, &err), SMP_E_PROCESS);
        assert_non_null(strstr(err.message, "does not begin within 0.5 seconds"));
        smp_worker_patience = 60;
        assert_int_equal(suffer(what, PICTURE, SOON, &err), SMP_E_LIMIT);
        assert_non_null(strstr(err.message, "--time-limit"));
        expect_next_file_is_read();
    }
}

/* ------------------------------------------------------------------------------------------------ pipes */

typedef struct writing {
    const char *path;
    double pause; /* seconds, twice */
} writing;

static void *write_slowly(void *context)
{
    const writing *w = context;
    static const char parts[3][20] = {"P5 2 2 255\n", "\1\2", "\3\4"};
    const int to = open(w->path, O_WRONLY);
    for (int i = 0; i < 3; i++) {
        (void)!write(to, parts[i], strlen(parts[i]));
        usleep((useconds_t)(w->pause * 1e6));
    }
    close(to);
    return NULL;
}

/* A decoder that waits for a pipe does not sleep; one that leaves its bytes there does. */
static void a_slow_pipe_is_waited_for(void **context)
{
    (void)context;
    char path[] = "/tmp/smempipe-test-XXXXXX", fifo[40];
    assert_non_null(mkdtemp(path));
    snprintf(fifo, sizeof fifo, "%s/p.pgm", path);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    smp_worker_patience = 0.2;
    for (int sleeps = 0; sleeps < 2; sleeps++) {
        unsigned char rows[4] = {0};
        smp_error err = {0};
        smp_reader *reader;
        pthread_t thread;
        writing w = {fifo, 0.6};
        assert_int_equal(pthread_create(&thread, NULL, write_slowly, &w), 0);
        shared->deed = sleeps ? SLEEPS : NOTHING;
        smp_code code = open_with(fifo, 0, &reader, &err);
        if (!code)
            code = smp_reader_rows(reader, rows, 2, 2, &err);
        assert_int_equal(code, sleeps ? SMP_E_DECODE : SMP_OK);
        if (!sleeps)
            assert_memory_equal(rows, "\1\2\3\4", 4);
        smp_reader_close(reader);
        pthread_join(thread, NULL);
    }
    smp_worker_patience = 60;
    unlink(fifo);
    rmdir(path);
}

/* ------------------------------------------------------------------------------------------------ lies */

static int count_descriptors(void)
{
    int count = 0;
    DIR *all = opendir("/proc/self/fd");
    assert_non_null(all);
    while (readdir(all))
        count++;
    closedir(all);
    return count;
}

static void lies_are_errors(void **context)
{
    (void)context;
    static const struct {
        deed deed;
        smp_code code;
        const char *words;
    } lies[] = {
        {HALF_ENDS, SMP_E_DECODE, "ended early"},      {FLOODS, SMP_E_DECODE, "an answer that is none"},
        {SAYS_HUGE, SMP_E_DECODE, "an answer that"},   {SAYS_HIGH, SMP_E_LIMIT, "more than the limit of"},
        {SAYS_WIDE, SMP_E_LIMIT, "more than the lim"}, {SAYS_ENDLESS, SMP_E_LIMIT, "frames, more than"},
    };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        smp_error err = {0};
        assert_int_equal(suffer(lies[i].deed, lies[i].deed == SAYS_ENDLESS ? SOUND : PICTURE, 0, &err), lies[i].code);
        if (!strstr(err.message, lies[i].words))
            fail_msg("%d: %s", (int)lies[i].deed, err.message);
        expect_next_file_is_read();
    }
}

static void descriptors_from_a_decoder_are_not_taken(void **context)
{
    (void)context;
    smp_error err;
    expect_next_file_is_read();
    const int before = count_descriptors();
    int opened = 0;
    for (int i = 0; i < 8; i++) {
        smp_reader *reader;
        shared->deed = SENDS_RIGHTS;
        opened += open_with(PICTURE, 0, &reader, &err) == SMP_OK;
        smp_reader_close(reader);
    }
    assert_true(opened > 2);
    settle();
    assert_int_equal(count_descriptors(), before);
}

static void mutants_are_errors_or_answers(void **context)
{
    (void)context;
    int opened = 0;
    double longest = 0;
    smp_worker_patience = 0.04; /* for more than the answer has */
    for (int i = 0; i < MUTATIONS; i++) {
        smp_error err;
        smp_reader *reader;
        const double begun = smp_now();
        shared->seed = (uint64_t)i;
        shared->deed = SAYS_A_MUTANT;
        if (open_with(i % 4 ? PICTURE : SOUND, 0, &reader, &err) == SMP_OK) {
            smp_blob made;
            const smp_media *media = smp_reader_media(reader);
            (void)smp_meta_profile(&media->meta, &media->shape, &made);
            smp_free(made.data);
            assert_true(media->shape.kind != SMP_IMAGE || media->shape.width * media->shape.height <= 2500000000);
            opened++;
        }
        smp_reader_close(reader);
        longest = smp_now() - begun > longest ? smp_now() - begun : longest;
    }
    assert_true(opened > MUTATIONS / 10 && opened < MUTATIONS * 9 / 10);
    assert_true(longest < ENOUGH);
    smp_worker_patience = 60;
    settle();
}

SMP_SUITE(hostile_decoder)
{
#ifndef __linux__
    return 77;
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_decoder_that_sleeps_is_ended),
        cmocka_unit_test(the_first_words_must_come),
        cmocka_unit_test(a_slow_pipe_is_waited_for),
        cmocka_unit_test(lies_are_errors),
        cmocka_unit_test(descriptors_from_a_decoder_are_not_taken),
        cmocka_unit_test(mutants_are_errors_or_answers),
    };
    return cmocka_run_group_tests_name("hostile_decoder", tests, start, stop);
}
