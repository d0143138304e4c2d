/* What of a source one kernel needs (--only): the device's code. Sources of extensions for Python or of programs
 * include headers that the machine may not have, and name their types in functions of the host alone. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Overwrites with blanks what names something of those libraries, and is no code of the device; and main. Lines and
 * directives stay where they are. text ends with a zero. */
void smp_device_code_keep(char *text);

/* Makes an empty header in work/smempipe-headers for the one that a compiler's messages say is missing. Returns its
 * name and *length, in the messages; null: none is missing, or it was made before. */
const char *smp_device_code_header(const char *messages, const char *work, size_t *length);

/* Writes what a program would do to have templates compiled for the arguments that --only names; only may be null. */
void smp_device_code_instances(FILE *to, const char *only);
