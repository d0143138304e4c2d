/* Decoding in processes of their own (io/decoder/worker.h): the same rows, metadata, notes and errors as in this
 * process, and what happens when a decoder reaches for files, crashes, hangs or grows. A hook makes it do so. */
#include "suite.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "io/decoder/sandbox_decoder.h"
#include "io/decoder/worker.h"
#include "io/decoder/worker_child.h"
#include "io/decoder/worker_message.h"
#include "io/format.h"
#include "io/library.h"

#define SAMPLES SMP_SOURCE_DIR "/samples/"

#if SMP_SANITIZED
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

/* The hook's task, and its findings: in memory that the decoders share. */
enum { DECODE, REACH, CRASH, LOOP, SLEEP, GROW, MISS, NAP, LIE };
enum { FAR_TOO_HIGH, FAR_TOO_WIDE, NO_HEADER, OF_A_SCAN, SMALL, LIES = SMALL };
typedef struct orders {
    int what, then; /* for the file that is opened next, and for the one after it */
    int lie;
    double nap;      /* seconds */
    int opened;      /* how often */
    int outcome[16]; /* errno of each attempt; 0: it worked */
    int attempts;
    int grew; /* 1: memory beyond all limits was given */
    smp_error missed;
} orders;

static orders *shared;

static void note(long result)
{
    shared->outcome[shared->attempts++] = result < 0 ? errno : 0;
}

static void reach(int input)
{
    char *const nothing[] = {NULL};
    note(open("/etc/passwd", O_RDONLY));
    note(open("/tmp/smempipe-was-here", O_WRONLY | O_CREAT, 0600));
    note(open(".", O_RDONLY | O_DIRECTORY));
    note(unlink("/tmp/smempipe-was-here"));
    note(socket(AF_INET, SOCK_STREAM, 0));
    note(socket(AF_UNIX, SOCK_STREAM, 0));
    note(kill(getppid(), 0));
    note(execve("/bin/true", nothing, nothing));
    note(fork());
    if (!SANITIZED) { /* whose build may write its reports */
        note(write(STDOUT_FILENO, "", 1));
        note(write(input, "", 1));
    }
    note(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0);
    note(fcntl(input, F_SETFL, 0));
}

/* Says that rows are there, of which none was read, and ends when it is asked for more. */
static void lie(int how)
{
    smp_media media = {.shape = {.kind = SMP_IMAGE, .width = 4, .height = 4, .channels = 1, .format = SMP_U8},
                       .orientation = 1,
                       .meta.srgb_intent = -1};
    for (size_t i = 0; smp_format_at(i); i++)
        if (smp_format_at(i)->kind == SMP_IMAGE)
            media.file_format = smp_format_at(i)->name;
    if (how == FAR_TOO_HIGH)
        media.shape.height = (int64_t)1 << 60;
    if (how == FAR_TOO_WIDE) {
        media.shape.width = INT64_MAX - 7;
        media.shape.height = 1;
    }
    if (how == OF_A_SCAN)
        media.scan = (smp_scan){.shape = media.shape, .across = 1, .down = 1};
    smp_notes notes = {.count = 0};
    smp_wire wire = {.data = NULL};
    smp_answer_wire(&wire, NULL, &notes, how == NO_HEADER ? NULL : &media, NULL);
    smp_answer answer = {.ahead = 255, .bytes = (uint32_t)wire.size};
    smp_ask ask;
    if (smp_message_send(SMP_FD_CHANNEL, &answer, sizeof answer, wire.data, wire.size, NULL, 0))
        (void)smp_message_receive(SMP_FD_CHANNEL, &ask, sizeof ask, NULL, NULL);
    _exit(0);
}

