/* The journal of a batch: see journal.h. A line is written at the end of the file, by one thread at a time: whole, or
 * cut off by a crash of the machine, which reading passes over. */
#include "batch/journal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/clock.h"
#include "base/os/writer.h"
#include "base/whole_file.h"
#include "batch/folder_lock.h"
#include "batch/line.h"
#include "io/files/source.h"

static const char title[] = "smempipe journal 2\n"; /* 1 wrote names without quotes */
static const char lost_word[] = "lost";             /* and a time: what was written before it may be cut off here */

/* ------------------------------------------------------------------------------------------------ a line */

/* Reads a name in double quotes, in place. Null for a text that does not end with its closing quote, as the last one of
 * a run that was killed may. */
static char *read_quoted(char *text)
{
    if (*text != '"')
        return NULL;
    const char *end = smp_line_unescape(text, text + 1, '"');
    return *end == '"' && !end[1] ? text : NULL;
}

/* The value of a hexadecimal digit, and 1 more; 0: it is none. */
static const uint8_t digits[256] = {
    ['0'] = 1, ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9, ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
};

/* 16 hexadecimal digits; *at moves behind them. */
static bool read_hex(const char **at, uint64_t *out)
{
    uint64_t value = 0;
    for (int i = 0; i < 16; i++) {
        const unsigned digit = digits[(unsigned char)(*at)[i]];
        if (!digit)
            return false;
        value = value << 4 | (digit - 1);
    }
    *at += 16;
    *out = value;
    return true;
}

static bool read_hash(const char **at, smp_hash *out)
{
    return *(*at)++ == ' ' && read_hex(at, &out->a) && read_hex(at, &out->b);
}

enum { HASH_TEXT = 33 }; /* bytes, with the space in front */

/* The last work that was read, since lines that follow each other are mostly of one. */
typedef struct last_work {
    char text[HASH_TEXT];
    smp_hash hash;
} last_work;

static bool read_work(const char **at, last_work *last, smp_hash *out)
{
    const char *from = *at;
    if (!last->text[0] || strncmp(from, last->text, HASH_TEXT) != 0) {
        if (!read_hash(at, &last->hash)) {
            last->text[0] = '\0';
            return false;
        }
        memcpy(last->text, from, HASH_TEXT);
    }
    *at = from + HASH_TEXT;
    *out = last->hash;
    return true;
}

/* A space and a decimal number. */
static bool read_number(const char **at, int64_t *out)
{
    const char *from = *at;
    if (*from++ != ' ')
        return false;
    const bool negative = *from == '-';
    from += negative;
    uint64_t value = 0;
    const char *const first = from;
    for (; *from >= '0' && *from <= '9'; from++) {
        const uint64_t digit = (uint64_t)(*from - '0');
        if (value > ((uint64_t)INT64_MAX - digit) / 10)
            return false;
        value = 10 * value + digit;
    }
    *out = negative ? -(int64_t)value : (int64_t)value;
    *at = from;
    return from > first;
}

/* WORD INPUT WORK SIZE TIME "OUTPUT", hashes in 32 hexadecimal digits. Null: another line. */
static const char *read_entry(char *line, last_work *last, smp_journal_entry *e)
{
    const char *at = line + strcspn(line, " ");
    const size_t length = (size_t)(at - line);
    int64_t size;
    e->lacks = length == 5 && !memcmp(line, "lacks", 5); /* older versions pass it over, and make it again */
    e->done = e->lacks || (length == 4 && !memcmp(line, "done", 4));
    if (!e->done && (length != 5 || memcmp(line, "begin", 5) != 0))
        return NULL;
    if (!read_hash(&at, &e->input) || !read_work(&at, last, &e->work) || !read_number(&at, &size) || size < 0 ||
        !read_number(&at, &e->mtime) || *at != ' ')
        return NULL;
    e->size = (uint64_t)size;
    const char *output = read_quoted(line + (at - line) + 1);
    return output && output[0] ? output : NULL;
}

/* ------------------------------------------------------------------------------------------------ the log */

