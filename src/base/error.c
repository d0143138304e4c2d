/* Error codes, their exit statuses and messages: see error.h. */
#include "base/error.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

static const int statuses[] = {
#define X(name, status, text) status,
#include "base/error_list.def"
#undef X
};

smp_code smp_fail(smp_error *err, smp_code code, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        vsnprintf(err->message, sizeof err->message, format, args);
        va_end(args);
        err->code = code;
        err->where[0] = err->hint[0] = '\0';
    }
    return code;
}

smp_code smp_hint(smp_error *err, const char *format, ...)
{
    if (!err)
        return SMP_E_PROCESS;
    va_list args;
    va_start(args, format);
    vsnprintf(err->hint, sizeof err->hint, format, args);
    va_end(args);
    return err->code;
}

smp_code smp_at(smp_error *err, const char *format, ...)
{
    if (!err)
        return SMP_E_PROCESS;
    if (!err->where[0]) {
        va_list args;
        va_start(args, format);
        vsnprintf(err->where, sizeof err->where, format, args);
        va_end(args);
    }
    return err->code;
}

int smp_exit_status(smp_code code)
{
    return (size_t)code < sizeof statuses / sizeof statuses[0] ? statuses[code] : 1;
}
