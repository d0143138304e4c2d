/* Atomic output files: see output.h. temporary.c holds the bytes until the file is complete. */
#include "io/files/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/paths.h"
#include "io/files/in_place.h"
#include "io/files/source.h"
#include "io/files/temporary.h"

enum {
    BUFFER = 1 << 17, /* bytes buffered before a write(2) */
    PORTION = 1 << 20 /* bytes after which writeback starts */
};

struct smp_output {
    char *path;   /* as the user gave it, for messages */
    char *target; /* the file to replace; null when written directly */
    int folder;   /* that it must lie in, -1: it may lie anywhere */
    smp_temporary temporary;
    int fd;
    bool force;
    int failed; /* errno of the first failed write */
    bool lazy_folder, lazy_sync;
    bool given; /* fd is a copy of a file that is the caller's: nothing is put in place */
    void (*take)(const void *data, size_t size, int64_t at); /* as in smp_output_options */
    smp_in_place *in_place; /* of the file that was there: `was`; null: nothing of it is looked at again */
    struct stat was;
    double *seconds;         /* gets the time of system calls added; may be null */
    uint64_t written, begun; /* bytes; those whose writeback was started */
    size_t used;
    uint8_t buffer[BUFFER];
};

static void destroy(smp_output *output)
{
    if (!output)
        return;
    if (output->fd >= 0)
        close(output->fd);
    smp_temporary_remove(&output->temporary);
    if (output->folder >= 0)
        close(output->folder);
    smp_free_all(output->path, output->target, output);
}

void smp_output_abort(smp_output *output)
{
    destroy(output);
}

/* target: what is replaced once all is written; null for standard output and special files, which may hold a part. */
static smp_code fail_write(const char *target, int number, smp_error *err)
{
    char text[128];
    smp_fail(err, SMP_E_WRITE, "cannot write: %s", smp_os_error(number, text, sizeof text));
    if (number == ENOSPC || number == EDQUOT)
        smp_hint(err, "make room on that disk, or write to another%s",
                 !target                     ? "; a part was written"
                 : access(target, F_OK) == 0 ? "; the file that was there before is untouched"
                                             : "");
    else if (number == EPIPE)
        smp_hint(err, "the program that was reading the output has ended");
    return SMP_E_WRITE;
}

/* write(2), or from `at` >= 0 on pwrite(2), that reports a closed pipe and a file over its size limit as EPIPE and
 * EFBIG, without raising a signal. Linux raises SIGPIPE also where the reader goes after a part was written. */
static ssize_t write_quietly(const smp_output *output, const void *data, size_t size, off_t at)
{
    const int fd = output->fd;
    sigset_t quiet, before, pending;
    if (output->take) {
        output->take(data, size, at);
        return (ssize_t)size;
    }
    sigemptyset(&quiet);
    sigaddset(&quiet, SIGPIPE);
    sigaddset(&quiet, SIGXFSZ);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &quiet, &before);
    ssize_t wrote = at < 0 ? write(fd, data, size) : pwrite(fd, data, size, at);
    int saved = errno;
    if (sigismember(&pending, SIGPIPE))
        sigdelset(&quiet, SIGPIPE);
    if (sigismember(&pending, SIGXFSZ))
        sigdelset(&quiet, SIGXFSZ);
    if (wrote < 0 || (size_t)wrote < size)
        while (sigtimedwait(&quiet, NULL, &(struct timespec){0}) < 0 && errno == EINTR)
            ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = saved;
    return wrote;
}

static void add_time(const smp_output *output, double start)
{
    if (output->seconds)
        *output->seconds += smp_now() - start;
}

/* Starts writeback of the bytes written, so that commit does not wait for all of it. Only a hint: commit checks errors.
 */
static void begin_writing(smp_output *output)
{
    if (output->target && !output->given && output->written - output->begun >= PORTION) {
        (void)sync_file_range(output->fd, (off_t)output->begun, (off_t)(output->written - output->begun),
                              SYNC_FILE_RANGE_WRITE);
        output->begun = output->written;
    }
}