static void obey(int input)
{
    volatile int *nowhere = NULL;
    const int what = shared->what;
    shared->what = shared->then;
    shared->then = DECODE;
    shared->opened++;
    if (what == LIE)
        lie(shared->lie);
    for (double end = smp_now() + shared->nap; what == NAP && smp_now() < end;)
        ;
    if (what == REACH)
        reach(input);
    if (what == CRASH)
        *nowhere = 1;
    for (volatile int i = 0; what == LOOP; i = !i)
        ;
    while (what == SLEEP && read(SMP_SOURCE_BUFFER, NULL, 0) < 0) /* no such descriptor */
        ;
    if (what == MISS)
        (void)smp_library_need(SMP_LIBRARY_HEIF, SMP_E_READ, &shared->missed);
    if (what == GROW) {
        volatile char *block = malloc((size_t)3 << 30);
        shared->grew = block != NULL;
        free((void *)(uintptr_t)block);
    }
}

static smp_read_options reading(void)
{
    smp_read_options l = smp_read_defaults();
    l.limits.max_memory = (uint64_t)1 << 30;
    return l;
}

static int start(void **context)
{
    (void)context;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    smp_decoder_hook = obey;
    smp_error err = {0};
    return shared == MAP_FAILED || smp_worker_start(reading().limits.max_memory, &err) || smp_worker_more(&err) ||
                   !smp_worker_runs()
               ? -1
               : 0;
}

static int stop(void **context)
{
    (void)context;
    smp_worker_stop();
    return waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD ? 0 : -1; /* nobody is left */
}

static smp_code open_here(const char *path, smp_reader **out, smp_error *err)
{
    smp_source source;
    const smp_read_options l = reading();
    *out = NULL;
    smp_code code = smp_source_open(&source, path, &l.limits, err);
    if (code)
        smp_at(err, "%s", path);
    return code ? code : smp_reader_open_source(&source, path, &l, out, err);
}

static smp_code open_there(const char *path, smp_reader **out, smp_error *err)
{
    const smp_read_options l = reading();
    return smp_reader_open(path, &l, out, err);
}

/* ------------------------------------------------------------------------------------------------ the same */

static void same_blob(const smp_blob *a, const smp_blob *b)
{
    assert_int_equal(a->size, b->size);
    if (a->size)
        assert_memory_equal(a->data, b->data, a->size);
}

static void same_media(const smp_media *a, const smp_media *b)
{
    assert_int_equal(a->shape.kind, b->shape.kind);
    assert_int_equal(a->shape.width, b->shape.width);
    assert_int_equal(a->shape.height, b->shape.height);
    assert_int_equal(a->shape.channels, b->shape.channels);
    assert_int_equal(a->shape.alpha, b->shape.alpha);
    assert_int_equal(a->shape.format, b->shape.format);
    assert_memory_equal(&a->shape.rate, &b->shape.rate, sizeof a->shape.rate);
    assert_int_equal(a->orientation, b->orientation);
    assert_ptr_equal(a->file_format, b->file_format);
    assert_int_equal(a->bits, b->bits);
    assert_string_equal(a->detail, b->detail);
    const smp_meta *m = &a->meta, *n = &b->meta;
    same_blob(&m->icc, &n->icc);
    same_blob(&m->exif, &n->exif);
    assert_string_equal(m->icc_name, n->icc_name);
    assert_memory_equal(&m->gamma, &n->gamma, sizeof m->gamma);
    assert_memory_equal(m->chrm, n->chrm, sizeof m->chrm);
    assert_memory_equal(&m->x_density, &n->x_density, 2 * sizeof m->x_density);
    assert_int_equal(m->srgb_intent, n->srgb_intent);
    assert_int_equal(m->has_chrm, n->has_chrm);
    assert_int_equal(m->has_cicp, n->has_cicp);
    assert_int_equal(m->coding.kind, n->coding.kind);
    assert_int_equal(smp_coding_sound(&m->coding)->type, smp_coding_sound(&n->coding)->type);
    assert_int_equal(smp_coding_sound(&m->coding)->mask, smp_coding_sound(&n->coding)->mask);
    assert_memory_equal(smp_coding_jpeg(&m->coding), smp_coding_jpeg(&n->coding), sizeof(smp_jpeg_coding));
    assert_int_equal(m->text_count, n->text_count);
    for (size_t i = 0; i < m->text_count; i++) {
        assert_string_equal(m->texts[i].key, n->texts[i].key);
        assert_string_equal(m->texts[i].value, n->texts[i].value);
    }
}

