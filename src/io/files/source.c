/* Buffered bytes of a file, a pipe or memory: see source.h. */
#include "io/files/source.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/clock.h"

const char *smp_os_error(int number, char *text, size_t size)
{
    return strerror_r(number, text, size);
}

/* `pages.tif[1]`, as another program names a page, counted from 0, or a size: says how it is here. False: it is none.
 */
static bool hint_brackets(const char *path, smp_error *err)
{
    enum { MOST = 4096 }; /* of a path */
    const char *bracket = strrchr(path, '[');
    char file[MOST], *end;
    if (!bracket || bracket - path >= MOST || path[strlen(path) - 1] != ']')
        return false;
    memcpy(file, path, (size_t)(bracket - path));
    file[bracket - path] = '\0';
    if (access(file, F_OK) != 0)
        return false;
    const long page = bracket[1] >= '0' && bracket[1] <= '9' ? strtol(bracket + 1, &end, 10) : -1;
    if (page >= 0 && page < INT_MAX && end[0] == ']')
        smp_hint(err, "pages are counted from 1: write %.300s --page %ld", file, page + 1);
    else
        smp_hint(err, "write %.300s alone; sizes are made by `resize`, and `crop`", file);
    return true;
}

static smp_code fail_open(const char *path, int number, smp_error *err)
{
    char text[128];
    smp_fail(err, SMP_E_READ, "cannot open: %s", smp_os_error(number, text, sizeof text));
    if (number == ENOENT && !hint_brackets(path, err))
        smp_hint(err, "check the spelling of the path");
    else if (number == EACCES)
        smp_hint(err, "you may not read it, or not enter a folder on the way: ls -l says who may");
    else if (number == EMFILE || number == ENFILE)
        smp_hint(err, "too many files are open at once");
    return SMP_E_READ;
}

static smp_code fail_limit(uint64_t limit, smp_error *err)
{
    smp_fail(err, SMP_E_LIMIT, "the file is larger than the limit of %llu bytes", (unsigned long long)limit);
    return smp_hint(err, "raise the limit with --max-file");
}

/* ------------------------------------------------------------------------------------------------ pipes */

enum { MOST_PIPES = 64 }; /* those beyond are not known */

static struct {
    pthread_mutex_t lock;
    bool once;
    void (*waits)(const char *path);
    size_t count;
    struct {
        dev_t device;
        ino_t inode;
    } read[MOST_PIPES];
} pipes = {.lock = PTHREAD_MUTEX_INITIALIZER};

void smp_source_pipes_once(void (*waits)(const char *path))
{
    pipes.once = true;
    pipes.waits = waits;
}

static void remember_pipe(const struct stat *status)
{
    pthread_mutex_lock(&pipes.lock);
    if (pipes.once && pipes.count < MOST_PIPES) {
        pipes.read[pipes.count].device = status->st_dev;
        pipes.read[pipes.count++].inode = status->st_ino;
    }
    pthread_mutex_unlock(&pipes.lock);
}

/* Asks the file system only where pipes were read. */
static bool is_read_pipe(const char *path)
{
    struct stat status;
    bool found = false;
    pthread_mutex_lock(&pipes.lock);
    if (pipes.count && stat(path, &status) == 0 && S_ISFIFO(status.st_mode))
        for (size_t i = 0; i < pipes.count; i++)
            found = found || (pipes.read[i].device == status.st_dev && pipes.read[i].inode == status.st_ino);
    pthread_mutex_unlock(&pipes.lock);
    return found;
}

static smp_code fail_twice(const char *path, smp_error *err)
{
    smp_fail(err, SMP_E_READ, "is a pipe, which can be read once, and this command reads it twice");
    if (!strncmp(path, "/dev/", 5)) /* a number of this process: no name to type */
        return smp_hint(err, "keep its bytes in a file, and give that: COMMAND > FILE instead of <(COMMAND)");
    return smp_hint(err, "keep its bytes in a file, and give that: cat %.200s > FILE", path);
}

/* ------------------------------------------------------------------------------------------------ opening */

