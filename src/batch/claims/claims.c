/* Claims of pieces: see claims.h. Pieces lie in groups of 1024, a folder each, so that reading a folder tells what
 * became of all of them, and a task does not try those that are taken. */
#include "batch/claims/claims.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/whole_file.h"
#include "batch/folder_lock.h"
#include "io/files/output.h"
#include "io/files/source.h"

enum { GROUP = 1024, MOST_TRIES = 100000, PATH_ROOM = PATH_MAX + 256, MOMENT = 2 /* seconds */ };

typedef enum piece_kind {
    FREE,
    HELD,
    GIVEN_BACK,
    LEFT,
    FAILED,
    DONE
} piece_kind; /* the later ones win over files of the same number */
static const char *const suffixes[] = {
    [HELD] = "", [GIVEN_BACK] = ".free", [LEFT] = ".left", [FAILED] = ".failed", [DONE] = ".done"};

typedef struct piece_state {
    uint8_t state;
    bool own;       /* held by this task, or was when that was last read */
    uint32_t tries; /* the number of the last file, from 0 */
} piece_state;

struct smp_claims {
    smp_claims_request request;
    char folder[PATH_MAX]; /* of all groups */
    bool write;            /* else all is only looked at */
    size_t group;          /* the one that was read; SIZE_MAX: none */
    bool stale;            /* read it again */
    piece_state states[GROUP];
    size_t looked;         /* with claim: pieces before it are not free */
    bool again;            /* with claim: the free ones are gone, and those that may be taken up again are looked at */
    bool found;            /* with claim: a free one, since looking began at the first piece; others are given back */
    size_t groups, passed; /* with claim: groups that were looked at, and pieces done that were in them */
    uint8_t *whole;        /* bits: pieces whose record was found whole */
    uint64_t chance;
    int64_t clock; /* the file system's, when this began: nanoseconds */
};

struct smp_claim {
    smp_claims *pieces;
    size_t piece;
    uint32_t tries;
    int fd; /* the journal's, which closes it */
    smp_journal *journal;
};

uint64_t smp_piece_sum_add(uint64_t sum, uint64_t size, int64_t mtime)
{
    return smp_hash_mix(sum + smp_hash_mix(size) + 3 * smp_hash_mix((uint64_t)mtime));
}

/* ------------------------------------------------------------------------------------------------ files of pieces */

static void path_of(const smp_claims *p, size_t piece, uint32_t tries, piece_kind kind, char path[PATH_ROOM])
{
    snprintf(path, PATH_ROOM, "%s/%zu/%zu.%" PRIu32 "%s", p->folder, piece / GROUP, piece, tries, suffixes[kind]);
}

/* Makes the temporary name of a unit's file, which no other process uses. */
static void own_path(const smp_claims *p, size_t piece, char path[PATH_ROOM])
{
    snprintf(path, PATH_ROOM, "%s/%zu/%s-%" PRId64 "-%zu", p->folder, piece / GROUP, smp_writer_self()->host,
             smp_writer_self()->pid, piece);
}

/* Returns the time by the file system's clock, which sets the times of files, and not by this host's; 0: unknown. */
static int64_t clock_of(const smp_claims *p)
{
    struct stat status;
    if (p->request.clock < 0 || futimens(p->request.clock, NULL) != 0 || fstat(p->request.clock, &status) != 0)
        return 0;
    return smp_nanoseconds(status.st_mtim);
}

/* "17.0.done" of a piece of this group. */
static bool read_name(const smp_claims *p, const char *name, size_t *piece, uint32_t *tries, piece_kind *kind)
{
    int end = 0;
    if (name[0] < '0' || name[0] > '9' || sscanf(name, "%zu.%" SCNu32 "%n", piece, tries, &end) != 2 ||
        *piece >= p->request.share.pieces || *piece / GROUP != p->group || *tries > MOST_TRIES)
        return false;
    for (int i = HELD; i <= DONE; i++)
        if (!strcmp(name + end, suffixes[i])) {
            *kind = (piece_kind)i;
            return true;
        }
    return false;
}

/* Whether what is called so is a whole record; what was found whole stays so. */
static bool is_record(smp_claims *p, int folder, const char *name, size_t piece)
{
    const uint8_t bit = (uint8_t)(1u << piece % 8);
    if (!(p->whole[piece / 8] & bit) && smp_piece_record_whole(folder, name))
        p->whole[piece / 8] |= bit;
    return (p->whole[piece / 8] & bit) != 0;
}

/* Learns what became of the pieces of a group. What is known of it stays, since no name goes away again: the names that
 * a network file system tells may be some seconds old. */
