/* Numbers and units of the language. They are read as in the C locale, whatever setlocale says, and only as whole
 * tokens. */
#pragma once

#include "stages/stage.h"

/* Parses a clock time, "1:30" or "0:01:30.5", into seconds. False: it is none. */
bool smp_clock_time(const char *text, double *seconds);

/* A number in the default unit of its dimension; without a unit: SMP_UNIT_NONE. */
typedef struct smp_quantity {
    double value;
    smp_unit unit;
} smp_quantity;

typedef enum smp_number {
    SMP_NUMBER_OK,
    SMP_NUMBER_NONE,  /* does not begin with a decimal number */
    SMP_NUMBER_UNIT,  /* a number, followed by an unknown unit */
    SMP_NUMBER_LARGE, /* does not fit a double, or has hundreds of digits */
} smp_number;

/* Reads the decimal number at the start of text: [+-] digits [. digits] [e [+-] digits], with a digit before or after
 * the point. No hexadecimal, nan or inf. *used: the bytes it takes; an `e` without digits is not included. */
smp_number smp_number_read(const char *text, size_t length, double *value, size_t *used);

/* Whether a text ends with the unit of loudness, LUFS. */
bool smp_is_loudness(const char *text, size_t length);

/* Reads a whole token: a number with or without a unit. *unit_at: where the unit begins (length when there is none). */
smp_number smp_quantity_read(const char *text, size_t length, smp_quantity *quantity, size_t *unit_at);

/* The unit called `text`, and the number in its default unit. False: no such unit. */
bool smp_unit_apply(const char *text, size_t length, double number, smp_quantity *quantity);

/* The units as they are written, for suggestions. */
extern const char *const smp_unit_words[];
extern const size_t smp_unit_word_count;

/* "a length", "a frequency", ... */
const char *smp_dimension(smp_unit unit);

enum { SMP_NUMBER_TEXT = 48 };

/* The shortest text that reads back as value, with a decimal point in every locale; the second with its unit ("35px",
 * "0.5%"). Both return buffer. */
const char *smp_number_text(char buffer[SMP_NUMBER_TEXT], double value);
const char *smp_quantity_text(char buffer[SMP_NUMBER_TEXT], double value, smp_unit unit);
