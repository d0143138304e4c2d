/* Files of pieces, their text: see claim_record.h. */
#include "batch/claims/claims.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void smp_piece_heading_read(int fd, smp_piece_heading *h)
{
    char text[2048];
    *h = (smp_piece_heading){.signed_ = false};
    const ssize_t got = pread(fd, text, sizeof text - 1, 0);
    text[got > 0 ? got : 0] = '\0';
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        if (!strncmp(line, "run ", 4))
            h->signed_ = smp_writer_read(line + 4, &h->writer);
        else if (!strcmp(line, "sync piece"))
            h->sync_pieces = true;
        else if (sscanf(line, "piece %*u files %*u sum %" SCNx64 " newest %" SCNd64, &h->past.sum, &h->past.newest) ==
                 2)
            h->summed = true;
    }
}

/* Its length mostly says so, which costs a file system on another machine one question and not three. */
bool smp_piece_record_whole(int folder, const char *name)
{
    struct stat status;
    smp_piece_heading h;
    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_size == SMP_PIECE_RECORD)
        return true;
    const int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return false;
    smp_piece_heading_read(fd, &h);
    close(fd);
    return h.summed;
}

int smp_piece_record_line(int fd, size_t piece, const smp_piece_past *past, size_t files, char *line, size_t room)
{
    struct stat status;
    const off_t size = fstat(fd, &status) == 0 && status.st_size < SMP_PIECE_RECORD ? status.st_size : SMP_PIECE_RECORD;
    int length = 0;
    for (int fill = 0, i = 0; i < 2; i++) {
        length = snprintf(line, room, "piece %zu files %zu sum %016" PRIx64 " newest %" PRId64 "%*s\n", piece, files,
                          past->sum, past->newest, fill, "");
        fill = SMP_PIECE_RECORD - (int)size > length ? SMP_PIECE_RECORD - (int)size - length : 0;
    }
    return length;
}