static smp_code write_all(smp_output *output, const uint8_t *data, size_t size, smp_error *err)
{
    double start = smp_now();
    while (size && !output->failed) {
        ssize_t wrote = write_quietly(output, data, size, -1);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0) {
            output->failed = wrote < 0 ? errno : EIO;
            break;
        }
        data += wrote;
        size -= (size_t)wrote;
        output->written += (uint64_t)wrote;
    }
    begin_writing(output);
    add_time(output, start);
    return output->failed ? fail_write(output->target, output->failed, err) : SMP_OK;
}

smp_code smp_output_write(smp_output *output, const void *data, size_t size, smp_error *err)
{
    if (output->failed)
        return fail_write(output->target, output->failed, err);
    if (size > BUFFER - output->used) {
        smp_code code = write_all(output, output->buffer, output->used, err);
        output->used = 0;
        if (code != SMP_OK)
            return code;
    }
    if (size >= BUFFER)
        return write_all(output, data, size, err);
    memcpy(output->buffer + output->used, data, size);
    output->used += size;
    return SMP_OK;
}

smp_code smp_output_flush(smp_output *output, smp_error *err)
{
    if (output->target)
        return SMP_OK;
    smp_code code = output->failed ? fail_write(output->target, output->failed, err)
                                   : write_all(output, output->buffer, output->used, err);
    output->used = 0;
    return code;
}

uint64_t smp_output_size(const smp_output *output)
{
    return output->written + output->used;
}

bool smp_output_seekable(const smp_output *output)
{
    return output->target != NULL;
}

smp_code smp_output_patch(smp_output *output, uint64_t position, const void *data, size_t size, smp_error *err)
{
    smp_code code = output->failed ? fail_write(output->target, output->failed, err)
                                   : write_all(output, output->buffer, output->used, err);
    const double start = smp_now();
    output->used = 0;
    for (const uint8_t *from = data; code == SMP_OK && size;) {
        ssize_t wrote = write_quietly(output, from, size, (off_t)position);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0) {
            output->failed = wrote < 0 ? errno : EIO;
            return fail_write(output->target, output->failed, err);
        }
        from += wrote;
        position += (uint64_t)wrote;
        size -= (size_t)wrote;
    }
    add_time(output, start);
    return code;
}

/* ------------------------------------------------------------------------------------------------ opening */

static smp_code refuse_inputs(const struct stat *target, const char *const *inputs, smp_error *err)
{
    for (; inputs && *inputs; inputs++) {
        struct stat input;
        int got = strcmp(*inputs, "-") == 0 ? fstat(STDIN_FILENO, &input) : stat(*inputs, &input);
        if (got == 0 && S_ISREG(input.st_mode) && input.st_dev == target->st_dev && input.st_ino == target->st_ino) {
            smp_fail(err, SMP_E_WRITE, "the output is the same file as the input %s", *inputs);
            return smp_hint(
                err, "give the output another name; smempipe convert IN --in-place replaces IN, --force does not");
        }
    }
    return SMP_OK;
}

static smp_code open_stdout(smp_output *output, const char *const *inputs, smp_error *err)
{
    struct stat status;
    if (fstat(STDOUT_FILENO, &status) != 0)
        return fail_write(output->target, errno, err);
    if (isatty(STDOUT_FILENO))
        return smp_fail(err, SMP_E_USAGE, "standard output is a terminal, which cannot show a file's bytes"),
               smp_hint(err, "redirect it: smempipe ... - > out.png");
    if (S_ISREG(status.st_mode) && refuse_inputs(&status, inputs, err) != SMP_OK)
        return SMP_E_WRITE;
    output->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3); /* a copy, so that closing it reports late failures */
    return output->fd < 0 ? fail_write(output->target, errno, err) : SMP_OK;
}

