/* Guesses what a mistaken command line was meant as: words in a wrong place, names that do not exist. */
#pragma once

#include "base/error.h"
#include "cli/options.h"

/* Whether an option that a command does not have names its input or output, as other tools' do; then says where those
 * stand. word: as it was given. usage: the whole command. */
bool smp_cli_names_file(const smp_command *command, const char *word, const char *usage, smp_error *err);

/* Refuses a pipeline that makes its input by this statement, where a command reads files. */
smp_code smp_cli_fail_made(const char *statement, smp_error *err);

/* Whether -e was given a file's name; then says so. */
bool smp_cli_file_as_stage(const smp_command *command, const smp_strings *stages, const smp_strings *words,
                           smp_error *err);

/* More words than a command takes, of which `taken` have a place. stages: those of -e, or null. usage: the command. */
smp_code smp_cli_fail_surplus(const smp_command *command, const smp_strings *words, size_t taken,
                              const smp_strings *stages, const char *usage, smp_error *err);

/* Returns the statement for a stage of this name, here or in other tools; null: there is none. */
const char *smp_cli_stage_named(const char *name, size_t length);

/* The words as a shell takes them, a blank before each. */
void smp_cli_words(char *text, size_t size, char *const *words, int count);

/* A stage as a shell takes it: the word that names it, and those behind it that can be values only (*count: how many).
 * example: what it is without any. */
void smp_cli_statement(char *text, size_t size, const char *word, const char *example, char *const *words, int *count);

/* Whether the last of several inputs is no file, and so meant as the output. */
const char *smp_cli_last_as_output(const smp_strings *inputs);

/* Looks what is near the name of a file that is not there, as long as the program may: before it confines itself. */
void smp_cli_look_near(const char *path);

/* A file that is not there: a name near it, or what else the name may be, in place of a hint to check it. */
void smp_cli_suggest_file(smp_error *err);