static void same_notes(const smp_notes *a, const smp_notes *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->more, b->more);
    for (int i = 0; i < a->count; i++)
        assert_string_equal(a->items[i], b->items[i]);
}

/* Lets the next decoder be one whose shared memory has had room for this file. */
static smp_code make_room(const char *path, smp_error *err)
{
    smp_reader *reader;
    smp_code code = open_there(path, &reader, err);
    if (code)
        return code;
    const smp_shape *shape = smp_media_rows(smp_reader_media(reader));
    assert_non_null(smp_reader_shared(reader, (size_t)(smp_ahead_stride(shape) * shape->height)));
    smp_reader_close(reader);
    return SMP_OK;
}

static uint64_t asked; /* smp_worker_asks() before open_ahead opened its file */

/* Like open_there; rows are read before they are asked for. */
static smp_code open_ahead(const char *path, smp_reader **out, smp_error *err)
{
    smp_read_options l = reading();
    smp_code code = make_room(path, err);
    *out = NULL;
    l.want.whole = true;
    asked = smp_worker_asks();
    return code ? code : smp_reader_open(path, &l, out, err);
}

/* All rows, where they lie when they were read ahead. */
static void same_picture(smp_reader *here, smp_reader *there)
{
    smp_error err = {0};
    const smp_shape *shape = smp_media_rows(smp_reader_media(here));
    const int64_t stride = smp_ahead_stride(shape), row = smp_row_bytes(shape);
    unsigned char *a = calloc((size_t)shape->height, (size_t)stride),
                  *b = smp_reader_shared(there, (size_t)(stride * shape->height));
    assert_non_null(a);
    assert_non_null(b);
    assert_int_equal(smp_reader_rows(here, a, stride, shape->height, &err), SMP_OK);
    for (int64_t y = 0; y < shape->height; y += shape->height / 2 + 1)
        assert_int_equal(
            smp_reader_rows(there, b + y * stride, stride, y ? shape->height - y : shape->height / 2 + 1, &err),
            SMP_OK);
    for (int64_t y = 0; y < shape->height; y++)
        assert_memory_equal(a + y * stride, b + y * stride, (size_t)row);
    free(a);
}

/* Rows 1, 2, 3, ... at a time: into memory that the decoder shares, or copied. */
static void same_rows(smp_reader *here, smp_reader *there, bool share)
{
    const smp_shape *shape = &smp_reader_media(here)->shape;
    const int64_t row = smp_row_bytes(shape), most = 97;
    unsigned char *a = malloc((size_t)(row * most)), *own = malloc((size_t)(row * most));
    unsigned char *b = share ? smp_reader_shared(there, (size_t)(row * most)) : own;
    assert_non_null(a);
    assert_non_null(b);
    for (int64_t y = 0, n = 1; y < shape->height; y += n, n = n % most + 1) {
        smp_error err = {0};
        n = n < shape->height - y ? n : shape->height - y;
        assert_int_equal(smp_reader_rows(here, a, row, n, &err), SMP_OK);
        assert_int_equal(smp_reader_rows(there, b, row, n, &err), SMP_OK);
        assert_memory_equal(a, b, (size_t)(row * n));
    }
    free(own);
    free(a);
}

static void every_sample_is_the_same(void **context)
{
    (void)context;
    int read = 0;
    DIR *folder = opendir(SAMPLES);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[512];
        smp_reader *here, *there;
        smp_error a = {0}, b = {0};
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, SAMPLES "%s", entry->d_name);
        for (int share = 0; share < 5; share++) {
            const bool ahead = share > 1;
            const smp_code code = open_here(path, &here, &a);
            assert_int_equal(code, ahead ? open_ahead(path, &there, &b) : open_there(path, &there, &b));
            assert_string_equal(a.message, b.message);
            assert_string_equal(a.hint, b.hint);
            assert_string_equal(a.where, b.where);
            if (code)
                break;
            same_media(smp_reader_media(here), smp_reader_media(there));
            if (share == 4)
                same_picture(here, there);
            else
                same_rows(here, there, share % 2);
            if (ahead)
                assert_int_equal(smp_worker_asks() - asked, 1); /* rows came with the header */
            same_notes(smp_reader_notes(here), smp_reader_notes(there));
            smp_reader_close(here);
            smp_reader_close(there);
            read++;
        }
    }
    closedir(folder);
    assert_true(read >= 16);
}