static void read_group(smp_claims *p, size_t group)
{
    char path[PATH_ROOM];
    if (p->group == group && !p->stale)
        return;
    if (p->group != group)
        memset(p->states, 0, sizeof p->states);
    p->group = group;
    p->stale = false;
    snprintf(path, sizeof path, "%s/%zu", p->folder, group);
    DIR *dir = opendir(path);
    size_t piece;
    uint32_t tries;
    piece_kind found;
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        if (!read_name(p, entry->d_name, &piece, &tries, &found))
            continue;
        if (found == DONE && !is_record(p, dirfd(dir), entry->d_name, piece))
            continue;
        piece_state *s = &p->states[piece % GROUP];
        if (s->state == FREE || tries > s->tries || (tries == s->tries && found > s->state))
            *s = (piece_state){.state = (uint8_t)found, .tries = tries};
    }
    if (dir)
        closedir(dir);
}

/* ------------------------------------------------------------------------------------------------ opening */

bool smp_claims_by_other_list(const smp_claims_request *request)
{
    char path[PATH_MAX + 256];
    bool found = false;
    uint64_t list, work;
    snprintf(path, sizeof path, "%s/%s", request->folder, SMP_CLAIMS_NAME);
    DIR *dir = opendir(path);
    for (struct dirent *entry; dir && !found && (entry = readdir(dir));)
        found = sscanf(entry->d_name, "%16" SCNx64 "-%16" SCNx64, &list, &work) == 2 && list != request->list.a &&
                work == request->work.a;
    if (dir)
        closedir(dir);
    return found;
}

smp_code smp_claims_open(const smp_claims_request *request, bool write, smp_claims **out, smp_error *err)
{
    smp_claims *p = *out = smp_alloc(sizeof *p);
    SMP_NEED(p, "pieces", sizeof *p, err);
    p->request = *request;
    p->write = write;
    p->group = SIZE_MAX;
    (void)smp_writer_self(); /* reads what it must while it may */
    const int length = snprintf(p->folder, sizeof p->folder, "%s/%s.d/%016" PRIx64 "-%016" PRIx64, request->folder,
                                SMP_JOURNAL_NAME, request->list.a, request->work.a);
    smp_code code = SMP_OK;
    if (length < 0 || (size_t)length + 64 >= sizeof p->folder) {
        smp_fail(err, SMP_E_WRITE, "the path is too long");
        code = smp_at(err, "%s", request->folder);
    }
    if (!code && write)
        p->clock = clock_of(p);
    p->whole = smp_alloc(request->share.pieces / 8 + 1);
    if (!code && !p->whole)
        code = smp_fail_memory(err, "pieces", request->share.pieces / 8 + 1);
    char self[SMP_WRITER_TEXT];
    smp_writer_self_text(self);
    p->chance = smp_hash_name(self);
    if (code) {
        smp_claims_close(p);
        *out = NULL;
    }
    return code;
}

void smp_claims_close(smp_claims *pieces)
{
    if (pieces)
        smp_free(pieces->whole);
    smp_free(pieces);
}

static bool is_own(const smp_claims *p, size_t piece)
{
    return p->request.claim || smp_list_share_has(&p->request.share, piece);
}

/* Whether the writer of a file that is held is gone, so that the piece may be taken up again. Its lock is tried as
 * readers do, of whom several may at once. */
static bool is_gone(const smp_claims *p, int fd, const smp_piece_heading *h)
{
    struct stat status;
    const bool locked = flock(fd, LOCK_SH | LOCK_NB) == 0;
    if (!locked && errno == EWOULDBLOCK)
        return false;
    const smp_writer_state writer = h->signed_ ? smp_writer_look(&h->writer) : SMP_WRITER_UNKNOWN;
    const bool here = h->signed_ && !strcmp(h->writer.host, smp_writer_self()->host);
    if (writer == SMP_WRITER_GONE || (locked && here)) /* on one host a lock that is free is nobody's */
        return true;
    if (fstat(fd, &status) != 0)
        return false;
    if (locked && !status.st_size) /* it was done, or its writer is about to sign it, where there are no hard links */
        return !p->clock || (double)(p->clock - smp_nanoseconds(status.st_mtim)) > MOMENT * 1e9;
    const int64_t now = p->request.retake > 0 ? clock_of(p) : 0;
    return now && (double)(now - smp_nanoseconds(status.st_mtim)) > p->request.retake * 1e9;
}

