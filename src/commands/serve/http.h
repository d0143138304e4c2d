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

typedef struct smp_http_use {
    /* Answers a request for `name`, what stands behind the secret. body: of a POST, with a zero byte behind it; null:
     * it is a GET. Called by several threads at once. */
    void (*respond)(void *context, const char *name, char *body, size_t size, smp_http_answer *answer);
    /* Whether it is over, asked several times a second; idle: seconds since the last request. */
    bool (*ended)(void *context, double idle);
    void *context;
} smp_http_use;

/* Opens the library, takes a port of 127.0.0.1 and makes the secrets; nothing is answered yet. The program frees *out
 * by smp_free. */
smp_code smp_http_open(smp_http **out, smp_error *err);

/* The page's address; once: one that leads there a single time, for command lines, which others may see. */
void smp_http_address(const smp_http *http, bool once, char *text, size_t size);

/* Answers until it is over. */
smp_code smp_http_serve(smp_http *http, const smp_http_use *use, smp_error *err);
