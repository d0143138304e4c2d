/* The journal of a batch: see journal.h. A line is one write(2) at the end of the file: whole, or cut off by a crash of
 * the machine, which reading passes over. */
#include "batch/journal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "batch/folder_lock.h"
#include "io/source.h"

static const char title[] = "smempipe journal 2\n"; /* 1 wrote names without quotes */

/* ------------------------------------------------------------------------------------------------ reading */

typedef struct record {
    const char *output; /* in the text of its journal */
    size_t journal, at; /* which one, and where in it */
    smp_journal_entry entry;
} record;

struct smp_journal_log {
    record *records; /* while reading */
    size_t count, capacity;
    smp_journal_past *past; /* in the order of outputs */
    size_t past_count;
    char **texts;
    size_t text_count, text_capacity;
};

/* Reads a name in double quotes, in place: backslashes stand before quotes, backslashes and, as n, ends of lines. Null
 * for a text that does not end with its closing quote, as the last one of a run that was killed may. */
static char *read_quoted(char *text)
{
    if (*text != '"')
        return NULL;
    char *to = text, *from = text + 1;
    for (; *from && *from != '"'; from++) {
        if (*from == '\\' && from[1]) {
            from++;
            *to++ = *from == 'n' ? '\n' : *from;
        } else
            *to++ = *from;
    }
    if (*from != '"' || from[1])
        return NULL;
    *to = '\0';
    return text;
}

/* done INPUT WORK SIZE TIME "OUTPUT", hashes in 32 hexadecimal digits. */
static bool read_line(char *line, record *out)
{
    char word[8];
    int at = 0;
    smp_journal_entry *e = &out->entry;
    *out = (record){0};
    if (sscanf(line, "%7s %16" SCNx64 "%16" SCNx64 " %16" SCNx64 "%16" SCNx64 " %" SCNu64 " %" SCNd64 "%n", word,
               &e->input.a, &e->input.b, &e->work.a, &e->work.b, &e->size, &e->mtime, &at) != 7 ||
        !at || line[at] != ' ' || (strcmp(word, "done") && strcmp(word, "begin")))
        return false;
    e->done = word[0] == 'd';
    out->output = read_quoted(line + at + 1);
    return out->output && out->output[0];
}

static smp_code read_lines(smp_journal_log *log, char *text, smp_error *err)
{
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        record r;
        *end = '\0';
        if (!read_line(line, &r))
            continue;
        if (!smp_grow(&log->records, &log->capacity, log->count + 1, sizeof *log->records))
            return smp_fail_memory(err, "the journal", log->count * sizeof *log->records);
        r.journal = log->text_count;
        r.at = (size_t)(line - text);
        log->records[log->count++] = r;
    }
    return SMP_OK;
}

/* The whole of a file; *out is null when it is not there. */
static smp_code read_file(int folder, const char *name, char **out, smp_error *err)
{
    struct stat status;
    *out = NULL;
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size < 0) {
        if (fd >= 0)
            close(fd);
        return SMP_OK;
    }
    size_t size = (size_t)status.st_size, used = 0;
    smp_code code = SMP_OK;
    char *text = smp_alloc_raw(size + 1);
    if (!text)
        code = smp_fail_memory(err, "the journal", size);
    while (!code && used < size) {
        ssize_t got = read(fd, text + used, size - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            code = smp_fail(err, SMP_E_READ, "cannot read the journal %s: %s", name, strerror(errno));
        if (got <= 0)
            break;
        used += (size_t)got;
    }
    close(fd);
    if (code)
        smp_free(text);
    else {
        text[used] = '\0';
        *out = text;
    }
    return code;
}

static smp_code read_journal(smp_journal_log *log, int folder, const char *name, smp_error *err)
{
    char *text;
    smp_code code = read_file(folder, name, &text, err);
    if (code || !text)
        return code;
    size_t length = strlen(text);
    if (length && strncmp(text, title, strlen(title)) != 0) {
        smp_fail(err, SMP_E_READ, "%s is no journal of this version of smempipe", name);
        smp_hint(err, "remove it; then --skip-existing keeps what is there, --force does all again");
        code = SMP_E_READ;
    }
    if (!code && !smp_grow(&log->texts, &log->text_capacity, log->text_count + 1, sizeof *log->texts))
        code = smp_fail_memory(err, "the journal", length);
    if (code) {
        smp_free(text);
        return code;
    }
    log->texts[log->text_count++] = text;
    return read_lines(log, text, err);
}

static int by_output(const void *a_, const void *b_)
{
    const record *a = a_, *b = b_;
    int order = strcmp(a->output, b->output);
    if (!order)
        order = (a->journal > b->journal) - (a->journal < b->journal);
    return order ? order : (a->at > b->at) - (a->at < b->at);
}

/* One entry an output out of the lines about it. */
static smp_code sum_up(smp_journal_log *log, smp_error *err)
{
    if (log->count)
        qsort(log->records, log->count, sizeof *log->records, by_output);
    log->past = smp_alloc_array(log->count, sizeof *log->past);
    if (!log->past)
        return smp_fail_memory(err, "the journal", log->count * sizeof *log->past);
    for (size_t i = 0; i < log->count; i++) {
        const record *r = &log->records[i];
        if (!log->past_count || strcmp(log->past[log->past_count - 1].output, r->output) != 0)
            log->past[log->past_count++].output = r->output;
        smp_journal_past *past = &log->past[log->past_count - 1];
        if (r->entry.done) {
            past->done = true;
            past->last = r->entry;
            past->begun = past->begun && past->journal != r->journal;
        } else {
            past->begun = true;
            past->begun_work = r->entry.work;
            past->journal = r->journal;
        }
    }
    smp_free(log->records);
    log->records = NULL;
    log->count = log->capacity = 0;
    return SMP_OK;
}