/* A device or a named pipe: there is nothing to replace, so bytes are written directly. */
static smp_code open_special(smp_output *output, const char *path, smp_error *err)
{
    output->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (output->fd < 0) {
        char text[128];
        return smp_fail(err, SMP_E_WRITE, "cannot open for writing: %s", smp_os_error(errno, text, sizeof text));
    }
    if (isatty(output->fd))
        return smp_fail(err, SMP_E_USAGE, "is a terminal, which cannot show a file's bytes"),
               smp_hint(err, "write to a file, or redirect standard output");
    return SMP_OK;
}

static smp_code fail_exists(smp_error *err)
{
    smp_fail(err, SMP_E_WRITE, "the file exists already");
    return smp_hint(err, "replace it with --force, or give another name");
}

/* Reports that one of the names on the way, or all together, are too long. */
static smp_code fail_too_long(const char *path, smp_error *err)
{
    size_t longest = 0;
    for (const char *name = path, *end; *name; name = end + (*end == '/')) {
        end = name + strcspn(name, "/");
        longest = (size_t)(end - name) > longest ? (size_t)(end - name) : longest;
    }
    if (longest > NAME_MAX)
        smp_fail(err, SMP_E_WRITE, "the name is too long: it has %zu bytes, and file systems take %d", longest,
                 NAME_MAX);
    else
        smp_fail(err, SMP_E_WRITE, "the path is too long: it has %zu bytes, and the system takes %d", strlen(path),
                 PATH_MAX - 1);
    return smp_hint(err, "give a shorter name");
}

static smp_code fail_link(smp_error *err)
{
    smp_fail(err, SMP_E_WRITE, "is a link, which 'save' does not follow");
    return smp_hint(err, "remove it, or give the output another folder");
}

/* path: output->path, or a way to the same file by the open folder. */
static smp_code open_path(smp_output *output, const char *path, const char *const *inputs, smp_error *err)
{
    const bool beneath = output->folder >= 0;
    size_t length = strlen(path);
    if (!length)
        return smp_fail(err, SMP_E_WRITE, "the name of the output is empty");
    struct stat status, link;
    bool exists = (beneath ? lstat(path, &status) : stat(path, &status)) == 0;
    if (!exists && errno == ENAMETOOLONG)
        return fail_too_long(output->path, err);
    if (!exists && errno != ENOENT && errno != ENOTDIR && errno != ELOOP) {
        char text[128];
        smp_fail(err, SMP_E_WRITE, "cannot write there: %s", smp_os_error(errno, text, sizeof text));
        return smp_hint(err, "check the permissions of the folders on the way");
    }
    if ((exists && S_ISDIR(status.st_mode)) || path[length - 1] == '/')
        return smp_fail(err, SMP_E_WRITE, "is a folder"),
               smp_hint(err, "add a file name: %.200s%sNAME", output->path, path[length - 1] == '/' ? "" : "/");
    if (exists && S_ISLNK(status.st_mode))
        return fail_link(err);
    if (exists && beneath && !S_ISREG(status.st_mode)) { /* to wait for a reader is the user's choice */
        smp_fail(err, SMP_E_WRITE, "is a device or a pipe, which 'save' does not write to");
        return smp_hint(err, "remove it, or give the output another folder");
    }
    if (exists && (S_ISCHR(status.st_mode) || S_ISFIFO(status.st_mode)))
        return open_special(output, path, err);
    if (exists && !S_ISREG(status.st_mode))
        return smp_fail(err, SMP_E_WRITE, "is neither a file, a pipe nor a character device");
    if (exists) {
        SMP_TRY(output->in_place ? SMP_OK : refuse_inputs(&status, inputs, err));
        output->was = status;
        if (!output->force)
            return fail_exists(err);
        char *resolved = beneath ? strdup(path) : realpath(path, NULL);
        if (!resolved)
            return errno == ENOMEM ? smp_fail_memory(err, "a path", PATH_MAX) : fail_write(output->target, errno, err);
        output->target = smp_strdup(resolved);
        free(resolved);
    } else {
        if (lstat(path, &link) == 0 && !output->force)
            return smp_fail(err, SMP_E_WRITE, "is a symbolic link that leads nowhere"),
                   smp_hint(err, "replace it with --force, or give another name");
        output->target = smp_strdup(path);
    }
    SMP_NEED(output->target, "a path", length, err);
    smp_code code = smp_temporary_open(output->target, output->path, &output->temporary, &output->fd, err);
    if (code == SMP_OK && exists) /* replacing a private file must not make it public */
        (void)fchmod(output->fd, status.st_mode & 0777);
    return code;
}