/* Returns the present state of a unit that was held when its folder was read. */
static piece_kind kind_now(const smp_claims *p, size_t piece)
{
    char path[PATH_ROOM];
    for (int kind = DONE; kind > HELD; kind--) {
        path_of(p, piece, p->states[piece % GROUP].tries, (piece_kind)kind, path);
        if (kind == DONE ? smp_piece_record_whole(AT_FDCWD, path) : access(path, F_OK) == 0)
            return (piece_kind)kind;
    }
    return HELD;
}

/* Whether anybody is at work on a piece that is held. */
static void look_for_holder(const smp_claims *p, size_t piece, int64_t now, smp_claims_sum *sum)
{
    enum { SILENCE = 60 }; /* seconds; a process speaks three times as often */
    char path[PATH_ROOM];
    struct stat status;
    smp_piece_heading h;
    path_of(p, piece, p->states[piece % GROUP].tries, HELD, path);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return;
    smp_piece_heading_read(fd, &h);
    const bool locked = flock(fd, LOCK_SH | LOCK_NB) == 0, held = !locked && errno == EWOULDBLOCK;
    const bool there = h.signed_ && smp_writer_look(&h.writer) == SMP_WRITER_THERE;
    if (is_gone(p, fd, &h) || (locked && fstat(fd, &status) == 0 && !status.st_size)) {
        const piece_kind kind = kind_now(p, piece); /* its task may have ended just now */
        sum->lost += kind == HELD;
        sum->held -= kind != HELD;
        sum->done += kind == DONE;
        sum->failed += kind == FAILED;
        sum->left += kind == LEFT || kind == GIVEN_BACK;
    } else if (!held && !there && fstat(fd, &status) == 0) { /* neither lock nor process shows here */
        sum->far++;
        sum->silent += now && (double)(now - smp_nanoseconds(status.st_mtim)) > SILENCE * 1e9;
    }
    close(fd);
}

smp_claims_sum smp_claims_sum_up(smp_claims *p)
{
    smp_claims_sum sum = {.passed = p->passed};
    int64_t now = 0;
    p->stale = true;
    for (size_t i = 0; i < p->request.share.pieces; i++) {
        if (!is_own(p, i))
            continue;
        read_group(p, i / GROUP);
        const uint8_t state = p->states[i % GROUP].state;
        sum.done += state == DONE;
        sum.failed += state == FAILED;
        sum.left += state == LEFT || state == GIVEN_BACK;
        sum.held += state == HELD;
        if (state == HELD && (now || (now = clock_of(p))))
            look_for_holder(p, i, now, &sum);
    }
    return sum;
}

bool smp_claims_any_done(smp_claims *p)
{
    bool any = false;
    for (size_t i = 0; i < p->request.share.pieces && !any; i++) {
        read_group(p, i / GROUP);
        any = p->states[i % GROUP].state == DONE;
    }
    return any;
}

/* ------------------------------------------------------------------------------------------------ choosing */

static bool is_free(const piece_state *s)
{
    return s->state == FREE || s->state == GIVEN_BACK;
}

static uint32_t next_tries(const piece_state *s)
{
    return s->state == FREE ? 0 : s->tries + 1;
}

/* A file that is empty and not signed is about to be signed, or its record is gone: a moment tells. */
static bool stays_empty(const smp_claims *p, size_t piece, int fd)
{
    struct stat status;
    for (int tenths = 0; tenths < 10 * MOMENT + 5; tenths++) {
        if (fstat(fd, &status) != 0 || status.st_size || kind_now(p, piece) != HELD)
            return false;
        const int64_t now = clock_of(p);
        if (!now)
            return false;
        if ((double)(now - smp_nanoseconds(status.st_mtim)) > MOMENT * 1e9)
            return true;
        (void)poll(NULL, 0, 100);
    }
    return false;
}

/* Whether --resume may take up a piece that is not free; fills in what is known of it. */
static bool may_resume(const smp_claims *p, size_t piece, const piece_state *s, smp_piece_past *past)
{
    char path[PATH_ROOM];
    struct stat status;
    smp_piece_heading h;
    bool may = false;
    path_of(p, piece, s->tries, (piece_kind)s->state, path);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK); /* it may be another user's */
    if (fd < 0)
        return false;
    smp_piece_heading_read(fd, &h);
    if (s->state == HELD)
        may = (is_gone(p, fd, &h) && kind_now(p, piece) == HELD) || stays_empty(p, piece, fd);
    else if (s->state == FAILED && p->request.claim) /* once by each start of the job, and not by every task */
        may = fstat(fd, &status) == 0 && (!p->clock || smp_nanoseconds(status.st_mtim) < p->clock);
    else
        may = true;
    *past = h.past;
    past->noted = fstat(fd, &status) == 0 ? smp_nanoseconds(status.st_mtim) : 0;
    past->done = s->state == DONE && h.summed;
    past->begun = !past->done;
    close(fd);
    return may;
}

