/* HTTP for one browser on the same machine: see http.h. */
#include "commands/serve/http.h"

#ifdef SMP_HAVE_MICROHTTPD

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "io/library.h"

enum {
    SECRET = 32,                  /* hexadecimal digits: 128 bits */
    MOST_CONNECTIONS = 32,        /* at once; more wait, */
    SLOTS = 2 * MOST_CONNECTIONS, /* the library tells of a new one later than it is given */
    MOST_WAITING = 1024,          /* and so many */
    MOST_BODY = 4 << 20,          /* bytes: a pipeline of a megabyte as JSON */
    HEAD_MEMORY = 32 << 10,
    IDLE = 20, /* seconds without a byte, */
    LATE = 30  /* and until a body must be whole */
};
#define UNTOUCHED 1.0 /* seconds for which a connection may be silent while others wait */

#define POLICY                                                                                                         \
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; "                     \
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

#define FUNCTIONS(X)                                                                                                   \
    X(MHD_start_daemon)                                                                                                \
    X(MHD_stop_daemon)                                                                                                 \
    X(MHD_add_connection)                                                                                              \
    X(MHD_create_response_from_buffer)                                                                                 \
    X(MHD_add_response_header)                                                                                         \
    X(MHD_queue_response)                                                                                              \
    X(MHD_destroy_response)                                                                                            \
    X(MHD_get_connection_info)                                                                                         \
    X(MHD_lookup_connection_value)

static struct {
#define FIELD(function) __typeof__(&function) function;
    FUNCTIONS(FIELD)
#undef FIELD
} mhd;

/* An open connection. */
typedef struct http_slot {
    int socket;   /* 0: it is free */
    bool own;     /* it brought a request of the page */
    bool busy;    /* with one, from its head to its answer */
    double since; /* of smp_now: it is not */
} http_slot;

struct smp_http {
    int listening;
    char host[32], origin[40]; /* "127.0.0.1:4711", and with http:// before it */
    char secret[SECRET + 1], ticket[SECRET + 1];
    atomic_bool ticket_used;
    const smp_http_use *use;
    _Atomic int64_t last; /* seconds of smp_now: a request was answered */
    pthread_mutex_t lock;
    http_slot slots[SLOTS];
};

typedef struct http_request {
    char name[64];   /* behind the secret */
    bool post, good; /* good: it may go on */
    char *body;
    size_t size, capacity;
    double began;
} http_request;

static smp_code load(smp_error *err)
{
    void *library = smp_library_open("libmicrohttpd.so.12");
    bool all = library != NULL;
#define TAKE(function) all = all && smp_library_function(library, #function, &mhd.function);
    FUNCTIONS(TAKE)
#undef TAKE
    if (all)
        return SMP_OK;
    smp_fail(err, SMP_E_READ, "libmicrohttpd, which serves the page, cannot be opened");
    return smp_hint(err, "install libmicrohttpd12 (apt-get install libmicrohttpd12)");
}

