/* Output files appear whole or not at all, never over an input, and say what is wrong. */
#include "suite.h"

#include "media_fixture.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "io/files/output.h"
#include "io/files/temporary.h"

static void expect_content(const char *path, const char *text)
{
    size_t size;
    char *data = (char *)load(path, &size);
    assert_int_equal(size, strlen(text));
    assert_memory_equal(data, text, size);
    free(data);
}

/* A commit with this text. */
static smp_code put(const char *path, bool force, const char *const *inputs, const char *text, smp_error *err)
{
    smp_output *output;
    *err = (smp_error){0};
    smp_code code = smp_output_open(path, force, inputs, &output, err);
    if (code != SMP_OK) {
        assert_null(output);
        return code;
    }
    code = smp_output_write(output, text, strlen(text), err);
    if (code == SMP_OK)
        return smp_output_commit(output, err);
    smp_output_abort(output);
    return code;
}

SMP_TEST(a_file_appears_at_commit_and_not_before)
{
    clear_folder();
    smp_error err = {0};
    smp_output *output;
    assert_ok(smp_output_open(in_folder("a"), false, NULL, &output, &err));
    assert_ok(smp_output_write(output, "hello", 5, &err));
    assert_int_equal(access(in_folder("a"), F_OK), -1);
    assert_ok(smp_output_commit(output, &err));
    expect_content(in_folder("a"), "hello");
    assert_int_equal(count_files(), 1);
}

SMP_TEST(abort_leaves_what_was_there)
{
    clear_folder();
    smp_error err = {0};
    smp_output *output;
    store(in_folder("a"), "old", 3);
    assert_ok(smp_output_open(in_folder("a"), true, NULL, &output, &err));
    assert_ok(smp_output_write(output, "new", 3, &err));
    smp_output_abort(output);
    expect_content(in_folder("a"), "old");
    assert_int_equal(count_files(), 1);
}