/* path: a template. The beginning of a file, whose damage shows in its rows. */
static void make_damaged(char *path)
{
    unsigned char bytes[20000];
    const int from = open(SAMPLES "camera.png", O_RDONLY), to = mkstemp(path);
    assert_int_equal(read(from, bytes, sizeof bytes), sizeof bytes);
    assert_int_equal(write(to, bytes, sizeof bytes), sizeof bytes);
    close(from);
    close(to);
}

static void errors_in_rows_are_the_same(void **context)
{
    (void)context;
    char path[] = "/tmp/smempipe-test-XXXXXX";
    unsigned char rows[512 * 512];
    make_damaged(path);
    smp_reader *here, *there;
    smp_error a = {0}, b = {0};
    for (int ahead = 0; ahead < 2; ahead++) {
        unsigned char first[512];
        assert_int_equal(open_here(path, &here, &a), SMP_OK);
        assert_int_equal(ahead ? open_ahead(path, &there, &b) : open_there(path, &there, &b), SMP_OK);
        if (ahead)
            assert_int_equal(smp_worker_asks() - asked, 2); /* rows were read, and the file opened again */
        assert_int_equal(smp_reader_rows(here, first, 512, 1, &a), SMP_OK); /* the damage is further down */
        assert_int_equal(smp_reader_rows(there, rows, 512, 1, &b), SMP_OK);
        assert_memory_equal(first, rows, 512);
        assert_int_equal(smp_reader_rows(here, rows, 512, 511, &a), SMP_E_DECODE);
        assert_int_equal(smp_reader_rows(there, rows, 512, 511, &b), SMP_E_DECODE);
        assert_string_equal(a.message, b.message);
        assert_string_equal(a.where, b.where);
        assert_int_equal(smp_reader_rows(there, rows, 512, 1, &b), SMP_E_DECODE);
        smp_reader_close(here);
        smp_reader_close(there);
    }
    unlink(path);
}

static void readers_are_open_side_by_side(void **context)
{
    (void)context;
    enum { READERS = 6 };
    smp_reader *readers[READERS];
    unsigned char rows[READERS][451 * 3];
    smp_error err = {0};
    const uint64_t live = smp_alloc_live();
    for (int i = 0; i < READERS; i++)
        assert_int_equal(open_there(SAMPLES "chelsea.png", &readers[i], &err), SMP_OK);
    assert_true(smp_alloc_live() > live + READERS * (uint64_t)SMP_SOURCE_BUFFER); /* what decoders hold counts */
    for (int y = 0; y < 20; y++)
        for (int i = 0; i < READERS; i++) {
            assert_int_equal(smp_reader_rows(readers[i], rows[i], 451 * 3, 1, &err), SMP_OK);
            assert_memory_equal(rows[i], rows[0], 451 * 3);
        }
    for (int i = 0; i < READERS; i++)
        smp_reader_close(readers[i]);
    assert_true(smp_alloc_live() < live + 4096);
}

static void shared_memory_is_bounded(void **context)
{
    (void)context;
    smp_reader *reader;
    smp_error err = {0};
    assert_int_equal(open_there(SAMPLES "chelsea.png", &reader, &err), SMP_OK);
    unsigned char *rows = smp_reader_shared(reader, 4096), other[4096];
    assert_non_null(rows);
    assert_null(smp_reader_shared(reader, 4096)); /* once */
    assert_int_equal(smp_reader_rows(reader, rows + 65536 - 451, 451 * 3, 1, &err), SMP_E_PROCESS);
    smp_reader_close(reader);
    assert_int_equal(open_there(SAMPLES "chelsea.png", &reader, &err), SMP_OK);
    assert_non_null(smp_reader_shared(reader, 4096));
    assert_int_equal(smp_reader_rows(reader, other, 451 * 3, 1, &err), SMP_E_PROCESS);
    smp_reader_close(reader);
}

/* ------------------------------------------------------------------------------------------------ the worst */

