/* A reader of JSON: see json_read.h. One pass; strings are unescaped into one block as long as the text. */
#include "report/json_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

typedef struct reader {
    const char *at, *end, *start;
    char *put; /* where the next string goes */
    smp_json_document *to;
    int depth;
    smp_error *err;
} reader;

static smp_code wrong(const reader *r, const char *what)
{
    int line = 1;
    for (const char *p = r->start; p < r->at; p++)
        line += *p == '\n';
    return smp_fail(r->err, SMP_E_DECODE, "line %d: %s", line, what);
}

static void skip_blanks(reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r'))
        r->at++;
}

static bool take(reader *r, char c)
{
    skip_blanks(r);
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

/* ------------------------------------------------------------------------------------------------ strings */

static bool four_digits(reader *r, unsigned *out)
{
    *out = 0;
    if (r->end - r->at < 4)
        return false;
    for (int i = 0; i < 4; i++, r->at++) {
        const char c = *r->at;
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (digit < 0)
            return false;
        *out = *out * 16 + (unsigned)digit;
    }
    return true;
}

/* The code point of \uXXXX, two of them for those beyond 16 bits, as UTF-8. */
static bool put_escape(reader *r)
{
    unsigned code, low;
    if (!four_digits(r, &code) || code == 0 || (code >= 0xdc00 && code < 0xe000))
        return false;
    if (code >= 0xd800 && code < 0xdc00) {
        if (r->end - r->at < 6 || r->at[0] != '\\' || r->at[1] != 'u')
            return false;
        r->at += 2;
        if (!four_digits(r, &low) || low < 0xdc00 || low >= 0xe000)
            return false;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    if (code < 0x80) {
        *r->put++ = (char)code;
        return true;
    }
    int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned lead[] = {0, 0xc0, 0xe0, 0xf0};
    *r->put++ = (char)(lead[more] | code >> 6 * more);
    while (more-- > 0)
        *r->put++ = (char)(0x80 | (code >> 6 * more & 0x3f));
    return true;
}

/* Bytes of the UTF-8 sequence that begins at `at`; 0: none (RFC 3629). */
static size_t sequence(const unsigned char *at, const unsigned char *end)
{
    const unsigned a = at[0];
    const size_t length = a < 0x80                 ? 1
                          : a >= 0xc2 && a <= 0xdf ? 2
                          : a >= 0xe0 && a <= 0xef ? 3
                          : a >= 0xf0 && a <= 0xf4 ? 4
                                                   : 0;
    if ((size_t)(end - at) < length)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    if ((a == 0xe0 && at[1] < 0xa0) || (a == 0xed && at[1] > 0x9f) || (a == 0xf0 && at[1] < 0x90) ||
        (a == 0xf4 && at[1] > 0x8f))
        return 0;
    return length;
}

static smp_code read_string(reader *r, const char **out)
{
    static const char escapes[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    *out = r->put;
    while (r->at < r->end && *r->at != '"') {
        if ((unsigned char)*r->at < 0x20)
            return wrong(r, "a control character in a string");
        if (*r->at == '\\') {
            r->at++;
            const char *which = r->at < r->end && *r->at ? strchr(escapes, *r->at) : NULL;
            if (which) {
                *r->put++ = meant[which - escapes];
                r->at++;
            } else if (r->at == r->end || *r->at++ != 'u' || !put_escape(r))
                return wrong(r, "an escape that there is not");
            continue;
        }
        const size_t length = sequence((const unsigned char *)r->at, (const unsigned char *)r->end);
        if (!length)
            return wrong(r, "bytes that are not UTF-8");
        memcpy(r->put, r->at, length);
        r->put += length;
        r->at += length;
    }
    if (r->at == r->end)
        return wrong(r, "a string without its end");
    r->at++;
    *r->put++ = '\0';
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ numbers, words */

static size_t digits(reader *r)
{
    const char *from = r->at;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9')
        r->at++;
    return (size_t)(r->at - from);
}

static smp_code read_number(reader *r, double *out)
{
    char text[64];
    const char *from = r->at;
    if (*r->at == '-')
        r->at++;
    const char *first = r->at;
    size_t whole = digits(r);
    bool good = whole == 1 || (whole > 1 && *first != '0');
    if (good && r->at < r->end && *r->at == '.') {
        r->at++;
        good = digits(r) > 0;
    }
    if (good && r->at < r->end && (*r->at == 'e' || *r->at == 'E')) {
        r->at++;
        if (r->at < r->end && (*r->at == '+' || *r->at == '-'))
            r->at++;
        good = digits(r) > 0;
    }
    const size_t length = (size_t)(r->at - from);
    if (!good || length >= sizeof text)
        return wrong(r, "this is no number");
    memcpy(text, from, length);
    text[length] = '\0';
    *out = strtod(text, NULL);
    return isfinite(*out) ? SMP_OK : wrong(r, "a number out of range");
}

static bool read_word(reader *r, const char *word)
{
    const size_t length = strlen(word);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0)
        return false;
    r->at += length;
    return true;
}

/* ------------------------------------------------------------------------------------------------ values */

static smp_code read_value(reader *r, const char *key, size_t *index);

/* Few names an object, so that comparing them all takes no time whatever the file holds. */
static bool key_is_new(const smp_json_document *document, size_t parent, const char *key)
{
    enum { MOST_NAMES = 64 };
    int names = 0;
    for (size_t i = document->values[parent].first; i; i = document->values[i].next)
        if (!strcmp(document->values[i].key, key) || ++names == MOST_NAMES)
            return false;
    return true;
}

static smp_code read_children(reader *r, size_t parent, bool object)
{
    const char close = object ? '}' : ']';
    size_t last = 0;
    if (++r->depth > SMP_JSON_DEEPEST)
        return wrong(r, "nested too deep");
    if (take(r, close)) {
        r->depth--;
        return SMP_OK;
    }
    do {
        const char *key = NULL;
        size_t child = 0;
        smp_code code = SMP_OK;
        if (object) {
            if (!take(r, '"'))
                return wrong(r, "a name in quotes is missing");
            code = read_string(r, &key);
            if (!code && !key_is_new(r->to, parent, key))
                return wrong(r, "a name twice in one object, or too many of them");
            if (!code && !take(r, ':'))
                return wrong(r, "':' is missing");
        }
        if (!code)
            code = read_value(r, key, &child);
        if (code)
            return code;
        if (last)
            r->to->values[last].next = child;
        else
            r->to->values[parent].first = child;
        last = child;
    } while (take(r, ','));
    r->depth--;
    return take(r, close) ? SMP_OK : wrong(r, object ? "'}' is missing" : "']' is missing");
}

static smp_code read_value(reader *r, const char *key, size_t *index)
{
    smp_json_document *to = r->to;
    skip_blanks(r);
    if (r->at == r->end)
        return wrong(r, "it ends too early");
    if (!smp_grow(&to->values, &to->capacity, to->count + 1, sizeof *to->values))
        return smp_fail_memory(r->err, "a file's values", to->count * sizeof *to->values);
    const size_t at = *index = to->count++;
    smp_json_value value = {.key = key};
    smp_code code = SMP_OK;
    if (*r->at == '{' || *r->at == '[') {
        const bool object = *r->at++ == '{';
        value.kind = object ? SMP_JSON_OBJECT : SMP_JSON_ARRAY;
        to->values[at] = value;
        return read_children(r, at, object);
    }
    if (*r->at == '"') {
        r->at++;
        value.kind = SMP_JSON_STRING;
        code = read_string(r, &value.text);
    } else if (*r->at == '-' || (*r->at >= '0' && *r->at <= '9')) {
        value.kind = SMP_JSON_NUMBER;
        code = read_number(r, &value.number);
    } else if (read_word(r, "true") || read_word(r, "false")) {
        value.kind = SMP_JSON_BOOL;
        value.number = r->at[-2] == 'u';
    } else if (!read_word(r, "null")) {
        code = wrong(r, "this is no JSON");
    }
    to->values[at] = value;
    return code;
}

smp_code smp_json_read(const char *text, size_t size, smp_json_document *out, smp_error *err)
{
    *out = (smp_json_document){.values = NULL};
    if (size > SMP_JSON_MOST)
        return smp_fail(err, SMP_E_DECODE, "larger than %d bytes", SMP_JSON_MOST);
    out->text = smp_alloc(size + 1); /* strings only get shorter: their quotes make room for the zero */
    if (!out->text)
        return smp_fail_memory(err, "a file's text", size);
    reader r = {.at = text, .end = text + size, .start = text, .put = out->text, .to = out, .err = err};
    size_t whole;
    smp_code code = read_value(&r, NULL, &whole);
    skip_blanks(&r);
    return !code && r.at < r.end ? wrong(&r, "something follows its end") : code;
}

void smp_json_free(smp_json_document *document)
{
    smp_free(document->values);
    smp_free(document->text);
    *document = (smp_json_document){.values = NULL};
}

/* ------------------------------------------------------------------------------------------------ asking */

const smp_json_value *smp_json_first(const smp_json_document *document, const smp_json_value *parent)
{
    return parent->first ? &document->values[parent->first] : NULL;
}

const smp_json_value *smp_json_next(const smp_json_document *document, const smp_json_value *value)
{
    return value->next ? &document->values[value->next] : NULL;
}

const smp_json_value *smp_json_member(const smp_json_document *document, const smp_json_value *object, const char *key,
                                      smp_json_kind kind)
{
    if (object->kind != SMP_JSON_OBJECT)
        return NULL;
    for (const smp_json_value *v = smp_json_first(document, object); v; v = smp_json_next(document, v))
        if (!strcmp(v->key, key))
            return v->kind == kind ? v : NULL;
    return NULL;
}

bool smp_json_whole(const smp_json_value *value, int64_t min, int64_t max, int64_t *out)
{
    *out = 0;
    if (!value || value->kind != SMP_JSON_NUMBER || value->number < (double)min || value->number > (double)max ||
        value->number != floor(value->number))
        return false;
    *out = (int64_t)value->number;
    return true;
}
