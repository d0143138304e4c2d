/* Slots between two threads: see ring.h. */
#include "run/strips/ring.h"

void smp_ring_open(smp_ring *ring, int slots)
{
    *ring = (smp_ring){.slots = slots};
    pthread_mutex_init(&ring->lock, NULL);
    pthread_cond_init(&ring->changed, NULL);
}

void smp_ring_close(smp_ring *ring)
{
    pthread_cond_destroy(&ring->changed);
    pthread_mutex_destroy(&ring->lock);
}

static void announce(smp_ring *ring, int64_t *counter)
{
    pthread_mutex_lock(&ring->lock);
    ++*counter;
    pthread_cond_broadcast(&ring->changed);
    pthread_mutex_unlock(&ring->lock);
}

void smp_ring_made(smp_ring *ring)
{
    announce(ring, &ring->made);
}

void smp_ring_used(smp_ring *ring)
{
    announce(ring, &ring->used);
}

bool smp_ring_wait_free(smp_ring *ring)
{
    pthread_mutex_lock(&ring->lock);
    while (ring->made - ring->used >= ring->slots && !ring->stop)
        pthread_cond_wait(&ring->changed, &ring->lock);
    bool go = !ring->stop;
    pthread_mutex_unlock(&ring->lock);
    return go;
}

bool smp_ring_is_free(smp_ring *ring)
{
    pthread_mutex_lock(&ring->lock);
    bool is = ring->made - ring->used < ring->slots || ring->stop;
    pthread_mutex_unlock(&ring->lock);
    return is;
}

bool smp_ring_wait_filled(smp_ring *ring)
{
    pthread_mutex_lock(&ring->lock);
    while (ring->made == ring->used && !ring->ended && !ring->stop)
        pthread_cond_wait(&ring->changed, &ring->lock);
    bool go = ring->made > ring->used && !ring->stop;
    pthread_mutex_unlock(&ring->lock);
    return go;
}

bool smp_ring_is_filled(smp_ring *ring)
{
    pthread_mutex_lock(&ring->lock);
    bool is = ring->made > ring->used || ring->ended || ring->stop;
    pthread_mutex_unlock(&ring->lock);
    return is;
}

void smp_ring_end(smp_ring *ring, bool stop)
{
    pthread_mutex_lock(&ring->lock);
    ring->ended = true;
    ring->stop = ring->stop || stop;
    pthread_cond_broadcast(&ring->changed);
    pthread_mutex_unlock(&ring->lock);
}
