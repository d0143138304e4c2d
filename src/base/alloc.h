/* Memory. Every allocation of the program goes through here: sizes are checked, live bytes count against --max-memory,
 * and tests can make the Nth allocation fail. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { SMP_ALIGN = 64 }; /* bytes: one cache line, one AVX-512 register */

/* size bytes aligned to SMP_ALIGN and zeroed, followed by 64 readable bytes. Null when memory or the limit is
 * exhausted. Owner: the caller; release with smp_free. size 0 gives a valid pointer. */
void *smp_alloc(size_t size);

/* The same without zeroing, for large buffers that are written before they are read. */
void *smp_alloc_raw(size_t size);

/* count * size bytes; checks for overflow. */
void *smp_alloc_array(size_t count, size_t size);

/* Grows *array (elements of size bytes) to hold at least `want` elements; *capacity counts elements. False when memory
 * is exhausted: *array is then untouched. */
bool smp_grow(void *array, size_t *capacity, size_t want, size_t size);

char *smp_strdup(const char *text);
char *smp_strndup(const char *text, size_t length);
char *smp_asprintf(const char *format, ...) SMP_PRINTF(1, 2);
void smp_free(void *pointer);

/* Frees each of them. */
#define smp_free_all(...) smp_free_each((void *[]){__VA_ARGS__}, sizeof((void *[]){__VA_ARGS__}) / sizeof(void *))
void smp_free_each(void *const *pointers, size_t count);

/* The live bytes, their peak, and the limit (0: none). */
uint64_t smp_alloc_live(void);
uint64_t smp_alloc_peak(void);
void smp_alloc_limit(uint64_t bytes);
uint64_t smp_alloc_limited(void);

/* From now on freed memory is kept for the next ask instead of returning it to the system, for work that allocates the
 * same memory again and again: clearing new pages takes longer than computing on them, and threads wait for each other
 * there. Blocks of 1 MB and more are kept up to `most` bytes (those that wait longest go first, and all of them where
 * the limit would be passed), smaller ones as the C library likes. Under AddressSanitizer no blocks are kept. */
void smp_alloc_keep(uint64_t most);

/* The bytes that wait; they are not live. */
uint64_t smp_alloc_kept(void);

/* Memory that another process holds for this one counts as this one's: `was` bytes became `is`, there were `most` in
 * between, and the limit refused some `refused` times. */
void smp_alloc_elsewhere(uint64_t was, uint64_t is, uint64_t most, uint64_t refused);

/* Counts bytes that come from elsewhere; false, and none of them counted, when the limit is exhausted. */
bool smp_alloc_borrow(uint64_t size);

/* From now on smp_alloc_peak says the most that was live since. */
void smp_alloc_restart_peak(void);

/* Returns how often the limit has refused memory. */
uint64_t smp_alloc_refused(void);

/* For tests: makes the Nth allocation from now (1: the next), and no other, fail; 0 switches this off. The second
 * function returns how many allocations were made. */
void smp_alloc_fail_at(uint64_t nth);
uint64_t smp_alloc_count(void);

/* Fails with "out of memory (WHAT, SIZE bytes)", or with SMP_E_LIMIT when --max-memory refused it. */
smp_code smp_fail_memory(smp_error *err, const char *what, uint64_t size);

/* Where memory is missing, the function around fails, and says for what. For functions that hold nothing yet, as
 * SMP_TRY. made: whether it is there, `state` or `state && (state->line = smp_alloc(size))`. */
#define SMP_NEED(made, what, size, err) SMP_TRY((made) ? SMP_OK : smp_fail_memory(err, what, size))
