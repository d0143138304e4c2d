/* Bytes of an input: a file, a pipe, or memory, behind one buffered interface, so that each format reads the same way
 * and fuzz targets need no files. Counts against --max-file. */
#ifndef SMP_IO_SOURCE_H
#define SMP_IO_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/limits.h"

enum { SMP_SOURCE_BUFFER = 1 << 17 }; /* bytes; also the most that peek can show */

typedef struct smp_source {
    int fd; /* -1: none (memory) */
    bool owned, seekable;
    uint64_t size;         /* bytes of the whole input; UINT64_MAX when not known (a pipe) */
    uint64_t base;         /* where in the file the input begins */
    uint64_t limit;        /* bytes: --max-file */
    const uint8_t *memory; /* the whole input, or null */
    int spool_file;        /* opened for smp_source_spool, which cannot open one itself; 0: none */
    uint8_t *spooled;      /* memory again, when it is ours to free */
    uint8_t *buffer;       /* SMP_SOURCE_BUFFER bytes or more, null for memory */
    size_t begin, end;     /* of what the buffer (or memory) holds and was not taken */
    uint64_t position;     /* of the next byte that read gives */
    bool at_end;
    int failed; /* errno of a failed read, or 0 */
    bool over_limit;
    double seconds; /* that reads took */
} smp_source;

/* path "-" is standard input. Refuses folders and files over the limit. *source needs no closing on failure. */
smp_code smp_source_open(smp_source *source, const char *path, const smp_limits *limits, smp_error *err);

/* The same in two halves: finding opens and checks, the buffer is for reading. Closes on failure. */
smp_code smp_source_find(smp_source *source, const char *path, const smp_limits *limits, smp_error *err);
smp_code smp_source_buffer(smp_source *source, smp_error *err);

/* data stays the caller's and must live as long as the source. */
void smp_source_memory(smp_source *source, const void *data, size_t size);
void smp_source_close(smp_source *source);

/* Shows up to `want` (at most SMP_SOURCE_BUFFER) of the next bytes without taking them; fewer only at the end or on
 * failure. */
size_t smp_source_peek(smp_source *source, const uint8_t **at, size_t want);

/* Takes bytes: fewer than asked for only at the end or on failure. */
size_t smp_source_read(smp_source *source, void *to, size_t size);
uint64_t smp_source_skip(smp_source *source, uint64_t size);

/* Takes all that is buffered, reading first when nothing is: *at stays valid until the next call. 0 at the end. */
size_t smp_source_take(smp_source *source, const uint8_t **at);

/* Makes seeking possible: a pipe is read to its end, into memory and, beyond 8 MiB, into a file without a name in
 * TMPDIR, /var/tmp or /tmp. Only before anything was taken. See spool.c. */
smp_code smp_source_spool(smp_source *source, smp_error *err);

/* A file without a name for smp_source_spool; -1: no folder takes one. */
int smp_spool_file(void);

/* Leaves out the first `bytes` of the input: positions count from behind them. Only before anything was taken. False
 * when the input is shorter. */
bool smp_source_begin(smp_source *source, uint64_t bytes);

/* Reads up to `most` bytes of a pipe ahead into memory. When the input ends within them, seeking becomes possible. Only
 * before anything was taken. */
smp_code smp_source_read_ahead(smp_source *source, size_t most, smp_error *err);

/* Continues at an absolute position; false when the source cannot seek. */
bool smp_source_seek(smp_source *source, uint64_t position);

/* Bytes from elsewhere in the input, without moving: false when they are not there or the source cannot seek. */
bool smp_source_look(const smp_source *source, uint64_t position, void *to, size_t size);

/* Reading stopped short: the reason as an error: the operating system's, the limit, or, when the input just ended,
 * SMP_E_DECODE saying that it is truncated. */
smp_code smp_source_ended(const smp_source *source, smp_error *err);

/* The text of an errno, into text; thread-safe. */
const char *smp_os_error(int number, char *text, size_t size);

#endif
