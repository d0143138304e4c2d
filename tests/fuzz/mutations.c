/* The targets of tests/fuzz without libFuzzer, so that every sanitizer build runs them for a few seconds: each seed as
 * it is, then seeds with a few bytes changed, the same ones in the same order on every machine.
 *
 *     fuzz_mutations NAME SEEDS DICTIONARY INPUT COUNT
 *
 * COUNT bounds the inputs, or SMP_FUZZ_SECONDS, where it is set, the time; SMP_FUZZ_SEED chooses other changes. With
 * SMP_TURN=K/N (tests/run.sh) a third of the inputs are run, other ones in each turn. INPUT is the file that holds the
 * present input: what is in it when the program dies is what killed it. It is gone when all went well. */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"

#define T(name) int fuzz_input_##name(const uint8_t *data, size_t size);
#include "fuzz_targets.def"
#undef T

typedef int target(const uint8_t *data, size_t size);

static const struct {
    const char *name;
    target *run;
} targets[] = {
#define T(name) {#name, fuzz_input_##name},
#include "fuzz_targets.def"
#undef T
};

enum { MOST = 1 << 14 /* bytes of an input */, FILES = 512, WORDS = 512, CHANGES = 8, HANGS = 20 /* seconds */ };

typedef struct bytes {
    uint8_t data[MOST];
    size_t size;
} bytes;

static bytes *seeds[FILES], words[WORDS];
static size_t seed_count, word_count;
static uint64_t state;

static size_t below(size_t n)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (size_t)(state >> 16) % n;
}

/* ------------------------------------------------------------------------------------------------ seeds and words */

static void fail(const char *what, const char *path)
{
    fprintf(stderr, "fuzz_mutations: %s %s\n", what, path);
    exit(2);
}

static void read_seeds(const char *folder)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        FILE *file = entries[i]->d_name[0] != '.' && seed_count < FILES ? fopen(path, "rb") : NULL;
        free(entries[i]);
        if (!file)
            continue;
        bytes *b = calloc(1, sizeof *b);
        if (!b)
            fail("no memory for", path);
        b->size = fread(b->data, 1, MOST, file);
        fclose(file);
        seeds[seed_count++] = b;
    }
    if (count >= 0)
        free(entries);
    if (!seed_count)
        fail("no seeds in", folder);
}

/* Lines "...", in which \xNN is a byte. */
static void read_words(const char *path)
{
    char line[1024];
    FILE *file = fopen(path, "r");
    if (!file)
        fail("cannot read", path);
    while (word_count < WORDS && fgets(line, sizeof line, file)) {
        bytes *word = &words[word_count];
        unsigned value;
        for (const char *at = strchr(line, '"'); at && *++at && *at != '"';) {
            if (at[0] == '\\' && sscanf(at, "\\x%2x", &value) == 1)
                at += 3;
            else
                value = (unsigned char)*at;
            word->data[word->size++] = (uint8_t)value;
        }
        word_count += word->size > 0;
    }
    fclose(file);
}

/* ------------------------------------------------------------------------------------------------ changes */

/* Puts bytes in the place of `drop` bytes at `at`, as far as there is room. */
static void put_bytes(bytes *b, size_t at, size_t drop, const uint8_t *from, size_t size)
{
    const size_t tail = b->size - at - drop;
    if (at + size + tail > MOST)
        return;
    uint8_t copy[MOST];
    memcpy(copy, from, size); /* from may lie in b */
    memmove(b->data + at + size, b->data + at + drop, tail);
    memcpy(b->data + at, copy, size);
    b->size = at + size + tail;
}

static void change(bytes *b)
{
    static const uint32_t values[] = {0,      1,      2,      0x7f,       0x80,       0xff,
                                      0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff};
    const size_t at = below(b->size + 1), left = b->size - at, some = left ? 1 + below(left < 64 ? left : 64) : 0;
    const uint32_t value = values[below(sizeof values / sizeof values[0])];
    const bytes *word = word_count ? &words[below(word_count)] : seeds[0], *other = seeds[below(seed_count)];
    const size_t width = (size_t)1 << below(3);
    uint8_t number[4];
    switch (below(8)) {
    case 0: /* a bit */
        if (left)
            b->data[at] ^= (uint8_t)(1 << below(8));
        break;
    case 1: /* a number at the end of its range, in either order of bytes */
        for (size_t i = 0, big = below(2); i < width; i++)
            number[i] = (uint8_t)(value >> 8 * (big ? width - 1 - i : i));
        put_bytes(b, at, width < left ? width : left, number, width);
        break;
    case 2: /* a word over what is there, or between */
        put_bytes(b, at, below(2) && word->size < left ? word->size : 0, word->data, word->size);
        break;
    case 3: /* bytes lost */
        put_bytes(b, at, some, b->data, 0);
        break;
    case 4: /* bytes twice */
        put_bytes(b, at, 0, b->data + at, some);
        break;
    case 5: /* the end lost */
        b->size = below(4) ? b->size : at;
        break;
    case 6: { /* a piece of another seed */
        const size_t from = below(other->size + 1), rest = other->size - from;
        put_bytes(b, at, some, other->data + from, rest < 256 ? rest : 256);
        break;
    }
    default: /* any byte */
        if (left)
            b->data[at] = (uint8_t)below(256);
    }
}

/* ------------------------------------------------------------------------------------------------ the program */

/* In memory of its own and of exactly its size. */
static void run(target *with, const bytes *b, bytes *shown)
{
    uint8_t *own = malloc(b->size ? b->size : 1);
    if (!own)
        return;
    memcpy(own, b->data, b->size);
    memcpy(shown->data, b->data, b->size);
    shown->size = b->size;
    alarm(HANGS);
    with(own, b->size);
    free(own);
}

int main(int argc, char **argv)
{
    const char *seconds = getenv("SMP_FUZZ_SECONDS"), *seed = getenv("SMP_FUZZ_SEED");
    const char *turn = getenv("SMP_TURN");
    target *with = NULL;
    for (size_t i = 0; argc == 6 && i < sizeof targets / sizeof targets[0]; i++)
        if (!strcmp(targets[i].name, argv[1]))
            with = targets[i].run;
    if (!with)
        fail("usage: fuzz_mutations NAME SEEDS DICTIONARY INPUT COUNT; no such target:", argc > 1 ? argv[1] : "");
    read_seeds(argv[2]);
    read_words(argv[3]);
    int file = open(argv[4], O_RDWR | O_CREAT | O_TRUNC, 0666);
    bytes *shown = MAP_FAILED;
    if (file >= 0 && !ftruncate(file, sizeof *shown))
        shown = mmap(NULL, sizeof *shown, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shown == MAP_FAILED)
        fail("cannot write", argv[4]);
    printf("the input at work is in the first bytes of %s; the last eight tell how many\n", argv[4]);
    fflush(stdout);
    if (!seed)
        seed = turn;
    state = 88172645463325252u + (seed ? strtoull(seed, NULL, 10) : 0);
    const double until = seconds ? smp_now() + atof(seconds) : 0;
    const long most = atol(argv[5]) / (turn ? 3 : 1);
    long inputs = 0;
    for (size_t i = 0; i < seed_count; i++, inputs++)
        run(with, seeds[i], shown);
    for (; seconds ? smp_now() < until : inputs < most; inputs++) {
        bytes b = *seeds[below(seed_count)];
        for (size_t n = 1 + below(CHANGES); n > 0; n--)
            change(&b);
        run(with, &b, shown);
    }
    printf("%s: %ld inputs from %zu seeds\n", argv[1], inputs, seed_count);
    unlink(argv[4]);
    return 0;
}
