/* Encoders in other hands, or with a fault: one that reaches for files, crashes, aborts, sleeps, lies about its output
 * or floods it costs one file, and leaves nothing. A hook plays them, within the confinement of encoders. */
#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
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

#if SMP_SANITIZED
enum { SANITIZED = 1, MUTATIONS = 40 };
#else
enum { SANITIZED = 0, MUTATIONS = 300 };
#endif

enum { WIDTH = 40, HEIGHT = 30 };

typedef enum deed {
    ENCODES,
    REACHES,
    CRASHES,
    ABORTS,
    SLEEPS,
    NAPS,        /* at each ask, and does nothing */
    CROWDS,      /* threads without end */
    TRICKLES,    /* sleeps, and sends a byte of the file now and then */
    SPINS,       /* and hears no signal */
    SPINS_LATER, /* the same once the file has begun, which takes a second */
    NEVER_READS, /* from its beginning */
    ENDS,
    FLOODS,           /* more bytes than such a file can have */
    PATCHES_AHEAD,    /* bytes behind the end */
    PATCHES,          /* its beginning, once it is written */
    SAYS_HUGE,        /* that more follows than there can be */
    PATCHES_FOR_EVER, /* what is written already */
    SAYS_TERMINATED,  /* and no word */
    GIVES_NOTHING,    /* and is content */
    GIVES_GARBAGE,
    SAYS_MORE, /* samples clipped and notes than there can be */
    ANSWERS_MUTANTS
} deed;

typedef struct orders {
    deed deed; /* for the file that is written next */
    uint64_t seed;
    uint32_t futex;
    int outcome[16]; /* errno of each attempt; 0: it worked */
    int attempts;
    int threads;                   /* begun */
    unsigned char head[SMP_SNIFF]; /* of an honest file */
} orders;

static orders *shared;
static char folder[] = "/tmp/smempipe-test-XXXXXX";

/* ------------------------------------------------------------------------------------------------ the other hands */

static void note(long result)
{
    shared->outcome[shared->attempts++] = result < 0 ? errno : 0;
}

static void *run_thread(void *context)
{
    (void)context;
    shared->threads++;
    return NULL;
}

static void *sleep_thread(void *context)
{
    syscall(SYS_futex, &shared->futex, FUTEX_WAIT, 0, NULL, NULL, 0);
    return context;
}

static void crowd(void)
{
    pthread_attr_t how;
    pthread_t thread;
    pthread_attr_init(&how);
    pthread_attr_setstacksize(&how, SANITIZED ? 1 << 18 : 1 << 15);
    while (shared->threads < 3000 && pthread_create(&thread, &how, sleep_thread, NULL) == 0)
        shared->threads++;
}

static void reach(void)
{
    char *const nothing[] = {NULL};
    pthread_t thread;
    note(open("/etc/passwd", O_RDONLY));
    note(open("/tmp/smempipe-was-here", O_WRONLY | O_CREAT, 0600));
    note(open(folder, O_RDONLY | O_DIRECTORY));
    note(unlink("/tmp/smempipe-was-here"));
    note(socket(AF_INET, SOCK_STREAM, 0));
    note(socket(AF_UNIX, SOCK_STREAM, 0));
    note(kill(getppid(), 0));
    note(execve("/bin/true", nothing, nothing));
    note(fork());
    if (!SANITIZED) /* whose build may write its reports */
        note(write(STDOUT_FILENO, "", 1));
    note(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0);
    note(fcntl(SMP_FD_CHANNEL, F_SETFL, 0));
    if (pthread_create(&thread, NULL, run_thread, NULL) == 0)
        pthread_join(thread, NULL);
}

static size_t below(size_t n)
{
    shared->seed = shared->seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (size_t)(shared->seed >> 33) % n;
}

static void send_answer(smp_answer answer, const void *rest, size_t size)
{
    answer.bytes = answer.bytes ? answer.bytes : (uint32_t)size;
    (void)smp_message_send(SMP_FD_CHANNEL, &answer, sizeof answer, rest, size, NULL, 0);
}

