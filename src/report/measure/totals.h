/* Results of several files, added up. Results of one statement over data of the same format and channels form a group,
 * whatever the sizes. 8-bit and 16-bit code values have different full scales, so they are in different groups. */
#pragma once

#include "report/report.h"

typedef struct smp_total {
    int node; /* of the program */
    char label[96], name[48];
    const smp_stage *stage;
    smp_kind kind;
    smp_format format;
    int channels;
    bool alpha;
    uint64_t first; /* the least of its files' numbers */
    size_t files;
    void *partial; /* null: these results cannot be added up */
} smp_total;

typedef struct smp_totals {
    smp_total *items; /* in the order of statements, then of their first files */
    size_t count, capacity;
} smp_totals;

/* Adds the results of a run over the file of this number in the order of all files. Takes over the report's partials,
 * or merges them. Files may come in any order. */
smp_code smp_totals_add(smp_totals *totals, uint64_t file, smp_run_report *report, smp_error *err);

/* Adds a group; its partial becomes the totals', also on failure. */
smp_code smp_totals_join(smp_totals *totals, const smp_total *more, smp_error *err);
void smp_totals_free(smp_totals *totals);

/* A group as bytes, and back. Unpacking leaves no partial when from->failed; an error is one of memory alone. */
void smp_total_pack(const smp_total *total, smp_packer *to);
smp_code smp_total_unpack(smp_unpacker *from, smp_total *total, smp_error *err);

/* "u8x3", "f32x2 sound": the data of a group. */
void smp_total_type(const smp_total *total, char *text, size_t size);

/* The measurements of a group, by the stage functions that make those of a file. */
smp_code smp_total_measurements(const smp_total *total, smp_measurements *measurements, smp_error *err);
