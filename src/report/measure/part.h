/* Parts of a measurement: what one shard found, in a file, so that many machines can measure and one tells the result.
 * A part holds what the report of its files needs (measurements, failures, notes), each with the file's number in the
 * order of all files, and the totals. Records follow each other:
 *
 *     "smempipe part 3\n"
 *     of each record: 8 bytes length, 8 bytes smp_hash.a of what follows, 1 byte kind, packed values (base/pack.h)
 *     kinds: h head, f file (numbers ascend), t group of totals, e end, with counts
 *
 * Numbers are little-endian, so that machines of any kind read it. Readers trust nothing in it. */
#pragma once

#include "base/hash/hash.h"
#include "io/files/output.h"
#include "report/measure/totals.h"

typedef struct smp_part_head {
    int64_t shard, shards; /* 1..shards of shards */
    uint64_t files;        /* of all shards */
    smp_hash list;         /* of all files: names, sizes */
    smp_hash work;         /* of the pipeline */
    bool totals_only;      /* measurements of single files are left out */
    uint64_t left_out;     /* files that were passed over by their names (of a list: this part's), and of folders */
    char *others;          /* how many of which; from smp_alloc, or null */
} smp_part_head;

/* ------------------------------------------------------------------------------------------------ writing */

typedef struct smp_part_writer {
    smp_output *output;
    smp_packer record;
    uint64_t files, done, failed; /* records of files; files measured or not */
    uint64_t left_out;            /* the head's, unless the caller knows better at the end */
    bool totals_only;
} smp_part_writer;

/* Refuses a path that is one of `inputs` (null-terminated), and an existing file without force. */
smp_code smp_part_create(const char *path, bool force, const char *const *inputs, const smp_part_head *head,
                         smp_part_writer *writer, smp_error *err);

/* The file of this number, in ascending order; why: what kept it from being measured, when report->status says so. */
smp_code smp_part_add(smp_part_writer *writer, uint64_t number, const smp_run_report *report, const smp_error *why,
                      smp_error *err);

/* Writes the totals and puts the file in place. */
smp_code smp_part_commit(smp_part_writer *writer, const smp_totals *totals, smp_error *err);
void smp_part_abort(smp_part_writer *writer); /* also after commit; zeroed: nothing */

/* ------------------------------------------------------------------------------------------------ reading */

typedef struct smp_part_reader {
    const char *path; /* the caller's */
    smp_part_head head;
    uint64_t done, failed; /* after smp_part_check */
    uint64_t number;       /* of the file that smp_part_next found */
    /* About the file at path, which is opened for each piece that is read, because there may be thousands: */
    uint64_t size, at, first; /* bytes; the next record; the first behind the head */
    uint8_t *buffer;          /* bytes held_at .. held_at + held - 1 */
    size_t capacity, held;
    uint64_t held_at;
    smp_unpacker record; /* the values of the record read last, in the buffer */
} smp_part_reader;

/* Reads the head. SMP_E_DECODE: it is no part, of another version, or damaged. Close it also on failure. */
smp_code smp_part_open(const char *path, smp_part_reader *part, smp_error *err);
void smp_part_close(smp_part_reader *part);

/* Reads it all, adds its totals to these, and goes back to the first file. */
smp_code smp_part_check(smp_part_reader *part, smp_totals *totals, smp_error *err);

/* Goes to the next record of a file; *more: there was one. */
smp_code smp_part_next(smp_part_reader *part, bool *more, smp_error *err);

/* The report of that file, as far as it was written, and why it failed, if report->status says so. Free it with
 * smp_part_report_free, also on failure. */
smp_code smp_part_report(smp_part_reader *part, smp_run_report *report, smp_error *why, smp_error *err);
void smp_part_report_free(smp_run_report *report);

#define SMP_PART_MAGIC "smempipe part 3\n"

enum { SMP_PART_MAGIC_SIZE = sizeof SMP_PART_MAGIC - 1, SMP_PART_FRAME = 16 /* bytes: length, hash */ };

enum { SMP_PART_HEAD = 'h', SMP_PART_FILE = 'f', SMP_PART_TOTAL = 't', SMP_PART_END = 'e' };

enum {
    SMP_MEASUREMENT_NUMBER,
    SMP_MEASUREMENT_COUNTS,
    SMP_MEASUREMENT_VALUES,
    SMP_MEASUREMENT_WORD,
    SMP_MEASUREMENT_KINDS
};
