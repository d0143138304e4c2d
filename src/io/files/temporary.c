/* Temporary files: see temporary.h. Their names are kept in a fixed table, so that a signal handler can remove them
 * without touching the heap. */
#include "io/files/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/paths.h"
#include "io/files/output.h"
#include "io/files/source.h"

enum {
    SLOTS = 256, /* names at a time: far more than threads that write */
    TRIES = 100  /* random names before giving up */
};

enum { SLOT_FREE, SLOT_TAKEN, SLOT_ARMED };
static struct smp_temporary_slot {
    atomic_int state;
    char path[PATH_MAX];
} slots[SLOTS];

static bool always_named;

void smp_temporary_set_named(bool named)
{
    always_named = named;
}

/* ------------------------------------------------------------------------------------------------ names */

static struct smp_temporary_slot *take_slot(void)
{
    for (int i = 0; i < SLOTS; i++) {
        int expected = SLOT_FREE;
        if (atomic_compare_exchange_strong(&slots[i].state, &expected, SLOT_TAKEN))
            return &slots[i];
    }
    return NULL;
}

void smp_output_abort_all(void)
{
    int saved = errno;
    for (int i = 0; i < SLOTS; i++)
        if (atomic_load(&slots[i].state) == SLOT_ARMED)
            unlink(slots[i].path);
    errno = saved;
}

void smp_temporary_remove(smp_temporary *temporary)
{
    struct smp_temporary_slot *slot = temporary->slot;
    if (!slot)
        return;
    if (atomic_load(&slot->state) == SLOT_ARMED)
        unlink(slot->path);
    atomic_store(&slot->state, SLOT_FREE);
    temporary->slot = NULL;
}

bool smp_folder_of(const char *target, char *text, size_t size)
{
    const char *slash = strrchr(target, '/');
    size_t length = slash ? (size_t)(slash - target) + 1 : 0;
    if (length + 3 > size)
        return false;
    if (!length)
        memcpy(text, "./", 3);
    else {
        memcpy(text, target, length);
        text[length] = '\0';
    }
    return true;
}

static uint64_t random_bits(void)
{
    uint64_t bits;
    static atomic_uint_fast64_t calls;
    if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) == (ssize_t)sizeof bits)
        return bits;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ((uint64_t)getpid() << 40) ^ ((uint64_t)now.tv_nsec << 8) ^ atomic_fetch_add(&calls, 1);
}

/* Calls make(path, fd) with a new name in the folder, until it succeeds. 0, or -1 and errno, as make returns. The slot
 * is armed before the file exists: a signal in between finds the file or nothing. */
static int make_named(smp_temporary *temporary, const char *folder, int (*make)(const char *path, int *fd), int *fd)
{
    struct smp_temporary_slot *slot = temporary->slot ? temporary->slot : take_slot();
    temporary->slot = slot;
    if (!slot) {
        errno = EMFILE;
        return -1;
    }
    for (int i = 0; i < TRIES; i++) {
        int length = snprintf(slot->path, sizeof slot->path, "%s.smempipe-%016llx.tmp", folder,
                              (unsigned long long)random_bits());
        if (length < 0 || (size_t)length >= sizeof slot->path) {
            errno = ENAMETOOLONG;
            return -1;
        }
        atomic_store(&slot->state, SLOT_ARMED);
        if (make(slot->path, fd) == 0)
            return 0;
        atomic_store(&slot->state, SLOT_TAKEN);
        if (errno != EEXIST && errno != EINTR)
            return -1;
    }
    errno = EEXIST;
    return -1;
}

/* ------------------------------------------------------------------------------------------------ opening */

/* Locks a named file for the life of its writer, so that smp_output_sweep can tell the files of killed writers from
 * those in use. False: a sweep was faster and removed the file. */
static bool hold(int fd)
{
    struct stat status;
    while (flock(fd, LOCK_EX) != 0 && errno == EINTR)
        ;
    return fstat(fd, &status) != 0 || status.st_nlink > 0;
}