/* Finds out what an open descriptor is. standard: it may have been read before. path: for messages. */
static smp_code look_at(smp_source *source, int fd, const char *path, bool standard, smp_error *err)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return fail_open(path, errno, err);
    if (S_ISDIR(status.st_mode))
        return smp_fail(err, SMP_E_READ, "is a folder, not a file"),
               smp_hint(err, "give a file in it; smempipe batch, convert and measure take whole folders");
    if (standard && isatty(fd))
        return smp_fail(err, SMP_E_USAGE, "standard input is a terminal"),
               smp_hint(err, "redirect a file: smempipe ... - < in.png");
    if (S_ISREG(status.st_mode)) {
        /* A redirected file may have been read before: positions count from its current offset. */
        off_t start = standard ? lseek(fd, 0, SEEK_CUR) : 0;
        source->seekable = start == 0;
        if (start >= 0 && start <= status.st_size)
            source->size = (uint64_t)(status.st_size - start);
        if (source->size != UINT64_MAX && source->size > source->limit)
            return fail_limit(source->limit, err);
        (void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    } else if (S_ISFIFO(status.st_mode) && !standard)
        remember_pipe(&status);
    source->fd = fd;
    source->owned = !standard;
    return SMP_OK;
}

static smp_source closed_source(const smp_limits *limits)
{
    return (smp_source){.fd = -1, .size = UINT64_MAX, .limit = limits->max_file ? limits->max_file : UINT64_MAX};
}

/* Waits for somebody to write into a named pipe. seconds: as long as that at most; 0: as long as it takes. */
static smp_code await(int fd, const char *path, double seconds, smp_error *err)
{
    static const double patience = 3; /* seconds */
    struct stat status;
    struct pollfd input = {.fd = fd, .events = POLLIN};
    const bool pipe = fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode);
    (void)fcntl(fd, F_SETFL, 0);
    const double end = seconds > 0 ? smp_now() + seconds : INFINITY;
    void (*waits)(const char *) = pipes.waits;
    for (double left; pipe && (left = end - smp_now()) > 0;) {
        const int ready = poll(&input, 1, (int)fmin(ceil(1e3 * (waits ? fmin(left, patience) : left)), INT_MAX));
        if (ready > 0 || (ready < 0 && errno != EINTR))
            return SMP_OK;
        if (!ready && waits && left > patience)
            waits(path);
        waits = ready ? waits : NULL;
    }
    if (!pipe)
        return SMP_OK;
    return smp_fail(err, SMP_E_LIMIT, "is a pipe into which nobody wrote for %g s (--time-limit)", seconds);
}

smp_code smp_source_find(smp_source *source, const char *path, const smp_limits *limits, double seconds, smp_error *err)
{
    *source = closed_source(limits);
    bool standard = strcmp(path, "-") == 0;
    if (!standard && is_read_pipe(path))
        return fail_twice(path, err);
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return fail_open(path, errno, err);
    smp_code code = standard ? SMP_OK : await(fd, path, seconds, err);
    code = code ? code : look_at(source, fd, path, standard, err);
    if (code && !standard)
        close(fd);
    return code;
}

smp_code smp_source_of_file(smp_source *source, int fd, const smp_limits *limits, smp_error *err)
{
    *source = closed_source(limits);
    const smp_code code = look_at(source, fd, "", false, err);
    if (code)
        close(fd);
    return code;
}

smp_code smp_source_buffer(smp_source *source, smp_error *err)
{
    source->buffer = smp_alloc_raw(SMP_SOURCE_BUFFER);
    if (source->buffer)
        return SMP_OK;
    smp_source_close(source);
    return smp_fail_memory(err, "a file buffer", SMP_SOURCE_BUFFER);
}

smp_code smp_source_open(smp_source *source, const char *path, const smp_limits *limits, smp_error *err)
{
    SMP_TRY(smp_source_find(source, path, limits, 0, err));
    return smp_source_buffer(source, err);
}

void smp_source_memory(smp_source *source, const void *data, size_t size)
{
    *source = (smp_source){.fd = -1, .size = size, .limit = UINT64_MAX, .memory = data, .end = size, .seekable = true};
}

void smp_source_close(smp_source *source)
{
    if (source->owned && source->fd >= 0)
        close(source->fd);
    if (source->spool_file > 0)
        close(source->spool_file);
    smp_free_all(source->buffer, source->spooled, source->kept);
    *source = (smp_source){.fd = -1};
}

/* The buffer's bytes are not those in front of the next one. */
static void drop_buffer(smp_source *source)
{
    if (!source->memory)
        source->begin = source->end = 0;
}

/* Returns the bytes of a seekable file from `position` on in the buffer; null: they are not there. *have: how many. */
static const uint8_t *buffered(const smp_source *source, uint64_t position, size_t *have)
{
    const uint64_t from = source->position - source->begin;
    if (source->position < source->begin || position < from || position - from > source->end)
        return NULL;
    *have = source->end - (size_t)(position - from);
    return source->buffer + (position - from);
}