/* Answers that are none, mostly. */
static void answer_mutants(void)
{
    send_answer((smp_answer){.output = true, .at = -1}, shared->head, sizeof shared->head);
    smp_notes notes = {.count = 0};
    for (smp_ask ask;;) {
        smp_wire wire = {.data = NULL};
        smp_answer_wire(&wire, NULL, &notes, NULL, NULL);
        smp_answer answer = {.output = below(3) == 0, .at = (int64_t)below(4) - 1, .bytes = (uint32_t)wire.size};
        unsigned char *bytes = (unsigned char *)&answer;
        for (size_t i = below(4); i > 0; i--)
            bytes[below(sizeof answer)] = (unsigned char)below(256);
        for (size_t i = below(3); i > 0; i--)
            wire.data[below(wire.size)] = (unsigned char)below(256);
        (void)smp_message_send(SMP_FD_CHANNEL, &answer, sizeof answer, wire.data, wire.size, NULL, 0);
        smp_free(wire.data);
        if (!answer.output && smp_message_receive(SMP_FD_CHANNEL, &ask, sizeof ask, NULL, NULL) == SMP_RECEIVED_END)
            _exit(0);
    }
}

static void answer_all(deed what)
{
    const struct timespec t = {0, what == NAPS ? 300000000 : 0};
    smp_notes notes = {.count = 0, .more = what == SAYS_MORE ? INT_MAX : 0};
    smp_wire wire = {.data = NULL};
    smp_answer_wire(&wire, NULL, &notes, NULL, NULL);
    for (smp_ask ask;;) {
        syscall(SYS_futex, &shared->futex, FUTEX_WAIT, 0, &t, NULL, 0);
        send_answer((smp_answer){.clipped = what == SAYS_MORE ? UINT64_MAX : 0}, wire.data, wire.size);
        if (smp_message_receive(SMP_FD_CHANNEL, &ask, sizeof ask, NULL, NULL) == SMP_RECEIVED_END)
            _exit(0);
    }
}

/* For so many seconds of the processor, hearing no signal. */
static void spin(double seconds)
{
    struct timespec used = {0};
    sigprocmask(SIG_BLOCK, &(sigset_t){{~0UL}}, NULL);
    while ((double)used.tv_sec + 1e-9 * (double)used.tv_nsec < seconds)
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
}

static void play(int input)
{
    static unsigned char bytes[1 << 20];
    volatile int *nowhere = NULL;
    bool first = true;
    const deed what = shared->deed;
    if ((input < 0) != (what == NEVER_READS))
        return;
    shared->deed = ENCODES;
    if (what == NEVER_READS) {
        const smp_hello hello = {.pid = 1};
        (void)smp_message_send(SMP_FD_CHANNEL, &hello, sizeof hello, NULL, 0, NULL, 0);
    }
    if (what == REACHES)
        reach();
    if (what == CRASHES)
        *nowhere = 1;
    if (what == ABORTS)
        abort();
    if (what == GIVES_GARBAGE)
        send_answer((smp_answer){.output = true, .at = -1}, "nothing", 7);
    if (what == SAYS_MORE)
        send_answer((smp_answer){.output = true, .at = -1}, shared->head, sizeof shared->head);
    if (what == NAPS || what == GIVES_NOTHING || what == GIVES_GARBAGE || what == SAYS_MORE)
        answer_all(what);
    if (what == CROWDS)
        crowd();
    if (what == SPINS_LATER) {
        smp_ask put;
        smp_notes none = {.count = 0};
        smp_wire wire = {.data = NULL};
        smp_answer_wire(&wire, NULL, &none, NULL, NULL);
        spin(1);
        send_answer((smp_answer){.code = SMP_OK}, wire.data, wire.size);
        (void)smp_message_receive(SMP_FD_CHANNEL, &put, sizeof put, NULL, NULL);
    }
    if (what == SPINS || what == SPINS_LATER)
        spin(HUGE_VAL);
    while (what == SLEEPS || what == TRICKLES || what == CROWDS || what == NEVER_READS) {
        const struct timespec t = {what == TRICKLES ? 0 : 1000, 10000000};
        syscall(SYS_futex, &shared->futex, FUTEX_WAIT, 0, &t, NULL, 0);
        if (what == TRICKLES)
            send_answer((smp_answer){.output = true, .at = -1}, bytes, 1);
    }
    while (what == FLOODS)
        send_answer((smp_answer){.output = true, .at = -1}, bytes, sizeof bytes);
    while (what == PATCHES_FOR_EVER) {
        send_answer((smp_answer){.output = true, .at = first ? -1 : 0}, bytes, sizeof bytes);
        first = false;
    }
    if (what == SAYS_TERMINATED) {
        smp_notes notes = {.count = 0};
        smp_error none = {.code = SMP_OK};
        smp_wire wire = {.data = NULL};
        smp_answer_wire(&wire, &none, &notes, NULL, NULL);
        send_answer((smp_answer){.code = SMP_E_TERMINATED}, wire.data, wire.size);
    }
    if (what == PATCHES) {
        send_answer((smp_answer){.output = true, .at = -1}, bytes, 16);
        send_answer((smp_answer){.output = true, .at = 0}, bytes, 16);
    }
    if (what == PATCHES_AHEAD)
        send_answer((smp_answer){.output = true, .at = (int64_t)1 << 40}, bytes, 1);
    if (what == SAYS_HUGE)
        send_answer((smp_answer){.output = true, .at = -1, .bytes = UINT32_MAX}, bytes, 1);
    if (what == ANSWERS_MUTANTS)
        answer_mutants();
    if (what >= ENDS)
        _exit(0);
}