smp_code smp_journal_read(const char *folder, smp_journal_log **out, smp_error *err)
{
    smp_journal_log *log = *out = smp_alloc(sizeof *log);
    if (!log)
        return smp_fail_memory(err, "the journal", sizeof *log);
    smp_code code = SMP_OK;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && !code && (entry = readdir(dir));)
        if (!strncmp(entry->d_name, SMP_JOURNAL_NAME, strlen(SMP_JOURNAL_NAME)))
            code = read_journal(log, dirfd(dir), entry->d_name, err);
    if (dir)
        closedir(dir);
    if (!code)
        code = sum_up(log, err);
    if (code) {
        smp_at(err, "%s", folder);
        smp_journal_log_free(log);
        *out = NULL;
    }
    return code;
}

const smp_journal_past *smp_journal_find(const smp_journal_log *log, const char *output)
{
    size_t low = 0, high = log ? log->past_count : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(output, log->past[middle].output);
        if (order == 0)
            return &log->past[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

void smp_journal_log_free(smp_journal_log *log)
{
    if (!log)
        return;
    for (size_t i = 0; i < log->text_count; i++)
        smp_free(log->texts[i]);
    smp_free(log->texts);
    smp_free(log->past);
    smp_free(log->records);
    smp_free(log);
}

/* ------------------------------------------------------------------------------------------------ writing */

struct smp_journal {
    int fd;
    char path[PATH_MAX];
};

static smp_code fail_write(const smp_journal *journal, int number, smp_error *err)
{
    char text[128];
    smp_fail(err, SMP_E_WRITE, "cannot write the journal: %s", smp_os_error(number, text, sizeof text));
    return smp_at(err, "%s", journal->path);
}

static smp_code write_line(smp_journal *journal, const char *line, size_t length, smp_error *err)
{
    ssize_t wrote;
    while ((wrote = write(journal->fd, line, length)) < 0 && errno == EINTR)
        ;
    return wrote == (ssize_t)length ? SMP_OK : fail_write(journal, wrote < 0 ? errno : ENOSPC, err);
}

/* A title for a new journal; an end for a line that a crash cut off. */
static smp_code begin(smp_journal *journal, smp_error *err)
{
    struct stat status;
    char last = '\n';
    if (fstat(journal->fd, &status) != 0)
        return fail_write(journal, errno, err);
    if (!status.st_size)
        return write_line(journal, title, strlen(title), err);
    if (pread(journal->fd, &last, 1, status.st_size - 1) == 1 && last != '\n')
        return write_line(journal, "\n", 1, err);
    return SMP_OK;
}

smp_code smp_journal_open(const char *folder, int64_t shard, int64_t shards, smp_journal **out, bool *lockless,
                          smp_error *err)
{
    smp_journal *journal = *out = smp_alloc(sizeof *journal);
    if (!journal)
        return smp_fail_memory(err, "the journal", sizeof *journal);
    const char *gap = folder[0] && folder[strlen(folder) - 1] == '/' ? "" : "/";
    int length = shards > 0 ? snprintf(journal->path, sizeof journal->path, "%s%s%s.%" PRId64 "-%" PRId64, folder, gap,
                                       SMP_JOURNAL_NAME, shard, shards)
                            : snprintf(journal->path, sizeof journal->path, "%s%s%s", folder, gap, SMP_JOURNAL_NAME);
    smp_code code = SMP_OK;
    journal->fd = length > 0 && (size_t)length < sizeof journal->path
                      ? open(journal->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666)
                      : -1;
    if (journal->fd < 0)
        code = fail_write(journal, length > 0 && (size_t)length < sizeof journal->path ? errno : ENAMETOOLONG, err);
    else if (flock(journal->fd, LOCK_EX | LOCK_NB) == 0)
        code = begin(journal, err);
    else if (errno == EWOULDBLOCK && shards > 0) {
        smp_fail(err, SMP_E_WRITE, "another smempipe batch is shard %" PRId64 "/%" PRId64 " of this folder", shard,
                 shards);
        smp_hint(err, "each shard is one run: --shard 1/%" PRId64 " to --shard %" PRId64 "/%" PRId64, shards, shards,
                 shards);
        code = smp_at(err, "%s", folder);
    } else if (errno == EWOULDBLOCK) {
        smp_fail(err, SMP_E_WRITE, "another smempipe batch is writing to this folder");
        smp_hint(err, "wait for it, or share the work by --shard 1/2 and --shard 2/2");
        code = smp_at(err, "%s", folder);
    } else {
        if (lockless)
            *lockless = *lockless || smp_no_locks(errno);
        code = begin(journal, err);
    }
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
    if (!line)
        return smp_fail_memory(err, "a line", most);
    int used =
        snprintf(line, NUMBERS, "%s %016" PRIx64 "%016" PRIx64 " %016" PRIx64 "%016" PRIx64 " %" PRIu64 " %" PRId64 " ",
                 e->done ? "done" : "begin", e->input.a, e->input.b, e->work.a, e->work.b, e->size, e->mtime);
    char *to = line + used;
    *to++ = '"';
    for (const char *from = output; *from; from++) {
        if (*from == '\\' || *from == '\n' || *from == '"')
            *to++ = '\\';
        *to++ = *from == '\n' ? 'n' : *from;
    }
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
    smp_free(journal);
}
