/* Shared by the writer and the reader of parts. Internal to src/report. */
#pragma once

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
