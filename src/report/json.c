/* Writes JSON: see json.h. Commas, line ends, escapes and the form of numbers are decided here only. */
#include "report/json.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_DEPTH = sizeof((smp_json *)0)->first / sizeof(bool) };

void smp_json_begin(smp_json *json, FILE *to, bool compact)
{
    *json = (smp_json){.to = to, .compact = compact};
    json->first[0] = true;
}

/* Bytes of the UTF-8 sequence at text; 0: invalid (RFC 3629: no surrogates, no overlong forms, at most U+10FFFF). */
static size_t sequence(const unsigned char *text)
{
    unsigned char a = text[0];
    if (a < 0x80)
        return 1;
    size_t length = a >= 0xc2 && a <= 0xdf ? 2 : a >= 0xe0 && a <= 0xef ? 3 : a >= 0xf0 && a <= 0xf4 ? 4 : 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    if ((a == 0xe0 && text[1] < 0xa0) || (a == 0xed && text[1] > 0x9f) || (a == 0xf0 && text[1] < 0x90) ||
        (a == 0xf4 && text[1] > 0x8f))
        return 0;
    return length;
}

static void put_string(FILE *to, const char *value)
{
    fputc('"', to);
    for (const unsigned char *p = (const unsigned char *)value; *p;) {
        size_t length = sequence(p);
        if (!length) {
            fputs("\xef\xbf\xbd", to); /* U+FFFD */
            p++;
            continue;
        }
        if (*p == '"' || *p == '\\')
            fprintf(to, "\\%c", *p);
        else if (*p == '\n')
            fputs("\\n", to);
        else if (*p == '\t')
            fputs("\\t", to);
        else if (*p == '\r')
            fputs("\\r", to);
        else if (*p < 0x20 || *p == 0x7f)
            fprintf(to, "\\u%04x", *p);
        else
            fwrite(p, 1, length, to);
        p += length;
    }
    fputc('"', to);
}

static void new_line(smp_json *json, int depth)
{
    if (json->compact)
        return;
    fputc('\n', json->to);
    for (int i = 0; i < depth; i++)
        fputs("  ", json->to);
}

/* Writes what precedes every value: comma, line end and key. */
static void before(smp_json *json, const char *key)
{
    if (json->depth > 0) {
        if (!json->first[json->depth])
            fputs(json->compact ? ", " : ",", json->to);
        json->first[json->depth] = false;
        new_line(json, json->depth);
    }
    if (key) {
        put_string(json->to, key);
        fputs(": ", json->to);
    }
}

static void open_bracket(smp_json *json, const char *key, char bracket)
{
    before(json, key);
    fputc(bracket, json->to);
    if (json->depth + 1 < (int)MAX_DEPTH)
        json->depth++;
    json->first[json->depth] = true;
}

void smp_json_object(smp_json *json, const char *key)
{
    open_bracket(json, key, '{');
}

void smp_json_array(smp_json *json, const char *key)
{
    open_bracket(json, key, '[');
}

void smp_json_end(smp_json *json, char bracket)
{
    bool empty = json->first[json->depth];
    if (json->depth > 0)
        json->depth--;
    if (!empty)
        new_line(json, json->depth);
    fputc(bracket, json->to);
    if (json->depth == 0)
        fputc('\n', json->to);
}

void smp_json_string(smp_json *json, const char *key, const char *value)
{
    before(json, key);
    if (value)
        put_string(json->to, value);
    else
        fputs("null", json->to);
}

void smp_json_integer(smp_json *json, const char *key, int64_t value)
{
    before(json, key);
    fprintf(json->to, "%lld", (long long)value);
}

/* Whole numbers below 2^53 as integers, others with the fewest digits that read back as the same double. */
void smp_json_number_text(char *text, double value)
{
    if (fabs(value) < 9007199254740992. && value == floor(value) && !(value == 0 && signbit(value))) {
        snprintf(text, SMP_NUMBER_TEXT, "%.0f", value);
        return;
    }
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, SMP_NUMBER_TEXT, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            return;
    }
}

static void put_number(FILE *to, double value)
{
    char text[SMP_NUMBER_TEXT] = "null";
    if (isfinite(value))
        smp_json_number_text(text, value);
    fputs(text, to);
}

void smp_json_number(smp_json *json, const char *key, double value)
{
    before(json, key);
    put_number(json->to, value);
}

void smp_json_numbers(smp_json *json, const char *key, const double *values, size_t count)
{
    before(json, key);
    fputc('[', json->to);
    for (size_t i = 0; i < count; i++) {
        if (i)
            fputs(", ", json->to);
        put_number(json->to, values[i]);
    }
    fputc(']', json->to);
}

void smp_json_bool(smp_json *json, const char *key, bool value)
{
    before(json, key);
    fputs(value ? "true" : "false", json->to);
}