SMP_TEST(a_new_file_has_the_mode_that_umask_leaves)
{
    clear_folder();
    smp_error err;
    struct stat status;
    mode_t before = umask(027);
    assert_ok(put(in_folder("a"), false, NULL, "x", &err));
    assert_int_equal(stat(in_folder("a"), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
    chmod(in_folder("a"), 0600);
    umask(0);
    assert_ok(put(in_folder("a"), true, NULL, "y", &err)); /* replacing does not publish a private file */
    assert_int_equal(stat(in_folder("a"), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    umask(before);
}

SMP_TEST(an_existing_file_needs_force)
{
    clear_folder();
    smp_error err;
    store(in_folder("a"), "old", 3);
    assert_int_equal(put(in_folder("a"), false, NULL, "new", &err), SMP_E_WRITE);
    assert_non_null(strstr(err.hint, "--force"));
    expect_content(in_folder("a"), "old");
    assert_ok(put(in_folder("a"), true, NULL, "new", &err));
    expect_content(in_folder("a"), "new");
    assert_int_equal(count_files(), 1);
}

SMP_TEST(a_file_that_appears_meanwhile_is_kept)
{
    clear_folder();
    smp_error err = {0};
    smp_output *output;
    assert_ok(smp_output_open(in_folder("a"), false, NULL, &output, &err));
    assert_ok(smp_output_write(output, "late", 4, &err));
    store(in_folder("a"), "first", 5);
    assert_int_equal(smp_output_commit(output, &err), SMP_E_WRITE);
    expect_content(in_folder("a"), "first");
    assert_int_equal(count_files(), 1);
}

SMP_TEST(the_input_is_never_the_output)
{
    clear_folder();
    smp_error err;
    store(in_folder("in"), "data", 4);
    assert_int_equal(symlink("in", in_folder("soft")), 0);
    assert_int_equal(link(in_folder("in"), in_folder("hard")), 0);
    char input[320];
    snprintf(input, sizeof input, "%s", in_folder("in"));
    const char *inputs[] = {"/nonexistent", input, NULL};
    static const char *const targets[] = {"in", "soft", "hard"};
    for (int force = 0; force < 2; force++)
        for (int i = 0; i < 3; i++) {
            assert_int_equal(put(in_folder(targets[i]), force, inputs, "new", &err), SMP_E_WRITE);
            assert_non_null(strstr(err.message, "same file"));
        }
    char soft[320];
    snprintf(soft, sizeof soft, "%s", in_folder("soft"));
    const char *through_link[] = {soft, NULL};
    assert_int_equal(put(in_folder("in"), true, through_link, "new", &err), SMP_E_WRITE);
    expect_content(input, "data");
    assert_int_equal(count_files(), 3);
}

SMP_TEST(a_link_is_followed_and_stays)
{
    clear_folder();
    smp_error err;
    store(in_folder("real"), "old", 3);
    assert_int_equal(symlink("real", in_folder("soft")), 0);
    assert_ok(put(in_folder("soft"), true, NULL, "new", &err));
    expect_content(in_folder("real"), "new");
    struct stat status;
    assert_int_equal(lstat(in_folder("soft"), &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(symlink("nowhere", in_folder("dangling")), 0);
    assert_int_equal(put(in_folder("dangling"), false, NULL, "new", &err), SMP_E_WRITE);
}

SMP_TEST(wrong_targets_are_explained)
{
    clear_folder();
    smp_error err;
    assert_int_equal(put(folder, true, NULL, "x", &err), SMP_E_WRITE);
    assert_non_null(strstr(err.message, "folder"));
    assert_int_equal(put(in_folder("none/a"), true, NULL, "x", &err), SMP_E_WRITE);
    assert_non_null(strstr(err.message, "does not exist"));
    assert_non_null(strstr(err.hint, "mkdir"));
    assert_int_equal(put(in_folder("new/"), true, NULL, "x", &err), SMP_E_WRITE);
    assert_int_equal(put("", true, NULL, "x", &err), SMP_E_WRITE);
    char *name = malloc(5000);
    assert_non_null(name);
    memset(name, 'n', 4999);
    name[4999] = '\0';
    assert_int_equal(put(name, true, NULL, "x", &err), SMP_E_WRITE);
    free(name);
    if (geteuid() != 0) {
        assert_int_equal(mkdir(in_folder("locked"), 0500), 0);
        assert_int_equal(put(in_folder("locked/a"), true, NULL, "x", &err), SMP_E_WRITE);
        assert_non_null(strstr(err.hint, "may not write"));
        rmdir(in_folder("locked"));
    }
}

SMP_TEST(special_files_are_written_directly)
{
    smp_error err;
    assert_ok(put("/dev/null", false, NULL, "x", &err));
    assert_int_equal(put("/dev/full", false, NULL, "x", &err), SMP_E_WRITE);
    assert_non_null(strstr(err.message, "No space left"));
    assert_true(err.hint[0]);
    struct stat status;
    assert_int_equal(stat("/dev/null", &status), 0);
    assert_true(S_ISCHR(status.st_mode));
}

/* Runs put() on standard output in a child with that descriptor as its output; the child's exit status is the code. */
static int put_to_stdout(int fd, size_t size)
{
    pid_t child = fork();
    if (child == 0) {
        smp_error err = {0};
        smp_output *output;
        dup2(fd, STDOUT_FILENO);
        smp_code code = smp_output_open("-", false, NULL, &output, &err);
        char block[1000] = {0};
        for (size_t i = 0; i < size && code == SMP_OK; i += sizeof block)
            code = smp_output_write(output, block, sizeof block, &err);
        if (code == SMP_OK)
            code = smp_output_commit(output, &err);
        _exit((int)code);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status)); /* a signal would mean that SIGPIPE got through */
    return WEXITSTATUS(status);
}

SMP_TEST(standard_output_reports_broken_pipes_and_full_disks)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    assert_int_equal(put_to_stdout(ends[1], 1000000), SMP_E_WRITE);
    assert_int_equal(put_to_stdout(ends[1], 1000), SMP_E_WRITE);
    close(ends[1]);
    int full = open("/dev/full", O_WRONLY);
    assert_true(full >= 0);
    assert_int_equal(put_to_stdout(full, 1000), SMP_E_WRITE);
    close(full);
}

SMP_TEST(a_terminal_is_refused)
{
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0)
        skip();
    assert_int_equal(grantpt(terminal) | unlockpt(terminal), 0);
    const char *name = ptsname(terminal);
    assert_non_null(name);
    int other = open(name, O_RDWR | O_NOCTTY);
    if (other < 0)
        skip();
    assert_int_equal(put_to_stdout(other, 1000), SMP_E_USAGE);
    smp_error err;
    assert_int_equal(put(name, true, NULL, "x", &err), SMP_E_USAGE);
    close(other);
    close(terminal);
}

/* A limit on the size of files stands for a full disk: write fails half-way. */
SMP_TEST(a_failed_write_leaves_the_old_file)
{
    clear_folder();
    store(in_folder("a.npy"), "old", 3);
    pid_t child = fork();
    if (child == 0) {
        struct rlimit small = {100000, 100000};
        setrlimit(RLIMIT_FSIZE, &small);
        smp_error err = {0};
        picture p = make_picture(500, 500, 3, false, SMP_U8);
        smp_code code = write_picture(in_folder("a.npy"), &p, &err);
        _exit(code == SMP_E_WRITE && strstr(err.where, "a.npy") && strstr(err.message, "too large") ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    expect_content(in_folder("a.npy"), "old");
    assert_int_equal(count_files(), 1);
}

SMP_TEST(a_writer_with_rows_missing_does_not_commit)
{
    clear_folder();
    static const char *const names[] = {"a.png", "a.jpg", "a.npy", "a.bmp", "a.ppm", "a.tga"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        smp_error err = {0};
        picture p = make_picture(5, 5, 3, false, SMP_U8);
        smp_writer *writer;
        assert_ok(smp_writer_open(in_folder(names[i]), &p.shape, NULL, NULL, &writer, &err));
        assert_ok(smp_writer_rows(writer, p.data, (int64_t)p.row, 4, &err));
        assert_int_equal(smp_writer_commit(writer, &err), SMP_E_PROCESS);
        assert_non_null(strstr(err.message, "4 of 5"));
        assert_ok(smp_writer_open(in_folder(names[i]), &p.shape, NULL, NULL, &writer, &err));
        assert_int_equal(smp_writer_rows(writer, p.data, (int64_t)p.row, 6, &err), SMP_E_PROCESS);
        smp_writer_abort(writer);
        assert_int_equal(count_files(), 0);
        free_picture(&p);
    }
    smp_writer_abort(NULL);
}

SMP_TEST(every_error_names_the_file)
{
    smp_error err = {0};
    picture p;
    assert_int_equal(read_picture(in_folder("missing.png"), &p, &err), SMP_E_READ);
    assert_string_equal(err.where, in_folder("missing.png"));
    assert_int_equal(read_picture(folder, &p, &err), SMP_E_READ);
    assert_string_equal(err.where, folder);
    store(in_folder("bad.png"), "\x89PNG\r\n\x1A\nxx", 10);
    assert_int_equal(read_picture(in_folder("bad.png"), &p, &err), SMP_E_DECODE);
    assert_string_equal(err.where, in_folder("bad.png"));
    smp_read_options how = smp_read_defaults();
    how.limits.max_file = 5;
    smp_reader *reader;
    assert_int_equal(smp_reader_open(in_folder("bad.png"), &how, &reader, &err), SMP_E_LIMIT);
    assert_string_equal(err.where, in_folder("bad.png"));
    assert_non_null(strstr(err.hint, "--max-file"));
    unlink(in_folder("bad.png"));
}

SMP_TEST(a_signal_handler_removes_temporary_files)
{
    clear_folder();
    smp_error err = {0};
    smp_output *one, *two;
    smp_temporary_set_named(true);
    assert_ok(smp_output_open(in_folder("a"), false, NULL, &one, &err));
    assert_ok(smp_output_open(in_folder("b"), false, NULL, &two, &err));
    assert_int_equal(count_files(), 2);
    smp_writer_abort_all();
    assert_int_equal(count_files(), 0);
    assert_int_equal(smp_output_commit(one, &err), SMP_E_WRITE);
    smp_output_abort(two);
    assert_ok(put(in_folder("a"), false, NULL, "x", &err)); /* places in the table are free again */
    smp_writer_abort_all();
    assert_int_equal(count_files(), 1);
    smp_temporary_set_named(false);
}

/* Reads every format from a pipe, which cannot seek, fed a few bytes at a time. */
SMP_TEST(pipes_are_read_like_files)
{
    static const char *const names[] = {"s.png", "s.jpg", "s.npy", "s.bmp", "s.ppm", "s.tga"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        smp_error err = {0};
        picture p = make_picture(90, 70, 3, false, SMP_U8), q, r;
        assert_ok(write_picture(in_folder(names[i]), &p, &err));
        assert_ok(read_picture(in_folder(names[i]), &q, &err));
        assert_int_equal(mkfifo(in_folder("fifo"), 0600), 0);
        pid_t child = fork();
        if (child == 0) {
            size_t size;
            uint8_t *data = load(in_folder(names[i]), &size);
            int fd = open(in_folder("fifo"), O_WRONLY);
            for (size_t n = 0; n < size;) {
                ssize_t wrote = write(fd, data + n, size - n < 997 ? size - n : 997);
                if (wrote <= 0)
                    _exit(1);
                n += (size_t)wrote;
            }
            _exit(0);
        }
        assert_ok(read_picture(in_folder("fifo"), &r, &err));
        assert_same_picture(&q, &r);
        int status;
        waitpid(child, &status, 0);
        unlink(in_folder("fifo"));
        free_picture(&p);
        free_picture(&q);
        free_picture(&r);
    }
}

/* A writer in a process of its own that has begun with "a": kill it. */
static pid_t begin_writer(bool force)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (!child) {
        smp_output *output;
        if (smp_output_open(in_folder("a"), force, NULL, &output, NULL) == SMP_OK && write(ready[1], "", 1) == 1)
            pause();
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return child;
}

static void end_writer(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

SMP_TEST(a_killed_writer_leaves_nothing)
{
    clear_folder();
    int fd = open(in_folder(""), O_WRONLY | O_TMPFILE, 0600);
    if (fd < 0)
        skip(); /* this file system has no files without a name */
    close(fd);
    end_writer(begin_writer(false));
    assert_int_equal(count_files(), 0);
    store(in_folder("a"), "old", 3);
    end_writer(begin_writer(true));
    assert_int_equal(count_files(), 1);
    expect_content(in_folder("a"), "old");
}

SMP_TEST(a_sweep_removes_what_a_kill_left_and_nothing_else)
{
    clear_folder();
    smp_temporary_set_named(true);
    pid_t child = begin_writer(false);
    store(in_folder(".smempipe-notes.tmp"), "mine", 4);
    assert_int_equal(smp_output_sweep(in_folder("")), 0); /* in use */
    assert_int_equal(count_files(), 2);
    end_writer(child);
    assert_int_equal(smp_output_sweep(in_folder("")), 1);
    assert_int_equal(count_files(), 1);
    expect_content(in_folder(".smempipe-notes.tmp"), "mine");
    smp_temporary_set_named(false);
}

/* Again with files that have a name from the beginning. */
SMP_TEST(on_file_systems_without_nameless_files_too)
{
    smp_temporary_set_named(true);
    a_file_appears_at_commit_and_not_before(NULL);
    abort_leaves_what_was_there(NULL);
    a_new_file_has_the_mode_that_umask_leaves(NULL);
    an_existing_file_needs_force(NULL);
    a_file_that_appears_meanwhile_is_kept(NULL);
    a_link_is_followed_and_stays(NULL);
    wrong_targets_are_explained(NULL);
    a_failed_write_leaves_the_old_file(NULL);
    smp_temporary_set_named(false);
}

SMP_TESTS_AROUND(make_folder, remove_folder)