/* Whether this task may work on a piece. */
static bool choose(smp_claims *p, size_t piece, smp_piece_past *past)
{
    const smp_claims_request *r = &p->request;
    *past = (smp_piece_past){.done = false};
    read_group(p, piece / GROUP);
    const piece_state *s = &p->states[piece % GROUP];
    past->tries = next_tries(s);
    if (r->claim && (is_free(s) || s->state == DONE))
        return false;
    if (is_free(s))
        return true;
    const bool may = (!r->resume && s->state != HELD) || may_resume(p, piece, s, past);
    if (!r->resume)
        *past = (smp_piece_past){.passed = true};
    past->tries = next_tries(s);
    return may;
}

/* With claim: one of the first pieces that are free, by chance of as many as others work on and one more, so that tasks
 * that start at once do not all try the same. */
static bool next_free(smp_claims *p, size_t *piece, uint32_t *tries)
{
    while (p->looked < p->request.share.pieces) {
        const size_t group = p->looked / GROUP, left = p->request.share.pieces - group * GROUP,
                     end = group * GROUP + (left < GROUP ? left : GROUP);
        size_t held = 0, found = 0;
        read_group(p, group);
        if (group == p->groups) {
            p->groups++;
            for (size_t i = 0; i < GROUP; i++)
                p->passed += p->states[i].state == DONE;
        }
        for (size_t i = 0; i < GROUP; i++)
            held += p->states[i].state == HELD && !p->states[i].own;
        p->chance = smp_hash_mix(p->chance + 1);
        const size_t nth = p->write ? (size_t)(p->chance % (held + 1)) : 0;
        for (size_t i = p->looked; i < end && found <= nth; i++) {
            if (!is_free(&p->states[i % GROUP]))
                continue;
            *piece = i;
            *tries = next_tries(&p->states[i % GROUP]);
            if (!found++)
                p->looked = i;
        }
        p->looked += found && !p->write; /* nobody takes it */
        if (found)
            return true;
        p->looked = end;
    }
    return false;
}

bool smp_claims_next(smp_claims *p, size_t *piece, smp_piece_past *past)
{
    const smp_claims_request *r = &p->request;
    while (r->claim && !p->again) {
        *past = (smp_piece_past){.done = false};
        if (next_free(p, piece, &past->tries))
            return p->found = true;
        p->again = !p->found || !p->write;
        p->found = false;
        p->looked = 0;
        p->stale = true; /* much has changed since */
    }
    while ((r->resume || !r->claim) && smp_list_share_next(&p->request.share, piece))
        if (choose(p, *piece, past))
            return true;
    return false;
}

/* ------------------------------------------------------------------------------------------------ taking */

static smp_code fail_claim(const char *path, int number, smp_error *err)
{
    char why[128];
    smp_fail(err, SMP_E_WRITE, "cannot claim a piece: %s", smp_os_error(number, why, sizeof why));
    smp_hint(err, "once that is mended, the same command with --resume does the rest");
    return smp_at(err, "%s", path);
}