void smp_source_keep(smp_source *source)
{
    source->keeping = !source->seekable;
}

void smp_source_keep_no_more(smp_source *source)
{
    smp_free(source->kept);
    source->kept = NULL;
    source->kept_size = source->kept_capacity = 0;
    source->keeping = false;
}

static void keep(smp_source *source, const uint8_t *bytes, size_t size)
{
    if (!smp_grow(&source->kept, &source->kept_capacity, smp_max_u64(source->kept_size + size, SMP_SOURCE_BUFFER), 1)) {
        source->failed = ENOMEM;
        return;
    }
    memcpy(source->kept + source->kept_size, bytes, size);
    source->kept_size += size;
}

void smp_source_again(smp_source *source, uint64_t limit)
{
    if (source->kept) {
        smp_free(source->buffer);
        source->buffer = source->kept;
        source->end = source->kept_size;
        source->kept = NULL;
        smp_source_keep_no_more(source);
    }
    source->begin = 0;
    source->position = source->base = 0;
    source->limit = limit;
}

/* Waits for bytes as long as somebody wants them. */
static bool await_bytes(const smp_source *source)
{
    enum { LOOK = 50 /* milliseconds from one look at `stopped` to the next */ };
    struct pollfd input = {.fd = source->fd, .events = POLLIN};
    while (source->stopped && poll(&input, 1, LOOK) == 0)
        if (atomic_load(source->stopped))
            return false;
    return true;
}

/* One read(2) into `to`; 0 at the end, on failure, or when the limit is exceeded. */
static size_t read_some(smp_source *source, uint8_t *to, size_t size)
{
    if (source->at_end || source->failed || source->over_limit)
        return 0;
    for (;;) {
        double start = smp_now();
        ssize_t got = -1;
        if (await_bytes(source))
            got = read(source->fd, to, size);
        else
            errno = ECANCELED;
        source->seconds += smp_now() - start;
        if (got > 0 && source->keeping)
            keep(source, to, (size_t)got);
        if (got > 0)
            return source->failed ? 0 : (size_t)got;
        if (got == 0) {
            source->at_end = true;
            return 0;
        }
        if (errno == EINTR)
            continue;
        source->failed = errno;
        return 0;
    }
}

static bool count_against_limit(smp_source *source, size_t buffered)
{
    if (source->position + buffered > source->limit)
        source->over_limit = true;
    return !source->over_limit;
}

size_t smp_source_peek(smp_source *source, const uint8_t **at, size_t want)
{
    if (!source->memory) {
        if (want > SMP_SOURCE_BUFFER)
            want = SMP_SOURCE_BUFFER;
        if (source->begin && source->end - source->begin < want) {
            memmove(source->buffer, source->buffer + source->begin, source->end - source->begin);
            source->end -= source->begin;
            source->begin = 0;
        }
        while (source->end - source->begin < want) {
            size_t got = read_some(source, source->buffer + source->end, SMP_SOURCE_BUFFER - source->end);
            if (!got || !count_against_limit(source, source->end - source->begin + got))
                break;
            source->end += got;
        }
        *at = source->buffer + source->begin;
    } else {
        *at = source->memory + source->begin;
    }
    size_t have = source->end - source->begin;
    return have < want ? have : want;
}

size_t smp_source_available(smp_source *source)
{
    const uint8_t *at;
    return smp_source_peek(source, &at, 1) ? source->end - source->begin : 0;
}

size_t smp_source_take(smp_source *source, const uint8_t **at)
{
    if (source->begin == source->end) {
        if (source->memory)
            return 0;
        source->begin = source->end = 0;
        size_t got = read_some(source, source->buffer, SMP_SOURCE_BUFFER);
        if (!got || !count_against_limit(source, got))
            return 0;
        source->end = got;
    }
    *at = (source->memory ? source->memory : source->buffer) + source->begin;
    size_t have = source->end - source->begin;
    source->begin = source->end;
    source->position += have;
    return have;
}

size_t smp_source_read(smp_source *source, void *to, size_t size)
{
    size_t done = 0;
    while (done < size) {
        size_t have = source->end - source->begin;
        if (!have) {
            const uint8_t *at;
            if (!source->memory && size - done >= SMP_SOURCE_BUFFER) { /* large reads bypass the buffer */
                drop_buffer(source);
                size_t got = read_some(source, (uint8_t *)to + done, size - done);
                if (!got || !count_against_limit(source, got))
                    break;
                source->position += got;
                done += got;
                continue;
            }
            if (!smp_source_peek(source, &at, 1))
                break;
            have = source->end - source->begin;
        }
        size_t n = have < size - done ? have : size - done;
        memcpy((uint8_t *)to + done, (source->memory ? source->memory : source->buffer) + source->begin, n);
        source->begin += n;
        source->position += n;
        done += n;
    }
    return done;
}

