/* A page of this program in the user's own browser: its files, what it asks (POSTs of JSON), and when it is over. */
#pragma once

#include "cli/cli.h"
#include "commands/serve/http.h"
#include "report/json.h"
#include "report/json_read.h"

/* The files of pages, which the build puts into the program (report/page/page.cmake); a null name ends them. */
typedef struct smp_served_file {
    const char *name, *type;
    const unsigned char *data;
    size_t size;
} smp_served_file;
extern const smp_served_file smp_served_files[];

/* What a page asks. */
typedef struct smp_question {
    void *context;
    smp_json_tree tree; /* an object */
    smp_http_answer *answer;
} smp_question;

/* An answer in one object of JSON, or (tell is null) in bytes, by smp_give; the last row of a list has a null name. A
 * page asks "state" first, once, and tells its end by "leave". */
typedef struct smp_teller {
    const char *name;
    void (*tell)(const smp_question *question, smp_json *json);
    void (*give)(const smp_question *question);
} smp_teller;

typedef struct smp_serve_use {
    const char *index; /* the file that the address itself leads to */
    const smp_teller *tellers;
    void (*stop)(void *context); /* has work end that goes on when the page is over; may be null */
    void *context;
} smp_serve_use;

#define SMP_NO_OPEN_HELP "print the page's address instead of opening it; who has the address may use the page"

/* Takes a port, and opens or prints the address; from now on Ctrl-C ends smp_serve. The caller frees *http by smp_free.
 */
smp_code smp_serve_open(const smp_common *common, bool no_open, smp_http **http, smp_error *err);

/* Answers until the last page is left, for an hour of silence, or until Ctrl-C, which is SMP_E_INTERRUPTED. */
smp_code smp_serve(smp_http *http, const smp_serve_use *use, smp_error *err);

/* A member of the question: a text, "" where there is none; a whole number, one beyond what a picture may be is the
 * least or the greatest of those. */
const char *smp_asked_text(const smp_question *question, const char *key);
int64_t smp_asked_number(const smp_question *question, const char *key);

/* Answers with bytes from malloc; null: with a status alone, and none. */
void smp_give(const smp_question *question, void *data, size_t size, unsigned status_of_none);

/* Members "message", "where" and "hint". */
void smp_tell_error(smp_json *json, const smp_error *err);
