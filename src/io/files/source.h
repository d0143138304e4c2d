/* The bytes of an input: a file, a pipe, or memory, behind one buffered interface. So each format reads all of them
 * alike, and fuzz targets need no files. Counts against --max-file. */
#pragma once

#include <stdatomic.h>
#include <stddef.h>

#include "base/error.h"
#include "base/limits.h"

enum { SMP_SOURCE_BUFFER = 1 << 17 }; /* bytes; also the most that peek can show */

typedef struct smp_source {
    int fd; /* -1: none (memory) */
    bool owned, seekable;
    uint64_t size;         /* bytes of the whole input; UINT64_MAX: unknown (a pipe) */
    uint64_t base;         /* where the input begins in the file */
    uint64_t limit;        /* bytes: --max-file */
    const uint8_t *memory; /* the whole input, or null */
    int spool_file;        /* opened for smp_source_spool, which cannot open one itself; 0: none */
    uint8_t *spooled;      /* equals memory when we must free it */
    uint8_t *buffer;       /* SMP_SOURCE_BUFFER bytes or more, null for memory */
    size_t begin, end;     /* the part of the buffer (or memory) that is not consumed */
    uint64_t position;     /* of the next byte to read */
    bool at_end;
    int failed; /* errno of a failed read, or 0 */
    bool over_limit;
    bool keeping; /* bytes that are read are kept, for smp_source_again */
    uint8_t *kept;
    size_t kept_size, kept_capacity;
    const atomic_bool *stopped; /* true: reads of a pipe that gives nothing fail; may be null */
    double seconds;             /* spent in reads */
} smp_source;

/* path "-" is standard input. Refuses folders and files over the limit. On failure *source need not be closed. */
smp_code smp_source_open(smp_source *source, const char *path, const smp_limits *limits, smp_error *err);

/* From now on, a pipe that has a name is opened once in this process: a second time would wait for another writer.
 * waits (may be null) is called where nobody writes into one for some seconds. */
void smp_source_pipes_once(void (*waits)(const char *path));

/* The same in two halves: finding opens and checks, the buffer is for reading. Closes on failure. */
smp_code smp_source_find(smp_source *source, const char *path, const smp_limits *limits, double seconds,
                         smp_error *err);
smp_code smp_source_buffer(smp_source *source, smp_error *err);

/* As smp_source_find, of a regular file that is open; takes fd over. */
smp_code smp_source_of_file(smp_source *source, int fd, const smp_limits *limits, smp_error *err);

/* data stays the caller's and must outlive the source. */
void smp_source_memory(smp_source *source, const void *data, size_t size);
void smp_source_close(smp_source *source);

/* Shows up to `want` (at most SMP_SOURCE_BUFFER) of the next bytes without consuming them; fewer only at the end or on
 * failure. */
size_t smp_source_peek(smp_source *source, const uint8_t **at, size_t want);

/* Consumes bytes; fewer than asked for only at the end or on failure. */
size_t smp_source_read(smp_source *source, void *to, size_t size);

/* The same, where all of it must be there: else as smp_source_ended. */
smp_code smp_source_fill(smp_source *source, void *to, size_t size, smp_error *err);
uint64_t smp_source_skip(smp_source *source, uint64_t size);

/* Consumes all that is buffered, and reads first when nothing is. *at is valid until the next call. 0 at the end. */
size_t smp_source_take(smp_source *source, const uint8_t **at);

/* Makes seeking possible: reads a pipe to its end, into memory and, past 8 MiB, into an unnamed file in TMPDIR,
 * /var/tmp or /tmp. Only before anything was consumed. See spool.c. */
smp_code smp_source_spool(smp_source *source, smp_error *err);

/* A file without a name for smp_source_spool; -1: no folder takes one. */
int smp_spool_file(void);

/* Writes to it. folder: for the message; null: not known. */
smp_code smp_spool_put(int file, const char *folder, const void *from, size_t size, smp_error *err);

/* Skips the first `bytes` of the input; positions then count from there. Only before anything was consumed. False: the
 * input is shorter. */
bool smp_source_begin(smp_source *source, uint64_t bytes);

/* Takes smp_source_begin back. The source must be able to seek. */
bool smp_source_begin_earlier(smp_source *source, uint64_t bytes);

/* Reads up to `most` bytes of a pipe ahead into memory. If the input ends within them, seeking becomes possible. Only
 * before anything was consumed. */
smp_code smp_source_read_ahead(smp_source *source, size_t most, smp_error *err);

/* From now on keeps what is read of a pipe, until smp_source_keep_no_more. */
void smp_source_keep(smp_source *source);
void smp_source_keep_no_more(smp_source *source);

/* Goes back to where keeping began. Positions count from there, and nothing was consumed. limit: as at first. */
void smp_source_again(smp_source *source, uint64_t limit);

/* Waits for bytes, and says how many are there; 0: the input has ended. */
size_t smp_source_available(smp_source *source);

/* Continues at an absolute position; false when the source cannot seek. */
bool smp_source_seek(smp_source *source, uint64_t position);

/* Reads bytes elsewhere in the input without moving. False: they do not exist, or the source cannot seek. */
bool smp_source_look(const smp_source *source, uint64_t position, void *to, size_t size);

/* Reports why reading stopped short: the operating system's reason, the limit, or, at the end of the input,
 * SMP_E_DECODE (truncated). */
smp_code smp_source_ended(const smp_source *source, smp_error *err);

/* Adds what to do about a damaged or truncated file to an error. Returns its code. */
smp_code smp_hint_damaged(smp_error *err);

/* The same where --no-verify reads what there is of the file. */
smp_code smp_hint_no_verify(smp_error *err);

/* Up to `size` bytes that a pipe or socket goes on with, which stay unread. *all: there are `size`, or the input ends
 * behind them; else it is neither, or has not given so many for three seconds. */
size_t smp_source_begins(int fd, uint8_t *head, size_t size, bool *all);

/* The text of an errno, into text; thread-safe. */
const char *smp_os_error(int number, char *text, size_t size);
