/* See device_code.h. No parser of C++: declarations and definitions (items) end where braces and semicolons say so. */
#include "lab/stage/device_code.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os/beneath.h"
#include "base/paths.h"
#include "lab/machine/warp.h"

/* How headers of libraries begin that are the host's alone, or mostly, and, in capitals or not, what is theirs. */
static const char *const headers[] = {"torch/",  "ATen/",  "c10/",   "pybind11/", "Python.h",
                                      "opencv2", "boost/", "gtest/", "mpi.h",     "nccl.h"};
static const char *const theirs[] = {"torch",  "at",   "c10",     "pybind11", "py",   "Tensor", "cv",    "boost",
                                     "gtest_", "TEST", "testing", "MPI_",     "nccl", "main",   "TEST_F"};

/* A word of the text. */
typedef struct word {
    const char *at;
    size_t size;
} word;

/* What an item is, as far as it was read. */
typedef struct item {
    int depth;
    size_t words;
    bool device, foreign;
    bool function; /* a parenthesis closed */
    bool type;     /* its braces are no function's: those of a type or of a value */
    bool macro;    /* one word in capitals */
} item;

static word word_at(const char *at)
{
    word w = {at, 0};
    while (isalnum((unsigned char)at[w.size]) || at[w.size] == '_')
        w.size++;
    return w;
}

static bool is(word w, const char *text)
{
    return w.size == strlen(text) && !memcmp(w.at, text, w.size);
}

/* at, AT_DISPATCH; nccl and MPI_ are whole families */
static bool is_foreign(word w)
{
    bool found = false;
    for (size_t i = 0; i < sizeof theirs / sizeof theirs[0] && !found; i++) {
        const size_t size = strlen(theirs[i]);
        const bool family = !strcmp(theirs[i], "nccl") || theirs[i][size - 1] == '_';
        found = is(w, theirs[i]) || (w.size > size && !strncasecmp(w.at, theirs[i], size) &&
                                     (family || (w.at[size] == '_' && isupper((unsigned char)w.at[0]))));
    }
    return found;
}

/* Behind a comment, a text, a character or a directive that begins there; otherwise `at`. */
static char *skip(char *at, bool first_of_line)
{
    if (at[0] == '/' && at[1] == '/')
        return at + strcspn(at, "\n");
    if (at[0] == '/' && at[1] == '*') {
        char *end = strstr(at + 2, "*/");
        return end ? end + 2 : at + strlen(at);
    }
    if (at[0] == '#' && first_of_line) {
        for (; *at && *at != '\n'; at++)
            at += at[0] == '\\' && at[1];
        return at;
    }
    if (*at == '"' || *at == '\'') {
        const char quote = *at;
        for (at++; *at && *at != quote && *at != '\n'; at++)
            at += at[0] == '\\' && at[1];
        return at + (*at == quote);
    }
    return at;
}

static void read_word(item *it, word w)
{
    bool capitals = true;
    for (size_t i = 0; i < w.size; i++)
        capitals = capitals && !islower((unsigned char)w.at[i]);
    it->macro = it->words++ ? it->macro && it->depth : capitals;
    it->device = it->device || is(w, "__device__") || is(w, "__global__") || is(w, "__constant__");
    it->foreign = it->foreign || is_foreign(w);
    it->type = it->type ||
               (!it->depth && !it->function && (is(w, "struct") || is(w, "class") || is(w, "enum") || is(w, "union")));
}

/* Whether the item ends behind the sign. A namespace, and extern "C", opens one for each of those in it. */
static bool ends(item *it, const char *at)
{
    if (strchr("({[", *at)) {
        if (*at == '{' && !it->depth && !it->function && !it->type)
            return true;
        it->depth++;
    } else if (strchr(")}]", *at)) {
        it->depth -= it->depth > 0;
        if (it->depth)
            return false;
        it->function = it->function || *at == ')';
        const char next = at[1 + strspn(at + 1, " \t\r\n")];
        return *at == '}' ? it->function || !it->type : *at == ')' && it->macro && !strchr("{;:,-=", next);
    } else if (*at == '=' && !it->depth)
        it->type = true;
    return *at == ';' && !it->depth;
}

static void blank(char *from, const char *end)
{
    bool first = true;
    while (from < end) {
        char *behind = *from == '#' ? skip(from, first) : from;
        first = *from == '\n' || (first && isspace((unsigned char)*from));
        if (behind == from && *from != '\n')
            *from = ' ';
        from = behind + (behind == from);
    }
}

void smp_device_code_keep(char *text)
{
    bool first_of_line = true;
    item it = {.depth = 0};
    for (char *at = text, *begin = text, *behind; *at; at = behind) {
        const word w = word_at(at);
        behind = w.size ? at + w.size : skip(at, first_of_line);
        if (w.size)
            read_word(&it, w);
        else if (behind == at && ends(&it, behind++)) {
            if (it.foreign && !it.device && *at != '{')
                blank(begin, behind);
            it = (item){.depth = 0};
        }
        if (!it.words && !it.depth)
            begin = behind;
        first_of_line = *at == '\n' || (first_of_line && isspace((unsigned char)*at));
    }
}

/* A header of that name in the folder, where the compiler that ran may have put links. */
static FILE *make_below(const char *work, const char *name, size_t length)
{
    char *below = smp_asprintf("smempipe-headers/%.*s", (int)length, name);
    int made = 0;
    const int at = open(work, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const int folder = below && at >= 0 ? smp_beneath_folder(at, below, &made) : -1;
    const int fd =
        folder < 0 ? -1 : openat(folder, smp_base_name(below), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (folder >= 0)
        close(folder);
    if (at >= 0)
        close(at);
    smp_free(below);
    return fd < 0 ? NULL : fdopen(fd, "w");
}

const char *smp_device_code_header(const char *messages, const char *work, size_t *length)
{
    static const char before[] = "fatal error: ", after[] = ": No such file";
    const char *name = messages ? strstr(messages, before) : NULL;
    const char *end = name ? strstr(name, after) : NULL;
    if (!end)
        return NULL;
    name += strlen(before);
    *length = (size_t)(end - name);
    bool known = false;
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        known = known || !strncmp(name, headers[i], strlen(headers[i]));
    if (!known || memmem(name, *length, "..", 2))
        return NULL;
    FILE *to = make_below(work, name, *length);
    if (!to)
        return NULL;
    fputs("namespace torch {}\nnamespace at {}\nnamespace c10 {}\n", to); /* for: using namespace */
    return fclose(to) ? NULL : name;
}

void smp_device_code_instances(FILE *to, const char *only)
{
    for (size_t number = 0, span; only && *only; only += span + (only[span] == ','), number++) {
        span = smp_warp_name_span(only);
        const char *arguments = memchr(only, '<', span), *parameters = memchr(only, '(', span);
        if (arguments && (!parameters || arguments < parameters))
            fprintf(to, "\n#line 1 \"--only\"\n[[maybe_unused]] static const auto smempipe_only_%zu = &%.*s;\n", number,
                    (int)(parameters ? (size_t)(parameters - only) : span), only);
    }
}
