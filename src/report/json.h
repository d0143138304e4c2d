/* Writes JSON: commas, indentation and escapes in one place. Bytes that are not UTF-8 (paths may hold any bytes) become
 * U+FFFD. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/each.h"

typedef struct smp_json {
    FILE *to;
    bool compact, page; /* page: '<' is escaped, so that no text ends the script element that holds it */
    int depth;
    bool first[32]; /* nothing yet at this depth */
} smp_json;

void smp_json_begin(smp_json *json, FILE *to, bool compact);
/* What precedes a value, which the caller then writes to json->to. */
void smp_json_key(smp_json *json, const char *key);
void smp_json_object(smp_json *json, const char *key); /* key null inside arrays and at the top */
void smp_json_array(smp_json *json, const char *key);
void smp_json_end(smp_json *json, char bracket);                          /* '}' or ']' ; ends the line at depth 0 */
void smp_json_string(smp_json *json, const char *key, const char *value); /* null value: null */
void smp_json_integer(smp_json *json, const char *key, int64_t value);
void smp_json_count(smp_json *json, const char *key, uint64_t value);
void smp_json_number(smp_json *json, const char *key, double value); /* shortest text that reads back; NaN, inf: null */
void smp_json_numbers(smp_json *json, const char *key, const double *values, size_t count); /* an array on one line */
/* The text of a finite number: an integer up to 2^53, else the shortest text that reads back. */
enum { SMP_NUMBER_TEXT = 40 };
void smp_json_number_text(char *text, double value);
void smp_json_bool(smp_json *json, const char *key, bool value);
void smp_json_triple(smp_json *json, const char *key, const uint32_t v[3]); /* "grid": [x, y, z] */

/* Members of an object, each by the type of its value: SMP_JSON(json, ("file", path), ("line", 12)); an object that
 * begins with them; and one that has no others. A condition is an int: (bool)(a < b). */
#define SMP_JSON(json, ...)                                                                                            \
    do {                                                                                                               \
        SMP_EACH(SMP_JSON_MEMBER, json, __VA_ARGS__)                                                                   \
    } while (0)
#define SMP_JSON_OPEN(json, key, ...)                                                                                  \
    do {                                                                                                               \
        smp_json_object(json, key);                                                                                    \
        SMP_JSON(json, __VA_ARGS__);                                                                                   \
    } while (0)
#define SMP_JSON_OBJECT(json, key, ...)                                                                                \
    do {                                                                                                               \
        SMP_JSON_OPEN(json, key, __VA_ARGS__);                                                                         \
        smp_json_end(json, '}');                                                                                       \
    } while (0)
#define SMP_JSON_MEMBER(json, pair) SMP_JSON_TYPED(json, SMP_UNWRAP pair)
#define SMP_JSON_TYPED(...)         SMP_JSON_BY_TYPE(__VA_ARGS__)
#define SMP_JSON_BY_TYPE(json, key, value)                                                                             \
    _Generic((value), bool                                                                                             \
             : smp_json_bool, char *                                                                                   \
             : smp_json_string, const char *                                                                           \
             : smp_json_string, float                                                                                  \
             : smp_json_number, double                                                                                 \
             : smp_json_number, uint64_t                                                                               \
             : smp_json_count, uint32_t *                                                                              \
             : smp_json_triple, const uint32_t *                                                                       \
             : smp_json_triple, default                                                                                \
             : smp_json_integer)(json, key, value);
