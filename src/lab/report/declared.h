/* Finds the declaration of an array in shared memory in the text of a CUDA source, and what its sizes are. Reads the
 * text alone, without a compiler: what it is not sure of it does not tell. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SMP_DECLARED_DIMS = 4 };

typedef struct smp_declared {
    size_t name, name_size;                                /* where the name stands, in bytes */
    size_t from[SMP_DECLARED_DIMS], to[SMP_DECLARED_DIMS]; /* and what stands between each pair of brackets */
    int dims;
    uint64_t dim[SMP_DECLARED_DIMS]; /* 0: not known */
    uint32_t element;                /* bytes; 0: not known */
    uint32_t line;
    size_t begin, end; /* where the name is known: from behind it to the end of its block */
    bool is_extern;
    bool twice; /* another array in the same block has the name */
} smp_declared;

/* Values of names beside those that the text gives: NAME=VALUE of -D, and the kernel's symbol with its template
 * arguments (may be null). */
typedef struct smp_declared_names {
    char *const *defines;
    size_t define_count;
    const char *symbol;
} smp_declared_names;

/* A copy without comments, literals and, unless they stay, directives, which become blanks: each byte keeps its place.
 * From smp_alloc. */
char *smp_declared_plain(const char *text, size_t size, bool directives);

/* The declaration that holds at a line. plain: of text. bytes: of the array; 0: its launch says. False: there is none.
 */
bool smp_declared_find(const char *text, const char *plain, const char *name, uint32_t line, smp_declared *out);
void smp_declared_measure(const char *text, const char *plain, const smp_declared_names *names, uint32_t bytes,
                          smp_declared *declared);

/* The next place from `at` on where a word stands by itself, before `end`; SIZE_MAX: there is none. */
size_t smp_declared_word(const char *text, size_t at, size_t end, const char *word, size_t size);
/* The closing bracket of the one at `at`; SIZE_MAX: there is none before the end. */
size_t smp_declared_close(const char *plain, size_t at, size_t end);
