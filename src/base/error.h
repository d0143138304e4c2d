/* The one error type. A function that can fail returns an smp_code and takes an smp_error last; it zeroes its
 * out-parameters first. An error says what happened, where, and what to do about it. */
#pragma once

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

/* Fills *err (may be null), clears where and hint, and returns code, so that `return smp_fail(...)` works. */
smp_code smp_fail(smp_error *err, smp_code code, const char *format, ...) SMP_PRINTF(3, 4);

/* Adds what to do about it; returns err->code. */
smp_code smp_hint(smp_error *err, const char *format, ...) SMP_PRINTF(2, 3);

/* Adds where it happened, unless an inner function did; returns err->code. */
smp_code smp_at(smp_error *err, const char *format, ...) SMP_PRINTF(2, 3);

/* The process exit status of a code (0..143). */
int smp_exit_status(smp_code code);

/* Where a call fails, the function around it returns its code. For functions that hold nothing yet; those that do go to
 * their clean-up block. */
#define SMP_TRY(call)                                                                                                  \
    do {                                                                                                               \
        const smp_code smp_try_code = (call);                                                                          \
        if (smp_try_code)                                                                                              \
            return smp_try_code;                                                                                       \
    } while (0)
