/* Command lines, declared as tables. A command is one struct: its options, its arguments, its examples; from them come
 * the parser, --help, and (through smp_command_at and smp_command_option) completion and manual pages. A default is
 * written once, in its row. */
#pragma once

#include <stdio.h>

#include "base/error.h"
#include "stages/stage.h"

typedef enum smp_option_type {
    SMP_O_FLAG,   /* field: bool */
    SMP_O_INT,    /* field: int64_t, in min..max */
    SMP_O_SIZE,   /* field: uint64_t; K, M, G, T are powers of 1024 */
    SMP_O_NUMBER, /* field: double, in min..max */
    SMP_O_STRING, /* field: const char *, as the user gave it */
    SMP_O_CHOICE, /* field: int, the index into choices */
    SMP_O_LIST,   /* field: smp_strings; may be repeated */
    SMP_O_PAIRS   /* field: smp_strings of "name=value"; may be repeated */
} smp_option_type;

enum {
    SMP_O_OPTIONAL = 1, /* the value may be left out, and is then ""; given as --name=value only. Of a choice it is
                           then the second word, and a word of it may be the next argument, too */
    SMP_O_ADVANCED = 2, /* for tests, study and clusters: listed last, and not by -h */
    SMP_O_LEAVES = 4,   /* answers on its own (--help): arguments are not checked */
    SMP_O_SILENT = 8,   /* help does not show the default */
    /* Subject of a common option; commands without the subject lack the option: */
    SMP_O_OUTPUTS = 16,  /* files that are written */
    SMP_O_DEVICE = 32,   /* what computes */
    SMP_O_THREADS = 64,  /* how much of it */
    SMP_O_INPUTS = 128,  /* limits of pictures and sounds that are read */
    SMP_O_VERBOSE = 256, /* more to say */
    /* Files that an option is for; commands for other files lack it: */
    SMP_O_PICTURES = 512,
    SMP_O_SOUNDS = 1024
};

typedef struct smp_strings {
    const char **items; /* from smp_alloc; the texts belong to argv */
    size_t count, capacity;
} smp_strings;

typedef struct smp_option {
    const char *name; /* without the dashes */
    char letter;      /* 0: none */
    smp_option_type type;
    size_t offset;        /* of the field in the command's settings */
    const char *fallback; /* the default, as it would be written; null: zero, empty, no */
    uint64_t size;        /* SMP_O_SIZE: the default */
    const char *argument; /* what help calls the value: "FILE", "N" */
    const char *help;
    const char *const *choices; /* SMP_O_CHOICE: null-terminated words */
    double min, max;            /* SMP_O_INT, SMP_O_NUMBER: inclusive; equal: unbounded */
    unsigned flags;
} smp_option;

struct smp_command;

typedef struct smp_argument_row {
    const char *name;    /* "P.pipe" */
    size_t offset;       /* of a const char *, or of smp_strings when many */
    bool optional, many; /* many: one or more; the last row only */
    const char *unless;  /* the option that, when given, takes this argument's place, or several, with commas between
                            them; may be null */
    const char *help;
    /* Whether it may be left out, as the settings so far say, where one word is left for it and the next one. May be
     * null. */
    bool (*spared)(const void *settings);
    const char *usage; /* how usage lines write it; null: its name, with dots when many */
    /* Refuses a word that cannot be meant, by its text; said before a later argument is missed. May be null. */
    smp_code (*refuse)(const struct smp_command *command, const smp_strings *words, size_t at, smp_error *err);
} smp_argument_row;

/* Whether an option of this name takes the argument's place. */
bool smp_argument_unless(const smp_argument_row *row, const char *option);

typedef struct smp_option_group {
    const char *title;
    const smp_option *rows; /* ends with a null name; null: */
    const smp_option *(*make)(size_t at);
    size_t at; /* make() gives the rows, whose fields lie in the settings from here on */
} smp_option_group;

const smp_option *smp_option_group_rows(const smp_option_group *group);

/* In the text of an example {stencil}, {point} and {reduce} stand for the example of the first stage of that class, so
 * that no command names a stage. */
typedef struct smp_example {
    const char *line, *what;
} smp_example;

enum { SMP_COMMAND_GROUPS = 8, SMP_COMMAND_EXAMPLES = 6 };

typedef struct smp_command {
    const char *name, *help, *about; /* about: paragraphs; may be null */
    size_t settings_size;
    bool shares;      /* a list among the ranks of smempipe-mpi */
    bool one_input;   /* reads one input at a time, but for those that its pipeline names */
    unsigned without; /* options with one of these flags are none of the command's; their fields keep the defaults */
    smp_option_group groups[SMP_COMMAND_GROUPS]; /* the first without title ends them */
    const smp_argument_row *arguments;           /* ends with a null name; may be null */
    const smp_alias *meant;                      /* options of other programs, and what to write; may be null */
    smp_example examples[SMP_COMMAND_EXAMPLES];
    /* Returns SMP_OK or why not. A message in *err is printed by the caller; it is empty when all was said already. */
    smp_code (*run)(void *settings, smp_error *err);
} smp_command;

/* All commands, in the order that help shows them. */
size_t smp_command_count(void);
const smp_command *smp_command_at(size_t index);
const smp_command *smp_command_find(const char *name);

/* Whether whole builds have it, and this one is the first of samples/quickstart.sh. */
bool smp_command_is_later(const char *name);

/* The index-th option of a command over all its groups, null past the last. */
const smp_option *smp_command_option(const smp_command *command, size_t index);

/* Fills settings (command->settings_size bytes) with defaults, then from argv[0 .. argc-1] (without program and
 * command). On failure (SMP_E_USAGE with a hint) settings may be freed all the same. *leaves (may be null) says whether
 * an option like --help was given. */
smp_code smp_options_parse(const smp_command *command, int argc, char *const *argv, void *settings, bool *leaves,
                           smp_error *err);
void smp_options_free(const smp_command *command, void *settings);

/* A whole text as a size: digits and at most one of K, M, G, T. */
bool smp_parse_size(const char *text, uint64_t *out);
/* A whole text as seconds: a number, and s, m, h or d behind it; above 0. */
bool smp_parse_duration(const char *text, double *out);
void smp_size_text(char *text, size_t size, uint64_t value);