enum { BLOCK = 4096, WORKS = UINT16_MAX }; /* records a block; kinds of work that are told apart */

typedef struct record { /* of an output */
    smp_hash output, input;
    uint64_t size, begun_path;
    int64_t mtime;
    uint32_t journal;          /* that says begun */
    uint16_t work, begun_work; /* in the table of works */
    bool done, begun, lacks;
} record;

struct smp_journal_log {
    const smp_hash_set *only; /* while reading; null: all outputs */
    last_work last;
    record **blocks;
    size_t count, block_count, block_capacity;
    smp_hash_set numbers; /* of records, and 1 more, by outputs */
    smp_hash *works;
    size_t work_count, work_capacity;
    uint32_t journals;
    smp_hash before;       /* the work of the last line that was read whole, if */
    bool any;              /* there was one in this journal */
    smp_hash cut_work;     /* of the last line before the end of a journal that was cut off, */
    int64_t cut_until;     /* and by when all that it lost was written; 0: none was */
    int64_t gone, touched; /* when a journal that knew all its outputs was lost, at the earliest; 0: none was */
};

static record *record_at(const smp_journal_log *log, size_t index)
{
    return &log->blocks[index / BLOCK][index % BLOCK];
}

/* The record of an output; null: there is none. *key: where it is, or would be, among the numbers. */
static record *find_record(const smp_journal_log *log, const smp_hash *output, uint64_t *key)
{
    for (*key = output->a | 1;; *key += 2) { /* odd: a set with values has no 0 */
        const uint64_t number = smp_hash_set_value(&log->numbers, *key);
        if (!number)
            return NULL;
        if (smp_hash_equal(&record_at(log, number - 1)->output, output))
            return record_at(log, number - 1);
    }
}

/* The record of an output, made where there is none; null without memory. */
static record *record_of(smp_journal_log *log, const smp_hash *output)
{
    uint64_t key, number = log->count + 1;
    record *r = find_record(log, output, &key);
    if (r)
        return r;
    if (log->count / BLOCK == log->block_count) {
        if (!smp_grow(&log->blocks, &log->block_capacity, log->block_count + 1, sizeof *log->blocks) ||
            !(log->blocks[log->block_count] = smp_alloc_raw(BLOCK * sizeof **log->blocks)))
            return NULL;
        log->block_count++;
    }
    if (!smp_hash_set_swap(&log->numbers, key, &number))
        return NULL;
    r = record_at(log, log->count++);
    *r = (record){.output = *output};
    return r;
}

/* The number of a work; works beyond what there are numbers for share the last one, which no work equals. */
static uint16_t number_of(smp_journal_log *log, const smp_hash *work)
{
    for (size_t i = log->work_count; i-- > 0;)
        if (smp_hash_equal(&log->works[i], work))
            return (uint16_t)i;
    if (log->work_count >= WORKS ||
        !smp_grow(&log->works, &log->work_capacity, log->work_count + 1, sizeof *log->works))
        return WORKS;
    log->works[log->work_count] = *work;
    return (uint16_t)log->work_count++;
}

static smp_hash output_hash(const char *output)
{
    smp_hash hash = smp_hash_start();
    smp_hash_text(&hash, output);
    hash.a = smp_hash_mix(hash.a);
    return hash;
}

/* The end of what was written by `until` is not there. */
static void note_cut(smp_journal_log *log, int64_t until)
{
    if (!log->any)
        return;
    log->cut_work = log->before;
    log->cut_until = until > log->cut_until ? until : log->cut_until;
}