/* A file under a name of this process, locked, signed: what it is called later (path) it is already. */
static smp_code prepare(smp_claims *p, size_t piece, smp_claim *claim, char own[PATH_ROOM], const char *path,
                        bool *lockless, smp_error *err)
{
    own_path(p, piece, own);
    SMP_TRY(smp_make_folders(own, err));
    (void)unlink(own); /* of a process that is gone */
    claim->fd = open(own, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (claim->fd < 0)
        return fail_claim(own, errno, err);
    if (flock(claim->fd, LOCK_EX | LOCK_NB) != 0)
        *lockless = *lockless || smp_no_locks(errno);
    SMP_TRY(smp_journal_on(claim->fd, path, &claim->journal, err));
    if (p->request.sync_pieces && !smp_write_whole(claim->fd, "sync piece\n", 11))
        return fail_claim(path, errno, err);
    return SMP_OK;
}

smp_code smp_claims_take(smp_claims *p, size_t piece, const smp_piece_past *past, smp_claim **out, bool *lockless,
                         smp_error *err)
{
    char own[PATH_ROOM], path[PATH_ROOM];
    const uint32_t tries = past->tries;
    *out = NULL;
    smp_claim *claim = smp_alloc(sizeof *claim);
    SMP_NEED(claim, "a claim", sizeof *claim, err);
    *claim = (smp_claim){.pieces = p, .piece = piece, .tries = tries, .fd = -1};
    path_of(p, piece, tries, HELD, path);
    smp_code code = prepare(p, piece, claim, own, path, lockless, err);
    bool won = !code && link(own, path) == 0;
    if (!code && !won && errno != EEXIST) { /* no hard links there: the name is all, and is signed a moment later */
        const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
        won = fd >= 0 && rename(own, path) == 0;
        if (!won && errno != EEXIST)
            code = fail_claim(path, errno, err);
        if (fd >= 0)
            close(fd);
    }
    (void)unlink(own);
    if (p->group == piece / GROUP)
        p->states[piece % GROUP] = (piece_state){.state = HELD, .own = won, .tries = tries};
    if (!won) {
        smp_journal_close(claim->journal);
        smp_free(claim);
        p->stale = true; /* others are at work here: look again which pieces are free */
        return code;
    }
    *out = claim;
    return SMP_OK;
}

smp_code smp_claims_log(smp_claims *p, size_t piece, smp_journal_log **out, smp_error *err)
{
    char path[PATH_ROOM];
    const uint32_t last = p->states[piece % GROUP].tries;
    const smp_writer_id *self = smp_writer_self();
    smp_code code = smp_journal_log_new(out, err);
    for (uint32_t tries = 0; !code && tries <= last; tries++) {
        smp_piece_heading h;
        path_of(p, piece, tries, HELD, path);
        const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (fd < 0)
            continue;
        struct stat status;
        if (fstat(fd, &status) == 0 && !status.st_size)
            smp_journal_log_lose(*out, smp_nanoseconds(status.st_mtim), smp_nanoseconds(status.st_ctim));
        smp_piece_heading_read(fd, &h);
        close(fd);
        const bool same = h.signed_ && !strcmp(h.writer.host, self->host) && !strcmp(h.writer.boot, self->boot);
        code = smp_journal_log_add(*out, AT_FDCWD, path, h.sync_pieces && !same, err);
    }
    if (code) {
        smp_journal_log_free(*out);
        *out = NULL;
    }
    return code;
}

/* ------------------------------------------------------------------------------------------------ claims */

smp_journal *smp_claim_journal(smp_claim *claim)
{
    return claim->journal;
}

void smp_claim_touch(smp_claim *claim)
{
    (void)futimens(claim->fd, NULL);
}

static void end(smp_claim *claim)
{
    smp_journal_close(claim->journal);
    smp_free(claim);
}

smp_code smp_claim_done(smp_claim *claim, const smp_piece_past *past, size_t files, smp_error *err)
{
    const smp_claims *p = claim->pieces;
    char done[PATH_ROOM], own[PATH_ROOM], line[SMP_PIECE_RECORD + 128];
    path_of(p, claim->piece, claim->tries, DONE, done);
    own_path(p, claim->piece, own);
    const int fd = open(own, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);
    smp_journal *journal = NULL;
    smp_code code = fd < 0 ? fail_claim(own, errno, err) : smp_journal_on(fd, own, &journal, err);
    const int length = code ? 0 : smp_piece_record_line(fd, claim->piece, past, files, line, sizeof line);
    if (!code && (!smp_write_whole(fd, line, (size_t)length) || (fsync(fd) != 0 && errno != EINVAL && errno != EROFS)))
        code = fail_claim(own, errno, err);
    smp_journal_close(journal);
    if (!code && rename(own, done) != 0)
        code = fail_claim(done, errno, err);
    if (!code && ftruncate(claim->fd, 0) != 0) /* its name stays: see mark() */
        code = fail_claim(done, errno, err);
    if (code) {
        (void)unlink(own);
        smp_claim_give_back(claim, SMP_CLAIM_STOPPED);
        return code;
    }
    end(claim);
    return SMP_OK;
}

/* The file keeps its name beside the new one: a name that went away could be taken again by a task that read the folder
 * before. */
static void mark(const smp_claim *claim, piece_kind to)
{
    char held[PATH_ROOM], path[PATH_ROOM];
    path_of(claim->pieces, claim->piece, claim->tries, HELD, held);
    path_of(claim->pieces, claim->piece, claim->tries, to, path);
    if (link(held, path) != 0) { /* no hard links there; a claim that nobody holds is found out too */
        const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (fd >= 0)
            close(fd);
    }
}

void smp_claim_offer(smp_claim *claim)
{
    mark(claim, LEFT);
}

void smp_claim_give_back(smp_claim *claim, smp_claim_end why)
{
    static const piece_kind kinds[] = {
        [SMP_CLAIM_UNTOUCHED] = GIVEN_BACK, [SMP_CLAIM_STOPPED] = LEFT, [SMP_CLAIM_FAILED] = FAILED};
    if (!claim)
        return;
    mark(claim, kinds[why]);
    end(claim);
}