/* The way to a file in an open folder: it leads there however the folder is called by now. */
static smp_code open_beneath(smp_output *output, const smp_beneath *at, const char *const *inputs, smp_error *err)
{
    char folder[40];
    output->folder = fcntl(at->folder, F_DUPFD_CLOEXEC, 3);
    snprintf(folder, sizeof folder, "/proc/self/fd/%d", output->folder);
    if (output->folder < 0 || !smp_is_folder(folder))
        return open_path(output, output->path, inputs, err);
    char *path = smp_asprintf("%s/%s", folder, at->name);
    smp_code code = path ? open_path(output, path, inputs, err) : smp_fail_memory(err, "a path", strlen(at->name));
    smp_free(path);
    return code;
}

static smp_code open_taken(smp_output *output, smp_error *err)
{
    output->given = true;
    if (strcmp(output->path, "-") != 0)
        SMP_NEED(output->target = smp_strdup(output->path), "a path", strlen(output->path), err);
    return SMP_OK;
}

/* A caller's open file. */
static smp_code open_given(smp_output *output, int file, smp_error *err)
{
    output->given = true;
    output->target = smp_strdup(output->path);
    SMP_NEED(output->target, "a path", strlen(output->path), err);
    output->fd = fcntl(file, F_DUPFD_CLOEXEC, 3);
    return output->fd < 0 ? fail_write(output->target, errno, err) : SMP_OK;
}

smp_code smp_output_open(const char *path, bool force, const char *const *inputs, smp_output **out, smp_error *err)
{
    return smp_output_open_as(path, &(smp_output_options){.force = force, .inputs = inputs}, out, err);
}

smp_code smp_output_open_as(const char *path, const smp_output_options *options, smp_output **out, smp_error *err)
{
    const char *const *inputs = options->inputs;
    *out = NULL;
    smp_output *output = smp_alloc_raw(sizeof *output);
    SMP_NEED(output, "an output buffer", sizeof *output, err);
    output->target = NULL;
    output->temporary = (smp_temporary){.slot = NULL};
    output->fd = output->folder = -1;
    output->force = options->force;
    output->given = false;
    output->failed = 0;
    output->seconds = options->seconds;
    output->take = options->take;
    output->in_place = options->in_place;
    output->lazy_folder = options->lazy_folder;
    output->lazy_sync = options->lazy_sync;
    output->used = 0;
    output->written = output->begun = 0;
    output->path = smp_strdup(path);
    smp_code code = !output->path            ? smp_fail_memory(err, "a path", strlen(path))
                    : options->take          ? open_taken(output, err)
                    : options->file          ? open_given(output, options->file, err)
                    : options->beneath       ? open_beneath(output, options->beneath, inputs, err)
                    : strcmp(path, "-") == 0 ? open_stdout(output, inputs, err)
                                             : open_path(output, path, inputs, err);
    if (code != SMP_OK) {
        destroy(output);
        return code;
    }
    *out = output;
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ committing */

void smp_sync_folder(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)fsync(fd); /* the file itself is safe; some file systems cannot sync a folder */
    close(fd);
}

static void sync_folder(const char *target)
{
    char folder[PATH_MAX];
    if (smp_folder_of(target, folder, sizeof folder))
        smp_sync_folder(folder);
}

