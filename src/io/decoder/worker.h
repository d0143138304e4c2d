/* Files are decoded in processes that can do nothing else, so that a fault in a decoder costs one file and reads
 * nothing beside it. smp_reader_open then gives a reader that asks such a process; who reads does not notice, except
 * that memory from smp_reader_shared spares a copy. Libraries of others encode in such processes too
 * (smp_file_format.confined): rows and metadata go there, and the bytes that come back are written by the program.
 *
 * The program forks the first decoder before it has a second thread. More of them, and those that take the place of one
 * that died, are forked by a process that does nothing else (the spawner), since it has one thread for ever. A decoder
 * serves one reader at a time, and is kept for the next. */
#pragma once

#include "io/files/source.h"
#include "io/media.h"

/* From now on smp_reader_open reads elsewhere. Only while the program has one thread. max_memory: of smp_limits. Where
 * the system has no such processes nothing happens. */
smp_code smp_worker_start(uint64_t max_memory, smp_error *err);

/* The same of one that encodes, for a program that writes one file. */
smp_code smp_worker_start_encoder(smp_error *err);

/* Readers will be open at once, or threads will open them: starts the spawner. Nothing where smp_worker_runs is false.
 */
smp_code smp_worker_more(smp_error *err);

/* Ends the processes and waits for them; all readers must be closed. */
void smp_worker_stop(void);

bool smp_worker_runs(void);

/* Tells what confines decoders, "seccomp, Landlock ABI 7"; begins one to see. */
smp_code smp_worker_confinement(char *text, size_t size, smp_error *err);

/* Parts of it that decoders used so far lacked: nothing, seccomp, or seccomp and Landlock. (Seccomp alone suffices.) */
typedef enum smp_lack { SMP_LACKS_NOTHING, SMP_LACKS_SECCOMP, SMP_LACKS_BOTH } smp_lack;
smp_lack smp_worker_lacks(void);

/* Returns the number of requests that decoders answered, for all readers so far: for tests. */
uint64_t smp_worker_asks(void);

/* Its functions have another process write a file. For smp_writer_open; smp_worker_runs. */
extern const struct smp_file_format smp_writer_elsewhere;

/* For smp_reader_open; smp_worker_runs. Takes over a source without a buffer, also on failure. */
smp_code smp_worker_reader_open(smp_source *source, const char *name, const smp_read_options *options, smp_reader **out,
                                smp_error *err);
