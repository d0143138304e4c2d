/* HTTP for one browser on the same machine, by libmicrohttpd, which is opened when it is needed. What is asked reaches
 * the program only if it came to 127.0.0.1 by that name, names a secret that the program made, and was sent by the
 * program's own page. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

typedef struct smp_http smp_http;

typedef struct smp_http_answer {
    unsigned status;
    const char *type; /* of the content */
    void *data;       /* from malloc, given away */
    size_t size;
} smp_http_answer;

/* Answers a request for `name`, what stands behind the secret. body: of a POST, with a zero byte behind it; null: it is
 * a GET. Called by several threads at once. */
typedef void smp_http_respond(void *context, const char *name, char *body, size_t size, smp_http_answer *answer);

/* Opens the library, takes a port of 127.0.0.1 and makes the secrets; nothing is answered yet. */
smp_code smp_http_open(smp_http **out, smp_error *err);

/* The page's address; once: one that leads there a single time, for command lines, which others may see. */
void smp_http_address(const smp_http *http, bool once, char *text, size_t size);

/* Answers until smp_http_close. */
smp_code smp_http_begin(smp_http *http, smp_http_respond *respond, void *context, smp_error *err);

/* Cuts connections off that are late with a request, or sit idle: to be called every second or so. Returns the seconds
 * since the last request that was answered. */
double smp_http_watch(smp_http *http);
void smp_http_close(smp_http *http);