/* ------------------------------------------------------------------------------------------------ the program */

static const smp_file_format *format; /* one that another process writes */

static int start(void **context)
{
    (void)context;
    smp_error err = {0};
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    smp_decoder_hook = play;
    for (size_t i = 0; smp_format_at(i); i++)
        if (smp_format_at(i)->confined && smp_format_at(i)->kind == SMP_IMAGE && smp_format_at(i)->write_shape &&
            smp_format_at(i)->sniff)
            format = smp_format_at(i);
    return shared == MAP_FAILED || !mkdtemp(folder) || smp_worker_start((uint64_t)1 << 30, &err) ||
                   smp_worker_more(&err)
               ? -1
               : 0;
}

static int stop(void **context)
{
    (void)context;
    smp_worker_stop();
    return rmdir(folder) || !(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD); /* nobody is left */
}

static const char *path_of_file(void)
{
    static char path[64];
    snprintf(path, sizeof path, "%s/x.%s", folder, format->extensions[0]);
    return path;
}

static uint64_t clipped; /* of the file that was written last */

static smp_code write_to(const char *path, const smp_meta *meta, deed what, smp_error *err)
{
    const smp_shape shape = {.kind = SMP_IMAGE, .width = WIDTH, .height = HEIGHT, .channels = 3, .format = SMP_U8};
    static unsigned char rows[HEIGHT * WIDTH * 3];
    smp_writer *writer;
    for (size_t i = 0; i < sizeof rows; i++)
        rows[i] = (unsigned char)(i * 7);
    shared->deed = what;
    const smp_write_options options = {.format = *path == '-' ? format->extensions[0] : NULL};
    smp_code code = smp_writer_open(path, &shape, meta, &options, &writer, err);
    if (code)
        return code;
    code = smp_writer_rows(writer, rows, WIDTH * 3, HEIGHT, err);
    clipped = smp_writer_clipped(writer);
    if (code)
        smp_writer_abort(writer);
    return code ? code : smp_writer_commit(writer, err);
}

static smp_code write_file(deed what, smp_error *err)
{
    return write_to(path_of_file(), NULL, what, err);
}

/* The file that was written, which is then removed; its size. */
static size_t take_file(unsigned char *to, size_t room)
{
    FILE *file = fopen(path_of_file(), "rb");
    assert_non_null(file);
    const size_t size = fread(to, 1, room, file);
    fclose(file);
    assert_int_equal(unlink(path_of_file()), 0);
    return size;
}

