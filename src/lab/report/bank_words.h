/* An access to shared memory in a sentence: which lanes take turns, and which layout would spare that. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "banks/bank.h"

/* "lanes 0, 8, 16 and 24 want different words of bank 3", of the bank that takes most turns. False: the access has
 * no conflict. */
bool smp_bank_turns_text(char *text, size_t size, const smp_bank_access *access);

/* "pad tile by 1 element of 4 bytes after each 32 (a row of 32 becomes one of 33): 1 wavefront". name: of the array;
 * null or "": unknown. ideal: the wavefronts that would do. False: nothing is known that helps. */
bool smp_bank_advice_text(char *text, size_t size, const smp_bank_access *access, int ideal, const char *name);

/* The memory that the pad of that advice adds, of the array's; 0: the advice is another one, or there is none. */
double smp_bank_pad_share(const smp_bank_access *access);
