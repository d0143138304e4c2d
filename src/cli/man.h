/* The manual pages, made from the tables that --help is made from. */
#pragma once

#include <stdio.h>

#include "base/error.h"

/* smempipe(1): every command with its options and examples. */
smp_code smp_man_commands(FILE *to, smp_error *err);

/* smempipe-pipe(5): the language, and every stage with its parameters. */
smp_code smp_man_language(FILE *to, smp_error *err);