static void encoders_reach_nothing(void **context)
{
    (void)context;
    char text[80];
    unsigned char bytes[1 << 16];
    smp_error err = {0};
    assert_int_equal(smp_worker_confinement(text, sizeof text, &err), SMP_OK);
    if (!format || !strstr(text, "seccomp") || strstr(text, "no seccomp"))
        skip();
    assert_int_equal(write_file(REACHES, &err), SMP_OK);
    assert_true(take_file(bytes, sizeof bytes) > 0);
    assert_int_equal(shared->attempts, SANITIZED ? 11 : 12);
    for (int i = 0; i < shared->attempts; i++)
        assert_int_equal(shared->outcome[i], EPERM);
    assert_int_equal(shared->threads, 1); /* which libraries want */
    assert_int_equal(access("/tmp/smempipe-was-here", F_OK), -1);
}

static void a_fault_costs_one_file(void **context)
{
    (void)context;
    static unsigned char first[1 << 16], next[1 << 16];
    static const struct {
        deed deed;
        const char *words;
    } faults[] = {
        {CRASHES, "the encoder crashed"},
        {ABORTS, "the encoder crashed"},
        {SLEEPS, "sleeps and does not go on"},
        {TRICKLES, "sleeps and does not go on"},
        {NAPS, "sleeps and does not go on"},
        {CROWDS, "threads"},
        {PATCHES_FOR_EVER, "an answer that is none"},
        {SAYS_TERMINATED, "an answer that is none"},
        {GIVES_NOTHING, "bytes that are no"},
        {GIVES_GARBAGE, "bytes that are no"},
        {SPINS, "encoding takes more than 1 seconds"},
        {ENDS, "ended early"},
        {FLOODS, "an answer that is none"},
        {PATCHES_AHEAD, "an answer that is none"},
        {SAYS_HUGE, "an answer that is none"},
    };
    smp_error err = {0};
    if (!format)
        skip();
    assert_int_equal(write_file(ENCODES, &err), SMP_OK);
    const size_t size = take_file(first, sizeof first);
    memcpy(shared->head, first, sizeof shared->head);
    const uint64_t live = smp_alloc_live();
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        const double begun = smp_now();
        smp_worker_patience = faults[i].deed >= SLEEPS && faults[i].deed <= SPINS ? 0.5 : 60;
        if (write_file(faults[i].deed, &err) != (faults[i].deed == SPINS ? SMP_E_LIMIT : SMP_E_ENCODE))
            fail_msg("%d: %s: %s", (int)faults[i].deed, path_of_file(), err.message);
        assert_true(smp_now() - begun < 20);
        if (!SANITIZED && !strstr(err.message, faults[i].words))
            fail_msg("%d: %s", (int)faults[i].deed, err.message);
        assert_string_equal(err.where, path_of_file());
        smp_worker_patience = 60;
        assert_true(smp_alloc_live() <= live); /* one that is idle is counted */
        assert_int_equal(access(path_of_file(), F_OK), -1);
        assert_int_equal(write_file(ENCODES, &err), SMP_OK);
        assert_int_equal(take_file(next, sizeof next), size);
        assert_memory_equal(next, first, size);
    }
}

static void the_time_that_is_told_is_the_whole_file_s(void **context)
{
    (void)context;
    smp_error err = {0};
    if (!format)
        skip();
    assert_int_equal(write_file(CRASHES, &err), SMP_E_ENCODE); /* so that another begins */
    smp_worker_patience = 1.5;
    const smp_code code = write_file(SPINS_LATER, &err);
    smp_worker_patience = 60;
    if (code != SMP_E_LIMIT || !strstr(err.message, "encoding takes more than 2 seconds"))
        fail_msg("%s", err.message);
}