uint64_t smp_source_skip(smp_source *source, uint64_t size)
{
    uint64_t done = 0;
    while (done < size) {
        const uint8_t *at;
        if (!smp_source_peek(source, &at, 1))
            break;
        uint64_t have = source->end - source->begin, n = have < size - done ? have : size - done;
        source->begin += (size_t)n;
        source->position += n;
        done += n;
    }
    return done;
}

bool smp_source_begin(smp_source *source, uint64_t bytes)
{
    if (source->size != UINT64_MAX && bytes > source->size)
        return false;
    if (source->memory) {
        source->memory += bytes;
        source->end -= (size_t)bytes;
    } else if (source->seekable) {
        source->base += bytes;
    } else if (smp_source_skip(source, bytes) != bytes) {
        return false;
    }
    source->size -= source->size != UINT64_MAX ? bytes : 0;
    source->limit -= source->limit != UINT64_MAX ? smp_min_u64(bytes, source->limit) : 0;
    source->position = 0;
    if (!source->seekable) /* what the buffer holds of a pipe is all that is left of it */
        return true;
    drop_buffer(source);
    return smp_source_seek(source, 0);
}

bool smp_source_begin_earlier(smp_source *source, uint64_t bytes)
{
    if (!source->seekable)
        return false;
    if (source->memory) {
        source->memory -= bytes;
        source->end += (size_t)bytes;
    } else {
        source->base -= bytes;
        drop_buffer(source);
    }
    source->size += source->size != UINT64_MAX ? bytes : 0;
    source->limit += source->limit != UINT64_MAX ? bytes : 0;
    return smp_source_seek(source, 0);
}

bool smp_source_seek(smp_source *source, uint64_t position)
{
    if (!source->seekable)
        return false;
    if (source->memory) {
        source->begin = position < source->end ? (size_t)position : source->end;
        source->position = source->begin;
        return true;
    }
    size_t have;
    const uint8_t *there = buffered(source, position, &have);
    if (there && have) {
        source->begin = (size_t)(there - source->buffer);
        source->position = position;
        return true;
    }
    uint64_t at;
    if (!smp_add_u64(source->base, position, &at) || at > INT64_MAX || lseek(source->fd, (off_t)at, SEEK_SET) < 0)
        return false;
    source->begin = source->end = 0;
    source->position = position;
    source->at_end = false;
    return true;
}

bool smp_source_look(const smp_source *source, uint64_t position, void *to, size_t size)
{
    if (!source->seekable || position > source->size || size > source->size - position)
        return false;
    if (source->memory) {
        memcpy(to, source->memory + position, size);
        return true;
    }
    size_t have;
    const uint8_t *there = buffered(source, position, &have);
    if (there && have >= size) {
        memcpy(to, there, size);
        return true;
    }
    for (size_t done = 0; done < size;) {
        ssize_t got = pread(source->fd, (uint8_t *)to + done, size - done, (off_t)(source->base + position + done));
        if (got <= 0 && !(got < 0 && errno == EINTR))
            return false;
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

smp_code smp_hint_damaged(smp_error *err)
{
    return smp_hint(err, "copy or download it again");
}

smp_code smp_hint_no_verify(smp_error *err)
{
    return smp_hint(err, "copy or download it again, or read what there is of it with --no-verify");
}

smp_code smp_source_ended(const smp_source *source, smp_error *err)
{
    if (source->over_limit)
        return fail_limit(source->limit, err);
    if (source->failed) {
        char text[128];
        return smp_fail(err, SMP_E_READ, "cannot read: %s", smp_os_error(source->failed, text, sizeof text));
    }
    if (source->position == 0)
        return smp_fail(err, SMP_E_DECODE, "the file is empty"),
               smp_hint(err, "what was to write it may have failed: the copy, the download, the program before a pipe");
    smp_fail(err, SMP_E_DECODE, "the file ends too early, after %llu bytes: it is truncated",
             (unsigned long long)source->position);
    return smp_hint_damaged(err);
}

smp_code smp_source_fill(smp_source *source, void *to, size_t size, smp_error *err)
{
    return smp_source_read(source, to, size) == size ? SMP_OK : smp_source_ended(source, err);
}