static void decoders_reach_nothing(void **context)
{
    (void)context;
    char text[80];
    smp_error err = {0};
    smp_reader *reader;
    assert_int_equal(smp_worker_confinement(text, sizeof text, &err), SMP_OK);
    if (!strstr(text, "seccomp") || strstr(text, "no seccomp"))
        skip();
    *shared = (orders){.what = REACH};
    assert_int_equal(open_there(SAMPLES "chelsea.png", &reader, &err), SMP_OK);
    smp_reader_close(reader);
    assert_int_equal(shared->attempts, SANITIZED ? 11 : 13);
    for (int i = 0; i < shared->attempts; i++)
        assert_int_equal(shared->outcome[i], EPERM);
    assert_int_equal(access("/tmp/smempipe-was-here", F_OK), -1);
}

static void a_crash_costs_one_file(void **context)
{
    (void)context;
    smp_error err = {0};
    smp_reader *reader;
    smp_read_options l = reading();
    l.want.whole = true;
    assert_int_equal(open_ahead(SAMPLES "chelsea.png", &reader, &err), SMP_OK);
    smp_reader_close(reader);
    *shared = (orders){.what = CRASH};
    assert_int_equal(smp_reader_open(SAMPLES "chelsea.png", &l, &reader, &err),
                     SMP_E_DECODE); /* and is not tried again */
    assert_null(reader);
    assert_string_equal(err.where, SAMPLES "chelsea.png");
    *shared = (orders){.what = CRASH};
    assert_int_equal(open_there(SAMPLES "chelsea.png", &reader, &err), SMP_E_DECODE);
    assert_null(reader);
    assert_non_null(strstr(err.message, SANITIZED ? "decode" : "crashed"));
    assert_string_equal(err.where, SAMPLES "chelsea.png");
    assert_int_equal(open_there(SAMPLES "chelsea.png", &reader, &err), SMP_OK);
    smp_reader_close(reader);
}

static void a_hang_ends(void **context)
{
    (void)context;
    for (int asleep = 0; asleep < 2; asleep++) {
        smp_error err = {0};
        smp_reader *reader;
        smp_read_options l = reading();
        l.time_limit = 0.3;
        *shared = (orders){.what = asleep ? SLEEP : LOOP};
        const double begun = smp_now();
        assert_int_equal(smp_reader_open(SAMPLES "chelsea.png", &l, &reader, &err), SMP_E_LIMIT);
        assert_true(smp_now() - begun >= 0.3);
        assert_non_null(strstr(err.message, "--time-limit"));
        l.time_limit = 60;
        assert_int_equal(smp_reader_open(SAMPLES "chelsea.png", &l, &reader, &err), SMP_OK);
        smp_reader_close(reader);
    }
}

static void a_file_that_is_opened_again_has_all_its_time(void **context)
{
    (void)context;
    char path[] = "/tmp/smempipe-test-XXXXXX";
    smp_read_options l = reading();
    l.want.whole = true;
    l.time_limit = 0.2;
    make_damaged(path);
    double took;
    do { /* the first decoding is to end in time, however slow the machine is */
        smp_error err = {0};
        smp_reader *reader;
        l.time_limit *= 2;
        *shared = (orders){.what = DECODE};
        assert_int_equal(make_room(path, &err), SMP_OK);
        *shared = (orders){.what = NAP, .then = SLEEP, .nap = l.time_limit / 2};
        took = -smp_now();
        assert_int_equal(smp_reader_open(path, &l, &reader, &err), SMP_E_LIMIT);
        took += smp_now();
    } while (shared->opened < 2 && l.time_limit < 30);
    assert_int_equal(shared->opened, 2);
    assert_true(took >= 1.5 * l.time_limit);
    unlink(path);
}

