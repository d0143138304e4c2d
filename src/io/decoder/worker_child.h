/* The other side of worker.h: the process that starts decoders, and a decoder. Kept to worker_reader.c and tests. */
#pragma once

#include <stdint.h>

/* A request to the spawner: a decoder with the two descriptors that come along (its channel, its arena), or the end of
 * one. The answer: the decoder's id, or what waitpid(2) said of it; -errno when that failed. */
typedef struct smp_spawner_ask {
    int end;            /* this decoder; 0: begin one */
    unsigned libraries; /* open these before: a decoder cannot */
} smp_spawner_ask;

typedef struct smp_spawner_answer {
    int value;
} smp_spawner_answer;

/* Runs in a forked process, which has one thread and ends with its parent. memory: for smp_sandbox_decoder, 0: no
 * bound. libraries: with SMP_LIBRARY_ENCODERS it encodes. */
_Noreturn void smp_decoder(int parent, int channel, int arena, uint64_t memory, unsigned libraries);
/* Runs a keeper, which starts the spawner, and starts it anew when somebody kills it, once a second at most. It sends
 * the socket for requests of each over its own, with one byte. Requests to a spawner that died are not answered. */
_Noreturn void smp_spawner(int parent, int sockets, uint64_t memory);

/* Tests alone: called by the confined decoder before it opens a file, and before its first words (input: -1); null
 * otherwise. */
extern void (*smp_decoder_hook)(int input);
