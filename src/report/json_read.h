/* Reading JSON (RFC 8259) that this program wrote and anybody may have changed: strict, bounded in size and depth,
 * nothing is guessed. */
#ifndef SMP_REPORT_JSON_READ_H
#define SMP_REPORT_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef enum smp_json_kind {
    SMP_JSON_NULL,
    SMP_JSON_BOOL,
    SMP_JSON_NUMBER,
    SMP_JSON_STRING,
    SMP_JSON_ARRAY,
    SMP_JSON_OBJECT
} smp_json_kind;

typedef struct smp_json_value {
    smp_json_kind kind;
    const char *key;  /* of a member of an object; else null */
    const char *text; /* STRING: UTF-8 without zeros inside */
    double number;    /* NUMBER: finite; BOOL: 0 or 1 */
    size_t next;      /* the sibling that follows, in the document's values; 0: none */
    size_t first;     /* ARRAY, OBJECT: the first child; 0: none */
} smp_json_value;

typedef struct smp_json_document {
    smp_json_value *values; /* [0] is the whole */
    size_t count, capacity;
    char *text; /* strings lie here */
} smp_json_document;

enum { SMP_JSON_MOST = 4 << 20 /* bytes of text */, SMP_JSON_DEEPEST = 32 };

/* SMP_E_DECODE with the line where it stops being JSON; a key that is twice in an object is refused, and bytes that are
 * not UTF-8. *out is filled also on failure: free it. */
smp_code smp_json_read(const char *text, size_t size, smp_json_document *out, smp_error *err);
void smp_json_free(smp_json_document *document);

/* The member of that name and kind, or null. */
const smp_json_value *smp_json_member(const smp_json_document *document, const smp_json_value *object, const char *key,
                                      smp_json_kind kind);

/* Children in order: first, then the one after; null at the end. */
const smp_json_value *smp_json_first(const smp_json_document *document, const smp_json_value *parent);
const smp_json_value *smp_json_next(const smp_json_document *document, const smp_json_value *value);

/* A NUMBER that is a whole one in min..max. */
bool smp_json_whole(const smp_json_value *value, int64_t min, int64_t max, int64_t *out);

#endif