static smp_code take_line(smp_journal_log *log, char *line, bool doubtful, smp_error *err)
{
    smp_journal_entry e;
    const char *name = read_entry(line, &log->last, &e);
    if (!name) {
        const bool lost = !strncmp(line, lost_word, strlen(lost_word));
        const char *at = lost ? line + strlen(lost_word) : line;
        int64_t until;
        if (lost && read_number(&at, &until) && !*at)
            note_cut(log, until);
        return SMP_OK;
    }
    log->before = e.work;
    log->any = true;
    const smp_hash output = output_hash(name);
    if (log->only && !smp_hash_set_has(log->only, output.a))
        return SMP_OK;
    record *r = record_of(log, &output);
    SMP_NEED(r, "the journal", log->count * sizeof *r, err);
    if (e.done && !doubtful) {
        if (!r->done || e.mtime >= r->mtime) { /* of several shards' journals the last one counts */
            r->input = e.input;
            r->work = number_of(log, &e.work);
            r->size = e.size;
            r->mtime = e.mtime;
            r->lacks = e.lacks;
        }
        r->done = true;
        r->begun = r->begun && r->journal != log->journals;
    } else {
        r->begun = true;
        r->begun_work = number_of(log, &e.work);
        r->begun_path = e.input.a;
        r->journal = log->journals;
    }
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ reading */

typedef struct reading { /* of a file, in parts */
    int fd;
    char *text;
    size_t used, capacity;
    bool ended;
} reading;

/* Reads more behind what is there. */
static smp_code read_more(reading *in, const char *name, smp_error *err)
{
    enum { PORTION = 1 << 20 };
    SMP_NEED(smp_grow(&in->text, &in->capacity, in->used + PORTION + 1, 1), "the journal", in->used + PORTION, err);
    ssize_t got;
    while ((got = read(in->fd, in->text + in->used, PORTION)) < 0 && errno == EINTR)
        ;
    if (got < 0)
        return smp_fail(err, SMP_E_READ, "cannot read the journal %s: %s", name, strerror(errno));
    in->used += (size_t)got;
    in->ended = got == 0;
    return SMP_OK;
}

static smp_code read_lines(smp_journal_log *log, reading *in, const char *name, bool doubtful, smp_error *err)
{
    bool first = true;
    smp_code code = SMP_OK;
    while (!code && !in->ended) {
        code = read_more(in, name, err);
        if (!code && first && in->used && strncmp(in->text, title, smp_min_u64(in->used, strlen(title))) != 0) {
            smp_fail(err, SMP_E_READ, "%s is not a journal of this version of smempipe", name);
            smp_hint(err, "remove it; then --skip-existing keeps what is there, --force does all again");
            return SMP_E_READ;
        }
        first = first && !in->used;
        size_t at = 0;
        for (char *end; !code && (end = memchr(in->text + at, '\n', in->used - at));
             at = (size_t)(end - in->text) + 1) {
            *end = '\0';
            code = take_line(log, in->text + at, doubtful, err);
        }
        memmove(in->text, in->text + at, in->used - at);
        in->used -= at;
    }
    if (in->used)
        note_cut(log, INT64_MAX);
    return code;
}

smp_code smp_journal_log_new(smp_journal_log **out, smp_error *err)
{
    *out = smp_alloc(sizeof **out);
    return *out ? SMP_OK : smp_fail_memory(err, "the journal", sizeof **out);
}

smp_code smp_journal_log_add(smp_journal_log *log, int folder, const char *name, bool doubtful, smp_error *err)
{
    struct stat status;
    reading in = {.fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)};
    if (in.fd < 0)
        return SMP_OK;
    smp_code code = SMP_OK;
    if (fstat(in.fd, &status) == 0 && S_ISREG(status.st_mode)) {
        log->journals++;
        log->any = false;
        code = read_lines(log, &in, name, doubtful, err);
    }
    smp_free(in.text);
    close(in.fd);
    return code;
}

smp_code smp_journal_read(const char *folder, const smp_hash_set *only, smp_journal_log **out, smp_error *err)
{
    SMP_TRY(smp_journal_log_new(out, err));
    smp_code code = SMP_OK;
    smp_journal_log *log = *out;
    log->only = only;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && !code && (entry = readdir(dir));)
        if (!strncmp(entry->d_name, SMP_JOURNAL_NAME, strlen(SMP_JOURNAL_NAME)))
            code = smp_journal_log_add(log, dirfd(dir), entry->d_name, false, err);
    if (dir)
        closedir(dir);
    log->only = NULL;
    if (code) {
        smp_at(err, "%s", folder);
        smp_journal_log_free(log);
        *out = NULL;
    }
    return code;
}

