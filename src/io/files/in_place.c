/* See in_place.h. */
#include "io/files/in_place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/alloc.h"
#include "io/files/output.h"
#include "io/files/source.h"

static const char mark_name[] = "user.smempipe.made";

enum {
    MARK = 96,           /* bytes of a mark */
    NAMES = 4096,        /* of the names of attributes that are kept */
    ATTRIBUTE = 1 << 16, /* of one, the most that Linux takes */
};

static void make_mark(const char *work, const struct stat *file, char text[MARK])
{
    snprintf(text, MARK, "%s %lld %lld.%09ld", work, (long long)file->st_size, (long long)file->st_mtim.tv_sec,
             file->st_mtim.tv_nsec);
}

bool smp_in_place_done(const char *path, const char *work)
{
    struct stat now;
    char expected[MARK], found[MARK];
    if (stat(path, &now) != 0 || !S_ISREG(now.st_mode))
        return false;
    make_mark(work, &now, expected);
    const ssize_t size = getxattr(path, mark_name, found, sizeof found);
    return size == (ssize_t)strlen(expected) && !memcmp(found, expected, (size_t)size);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static smp_code fail_system(const char *what, smp_error *err)
{
    char text[128];
    return smp_fail(err, SMP_E_WRITE, "%s: %s", what, smp_os_error(errno, text, sizeof text));
}

/* Access lists, labels and what users note. What the new file cannot have is left out. */
static smp_code copy_attributes(const char *target, int fd, smp_error *err)
{
    char names[NAMES];
    const ssize_t size = listxattr(target, names, sizeof names);
    char *value = size > 0 ? smp_alloc_raw(ATTRIBUTE) : NULL;
    if (size > 0 && !value)
        return smp_fail_memory(err, "an attribute", ATTRIBUTE);
    for (const char *name = names; size > 0 && name < names + size; name += strlen(name) + 1) {
        const ssize_t bytes = strcmp(name, mark_name) ? getxattr(target, name, value, ATTRIBUTE) : -1;
        if (bytes >= 0)
            (void)fsetxattr(fd, name, value, (size_t)bytes, 0);
    }
    smp_free(value);
    return SMP_OK;
}

static smp_code copy_rights(int fd, const struct stat *was, smp_error *err)
{
    struct stat own;
    if (fstat(fd, &own) != 0)
        return fail_system("cannot look at what was written", err);
    if ((own.st_uid != was->st_uid || own.st_gid != was->st_gid) && fchown(fd, was->st_uid, was->st_gid) != 0) {
        smp_fail(err, SMP_E_WRITE, "the file is another user's or group's, which what takes its place cannot be");
        return smp_hint(err, "write -o DIR, or let its owner do it");
    }
    return fchmod(fd, was->st_mode & 07777) == 0 ? SMP_OK : fail_system("cannot set the file's permissions", err);
}

smp_code smp_in_place_ready(smp_in_place *how, int fd, const char *target, const struct stat *was, smp_error *err)
{
    struct stat now;
    char path[32], mark[MARK];
    if (stat(target, &now) != 0 || !is_same(&now, was))
        return smp_fail(err, SMP_E_WRITE, "the file was changed while it was worked on, and is left as it is"),
               smp_hint(err, "the same command takes it as it is now");
    if (!how->again && smp_in_place_done(target, how->work))
        return smp_fail(err, SMP_E_WRITE, "another run of this command did the file meanwhile");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const int reads = how->check ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (how->check && reads < 0)
        return fail_system("cannot read what was written", err);
    smp_code code = how->check ? how->check(how->context, target, reads, err) : SMP_OK;
    code = code ? code : copy_rights(fd, was, err);
    code = code ? code : copy_attributes(target, fd, err);
    if (!code && fstat(fd, &now) != 0)
        code = fail_system("cannot look at what was written", err);
    make_mark(how->work, &now, mark);
    if (!code && fsetxattr(fd, mark_name, mark, strlen(mark), 0) != 0)
        how->unmarked = true;
    return code;
}

/* Where the file system has no second name for a file. */
static smp_code copy_file(const char *from, const char *to, smp_error *err)
{
    uint8_t block[1 << 14];
    smp_output *output = NULL;
    const int fd = open(from, O_RDONLY | O_CLOEXEC);
    smp_code code = fd < 0 ? fail_system("cannot read the file", err) : smp_output_open(to, false, NULL, &output, err);
    for (ssize_t got = 1; !code && got > 0;) {
        got = read(fd, block, sizeof block);
        code = got < 0 ? fail_system("cannot read the file", err) : smp_output_write(output, block, (size_t)got, err);
    }
    if (fd >= 0)
        close(fd);
    if (!code)
        return smp_output_commit(output, err);
    smp_output_abort(output);
    return code;
}

smp_code smp_in_place_backup_name(const smp_in_place *how, const char *target, const struct stat *was, char *path,
                                  smp_error *err)
{
    struct stat there;
    if (snprintf(path, PATH_MAX, "%s%s", how->backup ? target : "", how->backup ? how->backup : "") >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return fail_system("cannot make the backup", err);
    }
    if (lstat(path, &there) != 0)
        return SMP_OK;
    if (is_same(&there, was)) { /* of a run that was killed right then */
        path[0] = '\0';
        return SMP_OK;
    }
    smp_fail(err, SMP_E_WRITE, "the backup %.200s is there already, of another time", path);
    return smp_hint(err, "move it away, or write another --backup: nothing is replaced without one");
}

smp_code smp_in_place_backup(const smp_in_place *how, const char *target, const struct stat *was, smp_error *err)
{
    char path[PATH_MAX];
    SMP_TRY(smp_in_place_backup_name(how, target, was, path, err));
    if (!path[0] || link(target, path) == 0)
        return SMP_OK;
    const int number = errno;
    if (number == EEXIST) /* since then */
        SMP_TRY(smp_in_place_backup_name(how, target, was, path, err));
    if (!path[0])
        return SMP_OK;
    if (number != EPERM && number != EOPNOTSUPP && number != EMLINK)
        return fail_system("cannot make the backup", err);
    SMP_TRY(copy_file(target, path, err));
    (void)chmod(path, was->st_mode & 07777);
    return SMP_OK;
}
