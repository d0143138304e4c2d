/* What is asked of a feed, and what it answers with: shared by feed_files.c, which runs files, and feed_asks.c, which
 * receives. Internal to src/feed. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "feed/feed_gpu.h"

enum {
    NAME = 48,
    PATH = 32
}; /* bytes of an output's name: where its batch is, "ADDRESS-SLOT.npy"; of a member's: "/proc/self/fd/9" */

typedef struct buffer {
    int64_t id;
    unsigned char *at,
        *there; /* in this process, null: it is a GPU's; in the device that computes, null: processors do */
    size_t size;
} buffer;

/* A picture of a batch. */
typedef struct slot {
    char name[NAME], path[PATH]; /* of the output; of a tar's member */
    const char *from;            /* the file, or tar */
    int opened;                  /* the member's descriptor, 0: none */
    char *wrong;                 /* the line of a picture that is not there; null */
    unsigned char *rows;         /* a finished picture on its way to a GPU; null: none */
    bool again;                  /* the decoder was killed, or the GPU is in doubt */
    bool processors;             /* they compute it, not the GPU */
    bool handed;                 /* the GPU has it, or had it: what becomes of its file's run says nothing of it */
} slot;

/* A batch. Its files whose decoder somebody killed are handed out again, which is no fault of theirs, and those that a
 * GPU is in doubt about. */
typedef struct asked {
    struct asked *next; /* in the queue, or under way */
    smp_feed_ask ask;
    char *bytes; /* of the message: samples, then paths */
    const smp_feed_sample *samples;
    smp_batch_file *files;
    slot *slots;
    unsigned char *at, *there; /* the memory, as a buffer has it; both null: none */
    size_t room;
    size_t count, left; /* files handed out, and not ended */
    int tries;
    atomic_bool cancelled;
} asked;

typedef struct feed {
    int socket;
    const smp_feed_format *format;
    pthread_mutex_t lock, sending;
    pthread_cond_t changed;
    asked *queue, **queue_end; /* not begun */
    asked *under_way;
    buffer *buffers;
    size_t buffer_count, buffer_capacity;
    smp_shape shape; /* of all pictures; kind none: not known yet */
    bool ended, done;
    volatile sig_atomic_t stop;
    smp_feed_gpu *gpu;                /* null: processors compute */
    smp_error failed;                 /* what ends the work */
    _Atomic uint64_t served, refused; /* coded pictures that it took, and could not take */
} feed;

void send_answer(feed *f, smp_feed_answer *answer, const void *bytes);
void free_asked(asked *a);

/* Hands all files of a batch out. Takes it over. */
void begin_asked(feed *f, asked *a);

/* A thread: receives until the socket ends; context: the feed. */
void *receive_asks(void *context);

/* When nobody uses it any more; forgets none that is used. */
void forget_buffer(feed *f, int64_t id);