void smp_journal_log_lose(smp_journal_log *log, int64_t changed, int64_t touched)
{
    log->gone = changed > log->gone ? changed : log->gone;
    log->touched = touched > log->touched ? touched : log->touched;
}

bool smp_journal_log_distrust(smp_journal_log *log)
{
    const bool later = log->touched > log->gone;
    log->gone = later ? log->touched : log->gone;
    return later;
}

smp_journal_loss smp_journal_lost(const smp_journal_log *log, const smp_hash *work, int64_t mtime)
{
    if (mtime <= log->cut_until && smp_hash_equal(&log->cut_work, work))
        return SMP_JOURNAL_LOST;
    return !log->gone ? SMP_JOURNAL_NO_LOSS : mtime <= log->gone ? SMP_JOURNAL_LOST : SMP_JOURNAL_LOST_BEFORE;
}

bool smp_journal_find(const smp_journal_log *log, const char *output, smp_journal_past *past)
{
    static const smp_hash none = {0, 0};
    const smp_hash hash = output_hash(output);
    uint64_t key;
    const record *r = log ? find_record(log, &hash, &key) : NULL;
    if (!r)
        return false;
    *past = (smp_journal_past){.done = r->done, .begun = r->begun, .begun_path = r->begun_path};
    past->begun_work = r->begun && r->begun_work != WORKS ? log->works[r->begun_work] : none;
    past->last = (smp_journal_entry){
        .done = r->done,
        .lacks = r->lacks,
        .input = r->input,
        .work = r->done && r->work != WORKS ? log->works[r->work] : none,
        .size = r->size,
        .mtime = r->mtime,
    };
    return true;
}

void smp_journal_log_free(smp_journal_log *log)
{
    if (!log)
        return;
    for (size_t i = 0; i < log->block_count; i++)
        smp_free(log->blocks[i]);
    smp_free(log->blocks);
    smp_hash_set_free(&log->numbers);
    smp_free_all(log->works, log);
}

/* ------------------------------------------------------------------------------------------------ writing */

struct smp_journal {
    int fd;
    pthread_mutex_t line; /* the system may take a part of one, and the rest must follow it */
    char path[PATH_MAX];
};

static smp_code fail_write(const char *path, int number, smp_error *err)
{
    char text[128];
    smp_fail(err, SMP_E_WRITE, "cannot write the journal: %s", smp_os_error(number, text, sizeof text));
    smp_hint(err, "once that is mended, the same command with --resume does the rest");
    return smp_at(err, "%s", path);
}

static smp_code write_line(smp_journal *journal, const char *line, size_t length, smp_error *err)
{
    pthread_mutex_lock(&journal->line);
    const bool whole = smp_write_whole(journal->fd, line, length);
    const int number = errno;
    pthread_mutex_unlock(&journal->line);
    return whole ? SMP_OK : fail_write(journal->path, number, err);
}

/* A title for a new journal; an end for a line that a crash cut off, and when that was found. */
static smp_code begin(smp_journal *journal, smp_error *err)
{
    struct stat status;
    char last = '\n', lost[64];
    if (fstat(journal->fd, &status) != 0)
        return fail_write(journal->path, errno, err);
    if (!status.st_size)
        return write_line(journal, title, strlen(title), err);
    if (pread(journal->fd, &last, 1, status.st_size - 1) != 1 || last == '\n')
        return SMP_OK;
    SMP_TRY(write_line(journal, "\n", 1, err));
    if (fstat(journal->fd, &status) != 0)
        return SMP_OK;
    const int length = snprintf(lost, sizeof lost, "%s %" PRId64 "\n", lost_word, smp_nanoseconds(status.st_mtim));
    return write_line(journal, lost, (size_t)length, err);
}

