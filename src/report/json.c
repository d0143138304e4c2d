/* Writes JSON: see json.h. Commas, line ends, escapes and the form of numbers are decided here only. */
#include "report/json.h"
#include "base/text/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = sizeof((smp_json *)0)->first / sizeof(bool) };

void smp_json_begin(smp_json *json, FILE *to, bool compact)
{
    *json = (smp_json){.to = to, .compact = compact};
    json->first[0] = true;
}

static void put_string(const smp_json *json, const char *value)
{
    FILE *to = json->to;
    static const char named[] = "\"\\\n\t\r", names[] = "\"\\ntr";
    for (fputc('"', to); *value;) {
        uint32_t code;
        const size_t length = smp_utf8_decode(value, strnlen(value, 4), &code);
        const char *at = code < 0x80 ? strchr(named, (int)code) : NULL;
        if (code == SMP_UTF8_INVALID)
            fputs("\xef\xbf\xbd", to); /* U+FFFD */
        else if (at)
            fprintf(to, "\\%c", names[at - named]);
        else if (code < 0x20 || smp_utf8_unprintable(code) || (json->page && code == '<'))
            fprintf(to, "\\u%04x", (unsigned)code);
        else
            fwrite(value, 1, length, to);
        value += length;
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

void smp_json_key(smp_json *json, const char *key)
{
    if (json->depth > 0) {
        if (!json->first[json->depth])
            fputs(json->compact ? ", " : ",", json->to);
        json->first[json->depth] = false;
        new_line(json, json->depth);
    }
    if (key) {
        put_string(json, key);
        fputs(": ", json->to);
    }
}

static void open_bracket(smp_json *json, const char *key, char bracket)
{
    smp_json_key(json, key);
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
    smp_json_key(json, key);
    if (value)
        put_string(json, value);
    else
        fputs("null", json->to);
}

void smp_json_integer(smp_json *json, const char *key, int64_t value)
{
    smp_json_key(json, key);
    fprintf(json->to, "%lld", (long long)value);
}

void smp_json_count(smp_json *json, const char *key, uint64_t value)
{
    smp_json_integer(json, key, (int64_t)value);
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
    smp_json_key(json, key);
    put_number(json->to, value);
}

void smp_json_numbers(smp_json *json, const char *key, const double *values, size_t count)
{
    smp_json_key(json, key);
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
    smp_json_key(json, key);
    fputs(value ? "true" : "false", json->to);
}

void smp_json_triple(smp_json *json, const char *key, const uint32_t v[3])
{
    const double values[3] = {v[0], v[1], v[2]};
    smp_json_numbers(json, key, values, 3);
}
