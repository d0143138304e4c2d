/* Numbered slots between two threads: one fills them in order, the other empties them. What is in a slot is theirs; the
 * ring counts, and lets each wait for the other. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct smp_ring {
    int slots;
    int64_t made, used; /* slots filled and emptied so far; the slot of a number is that modulo slots */
    bool ended;         /* no more are filled */
    bool stop;          /* one side gave up */
    pthread_mutex_t lock;
    pthread_cond_t changed;
} smp_ring;

void smp_ring_open(smp_ring *ring, int slots);
void smp_ring_close(smp_ring *ring); /* when one thread is left */

/* Waits until a slot may be filled (emptied); false: the other side has ended. */
bool smp_ring_wait_free(smp_ring *ring);
bool smp_ring_wait_filled(smp_ring *ring);

/* Whether smp_ring_wait_free would return at once. */
bool smp_ring_is_free(smp_ring *ring);

/* Whether smp_ring_wait_filled would. */
bool smp_ring_is_filled(smp_ring *ring);

void smp_ring_made(smp_ring *ring);
void smp_ring_used(smp_ring *ring);

/* No more are filled. stop: what is filled is not emptied either. */
void smp_ring_end(smp_ring *ring, bool stop);
