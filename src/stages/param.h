/* Parameters of stages: each is a row of a table, from which parsing, checks, help and completion follow. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/view.h"

struct smp_stage;

typedef enum smp_type {
    SMP_T_FLOAT,  /* field: double, in the default unit */
    SMP_T_INT,    /* field: int64_t */
    SMP_T_BOOL,   /* field: bool; yes or no */
    SMP_T_ENUM,   /* field: int, the index into choices */
    SMP_T_STRING, /* field: const char *, owned by the program */
    SMP_T_MATRIX, /* field: smp_matrix, `[a b; c d]`; a list is a matrix of one row */
    SMP_T_OPERAND /* field: smp_operand: a picture, `@tap` or "file.png", or a number */
} smp_type;

/* Units of numbers. A bare number has the default unit, which is the first of each list. */
typedef enum smp_unit {
    SMP_UNIT_NONE,     /* plain number */
    SMP_UNIT_FRACTION, /* 0..1 of full scale, or % */
    SMP_UNIT_PX,       /* px */
    SMP_UNIT_HZ,       /* Hz, kHz */
    SMP_UNIT_S,        /* s, ms */
    SMP_UNIT_DB,       /* dB, dBFS, dBTP, LUFS, LU */
    SMP_UNIT_DEG,      /* deg */
    SMP_UNIT_BIT,      /* bit */
    SMP_UNIT_CODE      /* cv: code values, 0..255 of 8 bits; only where a fraction of full scale is wanted */
} smp_unit;

typedef struct smp_matrix {
    int rows, cols;
    const double *values; /* row by row; owned by the program */
} smp_matrix;

typedef struct smp_operand {
    bool is_tap;      /* the picture is the node's second input */
    const char *file; /* of a picture that comes from a file: as it was written; owned by the program */
    double value;     /* else this number, as a fraction of full scale */
} smp_operand;

enum {
    SMP_P_MAIN = 1,         /* may be given without its name; at most one a stage */
    SMP_P_REQUIRED = 2,     /* has no default */
    SMP_P_AUTO = 4,         /* a number that also takes the word `auto`, stored as NaN (INT: INT64_MIN) */
    SMP_P_ODD = 8,          /* INT: must be odd */
    SMP_P_POSITIVE = 16,    /* the minimum itself is excluded */
    SMP_P_LEVEL = 64,       /* a level of full scale: a bare number beyond 2 is a code value by mistake */
    SMP_P_PICTURE = 32,     /* OPERAND: no number */
    SMP_P_WEIGHTS = 128,    /* OPERAND: weights or alpha, which `light linear` leaves as they are */
    SMP_P_FACTOR = 512,     /* FLOAT: a factor; a bare number of 10 or more is a percentage or a size by mistake */
    SMP_P_OF_WIDTH = 1024,  /* INT, px: also a percentage of the input's width */
    SMP_P_OF_HEIGHT = 2048, /* and of its height */
    SMP_P_RATE = 8192,      /* FLOAT, Hz: of samples; a bare number below 1000 is meant in kHz */
    SMP_P_SOUND = 16384,    /* OPERAND, with SMP_P_PICTURE: it is a sound */
    SMP_P_FILE = 4096,      /* STRING: a file, relative to the text that names it */
    SMP_P_LOUDNESS = 32768, /* FLOAT, dB: a loudness, the only one that is in LUFS */
    SMP_P_LINES = 65536,    /* STRING: it may have several lines; others are one */
    SMP_P_NAMED = 131072,   /* STRING, with SMP_P_FILE: a text without dot and slash is no file, but a name */
    SMP_P_ANY = 262144,     /* INT: any value is as good as another: takes the word `random` */
    SMP_P_ANYSIZE = 256     /* OPERAND: a picture of any size; all of it is there when the stage begins */
};

typedef struct smp_param {
    const char *name;
    size_t offset; /* of the field in the stage's parameter struct */
    smp_type type;
    smp_unit unit;
    double min, max;      /* inclusive; for matrices, of each element; equal: unbounded */
    const char *fallback; /* the default, as it would be written in a pipe file; null: required, or a null string */
    const char *help;     /* one line */
    const char *const *choices; /* SMP_T_ENUM: null-terminated words */
    unsigned flags;
} smp_param;

/* A row: `field` of the struct `of`, its type and unit without SMP_T_ and SMP_UNIT_, then the members from min on. */
#define SMP_PARAM_OF(of, name, field, type, unit, ...)                                                                 \
    {                                                                                                                  \
        name, offsetof(of, field), SMP_T_##type, SMP_UNIT_##unit, __VA_ARGS__                                          \
    }

/* Rows of parameters that are called as their fields in a struct `params`. Of an enumeration the words come last, in
 * the order of its values. */
#define SMP_PARAM_ROW(field, type, unit, ...) SMP_PARAM_OF(params, #field, field, type, unit, __VA_ARGS__)
#define SMP_PARAM_FLOAT(field, unit, min, max, fallback, help, flags)                                                  \
    SMP_PARAM_ROW(field, FLOAT, unit, min, max, fallback, help, NULL, flags)
#define SMP_PARAM_INT(field, unit, min, max, fallback, help, flags)                                                    \
    SMP_PARAM_ROW(field, INT, unit, min, max, fallback, help, NULL, flags)
#define SMP_PARAM_MATRIX(field, unit, min, max, fallback, help, flags)                                                 \
    SMP_PARAM_ROW(field, MATRIX, unit, min, max, fallback, help, NULL, flags)
#define SMP_PARAM_BOOL(field, fallback, help, flags) SMP_PARAM_ROW(field, BOOL, NONE, 0, 0, fallback, help, NULL, flags)
#define SMP_PARAM_STRING(field, fallback, help, flags)                                                                 \
    SMP_PARAM_ROW(field, STRING, NONE, 0, 0, fallback, help, NULL, flags)
#define SMP_PARAM_ENUM(field, fallback, help, flags, ...)                                                              \
    SMP_PARAM_ROW(field, ENUM, NONE, 0, 0, fallback, help, ((const char *const[]){__VA_ARGS__, NULL}), flags)

/* "2 to 1000 px", "yes or no": what a parameter accepts, into text. */
void smp_param_domain(const smp_param *param, char *text, size_t size);
const char *smp_unit_name(smp_unit unit);

/* Shared by stages with an edge parameter: the words in the order of smp_edge. */
extern const char *const smp_edge_names[];

/* Names that other tools use, for did-you-mean. Names have blanks between them; `say` is the text to suggest. Rows end
 * with one of zeros. */
typedef struct smp_alias {
    const char *names, *say;
} smp_alias;

/* One name after the other: for (smp_other_name other = smp_other_names(stage); smp_next_name(&other);) */
typedef struct smp_other_name {
    const smp_alias *row;
    const char *rest, *say;
    char name[48];
} smp_other_name;

/* Returns the text to write for another program's name; NULL if no row has the name. */
const char *smp_alias_of(const smp_alias *rows, const char *name, size_t length);
smp_other_name smp_other_names(const struct smp_stage *stage);
bool smp_next_name(smp_other_name *other); /* false: there is none left */