smp_code smp_output_commit(smp_output *output, smp_error *err)
{
    smp_code code = output->failed ? fail_write(output->target, output->failed, err)
                                   : write_all(output, output->buffer, output->used, err);
    const bool place = output->target && !output->given;
    double start = smp_now();
    if (code == SMP_OK && output->in_place && output->target)
        code = smp_in_place_ready(output->in_place, output->fd, output->target, &output->was, err);
    if (code == SMP_OK && place && !output->lazy_sync && fsync(output->fd) != 0 && errno != EINVAL && errno != EROFS)
        code = fail_write(output->target, errno, err);
    int held = fcntl(output->fd, F_DUPFD_CLOEXEC, 3); /* keeps the file and its lock until it is in place */
    if (code == SMP_OK && place && held < 0)
        code = fail_write(output->target, errno, err);
    int closed = close(output->fd), number = errno;
    output->fd = -1;
    if (code == SMP_OK && closed != 0 && number != EINTR)
        code = fail_write(output->target, number, err);
    if (code == SMP_OK && output->in_place && output->target)
        code = smp_in_place_backup(output->in_place, output->target, &output->was, err);
    if (code == SMP_OK && place) {
        if (smp_temporary_place(&output->temporary, held, output->target, output->force) != 0) {
            char text[128];
            code = errno == EEXIST ? fail_exists(err)
                                   : smp_fail(err, SMP_E_WRITE, "cannot put the finished file in place: %s",
                                              smp_os_error(errno, text, sizeof text));
        } else if (!output->lazy_folder)
            sync_folder(output->target);
    }
    if (held >= 0)
        close(held);
    add_time(output, start);
    destroy(output);
    return code;
}

static bool in_one_folder(const smp_output *a, const smp_output *b)
{
    char folders[2][PATH_MAX];
    return a->target && b->target && smp_folder_of(a->target, folders[0], PATH_MAX) &&
           smp_folder_of(b->target, folders[1], PATH_MAX) && !strcmp(folders[0], folders[1]);
}

smp_code smp_outputs_sync(smp_output *const *outputs, size_t count, smp_error *err)
{
    const smp_output *first = NULL;
    struct stat place, status;
    for (size_t i = 0; i < count; i++) {
        smp_output *output = outputs[i];
        smp_code code = output->failed ? fail_write(output->target, output->failed, err)
                                       : write_all(output, output->buffer, output->used, err);
        if (code)
            return smp_at(err, "%s", output->target ? output->path : "standard output"), code;
        output->used = 0;
        first = !first && output->target ? output : first;
    }
    if (!first || fstat(first->fd, &place) != 0 || syncfs(first->fd) != 0)
        return SMP_OK;
    for (size_t i = 0; i < count; i++) {
        outputs[i]->lazy_sync |= fstat(outputs[i]->fd, &status) == 0 && status.st_dev == place.st_dev;
        outputs[i]->lazy_folder |= i && in_one_folder(outputs[i], outputs[i - 1]);
    }
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ folders */

smp_code smp_make_folders(const char *path, smp_error *err)
{
    char copy[PATH_MAX], why[128];
    size_t length = strlen(path);
    if (length >= sizeof copy)
        return fail_too_long(path, err);
    memcpy(copy, path, length + 1);
    char *last = strrchr(copy, '/');
    if (!last || last == copy)
        return SMP_OK;
    *last = '\0';
    if (mkdir(copy, 0777) == 0 || errno == EEXIST)
        return SMP_OK;
    for (char *p = copy + 1; errno == ENOENT && *p; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        (void)mkdir(copy, 0777);
        *p = '/';
        errno = ENOENT;
    }
    if (mkdir(copy, 0777) == 0 || errno == EEXIST)
        return SMP_OK;
    if (errno == ENAMETOOLONG) {
        fail_too_long(copy, err);
    } else {
        smp_fail(err, SMP_E_WRITE, "cannot make the folder: %s", smp_os_error(errno, why, sizeof why));
        smp_hint(err, "give one in a folder that you may write to");
    }
    return smp_at(err, "%s", copy);
}