static void lies_about_rows_end_the_decoder(void **context)
{
    (void)context;
    const char *path = SAMPLES "chelsea.png";
    smp_read_options l = reading();
    smp_error err = {0};
    smp_reader *reader;
    unsigned char rows[4 * SMP_ALIGN];
    bool more;
    l.want.whole = true;
    for (int how = 0; how < LIES; how++) {
        assert_int_equal(make_room(path, &err), SMP_OK);
        *shared = (orders){.what = LIE, .lie = how};
        assert_int_equal(smp_reader_open(path, &l, &reader, &err), SMP_E_DECODE);
        assert_string_equal(err.message, "the process that decodes the file gave an answer that is none");
        assert_int_equal(shared->opened, 1); /* and is not tried again */
    }
    for (int wanted = 0; wanted < 2; wanted++) { /* no picture follows rows that came ahead; none do for all pictures */
        assert_int_equal(make_room(path, &err), SMP_OK);
        *shared = (orders){.what = LIE, .lie = SMALL};
        l.frames = wanted;
        assert_int_equal(smp_reader_open(path, &l, &reader, &err), SMP_OK);
        assert_int_equal(smp_reader_rows(reader, rows, SMP_ALIGN, 4, &err), wanted ? SMP_E_DECODE : SMP_OK);
        assert_int_equal(smp_reader_next(reader, &more, &err), SMP_E_DECODE);
        assert_false(more);
        assert_true(wanted || strstr(err.message, "an answer that is none"));
        assert_int_equal(smp_reader_rows(reader, rows, SMP_ALIGN, 1, &err), SMP_E_DECODE);
        smp_reader_close(reader);
    }
    assert_int_equal(open_there(path, &reader, &err), SMP_OK);
    smp_reader_close(reader);
}

static void memory_ends(void **context)
{
    (void)context;
    smp_error err = {0};
    smp_reader *reader;
    if (SANITIZED)
        skip();
    *shared = (orders){.what = GROW, .grew = -1};
    assert_int_equal(open_there(SAMPLES "chelsea.png", &reader, &err), SMP_OK);
    smp_reader_close(reader);
    assert_int_equal(shared->grew, 0);
}

/* Whoever may have it is not told to install it. */
static void a_library_that_was_not_looked_for_is_not_called_missing(void **context)
{
    (void)context;
    smp_error err = {0};
    smp_reader *reader;
    *shared = (orders){.what = MISS};
    assert_int_equal(open_there(SAMPLES "chelsea.png", &reader, &err), SMP_OK);
    smp_reader_close(reader);
    assert_int_equal(shared->missed.code, SMP_E_READ);
    assert_non_null(strstr(shared->missed.message, "had not been looked for"));
    assert_null(strstr(shared->missed.hint, "install"));
    assert_true(smp_library_need(SMP_LIBRARY_HEIF, SMP_E_READ, &err) == SMP_OK || strstr(err.hint, "install"));
}

/* So that the first decoder begins with its library, and no other has to. */
static void a_library_is_known_by_what_lies_behind_tags(void **context)
{
    static const char tagged[] = "ID3\4\0\0\0\0\0\4\0\0\0\0\xFF\xF1\x50\x80\x02\x1F\xFC";
    char path[40];
    (void)context;
    const int fd = memfd_create("tagged", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    assert_int_equal(write(fd, tagged, sizeof tagged), sizeof tagged);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    assert_int_equal(smp_libraries_of_input(fd), smp_libraries_of_name("aac"));
    assert_int_equal(smp_libraries_of_file(path), smp_libraries_of_name("aac"));
    close(fd);
}

SMP_SUITE(worker)
{
#ifndef __linux__
    return 77;
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sample_is_the_same),
        cmocka_unit_test(errors_in_rows_are_the_same),
        cmocka_unit_test(readers_are_open_side_by_side),
        cmocka_unit_test(shared_memory_is_bounded),
        cmocka_unit_test(decoders_reach_nothing),
        cmocka_unit_test(a_crash_costs_one_file),
        cmocka_unit_test(a_hang_ends),
        cmocka_unit_test(a_file_that_is_opened_again_has_all_its_time),
        cmocka_unit_test(lies_about_rows_end_the_decoder),
        cmocka_unit_test(memory_ends),
        cmocka_unit_test(a_library_that_was_not_looked_for_is_not_called_missing),
        cmocka_unit_test(a_library_is_known_by_what_lies_behind_tags),
    };
    return cmocka_run_group_tests_name("worker", tests, start, stop);
}