static bool make_secret(char text[SECRET + 1])
{
    unsigned char bytes[SECRET / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return false;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

smp_code smp_http_open(smp_http **out, smp_error *err)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    *out = NULL;
    SMP_TRY(load(err));
    smp_http *http = smp_alloc(sizeof *http);
    SMP_NEED(http, "a server", sizeof *http, err);
    http->listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (http->listening < 0 || bind(http->listening, (struct sockaddr *)&at, size) != 0 ||
        listen(http->listening, MOST_WAITING) != 0 ||
        getsockname(http->listening, (struct sockaddr *)&at, &size) != 0 || !make_secret(http->secret) ||
        !make_secret(http->ticket)) {
        smp_fail(err, SMP_E_PROCESS, "cannot serve a page on 127.0.0.1: %s", strerror(errno));
        smp_free(http); /* the program ends */
        return err->code;
    }
    snprintf(http->host, sizeof http->host, "127.0.0.1:%d", ntohs(at.sin_port));
    snprintf(http->origin, sizeof http->origin, "http://%s", http->host);
    http->last = (int64_t)smp_now();
    pthread_mutex_init(&http->lock, NULL);
    *out = http;
    return SMP_OK;
}

void smp_http_address(const smp_http *http, bool once, char *text, size_t size)
{
    snprintf(text, size, once ? "%s/once/%s" : "%s/%s/", http->origin, once ? http->ticket : http->secret);
}

/* ------------------------------------------------------------------------------------------------ who may ask */

/* In a time that does not tell where they differ. */
static bool same_secret(const char *given, const char *secret)
{
    unsigned char differ = 0;
    for (size_t i = 0; i < SECRET; i++) {
        differ |= (unsigned char)(*given ^ secret[i]);
        given += *given != '\0';
    }
    return !differ;
}

static const char *header(struct MHD_Connection *connection, const char *name)
{
    return mhd.MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static bool header_is(struct MHD_Connection *connection, const char *name, const char *wanted)
{
    const char *value = header(connection, name);
    return value && !strcmp(value, wanted);
}

/* One that may go on is 0; else the status to refuse it with. 303: it came by the ticket. */
static unsigned check(smp_http *http, struct MHD_Connection *connection, const char *url, const char *method,
                      http_request *request)
{
    request->post = !strcmp(method, "POST");
    const char *origin = header(connection, "Origin"), *length = header(connection, "Content-Length"),
               *site = header(connection, "Sec-Fetch-Site");
    if (!header_is(connection, "Host", http->host)) /* a name of somebody that leads here */
        return MHD_HTTP_FORBIDDEN;
    if (!request->post && strcmp(method, "GET") != 0)
        return MHD_HTTP_METHOD_NOT_ALLOWED;
    if (origin ? strcmp(origin, http->origin) != 0 : request->post)
        return MHD_HTTP_FORBIDDEN;
    if (!request->post && !strncmp(url, "/once/", 6)) {
        const bool first = strlen(url + 6) == SECRET && same_secret(url + 6, http->ticket) &&
                           !atomic_exchange(&http->ticket_used, true);
        return first ? MHD_HTTP_SEE_OTHER : MHD_HTTP_FORBIDDEN;
    }
    if (url[0] != '/' || !same_secret(url + 1, http->secret) || url[1 + SECRET] != '/')
        return MHD_HTTP_FORBIDDEN;
    const char *name = url + 2 + SECRET;
    if (strlen(name) >= sizeof request->name)
        return MHD_HTTP_NOT_FOUND;
    strcpy(request->name, name);
    if (name[0] && site && strcmp(site, "same-origin") != 0)
        return MHD_HTTP_FORBIDDEN;
    if (!request->post)
        return length && strcmp(length, "0") != 0 ? MHD_HTTP_CONTENT_TOO_LARGE : 0;
    /* A page of somebody else would have to ask whether it may send these two, and is never answered. */
    if (!header_is(connection, "Content-Type", "application/json") || !header_is(connection, "X-Smempipe", "edit"))
        return MHD_HTTP_FORBIDDEN;
    if (!length)
        return MHD_HTTP_LENGTH_REQUIRED;
    return strlen(length) > 7 || atol(length) > MOST_BODY ? MHD_HTTP_CONTENT_TOO_LARGE : 0;
}

/* ------------------------------------------------------------------------------------------------ answers */

static enum MHD_Result answer_with(smp_http *http, struct MHD_Connection *connection, const smp_http_answer *answer)
{
    static const char *const headers[][2] = {{"Content-Security-Policy", POLICY},
                                             {"X-Content-Type-Options", "nosniff"},
                                             {"X-Frame-Options", "DENY"},
                                             {"Referrer-Policy", "no-referrer"},
                                             {"Cross-Origin-Resource-Policy", "same-origin"},
                                             {"Cross-Origin-Opener-Policy", "same-origin"},
                                             {"Cache-Control", "no-store"}};
    char address[128];
    struct MHD_Response *response =
        mhd.MHD_create_response_from_buffer(answer->size, answer->data, MHD_RESPMEM_MUST_FREE);
    if (!response) {
        free(answer->data);
        return MHD_NO;
    }
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        mhd.MHD_add_response_header(response, headers[i][0], headers[i][1]);
    mhd.MHD_add_response_header(response, "Content-Type", answer->type);
    if (answer->status == MHD_HTTP_SEE_OTHER) {
        smp_http_address(http, false, address, sizeof address);
        mhd.MHD_add_response_header(response, "Location", address);
    }
    if (answer->status == MHD_HTTP_METHOD_NOT_ALLOWED)
        mhd.MHD_add_response_header(response, "Allow", "GET, POST");
    const enum MHD_Result result = mhd.MHD_queue_response(connection, answer->status, response);
    mhd.MHD_destroy_response(response);
    return result;
}

static enum MHD_Result refuse(smp_http *http, struct MHD_Connection *connection, unsigned status)
{
    const char *why = status == MHD_HTTP_SEE_OTHER ? "" : "smempipe: refused\n";
    char *text = strdup(why);
    return answer_with(http, connection, &(smp_http_answer){status, "text/plain", text, text ? strlen(text) : 0});
}

static bool add_body(http_request *request, const char *data, size_t size)
{
    if (request->size + size > MOST_BODY || !smp_grow(&request->body, &request->capacity, request->size + size + 1, 1))
        return false;
    memcpy(request->body + request->size, data, size);
    request->size += size;
    request->body[request->size] = '\0';
    return true;
}

/* A connection begins, or has ended, a request of the page. */
static void set_busy(smp_http *http, struct MHD_Connection *connection, bool busy)
{
    http_slot *slot = mhd.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    pthread_mutex_lock(&http->lock);
    if (slot)
        *slot = (http_slot){slot->socket, .own = true, .busy = busy, .since = smp_now()};
    pthread_mutex_unlock(&http->lock);
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *, const char *data, size_t *size, void **kept)
{
    smp_http *http = context;
    http_request *request = *kept;
    if (!request) { /* the head is there */
        request = *kept = smp_alloc(sizeof *request);
        if (!request)
            return MHD_NO;
        request->began = smp_now();
        const unsigned status = check(http, connection, url, method, request);
        if ((request->good = !status))
            set_busy(http, connection, true);
        return status ? refuse(http, connection, status) : MHD_YES;
    }
    if (*size) {
        const bool fits = smp_now() - request->began < LATE && request->post && add_body(request, data, *size);
        *size = 0;
        return fits ? MHD_YES : MHD_NO;
    }
    http->last = (int64_t)smp_now();
    smp_http_answer answer = {.status = MHD_HTTP_NOT_FOUND, .type = "text/plain"};
    if (request->post && !request->body && !add_body(request, "", 0))
        return MHD_NO;
    http->use->respond(http->use->context, request->name, request->body, request->size, &answer);
    return answer_with(http, connection, &answer);
}

static void completed(void *context, struct MHD_Connection *connection, void **kept, enum MHD_RequestTerminationCode)
{
    http_request *request = *kept;
    if (request && request->good)
        set_busy(context, connection, false);
    if (request)
        smp_free(request->body);
    smp_free(request);
    *kept = NULL;
}

static void note_connection(void *context, struct MHD_Connection *connection, void **kept,
                            enum MHD_ConnectionNotificationCode code)
{
    smp_http *http = context;
    http_slot *slot = *kept;
    pthread_mutex_lock(&http->lock);
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        for (slot = http->slots; slot < http->slots + SLOTS && slot->socket;)
            slot++;
        *kept = slot = slot < http->slots + SLOTS ? slot : NULL;
    }
    if (slot && code == MHD_CONNECTION_NOTIFY_STARTED)
        *slot = (http_slot){mhd.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd,
                            .since = smp_now()};
    else if (slot)
        slot->socket = 0;
    pthread_mutex_unlock(&http->lock);
}

/* Whether there is room for one more; else has the connection end that was silent longest, one of others before one of
 * the page. */
static bool has_room(smp_http *http)
{
    const double now = smp_now();
    http_slot *oldest = NULL;
    int open = 0;
    pthread_mutex_lock(&http->lock);
    for (http_slot *slot = http->slots; slot < http->slots + SLOTS; slot++) {
        int unread = 0;
        open += slot->socket != 0;
        if (slot->socket && !slot->busy && !ioctl(slot->socket, FIONREAD, &unread) && !unread &&
            (!oldest || slot->own < oldest->own || (slot->own == oldest->own && slot->since < oldest->since)))
            oldest = slot;
    }
    const bool room = open < MOST_CONNECTIONS;
    if (!room && oldest && now - oldest->since > UNTOUCHED) {
        shutdown(oldest->socket, SHUT_RDWR); /* the library ends it, and tells so */
        oldest->since = now;
    }
    pthread_mutex_unlock(&http->lock);
    return room;
}

/* Takes a connection that waits, if there is room for one; the library would reset those beyond its limit. */
static void take_connection(smp_http *http, struct MHD_Daemon *daemon)
{
    struct pollfd waits = {.fd = http->listening, .events = POLLIN};
    struct sockaddr_in from;
    socklen_t size = sizeof from;
    if (poll(&waits, 1, 200) <= 0)
        return;
    const int taken =
        has_room(http) ? accept4(http->listening, (struct sockaddr *)&from, &size, SOCK_CLOEXEC | SOCK_NONBLOCK) : -1;
    if (taken >= 0) /* on failure it closes it */
        mhd.MHD_add_connection(daemon, taken, (struct sockaddr *)&from, size);
    else
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

smp_code smp_http_serve(smp_http *http, const smp_http_use *use, smp_error *err)
{
    http->use = use;
    struct MHD_Daemon *daemon =
        mhd.MHD_start_daemon(MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL |
                                 MHD_USE_ITC | MHD_USE_NO_LISTEN_SOCKET,
                             0, NULL, NULL, handle, http, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE,
                             MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEAD_MEMORY, MHD_OPTION_NOTIFY_CONNECTION,
                             note_connection, http, MHD_OPTION_NOTIFY_COMPLETED, completed, http, MHD_OPTION_END);
    if (!daemon)
        return smp_fail(err, SMP_E_PROCESS, "cannot serve a page on %s", http->host);
    while (!use->ended(use->context, smp_now() - (double)http->last))
        take_connection(http, daemon);
    mhd.MHD_stop_daemon(daemon);
    close(http->listening);
    return SMP_OK;
}

#else

smp_code smp_http_open(smp_http **out, smp_error *err)
{
    *out = NULL;
    smp_fail(err, SMP_E_PROCESS, "this program was built without libmicrohttpd, which serves the page");
    return smp_hint(err, "install libmicrohttpd-dev and build it again");
}

void smp_http_address(const smp_http *, bool, char *, size_t) {}

smp_code smp_http_serve(smp_http *, const smp_http_use *, smp_error *)
{
    return SMP_OK;
}

#endif
