/* Locks of bytes of an empty file: see folder_lock.h. Byte N stands for N shards, one behind 2^40 for a list; byte 0
 * belongs to nobody. A batch of all files writes all bytes, the others read theirs and look whether another is taken.
 * Locks of open files (F_OFD_SETLK) and not of processes: closing another descriptor of the file must not drop them. */
#include "batch/folder_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "io/files/source.h"

bool smp_no_locks(int number)
{
    return number == ENOSYS || number == EOPNOTSUPP || number == ENOTSUP || number == ENOLCK || number == EINVAL;
}

static const int64_t lists = INT64_C(1) << 40;

static int64_t byte_of(const smp_folder_use *use)
{
    return use->list ? lists + (int64_t)(use->list % (uint64_t)lists) : use->shards;
}

static struct flock range(short type, int64_t from, int64_t length) /* length 0: to the end */
{
    return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = from, .l_len = length};
}

static smp_code fail_busy(const char *folder, int64_t byte, const smp_folder_use *use, smp_error *err)
{
    if (byte >= lists) {
        smp_fail(err, SMP_E_WRITE, "another smempipe batch works on %s list in this folder",
                 use->list ? "another" : "a");
        smp_hint(err, use->list ? "wait for it, or give another folder by -o"
                                : "wait for it, or work on the same list by --list");
    } else if (byte > 0) {
        smp_fail(err, SMP_E_WRITE, "another smempipe batch is one of %lld shards in this folder", (long long)byte);
        smp_hint(err,
                 use->shards > 0 ? "shards that run at once have the same number behind the slash: --shard K/%lld"
                                 : "wait for it, or be another of them by --shard K/%lld",
                 (long long)byte);
    } else {
        smp_fail(err, SMP_E_WRITE, "another smempipe batch is writing to this folder");
        smp_hint(err, "wait for it, or share the work by --shard 1/2 and --shard 2/2");
    }
    return smp_at(err, "%s", folder);
}

/* The byte of whoever has a lock that keeps from writing this range; -1: nobody has. */
static int64_t holder(int fd, int64_t from, int64_t length)
{
    struct flock other = range(F_WRLCK, from, length);
    if (fcntl(fd, F_OFD_GETLK, &other) != 0 || other.l_type == F_UNLCK)
        return -1;
    return other.l_start;
}

static smp_code take(const char *folder, const smp_folder_use *use, int fd, bool *lockless, smp_error *err)
{
    const int64_t own = byte_of(use);
    struct flock lock = own ? range(F_RDLCK, own, 1) : range(F_WRLCK, 0, 0);
    if (fcntl(fd, F_OFD_SETLK, &lock) != 0) {
        *lockless = smp_no_locks(errno);
        if (*lockless || (errno != EAGAIN && errno != EACCES))
            return SMP_OK;
        const int64_t busy = holder(fd, 0, 0);
        return fail_busy(folder, busy < 0 ? 0 : busy, use, err);
    }
    int64_t busy = own ? holder(fd, 0, own) : -1;
    if (own && busy < 0)
        busy = holder(fd, own + 1, 0);
    return busy < 0 ? SMP_OK : fail_busy(folder, busy, use, err);
}

smp_code smp_folder_lock(const char *folder, const smp_folder_use *use, int *fd, bool *lockless, smp_error *err)
{
    char path[PATH_MAX], why[128];
    const int length = snprintf(path, sizeof path, "%s/%s", folder, SMP_FOLDER_LOCK_NAME);
    *fd = -1;
    *lockless = false;
    if (length > 0 && (size_t)length < sizeof path)
        *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    else
        errno = ENAMETOOLONG;
    if (*fd < 0) {
        const int number = errno;
        smp_fail(err, SMP_E_WRITE, "cannot write there: %s", smp_os_error(number, why, sizeof why));
        if (number == EACCES && access(path, F_OK) == 0)
            smp_hint(err, "it is another user's: users who share a folder of outputs run with umask 002 in one group");
        else
            smp_hint(err, "give a folder that you may write to by -o");
        return smp_at(err, "%s", path);
    }
    smp_code code = take(folder, use, *fd, lockless, err);
    if (code) {
        close(*fd);
        *fd = -1;
    }
    return code;
}