/* Adds a line of who is writing: "run HOST PID BOOT JOB". Readers of outputs pass it over. */
static smp_code sign(smp_journal *journal, smp_error *err)
{
    char who[SMP_WRITER_TEXT], line[SMP_WRITER_TEXT + sizeof "run \n"];
    smp_writer_self_text(who);
    const int length = snprintf(line, sizeof line, "run %s\n", who);
    return write_line(journal, line, (size_t)length, err);
}

static smp_code fail_held(const char *folder, int64_t shard, int64_t shards, smp_error *err)
{
    if (shards > 0) {
        smp_fail(err, SMP_E_WRITE, "another smempipe batch is shard %" PRId64 "/%" PRId64 " of this folder", shard,
                 shards);
        smp_hint(err, "each shard is one run: --shard 1/%" PRId64 " to --shard %" PRId64 "/%" PRId64, shards, shards,
                 shards);
    } else {
        smp_fail(err, SMP_E_WRITE, "another smempipe batch is writing to this folder");
        smp_hint(err, "wait for it, or share the work by --shard 1/2 and --shard 2/2");
    }
    return smp_at(err, "%s", folder);
}

smp_code smp_journal_open(const char *folder, int64_t shard, int64_t shards, smp_journal **out, bool *lockless,
                          smp_error *err)
{
    char path[PATH_MAX], whose[64] = "";
    const char *gap = folder[0] && folder[strlen(folder) - 1] == '/' ? "" : "/";
    if (shards > 0)
        snprintf(whose, sizeof whose, ".%" PRId64 "-%" PRId64, shard, shards);
    const int length = snprintf(path, sizeof path, "%s%s%s%s", folder, gap, SMP_JOURNAL_NAME, whose);
    const bool fits = length > 0 && (size_t)length < sizeof path;
    const int fd = fits ? open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666) : -1;
    *out = NULL;
    if (fd < 0)
        return fail_write(path, fits ? errno : ENAMETOOLONG, err);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) {
            close(fd);
            return fail_held(folder, shard, shards, err);
        }
        if (lockless)
            *lockless = *lockless || smp_no_locks(errno);
    }
    return smp_journal_on(fd, path, out, err);
}

smp_code smp_journal_on(int fd, const char *path, smp_journal **out, smp_error *err)
{
    smp_journal *journal = *out = smp_alloc(sizeof *journal);
    if (!journal) {
        close(fd);
        return smp_fail_memory(err, "the journal", sizeof *journal);
    }
    pthread_mutex_init(&journal->line, NULL);
    journal->fd = fd;
    snprintf(journal->path, sizeof journal->path, "%s", path);
    smp_code code = begin(journal, err);
    code = code ? code : sign(journal, err);
    if (code) {
        smp_journal_close(journal);
        *out = NULL;
    }
    return code;
}

smp_code smp_journal_add(smp_journal *journal, const char *output, const smp_journal_entry *e, smp_error *err)
{
    enum { NUMBERS = 128 };
    size_t most = NUMBERS + 2 * strlen(output) + sizeof "\"\"\n";
    char *line = smp_alloc_raw(most);
    SMP_NEED(line, "a line", most, err);
    int used =
        snprintf(line, NUMBERS, "%s %016" PRIx64 "%016" PRIx64 " %016" PRIx64 "%016" PRIx64 " %" PRIu64 " %" PRId64 " ",
                 e->lacks  ? "lacks"
                 : e->done ? "done"
                           : "begin",
                 e->input.a, e->input.b, e->work.a, e->work.b, e->size, e->mtime);
    char *to = line + used;
    *to++ = '"';
    to = smp_line_escape(to, output, true);
    *to++ = '"';
    *to++ = '\n';
    smp_code code = write_line(journal, line, (size_t)(to - line), err);
    smp_free(line);
    return code;
}

void smp_journal_close(smp_journal *journal)
{
    if (!journal)
        return;
    if (journal->fd >= 0)
        close(journal->fd);
    pthread_mutex_destroy(&journal->line);
    smp_free(journal);
}
