/* Numbers and units. See units.h. */
#include "pipe/values/units.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_NUMBER = 400 }; /* bytes */

typedef struct unit_row {
    const char *name;
    smp_unit unit;
    double multiply, divide; /* to the default unit; dividing by 100 rounds once, multiplying by 0.01 rounds twice */
} unit_row;

static const unit_row units[] = {
    {"px", SMP_UNIT_PX, 1, 1},     {"%", SMP_UNIT_FRACTION, 1, 100}, {"Hz", SMP_UNIT_HZ, 1, 1},
    {"kHz", SMP_UNIT_HZ, 1000, 1}, {"s", SMP_UNIT_S, 1, 1},          {"ms", SMP_UNIT_S, 1, 1000},
    {"dB", SMP_UNIT_DB, 1, 1},     {"dBFS", SMP_UNIT_DB, 1, 1},      {"deg", SMP_UNIT_DEG, 1, 1},
    {"bit", SMP_UNIT_BIT, 1, 1},   {"cv", SMP_UNIT_CODE, 1, 1},      {"LUFS", SMP_UNIT_DB, 1, 1},
    {"LU", SMP_UNIT_DB, 1, 1},     {"dBTP", SMP_UNIT_DB, 1, 1},
};

const char *const smp_unit_words[] = {"px",   "%",   "Hz",  "kHz", "s",    "ms", "dB",
                                      "dBFS", "deg", "bit", "cv",  "LUFS", "LU", "dBTP"};
const size_t smp_unit_word_count = sizeof smp_unit_words / sizeof smp_unit_words[0];

bool smp_is_loudness(const char *text, size_t length)
{
    return length >= 4 && memcmp(text + length - 4, "LUFS", 4) == 0;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t digits(const char *text, size_t length, size_t at)
{
    while (at < length && is_digit(text[at]))
        at++;
    return at;
}

/* Converts [text, text + length), which has the form of a decimal number. */
static smp_number convert(const char *text, size_t length, double *value)
{
    char copy[LONGEST_NUMBER + 1];
    if (length > LONGEST_NUMBER)
        return SMP_NUMBER_LARGE;
    memcpy(copy, text, length);
    copy[length] = '\0';
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c)
        return SMP_NUMBER_LARGE;
    *value = strtod_l(copy, NULL, c);
    freelocale(c);
    return isfinite(*value) ? SMP_NUMBER_OK : SMP_NUMBER_LARGE;
}

smp_number smp_number_read(const char *text, size_t length, double *value, size_t *used)
{
    *value = 0;
    *used = 0;
    size_t at = length && (text[0] == '+' || text[0] == '-') ? 1 : 0;
    size_t whole = digits(text, length, at), end = whole;
    if (whole < length && text[whole] == '.') {
        size_t fraction = digits(text, length, whole + 1);
        if (fraction > whole + 1 || whole > at)
            end = fraction;
    }
    if (end == at)
        return SMP_NUMBER_NONE;
    if (end < length && (text[end] == 'e' || text[end] == 'E')) {
        size_t exponent = end + 1;
        if (exponent < length && (text[exponent] == '+' || text[exponent] == '-'))
            exponent++;
        if (exponent < length && is_digit(text[exponent]))
            end = digits(text, length, exponent);
    }
    *used = end;
    return convert(text, end, value);
}

bool smp_unit_apply(const char *text, size_t length, double number, smp_quantity *quantity)
{
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strlen(units[i].name) == length && !memcmp(units[i].name, text, length)) {
            *quantity = (smp_quantity){number * units[i].multiply / units[i].divide, units[i].unit};
            return true;
        }
    *quantity = (smp_quantity){number, SMP_UNIT_NONE};
    return false;
}

smp_number smp_quantity_read(const char *text, size_t length, smp_quantity *quantity, size_t *unit_at)
{
    double value;
    *quantity = (smp_quantity){0};
    smp_number result = smp_number_read(text, length, &value, unit_at);
    if (result != SMP_NUMBER_OK)
        return result;
    quantity->value = value;
    if (*unit_at == length)
        return SMP_NUMBER_OK;
    if (!smp_unit_apply(text + *unit_at, length - *unit_at, value, quantity))
        return SMP_NUMBER_UNIT;
    return isfinite(quantity->value) ? SMP_NUMBER_OK : SMP_NUMBER_LARGE;
}

bool smp_clock_time(const char *text, double *seconds)
{
    *seconds = 0;
    for (int parts = 1;; parts++) {
        size_t length = strcspn(text, ":"), used;
        double value;
        if (length == 0 || text[0] < '0' || text[0] > '9' ||
            smp_number_read(text, length, &value, &used) != SMP_NUMBER_OK || used != length)
            return false;
        *seconds = *seconds * 60 + value;
        if (!text[length])
            return parts > 1 && parts <= 3;
        text += length + 1;
    }
}

const char *smp_dimension(smp_unit unit)
{
    static const char *const names[] = {
        "a plain number", "a fraction", "a length",    "a frequency",  "a duration",
        "a level",        "an angle",   "a bit depth", "a code value",
    };
    return (size_t)unit < sizeof names / sizeof names[0] ? names[unit] : names[0];
}

const char *smp_number_text(char buffer[SMP_NUMBER_TEXT], double value)
{
    if (isnan(value) || isinf(value))
        return strcpy(buffer, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
    for (int precision = 1; precision <= 17; precision++) {
        snprintf(buffer, SMP_NUMBER_TEXT, "%.*g", precision, value);
        /* Replaces the locale's decimal point, which may take several bytes, by a point. */
        size_t to = 0;
        bool point = false;
        for (size_t from = 0; buffer[from]; from++) {
            bool own = is_digit(buffer[from]) || buffer[from] == 'e' || buffer[from] == '-' || buffer[from] == '+';
            if (own)
                buffer[to++] = buffer[from];
            else if (!point) {
                buffer[to++] = '.';
                point = true;
            }
        }
        buffer[to] = '\0';
        double back;
        size_t used;
        if (smp_number_read(buffer, to, &back, &used) == SMP_NUMBER_OK && back == value)
            break;
    }
    /* 100 is easier to read than 1e+02. */
    if (strchr(buffer, 'e') && fabs(value) >= 1 && fabs(value) < 1e15 && value == floor(value))
        snprintf(buffer, SMP_NUMBER_TEXT, "%lld", (long long)value);
    return buffer;
}

const char *smp_quantity_text(char buffer[SMP_NUMBER_TEXT], double value, smp_unit unit)
{
    if (unit == SMP_UNIT_FRACTION && value > 0 && value < 1) {
        /* 0.5% is easier to read than 0.005, if it reads back as the same number. */
        char number[SMP_NUMBER_TEXT];
        double percent = value * 100;
        smp_number_text(number, percent);
        if (strlen(number) <= 6 && percent / 100 == value) {
            snprintf(buffer, SMP_NUMBER_TEXT, "%.6s%%", number);
            return buffer;
        }
    }
    smp_number_text(buffer, value);
    size_t length = strlen(buffer);
    if (unit != SMP_UNIT_FRACTION && isfinite(value))
        snprintf(buffer + length, SMP_NUMBER_TEXT - length, "%s", smp_unit_name(unit));
    return buffer;
}
