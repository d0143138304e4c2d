/* The one error type. Functions that can fail return an smp_code and take an smp_error last; out-parameters are zeroed
 * first. An error says what happened, where, and what to do about it. */
#ifndef SMP_BASE_ERROR_H
#define SMP_BASE_ERROR_H

typedef enum smp_code {
#define X(name, status, text) name,
#include "base/error_list.def"
#undef X
} smp_code;

typedef struct smp_error {
    smp_code code;
    char message[512]; /* one line, no trailing full stop or newline */
    char where[320];   /* "file", "file:line:column" or "" */
    char hint[320];    /* what to do about it, or "" */
} smp_error;

#if defined(__GNUC__)
#define SMP_PRINTF(fmt_at, args_at) __attribute__((format(printf, fmt_at, args_at)))
#else
#define SMP_PRINTF(fmt_at, args_at)
#endif

/* Fills *err (which may be null) and returns code, so that `return smp_fail(...)` reads well. Clears where and hint. */
smp_code smp_fail(smp_error *err, smp_code code, const char *format, ...) SMP_PRINTF(3, 4);

/* Adds what to do; returns err->code. */
smp_code smp_hint(smp_error *err, const char *format, ...) SMP_PRINTF(2, 3);

/* Says where, unless an inner function said it already; returns err->code. */
smp_code smp_at(smp_error *err, const char *format, ...) SMP_PRINTF(2, 3);

/* The process exit status that belongs to code (0..143). */
int smp_exit_status(smp_code code);

/* The name of a code, "SMP_E_READ"; and what kind of failure it is, "cannot read an input". Static strings. */
const char *smp_code_name(smp_code code);
const char *smp_code_text(smp_code code);

#endif