/* More is sent than a socket holds. */
static void one_that_does_not_read_is_ended(void **context)
{
    (void)context;
    enum { SIZE = 3 << 20 };
    static unsigned char icc[SIZE];
    const smp_meta meta = {.icc = {icc, SIZE}, .srgb_intent = -1};
    smp_error err = {0};
    if (!format)
        skip();
    assert_int_equal(write_file(CRASHES, &err), SMP_E_ENCODE); /* so that another begins */
    smp_worker_patience = 0.5;
    const double begun = smp_now();
    const smp_code code = write_to(path_of_file(), &meta, NEVER_READS, &err);
    smp_worker_patience = 60;
    assert_true(smp_now() - begun < 20);
    if (code != SMP_E_ENCODE || !strstr(err.message, "sleeps and does not go on"))
        fail_msg("%s", err.message);
    assert_int_equal(access(path_of_file(), F_OK), -1);
}

/* Which may be a file with bytes of others in front. */
static void standard_output_is_not_patched(void **context)
{
    (void)context;
    smp_error err = {0};
    char first = 0;
    if (!format)
        skip();
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stdout);
    const int kept = dup(STDOUT_FILENO);
    dup2(fileno(file), STDOUT_FILENO);
    const bool wrote = write(STDOUT_FILENO, "X", 1) == 1;
    const smp_code code = write_to("-", NULL, PATCHES, &err);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    assert_true(wrote && pread(fileno(file), &first, 1, 0) == 1);
    fclose(file);
    assert_int_equal(code, SMP_E_ENCODE);
    assert_int_equal(first, 'X');
}

static void *wait_in_the_system(void *context)
{
    if (vfork() == 0) /* state D until this one ends */
        for (;;)
            pause();
    return context;
}

/* One whose threads wait for a processor or a disk does not sleep, whatever its first thread does. */
static void all_threads_are_looked_at(void **context)
{
    (void)context;
    pthread_t thread;
    const pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        pthread_create(&thread, NULL, wait_in_the_system, NULL);
        for (;;)
            pause();
    }
    usleep(200000);
    smp_worker_patience = 0.3;
    smp_watch watch = smp_watch_of(pid);
    smp_watch_begin(&watch, 0, 0);
    const smp_patience patience = smp_watch_patience(&watch);
    const double begun = smp_now();
    for (double left; smp_now() - begun < 1 && (left = patience.seconds(patience.context)) > 0;)
        usleep((useconds_t)(left * 1e6) + 1);
    smp_worker_patience = 60;
    kill(-pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_true(watch.slept < 0.3);
}

static void counts_are_bounded(void **context)
{
    (void)context;
    static unsigned char bytes[1 << 16];
    smp_error err = {0};
    if (!format)
        skip();
    assert_int_equal(write_file(SAYS_MORE, &err), SMP_OK);
    (void)take_file(bytes, sizeof bytes);
    assert_true(clipped > 0 && clipped < 1 << 20);
}

static void mutants_are_errors_or_files(void **context)
{
    (void)context;
    static unsigned char bytes[1 << 16];
    smp_error err = {0};
    int files = 0;
    if (!format)
        skip();
    smp_worker_patience = 0.2;
    for (int i = 0; i < MUTATIONS; i++) {
        shared->seed = (uint64_t)i;
        if (write_file(ANSWERS_MUTANTS, &err) == SMP_OK) {
            (void)take_file(bytes, sizeof bytes);
            files++;
        }
        assert_int_equal(access(path_of_file(), F_OK), -1);
    }
    assert_true(files > 0 && files < MUTATIONS * 9 / 10);
    smp_worker_patience = 60;
    assert_int_equal(write_file(ENCODES, &err), SMP_OK);
    (void)take_file(bytes, sizeof bytes);
}

SMP_SUITE(hostile_encoder)
{
#ifndef __linux__
    return 77;
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encoders_reach_nothing),
        cmocka_unit_test(a_fault_costs_one_file),
        cmocka_unit_test(the_time_that_is_told_is_the_whole_file_s),
        cmocka_unit_test(one_that_does_not_read_is_ended),
        cmocka_unit_test(standard_output_is_not_patched),
        cmocka_unit_test(all_threads_are_looked_at),
        cmocka_unit_test(counts_are_bounded),
        cmocka_unit_test(mutants_are_errors_or_files),
    };
    return cmocka_run_group_tests_name("hostile_encoder", tests, start, stop);
}
