/* Measurements of a reduction, for the report. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum { SMP_MEASUREMENT_TEXT = 24 /* bytes, with the end */ };

/* One measured value of a reduction, for the report. */
typedef struct smp_measurement {
    char name[48];                   /* "mean", "p95" */
    int channel;                     /* -1: of the whole picture */
    double value;                    /* when list is null; NaN where there is a text */
    char text[SMP_MEASUREMENT_TEXT]; /* what no number can say (64 bits as hexadecimal digits); empty: a number */
    double *list;                    /* a histogram's counts, say; from smp_alloc, owned by the measurements */
    size_t list_len;
    bool values; /* the list is no histogram: each of its values counts by itself */
} smp_measurement;

typedef struct smp_measurements {
    smp_measurement *items;
    size_t count, capacity;
    char warning[400]; /* what the user must be told of the result; empty: nothing */
    void *found; /* smp_node_plan.prepass.wanted: for the second plan(); from smp_alloc, owned by the measurements */
    size_t found_size; /* bytes */
} smp_measurements;

smp_code smp_measurements_add(smp_measurements *measurements, const char *name, int channel, double value,
                              smp_error *err);
smp_code smp_measurements_add_list(smp_measurements *measurements, const char *name, int channel, const double *list,
                                   size_t length, smp_error *err);
/* The same for values that are no counts of bins. */
smp_code smp_measurements_add_values(smp_measurements *measurements, const char *name, const double *list,
                                     size_t length, smp_error *err);
/* A text of printable characters, shorter than SMP_MEASUREMENT_TEXT, of the whole picture. */
smp_code smp_measurements_add_text(smp_measurements *measurements, const char *name, const char *text, smp_error *err);
void smp_measurements_free(smp_measurements *measurements);