static int create(const char *path, int *fd)
{
    *fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (*fd < 0)
        return -1;
    if (hold(*fd))
        return 0;
    close(*fd);
    *fd = -1;
    errno = EEXIST;
    return -1;
}

/* The path of an unnamed file, for linkat(). */
static void path_of(int fd, char text[32])
{
    snprintf(text, 32, "/proc/self/fd/%d", fd);
}

/* -1 where the file system has no files without a name, or no way leads to them. */
static int open_nameless(const char *folder)
{
    struct stat own, seen;
    char path[32];
    int fd = always_named ? -1 : open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
    if (fd < 0)
        return -1;
    path_of(fd, path);
    if (fstat(fd, &own) == 0 && stat(path, &seen) == 0 && own.st_dev == seen.st_dev && own.st_ino == seen.st_ino) {
        (void)flock(fd, LOCK_EX | LOCK_NB); /* for the moment that it has a temporary name */
        return fd;
    }
    close(fd);
    return -1;
}

static smp_code fail_create(int number, const char *folder, smp_error *err)
{
    char text[128];
    if (!smp_is_folder(folder) && (number == ENOENT || number == ENOTDIR))
        return smp_fail(err, SMP_E_WRITE, "the folder %.300s does not exist", folder),
               smp_hint(err, "make it first: mkdir -p '%.280s'", folder);
    if (number == EMFILE)
        return smp_fail(err, SMP_E_WRITE, "too many files are open at once");
    smp_fail(err, SMP_E_WRITE, "cannot make a file in %.300s: %s", folder, smp_os_error(number, text, sizeof text));
    if (number == ENOENT) /* a file system of the kernel's, /proc */
        return smp_hint(err, "files cannot be made in that folder; choose another");
    if (number == EACCES || number == EPERM || number == EROFS)
        return smp_hint(err, "you may not write in that folder; choose another");
    if (number == ENOSPC || number == EDQUOT)
        return smp_hint(err, "make room on that disk, or write to another");
    return SMP_E_WRITE;
}

smp_code smp_temporary_open(const char *target, const char *shown, smp_temporary *out, int *fd, smp_error *err)
{
    char folder[PATH_MAX], said[PATH_MAX];
    *out = (smp_temporary){.slot = NULL};
    *fd = -1;
    if (!smp_folder_of(target, folder, sizeof folder))
        return fail_create(ENAMETOOLONG, target, err);
    *fd = open_nameless(folder);
    if (*fd >= 0 || make_named(out, folder, create, fd) == 0)
        return SMP_OK;
    const int number = errno;
    smp_code code = fail_create(number, smp_folder_of(shown, said, sizeof said) ? said : folder, err);
    smp_temporary_remove(out);
    return code;
}

/* ------------------------------------------------------------------------------------------------ placing */

/* Puts `from` in place of `to`. Without force only if nothing is there: where possible the kernel decides that in one
 * step. */
static int move(const char *from, const char *to, bool force)
{
    if (force)
        return rename(from, to);
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    if (link(from, to) == 0)
        return unlink(from);
    if (errno == EEXIST)
        return -1;
    struct stat status; /* a file system without hard links: the best is to look, then to rename */
    if (lstat(to, &status) == 0) {
        errno = EEXIST;
        return -1;
    }
    return rename(from, to);
}

static int name_it(const char *path, int *fd)
{
    char own[32];
    path_of(*fd, own);
    return linkat(AT_FDCWD, own, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

int smp_temporary_place(smp_temporary *temporary, int fd, const char *target, bool force)
{
    char folder[PATH_MAX];
    if (!temporary->slot) {
        if (name_it(target, &fd) == 0)
            return 0;
        if (errno != EEXIST || !force || !smp_folder_of(target, folder, sizeof folder))
            return -1;
        /* A link cannot replace a file: gives the file a name for a moment, then renames it. */
        if (make_named(temporary, folder, name_it, &fd) != 0)
            return -1;
    }
    if (move(temporary->slot->path, target, force) != 0)
        return -1;
    atomic_store(&temporary->slot->state, SLOT_TAKEN); /* there is no file to remove any more */
    return 0;
}
