/* Reads sources of kernels and hashes them with what they include. */
#pragma once

#include "base/error.h"
#include "base/hash/sha256.h"
#include "stages/foreign.h"

enum { SMP_KERNEL_SOURCE_MOST = 64 << 20 }; /* bytes */

/* All of a file, with a zero behind it, and its path with links resolved (may be null: not wanted); both from
 * smp_alloc. Only regular files are opened. reach: not null: one outside its folders is SMP_E_LIMIT, whatever links are
 * made while it is opened. SMP_E_READ: it is not there. */
smp_code smp_kernel_source_read(const char *path, const smp_kernel_reach *reach, char **text, size_t *size, char **real,
                                smp_error *err);

/* Adds a source's path and bytes to a hash, and those of what it includes from its folder and from `includes`, which
 * belong to it: "util.h" of #include "util.h" or <util.h>, and what else a directive names in quotes. *has_main (may be
 * null): code has the word main. Included files that may not be read are left out, as the compiler will say so; those
 * that are no regular files are errors. */
smp_code smp_kernel_source_hash(const char *path, const char *text, size_t size, const char *const *includes,
                                size_t include_count, const smp_kernel_reach *reach, smp_sha256 *hash, bool *has_main,
                                smp_error *err);
